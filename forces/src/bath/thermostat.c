// A Nose-Hoover chain: friction that steers the temperature of all of matter.
#include "bath/thermal_internal.h"

#include <talus/forces/thermostat.h>

#include <math.h>
#include <string.h>

typedef struct thermostat {
    tali_force_element base;
    int length;
    tal_group_ix chain; // z: c_0 ... c_(length-1), then s_0 ...
} thermostat;

static tal_status declare_chain(void *self, tal_forces *forces, tal_force_ix me)
{
    thermostat *it = self;
    tal_group_def group = tal_group_def_default();
    group.name = "chain";
    group.capacity = 2 * it->length;
    it->chain = tal_force_add_group(forces, me, &group);
    tali_thermal_reserve(&it->base, forces);
    return tali_force_element_declare(self, forces, me);
}

// c, with s behind it.
static const double *chain_of(const thermostat *it, const tal_state *state)
{
    const int start = tal_group_start(it->base.forces->system, state, it->chain);
    return tal_state_z(state) + start;
}

// Speeds that are locked or prescribed have no temperature. Constraints of other subsystems than
// matter take no motion from it.
static double dof(const thermostat *it, const tal_state *state, double excluded)
{
    const tal_matter *matter = it->base.forces->matter;
    const tal_constraint_rows rows = tal_matter_constraint_rows(matter, state);
    const int num_rows = rows.mp + rows.mv + rows.ma;
    return tal_matter_num_free(matter, state) - num_rows - excluded;
}

// f = -c_0 M u, body by body.
static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    const thermostat *it = self;
    const tali_thermal_body *bodies = tali_force_place(&it->base, context);
    const double c = chain_of(it, context->state)[0];
    for (int b = 1; b < context->poses.num_bodies; ++b) {
        const tal_spatial_vec momentum = tali_thermal_momentum(&bodies[b], context, b);
        F[b] = tal_sv_sub(F[b], tal_sv_scale(c, momentum));
        if (!(bodies[b].rotor > 0.0)) continue;
        const double u = tali_thermal_rotor_speed(&bodies[b], context, b);
        f[bodies[b].u] -= c * bodies[b].rotor * u;
    }
    return TAL_OK;
}

// Of link i, or of its s beyond the links.
static double change_of_link(const thermostat *it, const tal_force_context *context,
                             const tal_force_change *change, int i)
{
    if (change->dz == NULL || i < 0 || i >= 2 * it->length) return 0.0;
    const int start = tal_group_start(context->system, context->state, it->chain);
    return change->dz[start + i];
}

static tal_status apply_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    const thermostat *it = self;
    const tali_thermal_body *bodies = tali_force_place(&it->base, context);
    const double c = chain_of(it, context->state)[0];
    const double dc = change_of_link(it, context, change, 0);
    tali_thermal_add_friction_change(&it->base, context, change, c, dF, df);
    for (int b = 1; b < context->poses.num_bodies && dc != 0.0; ++b) {
        const tal_spatial_vec momentum = tali_thermal_momentum(&bodies[b], context, b);
        dF[b] = tal_sv_axpy(-dc, momentum, dF[b]);
        if (!(bodies[b].rotor > 0.0)) continue;
        const double u = tali_thermal_rotor_speed(&bodies[b], context, b);
        df[bodies[b].u] -= dc * bodies[b].rotor * u;
    }
    return TAL_OK;
}

// Q_i = tau^2 kT, and N times that for i = 0, are the inertias of the links: every link feels twice
// the energy of what it steers, less what that should be.
static tal_status realize_acceleration(const void *self, const tal_force_context *context)
{
    const thermostat *it = self;
    const double *values = tali_force_element_values(&it->base, context);
    const double kT = values[TAL_THERMOSTAT_KT], tau = values[TAL_THERMOSTAT_TIME];
    const double N = dof(it, context->state, values[TAL_THERMOSTAT_EXCLUDED]);
    if (!(N > 0.0)) {
        return tal_state_fail(
            context->state, TAL_ERR_BAD_VALUE,
            "thermostat '%s': %g degrees of freedom are left; there must be at least one",
            tal_force_name(it->base.forces, it->base.me), N);
    }
    const double *c = chain_of(it, context->state);
    const double K = tali_thermal_energy(&it->base, context);
    const double rate = 1.0 / (tau * tau);
    double *cdot = tal_group_upd_dot(context->system, context->state, it->chain);
    double *sdot = cdot + it->length;
    for (int i = 0; i < it->length; ++i) {
        const double next = i + 1 < it->length ? c[i + 1] : 0.0;
        double drive = (2.0 * K / (N * kT) - 1.0) * rate;
        if (i == 1) drive = N * c[0] * c[0] - rate;
        if (i > 1) drive = c[i - 1] * c[i - 1] - rate;
        cdot[i] = drive - c[i] * next;
        sdot[i] = c[i];
    }
    return TAL_OK;
}

