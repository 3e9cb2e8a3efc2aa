// Analyses of actuators and muscles: forces, speeds, powers; lengths, moment arms.
#include "force_facts_internal.h"

#include "opensim/analysis_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- actuators: force, speed, power ---

// Forces of the model's file that are recorded.
typedef struct chosen {
    int *items; // [num]
    int num;
} chosen;

static bool is_actuator(const tali_osim_tool *tool, const tali_osim_force *f)
{
    return f->applies && f->force.i >= 0 && tal_force_has_control(tool->model.forces, f->force);
}

static void begin_actuation(tali_osim_analysis *a)
{
    static const char *const ends[] = {"_force.sto", "_speed.sto", "_power.sto"};
    static const char *const titles[] = {"ActuatorForces", "ActuatorSpeeds", "ActuatorPowers"};
    const tali_osim *o = &a->tool->o;
    chosen *it = a->data = tali_osim_analysis_take(a, sizeof *it);
    if (it == NULL) return;
    it->num = 0;
    it->items = tali_osim_analysis_take(a, (size_t)o->num_forces * sizeof *it->items);
    for (int i = 0; i < o->num_forces && it->items != NULL; ++i) {
        if (is_actuator(a->tool, &o->forces[i])) it->items[it->num++] = i;
    }
    for (int k = 0; k < 3 && it->items != NULL; ++k) {
        tal_table *table = tali_osim_analysis_add_table(a, ends[k], titles[k]);
        for (int i = 0; i < it->num && table != NULL; ++i) {
            tali_osim_tool_add_column(a->tool, table, o->forces[it->items[i]].name, "");
        }
    }
}

static double param(const tal_model *model, tal_force_ix force, int i)
{
    return tal_force_param(model->forces, model->state, force, i);
}

// The speed at which a torque actuator turns body A in body B.
static double turning_speed(const tal_model *model, const tali_osim *o, const tali_osim_force *f)
{
    const tal_body_ix A = o->bodies[f->body1].body, B = o->bodies[f->body2].body;
    const tal_vec3 w_A = tal_body_V_GB(model->matter, model->state, A).w;
    const tal_vec3 w_B = tal_body_V_GB(model->matter, model->state, B).w;
    tal_vec3 axis = f->direction;
    if (f->in_body) {
        axis = tal_m3_mul_v3(tal_body_X_GB(model->matter, model->state, A).R,
                             tal_m3_mul_v3(f->X_1.R, axis));
    }
    return tal_v3_dot(tal_v3_sub(w_A, w_B), axis) / tal_v3_norm(axis);
}

// The speed of the point of a point actuator, along its direction.
static double point_speed(const tal_model *model, const tali_osim *o, const tali_osim_force *f)
{
    const tal_body_ix body = o->bodies[f->body1].body;
    const tal_xform X = tal_body_X_GB(model->matter, model->state, body);
    const tal_vec3 p = f->point_in_ground ? tal_xf_inv_apply(X, f->X_1.p) : f->X_1.p;
    tal_vec3 axis = f->direction;
    if (f->in_body) axis = tal_m3_mul_v3(X.R, axis);
    const tal_vec3 v = tal_station_v_GS(model->matter, model->state, body, p);
    return tal_v3_dot(v, axis) / tal_v3_norm(axis);
}

void tali_osim_measure_actuator(const tali_osim_tool *tool, const tali_osim_force *f, double *force,
                                double *speed)
{
    const tal_model *model = &tool->model;
    const tali_osim *o = &tool->o;
    if (f->path != NULL) {
        *speed = tal_path_speed(model->forces, model->state, f->path->path);
        *force = f->muscle != NULL ? tal_muscle_calc_output(model->forces, model->state, f->force,
                                                            TAL_MUSCLE_TENSION)
                                   : tal_path_force_tension(model->forces, model->state, f->force);
        return;
    }
    const double control = tal_actuator_control(model->forces, model->state, f->force);
    if (f->coordinate >= 0) {
        *force = control * param(model, f->force, TAL_ACTUATOR_GAIN);
        *speed = tal_state_u(model->state)[tali_osim_tool_u_slot(tool, f->coordinate)];
    } else if (strcmp(f->element->name, "TorqueActuator") == 0) {
        *force = control * param(model, f->force, TAL_TORQUE_ACTUATOR_GAIN);
        *speed = turning_speed(model, o, f);
    } else {
        *force = control * param(model, f->force, TAL_POINT_ACTUATOR_GAIN);
        *speed = point_speed(model, o, f);
    }
}

static void record_actuation(tali_osim_analysis *a)
{
    const chosen *it = a->data;
    for (int i = 0; i < it->num; ++i) {
        double force, speed;
        tali_osim_measure_actuator(a->tool, &a->tool->o.forces[it->items[i]], &force, &speed);
        a->rows[0][i + 1] = force;
        a->rows[1][i + 1] = speed;
        a->rows[2][i + 1] = force * speed;
    }
}

