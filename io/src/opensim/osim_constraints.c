// Constraints: couplers of coordinates, points, lines, distances, welds.
#include "error_internal.h"

#include "opensim/osim_internal.h"

#include <stdio.h>
#include <string.h>

// --- couplers ---

// f of n arguments made into a function of n + 1 of which the last does not count.
static tal_status widen(const tal_allocator *allocator, tal_function *f, int n, tal_function **out)
{
    tal_function *inner[TAL_FUNCTION_MAX_ARGS] = {NULL};
    tal_status st = TAL_OK;
    for (int i = 0; i < n && st == TAL_OK; ++i) {
        double pick[TAL_FUNCTION_MAX_ARGS] = {0.0};
        pick[i] = 1.0;
        st = tal_function_create_linear(allocator, pick, n + 1, 0.0, &inner[i], NULL);
    }
    if (st == TAL_OK) st = tal_function_create_composition(allocator, f, inner, n, out, NULL);
    for (int i = 0; i < n && st != TAL_OK; ++i) {
        tal_function_destroy(inner[i]);
    }
    return st;
}

// scale f(q_1, ..., q_n) - q_dependent, which is to vanish. Adopts f.
static tal_function *make_coupler(tali_osim *o, tal_function *f, int n, double scale)
{
    const tal_allocator *allocator = &o->arena.allocator;
    tal_function *terms[2] = {NULL}, *outer = NULL, *wide = NULL, *sum = NULL;
    double minus[TAL_FUNCTION_MAX_ARGS] = {0.0};
    minus[n] = -1.0;
    tal_status st = widen(allocator, f, n, &wide);
    if (st != TAL_OK) tal_function_destroy(f);
    if (st == TAL_OK && scale != 1.0) {
        st = tal_function_create_linear(allocator, &scale, 1, 0.0, &outer, NULL);
        if (st == TAL_OK) {
            st = tal_function_create_composition(allocator, outer, &wide, 1, &terms[0], NULL);
        }
        if (st == TAL_OK) wide = outer = NULL;
    } else {
        terms[0] = wide;
        wide = NULL;
    }
    if (st == TAL_OK) {
        st = tal_function_create_linear(allocator, minus, n + 1, 0.0, &terms[1], NULL);
    }
    if (st == TAL_OK) st = tal_function_create_sum(allocator, terms, 2, &sum, NULL);
    if (st == TAL_OK) return sum;
    tal_function_destroy(outer);
    tal_function_destroy(wide);
    tal_function_destroy(terms[0]);
    tal_function_destroy(terms[1]);
    o->no_memory = true;
    return NULL;
}

// Which coordinates, in the order of the arguments, and how they depend on each other.
static void read_coupler(tali_osim *o, tali_osim_constraint *it)
{
    const tali_xml_element *e = it->element;
    const char *names[TAL_CONSTRAINT_MOBILITIES];
    const int n =
        tali_osim_words(o, e, "independent_coordinate_names", names, TAL_CONSTRAINT_MOBILITIES - 1);
    const char *dependent = tali_osim_text(e, "dependent_coordinate_name");
    const tali_xml_element *function = tali_osim_object(e, "coupled_coordinates_function");
    if (n < 1 || dependent == NULL || function == NULL) {
        tali_osim_error(o, e, " needs <%s>",
                        n < 1               ? "independent_coordinate_names"
                        : dependent == NULL ? "dependent_coordinate_name"
                                            : "coupled_coordinates_function");
        return;
    }
    names[n] = dependent;
    for (int i = 0; i <= n; ++i) {
        it->coords[i] = tali_osim_find_coordinate(o, e, names[i]);
        if (it->coords[i] < 0) return;
        o->coordinates[it->coords[i]].coupled = true;
    }
    it->num_coords = n + 1;
    tal_function *f = tali_osim_read_function(o, function, n);
    if (f == NULL) return;
    it->function = make_coupler(o, f, n, tali_osim_number(o, e, "scale_factor", 1.0));
}

// --- points and frames ---

static void read_weld(tali_osim *o, tali_osim_constraint *it)
{
    static const tali_osim_place places[] = {
        {"frame1", "body_1", "location_body_1", "orientation_body_1"},
        {"frame2", "body_2", "location_body_2", "orientation_body_2"}};
    (void)tali_osim_read_place(o, it->element, &places[0], &it->body1, &it->X_1);
    (void)tali_osim_read_place(o, it->element, &places[1], &it->body2, &it->X_2);
}

