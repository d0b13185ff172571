use crate::finding::Finding;
use crate::host::{Host, Identity, Kind};
use crate::lint::Context;
use crate::lint::places::{PlacedRoot, Roots, list};
use crate::plan::{Decider, Operation};
use crate::source::Span;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::{BTreeMap, HashMap};

rule! {
    /// A file of a read-only root that has another name in a writable one.
    ///
    /// ## What it does
    ///
    /// Reports files below a read-only `root` that are the same file, by a hard link, as one that may be written below
    /// another `root`. Of a read-only root inside a writable one `hard-linked-file` reports every other name, wherever it is.
    ///
    /// ## Why it is bad
    ///
    /// Walls stand around names. The command writes the file by the name that is open, and what it wrote is in the
    /// read-only root. Package managers make such links by design: a package changed in one project is changed in the
    /// store, and in every project that is linked from it.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only          # linked/shared.c is also ~/other/shared.c
    ///     root "~/other" read-write
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     root "$workspace/target" read-write
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the file has two names, and neither can be written.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "~/other" read-only
    ///     root "$workspace/target" read-write
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Make it a file of its own: `cp -p F F.copy && mv F.copy F`. Package managers can be told to copy:
    /// `package-import-method=copy` for pnpm, `UV_LINK_MODE=copy` for uv. Where both roots are for one work anyway, allow
    /// this with the reason.
    name: "shared-file",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: true,
    check: check,
}

/// Calls `look` with every file below a directory that has more names than one. What cannot be listed, the command cannot list either.
fn linked(host: &dyn Host, top: &Utf8Path, look: &mut dyn FnMut(Utf8PathBuf, Identity)) {
    let mut pending = vec![top.to_path_buf()];
    while let Some(directory) = pending.pop() {
        for name in host.read_dir(&directory).unwrap_or_default() {
            let path = directory.join(name);
            match host.lstat(&path) {
                Ok(Some(entry)) if entry.kind == Kind::Directory => pending.push(path),
                Ok(Some(entry)) if entry.kind == Kind::File && entry.links > 1 => look(path, entry.identity),
                _ => {}
            }
        }
    }
}

/// Files that may be written and have more names, with the root that opens each.
fn writable(
    host: &dyn Host,
    roots: &Roots<'_>,
    decider: &Decider<'_>,
) -> HashMap<Identity, (Utf8PathBuf, Span)> {
    let mut files = HashMap::new();
    for root in outermost(roots, true) {
        linked(host, root.path(), &mut |path, identity| {
            if decider.decide(Operation::Write, &path).allowed
                && let Some(holding) = roots.holding(&path)
            {
                files.entry(identity).or_insert((path, holding.statement.span));
            }
        });
    }
    files
}

/// The roots of one access that lie in no other of that access.
fn outermost<'a>(roots: &Roots<'a>, is_writable: bool) -> Vec<PlacedRoot<'a>> {
    let alike = |root: &&PlacedRoot<'a>| root.is_writable() == is_writable;
    let is_inside = |root: &PlacedRoot<'a>| {
        let mut around = root.path().ancestors().skip(1).filter_map(|path| roots.at(path));
        around.any(|outer| outer.is_writable() == is_writable)
    };
    roots.iter().filter(alike).filter(|root| !is_inside(root)).copied().collect()
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    // Inside a writable root every other name counts, and `hard-linked-file` says so.
    let mut beside = outermost(&roots, false);
    beside.retain(|root| {
        !root.path().ancestors().filter_map(|path| roots.at(path)).any(PlacedRoot::is_writable)
    });
    if beside.is_empty() {
        return;
    }
    let decider = context.plan.decider();
    let open = writable(context.host, &roots, &decider);
    if open.is_empty() {
        return;
    }
    for root in beside {
        let mut shared: BTreeMap<Span, Vec<(Utf8PathBuf, &Utf8Path)>> = BTreeMap::new();
        linked(context.host, root.path(), &mut |path, identity| {
            let Some((other, span)) = open.get(&identity) else { return };
            let read_only = decider.decide(Operation::Read, &path).allowed
                && !decider.decide(Operation::Write, &path).allowed;
            if read_only {
                shared.entry(*span).or_default().push((path, other));
            }
        });
        for (span, mut files) in shared {
            files.sort();
            let [(_, other), ..] = &files[..] else { continue };
            let names: Vec<_> = files.iter().map(|(path, _)| path.as_str()).collect();
            findings.push(
                INFO.finding(format!("{} can be written by another name", list(&names))).about(&names)
                    .at(root.statement.span, "read-only")
                    .at(span, format!("writable, and `{other}` is the same file"))
                    .help("replace it by a copy: `cp -p F F.copy && mv F.copy F`; pnpm (`package-import-method=copy`) and uv (`UV_LINK_MODE=copy`) can copy instead of linking"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access::{ReadOnly, ReadWrite};
    use camino::Utf8Path;

    #[test]
    fn one_file_in_a_read_only_and_a_writable_root_is_reported_until_it_is_denied() {
        let mut case = Case::new();
        for path in ["/home/dev/project/shared.key", "/home/dev/other/shared.key"] {
            if let Some(entry) = case.machine.entries.get_mut(Utf8Path::new(path)) {
                (entry.links, entry.identity.inode) = (2, 99);
            }
        }
        case.root("/home/dev/project", ReadWrite).root("/home/dev/other", ReadOnly);
        assert_eq!(
            case.found("shared-file"),
            ["`/home/dev/other/shared.key` can be written by another name\n\
              root \"/home/dev/other\" read-only -- read-only\n\
              root \"/home/dev/project\" read-write -- writable, and `/home/dev/project/shared.key` is the same file"]
        );
        case.deny("/home/dev/project/shared.key");
        assert!(case.found("shared-file").is_empty());
    }
}
