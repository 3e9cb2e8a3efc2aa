// The table: force elements.
#include "force_facts_internal.h"

#include "model/model_write_internal.h"

#include <string.h>

// refs: enabled. What an element acts on comes next, then numbers in the order of the API's
// parameters.
static const tali_model_attribute force_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the element"},
    {"enabled", TALI_TYPE_BOOL, .initial = "yes", .doc = "whether it is enabled at the start"},
    {"track_dissipation", TALI_TYPE_BOOL, .initial = "no",
     .doc = "whether the energy that it dissipates is integrated, as a z"},
    {"z", TALI_TYPE_REALS, .initial = "", .flags = TALI_WRITTEN_LAST,
     .doc = "initial values of all its auxiliary variables; default: zeros"},
    {.name = NULL}};

enum {
    ENABLED = TALI_FORCE_ENABLED,
    TARGET = TALI_FORCE_REFS, // first ref of what it acts on
    TARGET_2,
    TARGET_3,
    TARGET_4
};

// The z of an element, as far as the file gives them.
static void start_z(tali_model *m, const tali_model_item *item)
{
    const tal_force_ix force = {item->built};
    const int num = tali_force_z(m->forces, m->state, force, 0, NULL);
    const tali_model_list *z = &item->lists[0];
    if (z->count == 0) return;
    if (z->count != num) {
        tali_model_item_error(m, item, "z", ": 'z' has %d numbers; %d are needed", z->count, num);
        return;
    }
    int slot = -1;
    for (int i = 0; i < num; ++i) {
        (void)tali_force_z(m->forces, m->state, force, i, &slot);
        tal_state_upd_z(m->state)[slot] = z->values[i];
    }
}

static void start_force(tali_model *m, tali_model_item *item)
{
    const tal_force_ix force = {item->built};
    start_z(m, item);
    if (!item->ref[ENABLED]) (void)tal_force_set_enabled(m->forces, m->state, force, false);
}

static double z_of(const void *from, int i)
{
    const tali_model_description *d = from;
    const tal_model *model = &d->w->model;
    int slot = 0;
    (void)tali_force_z(model->forces, model->state, (tal_force_ix){d->index}, i, &slot);
    return tal_state_z(model->state)[slot];
}

// What all have. z are left out where they are all zero.
static void describe_force(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_force_ix force = {d->index};
    const int num = tali_force_z(model->forces, model->state, force, 0, NULL);
    bool any = tal_force_is_muscle(model->forces, force); // without them, it finds its own
    for (int i = 0; i < num; ++i) {
        any = any || z_of(d, i) != 0.0;
    }
    tali_model_say_index(d, tal_force_is_enabled(model->forces, model->state, force));
    tali_model_say_index(d, tali_force_is_tracked(model->forces, force));
    tali_model_say_list(d, (tali_model_list){.number = z_of, .from = d, .count = any ? num : 0});
}

// The parameters, which rows have in the API's order, and what the element acts on.
void tali_model_describe_built_in_force(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_force_ix force = {d->index};
    tali_force_facts facts;
    (void)tali_force_facts_of(model->forces, force, &facts);
    for (int i = 0; i < tal_force_num_params(model->forces, force); ++i) {
        tali_model_say_number(d, tal_force_param(model->forces, model->state, force, i));
    }
    const tali_model_targets targets = {.bodies = {facts.bodies[0].i, facts.bodies[1].i},
                                        .measures = {facts.measure},
                                        .mobility = facts.mobility,
                                        .integer = facts.count,
                                        .path = facts.path.i,
                                        .flags = {facts.flags[0], facts.flags[1]}};
    tali_model_say_targets(d, &targets);
    tali_model_say_function(d, facts.function);
}

static bool has_laws(const char *kind, const tali_force_facts *facts)
{
    bool any = false;
    for (int i = 0; i < 6 && strcmp(kind, "bushing") == 0; ++i) {
        any = any || facts->functions[i] != NULL;
    }
    return any;
}

