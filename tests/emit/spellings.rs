//! What is missing may be made in any spelling that the disk takes for it: all are denied.

use crate::plans::read;
use crate::road::{mac, walk};
use palisade::emit::{self, validate};
use palisade::host::spelling::variants;
use palisade::plan::Operation;
use palisade::sbpl::{Engine, Operation as Leaf, Subject, Verdict};

#[test]
fn no_spelling_of_a_missing_path_can_be_made() {
    let walked = walk(
        &mac(),
        "root \"$workspace\" read-write\ndeny \"$workspace/secrets\"\ndeny \"$workspace/keys/pa\u{df}k\"\n\
         deny \"$workspace/\u{e9}a\u{e9}\"",
    );
    assert_eq!(walked.errors(), [""; 0]);
    let seatbelt = emit::seatbelt(walked.plan(), "case").unwrap();
    validate::check(walked.plan(), &seatbelt).unwrap();
    let profile = read(walked.plan(), &seatbelt);
    let mut asked = 0;
    for (place, name, operation) in [
        ("", "secrets", "file-read-data"),
        ("", "secrets", "file-write-create"),
        ("", "keys", "file-write-create"),
        ("", "\u{e9}a\u{e9}", "file-write-create"),
        ("keys/", "pa\u{df}k", "file-write-create"),
        ("", ".vscode", "file-write-create"),
        ("", ".mcp.json", "file-write-create"),
        ("", ".bash_profile", "file-write-create"),
        ("", ".kshrc", "file-write-create"),
    ] {
        let names = variants(name, 512).unwrap();
        assert!(names.len() > 1, "{name}");
        for name in names.iter().flat_map(|name| [name.clone(), name.to_ascii_uppercase()]) {
            let path = format!("/Users/dev/project/{place}{name}");
            for engine in [Engine::PerOperation, Engine::LastMatch] {
                let verdict = profile
                    .decide(Leaf::named(operation).unwrap(), &Subject::path(path.as_str()), engine)
                    .verdict;
                assert_eq!(verdict, Verdict::Deny, "{operation} {path}");
            }
            let ours = if operation == "file-read-data" { Operation::Read } else { Operation::Create };
            assert!(!walked.allows(ours, &path), "{path}");
            asked += 1;
        }
    }
    assert!(asked > 100);
}

#[test]
fn what_has_more_spellings_than_are_written_is_a_loss() {
    let walked = walk(
        &mac(),
        "root \"$workspace\" read-write\ndeny \"$workspace/ssssssssss\"\ndeny \"$workspace/.env\"",
    );
    let losses: Vec<&str> = walked.plan().losses.iter().map(|loss| loss.text.as_str()).collect();
    assert_eq!(losses.iter().filter(|text| text.contains("more spellings than are written")).count(), 1);
    assert!(losses.iter().any(|text| text.starts_with("`/Users/dev/project/ssssssssss` is missing")));
}
