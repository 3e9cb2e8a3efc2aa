// What matter is inside: bodies as declared, the tree as flat arrays, and the caches of a State.
#ifndef TALUS_MATTER_INTERNAL_H
#define TALUS_MATTER_INTERNAL_H

#include "alloc_internal.h"
#include "cache_internal.h"
#include "error_internal.h"
#include "names_internal.h"

#include "collider/collider_types.h"
#include "constraint/constraint_types.h"
#include "mobilizer/mobilizer_internal.h"
#include "prescribed/prescribed_types.h"
#include "unilateral/unilateral_types.h"

#include <talus/matter/constraint_operators.h>
#include <talus/matter/decoration.h>
#include <talus/matter/model.h>

#include <string.h>

// --- declared bodies ---

/// A body as it was added.
typedef struct tali_tree_body {
    char name[TAL_MAX_NAME + 1];
    int parent;
    tal_body_structure structure;
    tal_mass_props mass;
    tal_xform X_PF;
    tal_xform X_BM;
    tal_direction direction;
    bool use_angles;    ///< never for a mobilizer without a choice
    bool any_inertia;   ///< accepts inertias that are not physical
    uint8_t fast_level; ///< tal_level at which States begin to bring it to balance; free: they do
                        ///< not
    bool may_be_fast;   ///< whether a State may choose that
    uint8_t lock_level; ///< tal_level at which States begin
    tal_mobilizer_ops ops;
    void *self;
    int param0;     ///< first of its instance parameters
    int coordinate; ///< first of its tali_coordinates; -1: none
    int initial_q;  ///< where its initial q begin in tal_matter.initial; -1: the mobilizer's zero
    int initial_u;  ///< the same for u
} tali_tree_body;

/// The record of one coordinate of a body: a name, a range, or both.
typedef struct tali_tree_coordinate {
    int body;
    int i;                       ///< which, as the body's use_angles counts them
    int next;                    ///< the next of the same body; -1: none
    char name[TAL_MAX_NAME + 1]; ///< empty: the default
    bool has_range;
    int range; ///< where it is in the variable "ranges"
    double low, high;
} tali_tree_coordinate;

/// A decoration with the text it owns.
typedef struct tali_tree_decoration {
    tal_decoration shown;
    char *text;
} tali_tree_decoration;

// --- the tree ---

/// How a pass treats a mobilizer. The named ones have kernels of their own; all others go through
/// their table once per stage and then through the general kernel.
typedef enum tali_tree_hinge {
    TALI_HINGE_WELD,        ///< nu = 0, X_FM = 1
    TALI_HINGE_PIN,         ///< H = [axis; 0]
    TALI_HINGE_SLIDER,      ///< H = [0; axis]
    TALI_HINGE_BALL,        ///< H = [R_GF; 0], forward
    TALI_HINGE_TRANSLATION, ///< H = [0; R_GF], forward
    TALI_HINGE_FREE,        ///< H = [R_GF 0; 0 R_GF], forward
    TALI_HINGE_GENERAL,
    TALI_HINGE_LOCKED, ///< all its mobilities are known: a weld, to M^-1 (only in tali_tree_view)
    TALI_HINGE_MIXED   ///< some are: the columns of the others (only in tali_tree_view)
} tali_tree_hinge;

/// Where the arrays begin, in bytes, in the cache entry that Position fills; poses come first.
typedef struct tali_tree_position_layout {
    size_t p_PM, H, X_FM, H_FM, size;
} tali_tree_position_layout;

/// The functions that run over the tree (passes_internal.h).
typedef struct tali_passes tali_passes;

/// The tree, flattened. Written when the topology is realized, const ever after. Body 0 is Ground,
/// and every parent precedes its children: parent[b] < b. All arrays have num_bodies entries.
typedef struct tali_tree {
    int num_bodies;
    int num_u;
    int num_d;      ///< sum of nu^2
    int num_slots;  ///< articulated inertias that are open at one time, tip to base
    int max_nq;     ///< most coordinates over all modeling choices
    int num_params; ///< instance parameters of all mobilizers
    int num_general;
    int num_pins;
    int num_particles;   ///< bodies that translate on Ground and carry nothing
    int num_quaternions; ///< mobilizers that have a quaternion unless they use angles
    int num_N;           ///< mobilizers whose qdot is not simply u
    bool is_depth_first; ///< place[b] == u0[b] for all bodies
    int32_t *parent;
    int32_t *u0;          ///< first speed
    int32_t *d0;          ///< first entry of the nu x nu block
    int32_t *slot;        ///< where the articulated inertia of the body is summed
    int32_t *span;        ///< speeds of the body and of all it carries
    int32_t *place;       ///< first of them, if bodies were numbered depth first
    int32_t *general;     ///< [num_general] bodies that go through their table
    int32_t *pins;        ///< [num_pins] bodies that turn about one axis
    int32_t *quaternions; ///< [num_quaternions] bodies that may have one
    uint8_t *nu;
    int8_t *sign;     ///< -1 for a reversed pin or slider
    uint8_t *hinge;   ///< tali_tree_hinge
    uint8_t *is_leaf; ///< no children: nothing has been summed in its slot
    uint8_t *has_N;   ///< qdot is not simply u
    uint8_t *is_last; ///< last of its parent's children, so the first to reach the parent's slot
    tali_tree_position_layout position_at;
    const tali_passes *passes; ///< the kernels for this processor
    int num_row_entries;       ///< of M, if they are few
    int32_t *row_begin;        ///< [num_u + 1] row of M of each speed; NULL: they are many
    int32_t *row_column; ///< [num_row_entries] a speed and all inboard of it, on the way to Ground
} tali_tree;

