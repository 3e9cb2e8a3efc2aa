#!/usr/bin/env bash
# array_sizes.sh SOURCE_DIR [list]
# Every array that a public function takes states its size, in the form that CONTRIBUTING.md
# defines:
#
#     @param[out] udot  [nu] accelerations
#
# Arrays are parameters written `name[]`, in functions and in the tables of functions that users
# fill. A pointer is to one object: a pointer to constant numbers would be an array that does not
# say so. `list` prints all sizes, one line for each array: header, function, direction, type, name,
# size.
set -eu
export LC_ALL=C
cd "$1"
# shellcheck disable=SC2016 # a program for awk: nothing in it is for the shell
find ./*/include -name '*.h' | sort | xargs awk -v list="${2:-}" '
function complain(what) {
    printf "%s:%d: %s %s\n", FILENAME, line, name, what
    ++failures
}

# What the comment says of a parameter: "out [nu]"; empty when it has no size.
function said_of(array,    k, one, direction) {
    for (k = 1; k <= num_said; ++k) {
        one = said[k]
        direction = one
        sub(/^@param\[/, "", direction)
        sub(/\].*/, "", direction)
        sub(/^@param\[[a-z,]*\] +/, "", one)
        if (one !~ "^" array " +\\[") continue
        sub("^" array " +", "", one)
        if (match(one, /^(\[[^][]+\])+/)) return direction "\t" substr(one, RSTART, RLENGTH)
    }
    return ""
}

function check_parameter(text,    array, type, found) {
    if (text ~ /^ *const (double|int|float|bool) \*[a-z]/) {
        complain("takes `" text "`: write an array as `name[]`, and say its size")
    }
    if (text !~ /\[\]$/) return
    array = text
    sub(/\[\]$/, "", array)
    type = array
    sub(/[A-Za-z0-9_]+$/, "", type)
    sub(/^ */, "", type)
    sub(/ *$/, "", type)
    sub(/.*[^A-Za-z0-9_]/, "", array)
    ++arrays
    found = said_of(array)
    if (found == "") complain("does not say how long `" array "` is: @param[...] " array "  [size]")
    else if (list != "") printf "%s\t%s\t%s\t%s\t%s\n", FILENAME, name, type, array, found
}

# A whole declaration: "double f(const double x[], int n);"
function check(text,    params, n, k, part) {
    gsub(/TAL_PRINTF\([^)]*\)/, "", text)
    if (match(text, /\(\*[a-z0-9_A-Z]+\)\(/)) {
        name = substr(text, RSTART + 2, RLENGTH - 4)
    } else if (match(text, /[a-z0-9_A-Z]+\(/)) {
        name = substr(text, RSTART, RLENGTH - 1)
    } else {
        return
    }
    params = substr(text, RSTART + RLENGTH)
    sub(/\)[^)]*$/, "", params)
    n = split(params, part, ",")
    for (k = 1; k <= n; ++k) check_parameter(part[k])
}

FNR == 1 { num_said = 0; declaration = "" }
{ code = $0; sub(/[ \t]*\/\/.*/, "", code) }

declaration != "" {
    sub(/^ +/, " ", code)
    declaration = declaration code
    if (code !~ /[;{]/) next
    check(declaration)
    declaration = ""
    num_said = 0
    next
}
/^ *(\/\/\/|\*|\/\*\*)/ {
    text = $0
    sub(/^ *(\/\/\/|\*\/?|\/\*\*) */, "", text)
    if (text ~ /^@param/) said[++num_said] = text
    next
}
/^ *(TAL_API|TAL_NODISCARD|static inline) / || /^ +[a-z_][a-z0-9_ *]*\(\*[a-z_0-9A-Z]+\)\(/ {
    line = FNR
    declaration = code
    if (code ~ /[;{]/) { check(declaration); declaration = ""; num_said = 0 }
    next
}
{ num_said = 0 }
END {
    if (list == "") printf "%d array parameters, %d failures\n", arrays, failures
    exit failures > 0
}'
