//! Workspaces: finding one, which is where authority is checked, and making one.

use evalkit_core::error::Code;
use evalkit_core::name::is_slug;
use evalkit_core::policy::{self, Action, Place, Refusal, Role};

use crate::audit::{self, Record};
use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::store::Store;

/// A workspace that the caller was let into.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    pub(crate) id: String,
    pub(crate) slug: String,
    pub(crate) personal: bool,
    pub(crate) place: Place,
}

impl Workspace {
    /// Whether the caller may also do `action` here; for buttons, and for rules that depend on the row.
    pub(crate) fn may(&self, ctx: &Ctx, action: Action) -> bool {
        policy::may(&ctx.actor, action, &self.place).is_ok()
    }

    /// Lets the caller do `action` here or says why not.
    pub(crate) fn require(&self, ctx: &Ctx, action: Action) -> Result<(), StoreError> {
        policy::may(&ctx.actor, action, &self.place).map_err(refusal)
    }
}

/// Turns a refusal of the policy into the fault that people see.
pub(crate) fn refusal(refusal: Refusal) -> StoreError {
    match refusal {
        Refusal::SignIn => StoreError::fault(
            Code::SignIn,
            "You are not signed in.",
            "Sign in, or run `evalkit login` with a token that is still valid.",
        ),
        Refusal::Hidden => StoreError::not_found(),
        Refusal::Forbidden(why) => StoreError::fault(
            Code::Forbidden,
            why,
            "Ask an admin of the workspace, or whoever runs the server.",
        ),
    }
}

/// Checks an action that is about the server, not about a workspace.
pub(crate) fn require_server(ctx: &Ctx, action: Action) -> Result<(), StoreError> {
    policy::may(&ctx.actor, action, &Place::Server).map_err(refusal)
}

impl Tx {
    /// Finds the workspace `slug` and lets the caller do `action` in it.
    ///
    /// # Errors
    /// The fault of a missing thing for one that the caller may not see.
    pub(crate) async fn enter(
        &mut self,
        ctx: &Ctx,
        slug: &str,
        action: Action,
    ) -> Result<Workspace, StoreError> {
        let rows = self
            .all(
                "SELECT w.id, w.slug, w.personal_of, m.role FROM workspace w \
                 LEFT JOIN member m ON m.workspace_id = w.id AND m.person_id = $2 WHERE w.slug = $1",
                args![slug, ctx.person_id().unwrap_or_default()],
            )
            .await?;
        let Some(first) = rows.first() else {
            // Nobody is told to sign in for a name that does not exist, and not otherwise.
            require_server(ctx, Action::Read)?;
            return Err(StoreError::not_found());
        };
        let personal_of = first.maybe_text("personal_of")?;
        let place = match &personal_of {
            Some(user_id) => Place::Personal {
                user_id: user_id.clone(),
            },
            None => {
                let mut roles = Vec::new();
                for row in &rows {
                    roles.extend(row.maybe_text("role")?.as_deref().and_then(Role::parse));
                }
                // No link between workspaces exists in this schema, so none is the target of one.
                Place::Shared {
                    roles,
                    target: false,
                }
            }
        };
        let workspace = Workspace {
            id: first.text("id")?,
            slug: first.text("slug")?,
            personal: personal_of.is_some(),
            place,
        };
        workspace.require(ctx, action)?;
        Ok(workspace)
    }
}

/// Adds a workspace row; the slug is checked by the caller.
pub(crate) async fn insert(
    tx: &mut Tx,
    slug: &str,
    personal_of: Option<&str>,
    now: i64,
) -> Result<String, StoreError> {
    let id = Store::new_id();
    tx.execute(
        "INSERT INTO workspace (id, slug, personal_of, created_at) VALUES ($1, $2, $3, $4)",
        args![&id, slug, personal_of, now],
    )
    .await
    .map_err(|error| taken(error, slug))?;
    Ok(id)
}

/// A unique key that refused a name, as the fault that people see.
pub(crate) fn taken(error: StoreError, name: &str) -> StoreError {
    if error.is_unique_violation() {
        StoreError::fault(
            Code::NameTaken,
            format!("The name `{name}` is in use; people and workspaces share one list of names."),
            "Choose another name.",
        )
    } else {
        error
    }
}

