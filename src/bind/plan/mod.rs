//! In: a policy and its binding. Out: the plan. Groups of rules come in the order of [`OriginKind`], which is what
//! makes "the last rule that speaks of it decides" mean the precedence of the language.

mod ancestors;
mod environment;
mod losses;
mod protection;
mod seatbelt;
mod sockets;
mod tools;

use super::worktree::packed_references;
use super::{Binding, Worktree};
use crate::host::{Entry, Hop, Host, HostError, Identity};
use crate::plan::{
    Effect, Operation, Operations, Origin, OriginKind, Plan, PlannedFile, PlannedRoot, Rule, Scope, Spelling,
};
use crate::policy::{Access, Policy, System};
use crate::source::{Sources, Span};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::{BTreeMap, BTreeSet};

/// Stands for the private directory of a command on macOS, whose real path is made anew for each command and travels as a parameter.
/// Nothing can lie below a device, so no root is ever there.
pub const SCRATCH_PARAMETER: &str = "/dev/null/palisade-scratch";

/// Where the private temporary directory may be on Linux; the first that no root holds is taken.
const SCRATCH_PLACES: [&str; 3] = ["/tmp", "/var/tmp", "/run/palisade"];

/// Builds the plan. What could not be bound grants nothing; lint has the findings about it.
pub fn build(host: &dyn Host, policy: &Policy, binding: &Binding, sources: &Sources) -> Plan {
    let mut builder = Builder { host, policy, binding, sources, rules: Vec::new(), links: Vec::new() };
    let scratch = builder.scratch_path();
    builder.base();
    builder.scratch(&scratch);
    let (tools, skipped_tools) = builder.tools();
    let roots = builder.roots();
    builder.worktrees();
    builder.executables();
    let unix = sockets::add(&mut builder);
    let seatbelt = builder.seatbelt();
    let protected = builder.protections();
    // Stable: within a kind, the order in which the rules were made counts.
    builder.rules.sort_by_key(|rule| rule.origin.kind);
    builder.ancestors(&scratch);
    let (files, undigested) = digests(host, binding);
    let mut links = builder.links;
    links.sort();
    links.dedup();
    let mut needs: Vec<String> = policy.needs.iter().map(|need| need.value.clone()).collect();
    needs.sort();
    needs.dedup();
    Plan {
        target: policy.target,
        spelling: if host.case_insensitive() { Spelling::Folded } else { Spelling::Exact },
        rules: builder.rules,
        roots,
        protected,
        links,
        working_directory: working_directory(binding),
        tools,
        skipped_tools,
        files,
        undigested,
        shell: Utf8PathBuf::from("/bin/sh"),
        environment: environment::build(host, policy, binding, &scratch),
        limits: policy.limits.iter().map(|(&kind, limit)| (kind, limit.value)).collect(),
        network: policy.network().clone(),
        unix,
        ipc: policy.ipc(),
        needs,
        seatbelt,
        scratch,
        losses: losses::of(host, policy, binding),
    }
}

/// Where commands start; `/` where that is nowhere, and lint says that it must be stated.
fn working_directory(binding: &Binding) -> Utf8PathBuf {
    let bound = binding.working_directory.as_ref().and_then(|bound| bound.canonical());
    bound.unwrap_or(Utf8Path::new("/")).to_path_buf()
}

struct Builder<'a> {
    host: &'a dyn Host,
    policy: &'a Policy,
    binding: &'a Binding,
    sources: &'a Sources,
    rules: Vec<Rule>,
    links: Vec<Hop>,
}

