use crate::bind::BoundDenial;
use crate::finding::{Edit, Finding};
use crate::host::Hop;
use crate::lint::Context;
use crate::lint::edits::spelled;
use crate::lint::places::{Roots, denials, is_readable, own_hop};
use crate::policy::DenialKind;

rule! {
    /// A denied path through a symbolic link, with what it leads to left open.
    ///
    /// ## What it does
    ///
    /// Reports a `deny` whose path goes through a symbolic link that is not also on the way to the root around
    /// it, and one that is itself a symbolic link to something that can be read.
    ///
    /// ## Why it is bad
    ///
    /// A denial closes a place. Where the place is a link, the secret lies somewhere else, and is read there
    /// under its own name. Where a link stands on the way, an agent that may write beside it points it
    /// elsewhere, and the next compile denies the wrong file.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/link-to-env"        # a link to .env
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/.env"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the link is on the way to the root as well.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "~/work" read-only
    ///     deny "~/work/.env"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Deny the file or directory that the link leads to, by its real path.
    name: "symlinked-denial",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: false,
    check: check,
}

/// A link in a literal denial that its root does not share.
pub(super) enum Link<'a> {
    /// On the way to the denied path.
    OnTheWay(&'a Hop),
    /// The denied path itself.
    Leaf(&'a Hop),
}

pub(super) fn link<'a>(roots: &Roots<'a>, bound: &'a BoundDenial) -> Option<Link<'a>> {
    let found = bound.found.as_ref()?.as_ref().ok()?;
    let denied = &bound.paths.first()?.path;
    let hop = own_hop(found, roots.holding(denied).map(|root| root.found))?;
    Some(if hop.link == *denied { Link::Leaf(hop) } else { Link::OnTheWay(hop) })
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    let decider = context.plan.decider();
    for (denial, bound) in denials(context) {
        let (DenialKind::Path(path), Some(Ok(found))) = (&denial.kind, &bound.found) else { continue };
        let (message, hop, real) = match link(&roots, bound) {
            Some(Link::OnTheWay(hop)) => (
                format!("the denied path `{}` goes through a symbolic link", path.path),
                hop,
                &bound.paths[0].path,
            ),
            Some(Link::Leaf(hop)) if is_readable(&decider, &found.canonical) => (
                format!("the denied path `{}` is a symbolic link to what can be read", path.path),
                hop,
                &found.canonical,
            ),
            _ => continue,
        };
        let edit = Edit { span: path.span, replacement: spelled(context, real) };
        findings.push(
            INFO.finding(message)
                .at(denial.span, format!("`{}` is a link to `{}`", hop.link, hop.target))
                .help(format!("deny the real path: `{real}`"))
                .fix("deny the real path", vec![edit], false),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn a_link_to_what_stays_open_is_refused() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/link-to-env");
        assert_eq!(
            case.found("symlinked-denial"),
            ["the denied path `/home/dev/project/link-to-env` is a symbolic link to what can be read\n\
              deny \"/home/dev/project/link-to-env\" -- `/home/dev/project/link-to-env` is a link to `.env`"]
        );
        let fix = case.findings("symlinked-denial")[0].fix.clone().unwrap();
        assert_eq!(fix.edits[0].replacement, "\"$workspace/.env\"");
    }

    #[test]
    fn with_the_target_denied_too_nothing_is_open() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/link-to-env").deny("/home/dev/project/.env");
        assert!(case.found("symlinked-denial").is_empty());
        assert!(case.found("denied-link").is_empty());
    }

    #[test]
    fn a_link_on_the_way_is_refused_wherever_it_leads() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/third-party/lib.c");
        assert_eq!(
            case.found("symlinked-denial"),
            ["the denied path `/home/dev/project/third-party/lib.c` goes through a symbolic link\n\
              deny \"/home/dev/project/third-party/lib.c\" -- `/home/dev/project/third-party` is a link to `vendor`"]
        );
    }

    #[test]
    fn a_link_that_the_root_shares_is_fine() {
        let mut case = Case::new();
        case.root("/home/dev/work", Access::ReadWrite).deny("/home/dev/work/.env");
        assert!(case.found("symlinked-denial").is_empty());
    }
}
