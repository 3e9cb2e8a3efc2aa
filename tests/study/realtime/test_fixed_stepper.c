// study/src/realtime/fixed_stepper.c, fixed_memory.c and realtime_names.c: definitions, names, what
// is remembered in the State, and bad input.
#include "alloc_guard.h"
#include "realtime_support.h"

// Every pair that goes together, one by one; false behind the last.
static bool next_pair(tal_fixed_stepper_def *def, int *i)
{
    for (; *i < 9 * 6; ++*i) {
        def->formulation = (tal_formulation)(*i / 9);
        def->scheme = (tal_scheme)(*i % 9);
        if (!tal_formulation_takes(def->formulation, def->scheme)) continue;
        ++*i;
        return true;
    }
    return false;
}

// --- names ---

START_TEST(names_lead_back_to_what_they_name)
{
    int num = 0;
    for (; tal_formulation_name((tal_formulation)num) != NULL; ++num) {
        tal_formulation found = (tal_formulation)-1;
        ck_assert(tal_formulation_find(tal_formulation_name((tal_formulation)num), &found));
        ck_assert_int_eq((int)found, num);
        ck_assert(tal_formulation_takes(found, tal_formulation_usual_scheme(found)));
    }
    ck_assert_int_ge(num, 5);
    for (num = 0; tal_scheme_name((tal_scheme)num) != NULL; ++num) {
        tal_scheme found = (tal_scheme)-1;
        ck_assert(tal_scheme_find(tal_scheme_name((tal_scheme)num), &found));
        ck_assert_int_eq((int)found, num);
    }
    ck_assert_int_eq(num, 9);
    tal_scheme untouched = TAL_SCHEME_HHT;
    ck_assert(!tal_scheme_find("leapfrog", &untouched));
    ck_assert_int_eq(untouched, TAL_SCHEME_HHT);
    ck_assert_ptr_null(tal_formulation_name((tal_formulation)-1));
    ck_assert(!tal_formulation_takes(TAL_FORMULATION_WELCH, TAL_SCHEME_TRAPEZOID));
}

END_TEST

// --- memory ---

// Save after five steps, load into another State, and go on with another stepper: the same bytes.
START_TEST(a_run_that_is_saved_and_resumed_ends_with_the_same_bytes)
{
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    for (int i = 0; next_pair(&def, &i);) {
        realtime_model w = cube_links(LINK_ROD, true);
        choose_stepper(&w, &def);
        step_realtime(&w, 5);
        tal_state *later = NULL;
        ck_assert_int_eq(tal_state_create(w.system, &later, NULL), TAL_OK);
        const size_t size = tal_state_save_size(w.state);
        void *bytes = malloc(size);
        ck_assert_ptr_nonnull(bytes);
        ck_assert_int_eq(tal_state_save(w.state, bytes, size), TAL_OK);
        ck_assert_int_eq(tal_state_load(w.system, later, bytes, size), TAL_OK);
        free(bytes);
        step_realtime(&w, 20);
        tal_state *first = w.state;
        w.state = later;
        choose_stepper(&w, &def);
        step_realtime(&w, 20);
        ck_assert_msg(tal_state_is_equal(first, later), "%s, %s",
                      tal_formulation_name(def.formulation), tal_scheme_name(def.scheme));
        ck_assert_uint_eq(tal_fixed_stepper_statistics(w.stepper).starts, 0);
        tal_state_destroy(first);
        end_realtime(&w);
    }
}

END_TEST

START_TEST(a_state_that_was_changed_begins_anew)
{
    realtime_model w = cube_links(LINK_ROD, true);
    choose_stepper(&w, NULL);
    const tal_fixed_memory *memory = tal_system_fixed_memory(w.system);
    ck_assert_ptr_null(tal_fixed_memory_udot(memory, w.state));
    step_realtime(&w, 3);
    ck_assert_uint_eq(tal_fixed_stepper_statistics(w.stepper).starts, 1);
    ck_assert_ptr_nonnull(tal_fixed_memory_udot(memory, w.state));
    ck_assert_ptr_nonnull(tal_fixed_memory_multipliers(memory, w.state));
    ck_assert_int_eq(tal_state_set_t(w.state, 7.0), TAL_OK);
    ck_assert_ptr_null(tal_fixed_memory_multipliers(memory, w.state));
    step_realtime(&w, 3);
    ck_assert_uint_eq(tal_fixed_stepper_statistics(w.stepper).starts, 2);
    end_realtime(&w);
}

