// A parallelogram of three rods in real time: steps of 10 ms, with three iterations in each.
//
// It passes poses in which all rods lie on one line. There one of its two equations repeats the
// other, and coordinates that are chosen as independent fail; the hybrid formulation has none.
//
// Run it:  build/dev/examples/34_real_time        Expected output: 34_real_time.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>

static const double LENGTH = 1.0, MASS = 1.0; // of each rod

// A rod along x of its body, on a pin along z at `at` of its parent.
static tal_body_ix add_rod(tal_matter *matter, tal_body_ix parent, double at)
{
    tal_mobod_def def = tal_mobod_def_default();
    const double second = MASS * LENGTH * LENGTH / 3.0;
    def.mass.mass = MASS;
    def.mass.com = tal_v3(0.5 * LENGTH, 0.0, 0.0);
    def.mass.inertia = tal_s3_diag(0.0, second, second);
    def.X_PF.p = tal_v3(at, 0.0, 0.0);
    return tal_matter_add_pin(matter, parent, &def);
}

// One line for each second, and what the run took.
static tal_status run(tal_fixed_stepper *stepper, const tal_matter *matter, tal_state *state)
{
    const tal_body_ix crank = {1}, coupler = {2};
    tal_status st = TAL_OK;
    (void)printf("   t     crank   off level\n");
    for (int second = 1; second <= 5 && st == TAL_OK; ++second) {
        st = tal_fixed_stepper_step_to(stepper, state, (double)second);
        const double angle = tal_body_q(matter, state, crank, 0);
        const double level = sin(angle + tal_body_q(matter, state, coupler, 0));
        (void)printf("%4d %9.4f   %s\n", second, angle, fabs(level) < 1e-5 ? "no" : "YES");
    }
    const tal_fixed_stats stats = tal_fixed_stepper_statistics(stepper);
    (void)printf("%d steps of %d iterations, constraints %s\n", (int)stats.steps,
                 (int)(stats.iterations / stats.steps),
                 stats.worst_position_error < 1e-5 ? "met to 1e-5 m" : "NOT met");
    return st;
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    const tal_body_ix crank = add_rod(matter, TAL_GROUND, 0.0);
    const tal_body_ix coupler = add_rod(matter, crank, LENGTH);
    const tal_body_ix follower = add_rod(matter, TAL_GROUND, LENGTH);
    const tal_constraint_def pin = tal_constraint_between(coupler, follower);
    const tal_vec3 tip = tal_v3(LENGTH, 0.0, 0.0);
    (void)tal_constraint_add_ball(matter, &pin, tip, tip);
    (void)tal_fixed_memory_create(system);

    tal_error err;
    tal_state *state = NULL;
    tal_fixed_stepper *stepper = NULL;
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.same_work = true;
    def.iterations = 3;
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_fixed_stepper_create(system, &def, &stepper, &err);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_MODEL);
    if (st == TAL_OK) {
        const double up = 0.5 * TAL_PI;
        const double q[] = {up, -up, up}, u[] = {-1.0, 1.0, -1.0};
        (void)tal_state_set_q(state, q, 3);
        (void)tal_state_set_u(state, u, 3);
        st = run(stepper, matter, state);
        err = *tal_fixed_stepper_error(stepper);
    }
    if (st != TAL_OK) (void)puts(err.message);
    tal_fixed_stepper_destroy(stepper);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? 0 : 1;
}
