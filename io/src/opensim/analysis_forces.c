// ForceReporter: what each force of the model, each external load and each constraint does.
#include "opensim/analysis_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// How a force is recorded.
typedef enum report_kind {
    OF_ACTUATOR,   // one column: its force
    OF_PATH,       // one column: the tension
    OF_COORDINATE, // one column: along the coordinate
    ON_BODY        // six columns: force and torque about the body's origin, in Ground
} report_kind;

typedef struct reported {
    int force; // of the model's file
    report_kind kind;
    int body; // of ON_BODY
} reported;

// What a constraint does to a body, or along a speed.
typedef struct held {
    int constraint; // of the model's file
    int body;       // of the model's file; -1: none
    int coordinate; // then this one
} held;

typedef struct reporter {
    reported *items; // [num]
    int num;
    int num_loads;
    held *held; // [num_held]
    int num_held;
    tal_spatial_vec *F_GB; // [num_bodies]
    double *f;             // [nu]
} reporter;

static const char *const body_ends[] = {".force.X",  ".force.Y",  ".force.Z",
                                        ".torque.X", ".torque.Y", ".torque.Z"};
static const char *const held_ends[] = {"_Fx", "_Fy", "_Fz", "_Mx", "_My", "_Mz"};
static const char *const load_ends[] = {"_Fx", "_Fy", "_Fz", "_px", "_py",
                                        "_pz", "_Tx", "_Ty", "_Tz"};

// --- which columns ---

static void add(reporter *it, int force, report_kind kind, int body)
{
    it->items[it->num++] = (reported){force, kind, body};
}

// The bodies of a force that is not along one line or coordinate, Ground left out.
static void add_bodies(const tali_osim *o, reporter *it, int i)
{
    const tali_osim_force *f = &o->forces[i];
    if (f->body1 > 0) add(it, i, ON_BODY, f->body1);
    if (f->body2 > 0 && f->body2 != f->body1) add(it, i, ON_BODY, f->body2);
    for (int s = 0; s < f->num_surfaces; ++s) {
        const int body = o->geometries[f->surfaces[s].geometry].body;
        bool is_new = body > 0;
        for (int k = it->num - 1; k >= 0 && it->items[k].force == i; --k) {
            is_new = is_new && it->items[k].body != body;
        }
        if (is_new) add(it, i, ON_BODY, body);
    }
}

static void choose(const tali_osim_tool *tool, reporter *it)
{
    const tali_osim *o = &tool->o;
    const tal_model *model = &tool->model;
    for (int i = 0; i < o->num_forces; ++i) {
        const tali_osim_force *f = &o->forces[i];
        if (!f->applies || f->force.i < 0) continue;
        if (tal_force_has_control(model->forces, f->force)) {
            add(it, i, OF_ACTUATOR, -1);
        } else if (f->path != NULL) {
            add(it, i, OF_PATH, -1);
        } else if (f->coordinate >= 0) {
            add(it, i, OF_COORDINATE, -1);
        } else {
            add_bodies(o, it, i);
        }
    }
}

static int most_columns(const tali_osim *o)
{
    int n = 1;
    for (int i = 0; i < o->num_forces; ++i) {
        n += 2 + o->forces[i].num_surfaces;
    }
    return n;
}

// Both bodies of a constraint, or the coordinates of a coupler.
static void choose_held(const tali_osim *o, reporter *it)
{
    for (int i = 0; i < o->num_constraints; ++i) {
        const tali_osim_constraint *c = &o->constraints[i];
        if (c->induced || !c->enforced || c->constraint.i < 0) continue;
        for (int k = 0; k < c->num_coords; ++k) {
            it->held[it->num_held++] = (held){i, -1, c->coords[k]};
        }
        if (c->num_coords > 0) continue;
        if (c->body1 > 0) it->held[it->num_held++] = (held){i, c->body1, -1};
        if (c->body2 > 0) it->held[it->num_held++] = (held){i, c->body2, -1};
    }
}

