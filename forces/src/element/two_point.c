// Forces along the line between two stations.
#include "real_internal.h"

#include "core/element_internal.h"

#include <talus/forces/two_point.h>

typedef struct two_point {
    tali_force_element base;
    int body[2];
    tal_function *law; // owned; NULL: it has parameters
} two_point;

// The stations, from Mo in M.
typedef struct ends {
    tal_vec3 p_MS[2];
} ends;

// The line at one instant.
typedef struct line {
    tal_vec3 p_MS_G[2]; // the stations, from Mo in Ground
    tal_vec3 d_G;       // from station 1 to station 2, of length one; zero where they meet
    real x, xdot;       // distance and its rate; the rate is zero below Velocity
} line;

// Tension of a law.
typedef real (*tension_fn)(const two_point *it, const double values[], const line *at);

static tal_status declare_two_point(void *self, tal_forces *forces, tal_force_ix me)
{
    tali_force_element_reserve_place(self, forces, sizeof(ends));
    return tali_force_element_declare(self, forces, me);
}

static tal_status realize_instance(const void *self, const tal_force_context *context)
{
    const two_point *it = self;
    const double *geometry = tali_force_geometry(&it->base, context);
    ends *placed = tali_force_element_upd_place(&it->base, context);
    for (int k = 0; k < 2; ++k) {
        placed->p_MS[k] = tali_force_station_in_M(context, it->body[k], geometry + 3 * k);
    }
    return TAL_OK;
}

TAL_ALWAYS_INLINE line line_at(const two_point *it, const tal_force_context *context)
{
    const ends *placed = tali_force_place(&it->base, context);
    line at = {.xdot = 0.0};
    tal_vec3 p_GS[2];
    for (int k = 0; k < 2; ++k) {
        const tal_xform *X_GM = tal_view_X_GM(&context->poses, it->body[k]);
        at.p_MS_G[k] = tal_m3_mul_v3(X_GM->R, placed->p_MS[k]);
        p_GS[k] = tal_v3_add(X_GM->p, at.p_MS_G[k]);
    }
    const tal_vec3 p = tal_v3_sub(p_GS[1], p_GS[0]);
    at.x = tal_v3_norm(p);
    at.d_G = tal_v3_scale(
        pick(less(spread(TALI_FORCE_LEAST_DISTANCE), at.x), 1.0 / at.x, spread(0.0)), p);
    if (context->velocities.bytes == NULL) return at;
    const tal_vec3 v1 = tali_force_station_velocity(context, it->body[0], at.p_MS_G[0]);
    const tal_vec3 v2 = tali_force_station_velocity(context, it->body[1], at.p_MS_G[1]);
    at.xdot = tal_v3_dot(at.d_G, tal_v3_sub(v2, v1));
    return at;
}

// Inlined with a law known to the compiler, so that the line stays in registers.
TAL_ALWAYS_INLINE tal_status apply(const two_point *it, const tal_force_context *context,
                                   tension_fn calc_tension, tal_spatial_vec F[])
{
    const line at = line_at(it, context);
    const double tension = calc_tension(it, tali_force_element_values(&it->base, context), &at);
    const tal_vec3 f_G = tal_v3_scale(tension, at.d_G);
    tal_spatial_vec *F1 = &F[it->body[0]], *F2 = &F[it->body[1]];
    *F1 = tal_sv_add(*F1, tal_sv(tal_v3_cross(at.p_MS_G[0], f_G), f_G));
    *F2 = tal_sv_sub(*F2, tal_sv(tal_v3_cross(at.p_MS_G[1], f_G), f_G));
    return TAL_OK;
}

// How a station moves: the shift of Mo and the turn of p_MS_G.
static tal_vec3 shift_of(tal_spatial_vec dX, tal_vec3 p_MS_G)
{
    return tal_v3_add(dX.v, tal_v3_cross(dX.w, p_MS_G));
}

