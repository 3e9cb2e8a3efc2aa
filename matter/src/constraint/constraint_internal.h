// Constraints inside: as declared, the paths they act along, and their matrices in a State.
//
//   quantity                              manual             here
//   G^T, as wrenches on constrained bodies                   wrench, coefficient
//   rows of G, passed inward                                  E = inward pass of the columns of G^T
//   D^-1 E, so that W = E^T Y                                Y
//   G M^-1 G^T                            W_f  eq. 8.43      W = E^T D^-1 E
//
// M^-1 factors through the tree: M^-1 = B^T D^-1 B, where B is the inward pass. So a row of G
// needs one inward pass along its path to Ground, and then
//
//     W = E^T D^-1 E         G M^-1 f = E^T D^-1 e(f)
//     M^-1 (f - G^T lambda) = outward(e(f) - E lambda)
#ifndef TALUS_CONSTRAINT_INTERNAL_H
#define TALUS_CONSTRAINT_INTERNAL_H

#include "tree/matter_internal.h"

#include <talus/matter/constraint_operators.h>

/// The columns of G^T of one constraint.
typedef struct tali_constraint_wrenches {
    tal_spatial_vec *wrench; ///< [m x tali_constraint_num_wrenches()] about Mo, in Ground
    double *coefficient;     ///< [m x num_mobilities]
} tali_constraint_wrenches;

/// The same, to be read.
typedef struct tali_constraint_const_wrenches {
    const tal_spatial_vec *wrench;
    const double *coefficient;
} tali_constraint_const_wrenches;

/// The wrenches of constraint `c` in the cache entry `tali_constraints.wrenches`.
static inline tali_constraint_const_wrenches tali_constraint_wrenches_in(const tali_constraint *c,
                                                                         const double *entry)
{
    const double *at = entry + c->wrench0;
    const size_t m = (size_t)tali_constraint_rows(c);
    return (tali_constraint_const_wrenches){(const tal_spatial_vec *)(const void *)at,
                                            at + m * (size_t)tali_constraint_num_wrenches(c) * 6};
}

/// Whether projection may change speed `u` (of all), or the coordinate that goes with it: it may
/// not where these are prescribed or locked. Columns of known mobilities are dropped by this test.
static inline bool tali_constraint_mobility_is_free(const tali_tree_view *view, int u,
                                                    bool velocities)
{
    return view->level[u] < (velocities ? TAL_LEVEL_VELOCITY : TAL_LEVEL_POSITION);
}

/// Add lambda times column `r` of G^T: to the bodies about Mo in Ground, and along u.
void tali_constraint_add_row_forces(const tal_matter *matter, const tali_constraint *c,
                                    tali_constraint_const_wrenches row_forces, int r, double lambda,
                                    tal_spatial_vec F[], double f[]);

/// A length that no lever between the bodies of a constraint's path exceeds.
double tali_constraint_reach(const tal_matter *matter, const tali_tree_view *view,
                             const tali_constraint *c);

/// Whether what row `r` does along its path, e [path_nu] of the inward pass, is nothing but
/// round-off. `reach` from tali_constraint_reach().
bool tali_constraint_row_is_idle(const tal_matter *matter, const tali_tree_view *view,
                                 const tali_constraint *c,
                                 tali_constraint_const_wrenches row_forces, int r, double reach,
                                 const double e[]);

/// Row `r` of G over the speeds of its constraint's path: g [path_nu], zero where it would be
/// round-off alone. `reach` from tali_constraint_reach(); F is room for path_len.
void tali_constraint_row(const tal_matter *matter, const tali_tree_view *view,
                         const tali_constraint *c, tali_constraint_const_wrenches row_forces, int r,
                         double reach, tal_spatial_vec F[], double g[]);

/// Determined at Instance: the rows in use. -1 for a disabled constraint.
typedef struct tali_constraint_row_map {
    const int32_t *p0;   ///< [count] first row among the position equations
    const int32_t *v0;   ///< [count] first row among the velocity equations
    const int32_t *a0;   ///< [count] first row among the acceleration equations
    const int32_t *row0; ///< [count] first row of the constraint in its block
    int mp, mv, ma;      ///< rows in use
} tali_constraint_row_map;

/// The rows of each constraint. The State must have reached Instance.
tali_constraint_row_map tali_constraint_row_map_of(const tal_matter *matter,
                                                   const tal_state *state);

