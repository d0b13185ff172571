#!/bin/bash
# Asks a Mac what Seatbelt does where published measurements are silent or disagree, and prints one table to paste into an issue.
#
#     scripts/mac-probes.sh [FILE]      the table also goes to FILE
#
# NOT YET RUN ON A MAC: written on another system, where only its syntax could be checked. A row may be wrong in itself; so each one
# first runs its command under a profile that must let it succeed (the control), and says "no answer" where that fails.
# Needs nothing but what a stock Mac has. Writes only below a temporary directory of its own, which it removes.
# Exit: 0 where every answer is the expected one, 1 where one differs or is missing, 2 where nothing can be asked here.
set -u

SANDBOX=/usr/bin/sandbox-exec
PATH=/usr/bin:/bin:/usr/sbin:/sbin
LC_ALL=C
export PATH LC_ALL

if [ "$(uname -s)" != Darwin ] || [ ! -x "$SANDBOX" ]; then
    echo "mac-probes: this is no Mac with $SANDBOX" >&2
    exit 2
fi

made=$(mktemp -d "${TMPDIR:-/tmp}/palisade-probes.XXXXXX") || exit 2
# Seatbelt compares real paths.
D=$(cd "$made" && pwd -P) || exit 2
trap 'chmod -R u+rwx "$D"; rm -rf "$D"' EXIT

rows=$D/rows
: > "$rows"
differing=0

# under PROFILE COMMAND...: sets code, and said to the first line of what was said on standard error.
under() {
    printf '%s\n' "$1" > "$D/profile.sb"
    shift
    "$SANDBOX" -f "$D/profile.sb" -D "D=$D" -D "LONG=$LONG" -- "$@" > "$D/out" 2> "$D/err" < /dev/null
    code=$?
    said=$(head -n 1 "$D/err" | tr '|' '/' | cut -c 1-120)
}

# row QUESTION EXPECTED MEASURED
row() {
    mark=
    case $3 in
        "$2"*) ;;
        *) mark=' **differs**'; differing=1 ;;
    esac
    printf '| %s | %s | %s%s |\n' "$1" "$2" "$3" "$mark" >> "$rows"
}

# What an exit code means for a command that succeeds unless it is stopped.
verdict() {
    case $code in
        0) echo allowed ;;
        65) echo "rejected ($said)" ;;
        *) echo "denied (exit $code: $said)" ;;
    esac
}

open='(version 1) (allow default)'
start='(version 1) (deny default) (import "system.sb") (allow process*) (allow file-read* file-map-executable (subpath "/bin") (subpath "/usr") (subpath "/System") (subpath "/private/var/select"))'

# compare CONTROL PROFILE QUESTION EXPECTED COMMAND...: whether the command succeeds under PROFILE; under CONTROL it must. Both begin with
# the same files.
compare() {
    control=$1 profile=$2 question=$3 expected=$4
    shift 4
    files
    under "$control" "$@"
    if [ "$code" -ne 0 ]; then
        row "$question" "$expected" "no answer: the control failed (exit $code: $said)"
        return
    fi
    files
    under "$profile" "$@"
    row "$question" "$expected" "$(verdict)"
}

# ask QUESTION EXPECTED RULES COMMAND...: whether the command succeeds with these rules after (allow default). The control is the same
# without them.
ask() {
    question=$1 expected=$2 rules=$3
    shift 3
    compare "$open" "$open $rules" "$question" "$expected" "$@"
}

# reads QUESTION EXPECTED RULES COMMAND...: the same after (deny default), with what a program needs to start. The control is a rule
# that lets everything below the directory be read.
reads() {
    question=$1 expected=$2 rules=$3
    shift 3
    compare "$start (allow file-read* (subpath (param \"D\")))" "$start $rules" "$question" "$expected" "$@"
}

# grants QUESTION EXPECTED RULES COMMAND...: the same, for rules that grant more than reading: the control is a profile that allows all.
grants() {
    question=$1 expected=$2 rules=$3
    shift 3
    compare "$open" "$start $rules" "$question" "$expected" "$@"
}

