//! Signing in with a password, or as a person of the demo.

use evalkit_core::error::Code;

use crate::audit::{self, Record};
use crate::clock::MINUTE;
use crate::ctx::Ctx;
use crate::db::args;
use crate::error::StoreError;
use crate::people::session;
use crate::store::Store;

/// Failures of one account from one address before it has to wait.
const FAILURES: u64 = 10;
/// The time over which they count.
const WINDOW: i64 = 15 * MINUTE;

/// A session that has just begun.
#[derive(Clone)]
pub struct SignedIn {
    /// For the cookie; never stored, never logged.
    pub secret: String,
    /// The person's name.
    pub name: String,
}

impl std::fmt::Debug for SignedIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedIn")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// One text for an unknown name and a wrong password.
fn refused() -> StoreError {
    StoreError::fault(
        Code::SignIn,
        "The name and the password do not fit together.",
        "Check both. After ten wrong tries within 15 minutes, signing in waits.",
    )
}

impl Store {
    /// Signs in with name and password.
    ///
    /// # Errors
    /// `S-SIGN-IN`, alike for an unknown name and a wrong password; `S-RATE-LIMITED` after ten failures of one account
    /// from one address within 15 minutes.
    pub async fn sign_in(
        &self,
        ctx: &Ctx,
        name: &str,
        password: &str,
    ) -> Result<SignedIn, StoreError> {
        let account: String = name.trim().to_lowercase().chars().take(100).collect();
        let mut tx = self.read().await?;
        let failures = tx
            .one(
                "SELECT COUNT(*) AS n FROM sign_in_failure WHERE account = $1 AND ip = $2 AND at > $3",
                args![&account, &ctx.ip, ctx.now - WINDOW],
            )
            .await?
            .count("n")?;
        if failures >= FAILURES {
            return Err(StoreError::fault(
                Code::RateLimited,
                "There were ten wrong tries for this name from your address.",
                "Wait 15 minutes, then try again.",
            ));
        }
        let row = tx
            .optional(
                "SELECT id, name, password_hash FROM person WHERE name = $1 AND disabled_at IS NULL",
                args![&account],
            )
            .await?;
        drop(tx);
        let mut stored = None;
        let mut person = None;
        if let Some(row) = &row {
            stored = row.maybe_text("password_hash")?;
            person = Some((row.text("id")?, row.text("name")?));
        }
        let fits = self.verify_password(password, stored).await?;
        match person {
            Some((id, name)) if fits => self.begin(ctx, id, name, account).await,
            _ => {
                self.count_failure(ctx, account).await?;
                Err(refused())
            }
        }
    }

    /// Signs in as a person of the demo, without a password.
    ///
    /// # Errors
    /// `S-NOT-FOUND` when the server does not run `--demo` or there is no such person.
    pub async fn sign_in_as_demo(&self, ctx: &Ctx, name: &str) -> Result<SignedIn, StoreError> {
        if !self.settings().demo {
            return Err(StoreError::not_found());
        }
        let mut tx = self.read().await?;
        let row = tx
            .optional(
                "SELECT id, name FROM person WHERE name = $1 AND password_hash IS NULL AND disabled_at IS NULL",
                args![name],
            )
            .await?
            .ok_or_else(StoreError::not_found)?;
        drop(tx);
        self.begin(ctx, row.text("id")?, row.text("name")?, name.to_owned())
            .await
    }

    async fn begin(
        &self,
        ctx: &Ctx,
        id: String,
        name: String,
        account: String,
    ) -> Result<SignedIn, StoreError> {
        let input = (id, name, account);
        self.write(ctx, input, |tx, ctx, (id, name, account)| {
            Box::pin(async move {
                tx.execute(
                    "DELETE FROM sign_in_failure WHERE account = $1 AND ip = $2",
                    args![account, &ctx.ip],
                )
                .await?;
                audit::write(tx, ctx, None, Record::new("session.start", name)).await?;
                Ok(SignedIn {
                    secret: session::start(tx, ctx, id).await?,
                    name: name.clone(),
                })
            })
        })
        .await
    }

    async fn count_failure(&self, ctx: &Ctx, account: String) -> Result<(), StoreError> {
        self.write(ctx, account, |tx, ctx, account| {
            Box::pin(async move {
                tx.execute(
                    "DELETE FROM sign_in_failure WHERE at <= $1",
                    args![ctx.now - WINDOW],
                )
                .await?;
                tx.execute(
                    "INSERT INTO sign_in_failure (id, account, ip, at) VALUES ($1, $2, $3, $4)",
                    args![Self::new_id(), account, &ctx.ip, ctx.now],
                )
                .await
                .map(drop)
            })
        })
        .await
    }
}
