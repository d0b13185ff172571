//! The manifest as text: YAML with a comment above it and its own digest as the last line.

use super::{Manifest, SCHEMA, plain};
use sha2::{Digest, Sha256};

/// Why a text is not a manifest that may be obeyed.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    #[error("the manifest has no `digest` line at its end")]
    NoDigest,
    #[error("the manifest is not what was compiled: its digest does not match")]
    Digest,
    /// What a later version writes may mean more than this one knows.
    #[error("the manifest was written by palisade {0}, which is newer than this one, {OWN}")]
    Newer(String),
    #[error("`{0}`, which the manifest says that it was written by, is no version of palisade")]
    Version(String),
    #[error("the manifest has schema {0}, and this program reads schema {SCHEMA}")]
    Schema(u32),
    #[error("the manifest cannot be read: {0}")]
    Yaml(#[from] serde_yaml::Error),
    #[error("the manifest cannot be read: {0}")]
    Rule(String),
}

const OWN: &str = env!("CARGO_PKG_VERSION");

const HEADER: &str = "\
# Palisade manifest: what one sandboxed command may do, as `palisade exec` enforces it.
# Written by `palisade compile`. An edit makes it invalid: change the profile and compile again.
";

const DIGEST: &str = "digest: sha256:";

/// The text of a manifest. The same manifest always gives the same bytes.
///
/// # Errors
/// Only where the serializer fails.
pub fn write(manifest: &Manifest) -> Result<String, ManifestError> {
    let body = format!("{HEADER}{}", serde_yaml::to_string(manifest)?);
    let digest = hex(&Sha256::digest(body.as_bytes()));
    Ok(format!("{body}{DIGEST}{digest}\n"))
}

/// Reads a manifest and checks that nothing in it has changed since it was written.
///
/// # Errors
/// A missing or wrong digest, a version of the program that is newer than this one, another schema, an unknown field, a rule that makes no sense.
pub fn read(text: &str) -> Result<Manifest, ManifestError> {
    let at = text.rfind(DIGEST).ok_or(ManifestError::NoDigest)?;
    let (body, last) = text.split_at(at);
    if !body.ends_with('\n') {
        return Err(ManifestError::NoDigest);
    }
    let stated = last[DIGEST.len()..].strip_suffix('\n').ok_or(ManifestError::Digest)?;
    if stated != hex(&Sha256::digest(body.as_bytes())) {
        return Err(ManifestError::Digest);
    }
    let field = |name: &str| body.lines().find(|line| line.starts_with(name)).unwrap_or("");
    let writer: Writer = serde_yaml::from_str(field("palisade:"))?;
    let version = version(&writer.palisade).ok_or_else(|| ManifestError::Version(writer.palisade.clone()))?;
    if self::version(OWN).is_none_or(|own| version > own) {
        return Err(ManifestError::Newer(writer.palisade));
    }
    let schema: Schema = serde_yaml::from_str(field("schema:"))?;
    if schema.schema != SCHEMA {
        return Err(ManifestError::Schema(schema.schema));
    }
    match plain::read(body) {
        Some(manifest) => Ok(manifest),
        None => Ok(serde_yaml::from_str(body)?),
    }
}

/// The digest that a manifest states at its end, `sha256:` and hexadecimal; [`read`] checks it.
pub fn digest(text: &str) -> Option<&str> {
    text.lines().last()?.strip_prefix("digest: ").filter(|digest| digest.starts_with("sha256:"))
}

/// Whether two texts are sound manifests that say the same but for the cache, which differs per machine and decides nothing.
pub fn differ_in_cache_only(one: &str, other: &str) -> bool {
    let without_cache =
        |text: &str| read(text).ok().map(|manifest| Manifest { cache: Vec::new(), ..manifest });
    matches!((without_cache(one), without_cache(other)), (Some(one), Some(other)) if one == other)
}

#[derive(serde::Deserialize)]
struct Schema {
    schema: u32,
}

#[derive(serde::Deserialize)]
struct Writer {
    palisade: String,
}

/// The numbers of a version (Semantic Versioning 2.0.0); what stands behind them, as of a version that was tried out, counts as that version.
fn version(text: &str) -> Option<[u64; 3]> {
    let numbers = text.split(['-', '+']).next()?;
    let numbers: Vec<u64> = numbers.split('.').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
