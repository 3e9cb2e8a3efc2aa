// The variables of muscles in a State: activation, fibers, control, override; equilibrium.
#include "muscle/muscle_internal.h"

#include <talus/forces/control.h>

#include <math.h>

tal_muscle_model tal_muscle_get_model(const tal_forces *forces, tal_force_ix muscle)
{
    const tali_muscle *it = tali_muscle_at(forces, muscle, __func__);
    return it != NULL ? it->curves.model : TAL_MUSCLE_THELEN;
}

tal_path_ix tal_muscle_path(const tal_forces *forces, tal_force_ix muscle)
{
    const tali_muscle *it = tali_muscle_at(forces, muscle, __func__);
    return it != NULL ? it->path : (tal_path_ix){-1};
}

// --- curves ---

double tal_muscle_calc_curve(const tal_forces *forces, tal_force_ix muscle, tal_muscle_curve which,
                             double x, int order)
{
    const tali_muscle *it = tali_muscle_at(forces, muscle, __func__);
    if (it == NULL) return TALI_NAN;
    if (order != 0 && order != 1) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "order is %d, not 0 or 1", order);
        return TALI_NAN;
    }
    tali_muscle_curve at = {TALI_NAN, TALI_NAN};
    switch (which) {
    case TAL_MUSCLE_CURVE_ACTIVE:
        at = tali_muscle_active(&it->curves, x);
        break;
    case TAL_MUSCLE_CURVE_PASSIVE:
        at = tali_muscle_passive(&it->curves, x);
        break;
    case TAL_MUSCLE_CURVE_TENDON:
        if (it->kind != TALI_MUSCLE_RIGID) at = tali_muscle_tendon(&it->curves, x);
        break;
    case TAL_MUSCLE_CURVE_VELOCITY:
        at = (tali_muscle_curve){tali_muscle_velocity(&it->curves, 1.0, x),
                                 tali_muscle_velocity_slope(&it->curves, 1.0, x)};
        break;
    case TAL_NUM_MUSCLE_CURVES:
    default:
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no curve %d: there are %d", (int)which,
                          (int)TAL_NUM_MUSCLE_CURVES);
    }
    return order == 0 ? at.y : at.slope;
}

// --- variables ---

double tal_muscle_activation(const tal_forces *forces, tal_state *state, tal_force_ix muscle)
{
    const tali_muscle *it = tali_muscle_at(forces, muscle, __func__);
    if (it == NULL) return TALI_NAN;
    if (it->activation_z.i < 0) return tal_actuator_control(forces, state, muscle);
    const int slot = tal_group_start(forces->system, state, it->activation_z);
    const double *z = tal_state_z(state);
    return slot >= 0 && z != NULL ? z[slot] : TALI_NAN;
}

// Write one z of a muscle. A value out of its range is refused by name.
static tal_status set_z(const tal_forces *forces, tal_state *state, tal_force_ix muscle,
                        tal_group_ix group, double value)
{
    const int slot = tal_group_start(forces->system, state, group);
    if (slot < 0) return tal_contract_last()->status;
    if (!isfinite(value)) {
        return tal_state_refuse(state, TAL_ERR_NOT_FINITE, "muscle '%s': %s cannot be %g",
                                tal_force_name(forces, muscle),
                                tal_group_name(forces->system, group), value);
    }
    double *z = tal_state_upd_z(state);
    if (z == NULL) return tal_contract_last()->status;
    z[slot] = value;
    return TAL_OK;
}

tal_status tal_muscle_set_activation(const tal_forces *forces, tal_state *state,
                                     tal_force_ix muscle, double activation)
{
    const tali_muscle *it = tali_muscle_at(forces, muscle, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (it->activation_z.i < 0) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "muscle '%s' has no activation dynamics: set its control",
                                tal_force_name(forces, muscle));
    }
    const double least = tal_force_param(forces, state, muscle, TAL_MUSCLE_MIN_ACTIVATION);
    return set_z(forces, state, muscle, it->activation_z,
                 isfinite(activation) ? fmin(fmax(activation, least), 1.0) : activation);
}

