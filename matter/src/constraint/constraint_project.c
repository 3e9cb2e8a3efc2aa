// Coordinate projection: the smallest change of q, or u, that meets the constraints.
#include "constraint/constraint_project_internal.h"

#include <talus/state/realize.h>

#include <math.h>

// Rows that repeat others are followed at least to this weighted error.
static const double CLOSE = 1e-12;

// --- the norm of the errors ---

const double *tali_projection_errors(const tali_projection *p)
{
    const tal_system *system = p->matter->system;
    const tali_constraints *cs = &p->matter->constraints;
    return p->velocities ? tal_state_uerr(p->state) + tal_group_start(system, p->state, cs->uerr)
                         : tal_state_qerr(p->state) + tal_group_start(system, p->state, cs->qerr);
}

// Root mean square, or the largest; NaN when one is.
static double norm_of(const double e[], const double weight[], int n, bool infinity_norm)
{
    double sum = 0.0, largest = 0.0;
    for (int i = 0; i < n; ++i) {
        const double value = fabs(weight != NULL ? weight[i] * e[i] : e[i]);
        sum += value * value;
        if (!(value <= largest)) largest = value;
        if (isnan(value)) return value;
    }
    return infinity_norm || n == 0 ? largest : sqrt(sum / (double)n);
}

// Rows that do not count have no weight.
static double error_norm(const tali_projection *p, bool infinity_norm)
{
    const double norm = norm_of(tali_projection_errors(p), p->T, p->num_rows, infinity_norm);
    if (p->num_counted == p->num_rows || infinity_norm) return norm;
    return norm * sqrt((double)p->num_rows / fmax((double)p->num_counted, 1.0));
}

// T_p, or t_c T_p and T_v (manual eq. 9.4).
static void write_tolerances(const tali_projection *p)
{
    const tal_system *system = p->matter->system;
    const tali_constraints *cs = &p->matter->constraints;
    const double *T_p =
        tal_state_weights(p->state, TAL_POOL_QERR) + tal_group_start(system, p->state, cs->qerr);
    const double *T_v =
        tal_state_weights(p->state, TAL_POOL_UERR) + tal_group_start(system, p->state, cs->uerr);
    const double t_c = tal_system_time_scale(system);
    for (int i = 0; i < p->num_rows; ++i) {
        p->T[i] = !p->velocities ? T_p[i] : i < p->map.mp ? t_c * T_p[i] : T_v[i];
    }
}

static bool is_known_to_repeat(const tali_projection *p, int block)
{
    const tali_constraints *cs = &p->matter->constraints;
    const bool *redundant =
        p->options->redundant + tal_group_start(p->matter->system, p->state, cs->uerr);
    tali_constraint_row_walk w = tali_constraint_walk_block(cs, &p->map, block);
    w.levels = TALI_ROWS_PV;
    while (tali_constraint_next_row(&w)) {
        if (redundant[w.slot]) return true;
    }
    return false;
}

static void leave_out(tali_projection *p, int block)
{
    tali_constraint_row_walk w =
        tali_constraint_walk_block(&p->matter->constraints, &p->map, block);
    w.levels = p->velocities ? TALI_ROWS_PV : TALI_ROWS_P;
    while (tali_constraint_next_row(&w)) {
        p->T[w.slot] = 0.0;
        --p->num_counted;
    }
}

// Which blocks have rows that are known to repeat others? Where only they take part, no other rows
// count.
static void find_known_blocks(tali_projection *p)
{
    p->num_counted = p->num_rows;
    p->is_partial = p->options->only_redundant;
    memset(p->length, 0, (size_t)p->num_rows * sizeof *p->length);
    for (int block = 0; block < p->matter->constraints.num_blocks; ++block) {
        p->repeats[block] = p->options->redundant != NULL && is_known_to_repeat(p, block);
        if (p->is_partial && !p->repeats[block]) leave_out(p, block);
    }
}

// --- Newton's method ---

static double *upd_values(const tali_projection *p)
{
    const tal_system *system = p->matter->system;
    return p->velocities
               ? tal_state_upd_u(p->state) + tal_group_start(system, p->state, p->matter->u)
               : tal_state_upd_q(p->state) + tal_group_start(system, p->state, p->matter->q);
}

