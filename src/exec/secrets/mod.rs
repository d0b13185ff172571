//! Where the values of masked variables come from. Nothing here prints one, and each stays in one place, which is wiped when it is let go.

mod placeholder;

use super::Refusal;
use crate::host::Mount;
use crate::network::inspect::Secret;
use crate::plan::{Decider, Operation, OriginKind, names};
use crate::policy::HostPattern;
use crate::sys::erase_variable;
use camino::Utf8PathBuf;
use placeholder::placeholder;
use rustix::fd::BorrowedFd;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use zeroize::{Zeroize as _, Zeroizing};

/// The fewest and the most characters of a value. What is shorter may stand anywhere by chance; what is longer, no server takes as a header.
const LENGTHS: std::ops::RangeInclusive<usize> = 12..=8192;
/// Deeper than anything here calls.
const STACK: usize = 128 << 10;
/// What reads the line of a `--secret-command`.
const SHELL: &str = "/bin/sh";

/// Where the value of a masked variable is to be taken from, other than the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// What a file holds, but for one line break at its end.
    File(PathBuf),
    /// What a line of the shell writes to standard output, but for one line break at its end. It is run outside the walls.
    Command(String),
}

/// A source and the variable it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    pub name: String,
    pub source: Source,
}

/// A masked variable as the manifest has it.
#[derive(Debug, Clone)]
pub struct Masked {
    pub name: String,
    pub hosts: Vec<HostPattern>,
}

/// The values, and what is to be said of how they are kept.
#[derive(Debug, Default)]
pub struct Values {
    pub secrets: Vec<Secret>,
    pub warnings: Vec<super::Note>,
}

/// Takes the value of each masked variable from where it is said to be, and from the caller's environment where nothing is said. What that has
/// of them is wiped: no process that is made later has a copy.
///
/// # Errors
/// A value that is missing or that no header can carry; a source for what is not masked, or a second one.
pub fn take(masked: Vec<Masked>, given: &[Given]) -> Result<Values, Refusal> {
    for (at, Given { name, source }) in given.iter().enumerate() {
        if !masked.iter().any(|masked| masked.name == *name) {
            let help = match masked.is_empty() {
                true => "the profile masks no variable".to_owned(),
                false => format!("it masks {}", list(masked.iter().map(|masked| masked.name.as_str()))),
            };
            // What is written for a name may be the value itself, put there by mistake.
            let what = "a value is given for a variable that the manifest does not mask";
            let option = match source {
                Source::File(_) => "--secret-file",
                Source::Command(_) => "--secret-command",
            };
            return Err(refusal(
                option,
                what,
                format!("leave it out, or state `mask NAME for \"HOST\"` in `env`: {help}"),
            ));
        }
        if given.iter().skip(at + 1).any(|other| other.name == *name) {
            return Err(refusal(name, "its value is given twice", "state one source".to_owned()));
        }
    }
    let mut values = Values::default();
    for Masked { name, hosts } in masked {
        let source = given.iter().find(|given| given.name == name).map(|given| &given.source);
        let value = match source {
            None => of_variable(&name)?,
            Some(Source::File(path)) => of_file(&name, path, &mut values.warnings)?,
            Some(Source::Command(line)) => of_command(&name, line)?,
        };
        erase_variable(&name).map_err(Refusal::system(format!("cannot wipe `{name}`")))?;
        check(&name, &value)?;
        let others: Vec<&str> = values.secrets.iter().map(|secret| secret.placeholder.as_str()).collect();
        let placeholder = placeholder(&value, &others).map_err(|error| {
            let help = "only what is random enough can be told from everything else that is sent; pass it with `pass` if it is no secret";
            refusal(&name, &format!("its value {error}"), help.to_owned())
        })?;
        values.secrets.push(Secret { name, placeholder, value, hosts });
    }
    Ok(values)
}

