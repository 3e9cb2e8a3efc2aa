// Analyses along a motion: from states or coordinates in a table, row by row.
#include "error_internal.h"

#include "opensim/analysis_internal.h"
#include "opensim/tool_states_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const tali_osim_analysis_kind *const kinds[] = {
    &tali_osim_kinematics,          &tali_osim_body_kinematics,       &tali_osim_point_kinematics,
    &tali_osim_actuation,           &tali_osim_muscle_analysis,       &tali_osim_joint_reaction,
    &tali_osim_static_optimization, &tali_osim_induced_accelerations, &tali_osim_force_reporter,
    &tali_osim_probe_reporter};

enum {
    NUM_KINDS = sizeof kinds / sizeof *kinds,
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

// --- what analyses share ---

static void say(tali_osim_analysis *a, tal_severity severity, const char *property, const char *fmt,
                va_list args) TAL_PRINTF(4, 0);

static void say(tali_osim_analysis *a, tal_severity severity, const char *property, const char *fmt,
                va_list args)
{
    const tali_xml_element *at = tali_xml_child(a->element, property);
    if (at == NULL) at = a->element;
    char rest[320];
    tali_error_print(rest, sizeof rest, fmt, args);
    tal_diagnostics_add(a->tool->setup.found, severity, a->tool->setup.xml->file, at->line,
                        at->column, "<%s>: %s", property, rest);
}

void tali_osim_analysis_error(tali_osim_analysis *a, const char *property, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(a, TAL_ERROR, property, fmt, args);
    va_end(args);
}

void tali_osim_analysis_warn(tali_osim_analysis *a, const char *property, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(a, TAL_WARNING, property, fmt, args);
    va_end(args);
}

void *tali_osim_analysis_take(tali_osim_analysis *a, size_t size)
{
    void *memory = tali_arena_take(&a->tool->setup.arena, size);
    a->tool->setup.no_memory = a->tool->setup.no_memory || memory == NULL;
    return memory;
}

// For one more table.
static bool make_room(tali_osim_analysis *a)
{
    if (a->num_tables < a->tables_capacity) return true;
    const size_t n = 2 * (size_t)a->tables_capacity + 3;
    tal_table **tables = tali_osim_analysis_take(a, n * sizeof(tal_table *));
    double **rows = tali_osim_analysis_take(a, n * sizeof(double *));
    if (tables == NULL || rows == NULL) return false;
    if (a->num_tables > 0) {
        memcpy(tables, a->tables, (size_t)a->num_tables * sizeof(tal_table *));
    }
    a->tables = tables;
    a->rows = rows; // they are filled when all tables are there
    a->tables_capacity = (int)n;
    return true;
}

tal_table *tali_osim_analysis_add_table(tali_osim_analysis *a, const char *end, const char *title)
{
    char file[300];
    (void)snprintf(file, sizeof file, "%.100s_%.60s%.120s", a->tool->name, a->name, end);
    tal_table *table = tali_osim_tool_add_result(a->tool, file, title);
    if (table == NULL || !make_room(a)) return NULL;
    a->tables[a->num_tables++] = table;
    return table;
}

void tali_osim_analysis_add_triple(tali_osim_analysis *a, tal_table *table, const char *name,
                                   const char *const ends[3])
{
    for (int k = 0; k < 3; ++k) {
        tali_osim_tool_add_column(a->tool, table, name, ends[k]);
    }
}

double *tali_osim_analysis_put(double *at, tal_vec3 v)
{
    at[0] = v.x;
    at[1] = v.y;
    at[2] = v.z;
    return at + 3;
}

// Whether a path ends with these names.
static bool ends_with(const char *path, const char *name)
{
    const size_t n = strlen(path), length = strlen(name);
    if (n < length || strcmp(path + n - length, name) != 0) return false;
    return n == length || name[0] == '/' || path[n - length - 1] == '/';
}

static bool find_frame(const tali_osim *o, const char *name, tali_osim_place_on *place)
{
    int found = -1;
    for (int i = 0; i < o->num_frames; ++i) {
        const tali_osim_frame *f = &o->frames[i];
        if (f->body < 0 || !ends_with(f->path, name)) continue;
        if (found < 0 || f->socket == NULL) found = i; // a body before frames of its name
    }
    if (found < 0) return false;
    const tali_osim_frame *f = &o->frames[found];
    *place = (tali_osim_place_on){f->body, f->X_BF, tali_osim_last_name(f->path)};
    return true;
}

// Files before version 4 have frames of joints without names.
static bool find_joint_frame(tali_osim_analysis *a, const char *name, tali_osim_place_on *place)
{
    const tali_osim *o = &a->tool->o;
    for (int i = 0; i < 2 * o->num_joints; ++i) {
        const tali_osim_joint *joint = &o->joints[i / 2];
        const bool is_child = i % 2 == 0;
        const int body = is_child ? joint->child : joint->parent;
        char path[300];
        (void)snprintf(path, sizeof path, "/jointset/%.120s/%.120s_offset", joint->name,
                       o->bodies[body].name);
        if (!ends_with(path, name)) continue;
        const char *last = tali_osim_last_name(path);
        last = tali_arena_copy(&a->tool->setup.arena, last, strlen(last));
        a->tool->setup.no_memory = a->tool->setup.no_memory || last == NULL;
        *place = (tali_osim_place_on){body, is_child ? joint->X_CM : joint->X_PF, last};
        return last != NULL;
    }
    return false;
}

bool tali_osim_analysis_frame(tali_osim_analysis *a, const char *property, const char *name,
                              tali_osim_place_on *place)
{
    if (find_frame(&a->tool->o, name, place) || find_joint_frame(a, name, place)) return true;
    tali_osim_analysis_error(a, property, "the model has no body or frame '%.80s'", name);
    return false;
}

tal_xform tali_osim_analysis_pose(const tali_osim_analysis *a, const tali_osim_place_on *place)
{
    const tal_model *model = &a->tool->model;
    const tal_body_ix body = a->tool->o.bodies[place->body].body;
    return tal_xf_mul(tal_body_X_GB(model->matter, model->state, body), place->X_BF);
}

// --- which analyses ---

static const char *kind_at(const void *context, int i)
{
    (void)context;
    return i < NUM_KINDS ? kinds[i]->name : NULL;
}

static const tali_osim_analysis_kind *find_kind(tali_osim_tool *tool, const tali_xml_element *e)
{
    for (int i = 0; i < NUM_KINDS; ++i) {
        if (strcmp(kinds[i]->name, e->name) == 0) return kinds[i];
    }
    const char *meant = tali_text_did_you_mean(e->name, kind_at, NULL);
    tali_osim_error(&tool->setup, e, " is not an analysis that Talus has%s%s%s",
                    meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                    meant != NULL ? "'?)" : "");
    return NULL;
}

// Tables first, then rows for them: columns are all there then.
static void begin_analysis(tali_osim_tool *tool, tali_osim_analyses *all, const tali_xml_element *e)
{
    tali_osim *setup = &tool->setup;
    const tali_osim_analysis_kind *kind = find_kind(tool, e);
    if (kind == NULL) return;
    if (all->num == TALI_OSIM_MAX_ANALYSES) {
        tali_osim_error(setup, e, ": there are more than %d analyses", TALI_OSIM_MAX_ANALYSES);
        return;
    }
    tali_osim_analysis *a = &all->items[all->num];
    const char *name = tali_osim_name(e);
    const double interval = tali_osim_number(setup, e, "step_interval", 1.0);
    *a = (tali_osim_analysis){.kind = kind,
                              .tool = tool,
                              .element = e,
                              .name = name[0] != '\0' ? name : kind->name,
                              .start = tali_osim_number(setup, e, "start_time", -INFINITY),
                              .end = tali_osim_number(setup, e, "end_time", INFINITY),
                              .interval = interval >= 1.0 && interval < 1e6 ? (int)interval : 1,
                              .in_degrees = tali_osim_bool(setup, e, "in_degrees", true)};
    kind->begin(a);
    for (int k = 0; k < a->num_tables; ++k) {
        const size_t n = (size_t)tal_table_num_columns(a->tables[k]);
        a->rows[k] = tali_osim_analysis_take(a, n * sizeof *a->rows[k]);
    }
    all->num += 1;
}

void tali_osim_analyses_begin(tali_osim_tool *tool, tali_osim_analyses *all)
{
    const tali_xml_element *e = tali_osim_first_of(tool->root, "AnalysisSet");
    for (; e != NULL; e = e->next) {
        if (tali_osim_bool(&tool->setup, e, "on", true)) begin_analysis(tool, all, e);
    }
}

void tali_osim_analyses_add(tali_osim_tool *tool, tali_osim_analyses *all,
                            const tali_osim_analysis_kind *kind)
{
    for (int k = 0; k < all->num; ++k) {
        if (all->items[k].kind == kind) return;
    }
    tali_xml_element *e = tali_osim_take(&tool->setup, 1, sizeof *e);
    if (e == NULL) return;
    *e = *tool->root;
    e->name = kind->name;
    e->first = NULL;
    e->num_attributes = 0;
    begin_analysis(tool, all, e);
}

static void record(tali_osim_analysis *a, double t, bool failed)
{
    const double slack = 1e-6; // a filter leaves times that are off by their last digits [s]
    if (t < a->start - slack || t > a->end + slack) return;
    if (a->count++ % a->interval != 0) return;
    for (int k = 0; k < a->num_tables; ++k) {
        const int n = tal_table_num_columns(a->tables[k]);
        for (int c = 0; c < n; ++c) {
            a->rows[k][c] = c == 0 ? t : (double)NAN;
        }
    }
    if (!failed) a->kind->record(a);
    for (int k = 0; k < a->num_tables; ++k) {
        const tal_status st = tal_table_add_row(a->tables[k], a->rows[k]);
        a->tool->setup.no_memory = a->tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    }
}

void tali_osim_analyses_record(tali_osim_analyses *all, double t, bool failed)
{
    for (int k = 0; k < all->num; ++k) {
        record(&all->items[k], t, failed);
    }
}

void tali_osim_analyses_end(tali_osim_analyses *all)
{
    for (int k = 0; k < all->num; ++k) {
        if (all->items[k].kind->end != NULL) all->items[k].kind->end(&all->items[k]);
    }
}

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

// A row that failed is NaN, and said once for each of the first ones.
static void flag(analyze *it, double t)
{
    it->num_failed += 1;
    if (it->num_failed > MAX_FLAGGED) return;
    tali_osim_tool_warn(it->tool, NULL, "the row at t = %g failed, and is NaN: %s", t,
                        tal_state_error(it->tool->model.state)->message);
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

// All samples within the range; what is done before an end is kept.
static void record_all(analyze *it)
{
    tali_osim_tool *tool = it->tool;
    int begin, end;
    const double *times = times_of(it, &end);
    find_range(it, times, &begin, &end);
    for (int i = begin; i < end && tali_osim_tool_is_good(tool); ++i) {
        const bool failed = pose(it, i, times[i]) != TAL_OK;
        if (failed) flag(it, times[i]);
        tali_osim_analyses_record(&it->analyses, times[i], failed);
        if (!tali_osim_tool_tell(tool, i - begin + 1, end - begin)) break;
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
