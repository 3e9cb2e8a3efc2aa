// Running a model through time, row by row.
#include "model/run.h"

#include <string.h>

static bool tell(void *context, const tal_progress *progress)
{
    cli_run *const run = context;
    if (run->proceed == NULL || run->proceed(run->context, progress->t)) return true;
    run->was_stopped = true;
    return false;
}

// Whether events change the State, other than by ending the run. Within a step at whose end they
// changed it there is nothing to read off.
static bool has_jumps(const tal_system *system)
{
    for (int i = 0; i < tal_system_num_events(system); ++i) {
        const tal_event_ix event = {i};
        if (tal_event_declared(system, event).reports) continue;
        if (tal_event_stop(system, event) == NULL) return true;
    }
    return false;
}

static tal_status create_stepper(cli_run *run)
{
    tal_time_stepper_def def = tal_time_stepper_def_default();
    def.max_steps = 0;
    def.progress = tell;
    def.progress_context = run;
    return tal_time_stepper_create(run->integ, &def, &run->stepper, &run->error);
}

// The step that a Langevin bath needs, the interval of its noise; 0: there is none.
static double interval_of_bath(const cli_model *model)
{
    for (int i = 0; i < tal_forces_num(model->forces); ++i) {
        const tal_force_ix force = {i};
        const bool is_bath = strcmp(tal_force_kind(model->forces, force), "langevin") == 0;
        if (!is_bath || !tal_force_is_enabled(model->forces, model->state, force)) continue;
        return tal_force_param(model->forces, model->state, force, TAL_LANGEVIN_INTERVAL);
    }
    return 0.0;
}

int cli_run_create(const cli_args *args, const cli_model *model, const tal_integrator_def *def,
                   cli_run *run)
{
    memset(run, 0, sizeof *run);
    run->model = model;
    tal_integrator_def *const own = &run->integrator;
    *own = *def;
    own->ignores_colliders = true; // commands warn
    if (own->fixed_step == 0.0) own->fixed_step = interval_of_bath(model);
    tal_status st = tal_integrator_create(model->system, own, &run->integ, &run->error);
    if (st == TAL_OK && tal_system_num_events(model->system) > 0) st = create_stepper(run);
    if (st != TAL_OK) return cli_fail_with(args, CLI_FAILED, &run->error);
    run->state = cli_state_copy(args, model);
    run->shown = run->state != NULL ? cli_state_copy(args, model) : NULL;
    run->has_jumps = has_jumps(model->system);
    return run->shown != NULL ? CLI_OK : CLI_FAILED;
}

void cli_run_warn_of_colliders(const cli_args *args, const cli_model *model)
{
    if (tal_matter_num_colliders(model->matter) <= 0 ||
        tal_matter_has_collider_elements(model->matter)) {
        return;
    }
    cli_warn(args,
             "integrators ignore the colliders of this model: use simulate --stepper contact, or "
             "collider_elements=\"yes\" in the file.");
}

// Steps end at rows: within a step there is nothing to read off.
int cli_run_use_contacts(const cli_args *args, cli_run *run, double step)
{
    tal_contact_stepper_def def = tal_contact_stepper_def_default();
    if (step > 0.0) def.step = step;
    run->has_jumps = run->had_event = true;
    const tal_status st =
        tal_contact_stepper_create(run->model->system, &def, &run->pile, &run->error);
    return st == TAL_OK ? CLI_OK : cli_fail_with(args, CLI_FAILED, &run->error);
}

// Steps end at rows, as those of contacts do.
int cli_run_use_fixed(const cli_args *args, cli_run *run, const tal_fixed_stepper_def *def)
{
    run->has_jumps = run->had_event = true;
    const tal_status st =
        tal_fixed_stepper_create(run->model->system, def, &run->fixed, &run->error);
    return st == TAL_OK ? CLI_OK : cli_fail_with(args, CLI_FAILED, &run->error);
}

void cli_run_destroy(cli_run *run)
{
    tal_fixed_stepper_destroy(run->fixed);
    tal_contact_stepper_destroy(run->pile);
    tal_state_destroy(run->shown);
    tal_state_destroy(run->state);
    tal_time_stepper_destroy(run->stepper);
    tal_integrator_destroy(run->integ);
}

tal_status cli_run_restart(cli_run *run, const tal_state *start)
{
    tal_integrator_reset(run->integ);
    if (run->stepper != NULL) tal_time_stepper_reset(run->stepper);
    run->has_begun = run->was_stopped = run->is_over = run->has_ended = false;
    run->error = (tal_error){TAL_OK, "", ""};
    const tal_status st = tal_state_copy(run->state, start);
    return st == TAL_OK ? tal_state_copy(run->shown, start) : st;
}

