// The table: unilateral elements, and how a run handles them.
#include "matter_facts_internal.h"

#include "model/model_write_internal.h"

#include <talus/matter/unilaterals.h>

#include <math.h>
#include <string.h>

// refs: enabled; numbers: the material. What is their own comes next: bodies or a mobility, then
// numbers in the order of the API's parameters.
static const tali_model_attribute unilateral_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the element"},
    {"enabled", TALI_TYPE_BOOL, .initial = "yes", .doc = "whether it is enabled at the start"},
    {"static_mu", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER | TALI_MAYBE_INFINITE,
     .doc = "coefficient of friction at rest, at least `sliding_mu`; inf: it never slips"},
    {"sliding_mu", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "coefficient of friction while it slips"},
    {"viscous_mu", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "increase of both for each m/s of slip [s/m]"},
    {"limit", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "friction without a normal force [N or N m]"},
    {"restitution", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "e, from 0 to 1: part of the impulse of an impact that is given back"},
    {"slow_speed", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "speed of approach below which e rises to 1 linearly [m/s]"},
    {"capture_speed", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "speed of approach below which e is 0 [m/s]"},
    {"transition_speed", TALI_TYPE_REAL, 1, "1e-9", TALI_NO_NEGATIVE_NUMBER,
     .doc = "slip below which the last direction of slip is used [m/s]"},
    {.name = NULL}};

enum {
    ENABLED,
    BODY_1,
    BODY_2,
    FLAG = BODY_1 + 2, // behind two bodies, or a mobility
    MATERIAL_NUMBERS = 8,
    NUMBERS = MATERIAL_NUMBERS
};

static tal_unilateral_def def_of(const tali_model_item *item)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.name = item->name;
    def.disabled = !item->ref[ENABLED];
    def.material = (tal_unilateral_material){.static_mu = item->p[0],
                                             .sliding_mu = item->p[1],
                                             .viscous_mu = item->p[2],
                                             .limit = item->p[3],
                                             .restitution = item->p[4],
                                             .slow_speed = item->p[5],
                                             .capture_speed = item->p[6],
                                             .transition_speed = item->p[7]};
    return def;
}

static tal_body_ix body_of(const tali_model *m, const tali_model_item *item, int which)
{
    return tali_model_body_at(m, item->ref[BODY_1 + which]);
}

static tal_mobility mobility_of(const tali_model *m, const tali_model_item *item)
{
    return (tal_mobility){body_of(m, item, 0), item->ref[BODY_1 + 1]};
}

// ---- the way back

static void describe_unilateral(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_unilateral_ix element = {d->index};
    const tal_unilateral_material it =
        tal_unilateral_material_of(model->matter, model->state, element);
    const double numbers[MATERIAL_NUMBERS] = {it.static_mu,     it.sliding_mu,      it.viscous_mu,
                                              it.limit,         it.restitution,     it.slow_speed,
                                              it.capture_speed, it.transition_speed};
    tali_model_say_index(d, tal_unilateral_is_enabled(model->matter, model->state, element));
    tali_model_say_numbers(d, numbers, MATERIAL_NUMBERS);
}

// The constraint that has the parameters of an element: its normal, or its grip alone.
static tal_constraint_ix part_of(const tal_matter *matter, tal_unilateral_ix element)
{
    const tal_constraint_ix normal = tal_unilateral_normal(matter, element);
    return normal.i >= 0 ? normal : tal_unilateral_grip(matter, element);
}

// What it acts on, and the parameters of its normal, which rows have in the API's order.
static void describe_parts(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_constraint_ix part = part_of(model->matter, (tal_unilateral_ix){d->index});
    const tali_matter_constraint_facts facts = tali_matter_constraint_facts_of(model->matter, part);
    const bool is_reversed = tal_unilateral_sign(model->matter, (tal_unilateral_ix){d->index}) < 0;
    tali_model_targets targets = {.flags = {is_reversed}};
    for (int i = 0; i < facts.ops->num_bodies; ++i) {
        targets.bodies[i] = facts.bodies[i];
    }
    if (facts.num_mobilities > 0) {
        targets.mobility = (tal_mobility){{facts.mobility_bodies[0]}, facts.mobility_index[0]};
    }
    tali_model_say_targets(d, &targets);
    int num_params;
    const double *params = tal_constraint_params(model->matter, model->state, part, &num_params);
    tali_model_say_numbers(d, params, num_params);
}

