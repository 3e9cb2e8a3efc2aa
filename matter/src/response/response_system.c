// The system as a whole: mass, center of mass, inertia, momentum, energy. Sums in body order.
#include "kernel/kernel_inertia.h"
#include "kernel/passes_internal.h"
#include "response/response_internal.h"

#include <math.h>

// What a sum over all bodies reads; false after reporting the breach.
static bool see_all(const tali_response_question *ask, tali_response_seen *seen)
{
    return tali_tree_body_at(ask->matter, TAL_GROUND, ask->where) != NULL &&
           tali_response_see(ask, seen);
}

static double sum_mass(const tal_matter *matter, const tali_response_seen *seen)
{
    double mass = 0.0;
    for (int b = 1; b < matter->num_bodies; ++b) {
        mass += seen->constants[b].mass;
    }
    return mass;
}

// A sum of masses times something, over the mass of the system.
static tal_vec3 per_mass(const tal_matter *matter, const tali_response_seen *seen, tal_vec3 sum)
{
    const double mass = sum_mass(matter, seen);
    return mass > 0.0 ? tal_v3_scale(1.0 / mass, sum) : TAL_VEC3_ZERO;
}

// --- mass and center ---

double tal_matter_mass(const tal_matter *matter, const tal_state *state)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_INSTANCE, __func__};
    tali_response_seen seen;
    return see_all(&ask, &seen) ? sum_mass(matter, &seen) : TALI_NAN;
}

static tal_vec3 center(const tal_matter *matter, const tali_response_seen *seen)
{
    v3 sum = TAL_VEC3_ZERO;
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tali_tree_pose *pose = &seen->pose[b];
        const tali_tree_composite rigid = place_rigid(pose, &seen->constants[b]);
        sum = v3_add(sum, v3_axpy(rigid.mass, pose->p_GM, rigid.mc));
    }
    return per_mass(matter, seen, sum);
}

tal_vec3 tal_matter_com(const tal_matter *matter, const tal_state *state)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_POSITION, __func__};
    tali_response_seen seen;
    return see_all(&ask, &seen) ? center(matter, &seen) : TALI_NAN_V3;
}

// Angular momentum about a point, and linear momentum.
static tal_spatial_vec momentum_about(const tal_matter *matter, const tali_response_seen *seen,
                                      v3 p_GC)
{
    sv sum = TAL_SPATIAL_VEC_ZERO;
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tali_tree_pose *pose = &seen->pose[b];
        const tali_tree_composite rigid = place_rigid(pose, &seen->constants[b]);
        const sv h = inertia_times(&rigid, seen->rates[b].V);
        sum = sv_add(sum, sv_shift_force(h, v3_sub(pose->p_GM, p_GC)));
    }
    return sum;
}

tal_vec3 tal_matter_com_velocity(const tal_matter *matter, const tal_state *state)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    tali_response_seen seen;
    if (!see_all(&ask, &seen)) return TALI_NAN_V3;
    return per_mass(matter, &seen, momentum_about(matter, &seen, TAL_VEC3_ZERO).v);
}

// The rate of linear momentum, which is the force on all bodies, over the mass.
tal_vec3 tal_matter_com_acceleration(const tal_matter *matter, const tal_state *state)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    tali_response_seen seen;
    if (!see_all(&ask, &seen)) return TALI_NAN_V3;
    v3 sum = TAL_VEC3_ZERO;
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tali_tree_composite rigid = place_rigid(&seen.pose[b], &seen.constants[b]);
        sum = v3_add(sum, newton_euler(&rigid, seen.A_GM[b], seen.rates[b].V.w).v);
    }
    return per_mass(matter, &seen, sum);
}

// --- inertia ---

static tal_sym3 inertia_about(const tal_matter *matter, const tali_response_seen *seen, v3 p_GC)
{
    s3 sum = TAL_SYM3_ZERO;
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tali_tree_pose *pose = &seen->pose[b];
        const v3 p_CM = v3_sub(pose->p_GM, p_GC);
        const tali_tree_composite rigid = place_rigid(pose, &seen->constants[b]);
        sum = s3_add(sum, shift_moments(rigid.I, rigid.mass, rigid.mc, p_CM));
    }
    return sum;
}

