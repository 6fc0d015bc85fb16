//! `evalkit login`, `logout`, `whoami`.

use std::io::BufRead as _;

use super::{Context, pretty};
use crate::console::visible;
use crate::credentials::{Credentials, Stored};
use crate::exit::{Exit, Failure, Outcome};
use crate::project::Project;
use crate::server::Server;

/// The longest line read as a token.
const LONGEST: usize = 1_000;

/// Reads a token from standard input, tries it, and keeps it for the server's origin.
pub(super) async fn login(token_stdin: bool, context: &mut Context) -> Outcome {
    let project = Project::find(&context.environment.folder, None)?;
    let server = Server::without_token(&project, context)?;
    let origin = server.origin();
    if !token_stdin {
        return Err(Failure::misuse(
            "This version logs in with an access token.",
            format!(
                "Make one at {origin}/settings/tokens, then paste it into `evalkit login --token-stdin`."
            ),
        ));
    }
    let token = tokio::task::spawn_blocking(read_token)
        .await
        .map_err(|error| Failure::misuse(format!("Standard input failed: {error}."), ""))??;
    let who = server.with_token(&token).whoami().await?;
    let stored = Stored {
        token,
        name: who.name.clone(),
    };
    Credentials::read(context.environment.config.as_deref())?.keep(&origin, stored)?;
    context
        .console
        .note(format!("logged in to {origin} as {}", visible(&who.name)));
    Ok(Exit::Met)
}

fn read_token() -> Result<String, Failure> {
    let mut line = String::new();
    let stdin = std::io::stdin().lock();
    let mut limited = std::io::Read::take(stdin, LONGEST as u64);
    limited.read_line(&mut line).map_err(|error| {
        Failure::misuse(
            format!("Standard input cannot be read: {error}."),
            "Paste the token, or pipe it in.",
        )
    })?;
    let token = line.trim();
    if token.is_empty() || !token.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(Failure::misuse(
            "Standard input held no token.",
            "Paste the token that was shown when it was made; it begins with `evk_`.",
        ));
    }
    Ok(token.to_owned())
}

/// Revokes the token on the server and forgets it here.
pub(super) async fn logout(context: &mut Context) -> Outcome {
    let project = Project::find(&context.environment.folder, None)?;
    let server = Server::without_token(&project, context)?;
    let origin = server.origin();
    let mut credentials = Credentials::read(context.environment.config.as_deref())?;
    let Some(stored) = credentials.of(&origin).cloned() else {
        context
            .console
            .note(format!("you were not logged in to {origin}"));
        return Ok(Exit::Met);
    };
    let revoked = server.with_token(&stored.token).delete(&["token"]).await;
    credentials.forget(&origin)?;
    match revoked {
        Ok(()) => context
            .console
            .note(format!("logged out of {origin}; the token is revoked")),
        Err(failure) if failure.code.as_deref() == Some("S-SIGN-IN") => {
            context.console.note(format!(
                "logged out of {origin}; the token had ended already"
            ));
        }
        Err(failure) => {
            let message = visible(&failure.message);
            context.console.warn(format!(
                "warning: the token is forgotten here but may still be valid: {message} Revoke it at {origin}/settings/tokens."
            ));
        }
    }
    Ok(Exit::Met)
}

/// Says whose token is used, and where.
pub(super) async fn whoami(json: bool, context: &mut Context) -> Outcome {
    let project = Project::find(&context.environment.folder, None)?;
    let server = Server::of(&project, context)?;
    let who = server.whoami().await?;
    if json {
        context.console.say(pretty(&who)?);
    } else {
        context.console.say(format!(
            "{} ({}) at {}",
            visible(&who.name),
            visible(&who.display_name),
            server.origin()
        ));
        context
            .console
            .say(format!("scopes      {}", visible(&who.scopes.join(", "))));
        context.console.say(format!(
            "workspaces  {}",
            visible(&who.workspaces.join(", "))
        ));
    }
    Ok(Exit::Met)
}
