//! A judge that asks a model: votes and parts of long lists, each down its own ladder; verdicts that were bought before.

use std::collections::BTreeMap;
use std::sync::Arc;

use evalkit_core::canonical;
use evalkit_core::grade::JudgeStamp;
use evalkit_core::judge::fence::Key;
use evalkit_core::judge::ladder::{Ask, Heard, Ladder, Next, Seat, Use};
use evalkit_core::judge::prompt::{self, Again, Prompt};
use evalkit_core::judge::{JudgeTask, JudgedEntry, asking, offline, votes};
use evalkit_core::verdict::Unscored;
use evalkit_core::view::judging::{CallOutcome, JudgeCall};
use evalkit_store::Settled;
use serde_json::json;

use super::config::{JudgeConfig, JudgeConfigError};
use super::endpoint::{Endpoint, Endpoints, Wanted};
use super::ledger::Ledger;
use super::{Judgement, provider};

/// Bytes a token takes on average in the texts that are judged; an estimate, on the generous side.
const BYTES_A_TOKEN: usize = 4;
/// Tokens kept free for the reply.
const ROOM_FOR_REPLY: u64 = 1_024;
/// The limit of a reply after one was cut, tokens.
const ROOMIER: u32 = 32_000;
/// Raised when a cached verdict would no longer mean the same.
const CACHE: u32 = 1;

/// One model behind one endpoint.
#[derive(Debug)]
struct Model {
    config: JudgeConfig,
    name: String,
    endpoint: Arc<Endpoint>,
}

impl Model {
    fn open(config: &JudgeConfig, endpoints: &Endpoints) -> Result<Self, JudgeConfigError> {
        let provider =
            provider::of(config.provider).ok_or(JudgeConfigError::NoModel(config.provider))?;
        let name = config.model.clone().ok_or(JudgeConfigError::Key {
            key: "model",
            why: "names the model that judges, as the provider calls it",
        })?;
        Ok(Self {
            endpoint: endpoints.of(config, provider)?,
            config: config.clone(),
            name,
        })
    }

    /// As pages name it.
    fn label(&self) -> String {
        format!("{} {}", self.config.provider.as_str(), self.name)
    }
}

/// The judge of a run, and the one that is asked when it reaches nothing.
#[derive(Debug)]
pub struct ModelJudge {
    first: Model,
    second: Option<Model>,
}

/// Which list of entries a ladder is about.
#[derive(Debug, Clone, Copy)]
struct Place {
    vote: u32,
    part: u32,
}

impl ModelJudge {
    /// The judge that `config` describes.
    ///
    /// # Errors
    /// [`JudgeConfigError`] with the key and what to write instead.
    pub(super) fn open(
        config: &JudgeConfig,
        second: Option<&JudgeConfig>,
        endpoints: &Endpoints,
    ) -> Result<Self, JudgeConfigError> {
        let second = second
            .map(|config| {
                config.check()?;
                Model::open(config, endpoints)
            })
            .transpose()
            .map_err(|error| JudgeConfigError::Second(Box::new(error)))?;
        Ok(Self {
            first: Model::open(config, endpoints)?,
            second,
        })
    }

    /// How grades name this judge. The template is that of answer rubrics.
    pub(super) fn stamp(&self) -> JudgeStamp {
        JudgeStamp {
            provider: self.first.config.provider.as_str().to_owned(),
            model: Some(self.first.name.clone()),
            template: prompt::version(evalkit_core::judge::Judged::AnswerRubrics)
                .unwrap_or_default()
                .to_owned(),
            quality_signal: true,
        }
    }

