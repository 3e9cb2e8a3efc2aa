// The table: constraints and motions.
#include "matter_facts_internal.h"

#include "model/model_write_internal.h"

#include <stdio.h>
#include <string.h>

// refs: enabled; numbers: share. The bodies come next, then numbers in the order of the API's
// parameters.
static const tali_model_attribute constraint_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the constraint"},
    {"enabled", TALI_TYPE_BOOL, .initial = "yes", .doc = "whether it is enabled at the start"},
    {"share", TALI_TYPE_REAL, 1, "1", TALI_POSITIVE_NUMBER,
     .doc = "its share of a load that other constraints could carry as well"},
    {.name = NULL}};

enum {
    ENABLED,
    BODY_1,
    BODY_2,
    BODY_3,
    FLAG_3 = BODY_3, // a flag behind two bodies
    SHARE = 0,
    NUMBERS = 1
};

tal_constraint_def tali_model_constraint_def_of(const tali_model_item *item)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.name = item->name;
    def.disabled = !item->ref[ENABLED];
    return def;
}

static tal_constraint_def def_of(const tali_model *m, const tali_model_item *item, int num_bodies)
{
    tal_constraint_def def = tali_model_constraint_def_of(item);
    for (int i = 0; i < num_bodies; ++i) {
        def.bodies[i] = tali_model_body_at(m, item->ref[BODY_1 + i]);
    }
    return def;
}

static void start_constraint(tali_model *m, tali_model_item *item)
{
    if (item->p[SHARE] == 1.0) return;
    const tal_constraint_ix constraint = {item->built};
    (void)tal_constraint_set_share(m->matter, m->state, constraint, item->p[SHARE]);
}

// What all have.
static void describe_constraint(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_constraint_ix constraint = {d->index};
    tali_model_say_index(d, tal_constraint_is_enabled(model->matter, model->state, constraint));
    tali_model_say_number(d, tal_constraint_share(model->matter, model->state, constraint));
}

static bool is_rolling(const char *kind)
{
    return strncmp(kind, "rolling ", 8) == 0;
}

// The parameters, which rows have in the API's order, and what it acts on.
static void describe_built_in(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_constraint_ix constraint = {d->index};
    const tali_matter_constraint_facts facts =
        tali_matter_constraint_facts_of(model->matter, constraint);
    int num_params;
    const double *params =
        tal_constraint_params(model->matter, model->state, constraint, &num_params);
    tali_model_say_numbers(d, params, num_params);
    tali_model_targets targets = {.integer = facts.num_speeds, .flags = {is_rolling(facts.kind)}};
    for (int i = 0; i < facts.ops->num_bodies; ++i) {
        targets.bodies[i] = facts.bodies[i];
    }
    d->num_mobilities = facts.num_mobilities;
    for (int i = 0; i < facts.num_mobilities; ++i) {
        const int body = facts.mobility_bodies[i], index = facts.mobility_index[i];
        d->mobilities[i] = (tali_model_mobility_ref){body, index};
        if (i == 0) targets.mobility = (tal_mobility){{body}, index};
    }
    tali_model_say_targets(d, &targets);
    tali_model_say_function(d, facts.function);
}

// "rolling sphere on plane" is "sphere on plane contact" with a flag.
static const tali_model_row *row_of_kind(const char *kind)
{
    char plain[64];
    if (!is_rolling(kind)) return tali_model_row_of_kind(TALI_GROUP_CONSTRAINTS, kind);
    (void)snprintf(plain, sizeof plain, "%s contact", kind + 8);
    return tali_model_row_of_kind(TALI_GROUP_CONSTRAINTS, plain);
}

bool tali_model_find_constraint(tali_model_description *d, tali_model_own_row *own)
{
    const tal_matter *matter = d->w->model.matter;
    const tal_constraint_ix constraint = {d->index};
    if (constraint.i >= tal_matter_num_constraints(matter)) return false;
    const tali_matter_constraint_facts facts = tali_matter_constraint_facts_of(matter, constraint);
    d->name = tal_constraint_name(matter, constraint);
    if (tal_constraint_unilateral(matter, constraint).i >= 0) return true; // in <unilaterals>
    d->row = facts.kind != NULL ? row_of_kind(facts.kind)
                                : tali_model_registered(d->w, TAL_MODEL_CONSTRAINT, facts.ops, own);
    if (d->row == NULL) tali_model_refuse_table(d, "constraint", facts.ops->name);
    return true;
}

