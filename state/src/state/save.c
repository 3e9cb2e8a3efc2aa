// Saving and loading the variables of a State.
//
// A file is a header and the variables region of the block, byte for byte. The checksum covers
// both, so any flipped bit is noticed; the structure hash makes the layout known.
#include "file_internal.h"

#include "state/state_internal.h"

#include <talus/state/realize.h>

#include <errno.h>
#include <stdio.h>

enum {
    FORMAT_VERSION = 1
};

static const char MAGIC[8] = "TALSTATE";

typedef struct file_header {
    char magic[8];
    uint32_t byte_order; // reads 1 on a machine of the same byte order
    uint32_t version;
    uint64_t hash;
    uint64_t payload;
    uint64_t has_model; // 1: variables allocated at Model have values
    uint64_t checksum;  // of header (with this field zero) and payload
} file_header;

static size_t payload_size(const tal_state *state)
{
    return state->at.variables_end - state->at.variables;
}

static uint64_t checksum(file_header header, const void *payload, size_t size)
{
    header.checksum = 0;
    return tali_hash(tali_hash(TALI_HASH_SEED, &header, sizeof header), payload, size);
}

size_t tal_state_save_size(const tal_state *state)
{
    if (state != NULL) return sizeof(file_header) + payload_size(state);
    (void)TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return 0;
}

tal_status tal_state_save(tal_state *state, void *bytes, size_t size)
{
    if (state == NULL || bytes == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the %s is NULL", state == NULL ? "State" : "memory");
    }
    tali_state_clear_error(state);
    if (size < tal_state_save_size(state)) {
        return TALI_FAIL(&state->error, TAL_ERR_CAPACITY,
                         "%zu bytes are too few for the %zu bytes of a State", size,
                         tal_state_save_size(state));
    }
    file_header header = {.byte_order = 1,
                          .version = FORMAT_VERSION,
                          .hash = state->hash,
                          .payload = payload_size(state),
                          .has_model = tali_state_ccore(state)->stage >= TAL_STAGE_MODEL};
    memcpy(header.magic, MAGIC, sizeof header.magic);
    const void *payload = tali_state_cpart(state, state->at.variables);
    header.checksum = checksum(header, payload, payload_size(state));
    memcpy(bytes, &header, sizeof header);
    memcpy((char *)bytes + sizeof header, payload, payload_size(state));
    return TAL_OK;
}

// The header is judged field by field, so that each kind of wrong file gets its own sentence.
static tal_status check_bytes(const tal_system *system, tal_state *state, const void *bytes,
                              size_t size)
{
    static const char where[] = "tal_state_load";
    file_header header;
    if (size < sizeof header) {
        return tali_fail(&state->error, TAL_ERR_FILE, where,
                         "truncated: %zu bytes are less than the header of a State", size);
    }
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.magic, MAGIC, sizeof header.magic) != 0) {
        return tali_fail(&state->error, TAL_ERR_FILE, where, "not a saved State");
    }
    if (header.byte_order != 1) {
        return tali_fail(&state->error, TAL_ERR_FILE, where,
                         "saved on a machine with another byte order");
    }
    if (header.version != FORMAT_VERSION) {
        return tali_fail(&state->error, TAL_ERR_FILE, where,
                         "saved in format version %u, but this library reads %d", header.version,
                         FORMAT_VERSION);
    }
    if (header.hash != system->hash) {
        return tali_fail(&state->error, TAL_ERR_WRONG_SYSTEM, where,
                         "not saved from System '%s': structure %016llx, not %016llx", system->name,
                         (unsigned long long)header.hash, (unsigned long long)system->hash);
    }
    if (header.payload != payload_size(state) || size - sizeof header != payload_size(state)) {
        return tali_fail(&state->error, TAL_ERR_FILE, where,
                         "truncated or too long: %zu bytes, but a State has %zu", size,
                         tal_state_save_size(state));
    }
    if (header.checksum !=
        checksum(header, (const char *)bytes + sizeof header, payload_size(state))) {
        return tali_fail(&state->error, TAL_ERR_FILE, where, "damaged: the checksum is wrong");
    }
    return TAL_OK;
}

// Slices read from a file decide where memory is read later, so they are checked though the
// checksum was right: any program can write a file with a correct checksum. The groups of a pool
// follow one another; none of them has a size before the first sizing.
static bool slices_fit(const tal_system *system, const tal_state *state)
{
    const tali_state_slice *slices = tali_state_cslices(state);
    for (int pool = 0; pool < TALI_NUM_POOLS; ++pool) {
        int32_t next = 0;
        for (int k = system->pool_begin[pool]; k < system->pool_begin[pool + 1]; ++k) {
            const tali_state_slice slice = slices[system->pool_order[k]];
            const int capacity = tali_system_group_at(system, system->pool_order[k])->capacity;
            if (slice.size < -1 || slice.size > capacity || slice.start != next) return false;
            if (slice.size > 0) next += slice.size;
        }
    }
    return true;
}

