// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_BATCH_H
#define TALUS_STUDY_BATCH_H

/**
 * @file talus/study/batch.h
 * @brief Many samples in chunks, shared by threads and machines; in memory, or in a directory,
 * where
 *        a batch that was killed goes on.
 *
 *     tal_batch_def def = tal_batch_def_default();
 *     def.path = "throws.run";
 *     def.manifest = "model: throw.talus\nseed: 42\n";
 *     def.num_samples = 100000;
 *     def.row_size = 2;
 *     st = tal_batch_create(&def, &batch, &err);
 *     if (st == TAL_OK) st = tal_ensemble_run_batch(ensemble, start, &design, batch);
 *     if (st == TAL_OK) st = tal_batch_read(batch, 0, 100000, results, status, NULL);
 *
 * A directory has a manifest, a text that says what is worked on, and a file for each chunk that is
 * done: rows, statuses, the reasons of those that failed, a checksum. Files are written beside and
 * renamed, so a file that is there is whole. Chunks do not depend on each other and their files
 * have the same bytes whoever makes them: any number of threads, of processes on one directory, or
 * of machines (tal_batch_def.shard) whose directories are merged.
 */

#include <talus/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup batch Batches of samples
/// @{

/// What a batch is created from. Obtain it from tal_batch_def_default(), then edit. Texts are
/// copied.
typedef struct tal_batch_def {
    const char *path; ///< directory, made if it is not there; NULL: in memory
    /// Lines "name: value": all that results depend on. A directory with another manifest is
    /// refused. NULL: nothing is known
    const char *manifest;
    int num_samples;
    int row_size;   ///< numbers of each sample
    int chunk;      ///< samples of a chunk; 0: chosen by their number
    int shard;      ///< of the chunks, this batch does each num_shards-th, beginning with this
    int num_shards; ///< 1: all of them
    /// Called between chunks with the number of samples that are done, on the thread that did the
    /// last; return false to stop. NULL: none.
    bool (*proceed)(void *context, int done);
    /// The next number of a counter from 0 that several processes share; NULL: this process counts.
    int (*next)(void *context);
    void *context; ///< handed to `proceed` and `next`
} tal_batch_def;

/// In memory, all chunks.
TAL_API tal_batch_def tal_batch_def_default(void);

/// A batch of samples. Opaque. Use from one thread at a time.
typedef struct tal_batch tal_batch;

/**
 * Begin a batch, or go on with one: chunks whose files are there and whole are done.
 *
 * @param[out] out  owned by the caller; NULL on failure
 * @param[out] err  may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE; TAL_ERR_FILE when the directory cannot be used, or belongs to
 *         another batch: the sentence has the line of the manifest that differs
 */
TAL_API TAL_NODISCARD tal_status tal_batch_create(const tal_batch_def *def, tal_batch **out,
                                                  tal_error *err);

/// Free a batch; what is in its directory stays. NULL is allowed.
TAL_API void tal_batch_destroy(tal_batch *batch);

/**
 * Work on samples first ... first + n - 1, a chunk or the rest of one.
 *
 * @param[in]  lane     which of the lanes is at work
 * @param[out] results  [n][row size]
 * @param[out] status   [n]
 * @param[out] why      [n] sentences of samples that failed
 * @return TAL_OK; TAL_RETRY to stop: the chunk does not count as done
 */
typedef tal_status (*tal_batch_fn)(void *context, int lane, int first, int n, double results[],
                                   tal_status status[], tal_error why[]);

/**
 * Do what is not done.
 *
 * @param[in] work      called for each chunk, from the lanes
 * @param[in] context   handed to `work`
 * @param[in] lanes     chunks that can be worked on at once
 * @param[in] executor  runs the lanes; NULL: the calling thread does
 * @return TAL_OK when all chunks of the shard are done; TAL_RETRY when `proceed` or `work` ended
 * it;
 *         or why a file could not be written
 */
TAL_API TAL_NODISCARD tal_status tal_batch_go(tal_batch *batch, tal_batch_fn work, void *context,
                                              int lanes, const tal_executor *executor);

/// Samples, done or not. 0 for NULL.
TAL_API int tal_batch_num_samples(const tal_batch *batch);

/// Numbers of each sample. 0 for NULL.
TAL_API int tal_batch_row_size(const tal_batch *batch);

/// Take over the chunks of another directory of the same batch. TAL_ERR_FILE when it is not one.
TAL_API TAL_NODISCARD tal_status tal_batch_merge(tal_batch *batch, const char *path);

/// Samples that are done, of all shards. 0 for NULL.
TAL_API int tal_batch_num_done(const tal_batch *batch);

/// The first sample that is not done, of all shards; the number of samples if all are. 0 for NULL.
TAL_API int tal_batch_first_missing(const tal_batch *batch);

/// Files that were damaged or of another batch when they were read, and are made again. 0 for NULL.
TAL_API int tal_batch_num_damaged(const tal_batch *batch);

/**
 * Results of samples first ... first + n - 1.
 *
 * @param[out] results  [n][row size]; NaN where a sample failed or is not done
 * @param[out] status   [n] TAL_RETRY: not done; may be NULL
 * @param[out] why      [n] why samples failed; may be NULL
 * @return TAL_OK; TAL_RETRY when some of them are not done; TAL_ERR_BAD_INDEX; TAL_ERR_FILE for a
 *         file that was damaged since: its samples count as not done, and the batch can go on
 */
TAL_API TAL_NODISCARD tal_status tal_batch_read(tal_batch *batch, int first, int n,
                                                double results[], tal_status status[],
                                                tal_error why[]);

/// Remove the directory with its files, if it has no others. In memory: forget all results.
TAL_API tal_status tal_batch_remove(tal_batch *batch);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_batch_error(const tal_batch *batch);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_BATCH_H