// With p = x d from station 1 to station 2, v their relative velocity, and t the tension,
//
//     dx = d . dp,   dd = (dp - d dx) / x,   dxdot = d . dv + dd . v
//     dt = (dt/dx) dx + (dt/dxdot) dxdot,    df = dt d + t dd
//
// dv is that of stations fixed on their bodies: dV_S = dv_M + dw x p + w x dp_MS.
static tal_status apply_change(const two_point *it, const tal_force_context *context,
                               tension_fn calc_tension, const double slopes[2],
                               const tal_force_change *change, tal_spatial_vec dF[])
{
    const line at = line_at(it, context);
    const double t = calc_tension(it, tali_force_element_values(&it->base, context), &at);
    if (!(at.x > TALI_FORCE_LEAST_DISTANCE)) return TAL_OK; // no direction, no force
    tal_vec3 arm[2], dp[2], v[2], dv[2];
    for (int k = 0; k < 2; ++k) {
        const int b = it->body[k];
        const tal_spatial_vec V_GM = *tal_view_V_GM(&context->velocities, b);
        arm[k] = tal_v3_cross(change->dX[b].w, at.p_MS_G[k]);
        dp[k] = shift_of(change->dX[b], at.p_MS_G[k]);
        v[k] = tali_force_station_velocity(context, b, at.p_MS_G[k]);
        dv[k] = tal_v3_add(shift_of(change->dV[b], at.p_MS_G[k]), tal_v3_cross(V_GM.w, arm[k]));
    }
    const tal_vec3 dp12 = tal_v3_sub(dp[1], dp[0]);
    const double dx = tal_v3_dot(at.d_G, dp12);
    const tal_vec3 dd = tal_v3_scale(1.0 / at.x, tal_v3_sub(dp12, tal_v3_scale(dx, at.d_G)));
    const double dxdot =
        tal_v3_dot(at.d_G, tal_v3_sub(dv[1], dv[0])) + tal_v3_dot(dd, tal_v3_sub(v[1], v[0]));
    const double dt = slopes[0] * dx + slopes[1] * dxdot;
    const tal_vec3 f = tal_v3_scale(t, at.d_G);
    const tal_vec3 df = tal_v3_axpy(dt, at.d_G, tal_v3_scale(t, dd));
    for (int k = 0; k < 2; ++k) {
        const tal_vec3 dm = tal_v3_add(tal_v3_cross(arm[k], f), tal_v3_cross(at.p_MS_G[k], df));
        tal_spatial_vec *on = &dF[it->body[k]];
        *on = k == 0 ? tal_sv_add(*on, tal_sv(dm, df)) : tal_sv_sub(*on, tal_sv(dm, df));
    }
    return TAL_OK;
}

// The force on body 2 is -t d, at a point of the line; along it the stiffness is -dt/dx, across it
// -t / x.
static tal_status add_slopes(const two_point *it, const tal_force_context *context,
                             tension_fn calc_tension, const double slopes[2], tal_force_slopes *sum)
{
    const line at = line_at(it, context);
    if (!(at.x > TALI_FORCE_LEAST_DISTANCE)) return TAL_OK;
    const double *values = tali_force_element_values(&it->base, context);
    const double across = calc_tension(it, values, &at) / at.x;
    const tal_mat3 dd = tal_m3_outer(at.d_G, at.d_G);
    const tal_mat3 K =
        tal_m3_sub(tal_m3_scale(across - slopes[0], dd), tal_m3_scale(across, TAL_MAT3_IDENTITY));
    const tal_mat3 C = tal_m3_scale(-slopes[1], dd);
    const tal_vec3 p_GM = tal_view_X_GM(&context->poses, it->body[1])->p;
    return tal_force_slopes_add(sum, (tal_body_ix){it->body[0]}, (tal_body_ix){it->body[1]},
                                tal_v3_add(p_GM, at.p_MS_G[1]), &K, &C);
}

// --- the laws ---

static real tension_of_spring(const two_point *it, const double values[], const line *at)
{
    (void)it;
    return values[0] * (at->x - values[1]);
}

static real tension_of_damper(const two_point *it, const double values[], const line *at)
{
    (void)it;
    return values[0] * at->xdot;
}

static real tension_of_force(const two_point *it, const double values[], const line *at)
{
    (void)it, (void)at;
    return -values[0];
}

static real tension_of_law(const two_point *it, const double values[], const line *at)
{
    (void)values;
    const double x[2] = {at->x, at->xdot};
    return tal_function_calc_value(it->law, x, tal_function_num_args(it->law));
}

static tal_status apply_spring(const void *self, const tal_force_context *context,
                               tal_spatial_vec F[], double f[])
{
    (void)f;
    return apply(self, context, tension_of_spring, F);
}

static tal_status apply_damper(const void *self, const tal_force_context *context,
                               tal_spatial_vec F[], double f[])
{
    (void)f;
    return apply(self, context, tension_of_damper, F);
}

static tal_status apply_force(const void *self, const tal_force_context *context,
                              tal_spatial_vec F[], double f[])
{
    (void)f;
    return apply(self, context, tension_of_force, F);
}

