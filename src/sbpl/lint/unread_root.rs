use super::Context;
use crate::finding::Finding;
use crate::sbpl::decide::Fact;
use crate::sbpl::rule::Effect;
use crate::sbpl::{Engine, Operation, Subject, Verdict};

sb_rule! {
    /// Programs may run, and the root directory may not be read.
    ///
    /// ## What it does
    ///
    /// Reports profiles that deny by default and let programs start, but do not allow `file-read-data` of `/` itself.
    ///
    /// ## Why it is bad
    ///
    /// The loader reads `/`. Without that every program is aborted before its first line (exit 134) on current
    /// systems; metadata alone is not enough.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow process-exec)
    /// (allow file-read* (subpath "/usr/lib") (subpath "/System"))
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (allow process-exec)
    /// (allow file-read* (literal "/") (subpath "/usr/lib") (subpath "/System"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Add `(allow file-read* (literal "/"))`. It shows the names in `/`, and nothing below.
    name: "unread-root",
    severity: Warning,
    confidence: Likely,
    fix: None,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !context.understood {
        return;
    }
    let profile = context.assumed;
    let (Some(read), Some(exec)) = (Operation::named("file-read-data"), Operation::named("process-exec*")) else {
        return;
    };
    let root = Subject::path("/").with("vnode-type", Fact::Is(b"DIRECTORY".to_vec()));
    if profile.decide(read, &root, Engine::PerOperation).verdict != Verdict::Deny {
        return;
    }
    let start = exec
        .ancestry()
        .flat_map(|operation| profile.rules_for(operation))
        .filter_map(|at| profile.rules.get(*at))
        .find(|rule| rule.effect == Effect::Allow);
    if let Some(start) = start {
        findings.push(
            INFO.finding("programs may start here, and none can: `/` itself is not readable")
                .at(start.span, "lets programs start")
                .help("add `(allow file-read* (literal \"/\"))`: the loader reads it"),
        );
    }
}
