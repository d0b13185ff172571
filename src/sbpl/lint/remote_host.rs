use super::Context;
use crate::finding::Finding;
use crate::sbpl::decide::{port_number, split_address};
use crate::sbpl::rule::Test;
use crate::syntax::shown;

sb_rule! {
    /// A host that a network filter cannot have.
    ///
    /// ## What it does
    ///
    /// Reports `(remote ip "HOST:PORT")` and the like where the host is neither `*` nor `localhost`, or the port is
    /// neither `*` nor a number.
    ///
    /// ## Why it is bad
    ///
    /// The library refuses any other host, and with it the whole profile: nothing runs. Names and addresses cannot be
    /// filtered here.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow network-outbound (remote ip "api.example.com:443"))
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (allow network-outbound (remote ip "*:443") (remote tcp "localhost:8080"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Write `*` or `localhost`; to let single hosts through, allow a proxy on `localhost` only.
    name: "remote-host",
    severity: Error,
    confidence: Certain,
    fix: None,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for filter in context.profile.rules.iter().flat_map(|rule| rule.filters.iter()) {
        filter.walk(false, &mut |filter, _| {
            let Test::Network { address: Some(address), protocol, .. } = &filter.test else { return };
            let Some(bytes) = address.bytes() else { return };
            let said = address.shown();
            let wrong = match split_address(bytes) {
                _ if *protocol == "unix-socket" => return,
                None => format!("`{said}` is no `host:port`"),
                Some((host, _)) if !matches!(host, "*" | "localhost") => {
                    format!("the host `{}` is refused here, and with it the whole profile", shown(host))
                }
                Some((_, port)) if port != "*" && port_number(port).is_none() => {
                    format!("`{}` is no port", shown(port))
                }
                Some(_) => return,
            };
            findings.push(
                INFO.finding(wrong).at(filter.span, "not understood by the system").help("the host is `*` or `localhost`, the port a number or `*`"),
            );
        });
    }
}
