use crate::finding::Finding;
use crate::lint::Context;
use crate::policy::LimitKind;

rule! {
    /// A limit that nothing can work within, or that limits nothing.
    ///
    /// ## What it does
    ///
    /// Reports amounts below what a shell needs to start one program, and those beyond what the kernel has or a day
    /// holds: `open-files` above 1048576 (`fs.nr_open`), `processes` above 4194304 (`PID_MAX_LIMIT`, proc(5)), more
    /// than a week, more than a terabyte.
    ///
    /// ## Why it is bad
    ///
    /// Too little, and the command fails before it has begun, in words that do not name the limit. Too much, and the
    /// profile looks bounded and is not; what the kernel does not have, it refuses to set.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     limits { open-files 3 }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     limits { open-files 256 }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: little, and enough for one program.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     limits { time 1s; open-files 32; processes 8; output 4KiB }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// State what the work needs with some to spare; `std/command` has what a single command of an agent needs.
    name: "absurd-limit",
    severity: Warning,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

const DAY: u64 = 24 * 60 * 60 * 1000;
const TIB: u64 = 1 << 40;

/// The least and the most that makes sense, in the base unit of the kind.
fn bounds(kind: LimitKind) -> (u64, u64) {
    match kind {
        LimitKind::Time => (100, 7 * DAY),
        LimitKind::Cpu => (100, 7 * DAY),
        LimitKind::Output => (64, TIB),
        // Standard streams, a script, a loader and its libraries.
        LimitKind::OpenFiles => (16, 1_048_576),
        // A shell, and the program that it starts.
        LimitKind::Processes => (2, 4_194_304),
        LimitKind::TemporarySpace => (4096, TIB),
        LimitKind::FileSize => (512, TIB),
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (&kind, limit) in &context.policy.limits {
        let (least, most) = bounds(kind);
        let name = kind.name();
        let (message, label) = if limit.value < least {
            (
                format!("a limit of `{name}` within which nothing can work"),
                "less than a shell needs to start one program",
            )
        } else if limit.value > most {
            (
                format!("a limit of `{name}` that limits nothing"),
                "more than there is, or than anybody waits for",
            )
        } else {
            continue;
        };
        findings.push(
            INFO.finding(message)
                .at(limit.span, label)
                .help("state what the work needs, with some to spare; `std/command` has the usual ones"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::bounds;
    use crate::lint::testing::Case;
    use crate::policy::LimitKind;
    use crate::source::Spanned;

    #[test]
    fn both_ends_of_every_kind() {
        for kind in LimitKind::ALL {
            let (least, most) = bounds(kind);
            for (value, found) in [(least - 1, 1), (least, 0), (most, 0), (most + 1, 1)] {
                let mut case = Case::in_workspace();
                let span = case.line("limit");
                case.policy.limits.insert(kind, Spanned::new(value, span));
                assert_eq!(case.findings("absurd-limit").len(), found, "{kind:?} {value}");
            }
        }
    }
}