/// Where row `r` of constraint `i` is among all: position rows of all constraints first, then
/// velocity rows, then acceleration rows.
static inline int tali_constraint_row_slot(const tali_constraint_row_map *map,
                                           const tali_constraint *c, int i, int r)
{
    if (r < c->ops.mp) return map->p0[i] + r;
    if (r < c->ops.mp + c->ops.mv) return map->mp + map->v0[i] + (r - c->ops.mp);
    return map->mp + map->mv + map->a0[i] + (r - c->ops.mp - c->ops.mv);
}

/// Equations that take part: of position, also of velocity, also of acceleration.
typedef enum tali_constraint_row_levels {
    TALI_ROWS_P,
    TALI_ROWS_PV,
    TALI_ROWS_PVA
} tali_constraint_row_levels;

/// A walk along rows in use, constraint by constraint:
///
///     tali_constraint_row_walk at = tali_constraint_walk_block(cs, &map, block);
///     while (tali_constraint_next_row(&at)) x[at.row] = aerr[at.slot];
typedef struct tali_constraint_row_walk {
    const tali_constraint *c; ///< whose row this is
    int i;                    ///< its index
    int r;                    ///< the row among those of its constraint
    int row;                  ///< the row among those of the walk
    int slot;                 ///< where it is among all: tali_constraint_row_slot()

    const tali_constraints *cs;
    const tali_constraint_row_map *map;
    const int32_t *order; ///< constraints to walk along; NULL: as listed
    int next, end;        ///< of them
    int rows;             ///< of constraint `i`
    tali_constraint_row_levels levels;
} tali_constraint_row_walk;

/// Along the rows of all constraints.
static inline tali_constraint_row_walk tali_constraint_walk_all(const tali_constraints *cs,
                                                                const tali_constraint_row_map *map)
{
    const tali_constraint_row_walk at = {
        .r = -1, .row = -1, .cs = cs, .map = map, .end = cs->count, .levels = TALI_ROWS_PVA};
    return at;
}

/// Along the rows of one block, in the order of its matrix: `row` is the row of the matrix.
static inline tali_constraint_row_walk
tali_constraint_walk_block(const tali_constraints *cs, const tali_constraint_row_map *map,
                           int block)
{
    tali_constraint_row_walk at = tali_constraint_walk_all(cs, map);
    at.order = cs->by_block;
    at.next = cs->block_begin[block];
    at.end = cs->block_begin[block + 1];
    return at;
}

/// Rows of constraint `i` that are in use.
static inline int tali_constraint_rows_in_use(const tali_constraint_row_map *map,
                                              const tali_constraint *c, int i,
                                              tali_constraint_row_levels levels)
{
    if (map->row0[i] < 0) return 0;
    return c->ops.mp + (levels >= TALI_ROWS_PV ? c->ops.mv : 0) +
           (levels >= TALI_ROWS_PVA ? c->ops.ma : 0);
}

/// Go to the next row. False when there are no more.
static inline bool tali_constraint_next_row(tali_constraint_row_walk *at)
{
    while (at->r + 1 >= at->rows) {
        if (at->next >= at->end) return false;
        at->i = at->order != NULL ? at->order[at->next] : at->next;
        at->c = &at->cs->list[at->i];
        at->rows = tali_constraint_rows_in_use(at->map, at->c, at->i, at->levels);
        at->r = -1;
        ++at->next;
    }
    ++at->r;
    ++at->row;
    at->slot = tali_constraint_row_slot(at->map, at->c, at->i, at->r);
    return true;
}

/// Whether a block may have dense matrices. Where rows repeat each other these serve best, but they
/// grow with the square of a block: larger ones are kept within envelopes (ADR 23).
static inline bool tali_constraint_block_is_small(const tali_constraint_block *block)
{
    enum {
        MOST_ENTRIES = 65536 // half a megabyte
    };

    const int side = block->rows > block->speeds ? block->rows : block->speeds;
    return (size_t)block->rows * (size_t)side <= MOST_ENTRIES;
}

/// Where in by_block the constraints begin that share a mobility with the n-th and have rows in use
/// (row0 >= 0), the n-th itself at the latest: there begin its rows in the envelope.
static inline int tali_constraint_first_coupled(const tali_constraints *cs, const int32_t row0[],
                                                int n)
{
    int first = cs->list[cs->by_block[n]].first_coupled;
    while (first < n && row0[cs->by_block[first]] < 0) {
        ++first;
    }
    return first;
}

/// Sum over the speeds that the paths of two constraints share: a [c->path_nu] times
/// b [d->path_nu].
double tali_constraint_couple_rows(const tal_matter *matter, const tali_constraint *c,
                                   const double a[], const tali_constraint *d, const double b[]);

