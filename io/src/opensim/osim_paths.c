// Paths: points on bodies, and the obstacles that they go over.
#include "error_internal.h"

#include "opensim/osim_internal.h"

#include <math.h>
#include <string.h>

// --- points ---

static const struct {
    const char *name;
    tali_osim_point_kind kind;
} kinds[] = {{"PathPoint", TALI_OSIM_FIXED_POINT},
             {"ConditionalPathPoint", TALI_OSIM_CONDITIONAL_POINT},
             {"MovingPathPoint", TALI_OSIM_MOVING_POINT},
             // before 2.0
             {"MusclePoint", TALI_OSIM_FIXED_POINT},
             {"MuscleViaPoint", TALI_OSIM_CONDITIONAL_POINT},
             {"MovingMusclePoint", TALI_OSIM_MOVING_POINT}};

enum {
    NUM_KINDS = sizeof kinds / sizeof *kinds
};

// The coordinate that a socket or a property names; -1, and an error, when there is none.
static int read_coordinate(tali_osim *o, const tali_xml_element *e, const char *name)
{
    const char *text = tali_osim_socket(e, name);
    if (text == NULL) text = tali_osim_text(e, name);
    if (text != NULL) return tali_osim_find_coordinate(o, e, text);
    return -1;
}

static void read_condition(tali_osim *o, const tali_xml_element *e, tali_osim_point *point)
{
    double range[2] = {0.0, 0.0};
    point->coordinates[0] = read_coordinate(o, e, "coordinate");
    if (point->coordinates[0] < 0) tali_osim_error(o, e, " needs <coordinate>");
    const tali_xml_element *property = tali_osim_property(e, "range");
    if (property == NULL || tali_osim_parse_numbers(property->text, range, 2) != 2 ||
        !(range[0] <= range[1])) {
        tali_osim_error(o, property != NULL ? property : e,
                        ": the range in which the point counts must be two numbers, low and high");
        return;
    }
    point->low = range[0];
    point->high = range[1];
    if (point->coordinates[0] < 0) return;
    const tali_osim_coordinate *q = &o->coordinates[point->coordinates[0]];
    if (point->low > q->high || point->high < q->low) {
        tali_osim_warn(o, e, ": its range, %g to %g, is outside of that of coordinate '%s'",
                       point->low, point->high, q->name);
    }
}

// <x_location>, <XAttachment> before 2.0; version 2 has the function in a set.
static const tali_xml_element *location_of(const tali_xml_element *e, const char *name,
                                           const char *old)
{
    const tali_xml_element *f = tali_osim_object(e, name);
    if (f == NULL) f = tali_osim_object(e, old);
    while (f != NULL && (strcmp(f->name, "objects") == 0 || strcmp(f->name, "FunctionSet") == 0)) {
        f = f->first;
    }
    return f;
}

// Three functions of coordinates. A function without a coordinate must not need one.
static void read_motion(tali_osim *o, const tali_xml_element *e, tali_osim_point *point)
{
    static const char *const names[3][3] = {{"x_location", "XAttachment", "x_coordinate"},
                                            {"y_location", "YAttachment", "y_coordinate"},
                                            {"z_location", "ZAttachment", "z_coordinate"}};
    int some = -1;
    for (int k = 0; k < 3; ++k) {
        point->coordinates[k] = read_coordinate(o, e, names[k][2]);
        if (some < 0) some = point->coordinates[k];
    }
    if (some < 0) tali_osim_error(o, e, " needs <x_coordinate>");
    for (int k = 0; k < 3; ++k) {
        const tali_xml_element *f = location_of(e, names[k][0], names[k][1]);
        if (f == NULL) continue;
        point->functions[k] = tali_osim_read_function(o, f, 1);
        if (point->coordinates[k] < 0 && strcmp(f->name, "Constant") != 0) {
            tali_osim_error(o, e, " needs <%s>", names[k][2]);
        }
    }
    for (int k = 0; k < 3; ++k) {
        if (point->coordinates[k] < 0) point->coordinates[k] = some;
    }
    bool moves = false;
    for (int k = 0; k < 3; ++k) {
        moves = moves || point->functions[k] != NULL;
    }
    if (!moves) point->kind = TALI_OSIM_FIXED_POINT; // at the origin
}