# compiles QUESTION EXPECTED RULES: whether the profile is taken at all. Controls: a sound one is, an unsound one is not.
compiles() {
    under '(version 1) (allow default)' /usr/bin/true
    sound=$code
    under '(version 1) (allow default) (no-such-form)' /usr/bin/true
    if [ "$sound" -ne 0 ] || [ "$code" -ne 65 ]; then
        row "$1" "$2" "no answer: the controls gave $sound and $code"
        return
    fi
    under "(version 1) (allow default) $3" /usr/bin/true
    if [ "$code" -eq 0 ]; then row "$1" "$2" accepted; else row "$1" "$2" "rejected (exit $code: $said)"; fi
}

LONG=$D
while [ "${#LONG}" -lt 400 ]; do LONG=$LONG/a-name-that-makes-a-long-path; done
NFC=$(printf 'caf\303\251')
LONG_S=$(printf '\305\277')
NFD=$(printf 'cafe\314\201')

# The files that every question begins with.
files() {
    chmod -R u+rwx "$D/w" 2> /dev/null
    rm -rf "$D/w"
    mkdir -p "$D/w/dir/sub" "$D/w/scratch" "$LONG"
    for file in plain plain-s Secret "$NFC" dir/sub/key dir/other scratch/.palisade-sentinel scratch/file; do
        echo text > "$D/w/$file"
    done
    echo text > "$LONG/file"
    echo text > "$D/quo\"te"
    ln -s plain "$D/w/link"
}

at() { printf '(string-append (param "D") "%s")' "$1"; }
literal() { printf '(literal %s)' "$(at "$1")"; }
subpath() { printf '(subpath %s)' "$(at "$1")"; }

# --- which rule wins
ask 'leaf denial of a literal after everything is allowed' denied "(deny file-read-data $(literal /w/plain))" /bin/cat "$D/w/plain"
ask 'the same filter, last rule wins' allowed "(deny file-read-data $(literal /w/plain)) (allow file-read-data $(literal /w/plain))" /bin/cat "$D/w/plain"
ask 'allow on a leaf, later denial on its wildcard: the leaf holds' allowed "(allow file-read-data $(subpath /w)) (deny file-read* $(literal /w/plain))" /usr/bin/head -n 1 "$D/w/plain"
ask 'denial on a leaf, later allow on its wildcard: the leaf holds' denied "(deny file-read-data $(literal /w/plain)) (allow file-read* $(subpath /w))" /bin/cat "$D/w/plain"
ask 'a filtered denial and a later unfiltered allow of the same operation: the filtered one holds' denied "(deny file-read-data $(literal /w/plain)) (allow file-read-data)" /bin/cat "$D/w/plain"
reads 'an unfiltered allow on a leaf and a filtered denial on its wildcard: the leaf holds' allowed "(allow file-read-metadata) (deny file-read* $(literal /w/plain)) (allow file-read-data)" /bin/cat "$D/w/plain"

# --- paths
ask 'subpath whose path is a regular file covers it' denied "(deny file-read-data $(subpath /w/plain))" /bin/cat "$D/w/plain"
ask 'subpath stops at the end of a name (dir, not dirt)' allowed "(deny file-read-data $(subpath /w/pla))" /bin/cat "$D/w/plain"
ask 'a denial holds for another case of the same name' denied "(deny file-read-data $(literal /w/Secret))" /bin/cat "$D/w/sECRET"
ask 'a denial written in another case holds' denied "(deny file-read-data $(literal /w/sECRET))" /bin/cat "$D/w/Secret"
ask 'the disk takes the long s for s' allowed '' /bin/cat "$D/w/plain-$LONG_S"
ask 'a denial holds for the long s too' denied "(deny file-read-data $(literal /w/plain-s))" /bin/cat "$D/w/plain-$LONG_S"
ask 'a denial written with the long s holds for what is made so' denied "(deny file-write-create $(literal "/w/new-$LONG_S"))" /usr/bin/touch "$D/w/new-$LONG_S"
ask 'and not for what is made with s' allowed "(deny file-write-create $(literal "/w/new-$LONG_S"))" /usr/bin/touch "$D/w/new-s"
ask 'a denial written in NFC holds for a file opened in NFD' denied "(deny file-read-data $(literal "/w/$NFC"))" /bin/cat "$D/w/$NFD"
ask 'a denial written in NFD holds for a file made in NFC' denied "(deny file-read-data $(literal "/w/$NFD"))" /bin/cat "$D/w/$NFC"
ask 'a denial of what a symlink leads to holds through it' denied "(deny file-read-data $(literal /w/plain))" /bin/cat "$D/w/link"
ask 'a denial of the symlink itself does not' allowed "(deny file-read-data $(literal /w/link))" /bin/cat "$D/w/link"
ask 'a trailing slash makes a dead rule' allowed "(deny file-read-data $(subpath /w/dir/))" /bin/cat "$D/w/dir/other"
ask 'a doubled slash makes a dead rule' allowed "(deny file-read-data $(subpath //w/dir))" /bin/cat "$D/w/dir/other"
ask 'the spelling of the Data volume makes a dead rule' allowed "(deny file-read-data (subpath (string-append \"/System/Volumes/Data\" $(at /w))))" /bin/cat "$D/w/plain"
ask 'a denial holds for the spelling of the Data volume' denied "(deny file-read-data $(subpath /w))" /bin/cat "/System/Volumes/Data$D/w/plain"

