//! In: a plan and the profile written for it. Out: nothing where the two mean the same; else the first difference, which is a mistake of
//! this program. The text is read back by the reader and evaluator of `sbpl`, which share no code with the writer, and is asked about
//! every region that the plan's rules make, for every operation, under both theories of precedence.

mod paths;
mod probes;
mod services;
mod stated;

use super::{PROXY_PORT, SCRATCH, Seatbelt};
use crate::bind::plan::SCRATCH_PARAMETER;
use crate::plan::{OriginKind, Plan, Spelling};
use crate::policy::Network;
use crate::sbpl::{self, Decision, Engine, NoImports, Operation, Params, PathCase, Profile, Verdict};
use crate::syntax::shown;
use std::fmt;

/// A place where a profile does not mean what its plan says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    #[error("the profile cannot be read back: {0}")]
    Unreadable(String),
    #[error("{0}")]
    Meaning(Box<Meaning>),
}

/// One question with two answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    pub operation: String,
    /// A path, or what else is asked about.
    pub subject: String,
    /// What the plan says, and by which rule.
    pub planned: String,
    /// What the profile says.
    pub found: String,
    pub engine: Engine,
    /// The line that decides, where one does.
    pub line: Option<String>,
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, subject, planned, found, engine, line } = self;
        write!(
            f,
            "`{operation}` of `{subject}`: the plan says {planned}, and the profile {found} under {engine:?}"
        )?;
        match line {
            Some(line) => write!(f, ", by `{line}`"),
            None => Ok(()),
        }
    }
}

/// Compares a profile with the plan it was written for.
///
/// # Errors
/// The first difference.
pub fn check(plan: &Plan, seatbelt: &Seatbelt) -> Result<(), Difference> {
    let [port, other] = PORTS;
    let profile = read_back(plan, seatbelt, port)?;
    let read = ReadBack { text: &seatbelt.text, profile: &profile, port };
    paths::check(plan, &read)?;
    if plan.seatbelt.is_empty() {
        services::check(plan, &read)?;
        if let Network::Only(_) = plan.network {
            let profile = read_back(plan, seatbelt, other)?;
            let read = ReadBack { text: &seatbelt.text, profile: &profile, port: other };
            services::connections(plan, &read)?;
        }
        return Ok(());
    }
    stated::check(plan, &read)?;
    // What the profile states itself may open any service; without it everything is as it always is.
    let mut bare = plan.clone();
    bare.seatbelt.clear();
    bare.rules.retain(|rule| rule.origin.kind != OriginKind::Seatbelt);
    let written = super::seatbelt(&bare, "").map_err(|error| Difference::Unreadable(error.to_string()))?;
    check(&bare, &written)
}

/// Ports that the proxy may have. There are two, so that a port that stands in the text is none that was given.
const PORTS: [u16; 2] = [49_160, 61_000];

/// Reads a profile as whoever runs a command would have it read: a parameter that is not given to it then is not given here.
fn read_back(plan: &Plan, seatbelt: &Seatbelt, port: u16) -> Result<Profile, Difference> {
    let mut params = Params { given: seatbelt.parameters.clone().into_iter().collect(), complete: true };
    params.given.insert(SCRATCH.into(), SCRATCH_PARAMETER.into());
    if let Network::Only(_) = plan.network {
        params.given.insert(PROXY_PORT.into(), port.to_string());
    }
    let mut profile = Profile::parse(&seatbelt.text, &params, &NoImports).map_err(|findings| {
        let messages: Vec<_> = findings.iter().map(|finding| finding.message.as_str()).collect();
        Difference::Unreadable(messages.join("; "))
    })?;
    profile.case = match plan.spelling {
        Spelling::Folded => PathCase::Insensitive,
        Spelling::Exact => PathCase::Sensitive,
    };
    Ok(profile)
}

/// Under both, every answer must be the same.
const ENGINES: [Engine; 2] = [Engine::PerOperation, Engine::LastMatch];

/// A profile read back, its text, and the port of the proxy.
struct ReadBack<'a> {
    text: &'a str,
    profile: &'a Profile,
    port: u16,
}

/// What may be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Answers {
    allow: bool,
    deny: bool,
}

impl Answers {
    const ALLOW: Self = Self { allow: true, deny: false };
    const DENY: Self = Self { allow: false, deny: true };
    const EITHER: Self = Self { allow: true, deny: true };

    fn only(allow: bool) -> Self {
        if allow { Self::ALLOW } else { Self::DENY }
    }

    /// An answer that is not known may be either.
    fn hold(self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Allow => self.allow,
            Verdict::Deny => self.deny,
            Verdict::Unknown => self.allow && self.deny,
        }
    }
}

impl ReadBack<'_> {
    fn difference(
        &self,
        operation: Operation,
        subject: &str,
        planned: String,
        engine: Engine,
        decision: &Decision,
    ) -> Difference {
        let decider =
            decision.certain.into_iter().chain(decision.perhaps.iter().copied()).find_map(|it| match it {
                sbpl::Decider::Rule { index, .. } => self.profile.rules.get(index),
                _ => None,
            });
        let line = decider.and_then(|rule| self.text.get(rule.span.range())).map(shown);
        let found = match decision.verdict {
            Verdict::Allow => "allows it",
            Verdict::Deny => "denies it",
            Verdict::Unknown => "cannot be said to allow or deny it",
        };
        Difference::Meaning(Box::new(Meaning {
            operation: operation.name().into(),
            subject: shown(subject),
            planned,
            found: found.into(),
            engine,
            line,
        }))
    }
}
