#!/usr/bin/env bash
# line_width.sh SOURCE_DIR
# Lines have at most 100 characters. A message is not split, so that it can be searched for: a line
# may be longer if that is because of one string literal.
set -eu
export LC_ALL=C.UTF-8
cd "$1"
mapfile -t files < <(find . -path ./build -prune -o -path './.*' -prune -o \
    \( -name '*.[ch]' -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt -o -name run \
    -o -name '*.js' -o -name '*.mjs' -o -name '*.css' \) \
    -type f -print | sort)

awk -v limit=100 '
    { lines++ }
    length($0) > limit {
        rest = $0
        # without the literals that it has
        literals = gsub(/"([^"\\]|\\.)*"/, "", rest)
        if (literals == 0) literals = gsub(/\047[^\047]*\047/, "", rest)
        if (literals == 1 && length(rest) <= limit / 2) next
        printf "%s:%d: %d characters, more than %d\n", FILENAME, FNR, length($0), limit
        failures++
    }
    END {
        print lines + 0 " lines, " failures + 0 " too long"
        exit failures > 0 || lines == 0
    }
' "${files[@]}"
