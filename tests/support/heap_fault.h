// A C library heap that counts, and that fails on demand: the functions stand in the test program
// itself, so that shared libraries (SUNDIALS) use them too, which a link-time wrap would not reach.
//
// A block that was given back can be had again: while a request is to fail, one that is no larger
// than such a block uses it up, does not fail, and does not count; unless the heap is strict.
//
// Include in one file of a test. Under a sanitizer, which brings its own heap, nothing is counted
// and nothing fails: HEAP_IS_WATCHED is 0.
#ifndef TALUS_HEAP_FAULT_H
#define TALUS_HEAP_FAULT_H

#include <errno.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEAP_IS_WATCHED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEAP_IS_WATCHED 0
#else
#define HEAP_IS_WATCHED 1
#endif
#else
#define HEAP_IS_WATCHED 1
#endif

enum {
    HEAP_MOST_SPARE = 16
};

static struct {
    long asked;      // blocks, since the program began
    long live;       // blocks not given back
    long fails_at;   // the request that is to fail, counted as `asked` counts; 0: none
    int is_strict;   // blocks that were given back serve no request
    int stays_empty; // whatever is asked for after the request that fails is refused too
    long served;     // requests that blocks given back have served since one was last to fail
    size_t spare[HEAP_MOST_SPARE]; // sizes of blocks given back since then; 0: used up
} heap;

/// Let the n-th request from here fail; 0: none.
static inline void heap_fail(long n)
{
    for (int i = 0; i < HEAP_MOST_SPARE; ++i) {
        heap.spare[i] = 0;
    }
    heap.served = 0;
    heap.fails_at = HEAP_IS_WATCHED && n > 0 ? heap.asked + n : 0;
}

#if HEAP_IS_WATCHED

#include <malloc.h>

// glibc's own names for what stands behind malloc
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

// The smallest that is large enough.
static int heap_find_spare(size_t size)
{
    int found = -1;
    for (int i = 0; i < HEAP_MOST_SPARE; ++i) {
        if (heap.spare[i] == 0 || heap.spare[i] < size) continue;
        if (found < 0 || heap.spare[i] < heap.spare[found]) found = i;
    }
    return found;
}

static void heap_keep_spare(void *block)
{
    for (int i = 0; i < HEAP_MOST_SPARE; ++i) {
        if (heap.spare[i] > 0) continue;
        heap.spare[i] = malloc_usable_size(block);
        return;
    }
}

static int heap_refuses(size_t size)
{
    const int looks = heap.asked < heap.fails_at && !heap.is_strict;
    const int spare = looks ? heap_find_spare(size) : -1;
    if (spare >= 0) {
        heap.spare[spare] = 0;
        ++heap.served;
        ++heap.fails_at;
    }
    ++heap.asked;
    const int is_past = heap.fails_at > 0 && heap.asked > heap.fails_at;
    if (heap.asked != heap.fails_at && !(heap.stays_empty && is_past)) return 0;
    errno = ENOMEM;
    return 1;
}

static void *heap_given(void *block)
{
    heap.live += block != NULL ? 1 : 0;
    return block;
}

void *malloc(size_t size)
{
    return heap_refuses(size) ? NULL : heap_given(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return heap_refuses(count * size) ? NULL : heap_given(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
    if (heap_refuses(size)) return NULL;
    if (block != NULL) --heap.live;
    return heap_given(__libc_realloc(block, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return heap_refuses(size) ? NULL : heap_given(__libc_memalign(alignment, size));
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    if (heap_refuses(size)) return ENOMEM;
    *block = heap_given(__libc_memalign(alignment, size));
    return *block != NULL ? 0 : ENOMEM;
}

void free(void *block)
{
    heap.live -= block != NULL ? 1 : 0;
    if (heap.asked < heap.fails_at && block != NULL) heap_keep_spare(block);
    __libc_free(block);
}

#endif // HEAP_IS_WATCHED
#endif // TALUS_HEAP_FAULT_H
