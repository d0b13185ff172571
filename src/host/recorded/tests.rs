use super::*;

const HEAD: &str = "system: linux\narchitecture: x86_64\nhome: /home/dev\n";

fn by_hand(entries: &str) -> Result<RecordedHost, RecordingError> {
    let lines: String = entries.lines().map(|line| format!("  {line}\n")).collect();
    RecordedHost::from_yaml(&format!("{HEAD}unlisted: missing\nentries:\n{lines}"), "test")
}

#[test]
fn words_and_fields_have_sensible_defaults() {
    let host = by_hand(
        "/w/.env: file\n/w/link: -> target\n/w/sock: socket\n/bin/tool: program\n/lib/x.so: library\n\
         /w/shared: { links: 2, inode: 7, mode: \"0600\", head: abc }\n/w/gone: missing",
    )
    .unwrap();
    let entry = |path: &str| host.lstat(path.into()).unwrap().unwrap();
    assert_eq!((entry("/w/.env").mode, entry("/w/.env").links), (0o644, 1));
    assert_eq!(entry("/w/link").kind, Kind::Symlink("target".into()));
    assert_eq!(entry("/w/sock").kind, Kind::Socket);
    assert!(entry("/bin/tool").is_executable() && !entry("/lib/x.so").is_executable());
    assert_eq!(host.binary("/lib/x.so".into()).unwrap().unwrap().machine, "x86_64");
    assert_eq!((entry("/w/shared").size, entry("/w/shared").identity), (3, Identity { device: 1, inode: 7 }));
    assert_ne!(entry("/w/.env").identity, entry("/w").identity);
    assert!(entry("/w").is_directory() && entry("/").is_directory());
    assert_eq!(host.lstat("/w/gone".into()), Ok(None));
    assert_eq!(host.lstat("/w/.env/below".into()), Ok(None));
    assert_eq!(host.read_dir("/w".into()).unwrap(), [".env", "link", "shared", "sock"]);
    assert_eq!(host.head("/w/shared".into(), 2).unwrap(), b"ab");
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(host.digest("/w/shared".into()).unwrap(), digest);
    assert_eq!(host.binary("/w/shared".into()), Ok(None));
}

#[test]
fn what_was_not_recorded_is_not_known() {
    let text = format!(
        "{HEAD}entries:\n  /w: {{ kind: directory, names: [a, b] }}\n  /w/a: {{ kind: file, size: 9, head: four }}\n  /v/x: file\n"
    );
    let host = RecordedHost::from_yaml(&text, "test").unwrap();
    let unknown = |error: HostError| matches!(error, HostError::NotRecorded(_));
    assert!(unknown(host.lstat("/w/b".into()).unwrap_err()));
    assert!(unknown(host.lstat("/v/y".into()).unwrap_err()));
    assert!(unknown(host.lstat("/elsewhere".into()).unwrap_err()));
    assert!(unknown(host.read_dir("/v".into()).unwrap_err()));
    assert!(unknown(host.digest("/w/a".into()).unwrap_err()));
    assert!(unknown(host.binary("/w/a".into()).unwrap_err()));
    assert_eq!(host.head("/w/a".into(), 4).unwrap(), b"four");
    assert!(unknown(host.head("/w/a".into(), 5).unwrap_err()));
    // A complete listing says what is not there.
    assert_eq!(host.lstat("/w/c".into()), Ok(None));
    assert_eq!(host.lstat("/w/a/below".into()), Ok(None));
}

#[test]
fn an_unreadable_path_refuses_every_question_and_hides_what_is_below() {
    let host = by_hand("/w/locked: unreadable").unwrap();
    let path = Utf8Path::new("/w/locked");
    let denied = Err(HostError::Denied(path.into()));
    assert_eq!(host.lstat(path), denied.clone());
    assert_eq!(host.read_dir(path), Err(HostError::Denied(path.into())));
    assert_eq!(host.digest(path), Err(HostError::Denied(path.into())));
    assert_eq!(host.lstat("/w/locked/key".into()), Err(HostError::Denied("/w/locked/key".into())));
}

#[test]
fn follows_links_in_the_parents_of_what_is_asked() {
    let host = by_hand("/lib: -> usr/lib\n/usr/lib/x.so: library\n/dangling: -> nowhere").unwrap();
    assert!(host.lstat("/lib/x.so".into()).unwrap().unwrap().is_file());
    assert!(host.binary("/lib/x.so".into()).unwrap().is_some());
    assert_eq!(host.lstat("/dangling/x".into()), Ok(None));
}

#[test]
fn refuses_what_would_be_ignored() {
    for (entries, said) in [
        ("/w/a: { sise: 3 }", "unknown field"),
        ("/w/a: flie", "unknown word"),
        ("w/a: file", "not an absolute path"),
        ("/w/../a: file", "not normalised"),
        ("/w/a/: file", "not normalised"),
        ("/w/a: file\n/w/a: directory", "stands twice"),
        ("/w/a: file\n/w/a/b: file", "not a directory"),
        ("/w/a: -> b\n/w/a/b: file", "not a directory"),
        ("/w/a: { mode: 755 }", "mode"),
        ("/w/a: { mode: \"0999\" }", "octal"),
        ("/w/a: { kind: symlink }", "target"),
        ("/w/a: { kind: directory, head: x }", "not a file"),
        ("/w/a: { kind: file, names: [] }", "not a directory"),
        ("/w/a: { head-hex: 0g }", "hexadecimal"),
        ("/w/a: { sha256: abc }", "64"),
        ("/w/a: { binary: { nedeed: [] } }", "unknown field"),
    ] {
        let error = by_hand(entries).unwrap_err().to_string();
        assert!(error.contains(said), "{entries}: {error}");
    }
    let twins =
        HEAD.replace("linux", "macos") + "case-insensitive: true\nentries:\n  /w/a: file\n  /w/A: file\n";
    assert!(RecordedHost::from_yaml(&twins, "test").unwrap_err().to_string().contains("one path"));
}
