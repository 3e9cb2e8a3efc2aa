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
finish
