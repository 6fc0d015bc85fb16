//! A store in a folder and a database of its own, with a clock that stands still and people to act.

use std::sync::Arc;

use evalkit_core::agent::{Adapter, AgentConfig, AgentHome};
use evalkit_core::error::Code;
use evalkit_core::grade::{Grade, Outcome, ScoreValue, Share};
use evalkit_core::policy::Actor;
use evalkit_core::results::ResultsJudge;
use evalkit_core::run::RecordedRun;
use evalkit_lint::SourceFile;
use evalkit_store::{
    Claim, CreatedExperiment, Ctx, FixedClock, NewExperiment, NewOwner, Recording, ResolvedAgent,
    Settings, Store, StoreError, SyncReport, SyncRequest,
};
use serde_json::json;
use tempfile::TempDir;

pub const START: i64 = 1_900_000_000_000_000;
pub const SECOND: i64 = 1_000_000;
pub const LEASE: i64 = 30 * SECOND;

/// Two cases; the first has rubrics of two types, the second a source and a checkpoint.
pub const CASES: &str = r#"
defaults: { max_response_time: 60 }
cases:
  - id: paris  # the capital
    tags: [geo, easy]
    input: { question: "What is the capital of France, as of 2024?" }
    evaluators:
      output:
        answer_rubrics:
          rubrics:
            - rubric: "States that the capital of France is Paris."
              type: factual_retrieval
            - rubric: "Calculates the distance as 12 km."
              type: derived_computation
  - id: nile
    tags: [geo]
    input: { question: "How long is the Nile, as of 2024?" }
    evaluators:
      output:
        answer_rubrics:
          rubrics:
            - rubric: "States that the Nile is 6,650 km long."
              type: factual_retrieval
              source: "an encyclopaedia"
"#;

pub struct World {
    pub store: Store,
    pub clock: Arc<FixedClock>,
    pub folder: TempDir,
}

impl World {
    /// With the owner `mara`, who has the personal workspace `mara` and is admin of the shared `team`.
    pub async fn new() -> Self {
        Self::with(Settings::default()).await
    }

    pub async fn with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let clock = Arc::new(FixedClock::at(START));
        let settings = evalkit_test_database::settings(settings);
        let store = Store::open_with_clock(folder.path(), settings, clock.clone())
            .await
            .expect("the store opens");
        let world = Self {
            store,
            clock,
            folder,
        };
        let link = world
            .store
            .issue_setup_link_unchecked()
            .await
            .expect("a link")
            .expect("no people yet");
        world
            .store
            .complete_setup(
                &world.nobody(),
                &link,
                &NewOwner {
                    name: "mara".to_owned(),
                    display_name: "Mara Voss".to_owned(),
                    password: "correct horse battery".to_owned(),
                },
            )
            .await
            .expect("the owner is made");
        let mara = world.as_person("mara").await;
        world
            .store
            .create_workspace(&mara, "team")
            .await
            .expect("a shared workspace");
        for name in ["leo", "ines"] {
            world
                .store
                .ensure_demo_person_unchecked(name, name, false)
                .await
                .expect("a person");
        }
        world
    }

    pub fn nobody(&self) -> Ctx {
        self.store.ctx(Actor::Anonymous, "r-0", "10.0.0.1")
    }

    pub fn system(&self) -> Ctx {
        self.store.system_ctx()
    }

    /// A context of a person who signed in.
    pub async fn as_person(&self, name: &str) -> Ctx {
        let signed_in = self
            .store
            .sign_in(&self.nobody(), name, "correct horse battery")
            .await
            .unwrap_or_else(|error| panic!("{name} signs in: {error}"));
        let actor = self
            .store
            .actor_by_session(&signed_in.secret)
            .await
            .expect("a session");
        self.store.ctx(actor, "r-1", "10.0.0.1")
    }

    pub async fn sync(&self, ctx: &Ctx, workspace: &str, yaml: &str) -> SyncReport {
        self.store
            .sync(ctx, request(workspace, "world", yaml))
            .await
            .unwrap_or_else(|error| panic!("sync: {error:?}"))
    }

    pub async fn experiment(&self, ctx: &Ctx, workspace: &str) -> CreatedExperiment {
        self.store
            .create_experiment(ctx, new_experiment(workspace))
            .await
            .unwrap_or_else(|error| panic!("experiment: {error:?}"))
    }

    pub async fn claim(&self, experiment: &str, n: u32) -> Vec<Claim> {
        self.store
            .claim_trials(&self.system(), "worker-a", experiment, n, LEASE)
            .await
            .expect("claims")
    }

    /// Records an answer and ends the trial with one grade.
    pub async fn end(&self, claim: &Claim, satisfied: u64, of: u64) {
        let ctx = self.system();
        assert!(
            self.store
                .record_answer(&ctx, &claim.fence, answer("Paris."))
                .await
                .expect("recorded")
        );
        assert!(
            self.store
                .finish_trial(&ctx, &claim.fence, vec![(0, grade(satisfied, of))])
                .await
                .expect("finished")
        );
    }
}