tal_status tal_muscle_set_fiber(const tal_forces *forces, tal_state *state, tal_force_ix muscle,
                                double value)
{
    const tali_muscle *it = tali_muscle_at(forces, muscle, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (it->fiber_z.i >= 0) return set_z(forces, state, muscle, it->fiber_z, value);
    return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                            "muscle '%s' has a rigid tendon: its fibers follow the path",
                            tal_force_name(forces, muscle));
}

tal_status tal_muscle_set_control(const tal_forces *forces, tal_state *state, tal_force_ix muscle,
                                  double control)
{
    if (tali_muscle_at(forces, muscle, __func__) == NULL) return tal_contract_last()->status;
    return tal_force_set_param(forces, state, muscle, TAL_MUSCLE_CONTROL, control);
}

tal_status tal_muscle_override(const tal_forces *forces, tal_state *state, tal_force_ix muscle,
                               double tension)
{
    if (tali_muscle_at(forces, muscle, __func__) == NULL) return tal_contract_last()->status;
    const double values[] = {isnan(tension) ? 0.0 : 1.0, isnan(tension) ? 0.0 : tension};
    return tal_force_set_params(forces, state, muscle, TAL_MUSCLE_IS_OVERRIDDEN, values, 2);
}

// --- equilibrium ---

// What the z must be where the fibers have a given length.
static double z_for(const tali_muscle *it, const tali_muscle_sizes *sizes, double l, double length)
{
    if (it->kind == TALI_MUSCLE_ELASTIC) return length;
    const tali_muscle_fiber fiber = tali_muscle_fiber_of(length, sizes->h);
    return tali_muscle_tendon(&it->curves, (l - fiber.along) / sizes->ls).y;
}

static tal_status equilibrate(const tali_muscle *it, const tal_force_context *context, bool moving,
                              tal_muscle_equilibrium *how, double *z)
{
    const tali_muscle_sizes *sizes = tali_muscle_sizes_of(it, context);
    tali_muscle_given given;
    const tal_status st = tali_muscle_read(it, context, true, &given);
    if (st != TAL_OK) return st;
    const double length =
        moving
            ? tali_muscle_moving_equilibrium(&it->curves, sizes, given.l, given.ldot, given.a, how)
            : tali_muscle_equilibrium_length(&it->curves, sizes, given.l, given.a, 0.0, how);
    *z = z_for(it, sizes, given.l, length);
    return TAL_OK;
}

tal_status tal_muscle_equilibrate(const tal_forces *forces, tal_state *state, tal_force_ix muscle,
                                  bool moving, tal_muscle_equilibrium *how)
{
    tal_muscle_equilibrium found = TAL_MUSCLE_IN_EQUILIBRIUM;
    if (how != NULL) *how = found;
    const tali_muscle *it = tali_muscle_at(forces, muscle, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (tal_state_stage(state) < TAL_STAGE_VELOCITY) {
        return TALI_BREACH(TAL_ERR_STAGE, "the State is at %s and must be at Velocity",
                           tal_stage_name(tal_state_stage(state)));
    }
    if (it->fiber_z.i < 0) return TAL_OK;
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    if (context.velocities.bytes == NULL) return tal_contract_last()->status;
    double z = 0.0;
    tal_status st = equilibrate(it, &context, moving, &found, &z);
    if (st == TAL_OK) st = set_z(forces, state, muscle, it->fiber_z, z);
    if (how != NULL) *how = found;
    return st;
}

tal_status tal_forces_equilibrate_muscles(const tal_forces *forces, tal_state *state)
{
    if (forces == NULL) return TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
    tal_status st = tal_system_realize(forces->system, state, TAL_STAGE_VELOCITY);
    for (int i = 0; i < forces->num_elements && st == TAL_OK; ++i) {
        const tal_force_ix muscle = {i};
        if (!tal_force_is_muscle(forces, muscle)) continue;
        st = tal_muscle_equilibrate(forces, state, muscle, false, NULL);
        // writing z may lower the State below Velocity
        if (st == TAL_OK) st = tal_system_realize(forces->system, state, TAL_STAGE_VELOCITY);
    }
    return st;
}
