//! T27: a server that cannot serve safely says so at once and ends.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use crate::server::Place;

/// What is promised is 2 s; a busy machine gets five times that.
const SOON: Duration = Duration::from_secs(10);

/// Starts the program and gives what it said before it ended.
async fn refused(place: &Place, change: impl FnOnce(&mut std::process::Command)) -> String {
    let mut command = place.program();
    change(&mut command);
    let before = place.logs().len();
    let began = Instant::now();
    let mut server = place.spawn_as(command);
    let status = server.ended(SOON).await;
    let said = place.logs()[before..].to_owned();
    let status =
        status.unwrap_or_else(|| panic!("it did not end within {:?}: {said}", began.elapsed()));
    assert_eq!(status.code(), Some(3), "{said}");
    assert!(server.address().is_none(), "it served");
    said
}

fn errors(said: &str) -> usize {
    said.lines()
        .filter(|line| line.starts_with("error: "))
        .count()
}

async fn a_server_that_cannot_serve_safely_ends_and_names_the_fix() {
    let place = Place::new(Duration::from_secs(2)).await;
    let shared = evalkit_test_database::url().is_some();
    let key = place.path().join("other.key");
    let with_key = |command: &mut std::process::Command| {
        command.env("EVALKIT_SECRET_KEY_FILE", &key);
    };
    let private = std::fs::Permissions::from_mode(0o600);
    let mut told = Vec::new();

    std::fs::write(&key, [1; 5]).unwrap();
    std::fs::set_permissions(&key, private.clone()).unwrap();
    told.push(("a key of 5 bytes", "32", refused(&place, with_key).await));

    std::fs::write(&key, [9; 32]).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    told.push((
        "a key that others read",
        "chmod 600",
        refused(&place, with_key).await,
    ));

    std::fs::write(&key, [7; 32]).unwrap();
    std::fs::set_permissions(&key, private).unwrap();
    told.push((
        "the key of another database",
        "key",
        refused(&place, with_key).await,
    ));

    let said = refused(&place, |command| {
        command.env("EVALKIT_SECRET_KEY_FILE", place.path().join("nowhere.key"));
    });
    told.push(("a key that is not there", "nowhere.key", said.await));

    if shared {
        let said = refused(&place, |command| {
            command.env_remove("EVALKIT_SECRET_KEY_FILE");
        });
        told.push((
            "no key with PostgreSQL",
            "EVALKIT_SECRET_KEY_FILE",
            said.await,
        ));
    } else {
        let hidden = place.data().join("secret.key");
        let aside = place.path().join("aside.key");
        std::fs::rename(&hidden, &aside).unwrap();
        told.push((
            "no key beside a database",
            "secret.key",
            refused(&place, |_| {}).await,
        ));
        assert!(
            !hidden.exists(),
            "a new key was made beside an existing database"
        );
        std::fs::rename(&aside, &hidden).unwrap();
    }

    let config = place.path().join("config.yaml");
    std::fs::write(&config, "public_ulr: http://127.0.0.1:1\n").unwrap();
    let said = refused(&place, |command| {
        command.env("EVALKIT_CONFIG", &config);
    });
    told.push(("an unknown key in the file", "public_url", said.await));

    let said = refused(&place, |command| {
        command.env("EVALKIT_TEST_LEASE_MS", "never");
    });
    told.push(("a lease that is none", "EVALKIT_TEST_LEASE_MS", said.await));

    // Every refusal left the database as it was.
    let _server = place.serve().await;
    if !shared {
        told.push((
            "a second process",
            "EVALKIT_DATA",
            refused(&place, |_| {}).await,
        ));
    }
    for (what, fix, said) in &told {
        assert_eq!(errors(said), 1, "{what}: {said}");
        assert!(said.contains(fix), "{what} does not say `{fix}`: {said}");
        assert!(!said.contains("panicked"), "{what}: {said}");
    }
}

evalkit_test_database::on_each_database![a_server_that_cannot_serve_safely_ends_and_names_the_fix];
