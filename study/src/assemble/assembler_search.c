// The searches: meet the constraints, from near or from far; then come close to the goals. Speeds.
#include "array_internal.h"

#include "assemble/assembler_internal.h"
#include "problem/study_internal.h"

#include <math.h>
#include <string.h>

// Damping of the first damped step.
static const double FIRST_DAMPING = 1e-3, LEAST_DAMPING = 1e-9;

// Share by which a step has to make the errors smaller.
static const double LEAST_PROGRESS = 1e-10;

// Tolerance of constraints for a guess that others refine.
static const double ROUGHLY = 1e-3;

tal_status tali_assembler_pass_on(tal_assembler *it, const tal_state *state, tal_status st)
{
    if (st == TAL_OK) return TAL_OK;
    return TALI_FAIL(&it->error_record, st, "%s", tali_problem_reason(state, st));
}

tal_status tali_assembler_blame(tal_assembler *it, const tal_state *state, const char *goal,
                                tal_status st)
{
    return TALI_FAIL(&it->error_record, st, "goal '%s': %s", goal, tali_problem_reason(state, st));
}

// --- meeting the equations ---

// Of all steps that meet the equations, the shortest: H = W_u^2, g = 0.
static void ask_for_shortest(tal_assembler *it)
{
    tali_assembler_quadratic *at = &it->at;
    at->is_tree = true;
    at->is_whole = false;
    memset(at->H, 0, (size_t)at->n * (size_t)at->n * sizeof *at->H);
    memset(at->g, 0, (size_t)at->n * sizeof *at->g);
    for (int i = 0; i < at->n; ++i) {
        at->H[(size_t)i * (size_t)(at->n + 1)] = it->W_u[i] * it->W_u[i];
    }
}

// As near to the equations as a damped step can come: H = C^T C, g = C^T c.
static void ask_for_nearest(tal_assembler *it)
{
    tali_assembler_quadratic *at = &it->at;
    at->is_tree = at->is_whole = false;
    for (int j = 0; j < at->n; ++j) {
        const double *C_j = at->C + (size_t)j * (size_t)at->ld;
        at->g[j] = 0.0;
        for (int r = 0; r < at->m; ++r) {
            at->g[j] += C_j[r] * at->c[r];
        }
        for (int i = 0; i < at->n; ++i) {
            const double *C_i = at->C + (size_t)i * (size_t)at->ld;
            double sum = 0.0;
            for (int r = 0; r < at->m; ++r) {
                sum += C_i[r] * C_j[r];
            }
            at->H[(size_t)j * (size_t)at->n + (size_t)i] = sum;
        }
    }
    at->m = 0;
}

// A full step of least length. It is taken if it removes at least half of the error.
static tal_status try_shortest(tal_assembler *it, tal_state *state, double *norm, bool *better)
{
    ask_for_shortest(it);
    tal_status st = tali_assembler_solve_bounded(it, state, 0.0, it->x);
    if (st == TAL_OK) st = tali_assembler_move(it, state, it->x);
    if (st != TAL_OK) return st;
    const double reached = tali_assembler_error(it, state, NULL);
    *better = reached <= 0.5 * *norm;
    if (*better) *norm = reached;
    return *better ? TAL_OK : tali_assembler_put_q(it, state, it->q_keep);
}

// Damped steps, until one reduces the error.
static tal_status try_damped(tal_assembler *it, tal_state *state, double *lambda, double *norm,
                             bool *better)
{
    ask_for_nearest(it);
    while (*lambda < TALI_ASSEMBLER_MOST_DAMPING) {
        tal_status st = tali_assembler_solve_bounded(it, state, *lambda, it->x);
        if (st == TAL_OK) st = tali_assembler_move(it, state, it->x);
        if (st != TAL_OK) return st;
        const double reached = tali_assembler_error(it, state, NULL);
        *better = reached < *norm * (1.0 - LEAST_PROGRESS);
        if (*better) {
            *norm = reached;
            *lambda = fmax(0.1 * *lambda, LEAST_DAMPING);
            return TAL_OK;
        }
        st = tali_assembler_put_q(it, state, it->q_keep);
        if (st != TAL_OK) return st;
        *lambda *= 10.0;
    }
    return TAL_OK;
}

