// A torque transmitted by a tooth between a body and its parent.
#include "core/element_internal.h"

#include <talus/forces/gear.h>

#include <math.h>

typedef struct gear {
    tali_force_element base;
    int body, parent;
} gear;

static tal_status declare_gear(void *self, tal_forces *forces, tal_force_ix me)
{
    (void)tali_force_element_declare(self, forces, me);
    tali_force_element_declare_placed(self, forces, sizeof(tal_xform)); // F on the parent's M
    return TAL_OK;
}

static tal_status realize_instance(const void *self, const tal_force_context *context)
{
    const gear *it = self;
    const tal_body_ix body = {it->body}, parent = {it->parent};
    const tal_xform X_MP = tal_body_X_MB(context->matter, context->state, parent);
    const tal_xform X_PF = tal_body_X_PF(context->matter, context->state, body);
    tal_xform *X_MF = tal_cache_upd(context->system, context->state, it->base.placed);
    *X_MF = tal_xf_mul(X_MP, X_PF);
    return tal_cache_mark_valid(context->system, context->state, it->base.placed);
}

// Where the tooth is, from Mo of the body and of its parent, and how it pushes, in Ground.
typedef struct tooth {
    tal_vec3 from_B, from_P, f_G;
} tooth;

static tooth tooth_of(const gear *it, const tal_force_context *context)
{
    const double *values = tali_force_element_values(&it->base, context);
    const double push = values[TAL_GEAR_TORQUE] / values[TAL_GEAR_RADIUS];
    const double r = values[TAL_GEAR_RADIUS], a = values[TAL_GEAR_ANGLE];
    const tal_xform *X_GP = tal_view_X_GM(&context->poses, it->parent);
    const tal_xform *X_GB = tal_view_X_GM(&context->poses, it->body);
    const tal_xform X_GF =
        tal_xf_mul(*X_GP, *(const tal_xform *)tali_force_placed(&it->base, context));
    const tal_vec3 tooth_G = tal_xf_apply(X_GF, tal_v3(-r * cos(a), -r * sin(a), 0.0));
    return (tooth){.from_B = tal_v3_sub(tooth_G, X_GB->p),
                   .from_P = tal_v3_sub(tooth_G, X_GP->p),
                   .f_G = tal_m3_mul_v3(X_GF.R, tal_v3(push * sin(a), -push * cos(a), 0.0))};
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)f;
    const gear *it = self;
    const tooth at = tooth_of(it, context);
    tal_spatial_vec *F_B = &F[it->body], *F_P = &F[it->parent];
    *F_B = tal_sv_add(*F_B, tal_sv(tal_v3_cross(at.from_B, at.f_G), at.f_G));
    *F_P = tal_sv_sub(*F_P, tal_sv(tal_v3_cross(at.from_P, at.f_G), at.f_G));
    return TAL_OK;
}

// Tooth and push turn with the parent.
static tal_status apply_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)df;
    const gear *it = self;
    const tooth at = tooth_of(it, context);
    const tal_spatial_vec P = change->dX[it->parent];
    const tal_vec3 df_G = tal_v3_cross(P.w, at.f_G), turned = tal_v3_cross(P.w, at.from_P);
    const tal_vec3 from_B = tal_v3_sub(tal_v3_add(P.v, turned), change->dX[it->body].v);
    const tal_vec3 m_B = tal_v3_add(tal_v3_cross(from_B, at.f_G), tal_v3_cross(at.from_B, df_G));
    const tal_vec3 m_P = tal_v3_add(tal_v3_cross(turned, at.f_G), tal_v3_cross(at.from_P, df_G));
    dF[it->body] = tal_sv_add(dF[it->body], tal_sv(m_B, df_G));
    dF[it->parent] = tal_sv_sub(dF[it->parent], tal_sv(m_P, df_G));
    return TAL_OK;
}

static const tali_force_param params[] = {
    {"torque", TALI_FINITE}, {"radius", TALI_POSITIVE}, {"angle", TALI_FINITE}};

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const gear *it = self;
    facts->bodies[0].i = it->body;
    facts->bodies[1].i = it->parent;
}

static const tali_force_kind gear_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "gear torque",
            .needs = TAL_FORCE_NEEDS_Q,
            .is_concurrent = true,
            .apply = apply,
            .apply_change = apply_change,
            .declare = declare_gear,
            .realize_instance = realize_instance,
            .destroy = tali_force_element_destroy},
    .params = params,
    .num_params = 3,
    .scope = TALI_FORCE_SCOPE_BODIES,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_gear_torque(tal_forces *forces, const char *name, tal_body_ix body,
                                        double torque, double radius, double angle)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_has(forces, name, &gear_kind, body)) return none;
    if (forces != NULL && body.i == 0) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                              "gear torque '%s': Ground has no parent",
                              name != NULL ? name : "(no name)");
        return none;
    }
    gear like = {.body = body.i};
    if (forces != NULL) like.parent = tal_body_parent(forces->matter, body).i;
    const double initial[] = {torque, radius, angle};
    return tali_force_element_add(forces, name, &gear_kind, &like, sizeof like, initial);
}
