// Counts the allocations of everyone in this process, the peers' shared libraries included, by
// standing in front of glibc's allocator.
#include "count_alloc.h"

static long count;

long allocations(void)
{
    return count;
}

#ifdef BENCH_COUNTS_ALLOCATIONS
#include <errno.h>
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t size);
void *memalign(size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
int posix_memalign(void **out, size_t alignment, size_t size);

void *malloc(size_t size)
{
    ++count;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    ++count;
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    ++count;
    return __libc_realloc(p, size);
}

void *memalign(size_t alignment, size_t size)
{
    ++count;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    ++count;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    ++count;
    *out = __libc_memalign(alignment, size);
    return *out != NULL ? 0 : ENOMEM;
}
#endif
