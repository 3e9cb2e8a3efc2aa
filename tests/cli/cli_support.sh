# shellcheck shell=bash
# What the tests of the program share. Source it with: TALUS SOURCE_DIR
# They work in a folder of their own, with the models in it, so that no path shows in what is
# printed.
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
    # a user of the program knows no names of the library, and writes 0.005, not
    # 0.0050000000000000001
    ! grep -nE '\<(tal_[a-z]|TAL_[A-Z]|tali_|TALI_)' out err ||
        complain "talus $*: this is not a message for a user"
    ! grep -nE '[0-9][.][0-9]*(0{15}|9{15})' err ||
        complain "talus $*: nobody writes numbers like that"
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

# --- numbers: what is missing or not finite is "none", and "none" is neither near nor less ---

# numeric TEXT...: each is one finite number
numeric() {
    local text
    for text in "$@"; do
        [[ $text =~ ^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$ ]] || return 1
    done
}

# rows FILE PROGRAM: an awk program over the rows of a .sto table, where x["name"] is the value of a
# column. A value that is not finite, a column that is not there, and a table without rows end
# it with "none".
rows() {
    sed '1,/^endheader/d' "$1" | awk -F '\t' '
        function is_number(v) { return v ~ /^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$/ }
        function give_up() { print "none"; given_up = 1; exit }
        NR == 1 { for (i = 1; i <= NF; i++) { name[i] = $i; known[$i] }; columns = NF; next }
        NF != columns { give_up() }
        { for (i = 1; i <= NF; i++) { if (!is_number($i)) give_up(); x[name[i]] = $i } }
        END { if (given_up) exit; if (NR < 2) give_up();
        for (key in x) if (!(key in known)) give_up() }
        '"$2"
}

# first, last FILE COLUMN: a value of a column; drift FILE COLUMN: the largest change from the first
# one
first() {
    rows "$1" 'NR == 2 { value = x["'"$2"'"] } END { print value }'
}
last() {
    rows "$1" '{ value = x["'"$2"'"] } END { print value }'
}
drift() {
    rows "$1" 'NR == 2 { start = x["'"$2"'"] } { d = x["'"$2"'"] - start; d = d < 0 ? -d : d;
        if (d > most) most = d }
        END { print most + 0 }'
}

# less VALUE LIMIT WHAT: WHAT is not above the limit
less() {
    if ! numeric "$1" "$2" || ! awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 <= b + 0) }'; then
        complain "$3: $1 > $2"
    fi
}

# near VALUE EXPRESSION TOLERANCE WHAT: the value is what the awk expression says, to an absolute
# tolerance
near() {
    local expected
    expected=$(awk -v pi=3.14159265358979323846 'BEGIN { b = '"$2"'; printf "%.17g", b }')
    if ! numeric "$1" "$expected" "$3" || ! awk -v a="$1" -v b="$expected" -v tolerance="$3" \
        'BEGIN { d = a - b; exit !(d <= tolerance && -d <= tolerance) }'; then
        complain "$4: $1 is not within $3 of $2"
    fi
}

finish() {
    echo "$failures failures"
    [ "$failures" -eq 0 ]
}
