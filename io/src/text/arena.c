// Memory that is taken piece by piece and given back all at once.
#include "alloc_internal.h"

#include "text/arena_internal.h"

#include <stdint.h>
#include <string.h>

enum {
    FIRST_BLOCK = 4096,
    LARGEST_BLOCK = 1024 * 1024,
    GRAIN = 16
};

struct tali_arena_block {
    tali_arena_block *before;
    size_t size; // all of it
};

tali_arena tali_arena_make(const tal_allocator *allocator)
{
    return (tali_arena){.allocator = *allocator};
}

void *tali_arena_take(tali_arena *arena, size_t size)
{
    const size_t head = tali_align(sizeof(tali_arena_block));
    if (size > SIZE_MAX / 2) return NULL;
    const size_t rounded = (size + GRAIN - 1) / GRAIN * GRAIN;
    if (arena->last == NULL || arena->last->size - arena->used < rounded) {
        // blocks grow with what is taken, so that small documents stay small
        size_t want = arena->taken < FIRST_BLOCK ? FIRST_BLOCK : arena->taken;
        if (want > LARGEST_BLOCK) want = LARGEST_BLOCK;
        if (want < rounded + head) want = rounded + head;
        tali_arena_block *fresh = tali_alloc(&arena->allocator, want);
        if (fresh == NULL) return NULL;
        fresh->before = arena->last;
        fresh->size = want;
        arena->last = fresh;
        arena->used = head;
        arena->taken += want;
    }
    void *at = (char *)arena->last + arena->used;
    arena->used += rounded;
    return at;
}

char *tali_arena_copy(tali_arena *arena, const char *text, size_t length)
{
    char *copy = tali_arena_take(arena, length + 1);
    if (copy == NULL) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void tali_arena_free(tali_arena *arena)
{
    for (tali_arena_block *it = arena->last; it != NULL;) {
        tali_arena_block *before = it->before;
        tali_free(&arena->allocator, it, it->size);
        it = before;
    }
    *arena = tali_arena_make(&arena->allocator);
}
