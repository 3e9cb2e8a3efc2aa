// A scene being made: bytes that grow, JSON, tracks of numbers, and what files of this room share.
#ifndef TALUS_IO_SCENE_INTERNAL_H
#define TALUS_IO_SCENE_INTERNAL_H

#include "text/arena_internal.h"

#include <talus/io/scene.h>

#include <stdint.h>

// ---- bytes and JSON (scene_text.c)

/// Bytes that grow. The first lack of memory stays: nothing is added after it.
typedef struct tali_scene_bytes {
    tal_allocator allocator;
    unsigned char *at; ///< [capacity], of which `size` are used; owned
    size_t size, capacity;
    bool failed;
} tali_scene_bytes;

void tali_scene_put(tali_scene_bytes *out, const void *bytes, size_t size);
void tali_scene_put_text(tali_scene_bytes *out, const char *text);
/// As JSON in an HTML page: quotes, and escapes for what could end a script.
void tali_scene_put_string(tali_scene_bytes *out, const char *text);
/// As few digits as give the number back; null for what is not finite.
void tali_scene_put_number(tali_scene_bytes *out, double value);
/// [1,2,3]
void tali_scene_put_numbers(tali_scene_bytes *out, const double values[], int n);
/// The same as integers.
void tali_scene_put_integer(tali_scene_bytes *out, long long value);
/// ,"key": with a comma before it unless it is the first behind a brace.
void tali_scene_put_key(tali_scene_bytes *out, const char *key);
void tali_scene_put_vec3(tali_scene_bytes *out, tal_vec3 v);
/// Position and quaternion, w first: seven numbers.
void tali_scene_put_xform(tali_scene_bytes *out, const tal_xform *X);
void tali_scene_put_base64(tali_scene_bytes *out, const unsigned char bytes[], size_t size);
/// A comma where something stands before the next element of a list.
void tali_scene_put_comma(tali_scene_bytes *out);
/// Zero bytes up to a multiple of four.
void tali_scene_pad(tali_scene_bytes *out, unsigned char with);
void tali_scene_bytes_free(tali_scene_bytes *out);

// ---- tracks (scene_track.c)

/// Numbers through time: value = base + quantum n. The n are differenced `order` times, made
/// unsigned by zigzag, and stored by bytes: byte p of channel 0 at all frames, of channel 1, ...
typedef struct tali_scene_track {
    size_t at; ///< in the data of the scene
    int frames, channels;
    int planes;           ///< bytes of a number, 0 to 4
    unsigned char *order; ///< [channels]
    double *base;         ///< [channels]
    double *quantum;      ///< [channels]
    bool has_mask;        ///< a byte for each value follows, 1 where it is there
} tali_scene_track;

/// Add a track of integers to the data, and its description to `json` as a value. Its arrays are
/// from the arena.
/// @param[in] n        [channels][frames]
/// @param[in] base     [channels]; NULL: zeros
/// @param[in] quantum  [channels]
bool tali_scene_add_integers(tal_scene *scene, tali_scene_bytes *json, const int32_t n[],
                             const double base[], const double quantum[], int channels, int frames,
                             tali_scene_track *track);
/// Add a track of numbers, each channel to `precision` of its own range; those that are not finite
/// are masked.
/// @param[in] values  [channels][frames]
bool tali_scene_add_values(tal_scene *scene, tali_scene_bytes *json, const double values[],
                           int channels, int frames, double precision, tali_scene_track *track);
/// Read a track back.
/// @param[in]  data    of the scene
/// @param[out] values  [channels][frames]
void tali_scene_decode(const unsigned char data[], const tali_scene_track *track, double values[]);
/// The largest power of two that is at most `limit` > 0.
double tali_scene_quantum(double limit);

// ---- the scene (scene.c)

/// What is kept of a run, for writers.
typedef struct tali_scene_run {
    char *name;
    int frames;
    tali_scene_track time, poses, paths;
} tali_scene_run;

