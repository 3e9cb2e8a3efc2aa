// Whole files: read into memory, and written so that nothing is ever half there.
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

/// What is said of a file that has zero bytes.
#define TALI_NO_TEXT "there are zero bytes: this is no text in UTF-8"

/**
 * Read a text file into memory. One that is too long or has zero bytes is not read to its end.
 *
 * @param[in]  most  bytes; a longer file is refused
 * @param[out] out   the caller's to free, on failure too
 * @return NULL, or a sentence about what is wrong; TAL_ERR_NO_MEMORY is in `status` then, else TAL_ERR_FILE
 */
const char *tali_text_load(const char *path, size_t most, const tal_allocator *allocator,
                           tali_bytes *out, tal_status *status);

void tali_bytes_free(const tal_allocator *allocator, tali_bytes *bytes);

/// The longest path, with its terminating zero.
#define TALI_PATH_SIZE 4096

/**
 * A file that is written beside another one, and takes its place when it is whole.
 *
 * Each writer has a file of its own beside, so that two of them do not meet: what is there in the end is all of one of
 * them. Through a symbolic link the file is replaced that it leads to. The permissions of the old file are
 * kept; where there is none the umask decides. Other names of the old file (hard links) go on naming that one.
 */
typedef struct tali_replacement {
    FILE *file;       ///< where to write
    const char *path; ///< as it was given
    bool in_place;    ///< it is no ordinary file but a device or a pipe, or what standard output or
                      ///< standard error goes to: nothing can take its place
    char target[TALI_PATH_SIZE];      ///< what the path leads to
    char beside[TALI_PATH_SIZE + 16]; ///< path of what is written
} tali_replacement;

/// Begin to write a file. On failure there is nothing to finish.
TAL_NODISCARD tal_status tali_replace_begin(tali_replacement *it, const char *path,
                                            const char *where, tal_error *err);

/**
 * Finish it: bring the bytes to the disk, and put the file in the place of the old one. When anything fails,
 * also anything written before, the old file stays as it was, and nothing is left beside it.
 *
 * @param[in] good  false: give it up, without a failure to record
 */
tal_status tali_replace_finish(tali_replacement *it, bool good, const char *where, tal_error *err);

/// Both, for bytes that are all there.
TAL_NODISCARD tal_status tali_replace_by(const char *path, const void *bytes, size_t size,
                                         const char *where, tal_error *err);

#endif // TALUS_FILE_INTERNAL_H
