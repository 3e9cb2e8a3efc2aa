// Forces on bodies and along speeds, held in the State.
#include "core/element_internal.h"

#include <talus/forces/discrete.h>

#include <math.h>
#include <string.h>

typedef struct discrete {
    tali_force_element base;
    int num_bodies, nu;
    tal_var_ix on_bodies; // tal_spatial_vec per body: moment about Bo, in Ground
    tal_var_ix on_speeds; // double per speed
} discrete;

static tal_var_ix declare_array(const discrete *it, tal_forces *forces, const char *name,
                                size_t size)
{
    tal_var_def var = tal_var_def_default();
    var.name = name;
    var.size = size;
    var.invalidates = TAL_STAGE_DYNAMICS;
    return tal_force_add_var(forces, it->base.me, &var);
}

static tal_status declare_discrete(void *self, tal_forces *forces, tal_force_ix me)
{
    discrete *it = self;
    const tal_matter *matter = tal_forces_matter(forces);
    it->num_bodies = tal_matter_num_bodies(matter);
    for (int b = 0; b < it->num_bodies; ++b) {
        it->nu += tal_body_nu(matter, (tal_body_ix){b});
    }
    (void)tali_force_element_declare(self, forces, me);
    const size_t nb = (size_t)it->num_bodies, nu = (size_t)it->nu;
    it->on_bodies = declare_array(it, forces, "bodies", nb * sizeof(tal_spatial_vec));
    it->on_speeds = declare_array(it, forces, "speeds", (nu + 1) * sizeof(double)); // never empty
    tali_force_element_declare_placed(&it->base, forces, nb * sizeof(tal_vec3));    // p_MB
    return TAL_OK;
}

static tal_status realize_instance(const void *self, const tal_force_context *context)
{
    const discrete *it = self;
    tal_vec3 *p_MB = tal_cache_upd(context->system, context->state, it->base.placed);
    for (int b = 0; b < it->num_bodies; ++b) {
        p_MB[b] = tal_body_X_MB(context->matter, context->state, (tal_body_ix){b}).p;
    }
    return tal_cache_mark_valid(context->system, context->state, it->base.placed);
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    const discrete *it = self;
    const tal_vec3 *p_MB = tali_force_placed(&it->base, context);
    const tal_spatial_vec *F_B = tal_var_value(context->system, context->state, it->on_bodies);
    const double *f_u = tal_var_value(context->system, context->state, it->on_speeds);
    for (int b = 0; b < it->num_bodies; ++b) {
        const tal_vec3 p_MB_G = tal_m3_mul_v3(tal_view_X_GM(&context->poses, b)->R, p_MB[b]);
        F[b] = tal_sv_add(F[b], tal_sv_shift_force(F_B[b], p_MB_G));
    }
    for (int i = 0; i < it->nu; ++i) {
        f[i] += f_u[i];
    }
    return TAL_OK;
}

// The force about Bo stays; Bo turns about Mo, so the moment about Mo changes.
static tal_status apply_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)df;
    const discrete *it = self;
    const tal_vec3 *p_MB = tali_force_placed(&it->base, context);
    const tal_spatial_vec *F_B = tal_var_value(context->system, context->state, it->on_bodies);
    for (int b = 0; b < it->num_bodies; ++b) {
        const tal_vec3 p_MB_G = tal_m3_mul_v3(tal_view_X_GM(&context->poses, b)->R, p_MB[b]);
        const tal_vec3 dp = tal_v3_cross(change->dX[b].w, p_MB_G);
        dF[b].w = tal_v3_add(dF[b].w, tal_v3_cross(dp, F_B[b].v));
    }
    return TAL_OK;
}

static const tali_force_kind discrete_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "discrete forces",
            .needs = TAL_FORCE_NEEDS_Q,
            .is_concurrent = true,
            .apply = apply,
            .declare = declare_discrete,
            .realize_instance = realize_instance,
            .destroy = tali_force_element_destroy,
            .apply_change = apply_change},
};

tal_force_ix tal_forces_add_discrete(tal_forces *forces, const char *name)
{
    discrete like = {.nu = 0};
    return tali_force_element_add(forces, name, &discrete_kind, &like, sizeof like, NULL);
}

// --- in a State ---

