// A few surfaces, where they are, and what the contact detector makes of them.
#ifndef TALUS_DETECT_SCENE_H
#define TALUS_DETECT_SCENE_H

#include "detect_internal.h"

#include "talus_test.h"

#include <stdlib.h>

enum {
    SCENE_MAX = 16
};

typedef struct scene {
    tali_detect_surface surfaces[SCENE_MAX];
    tal_xform X_GS[SCENE_MAX];
    int n;
    tali_detect_store store;
    void *block;
} scene;

static inline void scene_alloc(scene *s, tali_detect_limits limits)
{
    const size_t size = tali_detect_store_size(SCENE_MAX, &limits);
    s->block = aligned_alloc(TAL_ALIGNMENT, (size + TAL_ALIGNMENT) / TAL_ALIGNMENT * TAL_ALIGNMENT);
    ck_assert_ptr_nonnull(s->block);
    s->store = tali_detect_store_at(s->block, SCENE_MAX, &limits);
}

static inline scene scene_begin(void)
{
    scene s = {.n = 0};
    scene_alloc(&s, (tali_detect_limits){SCENE_MAX * SCENE_MAX, 1000, 100000});
    return s;
}

static inline void scene_end(scene *s)
{
    free(s->block);
}

/// Add a surface on a body of its own; its index.
static inline int scene_add(scene *s, tal_shape shape, tal_xform X_GS)
{
    static const char *const names[SCENE_MAX] = {"s0",  "s1",  "s2",  "s3", "s4",  "s5",
                                                 "s6",  "s7",  "s8",  "s9", "s10", "s11",
                                                 "s12", "s13", "s14", "s15"};
    s->surfaces[s->n] = (tali_detect_surface){names[s->n], shape, s->n, 0};
    s->X_GS[s->n] = X_GS;
    return s->n++;
}

/// Detect; the first contact, or NULL.
static inline const tali_detect_contact *scene_detect(scene *s)
{
    tal_error err = {.status = TAL_OK};
    const tal_status st = tali_detect_contacts(s->surfaces, s->n, s->X_GS, &s->store, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return s->store.num_contacts > 0 ? s->store.contacts : NULL;
}

/// Exchange two surfaces.
static inline void scene_exchange(scene *s, int i, int j)
{
    const tali_detect_surface surface = s->surfaces[i];
    const tal_xform X = s->X_GS[i];
    s->surfaces[i] = s->surfaces[j];
    s->X_GS[i] = s->X_GS[j];
    s->surfaces[j] = surface;
    s->X_GS[j] = X;
}

/// A half-space whose surface passes through p with outward unit normal m, turned about it at
/// random.
static inline tal_xform scene_plane(test_rng *rng, tal_vec3 p, tal_vec3 m)
{
    const tal_vec3 x = tal_v3_neg(m), e = tal_v3_perp(x), f = tal_v3_cross(x, e);
    const double angle = test_random_uniform(rng, 0.0, 6.28);
    const tal_vec3 y = tal_v3_axpy(cos(angle), e, tal_v3_scale(sin(angle), f));
    return tal_xf(tal_m3(x, y, tal_v3_cross(x, y)), p);
}

/// Meshes that cannot fail.
static inline tal_mesh *mesh_of_sphere(double radius, int level)
{
    tal_mesh *mesh = NULL;
    tal_error err;
    const tal_status st = tal_mesh_create_sphere(NULL, radius, level, &mesh, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return mesh;
}

static inline tal_mesh *mesh_of_brick(tal_vec3 half, int nx, int ny, int nz)
{
    tal_mesh *mesh = NULL;
    tal_error err;
    const int n[3] = {nx, ny, nz};
    const tal_status st = tal_mesh_create_brick(NULL, half, n, &mesh, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return mesh;
}

#endif // TALUS_DETECT_SCENE_H
