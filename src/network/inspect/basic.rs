//! In: the value of a field. Out: what is inside, where it is credentials of the `Basic` scheme (RFC 7617), and the same field around something else.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use zeroize::Zeroizing;

/// Reads what servers read: with and without padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Where the credentials begin in a value, and what they are.
pub(super) fn decoded(value: &[u8]) -> Option<(usize, Zeroizing<Vec<u8>>)> {
    let (scheme, rest) = value.split_at_checked(b"basic".len())?;
    if !scheme.eq_ignore_ascii_case(b"basic") || rest.first() != Some(&b' ') {
        return None;
    }
    let coded = rest.trim_ascii();
    let start = value.len() - rest.trim_ascii_start().len();
    Some((start, Zeroizing::new(LENIENT.decode(coded).ok()?)))
}

/// Credentials as long as those that stand in a value now, written as those are.
pub(super) fn encoded(credentials: &[u8], now: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut coded = Zeroizing::new(LENIENT.encode(credentials).into_bytes());
    coded.truncate(now.len());
    coded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_read_as_servers_read_them() {
        for (value, start, inside) in [
            ("Basic dTpw", 6, "u:p"),
            ("basic   dTpwdw==", 8, "u:pw"),
            ("BASIC dTpwdw", 6, "u:pw"),
            ("Basic dTpwdw== ", 6, "u:pw"),
        ] {
            let read = decoded(value.as_bytes()).unwrap();
            assert_eq!((read.0, read.1.as_slice()), (start, inside.as_bytes()), "{value}");
            let now = value[start..].trim();
            assert_eq!(encoded(inside.as_bytes(), now.as_bytes()).as_slice(), now.as_bytes());
        }
        for value in ["Basic", "Basically dTpw", "Bearer dTpw", "Basic !", ""] {
            assert!(decoded(value.as_bytes()).is_none(), "{value}");
        }
    }
}
