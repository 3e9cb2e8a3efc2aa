// A run as bytes: the State, and what takes its steps where that remembers something.
#include "model/run_save.h"

#include <stdlib.h>

// What a run remembers besides its State and its method.
typedef struct place {
    long num_pile_steps;
    int has_begun, had_event;
} place;

// --- the State, and what takes the steps ---

static tal_status save_state(cli_run *run, void *block, size_t size)
{
    return tal_state_save(run->state, block, size);
}

// What fixed steps and those of contacts remember is in the State.
static bool is_all_in_state(const cli_run *run)
{
    return run->fixed != NULL || run->pile != NULL;
}

// The time stepper saves the State, too.
static size_t size_of_method(const cli_run *run)
{
    if (run->stepper != NULL) return tal_time_stepper_save_size(run->stepper, run->state);
    return tal_integrator_save_size(run->integ);
}

static tal_status save_method(cli_run *run, void *block, size_t size)
{
    if (run->stepper != NULL) return tal_time_stepper_save(run->stepper, run->state, block, size);
    return tal_integrator_save(run->integ, block, size);
}

static tal_status put(cli_run *run, size_t size,
                      tal_status (*save)(cli_run *run, void *block, size_t size), cli_bytes *to)
{
    void *const block = cli_alloc(size, 1);
    const tal_status st = save(run, block, size);
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

tal_status cli_run_save(cli_run *run, cli_bytes *to)
{
    const place at = {run->num_pile_steps, run->has_begun, run->had_event};
    bytes_add(to, &at, sizeof at);
    const bool is_all = is_all_in_state(run);
    tal_status st = TAL_OK;
    if (is_all || run->stepper == NULL) {
        st = put(run, tal_state_save_size(run->state), save_state, to);
    }
    if (st != TAL_OK || is_all) return st;
    return put(run, size_of_method(run), save_method, to);
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
    if (is_all_in_state(run)) {
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
