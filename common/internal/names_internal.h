// What names may look like, and looking things up by name in constant time: a hash table to
// indices.
#ifndef TALUS_NAMES_INTERNAL_H
#define TALUS_NAMES_INTERNAL_H

#include "alloc_internal.h"

#include <stdint.h>

/// One place of the table; `index` is one more than what was added, 0 when the place is empty.
typedef struct tali_names_slot {
    uint64_t hash;
    int32_t index;
} tali_names_slot;

/// Open addressing over a power of two of places, at most half of them taken. It holds hashes, not
/// names: the caller compares the names of the candidates.
typedef struct tali_names {
    tali_names_slot *slots;
    int capacity;
    int count;
} tali_names;

/// What is wrong with the characters of a name, as a sentence; NULL: nothing. Names become columns
/// of tables, whose lines hold no control characters and no blanks around.
const char *tali_names_flaw(const char *name);

/// FNV-1a of a name.
uint64_t tali_names_hash(const char *name);

/// Make room for one more. False, and nothing changed, when memory runs out.
bool tali_names_reserve(tali_names *names, const tal_allocator *allocator);

/// Add an index under a hash, after tali_names_reserve().
void tali_names_add(tali_names *names, uint64_t hash, int index);

/// The next index under a hash; -1 when there are no more. `*probe` is 0 at the first call.
int tali_names_next(const tali_names *names, uint64_t hash, int *probe);

/// Free the table.
void tali_names_free(tali_names *names, const tal_allocator *allocator);

#endif // TALUS_NAMES_INTERNAL_H
