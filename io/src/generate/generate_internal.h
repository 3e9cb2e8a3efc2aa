// A model as code is made of it: links in frames of our own choice, and kernels that record.
//
// A mobilizer with several axes is several links, massless except for the last. A link is a turn
// about z, a shift along z, both coupled (a screw), or a ball. Its frame stands so that the way
// from its parent is a list of steps along and about single axes:
//
//     Rz(beta) T(b z)   T(a x) Rx(alpha)   Rz(gamma + q) T((d + pitch q) z)
//
// The first two are gone for the first child of a link with an axis: the link's frame is turned and
// shifted along its own axis until its x points along the common normal (RBDA sec. 4.3, modified
// Denavit and Hartenberg). Steps are applied in turn, never multiplied into a matrix: a rotation
// about one axis costs 4 multiplications and 2 additions for a vector, a general one 9 and 6.
#ifndef TALUS_GENERATE_INTERNAL_H
#define TALUS_GENERATE_INTERNAL_H

#include "generate/graph_internal.h"

#include <talus/forces.h>
#include <talus/io/generate.h>

// ---- the tree -----------------------------------------------------------------------------------

typedef enum tali_generate_kind {
    TALI_GENERATE_AXIAL, ///< turn and shift along z
    TALI_GENERATE_BALL   ///< any rotation
} tali_generate_kind;

/// Mass, its first and its second moments: what is moved from link to link. J is the sum of
/// m r r^T; the inertia is tr(J) - J.
typedef struct tali_generate_mass {
    double m;
    tal_vec3 h;
    tal_sym3 J;
} tali_generate_mass;

/// A constant way from one frame to the next: a turn about the axis or a shift along it.
typedef struct tali_generate_move {
    bool is_turn;
    int axis; ///< 0: x, 2: z
    double angle, cos, sin;
    double distance;
} tali_generate_move;

enum {
    TALI_GENERATE_MOVES = 6
};

typedef struct tali_generate_link {
    tali_generate_kind kind;
    int parent;           ///< an earlier link; -1: Ground
    int body;             ///< that the mobilizer belongs to, for messages
    int q, u;             ///< where its coordinates and its speeds are
    double sign;          ///< of them: -1 in reversed mobilizers
    bool is_reversed;     ///< a ball whose u is expressed in the link
    bool has_angles;      ///< a ball with body-XYZ angles instead of a quaternion
    double turn, shift;   ///< along z for each unit of q
    double gamma, offset; ///< the turn and the shift at q = 0
    tali_generate_move moves[TALI_GENERATE_MOVES]; ///< from the parent's frame, before q
    int num_moves;
    tal_xform X_RL; ///< this frame in the one that mobilizers and bodies were placed with
    tali_generate_mass mass;
} tali_generate_link;

typedef struct tali_generate_tree {
    const tal_matter *matter;
    tal_state *state;
    tal_allocator allocator;
    int nq, nu;
    int num_links, links_capacity;
    tali_generate_link *links;
    int num_bodies;
    int *link_of;    ///< [num_bodies] where a body is fixed; -1: on Ground
    tal_xform *X_LB; ///< [num_bodies] where on its link; on Ground, in Ground
    double *rotor;   ///< [nu] inertia along single speeds
    tal_error *err;
} tali_generate_tree;

/// From matter to links; what cannot be generated is refused by name.
tal_status tali_generate_tree_make(tali_generate_tree *tree, const tal_matter *matter,
                                   tal_state *state, const tal_allocator *allocator,
                                   tal_error *err);
void tali_generate_tree_free(tali_generate_tree *tree);

/// Choose the frames of all links, and with them their steps.
void tali_generate_place_frames(tali_generate_tree *tree);

/// Move mass that turning or sliding does not feel to parents, from tips to base (RBDA sec. 9.7).
void tali_generate_transfer(tali_generate_tree *tree);

/// How many speeds a link has.
static inline int tali_generate_link_nu(const tali_generate_link *link)
{
    return link->kind == TALI_GENERATE_BALL ? 3 : 1;
}

// ---- expressions in space -----------------------------------------------------------------------

/// Components are nodes of the graph.
typedef struct tali_generate_v3 {
    int at[3];
} tali_generate_v3;

/// A matrix by entries [row][column].
typedef struct tali_generate_m3 {
    int at[3][3];
} tali_generate_m3;

/// A step of a way between frames, as nodes.
typedef struct tali_generate_step {
    enum {
        TALI_GENERATE_TURN,
        TALI_GENERATE_SHIFT,
        TALI_GENERATE_ROTATE
    } kind;

    int axis;
    int cos, sin;       ///< of a turn
    int distance;       ///< of a shift
    tali_generate_m3 R; ///< of any rotation
} tali_generate_step;

/// The way of one link: the steps up to its joint, its own rotation, its own shift.
typedef struct tali_generate_way {
    tali_generate_step steps[TALI_GENERATE_MOVES + 2];
    int num;       ///< all
    int num_fixed; ///< those before the joint moves
} tali_generate_way;

/// A function being recorded.
typedef struct tali_generate_record {
    tali_graph *g;
    const tali_generate_tree *tree;
    const tal_forces *forces; ///< NULL: none act
    tali_generate_way *ways;  ///< [num_links]
    const int *q, *u;         ///< nodes, [nq], [nu]
    tal_allocator allocator;
    bool no_memory;
} tali_generate_record;

static inline int tali_generate_add(tali_graph *g, int a, int b)
{
    return tali_graph_make(g, TALI_GRAPH_ADD, a, b);
}

static inline int tali_generate_sub(tali_graph *g, int a, int b)
{
    return tali_graph_make(g, TALI_GRAPH_SUB, a, b);
}

