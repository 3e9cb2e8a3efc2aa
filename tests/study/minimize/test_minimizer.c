// Tests for study/src/minimize: the nearest minimum of potential energy.
#include "../scene_support.h"
#include "alloc_guard.h"
#include "failing.h"

#include <math.h>

static const double EPSILON = 0.99774, SIGMA = 0.34; // of argon [kJ/mol, nm]

static void ready(scene *s, const tal_minimizer_def *def)
{
    tal_error err;
    create_state(s);
    const tal_status st = tal_minimizer_create(s->system, def, &s->minimizer, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
}

static tal_minimum run(scene *s, int iterations)
{
    tal_minimum found;
    const tal_status st = tal_minimizer_run(s->minimizer, s->state, iterations, &found);
    ck_assert_msg(st == TAL_OK, "%s", tal_minimizer_error(s->minimizer)->message);
    return found;
}

// Beads of argon's size; those of one chain are bonded, with bends and torsions of an alkane.
static void add_beads(scene *s, const tal_vec3 x[], int n, int per_chain, tal_mol_level level)
{
    tal_error err;
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &s->ff, &err), TAL_OK);
    tal_ff_class_def bead = tal_ff_class_def_default();
    bead.name = "bead";
    bead.size = SIGMA;
    bead.well_depth = EPSILON;
    const int c = tal_ff_add_class(s->ff, &bead);
    const int type = tal_ff_add_type(s->ff, "bead", c, 0.0);
    const tal_ff_wave waves[] = {{1, 4.0, 0.0}, {3, 6.0, 0.0}};
    (void)tal_ff_set_type_mass(s->ff, type, 40.0);
    (void)tal_ff_add_stretch(s->ff, c, c, 50000.0, 0.153);
    (void)tal_ff_add_bend(s->ff, c, c, c, 250.0, 1.95);
    (void)tal_ff_add_torsion(s->ff, c, c, c, c, waves, 2);
    ck_assert_int_eq(tal_ff_freeze(s->ff, &err), TAL_OK);
    ck_assert_int_eq(tal_mol_create(s->ff, NULL, NULL, &s->mol, &err), TAL_OK);
    for (int i = 0; i < n; ++i) {
        (void)tal_mol_add_atom(s->mol, type, "B", 1, "");
        if (i % per_chain > 0) (void)tal_mol_add_bond(s->mol, i - 1, i, 1);
    }
    (void)tal_mol_set_positions(s->mol, x, n);
    ck_assert_msg(tal_mol_freeze(s->mol, &err) == TAL_OK, "%s", err.message);
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = level;
    s->instance = tal_mol_add(s->system, s->matter, s->forces, "beads", s->mol, &how, NULL);
}

// A zigzag of six beads with its torsions turned.
static void add_chain(scene *s, tal_mol_level level)
{
    static const tal_vec3 x[6] = {{0.00, 0.00, 0.00}, {0.14, 0.06, 0.00}, {0.28, 0.01, 0.03},
                                  {0.33, 0.13, 0.11}, {0.47, 0.10, 0.16}, {0.52, 0.23, 0.22}};
    add_beads(s, x, 6, 6, level);
}

START_TEST(a_pendulum_comes_to_hang)
{
    scene s;
    begin(&s);
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass.mass = 2.0;
    bob.X_BM = tal_xf_from_p(tal_v3(0.0, 0.5, 0.0));
    const tal_body_ix body = tal_matter_add_pin(s.matter, TAL_GROUND, &bob);
    (void)tal_forces_add_gravity(s.forces, tal_v3(0.0, -9.81, 0.0));
    ready(&s, NULL);
    ck_assert_int_eq(tal_body_set_q(s.matter, s.state, body, 0, 3.0), TAL_OK);
    const tal_minimum found = run(&s, 1000);
    ck_assert_int_eq(found.end, TAL_MINIMIZER_CONVERGED);
    // torque is m g l sin q, of which a millionth is left
    ck_assert_double_eq_tol(tal_body_q(s.matter, s.state, body, 0), 0.0, 1e-6 / 9.81);
    ck_assert_double_eq_tol(found.energy, -9.81, 1e-12);
    ck_assert_double_eq_tol(found.gained, 9.81 * (1.0 - cos(3.0)), 1e-12);
    end(&s);
}

