//! Recorded hosts, several at once.

use crate::report::{Problem, ProblemKind};
use camino::{Utf8Path, Utf8PathBuf};
use globset::GlobBuilder;
use std::collections::HashSet;
use std::path::PathBuf;
use walkdir::WalkDir;

/// Takes recordings out of the paths that are to be checked: a shell makes `--host a.yaml b.yaml` of `--host *.yaml`, and no profile has such a name.
/// Where no `--host` is given, nothing is taken.
pub fn taken_from(paths: &mut Vec<PathBuf>, hosts: &[Utf8PathBuf]) -> Vec<Utf8PathBuf> {
    let mut all = hosts.to_vec();
    if !hosts.is_empty() {
        paths.retain(|path| {
            let is_recording = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
            match Utf8PathBuf::from_path_buf(path.clone()) {
                Ok(path) if is_recording => {
                    all.push(path);
                    false
                }
                _ => true,
            }
        });
    }
    all
}

/// The recordings that are meant, each once, in the order given. A name with `*`, `?`, `[` or `{` in it, of which there is no file, is a pattern: not
/// everything that calls this program is a shell. `option` is where they were named.
pub fn named(hosts: &[Utf8PathBuf], option: &str, problems: &mut Vec<Problem>) -> Vec<Utf8PathBuf> {
    let mut all = Vec::new();
    for host in hosts {
        let is_pattern = host.as_str().contains(['*', '?', '[', '{']) && host.symlink_metadata().is_err();
        match is_pattern.then(|| matching(host)) {
            None => all.push(host.clone()),
            Some(Ok(found)) if !found.is_empty() => all.extend(found),
            Some(found) => {
                let message = match found {
                    Ok(_) => format!("no file matches `{option}{host}`"),
                    Err(error) => format!("`{option}{host}` is no pattern: {error}"),
                };
                problems.push(Problem::new(ProblemKind::Host, None, message));
            }
        }
    }
    let mut seen = HashSet::new();
    all.retain(|host| seen.insert(host.clone()));
    all
}

fn matching(pattern: &Utf8Path) -> Result<Vec<Utf8PathBuf>, globset::Error> {
    let matcher = GlobBuilder::new(pattern.as_str()).literal_separator(true).build()?.compile_matcher();
    let literal = |part: &camino::Utf8Component<'_>| !part.as_str().contains(['*', '?', '[', '{']);
    let base: Utf8PathBuf = pattern.components().take_while(literal).collect();
    let is_here = base.as_str().is_empty();
    let walk = WalkDir::new(if is_here { Utf8Path::new(".") } else { &base }).sort_by_file_name();
    let depth = pattern.components().count() - base.components().count();
    let walk = if pattern.as_str().contains("**") { walk } else { walk.max_depth(depth) };
    let files = walk.into_iter().flatten().filter(|entry| !entry.file_type().is_dir());
    let paths = files.filter_map(|entry| Utf8PathBuf::from_path_buf(entry.into_path()).ok());
    let paths = paths.map(|path| match path.strip_prefix(".") {
        Ok(plain) if is_here => plain.to_path_buf(),
        _ => path,
    });
    Ok(paths.filter(|path| matcher.is_match(path)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_among_the_paths_are_hosts_only_beside_a_host() {
        let paths = || vec![PathBuf::from("b.yaml"), PathBuf::from("policies"), PathBuf::from("c.yml")];
        let mut left = paths();
        let hosts = taken_from(&mut left, &["a.yaml".into()]);
        assert_eq!(hosts, ["a.yaml", "b.yaml", "c.yml"]);
        assert_eq!(left, [PathBuf::from("policies")]);
        let mut left = paths();
        assert!(taken_from(&mut left, &[]).is_empty());
        assert_eq!(left, paths());
    }

    #[test]
    fn patterns_are_spelled_out_and_never_mean_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(directory.path()).unwrap();
        for name in ["b.yaml", "a.yaml", "[c].yaml", "d.txt"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        std::fs::create_dir(root.join("deep")).unwrap();
        std::fs::write(root.join("deep/e.yaml"), "").unwrap();
        let mut problems = Vec::new();
        let mut given = |names: &[&str]| {
            let hosts: Vec<Utf8PathBuf> = names.iter().map(|name| root.join(name)).collect();
            let found = named(&hosts, "--host ", &mut problems);
            found.iter().map(|path| path.strip_prefix(root).unwrap().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(given(&["b.yaml", "*.yaml"]), ["b.yaml", "[c].yaml", "a.yaml"]);
        assert_eq!(given(&["[c].yaml"]), ["[c].yaml"]);
        assert_eq!(given(&["**/e.yaml"]), ["deep/e.yaml"]);
        assert_eq!(given(&["gone.yaml"]), ["gone.yaml"]);
        assert!(given(&["*.json", "{a"]).is_empty());
        assert_eq!(problems.len(), 2);
    }
}
