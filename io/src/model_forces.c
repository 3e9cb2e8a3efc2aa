// The table: force elements.
#include "force_facts_internal.h"
#include "model_internal.h"

// refs: enabled. What an element acts on comes next, then numbers in the order of the API's parameters.
static const tali_attribute force_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the element"},
    {"enabled", TALI_TYPE_BOOL, .initial = "yes", .doc = "from the beginning"},
    {"track_dissipation", TALI_TYPE_BOOL, .initial = "no",
     .doc = "the energy that it dissipates is summed up, as a z"},
    {"z", TALI_TYPE_REALS, .initial = "",
     .doc = "its auxiliary variables in the beginning, all of them; zeros"},
    {.name = NULL}};

enum {
    ENABLED = TALI_FORCE_ENABLED,
    TARGET = TALI_FORCE_REFS, // first ref of what it acts on
    TARGET_2,
    TARGET_3
};

// The z of an element, as far as the file gives them.
static void start_z(tali_model *m, const tali_item *item)
{
    const tal_force_ix force = {item->built};
    const int num = tali_force_z(m->forces, m->state, force, 0, NULL);
    const tali_list *z = &item->lists[0];
    if (z->count == 0) return;
    if (z->count != num) {
        tali_item_error(m, item, "z", ": 'z' has %d numbers; %d are needed", z->count, num);
        return;
    }
    int slot = -1;
    for (int i = 0; i < num; ++i) {
        (void)tali_force_z(m->forces, m->state, force, i, &slot);
        tal_state_upd_z(m->state)[slot] = z->values[i];
    }
}

static void start_force(tali_model *m, tali_item *item)
{
    const tal_force_ix force = {item->built};
    start_z(m, item);
    if (!item->ref[ENABLED]) (void)tal_force_set_enabled(m->forces, m->state, force, false);
}

static void start_gravity_enabled(tali_model *m, const tali_item *item)
{
    const tal_force_ix force = {item->built};
    if (!item->ref[ENABLED]) (void)tal_force_set_enabled(m->forces, m->state, force, false);
}

// ---- gravity

static const tali_attribute gravity_attributes[] = {
    {"enabled", TALI_TYPE_BOOL, .initial = "yes", .doc = "from the beginning"},
    {"g", TALI_TYPE_REAL, 3, .doc = "acceleration of free fall, in Ground [m/s^2]"},
    {"zero_height", TALI_TYPE_REAL, 1, "0", .doc = "of the potential energy, against g [m]"},
    {.name = NULL}};

static void build_gravity(tali_model *m, tali_item *item)
{
    item->built = tal_forces_add_gravity(m->forces, tali_vec3_at(item->p)).i;
}

static void start_gravity(tali_model *m, tali_item *item)
{
    const tal_force_ix force = {item->built};
    start_gravity_enabled(m, item);
    if (item->p[3] == 0.0) return;
    (void)tal_gravity_set_zero_height(m->forces, m->state, force, item->p[3]);
}

// ---- between two points

