#!/bin/sh
# Fills fuzz/corpus with what the repository holds anyway: profiles that ship, examples of the documentation, kept artifacts.
# Files are named by what they hold, so a second run adds nothing.
set -eu
cd "$(dirname "$0")/.."
corpus=fuzz/corpus
mkdir -p "$corpus/profile" "$corpus/check" "$corpus/sb" "$corpus/manifest"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# keep TARGET FILE
keep() {
    cp "$2" "$corpus/$1/$(sha256sum <"$2" | cut -c1-16)"
}

# The fenced blocks of one language, each a file.
awk -v scratch="$scratch" '
    /^ *```(palisade|sbpl)/ { word = substr($1, 4); close(name); name = sprintf("%s/%05d.%s", scratch, ++count, word); inside = 1; next }
    /^ *```/ { inside = 0; next }
    inside { print > name }
' README.md docs/*.md docs/rules/*.md

for file in "$scratch"/*.palisade policies/*/*.palisade examples/*/*.palisade tests/*/*.palisade; do
    keep profile "$file"
    keep check "$file"
done
for file in "$scratch"/*.sbpl tests/sbpl/style/*.sb; do
    keep sb "$file"
done
for file in snapshots/seatbelt*.snap; do
    sed '1,/^---$/{/^---$/,/^---$/d}' "$file" | sed -n '/^(version/,$p' >"$scratch/kept"
    [ -s "$scratch/kept" ] && keep sb "$scratch/kept"
done
sed -n '/^# Palisade manifest/,$p' snapshots/manifest.snap | sed '/^digest: sha256:/d' >"$scratch/manifest"
keep manifest "$scratch/manifest"
