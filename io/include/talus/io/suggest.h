// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_SUGGEST_H
#define TALUS_IO_SUGGEST_H

/**
 * @file talus/io/suggest.h
 * @brief "Did you mean ...?"
 */

#include <talus/common/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The i-th name that exists; NULL after the last.
typedef const char *(*tal_name_at_fn)(const void *context, int i);

/**
 * The name that may have been meant by a misspelled one: few insertions, deletions, replacements
 * and swaps of neighbors away, the first of those that are nearest.
 *
 * @param[in] at       gives the names
 * @param[in] context  handed to `at`
 * @return what `at` returned; NULL when nothing is near
 */
TAL_API const char *tal_did_you_mean(const char *wrong, tal_name_at_fn at, const void *context);

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_SUGGEST_H
