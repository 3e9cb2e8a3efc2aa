#!/usr/bin/env bash
# citations.sh SOURCE_DIR
# A citation is "KEY eq. 7.43", "KEY tab. 7.1", "KEY alg. 6.1", "KEY sec. II.4" and so on. Its key
# must have an entry "- **KEY**" in doc/references.md. Our own theory is cited as "theory T-6" or
# "theory eq. 6.2" (also "6.2 to 6.4", "6.2, 6.3 and 8.1"): doc/theory.md must have that section or
# that \tag. Sources and documents are looked through. The head of a kernel,
# */src/kernel/kernel_*.c, says what it is given, what it computes and from which source.
set -eu
export LC_ALL=C
cd "$1"
keys=$(sed -n 's/^- \*\*\([A-Za-z0-9]*\)\*\*.*/\1/p' doc/references.md)
sections=$(sed -n 's/^## \(T-[0-9]*\) .*/\1/p' doc/theory.md)
equations=$(grep -oE '\\tag\{[0-9]+\.[0-9]+\}' doc/theory.md | tr -cd '0-9.\n')
mapfile -t files \
    < <(find . -path ./build -prune -o \( -name '*.[ch]' -o -path './doc/*.md' \) -print | sort)

# file:line:key, for words that start with a capital letter, and for "manual"
keys_used() {
    local place='(eqs?|tabs?|algs?|secs?|ch|figs?|ex|pp?|app)\. ?[0-9IVXA-Z]'
    grep -noE "\\b([A-Z][A-Za-z0-9]*|manual) $place" "$@" /dev/null |
        sed -E 's/ [a-z]+\. ?.$//' || true
}

sections_used() { # file:line:T-6
    grep -noE '\bT-[0-9]+' "$@" /dev/null || true
}

equations_used() { # file:line:6.2, once for each number of a list
    local number='[0-9]+\.[0-9]+'
    grep -noE "\\btheory,? eq\\. $number((,| to| and|, and) $number)*" "$@" /dev/null |
        awk -F: '{ n = split($3, words, /[^0-9.]+/)
                   for (i = 1; i <= n; i++)
                       if (words[i] ~ /[0-9]$/) print $1 ":" $2 ":" words[i] }' || true
}

failures=0
count=0
check() { # KNOWN WHERE, reads file:line:cited
    local file line cited
    while IFS=: read -r file line cited; do
        [ -n "$file" ] || continue
        count=$((count + 1))
        if ! grep -qxF "$cited" <<<"$1"; then
            echo "$file:$line cites '$cited', which $2 does not have"
            failures=$((failures + 1))
        fi
    done
}
check "$keys" doc/references.md < <(keys_used "${files[@]}")
check "$sections" doc/theory.md < <(sections_used "${files[@]}")
check "$equations" doc/theory.md < <(equations_used "${files[@]}")

for kernel in */src/kernel/kernel_*.c; do
    grep -q 'TALI_KERNEL(' "$kernel" || continue # chooses among kernels, and is none
    head=$(sed '/^#include/,$d' "$kernel")
    for word in Given Compute Source; do
        grep -qE "^// $word\b" <<<"$head" && continue
        echo "$kernel has no '$word' in its head"
        failures=$((failures + 1))
    done
done

twice=$(sort <<<"$equations" | uniq -d)
[ -z "$twice" ] ||
    { echo "doc/theory.md has more than one equation $twice" && failures=$((failures + 1)); }
echo "$(wc -l <<<"$keys") keys, $(wc -l <<<"$sections") sections and" \
    "$(wc -l <<<"$equations") equations of theory, $count citations, $failures faults"
[ -n "$keys" ] && [ -n "$sections" ] && [ -n "$equations" ] && [ "$failures" -eq 0 ]
