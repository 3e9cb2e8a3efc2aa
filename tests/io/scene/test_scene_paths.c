// io/src/scene/scene_paths.c and scene_loads.c: muscles, cables and what constraints do.
#include "scene/scene_internal.h"
#include "talus_test.h"

#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ROWS = 40,
    PER_ARC = 8
};

static const double radius = 0.05, length = 0.4; // of the pulley, of the forearm [m]

// A forearm on a pin at the center of a pulley, a muscle from Ground over the pulley to it, and a
// cable beside them that touches nothing.
typedef struct arm {
    tal_model model;
    tal_body_ix forearm;
    tal_path_ix over, beside;
    tal_force_ix muscle;
} arm;

static void add_muscle(arm *it)
{
    tal_forces *const forces = it->model.forces;
    const tal_wrap pulley = tal_wrap_cylinder(radius, 0.2);
    const tal_wrap_ix wrap =
        tal_forces_add_wrap(forces, "pulley", TAL_GROUND, &TAL_XFORM_IDENTITY, &pulley);
    it->over = tal_forces_add_path(forces, "biceps");
    (void)tal_path_add_point(forces, it->over, TAL_GROUND, tal_v3(0.04, 0.4, 0.0));
    (void)tal_path_add_point(forces, it->over, it->forearm, tal_v3(0.02, -length, 0.0));
    (void)tal_path_add_wrap(forces, it->over, wrap, 0, -1);
    tal_muscle_def def = tal_muscle_def_default(TAL_MUSCLE_MILLARD);
    def.path = it->over;
    def.max_force = 750.0;
    def.fiber_length = 0.3;
    def.tendon_length = 0.5;
    it->muscle = tal_forces_add_muscle(forces, "biceps", &def);
}