// --- caches of a State: one cache entry each, arrays inside at fixed offsets ---

/// Determined at Model.
typedef struct tali_matter_model {
    const int32_t *q0;         ///< [num_bodies] first coordinate
    const uint8_t *nq;         ///< [num_bodies]
    const uint8_t *use_angles; ///< [num_bodies]
} tali_matter_model;

/// Determined at Instance: constants of one body, re-expressed in its frame M.
typedef struct tali_tree_constants {
    tal_mat3 R_PF; ///< F in the parent's frame M
    tal_vec3 p_PF; ///< and its origin there
    double mass;
    double rotor;   ///< reflected rotor inertia; zero unless there is one speed
    tal_vec3 mc;    ///< mass times com, from Mo, in M
    tal_sym3 I;     ///< inertia about Mo, in M
    tal_xform X_MB; ///< the user's body frame in M
} tali_tree_constants;

/// Is every Bo the same point as its Mo? Kept behind the constants of n bodies.
static inline bool tali_tree_is_every_Bo_Mo(const tali_tree_constants constants[], int n)
{
    return *(const bool *)(const void *)(constants + n);
}

/// Determined at Position: where one body is, in Ground.
typedef struct tali_tree_pose {
    tal_mat3 R_GM;
    tal_vec3 p_GM;
} tali_tree_pose;

/// Determined at Velocity: how one body moves, in Ground about Mo.
typedef struct tali_tree_rates {
    tal_spatial_vec V;  ///< V_GM
    tal_spatial_vec A0; ///< A_GM if udot were zero: Jdot u. Valid in a view with TALI_A0
} tali_tree_rates;

/// The arrays that Position fills.
typedef struct tali_tree_position {
    tali_tree_pose *pose; ///< [num_bodies]
    tal_vec3 *p_PM;       ///< [num_bodies] from the parent's Mo to this Mo: all that dynamics reads
    tal_spatial_vec *H;   ///< [num_u] hinge columns in Ground
    tal_xform *X_FM;      ///< [num_general]
    tal_spatial_vec *H_FM; ///< [num_u] of the general ones, in F
} tali_tree_position;

/// The arrays that Velocity fills.
typedef struct tali_tree_velocity {
    tali_tree_rates *rates;  ///< [num_bodies]
    tal_spatial_vec *Hdot_u; ///< [num_general] Hdot_FM u, in F
    bool *has_A0;            ///< whether A0 of all motions is there, too
} tali_tree_velocity;

/// Articulated-body quantities: depend on q alone. Ball and free hinges keep theirs in Ground axes
/// instead of along u (kernel_articulated.c).
typedef struct tali_tree_articulated {
    tal_spatial_vec *G; ///< [num_u] P H D^-1
    double *DI;         ///< [num_d] D^-1
    tal_abi *P;         ///< [num_bodies] P about Mo, in Ground; NULL when only G and DI are wanted
} tali_tree_articulated;

/// A body, or a body and all it carries as one, about its Mo in Ground.
typedef struct tali_tree_composite {
    double mass;
    tal_vec3 mc; ///< mass times com, from Mo
    tal_sym3 I;  ///< inertia about Mo
} tali_tree_composite;

