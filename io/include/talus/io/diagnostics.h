// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_DIAGNOSTICS_H
#define TALUS_IO_DIAGNOSTICS_H

/**
 * @file talus/io/diagnostics.h
 * @brief What is wrong with a file: a list, not just the first thing.
 *
 *     tal_diagnostics *found = tal_diagnostics_create(NULL);
 *     if (tal_model_read_file("arm.talus", NULL, &model, found) != TAL_OK) {
 *         for (int i = 0; i < tal_diagnostics_num(found); ++i) {
 *             char text[TAL_DIAGNOSTIC_SIZE];
 *             puts(tal_diagnostic_text(tal_diagnostics_at(found, i), text));
 *         }
 *     }
 *     tal_diagnostics_destroy(found);
 */

#include <talus/common/alloc.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup diagnostics Diagnostics
/// @{

/// The most diagnostics a list keeps. What comes after them is counted, not kept.
#define TAL_MAX_DIAGNOSTICS 200

/// Room for the text of any diagnostic, terminating zero included.
#define TAL_DIAGNOSTIC_SIZE 640

/// How bad it is.
typedef enum tal_severity {
    TAL_WARNING, ///< the file is read, but this is suspicious
    TAL_ERROR,   ///< the file is refused
    TAL_NOTE     ///< worth knowing: what was not read
} tal_severity;

/// One thing that was found, and where.
typedef struct tal_diagnostic {
    tal_severity severity;
    int line;          ///< counted from 1; 0 when it concerns the file as a whole
    int column;        ///< in bytes, counted from 1; 0 when it concerns the line as a whole
    char file[200];    ///< as it was named; the beginning of a long name is left out
    char message[360]; ///< one sentence, no newline
} tal_diagnostic;

/// A list of diagnostics. Opaque.
typedef struct tal_diagnostics tal_diagnostics;

/// An empty list, owned by the caller; NULL when there is no memory.
/// @param[in] allocator  NULL means the C heap
TAL_API TAL_NODISCARD tal_diagnostics *tal_diagnostics_create(const tal_allocator *allocator);

/// Free a list; NULL is allowed.
TAL_API void tal_diagnostics_destroy(tal_diagnostics *list);

/// Forget everything.
TAL_API void tal_diagnostics_clear(tal_diagnostics *list);

/// How many are kept; -1 for NULL.
TAL_API int tal_diagnostics_num(const tal_diagnostics *list);

/// How many errors there are, those that are not kept included; -1 for NULL.
TAL_API int tal_diagnostics_num_errors(const tal_diagnostics *list);

/// One of them, in the order they were found; NULL and a breach when there is none. Borrowed until
/// the list changes.
TAL_API const tal_diagnostic *tal_diagnostics_at(const tal_diagnostics *list, int i);

/// Add one. For readers of your own.
/// @param[in] file  NULL: none
/// @param[in] fmt   printf-like: one sentence
TAL_API void tal_diagnostics_add(tal_diagnostics *list, tal_severity severity, const char *file,
                                 int line, int column, const char *fmt, ...) TAL_PRINTF(6, 7);

/**
 * Write a diagnostic as compilers do: "arm.talus:12:5: error: sentence".
 *
 * @param[out] text  [TAL_DIAGNOSTIC_SIZE]
 * @return `text`
 */
TAL_API const char *tal_diagnostic_text(const tal_diagnostic *diagnostic, char text[]);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_DIAGNOSTICS_H
