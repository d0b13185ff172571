//! From a plan to the manifest that `exec` obeys.

use super::text::hex;
use super::{
    AskRule, CacheLine, Environment, File, HostRule, Limits, Link, Manifest, ManifestRule, MaskedVariable,
    Network, Protected, Root, SCHEMA, SeatbeltRule, Skipped, Source, Tool, UnixSocket,
};
use crate::plan::Plan;
use crate::policy::{self, LimitKind, Policy, System};
use crate::source::Sources;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// What a reader of a Linux manifest must take for granted.
const LINUX_ASSUMPTIONS: [&str; 5] = [
    "denied and guarded files are changed on the host between runs: where one is replaced during a run, the run is ended, but \
     may have seen it first",
    "the kernel is 5.19 or newer, with Landlock, unprivileged user namespaces and seccomp",
    "the list of tools limits which programs start, not what an interpreter among them computes",
    "what other programs on this machine write into a root while the command runs is theirs to answer for",
    "moving a file between a directory that holds a protected path and one that does not is a copy (rename gives EXDEV)",
];

const MACOS_ASSUMPTIONS: [&str; 3] = [
    "macOS 14 or newer: an older one does not know every operation that is named",
    "the .sb file means what published measurements of Seatbelt say; nothing here was measured on a Mac",
    "the list of tools limits which programs start, not what an interpreter among them computes",
];

/// Where hosts are reached through a proxy.
const MACOS_PROXY_ASSUMPTION: &str = "`localhost` in a Seatbelt filter is 127.0.0.1 and ::1: the port of the proxy is taken at both while the command runs";

/// Where ports of the machine are opened.
const MACOS_LOCALHOST_ASSUMPTION: &str = "`localhost PORT` is the machine's own port, at 127.0.0.1 and ::1: the command connects to whoever listens there, \
     past the proxy and its log";

fn macos_assumptions(plan: &Plan) -> Vec<String> {
    let proxied = matches!(plan.network, policy::Network::Only(_)).then_some(MACOS_PROXY_ASSUMPTION);
    let own = (!localhost(plan).is_empty()).then_some(MACOS_LOCALHOST_ASSUMPTION);
    MACOS_ASSUMPTIONS.into_iter().chain(proxied).chain(own).map(String::from).collect()
}

/// The `.sb` that goes with a manifest.
#[derive(Debug, Clone, Copy)]
pub struct Beside<'a> {
    pub name: &'a str,
    pub text: &'a str,
    /// Name and value.
    pub parameters: &'a BTreeMap<String, String>,
}

/// Builds the manifest of a plan. `seatbelt` is the `.sb` that goes with it; `checks` are the names of the checks that ran.
pub fn build(
    policy: &Policy,
    plan: &Plan,
    sources: &Sources,
    architecture: &str,
    seatbelt: Option<Beside<'_>>,
    checks: &[&str],
) -> Manifest {
    let digests: std::collections::HashMap<_, _> =
        plan.files.iter().map(|file| (file.path.as_path(), file.digest.as_str())).collect();
    Manifest {
        schema: SCHEMA,
        palisade: env!("CARGO_PKG_VERSION").into(),
        profile: policy.name.value.clone(),
        description: policy.description.clone(),
        target: plan.target,
        architecture: architecture.into(),
        sources: policy
            .files
            .iter()
            .map(|&id| source(&sources.stable_name(policy.name.span.file, id), &sources.file(id).text))
            .collect(),
        seatbelt: seatbelt.map(|beside| source(beside.name, beside.text)),
        parameters_of_seatbelt: seatbelt.map(|beside| beside.parameters.clone()).unwrap_or_default(),
        workspace: policy.workspace.clone(),
        parameters: policy
            .params
            .iter()
            .filter_map(|param| Some((param.name.clone(), param.value.clone()?)))
            .collect(),
        working_directory: plan.working_directory.clone(),
        roots: plan
            .roots
            .iter()
            .map(|root| Root { path: root.path.clone(), access: root.access, from: root.origin.text.clone() })
            .collect(),
        protected: plan
            .protected
            .iter()
            .map(|entry| Protected {
                path: entry.path.clone(),
                protection: entry.protection,
                presence: entry.presence,
                from: entry.origin.text.clone(),
            })
            .collect(),
        network: match plan.network {
            policy::Network::All => Network::All,
            policy::Network::Off => Network::Off,
            policy::Network::Only(_) => Network::Only,
        },
        hosts: hosts(policy, plan, sources),
        localhost: localhost(plan),
        unix: plan
            .unix
            .iter()
            .map(|socket| UnixSocket { path: socket.path.clone(), from: socket.origin.text.clone() })
            .collect(),
        ipc: plan.ipc,
        needs: plan.needs.clone(),
        seatbelt_rules: plan
            .seatbelt
            .iter()
            .map(|rule| SeatbeltRule { rule: rule.text.clone(), from: rule.origin.text.clone() })
            .collect(),
        limits: limits(plan),
        environment: Environment {
            set: plan.environment.set.clone(),
            pass: plan.environment.pass.clone(),
            mask: masks(policy, plan, sources),
        },
        shell: plan.shell.clone(),
        tools: plan
            .tools
            .iter()
            .map(|tool| Tool {
                name: tool.name.clone(),
                path: tool.path.clone(),
                real: tool.real.clone(),
                sha256: digests.get(tool.real.as_path()).copied().unwrap_or_default().into(),
                source: tool.source.clone(),
                interpreter: tool.interpreter.clone(),
                trees: tool.trees.clone(),
                optional: tool.optional,
                from: tool.origin.text.clone(),
            })
            .collect(),
        skipped_tools: plan
            .skipped_tools
            .iter()
            .map(|skipped| Skipped { name: skipped.name.clone(), reason: skipped.reason.clone() })
            .collect(),
        losses: losses(plan, policy, sources),
        assumptions: match plan.target {
            System::Linux => LINUX_ASSUMPTIONS.map(String::from).to_vec(),
            System::Macos => macos_assumptions(plan),
        },
        checks: checks.iter().map(|name| (*name).to_owned()).collect(),
        links: plan
            .links
            .iter()
            .map(|hop| Link { link: hop.link.clone(), target: hop.target.clone() })
            .collect(),
        rules: plan.rules.iter().map(ManifestRule::from).collect(),
        files: plan
            .files
            .iter()
            .map(|file| File { path: file.path.clone(), sha256: file.digest.clone() })
            .collect(),
        cache: cache(plan),
    }
}

