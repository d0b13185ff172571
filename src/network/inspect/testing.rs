//! What several tests need.

use super::Secret;
use crate::resolve::parse_host;
use zeroize::Zeroizing;

/// A secret for one host.
pub(super) fn secret(name: &str, placeholder: &str, value: &str, host: &str) -> Secret {
    Secret {
        name: name.to_owned(),
        placeholder: placeholder.to_owned(),
        value: Zeroizing::new(value.to_owned()),
        hosts: vec![parse_host(host, true).unwrap()],
    }
}
