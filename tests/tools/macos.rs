//! The base system of a Mac.

use super::{found, reason};
use palisade::bind::tools::{find, shell};
use palisade::host::RecordedHost;
use palisade::plan::Operation;

fn mac(entries: &str) -> RecordedHost {
    let head = "system: macos\narchitecture: aarch64\nhome: /Users/dev\nunlisted: missing\ncase-insensitive: true\nentries:\n";
    RecordedHost::from_yaml(&format!("{head}{entries}"), "test").unwrap()
}

#[test]
fn the_base_system_of_a_mac_without_its_shims() {
    let host = mac("  /bin/sh: { mode: \"0755\", binary: { needed: [/usr/lib/libSystem.B.dylib] } }\n  \
         /bin/dash: { mode: \"0755\", binary: { needed: [/usr/lib/libSystem.B.dylib] } }\n  \
         /private/var/select/sh: -> /bin/dash\n  \
         /usr/bin/git: { mode: \"0755\", binary: { needed: [/usr/lib/libxcselect.dylib] } }\n  \
         /usr/bin/make: { mode: \"0755\", head: \"xx_xcselect_invoke_xcrun\", binary: {} }\n  \
         /usr/bin/locked: unreadable\n  \
         /usr/bin/perl: { mode: \"0755\", binary: { needed: [/usr/lib/libSystem.B.dylib] } }\n  \
         /usr/bin/shasum: { mode: \"0755\", head: \"#!/usr/bin/perl\\n\" }\n");
    assert!(reason(find(&host, "git")).contains("is a shim"));
    assert!(reason(find(&host, "make")).contains("is a shim"));
    assert!(reason(find(&host, "locked")).contains("may not be examined"));
    let shasum = found(find(&host, "shasum"));
    let perl = shasum.grants.iter().find(|it| it.path == "/usr/bin/perl").unwrap();
    assert!(perl.operations.contains(Operation::Interpret) && !perl.operations.contains(Operation::Exec));
    let shell = found(shell(&host));
    let runs: Vec<_> = shell
        .grants
        .iter()
        .filter(|it| it.operations.contains(Operation::Exec))
        .map(|it| it.path.as_str())
        .collect();
    assert_eq!(runs, ["/bin/dash", "/bin/sh"]);
    assert_eq!(shell.hops[0].link, "/private/var/select/sh");
}
