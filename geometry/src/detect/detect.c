// Finding contacts: the table of pairs of shapes, and the way from surfaces to contacts.
#include "alloc_internal.h"
#include "error_internal.h"

#include "detect/detect_solid_internal.h"

#include <assert.h>

// ---- the table

typedef struct pair_rule {
    tali_detect_narrow_fn find; // NULL: not supported
    int max_points;             // 0: made of faces
    bool has_faces;             // or may be
} pair_rule;

#define POINTS(find, most)                                                                         \
    {                                                                                              \
        (find), (most), false                                                                      \
    }
#define FACES(find)                                                                                \
    {                                                                                              \
        (find), 0, true                                                                            \
    }
#define BOTH(find, most)                                                                           \
    {                                                                                              \
        (find), (most), true                                                                       \
    }

// First index: the kind that comes first in the enum.
static const pair_rule rules[TAL_NUM_SHAPE_KINDS][TAL_NUM_SHAPE_KINDS] = {
    [TAL_SHAPE_HALF_SPACE] =
        {
            [TAL_SHAPE_SPHERE] = POINTS(tali_detect_half_space_sphere, 1),
            [TAL_SHAPE_ELLIPSOID] = POINTS(tali_detect_half_space_ellipsoid, 1),
            [TAL_SHAPE_CYLINDER] = POINTS(tali_detect_half_space_cylinder, 6),
            [TAL_SHAPE_BRICK] = POINTS(tali_detect_half_space_brick, 8),
            [TAL_SHAPE_TORUS] = POINTS(tali_detect_half_space_torus, 3),
            [TAL_SHAPE_MESH] = FACES(tali_detect_half_space_mesh),
        },
    [TAL_SHAPE_SPHERE] =
        {
            [TAL_SHAPE_SPHERE] = POINTS(tali_detect_sphere_sphere, 1),
            [TAL_SHAPE_ELLIPSOID] = POINTS(tali_detect_sphere_solid, 1),
            [TAL_SHAPE_CYLINDER] = POINTS(tali_detect_sphere_solid, 1),
            [TAL_SHAPE_BRICK] = POINTS(tali_detect_sphere_solid, 1),
            [TAL_SHAPE_TORUS] = POINTS(tali_detect_sphere_torus, 3),
            [TAL_SHAPE_MESH] = FACES(tali_detect_sphere_mesh),
        },
    [TAL_SHAPE_ELLIPSOID] =
        {
            [TAL_SHAPE_ELLIPSOID] = POINTS(tali_detect_ellipsoids, 1),
            [TAL_SHAPE_CYLINDER] = BOTH(tali_detect_ellipsoid_cylinder, 1),
            [TAL_SHAPE_BRICK] = FACES(tali_detect_solids),
            [TAL_SHAPE_TORUS] = FACES(tali_detect_solids),
            [TAL_SHAPE_MESH] = FACES(tali_detect_solid_mesh),
        },
    [TAL_SHAPE_CYLINDER] =
        {
            [TAL_SHAPE_CYLINDER] = BOTH(tali_detect_cylinders, 5),
            [TAL_SHAPE_BRICK] = FACES(tali_detect_solids),
            [TAL_SHAPE_TORUS] = FACES(tali_detect_solids),
            [TAL_SHAPE_MESH] = FACES(tali_detect_solid_mesh),
        },
    [TAL_SHAPE_BRICK] =
        {
            [TAL_SHAPE_BRICK] = FACES(tali_detect_solids),
            [TAL_SHAPE_TORUS] = FACES(tali_detect_solids),
            [TAL_SHAPE_MESH] = FACES(tali_detect_solid_mesh),
        },
    [TAL_SHAPE_TORUS] =
        {
            [TAL_SHAPE_TORUS] = FACES(tali_detect_solids),
            [TAL_SHAPE_MESH] = FACES(tali_detect_solid_mesh),
        },
    [TAL_SHAPE_MESH] = {[TAL_SHAPE_MESH] = FACES(tali_detect_mesh_mesh)},
};

static pair_rule rule_for(tal_shape_kind a, tal_shape_kind b)
{
    const int i = (int)a, j = (int)b;
    const bool are_kinds = i >= 0 && i < TAL_NUM_SHAPE_KINDS && j >= 0 && j < TAL_NUM_SHAPE_KINDS;
    if (!are_kinds) return (pair_rule){NULL, 0, false};
    return i <= j ? rules[i][j] : rules[j][i];
}

bool tal_shape_can_touch(tal_shape_kind a, tal_shape_kind b)
{
    return rule_for(a, b).find != NULL;
}

int tali_detect_pair_max_points(tal_shape_kind a, tal_shape_kind b)
{
    return rule_for(a, b).max_points;
}

bool tali_detect_pair_has_faces(tal_shape_kind a, tal_shape_kind b)
{
    return rule_for(a, b).has_faces;
}

int tali_detect_num_faces(const tal_shape *shape)
{
    if (shape->kind == TAL_SHAPE_MESH) return tal_mesh_num_faces(shape->mesh);
    return tali_detect_num_facets(shape->kind);
}