// Of each line of realize_acceleration(), which has said before whether N is positive.
static tal_status add_rate_change(const void *self, const tal_force_context *context,
                                  const tal_force_change *change, double dzdot[])
{
    const thermostat *it = self;
    const double *values = tali_force_element_values(&it->base, context);
    const double kT = values[TAL_THERMOSTAT_KT], tau = values[TAL_THERMOSTAT_TIME];
    const double N = dof(it, context->state, values[TAL_THERMOSTAT_EXCLUDED]);
    const double *c = chain_of(it, context->state);
    const double dK = tali_thermal_energy_change(&it->base, context, change);
    double *dcdot = dzdot + tal_group_start(context->system, context->state, it->chain);
    double *dsdot = dcdot + it->length;
    for (int i = 0; i < it->length; ++i) {
        const bool has_next = i + 1 < it->length;
        const double next = has_next ? c[i + 1] : 0.0;
        const double dnext = has_next ? change_of_link(it, context, change, i + 1) : 0.0;
        const double dc = change_of_link(it, context, change, i);
        double drive = 2.0 * dK / (N * kT * tau * tau);
        if (i > 0) {
            drive =
                (i == 1 ? N : 1.0) * 2.0 * c[i - 1] * change_of_link(it, context, change, i - 1);
        }
        dcdot[i] += drive - dc * next - c[i] * dnext;
        dsdot[i] += dc;
    }
    return TAL_OK;
}

static tal_status calc_dissipated_power(const void *self, const tal_force_context *context,
                                        double *power)
{
    const thermostat *it = self;
    const double c = chain_of(it, context->state)[0];
    *power = 2.0 * c * tali_thermal_energy(&it->base, context);
    return TAL_OK;
}

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const thermostat *it = self;
    facts->count = it->length;
}

static const tali_force_param params[] = {{"kT", TALI_POSITIVE},
                                          {"relaxation time", TALI_POSITIVE},
                                          {"excluded degrees of freedom", TALI_NOT_NEGATIVE}};

static const tali_force_kind thermostat_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "thermostat",
            .apply = apply,
            .apply_change = apply_change,
            .add_rate_change = add_rate_change,
            .declare = declare_chain,
            .realize_instance = tali_thermal_place,
            .realize_acceleration = realize_acceleration,
            .calc_dissipated_power = calc_dissipated_power,
            .destroy = tali_force_element_destroy,
            .is_concurrent = true},
    .params = params,
    .num_params = 3,
    .fill_facts = fill_facts,
};

tal_thermostat_def tal_thermostat_def_default(void)
{
    return (tal_thermostat_def){.relaxation_time = 0.1, .chain_length = 3};
}

tal_force_ix tal_forces_add_thermostat(tal_forces *forces, const char *name,
                                       const tal_thermostat_def *def)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &thermostat_kind, def, "def")) return none;
    if (forces != NULL && (def->chain_length < 1 || def->chain_length > TAL_MAX_CHAIN)) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                              "thermostat '%s': a chain of %d links: 1 to %d are possible",
                              name != NULL ? name : "(no name)", def->chain_length, TAL_MAX_CHAIN);
        return none;
    }
    thermostat like = {.length = def->chain_length};
    const double initial[] = {def->kT, def->relaxation_time, def->excluded};
    return tali_force_element_add(forces, name, &thermostat_kind, &like, sizeof like, initial);
}

// --- in a State ---

// The element, in a State that has reached `needed`; NULL and a breach otherwise.
static const thermostat *at_stage(const tal_forces *forces, const tal_state *state,
                                  tal_force_ix force, tal_stage needed, const char *where)
{
    const thermostat *it = tali_force_element_of(forces, force, &thermostat_kind, where);
    if (it == NULL || tal_state_stage(state) >= needed) return it;
    (void)tali_breach(TAL_ERR_STAGE, where, "the State is at %s and must be at %s",
                      tal_stage_name(tal_state_stage(state)), tal_stage_name(needed));
    return NULL;
}

