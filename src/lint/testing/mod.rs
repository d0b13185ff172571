//! Test support: a machine in memory and a profile built statement by statement, with true spans, so that a rule can be tried without the
//! stages before it. The plan made here knows roots, read-only roots inside writable ones, and denials; no more.

mod machine;

pub use machine::Machine;

use super::{Context, rules};
use crate::bind::tools::{Grant, Lookup, Tool};
use crate::bind::{
    Binding, BoundDenial, BoundPath, BoundTool, BoundToolPath, BoundWorktree, DeniedPath, Worktree,
};
use crate::finding::Finding;
use crate::host::resolve;
use crate::plan::{
    Effect, Environment, Operation, Operations, Origin, OriginKind, Plan, PlannedTool, Protected, Rule,
    Scope, Spelling,
};
use crate::policy::requests::{PathPattern, Requests};
use crate::policy::{
    Access, Allowance, Denial, DenialKind, EnvEntry, Expectation, Mask, Network, NetworkRule, Policy,
    PolicyPath, Root, System, ToolName, Unguard,
};
use crate::source::{FileId, Sources, Span, Spanned};
use camino::Utf8Path;
use std::collections::BTreeMap;
use std::sync::Arc;

pub const WORKSPACE: &str = "/home/dev/project";

/// A profile in the making.
pub struct Case {
    pub machine: Machine,
    pub policy: Policy,
    pub binding: Binding,
    pub protected: Vec<Protected>,
    pub tools: Vec<PlannedTool>,
    texts: [String; 2],
    files: [FileId; 2],
    writing: usize,
}

impl Case {
    pub fn new() -> Self {
        let mut sources = Sources::new();
        let files = [sources.add("", None, ""), sources.add("", None, "")];
        let mut case = Self {
            machine: Machine::standard(),
            policy: Policy {
                name: Spanned::new("case".into(), Span::new(files[0], 0..0)),
                description: None,
                files: files.to_vec(),
                uses: Vec::new(),
                params: Vec::new(),
                workspace: WORKSPACE.into(),
                home: "/home/dev".into(),
                target: System::Linux,
                roots: Vec::new(),
                denials: Vec::new(),
                git_worktrees: Vec::new(),
                executables: Vec::new(),
                unguards: Vec::new(),
                network: None,
                unix: Vec::new(),
                ipc: None,
                needs: Vec::new(),
                tools: Vec::new(),
                optional_tools: Vec::new(),
                tool_paths: Vec::new(),
                groups: Vec::new(),
                repeated: Vec::new(),
                env: Vec::new(),
                masks: Vec::new(),
                limits: BTreeMap::new(),
                working_directory: None,
                seatbelt: Vec::new(),
                expectations: Vec::new(),
                allowances: Vec::new(),
            },
            binding: Binding {
                base: Default::default(),
                seatbelt: Vec::new(),
                roots: Vec::new(),
                denials: Vec::new(),
                guards: Vec::new(),
                executables: Vec::new(),
                sockets: Vec::new(),
                loads: Vec::new(),
                worktrees: Vec::new(),
                working_directory: None,
                tools: Vec::new(),
                tool_paths: Vec::new(),
                shell: found("sh", "/usr/bin/dash"),
                links: Vec::new(),
            },
            protected: Vec::new(),
            tools: Vec::new(),
            texts: [String::new(), String::new()],
            files,
            writing: 0,
        };
        case.policy.name.span = case.line("profile \"case\"");
        case
    }

    /// A case whose workspace is a writable root.
    pub fn in_workspace() -> Self {
        let mut case = Self::new();
        case.root(WORKSPACE, Access::ReadWrite);
        case
    }

    /// What follows stands in a fragment, in a file of its own.
    pub fn in_fragment(&mut self) -> &mut Self {
        self.writing = 1;
        self
    }

    /// What follows stands in the profile again.
    pub fn in_profile(&mut self) -> &mut Self {
        self.writing = 0;
        self
    }

    pub fn fragment(&self) -> FileId {
        self.files[1]
    }

    /// Writes a line and gives its place.
    pub fn line(&mut self, line: &str) -> Span {
        let text = &mut self.texts[self.writing];
        let start = text.len();
        text.push_str(line);
        let span = Span::new(self.files[self.writing], start..text.len());
        text.push('\n');
        span
    }

