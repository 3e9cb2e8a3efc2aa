// Known motion inside: which mobilities are known, from where, and what that makes of the tree.
//
// The passes of M^-1 see a known mobilizer as a weld (view->hinge). Its acceleration enters
// beforehand: with A_known = J udot_known the bodies need F0 + M A_known, and what is left is
// linear in the free udot alone,
//
//     M_ff udot_f = f_f - [J^T (F0 + M J udot_p - F)]_f        manual eq. 8.21
//
// so the caches of the velocity stage keep their meaning: J and Jdot u.
#ifndef TALUS_PRESCRIBED_INTERNAL_H
#define TALUS_PRESCRIBED_INTERNAL_H

#include "tree/matter_internal.h"

#include <talus/common/linalg.h>

/// Where a mobility's motion comes from, besides the index of a motion.
enum {
    TALI_FROM_FORCES = -1, ///< free
    TALI_FROM_LOCK = -2,
    TALI_FROM_RELAX = -3 ///< fast
};

/// Determined at Instance: which motion is known.
typedef struct tali_prescribed_known {
    int num_known;         ///< mobilities whose udot is known
    bool is_moving;        ///< some of these may be other than zero
    const int32_t *source; ///< [num_u] a motion, or one of the above
    const uint8_t *level;  ///< [num_u] tal_level
    const uint8_t *hinge;  ///< [num_bodies] tali_tree_hinge as M^-1 sees it
} tali_prescribed_known;

/// Which mobilities are known. The State must have reached Instance.
tali_prescribed_known tali_prescribed_known_of(const tal_matter *matter, const tal_state *state);

/// The same from the entry itself; num_known is -1 when that is NULL.
tali_prescribed_known tali_prescribed_known_in(const tali_tree *tree, const void *entry);

/// tal_level at which a body is fast, itself or with what carries it. Needs TAL_STAGE_MODEL.
tal_level tali_prescribed_fast_level(const tal_matter *matter, const tal_state *state, int b);

/// tal_level of the fast bodies that a constraint acts on; free: it acts on none, and has rows in
/// the State.
tal_level tali_prescribed_constraint_level(const tal_matter *matter, const tal_state *state, int i);

/// Why a constraint cannot be met by moving fast bodies, for a sentence that begins with its name;
/// NULL: it can, or acts on none. `levels` ([num_bodies]) are those of bodies that may be fast
/// themselves.
const char *tali_prescribed_why_not_fast(const tal_matter *matter, const tali_constraint *c,
                                         const uint8_t levels[]);

/// Does a motion depend on time alone, so that no change of q and u changes its accelerations?
bool tali_prescribed_is_of_time(const tali_prescribed_drive *drive);

/// Which of the three things that can be known.
typedef enum tali_prescribed_order {
    TALI_ORDER_Q,
    TALI_ORDER_U,
    TALI_ORDER_UDOT
} tali_prescribed_order;

/**
 * The known values of one body's mobilities.
 *
 * @param[out] out    [nq or nu] written where the mobility is known at this level, otherwise
 *                    untouched
 * @param[out] count  number of values of the body at this order; 0 when none of them is known
 */
tal_status tali_prescribed_known_values(const tal_matter *matter, tal_state *state,
                                        const tali_prescribed_known *known, int b,
                                        tali_prescribed_order order, double out[], int *count);

/// True when coordinate or speed i of a body is known at this order.
bool tali_prescribed_is_known(const tal_matter *matter, const tali_prescribed_known *known, int b,
                              int i, tali_prescribed_order order);

/// Put into a view which mobilities are known. Their entry must be valid.
void tali_prescribed_see_known(const tal_matter *matter, const tal_state *state,
                               tali_tree_view *view);

/// The outermost body that can move without moving mass, when articulated inertias could not be
/// found.
int tali_prescribed_massless_body(const tali_tree_view *view, const double DI[]);

/// Add A_known and udot_known to a view, if any of them may be other than zero. False with the
/// reason in the State.
bool tali_prescribed_see_known_udot(const tal_matter *matter, tal_state *state,
                                    tali_tree_view *view);

