//! Every program in every way, one after the other: what arrives beyond is of one at a time.

use crate::book::Seen;
use crate::catalogue::{CLIENTS, Client, TLS};
use crate::near::{apart, beyond};
use crate::world::{AUTHORITY, EVIL, GOOD, TRUST, WGET};
use crate::{names, world};
use camino::{Utf8Path, Utf8PathBuf};
use libtest_mimic::{Arguments, Failed, Trial};
use rustix::mount::mount_bind;
use rustix::process::{Signal, kill_process};
use std::fs;
use std::process::{Command, ExitCode, Stdio};

/// Outside the temporary directories that commands get for their own.
const PLACE: &str = "/var/tmp";

/// How a program comes to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The variables of the proxy are set, as they are for every command.
    Proxy,
    /// None of them is.
    Capture,
    /// Its connections are read on the way, by an authority that it is only told of by what `exec` sets.
    Inspected,
}

/// Where programs are that are put into a profile.
struct Found {
    programs: Vec<Utf8PathBuf>,
    /// Directories of modules.
    modules: Vec<Utf8PathBuf>,
    /// Directories of what it is set up by.
    settings: Vec<Utf8PathBuf>,
}

pub fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    if arguments.list {
        return libtest_mimic::run(&arguments, trials(Utf8Path::new(""))).exit_code();
    }
    arguments.test_threads = Some(1);
    let directory = tempfile::Builder::new().prefix("palisade-clients-").tempdir_in(PLACE).unwrap();
    let top = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
    if let Err(error) = apart() {
        eprintln!("THE CLIENTS CANNOT BE TESTED HERE: no namespaces for this user: {error}");
        return ExitCode::FAILURE;
    }
    resolve_beyond(&top);
    let beyond = beyond(&top, world::serve);
    let conclusion = libtest_mimic::run(&arguments, trials(&top));
    kill_process(beyond, Signal::KILL).unwrap();
    drop(directory);
    conclusion.exit_code()
}

/// Has this machine ask the name server beyond; what else is in `/etc` stays, since programs need it.
fn resolve_beyond(top: &Utf8Path) {
    let resolver = format!("nameserver {}\noptions timeout:2 attempts:1\n", names::ADDRESS);
    for (name, text) in [
        ("resolv.conf", resolver.as_str()),
        ("nsswitch.conf", "passwd: files\nhosts: files dns\n"),
        ("hosts", "127.0.0.1 localhost\n"),
    ] {
        let own = top.join(name);
        fs::write(&own, text).unwrap();
        let Ok(place) = fs::canonicalize(format!("/etc/{name}")) else { continue };
        mount_bind(own.as_str(), place.as_path()).unwrap();
    }
}

fn trials(top: &Utf8Path) -> Vec<Trial> {
    let mut trials = Vec::new();
    for client in CLIENTS {
        let found = find(client);
        for way in [Way::Proxy, Way::Capture, Way::Inspected] {
            if way == Way::Inspected && client.inspected().is_none() {
                continue;
            }
            let (name, top) = (format!("{} by {way:?}", client.name), top.to_owned());
            trials.push(match found {
                Ok(_) => Trial::test(name, move || check(client, way, &top)),
                Err(missing) => {
                    Trial::test(format!("{name} (no `{missing}` here)"), || Ok(())).with_ignored_flag(true)
                }
            });
        }
    }
    trials
}

/// Where its programs are, or the first of them that is missing.
fn find(client: &Client) -> Result<Found, &'static str> {
    let mut found = Found { programs: Vec::new(), modules: Vec::new(), settings: Vec::new() };
    for program in [client.program].iter().chain(client.also) {
        found.programs.push(on_path(program).ok_or(*program)?);
    }
    if client.program == "java"
        && let Ok(java) = found.programs[0].canonicalize_utf8()
        && let Some(home) = java.ancestors().nth(2)
    {
        let conf = home.join("conf");
        found.settings.extend([Some(home.to_owned()), conf.canonicalize_utf8().ok()].into_iter().flatten());
        // Some of it are links to files elsewhere.
        let linked = fs::read_dir(&conf).into_iter().flatten().flatten();
        let linked =
            linked.filter_map(|entry| Utf8PathBuf::from_path_buf(entry.path().canonicalize().ok()?).ok());
        found.settings.extend(linked.filter_map(|path| path.parent().map(Utf8Path::to_owned)));
        found.settings.sort();
        found.settings.dedup();
        let inside = |path: &Utf8PathBuf, all: &[Utf8PathBuf]| {
            all.iter().any(|other| path != other && path.starts_with(other))
        };
        let all = found.settings.clone();
        found.settings.retain(|path| !inside(path, &all));
    }
    if let Some(module) = client.module {
        let runs = Command::new(&found.programs[0]).args(["-c", &format!("import {module}")]).output();
        if !runs.is_ok_and(|ran| ran.status.success()) {
            return Err(module);
        }
        let path = std::env::var("PYTHONPATH").unwrap_or_default();
        found.modules = path.split(':').filter(|part| !part.is_empty()).map(Utf8PathBuf::from).collect();
    }
    Ok(found)
}

