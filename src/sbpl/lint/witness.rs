//! Paths that stand for many: what a filter names, and what lies just below it.

use super::dead_path;
use crate::sbpl::Subject;
use crate::sbpl::rule::{Filter, Rule, Test};
use crate::sbpl::vocabulary::Form;

/// Paths that the rule's filters name without `require-not`: themselves and, for those that hold what is below, one there. Dead ones are
/// left out: no file has them.
pub fn paths(rule: &Rule) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    for filter in rule.filters.iter() {
        filter.walk(false, &mut |filter, negated| {
            let Some((form, path)) = path_of(filter) else { return };
            if negated || dead_path::is_dead(filter, rule) {
                return;
            }
            match form {
                Form::Whole => paths.push(path.to_vec()),
                Form::Subpath => {
                    paths.push(path.to_vec());
                    paths.push([path.strip_suffix(b"/").unwrap_or(path), b"/x"].concat());
                }
                Form::Prefix => paths.push([path, b"x"].concat()),
                Form::Regex => {}
            }
        });
    }
    paths
}

/// The known path of a filter on the path of the object, and how it is compared.
pub fn path_of(filter: &Filter) -> Option<(Form, &[u8])> {
    match &filter.test {
        Test::Text { attribute, form, value } if attribute.name == "path" => Some((*form, value.bytes()?)),
        _ => None,
    }
}

/// What can be asked to compare two rules: the paths that either names, or anything where neither has a filter.
pub fn subjects(a: &Rule, b: &Rule) -> Vec<Subject> {
    if a.filters.is_empty() && b.filters.is_empty() {
        return vec![Subject::any()];
    }
    paths(a).into_iter().chain(paths(b)).map(Subject::path).collect()
}

/// The directories above a path, the nearest first, `/` left out.
pub fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.iter()
        .enumerate()
        .rev()
        .filter(|(at, byte)| **byte == b'/' && *at > 0)
        .filter_map(|(at, _)| path.get(..at))
}
