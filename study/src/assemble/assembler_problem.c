// The problem to be solved at a State: equations with their Jacobian, goals with their normal
// matrix, at the level of q or of u.
#include "assemble/assembler_internal.h"

#include <math.h>
#include <string.h>

// --- what stays the same during a search ---

static void find_free(tal_assembler *it, const tal_state *state)
{
    for (int b = 1; b < tal_matter_num_bodies(it->matter); ++b) {
        const tal_body_ix body = {b};
        const int u0 = tal_body_u_start(it->matter, body);
        for (int j = 0; j < tal_body_nu(it->matter, body); ++j) {
            const tal_mobility mobility = {body, j};
            it->at.is_free[u0 + j] = tal_mobility_level(it->matter, state, mobility) < it->level;
            it->at.known[u0 + j] = 0.0;
        }
    }
}

// Whether a coordinate can move. A body of which only some speeds are held has qdot = u.
static bool is_free(const tal_assembler *it, tal_body_ix body, int i)
{
    const int u0 = tal_body_u_start(it->matter, body), nu = tal_body_nu(it->matter, body);
    int count = 0;
    for (int j = 0; j < nu; ++j) {
        if (it->at.is_free[u0 + j]) ++count;
    }
    return count == nu || (i < nu && it->at.is_free[u0 + i]);
}

// The range of a coordinate in this assembler: its own, or that of the model. False when there is
// none.
static bool find_range(const tal_assembler *it, const tal_state *state, tali_assembler_bound *bound)
{
    for (int k = it->def.num_ranges - 1; k >= 0; --k) { // of two for one coordinate the last holds
        const tal_coordinate_range *range = &it->def.ranges[k];
        if (range->body.i != bound->body.i || range->i != bound->i) continue;
        bound->low = range->low;
        bound->high = range->high;
        return isfinite(bound->low) || isfinite(bound->high);
    }
    if (it->def.ignore_ranges) return false;
    const tal_status st =
        tal_body_range(it->matter, state, bound->body, bound->i, &bound->low, &bound->high);
    return st == TAL_OK && (isfinite(bound->low) || isfinite(bound->high));
}

// Ranges of coordinates that can move.
static void find_bounds(tal_assembler *it, const tal_state *state)
{
    const int start = tal_group_start(it->system, state, it->q_group);
    it->num_bounds = 0;
    if (it->level != TAL_LEVEL_POSITION) return;
    if (it->def.ignore_ranges && it->def.num_ranges == 0) return;
    for (int b = 1; b < tal_matter_num_bodies(it->matter); ++b) {
        const tal_body_ix body = {b};
        const int q0 = tal_body_q_start(it->matter, state, body) - start;
        for (int i = 0; i < tal_body_nq(it->matter, state, body); ++i) {
            tali_assembler_bound bound = {.body = body, .i = i, .slot = q0 + i};
            if (find_range(it, state, &bound) && is_free(it, body, i)) {
                it->bounds[it->num_bounds++] = bound;
            }
        }
    }
}

// Weight of each equation that is a goal; -1 for those that are to be met.
static void sort_equations(tal_assembler *it, const tal_state *state)
{
    const tal_constraint_rows rows = tal_matter_constraint_rows(it->matter, state);
    it->num_rows = it->level == TAL_LEVEL_POSITION ? rows.mp : rows.mp + rows.mv;
    for (int i = 0; i < it->num_rows; ++i) {
        const tal_constraint_ix owner = tal_matter_row_owner(it->matter, state, i);
        it->row_weight[i] = -1.0;
        for (int s = 0; s < it->def.num_soft; ++s) {
            if (it->def.soft[s].constraint.i == owner.i) {
                it->row_weight[i] = it->def.soft[s].weight;
            }
        }
    }
}

// Hard constraints with a calc_turn.
static void find_turns(tal_assembler *it, const tal_state *state)
{
    it->num_turns = 0;
    if (it->level != TAL_LEVEL_POSITION) return;
    for (int i = 0; i < tal_matter_num_constraints(it->matter); ++i) {
        const tal_constraint_ix constraint = {i};
        if (!tal_constraint_has_turn(it->matter, constraint)) continue;
        const tal_constraint_rows rows = tal_constraint_rows_of(it->matter, state, constraint);
        if (rows.mp > 0 && it->row_weight[rows.p0] < 0.0) it->turns[it->num_turns++] = constraint;
    }
}

