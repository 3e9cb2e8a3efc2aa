#!/usr/bin/env bash
# quotes.sh SOURCE_DIR
# Code in documents is code that is built and run. A fenced block after the line
#
#     <!-- quote: examples/19_own_mobilizer.c -->
#
# stands in that file, line by line. Every block of C in the README and in doc/howto/ is such a
# quotation.
set -eu
cd "$1"
failures=0
count=0

complain() {
    echo "$1"
    failures=$((failures + 1))
}

# block FILE LINE SOURCE TEXT
check_block() {
    count=$((count + 1))
    if [ ! -e "$3" ]; then
        complain "$1:$2 quotes $3, which is not there"
    elif [[ $'\n'$(cat "$3")$'\n' != *$'\n'"$4"$'\n'* ]]; then
        complain "$1:$2 quotes lines that are not in $3"
    fi
}

check_document() { # FILE, IS_STRICT
    local line number=0 source='' text='' inside='' lines
    mapfile -t lines <"$1"
    for line in "${lines[@]}"; do
        number=$((number + 1))
        if [ -n "$inside" ]; then
            if [[ $line == '```' ]]; then
                [ -z "$source" ] || check_block "$1" "$number" "$source" "${text%$'\n'}"
                source='' text='' inside=''
            else
                text+=$line$'\n'
            fi
        elif [[ $line == '<!-- quote: '* ]]; then
            source=${line#<!-- quote: }
            source=${source% -->}
        elif [[ $line == '```'* ]]; then
            inside=yes
            [ -n "$source" ] || [ "$2" = no ] || [[ $line != '```c' ]] ||
                complain "$1:$number this block is not quoted from a file that is compiled"
        elif [ -n "$source" ]; then
            complain "$1:$number a block should follow the announcement of a quotation"
            source=''
        fi
    done
    [ -z "$inside" ] || complain "$1: the last block does not end"
}

while IFS= read -r document; do
    case $document in
    ./README.md | ./doc/howto/*) check_document "$document" yes ;;
    *) check_document "$document" no ;;
    esac
done < <(find . -path ./build -prune -o -name '*.md' -print | sort)

echo "$count quotations, $failures failures"
[ "$count" -gt 0 ] && [ "$failures" -eq 0 ]
