#!/usr/bin/env bash
# tools.sh TALUS SOURCE_DIR
# The tools of OpenSim as commands: talus scale, so, cmc, rra, analyze, on the leg of examples/gait.
# shellcheck source=tests/cli/cli_support.sh
source "$(dirname "$0")/cli_support.sh"
cp "$source_dir"/examples/gait/* .

# most FILE: the largest size of a number in all columns but the first
most() {
    sed '1,/^endheader/d' "$1" | awk 'NR > 1 { for (i = 2; i <= NF; i++) {
        v = $i < 0 ? -$i : $i; if (v > m) m = v } } END { print m + 0 }'
}

expect 0 ik leg.osim walk.trc -q -o angles.mot

# The muscles of static optimization make the moments of inverse dynamics: sums of arms times
# forces
expect 0 so leg.osim angles.mot -q --cutoff 6 -o so
expect 0 analyze leg.osim angles.mot -q --cutoff 6 --analysis MuscleAnalysis -o arms
expect 0 run - -q -o moments -p model_file=leg.osim -p coordinates_file=angles.mot \
    -p lowpass_cutoff_frequency_for_coordinates=6 -p forces_to_exclude=Muscles \
    <<<'<InverseDynamicsTool name="id"/>'
sed '1,/^endheader/d' so/so_StaticOptimization_force.sto >forces
sed '1,/^endheader/d' arms/analyze_MuscleAnalysis_MomentArm_knee.sto >knee
sed '1,/^endheader/d' moments/inverse_dynamics.sto >needed
error=$(paste forces knee needed | awk 'NR > 1 {
    s = 0; for (i = 2; i <= 10; i++) s += $i * $(10 + i)
    e = s - $23; if (e < 0) e = -e; if (NR > 3 && NR < 119 && e > m) m = e } END { print m }')
# accelerations are slopes of splines through speeds here and second slopes of splines through
# angles there; they differ by a thousandth inside the data
less "$error" 0.05 'moments of the knee from muscles'
expect 0 rerun so/so_StaticOptimization_activation.sto
has out 'bit for bit'
expect 0 so leg.osim angles.mot -q --exponent 3 -o cubes
! cmp -s so/so_StaticOptimization_activation.sto cubes/so_StaticOptimization_activation.sto ||
    complain 'the exponent has no effect'

# Threads change no byte of any table.
analyses=()
for name in JointReaction Actuation MuscleAnalysis StaticOptimization InducedAccelerations; do
    analyses+=(--analysis "$name")
done
for threads in 1 3; do
    expect 0 analyze leg.osim angles.mot -q --cutoff 6 "${analyses[@]}" -o "t$threads" -t $threads
done
diff -r t1 t3 >differences || complain "threads change results: $(head differences)"

# Computed muscle control stays within half a degree.
expect 0 cmc leg.osim angles.mot -q --cutoff 6 --to 0.3 -o cmc
less "$(most cmc/cmc_pErr.sto)" 0.0087 'errors of computed muscle control'
near "$(last cmc/cmc_states.sto time)" 0.3 1e-9 'where it ends'
expect 0 rerun cmc/cmc_states.sto
# Joints that are told the forces that act anyway carry what they carried.
expect 0 analyze leg.osim cmc/cmc_states.sto --states -q --analysis JointReaction \
    --analysis Actuation -o joints
expect 0 run - -q -o told <<'END'
<AnalyzeTool name="analyze"><model_file>leg.osim</model_file>
<states_file>cmc/cmc_states.sto</states_file><AnalysisSet><objects><JointReaction>
<forces_file>joints/analyze_Actuation_force.sto</forces_file>
</JointReaction></objects></AnalysisSet></AnalyzeTool>
END
for end in hip_joint_on_thigh_in_ground_fy ankle_joint_on_foot_in_ground_mz; do
    near "$(last told/analyze_JointReaction_ReactionLoads.sto $end)" \
        "$(last joints/analyze_JointReaction_ReactionLoads.sto $end)" 1e-9 "$end with told forces"
done
expect 0 cmc leg.osim angles.mot -q --cutoff 6 --to 0.1 --soft --window 0.005 -o soft
[ -s soft/cmc_controls.xml ] || complain 'there are no controls'

# Without residuals in the model their means are zero.
{
    echo '<OpenSimDocument Version="40000"><ForceSet><objects>'
    for joint in hip knee ankle; do
        echo "<CoordinateActuator name='m_$joint'><coordinate>$joint</coordinate>"
        echo '<optimal_force>100</optimal_force></CoordinateActuator>'
    done
    echo '</objects></ForceSet></OpenSimDocument>'
} >motors.xml
expect 0 rra leg.osim angles.mot -q --cutoff 6 --forces motors.xml -p replace_force_set=true \
    --from 0.2 --to 0.3 -o rra
has rra/rra_avgResiduals.txt 'FX=0'
less "$(most rra/rra_pErr.sto)" 0.0087 'errors of residual reduction'

# A leg whose markers are 10 % farther apart gets bodies that are longer by a tenth; factors by hand
# come after measurements, and the mass is that of the subject.
awk -F '\t' -v OFS='\t' 'NR > 6 { for (i = 3; i <= NF; i++) $i *= 1.1 } { print }' \
    walk.trc >tall.trc
expect 0 scale leg.osim tall.trc -q --measure thigh=HIP,KNEE --measure shank,foot:Y=KNEE,ANKLE \
    --factor foot=1,2,1.5 --mass 20 --hold hip=0 -o tall
factors=tall/subject_scale_factors.sto
near "$(last $factors thigh_y)" 1.1 0.001 'the thigh as long as its markers say'
near "$(last $factors shank_y)" 1.1 0.001 'the shank as long as its markers say'
near "$(last $factors shank_x)" 1 0 'the shank as thick as before'
near "$(last $factors foot_y)" 2 0 'the foot as the factor says'
expect 0 info tall/subject.osim
has out 'mass                    20 kg'
near "$(last tall/subject_pose.mot hip)" 0 0.01 'a coordinate that is held'
expect 0 rerun $factors
has out 'bit for bit'
expect 0 scale leg.osim tall.trc -q --factor thigh=1.1 --sizes-only -o sizes
[ ! -e sizes/subject.osim ] || complain 'markers were placed without being asked for'

# The commands of the page, in their order: markers are met to the size of their noise, and
# excitations repeat the motion within a degree.
mkdir page && cp "$source_dir"/examples/gait/* page && cd page || exit 1
commands=0
while read -r _ line; do
    read -ra words <<<"$line"
    expect 0 "${words[@]}" -q
    commands=$((commands + 1))
done < <(sed -n '/^## A gait analysis/,/^## Set-up/s/^    talus /talus /p' \
    "$source_dir/doc/howto/opensim.md")
[ $commands -eq 10 ] || complain "the page has $commands commands, not ten"
for joint in hip knee ankle; do
    label=/jointset/${joint}_joint/$joint/value
    near "$(last again/again_states.sto "$label")" "$(last cmc/cmc_states.sto "$label")" 0.0175 \
        "$joint after the excitations alone"
done
less "$(last moments/inverse_dynamics.sto time)" 1.21 'moments'
[ -s excitations.svg ] || complain 'there is no plot'
cd ..

# --- what is wrong ---
expect 2 scale leg.osim
expect 2 scale leg.osim walk.trc --measure thigh
has err 'BODY=MARKER,MARKER'
expect 2 scale leg.osim walk.trc --measure thigh=HIP
has err "'HIP' is not two markers"
expect 2 scale leg.osim walk.trc --factor 1.1
has err 'BODY=NUMBER'
expect 3 scale leg.osim walk.trc --factor thigh=-1
has err 'must be positive'
expect 3 scale leg.osim walk.trc --start hip=1
has err 'no start can be given'
expect 2 so leg.osim
expect 2 cmc - angles.mot
has err 'reads files'
expect 3 so none.osim angles.mot
has err 'none.osim'
expect 3 analyze leg.osim angles.mot --analysis Kinematic
has err "did you mean 'Kinematics'?"
expect 3 cmc leg.osim angles.mot --window never
expect 3 cmc leg.osim angles.mot --tasks none.xml
has err 'none.xml'
expect 2 so leg.osim angles.mot -o -

finish