// The sizes of q, u and z tell where y is cut; they follow from the slices.
static void restore_sizes(const tal_system *system, tal_state *state)
{
    tali_state_core *core = tali_state_core_of(state);
    const tali_state_slice *slices = tali_state_cslices(state);
    for (int pool = TAL_POOL_Q; pool <= TAL_POOL_Z; ++pool) {
        core->size[pool] = 0;
    }
    for (int g = 0; g < system->groups.count; ++g) {
        const tal_pool pool = tali_system_group_at(system, g)->pool;
        if (pool <= TAL_POOL_Z && slices[g].size > 0) core->size[pool] += slices[g].size;
    }
}

static tal_status take_variables(const tal_system *system, tal_state *state, const void *bytes)
{
    file_header header;
    memcpy(&header, bytes, sizeof header);
    const char *payload = (const char *)bytes + sizeof header;
    memcpy(tali_state_part(state, state->at.variables), payload, payload_size(state));
    if (!slices_fit(system, state)) {
        return tali_fail(&state->error, TAL_ERR_FILE, "tal_state_load",
                         "damaged: its groups do not fit in their pools");
    }
    restore_sizes(system, state);
    tali_state_invalidate(state, TAL_STAGE_MODEL);
    // no result survives, so no variable needs to be stamped as changed
    for (int i = 0; i < system->entries.count; ++i) {
        tali_state_entry_stamps(state)[i] = 0;
    }
    state->loading = header.has_model != 0;
    const tal_status st = tali_state_realize(system, state, TAL_STAGE_MODEL);
    state->loading = false;
    return st;
}

tal_status tal_state_load(const tal_system *system, tal_state *state, const void *bytes,
                          size_t size)
{
    if (!TALI_BELONGS(system, state)) return tali_state_breach_status();
    if (bytes == NULL) return TALI_BREACH(TAL_ERR_NULL, "the bytes are NULL");
    if (!tali_state_can_write(state, __func__)) return TAL_ERR_STAGE;
    tali_state_clear_error(state);
    tal_status st = check_bytes(system, state, bytes, size);
    if (st != TAL_OK) return st;

    const size_t begin = state->at.core;
    const size_t copied = state->at.copy_end - begin;
    void *backup = tali_alloc(&state->allocator, copied);
    if (backup == NULL) {
        return TALI_FAIL(&state->error, TAL_ERR_NO_MEMORY, "no memory for %zu bytes of backup",
                         copied);
    }
    tali_alloc_copy(backup, tali_state_cpart(state, begin), copied);
    st = take_variables(system, state, bytes);
    if (st != TAL_OK) tali_alloc_copy(tali_state_part(state, begin), backup, copied);
    tali_free(&state->allocator, backup, copied);
    return st;
}

// --- files ---

static tal_status file_failure(tal_state *state, const char *where, const char *subject,
                               const char *path)
{
    return tali_fail(&state->error, TAL_ERR_FILE, where, "%s '%s' (errno %d)", subject, path,
                     errno);
}

tal_status tal_state_save_file(tal_state *state, const char *path)
{
    if (state == NULL || path == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the %s is NULL", state == NULL ? "State" : "path");
    }
    tali_state_clear_error(state);
    const size_t size = tal_state_save_size(state);
    void *bytes = tali_alloc(&state->allocator, size);
    if (bytes == NULL) {
        return TALI_FAIL(&state->error, TAL_ERR_NO_MEMORY, "no memory for %zu bytes", size);
    }
    tal_status st = tal_state_save(state, bytes, size);
    if (st == TAL_OK) st = tali_file_replace_by(path, bytes, size, __func__, &state->error);
    tali_free(&state->allocator, bytes, size);
    return st;
}

// Reads one byte more than a State has, so that a longer file is noticed without reading it all.
static tal_status read_file(tal_state *state, const char *path, void *bytes, size_t room,
                            size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return file_failure(state, "tal_state_load_file", "cannot read", path);
    *size = fread(bytes, 1, room, file);
    const bool failed = ferror(file) != 0;
    (void)fclose(file);
    return failed ? file_failure(state, "tal_state_load_file", "cannot read", path) : TAL_OK;
}

tal_status tal_state_load_file(const tal_system *system, tal_state *state, const char *path)
{
    if (!TALI_BELONGS(system, state)) return tali_state_breach_status();
    if (path == NULL) return TALI_BREACH(TAL_ERR_NULL, "the path is NULL");
    tali_state_clear_error(state);
    const size_t room = tal_state_save_size(state) + 1;
    void *bytes = tali_alloc(&state->allocator, room);
    if (bytes == NULL) {
        return TALI_FAIL(&state->error, TAL_ERR_NO_MEMORY, "no memory for %zu bytes", room);
    }
    size_t size = 0;
    tal_status st = read_file(state, path, bytes, room, &size);
    if (st == TAL_OK) st = tal_state_load(system, state, bytes, size);
    tali_free(&state->allocator, bytes, room);
    return st;
}
