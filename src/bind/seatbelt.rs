//! `seatbelt "(allow …)"`: read by the reader of profiles, and taken only where what it opens can be said.

use crate::plan::seatbelt::{self as operations, CLOSED_ON_PATHS};
use crate::plan::{Operation, Operations, Scope};
use crate::sbpl::read::Datum;
use crate::sbpl::rule::{Effect, Filter, Rule, Test};
use crate::sbpl::spelling::{self, Fault};
use crate::sbpl::vocabulary::Form;
use crate::sbpl::{self, NoImports, Operation as Leaf, Params, PathCase, print};
use crate::source::Sources;
use camino::{Utf8Path, Utf8PathBuf};

/// One rule of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRule {
    pub effect: Effect,
    /// On one line, wildcards written out.
    pub text: String,
    pub operations: Vec<&'static str>,
    /// The plan's operations that it speaks of, in whole or, where it allows, in part.
    pub planned: Operations,
    /// The paths it speaks of; empty where it is about no path.
    pub paths: Vec<(Scope, Utf8PathBuf)>,
}

/// Operations on paths that no rule of a plan speaks of and that may be opened all the same, away from what is denied: a server's own
/// socket, a device's settings.
pub const UNCOUNTED: [&str; 3] = ["file-ioctl", "network-bind", "network-inbound"];

/// How operations begin that mount, copy or map disks as a whole, so that rules on paths say nothing of what they reach.
const PAST_PATHS: [&str; 5] =
    ["fs-", "storage-class-map", "system-automount", "system-fsctl", "system-nfssvc"];

