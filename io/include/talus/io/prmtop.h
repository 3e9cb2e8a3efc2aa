// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_PRMTOP_H
#define TALUS_IO_PRMTOP_H

/**
 * @file talus/io/prmtop.h
 * @brief Molecules from AMBER: a topology, `.prmtop`, and coordinates from any file of atoms.
 *
 *     tal_atoms *places = NULL;
 *     tal_prmtop made;
 *     tal_prmtop_options how = tal_prmtop_options_default();
 *     st = tal_atoms_read_file("ala.inpcrd", NULL, &places, found);
 *     how.places = places;
 *     if (st == TAL_OK) st = tal_prmtop_read_file("ala.prmtop", &how, &made, found);
 *     tal_mol_add(system, matter, forces, "ala", made.mol, NULL, NULL);
 *
 * Van der Waals parameters are those of the file, pair by pair; bonded terms are those of the file,
 * and no others. Files with terms that Talus does not compute are refused, and these are named:
 * CMAP, CHAMBER, 10-12 and 12-6-4 terms, polarizabilities, perturbed topologies. So are files whose
 * pairs without interactions are not those up to three bonds apart, and files whose pairs three
 * bonds apart are not all scaled alike.
 */

#include <talus/io/atoms.h>
#include <talus/molecule/mol.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup prmtop AMBER topologies
/// @{

/// How to read. Obtain it from tal_prmtop_options_default(), then edit.
typedef struct tal_prmtop_options {
    tal_allocator allocator; ///< of what is made, and of reading
    size_t max_bytes;        ///< a longer file is refused
    double coulomb_constant; ///< ke of the force field [kJ nm/mol/e^2]; AMBER's own is
                             ///< TAL_PRMTOP_AMBER_COULOMB
    const tal_atoms *places; ///< the molecule gets the positions of its last frame; as many atoms
                             ///< as the topology has. NULL: it has no positions
} tal_prmtop_options;

/// 18.2223^2 kcal Angstrom/mol, the ke of AMBER's programs [kJ nm/mol/e^2].
#define TAL_PRMTOP_AMBER_COULOMB 138.930647714136

/// The C heap, 2 GiB, TAL_MOL_COULOMB, no positions.
TAL_API tal_prmtop_options tal_prmtop_options_default(void);

/// What a file makes. All of it is frozen; destroy it with tal_prmtop_destroy() when the Systems
/// that use it are gone.
typedef struct tal_prmtop {
    tal_ff *field;
    tal_mol *mol;     ///< of that field; atoms in the order of the file
    tal_atoms *atoms; ///< names, residues, elements and bonds of the same atoms; no frames
} tal_prmtop;

/**
 * Read a topology.
 *
 * @param[in]     options  NULL: the defaults
 * @param[out]    out      all NULL on failure
 * @param[in,out] found    gets what is wrong, with lines and sections, and warnings; may be NULL
 * @return TAL_OK; TAL_ERR_FILE when the file cannot be read or has errors, TAL_ERR_NO_MEMORY,
 *         TAL_ERR_NULL, TAL_ERR_BAD_VALUE for a constant that is not positive
 */
TAL_API TAL_NODISCARD tal_status tal_prmtop_read_file(const char *path,
                                                      const tal_prmtop_options *options,
                                                      tal_prmtop *out, tal_diagnostics *found);

/// The same from memory. `name` stands for the file in diagnostics.
/// @param[in] text  [size] the file
TAL_API TAL_NODISCARD tal_status tal_prmtop_read_memory(const char *name, const char text[],
                                                        size_t size,
                                                        const tal_prmtop_options *options,
                                                        tal_prmtop *out, tal_diagnostics *found);

/// Free what a file made, and set it to NULL. NULL is allowed.
TAL_API void tal_prmtop_destroy(tal_prmtop *prmtop);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_PRMTOP_H
