//! Protected paths that a mount shows under another name, as a hard link does for one file: `mount --bind ~/.ssh ~/work/x`.

use super::{Decider, Effect, Operation, Operations, OriginKind, Protection};
use crate::host::mounts::{Mount, holder};
use camino::{Utf8Path, Utf8PathBuf};

/// Another name of something protected, at which it is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias<'a> {
    /// The path whose protection it gets round.
    pub protected: &'a Utf8Path,
    /// What of it is seen: the path itself, or something below it.
    pub shown: Utf8PathBuf,
    /// The other name.
    pub name: Utf8PathBuf,
    /// Where the mount is that makes it.
    pub mount: &'a Utf8Path,
}

/// Part of one file system, and the path at which the protected thing is seen.
struct Area<'a> {
    mount: &'a Mount,
    inside: Utf8PathBuf,
    path: &'a Utf8Path,
}

/// The names by which a command may do with protected things what it may not do by their own. `mounts` are all that can be reached
/// ([`crate::host::mounts::parse`]), paths canonical.
///
/// Places are compared within file systems, so that subvolumes, and file systems that are mounted twice as a whole, count as what they are. What
/// an overlay shows of another file system is not seen: the kernel knows it as a file system of its own.
pub fn aliases<'a>(
    mounts: &'a [Mount],
    decider: &Decider<'_>,
    protected: impl IntoIterator<Item = (&'a Utf8Path, Protection)>,
) -> Vec<Alias<'a>> {
    let mut found = Vec::new();
    if mounts.is_empty() {
        return found;
    }
    for (path, protection) in protected {
        let closed = match protection {
            Protection::Denied => Operations::ALL.minus(Operations::of(&[Operation::Metadata])),
            Protection::ReadOnly | Protection::Guarded => Operations::WRITING,
        };
        for area in areas(mounts, path) {
            let others = mounts.iter().filter(|mount| mount.device == area.mount.device);
            for other in others {
                let Some((shown, name)) = seen(&area, other) else { continue };
                let reached = |path: &Utf8Path, mount: &Mount| {
                    holder(mounts, path).is_some_and(|holder| holder.place == mount.place)
                };
                if name == shown || !reached(&name, other) || !reached(&shown, area.mount) {
                    continue;
                }
                let closed = closed.minus(decider.allowed(&shown));
                if closed.iter().any(|operation| is_open(decider, operation, &name)) {
                    // The smaller of the two is the one that somebody made for it.
                    let mount =
                        [area.mount, other].into_iter().max_by_key(|mount| mount.place.as_str().len());
                    let mount = mount.unwrap_or(other).place.as_path();
                    found.push(Alias { protected: path, shown, name, mount });
                }
            }
        }
    }
    found.sort_by(|a, b| (a.protected, &a.name).cmp(&(b.protected, &b.name)));
    found
}

