use super::{loader_variable, proxy_variable, replaced_default};
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove;

rule! {
    /// A masked variable that programs take a setting from.
    ///
    /// ## What it does
    ///
    /// Reports `mask` of a variable that the loader, a shell or an interpreter takes code from (`LD_PRELOAD`,
    /// `NODE_OPTIONS`), that Palisade sets for every command (`PATH`, `HOME`, `TMPDIR`), or by which programs find a
    /// proxy or whom to trust (`HTTPS_PROXY`, `SSL_CERT_FILE`): what `loader-variable`, `replaced-default` and
    /// `proxy-variable` report where it is set or passed.
    ///
    /// ## Why it is bad
    ///
    /// Inside, a masked variable holds random letters in the shape of its value, and the value is put in only where it
    /// is sent to its hosts. No program sends such a setting anywhere: it goes by it, and so by nonsense. `PATH` leads
    /// nowhere then, and what the loader is to load is not there.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "api.openai.com" methods GET }
    ///     env { mask HTTPS_PROXY for "api.openai.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "api.openai.com" methods GET }
    ///     env { mask OPENAI_API_KEY for "api.openai.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a token that a program sends as it is.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "registry.npmjs.org" methods GET }
    ///     env { mask NPM_TOKEN for "registry.npmjs.org" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Mask what is sent as it is: keys and tokens. Leave the setting out; Palisade gives a command those that it
    /// needs.
    name: "masked-setting",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: false,
    check: check,
}

/// What programs do with the variable, where they do not send it.
fn use_of(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    if replaced_default::DEFAULTS.iter().any(|(default, _)| *default == name) {
        return Some("Palisade sets it to what holds behind the walls");
    }
    if let Some(effect) = loader_variable::effect(name, None) {
        return Some(effect);
    }
    if proxy_variable::VARIABLES.contains(&lower.as_str()) {
        return Some("programs find the way out by it");
    }
    proxy_variable::TRUST.contains(&lower.as_str()).then_some("programs find whom to trust by it")
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for mask in &context.policy.masks {
        let Some(used) = use_of(&mask.name) else { continue };
        findings.push(
            INFO.finding(format!("`{}` is masked, and programs go by what it holds", mask.name))
                .at(mask.span, used)
                .help("mask what is sent as it is, keys and tokens, and leave this out")
                .fix("remove the variable", remove(context.sources, mask.span), false),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::use_of;
    use crate::lint::testing::Case;

    #[test]
    fn every_setting_that_other_rules_know_is_known() {
        for name in [
            "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "GIT_SSH_COMMAND", "SHELL", "PATH", "HOME", "TMPDIR",
            "HTTPS_PROXY", "https_proxy", "NO_PROXY", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "npm_config_ca",
        ] {
            assert!(use_of(name).is_some(), "{name}");
        }
        for name in ["OPENAI_API_KEY", "GITHUB_TOKEN", "path", "NPM_TOKEN", "PGPASSWORD"] {
            assert_eq!(use_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_masked_setting_is_reported_where_it_is_masked_and_a_token_is_not() {
        let mut case = Case::in_workspace();
        case.host(true, "a.com", None).mask("LD_PRELOAD", "a.com").mask("TOKEN", "a.com");
        assert_eq!(
            case.found("masked-setting"),
            ["`LD_PRELOAD` is masked, and programs go by what it holds\n\
              mask LD_PRELOAD for \"a.com\" -- the loader takes libraries from it"]
        );
    }
}