static void read_points(tali_osim *o, tali_osim_constraint *it)
{
    static const tali_osim_place places[] = {{"body_1", "body_1", "location_body_1", NULL},
                                             {"body_2", "body_2", "location_body_2", NULL}};
    (void)tali_osim_read_place(o, it->element, &places[0], &it->body1, &it->X_1);
    (void)tali_osim_read_place(o, it->element, &places[1], &it->body2, &it->X_2);
}

static void read_distance(tali_osim *o, tali_osim_constraint *it)
{
    read_points(o, it);
    it->distance = tali_osim_number(o, it->element, "constant_distance", 0.0);
    if (!(it->distance > 0.0)) {
        tali_osim_error(o, it->element, ": its constant_distance %g is not above zero",
                        it->distance);
    }
}

static void read_point_on_line(tali_osim *o, tali_osim_constraint *it)
{
    static const tali_osim_place places[] = {
        {"line_body", "line_body", "point_on_line", NULL},
        {"follower_body", "follower_body", "point_on_follower", NULL}};
    const tali_xml_element *e = it->element;
    (void)tali_osim_read_place(o, e, &places[0], &it->body1, &it->X_1);
    (void)tali_osim_read_place(o, e, &places[1], &it->body2, &it->X_2);
    const tal_vec3 direction = tali_osim_vec3(o, e, "line_direction_vec", tal_v3(0.0, 0.0, 1.0));
    it->direction = tal_m3_mul_v3(it->X_1.R, direction);
    if (!(tal_v3_norm(direction) > 0.0)) {
        tali_osim_error(o, e, ": its line_direction_vec has no length");
    }
}

// The surface is body 1, the roller body 2.
static void read_rolling(tali_osim *o, tali_osim_constraint *it)
{
    static const tali_osim_place places[] = {{"surface_body", "surface_body", NULL, NULL},
                                             {"rolling_body", "rolling_body", NULL, NULL}};
    const tali_xml_element *e = it->element;
    (void)tali_osim_read_place(o, e, &places[0], &it->body1, &it->X_1);
    (void)tali_osim_read_place(o, e, &places[1], &it->body2, &it->X_2);
    it->direction = tali_osim_vec3(o, e, "surface_normal", tal_v3(0.0, 1.0, 0.0));
    it->distance = tali_osim_number(o, e, "surface_height", 0.0);
    if (!(tal_v3_norm(it->direction) > 0.0)) {
        tali_osim_error(o, e, ": its surface_normal has no length");
    }
}

// --- adding ---

static tal_constraint_def between(const tali_osim *o, const tali_osim_constraint *it)
{
    tal_constraint_def def =
        tal_constraint_between(o->bodies[it->body1].body, o->bodies[it->body2].body);
    def.name = it->name;
    def.disabled = !it->enforced;
    return def;
}

static void add_coupler(tali_osim *o, tal_model *model, tali_osim_constraint *it)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.name = it->name;
    def.disabled = !it->enforced;
    def.num_mobilities = it->num_coords;
    for (int i = 0; i < it->num_coords; ++i) {
        def.mobilities[i] = o->coordinates[it->coords[i]].mobility;
    }
    tal_function *f = it->function;
    it->function = NULL; // adopted whether it succeeds or not
    (void)tal_constraint_add_coordinate_coupler(model->matter, &def, f);
}

static void add_weld(tali_osim *o, tal_model *model, tali_osim_constraint *it)
{
    const tal_constraint_def def = between(o, it);
    (void)tal_constraint_add_weld(model->matter, &def, &it->X_1, &it->X_2);
}

static void add_point(tali_osim *o, tal_model *model, tali_osim_constraint *it)
{
    const tal_constraint_def def = between(o, it);
    (void)tal_constraint_add_ball(model->matter, &def, it->X_1.p, it->X_2.p);
}

static void add_distance(tali_osim *o, tal_model *model, tali_osim_constraint *it)
{
    const tal_constraint_def def = between(o, it);
    (void)tal_constraint_add_rod(model->matter, &def, it->X_1.p, it->X_2.p, it->distance);
}

static void add_point_on_line(tali_osim *o, tal_model *model, tali_osim_constraint *it)
{
    const tal_constraint_def def = between(o, it);
    (void)tal_constraint_add_point_on_line(model->matter, &def, it->direction, it->X_1.p,
                                           it->X_2.p);
}