// The same, and the polygon.
static void describe_on_plane(tali_model_description *d)
{
    const tali_matter_limit_facts limits =
        tali_matter_limit_facts_of(d->w->model.matter, (tal_unilateral_ix){d->index});
    describe_parts(d);
    tali_model_say_values(d, limits.polygon, 2 * limits.num_corners);
}

// The same, and where edges end.
static void describe_edges(tali_model_description *d)
{
    const tali_matter_limit_facts limits =
        tali_matter_limit_facts_of(d->w->model.matter, (tal_unilateral_ix){d->index});
    describe_parts(d);
    tali_model_say_numbers(d, limits.halves, 2);
}

// What a constraint is; "" for none, "?" for one of a user's own.
static const char *kind_of(const tal_matter *matter, tal_constraint_ix constraint)
{
    if (constraint.i < 0) return "";
    const char *kind = tali_matter_constraint_facts_of(matter, constraint).kind;
    return kind != NULL ? kind : "?";
}

// The built-in elements by the constraints they are made of; a grip may be missing.
static const struct {
    const char *row, *normal, *grip;
    bool is_reversed;
} made_of[] = {
    {"point_on_plane", "point over plane", "grip of a point on a plane", false},
    {"sphere_on_plane", "sphere on plane contact", "grip of a sphere on a plane", false},
    {"sphere_on_sphere", "sphere on sphere contact", "grip of a sphere on a sphere", false},
    {"sphere_in_sphere", "sphere in sphere contact", "grip of a sphere in a sphere", true},
    {"edge_on_edge", "line on line contact", "grip of a line on a line", false},
    {"rope", "rod", "", true},
    {"stop", "constant coordinate", "", false},
    {"ratchet", "constant speed", "", false},
    {"dry_friction", "", "constant speed", false},
    {"friction_about", "", "grip about an axis", false},
    {"friction_along", "", "grip along a line", false},
    {"friction_over", "", "grip of a point on a plane", false}};

// The row of an element; NULL for one that is made of other constraints.
static const tali_model_row *row_of(const tal_matter *matter, tal_unilateral_ix element)
{
    const char *normal = kind_of(matter, tal_unilateral_normal(matter, element));
    const char *grip = kind_of(matter, tal_unilateral_grip(matter, element));
    const bool is_reversed = tal_unilateral_sign(matter, element) < 0;
    for (size_t i = 0; i < sizeof made_of / sizeof *made_of; ++i) {
        if (strcmp(normal, made_of[i].normal) != 0) continue;
        if (*grip != '\0' && strcmp(grip, made_of[i].grip) != 0) continue;
        if (made_of[i].is_reversed && !is_reversed) continue;
        const tali_model_row *row = tali_model_unilateral_rows;
        while (row->name != NULL && strcmp(row->name, made_of[i].row) != 0) {
            ++row;
        }
        return row;
    }
    return NULL;
}

// Whether elements are handled as they are when a file does not say how.
static bool goes_without_saying(const tal_matter *matter, const tal_contacts *contacts)
{
    if (contacts == NULL) return true;
    if (tal_matter_num_unilaterals(matter) == 0) return false;
    const tal_contacts_def def = tal_contacts_def_of(contacts), usual = tal_contacts_def_default();
    return def.gap_tolerance == usual.gap_tolerance &&
           def.speed_tolerance == usual.speed_tolerance &&
           def.capture_speed == usual.capture_speed && def.window == usual.window &&
           def.sequential == usual.sequential && def.pile_up == usual.pile_up &&
           def.pile_up_interval == usual.pile_up_interval && def.separation == usual.separation &&
           def.listen == NULL && tal_matter_most_touching(matter) == 0 &&
           tal_matter_most_sliding(matter) == 0;
}