bool tali_model_find_force(tali_model_description *d, tali_model_own_row *own)
{
    const tal_forces *forces = d->w->model.forces;
    const tal_force_ix force = {d->index};
    if (force.i >= tal_forces_num(forces)) return false;
    if (tali_term_instance_at(forces, force) != NULL) return true; // no row: it is in <molecules>
    const char *kind = tal_force_kind(forces, force);
    const void *self = NULL;
    tali_force_facts facts;
    const bool known = strcmp(kind, "gravity") == 0 || tali_force_facts_of(forces, force, &facts);
    d->name = tal_force_name(forces, force);
    d->row = known ? tali_model_row_of_kind(TALI_GROUP_FORCES, kind)
                   : tali_model_registered(d->w, TAL_MODEL_FORCE,
                                           tali_force_ops_of(forces, force, &self), own);
    if (known && has_laws(kind, &facts)) {
        tali_model_write_refuse(d->w, "bushing '%s' has laws, which a model file cannot say",
                                d->name);
    }
    if (d->row == NULL) tali_model_refuse_table(d, "force", kind);
    return true;
}

// ---- gravity

static const tali_model_attribute gravity_attributes[] = {
    {"enabled", TALI_TYPE_BOOL, .initial = "yes", .doc = "whether it is enabled at the start"},
    {"g", TALI_TYPE_REAL, 3, .doc = "acceleration of free fall, in Ground [m/s^2]"},
    {"zero_height", TALI_TYPE_REAL, 1, "0",
     .doc = "height, against g, at which the potential energy is zero [m]"},
    {.name = NULL}};

static void build_gravity(tali_model *m, tali_model_item *item)
{
    tal_gravity_def def = tal_gravity_def_default();
    def.g = tali_model_vec3_at(item->p);
    def.zero_height = item->p[3];
    item->built = tal_forces_add_gravity_def(m->forces, &def).i;
}

static void start_gravity(tali_model *m, tali_model_item *item)
{
    const tal_force_ix force = {item->built};
    if (!item->ref[ENABLED]) (void)tal_force_set_enabled(m->forces, m->state, force, false);
}

static void describe_gravity(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_force_ix force = {d->index};
    tali_model_say_index(d, tal_force_is_enabled(model->forces, model->state, force));
    tali_model_say_vec3(d, tal_gravity_g(model->forces, model->state, force));
    tali_model_say_number(d, tal_gravity_zero_height(model->forces, model->state, force));
}

// ---- between two points