#define TWO_POINTS                                                                                 \
    {"body1", TALI_TYPE_BODY, .initial = "ground", .doc = "body 1"},                               \
        {"body2", TALI_TYPE_BODY, .initial = "ground", .doc = "body 2"},                           \
        {"station1", TALI_TYPE_REAL, 3, "0", .doc = "on body 1 [m]"},                              \
    {                                                                                              \
        "station2", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"                                 \
    }

static tal_two_points points_of(const tali_model *m, const tali_item *item)
{
    return (tal_two_points){tali_body_at(m, item->ref[TARGET]), tali_vec3_at(item->p),
                            tali_body_at(m, item->ref[TARGET_2]), tali_vec3_at(item->p + 3)};
}

static const tali_attribute spring_attributes[] = {
    TWO_POINTS,
    {"stiffness", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[N/m]"},
    {"rest_length", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "[m]"},
    {.name = NULL}};

static void build_two_point_spring(tali_model *m, tali_item *item)
{
    const tal_two_points points = points_of(m, item);
    item->built =
        tal_forces_add_two_point_spring(m->forces, item->name, &points, item->p[6], item->p[7]).i;
}

static const tali_attribute damper_attributes[] = {
    TWO_POINTS,
    {"damping", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[N s/m]"},
    {.name = NULL}};

static void build_two_point_damper(tali_model *m, tali_item *item)
{
    const tal_two_points points = points_of(m, item);
    item->built = tal_forces_add_two_point_damper(m->forces, item->name, &points, item->p[6]).i;
}

static const tali_attribute two_point_force_attributes[] = {
    TWO_POINTS,
    {"force", TALI_TYPE_REAL, 1, .doc = "positive drives the stations apart [N]"},
    {.name = NULL}};

static void build_two_point_force(tali_model *m, tali_item *item)
{
    const tal_two_points points = points_of(m, item);
    item->built = tal_forces_add_two_point_force(m->forces, item->name, &points, item->p[6]).i;
}

// ---- on one body

static const tali_attribute constant_force_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what it acts on"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on the body [m]"},
    {"force", TALI_TYPE_REAL, 3, .doc = "in Ground [N]"},
    {.name = NULL}};

static void build_constant_force(tali_model *m, tali_item *item)
{
    item->built =
        tal_forces_add_constant_force(m->forces, item->name, tali_body_at(m, item->ref[TARGET]),
                                      tali_vec3_at(item->p), tali_vec3_at(item->p + 3))
            .i;
}

static const tali_attribute constant_torque_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what it acts on"},
    {"torque", TALI_TYPE_REAL, 3, .doc = "in Ground [N m]"},
    {.name = NULL}};

static void build_constant_torque(tali_model *m, tali_item *item)
{
    item->built =
        tal_forces_add_constant_torque(m->forces, item->name, tali_body_at(m, item->ref[TARGET]),
                                       tali_vec3_at(item->p))
            .i;
}

static const tali_attribute gear_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what is driven by its parent"},
    {"torque", TALI_TYPE_REAL, 1, .doc = "[N m]"},
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "of the gear [m]"},
    {"angle", TALI_TYPE_REAL, 1, "0", TALI_IS_ANGLE, .doc = "of the tooth in F"},
    {.name = NULL}};

