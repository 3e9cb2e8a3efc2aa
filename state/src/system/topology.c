// Realizing the topology: the order of things, where each is in a State, and the structure
// hash.
#include "state/state_internal.h"

#include <stddef.h>

// --- order ---

// Stable counting sort: `order` lists 0 ... n-1 by ascending key in 0 ... num_keys-1.
static bool sort_by_key(tal_system *system, int n, const int key[], int num_keys, int order[])
{
    int *sorted = NULL;
    int *next = NULL; // where the next item of each key goes
    const tali_piece pieces[] = {{&sorted, (size_t)n * sizeof *sorted},
                                 {&next, ((size_t)num_keys + 1) * sizeof *next}};
    size_t bytes = 0;
    void *room = tali_alloc_pieces(&system->allocator, pieces, 2, &bytes);
    if (room == NULL) return false;

    for (int i = 0; i < n; ++i) {
        ++next[key[i] + 1];
    }
    for (int k = 0; k < num_keys; ++k) {
        next[k + 1] += next[k];
    }
    for (int i = 0; i < n; ++i) {
        sorted[next[key[order[i]]]++] = order[i];
    }
    memcpy(order, sorted, (size_t)n * sizeof(int));
    tali_free(&system->allocator, room, bytes);
    return true;
}

static tal_status no_memory(tal_system *system, const char *for_what)
{
    return tali_system_build_fail(system, TAL_ERR_NO_MEMORY, "tal_system_realize_topology",
                                  "System '%s': no memory for %s", system->name, for_what);
}

// There are few subsystems, and `order` is any int: insertion sort.
tal_status tali_system_sort_subsystems(tal_system *system)
{
    const int n = system->subsystems.count;
    system->order = tali_alloc(&system->allocator, (size_t)n * sizeof(int));
    if (system->order == NULL) return no_memory(system, "the order of its subsystems");

    for (int i = 0; i < n; ++i) {
        const int key = tali_system_subsystem_at(system, i)->ops.order;
        int k = i;
        while (k > 0 && tali_system_subsystem_at(system, system->order[k - 1])->ops.order > key) {
            system->order[k] = system->order[k - 1];
            --k;
        }
        system->order[k] = i;
    }
    return TAL_OK;
}

static int pool_key(const tali_system_group *group)
{
    return (int)group->pool * TAL_NUM_STAGES + (int)group->stage;
}

// Groups by pool, then (triggers) by stage, then by owner, then as declared.
static tal_status sort_groups(tal_system *system)
{
    const int n = system->groups.count;
    system->pool_order = tali_alloc(&system->allocator, (size_t)n * sizeof(int));
    int *key = tali_alloc(&system->allocator, (size_t)n * sizeof(int));
    bool sorted = system->pool_order != NULL && key != NULL;

    for (int i = 0; sorted && i < n; ++i) {
        system->pool_order[i] = i;
        key[i] = tali_system_group_at(system, i)->element.owner;
    }
    sorted = sorted && sort_by_key(system, n, key, system->subsystems.count, system->pool_order);
    for (int i = 0; sorted && i < n; ++i) {
        key[i] = pool_key(tali_system_group_at(system, i));
    }
    sorted =
        sorted && sort_by_key(system, n, key, TALI_NUM_POOLS * TAL_NUM_STAGES, system->pool_order);
    tali_free(&system->allocator, key, (size_t)n * sizeof(int));
    return sorted ? TAL_OK : no_memory(system, "the order of its groups");
}

// Cache entries by owner and by the stage that computes them, so that realizing a stage meets only
// its own.
static tal_status sort_entries(tal_system *system)
{
    const int n = system->entries.count;
    const int num_keys = system->subsystems.count * TALI_NUM_EAGER_KEYS;
    system->eager = tali_alloc(&system->allocator, (size_t)n * sizeof(int));
    system->eager_begin = tali_alloc(&system->allocator, ((size_t)num_keys + 1) * sizeof(int));
    int *key = tali_alloc(&system->allocator, (size_t)n * sizeof(int));
    bool sorted = system->eager != NULL && system->eager_begin != NULL && key != NULL;

    for (int i = 0; sorted && i < n; ++i) {
        const tali_system_entry *entry = tali_system_entry_at(system, i);
        system->eager[i] = i;
        key[i] = entry->element.owner * TALI_NUM_EAGER_KEYS + (int)entry->computed_by;
        ++system->eager_begin[key[i] + 1];
    }
    sorted = sorted && sort_by_key(system, n, key, num_keys, system->eager);
    for (int k = 0; sorted && k < num_keys; ++k) {
        system->eager_begin[k + 1] += system->eager_begin[k];
    }
    tali_free(&system->allocator, key, (size_t)n * sizeof(int));
    return sorted ? TAL_OK : no_memory(system, "the order of its cache entries");
}

