//! Statements to a policy.

use super::expand::Expander;
use super::files::Gathered;
use super::groups::Groups;
use super::masks::{PASSED, claim_of};
use super::params::{Params, differs};
use super::{Options, hosts, names};
use crate::finding::{Edit, Finding, Severity};
use crate::plan::question::Question;
use crate::policy::needs::{self, NEEDS};
use crate::policy::{
    Denial, DenialKind, EnvEntry, Expectation, Network, Policy, PolicyPath, Repeated, Root, Seatbelt,
    ToolName, Unguard,
};
use crate::source::{Sources, Span, Spanned};
use crate::syntax::ast::{self, EnvItemKind, Statement, StatementKind, Word};
use crate::syntax::{nearest, shown};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Where something that can be said once was said first.
pub(super) struct Claim {
    pub(super) file: usize,
    pub(super) span: Span,
    pub(super) value: String,
}

pub(super) struct Collector<'a> {
    sources: &'a mut Sources,
    pub(super) expander: Expander<'a>,
    groups: Groups,
    /// A policy that states nothing.
    blank: Policy,
    pub(super) claims: HashMap<String, Claim>,
    /// The words of lists: list, file, whether in an `on` block, word.
    said: HashMap<(&'static str, usize, bool, String), Span>,
    /// Whether an `on` block is being read.
    in_block: bool,
    /// Which file is being read; the profile is 0.
    pub(super) file: usize,
    pub(super) fragment: bool,
}

/// The policy that the files state together. Findings go to `findings`; what is wrong is left out of the policy.
pub fn collect(
    sources: &mut Sources,
    gathered: &Gathered,
    params: Params,
    groups: Groups,
    options: &Options,
    findings: &mut Vec<Finding>,
) -> Policy {
    let expander = Expander { options, params, findings: Vec::new() };
    let fragment = gathered.files.first().is_some_and(|file| file.kind == ast::FileKind::Fragment);
    let mut policy = empty(gathered, options);
    let blank = policy.clone();
    let (claims, said) = (HashMap::new(), HashMap::new());
    let mut collector =
        Collector { sources, expander, groups, blank, claims, said, in_block: false, file: 0, fragment };
    for (index, file) in gathered.files.iter().enumerate() {
        collector.file = index;
        collector.statements(&file.statements, &mut policy);
    }
    collector.check_masks(&policy);
    policy.tools = distinct(policy.tools);
    policy.optional_tools = distinct(policy.optional_tools);
    for id in &collector.groups.files {
        if !policy.files.contains(id) {
            policy.files.push(*id);
        }
    }
    policy.groups = collector.groups.stated();
    policy.params = collector.expander.params.by_name.into_values().collect();
    findings.append(&mut collector.expander.findings);
    policy
}

fn empty(gathered: &Gathered, options: &Options) -> Policy {
    Policy {
        name: gathered.name.clone(),
        description: None,
        files: gathered.files.iter().map(|file| file.id).collect(),
        uses: gathered.uses.clone(),
        params: Vec::new(),
        workspace: super::expand::normalized(options.workspace.as_str()).into(),
        home: super::expand::normalized(options.home.as_str()).into(),
        target: options.target,
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
    }
}

