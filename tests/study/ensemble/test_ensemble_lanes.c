// Samples side by side are those one by one, to the bit: random trees, forces, methods and widths.
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BODIES = 8,
    MOST_ROW = 900,
    NUM_DRIVES = 5,
    NUM_SAMPLES = 21 // more than two rounds of eight, and not a multiple of it
};

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_force_ix gravity;
    tal_force_ix drives[NUM_DRIVES]; // `i` < 0: not there
    tal_body_ix bodies[MOST_BODIES + 1];
    int num_bodies;                       // besides Ground
    bool has_coordinate[MOST_BODIES + 1]; // its qdot is u
    tal_parameter parameters[4];
    int num_parameters;
} model;

// --- random models ---

// `kind` 0 to 4: half of the bodies have that, the others pins.
static tal_body_ix add_body(tal_matter *matter, int kind, tal_body_ix parent,
                            const tal_mobod_def *def)
{
    switch (kind) {
    case 0:
        return tal_matter_add_slider(matter, parent, def);
    case 1:
        return tal_matter_add_ball(matter, parent, def);
    case 2:
        return tal_matter_add_free(matter, parent, def);
    case 3:
        return tal_matter_add_translation(matter, parent, def);
    case 4:
        return tal_matter_add_weld(matter, parent, def);
    default:
        return tal_matter_add_pin(matter, parent, def);
    }
}

static void add_bodies(model *m, test_rng *rng, uint64_t seed)
{
    m->num_bodies = (int)(seed % MOST_BODIES) + 1;
    for (int b = 1; b <= m->num_bodies; ++b) {
        const int kind = b % 2 == 0 || (b == 1 && seed % 6 != 4) ? (int)(seed % 6) : 5;
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_sphere(1.0 + test_random_uniform(rng, 0.0, 1.0), 0.4);
        def.X_PF = tal_xf_from_p(tal_v3_scale(0.5, test_random_vec3(rng)));
        def.X_BM = (tal_xform){tal_rotation_from_qt(test_random_quat(rng)),
                               tal_v3_scale(0.5, test_random_vec3(rng))};
        def.direction =
            b % 3 == 0 && kind != 1 && kind != 2 && kind != 3 ? TAL_REVERSE : TAL_FORWARD;
        def.use_angles = b % 4 == 0;
        const tal_body_ix parent = {(int)(test_random_bits(rng) % (uint64_t)b)};
        m->bodies[b] = add_body(m->matter, kind, parent, &def);
        m->has_coordinate[b] = kind == 0 || kind == 5;
    }
}

static void add_along_mobilities(model *m, test_rng *rng)
{
    const tal_friction friction = {0.3, 0.2, 0.05, 0.1};
    const tal_stop stop = {.stiffness = 40.0, .dissipation = 0.3, .low = -0.2, .high = 0.3};
    for (int b = 1; b <= m->num_bodies; ++b) {
        const tal_mobility at = {m->bodies[b], 0};
        if (!m->has_coordinate[b]) continue;
        const uint64_t dice = test_random_bits(rng) % 6;
        if (dice == 0) (void)tal_forces_add_mobility_spring(m->forces, NULL, at, 5.0, 0.2);
        if (dice == 1) (void)tal_forces_add_mobility_damper(m->forces, NULL, at, 0.3);
        if (dice == 2) (void)tal_forces_add_mobility_friction(m->forces, NULL, at, &friction);
        if (dice == 3) (void)tal_forces_add_mobility_stop(m->forces, NULL, at, &stop);
        if (dice == 4) (void)tal_forces_add_mobility_force(m->forces, NULL, at, -0.7);
    }
}

