//! Passwords: argon2id with 19 MiB, two passes, one lane.

use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};

use crate::error::StoreError;
use crate::folder::fill_random;
use crate::store::Store;

/// Shortest password, in characters.
const SHORTEST: usize = 10;
/// Longest password, in bytes, so that hashing stays cheap to ask for.
const LONGEST: usize = 1_024;

fn argon2() -> Result<Argon2<'static>, StoreError> {
    let params = Params::new(19 * 1024, 2, 1, None)
        .map_err(|error| StoreError::Unreadable(format!("password parameters: {error}")))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// Refuses passwords that are too short or too long.
pub(crate) fn check(password: &str) -> Result<(), StoreError> {
    if password.chars().count() < SHORTEST || password.len() > LONGEST {
        return Err(StoreError::invalid(
            "That password is too short or too long.",
            format!("Use at least {SHORTEST} characters; a few random words are easy to keep."),
        ));
    }
    Ok(())
}

impl Store {
    /// The hash to store. Runs on the blocking pool, two at once at most.
    pub(crate) async fn hash_password(&self, password: &str) -> Result<String, StoreError> {
        let mut salt = [0; 16];
        fill_random(&mut salt)?;
        let password = password.to_owned();
        self.hashing(move || {
            let salt = SaltString::encode_b64(&salt)
                .map_err(|error| StoreError::Unreadable(format!("a salt: {error}")))?;
            argon2()?
                .hash_password(password.as_bytes(), &salt)
                .map(|hash| hash.to_string())
                .map_err(|error| StoreError::Unreadable(format!("a password hash: {error}")))
        })
        .await
    }

    /// Whether the password fits. Without a stored hash it does the same work, so that time tells nothing.
    pub(crate) async fn verify_password(
        &self,
        password: &str,
        stored: Option<String>,
    ) -> Result<bool, StoreError> {
        if password.len() > LONGEST {
            return Ok(false);
        }
        let password = password.to_owned();
        self.hashing(move || {
            let argon2 = argon2()?;
            let Some(stored) = stored else {
                let salt = SaltString::encode_b64(b"nobody has this.")
                    .map_err(|error| StoreError::Unreadable(format!("a salt: {error}")))?;
                drop(argon2.hash_password(password.as_bytes(), &salt));
                return Ok(false);
            };
            let hash = PasswordHash::new(&stored)
                .map_err(|error| StoreError::Unreadable(format!("a password hash: {error}")))?;
            Ok(argon2.verify_password(password.as_bytes(), &hash).is_ok())
        })
        .await
    }

    async fn hashing<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let _place = self
            .inner
            .hashing
            .acquire()
            .await
            .map_err(|_| StoreError::Closed)?;
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|_| StoreError::Closed)?
    }
}
