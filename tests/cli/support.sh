#!/usr/bin/env bash
# support.sh TALUS SOURCE_DIR
# What the helpers of these tests take for a number, and what they do not.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

# passes, fails COMMAND...: the helper has nothing to say, or it complains once
passes() {
    local before=$failures
    "$@" >said
    [ "$failures" -eq "$before" ] || complain "$*: $(cat said)"
}
fails() {
    local before=$failures
    "$@" >said
    if [ "$failures" -eq "$before" ]; then
        complain "$* passes"
    else
        failures=$before
    fi
}

passes near 1.5 '3 / 2' 0 value
passes near -1e-9 0 1e-8 value
passes near 3.14159265358979 pi 1e-12 value
passes less -1 1e-8 value
for value in '' nan -nan inf none '1 2' 1e 0x10 --1; do
    fails near "$value" 0 1e300 value
    fails near 0 0 "$value" value
    fails less "$value" 1e300 value
    fails less -1e300 "$value" value
done
fails near 0 'log(-1)' 1e300 value
fails near 2 1 0.5 value
fails less 2 1 value

table() { # ROW...
    printf 'a\nendheader\ntime\tx\n'
    printf '%s\n' "$@"
}
table $'0\t1' $'1\t3' $'2\t0' >good.sto
for is in "$(first good.sto x) 1" "$(last good.sto x) 0" "$(drift good.sto x) 2"; do
    [ "${is% *}" = "${is#* }" ] || complain "${is% *} instead of ${is#* }"
done
table $'0\t1' $'1\tnan' $'2\t0' >nan.sto
table $'0\t1' $'1\t3' $'2' >short.sto
table $'0\t1' $'1\t' $'2\t0' >blank.sto
table >empty.sto
sed -i 4d empty.sto
for helper in first last drift; do
    for file in nan short blank empty; do
        [ "$($helper $file.sto x)" = none ] ||
            complain "$helper of $file.sto is $($helper $file.sto x)"
    done
    [ "$($helper good.sto y)" = none ] ||
        complain "$helper of a column that is not there is $($helper good.sto y)"
done
finish
