use crate::finding::Finding;
use crate::host::Host;
use crate::lint::Context;
use crate::lint::places::{Roots, home};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashMap;

rule! {
    /// A root that another user may put something else in place of.
    ///
    /// ## What it does
    ///
    /// Reports a `root` in a directory that every user of the machine may write and that has no sticky bit, and one in a
    /// directory with the sticky bit, such as `/tmp`, that belongs to another user than the home does.
    ///
    /// ## Why it is bad
    ///
    /// Somebody else moves the directory away and puts a link there: what the command then reads is theirs, and what it
    /// writes goes where they say. `exec` refuses a root that is another directory than was compiled; the next compile
    /// takes it.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "/srv/tools/data" read-only     # /srv/tools has mode 0777
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
    /// Looks alike and is fine: in `/tmp`, but of this user, and the sticky bit keeps it in its place.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "/tmp/data" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Take the right to write away from others (`chmod o-w`), or keep the directory in the home.
    name: "replaceable-root",
    severity: Warning,
    confidence: Certain,
    fix: None,
    allowable: true,
    check: check,
}

const BY_OTHERS: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// What everybody may do to paths, each looked at once. Keys are text: canonical paths have one spelling.
pub(super) struct Others<'a> {
    host: &'a dyn Host,
    modes: HashMap<String, Option<(u32, bool)>>,
    /// For a directory: itself or the nearest above it that everybody may write and that is not sticky.
    open: HashMap<String, Option<Utf8PathBuf>>,
}

impl<'a> Others<'a> {
    pub(super) fn new(host: &'a dyn Host) -> Self {
        Self { host, modes: HashMap::new(), open: HashMap::new() }
    }

    /// The permission bits and whether it is a directory. `None` for what is not there, and for links, whose bits mean nothing.
    fn mode(&mut self, path: &Utf8Path) -> Option<(u32, bool)> {
        if let Some(known) = self.modes.get(path.as_str()) {
            return *known;
        }
        let entry = self.host.lstat(path).ok().flatten();
        let mode = entry.filter(|entry| entry.is_directory() || entry.is_file());
        let mode = mode.map(|entry| (entry.mode, entry.is_directory()));
        self.modes.insert(path.as_str().to_owned(), mode);
        mode
    }

    /// The path that everybody may write, so that they may put something else in place of this one: the file itself, or a directory
    /// above it that is not sticky.
    pub(super) fn may_replace(&mut self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        if self.mode(path).is_some_and(|(mode, is_directory)| !is_directory && mode & BY_OTHERS != 0) {
            return Some(path.to_path_buf());
        }
        self.open_from(path.parent()?)
    }

    fn open_from(&mut self, directory: &Utf8Path) -> Option<Utf8PathBuf> {
        let is_open = |(mode, _): (u32, bool)| mode & BY_OTHERS != 0 && mode & STICKY == 0;
        let (mut passed, mut open) = (Vec::new(), None);
        for ancestor in directory.ancestors() {
            if let Some(known) = self.open.get(ancestor.as_str()) {
                open = known.clone();
                break;
            }
            passed.push(ancestor);
            if self.mode(ancestor).is_some_and(is_open) {
                open = Some(ancestor.to_path_buf());
                break;
            }
        }
        for ancestor in passed {
            self.open.insert(ancestor.as_str().to_owned(), open.clone());
        }
        open
    }

    fn is_sticky(&mut self, path: &Utf8Path) -> bool {
        self.mode(path).is_some_and(|(mode, _)| mode & BY_OTHERS != 0 && mode & STICKY != 0)
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let (_, user) = home(context);
    let mut others = Others::new(context.host);
    for root in Roots::of(context).iter() {
        let owner = root.found.entry.as_ref().map_or(user, |entry| entry.uid);
        let (label, help) = if let Some(open) = others.may_replace(root.path()) {
            (
                format!("`{open}` may be written by everybody"),
                format!("take the right away: `chmod o-w {open}`"),
            )
        } else if owner != user
            && owner != 0
            && root.path().parent().is_some_and(|parent| others.is_sticky(parent))
        {
            (format!("belongs to user {owner}"), "keep the directory in the home".to_owned())
        } else {
            continue;
        };
        findings.push(
            INFO.finding(format!(
                "another user may put something else in place of the root `{}`",
                root.path()
            ))
            .at(root.statement.span, label)
            .help(help),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::host::Kind;
    use crate::lint::testing::Case;
    use crate::policy::Access;
    use camino::Utf8Path;

    #[test]
    fn the_sticky_bit_keeps_what_is_ones_own() {
        let mut case = Case::in_workspace();
        case.machine.add("/tmp/x", Kind::Directory);
        let mut set = |path: &str, mode, uid| {
            if let Some(entry) = case.machine.entries.get_mut(Utf8Path::new(path)) {
                (entry.mode, entry.uid) = (mode, uid);
            }
        };
        set("/tmp", 0o1777, 0);
        case.root("/tmp/x", Access::ReadWrite);
        assert!(case.found("replaceable-root").is_empty());
        let mut case = Case::in_workspace();
        case.machine.add("/tmp/x", Kind::Directory);
        for (path, mode, uid) in [("/tmp", 0o1777, 0), ("/tmp/x", 0o755, 7)] {
            if let Some(entry) = case.machine.entries.get_mut(Utf8Path::new(path)) {
                (entry.mode, entry.uid) = (mode, uid);
            }
        }
        case.root("/tmp/x", Access::ReadWrite);
        assert_eq!(
            case.found("replaceable-root"),
            ["another user may put something else in place of the root `/tmp/x`\n\
              root \"/tmp/x\" read-write -- belongs to user 7"]
        );
    }
}