static void read_point(tali_osim *o, const tali_xml_element *e, tali_osim_point *point)
{
    static const tali_osim_place at = {"parent_frame", "body", "location", NULL};
    static const tali_osim_place frame = {"parent_frame", "body", NULL, NULL};
    int i = 0;
    while (i < NUM_KINDS && strcmp(kinds[i].name, e->name) != 0) {
        ++i;
    }
    *point = (tali_osim_point){.body = -1, .coordinates = {-1, -1, -1}};
    point->X_BF = TAL_XFORM_IDENTITY;
    if (i == NUM_KINDS) {
        tali_osim_error(o, e, ": points of this kind are not read");
        return;
    }
    point->kind = kinds[i].kind;
    tali_osim_check_class(o, e);
    const bool moves = point->kind == TALI_OSIM_MOVING_POINT;
    (void)tali_osim_read_place(o, e, moves ? &frame : &at, &point->body, &point->X_BF);
    if (point->kind == TALI_OSIM_CONDITIONAL_POINT) read_condition(o, e, point);
    if (moves) read_motion(o, e, point);
}

// --- obstacles ---

// The obstacle of a name; -1, and an error, when there is none or several. A path, as version 4 may
// have it, is more than a name.
static int find_wrap(tali_osim *o, const tali_xml_element *e, const char *text)
{
    const char *name = tali_osim_last_name(text);
    int found = -1;
    for (int i = 0; i < o->num_wraps; ++i) {
        if (strcmp(o->wraps[i].name, name) != 0) continue;
        if (found >= 0) {
            tali_osim_error(o, e, ": obstacles of several bodies are named '%.60s'", name);
            return -1;
        }
        found = i;
    }
    if (found < 0) {
        tali_osim_error(o, e, ": there is no wrap object '%.60s'", name);
    } else if (!o->wraps[found].known) {
        tali_osim_error(o, e, ": wrapping over '%.60s', a <%.40s>, is not done", name,
                        o->wraps[found].element->name);
        return -1;
    }
    return found;
}

// Numbers of points from 1 on; less than that means the end.
static int read_range(tali_osim *o, const tali_xml_element *e, int num_points, tali_osim_over *over)
{
    double range[2] = {-1.0, -1.0};
    const tali_xml_element *property = tali_osim_property(e, "range");
    if (property != NULL && (tali_osim_parse_numbers(property->text, range, 2) != 2 ||
                             range[0] > num_points || range[1] > num_points)) {
        tali_osim_error(o, property, ": '%.40s' is not two of the %d points", property->text,
                        num_points);
        return -1;
    }
    over->first = range[0] >= 1.0 ? (int)range[0] - 1 : -1;
    over->last = range[1] >= 1.0 ? (int)range[1] - 1 : -1;
    if (over->first >= 0 && over->last >= 0 && over->first > over->last) {
        tali_osim_error(o, property, ": the range ends at %d, before it begins", over->last + 1);
        return -1;
    }
    return 0;
}

static void read_over(tali_osim *o, const tali_xml_element *e, tali_osim_path *path)
{
    tali_osim_over *over = &path->over[path->num_over];
    const char *name = tali_osim_text(e, "wrap_object");
    tali_osim_check_class(o, e);
    if (name == NULL) {
        tali_osim_error(o, e, " needs <wrap_object>");
        return;
    }
    over->wrap = find_wrap(o, e, name);
    if (over->wrap < 0 || read_range(o, e, path->num_points, over) < 0) return;
    o->wraps[over->wrap].used = true;
    if (o->wraps[over->wrap].active) path->num_over += 1;
}

// --- the path ---

static int count(const tali_xml_element *first)
{
    int n = 0;
    for (; first != NULL; first = first->next) {
        ++n;
    }
    return n;
}

// Before 2.0 the points stand in the muscle itself.
static const tali_xml_element *geometry_of(const tali_xml_element *e)
{
    const tali_xml_element *path = tali_osim_object(e, "path");
    if (path == NULL) path = tali_osim_property(e, "GeometryPath");
    return path != NULL ? path : e;
}

static const tali_xml_element *points_of(const tali_xml_element *geometry)
{
    const tali_xml_element *first = tali_osim_first_of(geometry, "PathPointSet");
    return first != NULL ? first : tali_osim_first_of(geometry, "MusclePointSet");
}

static const tali_xml_element *wraps_of(const tali_xml_element *geometry)
{
    const tali_xml_element *first = tali_osim_first_of(geometry, "PathWrapSet");
    return first != NULL ? first : tali_osim_first_of(geometry, "MuscleWrapSet");
}

static void read_points(tali_osim *o, tali_osim_path *path, const tali_xml_element *first)
{
    for (const tali_xml_element *e = first; e != NULL; e = e->next) {
        read_point(o, e, &path->points[path->num_points]);
        path->num_points += 1;
    }
}

