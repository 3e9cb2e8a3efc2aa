// io/src/scene: models and runs as scenes.
#include "scene/scene_internal.h"
#include "talus_test.h"

#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// A chain of pins along z, each rod of length 1, under a slider: closed form where it is.
static const char chain_model[] =
    "<talus version=\"1\" name=\"a &lt;b&gt; chain\">"
    "<bodies>"
    "<slider name=\"cart\" mass=\"2\"/>"
    "<pin name=\"upper\" parent=\"cart\" body_frame=\"0 1 0\" mass=\"1\" range=\"-1 1\"/>"
    "<pin name=\"lower\" parent=\"upper\" body_frame=\"0 1 0\" mass=\"1\"/>"
    "<ball name=\"bob\" parent=\"lower\" mass=\"0.5\" inertia=\"1 1 1\"/>"
    "</bodies>"
    "<forces><gravity g=\"0 -9.81 0\"/>"
    "<two_point_spring name=\"spring\" body1=\"ground\" body2=\"bob\" stiffness=\"10\"/></forces>"
    "<markers><marker name=\"tip\" body=\"bob\" station=\"0 0.1 0\"/></markers>"
    "</talus>";

static tal_model read_model(const char *text)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_model_read_memory("chain", text, strlen(text), NULL, &model, found);
    ck_assert_msg(st == TAL_OK, "%s",
                  tal_diagnostics_num(found) > 0 ? tal_diagnostics_at(found, 0)->message : "");
    tal_diagnostics_destroy(found);
    return model;
}

enum {
    ROWS = 50,
    COLUMNS = 16
};

// Times, all coordinates and all speeds of the chain, and a column that is nothing to the model.
static tal_table *chain_table(bool with_speeds)
{
    static const char *const names[COLUMNS] = {
        "time",    "cart.q0",  "upper.q0", "lower.q0", "bob.q0", "bob.q1", "bob.q2", "bob.q3",
        "cart.u0", "upper.u0", "lower.u0", "bob.u0",   "bob.u1", "bob.u2", "other",  "more"};
    tal_table *table = tal_table_create(NULL);
    const int n = with_speeds ? COLUMNS : 8;
    for (int c = 0; c < n; ++c) {
        ck_assert_int_eq(tal_table_add_column(table, names[c]), TAL_OK);
    }
    for (int r = 0; r < ROWS; ++r) {
        const double t = 0.05 * r, half = 0.7 * t;
        const double row[COLUMNS] = {t,         sin(t),    3.0 * t,       -2.0 * t,
                                     cos(half), sin(half), 0.0,           0.0,
                                     cos(t),    3.0,       -2.0,          1.4,
                                     0.0,       0.0,       100.0 * t * t, r == 7 ? (double)NAN : t};
        ck_assert_int_eq(tal_table_add_row(table, row), TAL_OK);
    }
    return table;
}