// Elements, and behind them how a run handles them.
bool tali_model_find_unilateral(tali_model_description *d, tali_model_own_row *own)
{
    (void)own;
    const tal_matter *matter = d->w->model.matter;
    const int num = tal_matter_num_unilaterals(matter);
    const tal_contacts *contacts = tal_system_contacts(d->w->model.system);
    const tal_unilateral_ix element = {d->index};
    if (d->index > num || (d->index == num && goes_without_saying(matter, contacts))) return false;
    if (d->index == num) {
        d->row = &tali_model_unilateral_rows[0];
        if (tal_contacts_def_of(contacts).listen != NULL) {
            tali_model_write_refuse(d->w,
                                    "contacts call a function, which cannot be written to a file");
        }
        return true;
    }
    d->name = tal_unilateral_name(matter, element);
    d->row = row_of(matter, element);
    if (tali_matter_limit_facts_of(matter, element).has_function) {
        tali_model_write_refuse(d->w,
                                "unilateral '%s' touches where a function of a program says, which "
                                "cannot be written to a file",
                                d->name);
    }
    if (d->row == NULL) {
        tali_model_write_refuse(d->w,
                                "unilateral '%s' is made of constraints that no built-in one has, "
                                "and cannot be written to a file",
                                d->name);
    }
    return true;
}

// ---- how a run handles them

static const tali_model_attribute handling_attributes[] = {
    {"gap_tolerance", TALI_TYPE_REAL, 1, "1e-6", TALI_POSITIVE_NUMBER,
     .doc = "elements with a smaller gap touch [m or rad]"},
    {"speed_tolerance", TALI_TYPE_REAL, 1, "1e-6", TALI_POSITIVE_NUMBER,
     .doc = "slower speeds count as rest [m/s or rad/s]"},
    {"capture_speed", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "speed of approach below which nothing rebounds [m/s or rad/s]; at least twice "
            "`speed_tolerance` is used"},
    {"window", TALI_TYPE_REAL, 1, "1e-12", TALI_POSITIVE_NUMBER,
     .doc = "how exactly events are found in time [s]"},
    {"pile_up_interval", TALI_TYPE_REAL, 1, "1e-6", TALI_POSITIVE_NUMBER,
     .doc = "impacts pile up when their intervals shrink by the same ratio and are shorter than "
            "this [s]"},
    {"separation", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc =
         "two changes of one element are at least this far apart, and steps are kept shorter; 0: "
         "unknown [s]"},
    {"pile_up", TALI_TYPE_WORD, .initial = "capture", .words = "capture|stop",
     .doc = "what is done then: the element does not rebound any more, or the run ends"},
    {"sequential", TALI_TYPE_BOOL, .initial = "no",
     .doc = "whether impacts that happen together are solved one after the other"},
    {"most_touching", TALI_TYPE_INTEGER, .initial = "0",
     .doc = "how many elements may touch at the same time; 0: 10"},
    {"most_sliding", TALI_TYPE_INTEGER, .initial = "0",
     .doc = "how many may slide at the same time; 0: 64"},
    {.name = NULL}};

enum {
    PILE_UP,
    SEQUENTIAL,
    MOST_TOUCHING,
    MOST_SLIDING
};

static void build_handling(tali_model *m, tali_model_item *item)
{
    tal_contacts_def def = tal_contacts_def_default();
    def.gap_tolerance = item->p[0];
    def.speed_tolerance = item->p[1];
    def.capture_speed = item->p[2];
    def.window = item->p[3];
    def.pile_up_interval = item->p[4];
    def.separation = item->p[5];
    def.pile_up = item->ref[PILE_UP] == 0 ? TAL_PILE_UP_CAPTURE : TAL_PILE_UP_STOP;
    def.sequential = item->ref[SEQUENTIAL] != 0;
    if (item->ref[MOST_TOUCHING] > 0) {
        (void)tal_matter_set_most_touching(m->matter, item->ref[MOST_TOUCHING]);
    }
    if (item->ref[MOST_SLIDING] > 0) {
        (void)tal_matter_set_most_sliding(m->matter, item->ref[MOST_SLIDING]);
    }
    (void)tal_contacts_create(m->system, &def);
    item->built = 0;
}

