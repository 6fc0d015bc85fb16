//! `evalkit show`: what a case comes down to (`formats.md`).

use evalkit_core::overlay::{EffectiveCase, bare_agent, merge};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Context, line, pretty};
use crate::args::ShowArgs;
use crate::console::visible;
use crate::dataset::{Dataset, named_overlays, no_such_case};
use crate::exit::{Exit, Failure, Outcome};
use crate::project::Project;

/// One case, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Shown {
    id: String,
    canonical: Value,
    content_hash: String,
    effective: Value,
    origins: Value,
}

/// Prints each case, or the ones asked for, in file order.
pub(super) fn run(args: &ShowArgs, context: &mut Context) -> Outcome {
    let project = Project::find(&context.environment.folder, Some(&args.path))?;
    let dataset = Dataset::read([args.path.as_path()], &project, Default::default(), context)?
        .sound(context)?;
    for id in &args.case_id {
        if !dataset.cases.iter().any(|parsed| parsed.case.id == *id) {
            return Err(no_such_case(id, &dataset));
        }
    }
    let overlays = named_overlays(&dataset);
    for parsed in &dataset.cases {
        let case = &parsed.case;
        if !args.case_id.is_empty() && !args.case_id.contains(&case.id) {
            continue;
        }
        let effective = match &args.agent {
            None => EffectiveCase {
                case: case.clone(),
                origins: Default::default(),
            },
            Some(agent) => merge(case, &overlays, agent).map_err(|clash| {
                Failure::new(
                    Exit::NotMet,
                    format!("Overlays clash: {clash}."),
                    "Keep one of the two.",
                )
            })?,
        };
        let value = effective.case.canonical();
        let part = |key: &str, empty: Value| value.get(key).cloned().unwrap_or(empty);
        let shown = Shown {
            id: case.id.clone(),
            canonical: case.canonical(),
            content_hash: case.content_hash(),
            effective: json!({
                "tags": part("tags", json!([])),
                "evaluators": part("evaluators", json!({})),
            }),
            origins: json!(effective.origins),
        };
        if args.json {
            context.console.say(line(&shown)?);
        } else {
            print(&shown, args.agent.as_deref(), context)?;
        }
    }
    Ok(Exit::Met)
}

fn print(shown: &Shown, agent: Option<&str>, context: &mut Context) -> Result<(), Failure> {
    let console = &mut context.console;
    console.say(&shown.id);
    console.say(format!("content hash  {}", shown.content_hash));
    console.say(visible(&pretty(&shown.canonical)?));
    if let Some(agent) = agent {
        console.say(format!("for {}:", visible(bare_agent(agent))));
        console.say(visible(&pretty(&shown.effective)?));
        for (name, dataset) in shown.origins.as_object().into_iter().flatten() {
            let dataset = dataset.as_str().unwrap_or_default();
            console.say(format!(
                "  {} comes from {}",
                visible(name),
                visible(dataset)
            ));
        }
    }
    console.say("");
    Ok(())
}
