// Inverse dynamics: the forces along coordinates that a motion and external loads ask for.
#include "error_internal.h"

#include "opensim/tool_internal.h"

#include <math.h>
#include <string.h>

enum {
    MAX_FLAGGED = 5 // rows that failed and are named
};

// The motion, and room for one row. Everything but the curves is in the arena.
typedef struct dynamics {
    tali_osim_tool *tool;
    tali_osim_coordinate_rows rows;
    tali_osim_loads loads;
    tal_signal *curves; // of all coordinates
    int nq, nu, nb, nc;
    double *y[3];               // [nc] coordinates and their rates
    double *q, *qdot, *qdotdot; // [nq]
    double *u, *udot, *f, *tau; // [nu]
    double *row;                // [1 + nc]
    tal_spatial_vec *F_GB;      // [nb]
    tal_force_ix *which;        // [num_which] forces of the model that act
    int num_which;
    tali_osim_body_forces at_joints;
    int num_failed;
} dynamics;

// --- which forces act ---

static void choose_forces(dynamics *it)
{
    const char *names[TALI_OSIM_MAX_LIST];
    tali_osim_tool *tool = it->tool;
    const int n =
        tali_osim_words(&tool->setup, tool->root, "forces_to_exclude", names, TALI_OSIM_MAX_LIST);
    for (int i = 0; i < tal_forces_num(tool->model.forces); ++i) {
        const tal_force_ix force = {i};
        if (!tal_force_is_enabled(tool->model.forces, tool->model.state, force)) continue;
        if (!tali_osim_tool_is_named(tool, i, names, n)) it->which[it->num_which++] = force;
    }
}

// --- preparing ---

static bool take_memory(dynamics *it)
{
    tali_arena *arena = &it->tool->setup.arena;
    double **const doubles[] = {&it->y[0], &it->y[1], &it->y[2], &it->q,   &it->qdot, &it->qdotdot,
                                &it->u,    &it->udot, &it->f,    &it->tau, &it->row};
    const int sizes[] = {it->nc, it->nc, it->nc, it->nq, it->nq,    it->nq,
                         it->nu, it->nu, it->nu, it->nu, it->nc + 1};
    bool good = true;
    for (int i = 0; i < 11; ++i) {
        *doubles[i] = tali_arena_take(arena, (size_t)sizes[i] * sizeof **doubles[i]);
        good = good && *doubles[i] != NULL;
    }
    const size_t num_forces = (size_t)tal_forces_num(it->tool->model.forces);
    it->F_GB = tali_arena_take(arena, (size_t)it->nb * sizeof *it->F_GB);
    it->which = tali_arena_take(arena, num_forces * sizeof *it->which);
    good = good && it->F_GB != NULL && it->which != NULL;
    it->tool->setup.no_memory = it->tool->setup.no_memory || !good;
    return good;
}

// The motion as curves, the loads, and which forces act.
static bool prepare(dynamics *it)
{
    tali_osim_tool *tool = it->tool;
    tal_table *table = tali_osim_tool_read_table(tool, "coordinates_file");
    bool good = tali_osim_tool_is_good(tool) &&
                tali_osim_tool_read_coordinates(tool, table, "coordinates_file", &it->rows);
    tal_table_destroy(table);
    tali_osim_tool_read_loads(tool, "external_loads_file", &it->loads);
    it->nc = tool->o.num_coordinates;
    it->nq = tal_state_nq(tool->model.state);
    it->nu = tal_matter_nu(tool->model.matter);
    it->nb = tal_matter_num_bodies(tool->model.matter);
    good = good && tali_osim_tool_is_good(tool) && take_memory(it);
    if (good) {
        it->curves = tali_osim_tool_make_curves(tool, &it->rows, TALI_OSIM_CUTOFF,
                                                TAL_SIGNAL_LOWPASS_OPENSIM);
    }
    if (it->curves == NULL) return false;
    // locks and prescribed motion do not hold here: the table says where coordinates are
    const tal_status st =
        tal_system_realize(tool->model.system, tool->model.state, TAL_STAGE_INSTANCE);
    tali_osim_tool_fail(tool, st, tal_state_error(tool->model.state));
    if (st == TAL_OK) choose_forces(it);
    return st == TAL_OK;
}

// --- one row ---

