//! Setup link, passwords, sessions, tokens, workspaces.

use evalkit_core::error::Code;
use evalkit_core::policy::{Actor, Role, Scope};
use evalkit_core::view::runs::RunsQuery;
use evalkit_store::{NewOwner, NewTokenRequest, Settings};

use crate::world::{SECOND, World, code, told};

const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;

async fn the_setup_link_works_once() {
    let world = World::new().await;
    let again = world.store.issue_setup_link_unchecked().await;
    assert!(
        again.expect("no fault").is_none(),
        "the server has an owner"
    );
    let owner = NewOwner {
        name: "eve".to_owned(),
        display_name: "Eve".to_owned(),
        password: "correct horse battery".to_owned(),
    };
    let late = world
        .store
        .complete_setup(&world.nobody(), "guess", &owner)
        .await;
    assert_eq!(code(late), Code::SetupLink);
}

async fn an_unknown_name_and_a_wrong_password_are_told_apart_by_nothing() {
    let world = World::new().await;
    let nobody = world.nobody();
    let wrong = told(world.store.sign_in(&nobody, "mara", "wrong password").await);
    let unknown = told(world.store.sign_in(&nobody, "zoe", "wrong password").await);
    assert_eq!(wrong, unknown);
    assert_eq!(wrong.code, Code::SignIn);
}

async fn ten_failures_close_the_door_for_that_address_only() {
    let world = World::new().await;
    let nobody = world.nobody();
    for _ in 0..10 {
        assert_eq!(
            code(world.store.sign_in(&nobody, "mara", "wrong").await),
            Code::SignIn
        );
    }
    let right = "correct horse battery";
    assert_eq!(
        code(world.store.sign_in(&nobody, "mara", right).await),
        Code::RateLimited
    );
    let elsewhere = world.store.ctx(Actor::Anonymous, "r", "10.9.9.9");
    assert!(world.store.sign_in(&elsewhere, "mara", right).await.is_ok());
    world.clock.advance(15 * 60 * SECOND + 1);
    assert!(
        world
            .store
            .sign_in(&world.nobody(), "mara", right)
            .await
            .is_ok()
    );
}

async fn sessions_end_when_idle_when_old_and_when_signed_out() {
    let world = World::new().await;
    let sign_in = || async {
        world
            .store
            .sign_in(&world.nobody(), "mara", "correct horse battery")
            .await
            .expect("signed in")
            .secret
    };
    let lives = |secret: String| {
        let store = world.store.clone();
        async move { store.actor_by_session(&secret).await.expect("no fault") != Actor::Anonymous }
    };
    let secret = sign_in().await;
    world.clock.advance(11 * HOUR);
    assert!(lives(secret.clone()).await);
    world.clock.advance(11 * HOUR);
    assert!(lives(secret.clone()).await, "each use counts from anew");
    world.clock.advance(12 * HOUR + SECOND);
    assert!(!lives(secret).await, "idle for 12 hours");

    let secret = sign_in().await;
    for _ in 0..65 {
        world.clock.advance(11 * HOUR);
        lives(secret.clone()).await;
    }
    world.clock.advance(11 * HOUR);
    assert!(!lives(secret).await, "30 days old");

    let (one, two) = (sign_in().await, sign_in().await);
    world
        .store
        .sign_out(&world.nobody(), &one)
        .await
        .expect("signed out");
    assert!(!lives(one).await);
    let ctx = world.store.ctx(
        world.store.actor_by_session(&two).await.expect("in"),
        "r",
        "",
    );
    world
        .store
        .sign_out_everywhere(&ctx)
        .await
        .expect("signed out");
    assert!(!lives(two).await);
    for bad in ["", "x", &"z".repeat(64), &"a".repeat(64)] {
        assert!(!lives(bad.to_owned()).await, "{bad}");
    }
}

