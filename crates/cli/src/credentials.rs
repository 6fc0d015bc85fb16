//! Access tokens, kept by the origin that issued them and sent to no other (`config.md`, `server`).

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::exit::Failure;

/// The tokens of this user: `credentials.json` in the platform's configuration folder, readable by its owner alone.
#[derive(Debug)]
pub(crate) struct Credentials {
    file: Option<PathBuf>,
    tokens: BTreeMap<String, Stored>,
}

/// A token with whose it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// The token.
    pub token: String,
    /// The person's name when it was stored.
    #[serde(default)]
    pub name: String,
}

impl Credentials {
    /// Reads the file; without one there are no tokens.
    pub(crate) fn read(folder: Option<&Path>) -> Result<Self, Failure> {
        let file = folder.map(|folder| folder.join("credentials.json"));
        let tokens = match &file {
            Some(file) if file.exists() => {
                let text =
                    std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
                serde_json::from_str(&text).map_err(|error| {
                    Failure::misuse(
                        format!(
                            "{} is not what `evalkit login` writes: {error}.",
                            file.display()
                        ),
                        "Remove it and log in again.",
                    )
                })?
            }
            _ => BTreeMap::new(),
        };
        Ok(Self { file, tokens })
    }

    /// The token of an origin.
    pub(crate) fn of(&self, origin: &str) -> Option<&Stored> {
        self.tokens.get(origin)
    }

    /// Keeps a token.
    pub(crate) fn keep(&mut self, origin: &str, stored: Stored) -> Result<(), Failure> {
        self.tokens.insert(origin.to_owned(), stored);
        self.write()
    }

    /// Forgets the token of an origin; false when there was none.
    pub(crate) fn forget(&mut self, origin: &str) -> Result<bool, Failure> {
        let known = self.tokens.remove(origin).is_some();
        if known {
            self.write()?;
        }
        Ok(known)
    }

    /// Writes a new file beside the old one and puts it in its place, so that a crash leaves one of the two whole.
    fn write(&self) -> Result<(), Failure> {
        let Some(file) = &self.file else {
            return Err(Failure::misuse(
                "This user has no configuration folder.",
                "Set HOME, or pass the token in EVALKIT_TOKEN.",
            ));
        };
        let failed = |error: std::io::Error| unreadable(file, &error);
        let folder = file.parent().unwrap_or_else(|| Path::new("."));
        std::fs::create_dir_all(folder).map_err(failed)?;
        let text = serde_json::to_string_pretty(&self.tokens).unwrap_or_default();
        let new = folder.join(".credentials.json.new");
        // What an interrupted write left behind goes first, so that the file is made anew with its rights.
        let _ = std::fs::remove_file(&new);
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut opened = options.open(&new).map_err(failed)?;
        opened.write_all(text.as_bytes()).map_err(failed)?;
        opened.sync_all().map_err(failed)?;
        std::fs::rename(&new, file).map_err(failed)
    }
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::misuse(
        format!("{} cannot be used: {error}.", file.display()),
        "Check its rights.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_kept_by_origin_and_for_the_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("evalkit");
        let stored = |token: &str| Stored {
            token: token.to_owned(),
            name: "mara".to_owned(),
        };
        let mut credentials = Credentials::read(Some(&path)).unwrap();
        credentials
            .keep("http://127.0.0.1:3000", stored("evk_a"))
            .unwrap();
        credentials
            .keep("https://evalkit.example", stored("evk_b"))
            .unwrap();
        let mut again = Credentials::read(Some(&path)).unwrap();
        assert_eq!(again.of("https://evalkit.example").unwrap().token, "evk_b");
        assert!(again.of("https://evalkit.example:8443").is_none());
        assert!(again.forget("https://evalkit.example").unwrap());
        assert!(!again.forget("https://evalkit.example").unwrap());
        assert!(
            Credentials::read(Some(&path))
                .unwrap()
                .of("https://evalkit.example")
                .is_none()
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(path.join("credentials.json"))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert!(
            Credentials::read(None)
                .unwrap()
                .keep("a", stored("b"))
                .is_err()
        );
    }
}