/// What a shape is. Names in files: tali_scene_shape_names.
typedef enum tali_scene_shape_kind {
    TALI_SCENE_SPHERE,
    TALI_SCENE_BRICK,
    TALI_SCENE_CYLINDER, ///< along y
    TALI_SCENE_ELLIPSOID,
    TALI_SCENE_LINE,
    TALI_SCENE_MESH,
    TALI_SCENE_TEXT,
    TALI_SCENE_TORUS,
    TALI_SCENE_PLANE ///< through the origin, normal y; `size` is half its length
} tali_scene_shape_kind;

/// A shape on a body, as it is drawn.
typedef struct tali_scene_shape {
    tali_scene_shape_kind kind;
    const char *layer; ///< "decoration", "contact", "derived", "wrap"
    int body;
    tal_xform X_BD;
    tal_vec3 size, end;
    tal_vec3 color;
    double opacity;
    const char *text; ///< borrowed from the model, or NULL
    int mesh;         ///< -1: none
} tali_scene_shape;

/// A mesh in the data: vertices as 16-bit parts of their box, then corners.
typedef struct tali_scene_mesh {
    size_t at;
    int vertices, faces;
    tal_vec3 low, high;
    bool wide;            ///< corners have four bytes instead of two
    const char *path;     ///< of its file; borrowed from the model. NULL: a mesh that touches
    const tal_mesh *mesh; ///< that; NULL: from a file
} tali_scene_mesh;

struct tal_scene {
    tal_model model;           ///< borrowed
    tal_scene_options options; ///< strings are copies
    tali_arena arena;
    tal_state *state; ///< for rows; owned
    tal_vec3 up;
    double size; ///< radius of the model [m]
    tali_scene_shape *shapes;
    int num_shapes, shapes_capacity;
    tali_scene_mesh *meshes;
    int num_meshes, meshes_capacity;
    tali_scene_run *runs;
    int num_runs, runs_capacity;
    tal_force_ix *muscles;       ///< [num_paths] that pull along paths; `i` < 0: none
    tali_scene_bytes model_json; ///< members that describe the model
    tali_scene_bytes runs_json;  ///< elements of the list of runs
    tali_scene_bytes data;       ///< tracks and meshes
    int num_frames;
    bool in_ranges; ///< the run that is added tries the joints
    bool failed;    ///< memory ran out
};

extern const char *const tali_scene_shape_names[];

// ---- parts of the model (scene_shapes.c, scene_meshes.c, scene_model.c)

/// Fill the list of shapes: decorations, shapes that touch, and what is made up for the rest.
bool tali_scene_collect_shapes(tal_scene *scene);
/// The mesh of a file or of a surface that touches; its number, -1 when it cannot be had.
int tali_scene_mesh_of(tal_scene *scene, const char *path, const tal_mesh *mesh);
/// Write the members of the scene that describe the model.
void tali_scene_describe_model(tal_scene *scene);
/// Where a constraint between two bodies holds them; false: it is none.
bool tali_scene_constraint_ends(const tal_scene *scene, tal_constraint_ix ix, tal_body_ix bodies[2],
                                tal_vec3 points[2]);
/// Radius of the model at its State, realized to Position.
double tali_scene_find_size(const tal_scene *scene);

// ---- rows of tables as States (scene_rows.c)

/// Which column gives which coordinate or speed.
typedef struct tali_scene_rows {
    const tal_table *table;
    int *q_column, *u_column, *z_column; ///< [nq], [nu], [nz]; -1: none. From the arena
    bool *is_angle;                      ///< [nq]
    bool has_speeds, has_z;              ///< all of them
    double degrees;                      ///< factor on angles
} tali_scene_rows;

tal_status tali_scene_rows_begin(tal_scene *scene, const tal_table *table, tali_scene_rows *rows,
                                 tal_error *err);
/// Make the scene's State that of a row, realized to `stage`.
tal_status tali_scene_rows_set(tal_scene *scene, const tali_scene_rows *rows, int row,
                               tal_stage stage, tal_error *err);

// ---- rigid contact (scene_touch.c)

