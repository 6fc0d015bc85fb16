//! Personal access tokens: `evk_` and 256 random bits, shown once, stored as their hash, scoped, at most 365 days.

use evalkit_core::policy::{Action, Actor, Scope};
use evalkit_core::view::session::{NewToken, TokenRow};

use crate::audit::{self, Record};
use crate::clock::{DAY, MINUTE};
use crate::ctx::Ctx;
use crate::db::args;
use crate::error::StoreError;
use crate::people::random;
use crate::row::{Row, to_json};
use crate::store::Store;
use crate::workspace::require_server;

const PREFIX: &str = "evk_";
const DEFAULT_DAYS: i64 = 90;
const LONGEST_DAYS: i64 = 365;
/// A token's last use is written no more often than this.
const TOUCH: i64 = MINUTE;

/// A token that someone asks for.
#[derive(Debug, Clone)]
pub struct NewTokenRequest {
    /// What it is for, in its maker's words.
    pub name: String,
    /// At least one.
    pub scopes: Vec<Scope>,
    /// Days until it ends; 90 when absent, 365 at most.
    pub days: Option<u32>,
}

fn token_row(row: &Row) -> Result<TokenRow, StoreError> {
    Ok(TokenRow {
        id: row.text("id")?,
        name: row.text("name")?,
        scopes: row.json("scopes")?,
        created_at: row.int("created_at")?,
        expires_at: row.int("expires_at")?,
        last_used_at: row.maybe_int("last_used_at")?,
    })
}

