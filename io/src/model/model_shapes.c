// What elements with a shape have in common: attributes of each kind, and cliques.
#include "model/model_write_internal.h"

#include <math.h>

// ---- shapes

const tali_model_attribute tali_model_sphere_attributes[] = {
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"}, {.name = NULL}};
const tali_model_attribute tali_model_ellipsoid_attributes[] = {
    {"radii", TALI_TYPE_REAL, 3, .flags = TALI_POSITIVE_NUMBER, .doc = "along x, y, z [m]"},
    {.name = NULL}};
const tali_model_attribute tali_model_cylinder_attributes[] = {
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {"half_length", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {"rim_radius", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "of its rounded rims [m]; as large as `radius`: a capsule"},
    {.name = NULL}};
const tali_model_attribute tali_model_brick_attributes[] = {
    {"half_lengths", TALI_TYPE_REAL, 3, .flags = TALI_POSITIVE_NUMBER, .doc = "along x, y, z [m]"},
    {"corner_radius", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "of its rounded corners [m]"},
    {.name = NULL}};
const tali_model_attribute tali_model_torus_attributes[] = {
    {"ring_radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {"tube_radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {.name = NULL}};

bool tali_model_make_shape(tali_model *m, tali_model_item *item, tal_shape_kind kind,
                           const double p[], tal_shape *shape)
{
    switch (kind) {
    case TAL_SHAPE_HALF_SPACE:
        *shape = tal_shape_half_space();
        return true;
    case TAL_SHAPE_SPHERE:
        *shape = tal_shape_sphere(p[0]);
        return true;
    case TAL_SHAPE_ELLIPSOID:
        *shape = tal_shape_ellipsoid(tali_model_vec3_at(p));
        return true;
    case TAL_SHAPE_CYLINDER:
        *shape = tal_shape_cylinder(p[0], p[1], p[2]);
        return true;
    case TAL_SHAPE_BRICK:
        *shape = tal_shape_brick(tali_model_vec3_at(p), p[3]);
        return true;
    case TAL_SHAPE_TORUS:
        *shape = tal_shape_torus(p[0], p[1]);
        return true;
    case TAL_SHAPE_MESH:
    default:
        *shape = tal_shape_mesh(tali_model_keep_mesh(m, item));
        return shape->mesh != NULL;
    }
}

void tali_model_say_shape(tali_model_description *d, const tal_shape *shape)
{
    const int sizes[TAL_NUM_SHAPE_KINDS] = {0, 1, 3, 2, 3, 2, 0}; // in the order of tal_shape_kind
    tali_model_say_numbers(d, &shape->size.x, sizes[shape->kind]);
    tali_model_say_number(d, shape->edge_radius);
}

// ---- cliques: a set of up to 64 numbers from 1, the first list of an item

enum {
    MOST_CLIQUES = 64
};

void tali_model_check_cliques(tali_model *m, tali_model_item *item)
{
    for (int i = 0; i < item->lists[0].count; ++i) {
        const double clique = item->lists[0].values[i];
        if (clique >= 1.0 && clique <= MOST_CLIQUES && clique == floor(clique)) continue;
        tali_model_item_error(m, item, "cliques",
                              ": '%g' is not a clique; cliques are numbered from 1 to %d", clique,
                              MOST_CLIQUES);
        return;
    }
}

uint64_t tali_model_cliques_of(const tali_model_item *item)
{
    uint64_t cliques = 0;
    for (int i = 0; i < item->lists[0].count; ++i) {
        cliques |= UINT64_C(1) << ((int)item->lists[0].values[i] - 1);
    }
    return cliques;
}

void tali_model_say_cliques(tali_model_description *d, uint64_t cliques)
{
    double *list = tali_model_keep_values(d, MOST_CLIQUES);
    int count = 0;
    for (int i = 0; i < MOST_CLIQUES; ++i) {
        if ((cliques >> i & 1) != 0) list[count++] = i + 1;
    }
    tali_model_say_values(d, list, count);
}
