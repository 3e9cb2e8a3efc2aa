// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MOLECULE_PICTURE_H
#define TALUS_MOLECULE_PICTURE_H

/**
 * @file talus/molecule/picture.h
 * @brief Drawings of molecules: atoms as balls, bonds as sticks, the box around them.
 *
 *     const tal_mol_instance *ala = tal_mol_add(system, matter, forces, "ala", mol, NULL, NULL);
 *     tal_mol_decorate(ala, matter, NULL);
 *
 * They are decorations of the bodies (talus/matter/decoration.h), which scenes and pages show. A
 * bond is drawn where it keeps its direction on the bodies of its atoms: within a body, and along
 * torsions, cylinders and sliders.
 */

#include <talus/molecule/instance.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup molpicture Pictures of molecules
/// @{

/// What is drawn. Obtain it from tal_mol_picture_default(), then edit.
typedef struct tal_mol_picture {
    double atom_scale;   ///< radius of a ball, as a part of the atom's van der Waals radius
    double least_radius; ///< of a ball, for atoms that have none [nm]
    double bond_radius;  ///< of a stick [nm]; 0: no sticks
    tal_vec3 box;        ///< edges of a box from Ground's origin along its axes [nm]; zeros: none
} tal_mol_picture;

/// A quarter of the radius and at least 0.03 nm; sticks of 0.015 nm; no box.
TAL_API tal_mol_picture tal_mol_picture_default(void);

/**
 * Decorate the bodies of a molecule, before the topology is realized. Colors are those that
 * chemists use: carbon is gray, hydrogen white, nitrogen blue, oxygen red, sulfur yellow,
 * phosphorus orange, halogens green; atoms without an element are violet.
 *
 * @param[in] matter   the one that the molecule was added to
 * @param[in] picture  NULL: the default
 * @return TAL_OK; TAL_ERR_BAD_VALUE for numbers that are negative or not finite; TAL_ERR_TOPOLOGY
 *         once the topology is realized; TAL_ERR_NULL, TAL_ERR_NO_MEMORY
 */
TAL_API tal_status tal_mol_decorate(const tal_mol_instance *instance, tal_matter *matter,
                                    const tal_mol_picture *picture);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MOLECULE_PICTURE_H
