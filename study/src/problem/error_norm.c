// How large is the error of a step, and which variable has the largest? (manual sec. 9.1 and 9.2)
#include "problem/problem_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Keeps the worst of q, u and z.
static double merge(tali_problem *problem, tal_pool pool, const tali_problem_norm *part,
                    double worst_so_far)
{
    const double value = tali_problem_norm_value(part, problem->infinity_norm);
    if (value <= worst_so_far) return worst_so_far;
    problem->worst = (tali_problem_worst){pool, part->worst, part->largest};
    return value;
}

static tali_problem_norm norm_of(const double error[], const double weights[], const double y[],
                                 int n, tali_problem_absolute absolute)
{
    tali_problem_norm it = {0.0, 0.0, 0, 0};
    for (int i = 0; i < n; ++i) {
        const double weight = tali_problem_weight(weights[i], y[i], absolute, i);
        tali_problem_norm_add(&it, i, weight * error[i]);
    }
    return it;
}

// Variables that are known have no error: only free ones are tested (manual sec. 10.4). Clears
// those of matter's `errors`, one per speed, that are known at `level` or above, and counts them.
static int clear_known(const tali_problem *problem, const tal_state *state, tal_level level,
                       double errors[])
{
    const tal_matter *matter = problem->matter;
    const int num_u = tal_group_size(problem->system, state, problem->u_group);
    int known = 0;
    if (tal_matter_num_free(matter, state) == num_u) return 0;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        tal_mobility it = {.body = {b}};
        const int start = tal_body_u_start(matter, it.body), nu = tal_body_nu(matter, it.body);
        for (; it.i < nu; ++it.i) {
            if (tal_mobility_level(matter, state, it) < level) continue;
            errors[start + it.i] = 0.0;
            ++known;
        }
    }
    return known;
}

// W_u N^+ e_q for matter's coordinates; those of other subsystems are weighed by 1. N^+ e_q is in
// `weighed`, if `is_known`.
static tali_problem_norm norm_of_q(tali_problem *problem, const tal_state *state, int nq,
                                   bool is_known)
{
    tali_problem_norm it = {0.0, 0.0, 0, 0};
    const double *error = problem->error;
    int q0 = 0, num_q = 0;
    if (problem->matter != NULL) {
        q0 = tal_group_start(problem->system, state, problem->q_group);
        num_q = tal_group_size(problem->system, state, problem->q_group);
        const int u0 = tal_group_start(problem->system, state, problem->u_group);
        const int num_u = tal_group_size(problem->system, state, problem->u_group);
        const double *weights = tal_state_weights(state, TAL_POOL_U) + u0;
        it.count -= clear_known(problem, state, TAL_LEVEL_POSITION, problem->weighed);
        for (int j = 0; j < num_u; ++j) {
            tali_problem_norm_add(&it, u0 + j,
                                  is_known ? weights[j] * problem->weighed[j] : TALI_NAN);
        }
    }
    for (int i = 0; i < nq; ++i) {
        if (i < q0 || i >= q0 + num_q) tali_problem_norm_add(&it, i, error[i]);
    }
    return it;
}

double tali_problem_error_norm(tali_problem *problem, tal_state *state)
{
    tal_status st = TAL_OK;
    if (problem->matter != NULL) {
        const int q0 = tal_group_start(problem->system, state, problem->q_group);
        st = tal_matter_mul_N(problem->matter, state, TAL_NPLUS, problem->error + q0,
                              problem->weighed);
    }
    return tali_problem_weigh_error(problem, state, st == TAL_OK);
}

double tali_problem_weigh_error(tali_problem *problem, const tal_state *state, bool is_known)
{
    const int nq = tal_state_nq(state), nu = tal_state_nu(state), nz = tal_state_nz(state);
    double *error = problem->error;
    const double *y = problem->y0;
    problem->worst = (tali_problem_worst){TAL_POOL_Q, 0, 0.0};
    tali_problem_norm part = norm_of_q(problem, state, nq, is_known);
    double worst = merge(problem, TAL_POOL_Q, &part, 0.0);
    int known = 0;
    if (problem->matter != NULL) {
        double *of_matter = error + nq + tal_group_start(problem->system, state, problem->u_group);
        known = clear_known(problem, state, TAL_LEVEL_VELOCITY, of_matter);
    }
    part =
        norm_of(error + nq, tal_state_weights(state, TAL_POOL_U), y + nq, nu, problem->absolute_u);
    part.count -= known;
    worst = merge(problem, TAL_POOL_U, &part, worst);
    part = norm_of(error + nq + nu, tal_state_weights(state, TAL_POOL_Z), y + nq + nu, nz,
                   problem->absolute_z);
    return merge(problem, TAL_POOL_Z, &part, worst);
}

// z is not projected.
double tali_problem_change_by_projection(tali_problem *problem, tal_state *state, const double y[])
{
    const int ny = tal_state_ny(state), nz = tal_state_nz(state);
    const double *now = tal_state_y(state);
    for (int i = 0; i < ny; ++i) {
        problem->error[i] = i < ny - nz ? now[i] - y[i] : 0.0;
    }
    return tali_problem_error_norm(problem, state);
}

// The body whose speeds include one of matter's, counted from matter's first.
static tal_body_ix body_of_speed(const tal_matter *matter, int speed, int *local)
{
    tal_body_ix body = {tal_matter_num_bodies(matter) - 1};
    while (body.i > 0 &&
           (tal_body_nu(matter, body) == 0 || tal_body_u_start(matter, body) > speed)) {
        --body.i;
    }
    *local = speed - tal_body_u_start(matter, body);
    return body;
}

void tali_problem_name_variable(const tali_problem *problem, const tal_state *state, tal_pool pool,
                                int slot, char text[], size_t size)
{
    const tal_system *system = problem->system;
    int local = 0;
    // errors of matter's q are known by the speed that makes them
    const tal_pool by = pool == TAL_POOL_Q && problem->matter != NULL ? TAL_POOL_U : pool;
    const tal_group_ix group = tal_state_slot_owner(system, state, by, slot, &local);
    if (problem->matter != NULL && by == TAL_POOL_U && group.i == problem->u_group.i) {
        int speed = 0;
        const tal_body_ix body = body_of_speed(problem->matter, local, &speed);
        (void)snprintf(text, size, "%s %d of body '%s'",
                       pool == TAL_POOL_Q ? "the motion along speed" : "speed", speed,
                       tal_body_name(problem->matter, body));
        return;
    }
    static const char *const names[] = {"coordinate", "speed", "z"};
    (void)snprintf(text, size, "%s %d of '%s' in subsystem '%s'", names[by], local,
                   tal_group_name(system, group),
                   tal_subsystem_name(system, tal_group_owner(system, group)));
}
