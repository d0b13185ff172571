use crate::bind::subject;
use crate::finding::Finding;
use crate::lint::Context;
use crate::plan::question::Question;
use crate::plan::request::{self, Request, Why};
use crate::plan::{Decider, hosts};
use crate::policy::Expectation;
use crate::source::Span;

rule! {
    /// An expectation that the policy does not meet.
    ///
    /// ## What it does
    ///
    /// Asks the decision function every question under `expect` and reports each answer that is not the
    /// expected one, with the statement that decided.
    ///
    /// ## Why it is bad
    ///
    /// Expectations are the tests of a policy. One that fails says that a secret can be read after all, or that
    /// the work cannot be done.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     expect {
    ///         read "$workspace/.env" denied
    ///     }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/.env"
    ///     expect {
    ///         read "$workspace/.env" denied
    ///     }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a file that is not there is answered as it will be.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     expect { read "$workspace/later.c" allowed }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Change the statement that decided, or the expectation. `palisade why` answers the same question with
    /// more words.
    name: "failed-expectation",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let decider = context.plan.decider();
    for expectation in &context.policy.expectations {
        let answer = match answer(context, &decider, expectation) {
            Ok(answer) => answer,
            Err(reason) => {
                findings.push(
                    INFO.finding(reason)
                        .at(expectation.span, "cannot be answered")
                        .help("correct the question; what cannot be answered is not taken for an answer"),
                );
                continue;
            }
        };
        if answer.allowed == expectation.allowed {
            continue;
        }
        let word = |allowed: bool| if allowed { "allowed" } else { "denied" };
        let mut finding = INFO
            .finding(format!(
                "`{} {}` is {}, not {}",
                expectation.operation,
                expectation.subject,
                word(answer.allowed),
                word(expectation.allowed)
            ))
            .at(expectation.span, format!("expected to be {}", word(expectation.allowed)));
        finding = match answer.statement {
            Some(span) => finding.at(span, format!("{} by this", word(answer.allowed))),
            None => finding,
        };
        findings.push(finding.help(format!("{}; change that, or the expectation", answer.reason)));
    }
}

struct Answer {
    allowed: bool,
    /// The statement that decided, where one did.
    statement: Option<Span>,
    reason: String,
}

fn answer(context: &Context<'_>, decider: &Decider<'_>, expectation: &Expectation) -> Result<Answer, String> {
    let Expectation { operation, subject, .. } = expectation;
    let question = Question::named(operation, subject).ok_or_else(|| {
        format!("`{operation}` is nothing that can be asked; one of {}", Question::WORDS.join(", "))
    })?;
    if question == Question::ConnectHost {
        return Ok(host_answer(context, subject));
    }
    if question == Question::Request {
        return request_answer(context, subject);
    }
    let found = subject::locate(context.host, context.policy, context.binding, question, subject)
        .map_err(|error| format!("the path of an expectation cannot be followed: {error}"))?;
    let decision = subject::answer(decider, question, &found);
    let mut reason = match decision.rule {
        Some(rule) if !rule.origin.text.is_empty() => format!("decided by {}", rule.origin.text),
        Some(rule) => format!("decided by the rule for `{}`", rule.path),
        None => "nothing grants it, and what nothing grants is denied".to_owned(),
    };
    if !found.hops.is_empty() {
        reason.push_str(&format!("; `{subject}` leads to `{}`", found.path));
    }
    Ok(Answer {
        allowed: decision.allowed,
        statement: decision.rule.and_then(|rule| rule.origin.span),
        reason,
    })
}

fn host_answer(context: &Context<'_>, host: &str) -> Answer {
    let decision = hosts::decide(&context.plan.network, host);
    let network = context.policy.network.as_ref();
    let reason = match (decision.rule, network) {
        (Some(_), _) => "decided by a pattern of `network`",
        (None, None) => "the network is off where nothing is stated",
        (None, Some(_)) => "decided by `network`",
    };
    Answer {
        allowed: decision.allowed,
        statement: decision.rule.map(|rule| rule.span).or(network.map(|network| network.span)),
        reason: reason.to_owned(),
    }
}

