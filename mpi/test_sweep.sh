#!/usr/bin/env bash
# test_sweep.sh TALUS SOURCE_DIR MPIRUN
# A sweep in one process and in several, on one thread and on two, with lanes and without, gives the
# same bytes; so does one that was killed.
# shellcheck source=tests/cli/cli_support.sh
source "$2/tests/cli/cli_support.sh"
mpirun=$3

# More processes than cores, and perhaps as root: this is a test.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1

# together RANKS ARGUMENT...: its exit code is in `code`, what it says in out and err
together() {
    local ranks=$1
    shift
    code=0
    "$mpirun" -n "$ranks" "$talus" "$@" >out 2>err || code=$?
}

cat >tree.talus <<'END_OF_FILE'
<talus version="1" name="tree"><param name="mass" value="2"/>
<bodies><ball name="hip" mass="$mass" com="0 -0.5 0" solid="sphere 0.1"/>
<pin name="knee" parent="hip" frame="0 -1 0" mass="1" com="0 -0.4 0"/></bodies>
<forces><gravity g="0 -9.81 0"/></forces></talus>
END_OF_FILE
sweep='sweep tree.talus -q -v mass=1:2:4 -v knee.u0=-2:2:100 -e 0.5 -a 1e-6'

# --- any processes x threads x lanes: the same file ---
# shellcheck disable=SC2086 # words
"$talus" $sweep -t 1 --width 1 -o alone.csv || complain 'a sweep alone failed'
for ranks in 1 2 4; do
    for threads in 1 2; do
        for width in 1 4 8; do
            [ "$ranks" != 4 ] || [ "$threads" = 1 ] || continue
            out=r$ranks.t$threads.w$width.csv
            # shellcheck disable=SC2086 # words
            together $ranks $sweep -t $threads --width $width -o "$out"
            [ "$code" -eq 0 ] || complain "$ranks processes end with $code: $(head -3 err)"
            cmp -s alone.csv "$out" || complain "$out has other bytes"
            [ ! -e "$out.run" ] || complain "$out.run is left"
        done
    done
done

# --- one process tells, and no sample is run twice: what all have run is summed up ---
# shellcheck disable=SC2086 # words
together 3 ${sweep/-q/} -o told.csv
has err 'samples in '
[ "$(grep -c 'samples in ' err)" = 1 ] || complain "more than one process tells: $(cat err)"
[ "$(awk '/samples (side by side|one by one)/ { n += $1 } END { print n }' err)" = 400 ] ||
    complain "not every sample is run by one process: $(cat err)"
cmp -s alone.csv told.csv || complain 'told.csv has other bytes'

# --- choices are compared together, too ---
choices='--among integrator=merson,verner-8 --among accuracy=1e-3:1e-7:3 -e 1'
# shellcheck disable=SC2086 # words
"$talus" sweep pendulum.talus -q $choices -o choices.csv || complain 'choices alone failed'
# shellcheck disable=SC2086 # words
together 2 sweep pendulum.talus $choices --choose 1e-4 -o chosen.csv
[ "$(grep -c '^chosen ' out)" = 1 ] || complain "what is chosen is not told once: $(cat out)"
cmp -s choices.csv chosen.csv || complain 'choices of two processes have other bytes'

# --- samples that fail are told once, and end all with 1 ---
together 2 sweep tree.talus -q -v knee.u0=0:1e300:64 -e 0.1 -o failed.csv
[ "$code" -eq 1 ] || complain "failed samples end with $code"
[ "$(grep -c '63 of 64 samples failed' err)" = 1 ] || complain "failures: $(cat err)"

# --- killed at any time, the same command goes on, with other numbers of processes ---
long='sweep human_body.talus -q -v pelvis.u0=0:3:160 -e 0.3 -a 1e-6'
# shellcheck disable=SC2086 # words
"$talus" $long -o long.csv || complain 'a long sweep alone failed'
RANDOM=7
for ((i = 0; i < 5; i++)); do
    # shellcheck disable=SC2086 # words
    "$mpirun" -n $((2 + i % 2)) "$talus" $long -o killed.csv >/dev/null 2>&1 &
    run=$!
    sleep "0.$((RANDOM % 70 + 20))"
    kill -9 "$run" 2>/dev/null # mpirun; its processes end when it is gone
    wait "$run" 2>/dev/null
    sleep 0.2
    [ ! -e killed.csv ] || break
done
# shellcheck disable=SC2086 # words
together 2 $long -o killed.csv
[ "$code" -eq 0 ] || complain "a sweep that was killed ends with $code: $(head -3 err)"
cmp -s long.csv killed.csv || complain 'a sweep of processes that were killed has other bytes'

# --- wrong usage ends all ---
together 2 sweep tree.talus -v knee.u0=0:1:3
[ "$code" -ne 0 ] || complain 'no -o is no error'
has err 'talus sweep: several processes need -o FILE, beside which they work.'
together 2 sweep tree.talus -v knee.u7=0:1:3 -o wrong.csv
[ "$code" -ne 0 ] || complain 'a wrong name is no error'
has err "there is no 'knee.u7' to vary"
# other commands are run once
together 3 version
[ "$(wc -l <out)" = "$("$talus" version | wc -l)" ] || complain "version: $(cat out)"

finish
