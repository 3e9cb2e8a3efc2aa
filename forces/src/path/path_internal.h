// Paths as structs: how they are built, and what a State keeps of them.
#ifndef TALUS_PATH_INTERNAL_H
#define TALUS_PATH_INTERNAL_H

#include "names_internal.h"

#include <talus/forces/path.h>

/// A point of a path.
typedef struct tali_path_point {
    int body;
    tal_vec3 p_BS; ///< initially
} tali_path_point;

typedef struct tali_path {
    char name[TAL_MAX_NAME + 1];
    tali_path_point *points; ///< [num_points]
    int num_points, capacity;
    int first_point; ///< among those of all paths; from the topology on
    int first_load;  ///< likewise
} tali_path;

/// All paths of a force subsystem.
typedef struct tali_paths {
    tali_path *items;
    int num, capacity;
    tali_names names;
    int num_points;      ///< of all paths
    int num_loads;       ///< the most that all paths together can have
    tal_var_ix stations; ///< p_BS of all points
    tal_cache_ix placed; ///< tali_path_station of all points
    tal_cache_ix pulled; ///< tali_path_pulls
    tal_cache_ix speeds; ///< of all paths
} tali_paths;

/// A point where it is on its body, from Mo in M.
typedef struct tali_path_station {
    tal_vec3 p_MS;
    int body;
} tali_path_station;

/// What a tension of one does to a body: moment about Mo and force, in Ground.
typedef struct tali_path_load {
    tal_spatial_vec F_GM;
    int body;
} tali_path_load;

/// What is known of all paths at Position.
typedef struct tali_path_pulls {
    double *lengths;       ///< [num]
    int *num_loads;        ///< [num]
    tali_path_load *loads; ///< [num_loads] those of a path from its first_load on
} tali_path_pulls;

/// The path; NULL after a breach in the name of `where`.
const tali_path *tali_path_at(const tal_forces *forces, tal_path_ix path, const char *where);

/// Declare what all paths keep in a State. False after a failure, which the System remembers.
bool tali_paths_declare(tal_forces *forces);

/// Where the points are on their bodies. On entry: matter has realized Instance.
tal_status tali_paths_realize_instance(const tal_forces *forces, tal_state *state);

/// Make lengths and pulls of all paths valid; and speeds with `moving`. On entry: Position, or
/// Velocity with `moving`.
tal_status tali_paths_realize(const tal_forces *forces, tal_state *state, bool moving);

/// What is known of all paths, after tali_paths_realize().
tali_path_pulls tali_path_pulls_of(const tal_forces *forces, const tal_state *state);

/// Continue a hash with what the paths are.
uint64_t tali_paths_hash(const tal_forces *forces, uint64_t hash);

void tali_paths_free(tal_forces *forces);

#endif // TALUS_PATH_INTERNAL_H
