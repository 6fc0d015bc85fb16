//! The site folder: hashed names, compressed siblings and the manifest. The manifest is put in place in one
//! move, after all it names; what it no longer names goes last.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{
    compress::{self, Effort},
    split,
};

/// Packs `assets` (hashed, under `/assets`) and `public` (as they are, at the root) into `site`.
///
/// # Errors
/// When a file cannot be read or written.
pub fn run(assets: &Path, public: &Path, site: &Path, effort: Effort) -> Result<()> {
    let mut manifest = BTreeMap::new();
    let mut wanted = BTreeSet::new();

    // Stylesheets name fonts and scripts name chunks, so they come last, when those names are known.
    let mut files = list(assets)?;
    files.sort_by_key(|(name, _)| (names_others(name), name.clone()));
    let mut chunks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, path) in files {
        let mut content = fs::read(&path).with_context(|| path.display().to_string())?;
        if name == format!("{}/{}", split::FOLDER, split::CHUNKS) {
            chunks =
                serde_json::from_slice(&content).with_context(|| path.display().to_string())?;
            continue;
        }
        if names_others(&name) {
            let text =
                String::from_utf8(content).with_context(|| format!("{name} is not UTF-8"))?;
            let text = if name.ends_with(".css") {
                rewrite_urls(&text, &manifest)
            } else {
                rewrite_chunks(&text, &manifest)
            };
            content = text.into_bytes();
        }
        let url = format!("/assets/{}", hashed_name(&name, &content));
        write(site, &url, &content, effort, &mut wanted)?;
        manifest.insert(name, url);
    }
    for (name, path) in list(public)? {
        let url = format!("/{name}");
        let content = fs::read(&path)?;
        // The name stays when the content changes, so the siblings are made anew.
        write_always(site, &url, &content, effort, &mut wanted)?;
        manifest.insert(name, url);
    }

    for (chunk, modules) in &mut chunks {
        for module in modules {
            let url = manifest.get(&*module);
            *module = url
                .with_context(|| format!("the chunk {chunk} needs {module}, which is not there"))?
                .clone();
        }
    }
    let text = serde_json::to_string_pretty(
        &json!({ "version": 1, "files": manifest, "chunks": chunks }),
    )?;
    let (draft, target) = (site.join("manifest.json.new"), site.join("manifest.json"));
    fs::create_dir_all(site)?;
    fs::write(&draft, text)?;
    fs::rename(&draft, &target)?;
    wanted.insert(target);
    remove_others(site, &wanted)
}

/// `fonts/sans.woff2` becomes `sans-<first 12 hex digits of the SHA-256>.woff2`.
fn hashed_name(name: &str, content: &[u8]) -> String {
    let file = name.rsplit('/').next().unwrap_or(name);
    let (stem, ending) = file.rsplit_once('.').unwrap_or((file, "bin"));
    let hash = hex::encode(Sha256::digest(content));
    format!("{stem}-{}.{ending}", &hash[..12])
}

/// Replaces `url(fonts/x)`, with or without quotes and leading `/`, `./` or `../`, by the hashed file.
/// An address that names no asset stays as it is.
fn rewrite_urls(css: &str, manifest: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(css.len());
    let mut rest = css;
    while let Some(at) = rest.find("url(") {
        let (before, after) = rest.split_at(at + 4);
        out.push_str(before);
        let Some(end) = after.find(')') else {
            rest = after;
            break;
        };
        let raw = &after[..end];
        let bare = raw.trim().trim_matches(['"', '\'']);
        let logical = bare.trim_start_matches(['.', '/']);
        match manifest.get(logical) {
            Some(url) => {
                out.push('"');
                out.push_str(url);
                out.push('"');
            }
            None => out.push_str(raw),
        }
        rest = &after[end..];
    }
    out.push_str(rest);
    out
}

/// Whether a file names others by their logical names.
fn names_others(name: &str) -> bool {
    name.ends_with(".css") || name.ends_with(".js")
}

/// `"./run.wasm"` in a script becomes the hashed file beside it.
fn rewrite_chunks(script: &str, manifest: &BTreeMap<String, String>) -> String {
    let mut out = script.to_owned();
    for (name, url) in manifest {
        let chunk = name
            .strip_prefix(split::FOLDER)
            .and_then(|rest| rest.strip_prefix('/'));
        if let Some(chunk) = chunk {
            let file = url.rsplit('/').next().unwrap_or(url);
            out = out.replace(&format!("\"./{chunk}\""), &format!("\"./{file}\""));
        }
    }
    out
}

