//! The data folder: `evalkit.db`, `blobs/aa/bb/<64 hex>`, `secret.key`, and the lock that keeps a second process out.
//!
//! With PostgreSQL the folder holds bytes alone. Servers of one database share it, so they share the lock too, and a
//! server with an embedded database stays out.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// An opened and locked data folder. The lock goes with the process, so a kill leaves nothing stale.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    /// Held for its lock.
    _lock: File,
}

/// Length of the key in bytes.
pub(crate) const KEY_LENGTH: usize = 32;

impl Folder {
    /// Makes the folder when it is missing and takes its lock, for this process alone when the database lies in it.
    pub(crate) fn open(root: &Path, alone: bool) -> Result<Self, StoreError> {
        make_private(root)?;
        make_private(&root.join("blobs"))?;
        let path = root.join("lock");
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| StoreError::io(&path, error))?;
        let locked = if alone {
            lock.try_lock()
        } else {
            lock.try_lock_shared()
        };
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Folder(format!(
                    "Another process uses the data folder {}; stop it, or give this one its own with EVALKIT_DATA.",
                    root.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io(path, error)),
        }
        Ok(Self {
            root: root.to_owned(),
            _lock: lock,
        })
    }

    /// Where the embedded database lies.
    pub(crate) fn database(&self) -> PathBuf {
        self.root.join("evalkit.db")
    }

    /// The folder itself.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where bytes with this hash lie; the hash is 64 hex digits, checked by the caller.
    pub(crate) fn blob(&self, sha256: &str) -> PathBuf {
        self.root
            .join("blobs")
            .join(&sha256[0..2])
            .join(&sha256[2..4])
            .join(sha256)
    }

    /// The key that secrets are sealed with: in the file given, else in the folder, made when both it and the database
    /// are new.
    pub(crate) fn key(&self, given: Option<&Path>) -> Result<[u8; KEY_LENGTH], StoreError> {
        if given.is_some() {
            return Self::given_key(given);
        }
        let path = self.root.join("secret.key");
        match File::open(&path) {
            Ok(file) => read_key(&path, file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if self.database().exists() {
                    return Err(StoreError::Folder(format!(
                        "{} is missing, and a database lies beside its place; restore the key from your backup.",
                        path.display()
                    )));
                }
                make_key(&path)
            }
            Err(error) => Err(StoreError::io(path, error)),
        }
    }
}

impl Folder {
    /// The key in the file that the configuration names. Every server of a shared database needs the same, so it is
    /// never made here.
    pub(crate) fn given_key(file: Option<&Path>) -> Result<[u8; KEY_LENGTH], StoreError> {
        let Some(path) = file else {
            return Err(StoreError::Folder(format!(
                "PostgreSQL needs a key that you keep: run `(umask 077; head -c {KEY_LENGTH} /dev/urandom > secret.key)` and name the file in EVALKIT_SECRET_KEY_FILE or `secret_key_file`."
            )));
        };
        match File::open(path) {
            Ok(file) => read_key(path, file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(StoreError::Folder(format!(
                    "The key file {} is not there; restore it, or correct EVALKIT_SECRET_KEY_FILE or `secret_key_file`.",
                    path.display()
                )))
            }
            Err(error) => Err(StoreError::io(path, error)),
        }
    }
}

fn make_private(path: &Path) -> Result<(), StoreError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder
        .create(path)
        .map_err(|error| StoreError::io(path, error))
}

fn read_key(path: &Path, file: File) -> Result<[u8; KEY_LENGTH], StoreError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = file
            .metadata()
            .map_err(|error| StoreError::io(path, error))?
            .permissions()
            .mode();
        if mode & 0o077 != 0 {
            return Err(StoreError::Folder(format!(
                "Others can read {}; run `chmod 600 {}`.",
                path.display(),
                path.display()
            )));
        }
    }
    let mut bytes = Vec::new();
    file.take(KEY_LENGTH as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| StoreError::io(path, error))?;
    bytes.try_into().map_err(|wrong: Vec<u8>| {
        StoreError::Folder(format!(
            "{} holds {} bytes where {KEY_LENGTH} are needed; restore the key from your backup.",
            path.display(),
            wrong.len()
        ))
    })
}

fn make_key(path: &Path) -> Result<[u8; KEY_LENGTH], StoreError> {
    let mut key = [0; KEY_LENGTH];
    fill_random(&mut key)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let write = |path: &Path| -> std::io::Result<()> {
        let mut file = options.open(path)?;
        file.write_all(&key)?;
        file.sync_all()
    };
    write(path).map_err(|error| StoreError::io(path, error))?;
    Ok(key)
}

/// Random bytes from the operating system.
pub(crate) fn fill_random(bytes: &mut [u8]) -> Result<(), StoreError> {
    getrandom::fill(bytes).map_err(|error| {
        StoreError::Folder(format!(
            "The operating system gives no random bytes: {error}"
        ))
    })
}
