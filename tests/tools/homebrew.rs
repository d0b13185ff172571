//! Homebrew's kegs and receipts.

use super::{found, mac_arm, mac_broken, mac_intel, may, reason, show, snapshot_named};
use palisade::bind::tools::{Finder, Lookup, find, find_path};
use palisade::host::RecordedHost;
use palisade::plan::Operation;

#[test]
fn what_formulas_are_given() {
    let host = mac_arm();
    let mut finder = Finder::new(&host);
    for name in ["git", "rg", "jq", "node", "python3", "pip3", "wrapped"] {
        snapshot_named(&format!("mac-homebrew-{name}"), &show(&finder.find(name)));
    }
}

#[test]
fn only_a_tools_own_kegs_can_be_read() {
    let rg = found(find(&mac_arm(), "rg"));
    assert_eq!(
        may(&rg, Operation::Read),
        [
            "/opt/homebrew/Cellar/pcre2/10.44/…",
            "/opt/homebrew/Cellar/ripgrep/14.1.1/…",
            "/opt/homebrew/Cellar/ripgrep/14.1.1/bin/rg",
            "/opt/homebrew/opt/pcre2",
            "/opt/homebrew/opt/ripgrep",
        ]
    );
    assert_eq!(may(&rg, Operation::Exec), ["/opt/homebrew/Cellar/ripgrep/14.1.1/bin/rg"]);
    assert_eq!(
        (rg.source.as_str(), rg.directory.as_str()),
        ("homebrew /opt/homebrew/Cellar/ripgrep/14.1.1", "/opt/homebrew/bin")
    );
    assert_eq!(rg.developer_directory, None);
}

#[test]
fn dependencies_of_dependencies_are_followed() {
    // git's receipt names gettext, and only gettext's names libunistring.
    let read = may(&found(find(&mac_arm(), "git")), Operation::Map);
    assert!(read.contains(&"/opt/homebrew/Cellar/libunistring/1.3/…".to_owned()), "{read:?}");
}

#[test]
fn certificates_are_read_and_keys_beside_them_are_not() {
    let read = may(&found(find(&mac_arm(), "node")), Operation::Read);
    assert!(read.contains(&"/opt/homebrew/etc/ca-certificates/cert.pem".to_owned()), "{read:?}");
    assert!(
        !read.iter().any(|path| path.contains("/private/") || path.ends_with("/etc/openssl@3/…")),
        "{read:?}"
    );
}

#[test]
fn the_interpreter_of_a_script_is_no_program_by_itself() {
    let pip = found(find(&mac_arm(), "pip3"));
    let python = "/opt/homebrew/Cellar/python@3.13/3.13.0_1/Frameworks/Python.framework/Versions/3.13";
    assert_eq!(pip.interpreter.as_deref(), Some(format!("{python}/bin/python3.13").as_str().into()));
    assert!(may(&pip, Operation::Interpret).contains(&format!("{python}/bin/python3.13")));
    assert_eq!(
        may(&pip, Operation::Exec),
        [format!("{python}/Resources/…"), "/opt/homebrew/Cellar/python@3.13/3.13.0_1/bin/pip3".to_owned()]
    );
}

