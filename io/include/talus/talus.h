// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_TALUS_H
#define TALUS_TALUS_H

/**
 * @file talus/talus.h
 * @brief Everything: Simulation = System + State + Study.
 */

#include <talus/common.h>
#include <talus/forces.h>
#include <talus/geometry.h>
#include <talus/io.h>
#include <talus/matter.h>
#include <talus/molecule.h>
#include <talus/state.h>
#include <talus/study.h>

#endif // TALUS_TALUS_H