async fn tokens_are_scoped_end_and_can_be_revoked() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let ask = |scopes: &[Scope], days| NewTokenRequest {
        name: "CI".to_owned(),
        scopes: scopes.to_vec(),
        days,
    };
    let made = world
        .store
        .create_token(&mara, &ask(&[Scope::Read], Some(7)))
        .await
        .expect("a token");
    assert!(made.secret.starts_with("evk_"));
    assert_eq!(made.row.expires_at, mara.now + 7 * DAY);
    let actor = world
        .store
        .actor_by_token(&made.secret)
        .await
        .expect("no fault");
    let ctx = world.store.ctx(actor, "r", "");
    assert!(world.store.home_page(&ctx).await.is_ok());
    assert_eq!(
        code(world.store.tokens(&ctx).await),
        Code::Forbidden,
        "read alone does not list tokens"
    );
    assert_eq!(
        code(world.store.create_workspace(&ctx, "more").await),
        Code::Forbidden,
        "a token has no more power than its scopes"
    );
    let listed = world.store.tokens(&mara).await.expect("tokens");
    assert_eq!(listed.len(), 1);
    assert!(listed[0].last_used_at.is_some());

    let leo = world.store.ctx(
        Actor::Person {
            user_id: "someone".to_owned(),
            name: "leo".to_owned(),
            owner: false,
            scopes: None,
            token_id: None,
        },
        "r",
        "",
    );
    assert_eq!(
        code(world.store.revoke_token(&leo, &made.row.id).await),
        Code::NotFound,
        "another's token is not there"
    );
    world
        .store
        .revoke_token(&mara, &made.row.id)
        .await
        .expect("revoked");
    assert_eq!(
        world.store.actor_by_token(&made.secret).await.expect("ok"),
        Actor::Anonymous
    );

    let short = world
        .store
        .create_token(&mara, &ask(&[Scope::Read], Some(1)))
        .await
        .expect("a token");
    world.clock.advance(DAY);
    assert_eq!(
        world.store.actor_by_token(&short.secret).await.expect("ok"),
        Actor::Anonymous
    );
    for bad in [ask(&[], None), ask(&[Scope::Read], Some(366))] {
        assert_eq!(
            code(world.store.create_token(&mara, &bad).await),
            Code::Invalid
        );
    }
}

async fn a_foreign_workspace_answers_like_a_missing_one() {
    let settings = Settings {
        demo: true,
        ..Settings::default()
    };
    let world = World::with(settings).await;
    let mara = world.as_person("mara").await;
    let leo = world
        .store
        .sign_in_as_demo(&world.nobody(), "leo")
        .await
        .expect("the demo signs leo in");
    let leo = world.store.actor_by_session(&leo.secret).await.expect("in");
    let leo = world.store.ctx(leo, "r", "");
    let store = &world.store;
    let missing = told(store.workspace_page(&leo, "nowhere").await);
    for foreign in ["mara", "team"] {
        assert_eq!(told(store.workspace_page(&leo, foreign).await), missing);
        assert_eq!(told(store.agents_page(&leo, foreign).await), missing);
        let runs = store.runs_page(&leo, foreign, &RunsQuery::default()).await;
        assert_eq!(told(runs), missing);
    }
    assert_eq!(
        code(store.workspace_page(&world.nobody(), "nowhere").await),
        Code::SignIn
    );
    assert_eq!(
        code(store.workspace_page(&world.nobody(), "mara").await),
        Code::SignIn
    );
    store
        .set_roles(&mara, "team", "leo", &[Role::Viewer])
        .await
        .expect("made a viewer");
    let page = store.workspace_page(&leo, "team").await.expect("a member");
    assert!(!page.may_run && !page.may_edit);
    assert_eq!(page.members.len(), 2);
    assert_eq!(
        code(store.set_roles(&leo, "team", "leo", &[Role::Admin]).await),
        Code::Forbidden
    );
    assert_eq!(
        code(store.set_roles(&mara, "team", "mara", &[]).await),
        Code::Conflict,
        "the last admin stays"
    );
    let session = store.session(&leo).await.expect("a session");
    assert_eq!(session.workspaces, ["leo", "team"]);
}

async fn names_are_shared_by_people_and_workspaces() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    for taken in ["mara", "team", "leo"] {
        assert_eq!(
            code(world.store.create_workspace(&mara, taken).await),
            Code::NameTaken
        );
    }
    let person = world
        .store
        .create_person(&mara, "team", "Team", "correct horse battery")
        .await;
    assert_eq!(code(person), Code::NameTaken);
    assert_eq!(
        code(world.store.create_workspace(&mara, "No Slug").await),
        Code::Invalid
    );
}

evalkit_test_database::on_each_database![
    the_setup_link_works_once,
    an_unknown_name_and_a_wrong_password_are_told_apart_by_nothing,
    ten_failures_close_the_door_for_that_address_only,
    sessions_end_when_idle_when_old_and_when_signed_out,
    tokens_are_scoped_end_and_can_be_revoked,
    a_foreign_workspace_answers_like_a_missing_one,
    names_are_shared_by_people_and_workspaces,
];
