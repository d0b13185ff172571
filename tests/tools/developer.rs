//! The developer directory and the shims that stand for it.

use super::{found, mac_arm, mac_broken, mac_intel, may, reason, show, snapshot_named};
use palisade::bind::tools::{Finder, Lookup, find, find_path};
use palisade::host::RecordedHost;
use palisade::plan::Operation;

const TOOLS: &str = "/Library/Developer/CommandLineTools";
const XCODE: &str = "/Applications/Xcode.app";

fn without_homebrew() -> RecordedHost {
    let text =
        include_str!("../hosts/mac-arm.yaml").replace("/opt/homebrew/bin/brew:", "/opt/homebrew/bin/other:");
    RecordedHost::from_yaml(&text, "test").unwrap()
}

#[test]
fn what_developer_tools_are_given() {
    let host = without_homebrew();
    let mut finder = Finder::new(&host);
    for name in ["git", "clang", "python3"] {
        snapshot_named(&format!("mac-command-line-tools-{name}"), &show(&finder.find(name)));
    }
    let host = mac_intel();
    let mut finder = Finder::new(&host);
    for name in ["git", "cc", "python3"] {
        snapshot_named(&format!("mac-xcode-{name}"), &show(&finder.find(name)));
    }
}

#[test]
fn homebrew_comes_before_the_developer_directory_and_that_before_the_system() {
    assert_eq!(found(find(&mac_arm(), "git")).source, "homebrew /opt/homebrew/Cellar/git/2.47.1");
    let git = found(find(&without_homebrew(), "git"));
    assert_eq!(
        (git.source.as_str(), git.path.as_str()),
        (&*format!("developer directory {TOOLS}"), &*format!("{TOOLS}/usr/bin/git"))
    );
    assert_eq!(found(find(&mac_arm(), "awk")).source, "system");
    let Lookup::Missing { searched } = find(&mac_arm(), "nothing") else { panic!() };
    let places = ["/opt/homebrew/bin", "/opt/homebrew/sbin", &format!("{TOOLS}/usr/bin")];
    assert_eq!(searched[..3], places);
    assert_eq!(searched.last().unwrap(), "/sbin");
}

#[test]
fn a_tool_its_shim_and_its_own_helpers_run_and_nothing_else_of_the_install() {
    let git = found(find(&without_homebrew(), "git"));
    assert_eq!(
        may(&git, Operation::Exec),
        [
            format!("{TOOLS}/usr/bin/git"),
            format!("{TOOLS}/usr/libexec/git-core/…"),
            "/usr/bin/git".to_owned()
        ]
    );
    assert!(may(&git, Operation::Map).contains(&format!("{TOOLS}/…")));
    assert_eq!(git.developer_directory.as_deref(), Some(TOOLS.into()));
    let clang = found(find(&mac_intel(), "cc"));
    let toolchain = format!("{XCODE}/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/bin");
    assert_eq!(
        may(&clang, Operation::Exec),
        [
            format!("{toolchain}/as"),
            format!("{toolchain}/clang"),
            format!("{toolchain}/ld"),
            "/usr/bin/cc".to_owned()
        ]
    );
}

#[test]
fn an_xcode_is_granted_as_a_bundle_with_its_licence() {
    let git = found(find(&mac_intel(), "git"));
    assert_eq!(git.source, format!("Xcode 15.2 {XCODE}"));
    let read = may(&git, Operation::Read);
    assert!(read.contains(&format!("{XCODE}/…")));
    assert!(read.contains(&"/Library/Preferences/com.apple.dt.Xcode.plist".to_owned()));
    assert!(read.contains(&"/private/var/db/xcode_select_link".to_owned()));
    assert_eq!(
        git.developer_directory.as_deref(),
        Some(format!("{XCODE}/Contents/Developer").as_str().into())
    );
}