static tal_status apply_law(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                            double f[])
{
    (void)f;
    return apply(self, context, tension_of_law, F);
}

// Derivatives of a law by distance and rate; by the rate zero where it does not depend on that.
static void calc_law_slopes(const two_point *it, const tal_force_context *context, double slopes[2])
{
    const line at = line_at(it, context);
    const double x[2] = {at.x, at.xdot};
    const int n = tal_function_num_args(it->law);
    for (int k = 0; k < 2; ++k) {
        slopes[k] = k < n ? tal_function_calc_derivative(it->law, x, n, &k, 1) : 0.0;
    }
}

static tal_status change_of_law(const void *self, const tal_force_context *context,
                                const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)df;
    double slopes[2];
    calc_law_slopes(self, context, slopes);
    return apply_change(self, context, tension_of_law, slopes, change, dF);
}

static tal_status change_of_spring(const void *self, const tal_force_context *context,
                                   const tal_force_change *change, tal_spatial_vec dF[],
                                   double df[])
{
    (void)df;
    const two_point *it = self;
    const double slopes[2] = {tali_force_element_values(&it->base, context)[0], 0.0};
    return apply_change(it, context, tension_of_spring, slopes, change, dF);
}

static tal_status change_of_damper(const void *self, const tal_force_context *context,
                                   const tal_force_change *change, tal_spatial_vec dF[],
                                   double df[])
{
    (void)df;
    const two_point *it = self;
    const double slopes[2] = {0.0, tali_force_element_values(&it->base, context)[0]};
    return apply_change(it, context, tension_of_damper, slopes, change, dF);
}

static tal_status change_of_force(const void *self, const tal_force_context *context,
                                  const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)df;
    const double slopes[2] = {0.0, 0.0};
    return apply_change(self, context, tension_of_force, slopes, change, dF);
}

static tal_status slopes_of_spring(const void *self, const tal_force_context *context,
                                   tal_force_slopes *sum)
{
    const two_point *it = self;
    const double slopes[2] = {tali_force_element_values(&it->base, context)[0], 0.0};
    return add_slopes(it, context, tension_of_spring, slopes, sum);
}

static tal_status slopes_of_damper(const void *self, const tal_force_context *context,
                                   tal_force_slopes *sum)
{
    const two_point *it = self;
    const double slopes[2] = {0.0, tali_force_element_values(&it->base, context)[0]};
    return add_slopes(it, context, tension_of_damper, slopes, sum);
}

static tal_status slopes_of_law(const void *self, const tal_force_context *context,
                                tal_force_slopes *sum)
{
    double slopes[2];
    calc_law_slopes(self, context, slopes);
    return add_slopes(self, context, tension_of_law, slopes, sum);
}

static tal_status energy_of_spring(const void *self, const tal_force_context *context,
                                   double *energy)
{
    const two_point *it = self;
    const double *values = tali_force_element_values(&it->base, context);
    const double stretch = line_at(it, context).x - values[1];
    *energy = 0.5 * values[0] * stretch * stretch;
    return TAL_OK;
}

static tal_status power_of_damper(const void *self, const tal_force_context *context, double *power)
{
    const two_point *it = self;
    const line at = line_at(it, context);
    *power = tali_force_element_values(&it->base, context)[0] * at.xdot * at.xdot;
    return TAL_OK;
}

// --- the kinds ---

// clang-format off
#define STATIONS                                                                                   \
    {"station 1 x", TALI_FINITE}, {"station 1 y", TALI_FINITE}, {"station 1 z", TALI_FINITE},      \
    {"station 2 x", TALI_FINITE}, {"station 2 y", TALI_FINITE}, {"station 2 z", TALI_FINITE}
// clang-format on

static const tali_force_param spring_params[] = {
    STATIONS, {"stiffness", TALI_NOT_NEGATIVE}, {"rest length", TALI_NOT_NEGATIVE}};
static const tali_force_param damper_params[] = {STATIONS, {"damping", TALI_NOT_NEGATIVE}};
static const tali_force_param force_params[] = {STATIONS, {"force", TALI_FINITE}};

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const two_point *it = self;
    facts->bodies[0].i = it->body[0];
    facts->bodies[1].i = it->body[1];
    facts->function = it->law;
}

static void release_law(void *self)
{
    two_point *it = self;
    tal_function_destroy(it->law);
}

