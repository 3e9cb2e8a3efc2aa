#!/usr/bin/env bash
# Writes the table of validated problems into a page, between its two marks, from the rows that
# tests wrote (test_validate() in support/talus_test.h): PROBLEM SOURCE QUANTITY METHOD ERROR BOUND,
# with tabs between them. Rows with the same words become one, with the largest error. Fails without
# writing when an error exceeds its bound or when there are fewer problems than asked for.
set -euo pipefail

if [ $# -ne 3 ]; then
    echo "usage: validation_table.sh ROWS PAGE LEAST" >&2
    exit 2
fi
rows=$1 page=$2 least=$3
table=$(mktemp)
trap 'rm -f "$table" "$table.page"' EXIT

sort "$rows" | awk -F '\t' -v least="$least" '
    NF != 6 { print "validate: not six columns: " $0 > "/dev/stderr"; bad = 1; next }
    {
        key = $1 "\t" $2 "\t" $3 "\t" $4
        if (!(key in worst)) {
            order[++num_rows] = key
            worst[key] = -1
            if (!($1 in seen)) { seen[$1] = 1; ++num_problems }
        }
        if ($5 !~ /^[0-9]/ || $5 + 0 > $6 + 0) { # nan and inf are above every bound
            print "validate: " $1 ", " $3 " by " $4 ": error " $5 ", bound " $6 > "/dev/stderr"
            bad = 1
        }
        if ($5 + 0 > worst[key]) { worst[key] = $5 + 0; shown[key] = $5 }
        bound[key] = $6
    }
    END {
        if (num_problems < least) {
            print "validate: " num_problems + 0 " problems, and " least " are asked for" \
                > "/dev/stderr"
            bad = 1
        }
        if (bad) exit 1
        print num_problems " problems, " num_rows " rows.\n"
        print "| problem | reference | quantity | method | error | bound |"
        print "|---|---|---|---|---|---|"
        for (i = 1; i <= num_rows; ++i) {
            split(order[i], cell, "\t")
            printf "| %s | %s | %s | %s | %s | %s |\n", cell[1], cell[2], cell[3], cell[4],
                shown[order[i]], bound[order[i]]
        }
    }' >"$table"

for mark in begin end; do
    grep -q "^<!-- validate: $mark -->$" "$page" || {
        echo "validate: $page has no line <!-- validate: $mark -->" >&2
        exit 1
    }
done
awk -v table="$table" '
    /^<!-- validate: end -->$/ { inside = 0 }
    !inside { print }
    /^<!-- validate: begin -->$/ {
        inside = 1
        print ""
        while ((getline line < table) > 0) print line
        print ""
    }' "$page" >"$table.page"
cat "$table.page" >"$page"
head -1 "$table" | sed "s|^|validate: $page has |"