// Coordinate `i` of a body must be a number of its own in this State. A quaternion is one
// coordinate more than angles, and comes first.
static tal_status check_coordinate(tal_assembler *it, const tal_state *state, const char *kind,
                                   int k, tal_body_ix body, int i)
{
    const int nq = tal_body_nq(it->matter, state, body);
    const bool has_quaternion = nq > tal_body_nq_angles(it->matter, body);
    if (i < nq && !(has_quaternion && i < 4)) return TAL_OK;
    return TALI_FAIL(&it->error_record, TAL_ERR_BAD_INDEX, "%s %d: q%d of body '%s' %s", kind, k, i,
                     tal_body_name(it->matter, body),
                     i < nq ? "is part of a quaternion" : "does not exist");
}

static tal_status check_coordinates(tal_assembler *it, const tal_state *state)
{
    tal_status st = TAL_OK;
    for (int k = 0; k < it->def.num_coordinates && st == TAL_OK; ++k) {
        const tal_coordinate_goal *goal = &it->def.coordinates[k];
        st = check_coordinate(it, state, "coordinate goal", k, goal->body, goal->i);
    }
    for (int k = 0; k < it->def.num_ranges && st == TAL_OK; ++k) {
        const tal_coordinate_range *range = &it->def.ranges[k];
        st = check_coordinate(it, state, "range", k, range->body, range->i);
    }
    return st;
}

// Stations re-expressed in the frames M, of which poses are known.
static void place_markers(tal_assembler *it, const tal_state *state)
{
    for (int k = 0; k < it->def.num_markers; ++k) {
        const tal_marker *marker = &it->def.markers[k];
        const tal_xform X_BM = tal_body_X_BM(it->matter, state, marker->body);
        it->p_BS_M[k] = tal_m3_tmul_v3(X_BM.R, marker->p_BS);
        it->p_MS[k] = tal_m3_tmul_v3(X_BM.R, tal_v3_sub(marker->p_BS, X_BM.p));
    }
}

tal_status tali_assembler_begin(tal_assembler *it, tal_state *state, tal_level level)
{
    it->level = level;
    const tal_status st = tal_system_realize(it->system, state, TAL_STAGE_INSTANCE);
    if (st != TAL_OK) return tali_assembler_pass_on(it, state, st);
    const int u0 = tal_group_start(it->system, state, it->u_group);
    memcpy(it->W_u, tal_state_weights(state, TAL_POOL_U) + u0, (size_t)it->nu * sizeof *it->W_u);
    place_markers(it, state);
    find_free(it, state);
    find_bounds(it, state);
    sort_equations(it, state);
    find_turns(it, state);
    memset(it->target, 0, (size_t)it->max_rows * sizeof *it->target);
    return check_coordinates(it, state);
}

// --- equations ---

static int num_equations(const tal_assembler *it)
{
    return it->num_rows + 3 * it->num_turns;
}

static bool is_soft(const tal_assembler *it, int i)
{
    return i < it->num_rows && it->row_weight[i] >= 0.0;
}

static tal_constraint_ix owner_of(const tal_assembler *it, const tal_state *state, int i)
{
    if (i >= it->num_rows) return it->turns[(i - it->num_rows) / 3];
    return tal_matter_row_owner(it->matter, state, i);
}

// Errors of the constraints and their weights.
static void measure_rows(tal_assembler *it, const tal_state *state)
{
    if (it->num_rows == 0) return; // the System may have no constraints at all
    const bool at_q = it->level == TAL_LEVEL_POSITION;
    const int start = tal_group_start(it->system, state, at_q ? it->qerr_group : it->uerr_group);
    const double *errors = (at_q ? tal_state_qerr(state) : tal_state_uerr(state)) + start;
    const double *weights = tal_state_weights(state, at_q ? TAL_POOL_QERR : TAL_POOL_UERR) + start;
    memcpy(it->e, errors, (size_t)it->num_rows * sizeof *it->e);
    memcpy(it->T, weights, (size_t)it->num_rows * sizeof *it->T);
}

// Turns count as their constraint's first equation does.
static tal_status measure(tal_assembler *it, tal_state *state)
{
    measure_rows(it, state);
    const tal_matrix no_J = {NULL, 0, 0, 1};
    for (int k = 0; k < it->num_turns; ++k) {
        tal_vec3 turn;
        const tal_status st =
            tal_matter_calc_constraint_turn(it->matter, state, it->turns[k], &turn, no_J);
        if (st != TAL_OK) return tali_assembler_pass_on(it, state, st);
        const int first = tal_constraint_rows_of(it->matter, state, it->turns[k]).p0;
        const int at = it->num_rows + 3 * k;
        it->e[at] = turn.x, it->e[at + 1] = turn.y, it->e[at + 2] = turn.z;
        it->T[at] = it->T[at + 1] = it->T[at + 2] = it->T[first];
    }
    return TAL_OK;
}

