// What names may look like, and the hash table behind those of elements, bodies, coordinates and
// forces.
#include "hash_internal.h"
#include "names_internal.h"

#include <limits.h>
#include <string.h>

const char *tali_names_flaw(const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < length; ++i) {
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f) {
            return "a name cannot have control characters";
        }
    }
    const bool has_blanks = length > 0 && (name[0] == ' ' || name[length - 1] == ' ');
    return has_blanks ? "a name cannot begin or end with blanks" : NULL;
}

uint64_t tali_names_hash(const char *name)
{
    return tali_hash(TALI_HASH_SEED, name, strlen(name));
}

static int home_of(const tali_names *names, uint64_t hash)
{
    return (int)((hash ^ (hash >> 32)) & (uint64_t)(names->capacity - 1));
}

void tali_names_add(tali_names *names, uint64_t hash, int index)
{
    int at = home_of(names, hash);
    while (names->slots[at].index != 0) {
        at = (at + 1) & (names->capacity - 1);
    }
    names->slots[at] = (tali_names_slot){hash, index + 1};
    ++names->count;
}

bool tali_names_reserve(tali_names *names, const tal_allocator *allocator)
{
    if (names->count < names->capacity / 2) return true;
    if (names->capacity > INT_MAX / 4) return false;

    tali_names larger = {.capacity = names->capacity > 0 ? 2 * names->capacity : 16};
    larger.slots = tali_alloc(allocator, (size_t)larger.capacity * sizeof *larger.slots);
    if (larger.slots == NULL) return false;
    for (int i = 0; i < names->capacity; ++i) {
        const tali_names_slot slot = names->slots[i];
        if (slot.index != 0) tali_names_add(&larger, slot.hash, slot.index - 1);
    }
    tali_names_free(names, allocator);
    *names = larger;
    return true;
}

int tali_names_next(const tali_names *names, uint64_t hash, int *probe)
{
    while (names->capacity > 0) {
        const int at = (home_of(names, hash) + (*probe)++) & (names->capacity - 1);
        const tali_names_slot slot = names->slots[at];
        if (slot.index == 0) break;
        if (slot.hash == hash) return slot.index - 1;
    }
    return -1;
}

void tali_names_free(tali_names *names, const tal_allocator *allocator)
{
    tali_free(allocator, names->slots, (size_t)names->capacity * sizeof *names->slots);
    *names = (tali_names){NULL, 0, 0};
}
