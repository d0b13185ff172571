//! The recorded machines that other tests rest on.

use camino::Utf8Path;
use palisade::host::{Host, Kind, RecordedHost, resolve};

fn debian() -> RecordedHost {
    RecordedHost::from_yaml(include_str!("hosts/debian.yaml"), "tests/hosts/debian.yaml").unwrap()
}

#[test]
fn the_standard_machine_is_what_examples_take_it_for() {
    let host = debian();
    let project = Utf8Path::new("/home/dev/project");
    let entry = |name: &str| host.lstat(&project.join(name)).unwrap();
    assert_eq!(entry("link-to-env").unwrap().kind, Kind::Symlink(".env".into()));
    assert_eq!(entry("shared.key").unwrap().links, 2);
    assert_eq!(
        entry("shared.key").unwrap().identity,
        host.lstat("/home/dev/.shared-keys/shared.key".into()).unwrap().unwrap().identity
    );
    assert_eq!(entry("missing"), None);
    assert!(entry("target").unwrap().is_directory());
    let awk = resolve(&host, "/bin/awk".into()).unwrap();
    assert_eq!((awk.canonical.as_str(), awk.hops.len()), ("/usr/bin/mawk", 3));
}