const tali_osim_analysis_kind tali_osim_actuation = {
    .name = "Actuation", .begin = begin_actuation, .record = record_actuation};

// --- muscles ---

static const struct {
    const char *end, *title;
    tal_muscle_output output;
} outputs[] = {
    {"_PennationAngle.sto", "Pennation Angles", TAL_MUSCLE_PENNATION_ANGLE},
    {"_PennationAngularVelocity.sto", "Pennation Angular Velocity", TAL_MUSCLE_PENNATION_SPEED},
    {"_Length.sto", "Lengths", TAL_MUSCLE_LENGTH},
    {"_FiberLength.sto", "Fiber Lengths", TAL_MUSCLE_FIBER},
    {"_NormalizedFiberLength.sto", "Normalized Fiber Lengths", TAL_MUSCLE_NORM_FIBER},
    {"_TendonLength.sto", "Tendon Lengths", TAL_MUSCLE_TENDON},
    {"_FiberVelocity.sto", "Fiber Velocities", TAL_MUSCLE_FIBER_SPEED},
    {"_NormFiberVelocity.sto", "Normalized Fiber Velocities", TAL_MUSCLE_NORM_FIBER_SPEED},
    {"_TendonForce.sto", "Tendon Forces", TAL_MUSCLE_TENDON_FORCE},
    {"_FiberForce.sto", "Fiber Forces", TAL_MUSCLE_FIBER_FORCE},
    {"_ActiveFiberForce.sto", "Active Fiber Forces", TAL_MUSCLE_ACTIVE_FIBER_FORCE},
    {"_PassiveFiberForce.sto", "Passive Fiber Forces", TAL_MUSCLE_PASSIVE_FIBER_FORCE},
    {"_ActiveFiberForceAlongTendon.sto", "Active Fiber Forces Along Tendon",
     TAL_MUSCLE_ACTIVE_FIBER_FORCE_ALONG_TENDON},
    {"_PassiveFiberForceAlongTendon.sto", "Passive Fiber Forces Along Tendon",
     TAL_MUSCLE_PASSIVE_FIBER_FORCE_ALONG_TENDON},
    {"_FiberActivePower.sto", "Fiber Active Powers", TAL_MUSCLE_FIBER_ACTIVE_POWER},
    {"_FiberPassivePower.sto", "Fiber Passive Powers", TAL_MUSCLE_FIBER_PASSIVE_POWER},
    {"_TendonPower.sto", "Tendon Powers", TAL_MUSCLE_TENDON_POWER},
    {"_MuscleActuatorPower.sto", "Muscle Actuator Powers", TAL_MUSCLE_POWER}};

enum {
    NUM_OUTPUTS = sizeof outputs / sizeof *outputs
};

// Muscles and coordinates that are recorded, and room for moment arms.
typedef struct muscles {
    int *items; // [num]
    int num;
    int *coordinates; // [num_coordinates]
    int num_coordinates;
    bool with_moments;
    double *arms, *work; // [nu], and what they need
    int *iwork;
} muscles;

static bool is_listed(tali_osim *setup, const tali_xml_element *e, const char *property,
                      const char *name)
{
    const char *text = tali_osim_text(e, property);
    const size_t length = strlen(name);
    if (text == NULL) return true;
    for (const char *at = text; *at != '\0';) {
        at += strspn(at, " \t\r\n,()");
        const size_t n = strcspn(at, " \t\r\n,()");
        if ((n == length && memcmp(at, name, n) == 0) ||
            (n == 3 && (memcmp(at, "all", 3) == 0 || memcmp(at, "ALL", 3) == 0))) {
            return true;
        }
        at += n;
    }
    (void)setup;
    return false;
}

static void choose_muscles(tali_osim_analysis *a, muscles *it)
{
    const tali_osim *o = &a->tool->o;
    tali_osim *setup = &a->tool->setup;
    it->items = tali_osim_analysis_take(a, (size_t)o->num_forces * sizeof *it->items);
    it->coordinates =
        tali_osim_analysis_take(a, (size_t)o->num_coordinates * sizeof *it->coordinates);
    for (int i = 0; i < o->num_forces && it->items != NULL; ++i) {
        const tali_osim_force *f = &o->forces[i];
        if (f->muscle == NULL || f->force.i < 0) continue;
        if (is_listed(setup, a->element, "muscle_list", f->name)) it->items[it->num++] = i;
    }
    const bool arms = tali_osim_bool(setup, a->element, "compute_moments", true) ||
                      tali_osim_text(a->element, "moment_arm_coordinate_list") != NULL;
    for (int c = 0; c < o->num_coordinates && it->coordinates != NULL && arms; ++c) {
        const char *name = o->coordinates[c].name;
        if (is_listed(setup, a->element, "moment_arm_coordinate_list", name)) {
            it->coordinates[it->num_coordinates++] = c;
        }
    }
}

