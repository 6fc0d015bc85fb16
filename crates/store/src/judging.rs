//! What judge models were asked and what they settled: every call kept, no verdict bought twice.

use evalkit_core::judge::JudgedEntry;
use evalkit_core::results::ResultsJudge;
use evalkit_core::view::judging::{CallOutcome, JudgeCall, JudgePause, JudgeSpend, UnscoredCount};

use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::queue::engine_only;
use crate::row::to_json;
use crate::store::Store;

/// Of a reply, bytes that are kept.
const KEPT: usize = 64 * 1024;
/// Of a reply, bytes that the Result page shows.
const SHOWN: usize = 8 * 1024;
/// Calls that the Result page shows.
const MOST_SHOWN: u32 = 100;
/// A pause whose probe is overdue by more than this belongs to a server that is gone, microseconds.
const STALE: i64 = 120_000_000;

/// Verdicts on the entries of one call, which nobody asks for again.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// The hash of everything the judge saw and of its settings.
    pub key: String,
    /// With their places in the task; every one has a verdict.
    pub entries: Vec<(usize, JudgedEntry)>,
}

struct Kept {
    trial_id: String,
    call: Option<JudgeCall>,
    settled: Option<Settled>,
}

struct Pause {
    pause: Option<JudgePause>,
    provider: String,
    model: String,
}

impl Store {
    /// Keeps a call to a judge model and, with the last call of a list, what it settled, in one commit. Calls are kept for
    /// whoever made them, also when the trial has meanwhile gone to another worker: they were paid for.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a trial that is not there; when the database fails.
    pub async fn keep_judging(
        &self,
        ctx: &Ctx,
        trial_id: &str,
        call: Option<JudgeCall>,
        settled: Option<Settled>,
    ) -> Result<(), StoreError> {
        engine_only(ctx)?;
        let input = Kept {
            trial_id: trial_id.to_owned(),
            call,
            settled,
        };
        self.write(ctx, input, |tx, ctx, input| Box::pin(keep(tx, ctx, input)))
            .await
    }

    /// Verdicts that were settled under `key`: in the trial's workspace, or, with `own_only`, for this trial alone. The
    /// second value says whether another trial bought them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn judged_before(
        &self,
        ctx: &Ctx,
        trial_id: &str,
        key: &str,
        own_only: bool,
    ) -> Result<Option<(Vec<(usize, JudgedEntry)>, bool)>, StoreError> {
        engine_only(ctx)?;
        let mut tx = self.read().await?;
        let row = tx
            .optional(
                "SELECT j.entries, j.trial_id FROM trial t JOIN judged j ON j.workspace_id = t.workspace_id AND j.key = $2 \
                 WHERE t.id = $1",
                args![trial_id, key],
            )
            .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let others = row.text("trial_id")? != trial_id;
        if others && own_only {
            return Ok(None);
        }
        Ok(Some((row.json("entries")?, others)))
    }

    /// Says that a judge's endpoint is left alone until a probe, or, without `pause`, that it answers again.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn mark_judge_pause(
        &self,
        ctx: &Ctx,
        provider: &str,
        model: &str,
        pause: Option<JudgePause>,
    ) -> Result<(), StoreError> {
        engine_only(ctx)?;
        let input = Pause {
            pause,
            provider: provider.to_owned(),
            model: model.to_owned(),
        };
        self.write(ctx, input, |tx, _, input| Box::pin(mark(tx, input)))
            .await
    }
}

async fn keep(tx: &mut Tx, ctx: &Ctx, input: &Kept) -> Result<(), StoreError> {
    let trial = tx
        .optional(
            "SELECT workspace_id, experiment_id FROM trial WHERE id = $1",
            args![&input.trial_id],
        )
        .await?
        .ok_or_else(StoreError::not_found)?;
    let workspace_id = trial.text("workspace_id")?;
    if let Some(call) = &input.call {
        let mut detail = call.clone();
        let reply = detail.reply.take().map(kept_text);
        detail.at = ctx.now;
        tx.execute(
            "INSERT INTO judge_call (id, workspace_id, experiment_id, trial_id, detail, outcome, input_tokens, \
             output_tokens, cost_usd, reply, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            args![
                Store::new_id(),
                &workspace_id,
                trial.text("experiment_id")?,
                &input.trial_id,
                to_json(&detail)?,
                call.outcome.as_str(),
                call.input_tokens,
                call.output_tokens,
                call.cost_usd,
                reply,
                ctx.now
            ],
        )
        .await?;
    }
    if let Some(settled) = &input.settled {
        tx.execute(
            "INSERT INTO judged (workspace_id, key, trial_id, entries, created_at) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (workspace_id, key) DO UPDATE SET trial_id = excluded.trial_id, entries = excluded.entries, \
             created_at = excluded.created_at",
            args![
                &workspace_id,
                &settled.key,
                &input.trial_id,
                to_json(&settled.entries)?,
                ctx.now
            ],
        )
        .await?;
    }
    Ok(())
}

