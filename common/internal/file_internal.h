// Whole files: read into memory, and written so that a file is never half there.
#ifndef TALUS_FILE_INTERNAL_H
#define TALUS_FILE_INTERNAL_H

#include <talus/common/alloc.h>

#include <stdbool.h>
#include <stdio.h>

/// The bytes of a file, from an allocator.
typedef struct tali_bytes {
    char *block;     ///< [capacity], of which `size` are the file's
    size_t capacity; ///< give it back by tali_bytes_free()
    size_t size;
} tali_bytes;

/// The message for a file that contains zero bytes.
#define TALI_NO_TEXT "there are zero bytes: this is no text in UTF-8"

/**
 * Read a text file into memory. One that is too long or has zero bytes is not read to its end.
 *
 * @param[in]  most  bytes; a longer file is refused
 * @param[out] out   the caller's to free, on failure too
 * @return NULL, or a sentence about what is wrong, with TAL_ERR_NO_MEMORY or TAL_ERR_FILE in
 *         `status`
 */
const char *tali_text_load(const char *path, size_t most, const tal_allocator *allocator,
                           tali_bytes *out, tal_status *status);

void tali_bytes_free(const tal_allocator *allocator, tali_bytes *bytes);

/// A file that is written beside the old one, and replaces it when it is complete.
typedef struct tali_replacement {
    FILE *file; ///< where to write
    const char *path;
    bool in_place;     ///< not an ordinary file, e.g. /dev/stdout: it is written directly
    char beside[4096]; ///< path of what is written
} tali_replacement;

/// Begin to write a file. On failure there is nothing to finish.
TAL_NODISCARD tal_status tali_replace_begin(tali_replacement *it, const char *path,
                                            const char *where, tal_error *err);

/**
 * Finish it: flush the bytes to disk and replace the old file. When anything fails, earlier writes
 * included, the old file stays as it was and nothing is left beside it.
 *
 * @param[in] good  false: give it up, without a failure to record
 */
tal_status tali_replace_finish(tali_replacement *it, bool good, const char *where, tal_error *err);

#endif // TALUS_FILE_INTERNAL_H