static void read_values(const tali_projection *p, double values[])
{
    const tal_system *system = p->matter->system;
    const double *from =
        p->velocities ? tal_state_u(p->state) + tal_group_start(system, p->state, p->matter->u)
                      : tal_state_q(p->state) + tal_group_start(system, p->state, p->matter->q);
    memcpy(values, from, (size_t)p->num_values * sizeof *values);
}

static tal_status realize(const tali_projection *p)
{
    return tal_system_realize(p->matter->system, p->state,
                              p->velocities ? TAL_STAGE_VELOCITY : TAL_STAGE_POSITION);
}

static tal_status restore(const tali_projection *p)
{
    memcpy(upd_values(p), p->start, (size_t)p->num_values * sizeof *p->start);
    return realize(p);
}

// Moves by a fraction of the change. Returns the RMS norm there; infinite where it cannot be
// computed.
static double try_fraction(const tali_projection *p, double fraction)
{
    const bool moved = tali_projection_move(p, fraction, upd_values(p)) == TAL_OK;
    const double norm = moved && realize(p) == TAL_OK ? error_norm(p, false) : HUGE_VAL;
    return isfinite(norm) ? norm : HUGE_VAL;
}

// One Newton step, shortened until the errors shrink. The change points downhill in the RMS norm,
// whichever norm is asked for. False when no fraction helps.
static bool newton_step(const tali_projection *p, double *norm)
{
    enum {
        MOST_HALVINGS = 12
    };

    read_values(p, p->from);
    for (int halvings = 0; halvings <= MOST_HALVINGS; ++halvings) {
        const double trial = try_fraction(p, ldexp(1.0, -halvings));
        if (trial < *norm) {
            *norm = trial;
            return true;
        }
    }
    memcpy(upd_values(p), p->from, (size_t)p->num_values * sizeof *p->from);
    return false;
}

// Fails with the name of the constraint that has the largest weighted error.
static tal_status fail_on_worst(const tali_projection *p, int iterations)
{
    const tali_constraints *cs = &p->matter->constraints;
    const double *errors = tali_projection_errors(p);
    int worst = 0, worst_slot = 0;
    double largest = -1.0;
    tali_constraint_row_walk at = tali_constraint_walk_all(cs, &p->map);
    at.levels = p->velocities ? TALI_ROWS_PV : TALI_ROWS_P;
    while (tali_constraint_next_row(&at)) {
        const double error = fabs(p->T[at.slot] * errors[at.slot]);
        if (error <= largest) continue;
        largest = error, worst = at.i, worst_slot = at.slot;
    }
    return tal_state_fail(p->state, TAL_ERR_NO_CONVERGENCE,
                          "%s does not meet the constraints after %d iterations: '%s' is still off "
                          "by %g (weighted %g, wanted %g)",
                          p->velocities ? "u" : "q", iterations, cs->list[worst].name,
                          errors[worst_slot], largest, p->options->tolerance);
}

// Restores the State and keeps the error message, which realizing would clear.
static tal_status give_up(const tali_projection *p, tal_status st, tal_project_result *result)
{
    const tal_error why = *tal_state_error(p->state);
    result->changed = false;
    result->norm_after = result->norm_before;
    const tal_status back = restore(p);
    return back == TAL_OK ? tal_state_fail(p->state, st, "%s", why.message) : back;
}

// An iteration for u leaves round-off, and what rows say that repeat others: they contradict them
// by the speeds times the angle by which q is off. Where the others nearly lose their rank, at an
// angle phi from there, that is eps / phi.
static bool is_all_that_repeats(const tali_projection *p, double norm)
{
    const double MOST = 1e-9;
    return p->velocities && p->options->redundant != NULL && norm <= MOST;
}

// Iterates until the tolerance is met. What was met on entry can only get better.
static tal_status iterate(const tali_projection *p, tal_project_result *result)
{
    const tal_project_options *options = p->options;
    double rms = error_norm(p, false);
    double norm = result->norm_before;
    const bool was_met = norm <= options->tolerance;
    const int most = was_met && options->max_iterations > 1 ? 1 : options->max_iterations;
    while (result->iterations < most && (was_met || !(norm <= options->tolerance))) {
        ++result->iterations;
        tal_status st = tali_projection_calc_change(p, NULL);
        const bool moved = st == TAL_OK && newton_step(p, &rms);
        if (st == TAL_OK) st = realize(p);
        if (st != TAL_OK) return give_up(p, st, result);
        norm = error_norm(p, options->infinity_norm);
        result->changed = result->changed || moved;
        if (!moved) break;
    }
    result->norm_after = norm;
    // the iteration goes by the RMS norm, and may have made the norm that was asked for larger
    if (was_met && norm > result->norm_before) {
        result->changed = false;
        result->norm_after = result->norm_before;
        return restore(p);
    }
    if (norm <= options->tolerance || is_all_that_repeats(p, norm)) return TAL_OK;
    return give_up(p, fail_on_worst(p, result->iterations), result);
}

