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
    function finish_object(    section, owners) {
        for (section in bytes) {
            if (bytes[section] <= known[section]) continue
            owners = section in names ? names[section] : " no symbol"
            printf "%s: %d writable bytes in %s:%s\n", object, bytes[section] - known[section],
                   section, owners
            failures++
        }
        delete bytes
        delete known
        delete names
    }
    /file format/ { finish_object(); object = $1; sub(/:$/, "", object); objects++; next }
    # a section: number, name, size, ..., flags
    !/\t/ && /ALLOC/ && !/READONLY/ && $2 !~ /^\.data\.rel\.ro/ && hex($3) > 0 {
        bytes[$2] = hex($3)
    }
    # a symbol: address, flags, section, a tab, size, name
    /\t/ {
        split($0, half, "\t")
        section = half[1]
        sub(/.* /, "", section)
        size = half[2]
        sub(/ .*/, "", size)
        if (!(section in bytes) || hex(size) == 0) next
        if ($NF == "contract_handler" || $NF == "last_breach") known[section] += hex(size)
        else names[section] = names[section] " " $NF
    }
    END {
        finish_object()
        if (failures) print "Talus keeps no mutable globals: put it in the State, or make it const."
        printf "%d objects, %d violations\n", objects, failures
        exit failures > 0 || objects == 0
    }'
