// Analyses along a motion: from states or coordinates in a table, row by row.
//
// Rows are cut into chunks of a fixed length, and chunks are worked on in lanes. Each begins from
// the same State and without memory of other rows, so that results do not depend on the number of
// lanes.
#include "error_internal.h"

#include "opensim/analysis_internal.h"
#include "opensim/tool_states_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    CHUNK = 32,     // rows
    MAX_FLAGGED = 5 // rows that failed and are named
};

// A motion and what is recorded along it. Everything but the curves is in the arena.
typedef struct analyze {
    tali_osim_tool *tool;
    tali_osim_coordinate_rows rows, speeds; // of a states file
    tal_signal *curves;                     // of a coordinates file
    tal_signal *speed_curves;               // of u, where an analysis needs udot
    tali_osim_loads loads;
    tali_osim_z_rows z; // of a states file
    bool equilibrate;   // muscles, where there are no states of them
    tali_osim_analyses analyses;
    int nq, nu, nb, nc;
    double *y;             // [nc]
    double *q, *qdot, *u;  // [nq], [nq], [nu]
    double *udot;          // [nu] of the motion
    tal_spatial_vec *F_GB; // [nb] external loads
    int num_failed;
} analyze;

// What one thread needs at a time: the same motion, with a State and memory of its own.
typedef struct lane {
    tali_osim_tool tool;
    analyze motion;
    double *values; // [CHUNK][width] rows of all analyses
    uint32_t wanted[CHUNK];
    bool failed[CHUNK];
    char why[CHUNK][256];
    const tal_state *start;
    const double *times; // [num] of the chunk at hand
    int first, num;      // its rows; num = 0: none
    size_t width;
} lane;

// --- the motion ---

static void read_states(analyze *it)
{
    tali_osim_tool *tool = it->tool;
    tal_table *table = tali_osim_tool_read_table(tool, "states_file");
    if (tali_osim_tool_is_good(tool) &&
        tali_osim_tool_read_coordinates(tool, table, "states_file", &it->rows)) {
        (void)tali_osim_tool_read_speeds(tool, table, "states_file", &it->speeds);
        (void)tali_osim_tool_read_z(tool, table, &it->z);
    }
    tal_table_destroy(table);
}

static void read_coordinates(analyze *it)
{
    tali_osim_tool *tool = it->tool;
    tal_table *table = tali_osim_tool_read_table(tool, "coordinates_file");
    if (tali_osim_tool_is_good(tool) &&
        tali_osim_tool_read_coordinates(tool, table, "coordinates_file", &it->rows)) {
        it->curves = tali_osim_tool_make_curves(tool, &it->rows, TALI_OSIM_CUTOFF,
                                                TAL_SIGNAL_LOWPASS_OPENSIM);
    }
    tal_table_destroy(table);
    if (tali_osim_text(tool->root, "speeds_file") != NULL) {
        tali_osim_tool_warn(tool, "speeds_file", "it is not read: speeds are those of the motion");
    }
}

static void read_rows(analyze *it)
{
    const tali_xml_element *root = it->tool->root;
    if (tali_osim_text(root, "states_file") != NULL) {
        read_states(it);
    } else if (tali_osim_text(root, "coordinates_file") != NULL) {
        read_coordinates(it);
    } else {
        tali_osim_tool_error(it->tool, NULL, "<states_file> or <coordinates_file> is missing");
    }
}

static bool take_memory(analyze *it)
{
    tali_arena *arena = &it->tool->setup.arena;
    it->y = tali_arena_take(arena, (size_t)it->nc * sizeof *it->y);
    it->q = tali_arena_take(arena, (size_t)it->nq * sizeof *it->q);
    it->qdot = tali_arena_take(arena, (size_t)it->nq * sizeof *it->qdot);
    it->u = tali_arena_take(arena, (size_t)it->nu * sizeof *it->u);
    it->udot = tali_arena_take(arena, (size_t)it->nu * sizeof *it->udot);
    it->F_GB = tali_arena_take(arena, (size_t)it->nb * sizeof *it->F_GB);
    const bool good = it->y != NULL && it->q != NULL && it->qdot != NULL && it->u != NULL &&
                      it->udot != NULL && it->F_GB != NULL;
    it->tool->setup.no_memory = it->tool->setup.no_memory || !good;
    return good;
}

