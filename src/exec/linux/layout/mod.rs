//! In: the decision function and what stands at the paths its rules name. Out: the mounts that make the kernel give its answers.
//!
//! Pure. The paths of the rules are walked from the root down; where the answers for a path, or for what lies below it, are not those
//! that it would inherit from the mount above, it gets a mount of its own. What cannot be expressed is given less, never more:
//! - `exec` and `interpret` are one right, and either implies `map`;
//! - a path that is a mount point cannot be created, removed, renamed or linked, whatever its rules say;
//! - a mount is writable only where every kind of writing is allowed below it;
//! - `connect` is never possible: the system call filter has no unix sockets;
//! - the existence of a masked path, and of a directory on the way to something visible, can be seen.

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
mod tree;
mod want;

use crate::plan::{Decider, Operation, OriginKind};
use camino::{Utf8Path, Utf8PathBuf};
use tree::{Node, Tree};
use want::Want;

/// What stands at a path on the host, not following a link there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Missing,
    Directory,
    Symlink(Utf8PathBuf),
    CharacterDevice,
    /// A file, or a socket, fifo or block device, which are bound as files are.
    File,
}

/// How one path is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mount {
    /// An empty directory in a tmpfs of ours; without `listed` it may be walked through but not read.
    Directory { listed: bool },
    /// A symlink in a tmpfs of ours.
    Symlink { target: Utf8PathBuf },
    /// What stands there on the host, and all below it.
    Bind { kind: Bound, write: bool, run: bool },
    /// A character device that works.
    Device { write: bool },
    /// An empty read-only directory of its own over what is there; later steps may fill it.
    Cover { listed: bool },
    /// A file or directory without permissions over what is there.
    Mask { directory: bool },
    /// A private, empty, writable directory.
    Scratch,
    /// A fresh, read-only `proc`.
    Proc,
    /// A fresh instance of `devpts`.
    Terminals,
}

/// What a bind must find on the host, else the machine has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    Directory,
    File,
    Symlink,
}

/// One operation on the new root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub path: Utf8PathBuf,
    pub mount: Mount,
    /// Whether the mount point must be made first: the path lies in a tmpfs of ours.
    pub create: bool,
    /// Whether this takes away what the mount above gives: if the host replaces the path, the kernel drops the mount, and the run must end.
    pub restricts: bool,
}

/// Landlock rights on a path and all below it; reading is granted everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Right {
    pub path: Utf8PathBuf,
    pub directory: bool,
    pub write: bool,
    pub exec: bool,
    pub device: bool,
    /// Whether a writable directory may get symlinks. git makes none in a repository, but writes through them: a log that is one would
    /// have the git outside append to any file of the user's.
    pub links: bool,
}

/// Everything that is to be mounted, parents first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    pub steps: Vec<Step>,
    pub rights: Vec<Right>,
    /// Whether the names in `/` may be read.
    pub listed: bool,
    /// Missing paths that may not be created but lie in a writable directory of the host: nothing can be mounted on them.
    pub exposed: Vec<Utf8PathBuf>,
}

impl Layout {
    /// Whether there is a fresh `proc`.
    pub fn has_proc(&self) -> bool {
        self.steps.iter().any(|step| step.mount == Mount::Proc)
    }
}

/// What a path inherits from the mount above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct View {
    source: Source,
    write: bool,
    run: bool,
    /// Whether Landlock's execute right reaches here: it can be granted below, not taken away.
    exec: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// A tmpfs of ours, read-only in the end.
    Empty,
    Host,
    Scratch,
    Proc,
    /// Nothing below can be reached.
    Closed,
}

impl View {
    const EMPTY: Self = Self { source: Source::Empty, write: false, run: false, exec: false };

    fn of(source: Source, above: Self) -> Self {
        Self { source, write: false, run: false, exec: above.exec }
    }
}

