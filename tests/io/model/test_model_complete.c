// io/src/model_*.c: everything that the public headers can build has a row in the table, and
// everything that they can set in a State is either written or named here.
#define _DEFAULT_SOURCE // opendir. NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

#include "model/model_internal.h"
#include "talus_test.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Calls named `prefix`<row> build elements of a group.
static const struct {
    const char *prefix;
    tali_model_group group;
} families[] = {{"tal_matter_add_motion_", TALI_GROUP_MOTIONS},
                {"tal_matter_add_", TALI_GROUP_BODIES},
                {"tal_constraint_add_", TALI_GROUP_CONSTRAINTS},
                {"tal_unilateral_add_", TALI_GROUP_UNILATERALS},
                {"tal_measure_add_", TALI_GROUP_MEASURES},
                {"tal_forces_add_", TALI_GROUP_FORCES},
                {"tal_events_add_", TALI_GROUP_STOPS},
                {"tal_function_create_", TALI_GROUP_FUNCTIONS},
                {"tal_decoration_", TALI_GROUP_DECORATIONS},
                {"tal_shape_", TALI_GROUP_SURFACES},
                {"tal_system_add_", TALI_GROUP_NONE},
                {"tal_force_add_", TALI_GROUP_NONE},
                {"tal_contact_add_", TALI_GROUP_NONE}};

// Calls that no row is named after.
static const char *const without_row[] = {
    "tal_forces_add_discrete",          // <discrete_forces>
    "tal_forces_add_gravity_def",       // <gravity>
    "tal_matter_add_decoration",        // one row for each decoration
    "tal_matter_add_dh",                // a body for each row of its table
    "tal_contact_add_surface",          // one row for each shape
    "tal_matter_add_collider",          // likewise
    "tal_matter_add_collider_elements", // elements stand in <unilaterals>
    "tal_forces_add_wrap",              // one row for each surface
    // <path> and <function_path> in <paths>
    "tal_forces_add_path", "tal_forces_add_function_path",
    "tal_forces_add_muscle",     // one row for each model
    "tal_forces_add_controller", // functions of a user's own: refused by name
    // model files have no words for these yet: refused by name
    "tal_forces_add_mobility_law", "tal_forces_add_two_point_law",
    "tal_forces_add_blankevoort_ligament", "tal_forces_add_pneumatic_actuator",
    "tal_forces_add_activation_actuator",
    // tables of a user's own: talus/io/registry.h
    "tal_matter_add_mobilizer", "tal_matter_add_constraint", "tal_matter_add_motion",
    "tal_system_add_measure",
    "tal_matter_add_unilateral",        // of constraints of a user's own: refused by name
    "tal_matter_add_collider_elements", // what it adds is written
    // functions of a user's own: refused by name
    "tal_measure_add_result", "tal_system_add_event", "tal_system_add_subsystem",
    // what tables declare for themselves
    "tal_system_add_cache", "tal_system_add_group", "tal_system_add_var", "tal_force_add_cache",
    "tal_force_add_group", "tal_force_add_var",
    // <constant_force in> and <constant_torque in>
    "tal_forces_add_constant_force_in", "tal_forces_add_constant_torque_in",
    // questions
    "tal_shape_can_touch", "tal_shape_check", "tal_shape_kind_name"};

// Calls that change a State, and where a file has what they set.
static const char *const setters[] = {
    // time, q and u
    "tal_state_set_t", "tal_state_set_q", "tal_state_set_u", "tal_state_set_y", "tal_body_set_q",
    "tal_body_set_u", "tal_body_set_all_q", "tal_body_set_all_u", "tal_closure_set_state",
    // z, of measures and of forces
    "tal_state_set_z", "tal_thermostat_set_chain",
    // bodies
    "tal_body_set_mass_props", "tal_body_set_params", "tal_body_set_range",
    "tal_body_set_rotor_inertia", "tal_body_set_use_angles", "tal_matter_set_use_angles",
    "tal_body_set_initial_q", "tal_body_set_initial_u", "tal_body_set_X_PF", "tal_body_set_X_BM",
    "tal_body_set_fast",
    // how it is solved
    "tal_matter_set_solve_way",
    // constraints and motions
    "tal_constraint_set_enabled", "tal_constraint_set_params", "tal_constraint_set_share",
    "tal_motion_set_enabled", "tal_motion_set_params",
    // forces
    "tal_contact_set_grip", "tal_contact_surface_set_material", "tal_contact_surface_set_shape",
    "tal_contact_surface_set_X_BS", "tal_discrete_set_body_force",
    "tal_discrete_set_mobility_force", "tal_force_set_enabled", "tal_force_set_param",
    "tal_force_set_params", "tal_gravity_set_excluded", "tal_gravity_set_g",
    "tal_gravity_set_zero_height", "tal_langevin_set_seed", "tal_path_set_point_station",
    "tal_actuator_set_control", "tal_actuator_set_control_range", "tal_controller_set_enabled",
    "tal_muscle_set_activation", "tal_muscle_set_control", "tal_muscle_set_fiber",
    // <unilaterals>; a run finds the modes when it begins
    "tal_unilateral_set_enabled", "tal_unilateral_set_material", "tal_unilateral_set_mode",
    "tal_matter_set_most_sliding", "tal_matter_set_most_touching",
    // events
    "tal_event_set_active", "tal_run_set_default",
    // how a study sees it: not part of a model
    "tal_state_set_weights", "tal_assembler_set_coordinate", "tal_direct_set_gravity",
    "tal_optimizer_set_time", "tal_md_set_memory", "tal_walk_set_count", "tal_replicas_set_rounds",
    // <molecules>
    "tal_mol_set_fixman_temperature",
    // variables of elements, by those that know them
    "tal_var_set_double", "tal_group_set_size"};

