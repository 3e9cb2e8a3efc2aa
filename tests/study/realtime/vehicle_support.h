// The models of examples/vehicles/, and states to compare them in.
#ifndef TALUS_VEHICLE_SUPPORT_H
#define TALUS_VEHICLE_SUPPORT_H

#include "realtime_support.h"
#include "vehicles.h"

/// A model with gravity and forces of its own, at rest in its reference configuration.
typedef struct vehicle {
    realtime_model w;
    sketch drawn;
} vehicle;

typedef sketch (*vehicle_add_fn)(tal_matter *matter, tal_forces *forces);

static inline vehicle begin_vehicle(void)
{
    vehicle it = {.w = {.system = tal_system_create(NULL)}};
    it.w.matter = tal_matter_create(it.w.system);
    it.w.forces = tal_forces_create(it.w.system, it.w.matter);
    ck_assert_ptr_nonnull(tal_fixed_memory_create(it.w.system));
    return it;
}

static inline vehicle make_vehicle(vehicle_add_fn add)
{
    vehicle it = begin_vehicle();
    it.drawn = add(it.w.matter, it.w.forces);
    finish_realtime(&it.w);
    return it;
}

static inline vehicle make_iltis(bool has_leaf_arms, bool has_road)
{
    vehicle it = begin_vehicle();
    const iltis_options options = {.has_leaf_arms = has_leaf_arms, .has_road = has_road};
    if (has_leaf_arms) {
        ck_assert_int_eq(tal_matter_set_solve_way(it.w.matter, TAL_SOLVE_KKT), TAL_OK);
    }
    it.drawn = iltis_add(it.w.matter, it.w.forces, &options);
    finish_realtime(&it.w);
    return it;
}

/// Speeds in the order of GJB: those of a free body have the velocity first.
static inline void put_speeds(vehicle *it, const double zdot[])
{
    const int nu = tal_matter_nu(it->w.matter);
    double *u = malloc((size_t)nu * sizeof *u);
    ck_assert_ptr_nonnull(u);
    for (int k = 0; k < nu; ++k) {
        u[k < 6 ? (k + 3) % 6 : k] = zdot[k];
    }
    ck_assert_int_eq(tal_state_set_u(it->w.state, u, nu), TAL_OK);
    free(u);
}

/// zdot_i = sin(i), i = 1.., less what violates the constraints: the least change of the speeds.
static inline void put_sine_speeds(vehicle *it)
{
    const int nu = tal_matter_nu(it->w.matter);
    double *zdot = malloc((size_t)nu * sizeof *zdot);
    ck_assert_ptr_nonnull(zdot);
    for (int k = 0; k < nu; ++k) {
        zdot[k] = sin(k + 1.0);
    }
    put_speeds(it, zdot);
    free(zdot);
    ck_assert_int_eq(tal_system_realize(it->w.system, it->w.state, TAL_STAGE_VELOCITY), TAL_OK);
    tal_project_options def = tal_project_options_default();
    def.tolerance = 1e-13;
    ck_assert_int_eq(tal_system_project_u(it->w.system, it->w.state, &def, NULL, NULL), TAL_OK);
}

/// |zdotdot| as GJB have it: of a ball joint the derivative of the relative angular velocity in
/// inertial axes, w_parent x w + udot turned; the rest as here. Realized to Acceleration.
static inline double norm_of_accelerations(const vehicle *it)
{
    const tal_matter *matter = it->w.matter;
    const tal_state *state = it->w.state;
    const double *udot = tal_state_udot(state), *u = tal_state_u(state);
    double sum = 0.0;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        const int first = tal_body_u_start(matter, body), nu = tal_body_nu(matter, body);
        tal_vec3 a = TAL_VEC3_ZERO;
        if (nu == 3) {
            const tal_body_ix parent = tal_body_parent(matter, body);
            const tal_mat3 R = tal_body_X_GB(matter, state, parent).R;
            const tal_vec3 w = tal_m3_mul_v3(R, tal_v3(u[first], u[first + 1], u[first + 2]));
            a = tal_m3_mul_v3(R, tal_v3(udot[first], udot[first + 1], udot[first + 2]));
            a = tal_v3_add(a, tal_v3_cross(tal_body_V_GB(matter, state, parent).w, w));
        }
        for (int k = 0; k < nu && nu != 3; ++k) {
            sum += udot[first + k] * udot[first + k];
        }
        sum += tal_v3_dot(a, a);
    }
    return sqrt(sum);
}

static inline double kinetic_energy(const vehicle *it)
{
    return tal_matter_kinetic_energy(it->w.matter, it->w.state);
}

static inline void realize_accelerations(vehicle *it)
{
    const tal_status st = tal_system_realize(it->w.system, it->w.state, TAL_STAGE_ACCELERATION);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(it->w.state)->message);
}

#endif // TALUS_VEHICLE_SUPPORT_H
