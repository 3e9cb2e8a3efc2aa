// A C library heap that counts, and that fails on demand: the functions stand in the test program
// itself, so that shared libraries (SUNDIALS) use them too, which a link-time wrap would not reach.
//
// Include in one file of a test. Under a sanitizer, which brings its own heap, nothing is counted and
// nothing fails: HEAP_IS_WATCHED is 0.
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

/// Blocks asked for since the program began.
static long heap_asked;
/// Blocks not given back.
static long heap_live;
/// The request that is to fail, counted as `heap_asked` counts; 0: none.
static long heap_fails_at;

#if HEAP_IS_WATCHED

// glibc's own names for what stands behind malloc
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static int heap_refuses(void)
{
    return ++heap_asked == heap_fails_at;
}

static void *heap_given(void *block)
{
    heap_live += block != NULL ? 1 : 0;
    return block;
}

void *malloc(size_t size)
{
    return heap_refuses() ? NULL : heap_given(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return heap_refuses() ? NULL : heap_given(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
    if (heap_refuses()) return NULL;
    if (block != NULL) --heap_live;
    return heap_given(__libc_realloc(block, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return heap_refuses() ? NULL : heap_given(__libc_memalign(alignment, size));
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    if (heap_refuses()) return ENOMEM;
    *block = heap_given(__libc_memalign(alignment, size));
    return *block != NULL ? 0 : ENOMEM;
}

void free(void *block)
{
    heap_live -= block != NULL ? 1 : 0;
    __libc_free(block);
}

#endif // HEAP_IS_WATCHED
#endif // TALUS_HEAP_FAULT_H
