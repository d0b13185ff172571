//! In: the data of a profile. Out: its rules in order. Every form is one that is understood, or is refused by name and place.
//!
//! A profile is a program that runs once. What runs here is the part that real profiles use, with bounds on steps, depth and size.

mod filters;
mod forms;
mod functions;
pub mod imports;
mod rules;
mod value;

use super::Profile;
use super::lint::unknown_name::{self, Kind as NameKind};
use super::read::{self, Datum, Kind};
use super::rule::{Filter, Part, Text, Unknown};
use super::vocabulary::{self, Operation};
use crate::finding::{self, Finding, Severity};
use crate::source::{FileId, Sources, Span};
use crate::syntax::shown;
use imports::Imports;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use value::{Truth, Value};

/// A profile may take so many steps: one of 1 MiB takes a fifth.
const MAX_STEPS: usize = 1 << 20;
/// Calls and forms may nest this deep.
const MAX_DEPTH: usize = 150;
/// The longest text that is made, in bytes. A rule's paths may take 65,535 together.
const MAX_TEXT: usize = 1 << 18;
/// Tests and operations of all rules together.
const MAX_NODES: usize = 1 << 20;
/// Filters may nest this deep.
const MAX_FILTER_DEPTH: usize = 64;
const MAX_FINDINGS: usize = 64;

/// The values of `(param …)`.
#[derive(Debug, Clone, Default)]
pub struct Params {
    pub given: BTreeMap<String, String>,
    /// Whether those are all. Then another one is `#f`, as at run time; else it is not known, and neither is what hangs on it.
    pub complete: bool,
}

/// What came of a profile.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// Where there are errors, what was understood: good for showing, not for deciding.
    pub profile: Profile,
    /// The data of every file that was read, the profile's own first.
    pub data: Vec<Datum>,
    /// Sorted by place.
    pub findings: Vec<Finding>,
}

/// A form that was refused. Its finding is written.
#[derive(Debug)]
struct Refused;

struct Evaluator<'a> {
    sources: &'a mut Sources,
    params: &'a Params,
    imports: &'a dyn Imports,
    profile: Profile,
    data: Vec<Datum>,
    findings: Vec<Finding>,
    frames: Vec<Frame>,
    /// The frame that names are looked up in.
    frame: usize,
    steps: usize,
    depth: usize,
    nodes: usize,
    version: Option<i64>,
    /// What decides whether what is evaluated now is evaluated at run time.
    condition: Option<Unknown>,
    /// Filters of the `with-filter`s around.
    around: Vec<Filter>,
    importing: Vec<String>,
    /// How many imports were asked for.
    imported: usize,
}

#[derive(Default)]
struct Frame {
    names: HashMap<Arc<str>, Value>,
    parent: Option<usize>,
}

/// Evaluates a profile. Nothing it holds can make this panic, run long or take much memory.
pub fn evaluate(sources: &mut Sources, file: FileId, params: &Params, imports: &dyn Imports) -> Evaluation {
    let mut evaluator = Evaluator {
        sources,
        params,
        imports,
        profile: Profile::default(),
        data: Vec::new(),
        findings: Vec::new(),
        frames: vec![Frame::default()],
        frame: 0,
        steps: 0,
        depth: 0,
        nodes: 0,
        version: None,
        condition: None,
        around: Vec::new(),
        importing: Vec::new(),
        imported: 0,
    };
    evaluator.file(file);
    if evaluator.version.is_none() && evaluator.findings.is_empty() {
        let finding = Finding::new("sb-version", Severity::Error, "no version is stated")
            .at(Span::new(file, 0..0), "before everything else")
            .help("begin the profile with `(version 1)`: it loads the language");
        evaluator.findings.push(finding);
    }
    let Evaluator { mut profile, data, mut findings, .. } = evaluator;
    profile.index();
    finding::sort(&mut findings);
    Evaluation { profile, data, findings }
}

