//! The bounds of `cases.md`, Files. Each one that is exceeded is an `E-YAML` that names it.

use crate::source::Span;
use crate::syntax::SyntaxError;

/// Bytes in one file: 8 MiB.
pub(crate) const FILE_BYTES: usize = 8 << 20;
/// Nodes in one file, aliases expanded: 2 million.
pub(crate) const NODES: u64 = 2_000_000;
/// Collections inside each other, aliases expanded.
pub(crate) const DEPTH: usize = 64;
/// Aliases in one file.
pub(crate) const ALIASES: u64 = 10_000;
/// Bytes of all scalars of a file, aliases expanded: 8 MiB.
pub(crate) const SCALAR_BYTES: u64 = 8 << 20;
/// Documents in one YAML file.
pub(crate) const DOCUMENTS: usize = 1_000;
/// Cases in a dataset.
pub(crate) const CASES: usize = 20_000;
/// Bytes of all files of a sync: 64 MiB.
pub(crate) const SYNC_BYTES: usize = 64 << 20;

/// Syntax errors in one file that are told apart; nobody reads more, and reading on costs time.
pub(crate) const ERRORS: usize = 2_000;

/// How many times its own size a broken document may be read again while looking for sound items.
const RECOVERY_PASSES: u64 = 6;

/// What one file has used up so far. Reading stops for good when [`Budget::charge`] says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Nodes so far, keys included.
    pub nodes: u64,
    /// Bytes of scalars so far.
    pub scalar_bytes: u64,
    /// Aliases so far.
    pub aliases: u64,
    /// Bytes that may still be read again after a syntax error.
    pub recovery_bytes: u64,
}

/// What a value weighs: what an alias to it adds to the budget.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Weight {
    /// Nodes, keys included.
    pub nodes: u64,
    /// Bytes of scalars.
    pub scalar_bytes: u64,
    /// Collections inside each other; zero for a scalar.
    pub height: usize,
}

impl Budget {
    /// A fresh budget for a file of `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            nodes: 0,
            scalar_bytes: 0,
            aliases: 0,
            recovery_bytes: RECOVERY_PASSES * bytes as u64 + 4096,
        }
    }

    /// Counts nodes and scalar bytes.
    ///
    /// # Errors
    /// The bound that is exceeded; nothing more of the file is read then.
    pub(crate) fn charge(
        &mut self,
        nodes: u64,
        scalar_bytes: u64,
        at: Span,
    ) -> Result<(), SyntaxError> {
        self.nodes += nodes;
        self.scalar_bytes += scalar_bytes;
        if self.nodes > NODES {
            return Err(exceeded(
                at,
                "2 million nodes a file, aliases counted in full",
                "Split the file, or repeat less by aliases.",
            ));
        }
        if self.scalar_bytes > SCALAR_BYTES {
            return Err(exceeded(
                at,
                "8 MiB of text a file, aliases counted in full",
                "Split the file, or repeat less by aliases.",
            ));
        }
        Ok(())
    }

    /// Counts one alias.
    ///
    /// # Errors
    /// As [`Budget::charge`].
    pub(crate) fn charge_alias(&mut self, weight: Weight, at: Span) -> Result<(), SyntaxError> {
        self.aliases += 1;
        if self.aliases > ALIASES {
            return Err(exceeded(
                at,
                "10,000 aliases a file",
                "Write the values out, or split the file.",
            ));
        }
        self.charge(weight.nodes, weight.scalar_bytes, at)
    }
}

/// The error of a bound: it names the bound and says what to do.
pub(crate) fn exceeded(span: Span, bound: &str, help: &str) -> SyntaxError {
    SyntaxError::new(span, format!("This goes beyond a bound: {bound}."), help)
}

/// The error of [`ERRORS`].
pub(crate) fn too_many_errors(span: Span) -> SyntaxError {
    exceeded(
        span,
        "2,000 syntax errors a file",
        "Mend the first ones; the rest of the file was not read.",
    )
}

/// The error of [`DEPTH`].
pub(crate) fn too_deep(span: Span) -> SyntaxError {
    exceeded(
        span,
        "depth 64 (lists and mappings inside each other)",
        "Flatten the value.",
    )
}
