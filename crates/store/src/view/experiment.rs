//! Experiment: live progress, scores, case grid, failures grouped, what it was frozen on.

use evalkit_core::policy::Action;
use evalkit_core::view::experiment::Experiment;

use crate::ctx::Ctx;
use crate::error::StoreError;
use crate::store::Store;

impl Store {
    /// The Experiment page of run `run` of the workspace.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a run that is not there or not the caller's to see.
    pub async fn experiment_page(
        &self,
        ctx: &Ctx,
        workspace: &str,
        _run: i64,
    ) -> Result<Experiment, StoreError> {
        let mut tx = self.read().await?;
        tx.enter(ctx, workspace, Action::Read).await?;
        Err(StoreError::not_found())
    }
}