impl Collector<'_> {
    pub(super) fn report(&mut self, finding: Finding) {
        self.expander.findings.push(finding);
    }

    fn statements(&mut self, statements: &[Statement], policy: &mut Policy) {
        for statement in statements {
            self.statement(statement, policy);
        }
    }

    fn statement(&mut self, statement: &Statement, policy: &mut Policy) {
        let span = statement.span;
        match &statement.kind {
            // Read by earlier steps.
            StatementKind::Use(_) | StatementKind::Param { .. } => {}
            StatementKind::Group { members, .. } => self.tools(members, span, &mut Vec::new()),
            // A fragment describes itself, not the profile.
            StatementKind::Description(text) => {
                let text = self.expander.text(text);
                if self.file == 0 {
                    policy.description = text;
                }
            }
            StatementKind::Root { path, access } => {
                let path = self.expander.path(path);
                policy.roots.extend(path.map(|path| Root { path, access: access.value, span }));
            }
            StatementKind::Deny(path) => {
                let path = self.expander.path(path);
                policy.denials.extend(path.map(|path| Denial { kind: DenialKind::Path(path), span }));
            }
            StatementKind::DenyGlob(pattern) => {
                let glob = self.expander.glob(pattern);
                policy.denials.extend(glob.map(|glob| Denial { kind: DenialKind::Glob(glob), span }));
            }
            StatementKind::DenyGitignored { path, except } => {
                let path = self.expander.path(path);
                let names: Vec<_> = except.iter().map(|text| self.expander.exception(text)).collect();
                // Without one of its exceptions the statement would mean something else.
                if let (Some(path), Some(except)) = (path, names.into_iter().collect()) {
                    policy.denials.push(Denial { kind: DenialKind::Gitignored { path, except }, span });
                }
            }
            StatementKind::GitWorktree(path) => policy.git_worktrees.extend(self.expander.path(path)),
            StatementKind::Executable(path) => policy.executables.extend(self.expander.path(path)),
            StatementKind::Tool(path) => policy.tool_paths.extend(self.expander.path(path)),
            StatementKind::Unguard { path, because } => {
                let path = self.expander.path(path);
                let because = self.reason(because);
                if let (Some(path), Some(because)) = (path, because) {
                    policy.unguards.push(Unguard { path, because, span });
                }
            }
            StatementKind::Network(network) => {
                let (value, unix) = self.network(&network.value);
                let mode = match &value {
                    Network::Off => "off",
                    Network::All => "all",
                    Network::Only(_) => "only",
                };
                if self.claim("`network`".into(), span, mode.to_owned()) {
                    policy.network = Some(Spanned::new(value, span));
                    policy.unix = unix;
                } else if let Network::Only(more) = value
                    && let Some(Spanned { value: Network::Only(rules), .. }) = &mut policy.network
                {
                    // Lists add up, as statements do that can be said several times.
                    rules.extend(more);
                    policy.unix.extend(unix);
                }
            }
            StatementKind::Ipc(ipc) => {
                if self.claim("`ipc`".into(), span, format!("{:?}", ipc.value)) {
                    policy.ipc = Some(Spanned::new(ipc.value, span));
                }
            }
            StatementKind::Needs(words) => {
                for word in words {
                    if needs::named(&word.value).is_none() {
                        self.unknown_need(word);
                        continue;
                    }
                    self.say("needs", word, policy);
                    if !policy.needs.iter().any(|need| need.value == word.value) {
                        policy.needs.push(word.clone());
                    }
                }
            }
            StatementKind::Tools(words) => {
                words.iter().for_each(|word| self.say("tools", word, policy));
                self.tools(words, span, &mut policy.tools);
            }
            StatementKind::OptionalTools(words) => {
                words.iter().for_each(|word| self.say("optional-tools", word, policy));
                self.tools(words, span, &mut policy.optional_tools);
            }
            StatementKind::Env(items) => {
                for item in items {
                    self.variable(item, policy);
                }
            }
            StatementKind::Limits(limits) => {
                for limit in limits {
                    let what = format!("the limit `{}`", limit.kind.name());
                    if self.claim(what, limit.span, limit.amount.to_string()) {
                        policy.limits.insert(limit.kind, Spanned::new(limit.amount, limit.span));
                    }
                }
            }
            StatementKind::WorkingDirectory(path) => {
                if let Some(path) = self.expander.path(path)
                    && self.claim("`working-directory`".into(), span, path.path.to_string())
                {
                    policy.working_directory = Some(path);
                }
            }
            StatementKind::On { system, statements } => self.on(system.value, statements, policy),
            StatementKind::Seatbelt { rule, because } => {
                let rule = self.expander.text(rule);
                let because = self.reason(because);
                if let (Some(rule), Some(because)) = (rule, because) {
                    policy.seatbelt.push(Seatbelt { rule, because, span });
                }
            }
            StatementKind::Expect(lines) => {
                for line in lines {
                    let expectation = self.expectation(line);
                    policy.expectations.extend(expectation);
                }
            }
        }
    }

    /// Statements for one system: checked whatever the target is, taken where it is that system.
    fn on(&mut self, system: ast::System, statements: &[Statement], policy: &mut Policy) {
        self.in_block = true;
        if system == policy.target {
            self.statements(statements, policy);
            self.in_block = false;
            return;
        }
        // A copy of the policy so far would make many such blocks dear.
        let mut elsewhere = Policy { target: system, ..self.blank.clone() };
        let claims = std::mem::take(&mut self.claims);
        let said = std::mem::take(&mut self.said);
        let files = self.groups.files.clone();
        self.statements(statements, &mut elsewhere);
        (self.claims, self.said, self.in_block) = (claims, said, false);
        self.groups.files = files;
    }

    /// Whether what can be said once is to be taken from here. The profile wins over fragments; two fragments must agree.
    pub(super) fn claim(&mut self, what: String, span: Span, value: String) -> bool {
        let file = self.file;
        match self.claims.get(&what) {
            None => {
                self.claims.insert(what, Claim { file, span, value });
                true
            }
            // Twice in one file has been told of by the parser.
            Some(first) if first.file == file || first.value == value => false,
            Some(first) if first.file == 0 && !self.fragment => false,
            Some(first) => {
                let finding = differs(&what, span, first.span);
                self.report(finding);
                false
            }
        }
    }

    /// Takes note of a word of a list, and of its being there already.
    fn say(&mut self, list: &'static str, word: &Word, policy: &mut Policy) {
        match self.said.entry((list, self.file, self.in_block, word.value.clone())) {
            Entry::Occupied(first) => policy.repeated.push(Repeated {
                list,
                word: word.value.clone(),
                span: word.span,
                first: *first.get(),
            }),
            Entry::Vacant(place) => {
                place.insert(word.span);
            }
        }
    }

    fn reason(&mut self, text: &ast::Text) -> Option<String> {
        let reason = self.expander.text(text)?;
        if reason.trim().is_empty() {
            self.report(
                Finding::new("reason", Severity::Error, "an empty reason")
                    .at(text.span, "here")
                    .help("say why: whoever reads the profile next will ask"),
            );
            return None;
        }
        Some(reason)
    }

    fn tools(&mut self, words: &[Word], statement: Span, out: &mut Vec<ToolName>) {
        for word in words {
            if word.value.starts_with('@') {
                out.extend(self.groups.members(self.sources, word, statement, &mut self.expander.findings));
            } else if let Some(finding) = names::tool(word) {
                self.report(finding);
            } else {
                out.push(ToolName { name: word.value.clone(), span: word.span, statement, group: None });
            }
        }
    }

    fn unknown_need(&mut self, word: &Word) {
        let finding =
            Finding::new("unknown-need", Severity::Error, format!("unknown need `{}`", shown(&word.value)));
        let finding = finding.at(word.span, "not in the list");
        let guess = match word.value.to_lowercase().as_str() {
            "certificates" | "certs" | "ssl" | "trustd" | "keychain" => Some("tls"),
            "tty" | "pty" | "console" => Some("terminal"),
            "ps" | "processes" | "procfs" => Some("process-list"),
            "cpus" | "sysctl" | "hardware" => Some("cpu-info"),
            "users" | "passwd" | "nss" => Some("user-names"),
            "shm" | "sem" | "locks" => Some("semaphores"),
            other => nearest(other, NEEDS.iter().map(|need| need.name)),
        };
        let finding = match guess {
            Some(meant) => {
                let edit = Edit { span: word.span, replacement: meant.into() };
                finding.help(format!("did you mean `{meant}`?")).fix(
                    format!("write `{meant}`"),
                    vec![edit],
                    false,
                )
            }
            None => {
                let names: Vec<String> = NEEDS.iter().map(|need| format!("`{}`", need.name)).collect();
                finding.help(format!("there are {}", names.join(", ")))
            }
        };
        self.report(finding);
    }

    fn variable(&mut self, item: &ast::EnvItem, policy: &mut Policy) {
        let value = match &item.kind {
            EnvItemKind::Mask(hosts) => return self.mask(item, hosts, policy),
            EnvItemKind::Set(text) => Some((self.expander.text(text), text.span)),
            EnvItemKind::Pass => None,
        };
        if let Some(finding) = names::variable(&item.name) {
            self.report(finding);
            return;
        }
        let value = match value {
            None => None,
            Some((None, _)) => return,
            Some((Some(value), span)) if value.contains('\0') => {
                let finding =
                    Finding::new("variable-value", Severity::Error, "a NUL in the value of a variable");
                self.report(finding.at(span, "here").help("no variable can hold one"));
                return;
            }
            Some((value, _)) => value,
        };
        let name = item.name.value.clone();
        let said = value.as_ref().map_or(PASSED.to_owned(), |value| format!("{value:?}"));
        self.masked_in_one(&name, item.span, &said);
        if self.claim(claim_of(&name), item.span, said) {
            policy.env.push(EnvEntry { name, value, span: item.span });
        }
    }

    fn expectation(&mut self, line: &ast::Expectation) -> Option<Expectation> {
        let unknown = names::operation(&line.operation);
        let known = unknown.is_none();
        unknown.into_iter().for_each(|finding| self.report(finding));
        let operation = line.operation.value.clone();
        let subject = self.expander.text(&line.subject)?;
        let span = line.subject.span;
        if operation == "connect" && subject.starts_with(Question::UNIX) {
            let mut path = line.subject.clone();
            if let Some(ast::TextPart::Literal(text)) = path.parts.first_mut() {
                *text = text.strip_prefix(Question::UNIX).unwrap_or(text).to_owned();
            }
            let PolicyPath { path, .. } = self.expander.path(&path)?;
            let subject = path.into_string();
            return Some(Expectation { operation, subject, allowed: line.allowed.value, span: line.span });
        }
        let is_path = subject.starts_with(['/', '~', '.']) || line.subject.raw && subject.contains('/');
        let subject = match operation.as_str() {
            // The name of a tool, as `tools` has it.
            "exec" if !is_path && !subject.contains('/') => {
                let word = Spanned::new(subject, span);
                if let Some(finding) = names::tool(&word) {
                    self.report(finding);
                    return None;
                }
                word.value
            }
            "request" => {
                let asked = Spanned::new(hosts::read_request(&subject).into_owned(), span);
                if let Some(finding) = names::request(&asked) {
                    self.report(finding);
                    return None;
                }
                asked.value
            }
            // A path is a unix socket.
            "connect" if !is_path => match names::host(&Spanned::new(subject, span)) {
                Ok(host) => host,
                Err(finding) => {
                    self.report(*finding);
                    return None;
                }
            },
            _ => {
                let PolicyPath { path, .. } = self.expander.path(&line.subject)?;
                path.into_string()
            }
        };
        known.then_some(Expectation { operation, subject, allowed: line.allowed.value, span: line.span })
    }
}

/// Each tool once: written out where it is so anywhere, else by the first group that has it.
fn distinct(tools: Vec<ToolName>) -> Vec<ToolName> {
    let named: HashSet<String> =
        tools.iter().filter(|tool| tool.group.is_none()).map(|tool| tool.name.clone()).collect();
    let mut seen = HashSet::new();
    let wanted = |tool: &ToolName| tool.group.is_none() || !named.contains(&tool.name);
    tools.into_iter().filter(|tool| wanted(tool) && seen.insert(tool.name.clone())).collect()
}
