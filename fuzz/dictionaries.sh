#!/bin/sh
# Writes the fuzzers' dictionaries from the words of the grammars and vocabularies.
set -eu
cd "$(dirname "$0")/.."
out=fuzz/dictionaries
mkdir -p "$out"

# Every text in quotes in a file, as a dictionary's entry.
quoted() {
    grep -v '^ *//' "$@" -h | grep -oE '"[A-Za-z][A-Za-z0-9*/_-]+"' | sort -u
}

{
    quoted grammar/profile.pest src/policy/needs.rs src/syntax/words.rs
    grep -ohE '^ *(fragment|group) "?[a-z-]+' policies/std/*.palisade | awk '{ gsub("\"", ""); print ($1 == "group" ? "\"@" : "\"std/") $2 "\"" }' | sort -u
    printf '"%s"\n' '$workspace' '${home}' '~/' '\"' 'r#\"' '\"#' '**/' '\\u{e9}' '\x0d\x0a' '\xef\xbb\xbf' '# palisade: allow(' '/**' 'GET' 'GET https://'
} | sort -u >"$out/profile.dict"
{
    quoted grammar/sbpl.pest src/sbpl/vocabulary/*.rs
    printf '"%s"\n' '(version 1)' '(deny default)' '(allow ' '(deny ' '(with ' '#\"' '\\\"' '(param \"' '(define ' '(if ' "'" '#t' '#x' '(require-not ' '(import \"'
} | sort -u >"$out/sb.dict"
{
    sed -nE 's/^ *-? ?([a-z-]+):.*/"\1: "/p' snapshots/manifest.snap
    printf '"%s"\n' 'hosts: ' 'requests: ' 'methods: ' 'paths: ' 'mask: ' '- ' '\x0a- ' '\x0a  ' "''" '\"' ': ' ' #' '{}' '[]' '---\x0a' '<<: ' '!!str ' '&a ' '*a' 'null' '~' '0x1' '\xe2\x80\xa8' '\x0d'
} | sort -u >"$out/manifest.dict"
