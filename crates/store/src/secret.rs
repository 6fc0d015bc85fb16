//! Secrets at rest: XChaCha20-Poly1305, bound to workspace, id and origin, so that a row copied elsewhere opens nothing.

use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use evalkit_core::canonical;
use sha2::{Digest as _, Sha256};

use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::folder::{KEY_LENGTH, fill_random};
use crate::store::Store;

const NONCE_LENGTH: usize = 24;

/// A secret's text. It has no `Debug`, `Display` or `Serialize` that would show it.
#[derive(Clone)]
pub struct SecretText(String);

impl SecretText {
    /// Wraps the text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the header it goes into and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for SecretText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[secret]")
    }
}

/// Seals and opens with the deployment's key.
pub(crate) struct Keeper {
    cipher: XChaCha20Poly1305,
    key_id: String,
    key: [u8; KEY_LENGTH],
}

/// A sealed secret as its row holds it.
pub(crate) struct Sealed {
    pub(crate) nonce: Vec<u8>,
    pub(crate) bytes: Vec<u8>,
}

impl Keeper {
    pub(crate) fn new(key: &[u8; KEY_LENGTH]) -> Self {
        let mut named = b"evalkit key id ".to_vec();
        named.extend_from_slice(key);
        Self {
            cipher: XChaCha20Poly1305::new(key.into()),
            key_id: canonical::hash_bytes(&named)[..16].to_owned(),
            key: *key,
        }
    }

    fn derive(&self, purpose: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"evalkit derived key/1\0");
        hash.update((purpose.len() as u64).to_be_bytes());
        hash.update(purpose.as_bytes());
        hash.update(self.key);
        hash.finalize().into()
    }

    /// Names the key without telling it.
    pub(crate) fn key_id(&self) -> &str {
        &self.key_id
    }

    pub(crate) fn seal(&self, text: &str, bound_to: [&str; 3]) -> Result<Sealed, StoreError> {
        let mut nonce = [0; NONCE_LENGTH];
        fill_random(&mut nonce)?;
        let payload = Payload {
            msg: text.as_bytes(),
            aad: &bind(bound_to),
        };
        let bytes = self
            .cipher
            .encrypt(XNonce::from_slice(&nonce), payload)
            .map_err(|_| StoreError::Unreadable("a secret could not be sealed".to_owned()))?;
        Ok(Sealed {
            nonce: nonce.to_vec(),
            bytes,
        })
    }

    pub(crate) fn open(
        &self,
        nonce: &[u8],
        sealed: &[u8],
        bound_to: [&str; 3],
    ) -> Result<SecretText, StoreError> {
        let broken = || StoreError::Unreadable("a secret does not open with this key".to_owned());
        if nonce.len() != NONCE_LENGTH {
            return Err(broken());
        }
        let payload = Payload {
            msg: sealed,
            aad: &bind(bound_to),
        };
        let bytes = self
            .cipher
            .decrypt(XNonce::from_slice(nonce), payload)
            .map_err(|_| broken())?;
        String::from_utf8(bytes)
            .map(SecretText)
            .map_err(|_| broken())
    }
}

/// Lengths before the parts, so that no two lists of parts read alike.
fn bind(parts: [&str; 3]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

impl Store {
    /// Refuses a database whose secrets were sealed with another key; remembers the key of a new one.
    pub(crate) async fn check_key(&self) -> Result<(), StoreError> {
        const PROBE: [&str; 3] = ["", "key_check", ""];
        let keeper = &self.inner.keeper;
        let sealed = keeper.seal("evalkit", PROBE)?;
        let input = (keeper.key_id().to_owned(), sealed.nonce, sealed.bytes);
        // Looked at and written in one transaction: of two servers that start at once, one brings the key.
        let known = self
            .write(&self.system_ctx(), input, |tx, ctx, (id, nonce, sealed)| {
                Box::pin(async move {
                    const KNOWN: &str = "SELECT key_id, nonce, sealed FROM key_check";
                    let known = tx.all(KNOWN, args![]).await?;
                    if !known.is_empty() {
                        return Ok(known);
                    }
                    tx.execute(
                        "INSERT INTO key_check (key_id, nonce, sealed, created_at) VALUES ($1, $2, $3, $4)",
                        args![id, nonce.clone(), sealed.clone(), ctx.now],
                    )
                    .await?;
                    tx.all(KNOWN, args![]).await
                })
            })
            .await?;
        for row in &known {
            if keeper
                .open(&row.bytes("nonce")?, &row.bytes("sealed")?, PROBE)
                .is_ok()
            {
                return Ok(());
            }
        }
        let needed = known
            .first()
            .map_or_else(|| Ok(String::new()), |row| row.text("key_id"))?;
        Err(StoreError::Folder(format!(
            "The secrets in this database were sealed with another key ({needed}); restore that secret.key from your backup."
        )))
    }
}

/// Stores a secret bound to `origin` and gives its id.
pub(crate) async fn put(
    tx: &mut Tx,
    workspace_id: &str,
    id: &str,
    origin: &str,
    key_id: &str,
    sealed: &Sealed,
    now: i64,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO secret (id, workspace_id, origin, key_id, nonce, sealed, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        args![id, workspace_id, origin, key_id, sealed.nonce.clone(), sealed.bytes.clone(), now],
    )
    .await?;
    Ok(())
}

impl Store {
    /// A key of 32 bytes for one purpose, derived from the deployment's key: the same on every start, and useless for
    /// any other purpose.
    pub fn derived_key(&self, purpose: &str) -> [u8; 32] {
        self.inner.keeper.derive(purpose)
    }
}
