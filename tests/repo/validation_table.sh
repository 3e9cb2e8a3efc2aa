#!/usr/bin/env bash
# tests/validation_table.sh: what it writes, and that an error above its bound, a NaN, too few
# problems, or a page without marks fail and leave the page as it was.
set -euo pipefail
root=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0

complain() {
    echo "validation_table: $*"
    failed=1
}

new_page() {
    printf '%s\n' before '<!-- validate: begin -->' old '<!-- validate: end -->' after >"$out/page"
}

row() { # PROBLEM ERROR BOUND
    printf '%s\tsource\tq\tmethod\t%s\t%s\n' "$1" "$2" "$3" >>"$out/rows"
}

make_table() { # LEAST
    bash "$root/tests/validation_table.sh" "$out/rows" "$out/page" "$1" >"$out/said" 2>&1
}

must_fail() { # WHAT THE MESSAGE CONTAINS, LEAST
    cp "$out/page" "$out/kept"
    if make_table "$2"; then complain "'$1' did not fail"; fi
    grep -q "$1" "$out/said" || complain "the message lacks '$1': $(cat "$out/said")"
    cmp -s "$out/page" "$out/kept" || complain "'$1' changed the page"
}

new_page
: >"$out/rows"
row pendulum 1.0e-12 1.0e-09
row pendulum 3.0e-12 1.0e-09
row top 2.0e-16 1.0e-14
make_table 2 || complain "a good table failed: $(cat "$out/said")"
grep -qx '| pendulum | source | q | method | 3.0e-12 | 1.0e-09 |' "$out/page" ||
    complain "the largest error is not in the page"
grep -qx '2 problems, 2 rows.' "$out/page" || complain "problems are not counted"
if grep -qx old "$out/page"; then complain "the old table is still there"; fi
[ "$(head -1 "$out/page") $(tail -1 "$out/page")" = "before after" ] ||
    complain "text around the table is lost"
cp "$out/page" "$out/first"
make_table 2
cmp -s "$out/page" "$out/first" || complain "the same rows give another page"

must_fail '2 problems, and 3 are asked for' 3
row top 2.0e-14 1.0e-14
must_fail 'top, q by method: error 2.0e-14' 2
sed -i '$d' "$out/rows"
row top nan 1.0e-14
must_fail 'top, q by method: error nan' 2
sed -i '$d' "$out/rows"
echo before >"$out/page"
must_fail 'has no line' 2

# the real page has its marks, and each error in it is within its bound
awk -F ' \\| ' '/^<!-- validate: begin/ { inside = 1 } /^<!-- validate: end/ { inside = 0 }
    inside && NF == 6 && $6 + 0 > 0 { ++n; sub(/ \|$/, "", $6); if ($5 + 0 > $6 + 0) bad = bad $0 }
    END { if (n < 75 || bad != "") { print n + 0 " rows; above their bound: " bad; exit 1 } }' \
    "$root/doc/validation.md" || complain "run ./run validate"
exit "$failed"
