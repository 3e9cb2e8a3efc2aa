// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_VERSION_H
#define TALUS_COMMON_VERSION_H

/**
 * @file talus/common/version.h
 * @brief Which Talus this is: the one a program was compiled with, and the one it runs with.
 */

#include <talus/common/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Version of these headers, by the rules of semantic versioning; 0.x promises no stable interface.
#define TAL_VERSION_MAJOR 0
#define TAL_VERSION_MINOR 1
#define TAL_VERSION_PATCH 0

/// Version of the library that is running, e.g. "0.1.0"; never NULL.
TAL_API const char *tal_version_string(void);

/// Commit the library was built from: twelve hexadecimal digits, with "-dirty" after them when the
/// sources differed from it; "unknown" when it was not built from a git checkout. Never NULL.
TAL_API const char *tal_git_hash(void);

/**
 * Can a program compiled with headers of version `major.minor` use the library that is running?
 *
 * From 1.0 on the major versions must agree and the library's minor version must not be the older
 * one. Before 1.0 both numbers must agree.
 *
 * @param[in] major  TAL_VERSION_MAJOR of the headers
 * @param[in] minor  TAL_VERSION_MINOR of the headers
 */
TAL_API bool tal_version_matches(int major, int minor);

/// True if the library that is running fits the headers this line was compiled with.
#define TAL_VERSION_CHECK() tal_version_matches(TAL_VERSION_MAJOR, TAL_VERSION_MINOR)

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_VERSION_H
