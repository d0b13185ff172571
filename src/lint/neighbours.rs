//! Names like a mistyped one, from directory listings: each listed once, and only so many names compared.

use crate::host::Host;
use crate::syntax::nearest;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashMap;

/// How many names are compared with what is there: more mistakes than that in one profile have a cause of their own.
const COMPARED: usize = 20;

/// What one run of a rule asks.
pub struct Neighbours<'a> {
    host: &'a dyn Host,
    listings: HashMap<Utf8PathBuf, Vec<String>>,
    left: usize,
}

impl<'a> Neighbours<'a> {
    pub fn new(host: &'a dyn Host) -> Self {
        Self { host, listings: HashMap::new(), left: COMPARED }
    }

    /// The name in one of the directories that is most like `name`. `None` where none is like it, and once enough were compared.
    pub fn nearest(&mut self, name: &str, directories: &[impl AsRef<Utf8Path>]) -> Option<&str> {
        self.left = self.left.checked_sub(1)?;
        for directory in directories.iter().map(AsRef::as_ref) {
            if !self.listings.contains_key(directory) {
                let names = self.host.read_dir(directory).unwrap_or_default();
                self.listings.insert(directory.to_path_buf(), names);
            }
        }
        let names = directories.iter().filter_map(|directory| self.listings.get(directory.as_ref()));
        nearest(name, names.flatten().map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::testing::Machine;

    #[test]
    fn so_many_names_are_compared_and_no_more() {
        let machine = Machine::standard();
        let mut neighbours = Neighbours::new(&machine);
        for _ in 0..COMPARED {
            assert_eq!(neighbours.nearest("gti", &["/usr/bin", "/no/such"]), Some("git"));
        }
        assert_eq!(neighbours.nearest("gti", &["/usr/bin"]), None);
    }
}
