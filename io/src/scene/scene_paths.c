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

bool tali_scene_find_muscles(tal_scene *scene)
{
    const tal_forces *const forces = scene->model.forces;
    const int paths = tal_forces_num_paths(forces);
    scene->muscles = tali_arena_take(&scene->arena, ((size_t)paths + 1) * sizeof *scene->muscles);
    if (scene->muscles == NULL) return false;
    for (int i = 0; i < paths; ++i) {
        scene->muscles[i] = (tal_force_ix){-1};
    }
    for (int i = 0; i < tal_forces_num(forces); ++i) {
        const tal_force_ix force = {i};
        if (!tal_force_is_muscle(forces, force)) continue;
        scene->muscles[tal_muscle_path(forces, force).i] = force;
    }
    return true;
}

// ---- the model

// The maximal force of a muscle sets how thick it is drawn.
static void put_strength(const tal_scene *scene, tali_scene_bytes *out, tal_force_ix muscle)
{
    tali_scene_put_key(out, "strength");
    tali_scene_put_number(
        out, tal_force_param(scene->model.forces, scene->state, muscle, TAL_MUSCLE_MAX_FORCE));
}

void tali_scene_put_paths(const tal_scene *scene, tali_scene_bytes *out)
{
    const tal_forces *const forces = scene->model.forces;
    tali_scene_put_key(out, "paths");
    tali_scene_put_text(out, "[");
    for (int i = 0; i < tal_forces_num_paths(forces); ++i) {
        const tal_force_ix muscle = scene->muscles[i];
        tali_scene_put_comma(out);
        tali_scene_put_text(out, "{");
        tali_scene_put_key(out, "name");
        tali_scene_put_string(out, tal_path_name(forces, (tal_path_ix){i}));
        tali_scene_put_key(out, "kind");
        tali_scene_put_string(out, muscle.i >= 0 ? "muscle" : "passive");
        tali_scene_put_key(out, "points");
        tali_scene_put_integer(out, most_points(forces, (tal_path_ix){i}));
        if (muscle.i >= 0) put_strength(scene, out, muscle);
        tali_scene_put_text(out, "}");
    }
    tali_scene_put_text(out, "]");
}

// ---- one moment

int tali_scene_num_path_channels(const tal_scene *scene)
{
    const tal_forces *const forces = scene->model.forces;
    int channels = 0;
    for (int i = 0; i < tal_forces_num_paths(forces); ++i) {
        channels += channels_of(forces, i);
    }
    return channels;
}

// Numbers of one moment among those of others: channel c is at at[c * step].
typedef struct moment {
    const tal_scene *scene;
    tal_state *state;
    double *at;
    size_t step;
} moment;

static void keep_point(const moment *it, int channel, int body, tal_vec3 p_G)
{
    const tal_xform X_GB = tal_body_X_GB(it->scene->model.matter, it->state, (tal_body_ix){body});
    const tal_vec3 p = tal_xf_inv_apply(X_GB, p_G);
    const double values[PER_POINT] = {body, p.x, p.y, p.z};
    for (int k = 0; k < PER_POINT; ++k) {
        it->at[(size_t)(channel + k) * it->step] = values[k];
    }
}

// The bodies of the points of a path without obstacles are known: a fixed point stays where it is
// on its body, which costs nothing. Points on obstacles are in Ground.
static void keep_points(const moment *it, int path, int channel, const tal_vec3 points[], int count)
{
    const tal_forces *const forces = it->scene->model.forces;
    const tal_path_ix ix = {path};
    const bool is_plain = tal_path_num_wraps(forces, ix) == 0;
    int point = 0;
    for (int k = 0; k < count; ++k, ++point) {
        int body = 0;
        if (is_plain) {
            while (!tal_path_is_point_active(forces, it->state, ix, point)) {
                ++point;
            }
            body = tal_path_point_body(forces, ix, point).i;
        }
        keep_point(it, channel + HEAD + PER_POINT * k, body, points[k]);
    }
}

// Places that a path does not use now are where its last point is: tracks cost least then.
static void keep_rest(const moment *it, int channel, int count, int most)
{
    for (int k = count > 0 ? count : 1; k < most; ++k) {
        for (int j = 0; j < PER_POINT; ++j) {
            const size_t to = (size_t)(channel + HEAD + PER_POINT * k + j);
            it->at[to * it->step] = it->at[(to - PER_POINT) * it->step];
        }
    }
}

static double activation_of(const moment *it, int path)
{
    const tal_force_ix muscle = it->scene->muscles[path];
    if (muscle.i < 0) return TALI_NAN;
    return tal_muscle_activation(it->scene->model.forces, it->state, muscle);
}

tal_status tali_scene_calc_paths(const tal_scene *scene, tal_state *state, bool knows_activation,
                                 double numbers[], size_t step)
{
    const tal_forces *const forces = scene->model.forces;
    const moment it = {scene, state, numbers, step};
    tal_vec3 points[MAX_POINTS];
    int channel = 0;
    for (int i = 0; i < tal_forces_num_paths(forces); ++i) {
        const int most = most_points(forces, (tal_path_ix){i});
        int count = tal_path_calc_points(forces, state, (tal_path_ix){i}, PER_ARC, points, most);
        if (count < 0) return tal_state_error(state)->status;
        if (count > most) count = most;
        numbers[(size_t)channel * step] = knows_activation ? activation_of(&it, i) : TALI_NAN;
        numbers[(size_t)(channel + 1) * step] = count;
        keep_points(&it, i, channel, points, count);
        keep_rest(&it, channel, count, most);
        channel += channels_of(forces, i);
    }
    return TAL_OK;
}

// ---- runs

bool tali_scene_paths_begin(tal_scene *scene, tali_scene_paths *paths, int frames)
{
    *paths = (tali_scene_paths){.frames = frames, .channels = tali_scene_num_path_channels(scene)};
    if (paths->channels == 0) return true;
    paths->bytes = (size_t)paths->channels * (size_t)frames * sizeof *paths->values;
    paths->values = tali_alloc(&scene->options.allocator, paths->bytes);
    return paths->values != NULL;
}

void tali_scene_paths_end(tal_scene *scene, tali_scene_paths *paths)
{
    tali_free(&scene->options.allocator, paths->values, paths->bytes);
}

tal_status tali_scene_paths_add(tal_scene *scene, tali_scene_paths *paths, bool knows_activation,
                                int frame)
{
    if (paths->channels == 0) return TAL_OK;
    return tali_scene_calc_paths(scene, scene->state, knows_activation, paths->values + frame,
                                 (size_t)paths->frames);
}

void tali_scene_paths_describe(tal_scene *scene, tali_scene_paths *paths, tali_scene_bytes *json,
                               tali_scene_track *track)
{
    if (paths->channels == 0) return;
    tali_scene_put_key(json, "paths");
    if (!tali_scene_add_values(scene, json, paths->values, paths->channels, paths->frames,
                               precision, track)) {
        scene->failed = true;
    }
}
