// io/src/model/bridge.c: runs to tables, markers from tables.
#include "talus_test.h"

#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double angle(const void *context, const tal_system *system, tal_state *state)
{
    (void)context;
    (void)system;
    return tal_state_q(state)[0];
}

static tal_system *make_pendulum(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, tal_v3(1.0, 0.0, 0.0));
    (void)tal_matter_add_pin(matter, TAL_GROUND, &def);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    return system;
}

static tal_recorder *record(const tal_system *system, const tal_integrator_def *def,
                            const char *second)
{
    const tal_column_def columns[] = {{"angle", TAL_STAGE_POSITION, angle, NULL},
                                      {second, TAL_STAGE_POSITION, angle, NULL}};
    const double times[] = {0.0, 0.1, 0.2, 0.2, 0.5};
    tal_recorder *recorder = NULL;
    tal_integrator *integ = NULL;
    tal_state *state = NULL;
    ck_assert_int_eq(tal_recorder_create(system, columns, 2, 5, &recorder, NULL), TAL_OK);
    ck_assert_int_eq(tal_integrator_create(system, def, &integ, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_recorder_run(recorder, integ, state, times, 5), TAL_OK);
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    return recorder;
}

START_TEST(a_run_comes_back_from_a_storage_with_its_settings)
{
    tal_system *system = make_pendulum();
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1.0 / 3000.0;
    tal_recorder *recorder = record(system, &def, "again");
    tal_table *table = NULL, *again = NULL;
    ck_assert_int_eq(tal_table_from_recorder(recorder, NULL, &table, NULL), TAL_OK);
    ck_assert_int_eq(tal_table_record_integrator(table, &def), TAL_OK);
    static char text[20000];
    size_t length = 0;
    ck_assert_int_eq(tal_table_write_memory(table, TAL_TABLE_STO, text, sizeof text, &length, NULL),
                     TAL_OK);
    ck_assert_int_eq(tal_table_read_memory(TAL_TABLE_STO, "run", text, length, NULL, &again, NULL),
                     TAL_OK);
    ck_assert_int_eq(tal_table_num_rows(again), 5);
    for (int i = 0; i < 5; ++i) {
        ck_assert_int_eq(
            memcmp(tal_table_row(again, i), tal_recorder_row(recorder, i), 3 * sizeof(double)), 0);
    }
    double accuracy = 0.0;
    const char *said = tal_table_header(again, "integrator.accuracy");
    ck_assert_ptr_nonnull(tal_number_read(said, NULL, &accuracy));
    ck_assert_double_eq(accuracy, def.accuracy);
    ck_assert_str_eq(tal_table_header(again, "talus_version"), tal_version_string());
    ck_assert_str_eq(tal_table_header(again, "git_hash"), tal_git_hash());
    ck_assert_str_eq(tal_table_header(again, "kernels"), tal_matter_kernel_set());
    const tal_method methods[] = {TAL_METHOD_RUNGE_KUTTA, TAL_METHOD_SEMI_EXPLICIT_EULER,
                                  TAL_METHOD_VERLET};
    const char *names[] = {"Merson 4(3)", "semi-explicit Euler", "Verlet"};
    for (int i = 0; i < 3; ++i) {
        def.method = methods[i];
        ck_assert_int_eq(tal_table_record_integrator(again, &def), TAL_OK);
        ck_assert_str_eq(tal_table_header(again, "integrator.method"), names[i]);
    }
    tal_table_destroy(again);
    tal_table_destroy(table);
    tal_recorder_destroy(recorder);
    tal_system_destroy(system);
}

END_TEST

START_TEST(columns_that_do_not_fit_a_table_are_named)
{
    tal_system *system = make_pendulum();
    tal_table *table = NULL;
    tal_error err;
    const char *names[] = {"angle", " x"};
    (void)tal_contract_set_handler(tal_contract_silent);
    for (int i = 0; i < 2; ++i) {
        tal_recorder *recorder = record(system, NULL, names[i]);
        ck_assert_int_eq(tal_table_from_recorder(recorder, NULL, &table, &err), TAL_ERR_BAD_NAME);
        ck_assert_ptr_null(table);
        ck_assert_str_eq(err.message, i == 0 ? "two columns are named 'angle'"
                                             : "column ' x' cannot be added to the table");
        tal_recorder_destroy(recorder);
    }
    (void)tal_contract_set_handler(NULL);
    tal_recorder *recorder = record(system, NULL, "b");
    tal_status st = TAL_ERR_NO_MEMORY;
    for (int n = 1; n < 100 && st != TAL_OK; ++n) {
        test_heap heap = {.refuse_at = n};
        const tal_allocator allocator = test_heap_allocator(&heap);
        st = tal_table_from_recorder(recorder, &allocator, &table, &err);
        ck_assert(st == TAL_OK || st == TAL_ERR_NO_MEMORY);
        if (st == TAL_OK) test_assert_never_refused(&heap);
        tal_table_destroy(table);
        ck_assert_int_eq(heap.live, 0);
    }
    ck_assert_int_eq(st, TAL_OK);
    tal_recorder_destroy(recorder);
    tal_system_destroy(system);
}

END_TEST

static tal_table *read_markers(const char *units)
{
    char text[1000];
    const int n = snprintf(text, sizeof text,
                           "PathFileType\t4\nUnits\n%s\nFrame#\tTime\tB\t\t\tA\t\t\tC\n"
                           "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3\n"
                           "1\t0.5\t1\t2\t3\t4\t5\t6\t7\t8\t9\n2\t0.75\t1.5\t2\t3\t\t\t\t7\t8\t9\n",
                           units);
    tal_table *table = NULL;
    ck_assert_int_eq(tal_table_read_memory(TAL_TABLE_TRC, "m", text, (size_t)n, NULL, &table, NULL),
                     TAL_OK);
    return table;
}

START_TEST(markers_are_found_by_name_in_meters)
{
    const char *units[] = {"m", "cm", "mm"};
    const double per_meter[] = {1.0, 100.0, 1000.0};
    const char *names[] = {"A", "missing", "B"};
    for (int k = 0; k < 3; ++k) {
        tal_table *table = read_markers(units[k]);
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        tal_marker_frames seen;
        ck_assert_int_eq(tal_marker_frames_create(table, names, 3, NULL, &seen, found), TAL_OK);
        tal_table_destroy(table);
        ck_assert_int_eq(seen.frames.num_frames, 2);
        ck_assert_int_eq(seen.num_markers, 3);
        ck_assert_double_eq(seen.frames.times[1], 0.75);
        const tal_vec3 *p = seen.frames.points;
        ck_assert_double_eq(p[0].z, 6.0 / per_meter[k]);
        ck_assert(isnan(p[1].x) && isnan(p[4].x) && isnan(p[3].y));
        ck_assert_double_eq(p[5].x, 1.5 / per_meter[k]);
        ck_assert_int_eq(tal_diagnostics_num(found), 2);
        ck_assert_str_eq(tal_diagnostics_at(found, 0)->message,
                         "marker 'missing' is not in the table; it is ignored");
        ck_assert_str_eq(tal_diagnostics_at(found, 1)->message,
                         "marker 'C' of the table is unused");
        ck_assert_int_eq(tal_diagnostics_num_errors(found), 0);
        tal_diagnostics_destroy(found);
        tal_marker_frames_destroy(&seen);
        ck_assert_ptr_null(seen.frames.points);
    }
}

END_TEST

static tal_table *read_csv(const char *text)
{
    tal_table *table = NULL;
    ck_assert_int_eq(
        tal_table_read_memory(TAL_TABLE_CSV, "m", text, strlen(text), NULL, &table, NULL), TAL_OK);
    return table;
}

// A table that a program makes may begin with a marker: its first column is as good as any.
START_TEST(a_marker_in_the_first_column_is_looked_for)
{
    static const char *const columns[] = {"A.x", "A.y", "A.z", "time"};
    const double row[] = {1.0, 2.0, 3.0, 0.5};
    tal_table *table = tal_table_create(NULL);
    for (int i = 0; i < 4; ++i) {
        ck_assert_int_eq(tal_table_add_column(table, columns[i]), TAL_OK);
    }
    ck_assert_int_eq(tal_table_add_row(table, row), TAL_OK);
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const char *names[] = {"A"};
    tal_marker_frames seen;
    ck_assert_int_eq(tal_marker_frames_create(table, names, 1, NULL, &seen, found), TAL_OK);
    ck_assert_double_eq(seen.frames.points[0].x, 1.0);
    ck_assert_double_eq(seen.frames.points[0].z, 3.0);
    ck_assert_double_eq(seen.frames.times[0], 0.5);
    ck_assert_int_eq(tal_diagnostics_num(found), 0);
    tal_diagnostics_destroy(found);
    tal_marker_frames_destroy(&seen);
    tal_table_destroy(table);
}

END_TEST

START_TEST(a_marker_without_one_of_its_columns_is_never_seen)
{
    static const char *const tables[] = {"time,A.y,A.z\n0.5,2,3\n", "time,A.x,A.z\n0.5,2,3\n",
                                         "time,A.x,A.y\n0.5,2,3\n"};
    for (int k = 0; k < 3; ++k) {
        tal_table *table = read_csv(tables[k]);
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        const char *names[] = {"A"};
        tal_marker_frames seen;
        ck_assert_int_eq(tal_marker_frames_create(table, names, 1, NULL, &seen, found), TAL_OK);
        ck_assert(isnan(seen.frames.points[0].x) && isnan(seen.frames.points[0].z));
        ck_assert_str_eq(tal_diagnostics_at(found, 0)->message,
                         "marker 'A' is not in the table; it is ignored");
        tal_diagnostics_destroy(found);
        tal_marker_frames_destroy(&seen);
        tal_table_destroy(table);
    }
}

END_TEST

START_TEST(tables_without_time_or_with_strange_units_are_refused)
{
    tal_table *table = read_markers("m");
    tal_marker_frames seen;
    const char *names[] = {"A", NULL};
    ck_assert_int_eq(tal_table_set_header(table, "Units", "furlong"), TAL_OK);
    ck_assert_int_eq(tal_marker_frames_create(table, names, 1, NULL, &seen, NULL),
                     TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_table_set_header(table, "Units", NULL), TAL_OK);
    test_heap heap = {.refuse_at = 1};
    const tal_allocator allocator = test_heap_allocator(&heap);
    ck_assert_int_eq(tal_marker_frames_create(table, names, 1, &allocator, &seen, NULL),
                     TAL_ERR_NO_MEMORY);
    ck_assert_int_eq(tal_marker_frames_create(table, NULL, 0, NULL, &seen, NULL), TAL_OK);
    ck_assert_ptr_null(seen.frames.points);
    tal_marker_frames_destroy(&seen);
    tal_table *none = tal_table_create(NULL);
    ck_assert_int_eq(tal_marker_frames_create(none, names, 1, NULL, &seen, NULL),
                     TAL_ERR_BAD_VALUE);
    tal_table_destroy(none);

    test_record_breaches();
    test_assert_breach(
        ck_assert_int_eq(tal_marker_frames_create(table, names, -1, NULL, &seen, NULL),
                         TAL_ERR_BAD_VALUE),
        TAL_ERR_BAD_VALUE, "-1");
    test_assert_breach(
        ck_assert_int_eq(tal_marker_frames_create(table, names, 2, NULL, &seen, NULL),
                         TAL_ERR_NULL),
        TAL_ERR_NULL, "marker 1");
    test_assert_breach(
        ck_assert_int_eq(tal_marker_frames_create(table, NULL, 2, NULL, &seen, NULL), TAL_ERR_NULL),
        TAL_ERR_NULL, "names");
    test_assert_breach(
        ck_assert_int_eq(tal_marker_frames_create(NULL, names, 1, NULL, &seen, NULL), TAL_ERR_NULL),
        TAL_ERR_NULL, "table");
    test_assert_breach((void)tal_table_record_integrator(table, NULL), TAL_ERR_NULL, "definition");
    tal_table *out = NULL;
    test_assert_breach(
        ck_assert_int_eq(tal_table_from_recorder(NULL, NULL, &out, NULL), TAL_ERR_NULL),
        TAL_ERR_NULL, "recorder");
    (void)tal_contract_set_handler(NULL);
    tal_marker_frames_destroy(NULL);
    tal_table_destroy(table);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/bridge");
    TCase *tc = tcase_create("theory");
    tcase_add_test(tc, a_run_comes_back_from_a_storage_with_its_settings);
    tcase_add_test(tc, columns_that_do_not_fit_a_table_are_named);
    tcase_add_test(tc, markers_are_found_by_name_in_meters);
    tcase_add_test(tc, a_marker_in_the_first_column_is_looked_for);
    tcase_add_test(tc, a_marker_without_one_of_its_columns_is_never_seen);
    tcase_add_test(tc, tables_without_time_or_with_strange_units_are_refused);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