/// Sees to it that the command cannot read a value where it is kept.
///
/// # Errors
/// A file that it could.
pub fn keep_apart(given: &[Given], decider: &Decider<'_>, mounts: &[Mount]) -> Result<(), Refusal> {
    for Given { name, source } in given {
        let Source::File(path) = source else { continue };
        if is_stream(path) {
            let help = "the command has that: give it another one, as `</dev/null`";
            return Err(refusal(name, "its file is a standard stream", help.to_owned()));
        }
        // What is not there, or is no text, is told of when it is read.
        let Some(real) = path.canonicalize().ok().and_then(|real| Utf8PathBuf::from_path_buf(real).ok())
        else {
            continue;
        };
        let readable = |path: &Utf8PathBuf| {
            let decision = decider.decide(Operation::Read, path);
            // The command's private directories hide this machine's.
            let hidden = decision.rule.is_some_and(|rule| rule.origin.kind == OriginKind::Scratch);
            decision.allowed && !hidden
        };
        // Also by what is mounted elsewhere.
        if names(mounts, &real).iter().any(readable) {
            let what = format!("the command may read its file `{}` itself", path.display());
            let help = "keep it outside of the roots, or deny it in the profile".to_owned();
            return Err(refusal(name, &what, help));
        }
    }
    Ok(())
}

/// Whether one of the standard streams, which the command is given, is this file.
fn is_stream(path: &Path) -> bool {
    let Ok(found) = std::fs::metadata(path) else { return false };
    let streams = [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()];
    let described = |stream: BorrowedFd<'_>| File::from(stream.try_clone_to_owned().ok()?).metadata().ok();
    let same = |stream: std::fs::Metadata| (stream.dev(), stream.ino()) == (found.dev(), found.ino());
    found.is_file() && streams.into_iter().filter_map(described).any(same)
}

/// Overwrites what functions that have returned left of values on the stack: what they had in registers is put there now and then, and
/// nobody wipes that.
#[inline(never)]
pub fn wipe_stack() {
    let mut left = [0u8; STACK];
    left.zeroize();
    std::hint::black_box(&mut left);
}

fn refusal(name: &str, what: &str, help: String) -> Refusal {
    Refusal::Secret { name: name.to_owned(), what: what.to_owned(), help }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn of_variable(name: &str) -> Result<Zeroizing<String>, Refusal> {
    match std::env::var_os(name) {
        None => {
            let help = format!(
                "set it for `palisade`, or give `--secret-file {name}=PATH` or `--secret-command {name}=COMMAND`"
            );
            Err(refusal(name, "it is masked, and is not set", help))
        }
        Some(value) => match value.into_string() {
            Ok(value) => Ok(Zeroizing::new(value)),
            Err(value) => {
                use std::os::unix::ffi::OsStringExt as _;
                drop(Zeroizing::new(value.into_vec()));
                Err(unprintable(name))
            }
        },
    }
}

fn of_file(name: &str, path: &Path, warnings: &mut Vec<super::Note>) -> Result<Zeroizing<String>, Refusal> {
    let shown = path.display();
    let help = || format!("give `--secret-file {name}=PATH` a file that you may read");
    let unreadable =
        |error: io::Error| refusal(name, &format!("its file `{shown}` cannot be read: {error}"), help());
    // What is opened could be a pipe, which opening would wait for. What is no path may be the value itself, put there by mistake.
    let found = std::fs::metadata(path)
        .map_err(|error| refusal(name, &format!("its file cannot be read: {error}"), help()))?;
    let kind = found.file_type();
    if !found.is_file() {
        let what = if kind.is_dir() {
            "a directory"
        } else if kind.is_fifo() {
            "a pipe"
        } else {
            "no regular file"
        };
        let help = format!("write the value to a file, or give `--secret-command {name}=COMMAND`");
        return Err(refusal(name, &format!("its file `{shown}` is {what}"), help));
    }
    if found.nlink() > 1 {
        let help = "by the other the command might read it: keep it in a file that has one name";
        return Err(refusal(name, &format!("its file `{shown}` has another hard link"), help.to_owned()));
    }
    if found.permissions().mode() & 0o077 != 0 {
        warnings.push(super::Note {
            message: format!("`{shown}`, which holds the value of `{name}`, may be read by others"),
            help: Some(format!("chmod 600 {shown}")),
        });
    }
    let file = File::open(path).map_err(unreadable)?;
    text(name, read(file).map_err(unreadable)?)
}

fn of_command(name: &str, line: &str) -> Result<Zeroizing<String>, Refusal> {
    let failed = |what: String| {
        let help = format!(
            "run it by itself to see why: standard error has what it said (`--secret-command {name}=…`)"
        );
        refusal(name, &format!("its command {what}"), help)
    };
    // What is typed is for the command behind the walls.
    let mut child = Command::new(SHELL)
        .args(["-c", line])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("cannot be run: {error}")))?;
    let read = match child.stdout.take() {
        Some(output) => read(output),
        None => Err(io::ErrorKind::BrokenPipe.into()),
    };
    let status = child.wait().map_err(|error| failed(format!("cannot be waited for: {error}")))?;
    let value = read.map_err(|error| failed(format!("cannot be read from: {error}")))?;
    if value.len() > *LENGTHS.end() + 1 {
        return Err(long(name));
    }
    if !status.success() {
        return Err(failed(format!("failed ({status})")));
    }
    text(name, value)
}