static void add_on_bodies(model *m, test_rng *rng)
{
    const tal_body_ix last = m->bodies[m->num_bodies], first = m->bodies[1];
    const tal_two_points line = {TAL_GROUND, test_random_vec3(rng), last, test_random_vec3(rng)};
    const tal_two_points between = {first, test_random_vec3(rng), last, test_random_vec3(rng)};
    tal_bushing_def bushing = tal_bushing_def_default();
    bushing.body2 = first;
    tal_smooth_contact_def sphere = tal_smooth_contact_def_default();
    sphere.sphere_body = last;
    sphere.radius = 0.4;
    sphere.material.stiffness = 1e3;
    for (int i = 0; i < 6; ++i) {
        bushing.stiffness[i] = 2.0 + i, bushing.damping[i] = 0.1;
    }
    const uint64_t dice = test_random_bits(rng);
    if (dice & 1) (void)tal_forces_add_two_point_spring(m->forces, NULL, &line, 20.0, 0.5);
    if (dice & 2) (void)tal_forces_add_two_point_damper(m->forces, NULL, &between, 1.5);
    if (dice & 4) (void)tal_forces_add_two_point_force(m->forces, NULL, &between, -0.8);
    if (dice & 8) (void)tal_forces_add_bushing(m->forces, NULL, &bushing);
    if (dice & 16) (void)tal_forces_add_smooth_contact(m->forces, NULL, &sphere);
    if (dice & 32) {
        (void)tal_forces_add_constant_force_in(m->forces, NULL, last, test_random_vec3(rng), first,
                                               test_random_vec3(rng));
    }
    if (dice & 64) (void)tal_forces_add_constant_torque(m->forces, NULL, last, tal_v3(0.1, 0, 0.2));
    if (dice & 128) (void)tal_forces_add_global_damper(m->forces, NULL, 0.05);
}

// Actuators whose controls are parameters, and a tooth.
static void add_drives(model *m, test_rng *rng)
{
    const tal_measure_ix none = {-1};
    const tal_body_ix last = m->bodies[m->num_bodies], first = m->bodies[1];
    const uint64_t dice = test_random_bits(rng);
    const tal_push push = {.body = last,
                           .p_BS = test_random_vec3(rng),
                           .direction = tal_v3(0.0, 0.6, 0.8),
                           .in_body = (dice & 32) != 0,
                           .point_in_ground = (dice & 64) != 0};
    const tal_two_points line = {first, test_random_vec3(rng), last, test_random_vec3(rng)};
    const tal_twist twist = {TAL_GROUND, last, tal_v3(1.0, 2.0, 2.0), (dice & 32) != 0};
    const tal_thrust thrust = {last, test_random_vec3(rng), (dice & 64) != 0};
    tal_force_ix drives[NUM_DRIVES] = {{-1}, {-1}, {-1}, {-1}, {-1}};
    if (dice & 1) drives[0] = tal_forces_add_point_actuator(m->forces, NULL, &push, 0.5, none);
    if (dice & 2) drives[1] = tal_forces_add_two_point_actuator(m->forces, NULL, &line, 0.4, none);
    if (dice & 4) drives[2] = tal_forces_add_torque_actuator(m->forces, NULL, &twist, 0.3, none);
    if (dice & 8) drives[3] = tal_forces_add_body_actuator(m->forces, NULL, &thrust, 0.2, none);
    if (m->has_coordinate[1]) {
        const tal_mobility at = {first, 0};
        drives[4] = tal_forces_add_mobility_actuator(m->forces, NULL, at, 0.6, none);
    }
    if (dice & 16) (void)tal_forces_add_gear_torque(m->forces, NULL, last, 0.3, 0.2, 0.4);
    memcpy(m->drives, drives, sizeof drives);
}

// Gravity at a place among the elements that the seed says.
static void add_forces(model *m, test_rng *rng, uint64_t seed)
{
    m->forces = tal_forces_create(m->system, m->matter);
    m->gravity = (tal_force_ix){-1};
    if (seed % 3 == 0) m->gravity = tal_forces_add_gravity(m->forces, tal_v3(0.0, -9.81, 0.3));
    add_along_mobilities(m, rng);
    if (seed % 3 == 1) m->gravity = tal_forces_add_gravity(m->forces, tal_v3(1.0, -9.81, 0.0));
    add_on_bodies(m, rng);
    add_drives(m, rng);
}

static void give_start(model *m, test_rng *rng)
{
    const int nu = tal_state_nu(m->state);
    static const int controls[] = {TAL_POINT_ACTUATOR_CONTROL, TAL_TWO_POINT_ACTUATOR_CONTROL,
                                   TAL_TORQUE_ACTUATOR_CONTROL, TAL_BODY_ACTUATOR_CONTROL + 4,
                                   TAL_ACTUATOR_CONTROL};
    for (int i = 0; i < NUM_DRIVES && m->forces != NULL; ++i) {
        if (m->drives[i].i < 0) continue;
        ck_assert_int_eq(
            tal_force_set_param(m->forces, m->state, m->drives[i], controls[i], 1.0 + 0.3 * i),
            TAL_OK);
    }
    for (int i = 0; i < nu; ++i) {
        tal_state_upd_u(m->state)[i] = test_random_uniform(rng, -1.0, 1.0);
    }
    if (m->gravity.i >= 0 && m->num_bodies > 2) {
        ck_assert_int_eq(
            tal_gravity_set_excluded(m->forces, m->state, m->gravity, m->bodies[2], true), TAL_OK);
    }
}

