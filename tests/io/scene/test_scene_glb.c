// io/src/scene/scene_glb.c: what a reader of glTF finds in a file, against the model.
#include "scene/scene_internal.h"
#include "talus_test.h"

#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- a reader: as much of JSON as our files have (no name in them has a bracket)

typedef struct file {
    char *bytes;
    const char *json, *bin;
} file;

static bool take(void *context, const void *bytes, size_t size)
{
    file *it = context;
    it->bytes = malloc(size);
    memcpy(it->bytes, bytes, size);
    return true;
}

static uint32_t word(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double single(const char *at)
{
    const uint32_t bits = word(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static file write_file(const tal_scene *scene)
{
    file it = {NULL, NULL, NULL};
    ck_assert_int_eq(tal_scene_write_to(scene, TAL_SCENE_GLB, NULL, take, &it, NULL), TAL_OK);
    it.json = it.bytes + 20;
    it.bin = it.json + word(it.bytes + 12) + 8;
    return it;
}

// The byte behind the value (an object or a list) that begins at `at`.
static const char *end_of(const char *at)
{
    int depth = 0;
    do {
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        ++at;
    } while (depth > 0);
    return at;
}

// The value of a key in the object that begins at `object`; NULL if it is not there.
static const char *value_of(const char *object, const char *key)
{
    char text[40];
    snprintf(text, sizeof text, "\"%s\":", key);
    const char *at = strstr(object, text);
    return at == NULL || at >= end_of(object) ? NULL : at + strlen(text);
}

static int integer_of(const char *object, const char *key)
{
    const char *at = value_of(object, key);
    ck_assert_msg(at != NULL, "no %s", key);
    return atoi(at);
}

static void numbers_of(const char *object, const char *key, int n, double out[])
{
    const char *at = value_of(object, key);
    ck_assert_msg(at != NULL && *at == '[', "no list %s", key);
    for (int i = 0; i < n; ++i) {
        char *end;
        out[i] = strtod(at + 1, &end);
        at = end;
        ck_assert_int_eq(*at, i + 1 < n ? ',' : ']');
    }
}

static tal_vec3 vec3_of(const char *object, const char *key)
{
    double x[3];
    numbers_of(object, key, 3, x);
    return tal_v3(x[0], x[1], x[2]);
}

static tal_xform pose_of(const char *node)
{
    double h[4];
    numbers_of(node, "rotation", 4, h);
    const tal_quat turn = tal_qt(h[3], h[0], h[1], h[2]);
    return tal_xf(tal_rotation_from_qt(turn), vec3_of(node, "translation"));
}

// Element `i` of the list that begins at `list`; NULL behind its end.
static const char *element(const char *list, int i)
{
    const char *at = list + 1 + strspn(list + 1, "\n");
    for (; i > 0 && *at != ']'; --i) {
        at = end_of(at);
        at += strspn(at, ",\n");
    }
    return *at == ']' ? NULL : at;
}

// The scene has a list of nodes as well, in one line.
static const char *node_at(const file *it, int i)
{
    return element(strstr(it->json, "\"nodes\":[\n") + strlen("\"nodes\":"), i);
}

// ---- numbers of an accessor

typedef struct numbers {
    const char *at;
    int count, width;
} numbers;

static numbers numbers_at(const file *it, int accessor)
{
    const char *const a = element(value_of(it->json, "accessors"), accessor);
    const char *const view =
        element(value_of(it->json, "bufferViews"), integer_of(a, "bufferView"));
    const char *const type = value_of(a, "type");
    const numbers out = {.at = it->bin + integer_of(view, "byteOffset"),
                         .count = integer_of(a, "count"),
                         .width = strncmp(type, "\"VEC", 4) == 0 ? type[4] - '0' : 1};
    ck_assert_int_eq(integer_of(view, "byteOffset") % 4, 0);
    ck_assert_int_eq(integer_of(view, "byteLength"), 4 * out.count * out.width);
    ck_assert_int_le(integer_of(view, "byteOffset") + integer_of(view, "byteLength"),
                     integer_of(element(value_of(it->json, "buffers"), 0), "byteLength"));
    return out;
}

static tal_vec3 vec3_at(const numbers *it, int i)
{
    const char *const at = it->at + (size_t)12 * (size_t)i;
    return tal_v3(single(at), single(at + 4), single(at + 8));
}

// ---- a model with every shape

enum {
    BODIES = 4,
    CHANNELS = 5, // that move in a run
    ROWS = 6
};

static const char every_shape[] =
    "<talus version=\"1\" name=\"shapes\">"
    "<bodies>"
    "<slider name=\"cart\" mass=\"2\"/>"
    "<pin name=\"arm\" parent=\"cart\" body_frame=\"0 1 0\" mass=\"1\"/>"
    "<weld name=\"hand\" parent=\"arm\" frame=\"0.3 0 0.1\" mass=\"0\"/>"
    "</bodies>"
    "<forces><gravity g=\"0 0 -9.81\"/>"
    "<contact>"
    "<half_space cliques=\"1\" frame=\"0 0 -5\"/>"
    "<sphere cliques=\"1\" body=\"arm\" frame=\"0 0.5 0\" radius=\"0.1\"/>"
    "<cylinder cliques=\"1\" body=\"arm\" frame=\"0.2 0.3 0.4\" radius=\"0.1\" half_length=\"0.3\" rim_radius=\"0.05\"/>"
    "<torus cliques=\"1\" body=\"cart\" frame=\"1 0 0\" ring_radius=\"0.4\" tube_radius=\"0.1\"/>"
    "<mesh cliques=\"1\" body=\"hand\"><vertices>0 0 0  2 0 0  0 3 0  0 0 4</vertices>"
    "<faces>0 2 1  0 1 3  0 3 2  1 2 3</faces></mesh>"
    "</contact></forces>"
    "<decorations>"
    "<sphere body=\"cart\" frame=\"1 2 3\" radius=\"0.4\" color=\"0.5 0.02 1\"/>"
    "<line end=\"0 0 0\"/>" // a point, a label and what is invisible are not drawn
    "<text text=\"nothing\"/>"
    "<sphere radius=\"1\" opacity=\"0\"/>"
    "<brick body=\"arm\" half_lengths=\"0.1 0.2 0.3\" opacity=\"0.5\"/>"
    "<cylinder body=\"hand\" radius=\"0.2\" half_height=\"0.7\" scale=\"2\"/>"
    "<ellipsoid radii=\"0.3 0.2 0.1\"/>"
    "<line body=\"arm\" frame=\"0.1 0 0\" end=\"0.2 0.3 -0.6\"/>"
    "</decorations></talus>";

typedef struct fixture {
    tal_model model;
    tal_scene *scene;
} fixture;

static fixture begin(void)
{
    fixture it;
    ck_assert_int_eq(
        tal_model_read_memory("shapes", every_shape, strlen(every_shape), NULL, &it.model, NULL),
        TAL_OK);
    ck_assert_int_eq(tal_scene_create(&it.model, NULL, &it.scene, NULL), TAL_OK);
    return it;
}

static void end(fixture *it)
{
    tal_scene_destroy(it->scene);
    tal_model_destroy(&it->model);
}

static bool is_drawn(const tali_scene_shape *it)
{
    return it->kind != TALI_SCENE_TEXT && it->opacity > 0.0 &&
           !(it->kind == TALI_SCENE_LINE && tal_v3_norm(it->end) == 0.0);
}

// ---- shapes

// 1 on the surface of a shape, below it inside. `p` is in the frame of the shape.
static double level_of(const tal_scene *scene, const tali_scene_shape *it, tal_vec3 p)
{
    const tal_vec3 s = it->size;
    double along;
    switch (it->kind) {
    case TALI_SCENE_SPHERE:
        return tal_v3_norm(p) / s.x;
    case TALI_SCENE_ELLIPSOID:
        return tal_v3_norm(tal_v3(p.x / s.x, p.y / s.y, p.z / s.z));
    case TALI_SCENE_BRICK:
        return fmax(fabs(p.x) / s.x, fmax(fabs(p.y) / s.y, fabs(p.z) / s.z));
    case TALI_SCENE_CYLINDER:
        return fmax(hypot(p.x, p.z) / s.x, fabs(p.y) / s.y);
    case TALI_SCENE_TORUS:
        return hypot(hypot(p.x, p.y) - s.x, p.z) / s.y;
    case TALI_SCENE_PLANE: // a square, L to each side of the origin
        ck_assert_double_eq_tol(p.y, 0.0, 1e-6);
        return fmax(fabs(p.x), fabs(p.z)) / (2.0 * scene->size);
    case TALI_SCENE_LINE: // a thin cylinder
        along = tal_v3_dot(p, it->end) / tal_v3_dot(it->end, it->end);
        p = tal_v3_axpy(-along, it->end, p);
        return fmax(tal_v3_norm(p) / (0.01 * scene->size), fabs(2.0 * along - 1.0));
    default: // the tetrahedron x/2 + y/3 + z/4 <= 1; its corners are rounded to 1/65535 of a side
        return fmin(p.x, fmin(p.y, p.z)) > -1e-4 ? fmax(p.x / 2.0 + p.y / 3.0 + p.z / 4.0, 1.0)
                                                 : 0.0;
    }
}

static double volume_of(const tal_scene *scene, const tali_scene_shape *it)
{
    const double pi = 3.14159265358979323846, thin = 0.01 * scene->size;
    const tal_vec3 s = it->size;
    switch (it->kind) {
    case TALI_SCENE_SPHERE:
        return 4.0 / 3.0 * pi * s.x * s.x * s.x;
    case TALI_SCENE_ELLIPSOID:
        return 4.0 / 3.0 * pi * s.x * s.y * s.z;
    case TALI_SCENE_BRICK:
        return 8.0 * s.x * s.y * s.z;
    case TALI_SCENE_CYLINDER:
        return 2.0 * pi * s.x * s.x * s.y;
    case TALI_SCENE_TORUS:
        return 2.0 * pi * pi * s.x * s.y * s.y;
    case TALI_SCENE_LINE:
        return pi * thin * thin * tal_v3_norm(it->end);
    case TALI_SCENE_PLANE:
        return 0.0;
    default:
        return 2.0 * 3.0 * 4.0 / 6.0;
    }
}

// Where a node puts a point of its mesh.
static tal_vec3 placed(const char *node, tal_vec3 p)
{
    const tal_vec3 s = vec3_of(node, "scale");
    return tal_xf_apply(pose_of(node), tal_v3(s.x * p.x, s.y * p.y, s.z * p.z));
}

// All corners are on the surface, and the box that the file names is theirs. Files have floats:
// 1e-7 of a coordinate, of which the level is off by up to 1e-7 * distance / smallest size.
static void check_points(const tal_scene *scene, const tali_scene_shape *shape, const char *node,
                         const numbers *points, const char *accessor)
{
    tal_vec3 low = tal_v3(INFINITY, INFINITY, INFINITY), high = tal_v3_neg(low);
    for (int i = 0; i < points->count; ++i) {
        const tal_vec3 p = vec3_at(points, i);
        const tal_vec3 at = tal_xf_apply(tal_xf_inverse(shape->X_BD), placed(node, p));
        const double level = level_of(scene, shape, at);
        const bool is_inner = shape->kind == TALI_SCENE_CYLINDER || shape->kind == TALI_SCENE_LINE;
        ck_assert_double_le(level, 1.0 + 1e-4);
        ck_assert(is_inner || level >= 1.0 - 1e-4); // lids have a corner at their center
        low = tal_v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = tal_v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    ck_assert_double_eq(tal_v3_norm(tal_v3_sub(low, vec3_of(accessor, "min"))), 0.0);
    ck_assert_double_eq(tal_v3_norm(tal_v3_sub(high, vec3_of(accessor, "max"))), 0.0);
}

// Triangles look outwards, as normals do, and enclose the volume: within 4 %, a torus of 32 times
// 16 sides has 0.9936 * 0.9745 of it.
static void check_triangles(const tal_scene *scene, const tali_scene_shape *shape, const char *node,
                            const numbers *points, const numbers *normals, const numbers *corners)
{
    double volume = 0.0;
    ck_assert_int_eq(corners->count % 3, 0);
    for (int i = 0; i < corners->count; i += 3) {
        tal_vec3 p[3], at[3], n = TAL_VEC3_ZERO;
        for (int k = 0; k < 3; ++k) {
            const int c = (int)word(corners->at + (size_t)4 * (size_t)(i + k));
            ck_assert_int_lt(c, points->count);
            p[k] = vec3_at(points, c);
            at[k] = placed(node, p[k]);
            if (normals != NULL) n = vec3_at(normals, c);
            if (normals != NULL) ck_assert_double_eq_tol(tal_v3_norm(n), 1.0, 1e-6);
        }
        volume += tal_v3_dot(at[0], tal_v3_cross(at[1], at[2])) / 6.0;
        const tal_vec3 out = tal_v3_cross(tal_v3_sub(p[1], p[0]), tal_v3_sub(p[2], p[0]));
        const double area = tal_v3_norm(out);
        if (normals != NULL && area > 1e-6) ck_assert_double_gt(tal_v3_dot(n, out) / area, 0.9);
    }
    if (shape->kind == TALI_SCENE_PLANE) return;
    const double exact = volume_of(scene, shape);
    ck_assert_double_le(volume, exact * (1.0 + 1e-4));
    ck_assert_double_ge(volume, exact * 0.96);
}

static void check_shape(const tal_scene *scene, const file *it, const tali_scene_shape *shape,
                        int index)
{
    const char *const node = node_at(it, BODIES + index);
    ck_assert_int_eq(integer_of(node, "mesh"), index);
    const char *const mesh = element(value_of(it->json, "meshes"), index);
    ck_assert_int_eq(integer_of(mesh, "material"), index);
    const int position = integer_of(mesh, "POSITION");
    const numbers points = numbers_at(it, position);
    const numbers corners = numbers_at(it, integer_of(mesh, "indices"));
    ck_assert_int_eq(points.width, 3);
    ck_assert_int_eq(corners.width, 1);
    check_points(scene, shape, node, &points, element(value_of(it->json, "accessors"), position));
    if (shape->kind == TALI_SCENE_MESH) {
        ck_assert_ptr_null(value_of(mesh, "NORMAL"));
        check_triangles(scene, shape, node, &points, NULL, &corners);
        return;
    }
    const numbers normals = numbers_at(it, integer_of(mesh, "NORMAL"));
    ck_assert_int_eq(normals.count, points.count);
    check_triangles(scene, shape, node, &points, &normals, &corners);
}

START_TEST(surfaces_are_those_of_the_shapes)
{
    fixture f = begin();
    file it = write_file(f.scene);
    int seen = 0, kinds = 0;
    for (int i = 0; i < f.scene->num_shapes; ++i) {
        if (!is_drawn(&f.scene->shapes[i])) continue;
        kinds |= 1 << f.scene->shapes[i].kind;
        check_shape(f.scene, &it, &f.scene->shapes[i], seen++);
    }
    ck_assert_int_eq(kinds, 0x1ff & ~(1 << TALI_SCENE_TEXT)); // all of them
    ck_assert_ptr_null(element(value_of(it.json, "meshes"), seen));
    free(it.bytes);
    end(&f);
}

END_TEST

// How often a number is in the list of a node's children.
static int times_child(const char *node, int child)
{
    const char *at = value_of(node, "children");
    int times = 0;
    for (; at != NULL && *at != ']'; at += strcspn(at, ",]")) {
        times += atoi(++at) == child;
    }
    return times;
}

static void same_xform(tal_xform a, tal_xform b, double bound)
{
    ck_assert_double_le(tal_v3_norm(tal_v3_sub(a.p, b.p)), bound);
    ck_assert_double_le(tal_rotation_distance(&a.R, &b.R), bound);
}

static tal_xform X_PB_of(const tal_scene *scene, int b)
{
    const tal_matter *const matter = scene->model.matter;
    const tal_body_ix parent = tal_body_parent(matter, (tal_body_ix){b});
    return tal_xf_mul(tal_xf_inverse(tal_body_X_GB(matter, scene->state, parent)),
                      tal_body_X_GB(matter, scene->state, (tal_body_ix){b}));
}

START_TEST(bodies_and_shapes_hang_on_their_bodies)
{
    fixture f = begin();
    file it = write_file(f.scene);
    // the model's z is up; that of the file is y
    const tal_vec3 up = tal_m3_mul_v3(pose_of(node_at(&it, 0)).R, tal_v3(0.0, 0.0, 1.0));
    ck_assert_double_eq_tol(up.y, 1.0, 1e-15);
    for (int b = 1; b < BODIES; ++b) {
        same_xform(pose_of(node_at(&it, b)), X_PB_of(f.scene, b), 1e-15);
        for (int p = 0; p < BODIES; ++p) {
            ck_assert_int_eq(times_child(node_at(&it, p), b), p == b - 1); // a chain
        }
    }
    int node = BODIES;
    for (int i = 0; i < f.scene->num_shapes; ++i) {
        if (!is_drawn(&f.scene->shapes[i])) continue;
        for (int b = 0; b < BODIES; ++b) {
            ck_assert_int_eq(times_child(node_at(&it, b), node), b == f.scene->shapes[i].body);
        }
        ++node;
    }
    ck_assert_ptr_null(node_at(&it, node));
    free(it.bytes);
    end(&f);
}

END_TEST

// Colors of screens become amounts of light by the standard's law (sRGB), at most 1.
START_TEST(materials_have_the_colors_of_shapes)
{
    fixture f = begin();
    file it = write_file(f.scene);
    double color[4];
    const char *const ball = element(value_of(it.json, "materials"), 0);
    numbers_of(ball, "baseColorFactor", 4, color);
    ck_assert_double_eq_tol(color[0], 0.21404114, 1e-8); // ((0.5 + 0.055) / 1.055)^2.4
    ck_assert_double_eq_tol(color[1], 0.00154799, 1e-8); // 0.02 / 12.92
    ck_assert_double_eq(color[2], 1.0);
    ck_assert_double_eq(color[3], 1.0);
    ck_assert_ptr_null(value_of(ball, "alphaMode"));
    int material = 0;
    for (int i = 0; i < f.scene->num_shapes; ++i) {
        const tali_scene_shape *const shape = &f.scene->shapes[i];
        if (!is_drawn(shape)) continue;
        const char *const at = element(value_of(it.json, "materials"), material++);
        ck_assert_int_eq(value_of(at, "alphaMode") != NULL, shape->opacity < 1.0);
        ck_assert_int_eq(value_of(at, "doubleSided") != NULL, shape->kind == TALI_SCENE_PLANE);
    }
    free(it.bytes);
    end(&f);
}

END_TEST

// ---- runs

// The cart moves and the arm turns. Of two rows at one time the later is that of the file.
static tal_table *make_run(double start)
{
    tal_table *table = tal_table_create(NULL);
    static const char *const names[] = {"time", "cart.q0", "arm.q0"};
    for (int c = 0; c < 3; ++c) {
        ck_assert_int_eq(tal_table_add_column(table, names[c]), TAL_OK);
    }
    for (int r = 0; r < ROWS; ++r) {
        const double row[3] = {start + 0.25 * (r - (r > 2)), 0.7 + 0.5 * r * r, 0.3 * r - 1.0};
        ck_assert_int_eq(tal_table_add_row(table, row), TAL_OK);
    }
    return table;
}

// What one channel of an animation does to a node at one of its times: the path it names.
static void check_channel(const file *it, const char *animation, int index, const tal_scene *scene,
                          int key)
{
    const char *const channel = element(value_of(animation, "channels"), index);
    const char *const sampler =
        element(value_of(animation, "samplers"), integer_of(channel, "sampler"));
    const numbers out = numbers_at(it, integer_of(sampler, "output"));
    ck_assert_int_eq(out.count, ROWS - 1);
    // the cart slides, the arm turns about a point that is not its origin; the hand makes up for
    // what their rounded poses are off
    static const int bodies[CHANNELS] = {1, 2, 2, 3, 3};
    const bool rotates = index == 2 || index == 4;
    ck_assert_int_eq(integer_of(channel, "node"), bodies[index]);
    ck_assert_int_eq(strncmp(value_of(channel, "path"),
                             rotates ? "\"rotation\"" : "\"translation\"", rotates ? 10 : 13),
                     0);
    const tal_xform X = X_PB_of(scene, bodies[index]);
    ck_assert_int_eq(out.width, rotates ? 4 : 3);
    if (!rotates) {
        // poses of a scene are those of the model within a millionth of its size
        const double off = tal_v3_norm(tal_v3_sub(vec3_at(&out, key), X.p));
        ck_assert_double_le(off, 2e-6 * scene->size);
        return;
    }
    const char *const at = out.at + (size_t)16 * (size_t)key;
    const tal_mat3 R =
        tal_rotation_from_qt(tal_qt(single(at + 12), single(at), single(at + 4), single(at + 8)));
    ck_assert_double_le(tal_rotation_distance(&R, &X.R), 1e-5);
}

START_TEST(animations_are_the_runs)
{
    static const double begins[2] = {0.0, 3.0};
    fixture f = begin();
    tal_table *tables[2];
    for (int r = 0; r < 2; ++r) {
        tables[r] = make_run(begins[r]);
        ck_assert_int_eq(tal_scene_add_run(f.scene, r == 0 ? "first" : "second", tables[r], NULL),
                         TAL_OK);
    }
    file it = write_file(f.scene);
    const char *const animations = value_of(it.json, "animations");
    for (int r = 0; r < 2; ++r) {
        const char *const animation = element(animations, r);
        ck_assert_int_eq(
            strncmp(value_of(animation, "name"), r == 0 ? "\"first\"" : "\"second\"", 7), 0);
        ck_assert_ptr_null(element(value_of(animation, "channels"), CHANNELS));
        const char *const sampler = element(value_of(animation, "samplers"), 0);
        const numbers times = numbers_at(&it, integer_of(sampler, "input"));
        ck_assert_int_eq(times.count, ROWS - 1);
        tali_scene_rows rows;
        ck_assert_int_eq(tali_scene_rows_begin(f.scene, tables[r], &rows, NULL), TAL_OK);
        for (int key = 0; key < ROWS - 1; ++key) {
            ck_assert_double_eq(single(times.at + (size_t)4 * (size_t)key), 0.25 * key);
            ck_assert_int_eq(tali_scene_rows_set(f.scene, &rows, key < 2 ? key : key + 1,
                                                 TAL_STAGE_POSITION, NULL),
                             TAL_OK);
            for (int c = 0; c < CHANNELS; ++c) {
                check_channel(&it, animation, c, f.scene, key);
            }
            // without its animations the file shows the first row of the first run
            for (int b = 1; b < BODIES && r == 0 && key == 0; ++b) {
                same_xform(pose_of(node_at(&it, b)), X_PB_of(f.scene, b), 1e-5);
            }
        }
    }
    ck_assert_ptr_null(element(animations, 2));
    free(it.bytes);
    tal_table_destroy(tables[0]);
    tal_table_destroy(tables[1]);
    end(&f);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("scene_glb");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, surfaces_are_those_of_the_shapes);
    tcase_add_test(theory, bodies_and_shapes_hang_on_their_bodies);
    tcase_add_test(theory, materials_have_the_colors_of_shapes);
    tcase_add_test(theory, animations_are_the_runs);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
