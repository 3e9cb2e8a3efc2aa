// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_CONTACT_GEOMETRY_H
#define TALUS_FORCES_CONTACT_GEOMETRY_H

/**
 * @file talus/forces/contact_geometry.h
 * @brief Forwards to talus/geometry.h, where shapes and meshes are now.
 */

#include <talus/geometry.h>

#endif // TALUS_FORCES_CONTACT_GEOMETRY_H
