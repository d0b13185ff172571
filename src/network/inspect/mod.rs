//! In: a connection of the command to a host whose connections are read, and one to the host. Out: its requests there, as far as they are
//! allowed, with the values in them that the command itself never has.

use crate::policy::HostPattern;
use zeroize::Zeroizing;

/// A variable that is masked: what the command sees, and what stands for it on the way to the hosts that may have it.
pub struct Secret {
    pub name: String,
    /// As long as the value, of the same shape.
    pub placeholder: String,
    pub value: Zeroizing<String>,
    /// Single names, each with its port.
    pub hosts: Vec<HostPattern>,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secret").field("name", &self.name).field("hosts", &self.hosts).finish_non_exhaustive()
    }
}
