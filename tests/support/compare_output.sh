#!/usr/bin/env bash
# compare_output.sh PROGRAM EXPECTED [FLOOR]
# Runs PROGRAM and compares its standard output with the file EXPECTED, line by line: the words must
# be the same, the numbers must agree to a relative 1e-9. Blanks before a number do not count,
# because a column's padding moves with a minus sign. FLOOR is an absolute error that is allowed
# besides, for numbers that would be zero without round-off.
set -eu
program=$1
expected=$2
floor=${3:-0}

printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
if ! "$program" >"$printed"; then
    echo "$program failed; it printed:"
    cat "$printed"
    exit 1
fi

awk -v tolerance=1e-9 -v floor="$floor" '
    # words of a line with "#" for each number; the numbers go into the array
    function split_numbers(line, numbers,    words, count) {
        words = ""
        count = 0
        while (match(line, /[ \t]*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?/)) {
            words = words substr(line, 1, RSTART - 1) "#"
            numbers[++count] = substr(line, RSTART, RLENGTH) + 0
            line = substr(line, RSTART + RLENGTH)
        }
        numbers[0] = count
        return words line
    }
    function size(x) { return x < 0 ? -x : x }
    function differ(why) {
        printf "line %d differs (%s)\n  expected: %s\n  printed:  %s\n", FNR, why, want[FNR], $0
        failures++
    }
    FILENAME == ARGV[1] { want[++lines] = $0; next }
    { printed = FNR }
    FNR > lines { differ("one line too many"); next }
    {
        if (split_numbers($0, got_n) != split_numbers(want[FNR], want_n)) { differ("words"); next }
        for (i = 1; i <= got_n[0]; i++) {
            gap = size(got_n[i] - want_n[i])
            scale = size(got_n[i]) > size(want_n[i]) ? size(got_n[i]) : size(want_n[i])
            if (!(gap <= tolerance * scale + floor)) { differ("number " i); next }
        }
    }
    END {
        if (printed < lines) { printf "expected %d lines, got %d\n", lines, printed; failures++ }
        exit failures > 0
    }' "$expected" "$printed"
