// From names to numbers: open addressing over strings that somebody else keeps.
#include "alloc_internal.h"
#include "hash_internal.h"
#include "name_map_internal.h"

#include <string.h>

// The slot of a name, or the empty one where it would be. There is always an empty one.
static size_t slot_of(const tali_name_map *map, const char *name)
{
    size_t at = (size_t)tali_hash(TALI_HASH_SEED, name, strlen(name)) & (map->capacity - 1);
    while (map->slots[at].name != NULL && strcmp(map->slots[at].name, name) != 0) {
        at = (at + 1) & (map->capacity - 1);
    }
    return at;
}

int tali_name_map_find(const tali_name_map *map, const char *name)
{
    if (map->capacity == 0) return -1;
    const tali_name_slot *slot = &map->slots[slot_of(map, name)];
    return slot->name != NULL ? slot->value : -1;
}

static bool make_room(tali_name_map *map)
{
    if (2 * (map->num + 1) <= map->capacity) return true;
    tali_name_map larger = {.allocator = map->allocator, .num = map->num};
    larger.capacity = map->capacity > 0 ? 2 * map->capacity : 16;
    larger.slots = tali_alloc(&map->allocator, larger.capacity * sizeof(tali_name_slot));
    if (larger.slots == NULL) return false;
    for (size_t i = 0; i < map->capacity; ++i) {
        const tali_name_slot slot = map->slots[i];
        if (slot.name != NULL) larger.slots[slot_of(&larger, slot.name)] = slot;
    }
    tali_name_map_free(map);
    *map = larger;
    return true;
}

bool tali_name_map_add(tali_name_map *map, const char *name, int value)
{
    if (!make_room(map)) return false;
    map->slots[slot_of(map, name)] = (tali_name_slot){name, value};
    map->num += 1;
    return true;
}

void tali_name_map_free(tali_name_map *map)
{
    tali_free(&map->allocator, map->slots, map->capacity * sizeof(tali_name_slot));
    map->slots = NULL;
    map->capacity = map->num = 0;
}
