// Forward dynamics: what matter computes at Dynamics and Acceleration.
//
// Given    q, u     poses, velocities, and accelerations at udot = 0 (stage_kinematics.c)
//          F, f     forces applied to bodies (about Mo, in Ground) and along mobilities
// Compute  udot     accelerations of the mobilities, and with them A_GM of all bodies
//          lambda   multipliers of the constraints
//
//     M udot + G^T lambda = f - J^T (F0 - F)                              theory eq. 8.2
//     G udot              = b
//
//   1  inertias     each body in Ground, then articulated: G, D^-1        theory eq. 6.2 to 6.4
//   2  inward       e = f - H^T z, where z sums F0 - F and what G e adds  theory eq. 6.2 to 6.4
//   3  constraints  W lambda = G udot0 - b, and their forces into e       theory eq. 8.3
//   4  outward      udot = D^-1 e - G^T A+                                theory eq. 6.2
//   5  all motion   A = J udot + A0                                       theory eq. 3.3
//   6  rates of q   qdotdot = N udot + Ndot u                             from theory eq. 2.1
//
// Step 1 depends on q alone: it is kept until q changes. Steps 2 and 4 are a product with M^-1
// (ADR 14); known accelerations (theory T-7) count in F0 and are put in after step 4.
//
// Source: RBDA tab. 7.1. There Coriolis terms join on the way inward (eq. 7.48); here F0 has them.
#include "finite_internal.h"

#include "constraint/constraint_internal.h"
#include "kernel/passes_internal.h"
#include "prescribed/prescribed_internal.h"
#include "stage/stages_internal.h"

#include <math.h>

// --- 1: inertias ---

tal_status tali_stage_calc_rigid(const void *self, const tal_system *system, tal_state *state,
                                 void *value)
{
    (void)system;
    tali_tree_view view;
    tali_tree_view_of(self, state, TALI_POSITION, &view);
    view.passes->rigid(&view, value);
    return TAL_OK;
}

static tal_status name_massless_mobility(const tal_matter *matter, tal_state *state,
                                         const tali_tree_view *view, const double DI[])
{
    const int b = tali_prescribed_massless_body(view, DI);
    return tal_state_fail(
        state, TAL_ERR_SINGULAR,
        "body '%s' can move on its %s without moving any mass: give it, or the "
        "bodies it carries, mass or inertia (if constraints hold it: choose the solve way "
        "\"kkt\", in a model file solve=\"kkt\")",
        matter->bodies[b].name, matter->bodies[b].ops.name);
}

tal_status tali_stage_calc_articulated(const void *self, const tal_system *system, tal_state *state,
                                       void *value)
{
    (void)system;
    const tal_matter *matter = self;
    tali_tree_view view;
    tali_tree_view_of(matter, state, TALI_INERTIA, &view);
    const tali_tree_articulated at = {
        value, (double *)(void *)((char *)value + tali_stage_gain_bytes(view.tree)), NULL};
    const size_t mark = tal_state_scratch_mark(state);
    tali_kernel_open_inertia *open = tal_state_scratch_take(
        state, ((size_t)view.tree->num_slots + 1) * sizeof(tali_kernel_open_inertia));
    const bool ok = view.passes->articulated(&view, &at, open);
    tal_state_scratch_release(state, mark);
    return ok ? TAL_OK : name_massless_mobility(matter, state, &view, at.DI);
}

// --- Dynamics: the forces ---

// Matter prepares: no forces yet. Force subsystems, which come later in order, add theirs.
tal_status tali_stage_realize_dynamics(const void *self, const tal_system *system, tal_state *state)
{
    const tal_matter *matter = self;
    void *bytes = tali_cache_begin(system, state, matter->forces);
    memset(bytes, 0, tali_stage_forces_size(&matter->tree));
    tali_cache_end(system, state, matter->forces);
    return TAL_OK;
}

tali_tree_applied tali_tree_applied_of(const tal_matter *matter, const tal_state *state)
{
    const char *bytes = tal_cache_value(matter->system, state, matter->forces);
    if (bytes == NULL) return (tali_tree_applied){NULL, NULL};
    const char *mobility = bytes + tali_tree_body_force_bytes(&matter->tree);
    return (tali_tree_applied){(const tal_spatial_vec *)(const void *)bytes,
                               (const double *)(const void *)mobility};
}

// --- 2 to 5: the equations of motion ---

// A = J udot + A0 where A is wanted, and what is known of udot.
static void complete_motion(const tali_tree_view *view, bool with_A0, double udot[],
                            tal_spatial_vec A_GM[])
{
    for (int b = 0; b < view->tree->num_bodies && with_A0; ++b) {
        A_GM[b] = tal_sv_add(A_GM[b], view->rates[b].A0);
    }
    tali_prescribed_add_known(view, udot, A_GM);
}

