#!/usr/bin/env bash
# hostile.sh TALUS SOURCE_DIR
# Files made to hurt (promise P11) are refused at once, with a sentence and exit code 3.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

# refuses SENTENCE ARGUMENT...: within ten seconds, which is for machines that do other things too
refuses() {
    local sentence=$1 begin=$SECONDS
    shift
    expect 3 "$@"
    has err "$sentence"
    is out ''
    [ $((SECONDS - begin)) -le 10 ] || complain "talus $* took $((SECONDS - begin)) s"
}

# a gigabyte of nothing, and a little more of it than is ever read
for end in talus urdf; do
    truncate -s 1G nothing.$end &&
        refuses 'the file is larger than 268435456 bytes' info nothing.$end
done
for end in sto mot trc csv; do
    truncate -s 1G nothing.$end &&
        refuses 'the file has zero bytes: it is not UTF-8 text' show nothing.$end
    truncate -s 1025M nothing.$end && refuses 'the file is too long' show nothing.$end
    rm nothing.$end
done

# entities that double, and one that looks around
cat >bomb.talus <<'END'
<!DOCTYPE talus [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<talus version="1" name="&c;"/>
END
refuses 'DOCTYPE and entities are not allowed' info bomb.talus
echo '<!DOCTYPE talus [<!ENTITY x SYSTEM "file:///etc/passwd">]><talus version="1" name="&x;"/>' \
    >look.talus
refuses 'DOCTYPE and entities are not allowed' info look.talus
cp bomb.talus bomb.urdf
refuses 'DOCTYPE and entities are not allowed' info bomb.urdf

# a million levels, and a tag without end
{ printf '<talus version="1">'; yes '<a>' | head -1000000; } >deep.talus
refuses 'elements are nested deeper than 64 levels' info deep.talus
{ printf '<talus version="1" name="'; yes x | head -3000000 | tr -d '\n'; } >long.talus
refuses 'a tag or comment is longer than 1048576 bytes' info long.talus

# counts near the largest int, and beyond
for n in 2147483647 2147483646 -2147483648 4294967297 99999999999999999999; do
    printf 'a\nversion=1\nnRows=%s\nnColumns=%s\ninDegrees=no\nendheader\ntime\ta\n0\t1\n' \
        $n $n >count.sto
    refuses "nRows is '$n'; it must be a number between 0 and 100000000" show count.sto
    printf 'PathFileType\t4\t(X/Y/Z)\ta\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n1\t1\t%s\t%s\tmm\nFrame#\tTime\ta\n\t\tX1\tY1\tZ1\n1\t0\t0\t0\t0\n' \
        $n $n >count.trc
    refuses "NumMarkers is '$n'; it must be a number between 0 and 100000000" show count.trc
    echo "<talus version='1'><measures><time name='t'/><delay name='d' of='t' delay='1' capacity='$n'/></measures></talus>" >count.talus
    refuses "'capacity'" info count.talus
    echo "<talus version='1'><bodies><pin name='a' mass='1'/></bodies><forces><mobility_damper mobility='a:$n' damping='1'/></forces></talus>" >count.talus
    refuses 'mobility' info count.talus
done
finish