impl Evaluator<'_> {
    /// Reads a file and evaluates every form in it.
    fn file(&mut self, file: FileId) {
        let read = read::read(self.sources, file);
        self.findings.extend(read.findings);
        self.data.extend(read.data.iter().cloned());
        for datum in &read.data {
            if self.findings.len() >= MAX_FINDINGS || self.steps > MAX_STEPS || self.nodes > MAX_NODES {
                return;
            }
            if datum.is_broken() {
                continue;
            }
            let is_version = datum.head() == Some("version");
            if self.version.is_none() && !is_version {
                self.version = Some(1);
                let finding = Finding::new("sb-version", Severity::Error, "no version is stated before this")
                    .at(datum.span, "the first form")
                    .help("begin the profile with `(version 1)`: it loads the language");
                self.findings.push(finding);
            }
            // A refused form is told of where it is refused.
            let _ = self.eval(datum);
        }
    }

    fn refuse<T>(&mut self, span: Span, message: impl Into<String>) -> Result<T, Refused> {
        self.report(Finding::new("sb-evaluation", Severity::Error, message).at(span, "here"))
    }

    fn report<T>(&mut self, finding: Finding) -> Result<T, Refused> {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        }
        Err(Refused)
    }

    fn unknown_name<T>(&mut self, kind: NameKind, name: &str, span: Span) -> Result<T, Refused> {
        self.report(unknown_name::finding(kind, name, span))
    }

    fn eval(&mut self, datum: &Datum) -> Result<Value, Refused> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return self.refuse(datum.span, format!("evaluating takes more than {MAX_STEPS} steps"));
        }
        if self.depth >= MAX_DEPTH {
            return self.refuse(datum.span, format!("calls nest more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        let value = self.eval_inner(datum);
        self.depth -= 1;
        value
    }

    fn eval_inner(&mut self, datum: &Datum) -> Result<Value, Refused> {
        Ok(match &datum.kind {
            Kind::Cooked(bytes) | Kind::Raw(bytes) => Value::Text(Text::known(bytes.clone())),
            Kind::Torn(bytes) => Value::Text(Text::torn(bytes.clone())),
            Kind::Number(number) => Value::Number(*number),
            Kind::Boolean(value) => Value::Boolean(*value),
            Kind::Quote(inner) => return self.quoted(inner),
            // The reader has told of it.
            Kind::Broken => return Err(Refused),
            Kind::Symbol(name) => match self.lookup(name) {
                Some(value) => value,
                None => match Operation::named(name) {
                    Some(operation) => Value::Operation(operation),
                    None if self.may_be_imported(name).is_some() => {
                        Value::Unknown(Unknown::Call(name.clone()))
                    }
                    None => return self.unknown_name(NameKind::Value, name, datum.span),
                },
            },
            Kind::List(items) => return self.form(datum, items),
        })
    }

    /// The value that a name is bound to, here or around.
    fn lookup(&self, name: &str) -> Option<Value> {
        let mut at = Some(self.frame);
        while let Some(frame) = at.and_then(|at| self.frames.get(at)) {
            if let Some(value) = frame.names.get(name) {
                return Some(value.clone());
            }
            at = frame.parent;
        }
        None
    }

    fn bind(&mut self, name: Arc<str>, value: Value) {
        if let Some(frame) = self.frames.get_mut(self.frame) {
            frame.names.insert(name, value);
        }
    }

    /// Evaluates in a frame of its own.
    fn scoped(
        &mut self,
        parent: usize,
        names: Vec<(Arc<str>, Value)>,
        body: &[Datum],
    ) -> Result<Value, Refused> {
        let before = self.frame;
        self.frames.push(Frame { names: names.into_iter().collect(), parent: Some(parent) });
        self.frame = self.frames.len() - 1;
        let value = self.sequence(body);
        self.frame = before;
        value
    }

    fn sequence(&mut self, body: &[Datum]) -> Result<Value, Refused> {
        let mut last = Value::Nothing;
        for datum in body {
            last = self.eval(datum)?;
        }
        Ok(last)
    }

    /// A text, or a refusal that says what it is instead.
    fn text(&mut self, datum: &Datum) -> Result<Text, Refused> {
        match self.eval(datum)? {
            Value::Text(text) => Ok(text),
            Value::Unknown(what) => Ok(Text::not_known(what)),
            Value::Boolean(false) if datum.head() == Some("param") => {
                let message = "no value is given for this parameter, and a text is needed here";
                self.report(
                    Finding::new("sb-evaluation", Severity::Error, message)
                        .at(datum.span, "gives `#f`")
                        .help("give it with `-D NAME=VALUE`"),
                )
            }
            other => self.refuse(datum.span, format!("expected a text, found {}", other.describe())),
        }
    }
}

/// Names that mean something in every profile, and so cannot be defined anew.
fn is_taken(name: &str) -> bool {
    forms::FORMS.contains(&name)
        || Operation::named(name).is_some()
        || vocabulary::filter_named(name).is_some()
}

/// Whether a text holds something of which it is not known how the system reads it.
fn is_torn(text: &Text) -> bool {
    text.parts().iter().any(|part| matches!(part, Part::Torn(_)))
}

fn quote(name: &str) -> String {
    format!("`{}`", shown(name))
}
