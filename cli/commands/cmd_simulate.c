// talus simulate: a model through time.
#include "commands/commands.h"
#include "model/advice.h"
#include "model/integrators.h"
#include "model/recording.h"
#include "model/run.h"
#include "table/columns.h"
#include "table/result.h"
#include "text/progress.h"
#include "text/report.h"
#include "text/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int make_schedule(const cli_args *args, const cli_model *model, schedule *out)
{
    out->start = tal_state_t(model->state);
    out->end = cli_number(args, "end");
    out->every = cli_number(args, "every");
    if (!(out->end > out->start)) {
        return cli_fail(args, CLI_USAGE, "--end %g is not after the start, %g.", out->end,
                        out->start);
    }
    if (out->every < 0.0) {
        return cli_fail(args, CLI_USAGE, "--every needs a positive number, not %g.", out->every);
    }
    if (out->every == 0.0) return CLI_OK;
    // a row within round-off of the end is the end
    const double rows = ceil((out->end - out->start) / out->every * (1.0 - 1e-12));
    if (!(rows < 1e8)) {
        return cli_fail(args, CLI_USAGE, "--every %g would give %g rows.", out->every, rows);
    }
    out->num = (int)rows + 1;
    return CLI_OK;
}

static bool proceed(void *context, double t)
{
    return progress_tell(context, t);
}

// Which event of the model ended the run, with what it says about itself; NULL when none did. Owned
// by the caller.
static char *find_end(const cli_run *run)
{
    if (!run->has_ended || run->stepper == NULL) return NULL;
    const tal_system *const system = run->model->system;
    const tal_event_ix event = tal_time_stepper_ended_by(run->stepper);
    const tal_run_stop *const stop = event.i >= 0 ? tal_event_stop(system, event) : NULL;
    const bool has_more = stop != NULL && stop->message != NULL;
    char at[TAL_NUMBER_SIZE];
    (void)tal_number_write(tal_state_t(run->state), at);
    return cli_format("%s at t = %s s%s%s", event.i >= 0 ? tal_event_name(system, event) : "", at,
                      has_more ? ": " : "", has_more ? stop->message : "");
}

// What fixed steps took.
static void report_fixed(report *r, const tal_fixed_stepper *stepper)
{
    const tal_fixed_stats stats = tal_fixed_stepper_statistics(stepper);
    report_count(r, "steps", (long)stats.steps);
    report_count(r, "iterations", (long)stats.iterations);
    report_count(r, "unfinished steps", (long)stats.unfinished);
    report_number(r, "longest step", stats.worst_step_time, "s");
}

// How long the run was, what it took, and what happened in it.
static void report_run(const cli_args *args, const cli_run *run, const tal_table *table,
                       const char *ended_by)
{
    const tal_integrator_stats stats = tal_integrator_statistics(run->integ);
    const int last = tal_table_num_rows(table) - 1;
    const int energy = tal_table_find_column(table, "total_energy");
    report r;
    report_begin(&r, args);
    report_text(&r, "result", cli_text(args, "out"));
    report_count(&r, "rows", tal_table_num_rows(table));
    report_count(&r, "columns", tal_table_num_columns(table));
    report_number(&r, "final time", tal_state_t(run->state), "s");
    if (run->fixed != NULL) {
        report_fixed(&r, run->fixed);
    } else if (run->pile == NULL) {
        report_count(&r, "steps", (long)stats.steps_taken);
        report_count(&r, "steps refused", (long)(stats.error_failures + stats.other_failures));
        report_count(&r, "evaluations", (long)stats.realizations);
    } else {
        const tal_contact_step last_step = tal_contact_stepper_report(run->pile);
        report_count(&r, "steps", run->num_pile_steps);
        report_count(&r, "contacts at end", last_step.num_contacts);
        report_number(&r, "penetration at end", last_step.penetration, "m");
    }
    if (run->diary != NULL && run->diary->num > 0) {
        report_count(&r, "impacts", run->diary->impacts);
        report_count(&r, "changes of contact", run->diary->changes);
    }
    if (ended_by != NULL) report_text(&r, "ended by", ended_by);
    if (energy >= 0 && last >= 0) {
        report_number(&r, "energy at start", tal_table_value(table, 0, energy), "J");
        report_number(&r, "energy at end", tal_table_value(table, last, energy), "J");
    }
    report_end(&r);
}

// An empty table with its columns; an exit code.
static int make_table(const cli_args *args, const cli_model *model, const cli_columns *columns,
                      tal_table **out)
{
    tal_table *const table = result_create(args, model);
    if (table == NULL) return CLI_FAILED;
    const tal_status st = columns_name(columns, table);
    const int code =
        st == TAL_OK ? result_check_fit(args, table) : cli_fail_status(args, CLI_FAILED, st);
    if (code == CLI_OK) {
        *out = table;
    } else {
        tal_table_destroy(table);
    }
    return code;
}

