// Forces along coordinates, f_u = N^T f_q: linear and nonlinear spring, stop, limit.
#include "real_internal.h"

#include "core/element_internal.h"

#include <talus/forces/mobility.h>

#include <math.h>

typedef struct on_coordinate on_coordinate;

// A law: f_q, its part -dE/dq that the potential energy accounts for, and its slopes.
typedef struct law {
    real force;
    real conservative;
    real energy;
    real df_dq, df_dqdot;
} law;

struct on_coordinate {
    tali_force_element base;
    tal_mobility at;
    bool qdot_is_u;
    tal_function *function; // owned; of a nonlinear spring
    law (*calc)(const on_coordinate *it, const double values[], real q, real qdot);
};

// --- which coordinate ---

static tal_status declare_coordinate(void *self, tal_forces *forces, tal_force_ix me)
{
    (void)tali_force_element_declare(self, forces, me);
    tali_force_element_declare_placed(self, forces, sizeof(int));
    return TAL_OK;
}

static tal_status refuse_quaternion(const on_coordinate *it, const tal_force_context *context)
{
    return tal_state_fail(
        context->state, TAL_ERR_BAD_VALUE,
        "%s '%s': coordinate %d of body '%s' is part of a quaternion in this State: use angles",
        it->base.kind->ops.name, tal_force_name(it->base.forces, it->base.me), it->at.i,
        tal_body_name(context->matter, it->at.body));
}

// The coordinate as the State counts; -1 when it is part of a quaternion.
static tal_status realize_instance(const void *self, const tal_force_context *context)
{
    const on_coordinate *it = self;
    const int nq = tal_body_nq(context->matter, context->state, it->at.body);
    const bool quaternion = nq != tal_body_nq_angles(context->matter, it->at.body);
    int *i = tal_cache_upd(context->system, context->state, it->base.placed);
    *i = it->at.i;
    if (quaternion) *i = it->at.i < 3 ? -1 : it->at.i + 1;
    if (*i < 0 && tal_force_is_enabled(it->base.forces, context->state, it->base.me)) {
        return refuse_quaternion(it, context);
    }
    return tal_cache_mark_valid(context->system, context->state, it->base.placed);
}

// --- the laws at a State ---

static double rate_of(const on_coordinate *it, const tal_force_context *context, int slot)
{
    if (!it->qdot_is_u) return tal_state_qdot(context->state)[slot];
    return tal_body_u(context->matter, context->state, it->at.body, it->at.i);
}

// The law at the State's q and qdot; qdot counts as zero below Velocity.
static tal_status evaluate(const on_coordinate *it, const tal_force_context *context, law *out,
                           double *qdot)
{
    const int i = *(const int *)tali_force_placed(&it->base, context);
    if (i < 0) return refuse_quaternion(it, context);
    const int slot = tal_body_q_start(context->matter, context->state, it->at.body) + i;
    *qdot = context->velocities.bytes != NULL ? rate_of(it, context, slot) : 0.0;
    const double *values =
        it->base.kind->num_params > 0 ? tali_force_element_values(&it->base, context) : NULL;
    *out = it->calc(it, values, tal_state_q(context->state)[slot], *qdot);
    return TAL_OK;
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)F;
    const on_coordinate *it = self;
    law at = {.force = 0.0};
    double qdot, f_q[TAL_MAX_NQ] = {0.0}, f_u[TAL_MAX_NU] = {0.0};
    tal_status st = evaluate(it, context, &at, &qdot);
    if (st != TAL_OK || at.force == 0.0) return st;
    f_q[*(const int *)tali_force_placed(&it->base, context)] = at.force;
    st = tal_body_mul_N(context->matter, context->state, it->at.body, TAL_N_T, f_q, f_u);
    if (st != TAL_OK) return st;
    double *f_of_body = f + tal_body_u_start(context->matter, it->at.body);
    for (int j = 0; j < tal_body_nu(context->matter, it->at.body); ++j) {
        f_of_body[j] += f_u[j];
    }
    return TAL_OK;
}

