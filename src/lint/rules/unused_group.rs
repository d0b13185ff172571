use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove;

rule! {
    /// A group of tools that nothing lists.
    ///
    /// ## What it does
    ///
    /// Reports a `group` of the profile itself whose `@name` stands in no list of tools, for whatever system. A fragment
    /// may define groups for many profiles, of which each uses some.
    ///
    /// ## Why it is bad
    ///
    /// Its reader takes the tools in it for granted, and none of them is. Often the `@` was forgotten where they were to
    /// be listed.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     group search [ find grep ]
    ///     root "$workspace" read-only
    ///     tools git
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     group search [ find grep ]
    ///     root "$workspace" read-only
    ///     tools git @search
    /// }
    /// ```
    ///
    /// Looks alike and is fine: used for another system than the one that is checked.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     group search [ find grep ]
    ///     root "$workspace" read-only
    ///     on linux { optional-tools @search }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove it, or list it: `tools @NAME`.
    name: "unused-group",
    severity: Warning,
    confidence: Certain,
    fix: Safe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let own = context.policy.files.first();
    for group in context.policy.groups.iter().filter(|group| Some(&group.span.file) == own) {
        if group.uses > 0 {
            continue;
        }
        findings.push(
            INFO.finding(format!("the group `@{}` is not used", group.name))
                .at(group.span, "grants nothing")
                .help(format!("remove it, or list it: `tools @{}`", group.name))
                .fix("remove the group", remove(context.sources, group.span), true),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Group;

    #[test]
    fn only_unused_groups_of_the_profile_itself_are_found() {
        let mut case = Case::new();
        let add = |case: &mut Case, name: &str, uses| {
            let span = case.line(&format!("group {name} [ git ]"));
            case.policy.groups.push(Group { name: name.into(), span, uses });
        };
        add(&mut case, "idle", 0);
        add(&mut case, "busy", 1);
        add(case.in_fragment(), "of-a-fragment", 0);
        assert_eq!(
            case.found("unused-group"),
            ["the group `@idle` is not used\ngroup idle [ git ] -- grants nothing"]
        );
    }
}
