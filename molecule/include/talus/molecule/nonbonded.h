// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MOLECULE_NONBONDED_H
#define TALUS_MOLECULE_NONBONDED_H

/**
 * @file talus/molecule/nonbonded.h
 * @brief Pairs of atoms that are not bonded: how far they reach, what is between them, periodic
 * boxes, virial and pressure.
 *
 * With U the energy of a pair at distance r, rs where a cutoff begins and rc where it ends, beyond
 * which there is nothing, and x = (r - rs)/(rc - rs):
 *
 *     TAL_CUTOFF_NONE          U, however far
 *     TAL_CUTOFF_TRUNCATE      U
 *     TAL_CUTOFF_SHIFT         U - U(rc)
 *     TAL_CUTOFF_FORCE_SHIFT   U - U(rc) - (r - rc) U'(rc)
 *     TAL_CUTOFF_QUINTIC       U S,  S = 1 - 10 x^3 + 15 x^4 - 6 x^5 beyond rs
 *     TAL_CUTOFF_CHARMM        U S,  S = (rc^2 - r^2)^2 (rc^2 + 2 r^2 - 3 rs^2)/(rc^2 - rs^2)^3
 *     TAL_CUTOFF_FORCE_SWITCH  what GROMACS adds to each 1/r^a so that the force ends smoothly
 *
 * Charges q1, q2 with the constant ke of the force field have the energy
 *
 *     TAL_DIELECTRIC_CONSTANT        ke q1 q2/(eps r)
 *     TAL_DIELECTRIC_DISTANCE        ke q1 q2/(eps r^2), eps in 1/nm
 *     TAL_DIELECTRIC_DEBYE           ke q1 q2 exp(-r/lambda)/(eps r)
 *     TAL_DIELECTRIC_REACTION_FIELD  ke q1 q2 (1/r + k r^2 - c)/eps up to rc,
 *                                    k = (er - 1)/((2 er + 1) rc^3),  c = 1/rc + k rc^2
 *
 * **Generalized Born.** Water as a continuum, the model of Onufriev, Bashford and Case (OBC II).
 * Every atom i has an effective radius B_i, smaller the less others cover it:
 *
 *     rho~ = rho - 0.009 nm,   psi_i = rho~_i I_i/2,
 *     1/B_i = 1/rho~_i - tanh(psi - 0.8 psi^2 + 4.85 psi^3)/rho_i
 *
 * with I_i/2 the integral of 1/(4 pi x^4) over the spheres of the others, of radii S rho~, outside
 * its own; and
 *
 *     E_born    = -ke/2 (1/inside - 1/outside) sum_ij q_i q_j/f,
 *                 f^2 = r^2 + B_i B_j exp(-r^2/(4 B_i B_j)),  i = j included
 *     E_surface = sum_i surface (rho_i + 0.14 nm)^2 (rho_i/B_i)^6
 *
 * It knows of no cutoffs, no scaling by bonds, and not of boxes; all pairs of atoms are visited.
 *
 * Pairs that are scaled, up to four bonds apart, do not know of cutoffs, reaction fields and boxes.
 * All of it is in the State.
 */

#include <talus/molecule/instance.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup nonbonded Pairs of atoms
/// @{

/// How the energy of a pair ends.
typedef enum tal_mol_cutoff {
    TAL_CUTOFF_NONE,
    TAL_CUTOFF_TRUNCATE,
    TAL_CUTOFF_SHIFT,
    TAL_CUTOFF_FORCE_SHIFT,
    TAL_CUTOFF_QUINTIC,
    TAL_CUTOFF_CHARMM,
    TAL_CUTOFF_FORCE_SWITCH
} tal_mol_cutoff;

/// What is between charges.
typedef enum tal_mol_dielectric {
    TAL_DIELECTRIC_CONSTANT,
    TAL_DIELECTRIC_DISTANCE,
    TAL_DIELECTRIC_DEBYE,
    TAL_DIELECTRIC_REACTION_FIELD ///< its cutoff must be TAL_CUTOFF_TRUNCATE
} tal_mol_dielectric;

/// Where a cutoff is.
typedef struct tal_mol_range {
    tal_mol_cutoff kind;
    double start; ///< rs [nm], not negative and below `end`; of the last three kinds
    double end;   ///< rc [nm], positive; of all but TAL_CUTOFF_NONE
} tal_mol_range;

