//! Repositories, trees and profiles to be checked.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// On a disk, like a home directory.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").expect("a place to work")
}

/// Where the profiles of a repository lie.
#[derive(Debug, Clone, Copy)]
pub enum Layout {
    Spread,
    Together,
}

/// A repository with profiles of so many lines.
pub fn repository(directory: &Path, profiles: usize, lines: usize, layout: Layout) {
    write(&directory.join("src/main.rs"), "fn main() {}\n");
    write(&directory.join(".env"), "KEY=x\n");
    write(&directory.join(".git/HEAD"), "ref: refs/heads/main\n");
    for number in 0..profiles {
        let folder = match layout {
            Layout::Spread => format!("services/{}/", number / 20),
            Layout::Together => "policies/".into(),
        };
        write(&directory.join(format!("{folder}p{number}.palisade")), &profile(number, lines));
    }
}

/// What people write, and denials of files that are not there yet up to so many lines.
fn profile(number: usize, lines: usize) -> String {
    let head = format!(
        "edition 1

# What the agent of one service may do.
profile \"service-{number}\" {{
    description \"Reads the worktree, writes only the worktree, never sees secrets.\"

    use \"std/git\"
    use \"std/command\"

    root \"$workspace\"     read-write
    root \"$workspace/src\" read-only

    deny \"$workspace/.env\"
    network off
    ipc off
    needs terminal

    tools @inspection
    optional-tools rg jq

    env {{
        set LANG \"C.UTF-8\"
        pass TERM
    }}
    expect {{
        read  \"$workspace/src/main.rs\" allowed
        write \"$workspace/src/a.rs\"    denied
        read  \"$workspace/.env\"        denied
    }}
"
    );
    let mut text = head;
    let end = lines.saturating_sub(text.lines().count() + 1);
    for denial in 0..end {
        let _ = writeln!(text, "    deny \"$workspace/secrets/{number}/key-{denial}\"");
    }
    text.push_str("}\n");
    text
}

/// One file for each linter.
pub struct Files {
    pub palisade: PathBuf,
}

/// A small profile, a small module, a small policy: each clean, as its users write it.
pub fn one_of_each(directory: &Path) -> Files {
    write(&directory.join("src/main.rs"), "fn main() {}\n");
    write(&directory.join(".env"), "KEY=x\n");
    let text = "edition 1

profile \"one\" {
    root \"$workspace\"     read-write
    root \"$workspace/src\" read-only
    deny \"$workspace/.env\"
    tools cat ls grep sed
    expect {
        read  \"$workspace/.env\" denied
        write \"$workspace/src/a\" denied
    }
}
";
    let palisade = directory.join("one.palisade");
    write(&palisade, text);
    let python = "\"\"\"Numbers.\"\"\"\n\nimport sys\n\n\ndef total(numbers):\n    result = 0\n    for number in numbers:\n        \
                  result += number\n    return result\n\n\nprint(total(map(int, sys.argv[1:])))\n";
    write(&directory.join("one.py"), python);
    let cedar = "permit (\n    principal == User::\"alice\",\n    action in [Action::\"read\", Action::\"write\"],\n    resource\n)\nwhen { \
                 resource.owner == principal }\nunless { resource.secret };\n";
    write(&directory.join("one.cedar"), cedar);
    Files { palisade }
}

/// A tree of so many files, 20 in a directory.
pub fn tree(directory: &Path, files: usize) {
    for number in 0..files {
        write(&directory.join(place(number)), "");
    }
}

fn place(number: usize) -> String {
    let folder = number / 20;
    format!("data/{}/{}/file-{number}", folder % 50, folder)
}

/// A profile with so many denials, spread over the files of a tree.
pub fn denials(tree: &Path, denials: usize, files: usize) -> PathBuf {
    let path = tree.join(format!("{denials}.palisade"));
    let paths = (0..denials).map(|number| place(number * (files / denials)));
    write(&path, &denying(paths));
    path
}

fn denying(paths: impl Iterator<Item = String>) -> String {
    let mut text =
        "edition 1\nprofile \"denials\" {\n    root \"$workspace\" read-write\n    tools cat ls\n".to_owned();
    for path in paths {
        let _ = writeln!(text, "    deny \"$workspace/{path}\"");
    }
    text.push_str("}\n");
    text
}

/// A recorded Mac with so many files, all of them denied, and the profile beside it.
pub fn recorded_mac(directory: &Path, denials: usize) -> PathBuf {
    let base = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hosts/mac.yaml"));
    let mut text = base.expect("a recorded Mac");
    for number in 0..denials {
        let _ = writeln!(text, "  /Users/dev/project/{}: file", place(number));
    }
    let host = directory.join("mac.yaml");
    write(&host, &text);
    write(&directory.join("denials.palisade"), &denying((0..denials).map(place)));
    host
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
}
