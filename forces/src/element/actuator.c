// Actuators: output = gain * control, along a speed, at a point, between two, about an axis, or on
// a body.
#include "core/element_internal.h"

#include <talus/forces/actuator.h>

#include <math.h>

typedef struct actuator {
    tali_force_element base;
    tal_measure_ix control; // `i` < 0: the last parameter
    tal_mobility at;        // of a mobility actuator
    int body[2];            // of the others; a point actuator has the second
    bool in_body;           // the direction of a point actuator turns with the body
    bool in_ground;         // its point, or the axis of a torque actuator, is given in Ground
} actuator;

// A station and a direction of length one, from Mo in M (either perhaps in Ground).
typedef struct aim {
    tal_vec3 p_MS;
    tal_vec3 direction;
} aim;

// --- control ---

// gain * control; the gain is the first parameter that invalidates Dynamics.
static tal_status calc_output(const actuator *it, const tal_force_context *context, double *output)
{
    const double *values = tali_force_element_values(&it->base, context);
    double control = 0.0;
    const tal_status st = tali_force_element_control(&it->base, context, it->control, &control);
    *output = values[0] * control;
    return st;
}

static const double infinity = (double)INFINITY;

#define CONTROL_PARAMS                                                                             \
    {"gain", TALI_FINITE}, {"control", TALI_FINITE}, {"least control", TALI_LIMIT},                \
    {                                                                                              \
        "largest control", TALI_LIMIT                                                              \
    }

// Least and largest control stand behind the control.
static const char *check_range(const double control[3])
{
    return control[1] <= control[2] ? NULL : "its least control is above its largest control";
}

// An output that a measure or a controller tells may change with all that moves: the element does
// not know its change then. Topology.
static tal_status declare_output(void *self, tal_forces *forces, tal_force_ix me)
{
    const actuator *it = self;
    if (tali_force_element_is_driven(forces, me, it->control)) {
        forces->elements[me.i].ops.apply_change = NULL;
    }
    return tali_force_element_declare(self, forces, me);
}

// --- along a speed ---

static tal_status change_nothing(const void *self, const tal_force_context *context,
                                 const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)self, (void)context, (void)change, (void)dF, (void)df;
    return TAL_OK;
}

static tal_status apply_mobility(const void *self, const tal_force_context *context,
                                 tal_spatial_vec F[], double f[])
{
    (void)F;
    const actuator *it = self;
    double output = 0.0;
    const tal_status st = calc_output(it, context, &output);
    f[tal_body_u_start(context->matter, it->at.body) + it->at.i] += output;
    return st;
}

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const actuator *it = self;
    facts->mobility = it->at;
    facts->bodies[0].i = it->body[0];
    facts->bodies[1].i = it->body[1];
    facts->measure = it->control;
    facts->flags[0] = it->in_ground;
}

static const char *check_mobility(const double params[])
{
    return check_range(params + TAL_ACTUATOR_CONTROL);
}

static const tali_force_param mobility_params[] = {CONTROL_PARAMS};

static const tali_force_kind mobility_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "mobility actuator",
            .apply = apply_mobility,
            .apply_change = change_nothing,
            .declare = declare_output,
            .destroy = tali_force_element_destroy},
    .params = mobility_params,
    .num_params = 4,
    .scope = TALI_FORCE_SCOPE_SPEEDS,
    .control = TAL_ACTUATOR_CONTROL,
    .check = check_mobility,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_mobility_actuator(tal_forces *forces, const char *name,
                                              tal_mobility mobility, double gain,
                                              tal_measure_ix control)
{
    if (!tali_force_element_has_mobility(forces, name, &mobility_kind, mobility, tal_body_nu) ||
        !tali_force_element_can_drive(forces, name, &mobility_kind, control)) {
        return (tal_force_ix){-1};
    }
    actuator like = {.control = control, .at = mobility};
    const double params[] = {gain, 0.0, -infinity, infinity};
    return tali_force_element_add(forces, name, &mobility_kind, &like, sizeof like, params);
}

