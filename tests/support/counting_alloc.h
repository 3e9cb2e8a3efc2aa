// An allocator that fails on its n-th call and counts the bytes that are out; and files for tests of readers.
#ifndef TALUS_COUNTING_ALLOC_H
#define TALUS_COUNTING_ALLOC_H

#include <talus/common.h>

#include <check.h>
#include <stdio.h>

typedef struct counting {
    int left;     ///< calls that succeed
    long balance; ///< bytes taken and not given back
} counting;

static inline void *counting_alloc(void *context, size_t size)
{
    counting *it = context;
    if (it->left-- <= 0) return NULL;
    it->balance += (long)size;
    return tal_allocator_default().alloc(NULL, size);
}

static inline void counting_free(void *context, void *block, size_t size)
{
    ((counting *)context)->balance -= (long)size;
    tal_allocator_default().free(NULL, block, size);
}

static inline tal_allocator counting_allocator(counting *it)
{
    return (tal_allocator){counting_alloc, counting_free, it};
}

static inline void test_write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

#endif // TALUS_COUNTING_ALLOC_H