// --- beyond the tolerance ---

// Rows repeat others the more clearly the closer q is: errors as angles that are no larger leave
// nothing of that to be seen in W. They contradict others by these angles times the speeds, which
// is to be well within the tolerance for u.
static double close_enough(const tal_project_options *options)
{
    return fmin(CLOSE, 0.01 * options->tolerance);
}

// Full Newton steps of the blocks whose rows repeat others, as long as each halves their errors.
// One that does not is taken back, so that a second call changes nothing.
static tal_status tighten(tali_projection *p, tal_project_result *result)
{
    const bool was_partial = p->is_partial;
    const int most = result->iterations + p->options->max_iterations;
    bool is_known = result->iterations == 0; // the change from here; it tells lengths of rows
    tal_status st = TAL_OK;
    p->is_partial = true;
    if (is_known) st = tali_projection_calc_change(p, NULL);
    double turn = st == TAL_OK ? tali_projection_turn(p) : 0.0;
    while (st == TAL_OK && turn > close_enough(p->options) && result->iterations < most) {
        if (!is_known) st = tali_projection_calc_change(p, NULL);
        is_known = false;
        if (st != TAL_OK) break;
        read_values(p, p->from);
        ++result->iterations;
        const bool moved = isfinite(try_fraction(p, 1.0));
        const double after = moved ? tali_projection_turn(p) : HUGE_VAL;
        if (after <= 0.5 * turn) {
            result->changed = true;
            turn = after;
        } else {
            memcpy(upd_values(p), p->from, (size_t)p->num_values * sizeof *p->from);
            st = realize(p);
            break;
        }
    }
    p->is_partial = was_partial;
    if (st == TAL_OK) result->norm_after = error_norm(p, p->options->infinity_norm);
    return st == TAL_OK ? st : give_up(p, st, result);
}

// --- both levels ---

// Newton if need be, then the error estimate, less what constraints see of it, with the final
// matrices.
static tal_status run_projection(tali_projection *p, double error[], tal_project_result *result)
{
    write_tolerances(p);
    find_known_blocks(p);
    read_values(p, p->start);
    result->norm_before = result->norm_after = error_norm(p, p->options->infinity_norm);
    tal_status st = TAL_OK;
    if (p->options->even_if_met || !(result->norm_before <= p->options->tolerance)) {
        st = iterate(p, result);
    }
    if (st == TAL_OK && p->options->redundant != NULL && !p->velocities) st = tighten(p, result);
    if (st != TAL_OK || error == NULL) return st;
    st = tali_projection_calc_change(p, error);
    return st == TAL_OK ? tali_projection_subtract_change(p, error) : st;
}

static tal_status project_constraints(const tal_matter *matter, tal_state *state, bool velocities,
                                      const tal_project_options *options, double error[],
                                      tal_project_result *result)
{
    if (matter->constraints.count == 0) return TAL_OK;
    const tal_system *system = matter->system;
    tali_projection p = {.matter = matter,
                         .state = state,
                         .options = options,
                         .velocities = velocities,
                         .map = tali_constraint_row_map_of(matter, state),
                         .model = tali_matter_model_of(matter, state)};
    p.num_rows = velocities ? p.map.mp + p.map.mv : p.map.mp;
    p.num_values = tal_group_size(system, state, velocities ? matter->u : matter->q);
    p.W_u = tal_state_weights(state, TAL_POOL_U) + tal_group_start(system, state, matter->u);
    if (p.num_rows == 0) return TAL_OK;
    const size_t mark = tal_state_scratch_mark(state);
    const tal_status st =
        tali_projection_take_room(&p) ? run_projection(&p, error, result) : TAL_ERR_CAPACITY;
    tal_state_scratch_release(state, mark);
    return st;
}

// --- quaternions ---

static bool uses_quaternion(const tal_matter *matter, const tali_matter_model *model, int b)
{
    return matter->bodies[b].ops.has_quaternion && !model->use_angles[b];
}

