// Allocation inside Talus: always through the allocator the user chose.
#ifndef TALUS_ALLOC_INTERNAL_H
#define TALUS_ALLOC_INTERNAL_H

#include <talus/common/alloc.h>

#include <stdbool.h>

/// A zero-filled block, or NULL. `size` may be 0; the block is then freed like any other.
void *tali_alloc(const tal_allocator *allocator, size_t size);

/// Give a block back with the size it was asked for; NULL is allowed.
void tali_free(const tal_allocator *allocator, void *block, size_t size);

/// Make room for one more element at the end of `*items`, growing geometrically; new room is
/// zero-filled. False, and nothing changed, when memory runs out.
bool tali_grow(const tal_allocator *allocator, void **items, int count, int *capacity,
               size_t item_size);

/// `size` rounded up to a multiple of TAL_ALIGNMENT.
static inline size_t tali_align(size_t size)
{
    return (size + TAL_ALIGNMENT - 1) / TAL_ALIGNMENT * TAL_ALIGNMENT;
}

/// One array out of a block: the pointer that is to hold its address, and its bytes.
typedef struct tali_piece {
    void *where; // address of a pointer to any type
    size_t bytes;
} tali_piece;

/// Bytes of a block that holds all pieces, each aligned. If `block` is not NULL, the pieces get
/// their addresses in it.
size_t tali_place_pieces(const tali_piece pieces[], size_t n, void *block);

/// A zero-filled block of `*bytes` that holds all pieces, with their addresses set. NULL when
/// memory runs out; the addresses are NULL then, too.
void *tali_alloc_pieces(const tal_allocator *allocator, const tali_piece pieces[], size_t n,
                        size_t *bytes);

#endif // TALUS_ALLOC_INTERNAL_H
