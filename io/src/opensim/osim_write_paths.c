// Paths and obstacles as elements of .osim files.
#include "path_facts_internal.h"

#include "opensim/osim_write_internal.h"

#include <math.h>
#include <stdio.h>

// --- obstacles ---

// Sizes by what the shape is.
static void write_wrap(tali_osim_writer *w, tal_wrap_ix wrap)
{
    static const char *const tags[] = {"WrapCylinder", "WrapSphere", "WrapEllipsoid", "WrapTorus"};
    const tal_forces *forces = w->model->forces;
    tal_wrap shape;
    tal_xform X_BW;
    (void)tal_wrap_shape(forces, wrap, &shape, &X_BW);
    const char *tag = tags[(int)shape.kind];
    tali_osim_open_tag(w, tag, tal_wrap_name(forces, wrap));
    tali_osim_put_bool(w, "active", true);
    tali_osim_put_frame(w, "xyz_body_rotation", "translation", X_BW);
    tali_osim_put_text(w, "quadrant",
                       shape.side == TAL_WRAP_ANY_SIDE ? "all" : tal_wrap_side_name(shape.side));
    if (shape.kind == TAL_WRAP_ELLIPSOID) {
        tali_osim_put_vec3(w, "dimensions", shape.size);
    } else if (shape.kind == TAL_WRAP_TORUS) {
        tali_osim_put_number(w, "inner_radius", shape.size.y);
        tali_osim_put_number(w, "outer_radius", shape.size.x);
    } else {
        tali_osim_put_number(w, "radius", shape.size.x);
    }
    if (shape.kind == TAL_WRAP_CYLINDER) {
        // longer than any body, where there is no end
        tali_osim_put_number(w, "length", isfinite(shape.size.y) ? shape.size.y : 1e6);
    }
    tali_osim_close_tag(w, tag);
}

void tali_osim_write_wraps(tali_osim_writer *w, int body)
{
    const tal_forces *forces = w->model->forces;
    bool any = false;
    for (int i = 0; i < tal_forces_num_wraps(forces); ++i) {
        const tal_wrap_ix wrap = {i};
        if (tal_wrap_body(forces, wrap).i != body) continue;
        if (!any) {
            tali_osim_open_tag(w, "WrapObjectSet", "wrapobjectset");
            tali_osim_open_tag(w, "objects", NULL);
        }
        any = true;
        write_wrap(w, wrap);
    }
    if (!any) return;
    tali_osim_close_tag(w, "objects");
    tali_osim_close_tag(w, "WrapObjectSet");
}

// --- points ---

static void frame_name(const tali_osim_writer *w, tal_path_ix path, int point, char name[])
{
    (void)snprintf(name, TALI_OSIM_NAME, "%s_frame%d", tal_path_name(w->model->forces, path),
                   point + 1);
}

// A moving point whose frame is not that of its body.
static bool has_frame(const tali_osim_writer *w, tal_path_ix path, int point)
{
    const tali_path_point_facts facts = tali_path_point_facts_of(w->model->forces, path, point);
    return facts.kind == 2 && !tali_osim_is_identity(facts.X_BP);
}

void tali_osim_write_point_frames(tali_osim_writer *w, int body)
{
    const tal_forces *forces = w->model->forces;
    bool any = false;
    for (int i = 0; i < tal_forces_num_paths(forces); ++i) {
        const tal_path_ix path = {i};
        for (int k = 0; k < tal_path_num_points(forces, path); ++k) {
            if (tal_path_point_body(forces, path, k).i != body || !has_frame(w, path, k)) continue;
            char name[TALI_OSIM_NAME];
            frame_name(w, path, k, name);
            if (!any) tali_osim_open_tag(w, "components", NULL);
            any = true;
            tali_osim_open_tag(w, "PhysicalOffsetFrame", name);
            tali_osim_put_text(w, "socket_parent", "..");
            tali_osim_put_frame(w, "orientation", "translation",
                                *tali_path_point_facts_of(forces, path, k).X_BP);
            tali_osim_close_tag(w, "PhysicalOffsetFrame");
        }
    }
    if (any) tali_osim_close_tag(w, "components");
}

static void put_point_frame(tali_osim_writer *w, tal_path_ix path, int point)
{
    const int body = tal_path_point_body(w->model->forces, path, point).i;
    if (!has_frame(w, path, point)) {
        tali_osim_put_body(w, "socket_parent_frame", body);
        return;
    }
    char text[3 * TALI_OSIM_NAME], name[TALI_OSIM_NAME];
    frame_name(w, path, point, name);
    if (body == 0) {
        (void)snprintf(text, sizeof text, "/ground/%s", name);
    } else {
        (void)snprintf(text, sizeof text, "/bodyset/%s/%s",
                       tal_body_name(w->model->matter, (tal_body_ix){body}), name);
    }
    tali_osim_put_text(w, "socket_parent_frame", text);
}

