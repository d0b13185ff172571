use crate::bind::LinkFact;
use crate::finding::Finding;
use crate::host::{HostError, ResolveError};
use crate::lint::Context;
use crate::lint::places::{Protections, denials};
use crate::source::Span;
use std::collections::BTreeMap;

rule! {
    /// Something the profile rests on that cannot be examined.
    ///
    /// ## What it does
    ///
    /// Reports roots, denials and protected trees on whose way a directory cannot be listed, a file cannot be
    /// looked at, a name is not UTF-8, symbolic links go round in a loop, or a file stands where a directory
    /// should.
    ///
    /// ## Why it is bad
    ///
    /// What cannot be seen cannot be protected: a file in a directory that the compiler may not list can have
    /// another name, or be the secret a pattern should have matched. So nothing is concluded from it, and
    /// nothing is compiled.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "~/other" read-only
    ///     deny "~/other/unreadable"            # a directory that cannot be listed
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "~/other" read-only
    ///     deny "~/other/.env"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: it cannot be listed, but nothing rests on what it holds.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "~/other" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Give the compiling user the right to list and examine it, or narrow the statement so that it does not
    /// rest on it. Where a recorded host lacks it, record again.
    name: "unexamined",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

#[derive(Default)]
struct Unexamined {
    messages: Vec<String>,
    help: Option<&'static str>,
}

#[derive(Default)]
struct Collected(BTreeMap<Option<Span>, Unexamined>);

impl Collected {
    fn add(&mut self, span: Option<Span>, error: &HostError) {
        let help = match error {
            HostError::Denied(_) => {
                "give the compiling user the right to examine it, or narrow the statement"
            }
            HostError::NotUtf8(_) => "rename it: a path that is not UTF-8 cannot be written in an artifact",
            HostError::NotRecorded(_) => "record the host again with this profile: `palisade host record`",
            HostError::Other { .. } => "see that it can be read, or narrow the statement",
        };
        self.put(span, error.to_string(), help);
    }

    fn add_way(&mut self, span: Span, error: &ResolveError) {
        let help = match error {
            ResolveError::Host(error) => return self.add(Some(span), error),
            ResolveError::Loop(_) => "repair the links, or state the real path",
            ResolveError::NotDirectory(_) => "correct the path: nothing can lie below a file",
            ResolveError::NotAbsolute(_) => "state an absolute path",
            ResolveError::DotsBelowMissing(_) => "correct the path, or write it without `..`",
        };
        self.put(Some(span), error.to_string(), help);
    }

    fn put(&mut self, span: Option<Span>, message: String, help: &'static str) {
        let unexamined = self.0.entry(span).or_default();
        unexamined.help.get_or_insert(help);
        if !unexamined.messages.contains(&message) {
            unexamined.messages.push(message);
        }
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut collected = Collected::default();
    let (policy, binding) = (context.policy, context.binding);
    for (root, bound) in policy.roots.iter().zip(&binding.roots) {
        if let Err(error) = &bound.found {
            collected.add_way(root.span, error);
        }
    }
    for bound in binding.executables.iter().chain(&binding.working_directory) {
        if let Err(error) = &bound.found {
            collected.add_way(bound.asked.span, error);
        }
    }
    for (bound, loads) in binding.executables.iter().zip(&binding.loads) {
        if let Err(reason) = loads {
            collected.put(
                Some(bound.asked.span),
                reason.clone(),
                "see that it can be read, or name a directory inside it",
            );
        }
    }
    for (denial, bound) in denials(context) {
        if let Some(Err(error)) = &bound.found {
            collected.add_way(denial.span, error);
        }
        for error in &bound.unexamined {
            collected.add(Some(denial.span), error);
        }
    }
    let protections = Protections::of(context);
    for fact in &binding.links {
        if let LinkFact::Unexamined { protected, error } = fact {
            collected.add(protections.at(protected).1, error);
        }
    }
    for (span, unexamined) in collected.0 {
        let Unexamined { messages, help } = unexamined;
        let mut message = messages.first().cloned().unwrap_or_default();
        if messages.len() > 1 {
            message.push_str(&format!(", nor {} more", messages.len() - 1));
        }
        let mut finding = INFO.finding(message).about(&messages);
        if let Some(span) = span {
            finding = finding.at(span, "rests on what cannot be examined");
        }
        if let Some(help) = help {
            finding = finding.help(help);
        }
        findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::bind::LinkFact;
    use crate::host::{HostError, Kind};
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn a_way_that_cannot_be_walked_is_reported_where_it_is_stated() {
        let mut case = Case::in_workspace();
        case.machine.add("/home/dev/loop", Kind::Symlink("loop".into()));
        case.root("/home/dev/loop", Access::ReadOnly)
            .deny("/home/dev/other/unreadable/x")
            .deny("/home/dev/project/.env/x");
        assert_eq!(
            case.found("unexamined"),
            [
                "`/home/dev/loop` is a loop of symbolic links\n\
                 root \"/home/dev/loop\" read-only -- rests on what cannot be examined",
                "`/home/dev/other/unreadable/x` may not be examined\n\
                 deny \"/home/dev/other/unreadable/x\" -- rests on what cannot be examined",
                "`/home/dev/project/.env` is not a directory\n\
                 deny \"/home/dev/project/.env/x\" -- rests on what cannot be examined",
            ]
        );
    }

    #[test]
    fn many_errors_of_one_statement_are_one_finding() {
        let mut case = Case::in_workspace();
        case.deny_glob("/home/dev/project/**/*.pem", &[]);
        for name in ["a", "b", "b"] {
            case.binding.denials[0].unexamined.push(HostError::Denied(name.into()));
        }
        let error = HostError::Denied("/home/dev/project/x".into());
        case.binding.links.push(LinkFact::Unexamined { protected: "/home/dev/project/x".into(), error });
        assert_eq!(
            case.found("unexamined"),
            [
                "`/home/dev/project/x` may not be examined\n\
                 root \"/home/dev/project\" read-write -- rests on what cannot be examined",
                "`a` may not be examined, nor 1 more\n\
                 deny glob \"/home/dev/project/**/*.pem\" -- rests on what cannot be examined",
            ]
        );
    }
}