END_TEST

START_TEST(two_atoms_find_the_distance_of_least_energy)
{
    // beside each other, and nearly on top of each other
    for (int near = 0; near < 2; ++near) {
        scene s;
        begin(&s);
        const tal_vec3 x[2] = {{0.0, 0.0, 0.0}, {near == 1 ? 0.08 : 0.45, 0.0, 0.0}};
        add_beads(&s, x, 2, 1, TAL_MOL_CARTESIAN);
        ready(&s, NULL);
        const tal_minimum found = run(&s, 1000);
        ck_assert_int_eq(found.end, TAL_MINIMIZER_CONVERGED);
        ck_assert_double_eq_tol(found.energy, -EPSILON, 1e-9);
        tal_vec3 at[2];
        ck_assert_int_eq(tal_mol_calc_positions(s.instance, s.state, at, 2), TAL_OK);
        // the stiffness there is 57 epsilon/sigma^2, some 500: a force of 1e-6 is 2e-9 off
        ck_assert_double_eq_tol(tal_v3_norm(tal_v3_sub(at[1], at[0])),
                                TAL_MOL_RMIN_PER_SIGMA * SIGMA, 4e-9);
        end(&s);
    }
}

END_TEST

// The energy is higher around a minimum, in every direction but those of rigid motions.
START_TEST(a_chain_comes_to_a_minimum_at_every_granularity)
{
    static const tal_mol_level levels[] = {TAL_MOL_CARTESIAN, TAL_MOL_BAT, TAL_MOL_TORSIONS};
    for (int k = 0; k < 3; ++k) {
        scene s;
        begin(&s);
        add_chain(&s, levels[k]);
        ready(&s, NULL);
        const tal_minimum found = run(&s, 2000);
        ck_assert_int_eq(found.end, TAL_MINIMIZER_CONVERGED);
        ck_assert(found.gained > 0.0 && found.force <= 1e-6);
        ck_assert_int_ge(found.evaluations, found.iterations);
        const int nq = tal_state_nq(s.state);
        test_rng rng = test_rng_seed(7);
        double q[32];
        ck_assert_int_le(nq, 32);
        memcpy(q, tal_state_q(s.state), (size_t)nq * sizeof q[0]);
        for (int trial = 0; trial < 50; ++trial) {
            for (int i = 0; i < nq; ++i) {
                tal_state_upd_q(s.state)[i] = q[i] + 1e-3 * test_random_uniform(&rng, -1.0, 1.0);
            }
            ck_assert_int_eq(tal_system_realize(s.system, s.state, TAL_STAGE_DYNAMICS), TAL_OK);
            // forces of 1e-6 along a way of 1e-3 in 18 directions, and the grid of energies
            ck_assert_double_ge(tal_system_potential_energy(s.system, s.state),
                                found.energy - 1e-8);
        }
        end(&s);
    }
}

END_TEST

START_TEST(rigid_bodies_find_each_other_and_quaternions_stay_unit)
{
    scene s;
    begin(&s);
    const tal_vec3 x[4] = {
        {0.0, 0.0, 0.0}, {0.15, 0.0, 0.0}, {0.0, 0.6, 0.1}, {0.05, 0.6, 0.24142135623730951}};
    add_beads(&s, x, 4, 2, TAL_MOL_RIGID);
    ready(&s, NULL);
    const tal_minimum found = run(&s, 2000);
    ck_assert_int_eq(found.end, TAL_MINIMIZER_CONVERGED);
    // each of the four distances can be that of least energy, or nearly so
    ck_assert_double_le(found.energy, -3.5 * EPSILON);
    end(&s);
}

END_TEST

