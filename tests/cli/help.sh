#!/usr/bin/env bash
# help.sh TALUS SOURCE_DIR
# Every command explains itself with an example; the manual page in doc/ is the one of the table.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

expect 0 help
cp out all
has all "talus COMMAND --help explains a command"
has all "Exit codes: 0 success, 1 the study failed, 2 wrong usage, 3 a bad file."
expect 0 --help
cmp -s out all || complain "talus --help and talus help differ"
expect 0 -h
cmp -s out all || complain "talus -h and talus help differ"
expect 2
is out ''
cmp -s err all || complain "talus alone does not print help on standard error"
for file in help.txt:help help_pin.txt:'help pin'; do
    # shellcheck disable=SC2086
    expect 0 ${file#*:}
    cmp -s out "$source_dir/tests/cli/expected/${file%%:*}" ||
        complain "talus ${file#*:} does not print $source_dir/tests/cli/expected/${file%%:*}"
done
commands=$(sed -n 's/^  \([a-z]*\) .*/\1/p' all)
files=("$source_dir"/cli/commands/cmd_*.c)
[ "$(wc -w <<<"$commands")" -eq ${#files[@]} ] ||
    complain "there are ${#files[@]} files of commands, and help lists: $commands"
for command in $commands; do
    expect 0 "$command" --help
    has out "usage: talus $command"
    has out "example: talus $command"
    is err ''
    cp out one
    expect 0 help "$command"
    cmp -s out one || complain "talus help $command and talus $command --help differ"
    [ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' one)" -le 80 ] ||
        complain "talus $command --help is wider than a screen"
    [ -e "$source_dir/cli/commands/cmd_$command.c" ] || complain "cmd_$command.c is missing"
done
expect 0 help integrators
has out merson

expect 0 version
cp out one
for option in --version -V; do
    expect 0 $option
    cmp -s out one || complain "talus $option and talus version differ"
done
has out "talus                   $(sed -n 's/^version: //p' "$source_dir/CITATION.cff")"
expect 0 version --json
has out '"talus":'

# completion scripts: each shell understands its own, and bash completes with it
for shell in bash zsh fish; do
    expect 0 help --completion "$shell"
    has out simulate
    has out accuracy
    cp out "completion.$shell"
    if command -v "$shell" >/dev/null; then
        "$shell" -n "completion.$shell" || complain "$shell does not understand its script"
    fi
done
complete_with() { # WORD...: what bash offers for the last one
    bash -c 'source ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _talus
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
[ "$(complete_with talus sim)" = simulate ] || complain "bash does not complete 'talus sim'"
[ "$(complete_with talus simulate -i verner-)" = verner-8 ] ||
    complain "bash does not complete names of methods"
complete_with talus modes --at | grep -qx -- --at-rest || complain "bash does not complete options"
expect 2 help --completion csh
has err "bash, zsh and fish, not 'csh'"

expect 0 help --man
if ! cmp -s out "$source_dir/doc/talus.1"; then
    complain "doc/talus.1 is not the page of the table: talus help --man >doc/talus.1"
fi
finish