// --- at a point ---

static tal_status declare_aim(void *self, tal_forces *forces, tal_force_ix me)
{
    (void)declare_output(self, forces, me);
    tali_force_element_declare_placed(self, forces, sizeof(aim));
    return TAL_OK;
}

static tal_vec3 unit_from(const double numbers[3])
{
    return tal_v3_normalize(tal_v3(numbers[0], numbers[1], numbers[2]));
}

static const char *check_direction(const double numbers[3])
{
    const bool good = numbers[0] != 0.0 || numbers[1] != 0.0 || numbers[2] != 0.0;
    return good ? NULL : "its direction is zero";
}

static tal_status place_point(const void *self, const tal_force_context *context)
{
    const actuator *it = self;
    const double *geometry = tali_force_geometry(&it->base, context);
    const tal_body_ix body = {it->body[1]};
    const tal_vec3 direction = unit_from(geometry + TAL_POINT_ACTUATOR_DIRECTION);
    const tal_mat3 R_MB = tal_body_X_MB(context->matter, context->state, body).R;
    aim *placed = tal_cache_upd(context->system, context->state, it->base.placed);
    const double *station = geometry + TAL_POINT_ACTUATOR_STATION;
    placed->p_MS = it->in_ground ? tal_v3(station[0], station[1], station[2])
                                 : tali_force_station_in_M(context, body.i, station);
    placed->direction = it->in_body ? tal_m3_mul_v3(R_MB, direction) : direction;
    return tal_cache_mark_valid(context->system, context->state, it->base.placed);
}

static tal_status apply_point(const void *self, const tal_force_context *context,
                              tal_spatial_vec F[], double f[])
{
    (void)f;
    const actuator *it = self;
    const aim *placed = tali_force_placed(&it->base, context);
    const tal_xform *X_GM = tal_view_X_GM(&context->poses, it->body[1]);
    double output = 0.0;
    const tal_status st = calc_output(it, context, &output);
    const tal_vec3 d = placed->direction, d_G = it->in_body ? tal_m3_mul_v3(X_GM->R, d) : d;
    const tal_vec3 f_G = tal_v3_scale(output, d_G);
    if (it->in_ground) {
        const tal_vec3 arm = tal_v3_sub(placed->p_MS, X_GM->p);
        tal_spatial_vec *F_B = &F[it->body[1]];
        *F_B = tal_sv_add(*F_B, tal_sv(tal_v3_cross(arm, f_G), f_G));
    } else {
        tal_apply_station_force(&context->poses, it->body[1], placed->p_MS, f_G, F);
    }
    return st;
}

// The force turns with the body if it is fixed in it; the arm does, unless the point is fixed in
// Ground.
static tal_status change_of_point(const void *self, const tal_force_context *context,
                                  const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)df;
    const actuator *it = self;
    const aim *placed = tali_force_placed(&it->base, context);
    const tal_xform *X_GM = tal_view_X_GM(&context->poses, it->body[1]);
    const tal_spatial_vec dX = change->dX[it->body[1]];
    double output = 0.0;
    const tal_status st = calc_output(it, context, &output);
    const tal_vec3 d = placed->direction, d_G = it->in_body ? tal_m3_mul_v3(X_GM->R, d) : d;
    const tal_vec3 f_G = tal_v3_scale(output, d_G);
    const tal_vec3 df_G = it->in_body ? tal_v3_cross(dX.w, f_G) : TAL_VEC3_ZERO;
    const tal_vec3 arm =
        it->in_ground ? tal_v3_sub(placed->p_MS, X_GM->p) : tal_m3_mul_v3(X_GM->R, placed->p_MS);
    const tal_vec3 darm = it->in_ground ? tal_v3_neg(dX.v) : tal_v3_cross(dX.w, arm);
    const tal_vec3 dm = tal_v3_add(tal_v3_cross(darm, f_G), tal_v3_cross(arm, df_G));
    dF[it->body[1]] = tal_sv_add(dF[it->body[1]], tal_sv(dm, df_G));
    return st;
}

