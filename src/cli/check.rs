//! `palisade check`: lint profiles against the machines they are for.

use super::fix::{FixArgs, Made};
use super::input::{Machine, RequestArgs};
use super::known::BaselineArgs;
use super::output::{FindingArgs, Output, report};
use super::places::Places;
use super::settings::{Settings, WeightArgs, canonical};
use super::{Exit, hosts, profiles};
use crate::baseline;
use crate::finding::{Finding, Severity};
use crate::fix::{Files, Look};
use crate::host::Remembering;
use crate::pipeline::{self, Request};
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
    fixing: FixArgs,
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
    let (run, made) = match settings {
        Ok(settings) => check(args, &settings, output),
        Err(unusable) => (unusable.run("check", output.fail_on), None),
    };
    if args.fixing.is_wanted() { args.fixing.finish(output, made, run) } else { report(&output, &run) }
}

/// Checks everything that can be read on every machine that can be read; where fixes are wanted, as it is with them.
fn check(args: &Args, settings: &Settings, output: Output) -> (Run, Option<Made>) {
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
    let pairs: Vec<(usize, usize)> =
        (0..read.len()).flat_map(|profile| (0..machines.len()).map(move |host| (profile, host))).collect();
    // What all profiles look at, tools and their digests before all, is looked at once on each machine.
    let hosts: Vec<Remembering> =
        machines.iter().map(|machine| Remembering::new(machine.host.as_ref())).collect();
    let look = |files: Option<&Files>| -> Vec<Look> {
        let looks = each(&pairs, |&(profile, host)| {
            let (sources, file) = read.get(profile)?;
            let (machine, request) = (hosts.get(host)?, &machines.get(host)?.request);
            let mut look = check_one(sources, *file, machine, request, files);
            if files.is_some() {
                settings.leave_alone(&mut look.findings, &look.sources, look.profile);
            }
            Some(look)
        });
        looks.into_iter().flatten().collect()
    };
    let mut made = (args.fixing.is_wanted() && problems.is_empty())
        .then(|| args.fixing.make_and_write(&paths, output, &|files| look(Some(files)), &mut problems));
    let looks = match &mut made {
        Some(made) => made.take_looks(),
        None => look(None),
    };
    let mut ids: Vec<FileId> = Vec::new();
    for ((profile, _), look) in pairs.iter().zip(&looks) {
        if *profile == ids.len() {
            ids.push(collector.profile(look.sources.file(look.profile)));
        }
    }
    for ((profile, host), look) in pairs.iter().zip(looks) {
        if let Some(id) = ids.get(*profile) {
            collector.add(*id, *host, &look.sources, look.findings);
        }
    }
    let known = args.baseline.open(settings, &mut collector, &mut problems);
    let mut run = collector.finish("check", problems, output.fail_on);
    run.told.settings = settings.name().map(str::to_owned);
    run.told.excluded = excluded;
    run.told.pages.clone_from(&settings.config.rule_pages);
    let on = (identities(&run, &machines, &places), asked(&machines));
    settings.weigh(&mut run, &places, false, |run, weight| {
        if let Some(known) = known {
            known.apply(run, &places, on, true, weight);
        }
    });
    (run, made)
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

/// Checks a profile as it was read, or as it is in `files`.
fn check_one(
    read: &Sources,
    file: FileId,
    host: &Remembering<'_>,
    request: &Request,
    files: Option<&Files>,
) -> Look {
    let target = request.target;
    let Some(files) = files else {
        let mut sources = read.clone();
        let findings = pipeline::findings(&mut sources, file, &LiveLoader, host, request);
        return Look { sources, profile: file, findings, plan: None, target };
    };
    let (source, mut sources) = (read.file(file), Sources::new());
    let profile = sources.add(source.name.clone(), source.path.as_deref(), files.now(source));
    let checked = pipeline::check(&mut sources, profile, &files.loader(&LiveLoader), host, request);
    // Only fixing asks what is allowed.
    Look { sources, profile, findings: checked.findings, plan: checked.bound.map(|bound| bound.plan), target }
}

/// What tells the machines from others.
fn identities(run: &Run, machines: &[Machine], places: &Places) -> Vec<baseline::Machine> {
    let recorded = |name: &String| places.absolute(&places.origin(name.as_ref()));
    match run.hosts.as_slice() {
        [] => machines.iter().map(|machine| baseline::Machine::This(machine.host.system())).collect(),
        names => names.iter().filter_map(recorded).map(baseline::Machine::Recorded).collect(),
    }
}

/// What was asked of machines beside what stands in profiles.
pub fn asked(machines: &[Machine]) -> baseline::Asked {
    baseline::Asked {
        set: machines.first().map(|machine| machine.request.set.clone()).unwrap_or_default(),
        workspaces: machines.iter().map(|machine| machine.workspace.clone()).collect(),
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