// --- one row ---

// q and u of a row of states.
static void put_states(analyze *it, int row)
{
    const size_t n = (size_t)it->rows.num_rows;
    for (int c = 0; c < it->nc; ++c) {
        const size_t at = (size_t)c * n + (size_t)row;
        it->q[tali_osim_tool_q_slot(it->tool, c)] = it->rows.values[at];
        it->u[tali_osim_tool_u_slot(it->tool, c)] = it->speeds.values[at];
    }
}

// q and u = N^+ qdot of curves.
static tal_status put_curves(analyze *it, double t)
{
    const tal_model *model = &it->tool->model;
    double *const to[] = {it->q, it->qdot};
    for (int order = 0; order < 2; ++order) {
        const tal_status st = tal_signal_calc(it->curves, t, order, it->y);
        if (st != TAL_OK) return st;
        for (int c = 0; c < it->nc; ++c) {
            to[order][tali_osim_tool_q_slot(it->tool, c)] = it->y[c];
        }
    }
    tal_status st = tal_state_set_q(model->state, it->q, it->nq);
    if (st == TAL_OK) st = tali_osim_tool_meet(it->tool, false);
    if (st == TAL_OK) {
        st = tal_matter_mul_N(model->matter, model->state, TAL_NPLUS, it->qdot, it->u);
    }
    if (st == TAL_OK) st = tal_state_set_u(model->state, it->u, it->nu);
    return st == TAL_OK ? tali_osim_tool_meet(it->tool, true) : st;
}

// q and u of a sample.
static tal_status put_motion(analyze *it, int row, double t)
{
    const tal_model *model = &it->tool->model;
    (void)tal_state_set_t(model->state, t);
    if (it->curves != NULL) return put_curves(it, t);
    put_states(it, row);
    const tal_status st = tal_state_set_q(model->state, it->q, it->nq);
    return st == TAL_OK ? tal_state_set_u(model->state, it->u, it->nu) : st;
}

static const double *times_of(const analyze *it, int *num)
{
    *num = it->curves != NULL ? tal_signal_num_samples(it->curves) : it->rows.num_rows;
    return it->curves != NULL ? tal_signal_times(it->curves) : it->rows.times;
}

// Curves of the speeds, whose slopes are the accelerations: through the speeds at all samples.
static bool make_speed_curves(analyze *it)
{
    tali_osim_tool *tool = it->tool;
    bool is_needed = false;
    for (int k = 0; k < it->analyses.num; ++k) {
        it->analyses.items[k].udot = it->udot;
        is_needed = is_needed || it->analyses.items[k].kind->needs_udot;
    }
    if (!is_needed) return true;
    int n = 0;
    const double *times = times_of(it, &n);
    double *speeds =
        tali_arena_take(&tool->setup.arena, (size_t)n * (size_t)it->nu * sizeof *speeds);
    tool->setup.no_memory = tool->setup.no_memory || speeds == NULL;
    tal_status st = TAL_OK;
    for (int r = 0; r < n && speeds != NULL && st == TAL_OK; ++r) {
        st = put_motion(it, r, times[r]);
        tali_osim_tool_fail(tool, st, tal_state_error(tool->model.state));
        const double *u = tal_state_u(tool->model.state);
        for (int i = 0; i < it->nu; ++i) {
            speeds[(size_t)i * (size_t)n + (size_t)r] = u[i];
        }
    }
    if (speeds == NULL || st != TAL_OK) return false;
    tal_error err = {TAL_OK, "", ""};
    st = tal_signal_create(&tool->options.allocator, NULL, times, speeds, n, it->nu,
                           &it->speed_curves, &err);
    tali_osim_tool_fail(tool, st, &err);
    return st == TAL_OK;
}

static void put_loads(analyze *it, double t)
{
    const tal_model *model = &it->tool->model;
    memset(it->F_GB, 0, (size_t)it->nb * sizeof *it->F_GB);
    tali_osim_tool_apply_loads(it->tool, &it->loads, t, it->F_GB);
    for (int b = 1; b < it->nb; ++b) {
        (void)tal_discrete_set_body_force(model->forces, model->state, it->tool->o.discrete,
                                          (tal_body_ix){b}, it->F_GB[b]);
    }
}

