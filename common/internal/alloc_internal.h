// Allocation inside Talus: always through the allocator the user chose.
#ifndef TALUS_ALLOC_INTERNAL_H
#define TALUS_ALLOC_INTERNAL_H

#include <talus/common/alloc.h>

#include <stdbool.h>
#include <string.h>

/// The allocator that a caller chose: the C heap for NULL. TAL_ERR_NULL, and a breach in the name
/// of `where`, for one without functions, as zero-filled options have.
tal_status tali_alloc_choose(const tal_allocator *given, tal_allocator *out, const char *where);

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

/// The larger of two sizes: room that two uses share, one after the other.
static inline size_t tali_alloc_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/// @name Gaps
/// Arrays of one block are side by side, so a step past the end of one is not past the end of the
/// block, and no tool would notice. In builds with the address sanitizer there is a gap behind
/// each, which may not be touched; in others a gap is of no bytes and these do nothing.
/// @{
#if defined(__SANITIZE_ADDRESS__)
#define TALI_GAP 64 // as TAL_ALIGNMENT, which no #if understands
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TALI_GAP 64 // as TAL_ALIGNMENT, which no #if understands
#endif
#endif
#ifndef TALI_GAP
#define TALI_GAP 0
#endif

/// Bytes of an array and the gap behind it.
static inline size_t tali_alloc_apart(size_t size)
{
    return tali_align(size) + TALI_GAP;
}

#if TALI_GAP > 0
/// From now on these bytes may not be touched.
void tali_alloc_close(const void *at, size_t bytes);

/// These may again.
void tali_alloc_open(const void *at, size_t bytes);

/// memcpy() across gaps.
void tali_alloc_copy(void *to, const void *from, size_t bytes);

/// memset() across gaps.
void tali_alloc_fill(void *at, int byte, size_t bytes);
#else
static inline void tali_alloc_close(const void *at, size_t bytes)
{
    (void)at;
    (void)bytes;
}

static inline void tali_alloc_open(const void *at, size_t bytes)
{
    (void)at;
    (void)bytes;
}

static inline void tali_alloc_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static inline void tali_alloc_fill(void *at, int byte, size_t bytes)
{
    memset(at, byte, bytes);
}
#endif

/// Close what is behind an array of `size` bytes up to the next, tali_alloc_apart() from its
/// beginning.
static inline void tali_alloc_close_behind(const void *array, size_t size)
{
    tali_alloc_close((const char *)array + size, tali_alloc_apart(size) - size);
}

/// @}

/// One array out of a block: the pointer that is to hold its address, and its bytes. A block that
/// has one owner is laid out by these. Cache entries that are read where a State may not change
/// have their offsets in one function instead (matter/src/stage/view.c).
typedef struct tali_piece {
    void *where; // address of a pointer to any type
    size_t bytes;
} tali_piece;

/// Bytes of a block that holds all pieces, each aligned. If `block` is not NULL, the pieces get
/// their addresses in it.
size_t tali_pieces_place(const tali_piece pieces[], size_t n, void *block);

/// A zero-filled block of `*bytes` that holds all pieces, with their addresses set. NULL when
/// memory runs out; the addresses are NULL then, too.
void *tali_alloc_pieces(const tal_allocator *allocator, const tali_piece pieces[], size_t n,
                        size_t *bytes);

/// The same for a block that is found again later, as an entry of a State is: where the next piece
/// begins. `end` is the size of the block so far, and grows by the piece, aligned.
static inline size_t tali_piece_at(size_t *end, size_t bytes)
{
    const size_t at = *end;
    *end += tali_align(bytes);
    return at;
}

#endif // TALUS_ALLOC_INTERNAL_H
