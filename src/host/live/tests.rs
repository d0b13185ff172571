use super::*;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

fn base() -> (tempfile::TempDir, Utf8PathBuf, LiveHost) {
    let directory = tempfile::tempdir().unwrap();
    let base = Utf8Path::from_path(directory.path()).unwrap().canonicalize_utf8().unwrap();
    let host = LiveHost::with_home(&base).unwrap();
    (directory, base, host)
}

#[test]
fn a_relative_home_is_refused_and_slashes_are_dropped() {
    assert!(matches!(LiveHost::with_home("home/dev".into()), Err(LiveError::Home(_))));
    assert!(matches!(LiveHost::with_home("".into()), Err(LiveError::Home(_))));
    assert_eq!(LiveHost::with_home("/home//dev/".into()).unwrap().home(), "/home/dev");
}

#[test]
fn only_regular_files_are_opened_and_nothing_waits() {
    let (_directory, base, host) = base();
    // rustix makes none on a Mac.
    #[cfg(target_os = "linux")]
    rustix::fs::mkfifoat(rustix::fs::CWD, base.join("fifo").as_std_path(), Mode::RUSR).unwrap();
    fs::write(base.join("file"), "x").unwrap();
    symlink("file", base.join("link")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(base.join("socket")).unwrap();
    for name in ["fifo", "link", "socket", "missing", "."] {
        let path = base.join(name);
        for error in [
            host.head(&path, 9).unwrap_err(),
            host.digest(&path).unwrap_err(),
            host.binary(&path).unwrap_err(),
        ] {
            assert!(matches!(error, HostError::Other { .. }), "{name}: {error}");
        }
    }
    #[cfg(target_os = "linux")]
    assert_eq!(host.lstat(&base.join("fifo")).unwrap().unwrap().kind, Kind::Fifo);
    assert_eq!(host.lstat(&base.join("socket")).unwrap().unwrap().kind, Kind::Socket);
    assert_eq!(host.lstat(&base.join("link")).unwrap().unwrap().kind, Kind::Symlink("file".into()));
    assert_eq!(host.lstat(&base.join("file/below")), Ok(None));
    let digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    assert_eq!(host.digest(&base.join("file")).unwrap(), digest);
    assert_eq!(host.binary(&base.join("file")), Ok(None));
}

#[test]
fn lists_sorted_and_names_what_is_not_utf8() {
    let (_directory, base, host) = base();
    for name in ["b", "a", "C"] {
        fs::write(base.join(name), "").unwrap();
    }
    assert_eq!(host.read_dir(&base).unwrap(), ["C", "a", "b"]);
    fs::write(base.as_std_path().join(std::ffi::OsStr::from_bytes(b"d\xff\n")), "").unwrap();
    assert_eq!(host.read_dir(&base), Err(HostError::NotUtf8(base.join(r"d\xff\n"))));
}

#[test]
fn a_sparse_giant_has_no_digest() {
    let (_directory, base, host) = base();
    fs::File::create(base.join("giant")).unwrap().set_len(MAX_DIGESTED + 1).unwrap();
    assert!(matches!(host.digest(&base.join("giant")), Err(HostError::Other { .. })));
}

#[cfg(target_os = "linux")]
#[test]
fn links_that_the_kernel_makes_up_are_not_believed() {
    let (_directory, _, host) = base();
    for path in ["/proc/self", "/proc/thread-self/root", "/proc/thread-self/cwd"] {
        if let Ok(Some(entry)) = host.lstat(path.into()) {
            panic!("{path}: {entry:?}");
        }
    }
}

#[test]
fn the_developer_directory_is_one_sound_line() {
    let read = |output: &str| developer_directory_in(output.as_bytes()).map(Utf8PathBuf::into_string);
    let tools = "/Library/Developer/CommandLineTools";
    assert_eq!(read(&format!("{tools}\n")).as_deref(), Some(tools));
    assert_eq!(read(&format!("{tools}/\n")).as_deref(), Some(tools));
    assert_eq!(
        read("/Applications/Xcode beta.app/Contents/Developer\n").as_deref(),
        Some("/Applications/Xcode beta.app/Contents/Developer")
    );
    for output in ["", "\n", "/\n", "/a", "relative\n", "/a/../b\n", "/a\n/b\n", "/a\0b\n"] {
        assert_eq!(read(output), None, "{output:?}");
    }
    assert_eq!(developer_directory_in(b"/\xff\n"), None);
}
