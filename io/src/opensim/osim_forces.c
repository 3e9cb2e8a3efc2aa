// Forces: which class becomes which element.
#include "error_internal.h"
#include "force_facts_internal.h"

#include "opensim/osim_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- reading ---

void tali_osim_read_force_coordinate(tali_osim *o, tali_osim_force *f)
{
    const char *name = tali_osim_text(f->element, "coordinate");
    if (name == NULL) {
        tali_osim_error(o, f->element, " needs <coordinate>");
        return;
    }
    f->coordinate = tali_osim_find_coordinate(o, f->element, name);
}

static void read_spring(tali_osim *o, tali_osim_force *f)
{
    tali_osim_read_force_coordinate(o, f);
    f->numbers[0] = tali_osim_number(o, f->element, "stiffness", 0.0);
    f->numbers[1] = tali_osim_number(o, f->element, "rest_length", 0.0);
    f->numbers[2] = tali_osim_number(o, f->element, "viscosity", 0.0);
}

void tali_osim_read_two_points(tali_osim *o, tali_osim_force *f)
{
    static const tali_osim_place places[] = {{"body1", "body1", "point1", NULL},
                                             {"body2", "body2", "point2", NULL}};
    (void)tali_osim_read_place(o, f->element, &places[0], &f->body1, &f->X_1);
    (void)tali_osim_read_place(o, f->element, &places[1], &f->body2, &f->X_2);
}

static void read_two_point_spring(tali_osim *o, tali_osim_force *f)
{
    tali_osim_read_two_points(o, f);
    f->numbers[0] = tali_osim_number(o, f->element, "stiffness", 1.0);
    f->numbers[1] = tali_osim_number(o, f->element, "rest_length", 0.0);
}

// Limits, stiffnesses and damping of angles are in degrees and per degree.
static void read_limit(tali_osim *o, tali_osim_force *f)
{
    static const struct {
        const char *name;
        double initial;
        int power; // of a radian
    } rows[] = {{"lower_limit", 0.0, 1},      {"upper_limit", 0.0, 1}, {"lower_stiffness", 1.0, -1},
                {"upper_stiffness", 1.0, -1}, {"damping", 0.001, -1},  {"transition", 0.1, 1}};

    tali_osim_read_force_coordinate(o, f);
    const bool turns =
        f->coordinate >= 0 && o->coordinates[f->coordinate].kind == TALI_OSIM_ROTATIONAL;
    const double unit = turns ? TAL_DEGREE : 1.0;
    for (int i = 0; i < 6; ++i) {
        const double value = tali_osim_number(o, f->element, rows[i].name, rows[i].initial);
        f->numbers[i] = rows[i].power > 0 ? value * unit : value / unit;
    }
}

// Three functions of time; an empty set is none.
static void read_functions(tali_osim *o, tali_osim_force *f, const char *property,
                           tal_function *functions[3])
{
    const tali_xml_element *set = tali_osim_object(f->element, property);
    const tali_xml_element *e = set != NULL ? tali_osim_first(set) : NULL;
    int n = 0;
    for (; e != NULL && n < 3; e = e->next) {
        functions[n++] = tali_osim_read_function(o, e, 1);
    }
    if ((n > 0 && n < 3) || e != NULL) {
        tali_osim_error(o, set, ": <%s> needs three functions, of x, y and z", property);
    }
}

static void read_prescribed(tali_osim *o, tali_osim_force *f)
{
    static const tali_osim_place place = {"frame", "body", NULL, NULL};
    const tali_xml_element *e = f->element;
    if (!tali_osim_read_place(o, e, &place, &f->body1, &f->X_1)) return;
    f->in_body = !tali_osim_bool(o, e, "forceIsGlobal", true);
    f->point_in_ground = tali_osim_bool(o, e, "pointIsGlobal", false);
    read_functions(o, f, "forceFunctions", f->functions);
    read_functions(o, f, "pointFunctions", f->functions + 3);
    read_functions(o, f, "torqueFunctions", f->functions + 6);
    const tal_xform X = f->X_1;
    const bool is_own = tal_v3_norm(X.p) == 0.0 && X.R.x.x + X.R.y.y + X.R.z.z == 3.0;
    if (!is_own && (f->in_body || !f->point_in_ground)) {
        tali_osim_error(o, e, ": its frame must be that of a body, or force and point global");
    }
}

