// Paths as structs: how they are built, and what a State keeps of them.
#ifndef TALUS_PATH_INTERNAL_H
#define TALUS_PATH_INTERNAL_H

#include "names_internal.h"

#include <talus/forces/path.h>

typedef enum tali_path_point_kind {
    TALI_PATH_FIXED,
    TALI_PATH_CONDITIONAL,
    TALI_PATH_MOVING
} tali_path_point_kind;

/// How a point moves: at (f0(q0), f1(q1), f2(q2)) in P.
typedef struct tali_path_track {
    tal_xform X_BP;
    tal_mobility at[3];
    tal_function *f[3]; ///< owned
} tali_path_track;

/// A point of a path.
typedef struct tali_path_point {
    tali_path_point_kind kind;
    int body;
    tal_vec3 p_BS;          ///< initially; unless it moves
    tal_mobility when;      ///< the coordinate of a conditional point
    double low, high;       ///< its limits
    tali_path_track *track; ///< owned; of a moving point
} tali_path_point;

/// An obstacle of a path, between two of its points.
typedef struct tali_path_over {
    int wrap;
    int first, last;
} tali_path_over;

typedef struct tali_path {
    char name[TAL_MAX_NAME + 1];
    tali_path_point *points; ///< [num_points]
    int num_points, capacity;
    tali_path_over *over; ///< [num_over]
    int num_over, over_capacity;
    bool is_plain;     ///< no obstacle, all points fixed
    bool knows_change; ///< path_change.c: no torus, and functions of coordinates are smooth
    // of a path that is a function of coordinates
    tal_function *length; ///< owned; NULL: a path of points
    tal_mobility *at;     ///< [num_at]
    int num_at;
    // places among those of all paths, from the topology on
    int first_point, first_load, first_push;
    int first_hop, num_hops; ///< behind the last hop is that of the first common ancestor
} tali_path;

/// A body between the points of a path and their first common ancestor.
typedef struct tali_path_hop {
    int body, parent;
} tali_path_hop;

/// An obstacle on a body.
typedef struct tali_path_wrap {
    char name[TAL_MAX_NAME + 1];
    int body;
    tal_xform X_BW;
    tal_wrap shape;
} tali_path_wrap;

