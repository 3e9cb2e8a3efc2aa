// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STATE_MEASURE_H
#define TALUS_STATE_MEASURE_H

#include <talus/state/state.h>

#endif // TALUS_STATE_MEASURE_H