double tal_thermostat_dof(const tal_forces *forces, const tal_state *state, tal_force_ix force)
{
    const thermostat *it = at_stage(forces, state, force, TAL_STAGE_INSTANCE, __func__);
    if (it == NULL) return TALI_NAN;
    return dof(it, state, tal_force_param(forces, state, force, TAL_THERMOSTAT_EXCLUDED));
}

double tal_thermostat_temperature(const tal_forces *forces, tal_state *state, tal_force_ix force)
{
    const thermostat *it = at_stage(forces, state, force, TAL_STAGE_VELOCITY, __func__);
    if (it == NULL) return TALI_NAN;
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    if (context.velocities.bytes == NULL) return TALI_NAN;
    const double excluded = tali_force_element_values(&it->base, &context)[TAL_THERMOSTAT_EXCLUDED];
    return 2.0 * tali_thermal_energy(&it->base, &context) / dof(it, state, excluded);
}

double tal_thermostat_bath_energy(const tal_forces *forces, const tal_state *state,
                                  tal_force_ix force)
{
    const thermostat *it = at_stage(forces, state, force, TAL_STAGE_INSTANCE, __func__);
    if (it == NULL) return TALI_NAN;
    const double N = tal_thermostat_dof(forces, state, force);
    const double kT = tal_force_param(forces, state, force, TAL_THERMOSTAT_KT);
    const double tau = tal_force_param(forces, state, force, TAL_THERMOSTAT_TIME);
    const double *c = chain_of(it, state), *s = c + it->length;
    double sum = 0.0;
    for (int i = 0; i < it->length; ++i) {
        sum += (i == 0 ? N : 1.0) * (0.5 * tau * tau * c[i] * c[i] + s[i]);
    }
    return kT * sum;
}

int tal_thermostat_chain_length(const tal_forces *forces, tal_force_ix force)
{
    const thermostat *it = tali_force_element_of(forces, force, &thermostat_kind, __func__);
    return it != NULL ? it->length : -1;
}

// The element, if a State has its z and there are `n` links; NULL and a breach otherwise.
static const thermostat *with_chain(const tal_forces *forces, const tal_state *state,
                                    tal_force_ix force, int n, const char *where)
{
    const thermostat *it = at_stage(forces, state, force, TAL_STAGE_MODEL, where);
    if (it == NULL || tali_forces_enabled(forces, state) == NULL) return NULL;
    if (n == it->length) return it;
    (void)tali_breach(TAL_ERR_BAD_VALUE, where, "thermostat '%s' has %d links, not %d",
                      tal_force_name(forces, force), it->length, n);
    return NULL;
}

tal_status tal_thermostat_chain(const tal_forces *forces, const tal_state *state,
                                tal_force_ix force, double c[], double s[], int n)
{
    const thermostat *it = with_chain(forces, state, force, n, __func__);
    if (it == NULL) return tal_contract_last()->status;
    const double *chain = chain_of(it, state);
    if (c != NULL) memcpy(c, chain, (size_t)n * sizeof *c);
    if (s != NULL) memcpy(s, chain + n, (size_t)n * sizeof *s);
    return TAL_OK;
}

// TAL_OK when there are no values, or all are finite.
static tal_status check_links(const thermostat *it, tal_state *state, const char *name,
                              const double values[])
{
    for (int i = 0; values != NULL && i < it->length; ++i) {
        if (isfinite(values[i])) continue;
        return tal_state_refuse(state, TAL_ERR_NOT_FINITE, "thermostat '%s': %s_%d cannot be %g",
                                tal_force_name(it->base.forces, it->base.me), name, i, values[i]);
    }
    return TAL_OK;
}

tal_status tal_thermostat_set_chain(const tal_forces *forces, tal_state *state, tal_force_ix force,
                                    const double c[], const double s[], int n)
{
    const thermostat *it = with_chain(forces, state, force, n, __func__);
    if (it == NULL) return tal_contract_last()->status;
    tal_status st = check_links(it, state, "c", c);
    if (st == TAL_OK) st = check_links(it, state, "s", s);
    if (st != TAL_OK) return st;
    double *z = tal_state_upd_z(state);
    if (z == NULL) return tal_contract_last()->status;
    z += tal_group_start(forces->system, state, it->chain);
    if (c != NULL) memcpy(z, c, (size_t)n * sizeof *z);
    if (s != NULL) memcpy(z + n, s, (size_t)n * sizeof *z);
    return TAL_OK;
}