/// Rows in use of all constraints; -1 on a breach, which has been reported.
static inline int tali_constraint_num_rows(const tal_matter *matter, const tal_state *state)
{
    const tal_constraint_rows rows = tal_matter_constraint_rows(matter, state);
    return rows.mp < 0 ? -1 : rows.mp + rows.mv + rows.ma;
}

/// Rows in use of one block.
int tali_constraint_block_rows(const tali_constraints *cs, const tali_constraint_row_map *map,
                               int block);

/// lambda = W^+ aerr, both in the order of udoterr.
tal_status tali_constraints_multipliers(const tal_matter *matter, tal_state *state,
                                        const double aerr[], double lambda[]);

/// W = G M^-1 G^T in the order of udoterr. What is zero because constraints share no mobility is
/// not written.
tal_status tali_constraints_W(const tal_matter *matter, tal_state *state, tal_matrix W);

/// aerr becomes aerr - W W^+ aerr: the part that no multipliers can remove.
tal_status tali_constraints_residual(const tal_matter *matter, tal_state *state,
                                     const tali_tree_view *view, double aerr[]);

/// Row `r` of constraint `i` as the factorization of W found it.
typedef struct tali_constraint_row_look {
    int block, i, r;
    tal_row_fate fate; ///< how it is related to the rows before it
    double share;      ///< of W_ii that its pivot is
    double limit;      ///< share below which it is redundant
    double pivot;      ///< and W_ii, both as recovered from the factor
    double W_ii;
} tali_constraint_row_look;

typedef void (*tali_constraint_row_look_fn)(void *context, const tali_constraint_row_look *row);

/// Look at all rows in use, block by block.
tal_status tali_constraints_look(const tal_matter *matter, tal_state *state,
                                 tali_constraint_row_look_fn look, void *context);

/// Acceleration errors at zero free udot: -b, with what prescribed motion adds.
tal_status tali_constraints_zero_errors(const tal_matter *matter, tal_state *state,
                                        const tali_tree_view *view, double aerr[]);

/// Fails when the solved accelerations leave in a row more than ::TAL_CONTRADICTION of a unit error
/// and of the largest error before solving in its block; the sentence names the constraint.
tal_status tali_constraints_check(const tal_matter *matter, tal_state *state,
                                  const tali_tree_view *view, const double aerr[]);

/// Weight of an acceleration error, T_pva (manual eq. 9.4): its reciprocal is a unit error.
double tali_constraint_row_weight(const tal_matter *matter, const tal_state *state,
                                  const tali_constraint_row_map *map, int slot);

/// The constraint if the index is good; NULL after reporting the breach.
const tali_constraint *tali_constraint_at(const tal_matter *matter, tal_constraint_ix constraint,
                                          const char *where);

/// Memory for the arguments of one constraint's functions, and what they give back. Most
/// constraints are small, and their room is in the struct; that of a large one is in the State,
/// where one serves all: two of them never work at the same time.
typedef struct tali_constraint_room {
    tal_xform *X_AB;        ///< [num_bodies]
    tal_spatial_vec *V, *A; ///< [num_bodies]
    double *q, *u, *udot;   ///< [num_mobilities]
    double *rows, *lambda;  ///< [rows]
    tal_spatial_vec *F;     ///< [num_bodies]

    struct {
        tal_xform X_AB[TALI_CONSTRAINT_SMALL_BODIES];
        tal_spatial_vec V[TALI_CONSTRAINT_SMALL_BODIES];
        tal_spatial_vec A[TALI_CONSTRAINT_SMALL_BODIES];
        tal_spatial_vec F[TALI_CONSTRAINT_SMALL_BODIES];
        double q[TALI_CONSTRAINT_SMALL_MOBILITIES];
        double u[TALI_CONSTRAINT_SMALL_MOBILITIES];
        double udot[TALI_CONSTRAINT_SMALL_MOBILITIES];
        double rows[TALI_CONSTRAINT_SMALL_ROWS];
        double lambda[TALI_CONSTRAINT_SMALL_ROWS];
    } small;
} tali_constraint_room;

/// Room for the wrenches of one large constraint, beside that of its motion.
typedef struct tali_constraint_large {
    tal_spatial_vec *wrench; ///< [rows x (num_bodies + 1)]
    double *coefficient;     ///< [rows x num_mobilities]
} tali_constraint_large;

/// Where these are in the cache entry `room`, or in no memory (NULL); returns its size.
size_t tali_constraint_room_in(const tali_constraints *cs, void *entry, tali_constraint_room *room,
                               tali_constraint_large *large);

/// Let `room` be for this constraint.
void tali_constraint_open_room(const tal_matter *matter, tal_state *state, const tali_constraint *c,
                               tali_constraint_room *room);

