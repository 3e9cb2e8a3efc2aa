// From names to numbers: open addressing over strings that somebody else keeps.
#ifndef TALUS_IO_NAME_MAP_INTERNAL_H
#define TALUS_IO_NAME_MAP_INTERNAL_H

#include <talus/common/alloc.h>

#include <stdbool.h>

/// One name. It must stay where it is as long as the map lives.
typedef struct tali_name_slot {
    const char *name; ///< NULL: empty
    int value;
} tali_name_slot;

/// A map. All zero, with an allocator: nothing in it.
typedef struct tali_name_map {
    tal_allocator allocator;
    tali_name_slot *slots; ///< [capacity], a power of two, at most half full
    size_t capacity;
    size_t num;
} tali_name_map;

/// The number of a name; -1 when it is not there.
int tali_name_map_find(const tali_name_map *map, const char *name);

/// Add a name that is not there. False when memory runs out.
bool tali_name_map_add(tali_name_map *map, const char *name, int value);

/// Give the memory back. The map is empty then.
void tali_name_map_free(tali_name_map *map);

#endif // TALUS_IO_NAME_MAP_INTERNAL_H