pub fn request(workspace: &str, dataset: &str, yaml: &str) -> SyncRequest {
    SyncRequest {
        workspace: workspace.to_owned(),
        dataset: dataset.to_owned(),
        files: vec![SourceFile::new("cases.yaml", yaml.as_bytes())],
        keep_missing: false,
        archive: true,
        dry_run: false,
        jargon: Vec::new(),
        subject_terms: Vec::new(),
    }
}

pub fn new_experiment(workspace: &str) -> NewExperiment {
    NewExperiment {
        workspace: workspace.to_owned(),
        dataset: "world".to_owned(),
        agent: ResolvedAgent {
            name: "bot".to_owned(),
            config: AgentConfig::new("bot", Adapter::Demo, ""),
            home: AgentHome::BuiltIn,
            secret: None,
        },
        judge: ResultsJudge {
            provider: "replay".to_owned(),
            quality_signal: true,
            ..ResultsJudge::default()
        },
        judge_settings: json!({}),
        split: None,
        case_ids: Vec::new(),
        include_needs_ground_truth: false,
        trials: 1,
        concurrency: None,
        no_cache: false,
    }
}

pub fn answer(text: &str) -> Recording {
    Recording {
        run: RecordedRun {
            answer: Some(text.to_owned()),
            latency_ms: Some(850),
            ..RecordedRun::default()
        },
        trajectory: None,
    }
}

/// An answer rubrics grade with `satisfied` of `of` verdicts satisfied and the rest incorrect.
pub fn grade(satisfied: u64, of: u64) -> Grade {
    let verdicts: Vec<_> = (0..of)
        .map(|i| {
            json!({
                "rubric": format!("rubric {i}"), "type": "factual_retrieval",
                "verdict": if i < satisfied { "satisfied" } else { "incorrect" },
                "evidence": ["Paris"], "said": null, "reason": null, "source": null,
                "second_opinion": null, "needs_a_look": false, "override": null,
            })
        })
        .collect();
    Grade {
        evaluator: "answer_rubrics".to_owned(),
        outcome: Outcome::Scored {
            met: satisfied == of,
        },
        scores: [(
            "answer_rubric_score".to_owned(),
            ScoreValue::Share(Share {
                num: satisfied,
                den: of,
            }),
        )]
        .into(),
        skipped: Default::default(),
        explanation: json!({"verdicts": verdicts}),
        judge: None,
    }
}

/// The code of a refusal.
pub fn code<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> Code {
    match outcome {
        Ok(value) => panic!("expected a refusal, got {value:?}"),
        Err(error) => error.code(),
    }
}

/// What a person is told.
pub fn told<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> evalkit_core::error::Fault {
    match outcome {
        Ok(value) => panic!("expected a refusal, got {value:?}"),
        Err(error) => error.into(),
    }
}