static void build_gear(tali_model *m, tali_item *item)
{
    item->built =
        tal_forces_add_gear_torque(m->forces, item->name, tali_body_at(m, item->ref[TARGET]),
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

static tal_mobility mobility_of(const tali_model *m, const tali_item *item)
{
    return tali_mobility_at(m, item->ref[TARGET], item->ref[TARGET + 1]);
}

static const tali_attribute mobility_force_attributes[] = {
    MOBILITY, {"force", TALI_TYPE_REAL, 1, .doc = "[N or N m]"}, {.name = NULL}};

static void build_mobility_force(tali_model *m, tali_item *item)
{
    item->built =
        tal_forces_add_mobility_force(m->forces, item->name, mobility_of(m, item), item->p[0]).i;
}

static const tali_attribute mobility_damper_attributes[] = {
    MOBILITY,
    {"damping", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "force per speed"},
    {.name = NULL}};

static void build_mobility_damper(tali_model *m, tali_item *item)
{
    item->built =
        tal_forces_add_mobility_damper(m->forces, item->name, mobility_of(m, item), item->p[0]).i;
}

static const tali_attribute global_damper_attributes[] = {
    {"damping", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "force per speed"},
    {.name = NULL}};

static void build_global_damper(tali_model *m, tali_item *item)
{
    item->built = tal_forces_add_global_damper(m->forces, item->name, item->p[0]).i;
}

static const tali_attribute friction_attributes[] = {
    MOBILITY,
    {"static", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "largest force at small speed"},
    {"dynamic", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "force at larger speed"},
    {"viscous", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "force per speed"},
    {"speed", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "of the largest force"},
    {.name = NULL}};

static void build_friction(tali_model *m, tali_item *item)
{
    const tal_friction friction = {item->p[0], item->p[1], item->p[2], item->p[3]};
    item->built =
        tal_forces_add_mobility_friction(m->forces, item->name, mobility_of(m, item), &friction).i;
}

static const tali_attribute mobility_spring_attributes[] = {
    COORDINATE,
    {"stiffness", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "[N m/rad or N/m], whatever the units of the file are"},
    {"rest", TALI_TYPE_REAL, 1, "0", TALI_OF_MOBILITY, .doc = "the coordinate without force"},
    {.name = NULL}};

static void build_mobility_spring(tali_model *m, tali_item *item)
{
    item->built = tal_forces_add_mobility_spring(m->forces, item->name, mobility_of(m, item),
                                                 item->p[0], item->p[1])
                      .i;
}

static const tali_attribute nonlinear_attributes[] = {COORDINATE, {.name = NULL}};

static void build_nonlinear(tali_model *m, tali_item *item)
{
    tal_function *energy = tali_take_function(m, item, 0);
    item->built = tal_forces_add_mobility_nonlinear_spring(m->forces, item->name,
                                                           mobility_of(m, item), energy)
                      .i;
}

static const tali_attribute stop_attributes[] = {
    COORDINATE,
    {"stiffness", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "[N m/rad or N/m], whatever the units of the file are"},
    {"dissipation", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "[s/rad or s/m]"},
    {"range", TALI_TYPE_REAL, 2, .flags = TALI_OF_MOBILITY | TALI_MAYBE_INFINITE,
     .doc = "low and high; either may be infinite"},
    {.name = NULL}};

static void build_stop(tali_model *m, tali_item *item)
{
    const tal_stop stop = {item->p[0], item->p[1], item->p[2], item->p[3]};
    item->built =
        tal_forces_add_mobility_stop(m->forces, item->name, mobility_of(m, item), &stop).i;
}

// ---- discrete forces

static void build_discrete(tali_model *m, tali_item *item)
{
    item->built = tal_forces_add_discrete(m->forces, item->name).i;
}

static const tali_attribute load_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what it acts on"},
    {"moment", TALI_TYPE_REAL, 3, "0", .doc = "about the body's origin, in Ground [N m]"},
    {"force", TALI_TYPE_REAL, 3, "0", .doc = "in Ground [N]"},
    {.name = NULL}};

static void start_load(tali_model *m, tali_item *item)
{
    const tal_force_ix force = {m->items[item->parent].built};
    const tal_spatial_vec F = {tali_vec3_at(item->p), tali_vec3_at(item->p + 3)};
    (void)tal_discrete_set_body_force(m->forces, m->state, force, tali_body_at(m, item->ref[0]), F);
}

static const tali_attribute mobility_load_attributes[] = {
    MOBILITY, {"force", TALI_TYPE_REAL, 1, .doc = "[N or N m]"}, {.name = NULL}};

static void start_mobility_load(tali_model *m, tali_item *item)
{
    const tal_force_ix force = {m->items[item->parent].built};
    const tal_mobility at = tali_mobility_at(m, item->ref[0], item->ref[1]);
    (void)tal_discrete_set_mobility_force(m->forces, m->state, force, at, item->p[0]);
}

const tali_row tali_load_rows[] = {
    {.name = "load", .doc = "A force on a body.", .own = load_attributes, .start = start_load},
    {.name = "mobility_load",
     .doc = "A force along a speed.",
     .own = mobility_load_attributes,
     .start = start_mobility_load},
    {.name = NULL}};

// ---- bushing

static const tali_attribute bushing_attributes[] = {
    {"body1", TALI_TYPE_BODY, .initial = "ground", .doc = "body 1"},
    {"body2", TALI_TYPE_BODY, .initial = "ground", .doc = "body 2"},
    {"frame1", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "F on body 1"},
    {"frame2", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "M on body 2"},
    {"stiffness", TALI_TYPE_REAL, 6, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "about x, y, z [N m/rad], then along them [N/m]"},
    {"damping", TALI_TYPE_REAL, 6, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "about x, y, z [N m s/rad], then along them [N s/m]"},
    {.name = NULL}};

static void build_bushing(tali_model *m, tali_item *item)
{
    tal_bushing_def def = tal_bushing_def_default();
    def.body1 = tali_body_at(m, item->ref[TARGET]);
    def.body2 = tali_body_at(m, item->ref[TARGET_2]);
    def.X_B1F = tali_frame_at(item->p);
    def.X_B2M = tali_frame_at(item->p + 12);
    for (int i = 0; i < 6; ++i) {
        def.stiffness[i] = item->p[24 + i];
        def.damping[i] = item->p[30 + i];
    }
    item->built = tal_forces_add_bushing(m->forces, item->name, &def).i;
}

// ---- actuators

#define DRIVE                                                                                      \
    {"gain", TALI_TYPE_REAL, 1, .doc = "output per control [N or N m]"},                           \
    {                                                                                              \
        "control", TALI_TYPE_REAL, 1, "0", .doc = "where no measure drives it"                     \
    }
#define DRIVER                                                                                     \
    {                                                                                              \
        "measure", TALI_TYPE_MEASURE, .initial = "", .doc = "the control, one number"              \
    }

static const tali_attribute mobility_actuator_attributes[] = {
    MOBILITY, DRIVER, DRIVE, {.name = NULL}};

static void build_mobility_actuator(tali_model *m, tali_item *item)
{
    item->built =
        tal_forces_add_mobility_actuator(m->forces, item->name, mobility_of(m, item), item->p[0],
                                         tali_measure_at(m, item->ref[TARGET_3]))
            .i;
}

static void set_control(tali_model *m, tali_item *item, int param, double control)
{
    const tal_force_ix force = {item->built};
    start_force(m, item);
    if (control == 0.0) return;
    (void)tal_force_set_param(m->forces, m->state, force, param, control);
}

static void start_mobility_actuator(tali_model *m, tali_item *item)
{
    set_control(m, item, TAL_ACTUATOR_CONTROL, item->p[1]);
}

static const tali_attribute point_actuator_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what it pushes"},
    {"in_body", TALI_TYPE_BOOL, .initial = "no",
     .doc = "the direction is given in the body and turns with it"},
    DRIVER,
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on the body [m]"},
    {"direction", TALI_TYPE_REAL, 3, .doc = "of any length but zero"},
    DRIVE,
    {.name = NULL}};