double tali_assembler_error(tal_assembler *it, tal_state *state, tal_assembly *found)
{
    double sum = 0.0;
    int count = 0;
    if (found != NULL) {
        found->worst = (tal_constraint_ix){-1};
        found->worst_error = 0.0;
    }
    if (measure(it, state) != TAL_OK) return (double)INFINITY;
    for (int i = 0; i < num_equations(it); ++i) {
        if (is_soft(it, i)) continue;
        const double size = it->T[i] * fabs(it->e[i] - it->target[i]);
        sum += size * size;
        ++count;
        if (found == NULL || !(size >= found->worst_error)) continue;
        found->worst = owner_of(it, state, i);
        found->worst_error = size;
    }
    return count > 0 ? sqrt(sum / count) : 0.0;
}

// The Jacobian of all equations.
static tal_status calc_P(tal_assembler *it, tal_state *state)
{
    const int ld = num_equations(it);
    if (ld == 0) return TAL_OK;
    const tal_constraint_rows rows = tal_matter_constraint_rows(it->matter, state);
    const tal_matrix P = {it->P, rows.mp, it->nu, ld};
    tal_status st = tal_matter_calc_G(it->matter, state, TAL_G_P, P);
    if (st == TAL_OK && it->num_rows > rows.mp) {
        const tal_matrix V = {it->P + rows.mp, it->num_rows - rows.mp, it->nu, ld};
        st = tal_matter_calc_G(it->matter, state, TAL_G_V, V);
    }
    for (int k = 0; k < it->num_turns && st == TAL_OK; ++k) {
        const tal_matrix J = {it->P + it->num_rows + 3 * k, 3, it->nu, ld};
        tal_vec3 turn;
        st = tal_matter_calc_constraint_turn(it->matter, state, it->turns[k], &turn, J);
    }
    return tali_assembler_pass_on(it, state, st);
}

tal_status tali_assembler_calc_errors(tal_assembler *it, tal_state *state, double c[], int *m)
{
    *m = 0;
    const tal_status st = measure(it, state);
    for (int i = 0; i < num_equations(it) && st == TAL_OK; ++i) {
        if (!is_soft(it, i)) c[(*m)++] = it->T[i] * (it->e[i] - it->target[i]);
    }
    return st;
}

tal_status tali_assembler_linearize_equations(tal_assembler *it, tal_state *state)
{
    tali_assembler_quadratic *at = &it->at;
    tal_status st = tali_assembler_calc_errors(it, state, at->c, &at->m);
    if (st == TAL_OK) st = calc_P(it, state);
    if (st != TAL_OK) return st;
    const int ld = num_equations(it);
    int row = 0;
    for (int i = 0; i < ld; ++i) {
        if (is_soft(it, i)) continue;
        for (int j = 0; j < at->n; ++j) {
            const double P = it->P[(size_t)j * (size_t)ld + (size_t)i];
            at->C[(size_t)j * (size_t)at->ld + (size_t)row] = it->T[i] * P;
        }
        ++row;
    }
    return TAL_OK;
}

// --- goals ---

// p - observed of a marker, or v - observed.
static tal_vec3 marker_residual(const tal_assembler *it, const tal_state *state,
                                const tal_bodies_view *poses, int k)
{
    const tal_marker *marker = &it->def.markers[k];
    const bool at_q = it->level == TAL_LEVEL_POSITION;
    const tal_vec3 found = at_q ? tal_xf_apply(*tal_view_X_GM(poses, marker->body.i), it->p_MS[k])
                                : tal_station_v_GS(it->matter, state, marker->body, marker->p_BS);
    return tal_v3_sub(found, it->seen->points[k]);
}

// The rotation vector from observed to found, in Ground; or the difference of angular velocities.
static tal_vec3 sensor_residual(const tal_assembler *it, const tal_state *state, int k)
{
    const tal_orientation_sensor *sensor = &it->def.sensors[k];
    if (it->level != TAL_LEVEL_POSITION) {
        return tal_v3_sub(tal_body_V_GB(it->matter, state, sensor->body).w, it->seen->rates[k]);
    }
    const tal_mat3 R_GB = tal_body_X_GB(it->matter, state, sensor->body).R;
    const tal_mat3 R_GS = tal_m3_mul(R_GB, sensor->R_BS);
    const tal_mat3 turn = tal_m3_mul(R_GS, tal_m3_transpose(it->seen->rotations[k]));
    const tal_angle_axis found = tal_rotation_to_angle_axis(&turn);
    return tal_v3_scale(found.angle, found.axis);
}