fn request_answer(context: &Context<'_>, text: &str) -> Result<Answer, String> {
    let asked = Request::parse(text).map_err(|fault| fault.to_string())?;
    let decision = request::decide(&context.plan.network, &context.plan.environment, &asked);
    let network = context.policy.network.as_ref();
    let reason = match (decision.why, decision.allowed, network) {
        (Why::NotTls, ..) => "connections to the host are read, for which they must be TLS",
        (Why::Tunnel, ..) => "connections to the host are read, and a tunnel within them is never allowed",
        (Why::Request, false, _) => "connections to the host are read, and no line about it allows this",
        (Why::Request, true, _) => "decided by what may be asked of the host",
        (Why::Host, _, None) => "the network is off where nothing is stated",
        (Why::Host, false, _) => "the host is not allowed",
        (Why::Host, true, _) => "the host is allowed, and what is asked there is not read",
    };
    Ok(Answer {
        allowed: decision.allowed,
        statement: decision.rule.map(|rule| rule.span).or(network.map(|network| network.span)),
        reason: reason.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::{Case, found};
    use crate::policy::{Access, Network};
    use crate::source::Spanned;

    #[test]
    fn names_the_statement_that_decided() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/.env")
            .expect("read", "/home/dev/project/src/main.rs", true)
            .expect("read", "/home/dev/project/.env", true)
            .expect("write", "/home/dev/project/new.rs", false)
            .expect("read", "/home/dev/.ssh/id_ed25519", true);
        assert_eq!(
            case.found("failed-expectation"),
            [
                "`read /home/dev/project/.env` is denied, not allowed\n\
                 read \"/home/dev/project/.env\" allowed -- expected to be allowed\n\
                 deny \"/home/dev/project/.env\" -- denied by this",
                "`write /home/dev/project/new.rs` is allowed, not denied\n\
                 write \"/home/dev/project/new.rs\" denied -- expected to be denied\n\
                 root \"/home/dev/project\" read-write -- allowed by this",
                "`read /home/dev/.ssh/id_ed25519` is denied, not allowed\n\
                 read \"/home/dev/.ssh/id_ed25519\" allowed -- expected to be allowed",
            ]
        );
    }

    #[test]
    fn a_link_is_followed_for_reading_and_not_for_renaming() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/.env")
            .expect("read", "link-to-env", false)
            .expect("rename", "/home/dev/project/link-to-env", true)
            .expect("rename", "/home/dev/project/.env", false);
        assert!(case.found("failed-expectation").is_empty());
    }

    #[test]
    fn programs_go_by_their_names() {
        let mut case = Case::in_workspace();
        case.tool("git", None, false, found("git", "/usr/bin/git"))
            .expect("exec", "git", true)
            .expect("exec", "python3", false)
            .expect("exec", "/usr/bin/python3", false)
            .expect("exec", "/home/dev/project/target/build", false);
        assert!(case.found("failed-expectation").is_empty());
    }

    #[test]
    fn hosts_go_by_the_network_statement() {
        let mut case = Case::in_workspace();
        case.expect("connect", "example.com:443", true);
        assert_eq!(case.found("failed-expectation").len(), 1);
        let span = case.line("network all");
        case.policy.network = Some(Spanned::new(Network::All, span));
        assert!(case.found("failed-expectation").is_empty());
        case.expect("connect", "example.com", false);
        assert!(case.found("failed-expectation")[0].ends_with("network all -- allowed by this"));
    }

    #[test]
    fn requests_go_by_what_may_be_asked() {
        let mut case = Case::in_workspace();
        case.limited("api.example.com", &["GET"], &["/a/**"])
            .expect("request", "GET https://api.example.com/a/b", true)
            .expect("request", "POST https://api.example.com/a/b", false)
            .expect("request", "GET https://api.example.com/b", true)
            .expect("request", "GET http://api.example.com:443/a/b", true);
        let found = case.findings("failed-expectation");
        let said: Vec<_> = found.iter().map(|finding| finding.help.as_deref().unwrap_or_default()).collect();
        assert_eq!(
            said,
            [
                "connections to the host are read, and no line about it allows this; change that, or the expectation",
                "connections to the host are read, for which they must be TLS; change that, or the expectation",
            ]
        );
    }

    #[test]
    fn what_cannot_be_answered_fails_whatever_is_expected() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/other", Access::ReadOnly)
            .expect("raed", "/home/dev/other", false)
            .expect("read", "/home/dev/other/unreadable/x", false)
            .expect("read", "/home/dev/other/unreadable/x", true);
        assert_eq!(case.found("failed-expectation").len(), 3);
    }
}
