//! A trust store as every Java machine reads it, in the format `JKS` (sun.security.provider.JavaKeyStore in OpenJDK). PKCS #12 would take
//! ciphers, and some machines do not read such a store without a password.

use sha1::{Digest, Sha1};

const MAGIC: u32 = 0xFEED_FEED;
const VERSION: u32 = 2;
/// The tag of an entry that is a certificate to trust.
const TRUSTED: u32 = 2;
/// What the digest at the end covers, between the password and the store.
const WHITENER: &[u8] = b"Mighty Aphrodite";
/// What stands for a password where a store is no secret; as in the stores that Java machines come with.
pub const PASSWORD: &str = "changeit";

/// A store of certificates, each in DER, in the order in which they are given.
pub fn store<'a>(certificates: impl ExactSizeIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut store = Vec::new();
    for number in [MAGIC, VERSION, length(certificates.len())] {
        store.extend(number.to_be_bytes());
    }
    for (number, certificate) in certificates.enumerate() {
        store.extend(TRUSTED.to_be_bytes());
        text(&mut store, &number.to_string());
        // When it was put in, in milliseconds: nobody asks.
        store.extend(0u64.to_be_bytes());
        text(&mut store, "X.509");
        store.extend(length(certificate.len()).to_be_bytes());
        store.extend(certificate);
    }
    let mut digest = Sha1::new();
    for unit in PASSWORD.encode_utf16() {
        digest.update(unit.to_be_bytes());
    }
    digest.update(WHITENER);
    digest.update(&store);
    store.extend(digest.finalize());
    store
}

/// As java.io.DataOutput.writeUTF does, of ASCII.
fn text(store: &mut Vec<u8>, text: &str) {
    store.extend(u16::try_from(text.len()).unwrap_or_default().to_be_bytes());
    store.extend(text.as_bytes());
}

/// No certificate is longer than 4 GiB, and there are not as many.
fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_as_the_format_says() {
        let store = store([&b"one"[..], b"another"].into_iter());
        let body = b"\xfe\xed\xfe\xed\0\0\0\x02\0\0\0\x02\
            \0\0\0\x02\0\x010\0\0\0\0\0\0\0\0\0\x05X.509\0\0\0\x03one\
            \0\0\0\x02\0\x011\0\0\0\0\0\0\0\0\0\x05X.509\0\0\0\x07another";
        let (found, digest) = store.split_at(store.len() - 20);
        assert_eq!(found, body);
        let password = b"\0c\0h\0a\0n\0g\0e\0i\0t";
        assert_eq!(digest, Sha1::digest([&password[..], b"Mighty Aphrodite", body].concat()).as_slice());
    }
}
