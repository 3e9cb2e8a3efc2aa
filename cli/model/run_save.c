// A run as bytes: what steps it has a way to save itself, and most of these save the State as well.
#include "model/run_save.h"

#include <stdlib.h>

// What a run remembers besides its State and its method.
typedef struct place {
    long num_pile_steps;
    int has_begun, had_event;
} place;

// --- the four that can take the steps ---

static tal_status save_stepper(cli_run *run, bytes *to)
{
    const size_t size = tal_time_stepper_save_size(run->stepper, run->state);
    void *const block = cli_alloc(size, 1);
    const tal_status st = tal_time_stepper_save(run->stepper, run->state, block, size);
    if (st == TAL_OK) checkpoint_put_block(to, block, size);
    free(block);
    return st;
}

static tal_status save_pile(const cli_run *run, bytes *to)
{
    const size_t size = tal_contact_stepper_save_size(run->pile, run->state);
    void *const block = cli_alloc(size, 1);
    const tal_status st = tal_contact_stepper_save(run->pile, run->state, block, size);
    if (st == TAL_OK) checkpoint_put_block(to, block, size);
    free(block);
    return st;
}

static tal_status save_state(cli_run *run, bytes *to)
{
    const size_t size = tal_state_save_size(run->state);
    void *const block = cli_alloc(size, 1);
    const tal_status st = tal_state_save(run->state, block, size);
    if (st == TAL_OK) checkpoint_put_block(to, block, size);
    free(block);
    return st;
}

static tal_status save_integrator(cli_run *run, bytes *to)
{
    const size_t size = tal_integrator_save_size(run->integ);
    void *const block = cli_alloc(size, 1);
    const tal_status st = tal_integrator_save(run->integ, block, size);
    if (st == TAL_OK) checkpoint_put_block(to, block, size);
    free(block);
    return st;
}

static tal_status load_integrator(cli_run *run, const void *block, size_t size,
                                  checkpoint_reader *from)
{
    tal_status st = tal_state_load(run->model->system, run->state, block, size);
    block = checkpoint_take_block(from, &size);
    if (st == TAL_OK && block == NULL) return TAL_ERR_FILE;
    if (st == TAL_OK) {
        st = tal_system_realize(run->model->system, run->state, TAL_STAGE_ACCELERATION);
    }
    if (st == TAL_OK) st = tal_integrator_restore(run->integ, run->state, block, size);
    return st;
}

// --- all ---

tal_status cli_run_save(cli_run *run, bytes *to)
{
    const place at = {run->num_pile_steps, run->has_begun, run->had_event};
    bytes_add(to, &at, sizeof at);
    if (run->pile != NULL) return save_pile(run, to);
    if (run->fixed == NULL && run->stepper != NULL) return save_stepper(run, to);
    // what fixed steps remember is in the State
    const tal_status st = save_state(run, to);
    return st == TAL_OK && run->fixed == NULL ? save_integrator(run, to) : st;
}

tal_status cli_run_resume(cli_run *run, checkpoint_reader *from)
{
    const tal_system *const system = run->model->system;
    place at;
    checkpoint_take(from, &at, sizeof at);
    size_t size = 0;
    const void *const block = checkpoint_take_block(from, &size);
    if (block == NULL) return TAL_ERR_FILE;
    tal_status st = TAL_OK;
    if (run->pile != NULL) {
        st = tal_contact_stepper_resume(run->pile, run->state, block, size);
    } else if (run->fixed != NULL) {
        st = tal_state_load(system, run->state, block, size);
    } else if (run->stepper != NULL) {
        st = tal_time_stepper_resume(run->stepper, run->state, block, size);
    } else {
        st = load_integrator(run, block, size, from);
    }
    if (st != TAL_OK) return st;
    run->num_pile_steps = at.num_pile_steps;
    run->has_begun = at.has_begun != 0;
    run->had_event = at.had_event != 0;
    return tal_state_copy(run->shown, run->state);
}