    fn stated(&mut self, statement: &str, path: &str) -> (Span, PolicyPath, BoundPath) {
        let span = self.line(statement);
        let at = statement.find('"').unwrap_or(0);
        let start = span.start as usize + at;
        let asked =
            PolicyPath { path: path.into(), span: Span::new(span.file, start..start + path.len() + 2) };
        let found = resolve::resolve(&self.machine, path.into());
        (span, asked.clone(), BoundPath { asked, found })
    }

    pub fn root(&mut self, path: &str, access: Access) -> &mut Self {
        let word = if access == Access::ReadOnly { "read-only" } else { "read-write" };
        let (span, path, bound) = self.stated(&format!("root \"{path}\" {word}"), path);
        self.policy.roots.push(Root { path, access, span });
        self.binding.roots.push(bound);
        self
    }

    pub fn deny(&mut self, path: &str) -> &mut Self {
        let (span, asked, bound) = self.stated(&format!("deny \"{path}\""), path);
        let paths = match resolve::resolve_parent(&self.machine, path.into()) {
            Ok(found) => vec![DeniedPath { path: found.canonical, entry: found.entry }],
            Err(_) => Vec::new(),
        };
        self.push_denial(Denial { kind: DenialKind::Path(asked), span }, paths, Some(bound.found));
        self
    }

    /// A pattern and the paths it is to match.
    pub fn deny_glob(&mut self, pattern: &str, matches: &[&str]) -> &mut Self {
        let span = self.line(&format!("deny glob \"{pattern}\""));
        let kind = DenialKind::Glob(Spanned::new(pattern.to_owned(), span));
        let paths = self.denied(matches);
        self.push_denial(Denial { kind, span }, paths, None);
        self
    }

    pub fn deny_gitignored(&mut self, path: &str, matches: &[&str]) -> &mut Self {
        let (span, path, _) = self.stated(&format!("deny gitignored \"{path}\""), path);
        let paths = self.denied(matches);
        self.push_denial(
            Denial { kind: DenialKind::Gitignored { path, except: Vec::new() }, span },
            paths,
            None,
        );
        self
    }

    fn denied(&self, paths: &[&str]) -> Vec<DeniedPath> {
        let entry = |path: &str| self.machine.entries.get(Utf8Path::new(path)).cloned();
        paths.iter().map(|&path| DeniedPath { path: path.into(), entry: entry(path) }).collect()
    }

    fn push_denial(
        &mut self,
        denial: Denial,
        paths: Vec<DeniedPath>,
        found: Option<Result<resolve::Resolution, resolve::ResolveError>>,
    ) {
        let statement = self.policy.denials.len();
        self.policy.denials.push(denial);
        self.binding.denials.push(BoundDenial { statement, paths, found, unexamined: Vec::new() });
    }

    pub fn executable(&mut self, path: &str) -> &mut Self {
        let (_, asked, bound) = self.stated(&format!("executable \"{path}\""), path);
        self.policy.executables.push(asked);
        self.binding.executables.push(bound);
        self
    }

    pub fn unguard(&mut self, path: &str) -> &mut Self {
        let (span, path, _) = self.stated(&format!("unguard \"{path}\" because \"it is ours\""), path);
        self.policy.unguards.push(Unguard { path, because: "it is ours".into(), span });
        self
    }

    pub fn worktree(&mut self, path: &str, worktree: Worktree) -> &mut Self {
        let (_, asked, _) = self.stated(&format!("git-worktree \"{path}\""), path);
        self.policy.git_worktrees.push(asked.clone());
        self.binding.worktrees.push(BoundWorktree { asked, worktree });
        self
    }

    pub fn working_directory(&mut self, path: &str) -> &mut Self {
        let (_, asked, bound) = self.stated(&format!("working-directory \"{path}\""), path);
        self.policy.working_directory = Some(asked);
        self.binding.working_directory = Some(bound);
        self
    }

