// What every integrator has to do: a table of methods, and one test per property over all of them.
// What is special to a method is tested beside it (test_methods.c, test_cvode.c, test_ida.c,
// test_arkode.c).
#include "sampler.h"
#include "study_model.h"

// A method as the battery knows it.
typedef struct member {
    const char *name;
    tal_method method;
    const tal_rk_tableau *(*tableau)(void);
    tal_linear_solver solver;
    int order;
    bool is_coarse;  // of order 1 or 2: accuracies below 1e-6 take too long
    int stiff_steps; // at most, for a stiff muscle; 0: it is explicit
    // accuracy at which P4 and P5 promise 1e-7; 0: they do not, or it takes too long here
    double finest;
    double dense; // bound within steps at accuracy 1e-8; 0: 5 accuracy times 200 steps
    // at a pole, from accuracy `pole`: how far off it may end, and in how many evaluations
    double pole, off;
    int evaluations;
} member;

// Near a pole at distance s a step of BDF has the error h^6 z^(6) 10/137 = 53 (h/s)^6 of z; steps
// are held to 3e-14, so that h/s is 2.9e-3: 13,000 steps, of up to three evaluations with GMRES.
// IDA has h^6 z^(6) / 6 and 1.1e-12: h/s is 4.6e-3, 8,000 steps of two to three evaluations.
//
// Dense output: the polynomial of degree 5 of ARKODE is as good as steps of order 5, of which it
// takes some 50 and 90.
static const member battery[] = {
    {.name = "merson", .tableau = tal_rk_merson, .pole = 1e-8, .off = 1e-7, .evaluations = 100000},
    {.name = "dormand-prince",
     .tableau = tal_rk_dormand_prince,
     .pole = 1e-8,
     .off = 1e-7,
     .evaluations = 100000},
    {.name = "bogacki-shampine 5",
     .tableau = tal_rk_bogacki_shampine_5,
     .pole = 1e-8,
     .off = 1e-7,
     .evaluations = 100000},
    {.name = "verner 8",
     .tableau = tal_rk_verner_8,
     .finest = 1e-10,
     .pole = 1e-8,
     .off = 1e-7,
     .evaluations = 100000},
    {.name = "semi-explicit euler", .method = TAL_METHOD_SEMI_EXPLICIT_EULER, .is_coarse = true},
    {.name = "verlet", .method = TAL_METHOD_VERLET, .is_coarse = true},
    {.name = "bdf",
     .method = TAL_METHOD_CVODE_BDF,
     .stiff_steps = 400,
     .finest = 1e-10,
     .pole = 1e-10,
     .off = 1e-9,
     .evaluations = 40000},
    {.name = "bdf with gmres",
     .method = TAL_METHOD_CVODE_BDF,
     .solver = TAL_LINEAR_GMRES,
     .stiff_steps = 400,
     .pole = 1e-10,
     .off = 1e-9,
     .evaluations = 40000},
    {.name = "adams",
     .method = TAL_METHOD_CVODE_ADAMS,
     .pole = 1e-10,
     .off = 1e-7,
     .evaluations = 20000},
    {.name = "ida",
     .method = TAL_METHOD_IDA,
     .stiff_steps = 400,
     .finest = 1e-10,
     .pole = 1e-10,
     .off = 1e-9,
     .evaluations = 25000},
    {.name = "arkode 5",
     .method = TAL_METHOD_ARKODE_EXPLICIT,
     .order = 5,
     .dense = 5e-8,
     .pole = 1e-8,
     .off = 1e-7,
     .evaluations = 100000},
    {.name = "arkode 8",
     .method = TAL_METHOD_ARKODE_EXPLICIT,
     .order = 8,
     .finest = 1e-10,
     .dense = 5e-8,
     .pole = 1e-8,
     .off = 1e-7,
     .evaluations = 100000},
    {.name = "arkode dirk 4",
     .method = TAL_METHOD_ARKODE_DIRK,
     .order = 4,
     .stiff_steps = 300,
     .dense = 9e-8,
     .pole = 1e-8,
     .off = 1e-7,
     .evaluations = 100000},
    {.name = "arkode dirk 5 with gmres",
     .method = TAL_METHOD_ARKODE_DIRK,
     .order = 5,
     .solver = TAL_LINEAR_GMRES,
     .stiff_steps = 300,
     .pole = 1e-8,
     .off = 1e-7,
     .evaluations = 100000},
    {.name = "fehlberg",
     .tableau = tal_rk_fehlberg,
     .pole = 1e-8,
     .off = 1e-7,
     .evaluations = 100000},
};

