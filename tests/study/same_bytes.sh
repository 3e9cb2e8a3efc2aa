#!/usr/bin/env bash
# same_bytes.sh PROGRAM SOURCE_DIR CMAKE
# The same trajectories, bit for bit: in process after process, wherever the loader puts things,
# with any number of threads, after copying and after saving and restoring (PROMISES P16). With
# TALUS_SOAK=1 in more processes, of more steps, and from builds of gcc and clang without and with
# optimization.
set -eu
program=$1 source_dir=$2 cmake=$3
steps=300 processes=3
if [ -n "${TALUS_SOAK:-}" ]; then steps=20000 processes=100; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

"$program" "$steps" plain >"$work/expected"
cat "$work/expected"

same() { # WHAT COMMAND...
    local what=$1
    shift
    if ! "$@" >"$work/printed" || ! diff "$work/expected" "$work/printed"; then
        echo "differs: $what"
        failures=$((failures + 1))
    fi
}

for i in $(seq "$processes"); do
    # an environment of another size moves the stack
    same "process $i" env "padding=$(printf '%*s' "$((i * 37))" '')" "$program" "$steps" plain
done
if setarch -R true 2>/dev/null; then
    same "fixed addresses" setarch -R "$program" "$steps" plain
else
    echo "addresses cannot be fixed here"
fi
for threads in 1 2 3 8; do
    same "$threads threads" "$program" "$steps" plain "$threads"
done
same "after copying" "$program" "$steps" copied
same "after saving and restoring" "$program" "$steps" resumed
same "after saving and restoring, on threads" "$program" "$steps" resumed 2

if [ -n "${TALUS_SOAK:-}" ]; then
    for compiler in gcc clang; do
        command -v "$compiler" >/dev/null || continue
        for level in -O0 -O2; do
            build="$work/$compiler$level"
            {
                "$cmake" -S "$source_dir" -B "$build" -DCMAKE_C_COMPILER="$compiler" \
                    -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$level"
                "$cmake" --build "$build" --target same_bytes -j 2
            } >"$work/log" 2>&1 || tail "$work/log"
            same "$compiler $level" "$build/tests/same_bytes" "$steps" plain
        done
    done
fi
exit $((failures > 0))
