//! Profiles walked along the road on machines written down by hand.
#![allow(dead_code, reason = "each test program uses a part of it")]

use palisade::bind::Binding;
use palisade::finding::{Finding, Severity};
use palisade::host::{Host, RecordedHost};
use palisade::pipeline::{self, Bound, Checked, Request};
use palisade::plan::{Operation, Plan};
use palisade::resolve::MemoryLoader;
use palisade::source::Sources;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What every machine needs for a profile without tools to be clean.
const LINUX: &str = "system: linux\narchitecture: x86_64\nhome: /home/dev\nworkspace: /w\nunlisted: missing\nentries:\n  \
    /usr/bin/dash: program\n  /usr/bin/sh: -> dash\n  /bin: -> usr/bin\n  /tmp: directory\n  /proc: directory\n";

/// A small Linux machine with these entries, each a line of YAML.
pub fn machine(entries: &[&str]) -> RecordedHost {
    let mut text = LINUX.to_owned();
    for line in entries {
        let _ = writeln!(text, "  {line}");
    }
    RecordedHost::from_yaml(&text, "test").unwrap()
}

pub fn debian() -> RecordedHost {
    RecordedHost::from_yaml(include_str!("../hosts/debian.yaml"), "tests/hosts/debian.yaml").unwrap()
}

pub fn examples() -> RecordedHost {
    RecordedHost::from_yaml(include_str!("../hosts/examples.yaml"), "tests/hosts/examples.yaml").unwrap()
}

pub fn mac() -> RecordedHost {
    RecordedHost::from_yaml(include_str!("../hosts/mac.yaml"), "tests/hosts/mac.yaml").unwrap()
}

/// Statements as a profile.
pub fn profile(statements: &str) -> String {
    format!("edition 1\nprofile \"case\" {{\n{statements}\n}}\n")
}

/// A profile on a machine, as far as the road could be walked.
pub struct Walked {
    pub sources: Sources,
    pub checked: Checked,
}

/// Walks the road with statements, in the workspace that the machine was written down with.
pub fn walk(host: &RecordedHost, statements: &str) -> Walked {
    walk_text(host, &profile(statements), "case.palisade", None)
}

pub fn walk_text(host: &RecordedHost, text: &str, name: &str, path: Option<&str>) -> Walked {
    let mut sources = Sources::new();
    let file = sources.add(name, path.map(Into::into), text);
    let checked = pipeline::check(&mut sources, file, &MemoryLoader::default(), host, &request(host));
    Walked { sources, checked }
}

pub fn request(host: &RecordedHost) -> Request {
    Request {
        workspace: host.workspace().expect("a workspace").to_path_buf(),
        set: BTreeMap::new(),
        target: host.system(),
        artifacts: Vec::new(),
    }
}

impl Walked {
    pub fn bound(&self) -> &Bound {
        match &self.checked.bound {
            Some(bound) => bound,
            None => panic!("not bound: {:#?}", self.checked.findings),
        }
    }

    pub fn plan(&self) -> &Plan {
        &self.bound().plan
    }

    pub fn binding(&self) -> &Binding {
        &self.bound().binding
    }

    pub fn allows(&self, operation: Operation, path: &str) -> bool {
        self.plan().decider().decide(operation, path.into()).allowed
    }

    /// The rules' names of all errors.
    pub fn errors(&self) -> Vec<&'static str> {
        let errors = self.checked.findings.iter().filter(|finding| finding.severity == Severity::Error);
        errors.map(|finding| finding.rule).collect()
    }

    pub fn finding(&self, rule: &str) -> &Finding {
        let found = self.checked.findings.iter().find(|finding| finding.rule == rule);
        found.unwrap_or_else(|| panic!("no `{rule}` in {:#?}", self.checked.findings))
    }

    /// The paths that the first denial covers.
    pub fn denied(&self) -> Vec<&str> {
        self.binding().denials[0].paths.iter().map(|denied| denied.path.as_str()).collect()
    }

    /// What is guarded and not lifted.
    pub fn guarded(&self) -> Vec<&str> {
        let guards = self.binding().guards.iter().filter(|guard| guard.lifted_by.is_none());
        guards.map(|guard| guard.path.as_str()).collect()
    }
}
