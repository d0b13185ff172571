//! `palisade check`: lint profiles against the machines they are for.

use super::input::{Machine, RequestArgs};
use super::known::BaselineArgs;
use super::output::{FindingArgs, report};
use super::places::Places;
use super::settings::{Settings, WeightArgs, canonical};
use super::{Exit, hosts, profiles};
use crate::baseline;
use crate::finding::{Finding, Severity};
use crate::pipeline;
use crate::report::collect::Collector;
use crate::report::whereabouts::Whereabouts;
use crate::report::{Problem, Run};
use crate::resolve::LiveLoader;
use crate::source::{FileId, Sources};
use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;
use std::path::PathBuf;

/// Check profiles against the machine they are for
///
/// Below a directory every `*.palisade` file is checked. Links to directories are not followed; `.git`, `.hg`, `.svn`, `.jj`,
/// `node_modules` and Cargo's `target` are passed over, unless they are named.
///
/// Exits 0 when clean, 1 with findings at or above `--fail-on`, 2 on usage or unreadable input, 3 on a failure of the program, whatever the format.
#[derive(clap::Args)]
pub struct Args {
    /// Profiles, or directories that hold them; `-` is standard input [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    request: RequestArgs,
    /// A recorded machine to look at instead of this one; several files, several times, or a pattern such as `hosts/*.yaml`
    #[arg(long = "host", value_name = "FILE")]
    hosts: Vec<Utf8PathBuf>,
    #[command(flatten)]
    output: FindingArgs,
    #[command(flatten)]
    weights: WeightArgs,
    #[command(flatten)]
    baseline: BaselineArgs,
}

pub fn run(args: &Args) -> Exit {
    let settings = args.weights.load();
    let output = args.output.settled(settings.as_ref().ok().map(|settings| &settings.config));
    let run = match settings {
        Ok(settings) => check(args, &settings, output.fail_on),
        Err(unusable) => unusable.run("check", output.fail_on),
    };
    report(&output, &run)
}

/// Checks everything that can be read on every machine that can be read.
fn check(args: &Args, settings: &Settings, fail_on: Severity) -> Run {
    let mut problems = Vec::new();
    let mut paths = args.paths.clone();
    let named = hosts::taken_from(&mut paths, &args.hosts);
    if paths.is_empty() {
        paths.push(".".into());
    }
    let (names, mut machines) = machines(args, &named, settings, &mut problems);
    let mut own = settings.own_files();
    own.extend(args.baseline.path(settings).and_then(|path| canonical(&path).ok()));
    machines.iter_mut().for_each(|machine| machine.request.artifacts.clone_from(&own));
    let mut profiles = profiles::search(&paths, &mut problems);
    let places = Places::here();
    let excluded = settings.exclude(&mut profiles, &paths, &places, &mut problems);
    let origin = |path: &std::path::Path| places.origin(path);
    let whereabouts = machines.iter().map(whereabouts).collect();
    let mut collector = Collector::new(&origin, names, whereabouts);

    let mut read: Vec<(Sources, FileId)> = Vec::new();
    for result in each(&profiles, |path: &Utf8PathBuf| read_one(path)) {
        match result {
            Ok(one) => read.push(one),
            Err(problem) => problems.push(problem),
        }
    }
    // Where there is no machine, nothing is checked, and that must not look as if nothing had been found.
    if machines.is_empty() {
        read.clear();
    }
    let ids: Vec<FileId> =
        read.iter().map(|(sources, file)| collector.profile(sources.file(*file))).collect();
    let pairs: Vec<(usize, usize)> =
        (0..read.len()).flat_map(|profile| (0..machines.len()).map(move |host| (profile, host))).collect();
    let checked = each(&pairs, |&(profile, host)| {
        let (sources, file) = read.get(profile)?;
        Some(check_one(sources.clone(), *file, machines.get(host)?))
    });
    for ((profile, host), checked) in pairs.iter().zip(checked) {
        if let (Some(id), Some((sources, findings))) = (ids.get(*profile), checked) {
            collector.add(*id, *host, &sources, findings);
        }
    }
    let known = args.baseline.open(settings, &mut collector, &mut problems);
    let mut run = collector.finish("check", problems, fail_on);
    run.told.settings = settings.name().map(str::to_owned);
    run.told.excluded = excluded;
    let on = identities(&run, &machines, &places);
    settings.weigh(&mut run, &places, false, |run, weight| {
        if let Some(known) = known {
            known.apply(run, &places, on, true, weight);
        }
    });
    run
}

/// The recorded machines with their names, or this one without a name.
fn machines(
    args: &Args,
    named: &[Utf8PathBuf],
    settings: &Settings,
    problems: &mut Vec<Problem>,
) -> (Vec<String>, Vec<Machine>) {
    if args.hosts.is_empty() && settings.config.hosts.is_empty() {
        let machine = args.request.machine(None).map_err(|problem| problems.push(problem));
        return (Vec::new(), machine.into_iter().collect());
    }
    let (mut names, mut machines) = (Vec::new(), Vec::new());
    let paths = match args.hosts.is_empty() {
        true => settings.hosts(problems),
        false => hosts::named(named, "--host ", problems),
    };
    for path in paths {
        match args.request.machine(Some(&path)) {
            Ok(machine) => {
                names.push(path.into_string());
                machines.push(machine);
            }
            Err(problem) if problems.contains(&problem) => {}
            Err(problem) => problems.push(problem),
        }
    }
    (names, machines)
}

fn read_one(path: &Utf8Path) -> Result<(Sources, FileId), Problem> {
    let mut sources = Sources::new();
    let file = profiles::read(&mut sources, path)?;
    Ok((sources, file))
}

fn check_one(mut sources: Sources, file: FileId, machine: &Machine) -> (Sources, Vec<Finding>) {
    let checked = pipeline::check(&mut sources, file, &LiveLoader, machine.host.as_ref(), &machine.request);
    (sources, checked.findings)
}

/// What tells the machines from others.
fn identities(run: &Run, machines: &[Machine], places: &Places) -> Vec<baseline::Machine> {
    let recorded = |name: &String| places.absolute(&places.origin(name.as_ref()));
    match run.hosts.as_slice() {
        [] => machines.iter().map(|machine| baseline::Machine::This(machine.host.system())).collect(),
        names => names.iter().filter_map(recorded).map(baseline::Machine::Recorded).collect(),
    }
}

/// Where profiles lie on a machine.
pub fn whereabouts(machine: &Machine) -> Whereabouts {
    Whereabouts { workspace: machine.request.workspace.to_string(), home: machine.host.home().to_string() }
}

/// Does it for each in parallel, and gives the results in order. For one alone no threads are started.
fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    match items {
        [only] => vec![work(only)],
        _ => items.par_iter().map(&work).collect(),
    }
}

/// Whether any of these keeps a profile from being compiled.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}
