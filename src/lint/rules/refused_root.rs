use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove;

rule! {
    /// A root that no wall can be built around.
    ///
    /// ## What it does
    ///
    /// Reports a `root` that is `/`, or that is or lies in `/proc`, `/sys` or `/dev`.
    ///
    /// ## Why it is bad
    ///
    /// `/` is everything, the walls' own machinery with it. The other three are windows onto the kernel:
    /// through `/proc` a program reads the memory and the environment of others, through `/sys` and `/dev` it
    /// changes the machine. A command gets its own `/proc` and `/dev` anyway.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "inspector" {
    ///     root "$workspace" read-only
    ///     root "/proc" read-only
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "inspector" {
    ///     root "$workspace" read-only
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a directory of that name elsewhere.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "~/src/proc" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// State the directories that the command works on. What programs need of the system they get without a
    /// root; `needs` opens the rest.
    name: "refused-root",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: false,
    check: check,
}

/// With what they are.
const REFUSED: [(&str, &str); 3] = [
    ("/proc", "a window onto every process"),
    ("/sys", "a window onto the kernel"),
    ("/dev", "the machine's devices"),
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    // Whether it is there does not matter: nobody should try.
    for (root, bound) in context.policy.roots.iter().zip(&context.binding.roots) {
        let Some(canonical) = bound.canonical() else { continue };
        let window = REFUSED.iter().find(|(path, _)| canonical.starts_with(path));
        let reason = match window {
            Some((_, reason)) => reason,
            None if canonical == "/" => "the whole machine",
            None => continue,
        };
        findings.push(
            INFO.finding(format!("`{canonical}` cannot be a root"))
                .at(root.span, format!("this is {reason}"))
                .help("state the directories that the command works on; what programs need of the system they get without a root")
                .fix("remove the root", remove(context.sources, root.span), false),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::host::Kind;
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn refuses_the_whole_and_the_kernels_windows_and_nothing_that_looks_alike() {
        let mut case = Case::new();
        for path in ["/proc/self", "/sys", "/dev/shm", "/device", "/process"] {
            case.machine.add(path, Kind::Directory);
            case.root(path, Access::ReadOnly);
        }
        case.root("/", Access::ReadOnly);
        let found: Vec<_> =
            case.findings("refused-root").iter().map(|finding| finding.message.clone()).collect();
        assert_eq!(
            found,
            [
                "`/proc/self` cannot be a root",
                "`/sys` cannot be a root",
                "`/dev/shm` cannot be a root",
                "`/` cannot be a root"
            ]
        );
    }
}