static void build_point_actuator(tali_model *m, tali_item *item)
{
    const tal_push push = {tali_body_at(m, item->ref[TARGET]), tali_vec3_at(item->p),
                           tali_vec3_at(item->p + 3), item->ref[TARGET_2] != 0};
    item->built = tal_forces_add_point_actuator(m->forces, item->name, &push, item->p[6],
                                                tali_measure_at(m, item->ref[TARGET_3]))
                      .i;
}

static void start_point_actuator(tali_model *m, tali_item *item)
{
    set_control(m, item, TAL_POINT_ACTUATOR_CONTROL, item->p[7]);
}

static const tali_attribute torque_actuator_attributes[] = {
    {"body1", TALI_TYPE_BODY, .initial = "ground", .doc = "feels the opposite torque"},
    {"body2", TALI_TYPE_BODY, .doc = "feels the torque"},
    DRIVER,
    {"axis", TALI_TYPE_REAL, 3, .doc = "in body 1, of any length but zero"},
    DRIVE,
    {.name = NULL}};

static void build_torque_actuator(tali_model *m, tali_item *item)
{
    const tal_twist twist = {tali_body_at(m, item->ref[TARGET]),
                             tali_body_at(m, item->ref[TARGET_2]), tali_vec3_at(item->p)};
    item->built = tal_forces_add_torque_actuator(m->forces, item->name, &twist, item->p[3],
                                                 tali_measure_at(m, item->ref[TARGET_3]))
                      .i;
}

static void start_torque_actuator(tali_model *m, tali_item *item)
{
    set_control(m, item, TAL_TORQUE_ACTUATOR_CONTROL, item->p[4]);
}

static const tali_attribute body_actuator_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "what it acts on"},
    {"in_body", TALI_TYPE_BOOL, .initial = "no",
     .doc = "moment and force are given in the body and turn with it"},
    {"measure", TALI_TYPE_MEASURE, .initial = "", .doc = "the controls, six numbers"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on the body [m]"},
    {"gain", TALI_TYPE_REAL, 1, .doc = "output per control [N m and N]"},
    {"controls", TALI_TYPE_REAL, 6, "0", .doc = "of moment and force, where no measure drives it"},
    {.name = NULL}};

