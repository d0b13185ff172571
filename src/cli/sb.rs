//! `palisade sb`: questions about Seatbelt profiles, whoever wrote them.

use super::Exit;
use super::input::{absolute, parse_set, read_profile};
use super::output::{FindingArgs, exit_for, fail, findings, findings_aside, print, style};
use crate::finding::{Finding, Severity};
use crate::report;
use crate::sbpl::decide::Fact;
use crate::sbpl::rule::Effect;
use crate::sbpl::vocabulary::{Builtin, operation_names};
use crate::sbpl::{
    self, Decider, Decision, Directories, Engine, Evaluation, Operation, Params, PathCase, Profile, Subject,
    Verdict,
};
use crate::source::{Sources, Span};
use crate::syntax::nearest;
use camino::{Utf8Path, Utf8PathBuf};
use std::io::IsTerminal as _;

/// Check Seatbelt profiles, whoever wrote them, and say what they decide
#[derive(clap::Subcommand)]
pub enum Verb {
    Check(CheckArgs),
    Why(WhyArgs),
}

/// Options that say how a profile is evaluated.
#[derive(clap::Args, Clone, Debug)]
struct EvaluationArgs {
    /// Give a parameter its value, as `sandbox-exec -D` does; what hangs on others is not known
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = parse_set)]
    params: Vec<(String, String)>,
    /// A directory to read imported files from; imports of other files are not read
    #[arg(long, value_name = "DIR")]
    import_dir: Vec<Utf8PathBuf>,
    /// The disk tells cases of letters apart, as Macs' disks do not unless made so
    #[arg(long)]
    case_sensitive: bool,
}

impl EvaluationArgs {
    fn evaluate(&self, sources: &mut Sources, path: &Utf8Path) -> Result<Evaluation, Exit> {
        let file = read_profile(sources, path)?;
        let params = Params { given: self.params.iter().cloned().collect(), complete: false };
        let directories = self.import_dir.iter().map(|path| absolute(path)).collect::<Result<_, _>>()?;
        let mut evaluation = sbpl::evaluate(sources, file, &params, &Directories(directories));
        if self.case_sensitive {
            evaluation.profile.case = PathCase::Sensitive;
        }
        Ok(evaluation)
    }
}

/// Check Seatbelt profiles
///
/// Exits 0 when clean, 1 with findings at or above `--fail-on`, 2 on usage or unreadable input, 3 on a failure of the program.
#[derive(clap::Args)]
pub struct CheckArgs {
    /// Seatbelt profiles; `-` is standard input
    #[arg(required = true, value_name = "FILE.sb")]
    paths: Vec<Utf8PathBuf>,
    #[command(flatten)]
    evaluation: EvaluationArgs,
    #[command(flatten)]
    output: FindingArgs,
}

/// Say which line of a Seatbelt profile decides
///
/// The first line begins with `allowed`, `denied` or `unknown`, and the exit code is 0, 1 or 2 accordingly.
#[derive(clap::Args)]
pub struct WhyArgs {
    /// A Seatbelt profile; `-` is standard input
    #[arg(value_name = "FILE.sb")]
    path: Utf8PathBuf,
    /// A Seatbelt operation: file-read-data, process-exec, network-outbound …; of a wildcard, every operation below it is asked
    #[arg(value_name = "OPERATION")]
    operation: String,
    /// A path; or FILTER=NAME for what has none: global-name=com.apple.trustd
    #[arg(value_name = "PATH")]
    subject: String,
    /// What is at the path: REGULAR-FILE, DIRECTORY, SOCKET …
    #[arg(long, value_name = "TYPE")]
    vnode_type: Option<String>,
    #[command(flatten)]
    evaluation: EvaluationArgs,
}

pub fn run(verb: &Verb) -> Exit {
    match verb {
        Verb::Check(args) => check(args),
        Verb::Why(args) => why(args),
    }
    .unwrap_or_else(|exit| exit)
}

fn check(args: &CheckArgs) -> Result<Exit, Exit> {
    let mut sources = Sources::new();
    let mut all = Vec::new();
    let mut unreadable = false;
    for path in &args.paths {
        match args.evaluation.evaluate(&mut sources, path) {
            Ok(evaluation) => all.extend(sbpl::lint::run(&sources, &evaluation)),
            Err(_) => unreadable = true,
        }
    }
    let subject = match args.paths.as_slice() {
        [only] => only.to_string(),
        several => format!("{} profiles", several.len()),
    };
    print(&findings(&args.output, &sources, &all, &subject));
    let worst = exit_for(&all, args.output.fail_on);
    Ok(if unreadable { Exit::Usage } else { worst })
}

