# shellcheck shell=bash
# What the tests of the program share. Source it with: TALUS SOURCE_DIR
# They work in a folder of their own, with the models in it, so that no path shows in what is printed.
set -u
talus=$1
source_dir=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$source_dir"/tests/cli/models/* "$source_dir"/examples/models/*.talus "$work"
cd "$work" || exit 1
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

# expect CODE ARGUMENT...: run the program; its output is in the files out and err
expect() {
    local want=$1 got=0
    shift
    "$talus" "$@" >out 2>err || got=$?
    [ "$got" -eq "$want" ] ||
        complain "talus $*: exit code $got instead of $want; it said: $(head -3 err)"
}

# is FILE TEXT: the file has this text and nothing else
is() {
    [ "$(cat "$1")" = "$2" ] ||
        complain "expected: $2
     got: $(cat "$1")"
}

# has FILE TEXT: the text stands somewhere in the file
has() {
    grep -qF -- "$2" "$1" || complain "'$2' is not in $1: $(head -5 "$1")"
}

# last FILE COLUMN: the last value of a column of a table
last() {
    awk -F '\t' -v name="$2" '/^endheader/ { inside = 1; next }
        inside == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; inside = 2; next }
        inside == 2 { value = $column } END { print value }' "$1"
}

# less VALUE LIMIT WHAT: WHAT is not above the limit
less() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 <= b + 0) }' || complain "$3: $1 > $2"
}

finish() {
    echo "$failures failures"
    [ "$failures" -eq 0 ]
}