static const char *check_point(const double params[])
{
    const char *wrong = check_direction(params + TAL_POINT_ACTUATOR_DIRECTION);
    return wrong != NULL ? wrong : check_range(params + TAL_POINT_ACTUATOR_CONTROL);
}

static void fill_facts_of_one(const void *self, tali_force_facts *facts)
{
    const actuator *it = self;
    facts->bodies[0].i = it->body[1];
    facts->measure = it->control;
    facts->flags[0] = it->in_body;
    facts->flags[1] = it->in_ground;
}

static const tali_force_param point_params[] = {{"station x", TALI_FINITE},
                                                {"station y", TALI_FINITE},
                                                {"station z", TALI_FINITE},
                                                {"direction x", TALI_FINITE},
                                                {"direction y", TALI_FINITE},
                                                {"direction z", TALI_FINITE},
                                                CONTROL_PARAMS};

static const tali_force_kind point_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "point actuator",
            .apply = apply_point,
            .apply_change = change_of_point,
            .declare = declare_aim,
            .realize_instance = place_point,
            .destroy = tali_force_element_destroy},
    .params = point_params,
    .num_params = 10,
    .num_instance = 6,
    .scope = TALI_FORCE_SCOPE_BODIES,
    .control = TAL_POINT_ACTUATOR_CONTROL,
    .check = check_point,
    .fill_facts = fill_facts_of_one,
};

tal_force_ix tal_forces_add_point_actuator(tal_forces *forces, const char *name,
                                           const tal_push *push, double gain,
                                           tal_measure_ix control)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &point_kind, push, "push") ||
        !tali_force_element_has(forces, name, &point_kind, push->body) ||
        !tali_force_element_can_drive(forces, name, &point_kind, control)) {
        return none;
    }
    actuator like = {.control = control,
                     .body = {0, push->body.i},
                     .in_body = push->in_body,
                     .in_ground = push->point_in_ground};
    const double params[] = {push->p_BS.x,      push->p_BS.y,      push->p_BS.z, push->direction.x,
                             push->direction.y, push->direction.z, gain,         0.0,
                             -infinity,         infinity};
    return tali_force_element_add(forces, name, &point_kind, &like, sizeof like, params);
}

// --- between two points ---

// The stations, from Mo in M.
typedef struct ends {
    tal_vec3 p_MS[2];
} ends;

static tal_status declare_ends(void *self, tal_forces *forces, tal_force_ix me)
{
    (void)declare_output(self, forces, me);
    tali_force_element_declare_placed(self, forces, sizeof(ends));
    return TAL_OK;
}

static tal_status place_ends(const void *self, const tal_force_context *context)
{
    const actuator *it = self;
    const double *geometry = tali_force_geometry(&it->base, context);
    ends *placed = tal_cache_upd(context->system, context->state, it->base.placed);
    for (int k = 0; k < 2; ++k) {
        placed->p_MS[k] = tali_force_station_in_M(context, it->body[k], geometry + 3 * k);
    }
    return tal_cache_mark_valid(context->system, context->state, it->base.placed);
}

// Along the line from station 1 to station 2, which pushes them apart; nothing where they meet.
static tal_status apply_two_point(const void *self, const tal_force_context *context,
                                  tal_spatial_vec F[], double f[])
{
    (void)f;
    const actuator *it = self;
    const ends *placed = tali_force_placed(&it->base, context);
    tal_vec3 p_GS[2];
    for (int k = 0; k < 2; ++k) {
        p_GS[k] = tal_xf_apply(*tal_view_X_GM(&context->poses, it->body[k]), placed->p_MS[k]);
    }
    double output = 0.0;
    const tal_status st = calc_output(it, context, &output);
    const tal_vec3 p = tal_v3_sub(p_GS[1], p_GS[0]);
    const double x = tal_v3_norm(p);
    const tal_vec3 f_G = tal_v3_scale(x > TALI_FORCE_LEAST_DISTANCE ? output / x : 0.0, p);
    tal_apply_station_force(&context->poses, it->body[0], placed->p_MS[0], tal_v3_neg(f_G), F);
    tal_apply_station_force(&context->poses, it->body[1], placed->p_MS[1], f_G, F);
    return st;
}

