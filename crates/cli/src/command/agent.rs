//! `evalkit agent add|list|check|remove` (`runs.md`, Agents).

use evalkit_core::agent::{Adapter, AgentConfig};
use evalkit_core::api::AgentPut;
use evalkit_core::name::is_slug;
use evalkit_core::run::Capability;
use evalkit_core::view::agents::{AgentCheck, Agents};
use evalkit_lint::nearest;

use super::{Context, pretty};
use crate::args::{AgentAdd, AgentVerb};
use crate::console::visible;
use crate::environment;
use crate::exit::{Exit, Failure, Outcome};
use crate::project::Project;
use crate::server::Server;

/// Carries out one of the four.
pub(super) async fn run(verb: AgentVerb, context: &mut Context) -> Outcome {
    let project = Project::find(&context.environment.folder, None)?;
    let server = Server::of(&project, context)?;
    match verb {
        AgentVerb::Add(args) => add(&args, &server, context).await,
        AgentVerb::List { workspace, json } => {
            let workspace = workspace_of(workspace, &server).await?;
            let agents: Agents = server.get(&["w", &workspace, "agents"]).await?;
            if json {
                context.console.say(pretty(&agents)?);
            } else {
                list(&agents, context);
            }
            Ok(Exit::Met)
        }
        AgentVerb::Check {
            name,
            workspace,
            json,
        } => {
            let (name, workspace) = address(&name, workspace, &server).await?;
            let check: AgentCheck = server
                .act(&["w", &workspace, "agents", &name, "check"])
                .await?;
            if json {
                context.console.say(pretty(&check)?);
            } else {
                show(&name, &check, context);
            }
            Ok(if check.ok { Exit::Met } else { Exit::NotMet })
        }
        AgentVerb::Remove { name, workspace } => {
            let (name, workspace) = address(&name, workspace, &server).await?;
            server.delete(&["w", &workspace, "agents", &name]).await?;
            context
                .console
                .note(format!("removed {name} from {workspace}"));
            Ok(Exit::Met)
        }
    }
}

async fn add(args: &AgentAdd, server: &Server, context: &mut Context) -> Outcome {
    let adapter = Adapter::parse(&args.adapter).ok_or_else(|| {
        let names = Adapter::ALL.map(Adapter::as_str);
        let next = match nearest(&args.adapter, names) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("It is one of {}.", names.join(", ")),
        };
        Failure::misuse(format!("There is no adapter `{}`.", args.adapter), next)
    })?;
    let (name, workspace) = address(&args.name, args.workspace.clone(), server).await?;
    if !is_slug(&name) {
        return Err(Failure::misuse(
            format!("`{name}` is not an agent's name."),
            "Use lower-case letters, digits and `-`, at most 63.",
        ));
    }
    let capabilities = args
        .capability
        .iter()
        .map(|text| {
            serde_json::from_value::<Capability>(text.as_str().into()).map_err(|_| {
                Failure::misuse(
                    format!("There is no capability `{text}`."),
                    "It is one of trajectory, tool_calls, approvals, output.",
                )
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut config = AgentConfig::new(&name, adapter, &args.url);
    config.capabilities = (!capabilities.is_empty()).then_some(capabilities);
    config.secret_header = args.secret_header.clone();
    config.model = args.model.clone();
    config.rate_per_s = args.rate;
    if let Some(concurrency) = args.concurrency {
        config.concurrency = concurrency;
    }
    if let Some(timeout) = args.timeout {
        config.timeout_s = timeout;
    }
    let secret = match &args.secret_env {
        Some(variable) => Some(environment::secret(variable).ok_or_else(|| {
            Failure::misuse(
                format!("The environment variable {variable} is not set."),
                "Set it to the agent's secret.",
            )
        })?),
        None => None,
    };
    let put = AgentPut { config, secret };
    server
        .put(&["w", &workspace, "agents", &name], &put)
        .await?;
    context.console.note(format!(
        "added {name} to {workspace}; `evalkit agent check {name}` calls it once"
    ));
    Ok(Exit::Met)
}

fn list(agents: &Agents, context: &mut Context) {
    let width = agents
        .rows
        .iter()
        .map(|row| row.name.chars().count())
        .max()
        .unwrap_or(0);
    for row in &agents.rows {
        let check = match &row.last_check {
            None => "not checked",
            Some(check) if check.ok => "answers",
            Some(_) => "does not answer",
        };
        context.console.say(format!(
            "{:<width$}  {:<12}  {:<11}  {:<15}  {}",
            visible(&row.name),
            visible(&row.adapter),
            visible(&row.from),
            check,
            visible(&row.endpoint),
        ));
    }
    if agents.rows.is_empty() {
        context
            .console
            .note("no agents; `evalkit agent add` registers one");
    }
}

fn show(name: &str, check: &AgentCheck, context: &mut Context) {
    let console = &mut context.console;
    for (step, ok, remark) in &check.steps {
        let mark = if *ok { "ok    " } else { "failed" };
        console.say(format!("{mark}  {}: {}", visible(step), visible(remark)));
    }
    if !check.reply.is_empty() {
        console.say("it said:");
        for line in visible(&check.reply).lines() {
            console.say(format!("  {line}"));
        }
    }
    if check.ok {
        console.say(format!("{name} answers, in {} ms", check.latency_ms));
    } else {
        let class = check.class.as_deref().unwrap_or("failed");
        console.say(format!(
            "{name} does not answer ({}): {}",
            visible(class),
            visible(&check.message)
        ));
    }
}

/// `name`, or `name@workspace`; the personal workspace when nothing names one.
async fn address(
    written: &str,
    workspace: Option<String>,
    server: &Server,
) -> Result<(String, String), Failure> {
    if let Some((name, own)) = written.split_once('@') {
        return Ok((name.to_owned(), own.to_owned()));
    }
    Ok((written.to_owned(), workspace_of(workspace, server).await?))
}

/// The workspace named, else the personal one.
pub(super) async fn workspace_of(
    workspace: Option<String>,
    server: &Server,
) -> Result<String, Failure> {
    match workspace {
        Some(workspace) => Ok(workspace),
        None => Ok(server.whoami().await?.name),
    }
}
