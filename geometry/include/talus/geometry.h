// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_GEOMETRY_H
#define TALUS_GEOMETRY_H

/**
 * @file talus/geometry.h
 * @brief Shapes and triangle meshes. Knows nothing about bodies or States: it depends on common/
 * alone.
 */

#include <talus/common.h>
#include <talus/geometry/hull.h>
#include <talus/geometry/mesh.h>
#include <talus/geometry/shape.h>
#include <talus/geometry/wrap.h>

#endif // TALUS_GEOMETRY_H
