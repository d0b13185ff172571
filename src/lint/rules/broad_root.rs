use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::{Roots, home};

rule! {
    /// A root far wider than one piece of work.
    ///
    /// ## What it does
    ///
    /// Reports a `root` that is the home directory or holds it, or that is one of the system's own top
    /// directories (`/etc`, `/usr`, `/var`, `/tmp`, …).
    ///
    /// ## Why it is bad
    ///
    /// A home directory holds every credential its owner has: `.ssh`, `.aws`, browser profiles, tokens of a
    /// dozen tools, and those of the tool installed next month. Denying them one by one is a race that the
    /// profile loses. An agent that may read there and reach the network can send them away.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "/opt" read-only
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "~/other" read-only
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a directory deep inside one of the system's.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "/usr/lib/python3" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// State the few directories that the work needs.
    name: "broad-root",
    severity: Warning,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

/// Directories at the top of a Linux system or a Mac, canonical.
const TOP: [&str; 21] = [
    "/Applications",
    "/Library",
    "/System",
    "/Users",
    "/Volumes",
    "/boot",
    "/etc",
    "/home",
    "/media",
    "/mnt",
    "/opt",
    "/private",
    "/private/etc",
    "/private/tmp",
    "/private/var",
    "/root",
    "/run",
    "/srv",
    "/tmp",
    "/usr",
    "/var",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let (home, _) = home(context);
    for root in Roots::of(context).iter() {
        let what = if root.path() == "/" {
            continue;
        } else if root.path() == home {
            "the whole home directory, with every credential in it"
        } else if home.starts_with(root.path()) {
            "every home directory, with every credential in them"
        } else if TOP.contains(&root.path().as_str()) {
            "a whole directory of the system"
        } else {
            continue;
        };
        let word = if root.is_writable() { "written" } else { "read" };
        findings.push(
            INFO.finding(format!("the root `{}` is very broad", root.path()))
                .at(root.statement.span, format!("{what}, may be {word}"))
                .help("state the few directories that the work needs"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn home_its_parents_and_the_systems_tops_are_broad() {
        let mut case = Case::new();
        case.root("/home", Access::ReadOnly)
            .root("/home/dev", Access::ReadWrite)
            .root("/usr", Access::ReadOnly)
            .root("/usr/bin", Access::ReadOnly)
            .root("/home/dev/other", Access::ReadOnly);
        assert_eq!(
            case.found("broad-root"),
            [
                "the root `/home` is very broad\nroot \"/home\" read-only -- \
                 every home directory, with every credential in them, may be read",
                "the root `/home/dev` is very broad\nroot \"/home/dev\" read-write -- \
                 the whole home directory, with every credential in it, may be written",
                "the root `/usr` is very broad\nroot \"/usr\" read-only -- \
                 a whole directory of the system, may be read",
            ]
        );
    }
}
