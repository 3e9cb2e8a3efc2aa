// An allocator that fails on its n-th call.
#ifndef TALUS_STINGY_H
#define TALUS_STINGY_H

#include <talus/common.h>

/// How many calls succeed.
typedef struct stingy {
    int left;
} stingy;

static inline void *stingy_alloc(void *context, size_t size)
{
    stingy *it = context;
    return it->left-- > 0 ? tal_allocator_default().alloc(NULL, size) : NULL;
}

static inline void stingy_free(void *context, void *block, size_t size)
{
    (void)context;
    tal_allocator_default().free(NULL, block, size);
}

#endif // TALUS_STINGY_H