END_TEST

START_TEST(nothing_is_allocated_and_bytes_repeat)
{
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    for (int i = 0; next_pair(&def, &i);) {
        realtime_model w = cube_links(LINK_ROD, true), again = cube_links(LINK_ROD, true);
        choose_stepper(&w, &def);
        choose_stepper(&again, &def);
        tal_status st = TAL_OK;
        test_assert_no_heap(for (int k = 0; k < 10 && st == TAL_OK;
                                 ++k) { st = tal_fixed_stepper_step(w.stepper, w.state); });
        ck_assert_int_eq(st, TAL_OK);
        step_realtime(&again, 10);
        ck_assert_int_eq(memcmp(tal_state_y(w.state), tal_state_y(again.state),
                                (size_t)tal_state_ny(w.state) * sizeof(double)),
                         0);
        end_realtime(&w);
        end_realtime(&again);
    }
}

END_TEST

// --- steps ---

START_TEST(real_time_does_the_same_work_in_every_step)
{
    realtime_model w = cube_links(LINK_ROD, true);
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.same_work = true;
    def.iterations = 2;
    choose_stepper(&w, &def);
    step_realtime(&w, 50);
    const tal_fixed_stats stats = tal_fixed_stepper_statistics(w.stepper);
    ck_assert_uint_eq(stats.steps, 50);
    ck_assert_uint_eq(stats.iterations, 100);
    ck_assert_uint_eq(stats.factorizations, 101); // one for the start
    ck_assert_double_gt(stats.worst_step_time, 0.0);
    ck_assert_double_ge(stats.sum_step_time, stats.worst_step_time);
    ck_assert_double_lt(stats.worst_speed_error, 1e-6);
    ck_assert_int_eq(tal_fixed_stepper_reset_statistics(w.stepper), TAL_OK);
    ck_assert_uint_eq(tal_fixed_stepper_statistics(w.stepper).steps, 0);
    end_realtime(&w);
}

END_TEST

START_TEST(the_last_step_ends_at_the_time_asked_for)
{
    realtime_model w = cube_links(LINK_ROD, false);
    choose_stepper(&w, NULL);
    run_realtime(&w, 0.105);
    ck_assert_double_eq(tal_state_t(w.state), 0.105);
    ck_assert_uint_eq(tal_fixed_stepper_statistics(w.stepper).steps, 11);
    run_realtime(&w, 0.105);
    ck_assert_uint_eq(tal_fixed_stepper_statistics(w.stepper).steps, 11);
    test_assert_refused(tal_fixed_stepper_step_to(w.stepper, w.state, 0.1), TAL_ERR_BAD_VALUE,
                        "before that of the State");
    test_assert_refused(tal_fixed_stepper_step_to(w.stepper, w.state, 1e308), TAL_ERR_BAD_VALUE,
                        "to the time 1e+308 are lost in rounding: choose a longer step");
    ck_assert_double_eq(tal_state_t(w.state), 0.105);
    // numbers are 0.0156 apart there
    ck_assert_int_eq(tal_state_set_t(w.state, 1e14), TAL_OK);
    test_assert_refused(tal_fixed_stepper_step_to(w.stepper, w.state, 1e14 + 0.1),
                        TAL_ERR_BAD_VALUE, "steps of 0.01 s from 1e+14");
    end_realtime(&w);
}

END_TEST

// z' = 1 - z beside a pendulum: by the explicit trapezoid, of order 2.
static tal_group_ix lag_group;

static tal_status lag_topology(void *self, tal_system *system, tal_subsystem_ix me)
{
    (void)self;
    tal_group_def def = tal_group_def_default();
    def.name = "lag";
    def.capacity = 1;
    lag_group = tal_system_add_group(system, me, &def);
    return TAL_OK;
}

