// FNV-1a, 64 bits: the one hash of Talus, for names, structures and files.
#ifndef TALUS_HASH_INTERNAL_H
#define TALUS_HASH_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Where a hash begins.
#define TALI_HASH_SEED UINT64_C(14695981039346656037)

/// The hash of what came before and of these bytes.
static inline uint64_t tali_hash(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

/// The same of whole numbers, eight times as fast. What a bit changes is carried down again: a
/// product alone moves it up, and out of the hash.
static inline uint64_t tali_hash_numbers(uint64_t hash, const double x[], size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint64_t bits = 0;
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(1099511628211);
        hash ^= hash >> 32;
    }
    return hash;
}

#endif // TALUS_HASH_INTERNAL_H
