// What a System is inside: flat lists of declared elements, and where each will be in a State.
#ifndef TALUS_SYSTEM_INTERNAL_H
#define TALUS_SYSTEM_INTERNAL_H

#include "alloc_internal.h"
#include "cache_internal.h"
#include "error_internal.h"
#include "hash_internal.h"
#include "names_internal.h"

#include <talus/state/measure.h>
#include <talus/state/system.h>

#include <string.h>

enum {
    TALI_NUM_POOLS = TAL_POOL_TRIGGER + 1,
    TALI_NUM_EAGER_KEYS = TAL_STAGE_INFINITY + 1
};

/// What every declared element has.
typedef struct tali_system_element {
    char name[TAL_MAX_NAME + 1];
    uint64_t name_hash; ///< makes looking for a name one compare per element
    int owner;          ///< subsystem
} tali_system_element;

typedef tal_status (*tali_system_realize_fn)(const void *self, const tal_system *system,
                                             tal_state *state);

typedef struct tali_system_subsystem {
    tali_system_element element; ///< its owner is not used
    tal_subsystem_ops ops;
    tali_system_realize_fn realize[TAL_NUM_STAGES]; ///< those of `ops` from Model on, by stage
    const tal_subsystem_ops *table; ///< the caller's, by which a layer knows its own
    void *self;
} tali_system_subsystem;

typedef struct tali_system_var {
    tali_system_element element;
    size_t size;
    tal_stage invalidates;
    tal_stage allocated;
    void *initial; ///< [size] owned
    int update;    ///< cache entry with the next value; -1 for an ordinary variable
    bool sampled;  ///< swapping the next value in lowers the State
    size_t offset; ///< from the start of the discrete values
} tali_system_var;

typedef struct tali_system_entry {
    tali_system_element element;
    size_t size;
    tal_stage depends_on;
    tal_stage computed_by;
    tal_calc_fn calc;
    const void *context;
    int first_prereq; ///< into tal_system.prereqs: everything the entry rests on, directly or not
    int num_prereqs;
    int first_direct; ///< into tal_system.direct: the entries named in the declaration
    int num_direct;
    bool is_needed; ///< another entry rests on it
    size_t offset;  ///< from the start of the State
} tali_system_entry;

/// Something that a cache entry rests on.
typedef struct tali_system_prereq {
    tal_prereq on;
    size_t stamp; ///< from the start of the State: where the time of its last change is
} tali_system_prereq;

typedef struct tali_system_group {
    tali_system_element element;
    tal_pool pool;
    tal_stage stage;
    int capacity;
    double *initial;    ///< [capacity] owned; NULL means zeros
    double weight;      ///< of each variable at first
    int capacity_start; ///< first slot when every group of the pool has its capacity
} tali_system_group;

typedef struct tali_system_event {
    tali_system_element element;
    tal_event_def def; ///< without its name
} tali_system_event;

/// The context of one cache entry of a measure.
typedef struct tali_system_measure_order {
    tal_status (*calc)(const void *self, const tal_system *system, tal_state *state, int order,
                       int n, double value[]);
    const void *self;
    int order;
    int n;
    int entry;
} tali_system_measure_order;

typedef struct tali_system_measure {
    tali_system_element element;
    tal_measure_ops ops;
    const tal_measure_ops *table; ///< whose copy `ops` is: tells kinds apart, never read
    int size;
    int num_derivatives;
    int *operands; ///< [num_operands] owned
    int num_operands;
    void *self; ///< [self_size] owned
    size_t self_size;
    tali_system_measure_order *orders; ///< [num_derivatives + 1] owned
} tali_system_measure;

/// What one subsystem does when a stage is realized.
typedef struct tali_system_step {
    tali_system_realize_fn realize; ///< NULL: results only
    const void *self;
    int subsystem;
    int begin, end; ///< in tal_system.eager: the results it promises by this stage
} tali_system_step;

/// A list that grows while the System is built.
typedef struct tali_system_list {
    void *items;
    size_t item_size;
    int count;
    int capacity;
    tali_names names; ///< of items that begin with a tali_system_element
} tali_system_list;