tal_status tali_assembler_meet(tal_assembler *it, tal_state *state, double tolerance,
                               int max_iterations, double *norm, int *iterations)
{
    double lambda = FIRST_DAMPING;
    *norm = tali_assembler_error(it, state, NULL);
    for (int k = 0; k < max_iterations; ++k, ++*iterations) {
        if (*norm <= tolerance) break;
        tali_assembler_get_q(it, state, it->q_keep);
        tal_status st = tali_assembler_linearize_equations(it, state);
        bool better = false;
        if (st == TAL_OK) st = try_shortest(it, state, norm, &better);
        if (st == TAL_OK && !better) st = try_damped(it, state, &lambda, norm, &better);
        if (st != TAL_OK) return st;
        if (!better) break;
    }
    return TAL_OK;
}

// --- from far away ---

// The errors at the start are removed a tenth at a time.
static tal_status approach_in_pieces(tal_assembler *it, tal_state *state, double *norm,
                                     int *iterations)
{
    const int pieces = 10;
    memcpy(it->pieces, it->e, (size_t)it->max_rows * sizeof *it->e);
    tal_status st = TAL_OK;
    for (int k = pieces - 1; k >= 0 && st == TAL_OK; --k) {
        for (int i = 0; i < it->max_rows; ++i) {
            it->target[i] = it->pieces[i] * k / pieces;
        }
        const double tolerance = k > 0 ? ROUGHLY : it->def.tolerance;
        st = tali_assembler_meet(it, state, tolerance, it->def.max_iterations, norm, iterations);
    }
    memset(it->target, 0, (size_t)it->max_rows * sizeof *it->target);
    return st;
}

// From the start, a random step of up to three units in every speed that is free.
static tal_status scatter(tal_assembler *it, tal_state *state, int attempt)
{
    tal_random random = {it->def.seed, (uint64_t)attempt, 0};
    tal_status st = tali_assembler_put_q(it, state, it->q_start);
    if (st != TAL_OK) return st;
    const double reach = attempt % 3 + 1.0;
    for (int i = 0; i < it->nu; ++i) {
        const double step = tal_random_range(&random, -reach, reach) / it->W_u[i];
        it->x[i] = it->at.is_free[i] ? step : 0.0;
    }
    return tali_assembler_move(it, state, it->x);
}

// Keeps the place with the least error in q_best.
static void keep_best(tal_assembler *it, const tal_state *state, double norm, double *best)
{
    if (norm >= *best) return;
    *best = norm;
    tali_assembler_get_q(it, state, it->q_best);
}

static tal_status meet_by_kinsol(tal_assembler *it, tal_state *state, tal_assembly *found)
{
    double norm = 0.0;
    const tal_status st = tali_assembler_meet_by_kinsol(it, state, &norm, &found->iterations);
    found->assembled = st == TAL_OK && norm <= it->def.tolerance;
    return st;
}

// The constraints from wherever the State is. On success the State meets them if
// `found->assembled`, otherwise it is where they are met best.
static tal_status meet_globally(tal_assembler *it, tal_state *state, tal_assembly *found)
{
    if (it->kinsol != NULL) return meet_by_kinsol(it, state, found);
    double norm = 0.0, best = (double)INFINITY;
    tal_status st = tali_assembler_meet(it, state, it->def.tolerance, it->def.max_iterations, &norm,
                                        &found->iterations);
    if (st != TAL_OK) return st;
    found->assembled = norm <= it->def.tolerance;
    if (found->assembled) return TAL_OK;
    keep_best(it, state, norm, &best);

    st = tali_assembler_put_q(it, state, it->q_start);
    (void)tali_assembler_error(it, state, NULL);
    if (st == TAL_OK) st = approach_in_pieces(it, state, &norm, &found->iterations);
    for (int k = 0; st == TAL_OK; ++k) {
        found->assembled = norm <= it->def.tolerance;
        if (found->assembled) return TAL_OK;
        keep_best(it, state, norm, &best);
        if (k == it->def.max_restarts) break;
        ++found->restarts;
        st = scatter(it, state, k);
        if (st == TAL_OK) {
            st = tali_assembler_meet(it, state, it->def.tolerance, it->def.max_iterations, &norm,
                                     &found->iterations);
        }
    }
    return st == TAL_OK ? tali_assembler_put_q(it, state, it->q_best) : st;
}