// e - (e . n) n: an error along a quaternion has no effect (manual eq. 10.13).
void tali_constraint_project_quaternion_errors(const tal_matter *matter,
                                               const tali_matter_model *model, const double q[],
                                               double q_error[])
{
    for (int b = 1; b < matter->num_bodies; ++b) {
        if (!uses_quaternion(matter, model, b)) continue;
        const double *n = q + model->q0[b];
        double *e = q_error + model->q0[b];
        const double square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3];
        const double along = (e[0] * n[0] + e[1] * n[1] + e[2] * n[2] + e[3] * n[3]) / square;
        for (int i = 0; i < 4; ++i) {
            e[i] -= along * n[i];
        }
    }
}

// Quaternion lengths (manual eq. 10.6) do not matter to anything else, so they are set right last.
// Prescribed and locked ones stay.
static bool normalize_free_quaternions(const tal_matter *matter, tal_state *state,
                                       const tali_tree_view *view)
{
    const tali_matter_model model = tali_matter_model_of(matter, state);
    const int start = tal_group_start(matter->system, state, matter->q);
    bool changed = false;
    for (int b = 1; b < matter->num_bodies; ++b) {
        if (!uses_quaternion(matter, &model, b)) continue;
        if (!tali_constraint_mobility_is_free(view, matter->tree.u0[b], false)) continue;
        const double *e = tal_state_q(state) + start + model.q0[b];
        const tal_quat unit = tal_qt_normalize(tal_qt(e[0], e[1], e[2], e[3]));
        if (unit.w == e[0] && unit.x == e[1] && unit.y == e[2] && unit.z == e[3]) continue;
        double *q = tal_state_upd_q(state) + start + model.q0[b];
        q[0] = unit.w, q[1] = unit.x, q[2] = unit.y, q[3] = unit.z;
        changed = true;
    }
    return changed;
}

// Lengths that are right already are left alone, unless q has moved anyway.
static tal_status project_quaternions(const tal_matter *matter, tal_state *state,
                                      const tal_project_options *options,
                                      tal_project_result *result)
{
    const tal_system *system = matter->system;
    const int n = tal_group_size(system, state, matter->quaternion_errors);
    const int start = tal_group_start(system, state, matter->quaternion_errors);
    if (n == 0) return TAL_OK;
    const double before = norm_of(tal_state_qerr(state) + start, NULL, n, options->infinity_norm);
    if (before > result->norm_before) result->norm_before = before;
    double after = before;
    if (!(before <= options->tolerance) || options->even_if_met || result->changed) {
        tali_tree_view view;
        if (!tali_tree_realize_view(matter, state, TALI_CONSTANTS, &view)) {
            return tal_state_error(state)->status;
        }
        if (normalize_free_quaternions(matter, state, &view)) result->changed = true;
        const tal_status st = tal_system_realize(system, state, TAL_STAGE_POSITION);
        if (st != TAL_OK) return st;
        after = norm_of(tal_state_qerr(state) + start, NULL, n, options->infinity_norm);
    }
    if (after > result->norm_after) result->norm_after = after;
    return TAL_OK;
}

// --- the functions of the subsystem ---

tal_status tali_constraint_project_q(const void *self, const tal_system *system, tal_state *state,
                                     const tal_project_options *options, double q_error[],
                                     tal_project_result *result)
{
    const tal_matter *matter = self;
    double *mine = q_error != NULL ? q_error + tal_group_start(system, state, matter->q) : NULL;
    tal_status st = project_constraints(matter, state, false, options, mine, result);
    if (st == TAL_OK && !options->only_redundant) {
        st = project_quaternions(matter, state, options, result);
    }
    if (st == TAL_OK && mine != NULL) {
        const tali_matter_model model = tali_matter_model_of(matter, state);
        tali_constraint_project_quaternion_errors(matter, &model, tali_tree_q_of(matter, state),
                                                  mine);
    }
    return st;
}

tal_status tali_constraint_project_u(const void *self, const tal_system *system, tal_state *state,
                                     const tal_project_options *options, double u_error[],
                                     tal_project_result *result)
{
    const tal_matter *matter = self;
    double *mine = u_error != NULL ? u_error + tal_group_start(system, state, matter->u) : NULL;
    return project_constraints(matter, state, true, options, mine, result);
}