static tal_status lag_acceleration(const void *self, const tal_system *system, tal_state *state)
{
    (void)self;
    *tal_group_upd_dot(system, state, lag_group) = 1.0 - tal_state_z(state)[0];
    return TAL_OK;
}

START_TEST(auxiliary_variables_follow)
{
    static const tal_subsystem_ops ops = {.size = sizeof ops,
                                          .name = "lag",
                                          .realize_topology = lag_topology,
                                          .realize_acceleration = lag_acceleration};
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    for (int i = 0; next_pair(&def, &i);) {
        realtime_model w = begin_realtime(tal_v3(0.0, -9.81, 0.0));
        tal_mobod_def body = tal_mobod_def_default();
        body.mass.mass = 1.0;
        body.X_BM.p.y = 1.0;
        (void)tal_matter_add_pin(w.matter, TAL_GROUND, &body);
        (void)tal_system_add_subsystem(w.system, NULL, &ops, NULL);
        finish_realtime(&w);
        choose_stepper(&w, &def);
        run_realtime(&w, 1.0);
        // Heun's error at 1 s is h^2 / (6 e) = 6e-6
        ck_assert_double_eq_tol(tal_state_z(w.state)[0], 1.0 - exp(-1.0), 1e-5);
        end_realtime(&w);
    }
}

END_TEST

// --- bad input ---

static void check_refused(const tal_system *system, tal_fixed_stepper_def def, tal_status expected,
                          const char *part)
{
    tal_error err = {.status = TAL_OK};
    tal_fixed_stepper *stepper = NULL;
    ck_assert_int_eq(tal_fixed_stepper_create(system, &def, &stepper, &err), expected);
    ck_assert_ptr_null(stepper);
    ck_assert_msg(strstr(err.message, part) != NULL, "'%s' lacks '%s'", err.message, part);
}

START_TEST(bad_definitions_are_refused_by_name)
{
    realtime_model w = cube_links(LINK_ROD, true);
    const tal_fixed_stepper_def good = tal_fixed_stepper_def_default();
    tal_fixed_stepper_def def = good;
    def.step = 0.0;
    check_refused(w.system, def, TAL_ERR_BAD_VALUE, "step of a fixed stepper is 0");
    def = good, def.penalty = -1.0;
    check_refused(w.system, def, TAL_ERR_BAD_VALUE, "penalty");
    def = good, def.xi = 0.1;
    check_refused(w.system, def, TAL_ERR_BAD_VALUE, "xi");
    def = good, def.delta_f = 0.35; // of CD tab. 6, outside its own range
    check_refused(w.system, def, TAL_ERR_BAD_VALUE, "delta_f");
    def = good, def.rho = (double)NAN;
    check_refused(w.system, def, TAL_ERR_BAD_VALUE, "rho");
    def = good, def.iterations = 0;
    check_refused(w.system, def, TAL_ERR_BAD_VALUE, "iterations");
    def = good, def.scheme = TAL_SCHEME_EXPLICIT;
    check_refused(w.system, def, TAL_ERR_BAD_VALUE,
                  "'heun' does not go with the formulation 'hybrid': choose 'trapezoid'");
    def = good, def.formulation = (tal_formulation)99;
    check_refused(w.system, def, TAL_ERR_BAD_VALUE, "no formulation 99");
    def = good, def.formulation = TAL_FORMULATION_BAUMGARTE, def.scheme = TAL_SCHEME_EXPLICIT;
    def.tableau = NULL;
    check_refused(w.system, def, TAL_ERR_NULL, "tableau");
    end_realtime(&w);
}

END_TEST

