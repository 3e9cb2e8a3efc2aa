// Analyses of motion: coordinates, bodies, points.
#include "opensim/analysis_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double degrees = 57.29577951308232; // in a radian

static const char *const xyz[3] = {"_X", "_Y", "_Z"};
static const char *const turns[3] = {"_Ox", "_Oy", "_Oz"};

// --- coordinates: q, u, udot ---

// Coordinates that are recorded.
typedef struct chosen {
    int *items; // [num]
    int num;
} chosen;

static bool wants(const char *const names[], int n, const char *name)
{
    for (int i = 0; i < n; ++i) {
        if (strcmp(names[i], name) == 0 || strcmp(names[i], "all") == 0) return true;
    }
    return n == 0;
}

// Three tables of the chosen coordinates: q, u, udot.
static void begin_kinematics(tali_osim_analysis *a)
{
    static const char *const ends[] = {"_q.sto", "_u.sto", "_dudt.sto"};
    static const char *const titles[] = {"Coordinates", "Speeds", "Accelerations"};
    const char *names[TALI_OSIM_MAX_LIST];
    tali_osim *setup = &a->tool->setup;
    const tali_osim *o = &a->tool->o;
    const int n = tali_osim_words(setup, a->element, "coordinates", names, TALI_OSIM_MAX_LIST);
    chosen *it = a->data = tali_osim_analysis_take(a, sizeof *it);
    if (it == NULL) return;
    *it = (chosen){.items =
                       tali_osim_analysis_take(a, (size_t)o->num_coordinates * sizeof *it->items)};
    for (int k = 0; k < 3 && it->items != NULL; ++k) {
        tal_table *table = tali_osim_analysis_add_table(a, ends[k], titles[k]);
        if (table == NULL) return;
        tal_table_set_in_degrees(table, a->in_degrees);
        it->num = 0;
        for (int c = 0; c < o->num_coordinates; ++c) {
            if (!wants(names, n, o->coordinates[c].name)) continue;
            tali_osim_tool_add_column(a->tool, table, o->coordinates[c].name, "");
            it->items[it->num++] = c;
        }
    }
}

static void record_kinematics(tali_osim_analysis *a)
{
    const tali_osim_tool *tool = a->tool;
    const chosen *it = a->data;
    const tal_state *s = tool->model.state;
    for (int i = 0; i < it->num; ++i) {
        const int c = it->items[i];
        const bool is_angle = tool->o.coordinates[c].kind == TALI_OSIM_ROTATIONAL;
        const double unit = is_angle && a->in_degrees ? degrees : 1.0;
        const int u = tali_osim_tool_u_slot(tool, c);
        a->rows[0][i + 1] = unit * tal_state_q(s)[tali_osim_tool_q_slot(tool, c)];
        a->rows[1][i + 1] = unit * tal_state_u(s)[u];
        a->rows[2][i + 1] = unit * tal_state_udot(s)[u];
    }
}

const tali_osim_analysis_kind tali_osim_kinematics = {
    .name = "Kinematics", .begin = begin_kinematics, .record = record_kinematics};

// --- bodies: poses of their mass centers, velocities, accelerations ---

// Bodies that are recorded, and whether the mass center of all is.
typedef struct bodies {
    int *items; // [num] of the model's file
    int num;
    bool all_mass; // a column for the mass center of the model
    bool local;    // velocities and accelerations in the bodies' own frames
} bodies;

static void add_body_columns(tali_osim_analysis *a, const bodies *it, const char *end,
                             const char *title)
{
    tal_table *table = tali_osim_analysis_add_table(a, end, title);
    if (table == NULL) return;
    tal_table_set_in_degrees(table, a->in_degrees);
    for (int i = 0; i < it->num; ++i) {
        const char *name = a->tool->o.bodies[it->items[i]].name;
        tali_osim_analysis_add_triple(a, table, name, xyz);
        tali_osim_analysis_add_triple(a, table, name, turns);
    }
    if (it->all_mass) tali_osim_analysis_add_triple(a, table, "center_of_mass", xyz);
}

static void begin_bodies(tali_osim_analysis *a)
{
    const char *names[TALI_OSIM_MAX_LIST];
    tali_osim *setup = &a->tool->setup;
    const tali_osim *o = &a->tool->o;
    const int n = tali_osim_words(setup, a->element, "bodies", names, TALI_OSIM_MAX_LIST);
    bodies *it = a->data = tali_osim_analysis_take(a, sizeof *it);
    if (it == NULL) return;
    it->num = 0;
    it->items = tali_osim_analysis_take(a, (size_t)o->num_bodies * sizeof *it->items);
    it->all_mass = wants(names, n, "center_of_mass");
    it->local = tali_osim_bool(setup, a->element, "express_results_in_body_local_frame", false);
    for (int i = 1; i < o->num_bodies && it->items != NULL; ++i) {
        if (wants(names, n, o->bodies[i].name)) it->items[it->num++] = i;
    }
    add_body_columns(a, it, "_pos_global.sto", "Positions");
    add_body_columns(a, it, it->local ? "_vel_bodyLocal.sto" : "_vel_global.sto", "Velocities");
    add_body_columns(a, it, it->local ? "_acc_bodyLocal.sto" : "_acc_global.sto", "Accelerations");
}

