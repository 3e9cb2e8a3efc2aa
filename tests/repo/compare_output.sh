#!/usr/bin/env bash
# compare_output.sh SOURCE_DIR
# The comparison behind the example tests accepts round-off and nothing else.
set -eu
compare=$1/tests/support/compare_output.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failures=0
try() { # same|different EXPECTED PRINTED
    printf '%b' "$2" >"$work/expected"
    printf '#!/bin/sh\nprintf "%%b" "%s"\n' "$3" >"$work/program"
    chmod +x "$work/program"
    local answer=same
    bash "$compare" "$work/program" "$work/expected" >/dev/null || answer=different
    if [ "$answer" != "$1" ]; then
        echo "'$2' and '$3' should be $1"
        failures=$((failures + 1))
    fi
}

try same 'x = 1.5 m\n' 'x = 1.5 m\n'
try same 'x = 1.0000000000\n' 'x = 1.0000000005\n'
try same 'x  0.000\n' 'x -0.000\n'
try same 'x 1e-3 2\n' 'x 0.001 2.0\n'
try different 'x = 1.00000000\n' 'x = 1.00000001\n'
try different 'x = 1e-12\n' 'x = 2e-12\n'
try different 'x = 1 m\n' 'x = 1 s\n'
try different 'x = 1\n' 'x = nan\n'
try different 'x = 1\n' 'x = 1\nx = 2\n'
try different 'x = 1\nx = 2\n' 'x = 1\n'
try different 'x = 1\n' ''
try different '' 'x = 1\n'
try different 'x = 1 2\n' 'x = 1\n'

# a program that fails is a failure, whatever it printed
printf 'x\n' >"$work/expected"
printf '#!/bin/sh\necho x\nexit 3\n' >"$work/program"
if bash "$compare" "$work/program" "$work/expected" >/dev/null; then
    echo "a program that exits with 3 was accepted"
    failures=$((failures + 1))
fi
[ "$failures" -eq 0 ]