// Used only where qdot = u.
static tal_status apply_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)dF;
    const on_coordinate *it = self;
    law at = {.force = 0.0};
    double qdot = 0.0;
    const tal_status st = evaluate(it, context, &at, &qdot);
    if (st != TAL_OK) return st;
    const tal_body_ix first = {1};
    const int q0 = tal_body_q_start(context->matter, context->state, first);
    const int i = tal_body_q_start(context->matter, context->state, it->at.body) - q0 + it->at.i;
    const int j = tal_body_u_start(context->matter, it->at.body) + it->at.i;
    df[j] += at.df_dq * change->dq[i] + at.df_dqdot * change->du[j];
    return TAL_OK;
}

// Used only where qdot = u.
static tal_status add_slopes(const void *self, const tal_force_context *context,
                             tal_force_slopes *sum)
{
    const on_coordinate *it = self;
    law at = {.force = 0.0};
    double qdot = 0.0;
    const tal_status st = evaluate(it, context, &at, &qdot);
    if (st != TAL_OK) return st;
    const int j = tal_body_u_start(context->matter, it->at.body) + it->at.i;
    return tal_force_slopes_add_along(sum, j, j, at.df_dq, at.df_dqdot);
}

static tal_status calc_potential_energy(const void *self, const tal_force_context *context,
                                        double *energy)
{
    law at = {.force = 0.0};
    double qdot = 0.0;
    const tal_status st = evaluate(self, context, &at, &qdot);
    if (st == TAL_OK) *energy = at.energy;
    return st;
}

// What the force takes beyond what the potential energy stores.
static tal_status calc_dissipated_power(const void *self, const tal_force_context *context,
                                        double *power)
{
    law at = {.force = 0.0};
    double qdot = 0.0;
    const tal_status st = evaluate(self, context, &at, &qdot);
    if (st == TAL_OK) *power = (at.conservative - at.force) * qdot;
    return st;
}

// An element whose change is not just its slope: N varies, or the function has no second
// derivative.
static tal_force_ix without_slopes(tal_forces *forces, const on_coordinate *like,
                                   tal_force_ix added)
{
    if (added.i < 0) return added;
    const bool is_rough = like->function != NULL && tal_function_max_order(like->function) < 2;
    const bool has_slope = tal_body_qdot_is_u(forces->matter, like->at.body) && !is_rough;
    if (has_slope) return added;
    forces->elements[added.i].ops.apply_change = NULL;
    forces->elements[added.i].ops.add_slopes = NULL;
    return added;
}

static tal_force_ix add_on_coordinate(tal_forces *forces, const char *name,
                                      const tali_force_kind *kind, on_coordinate *like,
                                      const double params[])
{
    if (!tali_force_element_has_mobility(forces, name, kind, like->at, tal_body_nq_angles)) {
        return (tal_force_ix){-1};
    }
    // without forces the element is refused where it is added
    like->qdot_is_u = forces != NULL && tal_body_qdot_is_u(forces->matter, like->at.body);
    return without_slopes(forces, like,
                          tali_force_element_add(forces, name, kind, like, sizeof *like, params));
}

// What the tables of all elements on a coordinate share.
#define COORDINATE_OPS                                                                             \
    .size = sizeof(tal_force_ops), .apply = apply, .apply_change = apply_change,                   \
    .add_slopes = add_slopes, .declare = declare_coordinate, .realize_instance = realize_instance, \
    .calc_potential_energy = calc_potential_energy, .destroy = tali_force_element_destroy

// --- linear spring ---

static law calc_spring(const on_coordinate *it, const double values[], real q, real qdot)
{
    (void)it, (void)qdot;
    const double k = values[TAL_MOBILITY_SPRING_STIFFNESS];
    const real x = q - values[TAL_MOBILITY_SPRING_REST];
    return (law){-k * x, -k * x, 0.5 * k * x * x, -k, 0.0};
}

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const on_coordinate *it = self;
    facts->mobility = it->at;
    facts->function = it->function;
}