#define TWO_POINTS                                                                                 \
    {"body1", TALI_TYPE_BODY, .initial = "ground", .doc = "body 1"},                               \
        {"body2", TALI_TYPE_BODY, .initial = "ground", .doc = "body 2"},                           \
        {"station1", TALI_TYPE_REAL, 3, "0", .doc = "on body 1 [m]"},                              \
    {                                                                                              \
        "station2", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"                                 \
    }

static tal_two_points points_of(const tali_model *m, const tali_model_item *item)
{
    return (tal_two_points){tali_model_body_at(m, item->ref[TARGET]), tali_model_vec3_at(item->p),
                            tali_model_body_at(m, item->ref[TARGET_2]),
                            tali_model_vec3_at(item->p + 3)};
}

static const tali_model_attribute spring_attributes[] = {
    TWO_POINTS,
    {"stiffness", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[N/m]"},
    {"rest_length", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "[m]"},
    {.name = NULL}};

static void build_two_point_spring(tali_model *m, tali_model_item *item)
{
    const tal_two_points points = points_of(m, item);
    item->built =
        tal_forces_add_two_point_spring(m->forces, item->name, &points, item->p[6], item->p[7]).i;
}

static const tali_model_attribute damper_attributes[] = {
    TWO_POINTS,
    {"damping", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[N s/m]"},
    {.name = NULL}};

static void build_two_point_damper(tali_model *m, tali_model_item *item)
{
    const tal_two_points points = points_of(m, item);
    item->built = tal_forces_add_two_point_damper(m->forces, item->name, &points, item->p[6]).i;
}

static const tali_model_attribute two_point_force_attributes[] = {
    TWO_POINTS,
    {"force", TALI_TYPE_REAL, 1, .doc = "positive pushes the stations apart [N]"},
    {.name = NULL}};

static void build_two_point_force(tali_model *m, tali_model_item *item)
{
    const tal_two_points points = points_of(m, item);
    item->built = tal_forces_add_two_point_force(m->forces, item->name, &points, item->p[6]).i;
}

// ---- on one body

static const tali_model_attribute constant_force_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what it acts on"},
    {"in", TALI_TYPE_BODY, .initial = "ground",
     .doc = "the body in which the force is constant, and with which it turns"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on the body [m]"},
    {"force", TALI_TYPE_REAL, 3, .doc = "in Ground, or in the body `in` [N]"},
    {.name = NULL}};

static void build_constant_force(tali_model *m, tali_model_item *item)
{
    item->built = tal_forces_add_constant_force_in(
                      m->forces, item->name, tali_model_body_at(m, item->ref[TARGET]),
                      tali_model_vec3_at(item->p), tali_model_body_at(m, item->ref[TARGET_2]),
                      tali_model_vec3_at(item->p + 3))
                      .i;
}

static const tali_model_attribute constant_torque_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what it acts on"},
    {"in", TALI_TYPE_BODY, .initial = "ground",
     .doc = "the body in which the torque is constant, and with which it turns"},
    {"torque", TALI_TYPE_REAL, 3, .doc = "in Ground, or in the body `in` [N m]"},
    {.name = NULL}};

static void build_constant_torque(tali_model *m, tali_model_item *item)
{
    item->built = tal_forces_add_constant_torque_in(
                      m->forces, item->name, tali_model_body_at(m, item->ref[TARGET]),
                      tali_model_body_at(m, item->ref[TARGET_2]), tali_model_vec3_at(item->p))
                      .i;
}

static const tali_model_attribute gear_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "the body that its parent drives"},
    {"torque", TALI_TYPE_REAL, 1, .doc = "[N m]"},
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "of the gear [m]"},
    {"angle", TALI_TYPE_REAL, 1, "0", TALI_IS_ANGLE, .doc = "of the tooth in F"},
    {.name = NULL}};

static void build_gear(tali_model *m, tali_model_item *item)
{
    item->built =
        tal_forces_add_gear_torque(m->forces, item->name, tali_model_body_at(m, item->ref[TARGET]),
                                   item->p[0], item->p[1], item->p[2])
            .i;
}

// ---- along mobilities

#define MOBILITY                                                                                   \
    {                                                                                              \
        "mobility", TALI_TYPE_MOBILITY, .doc = "what it acts on"                                   \
    }

#define COORDINATE                                                                                 \
    {                                                                                              \
        "mobility", TALI_TYPE_MOBILITY, .flags = TALI_COUNTED_WITH_ANGLES,                         \
                                        .doc = "what it acts on"                                   \
    }

static tal_mobility mobility_of(const tali_model *m, const tali_model_item *item)
{
    return tali_model_mobility_at(m, item->ref[TARGET], item->ref[TARGET + 1]);
}

static const tali_model_attribute mobility_force_attributes[] = {
    MOBILITY, {"force", TALI_TYPE_REAL, 1, .doc = "[N or N m]"}, {.name = NULL}};

static void build_mobility_force(tali_model *m, tali_model_item *item)
{
    item->built =
        tal_forces_add_mobility_force(m->forces, item->name, mobility_of(m, item), item->p[0]).i;
}

static const tali_model_attribute mobility_damper_attributes[] = {
    MOBILITY,
    {"damping", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "force per speed"},
    {.name = NULL}};

static void build_mobility_damper(tali_model *m, tali_model_item *item)
{
    item->built =
        tal_forces_add_mobility_damper(m->forces, item->name, mobility_of(m, item), item->p[0]).i;
}

static const tali_model_attribute global_damper_attributes[] = {
    {"damping", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "force per speed"},
    {.name = NULL}};

