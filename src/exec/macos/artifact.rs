//! Whether the `.sb` is the one that was compiled with the manifest.

use super::super::{Refusal, Seatbelt};
use super::scratch::SENTINEL;
use crate::manifest::{Manifest, hex};
use camino::{Utf8Component, Utf8Path};
use sha2::{Digest, Sha256};

/// The text of the `.sb`, read and checked. What is obeyed is this text, not the file, which may change at any time.
///
/// # Errors
/// A manifest without one, a file that cannot be read, another digest, no rule for the sentinel.
pub fn read(manifest: &Manifest, seatbelt: Seatbelt<'_>) -> Result<String, Refusal> {
    let stated =
        manifest.seatbelt.as_ref().ok_or_else(|| Refusal::Manifest("it names no `.sb`".to_owned()))?;
    let text = match seatbelt {
        Seatbelt::Text(text) => text.unwrap_or_default().to_owned(),
        Seatbelt::Beside(manifest) => {
            let mut parts = Utf8Path::new(&stated.name).components();
            if !matches!((parts.next(), parts.next()), (Some(Utf8Component::Normal(_)), None)) {
                return Err(Refusal::Manifest(format!("`{}` is not the name of a file", stated.name)));
            }
            let path = manifest.parent().unwrap_or(Utf8Path::new("")).join(&stated.name);
            std::fs::read_to_string(&path)
                .map_err(|error| Refusal::Seatbelt(format!("file `{path}` cannot be read: {error}")))?
        }
    };
    if stated.digest != format!("sha256:{}", hex(&Sha256::digest(text.as_bytes()))) {
        return Err(Refusal::Seatbelt("is not what was compiled: its digest does not match".to_owned()));
    }
    // Without that rule what the command leaves running could not be told from other programs.
    if !text.contains(SENTINEL) {
        return Err(Refusal::Seatbelt(format!("has no rule for `{SENTINEL}`")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;
    use crate::manifest::Source;
    use camino::Utf8PathBuf;

    const TEXT: &str =
        "(deny file-read-data (literal (string-append (param \"SCRATCH\") \"/.palisade-sentinel\")))\n";

    fn manifest(name: &str, text: &str) -> Manifest {
        let digest = format!("sha256:{}", hex(&Sha256::digest(text.as_bytes())));
        let seatbelt = Some(Source { name: name.into(), digest });
        Manifest { seatbelt, ..testing::manifest() }
    }

    #[test]
    fn the_text_that_was_compiled_is_taken_from_beside_the_manifest() {
        let directory = tempfile::tempdir().unwrap();
        let at = Utf8PathBuf::from_path_buf(directory.path().join("a.manifest.yaml")).unwrap();
        let read =
            |manifest: &Manifest| read(manifest, Seatbelt::Beside(&at)).map_err(|error| error.to_string());
        let sound = manifest("a.sb", TEXT);
        assert!(read(&sound).unwrap_err().contains("cannot be read"));
        std::fs::write(at.with_file_name("a.sb"), TEXT).unwrap();
        assert_eq!(read(&sound).unwrap(), TEXT);
        std::fs::write(at.with_file_name("a.sb"), TEXT.replace("deny", "allow")).unwrap();
        assert!(read(&sound).unwrap_err().contains("is not what was compiled"));
        for name in ["../a.sb", "/a.sb", "", ".", "..", "b/a.sb"] {
            assert!(read(&manifest(name, TEXT)).unwrap_err().contains("is not the name of a file"), "{name}");
        }
        assert!(read(&testing::manifest()).unwrap_err().contains("names no `.sb`"));
    }

    #[test]
    fn a_text_from_memory_is_checked_all_the_same() {
        let sound = manifest("run.sb", TEXT);
        assert_eq!(read(&sound, Seatbelt::Text(Some(TEXT))).unwrap(), TEXT);
        assert!(read(&sound, Seatbelt::Text(Some("(version 1)"))).is_err());
        assert!(read(&sound, Seatbelt::Text(None)).is_err());
        let without = "(version 1)(deny default)";
        let error = read(&manifest("run.sb", without), Seatbelt::Text(Some(without))).unwrap_err();
        assert!(error.to_string().contains("has no rule for"), "{error}");
    }
}
