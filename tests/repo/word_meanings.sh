#!/usr/bin/env bash
# word_meanings.sh SOURCE_DIR
# A word in a name has one meaning:
#   motion   a prescribed motion (tal_motion_ix); and motion vectors, which transform as velocities
#            do (tal_sv_shift_motion)
#   sweep    the command talus sweep. In the library it is an ensemble (tal_ensemble). Once over all
#            bodies, rows or contacts is a pass.
# Looked at are the names of files, and what headers declare: types, functions, fields, parameters.
set -eu
export LC_ALL=C
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find ./*/include ./*/internal ./*/src \( -name '*.h' -o -name '*.c' \) | sort |
    sed 's,^\./,,' >"$work/files"

# file and name, for each name of a file, or in a header without its comments, that has the word
uses() {
    sed -E 's,(.*/)?([^/]*)$,\1\2 \2,' "$work/files" | grep -E " [^ ]*$1" || true
    grep '\.h$' "$work/files" | while IFS= read -r header; do
        sed -E 's,//.*,,; s,/\*.*,,; /^ *\*/d; /#include/d; s,"[^"]*",,g' "$header" |
            grep -oE "[A-Za-z0-9_]*$1[A-Za-z0-9_]*" | sort -u | sed "s,^,$header ," || true
    done
}

# where the word has its meaning: files, and names elsewhere
motion_files='matter/(src|include/talus/matter)/prescribed|matter/internal/matter_facts'
motion_files+='|io/include/talus/io/registry|io/src/model/'
motion_names='tal(_[a-z]+)*_motions?(_[a-z]+)*|(tal_)?sv_(shift|cross)_motion'
motion_names+='|motion\.h|TALUS_MATTER_MOTION_H' # which forwards
sweep_files='none'

failures=0
names=0
check() { # WORD FILES NAMES
    while read -r file name; do
        names=$((names + 1))
        if [[ $file =~ ^($2) || $name =~ ^($3)$ ]]; then continue; fi
        echo "$file: in '$name' the word '$1' has another meaning; see tests/repo/word_meanings.sh"
        failures=$((failures + 1))
    done < <(uses "$1")
}
check motion "$motion_files" "$motion_names"
check sweep "$sweep_files" 'none'

echo "$names names, $failures failures"
[ "$names" -gt 20 ] && [ "$failures" -eq 0 ]
