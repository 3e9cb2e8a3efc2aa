// Induced accelerations along a motion: what each muscle alone does to coordinates and bodies.
#include "opensim/analysis_internal.h"

#include <talus/study/induced.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

enum {
    COM = -1, // in place of a body: the mass center of all
    MAX_TARGETS = 256
};

// A table: of a coordinate, a body, or the mass center.
typedef struct target {
    bool is_body;
    int index; // a coordinate or a body of the file; COM
} target;

typedef struct inducing {
    tal_induced_def def;
    tal_induced *induced;
    int num, nu, nb; // contributors, speeds, bodies
    target *targets; // [num_targets]
    int num_targets;
    double *udot;          // [num + 1][nu] the first row: of all
    tal_spatial_vec *A_GB; // [num + 1][nb]
    tal_state *state;      // with constraints in place of loads; NULL: there are none
    int first_held;        // of the file's constraints
    int num_held;
    double threshold; // [N] below it a load holds nothing
} inducing;

// --- tables ---

static const char *name_of(const inducing *it, int k)
{
    return k == 0 ? "total" : tal_induced_name(it->induced, k - 1);
}

// A table of one number for each contributor, of three, or of six.
static void add_target(tali_osim_analysis *a, inducing *it, const char *name, bool is_body,
                       int index)
{
    static const char *const ends[] = {"_X", "_Y", "_Z", "_Ox", "_Oy", "_Oz"};
    if (it->num_targets == MAX_TARGETS) {
        tali_osim_analysis_error(a, "body_names", "there are more than %d tables", MAX_TARGETS);
        return;
    }
    char end[120];
    (void)snprintf(end, sizeof end, "_%.100s.sto", name);
    tal_table *table = tali_osim_analysis_add_table(a, end, "Induced Accelerations");
    it->targets[it->num_targets++] = (target){is_body, index};
    const int width = !is_body ? 1 : index == COM ? 3 : 6;
    for (int k = 0; k <= it->num && table != NULL; ++k) {
        for (int c = 0; c < width; ++c) {
            tali_osim_tool_add_column(a->tool, table, name_of(it, k), is_body ? ends[c] : "");
        }
    }
    if (table != NULL) tal_table_set_in_degrees(table, a->in_degrees);
}

static void add_coordinates(tali_osim_analysis *a, inducing *it)
{
    const tali_osim *o = &a->tool->o;
    const char *names[TALI_OSIM_MAX_LIST];
    const int n =
        tali_osim_words(&a->tool->setup, a->element, "coordinate_names", names, TALI_OSIM_MAX_LIST);
    const bool all = n == 0 || strcmp(names[0], "all") == 0;
    for (int c = 0; c < o->num_coordinates && all; ++c) {
        add_target(a, it, o->coordinates[c].name, false, c);
    }
    for (int i = 0; i < n && !all; ++i) {
        const int c = tali_name_map_find(&o->coordinate_names, names[i]);
        if (c < 0) {
            tali_osim_analysis_error(a, "coordinate_names", "the model has no coordinate '%.60s'",
                                     names[i]);
        } else {
            add_target(a, it, names[i], false, c);
        }
    }
}

// Bodies that are asked for by name, all of them, and the mass center of all.
static void add_bodies(tali_osim_analysis *a, inducing *it)
{
    const tali_osim *o = &a->tool->o;
    const char *names[TALI_OSIM_MAX_LIST];
    int n = tali_osim_words(&a->tool->setup, a->element, "body_names", names, TALI_OSIM_MAX_LIST);
    const bool all = n > 0 && strcmp(names[0], "all") == 0;
    for (int b = 1; b < o->num_bodies && all; ++b) {
        add_target(a, it, o->bodies[b].name, true, b);
    }
    if (n == 0 || all) {
        names[0] = "center_of_mass";
        n = 1;
    }
    for (int i = 0; i < n; ++i) {
        const bool is_com = strcmp(names[i], "center_of_mass") == 0;
        const int b = is_com ? COM : tali_name_map_find(&o->body_names, names[i]);
        if (!is_com && b < 1) {
            tali_osim_analysis_error(a, "body_names", "the model has no body '%.60s'", names[i]);
        } else {
            add_target(a, it, names[i], true, b);
        }
    }
}

static bool take_memory(tali_osim_analysis *a, inducing *it)
{
    const size_t n = (size_t)it->num + 1;
    it->udot = tali_osim_analysis_take(a, n * (size_t)it->nu * sizeof *it->udot);
    it->A_GB = tali_osim_analysis_take(a, n * (size_t)it->nb * sizeof *it->A_GB);
    return it->udot != NULL && it->A_GB != NULL;
}