fn write(
    site: &Path,
    url: &str,
    content: &[u8],
    effort: Effort,
    wanted: &mut BTreeSet<PathBuf>,
) -> Result<()> {
    let target = site.join(url.trim_start_matches('/'));
    if fs::metadata(&target).is_ok_and(|meta| meta.len() == content.len() as u64) {
        // The hash is in the name: same name, same content, same siblings.
        wanted.extend([sibling(&target, "br"), sibling(&target, "gz"), target]);
        return Ok(());
    }
    write_always(site, url, content, effort, wanted)
}

fn write_always(
    site: &Path,
    url: &str,
    content: &[u8],
    effort: Effort,
    wanted: &mut BTreeSet<PathBuf>,
) -> Result<()> {
    let target = site.join(url.trim_start_matches('/'));
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    // Siblings first: the file itself is what says that all three are there.
    if compress::worthwhile(url) {
        for (ending, packed) in [
            ("br", compress::brotli(content, effort)?),
            ("gz", compress::gzip(content, effort)?),
        ] {
            if packed.len() < content.len() {
                let path = sibling(&target, ending);
                fs::write(&path, packed)?;
                wanted.insert(path);
            }
        }
    }
    fs::write(&target, content)?;
    wanted.insert(target);
    Ok(())
}

fn sibling(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

fn remove_others(folder: &Path, wanted: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, wanted)?;
        } else if !wanted.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// All files under a folder, with their names relative to it, sorted. A missing folder is empty.
fn list(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    if folder.is_dir() {
        collect(folder, "", &mut found)?;
    }
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<(String, PathBuf)>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), found)?;
        } else {
            found.push((name, entry.path()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> BTreeMap<String, String> {
        BTreeMap::from([("fonts/a.woff2".into(), "/assets/a-12.woff2".into())])
    }

    #[test]
    fn stylesheets_point_at_the_hashed_fonts() {
        for source in [
            "url(fonts/a.woff2)",
            "url(\"/fonts/a.woff2\")",
            "url('./fonts/a.woff2')",
        ] {
            assert_eq!(
                rewrite_urls(source, &manifest()),
                "url(\"/assets/a-12.woff2\")"
            );
        }
    }

    #[test]
    fn scripts_point_at_the_hashed_chunks() {
        let manifest = BTreeMap::from([("chunks/run.wasm".into(), "/assets/run-12.wasm".into())]);
        assert_eq!(
            rewrite_chunks(
                "fetch(new URL(\"./run.wasm\",import.meta.url));\"run.wasm\"",
                &manifest
            ),
            "fetch(new URL(\"./run-12.wasm\",import.meta.url));\"run.wasm\""
        );
    }

    #[test]
    fn other_addresses_stay() {
        for source in [
            "url(data:image/svg+xml;base64,AA==)",
            "url(#mark)",
            "a{}",
            "url(broken",
        ] {
            assert_eq!(rewrite_urls(source, &manifest()), source);
        }
    }

    #[test]
    fn a_site_holds_what_the_manifest_names_and_nothing_else() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let (assets, public, site) = (
            folder.path().join("assets"),
            folder.path().join("public"),
            folder.path().join("site"),
        );
        fs::create_dir_all(assets.join("fonts"))?;
        fs::create_dir_all(&public)?;
        fs::write(assets.join("fonts/a.woff2"), "font")?;
        fs::write(
            assets.join("app.css"),
            "a{src:url(fonts/a.woff2)}".repeat(50),
        )?;
        fs::create_dir_all(assets.join("chunks"))?;
        fs::write(assets.join("chunks/run.wasm"), "wasm")?;
        fs::write(
            assets.join("chunks/chunks.json"),
            r#"{"run": ["chunks/run.wasm"]}"#,
        )?;
        fs::write(public.join("robots.txt"), "User-agent: *\n".repeat(20))?;
        run(&assets, &public, &site, Effort::Quick)?;

        let read = |name: &str| fs::read_to_string(site.join(name));
        let manifest: serde_json::Value = serde_json::from_str(&read("manifest.json")?)?;
        let url = |name: &str| {
            manifest["files"][name]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let css = url("app.css");
        assert!(read(css.trim_start_matches('/'))?.contains(&url("fonts/a.woff2")));
        assert!(site.join(format!("{}.br", &css[1..])).is_file());
        assert_eq!(url("robots.txt"), "/robots.txt");
        assert_eq!(manifest["chunks"]["run"][0], url("chunks/run.wasm"));
        assert_eq!(
            url("chunks/chunks.json"),
            "",
            "it is for the manifest alone"
        );

        // A change leaves no old file behind, and an unchanged file is not written again.
        fs::write(assets.join("app.css"), "b{}".repeat(50))?;
        run(&assets, &public, &site, Effort::Quick)?;
        assert!(!site.join(&css[1..]).exists());
        assert!(!site.join(format!("{}.br", &css[1..])).exists());
        let font = url("fonts/a.woff2");
        assert!(site.join(&font[1..]).is_file());
        Ok(())
    }
}