// --- adding ---

static tal_force_ix add_spring(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_mobility mobility = o->coordinates[f->coordinate].mobility;
    if (f->numbers[2] != 0.0) {
        char name[TAL_MAX_NAME + 1];
        (void)snprintf(name, sizeof name, "%.50s_viscosity", f->name);
        f->second = tal_forces_add_mobility_damper(model->forces, name, mobility, f->numbers[2]);
    }
    return tal_forces_add_mobility_spring(model->forces, f->name, mobility, f->numbers[0],
                                          f->numbers[1]);
}

static tal_force_ix add_two_point_spring(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_two_points points = {o->bodies[f->body1].body, f->X_1.p, o->bodies[f->body2].body,
                                   f->X_2.p};
    return tal_forces_add_two_point_spring(model->forces, f->name, &points, f->numbers[0],
                                           f->numbers[1]);
}

static tal_force_ix add_limit(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_limit limit = {.lower = f->numbers[0],
                             .upper = f->numbers[1],
                             .lower_stiffness = f->numbers[2],
                             .upper_stiffness = f->numbers[3],
                             .damping = f->numbers[4],
                             .transition = f->numbers[5]};
    return tal_forces_add_mobility_limit(model->forces, f->name,
                                         o->coordinates[f->coordinate].mobility, &limit);
}

static tal_force_ix add_prescribed(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    tal_prescribed_force_def def = tal_prescribed_force_def_default();
    def.body = o->bodies[f->body1].body;
    if (f->in_body) def.force_frame = def.body;
    def.point_frame = f->point_in_ground ? TAL_GROUND : def.body;
    for (int i = 0; i < 3; ++i) {
        def.force[i] = f->functions[i];
        def.point[i] = f->functions[3 + i];
        def.torque[i] = f->functions[6 + i];
    }
    memset(f->functions, 0, sizeof f->functions); // adopted
    return tal_forces_add_prescribed_force(model->forces, f->name, &def);
}

// --- the table ---

static const struct {
    const char *name;
    void (*read)(tali_osim *o, tali_osim_force *f);
    tal_force_ix (*add)(tali_osim *o, tal_model *model, tali_osim_force *f);
} rows[] = {
    {"CoordinateActuator", tali_osim_read_coordinate_actuator, tali_osim_add_coordinate_actuator},
    {"PointActuator", tali_osim_read_point_actuator, tali_osim_add_point_actuator},
    {"TorqueActuator", tali_osim_read_torque_actuator, tali_osim_add_torque_actuator},
    {"BodyActuator", tali_osim_read_body_actuator, tali_osim_add_body_actuator},
    {"CoordinateLimitForce", read_limit, add_limit},
    {"PrescribedForce", read_prescribed, add_prescribed},
    {"SpringGeneralizedForce", read_spring, add_spring},
    {"PointToPointSpring", read_two_point_spring, add_two_point_spring},
    {"ExpressionBasedCoordinateForce", tali_osim_read_coordinate_law, tali_osim_add_coordinate_law},
    {"ExpressionBasedPointToPointForce", tali_osim_read_two_point_law, tali_osim_add_two_point_law},
    {"BushingForce", tali_osim_read_bushing, tali_osim_add_bushing},
    {"FunctionBasedBushingForce", tali_osim_read_function_bushing, tali_osim_add_bushing},
    {"ExpressionBasedBushingForce", tali_osim_read_expression_bushing, tali_osim_add_bushing},
    {"ActivationCoordinateActuator", tali_osim_read_activation_actuator,
     tali_osim_add_activation_actuator},
    {"PathActuator", tali_osim_read_path_actuator, tali_osim_add_path_actuator},
    {"PathSpring", tali_osim_read_path_spring, tali_osim_add_path_spring},
    {"ClutchedPathSpring", tali_osim_read_clutched_spring, tali_osim_add_clutched_spring},
    {"Ligament", tali_osim_read_ligament, tali_osim_add_ligament},
    {"Blankevoort1991Ligament", tali_osim_read_blankevoort, tali_osim_add_blankevoort},
    {"McKibbenActuator", tali_osim_read_pneumatic, tali_osim_add_pneumatic},
    {"Thelen2003Muscle", tali_osim_read_thelen, tali_osim_add_muscle},
    {"Millard2012EquilibriumMuscle", tali_osim_read_millard, tali_osim_add_muscle},
    {"Millard2012AccelerationMuscle", tali_osim_read_millard, tali_osim_add_muscle},
    {"DeGrooteFregly2016Muscle", tali_osim_read_degroote, tali_osim_add_muscle},
    {"RigidTendonMuscle", tali_osim_read_rigid_tendon, tali_osim_add_muscle},
    {"Thelen2003Muscle_Deprecated", tali_osim_read_old_muscle, tali_osim_add_muscle},
    {"Schutte1993Muscle", tali_osim_read_old_muscle, tali_osim_add_muscle},
    {"Schutte1993Muscle_Deprecated", tali_osim_read_old_muscle, tali_osim_add_muscle},
    {"Delp1990Muscle", tali_osim_read_old_muscle, tali_osim_add_muscle},
    {"Delp1990Muscle_Deprecated", tali_osim_read_old_muscle, tali_osim_add_muscle},
    {"HuntCrossleyForce", tali_osim_read_hunt_crossley, tali_osim_add_hunt_crossley},
    {"ElasticFoundationForce", tali_osim_read_elastic_foundation, tali_osim_add_elastic_foundation},
    {"SmoothSphereHalfSpaceForce", tali_osim_read_smooth_contact, tali_osim_add_smooth_contact}};

