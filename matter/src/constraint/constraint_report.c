// How the rows of the constraints are related: rank, redundancy, contradictions.
#include "redundant_internal.h"

#include "constraint/constraint_internal.h"
#include "operator/operators_internal.h"
#include "prescribed/prescribed_internal.h"

#include <math.h>

double tali_constraint_row_weight(const tal_matter *matter, const tal_state *state,
                                  const tali_constraint_row_map *map, int slot)
{
    const tal_system *system = matter->system;
    const tali_constraints *cs = &matter->constraints;
    const double t_c = tal_system_time_scale(system);
    if (slot < map->mp) {
        const int start = tal_group_start(system, state, cs->qerr);
        return t_c * t_c * tal_state_weights(state, TAL_POOL_QERR)[start + slot];
    }
    if (slot < map->mp + map->mv) {
        const int start = tal_group_start(system, state, cs->uerr);
        return t_c * tal_state_weights(state, TAL_POOL_UERR)[start + slot];
    }
    return 1.0;
}

/// A report being written.
typedef struct writing {
    const tal_matter *matter;
    const tal_state *state;
    tali_constraint_row_map map;
    const double *before; ///< [m] aerr at zero udot
    const double *after;  ///< [m] what no multipliers can remove
    tal_rows_report *report;
    tal_constraint_row *rows;
    double worst; ///< weighted
    int block;    ///< whose pivots these are
    double least_pivot, largest_pivot;
} writing;

static void close_block(writing *w)
{
    if (w->largest_pivot > 0.0) {
        w->report->rcond = fmin(w->report->rcond, w->least_pivot / w->largest_pivot);
    }
    w->least_pivot = HUGE_VAL;
    w->largest_pivot = 0.0;
}

// How close rows come to what they are not.
static void look_at_share(tal_rows_report *report, const tali_constraint_row_look *row)
{
    report->limit = fmax(report->limit, row->limit);
    if (row->fate == TAL_ROW_GOOD) report->least_share = fmin(report->least_share, row->share);
    if (row->fate == TAL_ROW_REDUNDANT) {
        report->most_redundant = fmax(report->most_redundant, row->share);
    }
}

// Add one row to the report: how it is related to the others, and what is left of its error.
static void look_at_row(void *context, const tali_constraint_row_look *row)
{
    writing *w = context;
    tal_rows_report *report = w->report;
    const int i = row->i;
    const tal_row_fate fate = row->fate;
    const int slot = tali_constraint_row_slot(&w->map, &w->matter->constraints.list[i], i, row->r);
    const double weight = tali_constraint_row_weight(w->matter, w->state, &w->map, slot);
    const double residual = weight * fabs(w->after[slot]);
    const bool inconsistent = residual > TAL_INCONSISTENT * fmax(1.0, weight * w->before[slot]);
    if (row->block != w->block) close_block(w);
    w->block = row->block;
    look_at_share(report, row);
    if (fate == TAL_ROW_GOOD) {
        ++report->rank;
        w->least_pivot = fmin(w->least_pivot, row->pivot);
        w->largest_pivot = fmax(w->largest_pivot, row->pivot);
    }
    report->num_without_effect += fate == TAL_ROW_WITHOUT_EFFECT;
    report->num_redundant += fate == TAL_ROW_REDUNDANT;
    report->num_inconsistent += inconsistent;
    if (inconsistent && residual > w->worst) {
        w->worst = residual;
        report->worst.i = i;
        report->worst_residual = w->after[slot];
    }
    if (w->rows == NULL) return;
    w->rows[slot] = (tal_constraint_row){.constraint = {i},
                                         .i = row->r,
                                         .fate = fate,
                                         .inconsistent = inconsistent,
                                         .residual = w->after[slot],
                                         .share = fmax(row->share, 0.0),
                                         .limit = row->limit};
}

// Largest entry of each block, given to all of its rows.
static void spread_largest(const tal_matter *matter, const tali_constraint_row_map *map,
                           double values[])
{
    const tali_constraints *cs = &matter->constraints;
    for (int k = 0; k < cs->num_blocks; ++k) {
        double largest = 0.0;
        tali_constraint_row_walk at = tali_constraint_walk_block(cs, map, k);
        while (tali_constraint_next_row(&at)) {
            largest = fmax(largest, fabs(values[at.slot]));
        }
        at = tali_constraint_walk_block(cs, map, k);
        while (tali_constraint_next_row(&at)) {
            values[at.slot] = largest;
        }
    }
}