static void describe_handling(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_contacts_def def = tal_contacts_def_of(tal_system_contacts(model->system));
    const double numbers[] = {def.gap_tolerance, def.speed_tolerance,  def.capture_speed,
                              def.window,        def.pile_up_interval, def.separation};
    tali_model_say_numbers(d, numbers, 6);
    tali_model_say_index(d, def.pile_up == TAL_PILE_UP_CAPTURE ? 0 : 1);
    tali_model_say_index(d, def.sequential);
    tali_model_say_index(d, tal_matter_most_touching(model->matter));
    tali_model_say_index(d, tal_matter_most_sliding(model->matter));
}

void tali_model_handle_unilaterals(tali_model *m)
{
    if (tal_matter_num_unilaterals(m->matter) > 0 && tal_system_contacts(m->system) == NULL) {
        (void)tal_contacts_create(m->system, NULL);
    }
}

// ---- contacts

#define BODIES_1_2                                                                                 \
    {"body1", TALI_TYPE_BODY, .initial = "ground", .doc = "body 1"},                               \
    {                                                                                              \
        "body2", TALI_TYPE_BODY, .doc = "body 2; must not be body 1"                               \
    }

#define POLYGON                                                                                    \
    {                                                                                              \
        "polygon", TALI_TYPE_REALS,                                                                \
            .initial = "",                                                                         \
            .doc = "x and y of the corners of a convex polygon in the plane, "                     \
                   "counterclockwise: beyond it there is nothing; without it the plane is "        \
                   "unlimited [m]"                                                                 \
    }

static const tali_model_attribute point_on_plane_attributes[] = {
    BODIES_1_2,
    {"plane", TALI_TYPE_FRAME, 12, "0",
     .doc = "frame on body 1: the plane is x and y, z points out of body 1"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "the point, on body 2 [m]"},
    POLYGON,
    {.name = NULL}};

// Corners of a polygon that is convex, if there are any.
static void limit(const tali_model *m, const tali_model_item *item)
{
    const tali_model_list *xy = &item->lists[0];
    if (xy->count == 0 || item->built < 0) return;
    (void)tal_unilateral_limit_polygon(m->matter, (tal_unilateral_ix){item->built}, xy->values,
                                       xy->count / 2);
}

static void check_polygon(tali_model *m, tali_model_item *item)
{
    const int count = item->lists[0].count;
    if (count == 0 || (count >= 6 && count % 2 == 0)) return;
    tali_model_item_error(m, item, "polygon", " needs three corners at least, x and y of each");
}

static void build_point_on_plane(tali_model *m, tali_model_item *item)
{
    const tal_unilateral_def def = def_of(item);
    const tal_xform plane = tali_model_frame_at(item->p + NUMBERS);
    item->built = tal_unilateral_add_point_on_plane(m->matter, &def, body_of(m, item, 0), &plane,
                                                    body_of(m, item, 1),
                                                    tali_model_vec3_at(item->p + NUMBERS + 12))
                      .i;
    limit(m, item);
}

static const tali_model_attribute sphere_on_plane_attributes[] = {
    BODIES_1_2,
    {"plane", TALI_TYPE_FRAME, 12, "0",
     .doc = "frame on body 1: the plane is x and y, z points out of body 1"},
    {"center", TALI_TYPE_REAL, 3, "0", .doc = "of the sphere, on body 2 [m]"},
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    POLYGON,
    {.name = NULL}};

