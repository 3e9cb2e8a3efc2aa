#!/usr/bin/env bash
# upward_include.sh CC LAYER=DIR:DIR:... ...
# A layer reaches its own public headers and not those of the layers above it. Compiles one include
# line with the very include directories that CMake gives to the layer.
set -eu
cc=$1
shift
stack="common geometry state matter forces molecule study io"

compiles() { # DIRS LAYER
    local flags=() dir
    local IFS=:
    for dir in $1; do
        flags+=(-I "$dir")
    done
    "$cc" -std=c17 -fsyntax-only "${flags[@]}" -x c - <<<"#include <talus/$2.h>" 2>&1
}

failures=0
for view in "$@"; do
    layer=${view%%=*}
    dirs=${view#*=}
    if ! compiles "$dirs" "$layer"; then
        echo "$layer/ cannot include its own <talus/$layer.h>"
        failures=$((failures + 1))
    fi
    for above in ${stack#*"$layer"}; do
        if answer=$(compiles "$dirs" "$above"); then
            echo "$layer/ can include <talus/$above.h>, which lies above it: see its DEPENDS"
            failures=$((failures + 1))
        elif [[ $answer != *"talus/$above.h: No such file"* &&
            $answer != *"'talus/$above.h' file not found"* ]]; then
            echo "<talus/$above.h> failed in $layer/ for another reason: $answer"
            failures=$((failures + 1))
        fi
    done
done
echo "$# layers, $failures failures"
[ $# -gt 0 ] && [ "$failures" -eq 0 ]