// What each stage calls, once and for all.
static tal_status plan_steps(tal_system *system)
{
    const int n = system->subsystems.count;
    system->steps =
        tali_alloc(&system->allocator, (size_t)n * TAL_NUM_STAGES * sizeof *system->steps);
    if (system->steps == NULL) return no_memory(system, "the steps of its stages");
    int num_steps = 0;
    for (int stage = 0; stage < TAL_NUM_STAGES; ++stage) {
        system->step_begin[stage] = num_steps;
        for (int k = 0; k < n; ++k) {
            const int i = system->order[k];
            const tali_system_subsystem *subsystem = tali_system_subsystem_at(system, i);
            const int *begin = system->eager_begin + i * TALI_NUM_EAGER_KEYS + stage;
            if (subsystem->realize[stage] == NULL && begin[0] == begin[1]) continue;
            system->steps[num_steps++] = (tali_system_step){subsystem->realize[stage],
                                                            subsystem->self, i, begin[0], begin[1]};
        }
    }
    system->step_begin[TAL_NUM_STAGES] = num_steps;
    return TAL_OK;
}

// --- capacities ---

// Where each group begins in its pool when all have their capacity, and how large the pools are.
static tal_status add_capacities(tal_system *system)
{
    tali_system_layout *at = &system->layout;
    int k = 0;
    for (int pool = 0; pool < TALI_NUM_POOLS; ++pool) {
        system->pool_begin[pool] = k;
        for (; k < system->groups.count; ++k) {
            tali_system_group *group = tali_system_group_at(system, system->pool_order[k]);
            if ((int)group->pool != pool) break;

            group->capacity_start = at->capacity[pool];
            if (group->capacity > INT32_MAX / 4 - at->capacity[pool]) {
                return tali_system_build_fail(
                    system, TAL_ERR_CAPACITY, "tal_system_realize_topology",
                    "group '%s': capacity %d is too large", group->element.name, group->capacity);
            }
            at->capacity[pool] += group->capacity;
        }
    }
    system->pool_begin[TALI_NUM_POOLS] = k;
    at->capacity_y = at->capacity[TAL_POOL_Q] + at->capacity[TAL_POOL_U] + at->capacity[TAL_POOL_Z];
    return TAL_OK;
}

static int largest_pool(const tali_system_layout *at)
{
    int largest = at->capacity_y > 0 ? at->capacity_y : 1;
    for (int pool = 0; pool < TALI_NUM_POOLS; ++pool) {
        if (at->capacity[pool] > largest) largest = at->capacity[pool];
    }
    return largest;
}

// --- layout ---

// Hands out aligned pieces of a State. Once the sum leaves size_t it stays at SIZE_MAX.
static size_t place(size_t *end, size_t count, size_t item_size)
{
    const size_t start = *end;
    const size_t limit = SIZE_MAX - 2 * TAL_ALIGNMENT;
    if (start > limit || count > (limit - start) / item_size) {
        *end = SIZE_MAX;
        return start;
    }
    *end = tali_align(start + count * item_size);
    return start;
}

static size_t place_doubles(size_t *end, int count)
{
    return place(end, (size_t)count, sizeof(double));
}

// The same with a gap behind: what is computed, and neither saved nor compared.
static size_t place_apart(size_t *end, size_t count, size_t item_size)
{
    const size_t start = place(end, count, item_size);
    return *end != SIZE_MAX ? (*end += TALI_GAP, start) : start;
}

static size_t place_results(size_t *end, int count)
{
    return place_apart(end, (size_t)count, sizeof(double));
}

static void place_core(tali_system_layout *at, size_t *end)
{
    at->core = place(end, 1, sizeof(tali_state_core));
    (void)place(end, (size_t)at->num_entries, sizeof(uint64_t)); // at TALI_STAMPS_OFFSET
    at->var_stamps = place(end, (size_t)at->num_vars, sizeof(uint64_t));
    at->busy = place(end, (size_t)at->num_entries, sizeof(uint8_t));
    at->model_sizes = place(end, (size_t)at->num_groups, sizeof(int32_t));
    at->chosen_sizes = place(end, (size_t)at->num_groups, sizeof(int32_t));
}

