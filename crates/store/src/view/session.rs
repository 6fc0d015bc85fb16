//! The frame around every page.

use evalkit_core::view::session::{Person, Session};

use crate::ctx::Ctx;
use crate::db::args;
use crate::error::StoreError;
use crate::store::Store;

impl Store {
    /// Who looks, and what bar and banners need. Nobody signed in is a valid answer.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn session(&self, ctx: &Ctx) -> Result<Session, StoreError> {
        let settings = self.settings();
        let mut session = Session {
            person: None,
            workspaces: Vec::new(),
            demo: settings.demo,
            no_tls: settings.no_tls,
            judge: settings.judge.clone(),
            now: ctx.now,
            version: settings.version.clone(),
        };
        let Some(person_id) = ctx.person_id() else {
            return Ok(session);
        };
        let mut tx = self.read().await?;
        session.person = tx
            .optional(
                "SELECT name, display_name, owner FROM person WHERE id = $1 AND disabled_at IS NULL",
                args![person_id],
            )
            .await?
            .map(|row| {
                Ok::<_, StoreError>(Person {
                    name: row.text("name")?,
                    display_name: row.text("display_name")?,
                    owner: row.flag("owner")?,
                })
            })
            .transpose()?;
        for row in tx
            .all(
                "SELECT w.slug FROM workspace w WHERE w.personal_of = $1 \
                 OR EXISTS (SELECT 1 FROM member m WHERE m.workspace_id = w.id AND m.person_id = $1) \
                 ORDER BY CASE WHEN w.personal_of IS NULL THEN 1 ELSE 0 END, w.slug",
                args![person_id],
            )
            .await?
        {
            session.workspaces.push(row.text("slug")?);
        }
        Ok(session)
    }
}