fn on_path(program: &str) -> Option<Utf8PathBuf> {
    let path = std::env::var("PATH").ok()?;
    let found =
        path.split(':').map(|directory| Utf8Path::new(directory).join(program)).find(|it| it.is_file())?;
    // What starts the program that is meant, by whatever means of its own, has a word for where that is.
    let asked = match program {
        "python3" => Command::new(&found).args(["-c", "import sys; print(sys.executable)"]).output(),
        "cargo" => Command::new("rustup").args(["which", "cargo"]).output(),
        _ => return Some(found),
    };
    let told = asked
        .ok()
        .filter(|ran| ran.status.success())
        .map(|ran| String::from_utf8_lossy(&ran.stdout).trim().to_owned());
    Some(told.filter(|path| path.starts_with('/')).map_or(found, Utf8PathBuf::from))
}

fn check(client: &'static Client, way: Way, top: &Utf8Path) -> Result<(), Failed> {
    let found = find(client).map_err(|missing| format!("`{missing}` is gone"))?;
    let directory = tempfile::Builder::new().prefix("run-").tempdir_in(top)?;
    let base = Utf8Path::from_path(directory.path()).ok_or("a path that is no text")?;
    fs::create_dir(base.join("project"))?;
    let trust = top.join(TRUST);
    let (line, port) = match way {
        Way::Inspected => (client.inspected().ok_or("it speaks no TLS")?, TLS),
        _ => (client.line.to_owned(), client.port),
    };
    let trusting = way != Way::Inspected;
    fs::write(base.join("agent.palisade"), profile(&found, port, &trust, trusting))?;
    let palisade = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
        command.args(arguments).env_clear().current_dir(base.join("project")).stdin(Stdio::null());
        // By whom `exec` verifies servers.
        command.env("SSL_CERT_FILE", trust.join(AUTHORITY));
        command.env("HOME", base).output()
    };
    let compiled = palisade(&["compile", "../agent.palisade"])?;
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned().into());
    }
    let seen = Seen(top.join("book").into());
    for host in [GOOD, EVIL] {
        seen.forget();
        let line = format!("{}{}", before(way), line.replace("HOST", host));
        let ran = palisade(&["exec", "../agent.manifest.yaml", "-c", &line])?;
        let lines = seen.lines();
        let reached = lines.iter().any(|line| line.starts_with(&format!("request {port} ")));
        let said = || format!("{}\n{lines:#?}", String::from_utf8_lossy(&ran.stderr));
        if host == GOOD && !reached {
            return Err(format!("it did not reach {host}: {}", said()).into());
        }
        if host == EVIL && !lines.is_empty() {
            return Err(format!("something arrived beyond: {}", said()).into());
        }
    }
    Ok(())
}

fn before(way: Way) -> &'static str {
    match way {
        Way::Proxy | Way::Inspected => "",
        Way::Capture => {
            "unset HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy grpc_proxy NO_PROXY no_proxy NODE_USE_ENV_PROXY ELECTRON_GET_USE_PROXY\n"
        }
    }
}

/// A profile that allows the one host to the program. Where it is `trusting`, it trusts the authority beyond in every way that there is; else
/// that authority is none of its business, and its connections are read.
fn profile(found: &Found, port: u16, trust: &Utf8Path, trusting: bool) -> String {
    let word = if trusting { "allow" } else { "inspect" };
    let port = if port == TLS { String::new() } else { format!(":{port}") };
    let mut text = format!(
        "edition 1\nprofile \"agent\" {{\n root \"$workspace\" read-write\n network only {{\n  {word} \"{GOOD}{port}\" # palisade: allow(authority-port) a server of the test\n }}\n needs tls\n tools @inspection @write\n"
    );
    for program in &found.programs {
        text.push_str(&format!(" tool \"{program}\"\n"));
    }
    for directory in found.modules.iter().chain(&found.settings) {
        text.push_str(&format!(" root \"{directory}\" read-only\n"));
    }
    let mut set = Vec::new();
    if !found.modules.is_empty() {
        let path: Vec<&str> = found.modules.iter().map(|path| path.as_str()).collect();
        set.push(("PYTHONPATH", path.join(":")));
    }
    if trusting {
        text.push_str(&format!(" root \"{trust}\" read-only\n"));
        set.extend(TRUSTED.map(|variable| (variable, format!("{trust}/{AUTHORITY}"))));
        set.push(("WGETRC", format!("{trust}/{WGET}")));
    }
    let set: String = set.iter().map(|(name, value)| format!("  set {name} \"{value}\"\n")).collect();
    format!("{text} env {{\n{set} }}\n}}\n")
}

/// The variables by which programs are told of an authority.
const TRUSTED: [&str; 9] = [
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
    "CARGO_HTTP_CAINFO",
    "DENO_CERT",
    "npm_config_cafile",
];
