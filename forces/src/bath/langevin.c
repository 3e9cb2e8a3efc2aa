// Langevin's friction and noise on all of matter, renewed every fixed interval.
#include "bath/thermal_internal.h"

#include <talus/common/random.h>
#include <talus/forces/thermostat.h>

#include <math.h>

// Normal numbers of one body: for its moment, its force, its rotor.
typedef struct draw {
    tal_vec3 w, v;
    double u;
} draw;

// The numbers of one interval.
typedef struct noise {
    int64_t interval;
    draw draws[]; // [num_bodies]
} noise;

typedef struct langevin {
    tali_force_element base;
    uint64_t seed;       // initial value
    tal_var_ix seed_ix;  // uint64_t
    tal_var_ix interval; // int64_t: the one that the step is in; NO_STEP: no step has begun
    tal_cache_ix noise;  // of the interval asked for last
    int num_bodies;
} langevin;

// A step may begin this far from a multiple of the interval, in intervals: what sums of steps lose.
static const double SLACK = 1e-6;

// Times before zero have intervals below zero, so none of those is "none".
static const int64_t NO_STEP = INT64_MIN;

// Doubles tell intervals apart up to 2^53 of them.
static const double MOST_INTERVALS = 9007199254740992.0;

// --- which interval ---

static const char TOO_MANY[] = "there are more intervals than can be counted";

static tal_status refuse_step(const langevin *it, tal_state *state, const char *subject)
{
    const double dt = tal_force_param(it->base.forces, state, it->base.me, TAL_LANGEVIN_INTERVAL);
    return tal_state_fail(state, TAL_ERR_BAD_VALUE,
                          "langevin '%s': %s at t = %.17g; its noise needs an integrator with a "
                          "fixed step of %g s",
                          tal_force_name(it->base.forces, it->base.me), subject, tal_state_t(state),
                          dt);
}

// The interval that a step beginning here is in: an update of the State's variable.
static tal_status calc_interval(const void *self, const tal_system *system, tal_state *state,
                                void *value)
{
    (void)system;
    const langevin *it = self;
    *(int64_t *)value = NO_STEP;
    if (!tal_force_is_enabled(it->base.forces, state, it->base.me)) return TAL_OK;
    const double dt = tal_force_param(it->base.forces, state, it->base.me, TAL_LANGEVIN_INTERVAL);
    const double intervals = tal_state_t(state) / dt;
    if (!(fabs(intervals) < MOST_INTERVALS)) return refuse_step(it, state, TOO_MANY);
    const bool is_between = !(fabs(intervals - round(intervals)) <= SLACK);
    if (is_between) return refuse_step(it, state, "a step begins between two intervals");
    *(int64_t *)value = (int64_t)round(intervals);
    return TAL_OK;
}

// The interval to draw the noise of: the step's, or that of t before the first step.
static tal_status find_interval(const langevin *it, const tal_force_context *context,
                                int64_t *interval)
{
    const double dt = tali_force_geometry(&it->base, context)[TAL_LANGEVIN_INTERVAL];
    const double intervals = tal_state_t(context->state) / dt;
    if (!(fabs(intervals) < MOST_INTERVALS)) return refuse_step(it, context->state, TOO_MANY);
    *interval = *(const int64_t *)tal_var_value(context->system, context->state, it->interval);
    if (*interval == NO_STEP) *interval = (int64_t)floor(intervals + SLACK);
    const double within = intervals - (double)*interval;
    if (within >= -SLACK && within <= 1.0 + SLACK) return TAL_OK;
    return refuse_step(it, context->state, "a step extends beyond its interval");
}

// --- noise ---

static tal_vec3 draw_vector(tal_random *random)
{
    tal_vec3 v;
    v.x = tal_random_normal(random);
    v.y = tal_random_normal(random);
    v.z = tal_random_normal(random);
    return v;
}

static void fill_noise(const langevin *it, const tal_force_context *context, int64_t interval,
                       noise *to)
{
    tal_random random = {.stream = (uint64_t)interval, .counter = (uint64_t)it->base.me.i << 32};
    random.seed = *(const uint64_t *)tal_var_value(context->system, context->state, it->seed_ix);
    to->interval = interval;
    for (int b = 0; b < it->num_bodies; ++b) {
        to->draws[b].w = draw_vector(&random);
        to->draws[b].v = draw_vector(&random);
        to->draws[b].u = tal_random_normal(&random);
    }
}