/// All paths and obstacles of a force subsystem.
typedef struct tali_paths {
    tali_path *items;
    int num, capacity;
    tali_names names;
    tali_path_wrap *wraps;
    int num_wraps, wraps_capacity;
    tali_names wrap_names;
    int num_points;      ///< of all paths
    int num_loads;       ///< the most that all paths together can have
    int num_pushes;      ///< likewise
    tali_path_hop *hops; ///< of all paths, those of one outermost bodies first
    int num_hops, hops_capacity;
    int max_nodes;        ///< the most points that one path can go through
    int max_over;         ///< the most obstacles of one path
    tal_var_ix stations;  ///< p_BS of all points
    tal_cache_ix placed;  ///< tali_path_station of all points
    tal_cache_ix mounted; ///< X_MW of all obstacles
    tal_cache_ix pulled;  ///< tali_path_pulls
    tal_cache_ix speeds;  ///< of all paths
    tal_cache_ix ties;    ///< tali_path_knot of all paths, when a change is asked for
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

/// What a tension of one does along a speed.
typedef struct tali_path_push {
    double f;
    int u;           ///< among those of matter
    tal_mobility at; ///< the same as a body and its speed
} tali_path_push;

/// What a path touches at the moment.
typedef struct tali_path_touch {
    uint64_t on;     ///< a bit for each obstacle that it lies on
    uint64_t inside; ///< a bit for each that it goes through, with a point inside
    int num_loads, num_pushes;
} tali_path_touch;

/// What is known of all paths at Position.
typedef struct tali_path_pulls {
    double *lengths;        ///< [num]
    tali_path_touch *touch; ///< [num]
    tali_path_load *loads;  ///< [num_loads] those of a path from its first_load on
    tali_path_push *pushes; ///< [num_pushes] likewise
} tali_path_pulls;

/// A point that the path goes through at one instant.
typedef struct tali_path_node {
    tal_vec3 p_MS_G; ///< from Mo, in Ground
    tal_vec3 p_GS;
    tal_vec3 pull; ///< sum of the unit vectors to its neighbors
    int body;
    int point;  ///< its number on the path; -1 on an obstacle
    int over;   ///< the obstacle, as the path numbers them; -1
    double arc; ///< length on the obstacle from here to the next node; below zero: a straight line
    tal_vec3 t_W; ///< direction at either end of an arc, in W
} tali_path_node;

/// A path at one instant.
typedef struct tali_path_line {
    const tali_path *path;
    tali_path_node *nodes;
    int num;
    uint64_t on, inside;
} tali_path_line;

/// The path; NULL after a breach in the name of `where`.
const tali_path *tali_path_at(const tal_forces *forces, tal_path_ix path, const char *where);

/// The obstacle; NULL after a breach.
const tali_path_wrap *tali_path_wrap_at(const tal_forces *forces, tal_wrap_ix wrap,
                                        const char *where);

/// Whether paths can still be changed; false after the reason has been told, or a failure before.
bool tali_path_can_build(const tal_forces *forces, const char *where);

/// The path that a part is added to; NULL after the reason has been told.
tali_path *tali_path_to_change(tal_forces *forces, tal_path_ix path, const char *where);

/// Copy a name, or make one of `kind` and `index`. A bad one is told to the System.
tal_status tali_path_take_name(const tal_forces *forces, const char *kind, int index,
                               const char *name, bool is_taken, char own[TAL_MAX_NAME + 1]);

/// Whether there is such a coordinate; otherwise the System is told with the path's name.
bool tali_path_has_coordinate(const tal_forces *forces, const tali_path *path, tal_mobility at);

/// The slot of a coordinate in q; -1 where it is part of a quaternion.
int tali_path_slot(const tal_forces *forces, const tal_state *state, tal_mobility at);

/// Declare what all paths keep in a State. False after a failure, which the System remembers.
bool tali_paths_declare(tal_forces *forces);

/// Find the bodies that each path depends on.
tal_status tali_paths_reach(tal_forces *forces);

/// Where the points are on their bodies. On entry: matter has realized Instance.
tal_status tali_paths_realize_instance(const tal_forces *forces, tal_state *state);

/// Make lengths and pulls of all paths valid; and speeds with `moving`. On entry: Position, or
/// Velocity with `moving`.
tal_status tali_paths_realize(const tal_forces *forces, tal_state *state, bool moving);

/// What is known of all paths, after tali_paths_realize().
tali_path_pulls tali_path_pulls_of(const tal_forces *forces, tal_state *state);

/// Speeds of all paths, after tali_paths_realize() with `moving`.
const double *tali_paths_speeds(const tal_forces *forces, const tal_state *state);

/// What the paths are computed from at Position.
typedef struct tali_path_arg {
    const tal_forces *forces;
    tal_state *state;
    tal_bodies_view poses;
    const tali_path_station *stations; ///< of all paths
    const tal_xform *X_MW;             ///< of all obstacles
} tali_path_arg;

tali_path_arg tali_path_arg_of(const tal_forces *forces, tal_state *state);

/// Whether a point is part of its path.
bool tali_path_is_active(const tali_path_arg *arg, const tali_path_point *point);

/// A component of a moving point, its slope and its second derivative by the coordinate.
typedef struct tali_path_component {
    double value, slope, bend;
} tali_path_component;

/// Component k, with as many derivatives as `order` says. Beyond its range it stands still.
tali_path_component tali_path_component_of(const tali_path_arg *arg, const tali_path_track *track,
                                           int k, int order);

/// Draw a path of points: its nodes from end to end, into memory for tali_paths.max_nodes.
tal_status tali_path_draw(const tali_path_arg *arg, tali_path_line *line);

/// Length of path `i`; what a tension of one does is written to `to`.
tal_status tali_path_follow(const tali_path_arg *arg, int i, const tali_path_pulls *to);

/// For carrying forces of paths inboard: hinge matrices and room for forces, in scratch memory.
typedef struct tali_path_carrier {
    const tal_forces *forces;
    tal_bodies_view poses;
    tali_path_pulls pulls;
    tal_spatial_vec *H; ///< [nu] in Ground, at Mo
    tal_spatial_vec *F; ///< [num_bodies]
} tali_path_carrier;

/// Take scratch memory, which the caller releases, and fill in the hinge matrices of the bodies of
/// one path, or of all for NULL. After tali_paths_realize().
tal_status tali_path_begin_carrying(const tal_forces *forces, tal_state *state,
                                    const tali_path *only, tali_path_carrier *out);

/// g = -dl/dq of path i where qdot = u.
/// @param[out] g  [nu]
void tali_path_carry(const tali_path_carrier *it, int i, double g[]);

/// A point that a path goes through, as a small motion of the path needs it.
typedef struct tali_path_knot {
    tal_vec3 p_MS_G; ///< from Mo, in Ground
    tal_vec3 p_GS;
    tal_vec3 left_G;        ///< on an obstacle: the normal x the direction
    tal_wrap_spread spread; ///< of the arc that begins here
    int body;
    int point;   ///< its number on the path; -1 on an obstacle
    bool is_arc; ///< from here to the next knot the path lies on an obstacle
} tali_path_knot;

/// A force along a coordinate that a tension of one has, and its change.
typedef struct tali_path_swing {
    double f, df;
    int u;
    tal_mobility at;
} tali_path_swing;

/// A path in a small motion, in scratch memory.
typedef struct tali_path_change {
    int path;
    double l, ldot;          ///< change of length and speed
    tali_path_load *loads;   ///< [num_loads] change of what a tension of one does
    tali_path_swing *pushes; ///< [num_pushes] likewise, and what it does
    int num_loads, num_pushes;
} tali_path_change;

/// Bytes of the entry `ties`, and of the scratch memory of a change.
size_t tali_path_ties_size(const tali_paths *all);
size_t tali_path_change_room(const tali_paths *all);

/// How path i, which knows it, changes in a small motion. The caller releases the scratch memory
/// that `to` is in. On entry: Velocity.
tal_status tali_path_calc_change(const tal_forces *forces, const tal_force_context *context, int i,
                                 const tal_force_change *change, tali_path_change *to);

/// Add the change of the forces of a tension that changes, too.
void tali_path_add_change(const tal_forces *forces, tal_state *state, const tali_path_change *by,
                          double tension, double dtension, tal_spatial_vec dF[], double df[]);

/// Continue a hash with what the paths are.
uint64_t tali_paths_hash(const tal_forces *forces, uint64_t hash);

void tali_paths_free(tal_forces *forces);

#endif // TALUS_PATH_INTERNAL_H
