//! What differs between the systems. Everything else in these tests holds on both.

/// Files that no command may read, nor any user who is not root.
pub const ACCOUNT_SECRETS: &str =
    if cfg!(target_os = "macos") { "/etc/master.passwd" } else { "/etc/shadow" };

/// Outside the temporary directories that commands get for their own, and kept on the disk.
pub const PLACE: &str = "/var/tmp";

/// Whether the kernel can forbid a name by itself. Linux needs something that stands at the name: where nothing may, making it ends the
/// command, and what was made is moved away.
pub const FORBIDS_NAMES: bool = cfg!(target_os = "macos");