// One step of the contact stepper, towards `t`.
static tal_status one_pile_step(cli_run *run, double t)
{
    const double now = tal_state_t(run->state), h = tal_contact_stepper_def_of(run->pile).step;
    if (!(t > now)) return TAL_OK;
    const double next = t - now <= h * (1.0 + 1e-6) ? t : now + h;
    const tal_status st = tal_contact_stepper_step_to(run->pile, run->state, next);
    if (st != TAL_OK) run->error = *tal_contact_stepper_error(run->pile);
    ++run->num_pile_steps;
    if (st == TAL_OK && run->proceed != NULL) run->was_stopped = !run->proceed(run->context, next);
    return st;
}

// One step of the fixed stepper, towards `t`.
static tal_status one_fixed_step(cli_run *run, double t)
{
    const double now = tal_state_t(run->state), h = tal_fixed_stepper_def_of(run->fixed).step;
    if (!(t > now)) return TAL_OK;
    const double next = t - now <= h * (1.0 + 1e-6) ? t : now + h;
    const tal_status st = tal_fixed_stepper_step_to(run->fixed, run->state, next);
    if (st != TAL_OK) run->error = *tal_fixed_stepper_error(run->fixed);
    if (st == TAL_OK && run->proceed != NULL) run->was_stopped = !run->proceed(run->context, next);
    return st;
}

// One step of the method. One of no length, to begin with, makes the State consistent and is not
// told.
static tal_status one_step(cli_run *run, double t)
{
    const bool is_told = run->proceed != NULL && t > tal_state_t(run->state);
    tal_outcome why = TAL_OUTCOME_FAILED;
    if (run->pile != NULL) return one_pile_step(run, t);
    if (run->fixed != NULL) return one_fixed_step(run, t);
    if (run->stepper == NULL) {
        const tal_status st = tal_integrator_step(run->integ, run->state, t);
        if (st != TAL_OK) run->error = *tal_integrator_error(run->integ);
        if (st != TAL_OK || !is_told) return st;
        run->was_stopped = !run->proceed(run->context, tal_state_t(run->state));
        return st;
    }
    const tal_status st = tal_time_stepper_advance(run->stepper, run->state, t, &why);
    if (run->diary != NULL) touches_look(run->diary, run->state);
    if (st != TAL_OK) run->error = *tal_time_stepper_error(run->stepper);
    run->had_event = why != TAL_OUTCOME_STEP && why != TAL_OUTCOME_REACHED_TIME;
    run->is_over = why == TAL_OUTCOME_TERMINATED || why == TAL_OUTCOME_END;
    return st;
}

// Steps until one ends at `t` or behind it.
static tal_status step_past(cli_run *run, double t)
{
    tal_status st = TAL_OK;
    if (!run->has_begun) {
        run->has_begun = true;
        st = one_step(run, tal_state_t(run->state));
    }
    while (st == TAL_OK && tal_state_t(run->state) < t && !run->was_stopped && !run->is_over) {
        if (run->rest != NULL) run->rest(run->rest_context);
        st = one_step(run, run->has_jumps ? t : run->end);
    }
    const bool can_rest = st == TAL_OK && tal_state_t(run->state) < t && !run->is_over;
    if (can_rest && run->rest != NULL) run->rest(run->rest_context); // it was stopped
    return st;
}

tal_status cli_run_step(cli_run *run)
{
    const bool is_first = !run->has_begun;
    run->has_begun = true;
    const tal_status st = one_step(run, is_first ? tal_state_t(run->state) : run->end);
    (void)tal_state_copy(run->shown, run->state);
    run->has_ended = run->is_over;
    return st;
}

tal_status cli_run_look(cli_run *run, double t)
{
    const tal_status st = tal_integrator_interpolate(run->integ, run->state, t, run->shown);
    if (st != TAL_OK) run->error = *tal_integrator_error(run->integ);
    return st;
}

tal_status cli_run_go(cli_run *run, double t)
{
    tal_status st = step_past(run, t);
    const bool is_behind = tal_state_t(run->state) > t;
    if (st == TAL_OK && is_behind) st = cli_run_look(run, t);
    if (st != TAL_OK || !is_behind) (void)tal_state_copy(run->shown, run->state);
    run->has_ended = run->is_over && !is_behind;
    return st;
}
