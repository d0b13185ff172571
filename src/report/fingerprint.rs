//! What stays the same of a finding while the text around it changes.

use super::run::Found;
use super::whereabouts::Whereabouts;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// Gives every finding its fingerprint. `file` is the URI of the file that it is in, `statement` the words that its main place covers, `on` where it was
/// found.
pub fn assign<'a>(
    findings: &mut [Found],
    mut parts: impl FnMut(&Found) -> (String, &'a str, Option<&'a Whereabouts>),
) {
    let mut alike: HashMap<String, usize> = HashMap::new();
    for found in findings {
        let (file, statement, on) = parts(found);
        let message =
            on.map_or_else(|| found.finding.message.clone(), |on| on.leave_out(&found.finding.message));
        let digest = digest(&[found.finding.rule, &file, &words(statement), &message]);
        let count = alike.entry(digest.clone()).or_default();
        *count += 1;
        found.fingerprint = if *count == 1 { digest } else { format!("{digest}/{count}") };
    }
}

/// How a statement is laid out does not matter.
pub fn words(statement: &str) -> String {
    statement.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first half of a SHA-256. Each part is preceded by its length, so that none can run into the next.
pub fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Finding, Severity};
    use std::collections::BTreeSet;

    fn of(rule: &'static str, file: &str, statement: &str, message: &str, workspace: &str) -> String {
        let finding = Finding::new(rule, Severity::Error, message);
        let mut found = [Found { finding, seen: BTreeSet::new(), fingerprint: String::new() }];
        let on = Whereabouts { workspace: workspace.to_owned(), home: "/home/a".to_owned() };
        assign(&mut found, |_| (file.to_owned(), statement, Some(&on)));
        found[0].fingerprint.clone()
    }

    #[test]
    fn hangs_on_content_and_not_on_the_machine() {
        let one = of("r", "f", "root  \"a\"", "`/w/x` is gone", "/w");
        assert_eq!(one, of("r", "f", "root \"a\"", "`/elsewhere/x` is gone", "/elsewhere"));
        for other in [
            of("q", "f", "root \"a\"", "`/w/x` is gone", "/w"),
            of("r", "g", "root \"a\"", "`/w/x` is gone", "/w"),
            of("r", "f", "root \"b\"", "`/w/x` is gone", "/w"),
            of("r", "f", "root \"a\"", "`/w/y` is gone", "/w"),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn findings_that_are_alike_are_counted() {
        let finding = Finding::new("r", Severity::Error, "m");
        let found = Found { finding, seen: BTreeSet::new(), fingerprint: String::new() };
        let mut all = [found.clone(), found];
        assign(&mut all, |_| ("f".to_owned(), "s", None));
        assert_eq!(format!("{}/2", all[0].fingerprint), all[1].fingerprint);
    }
}