/// Where a cache entry is in a State, and from which stage on it can be valid.
typedef struct tali_system_entry_place {
    size_t offset;
    size_t size;
    tal_stage depends_on;
} tali_system_entry_place;

/// Offsets in bytes from the start of a State, the same for every State of a System. A State keeps
/// a copy, so that calls without a System find their way.
typedef struct tali_system_layout {
    int num_groups;
    int num_vars;
    int num_entries;
    int capacity[TALI_NUM_POOLS];
    int capacity_y;
    size_t var_bytes;

    // core: stage, clock, stamps
    size_t core;
    size_t var_stamps; ///< uint64_t[num_vars] when each variable changed
    // uint64_t[num_entries] when each entry was computed, 0 for never, are after the core
    size_t busy;         ///< uint8_t[num_entries] 1 while the entry is being computed
    size_t model_sizes;  ///< int32_t[num_groups] sizes chosen at Model
    size_t chosen_sizes; ///< int32_t[num_groups] sizes chosen so far in this realization

    // variables: what is compared and saved
    size_t variables;
    size_t slices;                  ///< tali_state_slice[num_groups]
    size_t y;                       ///< double[capacity_y]
    size_t weights[TALI_NUM_POOLS]; ///< double[capacity] for u, z, qerr, uerr
    size_t vars;                    ///< discrete values
    size_t y_prev;                  ///< double[capacity_y]
    size_t vars_prev;               ///< discrete values
    size_t triggers_prev;           ///< double[capacity]
    size_t variables_end;

    // cache
    size_t ydot;                   ///< double[capacity_y]
    size_t qdotdot;                ///< double[capacity]
    size_t errors[TALI_NUM_POOLS]; ///< double[capacity] for qerr, uerr, udoterr and triggers
    size_t multipliers;            ///< double[capacity]
    size_t entries;                ///< cache entries
    size_t copy_end;

    // never copied
    size_t entry_places; ///< tali_system_entry_place[num_entries]
    size_t fresh;        ///< double[capacity_y] initial values, each group at its capacity_start
    size_t repack;       ///< double[largest] room to move slots
    size_t nans;         ///< double[largest] what a read before its stage returns
    size_t scratch;      ///< for subsystems
    size_t scratch_bytes;
    size_t size;
} tali_system_layout;

struct tal_system {
    tali_cache_places places; ///< first, where layers above look; its arrays are one block
    char name[TAL_MAX_NAME + 1];
    tal_allocator allocator;
    double time_scale;
    tal_error error;
    bool has_topology;
    bool declaring; ///< inside a subsystem's realize_topology

    tali_system_list subsystems; ///< tali_system_subsystem
    tali_system_list vars;       ///< tali_system_var
    tali_system_list entries;    ///< tali_system_entry
    tali_system_list prereqs;    ///< tali_system_prereq
    tali_system_list
        direct; ///< int: entries named as prerequisites in a declaration, entry by entry
    tali_system_list groups;   ///< tali_system_group
    tali_system_list events;   ///< tali_system_event
    tali_system_list measures; ///< tali_system_measure
    bool has_updates;          ///< some variable is updated by steps
    size_t scratch_bytes;

    int *order;                         ///< [subsystems] in which they realize a stage
    int *pool_order;                    ///< [groups] by pool, stage, owner, declaration
    int pool_begin[TALI_NUM_POOLS + 1]; ///< where each pool begins in pool_order
    int *eager;       ///< [entries] cache entries by owner and the stage they are computed by
    int *eager_begin; ///< [subsystems * TALI_NUM_EAGER_KEYS + 1] where those of each begin
    tali_system_step *steps; ///< by stage, in order; subsystems with nothing to do are left out
    int step_begin[TAL_NUM_STAGES + 1]; ///< where each stage begins in steps
    uint64_t hash;
    tali_system_layout layout;
};

/// @name Elements by index, unchecked
/// @{
static inline tali_system_subsystem *tali_system_subsystem_at(const tal_system *system, int i)
{
    return (tali_system_subsystem *)system->subsystems.items + i;
}

