//! Opening the data folder: the lock, the key, the schema.

use std::os::unix::fs::PermissionsExt as _;

use evalkit_store::{Settings, Store};

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_second_opening_is_refused_and_a_closed_one_leaves_nothing_behind() {
    let world = World::new().await;
    let path = world.folder.path().to_owned();
    let second = Store::open(&path, Settings::default()).await;
    let message = second.expect_err("refused").to_string();
    assert!(message.contains("Another process"), "{message}");
    world.store.close().await;
    drop(world.store);
    // The writer task lets go of the folder when its door is dropped.
    let mut again = Store::open(&path, Settings::default()).await;
    for _ in 0..100 {
        if again.is_ok() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        again = Store::open(&path, Settings::default()).await;
    }
    let again = again.expect("opens again");
    assert!(
        again
            .issue_setup_link_unchecked()
            .await
            .expect("no fault")
            .is_none(),
        "the owner is still there"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_is_private_and_a_wrong_or_missing_one_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("secret.key");
    let open = || Store::open(folder.path(), Settings::default());
    let store = open().await.expect("opens");
    store.close().await;
    drop(store);
    let mode = std::fs::metadata(&key).expect("a key").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let kept = std::fs::read(&key).expect("a key");

    std::fs::write(&key, [7; 32]).expect("written");
    let message = open().await.expect_err("another key").to_string();
    assert!(message.contains("sealed with another key"), "{message}");

    std::fs::write(&key, [7; 3]).expect("written");
    let message = open().await.expect_err("short key").to_string();
    assert!(message.contains("3 bytes where 32"), "{message}");

    std::fs::remove_file(&key).expect("removed");
    let message = open().await.expect_err("no key").to_string();
    assert!(message.contains("restore the key"), "{message}");

    std::fs::write(&key, kept).expect("written");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).expect("set");
    let message = open().await.expect_err("open key").to_string();
    assert!(message.contains("chmod 600"), "{message}");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).expect("set");
    open().await.expect("opens with the right key");
}