static const tali_force_param spring_params[] = {{"stiffness", TALI_NOT_NEGATIVE},
                                                 {"rest coordinate", TALI_FINITE}};

static const tali_force_kind spring_kind = {
    .ops = {COORDINATE_OPS, .name = "mobility spring", .needs = TAL_FORCE_NEEDS_Q},
    .scope = TALI_FORCE_SCOPE_COORDINATE,
    .params = spring_params,
    .num_params = 2,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_mobility_spring(tal_forces *forces, const char *name,
                                            tal_mobility mobility, double stiffness, double rest)
{
    on_coordinate like = {.at = mobility, .calc = calc_spring};
    const double params[] = {stiffness, rest};
    return add_on_coordinate(forces, name, &spring_kind, &like, params);
}

// --- nonlinear spring ---

static law calc_nonlinear(const on_coordinate *it, const double values[], real q, real qdot)
{
    (void)values, (void)qdot;
    const double f = -tal_function_calc_derivative_1(it->function, q, 1);
    const bool is_smooth = tal_function_max_order(it->function) >= 2;
    const double slope = is_smooth ? -tal_function_calc_derivative_1(it->function, q, 2) : 0.0;
    return (law){f, f, tal_function_calc_value_1(it->function, q), slope, 0.0};
}

static void release_function(void *self)
{
    on_coordinate *it = self;
    tal_function_destroy(it->function);
}

static const tali_force_kind nonlinear_kind = {
    .ops = {COORDINATE_OPS, .name = "mobility nonlinear spring", .needs = TAL_FORCE_NEEDS_Q},
    .scope = TALI_FORCE_SCOPE_COORDINATE,
    .release = release_function,
    .fill_facts = fill_facts,
};

// Whether the energy is a function of one argument with a derivative; otherwise the System
// remembers why not.
static bool is_usable(tal_forces *forces, const char *name, const tal_function *energy)
{
    if (tal_function_num_args(energy) == 1 && tal_function_max_order(energy) >= 1) return true;
    (void)tal_system_fail(
        forces->system, TAL_ERR_BAD_VALUE,
        "mobility nonlinear spring '%s': its energy has %d arguments and %d derivatives: it needs "
        "one and at least one",
        name != NULL ? name : "(no name)", tal_function_num_args(energy),
        tal_function_max_order(energy));
    return false;
}

tal_force_ix tal_forces_add_mobility_nonlinear_spring(tal_forces *forces, const char *name,
                                                      tal_mobility mobility, tal_function *energy)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &nonlinear_kind, energy, "energy")) return none;
    if (forces == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
        tal_function_destroy(energy);
        return none;
    }
    if (!is_usable(forces, name, energy) ||
        !tali_force_element_has_mobility(forces, name, &nonlinear_kind, mobility,
                                         tal_body_nq_angles)) {
        tal_function_destroy(energy);
        return none;
    }
    on_coordinate like = {.at = mobility,
                          .qdot_is_u = tal_body_qdot_is_u(forces->matter, mobility.body),
                          .function = energy,
                          .calc = calc_nonlinear};
    return without_slopes(
        forces, &like,
        tali_force_element_add(forces, name, &nonlinear_kind, &like, sizeof like, NULL));
}

// --- law ---

// f_q = f(q) or f(q, qdot): its work counts as external.
static law calc_law(const on_coordinate *it, const double values[], real q, real qdot)
{
    (void)values;
    const double x[2] = {q, qdot};
    const int n = tal_function_num_args(it->function), by_q = 0, by_qdot = 1;
    law at = {.force = tal_function_calc_value(it->function, x, n)};
    if (tal_function_max_order(it->function) < 1) return at;
    at.df_dq = tal_function_calc_derivative(it->function, x, n, &by_q, 1);
    if (n == 2) at.df_dqdot = tal_function_calc_derivative(it->function, x, n, &by_qdot, 1);
    return at;
}

