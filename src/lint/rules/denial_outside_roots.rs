use crate::finding::Finding;
use crate::host::resolve;
use crate::lint::Context;
use crate::lint::places::{Roots, denials, is_shipped};
use crate::plan::{Effect, OriginKind, Scope};
use crate::policy::{Denial, DenialKind};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashSet;

rule! {
    /// A denial of something that is not granted in the first place.
    ///
    /// ## What it does
    ///
    /// Reports a `deny` whose path, or the place where its pattern starts, lies in no root and in nothing else
    /// that the profile grants.
    ///
    /// ## Why it is bad
    ///
    /// Everything is denied by default, so such a denial does nothing; whoever wrote it meant to close
    /// something and missed it. A slip in the path (`~/project/env` for `~/project/.env`, a workspace that
    /// moved) leaves the secret open while the profile looks as if it were closed.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny "~/projct/.env"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/.env"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: no root holds it, but a tool is granted it.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     tools git
    ///     deny "/usr/lib/git-core/git-instaweb"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Correct the path so that it starts with the root it is about, or remove the denial. A fragment that
    /// denies on principle, whatever the roots are, can allow this finding and say so.
    name: "denial-outside-roots",
    severity: Error,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    let granted = Granted::of(context, &roots);
    for (denial, bound) in denials(context) {
        if is_shipped(context.sources, denial.span.file) {
            continue;
        }
        let path = match &denial.kind {
            DenialKind::Path(_) => bound.paths.first().map(|denied| denied.path.clone()),
            DenialKind::Glob(pattern) => canonical(context, &glob_head(&pattern.value)),
            DenialKind::Gitignored { path, .. } => canonical(context, &path.path),
        };
        // What cannot be placed is reported as such.
        let Some(path) = path else { continue };
        if roots.holding(&path).is_some() || granted.touches(&path) || is_in_an_unplaced_root(context, denial)
        {
            continue;
        }
        findings.push(
            INFO.finding(match denial.kind {
                DenialKind::Path(_) => format!("the denied path `{path}` lies outside every root"),
                _ => format!("the denied pattern starts at `{path}`, outside every root"),
            })
            .at(denial.span, "closes nothing that is open")
            .help("everything is denied by default; start the path with the root it is about, or remove the denial"),
        );
    }
}

/// What is granted without being in a root: tools, the system base.
struct Granted<'a> {
    /// Every granted path and every directory above one, and above every root.
    above: HashSet<&'a Utf8Path>,
    subtrees: HashSet<&'a Utf8Path>,
}

impl<'a> Granted<'a> {
    fn of(context: &Context<'a>, roots: &Roots<'a>) -> Self {
        let mut granted = Self { above: HashSet::new(), subtrees: HashSet::new() };
        for root in roots.iter() {
            granted.above.extend(root.path().ancestors());
        }
        for rule in &context.plan.rules {
            if rule.effect == Effect::Deny
                || matches!(rule.origin.kind, OriginKind::Ancestor | OriginKind::Root)
            {
                continue;
            }
            granted.above.extend(rule.path.ancestors());
            if rule.scope == Scope::Subtree {
                granted.subtrees.insert(&rule.path);
            }
        }
        granted
    }

    /// Whether denying the path takes something away.
    fn touches(&self, path: &Utf8Path) -> bool {
        self.above.contains(path) || path.ancestors().any(|ancestor| self.subtrees.contains(ancestor))
    }
}

fn canonical(context: &Context<'_>, path: &Utf8Path) -> Option<Utf8PathBuf> {
    resolve::resolve(context.host, path).ok().map(|found| found.canonical)
}

/// Whether the denial is written below a root that is missing or cannot be examined: that is reported already.
fn is_in_an_unplaced_root(context: &Context<'_>, denial: &Denial) -> bool {
    let written = match &denial.kind {
        DenialKind::Path(path) | DenialKind::Gitignored { path, .. } => path.path.as_str(),
        DenialKind::Glob(pattern) => &pattern.value,
    };
    context.policy.roots.iter().zip(&context.binding.roots).any(|(root, bound)| {
        !bound.found.as_ref().is_ok_and(resolve::Resolution::exists)
            && Utf8Path::new(written).starts_with(&root.path.path)
    })
}

/// The part of a pattern before the first component that is one: `/a/b` of `/a/b/*.pem`. A character that stands
/// escaped, after a backslash or alone in brackets, means itself.
pub(super) fn glob_head(pattern: &str) -> Utf8PathBuf {
    let mut head = Utf8PathBuf::from("/");
    for component in pattern.split('/') {
        let Some(name) = literal(component) else { break };
        head.push(name);
    }
    head
}

fn literal(component: &str) -> Option<String> {
    let mut name = String::new();
    let mut rest = component.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => name.push(rest.next()?),
            '[' => {
                let (inner, close) = (rest.next()?, rest.next()?);
                if close != ']' {
                    return None;
                }
                name.push(inner);
            }
            '*' | '?' | '{' | '}' | ']' => return None,
            _ => name.push(character),
        }
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::testing::{Case, found};
    use crate::policy::Access;

    #[test]
    fn the_head_of_a_pattern_ends_at_its_first_wildcard() {
        assert_eq!(glob_head("/a/b/**/*.pem"), "/a/b");
        assert_eq!(glob_head("/a/[*]b/x?"), "/a/*b");
        assert_eq!(glob_head("/a\\{/[ab]/c"), "/a{");
        assert_eq!(glob_head("/a/b"), "/a/b");
    }

    #[test]
    fn a_denial_must_close_something_that_is_open() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/.env")
            .deny("/home/dev/other/.env")
            .deny_glob("/home/dev/*/.env", &["/home/dev/project/.env"])
            .deny_glob("/home/dev/other/**/*.pem", &[])
            .deny_gitignored("/home/dev/other", &[]);
        assert_eq!(
            case.found("denial-outside-roots"),
            [
                "the denied path `/home/dev/other/.env` lies outside every root\n\
                 deny \"/home/dev/other/.env\" -- closes nothing that is open",
                "the denied pattern starts at `/home/dev/other`, outside every root\n\
                 deny glob \"/home/dev/other/**/*.pem\" -- closes nothing that is open",
                "the denied pattern starts at `/home/dev/other`, outside every root\n\
                 deny gitignored \"/home/dev/other\" -- closes nothing that is open",
            ]
        );
    }

    #[test]
    fn denying_a_tool_takes_something_away() {
        let mut case = Case::in_workspace();
        case.tool("git", None, false, found("git", "/usr/bin/git"))
            .deny("/usr/bin/git")
            .deny("/usr/bin/python3");
        assert_eq!(case.found("denial-outside-roots").len(), 1);
    }

    #[test]
    fn what_ships_denies_on_principle() {
        let mut case = Case::in_workspace();
        case.in_fragment().deny("/home/dev/other/.env");
        assert!(case.found("denial-outside-roots").is_empty());
    }

    #[test]
    fn a_missing_root_is_reported_once_not_with_every_denial_in_it() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/othr", Access::ReadOnly).deny("/home/dev/othr/.env");
        assert!(case.found("denial-outside-roots").is_empty());
    }
}
