//! The handle that server functions, HTTP routes and the composition root hold.

use std::sync::Arc;
use std::time::Duration;

use evalkit_core::agent::Adapter as AdapterKind;
use evalkit_core::error::{Code, Fault};
use evalkit_core::policy::Action;
use evalkit_core::results::ResultsJudge;
use evalkit_core::view::agents::AgentCheck;
use evalkit_store::{Ctx, NewAgent, Store};

use crate::adapter::{FixtureLinks, LinkRefused};
use crate::check;
use crate::egress::Egress;
use crate::harness;
use crate::judge::{Endpoints, Judge, JudgeConfigError};
use crate::settings::EngineSettings;
use crate::worker::Worker;

/// The engine. Cheap to clone; all clones are one engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) worker: Arc<Worker>,
}

/// An experiment that a person asks for (`runs.md`, Experiments).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewExperiment {
    /// Where it runs and where its cases are.
    pub workspace: String,
    /// The dataset's slug.
    pub dataset: String,
    /// Only cases with this tag.
    pub split: Option<String>,
    /// Only these cases; empty = all.
    pub case_ids: Vec<String>,
    /// `name` or `name@workspace`; a bare name is looked up as `runs.md` says.
    pub agent: String,
    /// Trials a case; 0 counts as 1.
    pub trials: u32,
    /// Calls at once; absent = the agent's own limit, which holds in any case.
    pub concurrency: Option<u32>,
    /// Also cases tagged `needs-ground-truth`.
    pub include_needs_ground_truth: bool,
    /// Ask for every verdict anew.
    pub no_cache: bool,
}

/// An experiment that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedExperiment {
    /// Its id.
    pub id: String,
    /// Its number in the workspace.
    pub run: i64,
    /// Trials planned.
    pub planned: u64,
    /// Cases left out because they need ground truth.
    pub left_out: Vec<String>,
    /// The agent as results name it.
    pub agent: String,
    /// The judge as results name it.
    pub judge: ResultsJudge,
}

/// The most trials of one case.
const MOST_TRIALS: u32 = 1_000;

impl Engine {
    /// An engine over `store`. It does nothing in the background before [`Engine::start`].
    ///
    /// # Errors
    /// [`JudgeConfigError`] when the deployment's judge cannot be used.
    pub fn new(store: Store, settings: EngineSettings) -> Result<Self, JudgeConfigError> {
        let egress = Egress::new(settings.egress.clone());
        let endpoints = Endpoints::new(
            egress.clone(),
            settings.judge_keys.clone(),
            settings.judge_pace,
        );
        Judge::open(
            &settings.judge,
            settings.second_judge.as_ref(),
            &settings.config_folder,
            &endpoints,
        )?;
        let links = FixtureLinks::new(
            &store.settings().public_url,
            store.derived_key("agent fixture links"),
        );
        Ok(Self {
            worker: Arc::new(Worker::new(store, egress, endpoints, settings, links)),
        })
    }

