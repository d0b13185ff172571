use crate::finding::{Finding, Severity};
use crate::lint::Context;
use crate::lint::catalogue::lookalikes;
use crate::policy::{DenialKind, Network, Policy};
use crate::resolve::idn;
use crate::source::Span;
use unicode_script::{Script, UnicodeScript};

rule! {
    /// A name with letters of two alphabets that look alike.
    ///
    /// ## What it does
    ///
    /// Reports a word in a path, a pattern, a tool or a variable that mixes Latin letters with Cyrillic, Greek,
    /// Armenian or Cherokee ones. Of hosts, also where they are written `xn--…`, it warns of names that mix alphabets, and of such
    /// as are read as one of the hosts that everybody knows.
    ///
    /// ## Why it is bad
    ///
    /// A reviewer reads another name than the program does: `deny "$workspace/.еnv"` with a Cyrillic letter denies
    /// nothing that is there, and `root "~/dосs"` is not the directory that everybody knows. Who owns `аpple.com` with a
    /// Cyrillic letter is not who owns `apple.com`.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/sеcrets"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/secrets"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a word of one alphabet beside a word of another.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/ключи-prod"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Write the name with the letters of one alphabet. Where the file really is called so, write the letter as an
    /// escape, `\u{…}`, and allow this with the reason.
    name: "confusable-name",
    severity: Error,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

/// Alphabets with letters that look like Latin ones (Unicode Technical Standard 39, confusables).
const ALIKE: [Script; 4] = [Script::Cyrillic, Script::Greek, Script::Armenian, Script::Cherokee];

/// The first letter of a foreign alphabet in a word that has Latin letters too.
fn mixed(text: &str) -> Option<(char, Script)> {
    if text.is_ascii() {
        return None;
    }
    text.split(|c: char| !c.is_alphanumeric()).find_map(|word| {
        let foreign = word.chars().find(|c| ALIKE.contains(&c.script()))?;
        word.chars().any(|c| c.script() == Script::Latin).then(|| (foreign, foreign.script()))
    })
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let policy = context.policy;
    paths(policy, &mut |text, span| look(text, span, findings));
    hosts(context, findings);
}

fn look(text: &str, span: Span, findings: &mut Vec<Finding>) {
    if let Some((letter, script)) = mixed(text) {
        findings.push(
            INFO.finding(format!("`{text}` mixes alphabets"))
                .at(span, format!("`{letter}` is {}: U+{:04X}", script.full_name(), u32::from(letter)))
                .help("write it with the letters of one alphabet; as it stands, a reader and a program see different names"),
        );
    }
}

/// Names that the network knows by another form than people do.
fn hosts(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Network::Only(rules) = context.policy.network() else { return };
    for rule in rules.iter().filter(|rule| rule.allow) {
        let host = &rule.pattern.host;
        let read = idn::to_reader(host);
        if read.is_ascii() {
            continue;
        }
        let (message, label) = if let Some(known) = lookalikes::known(&read) {
            (format!("`{host}` is read as `{known}`"), format!("this is `{read}`, another name"))
        } else if let Some((one, other)) = read.split('.').find_map(lookalikes::scripts) {
            (
                format!("`{host}` mixes alphabets"),
                format!("`{read}` has {} and {} letters", one.full_name(), other.full_name()),
            )
        } else {
            continue;
        };
        let mut finding = INFO.finding(message).at(rule.span, label).help(format!(
            "the network knows it as `{host}`: where that is meant, allow this with the reason"
        ));
        finding.severity = Severity::Warning;
        findings.push(finding);
    }
}

/// Every path, pattern, tool and variable.
fn paths(policy: &Policy, look: &mut dyn FnMut(&str, Span)) {
    for root in &policy.roots {
        look(root.path.path.as_str(), root.span);
    }
    for denial in &policy.denials {
        match &denial.kind {
            DenialKind::Path(path) | DenialKind::Gitignored { path, .. } => {
                look(path.path.as_str(), denial.span)
            }
            DenialKind::Glob(pattern) => look(&pattern.value, denial.span),
        }
    }
    let paths = policy.executables.iter().chain(&policy.tool_paths).chain(&policy.git_worktrees);
    for path in
        paths.chain(policy.unguards.iter().map(|unguard| &unguard.path)).chain(&policy.working_directory)
    {
        look(path.path.as_str(), path.span);
    }
    for tool in policy.tools.iter().chain(&policy.optional_tools) {
        look(&tool.name, tool.span);
    }
    for entry in &policy.env {
        look(&entry.name, entry.span);
    }
}

#[cfg(test)]
mod tests {
    use super::mixed;

    #[test]
    fn letters_of_two_alphabets_in_one_word() {
        for text in ["/w/.\u{435}nv", "d\u{43e}\u{441}s", "\u{391}pp", "gi\u{442}"] {
            assert!(mixed(text).is_some(), "{text}");
        }
        for text in [
            "/w/.env",
            "caf\u{e9}",
            "\u{43a}\u{43b}\u{44e}\u{447}-prod",
            "\u{b5}Torrent",
            "\u{65e5}\u{672c}abc",
            "\u{3b1}\u{3b2}",
        ] {
            assert_eq!(mixed(text), None, "{text}");
        }
    }
}
