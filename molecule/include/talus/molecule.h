// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MOLECULE_H
#define TALUS_MOLECULE_H

/**
 * @file talus/molecule.h
 * @brief Layer 4: coarse-grained molecules: force fields, and molecules with their bond graphs.
 */

#include <talus/forces.h>
#include <talus/molecule/custom.h>
#include <talus/molecule/fixman.h>
#include <talus/molecule/force_field.h>
#include <talus/molecule/granularity.h>
#include <talus/molecule/instance.h>
#include <talus/molecule/mol.h>
#include <talus/molecule/nonbonded.h>
#include <talus/molecule/picture.h>
#include <talus/molecule/units.h>
#include <talus/molecule/velocity.h>

#endif // TALUS_MOLECULE_H