#[test]
fn what_is_broken_says_how() {
    let host = mac_broken();
    assert_eq!(found(find(&host, "sound")).grants.len(), 3);
    for (name, said) in [
        (
            "unreadable",
            "Homebrew's receipt `/opt/homebrew/Cellar/unreadable/1.0/INSTALL_RECEIPT.json` may not be examined",
        ),
        ("no-receipt", "INSTALL_RECEIPT.json` cannot be read: nothing is there"),
        ("not-json", "INSTALL_RECEIPT.json` cannot be used: "),
        ("says-nothing", "invalid type: null"),
        ("climbs", "`core/..` is not the name of a formula"),
        (
            "needs-gone",
            "the formula `gone`, which `/opt/homebrew/Cellar/needs-gone/1.0` needs, is not soundly installed",
        ),
        (
            "needs-outside",
            "`/opt/homebrew/opt/outside` leads to `/Users/dev/.ssh`, which is no keg; run `brew reinstall outside`",
        ),
        ("needs-unlinked", "leads to `/opt/homebrew/Cellar/unlinked`, which is no keg"),
        ("deeply", "the formula `gone`, which `/opt/homebrew/Cellar/needs-gone/1.0` needs"),
        ("not-executable", "is not executable"),
        ("script-of-nothing", "its interpreter `/opt/homebrew/opt/gone/bin/x` cannot be used"),
        (
            "escapes",
            "it leads to `/Users/dev/bin/escapes`, which no formula of Homebrew installed; if it is to be used, state it with `tool \"/opt/homebrew/bin/escapes\"`",
        ),
        ("the-cellar", "it leads to `/opt/homebrew/Cellar`, which no formula"),
        ("dangles", "it leads to `/opt/homebrew/Cellar/dangles/1.0/bin/dangles`, which is missing"),
        ("loose", "it leads to `/opt/homebrew/sbin/loose`, which no formula"),
        // What stands before a program of the system is not passed over.
        ("cat", "it leads to `/Users/dev/bin/escapes`"),
        ("brew", "which no formula of Homebrew installed"),
    ] {
        let reason = reason(find(&host, name));
        assert!(reason.contains(said), "{name}: {reason}");
    }
}

#[test]
fn a_program_that_left_the_cellar_can_be_stated() {
    let host = mac_broken();
    let tool = found(find_path(&host, "/opt/homebrew/bin/escapes".into()));
    assert_eq!((tool.real.as_str(), tool.grants.len()), ("/Users/dev/bin/escapes", 1));
    // npm of Homebrew's node lies beside the Cellar.
    assert!(reason(find(&mac_arm(), "npm")).contains("tool \"/opt/homebrew/bin/npm\""));
    let npm = found(find_path(&mac_arm(), "/opt/homebrew/bin/npm".into()));
    assert_eq!(npm.source, "install /opt/homebrew/lib/node_modules/npm");
    let runs = may(&npm, Operation::Exec);
    assert_eq!(
        runs,
        ["/opt/homebrew/Cellar/node/23.3.0/bin/node", "/opt/homebrew/lib/node_modules/npm/bin/npm-cli.js"]
    );
    assert_eq!(npm.also_on_path, ["/opt/homebrew/bin"]);
}

#[test]
fn a_keg_is_a_keg_however_it_is_named() {
    let host = mac_arm();
    let by_name = found(find(&host, "rg"));
    for path in [
        "/opt/homebrew/bin/rg",
        "/opt/homebrew/opt/ripgrep/bin/rg",
        "/opt/homebrew/Cellar/ripgrep/14.1.1/bin/rg",
    ] {
        let stated = found(find_path(&host, path.into()));
        assert_eq!((&stated.grants, &stated.source), (&by_name.grants, &by_name.source), "{path}");
    }
}

#[test]
fn only_the_two_known_prefixes_and_only_with_brew() {
    let intel = mac_intel();
    assert_eq!(found(find(&intel, "iftop")).real, "/usr/local/Cellar/iftop/1.0/sbin/iftop");
    assert_eq!(found(find(&intel, "rg")).grants.len(), 5);
    let text =
        include_str!("../hosts/mac-intel.yaml").replace("/usr/local/bin/brew:", "/usr/local/bin/other:");
    let without = RecordedHost::from_yaml(&text, "test").unwrap();
    let Lookup::Missing { searched } = find(&without, "rg") else { panic!("found without brew") };
    assert!(!searched.iter().any(|place| place.starts_with("/usr/local")), "{searched:?}");
    let text = include_str!("../hosts/mac-intel.yaml").replace("/usr/local/", "/opt/elsewhere/");
    let elsewhere = RecordedHost::from_yaml(&text, "test").unwrap();
    assert!(matches!(find(&elsewhere, "rg"), Lookup::Missing { .. }));
}
