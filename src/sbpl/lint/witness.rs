//! Accesses that stand for many: what filters name, and what lies just below it.

use super::dead_path;
use crate::sbpl::decide::{Address, Fact, Family, Sample, Transport, port_number, samples, split_address};
use crate::sbpl::rule::{Effect, Filter, Rule, Test, Text};
use crate::sbpl::vocabulary::{Attribute, Form, Values, may_meet};
use crate::sbpl::{PathCase, Subject};
use std::collections::BTreeMap;

/// At most so many objects of one question, and so many ways in which facts about each are put together.
const OBJECTS: usize = 48;
const WAYS: usize = 8;

/// What filters speak of.
pub struct Witness {
    case: PathCase,
    paths: Vec<Vec<u8>>,
    /// Directories below which an expression may find something.
    bases: Vec<Vec<u8>>,
    found: Vec<Sample>,
    others: Vec<Subject>,
    facts: BTreeMap<&'static str, Vec<Fact>>,
}

impl Witness {
    pub fn new(case: PathCase) -> Self {
        Self {
            case,
            paths: Vec::new(),
            bases: Vec::new(),
            found: Vec::new(),
            others: Vec::new(),
            facts: BTreeMap::new(),
        }
    }

    /// The same directories, and nothing else.
    pub fn bases_only(&self) -> Self {
        Self { bases: self.bases.clone(), ..Self::new(self.case) }
    }

    /// All that a rule names, whether it must match or must not.
    pub fn add(&mut self, rule: &Rule) {
        for filter in rule.filters.iter() {
            filter.walk(false, &mut |filter, negated| self.filter(rule, filter, negated, true));
        }
    }

    /// What a rule keeps out: the objects of its denials, and of exceptions from its allowances.
    pub fn add_kept_out(&mut self, rule: &Rule) {
        for filter in rule.filters.iter() {
            filter.walk(false, &mut |filter, negated| {
                self.filter(rule, filter, negated, (rule.effect == Effect::Deny) != negated);
            });
        }
    }

    /// The directories that a rule names.
    pub fn add_bases(&mut self, rule: &Rule) {
        for filter in rule.filters.iter() {
            filter.walk(false, &mut |filter, negated| {
                if let Some((Form::Subpath | Form::Prefix, path)) = path_of(filter)
                    && !negated
                    && self.bases.len() < OBJECTS
                    && !dead_path::is_dead(filter, rule, self.case)
                {
                    self.bases.push(path.strip_suffix(b"/").unwrap_or(path).to_vec());
                }
            });
        }
    }

    fn filter(&mut self, rule: &Rule, filter: &Filter, negated: bool, as_object: bool) {
        if self.paths.len() + self.others.len() + self.found.len() > OBJECTS {
            return;
        }
        match &filter.test {
            Test::Text { attribute, form, value } if attribute.name == "path" => {
                let Some(path) = value.bytes() else { return };
                // Dead ones are left out: no file has them.
                if as_object && !dead_path::is_dead(filter, rule, self.case) {
                    self.path(*form, path, negated);
                }
            }
            Test::Regex { attribute, pattern } if attribute.name == "path" => {
                let found = if as_object { samples::of(pattern) } else { None };
                self.found.extend(found.into_iter().flatten().take(WAYS));
            }
            Test::Text { attribute, form, value } => {
                let Some(name) = value.bytes() else { return };
                let name = if *form == Form::Whole { name.to_vec() } else { [name, b"x"].concat() };
                self.name(attribute, name, as_object);
            }
            Test::Regex { attribute, pattern } => {
                for sample in samples::of(pattern).unwrap_or_default().into_iter().take(2) {
                    self.name(attribute, sample.text, as_object);
                }
            }
            Test::Word { attribute, value } => {
                self.fact(attribute, Fact::Is(value.as_bytes().to_vec()));
                if negated && let Values::Words(words) = attribute.values {
                    for word in words.iter().filter(|word| **word != &**value).take(2) {
                        self.fact(attribute, Fact::Is(word.as_bytes().to_vec()));
                    }
                }
            }
            Test::Number { attribute, value } => self.fact(attribute, Fact::Number(*value)),
            Test::Network { attribute, protocol, address } if as_object => {
                self.others.extend(connection(attribute, protocol, address.as_ref()));
            }
            _ => {}
        }
    }

