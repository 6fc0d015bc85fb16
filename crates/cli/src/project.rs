//! `evalkit.yaml`, the project file (`config.md`): found by walking up, closed keys, the nearest name on a slip.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evalkit_core::name::{Address, is_slug};
use evalkit_lint::nearest;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::exit::Failure;

/// The server when nothing names another one.
pub(crate) const DEFAULT_SERVER: &str = "http://127.0.0.1:3000";

const NAME: &str = "evalkit.yaml";

/// The largest project file, bytes.
const LARGEST: usize = 1 << 20;

/// A project, or what holds without a project file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Project {
    /// The file, when there is one.
    pub file: Option<PathBuf>,
    /// `server`, as written.
    pub server: Option<String>,
    /// The folder with fixture bytes; only with a project file.
    pub fixtures: Option<PathBuf>,
    /// Slug to path.
    pub datasets: BTreeMap<String, PathBuf>,
    /// `dataset@workspace`.
    pub bases: Vec<Address>,
    /// Words of the harness.
    pub jargon: Vec<String>,
    /// The datasets' own subjects.
    pub subject_terms: Vec<String>,
    /// `profile: disconnected`.
    pub disconnected: bool,
    /// Hosts that a disconnected project may reach.
    pub hosts: Vec<String>,
    /// How the gate starts and reaches a local agent.
    pub gate: Option<Gate>,
}

/// `gate`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Gate {
    /// The command that starts the agent.
    pub start: Option<Vec<String>>,
    /// The path that says it is ready.
    pub health: Option<String>,
    /// The path of its chat.
    pub chat: Option<String>,
    /// The gate's name on a server.
    pub name: Option<String>,
}

const KEYS: &[&str] = &[
    "server",
    "fixtures",
    "datasets",
    "bases",
    "jargon",
    "subject_terms",
    "profile",
    "hosts",
    "gate",
];
const GATE_KEYS: &[&str] = &["start", "health", "chat", "name"];

impl Project {
    /// The project of the working directory: the nearest `evalkit.yaml` upwards of it, else upwards of `path`.
    pub(crate) fn find(folder: &Path, path: Option<&Path>) -> Result<Self, Failure> {
        let beside = path.map(|path| folder.join(path));
        let starts = [Some(folder.to_owned()), beside];
        for start in starts.iter().flatten() {
            for above in start.ancestors() {
                let file = above.join(NAME);
                if file.is_file() {
                    return Self::read(&file);
                }
            }
        }
        Ok(Self::default())
    }