/// Whether a constraint keeps two surfaces together, or is the grip of such a one.
bool tali_scene_is_contact(const tal_scene *scene, tal_constraint_ix ix);
/// Whether any one does.
bool tali_scene_has_contacts(const tal_scene *scene);
/// Where it does at the scene's State, realized to Position; false: it is open, or there is no such
/// point. A unilateral element counts by its gap, not by its mode.
bool tali_scene_touch_point(const tal_scene *scene, tal_constraint_ix ix, tal_vec3 *p_G);

/// Two colliders are seen to touch at so many points at most.
enum {
    TALI_SCENE_PAIR_POINTS = 64
};

/// Where two colliders touch at the scene's State; how many points, -1 without memory.
int tali_scene_collider_points(const tal_scene *scene, int a, int b,
                               tal_vec3 points[TALI_SCENE_PAIR_POINTS]);

// ---- loads (scene_loads.c)

/// A force element on one body, through time.
typedef struct tali_scene_load {
    int force; ///< the element; -1: the reaction of the body's joint; -2 - i: constraint i
    int body;
    tal_vec3 point; ///< on the body, where it acts
    double *values; ///< [6][frames] force and moment about the point, in Ground; owned
} tali_scene_load;

/// A place where bodies touch, through time: [9][frames] p_G, f_G, semi-axes, depth; NaN: none.
typedef struct tali_scene_loads {
    tali_scene_load *list;
    int num, capacity;
    int last;          ///< that was asked for
    double **contacts; ///< [num_contacts] owned
    int num_contacts, contacts_capacity;
    tal_spatial_vec *F; ///< [num_bodies] work
    double *f;          ///< [nu] work
    int frames;
    bool all;     ///< every element is looked at; false: there are too many
    bool touches; ///< there are rigid contacts
} tali_scene_loads;

bool tali_scene_loads_begin(tal_scene *scene, tali_scene_loads *loads, int frames);
/// Look at the scene's State, realized to Velocity, or to Acceleration with reactions.
tal_status tali_scene_loads_add(tal_scene *scene, tali_scene_loads *loads, int frame);
void tali_scene_loads_describe(tal_scene *scene, tali_scene_loads *loads, tali_scene_bytes *json);
void tali_scene_loads_end(tal_scene *scene, tali_scene_loads *loads);

// ---- paths (scene_paths.c)

/// Muscles, ligaments and cables through time.
typedef struct tali_scene_paths {
    int frames, channels;
    double *values; ///< [channels][frames] owned; NULL without paths
    size_t bytes;   ///< of them
} tali_scene_paths;

/// Find which muscle pulls along which path.
bool tali_scene_find_muscles(tal_scene *scene);
/// Write the member "paths" of the model.
void tali_scene_put_paths(const tal_scene *scene, tali_scene_bytes *out);
/// How many numbers tell where all paths are at one moment.
int tali_scene_num_path_channels(const tal_scene *scene);
/// These numbers at a State of the model, realized to Position; number c goes to numbers[c step].
/// Activations are NaN unless the State has them.
tal_status tali_scene_calc_paths(const tal_scene *scene, tal_state *state, bool knows_activation,
                                 double numbers[], size_t step);
bool tali_scene_paths_begin(tal_scene *scene, tali_scene_paths *paths, int frames);
/// Look at the scene's State, realized to Position.
tal_status tali_scene_paths_add(tal_scene *scene, tali_scene_paths *paths, bool knows_activation,
                                int frame);
void tali_scene_paths_describe(tal_scene *scene, tali_scene_paths *paths, tali_scene_bytes *json,
                               tali_scene_track *track);
void tali_scene_paths_end(tal_scene *scene, tali_scene_paths *paths);

// ---- writers (scene_html.c, scene_glb.c)

/// The scene as JSON, with the data inside it when `with_data`.
void tali_scene_put_json(const tal_scene *scene, bool with_data, tali_scene_bytes *out);
tal_status tali_scene_put_html(const tal_scene *scene, const tal_scene_page *page,
                               tali_scene_bytes *out, tal_error *err);
tal_status tali_scene_put_glb(const tal_scene *scene, tali_scene_bytes *out, tal_error *err);

#endif // TALUS_IO_SCENE_INTERNAL_H
