//! Bytes: whole or not at all, known only where they were sent.

use evalkit_core::canonical::hash_bytes;
use evalkit_core::error::Code;
use evalkit_store::{Ctx, Limits, Settings};

use crate::world::{World, code, told};

async fn put(world: &World, ctx: &Ctx, workspace: &str, announced: &str, bytes: &[u8]) -> Code {
    let mut writer = world
        .store
        .begin_fixture(ctx, workspace)
        .await
        .expect("may edit");
    for chunk in bytes.chunks(3) {
        if let Err(error) = writer.write(chunk).await {
            return error.code();
        }
    }
    match world
        .store
        .finish_fixture(ctx, workspace, announced, writer)
        .await
    {
        Ok(length) => {
            assert_eq!(length, bytes.len() as u64);
            Code::Internal
        }
        Err(error) => error.code(),
    }
}

/// What [`put`] gives for bytes that were taken.
const TAKEN: Code = Code::Internal;

fn leftovers(world: &World) -> usize {
    std::fs::read_dir(world.folder.path().join("blobs"))
        .expect("a folder")
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(".incoming"))
        .count()
}

async fn knowing_a_hash_attaches_nothing() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let sha = hash_bytes(b"secret annual report");
    assert_eq!(
        put(&world, &mara, "mara", &sha, b"secret annual report").await,
        TAKEN
    );
    let ask = |workspace: &'static str| {
        world
            .store
            .missing_blobs(&mara, workspace, std::slice::from_ref(&sha))
    };
    assert!(ask("mara").await.expect("asked").is_empty());
    assert_eq!(
        ask("team").await.expect("asked"),
        std::slice::from_ref(&sha),
        "another workspace must send the bytes"
    );
    assert!(world.store.fixture_file(&mara, "mara", &sha).await.is_ok());
    assert_eq!(
        code(world.store.fixture_file(&mara, "team", &sha).await),
        Code::NotFound
    );
    let fixtures = format!("fixtures:\n  a.txt: {{sha256: {sha}, context: \"A report.\"}}\n");
    let mut request = crate::world::request("team", "world", crate::world::CASES);
    request.files.push(evalkit_lint::SourceFile::new(
        "fixtures.yaml",
        fixtures.as_bytes(),
    ));
    let refused = told(world.store.sync(&mara, request.clone()).await);
    assert_eq!(refused.code, Code::Fixtures);
    assert!(refused.details[0].starts_with("a.txt"), "{refused:?}");
    request.workspace = "mara".to_owned();
    let report = world.store.sync(&mara, request).await.expect("synced");
    assert_eq!(report.fixtures, 1);
}

async fn wrong_bytes_large_files_and_full_workspaces_are_refused_and_leave_nothing() {
    let settings = Settings {
        limits: Limits {
            file_bytes: 10,
            workspace_bytes: 15,
            workspace_files: 5,
            ..Limits::default()
        },
        ..Settings::default()
    };
    let world = World::with(settings).await;
    let mara = world.as_person("mara").await;
    let wrong = hash_bytes(b"other");
    assert_eq!(
        put(&world, &mara, "mara", &wrong, b"bytes").await,
        Code::Fixtures
    );
    assert_eq!(
        put(&world, &mara, "mara", "../../etc/passwd", b"bytes").await,
        Code::Fixtures
    );
    let long = b"eleven byte";
    assert_eq!(
        put(&world, &mara, "mara", &hash_bytes(long), long).await,
        Code::TooLarge
    );
    for n in 0..2 {
        let bytes = format!("file-{n}");
        let taken = put(
            &world,
            &mara,
            "mara",
            &hash_bytes(bytes.as_bytes()),
            bytes.as_bytes(),
        )
        .await;
        assert_eq!(taken, TAKEN);
    }
    assert_eq!(
        put(&world, &mara, "mara", &hash_bytes(b"file-3"), b"file-3").await,
        Code::Limit
    );
    assert_eq!(leftovers(&world), 0);
    assert_eq!(
        code(
            world
                .store
                .fixture_file(&mara, "mara", "../../etc/passwd")
                .await
        ),
        Code::NotFound
    );
}

async fn many_uploads_of_one_file_make_one() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let sha = hash_bytes(b"the same bytes");
    let uploads = (0..20).map(|_| put(&world, &mara, "mara", &sha, b"the same bytes"));
    let outcomes = futures::future::join_all(uploads).await;
    assert!(outcomes.iter().all(|code| *code == TAKEN));
    let (path, bytes) = world
        .store
        .fixture_file(&mara, "mara", &sha)
        .await
        .expect("it");
    assert_eq!(bytes, 14);
    assert_eq!(std::fs::read(path).expect("bytes"), b"the same bytes");
    assert_eq!(leftovers(&world), 0);
}

evalkit_test_database::on_each_database![
    knowing_a_hash_attaches_nothing,
    wrong_bytes_large_files_and_full_workspaces_are_refused_and_leave_nothing,
    many_uploads_of_one_file_make_one,
];