/// The start of a reply; a NUL, which PostgreSQL's text does not take, becomes `␀`.
fn kept_text(text: String) -> String {
    cut(text.replace('\0', "\u{2400}"), KEPT)
}

fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        let mut at = most;
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text.truncate(at);
        text.push('…');
    }
    text
}

async fn mark(tx: &mut Tx, input: &Pause) -> Result<(), StoreError> {
    match &input.pause {
        Some(pause) => tx
            .execute(
                "INSERT INTO judge_pause (provider, model, why, opened_at, until) VALUES ($1, $2, $3, $4, $5) \
                 ON CONFLICT (provider, model) DO UPDATE SET why = excluded.why, until = excluded.until",
                args![
                    &input.provider,
                    &input.model,
                    &pause.why,
                    pause.opened_at,
                    pause.until
                ],
            )
            .await
            .map(drop),
        None => tx
            .execute(
                "DELETE FROM judge_pause WHERE provider = $1 AND model = $2",
                args![&input.provider, &input.model],
            )
            .await
            .map(drop),
    }
}

/// The calls of one trial, oldest first.
pub(crate) async fn calls(
    tx: &mut Tx,
    workspace_id: &str,
    trial_id: &str,
) -> Result<Vec<JudgeCall>, StoreError> {
    tx.all(
        "SELECT detail, reply FROM judge_call WHERE trial_id = $1 AND workspace_id = $2 ORDER BY id LIMIT $3",
        args![trial_id, workspace_id, MOST_SHOWN],
    )
    .await?
    .iter()
    .map(|row| {
        let call: JudgeCall = row.json("detail")?;
        let reply = row.maybe_text("reply")?.map(|text| cut(text, SHOWN));
        Ok(JudgeCall { reply, ..call })
    })
    .collect()
}

/// What the judge model of an experiment cost.
pub(crate) async fn spend(
    tx: &mut Tx,
    workspace_id: &str,
    experiment_id: &str,
) -> Result<JudgeSpend, StoreError> {
    let row = tx
        .one(
            "SELECT COUNT(*) AS calls, \
             COUNT(CASE WHEN outcome NOT IN ($3, $4) THEN 1 END) AS without_verdict, \
             CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT) AS input_tokens, \
             CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT) AS output_tokens, \
             SUM(cost_usd) AS cost_usd, \
             COUNT(CASE WHEN cost_usd IS NULL AND (input_tokens > 0 OR output_tokens > 0) THEN 1 END) AS unpriced \
             FROM judge_call WHERE experiment_id = $1 AND workspace_id = $2",
            args![
                experiment_id,
                workspace_id,
                CallOutcome::Verdicts.as_str(),
                CallOutcome::Part.as_str()
            ],
        )
        .await?;
    Ok(JudgeSpend {
        calls: row.count("calls")?,
        without_verdict: row.count("without_verdict")?,
        input_tokens: row.count("input_tokens")?,
        output_tokens: row.count("output_tokens")?,
        cost_usd: row.maybe_real("cost_usd")?,
        unpriced: row.count("unpriced")?,
    })
}

/// Entries of ended trials without a verdict, most first.
pub(crate) async fn unscored(
    tx: &mut Tx,
    workspace_id: &str,
    experiment_id: &str,
) -> Result<Vec<UnscoredCount>, StoreError> {
    tx.all(
        "SELECT evaluator, reason, CAST(SUM(entries) AS BIGINT) AS entries FROM trial_unscored \
         WHERE experiment_id = $1 AND workspace_id = $2 GROUP BY evaluator, reason \
         ORDER BY CAST(SUM(entries) AS BIGINT) DESC, evaluator, reason",
        args![experiment_id, workspace_id],
    )
    .await?
    .iter()
    .map(|row| {
        Ok(UnscoredCount {
            evaluator: row.text("evaluator")?,
            reason: row.text("reason")?,
            entries: row.count("entries")?,
        })
    })
    .collect()
}

/// Whether the endpoint of an experiment's judge is left alone at the moment.
pub(crate) async fn pause(
    tx: &mut Tx,
    judge: &ResultsJudge,
    now: i64,
) -> Result<Option<JudgePause>, StoreError> {
    let Some(model) = &judge.model else {
        return Ok(None);
    };
    tx.optional(
        "SELECT provider, model, why, opened_at, until FROM judge_pause WHERE provider = $1 AND model = $2 AND until > $3",
        args![&judge.provider, model, now - STALE],
    )
    .await?
    .map(|row| {
        Ok(JudgePause {
            provider: row.text("provider")?,
            model: row.text("model")?,
            why: row.text("why")?,
            opened_at: row.int("opened_at")?,
            until: row.int("until")?,
        })
    })
    .transpose()
}