/// Add the known udot, and the accelerations that it gives, to the results of M^-1, which are zero
/// there.
void tali_prescribed_add_known(const tali_tree_view *view, double udot[], tal_spatial_vec A[]);

/// Locks as they are: levels [num_u], and for each body whether its q values are angles.
const uint8_t *tali_prescribed_lock_levels(const tal_matter *matter, const tal_state *state);

/// Applied forces, with those of constraints on fast bodies: what makes bodies accelerate and what
/// mobilizers carry. NULLs with the reason in the State. The State must have reached Dynamics.
tali_tree_applied tali_prescribed_loads_of(const tal_matter *matter, tal_state *state);

/// A row or motion counts as dependent below this: well above round-off, well below any geometry.
#define TALI_FAST_RCOND 1e-12

/// The speeds that relaxing finds at one level.
typedef struct tali_prescribed_fast_speeds {
    tal_level level;
    int n;
    int32_t *speed; ///< [n] which, room for num_fast
    int32_t *body;  ///< [n] of which body, the same
} tali_prescribed_fast_speeds;

/// Find them: fast, and neither locked nor with a motion.
void tali_prescribed_fast_find(const tal_matter *matter, const tal_state *state, tal_level level,
                               tali_prescribed_fast_speeds *fast);

/// @name Enabled constraints on fast bodies, all of one level, one after the other
/// They have mp rows when positions are sought, mp + mv when velocities are.
/// @{
int tali_prescribed_fast_num_rows(const tal_matter *matter, const tal_state *state, tal_level level,
                                  bool velocities);
/// Their errors ([rows]): of position, or of velocity.
tal_status tali_prescribed_fast_errors(const tal_matter *matter, tal_state *state, tal_level level,
                                       bool velocities, double errors[]);
/// Their G over the fast speeds, rows x n. F and f are room for bodies and twice the speeds.
tal_status tali_prescribed_fast_G(const tal_matter *matter, tal_state *state,
                                  const tali_prescribed_fast_speeds *fast, bool velocities,
                                  tal_matrix G, tal_spatial_vec F[], double f[]);
/// F -= G^T lambda on bodies about Mo, f -= G^T lambda along u.
tal_status tali_prescribed_fast_push(const tal_matter *matter, tal_state *state, tal_level level,
                                     bool velocities, const double lambda[], tal_spatial_vec F[],
                                     double f[]);
/// lambda = (G^T)^+ r, of least sum of squares. lambda has room for the most of rows and speeds; GT
/// for G, work and iwork for its decomposition transposed.
tal_status tali_prescribed_fast_multipliers(tal_state *state, tal_matrix G, const double r[],
                                            double GT[], double work[], int iwork[],
                                            double lambda[]);
/// The constraint that a row belongs to.
int tali_prescribed_fast_row_owner(const tal_matter *matter, const tal_state *state,
                                   tal_level level, bool velocities, int row);
/// @}

/// @name Steps of the matter subsystem
/// @{
bool tali_prescribed_place(tal_matter *matter);
void tali_prescribed_declare_variables(tal_matter *matter);
void tali_prescribed_declare_known(tal_matter *matter);
void tali_prescribed_declare_dynamics(tal_matter *matter);
size_t tali_prescribed_scratch(const tal_matter *matter);
size_t tali_prescribed_relax_scratch(const tal_matter *matter);
size_t tali_prescribed_fast_scratch(const tal_matter *matter);
void tali_prescribed_fast_declare(tal_matter *matter);
tal_status tali_prescribed_put_q(const void *self, const tal_system *system, tal_state *state,
                                 bool *changed);
tal_status tali_prescribed_put_u(const void *self, const tal_system *system, tal_state *state,
                                 bool *changed);
tal_status tali_prescribed_relax(const void *self, const tal_system *system, tal_state *state,
                                 tal_stage stage, double tolerance, bool *changed);
void tali_prescribed_destroy(tal_matter *matter);
/// @}

#endif // TALUS_PRESCRIBED_INTERNAL_H