    /// Takes back what an earlier process of this database held, and starts to work.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn start(&self) -> Result<(), Fault> {
        // An embedded database has one process, which holds its lock: whoever held a lease is gone. Servers of a shared
        // database may live, and what a dead one held is taken back when its lease runs out.
        if !self.store().is_shared() {
            self.store().release_leases_unchecked(None).await?;
        }
        let worker = Arc::clone(&self.worker);
        tokio::spawn(async move {
            // A fault in the loop must not stop every run of the deployment; what it held is taken back by its leases.
            while tokio::spawn(Arc::clone(&worker).run()).await.is_err() {
                tracing::error!("the worker broke and is started again");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        Ok(())
    }

    /// Takes nothing new, waits for calls in flight as long as the settings say, gives the rest back.
    pub async fn stop(&self) {
        self.worker.stop().await;
    }

    /// Ends all work where it stands and gives nothing back, as a killed process would. What follows a kill is tested
    /// with it; a server stops with [`Engine::stop`].
    pub fn kill(&self) {
        self.worker.kill();
    }

    /// The store underneath.
    pub fn store(&self) -> &Store {
        &self.worker.store
    }

    /// Freezes cases, agent and judge, and queues the trials.
    ///
    /// # Errors
    /// `S-NOT-FOUND`, `S-FORBIDDEN`, `S-INVALID`, `S-LIMIT`, as the store says; `S-INVALID` for an agent that this
    /// version cannot call.
    pub async fn start_experiment(
        &self,
        ctx: &Ctx,
        new: NewExperiment,
    ) -> Result<StartedExperiment, Fault> {
        if new.trials > MOST_TRIALS {
            return Err(Fault::new(
                Code::Invalid,
                format!("{} trials a case are more than {MOST_TRIALS}.", new.trials),
                "Ask for fewer trials.",
            ));
        }
        let agent = self
            .store()
            .resolve_agent(ctx, &new.workspace, &new.agent)
            .await?;
        if matches!(
            agent.config.adapter,
            AdapterKind::ChatSse | AdapterKind::OpenaiChat
        ) {
            return Err(Fault::new(
                Code::Invalid,
                format!(
                    "The agent `{}` speaks `{}`, which this version does not.",
                    agent.name,
                    agent.config.adapter.as_str()
                ),
                "Use an agent that speaks `evalkit-http`.",
            ));
        }
        let (judge, judge_settings) = Judge::for_agent(
            &agent.config,
            &agent.home,
            &self.worker.settings,
            &self.worker.endpoints,
        )
        .map_err(|error| unusable_judge(&error))?;
        let judge = judge.describe();
        let name = agent.name.clone();
        let created = self
            .store()
            .create_experiment(
                ctx,
                evalkit_store::NewExperiment {
                    workspace: new.workspace,
                    dataset: new.dataset,
                    agent,
                    judge: judge.clone(),
                    judge_settings,
                    split: new.split,
                    case_ids: new.case_ids,
                    include_needs_ground_truth: new.include_needs_ground_truth,
                    trials: new.trials.max(1),
                    concurrency: new.concurrency,
                    no_cache: new.no_cache,
                },
            )
            .await?;
        self.worker.look();
        Ok(StartedExperiment {
            id: created.id,
            run: created.run,
            planned: created.planned,
            left_out: created.left_out,
            agent: name,
            judge,
        })
    }

    /// Ends an experiment. Open trials become cancelled, and calls in flight are cut off.
    ///
    /// # Errors
    /// `S-FORBIDDEN` for another's run without the admin role, `S-CONFLICT` when it has ended.
    pub async fn cancel(&self, ctx: &Ctx, workspace: &str, run: i64) -> Result<(), Fault> {
        self.store().cancel_experiment(ctx, workspace, run).await?;
        self.worker.drop_cancelled().await;
        Ok(())
    }

    /// Takes no further trial of an experiment; calls in flight end and are kept.
    ///
    /// # Errors
    /// `S-CONFLICT` unless it is running.
    pub async fn pause(&self, ctx: &Ctx, workspace: &str, run: i64) -> Result<(), Fault> {
        self.store().pause_experiment(ctx, workspace, run).await?;
        self.worker.look();
        Ok(())
    }

    /// Goes on with a paused experiment.
    ///
    /// # Errors
    /// `S-CONFLICT` unless it is paused.
    pub async fn resume(&self, ctx: &Ctx, workspace: &str, run: i64) -> Result<(), Fault> {
        self.store().resume_experiment(ctx, workspace, run).await?;
        self.worker.look();
        Ok(())
    }

    /// Runs the failed trials again, into the same experiment; gives how many.
    ///
    /// # Errors
    /// `S-CONFLICT` when there is none.
    pub async fn rerun_failed(&self, ctx: &Ctx, workspace: &str, run: i64) -> Result<u64, Fault> {
        let trials = self.store().rerun_failed(ctx, workspace, run).await?;
        self.worker.look();
        Ok(trials)
    }

    /// Registers an agent, or changes the one of that name. Its address is decided by the egress rules first.
    ///
    /// # Errors
    /// `S-EGRESS-DENIED` with the lines for `config.yaml`, `S-INVALID`, `S-NAME-TAKEN`, `S-FORBIDDEN`.
    pub async fn add_agent(
        &self,
        ctx: &Ctx,
        workspace: &str,
        agent: NewAgent,
    ) -> Result<(), Fault> {
        // Whoever may not register an agent here learns nothing about its address, and has nothing resolved.
        self.store()
            .require(ctx, workspace, Action::RegisterAgent)
            .await?;
        harness::check_entered(&self.worker.egress, &agent.config).await?;
        Ok(self.store().put_agent(ctx, workspace, agent).await?)
    }

    /// Forgets an agent and its secret.
    ///
    /// # Errors
    /// `S-NOT-FOUND`, `S-FORBIDDEN`.
    pub async fn remove_agent(&self, ctx: &Ctx, workspace: &str, name: &str) -> Result<(), Fault> {
        Ok(self.store().remove_agent(ctx, workspace, name).await?)
    }

    /// Sends one probe to an agent and keeps what it found. A failing agent is a result, not an error.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for an unknown name, `S-FORBIDDEN` without the right to run.
    pub async fn check_agent(
        &self,
        ctx: &Ctx,
        workspace: &str,
        name: &str,
    ) -> Result<AgentCheck, Fault> {
        let agent = self.store().resolve_agent(ctx, workspace, name).await?;
        let worker = &self.worker;
        let found = check::probe(&worker.store, &worker.egress, &worker.settings, &agent).await;
        self.store()
            .save_agent_check(ctx, workspace, &agent.name, found.clone())
            .await?;
        Ok(found)
    }

    /// Whether a fixture address that an agent calls is one of ours and still valid; then where the bytes lie and how
    /// many they are. `now_s` is in Unix seconds.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for anything else, the same for every cause.
    pub async fn agent_fixture(
        &self,
        trial_id: &str,
        key: &str,
        sha256: &str,
        expires: u64,
        signature: &str,
        now_s: u64,
    ) -> Result<(std::path::PathBuf, u64), Fault> {
        self.worker
            .links
            .check(trial_id, key, sha256, expires, signature, now_s)
            .map_err(|LinkRefused| Fault::not_found())?;
        Ok(self
            .store()
            .trial_fixture_file_unchecked(trial_id, sha256)
            .await?)
    }
}

fn unusable_judge(error: &JudgeConfigError) -> Fault {
    Fault::new(
        Code::Invalid,
        format!("The server's judge cannot be used: {error}."),
        "Have whoever runs the server correct `judge` in config.yaml.",
    )
}
