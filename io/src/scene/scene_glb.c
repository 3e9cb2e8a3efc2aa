// A scene as glTF 2.0, binary: a node for each body under its parent's, shapes below them, a run as
// an animation. https://registry.khronos.org/glTF/specs/2.0/
#include "alloc_internal.h"
#include "error_internal.h"

#include "scene/scene_internal.h"

#include <talus/common/version.h>

#include <math.h>
#include <string.h>

// Numbers that glTF gives to types.
enum {
    GL_UNSIGNED_INT = 5125,
    GL_FLOAT = 5126,
    GL_ARRAY = 34962,
    GL_ELEMENTS = 34963
};

enum {
    AROUND = 32, // parts of a circle
    POSE_CHANNELS = 7
};

// Up is y itself if its y component is this near to 1.
static const double IS_UP = 1e-12;

// A geometry that is in the file, and the mesh of it with a material.
typedef struct glb_geometry {
    tali_scene_shape_kind kind;
    double tube; // of a torus whose ring is 1
    int mesh;    // of a file; -1: none
    int positions, normals, indices;
} glb_geometry;

// A file being written.
typedef struct glb {
    const tal_scene *scene;
    tali_scene_bytes bin;
    tali_scene_bytes views, accessors, meshes, materials, nodes, channels, samplers, animations;
    int num_views, num_accessors, num_meshes, num_nodes;
    glb_geometry *geometries;
    int num_geometries, geometries_capacity;
    double *values; // [channels][frames] poses of a run
    bool failed;
} glb;

// ---- numbers in the binary part

static void put_u32(tali_scene_bytes *out, uint32_t value)
{
    const unsigned char bytes[4] = {
        (unsigned char)(value & 0xff), (unsigned char)(value >> 8 & 0xff),
        (unsigned char)(value >> 16 & 0xff), (unsigned char)(value >> 24 & 0xff)};
    tali_scene_put(out, bytes, sizeof bytes);
}

static void put_float(glb *it, double value)
{
    const float single = (float)value;
    uint32_t bits = 0;
    memcpy(&bits, &single, sizeof bits);
    put_u32(&it->bin, bits);
}

// A view of what was put since `begin`.
static int end_view(glb *it, size_t begin, int target)
{
    tali_scene_put_comma(&it->views);
    tali_scene_put_text(&it->views, "{\"buffer\":0");
    tali_scene_put_key(&it->views, "byteOffset");
    tali_scene_put_integer(&it->views, (long long)begin);
    tali_scene_put_key(&it->views, "byteLength");
    tali_scene_put_integer(&it->views, (long long)(it->bin.size - begin));
    if (target != 0) {
        tali_scene_put_key(&it->views, "target");
        tali_scene_put_integer(&it->views, target);
    }
    tali_scene_put_text(&it->views, "}");
    return it->num_views++;
}

// What an accessor says of its numbers.
typedef struct accessor {
    const char *type; // SCALAR, VEC3, VEC4
    int component, count, target;
    const double *low, *high; // [n]; NULL: not said
    int n;
} accessor;

static int end_accessor(glb *it, size_t begin, const accessor *kind)
{
    tali_scene_bytes *const out = &it->accessors;
    tali_scene_put_comma(out);
    tali_scene_put_text(out, "{");
    tali_scene_put_key(out, "bufferView");
    tali_scene_put_integer(out, end_view(it, begin, kind->target));
    tali_scene_put_key(out, "componentType");
    tali_scene_put_integer(out, kind->component);
    tali_scene_put_key(out, "count");
    tali_scene_put_integer(out, kind->count);
    tali_scene_put_key(out, "type");
    tali_scene_put_string(out, kind->type);
    if (kind->low != NULL) {
        tali_scene_put_key(out, "min");
        tali_scene_put_numbers(out, kind->low, kind->n);
        tali_scene_put_key(out, "max");
        tali_scene_put_numbers(out, kind->high, kind->n);
    }
    tali_scene_put_text(out, "}");
    return it->num_accessors++;
}

// ---- geometries: grids of points

// A point of a surface and its normal, by two numbers from 0 to 1.
typedef void (*surface)(double u, double v, double tube, tal_vec3 *p, tal_vec3 *n);

