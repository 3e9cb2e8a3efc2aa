// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MOLECULE_MOL_H
#define TALUS_MOLECULE_MOL_H

/**
 * @file talus/molecule/mol.h
 * @brief Molecules: atoms, bonds, clusters of atoms, and what their bond graph says.
 *
 * A molecule is built, frozen, and never changes again: any number of Systems and threads may share
 * it. It may consist of several that are not bonded. Building is sticky: what an `add` refuses,
 * tal_mol_freeze() returns again.
 *
 *     tal_mol *mol = NULL;
 *     tal_status st = tal_mol_create(ff, NULL, NULL, &mol, &err);
 *     for (int i = 0; i < 4; ++i) tal_mol_add_atom(mol, methyl, "C", 1, "A");
 *     for (int i = 0; i < 3; ++i) tal_mol_add_bond(mol, i, i + 1, 1);
 *     tal_mol_set_positions(mol, x, 4);
 *     st = tal_mol_freeze(mol, &err);
 *
 * Freezing analyzes the graph: which atoms are how many bonds apart, which bonds are in rings, and
 * every stretch, bend and torsion that the bonds imply, with parameters from the force field or as
 * added by hand. Bond orders and types are not guessed.
 */

#include <talus/common/inertia.h>
#include <talus/molecule/force_field.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup mol Molecules
/// @{

/// A molecule. Opaque; const once it is frozen.
typedef struct tal_mol tal_mol;

/// A molecule. Obtain it from tal_mol_def_default(), then edit.
typedef struct tal_mol_def {
    bool only_added;    ///< bonded terms are those added to the molecule; the tables are not used
    bool allow_missing; ///< bonded terms that the tables lack are left out instead of refused
} tal_mol_def;

/// Bonded terms from the tables, none missing.
TAL_API tal_mol_def tal_mol_def_default(void);

/**
 * Create a molecule without atoms.
 *
 * @param[in]  ff         frozen; must outlive the molecule
 * @param[in]  def        copied; NULL: the default
 * @param[in]  allocator  NULL: the C heap
 * @param[out] out        owned by the caller; NULL on failure
 * @param[out] err        why it failed; may be NULL
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_TOPOLOGY for a field that is not frozen, TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_mol_create(const tal_ff *ff, const tal_mol_def *def,
                                                const tal_allocator *allocator, tal_mol **out,
                                                tal_error *err);

/// Free a molecule. NULL is allowed. Systems that use it must be gone.
TAL_API void tal_mol_destroy(tal_mol *mol);

/// The force field of a molecule; borrowed. NULL on a breach.
TAL_API const tal_ff *tal_mol_field(const tal_mol *mol);

/// @name Building. Each returns what it refused, and tal_mol_freeze() returns the first again.
/// @{

/// Add an atom. Charge and mass are those of its type.
/// @param[in] name     need not be unique; copied @param[in] residue  any number
/// @param[in] chain    at most TAL_MAX_MOL_NAME characters, may be ""; copied
/// @return its index, -1 on failure
TAL_API int tal_mol_add_atom(tal_mol *mol, int type, const char *name, int residue,
                             const char *chain);

/// Give an atom another charge than that of its type [e].
TAL_API tal_status tal_mol_set_atom_charge(tal_mol *mol, int atom, double charge);

/// Bond two atoms. @param[in] order  1, 2 or 3 @return its index, -1 on failure
TAL_API int tal_mol_add_bond(tal_mol *mol, int a, int b, int order);

/// Where the atoms are: the geometry that bodies are built from.
/// @param[in] x  [n] positions [nm]
/// @param[in] n  the number of atoms so far
TAL_API tal_status tal_mol_set_positions(tal_mol *mol, const tal_vec3 x[], int n);

/**
 * Add all of another molecule: atoms, bonds, clusters, terms with parameters of their own.
 * Molecules that are to interact must be in one tal_mol: copies make a solvent.
 *
 * @param[in] other  frozen, of the same force field
 * @param[in] X      moves its positions, which are copied if all atoms so far have one; NULL:
 *                   identity
 * @return the index of its first atom here, -1 on failure
 */
TAL_API int tal_mol_add_copy(tal_mol *mol, const tal_mol *other, const tal_xform *X);

/// @name Bonded terms with parameters of their own
/// They replace what the tables say of the same atoms, in either order.
/// @{
TAL_API tal_status tal_mol_add_stretch(tal_mol *mol, int a, int b, double k, double r0);
TAL_API tal_status tal_mol_add_bend(tal_mol *mol, int a, int b, int c, double k, double theta0);
TAL_API tal_status tal_mol_add_urey_bradley(tal_mol *mol, int a, int b, int c, double k, double r0);
/// @param[in] waves  [num_waves]
TAL_API tal_status tal_mol_add_torsion(tal_mol *mol, int a, int b, int c, int d,
                                       const tal_ff_wave waves[], int num_waves);
/// @param[in] waves  [num_waves]
TAL_API tal_status tal_mol_add_improper(tal_mol *mol, int a, int b, int c, int d,
                                        const tal_ff_wave waves[], int num_waves);
TAL_API tal_status tal_mol_add_harmonic_improper(tal_mol *mol, int a, int b, int c, int d, double k,
                                                 double phi0);
/// @}
/// @}

/// @name Clusters: atoms that keep their places in a frame C of their own
/// A cluster can be in one other. An atom is once in a cluster and all that it holds, but may be in
/// several clusters that are apart.
/// @{

/// Add a cluster. @return its index, -1 on failure
TAL_API int tal_mol_add_cluster(tal_mol *mol, const char *name);
/// Place an atom at a station of a cluster, in C [nm].
TAL_API tal_status tal_mol_place_atom(tal_mol *mol, int cluster, int atom, tal_vec3 p_CS);
/// Place a cluster in another, with its frame P at X_CP. What is put into it later counts, too.
TAL_API tal_status tal_mol_place_cluster(tal_mol *mol, int cluster, int child,
                                         const tal_xform *X_CP);