static bool is_in(const char *name, const char *const list[], size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        if (strcmp(list[i], name) == 0) return true;
    }
    return false;
}

static bool has_row(tali_model_group group, const char *name)
{
    const tali_model_row *rows = tali_model_rows(group);
    for (int i = 0; rows[i].name != NULL; ++i) {
        if (strcmp(rows[i].name, name) == 0) return true;
    }
    return false;
}

// A call of a family has a row, or is on the list of those that need none.
static bool check_builder(const char *call)
{
    if (is_in(call, without_row, sizeof without_row / sizeof *without_row)) return true;
    for (size_t i = 0; i < sizeof families / sizeof *families; ++i) {
        const size_t length = strlen(families[i].prefix);
        if (strncmp(call, families[i].prefix, length) != 0) continue;
        const bool is_controller = families[i].group == TALI_GROUP_FORCES &&
                                   has_row(TALI_GROUP_CONTROLLERS, call + length);
        ck_assert_msg(is_controller || has_row(families[i].group, call + length),
                      "%s() has no row in the table of model files", call);
        return true;
    }
    return false;
}

static void check_setter(const char *call)
{
    const char *set = strstr(call, "_set_");
    if (set == NULL || strstr(call, "_allocator") != NULL) return;
    ck_assert_msg(is_in(call, setters, sizeof setters / sizeof *setters),
                  "%s() is not known here: does a model file hold what it sets?", call);
}

// Every "tal_...(" of a text.
static int check_calls(const char *text)
{
    int num_builders = 0;
    for (const char *at = text; (at = strstr(at, "tal_")) != NULL;) {
        const char *end = at;
        while (islower((unsigned char)*end) || isdigit((unsigned char)*end) || *end == '_' ||
               isupper((unsigned char)*end)) {
            ++end;
        }
        char call[100];
        if (*end == '(' && (size_t)(end - at) < sizeof call) {
            (void)snprintf(call, sizeof call, "%.*s", (int)(end - at), at);
            num_builders += check_builder(call);
            check_setter(call);
        }
        at = end > at ? end : at + 1;
    }
    return num_builders;
}

static int check_header(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    char *text = calloc(1, 200000);
    const size_t size = fread(text, 1, 199999, file);
    ck_assert_uint_lt(size, 199999);
    (void)fclose(file);
    const int n = check_calls(text);
    free(text);
    return n;
}

START_TEST(everything_that_can_be_built_can_be_said)
{
    const char *layers[] = {"state", "matter", "forces", "study"};
    int num_headers = 0,
        num_builders = check_header(TALUS_SOURCE_DIR "/common/include/talus/common/function.h");
    for (int i = 0; i < 4; ++i) {
        char folder[300];
        (void)snprintf(folder, sizeof folder, TALUS_SOURCE_DIR "/%s/include/talus/%s", layers[i],
                       layers[i]);
        DIR *dir = opendir(folder);
        ck_assert_ptr_nonnull(dir);
        for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
            char path[600];
            if (strstr(entry->d_name, ".h") == NULL) continue;
            (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            num_builders += check_header(path);
            ++num_headers;
        }
        (void)closedir(dir);
    }
    // the search itself has found what there is
    ck_assert_int_gt(num_headers, 40);
    ck_assert_int_gt(num_builders, 130);
}

END_TEST

// Enumerations that rows stand in the order of.
START_TEST(rows_stand_in_the_order_of_enumerations)
{
    const char *shapes[] = {"half_space", "sphere", "ellipsoid", "cylinder",
                            "brick",      "torus",  "mesh"};
    ck_assert_int_eq(sizeof shapes / sizeof *shapes, TAL_NUM_SHAPE_KINDS);
    for (int i = 0; i < TAL_NUM_SHAPE_KINDS; ++i) {
        ck_assert_str_eq(tali_model_surface_rows[i].name, shapes[i]);
    }
    ck_assert_int_eq(tal_decoration_sphere(1.0).kind, 0);
    ck_assert_str_eq(tali_model_decoration_rows[0].name, "sphere");
    ck_assert_str_eq(tali_model_decoration_rows[tal_decoration_text("x").kind].name, "text");
    ck_assert_str_eq(tali_model_decoration_rows[tal_decoration_mesh("x").kind].name, "mesh");
    ck_assert_ptr_null(tali_model_decoration_rows[tal_decoration_text("x").kind + 1].name);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("model_complete");
    TCase *all = tcase_create("all");
    tcase_add_test(all, everything_that_can_be_built_can_be_said);
    tcase_add_test(all, rows_stand_in_the_order_of_enumerations);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
