// Forces along speeds: force, damper, friction, and the damper on all of them.
#include "real_functions_internal.h"

#include "core/element_internal.h"

#include <talus/forces/mobility.h>

#include <math.h>

typedef struct on_speed {
    tali_force_element base;
    tal_mobility at;
    real (*calc_force)(const double values[], real u);
    real (*calc_slope)(const double values[], real u); // df/du
} on_speed;

static double force_of(const on_speed *it, const tal_force_context *context, double *u)
{
    *u = tal_body_u(context->matter, context->state, it->at.body, it->at.i);
    return it->calc_force(tali_force_element_values(&it->base, context), *u);
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)F;
    const on_speed *it = self;
    double u;
    f[tal_body_u_start(context->matter, it->at.body) + it->at.i] += force_of(it, context, &u);
    return TAL_OK;
}

static tal_status calc_dissipated_power(const void *self, const tal_force_context *context,
                                        double *power)
{
    double u;
    const double f = force_of(self, context, &u);
    *power = -f * u;
    return TAL_OK;
}

static tal_status apply_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)dF;
    const on_speed *it = self;
    const double u = tal_body_u(context->matter, context->state, it->at.body, it->at.i);
    const int slot = tal_body_u_start(context->matter, it->at.body) + it->at.i;
    df[slot] += it->calc_slope(tali_force_element_values(&it->base, context), u) * change->du[slot];
    return TAL_OK;
}

static tal_status add_slopes(const void *self, const tal_force_context *context,
                             tal_force_slopes *sum)
{
    const on_speed *it = self;
    const double u = tal_body_u(context->matter, context->state, it->at.body, it->at.i);
    const int slot = tal_body_u_start(context->matter, it->at.body) + it->at.i;
    const double slope = it->calc_slope(tali_force_element_values(&it->base, context), u);
    return tal_force_slopes_add_along(sum, slot, slot, 0.0, slope);
}

static tal_force_ix add_on_speed(tal_forces *forces, const char *name, const tali_force_kind *kind,
                                 on_speed *like, const double params[])
{
    if (!tali_force_element_has_mobility(forces, name, kind, like->at, tal_body_nu)) {
        return (tal_force_ix){-1};
    }
    return tali_force_element_add(forces, name, kind, like, sizeof *like, params);
}

// --- force ---

static real constant_force(const double values[], real u)
{
    (void)u;
    return values[0];
}

static real constant_slope(const double values[], real u)
{
    (void)values, (void)u;
    return 0.0;
}

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const on_speed *it = self;
    facts->mobility = it->at;
}

static const tali_force_param force_params[] = {{"force", TALI_FINITE}};

static const tali_force_kind force_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "mobility force",
            .needs = TAL_FORCE_NEEDS_Q,
            .is_concurrent = true,
            .apply = apply,
            .apply_change = apply_change,
            .add_slopes = add_slopes,
            .declare = tali_force_element_declare,
            .destroy = tali_force_element_destroy},
    .scope = TALI_FORCE_SCOPE_SPEEDS,
    .params = force_params,
    .num_params = 1,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_mobility_force(tal_forces *forces, const char *name,
                                           tal_mobility mobility, double force)
{
    on_speed like = {.at = mobility, .calc_force = constant_force, .calc_slope = constant_slope};
    return add_on_speed(forces, name, &force_kind, &like, &force);
}

// --- damper ---

static real damper_force(const double values[], real u)
{
    return -values[0] * u;
}

static real damper_slope(const double values[], real u)
{
    (void)u;
    return -values[0];
}

static const tali_force_param damper_params[] = {{"damping", TALI_NOT_NEGATIVE}};

static const tali_force_kind damper_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "mobility damper",
            .is_concurrent = true,
            .apply = apply,
            .apply_change = apply_change,
            .add_slopes = add_slopes,
            .declare = tali_force_element_declare,
            .calc_dissipated_power = calc_dissipated_power,
            .destroy = tali_force_element_destroy},
    .scope = TALI_FORCE_SCOPE_SPEEDS,
    .params = damper_params,
    .num_params = 1,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_mobility_damper(tal_forces *forces, const char *name,
                                            tal_mobility mobility, double damping)
{
    on_speed like = {.at = mobility, .calc_force = damper_force, .calc_slope = damper_slope};
    return add_on_speed(forces, name, &damper_kind, &like, &damping);
}

// --- friction ---