#define NUM_MEMBERS ((int)(sizeof battery / sizeof battery[0]))

static tal_integrator_def def_of(const member *it, double accuracy)
{
    tal_integrator_def def = study_def(it->method, accuracy);
    if (it->tableau != NULL) def.tableau = it->tableau();
    def.linear_solver = it->solver;
    def.order = it->order;
    return def;
}

// --- accuracy ---

START_TEST(errors_are_proportional_to_the_accuracy)
{
    const member *it = &battery[_i];
    if (it->is_coarse) return; // test_methods.c has their orders
    study_check_proportional(def_of(it, 1.0), false);
    study_check_proportional(def_of(it, 1.0), true);
}

END_TEST

// Three rows of the squeezer's loops have no effect; the car axis has a constraint that moves, and
// a body whose motion is prescribed.
START_TEST(references_are_met_to_what_is_promised)
{
    const member *it = &battery[_i];
    if (it->finest == 0.0) return;
    const tal_integrator_def def = def_of(it, it->finest);
    study_check_squeezer(&def, it->name);
    study_check_references(&def, it->name);
}

END_TEST

START_TEST(a_closed_loop_loses_little_energy)
{
    const member *it = &battery[_i];
    const tal_integrator_def def = def_of(it, it->is_coarse ? 1e-4 : 1e-8);
    study_check_energy(&def);
}

END_TEST

START_TEST(a_stiff_muscle_costs_few_steps)
{
    const member *it = &battery[_i];
    if (it->stiff_steps == 0) return;
    const tal_integrator_def def = def_of(it, 1e-6);
    study_check_stiff(&def, it->stiff_steps);
}

END_TEST

// The error within a step is of the size of that at its ends: 5 accuracy times the 200 steps.
START_TEST(dense_output_is_as_accurate_as_steps)
{
    const member *it = &battery[_i];
    if (it->is_coarse) return;
    study_check_dense(def_of(it, 1e-8), it->dense > 0.0 ? it->dense : 1e-5);
}

END_TEST

START_TEST(other_subsystems_have_coordinates_too)
{
    const member *it = &battery[_i];
    const tal_integrator_def def = def_of(it, it->is_coarse ? 1e-5 : 1e-8);
    study_check_mixed(&def);
}

END_TEST

// --- steps ---

START_TEST(the_first_and_the_longest_step_can_be_given)
{
    study_check_step_sizes(def_of(&battery[_i], 1e-3));
}

END_TEST

START_TEST(one_can_go_back_within_a_step)
{
    const member *it = &battery[_i];
    const tal_integrator_def def = def_of(it, it->is_coarse ? 1e-5 : 1e-9);
    study_check_back_up(&def);
}

END_TEST

// A speed set from outside is where the motion goes on from: u0 + g t on a free slider, which is a
// polynomial of degree 2.
START_TEST(a_changed_state_is_where_the_run_goes_on)
{
    const member *it = &battery[_i];
    const tal_integrator_def def = def_of(it, it->is_coarse ? 1e-5 : 1e-8);
    study s = study_begin(tal_v3(2.0, 0.0, 0.0));
    tal_mobod_def block = tal_mobod_def_default();
    block.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(s.matter, TAL_GROUND, &block);
    study_finish(&s, &def);
    study_step_to(&s, 1.0);
    (void)tal_body_set_u(s.matter, s.state, body, 0, -7.0);
    study_step_to(&s, 2.0);
    const double steps = (double)tal_integrator_statistics(s.integ).steps_taken;
    ck_assert_double_eq_tol(tal_state_u(s.state)[0], -5.0, 1e-12);
    ck_assert_double_eq_tol(tal_state_q(s.state)[0], 1.0 - 7.0 + 1.0, steps * def.accuracy);
    study_end(&s);
}

