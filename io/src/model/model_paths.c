// The table: obstacles, paths, what stands in a path, and what pulls along one.
#include "force_facts_internal.h"
#include "path_facts_internal.h"

#include "model/model_write_internal.h"

#include <string.h>

// ---- obstacles

static const tali_model_attribute wrap_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the obstacle"},
    {"body", TALI_TYPE_BODY, .initial = "ground", .doc = "the body that it is fixed on"},
    {"side", TALI_TYPE_WORD, .initial = "any", .words = "any|+x|-x|+y|-y|+z|-z",
     .doc = "the side on which paths stay"},
    {"frame", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "of the obstacle, on its body"},
    {.name = NULL}};

enum {
    WRAP_BODY,
    WRAP_SIDE
};

static void build_wrap(tali_model *m, tali_model_item *item, tal_wrap wrap)
{
    const tal_xform X_BW = tali_model_frame_at(item->p);
    wrap.side = (tal_wrap_side)item->ref[WRAP_SIDE];
    item->built = tal_forces_add_wrap(m->forces, item->name,
                                      tali_model_body_at(m, item->ref[WRAP_BODY]), &X_BW, &wrap)
                      .i;
}

static void build_cylinder(tali_model *m, tali_model_item *item)
{
    build_wrap(m, item, tal_wrap_cylinder(item->p[12], item->p[13]));
}

static void build_sphere(tali_model *m, tali_model_item *item)
{
    build_wrap(m, item, tal_wrap_sphere(item->p[12]));
}

static void build_ellipsoid(tali_model *m, tali_model_item *item)
{
    build_wrap(m, item, tal_wrap_ellipsoid(tali_model_vec3_at(item->p + 12)));
}

static void build_torus(tali_model *m, tali_model_item *item)
{
    build_wrap(m, item, tal_wrap_torus(item->p[12], item->p[13]));
}

static void describe_wrap(tali_model_description *d)
{
    const tal_forces *forces = d->w->model.forces;
    const tal_wrap_ix ix = {d->index};
    tal_wrap wrap;
    tal_xform X_BW;
    (void)tal_wrap_shape(forces, ix, &wrap, &X_BW);
    tali_model_say_index(d, tal_wrap_body(forces, ix).i);
    tali_model_say_index(d, (int)wrap.side);
    tali_model_say_frame(d, &X_BW);
    tali_model_say_vec3(d, wrap.size);
}

bool tali_model_find_wrap(tali_model_description *d, tali_model_own_row *own)
{
    (void)own;
    const tal_forces *forces = d->w->model.forces;
    const tal_wrap_ix ix = {d->index};
    if (ix.i >= tal_forces_num_wraps(forces)) return false;
    tal_wrap wrap;
    (void)tal_wrap_shape(forces, ix, &wrap, NULL);
    d->name = tal_wrap_name(forces, ix);
    d->row = &tali_model_wrap_rows[(int)wrap.kind]; // in the order of tal_wrap_kind
    return true;
}

static const tali_model_attribute cylinder_attributes[] = {
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {"length", TALI_TYPE_REAL, 1, "inf", TALI_POSITIVE_NUMBER | TALI_MAYBE_INFINITE,
     .doc = "along z [m]"},
    {.name = NULL}};
