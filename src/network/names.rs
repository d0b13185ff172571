//! Addresses that stand for names inside a sandbox: whoever connects to one asks for its name. They are of a range that no network routes
//! (RFC 2544), and nothing is looked up to give one.

use crate::policy::HostPattern;
use crate::policy::host::{Host, Target};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, PoisonError};

/// 198.18.0.0/15; the first address is not given.
const FIRST: u32 = u32::from_be_bytes([198, 18, 0, 1]);
/// How many are given in one run.
const MOST: usize = 1 << 16;

/// The names that were asked for in a run.
#[derive(Debug, Default)]
pub struct Names(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    /// Has an address for each pattern that is one name, which names of other patterns cannot use up then.
    pub fn reserving<'a>(patterns: impl Iterator<Item = &'a HostPattern>) -> Self {
        let names = Self::default();
        for pattern in patterns.filter(|pattern| !pattern.below) {
            match Host::parse(&pattern.host) {
                Ok(host) if host.is_localhost() => {}
                // A policy of more names than there are addresses is served as far as they go.
                Ok(Host::Name(name)) => {
                    names.address(&name);
                }
                _ => {}
            }
        }
        names
    }

    /// The address of a name, the same each time; `None` where there are too many.
    pub fn address(&self, name: &str) -> Option<Ipv4Addr> {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = table.numbers.get(name) {
            return Some(Ipv4Addr::from(FIRST + number));
        }
        let number = u32::try_from(table.names.len()).ok().filter(|_| table.names.len() < MOST)?;
        table.names.push(name.to_owned());
        table.numbers.insert(name.to_owned(), number);
        Some(Ipv4Addr::from(FIRST + number))
    }

    /// The name an address was given for.
    pub fn name(&self, address: Ipv4Addr) -> Option<String> {
        let number = u32::from(address).checked_sub(FIRST)?;
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.names.get(usize::try_from(number).ok()?).cloned()
    }

    /// What is meant by a target: the name, where its address stands for one.
    pub fn meant(&self, target: Target) -> Target {
        let name = match target.host {
            Host::Address(IpAddr::V4(address)) if Self::holds(address) => self.name(address),
            _ => None,
        };
        name.map_or_else(|| target.clone(), |name| Target::new(Host::Name(name), target.port))
    }

    /// Whether an address is of the range, given or not.
    fn holds(address: Ipv4Addr) -> bool {
        matches!(address.octets(), [198, 18 | 19, ..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back_to_its_name_and_there_is_an_end_to_them() {
        let names = Names::default();
        let first = names.address("example.com").unwrap();
        assert_eq!(first, Ipv4Addr::new(198, 18, 0, 1));
        assert_eq!(names.address("example.com"), Some(first));
        assert_eq!(names.name(first).as_deref(), Some("example.com"));
        assert_eq!(names.name(Ipv4Addr::new(198, 18, 0, 2)), None);
        assert_eq!(names.name(Ipv4Addr::new(1, 1, 1, 1)), None);
        let mut last = first;
        for number in 1..MOST {
            last = names.address(&number.to_string()).unwrap();
        }
        assert!(Names::holds(last));
        assert_eq!(names.address("one too many"), None);
        assert_eq!(names.address("example.com"), Some(first));
    }

    #[test]
    fn a_name_that_is_listed_has_its_address_whatever_was_asked_before() {
        let pattern = |below, host: &str| HostPattern { below, host: host.into(), port: Some(443) };
        let patterns = [
            pattern(true, "example.com"),
            pattern(false, "10.0.0.1"),
            pattern(false, "localhost"),
            pattern(false, "late.com"),
        ];
        let names = Names::reserving(patterns.iter());
        let late = Ipv4Addr::from(FIRST);
        assert_eq!(names.name(late).as_deref(), Some("late.com"));
        for number in 1..MOST {
            assert!(names.address(&format!("{number}.example.com")).is_some());
        }
        assert_eq!(names.address("more.example.com"), None);
        assert_eq!(names.address("late.com"), Some(late));
    }
}
