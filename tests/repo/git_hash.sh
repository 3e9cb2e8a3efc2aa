#!/usr/bin/env bash
# git_hash.sh SOURCE_DIR CMAKE
# cmake/WriteGitHash.cmake follows commits and edits, rewrites nothing that did not change, and
# says "unknown" where there is no repository.
set -eu
script=$1/cmake/WriteGitHash.cmake
cmake=$2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
repo=$work/repo
header=$work/git_hash.h
# the work tree of the test, whatever the environment of a git hook says
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

git_in_repo() {
    git -C "$repo" -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false "$@"
}

expect() { # HASH
    "$cmake" -DSOURCE_DIR="$repo" -DOUTPUT="$header" -P "$script"
    if ! grep -qx "#define TALI_GIT_HASH \"$1\"" "$header"; then
        echo "expected the hash $1, but the header says: $(cat "$header")"
        exit 1
    fi
}

short_hash() {
    git_in_repo rev-parse --short=12 HEAD
}

mkdir "$repo"
expect unknown

if ! command -v git >/dev/null; then
    echo "git is not installed: only 'unknown' could be tested"
    exit 0
fi
git init -q "$repo"
expect unknown # a repository without a commit
echo one >"$repo/file"
git_in_repo add file
git_in_repo commit -q -m one
git_in_repo tag v1 # a tag must not take the place of the hash
first=$(short_hash)
expect "$first"

touch -d '2001-01-01' "$header"
before=$(stat -c %Y "$header")
expect "$first"
if [ "$(stat -c %Y "$header")" != "$before" ]; then
    echo "the header was rewritten although the hash did not change"
    exit 1
fi

echo two >"$repo/file"
expect "$first-dirty"
git_in_repo commit -q -a -m two
expect "$(short_hash)"

# a tarball unpacked inside another repository
mkdir "$repo/unpacked"
repo=$repo/unpacked
expect unknown