    pub fn tool(&mut self, name: &str, group: Option<&str>, optional: bool, lookup: Lookup) -> &mut Self {
        let keyword = if optional { "optional-tools" } else { "tools" };
        let line =
            self.line(&format!("{keyword} {}", group.map_or(name.into(), |group| format!("@{group}"))));
        let span = Span::new(line.file, line.start as usize + keyword.len() + 1..line.end as usize);
        let asked = ToolName { name: name.into(), span, statement: line, group: group.map(str::to_owned) };
        let list = if optional { &mut self.policy.optional_tools } else { &mut self.policy.tools };
        list.push(asked.clone());
        if let (Lookup::Found(tool), origin) =
            (&lookup, Origin { kind: OriginKind::Tool, text: String::new(), span: Some(span) })
        {
            self.tools.push(PlannedTool {
                name: name.into(),
                path: tool.path.clone(),
                real: tool.real.clone(),
                source: tool.source.clone(),
                interpreter: None,
                trees: Vec::new(),
                optional,
                origin,
            });
        }
        self.binding.tools.push(BoundTool { asked, optional, lookup });
        self
    }

    pub fn tool_path(&mut self, path: &str, lookup: Lookup) -> &mut Self {
        let (_, asked, _) = self.stated(&format!("tool \"{path}\""), path);
        self.policy.tool_paths.push(asked.clone());
        self.binding.tool_paths.push(BoundToolPath { asked, lookup });
        self
    }

    pub fn env(&mut self, name: &str, value: Option<&str>) -> &mut Self {
        let span = match value {
            Some(value) => self.line(&format!("set {name} \"{value}\"")),
            None => self.line(&format!("pass {name}")),
        };
        self.policy.env.push(EnvEntry { name: name.into(), value: value.map(str::to_owned), span });
        self
    }

    /// `allow "HOST" methods … paths …` in `network only`; without either, `inspect "HOST"`.
    pub fn limited(&mut self, host: &str, methods: &[&str], paths: &[&str]) -> &mut Self {
        let requests = Requests {
            methods: methods.iter().map(|&method| method.to_owned()).collect(),
            paths: paths.iter().map(|path| PathPattern::parse(path).expect("a path")).collect(),
        };
        self.host(true, host, Some(requests))
    }

    /// A line of `network only`.
    pub fn host(&mut self, allow: bool, host: &str, requests: Option<Requests>) -> &mut Self {
        let line = match &requests {
            Some(requests) if requests.is_any() => format!("inspect \"{host}\""),
            Some(requests) => format!("allow \"{host}\" {requests}"),
            None => format!("{} \"{host}\"", if allow { "allow" } else { "deny" }),
        };
        let span = self.line(&line);
        let pattern = crate::resolve::parse_host(host, false).expect("a host");
        let rule = NetworkRule { allow, pattern, requests, span };
        match &mut self.policy.network {
            Some(Spanned { value: Network::Only(rules), .. }) => rules.push(rule),
            network => *network = Some(Spanned::new(Network::Only(vec![rule]), span)),
        }
        self
    }

    /// `mask NAME for "HOST"` in `env`.
    pub fn mask(&mut self, name: &str, host: &str) -> &mut Self {
        let span = self.line(&format!("mask {name} for \"{host}\""));
        let pattern = crate::resolve::parse_host(host, true).expect("a host");
        self.policy.masks.push(Mask { name: name.into(), hosts: vec![Spanned::new(pattern, span)], span });
        self
    }

    pub fn expect(&mut self, operation: &str, subject: &str, allowed: bool) -> &mut Self {
        let span =
            self.line(&format!("{operation} \"{subject}\" {}", if allowed { "allowed" } else { "denied" }));
        let (operation, subject) = (operation.into(), subject.into());
        self.policy.expectations.push(Expectation { operation, subject, allowed, span });
        self
    }

    /// An allowance at the statement written last.
    pub fn allow(&mut self, rule: &str, reason: &str) -> &mut Self {
        let text = self.texts[self.writing].trim_end();
        let start = text.rfind('\n').map_or(0, |at| at + 1);
        let statement = Span::new(self.files[self.writing], start..text.len());
        let line = self.line(&format!("# palisade: allow({rule}) {reason}"));
        let name = line.start as usize + "# palisade: allow(".len();
        let rules = vec![Spanned::new(rule.to_owned(), Span::new(line.file, name..name + rule.len()))];
        self.policy.allowances.push(Allowance {
            rules,
            reason: reason.into(),
            span: line,
            statement,
            reach: statement,
        });
        self
    }

