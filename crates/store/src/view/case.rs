//! Case: the contract, with the latest verdicts per agent beside each sentence.

use evalkit_core::policy::Action;
use evalkit_core::view::case::Case;

use crate::ctx::Ctx;
use crate::error::StoreError;
use crate::store::Store;

impl Store {
    /// The Case page; `version` absent shows the newest.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a case or version that is not there or not the caller's to see.
    pub async fn case_page(
        &self,
        ctx: &Ctx,
        workspace: &str,
        _dataset: &str,
        _case_id: &str,
        _version: Option<u32>,
    ) -> Result<Case, StoreError> {
        let mut tx = self.read().await?;
        tx.enter(ctx, workspace, Action::Read).await?;
        Err(StoreError::not_found())
    }
}
