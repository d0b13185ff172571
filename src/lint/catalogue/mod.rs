//! In: nothing, these are tables. Out: what is known of places, programs, sockets and hosts that no profile names by what they mean.
//!
//! Each table says where its entries are from. A place is written from `/`, or from `~/`, the home of whoever compiles.

pub mod authority;
pub mod credentials;
pub mod hosts;
pub mod lookalikes;
pub mod persistence;

use camino::{Utf8Path, Utf8PathBuf};

/// A place and what is there.
pub struct Place {
    pub path: &'static str,
    pub what: &'static str,
}

const fn place(path: &'static str, what: &'static str) -> Place {
    Place { path, what }
}

impl Place {
    /// The place on a machine with that home; `uid` is the number of its owner, for what lies below `/run/user/UID`.
    pub fn on(&self, home: &Utf8Path, uid: u32) -> Utf8PathBuf {
        match self.path.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => self.path.replace("UID", &uid.to_string()).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_absolute_or_in_the_home_and_stand_once_in_their_table() {
        for table in [credentials::STORES, authority::SOCKETS, persistence::PLACES] {
            let mut paths: Vec<_> = table.iter().map(|place| place.path).collect();
            assert!(
                paths.iter().all(|path| path.starts_with(['/', '~']) && !path.ends_with('/')),
                "{paths:?}"
            );
            assert!(table.iter().all(|place| !place.what.is_empty()));
            paths.sort_unstable();
            assert!(paths.windows(2).all(|pair| pair[0] != pair[1]), "{paths:?}");
        }
    }

    #[test]
    fn a_place_is_in_the_home_or_the_users_own_runtime_directory() {
        let home = Utf8Path::new("/home/dev");
        assert_eq!(place("~/.ssh", "x").on(home, 7), "/home/dev/.ssh");
        assert_eq!(place("/run/user/UID/bus", "x").on(home, 1000), "/run/user/1000/bus");
    }
}
