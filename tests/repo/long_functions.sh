#!/usr/bin/env bash
# long_functions.sh SOURCE_DIR
# A function of 20 lines or more says what it does: there is a comment right above it or, unless it
# is static, above its declaration in a header or above the group of declarations that it is in.
set -eu
export LC_ALL=C
cd "$1"
mapfile -t headers < <(find . -path ./build -prune -o -path './[a-z]*/*.h' -print | sort)
mapfile -t sources < <(find ./*/src cli -name '*.[ch]' | sort)

awk -v limit=20 '
    # The name before the first parenthesis of a signature.
    function name_in(signature) {
        if (!match(signature, /[A-Za-z0-9_]+\(/)) return "?"
        return substr(signature, RSTART, RLENGTH - 1)
    }
    FNR == 1 { group = 0; start = 0; signature = ""; told = 0 }

    # headers: declarations below a comment, up to the next blank line
    reading == "headers" && /^$/ { group = 0 }
    reading == "headers" && /^(\/\/| \*\/|\/\*)/ { group = 1 }
    reading == "headers" && group && /^[a-zA-Z].*\(/ { documented[name_in($0)] = 1 }
    reading == "headers" { next }

    # sources: a signature begins after a blank line, a comment, a directive or the end of a body
    /^\{$/ { start = FNR; next }
    start && /^\}/ {
        name = name_in(signature)
        functions++
        if (FNR - start - 1 >= limit && !told && !(name in documented)) {
            printf "%s:%d: %s has %d lines: say above it what it does\n", \
                FILENAME, start, name, FNR - start - 1
            failures++
        }
        start = 0; signature = ""; told = 0
        next
    }
    start { next }
    /^(\/\/|\/\*| \*)/ { told = 1; signature = ""; next }
    /^(#|$|\})/ || /;$/ { told = 0; signature = ""; next }
    { signature = signature $0 }
    END {
        print functions + 0 " functions, " failures + 0 " faults"
        exit failures > 0 || functions == 0
    }
' reading=headers "${headers[@]}" reading=sources "${sources[@]}"