/// What the passes read, with the State's arrays in place. NULL where not asked for.
typedef struct tali_tree_view {
    const tali_tree *tree;
    const tali_passes *passes;
    const tali_tree_constants *constants; ///< [num_bodies]
    const tali_tree_pose *pose;           ///< [num_bodies]
    const tal_vec3 *p_PM;                 ///< [num_bodies]
    const tal_spatial_vec *H;             ///< [num_u]
    const tal_xform *X_FM;                ///< [num_general]
    const tal_spatial_vec *H_FM;          ///< [num_u]
    const tali_tree_composite *rigid;     ///< [num_bodies] each body alone
    const tali_tree_rates *rates;         ///< [num_bodies]
    const tal_spatial_vec *Hdot_u;        ///< [num_general]
    const tal_spatial_vec *G;             ///< [num_u]
    const double *DI;                     ///< [num_d]
    const uint8_t *hinge; ///< [num_bodies] tali_tree_hinge, with known motion counted as locked
    const uint8_t *level; ///< [num_u] tal_level of known motion
    const tal_spatial_vec
        *A_known;             ///< [num_bodies] J udot_known; NULL means zero. TALI_DYNAMICS only
    const double *udot_known; ///< [num_u] zero where free; NULL means zero. TALI_DYNAMICS only
} tali_tree_view;

// --- the subsystem ---

struct tal_matter {
    tal_system *system;
    tal_allocator allocator;
    tal_subsystem_ix me;

    tali_tree_body *bodies;
    int num_bodies;
    int capacity;
    double *params; ///< initial instance parameters of all mobilizers
    int num_params;
    int params_capacity;
    double *initial; ///< initial q and u, of the bodies that have them
    int num_initial;
    int initial_capacity;
    tali_names body_names;
    tal_solve_way way; ///< how realizing solves the equations of motion

    tali_tree_coordinate *coordinates;
    int num_coordinates;
    int coordinates_capacity;
    int num_ranges;
    tali_names coordinate_names;

    tali_tree_decoration *decorations;
    int num_decorations;
    int decorations_capacity;

    tali_tree tree;
    void *tree_block;
    size_t tree_bytes;

    tal_group_ix q, u, quaternion_errors;
    tal_var_ix modes;      ///< uint8_t[num_bodies] use_angles
    tal_var_ix mass;       ///< tal_mass_props[num_bodies]
    tal_var_ix X_PF;       ///< tal_xform[num_bodies]
    tal_var_ix X_BM;       ///< tal_xform[num_bodies]
    tal_var_ix var_params; ///< double[num_params]
    tal_var_ix rotor;      ///< double[num_bodies] reflected rotor inertia
    tal_var_ix ranges;     ///< double[2 num_ranges] low and high

    tali_constraints constraints;
    tali_prescribed prescribed;
    tali_unilaterals unilaterals;
    tali_colliders colliders;

    tal_cache_ix model, constants, position, velocity, articulated;
    tal_cache_ix rigid;        ///< tali_tree_composite[num_bodies]: each body alone, lazy
    tal_cache_ix forces;       ///< applied body forces and mobility forces
    tal_cache_ix acceleration; ///< A_GM of all bodies
    tal_cache_ix composites;   ///< tali_tree_composite[num_bodies], lazy
    tal_cache_ix
        mass_factor;       ///< of M along paths to Ground, lazy; not there unless tree.row_begin is
    tal_cache_ix inertias; ///< tal_abi[num_bodies]: P about Mo of all bodies, lazy
    tal_cache_ix reactions; ///< tal_spatial_vec[num_bodies]: forces across mobilizers, lazy
};

/// The body if the index is good; NULL after reporting the breach.
const tali_tree_body *tali_tree_body_at(const tal_matter *matter, tal_body_ix body,
                                        const char *where);

/// TAL_OK while elements may be added; otherwise the reason, which has been reported.
tal_status tali_matter_can_build(const tal_matter *matter, const char *where);

/// A rotation within round-off and a finite position?
bool tali_tree_is_frame(const tal_xform *X);

/// Are a body's frames and mass physical? The sentence names the body.
tal_status tali_tree_body_check(const tali_tree_body *body, tal_error *err);

/// @name The cached parts of a State in place. `tali_tree_realize_view` realizes what is missing up
/// to `what`, and returns false with the reason in the State. `tali_tree_view_of` is for the
/// functions that compute entries: the prerequisites of these are valid.
/// @{
typedef enum tali_tree_what {
    TALI_CONSTANTS = 0,
    TALI_POSITION = 1,                         ///< poses and hinge columns
    TALI_INERTIA = TALI_POSITION | 2,          ///< and mass properties in Ground
    TALI_VELOCITY = TALI_POSITION | 4,         ///< and motion
    TALI_ARTICULATED = TALI_INERTIA | 8,       ///< and G and DI
    TALI_A0 = TALI_VELOCITY | 16,              ///< and accelerations at udot = 0
    TALI_BIAS = TALI_INERTIA | TALI_A0,        ///< all that a body's Newton-Euler equations read
    TALI_DYNAMICS = TALI_ARTICULATED | TALI_A0 ///< everything
} tali_tree_what;

