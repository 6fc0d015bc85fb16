//! A dataset as a command reads it: its files, linted with what the project knows.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use evalkit_core::overlay::NamedOverlay;
use evalkit_lint::{
    FACTS_SCHEMA, FixtureFile, LintFacts, LintReport, ParsedDataset, SourceFile, lint, nearest,
};
use sha2::{Digest as _, Sha256};

use crate::command::Context;
use crate::discover::discover;
use crate::exit::{Exit, Failure};
use crate::project::Project;

/// Files with what lint made of them.
#[derive(Debug)]
pub(crate) struct Dataset {
    /// In path order.
    pub files: Vec<SourceFile>,
    /// What was found and understood.
    pub report: LintReport,
}

impl Dataset {
    /// Reads and lints paths together. `facts` are what the caller was given; the project adds its words and the bytes
    /// in its fixture folder.
    pub(crate) fn read<'p>(
        paths: impl IntoIterator<Item = &'p Path>,
        project: &Project,
        mut facts: LintFacts,
        context: &mut Context,
    ) -> Result<Self, Failure> {
        let mut files: Vec<SourceFile> = Vec::new();
        for path in paths {
            let found = discover(
                &context.environment.folder,
                path,
                project.fixtures.as_deref(),
            )?;
            for link in found.links {
                context.console.note(format!(
                    "skipped {}: a link that leads out of the folder",
                    link.display()
                ));
            }
            files.extend(found.files);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        let words = |own: &[String], given: Option<Vec<String>>| {
            let mut all = given.unwrap_or_default();
            all.extend(own.iter().cloned());
            (project.file.is_some() || !all.is_empty()).then_some(all)
        };
        facts.jargon = words(&project.jargon, facts.jargon);
        facts.subject_terms = words(&project.subject_terms, facts.subject_terms);
        let mut report = lint(&files, &facts);
        if facts.fixture_files.is_none()
            && let Some(folder) = &project.fixtures
        {
            facts.fixture_files = local_bytes(folder, &report.dataset);
            if facts.fixture_files.is_some() {
                report = lint(&files, &facts);
            }
        }
        Ok(Self { files, report })
    }

    /// The dataset, when lint found no error in it.
    ///
    /// # Errors
    /// Exit 1 with the number of errors; they were printed.
    pub(crate) fn sound(self, context: &mut Context) -> Result<ParsedDataset, Failure> {
        if self.report.has_errors() {
            let errors = self.report.count(evalkit_lint::Severity::Error);
            let text = crate::diagnostics::text(
                &self.report.document(self.files.len(), false),
                &self.files,
                context.console.colour_beside,
            );
            context.console.warn(text.trim_end());
            return Err(Failure::new(
                Exit::NotMet,
                format!(
                    "The cases have {}.",
                    crate::diagnostics::count(errors, "error")
                ),
                "Mend them first; `evalkit lint` shows them.",
            ));
        }
        Ok(self.report.dataset)
    }
}

/// Reads a facts file (`formats.md`, Lint facts).
pub(crate) fn read_facts(folder: &Path, path: &Path) -> Result<LintFacts, Failure> {
    let name = path.display();
    let text = std::fs::read_to_string(folder.join(path)).map_err(|error| {
        Failure::misuse(
            format!("{name} cannot be read: {error}."),
            "Check the path.",
        )
    })?;
    let facts: LintFacts = serde_json::from_str(&text).map_err(|error| {
        Failure::misuse(
            format!("{name} holds no lint facts: {error}."),
            format!("A facts file is JSON with the schema `{FACTS_SCHEMA}`."),
        )
    })?;
    if let Some(schema) = facts
        .schema
        .as_deref()
        .filter(|schema| *schema != FACTS_SCHEMA)
    {
        return Err(Failure::misuse(
            format!("{name} has the schema `{schema}`."),
            format!("This version reads `{FACTS_SCHEMA}`."),
        ));
    }
    Ok(facts)
}

/// The overlays of a dataset, each named after its file, for origins.
pub(crate) fn named_overlays(dataset: &ParsedDataset) -> Vec<NamedOverlay> {
    dataset
        .overlays
        .iter()
        .map(|parsed| NamedOverlay {
            dataset: Path::new(&parsed.file)
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
                .unwrap_or_default(),
            overlay: parsed.overlay.clone(),
        })
        .collect()
}

/// The failure of a case id that the files do not hold, with the nearest one.
pub(crate) fn no_such_case(id: &str, dataset: &ParsedDataset) -> Failure {
    let ids = dataset.cases.iter().map(|parsed| parsed.case.id.as_str());
    let next = match nearest(id, ids) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => "Check the id.".to_owned(),
    };
    Failure::misuse(format!("There is no case `{id}` in these files."), next)
}

/// The hashes of the declared fixtures. One whose bytes are not here may well lie on the server, so it is taken at its
/// word: only bytes that differ are a finding offline. `None` when no declared fixture is here.
fn local_bytes(folder: &Path, dataset: &ParsedDataset) -> Option<BTreeMap<String, FixtureFile>> {
    let root = folder.canonicalize().ok()?;
    let mut any = false;
    let mut files = BTreeMap::new();
    for (key, entry) in &dataset.registry {
        let hashed = hash(&root, key);
        any |= hashed.is_some();
        let declared = || FixtureFile {
            sha256: entry.sha256.clone(),
            bytes: 0,
        };
        files.insert(key.clone(), hashed.unwrap_or_else(declared));
    }
    any.then_some(files)
}

/// The hash of a file that lies directly in a folder; a link is not followed.
fn hash(root: &Path, key: &str) -> Option<FixtureFile> {
    let path = root.join(key);
    if !path.symlink_metadata().ok()?.is_file() || path.parent() != Some(root) {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let mut hasher = Sha256::new();
    let mut bytes = 0u64;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n = file.read(&mut buffer).ok()?;
        if n == 0 {
            break;
        }
        bytes += n as u64;
        hasher.update(&buffer[..n]);
    }
    Some(FixtureFile {
        sha256: hex::encode(hasher.finalize()),
        bytes,
    })
}
