// A force and a torque on one body, constant in Ground.
#include "core/element_internal.h"

#include <talus/forces/body_force.h>

typedef struct body_force {
    tali_force_element base;
    int body;
} body_force;

// --- force ---

static tal_status declare_force(void *self, tal_forces *forces, tal_force_ix me)
{
    (void)tali_force_element_declare(self, forces, me);
    tali_force_element_declare_placed(self, forces, sizeof(tal_vec3)); // p_MS
    return TAL_OK;
}

static tal_status place_force(const void *self, const tal_force_context *context)
{
    const body_force *it = self;
    tal_vec3 *p_MS = tal_cache_upd(context->system, context->state, it->base.placed);
    *p_MS = tali_force_station_in_M(context, it->body, tali_force_geometry(&it->base, context));
    return tal_cache_mark_valid(context->system, context->state, it->base.placed);
}

static tal_status apply_force(const void *self, const tal_force_context *context,
                              tal_spatial_vec F[], double f[])
{
    (void)f;
    const body_force *it = self;
    const tal_vec3 *p_MS = tali_force_placed(&it->base, context);
    const double *f_G = tali_force_element_values(&it->base, context);
    tal_apply_station_force(&context->poses, it->body, *p_MS, tal_v3(f_G[0], f_G[1], f_G[2]), F);
    return TAL_OK;
}

// The arm turns with the body.
static tal_status change_of_force(const void *self, const tal_force_context *context,
                                  const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)df;
    const body_force *it = self;
    const tal_vec3 *p_MS = tali_force_placed(&it->base, context);
    const double *f_G = tali_force_element_values(&it->base, context);
    const tal_vec3 p_MS_G = tal_m3_mul_v3(tal_view_X_GM(&context->poses, it->body)->R, *p_MS);
    const tal_vec3 dp_G = tal_v3_cross(change->dX[it->body].w, p_MS_G);
    tal_vec3 *dm = &dF[it->body].w;
    *dm = tal_v3_add(*dm, tal_v3_cross(dp_G, tal_v3(f_G[0], f_G[1], f_G[2])));
    return TAL_OK;
}

static const tali_force_param force_params[] = {
    {"station x", TALI_FINITE}, {"station y", TALI_FINITE}, {"station z", TALI_FINITE},
    {"force x", TALI_FINITE},   {"force y", TALI_FINITE},   {"force z", TALI_FINITE}};

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const body_force *it = self;
    facts->bodies[0].i = it->body;
}

static const tali_force_kind force_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "constant force",
            .needs = TAL_FORCE_NEEDS_Q,
            .is_concurrent = true,
            .apply = apply_force,
            .apply_change = change_of_force,
            .declare = declare_force,
            .realize_instance = place_force,
            .destroy = tali_force_element_destroy},
    .params = force_params,
    .num_params = 6,
    .num_instance = 3,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_constant_force(tal_forces *forces, const char *name, tal_body_ix body,
                                           tal_vec3 p_BS, tal_vec3 f_G)
{
    if (!tali_force_element_has(forces, name, &force_kind, body)) return (tal_force_ix){-1};
    body_force like = {.body = body.i};
    const double params[] = {p_BS.x, p_BS.y, p_BS.z, f_G.x, f_G.y, f_G.z};
    return tali_force_element_add(forces, name, &force_kind, &like, sizeof like, params);
}

// --- torque ---

static tal_status apply_torque(const void *self, const tal_force_context *context,
                               tal_spatial_vec F[], double f[])
{
    (void)f;
    const body_force *it = self;
    const double *m_G = tali_force_element_values(&it->base, context);
    F[it->body].w = tal_v3_add(F[it->body].w, tal_v3(m_G[0], m_G[1], m_G[2]));
    return TAL_OK;
}

// A torque that is constant in Ground does not change.
static tal_status change_of_torque(const void *self, const tal_force_context *context,
                                   const tal_force_change *change, tal_spatial_vec dF[],
                                   double df[])
{
    (void)self, (void)context, (void)change, (void)dF, (void)df;
    return TAL_OK;
}

static const tali_force_param torque_params[] = {
    {"torque x", TALI_FINITE}, {"torque y", TALI_FINITE}, {"torque z", TALI_FINITE}};

static const tali_force_kind torque_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "constant torque",
            .needs = TAL_FORCE_NEEDS_Q,
            .is_concurrent = true,
            .apply = apply_torque,
            .apply_change = change_of_torque,
            .declare = tali_force_element_declare,
            .destroy = tali_force_element_destroy},
    .params = torque_params,
    .num_params = 3,
    .num_instance = 0,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_constant_torque(tal_forces *forces, const char *name, tal_body_ix body,
                                            tal_vec3 m_G)
{
    if (!tali_force_element_has(forces, name, &torque_kind, body)) return (tal_force_ix){-1};
    body_force like = {.body = body.i};
    const double params[] = {m_G.x, m_G.y, m_G.z};
    return tali_force_element_add(forces, name, &torque_kind, &like, sizeof like, params);
}
