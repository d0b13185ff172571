//! In: a policy and a host. Out: what each statement of the policy is on that machine, and the plan built from it.
//!
//! Binding records what it found, good or bad, as facts; lint turns the bad ones into findings. A fact that cannot be
//! established grants nothing.

pub mod denials;
pub mod executables;
pub mod git;
pub mod gitignored;
pub mod guards;
pub mod links;
pub mod plan;
pub mod seatbelt;
pub mod subject;
pub mod system;
pub mod tools;
mod walk;
pub mod worktree;

use crate::host::remembering::Remembering;
use crate::host::resolve::{resolve, resolve_parent};
use crate::host::{Entry, Hop, Host, HostError, Resolution, ResolveError};
use crate::plan::Operation;
use crate::policy::{Access, Policy, PolicyPath, System, ToolName};
use camino::{Utf8Path, Utf8PathBuf};
use guards::OwnFile;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use system::Base;
use tools::{Finder, Grant, Lookup, Tool};

/// A path of the policy and where it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundPath {
    pub asked: PolicyPath,
    pub found: Result<Resolution, ResolveError>,
}

impl BoundPath {
    /// The canonical path, where there is one.
    pub fn canonical(&self) -> Option<&Utf8Path> {
        self.found.as_ref().ok().map(|found| found.canonical.as_path())
    }
}

/// One path that a denial covers on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeniedPath {
    /// The path as denied: its parent resolved, its last component not followed.
    pub path: Utf8PathBuf,
    pub entry: Option<Entry>,
}

/// A denial: the paths it covers and what could not be examined on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundDenial {
    /// Index into `policy.denials`.
    pub statement: usize,
    pub paths: Vec<DeniedPath>,
    /// For a literal denial: the path with every symlink followed, and the hops.
    pub found: Option<Result<Resolution, ResolveError>>,
    /// Directories that could not be listed and paths that could not be examined.
    pub unexamined: Vec<HostError>,
}

impl BoundDenial {
    fn new(statement: usize) -> Self {
        Self { statement, paths: Vec::new(), found: None, unexamined: Vec::new() }
    }
}

/// A path that is guarded in a writable root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    pub path: Utf8PathBuf,
    pub entry: Option<Entry>,
    /// Why: "commands that git runs", "start-up file of a shell".
    pub reason: &'static str,
    /// Whether it is a file of Palisade's own, which is there when the command runs.
    pub own: bool,
    /// Whether nothing may stand in for it while it is missing, since a program would take that for the thing itself.
    pub keep_absent: bool,
    /// Index into `policy.unguards` of the statement that lifts it.
    pub lifted_by: Option<usize>,
}

/// A protected file that has other names, or a path that kept this from being checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkFact {
    /// `path`, protected by what `protected` names, has `links` hard links of which `known` are protected as much as it is.
    Linked {
        path: Utf8PathBuf,
        protected: Utf8PathBuf,
        links: u64,
        known: u64,
    },
    Unexamined {
        protected: Utf8PathBuf,
        error: HostError,
    },
}

/// A tool by name, and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundTool {
    pub asked: ToolName,
    pub optional: bool,
    pub lookup: Lookup,
}

/// A tool stated by path, and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundToolPath {
    pub asked: PolicyPath,
    pub lookup: Lookup,
}

/// What `git-worktree` found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Worktree {
    /// `.git` is a directory inside the root: nothing more is needed.
    Own,
    /// A linked worktree whose repository points back.
    Linked {
        /// `…/.git/worktrees/NAME`: this worktree's own part.
        git_dir: Utf8PathBuf,
        /// `…/.git`: shared by all worktrees.
        common_dir: Utf8PathBuf,
    },
    /// No `.git`, a repository that does not point back, or what could not be read; says which.
    Refused(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundWorktree {
    pub asked: PolicyPath,
    pub worktree: Worktree,
}

/// What every statement of a policy is on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// In the policy's order.
    pub roots: Vec<BoundPath>,
    pub denials: Vec<BoundDenial>,
    pub guards: Vec<Guard>,
    pub executables: Vec<BoundPath>,
    /// Those of `unix` lines, in the policy's order.
    pub sockets: Vec<BoundPath>,
    /// Of each of them, in the same order, on Linux: what is loaded from the system there, or why that cannot be told.
    pub loads: Vec<Result<Vec<executables::Load>, String>>,
    pub worktrees: Vec<BoundWorktree>,
    /// The one stated, else the workspace where a root holds it.
    pub working_directory: Option<BoundPath>,
    pub tools: Vec<BoundTool>,
    pub tool_paths: Vec<BoundToolPath>,
    /// The shell, which can always run.
    pub shell: Lookup,
    pub links: Vec<LinkFact>,
    pub base: Base,
    /// In the policy's order: the rules of each `seatbelt` statement, or why it is not taken.
    pub seatbelt: Vec<Result<Vec<seatbelt::RawRule>, Vec<String>>>,
}

