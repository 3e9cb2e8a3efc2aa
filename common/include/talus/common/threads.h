// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_THREADS_H
#define TALUS_COMMON_THREADS_H

/**
 * @file talus/common/threads.h
 * @brief A pool of threads, for programs that have none of their own.
 *
 *     tal_threads *threads = NULL;
 *     st = tal_threads_create(4, &threads, &err);
 *     const tal_executor executor = tal_threads_executor(threads);
 *     ...
 *     tal_threads_destroy(threads);
 */

#include <talus/common/executor.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Threads that wait for work. Opaque.
typedef struct tal_threads tal_threads;

/**
 * Start threads.
 *
 * @param[in]  n    how many run at once, 1 to 1024; the thread that hands out work counts as one
 * @param[out] out  owned by the caller; NULL on failure
 * @param[out] err  may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE; TAL_ERR_NO_MEMORY when threads cannot be started
 */
TAL_API TAL_NODISCARD tal_status tal_threads_create(int n, tal_threads **out, tal_error *err);

/// Stop the threads and free the pool, which must not be in use. NULL is allowed.
TAL_API void tal_threads_destroy(tal_threads *threads);

/// The pool as an executor, valid as long as the pool. Work that is handed out while the pool is
/// busy, by another thread or from within a task, is done by the thread that hands it out. On a
/// breach, tal_executor_in_order().
TAL_API tal_executor tal_threads_executor(tal_threads *threads);

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_THREADS_H
