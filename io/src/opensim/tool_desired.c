// The motion that a model is to follow: from a table of coordinates to curves of q, u and udot.
#include "opensim/tool_track_internal.h"

#include <string.h>

// Samples on their way to curves. Arrays are in the arena.
typedef struct sampling {
    tali_osim_tool *tool;
    tali_osim_desired *out;
    tal_signal *curves; // of coordinates
    const double *times;
    int n, nc, nq, nu;
    double *y;           // [nc]
    double *row, *rates; // [nq]
    double *speeds;      // [nu]
    double *q, *u;       // [nq or nu][n]
} sampling;

void tali_osim_tool_free_desired(tali_osim_desired *desired)
{
    tal_signal_destroy(desired->q);
    tal_signal_destroy(desired->u);
    tal_signal_destroy(desired->udot);
}

tal_status tali_osim_desired_calc(void *context, double t, double q[], double u[], double udot[])
{
    const tali_osim_desired *it = context;
    tal_status st = tal_signal_calc(it->q, t, 0, q);
    if (st == TAL_OK) st = tal_signal_calc(it->u, t, 0, u);
    return st == TAL_OK ? tal_signal_calc(it->udot, t, 0, udot) : st;
}

static bool take_memory(sampling *it)
{
    tali_osim *setup = &it->tool->setup;
    it->y = tali_osim_take(setup, it->nc, sizeof *it->y);
    it->row = tali_osim_take(setup, it->nq, sizeof *it->row);
    it->rates = tali_osim_take(setup, it->nq, sizeof *it->rates);
    it->speeds = tali_osim_take(setup, it->nu, sizeof *it->speeds);
    it->q = tali_osim_take(setup, it->nq * it->n, sizeof *it->q);
    it->u = tali_osim_take(setup, it->nu * it->n, sizeof *it->u);
    return tali_osim_tool_is_good(it->tool);
}

// q and u = N^+ qdot of a sample, on the constraints.
static tal_status pose(sampling *it, double t)
{
    tali_osim_tool *tool = it->tool;
    const tal_model *model = &tool->model;
    double *const to[] = {it->row, it->rates};
    for (int order = 0; order < 2; ++order) {
        const tal_status st = tal_signal_calc(it->curves, t, order, it->y);
        if (st != TAL_OK) return st;
        for (int c = 0; c < it->nc; ++c) {
            to[order][tali_osim_tool_q_slot(tool, c)] = it->y[c];
        }
    }
    (void)tal_state_set_t(model->state, t);
    tal_status st = tal_state_set_q(model->state, it->row, it->nq);
    if (st == TAL_OK) st = tali_osim_tool_meet(tool, false);
    if (st == TAL_OK) {
        st = tal_matter_mul_N(model->matter, model->state, TAL_NPLUS, it->rates, it->speeds);
    }
    if (st == TAL_OK) st = tal_state_set_u(model->state, it->speeds, it->nu);
    return st == TAL_OK ? tali_osim_tool_meet(tool, true) : st;
}

static void sample(sampling *it)
{
    const tal_state *state = it->tool->model.state;
    const size_t n = (size_t)it->n;
    for (int r = 0; r < it->n && tali_osim_tool_is_good(it->tool); ++r) {
        const tal_status st = pose(it, it->times[r]);
        tali_osim_tool_fail(it->tool, st, tal_state_error(state));
        for (int i = 0; i < it->nq; ++i) {
            it->q[(size_t)i * n + (size_t)r] = tal_state_q(state)[i];
        }
        for (int i = 0; i < it->nu; ++i) {
            it->u[(size_t)i * n + (size_t)r] = tal_state_u(state)[i];
        }
    }
}

static void make_curves(sampling *it, const double values[], int num, tal_signal **out)
{
    if (!tali_osim_tool_is_good(it->tool)) return;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_signal_create(&it->tool->options.allocator, NULL, it->times, values,
                                            it->n, num, out, &err);
    tali_osim_tool_fail(it->tool, st, &err);
}

// udot: the slopes of the speeds at the samples.
static void differentiate(sampling *it)
{
    if (!tali_osim_tool_is_good(it->tool)) return;
    tal_status st = TAL_OK;
    for (int r = 0; r < it->n && st == TAL_OK; ++r) {
        st = tal_signal_calc(it->out->u, it->times[r], 1, it->speeds);
        for (int i = 0; i < it->nu; ++i) {
            it->u[(size_t)i * (size_t)it->n + (size_t)r] = it->speeds[i];
        }
    }
}

bool tali_osim_tool_read_desired(tali_osim_tool *tool, tali_osim_desired *out)
{
    *out = (tali_osim_desired){.q = NULL};
    tali_osim_coordinate_rows rows;
    tal_table *table = tali_osim_tool_read_table(tool, "desired_kinematics_file");
    const bool good =
        tali_osim_tool_is_good(tool) &&
        tali_osim_tool_read_coordinates(tool, table, "desired_kinematics_file", &rows);
    tal_table_destroy(table);
    if (!good) return false;
    sampling it = {.tool = tool, .out = out, .nc = tool->o.num_coordinates};
    out->first = rows.times[0];
    out->last = rows.times[rows.num_rows - 1];
    it.curves =
        tali_osim_tool_make_curves(tool, &rows, "lowpass_cutoff_frequency", TAL_SIGNAL_FIR_OPENSIM);
    if (it.curves == NULL) return false;
    it.times = tal_signal_times(it.curves);
    it.n = tal_signal_num_samples(it.curves);
    it.nq = tal_state_nq(tool->model.state);
    it.nu = tal_matter_nu(tool->model.matter);
    if (take_memory(&it)) sample(&it);
    make_curves(&it, it.q, it.nq, &out->q);
    make_curves(&it, it.u, it.nu, &out->u);
    differentiate(&it);
    make_curves(&it, it.u, it.nu, &out->udot);
    tal_signal_destroy(it.curves);
    return tali_osim_tool_is_good(tool);
}
