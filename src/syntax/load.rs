//! Bytes to a source text, or why they are none.

use crate::source::{FileId, MAX_BYTES, Sources};
use camino::Utf8Path;

/// Why bytes are not a source text. Offsets count bytes from 0, lines from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    #[error("`{name}` is {bytes} bytes long; a profile may have {MAX_BYTES}")]
    TooLarge { name: String, bytes: usize },
    #[error(
        "`{name}` is not UTF-8: the byte 0x{byte:02x} at offset {offset} (line {line}) does not belong there"
    )]
    NotUtf8 { name: String, byte: u8, offset: usize, line: usize },
    #[error("`{name}` holds a NUL byte at offset {offset} (line {line}); it is not a text")]
    Nul { name: String, offset: usize, line: usize },
}

/// Adds `bytes` as a source. Line ends may be CRLF and a byte-order mark may stand first; both are kept, so that spans are offsets
/// into the file as it is on the disk.
pub fn load(
    sources: &mut Sources,
    name: &str,
    path: Option<&Utf8Path>,
    bytes: Vec<u8>,
) -> Result<FileId, LoadError> {
    let name = name.to_owned();
    if bytes.len() > MAX_BYTES {
        return Err(LoadError::TooLarge { name, bytes: bytes.len() });
    }
    let line = |bytes: &[u8], offset: usize| 1 + bytes.iter().take(offset).filter(|b| **b == b'\n').count();
    if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        return Err(LoadError::Nul { name, offset, line: line(&bytes, offset) });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(sources.add(name, path, text)),
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let bytes = error.as_bytes();
            let byte = bytes.get(offset).copied().unwrap_or_default();
            Err(LoadError::NotUtf8 { name, byte, offset, line: line(bytes, offset) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(bytes: &[u8]) -> String {
        load(&mut Sources::new(), "x.palisade", None, bytes.to_vec()).unwrap_err().to_string()
    }

    #[test]
    fn says_which_byte_is_wrong() {
        assert_eq!(
            refusal(b"edition 1\nprofile \xff"),
            "`x.palisade` is not UTF-8: the byte 0xff at offset 18 (line 2) does not belong there"
        );
        assert_eq!(refusal(b"a\n\0"), "`x.palisade` holds a NUL byte at offset 2 (line 2); it is not a text");
        assert!(refusal(&vec![b' '; MAX_BYTES + 1]).contains("4194305 bytes long"));
    }

    #[test]
    fn keeps_the_text_as_it_is() {
        let mut sources = Sources::new();
        let id = load(&mut sources, "x", None, b"\xef\xbb\xbfa\r\n".to_vec()).unwrap();
        assert_eq!(&*sources.file(id).text, "\u{feff}a\r\n");
    }
}
