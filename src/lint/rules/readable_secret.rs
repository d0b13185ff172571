use crate::finding::{Edit, Finding};
use crate::host::concluded;
use crate::lint::Context;
use crate::lint::catalogue::credentials::is_secret;
use crate::lint::edits::{add_after, below};
use crate::lint::places::{PlacedRoot, Roots, is_readable, list, quoted};
use camino::Utf8PathBuf;

rule! {
    /// A file that by its name holds secrets, at the top of a root that leaves it open.
    ///
    /// ## What it does
    ///
    /// Notes files such as `.env`, `id_ed25519`, `server.key` or `prod.tfstate` that are directly in a root and can be
    /// read. It does not search the directories below: `std/secrets` denies such files wherever they lie.
    ///
    /// ## Why it is bad
    ///
    /// What an agent reads goes to its model, and may come out in a commit, a log or an answer. Together with an open
    /// network it is an error of its own: `lethal-trifecta`.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "~/other" read-only             # holds .env
    ///     working-directory "~/other"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "~/other" read-only
    ///     deny "~/other/.env"
    ///     working-directory "~/other"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: nothing at the top of the root is a secret by its name.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Deny it, or `use "std/secrets"`, which denies such names everywhere in the workspace. Where the command needs
    /// it, allow this with the reason.
    name: "readable-secret",
    severity: Note,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

/// The names in a directory that are those of secrets.
struct Secrets(Vec<String>);

/// The files that by their names hold secrets, directly in a root, and can be read.
pub(super) fn open(context: &Context<'_>, root: &PlacedRoot<'_>) -> Vec<Utf8PathBuf> {
    let decider = context.plan.decider();
    // What cannot be listed is reported where something rests on it.
    let secrets = concluded(context.host, root.path().as_str(), || {
        let mut names = context.host.read_dir(root.path()).unwrap_or_default();
        names.retain(|name| is_secret(name));
        Secrets(names)
    });
    let paths = secrets.0.iter().map(|name| root.path().join(name));
    paths.filter(|path| is_readable(&decider, path)).collect()
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    for root in roots.iter() {
        let open = open(context, root);
        let [first, ..] = &open[..] else { continue };
        let mut finding = INFO
            .finding(format!("{} can be read", list(&open))).about(&open)
            .at(root.statement.span, "by its name a secret, and open")
            .help(format!("deny it: `deny {}`, or `use \"std/secrets\"`", quoted(first)));
        if let Some(edits) = denials(context, root, &open) {
            finding = finding.fix("deny it", edits, false);
        }
        findings.push(finding);
    }
}

/// A `deny` for each file, below the root's own statement and spelled as it is.
fn denials(context: &Context<'_>, root: &PlacedRoot<'_>, files: &[Utf8PathBuf]) -> Option<Vec<Edit>> {
    let below =
        |file: &Utf8PathBuf| below(context.sources, root.statement.path.span, file.file_name()?.into());
    let denials =
        files.iter().map(|file| Some(format!("deny {}", below(file)?))).collect::<Option<Vec<_>>>()?;
    Some(vec![add_after(context.sources, root.statement.span, &denials)])
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn the_fix_denies_what_is_open_and_nothing_else() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/shared.key");
        let findings = case.findings("readable-secret");
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].message, "`/home/dev/project/.env` can be read");
        let fix = findings[0].fix.clone().unwrap();
        assert!(!fix.safe);
        assert_eq!(fix.edits[0].replacement, "\ndeny \"/home/dev/project/.env\"");
        case.deny("/home/dev/project/.env");
        assert!(case.findings("readable-secret").is_empty());
    }
}
