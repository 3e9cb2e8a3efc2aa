// Forces at points, as functions of where they are, and forces along two coordinates.
#include "point_law.h"

#include <stdlib.h>
#include <string.h>

// --- forces at points ---

// As it is added: where S is on B's frame M is found once, when parameters are known.
typedef struct element {
    point_law it;
    tal_cache_ix p_MS; // tal_vec3
    tal_cache_ix now;  // point_at
} element;

// S at one instant.
typedef struct point_at {
    tal_vec3 r_B, r_A; // from Mo of B and of A to S, in Ground
    tal_vec3 rate;     // of S in A, expressed in Ground
    tal_mat3 R_GA;
    point_force force; // in A
    tal_vec3 F;        // in Ground
} point_at;

static tal_status point_declare(void *self, tal_forces *forces, tal_force_ix me)
{
    element *e = self;
    tal_cache_def station = tal_cache_def_default();
    station.name = "station";
    station.size = sizeof(tal_vec3);
    station.computed_by = TAL_STAGE_INSTANCE;
    e->p_MS = tal_force_add_cache(forces, me, &station);
    tal_cache_def now = tal_cache_def_default();
    now.name = "now";
    now.size = sizeof(point_at);
    now.depends_on = TAL_STAGE_VELOCITY;
    e->now = tal_force_add_cache(forces, me, &now);
    return TAL_OK;
}

static tal_status point_instance(const void *self, const tal_force_context *context)
{
    const element *e = self;
    tal_vec3 *p_MS = tal_cache_upd(context->system, context->state, e->p_MS);
    if (p_MS == NULL) return TAL_ERR_STAGE;
    *p_MS = tal_xf_apply(tal_body_X_MB(context->matter, context->state, e->it.B), e->it.p_BS);
    return tal_cache_mark_valid(context->system, context->state, e->p_MS);
}

static point_at find_point(const element *e, const tal_force_context *context)
{
    const point_law *it = &e->it;
    const tal_vec3 *p_MS = tal_cache_value(context->system, context->state, e->p_MS);
    const tal_xform *X_GB = tal_view_X_GM(&context->poses, it->B.i);
    const tal_xform *X_GA = tal_view_X_GM(&context->poses, it->A.i);
    const tal_spatial_vec V_GB = *tal_view_V_GM(&context->velocities, it->B.i);
    const tal_spatial_vec V_GA = *tal_view_V_GM(&context->velocities, it->A.i);
    point_at at = {.R_GA = X_GA->R};
    at.r_B = tal_m3_mul_v3(X_GB->R, *p_MS);
    at.r_A = tal_v3_sub(tal_v3_add(X_GB->p, at.r_B), X_GA->p);
    at.rate = tal_v3_sub(tal_v3_add(V_GB.v, tal_v3_cross(V_GB.w, at.r_B)),
                         tal_v3_add(V_GA.v, tal_v3_cross(V_GA.w, at.r_A)));
    at.force =
        it->law(it->params, tal_m3_tmul_v3(at.R_GA, at.r_A), tal_m3_tmul_v3(at.R_GA, at.rate));
    at.F = tal_m3_mul_v3(at.R_GA, at.force.F);
    return at;
}

// The law is evaluated once for each instant, and its slopes kept for all directions of change.
static const point_at *point_now(const element *e, const tal_force_context *context)
{
    if (tal_cache_is_valid(context->system, context->state, e->now)) {
        return tal_cache_value(context->system, context->state, e->now);
    }
    point_at *at = tal_cache_upd(context->system, context->state, e->now);
    if (at == NULL) return NULL;
    *at = find_point(e, context);
    (void)tal_cache_mark_valid(context->system, context->state, e->now);
    return at;
}

static void add(tal_spatial_vec *F_GM, double sign, tal_vec3 moment, tal_vec3 force)
{
    F_GM->w = tal_v3_add(F_GM->w, tal_v3_scale(sign, moment));
    F_GM->v = tal_v3_add(F_GM->v, tal_v3_scale(sign, force));
}

static tal_status point_apply(const void *self, const tal_force_context *context,
                              tal_spatial_vec F_GM[], double f[])
{
    (void)f;
    const point_law *it = &((const element *)self)->it;
    const point_at *at = point_now(self, context);
    if (at == NULL) return TAL_ERR_STAGE;
    add(&F_GM[it->B.i], 1.0, tal_v3_cross(at->r_B, at->F), at->F);
    add(&F_GM[it->A.i], -1.0, tal_v3_cross(at->r_A, at->F), at->F);
    return TAL_OK;
}