tal_status tali_stage_solve_udot(const tal_matter *matter, tal_state *state,
                                 const tali_tree_view *view, const tal_spatial_vec F[],
                                 const double f[], double udot[], tal_spatial_vec A_GM[],
                                 double lambda[])
{
    const tali_tree *tree = view->tree;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *open =
        tal_state_scratch_take(state, ((size_t)tree->num_slots + 1) * sizeof *open);
    double *e = tal_state_scratch_take(state, ((size_t)tree->num_u + 1) * sizeof *e);
    tal_spatial_vec *A = A_GM;
    if (A == NULL) A = tal_state_scratch_take(state, (size_t)tree->num_bodies * sizeof *A);

    tal_status st = TAL_OK;
    view->passes->inward_moving(view, f, F, e, open);
    if (lambda != NULL) st = tali_constraints_solve(matter, state, view, e, lambda);
    if (st == TAL_OK) {
        view->passes->outward(view, e, udot, A);
        complete_motion(view, A_GM != NULL, udot, A);
    }
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tali_matter_forward_dynamics(const tal_matter *matter, tal_state *state,
                                        const tal_spatial_vec F[], const double f[], double udot[],
                                        tal_spatial_vec A_GM[], double lambda[])
{
    if (lambda != NULL && matter->way == TAL_SOLVE_KKT) {
        return tali_matter_forward_dynamics_kkt(matter, state, F, f, udot, A_GM, lambda);
    }
    tali_tree_view view;
    if (!tali_tree_realize_view(matter, state, TALI_DYNAMICS, &view)) {
        return tal_state_error(state)->status;
    }
    return tali_stage_solve_udot(matter, state, &view, F, f, udot, A_GM, lambda);
}

// --- Acceleration ---

static tal_status name_overflow(const tal_matter *matter, tal_state *state, int b,
                                const char *subject, int i, double value)
{
    return tal_state_fail(state, TAL_ERR_NOT_FINITE,
                          "body '%s': %s %d is %g at t = %g: its speeds or the forces on it are "
                          "too large for double precision",
                          matter->bodies[b].name, subject, i, value, tal_state_t(state));
}

// Speeds and forces that are finite can give accelerations that are not: w x (w x r) overflows from
// w = 1e154 rad/s on. The first body in the tree that shows it is named.
static tal_status check_accelerations(const tal_matter *matter, tal_state *state,
                                      const double udot[], const double qdotdot[])
{
    const tali_tree *tree = &matter->tree;
    const tali_matter_model model = tali_matter_model_unchecked(matter, state);
    const int last = tree->num_bodies - 1, num_q = model.q0[last] + model.nq[last];
    // qdotdot = N udot + Ndot u shows whatever udot does
    if (tali_finite_all(qdotdot, num_q)) return TAL_OK;
    for (int b = 1; b < tree->num_bodies; ++b) {
        for (int j = 0; j < tree->nu[b]; ++j) {
            const double value = udot[tree->u0[b] + j];
            if (isfinite(value)) continue;
            return name_overflow(matter, state, b, "the rate of speed", j, value);
        }
        for (int i = 0; i < model.nq[b]; ++i) {
            const double value = qdotdot[model.q0[b] + i];
            if (isfinite(value)) continue;
            return name_overflow(matter, state, b, "the second derivative of coordinate", i, value);
        }
    }
    return TAL_OK;
}

tal_status tali_stage_realize_acceleration(const void *self, const tal_system *system,
                                           tal_state *state)
{
    const tal_matter *matter = self;
    const tali_tree_applied applied = tali_prescribed_loads_of(matter, state);
    if (applied.F == NULL) return tal_state_error(state)->status;
    tal_spatial_vec *A_GM = tali_cache_begin(system, state, matter->acceleration);
    double *udot = tali_cache_group_ydot(system, state, matter->u);
    double *qdotdot = tali_cache_group_qdotdot(system, state, matter->q);
    double *lambda = matter->constraints.count > 0
                         ? tal_group_upd_multipliers(system, state, matter->constraints.udoterr)
                         : NULL;

    tal_status st =
        tali_matter_forward_dynamics(matter, state, applied.F, applied.f, udot, A_GM, lambda);
    if (st == TAL_OK) st = tali_stage_write_rates(matter, state, udot, true, qdotdot);
    if (st == TAL_OK) st = check_accelerations(matter, state, udot, qdotdot);
    if (st == TAL_OK && lambda != NULL) {
        st = tali_constraints_realize_acceleration(matter, state, A_GM, udot, lambda);
    }
    if (st == TAL_OK) tali_cache_end(system, state, matter->acceleration);
    return st;
}