// --- the public searches ---

static tal_status cannot_meet(tal_assembler *it, const tal_assembly *found)
{
    return TALI_FAIL(&it->error_record, TAL_ERR_NO_CONVERGENCE,
                     "constraint '%s' cannot be met: an error of %g is left, tolerance %g",
                     tal_constraint_name(it->matter, found->worst), found->worst_error,
                     it->def.tolerance);
}

static tal_status not_converged(tal_assembler *it, const tal_assembly *found)
{
    return TALI_FAIL(&it->error_record, TAL_ERR_NO_CONVERGENCE,
                     "the goals are not minimal after %d iterations: the next step would be "
                     "%g, accuracy %g. Allow more of them (max_iterations is %d), start nearer, or "
                     "check the Jacobians of goals of your own",
                     found->iterations, found->step, it->def.accuracy, it->def.max_iterations);
}

static tal_status judge(tal_assembler *it, const tal_assembly *found)
{
    if (!found->assembled) return cannot_meet(it, found);
    return found->converged ? TAL_OK : not_converged(it, found);
}

// Prescribed coordinates first, then those that are out of their ranges.
static tal_status start_search(tal_assembler *it, tal_state *state)
{
    tal_status st = tal_system_prescribe_q(it->system, state, NULL);
    if (st == TAL_OK) st = tal_system_realize(it->system, state, TAL_STAGE_POSITION);
    if (st != TAL_OK) return tali_assembler_pass_on(it, state, st);
    st = tali_assembler_begin(it, state, TAL_LEVEL_POSITION);
    if (st == TAL_OK) st = tali_assembler_keep_ranges(it, state);
    return st == TAL_OK ? tali_assembler_mark_start(it, state) : st;
}

// Fails when markers or sensors were named but none is seen.
static tal_status check_seen(tal_assembler *it)
{
    const int named = it->def.num_markers + it->def.num_sensors;
    if (named == 0 || it->num_seen > 0) return TAL_OK;
    return TALI_FAIL(&it->error_record, TAL_ERR_BAD_VALUE,
                     "none of the %d markers and sensors is seen%s", named,
                     it->is_observed ? "" : ": call tal_assembler_observe() first");
}

// From a State that has been started.
static tal_status search_q(tal_assembler *it, tal_state *state, tal_assembly *found)
{
    tal_status st = meet_globally(it, state, found);
    if (st == TAL_OK) st = tali_assembler_goal(it, state, &found->goal);
    if (st == TAL_OK && found->assembled) st = tali_assembler_improve(it, state, found);
    if (st != TAL_OK) return st;
    found->error = tali_assembler_error(it, state, found);
    tali_assembler_marker_errors(it, state, found);
    return TAL_OK;
}

// A quaternion and its negative are one orientation. The one on the side of the start is kept, so
// that their difference is a motion, and q of frames that follow each other do not jump.
static tal_status keep_sides(tal_assembler *it, tal_state *state)
{
    const int start_q = tal_group_start(it->system, state, it->q_group);
    bool any = false;
    tali_assembler_get_q(it, state, it->q_base);
    for (int b = 1; b < tal_matter_num_bodies(it->matter); ++b) {
        const tal_body_ix body = {b};
        const int at = tal_body_q_start(it->matter, state, body) - start_q;
        const bool has_quaternion =
            tal_body_nq(it->matter, state, body) > tal_body_nq_angles(it->matter, body);
        if (!has_quaternion || tali_array_dot(it->q_base + at, it->q_start + at, 4) >= 0.0) {
            continue;
        }
        for (int i = 0; i < 4; ++i) {
            it->q_base[at + i] = -it->q_base[at + i];
        }
        any = true;
    }
    return any ? tali_assembler_put_q(it, state, it->q_base) : TAL_OK;
}