    fn path(&mut self, form: Form, path: &[u8], negated: bool) {
        let bare = path.strip_suffix(b"/").unwrap_or(path);
        match form {
            Form::Whole => self.paths.push(path.to_vec()),
            Form::Subpath => {
                self.paths.push(path.to_vec());
                self.paths.push([bare, b"/x"].concat());
                if !negated {
                    self.bases.push(bare.to_vec());
                }
            }
            Form::Prefix => {
                self.paths.push([path, b"x"].concat());
                if !negated {
                    self.bases.push(bare.to_vec());
                }
            }
            Form::Regex => {}
        }
    }

    /// What names an object of its own is one; the rest are facts about an object.
    fn name(&mut self, attribute: &'static Attribute, name: Vec<u8>, as_object: bool) {
        let is_fact = may_meet(attribute.kind, "path") || attribute.values == Values::Exact;
        if is_fact {
            self.fact(attribute, Fact::Is(name));
            self.fact(attribute, Fact::Absent);
        } else if as_object {
            self.others.push(Subject::named(attribute.name, name));
        }
    }

    fn fact(&mut self, attribute: &'static Attribute, fact: Fact) {
        let facts = self.facts.entry(attribute.name).or_default();
        if !facts.contains(&fact) && facts.len() < 3 {
            facts.push(fact);
        }
    }

    /// The paths: those named, and those that expressions find in the directories named, `/Users/x` where there is none.
    pub fn paths(&self) -> Vec<Vec<u8>> {
        let mut paths = self.paths.clone();
        for sample in &self.found {
            let end: &[u8] = if sample.to_end { b"" } else { b"x" };
            if sample.from_start {
                paths.push(sample.text.clone());
                paths.push([sample.text.as_slice(), end].concat());
                continue;
            }
            let fallback = [b"/Users/x".to_vec()];
            let bases = if self.bases.is_empty() { &fallback[..] } else { &self.bases };
            let between: &[u8] = if sample.text.starts_with(b"/") { b"" } else { b"/x" };
            for base in bases.iter().take(WAYS) {
                paths.push([base.as_slice(), between, &sample.text, end].concat());
            }
        }
        paths.truncate(OBJECTS);
        paths
    }

    /// An object with nothing known of it, and with every way in which the facts may be.
    pub fn with_facts(&self, object: Subject) -> Vec<Subject> {
        let mut ways = vec![object];
        for (attribute, facts) in &self.facts {
            let more: Vec<Subject> = facts
                .iter()
                .flat_map(|fact| ways.iter().map(|way| way.clone().with(attribute, fact.clone())))
                .take(WAYS)
                .collect();
            ways = more;
        }
        ways
    }

    /// Every access that can be asked about.
    pub fn subjects(&self) -> Vec<Subject> {
        let paths = self.paths().into_iter().map(Subject::path);
        let mut objects: Vec<Subject> = paths.chain(self.others.iter().cloned()).collect();
        if objects.is_empty() {
            objects.push(Subject::any());
        }
        objects.into_iter().take(OBJECTS).flat_map(|object| self.with_facts(object)).collect()
    }
}

/// What can be asked to compare two rules.
pub fn subjects(a: &Rule, b: &Rule, case: PathCase) -> Vec<Subject> {
    let mut witness = Witness::new(case);
    witness.add(a);
    witness.add(b);
    witness.subjects()
}

/// Connections that an end of which a filter names, over each protocol that it may go.
fn connection(attribute: &Attribute, protocol: &str, address: Option<&Text>) -> Vec<Subject> {
    let place = address.and_then(Text::bytes).and_then(split_address);
    if protocol == "unix-socket" || (address.is_some() && place.is_none()) {
        return Vec::new();
    }
    let (host, port) = place.unwrap_or(("*", "*"));
    let transport = if protocol.starts_with("udp") { Transport::Udp } else { Transport::Tcp };
    let family = if protocol.ends_with('6') { Family::V6 } else { Family::V4 };
    let end = Address {
        transport: Some(transport),
        family: Some(family),
        loopback: Some(host == "localhost"),
        port: Some(port_number(port).unwrap_or(443)),
    };
    let other = Address { port: None, ..end };
    vec![match attribute.name {
        "local" => Subject::connection(end, other),
        _ => Subject::connection(other, end),
    }]
}

/// The known path of a filter on the path of the object, and how it is compared.
pub fn path_of(filter: &Filter) -> Option<(Form, &[u8])> {
    match &filter.test {
        Test::Text { attribute, form, value } if attribute.name == "path" => Some((*form, value.bytes()?)),
        _ => None,
    }
}

/// The directories above a path, the nearest first, `/` left out.
pub fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.iter()
        .enumerate()
        .rev()
        .filter(|(at, byte)| **byte == b'/' && *at > 0)
        .filter_map(|(at, _)| path.get(..at))
}
