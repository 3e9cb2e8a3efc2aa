#!/usr/bin/env bash
# headers_alone.sh SOURCE_DIR CC CXX
# Each public header compiles alone, and twice in a row, as C17 and as C++17, without a warning.
set -eu
source_dir=$1
cc=$2
cxx=$3

includes=()
for dir in "$source_dir"/*/include; do
    includes+=(-I "$dir")
done

failures=0
count=0
for dir in "$source_dir"/*/include; do
    while read -r header; do
        program="#include <$header>
#include <$header>
int use_of_header(void);
int use_of_header(void) { return 0; }"
        count=$((count + 1))
        if ! "$cc" -std=c17 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -fsyntax-only \
            "${includes[@]}" -x c - <<<"$program"; then
            echo "<$header> does not compile alone as C17"
            failures=$((failures + 1))
        fi
        if ! "$cxx" -std=c++17 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -fsyntax-only \
            "${includes[@]}" -x c++ - <<<"$program"; then
            echo "<$header> does not compile alone as C++17"
            failures=$((failures + 1))
        fi
    done < <(cd "$dir" && find . -name '*.h' | sed 's|^\./||' | sort)
done

echo "$count headers, $failures failures"
[ "$count" -gt 0 ] && [ "$failures" -eq 0 ]