static inline int tali_generate_mul(tali_graph *g, int a, int b)
{
    return tali_graph_make(g, TALI_GRAPH_MUL, a, b);
}

static inline int tali_generate_div(tali_graph *g, int a, int b)
{
    return tali_graph_make(g, TALI_GRAPH_DIV, a, b);
}

static inline int tali_generate_neg(tali_graph *g, int a)
{
    return tali_graph_make(g, TALI_GRAPH_NEG, a, 0);
}

/// a + b c
static inline int tali_generate_fma(tali_graph *g, int a, int b, int c)
{
    return tali_generate_add(g, a, tali_generate_mul(g, b, c));
}

static const tali_generate_v3 TALI_GENERATE_ZERO_V3 = {{0, 0, 0}};

tali_generate_v3 tali_generate_constant_v3(tali_graph *g, tal_vec3 v);
tali_generate_v3 tali_generate_add_v3(tali_graph *g, tali_generate_v3 a, tali_generate_v3 b);
tali_generate_v3 tali_generate_sub_v3(tali_graph *g, tali_generate_v3 a, tali_generate_v3 b);
tali_generate_v3 tali_generate_scale_v3(tali_graph *g, int s, tali_generate_v3 a);
tali_generate_v3 tali_generate_cross(tali_graph *g, tali_generate_v3 a, tali_generate_v3 b);
int tali_generate_dot(tali_graph *g, tali_generate_v3 a, tali_generate_v3 b);
tali_generate_v3 tali_generate_mul_m3(tali_graph *g, const tali_generate_m3 *A, tali_generate_v3 v);
tali_generate_v3 tali_generate_tmul_m3(tali_graph *g, const tali_generate_m3 *A,
                                       tali_generate_v3 v);

// ---- matrices across steps (RBDA sec. A.4 and A.5) ----------------------------------------------

/// What a body, and all that it carries, resists with, about its origin:
///
///     n = I w + H v,  f = H^T w + M v
typedef struct tali_generate_body {
    tali_generate_m3 I, H, M;
} tali_generate_body;

/// R A R^T across a step that turns. Symmetric matrices have one node for both entries: about an
/// axis 8 multiplications and 7 additions besides what all of the same angle share (2 and 3), else
/// 12 and 12; by any rotation 28 and 29, else 40 and 39.
tali_generate_m3 tali_generate_turn(tali_graph *g, const tali_generate_step *step,
                                    const tali_generate_m3 *A, bool is_symmetric);

/// A B of rotations: 24 multiplications and 15 additions.
tali_generate_m3 tali_generate_mul_rotations(tali_graph *g, const tali_generate_m3 *A,
                                             const tali_generate_m3 *B);

/// A body as its parent's link feels it: across all steps of a way.
tali_generate_body tali_generate_body_to_parent(tali_graph *g, const tali_generate_way *way,
                                                tali_generate_body it);

/// The nodes of all ways, from q. False when memory runs out.
bool tali_generate_begin(tali_generate_record *it);
void tali_generate_end(tali_generate_record *it);

/// A vector of the frame before a step, in the frame behind it; and back.
tali_generate_v3 tali_generate_outward(tali_graph *g, const tali_generate_step *step,
                                       tali_generate_v3 v);
tali_generate_v3 tali_generate_inward(tali_graph *g, const tali_generate_step *step,
                                      tali_generate_v3 v);

/// A force and its moment about the origin of a link, about that of its parent and expressed
/// there.
void tali_generate_force_to_parent(tali_graph *g, const tali_generate_way *way, tali_generate_v3 *n,
                                   tali_generate_v3 *f);

/// Where links are in Ground.
typedef struct tali_generate_pose {
    tali_generate_m3 R;
    tali_generate_v3 p;
} tali_generate_pose;

/// @param[out] poses  [num_links]
void tali_generate_poses(const tali_generate_record *it, tali_generate_pose poses[]);

// ---- kernels ------------------------------------------------------------------------------------

/// Forces along speeds for udot (nodes; NULL: zero), the model's own forces included.
/// @param[out] f  [nu]
void tali_generate_inverse_dynamics(tali_generate_record *it, const int udot[], int f[]);

/// @param[out] M  [nu * nu] column-major
void tali_generate_mass_matrix(tali_generate_record *it, int M[]);

/// udot for the forces f, by a factor of M.
void tali_generate_forward_by_mass(tali_generate_record *it, const int f[], int udot[]);

/// The same by articulated bodies.
void tali_generate_forward_by_bodies(tali_generate_record *it, const int f[], int udot[]);

/// Columns of M^-1, by a factor of M: `n` right-hand sides, each [nu], are replaced by solutions.
void tali_generate_solve_mass(tali_generate_record *it, int columns[], int n);

/// 6 nu, column-major: as tal_matter_calc_frame_J().
void tali_generate_jacobian(tali_generate_record *it, int body, tal_vec3 p_BS, int J[]);

/// What gravity is, and what else acts.
typedef struct tali_generate_loads {
    tal_vec3 g;
    tali_generate_v3 *n; ///< [num_links] about the origin of the link, in it
    tali_generate_v3 *f;
    int *along; ///< [nu] along speeds
} tali_generate_loads;

/// Refuses what cannot be generated, by name.
tal_status tali_generate_check_forces(const tal_forces *forces, const tal_state *state,
                                      tal_error *err);

/// The forces of the model at the recorded q and u. Arrays are zero.
void tali_generate_forces(tali_generate_record *it, tali_generate_loads *loads);

#endif // TALUS_GENERATE_INTERNAL_H
