//! Every route of the HTTP API and who may call it at all. What a caller may do then is the policy's, in the store.

use std::collections::BTreeSet;

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Someone who is signed in, by session or by token.
    SignedIn,
    /// Whoever holds the address, which is signed and ends.
    SignedAddress,
}

/// A route: method, path, access.
pub type Route = (&'static str, &'static str, Access);

use Access::{SignedAddress, SignedIn};

/// All of them.
pub const ROUTES: &[Route] = &[
    ("GET", "/api/whoami", SignedIn),
    ("DELETE", "/api/token", SignedIn),
    ("GET", "/api/w/{ws}/agents", SignedIn),
    ("PUT", "/api/w/{ws}/agents/{name}", SignedIn),
    ("DELETE", "/api/w/{ws}/agents/{name}", SignedIn),
    ("POST", "/api/w/{ws}/agents/{name}/check", SignedIn),
    ("GET", "/api/w/{ws}/d/{ds}/facts", SignedIn),
    ("POST", "/api/w/{ws}/d/{ds}/sync", SignedIn),
    ("POST", "/api/w/{ws}/fixtures/missing", SignedIn),
    ("PUT", "/api/w/{ws}/fixtures/{sha256}", SignedIn),
    ("GET", "/api/w/{ws}/fixtures/{sha256}", SignedIn),
    (
        "GET",
        "/agent/runs/{run}/fixtures/{sha256}/{key}",
        SignedAddress,
    ),
    ("POST", "/api/w/{ws}/runs", SignedIn),
    ("GET", "/api/w/{ws}/runs", SignedIn),
    ("GET", "/api/w/{ws}/runs/{number}", SignedIn),
    ("GET", "/api/w/{ws}/runs/{number}/events", SignedIn),
    ("POST", "/api/w/{ws}/runs/{number}/cancel", SignedIn),
    ("POST", "/api/w/{ws}/runs/{number}/pause", SignedIn),
    ("POST", "/api/w/{ws}/runs/{number}/resume", SignedIn),
    ("POST", "/api/w/{ws}/runs/{number}/rerun", SignedIn),
    ("GET", "/api/w/{ws}/runs/{number}/results", SignedIn),
    ("GET", "/api/w/{ws}/runs/{number}/recorded", SignedIn),
    (
        "GET",
        "/api/w/{ws}/runs/{number}/c/{case}/{trial}/answer",
        SignedIn,
    ),
    (
        "GET",
        "/api/w/{ws}/runs/{number}/c/{case}/{trial}/trajectory",
        SignedIn,
    ),
];

/// Who may call this route; `None` for one that nobody may. A HEAD is asked like its GET.
pub fn access(method: &str, path: &str) -> Option<Access> {
    let method = if method == "HEAD" { "GET" } else { method };
    ROUTES
        .iter()
        .find(|(m, p, _)| *m == method && *p == path)
        .map(|(_, _, access)| *access)
}

/// Compares the registry with the routes as they are mounted.
///
/// # Panics
/// Naming every difference.
pub(super) fn assert_complete(document: &utoipa::openapi::OpenApi) {
    let mut mounted = BTreeSet::new();
    for (path, item) in &document.paths.paths {
        for (method, operation) in [
            ("GET", &item.get),
            ("PUT", &item.put),
            ("POST", &item.post),
            ("DELETE", &item.delete),
            ("PATCH", &item.patch),
        ] {
            if operation.is_some() {
                mounted.insert((method.to_owned(), path.clone()));
            }
        }
    }
    let registered: BTreeSet<(String, String)> = ROUTES
        .iter()
        .map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned()))
        .collect();
    let differences: Vec<_> = mounted.symmetric_difference(&registered).collect();
    assert!(
        differences.is_empty(),
        "routes and registry differ: {differences:?}"
    );
}
