//! Who may do what: one pure function (`review.md`, Workspaces and roles).

use serde::{Deserialize, Serialize};

/// A role in a shared workspace. Roles add up; every member may do what a viewer may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the specification's own")]
pub enum Role {
    Viewer,
    Author,
    Reviewer,
    Admin,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Author, Self::Reviewer, Self::Admin];

    /// As formats spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Author => "author",
            Self::Reviewer => "reviewer",
            Self::Admin => "admin",
        }
    }

    /// Reads the stored form.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }
}

/// What a token may be used for. A token's power is its scopes ∩ the person's roles at the moment of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the specification's own")]
pub enum Scope {
    Read,
    Sync,
    Run,
    Review,
    Admin,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 5] = [Self::Read, Self::Sync, Self::Run, Self::Review, Self::Admin];

    /// As formats spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Sync => "sync",
            Self::Run => "run",
            Self::Review => "review",
            Self::Admin => "admin",
        }
    }

    /// Reads the stored form.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

/// Who acts. Built once a request from the session or token; never stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Actor {
    /// Nobody is signed in.
    Anonymous,
    /// A person, by session (no scopes: all of them) or by token.
    Person {
        /// The user's id.
        user_id: String,
        /// The user's slug; also their personal workspace.
        name: String,
        /// The server's owner creates workspaces and users.
        owner: bool,
        /// `None` for a session; the token's scopes otherwise.
        scopes: Option<Vec<Scope>>,
        /// The token used, for the audit row.
        token_id: Option<String>,
    },
    /// The engine itself, carrying out work that a person queued.
    System,
}

/// What is acted in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The whole server.
    Server,
    /// A personal workspace, by its user's id.
    Personal {
        /// Whose it is.
        user_id: String,
    },
    /// A shared workspace and the actor's live roles in it; empty for a non-member.
    Shared {
        /// The actor's roles.
        roles: Vec<Role>,
        /// Whether it is the target of a promotion link.
        target: bool,
    },
}

/// What is done: one entry a row of the table in `review.md`, and a few of the server's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Action {
    /// Read datasets, cases, runs, results, comments, members.
    Read,
    /// Download fixtures, trajectories, exports.
    Download,
    /// Comment; resolve one's own thread.
    Comment,
    /// Resolve others' threads.
    ResolveOthers,
    /// Create a dataset, sync, edit cases, overlays, fixtures, accept a suggestion.
    Edit,
    /// Suggest an edit.
    Suggest,
    /// Request a review.
    RequestReview,
    /// Approve, request changes, override a verdict, calibration labels.
    Decide,
    /// Release waiting cases or overlays, archive a twin.
    Release,
    /// Run, regrade, pause, cancel one's own run, pin, push a gate result.
    Run,
    /// Cancel others' runs.
    CancelOthers,
    /// Register an agent, set its secret.
    RegisterAgent,
    /// Members, roles, links, settings, delete or archive a dataset.
    Administer,
    /// Read the audit trail.
    ReadAudit,
    /// Export and verify the audit trail.
    ExportAudit,
    /// Create workspaces and users (the server's owner).
    OwnServer,
    /// One's own account: tokens, password, sign out.
    OwnAccount,
}

/// Why something is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Nobody is signed in.
    SignIn,
    /// Answer exactly as for a missing thing.
    Hidden,
    /// The actor sees the thing; the sentence says who can, or what is possible.
    Forbidden(String),
}

/// The table of `review.md`, as a function. Every page, server function, route and stream asks it.
///
/// # Errors
/// A [`Refusal`]; `Hidden` whenever the actor may not even see the place.
pub fn may(actor: &Actor, action: Action, place: &Place) -> Result<(), Refusal> {
    let (user_id, owner, scopes) = match actor {
        Actor::System => return Ok(()),
        Actor::Anonymous => return Err(Refusal::SignIn),
        Actor::Person {
            user_id,
            owner,
            scopes,
            ..
        } => (user_id, *owner, scopes),
    };
    match place {
        Place::Server => match action {
            Action::OwnServer if owner => {}
            Action::OwnAccount | Action::Read => {}
            Action::OwnServer => {
                return Err(Refusal::Forbidden(
                    "Only the server's owner can do this.".to_owned(),
                ));
            }
            _ => return Err(Refusal::Hidden),
        },
        Place::Personal { user_id: whose } => {
            if whose != user_id {
                return Err(Refusal::Hidden);
            }
            if matches!(
                action,
                Action::RequestReview
                    | Action::Decide
                    | Action::Release
                    | Action::Comment
                    | Action::ResolveOthers
                    | Action::Suggest
            ) {
                return Err(Refusal::Forbidden("A personal workspace has no review. Sync the dataset to a shared workspace to have it reviewed.".to_owned()));
            }
        }
        Place::Shared { roles, target } => {
            if roles.is_empty() {
                return Err(Refusal::Hidden);
            }
            if *target
                && matches!(
                    action,
                    Action::Comment
                        | Action::ResolveOthers
                        | Action::Edit
                        | Action::Suggest
                        | Action::RequestReview
                        | Action::Decide
                        | Action::Release
                )
            {
                return Err(Refusal::Forbidden(
                    "This workspace receives releases. Fixes go through its source.".to_owned(),
                ));
            }
            let has = |wanted: &[Role]| roles.iter().any(|role| wanted.contains(role));
            let (allowed, who) = match action {
                Action::Read | Action::Download | Action::Comment => (true, ""),
                Action::ResolveOthers
                | Action::Suggest
                | Action::RequestReview
                | Action::Run
                | Action::ReadAudit => (
                    has(&[Role::Author, Role::Reviewer, Role::Admin]),
                    "An author, a reviewer or an admin",
                ),
                Action::Edit | Action::RegisterAgent => {
                    (has(&[Role::Author, Role::Admin]), "An author or an admin")
                }
                Action::Decide | Action::Release => (has(&[Role::Reviewer]), "A reviewer"),
                Action::CancelOthers | Action::Administer | Action::ExportAudit => {
                    (has(&[Role::Admin]), "An admin")
                }
                Action::OwnServer | Action::OwnAccount => return Err(Refusal::Hidden),
            };
            if !allowed {
                return Err(Refusal::Forbidden(format!(
                    "{who} of this workspace can do this."
                )));
            }
        }
    }
    if let Some(scopes) = scopes {
        let needed = scope_for(action);
        if !scopes.contains(&needed) {
            return Err(Refusal::Forbidden(format!(
                "This token lacks the scope `{}`.",
                needed.as_str()
            )));
        }
    }
    Ok(())
}

/// The token scope an action needs (`review.md`, the table's column).
pub const fn scope_for(action: Action) -> Scope {
    match action {
        Action::Read | Action::Download | Action::ReadAudit | Action::ExportAudit => Scope::Read,
        Action::Comment
        | Action::ResolveOthers
        | Action::Suggest
        | Action::RequestReview
        | Action::Decide
        | Action::Release => Scope::Review,
        Action::Edit => Scope::Sync,
        Action::Run | Action::CancelOthers => Scope::Run,
        Action::RegisterAgent | Action::Administer | Action::OwnServer | Action::OwnAccount => {
            Scope::Admin
        }
    }
}
