//! Compressed siblings, made once at build time instead of on every request.

use std::io::Write as _;

use anyhow::Result;

/// How much time a smaller file is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// For a build that a person waits for.
    Quick,
    /// For a release.
    Small,
}

/// File name endings whose content is compressed already.
const PACKED: [&str; 8] = ["woff2", "png", "jpg", "jpeg", "webp", "avif", "br", "gz"];

/// Whether a file is worth compressing.
pub fn worthwhile(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    !PACKED.contains(&ending)
}

/// Brotli with a window of 4 MiB, so that a whole module is in sight.
///
/// # Errors
/// Never in practice: it writes to memory.
pub fn brotli(content: &[u8], effort: Effort) -> Result<Vec<u8>> {
    let quality = match effort {
        Effort::Quick => 5,
        Effort::Small => 11,
    };
    let mut writer = brotli::CompressorWriter::new(Vec::new(), 1 << 16, quality, 22);
    writer.write_all(content)?;
    writer.flush()?;
    Ok(writer.into_inner())
}

/// Gzip, for the few clients without brotli.
///
/// # Errors
/// Never in practice: it writes to memory.
pub fn gzip(content: &[u8], effort: Effort) -> Result<Vec<u8>> {
    let level = match effort {
        Effort::Quick => flate2::Compression::new(6),
        Effort::Small => flate2::Compression::best(),
    };
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), level);
    writer.write_all(content)?;
    Ok(writer.finish()?)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn both_formats_give_the_content_back() -> Result<()> {
        let content: Vec<u8> = b"a line of text that repeats\n".repeat(400);
        for effort in [Effort::Quick, Effort::Small] {
            let packed = brotli(&content, effort)?;
            assert!(packed.len() < content.len() / 20);
            let mut back = Vec::new();
            brotli::Decompressor::new(&packed[..], 4096).read_to_end(&mut back)?;
            assert_eq!(back, content);

            let packed = gzip(&content, effort)?;
            let mut back = Vec::new();
            flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut back)?;
            assert_eq!(back, content);
        }
        Ok(())
    }

    #[test]
    fn packed_formats_are_left_alone() {
        assert!(worthwhile("app.wasm") && worthwhile("robots"));
        assert!(!worthwhile("fonts/sans.woff2"));
    }
}