/// The places at which `executable` grants anything, indexed: a question costs as many look-ups as the path has components.
pub struct ExecutablePlaces<'a> {
    roots: HashSet<&'a Utf8Path>,
}

impl ExecutablePlaces<'_> {
    /// Whether a canonical path lies inside a root. A whole root is not inside itself: what may run in it is to be named.
    pub fn hold(&self, path: &Utf8Path) -> bool {
        path.ancestors().skip(1).any(|ancestor| self.roots.contains(ancestor))
    }

    /// Whether a canonical path is a root.
    pub fn is_root(&self, path: &Utf8Path) -> bool {
        self.roots.contains(path)
    }
}

/// Looks up every statement of `policy` on `host`. `own` files are guarded wherever they lie in a writable root.
pub fn bind(host: &dyn Host, policy: &Policy, own: &[OwnFile]) -> Binding {
    // Patterns, ignore files, guards and links walk the same directories.
    let own_memory;
    let host = match host.conclusions() {
        Some(_) => host,
        None => {
            own_memory = Remembering::new(host);
            &own_memory
        }
    };
    let bound = |path: &PolicyPath| BoundPath { asked: path.clone(), found: resolve(host, &path.path) };
    let roots: Vec<BoundPath> = policy.roots.iter().map(|root| bound(&root.path)).collect();
    let denials = denials::bind(host, policy);
    let worktrees: Vec<BoundWorktree> = policy
        .git_worktrees
        .iter()
        .map(|path| BoundWorktree { asked: path.clone(), worktree: worktree::find(host, &path.path) })
        .collect();
    let guards = bind_guards(host, policy, &roots, &worktrees, own);
    let mut finder = Finder::new(host);
    let mut named = |asked: &ToolName, optional: bool| BoundTool {
        asked: asked.clone(),
        optional: optional || asked.group.is_some(),
        lookup: finder.find(&asked.name),
    };
    let mut tools: Vec<BoundTool> = policy.tools.iter().map(|asked| named(asked, false)).collect();
    tools.extend(policy.optional_tools.iter().map(|asked| named(asked, true)));
    let tool_paths = policy
        .tool_paths
        .iter()
        .map(|asked| BoundToolPath { asked: asked.clone(), lookup: finder.find_path(&asked.path) })
        .collect();
    let shell = finder.shell();
    let base = match policy.target {
        System::Linux => system::linux::base(host, policy.network(), policy.ipc(), &need_names(policy)),
        System::Macos => system::macos::base(host, policy.network(), &need_names(policy)),
    };
    let mut binding = Binding {
        executables: policy.executables.iter().map(bound).collect(),
        sockets: policy.unix.iter().map(|socket| bound(&socket.path)).collect(),
        loads: Vec::new(),
        working_directory: None,
        roots,
        denials,
        guards,
        worktrees,
        tools,
        tool_paths,
        shell,
        links: Vec::new(),
        base,
        seatbelt: match policy.target {
            System::Macos => policy.seatbelt.iter().map(|stated| seatbelt::read(&stated.rule)).collect(),
            System::Linux => Vec::new(),
        },
    };
    let default = || {
        let workspace = PolicyPath { path: policy.workspace.clone(), span: policy.name.span };
        let held = binding.usable_roots(policy).iter().any(|(_, root, _)| workspace.path.starts_with(root));
        held.then_some(workspace)
    };
    binding.working_directory = policy.working_directory.clone().or_else(default).as_ref().map(bound);
    if policy.target == System::Linux {
        let places = binding.executable_places();
        let loads = binding.executables.iter().map(|bound| match &bound.found {
            Ok(found) if places.hold(&found.canonical) => {
                executables::loads(&mut finder, policy, &binding, found)
            }
            _ => Ok(Vec::new()),
        });
        binding.loads = loads.collect();
    }
    let denied = outermost(binding.denied());
    let holds = |path: &Utf8Path| denied.iter().any(|(top, _)| path.starts_with(top));
    let others = binding.write_protected(policy).into_iter().filter(|(path, _)| !holds(path)).collect();
    binding.links = links::check(host, &denied, &outermost(others));
    binding
}