# --- moving and linking
ask 'a denied file can be renamed where only reading is denied' allowed "(deny file-read-data $(literal /w/plain))" /bin/mv "$D/w/plain" "$D/w/moved"
ask 'file-write-unlink keeps it' denied "(deny file-write-unlink $(literal /w/plain))" /bin/mv "$D/w/plain" "$D/w/moved"
ask 'file-write-unlink on the literal keeps a directory from being renamed' denied "(deny file-write-unlink $(literal /w/dir))" /bin/mv "$D/w/dir" "$D/w/moved"
ask 'and leaves what lies in it alone' allowed "(deny file-write-unlink $(literal /w/dir))" /bin/rm "$D/w/dir/other"
ask 'a hard link to a file that may not be read can be made' allowed "(deny file-read-data $(literal /w/plain))" /bin/ln "$D/w/plain" "$D/w/hard"
ask 'file-link on its literal keeps it' denied "(deny file-link $(literal /w/plain))" /bin/ln "$D/w/plain" "$D/w/hard"
ask 'file-clone on its literal keeps it' denied "(deny file-clone $(literal /w/plain))" /bin/cp -c "$D/w/plain" "$D/w/clone"
ask 'file-write* on its literal does not cover file-link' allowed "(deny file-write* $(literal /w/plain))" /bin/ln "$D/w/plain" "$D/w/hard"
ask 'file-write-setugid is denied by name only' denied "(deny file-write-setugid)" /bin/chmod u+s "$D/w/plain"

# --- the sentinel by which the sweep knows a run
SENTINEL="(allow file-read-data file-read-metadata file-write* $(subpath /w/scratch)) (deny file-read-data file-read-metadata file-read-xattr file-write-create file-write-data file-write-unlink file-link $(literal /w/scratch/.palisade-sentinel))"
reads 'the scratch may be read' allowed "$SENTINEL" /bin/cat "$D/w/scratch/file"
reads 'its sentinel may not' denied "$SENTINEL" /bin/cat "$D/w/scratch/.palisade-sentinel"
ask 'nor may it be replaced' denied "$SENTINEL" /bin/mv -f "$D/w/scratch/file" "$D/w/scratch/.palisade-sentinel"

# --- the way to the temporary directory
compiles 'path-ancestors of a parameter' accepted '(deny file-read-metadata (path-ancestors (param "D")))'
ask 'path-ancestors names the directory above' denied '(deny file-read-metadata (path-ancestors (param "D")))' /usr/bin/stat "$(dirname "$D")"
ask 'and not the path itself' allowed '(deny file-read-metadata (path-ancestors (param "D")))' /usr/bin/stat "$D"

# --- operations that (deny default) leaves open: what each denial of ours does to ordinary programs
for operation in darwin-notification-post fs-snapshot-mount iokit-get-properties iokit-open-service job-creation \
    mach-cross-domain-lookup mach-derive-port necp-client-open 'nvram*' 'process-info*' process-info-codesignature \
    system-memorystatus-control system-necp-client-action system-privilege; do
    ask "a shell and a pipe without $operation" allowed "(deny $operation)" /bin/sh -c '/bin/ls / | /usr/bin/wc -l'