impl Store {
    /// Who a token belongs to; nobody when it is unknown, ended, revoked or its person is disabled.
    ///
    /// This is how an [`Actor`] comes to be, so it takes none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn actor_by_token(&self, secret: &str) -> Result<Actor, StoreError> {
        if !secret.starts_with(PREFIX) || secret.len() > 100 {
            return Ok(Actor::Anonymous);
        }
        let now = self.now();
        let mut tx = self.read().await?;
        let row = tx
            .optional(
                "SELECT t.id, t.scopes, t.last_used_at, p.id AS person_id, p.name, p.owner FROM token t \
                 JOIN person p ON p.id = t.person_id \
                 WHERE t.secret_hash = $1 AND t.expires_at > $2 AND t.revoked_at IS NULL AND p.disabled_at IS NULL",
                args![random::hash(secret), now],
            )
            .await?;
        drop(tx);
        let Some(row) = row else {
            return Ok(Actor::Anonymous);
        };
        let id = row.text("id")?;
        if row
            .maybe_int("last_used_at")?
            .is_none_or(|at| at < now - TOUCH)
        {
            self.write(&self.system_ctx(), id.clone(), |tx, ctx, id| {
                Box::pin(async move {
                    tx.execute(
                        "UPDATE token SET last_used_at = $2 WHERE id = $1",
                        args![id, ctx.now],
                    )
                    .await
                })
            })
            .await?;
        }
        Ok(Actor::Person {
            user_id: row.text("person_id")?,
            name: row.text("name")?,
            owner: row.flag("owner")?,
            scopes: Some(row.json("scopes")?),
            token_id: Some(id),
        })
    }

    /// The caller's tokens that still work, newest first.
    ///
    /// # Errors
    /// `S-SIGN-IN`, `S-FORBIDDEN` for a token without the admin scope.
    pub async fn tokens(&self, ctx: &Ctx) -> Result<Vec<TokenRow>, StoreError> {
        require_server(ctx, Action::OwnAccount)?;
        let mut tx = self.read().await?;
        tx.all(
            "SELECT id, name, scopes, created_at, expires_at, last_used_at FROM token \
             WHERE person_id = $1 AND revoked_at IS NULL AND expires_at > $2 ORDER BY id DESC",
            args![ctx.person_id().unwrap_or_default(), ctx.now],
        )
        .await?
        .iter()
        .map(token_row)
        .collect()
    }

    /// Makes a token for the caller. Its secret is in the answer and nowhere else.
    ///
    /// # Errors
    /// `S-SIGN-IN`, `S-FORBIDDEN`, `S-INVALID`.
    pub async fn create_token(
        &self,
        ctx: &Ctx,
        request: &NewTokenRequest,
    ) -> Result<NewToken, StoreError> {
        let secret = format!("{PREFIX}{}", random::secret()?);
        let days = request.days.map_or(DEFAULT_DAYS, i64::from);
        let name = request.name.trim().to_owned();
        if name.is_empty() || name.chars().count() > 100 || name.chars().any(char::is_control) {
            return Err(StoreError::invalid(
                "A token needs a name of at most 100 characters.",
                "Say what it is for, for example `CI`.",
            ));
        }
        if request.scopes.is_empty() || !(1..=LONGEST_DAYS).contains(&days) {
            return Err(StoreError::invalid(
                "A token needs at least one scope and ends after 1 to 365 days.",
                "Choose what it is for; 90 days is the default.",
            ));
        }
        let mut scopes = request.scopes.clone();
        scopes.sort_unstable();
        scopes.dedup();
        let row = TokenRow {
            id: Self::new_id(),
            name,
            scopes: scopes.iter().map(|s| s.as_str().to_owned()).collect(),
            created_at: ctx.now,
            expires_at: ctx.now + days * DAY,
            last_used_at: None,
        };
        let input = (row.clone(), random::hash(&secret));
        self.write(ctx, input, |tx, ctx, (row, hash)| {
            Box::pin(async move {
                require_server(ctx, Action::OwnAccount)?;
                tx.execute(
                    "INSERT INTO token (id, person_id, name, secret_hash, scopes, created_at, expires_at) \
                     VALUES ($1, $2, $3, $4, $5, $6, $7)",
                    args![
                        &row.id,
                        ctx.person_id(),
                        &row.name,
                        hash,
                        to_json(&row.scopes)?,
                        row.created_at,
                        row.expires_at
                    ],
                )
                .await?;
                audit::write(
                    tx,
                    ctx,
                    None,
                    Record::new("token.create", &row.name).with("scopes", row.scopes.join(", ")),
                )
                .await
            })
        })
        .await?;
        Ok(NewToken {
            login_line: format!(
                "export EVALKIT_SERVER={}; printf %s {secret} | evalkit login --token-stdin",
                self.settings().public_url
            ),
            row,
            secret,
        })
    }

    /// Revokes one of the caller's tokens; it stops working with the next request.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for one that is not the caller's.
    pub async fn revoke_token(&self, ctx: &Ctx, id: &str) -> Result<(), StoreError> {
        self.write(ctx, id.to_owned(), |tx, ctx, id| {
            Box::pin(async move {
                require_server(ctx, Action::OwnAccount)?;
                let row = tx
                    .optional(
                        "UPDATE token SET revoked_at = $3 WHERE id = $1 AND person_id = $2 AND revoked_at IS NULL \
                         RETURNING name",
                        args![id, ctx.person_id().unwrap_or_default(), ctx.now],
                    )
                    .await?
                    .ok_or_else(StoreError::not_found)?;
                audit::write(tx, ctx, None, Record::new("token.revoke", row.text("name")?)).await
            })
        })
        .await
    }

    /// Revokes the token that the request carries: any token may end itself, whatever its scopes.
    ///
    /// # Errors
    /// `S-INVALID` for a request that carries none.
    pub async fn revoke_own_token(&self, ctx: &Ctx) -> Result<(), StoreError> {
        self.write(ctx, (), |tx, ctx, ()| {
            Box::pin(async move {
                let Some(id) = ctx.token_id() else {
                    return Err(StoreError::invalid(
                        "This request carries no token.",
                        "Revoke tokens on your account page.",
                    ));
                };
                tx.execute(
                    "UPDATE token SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL",
                    args![id, ctx.now],
                )
                .await?;
                audit::write(tx, ctx, None, Record::new("token.revoke", ctx.actor_name())).await
            })
        })
        .await
    }
}
