//! Parameters: what is declared, and the value of each.

use super::Options;
use crate::finding::{Edit, Finding, Severity};
use crate::policy::Param;
use crate::source::Span;
use crate::syntax::ast::{File, StatementKind, Text, TextPart};
use crate::syntax::{MAX_FINDINGS, nearest, shown};
use std::collections::BTreeMap;

/// What `$name` can stand for besides parameters.
pub const BUILT_IN: [&str; 2] = ["workspace", "home"];

/// Parameters by name.
#[derive(Debug, Default)]
pub struct Params {
    pub by_name: BTreeMap<String, Param>,
}

/// Collects the parameters of all files; the profile is the first. `complete` is whether every one must have a value.
pub fn declare(files: &[File], options: &Options, complete: bool, findings: &mut Vec<Finding>) -> Params {
    let mut params = Params::default();
    let mut origin: BTreeMap<String, usize> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        for statement in &file.statements {
            let StatementKind::Param { name, default } = &statement.kind else { continue };
            if !is_name(&name.value) {
                let message = format!("`{}` cannot be the name of a parameter", shown(&name.value));
                findings.push(
                    Finding::new("param", Severity::Error, message)
                        .at(name.span, "here")
                        .help("it is read as `$name`: letters, digits and `_`, not beginning with a digit"),
                );
                continue;
            }
            if BUILT_IN.contains(&name.value.as_str()) {
                let message = format!("`${}` has its value already", name.value);
                let finding = Finding::new("param", Severity::Error, message).at(name.span, "here");
                findings.push(
                    finding.help(
                        "`$workspace` is set by `--workspace`, `$home` is the home of whoever compiles",
                    ),
                );
                continue;
            }
            let default = default.as_ref().and_then(|text| default_value(text, options, findings));
            match params.by_name.get(&name.value) {
                // The same file: told of by the parser. The profile's own comes first and wins.
                Some(_)
                    if matches!(origin.get(&name.value), Some(0))
                        || origin.get(&name.value) == Some(&index) => {}
                Some(first) if first.value == default => {}
                Some(first) => findings.push(differs(
                    &format!("the parameter `{}`", name.value),
                    statement.span,
                    first.span,
                )),
                None => {
                    let param =
                        Param { name: name.value.clone(), value: default, span: statement.span, uses: 0 };
                    params.by_name.insert(name.value.clone(), param);
                    origin.insert(name.value.clone(), index);
                }
            }
        }
    }
    for (name, value) in &options.set {
        match params.by_name.get_mut(name) {
            Some(param) => param.value = Some(value.clone()),
            None => findings.push(undeclared(name, &params)),
        }
    }
    if complete {
        for param in params.by_name.values().filter(|param| param.value.is_none()) {
            let message = format!("the parameter `{}` has no value", param.name);
            findings.push(
                Finding::new("param", Severity::Error, message).at(param.span, "it has no default").help(
                    format!(
                        "give it one with `--set {0}=VALUE`, or a default: `param {0} \"…\"`",
                        param.name
                    ),
                ),
            );
        }
    }
    params
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A default may speak of the workspace and the home, not of other parameters: no order among them is needed then.
fn default_value(text: &Text, options: &Options, findings: &mut Vec<Finding>) -> Option<String> {
    let mut value = String::new();
    for part in &text.parts {
        match part {
            TextPart::Literal(literal) => value.push_str(literal),
            TextPart::Variable(name) => match name.value.as_str() {
                "workspace" => value.push_str(options.workspace.as_str()),
                "home" => value.push_str(options.home.as_str()),
                other => {
                    let message = format!("`${}` cannot stand in a default", shown(other));
                    let finding = Finding::new("param", Severity::Error, message).at(name.span, "here");
                    findings.push(finding.help("a default may hold `$workspace` and `$home` only"));
                }
            },
        }
    }
    Some(value)
}

/// Two fragments say different things, and the profile says nothing.
pub fn differs(what: &str, second: Span, first: Span) -> Finding {
    Finding::new("conflicting-fragments", Severity::Error, format!("two fragments differ in {what}"))
        .at(second, "and otherwise here")
        .at(first, "so here")
        .help("state it in the profile: what the profile says itself wins")
}

fn undeclared(name: &str, params: &Params) -> Finding {
    let finding =
        Finding::new("param", Severity::Error, format!("`--set {}`: no such parameter", shown(name)));
    match nearest(name, params.by_name.keys().map(String::as_str)) {
        Some(meant) => finding.help(format!("did you mean `{meant}`?")),
        None if BUILT_IN.contains(&name) => finding.help("`$workspace` is set by `--workspace DIR`"),
        None => finding.help(format!("declare it in the profile: `param {} \"…\"`", shown(name))),
    }
}

impl Params {
    /// The value of `$name`, counted as a use. None where it is not declared; then it has been told of. A parameter without a value is
    /// told of where it is declared, and reads as nothing.
    pub fn value(
        &mut self,
        name: &str,
        span: Span,
        options: &Options,
        findings: &mut Vec<Finding>,
    ) -> Option<String> {
        match name {
            "workspace" => return Some(options.workspace.to_string()),
            "home" => return Some(options.home.to_string()),
            _ => {}
        }
        if let Some(param) = self.by_name.get_mut(name) {
            param.uses += 1;
            return param.value.clone();
        }
        let names = BUILT_IN.into_iter().chain(self.by_name.keys().map(String::as_str));
        let meant = match name.to_lowercase().as_str() {
            "cwd" | "pwd" | "project" | "root" | "worktree" | "repo" => Some("workspace"),
            "userhome" | "user" => Some("home"),
            // Comparing takes time; by then there is enough to do.
            _ if findings.len() >= MAX_FINDINGS => None,
            _ => nearest(name, names),
        };
        let finding =
            Finding::new("unknown-variable", Severity::Error, format!("unknown variable `${}`", shown(name)));
        let finding = finding.at(span, "not declared");
        findings.push(match meant {
            Some(meant) => {
                let edit = Edit { span, replacement: format!("${{{meant}}}") };
                let finding =
                    finding.help(format!("did you mean `${meant}`? a dollar sign itself is written `\\$`"));
                finding.fix(format!("write `${{{meant}}}`"), vec![edit], false)
            }
            None => finding.help(format!(
                "declare it: `param {} \"…\"`; a dollar sign itself is written `\\$`",
                shown(name)
            )),
        });
        None
    }
}