    /// Reads one file.
    pub(crate) fn read(file: &Path) -> Result<Self, Failure> {
        let name = file.display();
        let bytes = std::fs::read(file).map_err(|error| {
            Failure::misuse(
                format!("{name} cannot be read: {error}."),
                "Check its rights.",
            )
        })?;
        if bytes.len() > LARGEST {
            return Err(Failure::misuse(
                format!("{name} is larger than 1 MiB."),
                "A project file holds names and paths only.",
            ));
        }
        let options = serde_saphyr::options! { strict_booleans: true };
        let value: Option<Value> =
            serde_saphyr::from_slice_with_options(&bytes, options).map_err(|error| {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default();
                Failure::misuse(
                    format!("{name} is not valid: {first}."),
                    "Mend it and try again.",
                )
            })?;
        let mut map = match value {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(map)) => map,
            Some(_) => {
                return Err(Failure::misuse(
                    format!("{name} is not a mapping."),
                    format!("It may have: {}.", KEYS.join(", ")),
                ));
            }
        };
        closed(&map, KEYS, &name.to_string())?;
        if let Some(Value::Object(gate)) = map.get("gate") {
            closed(gate, GATE_KEYS, &format!("`gate` in {name}"))?;
        }
        let root = file.parent().unwrap_or_else(|| Path::new("."));
        let mut field = Field {
            map: &mut map,
            file,
        };
        let fixtures: Option<PathBuf> = field.take("fixtures")?;
        let datasets: BTreeMap<String, PathBuf> = field.take("datasets")?.unwrap_or_default();
        let bases: Vec<String> = field.take("bases")?.unwrap_or_default();
        let profile: Option<String> = field.take("profile")?;
        let project = Self {
            server: field.take("server")?,
            jargon: field.take("jargon")?.unwrap_or_default(),
            subject_terms: field.take("subject_terms")?.unwrap_or_default(),
            hosts: field.take("hosts")?.unwrap_or_default(),
            gate: field.take("gate")?,
            fixtures: Some(root.join(fixtures.unwrap_or_else(|| PathBuf::from("fixtures")))),
            disconnected: match profile.as_deref() {
                None | Some("default") => false,
                Some("disconnected") => true,
                Some(other) => {
                    return Err(field.refuse(
                        "profile",
                        &format!("`{other}` is no profile"),
                        "Write `default` or `disconnected`.",
                    ));
                }
            },
            datasets: datasets
                .into_iter()
                .map(|(slug, path)| {
                    if is_slug(&slug) {
                        Ok((slug, root.join(path)))
                    } else {
                        Err(field.refuse(
                            "datasets",
                            &format!("`{slug}` is no dataset's name"),
                            "Use lower-case letters, digits and `-`, at most 63.",
                        ))
                    }
                })
                .collect::<Result<_, _>>()?,
            bases: bases
                .into_iter()
                .map(|base| {
                    let address = Address::parse(&base).ok().filter(|a| a.workspace.is_some());
                    address.ok_or_else(|| {
                        field.refuse(
                            "bases",
                            &format!("`{base}` names no dataset of a workspace"),
                            "Write `dataset@workspace`.",
                        )
                    })
                })
                .collect::<Result<_, _>>()?,
            file: Some(file.to_owned()),
        };
        Ok(project)
    }
}

fn closed(map: &Map<String, Value>, keys: &[&str], place: &str) -> Result<(), Failure> {
    for key in map.keys() {
        if !keys.contains(&key.as_str()) {
            let next = match nearest(key, keys.iter().copied()) {
                Some(near) => format!("Did you mean `{near}`?"),
                None => format!("It may have: {}.", keys.join(", ")),
            };
            return Err(Failure::misuse(
                format!("{place}: the key `{key}` is not known."),
                next,
            ));
        }
    }
    Ok(())
}

struct Field<'a> {
    map: &'a mut Map<String, Value>,
    file: &'a Path,
}

impl Field<'_> {
    fn take<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>, Failure> {
        match self.map.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => serde_json::from_value(value).map(Some).map_err(|error| {
                self.refuse(
                    key,
                    &error.to_string(),
                    "See the project file in the documentation.",
                )
            }),
        }
    }

    fn refuse(&self, key: &str, why: &str, next: &str) -> Failure {
        Failure::misuse(format!("{}: `{key}`: {why}.", self.file.display()), next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Project, Failure> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(NAME);
        std::fs::write(&file, text).expect("a file");
        Project::read(&file)
    }

    #[test]
    fn keys_are_closed_and_the_nearest_is_named() {
        let failure = read("datasetz: {a: b}\n").unwrap_err();
        assert_eq!(failure.exit.code(), 3);
        assert!(
            failure.message.contains("`datasetz`"),
            "{}",
            failure.message
        );
        assert_eq!(failure.next, "Did you mean `datasets`?");
        let failure = read("gate: {helth: /x}\n").unwrap_err();
        assert_eq!(failure.next, "Did you mean `health`?");
    }

    #[test]
    fn values_are_checked_and_paths_start_at_the_file() {
        let project =
            read("subject_terms: [no, server]\ndatasets: {desk: cases}\nbases: [finance@dev]\n")
                .unwrap();
        assert_eq!(project.subject_terms, ["no", "server"]);
        assert!(project.datasets["desk"].ends_with("cases"));
        assert!(project.fixtures.is_some_and(|f| f.ends_with("fixtures")));
        for text in [
            "datasets: {Desk: cases}\n",
            "bases: [finance]\n",
            "profile: online\n",
            "jargon: word\n",
            "server: [a]\n",
            "a: [\n",
            "- a\n",
            "server: a\nserver: b\n",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read("").is_ok());
        assert!(read("# nothing\n").is_ok());
    }
}