// A path that is a function of coordinates, since 4.5. Its moment arms and speed follow from it.
static void read_function_path(tali_osim *o, tali_osim_force *f, const tali_xml_element *e)
{
    const char *names[TAL_FUNCTION_MAX_ARGS];
    const tali_xml_element *function = tali_osim_object(e, "length_function");
    tali_osim_path *path = tali_osim_take(o, 1, sizeof *path);
    const int n = tali_osim_words(o, e, "coordinate_paths", names, TAL_FUNCTION_MAX_ARGS);
    tali_osim_check_class(o, e);
    if (path == NULL) return;
    path->path.i = -1;
    path->coordinates = tali_osim_take(o, n, sizeof *path->coordinates);
    if (function == NULL || n < 1) {
        tali_osim_error(o, e, " needs <%s>", n < 1 ? "coordinate_paths" : "length_function");
        return;
    }
    for (int i = 0; i < n && path->coordinates != NULL; ++i) {
        path->coordinates[i] = tali_osim_find_coordinate(o, e, names[i]);
        if (path->coordinates[i] < 0) return;
    }
    path->num_coordinates = n;
    path->length = tali_osim_read_function(o, function, n);
    f->path = path;
}

void tali_osim_read_path(tali_osim *o, tali_osim_force *f)
{
    const tali_xml_element *geometry = geometry_of(f->element);
    if (strcmp(geometry->name, "FunctionBasedPath") == 0) {
        read_function_path(o, f, geometry);
        return;
    }
    if (geometry != f->element && strcmp(geometry->name, "GeometryPath") != 0) {
        tali_osim_error(o, geometry, ": paths of this kind are not read");
        return;
    }
    if (geometry != f->element) tali_osim_check_class(o, geometry);
    const tali_xml_element *points = points_of(geometry), *over = wraps_of(geometry);
    if (count(points) < 2) {
        tali_osim_error(o, f->element, ": its path has %d point%s; two or more are needed",
                        count(points), count(points) == 1 ? "" : "s");
        return;
    }
    if (count(over) > TAL_MAX_PATH_WRAPS) {
        tali_osim_error(o, f->element, ": its path goes over %d obstacles; %d are possible",
                        count(over), TAL_MAX_PATH_WRAPS);
        return;
    }
    tali_osim_path *path = tali_osim_take(o, 1, sizeof *path);
    if (path == NULL) return;
    path->points = tali_osim_take(o, count(points), sizeof *path->points);
    path->over = tali_osim_take(o, count(over), sizeof *path->over);
    path->path.i = -1;
    if (path->points == NULL || path->over == NULL) return;
    f->path = path;
    read_points(o, path, points);
    for (const tali_xml_element *e = over; e != NULL; e = e->next) {
        read_over(o, e, path);
    }
}

// --- the System ---

static void add_point(tali_osim *o, tal_model *model, tal_path_ix path, tali_osim_point *point)
{
    const tal_body_ix body = o->bodies[point->body].body;
    tal_mobility at[3] = {{{-1}, -1}, {{-1}, -1}, {{-1}, -1}};
    for (int k = 0; k < 3; ++k) {
        if (point->coordinates[k] >= 0) at[k] = o->coordinates[point->coordinates[k]].mobility;
    }
    switch (point->kind) {
    case TALI_OSIM_FIXED_POINT:
        (void)tal_path_add_point(model->forces, path, body, point->X_BF.p);
        break;
    case TALI_OSIM_CONDITIONAL_POINT:
        (void)tal_path_add_conditional_point(model->forces, path, body, point->X_BF.p, at[0],
                                             point->low, point->high);
        break;
    case TALI_OSIM_MOVING_POINT:
        (void)tal_path_add_moving_point(model->forces, path, body, &point->X_BF, at,
                                        point->functions);
        memset(point->functions, 0, sizeof point->functions); // adopted
        break;
    }
}

tal_path_ix tali_osim_add_path(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    tali_osim_path *it = f->path;
    if (it->length != NULL) {
        tal_mobility at[TAL_FUNCTION_MAX_ARGS];
        for (int i = 0; i < it->num_coordinates; ++i) {
            at[i] = o->coordinates[it->coordinates[i]].mobility;
        }
        tal_function *length = it->length;
        it->length = NULL; // adopted whether it succeeds or not
        it->path =
            tal_forces_add_function_path(model->forces, f->name, at, it->num_coordinates, length);
        return it->path;
    }
    it->path = tal_forces_add_path(model->forces, f->name);
    for (int i = 0; i < it->num_points; ++i) {
        add_point(o, model, it->path, &it->points[i]);
    }
    for (int i = 0; i < it->num_over; ++i) {
        (void)tal_path_add_wrap(model->forces, it->path, o->wraps[it->over[i].wrap].wrap,
                                it->over[i].first, it->over[i].last);
    }
    return it->path;
}
