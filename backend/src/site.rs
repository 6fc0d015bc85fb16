//! The site's files: hashed assets that are cached for ever, the rest fresh; compressed beforehand, chosen by `Accept-Encoding`.
//!
//! They are read once at start, from `EVALKIT_SITE_DIR`, from the copy in the binary (feature `embed`), or from the folder
//! that `cargo xtask build` leaves beside the binary's own.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue,
    IF_NONE_MATCH, VARY,
};
use axum::response::{IntoResponse, Response};
use evalkit_app::shell::Assets;
use sha2::{Digest, Sha256};

#[cfg(feature = "embed")]
static EMBEDDED: include_dir::Dir<'static> = include_dir::include_dir!("$EVALKIT_SITE_DIR");

/// The files by address.
#[derive(Debug, Clone, Default)]
pub struct Site {
    files: Arc<HashMap<String, File>>,
    assets: Assets,
}

#[derive(Debug, Default)]
struct File {
    plain: Bytes,
    brotli: Option<Bytes>,
    gzip: Option<Bytes>,
    etag: Option<HeaderValue>,
}

/// Why the site is not there. The server starts all the same: pages then work without styles and script.
#[derive(Debug, thiserror::Error)]
#[error(
    "S-SITE: the files of the web app are not at {place}: {why}. Run `cargo xtask build`; pages work without styles until then."
)]
pub struct NoSite {
    place: String,
    why: String,
}

#[derive(serde::Deserialize)]
struct Manifest {
    files: BTreeMap<String, String>,
    /// The modules that a chunk of pages needs beside the main one.
    #[serde(default)]
    chunks: BTreeMap<String, Vec<String>>,
}

impl Site {
    /// Finds and reads the site.
    ///
    /// # Errors
    /// [`NoSite`] when there is none; the caller goes on with an empty one.
    pub fn load(folder: Option<&Path>) -> Result<Self, NoSite> {
        if let Some(folder) = folder {
            return Self::from_files(read_folder(folder)?, &folder.display().to_string());
        }
        #[cfg(feature = "embed")]
        {
            let mut files = HashMap::new();
            embedded(&EMBEDDED, &mut files);
            Self::from_files(files, "the binary")
        }
        #[cfg(not(feature = "embed"))]
        {
            let folder = beside_the_binary();
            Self::from_files(read_folder(&folder)?, &folder.display().to_string())
        }
    }

    fn from_files(raw: HashMap<String, Bytes>, place: &str) -> Result<Self, NoSite> {
        let missing = |why: String| NoSite {
            place: place.to_owned(),
            why,
        };
        let manifest = raw
            .get("/manifest.json")
            .ok_or_else(|| missing("there is no manifest.json".to_owned()))?;
        let manifest: Manifest = serde_json::from_slice(manifest)
            .map_err(|error| missing(format!("manifest.json is not readable ({error})")))?;
        let mut files: HashMap<String, File> = HashMap::new();
        for (path, bytes) in raw {
            if let Some(base) = path.strip_suffix(".br") {
                files.entry(base.to_owned()).or_default().brotli = Some(bytes);
            } else if let Some(base) = path.strip_suffix(".gz") {
                files.entry(base.to_owned()).or_default().gzip = Some(bytes);
            } else {
                let file = files.entry(path).or_default();
                let hash = hex::encode(&Sha256::digest(&bytes)[..12]);
                file.etag = HeaderValue::from_str(&format!("W/\"{hash}\"")).ok();
                file.plain = bytes;
            }
        }
        Ok(Self {
            files: Arc::new(files),
            assets: Assets::new(manifest.files, manifest.chunks),
        })
    }

    /// The addresses for the document's head.
    pub fn assets(&self) -> Assets {
        self.assets.clone()
    }

