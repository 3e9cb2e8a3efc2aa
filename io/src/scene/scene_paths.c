// Paths of a scene: muscles, ligaments and cables through time, and the obstacles they go over.
#include "alloc_internal.h"
#include "error_internal.h"

#include "scene/scene_internal.h"

#include <math.h>
#include <string.h>

enum {
    PER_ARC = 8,      // points on an obstacle
    HEAD = 2,         // channels of a path before its points: activation, number of points
    PER_POINT = 4,    // body, and where on it
    MAX_POINTS = 1024 // of one path that is drawn
};

static const double precision = 1e-5; // of where a point has been

// The most points that a path ever has.
static int most_points(const tal_forces *forces, tal_path_ix path)
{
    const int n = tal_path_num_points(forces, path) + PER_ARC * tal_path_num_wraps(forces, path);
    return n < MAX_POINTS ? n : MAX_POINTS;
}

static int channels_of(const tal_forces *forces, int path)
{
    return HEAD + PER_POINT * most_points(forces, (tal_path_ix){path});
}

// ---- the model

void tali_scene_put_paths(const tal_scene *scene, tali_scene_bytes *out)
{
    const tal_forces *const forces = scene->model.forces;
    tali_scene_put_key(out, "paths");
    tali_scene_put_text(out, "[");
    for (int i = 0; i < tal_forces_num_paths(forces); ++i) {
        tali_scene_put_comma(out);
        tali_scene_put_text(out, "{");
        tali_scene_put_key(out, "name");
        tali_scene_put_string(out, tal_path_name(forces, (tal_path_ix){i}));
        tali_scene_put_key(out, "kind");
        tali_scene_put_string(out, "muscle");
        tali_scene_put_key(out, "points");
        tali_scene_put_integer(out, most_points(forces, (tal_path_ix){i}));
        tali_scene_put_text(out, "}");
    }
    tali_scene_put_text(out, "]");
}

// ---- runs

bool tali_scene_paths_begin(tal_scene *scene, tali_scene_paths *paths, int frames)
{
    const tal_forces *const forces = scene->model.forces;
    *paths = (tali_scene_paths){.frames = frames};
    for (int i = 0; i < tal_forces_num_paths(forces); ++i) {
        paths->channels += channels_of(forces, i);
    }
    if (paths->channels == 0) return true;
    const size_t points = MAX_POINTS * sizeof *paths->points;
    paths->bytes = (size_t)paths->channels * (size_t)frames * sizeof *paths->values;
    paths->points = tali_arena_take(&scene->arena, points);
    paths->values = tali_alloc(&scene->options.allocator, paths->bytes);
    return paths->values != NULL && paths->points != NULL;
}

void tali_scene_paths_end(tal_scene *scene, tali_scene_paths *paths)
{
    tali_free(&scene->options.allocator, paths->values, paths->bytes);
}

static void keep_point(tal_scene *scene, tali_scene_paths *paths, int channel, int frame, int body,
                       tal_vec3 p_G)
{
    const tal_xform X_GB = tal_body_X_GB(scene->model.matter, scene->state, (tal_body_ix){body});
    const tal_vec3 p = tal_xf_inv_apply(X_GB, p_G);
    const double values[PER_POINT] = {body, p.x, p.y, p.z};
    for (int k = 0; k < PER_POINT; ++k) {
        paths->values[(size_t)(channel + k) * (size_t)paths->frames + (size_t)frame] = values[k];
    }
}

// The bodies of the points of a path without obstacles are known: a fixed point stays where it is
// on its body, which costs nothing. Points on obstacles are in Ground.
static void keep_points(tal_scene *scene, tali_scene_paths *paths, int path, int channel, int frame,
                        int count)
{
    const tal_forces *const forces = scene->model.forces;
    const tal_path_ix ix = {path};
    const bool is_plain = tal_path_num_wraps(forces, ix) == 0;
    int point = 0;
    for (int k = 0; k < count; ++k, ++point) {
        int body = 0;
        if (is_plain) {
            while (!tal_path_is_point_active(forces, scene->state, ix, point)) {
                ++point;
            }
            body = tal_path_point_body(forces, ix, point).i;
        }
        keep_point(scene, paths, channel + HEAD + PER_POINT * k, frame, body, paths->points[k]);
    }
}

tal_status tali_scene_paths_add(tal_scene *scene, tali_scene_paths *paths, int frame)
{
    const tal_forces *const forces = scene->model.forces;
    int channel = 0;
    for (int i = 0; i < tal_forces_num_paths(forces); ++i) {
        const int most = most_points(forces, (tal_path_ix){i});
        int count = tal_path_calc_points(forces, scene->state, (tal_path_ix){i}, PER_ARC,
                                         paths->points, most);
        if (count < 0) return tal_state_error(scene->state)->status;
        if (count > most) count = most;
        const size_t at = (size_t)channel * (size_t)paths->frames + (size_t)frame;
        paths->values[at] = TALI_NAN; // the table does not say how active it is
        paths->values[at + (size_t)paths->frames] = count;
        keep_points(scene, paths, i, channel, frame, count);
        channel += channels_of(forces, i);
    }
    return TAL_OK;
}

void tali_scene_paths_describe(tal_scene *scene, tali_scene_paths *paths, tali_scene_bytes *json)
{
    tali_scene_track track;
    if (paths->channels == 0) return;
    tali_scene_put_key(json, "paths");
    if (!tali_scene_add_values(scene, json, paths->values, paths->channels, paths->frames,
                               precision, &track)) {
        scene->failed = true;
    }
}