static bool create(tali_osim_analysis *a, inducing *it)
{
    const tal_model *model = &a->tool->model;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_induced_create(model->system, model->forces, &it->def, &it->induced, &err);
    if (st == TAL_OK && it->num_held > 0) st = tal_state_create(model->system, &it->state, &err);
    tali_osim_tool_fail(a->tool, st, &err);
    return st == TAL_OK;
}

// --- constraints in place of external loads ---

// The <ConstraintSet> of the first analysis that has one, as Talus adds constraints before the
// analyses begin.
void tali_osim_tool_extend_induced(tali_osim_tool *tool)
{
    const tali_xml_element *e = tali_osim_first_of(tool->root, "AnalysisSet");
    for (; e != NULL && tool->o.more_constraints == NULL; e = e->next) {
        const bool is_on = tali_osim_bool(&tool->setup, e, "on", true);
        if (strcmp(e->name, tali_osim_induced_accelerations.name) != 0 || !is_on) continue;
        tool->o.more_constraints = tali_osim_first_of(e, "ConstraintSet");
        tool->o.more_constraints_file = tool->setup.xml;
    }
}

// The first constraint belongs to the first load, and so on; each kind can be moved to a point.
static void choose_held(tali_osim_analysis *a, inducing *it)
{
    static const char *const kinds[] = {"PointConstraint", "WeldConstraint",
                                        "RollingOnSurfaceConstraint"};
    const tali_osim *o = &a->tool->o;
    const tali_xml_element *first = tali_osim_first_of(a->element, "ConstraintSet");
    if (first == NULL) return;
    if (first != o->more_constraints) {
        tali_osim_analysis_error(a, "ConstraintSet",
                                 o->more_constraints != NULL
                                     ? "another analysis has one already"
                                     : "constraints take the place of loads along a motion: let "
                                       "the AnalyzeTool do it with the states of this run");
        return;
    }
    for (int i = 0; i < o->num_constraints; ++i) {
        if (!o->constraints[i].induced) continue;
        if (it->num_held++ == 0) it->first_held = i;
        bool known = false;
        for (int k = 0; k < 3; ++k) {
            known = known || strcmp(o->constraints[i].element->name, kinds[k]) == 0;
        }
        if (known) continue;
        tali_osim_analysis_error(a, "ConstraintSet", "a <%.60s> cannot take the place of a load",
                                 o->constraints[i].element->name);
    }
    if (it->num_held != a->tool->num_applied) {
        tali_osim_analysis_error(a, "ConstraintSet",
                                 "it has %d constraints for %d external loads; each load needs one",
                                 it->num_held, a->tool->num_applied);
    }
    it->threshold = tali_osim_number(&a->tool->setup, a->element, "force_threshold", 6.0);
}

// A point that is given in Ground, on a body.
static tal_vec3 station_at(const tali_osim_analysis *a, int body, tal_vec3 p_G)
{
    const tal_model *model = &a->tool->model;
    const tal_body_ix ix = a->tool->o.bodies[body].body;
    return tal_xf_inv_apply(tal_body_X_GB(model->matter, model->state, ix), p_G);
}

// Three numbers among the parameters of a constraint.
static tal_status set_vec3(const tali_osim_analysis *a, tal_state *s, tal_constraint_ix constraint,
                           int at, tal_vec3 v)
{
    double params[24];
    int n = 0;
    const tal_matter *matter = a->tool->model.matter;
    const double *now = tal_constraint_params(matter, s, constraint, &n);
    memcpy(params, now, (size_t)n * sizeof *params);
    memcpy(params + at, &v, sizeof v);
    return tal_constraint_set_params(matter, s, constraint, params, n);
}

// Both bodies are held together at a point of Ground as they are now.
static tal_status move_weld(const tali_osim_analysis *a, tal_state *s,
                            const tali_osim_constraint *c, tal_vec3 p_G)
{
    const tal_model *model = &a->tool->model;
    const int bodies[] = {c->body1, c->body2};
    tal_xform frames[2];
    for (int k = 0; k < 2; ++k) {
        const tal_body_ix body = a->tool->o.bodies[bodies[k]].body;
        frames[k].R = tal_m3_transpose(tal_body_X_GB(model->matter, model->state, body).R);
        frames[k].p = station_at(a, bodies[k], p_G);
    }
    return tal_constraint_set_params(model->matter, s, c->constraint, &frames[0].R.x.x, 24);
}