// With the line p = x d the push o d changes by o (dp - d (d . dp)) / x.
static tal_status change_of_two_point(const void *self, const tal_force_context *context,
                                      const tal_force_change *change, tal_spatial_vec dF[],
                                      double df[])
{
    (void)df;
    const actuator *it = self;
    const ends *placed = tali_force_placed(&it->base, context);
    tal_vec3 arm[2], p_GS[2], dp[2];
    for (int k = 0; k < 2; ++k) {
        const tal_xform *X_GM = tal_view_X_GM(&context->poses, it->body[k]);
        const tal_spatial_vec dX = change->dX[it->body[k]];
        arm[k] = tal_m3_mul_v3(X_GM->R, placed->p_MS[k]);
        p_GS[k] = tal_v3_add(X_GM->p, arm[k]);
        dp[k] = tal_v3_add(dX.v, tal_v3_cross(dX.w, arm[k]));
    }
    double output = 0.0;
    const tal_status st = calc_output(it, context, &output);
    const tal_vec3 p = tal_v3_sub(p_GS[1], p_GS[0]), moved = tal_v3_sub(dp[1], dp[0]);
    const double x = tal_v3_norm(p);
    if (!(x > TALI_FORCE_LEAST_DISTANCE)) return st; // no direction, no force
    const tal_vec3 d = tal_v3_scale(1.0 / x, p), f_G = tal_v3_scale(output, d);
    const tal_vec3 across = tal_v3_axpy(-tal_v3_dot(d, moved), d, moved);
    const tal_vec3 df_G = tal_v3_scale(output / x, across);
    for (int k = 0; k < 2; ++k) {
        const tal_vec3 turned = tal_v3_cross(change->dX[it->body[k]].w, arm[k]);
        const tal_vec3 dm = tal_v3_add(tal_v3_cross(turned, f_G), tal_v3_cross(arm[k], df_G));
        tal_spatial_vec *on = &dF[it->body[k]];
        *on = k == 0 ? tal_sv_sub(*on, tal_sv(dm, df_G)) : tal_sv_add(*on, tal_sv(dm, df_G));
    }
    return st;
}

static const tali_force_param two_point_params[] = {{"station 1 x", TALI_FINITE},
                                                    {"station 1 y", TALI_FINITE},
                                                    {"station 1 z", TALI_FINITE},
                                                    {"station 2 x", TALI_FINITE},
                                                    {"station 2 y", TALI_FINITE},
                                                    {"station 2 z", TALI_FINITE},
                                                    CONTROL_PARAMS};

static const char *check_two_point(const double params[])
{
    return check_range(params + TAL_TWO_POINT_ACTUATOR_CONTROL);
}

static const tali_force_kind two_point_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "two-point actuator",
            .apply = apply_two_point,
            .apply_change = change_of_two_point,
            .declare = declare_ends,
            .realize_instance = place_ends,
            .destroy = tali_force_element_destroy},
    .params = two_point_params,
    .num_params = 10,
    .num_instance = 6,
    .scope = TALI_FORCE_SCOPE_BODIES,
    .control = TAL_TWO_POINT_ACTUATOR_CONTROL,
    .check = check_two_point,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_two_point_actuator(tal_forces *forces, const char *name,
                                               const tal_two_points *points, double gain,
                                               tal_measure_ix control)
{
    if (!tali_force_element_given(forces, name, &two_point_kind, points, "pair of points") ||
        !tali_force_element_has(forces, name, &two_point_kind, points->body1) ||
        !tali_force_element_has(forces, name, &two_point_kind, points->body2) ||
        !tali_force_element_can_drive(forces, name, &two_point_kind, control)) {
        return (tal_force_ix){-1};
    }
    actuator like = {.control = control, .body = {points->body1.i, points->body2.i}};
    const tal_vec3 p = points->p_B1, q = points->p_B2;
    const double params[] = {p.x, p.y, p.z, q.x, q.y, q.z, gain, 0.0, -infinity, infinity};
    return tali_force_element_add(forces, name, &two_point_kind, &like, sizeof like, params);
}