// --- contradictions ---

// Known motion has priority over constraints: where it violates one, that is not a contradiction
// among constraints.
static bool has_known_motion(const tal_matter *matter, const tali_tree_view *view,
                             const tali_constraint *c)
{
    for (int k = 0; k < c->path_len; ++k) {
        const int b = matter->constraints.path[c->path0 + k].body;
        for (int j = 0; j < matter->tree.nu[b]; ++j) {
            if (view->level[matter->tree.u0[b] + j] != TAL_LEVEL_FREE) return true;
        }
    }
    return false;
}

// Accelerations of constraints that are not met to begin with need not agree with each other.
static bool are_met(const tal_matter *matter, const tal_state *state,
                    const tali_constraint_row_map *map)
{
    const tal_system *system = matter->system;
    const double *qerr =
        tal_state_qerr(state) + tal_group_start(system, state, matter->constraints.qerr);
    const double *uerr =
        tal_state_uerr(state) + tal_group_start(system, state, matter->constraints.uerr);
    const double t_c = tal_system_time_scale(system);
    for (int slot = 0; slot < map->mp + map->mv; ++slot) {
        const double T_pv = tali_constraint_row_weight(matter, state, map, slot) / t_c;
        if (!(fabs(T_pv * uerr[slot]) <= TAL_CONTRADICTION)) return false;
        if (slot < map->mp && !(fabs(T_pv / t_c * qerr[slot]) <= TAL_CONTRADICTION)) return false;
    }
    return true;
}

// The constraint and the slot of the row that is farthest off, by more than a contradiction; -1
// when there is none.
static int find_worst(const tal_matter *matter, const tal_state *state, const tali_tree_view *view,
                      const tali_constraint_row_map *map, const double aerr[], int *slot)
{
    int worst = -1;
    double largest = TAL_CONTRADICTION;
    tali_constraint_row_walk at = tali_constraint_walk_all(&matter->constraints, map);
    while (tali_constraint_next_row(&at)) {
        const double error =
            tali_constraint_row_weight(matter, state, map, at.slot) * fabs(aerr[at.slot]);
        if (error <= largest || has_known_motion(matter, view, at.c)) continue;
        largest = error, worst = at.i, *slot = at.slot;
    }
    return worst;
}

// Usually one look is enough. Only where a row is far off is it compared with the error before
// solving, too.
tal_status tali_constraints_check(const tal_matter *matter, tal_state *state,
                                  const tali_tree_view *view, const double aerr[])
{
    const tali_constraints *cs = &matter->constraints;
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    int slot = 0;
    const int worst = find_worst(matter, state, view, &map, aerr, &slot);
    if (worst < 0 || !are_met(matter, state, &map)) return TAL_OK;
    const size_t mark = tal_state_scratch_mark(state);
    double *before = tal_state_scratch_take(state, (size_t)cs->max_rows * sizeof *before);
    if (before == NULL) return TAL_ERR_CAPACITY;
    const tal_status st = tali_constraints_zero_errors(matter, state, view, before);
    if (st == TAL_OK) spread_largest(matter, &map, before);
    const double scale = st == TAL_OK ? before[slot] : 0.0;
    tal_state_scratch_release(state, mark);
    if (st != TAL_OK || fabs(aerr[slot]) <= TAL_CONTRADICTION * scale) return st;
    return tal_state_fail(state, TAL_ERR_SINGULAR,
                          "constraints contradict each other at t = %g: '%s' is left with an "
                          "acceleration error of %g",
                          tal_state_t(state), cs->list[worst].name, aerr[slot]);
}

// --- the report ---

static int free_speeds(const tali_tree_view *view)
{
    int n = 0;
    for (int u = 0; u < view->tree->num_u; ++u) {
        n += view->level[u] == TAL_LEVEL_FREE;
    }
    return n;
}

