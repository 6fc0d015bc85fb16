//! Pieces of one kind, done together: fifty trials that end at once cost as many statements as one.

use std::any::{Any, TypeId};

use futures::future::BoxFuture;
use tokio::sync::oneshot;

use super::{Job, Ran, caught, tell};
use crate::ctx::Ctx;
use crate::db::Tx;
use crate::error::StoreError;

/// One outcome a piece, in the order of the pieces.
pub(crate) type Outcomes<T> = Result<Vec<Result<T, StoreError>>, StoreError>;

/// A piece of work that can share its statements with others of its kind.
pub(crate) trait Gather: Sized + Send + Sync + 'static {
    /// What each caller is told.
    type Out: Send + 'static;

    /// Goes before what waits with it, and is committed without it.
    const URGENT: bool = false;

    /// Does all pieces. A piece that is refused must not have changed anything. When the whole fails, everything is
    /// taken back and each piece is done alone, so that one that cannot be stored harms no other.
    fn run<'a>(
        tx: &'a mut Tx,
        pieces: Vec<(&'a Ctx, &'a Self)>,
    ) -> BoxFuture<'a, Outcomes<Self::Out>>;
}

/// Pieces that are done together.
pub(super) struct Gathered<G: Gather> {
    members: Vec<Member<G>>,
    /// Done alone after all: takes nothing in.
    alone: bool,
}

struct Member<G: Gather> {
    ctx: Ctx,
    piece: G,
    outcome: Option<Result<G::Out, StoreError>>,
    reply: oneshot::Sender<Result<G::Out, StoreError>>,
}

impl<G: Gather> Gathered<G> {
    pub(super) fn of(
        ctx: Ctx,
        piece: G,
        reply: oneshot::Sender<Result<G::Out, StoreError>>,
    ) -> Self {
        Self {
            members: vec![Member {
                ctx,
                piece,
                outcome: None,
                reply,
            }],
            alone: false,
        }
    }
}

impl<G: Gather> Job for Gathered<G> {
    fn run<'a>(&'a mut self, tx: &'a mut Tx) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let pieces: Vec<_> = self.members.iter().map(|m| (&m.ctx, &m.piece)).collect();
            let count = pieces.len();
            let outcomes = caught(G::run(tx, pieces), "several").await;
            let ran = Ran::of(&outcomes);
            match outcomes {
                Ok(outcomes) if outcomes.len() == count => {
                    let mut any = false;
                    for (member, outcome) in self.members.iter_mut().zip(outcomes) {
                        any |= outcome.is_ok();
                        member.outcome = Some(outcome);
                    }
                    if any { Ran::Stays } else { Ran::Refused }
                }
                Err(error) if count == 1 => {
                    for member in &mut self.members {
                        member.outcome = Some(Err(error.clone()));
                    }
                    ran
                }
                _ if matches!(ran, Ran::Broken(_)) => ran,
                _ => Ran::Apart,
            }
        })
    }

    fn take_in(&mut self, other: Box<dyn Job>) -> Option<Box<dyn Job>> {
        if self.alone || other.kind() != TypeId::of::<Self>() {
            return Some(other);
        }
        match other.into_any().downcast::<Self>() {
            Ok(other) if other.alone => Some(other),
            Ok(other) => {
                self.members.extend(other.members);
                None
            }
            // Its type was just compared.
            Err(_) => None,
        }
    }

    fn apart(self: Box<Self>) -> Vec<Box<dyn Job>> {
        self.members
            .into_iter()
            .map(|member| {
                let job: Box<dyn Job> = Box::new(Self {
                    members: vec![member],
                    alone: true,
                });
                job
            })
            .collect()
    }

    fn answer(self: Box<Self>, lost: Option<&StoreError>) {
        for member in self.members {
            tell(member.reply, member.outcome, lost);
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }

    fn urgent(&self) -> bool {
        G::URGENT
    }

    fn kind(&self) -> TypeId {
        TypeId::of::<Self>()
    }
}
