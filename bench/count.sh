#!/usr/bin/env bash
# count.sh PROGRAM [CONTESTANT MODEL QUANTITY]
# What one call takes, counted by callgrind: instructions, and floating-point multiplications,
# additions and divisions (square roots among them), those of packed instructions one by one. Unlike
# times, counts are the same on a busy machine. PROGRAM is bench_peers, built for any x86-64:
# valgrind may not know the instructions of a native build. With one contestant, model and quantity:
# function by function. With CACHED=1 in the environment: what is left at the same q and u.
#
# Floating-point operations are found by looking up each executed address in the disassembly of the
# program; what shared libraries do (the peers, libm) counts as instructions only.
set -euo pipefail
[ $# -eq 1 ] || [ $# -eq 4 ] || { sed -n '2,4p' "$0" >&2; exit 1; }
program=$1
calls=20
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# address, multiplications, additions, divisions of one execution
objdump -d --no-show-raw-insn "$program" | awk '
    $1 !~ /^[0-9a-f]+:$/ { next }
    $2 ~ /^v?(mul|add|sub|div|sqrt)[sp]d$/ || $2 ~ /^vfn?m(add|sub)[0-9]+[sp]d$/ {
        lanes = $2 ~ /sd$/ ? 1 : $0 ~ /%zmm/ ? 8 : $0 ~ /%ymm/ ? 4 : 2
        fused = $2 ~ /^vf/
        mul = fused || $2 ~ /mul/
        div = $2 ~ /div|sqrt/
        add = fused || $2 ~ /add|sub/
        sub(":", "", $1)
        print $1, mul * lanes, add * lanes, div * lanes
    }' >"$work/weights"

# executed instructions, as "function address count"; a line after "calls=" is the cost of the
# callee
trace() { # CONTESTANT MODEL QUANTITY
    valgrind --tool=callgrind --dump-instr=yes --compress-pos=no --compress-strings=no \
        --toggle-collect=run_repeatedly --callgrind-out-file="$work/trace" \
        "$program" ${CACHED:+--cached} --repeat "$1" "$2" "$3" $calls >/dev/null 2>&1 || return 1
    awk -v program="$(realpath "$program")" '
        /^ob=/ { own = substr($0, 4) == program }
        /^fn=/ { name = substr($0, 4); gsub(" ", "_", name) }
        /^calls=/ { skip = 1; next }
        /^0x/ {
            if (skip) { skip = 0; next }
            print name, own ? substr($1, 3) : "-", $3
        }' "$work/trace"
}

sum() { # by name, or all when "all": instructions, multiplications, additions, divisions per call
    awk -v calls=$calls -v all="$1" '
        NR == FNR { mul[$1] = $2; add[$1] = $3; div[$1] = $4; next }
        {
            key = all == "all" ? "all" : $1
            i[key] += $3; if ($2 == "-") other[key] += $3
            m[key] += $3 * mul[$2]; a[key] += $3 * add[$2]; d[key] += $3 * div[$2]
        }
        END {
            for (k in i) {
                printf "%12.1f", i[k] / calls
                if (other[k] > i[k] / 2) printf " %10s %10s %8s", "-", "-", "-"
                else printf " %10.1f %10.1f %8.1f", m[k] / calls, a[k] / calls, d[k] / calls
                print "  " k
            }
        }' "$work/weights" -
}

heading="instructions       mult.       add.     div."
if [ $# -eq 4 ]; then
    echo "$heading  function"
    trace "$2" "$3" "$4" | sum function | sort -rn
    exit
fi
printf '%-18s %-18s %-10s %s\n' model quantity who "$heading"
models=("chain 10" "chain 100" "chain 300" "balls 50" "ball-closed 100" "four-bars 100" squeezer)
quantities=(kinematics "inverse dynamics" "forward dynamics" "M v" "M^-1 v" M Jacobian)
for model in "${models[@]}"; do
    for quantity in "${quantities[@]}"; do
        for who in Talus "bare C" Simbody MuJoCo; do
            trace "$who" "$model" "$quantity" >"$work/counts" || continue # it does not do this
            printf '%-18s %-18s %-10s ' "$model" "$quantity" "$who"
            sum all <"$work/counts" | sed 's/  all$//'
        done
    done
done
