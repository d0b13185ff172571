use crate::finding::{Edit, Finding};
use crate::host::spelling::fold_name;
use crate::host::{Host, concluded};
use crate::lint::Context;
use crate::lint::edits::spelled;
use crate::lint::places::{denials, is_readable, quoted};
use crate::policy::DenialKind;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashMap;
use std::sync::Arc;

rule! {
    /// A denied path beside one that differs from it only in case or in how a letter is composed.
    ///
    /// ## What it does
    ///
    /// Reports a `deny` of a path on a disk that tells such names apart, where another name in the same directory is
    /// the same but for the case of letters or their composition (é as one character or as two), and can be read.
    ///
    /// ## Why it is bad
    ///
    /// The file that was meant may be the other one: then the secret is open, and the profile looks as if it were
    /// closed. An agent that may write makes such a twin itself, to have the reviewer read the one name and the program
    /// the other.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/.ENV"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/.env"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: both are denied.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/.ENV"
    ///     deny "$workspace/.env"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Correct the spelling, or deny both.
    name: "case-twin",
    severity: Error,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

/// The names in a directory by their folded spelling.
struct Folded(HashMap<String, Vec<String>>);

impl Folded {
    fn of(host: &dyn Host, directory: &Utf8Path) -> Self {
        let mut names: HashMap<String, Vec<String>> = HashMap::new();
        for name in host.read_dir(directory).unwrap_or_default() {
            names.entry(fold_name(&name)).or_default().push(name);
        }
        Self(names)
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if context.host.case_insensitive() {
        return;
    }
    let decider = context.plan.decider();
    let mut listings: HashMap<Utf8PathBuf, Arc<Folded>> = HashMap::new();
    for (denial, bound) in denials(context) {
        let (DenialKind::Path(stated), Some(denied)) = (&denial.kind, bound.paths.first()) else { continue };
        let (Some(directory), Some(name)) = (denied.path.parent(), denied.path.file_name()) else { continue };
        // A thousand denials in one directory list it once.
        let listing = listings
            .entry(directory.to_path_buf())
            .or_insert_with(|| concluded(context.host, directory.as_str(), || Folded::of(context.host, directory)));
        let twins = listing.0.get(&fold_name(name)).into_iter().flatten().filter(|twin| *twin != name);
        let twin = twins.map(|twin| directory.join(twin)).find(|twin| is_readable(&decider, twin));
        let Some(twin) = twin else { continue };
        let label =
            if denied.entry.is_some() { "denies one of two" } else { "there is nothing of this name" };
        let help = if denied.entry.is_some() { "deny both" } else { "correct the spelling, or deny both" };
        let mut finding = INFO
            .finding(format!("`{twin}` can be read, and is spelled like the denied `{}`", stated.path))
            .at(denial.span, label)
            .help(format!("{help}: `deny {}`", quoted(&twin)));
        if denied.entry.is_none() {
            let edit = Edit { span: stated.span, replacement: spelled(context, &twin) };
            finding = finding.fix("deny what is there", vec![edit], false);
        }
        findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::host::Kind;
    use crate::lint::testing::Case;

    #[test]
    fn composition_counts_as_case_does_and_twins_denied_together_are_fine() {
        let mut case = Case::in_workspace();
        case.machine.add("/home/dev/project/caf\u{e9}", Kind::File);
        case.machine.add("/home/dev/project/cafe\u{301}", Kind::File);
        case.deny("/home/dev/project/caf\u{e9}").deny("/home/dev/project/vendor");
        assert_eq!(
            case.found("case-twin"),
            [
                "`/home/dev/project/cafe\u{301}` can be read, and is spelled like the denied `/home/dev/project/caf\u{e9}`\n\
              deny \"/home/dev/project/caf\u{e9}\" -- denies one of two"
            ]
        );
        case.deny("/home/dev/project/cafe\u{301}");
        assert!(case.found("case-twin").is_empty());
    }
}