// Where a State keeps the time of the last change of what an entry rests on.
static size_t stamp_of(const tali_system_layout *at, tal_prereq on)
{
    switch (on.kind) {
    case TAL_PREREQ_T:
        return at->core + offsetof(tali_state_core, t_stamp);
    case TAL_PREREQ_Q:
        return at->core + offsetof(tali_state_core, q_stamp);
    case TAL_PREREQ_U:
        return at->core + offsetof(tali_state_core, u_stamp);
    case TAL_PREREQ_Z:
        return at->core + offsetof(tali_state_core, z_stamp);
    case TAL_PREREQ_VAR:
        return at->var_stamps + (size_t)on.i * sizeof(uint64_t);
    case TAL_PREREQ_CACHE:
        break;
    }
    return TALI_STAMPS_OFFSET + (size_t)on.i * sizeof(uint64_t);
}

static void place_stamps(const tal_system *system)
{
    for (int i = 0; i < system->prereqs.count; ++i) {
        tali_system_prereq *prereq = tali_system_prereq_at(system, i);
        prereq->stamp = stamp_of(&system->layout, prereq->on);
    }
}

static void place_variables(tali_system_layout *at, size_t *end)
{
    at->variables = place(end, 1, sizeof(tali_state_times));
    at->slices = place(end, (size_t)at->num_groups, sizeof(tali_state_slice));
    at->y = place_doubles(end, at->capacity_y);
    at->weights[TAL_POOL_U] = place_doubles(end, at->capacity[TAL_POOL_U]);
    at->weights[TAL_POOL_Z] = place_doubles(end, at->capacity[TAL_POOL_Z]);
    at->weights[TAL_POOL_QERR] = place_doubles(end, at->capacity[TAL_POOL_QERR]);
    at->weights[TAL_POOL_UERR] = place_doubles(end, at->capacity[TAL_POOL_UERR]);
    at->vars = place(end, at->var_bytes, 1);
    at->y_prev = place_doubles(end, at->capacity_y);
    at->vars_prev = place(end, at->var_bytes, 1);
    at->triggers_prev = place_doubles(end, at->capacity[TAL_POOL_TRIGGER]);
    at->variables_end = *end;
}

static void place_cache(tal_system *system, tali_system_layout *at, size_t *end)
{
    at->ydot = place_results(end, at->capacity_y);
    at->qdotdot = place_results(end, at->capacity[TAL_POOL_Q]);
    for (int pool = TAL_POOL_QERR; pool < TALI_NUM_POOLS; ++pool) {
        at->errors[pool] = place_results(end, at->capacity[pool]);
    }
    at->multipliers = place_results(end, at->capacity[TAL_POOL_UDOTERR]);
    at->entries = *end;
    for (int i = 0; i < at->num_entries; ++i) {
        tali_system_entry *entry = tali_system_entry_at(system, i);
        entry->offset = place_apart(end, entry->size, 1);
    }
    at->copy_end = *end;
}

static void place_private(const tal_system *system, tali_system_layout *at, size_t *end)
{
    at->entry_places = place(end, (size_t)at->num_entries, sizeof(tali_system_entry_place));
    at->fresh = place_doubles(end, at->capacity_y);
    at->repack = place_doubles(end, largest_pool(at));
    at->nans = place_doubles(end, largest_pool(at));
    at->scratch = place(end, system->scratch_bytes, TALI_SCRATCH_SPREAD);
    at->scratch_bytes = system->scratch_bytes;
}

// Discrete values are in the order they were declared, each aligned for any plain type.
static size_t place_vars(tal_system *system)
{
    const size_t alignment = _Alignof(max_align_t);
    size_t end = 0;
    for (int i = 0; i < system->vars.count; ++i) {
        tali_system_var *var = tali_system_var_at(system, i);
        var->offset = end;
        if (var->size > SIZE_MAX / 4 - end) return SIZE_MAX;
        end += (var->size + alignment - 1) / alignment * alignment;
    }
    return end;
}

// What layers above look up without a call.
static tal_status keep_places(tal_system *system)
{
    const int num_entries = system->entries.count, num_vars = system->vars.count;
    if (num_entries + num_vars == 0) return TAL_OK;
    size_t *places = tali_alloc(&system->allocator, tali_system_places_bytes(system));
    if (places == NULL) return no_memory(system, "the places of its cache entries");
    system->places = (tali_cache_places){places, places + num_entries};
    for (int i = 0; i < num_entries; ++i) {
        system->places.entries[i] = tali_system_entry_at(system, i)->offset;
    }
    for (int i = 0; i < num_vars; ++i) {
        system->places.vars[i] = system->layout.vars + tali_system_var_at(system, i)->offset;
    }
    return TAL_OK;
}

