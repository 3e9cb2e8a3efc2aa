// What libFuzzer calls: any bytes as a saved State of a free body that carries a pendulum.
#include <talus/talus.h>

#include <stddef.h>
#include <stdint.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    static const char nothing[] = "";
    tal_system *system = make_system();
    tal_state *state = NULL;
    if (system == NULL || tal_state_create(system, &state, NULL) != TAL_OK) __builtin_trap();
    const tal_status st =
        tal_state_load(system, state, size > 0 ? (const void *)data : nothing, size);
    if (st != TAL_OK && tal_state_error(state)->message[0] == '\0') __builtin_trap();
    if (st == TAL_OK) {
        const tal_status reached = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
        if (reached != TAL_OK && tal_state_error(state)->message[0] == '\0') __builtin_trap();
    }
    tal_state_destroy(state);
    tal_system_destroy(system);
    return 0;
}