fn why(args: &WhyArgs) -> Result<Exit, Exit> {
    let Some(operation) = Operation::named(&args.operation) else {
        let help = match nearest(&args.operation, operation_names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "operations are those of Seatbelt: `file-read-data`, `process-exec`, …".to_owned(),
        };
        return Err(fail(Exit::Usage, &format!("no operation is called `{}`", args.operation), Some(&help)));
    };
    let mut sources = Sources::new();
    let evaluation = args.evaluation.evaluate(&mut sources, &args.path)?;
    if evaluation.findings.iter().any(|finding| finding.severity == Severity::Error) {
        findings_aside(&sources, &evaluation.findings, args.path.as_str());
        return Err(fail(Exit::Usage, "the profile was not understood, so nothing can be said", None));
    }
    let (subject, shown, note) = subject(args)?;
    let mut leaves: Vec<Operation> = operation.leaves().collect();
    if leaves.is_empty() {
        leaves.push(operation);
    }
    let answers: Vec<(Operation, Decision)> = leaves
        .into_iter()
        .map(|leaf| (leaf, evaluation.profile.decide(leaf, &subject, Engine::PerOperation)))
        .collect();
    let verdict = together(answers.iter().map(|(_, decision)| decision.verdict));
    let mut text = line(&format!("{}: {} {shown}", word(verdict), args.operation));
    if let Some(note) = note {
        text.push_str(&line(&format!("  {note}")));
    }
    let alone = answers.len() == 1;
    for (leaf, decision) in &answers {
        if !alone {
            text.push_str(&line(&format!("{}: {}", leaf.name(), word(decision.verdict))));
        }
        text.push_str(&because(&sources, &evaluation.profile, *leaf, decision, alone));
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

/// What is asked about, how to name it, and what was made of it.
fn subject(args: &WhyArgs) -> Result<(Subject, String, Option<String>), Exit> {
    let text = args.subject.as_str();
    let with_type = |subject: Subject| match &args.vnode_type {
        Some(kind) => subject.with("vnode-type", Fact::Is(kind.to_uppercase().into_bytes())),
        None => subject,
    };
    if !text.starts_with('/') {
        return match text.split_once('=') {
            Some((filter, name)) if sbpl::vocabulary::filter_named(filter).is_some() => {
                Ok((Subject::named(filter, name), text.to_owned(), None))
            }
            _ => Err(fail(
                Exit::Usage,
                &format!("`{text}` is neither an absolute path nor FILTER=NAME"),
                Some(
                    "write the path as the Mac has it, or name what is asked about: `global-name=com.apple.trustd`",
                ),
            )),
        };
    }
    let resolved = resolved(text);
    let note = (resolved != text).then(|| format!("on a Mac that is {resolved}"));
    Ok((with_type(Subject::path(resolved.as_str())), resolved, note))
}

/// As the kernel sees a path on every Mac: without `//`, `.` and a slash at the end, and through the links at the root. A `..` is taken back by
/// name, as it is where no other link stands on the way.
fn resolved(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
        if let [link @ ("tmp" | "var" | "etc")] = parts.as_slice() {
            parts = vec!["private", *link];
        }
    }
    format!("/{}", parts.join("/"))
}

/// One line of output, whatever the text holds.
fn line(text: &str) -> String {
    format!("{}\n", report::shown(text))
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
    for decider in &decision.perhaps {
        text.push_str(&line(&format!("  perhaps by: {}", describe(sources, profile, leaf, *decider))));
    }
    if let Some(decider) = decision.certain {
        let otherwise = if decision.perhaps.is_empty() { "by" } else { "else by" };
        text.push_str(&line(&format!("  {otherwise}: {}", describe(sources, profile, leaf, decider))));
    }
    let span = decision.certain.filter(|_| with_snippet).and_then(|decider| span(profile, decider));
    if let Some(span) = span {
        let message = word(decision.verdict);
        let finding = Finding::new("why", Severity::Note, message).at(span, "this decides");
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
                format!("{}: `{}`, which was not read", sources.place(import.span), import.name)
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

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn paths_are_taken_as_the_kernel_sees_them() {
        for (path, seen) in [
            ("/tmp/x", "/private/tmp/x"),
            ("/tmp", "/private/tmp"),
            ("/a/../var/x/", "/private/var/x"),
            ("/tmp/../x", "/private/x"),
            ("//Users/./dev/", "/Users/dev"),
            ("/", "/"),
            ("/tmpx", "/tmpx"),
        ] {
            assert_eq!(resolved(path), seen, "{path}");
        }
    }
}