static const tali_force_kind law_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "mobility law",
            .apply = apply,
            .apply_change = apply_change,
            .declare = declare_coordinate,
            .realize_instance = realize_instance,
            .destroy = tali_force_element_destroy},
    .scope = TALI_FORCE_SCOPE_COORDINATE,
    .release = release_function,
    .fill_facts = fill_facts,
};

// Whether there is a function of one or two arguments, and what it acts on.
static bool is_law(tal_forces *forces, const char *name, tal_mobility mobility,
                   const tal_function *force)
{
    const int n = tal_function_num_args(force);
    if (n == 1 || n == 2) {
        return tali_force_element_has_mobility(forces, name, &law_kind, mobility,
                                               tal_body_nq_angles);
    }
    (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                          "mobility law '%s': its force has %d arguments: it needs q, or q and "
                          "qdot",
                          name != NULL ? name : "(no name)", n);
    return false;
}

tal_force_ix tal_forces_add_mobility_law(tal_forces *forces, const char *name,
                                         tal_mobility mobility, tal_function *force)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &law_kind, force, "force")) return none;
    if (forces == NULL || !is_law(forces, name, mobility, force)) {
        if (forces == NULL) (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
        tal_function_destroy(force);
        return none;
    }
    on_coordinate like = {.at = mobility,
                          .qdot_is_u = tal_body_qdot_is_u(forces->matter, mobility.body),
                          .function = force,
                          .calc = calc_law};
    const tal_force_ix added =
        tali_force_element_add(forces, name, &law_kind, &like, sizeof like, NULL);
    const bool has_slope = like.qdot_is_u && added.i >= 0 && tal_function_max_order(force) >= 1;
    if (added.i >= 0 && !has_slope) forces->elements[added.i].ops.apply_change = NULL;
    return added;
}

// --- stop ---

// f_q = -k x max(0, 1 +- d qdot): it pushes into the range, and never pulls.
static law calc_stop(const on_coordinate *it, const double values[], real q, real qdot)
{
    (void)it;
    const double k = values[TAL_STOP_STIFFNESS], d = values[TAL_STOP_DISSIPATION];
    const double low = values[TAL_STOP_LOW], high = values[TAL_STOP_HIGH];
    const real zero = spread(0.0), one = spread(1.0);
    const mask is_below = less(q, spread(low)), is_above = less(spread(high), q);
    const real x = pick(is_above, q - high, pick(is_below, q - low, zero));
    const real sign = pick(is_above, one, -one);
    const real share =
        at_least(1.0 + d * sign * qdot, zero); // sign * qdot: how fast it goes deeper
    const real stiffness = pick(is_below || is_above, spread(k), zero);
    return (law){.force = -k * x * share,
                 .conservative = -k * x,
                 .energy = 0.5 * k * x * x,
                 .df_dq = -stiffness * share,
                 .df_dqdot = pick(less(zero, share), -k * x * d * sign, zero)};
}

static const char *check_stop(const double params[])
{
    return params[TAL_STOP_LOW] <= params[TAL_STOP_HIGH]
               ? NULL
               : "the low end of the range is above the high end";
}

static const tali_force_param stop_params[] = {{"stiffness", TALI_NOT_NEGATIVE},
                                               {"dissipation", TALI_NOT_NEGATIVE},
                                               {"low end", TALI_LIMIT},
                                               {"high end", TALI_LIMIT}};

static const tali_force_kind stop_kind = {
    .ops = {COORDINATE_OPS, .name = "mobility stop",
            .calc_dissipated_power = calc_dissipated_power},
    .scope = TALI_FORCE_SCOPE_COORDINATE,
    .params = stop_params,
    .num_params = 4,
    .check = check_stop,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_mobility_stop(tal_forces *forces, const char *name,
                                          tal_mobility mobility, const tal_stop *stop)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &stop_kind, stop, "stop")) return none;
    on_coordinate like = {.at = mobility, .calc = calc_stop};
    const double params[] = {stop->stiffness, stop->dissipation, stop->low, stop->high};
    return add_on_coordinate(forces, name, &stop_kind, &like, params);
}