/// Refuses what is no slug.
pub(crate) fn check_slug(slug: &str) -> Result<(), StoreError> {
    if is_slug(slug) {
        Ok(())
    } else {
        Err(StoreError::invalid(
            format!("`{}` is not a valid name.", slug.escape_debug()),
            "Use lower-case letters, digits and `-`, at most 63, beginning with a letter or digit.",
        ))
    }
}

impl Store {
    /// Asks whether the caller may do `action` in a workspace, for work that costs something before it reaches a row.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a workspace the caller cannot see, `S-FORBIDDEN`, `S-SIGN-IN`.
    pub async fn require(
        &self,
        ctx: &Ctx,
        workspace: &str,
        action: Action,
    ) -> Result<(), StoreError> {
        let mut tx = self.read().await?;
        tx.enter(ctx, workspace, action).await.map(drop)
    }

    /// Makes a shared workspace; its maker, the server's owner, becomes its admin.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for anyone else, [`Code::NameTaken`], [`Code::Invalid`].
    pub async fn create_workspace(&self, ctx: &Ctx, slug: &str) -> Result<(), StoreError> {
        self.write(ctx, slug.to_owned(), |tx, ctx, slug| {
            Box::pin(async move {
                require_server(ctx, Action::OwnServer)?;
                check_slug(slug)?;
                let id = insert(tx, slug, None, ctx.now).await?;
                if let Some(person) = ctx.person_id() {
                    tx.execute(
                        "INSERT INTO member (workspace_id, person_id, role) VALUES ($1, $2, $3)",
                        args![&id, person, Role::Admin.as_str()],
                    )
                    .await?;
                }
                audit::write(tx, ctx, Some(&id), Record::new("workspace.create", slug)).await
            })
        })
        .await
    }

    /// Gives a person exactly these roles in a shared workspace; none removes them.
    ///
    /// # Errors
    /// [`Code::Forbidden`] without the admin role, [`Code::Conflict`] when the last admin would go.
    pub async fn set_roles(
        &self,
        ctx: &Ctx,
        workspace: &str,
        person: &str,
        roles: &[Role],
    ) -> Result<(), StoreError> {
        let input = (workspace.to_owned(), person.to_owned(), roles.to_vec());
        self.write(ctx, input, |tx, ctx, (workspace, person, roles)| {
            Box::pin(async move {
                let workspace = tx.enter(ctx, workspace, Action::Administer).await?;
                if workspace.personal {
                    return Err(StoreError::fault(
                        Code::Forbidden,
                        "A personal workspace has no members.",
                        "Share the dataset by syncing it to a shared workspace.",
                    ));
                }
                let row = tx
                    .optional("SELECT id FROM person WHERE name = $1", args![person])
                    .await?
                    .ok_or_else(StoreError::not_found)?;
                let person_id = row.text("id")?;
                tx.execute(
                    "DELETE FROM member WHERE workspace_id = $1 AND person_id = $2",
                    args![&workspace.id, &person_id],
                )
                .await?;
                let mut roles = roles.clone();
                roles.sort_unstable();
                roles.dedup();
                let rows = roles
                    .iter()
                    .map(|role| args![&workspace.id, &person_id, role.as_str()])
                    .collect();
                tx.insert_many(
                    "INSERT INTO member (workspace_id, person_id, role) VALUES",
                    rows,
                    "",
                )
                .await?;
                let admins = tx
                    .one(
                        "SELECT COUNT(*) AS n FROM member WHERE workspace_id = $1 AND role = $2",
                        args![&workspace.id, Role::Admin.as_str()],
                    )
                    .await?
                    .count("n")?;
                if admins == 0 {
                    return Err(StoreError::fault(
                        Code::Conflict,
                        format!("`{person}` is the last admin of this workspace."),
                        "Make someone else an admin first.",
                    ));
                }
                let names: Vec<&str> = roles.iter().map(|role| role.as_str()).collect();
                audit::write(
                    tx,
                    ctx,
                    Some(&workspace.id),
                    Record::new("member.set", person).with("roles", names.join(", ")),
                )
                .await
            })
        })
        .await
    }
}