static void sphere(double u, double v, double tube, tal_vec3 *p, tal_vec3 *n)
{
    (void)tube;
    const double a = 2.0 * TAL_PI * u, b = TAL_PI * v;
    *p = tal_v3(sin(b) * sin(a), cos(b), sin(b) * cos(a));
    *n = *p;
}

static void tube_side(double u, double v, double tube, tal_vec3 *p, tal_vec3 *n)
{
    (void)tube;
    const double a = 2.0 * TAL_PI * u;
    *p = tal_v3(sin(a), 1.0 - 2.0 * v, cos(a));
    *n = tal_v3(sin(a), 0.0, cos(a));
}

static void upper_lid(double u, double v, double tube, tal_vec3 *p, tal_vec3 *n)
{
    (void)tube;
    const double a = 2.0 * TAL_PI * u;
    *p = tal_v3(v * sin(a), 1.0, v * cos(a));
    *n = tal_v3(0.0, 1.0, 0.0);
}

static void lower_lid(double u, double v, double tube, tal_vec3 *p, tal_vec3 *n)
{
    upper_lid(-u, v, tube, p, n);
    p->y = -1.0;
    n->y = -1.0;
}

static void torus(double u, double v, double tube, tal_vec3 *p, tal_vec3 *n)
{
    const double a = 2.0 * TAL_PI * u, b = -2.0 * TAL_PI * v; // so that triangles look outwards
    *n = tal_v3(cos(b) * cos(a), cos(b) * sin(a), sin(b));
    *p = tal_v3_axpy(tube, *n, tal_v3(cos(a), sin(a), 0.0));
}

// The side of a brick towards z; turned for the others.
static void side(double u, double v, double tube, tal_vec3 *p, tal_vec3 *n)
{
    (void)tube;
    *p = tal_v3(2.0 * u - 1.0, 1.0 - 2.0 * v, 1.0);
    *n = tal_v3(0.0, 0.0, 1.0);
}

static void level(double u, double v, double tube, tal_vec3 *p, tal_vec3 *n)
{
    (void)tube;
    *p = tal_v3(2.0 * u - 1.0, 0.0, 2.0 * v - 1.0);
    *n = tal_v3(0.0, 1.0, 0.0);
}

// A patch of a geometry: a surface on a grid of nu x nv cells, turned.
typedef struct patch {
    surface at;
    int nu, nv;
    tal_mat3 turn;
} patch;

enum {
    MAX_PATCHES = 6
};

// What a unit geometry is made of; how many patches.
static int patches_of(tali_scene_shape_kind kind, patch out[MAX_PATCHES])
{
    const tal_mat3 one = TAL_MAT3_IDENTITY;
    switch (kind) {
    case TALI_SCENE_BRICK:
        for (int k = 0; k < 4; ++k) {
            out[k] = (patch){side, 1, 1, tal_rotation_about(TAL_AXIS_Y, 0.5 * TAL_PI * k)};
        }
        out[4] = (patch){side, 1, 1, tal_rotation_about(TAL_AXIS_X, 0.5 * TAL_PI)};
        out[5] = (patch){side, 1, 1, tal_rotation_about(TAL_AXIS_X, -0.5 * TAL_PI)};
        return 6;
    case TALI_SCENE_CYLINDER:
    case TALI_SCENE_LINE:
        out[0] = (patch){tube_side, AROUND, 1, one};
        out[1] = (patch){upper_lid, AROUND, 1, one};
        out[2] = (patch){lower_lid, AROUND, 1, one};
        return 3;
    case TALI_SCENE_TORUS:
        out[0] = (patch){torus, AROUND, AROUND / 2, one};
        return 1;
    case TALI_SCENE_PLANE:
        out[0] = (patch){level, 1, 1, one};
        return 1;
    default:
        out[0] = (patch){sphere, AROUND, AROUND / 2, one};
        return 1;
    }
}

