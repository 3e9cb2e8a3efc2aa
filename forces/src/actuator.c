// Actuators: output = gain * control, along a speed, at a point, or about an axis.
#include "element_internal.h"

#include <talus/forces/actuator.h>

#include <math.h>

typedef struct actuator {
    tali_element base;
    tal_measure_ix control; // `i` < 0: the last parameter
    tal_mobility at;        // of a mobility actuator
    int body[2];            // of the others; a point actuator has the second
    bool in_body;           // the direction of a point actuator turns with the body
} actuator;

// A station and a direction of length one, from Mo in M (the direction perhaps in Ground).
typedef struct aim {
    tal_vec3 p_MS;
    tal_vec3 direction;
} aim;

// --- control ---

// gain * control; gain and control are the last two parameters, and all that invalidate Dynamics.
static tal_status calc_output(const actuator *it, const tal_force_context *context, double *output)
{
    const double *values = tali_values(&it->base, context);
    double control = values[1];
    if (it->control.i >= 0) {
        control = tal_measure_value(context->system, context->state, it->control);
        const tal_status st = tal_state_error(context->state)->status;
        if (isnan(control)) return st != TAL_OK ? st : TAL_ERR_NOT_FINITE;
    }
    *output = values[0] * control;
    return TAL_OK;
}

// Whether the measure can drive an actuator; tells otherwise.
static bool can_drive(const tal_forces *forces, const char *name, const tali_kind *kind,
                      tal_measure_ix control)
{
    if (forces == NULL || control.i < 0) return true;
    const tal_system *system = forces->system;
    const char *said = name != NULL ? name : "(no name)";
    if (control.i >= tal_system_num_measures(system)) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                              "%s '%s': there is no measure %d: there are %d", kind->ops.name, said,
                              control.i, tal_system_num_measures(system));
        return false;
    }
    const tal_stage stage = tal_measure_stage(system, control, 0);
    if (tal_measure_size(system, control) == 1 && stage <= TAL_STAGE_VELOCITY) return true;
    (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                          "%s '%s': measure '%s' has %d values at stage %s: one is needed, at "
                          "Velocity or before",
                          kind->ops.name, said, tal_measure_name(system, control),
                          tal_measure_size(system, control), tal_stage_name(stage));
    return false;
}

// --- along a speed ---

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

static const tali_param mobility_params[] = {{"gain", TALI_FINITE}, {"control", TALI_FINITE}};

static const tali_kind mobility_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "mobility actuator",
            .apply = apply_mobility,
            .declare = tali_element_declare,
            .destroy = tali_element_destroy},
    .params = mobility_params,
    .num_params = 2,
};

tal_force_ix tal_forces_add_mobility_actuator(tal_forces *forces, const char *name,
                                              tal_mobility mobility, double gain,
                                              tal_measure_ix control)
{
    if (!tali_element_has_mobility(forces, name, &mobility_kind, mobility, tal_body_nu) ||
        !can_drive(forces, name, &mobility_kind, control)) {
        return (tal_force_ix){-1};
    }
    actuator like = {.control = control, .at = mobility};
    const double params[] = {gain, 0.0};
    return tali_element_add(forces, name, &mobility_kind, &like, sizeof like, params);
}

// --- at a point ---

static tal_status declare_aim(void *self, tal_forces *forces, tal_force_ix me)
{
    (void)tali_element_declare(self, forces, me);
    tali_element_declare_placed(self, forces, sizeof(aim));
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
    const double *geometry = tali_geometry(&it->base, context);
    const tal_body_ix body = {it->body[1]};
    const tal_vec3 direction = unit_from(geometry + TAL_POINT_ACTUATOR_DIRECTION);
    const tal_mat3 R_MB = tal_body_X_MB(context->matter, context->state, body).R;
    aim *placed = tal_cache_upd(context->system, context->state, it->base.placed);
    placed->p_MS = tali_station_in_M(context, body.i, geometry + TAL_POINT_ACTUATOR_STATION);
    placed->direction = it->in_body ? tal_m3_mul_v3(R_MB, direction) : direction;
    return tal_cache_mark_valid(context->system, context->state, it->base.placed);
}

static tal_status apply_point(const void *self, const tal_force_context *context,
                              tal_spatial_vec F[], double f[])
{
    (void)f;
    const actuator *it = self;
    const aim *placed = tali_placed(&it->base, context);
    const tal_mat3 *R_GM = &tal_view_X_GM(&context->poses, it->body[1])->R;
    double output = 0.0;
    const tal_status st = calc_output(it, context, &output);
    const tal_vec3 d_G = it->in_body ? tal_m3_mul_v3(*R_GM, placed->direction) : placed->direction;
    tal_apply_station_force(&context->poses, it->body[1], placed->p_MS, tal_v3_scale(output, d_G),
                            F);
    return st;
}

static const char *check_point(const double params[])
{
    return check_direction(params + TAL_POINT_ACTUATOR_DIRECTION);
}