// Body-fixed angles about x, y, z; those of the singular poses are as good as any.
static tal_vec3 angles_of(const tal_mat3 *R)
{
    static const tal_axis axes[3] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    double q[3] = {0.0, 0.0, 0.0};
    (void)tal_rotation_to_angles(R, TAL_BODY_FIXED, 3, axes, q);
    return tal_v3(q[0], q[1], q[2]);
}

// Of one body: pose, velocity and acceleration of its mass center; where each table goes on.
static void record_body(tali_osim_analysis *a, const bodies *it, int i, double *at[3])
{
    const tal_model *model = &a->tool->model;
    const tali_osim_body *body = &a->tool->o.bodies[it->items[i]];
    const tal_vec3 com = body->mass.com;
    const tal_xform X_GB = tal_body_X_GB(model->matter, model->state, body->body);
    const double unit = a->in_degrees ? degrees : 1.0;
    tal_vec3 v = tal_station_v_GS(model->matter, model->state, body->body, com);
    tal_vec3 acc = tal_station_a_GS(model->matter, model->state, body->body, com);
    tal_vec3 w = tal_body_V_GB(model->matter, model->state, body->body).w;
    tal_vec3 wdot = tal_body_A_GB(model->matter, model->state, body->body).w;
    if (it->local) {
        v = tal_m3_tmul_v3(X_GB.R, v);
        acc = tal_m3_tmul_v3(X_GB.R, acc);
        w = tal_m3_tmul_v3(X_GB.R, w);
        wdot = tal_m3_tmul_v3(X_GB.R, wdot);
    }
    at[0] = tali_osim_analysis_put(at[0], tal_xf_apply(X_GB, com));
    at[0] = tali_osim_analysis_put(at[0], tal_v3_scale(unit, angles_of(&X_GB.R)));
    at[1] = tali_osim_analysis_put(at[1], v);
    at[1] = tali_osim_analysis_put(at[1], tal_v3_scale(unit, w));
    at[2] = tali_osim_analysis_put(at[2], acc);
    at[2] = tali_osim_analysis_put(at[2], tal_v3_scale(unit, wdot));
}

static void record_bodies(tali_osim_analysis *a)
{
    const tal_model *model = &a->tool->model;
    const bodies *it = a->data;
    double *at[3] = {a->rows[0] + 1, a->rows[1] + 1, a->rows[2] + 1};
    for (int i = 0; i < it->num; ++i) {
        record_body(a, it, i, at);
    }
    if (!it->all_mass) return;
    (void)tali_osim_analysis_put(at[0], tal_matter_com(model->matter, model->state));
    (void)tali_osim_analysis_put(at[1], tal_matter_com_velocity(model->matter, model->state));
    (void)tali_osim_analysis_put(at[2], tal_matter_com_acceleration(model->matter, model->state));
}

const tali_osim_analysis_kind tali_osim_body_kinematics = {
    .name = "BodyKinematics", .begin = begin_bodies, .record = record_bodies};

// --- a point ---

// A point on a body, seen from another one; all columns are those of one point.
typedef struct point {
    tal_body_ix body, seen_from;
    tal_vec3 p_BS;
} point;

static tal_body_ix body_of(tali_osim_analysis *a, const char *property)
{
    const char *name = tali_osim_text(a->element, property);
    tali_osim_place_on place;
    if (!tali_osim_analysis_frame(a, property, name != NULL ? name : "ground", &place)) {
        return TAL_GROUND;
    }
    return a->tool->o.bodies[place.body].body;
}

static void begin_point(tali_osim_analysis *a)
{
    static const char *const ends[] = {"pos", "vel", "acc"};
    static const char *const titles[] = {"PointPosition", "PointVelocity", "PointAcceleration"};
    const char *name = tali_osim_text(a->element, "point_name");
    if (name == NULL) name = "NONAME";
    point *it = a->data = tali_osim_analysis_take(a, sizeof *it);
    if (it == NULL) return;
    it->body = body_of(a, "body_name");
    it->seen_from = body_of(a, "relative_to_body_name");
    it->p_BS = tali_osim_vec3(&a->tool->setup, a->element, "point", TAL_VEC3_ZERO);
    for (int k = 0; k < 3; ++k) {
        char end[120];
        (void)snprintf(end, sizeof end, "_%.80s_%s.sto", name, ends[k]);
        tal_table *table = tali_osim_analysis_add_table(a, end, titles[k]);
        if (table == NULL) return;
        tali_osim_analysis_add_triple(a, table, name, xyz);
    }
}

static void record_point(tali_osim_analysis *a)
{
    const tal_matter *matter = a->tool->model.matter;
    const tal_state *s = a->tool->model.state;
    const point *it = a->data;
    (void)tali_osim_analysis_put(a->rows[0] + 1,
                                 tal_station_p_AS(matter, s, it->seen_from, it->body, it->p_BS));
    (void)tali_osim_analysis_put(a->rows[1] + 1,
                                 tal_station_v_AS(matter, s, it->seen_from, it->body, it->p_BS));
    (void)tali_osim_analysis_put(a->rows[2] + 1,
                                 tal_station_a_AS(matter, s, it->seen_from, it->body, it->p_BS));
}

const tali_osim_analysis_kind tali_osim_point_kinematics = {
    .name = "PointKinematics", .begin = begin_point, .record = record_point};
