// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_ALLOC_H
#define TALUS_COMMON_ALLOC_H

/**
 * @file talus/common/alloc.h
 * @brief Where memory comes from: all of it from an allocator that the program can replace.
 */

#include <talus/common/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Alignment of every block Talus asks for: a cache line, and enough for any SIMD load.
#define TAL_ALIGNMENT ((size_t)64)

/// A source of memory. Copied into the objects that use it; `context` must outlive them.
typedef struct tal_allocator {
    /// `size` > 0 bytes aligned to TAL_ALIGNMENT, or NULL. Contents need not be cleared.
    void *(*alloc)(void *context, size_t size);
    /// Give back a block from `alloc` with the size it was asked for. Never called with NULL.
    void (*free)(void *context, void *block, size_t size);
    void *context; ///< handed to both functions
} tal_allocator;

/// The C library's heap.
TAL_API tal_allocator tal_allocator_default(void);

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_ALLOC_H
