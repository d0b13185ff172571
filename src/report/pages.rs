//! Where the pages of the project are: below the repository that `Cargo.toml` names. Where it names none, nothing is linked.

/// The project's own page.
pub fn project() -> Option<&'static str> {
    let repository = env!("CARGO_PKG_REPOSITORY");
    (!repository.is_empty()).then_some(repository)
}

/// The page of a rule, in the version of this program.
pub fn rule(name: &str) -> Option<String> {
    project().map(|repository| below(repository, name))
}

/// The page of a rule below a repository.
pub fn below(repository: &str, name: &str) -> String {
    let repository = repository.trim_end_matches('/').trim_end_matches(".git");
    format!("{repository}/blob/v{}/docs/rules/{name}.md", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_rule_has_a_page_in_its_version() {
        let page = super::below("https://example.com/team/palisade/", "broad-root");
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            page,
            format!("https://example.com/team/palisade/blob/v{version}/docs/rules/broad-root.md")
        );
    }
}
