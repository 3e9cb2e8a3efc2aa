// A batch as a struct, and its chunks as bytes.
#ifndef TALUS_BATCH_INTERNAL_H
#define TALUS_BATCH_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"
#include "file_internal.h"

#include <talus/study/batch.h>

#include <stdatomic.h>

/// The bytes of a chunk that is kept in memory.
typedef struct tali_batch_kept {
    void *bytes;
    size_t size;
} tali_batch_kept;

struct tal_batch {
    tal_allocator allocator;
    tal_batch_def def;
    bool in_memory;
    char path[TALI_PATH_SIZE - 32]; // of the directory; what is in it has short names
    char *manifest;                 // all of it, as in the file
    size_t manifest_size;           // without the terminating zero
    uint64_t identity;              // of the manifest
    int chunk, num_chunks;
    bool *done;            // [num_chunks]
    tali_batch_kept *kept; // [num_chunks] in memory
    int num_damaged;
    atomic_int num_done; // samples
    tal_error error_record;
};

/// A chunk as numbers. The arrays have room for batch->chunk samples.
typedef struct tali_batch_chunk {
    int index, first, n;
    double *results; // [n][row_size]
    tal_status *status;
    tal_error *why;
    void *bytes; // the same as bytes: tali_batch_bytes_size() of them at most
    void *block;
    size_t block_bytes;
} tali_batch_chunk;

/// Where chunk `index` begins, and how many samples it has.
void tali_batch_place(const tal_batch *batch, int index, tali_batch_chunk *chunk);

bool tali_batch_chunk_create(const tal_batch *batch, tali_batch_chunk *chunk);
void tali_batch_chunk_destroy(const tal_batch *batch, tali_batch_chunk *chunk);

/// From numbers to bytes: how many.
size_t tali_batch_encode(const tal_batch *batch, const tali_batch_chunk *chunk);

/// Back again, into a chunk that is placed. TAL_ERR_FILE for bytes that are damaged or of another
/// batch.
tal_status tali_batch_decode(const tal_batch *batch, const void *bytes, size_t size,
                             tali_batch_chunk *chunk, tal_error *err);

/// Make the directory, or compare its manifest.
tal_status tali_batch_open(tal_batch *batch, tal_error *err);

/// Compare the manifest of a directory, which must be there.
tal_status tali_batch_compare(const tal_batch *batch, const char *path, tal_error *err);

/// The path of a chunk's file in a directory.
void tali_batch_file_name(const char *path, int index, char out[TALI_PATH_SIZE]);

/// Remove the directory and its files.
tal_status tali_batch_remove_files(const tal_batch *batch, tal_error *err);

#endif // TALUS_BATCH_INTERNAL_H
