//! Which files make a dataset (`cases.md`, Files): `*.yaml`, `*.yml`, `*.json`, read recursively in path order. Skipped
//! are hidden files, `evalkit.yaml`, `eval_config.yaml`, the `fixtures` folder, what `.evalkitignore` names, and links
//! that lead out of the folder.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use evalkit_lint::SourceFile;
use ignore::WalkBuilder;

use crate::exit::Failure;

/// One byte more than the largest file that is read, so that a larger one is seen to be larger.
const LARGEST: u64 = (8 << 20) + 1;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// In path order, named as the caller named them.
    pub files: Vec<SourceFile>,
    /// Links that were left out.
    pub links: Vec<PathBuf>,
}

/// Finds the files of one path. `fixtures` is the project's own folder of fixture bytes.
pub(crate) fn discover(
    folder: &Path,
    path: &Path,
    fixtures: Option<&Path>,
) -> Result<Found, Failure> {
    let root = folder.join(path);
    if root.is_file() {
        if !has_ending(&root) {
            return Err(Failure::misuse(
                format!("{} is not a case file.", path.display()),
                "Case files end in .yaml, .yml or .json.",
            ));
        }
        let file = read(&root, path)?;
        return Ok(Found {
            files: vec![file],
            links: Vec::new(),
        });
    }
    if !root.is_dir() {
        return Err(Failure::misuse(
            format!("{} does not exist.", path.display()),
            "Check the path.",
        ));
    }
    let found = walk(&root, path, fixtures)?;
    if found.files.is_empty() {
        return Err(Failure::misuse(
            format!("{} holds no case file.", path.display()),
            "Case files end in .yaml, .yml or .json; hidden ones and those that .evalkitignore names are skipped.",
        ));
    }
    Ok(found)
}

fn walk(root: &Path, shown: &Path, fixtures: Option<&Path>) -> Result<Found, Failure> {
    let own_fixtures = fixtures.and_then(|path| path.canonicalize().ok());
    let whole = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut found = Found::default();
    let walk = WalkBuilder::new(root)
        .standard_filters(false)
        .hidden(true)
        .parents(true)
        .follow_links(false)
        .add_custom_ignore_filename(".evalkitignore")
        .filter_entry(move |entry| {
            let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let own = || own_fixtures.is_some() && entry.path().canonicalize().ok() == own_fixtures;
            !(folder && entry.depth() > 0 && (entry.file_name() == "fixtures" || own()))
        })
        .build();
    for entry in walk {
        let entry = entry.map_err(|error| {
            Failure::misuse(
                format!("{} cannot be read: {error}.", shown.display()),
                "Check the rights of its files and folders.",
            )
        })?;
        let path = entry.path();
        if !has_ending(path) || is_configuration(path) {
            continue;
        }
        let kind = entry.file_type();
        if kind.is_some_and(|kind| kind.is_symlink()) {
            let target = path.canonicalize().ok();
            if !target.is_some_and(|target| target.starts_with(&whole) && target.is_file()) {
                found.links.push(path.to_owned());
                continue;
            }
        } else if !kind.is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let inside = path.strip_prefix(root).unwrap_or(path);
        let name = if shown == Path::new(".") {
            inside.to_owned()
        } else {
            shown.join(inside)
        };
        found.files.push(read(path, &name)?);
    }
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn has_ending(path: &Path) -> bool {
    path.extension()
        .and_then(|ending| ending.to_str())
        .is_some_and(|ending| matches!(ending, "yaml" | "yml" | "json"))
}

fn is_configuration(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name == "evalkit.yaml" || name == "eval_config.yaml")
}

fn read(path: &Path, name: &Path) -> Result<SourceFile, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::misuse(
            format!("{} cannot be read: {error}.", name.display()),
            "Check its rights.",
        )
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    let shown = name
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect::<Vec<_>>()
        .join("/")
        .replace("//", "/");
    Ok(SourceFile::new(shown, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path, path: &str) -> Vec<String> {
        let found = discover(folder, Path::new(path), None).unwrap();
        found.files.into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn a_folder_is_read_as_the_specification_says() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join("set").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for name in [
            "b.yaml",
            "a/z.yml",
            "a/c.json",
            "fixtures.yaml",
            "evalkit.yaml",
            "a/eval_config.yaml",
            ".hidden.yaml",
            ".git/x.yaml",
            "fixtures/data.json",
            "notes.md",
            "drafts/d.yaml",
            "drafts/keep.yaml",
            "a/fixtures/y.yaml",
        ] {
            write(name, "");
        }
        write(
            ".evalkitignore",
            "drafts/*\n!drafts/keep.yaml\n# a comment\n",
        );
        assert_eq!(
            names(folder.path(), "set"),
            [
                "set/a/c.json",
                "set/a/z.yml",
                "set/b.yaml",
                "set/drafts/keep.yaml",
                "set/fixtures.yaml"
            ]
        );
        assert_eq!(names(&folder.path().join("set"), ".")[0], "a/c.json");
        assert_eq!(names(folder.path(), "set/b.yaml"), ["set/b.yaml"]);
        for path in ["nowhere", "set/notes.md", "set/.git/.."] {
            let result = discover(folder.path(), Path::new(path), None);
            assert_eq!(result.is_err(), path != "set/.git/..", "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_folder_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let set = folder.path().join("set");
        std::fs::create_dir(&set).unwrap();
        std::fs::write(folder.path().join("secret.yaml"), "s").unwrap();
        std::fs::write(set.join("a.yaml"), "a").unwrap();
        std::os::unix::fs::symlink("../secret.yaml", set.join("b.yaml")).unwrap();
        std::os::unix::fs::symlink("a.yaml", set.join("c.yaml")).unwrap();
        std::os::unix::fs::symlink("..", set.join("up")).unwrap();
        let found = discover(folder.path(), Path::new("set"), None).unwrap();
        let names: Vec<&str> = found.files.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(names, ["set/a.yaml", "set/c.yaml"]);
        assert_eq!(found.links.len(), 1);
    }
}