/// Where one body of a constraint is, found once for all that is asked at a position. Behind the
/// bodies of a constraint stands its ancestor, with its place in Ground.
typedef struct tali_constraint_pose {
    tal_xform X_AB;
    tal_vec3 p_MB; ///< in Ground
    tal_vec3 p_AB; ///< in Ground
} tali_constraint_pose;

/// The arguments of a constraint's functions in this State: velocities if view->rates is there,
/// accelerations if A_GM [num_bodies] is. The result points into `room`.
tal_constraint_arg tali_constraint_arg_of(const tal_matter *matter, tal_state *state,
                                          const tali_tree_view *view, int index,
                                          const tal_spatial_vec A_GM[], const double udot[],
                                          tali_constraint_room *room);

/// The columns of G^T of one constraint as wrenches and coefficients.
tal_status tali_constraint_find_wrenches(const tal_matter *matter, tal_state *state,
                                         const tali_tree_view *view, int index,
                                         const tali_constraint_wrenches *out);

/// @name Steps of the matter subsystem
/// @{
bool tali_constraints_place(tal_matter *matter);
bool tali_constraints_order(tal_matter *matter);
void tali_constraints_declare_slots(tal_matter *matter);
void tali_constraints_declare_cache(tal_matter *matter);
size_t tali_constraints_scratch(const tal_matter *matter);
tal_status tali_constraints_realize_instance(const tal_matter *matter, tal_state *state);
tal_status tali_constraints_realize_position(const tal_matter *matter, tal_state *state);
tal_status tali_constraints_realize_velocity(const tal_matter *matter, tal_state *state);
tal_status tali_constraints_realize_acceleration(const tal_matter *matter, tal_state *state,
                                                 const tal_spatial_vec A_GM[], const double udot[],
                                                 const double lambda[]);
void tali_constraints_declare_poses(tal_matter *matter);
void tali_constraints_declare_wrenches(tal_matter *matter);
size_t tali_projection_scratch(const tal_matter *matter);

/// Scratch bytes in which one block of constraints is solved.
size_t tali_constraints_solve_scratch(const tali_constraints *cs);

/// Take the parts along quaternions out of an error of q.
void tali_constraint_project_quaternion_errors(const tal_matter *matter,
                                               const tali_matter_model *model, const double q[],
                                               double q_error[]);

tal_status tali_constraint_project_q(const void *self, const tal_system *system, tal_state *state,
                                     const tal_project_options *options, double q_error[],
                                     tal_project_result *result);
tal_status tali_constraint_project_u(const void *self, const tal_system *system, tal_state *state,
                                     const tal_project_options *options, double u_error[],
                                     tal_project_result *result);
void tali_constraints_destroy(tal_matter *matter);
/// @}

/**
 * Solve for the multipliers and let them act: e becomes e - E lambda.
 *
 * @param[in]     view    with articulated inertias and motion
 * @param[in,out] e       [num_u] residual of the inward pass with the applied forces
 * @param[out]    lambda  [rows] multipliers in the order of udoterr
 */
tal_status tali_constraints_solve(const tal_matter *matter, tal_state *state,
                                  const tali_tree_view *view, double e[], double lambda[]);

/// lambda = W^+ G M^-1 f: the multipliers that answer forces f, which left the residual e [num_u]
/// after the inward pass. `lambda` [max_rows] in the order of udoterr.
tal_status tali_constraints_respond(const tal_matter *matter, tal_state *state, const double e[],
                                    double lambda[]);

/// Add G^T lambda, and the friction of elements that slide: to the bodies about Mo in Ground, and
/// along u. `lambda` in the order of udoterr.
tal_status tali_constraints_add_forces(const tal_matter *matter, tal_state *state,
                                       const double lambda[], tal_spatial_vec F[], double f[]);

/// Acceleration errors of all enabled constraints for given body accelerations and udot.
tal_status tali_constraints_aerr(const tal_matter *matter, tal_state *state,
                                 const tali_tree_view *view, const tal_spatial_vec A_GM[],
                                 const double udot[], double aerr[]);

/// Refuses a constraint on an angle while a quaternion describes the orientation.
tal_status tali_constraint_check_angles(const tal_matter *matter, tal_state *state,
                                        const tali_constraint *c);

/// The most coordinates that a joint which closes a loop has.
enum {
    TALI_CONSTRAINT_MOST_COORDINATES = 3
};

/// Whether coordinate i of a joint that closes a loop is an angle.
bool tali_constraint_coordinate_is_angle(const tali_constraint *c, int i);

#endif // TALUS_CONSTRAINT_INTERNAL_H
