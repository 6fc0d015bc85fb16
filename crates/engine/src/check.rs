//! `agent check`: one probe, and what came back (`runs.md`, Agents).

use std::time::Duration;

use evalkit_core::agent::Adapter as AdapterKind;
use evalkit_core::atif;
use evalkit_core::run::Capability;
use evalkit_core::view::agents::AgentCheck;
use evalkit_store::{ResolvedAgent, Store};

use crate::adapter::{AgentReply, AgentTask, DemoAgent};
use crate::egress::{Egress, scrub};
use crate::harness::{self, AgentOf, trust};
use crate::settings::EngineSettings;

/// A probe waits at most this long, whatever the agent's time-out is.
const LONGEST: Duration = Duration::from_secs(30);
/// Characters of a reply that are kept.
const SHOWN: usize = 2_000;
/// The probe's question. It has no case behind it and asks nothing of an agent's tools.
const QUESTION: &str = "This is a connection check. Reply with one short sentence.";

type Steps = Vec<(String, bool, String)>;

/// Probes `agent` once. Never fails: what went wrong is the result.
pub(crate) async fn probe(
    store: &Store,
    egress: &Egress,
    settings: &EngineSettings,
    agent: &ResolvedAgent,
) -> AgentCheck {
    let mut steps = Steps::new();
    let mut step = |name: &str, ok: bool, remark: String| steps.push((name.to_owned(), ok, remark));
    let config = &agent.config;
    let mut check = AgentCheck {
        ok: false,
        class: None,
        message: String::new(),
        steps: Vec::new(),
        reply: String::new(),
        latency_ms: 0,
        at: store.now(),
    };
    if config.adapter.is_http() {
        let allowed = match egress.target(&config.endpoint, trust(&agent.home)) {
            Ok(target) => target.preflight().await.map(|()| target.shown()),
            Err(denied) => Err(denied),
        };
        match allowed {
            Ok(shown) => step("Address", true, shown),
            Err(denied) => {
                step("Address", false, denied.sentence());
                check.class = Some("egress_denied".to_owned());
                check.message = denied.to_string();
                check.steps = steps;
                return check;
            }
        }
    }
    let of = AgentOf {
        config,
        home: &agent.home,
        secret: agent.secret.as_ref(),
        at_once: false,
    };
    let called = match harness::adapter(store, egress, settings, of).await {
        Ok(adapter) => adapter.call(&task(agent)).await,
        Err(failure) => Err(failure),
    };
    match called {
        Err(failure) => {
            step("Call", false, failure.error.message.clone());
            check.class = Some(failure.error.class.as_str().to_owned());
            check.latency_ms = failure.latency_ms.unwrap_or(0);
            check.message = failure.error.message;
        }
        Ok(reply) => {
            let latency = reply.run.latency_ms.unwrap_or(0);
            step("Call", true, format!("answered in {latency} ms"));
            describe(&reply, config.capabilities.as_deref(), &mut step);
            check.ok = true;
            check.latency_ms = latency;
            check.message = format!("{} answers.", agent.name);
            check.reply = shown(&reply);
        }
    }
    check.steps = steps;
    check
}

fn task(agent: &ResolvedAgent) -> AgentTask {
    // The built-in agents know the cases of the demo dataset and nothing else; recordings know their own.
    let case_id = match (agent.config.adapter, DemoAgent::named(&agent.config.name)) {
        (AdapterKind::Demo, Some(_)) => "everest-height-2020",
        _ => "evalkit-check",
    };
    AgentTask {
        run_id: "evalkit-check".to_owned(),
        case_id: case_id.to_owned(),
        trial: 1,
        question: Some(QUESTION.to_owned()),
        messages: Vec::new(),
        prompt: QUESTION.to_owned(),
        fixtures: Vec::new(),
        // A new key each time: a probe is not to be answered from memory.
        idempotency_key: uuid::Uuid::now_v7().to_string(),
        allowed: Duration::from_secs(agent.config.timeout_s).min(LONGEST),
    }
}

fn describe(
    reply: &AgentReply,
    declared: Option<&[Capability]>,
    step: &mut impl FnMut(&str, bool, String),
) {
    let declares = |capability| declared.is_some_and(|list| list.contains(&capability));
    let run = &reply.run;
    match (&run.answer, &run.output) {
        (Some(answer), _) => step(
            "Answer",
            true,
            format!("{} characters of text", answer.chars().count()),
        ),
        (None, Some(_)) => step("Answer", true, "a structured output".to_owned()),
        (None, None) => step(
            "Answer",
            true,
            "none; the last agent message of the trajectory stands in".to_owned(),
        ),
    }
    match run.trajectory.as_ref().map(atif::Document::parse) {
        Some(Ok(document)) => {
            let problems = document.errors().len();
            let steps = document.steps().count();
            let calls = document.calls().count();
            step(
                "Trajectory",
                problems == 0,
                match document.errors().first() {
                    None => format!("{steps} steps, {calls} tool calls"),
                    Some(first) => format!(
                        "{steps} steps, {calls} tool calls, {problems} departures from ATIF; the first: {first}"
                    ),
                },
            );
        }
        Some(Err(_)) => step("Trajectory", false, "cannot be read as ATIF".to_owned()),
        None if declares(Capability::Trajectory) => step(
            "Trajectory",
            false,
            "declared, but none came: trajectory rubrics and tool checks would end in errors"
                .to_owned(),
        ),
        None => step(
            "Trajectory",
            true,
            "none: trajectory rubrics and tool checks will skip".to_owned(),
        ),
    }
    match &run.usage {
        Some(usage) if usage.input_tokens.is_some() || usage.output_tokens.is_some() => step(
            "Usage",
            true,
            format!(
                "{} tokens in, {} out",
                usage.input_tokens.unwrap_or(0),
                usage.output_tokens.unwrap_or(0)
            ),
        ),
        _ => step("Usage", true, "none reported".to_owned()),
    }
}

fn shown(reply: &AgentReply) -> String {
    let text = match (&reply.run.answer, &reply.run.output) {
        (Some(answer), _) => answer.clone(),
        (None, Some(output)) => output.to_string(),
        (None, None) => String::new(),
    };
    scrub(&text, &[]).chars().take(SHOWN).collect()
}
