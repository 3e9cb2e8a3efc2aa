#!/usr/bin/env bash
# lint_changed.sh SOURCE_DIR
# ./run lint --changed looks at what changed, and at nothing else: in a small repository, with tools
# that only say what they are asked to look at.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# the work tree of the test, whatever the environment of a git hook says
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
mkdir -p "$work/tools" "$work/repo/io/src" "$work/repo/cli" "$work/repo/tests/io"
cd "$work/repo"
cp "$1/run" .
failures=0

for tool in clang-format clang-tidy cppcheck shellcheck cmake; do
    cat >"$work/tools/$tool" <<'END'
#!/bin/sh
echo "$(basename "$0") $*" >>"$LOG"
case "$0 $*" in *clang-tidy*broken*) exit 1 ;; esac
END
    chmod +x "$work/tools/$tool"
done
export LOG=$work/log PATH=$work/tools:$PATH TALUS_SKIP_INSTALL=1

commit() { # MESSAGE
    git add -A
    git -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false commit -qm "$1"
}

# looks_at CODE FILE...: what clang-format or shellcheck is given, in any order, and how lint ends
looks_at() {
    local want=$1 got=0
    shift
    : >"$LOG"
    mkdir -p build/dev
    echo '[]' >build/dev/compile_commands.json
    ./run lint --changed >"$work/out" 2>&1 || got=1
    local seen
    seen=$(sed -n 's/^clang-format --dry-run -Werror //p; s/^shellcheck -x -P SCRIPTDIR //p' \
        "$LOG" |
        tr ' ' '\n' | sort | tr '\n' ' ')
    if [ "$got" -ne "$want" ] || [ "$seen" != "$(printf '%s\n' "$@" | sort | tr '\n' ' ')" ]; then
        echo "after '$(git log -1 --format=%s)' lint ends with $got and looks at $seen, not at $*:"
        cat "$work/out"
        failures=$((failures + 1))
    fi
}

git init -q -b main .
printf 'build/\n' >.gitignore
echo '#include "a.h"' >io/src/a.c
touch io/src/a.h cli/b.c tests/io/c.c tests/io/d.sh notes.md
commit 'one commit: everything'
looks_at 0 io/src/a.c io/src/a.h cli/b.c tests/io/c.c tests/io/d.sh run
commit_again() { # FILE: a change of it
    echo "// $1" >>"$1"
    commit "$1"
}
commit_again cli/b.c
looks_at 0 cli/b.c # since what passed last
grep -q '^clang-tidy .*cli/b.c$' "$LOG" || { echo "clang-tidy does not look at cli/b.c"; exit 1; }
grep -q '^cppcheck .*--file-filter=\*cli/b.c$' "$LOG" ||
    { echo "cppcheck does not look at cli/b.c"; exit 1; }
rm -r build
for _ in 1 2 3 4 5 6 7 8 9; do
    commit_again notes.md
done
looks_at 0 cli/b.c # the last ten commits, where nothing is known
commit_again tests/io/c.c
git checkout -q -b branch
commit_again io/src/a.h
echo '# more' >>tests/io/d.sh # not committed
touch cli/new.c
looks_at 0 io/src/a.h io/src/a.c tests/io/d.sh cli/new.c # since main, and a source for the header
touch cli/broken.c
looks_at 1 io/src/a.h io/src/a.c tests/io/d.sh cli/new.c cli/broken.c
echo "$failures failures"
[ "$failures" -eq 0 ]
