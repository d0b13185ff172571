//! `palisade why OP SUBJECT`: whether something is allowed, and which statement decides.

mod asked;

use super::Exit;
use super::input::{BindArgs, current_directory};
use super::output::{fail, findings_aside, print, style};
use super::profiles::read_profile;
use super::settings::{ConfigArgs, Unusable};
use crate::bind::subject;
use crate::finding::{Finding, Severity};
use crate::network::{Reason, gate};
use crate::pipeline::{self, Bound};
use crate::plan::question::Question;
use crate::plan::{Operation, OriginKind, hosts};
use crate::policy::host::{Host, Target};
use crate::policy::{Network, NetworkRule, System};
use crate::report;
use crate::resolve::{LiveLoader, read_host};
use crate::source::{Sources, Span};
use camino::{Utf8Path, Utf8PathBuf};
use std::io::IsTerminal as _;

/// Say whether something is allowed, and which statement decides
///
/// The first line begins with `allowed` or `denied`, and the exit code is 0 or 1 accordingly; 2 where the question cannot be answered.
#[derive(clap::Args)]
pub struct Args {
    /// read, list, metadata, write, create, remove, rename, link, exec, map, connect or request
    operation: String,
    /// A path, relative to the workspace; for exec also the name of a tool; for connect HOST[:PORT], or the path of a unix socket; for request
    /// "METHOD URL"
    subject: String,
    /// The profile [default: the only one in the current directory]
    #[arg(short, long, value_name = "FILE")]
    profile: Option<Utf8PathBuf>,
    #[command(flatten)]
    bind: BindArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

pub fn run(args: &Args) -> Exit {
    try_run(args).unwrap_or_else(|exit| exit)
}

fn try_run(args: &Args) -> Result<Exit, Exit> {
    let Some(question) = Question::named(&args.operation, &args.subject) else {
        let help = match crate::syntax::nearest(&args.operation, Question::WORDS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("one of: {}", Question::WORDS.join(", ")),
        };
        return Err(fail(
            Exit::Usage,
            &format!("nothing can be asked about `{}`", args.operation),
            Some(&help),
        ));
    };
    let profile = match &args.profile {
        Some(profile) => profile.clone(),
        None => only_profile()?,
    };
    let mut machine = args.bind.machine()?;
    // Guarded where it is compiled, too.
    machine.request.artifacts = args.config.load().map_err(Unusable::fail)?.own_files();
    let mut sources = Sources::new();
    let file = read_profile(&mut sources, &profile)?;
    let host = machine.host.as_ref();
    let checked = pipeline::check(&mut sources, file, &LiveLoader, host, &machine.request);
    let Some(bound) = &checked.bound else {
        findings_aside(&sources, &checked.findings, profile.as_str());
        return Err(fail(Exit::Usage, "the profile was not understood, so nothing can be said", None));
    };
    if question == Question::ConnectHost {
        return Ok(host_answer(&sources, bound, args));
    }
    if question == Question::Request {
        return asked::answer(&sources, bound, args);
    }
    let asked = subject_path(args, host.home());
    let subject = subject::locate(host, &bound.policy, &bound.binding, question, &asked)
        .map_err(|error| fail(Exit::Usage, &error.to_string(), None))?;
    let decider = bound.plan.decider();
    let decision = subject::answer(&decider, question, &subject);
    let mut text = verdict(decision.allowed, &args.operation, subject.path.as_str());
    for hop in &subject.hops {
        text.push_str(&line(&format!("  through the link {} -> {}", hop.link, hop.target)));
    }
    if !subject.exists {
        text.push_str("  nothing is there now\n");
    }
    if bound.plan.target == System::Linux && decision.allowed {
        if subject::names_a_process(&subject.path) {
            text.push_str("  of the command's own processes only, which have numbers of their own\n");
        }
        if matches!(question, Question::Rename | Question::Operation(Operation::Link))
            && let Some(mount) = subject::mount_of(&decider, &subject.path)
        {
            let crossing =
                format!("  within {mount}: it is a mount of its own, and across mounts it fails with EXDEV");
            text.push_str(&line(&crossing));
        }
    }
    match decision.rule {
        Some(rule) => {
            let scope = match rule.scope {
                crate::plan::Scope::Literal => "",
                crate::plan::Scope::Subtree => " and below",
            };
            text.push_str(&line(&format!("  by: {} ({}{scope})", rule.origin.text, rule.path)));
            if rule.origin.kind == OriginKind::Scratch && subject.exists && rule.path != subject.path {
                text.push_str("  what is there now is not in it, and is not seen\n");
            }
            text.push_str(&snippet(&sources, rule.origin.span, decision.allowed));
        }
        None => text.push_str("  no statement grants it, and what is not granted is denied\n"),
    }
    if checked.findings.iter().any(|finding| finding.severity == Severity::Error) {
        text.push_str("  this profile has errors and cannot be compiled as it is: see `palisade check`\n");
    }
    print(&text);
    Ok(exit(decision.allowed))
}

/// `~/` is the home; any other relative path is relative to the workspace, as everywhere in the language.
fn subject_path(args: &Args, home: &Utf8Path) -> String {
    let of_socket = args.subject.strip_prefix(Question::UNIX).filter(|_| args.operation == "connect");
    let subject = of_socket.unwrap_or(&args.subject);
    match subject.strip_prefix("~/") {
        Some(below) => home.join(below).into_string(),
        None => subject.to_owned(),
    }
}

fn verdict(allowed: bool, operation: &str, subject: &str) -> String {
    let verdict = if allowed { "allowed" } else { "denied" };
    line(&format!("{verdict}: {operation} {subject}"))
}

/// One line of output, whatever the text holds.
fn line(text: &str) -> String {
    format!("{}\n", report::shown(text))
}

/// What is said below a verdict, over as many lines as it takes; paths, hosts and what is quoted stay whole.
fn aside(text: &str) -> String {
    report::hanging("  ", "    ", text)
}

/// The deciding statement, underlined.
fn snippet(sources: &Sources, span: Option<Span>, allowed: bool) -> String {
    let Some(span) = span else { return String::new() };
    let (message, label) = if allowed { ("allowed", "this grants it") } else { ("denied", "this denies it") };
    let finding = Finding::new("why", Severity::Note, message).at(span, label);
    report::human::one(sources, &finding, style(std::io::stdout().is_terminal(), true))
}

fn host_answer(sources: &Sources, bound: &Bound, args: &Args) -> Exit {
    let asked = read_host(&args.subject);
    let decision = hosts::decide(&bound.plan.network, &asked);
    let network = bound.policy.network.as_ref();
    let span = decision.rule.map(|rule| rule.span).or(network.map(|network| network.span));
    let mut text = verdict(decision.allowed, &args.operation, &args.subject);
    if asked != args.subject {
        text.push_str(&aside(&format!("which the network knows as {asked}")));
    }
    for reason in host_reasons(bound, &decision, &asked) {
        text.push_str(&aside(&reason));
    }
    if let (true, Err(_)) = (asked.contains('/'), Target::parse(&asked, Some(hosts::DEFAULT_PORT))) {
        text.push_str(&aside(&format!("for a socket write `{}{}`", Question::UNIX, args.subject)));
    }
    text.push_str(&snippet(sources, span, decision.allowed));
    print(&text);
    exit(decision.allowed)
}

/// Why a host is allowed or denied, and what would change that.
fn host_reasons(bound: &Bound, decision: &hosts::HostDecision<'_>, subject: &str) -> Vec<String> {
    let rules = match &bound.plan.network {
        Network::All => return vec!["by: `network all`: every host is open".into()],
        Network::Off => {
            let stated = match bound.policy.network.as_ref().map(|network| &network.value) {
                None => "nothing states `network`, and what is not granted is denied",
                Some(Network::Only(_)) => "`network only` allows no host, which is `network off`",
                Some(_) => "`network off`",
            };
            return vec![format!("by: {stated}: no line of hosts is open")];
        }
        Network::Only(rules) => rules,
    };
    let target = match Target::parse(subject, Some(hosts::DEFAULT_PORT)) {
        Ok(target) => target,
        Err(fault) => {
            return vec![format!("by: {fault} ({}): no such host is ever looked up", Reason::BadHost.name())];
        }
    };
    let by = decision.rule.map(|rule| format!("by: `{}` in `network only`", statement(rule)));
    let Err(reason) = gate::admission(rules, &target) else {
        let unless = match target.host {
            Host::Name(_) if !target.host.is_localhost() => Some(
                "unless each of its addresses is this machine's or inside a private network: no name opens those",
            ),
            _ => None,
        };
        let by = by.filter(|_| hosts::limits(rules, &target).is_empty());
        let reads = asked::reads(bound, rules, &target);
        return by.into_iter().chain(reads).chain(unless.map(str::to_owned)).collect();
    };
    let name = reason.name();
    let mut reasons = vec![by.map_or_else(
        || format!("by: no line of `network only` allows it ({name})"),
        |by| format!("{by} ({name})"),
    )];
    reasons.extend(match (gate::line(rules, &target, reason), reason) {
        (_, Reason::Denied) => Some(
            "a denial beats every allowance: where this host is to be reached, take the line out".to_owned(),
        ),
        (Some(line), _) => Some(format!("`{line}` in `network only` would allow it")),
        (None, _) => Some("no line can allow it".to_owned()),
    });
    reasons
}

/// A line of `network only`, as it is written.
fn statement(rule: &NetworkRule) -> String {
    match (rule.is_localhost(), rule.pattern.port) {
        (true, Some(port)) => format!("localhost {port}"),
        _ => match &rule.requests {
            Some(requests) if requests.is_any() => format!("inspect \"{}\"", rule.pattern),
            Some(requests) => format!("allow \"{}\" {requests}", rule.pattern),
            None => format!("{} \"{}\"", if rule.allow { "allow" } else { "deny" }, rule.pattern),
        },
    }
}

fn exit(allowed: bool) -> Exit {
    if allowed { Exit::Clean } else { Exit::Findings }
}

/// The only profile in the current directory.
fn only_profile() -> Result<Utf8PathBuf, Exit> {
    let here = current_directory()?;
    let mut found: Vec<Utf8PathBuf> = here
        .read_dir_utf8()
        .map_err(|error| fail(Exit::Usage, &format!("`{here}` cannot be listed: {error}"), None))?
        .filter_map(Result::ok)
        .map(|entry| entry.path().to_path_buf())
        .filter(|path| path.extension() == Some("palisade"))
        .collect();
    found.sort();
    match found.as_slice() {
        [only] => Ok(Utf8PathBuf::from(only.file_name().unwrap_or_default())),
        [] => Err(fail(Exit::Usage, "no profile in this directory", Some("name one with --profile FILE"))),
        several => {
            let names: Vec<&str> = several.iter().filter_map(|path| path.file_name()).collect();
            let help = format!("name one with --profile FILE: {}", names.join(", "));
            Err(fail(Exit::Usage, "more than one profile in this directory", Some(&help)))
        }
    }
}