static void build_global_damper(tali_model *m, tali_model_item *item)
{
    item->built = tal_forces_add_global_damper(m->forces, item->name, item->p[0]).i;
}

static const tali_model_attribute friction_attributes[] = {
    MOBILITY,
    {"static", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "largest force at small speed"},
    {"dynamic", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "force at larger speed"},
    {"viscous", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "force per speed"},
    {"speed", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "of the largest force"},
    {.name = NULL}};

static void build_friction(tali_model *m, tali_model_item *item)
{
    const tal_friction friction = {item->p[0], item->p[1], item->p[2], item->p[3]};
    item->built =
        tal_forces_add_mobility_friction(m->forces, item->name, mobility_of(m, item), &friction).i;
}

static const tali_model_attribute mobility_spring_attributes[] = {
    COORDINATE,
    {"stiffness", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "[N m/rad or N/m], for any units of the file"},
    {"rest", TALI_TYPE_REAL, 1, "0", TALI_OF_MOBILITY,
     .doc = "coordinate at which the force is zero"},
    {.name = NULL}};

static void build_mobility_spring(tali_model *m, tali_model_item *item)
{
    item->built = tal_forces_add_mobility_spring(m->forces, item->name, mobility_of(m, item),
                                                 item->p[0], item->p[1])
                      .i;
}

static const tali_model_attribute nonlinear_attributes[] = {COORDINATE, {.name = NULL}};

static void build_nonlinear(tali_model *m, tali_model_item *item)
{
    tal_function *energy = tali_model_take_function(m, item, 0);
    item->built = tal_forces_add_mobility_nonlinear_spring(m->forces, item->name,
                                                           mobility_of(m, item), energy)
                      .i;
}

static const tali_model_attribute stop_attributes[] = {
    COORDINATE,
    {"stiffness", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "[N m/rad or N/m], for any units of the file"},
    {"dissipation", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "[s/rad or s/m]"},
    {"range", TALI_TYPE_REAL, 2, .flags = TALI_OF_MOBILITY | TALI_MAYBE_INFINITE,
     .doc = "low and high; either may be infinite"},
    {.name = NULL}};

static void build_stop(tali_model *m, tali_model_item *item)
{
    const tal_stop stop = {item->p[0], item->p[1], item->p[2], item->p[3]};
    item->built =
        tal_forces_add_mobility_stop(m->forces, item->name, mobility_of(m, item), &stop).i;
}

static const tali_model_attribute limit_attributes[] = {
    COORDINATE,
    {"range", TALI_TYPE_REAL, 2, .flags = TALI_OF_MOBILITY | TALI_MAYBE_INFINITE,
     .doc = "lower and upper limit; either may be infinite"},
    {"stiffness", TALI_TYPE_REAL, 2, .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "below and above [N m/rad or N/m], for any units of the file"},
    {"damping", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "[N m s/rad or N s/m], for any units of the file"},
    {"transition", TALI_TYPE_REAL, 1, .flags = TALI_OF_MOBILITY | TALI_POSITIVE_NUMBER,
     .doc = "width within which stiffness and damping grow to their full values"},
    {.name = NULL}};

static void build_limit(tali_model *m, tali_model_item *item)
{
    const double *p = item->p;
    const tal_limit limit = {p[0], p[1], p[2], p[3], p[4], p[5]};
    item->built =
        tal_forces_add_mobility_limit(m->forces, item->name, mobility_of(m, item), &limit).i;
}

// ---- bushing

static const tali_model_attribute bushing_attributes[] = {
    {"body1", TALI_TYPE_BODY, .initial = "ground", .doc = "body 1"},
    {"body2", TALI_TYPE_BODY, .initial = "ground", .doc = "body 2"},
    {"frame1", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "F on body 1"},
    {"frame2", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "M on body 2"},
    {"stiffness", TALI_TYPE_REAL, 6, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "about x, y, z [N m/rad], then along them [N/m]"},
    {"damping", TALI_TYPE_REAL, 6, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "about x, y, z [N m s/rad], then along them [N s/m]"},
    {.name = NULL}};