END_TEST

// z' = s, the time at which the step began: constant within each step, so that every method gets h
// s for it to round-off, provided that it forgets what the rates were before.
START_TEST(a_sampled_variable_that_changes_restarts_a_method)
{
    sampler it = {.s = {-1}};
    tal_integrator_def def = def_of(&battery[_i], 1e-3);
    def.max_step = 0.1;
    study s = {.system = tal_system_create(NULL)};
    (void)tal_system_add_subsystem(s.system, "sampler", &sampler_ops, &it);
    study_finish(&s, &def);
    ck_assert(tal_system_has_updates(s.system));
    double expected = 0.0;
    while (tal_state_t(s.state) < 1.0) {
        const double t = tal_state_t(s.state);
        ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 1.0), TAL_OK);
        expected += t * (tal_state_t(s.state) - t);
        ck_assert_double_eq_tol(tal_state_z(s.state)[0], expected, 1e-12);
    }
    study_end(&s);
}

END_TEST

// A pin that is turned by sin t, and a bob hanging from it: prescribed values are met exactly at
// the end of every step, and within it.
START_TEST(prescribed_motion_is_met_exactly)
{
    const tal_integrator_def def = def_of(&battery[_i], 1e-4);
    study s = study_begin(tal_v3(0.0, -9.81, 0.0));
    const tal_body_ix arm =
        study_add_link(&s, TAL_GROUND, TAL_VEC3_ZERO, 1.0, tal_v3(0.5, 0.0, 0.0), 0.1);
    (void)study_add_link(&s, arm, tal_v3(1.0, 0.0, 0.0), 1.0, tal_v3(0.0, -1.0, 0.0), 0.0);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = arm;
    (void)tal_matter_add_motion_sinusoid(s.matter, &motion, 1.0, 1.0, 0.0);
    study_finish(&s, &def);
    tal_state *out = NULL;
    ck_assert_int_eq(tal_state_create(s.system, &out, NULL), TAL_OK);
    while (tal_state_t(s.state) < 2.0) {
        const double before = tal_state_t(s.state);
        ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 2.0), TAL_OK);
        const double t = tal_state_t(s.state), within = before + 0.7 * (t - before);
        ck_assert_double_eq_tol(tal_state_q(s.state)[0], sin(t), 1e-15);
        ck_assert_double_eq_tol(tal_state_u(s.state)[0], cos(t), 1e-15);
        ck_assert_int_eq(tal_integrator_interpolate(s.integ, s.state, within, out), TAL_OK);
        ck_assert_double_eq_tol(tal_state_q(out)[0], sin(within), 1e-15);
        ck_assert_double_eq_tol(tal_state_u(out)[0], cos(within), 1e-15);
    }
    tal_state_destroy(out);
    study_end(&s);
}

END_TEST

// One second of a pendulum from time t on; the number of steps.
static int run_pendulum(const member *it, double t, double y[])
{
    const tal_integrator_def def = def_of(it, it->is_coarse ? 1e-4 : 1e-6);
    study s = study_rod_pendulum(&def);
    tal_state_set_t(s.state, t);
    study_step_to(&s, t + 1.0);
    memcpy(y, tal_state_y(s.state), (size_t)tal_state_ny(s.state) * sizeof *y);
    const int steps = (int)tal_integrator_statistics(s.integ).steps_taken;
    study_end(&s);
    return steps;
}

START_TEST(the_same_run_gives_the_same_bits)
{
    double first[6] = {0.0}, again[6] = {0.0};
    (void)run_pendulum(&battery[_i], 0.0, first);
    (void)run_pendulum(&battery[_i], 0.0, again);
    ck_assert_int_eq(memcmp(first, again, sizeof first), 0);
}

END_TEST

