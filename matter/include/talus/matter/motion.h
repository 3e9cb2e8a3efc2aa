// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_MOTION_H
#define TALUS_MATTER_MOTION_H

/**
 * @file talus/matter/motion.h
 * @brief Forwards to talus/matter/response.h, where the responses are now.
 */

#include <talus/matter/response.h>

#endif // TALUS_MATTER_MOTION_H
