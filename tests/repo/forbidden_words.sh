#!/usr/bin/env bash
# forbidden_words.sh SOURCE_DIR
# What the sources may not contain, by text search; comments do not count where code is meant.
set -eu
export LC_ALL=C
cd "$1"
mapfile -t library < <(find ./*/include ./*/internal ./*/src -name '*.[ch]' 2>/dev/null | sort)
mapfile -t all < <(find . -path ./build -prune -o -name '*.[ch]' -print | sort)
failures=0

# file:line:text with comments blanked out
code_of() {
    awk '
        FNR == 1 { inside = 0 }
        {
            line = $0
            out = ""
            while (line != "") {
                if (inside) {
                    end = index(line, "*/")
                    if (!end) break
                    line = substr(line, end + 2)
                    inside = 0
                } else if (match(line, /\/[\/*]/)) {
                    out = out substr(line, 1, RSTART - 1)
                    if (substr(line, RSTART, 2) == "//") break
                    line = substr(line, RSTART + 2)
                    inside = 1
                } else {
                    out = out line
                    break
                }
            }
            print FILENAME ":" FNR ":" out
        }' "$@"
}

report() { # WHY, violations on standard input
    local found
    found=$(cat)
    [ -n "$found" ] || return 0
    printf '%s:\n%s\n' "$1" "$found"
    failures=$((failures + 1))
}

# a call of one of the functions $1, not of a member of that name
calls() {
    code_of "${library[@]}" | grep -E ":.*(^|[^A-Za-z0-9_.>])($1) *\(" | grep -vE "$2" || true
}

report "memory comes from the allocator hook only (alloc_internal.h)" < <(
    calls 'malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strdup|alloca' \
        '^./common/src/alloc\.c:|\(\*free\)')
report "the library prints nothing; only contract.c does, through the handler" < <(
    calls 'printf|vprintf|puts|putchar|perror' '^./common/src/contract\.c:'
    code_of "${library[@]}" | grep -E '(^|[^A-Za-z0-9_])(stdout|stderr)([^A-Za-z0-9_]|$)' |
        grep -v '^./common/src/contract\.c:' || true)
report "the library never ends the process" < <(
    calls 'abort|exit|_Exit|quick_exit|longjmp' '^$')
report "randomness is seeded and counter-based" < <(
    calls 'rand|srand|random|drand48|time|clock' '^$')
report "open questions belong into an issue, not into the sources" < <(
    grep -nE '(^|[^A-Za-z])(TODO|FIXME|XXX|HACK)([^A-Za-z]|$)' "${all[@]}" || true)
report "names reach the page of the viewer as text, never as markup or code" < <(
    grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|[^a-zA-Z]eval\(|new Function' \
        viewer/src/*.js || true)
report "sources are ASCII" < <(
    grep -nP '[^\x00-\x7F]' "${all[@]}" || true)
report "tabs and trailing blanks" < <(
    grep -nE $'\t| $' "${all[@]}" || true)
report "a file of more than 800 lines wants to be two" < <(
    wc -l "${library[@]}" | awk '$2 != "total" && $1 > 800')
report "a public header opens with the two SPDX lines" < <(
    for header in ./*/include/talus/*.h ./*/include/talus/*/*.h; do
        [ -e "$header" ] || continue
        [ "$(sed -n 2p "$header")" = "// SPDX-License-Identifier: Apache-2.0" ] || echo "$header"
    done)
report "a header guard is named after its file" < <(
    for header in ./*/include/talus/*.h ./*/include/talus/*/*.h; do
        [ -e "$header" ] || continue
        guard=$(sed 's|.*/include/||; s|[/.]|_|g' <<<"$header" | tr '[:lower:]' '[:upper:]')
        grep -qx "#ifndef $guard" "$header" || echo "$header: expected $guard"
    done)

echo "${#all[@]} files, $failures kinds of violation"
[ "${#library[@]}" -gt 0 ] && [ "$failures" -eq 0 ]