// The report on all rows, with their errors before and after solving.
static tal_status write_report(const tal_matter *matter, tal_state *state,
                               const tali_tree_view *view, tal_rows_report *report,
                               tal_constraint_row rows[])
{
    const size_t bytes = (size_t)matter->constraints.max_rows * sizeof(double);
    const size_t mark = tal_state_scratch_mark(state);
    double *before = tal_state_scratch_take(state, bytes);
    double *after = tal_state_scratch_take(state, bytes);
    if (before == NULL || after == NULL) return TAL_ERR_CAPACITY;
    tal_status st = tali_constraints_zero_errors(matter, state, view, before);
    memcpy(after, before, bytes);
    if (st == TAL_OK) st = tali_constraints_residual(matter, state, view, after);
    writing w = {.matter = matter,
                 .state = state,
                 .map = tali_constraint_row_map_of(matter, state),
                 .before = before,
                 .after = after,
                 .report = report,
                 .rows = rows,
                 .least_pivot = HUGE_VAL};
    spread_largest(matter, &w.map, before);
    if (st == TAL_OK) st = tali_constraints_look(matter, state, look_at_row, &w);
    close_block(&w);
    report->num_rows = w.map.mp + w.map.mv + w.map.ma;
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tal_matter_calc_constraint_report(const tal_matter *matter, tal_state *state,
                                             tal_rows_report *report, tal_constraint_row rows[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_A0, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("report", report, __func__);
    if (st == TAL_OK && !tali_prescribed_see_known_udot(matter, state, &view)) {
        st = tal_state_error(state)->status;
    }
    if (st != TAL_OK) return st;
    tal_rows_report result = {.rcond = 1.0, .least_share = 1.0, .worst = {-1}};
    if (matter->constraints.count > 0) st = write_report(matter, state, &view, &result, rows);
    result.dof = free_speeds(&view) - result.rank;
    if (st == TAL_OK) *report = result;
    return st;
}

// --- how far from repeating each other ---

/// A margin being found: the rows of one constraint come one after the other.
typedef struct search {
    tal_rows_margin margin;
    int constraint;        ///< whose rows these are
    double least, largest; ///< of its pivots and its W_ii
} search;

static void close_constraint(search *s)
{
    if (s->largest > 0.0) s->margin.share = fmin(s->margin.share, s->least / s->largest);
    s->least = HUGE_VAL;
    s->largest = 0.0;
}

static void look_for_least(void *context, const tali_constraint_row_look *row)
{
    search *s = context;
    if (row->i != s->constraint) close_constraint(s);
    s->constraint = row->i;
    s->largest = fmax(s->largest, row->W_ii);
    if (row->fate == TAL_ROW_GOOD) s->least = fmin(s->least, row->pivot);
    s->margin.num_redundant += row->fate == TAL_ROW_REDUNDANT;
}

tal_status tal_matter_calc_margin(const tal_matter *matter, tal_state *state,
                                  tal_rows_margin *margin)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("margin", margin, __func__);
    if (st != TAL_OK) return st;
    search s = {.margin = {.share = 1.0}, .constraint = -1, .least = HUGE_VAL};
    if (matter->constraints.count > 0) {
        st = tali_constraints_look(matter, state, look_for_least, &s);
    }
    close_constraint(&s);
    if (st == TAL_OK) *margin = s.margin;
    return st;
}

/// Marks being made.
typedef struct marking {
    const tal_matter *matter;
    tali_constraint_row_map map;
    bool *redundant;
} marking;

static void mark_row(void *context, const tali_constraint_row_look *row)
{
    const marking *m = context;
    const tali_constraint *c = &m->matter->constraints.list[row->i];
    const int slot = tali_constraint_row_slot(&m->map, c, row->i, row->r);
    if (slot < m->map.mp + m->map.mv) m->redundant[slot] = row->fate == TAL_ROW_REDUNDANT;
}

tal_status tali_constraint_mark_redundant(const tal_matter *matter, tal_state *state,
                                          bool redundant[])
{
    const tali_constraints *cs = &matter->constraints;
    const int num_rows = tal_state_pool_size(state, TAL_POOL_UERR);
    memset(redundant, 0, (size_t)num_rows * sizeof *redundant);
    if (cs->count == 0) return TAL_OK;
    marking m = {matter, tali_constraint_row_map_of(matter, state),
                 redundant + tal_group_start(matter->system, state, cs->uerr)};
    return tali_constraints_look(matter, state, mark_row, &m);
}
