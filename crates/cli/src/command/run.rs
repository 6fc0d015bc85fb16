//! `evalkit run`: lint, sync, begin an experiment, follow it, say what came of it (`runs.md`, Experiments).

mod follow;

use std::collections::BTreeSet;
use std::path::PathBuf;

use evalkit_core::api::{RunBegun, RunPost};
use evalkit_core::error::Code;
use evalkit_core::name::{Address, is_slug};
use evalkit_core::results::Results;
use evalkit_core::view::agents::Agents;
use evalkit_lint::nearest;

use super::agent::workspace_of;
use super::sync::{self, Wanted};
use super::{Context, pretty};
use crate::args::RunArgs;
use crate::console::visible;
use crate::exit::{Exit, Failure, Outcome};
use crate::project::Project;
use crate::scores;
use crate::server::Server;

/// Where the cases are.
struct Target {
    dataset: String,
    workspace: String,
    /// The directory to sync first.
    path: Option<PathBuf>,
}

/// Exit 0 done and met, 1 below the threshold, 2 incomplete, 3 before anything began.
pub(super) async fn run(args: &RunArgs, context: &mut Context) -> Outcome {
    scores::check_threshold(args.threshold)?;
    let project = Project::find(&context.environment.folder, None)?;
    let server = Server::of(&project, context)?;
    let target = target(args, &project, &server, context).await?;
    if let Some(path) = &target.path {
        agent_is_known(&args.agent, &target.workspace, &server).await?;
        let wanted = Wanted {
            workspace: target.workspace.clone(),
            dataset: target.dataset.clone(),
            ..Wanted::default()
        };
        let done = sync::sync(path, &wanted, &project, &server, context).await?;
        context.console.note(format!(
            "synced {}@{}: {} added, {} changed, {} unchanged, {} archived",
            target.dataset,
            target.workspace,
            done.added.len(),
            done.changed.len(),
            done.unchanged,
            done.archived.len()
        ));
    }
    let post = RunPost {
        dataset: target.dataset.clone(),
        agent: args.agent.clone(),
        split: args.split.clone(),
        case_ids: args.case_id.clone(),
        trials: args.trials,
        concurrency: args.concurrency,
        include_needs_ground_truth: args.include_needs_ground_truth,
        no_cache: args.no_cache,
    };
    let begun: RunBegun = server
        .post(&["w", &target.workspace, "runs"], &post)
        .await?;
    let number = begun.number.to_string();
    let link = server.page(&format!("/w/{}/runs/{number}", target.workspace));
    if !begun.left_out.is_empty() {
        context.console.note(format!(
            "left out, they need ground truth: {}",
            visible(&begun.left_out.join(", "))
        ));
    }
    context.console.note(format!(
        "run {number}: {} planned against {}",
        crate::diagnostics::count(
            usize::try_from(begun.planned).unwrap_or(usize::MAX),
            "trial"
        ),
        visible(&begun.agent),
    ));
    if args.detach {
        context.console.say(link);
        return Ok(Exit::Met);
    }
    let followed =
        follow::follow(&server, &target.workspace, &number, begun.planned, context).await;
    if let Err(failure) = followed {
        context.console.warn(format!("the run goes on at {link}"));
        return Err(failure);
    }
    let results: Results = server
        .get(&["w", &target.workspace, "runs", &number, "results"])
        .await
        .map_err(|failure| Failure {
            exit: Exit::Incomplete,
            ..failure
        })?;
    if args.json {
        context.console.say(pretty(&results)?);
        context.console.note(&link);
    } else {
        for line in scores::report(&results, context.verbose > 0) {
            context.console.say(line);
        }
        context.console.say("");
        context.console.say(&link);
    }
    Ok(scores::verdict(
        &results,
        args.threshold,
        &mut context.console,
    ))
}

/// Refuses a misspelt agent before anything is synced.
async fn agent_is_known(written: &str, workspace: &str, server: &Server) -> Result<(), Failure> {
    // What is no address, or is in another workspace, the server judges.
    let Ok(Address {
        slug,
        workspace: None,
    }) = Address::parse(written)
    else {
        return Ok(());
    };
    let mut names = BTreeSet::new();
    // One's own agents come first wherever one runs.
    for place in [workspace_of(None, server).await?, workspace.to_owned()] {
        let agents: Agents = server.get(&["w", &place, "agents"]).await?;
        names.extend(agents.rows.into_iter().map(|row| row.name));
        if names.contains(&slug) {
            return Ok(());
        }
    }
    let next = match nearest(&slug, names.iter().map(String::as_str)) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => format!(
            "`evalkit agent list` names those of {workspace}; `evalkit agent add {slug} --url …` adds it."
        ),
    };
    Err(Failure {
        // As the server would say.
        code: Some(Code::NotFound.as_str().to_owned()),
        ..Failure::misuse(
            format!("There is no agent `{slug}` in {workspace}; nothing was synced."),
            next,
        )
    })
}

/// `finance@dev` runs what is there; a slug of the project file, or a path, is synced first.
async fn target(
    args: &RunArgs,
    project: &Project,
    server: &Server,
    context: &Context,
) -> Result<Target, Failure> {
    let written = args.dataset.as_str();
    if let Ok(Address {
        slug,
        workspace: Some(workspace),
    }) = Address::parse(written)
    {
        return Ok(Target {
            dataset: slug,
            workspace,
            path: None,
        });
    }
    let workspace = workspace_of(args.workspace.clone(), server).await?;
    if let Some(path) = project.datasets.get(written) {
        return Ok(Target {
            dataset: written.to_owned(),
            workspace,
            path: (!args.no_sync).then(|| path.clone()),
        });
    }
    if args.no_sync && is_slug(written) {
        return Ok(Target {
            dataset: written.to_owned(),
            workspace,
            path: None,
        });
    }
    let folder = &context.environment.folder;
    let path = PathBuf::from(written);
    if folder.join(&path).exists() {
        return Ok(Target {
            dataset: sync::slug_of(folder, &path, project)?,
            workspace,
            path: Some(path),
        });
    }
    let next = match nearest(written, project.datasets.keys().map(String::as_str)) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => "Name it under `datasets` in evalkit.yaml, give a path, or write `dataset@workspace` for one on the server."
            .to_owned(),
    };
    Err(Failure::misuse(
        format!("There is no dataset `{written}` in the project file, and no such path."),
        next,
    ))
}