// Write the rows, all or a part, and report how the run ended.
static int write_run(const cli_args *args, const cli_run *run, tal_status st, tal_table *table)
{
    char *why = NULL, *const end = find_end(run);
    char at[TAL_NUMBER_SIZE];
    (void)tal_number_write(tal_state_t(run->state), at);
    if (st != TAL_OK) {
        why = cli_format("failed at t = %s: %s", at, run->error.message);
    } else if (run->was_stopped) {
        why = cli_format("interrupted at t = %s", at);
    }
    if (why != NULL) (void)cli_fail(args, CLI_FAILED, "%s", why);
    int code = CLI_OK;
    if (end != NULL && result_set_end(table, end) != TAL_OK) {
        code = cli_fail_status(args, CLI_FAILED, TAL_ERR_NO_MEMORY);
    } else {
        code = why != NULL ? result_write_part(args, table, why) : result_write(args, table);
    }
    const bool is_there = code == CLI_OK || (why != NULL && code == CLI_FAILED);
    if (is_there && report_is_wanted(args)) {
        if (stream_out_path(args) != NULL) {
            report_run(args, run, table, end);
        } else if (end != NULL) {
            fprintf(stderr, "talus simulate: ended by %s\n", end);
        }
    }
    free(why);
    free(end);
    return code;
}

// An interrupted run that can be resumed writes no table: what it has is kept.
static bool is_kept(const recording *it, tal_status st)
{
    return st == TAL_OK && it->run->was_stopped && it->save.path != NULL && !it->save.cannot;
}

// Fill the table and write it. An exit code.
static int record(const cli_args *args, recording *it, const schedule *s)
{
    cli_run *const run = it->run;
    progress told;
    progress_begin(&told, args, "s", true, tal_state_t(run->state), s->end);
    run->end = s->end;
    run->proceed = proceed;
    run->context = &told; // cppcheck-suppress autoVariables ; taken back below
    const int num = args->only_rows > 0 && args->only_rows < s->num ? args->only_rows : s->num;
    const tal_status st = recording_go(it, s, num);
    progress_end(&told, tal_state_t(run->state));
    run->proceed = NULL;
    run->context = NULL;
    if (is_kept(it, st)) {
        return cli_fail(args, CLI_FAILED, "interrupted at t = %.6g; the same command goes on.",
                        tal_state_t(run->state));
    }
    const int code = write_run(args, run, st, it->table);
    const bool is_advised =
        st == TAL_OK && run->pile == NULL && run->fixed == NULL && !cli_flag(args, "quiet");
    if (is_advised) advice_of_stability(args, run, s->start);
    recording_end(it, true);
    return code;
}

// Run through time, write the rows, and say what could be better.
static int simulate(const cli_args *args, const cli_model *model, cli_run *run, const schedule *s,
                    const cli_columns *columns)
{
    tal_table *table = NULL;
    int code = make_table(args, model, columns, &table);
    if (code != CLI_OK) return code;
    recording it;
    code = recording_begin(&it, args, run, columns, table);
    if (code == CLI_OK) code = record(args, &it, s);
    recording_end(&it, false);
    tal_table_destroy(table);
    return code;
}

// What takes the steps.
typedef struct stepping {
    bool is_contact, is_fixed;
    tal_fixed_stepper_def fixed;
} stepping;

static const char *name_of_formulation(const void *context, int i)
{
    (void)context;
    return tal_formulation_name((tal_formulation)i);
}

static const char *name_of_scheme(const void *context, int i)
{
    (void)context;
    return tal_scheme_name((tal_scheme)i);
}

// A name that does not exist, with one that may have been meant.
static int refuse_name(const cli_args *args, const char *option, const char *name,
                       const char *(*names)(const void *context, int i))
{
    const char *const meant = tal_did_you_mean(name, names, NULL);
    return cli_fail(args, CLI_USAGE, "there is no --%s '%s'%s%s%s.", option, name,
                    meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                    meant != NULL ? "'?)" : "");
}

// A formulation, and the scheme that --stepper names or that goes with it; an exit code.
static int choose_formulation(const cli_args *args, const char *formulation, const char *stepper,
                              double step, tal_fixed_stepper_def *def)
{
    *def = tal_fixed_stepper_def_default();
    if (!tal_formulation_find(formulation, &def->formulation)) {
        return refuse_name(args, "formulation", formulation, name_of_formulation);
    }
    def->scheme = tal_formulation_usual_scheme(def->formulation);
    if (strcmp(stepper, "integrator") != 0 && !tal_scheme_find(stepper, &def->scheme)) {
        return refuse_name(args, "stepper", stepper, name_of_scheme);
    }
    if (step > 0.0) def->step = step;
    def->ignores_colliders = true; // with a warning
    return CLI_OK;
}

