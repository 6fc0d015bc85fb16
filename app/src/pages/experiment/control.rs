//! Pause, resume, cancel, re-run failed: forms, so that they work before script, each with its consequence beside it.

use evalkit_core::error::Fault;
use evalkit_core::experiment::ExperimentState;
use leptos::prelude::*;

use super::live::{Live, reload};
use crate::act::{Act, ActForm};
use crate::failure::Failure;
use crate::ui::{Button, ButtonKind, ErrorPanel, Icon, Kbd, grouped};

/// Lets queued trials rest.
///
/// # Errors
/// `S-NOT-FOUND` and `S-FORBIDDEN` as for every act; `S-CONFLICT` when its state does not allow this.
#[server(prefix = "/fn", endpoint = "run-pause")]
pub async fn pause_run(
    /// The workspace.
    workspace: String,
    /// Its number in the workspace.
    run: i64,
) -> Result<(), Failure> {
    crate::server::write(move |state, ctx| async move {
        state.engine.pause(&ctx, &workspace, run).await
    })
    .await
}

/// Lets them go on.
///
/// # Errors
/// `S-NOT-FOUND` and `S-FORBIDDEN` as for every act; `S-CONFLICT` when its state does not allow this.
#[server(prefix = "/fn", endpoint = "run-resume")]
pub async fn resume_run(
    /// The workspace.
    workspace: String,
    /// Its number in the workspace.
    run: i64,
) -> Result<(), Failure> {
    crate::server::write(move |state, ctx| async move {
        state.engine.resume(&ctx, &workspace, run).await
    })
    .await
}

/// Ends every open trial.
///
/// # Errors
/// `S-NOT-FOUND` and `S-FORBIDDEN` as for every act; `S-CONFLICT` when its state does not allow this.
#[server(prefix = "/fn", endpoint = "run-cancel")]
pub async fn cancel_run(
    /// The workspace.
    workspace: String,
    /// Its number in the workspace.
    run: i64,
) -> Result<(), Failure> {
    crate::server::write(move |state, ctx| async move {
        state.engine.cancel(&ctx, &workspace, run).await
    })
    .await
}

/// Queues every trial that ended in an error, was cancelled or left out at the cap.
///
/// # Errors
/// `S-NOT-FOUND` and `S-FORBIDDEN` as for every act; `S-CONFLICT` when its state does not allow this.
#[server(prefix = "/fn", endpoint = "run-rerun-failed")]
pub async fn rerun_failed(
    /// The workspace.
    workspace: String,
    /// Its number in the workspace.
    run: i64,
) -> Result<u64, Failure> {
    crate::server::write(move |state, ctx| async move {
        state.engine.rerun_failed(&ctx, &workspace, run).await
    })
    .await
}

/// The verbs that the run's state allows, for those who may.
#[component]
pub fn Controls(
    /// The run.
    live: Live,
) -> impl IntoView {
    let (workspace, run, may) = live
        .page
        .with_untracked(|page| (page.workspace.clone(), page.run, page.may_control));
    let pause = Act::of::<PauseRun>();
    let resume = Act::of::<ResumeRun>();
    let cancel = Act::of::<CancelRun>();
    let rerun = Act::of::<RerunFailed>();
    Effect::new(move |first: Option<()>| {
        let versions = [pause.done(), resume.done(), cancel.done(), rerun.done()];
        if first.is_some() && versions.iter().any(|version| *version > 0) {
            reload(live);
        }
    });
    if !may {
        return ().into_any();
    }
    let hidden = move || {
        let workspace = workspace.clone();
        view! {
            <input type="hidden" name="workspace" value=workspace/>
            <input type="hidden" name="run" value=run/>
        }
    };
    let hidden = StoredValue::new(hidden);
    let state = live.state;
    let is_running =
        move || state.get() == ExperimentState::Running && live.counts.get().open() > 0;
    let is_paused = move || state.get() == ExperimentState::Paused;
    let failed = Memo::new(move |_| {
        let c = live.counts.get();
        c.error + c.cancelled + c.budget
    });
    let open = Memo::new(move |_| live.counts.get().open());
    view! {
        <div class="sm:ml-auto flex flex-wrap items-start gap-2">
            <Show when=is_running>
                <ActForm act=pause>
                    {hidden.with_value(|hidden| hidden())}
                    <Button attr:data-key="p"><Icon name="pause"/>"Pause" <Kbd keys="P"/></Button>
                </ActForm>
            </Show>
            <Show when=is_paused>
                <ActForm act=resume>
                    {hidden.with_value(|hidden| hidden())}
                    <Button><Icon name="play"/>"Resume"</Button>
                </ActForm>
            </Show>
            <Show when=move || is_running() || is_paused()>
                <details class="menu right">
                    <summary class="btn plain">"Cancel…"</summary>
                    <div class="float p-4 w-72">
                        <p class="font-semibold">"Cancel the rest of this run?"</p>
                        <p class="text-ink-2 mt-1 mb-3">
                            {move || grouped(open.get())} " open trials end as cancelled. What was answered and graded stays. They can be re-run later."
                        </p>
                        <ActForm act=cancel>
                            {hidden.with_value(|hidden| hidden())}
                            <Button kind=ButtonKind::Danger>"Cancel the run"</Button>
                        </ActForm>
                    </div>
                </details>
            </Show>
            <Show when=move || { failed.get() > 0 && open.get() == 0 }>
                <ActForm act=rerun>
                    {hidden.with_value(|hidden| hidden())}
                    <Button attr:aria-describedby="rerun-hint">"Re-run the " {move || grouped(failed.get())} " failed"</Button>
                    <span class="sr-only" id="rerun-hint">"Asks the agent again for these trials alone, into this run."</span>
                </ActForm>
            </Show>
            {[pause, resume, cancel, rerun].map(|act| view! { <Refused fault=act.refused()/> })}
        </div>
    }
    .into_any()
}

/// Why a form was refused; nothing when it was not, or not yet sent.
#[component]
fn Refused(
    /// Of the act.
    fault: Signal<Option<Fault>>,
) -> impl IntoView {
    move || {
        fault
            .get()
            .map(|fault| view! { <div class="mt-3 max-w-[62ch]"><ErrorPanel fault/></div> })
    }
}