/// Each loss once, with every statement that has it.
fn losses(plan: &Plan, policy: &Policy, sources: &Sources) -> Vec<String> {
    let mut places: Vec<(&str, Vec<String>)> = Vec::new();
    for loss in &plan.losses {
        let place = loss.span.map(|span| sources.stable_place(policy.name.span.file, span));
        match places.iter_mut().find(|(text, _)| *text == loss.text) {
            Some((_, known)) => known.extend(place),
            None => places.push((&loss.text, place.into_iter().collect())),
        }
    }
    let line = |(text, places): (&str, Vec<String>)| match places.as_slice() {
        [] => text.to_owned(),
        places => format!("{}: {text}", places.join(", ")),
    };
    places.into_iter().map(line).collect()
}

fn source(name: &str, text: &str) -> Source {
    Source { name: name.into(), digest: format!("sha256:{}", hex(&Sha256::digest(text.as_bytes()))) }
}

/// In one order, whatever the order of the statements.
fn hosts(policy: &Policy, plan: &Plan, sources: &Sources) -> Vec<HostRule> {
    let policy::Network::Only(rules) = &plan.network else { return Vec::new() };
    let mut hosts: Vec<HostRule> = rules
        .iter()
        .filter(|rule| !rule.is_localhost())
        .map(|rule| HostRule {
            allow: rule.allow,
            host: rule.pattern.to_string(),
            requests: rule.requests.as_ref().map(AskRule::from),
            from: sources.stable_place(policy.name.span.file, rule.span),
        })
        .collect();
    hosts.sort_by(|a, b| {
        (!a.allow, &a.host, &a.from, &a.requests).cmp(&(!b.allow, &b.host, &b.from, &b.requests))
    });
    hosts
}

fn masks(policy: &Policy, plan: &Plan, sources: &Sources) -> Vec<MaskedVariable> {
    let masks = plan.environment.mask.iter().map(|mask| {
        let mut hosts: Vec<String> = mask.hosts.iter().map(ToString::to_string).collect();
        hosts.sort();
        let from = sources.stable_place(policy.name.span.file, mask.span);
        MaskedVariable { name: mask.name.clone(), hosts, from }
    });
    masks.collect()
}

fn localhost(plan: &Plan) -> Vec<u16> {
    let policy::Network::Only(rules) = &plan.network else { return Vec::new() };
    let ports: BTreeSet<u16> =
        rules.iter().filter(|rule| rule.is_localhost()).filter_map(|rule| rule.pattern.port).collect();
    ports.into_iter().collect()
}

fn limits(plan: &Plan) -> Limits {
    let limit = |kind| plan.limits.get(&kind).copied();
    Limits {
        time_ms: limit(LimitKind::Time),
        cpu_ms: limit(LimitKind::Cpu),
        output_bytes: limit(LimitKind::Output),
        open_files: limit(LimitKind::OpenFiles),
        processes: limit(LimitKind::Processes),
        temporary_space_bytes: limit(LimitKind::TemporarySpace),
        file_size_bytes: limit(LimitKind::FileSize),
    }
}

/// Roots change in size and time with every use, so only their identity counts.
fn cache(plan: &Plan) -> Vec<CacheLine> {
    let roots = plan.roots.iter().map(|root| CacheLine {
        identity: root.identity,
        size: 0,
        modified: 0,
        path: root.path.clone(),
    });
    let files = plan.files.iter().map(|file| CacheLine {
        identity: file.identity,
        size: file.size,
        modified: file.modified,
        path: file.path.clone(),
    });
    roots.chain(files).collect()
}
