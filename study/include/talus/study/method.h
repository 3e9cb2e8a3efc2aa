// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_METHOD_H
#define TALUS_STUDY_METHOD_H

/**
 * @file talus/study/method.h
 * @brief Methods of integration by name, for programs and files that let people choose one.
 *
 *     const int method = tal_method_find("dormand-prince");
 *     if (method >= 0) {
 *         tal_integrator_def def = tal_method_def(method);
 *         def.accuracy = 1e-6;
 *         ...
 *     }
 */

#include <talus/study/integrator.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @addtogroup integrator
/// @{

/// How many methods have names: each of ::tal_method, Runge-Kutta once for each tableau that is
/// built in.
TAL_API int tal_num_methods(void);

/// Name of a method, `method` from 0 to tal_num_methods() - 1: "merson", "cvode-bdf". Static; NULL
/// behind the last one, so that lists end there, and below 0.
TAL_API const char *tal_method_name(int method);

/// What it is, in a few words, without a full stop. Static; NULL as tal_method_name().
TAL_API const char *tal_method_summary(int method);

/// The method of that name; -1 when there is none (that is not a breach).
TAL_API int tal_method_find(const char *name);

/// tal_integrator_def_default() with that method; with its own, and a breach, when there is no such
/// method.
TAL_API tal_integrator_def tal_method_def(int method);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_METHOD_H