static const tali_force_kind spring_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "two-point spring",
            .needs = TAL_FORCE_NEEDS_Q,
            .is_concurrent = true,
            .apply = apply_spring,
            .apply_change = change_of_spring,
            .add_slopes = slopes_of_spring,
            .declare = declare_two_point,
            .realize_instance = realize_instance,
            .calc_potential_energy = energy_of_spring,
            .destroy = tali_force_element_destroy},
    .scope = TALI_FORCE_SCOPE_BODIES,
    .params = spring_params,
    .num_params = 8,
    .num_instance = 6,
    .fill_facts = fill_facts,
};

static const tali_force_kind damper_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "two-point damper",
            .is_concurrent = true,
            .apply = apply_damper,
            .apply_change = change_of_damper,
            .add_slopes = slopes_of_damper,
            .declare = declare_two_point,
            .realize_instance = realize_instance,
            .calc_dissipated_power = power_of_damper,
            .destroy = tali_force_element_destroy},
    .scope = TALI_FORCE_SCOPE_BODIES,
    .params = damper_params,
    .num_params = 7,
    .num_instance = 6,
    .fill_facts = fill_facts,
};

static const tali_force_kind force_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "two-point force",
            .needs = TAL_FORCE_NEEDS_Q,
            .is_concurrent = true,
            .apply = apply_force,
            .apply_change = change_of_force,
            .declare = declare_two_point,
            .realize_instance = realize_instance,
            .destroy = tali_force_element_destroy},
    .scope = TALI_FORCE_SCOPE_BODIES,
    .params = force_params,
    .num_params = 7,
    .num_instance = 6,
    .fill_facts = fill_facts,
};

static const tali_force_kind law_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "two-point law",
            .is_concurrent = true,
            .apply = apply_law,
            .apply_change = change_of_law,
            .add_slopes = slopes_of_law,
            .declare = declare_two_point,
            .realize_instance = realize_instance,
            .destroy = tali_force_element_destroy},
    .scope = TALI_FORCE_SCOPE_BODIES,
    .params = damper_params,
    .num_params = 6,
    .num_instance = 6,
    .release = release_law,
    .fill_facts = fill_facts,
};

static tal_force_ix add_two_point(tal_forces *forces, const char *name, const tali_force_kind *kind,
                                  const tal_two_points *points, const double values[2],
                                  tal_function *law)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, kind, points, "pair of points") ||
        !tali_force_element_has(forces, name, kind, points->body1) ||
        !tali_force_element_has(forces, name, kind, points->body2)) {
        tal_function_destroy(law);
        return none;
    }
    two_point like = {.body = {points->body1.i, points->body2.i}, .law = law};
    const double params[8] = {points->p_B1.x, points->p_B1.y, points->p_B1.z, points->p_B2.x,
                              points->p_B2.y, points->p_B2.z, values[0],      values[1]};
    return tali_force_element_add(forces, name, kind, &like, sizeof like, params);
}

tal_force_ix tal_forces_add_two_point_spring(tal_forces *forces, const char *name,
                                             const tal_two_points *points, double stiffness,
                                             double rest_length)
{
    const double values[2] = {stiffness, rest_length};
    return add_two_point(forces, name, &spring_kind, points, values, NULL);
}

tal_force_ix tal_forces_add_two_point_damper(tal_forces *forces, const char *name,
                                             const tal_two_points *points, double damping)
{
    const double values[2] = {damping, 0.0};
    return add_two_point(forces, name, &damper_kind, points, values, NULL);
}

tal_force_ix tal_forces_add_two_point_force(tal_forces *forces, const char *name,
                                            const tal_two_points *points, double force)
{
    const double values[2] = {force, 0.0};
    return add_two_point(forces, name, &force_kind, points, values, NULL);
}

// Whether it is a function of distance, or of distance and rate, with slopes.
static bool is_law(tal_forces *forces, const char *name, const tal_function *tension)
{
    const int n = tal_function_num_args(tension), order = tal_function_max_order(tension);
    if (forces == NULL || ((n == 1 || n == 2) && order >= 1)) return true;
    (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                          "two-point law '%s': its tension has %d arguments and %d derivatives: it "
                          "needs one or two, and at least one",
                          name != NULL ? name : "(no name)", n, order);
    return false;
}

tal_force_ix tal_forces_add_two_point_law(tal_forces *forces, const char *name,
                                          const tal_two_points *points, tal_function *tension)
{
    const double values[2] = {0.0, 0.0};
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &law_kind, tension, "tension")) return none;
    if (is_law(forces, name, tension)) {
        return add_two_point(forces, name, &law_kind, points, values, tension);
    }
    tal_function_destroy(tension);
    return none;
}
