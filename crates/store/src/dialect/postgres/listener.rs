//! Word from the other servers of the database: each commit notifies, and is heard here.
//!
//! A notification can be lost with its connection, so every two seconds without news count as news.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgListener, PgPool};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::{CHANNEL, PostgresDb, listening_pool};

/// Looked at this often even when nobody says anything.
const POLL: Duration = Duration::from_secs(2);

/// Listens until it is dropped.
#[derive(Debug)]
pub(crate) struct Listener(AbortHandle);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a commit of `server` tells.
pub(super) fn note(server: &str, queues: bool) -> String {
    format!("{server} {}", if queues { "work" } else { "commit" })
}

impl Listener {
    pub(crate) fn start(
        db: &Arc<PostgresDb>,
        commits: watch::Sender<u64>,
        work: watch::Sender<u64>,
    ) -> Self {
        let ear = Ear {
            pool: listening_pool(db),
            server: db.server.clone(),
            commits,
            work,
        };
        Self(tokio::spawn(ear.run()).abort_handle())
    }
}

struct Ear {
    pool: PgPool,
    server: String,
    commits: watch::Sender<u64>,
    work: watch::Sender<u64>,
}

fn bump(sender: &watch::Sender<u64>) {
    sender.send_modify(|n| *n = n.wrapping_add(1));
}

impl Ear {
    async fn run(self) {
        loop {
            if let Err(error) = self.hear().await {
                tracing::debug!(%error, "other servers are not heard; looking every two seconds");
            }
            bump(&self.commits);
            tokio::time::sleep(POLL).await;
        }
    }

    /// Hears until the connection breaks.
    async fn hear(&self) -> Result<(), sqlx::Error> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.listen(CHANNEL).await?;
        // What was said before is not heard any more.
        bump(&self.commits);
        bump(&self.work);
        loop {
            match tokio::time::timeout(POLL, listener.try_recv()).await {
                Ok(Ok(Some(heard))) => self.take(heard.payload()),
                Ok(Ok(None)) => return Ok(()),
                Ok(Err(error)) => return Err(error),
                Err(_) => bump(&self.commits),
            }
        }
    }

    fn take(&self, note: &str) {
        let (server, what) = note.split_once(' ').unwrap_or((note, ""));
        if server == self.server {
            return;
        }
        bump(&self.commits);
        if what == "work" {
            bump(&self.work);
        }
    }
}
