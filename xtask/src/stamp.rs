//! Stamps: a step is skipped when the content of its inputs is what it was when it last succeeded.
//!
//! Contents are hashed, not times, so that switching branches back and forth, a fresh checkout or a
//! restored cache cost nothing. The hash is the standard library's: nobody attacks a build by collision, and
//! should it change with a new Rust, everything is rebuilt anyway.

use std::{
    fs,
    hash::{DefaultHasher, Hasher as _},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::repo::Repo;

/// The inputs of a step, in the order they are added.
pub struct Inputs {
    /// Two hashes over the same bytes, started differently: 128 bits.
    hash: [DefaultHasher; 2],
}

impl Inputs {
    /// No inputs yet; `step` names the step and the version of its recipe.
    pub fn of(step: &str) -> Self {
        let mut hash = [DefaultHasher::new(), DefaultHasher::new()];
        hash[1].write_u8(1);
        Self { hash }.text("step", step)
    }

    /// A value that decides the output.
    pub fn text(mut self, name: &str, value: &str) -> Self {
        for part in [name, value] {
            self.update(part.as_bytes());
        }
        self
    }

    /// An environment variable that decides the output; unset differs from empty.
    pub fn env(self, name: &str) -> Self {
        let value =
            std::env::var(name).map_or_else(|_| "unset".into(), |value| format!("={value}"));
        self.text(name, &value)
    }

    /// Every file under a path of the clone. A missing path is an input too.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn files(mut self, repo: &Repo, relative: &str) -> Result<Self> {
        self = self.text("path", relative);
        for file in repo.files(relative)? {
            let content =
                fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            self = self.text("file", &repo.relative(&file));
            self.update(&content);
        }
        Ok(self)
    }

    /// A file outside the clone, by its content.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn file(mut self, path: &Path) -> Result<Self> {
        let content = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        self.update(&content);
        Ok(self)
    }

    /// The hash of all inputs, in hex.
    pub fn finish(self) -> String {
        let [one, two] = self.hash.map(|hash| hash.finish());
        format!("{one:016x}{two:016x}")
    }

    /// The length goes first, so that neighbouring inputs do not run together.
    fn update(&mut self, bytes: &[u8]) {
        for hash in &mut self.hash {
            hash.write_usize(bytes.len());
            hash.write(bytes);
        }
    }
}

/// A file that remembers the inputs of the last success.
pub struct Stamp {
    path: PathBuf,
}

impl Stamp {
    /// The stamp of a step; the folder need not exist yet.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Whether the last success had these inputs and every output is still as it was left.
    pub fn holds(&self, inputs: &str, outputs: &[&Path]) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|kept| kept == Self::text(inputs, outputs))
    }

    /// Remembers a success.
    ///
    /// # Errors
    /// When the stamp cannot be written.
    pub fn set(&self, inputs: &str, outputs: &[&Path]) -> Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&self.path, Self::text(inputs, outputs))
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Size and time of the outputs stand beside the inputs: another build into the same target folder
    /// (a second clone, plain `cargo build`) is then noticed.
    fn text(inputs: &str, outputs: &[&Path]) -> String {
        let mut text = format!("{inputs}\n");
        for output in outputs {
            let state = fs::metadata(output).ok().and_then(|meta| {
                let time = meta.modified().ok()?;
                let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
                Some(format!("{} {}", meta.len(), since.as_nanos()))
            });
            text.push_str(&state.unwrap_or_else(|| format!("missing {}", std::process::id())));
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_holds_until_an_input_or_output_changes() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let repo = Repo::at(folder.path());
        let (source, output) = (repo.path("a.txt"), repo.path("out"));
        fs::write(&source, "one")?;
        fs::write(&output, "built")?;
        let inputs = || -> Result<String> { Ok(Inputs::of("t").files(&repo, "a.txt")?.finish()) };
        let stamp = Stamp::new(repo.target("stamp"));
        assert!(!stamp.holds(&inputs()?, &[&output]));
        stamp.set(&inputs()?, &[&output])?;
        assert!(stamp.holds(&inputs()?, &[&output]));
        fs::write(&source, "two")?;
        assert!(!stamp.holds(&inputs()?, &[&output]));
        fs::write(&source, "one")?;
        assert!(stamp.holds(&inputs()?, &[&output]));
        fs::remove_file(&output)?;
        assert!(!stamp.holds(&inputs()?, &[&output]));
        Ok(())
    }

    #[test]
    fn neighbouring_texts_do_not_run_together() {
        let one = Inputs::of("t").text("a", "bc").finish();
        let two = Inputs::of("t").text("ab", "c").finish();
        assert_ne!(one, two);
    }
}
