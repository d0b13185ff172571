use crate::bind::subject;
use crate::finding::Finding;
use crate::lint::Context;
use crate::plan::Operation;
use crate::plan::question::Question;
use std::collections::HashSet;

rule! {
    /// An expectation that a program is denied which is no program here.
    ///
    /// ## What it does
    ///
    /// Notes `exec "NAME" denied` under `expect` where no program of that name is in the places where programs are
    /// looked for, and no `tools` names it.
    ///
    /// ## Why it is bad
    ///
    /// What is not there is always denied, so the expectation says nothing: a slip in the name passes, and the
    /// program it was meant for may be allowed.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     expect { exec "crul" denied }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     expect { exec "curl" denied }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a program that is there, and no tool of this profile.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     expect { exec "python3" denied }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Compare the name with that of the program. If the program is merely not installed here, nothing need be
    /// done.
    name: "unknown-program",
    severity: Note,
    confidence: Possible,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let policy = context.policy;
    let tools: HashSet<&str> =
        policy.tools.iter().chain(&policy.optional_tools).map(|tool| tool.name.as_str()).collect();
    let question = Question::Operation(Operation::Exec);
    for expectation in &policy.expectations {
        let name = expectation.subject.as_str();
        let asks = Question::named(&expectation.operation, name) == Some(question);
        if !asks || expectation.allowed || name.contains('/') || tools.contains(name) {
            continue;
        }
        let found = subject::locate(context.host, policy, context.binding, question, name);
        if found.is_ok_and(|found| !found.exists) {
            findings.push(
                INFO.finding(format!("`{name}` names no program here"))
                    .at(expectation.span, "holds whatever the profile says")
                    .help("compare it with the name of the program; if that is merely not installed here, nothing need be done"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::bind::tools::Lookup;
    use crate::lint::testing::{Case, found};

    #[test]
    fn what_is_no_program_is_denied_whatever_the_profile_says() {
        let mut case = Case::in_workspace();
        case.tool("git", None, false, found("git", "/usr/bin/git"))
            .tool("rg", None, true, Lookup::Missing { searched: Vec::new() })
            .expect("exec", "git", false)
            .expect("exec", "rg", false)
            .expect("exec", "python3", false)
            .expect("exec", "pyhton3", false)
            .expect("exec", "pyhton4", true)
            .expect("exec", "/usr/bin/none", false)
            .expect("read", "none", false);
        assert_eq!(
            case.found("unknown-program"),
            ["`pyhton3` names no program here\nexec \"pyhton3\" denied -- holds whatever the profile says"]
        );
    }
}
