#!/usr/bin/env bash
# resume.sh TALUS SOURCE_DIR
# A sweep with --resume that is killed at any time goes on to the same bytes; shards are merged;
# what is damaged is made again.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

# refused CODE SENTENCE ARGUMENT...
refused() {
    local code=$1 sentence=$2
    shift 2
    expect "$code" "$@"
    is err "$sentence"
}

vary='-v mass=1:2:3 -v arm.q0=0:1:100 -e 0.5 -c q,u'
# shellcheck disable=SC2086 # words
sweep() { "$talus" sweep held.talus -q $vary "$@"; }

sweep -o whole.csv || complain "a sweep failed"

# --- killed at random times: twenty times, on one thread and on two ---
RANDOM=7
for ((i = 0; i < 20; i++)); do
    # shellcheck disable=SC2086 # words
    "$talus" sweep held.talus -q $vary -t $((1 + i % 2)) --resume -o killed.csv 2>/dev/null &
    run=$!
    sleep "0.0$((RANDOM % 90 + 10))"
    kill -9 "$run" 2>/dev/null
    wait "$run" 2>/dev/null
    [ ! -e killed.csv ] || break # it was done
done
sweep --resume -o killed.csv || complain "a sweep that was killed does not go on"
cmp -s whole.csv killed.csv || complain "a sweep that was killed has other bytes"
[ ! -e killed.csv.run ] || complain "killed.csv.run is left"

# --- a signal ends it cleanly: a sentence, and what is done is kept ---
"$talus" sweep held.talus -q -v mass=1:2:3000 -e 20 --resume -o long.csv 2>err &
run=$!
for ((i = 0; i < 100; i++)); do
    [ -e long.csv.run/chunk-0000000 ] && break
    sleep 0.1
done
kill -TERM "$run"
code=0
wait "$run" || code=$?
[ "$code" -eq 1 ] || complain "an interrupted sweep ends with $code"
has err 'samples left; the same command goes on.'
[ -e long.csv.run/manifest ] || complain "an interrupted sweep did not keep what was done"
[ ! -e long.csv ] || complain "an interrupted sweep wrote a table"

# --- another command is refused with what differs ---
expect 3 sweep held.talus -q -v mass=1:2:3000 -e 21 --resume -o long.csv
has err "it has 'talus_option_end: 20' instead of 'talus_option_end: 21'"

# --- shards in one folder, and in three that are merged; one file is damaged ---
for i in 1 2 3; do
    sweep --resume -o shards.csv --shard $i/3 || complain "shard $i failed"
    sweep --resume -o part$i.csv --shard $i/3 || complain "shard $i failed"
done
[ ! -e shards.csv ] || complain "a shard wrote the table"
sweep --resume -o shards.csv || complain "shards are not put together"
cmp -s whole.csv shards.csv || complain "shards have other bytes"
damaged=part2.csv.run/chunk-0000001
printf 'x' | dd of=$damaged bs=1 seek=100 conv=notrunc 2>/dev/null
sweep --resume -o part1.csv --merge part2.csv.run --merge part3.csv.run 2>err ||
    complain "folders are not merged: $(cat err)"
has err 'talus sweep: 1 files of the run were damaged; they are made again.'
cmp -s whole.csv part1.csv || complain "merged folders have other bytes"
expect 3 sweep held.talus -q -v mass=1:2:3 -e 1 -o other.csv --merge part3.csv.run
has err 'is of another batch'

# --- samples: a Latin hypercube has one in each tenth ---
expect 0 sweep held.talus -q -v arm.q0=0:1 -n 10 --latin -e 0.1 -c u -o latin.csv
[ "$(grep -v '^#' latin.csv | awk -F, 'NR > 1 { print int($1 * 10) }' | sort -n | tr '\n' ' ')" = \
    '0 1 2 3 4 5 6 7 8 9 ' ] || complain "--latin: $(cat latin.csv)"

# --- wrong usage ---
refused 2 'talus sweep: --resume needs -o FILE: what is done is kept in FILE.run.' \
    sweep held.talus -v mass=1:2:3 --resume
refused 2 'talus sweep: --shard needs --resume, which keeps what is done.' \
    sweep held.talus -v mass=1:2:3 --shard 1/2 -o x.csv
for shard in 0/2 3/2 1 x 1/2/3; do
    refused 2 "talus sweep: --shard needs I/N, as 1/8 ... 8/8, not '$shard'." \
        sweep held.talus -v mass=1:2:3 --resume --shard $shard -o x.csv
done
refused 2 'talus sweep: --latin needs the number of --samples.' \
    sweep held.talus -v mass=1:2:3 --latin

finish
