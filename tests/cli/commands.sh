#!/usr/bin/env bash
# commands.sh TALUS SOURCE_DIR
# What the documents tell a reader to type works, in the order in which they say it: every line that
# begins with "    talus" or "    $ talus".
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"
mkdir examples
ln -s "$work" examples/models

count=0
for document in README.md doc/quick_start.md examples/README.md; do
    while IFS= read -r line; do
        line=${line%%#*}
        eval "words=($line)"
        # shellcheck disable=SC2154 # eval gives the words
        expect 0 "${words[@]}"
        count=$((count + 1))
    done < <(sed -n 's/^    \(\$ \)\{0,1\}talus //p' "$source_dir/$document")
done
[ "$count" -gt 10 ] || complain "only $count commands were found"

# and what it says about a mistake is said
sed -i 's/name="upper" mass=/name="upper" mas=/' mine.talus
expect 3 check mine.talus
has err "$(sed -n 's/^    \(mine.talus:.*\)/\1/p' "$source_dir/doc/quick_start.md")"
finish
