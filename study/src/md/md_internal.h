// Molecular dynamics as a struct, and the parts of a step.
#ifndef TALUS_MD_INTERNAL_H
#define TALUS_MD_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/study/md.h>

/// A body and the root of its inertia about the mass center: root root^T.
typedef struct tali_md_body {
    tal_mass_props mass; ///< that the root is of
    tal_mat3 root;       ///< in B
} tali_md_body;

/// Vectors that the iteration of the symplectic drift keeps: of each of the last changes two, and
/// two of the last round.
#define TALI_MD_KEPT   8
#define TALI_MD_ROUNDS (2 * TALI_MD_KEPT + 2)

struct tal_md {
    tal_allocator allocator;
    size_t size; ///< of the whole block
    const tal_system *system;
    const tal_matter *matter;
    tal_md_def def;
    tal_md_memory memory;
    tal_error error;
    int nq, nu, num_bodies;
    int rounds;
    tali_md_body *bodies;  ///< [num_bodies]
    tal_spatial_vec *F_GB; ///< [num_bodies]
    double *f, *g, *udot;  ///< [nu]
    double *a;             ///< [nu] accelerations by forces at the q of the State
    double *q0, *q1;       ///< [nq]
    double *u0, *u1;       ///< [nu]
    // of the symplectic drift
    double *p;        ///< [nu] momenta
    double *theta;    ///< [nu] how far q moves
    double *residual; ///< [nu] of momenta
    double *history;  ///< [TALI_MD_ROUNDS][nu] what rounds of its iteration changed
    // where a proposal began
    double *kept_q;          ///< [nq]
    double *kept_u, *kept_a; ///< [nu]
};

/// Keep why a call on a State failed.
tal_status tali_md_pass_on(tal_md *md, const tal_state *state, tal_status st);

/// q and u after a time without forces.
tal_status tali_md_drift(tal_md *md, tal_state *state, double h);

/// The same by a rule that keeps volumes of q and M u.
tal_status tali_md_drift_symplectic(tal_md *md, tal_state *state, double h);

/// Whether it can move all bodies of matter.
tal_status tali_md_check_symplectic(const tal_matter *matter, tal_error *err);

/// A drift that does not converge, as an error.
tal_status tali_md_fail_drift(tal_md *md, const tal_state *state);

/// Kick, drift, kick: a step of Verlet's. The accelerations are those of q before and after.
tal_status tali_md_leap(tal_md *md, tal_state *state, double h);

/// Speeds after a time of friction and noise.
tal_status tali_md_mix_with_noise(tal_md *md, tal_state *state, double time);

/// A trajectory of hybrid Monte Carlo, which counts or does not.
tal_status tali_md_propose(tal_md *md, tal_state *state);

/// The bath between the drifts.
tal_status tali_md_bathe(tal_md *md, tal_state *state);

/// Half a step of a chain.
tal_status tali_md_turn_chain(tal_md *md, tal_state *state);

/// Energy in a chain.
double tali_md_chain_energy(const tal_md *md);

/// Degrees of freedom at temperature.
double tali_md_dof(const tal_md *md);

/// Remove the momentum of the whole.
tal_status tali_md_still(tal_md *md, tal_state *state);

#endif // TALUS_MD_INTERNAL_H