    fn plan(&self) -> Plan {
        let mut rules = Vec::new();
        let mut roots: Vec<_> = self.policy.roots.iter().zip(&self.binding.roots).collect();
        roots.sort_by_key(|(_, bound)| bound.canonical().map(|path| path.as_str().len()));
        for (root, bound) in roots {
            let Some(path) = bound.canonical() else { continue };
            let allow = if root.access == Access::ReadOnly {
                Operations::READING
            } else {
                Operations::READING.union(Operations::WRITING)
            };
            rules.push(rule(Effect::Allow, allow, path, OriginKind::Root, root.span));
            let deny = Operations::ALL.minus(allow).minus(Operations::RUNNING);
            rules.push(rule(Effect::Deny, deny, path, OriginKind::Root, root.span));
        }
        for tool in &self.tools {
            let exec = Operations::of(&[Operation::Exec]).union(Operations::READING);
            let span = tool.origin.span.unwrap_or(self.policy.name.span);
            rules.push(rule(Effect::Allow, exec, &tool.real, OriginKind::Tool, span));
        }
        for bound in &self.binding.denials {
            let span = self.policy.denials[bound.statement].span;
            for denied in &bound.paths {
                rules.push(rule(Effect::Deny, Operations::ALL, &denied.path, OriginKind::Denial, span));
            }
        }
        Plan {
            scratch: "/tmp".into(),
            undigested: Vec::new(),
            target: System::Linux,
            spelling: Spelling::Exact,
            rules,
            roots: Vec::new(),
            protected: self.protected.clone(),
            links: Vec::new(),
            working_directory: WORKSPACE.into(),
            tools: self.tools.clone(),
            skipped_tools: Vec::new(),
            files: Vec::new(),
            shell: "/usr/bin/dash".into(),
            environment: Environment::default(),
            limits: BTreeMap::new(),
            network: self.policy.network().clone(),
            unix: Vec::new(),
            ipc: self.policy.ipc(),
            needs: Vec::new(),
            seatbelt: Vec::new(),
            losses: Vec::new(),
        }
    }

    /// Calls `look` with the finished case.
    pub fn with<T>(&self, look: impl FnOnce(&Context<'_>) -> T) -> T {
        let mut sources = Sources::new();
        sources.add("case.palisade", None, self.texts[0].clone());
        sources.add("std/case", None, self.texts[1].clone());
        let plan = self.plan();
        look(&Context {
            sources: &sources,
            policy: &self.policy,
            host: &self.machine,
            binding: &self.binding,
            plan: &plan,
        })
    }

    /// What one rule finds.
    pub fn findings(&self, rule: &str) -> Vec<Finding> {
        let rule = rules::ALL.iter().find(|known| known.info().name == rule).expect("a known rule");
        self.with(|context| {
            let mut findings = Vec::new();
            rule.check(context, &mut findings);
            crate::finding::sort(&mut findings);
            findings
        })
    }

    /// What one rule finds: the message and the underlined texts, each on a line, for an assertion that reads well.
    pub fn found(&self, rule: &str) -> Vec<String> {
        let findings = self.findings(rule);
        self.with(|context| {
            let show = |finding: &Finding| {
                let mut text = finding.message.clone();
                for label in &finding.labels {
                    text.push_str(&format!("\n{} -- {}", context.sources.text(label.span), label.text));
                }
                text
            };
            findings.iter().map(show).collect()
        })
    }
}

fn rule(effect: Effect, operations: Operations, path: &Utf8Path, kind: OriginKind, span: Span) -> Rule {
    let origin = Origin { kind, text: String::new(), span: Some(span) };
    Rule { effect, operations, scope: Scope::Subtree, path: path.into(), origin }
}

/// A program that was found, granted by itself.
pub fn found(name: &str, path: &str) -> Lookup {
    Lookup::Found(Arc::new(Tool {
        also_on_path: Vec::new(),
        developer_directory: None,
        name: name.into(),
        path: path.into(),
        real: path.into(),
        hops: Vec::new(),
        source: "system".into(),
        interpreter: None,
        grants: vec![grant(path, Scope::Literal, "program")],
        shut: Vec::new(),
        files: Vec::new(),
        directory: Utf8Path::new(path).parent().unwrap_or("/".into()).into(),
    }))
}

pub fn grant(path: &str, scope: Scope, role: &'static str) -> Grant {
    Grant { path: path.into(), scope, operations: Operations::RUNNING.union(Operations::READING), role }
}
