#!/usr/bin/env bash
# private_names.sh SOURCE_DIR
# A private name tells its room: what a header of a room declares begins with a word of that room
# (private_names.txt), a word belongs to one layer, and no name is declared in two rooms.
# Suffixes have one meaning each: tali_..._at() gives what is at an index or address that it is
# given; tali_..._of() gives what belongs to its arguments. So no name has both.
set -eu
export LC_ALL=C
cd "$1"
words=tests/repo/private_names.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

complain() {
    echo "$1"
    failures=$((failures + 1))
}

# room and name, for each type and function that a private header declares
declared() {
    find ./*/internal ./*/src -name '*.h' | sort | while IFS= read -r header; do
        room=$(dirname "${header#./}")
        {
            grep -oE '^(typedef )?(struct|union|enum) tali_[A-Za-z0-9_]+ \{' "$header"
            grep -E '^[a-z][A-Za-z0-9_ *]*[ *]tali_[A-Za-z0-9_]+\(' "$header" |
                grep -oE 'tali_[A-Za-z0-9_]+\('
            grep -oE '^typedef .*\(\*?tali_[A-Za-z0-9_]+\)\(' "$header"
            sed -nE 's/^extern .*[ *](tali_[A-Za-z0-9_]+)[;[].*/\1/p' "$header"
        } | grep -oE 'tali_[A-Za-z0-9_]+' | sort -u | sed "s,^,$room ,"
    done
}
declared >"$work/declared" || true

while read -r room name; do
    allowed=$(awk -v room="$room" '$1 == room { $1 = ""; print }' "$words")
    for word in $allowed; do
        case $name in tali_"$word" | tali_"$word"_*) continue 2 ;; esac
    done
    complain "$name of $room/ begins with none of:$allowed ($words)"
done <"$work/declared"

grep -v '^#' "$words" |
    awk '{ split($1, part, "/"); for (i = 2; i <= NF; i++) print $i, part[1] }' | sort -u |
    awk 'count[$1]++ { print $1 }' | sort -u >"$work/shared"
while read -r word; do
    complain "$words gives '$word' to two layers"
done <"$work/shared"

awk 'count[$2]++ { print $2 }' "$work/declared" | sort -u >"$work/twice"
while read -r name; do
    complain "$name is declared in two rooms"
done <"$work/twice"

# the declarations of functions that end with _at, each in one line
declared_at() {
    find ./*/internal ./*/src -name '*.h' -exec awk '
        /^[a-z].*tali_[A-Za-z0-9_]+_at\(/ { text = ""; inside = 1 }
        inside { text = text " " $0 }
        inside && /\)/ { print text; inside = 0 }' {} +
}
place='(int|size_t|tal_[a-z]+_ix|tali_jet3) [a-z_A-Z]+|(void|double) \*'
while IFS= read -r line; do
    complain "not given an index or an address:$line"
done < <(declared_at | grep -vE "_at\\(.*($place)")

sed -nE 's/.* (tali_.*)_(at|of)$/\1/p' "$work/declared" | sort | uniq -d >"$work/both"
while read -r name; do
    complain "there are ${name}_at and ${name}_of: one of them needs another name"
done <"$work/both"

echo "$(wc -l <"$work/declared") names, $failures failures"
[ -s "$work/declared" ] && [ "$failures" -eq 0 ]
