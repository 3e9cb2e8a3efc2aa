#!/usr/bin/env bash
# view.sh TALUS SOURCE_DIR
# talus view: which files it takes, what it writes, what it says when it cannot.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

expect 0 simulate pendulum.talus -q -e 1 --every 0.01 -o swing.sto
expect 0 view swing.sto -o swing.glb
is out swing.glb
[ "$(head -c 4 swing.glb)" = glTF ] || complain "swing.glb is not glTF"
expect 0 view swing.sto -o swing.json --show forces,names --title 'a </script> b'
has swing.json '"format":"talus-scene"'
has swing.json '"show":["forces","names"]'
has swing.json 'a \u003c/script\u003e b'
expect 0 view swing.sto -o again.json --show forces,names --title 'a </script> b'
cmp -s swing.json again.json || complain "the same scene has other bytes"

# a model alone, a model and a result, two results; a result of params has its params
expect 0 view elbow.talus -o elbow.json
has elbow.json '"frames":41'
expect 0 view pendulum.talus swing.sto -o both.json
expect 0 view swing.sto swing.sto --json -o two.glb
has out '"frames": 202'
expect 0 simulate elbow.talus -q -e 0.1 -s load=7 -o heavy.sto
expect 0 view heavy.sto -o heavy.json
has heavy.json '"mass":7'
is err ''
sed -i 's/value="2"/value="3"/' elbow.talus
expect 0 view heavy.sto -q -o heavy.json

# the model that a result names is looked for beside the result, too
mkdir -p elsewhere && cp swing.sto pendulum.talus elsewhere
rm pendulum.talus
expect 0 view elsewhere/swing.sto -o swing.json
expect 3 view swing.sto -o swing.json
has err 'was made from the model pendulum.talus, which is not found'
cp elsewhere/pendulum.talus .

# columns, frames, up
expect 0 view swing.sto -o few.json -c total_energy --frames 11 --up z
has err '11 of 101 rows are shown'
has few.json '"columns":[{"name":"total_energy","unit":"J"}]'
has few.json '"up":[0,0,1]'

# mistakes
expect 2 view swing.sto -o swing.png
has err "should end with .html, .glb or .json"
expect 2 view swing.sto -o x.json --up w
has err "--up is x, y or z, not 'w'"
expect 2 view swing.sto -o x.json --frames 1
expect 2 view swing.sto -o x.json --show forces,nmaes
has err "there is no layer 'nmaes'; choose from forces,reactions,centers"
expect 3 view no.talus -o x.json
expect 3 view pendulum.talus no.sto -o x.json
printf 'time,x\n0,1\n' >foreign.csv
expect 2 view foreign.csv -o x.json
has err 'does not say which model it is of'
expect 3 view pendulum.talus foreign.csv -o x.json
has err 'the table has no coordinate of the model'
expect 3 view swing.sto -o no/folder/x.json
[ ! -e x.json ] || complain "a failed command left x.json behind"

# hostile names are text in every format; meshes that are too large, or not there, are left out
cat >evil.talus <<'END'
<talus version="1" name="&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;">
  <bodies><pin name="&lt;b&gt; &quot; \ &amp; &#x2028;" body_frame="0 1 0" mass="1"/></bodies>
  <decorations>
    <mesh body="ground" file="huge.stl"/><mesh body="ground" file="none.obj"/>
    <text text="&lt;/script&gt;"/>
  </decorations>
</talus>
END
truncate -s 300M huge.stl
expect 0 view evil.talus -o evil.json
has err 'huge.stl: warning: this mesh is left out'
has err 'none.obj: warning: this mesh is left out'
! grep -q '[<>&]' evil.json || complain "evil.json has characters that end a script"
has evil.json '\u003c/script\u003e\u003cimg src=x onerror=alert(1)\u003e'
has evil.json '\u003cb\u003e \u0022 \u005c \u0026 \u2028'
expect 0 view evil.talus -q -o evil.glb
rm huge.stl
if "$talus" view evil.talus -q -o evil.html >/dev/null 2>&1; then
    ! grep -q '<img\|<b>' evil.html || complain "a name is markup in evil.html"
fi

# pictures: only what needs no browser
expect 2 render swing.sto
has err "--out is a .png"
expect 2 render swing.sto -o 'x%s.png'
expect 2 render swing.sto -o x.apng --fps 0.001
has err "--fps is from 0.02 to 1000"
expect 2 render swing.sto -o x.png --size 12
has err "--size is WIDTHxHEIGHT"
if "$talus" view swing.sto -q >/dev/null 2>&1; then
    TALUS_CHROMIUM=/nowhere expect 1 render swing.sto -o x.png
    has err 'install chromium-headless-shell or chromium'
fi

# live: one model, no result; Ctrl-C is how it ends
expect 2 view --live swing.sto
has err '--live takes one model file'
expect 2 view --live pendulum.talus swing.sto
expect 2 view --live pendulum.talus --port 70000
has err '--port is at most 65535'
if "$talus" view swing.sto -q >/dev/null 2>&1; then
    expect 3 view --live no.talus
    expect 2 view --live elbow.talus -s nothing=1
    "$talus" view --live elbow.talus -s load=2 >address 2>err &
    live=$!
    for _ in {1..600}; do
        [ ! -s address ] || break
        sleep 0.1
    done
    grep -qxE 'http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/' address ||
        complain "this is not an address: $(cat address)"
    # background jobs of a script ignore SIGINT; SIGTERM is handled in the same way
    kill -TERM "$live"
    wait "$live" || complain "an interrupted live run ended with code $?"
else
    expect 1 view --live elbow.talus
    has err 'built without its viewer'
fi

# the page, or what to do where the program was built without it
if "$talus" view swing.sto >out 2>err; then
    is out swing.html
    has swing.html 'id="talus-scene"'
    has swing.html "default-src 'none'"
    ! grep -qE "@TALUS_|@SCRIPT|src=[\"']?http" swing.html || complain "the page is not complete"
else
    has err 'built without its viewer: run ./run viewer and build again'
fi
finish