/// The mounts for these rules. `links` are further symlinks that paths rest on; `kind` says what stands at a path of the host.
pub fn plan(
    decider: &Decider<'_>,
    links: impl IntoIterator<Item = Utf8PathBuf>,
    kind: &dyn Fn(&Utf8Path) -> Kind,
) -> Layout {
    let paths = decider.rules().iter().map(|rule| rule.path.clone()).chain(links);
    let tree = Tree::new(paths, decider, kind);
    let listed = tree.nodes[0].want != Want::Nothing;
    let mut planner = Planner { tree: &tree, layout: Layout { listed, ..Layout::default() } };
    planner.children(0, View::EMPTY);
    for right in planner.layout.rights.iter_mut().filter(|right| right.write) {
        let made = decider.decide_below(Operation::Create, &right.path);
        right.links = made.rule.is_none_or(|rule| rule.origin.kind != OriginKind::Worktree);
    }
    planner.layout
}

struct Planner<'a> {
    tree: &'a Tree,
    layout: Layout,
}

impl Planner<'_> {
    fn children(&mut self, node: usize, view: View) {
        for &child in &self.tree.nodes[node].children {
            let below = self.place(child, view);
            if below.source != Source::Closed {
                self.children(child, below);
            }
        }
    }

    /// Serves one path within what it inherits, and says what its children inherit.
    fn place(&mut self, node: usize, above: View) -> View {
        let want = match (&self.tree.nodes[node].want, self.tree.nodes[node].passage) {
            (Want::Nothing, true) => Want::Directory { listed: false },
            (want, _) => want.clone(),
        };
        match above.source {
            Source::Empty => self.in_empty(node, &want, above),
            Source::Scratch => self.in_scratch(node, &want, above),
            Source::Host => self.in_host(node, &want, above),
            Source::Proc => self.in_proc(node, &want, above),
            Source::Closed => above,
        }
    }

    fn in_empty(&mut self, node: usize, want: &Want, above: View) -> View {
        match want {
            Want::Nothing => View::of(Source::Closed, above),
            Want::Directory { listed } => {
                self.step(node, Mount::Directory { listed: *listed }, true, false);
                above
            }
            Want::Symlink(target) => {
                self.step(node, Mount::Symlink { target: target.clone() }, true, false);
                View::of(Source::Closed, above)
            }
            _ => self.mount(node, want, above, true, false),
        }
    }

    fn in_scratch(&mut self, node: usize, want: &Want, above: View) -> View {
        let held = self.held(node);
        match want {
            // One with something below is a mount of its own, so that it cannot be moved away with it.
            Want::Scratch if !held && self.tree.nodes[node].children.is_empty() => above,
            Want::Symlink(target) if !held => {
                self.step(node, Mount::Symlink { target: target.clone() }, true, false);
                View::of(Source::Closed, above)
            }
            Want::Nothing | Want::Symlink(_) => {
                self.step(node, Mount::Mask { directory: true }, true, false);
                View::of(Source::Closed, above)
            }
            _ => self.mount(node, want, above, true, false),
        }
    }

    fn in_host(&mut self, node: usize, want: &Want, above: View) -> View {
        let held = above.write && self.held(node);
        let kind = &self.tree.nodes[node].kind;
        if *kind == Kind::Missing {
            if above.write && !self.allowed(node, Operation::Create) {
                self.layout.exposed.push(self.tree.nodes[node].path.clone());
            }
            // Below what is missing nothing can be mounted either, but a writable directory may come to be there.
            return if above.write { above } else { View::of(Source::Closed, above) };
        }
        match want {
            Want::Nothing => {
                let mask = Mount::Mask { directory: *kind == Kind::Directory };
                self.step(node, mask, false, true);
                View::of(Source::Closed, above)
            }
            Want::Symlink(_) => {
                if held || (above.write && !self.allowed(node, Operation::Write)) {
                    let bind = Mount::Bind { kind: Bound::Symlink, write: false, run: false };
                    self.step(node, bind, false, true);
                }
                View::of(Source::Closed, above)
            }
            Want::Host { write, run, exec, .. } => {
                let run = mappable(*run, *exec, above);
                if *write == above.write && run == above.run && !held {
                    let exec = run && *exec && !above.exec;
                    if exec {
                        self.layout.rights.push(Right { exec, ..self.right(node) });
                    }
                    return View { exec: exec || above.exec, ..above };
                }
                let restricts = held || (above.write && !write) || (above.run && !run);
                self.mount(node, want, above, false, restricts)
            }
            Want::Device { .. } => self.mount(node, want, above, false, held),
            _ if *kind != Kind::Directory => self.in_host(node, &Want::Nothing, above),
            _ => self.mount(node, want, above, false, true),
        }
    }

    /// The files of `proc` are the kernel's: what the rules hide is masked where this kernel has it, and nothing can be added.
    fn in_proc(&mut self, node: usize, want: &Want, above: View) -> View {
        if *want == Want::Nothing {
            let mask = Mount::Mask { directory: self.tree.nodes[node].kind == Kind::Directory };
            self.step(node, mask, false, true);
            return View::of(Source::Closed, above);
        }
        above
    }

    fn mount(&mut self, node: usize, want: &Want, above: View, create: bool, restricts: bool) -> View {
        let directory = self.tree.nodes[node].kind == Kind::Directory;
        let mut right = self.right(node);
        let (mount, below) = match want {
            Want::Directory { listed } => (Mount::Cover { listed: *listed }, View::of(Source::Empty, above)),
            Want::Host { write, run, exec } => {
                let run = mappable(*run, *exec, above);
                right.write = *write;
                right.exec = *exec && !above.exec;
                let kind = if directory { Bound::Directory } else { Bound::File };
                let view = View { source: Source::Host, write: *write, run, exec: *exec || above.exec };
                (Mount::Bind { kind, write: *write, run }, view)
            }
            Want::Device { write } => {
                right.write = *write;
                right.device = true;
                (Mount::Device { write: *write }, View::of(Source::Closed, above))
            }
            Want::Scratch => {
                right.write = true;
                right.directory = true;
                (Mount::Scratch, View { write: true, ..View::of(Source::Scratch, above) })
            }
            Want::Proc => (Mount::Proc, View::of(Source::Proc, above)),
            Want::Terminals => {
                right.write = true;
                right.device = true;
                right.directory = true;
                (Mount::Terminals, View::of(Source::Closed, above))
            }
            Want::Nothing | Want::Symlink(_) => return View::of(Source::Closed, above),
        };
        self.step(node, mount, create, restricts);
        if right.write || right.exec || right.device {
            self.layout.rights.push(right);
        }
        below
    }

    fn step(&mut self, node: usize, mount: Mount, create: bool, restricts: bool) {
        self.layout.steps.push(Step { path: self.tree.nodes[node].path.clone(), mount, create, restricts });
    }

    fn right(&self, node: usize) -> Right {
        let Node { path, kind, .. } = &self.tree.nodes[node];
        let directory = *kind == Kind::Directory;
        Right { path: path.clone(), directory, write: false, exec: false, device: false, links: true }
    }

    /// Whether the path must stay what it is, although its parent is writable.
    fn held(&self, node: usize) -> bool {
        [Operation::Create, Operation::Remove, Operation::Link]
            .into_iter()
            .any(|operation| !self.allowed(node, operation))
    }

    fn allowed(&self, node: usize, operation: Operation) -> bool {
        self.tree.nodes[node].own.contains(operation)
    }
}

/// Whether a mount is to allow mapping. Where Landlock's execute right reaches a path from above but is not to hold there, only
/// `noexec` stops it, and mapping goes with it.
fn mappable(run: bool, exec: bool, above: View) -> bool {
    run && (exec || !above.exec)
}
