// Metabolic power of muscles, after Umberger 2010 and Bhargava 2004.
#include "measure_facts_internal.h"

#include "muscle/muscle_internal.h"

#include <talus/forces/metabolics.h>

#include <math.h>

tal_metabolics tal_metabolics_default(tal_metabolic_model model)
{
    return (tal_metabolics){.model = model,
                            .slow_fraction = 0.5,
                            .density = 1059.7,
                            .specific_tension = 0.25e6,
                            .effort_scale = 1.0,
                            .aerobic_factor = 1.5,
                            .has_heat = true,
                            .has_shortening = true,
                            .has_work = true,
                            .has_negative_work = true,
                            .uses_recruitment = true,
                            .forbids_negative = true,
                            .has_least_heat = true};
}

double tal_metabolics_basal(double body_mass)
{
    return 1.2 * body_mass;
}

// Excited slow and fast fibers (Bhargava): us = r sin(pi x / 2), uf = (1 - r)(1 - cos(pi x / 2)).
typedef struct recruited {
    double slow, fast;
} recruited;

static recruited recruit(const tal_metabolics *def, double x)
{
    const double r = def->slow_fraction, half_pi = 0.5 * TAL_PI;
    return (recruited){r * sin(half_pi * x), (1.0 - r) * (1.0 - cos(half_pi * x))};
}

// --- Umberger, all per mass [W/kg] ---

// Heat of shortening (v <= 0) or lengthening; v in optimal lengths per second.
static double umberger_shortening(const tal_metabolics *def, const tal_metabolic_state *at,
                                  double slow, double A)
{
    const double v = at->fiber_speed / at->fiber_length, S = def->aerobic_factor;
    const double by_slow = 250.0 / at->max_speed, by_fast = 153.0 / at->max_speed;
    double heat;
    if (v <= 0.0) {
        heat = S * A * A * (fmin(-by_slow * v, 100.0) * slow - by_fast * v * (1.0 - slow));
    } else {
        heat = S * A * (def->has_negative_work ? 4.0 : 0.3) * by_slow * v;
    }
    return at->norm_fiber > 1.0 ? heat * at->active_curve : heat;
}

static tal_metabolic_rates umberger(const tal_metabolics *def, const tal_metabolic_state *at,
                                    double mass)
{
    const double x = at->excitation, a = at->activation;
    const recruited u = recruit(def, x);
    const double sum = u.slow + u.fast;
    const double recruited_slow = sum > 0.0 ? u.slow / sum : 1.0;
    const double slow = def->uses_recruitment ? recruited_slow : def->slow_fraction;
    const double A = x > a ? x : 0.5 * (x + a);
    const double stretched = at->norm_fiber > 1.0 ? 0.4 + 0.6 * at->active_curve : 1.0;
    const double heat = def->aerobic_factor * pow(A, 0.6) * (128.0 * (1.0 - slow) + 25.0);
    const double pull = at->active_force < 0.0 ? 0.0 : at->active_force;
    const double work = -pull * at->fiber_speed;
    const bool counts = def->has_negative_work || at->fiber_speed <= 0.0;
    return (tal_metabolic_rates){.activation = mass * heat * stretched,
                                 .shortening = mass * umberger_shortening(def, at, slow, A),
                                 .work = counts ? work : 0.0,
                                 .mass = mass};
}

// --- Bhargava [W] ---

// How maintenance depends on the fiber length: lines through (0.5, 0.5), (1, 1), (1.5, 0).
static double maintenance_factor(double l)
{
    if (l <= 0.5) return 0.5;
    if (l <= 1.0) return l;
    return fmax(1.0 - 2.0 * (l - 1.0), 0.0);
}

static double bhargava_alpha(const tal_metabolics *def, const tal_metabolic_state *at)
{
    const double F = at->active_force + at->passive_force;
    const bool shortens = at->fiber_speed <= 0.0;
    if (!def->uses_force_shortening) return shortens ? 0.25 * F : 0.0;
    const double isometric = at->activation * at->active_curve * at->max_force;
    return shortens ? 0.16 * isometric + 0.18 * F : 0.157 * F;
}

static tal_metabolic_rates bhargava(const tal_metabolics *def, const tal_metabolic_state *at,
                                    double mass)
{
    const recruited u = recruit(def, at->excitation);
    const double g = maintenance_factor(at->norm_fiber);
    return (tal_metabolic_rates){.activation = mass * (40.0 * u.slow + 133.0 * u.fast),
                                 .maintenance = mass * g * (74.0 * u.slow + 111.0 * u.fast),
                                 .shortening = -bhargava_alpha(def, at) * at->fiber_speed,
                                 .work = -at->active_force * at->fiber_speed,
                                 .mass = mass};
}

// --- both ---

