// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_H
#define TALUS_COMMON_H

/**
 * @file talus/common.h
 * @brief Layer 0: the base of every other layer. Includes all the parts below.
 */

#include <talus/common/alloc.h>
#include <talus/common/complementarity.h>
#include <talus/common/effort.h>
#include <talus/common/executor.h>
#include <talus/common/friction.h>
#include <talus/common/function.h>
#include <talus/common/inertia.h>
#include <talus/common/lapack.h>
#include <talus/common/least_squares.h>
#include <talus/common/linalg.h>
#include <talus/common/minimize.h>
#include <talus/common/nlp.h>
#include <talus/common/planar.h>
#include <talus/common/polynomial.h>
#include <talus/common/random.h>
#include <talus/common/rotation.h>
#include <talus/common/screw.h>
#include <talus/common/signal.h>
#include <talus/common/spatial.h>
#include <talus/common/status.h>
#include <talus/common/threads.h>
#include <talus/common/vec.h>
#include <talus/common/version.h>

#endif // TALUS_COMMON_H
