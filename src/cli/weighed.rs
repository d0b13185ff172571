//! The findings of one profile as `check` would show them, for the verbs that compile: what keeps a profile from being compiled stays an error.

use super::Exit;
use super::check::{asked, whereabouts};
use super::input::Machine;
use super::known;
use super::output::problems;
use super::places::Places;
use super::settings::Settings;
use crate::baseline;
use crate::finding::{Finding, Severity};
use crate::report::collect::Collector;

use crate::source::{FileId, Sources};

/// Weighs what was found in a profile. What is known to the baseline that the settings name is left out; that an entry is stale is for `check` to say.
///
/// # Errors
/// The baseline cannot be read, which has been said.
pub fn weighed(
    settings: &Settings,
    sources: &Sources,
    file: FileId,
    findings: Vec<Finding>,
    machine: &Machine,
) -> Result<Vec<Finding>, Exit> {
    let places = Places::here();
    let origin = |path: &std::path::Path| places.origin(path);
    let mut collector = Collector::new(&origin, Vec::new(), vec![whereabouts(machine)]);
    let profile = collector.profile(sources.file(file));
    let files: Vec<(FileId, FileId)> =
        sources.files().map(|(id, file)| (collector.adopt(file), id)).collect();
    collector.add(profile, 0, sources, findings);
    let mut unread = Vec::new();
    let baseline = known::from_settings(settings);
    let known = baseline.and_then(|path| known::open(path, &mut collector, &mut unread));
    let mut run = collector.finish("compile", unread, Severity::Error);
    if !run.problems.is_empty() {
        problems(&run);
        return Err(Exit::Usage);
    }
    settings.weigh(&mut run, &places, true, |run, weight| {
        if let Some(known) = known {
            let on = vec![baseline::Machine::This(machine.host.system())];
            known.apply(run, &places, (on, asked(std::slice::from_ref(machine))), false, weight);
        }
    });
    let back = |id: FileId| files.iter().find(|(there, _)| *there == id).map_or(file, |(_, here)| *here);
    Ok(run.findings.into_iter().map(|found| found.finding.with_files(back)).collect())
}
