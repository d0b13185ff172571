//! The command's whole environment: nothing of the caller's but what the profile passes on.

use crate::bind::Binding;
use crate::bind::system::HOME;
use crate::bind::tools::{self, Lookup, Tool};
use crate::host::Host;
use crate::plan::{Environment, MaskedVariable};
use crate::policy::{Access, Policy, System};
use camino::{Utf8Path, Utf8PathBuf};

/// Settings that keep programs from looking where they must not, or from waiting for an answer (git(1), gitattributes(5)).
const QUIET: [(&str, &str); 7] = [
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("RIPGREP_CONFIG_PATH", ""),
];

/// Builds it. What the profile sets or passes wins over what is set here.
pub fn build(host: &dyn Host, policy: &Policy, binding: &Binding, scratch: &Utf8Path) -> Environment {
    let mut environment = Environment::default();
    for (name, value) in QUIET {
        environment.set.insert(name.into(), value.into());
    }
    environment.set.insert("HOME".into(), HOME.into());
    environment.set.insert("PATH".into(), path(host, policy, binding));
    environment.set.insert("TMPDIR".into(), scratch.to_string());
    let writes =
        binding.usable_roots(policy).iter().any(|&(at, ..)| policy.roots[at].access == Access::ReadWrite);
    if policy.target == System::Linux && writes {
        // Where git looks for patterns of files to ignore: `exec` names there what it makes to stand for missing paths.
        environment.set.insert("XDG_CONFIG_HOME".into(), scratch.join(".config").into_string());
    }
    for (name, value) in developer(binding, scratch) {
        environment.set.insert(name.into(), value);
    }
    let states_locale = policy.env.iter().any(|entry| entry.name == "LANG" || entry.name.starts_with("LC_"));
    if !states_locale {
        environment.set.insert("LC_ALL".into(), "C".into());
    }
    for entry in &policy.env {
        match &entry.value {
            Some(value) => {
                environment.set.insert(entry.name.clone(), value.clone());
                environment.pass.retain(|name| *name != entry.name);
            }
            // What is set would win over the caller's value.
            None => {
                environment.set.remove(&entry.name);
                environment.pass.push(entry.name.clone());
            }
        }
    }
    for mask in &policy.masks {
        environment.set.remove(&mask.name);
        environment.mask.push(MaskedVariable {
            name: mask.name.clone(),
            hosts: mask.hosts.iter().map(|host| host.value.clone()).collect(),
            span: mask.span,
        });
    }
    environment.mask.sort_by(|a, b| a.name.cmp(&b.name));
    environment.pass.sort();
    environment.pass.dedup();
    environment
}

/// What xcrun(1) goes by, where a tool of the developer directory is granted: no other directory, and a cache of its own that is not in
/// the caller's temporary directory.
fn developer(binding: &Binding, scratch: &Utf8Path) -> Vec<(&'static str, String)> {
    let stated = binding.tool_paths.iter().map(|bound| &bound.lookup);
    let named = binding.tools.iter().map(|bound| &bound.lookup);
    let mut tools = stated.chain(named).filter_map(Lookup::tool);
    match tools.find_map(|tool| tool.developer_directory.as_ref()) {
        Some(directory) => {
            vec![("DEVELOPER_DIR", directory.to_string()), ("xcrun_db", scratch.join("xcrun_db").to_string())]
        }
        None => Vec::new(),
    }
}

/// The directories of the granted tools: of those stated by path, in the order in which they are stated; where those find interpreters of
/// scripts; of those named, in the order in which they are looked up; then those of the system's shell.
fn path(host: &dyn Host, policy: &Policy, binding: &Binding) -> String {
    let stated: Vec<&Tool> = binding.tool_paths.iter().filter_map(|bound| bound.lookup.tool()).collect();
    let named = binding.tools.iter().filter_map(|bound| bound.lookup.tool());
    // On a Mac the base system comes last, however its tools are stated: its shims must not stand before what they stand for.
    let last: &[&str] = match policy.target {
        System::Linux => &["/usr/bin", "/bin"],
        System::Macos => &["/usr/bin", "/bin", "/usr/sbin", "/sbin"],
    };
    let waits = |directory: &&Utf8Path| policy.target == System::Macos && last.contains(&directory.as_str());
    let mut known: Vec<&Utf8Path> = named.flat_map(directories_of).collect();
    known.sort_by_key(|directory| (tools::rank(policy.target, directory), *directory));
    let own = stated.iter().map(|tool| tool.directory.as_path());
    let further = stated.iter().flat_map(|tool| &tool.also_on_path).map(Utf8PathBuf::as_path);
    let mut directories: Vec<&Utf8Path> = Vec::new();
    for directory in
        own.chain(further).chain(known).filter(|it| !waits(it)).chain(last.iter().map(Utf8Path::new))
    {
        if !directories.contains(&directory) {
            directories.push(directory);
        }
    }
    for tool in stated.iter().filter(|tool| !waits(&tool.directory.as_path())) {
        bring_forward(host, binding, &mut directories, tool);
    }
    directories.iter().map(|directory| directory.as_str()).collect::<Vec<_>>().join(":")
}

/// Has a stated tool found before programs of its name that are not granted: some programs go by where they would be found first, and
/// whether they could run from there is not asked.
fn bring_forward<'a>(
    host: &dyn Host,
    binding: &Binding,
    directories: &mut Vec<&'a Utf8Path>,
    tool: &'a Tool,
) {
    let Some(name) = tool.path.file_name() else { return };
    let Some(at) = directories.iter().position(|directory| *directory == tool.directory) else { return };
    let stranger = |directory: &&Utf8Path| binding.is_stranger(host, &directory.join(name));
    if let Some(first) = directories.iter().take(at).position(stranger) {
        let own = directories.remove(at);
        directories.insert(first, own);
    }
}

fn directories_of(tool: &Tool) -> impl Iterator<Item = &Utf8Path> {
    std::iter::once(tool.directory.as_path()).chain(tool.also_on_path.iter().map(|path| path.as_path()))
}
