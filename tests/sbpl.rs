//! Seatbelt profiles: what is read, what it means, what is found in it.

#[path = "sbpl/command.rs"]
mod command;
#[path = "sbpl/decisions.rs"]
mod decisions;
#[path = "sbpl/evaluation.rs"]
mod evaluation;
#[path = "sbpl/findings.rs"]
mod findings;
#[path = "sbpl/hostile.rs"]
mod hostile;
#[path = "sbpl/laws.rs"]
mod laws;
#[path = "sbpl/reading.rs"]
mod reading;
#[path = "sbpl/style.rs"]
mod style;

use palisade::finding::Finding;
use palisade::sbpl::{Evaluation, Imports, NoImports, Params, Profile, evaluate, print};
use palisade::source::Sources;

/// A profile that has been evaluated.
pub struct Case {
    pub sources: Sources,
    pub evaluation: Evaluation,
}

/// Evaluates `text` as it stands.
pub fn whole(text: &str, params: &Params, imports: &dyn Imports) -> Case {
    let mut sources = Sources::new();
    let file = sources.add("x.sb", None, text);
    let evaluation = evaluate(&mut sources, file, params, imports);
    Case { sources, evaluation }
}

/// Evaluates forms behind `(version 1)`.
pub fn case(forms: &str) -> Case {
    whole(&format!("(version 1)\n{forms}"), &Params::default(), &NoImports)
}

/// A profile that must be understood.
pub fn profile(forms: &str) -> Profile {
    let text = format!("(version 1)\n{forms}");
    Profile::parse(&text, &Params::default(), &NoImports)
        .unwrap_or_else(|findings| panic!("{text}\n{findings:#?}"))
}

impl Case {
    /// Each finding as its message and the text it underlines, in the order of places.
    pub fn found(&self) -> Vec<(&str, &str)> {
        self.evaluation
            .findings
            .iter()
            .map(|finding| (finding.message.as_str(), self.underlined(finding)))
            .collect()
    }

    pub fn underlined(&self, finding: &Finding) -> &str {
        finding.span().map(|span| self.sources.text(span)).unwrap_or_default()
    }

    /// The rules as they are printed, of a profile that must be understood.
    pub fn rules(&self) -> Vec<String> {
        assert_eq!(self.found(), []);
        self.evaluation.profile.rules.iter().map(print::rule).collect()
    }
}