static const tali_model_attribute sphere_attributes[] = {
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"}, {.name = NULL}};
static const tali_model_attribute ellipsoid_attributes[] = {
    {"radii", TALI_TYPE_REAL, 3, .flags = TALI_POSITIVE_NUMBER, .doc = "along x, y, z [m]"},
    {.name = NULL}};
static const tali_model_attribute torus_attributes[] = {
    {"ring_radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {"tube_radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {.name = NULL}};

#define WRAP(element, attributes, builder, text)                                                   \
    {                                                                                              \
        .name = (element), .doc = (text), .shared = wrap_attributes, .own = (attributes),          \
        .build = (builder), .describe_shared = describe_wrap                                       \
    }

const tali_model_row tali_model_wrap_rows[] = {
    WRAP("wrap_cylinder", cylinder_attributes, build_cylinder,
         "A cylinder about z (talus/geometry/wrap.h)."),
    WRAP("wrap_sphere", sphere_attributes, build_sphere, "A sphere."),
    WRAP("wrap_ellipsoid", ellipsoid_attributes, build_ellipsoid, "An ellipsoid."),
    WRAP("wrap_torus", torus_attributes, build_torus,
         "A torus about z: paths go through its hole."),
    {.name = NULL}};

// ---- what stands in a path

static const tali_model_attribute point_attributes[] = {
    {"body", TALI_TYPE_BODY, .initial = "ground", .doc = "the body that it is on"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on its body [m]"},
    {.name = NULL}};

static const tali_model_attribute conditional_attributes[] = {
    {"body", TALI_TYPE_BODY, .initial = "ground", .doc = "the body that it is on"},
    {"coordinate", TALI_TYPE_MOBILITY, .flags = TALI_COUNTED_WITH_ANGLES,
     .doc = "the coordinate that decides whether it is part of the path"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on its body [m]"},
    {"range", TALI_TYPE_REAL, 2, .flags = TALI_OF_MOBILITY | TALI_MAYBE_INFINITE,
     .doc = "low and high; it is part of the path while the coordinate is between them"},
    {.name = NULL}};

static const tali_model_attribute moving_attributes[] = {
    {"body", TALI_TYPE_BODY, .initial = "ground", .doc = "the body that it is on"},
    {"coordinates", TALI_TYPE_MOBILITIES, .flags = TALI_COUNTED_WITH_ANGLES,
     .doc = "three: of the functions inside, which are x, y and z in its frame [m]"},
    {"frame", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "on its body"},
    {.name = NULL}};

static const tali_model_attribute over_attributes[] = {
    {"wrap", TALI_TYPE_WRAP, .doc = "the obstacle"},
    {"first", TALI_TYPE_INTEGER, .initial = "0",
     .doc =
         "first point between which and `last` the path can lie on the obstacle, counted from 0"},
    {"last", TALI_TYPE_INTEGER, .initial = "0", .doc = "last point; 0: the last point of the path"},
    {.name = NULL}};

static tal_path_ix path_of(const tali_model *m, const tali_model_item *item)
{
    return (tal_path_ix){m->items[item->parent].built};
}

static void build_point(tali_model *m, tali_model_item *item)
{
    item->built =
        tal_path_add_point(m->forces, path_of(m, item), tali_model_body_at(m, item->ref[0]),
                           tali_model_vec3_at(item->p));
}

static void build_conditional(tali_model *m, tali_model_item *item)
{
    item->built = tal_path_add_conditional_point(
        m->forces, path_of(m, item), tali_model_body_at(m, item->ref[0]),
        tali_model_vec3_at(item->p), tali_model_mobility_at(m, item->ref[1], item->ref[2]),
        item->p[3], item->p[4]);
}

static void check_moving(tali_model *m, tali_model_item *item)
{
    if (item->num_mobilities == 3) return;
    tali_model_item_error(m, item, "coordinates",
                          ": 'coordinates' has %d coordinates; 3 are needed", item->num_mobilities);
}

static void build_moving(tali_model *m, tali_model_item *item)
{
    tal_mobility at[3];
    tal_function *f[3];
    for (int k = 0; k < 3; ++k) {
        at[k] = tali_model_mobility_at(m, item->mobilities[k].body, item->mobilities[k].index);
        f[k] = tali_model_take_function(m, item, k);
    }
    const tal_xform X_BP = tali_model_frame_at(item->p);
    item->built = tal_path_add_moving_point(m->forces, path_of(m, item),
                                            tali_model_body_at(m, item->ref[0]), &X_BP, at, f);
}

static void build_over(tali_model *m, tali_model_item *item)
{
    const tal_wrap_ix wrap = {m->items[item->ref[0]].built};
    const int last = item->ref[2] > 0 ? item->ref[2] : -1;
    (void)tal_path_add_wrap(m->forces, path_of(m, item), wrap, item->ref[1], last);
}

static void describe_point(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_path_ix path = {d->owner};
    const tali_path_point_facts facts = tali_path_point_facts_of(model->forces, path, d->index);
    tali_model_say_index(d, tal_path_point_body(model->forces, path, d->index).i);
    if (facts.kind == 2) {
        for (int k = 0; k < 3; ++k) {
            d->mobilities[d->num_mobilities++] =
                (tali_model_mobility_ref){facts.at[k].body.i, facts.at[k].i};
            tali_model_say_function(d, facts.f[k]);
        }
        tali_model_say_frame(d, facts.X_BP);
        return;
    }
    tali_model_say_index(d, facts.when.body.i);
    tali_model_say_index(d, facts.when.i);
    tali_model_say_vec3(d, tal_path_point_station(model->forces, model->state, path, d->index));
    tali_model_say_number(d, facts.low);
    tali_model_say_number(d, facts.high);
}

static void describe_over(tali_model_description *d)
{
    tal_wrap_ix wrap;
    int first, last;
    tali_path_over_facts_of(d->w->model.forces, (tal_path_ix){d->owner}, d->index, &wrap, &first,
                            &last);
    tali_model_say_index(d, wrap.i);
    tali_model_say_index(d, first);
    tali_model_say_index(d, last);
}

// The points stand in the order of tali_path_point_facts.kind, obstacles behind them.
const tali_model_row tali_model_path_part_rows[] = {
    {.name = "point",
     .doc = "A point on a body.",
     .own = point_attributes,
     .build = build_point,
     .describe = describe_point},
    {.name = "conditional_point",
     .doc = "A point that is part of the path only while a coordinate is in a range.",
     .own = conditional_attributes,
     .build = build_conditional,
     .describe = describe_point},
    {.name = "moving_point",
     .doc = "A point that moves on its body. Inside are three functions of a coordinate.",
     .own = moving_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .min_children = 3,
     .max_children = 3,
     .check = check_moving,
     .build = build_moving,
     .describe = describe_point},
    {.name = "over",
     .doc = "An obstacle: where it is in the way, the path lies on it.",
     .own = over_attributes,
     .build = build_over,
     .describe = describe_over},
    {.name = NULL}};

// ---- paths

static const tali_model_attribute path_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the path"}, {.name = NULL}};

static const tali_model_attribute function_path_attributes[] = {
    {"coordinates", TALI_TYPE_MOBILITIES, .flags = TALI_COUNTED_WITH_ANGLES,
     .doc = "arguments of the function inside"},
    {.name = NULL}};

static void build_path(tali_model *m, tali_model_item *item)
{
    item->built = tal_forces_add_path(m->forces, item->name).i;
}

static void build_function_path(tali_model *m, tali_model_item *item)
{
    tal_mobility at[TAL_FUNCTION_MAX_ARGS];
    const int n = item->num_mobilities;
    for (int k = 0; k < n && k < TAL_FUNCTION_MAX_ARGS; ++k) {
        at[k] = tali_model_mobility_at(m, item->mobilities[k].body, item->mobilities[k].index);
    }
    item->built = tal_forces_add_function_path(m->forces, item->name, at, n,
                                               tali_model_take_function(m, item, 0))
                      .i;
}

// The function that a path is written as, and its coordinates: a polynomial that was fitted to it,
// or its own; NULL for a path of points.
static const tal_function *written_function(const tal_model *model, int path,
                                            const tal_mobility **at, int *n)
{
    for (int k = 0; k < model->num_fits; ++k) {
        const tal_path_fit *fit = &model->fits[k];
        if (fit->path.i != path || fit->length == NULL) continue;
        *at = fit->at;
        *n = fit->num_at;
        return fit->length;
    }
    return tali_path_function_of(model->forces, (tal_path_ix){path}, at, n);
}

static void describe_function_path(tali_model_description *d)
{
    const tal_mobility *at;
    int n;
    tali_model_say_function(d, written_function(&d->w->model, d->index, &at, &n));
    if (n > TAL_CONSTRAINT_MOBILITIES) {
        tali_model_write_refuse(d->w,
                                "path '%s' is a function of %d coordinates: %d can be written",
                                d->name, n, TAL_CONSTRAINT_MOBILITIES);
        return;
    }
    for (int k = 0; k < n; ++k) {
        d->mobilities[d->num_mobilities++] = (tali_model_mobility_ref){at[k].body.i, at[k].i};
    }
}

static void write_part(const tali_model_description *path, int row, int i)
{
    tali_model_description d = {.w = path->w,
                                .row = &tali_model_path_part_rows[row],
                                .whose = path->name,
                                .owner = path->index,
                                .index = i};
    tali_model_write_element(&d, "      ", "\n");
}

static void write_path_parts(tali_model_description *path)
{
    const tal_forces *forces = path->w->model.forces;
    const tal_path_ix ix = {path->index};
    tali_model_sink_put(&path->w->out, "\n");
    for (int i = 0; i < tal_path_num_points(forces, ix); ++i) {
        write_part(path, tali_path_point_facts_of(forces, ix, i).kind, i);
    }
    for (int i = 0; i < tal_path_num_wraps(forces, ix); ++i) {
        write_part(path, 3, i);
    }
    tali_model_sink_put(&path->w->out, "    ");
}

const tali_model_row tali_model_path_rows[] = {
    {.name = "path",
     .doc = "A line through the points inside and over obstacles (talus/forces/path.h).",
     .shared = path_attributes,
     .children = TALI_GROUP_PATH_PARTS,
     .min_children = 2,
     .max_children = -1,
     .build = build_path,
     .write_children = write_path_parts},
    {.name = "function_path",
     .doc = "A path that is given by its length, a function of coordinates.",
     .shared = path_attributes,
     .own = function_path_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .min_children = 1,
     .max_children = 1,
     .build = build_function_path,
     .describe = describe_function_path},
    {.name = NULL}};

bool tali_model_find_path(tali_model_description *d, tali_model_own_row *own)
{
    (void)own;
    const tal_forces *forces = d->w->model.forces;
    const tal_path_ix ix = {d->index};
    if (ix.i >= tal_forces_num_paths(forces)) return false;
    const tal_mobility *at;
    int n;
    const bool is_function = written_function(&d->w->model, ix.i, &at, &n) != NULL;
    d->name = tal_path_name(forces, ix);
    d->row = &tali_model_path_rows[is_function ? 1 : 0];
    return true;
}

// ---- what pulls along a path

#define ALONG                                                                                      \
    {                                                                                              \
        "path", TALI_TYPE_PATH, .doc = "the path that it pulls along"                              \
    }

#define CONTROL                                                                                    \
    {                                                                                              \
        "control", TALI_TYPE_REAL, 1, "0",                                                         \
            .doc = "number that is added to measure and controllers"                               \
    }

const tali_model_attribute tali_model_path_spring_attributes[] = {
    ALONG,
    {"stiffness", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[N/m]"},
    {"rest_length", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "below which it is slack [m]"},
    {"dissipation", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "[s/m]"},
    {.name = NULL}};

const tali_model_attribute tali_model_ligament_attributes[] = {
    ALONG,
    {"force", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER,
     .doc = "factor on the curve [N]"},
    {"rest_length", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER,
     .doc = "below which it is slack [m]"},
    {.name = NULL}};

const tali_model_attribute tali_model_path_actuator_attributes[] = {
    ALONG,
    {"measure", TALI_TYPE_MEASURE, .initial = "", .doc = "a measure that adds to its control"},
    {"gain", TALI_TYPE_REAL, 1, .doc = "tension per control [N]"},
    CONTROL,
    {"least", TALI_TYPE_REAL, 1, "-inf", TALI_MAYBE_INFINITE, .doc = "control is not below this"},
    {"largest", TALI_TYPE_REAL, 1, "inf", TALI_MAYBE_INFINITE, .doc = "control is not above this"},
    {.name = NULL}};

const tali_model_attribute tali_model_clutched_spring_attributes[] = {
    ALONG,
    {"measure", TALI_TYPE_MEASURE, .initial = "", .doc = "a measure that adds to its control"},
    {"stiffness", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[N/m]"},
    {"dissipation", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "[s/m]"},
    {"time", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER,
     .doc = "time constant with which the stretch decays after release [s]"},
    CONTROL,
    {"least", TALI_TYPE_REAL, 1, "0", .doc = "control is not below this, which is 0 or more"},
    {"largest", TALI_TYPE_REAL, 1, "1", .doc = "control is not above this, which is 1 or less"},
    {.name = NULL}};

static tal_path_ix along(const tali_model *m, const tali_model_item *item)
{
    return (tal_path_ix){m->items[item->ref[TALI_FORCE_REFS]].built};
}

void tali_model_build_path_spring(tali_model *m, tali_model_item *item)
{
    item->built = tal_forces_add_path_spring(m->forces, item->name, along(m, item), item->p[0],
                                             item->p[1], item->p[2])
                      .i;
}

void tali_model_build_ligament(tali_model *m, tali_model_item *item)
{
    item->built = tal_forces_add_ligament(m->forces, item->name, along(m, item), item->p[0],
                                          item->p[1], tali_model_take_function(m, item, 0))
                      .i;
}

void tali_model_build_path_actuator(tali_model *m, tali_model_item *item)
{
    const tal_measure_ix measure = tali_model_measure_at(m, item->ref[TALI_FORCE_REFS + 1]);
    item->built =
        tal_forces_add_path_actuator(m->forces, item->name, along(m, item), item->p[0], measure).i;
}

void tali_model_build_clutched_spring(tali_model *m, tali_model_item *item)
{
    const tal_measure_ix measure = tali_model_measure_at(m, item->ref[TALI_FORCE_REFS + 1]);
    item->built = tal_forces_add_clutched_spring(m->forces, item->name, along(m, item), item->p[0],
                                                 item->p[1], item->p[2], measure)
                      .i;
}

// ---- measures of paths

const tali_model_attribute tali_model_path_measure_attributes[] = {
    {"path", TALI_TYPE_PATH, .doc = "the path"}, {.name = NULL}};

void tali_model_build_path_length(tali_model *m, tali_model_item *item)
{
    const tal_path_ix path = {m->items[item->ref[0]].built};
    item->built = tal_measure_add_path_length(m->forces, item->name, path).i;
}

void tali_model_build_path_speed(tali_model *m, tali_model_item *item)
{
    const tal_path_ix path = {m->items[item->ref[0]].built};
    item->built = tal_measure_add_path_speed(m->forces, item->name, path).i;
}

const tali_model_attribute tali_model_tension_attributes[] = {
    {"force", TALI_TYPE_FORCE, .doc = "the force along a path"}, {.name = NULL}};

void tali_model_build_path_tension(tali_model *m, tali_model_item *item)
{
    const tal_force_ix force = tali_model_force_at(m, item->ref[0]);
    item->built = tal_measure_add_path_tension(m->forces, item->name, force).i;
}

void tali_model_describe_path_measure(tali_model_description *d)
{
    int index = -1; // of the path, or of the force
    (void)tali_path_measure_facts_of(d->w->model.system, (tal_measure_ix){d->index}, &index);
    tali_model_say_index(d, index);
}