START_TEST(runs_in_parts_are_the_same_to_the_bit)
{
    scene a, b;
    begin(&a);
    begin(&b);
    add_chain(&a, TAL_MOL_TORSIONS);
    add_chain(&b, TAL_MOL_TORSIONS);
    ready(&a, NULL);
    ready(&b, NULL);
    const tal_minimum whole = run(&a, 30);
    long iterations = 0;
    tal_minimum part = {0};
    for (int k = 0; k < 10; ++k) {
        part = run(&b, 3);
        iterations += part.iterations;
    }
    ck_assert_int_eq(iterations, whole.iterations);
    ck_assert_int_eq(part.end, whole.end);
    ck_assert_int_eq(memcmp(tal_state_q(a.state), tal_state_q(b.state),
                            (size_t)tal_state_nq(a.state) * sizeof(double)),
                     0);
    end(&b);
    end(&a);
}

END_TEST

START_TEST(a_run_of_no_iterations_tells_what_forces_there_are)
{
    scene s;
    begin(&s);
    add_chain(&s, TAL_MOL_TORSIONS);
    ready(&s, NULL);
    const tal_minimum found = run(&s, 0);
    ck_assert_int_eq(found.end, TAL_MINIMIZER_ITERATIONS);
    ck_assert_int_eq(found.iterations, 0);
    ck_assert_int_eq(found.evaluations, 1);
    ck_assert(found.gained == 0.0 && found.force > 1e-6 && found.largest >= found.force);
    ck_assert_int_eq(tal_state_stage(s.state), TAL_STAGE_DYNAMICS);
    end(&s);
}

END_TEST

START_TEST(a_tolerance_below_round_off_ends_in_a_stall)
{
    scene s;
    begin(&s);
    add_chain(&s, TAL_MOL_TORSIONS);
    tal_minimizer_def def = tal_minimizer_def_default();
    def.tolerance = 1e-300;
    ready(&s, &def);
    const tal_minimum found = run(&s, 100000);
    ck_assert_int_eq(found.end, TAL_MINIMIZER_STALLED);
    // forces are on a grid of 1.5e-11, and noise of the energy hides what is less than its root
    ck_assert_double_le(found.force, 1e-5);
    end(&s);
}

END_TEST

START_TEST(a_run_allocates_nothing)
{
    scene s;
    begin(&s);
    add_chain(&s, TAL_MOL_TORSIONS);
    ready(&s, NULL);
    tal_minimum found;
    tal_status st;
    test_assert_no_heap(st = tal_minimizer_run(s.minimizer, s.state, 20, &found));
    ck_assert_int_eq(st, TAL_OK);
    end(&s);
}

END_TEST

static tal_status push(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                       double f[])
{
    (void)self, (void)F;
    f[0] -= 9.81 * sin(tal_state_q(context->state)[0]);
    return may_fail(__func__);
}

static tal_status store(const void *self, const tal_force_context *context, double *energy)
{
    (void)self;
    *energy = -9.81 * cos(tal_state_q(context->state)[0]);
    return TAL_OK;
}

// A pendulum by a force of the user's. One that fails from the n-th call on ends the search with
// its status, whenever that is; nothing is told of a minimum then.
START_TEST(a_force_that_fails_ends_the_search)
{
    static const tal_force_ops ops = {
        .size = sizeof ops, .name = "push", .apply = push, .calc_potential_energy = store};
    long most = 0;
    for (long n = 0; n == 0 || n <= most; ++n) {
        scene s;
        begin(&s);
        tal_mobod_def bob = tal_mobod_def_default();
        bob.mass.mass = 1.0;
        bob.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
        const tal_body_ix body = tal_matter_add_pin(s.matter, TAL_GROUND, &bob);
        ck_assert_int_ge(tal_forces_add(s.forces, "push", &ops, NULL).i, 0);
        ready(&s, NULL);
        ck_assert_int_eq(tal_body_set_q(s.matter, s.state, body, 0, 2.0), TAL_OK);
        fault_begin(n, true);
        tal_minimum found = {.iterations = -1};
        const tal_status st = tal_minimizer_run(s.minimizer, s.state, 1000, &found);
        if (n == 0) {
            ck_assert_int_eq(st, TAL_OK);
            ck_assert_double_eq_tol(tal_body_q(s.matter, s.state, body, 0), 0.0, 1e-6);
            most = fault.calls;
        } else {
            ck_assert_msg(st == TAL_ERR_CALLBACK, "call %ld of %ld: %s", n, most,
                          tal_status_text(st));
            ck_assert_ptr_nonnull(strstr(tal_minimizer_error(s.minimizer)->message, "push"));
        }
        end(&s);
    }
    ck_assert_int_gt(most, 5);
}