// --- limit ---

// A stiffness that grows from zero to k within the width w beyond a limit, as a quintic step, and
// what it stores: x beyond the limit, not negative.
typedef struct soft_side {
    real share;  // of k
    real slope;  // d(share)/dx
    real energy; // over k
} soft_side;

static soft_side soften(real x, double w)
{
    const real one = spread(1.0);
    const real t = at_most(x / w, one);
    const mask is_past = less(spread(w), x);
    const real share = t * t * t * (10.0 + t * (6.0 * t - 15.0));
    const real slope = 30.0 * t * t * (1.0 - t) * (1.0 - t) / w;
    const real within = x * x * t * t * t * (2.0 + t * (6.0 / 7.0 * t - 2.5));
    const real past = 0.5 * x * x - w * w / 7.0;
    return (soft_side){pick(is_past, one, share), pick(is_past, spread(0.0), slope),
                       pick(is_past, past, within)};
}

// f_q = -k_up s(x_up) x_up + k_low s(x_low) x_low - c (s_up + s_low) qdot.
static law calc_limit(const on_coordinate *it, const double values[], real q, real qdot)
{
    (void)it;
    const double k_up = values[TAL_LIMIT_UPPER_STIFFNESS],
                 k_low = values[TAL_LIMIT_LOWER_STIFFNESS];
    const double c = values[TAL_LIMIT_DAMPING], w = values[TAL_LIMIT_TRANSITION];
    const real zero = spread(0.0);
    const real above = at_least(q - values[TAL_LIMIT_UPPER], zero);
    const real below = at_least(values[TAL_LIMIT_LOWER] - q, zero);
    const soft_side up = soften(above, w), low = soften(below, w);
    const real elastic = k_low * low.share * below - k_up * up.share * above;
    const real damping = c * (up.share + low.share);
    const real d_up = up.share + up.slope * above, d_low = low.share + low.slope * below;
    return (law){.force = elastic - damping * qdot,
                 .conservative = elastic,
                 .energy = k_up * up.energy + k_low * low.energy,
                 .df_dq = -k_up * d_up - k_low * d_low - c * (up.slope - low.slope) * qdot,
                 .df_dqdot = -damping};
}

static const char *check_limit(const double params[])
{
    return params[TAL_LIMIT_LOWER] <= params[TAL_LIMIT_UPPER]
               ? NULL
               : "its lower limit is above its upper limit";
}

static const tali_force_param limit_params[] = {{"lower limit", TALI_LIMIT},
                                                {"upper limit", TALI_LIMIT},
                                                {"lower stiffness", TALI_NOT_NEGATIVE},
                                                {"upper stiffness", TALI_NOT_NEGATIVE},
                                                {"damping", TALI_NOT_NEGATIVE},
                                                {"transition", TALI_POSITIVE}};

static const tali_force_kind limit_kind = {
    .ops = {COORDINATE_OPS, .name = "mobility limit",
            .calc_dissipated_power = calc_dissipated_power},
    .scope = TALI_FORCE_SCOPE_COORDINATE,
    .params = limit_params,
    .num_params = 6,
    .check = check_limit,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_mobility_limit(tal_forces *forces, const char *name,
                                           tal_mobility mobility, const tal_limit *limit)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &limit_kind, limit, "limit")) return none;
    on_coordinate like = {.at = mobility, .calc = calc_limit};
    const double params[] = {limit->lower,           limit->upper,   limit->lower_stiffness,
                             limit->upper_stiffness, limit->damping, limit->transition};
    return add_on_coordinate(forces, name, &limit_kind, &like, params);
}
