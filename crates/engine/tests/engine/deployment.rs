//! A store in a folder and a database of its own, an engine over it, and a person who may do everything in their workspace.

use std::time::Duration;

use evalkit_core::agent::{Adapter, AgentConfig};
use evalkit_core::error::Fault;
use evalkit_core::experiment::{ExperimentState, TrialCounts};
use evalkit_core::view::result::ResultPage;
use evalkit_core::view::runs::{RunRow, RunsQuery};
use evalkit_engine::demo::{DEMO_PERSON, builtin_agents, demo_case_count};
use evalkit_engine::egress::EgressSettings;
use evalkit_engine::{Engine, EngineSettings, NewExperiment, StartedExperiment};
use evalkit_lint::SourceFile;
use evalkit_store::{Ctx, NewAgent, Settings, Store, SyncRequest};

/// The workspace of every test.
pub const HERE: &str = DEMO_PERSON;
/// The dataset that [`Deployment::sync`] fills.
pub const DATASET: &str = "cases";

pub struct Deployment {
    /// Removed when the test ends.
    _folder: tempfile::TempDir,
    pub store: Store,
    pub engine: Engine,
    pub ctx: Ctx,
}

pub fn settings() -> EngineSettings {
    EngineSettings {
        egress: EgressSettings {
            listens_on_loopback: true,
            ..EgressSettings::default()
        },
        lease: Duration::from_secs(2),
        drain: Duration::from_secs(5),
        ..EngineSettings::default()
    }
}

pub async fn open(folder: &std::path::Path) -> Store {
    let settings = Settings {
        demo: true,
        builtin_agents: builtin_agents(),
        demo_cases: demo_case_count(),
        ..Settings::default()
    };
    Store::open(folder, evalkit_test_database::settings(settings))
        .await
        .unwrap()
}

pub async fn person(store: &Store) -> Ctx {
    store
        .ensure_demo_person_unchecked(HERE, "Demo person", true)
        .await
        .unwrap();
    let session = store
        .sign_in_as_demo(&store.system_ctx(), HERE)
        .await
        .unwrap();
    let actor = store.actor_by_session(&session.secret).await.unwrap();
    store.ctx(actor, "test", "127.0.0.1")
}

impl Deployment {
    pub async fn start() -> Self {
        Self::start_with(settings()).await
    }

    pub async fn start_with(settings: EngineSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path()).await;
        let ctx = person(&store).await;
        let engine = Engine::new(store.clone(), settings).unwrap();
        engine.start().await.unwrap();
        Self {
            _folder: folder,
            store,
            engine,
            ctx,
        }
    }

    /// Another engine on the same store, as after a restart.
    pub async fn restart(&mut self) {
        self.engine = Engine::new(self.store.clone(), settings()).unwrap();
        self.engine.start().await.unwrap();
    }

    /// Makes the dataset hold one case for each id.
    pub async fn sync(&self, ids: &[&str]) {
        let mut yaml = String::from("cases:\n");
        for id in ids {
            yaml.push_str(&format!(
                "  - id: {id}\n    input:\n      question: How high is Mount Everest? ({id})\n    expected: CANARY-expected\n    evaluators:\n      output:\n        \
                 answer_rubrics:\n          rubrics:\n            - rubric: \"States that Mount Everest is 8,848.86 m high.\"\n              \
                 type: factual_retrieval\n"
            ));
        }
        let request = SyncRequest {
            workspace: HERE.to_owned(),
            dataset: DATASET.to_owned(),
            files: vec![SourceFile::new("cases.yaml", yaml)],
            keep_missing: false,
            archive: true,
            dry_run: false,
            jargon: Vec::new(),
            subject_terms: Vec::new(),
        };
        self.store.sync(&self.ctx, request).await.unwrap();
    }

    /// Registers an agent at `url`; `change` adjusts it first.
    pub async fn agent(
        &self,
        name: &str,
        url: &str,
        change: impl FnOnce(&mut AgentConfig),
    ) -> Result<(), Fault> {
        let mut config = AgentConfig::new(name, Adapter::EvalkitHttp, url);
        change(&mut config);
        let agent = NewAgent {
            config,
            secret: None,
        };
        self.engine.add_agent(&self.ctx, HERE, agent).await
    }

    pub async fn run(&self, agent: &str, trials: u32) -> StartedExperiment {
        self.engine
            .start_experiment(
                &self.ctx,
                NewExperiment {
                    workspace: HERE.to_owned(),
                    dataset: DATASET.to_owned(),
                    agent: agent.to_owned(),
                    trials,
                    ..NewExperiment::default()
                },
            )
            .await
            .unwrap()
    }

    pub async fn row(&self, run: i64) -> RunRow {
        let page = self
            .store
            .runs_page(&self.ctx, HERE, &RunsQuery::default())
            .await
            .unwrap();
        page.rows.into_iter().find(|row| row.run == run).unwrap()
    }

    /// Waits until `enough` holds for the run's counts.
    pub async fn wait(
        &self,
        run: i64,
        longest: Duration,
        enough: impl Fn(&RunRow) -> bool,
    ) -> RunRow {
        let mut commits = self.store.commits();
        let until = tokio::time::Instant::now() + longest;
        loop {
            let row = self.row(run).await;
            if enough(&row) {
                return row;
            }
            assert!(
                tokio::time::timeout_at(until, commits.changed())
                    .await
                    .is_ok(),
                "run {run} did not come that far within {longest:?}: {:?}",
                row.counts
            );
        }
    }

    /// Waits for the end, and checks that every planned trial has one.
    pub async fn finish(&self, run: i64, planned: u64, longest: Duration) -> TrialCounts {
        let row = self
            .wait(run, longest, |row| {
                matches!(
                    row.state,
                    ExperimentState::Finished | ExperimentState::Cancelled
                )
            })
            .await;
        assert_eq!(row.counts.planned(), planned);
        assert_eq!(row.counts.open(), 0);
        row.counts
    }

    pub async fn result(&self, run: i64, case_id: &str) -> ResultPage {
        self.store
            .result_page(&self.ctx, HERE, run, case_id, None)
            .await
            .unwrap()
    }
}