static const tali_param point_params[] = {
    {"station x", TALI_FINITE},   {"station y", TALI_FINITE},   {"station z", TALI_FINITE},
    {"direction x", TALI_FINITE}, {"direction y", TALI_FINITE}, {"direction z", TALI_FINITE},
    {"gain", TALI_FINITE},        {"control", TALI_FINITE}};

static const tali_kind point_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "point actuator",
            .apply = apply_point,
            .declare = declare_aim,
            .realize_instance = place_point,
            .destroy = tali_element_destroy},
    .params = point_params,
    .num_params = 8,
    .num_instance = 6,
    .check = check_point,
};

tal_force_ix tal_forces_add_point_actuator(tal_forces *forces, const char *name,
                                           const tal_push *push, double gain,
                                           tal_measure_ix control)
{
    const tal_force_ix none = {-1};
    if (push == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "push is NULL");
        return none;
    }
    if (!tali_element_has(forces, name, &point_kind, push->body) ||
        !can_drive(forces, name, &point_kind, control)) {
        return none;
    }
    actuator like = {.control = control, .body = {0, push->body.i}, .in_body = push->in_body};
    const double params[] = {push->p_BS.x,      push->p_BS.y,      push->p_BS.z, push->direction.x,
                             push->direction.y, push->direction.z, gain,         0.0};
    return tali_element_add(forces, name, &point_kind, &like, sizeof like, params);
}

// --- about an axis ---

static tal_status place_torque(const void *self, const tal_force_context *context)
{
    const actuator *it = self;
    const tal_body_ix body1 = {it->body[0]};
    const tal_mat3 R_MB = tal_body_X_MB(context->matter, context->state, body1).R;
    aim *placed = tal_cache_upd(context->system, context->state, it->base.placed);
    placed->p_MS = TAL_VEC3_ZERO;
    placed->direction = tal_m3_mul_v3(R_MB, unit_from(tali_geometry(&it->base, context)));
    return tal_cache_mark_valid(context->system, context->state, it->base.placed);
}

static tal_status apply_torque(const void *self, const tal_force_context *context,
                               tal_spatial_vec F[], double f[])
{
    (void)f;
    const actuator *it = self;
    const aim *placed = tali_placed(&it->base, context);
    const tal_mat3 *R_GM = &tal_view_X_GM(&context->poses, it->body[0])->R;
    double output = 0.0;
    const tal_status st = calc_output(it, context, &output);
    const tal_vec3 m_G = tal_v3_scale(output, tal_m3_mul_v3(*R_GM, placed->direction));
    tal_vec3 *m1 = &F[it->body[0]].w, *m2 = &F[it->body[1]].w;
    *m1 = tal_v3_sub(*m1, m_G);
    *m2 = tal_v3_add(*m2, m_G);
    return st;
}

static const tali_param torque_params[] = {{"axis x", TALI_FINITE},
                                           {"axis y", TALI_FINITE},
                                           {"axis z", TALI_FINITE},
                                           {"gain", TALI_FINITE},
                                           {"control", TALI_FINITE}};

static const tali_kind torque_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "torque actuator",
            .apply = apply_torque,
            .declare = declare_aim,
            .realize_instance = place_torque,
            .destroy = tali_element_destroy},
    .params = torque_params,
    .num_params = 5,
    .num_instance = 3,
    .check = check_direction,
};

tal_force_ix tal_forces_add_torque_actuator(tal_forces *forces, const char *name,
                                            const tal_twist *twist, double gain,
                                            tal_measure_ix control)
{
    const tal_force_ix none = {-1};
    if (twist == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "twist is NULL");
        return none;
    }
    if (!tali_element_has(forces, name, &torque_kind, twist->body1) ||
        !tali_element_has(forces, name, &torque_kind, twist->body2) ||
        !can_drive(forces, name, &torque_kind, control)) {
        return none;
    }
    actuator like = {.control = control, .body = {twist->body1.i, twist->body2.i}};
    const double params[] = {twist->axis.x, twist->axis.y, twist->axis.z, gain, 0.0};
    return tali_element_add(forces, name, &torque_kind, &like, sizeof like, params);
}

// --- asking ---

double tal_actuator_output(const tal_forces *forces, tal_state *state, tal_force_ix force)
{
    const tali_force *element = tali_force_at(forces, force, __func__);
    if (element == NULL) return TALI_NAN;
    const char *kind = element->ops.name;
    if (kind != mobility_kind.ops.name && kind != point_kind.ops.name &&
        kind != torque_kind.ops.name) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "force '%s' is of kind '%s', not an actuator",
                          element->name, kind);
        return TALI_NAN;
    }
    const actuator *it = element->self;
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_EMPTY);
    double output = TALI_NAN;
    if (context.params[it->base.kind->ops.needs] == NULL) return TALI_NAN;
    return calc_output(it, &context, &output) == TAL_OK ? output : TALI_NAN;
}
