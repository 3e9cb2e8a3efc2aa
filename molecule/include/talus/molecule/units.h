// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MOLECULE_UNITS_H
#define TALUS_MOLECULE_UNITS_H

/**
 * @file talus/molecule/units.h
 * @brief Units and constants of molecular models, and the chemical elements.
 *
 * Molecular models are in nm, Da, ps and kJ/mol, which fit together: 1 kJ/mol = 1 Da nm^2/ps^2, and
 * a force of 1 kJ/mol/nm = 1 Da nm/ps^2. Angles are in radians, charges in e, temperatures in K.
 * Energies are per mole of systems, so kT is R T. Functions whose names end in `_ka` take kcal/mol,
 * Angstrom and degrees instead, and convert; what is stored is always the former.
 */

#include <talus/common/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup molunits Units, constants, elements
/// @{

/// R = kB NA [kJ/mol/K], exact since 2019.
#define TAL_MOL_R                  8.31446261815324e-3
/// NA e^2 / (4 pi eps0) [kJ nm/mol/e^2], CODATA 2018: what force fields use unless told otherwise.
#define TAL_MOL_COULOMB            138.93545764438
/// 1 kcal [kJ].
#define TAL_MOL_KCAL               4.184
/// 1 Angstrom [nm].
#define TAL_MOL_ANGSTROM           0.1
/// 1 degree [rad].
#define TAL_MOL_DEGREE             0.017453292519943295
/// 1 kcal/mol/Angstrom [kJ/mol/nm].
#define TAL_MOL_KCAL_PER_ANGSTROM  41.84
/// 1 kcal/mol/Angstrom^2 [kJ/mol/nm^2]: the stiffness of a stretch.
#define TAL_MOL_KCAL_PER_ANGSTROM2 418.4
/// 1 kJ/mol/nm^3 [bar].
#define TAL_MOL_BAR                16.6053906717
/// 1 e Angstrom [Debye].
#define TAL_MOL_DEBYE              4.803206
/// 2^(1/6): the distance of least energy is this times sigma.
#define TAL_MOL_RMIN_PER_SIGMA     1.122462048309373
/// Charges of AMBER files are this times e.
#define TAL_MOL_AMBER_CHARGE       18.2223
/// Velocities of AMBER files, times this, are in nm/ps.
#define TAL_MOL_AMBER_VELOCITY     2.0455

/// The last element with a symbol: oganesson.
#define TAL_MAX_ELEMENT 118

/// Symbol of an element by its atomic number, 1 ... TAL_MAX_ELEMENT; "" for 0, a site that is no
/// atom. Never NULL.
TAL_API const char *tal_element_symbol(int element);

/// Atomic number of a symbol, upper or lower case alike; -1 when there is none (that is not a
/// breach).
TAL_API int tal_element_find(const char *symbol);

/// Standard atomic weight, abridged (IUPAC 2021) [Da]. NaN for an element that has none, as those
/// without stable isotopes: give the mass yourself. 0 for 0.
TAL_API double tal_element_mass(int element);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MOLECULE_UNITS_H
