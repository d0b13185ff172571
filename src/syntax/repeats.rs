//! Statements that one file may hold once only.

use super::ast::{Statement, StatementKind, System};
use super::diagnose::shown;
use crate::finding::{Finding, Severity};
use crate::source::Span;
use std::collections::HashMap;

/// What was stated, and where it holds: `None` is everywhere.
type Stated = HashMap<String, Vec<(Option<System>, Span)>>;

/// Findings for single statements, limits, variables, parameters and groups that are stated twice for one system.
pub fn check(statements: &[Statement], findings: &mut Vec<Finding>) {
    walk(statements, None, &mut Stated::new(), findings);
}

fn walk(statements: &[Statement], system: Option<System>, stated: &mut Stated, findings: &mut Vec<Finding>) {
    for statement in statements {
        let kind = &statement.kind;
        let mut note = |what: String, span: Span| record(what, span, system, stated, findings);
        match kind {
            _ if kind.is_single() => note(format!("`{}`", kind.keyword()), statement.span),
            StatementKind::Limits(limits) => {
                limits
                    .iter()
                    .for_each(|limit| note(format!("the limit `{}`", limit.kind.name()), limit.span));
            }
            StatementKind::Env(items) => items
                .iter()
                .for_each(|item| note(format!("the variable `{}`", shown(&item.name.value)), item.span)),
            StatementKind::Param { name, .. } => {
                note(format!("the parameter `{}`", shown(&name.value)), statement.span)
            }
            StatementKind::Group { name, .. } => {
                note(format!("the group `@{}`", shown(&name.value)), statement.span)
            }
            StatementKind::On { system, statements } => {
                walk(statements, Some(system.value), stated, findings)
            }
            _ => {}
        }
    }
}

fn record(
    what: String,
    span: Span,
    system: Option<System>,
    stated: &mut Stated,
    findings: &mut Vec<Finding>,
) {
    let places = stated.entry(what.clone()).or_default();
    let clash = places.iter().find(|(other, _)| other.is_none() || system.is_none() || *other == system);
    match clash {
        Some((_, first)) => findings.push(
            Finding::new("repeated-statement", Severity::Error, format!("{what} is stated twice"))
                .at(span, "again here")
                .at(*first, "first here")
                .help("keep one of them; which one is meant is not for the compiler to guess"),
        ),
        None => places.push((system, span)),
    }
}
