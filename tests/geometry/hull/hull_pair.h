// Two solids and what lies between them, for tests of hulls; solids at random.
#ifndef TALUS_HULL_PAIR_H
#define TALUS_HULL_PAIR_H

#include "talus_test.h"

#include <talus/geometry.h>

#include <float.h>
#include <stdlib.h>

enum {
    MOST_POINTS = 64,
    WORK = 4000
};

// Sizes and positions are about 1 and a distance takes some hundred operations.
#define ROUND 1e-12

typedef struct two {
    tal_hull *a, *b;
    tal_xform X_GA, X_GB;
    tal_touch touch;
    tal_touch_point points[MOST_POINTS];
    double work[WORK];
} two;

static inline tal_hull *make(tal_shape shape)
{
    tal_hull *hull = NULL;
    tal_error err = {.status = TAL_OK};
    const tal_status st = tal_hull_create(NULL, &shape, "it", &hull, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return hull;
}

static inline two begin(tal_shape a, tal_shape b)
{
    return (two){
        .a = make(a), .b = make(b), .X_GA = TAL_XFORM_IDENTITY, .X_GB = TAL_XFORM_IDENTITY};
}

static inline void end(two *t)
{
    tal_hull_destroy(t->a);
    tal_hull_destroy(t->b);
}

// No more work memory is touched than was asked for.
static inline void ask(two *t, double reach)
{
    bool is_kept = true;
    const size_t size = tal_touch_work_size(t->a, t->b);
    ck_assert_uint_le(size, WORK);
    for (size_t i = size; i < WORK; ++i) {
        t->work[i] = -7.0;
    }
    ck_assert_int_eq(tal_hull_calc_touch(t->a, &t->X_GA, t->b, &t->X_GB, reach, t->points,
                                         MOST_POINTS, t->work, &t->touch),
                     TAL_OK);
    for (size_t i = size; i < WORK; ++i) {
        is_kept = is_kept && t->work[i] == -7.0;
    }
    ck_assert(is_kept);
}

static inline void exchange(two *t)
{
    tal_hull *hull = t->a;
    const tal_xform X = t->X_GA;
    t->a = t->b;
    t->X_GA = t->X_GB;
    t->b = hull;
    t->X_GB = X;
}

// A half-space whose outward normal is z, as b.
static inline tal_xform floor_at(double z)
{
    return tal_xf(tal_rotation_about(TAL_AXIS_Y, 0.5 * TAL_PI), tal_v3(0.0, 0.0, z));
}

// ---- random solids

static inline tal_mesh *random_mesh(test_rng *rng)
{
    tal_mesh *sphere = NULL, *mesh = NULL;
    ck_assert_int_eq(tal_mesh_create_sphere(NULL, 1.0, 0, &sphere, NULL), TAL_OK);
    tal_vec3 vertices[12];
    int faces[60];
    const tal_vec3 stretch =
        tal_v3(test_random_uniform(rng, 0.3, 1.0), test_random_uniform(rng, 0.3, 1.0),
               test_random_uniform(rng, 0.3, 1.0));
    for (int i = 0; i < 12; ++i) {
        vertices[i] =
            tal_v3_add(tal_v3_mul(stretch, tal_mesh_vertex(sphere, i)), tal_v3(0.1, -0.2, 0.3));
    }
    for (int f = 0; f < 20; ++f) {
        tal_mesh_face(sphere, f, faces + 3 * f);
    }
    ck_assert_int_eq(tal_mesh_create(NULL, vertices, 12, faces, 20, &mesh, NULL), TAL_OK);
    tal_mesh_destroy(sphere);
    return mesh;
}

// A sphere, a capsule, a brick, a rounded brick or a mesh.
static inline tal_hull *random_hull(test_rng *rng, int kind)
{
    const double a = test_random_uniform(rng, 0.2, 1.0), b = test_random_uniform(rng, 0.2, 1.0);
    const double c = test_random_uniform(rng, 0.2, 1.0);
    if (kind == 0) return make(tal_shape_sphere(a));
    if (kind == 1) return make(tal_shape_capsule(0.5 * a, 0.5 * a + b));
    if (kind == 2) return make(tal_shape_brick(tal_v3(a, b, c), 0.0));
    if (kind == 3) return make(tal_shape_brick(tal_v3(a, b, c), 0.1));
    tal_mesh *mesh = random_mesh(rng);
    tal_hull *hull = make(tal_shape_mesh(mesh));
    tal_mesh_destroy(mesh);
    return hull;
}

enum {
    NUM_KINDS = 5
};

static inline void random_two(test_rng *rng, int trial, double spread, two *t)
{
    *t = (two){.a = random_hull(rng, trial % NUM_KINDS),
               .b = random_hull(rng, trial / NUM_KINDS % NUM_KINDS)};
    t->X_GA = tal_xf(test_random_rotation(rng), test_random_vec3(rng));
    t->X_GB =
        tal_xf(test_random_rotation(rng), tal_v3_axpy(spread, test_random_unit(rng), t->X_GA.p));
}

#endif // TALUS_HULL_PAIR_H
