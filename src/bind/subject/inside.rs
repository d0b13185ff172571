//! A Linux machine as far as a command's own `/proc` differs from it: there a path leads to what belongs to whoever asks.

use crate::host::{Binary, Entry, Host, HostError, Identity, Kind, Mount};
use crate::policy::System;
use camino::Utf8Path;

/// Answers for the directories of processes in `/proc` itself (proc(5)); for everything else, what the host says.
pub struct Inside<'a> {
    pub host: &'a dyn Host,
    /// Where commands start.
    pub working_directory: Option<&'a Utf8Path>,
}

impl Inside<'_> {
    /// What stands at a path in the directory of a process; `None` for any other path.
    fn of_process(&self, path: &Utf8Path) -> Option<Result<Kind, HostError>> {
        let mut parts = path.strip_prefix("/proc").ok()?.components().map(|part| part.as_str()).peekable();
        let process = parts.next()?;
        if !matches!(process, "self" | "thread-self") && !is_number(process) {
            return None;
        }
        // A thread has a directory like that of its process.
        if parts.next_if_eq(&"task").is_some() {
            parts.next();
        }
        let rest: Vec<&str> = parts.collect();
        let other = |reason: &str| HostError::Other { path: path.to_path_buf(), reason: reason.to_owned() };
        Some(match rest.as_slice() {
            ["root"] => Ok(Kind::Symlink("/".into())),
            ["cwd"] => match self.working_directory {
                Some(directory) => Ok(Kind::Symlink(directory.to_path_buf())),
                None => Err(other("where it leads depends on the directory of the process")),
            },
            ["exe"] | ["fd" | "map_files" | "ns", _] => {
                Err(other("where it leads depends on the process: ask about the file itself"))
            }
            // A file or a directory: nothing here needs to know.
            _ => Ok(Kind::Directory),
        })
    }
}

fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

impl Host for Inside<'_> {
    fn system(&self) -> System {
        self.host.system()
    }

    fn architecture(&self) -> &str {
        self.host.architecture()
    }

    fn home(&self) -> &Utf8Path {
        self.host.home()
    }

    fn case_insensitive(&self) -> bool {
        self.host.case_insensitive()
    }

    fn lstat(&self, path: &Utf8Path) -> Result<Option<Entry>, HostError> {
        let Some(kind) = self.of_process(path) else { return self.host.lstat(path) };
        kind.map(|kind| {
            Some(Entry {
                kind,
                identity: Identity { device: 0, inode: 0 },
                links: 1,
                mode: 0o555,
                uid: 0,
                gid: 0,
                size: 0,
                modified: 0,
            })
        })
    }

    fn read_dir(&self, path: &Utf8Path) -> Result<Vec<String>, HostError> {
        self.host.read_dir(path)
    }

    fn head(&self, path: &Utf8Path, limit: usize) -> Result<Vec<u8>, HostError> {
        self.host.head(path, limit)
    }

    fn digest(&self, path: &Utf8Path) -> Result<String, HostError> {
        self.host.digest(path)
    }

    fn binary(&self, path: &Utf8Path) -> Result<Option<Binary>, HostError> {
        self.host.binary(path)
    }

    fn spelling(&self, directory: &Utf8Path, name: &str) -> Result<String, HostError> {
        self.host.spelling(directory, name)
    }

    fn mounts(&self) -> Result<Vec<Mount>, HostError> {
        self.host.mounts()
    }

    fn developer_directory(&self) -> Option<&Utf8Path> {
        self.host.developer_directory()
    }
}

/// The processes of the host that a path in its `/proc` names by number are not those of a command.
pub fn names_a_process(path: &Utf8Path) -> bool {
    let part = path.strip_prefix("/proc").ok().and_then(|below| below.components().next());
    part.is_some_and(|part| is_number(part.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::RecordedHost;
    use crate::host::resolve::resolve;
    use camino::Utf8PathBuf;

    #[test]
    fn what_a_process_has_in_proc_leads_where_it_leads_behind_the_walls() {
        let text = "{system: linux, architecture: x86_64, home: /h, unlisted: missing, \
                    entries: {/proc/version: file, /w/a: file, /etc/passwd: file, /dev/stdin: -> /proc/self/fd/0}}";
        let host = RecordedHost::from_yaml(text, "inside").unwrap();
        let inside = Inside { host: &host, working_directory: Some("/w".into()) };
        for (path, leads) in [
            ("/proc/self/environ", Some("/proc/self/environ")),
            ("/proc/self/task/7/status", Some("/proc/self/task/7/status")),
            ("/proc/self/root/etc/passwd", Some("/etc/passwd")),
            ("/proc/1/root/etc/passwd", Some("/etc/passwd")),
            ("/proc/thread-self/cwd/a", Some("/w/a")),
            ("/proc/version", Some("/proc/version")),
            ("/proc/self/exe", None),
            ("/dev/stdin", None),
        ] {
            let found = resolve(&inside, path.into()).ok().map(|found| found.canonical);
            assert_eq!(found, leads.map(Utf8PathBuf::from), "{path}");
        }
        assert!(names_a_process("/proc/12/environ".into()) && !names_a_process("/proc/self/environ".into()));
    }
}