static void add_held_columns(tali_osim_analysis *a, const reporter *it, tal_table *table)
{
    const tali_osim *o = &a->tool->o;
    int part = 0;
    for (int i = 0; i < it->num_held; ++i) {
        const held *item = &it->held[i];
        const char *name = o->constraints[item->constraint].name;
        char label[300];
        part = i > 0 && item[-1].constraint == item->constraint ? part + 1 : 0;
        if (name == NULL) name = "";
        if (item->body < 0) {
            (void)snprintf(label, sizeof label, "%.70s_mobility_F%d", name, part);
            tali_osim_tool_add_column(a->tool, table, label, "");
            continue;
        }
        (void)snprintf(label, sizeof label, "%.70s_%.70s", name, o->bodies[item->body].name);
        for (int c = 0; c < 6; ++c) {
            tali_osim_tool_add_column(a->tool, table, label, held_ends[c]);
        }
    }
}

static void add_columns(tali_osim_analysis *a, const reporter *it, tal_table *table)
{
    const tali_osim *o = &a->tool->o;
    char name[300];
    for (int k = 0; k < it->num; ++k) {
        const reported *item = &it->items[k];
        const tali_osim_force *f = &o->forces[item->force];
        if (item->kind != ON_BODY) tali_osim_tool_add_column(a->tool, table, f->name, "");
        for (int c = 0; c < 6 && item->kind == ON_BODY; ++c) {
            (void)snprintf(name, sizeof name, "%.70s.%.70s", f->name, o->bodies[item->body].name);
            tali_osim_tool_add_column(a->tool, table, name, body_ends[c]);
        }
    }
    for (int i = 0; i < it->num_loads; ++i) {
        const tali_osim_applied *load = &a->tool->applied[i];
        (void)snprintf(name, sizeof name, "%.70s_%.70s", o->bodies[load->body].name, load->name);
        for (int c = 0; c < 9; ++c) {
            tali_osim_tool_add_column(a->tool, table, name, load_ends[c]);
        }
    }
}

static bool take_scratch(tali_osim_analysis *a, reporter *it)
{
    const tal_model *model = &a->tool->model;
    it->F_GB =
        tali_osim_analysis_take(a, (size_t)tal_matter_num_bodies(model->matter) * sizeof *it->F_GB);
    it->f = tali_osim_analysis_take(a, (size_t)tal_matter_nu(model->matter) * sizeof *it->f);
    return it->F_GB != NULL && it->f != NULL;
}

static void fork_scratch(tali_osim_analysis *a, const void *data)
{
    reporter *it = tali_osim_analysis_take(a, sizeof *it);
    if (it == NULL) return;
    *it = *(const reporter *)data;
    if (take_scratch(a, it)) a->data = it;
}

static void begin(tali_osim_analysis *a)
{
    const tali_osim *o = &a->tool->o;
    reporter *it = a->data = tali_osim_analysis_take(a, sizeof *it);
    if (it == NULL) return;
    *it = (reporter){.num_loads = a->tool->num_applied};
    it->items = tali_osim_analysis_take(a, (size_t)most_columns(o) * sizeof *it->items);
    if (it->items == NULL || !take_scratch(a, it)) return;
    if (tali_osim_bool(&a->tool->setup, a->element, "include_constraint_forces", false)) {
        const size_t most = (size_t)o->num_constraints * TAL_CONSTRAINT_MOBILITIES + 1;
        it->held = tali_osim_analysis_take(a, most * sizeof *it->held);
        if (it->held == NULL) return;
        choose_held(o, it);
    }
    choose(a->tool, it);
    tal_table *table = tali_osim_analysis_add_table(a, "_forces.sto", "ModelForces");
    if (table != NULL) add_columns(a, it, table);
    if (table != NULL) add_held_columns(a, it, table);
}

// --- a row ---

// What one element does, in the arrays.
static bool apply_one(const tali_osim_analysis *a, reporter *it, tal_force_ix force)
{
    const tal_model *model = &a->tool->model;
    const size_t nb = (size_t)tal_matter_num_bodies(model->matter);
    memset(it->F_GB, 0, nb * sizeof *it->F_GB);
    memset(it->f, 0, (size_t)tal_matter_nu(model->matter) * sizeof *it->f);
    return tal_force_apply(model->forces, model->state, force, it->F_GB, it->f) == TAL_OK;
}

