#!/usr/bin/env bash
# cross_compare.sh OUT PROGRAM EMULATOR OTHER_PROGRAM
# Run the example models by two builds of the program, the second under an emulator, and compare
# what they write number by number: headers name the build, so they are left out. The same bytes are
# expected, but for models that use hypot() or cbrt(): these two of glibc round differently on ARM.
# It fails where numbers are further apart than 1e-9 of their size, or of 1.
set -euo pipefail
out=$1 one=$2 emulator=$3 other=$4
mkdir -p "$out"
code=0
while read -r name options; do
    model=examples/models/$name.talus
    # shellcheck disable=SC2086 # options and the emulator are words
    "$one" simulate "$model" -q -o "$out/$name.one.csv" $options
    # shellcheck disable=SC2086
    $emulator "$other" simulate "$model" -q -o "$out/$name.other.csv" $options
    for side in one other; do grep -v '^#' "$out/$name.$side.csv" >"$out/$name.$side"; done
    if cmp -s "$out/$name.one" "$out/$name.other"; then
        echo "$name: the same bytes"
    else
        awk -F, -v name="$name" '
            NR == FNR { row[FNR] = $0; next }
            { n = split(row[FNR], a, ",")
              for (i = 1; i <= n; ++i) {
                  d = a[i] - $i; if (d < 0) d = -d
                  s = a[i] < 0 ? -a[i] : a[i]; if (s < 1) s = 1
                  if (d / s > worst) worst = d / s } }
            END { printf "%s: differs by %g at most\n", name, worst; exit !(worst < 1e-9) }' \
            "$out/$name.one" "$out/$name.other" || code=1
    fi
done <examples/pages.txt
exit "$code"