static void build_bushing(tali_model *m, tali_model_item *item)
{
    tal_bushing_def def = tal_bushing_def_default();
    def.body1 = tali_model_body_at(m, item->ref[TARGET]);
    def.body2 = tali_model_body_at(m, item->ref[TARGET_2]);
    def.X_B1F = tali_model_frame_at(item->p);
    def.X_B2M = tali_model_frame_at(item->p + 12);
    for (int i = 0; i < 6; ++i) {
        def.stiffness[i] = item->p[24 + i];
        def.damping[i] = item->p[30 + i];
    }
    item->built = tal_forces_add_bushing(m->forces, item->name, &def).i;
}

// ---- actuators

#define DRIVE                                                                                      \
    {"gain", TALI_TYPE_REAL, 1, .doc = "output per control [N or N m]"},                           \
        {"control", TALI_TYPE_REAL, 1, "0",                                                        \
         .doc = "number that is added to measure and controllers"},                                \
        {"least", TALI_TYPE_REAL,      1,                                                          \
         "-inf",  TALI_MAYBE_INFINITE, .doc = "control is not below this"},                        \
    {                                                                                              \
        "largest", TALI_TYPE_REAL, 1, "inf", TALI_MAYBE_INFINITE,                                  \
            .doc = "control is not above this"                                                     \
    }
#define DRIVER                                                                                     \
    {                                                                                              \
        "measure", TALI_TYPE_MEASURE, .initial = "",                                               \
                                      .doc = "a measure that adds to its control, one number"      \
    }

static const tali_model_attribute mobility_actuator_attributes[] = {
    MOBILITY, DRIVER, DRIVE, {.name = NULL}};

static void build_mobility_actuator(tali_model *m, tali_model_item *item)
{
    item->built =
        tal_forces_add_mobility_actuator(m->forces, item->name, mobility_of(m, item), item->p[0],
                                         tali_model_measure_at(m, item->ref[TARGET_3]))
            .i;
}

// Controls, and their range, are the last of its numbers, and of the parameters.
static void start_actuator(tali_model *m, tali_model_item *item)
{
    const tal_force_ix force = {item->built};
    const int num = tal_force_num_params(m->forces, force);
    const int with_range = tal_force_has_control(m->forces, force) ? 3 : 1;
    const int first = num - (strcmp(item->row->name, "body_actuator") == 0 ? 6 : with_range);
    start_force(m, item);
    if (tal_force_set_params(m->forces, m->state, force, first, item->p + first, num - first) !=
        TAL_OK) {
        tali_model_item_error(m, item, NULL, ": %s", tal_state_error(m->state)->message);
    }
}

static const tali_model_attribute point_actuator_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what it pushes"},
    {"in_body", TALI_TYPE_BOOL, .initial = "no",
     .doc = "the direction is given in the body and turns with it"},
    {"point_in_ground", TALI_TYPE_BOOL, .initial = "no",
     .doc = "the station is given in Ground and stays there"},
    DRIVER,
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on the body [m]"},
    {"direction", TALI_TYPE_REAL, 3, .doc = "of any length except zero"},
    DRIVE,
    {.name = NULL}};

static void build_point_actuator(tali_model *m, tali_model_item *item)
{
    const tal_push push = {.body = tali_model_body_at(m, item->ref[TARGET]),
                           .p_BS = tali_model_vec3_at(item->p),
                           .direction = tali_model_vec3_at(item->p + 3),
                           .in_body = item->ref[TARGET_2] != 0,
                           .point_in_ground = item->ref[TARGET_3] != 0};
    item->built = tal_forces_add_point_actuator(m->forces, item->name, &push, item->p[6],
                                                tali_model_measure_at(m, item->ref[TARGET_4]))
                      .i;
}

