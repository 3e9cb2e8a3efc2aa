// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_FILE_H
#define TALUS_IO_FILE_H

/**
 * @file talus/io/file.h
 * @brief Files of a program's own, written as models and tables are.
 */

#include <talus/common/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Write a file as a whole: what was there before stays until all bytes are on the disk, so that no
 * incomplete file is ever visible. If the path is a symbolic link, the file that it leads to is
 * replaced; a device or a pipe is written in place.
 *
 * @param[in]  bytes  [size]; NULL when `size` is 0
 * @param[out] err    why it failed; may be NULL
 * @return TAL_OK; TAL_ERR_FILE, with the path and the reason; TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_file_write(const char *path, const void *bytes, size_t size,
                                                tal_error *err);

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_FILE_H