static void build_sphere_on_plane(tali_model *m, tali_model_item *item)
{
    const tal_unilateral_def def = def_of(item);
    const tal_xform plane = tali_model_frame_at(item->p + NUMBERS);
    const double *p = item->p + NUMBERS + 12;
    item->built =
        tal_unilateral_add_sphere_on_plane(m->matter, &def, body_of(m, item, 0), &plane,
                                           body_of(m, item, 1), tali_model_vec3_at(p), p[3])
            .i;
    limit(m, item);
}

static const tali_model_attribute sphere_on_sphere_attributes[] = {
    BODIES_1_2,
    {"center1", TALI_TYPE_REAL, 3, "0", .doc = "of sphere 1, on body 1 [m]"},
    {"radius1", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {"center2", TALI_TYPE_REAL, 3, "0", .doc = "of sphere 2, on body 2 [m]"},
    {"radius2", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {.name = NULL}};

static void build_sphere_on_sphere(tali_model *m, tali_model_item *item)
{
    const tal_unilateral_def def = def_of(item);
    const double *p = item->p + NUMBERS;
    item->built = tal_unilateral_add_sphere_on_sphere(
                      m->matter, &def, body_of(m, item, 0), tali_model_vec3_at(p), p[3],
                      body_of(m, item, 1), tali_model_vec3_at(p + 4), p[7])
                      .i;
}

static void build_sphere_in_sphere(tali_model *m, tali_model_item *item)
{
    const tal_unilateral_def def = def_of(item);
    const double *p = item->p + NUMBERS;
    item->built = tal_unilateral_add_sphere_in_sphere(
                      m->matter, &def, body_of(m, item, 0), tali_model_vec3_at(p), p[3],
                      body_of(m, item, 1), tali_model_vec3_at(p + 4), p[7])
                      .i;
}

static void check_sphere_in_sphere(tali_model *m, tali_model_item *item)
{
    const double *p = item->p + NUMBERS;
    if (p[3] > p[7]) return;
    tali_model_item_error(m, item, "radius2", " must be smaller than 'radius1'");
}

static const tali_model_attribute edge_on_edge_attributes[] = {
    BODIES_1_2,
    {"edge1", TALI_TYPE_FRAME, 12, "0",
     .doc = "frame on body 1: x along the edge, z out of body 1"},
    {"edge2", TALI_TYPE_FRAME, 12, "0", .doc = "frame on body 2: x along the edge"},
    {"half1", TALI_TYPE_REAL, 1, "inf", TALI_POSITIVE_NUMBER | TALI_MAYBE_INFINITE,
     .doc = "where edge 1 ends, to both sides of its origin [m]; inf: nowhere"},
    {"half2", TALI_TYPE_REAL, 1, "inf", TALI_POSITIVE_NUMBER | TALI_MAYBE_INFINITE,
     .doc = "where edge 2 ends"},
    {.name = NULL}};

static void build_edge_on_edge(tali_model *m, tali_model_item *item)
{
    const tal_unilateral_def def = def_of(item);
    const tal_xform edge1 = tali_model_frame_at(item->p + NUMBERS);
    const tal_xform edge2 = tali_model_frame_at(item->p + NUMBERS + 12);
    item->built = tal_unilateral_add_edge_on_edge(m->matter, &def, body_of(m, item, 0), &edge1,
                                                  body_of(m, item, 1), &edge2)
                      .i;
    const double half1 = item->p[NUMBERS + 24], half2 = item->p[NUMBERS + 25];
    if ((isinf(half1) && isinf(half2)) || item->built < 0) return;
    (void)tal_unilateral_limit_edges(m->matter, (tal_unilateral_ix){item->built}, half1, half2);
}

static const tali_model_attribute rope_attributes[] = {
    BODIES_1_2,
    {"station1", TALI_TYPE_REAL, 3, "0", .doc = "on body 1 [m]"},
    {"station2", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"},
    {"length", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {.name = NULL}};

static void build_rope(tali_model *m, tali_model_item *item)
{
    const tal_unilateral_def def = def_of(item);
    const double *p = item->p + NUMBERS;
    item->built =
        tal_unilateral_add_rope(m->matter, &def, body_of(m, item, 0), tali_model_vec3_at(p),
                                body_of(m, item, 1), tali_model_vec3_at(p + 3), p[6])
            .i;
}

// ---- along one mobility

static const tali_model_attribute stop_attributes[] = {
    {"mobility", TALI_TYPE_MOBILITY, .flags = TALI_COUNTED_AS_GIVEN, .doc = "the coordinate"},
    {"is_upper", TALI_TYPE_BOOL, .initial = "yes",
     .doc = "yes: it does not go above the bound; no: not below it"},
    {"bound", TALI_TYPE_REAL, 1, .flags = TALI_OF_MOBILITY, .doc = "[m or angle]"},
    {.name = NULL}};

static void build_stop(tali_model *m, tali_model_item *item)
{
    const tal_unilateral_def def = def_of(item);
    item->built = tal_unilateral_add_stop(m->matter, &def, mobility_of(m, item), item->p[NUMBERS],
                                          item->ref[FLAG] != 0)
                      .i;
}

static const tali_model_attribute ratchet_attributes[] = {
    {"mobility", TALI_TYPE_MOBILITY, .doc = "the speed"},
    {"is_upper", TALI_TYPE_BOOL, .initial = "no",
     .doc = "yes: it does not rise above `speed`; no: it does not fall below it"},
    {"speed", TALI_TYPE_REAL, 1, "0", TALI_OF_MOBILITY, .doc = "[m/s or angle/s]"},
    {.name = NULL}};

static void build_ratchet(tali_model *m, tali_model_item *item)
{
    const tal_unilateral_def def = def_of(item);
    item->built = tal_unilateral_add_ratchet(m->matter, &def, mobility_of(m, item),
                                             item->p[NUMBERS], item->ref[FLAG] != 0 ? -1 : 1)
                      .i;
}

// ---- friction without a normal of its own

// refs behind two bodies or a mobility, and numbers before those of the row
#define LOADS                                                                                      \
    {"load", TALI_TYPE_CONSTRAINT, .initial = "",                                                  \
     .doc = "the constraint that presses: friction is proportional to its load"},                  \
        {"load_row", TALI_TYPE_INTEGER, .initial = "0",                                            \
         .doc = "first of its equations that are used, counted from 0"},                           \
        {"load_rows", TALI_TYPE_INTEGER, .initial = "1",                                           \
         .doc = "number of its equations that are used, 1 to 5"},                                  \
    {                                                                                              \
        "load_weights", TALI_TYPE_REAL, TAL_UNILATERAL_LOAD_ROWS, "1 1 1 1 1",                     \
            TALI_NO_NEGATIVE_NUMBER,                                                               \
            .doc = "of these equations: the load is the root of the sum of squares of weight "     \
                   "times multiplier"                                                              \
    }

enum {
    LOAD = BODY_1 + 2,
    LOAD_ROW,
    LOAD_ROWS,
    BEHIND_LOAD = NUMBERS + TAL_UNILATERAL_LOAD_ROWS
};

static tal_unilateral_def loaded_def_of(const tali_model *m, const tali_model_item *item)
{
    tal_unilateral_def def = def_of(item);
    if (item->ref[LOAD] >= 0) def.load.constraint.i = m->items[item->ref[LOAD]].built;
    def.load.first = item->ref[LOAD_ROW];
    def.load.count = item->ref[LOAD_ROWS];
    for (int r = 0; r < TAL_UNILATERAL_LOAD_ROWS; ++r) {
        def.load.weight[r] = item->p[NUMBERS + r];
    }
    return def;
}

static void check_friction(tali_model *m, tali_model_item *item)
{
    const bool has_load = item->ref[LOAD] >= 0;
    if (item->p[3] > 0.0 || (has_load && item->p[0] > 0.0)) return;
    tali_model_item_error(m, item, "limit",
                          " needs a 'limit' above 0, the largest friction, or a 'load' and a "
                          "'static_mu' above 0");
}

// What it acts on, its load, and the parameters of its grip less the anchor.
static void describe_friction(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_unilateral_ix element = {d->index};
    const tal_constraint_ix grip = tal_unilateral_grip(model->matter, element);
    const tali_matter_constraint_facts facts = tali_matter_constraint_facts_of(model->matter, grip);
    const tal_unilateral_load load = tal_unilateral_load_of(model->matter, element);
    if (facts.num_mobilities > 0) {
        tali_model_say_index(d, facts.mobility_bodies[0]);
        tali_model_say_index(d, facts.mobility_index[0]);
    } else {
        tali_model_say_index(d, facts.bodies[0]);
        tali_model_say_index(d, facts.bodies[1]);
    }
    if (load.constraint.i >= 0 &&
        tal_constraint_unilateral(model->matter, load.constraint).i >= 0) {
        tali_model_write_refuse(d->w,
                                "unilateral '%s': its load is part of an element, which a file "
                                "cannot say",
                                d->name);
    }
    tali_model_say_index(d, load.constraint.i);
    tali_model_say_index(d, load.first);
    tali_model_say_index(d, load.count);
    tali_model_say_numbers(d, load.weight, TAL_UNILATERAL_LOAD_ROWS);
    int num;
    const double *params = tal_constraint_params(model->matter, model->state, grip, &num);
    const bool has_station = facts.num_mobilities == 0 && num > 3; // and an anchor behind it
    tali_model_say_numbers(
        d, params, has_station ? num - tal_unilateral_num_slips(model->matter, element) : num);
}

static const tali_model_attribute dry_friction_attributes[] = {
    {"mobility", TALI_TYPE_MOBILITY, .doc = "the speed"},
    LOADS,
    {"speed", TALI_TYPE_REAL, 1, "0", TALI_OF_MOBILITY,
     .doc =
         "the speed that friction leads to: 0 for a dry joint, another one for a clutch or a motor "
         "[m/s or angle/s]"},
    {.name = NULL}};

static void build_dry_friction(tali_model *m, tali_model_item *item)
{
    const tal_unilateral_def def = loaded_def_of(m, item);
    item->built =
        tal_unilateral_add_dry_friction(m->matter, &def, mobility_of(m, item), item->p[BEHIND_LOAD])
            .i;
}

static const tali_model_attribute friction_about_attributes[] = {
    BODIES_1_2,
    LOADS,
    {"axis", TALI_TYPE_REAL, 3, .doc = "on body 1, of any length except zero"},
    {.name = NULL}};

static void build_friction_about(tali_model *m, tali_model_item *item)
{
    const tal_unilateral_def def = loaded_def_of(m, item);
    item->built = tal_unilateral_add_friction_about(m->matter, &def, body_of(m, item, 0),
                                                    tali_model_vec3_at(item->p + BEHIND_LOAD),
                                                    body_of(m, item, 1))
                      .i;
}

static const tali_model_attribute friction_along_attributes[] = {
    BODIES_1_2,
    LOADS,
    {"direction", TALI_TYPE_REAL, 3, .doc = "of a line on body 1, of any length except zero"},
    {"point", TALI_TYPE_REAL, 3, "0", .doc = "of the line, on body 1 [m]"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"},
    {.name = NULL}};

static void build_friction_along(tali_model *m, tali_model_item *item)
{
    const tal_unilateral_def def = loaded_def_of(m, item);
    const double *p = item->p + BEHIND_LOAD;
    item->built = tal_unilateral_add_friction_along(
                      m->matter, &def, body_of(m, item, 0), tali_model_vec3_at(p),
                      tali_model_vec3_at(p + 3), body_of(m, item, 1), tali_model_vec3_at(p + 6))
                      .i;
}

static const tali_model_attribute friction_over_attributes[] = {
    BODIES_1_2,
    LOADS,
    {"plane", TALI_TYPE_FRAME, 12, "0", .doc = "frame on body 1: plane x and y"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on body 2 [m]"},
    {.name = NULL}};

static void build_friction_over(tali_model *m, tali_model_item *item)
{
    const tal_unilateral_def def = loaded_def_of(m, item);
    const tal_xform plane = tali_model_frame_at(item->p + BEHIND_LOAD);
    item->built = tal_unilateral_add_friction_over(m->matter, &def, body_of(m, item, 0), &plane,
                                                   body_of(m, item, 1),
                                                   tali_model_vec3_at(item->p + BEHIND_LOAD + 12))
                      .i;
}

#define LIMITED(element, text, attributes, checker, builder, describer)                            \
    {                                                                                              \
        .name = (element), .doc = (text), .shared = unilateral_attributes, .own = (attributes),    \
        .check = (checker), .build = (builder), .describe_shared = describe_unilateral,            \
        .describe = (describer)                                                                    \
    }
#define ELEMENT(element, text, attributes, checker, builder)                                       \
    LIMITED(element, text, attributes, checker, builder, describe_parts)

#define FRICTION(element, text, attributes, builder)                                               \
    {                                                                                              \
        .name = (element), .doc = (text), .shared = unilateral_attributes, .own = (attributes),    \
        .check = check_friction, .build = (builder), .describe_shared = describe_unilateral,       \
        .describe = describe_friction                                                              \
    }

// The first row is how they are handled.
const tali_model_row tali_model_unilateral_rows[] = {
    {.name = "handling",
     .doc = "How a run handles the elements. Without it the defaults are used.",
     .own = handling_attributes,
     .build = build_handling,
     .describe = describe_handling},
    LIMITED("point_on_plane",
            "A point of body 2 that stays above a plane of body 1. Where it sticks it is anchored.",
            point_on_plane_attributes, check_polygon, build_point_on_plane, describe_on_plane),
    LIMITED("sphere_on_plane",
            "A sphere of body 2 that stays above a plane of body 1. Where it sticks it rolls.",
            sphere_on_plane_attributes, check_polygon, build_sphere_on_plane, describe_on_plane),
    ELEMENT("sphere_on_sphere",
            "Two spheres that stay outside of each other. Where they stick they roll.",
            sphere_on_sphere_attributes, NULL, build_sphere_on_sphere),
    ELEMENT("sphere_in_sphere",
            "Sphere 2 stays inside sphere 1, which is larger. Where they stick they roll.",
            sphere_on_sphere_attributes, check_sphere_in_sphere, build_sphere_in_sphere),
    LIMITED("edge_on_edge", "Two straight edges that do not pass each other.",
            edge_on_edge_attributes, NULL, build_edge_on_edge, describe_edges),
    ELEMENT("rope", "A rope without mass: two points are never farther apart than its length.",
            rope_attributes, NULL, build_rope),
    ELEMENT("stop", "A coordinate that does not go beyond a bound. Only where qdot = u.",
            stop_attributes, NULL, build_stop),
    ELEMENT("ratchet", "A speed that does not fall below a value, or rise above it.",
            ratchet_attributes, NULL, build_ratchet),
    FRICTION("dry_friction",
             "Friction of a force up to `limit` that brings a speed to a value and keeps it there.",
             dry_friction_attributes, build_dry_friction),
    FRICTION("friction_about",
             "Friction of body 2 as it turns about an axis of body 1: in a pin, say, which is a "
             "constraint.",
             friction_about_attributes, build_friction_about),
    FRICTION("friction_along",
             "Friction of a point of body 2 as it slides along a line of body 1. Where it sticks "
             "it is anchored.",
             friction_along_attributes, build_friction_along),
    FRICTION("friction_over",
             "Friction of a point of body 2 as it slides over a plane of body 1, which a "
             "constraint keeps it in. Where it sticks it is anchored.",
             friction_over_attributes, build_friction_over),
    {.name = NULL}};