// The draws of the State's interval, computed again if it is not the interval of the last request.
static tal_status draw_noise(const langevin *it, const tal_force_context *context,
                             const draw **draws)
{
    int64_t interval = 0;
    const tal_status st = find_interval(it, context, &interval);
    if (st != TAL_OK) return st;
    const noise *kept = tal_cache_is_valid(context->system, context->state, it->noise)
                            ? tal_cache_value(context->system, context->state, it->noise)
                            : NULL;
    if (kept == NULL || kept->interval != interval) {
        noise *made = tal_cache_upd(context->system, context->state, it->noise);
        fill_noise(it, context, interval, made);
        (void)tal_cache_mark_valid(context->system, context->state, it->noise);
        kept = made;
    }
    *draws = kept->draws;
    return TAL_OK;
}

// --- forces ---

// What one body feels: -gamma times its momentum, and noise with covariance size^2 M_b. At the
// center of mass M_b is the inertia and the mass, whose square roots are known.
static tal_spatial_vec force_on(const tali_thermal_body *body, const tal_force_context *context,
                                int b, double gamma, double size, const draw *xi)
{
    const tal_mat3 R_GM = tal_view_X_GM(&context->poses, b)->R;
    const tal_vec3 p_MC_G = tal_m3_mul_v3(R_GM, body->com_M);
    const tal_vec3 f = tal_v3_scale(size * sqrt(body->mass), xi->v);
    const tal_vec3 m_M = tal_v3_scale(size, tal_m3_mul_v3(body->root, xi->w));
    const tal_vec3 m = tal_v3_add(tal_m3_mul_v3(R_GM, m_M), tal_v3_cross(p_MC_G, f));
    const tal_spatial_vec momentum = tali_thermal_momentum(body, context, b);
    return tal_sv_sub(tal_sv(m, f), tal_sv_scale(gamma, momentum));
}

// The size of the noise.
static double noise_size(const langevin *it, const tal_force_context *context)
{
    const double *values =
        tali_force_element_values(&it->base, context) - 1; // the interval comes before
    const double dt = tali_force_geometry(&it->base, context)[TAL_LANGEVIN_INTERVAL];
    return sqrt(2.0 * values[TAL_LANGEVIN_FRICTION] * values[TAL_LANGEVIN_KT] / dt);
}

// Everything at one State. F and f may be NULL: then only the power that goes to the bath is
// summed.
static tal_status sum_up(const langevin *it, const tal_force_context *context, tal_spatial_vec F[],
                         double f[], double *power)
{
    const tali_thermal_body *bodies = tali_force_place(&it->base, context);
    const double gamma = tali_force_element_values(&it->base, context)[TAL_LANGEVIN_FRICTION - 1];
    const double size = noise_size(it, context);
    const draw *draws = NULL;
    const tal_status st = draw_noise(it, context, &draws);
    if (st != TAL_OK) return st;
    for (int b = 1; b < it->num_bodies; ++b) {
        const tali_thermal_body *body = &bodies[b];
        const tal_spatial_vec on = force_on(body, context, b, gamma, size, &draws[b]);
        *power -= tal_sv_dot(on, *tal_view_V_GM(&context->velocities, b));
        if (F != NULL) F[b] = tal_sv_add(F[b], on);
        if (!(body->rotor > 0.0)) continue;
        const double u = tali_thermal_rotor_speed(body, context, b);
        const double along = size * sqrt(body->rotor) * draws[b].u - gamma * body->rotor * u;
        *power -= along * u;
        if (f != NULL) f[body->u] += along;
    }
    return TAL_OK;
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    double power = 0.0;
    return sum_up(self, context, F, f, &power);
}

// The noise is fixed in its interval: forces as they are, moments turning with the bodies.
static tal_status apply_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    const langevin *it = self;
    const tali_thermal_body *bodies = tali_force_place(&it->base, context);
    const draw *draws = NULL;
    const tal_status st = draw_noise(it, context, &draws);
    if (st != TAL_OK) return st;
    const double gamma = tali_force_element_values(&it->base, context)[TAL_LANGEVIN_FRICTION - 1];
    const double size = noise_size(it, context);
    tali_thermal_add_friction_change(&it->base, context, change, gamma, dF, df);
    for (int b = 1; b < it->num_bodies; ++b) {
        const tal_mat3 R_GM = tal_view_X_GM(&context->poses, b)->R;
        const tal_vec3 t = change->dX[b].w, p_MC_G = tal_m3_mul_v3(R_GM, bodies[b].com_M);
        const tal_vec3 f = tal_v3_scale(size * sqrt(bodies[b].mass), draws[b].v);
        const tal_vec3 m_M = tal_v3_scale(size, tal_m3_mul_v3(bodies[b].root, draws[b].w));
        const tal_vec3 dm = tal_v3_add(tal_v3_cross(t, tal_m3_mul_v3(R_GM, m_M)),
                                       tal_v3_cross(tal_v3_cross(t, p_MC_G), f));
        dF[b].w = tal_v3_add(dF[b].w, dm);
    }
    return TAL_OK;
}