done
ask 'a shell without mach-task-special-port*, its -get allowed' allowed '(deny mach-task-special-port*) (allow mach-task-special-port-get)' /bin/sh -c '/bin/ls / | /usr/bin/wc -l'
PORT=$((40000 + RANDOM % 20000))
for operation in necp-client-open system-necp-client-action system-privilege; do
    ask "a connection over loopback without $operation" allowed "(deny $operation)" /bin/sh -c \
        '/usr/bin/nc -l 127.0.0.1 "$1" > /dev/null & sleep 1; /usr/bin/nc -z 127.0.0.1 "$1"' sh "$PORT"
done

# --- a terminal of its own, as `needs terminal` grants it
PTY='(allow pseudo-tty) (allow file-read* file-write-data (literal "/dev/ptmx")) (allow file-ioctl (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))'
TERMINALS='file-read-data file-read-metadata file-write-data'
grants 'a pseudo-terminal can be made and used, its name granted' allowed "$PTY (allow $TERMINALS (regex #\"^/dev/ttys[0-9]+\$\"))" /usr/bin/script -q /dev/null /bin/echo text
grants 'the extension that the kernel issues for it is enough' allowed "$PTY (allow $TERMINALS (require-all (regex #\"^/dev/ttys[0-9]+\$\") (extension \"com.apple.sandbox.pty\")))" /usr/bin/script -q /dev/null /bin/echo text

# --- the language
compiles '(trace "f") is taken' accepted "(trace \"$D/trace\")"
compiles 'iokit-open is still a name' accepted '(deny iokit-open (iokit-user-client-class "none"))'
compiles 'a block comment is not' rejected '#| a comment |#'
compiles 'a bare string is no filter' rejected '(deny file-read-data "/x")'
compiles 'a missing parameter is refused' rejected '(deny file-read-data (literal (param "MISSING")))'
compiles 'remote ip with a host is refused' rejected '(deny network-outbound (remote ip "192.0.2.1:80"))'
compiles 'a parameter of 400 bytes' accepted '(deny file-read-data (literal (param "LONG")))'
compiles 'a literal of 400 bytes' accepted "(deny file-read-data (literal \"$LONG\"))"
ask 'and that literal holds' denied "(deny file-read-data (literal \"$LONG/file\"))" /bin/cat "$LONG/file"
ask 'an escaped quote in a cooked string' denied "(deny file-read-data $(literal '/quo\"te'))" /bin/cat "$D/quo\"te"
compiles 'an escaped quote in a raw string ends it' rejected '(deny file-read-data (regex #"^/x\"y$"))'
compiles 'a group without capture in a regex' rejected '(deny file-read-data (regex #"^/(?:x|y)$"))'
ask 'a regex is case-sensitive' allowed '(deny file-read-data (regex #"/SECRET$"))' /bin/cat "$D/w/Secret"

# --- how sandbox-exec ends
under '(version 1) (no-such-form)' /usr/bin/true
row 'exit code of a rejected profile' 65 "$code ($said)"
under '(version 1) (allow default)' "$D/no-such-program"
row 'exit code where the program is missing' 71 "$code ($said)"
under '(version 1) (allow default) (deny process-exec* (literal "/bin/echo"))' /bin/echo
row 'exit code where the program may not be run' 71 "$code ($said)"
under '(version 1) (allow default)' "$SANDBOX" -p '(version 1) (allow default)' /usr/bin/true
row 'exit code of a sandbox in a sandbox' 71 "$code ($said)"
under '(version 1) (allow default)' /bin/sh -c 'exit 65'
row "a command's own 65 is passed on" 65 "$code ($said)"
under '(version 1) (allow default)' /bin/sh -c 'kill -9 $$'
row "a command's signal is passed on" 137 "$code ($said)"
"$SANDBOX" > "$D/out" 2> "$D/err" < /dev/null
code=$?
row 'exit code without arguments' 64 "$code ($(head -n 1 "$D/err" | tr '|' '/'))"

table() {
    printf 'macOS %s (%s), %s, file system of the temporary directory: %s\n\n' \
        "$(sw_vers -productVersion)" "$(sw_vers -buildVersion)" "$(uname -m)" \
        "$(mount | awk -v d="$(df "$D" | awk 'END { print $1 }')" '$1 == d { gsub(/[(),]/, "", $4); print $4; exit }')"
    printf '| question | expected by our model | measured |\n|---|---|---|\n'
    cat "$rows"
}

table
if [ $# -gt 0 ]; then table > "$1"; fi
exit "$differing"