static tal_scene *make_scene(const tal_model *model, const tal_scene_options *options)
{
    tal_scene *scene = NULL;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_scene_create(model, options, &scene, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return scene;
}

static void add_run(tal_scene *scene, const tal_table *table)
{
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_scene_add_run(scene, "run", table, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
}

// Bytes that a scene is written as.
typedef struct written {
    char *bytes;
    size_t size;
} written;

static bool take(void *context, const void *bytes, size_t size)
{
    written *it = context;
    it->bytes = malloc(size + 1);
    memcpy(it->bytes, bytes, size);
    it->bytes[size] = 0;
    it->size = size;
    return true;
}

static written write_scene(const tal_scene *scene, tal_scene_format format,
                           const tal_scene_page *page)
{
    written it = {NULL, 0};
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_scene_write_to(scene, format, page, take, &it, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return it;
}

// X_GB of all bodies at a frame, as a reader of the scene has them.
static void climb(const tal_scene *scene, int frame, const double values[], tal_xform X_GB[])
{
    const tal_matter *matter = scene->model.matter;
    const int frames = scene->runs[0].frames;
    X_GB[0] = TAL_XFORM_IDENTITY;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        double x[7];
        for (int k = 0; k < 7; ++k) {
            x[k] = values[(7 * (b - 1) + k) * frames + frame];
        }
        const tal_xform X_PB =
            tal_xf(tal_rotation_from_qt(tal_qt(x[3], x[4], x[5], x[6])), tal_v3(x[0], x[1], x[2]));
        X_GB[b] = tal_xf_mul(X_GB[tal_body_parent(matter, (tal_body_ix){b}).i], X_PB);
    }
}

// The promise of doc/scene.md: a millionth of the size and 1e-5 rad. A coordinate of a position is
// off by half a quantum at most, below 5e-7 size; a quaternion by 2^-19 in each of four numbers,
// that is an angle of 2 * 2 * 2^-19 = 7.6e-6.
START_TEST(poses_are_those_of_the_library)
{
    tal_model model = read_model(chain_model);
    tal_table *table = chain_table(true);
    tal_scene *scene = make_scene(&model, NULL);
    add_run(scene, table);
    const int bodies = tal_matter_num_bodies(model.matter);
    static double values[7 * 8 * ROWS];
    tali_scene_decode(scene->data.at, &scene->runs[0].poses, values);
    tali_scene_rows rows;
    ck_assert_int_eq(tali_scene_rows_begin(scene, table, &rows, NULL), TAL_OK);
    for (int f = 0; f < ROWS; ++f) {
        tal_xform X_GB[8];
        climb(scene, f, values, X_GB);
        ck_assert_int_eq(tali_scene_rows_set(scene, &rows, f, TAL_STAGE_POSITION, NULL), TAL_OK);
        for (int b = 1; b < bodies; ++b) {
            const tal_xform exact = tal_body_X_GB(model.matter, scene->state, (tal_body_ix){b});
            ck_assert_double_le(tal_v3_norm(tal_v3_sub(X_GB[b].p, exact.p)), 1e-6 * scene->size);
            ck_assert_double_le(tal_rotation_distance(&X_GB[b].R, &exact.R), 1e-5);
        }
    }
    // and the library has what the angles say: p = -sum of (sin, -cos) of the angles so far
    tal_xform X_GB[8];
    climb(scene, 10, values, X_GB);
    const double a = 3.0 * 0.5, b = a - 2.0 * 0.5;
    ck_assert_double_eq_tol(X_GB[3].p.x, sin(0.5) + sin(a) + sin(b), 1e-5);
    ck_assert_double_eq_tol(X_GB[3].p.y, -cos(a) - cos(b), 1e-5);
    tal_scene_destroy(scene);
    tal_table_destroy(table);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(errors_do_not_add_up_along_a_chain)
{
    enum {
        LINKS = 200
    };

    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_table *table = tal_table_create(NULL);
    ck_assert_int_eq(tal_table_add_column(table, "time"), TAL_OK);
    tal_body_ix parent = TAL_GROUND;
    for (int i = 0; i < LINKS; ++i) {
        char name[32];
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = 1.0;
        def.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
        parent = tal_matter_add_pin(matter, parent, &def);
        snprintf(name, sizeof name, "body%d.q0", parent.i);
        ck_assert_int_eq(tal_table_add_column(table, name), TAL_OK);
    }
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_MODEL), TAL_OK);
    test_rng rng = test_rng_seed(20);
    for (int r = 0; r < 3; ++r) {
        double row[LINKS + 1] = {r};
        for (int i = 1; i <= LINKS; ++i) {
            row[i] = test_random_uniform(&rng, -0.1, 0.1);
        }
        ck_assert_int_eq(tal_table_add_row(table, row), TAL_OK);
    }
    const tal_model model = {.system = system, .state = state, .matter = matter, .forces = forces};
    tal_scene *scene = make_scene(&model, NULL);
    add_run(scene, table);
    static double values[7 * LINKS * 3];
    static tal_xform X_GB[LINKS + 1];
    tali_scene_decode(scene->data.at, &scene->runs[0].poses, values);
    climb(scene, 2, values, X_GB); // the scene's State is at the last row
    const tal_xform exact = tal_body_X_GB(matter, scene->state, parent);
    ck_assert_double_le(tal_v3_norm(tal_v3_sub(X_GB[LINKS].p, exact.p)), 1e-6 * scene->size);
    ck_assert_double_le(tal_rotation_distance(&X_GB[LINKS].R, &exact.R), 1e-5);
    tal_scene_destroy(scene);
    tal_table_destroy(table);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

// The size of a model is half the diagonal of a box around its bodies, what they look like by their
// inertia, where joints hang on Ground, and surfaces that touch, but not those of Ground.
START_TEST(the_size_of_a_model_is_that_of_a_box_around_it)
{
#define POINT "<translation name='a' mass='1' q='0 0 0'/>"

    static const struct {
        const char *model;
        double size;
    } cases[] = {
        {"<bodies>" POINT "</bodies>", 1.0}, // a point has none: as large as a meter
        {"<bodies>" POINT "<translation name='b' mass='1' q='3 -4 12'/></bodies>", 6.5},
        {"<bodies>" POINT "<translation name='b' mass='1' com='3 -4 12'/></bodies>", 6.5},
        {"<bodies><pin name='a' mass='1' frame='6 0 8' body_frame='6 0 8'/></bodies>", 5.0},
        // a ball of radius r has 2/5 m r^2: 0.4 for 1 kg and 1 m
        {"<bodies><free name='a' mass='1' inertia='0.4 0.4 0.4'/></bodies>", 1.7320508075688772},
        {"<bodies>" POINT "</bodies><forces><contact name='c'>"
         "<sphere name='s' body='a' radius='2' frame='1 0 0'/>"
         "<half_space name='floor' frame='0 0 -40'/></contact></forces>",
         3.4641016151377544},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[900];
        snprintf(text, sizeof text, "<talus version='1' name='it'>%s</talus>", cases[i].model);
        tal_model model = read_model(text);
        tal_scene *scene = make_scene(&model, NULL);
        ck_assert_double_eq_tol(scene->size, cases[i].size, 1e-14);
        tal_scene_destroy(scene);
        tal_model_destroy(&model);
    }
}

END_TEST

START_TEST(a_page_holds_title_scene_and_data)
{
    static const char text[] = "<title>@TALUS_TITLE@</title>[@TALUS_SCENE@][@TALUS_DATA@]!";
    const tal_scene_page page = {text, sizeof text - 1};
    tal_model model = read_model(chain_model);
    tal_table *table = chain_table(true);
    tal_scene *scene = make_scene(&model, NULL);
    add_run(scene, table);
    written first = write_scene(scene, TAL_SCENE_HTML, &page);
    ck_assert_int_eq(strncmp(first.bytes, "<title>a &lt;b> chain</title>[{\"format\":", 40), 0);
    ck_assert_ptr_nonnull(
        strstr(first.bytes, "\"name\":\"upper\",\"parent\":1,\"mobilizer\":\"pin\""));
    ck_assert_ptr_nonnull(strstr(first.bytes, "\"kind\":\"two-point spring\",\"layer\":\"force\""));
    ck_assert_ptr_nonnull(strstr(first.bytes, "a \\u003cb\\u003e chain"));
    ck_assert_ptr_nonnull(strstr(first.bytes, "\"markers\":[{\"name\":\"tip\",\"body\":4"));
    ck_assert_int_eq(first.bytes[first.size - 1], '!');
    // the same model and table give the same bytes
    tal_scene *other = make_scene(&model, NULL);
    add_run(other, table);
    written second = write_scene(other, TAL_SCENE_HTML, &page);
    ck_assert_uint_eq(first.size, second.size);
    ck_assert_int_eq(memcmp(first.bytes, second.bytes, first.size), 0);
    // a mark may end the page
    const tal_scene_page shorter = {text, sizeof text - 3};
    written third = write_scene(scene, TAL_SCENE_HTML, &shorter);
    ck_assert_uint_eq(third.size, first.size - 2);
    ck_assert_int_eq(memcmp(first.bytes, third.bytes, third.size), 0);
    free(third.bytes);
    tal_error err;
    const tal_scene_page wrong = {"@TALUS_TITLE@ only", 18};
    ck_assert_int_eq(tal_scene_write_to(scene, TAL_SCENE_HTML, &wrong, take, &second, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "@TALUS_SCENE@"));
    free(first.bytes);
    free(second.bytes);
    tal_scene_destroy(scene);
    tal_scene_destroy(other);
    tal_table_destroy(table);
    tal_model_destroy(&model);
}

END_TEST

static uint32_t word_at(const char *bytes, size_t at)
{
    const unsigned char *b = (const unsigned char *)bytes + at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

START_TEST(a_glb_file_has_its_chunks)
{
    tal_model model = read_model(chain_model);
    tal_table *table = chain_table(false);
    tal_scene *scene = make_scene(&model, NULL);
    written still = write_scene(scene, TAL_SCENE_GLB, NULL);
    ck_assert_ptr_null(strstr(still.bytes + 20, "animations"));
    add_run(scene, table);
    written it = write_scene(scene, TAL_SCENE_GLB, NULL);
    ck_assert_int_eq(memcmp(it.bytes, "glTF", 4), 0);
    ck_assert_uint_eq(word_at(it.bytes, 4), 2);
    ck_assert_uint_eq(word_at(it.bytes, 8), it.size);
    const uint32_t json = word_at(it.bytes, 12);
    ck_assert_uint_eq(json % 4, 0);
    ck_assert_int_eq(memcmp(it.bytes + 16, "JSON", 4), 0);
    ck_assert_uint_eq(20 + json + 8 + word_at(it.bytes, 20 + json), it.size);
    ck_assert_int_eq(memcmp(it.bytes + 24 + json, "BIN", 4), 0);
    ck_assert_ptr_nonnull(strstr(it.bytes + 20, "\"path\":\"rotation\""));
    free(still.bytes);
    free(it.bytes);
    tal_scene_destroy(scene);
    tal_table_destroy(table);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(runs_without_speeds_say_that_there_are_no_forces)
{
    tal_model model = read_model(chain_model);
    for (int with = 0; with < 2; ++with) {
        tal_table *table = chain_table(with == 1);
        tal_scene *scene = make_scene(&model, NULL);
        add_run(scene, table);
        written it = write_scene(scene, TAL_SCENE_JSON, NULL);
        ck_assert_int_eq(strstr(it.bytes, "has no speeds") == NULL, with);
        ck_assert_int_eq(strstr(it.bytes, "\"forces\":{") != NULL, with);
        ck_assert_int_eq(strstr(it.bytes, "\"mask\":true") != NULL, with); // the NaN of "more"
        free(it.bytes);
        tal_scene_destroy(scene);
        tal_table_destroy(table);
    }
    tal_model_destroy(&model);
}

END_TEST

// One unit for each column of the table, time included. Of those that are missing, or too long for
// a chart, nothing is said.
START_TEST(columns_have_the_units_of_the_table)
{
    tal_model model = read_model(chain_model);
    tal_table *table = chain_table(false);
    ck_assert_int_eq(
        tal_table_set_header(
            table, "talus_units",
            "s,m,rad,,a unit of no more than 31 bytes,a unit of more than 31 bytes: 32"),
        TAL_OK);
    tal_scene *scene = make_scene(&model, NULL);
    add_run(scene, table);
    written it = write_scene(scene, TAL_SCENE_JSON, NULL);
    static const char *const columns[] = {
        "{\"name\":\"cart.q0\",\"unit\":\"m\"}",
        "{\"name\":\"upper.q0\",\"unit\":\"rad\"}",
        "{\"name\":\"lower.q0\",\"unit\":\"\"}",
        "{\"name\":\"bob.q0\",\"unit\":\"a unit of no more than 31 bytes\"}",
        "{\"name\":\"bob.q1\",\"unit\":\"\"}",
        "{\"name\":\"bob.q3\",\"unit\":\"\"}"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; ++i) {
        ck_assert_msg(strstr(it.bytes, columns[i]) != NULL, "%s", columns[i]);
    }
    free(it.bytes);
    tal_scene_destroy(scene);
    tal_table_destroy(table);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(long_runs_are_thinned_and_keep_their_ends)
{
    tal_model model = read_model(chain_model);
    tal_table *table = chain_table(true);
    tal_scene_options options = tal_scene_options_default();
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    options.max_frames = 7;
    options.found = found;
    tal_scene *scene = make_scene(&model, &options);
    add_run(scene, table);
    ck_assert_int_eq(tal_scene_num_frames(scene), 7);
    double times[7];
    tali_scene_decode(scene->data.at, &scene->runs[0].time, times);
    ck_assert_double_eq_tol(times[0], 0.0, 1e-8);
    ck_assert_double_eq_tol(times[6], 0.05 * (ROWS - 1), 1e-8);
    ck_assert_int_eq(tal_diagnostics_num(found), 1);
    ck_assert_str_eq(tal_diagnostics_at(found, 0)->message,
                     "7 of 50 rows are shown, evenly chosen");
    tal_scene_destroy(scene);
    tal_diagnostics_destroy(found);
    tal_table_destroy(table);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(without_a_result_joints_move_through_their_ranges)
{
    tal_model model = read_model(chain_model);
    tal_scene *scene = make_scene(&model, NULL);
    ck_assert_int_eq(tal_scene_add_ranges(scene, NULL), TAL_OK);
    ck_assert_int_eq(tal_scene_num_frames(scene), 41); // of the one coordinate with a range
    static double values[7 * 4 * 41];
    tali_scene_decode(scene->data.at, &scene->runs[0].poses, values);
    double low = INFINITY, high = -INFINITY;
    for (int f = 0; f < 41; ++f) {
        const double *const w = values + 7 * 41 * 1 + 3 * 41, *const z = w + 3 * 41;
        const double angle = 2.0 * atan2(z[f], w[f]);
        low = fmin(low, angle);
        high = fmax(high, angle);
    }
    ck_assert_double_eq_tol(low, -1.0, 1e-5);
    ck_assert_double_eq_tol(high, 1.0, 1e-5);
    tal_scene_destroy(scene);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(seen_markers_stand_at_the_times_of_the_run)
{
    tal_model model = read_model(chain_model);
    tal_table *table = chain_table(false), *seen = tal_table_create(NULL);
    static const char *const names[] = {"time",  "other.x", "other.y", "other.z",
                                        "tip.x", "tip.y",   "tip.z"};
    for (int c = 0; c < 7; ++c) {
        ck_assert_int_eq(tal_table_add_column(seen, names[c]), TAL_OK);
    }
    for (int r = 0; r < 3; ++r) {
        const double row[7] = {r, 5.0, 6.0, 7.0, 1000.0 * r, 3000.0, 2000.0};
        ck_assert_int_eq(tal_table_add_row(seen, row), TAL_OK);
    }
    ck_assert_int_eq(tal_table_set_header(seen, "Units", "mm"), TAL_OK);
    tal_scene *scene = make_scene(&model, NULL);
    tal_error err;
    ck_assert_int_eq(tal_scene_add_markers(scene, seen, &err), TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(err.message, "there is no run yet");
    add_run(scene, table);
    ck_assert_int_eq(tal_scene_add_markers(scene, seen, &err), TAL_OK);
    ck_assert_int_eq(tal_scene_add_markers(scene, table, &err), TAL_ERR_BAD_VALUE);
    written it = write_scene(scene, TAL_SCENE_JSON, NULL);
    ck_assert_ptr_nonnull(strstr(it.bytes, "\"seenNames\":[\"other\",\"tip\"],\"seen\":{"));
    // channels that rest need no data: their numbers are those they begin from, in meters
    const char *base = strstr(strstr(it.bytes, "\"seen\":{"), "\"base\":[") + strlen("\"base\":[");
    const double wanted[] = {0.005, 0.006, 0.007, 0.0, 3.0, 2.0};
    for (int k = 0; k < 6; ++k) {
        char *end = NULL;
        ck_assert_double_eq_tol(strtod(base, &end), wanted[k], 1e-15);
        base = end + 1;
    }
    ck_assert_ptr_nonnull(strstr(it.bytes, "\"quantum\":[1,1,1,"));
    free(it.bytes);
    tal_scene_destroy(scene);
    tal_table_destroy(seen);
    tal_table_destroy(table);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(mistakes_are_named)
{
    tal_model model = read_model(chain_model);
    tal_scene *scene = make_scene(&model, NULL);
    tal_table *empty = tal_table_create(NULL), *other = tal_table_create(NULL);
    tal_table *bad = chain_table(false);
    tal_error err;
    ck_assert_int_eq(tal_scene_add_run(scene, "run", empty, &err), TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(err.message, "the first column must be 'time'");
    ck_assert_int_eq(tal_table_add_column(other, "time"), TAL_OK);
    ck_assert_int_eq(tal_scene_add_run(scene, "run", other, &err), TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(err.message, "the table has no rows");
    const double zero = 0.0;
    ck_assert_int_eq(tal_table_add_row(other, &zero), TAL_OK);
    ck_assert_int_eq(tal_scene_add_run(scene, "run", other, &err), TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(err.message, "the table has no coordinate of the model");
    ck_assert_int_eq(tal_table_set_value(bad, 3, 2, INFINITY), TAL_OK);
    ck_assert_int_eq(tal_scene_add_run(scene, "run", bad, &err), TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(err.message, "row 4, column 'upper.q0' is inf: it must be finite");
    ck_assert_int_eq(tal_scene_num_frames(scene), 0); // nothing of them is left
    tal_scene_format format;
    ck_assert(!tal_scene_format_of("x.txt", &format));
    ck_assert(tal_scene_format_of("a/x.glb", &format) && format == TAL_SCENE_GLB);
    tal_table_destroy(bad);
    tal_table_destroy(other);
    tal_table_destroy(empty);
    tal_scene_destroy(scene);
    tal_model_destroy(&model);
}

END_TEST

// With n-th requests refused, for every n: the status says so, and all blocks are given back.
START_TEST(memory_that_runs_out_is_reported)
{
    tal_model model = read_model(chain_model);
    tal_table *table = chain_table(true);
    bool done = false;
    for (int n = 1; !done; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_scene_options options = tal_scene_options_default();
        options.allocator = test_heap_allocator(&heap);
        tal_scene *scene = NULL;
        written it = {NULL, 0};
        tal_status st = tal_scene_create(&model, &options, &scene, NULL);
        if (st == TAL_OK) st = tal_scene_add_run(scene, "run", table, NULL);
        if (st == TAL_OK) st = tal_scene_write_to(scene, TAL_SCENE_GLB, NULL, take, &it, NULL);
        ck_assert_msg(st == TAL_OK || st == TAL_ERR_NO_MEMORY, "%s", tal_status_text(st));
        ck_assert_int_eq(st != TAL_OK, heap.calls >= n);
        done = st == TAL_OK;
        free(it.bytes);
        tal_scene_destroy(scene);
        ck_assert_int_eq(heap.live, 0);
    }
    tal_table_destroy(table);
    tal_model_destroy(&model);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("scene");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, poses_are_those_of_the_library);
    tcase_add_test(theory, errors_do_not_add_up_along_a_chain);
    tcase_add_test(theory, the_size_of_a_model_is_that_of_a_box_around_it);
    tcase_add_test(theory, a_page_holds_title_scene_and_data);
    tcase_add_test(theory, a_glb_file_has_its_chunks);
    tcase_add_test(theory, runs_without_speeds_say_that_there_are_no_forces);
    tcase_add_test(theory, columns_have_the_units_of_the_table);
    tcase_add_test(theory, long_runs_are_thinned_and_keep_their_ends);
    tcase_add_test(theory, without_a_result_joints_move_through_their_ranges);
    tcase_add_test(theory, seen_markers_stand_at_the_times_of_the_run);
    tcase_add_test(theory, mistakes_are_named);
    tcase_add_test(theory, memory_that_runs_out_is_reported);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