// Bodies where their markers want them, unless that is worse than where they were.
static tal_status place_bodies(tal_assembler *it, tal_state *state, double goal_before)
{
    double goal = 0.0;
    tal_status st = tali_assembler_place_bodies(it, state);
    if (st == TAL_OK) st = keep_sides(it, state);
    if (st == TAL_OK) st = tali_assembler_goal(it, state, &goal);
    if (st == TAL_OK && !(goal < goal_before)) st = tali_assembler_put_q(it, state, it->q_start);
    return st;
}

static tal_status search(tal_assembler *it, tal_state *state, bool place_first, tal_assembly *found)
{
    tal_status st = start_search(it, state);
    if (st != TAL_OK) return st;
    found->error_before = tali_assembler_error(it, state, NULL);
    st = tali_assembler_goal(it, state, &found->goal_before);
    if (st == TAL_OK && place_first) st = place_bodies(it, state, found->goal_before);
    if (st == TAL_OK) st = search_q(it, state, found);
    if (st != TAL_OK || !place_first || found->error_before > it->def.tolerance) return st;
    if (found->assembled && found->goal <= found->goal_before) return TAL_OK;
    // the constraints were met before, and meeting them again has cost more than placing had gained
    st = tali_assembler_put_q(it, state, it->q_start);
    return st == TAL_OK ? search_q(it, state, found) : st;
}

// A failure leaves q as it was.
static void give_back(tal_assembler *it, tal_state *state)
{
    const int q0 = tal_group_start(it->system, state, it->q_group);
    const int nq = tal_group_size(it->system, state, it->q_group);
    memcpy(tal_state_upd_q(state) + q0, it->q_given, (size_t)nq * sizeof(double));
}

static tal_status assemble(tal_assembler *it, tal_state *state, bool place_first,
                           tal_assembly *found)
{
    it->error_record = (tal_error){TAL_OK, "", ""};
    tal_assembly record = {.worst = {-1}, .worst_marker = -1};
    tali_assembler_use_observed(it, &it->of_q);
    tal_status st = check_seen(it);
    if (st != TAL_OK) return st;
    st = tal_system_realize(it->system, state, TAL_STAGE_TIME);
    if (st != TAL_OK) return tali_assembler_pass_on(it, state, st);
    tali_assembler_get_q(it, state, it->q_given);
    st = search(it, state, place_first, &record);
    if (st != TAL_OK) {
        give_back(it, state);
        return st;
    }
    if (found != NULL) *found = record;
    return judge(it, &record);
}