// The element, which has this body; NULL and a breach otherwise.
static const discrete *with_body(const tal_forces *forces, tal_force_ix force, tal_body_ix body,
                                 const char *where)
{
    const discrete *it = tali_force_element_of(forces, force, &discrete_kind, where);
    if (it == NULL || (body.i >= 0 && body.i < it->num_bodies)) return it;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no body %d: there are %d", body.i,
                      it->num_bodies);
    return NULL;
}

// The element, and the place of a speed in its array.
static const discrete *with_speed(const tal_forces *forces, tal_force_ix force, tal_mobility at,
                                  int *slot, const char *where)
{
    const discrete *it = with_body(forces, force, at.body, where);
    if (it == NULL) return NULL;
    const int nu = tal_body_nu(forces->matter, at.body);
    *slot = tal_body_u_start(forces->matter, at.body) + at.i;
    if (at.i >= 0 && at.i < nu) return it;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "body '%s' has no speed %d: it has %d",
                      tal_body_name(forces->matter, at.body), at.i, nu);
    return NULL;
}

tal_spatial_vec tal_discrete_body_force(const tal_forces *forces, const tal_state *state,
                                        tal_force_ix force, tal_body_ix body)
{
    const discrete *it = with_body(forces, force, body, __func__);
    const tal_spatial_vec *all =
        it != NULL ? tali_cache_var_read(forces->system, state, it->on_bodies, __func__) : NULL;
    const tal_vec3 nan = {TALI_NAN, TALI_NAN, TALI_NAN};
    return all != NULL ? all[body.i] : tal_sv(nan, nan);
}

tal_status tal_discrete_set_body_force(const tal_forces *forces, tal_state *state,
                                       tal_force_ix force, tal_body_ix body, tal_spatial_vec F_B_G)
{
    const discrete *it = with_body(forces, force, body, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (!tal_sv_is_finite(F_B_G)) {
        return tal_state_refuse(state, TAL_ERR_NOT_FINITE,
                                "discrete force '%s' on body '%s': (%g, %g, %g; %g, %g, %g) is "
                                "not finite",
                                tal_force_name(forces, force), tal_body_name(forces->matter, body),
                                F_B_G.w.x, F_B_G.w.y, F_B_G.w.z, F_B_G.v.x, F_B_G.v.y, F_B_G.v.z);
    }
    tal_spatial_vec *all = tali_cache_var_write(forces->system, state, it->on_bodies, __func__);
    if (all == NULL) return tal_contract_last()->status;
    all[body.i] = F_B_G;
    return TAL_OK;
}

double tal_discrete_mobility_force(const tal_forces *forces, const tal_state *state,
                                   tal_force_ix force, tal_mobility mobility)
{
    int slot = 0;
    const discrete *it = with_speed(forces, force, mobility, &slot, __func__);
    const double *all =
        it != NULL ? tali_cache_var_read(forces->system, state, it->on_speeds, __func__) : NULL;
    return all != NULL ? all[slot] : TALI_NAN;
}

tal_status tal_discrete_set_mobility_force(const tal_forces *forces, tal_state *state,
                                           tal_force_ix force, tal_mobility mobility, double f)
{
    int slot = 0;
    const discrete *it = with_speed(forces, force, mobility, &slot, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (!isfinite(f)) {
        return tal_state_refuse(state, TAL_ERR_NOT_FINITE,
                                "discrete force '%s' along speed %d of body '%s' is %g: it must be "
                                "finite",
                                tal_force_name(forces, force), mobility.i,
                                tal_body_name(forces->matter, mobility.body), f);
    }
    double *all = tali_cache_var_write(forces->system, state, it->on_speeds, __func__);
    if (all == NULL) return tal_contract_last()->status;
    all[slot] = f;
    return TAL_OK;
}

tal_status tal_discrete_clear(const tal_forces *forces, tal_state *state, tal_force_ix force)
{
    const discrete *it = tali_force_element_of(forces, force, &discrete_kind, __func__);
    if (it == NULL) return tal_contract_last()->status;
    tal_spatial_vec *F = tali_cache_var_write(forces->system, state, it->on_bodies, __func__);
    double *f = tali_cache_var_write(forces->system, state, it->on_speeds, __func__);
    if (F == NULL || f == NULL) return tal_contract_last()->status;
    memset(F, 0, (size_t)it->num_bodies * sizeof *F);
    memset(f, 0, (size_t)it->nu * sizeof *f);
    return TAL_OK;
}
