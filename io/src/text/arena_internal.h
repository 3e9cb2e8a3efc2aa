// Memory that is taken piece by piece and given back all at once.
#ifndef TALUS_IO_ARENA_INTERNAL_H
#define TALUS_IO_ARENA_INTERNAL_H

#include <talus/common/alloc.h>

/// A block of an arena; what was taken from it follows it.
typedef struct tali_arena_block tali_arena_block;

typedef struct tali_arena {
    tal_allocator allocator;
    tali_arena_block *last;
    size_t used;  ///< bytes of the last block
    size_t taken; ///< bytes of all blocks
} tali_arena;

/// An arena with nothing in it.
tali_arena tali_arena_make(const tal_allocator *allocator);

/// Zero-filled memory, aligned for any of our types; NULL when memory runs out.
void *tali_arena_take(tali_arena *arena, size_t size);

/// A copy of `length` characters with a zero behind them; NULL when memory runs out.
char *tali_arena_copy(tali_arena *arena, const char *text, size_t length);

/// Give everything back. The arena is empty then.
void tali_arena_free(tali_arena *arena);

#endif // TALUS_IO_ARENA_INTERNAL_H