// What --stepper and --formulation ask for; an exit code.
static int choose_stepper(const cli_args *args, double step, stepping *out)
{
    const char *const stepper = cli_text(args, "stepper");
    const char *const formulation = cli_text(args, "formulation");
    *out =
        (stepping){.is_contact = strcmp(stepper, "contact") == 0, .is_fixed = formulation != NULL};
    if (out->is_fixed) return choose_formulation(args, formulation, stepper, step, &out->fixed);
    if (out->is_contact || strcmp(stepper, "integrator") == 0) return CLI_OK;
    tal_scheme scheme;
    if (tal_scheme_find(stepper, &scheme)) {
        return cli_fail(args, CLI_USAGE, "--stepper %s needs a --formulation, such as hybrid.",
                        stepper);
    }
    return cli_fail(args, CLI_USAGE, "--stepper is integrator or contact, not '%s'.", stepper);
}

// Read the model, step it by the stepper that was asked for, write what came of it.
static int run(const cli_args *args)
{
    stepping by = {0};
    cli_model model;
    schedule s = {0};
    cli_columns columns = {0};
    cli_run run = {0};
    touches diary = {0};
    tal_integrator_def def;
    int code = cli_integrator_def(args, &def);
    if (code == CLI_OK) code = choose_stepper(args, def.fixed_step, &by);
    if (code == CLI_OK) code = result_check_out(args, false);
    if (code != CLI_OK) return code;
    code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK) code = make_schedule(args, &model, &s);
    if (code == CLI_OK) {
        code = columns_choose(args, &model, cli_text(args, "columns"), true, &columns);
    }
    if (code == CLI_OK) code = cli_run_create(args, &model, &def, &run);
    if (code == CLI_OK && by.is_fixed) code = cli_run_use_fixed(args, &run, &by.fixed);
    if (code == CLI_OK && by.is_contact) code = cli_run_use_contacts(args, &run, def.fixed_step);
    if (code == CLI_OK && !by.is_contact) cli_run_warn_of_colliders(args, &model);
    if (code == CLI_OK) code = touches_begin(&diary, args, &model);
    run.diary = &diary;
    if (code == CLI_OK) code = simulate(args, &model, &run, &s, &columns);
    const int listed = touches_end(&diary, args);
    if (code == CLI_OK) code = listed;
    cli_run_destroy(&run);
    columns_destroy(&columns);
    cli_model_destroy(&model);
    return code;
}

static const cli_option options[] = {
    {.name = "end",
     .letter = 'e',
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .initial = "10",
     .help = "final time",
     .is_setting = true},
    {.name = "every",
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .initial = "0",
     .help =
         "time between rows of the result; 0: a row for each step, but not more than 1000 rows and not fewer than 200",
     .is_setting = true},
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .initial = "q,u,z,measures,energy,bath,errors",
     .help = "what to write: these groups, or single columns by name, separated by commas",
     .is_setting = true},
    {.name = "step",
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .initial = "0",
     .help =
         "fixed step size, without error control; 0: variable steps with error control, or the interval of a Langevin bath",
     .is_setting = true},
    {.name = "events",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help =
         "list what unilateral elements do in this file, as comma-separated values: time, element, kind (impact, closes, opens, sticks, slips), speeds before and after an impact, its normal impulse, and that of friction in two directions"},
    {.name = "stepper",
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "integrator",
     .help =
         "integrator: the method of --integrator; contact: steps of --step (0: 1 ms) that keep "
         "<colliders> from penetrating each other; with --formulation: trapezoid, newmark, hht, "
         "generalized-alpha, predictor-corrector, predictor, heun, semi-explicit-euler, "
         "energy-momentum",
     .is_setting = true},
    {.name = "formulation",
     .kind = CLI_TEXT,
     .value = "NAME",
     .help = "steps of --step (0: 10 ms) for real time instead of an integrator: hybrid, "
             "semi-recursive, fully-recursive, global, welch, baumgarte",
     .is_setting = true},
    {0}};

const cli_command cmd_simulate = {
    .name = "simulate",
    .group = CLI_STUDIES,
    .files = "MODEL",
    .min_files = 1,
    .max_files = 1,
    .summary = "step a model through time",
    .about =
        "Without -o the table is written to standard output, as .sto. The header of the result has the "
        "version, the set of kernels, a hash of the model and every setting, so that talus rerun can "
        "repeat the run. Ctrl-C ends the run; the rows computed so far are written and marked as "
        "incomplete.",
    .common = MOTION_OPTIONS | CLI_RESULT | CLI_RESUME,
    .options = options,
    .example = "talus simulate pendulum.talus --end 5 -o swing.sto",
    .example_help = "five seconds, a hundred rows",
    .run = run};