static double *record_item(const tali_osim_analysis *a, reporter *it, const reported *item,
                           double *at)
{
    const tali_osim_tool *tool = a->tool;
    const tali_osim_force *f = &tool->o.forces[item->force];
    if (item->kind == OF_ACTUATOR) {
        double speed;
        tali_osim_measure_actuator(tool, f, at, &speed);
        return at + 1;
    }
    if (item->kind == OF_PATH) {
        *at = tal_path_force_tension(tool->model.forces, tool->model.state, f->force);
        return at + 1;
    }
    const int width = item->kind == ON_BODY ? 6 : 1;
    if (!apply_one(a, it, f->force)) return at + width; // NaN
    if (item->kind == OF_COORDINATE) {
        *at = it->f[tali_osim_tool_u_slot(tool, f->coordinate)];
        return at + 1;
    }
    const tal_spatial_vec F = it->F_GB[tool->o.bodies[item->body].body.i];
    return tali_osim_analysis_put(tali_osim_analysis_put(at, F.v), F.w);
}

// Force, a point, torque: the point is the body's origin, the torque is about it.
static double *record_load(const tali_osim_analysis *a, reporter *it, const tali_osim_applied *load,
                           double *at)
{
    const tali_osim_tool *tool = a->tool;
    const tal_model *model = &tool->model;
    const tal_body_ix body = tool->o.bodies[load->body].body;
    if (load->force.i >= 0) {
        if (!apply_one(a, it, load->force)) return at + 9;
    } else {
        memset(it->F_GB, 0, (size_t)tal_matter_num_bodies(model->matter) * sizeof *it->F_GB);
        const tali_osim_loads one = {.loads = load->load, .num = 1};
        tali_osim_tool_apply_loads(tool, &one, tal_state_t(model->state), it->F_GB);
    }
    const tal_spatial_vec F = it->F_GB[body.i];
    at = tali_osim_analysis_put(at, F.v);
    at = tali_osim_analysis_put(at, tal_body_X_GB(model->matter, model->state, body).p);
    return tali_osim_analysis_put(at, F.w);
}

// Force, and moment about the body's origin, in Ground; or what acts along the coordinate. Rolling
// is several constraints.
static double *record_held(const tali_osim_analysis *a, reporter *it, const held *item, double *at)
{
    const tali_osim_tool *tool = a->tool;
    const tal_model *model = &tool->model;
    const tali_osim_constraint *of = &tool->o.constraints[item->constraint];
    tal_spatial_vec F = {TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    double f = 0.0;
    for (int k = 0; k < of->num_made; ++k) {
        const tal_constraint_ix constraint = {of->constraint.i + k};
        const tal_status st = tal_matter_calc_constraint_forces(model->matter, model->state,
                                                                tal_state_multipliers(model->state),
                                                                constraint, it->F_GB, it->f);
        if (st != TAL_OK) return at + (item->body < 0 ? 1 : 6); // NaN
        if (item->body < 0) f += it->f[tali_osim_tool_u_slot(tool, item->coordinate)];
        if (item->body >= 0) F = tal_sv_add(F, it->F_GB[tool->o.bodies[item->body].body.i]);
    }
    if (item->body < 0) {
        *at = f;
        return at + 1;
    }
    return tali_osim_analysis_put(tali_osim_analysis_put(at, F.v), F.w);
}

static void record(tali_osim_analysis *a)
{
    reporter *it = a->data;
    double *at = a->rows[0] + 1;
    for (int k = 0; k < it->num; ++k) {
        at = record_item(a, it, &it->items[k], at);
    }
    for (int i = 0; i < it->num_loads; ++i) {
        at = record_load(a, it, &a->tool->applied[i], at);
    }
    for (int i = 0; i < it->num_held; ++i) {
        at = record_held(a, it, &it->held[i], at);
    }
}

const tali_osim_analysis_kind tali_osim_force_reporter = {
    .name = "ForceReporter", .begin = begin, .record = record, .fork = fork_scratch};
