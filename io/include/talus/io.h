// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_H
#define TALUS_IO_H

/**
 * @file talus/io.h
 * @brief Files: models, and the numbers and diagnostics that all formats share.
 */

#include <talus/io/atoms.h>
#include <talus/io/bridge.h>
#include <talus/io/c3d.h>
#include <talus/io/diagnostics.h>
#include <talus/io/file.h>
#include <talus/io/format.h>
#include <talus/io/generate.h>
#include <talus/io/mesh.h>
#include <talus/io/model.h>
#include <talus/io/number.h>
#include <talus/io/opensim.h>
#include <talus/io/prmtop.h>
#include <talus/io/registry.h>
#include <talus/io/scene.h>
#include <talus/io/suggest.h>
#include <talus/io/table.h>
#include <talus/io/urdf.h>

#endif // TALUS_IO_H