// What does not depend on time moves the same at any time. At 1024 s times are rounded to 1e-13 s,
// which may change where steps end: results are those of 0 s to what both may be off.
START_TEST(a_run_may_begin_at_any_time)
{
    static const double times[] = {1024.0, -1024.0, -0.5};
    double first[6] = {0.0};
    const int steps = run_pendulum(&battery[_i], 0.0, first);
    const double bound = 10.0 * steps * (battery[_i].is_coarse ? 1e-4 : 1e-6);
    for (int k = 0; k < 3; ++k) {
        double later[6] = {0.0};
        const int others = run_pendulum(&battery[_i], times[k], later);
        ck_assert(2 * others > steps && others < 2 * steps);
        for (int i = 0; i < 6; ++i) {
            ck_assert_double_eq_tol(later[i], first[i], bound);
        }
    }
}

END_TEST

// What runs cost: a closed loop, and a pendulum between stiff stops, where steps are refused.
// Nothing else shows that a step is chosen, a Jacobian kept or a step repeated otherwise than
// before. Errors of 1e-12 change the numbers of the loop by up to 4 % and 3, those of the stops by
// up to 20 % and 5. If you change costs on purpose, put the new numbers here, and look at bench/.
typedef struct cost {
    int steps, failures, realizations, jacobians, iterations, projections;
} cost;

static const struct {
    cost loop, stops;
} costs[NUM_MEMBERS] = {
    {{98, 11, 535, 0, 0, 0}, {66, 17, 399, 0, 0, 0}},           // merson
    {{58, 4, 375, 0, 0, 0}, {44, 13, 343, 0, 0, 0}},            // dormand-prince
    {{42, 6, 337, 0, 0, 0}, {41, 12, 372, 0, 0, 0}},            // bogacki-shampine 5
    {{18, 4, 283, 0, 0, 0}, {29, 14, 546, 0, 0, 0}},            // verner 8
    {{171, 7, 350, 0, 0, 0}, {186, 6, 379, 0, 0, 0}},           // semi-explicit euler
    {{242, 11, 751, 0, 0, 0}, {250, 6, 625, 0, 0, 0}},          // verlet
    {{338, 14, 425, 6, 421, 352}, {309, 23, 438, 7, 420, 332}}, // bdf
    {{343, 9, 1036, 0, 646, 352}, {335, 37, 953, 0, 584, 372}}, // bdf with gmres
    {{143, 5, 244, 0, 240, 0}, {97, 13, 208, 0, 204, 0}},       // adams
    {{601, 4, 1502, 57, 1101, 0}, {264, 26, 704, 76, 474, 0}},  // ida
    {{77, 1, 550, 0, 0, 77}, {53, 10, 445, 0, 0, 53}},          // arkode 5
    {{41, 3, 576, 0, 0, 41}, {36, 7, 563, 0, 0, 36}},           // arkode 8
    {{106, 1, 2554, 2, 1896, 106}, {67, 9, 1520, 9, 1055, 67}}, // arkode dirk 4
    {{57, 6, 4151, 0, 981, 57}, {55, 11, 2464, 0, 851, 55}},    // arkode dirk 5 with gmres
    {{63, 6, 409, 0, 0, 0}, {47, 10, 333, 0, 0, 0}},            // fehlberg
};

static study study_stopped(const tal_integrator_def *def)
{
    study s = study_begin(tal_v3(0.0, -9.81, 0.0));
    const tal_body_ix arm =
        study_add_link(&s, TAL_GROUND, TAL_VEC3_ZERO, 1.0, tal_v3(0.0, -1.0, 0.0), 0.1);
    const tal_stop stop = {.stiffness = 1e4, .dissipation = 0.1, .low = -0.5, .high = 0.2};
    (void)tal_forces_add_mobility_stop(s.forces, "stop", (tal_mobility){arm, 0}, &stop);
    study_finish(&s, def);
    (void)tal_body_set_u(s.matter, s.state, arm, 0, 1.0);
    return s;
}

static void check_count(uint64_t count, int known, int part, const char *what)
{
    const int off = (int)count < known ? known - (int)count : (int)count - known;
    ck_assert_msg(off <= 5 + known / part, "%s: %d, it was %d", what, (int)count, known);
}

