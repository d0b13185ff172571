//! `palisade check`: lint profiles against the machines they are for.

use super::input::{Machine, RequestArgs};
use super::output::{FindingArgs, report};
use super::places::Places;
use super::{Exit, hosts, profiles};
use crate::finding::{Finding, Severity};
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
    output: FindingArgs,
}

pub fn run(args: &Args) -> Exit {
    report(&args.output, &check(args))
}

/// Checks everything that can be read on every machine that can be read.
fn check(args: &Args) -> Run {
    let mut problems = Vec::new();
    let mut paths = args.paths.clone();
    let named = hosts::taken_from(&mut paths, &args.hosts);
    if paths.is_empty() {
        paths.push(".".into());
    }
    let (names, machines) = machines(args, &named, &mut problems);
    let profiles = profiles::search(&paths, &mut problems);
    let places = Places::here();
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
    // What all profiles look at, tools and their digests before all, is looked at once on each machine.
    let hosts: Vec<Remembering> =
        machines.iter().map(|machine| Remembering::new(machine.host.as_ref())).collect();
    let checked = each(&pairs, |&(profile, host)| {
        let (sources, file) = read.get(profile)?;
        Some(check_one(sources.clone(), *file, hosts.get(host)?, &machines.get(host)?.request))
    });
    for ((profile, host), checked) in pairs.iter().zip(checked) {
        if let (Some(id), Some((sources, findings))) = (ids.get(*profile), checked) {
            collector.add(*id, *host, &sources, findings);
        }
    }
    collector.finish("check", problems, args.output.fail_on.severity())
}

/// The recorded machines with their names, or this one without a name.
fn machines(args: &Args, named: &[Utf8PathBuf], problems: &mut Vec<Problem>) -> (Vec<String>, Vec<Machine>) {
    if args.hosts.is_empty() {
        let machine = args.request.machine(None).map_err(|problem| problems.push(problem));
        return (Vec::new(), machine.into_iter().collect());
    }
    let (mut names, mut machines) = (Vec::new(), Vec::new());
    for path in hosts::named(named, problems) {
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

fn check_one(
    mut sources: Sources,
    file: FileId,
    host: &Remembering<'_>,
    request: &Request,
) -> (Sources, Vec<Finding>) {
    let findings = pipeline::findings(&mut sources, file, &LiveLoader, host, request);
    (sources, findings)
}

fn whereabouts(machine: &Machine) -> Whereabouts {
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