#[test]
fn an_xcode_whose_licence_or_bundle_cannot_be_read_is_no_install() {
    let text = include_str!("../hosts/mac-intel.yaml");
    let licence = "  /Library/Preferences/com.apple.dt.Xcode.plist:";
    for (from, to, said) in [
        (
            licence,
            "  /Library/Preferences/other.plist:",
            "the licence of Xcode was not agreed to: `/Library/Preferences/com.apple.dt.Xcode.plist` is missing",
        ),
        (
            "<key>IDELastGMLicenseAgreedTo</key>",
            "<key>Other</key>",
            "names none; run `sudo xcodebuild -license`",
        ),
        ("<key>IDELastGMLicenseAgreedTo</key>", "<key>", "is not a sound property list"),
        (
            "  /Applications/Xcode.app/Contents/Info.plist:",
            "  /Applications/Xcode.app/Contents/Other.plist:",
            "`/Applications/Xcode.app/Contents/Info.plist` cannot be read: nothing is there",
        ),
        ("<key>CFBundleIdentifier</key>", "<key>Other</key>", "is not a sound property list"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        let host = RecordedHost::from_yaml(&changed, "test").unwrap();
        let reason = reason(find(&host, "git"));
        assert!(reason.contains(said), "{reason}");
        // The base system does without.
        assert_eq!(found(find(&host, "awk")).source, "system");
    }
}

#[test]
fn a_beta_licence_counts() {
    let text = include_str!("../hosts/mac-intel.yaml")
        .replace("IDELastGMLicenseAgreedTo", "IDELastBetaLicenseAgreedTo");
    assert_eq!(
        found(find(&RecordedHost::from_yaml(&text, "test").unwrap(), "git")).source,
        format!("Xcode 15.2 {XCODE}")
    );
}

#[test]
fn a_shim_without_its_install_is_no_tool() {
    // The developer directory that is selected is gone.
    let host = mac_broken();
    assert_eq!(
        reason(find(&host, "git")),
        "`/usr/bin/git` is a shim for a tool of the developer directory, which is not installed; install the Command Line Tools"
    );
    assert!(reason(find_path(&host, "/usr/bin/make".into())).contains("is a shim"));
    // It is there, and has no such tool.
    assert_eq!(
        reason(find(&mac_intel(), "pip3")),
        format!(
            "`/usr/bin/pip3` is a shim for a tool of the developer directory, and `{XCODE}` has none of that name"
        )
    );
    // What picks the directory is a program of its own.
    assert_eq!(found(find(&host, "xcode-select")).source, "system");
}

#[test]
fn a_stated_shim_runs_what_it_stands_for() {
    let python = found(find_path(&mac_arm(), "/usr/bin/python3".into()));
    let framework = format!("{TOOLS}/Library/Frameworks/Python3.framework/Versions/3.9");
    let runs = may(&python, Operation::Exec);
    assert_eq!(
        runs,
        [format!("{framework}/…"), format!("{framework}/bin/python3.9"), "/usr/bin/python3".to_owned()]
    );
    assert_eq!(python.developer_directory.as_deref(), Some(TOOLS.into()));
}

#[test]
fn a_directory_that_many_share_is_no_developer_directory() {
    for directory in ["/Users/dev", "/opt/homebrew", "/usr/local", "/Applications", "/Volumes/Disk"] {
        let text = format!(
            "system: macos\narchitecture: aarch64\nhome: /Users/dev\nunlisted: missing\ndeveloper-directory: {directory}\nentries:\n  \
             {directory}/usr/bin/git: program\n"
        );
        let host = RecordedHost::from_yaml(&text, "test").unwrap();
        assert!(reason(find(&host, "git")).contains("is too wide a place to grant"), "{directory}");
    }
}

#[test]
fn a_link_out_of_the_developer_directory_is_no_tool_and_a_ring_of_shims_ends() {
    let mac = |entries: &str| {
        let text = format!(
            "system: macos\narchitecture: aarch64\nhome: /Users/dev\nunlisted: missing\ndeveloper-directory: {TOOLS}\nentries:\n  \
             /usr/bin/git: {{ mode: \"0755\", binary: {{ needed: [/usr/lib/libxcselect.dylib] }} }}\n  {entries}\n"
        );
        RecordedHost::from_yaml(&text, "test").unwrap()
    };
    for target in ["/usr/bin/git", "/Users/dev/bin/git"] {
        let host = mac(&format!("{TOOLS}/usr/bin/git: -> {target}\n  /Users/dev/bin/git: program"));
        let said = format!("`{TOOLS}/usr/bin/git` leads to `{target}`, out of the developer directory");
        assert_eq!(reason(find(&host, "git")), said);
        assert_eq!(reason(find_path(&host, "/usr/bin/git".into())), said);
    }
    let host = mac(&format!("{TOOLS}/usr/bin/git: {{ mode: \"0755\", head: \"#!/usr/bin/git\" }}"));
    assert!(reason(find(&host, "git")).contains("more of them than the kernel follows"));
}
