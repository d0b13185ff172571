use super::symlinked_denial::{Link, link};
use crate::bind::BoundDenial;
use crate::finding::Finding;
use crate::host::{Kind, resolve};
use crate::lint::Context;
use crate::lint::places::{Roots, denials, is_readable, list};
use crate::plan::{Decider, Operation, OriginKind};
use crate::policy::DenialKind;

rule! {
    /// A denied path that is a symbolic link to somewhere the profile does not speak of.
    ///
    /// ## What it does
    ///
    /// Reports a `deny` of a symbolic link whose target lies in no root, and a pattern that denies links whose
    /// targets stay readable. A link to what is denied itself is not reported.
    ///
    /// ## Why it is bad
    ///
    /// The denial closes the link, not what it leads to. Dotfile managers (stow, home-manager) make such links:
    /// the secret lies in another tree, closed today only because no root holds it. A root added there opens
    /// it, and this denial will look as if it were closed still.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/linked.env"         # a link to ~/other/.env
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "~/other" read-only
    ///     deny "$workspace/linked.env"
    ///     deny "~/other/.env"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: what the link leads to is denied as well.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/link-to-env"
    ///     deny "$workspace/.env"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Deny the target too where a root holds it. Where none does, remove the denial, or allow this finding and
    /// say where the target lies.
    name: "denied-link",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    let decider = context.plan.decider();
    for (denial, bound) in denials(context) {
        match &denial.kind {
            DenialKind::Path(path) => {
                let (Some(Link::Leaf(hop)), Some(Ok(found))) = (link(&roots, bound), &bound.found) else {
                    continue;
                };
                let decision = decider.decide(Operation::Read, &found.canonical);
                let is_denied = decision.rule.is_some_and(|rule| rule.origin.kind == OriginKind::Denial);
                if is_denied || is_readable(&decider, &found.canonical) {
                    continue;
                }
                findings.push(
                    INFO.finding(format!("the denied path `{}` is a symbolic link out of every root", path.path))
                        .at(denial.span, format!("a link to `{}`", hop.target))
                        .help(format!(
                            "`{}` cannot be read as it is; remove the denial, or allow this finding and say where the link leads",
                            found.canonical
                        )),
                );
            }
            _ => {
                let open = open_links(context, &decider, bound);
                if let [first, ..] = &open[..] {
                    findings.push(
                        INFO.finding(format!(
                            "denied symbolic links lead to what can be read: {}",
                            list(&open)
                        )).about(&open)
                        .at(denial.span, format!("denies the link, not what `{first}` leads to"))
                        .help("deny what the links lead to as well"),
                    );
                }
            }
        }
    }
}

/// The denied links whose targets can be read, or that cannot be followed.
fn open_links(context: &Context<'_>, decider: &Decider<'_>, bound: &BoundDenial) -> Vec<String> {
    let links = bound
        .paths
        .iter()
        .filter(|denied| denied.entry.as_ref().is_some_and(|entry| matches!(entry.kind, Kind::Symlink(_))));
    links
        .filter(|link| match resolve::resolve(context.host, &link.path) {
            Ok(found) => found.exists() && is_readable(decider, &found.canonical),
            Err(resolve::ResolveError::Loop(_)) => false,
            Err(_) => true,
        })
        .map(|link| link.path.to_string())
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn a_link_out_of_every_root_is_reported() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/linked.env");
        assert_eq!(
            case.found("denied-link"),
            ["the denied path `/home/dev/project/linked.env` is a symbolic link out of every root\n\
              deny \"/home/dev/project/linked.env\" -- a link to `/home/dev/other/.env`"]
        );
        assert!(case.found("symlinked-denial").is_empty());
        case.root("/home/dev/other", Access::ReadOnly).deny("/home/dev/other/.env");
        assert!(case.found("denied-link").is_empty());
    }

    #[test]
    fn a_pattern_that_denies_a_link_leaves_its_target_open() {
        let mut case = Case::in_workspace();
        case.deny_glob(
            "/home/dev/project/link*",
            &["/home/dev/project/link-to-env", "/home/dev/project/linked.env"],
        );
        assert_eq!(
            case.found("denied-link"),
            ["denied symbolic links lead to what can be read: `/home/dev/project/link-to-env`\n\
              deny glob \"/home/dev/project/link*\" -- denies the link, not what `/home/dev/project/link-to-env` leads to"]
        );
        case.deny("/home/dev/project/.env");
        assert!(case.found("denied-link").is_empty());
    }
}