// --- about an axis ---

static tal_status place_torque(const void *self, const tal_force_context *context)
{
    const actuator *it = self;
    const tal_body_ix body1 = {it->body[0]};
    const tal_mat3 R_MB = tal_body_X_MB(context->matter, context->state, body1).R;
    aim *placed = tal_cache_upd(context->system, context->state, it->base.placed);
    placed->p_MS = TAL_VEC3_ZERO;
    const tal_vec3 axis = unit_from(tali_force_geometry(&it->base, context));
    placed->direction = it->in_ground ? axis : tal_m3_mul_v3(R_MB, axis);
    return tal_cache_mark_valid(context->system, context->state, it->base.placed);
}

static tal_status apply_torque(const void *self, const tal_force_context *context,
                               tal_spatial_vec F[], double f[])
{
    (void)f;
    const actuator *it = self;
    const aim *placed = tali_force_placed(&it->base, context);
    const tal_mat3 *R_GM = &tal_view_X_GM(&context->poses, it->body[0])->R;
    double output = 0.0;
    const tal_status st = calc_output(it, context, &output);
    const tal_vec3 axis = placed->direction;
    const tal_vec3 axis_G = it->in_ground ? axis : tal_m3_mul_v3(*R_GM, axis);
    const tal_vec3 m_G = tal_v3_scale(output, axis_G);
    tal_vec3 *m1 = &F[it->body[0]].w, *m2 = &F[it->body[1]].w;
    *m1 = tal_v3_sub(*m1, m_G);
    *m2 = tal_v3_add(*m2, m_G);
    return st;
}

// The axis turns with the first body, unless it is fixed in Ground.
static tal_status change_of_torque(const void *self, const tal_force_context *context,
                                   const tal_force_change *change, tal_spatial_vec dF[],
                                   double df[])
{
    (void)df;
    const actuator *it = self;
    const aim *placed = tali_force_placed(&it->base, context);
    double output = 0.0;
    const tal_status st = calc_output(it, context, &output);
    if (st != TAL_OK || it->in_ground) return st;
    const tal_mat3 *R_GM = &tal_view_X_GM(&context->poses, it->body[0])->R;
    const tal_vec3 m_G = tal_v3_scale(output, tal_m3_mul_v3(*R_GM, placed->direction));
    const tal_vec3 dm_G = tal_v3_cross(change->dX[it->body[0]].w, m_G);
    tal_vec3 *m1 = &dF[it->body[0]].w, *m2 = &dF[it->body[1]].w;
    *m1 = tal_v3_sub(*m1, dm_G);
    *m2 = tal_v3_add(*m2, dm_G);
    return st;
}

static const char *check_torque(const double params[])
{
    const char *wrong = check_direction(params);
    return wrong != NULL ? wrong : check_range(params + TAL_TORQUE_ACTUATOR_CONTROL);
}

static const tali_force_param torque_params[] = {
    {"axis x", TALI_FINITE}, {"axis y", TALI_FINITE}, {"axis z", TALI_FINITE}, CONTROL_PARAMS};

static const tali_force_kind torque_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "torque actuator",
            .apply = apply_torque,
            .apply_change = change_of_torque,
            .declare = declare_aim,
            .realize_instance = place_torque,
            .destroy = tali_force_element_destroy},
    .params = torque_params,
    .num_params = 7,
    .num_instance = 3,
    .scope = TALI_FORCE_SCOPE_BODIES,
    .control = TAL_TORQUE_ACTUATOR_CONTROL,
    .check = check_torque,
    .fill_facts = fill_facts,
};

