use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::{Protections, Roots};
use crate::plan::{Protection, aliases};
use crate::policy::Access;

rule! {
    /// A protected path that a mount shows under another name.
    ///
    /// ## What it does
    ///
    /// Reports every denied, guarded or read-only path which a mount of the machine, as by `mount --bind`, shows a second time at a place
    /// where it is not protected as much. The mount may show part of the path, or something that holds it.
    ///
    /// ## Why it is bad
    ///
    /// Walls stand around names. What is mounted inside a root is part of that root, so a command reads the secret, or changes
    /// the file, by the other name: as with a hard link, but for whole directories.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "~/other" read-only             # ~/vault is mounted at ~/other/bound
    ///     root "~/vault" read-only
    ///     deny "~/vault/keys"
    ///     working-directory "~/other"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "~/vault" read-only
    ///     deny "~/vault/keys"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: both names are denied.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "~/other" read-only
    ///     root "~/vault" read-only
    ///     deny "~/vault/keys"
    ///     deny "~/other/bound/keys"
    ///     working-directory "~/other"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Unmount it (`umount PLACE`; `findmnt` lists what is mounted), or protect the other name as well. What an overlay shows of
    /// another file system is not seen: the kernel knows an overlay as a file system of its own.
    name: "mounted-protection",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mounts = match context.host.mounts() {
        Ok(mounts) => mounts,
        Err(error) => {
            let message = format!("what is mounted on this machine cannot be told: {error}");
            findings.push(
                INFO.finding(message)
                    .at(context.policy.name.span, "a mount may show what is protected here under another name")
                    .help("mount /proc, and make it readable"),
            );
            return;
        }
    };
    let decider = context.plan.decider();
    let protections = Protections::of(context);
    let protected = context.plan.protected.iter().map(|it| (it.path.as_path(), it.protection));
    let roots = Roots::of(context);
    let read_only = roots.iter().filter(|root| root.statement.access == Access::ReadOnly);
    let read_only = read_only.map(|root| (root.path(), Protection::ReadOnly));
    for alias in aliases(&mounts, &decider, protected.chain(read_only)) {
        let (protection, span) = protections.at(alias.protected);
        let word = if protection == Protection::Denied { "denied" } else { "protected" };
        let mut finding = INFO
            .finding(format!(
                "`{}` is also `{}`, which is not {word}, by the mount at `{}`",
                alias.shown, alias.name, alias.mount
            ))
            .help(format!("unmount it (`umount {}`), or protect the other name as well", alias.mount));
        if let Some(span) = span {
            finding = finding.at(span, format!("the same is not {word} by its other name"));
        }
        findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::host::Mount;
    use crate::lint::testing::Case;
    use crate::plan::{Origin, OriginKind, Presence, Protected, Protection};
    use crate::policy::Access;

    fn bound(case: &mut Case, place: &str, root: &str) {
        let mount = |place: &str, root: &str| Mount { place: place.into(), device: "8:1".into(), root: root.into() };
        case.machine.mounts = vec![mount("/", "/"), mount(place, root)];
    }

    fn denied(case: &mut Case, path: &str) {
        case.deny(path);
        let span = case.policy.denials.last().map(|denial| denial.span);
        case.protected.push(Protected {
            path: path.into(),
            protection: Protection::Denied,
            presence: Presence::Directory,
            origin: Origin { kind: OriginKind::Denial, text: String::new(), span },
        });
    }

    #[test]
    fn a_denied_directory_that_is_mounted_in_a_root_is_refused() {
        let mut case = Case::in_workspace();
        denied(&mut case, "/home/dev/.ssh");
        assert!(case.found("mounted-protection").is_empty());
        bound(&mut case, "/home/dev/project/x", "/home/dev/.ssh");
        assert_eq!(
            case.found("mounted-protection"),
            ["`/home/dev/.ssh` is also `/home/dev/project/x`, which is not denied, by the mount at `/home/dev/project/x`\n\
              deny \"/home/dev/.ssh\" -- the same is not denied by its other name"]
        );
        denied(&mut case, "/home/dev/project/x");
        assert!(case.found("mounted-protection").is_empty());
    }

    #[test]
    fn a_read_only_root_that_is_mounted_in_a_writable_one_is_refused() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/other", Access::ReadOnly);
        bound(&mut case, "/home/dev/project/x", "/home/dev/other");
        let found = case.found("mounted-protection");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("\nroot \"/home/dev/other\" read-only -- "), "{found:?}");
    }
}