static const tali_model_attribute two_point_actuator_attributes[] = {
    {"body1", TALI_TYPE_BODY, .initial = "ground", .doc = "body 1"},
    {"body2", TALI_TYPE_BODY, .initial = "ground", .doc = "body 2"},
    DRIVER,
    {"station1", TALI_TYPE_REAL, 3, "0", .doc = "on body 1 [m]"},
    {"station2", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"},
    DRIVE,
    {.name = NULL}};

static void build_two_point_actuator(tali_model *m, tali_model_item *item)
{
    const tal_two_points points = points_of(m, item);
    item->built = tal_forces_add_two_point_actuator(m->forces, item->name, &points, item->p[6],
                                                    tali_model_measure_at(m, item->ref[TARGET_3]))
                      .i;
}

static const tali_model_attribute torque_actuator_attributes[] = {
    {"body1", TALI_TYPE_BODY, .initial = "ground", .doc = "feels the opposite torque"},
    {"body2", TALI_TYPE_BODY, .doc = "feels the torque"},
    {"in_ground", TALI_TYPE_BOOL, .initial = "no",
     .doc = "the axis is given in Ground, not in body 1"},
    DRIVER,
    {"axis", TALI_TYPE_REAL, 3, .doc = "in body 1, of any length except zero"},
    DRIVE,
    {.name = NULL}};

static void build_torque_actuator(tali_model *m, tali_model_item *item)
{
    const tal_twist twist = {.body1 = tali_model_body_at(m, item->ref[TARGET]),
                             .body2 = tali_model_body_at(m, item->ref[TARGET_2]),
                             .axis = tali_model_vec3_at(item->p),
                             .in_ground = item->ref[TARGET_3] != 0};
    item->built = tal_forces_add_torque_actuator(m->forces, item->name, &twist, item->p[3],
                                                 tali_model_measure_at(m, item->ref[TARGET_4]))
                      .i;
}

static const tali_model_attribute body_actuator_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what it acts on"},
    {"in_body", TALI_TYPE_BOOL, .initial = "no",
     .doc = "moment and force are given in the body and turn with it"},
    {"measure", TALI_TYPE_MEASURE, .initial = "",
     .doc = "the measure that gives its controls, six numbers"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on the body [m]"},
    {"gain", TALI_TYPE_REAL, 1, .doc = "output per control [N m and N]"},
    {"controls", TALI_TYPE_REAL, 6, "0", .doc = "of moment and force, if no measure drives it"},
    {.name = NULL}};

static void build_body_actuator(tali_model *m, tali_model_item *item)
{
    const tal_thrust thrust = {tali_model_body_at(m, item->ref[TARGET]),
                               tali_model_vec3_at(item->p), item->ref[TARGET_2] != 0};
    item->built = tal_forces_add_body_actuator(m->forces, item->name, &thrust, item->p[3],
                                               tali_model_measure_at(m, item->ref[TARGET_3]))
                      .i;
}

// ---- the rows

static void start_exponential_spring(tali_model *m, tali_model_item *item)
{
    start_force(m, item);
    tali_model_start_exponential_spring(m, item);
}

static void start_muscle(tali_model *m, tali_model_item *item)
{
    start_force(m, item);
    tali_model_start_muscle(m, item);
}

#define DESCRIBED .describe_shared = describe_force, .describe = tali_model_describe_built_in_force
#define FORCE(element, api, attributes, builder, text)                                             \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .shared = force_attributes,               \
        .own = (attributes), .build = (builder), .start = start_force, DESCRIBED                   \
    }
#define ACTUATOR(element, api, attributes, builder, text)                                          \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .shared = force_attributes,               \
        .own = (attributes), .build = (builder), .start = start_actuator, DESCRIBED                \
    }

#define MUSCLE(element, api, attributes, text)                                                     \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .shared = force_attributes,               \
        .own = (attributes), .build = tali_model_build_muscle, .start = start_muscle,              \
        .describe_shared = describe_force, .describe = tali_model_describe_muscle                  \
    }

