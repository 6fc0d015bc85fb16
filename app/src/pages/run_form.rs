//! "Run…": picks an agent and starts a run of a dataset, a split or one case. A `<details>`, so it opens without script.

use leptos::prelude::*;

use super::count;
use crate::act::{Act, ActForm};
use crate::failure::Failure;
use crate::session::use_session;
use crate::ui::{Button, ButtonKind, FieldText, FormFault, Icon, Select};

/// Starts a run and leads to it.
///
/// # Errors
/// `S-FORBIDDEN`, `S-NOT-FOUND`, `S-INVALID`, `S-LIMIT`.
#[server(prefix = "/fn", endpoint = "start-run")]
pub async fn start_run(
    /// The workspace.
    workspace: String,
    /// The dataset's slug.
    dataset: String,
    /// Only cases with this tag; empty = all.
    #[server(default)]
    split: String,
    /// Only this case; empty = all.
    #[server(default)]
    case_id: String,
    /// The agent.
    agent: String,
    /// Trials a case.
    trials: u32,
) -> Result<(), Failure> {
    use evalkit_engine::NewExperiment;
    let place = workspace.clone();
    let wanted = NewExperiment {
        workspace,
        dataset,
        split: (!split.is_empty()).then_some(split),
        case_ids: if case_id.is_empty() {
            Vec::new()
        } else {
            vec![case_id]
        },
        agent,
        trials,
        ..NewExperiment::default()
    };
    let started = crate::server::write(|state, ctx| async move {
        state.engine.start_experiment(&ctx, wanted).await
    })
    .await?;
    leptos_axum::redirect(&format!("/w/{place}/runs/{}", started.run));
    Ok(())
}

/// The button and its form.
#[component]
pub fn RunForm(
    /// The workspace.
    #[prop(into)]
    workspace: String,
    /// The dataset's slug.
    #[prop(into)]
    dataset: String,
    /// Agents to choose from; empty = the form says where to add one.
    agents: Vec<String>,
    /// Only this split.
    #[prop(optional_no_strip)]
    split: Option<String>,
    /// Only this case.
    #[prop(optional_no_strip)]
    case_id: Option<String>,
    /// Cases that the run would ask.
    cases: u64,
) -> impl IntoView {
    let action = Act::of::<StartRun>();
    // A refusal that came back with the page is shown, not hidden behind the button.
    let open = action.refused().with_untracked(Option::is_some);
    let graded_by = use_session().with_value(|session| {
        if session.demo {
            " Answers of the demo agents have recorded verdicts; others are graded offline: not a quality signal.".to_owned()
        } else if session.judge.quality_signal {
            String::new()
        } else {
            format!(" Graded by the {} judge: not a quality signal.", session.judge.provider)
        }
    });
    let what = match (&case_id, &split) {
        (Some(_), _) => "this case".to_owned(),
        (None, Some(split)) => format!("{} of split {split}", count(cases, "case", "cases")),
        (None, None) => count(cases, "case", "cases"),
    };
    let submit = if case_id.is_some() {
        "Run this case".to_owned()
    } else {
        format!("Run {}", count(cases, "case", "cases"))
    };
    let agents_page = format!("/w/{workspace}/agents");
    view! {
        <details class="menu right" name="bar" open=open>
            <summary class="btn primary">"Run…"</summary>
            <div class="float w-[min(340px,calc(100vw-32px))] px-4 py-3.5">
                {if agents.is_empty() {
                    view! {
                        <p class="text-sm">"A run needs an agent to ask, and there is none here yet."</p>
                        <a class="btn sm mt-3" href=agents_page><Icon name="plus"/>"Add an agent"</a>
                    }
                        .into_any()
                } else {
                    view! {
                        <ActForm act=action>
                            <input type="hidden" name="workspace" value=workspace/>
                            <input type="hidden" name="dataset" value=dataset/>
                            <input type="hidden" name="split" value=split.unwrap_or_default()/>
                            <input type="hidden" name="case_id" value=case_id.unwrap_or_default()/>
                            <div class="space-y-3.5">
                                <Select
                                    name="agent"
                                    label="Agent"
                                    options=agents.into_iter().map(|name| (name.clone(), name)).collect()
                                />
                                <FieldText
                                    name="trials"
                                    label="Trials a case"
                                    kind="number"
                                    value="1"
                                    hint="More than one shows whether an agent is flaky."
                                />
                            </div>
                            <FormFault fault=action.refused()/>
                            <div class="mt-4">
                                <Button kind=ButtonKind::Primary disabled=action.pending()><Icon name="play"/>{submit}</Button>
                            </div>
                            <p class="hint mt-3">
                                "Asks the agent " {what} ". You can leave the page while it runs."
                                {graded_by}
                            </p>
                        </ActForm>
                    }
                        .into_any()
                }}
            </div>
        </details>
    }
}
