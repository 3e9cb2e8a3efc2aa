// What libFuzzer calls: any bytes as a saved State of a free body that carries a pendulum, and the
// same bytes as what such a State holds, with a right header and checksum, which would keep nearly
// everything out.
#include "hash_internal.h"

#include <talus/talus.h>

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    AT_CHECKSUM = 40,
    HEADER = 48
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Small, but with a quaternion, a choice of coordinates, parameters and a discrete variable.
static tal_system *make_system(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(1.0, tal_v3(0.1, 0.2, 0.3));
    const tal_body_ix base = tal_matter_add_free(matter, TAL_GROUND, &def);
    (void)tal_matter_add_pin(matter, base, &def);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    return tal_system_realize_topology(system, NULL) == TAL_OK ? system : NULL;
}

static void load(const tal_system *system, tal_state *state, const void *bytes, size_t size)
{
    const tal_status st = tal_state_load(system, state, bytes, size);
    if (st != TAL_OK && tal_state_error(state)->message[0] == '\0') __builtin_trap();
    if (st != TAL_OK) return;
    const tal_status reached = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
    if (reached != TAL_OK && tal_state_error(state)->message[0] == '\0') __builtin_trap();
}

// The bytes of a State, those of the payload replaced from the front, and signed.
static void load_signed(const tal_system *system, tal_state *state, const uint8_t *data,
                        size_t size)
{
    const size_t whole = tal_state_save_size(state);
    uint8_t *bytes = malloc(whole);
    if (bytes == NULL || tal_state_save(state, bytes, whole) != TAL_OK) __builtin_trap();
    const size_t n = size < whole - HEADER ? size : whole - HEADER;
    if (n > 0) memcpy(bytes + HEADER, data, n);
    uint64_t sum = 0;
    memcpy(bytes + AT_CHECKSUM, &sum, sizeof sum);
    sum = tali_hash(TALI_HASH_SEED, bytes, whole);
    memcpy(bytes + AT_CHECKSUM, &sum, sizeof sum);
    load(system, state, bytes, whole);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    static tal_system *system; // the same for all
    if (system == NULL) system = make_system();
    tal_state *state = NULL;
    if (system == NULL || tal_state_create(system, &state, NULL) != TAL_OK) __builtin_trap();
    load_signed(system, state, data, size);
    load(system, state, size > 0 ? (const void *)data : "", size);
    tal_state_destroy(state);
    return 0;
}