const tali_model_row tali_model_force_rows[] = {
    {.name = "gravity",
     .kind = "gravity",
     .doc = "Uniform gravity.",
     .own = gravity_attributes,
     .build = build_gravity,
     .start = start_gravity,
     .describe = describe_gravity},
    FORCE("two_point_spring", "two-point spring", spring_attributes, build_two_point_spring,
          "A linear spring between two stations."),
    FORCE("two_point_damper", "two-point damper", damper_attributes, build_two_point_damper,
          "A linear damper between two stations."),
    FORCE("two_point_force", "two-point force", two_point_force_attributes, build_two_point_force,
          "A force of constant size between two stations."),
    FORCE("constant_force", "constant force", constant_force_attributes, build_constant_force,
          "A force on a body, constant in Ground."),
    FORCE("constant_torque", "constant torque", constant_torque_attributes, build_constant_torque,
          "A torque on a body, constant in Ground."),
    FORCE("gear_torque", "gear torque", gear_attributes, build_gear,
          "A torque that a gear transmits to a body from its parent."),
    FORCE("mobility_force", "mobility force", mobility_force_attributes, build_mobility_force,
          "A force along a speed."),
    FORCE("mobility_damper", "mobility damper", mobility_damper_attributes, build_mobility_damper,
          "A linear damper on a speed."),
    FORCE("mobility_friction", "mobility friction", friction_attributes, build_friction,
          "Smoothed Coulomb and Stribeck friction on a speed."),
    FORCE("global_damper", "global damper", global_damper_attributes, build_global_damper,
          "A linear damper on every speed."),
    FORCE("mobility_spring", "mobility spring", mobility_spring_attributes, build_mobility_spring,
          "A linear spring on a coordinate."),
    {.name = "mobility_nonlinear_spring",
     .kind = "mobility nonlinear spring",
     .doc = "A spring on a coordinate. The function inside is its potential energy.",
     .shared = force_attributes,
     .own = nonlinear_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .min_children = 1,
     .max_children = 1,
     .build = build_nonlinear,
     .start = start_force,
     DESCRIBED},
    FORCE("mobility_stop", "mobility stop", stop_attributes, build_stop,
          "A stop that pushes a coordinate back into its range."),
    FORCE("mobility_limit", "mobility limit", limit_attributes, build_limit,
          "A smooth limit of a coordinate: stiffness and damping grow from zero beyond it."),
    {.name = "discrete_forces",
     .kind = "discrete forces",
     .doc = "Forces that a program sets in the State; the elements inside give the initial ones.",
     .shared = force_attributes,
     .children = TALI_GROUP_LOADS,
     .max_children = -1,
     .build = tali_model_build_discrete,
     .start = start_force,
     DESCRIBED,
     .write_children = tali_model_write_loads},
    FORCE("bushing", "bushing", bushing_attributes, build_bushing,
          "Six springs and dampers between two frames."),
    ACTUATOR("mobility_actuator", "mobility actuator", mobility_actuator_attributes,
             build_mobility_actuator, "A force along a speed that a control drives."),
    ACTUATOR("point_actuator", "point actuator", point_actuator_attributes, build_point_actuator,
             "A force at a station that a control drives."),
    ACTUATOR("two_point_actuator", "two-point actuator", two_point_actuator_attributes,
             build_two_point_actuator,
             "A force between two stations that a control drives; positive pushes them apart."),
    ACTUATOR("torque_actuator", "torque actuator", torque_actuator_attributes,
             build_torque_actuator, "A torque between two bodies that a control drives."),
    ACTUATOR("body_actuator", "body actuator", body_actuator_attributes, build_body_actuator,
             "A moment and a force on a body that six controls drive."),
    FORCE("path_spring", "path spring", tali_model_path_spring_attributes,
          tali_model_build_path_spring, "A spring that pulls along a path."),
    {.name = "ligament",
     .kind = "ligament",
     .doc = "A ligament along a path. The function inside is its tension over its force, for its "
            "length over its rest length; none: the curve of SIMM and OpenSim.",
     .shared = force_attributes,
     .own = tali_model_ligament_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .max_children = 1,
     .build = tali_model_build_ligament,
     .start = start_force,
     DESCRIBED},
    ACTUATOR("path_actuator", "path actuator", tali_model_path_actuator_attributes,
             tali_model_build_path_actuator, "A tension along a path that a control drives."),
    ACTUATOR("clutched_spring", "clutched spring", tali_model_clutched_spring_attributes,
             tali_model_build_clutched_spring, "A spring along a path, with a clutch."),
    MUSCLE("thelen", "Thelen muscle", tali_model_thelen_attributes,
           "Thelen's muscle of 2003 (talus/forces/muscle.h)."),
    MUSCLE("millard", "Millard muscle", tali_model_millard_attributes,
           "The muscle of Millard and others of 2012, damped or not."),
    MUSCLE("degroote", "DeGroote-Fregly muscle", tali_model_degroote_attributes,
           "The muscle of De Groote and Fregly of 2016, smooth everywhere."),
    {.name = "muscle",
     .kind = "muscle of curves",
     .doc = "A muscle with a rigid tendon and curves of your own. The functions inside are the "
            "active curve, the velocity curve and the passive curve.",
     .shared = force_attributes,
     .own = tali_model_muscle_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .min_children = 3,
     .max_children = 3,
     .build = tali_model_build_muscle,
     .start = start_muscle,
     .describe_shared = describe_force,
     .describe = tali_model_describe_muscle},
    {.name = "prescribed_force",
     .kind = "prescribed force",
     .doc = "A force and a torque on a body. The elements inside are functions of time; what is "
            "not given is zero.",
     .shared = force_attributes,
     .own = tali_model_prescribed_force_attributes,
     .children = TALI_GROUP_COMPONENTS,
     .max_children = -1,
     .build = tali_model_build_prescribed_force,
     .start = start_force,
     .describe_shared = describe_force,
     .describe = tali_model_describe_prescribed_force,
     .write_children = tali_model_write_components},
    {.name = "external_load",
     .doc = "A force and a torque from a table, such as that of a force plate: natural cubic "
            "splines through its rows. It is written as a `<prescribed_force>`.",
     .shared = force_attributes,
     .own = tali_model_external_load_attributes,
     .check = tali_model_check_external_load,
     .build = tali_model_build_external_load,
     .start = start_force},
    FORCE("thermostat", "thermostat", tali_model_thermostat_attributes, tali_model_build_thermostat,
          "A Nose-Hoover chain."),
    {.name = "langevin",
     .kind = "langevin",
     .doc = "A Langevin bath: friction and noise on every speed.",
     .shared = force_attributes,
     .own = tali_model_langevin_attributes,
     .check = tali_model_check_langevin,
     .build = tali_model_build_langevin,
     .start = start_force,
     .describe_shared = describe_force,
     .describe = tali_model_describe_langevin},
    FORCE("smooth_contact", "smooth contact", tali_model_smooth_contact_attributes,
          tali_model_build_smooth_contact, "A sphere on a half-space, smooth everywhere."),
    {.name = "exponential_spring",
     .kind = "exponential spring",
     .doc =
         "A station above a plane: a force that grows exponentially pushes it away, and friction holds it.",
     .shared = force_attributes,
     .own = tali_model_exponential_spring_attributes,
     .check = tali_model_check_exponential_spring,
     .build = tali_model_build_exponential_spring,
     .start = start_exponential_spring,
     .describe_shared = describe_force,
     .describe = tali_model_describe_exponential_spring},
    {.name = "contact",
     .kind = "contact",
     .doc = "Compliant contact between the surfaces inside.",
     .shared = force_attributes,
     .own = tali_model_contact_attributes,
     .children = TALI_GROUP_SURFACES,
     .max_children = -1,
     .check = tali_model_check_contact,
     .build = tali_model_build_contact,
     .start = start_force,
     .describe_shared = describe_force,
     .describe = tali_model_describe_contact,
     .write_children = tali_model_write_surfaces},
    {.name = NULL}};
