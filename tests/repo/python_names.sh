#!/usr/bin/env bash
# python_names.sh SOURCE_DIR
# Every public function has a Python wrapper, or a line of python/names.toml says what stands for
# it; no line there is about a function that is gone. ./run python builds and tests the package.
set -eu
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import tomllib' 2>/dev/null; then
        out=$(mktemp -d)
        trap 'rm -rf "$out"' EXIT
        PYTHONDONTWRITEBYTECODE=1 "$python" "$1/python/generate.py" --root "$1" --out "$out" --check
        exit 0
    fi
done
echo "python_names: skipped, there is no Python 3.11 or newer"
exit 77
