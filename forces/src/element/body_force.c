// A force and a torque on one body, constant in Ground or in another body.
#include "core/element_internal.h"

#include <talus/forces/body_force.h>

typedef struct body_force {
    tali_force_element base;
    int body;
    int in; // body in whose frame the numbers are; 0: Ground
} body_force;

// What is the same in a body, in Ground.
static tal_vec3 in_ground(const body_force *it, const tal_force_context *context,
                          const double numbers[3])
{
    const tal_vec3 v = tal_v3(numbers[0], numbers[1], numbers[2]);
    if (it->in == 0) return v;
    const tal_body_ix in = {it->in};
    const tal_vec3 v_M = tal_m3_mul_v3(tal_body_X_MB(context->matter, context->state, in).R, v);
    return tal_m3_mul_v3(tal_view_X_GM(&context->poses, it->in)->R, v_M);
}

// How it changes when the body turns.
static tal_vec3 change_in_ground(const body_force *it, const tal_force_change *change, tal_vec3 v_G)
{
    return it->in == 0 ? TAL_VEC3_ZERO : tal_v3_cross(change->dX[it->in].w, v_G);
}

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
    const tal_vec3 f_G = in_ground(it, context, tali_force_element_values(&it->base, context));
    tal_apply_station_force(&context->poses, it->body, *p_MS, f_G, F);
    return TAL_OK;
}

// The arm turns with its body, the force with the body it is fixed to.
static tal_status change_of_force(const void *self, const tal_force_context *context,
                                  const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)df;
    const body_force *it = self;
    const tal_vec3 *p_MS = tali_force_placed(&it->base, context);
    const tal_vec3 f_G = in_ground(it, context, tali_force_element_values(&it->base, context));
    const tal_vec3 df_G = change_in_ground(it, change, f_G);
    const tal_vec3 p_MS_G = tal_m3_mul_v3(tal_view_X_GM(&context->poses, it->body)->R, *p_MS);
    const tal_vec3 dp_G = tal_v3_cross(change->dX[it->body].w, p_MS_G);
    const tal_vec3 dm = tal_v3_add(tal_v3_cross(dp_G, f_G), tal_v3_cross(p_MS_G, df_G));
    dF[it->body] = tal_sv_add(dF[it->body], tal_sv(dm, df_G));
    return TAL_OK;
}

static const tali_force_param force_params[] = {
    {"station x", TALI_FINITE}, {"station y", TALI_FINITE}, {"station z", TALI_FINITE},
    {"force x", TALI_FINITE},   {"force y", TALI_FINITE},   {"force z", TALI_FINITE}};

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const body_force *it = self;
    facts->bodies[0].i = it->body;
    facts->bodies[1].i = it->in;
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
    .scope = TALI_FORCE_SCOPE_BODIES,
    .params = force_params,
    .num_params = 6,
    .num_instance = 3,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_constant_force(tal_forces *forces, const char *name, tal_body_ix body,
                                           tal_vec3 p_BS, tal_vec3 f_G)
{
    return tal_forces_add_constant_force_in(forces, name, body, p_BS, TAL_GROUND, f_G);
}

tal_force_ix tal_forces_add_constant_force_in(tal_forces *forces, const char *name,
                                              tal_body_ix body, tal_vec3 p_BS, tal_body_ix in,
                                              tal_vec3 f)
{
    if (!tali_force_element_has(forces, name, &force_kind, body) ||
        !tali_force_element_has(forces, name, &force_kind, in)) {
        return (tal_force_ix){-1};
    }
    body_force like = {.body = body.i, .in = in.i};
    const double params[] = {p_BS.x, p_BS.y, p_BS.z, f.x, f.y, f.z};
    return tali_force_element_add(forces, name, &force_kind, &like, sizeof like, params);
}

// --- torque ---

static tal_status apply_torque(const void *self, const tal_force_context *context,
                               tal_spatial_vec F[], double f[])
{
    (void)f;
    const body_force *it = self;
    const tal_vec3 m_G = in_ground(it, context, tali_force_element_values(&it->base, context));
    F[it->body].w = tal_v3_add(F[it->body].w, m_G);
    return TAL_OK;
}

// A torque turns with the body it is fixed to.
static tal_status change_of_torque(const void *self, const tal_force_context *context,
                                   const tal_force_change *change, tal_spatial_vec dF[],
                                   double df[])
{
    (void)df;
    const body_force *it = self;
    const tal_vec3 m_G = in_ground(it, context, tali_force_element_values(&it->base, context));
    dF[it->body].w = tal_v3_add(dF[it->body].w, change_in_ground(it, change, m_G));
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
    .scope = TALI_FORCE_SCOPE_BODIES,
    .params = torque_params,
    .num_params = 3,
    .num_instance = 0,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_constant_torque(tal_forces *forces, const char *name, tal_body_ix body,
                                            tal_vec3 m_G)
{
    return tal_forces_add_constant_torque_in(forces, name, body, TAL_GROUND, m_G);
}

tal_force_ix tal_forces_add_constant_torque_in(tal_forces *forces, const char *name,
                                               tal_body_ix body, tal_body_ix in, tal_vec3 m)
{
    if (!tali_force_element_has(forces, name, &torque_kind, body) ||
        !tali_force_element_has(forces, name, &torque_kind, in)) {
        return (tal_force_ix){-1};
    }
    body_force like = {.body = body.i, .in = in.i};
    const double params[] = {m.x, m.y, m.z};
    return tali_force_element_add(forces, name, &torque_kind, &like, sizeof like, params);
}