    /// Asks about a task. Never fails: what could not be judged is unscored in the entries.
    pub(super) async fn judge(&self, task: Arc<JudgeTask>, ledger: &Ledger) -> Judgement {
        let Some(template) = prompt::version(task.evaluator) else {
            return not_asked_yet(&task);
        };
        let mut lists = Vec::new();
        for vote in 0..self.first.config.votes.max(1) {
            for (part, entries) in asking::calls(&task, vote).into_iter().enumerate() {
                let place = Place {
                    vote,
                    part: u32::try_from(part).unwrap_or(u32::MAX),
                };
                lists.push(self.settle(Arc::clone(&task), entries, place, ledger));
            }
        }
        let settled = futures::future::join_all(lists).await;
        let mut ballots: Vec<Vec<JudgedEntry>> = vec![Vec::new(); task.entries.len()];
        for (index, entry) in settled.into_iter().flatten() {
            if let Some(ballots) = ballots.get_mut(index) {
                ballots.push(entry);
            }
        }
        Judgement {
            entries: ballots
                .iter()
                .map(|ballots| votes::majority(ballots))
                .collect(),
            stamp: JudgeStamp {
                template: template.to_owned(),
                ..self.stamp()
            },
        }
    }

    /// One list of entries: from what was settled before, or down the ladder.
    async fn settle(
        &self,
        task: Arc<JudgeTask>,
        entries: Vec<usize>,
        place: Place,
        ledger: &Ledger,
    ) -> BTreeMap<usize, JudgedEntry> {
        let key = self.key(&task, &entries, place).await;
        if let Some(before) = ledger.before(&key).await {
            let before: BTreeMap<usize, JudgedEntry> = before.into_iter().collect();
            if entries.iter().all(|index| before.contains_key(index)) {
                return before;
            }
        }
        let second = self.second.as_ref().map(Model::label);
        let (mut ladder, mut ask) = Ladder::start(Arc::clone(&task), entries, second);
        loop {
            let (heard, record) = self.ask(&task, &ask, place, ledger).await;
            let next = apart(move || {
                let next = ladder.next(&heard);
                (ladder, heard, next)
            })
            .await;
            let Some((returned, heard, next)) = next else {
                // Our own fault; the ladder is gone with it.
                let message = "The judge's reply broke its reader. This is a fault of Evalkit; please report it.";
                return all(&task, &ask.entries, Unscored::ParseFailure, message);
            };
            ladder = returned;
            let settled = match &next {
                Next::Settled(entries) if entries.values().all(|entry| entry.verdict.is_ok()) => {
                    Some(Settled {
                        key: key.clone(),
                        entries: entries.clone().into_iter().collect(),
                    })
                }
                _ => None,
            };
            if let Some(record) = record {
                ledger.keep(judged(record, &ladder, &heard), settled).await;
            }
            match next {
                Next::Settled(entries) => return entries,
                Next::Ask(next) => ask = next,
            }
        }
    }

    /// Carries out one request of the ladder.
    async fn ask(
        &self,
        task: &Arc<JudgeTask>,
        ask: &Ask,
        place: Place,
        ledger: &Ledger,
    ) -> (Heard, Option<JudgeCall>) {
        let failed = |why, message: String| (Heard::Failed(why, message), None);
        let model = match (ask.seat, &self.second) {
            (Seat::Second, Some(second)) => second,
            _ => &self.first,
        };
        let mut random = [0; 16];
        if getrandom::fill(&mut random).is_err() {
            return failed(
                Unscored::ProviderError,
                "The machine has no randomness to give.".to_owned(),
            );
        }
        let (task, entries, again) = (Arc::clone(task), ask.entries.clone(), ask.again.clone());
        let evaluator = task.evaluator;
        let prompt = apart(move || build(&task, &entries, &Key::new(random), &again))
            .await
            .flatten();
        let Some(Built { prompt, hash }) = prompt else {
            return failed(
                Unscored::ProviderError,
                "There is no prompt for this evaluator.".to_owned(),
            );
        };
        let tokens = ((prompt.system.len() + prompt.user.len()) / BYTES_A_TOKEN) as u64;
        if let Some(most) = model.config.max_context_tokens
            && tokens + ROOM_FOR_REPLY > most
        {
            let message = format!(
                "The request has about {tokens} tokens, and {} reads {most}. Nothing is cut to make it fit.",
                model.name
            );
            return failed(Unscored::TooLarge, message);
        }
        let record = JudgeCall {
            evaluator: evaluator.as_str().to_owned(),
            seat: ask.seat.as_str().to_owned(),
            provider: model.config.provider.as_str().to_owned(),
            model: model.name.clone(),
            template: prompt.template.to_owned(),
            prompt_hash: hash,
            part: place.part + 1,
            vote: place.vote + 1,
            attempt: ask.attempt,
            wire_try: 1,
            asked: u32::try_from(ask.entries.len()).unwrap_or(u32::MAX),
            outcome: CallOutcome::Failed,
            trouble: String::new(),
            status: None,
            input_tokens: None,
            output_tokens: None,
            cost_usd: None,
            latency_ms: 0,
            reply_bytes: 0,
            reply: None,
            at: 0,
        };
        let wanted = Wanted {
            prompt: &prompt,
            config: &model.config,
            model: &model.name,
            longest: ask.roomier.then_some(ROOMIER),
            record,
        };
        model.endpoint.ask(&wanted, ledger).await
    }

