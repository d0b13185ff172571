//! Resolving: what a profile means once everything it names has been filled in.

#[path = "resolve/findings.rs"]
mod findings;
#[path = "resolve/meaning.rs"]
mod meaning;
#[path = "resolve/shipped.rs"]
mod shipped;

use palisade::finding::Finding;
use palisade::policy::{Policy, System};
use palisade::resolve::{MemoryLoader, Options, Resolved, resolve};
use palisade::source::Sources;
use palisade::syntax::parse;

/// A profile at /work/p.palisade, beside other files.
pub struct Case {
    pub sources: Sources,
    pub resolved: Resolved,
}

pub fn options() -> Options {
    Options {
        workspace: "/work".into(),
        home: "/home/user".into(),
        set: Default::default(),
        target: System::Linux,
    }
}

pub fn resolve_with(text: &str, files: &[(&str, &str)], options: &Options) -> Case {
    let mut sources = Sources::new();
    let mut loader = MemoryLoader::default().with("/work/p.palisade", text);
    for (path, text) in files {
        loader = loader.with(path, text);
    }
    let id = sources.add("p.palisade", Some("/work/p.palisade".into()), text);
    let parsed = parse(&sources, id);
    assert_eq!(parsed.findings, [], "{text}");
    let resolved = resolve(&mut sources, &loader, parsed.file.expect("a file"), options);
    Case { sources, resolved }
}

pub fn profile(statements: &str) -> String {
    format!("edition 1\nprofile \"p\" {{\n{statements}\n}}\n")
}

pub fn fragment(statements: &str) -> String {
    format!("edition 1\nfragment \"f\" {{\n{statements}\n}}\n")
}

pub fn body(statements: &str) -> Case {
    resolve_with(&profile(statements), &[], &options())
}

impl Case {
    /// Each finding as its message and the text it underlines.
    pub fn found(&self) -> Vec<(&str, &str)> {
        self.resolved
            .findings
            .iter()
            .map(|finding| (finding.message.as_str(), self.underlined(finding)))
            .collect()
    }

    fn underlined(&self, finding: &Finding) -> &str {
        finding.span().map(|span| self.sources.text(span)).unwrap_or_default()
    }

    pub fn only(&self) -> &Finding {
        assert_eq!(self.resolved.findings.len(), 1, "{:#?}", self.found());
        &self.resolved.findings[0]
    }

    /// The policy of a profile without findings.
    pub fn policy(&self) -> &Policy {
        assert_eq!(self.found(), []);
        self.resolved.policy.as_ref().expect("a policy")
    }
}