static tal_status calc_dissipated_power(const void *self, const tal_force_context *context,
                                        double *power)
{
    return sum_up(self, context, NULL, NULL, power);
}

// --- the kind ---

// Seed and interval are variables of the State; the noise of one interval is kept in the cache.
static tal_status declare_langevin(void *self, tal_forces *forces, tal_force_ix me)
{
    langevin *it = self;
    it->num_bodies = tal_matter_num_bodies(tal_forces_matter(forces));
    tal_var_def var = tal_var_def_default();
    var.name = "seed";
    var.size = sizeof it->seed;
    var.initial = &it->seed;
    var.invalidates = TAL_STAGE_DYNAMICS;
    it->seed_ix = tal_force_add_var(forces, me, &var);

    var = tal_var_def_default();
    var.name = "interval";
    var.size = sizeof NO_STEP;
    var.initial = &NO_STEP;
    var.invalidates = TAL_STAGE_DYNAMICS;
    var.update = calc_interval;
    var.update_depends_on = TAL_STAGE_TIME;
    var.sampled = true;
    it->interval = tal_force_add_var(forces, me, &var);

    tal_cache_def cache = tal_cache_def_default();
    const tal_prereq seed = tal_prereq_var(it->seed_ix);
    cache.name = "noise";
    cache.size = sizeof(noise) + (size_t)it->num_bodies * sizeof(draw);
    cache.prereqs = &seed;
    cache.num_prereqs = 1;
    it->noise = tal_force_add_cache(forces, me, &cache);
    tali_thermal_reserve(&it->base, forces);
    return tali_force_element_declare(self, forces, me);
}

static const tali_force_param params[] = {
    {"interval", TALI_POSITIVE}, {"kT", TALI_NOT_NEGATIVE}, {"friction", TALI_NOT_NEGATIVE}};

static const tali_force_kind langevin_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "langevin",
            .apply = apply,
            .apply_change = apply_change,
            .declare = declare_langevin,
            .realize_instance = tali_thermal_place,
            .calc_dissipated_power = calc_dissipated_power,
            .destroy = tali_force_element_destroy},
    .params = params,
    .num_params = 3,
    .num_instance = 1,
};

tal_langevin_def tal_langevin_def_default(void)
{
    return (tal_langevin_def){.seed = 0};
}

tal_force_ix tal_forces_add_langevin(tal_forces *forces, const char *name,
                                     const tal_langevin_def *def)
{
    if (!tali_force_element_given(forces, name, &langevin_kind, def, "def")) {
        return (tal_force_ix){-1};
    }
    langevin like = {.seed = def->seed};
    const double initial[] = {def->interval, def->kT, def->friction};
    return tali_force_element_add(forces, name, &langevin_kind, &like, sizeof like, initial);
}

// --- in a State ---

uint64_t tal_langevin_seed(const tal_forces *forces, const tal_state *state, tal_force_ix force)
{
    const langevin *it = tali_force_element_of(forces, force, &langevin_kind, __func__);
    const uint64_t *seed =
        it != NULL ? tali_cache_var_read(forces->system, state, it->seed_ix, __func__) : NULL;
    return seed != NULL ? *seed : 0;
}

tal_status tal_langevin_set_seed(const tal_forces *forces, tal_state *state, tal_force_ix force,
                                 uint64_t seed)
{
    const langevin *it = tali_force_element_of(forces, force, &langevin_kind, __func__);
    if (it == NULL) return tal_contract_last()->status;
    return tal_var_set(forces->system, state, it->seed_ix, &seed);
}

tal_status tal_langevin_restart(const tal_forces *forces, tal_state *state, tal_force_ix force)
{
    const langevin *it = tali_force_element_of(forces, force, &langevin_kind, __func__);
    if (it == NULL) return tal_contract_last()->status;
    return tal_var_set(forces->system, state, it->interval, &NO_STEP);
}
