#!/usr/bin/env bash
# everywhere.sh TALUS SOURCE_DIR
# What works the same in every command: - for standard input and output, --json, params and start
# values. One table has all commands.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"

cat >arm.talus <<'END'
<talus version="1" name="arm">
<param name="mass" value="2"/>
<bodies><pin name="arm" mass="$mass" com="0 -0.5 0" solid="sphere 0.1"/></bodies>
<markers><marker name="tip" body="arm" station="0 -1 0"/>
<marker name="mid" body="arm" station="0.1 -0.5 0"/></markers>
<forces><gravity g="0 -9.81 0"/></forces></talus>
END
{
    printf 'PathFileType\t4\t(X/Y/Z)\tframes.trc\n'
    printf 'DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n10\t10\t5\t2\tm\n'
    printf 'Frame#\tTime\ttip\t\t\tmid\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n'
    awk 'BEGIN { OFS = "\t"; for (i = 0; i < 5; ++i) { q = 0.1 * i; c = cos(q); s = sin(q)
        print i + 1, i / 10, s, -c, 0, 0.1 * c + 0.5 * s, 0.1 * s - 0.5 * c, 0 } }'
} >frames.trc
expect 0 simulate arm.talus -q -e 1 --every 0.1 --start arm.q0=0.5 -o motion.sto

# a command: what it reads, other arguments, formats that -o can have; "-" is none. A model comes
# first; the last file is what - stands for.
table='
info        arm.talus   -                            -
check       arm.talus   -                            -
simulate    arm.talus   -e,0.2,--every,0.1           sto,mot,csv,npz
assemble    arm.talus   -                            sto,mot,csv,npz,talus
ik          frames.trc  arm.talus                    sto,mot,csv,npz
id          motion.sto  arm.talus                    sto,mot,csv,npz
muscles     -           -                            -
paths       -           -                            -
modes       arm.talus   --at-rest                    csv,npz
equilibrium arm.talus   -                            sto,mot,csv,npz,talus
sweep       arm.talus   -v,mass=1:2:3,-e,0.1         csv,npz
view        arm.talus   -                            glb,json
render      arm.talus   -                            -
plot        motion.sto  -                            svg,png,pdf
show        motion.sto  -n,3                         -
stats       motion.sto  -                            -
convert     motion.sto  -                            sto,mot,csv,npz
convert     frames.trc  -                            sto,trc,csv,npz
convert     arm.talus   -                            talus
run         -           -                            -
bench       arm.talus   --seconds,0.01               -
template    -           -                            -
rerun       motion.sto  -                            -
help        -           -                            -
version     -           -                            -
'

# the table has all commands
"$talus" help --json | python3 -c 'import json, sys
for row in json.load(sys.stdin)["commands"]: print(row["command"])' | sort >known
echo "$table" | awk 'NF { print $1 }' | sort -u >listed
cmp -s known listed || complain "the table lacks commands: $(comm -3 known listed)"

# in ORDER FILE: the arguments before and behind the file that a command reads
arguments() { # COMMAND FILE ARGUMENTS
    words=("$1")
    case $1 in ik | id) words+=(arm.talus "$2") ;; *) [ "$2" = - ] || words+=("$2") ;; esac
    local more=()
    IFS=, read -ra more <<<"$3"
    case $1 in ik | id) ;; *) [ "$3" = - ] || words+=("${more[@]}") ;; esac
}

# the same without what a file is called, when it was made, and how long that took
plain() {
    grep -avE 'talus_file|talus_option_out|seconds|microsec|evaluation|steps per|time|"file"' "$1"
}

is_json() { # WHAT
    python3 -m json.tool <out >/dev/null 2>&1 || complain "$1 is no JSON: $(head -3 out)"
}