// q - value of a coordinate goal.
static double coordinate_residual(const tal_assembler *it, const tal_state *state,
                                  const tal_coordinate_goal *goal)
{
    return tal_body_q(it->matter, state, goal->body, goal->i) - goal->value;
}

// The part of N_start that is a body's: nu x nq.
static const double *start_of_body(const tal_assembler *it, const tal_state *state,
                                   tal_body_ix body)
{
    const int first =
        tal_body_q_start(it->matter, state, body) - tal_group_start(it->system, state, it->q_group);
    return it->N_start + (size_t)TAL_MAX_NU * (size_t)first;
}

tal_status tali_assembler_mark_start(tal_assembler *it, tal_state *state)
{
    tali_assembler_get_q(it, state, it->q_start);
    if (!(it->def.stay_close > 0.0)) return TAL_OK;
    tal_status st = TAL_OK;
    for (int b = 1; b < tal_matter_num_bodies(it->matter) && st == TAL_OK; ++b) {
        const tal_body_ix body = {b};
        const int nu = tal_body_nu(it->matter, body), nq = tal_body_nq(it->matter, state, body);
        double *N = it->N_start + (start_of_body(it, state, body) - it->N_start);
        for (int i = 0; i < nq && st == TAL_OK; ++i) {
            double unit[TAL_MAX_NQ] = {0.0};
            unit[i] = 1.0;
            st = tal_body_mul_N(it->matter, state, body, TAL_NPLUS, unit, N + i * nu);
        }
    }
    return tali_assembler_pass_on(it, state, st);
}

// W_u N^+ (q - q_start), N at the start: how far the State has moved, as a motion. A fixed linear
// map of q, so that its slopes are known exactly.
static void moved(tal_assembler *it, const tal_state *state, double r[])
{
    const int start = tal_group_start(it->system, state, it->q_group);
    tali_assembler_get_q(it, state, it->dq);
    for (int b = 1; b < tal_matter_num_bodies(it->matter); ++b) {
        const tal_body_ix body = {b};
        const int nu = tal_body_nu(it->matter, body), nq = tal_body_nq(it->matter, state, body);
        const int q0 = tal_body_q_start(it->matter, state, body) - start;
        const int u0 = tal_body_u_start(it->matter, body);
        const double *N = start_of_body(it, state, body);
        for (int j = 0; j < nu; ++j) {
            double sum = 0.0;
            for (int i = 0; i < nq; ++i) {
                sum += N[i * nu + j] * (it->dq[q0 + i] - it->q_start[q0 + i]);
            }
            r[u0 + j] = it->W_u[u0 + j] * sum;
        }
    }
}

// What applies to q alone: coordinates, staying close, soft constraints, the user's own.
static tal_status goal_of_q(tal_assembler *it, tal_state *state, double *goal)
{
    for (int k = 0; k < it->def.num_coordinates; ++k) {
        const tal_coordinate_goal *wanted = &it->def.coordinates[k];
        const double r = coordinate_residual(it, state, wanted);
        *goal += 0.5 * wanted->weight * r * r;
    }
    tal_status st = TAL_OK;
    if (it->def.stay_close > 0.0) {
        moved(it, state, it->rhs);
        for (int i = 0; i < it->nu; ++i) {
            *goal += 0.5 * it->def.stay_close * it->rhs[i] * it->rhs[i];
        }
    }
    for (int k = 0; k < it->def.num_goals && st == TAL_OK; ++k) {
        const tal_goal *own = &it->def.goals[k];
        st = own->calc(own->self, it->system, state, it->goal_r, NULL);
        if (st != TAL_OK) return tali_assembler_blame(it, state, own->name, st);
        for (int i = 0; i < own->num_rows; ++i) {
            *goal += 0.5 * own->weight * it->goal_r[i] * it->goal_r[i];
        }
    }
    return st;
}

