use super::*;
use crate::host::{LiveHost, RecordedHost};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

/// Every question about a path.
fn all(host: &dyn Host, path: &Utf8Path) -> String {
    let entry = host.lstat(path).map(|entry| entry.map(|entry| Entry { modified: 0, ..entry }));
    format!(
        "{path}\n{entry:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}",
        host.read_dir(path),
        host.head(path, 3),
        host.head(path, 64),
        host.digest(path),
        host.binary(path)
    )
}

#[test]
fn a_recording_answers_as_the_machine_did() {
    let directory = tempfile::tempdir().unwrap();
    let base = Utf8Path::from_path(directory.path()).unwrap().canonicalize_utf8().unwrap();
    for text in ["", "a: b\n\t\u{7f}\u{85}\u{feff}'\"# x", "-> not a link", "none", "\r\n  \n", "1e3"] {
        fs::write(base.join(format!("text {:?}", text.len())), text).unwrap();
    }
    fs::write(base.join("bytes"), b"\x7f\x00\xff\xfe").unwrap();
    fs::write(base.join("cut"), "ab\u{e9}").unwrap();
    fs::write(base.join("long"), "x".repeat(100)).unwrap();
    fs::write(base.join("elf"), b"\x7fELF\x02\x01\x01 not really").unwrap();
    fs::hard_link(base.join("long"), base.join("other name")).unwrap();
    fs::create_dir_all(base.join("dir/inner")).unwrap();
    symlink("dir/inner", base.join("link")).unwrap();
    symlink("- {}", base.join("odd: name")).unwrap();
    fs::create_dir(base.join("not-utf8")).unwrap();
    fs::write(base.join("not-utf8").into_std_path_buf().join(std::ffi::OsStr::from_bytes(b"\xff")), "")
        .unwrap();
    fs::create_dir(base.join("locked")).unwrap();
    fs::set_permissions(base.join("locked"), fs::Permissions::from_mode(0o000)).unwrap();
    // rustix makes none on a Mac.
    #[cfg(target_os = "linux")]
    rustix::fs::mkfifoat(rustix::fs::CWD, base.join("fifo").as_std_path(), rustix::fs::Mode::RUSR).unwrap();

    let host = LiveHost::with_home(&base).unwrap();
    let mut paths: Vec<_> = host.read_dir(&base).unwrap().iter().map(|name| base.join(name)).collect();
    paths.extend(
        ["missing", "missing/below", "long/below", "link/x", "locked/key"].map(|name| base.join(name)),
    );
    paths.push(base.clone());
    let record = || {
        let recorder = Recorder::new(&host);
        let answers: Vec<_> = paths.iter().map(|path| all(&recorder, path)).collect();
        (answers, recorder.recording().unwrap())
    };
    let (answers, text) = record();
    let replayed = RecordedHost::from_yaml(&text, "test").unwrap();
    for (path, answer) in paths.iter().zip(&answers) {
        assert_eq!(*answer, all(&host, path), "the recorder changed an answer");
        assert_eq!(*answer, all(&replayed, path), "{text}");
    }
    assert_eq!(text, record().1, "two recordings differ");
    fs::set_permissions(base.join("locked"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_recording_of_a_recording_is_the_same() {
    let text = "system: macos\narchitecture: aarch64\nhome: /Users/dev\ncase-insensitive: true\n\
                developer-directory: /Library/Developer/CommandLineTools\nunlisted: missing\nentries:\n  \
                /Users/dev/A: { head: x, binary: { needed: [/usr/lib/libSystem.B.dylib] } }\n  /Users/dev/l: unreadable\n";
    let host = RecordedHost::from_yaml(text, "test").unwrap();
    let paths = ["/users/dev/a", "/Users/dev/l", "/users/DEV/NONE", "/users"].map(Utf8Path::new);
    let first = Recorder::new(&host);
    let answers = paths.map(|path| (first.lstat(path), first.head(path, 9).ok(), first.binary(path).ok()));
    let first = first.recording().unwrap();
    let replayed = RecordedHost::from_yaml(&first, "test").unwrap();
    assert_eq!(replayed.lstat("/Users/dev/none".into()), Ok(None));
    let second = Recorder::new(&replayed);
    assert_eq!(
        answers,
        paths.map(|path| (second.lstat(path), second.head(path, 9).ok(), second.binary(path).ok()))
    );
    assert_eq!(second.developer_directory(), host.developer_directory());
    assert_eq!(first, second.recording().unwrap());
}

#[test]
fn the_longest_look_at_a_file_is_kept() {
    let text = "system: linux\narchitecture: x86_64\nhome: /h\nunlisted: missing\nentries:\n  /f: { head: abcdef }\n";
    let host = RecordedHost::from_yaml(text, "test").unwrap();
    let recorder = Recorder::new(&host);
    for limit in [2, 4, 1] {
        assert_eq!(recorder.head("/f".into(), limit).unwrap().len(), limit);
    }
    let replayed = RecordedHost::from_yaml(&recorder.recording().unwrap(), "test").unwrap();
    assert_eq!(replayed.head("/f".into(), 4).unwrap(), b"abcd");
    assert_eq!(replayed.head("/f".into(), 5), Err(HostError::NotRecorded("/f".into())));
}
