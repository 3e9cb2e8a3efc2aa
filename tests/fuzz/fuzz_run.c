// What libFuzzer calls: a saved run, State and integrator included, with any bytes changed and
// every checksum made right again, which would keep nearly everything out. Resumed or refused, it
// goes on within bounds or says why not.
#include "hash_internal.h"

#include "problem/sealed_internal.h"

#include <talus/talus.h>

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST = 1 << 16,
    AT_STATE_CHECKSUM = 40 // tests/fuzz/fuzz_state.c
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A pendulum with a stop, a periodic event and a quaternion.
typedef struct world {
    tal_system *system;
    tal_state *state;
    tal_time_stepper *stepper;
    size_t size, integ_size, state_size;
    uint8_t saved[LARGEST];
} world;

static void make_world(world *w)
{
    w->system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(w->system);
    tal_forces *forces = tal_forces_create(w->system, matter);
    tal_events *events = tal_events_create(w->system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(1.0, tal_v3(0.1, 0.2, 0.3));
    def.X_BM.p = tal_v3(0.0, 1.0, 0.0);
    const tal_body_ix base = tal_matter_add_ball(matter, TAL_GROUND, &def);
    (void)tal_matter_add_pin(matter, base, &def);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    tal_run_stop stop = tal_run_stop_default();
    stop.measure = tal_measure_add_kinetic_energy(matter, "energy");
    stop.value = 100.0;
    (void)tal_events_add_stop(events, &stop);
    tal_integrator *integ = NULL;
    const tal_integrator_def how = tal_integrator_def_default();
    tal_time_stepper_def watch = tal_time_stepper_def_default();
    watch.max_steps = 50;
    watch.max_events = 50;
    if (tal_system_realize_topology(w->system, NULL) != TAL_OK ||
        tal_state_create(w->system, &w->state, NULL) != TAL_OK ||
        tal_integrator_create(w->system, &how, &integ, NULL) != TAL_OK ||
        tal_time_stepper_create(integ, &watch, &w->stepper, NULL) != TAL_OK ||
        tal_time_stepper_step_to(w->stepper, w->state, 0.05, NULL) != TAL_OK) {
        __builtin_trap();
    }
    w->size = tal_time_stepper_save_size(w->stepper, w->state);
    w->integ_size = tal_integrator_save_size(integ);
    w->state_size = tal_state_save_size(w->state);
    if (w->size > LARGEST ||
        tal_time_stepper_save(w->stepper, w->state, w->saved, w->size) != TAL_OK) {
        __builtin_trap();
    }
}

// With the magic, version and identity that it has.
static void seal_again(uint8_t *bytes, size_t size)
{
    tali_seal seal;
    memcpy(&seal, bytes, sizeof seal);
    tali_seal_bytes(bytes, size, seal.magic, seal.version, seal.identity);
}

static void sign_all(const world *w, uint8_t *bytes)
{
    uint8_t *const state = bytes + w->size - w->state_size, *const integ = state - w->integ_size;
    uint64_t sum = 0;
    memcpy(state + AT_STATE_CHECKSUM, &sum, sizeof sum);
    sum = tali_hash(TALI_HASH_SEED, state, w->state_size);
    memcpy(state + AT_STATE_CHECKSUM, &sum, sizeof sum);
    seal_again(integ, w->integ_size);
    seal_again(bytes, w->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static world w; // the same for all
    static uint8_t bytes[LARGEST];
    (void)tal_contract_set_handler(tal_contract_silent);
    if (w.system == NULL) make_world(&w);
    memcpy(bytes, w.saved, w.size);
    for (size_t i = 0; i + 2 < size; i += 3) { // where, and what
        const size_t at = ((size_t)data[i] << 8 | data[i + 1]) % w.size;
        if (at >= sizeof(tali_seal)) bytes[at] = data[i + 2];
    }
    sign_all(&w, bytes);
    tal_status st = tal_time_stepper_resume(w.stepper, w.state, bytes, w.size);
    if (st == TAL_OK) {
        const double t = tal_state_t(w.state);
        st = tal_time_stepper_step_to(w.stepper, w.state, t + 0.01, NULL);
        const int ended_by = tal_time_stepper_ended_by(w.stepper).i;
        if (ended_by < -1 || ended_by >= tal_system_num_events(w.system)) __builtin_trap();
        (void)tal_time_stepper_statistics(w.stepper);
    }
    if (st != TAL_OK && tal_time_stepper_error(w.stepper)->message[0] == '\0') __builtin_trap();
    return 0;
}