// Residuals of what is seen, kept for the callers that follow.
static double goal_of_seen(tal_assembler *it, const tal_state *state)
{
    const tal_bodies_view poses = tal_matter_poses(it->matter, state);
    double goal = 0.0;
    for (int k = 0; k < it->def.num_markers; ++k) {
        if (!it->seen->markers[k]) continue;
        const tal_vec3 r = it->marker_r[k] = marker_residual(it, state, &poses, k);
        goal += 0.5 * it->marker_scale * it->def.markers[k].weight * tal_v3_dot(r, r);
    }
    for (int k = 0; k < it->def.num_sensors; ++k) {
        if (!it->seen->sensors[k]) continue;
        const tal_vec3 r = it->sensor_r[k] = sensor_residual(it, state, k);
        goal += 0.5 * it->def.sensors[k].weight * tal_v3_dot(r, r);
    }
    return goal;
}

tal_status tali_assembler_goal(tal_assembler *it, tal_state *state, double *goal)
{
    *goal = goal_of_seen(it, state);
    tal_status st = measure(it, state);
    for (int i = 0; i < it->num_rows; ++i) {
        if (it->row_weight[i] > 0.0) *goal += 0.5 * it->row_weight[i] * it->e[i] * it->e[i];
    }
    if (st == TAL_OK && it->level == TAL_LEVEL_POSITION) st = goal_of_q(it, state, goal);
    if (st == TAL_OK && !isfinite(*goal)) {
        return TALI_FAIL(&it->error_record, TAL_ERR_NOT_FINITE,
                         "the sum of the goals is %g: it must be finite", *goal);
    }
    return st;
}

// --- goals, linearized ---

// Forces w r at the markers and moments w r at the sensors: J^T of them is the gradient. It is
// exact for rotation vectors too: their Jacobian, applied to r from the left, leaves r.
static tal_status observed_gradient(tal_assembler *it, tal_state *state)
{
    const size_t bytes = (size_t)tal_matter_num_bodies(it->matter) * sizeof *it->F;
    memset(it->F, 0, bytes);
    (void)goal_of_seen(it, state);
    const tal_bodies_view poses = tal_matter_poses(it->matter, state);
    for (int k = 0; k < it->def.num_markers; ++k) {
        if (!it->seen->markers[k]) continue;
        const tal_marker *marker = &it->def.markers[k];
        const tal_vec3 f = tal_v3_scale(it->marker_scale * marker->weight, it->marker_r[k]);
        const tal_xform *X_GM = tal_view_X_GM(&poses, marker->body.i);
        const tal_vec3 p_BS_G = tal_m3_mul_v3(X_GM->R, it->p_BS_M[k]);
        tal_spatial_vec *F = &it->F[marker->body.i];
        F->w = tal_v3_add(F->w, tal_v3_cross(p_BS_G, f));
        F->v = tal_v3_add(F->v, f);
    }
    for (int k = 0; k < it->def.num_sensors; ++k) {
        if (!it->seen->sensors[k]) continue;
        const tal_orientation_sensor *sensor = &it->def.sensors[k];
        tal_vec3 *moment = &it->F[sensor->body.i].w;
        *moment = tal_v3_axpy(sensor->weight, it->sensor_r[k], *moment);
    }
    return tali_assembler_pass_on(it, state, tal_matter_mul_JT(it->matter, state, it->F, it->at.g));
}

// g += w r row^T, H += w row^T row for one residual whose derivative along u is `row`.
static void add_row(tali_assembler_quadratic *at, double weight, double r, const double row[],
                    size_t step)
{
    for (int j = 0; j < at->n; ++j) {
        const double scaled = weight * row[(size_t)j * step];
        if (scaled == 0.0) continue;
        at->g[j] += scaled * r;
        for (int i = 0; i < at->n; ++i) {
            at->H[(size_t)j * (size_t)at->n + (size_t)i] += scaled * row[(size_t)i * step];
        }
    }
}

static tal_status add_coordinate(tal_assembler *it, tal_state *state,
                                 const tal_coordinate_goal *goal)
{
    double unit[TAL_MAX_NQ] = {0.0};
    unit[goal->i] = 1.0;
    double *row = it->rhs;
    memset(row, 0, (size_t)it->nu * sizeof *row);
    const tal_status st = tal_body_mul_N(it->matter, state, goal->body, TAL_N_T, unit,
                                         row + tal_body_u_start(it->matter, goal->body));
    add_row(&it->at, goal->weight, coordinate_residual(it, state, goal), row, 1);
    return tali_assembler_pass_on(it, state, st);
}