tal_force_ix tal_forces_add_torque_actuator(tal_forces *forces, const char *name,
                                            const tal_twist *twist, double gain,
                                            tal_measure_ix control)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &torque_kind, twist, "twist") ||
        !tali_force_element_has(forces, name, &torque_kind, twist->body1) ||
        !tali_force_element_has(forces, name, &torque_kind, twist->body2) ||
        !tali_force_element_can_drive(forces, name, &torque_kind, control)) {
        return none;
    }
    actuator like = {.control = control,
                     .body = {twist->body1.i, twist->body2.i},
                     .in_ground = twist->in_ground};
    const double params[] = {twist->axis.x, twist->axis.y, twist->axis.z, gain,
                             0.0,           -infinity,     infinity};
    return tali_force_element_add(forces, name, &torque_kind, &like, sizeof like, params);
}

// --- on a body ---

// gain * (moment, force), in Ground or in B.
static tal_status calc_spatial(const actuator *it, const tal_force_context *context,
                               tal_spatial_vec *output)
{
    const double *values = tali_force_element_values(&it->base, context), *control = values + 1;
    if (it->control.i >= 0) {
        control = tal_measure_values(context->system, context->state, it->control);
        const tal_status st = tal_state_error(context->state)->status;
        if (control == NULL) return st != TAL_OK ? st : TAL_ERR_NOT_FINITE;
    }
    *output = tal_sv_scale(values[0], tal_sv(tal_v3(control[0], control[1], control[2]),
                                             tal_v3(control[3], control[4], control[5])));
    return TAL_OK;
}

static tal_status declare_body(void *self, tal_forces *forces, tal_force_ix me)
{
    tali_force_element_reserve_place(self, forces, sizeof(tal_xform)); // X_MB with its origin at S
    return declare_output(self, forces, me);
}

static tal_status place_body(const void *self, const tal_force_context *context)
{
    const actuator *it = self;
    const tal_body_ix body = {it->body[1]};
    tal_xform *X_MS = tali_force_element_upd_place(&it->base, context);
    X_MS->R = tal_body_X_MB(context->matter, context->state, body).R;
    X_MS->p = tali_force_station_in_M(context, body.i, tali_force_geometry(&it->base, context));
    return TAL_OK;
}

static tal_status apply_body(const void *self, const tal_force_context *context,
                             tal_spatial_vec F[], double f[])
{
    (void)f;
    const actuator *it = self;
    const tal_xform *X_MS = tali_force_place(&it->base, context);
    const tal_mat3 R_GM = tal_view_X_GM(&context->poses, it->body[1])->R;
    tal_spatial_vec on = TAL_SPATIAL_VEC_ZERO;
    const tal_status st = calc_spatial(it, context, &on);
    if (it->in_body) on = tal_m3_mul_sv(tal_m3_mul(R_GM, X_MS->R), on);
    const tal_vec3 p_MS_G = tal_m3_mul_v3(R_GM, X_MS->p);
    tal_spatial_vec *F_B = &F[it->body[1]];
    *F_B = tal_sv_add(*F_B, tal_sv_shift_force(on, p_MS_G));
    return st;
}

static tal_status change_of_body(const void *self, const tal_force_context *context,
                                 const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)df;
    const actuator *it = self;
    const tal_xform *X_MS = tali_force_place(&it->base, context);
    const tal_mat3 R_GM = tal_view_X_GM(&context->poses, it->body[1])->R;
    const tal_vec3 w = change->dX[it->body[1]].w;
    tal_spatial_vec on = TAL_SPATIAL_VEC_ZERO, turned = TAL_SPATIAL_VEC_ZERO;
    const tal_status st = calc_spatial(it, context, &on);
    if (it->in_body) {
        on = tal_m3_mul_sv(tal_m3_mul(R_GM, X_MS->R), on);
        turned = tal_sv(tal_v3_cross(w, on.w), tal_v3_cross(w, on.v));
    }
    const tal_vec3 arm = tal_m3_mul_v3(R_GM, X_MS->p);
    tal_spatial_vec *dF_B = &dF[it->body[1]];
    *dF_B = tal_sv_add(*dF_B, tal_sv_shift_force(turned, arm));
    dF_B->w = tal_v3_add(dF_B->w, tal_v3_cross(tal_v3_cross(w, arm), on.v));
    return st;
}

