//! The report for machines.

use super::report::{Report, Verdict};
use serde_json::{Value, json};

/// The version of the form. Raised whenever a reader of an older one would misread it; fields may be added without.
pub const SCHEMA: u32 = 1;

impl Report {
    /// `schema`, `palisade`, `system`; `surroundings`: each `name`, `fact`, `meaning`; `walls`: each `wall`, `status` (`ok`, `weaker`,
    /// `missing` or `untried`), `seen`, `lost`, `advice`; `verdict`: `enforces` (`every`, `all-but` or `nothing`), `but`, `sentence`;
    /// `complete`: whether everything is there that `exec` needs, which the exit code says too.
    pub fn json(&self) -> Value {
        let (enforces, but) = match &self.verdict {
            Verdict::Every => ("every", Vec::new()),
            Verdict::AllBut(features) => ("all-but", features.iter().map(|feature| feature.name()).collect()),
            Verdict::Nothing | Verdict::Broken => ("nothing", Vec::new()),
        };
        let surroundings: Vec<Value> = self
            .surroundings
            .iter()
            .map(|setting| json!({ "name": setting.name, "fact": setting.fact, "meaning": setting.meaning }))
            .collect();
        let walls: Vec<Value> = self
            .lines
            .iter()
            .map(|line| {
                json!({
                    "wall": line.wall.about().name,
                    "status": line.status.name(),
                    "seen": line.seen,
                    "lost": line.lost,
                    "advice": line.advice,
                })
            })
            .collect();
        json!({
            "schema": SCHEMA,
            "palisade": env!("CARGO_PKG_VERSION"),
            "system": self.system.name(),
            "surroundings": surroundings,
            "walls": walls,
            "verdict": { "enforces": enforces, "but": but, "sentence": self.sentence() },
            "complete": self.is_complete(),
        })
    }
}
