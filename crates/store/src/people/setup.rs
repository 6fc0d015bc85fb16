//! The one-time setup link: the first person becomes the server's owner. No default password exists.

use evalkit_core::error::Code;

use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::people::person::{self, NewPerson};
use crate::people::sign_in::SignedIn;
use crate::people::{password, random, session};
use crate::store::Store;

/// What the setup page asks for.
#[derive(Clone)]
pub struct NewOwner {
    /// A slug; also the name of their personal workspace.
    pub name: String,
    /// As they write it.
    pub display_name: String,
    /// At least ten characters.
    pub password: String,
}

async fn has_people(tx: &mut Tx) -> Result<bool, StoreError> {
    Ok(tx
        .optional("SELECT id FROM person LIMIT 1", vec![])
        .await?
        .is_some())
}

fn used() -> StoreError {
    StoreError::fault(
        Code::SetupLink,
        "This setup link was used already, or is not the one that the server printed last.",
        "Start the server again: while it has no owner, it prints a new link.",
    )
}

impl Store {
    /// A new setup link's secret while the server has no people; earlier links end. `None` once it has an owner.
    ///
    /// For start-up, which has no caller to check.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn issue_setup_link_unchecked(&self) -> Result<Option<String>, StoreError> {
        let secret = random::secret()?;
        let hash = random::hash(&secret);
        let issued = self
            .write(&self.system_ctx(), hash, |tx, ctx, hash| {
                Box::pin(async move {
                    if has_people(tx).await? {
                        return Ok(false);
                    }
                    tx.execute("DELETE FROM setup_link", vec![]).await?;
                    tx.execute(
                        "INSERT INTO setup_link (token_hash, created_at) VALUES ($1, $2)",
                        args![hash, ctx.now],
                    )
                    .await?;
                    Ok(true)
                })
            })
            .await?;
        Ok(issued.then_some(secret))
    }

    /// Whether the link is the one printed last and the server still has no owner.
    ///
    /// # Errors
    /// `S-SETUP-LINK` when it is not.
    pub async fn check_setup_link(&self, _ctx: &Ctx, secret: &str) -> Result<(), StoreError> {
        let mut tx = self.read().await?;
        let known = tx
            .optional(
                "SELECT created_at FROM setup_link WHERE token_hash = $1",
                args![random::hash(secret)],
            )
            .await?;
        if known.is_none() || has_people(&mut tx).await? {
            return Err(used());
        }
        Ok(())
    }

    /// Makes the owner and signs them in. The link ends with it.
    ///
    /// # Errors
    /// `S-SETUP-LINK`, `S-INVALID`.
    pub async fn complete_setup(
        &self,
        ctx: &Ctx,
        secret: &str,
        owner: &NewOwner,
    ) -> Result<SignedIn, StoreError> {
        self.check_setup_link(ctx, secret).await?;
        password::check(&owner.password)?;
        let person = NewPerson {
            name: owner.name.clone(),
            display_name: owner.display_name.clone(),
            password_hash: Some(self.hash_password(&owner.password).await?),
            owner: true,
        };
        let input = (random::hash(secret), person);
        self.write(ctx, input, |tx, ctx, (hash, person)| {
            Box::pin(async move {
                let spent = tx
                    .execute("DELETE FROM setup_link WHERE token_hash = $1", args![hash])
                    .await?;
                if spent == 0 || has_people(tx).await? {
                    return Err(used());
                }
                let id = person::insert(tx, ctx, person).await?;
                Ok(SignedIn {
                    secret: session::start(tx, ctx, &id).await?,
                    name: person.name.clone(),
                })
            })
        })
        .await
    }
}