// J = W_u N^+ N of one body, N^+ at the start and N here: g += w J^T r, H += w J^T J.
static tal_status add_stay_close_of(tal_assembler *it, tal_state *state, tal_body_ix body,
                                    const double r[])
{
    tali_assembler_quadratic *at = &it->at;
    const int u0 = tal_body_u_start(it->matter, body), nu = tal_body_nu(it->matter, body);
    const int nq = tal_body_nq(it->matter, state, body);
    const double *N_start = start_of_body(it, state, body);
    double J[TAL_MAX_NU][TAL_MAX_NU]; // column, row
    for (int c = 0; c < nu; ++c) {
        double unit[TAL_MAX_NU] = {0.0}, dq[TAL_MAX_NQ];
        unit[c] = 1.0;
        const tal_status st = tal_body_mul_N(it->matter, state, body, TAL_N, unit, dq);
        if (st != TAL_OK) return tali_assembler_pass_on(it, state, st);
        for (int j = 0; j < nu; ++j) {
            J[c][j] = 0.0;
            for (int i = 0; i < nq; ++i) {
                J[c][j] += it->W_u[u0 + j] * N_start[i * nu + j] * dq[i];
            }
        }
    }
    for (int c = 0; c < nu; ++c) {
        for (int j = 0; j < nu; ++j) {
            at->g[u0 + c] += it->def.stay_close * J[c][j] * r[u0 + j];
        }
        for (int d = 0; d < nu; ++d) {
            double *H = &at->H[(size_t)(u0 + c) * (size_t)at->n + (size_t)(u0 + d)];
            for (int j = 0; j < nu; ++j) {
                *H += it->def.stay_close * J[c][j] * J[d][j];
            }
        }
    }
    return TAL_OK;
}

static tal_status add_stay_close(tal_assembler *it, tal_state *state)
{
    moved(it, state, it->rhs);
    tal_status st = TAL_OK;
    for (int b = 1; b < tal_matter_num_bodies(it->matter) && st == TAL_OK; ++b) {
        st = add_stay_close_of(it, state, (tal_body_ix){b}, it->rhs);
    }
    return st;
}

static tal_status add_own(tal_assembler *it, tal_state *state, const tal_goal *own)
{
    const tal_matrix J = tal_matrix_view(it->goal_J, own->num_rows, it->nu);
    const tal_status st = own->calc(own->self, it->system, state, it->goal_r, &J);
    if (st != TAL_OK) return tali_assembler_blame(it, state, own->name, st);
    for (int i = 0; i < own->num_rows; ++i) {
        add_row(&it->at, own->weight, it->goal_r[i], it->goal_J + i, (size_t)own->num_rows);
    }
    return TAL_OK;
}

tal_status tali_assembler_linearize_goals(tal_assembler *it, tal_state *state)
{
    tali_assembler_quadratic *at = &it->at;
    const tal_matrix H = tal_matrix_view(at->H, at->n, at->n);
    tal_status st = tal_matter_calc_gram(it->matter, state, it->weights, H);
    if (st != TAL_OK) return tali_assembler_pass_on(it, state, st);
    st = observed_gradient(it, state);
    at->is_whole = false;
    at->is_tree = it->def.num_goals == 0;
    for (int i = 0; i < it->num_rows; ++i) {
        if (it->row_weight[i] <= 0.0) continue;
        at->is_tree = false;
        add_row(at, it->row_weight[i], it->e[i], it->P + i, (size_t)num_equations(it));
    }
    if (it->level != TAL_LEVEL_POSITION) return st;
    for (int k = 0; k < it->def.num_coordinates && st == TAL_OK; ++k) {
        st = add_coordinate(it, state, &it->def.coordinates[k]);
    }
    if (st == TAL_OK && it->def.stay_close > 0.0) st = add_stay_close(it, state);
    for (int k = 0; k < it->def.num_goals && st == TAL_OK; ++k) {
        st = add_own(it, state, &it->def.goals[k]);
    }
    return st;
}

void tali_assembler_marker_errors(tal_assembler *it, const tal_state *state, tal_assembly *found)
{
    (void)goal_of_seen(it, state);
    double sum = 0.0;
    int count = 0;
    found->marker_max = 0.0;
    found->worst_marker = -1;
    for (int k = 0; k < it->def.num_markers; ++k) {
        if (!it->seen->markers[k]) continue;
        const double r = tal_v3_norm(it->marker_r[k]);
        sum += r * r;
        ++count;
        if (r < found->marker_max) continue;
        found->marker_max = r;
        found->worst_marker = k;
    }
    found->marker_rms = count > 0 ? sqrt(sum / count) : 0.0;
}
