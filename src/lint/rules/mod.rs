//! Every rule, each in a file of its name. This list is the only place where they are put together.

use super::Check;

/// Makes the modules and the registry.
macro_rules! rules {
    ($($module:ident),+ $(,)?) => {
        $(mod $module;)+

        /// Every rule, sorted by name.
        pub static ALL: &[&dyn Check] = &[$(&$module::Rule),+];
    };
}

rules![
    absurd_limit,
    allowance_without_reason,
    any_port,
    authority_port,
    authority_socket,
    authority_tool,
    broad_root,
    broken_tool,
    case_twin,
    cleartext_port,
    collector_host,
    conflicting_roots,
    confusable_name,
    dead_host_rule,
    denial_outside_roots,
    denied_link,
    empty_network,
    executable_outside_roots,
    failed_expectation,
    glob_below_missing,
    guarded_root,
    hard_linked_denial,
    hard_linked_file,
    incomplete_registry,
    lethal_trifecta,
    literal_address,
    literal_home,
    literal_pattern,
    loader_variable,
    mask_at_upload_host,
    masked_setting,
    missing_apex,
    missing_executable,
    missing_limit,
    missing_need,
    missing_root,
    missing_socket,
    missing_tool,
    missing_working_directory,
    missing_worktree,
    mounted_protection,
    name_server,
    nested_sandbox,
    persistence_place,
    private_host,
    proxy_variable,
    public_suffix,
    read_only_in_writable,
    readable_credentials,
    readable_secret,
    redundant_denial,
    redundant_root,
    refused_root,
    refused_worktree,
    repeated_entry,
    repeated_root,
    replaceable_root,
    replaceable_tool,
    replaced_default,
    required_and_optional,
    root_in_tool,
    root_inside_denial,
    root_not_a_directory,
    seatbelt_rule,
    secret_in_env,
    secret_in_profile,
    set_uid_tool,
    shadowed_tool,
    shared_file,
    signed_secret,
    skipped_tool,
    symlinked_denial,
    symlinked_protected_root,
    symlinked_root,
    tool_in_root,
    tool_in_writable_root,
    unallowable_rule,
    unenforceable_limit,
    unexamined,
    uninspectable_host,
    unknown_program,
    unknown_rule,
    unmatched_denial,
    unreadable_working_directory,
    unsound_seatbelt_rule,
    unusable_socket,
    unused_allowance,
    unused_fragment,
    unused_group,
    unused_param,
    unusual_method,
    unverified_tls,
    upload_host,
    useless_executable,
    useless_unguard,
    wide_allowance,
    writable_executable,
    writable_in_read_only,
    writable_policy,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// In this order, in every rule's documentation.
    const SECTIONS: [&str; 4] = ["## What it does", "## Why it is bad", "## Example", "## What to do"];

    fn is_kebab_case(name: &str) -> bool {
        name.split('-').all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()))
    }

    #[test]
    fn names_are_kebab_case_and_sorted_without_repetition() {
        let names: Vec<_> = ALL.iter().map(|rule| rule.info().name).collect();
        assert!(names.iter().all(|name| is_kebab_case(name)), "{names:?}");
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
    }

    #[test]
    fn every_rule_documents_itself_in_the_same_sections() {
        for rule in ALL {
            let info = rule.info();
            let headings: Vec<_> =
                info.documentation.lines().map(str::trim).filter(|line| line.starts_with("## ")).collect();
            assert_eq!(headings, SECTIONS, "{}", info.name);
            let summary = info.summary();
            assert!(summary.ends_with('.') && !summary.starts_with('#'), "{}: {summary}", info.name);
            for section in info.documentation.split("## ").skip(1) {
                assert!(
                    section.lines().skip(1).any(|line| !line.trim().is_empty()),
                    "{}: {section}",
                    info.name
                );
            }
        }
    }

    #[test]
    fn every_rule_shows_a_bad_and_a_good_profile_and_one_that_looks_alike() {
        for rule in ALL {
            let info = rule.info();
            for fence in ["```palisade bad\n", "```palisade good\n", "```palisade fine\n"] {
                assert!(info.markdown().contains(fence), "{} lacks an example", info.name);
            }
        }
    }
}