static tal_status lay_out_state(tal_system *system)
{
    tali_system_layout *at = &system->layout;
    at->num_groups = system->groups.count;
    at->num_vars = system->vars.count;
    at->num_entries = system->entries.count;
    at->var_bytes = place_vars(system);

    size_t end = TALI_CORE_OFFSET;
    place_core(at, &end);
    place_stamps(system);
    place_variables(at, &end);
    place_cache(system, at, &end);
    place_private(system, at, &end);
    at->size = end;
    if (end != SIZE_MAX) return TAL_OK;
    return tali_system_build_fail(system, TAL_ERR_CAPACITY, "tal_system_realize_topology",
                                  "System '%s': a State would not fit in memory", system->name);
}

// --- hash ---

static uint64_t hash_int(uint64_t hash, int64_t value)
{
    return tali_hash(hash, &value, sizeof value);
}

static uint64_t hash_element(uint64_t hash, const tali_system_element *element)
{
    hash = tali_hash(hash, element->name, strlen(element->name) + 1);
    return hash_int(hash, element->owner);
}

// Everything that decides what the bytes of a State mean, and nothing that does not.
static uint64_t hash_structure(const tal_system *system)
{
    uint64_t hash = TALI_HASH_SEED;
    for (int i = 0; i < system->subsystems.count; ++i) {
        const tali_system_subsystem *subsystem = tali_system_subsystem_at(system, i);
        hash = hash_element(hash, &subsystem->element);
        hash = tali_hash(hash, subsystem->ops.name, strlen(subsystem->ops.name) + 1);
        hash = hash_int(hash, subsystem->ops.order);
        hash = hash_int(hash, (int64_t)subsystem->ops.tag);
    }
    for (int i = 0; i < system->vars.count; ++i) {
        const tali_system_var *var = tali_system_var_at(system, i);
        hash = hash_element(hash, &var->element);
        hash = hash_int(hash, (int64_t)var->size);
        hash = hash_int(hash, (int64_t)var->invalidates * TAL_NUM_STAGES + (int64_t)var->allocated);
        hash = hash_int(hash, (int64_t)var->update * 2 + (var->sampled ? 1 : 0));
    }
    for (int i = 0; i < system->entries.count; ++i) {
        const tali_system_entry *entry = tali_system_entry_at(system, i);
        hash = hash_element(hash, &entry->element);
        hash = hash_int(hash, (int64_t)entry->size);
        hash = hash_int(hash, (int64_t)entry->depends_on * 16 + (int64_t)entry->computed_by);
        hash = hash_int(hash, entry->num_prereqs);
    }
    for (int i = 0; i < system->prereqs.count; ++i) {
        const tal_prereq *prereq = &tali_system_prereq_at(system, i)->on;
        hash = hash_int(hash, (int64_t)prereq->kind);
        hash = hash_int(hash, prereq->i);
    }
    for (int i = 0; i < system->groups.count; ++i) {
        const tali_system_group *group = tali_system_group_at(system, i);
        hash = hash_element(hash, &group->element);
        hash = hash_int(hash, pool_key(group));
        hash = hash_int(hash, group->capacity);
    }
    for (int i = 0; i < system->events.count; ++i) {
        const tali_system_event *event = tali_system_event_at(system, i);
        hash = hash_element(hash, &event->element);
        hash = hash_int(hash, event->def.trigger.i);
        hash = hash_int(hash, event->def.slot);
    }
    hash = tali_system_measures_hash(system, hash);
    hash = hash_int(hash, (int64_t)system->scratch_bytes);
    return hash != 0 ? hash : 1; // zero means: no topology
}

tal_status tali_system_lay_out(tal_system *system)
{
    tal_status st = sort_groups(system);
    if (st == TAL_OK) st = sort_entries(system);
    if (st == TAL_OK) st = plan_steps(system);
    if (st == TAL_OK) st = add_capacities(system);
    if (st == TAL_OK) st = lay_out_state(system);
    if (st == TAL_OK) st = keep_places(system);
    if (st == TAL_OK) system->hash = hash_structure(system);
    return st;
}