// A turn th of A and a shift of S in A change F = R_GA law(p, v):
//
//     dp = dp_S - dp_A - th x p       dv = dv_S - dv_A - dw x r - w x dr - th x v
//     dF = th x F + R (K R^T dp + C R^T dv)
static tal_status point_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF_GM[], double df[])
{
    (void)df;
    const point_law *it = &((const element *)self)->it;
    const point_at *at = point_now(self, context);
    if (at == NULL) return TAL_ERR_STAGE;
    const tal_spatial_vec dX_B = change->dX[it->B.i], dX_A = change->dX[it->A.i];
    const tal_spatial_vec dV_B = change->dV[it->B.i], dV_A = change->dV[it->A.i];
    const tal_vec3 w_B = tal_view_V_GM(&context->velocities, it->B.i)->w;
    const tal_vec3 w_A = tal_view_V_GM(&context->velocities, it->A.i)->w;
    const tal_vec3 dr_B = tal_v3_cross(dX_B.w, at->r_B);
    const tal_vec3 dr_A = tal_v3_sub(tal_v3_add(dX_B.v, dr_B), dX_A.v);
    const tal_vec3 dv_B =
        tal_v3_add(dV_B.v, tal_v3_add(tal_v3_cross(dV_B.w, at->r_B), tal_v3_cross(w_B, dr_B)));
    const tal_vec3 dv_A =
        tal_v3_add(dV_A.v, tal_v3_add(tal_v3_cross(dV_A.w, at->r_A), tal_v3_cross(w_A, dr_A)));
    const tal_vec3 dp = tal_v3_sub(dr_A, tal_v3_cross(dX_A.w, at->r_A));
    const tal_vec3 dv = tal_v3_sub(tal_v3_sub(dv_B, dv_A), tal_v3_cross(dX_A.w, at->rate));
    const tal_vec3 dF_A = tal_v3_add(tal_m3_mul_v3(at->force.K, tal_m3_tmul_v3(at->R_GA, dp)),
                                     tal_m3_mul_v3(at->force.C, tal_m3_tmul_v3(at->R_GA, dv)));
    const tal_vec3 dF = tal_v3_add(tal_v3_cross(dX_A.w, at->F), tal_m3_mul_v3(at->R_GA, dF_A));
    add(&dF_GM[it->B.i], 1.0, tal_v3_add(tal_v3_cross(dr_B, at->F), tal_v3_cross(at->r_B, dF)), dF);
    add(&dF_GM[it->A.i], -1.0, tal_v3_add(tal_v3_cross(dr_A, at->F), tal_v3_cross(at->r_A, dF)),
        dF);
    return TAL_OK;
}

// The same without the turning of A.
static tal_status point_slopes(const void *self, const tal_force_context *context,
                               tal_force_slopes *sum)
{
    const point_law *it = &((const element *)self)->it;
    const point_at *at = point_now(self, context);
    if (at == NULL) return TAL_ERR_STAGE;
    const tal_mat3 R_AG = tal_m3_transpose(at->R_GA);
    const tal_mat3 K = tal_m3_mul(at->R_GA, tal_m3_mul(at->force.K, R_AG));
    const tal_mat3 C = tal_m3_mul(at->R_GA, tal_m3_mul(at->force.C, R_AG));
    const tal_vec3 p_GS = tal_v3_add(tal_view_X_GM(&context->poses, it->B.i)->p, at->r_B);
    return tal_force_slopes_add(sum, it->A, it->B, p_GS, &K, &C);
}

static tal_force_ix adopt(tal_forces *forces, const char *name, const tal_force_ops *ops,
                          const void *from, size_t size)
{
    void *copy = malloc(size);
    if (copy != NULL) memcpy(copy, from, size);
    return tal_forces_add(forces, name, ops, copy);
}

tal_force_ix point_law_add(tal_forces *forces, const char *name, const point_law *law)
{
    static const tal_force_ops ops = {.size = sizeof ops,
                                      .name = "point law",
                                      .declare = point_declare,
                                      .realize_instance = point_instance,
                                      .apply = point_apply,
                                      .apply_change = point_change,
                                      .add_slopes = point_slopes,
                                      .destroy = free,
                                      .is_concurrent = true};
    const element e = {.it = *law};
    return adopt(forces, name, &ops, &e, sizeof e);
}

// --- springs along two coordinates ---

static tal_status coupling_apply(const void *self, const tal_force_context *context,
                                 tal_spatial_vec F_GM[], double f[])
{
    (void)F_GM;
    const coupling *it = self;
    double tension = 0.0;
    for (int i = 0; i < 2; ++i) {
        const double q = tal_body_q(context->matter, context->state, it->body[i], 0);
        const double u = tal_body_u(context->matter, context->state, it->body[i], 0);
        tension += it->a[i] * (it->stiffness * q + it->damping * u);
    }
    for (int i = 0; i < 2; ++i) {
        f[tal_body_u_start(context->matter, it->body[i])] -= it->a[i] * tension;
    }
    return TAL_OK;
}

static tal_status coupling_change(const void *self, const tal_force_context *context,
                                  const tal_force_change *change, tal_spatial_vec dF_GM[],
                                  double df[])
{
    (void)dF_GM;
    const coupling *it = self;
    double tension = 0.0;
    for (int i = 0; i < 2; ++i) {
        const double dq =
            change->dq[tal_body_q_start(context->matter, context->state, it->body[i])];
        const double du = change->du[tal_body_u_start(context->matter, it->body[i])];
        tension += it->a[i] * (it->stiffness * dq + it->damping * du);
    }
    for (int i = 0; i < 2; ++i) {
        df[tal_body_u_start(context->matter, it->body[i])] -= it->a[i] * tension;
    }
    return TAL_OK;
}

static tal_status coupling_slopes(const void *self, const tal_force_context *context,
                                  tal_force_slopes *sum)
{
    const coupling *it = self;
    tal_status st = TAL_OK;
    for (int i = 0; i < 4 && st == TAL_OK; ++i) {
        const int of = i / 2, by = i % 2;
        st = tal_force_slopes_add_along(sum, tal_body_u_start(context->matter, it->body[of]),
                                        tal_body_u_start(context->matter, it->body[by]),
                                        -it->a[of] * it->a[by] * it->stiffness,
                                        -it->a[of] * it->a[by] * it->damping);
    }
    return st;
}

tal_force_ix coupling_add(tal_forces *forces, const char *name, const coupling *it)
{
    static const tal_force_ops ops = {.size = sizeof ops,
                                      .name = "coupling",
                                      .apply = coupling_apply,
                                      .apply_change = coupling_change,
                                      .add_slopes = coupling_slopes,
                                      .destroy = free,
                                      .is_concurrent = true};
    return adopt(forces, name, &ops, it, sizeof *it);
}