// The corners of a patch, as points or as normals.
static void put_corners(glb *it, const patch *p, double tube, bool normals, double low[3],
                        double high[3])
{
    for (int j = 0; j <= p->nv; ++j) {
        for (int i = 0; i <= p->nu; ++i) {
            tal_vec3 at, n;
            p->at((double)i / p->nu, (double)j / p->nv, tube, &at, &n);
            const tal_vec3 v = tal_m3_mul_v3(p->turn, normals ? n : at);
            const double x[3] = {(double)(float)v.x, (double)(float)v.y, (double)(float)v.z};
            for (int k = 0; k < 3; ++k) {
                put_float(it, x[k]);
                low[k] = fmin(low[k], x[k]);
                high[k] = fmax(high[k], x[k]);
            }
        }
    }
}

// Two triangles for each cell; one of them has no area where a sphere or a lid comes to a point.
static int put_cells(glb *it, const patch *p, uint32_t first)
{
    const uint32_t row = (uint32_t)p->nu + 1;
    int count = 0;
    for (int j = 0; j < p->nv; ++j) {
        for (int i = 0; i < p->nu; ++i) {
            const uint32_t a = first + (uint32_t)j * row + (uint32_t)i, b = a + row;
            const uint32_t cells[6] = {a, b, a + 1, a + 1, b, b + 1};
            for (int k = 0; k < 6; ++k) {
                put_u32(&it->bin, cells[k]);
            }
            count += 6;
        }
    }
    return count;
}

static int put_vertices(glb *it, const patch patches[], int n, double tube, bool normals)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const size_t begin = it->bin.size;
    int count = 0;
    for (int k = 0; k < n; ++k) {
        put_corners(it, &patches[k], tube, normals, low, high);
        count += (patches[k].nu + 1) * (patches[k].nv + 1);
    }
    const accessor kind = {.type = "VEC3",
                           .component = GL_FLOAT,
                           .count = count,
                           .target = GL_ARRAY,
                           .low = normals ? NULL : low,
                           .high = normals ? NULL : high,
                           .n = 3};
    return end_accessor(it, begin, &kind);
}

static int put_indices(glb *it, const patch patches[], int n)
{
    const size_t begin = it->bin.size;
    uint32_t first = 0;
    int count = 0;
    for (int k = 0; k < n; ++k) {
        count += put_cells(it, &patches[k], first);
        first += (uint32_t)((patches[k].nu + 1) * (patches[k].nv + 1));
    }
    const accessor kind = {
        .type = "SCALAR", .component = GL_UNSIGNED_INT, .count = count, .target = GL_ELEMENTS};
    return end_accessor(it, begin, &kind);
}