/// How pairs of atoms act. Obtain it from tal_mol_nonbonded_default(), then edit.
typedef struct tal_mol_nonbonded {
    tal_mol_range vdw;
    tal_mol_range coulomb;
    tal_mol_dielectric dielectric;
    double permittivity; ///< eps, positive
    double debye_length; ///< lambda [nm], positive
    double outside;      ///< er of a reaction field, at least 1
    tal_vec3 box;        ///< edges of a periodic box along Ground's axes [nm]; all zero: none.
                         ///< Needs cutoffs of both kinds, of at most half an edge
    bool born;           ///< whether there is water as a continuum; every type needs a radius
                         ///< (tal_ff_set_type_born()), and there may be no box
    double solute;       ///< `inside` of it, positive
    double solvent;      ///< `outside` of it, positive
    double surface;      ///< [kJ/mol/nm^2], not negative
    double skin;         ///< how much farther than the cutoff a list of neighbors reaches [nm], not
                         ///< negative: it holds until an atom has moved by half of it
    bool all_pairs;      ///< look at all pairs, one by one, instead of those in lists of neighbors:
                         ///< slower, and the same to the bit
} tal_mol_nonbonded;

/// No cutoffs, constant dielectric of 1, no box, no continuum; Debye length 1 nm, outside and
/// solvent 78.5, solute 1, surface 28.3919551; a skin of 0.1 nm.
TAL_API tal_mol_nonbonded tal_mol_nonbonded_default(void);

/// How the pairs of a molecule act in a State: the default until it is set.
/// @param[out] nonbonded  written on success only
TAL_API tal_status tal_mol_get_nonbonded(const tal_mol_instance *instance, const tal_state *state,
                                         tal_mol_nonbonded *nonbonded);

/// Set it; invalidates TAL_STAGE_POSITION. What contradicts itself is refused: a cutoff beyond half
/// the box, a body that reaches its own image, a switch that ends before it begins.
TAL_API tal_status tal_mol_set_nonbonded(const tal_mol_instance *instance, tal_state *state,
                                         const tal_mol_nonbonded *nonbonded);

/// The list of neighbors that a State has: atoms in clusters of eight, and which clusters are near
/// each atom. It is made when it is first needed, and anew when atoms have moved too far; results
/// do not depend on it, to the bit.
typedef struct tal_mol_list {
    long num_entries; ///< clusters near atoms
    long room;        ///< for so many; see tal_mol_granularity.list_room
    long num_builds;  ///< how often it was made
} tal_mol_list;

/// Zeros where there is none yet, and on a breach. Needs TAL_STAGE_TOPOLOGY.
TAL_API tal_mol_list tal_mol_list_of(const tal_mol_instance *instance, const tal_state *state);

/**
 * The virial of all terms: the sum of d f^T over pairs, d from one atom to the other, and of
 * (x - x_last) f^T over the atoms of bonded terms. Needs TAL_STAGE_POSITION.
 *
 * @param[in]  of_parts  without what acts within parts that are not bonded to each other: less
 *                       (x - x_c) f^T of every atom, x_c the mass center of its part
 * @param[out] virial    in Ground [kJ/mol]; written on success only
 */
TAL_API tal_status tal_mol_calc_virial(const tal_mol_instance *instance, tal_state *state,
                                       bool of_parts, tal_mat3 *virial);

/// What truncation of van der Waals leaves out on average, for atoms that are spread evenly beyond
/// the cutoff: 2 pi N_i N_j/V (A/(9 rc^9) - B/(3 rc^3)) summed over pairs of classes [kJ/mol]. It
/// is not part of any other energy. Needs TAL_STAGE_MODEL; NaN without a box.
TAL_API double tal_mol_calc_tail(const tal_mol_instance *instance, const tal_state *state);

/// Pressure in a box, from the velocities of mass centers of parts and the virial of parts, which
/// holds at every granularity [bar]. Needs TAL_STAGE_VELOCITY; NaN on failure, and without a box.
TAL_API double tal_mol_calc_pressure(const tal_mol_instance *instance, tal_state *state);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MOLECULE_NONBONDED_H