#define BODIES_1_2                                                                                 \
    {"body1", TALI_TYPE_BODY, .initial = "ground", .doc = "body 1"},                               \
    {                                                                                              \
        "body2", TALI_TYPE_BODY, .initial = "ground", .doc = "body 2"                              \
    }

// ---- points

static const tali_model_attribute rod_attributes[] = {
    BODIES_1_2,
    {"station1", TALI_TYPE_REAL, 3, "0", .doc = "on body 1 [m]"},
    {"station2", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"},
    {"length", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {.name = NULL}};

static void build_rod(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_of(m, item, 2);
    const double *p = item->p + NUMBERS;
    item->built = tal_constraint_add_rod(m->matter, &def, tali_model_vec3_at(p),
                                         tali_model_vec3_at(p + 3), p[6])
                      .i;
}

static const tali_model_attribute ball_attributes[] = {
    BODIES_1_2,
    {"station1", TALI_TYPE_REAL, 3, "0", .doc = "on body 1 [m]"},
    {"station2", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"},
    {.name = NULL}};

static void build_ball(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_of(m, item, 2);
    const double *p = item->p + NUMBERS;
    item->built =
        tal_constraint_add_ball(m->matter, &def, tali_model_vec3_at(p), tali_model_vec3_at(p + 3))
            .i;
}

static const tali_model_attribute point_in_plane_attributes[] = {
    BODIES_1_2,
    {"normal", TALI_TYPE_REAL, 3, .doc = "of the plane, on body 1"},
    {"height", TALI_TYPE_REAL, 1, "0", .doc = "of the plane above the origin of body 1 [m]"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"},
    {.name = NULL}};

static void build_point_in_plane(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_of(m, item, 2);
    const double *p = item->p + NUMBERS;
    item->built = tal_constraint_add_point_in_plane(m->matter, &def, tali_model_vec3_at(p), p[3],
                                                    tali_model_vec3_at(p + 4))
                      .i;
}

static const tali_model_attribute point_on_line_attributes[] = {
    BODIES_1_2,
    {"direction", TALI_TYPE_REAL, 3, .doc = "of the line, on body 1"},
    {"point", TALI_TYPE_REAL, 3, "0", .doc = "of the line, on body 1 [m]"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"},
    {.name = NULL}};

static void build_point_on_line(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_of(m, item, 2);
    const double *p = item->p + NUMBERS;
    item->built =
        tal_constraint_add_point_on_line(m->matter, &def, tali_model_vec3_at(p),
                                         tali_model_vec3_at(p + 3), tali_model_vec3_at(p + 6))
            .i;
}

// ---- orientations and frames

static const tali_model_attribute constant_angle_attributes[] = {
    BODIES_1_2,
    {"axis1", TALI_TYPE_REAL, 3, .doc = "on body 1"},
    {"axis2", TALI_TYPE_REAL, 3, .doc = "on body 2"},
    {"angle", TALI_TYPE_REAL, 1, .flags = TALI_IS_ANGLE, .doc = "between 0 and pi"},
    {.name = NULL}};

static void build_constant_angle(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_of(m, item, 2);
    const double *p = item->p + NUMBERS;
    item->built = tal_constraint_add_constant_angle(m->matter, &def, tali_model_vec3_at(p),
                                                    tali_model_vec3_at(p + 3), p[6])
                      .i;
}

static const tali_model_attribute constant_orientation_attributes[] = {
    BODIES_1_2,
    {"rotation1", TALI_TYPE_ROTATION, .initial = "0 0 0", .doc = "of the frame on body 1"},
    {"rotation2", TALI_TYPE_ROTATION, .initial = "0 0 0", .doc = "of the frame on body 2"},
    {.name = NULL}};

static void build_constant_orientation(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_of(m, item, 2);
    const tal_mat3 R_1 = tali_model_rotation_at(item->p + NUMBERS);
    const tal_mat3 R_2 = tali_model_rotation_at(item->p + NUMBERS + 9);
    item->built = tal_constraint_add_constant_orientation(m->matter, &def, &R_1, &R_2).i;
}

static const tali_model_attribute two_frames_attributes[] = {
    BODIES_1_2,
    {"frame1", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "on body 1"},
    {"frame2", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "on body 2"},
    {.name = NULL}};

typedef tal_constraint_ix (*two_frames_fn)(tal_matter *matter, const tal_constraint_def *def,
                                           const tal_xform *X_1, const tal_xform *X_2);

static void build_two_frames(tali_model *m, tali_model_item *item, two_frames_fn add)
{
    const tal_constraint_def def = def_of(m, item, 2);
    const tal_xform X_1 = tali_model_frame_at(item->p + NUMBERS);
    const tal_xform X_2 = tali_model_frame_at(item->p + NUMBERS + 12);
    item->built = add(m->matter, &def, &X_1, &X_2).i;
}

#define BUILD_TWO_FRAMES(kind)                                                                     \
    static void build_##kind(tali_model *m, tali_model_item *item)                                 \
    {                                                                                              \
        build_two_frames(m, item, tal_constraint_add_##kind);                                      \
    }

BUILD_TWO_FRAMES(weld)
BUILD_TWO_FRAMES(loop_pin)
BUILD_TWO_FRAMES(loop_slider)
BUILD_TWO_FRAMES(loop_cylinder)
BUILD_TWO_FRAMES(loop_universal)
BUILD_TWO_FRAMES(loop_planar)

static const tali_model_attribute loop_screw_attributes[] = {
    BODIES_1_2,
    {"frame1", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "on body 1"},
    {"frame2", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "on body 2"},
    {"pitch", TALI_TYPE_REAL, 1, .doc = "translation along z per radian [m/rad]"},
    {.name = NULL}};

static void build_loop_screw(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_of(m, item, 2);
    const tal_xform X_1 = tali_model_frame_at(item->p + NUMBERS);
    const tal_xform X_2 = tali_model_frame_at(item->p + NUMBERS + 12);
    item->built =
        tal_constraint_add_loop_screw(m->matter, &def, &X_1, &X_2, item->p[NUMBERS + 24]).i;
}

// ---- mobilities

static const tali_model_attribute constant_attributes[] = {
    {"mobility", TALI_TYPE_MOBILITY, .doc = "what it acts on"},
    {"value", TALI_TYPE_REAL, 1, .flags = TALI_OF_MOBILITY, .doc = "its constant value"},
    {.name = NULL}};

static tal_constraint_def def_on(const tali_model *m, const tali_model_item *item)
{
    tal_constraint_def def = def_of(m, item, 0);
    def.mobilities[0] = tali_model_mobility_at(m, item->ref[1], item->ref[2]);
    def.num_mobilities = 1;
    return def;
}

#define BUILD_CONSTANT(kind)                                                                       \
    static void build_##kind(tali_model *m, tali_model_item *item)                                 \
    {                                                                                              \
        const tal_constraint_def def = def_on(m, item);                                            \
        item->built = tal_constraint_add_##kind(m->matter, &def, item->p[NUMBERS]).i;              \
    }

BUILD_CONSTANT(constant_coordinate)
BUILD_CONSTANT(constant_speed)
BUILD_CONSTANT(constant_acceleration)

static const tali_model_attribute coordinate_coupler_attributes[] = {
    {"mobilities", TALI_TYPE_MOBILITIES, .doc = "arguments of the function"}, {.name = NULL}};

static const tali_model_attribute speed_coupler_attributes[] = {
    {"mobilities", TALI_TYPE_MOBILITIES,
     .doc = "arguments of the function: speeds of the first ones, coordinates of the rest"},
    {"speeds", TALI_TYPE_INTEGER, .doc = "number of mobilities that are speeds"},
    {.name = NULL}};

static tal_constraint_def def_coupler(const tali_model *m, const tali_model_item *item)
{
    tal_constraint_def def = def_of(m, item, 0);
    def.num_mobilities = item->num_mobilities;
    for (int i = 0; i < item->num_mobilities; ++i) {
        def.mobilities[i] =
            tali_model_mobility_at(m, item->mobilities[i].body, item->mobilities[i].index);
    }
    return def;
}

static void build_coordinate_coupler(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_coupler(m, item);
    tal_function *f = tali_model_take_function(m, item, 0);
    item->built = tal_constraint_add_coordinate_coupler(m->matter, &def, f).i;
}

static void build_speed_coupler(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_coupler(m, item);
    tal_function *f = tali_model_take_function(m, item, 0);
    item->built = tal_constraint_add_speed_coupler(m->matter, &def, item->ref[1], f).i;
}

static const tali_model_attribute prescribed_motion_attributes[] = {
    {"mobility", TALI_TYPE_MOBILITY, .doc = "what it acts on"}, {.name = NULL}};

static void build_prescribed_motion(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_on(m, item);
    tal_function *f = tali_model_take_function(m, item, 0);
    item->built = tal_constraint_add_prescribed_motion(m->matter, &def, f).i;
}

// ---- contact, rolling, gears

static const tali_model_attribute no_slip_attributes[] = {
    {"case", TALI_TYPE_BODY, .initial = "ground",
     .doc = "the body that point and direction are on"},
    {"body1", TALI_TYPE_BODY, .doc = "first moving body"},
    {"body2", TALI_TYPE_BODY, .doc = "second moving body"},
    {"point", TALI_TYPE_REAL, 3, "0", .doc = "on the case [m]"},
    {"direction", TALI_TYPE_REAL, 3, .doc = "on the case"},
    {.name = NULL}};

static void build_no_slip(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_of(m, item, 3);
    const double *p = item->p + NUMBERS;
    item->built = tal_constraint_add_no_slip_1d(m->matter, &def, tali_model_vec3_at(p),
                                                tali_model_vec3_at(p + 3))
                      .i;
}

static const tali_model_attribute point_on_plane_attributes[] = {
    BODIES_1_2,
    {"plane", TALI_TYPE_FRAME, .initial = "0 0 0",
     .doc = "frame on body 1; the plane is its x and y"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"},
    {.name = NULL}};

static void build_point_on_plane(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_of(m, item, 2);
    const tal_xform plane = tali_model_frame_at(item->p + NUMBERS);
    item->built = tal_constraint_add_point_on_plane_contact(
                      m->matter, &def, &plane, tali_model_vec3_at(item->p + NUMBERS + 12))
                      .i;
}

#define ROLLING                                                                                    \
    {                                                                                              \
        "rolling", TALI_TYPE_BOOL, .initial = "no", .doc = "without slip"                          \
    }

static const tali_model_attribute sphere_on_plane_attributes[] = {
    BODIES_1_2,
    ROLLING,
    {"plane", TALI_TYPE_FRAME, .initial = "0 0 0",
     .doc = "frame on body 1; the plane is its x and y"},
    {"center", TALI_TYPE_REAL, 3, "0", .doc = "of the sphere, on body 2 [m]"},
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {.name = NULL}};

static void build_sphere_on_plane(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_of(m, item, 2);
    const double *p = item->p + NUMBERS;
    const tal_xform plane = tali_model_frame_at(p);
    item->built = tal_constraint_add_sphere_on_plane_contact(m->matter, &def, &plane,
                                                             tali_model_vec3_at(p + 12), p[15],
                                                             item->ref[FLAG_3] != 0)
                      .i;
}

static const tali_model_attribute disk_on_plane_attributes[] = {
    BODIES_1_2,
    ROLLING,
    {"plane", TALI_TYPE_FRAME, .initial = "0 0 0",
     .doc = "frame on body 1; the plane is its x and y"},
    {"center", TALI_TYPE_REAL, 3, "0", .doc = "of the disk, on body 2 [m]"},
    {"axis", TALI_TYPE_REAL, 3, "0 0 1", .doc = "across the disk, on body 2"},
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {.name = NULL}};

static void build_disk_on_plane(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_of(m, item, 2);
    const double *p = item->p + NUMBERS;
    const tal_xform plane = tali_model_frame_at(p);
    item->built = tal_constraint_add_disk_on_plane_contact(
                      m->matter, &def, &plane, tali_model_vec3_at(p + 12),
                      tali_model_vec3_at(p + 15), p[18], item->ref[FLAG_3] != 0)
                      .i;
}

static const tali_model_attribute sphere_on_sphere_attributes[] = {
    BODIES_1_2,
    ROLLING,
    {"center1", TALI_TYPE_REAL, 3, "0", .doc = "on body 1 [m]"},
    {"radius1", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {"center2", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"},
    {"radius2", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {.name = NULL}};

static void build_sphere_on_sphere(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_of(m, item, 2);
    const double *p = item->p + NUMBERS;
    item->built = tal_constraint_add_sphere_on_sphere_contact(
                      m->matter, &def, tali_model_vec3_at(p), p[3], tali_model_vec3_at(p + 4), p[7],
                      item->ref[FLAG_3] != 0)
                      .i;
}

static const tali_model_attribute line_on_line_attributes[] = {
    BODIES_1_2,
    ROLLING,
    {"edge1", TALI_TYPE_FRAME, .initial = "0 0 0",
     .doc = "on body 1: x along the edge, z out of the body"},
    {"edge2", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "on body 2: x along the edge"},
    {.name = NULL}};

static void build_line_on_line(tali_model *m, tali_model_item *item)
{
    const tal_constraint_def def = def_of(m, item, 2);
    const tal_xform edge1 = tali_model_frame_at(item->p + NUMBERS);
    const tal_xform edge2 = tali_model_frame_at(item->p + NUMBERS + 12);
    item->built = tal_constraint_add_line_on_line_contact(m->matter, &def, &edge1, &edge2,
                                                          item->ref[FLAG_3] != 0)
                      .i;
}

// ---- the rows

#define CONSTRAINT(element, api, attributes, builder, text)                                        \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .shared = constraint_attributes,          \
        .own = (attributes), .build = (builder), .start = start_constraint,                        \
        .describe_shared = describe_constraint, .describe = describe_built_in                      \
    }
#define COUPLER(element, api, attributes, builder, text)                                           \
    {                                                                                              \
        .name = (element), .kind = (api), .doc = (text), .shared = constraint_attributes,          \
        .own = (attributes), .children = TALI_GROUP_FUNCTIONS, .min_children = 1,                  \
        .max_children = 1, .build = (builder), .start = start_constraint,                          \
        .describe_shared = describe_constraint, .describe = describe_built_in                      \
    }

const tali_model_row tali_model_constraint_rows[] = {
    CONSTRAINT("rod", "rod", rod_attributes, build_rod, "Two stations stay at a distance."),
    CONSTRAINT("ball", "ball", ball_attributes, build_ball, "Two stations coincide."),
    CONSTRAINT("point_in_plane", "point in plane", point_in_plane_attributes, build_point_in_plane,
               "A station of body 2 stays in a plane of body 1."),
    CONSTRAINT("point_on_line", "point on line", point_on_line_attributes, build_point_on_line,
               "A station of body 2 stays on a line of body 1."),
    CONSTRAINT("constant_angle", "constant angle", constant_angle_attributes, build_constant_angle,
               "Two directions keep their angle."),
    CONSTRAINT("constant_orientation", "constant orientation", constant_orientation_attributes,
               build_constant_orientation, "Two frames stay parallel."),
    CONSTRAINT("weld", "weld", two_frames_attributes, build_weld, "Two frames coincide."),
    CONSTRAINT("constant_coordinate", "constant coordinate", constant_attributes,
               build_constant_coordinate, "A coordinate is constant."),
    CONSTRAINT("constant_speed", "constant speed", constant_attributes, build_constant_speed,
               "A speed is constant."),
    CONSTRAINT("constant_acceleration", "constant acceleration", constant_attributes,
               build_constant_acceleration, "An acceleration is constant."),
    COUPLER("coordinate_coupler", "coordinate coupler", coordinate_coupler_attributes,
            build_coordinate_coupler, "A function of coordinates, given inside, is zero."),
    COUPLER("speed_coupler", "speed coupler", speed_coupler_attributes, build_speed_coupler,
            "A function of speeds and coordinates, given inside, is zero."),
    COUPLER("prescribed_motion", "prescribed motion", prescribed_motion_attributes,
            build_prescribed_motion, "A coordinate follows a function of time, given inside."),
    CONSTRAINT("no_slip_1d", "no slip 1D", no_slip_attributes, build_no_slip,
               "Two bodies do not slip, in one direction, at a point of a third."),
    CONSTRAINT("point_on_plane_contact", "point on plane contact", point_on_plane_attributes,
               build_point_on_plane, "A station of body 2 sticks to a plane of body 1."),
    CONSTRAINT("sphere_on_plane_contact", "sphere on plane contact", sphere_on_plane_attributes,
               build_sphere_on_plane, "A sphere of body 2 touches a plane of body 1."),
    CONSTRAINT("disk_on_plane_contact", "disk on plane contact", disk_on_plane_attributes,
               build_disk_on_plane, "The edge of a disk of body 2 touches a plane of body 1."),
    CONSTRAINT("sphere_on_sphere_contact", "sphere on sphere contact", sphere_on_sphere_attributes,
               build_sphere_on_sphere, "Two spheres touch."),
    CONSTRAINT("line_on_line_contact", "line on line contact", line_on_line_attributes,
               build_line_on_line, "Two straight edges touch."),
    CONSTRAINT("loop_pin", "loop pin", two_frames_attributes, build_loop_pin,
               "Closes a loop: rotation about z."),
    CONSTRAINT("loop_slider", "loop slider", two_frames_attributes, build_loop_slider,
               "Closes a loop: translation along x."),
    CONSTRAINT("loop_cylinder", "loop cylinder", two_frames_attributes, build_loop_cylinder,
               "Closes a loop: rotation about z and translation along it."),
    CONSTRAINT("loop_universal", "loop universal", two_frames_attributes, build_loop_universal,
               "Closes a loop: rotations about Fx and My."),
    CONSTRAINT("loop_planar", "loop planar", two_frames_attributes, build_loop_planar,
               "Closes a loop: motion in the xy plane."),
    CONSTRAINT("loop_screw", "loop screw", loop_screw_attributes, build_loop_screw,
               "Closes a loop: rotation about z with translation along it."),
    {.name = NULL}};

// ---- motions

// refs: enabled, body, all, mobility, level
static const tali_model_attribute motion_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the motion"},
    {"enabled", TALI_TYPE_BOOL, .initial = "yes", .doc = "whether it is enabled at the start"},
    {"body", TALI_TYPE_BODY, .doc = "whose mobilizer"},
    {"all", TALI_TYPE_BOOL, .initial = "no", .doc = "whether it moves all mobilities of the body"},
    {"mobility", TALI_TYPE_INTEGER, .initial = "0", .doc = "which mobility it moves otherwise"},
    {.name = NULL}};

enum {
    MOTION_ENABLED,
    MOTION_BODY,
    MOTION_ALL,
    MOTION_MOBILITY,
    MOTION_LEVEL
};

#define LEVEL                                                                                      \
    {                                                                                              \
        "level", TALI_TYPE_WORD, .initial = "position",                                            \
                                 .words = "free|acceleration|velocity|position",                   \
                                 .doc = "what is prescribed"                                       \
    }

static const tali_model_attribute functions_attributes[] = {LEVEL, {.name = NULL}};

static const tali_model_attribute steady_attributes[] = {
    {"speed", TALI_TYPE_REALS, .doc = "one number, or one for every mobility"}, {.name = NULL}};

static const tali_model_attribute sinusoid_attributes[] = {
    LEVEL,
    {"amplitude", TALI_TYPE_REAL, 1, .doc = "a of a sin(w t + p)"},
    {"frequency", TALI_TYPE_REAL, 1, .doc = "w [rad/s]"},
    {"phase", TALI_TYPE_REAL, 1, "0", TALI_IS_ANGLE, .doc = "p"},
    {.name = NULL}};

tal_motion_def tali_model_motion_def_of(const tali_model *m, const tali_model_item *item)
{
    tal_motion_def def = tal_motion_def_default();
    def.name = item->name;
    def.disabled = !item->ref[MOTION_ENABLED];
    def.body = tali_model_body_at(m, item->ref[MOTION_BODY]);
    def.mobility = item->ref[MOTION_ALL] ? -1 : item->ref[MOTION_MOBILITY];
    return def;
}

static void build_motion_functions(tali_model *m, tali_model_item *item)
{
    tal_motion_def def = tali_model_motion_def_of(m, item);
    def.level = (tal_level)item->ref[MOTION_LEVEL];
    tal_function *functions[TAL_MAX_NQ];
    int n = 0;
    for (; n < item->num_children && n < TAL_MAX_NQ; ++n) {
        functions[n] = tali_model_take_function(m, item, n);
    }
    item->built = tal_matter_add_motion_functions(m->matter, &def, functions, n).i;
}

static void build_motion_steady(tali_model *m, tali_model_item *item)
{
    const tal_motion_def def = tali_model_motion_def_of(m, item);
    const tali_model_list *u = &item->lists[0];
    item->built = tal_matter_add_motion_steady(m->matter, &def, u->values, u->count).i;
}

static void build_motion_sinusoid(tali_model *m, tali_model_item *item)
{
    tal_motion_def def = tali_model_motion_def_of(m, item);
    def.level = (tal_level)item->ref[MOTION_LEVEL];
    item->built =
        tal_matter_add_motion_sinusoid(m->matter, &def, item->p[0], item->p[1], item->p[2]).i;
}

// What all have.
static void describe_motion(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_motion_ix motion = {d->index};
    const tali_matter_motion_facts facts = tali_matter_motion_facts_of(model->matter, motion);
    const bool moves_all = facts.mobility < 0;
    tali_model_say_index(d, tal_motion_is_enabled(model->matter, model->state, motion));
    tali_model_say_index(d, facts.body.i);
    tali_model_say_index(d, moves_all);
    tali_model_say_index(d, moves_all ? 0 : facts.mobility);
}

// The level, and parameters or functions.
static void describe_built_in_motion(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_motion_ix motion = {d->index};
    const tali_matter_motion_facts facts = tali_matter_motion_facts_of(model->matter, motion);
    int num_params;
    const double *params = tal_motion_params(model->matter, model->state, motion, &num_params);
    tali_model_say_index(d, (int)facts.level);
    tali_model_say_numbers(d, params, num_params); // of a sinusoid
    tali_model_say_values(d, params, num_params);  // steady ones have them as a list
    for (int i = 0; i < facts.num_functions; ++i) {
        tali_model_say_function(d, facts.functions[i]);
    }
}

bool tali_model_find_motion(tali_model_description *d, tali_model_own_row *own)
{
    const tal_matter *matter = d->w->model.matter;
    const tal_motion_ix motion = {d->index};
    if (motion.i >= tal_matter_num_motions(matter)) return false;
    const tali_matter_motion_facts facts = tali_matter_motion_facts_of(matter, motion);
    d->name = tal_motion_name(matter, motion);
    d->row = facts.kind != NULL ? tali_model_row_of_kind(TALI_GROUP_MOTIONS, facts.kind)
                                : tali_model_registered(d->w, TAL_MODEL_MOTION, facts.ops, own);
    if (d->row == NULL) tali_model_refuse_table(d, "motion", facts.ops->name);
    return true;
}

const tali_model_row tali_model_motion_rows[] = {
    {.name = "functions",
     .kind = "function of time",
     .doc = "Functions of time, given inside, one for each coordinate or speed.",
     .shared = motion_attributes,
     .own = functions_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .min_children = 1,
     .max_children = TAL_MAX_NQ,
     .build = build_motion_functions,
     .describe_shared = describe_motion,
     .describe = describe_built_in_motion},
    {.name = "steady",
     .kind = "steady",
     .doc = "Constant speeds.",
     .shared = motion_attributes,
     .own = steady_attributes,
     .build = build_motion_steady,
     .describe_shared = describe_motion,
     .describe = describe_built_in_motion},
    {.name = "sinusoid",
     .kind = "sinusoid",
     .doc = "The same sinusoid for each mobility that it moves.",
     .shared = motion_attributes,
     .own = sinusoid_attributes,
     .build = build_motion_sinusoid,
     .describe_shared = describe_motion,
     .describe = describe_built_in_motion},
    {.name = NULL}};