// The roller's origin stays in a plane, at the surface's origin it does not slip along x and z, and
// it does not spin: z of the roller stays perpendicular to x of the surface.
static void add_rolling(tali_osim *o, tal_model *model, tali_osim_constraint *it)
{
    static const char *const ends[] = {"", "_spin", "_slip_x", "_slip_z"};
    static const double right = 1.57079632679489661923;
    const tal_vec3 origin = TAL_VEC3_ZERO, x = {1.0, 0.0, 0.0}, z = {0.0, 0.0, 1.0};
    for (int k = 0; k < TALI_OSIM_ROLLING_NUM; ++k) {
        char name[TAL_MAX_NAME + 1];
        tal_constraint_def def = between(o, it);
        (void)snprintf(name, sizeof name, "%.40s%s", it->name != NULL ? it->name : "", ends[k]);
        if (it->name != NULL) def.name = name;
        if (k == TALI_OSIM_ROLLING_HEIGHT) {
            (void)tal_constraint_add_point_in_plane(model->matter, &def, it->direction,
                                                    it->distance, origin);
        } else if (k == TALI_OSIM_ROLLING_SPIN) {
            (void)tal_constraint_add_constant_angle(model->matter, &def, x, z, right);
        } else {
            def.num_bodies = 3; // the case is the surface, too
            def.bodies[2] = def.bodies[1];
            def.bodies[1] = def.bodies[0];
            (void)tal_constraint_add_no_slip_1d(model->matter, &def, origin,
                                                k == TALI_OSIM_ROLLING_SLIP_X ? x : z);
        }
    }
}

// --- the table ---

static const struct {
    const char *name;
    void (*read)(tali_osim *o, tali_osim_constraint *it);
    void (*add)(tali_osim *o, tal_model *model, tali_osim_constraint *it);
} rows[] = {{"CoordinateCouplerConstraint", read_coupler, add_coupler},
            {"WeldConstraint", read_weld, add_weld},
            {"PointConstraint", read_points, add_point},
            {"ConstantDistanceConstraint", read_distance, add_distance},
            {"PointOnLineConstraint", read_point_on_line, add_point_on_line},
            {"RollingOnSurfaceConstraint", read_rolling, add_rolling}};

enum {
    NUM_ROWS = sizeof rows / sizeof *rows
};

static int find_row(const char *name)
{
    int i = 0;
    while (i < NUM_ROWS && strcmp(rows[i].name, name) != 0) {
        ++i;
    }
    return i;
}

// A constraint that is not known is an error, unless it is switched off.
static void read_constraint(tali_osim *o, const tali_xml_element *e, bool induced)
{
    const int row = find_row(e->name);
    const bool enforced = tali_osim_is_on(o, e, "isEnforced", "isDisabled");
    if (row == NUM_ROWS && !enforced) {
        tali_osim_ignore(o, e, TAL_NOTE, "is not read");
        return;
    }
    if (row == NUM_ROWS) {
        tali_osim_error(o, e, ": constraints of this kind are not read");
        return;
    }
    tali_osim_constraint *it = TALI_OSIM_ADD(o, constraints);
    if (it == NULL) return;
    it->element = e;
    it->name = tali_osim_name(e);
    it->enforced = enforced && !induced;
    it->induced = induced;
    it->X_1 = it->X_2 = TAL_XFORM_IDENTITY;
    tali_osim_check_class(o, e);
    rows[row].read(o, it);
    if (it->name[0] == '\0' || induced) it->name = NULL; // it gets its number
    const char *flaw = it->name != NULL ? tali_text_name_flaw(it->name) : NULL;
    if (flaw != NULL) tali_osim_error(o, e, ": %s", flaw);
}

void tali_osim_read_constraints(tali_osim *o)
{
    const tali_xml_element *e = tali_osim_first_of(o->model, "ConstraintSet");
    for (; e != NULL; e = e->next) {
        read_constraint(o, e, false);
    }
    tali_xml *const own = o->xml;
    o->xml = o->more_constraints_file != NULL ? o->more_constraints_file : own;
    for (e = o->more_constraints; e != NULL; e = e->next) {
        read_constraint(o, e, true);
    }
    o->xml = own;
}

void tali_osim_add_constraints(tali_osim *o, tal_model *model)
{
    for (int i = 0; i < o->num_constraints; ++i) {
        tali_osim_constraint *it = &o->constraints[i];
        it->constraint.i = tal_matter_num_constraints(model->matter);
        rows[find_row(it->element->name)].add(o, model, it);
        it->num_made = tal_matter_num_constraints(model->matter) - it->constraint.i;
    }
}