static void put_coordinate(tali_osim_writer *w, const char *tag, tal_mobility at)
{
    char path[3 * TALI_OSIM_NAME];
    tali_osim_coordinate_path(w, at, path);
    tali_osim_put_text(w, tag, path);
}

static void write_moving(tali_osim_writer *w, tal_path_ix path, const tali_path_point_facts *facts)
{
    static const char *const names[3][2] = {{"socket_x_coordinate", "x_location"},
                                            {"socket_y_coordinate", "y_location"},
                                            {"socket_z_coordinate", "z_location"}};
    for (int k = 0; k < 3; ++k) {
        if (facts->f[k] == NULL) {
            tali_osim_open_tag(w, "Constant", names[k][1]);
            tali_osim_put_number(w, "value", 0.0);
            tali_osim_close_tag(w, "Constant");
            continue;
        }
        put_coordinate(w, names[k][0], facts->at[k]);
        tali_osim_put_function(w, facts->f[k], names[k][1], tal_path_name(w->model->forces, path));
    }
}

static void write_point(tali_osim_writer *w, tal_path_ix path, int i)
{
    static const char *const tags[] = {"PathPoint", "ConditionalPathPoint", "MovingPathPoint"};
    const tal_model *model = w->model;
    const tali_path_point_facts facts = tali_path_point_facts_of(model->forces, path, i);
    char name[TALI_OSIM_NAME];
    (void)snprintf(name, sizeof name, "%s-P%d", tal_path_name(model->forces, path), i + 1);
    tali_osim_open_tag(w, tags[facts.kind], name);
    put_point_frame(w, path, i);
    if (facts.kind == 2) {
        write_moving(w, path, &facts);
    } else {
        tali_osim_put_vec3(w, "location",
                           tal_path_point_station(model->forces, model->state, path, i));
    }
    if (facts.kind == 1) {
        const double range[] = {facts.low, facts.high};
        put_coordinate(w, "socket_coordinate", facts.when);
        tali_osim_put_numbers(w, "range", range, 2);
    }
    tali_osim_close_tag(w, tags[facts.kind]);
}

// --- the path ---

static void write_over(tali_osim_writer *w, tal_path_ix path, int k)
{
    const tal_forces *forces = w->model->forces;
    tal_wrap_ix wrap;
    int first, last;
    char name[TALI_OSIM_NAME], range[40];
    tali_path_over_facts_of(forces, path, k, &wrap, &first, &last);
    (void)snprintf(name, sizeof name, "wrap%d", k + 1);
    tali_osim_open_tag(w, "PathWrap", name);
    tali_osim_put_text(w, "wrap_object", tal_wrap_name(forces, wrap));
    tali_osim_put_text(w, "method", "hybrid");
    const bool all = first == 0 && last == tal_path_num_points(forces, path) - 1;
    (void)snprintf(range, sizeof range, "%d %d", all ? -1 : first + 1, all ? -1 : last + 1);
    tali_osim_put_text(w, "range", range);
    tali_osim_close_tag(w, "PathWrap");
}

// A path that is a function of coordinates, as OpenSim has it since 4.5. False: it has points.
static bool write_function_path(tali_osim_writer *w, tal_path_ix path)
{
    const tal_forces *forces = w->model->forces;
    const tal_mobility *at = NULL;
    int n = 0;
    const tal_function *length = tali_path_function_of(forces, path, &at, &n);
    if (length == NULL) return false;
    char list[TAL_FUNCTION_MAX_ARGS * 3 * TALI_OSIM_NAME] = "", name[3 * TALI_OSIM_NAME];
    size_t used = 0;
    for (int i = 0; i < n; ++i) {
        tali_osim_coordinate_path(w, at[i], name);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? " " : "", name);
    }
    tali_osim_open_tag(w, "FunctionBasedPath", "path");
    tali_osim_put_text(w, "coordinate_paths", list);
    tali_osim_put_function(w, length, "length_function", tal_path_name(forces, path));
    tali_osim_close_tag(w, "FunctionBasedPath");
    return true;
}

void tali_osim_write_path(tali_osim_writer *w, tal_path_ix path)
{
    const tal_forces *forces = w->model->forces;
    const int n = tal_path_num_points(forces, path);
    if (write_function_path(w, path)) return;
    tali_osim_open_tag(w, "GeometryPath", "path");
    tali_osim_open_tag(w, "PathPointSet", NULL);
    tali_osim_open_tag(w, "objects", NULL);
    for (int i = 0; i < n; ++i) {
        write_point(w, path, i);
    }
    tali_osim_close_tag(w, "objects");
    tali_osim_close_tag(w, "PathPointSet");
    tali_osim_open_tag(w, "PathWrapSet", NULL);
    tali_osim_open_tag(w, "objects", NULL);
    for (int k = 0; k < tal_path_num_wraps(forces, path); ++k) {
        write_over(w, path, k);
    }
    tali_osim_close_tag(w, "objects");
    tali_osim_close_tag(w, "PathWrapSet");
    tali_osim_close_tag(w, "GeometryPath");
}
