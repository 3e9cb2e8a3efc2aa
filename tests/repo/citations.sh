#!/usr/bin/env bash
# citations.sh SOURCE_DIR
# A citation is "KEY eq. 7.43", "KEY tab. 7.1", "KEY alg. 6.1", "KEY sec. II.4" and so on. Its key
# must have an entry "- **KEY**" in doc/references.md. Sources and documents are looked through.
set -eu
export LC_ALL=C
cd "$1"
keys=$(sed -n 's/^- \*\*\([A-Za-z0-9]*\)\*\*.*/\1/p' doc/references.md)
mapfile -t files < <(find . -path ./build -prune -o \( -name '*.[ch]' -o -path './doc/*.md' \) -print | sort)

# file:line:key, for words that start with a capital letter, and for "manual"
used() {
    local place='(eqs?|tabs?|algs?|secs?|ch|figs?|ex|pp?|app)\. ?[0-9IVXA-Z]'
    grep -noE "\\b([A-Z][A-Za-z0-9]*|manual) $place" "$@" /dev/null |
        sed -E 's/ [a-z]+\. ?.$//' || true
}

failures=0
count=0
while IFS=: read -r file line key; do
    [ -n "$file" ] || continue
    count=$((count + 1))
    if ! grep -qx "$key" <<<"$keys"; then
        echo "$file:$line cites '$key', which doc/references.md does not define"
        failures=$((failures + 1))
    fi
done < <(used "${files[@]}")
echo "$(wc -l <<<"$keys") keys, $count citations, $failures unknown"
[ -n "$keys" ] && [ "$failures" -eq 0 ]