// --- preparing ---

static bool prepare(analyze *it)
{
    tali_osim_tool *tool = it->tool;
    it->nc = tool->o.num_coordinates;
    it->nq = tal_state_nq(tool->model.state);
    it->nu = tal_matter_nu(tool->model.matter);
    it->nb = tal_matter_num_bodies(tool->model.matter);
    read_rows(it);
    tali_osim_tool_read_loads(tool, "external_loads_file", &it->loads);
    tali_osim_tool_note_loads(tool, &it->loads);
    tali_osim_analyses_begin(tool, &it->analyses);
    if (it->analyses.num == 0 && tali_osim_tool_is_good(tool)) {
        tali_osim_tool_error(tool, "AnalysisSet", "no analysis is turned on");
    }
    it->equilibrate = tali_osim_bool(&tool->setup, tool->root,
                                     "solve_for_equilibrium_for_auxiliary_states", false);
    return tali_osim_tool_is_good(tool) && take_memory(it) && make_speed_curves(it);
}

// The State of a row, with all its accelerations.
static tal_status pose(analyze *it, int row, double t)
{
    const tal_model *model = &it->tool->model;
    tal_status st = put_motion(it, row, t);
    if (st == TAL_OK && it->speed_curves != NULL) {
        st = tal_signal_calc(it->speed_curves, t, 1, it->udot);
    }
    if (st == TAL_OK) st = tal_system_realize(model->system, model->state, TAL_STAGE_POSITION);
    if (st == TAL_OK && it->loads.num > 0) put_loads(it, t);
    if (st == TAL_OK && it->z.num > 0) tali_osim_tool_put_z(it->tool, &it->z, row);
    if (st == TAL_OK && it->equilibrate) {
        st = tal_forces_equilibrate_muscles(model->forces, model->state);
    }
    return st == TAL_OK ? tal_system_realize(model->system, model->state, TAL_STAGE_ACCELERATION)
                        : st;
}

// --- all rows ---

// Which samples belong to the tool's range of times: from the last one that is not after its
// beginning. What was padded for the filter does not.
static void find_range(const analyze *it, const double times[], int *begin, int *end)
{
    double range[2];
    const double *data = it->rows.times;
    tali_osim_tool_time_range(it->tool, range);
    range[0] = fmax(range[0], data[0]);
    range[1] = fmin(range[1], data[it->rows.num_rows - 1]);
    *begin = 0;
    while (*begin < *end - 1 && times[*begin + 1] <= range[0]) {
        ++*begin;
    }
    while (*end > *begin + 1 && times[*end - 1] > range[1]) {
        --*end;
    }
}

// --- chunks and lanes ---

// A lane with its own State; `tool` of the caller is only read by it, but for its arena here.
static bool open_lane(analyze *it, lane *at)
{
    tali_osim_tool *tool = it->tool;
    const tal_system *system = tool->model.system;
    const size_t width = tali_osim_analyses_width(&it->analyses);
    at->motion = *it;
    at->motion.analyses.num = 0;
    at->start = tool->model.state;
    at->width = width;
    at->values = tali_arena_take(&tool->setup.arena, CHUNK * width * sizeof *at->values);
    bool good = at->values != NULL && take_memory(&at->motion);
    tal_error err = {TAL_OK, "", ""};
    tal_state *state = NULL;
    const tal_status st = good ? tal_state_create(system, &state, &err) : TAL_ERR_NO_MEMORY;
    tali_osim_tool_fail(tool, st, &err);
    tal_state *const own = tool->model.state;
    tool->model.state = state; // what is made now is for the lane
    good = st == TAL_OK &&
           tali_osim_analyses_fork(&it->analyses, tool, at->motion.udot, &at->motion.analyses);
    at->tool = *tool;
    tool->model.state = own;
    at->motion.tool = &at->tool;
    for (int k = 0; k < at->motion.analyses.num && good; ++k) {
        at->motion.analyses.items[k].tool = &at->tool;
    }
    return good;
}

static void close_lane(lane *at)
{
    tali_osim_analyses_release(&at->motion.analyses);
    tal_state_destroy(at->tool.model.state);
}

