//! Rules about what a run was given beside its profiles. Their findings are made where that is read.

use super::RuleInfo;
use crate::finding::{Confidence, Offers, Severity};

/// Every such rule, sorted by name.
pub static ALL: [&RuleInfo; 1] = [&STALE_BASELINE];

pub static STALE_BASELINE: RuleInfo = RuleInfo {
    name: "stale-baseline",
    severity: Severity::Warning,
    confidence: Confidence::Certain,
    fix: Offers::None,
    allowable: false,
    documentation: "\
An entry of a baseline for a finding that is there no more.

## What it does

Reports an entry of the file given by `--baseline`, or by `baseline` in `palisade.toml`, that matches no finding, or fewer than it counts. Only \
entries for profiles that were checked, on the machines that they were found on, are looked at.

## Why it is bad

Somebody has fixed what the entry is about. While it stays, the same mistake can come back without being seen.

## Example

```toml
[[finding]]
rule = \"broad-root\"                # the statement has been removed since
profiles = [\"agent.palisade\"]
message = \"`/opt` is read as a whole\"
count = 1
fingerprint = \"5ec1cbb0d9a3a9c8d5a0e3f5a1b2c3d4\"
```

## What to do

Remove the entry, or write the file anew with `palisade check --write-baseline FILE`, and look at what changed in it.
",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_documents_itself_as_the_others_do() {
        for info in ALL {
            let markdown = info.markdown();
            let headings: Vec<_> = markdown.lines().filter(|line| line.starts_with("## ")).collect();
            let sections = ["## What it does", "## Why it is bad", "## Example", "## What to do"];
            assert_eq!(headings, sections, "{}", info.name);
        }
        assert!(ALL.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
