//! Where things lie in a clone.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// A clone of Evalkit and its target folder.
#[derive(Clone, Debug)]
pub struct Repo {
    root: PathBuf,
    target: PathBuf,
}

impl Repo {
    /// The clone that cargo runs this program for. The target folder is `CARGO_TARGET_DIR`, or `target` in the clone.
    ///
    /// Cargo's word at run time comes first: with a target folder that several clones share, the program may have been
    /// compiled in another one.
    ///
    /// # Errors
    /// When the working directory is gone, or no clone is around the package.
    pub fn find() -> Result<Self> {
        let package = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = package
            .ancestors()
            .find(|folder| folder.join("xtask/Cargo.toml").is_file())
            .with_context(|| format!("no clone of Evalkit around {}", package.display()))?
            .to_path_buf();
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => std::env::current_dir()?.join(folder),
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// A repository rooted elsewhere, for tests.
    #[cfg(test)]
    pub fn at(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            target: root.join("target"),
        }
    }

    /// The root of the clone.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path in the clone.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// A path in the target folder.
    pub fn target(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.target.join(relative)
    }

    /// The path of `file` relative to the root, with `/` between its parts.
    pub fn relative(&self, file: &Path) -> String {
        let relative = file.strip_prefix(&self.root).unwrap_or(file);
        let parts: Vec<_> = relative
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect();
        parts.join("/")
    }

    /// All files under `relative` (or that file itself), sorted, without build output and npm packages.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn files(&self, relative: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
        Self::files_of(&self.path(relative))
    }

    /// The same for any folder or file.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn files_of(start: &Path) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        if start.is_file() {
            found.push(start.to_path_buf());
        } else if start.is_dir() {
            collect(start, &mut found)?;
        }
        found.sort();
        Ok(found)
    }
}

/// Folders that hold output, packages or history, never sources.
fn is_output(name: &str) -> bool {
    matches!(name, ".git" | "node_modules" | "target" | ".evalkit")
        || name.starts_with("target-")
        || name == "test-results"
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name();
        if kind.is_dir() {
            if !is_output(&name.to_string_lossy()) {
                collect(&entry.path(), found)?;
            }
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_folders_are_not_sources() -> Result<()> {
        let folder = tempfile::tempdir()?;
        for file in ["a/x.rs", "target/y.rs", "node_modules/z.js", "b.toml"] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().context("no parent")?)?;
            fs::write(path, "")?;
        }
        let repo = Repo::at(folder.path());
        let names: Vec<_> = repo
            .files("")?
            .iter()
            .map(|file| repo.relative(file))
            .collect();
        assert_eq!(names, ["a/x.rs", "b.toml"]);
        Ok(())
    }
}