tal_mass_props tal_matter_mass_props(const tal_matter *matter, const tal_state *state)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_POSITION, __func__};
    tali_response_seen seen;
    if (!see_all(&ask, &seen)) return (tal_mass_props){TALI_NAN, TALI_NAN_V3, TALI_NAN_S3};
    return (tal_mass_props){sum_mass(matter, &seen), center(matter, &seen),
                            inertia_about(matter, &seen, TAL_VEC3_ZERO)};
}

// Summed about C, not about Ground's origin and brought back: far away that would lose all digits.
tal_sym3 tal_matter_central_inertia(const tal_matter *matter, const tal_state *state)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_POSITION, __func__};
    tali_response_seen seen;
    if (!see_all(&ask, &seen)) return TALI_NAN_S3;
    return inertia_about(matter, &seen, center(matter, &seen));
}

// --- momentum and energy ---

tal_spatial_vec tal_matter_momentum(const tal_matter *matter, const tal_state *state)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    tali_response_seen seen;
    return see_all(&ask, &seen) ? momentum_about(matter, &seen, TAL_VEC3_ZERO) : TALI_NAN_SV;
}

tal_spatial_vec tal_matter_central_momentum(const tal_matter *matter, const tal_state *state)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    tali_response_seen seen;
    if (!see_all(&ask, &seen)) return TALI_NAN_SV;
    return momentum_about(matter, &seen, center(matter, &seen));
}

// V^T M V / 2
static inline real energy(const tali_tree_composite *rigid, sv V)
{
    return 0.5 * sv_dot(V, inertia_times(rigid, V));
}

// Rotors behind gears turn with their speeds.
static double rotor_energy(const tali_tree *tree, const tali_tree_constants constants[],
                           const double u[])
{
    double sum = 0.0;
    for (int b = 1; b < tree->num_bodies; ++b) {
        if (tree->nu[b] != 1) continue;
        sum += 0.5 * constants[b].rotor * (u[tree->u0[b]] * u[tree->u0[b]]);
    }
    return sum;
}

double tal_matter_kinetic_energy(const tal_matter *matter, const tal_state *state)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    tali_response_seen seen;
    if (!see_all(&ask, &seen)) return TALI_NAN;
    double sum = 0.0;
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tali_tree_composite rigid = place_rigid(&seen.pose[b], &seen.constants[b]);
        sum += energy(&rigid, seen.rates[b].V);
    }
    const double *u = tal_state_u(state) + tal_group_start(matter->system, state, matter->u);
    sum += rotor_energy(&matter->tree, seen.constants, u);
    // of speeds that are finite: squares that overflow, whose cross terms then are not a number
    return isnan(sum) ? HUGE_VAL : sum;
}

double tal_matter_calc_kinetic_energy(const tal_matter *matter, tal_state *state, const double u[])
{
    if (tali_tree_body_at(matter, TAL_GROUND, __func__) == NULL) return TALI_NAN;
    tali_tree_view view;
    if (!tali_tree_realize_view(matter, state, TALI_INERTIA, &view)) return TALI_NAN;
    if (u == NULL && view.tree->num_u > 0) {
        (void)TALI_BREACH(TAL_ERR_NULL, "u is NULL, but there are %d speeds", view.tree->num_u);
        return TALI_NAN;
    }
    const size_t mark = tal_state_scratch_mark(state);
    sv *V = tal_state_scratch_take(state, (size_t)view.tree->num_bodies * sizeof *V);
    if (V == NULL) return TALI_NAN;
    view.passes->J(&view, u, V);
    double sum = 0.0;
    for (int b = 1; b < view.tree->num_bodies; ++b) {
        sum += energy(&view.rigid[b], V[b]);
    }
    tal_state_scratch_release(state, mark);
    return sum + rotor_energy(view.tree, view.constants, u);
}
