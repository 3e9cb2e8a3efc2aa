// What a valid name is, and a map from names to numbers, for strings that are owned elsewhere.
#include "alloc_internal.h"

#include "text/name_map_internal.h"

#include <talus/state/system.h>

#include <assert.h>
#include <string.h>

const char *tali_text_name_flaw(const char *name)
{
    static_assert(TAL_MAX_NAME == 63, "the sentence says so");
    const size_t length = strlen(name);
    if (length == 0 || length > TAL_MAX_NAME) return "a name has 1 to 63 characters";
    return tali_names_flaw(name);
}

int tali_name_map_find(const tali_name_map *map, const char *name)
{
    const uint64_t hash = tali_names_hash(name);
    int probe = 0, i;
    while ((i = tali_names_next(&map->index, hash, &probe)) >= 0) {
        if (strcmp(map->entries[i].name, name) == 0) return map->entries[i].value;
    }
    return -1;
}

bool tali_name_map_add(tali_name_map *map, const char *name, int value)
{
    if (!tali_grow(&map->allocator, (void **)&map->entries, map->num, &map->capacity,
                   sizeof *map->entries)) {
        return false;
    }
    if (!tali_names_reserve(&map->index, &map->allocator)) return false;
    map->entries[map->num] = (tali_name_map_entry){name, value};
    tali_names_add(&map->index, tali_names_hash(name), map->num);
    ++map->num;
    return true;
}

void tali_name_map_free(tali_name_map *map)
{
    tali_names_free(&map->index, &map->allocator);
    tali_free(&map->allocator, map->entries, (size_t)map->capacity * sizeof *map->entries);
    map->entries = NULL;
    map->capacity = map->num = 0;
}