enum {
    NUM_ROWS = sizeof rows / sizeof *rows
};

static int find_row(const char *name)
{
    for (int i = 0; i < NUM_ROWS; ++i) {
        if (strcmp(rows[i].name, name) == 0) return i;
    }
    return -1;
}

static void check_name(tali_osim *o, const tali_osim_force *f)
{
    const char *flaw = tali_text_name_flaw(f->name);
    if (flaw != NULL) {
        tali_osim_error(o, f->element, ": %s", flaw);
    } else if (tali_name_map_find(&o->force_names, f->name) >= 0) {
        tali_osim_error(o, f->element, ": the name is used already");
    } else if (!tali_name_map_add(&o->force_names, f->name, o->num_forces - 1)) {
        o->no_memory = true;
    }
}

static tali_osim_force new_force(const tali_xml_element *e, const char *name)
{
    return (tali_osim_force){.element = e,
                             .name = name,
                             .row = find_row(e->name),
                             .body1 = -1,
                             .body2 = -1,
                             .X_1 = TAL_XFORM_IDENTITY,
                             .X_2 = TAL_XFORM_IDENTITY,
                             .coordinate = -1,
                             .least = -INFINITY,
                             .largest = INFINITY,
                             .force = {-1},
                             .second = {-1}};
}

// A force of any class; one that is not known is counted.
static void read_force(tali_osim *o, const tali_xml_element *e)
{
    tali_osim_force *f = TALI_OSIM_ADD(o, forces);
    if (f == NULL) return;
    *f = new_force(e, tali_osim_name(e));
    f->least = tali_osim_number(o, e, "min_control", f->least);
    f->largest = tali_osim_number(o, e, "max_control", f->largest);
    check_name(o, f);
    f->applies = tali_osim_is_on(o, e, "appliesForce", "isDisabled");
    tali_osim_check_class(o, e);
    if (f->row >= 0) {
        rows[f->row].read(o, f);
        if (!(f->least <= f->largest)) {
            tali_osim_error(o, e, ": its min_control, %g, is above its max_control, %g", f->least,
                            f->largest);
        }
    } else {
        tali_osim_ignore(o, e, f->applies ? TAL_WARNING : TAL_NOTE,
                         "does not act: Talus does not have it");
    }
}

