//! The generated parser, and its rules in the language's own words.

#[derive(pest_derive::Parser)]
#[grammar = "../grammar/profile.pest"]
pub(super) struct Grammar;

/// What a person would call that which a rule matches; empty for what goes without saying.
///
/// `statement` is the word that the statement begins with: a quoted text is a path in one and a reason in another.
pub(super) fn describe(rule: Rule, statement: &str) -> String {
    match rule {
        Rule::quoted | Rule::raw | Rule::cooked => quoted(statement).into(),
        Rule::access | Rule::read_only | Rule::read_write => "`read-only` or `read-write`".into(),
        Rule::network_mode if statement == "network" => "`off`, `all` or `only { … }`".into(),
        Rule::ipc_mode => "`off` or `shared-memory`".into(),
        Rule::members | Rule::member | Rule::group_name => "a tool's name or an `@group`".into(),
        Rule::name => match statement {
            "tools" | "optional-tools" => "a tool's name or an `@group`".into(),
            "env" | "set" | "pass" | "mask" => "a variable's name".into(),
            _ => "a name".into(),
        },
        Rule::names => "a name".into(),
        Rule::exceptions => "a quoted name".into(),
        Rule::methods | Rule::method => "a method such as `GET`".into(),
        Rule::quoted_list => quoted(statement).into(),
        Rule::deny_glob | Rule::kw_glob => "`glob \"…\"`".into(),
        Rule::deny_gitignored | Rule::kw_gitignored => "`gitignored \"…\"`".into(),
        Rule::system => "`macos` or `linux`".into(),
        Rule::variable_name => "a variable's name".into(),
        Rule::amount => "an amount such as `30s`, `4MiB` or `256`".into(),
        Rule::verdict | Rule::allowed | Rule::denied => "`allowed` or `denied`".into(),
        Rule::number if statement == "localhost" => "a port".into(),
        Rule::number => "a number".into(),
        Rule::close_bracket => "`]`".into(),
        Rule::kw_only => "`only { … }`".into(),
        Rule::EOI => "the end of the statement".into(),
        Rule::off if statement == "network" => "`off`, `all` or `only { … }`".into(),
        Rule::all => "`off`, `all` or `only { … }`".into(),
        Rule::off | Rule::shared_memory => "`off` or `shared-memory`".into(),
        Rule::macos | Rule::linux => "`macos` or `linux`".into(),
        other => {
            let name = format!("{other:?}");
            name.strip_prefix("kw_").map(|word| format!("`{}`", word.replace('_', "-"))).unwrap_or_default()
        }
    }
}

/// What the quoted text of a statement is.
pub(super) fn quoted(statement: &str) -> &'static str {
    match statement {
        "description" => "a quoted text",
        "profile" | "fragment" => "a quoted name",
        "param" => "a quoted default",
        "allow" | "deny-host" | "inspect" | "mask" | "for" => "a quoted host",
        "paths" => "a quoted path of requests",
        "set" => "a quoted value",
        "seatbelt" => "a quoted rule",
        "expectation" => "a quoted path, program, host or request",
        "because" => "a quoted reason",
        "glob" => "a quoted pattern",
        "except" => "a quoted name",
        _ => "a quoted path",
    }
}