static arm make_arm(void)
{
    arm it = {.model = {.system = tal_system_create(NULL)}};
    it.model.matter = tal_matter_create(it.model.system);
    it.model.forces = tal_forces_create(it.model.system, it.model.matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.5, tal_v3(0.0, -0.2, 0.0));
    def.name = "forearm";
    it.forearm = tal_matter_add_pin(it.model.matter, TAL_GROUND, &def);
    add_muscle(&it);
    it.beside = tal_forces_add_path(it.model.forces, "cable");
    (void)tal_path_add_point(it.model.forces, it.beside, TAL_GROUND, tal_v3(-0.3, 0.1, 0.1));
    (void)tal_path_add_point(it.model.forces, it.beside, it.forearm, tal_v3(0.0, -length, 0.1));
    (void)tal_forces_add_path_spring(it.model.forces, "cable", it.beside, 50.0, 0.1, 0.0);
    ck_assert_int_eq(tal_system_realize_topology(it.model.system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(it.model.system, &it.model.state, NULL), TAL_OK);
    return it;
}

static tal_scene *make_scene(const arm *it)
{
    tal_scene *scene = NULL;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_scene_create(&it->model, NULL, &scene, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return scene;
}

static double angle_of(int row)
{
    return -0.5 + 2.5 * row / (ROWS - 1); // it leaves the pulley and lies on it again
}

static double activation_of(int row)
{
    return 0.1 + 0.8 * row / (ROWS - 1);
}

// Time, angle, speed, and the variables of the muscle, whose names are those of their groups.
static tal_table *make_table(const arm *it, bool with_z)
{
    tal_table *const table = tal_table_create(NULL);
    const int nz = tal_state_nz(it->model.state);
    ck_assert_int_eq(nz, 2); // activation, fiber length
    ck_assert_int_eq(tal_table_add_column(table, "time"), TAL_OK);
    ck_assert_int_eq(tal_table_add_column(table, "forearm.q0"), TAL_OK);
    ck_assert_int_eq(tal_table_add_column(table, "forearm.u0"), TAL_OK);
    for (int slot = 0; slot < nz && with_z; ++slot) {
        char name[200];
        int i = -1;
        const tal_group_ix group =
            tal_state_slot_owner(it->model.system, it->model.state, TAL_POOL_Z, slot, &i);
        snprintf(name, sizeof name, "%s[%d]", tal_group_name(it->model.system, group), i);
        ck_assert_int_eq(tal_table_add_column(table, name), TAL_OK);
    }
    for (int r = 0; r < ROWS; ++r) {
        const double row[5] = {0.01 * r, angle_of(r), 0.0, activation_of(r), 0.3};
        ck_assert_int_eq(tal_table_add_row(table, row), TAL_OK);
    }
    return table;
}

// A path at one moment: activation, points in Ground.
typedef struct drawn {
    double activation;
    int count;
    tal_vec3 p[64];
} drawn;

// Read it from the numbers of a moment; number c is at[c step]. Returns the channels it took.
static int read_path(const tal_matter *matter, const tal_state *state, const double at[],
                     size_t step, int points, drawn *out)
{
    out->activation = at[0];
    out->count = (int)lround(at[step]);
    for (int k = 0; k < out->count; ++k) {
        const double *const x = at + (size_t)(2 + 4 * k) * step;
        const tal_body_ix body = {(int)lround(x[0])};
        out->p[k] = tal_xf_apply(tal_body_X_GB(matter, state, body),
                                 tal_v3(x[step], x[2 * step], x[3 * step]));
    }
    return 2 + 4 * points;
}

static double chords(const drawn *path)
{
    double sum = 0.0;
    for (int k = 1; k < path->count; ++k) {
        sum += tal_v3_norm(tal_v3_sub(path->p[k], path->p[k - 1]));
    }
    return sum;
}

// Points on the pulley are on it, none is inside, the ends are where they were fastened, and chords
// are as long as the path but for what they cut off: an arc of at most pi in 7 parts is longer than
// its chords by 1 - sin(x)/x, x = pi/14, below 0.9 %.
static void check_wrapped(const arm *it, tal_state *state, const drawn *path, double tolerance)
{
    const tal_xform X_GB = tal_body_X_GB(it->model.matter, state, it->forearm);
    const tal_vec3 end = tal_xf_apply(X_GB, tal_v3(0.02, -length, 0.0));
    const bool is_on = tal_path_is_on_wrap(it->model.forces, state, it->over, 0);
    ck_assert_int_eq(path->count, is_on ? 2 + PER_ARC : 2);
    ck_assert_double_le(tal_v3_norm(tal_v3_sub(path->p[0], tal_v3(0.04, 0.4, 0.0))), tolerance);
    ck_assert_double_le(tal_v3_norm(tal_v3_sub(path->p[path->count - 1], end)), tolerance);
    for (int k = 1; k + 1 < path->count; ++k) {
        ck_assert_double_eq_tol(hypot(path->p[k].x, path->p[k].y), radius, tolerance);
    }
    const double exact = tal_path_length(it->model.forces, state, it->over);
    ck_assert_double_le(chords(path), exact + 20.0 * tolerance);
    ck_assert_double_ge(chords(path), exact - 0.009 * radius * 3.15 - 20.0 * tolerance);
}

START_TEST(a_moment_has_the_points_of_paths)
{
    arm it = make_arm();
    tal_scene *const scene = make_scene(&it);
    const int size = tal_scene_frame_size(scene);
    const int over = 2 + PER_ARC, beside = 2;
    ck_assert_int_eq(size, 7 + (2 + 4 * over) + (2 + 4 * beside));
    double *const numbers = calloc((size_t)size, sizeof *numbers);
    int on = 0;
    for (int r = 0; r < ROWS; ++r) {
        drawn path;
        tal_state *const state = it.model.state;
        tal_body_set_q(it.model.matter, state, it.forearm, 0, angle_of(r));
        ck_assert_int_eq(tal_system_realize(it.model.system, state, TAL_STAGE_POSITION), TAL_OK);
        ck_assert_int_eq(
            tal_muscle_set_activation(it.model.forces, state, it.muscle, activation_of(r)), TAL_OK);
        ck_assert_int_eq(tal_scene_calc_frame(scene, state, numbers), TAL_OK);
        int at = 7;
        at += read_path(it.model.matter, state, numbers + at, 1, over, &path);
        check_wrapped(&it, state, &path, 1e-12);
        ck_assert_double_eq_tol(path.activation, activation_of(r), 1e-15);
        if (path.count > 2) ++on;
        (void)read_path(it.model.matter, state, numbers + at, 1, beside, &path);
        ck_assert_int_eq(path.count, 2);
        ck_assert_double_eq(path.activation, -1.0); // a cable has none
        ck_assert_double_eq_tol(chords(&path), tal_path_length(it.model.forces, state, it.beside),
                                1e-12);
    }
    ck_assert(on > 5 && on < ROWS - 5); // both kinds of poses
    free(numbers);
    tal_scene_destroy(scene);
    tal_model_destroy(&it.model);
}

END_TEST

// The same from a table, as a reader of the scene has it: 1e-5 of the range of each number, and
// poses to a millionth of the size.
START_TEST(a_run_has_paths_and_activations)
{
    arm it = make_arm();
    tal_scene *const scene = make_scene(&it);
    tal_table *const table = make_table(&it, true);
    ck_assert_int_eq(tal_scene_add_run(scene, "run", table, NULL), TAL_OK);
    const tali_scene_track *const track = &scene->runs[0].paths;
    double *const values = calloc((size_t)track->channels * ROWS, sizeof *values);
    tali_scene_decode(scene->data.at, track, values);
    for (int r = 0; r < ROWS; ++r) {
        drawn path;
        tal_state *const state = it.model.state;
        tal_body_set_q(it.model.matter, state, it.forearm, 0, angle_of(r));
        ck_assert_int_eq(tal_system_realize(it.model.system, state, TAL_STAGE_POSITION), TAL_OK);
        (void)read_path(it.model.matter, state, values + r, ROWS, 2 + PER_ARC, &path);
        check_wrapped(&it, state, &path, 2e-5);
        ck_assert_double_eq_tol(path.activation, activation_of(r), 1e-5);
    }
    free(values);
    tal_table_destroy(table);
    tal_scene_destroy(scene);
    tal_model_destroy(&it.model);
}

END_TEST

static char *json_of(const tal_scene *scene)
{
    tali_scene_bytes out = {.allocator = tal_allocator_default()};
    tali_scene_put_json(scene, false, &out);
    char *const text = calloc(out.size + 1, 1);
    memcpy(text, out.at, out.size);
    tali_scene_bytes_free(&out);
    return text;
}

START_TEST(what_a_table_does_not_hold_is_said)
{
    arm it = make_arm();
    tal_scene *const scene = make_scene(&it);
    tal_table *const table = make_table(&it, false);
    ck_assert_int_eq(tal_scene_add_run(scene, "run", table, NULL), TAL_OK);
    char *const json = json_of(scene);
    ck_assert_ptr_nonnull(strstr(json, "\"name\":\"biceps\",\"kind\":\"muscle\""));
    ck_assert_ptr_nonnull(strstr(json, "\"strength\":750"));
    ck_assert_ptr_nonnull(strstr(json, "\"name\":\"cable\",\"kind\":\"passive\""));
    ck_assert_ptr_nonnull(strstr(json, "activations are not known"));
    ck_assert_ptr_nonnull(strstr(json, "\"layer\":\"wrap\""));
    const tali_scene_track *const track = &scene->runs[0].paths;
    double *const values = calloc((size_t)track->channels * ROWS, sizeof *values);
    tali_scene_decode(scene->data.at, track, values);
    ck_assert(isnan(values[0]));
    free(values);
    free(json);
    tal_table_destroy(table);
    tal_scene_destroy(scene);
    tal_model_destroy(&it.model);
}

END_TEST

// A rod holds a hanging weight: it pulls it up with m g at its station, which is not the origin.
START_TEST(constraints_show_what_they_do)
{
    static const char text[] =
        "<talus version='1'><bodies><free name='weight' mass='2' solid='sphere 0.1' "
        "q='1 0 0 0 0 -1.2 0'/></bodies>"
        "<constraints><rod name='string' body1='ground' body2='weight' station2='0 0.2 0' "
        "length='1'/></constraints><forces><gravity g='0 -10 0'/></forces></talus>";
    tal_model model;
    ck_assert_int_eq(tal_model_read_memory("m", text, strlen(text), NULL, &model, NULL), TAL_OK);
    tal_scene_options options = tal_scene_options_default();
    options.reactions = true;
    tal_scene *scene = NULL;
    ck_assert_int_eq(tal_scene_create(&model, &options, &scene, NULL), TAL_OK);
    tali_scene_loads loads;
    ck_assert_int_eq(tal_system_realize(model.system, scene->state, TAL_STAGE_ACCELERATION),
                     TAL_OK);
    ck_assert(tali_scene_loads_begin(scene, &loads, 1));
    ck_assert_int_eq(tali_scene_loads_add(scene, &loads, 0), TAL_OK);
    const tali_scene_load *rod = NULL;
    for (int i = 0; i < loads.num; ++i) {
        if (loads.list[i].force == -2) rod = &loads.list[i];
    }
    ck_assert_ptr_nonnull(rod);
    ck_assert_int_eq(rod->body, 1);
    ck_assert_double_eq(rod->point.y, 0.2);
    // rest: m g up; the moment about the station is nothing
    ck_assert_double_eq_tol(rod->values[1], 20.0, 1e-9);
    for (int k = 0; k < 6; ++k) {
        if (k != 1) ck_assert_double_eq_tol(rod->values[k], 0.0, 1e-9);
    }
    tali_scene_loads_end(scene, &loads);
    tal_scene_destroy(scene);
    tal_model_destroy(&model);
}

END_TEST

int main(void)
{
    Suite *const suite = suite_create("scene_paths");
    TCase *const all = tcase_create("theory");
    tcase_add_test(all, a_moment_has_the_points_of_paths);
    tcase_add_test(all, a_run_has_paths_and_activations);
    tcase_add_test(all, what_a_table_does_not_hold_is_said);
    tcase_add_test(all, constraints_show_what_they_do);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
