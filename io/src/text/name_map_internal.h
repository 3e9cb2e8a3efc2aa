// What a valid name is, and a map from names to numbers, for strings that are owned elsewhere.
#ifndef TALUS_IO_NAME_MAP_INTERNAL_H
#define TALUS_IO_NAME_MAP_INTERNAL_H

#include "names_internal.h"

/// One name. It must stay where it is as long as the map lives.
typedef struct tali_name_map_entry {
    const char *name;
    int value;
} tali_name_map_entry;

/// A map. All zero, with an allocator: nothing in it.
typedef struct tali_name_map {
    tal_allocator allocator;
    tali_names index; ///< into `entries`
    tali_name_map_entry *entries;
    int num, capacity;
} tali_name_map;

/// What is wrong with a name in a file, as a sentence; NULL: nothing. Names become columns of
/// tables, whose lines hold no control characters and no blanks around.
const char *tali_text_name_flaw(const char *name);

/// The number of a name; -1 when it is not there.
int tali_name_map_find(const tali_name_map *map, const char *name);

/// Add a name that is not there. False when memory runs out.
bool tali_name_map_add(tali_name_map *map, const char *name, int value);

/// Give the memory back. The map is empty then.
void tali_name_map_free(tali_name_map *map);

#endif // TALUS_IO_NAME_MAP_INTERNAL_H