static bool take_arms(tali_osim_analysis *a, muscles *it)
{
    const tal_model *model = &a->tool->model;
    const tal_status st = tal_system_realize(model->system, model->state, TAL_STAGE_INSTANCE);
    tali_osim_tool_fail(a->tool, st, tal_state_error(model->state));
    if (st != TAL_OK) return false;
    const size_t work = tal_forces_moment_arms_work_size(model->forces, model->state);
    const size_t iwork = tal_forces_moment_arms_iwork_size(model->forces, model->state);
    it->arms = tali_osim_analysis_take(a, (size_t)tal_state_nu(model->state) * sizeof *it->arms);
    it->work = tali_osim_analysis_take(a, work * sizeof *it->work);
    it->iwork = tali_osim_analysis_take(a, iwork * sizeof *it->iwork);
    return it->arms != NULL && it->work != NULL && it->iwork != NULL;
}

static void add_muscle_table(tali_osim_analysis *a, const muscles *it, const char *end,
                             const char *title)
{
    tal_table *table = tali_osim_analysis_add_table(a, end, title);
    for (int i = 0; i < it->num && table != NULL; ++i) {
        tali_osim_tool_add_column(a->tool, table, a->tool->o.forces[it->items[i]].name, "");
    }
}

// A table for each output, then two for each coordinate: moment arms and moments.
static void begin_muscles(tali_osim_analysis *a)
{
    muscles *it = a->data = tali_osim_analysis_take(a, sizeof *it);
    if (it == NULL) return;
    *it = (muscles){.with_moments =
                        tali_osim_bool(&a->tool->setup, a->element, "compute_moments", true)};
    choose_muscles(a, it);
    if (it->items == NULL || it->coordinates == NULL || !take_arms(a, it)) return;
    for (int k = 0; k < NUM_OUTPUTS; ++k) {
        add_muscle_table(a, it, outputs[k].end, outputs[k].title);
    }
    for (int c = 0; c < it->num_coordinates; ++c) {
        char end[120];
        const char *name = a->tool->o.coordinates[it->coordinates[c]].name;
        (void)snprintf(end, sizeof end, "_MomentArm_%.80s.sto", name);
        add_muscle_table(a, it, end, "Moment Arms");
        if (!it->with_moments) continue;
        (void)snprintf(end, sizeof end, "_Moment_%.80s.sto", name);
        add_muscle_table(a, it, end, "Moments");
    }
}

static void record_arms(tali_osim_analysis *a, const muscles *it, int i, double force)
{
    const tali_osim_tool *tool = a->tool;
    const tali_osim_force *f = &tool->o.forces[it->items[i]];
    const tal_status st = tal_path_calc_moment_arms(tool->model.forces, tool->model.state,
                                                    f->path->path, it->arms, it->work, it->iwork);
    int k = NUM_OUTPUTS;
    for (int c = 0; c < it->num_coordinates; ++c) {
        const double arm =
            st == TAL_OK ? it->arms[tali_osim_tool_u_slot(tool, it->coordinates[c])] : (double)NAN;
        a->rows[k++][i + 1] = arm;
        if (it->with_moments) a->rows[k++][i + 1] = arm * force;
    }
}

static void record_muscles(tali_osim_analysis *a)
{
    const muscles *it = a->data;
    const tal_model *model = &a->tool->model;
    for (int i = 0; i < it->num; ++i) {
        const tali_osim_force *f = &a->tool->o.forces[it->items[i]];
        double values[TAL_NUM_MUSCLE_OUTPUTS];
        if (tal_muscle_calc_outputs(model->forces, model->state, f->force, values) != TAL_OK) {
            continue;
        }
        for (int k = 0; k < NUM_OUTPUTS; ++k) {
            a->rows[k][i + 1] = values[outputs[k].output];
        }
        if (it->num_coordinates > 0) record_arms(a, it, i, values[TAL_MUSCLE_TENSION]);
    }
}

// Muscles and coordinates are the same, room for moment arms is not.
static void fork_muscles(tali_osim_analysis *a, const void *data)
{
    muscles *it = tali_osim_analysis_take(a, sizeof *it);
    if (it == NULL) return;
    *it = *(const muscles *)data;
    if (take_arms(a, it)) a->data = it;
}

const tali_osim_analysis_kind tali_osim_muscle_analysis = {.name = "MuscleAnalysis",
                                                           .begin = begin_muscles,
                                                           .record = record_muscles,
                                                           .fork = fork_muscles};