START_TEST(systems_without_memory_and_with_colliders_are_refused)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    (void)tal_matter_add_slider(matter, TAL_GROUND, &def);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    check_refused(system, tal_fixed_stepper_def_default(), TAL_ERR_TOPOLOGY,
                  "has no memory of fixed steps: call tal_fixed_memory_create()");
    test_assert_breach(ck_assert_ptr_null(tal_fixed_memory_create(system)), TAL_ERR_TOPOLOGY,
                       "is realized");
    tal_system_destroy(system);

    realtime_model w = begin_realtime(TAL_VEC3_ZERO);
    tal_collider_def floor = tal_collider_def_default();
    floor.name = "floor";
    ck_assert_int_ge(tal_matter_add_collider(w.matter, &floor).i, 0);
    finish_realtime(&w);
    check_refused(w.system, tal_fixed_stepper_def_default(), TAL_ERR_BAD_VALUE, "'floor'");
    end_realtime(&w);

    w = begin_realtime(TAL_VEC3_ZERO);
    ck_assert_ptr_null(tal_fixed_memory_create(w.system));
    ck_assert_int_eq(tal_system_realize_topology(w.system, NULL), TAL_ERR_BAD_VALUE);
    tal_system_destroy(w.system);
}

END_TEST

// A spring that no step of this length resolves: the State stays where it was.
START_TEST(a_step_that_diverges_leaves_the_state_where_it_was)
{
    realtime_model w = welch_slider_crank();
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.formulation = TAL_FORMULATION_BAUMGARTE;
    def.scheme = TAL_SCHEME_SEMI_EXPLICIT_EULER; // unstable with alpha = beta = 1/h (Welch sec. 4)
    def.projects = false;
    choose_stepper(&w, &def);
    tal_status st = TAL_OK;
    double last[8];
    for (int i = 0; i < 100000 && st == TAL_OK; ++i) {
        memcpy(last, tal_state_y(w.state), sizeof last);
        st = tal_fixed_stepper_step(w.stepper, w.state);
    }
    ck_assert_int_lt(st, TAL_OK);
    ck_assert_int_eq(tal_fixed_stepper_error(w.stepper)->status, st);
    for (int i = 0; i < 8; ++i) {
        ck_assert_double_eq(last[i], tal_state_y(w.state)[i]);
    }
    end_realtime(&w);
}

END_TEST

START_TEST(every_failing_request_for_memory_is_reported)
{
    int refused = 0;
    for (int at = 1; at < 40; ++at) {
        test_heap heap = {.refuse_at = at};
        tal_system_def sdef = tal_system_def_default();
        sdef.allocator = test_heap_allocator(&heap);
        tal_system *system = tal_system_create(&sdef);
        if (system == NULL) continue;
        tal_matter *matter = tal_matter_create(system);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = 1.0;
        if (matter != NULL) (void)tal_matter_add_slider(matter, TAL_GROUND, &def);
        (void)tal_fixed_memory_create(system);
        tal_fixed_stepper *stepper = NULL;
        tal_status st = tal_system_realize_topology(system, NULL);
        if (st == TAL_OK) st = tal_fixed_stepper_create(system, NULL, &stepper, NULL);
        refused += st != TAL_OK;
        if (st == TAL_OK) test_assert_never_refused(&heap);
        tal_fixed_stepper_destroy(stepper);
        tal_system_destroy(system);
        ck_assert_int_eq(heap.live, 0);
    }
    ck_assert_int_gt(refused, 3);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("fixed_stepper");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120.0);
    tcase_add_test(all, names_lead_back_to_what_they_name);
    tcase_add_test(all, a_run_that_is_saved_and_resumed_ends_with_the_same_bytes);
    tcase_add_test(all, a_state_that_was_changed_begins_anew);
    tcase_add_test(all, nothing_is_allocated_and_bytes_repeat);
    tcase_add_test(all, real_time_does_the_same_work_in_every_step);
    tcase_add_test(all, the_last_step_ends_at_the_time_asked_for);
    tcase_add_test(all, auxiliary_variables_follow);
    tcase_add_test(all, bad_definitions_are_refused_by_name);
    tcase_add_test(all, systems_without_memory_and_with_colliders_are_refused);
    tcase_add_test(all, a_step_that_diverges_leaves_the_state_where_it_was);
    tcase_add_test(all, every_failing_request_for_memory_is_reported);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