tal_status tali_detect_check(const tali_detect_surface surfaces[], int num_surfaces, tal_error *err)
{
    if (err != NULL) *err = (tal_error){.status = TAL_OK};
    for (int i = 0; i < num_surfaces; ++i) {
        const tal_status st = tal_shape_check(&surfaces[i].shape, surfaces[i].name, err);
        if (st != TAL_OK) return st;
    }
    for (int i = 0; i < num_surfaces; ++i) {
        for (int j = i + 1; j < num_surfaces; ++j) {
            const tali_detect_surface *a = &surfaces[i], *b = &surfaces[j];
            if (!tali_detect_may_meet(a, b)) continue;
            if (tal_shape_can_touch(a->shape.kind, b->shape.kind)) continue;
            return TALI_FAIL(
                err, TAL_ERR_BAD_VALUE,
                "%s '%s' cannot touch %s '%s': where they meet has no end; put them in one clique",
                tal_shape_kind_name(a->shape.kind), a->name, tal_shape_kind_name(b->shape.kind),
                b->name);
        }
    }
    return TAL_OK;
}

// ---- the store

// The bytes of the store's arrays; their addresses are set unless `block` is NULL.
static size_t place(tali_detect_store *store, void *block, int num_surfaces)
{
    const size_t n = (size_t)num_surfaces, pairs = (size_t)store->limits.pairs;
    const tali_piece pieces[] = {
        {&store->contacts, pairs * sizeof *store->contacts},
        {&store->points, (size_t)store->limits.points * sizeof *store->points},
        {&store->faces, (size_t)store->limits.faces * sizeof *store->faces},
        {&store->pairs, pairs * sizeof *store->pairs},
        {&store->entries, 2 * n * sizeof *store->entries},
        {&store->strips, 2 * n * sizeof *store->strips},
        {&store->starts, (2 * n + 3) * sizeof *store->starts},
        {&store->keys, 2 * (n > pairs ? n : pairs) * sizeof *store->keys},
    };
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], block);
}

size_t tali_detect_store_size(int num_surfaces, const tali_detect_limits *limits)
{
    tali_detect_store store = {.limits = *limits};
    return place(&store, NULL, num_surfaces);
}

tali_detect_store tali_detect_store_at(void *block, int num_surfaces,
                                       const tali_detect_limits *limits)
{
    tali_detect_store store = {.limits = *limits};
    (void)place(&store, block, num_surfaces);
    return store;
}

void tali_detect_sink_point(tali_detect_sink *sink, tali_detect_point point)
{
    tali_detect_store *store = sink->store;
    if (sink->is_swapped) {
        point.n_G = tal_v3_neg(point.n_G);
        point.turn_G = tal_v3_neg(point.turn_G);
    }
    if (store->num_points < store->limits.points) store->points[store->num_points] = point;
    ++store->num_points;
}

void tali_detect_sink_face(tali_detect_sink *sink, tali_detect_face face)
{
    tali_detect_store *store = sink->store;
    if (sink->is_swapped) {
        face.n_G = tal_v3_neg(face.n_G);
        face.surface = 1 - face.surface;
    }
    if (store->num_faces < store->limits.faces) store->faces[store->num_faces] = face;
    ++store->num_faces;
}

// ---- detection

static void look_at(const tali_detect_surface surfaces[], const tal_xform X_GS[],
                    tali_detect_pair pair, tali_detect_store *store)
{
    const tali_detect_placed one = {&surfaces[pair.a].shape, &X_GS[pair.a]};
    const tali_detect_placed two = {&surfaces[pair.b].shape, &X_GS[pair.b]};
    const pair_rule rule = rule_for(one.shape->kind, two.shape->kind);
    assert(rule.find != NULL);
    tali_detect_sink sink = {store, one.shape->kind > two.shape->kind};
    const int points = store->num_points, faces = store->num_faces;
    rule.find(sink.is_swapped ? &two : &one, sink.is_swapped ? &one : &two, &sink);
    const bool is_patch = store->num_faces > faces;
    const int first = is_patch ? faces : points;
    const int count = (is_patch ? store->num_faces : store->num_points) - first;
    if (count == 0) return;
    store->contacts[store->num_contacts++] =
        (tali_detect_contact){{pair.a, pair.b}, is_patch, first, count};
}

static tal_status fail_capacity(const char *subject, int needed, int limit, tal_error *err)
{
    return TALI_FAIL(
        err, TAL_ERR_CAPACITY,
        "contact needs room for %d %s but has room for %d: increase the capacity of %s", needed,
        subject, limit, subject);
}

tal_status tali_detect_contacts(const tali_detect_surface surfaces[], int num_surfaces,
                                const tal_xform X_GS[], tali_detect_store *store, tal_error *err)
{
    if (err != NULL) *err = (tal_error){.status = TAL_OK};
    store->num_pairs = store->num_contacts = store->num_points = store->num_faces = 0;
    for (int s = 0; s < num_surfaces; ++s) {
        if (tal_xf_is_finite(X_GS[s])) continue;
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "the pose of surface '%s' is not finite",
                         surfaces[s].name);
    }
    const tali_detect_limits *limits = &store->limits;
    const int num_pairs = tali_detect_find_pairs(surfaces, num_surfaces, X_GS, store);
    if (num_pairs > limits->pairs) return fail_capacity("pairs", num_pairs, limits->pairs, err);
    store->num_pairs = num_pairs;
    for (int i = 0; i < num_pairs; ++i) {
        look_at(surfaces, X_GS, store->pairs[i], store);
    }
    if (store->num_points > limits->points) {
        return fail_capacity("points", store->num_points, limits->points, err);
    }
    if (store->num_faces > limits->faces) {
        return fail_capacity("faces", store->num_faces, limits->faces, err);
    }
    return TAL_OK;
}