fn need_names(policy: &Policy) -> Vec<String> {
    let mut names: Vec<String> = policy.needs.iter().map(|need| need.value.clone()).collect();
    names.sort();
    names.dedup();
    names
}

fn bind_guards(
    host: &dyn Host,
    policy: &Policy,
    roots: &[BoundPath],
    worktrees: &[BoundWorktree],
    own: &[OwnFile],
) -> Vec<Guard> {
    let mut guards = Vec::new();
    // Repositories that git meets in the root, and where it goes from them.
    let (mut inside, mut repositories) = (Vec::new(), Vec::new());
    for (root, bound) in policy.roots.iter().zip(roots) {
        let Ok(found) = &bound.found else { continue };
        if root.access == Access::ReadWrite && found.entry.as_ref().is_some_and(Entry::is_directory) {
            guards.extend(guards::of_root(host, &found.canonical, own));
            repositories.push(found.canonical.join(".git"));
            for git in git::nested(host, &found.canonical) {
                inside.extend(git::guards(host, &git));
                repositories.push(git);
            }
        }
    }
    inside.extend(repositories.iter().flat_map(|git| git::behind(host, git)));
    for bound in worktrees {
        if let Worktree::Linked { git_dir, .. } = &bound.worktree {
            guards.extend(git::linked_guards(host, git_dir));
        }
    }
    let writable = |path: &Utf8Path| writable_root(policy, roots, path);
    guards.extend(inside.into_iter().filter(|guard| writable(&guard.path)));
    let behind: Vec<Guard> = guards.iter().flat_map(|guard| guards::behind(host, guard)).collect();
    guards.extend(behind.into_iter().filter(|guard| writable(&guard.path)));
    guards.sort_by(|a, b| a.path.cmp(&b.path).then(b.own.cmp(&a.own)));
    guards.dedup_by(|a, b| a.path == b.path);
    let by_path: HashMap<Utf8PathBuf, usize> =
        guards.iter().enumerate().map(|(at, guard)| (guard.path.clone(), at)).collect();
    for (at, unguard) in policy.unguards.iter().enumerate() {
        // What is lifted is the name that was written: a command that may put a link there, or on the way, must not choose what else is.
        let Ok(lifted) = resolve_parent(host, &unguard.path.path) else { continue };
        if lifted.hops.iter().any(|hop| writable(&hop.link)) {
            continue;
        }
        // The one guard that is named, and none below it: what a reviewer has not read is not lifted.
        if let Some(guard) = by_path.get(&lifted.canonical).and_then(|&guard| guards.get_mut(guard)) {
            guard.lifted_by = Some(at);
        }
    }
    guards
}

/// Whether the innermost root that holds a path is writable.
fn writable_root(policy: &Policy, roots: &[BoundPath], path: &Utf8Path) -> bool {
    let holding = policy.roots.iter().zip(roots).filter_map(|(root, bound)| {
        let found = bound.found.as_ref().ok()?;
        let holds =
            found.entry.as_ref().is_some_and(Entry::is_directory) && path.starts_with(&found.canonical);
        holds.then_some((found.canonical.as_str().len(), Reverse(root.access)))
    });
    holding.max().is_some_and(|(_, Reverse(access))| access == Access::ReadWrite)
}

impl Binding {
    /// Whether the innermost root that holds a canonical path is writable.
    pub fn is_writable(&self, policy: &Policy, path: &Utf8Path) -> bool {
        writable_root(policy, &self.roots, path)
    }

