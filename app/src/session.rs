//! Who looks, and what the frame needs: known to the server before it renders, handed to the browser with the page.

use evalkit_core::view::session::{JudgeInUse, Session};
use leptos::prelude::*;

use crate::ui::Clock;

/// The session of nobody: before sign-in, and while routes are listed.
pub fn nobody() -> Session {
    Session {
        person: None,
        workspaces: Vec::new(),
        demo: false,
        no_tls: false,
        judge: JudgeInUse {
            provider: "offline".to_owned(),
            model: None,
            quality_signal: false,
        },
        now: 0,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Provides the session and the page's clock to everything below. Called once, by [`crate::App`].
pub(crate) fn provide() -> StoredValue<Session> {
    let session = SharedValue::new(|| use_context::<Session>().unwrap_or_else(nobody)).into_inner();
    provide_context(Clock(RwSignal::new(session.now)));
    let session = StoredValue::new(session);
    provide_context(session);
    session
}

/// The session around a component. It changes with a full page load alone (sign-in, sign-out, set-up).
pub fn use_session() -> StoredValue<Session> {
    use_context().unwrap_or_else(|| StoredValue::new(nobody()))
}

/// A path of this site to go back to, or `/`: never another host.
pub fn safe_return(path: &str) -> &str {
    let inside = path.starts_with('/')
        && !path.starts_with("//")
        && !path.starts_with("/\\")
        && path.len() <= 2_048
        && !path.chars().any(|c| c.is_control() || c == '\\');
    if inside { path } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::safe_return;

    #[test]
    fn only_paths_of_this_site() {
        assert_eq!(safe_return("/w/research?q=a#R5"), "/w/research?q=a#R5");
        for bad in [
            "",
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "/a\nb",
            "javascript:alert(1)",
            "/a\\b",
        ] {
            assert_eq!(safe_return(bad), "/", "{bad:?}");
        }
    }
}
