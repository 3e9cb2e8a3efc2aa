// A constraint across a joint that is locked: it has nothing left to ask for.
#include "study_model.h"

typedef struct braced {
    study s;
    tal_body_ix frame, arm, bob;
    tal_constraint_ix brace;
} braced;

// A free frame carries an arm on a pin, which is locked, and a rod braces the arm against the
// frame: the lock has done already what the rod asks for. A pendulum on a rod beside it gives
// projection something to do.
static braced begin_braced(uint64_t seed, const tal_integrator_def *def)
{
    test_rng rng = test_rng_seed(seed);
    braced it = {.s = study_begin(tal_v3(0.0, -9.81, 0.0))};
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = test_random_mass_props(&rng);
    body.X_BM = test_random_xform(&rng);
    it.frame = tal_matter_add_free(it.s.matter, TAL_GROUND, &body);
    body.mass = test_random_mass_props(&rng);
    body.X_PF = test_random_xform(&rng);
    it.arm = tal_matter_add_pin(it.s.matter, it.frame, &body);
    const tal_vec3 p1 = test_random_vec3(&rng), p2 = test_random_vec3(&rng);
    tal_constraint_def between = tal_constraint_between(it.frame, it.arm);
    it.brace = tal_constraint_add_rod(it.s.matter, &between, p1, p2, 1.0);
    body = tal_mobod_def_default();
    body.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    it.bob = tal_matter_add_translation(it.s.matter, TAL_GROUND, &body);
    between = tal_constraint_between(TAL_GROUND, it.bob);
    (void)tal_constraint_add_rod(it.s.matter, &between, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    study_finish(&it.s, def);

    tal_state *state = it.s.state;
    (void)tal_body_set_q(it.s.matter, state, it.arm, 0, test_random_uniform(&rng, -1.0, 1.0));
    (void)tal_body_set_q(it.s.matter, state, it.bob, 0, 0.6);
    (void)tal_body_set_q(it.s.matter, state, it.bob, 1, -0.8);
    for (int i = 0; i < 6; ++i) {
        (void)tal_body_set_u(it.s.matter, state, it.frame, i, test_random_uniform(&rng, -1.0, 1.0));
    }
    (void)tal_body_lock(it.s.matter, state, it.arm, TAL_LEVEL_POSITION);
    ck_assert_int_eq(tal_system_realize(it.s.system, state, TAL_STAGE_POSITION), TAL_OK);
    const tal_vec3 across = tal_v3_sub(tal_station_p_GS(it.s.matter, state, it.frame, p1),
                                       tal_station_p_GS(it.s.matter, state, it.arm, p2));
    const double params[7] = {p1.x, p1.y, p1.z, p2.x, p2.y, p2.z, tal_v3_norm(across)};
    ck_assert_int_eq(tal_constraint_set_params(it.s.matter, state, it.brace, params, 7), TAL_OK);
    return it;
}

// Projection leaves the frame alone: nothing moves but by round-off, though the pendulum's errors
// call for projecting. With controlled steps of accuracy 1e-4 the few errors of a redundant rod
// that are counted make a step differ by no more than that.
START_TEST(a_constraint_across_a_locked_joint_changes_nothing)
{
    for (int k = 0; k < 3; ++k) {
        tal_integrator_def def = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-4);
        if (k == 1) def.project_every_step = true;
        if (k == 2) def.method = TAL_METHOD_CVODE_BDF;
        for (uint64_t seed = 1; seed < 6; ++seed) {
            braced with = begin_braced(seed, &def), without = begin_braced(seed, &def);
            tal_constraint_set_enabled(without.s.matter, without.s.state, without.brace, false);
            study_step_to(&with.s, 1.0);
            study_step_to(&without.s, 1.0);
            test_assert_near(tal_state_q(with.s.state), tal_state_q(without.s.state),
                             tal_state_nq(with.s.state), 1e-3, "q");
            study_end(&with.s);
            study_end(&without.s);
        }
    }
}

END_TEST

// The frame keeps its six degrees of freedom, and the pendulum its two; a marker on the arm can be
// where it is wanted, which moves the frame.
START_TEST(studies_count_no_constraint_across_a_locked_joint)
{
    for (uint64_t seed = 1; seed < 6; ++seed) {
        braced it = begin_braced(seed, NULL);
        tal_linearizer *lin = NULL;
        ck_assert_int_eq(tal_linearizer_create(it.s.system, NULL, &lin, NULL), TAL_OK);
        ck_assert_int_eq(tal_linearizer_run(lin, it.s.state), TAL_OK);
        ck_assert_int_eq(tal_linearizer_sizes(lin).ns, 8);
        ck_assert_int_eq(tal_linearizer_sizes(lin).nv, 8);
        tal_linearizer_destroy(lin);

        const tal_marker markers[] = {{NULL, it.arm, {0.0, 0.0, 0.0}, 1.0},
                                      {NULL, it.arm, {1.0, 0.0, 0.0}, 1.0},
                                      {NULL, it.arm, {0.0, 1.0, 0.0}, 1.0}};
        const tal_vec3 wanted[] = {{3.0, 0.0, 0.0}, {3.0, 1.0, 0.0}, {3.0, 0.0, 1.0}};
        tal_assembler_def goals = tal_assembler_def_default();
        goals.markers = markers;
        goals.num_markers = 3;
        tal_assembler *assembler = NULL;
        ck_assert_int_eq(tal_assembler_create(it.s.system, &goals, &assembler, NULL), TAL_OK);
        ck_assert_int_eq(tal_assembler_observe(assembler, wanted, NULL), TAL_OK);
        tal_assembly found;
        ck_assert_int_eq(tal_assembler_assemble(assembler, it.s.state, &found), TAL_OK);
        ck_assert_double_lt(found.marker_max, 1e-8);
        tal_assembler_destroy(assembler);
        study_end(&it.s);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("theory/locked_loops");
    TCase *tests = tcase_create("locked");
    tcase_add_test(tests, a_constraint_across_a_locked_joint_changes_nothing);
    tcase_add_test(tests, studies_count_no_constraint_across_a_locked_joint);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