impl Builder<'_> {
    fn rule(
        &mut self,
        effect: Effect,
        operations: Operations,
        scope: Scope,
        path: &Utf8Path,
        origin: Origin,
    ) {
        self.rules.push(Rule { effect, operations, scope, path: path.to_path_buf(), origin });
    }

    /// An origin that is a statement: its place and its text on one line.
    fn statement(&self, kind: OriginKind, span: Span) -> Origin {
        let text = self.sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ");
        let shown = match text.char_indices().nth(100) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text,
        };
        Origin {
            kind,
            text: format!("{} {shown}", self.sources.stable_place(self.policy.name.span.file, span)),
            span: Some(span),
        }
    }

    fn base(&mut self) {
        let base = &self.binding.base;
        self.links.extend(base.links.iter().cloned());
        for grant in base.grants.clone() {
            let origin = Origin { kind: grant.kind, text: grant.reason, span: None };
            self.rule(Effect::Allow, grant.operations, grant.scope, &grant.path, origin);
        }
        for closed in base.closed.clone() {
            let origin = Origin { kind: closed.kind, text: closed.reason, span: None };
            self.rule(Effect::Deny, closed.operations, closed.scope, &closed.path, origin);
        }
    }

    fn writes_anywhere(&self) -> bool {
        self.binding
            .usable_roots(self.policy)
            .iter()
            .any(|&(at, ..)| self.policy.roots[at].access == Access::ReadWrite)
    }

    fn scratch_path(&self) -> Utf8PathBuf {
        if self.policy.target == System::Macos {
            return SCRATCH_PARAMETER.into();
        }
        let roots = self.binding.usable_roots(self.policy);
        let free = |place: &&&str| !roots.iter().any(|(_, root, _)| Utf8Path::new(place).starts_with(root));
        SCRATCH_PLACES.iter().find(free).unwrap_or(&SCRATCH_PLACES[2]).into()
    }

    /// A read-only profile gains no space to fill: the private directory is writable only where some root is.
    fn scratch(&mut self, scratch: &Utf8Path) {
        let operations = if self.writes_anywhere() {
            Operations::READING.union(Operations::WRITING)
        } else {
            Operations::READING
        };
        let origin = Origin {
            kind: OriginKind::Scratch,
            text: "a temporary directory of the command's own, removed afterwards".into(),
            span: None,
        };
        self.rule(Effect::Allow, operations, Scope::Subtree, scratch, origin.clone());
        self.rule(Effect::Deny, Operations::MOVING, Scope::Literal, scratch, origin);
    }

    /// Outermost roots first, so that the longest one that holds a path decides.
    fn roots(&mut self) -> Vec<PlannedRoot> {
        let mut planned = Vec::new();
        for (at, path, entry) in self.binding.usable_roots(self.policy) {
            let root = &self.policy.roots[at];
            let origin = self.statement(OriginKind::Root, root.span);
            match root.access {
                Access::ReadWrite => {
                    let operations = Operations::READING.union(Operations::WRITING);
                    self.rule(Effect::Allow, operations, Scope::Subtree, path, origin.clone());
                    // The root itself stays where it is.
                    self.rule(Effect::Deny, Operations::MOVING, Scope::Literal, path, origin.clone());
                }
                Access::ReadOnly => {
                    self.rule(Effect::Allow, Operations::READING, Scope::Subtree, path, origin.clone());
                    self.rule(Effect::Deny, Operations::WRITING, Scope::Subtree, path, origin.clone());
                }
            }
            if let Ok(found) = &self.binding.roots[at].found {
                self.links.extend(found.hops.iter().cloned());
            }
            planned.push(PlannedRoot {
                path: path.to_path_buf(),
                access: root.access,
                identity: entry.identity,
                origin,
            });
        }
        planned
    }

    /// Of a linked worktree's repository: all of it to read, and to write what a commit writes: the worktree's own
    /// part, objects, references and their logs. Its hooks and settings stay as they are.
    fn worktrees(&mut self) {
        for bound in &self.binding.worktrees {
            let Worktree::Linked { git_dir, common_dir } = &bound.worktree else { continue };
            let origin = self.statement(OriginKind::Worktree, bound.asked.span);
            self.rule(Effect::Allow, Operations::READING, Scope::Subtree, common_dir, origin.clone());
            let writable = crate::host::resolve::resolve(self.host, &bound.asked.path)
                .is_ok_and(|top| self.binding.is_writable(self.policy, &top.canonical));
            if !writable {
                continue;
            }
            let parts = ["objects", "refs", "logs", "reftable"].map(|part| common_dir.join(part));
            let packed = packed_references(self.host, common_dir);
            for path in parts.iter().chain([git_dir]).chain(&packed) {
                if !matches!(self.host.lstat(path), Ok(Some(entry)) if entry.is_directory()) {
                    continue;
                }
                let operations = Operations::READING.union(Operations::WRITING);
                self.rule(Effect::Allow, operations, Scope::Subtree, path, origin.clone());
                self.rule(Effect::Deny, Operations::MOVING, Scope::Literal, path, origin.clone());
            }
        }
    }

    /// Only inside a root: above one, or outside all, the statement would open the system's own programs to be run.
    fn executables(&mut self) {
        let places = self.binding.executable_places();
        let nothing = Ok(Vec::new());
        let loads = self.binding.loads.iter().chain(std::iter::repeat(&nothing));
        for (bound, loads) in self.binding.executables.iter().zip(loads) {
            let Ok(found) = &bound.found else { continue };
            if !places.hold(&found.canonical) {
                continue;
            }
            // A link that a command may have put there must not choose what the next one may run.
            if self.binding.is_plantable(self.policy, &found.hops) {
                continue;
            }
            let origin = self.statement(OriginKind::Executable, bound.asked.span);
            let operations = Operations::RUNNING;
            self.rule(Effect::Allow, operations, Scope::Subtree, &found.canonical, origin.clone());
            if self.policy.target == System::Linux {
                // There it is a mount of its own, and stays where it is.
                self.rule(Effect::Deny, Operations::MOVING, Scope::Literal, &found.canonical, origin.clone());
            }
            for load in loads.iter().flatten() {
                self.rule(Effect::Allow, load.operations, load.scope, &load.path, origin.clone());
            }
            self.links.extend(found.hops.iter().cloned());
        }
    }
}