static model create_model(uint64_t seed)
{
    test_rng rng = test_rng_seed(seed);
    model m = {.system = tal_system_create(NULL), .gravity = {-1}};
    m.matter = tal_matter_create(m.system);
    add_bodies(&m, &rng, seed);
    if (seed % 5 != 4) add_forces(&m, &rng, seed);
    tal_error err;
    ck_assert_msg(tal_system_realize_topology(m.system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(m.system, &m.state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_INSTANCE), TAL_OK);
    give_start(&m, &rng);
    m.parameters[m.num_parameters++] = tal_parameter_mass("mass", m.matter, m.bodies[1]);
    for (int b = 1; b <= m.num_bodies && m.num_parameters < 3; ++b) {
        if (!m.has_coordinate[b]) continue;
        m.parameters[m.num_parameters++] = tal_parameter_u("speed", m.matter, m.bodies[b], 0);
    }
    return m;
}

static void destroy_model(model *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

// --- runs ---

static tal_status read_y(void *context, const tal_system *system, tal_state *state,
                         double results[])
{
    (void)context;
    const tal_status st = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return st;
    const int ny = tal_state_ny(state);
    memcpy(results, tal_state_y(state), (size_t)ny * sizeof *results);
    memcpy(results + ny, tal_state_ydot(state), (size_t)ny * sizeof *results);
    return TAL_OK;
}

typedef struct run {
    double results[NUM_SAMPLES][MOST_ROW];
    tal_status status[NUM_SAMPLES];
    tal_error why[NUM_SAMPLES];
    tal_lane_use use;
    char why_alone[256];
} run;

static const tal_distribution ranges[] = {
    {TAL_UNIFORM, 0.5, 3.0}, {TAL_UNIFORM, -2.0, 2.0}, {TAL_UNIFORM, -1.0, 1.0}};

static void run_with(const model *m, const tal_ensemble_def *like, int width,
                     const tal_design *design, run *out)
{
    tal_ensemble_def def = *like;
    def.width = width;
    tal_ensemble *ensemble = NULL;
    tal_error err;
    ck_assert_msg(tal_ensemble_create(m->system, &def, &ensemble, &err) == TAL_OK, "%s",
                  err.message);
    const int row = tal_ensemble_row_size(ensemble);
    ck_assert_int_le(row, MOST_ROW);
    double *const results = calloc((size_t)design->num_samples * (size_t)row, sizeof *results);
    ck_assert_int_eq(tal_ensemble_run(ensemble, m->state, design, results, out->status, out->why),
                     TAL_OK);
    for (int k = 0; k < design->num_samples; ++k) {
        memset(out->results[k], 0, sizeof out->results[k]);
        memcpy(out->results[k], results + (size_t)k * (size_t)row, (size_t)row * sizeof *results);
    }
    out->use = tal_ensemble_lane_use(ensemble);
    ck_assert_uint_lt(strlen(out->use.why_alone), sizeof out->why_alone);
    strcpy(out->why_alone, out->use.why_alone);
    free(results);
    tal_ensemble_destroy(ensemble);
}

static void compare(const run *a, const run *b, int n, const char *what)
{
    for (int k = 0; k < n; ++k) {
        ck_assert_msg(a->status[k] == b->status[k], "%s: sample %d: %s, %s", what, k,
                      a->why[k].message, b->why[k].message);
        ck_assert_str_eq(a->why[k].message, b->why[k].message);
        ck_assert_msg(memcmp(a->results[k], b->results[k], sizeof a->results[k]) == 0,
                      "%s: sample %d: other bits", what, k);
    }
}

static tal_ensemble_def def_of(const model *m, const tal_integrator_def *integrator)
{
    tal_ensemble_def def = tal_ensemble_def_default();
    def.parameters = m->parameters;
    def.num_parameters = m->num_parameters;
    def.read = read_y;
    def.num_outputs = 2 * tal_state_ny(m->state);
    def.task = TAL_TASK_INTEGRATE;
    def.integrator = integrator;
    def.end_time = 0.4;
    return def;
}

// One by one against 4 and 8 lanes, where the machine has them. False: it has none.
static bool compare_widths(const model *m, const tal_ensemble_def *def, const tal_design *design,
                           const char *what)
{
    static run alone, lanes;
    run_with(m, def, 1, design, &alone);
    ck_assert_int_eq(alone.use.width, 1);
    ck_assert_int_eq(alone.use.alone, design->num_samples);
    bool any = false;
    for (int width = 4; width <= 8; width += 4) {
        run_with(m, def, width, design, &lanes);
        if (lanes.use.width == 1) ck_assert_str_eq(lanes.why_alone, "this machine has no lanes");
        any = any || lanes.use.width > 1;
        ck_assert_int_eq(lanes.use.in_lanes + lanes.use.alone, design->num_samples);
        compare(&alone, &lanes, design->num_samples, what);
    }
    return any;
}

START_TEST(samples_side_by_side_have_the_bits_of_one_by_one)
{
    const tal_rk_tableau *const tableaus[] = {tal_rk_merson(), tal_rk_dormand_prince(),
                                              tal_rk_bogacki_shampine(), tal_rk_verner_8()};
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        model m = create_model(seed);
        tal_integrator_def integrator = tal_integrator_def_default();
        integrator.tableau = tableaus[seed % 4];
        if (seed % 7 == 0) integrator.fixed_step = 0.013;
        if (seed % 2 == 0) integrator.accuracy = 1e-6;
        if (seed % 11 == 0) integrator.infinity_norm = true;
        integrator.min_step = 1e-4; // some forces are stiff: such samples end here
        const tal_ensemble_def def = def_of(&m, &integrator);
        const tal_design design =
            tal_design_random(ranges, m.num_parameters, seed, NUM_SAMPLES - (int)(seed % 17));
        char what[32];
        (void)snprintf(what, sizeof what, "seed %d", (int)seed);
        (void)compare_widths(&m, &def, &design, what);
        destroy_model(&m);
    }
}

END_TEST

START_TEST(outputs_within_steps_are_the_same_bits)
{
    static const double times[] = {0.0, 0.03, 0.031, 0.1, 0.25, 0.4};
    for (uint64_t seed = 3; seed <= 20; ++seed) {
        model m = create_model(seed);
        tal_integrator_def integrator = tal_integrator_def_default();
        integrator.min_step = 1e-4;
        tal_ensemble_def def = def_of(&m, &integrator);
        def.times = times;
        def.num_times = 6;
        const tal_design design = tal_design_random(ranges, m.num_parameters, seed, 11);
        (void)compare_widths(&m, &def, &design, "times");
        destroy_model(&m);
    }
}

END_TEST

// Sample 3 has no mass to move, sample 5 no number, sample 8 speeds whose squares overflow.
static tal_status calc_trouble(void *context, int k, double values[])
{
    (void)context;
    values[0] = k == 3 ? 0.0 : 1.0 + 0.1 * k;
    values[1] = k == 5 ? (double)NAN : k == 8 ? 1e200 : 0.3 * k;
    return k == 12 ? TAL_ERR_CALLBACK : TAL_OK;
}

START_TEST(a_sample_that_fails_tells_why_and_touches_no_other)
{
    tal_system *const system = tal_system_create(NULL);
    tal_matter *const matter = tal_matter_create(system);
    model m = {.system = system, .matter = matter, .num_bodies = 1, .num_parameters = 2};
    m.forces = tal_forces_create(system, matter);
    (void)tal_forces_add_gravity(m.forces, tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0));
    m.bodies[1] = tal_matter_add_pin(matter, TAL_GROUND, &body);
    tal_error err;
    ck_assert_msg(tal_system_realize_topology(system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(system, &m.state, NULL), TAL_OK);
    m.parameters[0] = tal_parameter_mass("mass", matter, m.bodies[1]);
    m.parameters[1] = tal_parameter_u("speed", matter, m.bodies[1], 0);
    tal_integrator_def integrator = tal_integrator_def_default();
    const tal_ensemble_def def = def_of(&m, &integrator);
    const tal_design design = tal_design_function(calc_trouble, NULL, 2, NUM_SAMPLES);
    (void)compare_widths(&m, &def, &design, "trouble");
    static run lanes;
    run_with(&m, &def, 0, &design, &lanes);
    for (int k = 0; k < NUM_SAMPLES; ++k) {
        const bool fails = k == 3 || k == 5 || k == 8 || k == 12;
        ck_assert_msg((lanes.status[k] != TAL_OK) == fails, "sample %d: %s", k,
                      lanes.why[k].message);
    }
    destroy_model(&m);
}

END_TEST

// Limits of steps end a run at the same step, in the same words.
START_TEST(limits_of_steps_are_those_of_one_by_one)
{
    model m = create_model(9);
    tal_integrator_def integrator = tal_integrator_def_default();
    integrator.accuracy = 1e-5;
    integrator.max_steps = 9;
    const tal_ensemble_def def = def_of(&m, &integrator);
    const tal_design design = tal_design_random(ranges, m.num_parameters, 2, 13);
    (void)compare_widths(&m, &def, &design, "limit");
    destroy_model(&m);
}

END_TEST

// Locks are a State's own, so its sample is run alone.
static tal_status set_lock(const tal_parameter *it, const tal_system *system, tal_state *state,
                           double value)
{
    (void)it;
    const tal_matter *const matter = tal_system_matter(system);
    return value > 0.5 ? tal_body_lock(matter, state, (tal_body_ix){1}, TAL_LEVEL_VELOCITY)
                       : TAL_OK;
}

START_TEST(samples_with_locks_are_run_alone)
{
    model m = create_model(5);
    m.parameters[0] = (tal_parameter){.name = "lock", .set = set_lock};
    m.num_parameters = 1;
    const double values[] = {0.0, 1.0, 0.0, 0.0, 1.0, 0.0};
    const tal_ensemble_def def = def_of(&m, NULL);
    const tal_design design = tal_design_table(values, 1, 6);
    static run lanes;
    if (compare_widths(&m, &def, &design, "locks")) {
        run_with(&m, &def, 0, &design, &lanes);
        ck_assert_int_eq(lanes.use.alone, 2);
        ck_assert_int_eq(lanes.use.in_lanes, 4);
    }
    destroy_model(&m);
}

END_TEST

START_TEST(what_lanes_cannot_do_is_told)
{
    model m = create_model(6);
    tal_integrator_def integrator = tal_integrator_def_default();
    integrator.method = TAL_METHOD_VERLET;
    const tal_ensemble_def def = def_of(&m, &integrator);
    const tal_design design = tal_design_random(ranges, m.num_parameters, 2, 5);
    static run lanes;
    run_with(&m, &def, 0, &design, &lanes);
    ck_assert_str_eq(lanes.why_alone, "the method is not an explicit Runge-Kutta one");
    ck_assert_int_eq(lanes.use.alone, 5);
    destroy_model(&m);
}

END_TEST

START_TEST(lanes_are_well_used_by_many_samples)
{
    model m = create_model(14);
    const tal_ensemble_def def = def_of(&m, NULL);
    const tal_design design = tal_design_random(ranges, m.num_parameters, 2, NUM_SAMPLES);
    static run lanes;
    run_with(&m, &def, 4, &design, &lanes);
    if (lanes.use.width > 1) {
        // 21 samples of about the same length in 4 lanes: 21 / 24, less steps that are tried again
        ck_assert_double_gt(lanes.use.share, 0.6);
        ck_assert_double_le(lanes.use.share, 1.0);
        ck_assert_int_eq(lanes.use.in_lanes, NUM_SAMPLES);
    }
    destroy_model(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("ensemble_lanes");
    TCase *tests = tcase_create("tests");
    tcase_add_test(tests, samples_side_by_side_have_the_bits_of_one_by_one);
    tcase_add_test(tests, outputs_within_steps_are_the_same_bits);
    tcase_add_test(tests, a_sample_that_fails_tells_why_and_touches_no_other);
    tcase_add_test(tests, limits_of_steps_are_those_of_one_by_one);
    tcase_add_test(tests, samples_with_locks_are_run_alone);
    tcase_add_test(tests, what_lanes_cannot_do_is_told);
    tcase_add_test(tests, lanes_are_well_used_by_many_samples);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
