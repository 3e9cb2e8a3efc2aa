// The default allocator, and growth of arrays while a System is being built.
#include "alloc_internal.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *heap_alloc(void *context, size_t size)
{
    (void)context;
    // aligned_alloc wants a multiple of the alignment
    if (size > SIZE_MAX - TAL_ALIGNMENT) return NULL;
    return aligned_alloc(TAL_ALIGNMENT, tali_align(size));
}

static void heap_free(void *context, void *block, size_t size)
{
    (void)context;
    (void)size;
    free(block);
}

tal_allocator tal_allocator_default(void)
{
    return (tal_allocator){heap_alloc, heap_free, NULL};
}

void *tali_alloc(const tal_allocator *allocator, size_t size)
{
    const size_t asked = size > 0 ? size : 1;
    void *block = allocator->alloc(allocator->context, asked);
    if (block != NULL) memset(block, 0, asked);
    return block;
}

void tali_free(const tal_allocator *allocator, void *block, size_t size)
{
    if (block != NULL) allocator->free(allocator->context, block, size > 0 ? size : 1);
}

bool tali_grow(const tal_allocator *allocator, void **items, int count, int *capacity,
               size_t item_size)
{
    if (count < *capacity) return true;
    if (*capacity > INT_MAX / 2) return false;

    const int grown = *capacity > 0 ? 2 * *capacity : 8;
    if ((size_t)grown > SIZE_MAX / item_size) return false;
    void *larger = tali_alloc(allocator, (size_t)grown * item_size);
    if (larger == NULL) return false;

    if (count > 0) memcpy(larger, *items, (size_t)count * item_size);
    tali_free(allocator, *items, (size_t)*capacity * item_size);
    *items = larger;
    *capacity = grown;
    return true;
}

size_t tali_place_pieces(const tali_piece pieces[], size_t n, void *block)
{
    size_t total = 0;
    for (size_t i = 0; i < n; ++i) {
        void *at = block != NULL ? (char *)block + total : NULL;
        memcpy(pieces[i].where, &at, sizeof at); // pointers to any object look alike here
        total += tali_align(pieces[i].bytes);
    }
    return total;
}

void *tali_alloc_pieces(const tal_allocator *allocator, const tali_piece pieces[], size_t n,
                        size_t *bytes)
{
    *bytes = tali_place_pieces(pieces, n, NULL);
    void *block = tali_alloc(allocator, *bytes);
    if (block != NULL) (void)tali_place_pieces(pieces, n, block);
    return block;
}
