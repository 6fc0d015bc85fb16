//! The audit trail: one row a change of state, in the same transaction (`review.md`, Audit). Never a secret, an answer
//! or a prompt.

use std::collections::BTreeMap;

use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::row::to_json;

/// What happened to what.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    action: &'static str,
    object: String,
    detail: BTreeMap<&'static str, String>,
}

impl Record {
    /// `action` is `noun.verb`; `object` is the name people know it by.
    pub(crate) fn new(action: &'static str, object: impl Into<String>) -> Self {
        Self {
            action,
            object: object.into(),
            detail: BTreeMap::new(),
        }
    }

    /// Adds a detail.
    pub(crate) fn with(mut self, key: &'static str, value: impl ToString) -> Self {
        self.detail.insert(key, value.to_string());
        self
    }
}

/// Writes the row.
pub(crate) async fn write(
    tx: &mut Tx,
    ctx: &Ctx,
    workspace_id: Option<&str>,
    record: Record,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO audit (workspace_id, at, actor_id, actor, token_id, request_id, ip, action, object, detail) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        args![
            workspace_id,
            ctx.now,
            ctx.person_id(),
            ctx.actor_name(),
            ctx.token_id(),
            &ctx.request_id,
            &ctx.ip,
            record.action,
            record.object,
            to_json(&record.detail)?
        ],
    )
    .await?;
    Ok(())
}