static inline tali_system_var *tali_system_var_at(const tal_system *system, int i)
{
    return (tali_system_var *)system->vars.items + i;
}

static inline tali_system_entry *tali_system_entry_at(const tal_system *system, int i)
{
    return (tali_system_entry *)system->entries.items + i;
}

static inline tali_system_group *tali_system_group_at(const tal_system *system, int i)
{
    return (tali_system_group *)system->groups.items + i;
}

static inline tali_system_event *tali_system_event_at(const tal_system *system, int i)
{
    return (tali_system_event *)system->events.items + i;
}

static inline tali_system_measure *tali_system_measure_at(const tal_system *system, int i)
{
    return (tali_system_measure *)system->measures.items + i;
}

static inline tali_system_prereq *tali_system_prereq_at(const tal_system *system, int i)
{
    return (tali_system_prereq *)system->prereqs.items + i;
}

/// @}

/// Size of the arrays of places.
static inline size_t tali_system_places_bytes(const tal_system *system)
{
    return ((size_t)system->entries.count + (size_t)system->vars.count) * sizeof(size_t);
}

/// True when elements may be added. Otherwise the reason has been reported: a sticky failure stays
/// silent, a NULL or realized System is a breach.
bool tali_system_can_add(tal_system *system, const char *where);

/// Record the first failure of building, on behalf of `where`.
tal_status tali_system_build_fail(tal_system *system, tal_status status, const char *where,
                                  const char *fmt, ...) TAL_PRINTF(4, 5);

/// A zeroed item at the end of a list; NULL after a sticky TAL_ERR_NO_MEMORY.
void *tali_system_list_add(tal_system *system, tali_system_list *list);

/// The same for the item that is to begin with `element`, which can be found by its name then.
void *tali_system_list_add_element(tal_system *system, tali_system_list *list,
                                   const tali_system_element *element);

/// Copy of `size` bytes in the System's memory; NULL after a sticky TAL_ERR_NO_MEMORY.
void *tali_system_build_copy(tal_system *system, const void *bytes, size_t size);

/// Check an owner, and give an element of `list` (its items begin with a tali_system_element) its
/// name. False after a sticky failure.
bool tali_system_name_element(tal_system *system, const tali_system_list *list,
                              tal_subsystem_ix owner, const char *kind, const char *name,
                              tali_system_element *element);

/// Is the name of an element its own? Names are unique among the elements of one owner. False after
/// a sticky failure.
bool tali_system_name_is_free(tal_system *system, const tali_system_list *list,
                              const tali_system_element *element, const char *kind);

/// Index of the element of that owner (any when < 0) and name; -1 when there is none.
int tali_system_find_element(const tali_system_list *list, int owner, const char *name);

/// Tell that a list has no element `i`; always false.
bool tali_system_breach_element(const tal_system *system, const tali_system_list *list, int i,
                                const char *kind, const char *where) TALI_COLD;

/// True when `i` is an element of the list; otherwise a breach has been reported.
static inline bool tali_system_has_element(const tal_system *system, const tali_system_list *list,
                                           int i, const char *kind, const char *where)
{
    return (i >= 0 && i < list->count) || tali_system_breach_element(system, list, i, kind, where);
}

/// Element `i` of the list at that offset in the System; NULL after a breach.
const tali_system_element *tali_system_checked_element(const tal_system *system, size_t list_offset,
                                                       int i, const char *kind, const char *where);

static inline bool tali_system_stage_is_between(tal_stage stage, tal_stage low, tal_stage high)
{
    return (int)stage >= (int)low && (int)stage <= (int)high;
}

/// Find the order in which subsystems realize a stage.
tal_status tali_system_sort_subsystems(tal_system *system);

/// Sort groups, lay out the State, hash the structure.
tal_status tali_system_lay_out(tal_system *system);

/// Continue a hash with the structure of the measures.
uint64_t tali_system_measures_hash(const tal_system *system, uint64_t hash);

/// Free what measures own.
void tali_system_measures_destroy(tal_system *system);

#endif // TALUS_SYSTEM_INTERNAL_H
