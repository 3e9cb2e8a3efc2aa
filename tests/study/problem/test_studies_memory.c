// Memory of the studies: running out of it at any call of their creation is told and leaks nothing
// (P14), and once created they take none (P15).
#include "alloc_guard.h"
#include "talus_test.h"

#include <talus/study.h>

// --- a loop of three links that hangs between two points ---

static tal_status calc_height(const void *self, const tal_system *system, tal_state *state,
                              int order, int n, double value[])
{
    (void)self, (void)system, (void)order, (void)n;
    value[0] = tal_state_q(state)[0];
    return TAL_OK;
}

static void needs_position(const void *self, const tal_system *system, int order,
                           tal_measure_needs *needs)
{
    (void)self, (void)system, (void)order;
    tal_measure_needs_stage(needs, TAL_STAGE_POSITION);
}

static const tal_measure_ops height_ops = {
    .size = sizeof height_ops, .name = "height", .calc = calc_height, .needs = needs_position};

typedef struct model {
    test_heap memory;
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_marker markers[2];
    tal_measure_ix height;
    tal_parameter mass;
} model;

static void build(model *m)
{
    *m = (model){0};
    tal_system_def def = tal_system_def_default();
    def.allocator = test_heap_allocator(&m->memory);
    m->system = tal_system_create(&def);
    m->matter = tal_matter_create(m->system);
    tal_forces *forces = tal_forces_create(m->system, m->matter);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_rod(1.0, tal_v3(0.5, 0.0, 0.0));
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < 3; ++i) {
        link.X_PF = tal_xf_from_p(tal_v3(i == 0 ? 0.0 : 1.0, 0.0, 0.0));
        body = tal_matter_add_pin(m->matter, body, &link);
    }
    const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, body);
    (void)tal_constraint_add_ball(m->matter, &ends, tal_v3(1.8, 0.0, 0.0), tal_v3(1.0, 0.0, 0.0));
    tal_measure_def measure = tal_measure_def_default();
    measure.name = "height";
    measure.size = 1;
    m->height =
        tal_system_add_measure(m->system, tal_matter_subsystem(m->matter), &height_ops, &measure);
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(m->system, &m->state, &err), TAL_OK);
    const double start[] = {-0.3, -0.9, 2.2};
    ck_assert_int_eq(tal_state_set_q(m->state, start, 3), TAL_OK);
    m->markers[0] = (tal_marker){"first", {2}, {0.5, 0.1, 0.0}, 1.0};
    m->markers[1] = (tal_marker){"second", {3}, {0.5, 0.1, 0.0}, 1.0};
    m->mass = tal_parameter_mass("mass", m->matter, body);
}

static void end(model *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
    ck_assert_int_eq(m->memory.live, 0);
}

// --- creating each ---

static tal_status create_assembler(const model *m, void **out, tal_error *err)
{
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = m->markers;
    def.num_markers = 2;
    tal_assembler *made = NULL;
    const tal_status st = tal_assembler_create(m->system, &def, &made, err);
    *out = made;
    return st;
}

static tal_status create_tracker(const model *m, void **out, tal_error *err)
{
    tal_tracker_def def = tal_tracker_def_default();
    def.assembler.markers = m->markers;
    def.assembler.num_markers = 2;
    def.lanes = 2;
    def.chunk = 3;
    tal_tracker *made = NULL;
    const tal_status st = tal_tracker_create(m->system, &def, &made, err);
    *out = made;
    return st;
}

static tal_status create_linearizer(const model *m, void **out, tal_error *err)
{
    tal_linearizer *made = NULL;
    const tal_status st = tal_linearizer_create(m->system, NULL, &made, err);
    *out = made;
    return st;
}

static tal_status create_equilibrium(const model *m, void **out, tal_error *err)
{
    tal_equilibrium *made = NULL;
    const tal_status st = tal_equilibrium_create(m->system, NULL, &made, err);
    *out = made;
    return st;
}

static tal_status create_ensemble(const model *m, void **out, tal_error *err)
{
    tal_ensemble_def def = tal_ensemble_def_default();
    def.parameters = &m->mass;
    def.num_parameters = 1;
    def.outputs = &m->height;
    def.num_outputs = 1;
    def.task = TAL_TASK_INTEGRATE;
    def.end_time = 0.05;
    def.lanes = 2;
    tal_ensemble *made = NULL;
    const tal_status st = tal_ensemble_create(m->system, &def, &made, err);
    *out = made;
    return st;
}

static void destroy_assembler(void *it)
{
    tal_assembler_destroy(it);
}

static void destroy_tracker(void *it)
{
    tal_tracker_destroy(it);
}

static void destroy_linearizer(void *it)
{
    tal_linearizer_destroy(it);
}

