// What is shared by everything that pushes two bodies apart at one point, and by the elements that
// act between a station of one body and a plane of another.
#ifndef TALUS_FORCES_ON_PLANE_INTERNAL_H
#define TALUS_FORCES_ON_PLANE_INTERNAL_H

#include "core/element_internal.h"

/// Velocity of body 1 relative to body 2 at a point of both, in Ground.
static inline tal_vec3 tali_on_plane_relative_velocity(const tal_bodies_view *poses,
                                                       const tal_bodies_view *velocities,
                                                       const int body[2], tal_vec3 p_G)
{
    tal_vec3 v[2];
    for (int k = 0; k < 2; ++k) {
        const tal_spatial_vec *V_GM = tal_view_V_GM(velocities, body[k]);
        const tal_vec3 p_MP_G = tal_v3_sub(p_G, tal_view_X_GM(poses, body[k])->p);
        v[k] = tal_v3_add(V_GM->v, tal_v3_cross(V_GM->w, p_MP_G));
    }
    return tal_v3_sub(v[0], v[1]);
}

/// Apply a moment and a force at a point to body 1, and the opposite to body 2.
static inline void tali_on_plane_push_apart(const tal_bodies_view *poses, const int body[2],
                                            tal_vec3 p_G, tal_spatial_vec on_1, tal_spatial_vec F[])
{
    const tal_vec3 p1 = tal_v3_sub(p_G, tal_view_X_GM(poses, body[0])->p);
    const tal_vec3 p2 = tal_v3_sub(p_G, tal_view_X_GM(poses, body[1])->p);
    F[body[0]] = tal_sv_add(F[body[0]], tal_sv_shift_force(on_1, p1));
    F[body[1]] = tal_sv_sub(F[body[1]], tal_sv_shift_force(on_1, p2));
}

/// Two bodies at one point of both, in a small motion.
typedef struct tali_on_plane_drift {
    tal_vec3 dp[2]; ///< of the points fixed on the bodies that are there
    tal_vec3 v;     ///< velocity of body 1 relative to body 2 there
    tal_vec3 dv;    ///< its change as the point moves by dp_G
} tali_on_plane_drift;

/// How a point fixed on a body moves.
static inline tal_vec3 tali_on_plane_shift(const tal_bodies_view *poses,
                                           const tal_force_change *change, int body, tal_vec3 p_G)
{
    const tal_vec3 p_MP_G = tal_v3_sub(p_G, tal_view_X_GM(poses, body)->p);
    return tal_v3_add(change->dX[body].v, tal_v3_cross(change->dX[body].w, p_MP_G));
}

/// What the point p_G, which moves by dp_G, sees. With r from Mo, v_P = v_M + w x r changes by
/// dv_M + dw x r + w x dr.
static inline tali_on_plane_drift tali_on_plane_drift_at(const tal_force_context *context,
                                                         const tal_force_change *change,
                                                         const int body[2], tal_vec3 p_G,
                                                         tal_vec3 dp_G)
{
    tali_on_plane_drift at;
    tal_vec3 dv[2];
    for (int k = 0; k < 2; ++k) {
        const int b = body[k];
        const tal_vec3 r = tal_v3_sub(p_G, tal_view_X_GM(&context->poses, b)->p);
        const tal_vec3 dr = tal_v3_sub(dp_G, change->dX[b].v);
        const tal_vec3 w = tal_view_V_GM(&context->velocities, b)->w;
        at.dp[k] = tal_v3_add(change->dX[b].v, tal_v3_cross(change->dX[b].w, r));
        dv[k] = tal_v3_add(change->dV[b].v, tal_v3_cross(change->dV[b].w, r));
        dv[k] = tal_v3_add(dv[k], tal_v3_cross(w, dr));
    }
    at.v = tali_on_plane_relative_velocity(&context->poses, &context->velocities, body, p_G);
    at.dv = tal_v3_sub(dv[0], dv[1]);
    return at;
}

/// The change of tali_on_plane_push_apart() as the point moves by dp_G and what acts changes by
/// d_on_1, which is about the moving point.
static inline void tali_on_plane_change_push(const tal_bodies_view *poses,
                                             const tal_force_change *change, const int body[2],
                                             tal_vec3 p_G, tal_vec3 dp_G, tal_vec3 f_G,
                                             tal_spatial_vec d_on_1, tal_spatial_vec dF[])
{
    for (int k = 0; k < 2; ++k) {
        const int b = body[k];
        const tal_vec3 r = tal_v3_sub(p_G, tal_view_X_GM(poses, b)->p);
        const tal_vec3 dr = tal_v3_sub(dp_G, change->dX[b].v);
        const tal_spatial_vec shifted = tal_sv_shift_force(d_on_1, r);
        const tal_spatial_vec d = tal_sv(tal_v3_add(shifted.w, tal_v3_cross(dr, f_G)), shifted.v);
        dF[b] = k == 0 ? tal_sv_add(dF[b], d) : tal_sv_sub(dF[b], d);
    }
}

/// Begins the struct of an element between a station S of body 1 and a plane frame F of body 2. Its
/// first parameters are the station, then the frame (rotation by columns, origin).
typedef struct tali_on_plane {
    tali_force_element base;
    int body[2];
} tali_on_plane;

enum {
    TALI_ON_PLANE_STATION = 0,
    TALI_ON_PLANE_FRAME = 3,
    TALI_ON_PLANE_END = 15
};

// clang-format off
#define TALI_ON_PLANE_PARAMS                                                                       \
    {"station x", TALI_FINITE}, {"station y", TALI_FINITE}, {"station z", TALI_FINITE},            \
    {"plane", TALI_FINITE}, {"plane", TALI_FINITE}, {"plane", TALI_FINITE},                        \
    {"plane", TALI_FINITE}, {"plane", TALI_FINITE}, {"plane", TALI_FINITE},                        \
    {"plane", TALI_FINITE}, {"plane", TALI_FINITE}, {"plane", TALI_FINITE},                        \
    {"plane", TALI_FINITE}, {"plane", TALI_FINITE}, {"plane", TALI_FINITE}

// clang-format on

/// Where the station is.
typedef struct tali_on_plane_view {
    tal_mat3 R_GF;
    tal_vec3 p_GS, p_FS_F;
} tali_on_plane_view;

tal_status tali_on_plane_declare(void *self, tal_forces *forces, tal_force_ix me);
tal_status tali_on_plane_realize_instance(const void *self, const tal_force_context *context);
tali_on_plane_view tali_on_plane_look(const tali_on_plane *it, const tal_force_context *context);
void tali_on_plane_fill_facts(const void *self, tali_force_facts *facts);

/**
 * Add such an element: check the bodies, fill in station and frame, and hand over.
 *
 * @param[in]     like    begins with a tali_on_plane whose bodies are set; copied
 * @param[in,out] params  initial values of all except station and frame
 */
tal_force_ix tali_on_plane_add(tal_forces *forces, const char *name, const tali_force_kind *kind,
                               tali_on_plane *like, size_t size, tal_vec3 p_BS,
                               const tal_xform *X_BF, double params[]);

/// What is wrong with the frame; NULL: nothing.
const char *tali_on_plane_check(const double params[]);

#endif // TALUS_FORCES_ON_PLANE_INTERNAL_H