bool tali_tree_realize_view(const tal_matter *matter, tal_state *state, tali_tree_what what,
                            tali_tree_view *view);
void tali_tree_view_of(const tal_matter *matter, const tal_state *state, tali_tree_what what,
                       tali_tree_view *view);

/// Where the p_PM of all bodies are in a position entry.
const tal_vec3 *tali_tree_p_PM_of(const tali_tree *tree, const void *position);

/// What was determined at Model. The State must have reached it.
tali_matter_model tali_matter_model_of(const tal_matter *matter, const tal_state *state);

/// The same where it is known that the State is of the System and has reached Model.
tali_matter_model tali_matter_model_unchecked(const tal_matter *matter, const tal_state *state);

/// @}

/// The coordinates and speeds of all bodies in a State of the System that has reached Model.
static inline const double *tali_tree_q_of(const tal_matter *matter, const tal_state *state)
{
    return tali_cache_group_y(matter->system, state, matter->q);
}

static inline const double *tali_tree_u_of(const tal_matter *matter, const tal_state *state)
{
    return tali_cache_group_y(matter->system, state, matter->u);
}

/// What a call that returns a transform returns when its contract is broken.
tal_xform tali_tree_nan_xform(void);

/// Bytes of the body forces at the start of the "forces" entry; mobility forces follow.
size_t tali_tree_body_force_bytes(const tali_tree *tree);

/// Forces applied so far: about Mo in Ground, and along u. NULL before Dynamics.
typedef struct tali_tree_applied {
    const tal_spatial_vec *F; ///< [num_bodies]
    const double *f;          ///< [num_u]
} tali_tree_applied;

tali_tree_applied tali_tree_applied_of(const tal_matter *matter, const tal_state *state);

/// udot = M^-1 (f - J^T (F0 - F) - G^T lambda), and the accelerations A_GM of all bodies. F and
/// A_GM may not be the same array. `lambda` NULL: as if there were no constraints.
tal_status tali_matter_forward_dynamics(const tal_matter *matter, tal_state *state,
                                        const tal_spatial_vec F[], const double f[], double udot[],
                                        tal_spatial_vec A_GM[], double lambda[]);

/// The same by one dense matrix of M and G, which is regular where M alone need not be.
tal_status tali_matter_forward_dynamics_kkt(const tal_matter *matter, tal_state *state,
                                            const tal_spatial_vec F[], const double f[],
                                            double udot[], tal_spatial_vec A_GM[], double lambda[]);

/// Bytes of scratch memory that it needs; none when it was not chosen.
size_t tali_matter_kkt_scratch(const tal_matter *matter);

/// @name What the lazy entries composites, inertias and reactions hold
/// @{
tal_status tali_tree_calc_composites(const void *self, const tal_system *system, tal_state *state,
                                     void *value);
tal_status tali_tree_calc_inertias(const void *self, const tal_system *system, tal_state *state,
                                   void *value);
tal_status tali_tree_calc_reactions(const void *self, const tal_system *system, tal_state *state,
                                    void *value);
/// @}

/// q of a body's mobilizer in the other description: `from` in the one that is not `use_angles`,
/// `to` in the one that is. What follows the orientation is kept as it is.
void tali_tree_convert_q(const tal_mobilizer_ops *ops, const double from[], bool use_angles,
                         double to[]);

/// The q of a body's mobilizer that States begin with.
void tali_tree_write_initial_q(const tal_matter *matter, const tali_tree_body *body,
                               bool use_angles, double q[]);

/// Does a quaternion have a direction? `e` has four values, w first.
bool tali_tree_has_direction(const double e[]);

/// Set the lengths of all quaternions in q to 1; false when one has no direction.
bool tali_tree_normalize(const tal_matter *matter, const tali_matter_model *model, double q[]);

/// Low and high of every range, as declared: 2 num_ranges values.
void tali_tree_write_ranges(const tal_matter *matter, double ranges[]);

/// Free what decorations own.
void tali_tree_decorations_free(tal_matter *matter);

/// Flatten the bodies into matter->tree. False when memory runs out (sticky).
bool tali_tree_build(tal_matter *matter);

/// Declare variables and cache entries, and realize them: the functions of the subsystem.
extern const tal_subsystem_ops tali_matter_ops;

/// The arguments of a body's mobilizer functions in this State. `u` may be NULL.
tal_mobilizer_arg tali_tree_mobilizer_arg_of(const tal_matter *matter, const tal_state *state,
                                             int b, const double q[], const double u[]);

#endif // TALUS_MATTER_INTERNAL_H