/// Every name that a path has by what is mounted, its own first.
pub fn names(mounts: &[Mount], path: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut names = vec![path.to_path_buf()];
    let Some(mount) = holder(mounts, path) else { return names };
    let Ok(below) = path.strip_prefix(&mount.place) else { return names };
    let area = Area { mount, inside: joined(&mount.root, below), path };
    for other in mounts.iter().filter(|other| other.device == mount.device) {
        if let Some((shown, name)) = seen(&area, other)
            && shown == path
            && holder(mounts, &name).is_some_and(|holder| holder.place == other.place)
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

/// Where a path is within file systems: on the mount that it lies on, and on those below it.
fn areas<'a>(mounts: &'a [Mount], path: &'a Utf8Path) -> Vec<Area<'a>> {
    let own = holder(mounts, path).and_then(|mount| {
        let inside = joined(&mount.root, path.strip_prefix(&mount.place).ok()?);
        Some(Area { mount, inside, path })
    });
    let below = mounts.iter().filter(|mount| mount.place != path && mount.place.starts_with(path));
    let below = below.map(|mount| Area { mount, inside: mount.root.clone(), path: mount.place.as_path() });
    own.into_iter().chain(below).collect()
}

/// What another mount of the file system shows of an area: the path that it has there, and its name in the other mount.
fn seen(area: &Area<'_>, other: &Mount) -> Option<(Utf8PathBuf, Utf8PathBuf)> {
    if let Ok(below) = area.inside.strip_prefix(&other.root) {
        return Some((area.path.to_path_buf(), joined(&other.place, below)));
    }
    let below = other.root.strip_prefix(&area.inside).ok()?;
    Some((joined(area.path, below), other.place.clone()))
}

fn joined(path: &Utf8Path, below: &Utf8Path) -> Utf8PathBuf {
    if below.as_str().is_empty() { path.to_path_buf() } else { path.join(below) }
}

/// Whether the command may do it there or anywhere below, to what the host has there.
fn is_open(decider: &Decider<'_>, operation: Operation, path: &Utf8Path) -> bool {
    let of_the_host = |kind: OriginKind| !matches!(kind, OriginKind::Scratch | OriginKind::Ancestor);
    let open = [decider.decide(operation, path), decider.decide_below(operation, path)]
        .into_iter()
        .any(|decision| decision.allowed && decision.rule.is_some_and(|rule| of_the_host(rule.origin.kind)));
    open || decider.rules().iter().any(|rule| {
        rule.effect == Effect::Allow
            && rule.operations.contains(operation)
            && of_the_host(rule.origin.kind)
            && rule.path.starts_with(path)
            && decider.decide(operation, &rule.path).allowed
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Origin, Rule, Scope, Spelling};

    fn mount(place: &str, device: &str, root: &str) -> Mount {
        Mount { place: place.into(), device: device.into(), root: root.into() }
    }

    fn rule(effect: Effect, operations: Operations, path: &str, kind: OriginKind) -> Rule {
        let origin = Origin { kind, text: String::new(), span: None };
        Rule { effect, operations, scope: Scope::Subtree, path: path.into(), origin }
    }

    const ALL: Operations = Operations::READING.union(Operations::WRITING);

    /// The writable root `/h/work` with a read-only part, and a denial outside of it.
    fn rules() -> Vec<Rule> {
        vec![
            rule(Effect::Allow, ALL, "/tmp", OriginKind::Scratch),
            rule(Effect::Allow, ALL, "/h/work", OriginKind::Root),
            rule(Effect::Allow, Operations::READING, "/h/work/vendor", OriginKind::Root),
            rule(Effect::Deny, Operations::WRITING, "/h/work/vendor", OriginKind::Root),
            rule(Effect::Deny, Operations::WRITING, "/h/work/.mcp.json", OriginKind::Guard),
            rule(Effect::Deny, Operations::ALL, "/h/.ssh", OriginKind::Denial),
            rule(Effect::Deny, Operations::ALL, "/h/work/.env", OriginKind::Denial),
        ]
    }

    fn found(mounts: &[Mount]) -> Vec<String> {
        let rules = rules();
        let decider = Decider::new(&rules, Spelling::Exact);
        let protected = [
            (Utf8Path::new("/h/work/vendor"), Protection::ReadOnly),
            ("/h/work/.mcp.json".into(), Protection::Guarded),
            ("/h/.ssh".into(), Protection::Denied),
            ("/h/work/.env".into(), Protection::Denied),
        ];
        let found = aliases(mounts, &decider, protected);
        found.iter().map(|it| format!("{} as {} by {}", it.shown, it.name, it.mount)).collect()
    }

    #[test]
    fn a_bind_of_a_protected_path_is_another_name_of_it() {
        let root = mount("/", "8:1", "/");
        let with = |other: Mount| found(&[root.clone(), other]);
        assert_eq!(with(mount("/h/work/x", "8:1", "/h/.ssh")), ["/h/.ssh as /h/work/x by /h/work/x"]);
        // Part of it, and what it is in.
        assert_eq!(with(mount("/h/work/x", "8:1", "/h/.ssh/id")), ["/h/.ssh/id as /h/work/x by /h/work/x"]);
        assert_eq!(
            with(mount("/h/work/x", "8:1", "/h")).first().unwrap(),
            "/h/.ssh as /h/work/x/.ssh by /h/work/x"
        );
        // A guarded or read-only path, which need not be there.
        assert_eq!(
            with(mount("/h/work/x", "8:1", "/h/work")),
            [
                "/h/work/.env as /h/work/x/.env by /h/work/x",
                "/h/work/.mcp.json as /h/work/x/.mcp.json by /h/work/x",
                "/h/work/vendor as /h/work/x/vendor by /h/work/x",
            ]
        );
        // The protected path may be the one that was mounted.
        assert_eq!(
            with(mount("/h/work/vendor", "8:1", "/h/work/src")),
            ["/h/work/vendor as /h/work/src by /h/work/vendor"]
        );
    }

    #[test]
    fn a_name_that_opens_nothing_is_none() {
        let root = mount("/", "8:1", "/");
        let with = |other: Mount| found(&[root.clone(), other]);
        for other in [
            // As closed as it is, another file system, outside of every root, behind the private directory, and elsewhere.
            mount("/h/work/.env", "8:1", "/h/.ssh/id"),
            mount("/h/work/x", "8:2", "/h/.ssh"),
            mount("/srv/x", "8:1", "/h/.ssh"),
            mount("/tmp/x", "8:1", "/h/.ssh"),
            mount("/h/work/x", "8:1", "/h/.sshx"),
            // Over itself.
            mount("/h/work", "8:1", "/h/work"),
        ] {
            assert_eq!(with(other.clone()), Vec::<String>::new(), "{other:?}");
        }
        // What is read-only for reading there as well.
        assert_eq!(with(mount("/h/work/vendor/x", "8:1", "/h/work/.mcp.json")), Vec::<String>::new());
        // Something else is mounted over the place.
        let over = [root.clone(), mount("/h/work/x", "8:1", "/h"), mount("/h/work/x/.ssh", "0:9", "/")];
        assert!(!found(&over).iter().any(|it| it.contains(".ssh")), "{:?}", found(&over));
    }

    #[test]
    fn a_path_has_a_name_on_every_mount_that_shows_it() {
        let mounts = [mount("/", "8:1", "/"), mount("/h/work/x", "8:1", "/srv"), mount("/m", "8:2", "/")];
        assert_eq!(names(&mounts, "/srv/a".into()), ["/srv/a", "/h/work/x/a"]);
        assert_eq!(names(&mounts, "/h/work/x/a".into()), ["/h/work/x/a", "/srv/a"]);
        assert_eq!(names(&mounts, "/m/a".into()), ["/m/a"]);
        assert_eq!(names(&[], "/m/a".into()), ["/m/a"]);
    }

    #[test]
    fn subvolumes_and_file_systems_that_are_mounted_twice_are_told_apart() {
        // Subvolumes have one device; other ones have nothing in common.
        let btrfs = [
            mount("/", "0:30", "/@"),
            mount("/h", "0:30", "/@home"),
            mount("/h/work/x", "0:30", "/@snapshots"),
        ];
        assert_eq!(found(&btrfs), Vec::<String>::new());
        let twice =
            [mount("/", "0:30", "/@"), mount("/h", "0:30", "/@home"), mount("/h/work/x", "0:30", "/@home")];
        assert_eq!(found(&twice).first().unwrap(), "/h/.ssh as /h/work/x/.ssh by /h/work/x");
        // The whole twice, but the second one where nothing is granted.
        let twice = [mount("/", "8:1", "/"), mount("/mnt", "8:1", "/")];
        assert_eq!(found(&twice), Vec::<String>::new());
        // A mount below the protected path is part of it.
        let below =
            [mount("/", "8:1", "/"), mount("/h/.ssh/agent", "8:2", "/"), mount("/h/work/x", "8:2", "/sub")];
        assert_eq!(found(&below), ["/h/.ssh/agent/sub as /h/work/x by /h/.ssh/agent"]);
    }
}