// First the total is kept from being negative, then heat from being too small; terms that do not
// count are left out last.
static void apply_limits(const tal_metabolics *def, tal_metabolic_rates *rates)
{
    const double sum = rates->activation + rates->maintenance + rates->shortening + rates->work;
    if (def->forbids_negative && sum < 0.0) rates->shortening -= sum;
    const double warm = rates->activation + rates->maintenance;
    double heat = (def->has_heat ? warm : 0.0) + (def->has_shortening ? rates->shortening : 0.0);
    const bool is_whole = def->has_heat && def->has_shortening;
    if (def->has_least_heat && is_whole) heat = heat < rates->mass ? rates->mass : heat; // 1 W/kg
    rates->total = heat + (def->has_work ? rates->work : 0.0);
}

tal_metabolic_rates tal_metabolics_calc(const tal_metabolics *def, const tal_metabolic_state *at)
{
    if (def == NULL || at == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
        return (tal_metabolic_rates){TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN};
    }
    tal_metabolic_state scaled = *at;
    scaled.excitation *= def->effort_scale;
    scaled.activation *= def->effort_scale;
    scaled.active_force *= def->effort_scale;
    const double volume = at->fiber_length * at->max_force / def->specific_tension;
    const double mass = def->mass > 0.0 ? def->mass : def->density * volume;
    tal_metabolic_rates rates = def->model == TAL_METABOLICS_BHARGAVA
                                    ? bhargava(def, &scaled, mass)
                                    : umberger(def, &scaled, mass);
    apply_limits(def, &rates);
    return rates;
}

// --- muscles of a System ---

tal_status tal_muscle_calc_metabolics(const tal_forces *forces, tal_state *state,
                                      tal_force_ix muscle, const tal_metabolics *def,
                                      tal_metabolic_rates *rates)
{
    if (def == NULL || rates == NULL) return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    double out[TAL_NUM_MUSCLE_OUTPUTS];
    const tal_status st = tal_muscle_calc_outputs(forces, state, muscle, out);
    if (st != TAL_OK) return st;
    const tal_metabolic_state at = {
        .excitation = out[TAL_MUSCLE_EXCITATION],
        .activation = out[TAL_MUSCLE_ACTIVATION],
        .norm_fiber = out[TAL_MUSCLE_NORM_FIBER],
        .fiber_speed = out[TAL_MUSCLE_FIBER_SPEED],
        .active_curve = out[TAL_MUSCLE_ACTIVE_MULTIPLIER],
        .active_force = out[TAL_MUSCLE_ACTIVE_FIBER_FORCE],
        .passive_force = out[TAL_MUSCLE_PASSIVE_FIBER_FORCE],
        .max_force = tal_force_param(forces, state, muscle, TAL_MUSCLE_MAX_FORCE),
        .fiber_length = tal_force_param(forces, state, muscle, TAL_MUSCLE_FIBER_LENGTH),
        .max_speed = tal_force_param(forces, state, muscle, TAL_MUSCLE_MAX_SPEED)};
    *rates = tal_metabolics_calc(def, &at);
    return TAL_OK;
}

typedef struct target {
    const tal_forces *forces;
    tal_force_ix muscle;
    tal_metabolics def;
} target;

static tal_status calc(const void *self, const tal_system *system, tal_state *state, int order,
                       int n, double value[])
{
    (void)system;
    (void)order;
    (void)n;
    const target *it = self;
    tal_metabolic_rates rates = {.total = TALI_NAN};
    const tal_status st =
        tal_muscle_calc_metabolics(it->forces, state, it->muscle, &it->def, &rates);
    value[0] = rates.total;
    return st;
}

static void needs(const void *self, const tal_system *system, int order, tal_measure_needs *stages)
{
    (void)self;
    (void)system;
    (void)order;
    tal_measure_needs_stage(stages, TAL_STAGE_DYNAMICS);
}

static const tal_measure_ops metabolics_ops = {
    .size = sizeof metabolics_ops, .name = "metabolics", .calc = calc, .needs = needs};

tal_measure_ix tal_measure_add_metabolics(tal_forces *forces, const char *name, tal_force_ix muscle,
                                          const tal_metabolics *def)
{
    const tal_measure_ix none = {-1};
    if (forces == NULL || def == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
        if (forces != NULL) tali_system_keep_breach(forces->system);
        return none;
    }
    if (!tali_muscle_is_to_measure(forces, muscle, __func__)) return none;
    const target self = {forces, muscle, *def};
    return tali_muscle_add_measure(forces, name, &metabolics_ops, &self, sizeof self);
}

bool tali_muscle_metabolics_facts(const tal_system *system, tal_measure_ix measure,
                                  tal_force_ix *muscle, tal_metabolics *def)
{
    const target *it = tali_measure_self_as(system, measure, &metabolics_ops);
    if (it == NULL) return false;
    *muscle = it->muscle;
    *def = it->def;
    return true;
}
