// The counting wraps. The linker sends every call of f to __wrap_f and every __real_f to f
// (`-Wl,--wrap=f`), so the double underscores are its names, not ours.
#include "alloc_guard.h"

#include <stdatomic.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
void __real_free(void *block);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);
void __wrap_free(void *block);

static atomic_int heap_calls;

int test_heap_calls(void)
{
    return atomic_exchange(&heap_calls, 0);
}

void *__wrap_malloc(size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    return __real_realloc(block, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    return __real_posix_memalign(block, alignment, size);
}

void __wrap_free(void *block)
{
    if (block != NULL) atomic_fetch_add(&heap_calls, 1);
    __real_free(block);
}
