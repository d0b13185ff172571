//! What a manifest asks to be read of its command's connections, and what that takes. The same on every system; nothing of it is looked at
//! where nothing is to be read.

use super::secrets::{self, Given, Masked};
use super::{Note, Refusal};
use crate::manifest::{Manifest, Network};
use crate::network::inspect::Secret;
use crate::policy::host::{Host, Target};
use crate::policy::{HostPattern, NetworkRule};
use crate::resolve::parse_host;
use std::collections::{BTreeMap, BTreeSet};

/// What the gateway needs to know in order to read connections, but for whom servers are verified by.
#[derive(Debug)]
pub struct Inspection {
    /// The hosts whose connections are read.
    pub names: Vec<String>,
    pub secrets: Vec<Secret>,
}

/// What is said and shown of it outside of the gateway.
#[derive(Debug)]
pub struct Shown {
    /// What the command has in the stead of values, by the names of the variables.
    pub placeholders: Vec<(String, String)>,
    pub warnings: Vec<Note>,
}

/// Looks what is to be read, and takes the values of masked variables. `None` where nothing is.
///
/// # Errors
/// A manifest that makes no sense; a value that is missing or of no use.
pub fn of(
    manifest: &Manifest,
    rules: &[NetworkRule],
    given: &[Given],
) -> Result<Option<(Inspection, Shown)>, Refusal> {
    let masked = masked(manifest)?;
    let values = secrets::take(masked, given)?;
    let limited = rules.iter().filter(|rule| rule.allow && rule.requests.is_some()).map(|rule| &rule.pattern);
    let names: BTreeSet<&str> = limited
        .chain(values.secrets.iter().flat_map(|secret| &secret.hosts))
        .map(|pattern| pattern.host.as_str())
        .collect();
    if names.is_empty() {
        return Ok(None);
    }
    let names = names.into_iter().map(str::to_owned).collect();
    let shown = |secret: &Secret| (secret.name.clone(), secret.placeholder.clone());
    let placeholders = values.secrets.iter().map(shown).collect();
    let shown = Shown { placeholders, warnings: values.warnings };
    Ok(Some((Inspection { names, secrets: values.secrets }, shown)))
}

/// The masked variables, each once.
fn masked(manifest: &Manifest) -> Result<Vec<Masked>, Refusal> {
    let environment = &manifest.environment;
    let mut masked: BTreeMap<&str, Vec<HostPattern>> = BTreeMap::new();
    for variable in &environment.mask {
        let name = variable.name.as_str();
        let senseless = |what: &str| Refusal::Manifest(format!("`{name}` is masked, and {what}"));
        if manifest.network != Network::Only {
            return Err(senseless("no connection is carried that could have its value"));
        }
        if environment.set.contains_key(name) || environment.pass.iter().any(|passed| passed == name) {
            return Err(senseless("set or passed on as well"));
        }
        if name.is_empty() || name.contains(['=', '\0']) || variable.hosts.is_empty() {
            return Err(senseless("has no name, or no host"));
        }
        let hosts = masked.entry(name).or_default();
        for host in &variable.hosts {
            let pattern = parse_host(host, true).map_err(|error| senseless(&error.message))?;
            if !is_one_name(&pattern) {
                return Err(senseless(&format!("`{host}` is not the name of one host")));
            }
            hosts.push(pattern);
        }
    }
    Ok(masked.into_iter().map(|(name, hosts)| Masked { name: name.to_owned(), hosts }).collect())
}

/// Whether a certificate can be made for it.
pub fn is_one_name(pattern: &HostPattern) -> bool {
    let host = Target::parse(&pattern.host, Some(1)).map(|target| target.host);
    !pattern.below && host.is_ok_and(|host| matches!(host, Host::Name(_)) && !host.is_localhost())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_made_for_names_only() {
        for (host, one) in [
            ("api.example.com", true),
            ("api.example.com:8443", true),
            ("*.example.com", false),
            ("93.184.216.34", false),
            ("[2600::1]:443", false),
        ] {
            assert_eq!(is_one_name(&parse_host(host, true).unwrap()), one, "{host}");
        }
        assert!(!is_one_name(&HostPattern::localhost(443)));
    }
}
