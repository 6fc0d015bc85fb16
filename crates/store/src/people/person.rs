//! Persons and their personal workspaces.

use evalkit_core::policy::Action;

use crate::audit::{self, Record};
use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::people::password;
use crate::store::Store;
use crate::workspace::{self, check_slug, require_server, taken};

/// A person to be made; the password is hashed already.
#[derive(Debug, Clone)]
pub(crate) struct NewPerson {
    pub(crate) name: String,
    pub(crate) display_name: String,
    pub(crate) password_hash: Option<String>,
    pub(crate) owner: bool,
}

/// Adds a person and the workspace named after them; gives the person's id.
pub(crate) async fn insert(
    tx: &mut Tx,
    ctx: &Ctx,
    person: &NewPerson,
) -> Result<String, StoreError> {
    check_slug(&person.name)?;
    let display_name = person.display_name.trim();
    if display_name.is_empty()
        || display_name.chars().count() > 100
        || display_name.chars().any(char::is_control)
    {
        return Err(StoreError::invalid(
            "The name to show is empty, longer than 100 characters or holds a control character.",
            "Write the name as colleagues know it.",
        ));
    }
    let id = Store::new_id();
    tx.execute(
        "INSERT INTO person (id, name, display_name, password_hash, owner, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
        args![
            &id,
            &person.name,
            display_name,
            person.password_hash.as_deref(),
            person.owner,
            ctx.now
        ],
    )
    .await
    .map_err(|error| taken(error, &person.name))?;
    let workspace_id = workspace::insert(tx, &person.name, Some(&id), ctx.now).await?;
    audit::write(
        tx,
        ctx,
        Some(&workspace_id),
        Record::new("person.create", &person.name).with("owner", person.owner),
    )
    .await?;
    Ok(id)
}

impl Store {
    /// Makes a person who signs in with a password. Only the server's owner can.
    ///
    /// # Errors
    /// `S-FORBIDDEN`, `S-NAME-TAKEN`, `S-INVALID`.
    pub async fn create_person(
        &self,
        ctx: &Ctx,
        name: &str,
        display_name: &str,
        password: &str,
    ) -> Result<(), StoreError> {
        require_server(ctx, Action::OwnServer)?;
        password::check(password)?;
        let person = NewPerson {
            name: name.to_owned(),
            display_name: display_name.to_owned(),
            password_hash: Some(self.hash_password(password).await?),
            owner: false,
        };
        self.write(ctx, person, |tx, ctx, person| {
            Box::pin(async move {
                require_server(ctx, Action::OwnServer)?;
                insert(tx, ctx, person).await.map(drop)
            })
        })
        .await
    }

    /// Makes a person of the demo when it is not there yet. They have no password: only `--demo` signs them in.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn ensure_demo_person_unchecked(
        &self,
        name: &str,
        display_name: &str,
        owner: bool,
    ) -> Result<(), StoreError> {
        let person = NewPerson {
            name: name.to_owned(),
            display_name: display_name.to_owned(),
            password_hash: None,
            owner,
        };
        self.write(&self.system_ctx(), person, |tx, ctx, person| {
            Box::pin(async move {
                let known = tx
                    .optional("SELECT id FROM person WHERE name = $1", args![&person.name])
                    .await?;
                if known.is_none() {
                    insert(tx, ctx, person).await?;
                }
                Ok(())
            })
        })
        .await
    }
}
