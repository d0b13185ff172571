//! `palisade sb why`: which line of a profile decides.

use super::{EvaluationArgs, subject};
use crate::cli::Exit;
use crate::cli::output::{fail, findings_aside, print, style};
use crate::finding::{Finding, Severity};
use crate::report;
use crate::sbpl::rule::Effect;
use crate::sbpl::vocabulary::{Builtin, operation_names};
use crate::sbpl::{self, Decider, Decision, Engine, Operation, Profile, Verdict};
use crate::source::{Sources, Span};
use crate::syntax::nearest;
use camino::Utf8PathBuf;
use std::io::IsTerminal as _;

/// Say which line of a Seatbelt profile decides
///
/// The first line begins with `allowed`, `denied` or `unknown`, and the exit code is 0, 1 or 2 accordingly.
#[derive(clap::Args)]
pub struct Args {
    /// A Seatbelt profile; `-` is standard input
    #[arg(value_name = "FILE.sb")]
    path: Utf8PathBuf,
    /// A Seatbelt operation: file-read-data, process-exec, network-outbound …; of a wildcard that is never checked itself, every operation below it
    #[arg(value_name = "OPERATION")]
    operation: String,
    /// A path; or FILTER=NAME for what has none: global-name=com.apple.trustd, remote=example.com:443; more of the same where more is known
    /// of it: xattr=com.apple.quarantine; nothing where the operation has no object
    #[arg(value_name = "SUBJECT")]
    subject: Vec<String>,
    /// What is at the path: REGULAR-FILE, DIRECTORY, SOCKET …
    #[arg(long, value_name = "TYPE")]
    vnode_type: Option<String>,
    #[command(flatten)]
    evaluation: EvaluationArgs,
}

pub fn run(args: &Args) -> Result<Exit, Exit> {
    let Some(operation) = Operation::named(&args.operation) else {
        let help = match nearest(&args.operation, operation_names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "operations are those of Seatbelt: `file-read-data`, `process-exec`, …".to_owned(),
        };
        return Err(fail(Exit::Usage, &format!("no operation is called `{}`", args.operation), Some(&help)));
    };
    let mut subject = subject::parse(&args.subject, args.evaluation.case())?;
    if let Some(kind) = &args.vnode_type {
        subject = subject.with_type(kind)?;
    }
    let operations = subject.of(&args.operation, operation.checked().collect())?;
    let mut sources = Sources::new();
    let evaluation = args
        .evaluation
        .evaluate(&mut sources, &args.path)
        .map_err(|problem| fail(Exit::Usage, &problem.message, problem.help.as_deref()))?;
    if evaluation.findings.iter().any(|finding| finding.severity == Severity::Error) {
        findings_aside(&sources, &evaluation.findings, args.path.as_str());
        return Err(fail(Exit::Usage, "the profile was not understood, so nothing can be said", None));
    }
    let answers: Vec<(Operation, Decision)> = operations
        .into_iter()
        .map(|asked| (asked, evaluation.profile.decide(asked, &subject.subject, Engine::PerOperation)))
        .collect();
    let verdict = together(answers.iter().map(|(_, decision)| decision.verdict));
    let mut text = line(&format!("{}: {} {}", word(verdict), args.operation, subject.shown));
    if let Some(note) = &subject.note {
        text.push_str(&line(&format!("  {note}")));
    }
    let alone = answers.len() == 1;
    let is_itself = answers.iter().all(|(asked, _)| *asked == operation);
    for (leaf, decision) in &answers {
        if !is_itself {
            text.push_str(&line(&format!("{}: {}", leaf.name(), word(decision.verdict))));
        }
        text.push_str(&because(&sources, &evaluation.profile, *leaf, decision, alone));
    }
    let apart: Vec<&str> = match is_itself {
        true => Operation::all().filter(|below| below.is_below(operation)).map(Operation::name).collect(),
        false => Vec::new(),
    };
    if !apart.is_empty() {
        text.push_str(&line(&format!("  checked apart from it: {}", apart.join(", "))));
    }
    let has_errors =
        sbpl::lint::run(&sources, &evaluation).iter().any(|finding| finding.severity == Severity::Error);
    if has_errors {
        text.push_str("this profile has errors: see `palisade sb check`\n");
    }
    print(&text);
    Ok(match verdict {
        Verdict::Allow => Exit::Clean,
        Verdict::Deny => Exit::Findings,
        Verdict::Unknown => Exit::Usage,
    })
}