/// As much as is needed to see that it is too long, into memory that does not move.
fn read(from: impl Read) -> io::Result<Zeroizing<Vec<u8>>> {
    let most = LENGTHS.end() + 2;
    let mut value = Zeroizing::new(vec![0; most]);
    let mut from = from.take(most as u64);
    let mut length = 0;
    loop {
        match from.read(value.get_mut(length..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    value.truncate(length);
    Ok(value)
}

/// Without the line break that editors and programs put at the end.
fn text(name: &str, bytes: Zeroizing<Vec<u8>>) -> Result<Zeroizing<String>, Refusal> {
    let text = std::str::from_utf8(&bytes).map_err(|_| unprintable(name))?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    Ok(Zeroizing::new(text.strip_suffix('\r').unwrap_or(text).to_owned()))
}

fn unprintable(name: &str) -> Refusal {
    let help = "a header can carry only printable ASCII, in one line, without a space at either end: take care that the source has nothing but the value";
    refusal(name, "its value cannot stand in a header", help.to_owned())
}

fn long(name: &str) -> Refusal {
    refusal(
        name,
        "its value is longer than 8 KiB",
        "servers refuse headers of that size: give the token alone".to_owned(),
    )
}

fn check(name: &str, value: &str) -> Result<(), Refusal> {
    if value.is_empty() {
        let help =
            format!("set it, or give `--secret-file {name}=PATH` or `--secret-command {name}=COMMAND`");
        return Err(refusal(name, "its value is empty", help));
    }
    if !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) || value.trim() != value {
        return Err(unprintable(name));
    }
    if value.len() > *LENGTHS.end() {
        return Err(long(name));
    }
    if value.len() < *LENGTHS.start() {
        let help = "what is so short can stand anywhere by chance; pass it with `pass` if it is no secret"
            .to_owned();
        return Err(refusal(
            name,
            &format!("its value is shorter than {} characters", LENGTHS.start()),
            help,
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::mounts::parse;
    use crate::plan::{Effect, Operations, Origin, Rule, Scope, Spelling};

    #[test]
    fn a_file_that_a_mount_shows_in_a_root_is_not_kept_apart() {
        let directory = tempfile::tempdir().unwrap();
        let top = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
        let file = top.join("out/token");
        std::fs::create_dir(top.join("out")).unwrap();
        std::fs::write(&file, "x").unwrap();
        let rules = [Rule {
            effect: Effect::Allow,
            operations: Operations::READING,
            scope: Scope::Subtree,
            path: top.join("root"),
            origin: Origin { kind: OriginKind::Root, text: String::new(), span: None },
        }];
        let decider = Decider::new(&rules, Spelling::Exact);
        let given = [Given { name: "TOKEN".into(), source: Source::File(file.into()) }];
        let own = "1 0 8:1 / / rw - ext4 /dev/a rw";
        let apart = |table: &str| keep_apart(&given, &decider, &parse(table.as_bytes())).is_ok();
        assert!(apart(own));
        assert!(!apart(&format!("{own}\n2 1 8:1 {top}/out {top}/root/x rw - ext4 /dev/a rw")));
        assert!(!apart(&format!("{own}\n2 1 8:1 {top}/out/token {top}/root/x rw - ext4 /dev/a rw")));
        assert!(apart(&format!("{own}\n2 1 8:1 {top}/out {top}/elsewhere rw - ext4 /dev/a rw")));
    }
}
