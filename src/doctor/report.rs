//! From what was seen to what it means: a line for each wall, and a verdict.

use super::observation::{Found, Observations, Setting, Wall};
use super::trial::{FEATURES, Feature, Trial, Trials, feature};
use super::walls::{FULL_LANDLOCK, LANDLOCK_LEVELS};
use crate::policy::System;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Ok,
    /// It holds, but not all of what a newer kernel would.
    Weaker,
    Missing,
    /// What it rests on is missing, so nothing is known of it.
    Untried,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Weaker => "weaker",
            Self::Missing => "missing",
            Self::Untried => "untried",
        }
    }
}

/// What is said of one wall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub wall: Wall,
    pub status: Status,
    /// What was tried, or the kernel's own error.
    pub seen: String,
    pub lost: Vec<String>,
    /// What to do.
    pub advice: Option<String>,
}

/// What this machine can enforce, as the trials showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Every,
    /// Every profile without these.
    AllBut(Vec<Feature>),
    Nothing,
    /// A wall that was built does not hold, which `exec` does not see.
    Broken,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub system: System,
    pub surroundings: Vec<Setting>,
    pub lines: Vec<Line>,
    pub verdict: Verdict,
}

impl Report {
    pub fn of(observations: Observations) -> Self {
        let Observations { system, root, surroundings, walls, trials } = observations;
        let broken = walls.iter().any(|observation| matches!(observation.found, Found::Broken(_)));
        let mut lines: Vec<Line> =
            walls.into_iter().map(|observation| line(observation.wall, observation.found, root)).collect();
        let verdict = if broken || trials.all().any(|trial| matches!(trial, Trial::Broken(_))) {
            Verdict::Broken
        } else {
            verdict(&trials)
        };
        let mut last = trial(&trials, &verdict);
        // What `exec` says is said of the wall already.
        if lines.iter().any(|line| line.status == Status::Missing) {
            last.advice = None;
        }
        lines.push(last);
        Self { system, surroundings, lines, verdict }
    }

    /// Whether everything is there that `exec` needs.
    pub fn is_complete(&self) -> bool {
        let given = |line: &Line| matches!(line.status, Status::Ok | Status::Weaker);
        self.verdict == Verdict::Every && self.lines.iter().all(given)
    }

    /// The verdict in one sentence.
    pub fn sentence(&self) -> String {
        match &self.verdict {
            Verdict::Every => "this machine can enforce every profile".to_owned(),
            Verdict::Nothing => "this machine can enforce nothing: `exec` refuses every profile".to_owned(),
            Verdict::Broken => {
                "this machine can enforce nothing: a wall does not hold, and `exec` cannot see it".to_owned()
            }
            Verdict::AllBut(features) => {
                let shown: Vec<&str> = features.iter().map(|feature| feature.shown()).collect();
                let shown = match shown.as_slice() {
                    [.., last] if shown.len() > 1 => {
                        format!("{} or {last}", shown[..shown.len() - 1].join(", "))
                    }
                    _ => shown.concat(),
                };
                format!("this machine can enforce all profiles but those with {shown}")
            }
        }
    }
}

fn line(wall: Wall, found: Found, root: bool) -> Line {
    let about = wall.about();
    let ok = |seen: String| Line { wall, status: Status::Ok, seen, lost: Vec::new(), advice: None };
    match found {
        Found::Works => ok(about.tried.to_owned()),
        Found::Level(level) if level >= FULL_LANDLOCK => ok(format!("ABI {level}: {}", about.tried)),
        Found::Level(level) => Line {
            status: Status::Weaker,
            lost: LANDLOCK_LEVELS
                .into_iter()
                .filter(|(brought, _, _)| *brought > level)
                .map(|(brought, linux, lost)| format!("ABI {brought}, Linux {linux}: {lost}"))
                .collect(),
            advice: Some("a newer kernel; until then the other walls hold this alone".to_owned()),
            ..ok(format!("ABI {level} of {FULL_LANDLOCK}"))
        },
        Found::Missing(missing) => Line {
            // Without records a run only leaves more behind when it is killed.
            status: if wall == Wall::State { Status::Weaker } else { Status::Missing },
            lost: vec![match wall {
                Wall::ProcessLimit if root => format!("{}, while root runs them", about.lost),
                _ => about.lost.to_owned(),
            }],
            advice: Some(missing.help),
            ..ok(missing.error)
        },
        Found::Broken(what) => Line {
            status: Status::Missing,
            lost: vec![about.lost.to_owned()],
            advice: Some(REPORT.to_owned()),
            ..ok(what)
        },
        Found::Untried(why) => Line { status: Status::Untried, ..ok(why) },
    }
}

/// What to do where a wall that was built does not hold.
const REPORT: &str = "run no command here, and report this with the version of the kernel or of macOS";

fn verdict(trials: &Trials) -> Verdict {
    let untried: Vec<Feature> =
        FEATURES.into_iter().filter(|known| feature(trials, *known) == Some(&Trial::Untried)).collect();
    match (&trials.whole, &trials.bare) {
        (Trial::Held, _) if untried.is_empty() => Verdict::Every,
        (Trial::Held, _) => Verdict::AllBut(untried),
        (_, Some(Trial::Held)) => {
            let fails = |known: &Feature| feature(trials, *known).is_some_and(|trial| *trial != Trial::Held);
            let failing: Vec<Feature> = FEATURES.into_iter().filter(fails).collect();
            // Each holds by itself and all together do not: which together do is not known.
            Verdict::AllBut(if failing.is_empty() { FEATURES.into() } else { failing })
        }
        _ => Verdict::Nothing,
    }
}

fn trial(trials: &Trials, verdict: &Verdict) -> Line {
    let about = Wall::Trial.about();
    let held = |seen: &str| Line {
        wall: Wall::Trial,
        status: Status::Ok,
        seen: seen.to_owned(),
        lost: Vec::new(),
        advice: None,
    };
    let not_held = |trial: &&Trial| !matches!(trial, Trial::Held | Trial::Untried);
    let failed = match verdict {
        Verdict::Every => return held(about.tried),
        Verdict::Broken => match trials.all().find(|trial| matches!(trial, Trial::Broken(_))) {
            Some(trial) => trial,
            None if trials.whole == Trial::Held => {
                return held("a command ran in it; see above what does not hold");
            }
            None => &trials.whole,
        },
        Verdict::Nothing => trials.bare.as_ref().unwrap_or(&trials.whole),
        Verdict::AllBut(_) if trials.whole == Trial::Held => {
            return Line {
                status: Status::Untried,
                advice: Some(
                    "set TMPDIR to a directory of your own, so that a writable root and a denial can be tried"
                        .to_owned(),
                ),
                ..held("no directory could be made for the rest of it")
            };
        }
        Verdict::AllBut(features) => features
            .iter()
            .filter_map(|known| feature(trials, *known))
            .find(not_held)
            .unwrap_or(&trials.whole),
    };
    let lost = match verdict {
        Verdict::AllBut(features) => {
            features.iter().map(|known| format!("profiles with {}", known.shown())).collect()
        }
        _ => vec![about.lost.to_owned()],
    };
    let (seen, advice) = match failed {
        Trial::Refused { message, help } => (format!("refused: {message}"), help.clone()),
        Trial::Broken(what) => (what.clone(), Some(REPORT.to_owned())),
        Trial::Failed(what) => (what.clone(), Some("please report this with the lines above".to_owned())),
        Trial::Held | Trial::Untried => (about.tried.to_owned(), None),
    };
    Line { status: Status::Missing, lost, advice, ..held(&seen) }
}
