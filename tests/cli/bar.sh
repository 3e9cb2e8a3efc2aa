#!/usr/bin/env bash
# bar.sh TALUS SOURCE_DIR
# Progress on a terminal: a bar. `script` gives the program one; where it cannot, as in a container
# without /dev/pts, the test is skipped (exit code 77).
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

if ! script -qec true typed >/dev/null 2>&1; then
    echo "there is no pseudo-terminal here"
    exit 77
fi
script -qec "timeout -s INT 1 '$talus' simulate held.talus -a 1e-9 -e 1e7 --every 1 -o bar.sto" \
    typed >/dev/null
grep -q '\[[#.]*\] [0-9.e+]* of 1e+07 s' typed ||
    complain "no bar on a terminal: $(tail -c 300 typed)"

# a tool of OpenSim knows how many rows there will be
cp "$source_dir"/examples/gait/* .
expect 0 ik leg.osim walk.trc -q -o angles.mot
script -qec "'$talus' cmc leg.osim angles.mot --cutoff 6 --window 0.0005 -o slow" typed >/dev/null
grep -qE '\[#+\.+\] [0-9.e+-]+ of 100 %, [0-9.e+-]+ s left' typed ||
    complain "no bar of a tool: $(tail -c 300 typed)"
grep -qE '[0-9]+ rows in [0-9.e+-]+ s' typed || complain "no rows: $(tail -c 300 typed)"
finish
