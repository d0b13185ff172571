//! Where the time of a compile goes, for a profile of forty tools on this machine: each stage by itself, and the whole road.
//!
//! `cargo bench --bench compile`

use camino::Utf8PathBuf;
use criterion::{Criterion, criterion_group, criterion_main};
use palisade::bind;
use palisade::host::{Host, LiveHost};
use palisade::lint;
use palisade::manifest;
use palisade::pipeline::{self, Request};
use palisade::policy::System;
use palisade::resolve::{self, MemoryLoader};
use palisade::source::Sources;
use palisade::syntax;
use std::collections::BTreeMap;
use std::hint::black_box;

fn profile(host: &dyn Host) -> String {
    let mut tools: Vec<String> = Vec::new();
    for name in host.read_dir("/usr/bin".into()).expect("/usr/bin can be listed") {
        let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
        let usable = plain && matches!(bind::tools::find(host, &name), bind::tools::Lookup::Found(_));
        if usable && tools.len() < 38 {
            tools.push(name);
        }
    }
    format!(
        "edition 1\nprofile \"forty\" {{\nroot \"$workspace\" read-write\ndeny \"$workspace/.env\"\n\
         tools {}\noptional-tools git python3\n}}\n",
        tools.join(" ")
    )
}

fn stages(criterion: &mut Criterion) {
    let directory = tempfile::tempdir_in("/var/tmp").expect("a place to work");
    let workspace = Utf8PathBuf::from_path_buf(directory.path().to_path_buf()).expect("UTF-8");
    std::fs::write(workspace.join(".env"), "KEY=x\n").expect("a file");
    let host = LiveHost::new().expect("a machine");
    let text = profile(&host);
    let options = resolve::Options {
        workspace: workspace.clone(),
        home: host.home().to_path_buf(),
        set: BTreeMap::new(),
        target: System::Linux,
    };
    let request = Request { workspace, set: BTreeMap::new(), target: System::Linux, artifacts: Vec::new() };
    let mut sources = Sources::new();
    let file = sources.add("forty.palisade", None, text);
    let loader = MemoryLoader::default();
    let tree = syntax::parse(&sources, file).file.expect("a tree");
    let policy = resolve::resolve(&mut sources, &loader, tree.clone(), &options).policy.expect("a policy");
    let binding = bind::bind(&host, &policy, &[]);
    let plan = bind::plan::build(&host, &policy, &binding, &sources);
    let made = manifest::build(&policy, &plan, &sources, host.architecture(), None, &lint::names());

    let mut group = criterion.benchmark_group("forty tools");
    group.sample_size(20);
    group.bench_function("parse", |bench| bench.iter(|| black_box(syntax::parse(&sources, file))));
    group.bench_function("resolve", |bench| {
        bench.iter(|| black_box(resolve::resolve(&mut sources.clone(), &loader, tree.clone(), &options)));
    });
    group.bench_function("bind", |bench| bench.iter(|| black_box(bind::bind(&host, &policy, &[]))));
    group.bench_function("plan, with digests", |bench| {
        bench.iter(|| black_box(bind::plan::build(&host, &policy, &binding, &sources)));
    });
    group.bench_function("lint", |bench| {
        let context =
            lint::Context { sources: &sources, policy: &policy, host: &host, binding: &binding, plan: &plan };
        bench.iter(|| black_box(lint::run(&context)));
    });
    group.bench_function("write the manifest", |bench| bench.iter(|| black_box(manifest::write(&made))));
    group.bench_function("the whole road", |bench| {
        bench.iter(|| {
            let mut sources = sources.clone();
            let checked = pipeline::check(&mut sources, file, &loader, &host, &request);
            let bound = checked.bound.expect("bound");
            black_box(pipeline::compile(&sources, &bound, &host, "forty.sb").is_ok())
        });
    });
    group.finish();
}

criterion_group!(benches, stages);
criterion_main!(benches);
