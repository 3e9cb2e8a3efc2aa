// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_EXECUTOR_H
#define TALUS_COMMON_EXECUTOR_H

/**
 * @file talus/common/executor.h
 * @brief Executors: how the library uses threads that belong to the program.
 *
 * The library never starts threads by itself. Work that can be shared is cut into tasks that depend
 * neither on each other nor on the number of threads, and the tasks are handed to an executor: the
 * pool of threads.h, or one that you write on top of the threads you have (OpenMP, a job system).
 * The simplest one is a loop:
 *
 *     static void run(void *context, tal_task_fn task, void *work, int num_tasks)
 *     {
 *         #pragma omp parallel for
 *         for (int i = 0; i < num_tasks; ++i) {
 *             task(work, i);
 *         }
 *     }
 */

#include <talus/common/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One task out of several: does part `i` of the work.
typedef void (*tal_task_fn)(void *work, int i);

/// A function that runs tasks, and its context.
typedef struct tal_executor {
    /// Call task(work, i) once for each i in 0 ... num_tasks - 1, in any order, on any threads, and
    /// return when all have returned. May be called from several threads at once, if several States
    /// are realized at once. What the tasks wrote must be visible to the caller.
    void (*run)(void *context, tal_task_fn task, void *work, int num_tasks);
    void *context; ///< handed to `run`; yours
} tal_executor;

/// An executor that runs all tasks on the calling thread, in order.
TAL_API tal_executor tal_executor_in_order(void);

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_EXECUTOR_H