static const tali_force_param body_params[] = {
    {"station x", TALI_FINITE},           {"station y", TALI_FINITE},
    {"station z", TALI_FINITE},           {"gain", TALI_FINITE},
    {"control of moment x", TALI_FINITE}, {"control of moment y", TALI_FINITE},
    {"control of moment z", TALI_FINITE}, {"control of force x", TALI_FINITE},
    {"control of force y", TALI_FINITE},  {"control of force z", TALI_FINITE}};

static const tali_force_kind body_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "body actuator",
            .apply = apply_body,
            .apply_change = change_of_body,
            .declare = declare_body,
            .realize_instance = place_body,
            .destroy = tali_force_element_destroy},
    .params = body_params,
    .num_params = 10,
    .num_instance = 3,
    .scope = TALI_FORCE_SCOPE_BODIES,
    .fill_facts = fill_facts_of_one,
};

tal_force_ix tal_forces_add_body_actuator(tal_forces *forces, const char *name,
                                          const tal_thrust *thrust, double gain,
                                          tal_measure_ix control)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &body_kind, thrust, "thrust") ||
        !tali_force_element_has(forces, name, &body_kind, thrust->body) ||
        !tali_force_element_can_drive_by(forces, name, &body_kind, control, 6)) {
        return none;
    }
    actuator like = {.control = control, .body = {0, thrust->body.i}, .in_body = thrust->in_body};
    const double params[10] = {thrust->p_BS.x, thrust->p_BS.y, thrust->p_BS.z, gain};
    return tali_force_element_add(forces, name, &body_kind, &like, sizeof like, params);
}

tal_spatial_vec tal_body_actuator_output(const tal_forces *forces, tal_state *state,
                                         tal_force_ix force)
{
    const tal_vec3 nan = {TALI_NAN, TALI_NAN, TALI_NAN};
    tal_spatial_vec output = tal_sv(nan, nan);
    const actuator *it = tali_force_element_of(forces, force, &body_kind, __func__);
    if (it == NULL) return output;
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_EMPTY);
    if (context.params[it->base.kind->ops.needs] == NULL) return output;
    const tal_status st = calc_spatial(it, &context, &output);
    return st == TAL_OK ? output : tal_sv(nan, nan);
}

// --- asking ---

double tal_actuator_output(const tal_forces *forces, tal_state *state, tal_force_ix force)
{
    const tali_force *element = tali_force_at(forces, force, __func__);
    if (element == NULL) return TALI_NAN;
    const char *kind = element->ops.name;
    if (kind != mobility_kind.ops.name && kind != point_kind.ops.name &&
        kind != torque_kind.ops.name && kind != two_point_kind.ops.name) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX,
                          "force '%s' is of kind '%s', not an actuator with one output",
                          element->name, kind);
        return TALI_NAN;
    }
    const actuator *it = element->self;
    const tal_stage reached = tal_state_stage(state);
    if (forces->controls.num > 0 && reached < TAL_STAGE_VELOCITY) {
        (void)TALI_BREACH(TAL_ERR_STAGE, "the State is at %s and must be at Velocity",
                          tal_stage_name(reached));
        return TALI_NAN;
    }
    const tal_force_context context = tali_force_context(forces, state, reached);
    double output = TALI_NAN;
    if (context.params[it->base.kind->ops.needs] == NULL) return TALI_NAN;
    return calc_output(it, &context, &output) == TAL_OK ? output : TALI_NAN;
}
