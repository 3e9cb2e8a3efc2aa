// Whole files: read into memory, and written completely or not at all.
#ifndef TALUS_FILE_INTERNAL_H
#define TALUS_FILE_INTERNAL_H

#include <talus/common/alloc.h>

#include <stdbool.h>
#include <stdio.h>

/// The bytes of a file, from an allocator.
typedef struct tali_file_bytes {
    char *block;     ///< [capacity], of which `size` are the file's
    size_t capacity; ///< give it back by tali_file_bytes_free()
    size_t size;
    char wrong[160]; ///< what is wrong, with the system's reason
} tali_file_bytes;

/// The message for a file that contains zero bytes.
#define TALI_NO_TEXT "the file has zero bytes: it is not UTF-8 text"

/**
 * Read a text file into memory. One that is too long or has zero bytes is not read to its end.
 *
 * @param[in]  most  bytes; a longer file is refused
 * @param[out] out   the caller's to free, on failure too
 * @return NULL, or a sentence about what is wrong, with TAL_ERR_NO_MEMORY or TAL_ERR_FILE in
 *         `status`; it may be in `out`
 */
const char *tali_file_load_text(const char *path, size_t most, const tal_allocator *allocator,
                                tali_file_bytes *out, tal_status *status);

/// The same for a file of any bytes.
const char *tali_file_load(const char *path, size_t most, const tal_allocator *allocator,
                           tali_file_bytes *out, tal_status *status);

void tali_file_bytes_free(const tal_allocator *allocator, tali_file_bytes *bytes);

/// "the file cannot be opened: No such file or directory", by errno, as a sentence in `text`.
const char *tali_file_reason(const char *subject, char text[], size_t size);

/// The longest path, with its terminating zero.
#define TALI_PATH_SIZE 4096

/**
 * A file that is written beside the old one, and replaces it when it is complete.
 *
 * Each writer has a temporary file of its own, so that two writers do not interfere: in the end the
 * file is all of one of them. A symbolic link is followed: the file it leads to is replaced. The
 * permissions of the old file are kept; where there is none, the umask decides. Hard links to the
 * old file keep its old contents.
 */
typedef struct tali_file_replacement {
    FILE *file;       ///< where to write
    const char *path; ///< as it was given
    bool in_place;    ///< a device or a pipe, or what standard output or standard error goes to:
                      ///< it is written directly
    char target[TALI_PATH_SIZE];      ///< what the path leads to
    char beside[TALI_PATH_SIZE + 16]; ///< path of what is written
} tali_file_replacement;

/// Begin to write a file. On failure there is nothing to finish.
TAL_NODISCARD tal_status tali_file_replace_begin(tali_file_replacement *it, const char *path,
                                                 const char *where, tal_error *err);

/**
 * Finish it: flush the bytes to disk and replace the old file. When anything fails, earlier writes
 * included, the old file stays as it was and nothing is left beside it.
 *
 * @param[in] good  false: give it up, without a failure to record
 */
tal_status tali_file_replace_finish(tali_file_replacement *it, bool good, const char *where,
                                    tal_error *err);

/// Both, for bytes that are all there.
TAL_NODISCARD tal_status tali_file_replace_by(const char *path, const void *bytes, size_t size,
                                              const char *where, tal_error *err);

#endif // TALUS_FILE_INTERNAL_H
