#!/usr/bin/env bash
# writable_data.sh LIBTALUS_A
# The library's only process-wide data are the contract handler and its thread-local record
# (DESIGN.md, 7). Looks at the objects of libtalus.a, where no symbol of the C runtime interferes:
# every byte of a writable section must belong to one of these two. Sections named .data.rel.ro*
# hold constants whose addresses the loader fills in; they are read-only when the program runs.
set -eu
library=$1

objdump -h -t -w "$library" | awk '
    function hex(text,    value, i) {
        value = 0
        for (i = 1; i <= length(text); i++) {
            value = 16 * value + index("123456789abcdef", substr(tolower(text), i, 1))
        }
        return value
    }
    function finish_object(    section) {
        for (section in bytes) {
            if (bytes[section] > known[section]) {
                printf "%s: %d writable bytes in %s:%s\n", object, bytes[section] - known[section], section, \
                       (section in names ? names[section] : " (no symbol)")
                failures++
            }
        }
        delete bytes
        delete known
        delete names
    }
    /file format/ { finish_object(); object = $1; sub(/:$/, "", object); objects++; next }
    # header line: number, name, size, ..., flags
    $1 ~ /^[0-9]+$/ && /ALLOC/ && !/READONLY/ && $2 !~ /^\.data\.rel\.ro/ && hex($3) > 0 {
        bytes[$2] = hex($3)
        next
    }
    # symbol line: address, flags, section, size, name
    NF >= 5 && $0 !~ /^ *[0-9]+ / || /^[0-9a-f]+ [lgu !].*\t/ {
        if (split($0, half, "\t") < 2) next
        n = split(half[1], left, " ")
        section = left[n]
        split(half[2], right, " ")
        if (section == "*COM*") bytes[section] += hex(right[1])
        if (!(section in bytes) || hex(right[1]) == 0) next
        if (right[2] == "contract_handler" || right[2] == "last_breach") known[section] += hex(right[1])
        else names[section] = names[section] " " right[2]
    }
    END {
        finish_object()
        if (failures) print "Talus keeps no mutable globals: put it in the State, or make it const."
        printf "%d objects, %d violations\n", objects, failures
        exit failures > 0 || objects == 0
    }'
