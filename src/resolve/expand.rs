//! Texts with their variables filled in, and paths made absolute.

use super::Options;
use super::params::Params;
use crate::finding::{Edit, Finding, Severity};
use crate::policy::PolicyPath;
use crate::source::{Span, Spanned};
use crate::syntax::ast::{Text, TextPart};
use crate::syntax::shown;
use camino::{Utf8Path, Utf8PathBuf};

/// Fills in variables and makes paths of texts.
pub struct Expander<'a> {
    pub options: &'a Options,
    pub params: Params,
    pub findings: Vec<Finding>,
}

impl Expander<'_> {
    fn error(&mut self, rule: &'static str, span: Span, message: String, help: &str) {
        self.findings.push(Finding::new(rule, Severity::Error, message).at(span, "here").help(help));
    }

    /// The text with every variable filled in.
    pub fn text(&mut self, text: &Text) -> Option<String> {
        self.parts(text, |value| value)
    }

    fn parts(&mut self, text: &Text, escape: impl Fn(String) -> String) -> Option<String> {
        let mut filled = Some(String::new());
        for part in &text.parts {
            let part = match part {
                TextPart::Literal(literal) => Some(literal.clone()),
                TextPart::Variable(name) => {
                    self.params.value(&name.value, name.span, self.options, &mut self.findings).map(&escape)
                }
            };
            // Every unknown variable of the text is told of.
            filled = filled.zip(part).map(|(filled, part)| filled + &part);
        }
        filled
    }

    /// The path a text means: `~/` filled in, relative ones below the workspace, without `//`, `.` and a trailing slash. `..` is kept:
    /// what it leads to hangs on symlinks.
    pub fn path(&mut self, text: &Text) -> Option<PolicyPath> {
        let filled = self.text(text)?;
        let path = self.absolute(filled, text, |value| value)?;
        Some(PolicyPath { path: Utf8PathBuf::from(path), span: text.span })
    }

    fn absolute(&mut self, filled: String, text: &Text, escape: impl Fn(String) -> String) -> Option<String> {
        if filled.is_empty() {
            self.error(
                "path",
                text.span,
                "an empty path".into(),
                "the workspace itself is written `$workspace`",
            );
            return None;
        }
        if filled.contains('\0') {
            self.error("path", text.span, "a path with a NUL in it".into(), "no path can hold one");
            return None;
        }
        let expanded = if text.raw { filled } else { self.home(filled, text, escape)? };
        let whole = Utf8Path::new(&self.options.workspace).join(expanded);
        Some(normalized(whole.as_str()))
    }

    fn home(&mut self, path: String, text: &Text, escape: impl Fn(String) -> String) -> Option<String> {
        let Some(rest) = path.strip_prefix('~') else { return Some(path) };
        if rest.is_empty() || rest.starts_with('/') {
            return Some(escape(self.options.home.to_string()) + rest);
        }
        let user = rest.split('/').next().unwrap_or_default();
        let help = format!(
            "only your own home has a short name, `~/…`: write the path of another out, from `/` on; a name that begins with `~` is written `./~{}`",
            shown(user)
        );
        self.error("path", text.span, format!("`~{}` is not a home", shown(user)), &help);
        None
    }

    /// A pattern: what variables stand for means itself in it, and it begins at the root of the file system.
    pub fn glob(&mut self, text: &Text) -> Option<Spanned<String>> {
        let filled = self.parts(text, |value| globset::escape(&value))?;
        let home = |value: String| globset::escape(&value);
        let pattern = if text.raw { filled } else { self.home(filled, text, home)? };
        if !pattern.starts_with('/') {
            let message = format!("the pattern `{}` hangs on no directory", shown(&pattern));
            let finding = Finding::new("glob", Severity::Error, message).at(text.span, "not absolute");
            let finding = finding.help("begin it where it is meant to hold: `\"$workspace/…\"`");
            // After the opening quote; a raw string has no variables to begin with.
            self.findings.push(if text.raw {
                finding
            } else {
                let at = Span { start: text.span.start + 1, end: text.span.start + 1, ..text.span };
                let edit = Edit { span: at, replacement: "$workspace/".into() };
                finding.fix("begin it at the workspace", vec![edit], false)
            });
            return None;
        }
        let pattern = normalized(&pattern);
        if pattern.split('/').any(|component| component == "..") {
            self.error(
                "glob",
                text.span,
                "`..` in a pattern".into(),
                "a pattern is matched as text: write the path out",
            );
            return None;
        }
        if let Err(error) = globset::GlobBuilder::new(&pattern)
            .literal_separator(true)
            .backslash_escape(true)
            .empty_alternates(true)
            .build()
        {
            let message = format!("the pattern does not parse: {}", error.kind());
            self.error("glob", text.span, message, "patterns hold `*`, `**`, `?`, `[…]` and `{a,b}`; `\\\\` before one of these makes it mean itself");
            return None;
        }
        Some(Spanned::new(pattern, text.span))
    }

    /// A name of `except`: relative to the path of its statement.
    pub fn exception(&mut self, text: &Text) -> Option<Spanned<String>> {
        let name = self.text(text)?;
        let clean = normalized(&name);
        if clean.is_empty() || clean.starts_with('/') || clean.split('/').any(|part| part == "..") {
            let message = format!("`{}` cannot be excepted", shown(&name));
            self.error(
                "path",
                text.span,
                message,
                "write a name or path below the path of the statement: `except \"target\"`",
            );
            return None;
        }
        Some(Spanned::new(clean, text.span))
    }
}

/// Without `//`, `.` components and a trailing slash.
pub fn normalized(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let joined = parts.join("/");
    if path.starts_with('/') { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_path_become_one() {
        for path in ["/a/b", "/a/b/", "//a///b", "/./a/./b/.", "/a/b//"] {
            assert_eq!(normalized(path), "/a/b");
        }
        assert_eq!(normalized("/"), "/");
        assert_eq!(normalized("/.."), "/..");
        assert_eq!(normalized("./a/../b"), "a/../b");
        assert_eq!(normalized("."), "");
    }
}