static uint32_t u16_at(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

// Vertices and triangles of a mesh from the data of the scene. Without normals it is drawn flat.
static void put_mesh_data(glb *it, const tali_scene_mesh *mesh, glb_geometry *out)
{
    const unsigned char *at = it->scene->data.at + mesh->at;
    const double low[3] = {(double)(float)mesh->low.x, (double)(float)mesh->low.y,
                           (double)(float)mesh->low.z};
    const double high[3] = {(double)(float)mesh->high.x, (double)(float)mesh->high.y,
                            (double)(float)mesh->high.z};
    size_t begin = it->bin.size;
    for (int i = 0; i < 3 * mesh->vertices; ++i, at += 2) {
        const double part = u16_at(at) / 65535.0;
        put_float(it, part == 1.0 ? high[i % 3] : low[i % 3] + part * (high[i % 3] - low[i % 3]));
    }
    const accessor points = {.type = "VEC3",
                             .component = GL_FLOAT,
                             .count = mesh->vertices,
                             .target = GL_ARRAY,
                             .low = low,
                             .high = high,
                             .n = 3};
    out->positions = end_accessor(it, begin, &points);
    at = it->scene->data.at + mesh->at + ((size_t)mesh->vertices * 6 + 3) / 4 * 4;
    begin = it->bin.size;
    for (int i = 0; i < 3 * mesh->faces; ++i, at += mesh->wide ? 4 : 2) {
        put_u32(&it->bin, u16_at(at) | (mesh->wide ? u16_at(at + 2) << 16 : 0));
    }
    const accessor corners = {.type = "SCALAR",
                              .component = GL_UNSIGNED_INT,
                              .count = 3 * mesh->faces,
                              .target = GL_ELEMENTS};
    out->indices = end_accessor(it, begin, &corners);
    out->normals = -1;
}

// What is drawn as another kind.
static tali_scene_shape_kind basic_kind(tali_scene_shape_kind kind)
{
    if (kind == TALI_SCENE_ELLIPSOID) return TALI_SCENE_SPHERE;
    return kind == TALI_SCENE_LINE ? TALI_SCENE_CYLINDER : kind;
}

// The geometry of a shape, which is put when it is new; NULL without memory.
static const glb_geometry *geometry_of(glb *it, const tali_scene_shape *shape)
{
    const tali_scene_shape_kind kind = basic_kind(shape->kind);
    const double tube = kind == TALI_SCENE_TORUS ? shape->size.y / shape->size.x : 0.0;
    for (int i = 0; i < it->num_geometries; ++i) {
        const glb_geometry *const g = &it->geometries[i];
        if (g->kind == kind && g->tube == tube && g->mesh == shape->mesh) return g;
    }
    if (!tali_grow(&it->scene->options.allocator, (void **)&it->geometries, it->num_geometries,
                   &it->geometries_capacity, sizeof *it->geometries)) {
        it->failed = true;
        return NULL;
    }
    glb_geometry *const g = &it->geometries[it->num_geometries++];
    *g = (glb_geometry){.kind = kind, .tube = tube, .mesh = shape->mesh};
    if (shape->mesh >= 0) {
        put_mesh_data(it, &it->scene->meshes[shape->mesh], g);
        return g;
    }
    patch patches[MAX_PATCHES];
    const int n = patches_of(kind, patches);
    g->positions = put_vertices(it, patches, n, tube, false);
    g->normals = put_vertices(it, patches, n, tube, true);
    g->indices = put_indices(it, patches, n);
    return g;
}

// ---- shapes: a material, a mesh and a node each

// From the numbers of screens to amounts of light (sRGB).
static double linear(double c)
{
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static void put_material(glb *it, const tali_scene_shape *shape)
{
    const double color[4] = {linear(fmin(shape->color.x, 1.0)), linear(fmin(shape->color.y, 1.0)),
                             linear(fmin(shape->color.z, 1.0)), fmin(shape->opacity, 1.0)};
    tali_scene_bytes *const out = &it->materials;
    tali_scene_put_comma(out);
    tali_scene_put_text(out,
                        "{\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"roughnessFactor\":0.6");
    tali_scene_put_key(out, "baseColorFactor");
    tali_scene_put_numbers(out, color, 4);
    tali_scene_put_text(out, "}");
    if (color[3] < 1.0) tali_scene_put_text(out, ",\"alphaMode\":\"BLEND\"");
    if (shape->kind == TALI_SCENE_PLANE) tali_scene_put_text(out, ",\"doubleSided\":true");
    tali_scene_put_text(out, "}");
}

static void put_mesh(glb *it, const glb_geometry *g)
{
    tali_scene_bytes *const out = &it->meshes;
    tali_scene_put_comma(out);
    tali_scene_put_text(out, "{\"primitives\":[{\"attributes\":{");
    tali_scene_put_key(out, "POSITION");
    tali_scene_put_integer(out, g->positions);
    if (g->normals >= 0) {
        tali_scene_put_key(out, "NORMAL");
        tali_scene_put_integer(out, g->normals);
    }
    tali_scene_put_text(out, "}");
    tali_scene_put_key(out, "indices");
    tali_scene_put_integer(out, g->indices);
    tali_scene_put_key(out, "material");
    tali_scene_put_integer(out, it->num_meshes);
    tali_scene_put_text(out, "}]}");
}

// Where a unit geometry goes: its frame, and how large it is.
static tal_xform place_shape(const tal_scene *scene, const tali_scene_shape *it, tal_vec3 *scale)
{
    tal_xform X = it->X_BD;
    *scale = it->size;
    if (it->kind == TALI_SCENE_SPHERE) *scale = tal_v3(it->size.x, it->size.x, it->size.x);
    if (it->kind == TALI_SCENE_TORUS) *scale = tal_v3(it->size.x, it->size.x, it->size.x);
    if (it->kind == TALI_SCENE_CYLINDER) *scale = tal_v3(it->size.x, it->size.y, it->size.x);
    if (it->kind == TALI_SCENE_PLANE) *scale = tal_v3(2.0 * scene->size, 1.0, 2.0 * scene->size);
    if (it->kind != TALI_SCENE_LINE) return X;
    const double length = tal_v3_norm(it->end), radius = 0.01 * scene->size;
    *scale = tal_v3(radius, 0.5 * length, radius);
    X.p = tal_xf_apply(X, tal_v3_scale(0.5, it->end));
    if (length > 0.0) {
        const tal_mat3 turn =
            tal_rotation_from_two_axes(TAL_AXIS_Y, it->end, TAL_AXIS_X, tal_v3_perp(it->end));
        X.R = tal_m3_mul(X.R, turn);
    }
    return X;
}

static void put_pose(tali_scene_bytes *out, tal_vec3 p, tal_quat h)
{
    const double rotation[4] = {h.x, h.y, h.z, h.w};
    tali_scene_put_key(out, "translation");
    tali_scene_put_vec3(out, p);
    tali_scene_put_key(out, "rotation");
    tali_scene_put_numbers(out, rotation, 4);
}

static bool is_drawn(const tali_scene_shape *shape)
{
    const bool is_flat_line = shape->kind == TALI_SCENE_LINE && !(tal_v3_norm(shape->end) > 0.0);
    return shape->kind != TALI_SCENE_TEXT && !is_flat_line && shape->opacity > 0.0;
}

static void put_shape(glb *it, const tali_scene_shape *shape)
{
    const glb_geometry *const g = geometry_of(it, shape);
    if (g == NULL) return;
    tal_vec3 scale;
    const tal_xform X = place_shape(it->scene, shape, &scale);
    put_material(it, shape);
    put_mesh(it, g);
    tali_scene_put_comma(&it->nodes);
    tali_scene_put_text(&it->nodes, "\n{");
    tali_scene_put_key(&it->nodes, "mesh");
    tali_scene_put_integer(&it->nodes, it->num_meshes++);
    put_pose(&it->nodes, X.p, tal_rotation_to_qt(&X.R));
    tali_scene_put_key(&it->nodes, "scale");
    tali_scene_put_vec3(&it->nodes, scale);
    tali_scene_put_text(&it->nodes, "}");
}

// ---- bodies: node b is body b; node 0 is Ground, turned so that y is up

// The bodies that hang on a body, and its shapes, whose nodes stand behind those of all bodies.
static void put_children(glb *it, int body)
{
    const tal_matter *const matter = it->scene->model.matter;
    const int bodies = tal_matter_num_bodies(matter);
    bool any = false;
    for (int b = 1; b < bodies; ++b) {
        if (tal_body_parent(matter, (tal_body_ix){b}).i != body) continue;
        if (!any) tali_scene_put_text(&it->nodes, ",\"children\":[");
        tali_scene_put_comma(&it->nodes);
        tali_scene_put_integer(&it->nodes, b);
        any = true;
    }
    int node = bodies;
    for (int i = 0; i < it->scene->num_shapes; ++i) {
        const tali_scene_shape *const shape = &it->scene->shapes[i];
        if (!is_drawn(shape)) continue;
        if (shape->body == body) {
            if (!any) tali_scene_put_text(&it->nodes, ",\"children\":[");
            tali_scene_put_comma(&it->nodes);
            tali_scene_put_integer(&it->nodes, node);
            any = true;
        }
        ++node;
    }
    if (any) tali_scene_put_text(&it->nodes, "]");
}

static double pose_value(const glb *it, int frames, int body, int channel, int frame)
{
    const size_t row = (size_t)(POSE_CHANNELS * (body - 1) + channel);
    return it->values[row * (size_t)frames + (size_t)frame];
}

static tal_quat quaternion_at(const glb *it, int frames, int body, int frame)
{
    return tal_qt_normalize(
        tal_qt(pose_value(it, frames, body, 3, frame), pose_value(it, frames, body, 4, frame),
               pose_value(it, frames, body, 5, frame), pose_value(it, frames, body, 6, frame)));
}

// The pose in the parent: of the first frame, or of the model's State without runs.
static void put_body_pose(glb *it, tal_body_ix body)
{
    const tal_scene *const scene = it->scene;
    const tal_matter *const matter = scene->model.matter;
    if (scene->num_runs > 0) {
        const int frames = scene->runs[0].frames;
        put_pose(&it->nodes,
                 tal_v3(pose_value(it, frames, body.i, 0, 0), pose_value(it, frames, body.i, 1, 0),
                        pose_value(it, frames, body.i, 2, 0)),
                 quaternion_at(it, frames, body.i, 0));
        return;
    }
    const tal_xform X_GP = tal_body_X_GB(matter, scene->state, tal_body_parent(matter, body));
    const tal_xform X_GB = tal_body_X_GB(matter, scene->state, body);
    const tal_xform X_PB = tal_xf_mul(tal_xf_inverse(X_GP), X_GB);
    put_pose(&it->nodes, X_PB.p, tal_rotation_to_qt(&X_PB.R));
}

// The node of a body.
static void put_body(glb *it, tal_body_ix body)
{
    const tal_matter *const matter = it->scene->model.matter;
    tali_scene_bytes *const out = &it->nodes;
    tali_scene_put_comma(out);
    tali_scene_put_text(out, "\n{");
    tali_scene_put_key(out, "name");
    tali_scene_put_string(out, tal_body_name(matter, body));
    if (body.i == 0) {
        const tal_mat3 turn = tal_rotation_from_two_axes(TAL_AXIS_Y, it->scene->up, TAL_AXIS_X,
                                                         tal_v3_perp(it->scene->up));
        const tal_mat3 back = tal_m3_transpose(turn);
        const bool is_up = fabs(it->scene->up.y - 1.0) < IS_UP;
        const tal_mat3 R = is_up ? TAL_MAT3_IDENTITY : back;
        put_pose(out, TAL_VEC3_ZERO, tal_rotation_to_qt(&R));
    } else {
        put_body_pose(it, body);
        tali_scene_put_key(out, "extras");
        tali_scene_put_text(out, "{");
        tali_scene_put_key(out, "mobilizer");
        tali_scene_put_string(out, tal_body_mobilizer(matter, body));
        tali_scene_put_key(out, "mass");
        tali_scene_put_number(out, tal_body_mass_props(matter, it->scene->state, body).mass);
        tali_scene_put_text(out, "}");
    }
    put_children(it, body.i);
    tali_scene_put_text(out, "}");
}

// ---- runs

static void put_channel(glb *it, int sampler, int body, const char *path)
{
    tali_scene_put_comma(&it->channels);
    tali_scene_put_text(&it->channels, "{");
    tali_scene_put_key(&it->channels, "sampler");
    tali_scene_put_integer(&it->channels, sampler);
    tali_scene_put_text(&it->channels, ",\"target\":{");
    tali_scene_put_key(&it->channels, "node");
    tali_scene_put_integer(&it->channels, body);
    tali_scene_put_key(&it->channels, "path");
    tali_scene_put_string(&it->channels, path);
    tali_scene_put_text(&it->channels, "}}");
}

static void put_sampler(glb *it, int input, int output)
{
    tali_scene_put_comma(&it->samplers);
    tali_scene_put_text(&it->samplers, "{");
    tali_scene_put_key(&it->samplers, "input");
    tali_scene_put_integer(&it->samplers, input);
    tali_scene_put_key(&it->samplers, "output");
    tali_scene_put_integer(&it->samplers, output);
    tali_scene_put_text(&it->samplers, "}");
}

// Times must grow: of frames at one time the last stays.
static bool is_kept(const double times[], int frames, int f)
{
    return f + 1 == frames || (float)times[f] < (float)times[f + 1];
}

static int put_times(glb *it, const double times[], int frames, int *count)
{
    const size_t begin = it->bin.size;
    double low = 0.0, high = 0.0;
    *count = 0;
    for (int f = 0; f < frames; ++f) {
        if (!is_kept(times, frames, f)) continue;
        high = (double)(float)(times[f] - times[0]);
        if (*count == 0) low = high;
        put_float(it, high);
        ++*count;
    }
    const accessor kind = {.type = "SCALAR",
                           .component = GL_FLOAT,
                           .count = *count,
                           .low = &low,
                           .high = &high,
                           .n = 1};
    return end_accessor(it, begin, &kind);
}

static bool is_constant(const glb *it, int frames, int body, int first, int last)
{
    for (int c = first; c <= last; ++c) {
        for (int f = 1; f < frames; ++f) {
            if (pose_value(it, frames, body, c, f) != pose_value(it, frames, body, c, 0)) {
                return false;
            }
        }
    }
    return true;
}

// Poses of a body through a run: translations, or rotations as x, y, z, w.
static int put_motion(glb *it, const double times[], int frames, int body, bool rotates, int count)
{
    const size_t begin = it->bin.size;
    for (int f = 0; f < frames; ++f) {
        if (!is_kept(times, frames, f)) continue;
        if (!rotates) {
            for (int k = 0; k < 3; ++k) {
                put_float(it, pose_value(it, frames, body, k, f));
            }
            continue;
        }
        const tal_quat h = quaternion_at(it, frames, body, f);
        put_float(it, h.x);
        put_float(it, h.y);
        put_float(it, h.z);
        put_float(it, h.w);
    }
    const accessor kind = {
        .type = rotates ? "VEC4" : "VEC3", .component = GL_FLOAT, .count = count};
    return end_accessor(it, begin, &kind);
}

// A run: what moves, each with its sampler.
static void put_animation(glb *it, const tali_scene_run *run, const double times[])
{
    const int frames = run->frames, bodies = tal_matter_num_bodies(it->scene->model.matter);
    int count = 0, samplers = 0;
    const int input = put_times(it, times, frames, &count);
    it->channels.size = it->samplers.size = 0;
    for (int b = 1; b < bodies; ++b) {
        for (int turn = 0; turn < 2; ++turn) {
            if (is_constant(it, frames, b, turn == 0 ? 0 : 3, turn == 0 ? 2 : 6)) continue;
            put_sampler(it, input, put_motion(it, times, frames, b, turn == 1, count));
            put_channel(it, samplers++, b, turn == 0 ? "translation" : "rotation");
        }
    }
    if (samplers == 0) return;
    tali_scene_put_comma(&it->animations);
    tali_scene_put_text(&it->animations, "\n{");
    tali_scene_put_key(&it->animations, "name");
    tali_scene_put_string(&it->animations, run->name);
    tali_scene_put_text(&it->animations, ",\"samplers\":[");
    tali_scene_put(&it->animations, it->samplers.at, it->samplers.size);
    tali_scene_put_text(&it->animations, "],\"channels\":[");
    tali_scene_put(&it->animations, it->channels.at, it->channels.size);
    tali_scene_put_text(&it->animations, "]}");
    it->failed = it->failed || it->channels.failed || it->samplers.failed;
}

// Do something with the decoded poses and times of a run.
static void with_run(glb *it, int run,
                     void (*then)(glb *it, const tali_scene_run *, const double[]))
{
    const tali_scene_run *const r = &it->scene->runs[run];
    const tal_allocator *const allocator = &it->scene->options.allocator;
    const size_t frames = (size_t)r->frames * sizeof(double);
    double *times = NULL;
    const tali_piece pieces[] = {{&it->values, (size_t)r->poses.channels * frames},
                                 {&times, frames}};
    size_t bytes = 0;
    void *block = tali_alloc_pieces(allocator, pieces, 2, &bytes);
    if (block == NULL) {
        it->failed = true;
        return;
    }
    tali_scene_decode(it->scene->data.at, &r->poses, it->values);
    tali_scene_decode(it->scene->data.at, &r->time, times);
    then(it, r, times);
    tali_free(allocator, block, bytes);
    it->values = NULL;
}

static void put_nodes(glb *it, const tali_scene_run *run, const double times[])
{
    (void)run;
    (void)times;
    for (int b = 0; b < tal_matter_num_bodies(it->scene->model.matter); ++b) {
        put_body(it, (tal_body_ix){b});
    }
    for (int i = 0; i < it->scene->num_shapes; ++i) {
        if (is_drawn(&it->scene->shapes[i])) put_shape(it, &it->scene->shapes[i]);
    }
}

// ---- the file

static void put_list(tali_scene_bytes *out, const char *key, const tali_scene_bytes *list)
{
    if (list->size == 0) return; // lists of glTF are not empty
    tali_scene_put_key(out, key);
    tali_scene_put_text(out, "[");
    tali_scene_put(out, list->at, list->size);
    tali_scene_put_text(out, "]");
}

// All lists together.
static void put_json(glb *it, tali_scene_bytes *out)
{
    tali_scene_put_text(out, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"talus ");
    tali_scene_put_text(out, tal_version_string());
    tali_scene_put_text(out, "\"},\"scene\":0,\"scenes\":[{");
    tali_scene_put_key(out, "name");
    tali_scene_put_string(out, it->scene->options.title);
    tali_scene_put_text(out, ",\"nodes\":[0]}]");
    put_list(out, "nodes", &it->nodes);
    put_list(out, "meshes", &it->meshes);
    put_list(out, "materials", &it->materials);
    put_list(out, "animations", &it->animations);
    put_list(out, "accessors", &it->accessors);
    put_list(out, "bufferViews", &it->views);
    if (it->bin.size > 0) {
        tali_scene_put_text(out, ",\"buffers\":[{");
        tali_scene_put_key(out, "byteLength");
        tali_scene_put_integer(out, (long long)it->bin.size);
        tali_scene_put_text(out, "}]");
    }
    tali_scene_put_text(out, "}");
    tali_scene_pad(out, ' ');
}

// Header, the JSON and the binary part, each with its length and type.
static void put_chunks(const tali_scene_bytes *json, const tali_scene_bytes *bin,
                       tali_scene_bytes *out)
{
    const size_t behind = bin->size > 0 ? 8 + bin->size : 0;
    tali_scene_put(out, "glTF", 4);
    put_u32(out, 2);
    put_u32(out, (uint32_t)(12 + 8 + json->size + behind));
    put_u32(out, (uint32_t)json->size);
    tali_scene_put(out, "JSON", 4);
    tali_scene_put(out, json->at, json->size);
    if (behind == 0) return;
    put_u32(out, (uint32_t)bin->size);
    tali_scene_put(out, "BIN\0", 4);
    tali_scene_put(out, bin->at, bin->size);
}

tal_status tali_scene_put_glb(const tal_scene *scene, tali_scene_bytes *out, tal_error *err)
{
    glb it = {.scene = scene};
    tali_scene_bytes json = {.allocator = scene->options.allocator};
    tali_scene_bytes *const parts[] = {&it.bin,      &it.views,     &it.accessors,
                                       &it.meshes,   &it.materials, &it.nodes,
                                       &it.channels, &it.samplers,  &it.animations};
    const size_t num_parts = sizeof parts / sizeof *parts;
    for (size_t i = 0; i < num_parts; ++i) {
        parts[i]->allocator = scene->options.allocator;
    }
    if (scene->num_runs > 0) {
        with_run(&it, 0, put_nodes);
    } else {
        put_nodes(&it, NULL, NULL);
    }
    for (int r = 0; r < scene->num_runs && !it.failed; ++r) {
        if (scene->runs[r].frames > 1) with_run(&it, r, put_animation);
    }
    put_json(&it, &json);
    bool failed = it.failed || json.failed;
    for (size_t i = 0; i < num_parts; ++i) {
        failed = failed || parts[i]->failed;
    }
    const bool is_too_long = it.bin.size + json.size > UINT32_MAX - 1024;
    if (!failed && !is_too_long) put_chunks(&json, &it.bin, out);
    for (size_t i = 0; i < num_parts; ++i) {
        tali_scene_bytes_free(parts[i]);
    }
    tali_scene_bytes_free(&json);
    tali_free(&scene->options.allocator, it.geometries,
              (size_t)it.geometries_capacity * sizeof *it.geometries);
    if (failed) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "memory ran out");
    if (is_too_long) return TALI_FAIL(err, TAL_ERR_CAPACITY, "a .glb file has at most 4 GB");
    return TAL_OK;
}