int tali_osim_take_actuator(tali_osim *o, const tali_xml_element *at, const char *name,
                            int coordinate)
{
    tali_xml_element *element = tali_osim_take(o, 1, sizeof *element);
    tali_osim_force *f = element != NULL ? TALI_OSIM_ADD(o, forces) : NULL;
    if (f == NULL) return -1;
    *element = (tali_xml_element){.name = "CoordinateActuator",
                                  .text = "",
                                  .line = at->line,
                                  .column = at->column,
                                  .parent = at->parent};
    *f = new_force(element, name);
    f->applies = true;
    f->coordinate = coordinate;
    f->numbers[0] = 1.0;
    check_name(o, f);
    return o->num_forces - 1;
}

// Forces of another file, in whose name errors are reported.
static void read_more_forces(tali_osim *o, tali_xml *file)
{
    tali_xml *const own = o->xml;
    const tali_xml_element *set = file->root;
    if (strcmp(set->name, "OpenSimDocument") == 0 && set->first != NULL) set = set->first;
    o->xml = file;
    const bool is_set = strcmp(set->name, "ForceSet") == 0 || strcmp(set->name, "ActuatorSet") == 0;
    if (!is_set) tali_osim_error(o, set, ": a file of forces has a <ForceSet>");
    const tali_xml_element *e = is_set ? tali_osim_first(set) : NULL;
    for (; e != NULL; e = e->next) {
        read_force(o, e);
    }
    o->xml = own;
}

void tali_osim_read_forces(tali_osim *o)
{
    const tali_xml_element *e = tali_osim_first_of(o->model, "ForceSet");
    if (e == NULL) e = tali_osim_first_of(o->model, "ActuatorSet"); // before 2.0
    for (; e != NULL && !o->replace_forces; e = e->next) {
        read_force(o, e);
    }
    for (int i = 0; i < o->num_more_forces; ++i) {
        read_more_forces(o, o->more_forces[i]);
    }
    const bool good = tal_diagnostics_num_errors(o->found) == 0;
    for (int i = 0; i < o->num_wraps && good; ++i) {
        const tali_osim_wrap *it = &o->wraps[i];
        if (it->known && !it->used) tali_osim_ignore(o, it->element, TAL_NOTE, "has no path");
    }
}

void tali_osim_add_forces(tali_osim *o, tal_model *model)
{
    for (int i = 0; i < o->num_forces; ++i) {
        tali_osim_force *f = &o->forces[i];
        if (f->row >= 0) f->force = rows[f->row].add(o, model, f);
        const tal_error *err = tal_system_error(model->system);
        if (err->status == TAL_OK) continue;
        o->no_memory = o->no_memory || err->status == TAL_ERR_NO_MEMORY;
        tali_osim_error(o, f->element, ": %s", err->message);
        return;
    }
}

// The range of the control of an actuator; the stretch of a clutched spring, the activation of an
// actuator.
static void start_force(const tali_osim_force *f, tal_model *model)
{
    if (f->muscle == NULL && tal_force_has_control(model->forces, f->force)) {
        (void)tal_actuator_set_control_range(model->forces, model->state, f->force, f->least,
                                             f->largest);
    }
    int slot;
    const char *class = rows[f->row].name;
    const bool has_z = strcmp(class, "ClutchedPathSpring") == 0 ||
                       strcmp(class, "ActivationCoordinateActuator") == 0;
    if (has_z && tali_force_z(model->forces, model->state, f->force, 0, &slot) > 0) {
        tal_state_upd_z(model->state)[slot] = f->numbers[3];
    }
}

void tali_osim_start_forces(const tali_osim *o, tal_model *model)
{
    for (int i = 0; i < o->num_forces; ++i) {
        const tali_osim_force *f = &o->forces[i];
        if (f->force.i >= 0) start_force(f, model);
        if (f->applies || f->force.i < 0) continue;
        (void)tal_force_set_enabled(model->forces, model->state, f->force, false);
        if (f->second.i < 0) continue;
        (void)tal_force_set_enabled(model->forces, model->state, f->second, false);
    }
}