/// Denied if any is, else unknown if any is.
fn together(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    verdicts.fold(Verdict::Allow, |all, one| match (all, one) {
        (Verdict::Deny, _) | (_, Verdict::Deny) => Verdict::Deny,
        (Verdict::Unknown, _) | (_, Verdict::Unknown) => Verdict::Unknown,
        _ => Verdict::Allow,
    })
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allowed",
        Verdict::Deny => "denied",
        Verdict::Unknown => "unknown",
    }
}

/// What is said, whatever the text holds, in lines of 80 columns where it has blanks.
fn line(text: &str) -> String {
    let shown = report::shown(text);
    let options = textwrap::Options::new(80)
        .subsequent_indent("      ")
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    format!("{}\n", textwrap::fill(&shown, options))
}

/// What decides, in words and with the line.
fn because(
    sources: &Sources,
    profile: &Profile,
    leaf: Operation,
    decision: &Decision,
    with_snippet: bool,
) -> String {
    let mut text = String::new();
    let mut said = Vec::new();
    for decider in &decision.perhaps {
        let line = line(&format!("  perhaps by: {}", describe(sources, profile, leaf, *decider)));
        // An import may decide at every step of the way; it is one all the same.
        if !said.contains(&line) {
            text.push_str(&line);
            said.push(line);
        }
    }
    if let Some(decider) = decision.certain {
        let otherwise = if decision.perhaps.is_empty() { "by" } else { "else by" };
        text.push_str(&line(&format!("  {otherwise}: {}", describe(sources, profile, leaf, decider))));
    }
    let span = decision.certain.filter(|_| with_snippet).and_then(|decider| span(profile, decider));
    if let Some(span) = span {
        let label =
            if decision.perhaps.is_empty() { "this decides" } else { "decides where nothing above it does" };
        let finding = Finding::new("why", Severity::Note, word(decision.verdict)).at(span, label);
        text.push_str(&report::human::one(sources, &finding, style(std::io::stdout().is_terminal(), true)));
    }
    text
}

fn span(profile: &Profile, decider: Decider) -> Option<Span> {
    match decider {
        Decider::Rule { index, .. } => profile.rules.get(index).map(|rule| rule.span),
        Decider::Import { index, .. } => profile.opaque.get(index).map(|import| import.span),
        Decider::Builtin { .. } | Decider::SelfSignal => None,
    }
}

fn describe(sources: &Sources, profile: &Profile, leaf: Operation, decider: Decider) -> String {
    match decider {
        Decider::Rule { index, operation } => {
            let Some(rule) = profile.rules.get(index) else { return String::new() };
            let kind = match (rule.effect, rule.filters.is_empty()) {
                (Effect::Allow, false) => "an allowance",
                (Effect::Deny, false) => "a denial",
                (Effect::Allow, true) => "the fallback, an allowance,",
                (Effect::Deny, true) => "the fallback, a denial,",
            };
            let of = operation.name();
            let why = if operation == leaf {
                String::new()
            } else {
                format!("; no rule for `{}` itself decides", leaf.name())
            };
            format!("{}: {kind} of `{of}`{why}", sources.place(rule.span))
        }
        Decider::Import { index, .. } => match profile.opaque.get(index) {
            Some(import) => {
                let place = sources.place(import.span);
                match &import.call {
                    Some(call) => format!(
                        "{place}: `{call}`, which `{}` may define, and that was not read",
                        import.name
                    ),
                    None => format!("{place}: `{}`, which was not read", import.name),
                }
            }
            None => String::new(),
        },
        Decider::Builtin { operation, builtin } => match builtin {
            Builtin::Allow => {
                format!("the kernel, which allows `{}` unless a rule says otherwise", operation.name())
            }
            Builtin::Deny => {
                format!("the kernel, which denies `{}` unless a rule says otherwise", operation.name())
            }
            Builtin::Graph | Builtin::Inherit => {
                format!("the kernel's own rules for `{}`, which are not published", operation.name())
            }
        },
        Decider::SelfSignal => "the kernel, which lets a process signal itself".to_owned(),
    }
}