static void destroy_equilibrium(void *it)
{
    tal_equilibrium_destroy(it);
}

static void destroy_ensemble(void *it)
{
    tal_ensemble_destroy(it);
}

static const struct {
    tal_status (*create)(const model *m, void **out, tal_error *err);
    void (*destroy)(void *it);
    int least_calls; // of the allocator
} studies[] = {
    {create_assembler, destroy_assembler, 2},   {create_tracker, destroy_tracker, 8},
    {create_linearizer, destroy_linearizer, 4}, {create_equilibrium, destroy_equilibrium, 4},
    {create_ensemble, destroy_ensemble, 6},
};

START_TEST(running_out_of_memory_at_any_call_is_reported_and_leaks_nothing)
{
    model m;
    build(&m);
    for (size_t s = 0; s < sizeof studies / sizeof studies[0]; ++s) {
        const int live = m.memory.live;
        tal_status st = TAL_ERR_NO_MEMORY;
        int n = 0;
        while (st != TAL_OK) {
            void *out = NULL;
            tal_error err = {0};
            m.memory.calls = 0;
            m.memory.refuse_at = ++n;
            st = studies[s].create(&m, &out, n % 2 == 0 ? &err : NULL);
            if (st == TAL_OK) {
                test_assert_never_refused(&m.memory);
                studies[s].destroy(out);
            } else {
                ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
                ck_assert_ptr_null(out);
                ck_assert(n % 2 == 1 || strlen(err.message) > 0);
            }
            ck_assert_msg(m.memory.live == live, "study %d, call %d", (int)s, n);
        }
        ck_assert_int_gt(n, studies[s].least_calls);
        studies[s].destroy(NULL);
    }
    m.memory.refuse_at = 0;
    end(&m);
}

END_TEST

// --- running each ---

START_TEST(running_takes_no_memory)
{
    model m;
    build(&m);
    void *made[5];
    tal_error err;
    for (int s = 0; s < 5; ++s) {
        ck_assert_msg(studies[s].create(&m, &made[s], &err) == TAL_OK, "%s", err.message);
    }
    tal_status st = TAL_OK;
    const tal_vec3 seen[7][2] = {{{1.0, -0.8, 0.0}, {1.5, -0.4, 0.0}}};
    double q[7][3];
    tal_fit fits[7];
    const tal_frames frames = {7, NULL, &seen[0][0], NULL, NULL};
    test_assert_no_heap(st = tal_tracker_run(made[1], m.state, &frames, &q[0][0], fits));
    ck_assert_int_eq(st, TAL_OK);

    test_assert_no_heap({
        st = tal_assembler_observe(made[0], seen[0], NULL);
        if (st == TAL_OK) st = tal_assembler_assemble(made[0], m.state, NULL);
        if (st == TAL_OK) st = tal_assembler_assemble_u(made[0], NULL, NULL, m.state, NULL);
    });
    ck_assert_msg(st == TAL_OK, "%s", tal_assembler_error(made[0])->message);

    test_assert_no_heap(st = tal_equilibrium_find(made[3], m.state, NULL));
    ck_assert_msg(st == TAL_OK, "%s", tal_equilibrium_error(made[3])->message);
    const bool actuated[3] = {true, false, false};
    double tau[3];
    test_assert_no_heap(st =
                            tal_equilibrium_inverse_statics(made[3], m.state, actuated, tau, NULL));
    ck_assert_int_eq(st, TAL_OK);

    test_assert_no_heap(st = tal_linearizer_run(made[2], m.state));
    ck_assert_msg(st == TAL_OK, "%s", tal_linearizer_error(made[2])->message);
    test_assert_no_heap(st = tal_linearizer_find_modes(made[2])); // but for LAPACK's own
    ck_assert_int_eq(st, TAL_OK);

    const double masses[3] = {1.0, 2.0, 3.0};
    const tal_design design = tal_design_table(masses, 1, 3);
    double heights[3], mass = 1.5;
    test_assert_no_heap(st = tal_ensemble_run(made[4], m.state, &design, heights, NULL, NULL));
    ck_assert_int_eq(st, TAL_OK);
    test_assert_no_heap(st = tal_ensemble_fit(made[4], m.state, &heights[1], NULL, &mass, NULL));
    ck_assert_msg(st == TAL_OK, "%s", tal_ensemble_error(made[4])->message);
    for (int s = 0; s < 5; ++s) {
        studies[s].destroy(made[s]);
    }
    end(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/studies_memory");
    TCase *tests = tcase_create("memory");
    tcase_add_test(tests, running_out_of_memory_at_any_call_is_reported_and_leaks_nothing);
    tcase_add_test(tests, running_takes_no_memory);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
