//! Random secrets that are shown once and stored as their hash.

use evalkit_core::canonical;

use crate::error::StoreError;
use crate::folder::fill_random;

/// 256 random bits as hex.
pub(crate) fn secret() -> Result<String, StoreError> {
    let mut bytes = [0; 32];
    fill_random(&mut bytes)?;
    Ok(hex::encode(bytes))
}

/// What is stored of a secret. It has 256 bits of its own, so a plain hash keeps it.
pub(crate) fn hash(secret: &str) -> String {
    canonical::hash_bytes(secret.as_bytes())
}
