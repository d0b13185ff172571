//! Every operation on every path that matters.

use super::probes::{self, Kind, Probe};
use super::{Answers, Difference, ENGINES, ReadBack};
use crate::emit::{SENTINEL_OPERATIONS, sentinel};
use crate::host::fold;
use crate::plan::seatbelt::{self as operations, CLOSED_ON_PATHS};
use crate::plan::{self, Decider, OriginKind, Plan, Rule, Scope, Spelling};
use crate::sbpl::decide::Fact;
use crate::sbpl::{Operation, Place, Places, Subject};
use camino::Utf8Path;

/// A plan's answers, and the questions in Seatbelt's terms.
struct Planned<'a> {
    plan: &'a Plan,
    decider: Decider<'a>,
    /// As the disk sees it: grants too hold for every spelling. For a path that the disk would take for another.
    folded: Decider<'a>,
    /// Each of ours with the leaves it stands for, in the order of `plan::Operation::ALL`.
    leaves: Vec<(plan::Operation, Vec<Operation>)>,
    /// Nothing grants these to any path of the plan.
    closed: Vec<Operation>,
}

pub fn check(plan: &Plan, read: &ReadBack<'_>) -> Result<(), Difference> {
    let folded_rules: Vec<Rule> = match plan.spelling {
        Spelling::Folded => {
            plan.rules.iter().map(|rule| Rule { path: fold(&rule.path), ..rule.clone() }).collect()
        }
        Spelling::Exact => plan.rules.clone(),
    };
    let named = |names: &[&str]| names.iter().filter_map(|name| Operation::named(name)).collect();
    let planned = Planned {
        plan,
        decider: plan.decider(),
        folded: Decider::new(&folded_rules, Spelling::Exact),
        leaves: plan::Operation::ALL.map(|ours| (ours, named(operations::of(ours)))).into_iter().collect(),
        closed: named(&CLOSED_ON_PATHS),
    };
    let places = read.profile.places();
    probes::each(plan, |probe| planned.compare(probe, &places, read))?;
    let sentinel = Probe { path: sentinel(), kind: Kind::Exact };
    planned.compare(&sentinel, &places, read)
}

impl Planned<'_> {
    fn compare(&self, probe: &Probe, places: &Places<'_>, read: &ReadBack<'_>) -> Result<(), Difference> {
        let path = probe.path.as_path();
        // No extension is issued to a command unless the profile says so.
        let subject = Subject::path(path.as_str()).with("extension", Fact::Absent);
        let place = places.at(&subject);
        let exact = match (probe.kind, path.parent()) {
            (Kind::Below, Some(directory)) => self.decider.decide_all_below(directory),
            _ => self.decider.decide_all(path),
        };
        let folded = match self.plan.spelling {
            Spelling::Folded => self.folded.decide_all(&fold(path)),
            Spelling::Exact => exact,
        };
        for (at, (ours, leaves)) in self.leaves.iter().enumerate() {
            let (Some(exact), Some(folded)) = (exact.get(at), folded.get(at)) else { continue };
            let mut answers = answers(probe.kind, exact, folded);
            // The profile may state an allowance of a part, which the plan counts as one of the whole.
            let stated = |decision: &plan::Decision<'_>| {
                decision.allowed && decision.rule.is_some_and(|rule| rule.origin.kind == OriginKind::Seatbelt)
            };
            if stated(exact) || stated(folded) && !exact.allowed {
                answers = Answers::EITHER;
            }
            for leaf in leaves {
                let answers = if self.is_sentinel(path, *ours) {
                    Answers::DENY
                } else {
                    self.or_way(path, *ours, answers)
                };
                let why = || describe(exact);
                ask(read, &place, *leaf, path, answers, &why)?;
            }
        }
        let stated =
            |leaf: &Operation| self.plan.seatbelt.iter().any(|rule| rule.operations.contains(&leaf.name()));
        for leaf in self.closed.iter().filter(|leaf| !stated(leaf)) {
            ask(read, &place, *leaf, path, Answers::DENY, &|| "it is closed".to_owned())?;
        }
        Ok(())
    }

    fn is_sentinel(&self, path: &Utf8Path, ours: plan::Operation) -> bool {
        path == sentinel() && SENTINEL_OPERATIONS.contains(ours)
    }

    /// The directories above the scratch directory may be seen, where nothing denies it.
    fn or_way(&self, path: &Utf8Path, ours: plan::Operation, answers: Answers) -> Answers {
        let on_the_way = path != self.plan.scratch && self.plan.scratch.starts_with(path);
        if on_the_way && ours == plan::Operation::Metadata { Answers::EITHER } else { answers }
    }
}

/// What a profile may answer. A spelling that no rule has is, on the disk, a path that some rule does have: what is denied there must be
/// denied; what is granted there may be.
fn answers(kind: Kind, exact: &plan::Decision<'_>, folded: &plan::Decision<'_>) -> Answers {
    match (kind, exact.allowed, folded.allowed) {
        (Kind::Exact | Kind::Below, true, _) => Answers::ALLOW,
        // A rule says no, or nothing says anything, in whatever spelling.
        (Kind::Exact | Kind::Below, false, false) => Answers::DENY,
        (Kind::Exact | Kind::Below, false, true) if exact.rule.is_some() => Answers::DENY,
        (Kind::Exact | Kind::Below, false, true) => Answers::EITHER,
        (Kind::Twin, _, false) => Answers::DENY,
        (Kind::Twin, _, true) => Answers::EITHER,
    }
}

fn ask(
    read: &ReadBack<'_>,
    place: &Place<'_>,
    leaf: Operation,
    path: &Utf8Path,
    answers: Answers,
    planned: &dyn Fn() -> String,
) -> Result<(), Difference> {
    for engine in ENGINES {
        let decision = place.decide(leaf, engine);
        if !answers.hold(decision.verdict) {
            return Err(read.difference(leaf, path.as_str(), planned(), engine, &decision));
        }
    }
    Ok(())
}

fn describe(decision: &plan::Decision<'_>) -> String {
    let answer = if decision.allowed { "yes" } else { "no" };
    match decision.rule {
        Some(rule) => {
            let scope = if rule.scope == Scope::Literal { "at" } else { "at and below" };
            format!("{answer} {scope} `{}` ({})", rule.path, rule.origin.text)
        }
        None => format!("{answer}, since nothing grants it"),
    }
}
