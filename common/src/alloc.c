// The default allocator, and growth of arrays while a System is being built.
#include "alloc_internal.h"
#include "error_internal.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if TALI_GAP > 0
#include <sanitizer/asan_interface.h>

void tali_alloc_close(const void *at, size_t bytes)
{
    ASAN_POISON_MEMORY_REGION(at, bytes);
}

void tali_alloc_open(const void *at, size_t bytes)
{
    ASAN_UNPOISON_MEMORY_REGION(at, bytes);
}

// Byte by byte and volatile: a loop that becomes a call of memcpy() would be watched.
__attribute__((no_sanitize_address)) void tali_alloc_copy(void *to, const void *from, size_t bytes)
{
    volatile char *target = to;
    const volatile char *source = from;
    for (size_t i = 0; i < bytes; ++i) {
        target[i] = source[i];
    }
}

__attribute__((no_sanitize_address)) void tali_alloc_fill(void *at, int byte, size_t bytes)
{
    volatile char *target = at;
    for (size_t i = 0; i < bytes; ++i) {
        target[i] = (char)byte;
    }
}
#endif

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

tal_status tali_alloc_choose(const tal_allocator *given, tal_allocator *out, const char *where)
{
    *out = given != NULL ? *given : tal_allocator_default();
    if (out->alloc != NULL && out->free != NULL) return TAL_OK;
    return tali_breach(TAL_ERR_NULL, where,
                       "the allocator has no alloc or no free: start from tal_allocator_default(), "
                       "or with the defaults of the options it is in");
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
    if (block == NULL) return;
    tali_alloc_open(block, size);
    allocator->free(allocator->context, block, size > 0 ? size : 1);
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

size_t tali_pieces_place(const tali_piece pieces[], size_t n, void *block)
{
    size_t total = 0;
    for (size_t i = 0; i < n; ++i) {
        void *at = block != NULL ? (char *)block + total : NULL;
        memcpy(pieces[i].where, &at, sizeof at); // pointers to any object look alike here
        total += tali_alloc_apart(pieces[i].bytes);
        if (at == NULL) continue;
        tali_alloc_open(at, tali_alloc_apart(pieces[i].bytes)); // gaps of an earlier layout
        tali_alloc_close_behind(at, pieces[i].bytes);
    }
    return total;
}

void *tali_alloc_pieces(const tal_allocator *allocator, const tali_piece pieces[], size_t n,
                        size_t *bytes)
{
    *bytes = tali_pieces_place(pieces, n, NULL);
    void *block = tali_alloc(allocator, *bytes);
    if (block != NULL) (void)tali_pieces_place(pieces, n, block);
    return block;
}
