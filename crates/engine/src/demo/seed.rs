//! What `evalkit serve --demo` starts with, and what the first-run guide brings into a workspace.

use std::sync::atomic::Ordering;
use std::time::Duration;

use evalkit_core::agent::AgentConfig;
use evalkit_core::error::{Code, Fault};
use evalkit_core::experiment::ExperimentState;
use evalkit_core::policy::Actor;
use evalkit_core::view::runs::RunsQuery;
use evalkit_lint::SourceFile;
use evalkit_store::{Ctx, SyncReport, SyncRequest};

use super::bundled::{DEMO_DATASET, bundled_cases, bundled_files, bundled_fixtures};
use crate::adapter::{DEMO_AGENTS, DemoAgent};
use crate::engine::{Engine, NewExperiment};

/// The person that a demo signs in as; also their workspace.
pub const DEMO_PERSON: &str = "demo";
/// As pages name them.
const DEMO_PERSON_SHOWN: &str = "Demo person";
/// `subject_terms` of the bundled project file.
const SUBJECT_TERMS: [&str; 1] = ["server"];
/// The two finished runs take a fraction of this.
const PATIENCE: Duration = Duration::from_secs(30);

/// The built-in agents, for the store's settings.
pub fn builtin_agents() -> Vec<AgentConfig> {
    DEMO_AGENTS.map(DemoAgent::config).to_vec()
}

/// How many cases the bundled dataset has, for the store's settings.
pub fn demo_case_count() -> u64 {
    bundled_cases().len() as u64
}

impl Engine {
    /// Makes the demo's person, dataset and one finished run of each built-in agent, as far as they are missing. The runs
    /// go through the same queue and graders as any other. The engine must have been started.
    ///
    /// # Errors
    /// What the store says; `S-INTERNAL` when the runs do not end.
    pub async fn seed_demo(&self) -> Result<(), Fault> {
        let store = self.store();
        store
            .ensure_demo_person_unchecked(DEMO_PERSON, DEMO_PERSON_SHOWN, true)
            .await?;
        let system = store.system_ctx();
        let session = store.sign_in_as_demo(&system, DEMO_PERSON).await?;
        let actor = store.actor_by_session(&session.secret).await?;
        let ctx = store.ctx(actor, "demo", "");
        let seeded = self.seed_as(&ctx).await;
        store.sign_out(&ctx, &session.secret).await?;
        seeded
    }

    async fn seed_as(&self, ctx: &Ctx) -> Result<(), Fault> {
        let mut missing = Vec::new();
        for agent in DEMO_AGENTS {
            let query = RunsQuery {
                agent: Some(agent.name().to_owned()),
                ..RunsQuery::default()
            };
            if self
                .store()
                .runs_page(ctx, DEMO_PERSON, &query)
                .await?
                .found
                == 0
            {
                missing.push(agent);
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        self.sync_demo_dataset(ctx).await?;
        self.worker.at_once.store(true, Ordering::Relaxed);
        let ended = self.run_all(ctx, &missing).await;
        self.worker.at_once.store(false, Ordering::Relaxed);
        ended
    }

    async fn run_all(&self, ctx: &Ctx, agents: &[DemoAgent]) -> Result<(), Fault> {
        let mut runs = Vec::new();
        for agent in agents {
            let run = NewExperiment {
                workspace: DEMO_PERSON.to_owned(),
                dataset: DEMO_DATASET.to_owned(),
                agent: agent.name().to_owned(),
                ..NewExperiment::default()
            };
            runs.push(self.start_experiment(ctx, run).await?.id);
        }
        let store = self.store();
        let mut commits = store.commits();
        let until = tokio::time::Instant::now() + PATIENCE;
        for id in runs {
            loop {
                let plan = store.experiment_plan(&store.system_ctx(), &id).await?;
                if plan.state == ExperimentState::Finished {
                    break;
                }
                let stalled = || {
                    Fault::new(
                        Code::Internal,
                        "The demo's runs do not end.",
                        "Start again with an empty data folder; the log says what stopped them.",
                    )
                };
                tokio::time::timeout_at(until, commits.changed())
                    .await
                    .map_err(|_| stalled())?
                    .map_err(|_| stalled())?;
            }
        }
        Ok(())
    }

    /// Brings the bundled dataset, its overlays and its fixtures into the caller's personal workspace: the first click of
    /// the first-run guide. Syncing it again changes nothing.
    ///
    /// # Errors
    /// `S-SIGN-IN` for nobody; `S-CONFLICT` and `S-LINT` as any sync.
    pub async fn sync_demo_dataset(&self, ctx: &Ctx) -> Result<SyncReport, Fault> {
        let Actor::Person { name, .. } = &ctx.actor else {
            return Err(Fault::new(
                Code::SignIn,
                "Nobody is signed in.",
                "Sign in, then try again.",
            ));
        };
        let store = self.store();
        for (_, bytes) in bundled_fixtures() {
            let mut writer = store.begin_fixture(ctx, name).await?;
            writer.write(bytes).await?;
            let sha256 = evalkit_core::canonical::hash_bytes(bytes);
            store.finish_fixture(ctx, name, &sha256, writer).await?;
        }
        let request = SyncRequest {
            workspace: name.clone(),
            dataset: DEMO_DATASET.to_owned(),
            files: bundled_files().into_iter().map(in_folder).collect(),
            // A dataset of that name could be the person's own work.
            keep_missing: true,
            archive: false,
            dry_run: false,
            jargon: Vec::new(),
            subject_terms: SUBJECT_TERMS.map(str::to_owned).to_vec(),
        };
        Ok(store.sync(ctx, request).await?)
    }
}

/// Names the file as the repository does, so that a diagnostic can be followed.
fn in_folder(file: SourceFile) -> SourceFile {
    SourceFile::new(format!("examples/world-facts/{}", file.path), file.bytes)
}
