//! The table of `review.md`, written out once more cell by cell, against `policy::may`.

use evalkit_core::policy::{Action, Actor, Place, Refusal, Role, Scope, may, scope_for};
use proptest::prelude::*;

/// Action; viewer, author, reviewer, admin; token scope; refused in a promotion target.
const TABLE: [(Action, [bool; 4], Scope, bool); 17] = [
    (Action::Read, [true, true, true, true], Scope::Read, false),
    (
        Action::Download,
        [true, true, true, true],
        Scope::Read,
        false,
    ),
    (
        Action::Comment,
        [true, true, true, true],
        Scope::Review,
        true,
    ),
    (
        Action::ResolveOthers,
        [false, true, true, true],
        Scope::Review,
        true,
    ),
    (Action::Edit, [false, true, false, true], Scope::Sync, true),
    (
        Action::Suggest,
        [false, true, true, true],
        Scope::Review,
        true,
    ),
    (
        Action::RequestReview,
        [false, true, true, true],
        Scope::Review,
        true,
    ),
    (
        Action::Decide,
        [false, false, true, false],
        Scope::Review,
        true,
    ),
    (
        Action::Release,
        [false, false, true, false],
        Scope::Review,
        true,
    ),
    (Action::Run, [false, true, true, true], Scope::Run, false),
    (
        Action::CancelOthers,
        [false, false, false, true],
        Scope::Run,
        false,
    ),
    (
        Action::RegisterAgent,
        [false, true, false, true],
        Scope::Admin,
        false,
    ),
    (
        Action::Administer,
        [false, false, false, true],
        Scope::Admin,
        false,
    ),
    (
        Action::ReadAudit,
        [false, true, true, true],
        Scope::Read,
        false,
    ),
    (
        Action::ExportAudit,
        [false, false, false, true],
        Scope::Read,
        false,
    ),
    (
        Action::OwnServer,
        [false, false, false, false],
        Scope::Admin,
        false,
    ),
    (
        Action::OwnAccount,
        [false, false, false, false],
        Scope::Admin,
        false,
    ),
];

const REVIEW: [Action; 6] = [
    Action::RequestReview,
    Action::Decide,
    Action::Release,
    Action::Comment,
    Action::ResolveOthers,
    Action::Suggest,
];

fn person(user: &str, owner: bool, scopes: Option<Vec<Scope>>) -> Actor {
    Actor::Person {
        user_id: user.to_owned(),
        name: user.to_owned(),
        owner,
        token_id: scopes.as_ref().map(|_| "t".to_owned()),
        scopes,
    }
}

fn shared(roles: &[Role], target: bool) -> Place {
    Place::Shared {
        roles: roles.to_vec(),
        target,
    }
}

#[test]
fn every_cell_of_the_table() {
    for (action, allowed, scope, refused_in_target) in TABLE {
        assert_eq!(scope_for(action), scope, "{action:?}");
        for (role, allowed) in Role::ALL.into_iter().zip(allowed) {
            let mara = person("mara", false, None);
            let answer = may(&mara, action, &shared(&[role], false));
            assert_eq!(
                answer.is_ok(),
                allowed,
                "{action:?} as {role:?}: {answer:?}"
            );
            let in_target = may(&mara, action, &shared(&[role], true));
            assert_eq!(
                in_target.is_ok(),
                allowed && !refused_in_target,
                "{action:?} as {role:?} in a target"
            );
        }
    }
}

#[test]
fn who_may_not_see_a_place_learns_nothing() {
    for (action, ..) in TABLE {
        let stranger = person("noor", true, None);
        assert_eq!(
            may(&stranger, action, &shared(&[], false)),
            Err(Refusal::Hidden),
            "{action:?}"
        );
        assert_eq!(
            may(&stranger, action, &shared(&[], true)),
            Err(Refusal::Hidden),
            "{action:?}"
        );
        let personal = Place::Personal {
            user_id: "mara".to_owned(),
        };
        assert_eq!(
            may(&stranger, action, &personal),
            Err(Refusal::Hidden),
            "{action:?}"
        );
        for place in [shared(&Role::ALL, false), personal, Place::Server] {
            assert_eq!(
                may(&Actor::Anonymous, action, &place),
                Err(Refusal::SignIn),
                "{action:?}"
            );
            assert_eq!(may(&Actor::System, action, &place), Ok(()), "{action:?}");
        }
    }
}

#[test]
fn a_personal_workspace_has_everything_but_review() {
    let mara = person("mara", false, None);
    let personal = Place::Personal {
        user_id: "mara".to_owned(),
    };
    for (action, ..) in TABLE {
        let answer = may(&mara, action, &personal);
        if REVIEW.contains(&action) {
            assert!(matches!(answer, Err(Refusal::Forbidden(_))), "{action:?}");
        } else {
            assert_eq!(answer, Ok(()), "{action:?}");
        }
    }
}

#[test]
fn the_server_itself_belongs_to_its_owner() {
    let owner = person("ada", true, None);
    let other = person("mara", false, None);
    assert_eq!(may(&owner, Action::OwnServer, &Place::Server), Ok(()));
    assert!(matches!(
        may(&other, Action::OwnServer, &Place::Server),
        Err(Refusal::Forbidden(_))
    ));
    assert_eq!(may(&other, Action::OwnAccount, &Place::Server), Ok(()));
    assert_eq!(
        may(&owner, Action::Edit, &Place::Server),
        Err(Refusal::Hidden)
    );
}

fn any_roles() -> impl Strategy<Value = Vec<Role>> {
    prop::sample::subsequence(Role::ALL.to_vec(), 0..=4)
}

fn any_action() -> impl Strategy<Value = Action> {
    prop::sample::select(TABLE.map(|row| row.0).to_vec())
}

proptest! {
    #[test]
    fn roles_add_up(roles in any_roles(), more in any_roles(), action in any_action(), target in any::<bool>()) {
        let mara = person("mara", false, None);
        let together: Vec<Role> = roles.iter().chain(&more).copied().collect();
        let apart = may(&mara, action, &shared(&roles, target)).is_ok() || may(&mara, action, &shared(&more, target)).is_ok();
        prop_assert_eq!(may(&mara, action, &shared(&together, target)).is_ok(), apart);
    }

    /// A token never does more than its person, and never more than its scopes.
    #[test]
    fn a_token_is_scopes_and_roles(roles in any_roles(), scopes in prop::sample::subsequence(Scope::ALL.to_vec(), 0..=5), action in any_action(), target in any::<bool>()) {
        let place = shared(&roles, target);
        let by_session = may(&person("mara", false, None), action, &place);
        let by_token = may(&person("mara", false, Some(scopes.clone())), action, &place);
        prop_assert_eq!(by_token.is_ok(), by_session.is_ok() && scopes.contains(&scope_for(action)));
        if by_session == Err(Refusal::Hidden) {
            prop_assert_eq!(by_token, Err(Refusal::Hidden), "a scope must not tell that the place exists");
        }
    }
}