/// Digests of every file that tools rest on.
fn digests(host: &dyn Host, binding: &Binding) -> (Vec<PlannedFile>, Vec<HostError>) {
    let named = binding.tools.iter().map(|tool| &tool.lookup);
    let stated = binding.tool_paths.iter().map(|tool| &tool.lookup);
    let loads = binding.loads.iter().flatten().flatten();
    let files: BTreeSet<&Utf8Path> = named
        .chain(stated)
        .chain([&binding.shell])
        .filter_map(|lookup| lookup.tool())
        .flat_map(|tool| tool.files.iter().map(Utf8PathBuf::as_path))
        .chain(loads.filter(|load| load.scope == Scope::Literal).map(|load| load.path.as_path()))
        .collect();
    let mut errors = Vec::new();
    let mut looked: Vec<(&Utf8Path, Entry)> = Vec::new();
    for path in files {
        match look(host, path) {
            Ok(entry) => looked.push((path, entry)),
            Err(error) => errors.push(error),
        }
    }
    // Many names of one file (git's helpers are) need one digest.
    let distinct: BTreeMap<Identity, &Utf8Path> =
        looked.iter().map(|(path, entry)| (entry.identity, *path)).collect();
    let distinct: Vec<(Identity, &Utf8Path)> = distinct.into_iter().collect();
    // Threads that end here: what runs a command later must find the process with one. None where this is one of many plans that are
    // made at once.
    let is_one_of_many = rayon::current_thread_index().is_some();
    let workers =
        if is_one_of_many { 1 } else { std::thread::available_parallelism().map_or(1, usize::from) };
    let share = distinct.len().div_ceil(workers).max(1);
    let digests: BTreeMap<Identity, Result<String, HostError>> = std::thread::scope(|scope| {
        let digest_all = |files: &[(Identity, &Utf8Path)]| -> Vec<_> {
            files.iter().map(|(identity, path)| (*identity, host.digest(path))).collect()
        };
        if workers == 1 {
            return digest_all(&distinct).into_iter().collect();
        }
        let running: Vec<_> =
            distinct.chunks(share).map(|files| scope.spawn(move || digest_all(files))).collect();
        running
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut planned = Vec::new();
    for (path, Entry { identity, size, modified, .. }) in looked {
        match digests.get(&identity) {
            Some(Ok(digest)) => {
                let (path, digest) = (path.to_path_buf(), digest.clone());
                planned.push(PlannedFile { path, digest, identity, size, modified });
            }
            Some(Err(error)) => errors.push(error.clone()),
            None => {}
        }
    }
    (planned, errors)
}

fn look(host: &dyn Host, path: &Utf8Path) -> Result<Entry, HostError> {
    let vanished = || HostError::Other { path: path.to_path_buf(), reason: "it has vanished".into() };
    host.lstat(path)?.ok_or_else(vanished)
}

/// Whether a path can be looked at without being listed or opened.
const SEEN: Operations = Operations::of(&[Operation::Metadata]);