// Let a constraint hold at a point of Ground.
static tal_status move_to(const tali_osim_analysis *a, tal_state *s, const tali_osim_constraint *c,
                          tal_vec3 p_G)
{
    const tal_vec3 p1 = station_at(a, c->body1, p_G), p2 = station_at(a, c->body2, p_G);
    if (strcmp(c->element->name, "WeldConstraint") == 0) return move_weld(a, s, c, p_G);
    if (strcmp(c->element->name, "PointConstraint") == 0) {
        const tal_status st = set_vec3(a, s, c->constraint, TAL_BALL_STATION_1, p1);
        return st == TAL_OK ? set_vec3(a, s, c->constraint, TAL_BALL_STATION_2, p2) : st;
    }
    const int first = c->constraint.i;
    const tal_constraint_ix height = {first + TALI_OSIM_ROLLING_HEIGHT},
                            x = {first + TALI_OSIM_ROLLING_SLIP_X},
                            z = {first + TALI_OSIM_ROLLING_SLIP_Z};
    tal_status st = set_vec3(a, s, height, TAL_POINT_IN_PLANE_STATION, p2);
    if (st == TAL_OK) st = set_vec3(a, s, x, TAL_NO_SLIP_1D_POINT, p1);
    return st == TAL_OK ? set_vec3(a, s, z, TAL_NO_SLIP_1D_POINT, p1) : st;
}

// The State of the row without external loads; where one is large, its constraint holds.
static tal_status hold(const tali_osim_analysis *a, inducing *it)
{
    const tali_osim_tool *tool = a->tool;
    const tal_model *model = &tool->model;
    const double t = tal_state_t(model->state);
    tal_status st = tal_state_copy(it->state, model->state);
    if (st == TAL_OK) st = tal_discrete_clear(model->forces, it->state, tool->o.discrete);
    for (int i = 0; i < it->num_held && st == TAL_OK; ++i) {
        const tali_osim_constraint *c = &tool->o.constraints[it->first_held + i];
        const tali_osim_load *load = tool->applied[i].load;
        const bool is_on = tal_v3_norm(tali_osim_tool_load_force(tool, load, t)) > it->threshold;
        if (is_on) st = move_to(a, it->state, c, tali_osim_tool_load_point(tool, load, t));
        for (int k = 0; k < c->num_made && st == TAL_OK; ++k) {
            const tal_constraint_ix part = {c->constraint.i + k};
            st = tal_constraint_set_enabled(model->matter, it->state, part, is_on);
        }
    }
    return st;
}

// --- beginning ---

// The study, and a table for each coordinate and body that is asked for.
static void begin(tali_osim_analysis *a)
{
    tali_osim *setup = &a->tool->setup;
    const tal_model *model = &a->tool->model;
    inducing *it = tali_osim_analysis_take(a, sizeof *it);
    a->data = it;
    if (it == NULL) return;
    *it =
        (inducing){.nu = tal_matter_nu(model->matter), .nb = tal_matter_num_bodies(model->matter)};
    choose_held(a, it);
    if (tali_osim_bool(setup, a->element, "report_constraint_reactions", false)) {
        tali_osim_analysis_warn(a, "report_constraint_reactions",
                                "there are no tables of reactions to each contributor alone; those "
                                "to all of them are in a ForceReporter");
    }
    it->def = tal_induced_def_default();
    it->def.potentials = tali_osim_bool(setup, a->element, "compute_potentials_only", false);
    it->targets = tali_osim_analysis_take(a, MAX_TARGETS * sizeof *it->targets);
    if (it->targets == NULL || !create(a, it)) return;
    it->num = tal_induced_num(it->induced);
    if (!take_memory(a, it)) return;
    add_coordinates(a, it);
    add_bodies(a, it);
}

// --- a row ---

// Acceleration of a body's mass center by contributor k; those of speeds turn it round, too.
static tal_vec3 com_acceleration(const tali_osim_analysis *a, const inducing *it, int k,
                                 tal_body_ix body)
{
    const tal_model *model = &a->tool->model;
    const tal_xform X_GB = tal_body_X_GB(model->matter, model->state, body);
    const tal_vec3 com = tal_body_mass_props(model->matter, model->state, body).com;
    const tal_vec3 r = tal_m3_mul_v3(X_GB.R, com);
    const tal_spatial_vec A = it->A_GB[(size_t)k * (size_t)it->nb + (size_t)body.i];
    tal_vec3 sum = tal_v3_add(A.v, tal_v3_cross(A.w, r));
    if (k == 0 || strcmp(name_of(it, k), "velocity") == 0) {
        const tal_vec3 w = tal_body_V_GB(model->matter, model->state, body).w;
        sum = tal_v3_add(sum, tal_v3_cross(w, tal_v3_cross(w, r)));
    }
    return sum;
}