/// Reads the text of a statement.
///
/// # Errors
/// Why it is not taken, each reason a message.
pub fn read(text: &str) -> Result<Vec<RawRule>, Vec<String>> {
    let mut sources = Sources::new();
    let file = sources.add("seatbelt", None, format!("(version 1)\n{text}"));
    let evaluation = sbpl::evaluate(&mut sources, file, &Params::default(), &NoImports);
    if !evaluation.findings.is_empty() {
        return Err(evaluation.findings.into_iter().map(|finding| finding.message).collect());
    }
    let other = |datum: &&Datum| !matches!(datum.head(), Some("allow" | "deny"));
    if evaluation.data.iter().skip(1).find(other).is_some() {
        return Err(vec!["only `allow` and `deny` may stand there".into()]);
    }
    let profile = evaluation.profile;
    if let Some(name) = profile.params.first() {
        return Err(vec![format!("the parameter `{name}` is given to nobody")]);
    }
    if profile.rules.is_empty() {
        return Err(vec!["it holds no rule".into()]);
    }
    let mut rules = Vec::new();
    let mut problems = Vec::new();
    for rule in &profile.rules {
        match take(rule) {
            Ok(rule) => rules.push(rule),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(rules) } else { Err(problems) }
}

fn take(rule: &Rule) -> Result<RawRule, String> {
    if let Some(modifier) = rule.modifiers.iter().find(|it| !matches!(it.info.name, "report" | "no-report")) {
        return Err(format!("`with {}` is not taken: what it does cannot be checked", modifier.info.name));
    }
    let mut operations: Vec<Leaf> = Vec::new();
    for operation in rule.operations.iter() {
        operations.extend(expanded(*operation)?);
    }
    operations.sort_unstable();
    operations.dedup();
    let names: Vec<&'static str> = operations.iter().map(|operation| operation.name()).collect();
    let counted = operations::leaves(Operations::ALL);
    let is_on_path = |name: &str| {
        name.starts_with("file-") || name.starts_with("network-") || CLOSED_ON_PATHS.contains(&name)
    };
    let reaches_past = |name: &str| PAST_PATHS.iter().any(|prefix| name.starts_with(prefix));
    if let (Effect::Allow, Some(name)) = (rule.effect, names.iter().find(|name| reaches_past(name))) {
        return Err(format!("`{name}` reaches files past every rule on paths"));
    }
    let closed = |name: &&&str| is_on_path(name) && !counted.contains(name) && !UNCOUNTED.contains(name);
    if let (Effect::Allow, Some(name)) = (rule.effect, names.iter().find(closed)) {
        return Err(format!(
            "`{name}` stays closed on every path: no other rule would be counted against it"
        ));
    }
    if rule.effect == Effect::Deny && rule.filters.is_empty() {
        return Err(
            "an unfiltered denial takes back nothing that is allowed by name: say what it denies".into()
        );
    }
    let planned = planned(rule.effect, &names)?;
    let mut paths = Vec::new();
    if !planned.is_empty() || names.iter().any(|name| is_on_path(name)) {
        if rule.filters.is_empty() {
            return Err(
                "a rule about files or sockets must say which: `(literal \"…\")` or `(subpath \"…\")`".into(),
            );
        }
        for filter in rule.filters.iter() {
            plain_paths(filter, &mut paths)?;
        }
    }
    let changes = !planned.intersection(Operations::WRITING).is_empty();
    let elsewhere =
        paths.iter().map(|(_, path)| path).find(|path| !path.starts_with("/dev") || *path == "/dev");
    if let (Effect::Allow, true, Some(path)) = (rule.effect, changes, elsewhere) {
        return Err(format!(
            "it would open `{path}` to be changed: outside `/dev` only a root is written to, and what it holds stays where it is"
        ));
    }
    let written = Rule { operations: operations.into(), ..rule.clone() };
    Ok(RawRule { effect: rule.effect, text: print::rule(&written), operations: names, planned, paths })
}

/// Everything of an operation that the kernel asks about, so that its meaning hangs on no order among wildcards.
fn expanded(operation: Leaf) -> Result<Vec<Leaf>, String> {
    let name = operation.name();
    match name {
        "default" | "process*" => Err(format!("`{name}` names more than can be said")),
        _ => Ok(Leaf::all()
            .filter(|it| it.is_checked() && (*it == operation || it.is_below(operation)))
            .collect()),
    }
}

/// The plan's operations that a rule speaks of. An allowance in part counts as a whole one, so that no verdict says too little is open;
/// a denial must be whole.
fn planned(effect: Effect, names: &[&str]) -> Result<Operations, String> {
    let mut planned = Operations::NONE;
    for ours in Operation::ALL {
        let leaves = operations::of(ours);
        let said = leaves.iter().filter(|leaf| names.contains(leaf)).count();
        if said == 0 {
            continue;
        }
        if effect == Effect::Deny && said < leaves.len() {
            return Err(format!("it denies a part of `{}`; name all of {}", ours.name(), leaves.join(" ")));
        }
        planned = planned.union(Operations::of(&[ours]));
    }
    Ok(planned)
}

/// Adds the paths of a filter that names paths and nothing else.
fn plain_paths(filter: &Filter, paths: &mut Vec<(Scope, Utf8PathBuf)>) -> Result<(), String> {
    const HELP: &str =
        "only paths by `literal` and `subpath` can be counted in a verdict on files and sockets";
    match &filter.test {
        Test::Any(filters) => filters.iter().try_for_each(|filter| plain_paths(filter, paths)),
        Test::Text { attribute, form: form @ (Form::Whole | Form::Subpath), value }
            if attribute.name == "path" =>
        {
            let path = value.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok()).ok_or(HELP)?;
            let path = Utf8Path::new(path);
            if !path.is_absolute() {
                return Err(format!("`{path}` matches nothing: the kernel compares absolute paths"));
            }
            let (seen, fault) = spelling::resolved(path.as_str(), PathCase::Sensitive, false);
            // A link at the root is a path of its own, for who reads where it leads.
            let is_link = fault == Some(Fault::Link) && path.parent() == Some("/".into());
            let on_data = spelling::on_data_volume(&seen, PathCase::Sensitive).map(|_| Fault::DataVolume);
            if let Some(fault) = fault.or(on_data).filter(|_| !is_link) {
                return Err(format!("`{path}` matches nothing: {}", fault.why()));
            }
            let scope = if *form == Form::Whole { Scope::Literal } else { Scope::Subtree };
            paths.push((scope, path.to_path_buf()));
            Ok(())
        }
        _ => Err(HELP.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_over_paths_are_written_out_and_counted() {
        let rules = read("(allow file-read* (subpath \"/opt/x\")) (allow mach-lookup (global-name \"a.b\"))")
            .unwrap();
        assert_eq!(
            rules[0].text,
            "(allow file-read-data file-read-metadata file-read-xattr (subpath \"/opt/x\"))"
        );
        assert_eq!(rules[0].planned, Operations::READING);
        assert_eq!(rules[0].paths, [(Scope::Subtree, "/opt/x".into())]);
        assert!(rules[1].planned.is_empty() && rules[1].paths.is_empty());
    }

    #[test]
    fn what_cannot_be_said_is_not_taken() {
        for text in [
            "",
            "(allow default)",
            "(allow file-read*)",
            "(allow file-read* (regex #\"^/opt\"))",
            "(allow file-read* (require-all (subpath \"/a\") (require-not (literal \"/a/b\"))))",
            "(allow file-read* (subpath \"/tmp/x\"))",
            "(allow file-read* (subpath \"/opt/\"))",
            "(allow file-read* (subpath \"/opt/../etc\"))",
            "(allow file-reed* (subpath \"/opt\"))",
            "(allow process-exec (literal \"/bin/ps\") (with no-sandbox))",
            "(allow network-outbound (remote ip \"*:80\"))",
            "(allow file-read* (subpath (param \"HOME\")))",
            "(deny file-write-data (subpath \"/opt\"))",
            "(deny mach-lookup)",
            "(deny sysctl*)",
            "(allow file-write* (subpath \"/opt/homebrew/Cellar/git\"))",
            "(allow file-write-unlink (literal \"/Users/dev\"))",
            "(allow file-write-data (literal \"/dev\"))",
            "(allow fs-snapshot-mount (subpath \"/\"))",
            "(allow storage-class-map)",
            "(allow file-mknod (subpath \"/opt\"))",
            "(allow file* (subpath \"/opt\"))",
            "(allow file-write-setugid (literal \"/opt\"))",
            "(allow file-read* (subpath \"/System/Volumes/Data/Users\"))",
            "(import \"system.sb\")",
            "(define x 1)",
            "(if #t (allow mach-lookup (global-name \"x\")))",
            "(allow mach-lookup (global-name \"x\")",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
