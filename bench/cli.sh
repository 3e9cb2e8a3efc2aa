#!/usr/bin/env bash
# cli.sh BUILD SOURCE [TIMES]
# What `talus simulate` costs over a C program that does the same with the library (api_simulate.c):
# instructions of the whole process by callgrind, and medians of processor time (of wall time with
# WALL=1), the two taking turns. Both must write the same numbers first.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,4p' "$0" >&2; exit 1; }
talus=$1/cli/talus
api=$1/bench/api_simulate
models=$2/examples/models
times=${3:-11}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

by_cli() { # MODEL END ROWS [TOOL...]
    "${@:4}" "$talus" simulate "$models/$1" \
        -q -e "$2" --every "$every" -c q,u,energy -o "$work/cli.csv" 2>/dev/null
}
by_api() { # MODEL END ROWS [TOOL...]
    "${@:4}" "$api" "$models/$1" "$2" "$3" "$work/api.csv" 2>/dev/null
}
instructions() { # COMMAND...
    "$@" valgrind --tool=callgrind --callgrind-out-file="$work/out"
    sed -n 's/^summary: //p' "$work/out"
}
milliseconds() { # COMMAND...
    local TIMEFORMAT='%3U %3S'
    [ -z "${WALL:-}" ] || TIMEFORMAT='%3R 0'
    { time "$@" 2>/dev/null; } 2>&1 | awk '{ print 1000 * ($1 + $2) }'
}
median() {
    sort -g | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'
}

printf '%-18s %6s %6s %14s %14s %8s %10s %10s %8s\n' \
    model "end" rows "instr. C" "instr. CLI" more "ms C" "ms CLI" more
while read -r model end rows; do
    every=$(awk -v e="$end" -v n="$rows" 'BEGIN { printf "%.17g", e / n }')
    by_cli "$model" "$end" "$rows"
    by_api "$model" "$end" "$rows"
    cmp -s <(grep -v '^#' "$work/cli.csv" | tail -n +2) \
        <(grep -v '^#' "$work/api.csv" | tail -n +2) || {
        echo "$model: the numbers differ" >&2
        exit 1
    }
    counted_api=$(instructions by_api "$model" "$end" "$rows")
    counted_cli=$(instructions by_cli "$model" "$end" "$rows")
    : >"$work/t_api"
    : >"$work/t_cli"
    for _ in $(seq "$times"); do
        milliseconds by_api "$model" "$end" "$rows" >>"$work/t_api"
        milliseconds by_cli "$model" "$end" "$rows" >>"$work/t_cli"
    done
    awk -v m="$model" -v e="$end" -v r="$rows" -v a="$counted_api" -v b="$counted_cli" \
        -v s="$(median <"$work/t_api")" -v t="$(median <"$work/t_cli")" 'BEGIN {
        printf "%-18s %6s %6s %14.0f %14.0f %7.1f%% %10.1f %10.1f %7.1f%%\n",
            m, e, r, a, b, 100 * (b / a - 1), s, t, 100 * (t / s - 1) }'
done <<'END'
pendulum.talus 10 100
pendulum.talus 100 1000
four_bar.talus 20 1000
human_body.talus 2 100
human_body.talus 1 1000
END