/// Number of clusters; -1 on a breach.
TAL_API int tal_mol_num_clusters(const tal_mol *mol);
/// Number of atoms of a cluster and all that it holds; -1 on a breach.
TAL_API int tal_mol_cluster_size(const tal_mol *mol, int cluster);
/// Where an atom is in a cluster, in C [nm]; NaN when it is not there, which is not a breach.
TAL_API tal_vec3 tal_mol_cluster_station(const tal_mol *mol, int cluster, int atom);
/**
 * Mass properties of a cluster: points, or solid spheres as tal_ff_def.atom_radius_scale says,
 * summed in the order in which they were placed.
 *
 * @param[out] props  mass [Da], center of mass and inertia about the origin of C, both in C
 */
TAL_API tal_status tal_mol_calc_cluster_mass(const tal_mol *mol, int cluster,
                                             tal_mass_props *props);
/// @}

/**
 * End building and analyze the bond graph. Once.
 *
 * @param[out] err  the first thing that is wrong; may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE where bonded terms lack parameters, all of which
 *         tal_mol_missing() lists, or where an atom has not as many bonds as its class; what an
 *         `add` returned; TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_mol_freeze(tal_mol *mol, tal_error *err);

/// Whether it is frozen. False for NULL.
TAL_API bool tal_mol_is_frozen(const tal_mol *mol);

/// The families of bonded terms.
typedef enum tal_mol_family {
    TAL_MOL_STRETCH,
    TAL_MOL_BEND,
    TAL_MOL_UREY_BRADLEY,
    TAL_MOL_TORSION,
    TAL_MOL_IMPROPER
} tal_mol_family;

/// Number of values of ::tal_mol_family.
#define TAL_NUM_MOL_FAMILIES 5

/// The atoms of a bonded term; those behind the first 2, 3 or 4 are -1.
typedef struct tal_mol_tuple {
    tal_mol_family family;
    int atoms[4];
} tal_mol_tuple;

/// Bonded terms without parameters that freezing found; -1 on a breach.
TAL_API int tal_mol_num_missing(const tal_mol *mol);
/// One of them; atoms are -1 on a breach.
TAL_API tal_mol_tuple tal_mol_missing(const tal_mol *mol, int i);

/// @name Atoms
/// @{
/// Number of atoms; -1 on a breach.
TAL_API int tal_mol_num_atoms(const tal_mol *mol);
/// Name of an atom; never NULL; borrowed.
TAL_API const char *tal_mol_atom_name(const tal_mol *mol, int atom);
/// Chain of an atom; never NULL; borrowed.
TAL_API const char *tal_mol_atom_chain(const tal_mol *mol, int atom);
/// Residue of an atom; 0 on a breach.
TAL_API int tal_mol_atom_residue(const tal_mol *mol, int atom);
/// Type of an atom; -1 on a breach.
TAL_API int tal_mol_atom_type(const tal_mol *mol, int atom);
/// Mass of an atom [Da]; NaN on a breach.
TAL_API double tal_mol_atom_mass(const tal_mol *mol, int atom);
/// Charge of an atom [e]; NaN on a breach.
TAL_API double tal_mol_atom_charge(const tal_mol *mol, int atom);
/// Position that was given [nm]; NaN if none was, or on a breach.
TAL_API tal_vec3 tal_mol_atom_position(const tal_mol *mol, int atom);
/// @}

/// @name The bond graph. Frozen molecules only.
/// @{
/// Number of bonds; -1 on a breach.
TAL_API int tal_mol_num_bonds(const tal_mol *mol);
/// The atoms of a bond, as they were given; -1 on a breach.
TAL_API void tal_mol_bond_atoms(const tal_mol *mol, int bond, int atoms[2]);
/// Order of a bond; -1 on a breach.
TAL_API int tal_mol_bond_order(const tal_mol *mol, int bond);
/// The bond of two atoms; -1 when there is none (that is not a breach).
TAL_API int tal_mol_find_bond(const tal_mol *mol, int a, int b);
/// Whether a bond is in a ring: the graph stays connected without it. False on a breach.
TAL_API bool tal_mol_is_ring_bond(const tal_mol *mol, int bond);
/// Which ring system an atom is in, from 0 by lowest atom: atoms that ring bonds connect. -1 when
/// in none, which is no breach.
TAL_API int tal_mol_ring_system(const tal_mol *mol, int atom);
/// Number of parts that are not bonded to each other; -1 on a breach.
TAL_API int tal_mol_num_parts(const tal_mol *mol);
/// Which of them an atom is in, from 0 by lowest atom; -1 on a breach.
TAL_API int tal_mol_part(const tal_mol *mol, int atom);
/// Number of neighbors of an atom; -1 on a breach.
TAL_API int tal_mol_num_neighbors(const tal_mol *mol, int atom);
/// A neighbor, in ascending order; -1 on a breach.
TAL_API int tal_mol_neighbor(const tal_mol *mol, int atom, int i);
/// Bonds on the shortest way between two atoms: 0 to 4, and 5 for all that are farther or not
/// connected; -1 on a breach.
TAL_API int tal_mol_separation(const tal_mol *mol, int a, int b);
/// Number of bonded terms of a family; -1 on a breach.
TAL_API int tal_mol_num_terms(const tal_mol *mol, tal_mol_family family);
/// One of them; atoms are -1 on a breach.
TAL_API tal_mol_tuple tal_mol_term(const tal_mol *mol, tal_mol_family family, int i);
/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MOLECULE_MOL_H
