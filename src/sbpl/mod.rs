//! In: the text of a Seatbelt profile, ours or anybody's. Out: its rules in order, what they decide, and findings about them.
//! `read` makes data of text, `eval` rules of data, `decide` verdicts of rules; `lint` looks at all three, and `print` writes them again.

pub mod decide;
mod eval;
pub mod lint;
pub mod print;
pub mod read;
pub mod rule;
pub mod spelling;
pub mod vocabulary;

pub use decide::{Decider, Decision, Engine, PathCase, Place, Places, Subject, Verdict};
pub use eval::imports::{Directories, Imports, InMemory, NoImports};
pub use eval::{Evaluation, Params, evaluate};
pub use vocabulary::Operation;

use crate::finding::Finding;
use crate::source::{Sources, Span};
use rule::{Rule, Text};
use std::collections::BTreeSet;
use std::sync::Arc;

/// An evaluated profile.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// In the order of evaluation, those of imported files where they are imported.
    pub rules: Vec<Rule>,
    /// Imports that were not read.
    pub opaque: Vec<OpaqueImport>,
    /// Every parameter that was asked for, given or not.
    pub params: BTreeSet<Arc<str>>,
    /// The paths whose ancestors are named: a filter on those keeps nothing of the path itself.
    pub ancestors: Vec<(Text, Span)>,
    /// Whether the disk that the profile is for tells cases apart.
    pub case: PathCase,
    /// The rules for each operation, in order.
    by_operation: Vec<Vec<usize>>,
    /// For each rule, the operations it is written for, as bits.
    spoken: Vec<[u64; Operation::COUNT.div_ceil(64)]>,
}

/// An import of a file that is not at hand, or a call of what only such an import may define: it may hold any rule.
#[derive(Debug, Clone)]
pub struct OpaqueImport {
    /// The file.
    pub name: String,
    /// The function, where it is a call.
    pub call: Option<Arc<str>>,
    pub span: Span,
    /// How many of [`Profile::rules`] stand before it.
    pub before: usize,
}

impl Profile {
    /// Reads and evaluates a profile that stands alone. To show its findings, use [`evaluate`] with sources of one's own.
    ///
    /// # Errors
    /// Everything that keeps the profile from being understood.
    pub fn parse(text: &str, params: &Params, imports: &dyn Imports) -> Result<Self, Vec<Finding>> {
        let mut sources = Sources::new();
        let file = sources.add("profile.sb", None, text);
        let evaluation = evaluate(&mut sources, file, params, imports);
        if evaluation.findings.is_empty() { Ok(evaluation.profile) } else { Err(evaluation.findings) }
    }

    /// The profile, ready for many questions about paths.
    pub fn places(&self) -> Places<'_> {
        Places::new(self)
    }

    /// What the profile says of an operation on a subject. Ask about leaves: rules for a wildcard do not speak for them all.
    pub fn decide(&self, operation: Operation, subject: &Subject, engine: Engine) -> Decision {
        decide::decide(self, operation, subject, engine)
    }

    /// What holds for an operation where no filter matches.
    pub fn fallback(&self, operation: Operation) -> Decision {
        decide::fallback(self, operation)
    }

    /// Indices of the rules written for exactly this operation, in order.
    pub fn rules_for(&self, operation: Operation) -> &[usize] {
        self.by_operation.get(operation.index()).map_or(&[], Vec::as_slice)
    }

    /// Whether the rule is written for exactly this operation.
    fn speaks(&self, rule: usize, operation: Operation) -> bool {
        let bits = self.spoken.get(rule).and_then(|bits| bits.get(operation.index() / 64));
        bits.is_some_and(|bits| bits & (1 << (operation.index() % 64)) != 0)
    }

    fn index(&mut self) {
        self.by_operation = vec![Vec::new(); Operation::COUNT];
        self.spoken = vec![Default::default(); self.rules.len()];
        for (at, rule) in self.rules.iter().enumerate() {
            for operation in rule.operations.iter() {
                if let Some(bits) =
                    self.spoken.get_mut(at).and_then(|bits| bits.get_mut(operation.index() / 64))
                {
                    *bits |= 1 << (operation.index() % 64);
                }
                if let Some(list) = self.by_operation.get_mut(operation.index())
                    && list.last() != Some(&at)
                {
                    list.push(at);
                }
            }
        }
    }
}
