//! What a `palisade.toml` may hold, as a JSON schema: editors complete it by that.

use super::keys::{self, Key, OVERRIDE, SETTINGS, TOP};
use super::severities::{Setting, rules};
use crate::report::FORMATS;
use serde_json::{Map, Value, json};

/// What the schema calls itself.
pub const SCHEMA_ID: &str = "urn:palisade:schema:palisade-toml-1";

/// The schema, with a line end.
///
/// # Errors
/// Only where it cannot be written to memory.
pub fn schema() -> serde_json::Result<String> {
    let described = |keys: &[Key], value: fn(&str) -> Value| -> Map<String, Value> {
        let property = |key: &Key| {
            let mut value = value(key.name);
            value["description"] = json!(key.meaning);
            (key.name.to_owned(), value)
        };
        keys.iter().map(property).collect()
    };
    let rules: Map<String, Value> = rules()
        .map(|info| {
            let settings: Vec<&str> = Setting::allowed_for(info).collect();
            let meaning = info.summary();
            (
                info.name.to_owned(),
                json!({ "description": meaning, "enum": settings, "default": info.severity }),
            )
        })
        .collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Settings of palisade",
        "description": "What `palisade.toml` holds, for `palisade check` and `palisade compile`.",
        "type": "object",
        "properties": described(&TOP, value_of),
        "additionalProperties": false,
        "$defs": {
            "path": { "type": "string", "minLength": 1 },
            "pattern": {
                "description": "`*`, `**`, `?`, `[…]` and `{a,b}`; of a directory, everything below it.",
                "type": "string",
                "minLength": 1,
                "pattern": "^(?!/)(?!.*(^|/)\\.\\.(/|$))",
            },
            "rules": { "type": "object", "properties": rules, "additionalProperties": false },
            "override": {
                "type": "object",
                "required": OVERRIDE.map(|key| key.name),
                "properties": described(&OVERRIDE, value_of),
                "additionalProperties": false,
            },
        },
    });
    Ok(serde_json::to_string_pretty(&schema)? + "\n")
}

fn value_of(key: &str) -> Value {
    let list = |of: &str| json!({ "type": "array", "items": { "$ref": format!("#/$defs/{of}") } });
    match key {
        keys::FAIL_ON => json!({ "enum": &SETTINGS[1..], "default": "warning" }),
        keys::FORMAT => json!({ "enum": FORMATS, "default": "human" }),
        keys::HOSTS => list("path"),
        keys::EXCLUDE => list("pattern"),
        keys::PATHS => json!({ "type": "array", "items": { "$ref": "#/$defs/pattern" }, "minItems": 1 }),
        keys::BASELINE => json!({ "$ref": "#/$defs/path" }),
        keys::RULES => json!({ "$ref": "#/$defs/rules" }),
        keys::OVERRIDES => list("override"),
        keys::RULE_PAGES => json!({ "type": "string", "pattern": "^https?://[!-~]*\\{rule\\}[!-~]*$" }),
        _ => json!({ "type": "string" }),
    }
}
