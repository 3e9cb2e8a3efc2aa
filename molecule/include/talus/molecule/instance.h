// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MOLECULE_INSTANCE_H
#define TALUS_MOLECULE_INSTANCE_H

/**
 * @file talus/molecule/instance.h
 * @brief A molecule in a System: bodies, mobilizers, and one force element for all of its terms.
 *
 *     tal_matter *matter = tal_matter_create(system);
 *     tal_forces *forces = tal_forces_create(system, matter);
 *     tal_mol_granularity g = tal_mol_granularity_default();
 *     const tal_mol_instance *ala = tal_mol_add(system, matter, forces, "ala", mol, &g, NULL);
 *
 * The atoms of one instance interact with each other; those of two do not. What is to interact is
 * one molecule (tal_mol_add_copy()). A State begins at the positions of the molecule. All terms
 * depend on q alone. Sums are exact on a grid of 2^-36 kJ/mol and kJ/mol/nm: they do not depend on
 * the order of their terms.
 *
 * Terms whose atoms cannot move against each other are constant; they are left out of the forces,
 * and of the potential energy of the element, and reported as `frozen`.
 */

#include <talus/forces/force.h>
#include <talus/molecule/granularity.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup molinstance Molecules in a System
/// @{

/// A molecule in a System. Opaque; owned by the System.
typedef struct tal_mol_instance tal_mol_instance;

/**
 * Add a molecule: its bodies to matter, its terms as an element of a force subsystem. Sticky, as
 * all building is.
 *
 * @param[in] matter  of the System; so are the forces, which act on it
 * @param[in] name    of the element; bodies are "<name>.<index>"; at most 31 characters
 * @param[in] mol     frozen, with positions; must outlive the System
 * @param[in] how     copied; NULL: the default
 * @param[in] X_GR    pose in Ground of the frame R that its positions are given in; NULL: identity
 * @return borrowed; NULL on failure
 */
TAL_API const tal_mol_instance *tal_mol_add(tal_system *system, tal_matter *matter,
                                            tal_forces *forces, const char *name,
                                            const tal_mol *mol, const tal_mol_granularity *how,
                                            const tal_xform *X_GR);

/// Its force element; `i` < 0 on a breach.
TAL_API tal_force_ix tal_mol_instance_force(const tal_mol_instance *instance);

/// The molecule; borrowed. NULL on a breach.
TAL_API const tal_mol *tal_mol_instance_mol(const tal_mol_instance *instance);

/// What building made of a molecule.
typedef struct tal_mol_statistics {
    int num_bodies;
    int nu;          ///< mobilities
    int depth;       ///< bodies on the longest way to Ground
    int num_demoted; ///< see tal_mol_demoted_at()
    int num_cut;     ///< see tal_mol_cut_bond()
    int num_frozen;  ///< bonded terms that are constant
    int num_mapped;  ///< torsions that became part of a series
    double radius;   ///< the largest distance of an atom from the origin of its body [nm]
} tal_mol_statistics;

/// Zeros on a breach.
TAL_API tal_mol_statistics tal_mol_instance_statistics(const tal_mol_instance *instance);

/// A mobility that was not granted.
typedef struct tal_mol_demoted {
    int bond; ///< -1: the root of a tree
    int atom; ///< the lowest of the body behind it
    tal_bond_mobility from, to;
} tal_mol_demoted;

/// One of them; the bond and the atom are -1 on a breach.
TAL_API tal_mol_demoted tal_mol_demoted_at(const tal_mol_instance *instance, int i);

/// A bond that would have closed a loop; -1 on a breach.
TAL_API int tal_mol_cut_bond(const tal_mol_instance *instance, int i);

/// The body of an atom; `i` < 0 on a breach.
TAL_API tal_body_ix tal_mol_atom_body(const tal_mol_instance *instance, int atom);

/// The station of an atom on its body, from Bo in B [nm]; NaN on a breach.
TAL_API tal_vec3 tal_mol_atom_station(const tal_mol_instance *instance, int atom);

/// What a bond became.
typedef struct tal_mol_joint {
    tal_bond_mobility mobility;
    tal_body_ix body; ///< whose mobilizer it is; `i` < 0 if it is none: rigid, free, or cut
    int atoms[2];     ///< i of the parent, j of the body; -1 if it is none
    int dihedral[2];  ///< k and l of the dihedral that a torsion's q is; -1 where there is none
} tal_mol_joint;

/// The body is `i` < 0 on a breach.
TAL_API tal_mol_joint tal_mol_bond_joint(const tal_mol_instance *instance, int bond);

/// Energies by family [kJ/mol].
typedef struct tal_mol_energy {
    double stretch, bend, urey_bradley, torsion, improper;
    double vdw;   ///< pairs that are not scaled
    double vdw14; ///< pairs up to four bonds apart, scaled
    double coulomb;
    double coulomb14;
    double born;    ///< of water as a continuum (talus/molecule/nonbonded.h)
    double surface; ///< of its surface
    double fixman;  ///< Fixman's potential, at its temperature (talus/molecule/fixman.h)
    double frozen;  ///< terms of all families that nothing changes
    double total;   ///< all of these, `frozen` included
} tal_mol_energy;

/// Energies of a molecule. Needs TAL_STAGE_POSITION. The sum without `frozen` is the potential
/// energy of the element.
/// @param[out] energy  NaN on failure
TAL_API tal_status tal_mol_calc_energy(const tal_mol_instance *instance, tal_state *state,
                                       tal_mol_energy *energy);

/// Positions of the atoms. Needs TAL_STAGE_POSITION.
/// @param[out] x  [n] in Ground [nm]
/// @param[in]  n  the number of atoms
TAL_API tal_status tal_mol_calc_positions(const tal_mol_instance *instance, const tal_state *state,
                                          tal_vec3 x[], int n);

/// Forces of all terms on the atoms, also of those that are frozen: the negative gradient of the
/// total. Needs TAL_STAGE_POSITION.
/// @param[out] f  [n] in Ground [kJ/mol/nm]
/// @param[in]  n  the number of atoms
TAL_API tal_status tal_mol_calc_forces(const tal_mol_instance *instance, tal_state *state,
                                       tal_vec3 f[], int n);

/// What scales the terms of a molecule in a State.
typedef enum tal_mol_scale {
    TAL_MOL_SCALE_BONDED,
    TAL_MOL_SCALE_VDW,
    TAL_MOL_SCALE_COULOMB,
    TAL_MOL_SCALE_BORN ///< also of the surface
} tal_mol_scale;

/// Number of values of ::tal_mol_scale.
#define TAL_NUM_MOL_SCALES 4

/// A scale; 1 until it is set. NaN on a breach.
TAL_API double tal_mol_scale_of(const tal_mol_instance *instance, const tal_state *state,
                                tal_mol_scale which);

/// Set a scale, any finite number; invalidates TAL_STAGE_DYNAMICS.
TAL_API tal_status tal_mol_set_scale(const tal_mol_instance *instance, tal_state *state,
                                     tal_mol_scale which, double value);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MOLECULE_INSTANCE_H