// Stribeck's hump s exp((1 - s^2)/2), which is 1 at s = 1, on Coulomb's step made smooth.
static real friction_force(const double values[], real u)
{
    const double Fs = values[TAL_FRICTION_STATIC], Fd = values[TAL_FRICTION_DYNAMIC];
    const real s = u / values[TAL_FRICTION_SPEED];
    const real hump = (Fs - Fd) * s * real_exp(0.5 * (1.0 - s * s));
    return -(hump + Fd * real_tanh(10.0 * s) + values[TAL_FRICTION_VISCOUS] * u);
}

// d/ds of s exp((1 - s^2)/2) is (1 - s^2) exp((1 - s^2)/2), of tanh 10 s it is 10 (1 - tanh^2).
static real friction_slope(const double values[], real u)
{
    const double Fs = values[TAL_FRICTION_STATIC], Fd = values[TAL_FRICTION_DYNAMIC];
    const double v0 = values[TAL_FRICTION_SPEED];
    const real s = u / v0, step = real_tanh(10.0 * s);
    const real hump = (Fs - Fd) * (1.0 - s * s) * real_exp(0.5 * (1.0 - s * s));
    return -((hump + 10.0 * Fd * (1.0 - step * step)) / v0 + values[TAL_FRICTION_VISCOUS]);
}

static const char *check_friction(const double params[])
{
    const bool good = params[TAL_FRICTION_STATIC] >= params[TAL_FRICTION_DYNAMIC];
    return good ? NULL : "the static force must not be below the dynamic one";
}

static const tali_force_param friction_params[] = {{"static force", TALI_NOT_NEGATIVE},
                                                   {"dynamic force", TALI_NOT_NEGATIVE},
                                                   {"viscous coefficient", TALI_NOT_NEGATIVE},
                                                   {"speed", TALI_POSITIVE}};

static const tali_force_kind friction_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "mobility friction",
            .is_concurrent = true,
            .apply = apply,
            .apply_change = apply_change,
            .add_slopes = add_slopes,
            .declare = tali_force_element_declare,
            .calc_dissipated_power = calc_dissipated_power,
            .destroy = tali_force_element_destroy},
    .scope = TALI_FORCE_SCOPE_SPEEDS,
    .params = friction_params,
    .num_params = 4,
    .check = check_friction,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_mobility_friction(tal_forces *forces, const char *name,
                                              tal_mobility mobility, const tal_friction *friction)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &friction_kind, friction, "friction")) return none;
    const double params[] = {friction->static_force, friction->dynamic_force, friction->viscous,
                             friction->speed};
    on_speed like = {.at = mobility, .calc_force = friction_force, .calc_slope = friction_slope};
    return add_on_speed(forces, name, &friction_kind, &like, params);
}

// --- damper on every speed ---

static tal_status apply_global(const void *self, const tal_force_context *context,
                               tal_spatial_vec F[], double f[])
{
    (void)F;
    const double c = tali_force_element_values(self, context)[0];
    for (int b = 1; b < tal_matter_num_bodies(context->matter); ++b) {
        const tal_body_ix body = {b};
        const int u0 = tal_body_u_start(context->matter, body);
        for (int i = 0; i < tal_body_nu(context->matter, body); ++i) {
            f[u0 + i] -= c * tal_body_u(context->matter, context->state, body, i);
        }
    }
    return TAL_OK;
}

static tal_status change_of_global(const void *self, const tal_force_context *context,
                                   const tal_force_change *change, tal_spatial_vec dF[],
                                   double df[])
{
    (void)dF;
    const tali_force_element *it = self;
    const double c = tali_force_element_values(it, context)[0];
    for (int i = 0; i < it->forces->nu; ++i) {
        df[i] -= c * change->du[i];
    }
    return TAL_OK;
}

static tal_status power_of_global(const void *self, const tal_force_context *context, double *power)
{
    double sum = 0.0;
    for (int b = 1; b < tal_matter_num_bodies(context->matter); ++b) {
        const tal_body_ix body = {b};
        for (int i = 0; i < tal_body_nu(context->matter, body); ++i) {
            const double u = tal_body_u(context->matter, context->state, body, i);
            sum += u * u;
        }
    }
    *power = tali_force_element_values(self, context)[0] * sum;
    return TAL_OK;
}

static const tali_force_kind global_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "global damper",
            .is_concurrent = true,
            .apply = apply_global,
            .apply_change = change_of_global,
            .declare = tali_force_element_declare,
            .calc_dissipated_power = power_of_global,
            .destroy = tali_force_element_destroy},
    .scope = TALI_FORCE_SCOPE_SPEEDS,
    .params = damper_params,
    .num_params = 1,
};

tal_force_ix tal_forces_add_global_damper(tal_forces *forces, const char *name, double damping)
{
    tali_force_element like = {.size = 0};
    return tali_force_element_add(forces, name, &global_kind, &like, sizeof like, &damping);
}
