#!/usr/bin/env bash
# terminal.sh TALUS SOURCE_DIR
# Progress where there is no terminal: plain lines, nothing with --quiet.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

expect 0 simulate held.talus -e 1 -o result.sto
has err '1 s in '
has err 'times real time'
if grep -q '\[[#.]' err; then complain "there is a bar where there is no terminal"; fi
expect 0 simulate held.talus -e 1 -o result.sto --quiet
is err ''
is out ''

# a run that is interrupted after three seconds has said where it stands
"$talus" simulate held.talus -a 1e-9 -e 1e7 --every 1 -o long.sto >out 2>err &
run=$!
sleep 3
kill -s INT "$run"
wait "$run"
grep -qE '^[0-9.e+]+ of 1e\+07 s, [0-9.e+]+ times real time, [0-9.e+]+ s left$' err ||
    complain "no line of progress: $(cat err)"
finish