tal_status tal_assembler_assemble(tal_assembler *assembler, tal_state *state, tal_assembly *found)
{
    if (assembler == NULL) return TALI_BREACH(TAL_ERR_NULL, "the assembler is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return assemble(assembler, state, false, found);
}

tal_status tal_assembler_fit(tal_assembler *assembler, tal_state *state, tal_assembly *found)
{
    if (assembler == NULL) return TALI_BREACH(TAL_ERR_NULL, "the assembler is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return assemble(assembler, state, true, found);
}

// --- speeds ---

static tal_status add_speeds(tal_assembler *it, tal_state *state, const double du[])
{
    const int start_u = tal_group_start(it->system, state, it->u_group);
    double *u = tal_state_upd_u(state) + start_u;
    for (int i = 0; i < it->nu; ++i) {
        u[i] += du[i];
    }
    return tali_assembler_pass_on(it, state,
                                  tal_system_realize(it->system, state, TAL_STAGE_VELOCITY));
}

// Both goals and equations are linear in u, or nearly: a few full steps end where round-off does.
static tal_status search_u(tal_assembler *it, tal_state *state, bool has_goals, tal_assembly *found)
{
    tal_status st = TAL_OK;
    double last = (double)INFINITY;
    for (int k = 0; k < it->def.max_iterations && st == TAL_OK; ++k, ++found->iterations) {
        const double norm = tali_assembler_error(it, state, NULL);
        found->converged = norm <= it->def.tolerance && !has_goals;
        if (found->converged) break;
        st = tali_assembler_linearize_equations(it, state);
        if (st == TAL_OK && has_goals) st = tali_assembler_linearize_goals(it, state);
        if (!has_goals) ask_for_shortest(it);
        if (st == TAL_OK) st = tali_assembler_solve(it, 0.0, it->x);
        if (st != TAL_OK) return st;
        const double size = tali_assembler_step_size(it, it->x);
        const bool is_small = size <= it->def.accuracy, is_met = norm <= it->def.tolerance;
        found->step = size;
        found->converged = is_met && (is_small || size > 0.5 * last);
        if (found->converged) break;
        last = size;
        st = add_speeds(it, state, it->x);
    }
    return st;
}

static bool has_goals_of_u(const tal_assembler *it)
{
    bool any = it->num_seen > 0;
    for (int i = 0; i < it->num_rows; ++i) {
        any = any || it->row_weight[i] > 0.0;
    }
    return any;
}

static tal_status start_u(tal_assembler *it, tal_state *state)
{
    tal_status st = tal_system_prescribe_u(it->system, state, NULL);
    if (st == TAL_OK) st = tal_system_realize(it->system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return tali_assembler_pass_on(it, state, st);
    return tali_assembler_begin(it, state, TAL_LEVEL_VELOCITY);
}

// From a State that has been started.
static tal_status find_u(tal_assembler *it, tal_state *state, tal_assembly *found)
{
    found->error_before = tali_assembler_error(it, state, NULL);
    tal_status st = tali_assembler_goal(it, state, &found->goal_before);
    if (st == TAL_OK) st = search_u(it, state, has_goals_of_u(it), found);
    if (st == TAL_OK) st = tali_assembler_goal(it, state, &found->goal);
    if (st != TAL_OK) return st;
    found->error = tali_assembler_error(it, state, found);
    tali_assembler_marker_errors(it, state, found);
    found->assembled = found->error <= it->def.tolerance;
    return TAL_OK;
}

// A failure leaves u as it was.
static void give_u_back(tal_assembler *it, tal_state *state)
{
    const int u0 = tal_group_start(it->system, state, it->u_group);
    memcpy(tal_state_upd_u(state) + u0, it->u_given, (size_t)it->nu * sizeof(double));
}

tal_status tal_assembler_assemble_u(tal_assembler *assembler, const tal_vec3 velocities[],
                                    const tal_vec3 rates[], tal_state *state, tal_assembly *found)
{
    if (assembler == NULL) return TALI_BREACH(TAL_ERR_NULL, "the assembler is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    tal_assembler *it = assembler;
    it->error_record = (tal_error){TAL_OK, "", ""};
    tal_assembly record = {.worst = {-1}, .worst_marker = -1};
    tal_status st = tali_assembler_observe_rates(it, velocities, rates);
    if (st != TAL_OK) return st;
    tali_assembler_use_observed(it, &it->of_u);
    st = tal_system_realize(it->system, state, TAL_STAGE_POSITION);
    if (st != TAL_OK) return tali_assembler_pass_on(it, state, st);
    const int u0 = tal_group_start(it->system, state, it->u_group);
    memcpy(it->u_given, tal_state_u(state) + u0, (size_t)it->nu * sizeof(double));
    st = start_u(it, state);
    if (st == TAL_OK) st = find_u(it, state, &record);
    if (st != TAL_OK) {
        give_u_back(it, state);
        return st;
    }
    if (found != NULL) *found = record;
    return judge(it, &record);
}