static tal_vec3 whole_acceleration(const tali_osim_analysis *a, const inducing *it, int k)
{
    const tal_model *model = &a->tool->model;
    tal_vec3 sum = TAL_VEC3_ZERO;
    double mass = 0.0;
    for (tal_body_ix body = {1}; body.i < it->nb; ++body.i) {
        const double m = tal_body_mass_props(model->matter, model->state, body).mass;
        sum = tal_v3_add(sum, tal_v3_scale(m, com_acceleration(a, it, k, body)));
        mass += m;
    }
    return tal_v3_scale(mass > 0.0 ? 1.0 / mass : 0.0, sum);
}

static double *put_body(const tali_osim_analysis *a, const inducing *it, const target *to, int k,
                        double *at)
{
    if (to->index == COM) return tali_osim_analysis_put(at, whole_acceleration(a, it, k));
    const tal_body_ix body = a->tool->o.bodies[to->index].body;
    const double unit = a->in_degrees ? 180.0 / pi : 1.0;
    at = tali_osim_analysis_put(at, com_acceleration(a, it, k, body));
    const tal_vec3 turn = it->A_GB[(size_t)k * (size_t)it->nb + (size_t)body.i].w;
    return tali_osim_analysis_put(at, tal_v3_scale(unit, turn));
}

static void put_row(const tali_osim_analysis *a, const inducing *it, const target *to, double *at)
{
    const tali_osim_coordinate *q = to->is_body ? NULL : &a->tool->o.coordinates[to->index];
    const bool turns = q != NULL && q->kind == TALI_OSIM_ROTATIONAL && a->in_degrees;
    for (int k = 0; k <= it->num; ++k) {
        if (to->is_body) {
            at = put_body(a, it, to, k, at);
            continue;
        }
        const int slot = tali_osim_tool_u_slot(a->tool, to->index);
        const double value = it->udot[(size_t)k * (size_t)it->nu + (size_t)slot];
        *at++ = turns ? value * 180.0 / pi : value;
    }
}

// All contributors, and before them their sum.
static tal_status find_accelerations(const tali_osim_analysis *a, inducing *it)
{
    const size_t nu = (size_t)it->nu, nb = (size_t)it->nb;
    const tal_state *s = it->state != NULL ? it->state : a->tool->model.state;
    tal_status st = it->state != NULL ? hold(a, it) : TAL_OK;
    if (st == TAL_OK) st = tal_induced_calc(it->induced, s, it->udot + nu, NULL);
    memset(it->udot, 0, nu * sizeof *it->udot);
    memset(it->A_GB, 0, nb * sizeof *it->A_GB);
    for (int k = 1; k <= it->num && st == TAL_OK; ++k) {
        const double *udot = it->udot + (size_t)k * nu;
        tal_spatial_vec *A_GB = it->A_GB + (size_t)k * nb;
        st = tal_induced_calc_bodies(it->induced, k - 1, udot, A_GB);
        for (size_t i = 0; i < nu; ++i) {
            it->udot[i] += udot[i];
        }
        for (size_t b = 0; b < nb && st == TAL_OK; ++b) {
            it->A_GB[b].w = tal_v3_add(it->A_GB[b].w, A_GB[b].w);
            it->A_GB[b].v = tal_v3_add(it->A_GB[b].v, A_GB[b].v);
        }
    }
    return st;
}

static void record(tali_osim_analysis *a)
{
    inducing *it = a->data;
    if (find_accelerations(a, it) != TAL_OK) {
        tali_osim_analysis_flag(a, "t = %g is left out: %s", tal_state_t(a->tool->model.state),
                                tal_induced_error(it->induced)->message);
        return;
    }
    for (int i = 0; i < it->num_targets; ++i) {
        put_row(a, it, &it->targets[i], a->rows[i] + 1);
    }
}

static void end(tali_osim_analysis *a)
{
    const inducing *it = a->data;
    if (it == NULL) return;
    tal_induced_destroy(it->induced);
    tal_state_destroy(it->state);
}

static void fork_study(tali_osim_analysis *a, const void *data)
{
    inducing *it = tali_osim_analysis_take(a, sizeof *it);
    if (it == NULL) return;
    *it = *(const inducing *)data;
    it->induced = NULL;
    it->state = NULL;
    if (create(a, it)) a->data = it;
    if (a->data != NULL) (void)take_memory(a, it);
}

const tali_osim_analysis_kind tali_osim_induced_accelerations = {.name = "InducedAccelerations",
                                                                 .begin = begin,
                                                                 .record = record,
                                                                 .end = end,
                                                                 .fork = fork_study,
                                                                 .release = end};