static void build_body_actuator(tali_model *m, tali_item *item)
{
    const tal_thrust thrust = {tali_body_at(m, item->ref[TARGET]), tali_vec3_at(item->p),
                               item->ref[TARGET_2] != 0};
    item->built = tal_forces_add_body_actuator(m->forces, item->name, &thrust, item->p[3],
                                               tali_measure_at(m, item->ref[TARGET_3]))
                      .i;
}

static void start_body_actuator(tali_model *m, tali_item *item)
{
    const tal_force_ix force = {item->built};
    start_force(m, item);
    (void)tal_force_set_params(m->forces, m->state, force, TAL_BODY_ACTUATOR_CONTROL, item->p + 4,
                               6);
}

// ---- the rows

static void start_exponential_spring(tali_model *m, tali_item *item)
{
    start_force(m, item);
    tali_start_exponential_spring(m, item);
}

#define FORCE(element, api, attributes, builder, text)                                             \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .shared = force_attributes,               \
        .own = (attributes), .build = (builder), .start = start_force                              \
    }
#define ACTUATOR(element, api, attributes, builder, starter, text)                                 \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .shared = force_attributes,               \
        .own = (attributes), .build = (builder), .start = (starter)                                \
    }

const tali_row tali_force_rows[] = {
    {.name = "gravity",
     .kind = "gravity",
     .doc = "Uniform gravity.",
     .own = gravity_attributes,
     .build = build_gravity,
     .start = start_gravity},
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
     .doc = "A spring on a coordinate whose potential energy is the function in it.",
     .shared = force_attributes,
     .own = nonlinear_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .min_children = 1,
     .max_children = 1,
     .build = build_nonlinear,
     .start = start_force},
    FORCE("mobility_stop", "mobility stop", stop_attributes, build_stop,
          "A stop that pushes a coordinate back into its range."),
    {.name = "discrete_forces",
     .kind = "discrete forces",
     .doc = "Forces that somebody sets in the State; those in it to begin with.",
     .shared = force_attributes,
     .children = TALI_GROUP_LOADS,
     .max_children = -1,
     .build = build_discrete,
     .start = start_force},
    FORCE("bushing", "bushing", bushing_attributes, build_bushing,
          "Six springs and dampers between two frames."),
    ACTUATOR("mobility_actuator", "mobility actuator", mobility_actuator_attributes,
             build_mobility_actuator, start_mobility_actuator,
             "A force along a speed that a control drives."),
    ACTUATOR("point_actuator", "point actuator", point_actuator_attributes, build_point_actuator,
             start_point_actuator, "A force at a station that a control drives."),
    ACTUATOR("torque_actuator", "torque actuator", torque_actuator_attributes,
             build_torque_actuator, start_torque_actuator,
             "A torque between two bodies that a control drives."),
    ACTUATOR("body_actuator", "body actuator", body_actuator_attributes, build_body_actuator,
             start_body_actuator, "A moment and a force on a body that six controls drive."),
    FORCE("thermostat", "thermostat", tali_thermostat_attributes, tali_build_thermostat,
          "A Nose-Hoover chain."),
    {.name = "langevin",
     .kind = "langevin",
     .doc = "A Langevin bath: friction and noise on every speed.",
     .shared = force_attributes,
     .own = tali_langevin_attributes,
     .check = tali_check_langevin,
     .build = tali_build_langevin,
     .start = start_force},
    FORCE("smooth_contact", "smooth contact", tali_smooth_contact_attributes,
          tali_build_smooth_contact, "A sphere on a half-space, smooth everywhere."),
    {.name = "exponential_spring",
     .kind = "exponential spring",
     .doc = "A station over a plane, held by springs.",
     .shared = force_attributes,
     .own = tali_exponential_spring_attributes,
     .check = tali_check_exponential_spring,
     .build = tali_build_exponential_spring,
     .start = start_exponential_spring},
    {.name = "contact",
     .kind = "contact",
     .doc = "Compliant contact between the surfaces in it.",
     .shared = force_attributes,
     .own = tali_contact_attributes,
     .children = TALI_GROUP_SURFACES,
     .max_children = -1,
     .check = tali_check_contact,
     .build = tali_build_contact,
     .start = start_force},
    {.name = NULL}};