// All rows of the chunk at hand, from the State that every chunk begins with.
static void follow_chunk(void *work, int i)
{
    lane *at = (lane *)work + i;
    analyze *it = &at->motion;
    if (at->num == 0 || tal_state_copy(at->tool.model.state, at->start) != TAL_OK) return;
    tali_osim_analyses_restart(&it->analyses);
    for (int r = 0; r < at->num; ++r) {
        at->failed[r] = pose(it, at->first + r, at->times[r]) != TAL_OK;
        const char *why = tal_state_error(at->tool.model.state)->message;
        if (at->failed[r]) (void)snprintf(at->why[r], sizeof at->why[r], "%s", why);
        tali_osim_analyses_fill(&it->analyses, at->wanted[r], at->times[r], at->failed[r],
                                at->values + (size_t)r * at->width);
    }
}

// A row that failed is NaN, and said once for each of the first ones.
static void flag(analyze *it, double t, const char *why)
{
    it->num_failed += 1;
    if (it->num_failed > MAX_FLAGGED) return;
    tali_osim_tool_warn(it->tool, NULL, "the row at t = %g failed, and is NaN: %s", t, why);
}

// The rows of a chunk become rows of the tables. False: the user wants it to end.
static bool hand_over(analyze *it, lane *at, int done, int total)
{
    for (int r = 0; r < at->num; ++r) {
        if (at->failed[r]) flag(it, at->times[r], at->why[r]);
        tali_osim_analyses_add_row(&it->analyses, at->wanted[r],
                                   at->values + (size_t)r * at->width);
        if (!tali_osim_tool_tell(it->tool, done + r + 1, total)) return false;
    }
    tali_osim_analyses_take_flags(&it->analyses, &at->motion.analyses);
    it->tool->setup.no_memory = it->tool->setup.no_memory || at->tool.setup.no_memory;
    return tali_osim_tool_is_good(it->tool);
}

// All samples within the range, as many chunks at a time as there are lanes; what is done before an
// end is kept.
static void follow(analyze *it, lane lanes[], int num_lanes)
{
    const tal_executor usual = tal_executor_in_order();
    const tal_executor *executor = it->tool->options.executor;
    if (executor == NULL) executor = &usual;
    int begin, end;
    const double *times = times_of(it, &end);
    find_range(it, times, &begin, &end);
    for (int next = begin; next < end;) {
        const int first = next;
        for (int i = 0; i < num_lanes; ++i) {
            lane *at = &lanes[i];
            at->first = next;
            at->times = times + next;
            at->num = end - next < CHUNK ? end - next : CHUNK;
            for (int r = 0; r < at->num; ++r) {
                at->wanted[r] = tali_osim_analyses_want(&it->analyses, at->times[r]);
            }
            next += at->num;
        }
        executor->run(executor->context, follow_chunk, lanes, num_lanes);
        for (int i = 0, done = first - begin; i < num_lanes; done += lanes[i++].num) {
            if (!hand_over(it, &lanes[i], done, end - begin)) return;
        }
    }
}

static void record_all(analyze *it)
{
    tali_osim_tool *tool = it->tool;
    const int wanted = tali_osim_analyses_can_fork(&it->analyses) ? tool->options.lanes : 1;
    lane *lanes = tali_osim_take(&tool->setup, wanted, sizeof *lanes);
    int n = 0;
    bool good = lanes != NULL;
    while (good && n < wanted) {
        good = open_lane(it, &lanes[n++]);
    }
    if (good) follow(it, lanes, n);
    for (int i = 0; i < n; ++i) {
        close_lane(&lanes[i]);
    }
    if (it->num_failed > MAX_FLAGGED) {
        tali_osim_tool_warn(tool, NULL, "%d rows failed in all", it->num_failed);
    }
}

void tali_osim_tool_analyze(tali_osim_tool *tool)
{
    analyze it = {.tool = tool};
    if (prepare(&it)) record_all(&it);
    tali_osim_analyses_end(&it.analyses);
    tal_signal_destroy(it.curves);
    tal_signal_destroy(it.speed_curves);
    tali_osim_tool_free_loads(&it.loads);
}