    /// Answers a file; `None` when there is none at this address.
    pub fn answer(&self, path: &str, headers: &HeaderMap) -> Option<Response> {
        let file = self.files.get(path).filter(|file| file.etag.is_some())?;
        let mut out = HeaderMap::new();
        let cache = if path.starts_with("/assets/") {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        out.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        out.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
        if let Some(etag) = &file.etag {
            out.insert(ETAG, etag.clone());
            if headers.get(IF_NONE_MATCH) == Some(etag) {
                return Some((StatusCode::NOT_MODIFIED, out).into_response());
            }
        }
        out.insert(CONTENT_TYPE, HeaderValue::from_static(mime(path)));
        let accepted = headers
            .get(ACCEPT_ENCODING)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let body = match (&file.brotli, &file.gzip) {
            (Some(bytes), _) if accepts(accepted, "br") => {
                out.insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
                bytes.clone()
            }
            (_, Some(bytes)) if accepts(accepted, "gzip") => {
                out.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                bytes.clone()
            }
            _ => file.plain.clone(),
        };
        Some((out, body).into_response())
    }
}

/// Whether `Accept-Encoding` names a coding without refusing it by `q=0`.
fn accepts(header: &str, coding: &str) -> bool {
    header.split(',').any(|part| {
        let mut parts = part.split(';').map(str::trim);
        parts.next() == Some(coding)
            && !parts.any(|parameter| matches!(parameter, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

fn mime(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("css") => "text/css; charset=utf-8",
        Some("woff2") => "font/woff2",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("json") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// `<folder of the binary>/../site`.
#[cfg(not(feature = "embed"))]
fn beside_the_binary() -> PathBuf {
    std::env::current_exe()
        .ok()
        .and_then(|exe| Some(exe.parent()?.parent()?.join("site")))
        .unwrap_or_else(|| PathBuf::from("site"))
}

fn read_folder(folder: &Path) -> Result<HashMap<String, Bytes>, NoSite> {
    let mut files = HashMap::new();
    let mut open: Vec<PathBuf> = vec![folder.to_path_buf()];
    let failed = |error: &std::io::Error| NoSite {
        place: folder.display().to_string(),
        why: error.to_string(),
    };
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).map_err(|error| failed(&error))? {
            let path = entry.map_err(|error| failed(&error))?.path();
            if path.is_dir() {
                open.push(path);
            } else if let Some(name) = path.strip_prefix(folder).ok().and_then(Path::to_str) {
                let bytes = std::fs::read(&path).map_err(|error| failed(&error))?;
                files.insert(format!("/{}", name.replace('\\', "/")), Bytes::from(bytes));
            }
        }
    }
    Ok(files)
}

#[cfg(feature = "embed")]
fn embedded(folder: &include_dir::Dir<'static>, files: &mut HashMap<String, Bytes>) {
    for file in folder.files() {
        if let Some(name) = file.path().to_str() {
            files.insert(format!("/{name}"), Bytes::from_static(file.contents()));
        }
    }
    for inner in folder.dirs() {
        embedded(inner, files);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        let manifest =
            br#"{"version":1,"files":{"app.js":"/assets/app-0a.js","robots.txt":"/robots.txt"}}"#;
        let raw: [(&str, &[u8]); 5] = [
            ("/manifest.json", manifest),
            ("/assets/app-0a.js", b"plain"),
            ("/assets/app-0a.js.br", b"brotli"),
            ("/assets/app-0a.js.gz", b"gzip"),
            ("/robots.txt", b"User-agent: *"),
        ];
        let raw = raw
            .into_iter()
            .map(|(path, bytes)| (path.to_owned(), Bytes::copy_from_slice(bytes)))
            .collect();
        Site::from_files(raw, "the test").expect("a site")
    }

    fn answer(path: &str, accepts: &'static str) -> Option<Response> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(accepts));
        site().answer(path, &headers)
    }

    #[test]
    fn hashed_files_are_compressed_and_kept() {
        let response = answer("/assets/app-0a.js", "gzip, deflate, br").expect("there");
        assert_eq!(response.headers()[CONTENT_ENCODING], "br");
        assert_eq!(
            response.headers()[CACHE_CONTROL],
            "public, max-age=31536000, immutable"
        );
        assert_eq!(
            response.headers()[CONTENT_TYPE],
            "text/javascript; charset=utf-8"
        );
        let response = answer("/assets/app-0a.js", "gzip;q=1.0, br;q=0").expect("there");
        assert_eq!(response.headers()[CONTENT_ENCODING], "gzip");
        assert!(
            !answer("/assets/app-0a.js", "")
                .expect("there")
                .headers()
                .contains_key(CONTENT_ENCODING)
        );
    }

    #[test]
    fn the_rest_is_asked_for_again() {
        let response = answer("/robots.txt", "br").expect("there");
        assert_eq!(response.headers()[CACHE_CONTROL], "no-cache");
        let mut headers = HeaderMap::new();
        headers.insert(IF_NONE_MATCH, response.headers()[ETAG].clone());
        assert_eq!(
            site()
                .answer("/robots.txt", &headers)
                .expect("there")
                .status(),
            StatusCode::NOT_MODIFIED
        );
    }

    #[test]
    fn only_what_was_built_is_there() {
        for path in [
            "/assets/../secret.key",
            "/assets/",
            "/assets/app.js",
            "//etc/passwd",
            "/assets/app-0a.js.map",
        ] {
            assert!(answer(path, "").is_none(), "{path}");
        }
    }
}
