//! Sessions: 256 random bits in a cookie, their hash in the database, 12 hours idle and 30 days at most.

use evalkit_core::policy::{Action, Actor};

use crate::clock::{DAY, HOUR, MINUTE};
use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::people::random;
use crate::store::Store;
use crate::workspace::require_server;

const IDLE: i64 = 12 * HOUR;
const ABSOLUTE: i64 = 30 * DAY;
/// A session's last use is written no more often than this.
const TOUCH: i64 = 5 * MINUTE;

/// Seconds until the cookie of a new session ends.
pub const COOKIE_SECONDS: i64 = ABSOLUTE / 1_000_000;

/// Starts a session and gives the secret for the cookie.
pub(crate) async fn start(tx: &mut Tx, ctx: &Ctx, person_id: &str) -> Result<String, StoreError> {
    let secret = random::secret()?;
    tx.execute(
        "INSERT INTO session (token_hash, person_id, created_at, last_seen_at) VALUES ($1, $2, $3, $3)",
        args![random::hash(&secret), person_id, ctx.now],
    )
    .await?;
    Ok(secret)
}

impl Store {
    /// Who a session cookie belongs to; nobody when it is unknown, ended or its person is disabled.
    ///
    /// This is how an [`Actor`] comes to be, so it takes none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn actor_by_session(&self, secret: &str) -> Result<Actor, StoreError> {
        if !is_secret(secret) {
            return Ok(Actor::Anonymous);
        }
        let hash = random::hash(secret);
        let now = self.now();
        let mut tx = self.read().await?;
        let row = tx
            .optional(
                "SELECT p.id, p.name, p.owner, s.last_seen_at FROM session s JOIN person p ON p.id = s.person_id \
                 WHERE s.token_hash = $1 AND s.last_seen_at > $2 AND s.created_at > $3 AND p.disabled_at IS NULL",
                args![&hash, now - IDLE, now - ABSOLUTE],
            )
            .await?;
        drop(tx);
        let Some(row) = row else {
            return Ok(Actor::Anonymous);
        };
        if row.int("last_seen_at")? < now - TOUCH {
            self.write(&self.system_ctx(), hash, |tx, ctx, hash| {
                Box::pin(async move {
                    tx.execute(
                        "UPDATE session SET last_seen_at = $2 WHERE token_hash = $1 AND last_seen_at < $2",
                        args![hash, ctx.now],
                    )
                    .await
                })
            })
            .await?;
        }
        Ok(Actor::Person {
            user_id: row.text("id")?,
            name: row.text("name")?,
            owner: row.flag("owner")?,
            scopes: None,
            token_id: None,
        })
    }

    /// Ends one session. An unknown one is fine.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn sign_out(&self, ctx: &Ctx, secret: &str) -> Result<(), StoreError> {
        self.write(ctx, random::hash(secret), |tx, _, hash| {
            Box::pin(async move {
                tx.execute("DELETE FROM session WHERE token_hash = $1", args![hash])
                    .await
                    .map(drop)
            })
        })
        .await
    }

    /// Ends every session of the person who asks.
    ///
    /// # Errors
    /// `S-SIGN-IN` for nobody.
    pub async fn sign_out_everywhere(&self, ctx: &Ctx) -> Result<(), StoreError> {
        self.write(ctx, (), |tx, ctx, ()| {
            Box::pin(async move {
                require_server(ctx, Action::OwnAccount)?;
                tx.execute(
                    "DELETE FROM session WHERE person_id = $1",
                    args![ctx.person_id().unwrap_or_default()],
                )
                .await
                .map(drop)
            })
        })
        .await
    }
}

/// Whether the text could be a secret of ours at all, before anything is hashed or looked up.
fn is_secret(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit())
}