    /// Whether one of these links stands where a command may write, so that an earlier command may have put it there.
    pub fn is_plantable(&self, policy: &Policy, hops: &[Hop]) -> bool {
        hops.iter().any(|hop| self.is_writable(policy, &hop.link))
    }

    /// Every program that was found, and the shell.
    pub fn found_tools(&self) -> impl Iterator<Item = &Tool> {
        let named = self.tools.iter().map(|bound| &bound.lookup);
        let stated = self.tool_paths.iter().map(|bound| &bound.lookup);
        named.chain(stated).chain([&self.shell]).filter_map(Lookup::tool)
    }

    /// Whether a program stands at a path that no tool grants: it may be seen there, and cannot run.
    pub fn is_stranger(&self, host: &dyn Host, program: &Utf8Path) -> bool {
        let Ok(Resolution { canonical, entry: Some(entry), .. }) = resolve(host, program) else {
            return false;
        };
        let runs = |grant: &Grant| grant.path == canonical && grant.operations.contains(Operation::Exec);
        entry.is_file() && !self.found_tools().any(|tool| tool.grants.iter().any(runs))
    }

    /// Where an `executable` may stand: inside a root, neither at it nor above it.
    pub fn executable_places(&self) -> ExecutablePlaces<'_> {
        let roots = self.roots.iter().filter_map(|bound| {
            let found = bound.found.as_ref().ok()?;
            found.entry.as_ref().filter(|entry| entry.is_directory())?;
            Some(found.canonical.as_path())
        });
        ExecutablePlaces { roots: roots.collect() }
    }

    /// The roots that exist and are directories, outermost first, each path once, with the index of its statement. Of several
    /// at one place, which lint refuses where they differ, it is one with the narrowest access.
    pub fn usable_roots(&self, policy: &Policy) -> Vec<(usize, &Utf8Path, &Entry)> {
        let mut usable: Vec<(usize, &Utf8Path, &Entry)> = self
            .roots
            .iter()
            .enumerate()
            .filter_map(|(at, bound)| {
                let found = bound.found.as_ref().ok()?;
                let entry = found.entry.as_ref().filter(|entry| entry.is_directory())?;
                Some((at, found.canonical.as_path(), entry))
            })
            .collect();
        usable.sort_by_key(|&(at, path, _)| (path.components().count(), path, policy.roots[at].access, at));
        usable.dedup_by(|a, b| a.1 == b.1);
        usable
    }

    /// The paths that are denied, with what stands there.
    pub fn denied(&self) -> Vec<(Utf8PathBuf, Option<Entry>)> {
        let denied = self.denials.iter().flat_map(|denial| &denial.paths);
        denied.map(|denied| (denied.path.clone(), denied.entry.clone())).collect()
    }

    /// The paths that are guarded, or read-only inside a writable root, with what stands there.
    pub fn write_protected(&self, policy: &Policy) -> Vec<(Utf8PathBuf, Option<Entry>)> {
        let guards = self.guards.iter().filter(|guard| guard.lifted_by.is_none());
        let mut paths: Vec<_> = guards.map(|guard| (guard.path.clone(), guard.entry.clone())).collect();
        let usable = self.usable_roots(policy);
        for &(at, path, entry) in &usable {
            let inside_writable = usable.iter().any(|&(outer, outer_path, _)| {
                policy.roots[outer].access == Access::ReadWrite
                    && path != outer_path
                    && path.starts_with(outer_path)
            });
            if policy.roots[at].access == Access::ReadOnly && inside_writable {
                paths.push((path.to_path_buf(), Some(entry.clone())));
            }
        }
        paths
    }
}

/// Leaves out what lies inside another path of the list, and repetitions.
fn outermost(mut paths: Vec<(Utf8PathBuf, Option<Entry>)>) -> Vec<(Utf8PathBuf, Option<Entry>)> {
    paths.sort_by(|a, b| a.0.cmp(&b.0));
    let mut kept: Vec<(Utf8PathBuf, Option<Entry>)> = Vec::new();
    for (path, entry) in paths {
        // Sorted by components, so whatever holds this path and was kept is the last one kept.
        if !kept.last().is_some_and(|(last, _)| path.starts_with(last)) {
            kept.push((path, entry));
        }
    }
    kept
}