END_TEST

START_TEST(what_it_cannot_do_is_refused)
{
    test_record_breaches();
    scene s;
    tal_error err;
    begin(&s);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    const tal_body_ix body = tal_matter_add_pin(s.matter, TAL_GROUND, &def);
    (void)tal_forces_add_gravity(s.forces, tal_v3(0.0, -9.81, 0.0));
    ready(&s, NULL);
    tal_minimizer *other = NULL;
    tal_minimizer_def wrong = tal_minimizer_def_default();
    wrong.memory = 0;
    ck_assert_int_eq(tal_minimizer_create(s.system, &wrong, &other, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "memory 0 from 1 to 50"));
    wrong = tal_minimizer_def_default();
    wrong.tolerance = -1.0;
    ck_assert_int_eq(tal_minimizer_create(s.system, &wrong, &other, &err), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_minimizer_create(NULL, NULL, &other, &err), TAL_ERR_NULL);
    ck_assert_int_eq(tal_minimizer_run(s.minimizer, s.state, -1, NULL), TAL_ERR_BAD_VALUE);
    const tal_mobility pin = {body, 0};
    ck_assert_int_eq(tal_mobility_lock(s.matter, s.state, pin, TAL_LEVEL_POSITION), TAL_OK);
    ck_assert_int_eq(tal_minimizer_run(s.minimizer, s.state, 1, NULL), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_minimizer_error(s.minimizer)->message, "unlock body"));
    test_assert_refused(tal_minimizer_run(NULL, s.state, 1, NULL), TAL_ERR_NULL, "minimizer");
    tal_minimizer_destroy(NULL);
    end(&s);
}

END_TEST

START_TEST(constraints_are_refused)
{
    scene s;
    tal_error err;
    tal_minimizer *other = NULL;
    begin(&s);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(1.0, tal_v3(0.1, 0.1, 0.1));
    const tal_body_ix body = tal_matter_add_free(s.matter, TAL_GROUND, &def);
    tal_constraint_def ends = tal_constraint_def_default();
    ends.bodies[0] = TAL_GROUND;
    ends.bodies[1] = body;
    (void)tal_constraint_add_rod(s.matter, &ends, TAL_VEC3_ZERO, tal_v3(0.0, 0.1, 0.0), 1.0);
    ck_assert_int_eq(tal_system_realize_topology(s.system, &err), TAL_OK);
    ck_assert_int_eq(tal_minimizer_create(s.system, NULL, &other, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "does not know constraints"));
    ck_assert_ptr_null(other);
    end(&s);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("minimizer");
    TCase *tc = tcase_create("minimizer");
    tcase_add_test(tc, a_pendulum_comes_to_hang);
    tcase_add_test(tc, two_atoms_find_the_distance_of_least_energy);
    tcase_add_test(tc, a_chain_comes_to_a_minimum_at_every_granularity);
    tcase_add_test(tc, rigid_bodies_find_each_other_and_quaternions_stay_unit);
    tcase_add_test(tc, runs_in_parts_are_the_same_to_the_bit);
    tcase_add_test(tc, a_run_of_no_iterations_tells_what_forces_there_are);
    tcase_add_test(tc, a_tolerance_below_round_off_ends_in_a_stall);
    tcase_add_test(tc, a_run_allocates_nothing);
    tcase_add_test(tc, a_force_that_fails_ends_the_search);
    tcase_add_test(tc, what_it_cannot_do_is_refused);
    tcase_add_test(tc, constraints_are_refused);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
