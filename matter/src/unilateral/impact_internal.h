// Impacts and modes inside: the elements that touch, as one problem over W.
//
//     rows     those of all enabled constraints, in the order of udoterr, and of what touches
//     W        G M^-1 G^T; rows of normals with the sign of their element, so that pi >= 0 pushes
//     v        velocities of the rows (an impact) or accelerations without forces (modes)
//
// Rows that influence each other make a component; each is solved by itself, in the order of rows.
#ifndef TALUS_IMPACT_INTERNAL_H
#define TALUS_IMPACT_INTERNAL_H

#include "unilateral/unilateral_internal.h"

#include <talus/common/complementarity.h>
#include <talus/common/friction.h>
#include <talus/matter/impact.h>

/// An element that touches.
typedef struct tali_impact_part {
    int element;
    int normal, grip; ///< first rows; -1: none
    int num_slips;
    tal_unilateral_mode was;
    double speed; ///< of its normal
    double slip[2];
    double static_mu, sliding_mu, limit;
    bool slides; ///< with direction
    double direction[2];
    double restitution;
    bool is_contact; ///< its normal is a position equation: it may rebound
    bool is_in;      ///< it takes part in this round
    int num_loads;   ///< rows that press on its grip
    int load[TAL_UNILATERAL_LOAD_ROWS];
    bool is_held; ///< its grip, on which a load presses, holds whatever it takes
    tal_friction_mode mode;
} tali_impact_part;

/// The problem, in a State's scratch memory.
typedef struct tali_impact_problem {
    const tal_matter *matter;
    tal_state *state;
    tal_impact_options options;
    size_t mark; ///< of the scratch memory

    tali_impact_part *parts; ///< [num]
    int num;
    int m;        ///< rows
    tal_matrix W; ///< m x m
    double *sign; ///< [m]
    double *v;    ///< [m] and before the round, before the impact
    double *v_round, *v_first;
    double *pi, *pi_round; ///< [m] so far, and before the round
    double *udot;          ///< [num_u + 1]
    int *component;        ///< [m] which component a row is in; -1: none
    int *stack;            ///< [m]

    // one component
    int n, num_in;
    int num_smooth; ///< phases without all of their friction so far
    int *rows;      ///< [n] among m
    int *in;        ///< [num_in] among the parts
    tal_matrix A;
    double *b, *z, *y, *lower, *upper; ///< [n]
    tal_friction_contact *contacts;    ///< [num_in] and as many more
    tal_friction_mode *modes;          ///< [num_in]
    double *floors;                    ///< [num_in] least normal forces
    double *given;                     ///< [num_in] room: floors to come
    double *work;
    int *iwork;
} tali_impact_problem;

// --- impact_problem.c ---

/// Scratch bytes of a problem.
size_t tali_impact_scratch(const tal_matter *matter);

/// Look at the elements that touch: `parts`, with speeds and slips, nothing else. The State is
/// realized to Velocity. Afterwards, also on failure, call tali_impact_end().
tal_status tali_impact_begin(const tal_matter *matter, tal_state *state,
                             const tal_impact_options *options, tali_impact_problem *p);

/// Enable their constraints, and find W.
tal_status tali_impact_assemble(tali_impact_problem *p);

/// Give the memory back.
void tali_impact_end(tali_impact_problem *p);

/// The constraints of all parts as they were before tali_impact_assemble().
tal_status tali_impact_restore(tali_impact_problem *p);

/// Divide rows into components: bilateral ones, and those of parts that are in.
int tali_impact_find_components(tali_impact_problem *p);

/// Where a row is in the component that was gathered; -1: it is in another one.
int tali_impact_local_row(const tali_impact_problem *p, int row);

/// Gather component `c`: rows, A, b from v (0 in bilateral rows if these `hold`). False when no
/// part is in it.
bool tali_impact_gather(tali_impact_problem *p, int c, bool hold);

/// Solve the component that was gathered, with at least `floors` as normal forces: z, y and modes.
tal_status tali_impact_solve(tali_impact_problem *p, tal_error *why);

/// The same where loads press on grips: friction depends on the forces of bilateral rows.
tal_status tali_impact_solve_loaded(tali_impact_problem *p, tal_error *why);

/// Does a load press on a grip of the component that was gathered?
bool tali_impact_any_load(const tali_impact_problem *p);

/// The same without friction.
tal_status tali_impact_solve_smooth(tali_impact_problem *p, tal_error *why);

/// A failure, with the names of the elements of the component.
tal_status tali_impact_fail(tali_impact_problem *p, tal_status st, const char *why);

// --- impact_path.c ---

/// One contact with friction in an impact. Index 0 is the normal, 1 and 2 are tangential; rows that
/// are not there are zero.
typedef struct tali_impact_path {
    double A[3][3];
    double static_mu, sliding_mu, restitution;
    double v[3];  ///< in: before; out: after
    double pi[3]; ///< in: zero; out: impulses
} tali_impact_path;

/// Follow its slip through compression and expansion. False when that does not come to an end.
bool tali_impact_follow_path(tali_impact_path *it);

// --- impact.c ---

/// What both questions check at their door.
tal_status tali_impact_enter(const tal_matter *matter, tal_state *state,
                             const tal_impact_options *options, const char *where);

/// The impulses of one part that is jammed, whose component was gathered: as of an impact without
/// approach and without restitution, into z. Velocities of the rows are in `v`.
bool tali_impact_jam(tali_impact_problem *p);

/// u += M^-1 G^T pi with the impulses of all rows.
tal_status tali_impact_apply(tali_impact_problem *p, const double pi[]);

/// Velocities of all rows into v; 0 in bilateral ones.
tal_status tali_impact_fill_velocities(tali_impact_problem *p);

#endif // TALUS_IMPACT_INTERNAL_H
