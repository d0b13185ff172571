//! Where the dynamic loader looks for libraries, by the rules of ld.so(8), and of musl where that is the loader.

use crate::host::Host;
use camino::{Utf8Path, Utf8PathBuf};
use globset::GlobBuilder;
use std::collections::HashSet;

/// The largest configuration file that is read, in bytes.
const MAX_CONFIGURATION: usize = 1 << 16;
/// How many files are read: each `include` may bring in more.
const MAX_INCLUDED: usize = 256;

/// The word for a machine in multiarch directories (wiki.debian.org/Multiarch/Tuples).
pub fn triple(machine: &str) -> Option<&'static str> {
    Some(match machine {
        "x86_64" => "x86_64-linux-gnu",
        "x32" => "x86_64-linux-gnux32",
        "x86" => "i386-linux-gnu",
        "aarch64" => "aarch64-linux-gnu",
        "arm" => "arm-linux-gnueabihf",
        "riscv64" => "riscv64-linux-gnu",
        "powerpc64" => "powerpc64le-linux-gnu",
        "s390x" => "s390x-linux-gnu",
        "loongarch64" => "loongarch64-linux-gnu",
        _ => return None,
    })
}

/// The directories that are searched for every program of a machine, in order: those of `/etc/ld.so.conf`, from which ldconfig(8) makes the
/// loader's cache, then those built into it.
pub fn system_directories(host: &dyn Host, machine: &str, loader: Option<&Utf8Path>) -> Vec<Utf8PathBuf> {
    if let Some(path) = musl(host, machine, loader) {
        return path;
    }
    let mut directories = Vec::new();
    let mut seen = HashSet::new();
    configured(host, "/etc/ld.so.conf".into(), &mut seen, &mut directories);
    if let Some(triple) = triple(machine) {
        directories.extend([format!("/lib/{triple}").into(), format!("/usr/lib/{triple}").into()]);
    }
    directories.extend(["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(Utf8PathBuf::from));
    let mut seen = HashSet::new();
    directories.retain(|directory| directory.is_absolute() && seen.insert(directory.clone()));
    directories
}

/// musl reads one file and else uses `/lib:/usr/local/lib:/usr/lib` (`ldso/dynlink.c` of musl).
fn musl(host: &dyn Host, machine: &str, loader: Option<&Utf8Path>) -> Option<Vec<Utf8PathBuf>> {
    if !is_musl(loader) {
        return None;
    }
    let path = Utf8PathBuf::from(format!("/etc/ld-musl-{machine}.path"));
    let text = read(host, &path).unwrap_or_else(|| "/lib:/usr/local/lib:/usr/lib".to_owned());
    Some(text.split([':', '\n']).map(Utf8PathBuf::from).filter(|path| path.is_absolute()).collect())
}

pub fn is_musl(loader: Option<&Utf8Path>) -> bool {
    loader.and_then(Utf8Path::file_name).is_some_and(|name| name.starts_with("ld-musl-"))
}

fn read(host: &dyn Host, path: &Utf8Path) -> Option<String> {
    String::from_utf8(host.head(path, MAX_CONFIGURATION).ok()?).ok()
}

/// Reads one file of the loader's configuration, once. What cannot be read is left out, as ldconfig(8) does.
fn configured(
    host: &dyn Host,
    path: &Utf8Path,
    seen: &mut HashSet<Utf8PathBuf>,
    directories: &mut Vec<Utf8PathBuf>,
) {
    let Ok(found) = crate::host::resolve(host, path) else { return };
    if seen.len() == MAX_INCLUDED || !seen.insert(found.canonical.clone()) {
        return;
    }
    let Some(text) = read(host, &found.canonical) else { return };
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let mut words = line.split_whitespace();
        match words.next() {
            Some("include") => {
                for pattern in words {
                    let pattern = path.parent().unwrap_or(path).join(pattern);
                    for file in matching(host, &pattern) {
                        configured(host, &file, seen, directories);
                    }
                }
            }
            Some("hwcap") | None => {}
            Some(_) => {
                let words = line.split([' ', '\t', ':', ',']).filter(|word| !word.is_empty());
                // `DIRECTORY=TYPE` is an old form.
                directories
                    .extend(words.map(|word| Utf8PathBuf::from(word.split('=').next().unwrap_or(word))));
            }
        }
    }
}

/// The files that a pattern names, sorted as glob(3) does. Only the last component may hold wildcards.
fn matching(host: &dyn Host, pattern: &Utf8Path) -> Vec<Utf8PathBuf> {
    let (Some(directory), Some(name)) = (pattern.parent(), pattern.file_name()) else { return Vec::new() };
    let Ok(glob) = GlobBuilder::new(name).literal_separator(true).build() else { return Vec::new() };
    let glob = glob.compile_matcher();
    let Ok(found) = crate::host::resolve(host, directory) else { return Vec::new() };
    let names = host.read_dir(&found.canonical).unwrap_or_default();
    let visible =
        |name: &String| !name.starts_with('.') || pattern.file_name().is_some_and(|it| it.starts_with('.'));
    names
        .iter()
        .filter(|name| visible(name) && glob.is_match(name))
        .map(|name| directory.join(name))
        .collect()
}

/// One entry of `DT_RPATH` or `DT_RUNPATH` with its variables filled in (ld.so(8), "Rpath token expansion"). `$LIB` and `$PLATFORM`
/// differ between distributions, so they give several. An entry that is empty or relative hangs on the working directory and gives none.
pub fn expand(entry: &str, origin: &Utf8Path, machine: &str) -> Vec<Utf8PathBuf> {
    let mut paths = vec![entry.to_owned()];
    let mut fill = |name: &str, values: &[&str]| {
        for token in [format!("${{{name}}}"), format!("${name}")] {
            if paths.iter().any(|path| path.contains(&token)) {
                let filled = |path: &String| {
                    values.iter().map(|value| path.replace(&token, value)).collect::<Vec<_>>()
                };
                paths = paths.iter().flat_map(filled).collect();
            }
        }
    };
    fill("ORIGIN", &[origin.as_str()]);
    let multiarch = triple(machine).map(|triple| format!("lib/{triple}"));
    let lib: Vec<&str> = multiarch.as_deref().into_iter().chain(["lib64", "lib"]).collect();
    fill("LIB", &lib);
    fill("PLATFORM", &[machine]);
    paths
        .into_iter()
        .filter(|path| path.starts_with('/') && !path.contains('$'))
        .map(Utf8PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::RecordedHost;

    #[test]
    fn reads_included_files_in_order() {
        let host = RecordedHost::from_yaml(
            "system: linux\narchitecture: x86_64\nhome: /h\nunlisted: missing\nentries:\n  \
             /etc/ld.so.conf: { head: \"/opt/first # why\\ninclude ld.so.conf.d/*.conf\\nhwcap 1 x\\n/opt/last=libc6\\n\" }\n  \
             /etc/ld.so.conf.d/b.conf: { head: \"/opt/b:/opt/b2\" }\n  \
             /etc/ld.so.conf.d/a.conf: { head: \"/opt/a\\ninclude /etc/ld.so.conf\\nrelative\" }\n  \
             /etc/ld.so.conf.d/c.txt: { head: /opt/c }\n",
            "test",
        )
        .unwrap();
        let found = system_directories(&host, "x86_64", None);
        let found: Vec<_> = found.iter().map(|it| it.as_str()).take(6).collect();
        assert_eq!(found[..1], ["/opt/first"]);
        let place = |path: &str| found.iter().position(|it| *it == path).unwrap_or(usize::MAX);
        assert!(place("/opt/a") < place("/opt/b") && place("/opt/b") < place("/opt/b2"));
        assert!(!found.contains(&"/opt/c") && !found.contains(&"relative"));
        let musl = system_directories(&host, "x86_64", Some("/lib/ld-musl-x86_64.so.1".into()));
        assert_eq!(musl, ["/lib", "/usr/local/lib", "/usr/lib"]);
    }

    #[test]
    fn fills_in_tokens_and_drops_what_hangs_on_the_working_directory() {
        assert_eq!(expand("$ORIGIN/../lib", "/opt/x/bin".into(), "x86_64"), ["/opt/x/bin/../lib"]);
        assert_eq!(expand("${ORIGIN}", "/o".into(), "x86_64"), ["/o"]);
        let lib = expand("/a/$LIB", "/o".into(), "x86_64");
        assert_eq!(lib, ["/a/lib/x86_64-linux-gnu", "/a/lib64", "/a/lib"]);
        for entry in ["", "lib", "./x", "$OTHER/x"] {
            assert_eq!(expand(entry, "/o".into(), "x86_64"), Vec::<Utf8PathBuf>::new());
        }
    }
}
