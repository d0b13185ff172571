//! Where the pages of rules are: where the settings say, else below the repository that `Cargo.toml` names. Where neither does, nothing is
//! linked.

/// What stands for a rule's name in the address of its page.
pub const RULE: &str = "{rule}";

/// The project's own page.
pub fn project() -> Option<&'static str> {
    let repository = env!("CARGO_PKG_REPOSITORY");
    (!repository.is_empty()).then_some(repository)
}

/// The addresses of pages, with [`RULE`] in them, that go with this program.
pub fn own() -> Option<String> {
    project().map(below)
}

/// The addresses of pages below a repository, in the version of this program.
fn below(repository: &str) -> String {
    let repository = repository.trim_end_matches('/').trim_end_matches(".git");
    format!("{repository}/blob/v{}/docs/rules/{RULE}.md", env!("CARGO_PKG_VERSION"))
}

/// The page of a rule, where `pages` are the addresses of all.
pub fn of(pages: &str, rule: &str) -> String {
    pages.replace(RULE, rule)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_rule_has_a_page_in_its_version() {
        let page = super::of(&super::below("https://example.com/team/palisade/"), "broad-root");
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            page,
            format!("https://example.com/team/palisade/blob/v{version}/docs/rules/broad-root.md")
        );
    }
}