// q, u = N^+ qdot, and udot = N^+ (qdotdot - Ndot u).
static tal_status pose(dynamics *it, double t)
{
    const tal_matter *matter = it->tool->model.matter;
    tal_state *s = it->tool->model.state;
    const tal_system *system = it->tool->model.system;
    double *const to[] = {it->q, it->qdot, it->qdotdot};
    for (int order = 0; order < 3; ++order) {
        const tal_status st = tal_signal_calc(it->curves, t, order, it->y[order]);
        if (st != TAL_OK) return st;
        for (int c = 0; c < it->nc; ++c) {
            to[order][tali_osim_tool_q_slot(it->tool, c)] = it->y[order][c];
        }
    }
    (void)tal_state_set_t(s, t);
    (void)tal_state_set_q(s, it->q, it->nq);
    tal_status st = tal_system_realize(system, s, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_matter_mul_N(matter, s, TAL_NPLUS, it->qdot, it->u);
    if (st == TAL_OK) st = tal_state_set_u(s, it->u, it->nu);
    if (st == TAL_OK) st = tal_system_realize(system, s, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) st = tal_matter_mul_N(matter, s, TAL_NDOT, it->u, it->q);
    for (int i = 0; i < it->nq; ++i) {
        it->qdotdot[i] -= it->q[i];
    }
    return st == TAL_OK ? tal_matter_mul_N(matter, s, TAL_NPLUS, it->qdotdot, it->udot) : st;
}

// Constraints play no part: coordinates that depend on others get forces of their own.
static tal_status find_forces(dynamics *it, double t)
{
    const tal_model *model = &it->tool->model;
    tal_status st = pose(it, t);
    if (st == TAL_OK) {
        st = tal_forces_calc_sum(model->forces, model->state, it->which, it->num_which, it->F_GB,
                                 it->f);
    }
    if (st != TAL_OK) return st;
    tali_osim_tool_apply_loads(it->tool, &it->loads, t, it->F_GB);
    st = tal_matter_inverse_dynamics(model->matter, model->state, it->udot, it->F_GB, it->f,
                                     it->tau);
    it->row[0] = t;
    for (int c = 0; c < it->nc; ++c) {
        it->row[c + 1] = it->tau[tali_osim_tool_u_slot(it->tool, c)];
    }
    return st;
}

// --- all rows ---

// The last sample that is not after `t`; 0 when there is none.
static int sample_before(const dynamics *it, double t)
{
    const double *times = tal_signal_times(it->curves);
    int i = tal_signal_num_samples(it->curves) - 1;
    while (i > 0 && times[i] > t) {
        --i;
    }
    return i;
}

static tal_table *make_table(dynamics *it)
{
    tali_osim_tool *tool = it->tool;
    const char *file = tali_osim_text(tool->root, "output_gen_force_file");
    tal_table *table = tali_osim_tool_add_result(tool, file != NULL ? file : "inverse_dynamics.sto",
                                                 "Inverse Dynamics Generalized Forces");
    for (int c = 0; c < it->nc && table != NULL; ++c) {
        const tali_osim_coordinate *q = &tool->o.coordinates[c];
        const bool turns = q->kind == TALI_OSIM_ROTATIONAL;
        tali_osim_tool_add_column(tool, table, q->name, turns ? "_moment" : "_force");
    }
    return table;
}

// A row that failed is NaN, and said once for each of the first ones.
static void flag(dynamics *it, double t)
{
    it->row[0] = t;
    for (int c = 0; c < it->nc; ++c) {
        it->row[c + 1] = (double)NAN;
    }
    it->num_failed += 1;
    if (it->num_failed > MAX_FLAGGED) return;
    tali_osim_tool_warn(it->tool, NULL, "the row at t = %g failed, and is NaN: %s", t,
                        tal_state_error(it->tool->model.state)->message);
}

// Forces of all samples within the time range; what is done before an end is kept.
static void find_all_forces(dynamics *it)
{
    tali_osim_tool *tool = it->tool;
    double range[2];
    tali_osim_tool_time_range(tool, range);
    tal_table *table = make_table(it);
    tali_osim_tool_begin_body_forces(tool, &it->at_joints);
    if (table == NULL || !tali_osim_tool_is_good(tool)) return;
    const double *data = it->rows.times;
    const int begin = sample_before(it, fmax(range[0], data[0]));
    const int end = sample_before(it, fmin(range[1], data[it->rows.num_rows - 1]));
    const double *times = tal_signal_times(it->curves);
    if (it->loads.num > 0 && (times[begin] < it->loads.first || times[end] > it->loads.last)) {
        tali_osim_tool_warn(tool, "external_loads_file",
                            "its data go from %g s to %g s; outside they are continued",
                            it->loads.first, it->loads.last);
    }
    for (int i = begin; i <= end && tali_osim_tool_is_good(tool); ++i) {
        const bool good = find_forces(it, times[i]) == TAL_OK;
        if (!good) flag(it, times[i]);
        tali_osim_tool_add_body_forces(tool, &it->at_joints, times[i], good ? it->tau : NULL);
        const tal_status st = tal_table_add_row(table, it->row);
        tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
        if (!tali_osim_tool_tell(tool, i - begin + 1, end - begin + 1)) break;
    }
    if (it->num_failed > MAX_FLAGGED) {
        tali_osim_tool_warn(tool, NULL, "%d rows failed in all", it->num_failed);
    }
}

void tali_osim_tool_id(tali_osim_tool *tool)
{
    dynamics it = {.tool = tool};
    if (prepare(&it)) find_all_forces(&it);
    tal_signal_destroy(it.curves);
    tali_osim_tool_free_loads(&it.loads);
}