// One second costs what is known, to 5 and this part of it.
static void check_cost(study *s, const cost *known, int part)
{
    study_step_to(s, 1.0);
    const tal_integrator_stats it = tal_integrator_statistics(s->integ);
    check_count(it.steps_taken, known->steps, part, "steps");
    check_count(it.error_failures, known->failures, part, "steps refused");
    check_count(it.realizations, known->realizations, part, "realizations");
    check_count(it.jacobians, known->jacobians, part, "Jacobians");
    check_count(it.nonlinear_iterations, known->iterations, part, "iterations");
    check_count(it.projections, known->projections, part, "projections");
    study_end(s);
}

START_TEST(a_run_costs_what_it_did)
{
    const tal_integrator_def def = def_of(&battery[_i], battery[_i].is_coarse ? 1e-3 : 1e-6);
    study stop = study_stopped(&def);
    check_cost(&stop, &costs[_i].stops, 4);
    study loop = study_four_bar(&def);
    check_cost(&loop, &costs[_i].loop, 20);
}

END_TEST

START_TEST(steps_are_limited)
{
    tal_integrator_def def = def_of(&battery[_i], 1e-6);
    def.max_steps = 10;
    study s = study_pin_pendulum(&def);
    ck_assert_int_eq(tal_integrator_step_to(s.integ, s.state, 10.0), TAL_ERR_STEP_LIMIT);
    const double t = tal_state_t(s.state);
    ck_assert_int_eq(tal_integrator_step_to(s.integ, s.state, 10.0), TAL_ERR_STEP_LIMIT);
    ck_assert_double_gt(tal_state_t(s.state), t);
    study_end(&s);
}

END_TEST

// --- failures ---

START_TEST(a_pole_ends_the_run_with_a_clear_status)
{
    const member *it = &battery[_i];
    if (it->is_coarse) return;
    const tal_integrator_def def = def_of(it, it->pole);
    study_check_pole(&def, it->off, it->evaluations);
}

END_TEST

START_TEST(a_force_that_is_not_a_number_is_named)
{
    const tal_integrator_def def = def_of(&battery[_i], 1e-6);
    study_check_nan_force(&def);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("battery");
    TCase *accuracy = tcase_create("accuracy");
    tcase_add_loop_test(accuracy, errors_are_proportional_to_the_accuracy, 0, NUM_MEMBERS);
    tcase_add_loop_test(accuracy, references_are_met_to_what_is_promised, 0, NUM_MEMBERS);
    tcase_add_loop_test(accuracy, a_closed_loop_loses_little_energy, 0, NUM_MEMBERS);
    tcase_add_loop_test(accuracy, a_stiff_muscle_costs_few_steps, 0, NUM_MEMBERS);
    tcase_add_loop_test(accuracy, dense_output_is_as_accurate_as_steps, 0, NUM_MEMBERS);
    tcase_add_loop_test(accuracy, other_subsystems_have_coordinates_too, 0, NUM_MEMBERS);
    suite_add_tcase(suite, accuracy);
    TCase *steps = tcase_create("steps");
    tcase_add_loop_test(steps, the_first_and_the_longest_step_can_be_given, 0, NUM_MEMBERS);
    tcase_add_loop_test(steps, one_can_go_back_within_a_step, 0, NUM_MEMBERS);
    tcase_add_loop_test(steps, a_changed_state_is_where_the_run_goes_on, 0, NUM_MEMBERS);
    tcase_add_loop_test(steps, a_sampled_variable_that_changes_restarts_a_method, 0, NUM_MEMBERS);
    tcase_add_loop_test(steps, prescribed_motion_is_met_exactly, 0, NUM_MEMBERS);
    tcase_add_loop_test(steps, the_same_run_gives_the_same_bits, 0, NUM_MEMBERS);
    tcase_add_loop_test(steps, a_run_may_begin_at_any_time, 0, NUM_MEMBERS);
    tcase_add_loop_test(steps, a_run_costs_what_it_did, 0, NUM_MEMBERS);
    tcase_add_loop_test(steps, steps_are_limited, 0, NUM_MEMBERS);
    suite_add_tcase(suite, steps);
    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, a_pole_ends_the_run_with_a_clear_status, 0, NUM_MEMBERS);
    tcase_add_loop_test(failures, a_force_that_is_not_a_number_is_named, 0, NUM_MEMBERS);
    suite_add_tcase(suite, failures);
    return test_run(suite);
}