    /// A hash of everything the judge would see, and of whatever else decides its verdict. The markers' key apart, which
    /// is another one each time.
    async fn key(&self, task: &Arc<JudgeTask>, entries: &[usize], place: Place) -> String {
        let (task, entries) = (Arc::clone(task), entries.to_vec());
        let prompt = apart(move || build(&task, &entries, &Key::any(), &Again::default()))
            .await
            .flatten();
        let judge = |model: &Model| {
            let config = &model.config;
            json!([
                config.provider,
                config.base_url,
                model.name,
                config.temperature
            ])
        };
        canonical::hash(&json!({
            "cache": CACHE,
            "first": judge(&self.first),
            "second": self.second.as_ref().map(judge),
            "template": prompt.as_ref().map(|built| built.prompt.template),
            "prompt": prompt.map(|built| built.hash),
            "vote": place.vote,
        }))
    }
}

struct Built {
    prompt: Prompt,
    hash: String,
}

fn build(task: &JudgeTask, entries: &[usize], key: &Key, again: &Again) -> Option<Built> {
    let prompt = prompt::build(task, entries, key, again)?;
    let hash = prompt.hash();
    Some(Built { prompt, hash })
}

/// Work over long texts, away from the async threads; `None` when it broke.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

/// The record of a call, now that its reply was read.
fn judged(mut record: JudgeCall, ladder: &Ladder, heard: &Heard) -> JudgeCall {
    if let Heard::Text(_) = heard {
        record.outcome = match ladder.used() {
            Use::Whole => CallOutcome::Verdicts,
            Use::Part => CallOutcome::Part,
            Use::Nothing => record.outcome,
        };
        if ladder.used() != Use::Whole && record.trouble.is_empty() {
            ladder.trouble().clone_into(&mut record.trouble);
        }
    } else if let Heard::Refused(words) = heard {
        record.trouble.clone_from(words);
    } else if *heard == Heard::Cut {
        "the reply was cut at the limit of tokens".clone_into(&mut record.trouble);
    }
    record
}

fn all(
    task: &JudgeTask,
    entries: &[usize],
    why: Unscored,
    message: &str,
) -> BTreeMap<usize, JudgedEntry> {
    entries
        .iter()
        .filter(|index| **index < task.entries.len())
        .map(|index| (*index, JudgedEntry::unscored(why, message)))
        .collect()
}

/// Models are asked about answer rubrics in this version; what the offline judge can say of the rest counts.
fn not_asked_yet(task: &JudgeTask) -> Judgement {
    let mut entries = offline::judge(task);
    for entry in entries.iter_mut().filter(|entry| entry.verdict.is_err()) {
        let reason = format!(
            "This version asks a judge model about answer rubrics; {} is left to the offline judge, which cannot decide this.",
            task.evaluator.as_str()
        );
        entry.reason = Some(reason);
    }
    Judgement {
        entries,
        stamp: offline::stamp(),
    }
}