while read -r command file more formats; do
    [ -n "$command" ] || continue
    arguments "$command" "$file" "$more"
    first_format=${formats%%,*}

    # --- --json: one JSON text, also with -q and with -o ---
    case $command in
    render | run | muscles | paths) ;; # they need a browser, a set-up, muscles
    view) ;;         # it needs a page; see below
    convert)
        expect 0 "${words[@]}" --json -o "out.$first_format"
        is_json "talus ${words[*]} --json -o"
        has out "\"result\": \"out.$first_format\""
        ;;
    rerun)
        expect 0 "${words[@]}" --json
        is_json "talus ${words[*]} --json"
        ;;
    *)
        expect 0 "${words[@]}" --json
        is_json "talus ${words[*]} --json"
        expect 0 "${words[@]}" --json -q 2>/dev/null || true
        ;;
    esac
    if [ "$formats" != - ] && [ "$command" != convert ]; then
        rm -f "out.$first_format"
        expect 0 "${words[@]}" --json -q -o "out.$first_format"
        is_json "talus ${words[*]} --json -q -o out.$first_format"
        has out "out.$first_format"
    fi

    # --- -: standard input ---
    if [ "$file" != - ] && [ "$command" != render ] && [ "$command" != bench ]; then
        extra=()
        [ "$formats" = - ] || extra=(-o - -f "$first_format")
        "$talus" "${words[@]}" "${extra[@]}" >one 2>err || complain "talus ${words[*]}: $(cat err)"
        "$talus" "${words[@]/#$file/-}" "${extra[@]}" <"$file" >two 2>err ||
            complain "talus ${words[*]/#$file/-}: $(cat err)"
        cmp -s <(plain one) <(plain two) || [ "$command" = plot ] || [ "$command" = show ] ||
            complain "talus ${words[*]/#$file/-} prints something else: $(diff one two | head -3)"
    fi

    # --- -o -: standard output, in every format ---
    if [ "$formats" != - ]; then
        for format in ${formats//,/ }; do
            rm -f "written.$format"
            expect 0 "${words[@]}" -q -o "written.$format"
            expect 0 "${words[@]}" -q -o - -f "$format"
            cmp -s out "written.$format" ||
                complain "talus ${words[*]} -o - -f $format is not what -o x.$format is"
        done
        expect 2 "${words[@]}" -o - -f nonsense
        has err "--format 'nonsense'"
    fi

    # --- params and start values, in every command that reads a model ---
    case $file$more in *arm.talus*) ;; *) continue ;; esac
    case $command in render) continue ;; esac
    extra=()
    [ "$command" != convert ] || extra=(-o changed.talus)
    [ "$command" != view ] || extra=(-o changed.glb)
    expect 0 "${words[@]}" -q "${extra[@]}" -s mass=3 --start arm.q0=0.1 --start arm.u0=0.2
    expect 2 "${words[@]}" "${extra[@]}" -s mas=3
    has err "there is no <param> 'mas' to set (did you mean 'mass'?)"
    expect 2 "${words[@]}" "${extra[@]}" --start arm.u9=3
    has err "there is no coordinate or speed 'arm.u9'"
done <<<"$table"

# what was set is there
expect 0 convert arm.talus -q -s mass=3 --start arm.q0=0.1 --start arm.u0=0.2 -o changed.talus
has changed.talus 'mass="3"'
has changed.talus 'q="0.1"'
has changed.talus 'u="0.2"'

# --- help as JSON: all commands, a command, an element ---
expect 0 help simulate --json
is_json 'talus help simulate --json'
has out '{"option": "end", "letter": "e", "value": "SECONDS"'
expect 0 help pin --json
is_json 'talus help pin --json'
has out '"topic": "pin"'
expect 2 help nothing --json
is out ''
expect 0 help --man --json
is_json 'talus help --man --json'
expect 0 template --json
has out '"model": "<!-- A double pendulum.'
rm -f mine.talus
expect 0 template --json -o mine.talus
is_json 'talus template --json -o'
has out '"result": "mine.talus"'
expect 0 template -o -
cmp -s out mine.talus || complain 'talus template -o - is not what -o mine.talus is'

# --- in a pipe, from one to the next ---
"$talus" template | "$talus" simulate - -q -e 1 -o - -f npz >pipe.npz || complain 'a pipe to npz'
[ "$(head -c 2 pipe.npz)" = PK ] || complain 'pipe.npz is no NumPy file'
"$talus" template | "$talus" simulate - -q -e 1 | "$talus" plot - -o - -f png >pipe.png ||
    complain 'a pipe to png'
[ "$(head -c 4 pipe.png | tail -c 3)" = PNG ] || complain 'pipe.png is no PNG'
"$talus" convert - -f trc <frames.trc | "$talus" ik arm.talus - -q -o piped.sto ||
    complain 'a pipe of trc'
near "$(last piped.sto arm.q0)" 0.4 1e-6 'an angle from a pipe'

# --- short options combine ---
expect 0 simulate arm.talus -qe0.1 -fcsv
has out 'time,arm.q0'
finish
