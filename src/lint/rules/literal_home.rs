use crate::finding::{Edit, Finding};
use crate::lint::Context;
use crate::source::Span;

rule! {
    /// A `~` in the value of a variable, where it is no home.
    ///
    /// ## What it does
    ///
    /// Reports a `set` whose value is `~`, or has a `~/` at its beginning or after a `:`.
    ///
    /// ## Why it is bad
    ///
    /// It is a shell that makes a home of it, and no shell reads this value: the program takes the `~` for the name of a
    /// directory, does not find its settings, or makes one of that name where it stands.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     env { set CARGO_HOME "~/.cargo" }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     env { set CARGO_HOME "$home/.cargo" }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a name that ends with it, as editors name their copies.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     env { set BACKUP "notes.txt~" }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Write `$home`. Where a program reads `~` itself, allow this and say so.
    name: "literal-home",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

/// Whether a part of a list of paths begins with a `~` that seems to be a home.
fn is_home(part: &str) -> bool {
    part == "~" || part.starts_with("~/")
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for entry in &context.policy.env {
        let value = entry.value.as_deref().unwrap_or_default();
        if !value.split(':').any(is_home) {
            continue;
        }
        let finding = INFO
            .finding(format!("the value of `{}` has a `~` that nothing makes a home of", entry.name))
            .at(entry.span, "programs take it for a directory of that name")
            .help("write `$home`");
        let edits = written(context, entry.span);
        findings.push(if edits.is_empty() { finding } else { finding.fix("write `$home`", edits, false) });
    }
}

/// The edits that put `$home` in place of each `~`; none in a raw text, which has no variables.
fn written(context: &Context<'_>, entry: Span) -> Vec<Edit> {
    let text = context.sources.text(entry);
    let Some((before, value)) = text.split_once('"').filter(|(before, _)| before.ends_with([' ', '\t']))
    else {
        return Vec::new();
    };
    let Some(value) = value.strip_suffix('"') else { return Vec::new() };
    let mut start = entry.range().start + before.len() + 1;
    let mut edits = Vec::new();
    for part in value.split(':') {
        if is_home(part) {
            edits.push(Edit { span: Span::new(entry.file, start..start + 1), replacement: "${home}".into() });
        }
        start += part.len() + 1;
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::is_home;

    #[test]
    fn only_a_tilde_that_is_or_begins_a_path_is_meant() {
        assert!(["~", "~/", "~/.cargo"].iter().all(|part| is_home(part)));
        assert!(["", "~bob", "x~", "/~/", "./~"].iter().all(|part| !is_home(part)));
    }
}
