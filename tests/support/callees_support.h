// A model in which every function of the user's can fail, and the harness that lets each call of a
// study fail. Included by a test program.
//
// Every study runs once undisturbed, and the calls of all these functions are counted. Then it runs
// once for each of the calls, and that call fails. The study hands the status on, has a sentence,
// leaves the State as its header says, and answers as before when it is asked again. Some studies
// try something else when a call fails (differences with another step): these must not succeed when
// all later calls fail as well.
#ifndef TALUS_CALLEES_SUPPORT_H
#define TALUS_CALLEES_SUPPORT_H

#include "failing.h"
#include "stepper_model.h"

#include <math.h>
#include <stdio.h>

// --- what fails ---

static inline tal_status apply(const void *self, const tal_force_context *context,
                               tal_spatial_vec F[], double f[])
{
    (void)self, (void)F;
    const double *u = tal_state_u(context->state);
    f[0] -= 0.1 * u[0];
    return may_fail(__func__);
}

static const tal_force_ops force_ops = {
    .size = sizeof force_ops, .name = "test force", .apply = apply};

// One coordinate is twice another.
static inline tal_status calc_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    perr[0] = arg->q[0] - 2.0 * arg->q[1];
    return may_fail(__func__);
}

static inline tal_status calc_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    verr[0] = arg->u[0] - 2.0 * arg->u[1];
    return may_fail(__func__);
}

static inline tal_status calc_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = arg->udot[0] - 2.0 * arg->udot[1];
    return may_fail(__func__);
}

static inline tal_status add_forces(const void *self, const tal_constraint_arg *arg,
                                    const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)arg, (void)F;
    f[0] += lambda[0];
    f[1] -= 2.0 * lambda[0];
    return may_fail(__func__);
}

static const tal_constraint_ops twice_ops = {.size = sizeof twice_ops,
                                             .name = "twice",
                                             .mp = 1,
                                             .num_mobilities = 2,
                                             .calc_p = calc_p,
                                             .calc_v = calc_v,
                                             .calc_a = calc_a,
                                             .add_forces = add_forces};

// q^3 - 3 q - 4 = 0, from q = -1: errors grow all around, and the root is at 2.2.
static inline tal_status calc_bent_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    const double q = arg->q[0];
    perr[0] = q * q * q - 3.0 * q - 4.0;
    return may_fail(__func__);
}

static inline tal_status calc_bent_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    verr[0] = 3.0 * (arg->q[0] * arg->q[0] - 1.0) * arg->u[0];
    return may_fail(__func__);
}

static inline tal_status calc_bent_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    const double q = arg->q[0], u = arg->u[0];
    aerr[0] = 3.0 * (q * q - 1.0) * arg->udot[0] + 6.0 * q * u * u;
    return may_fail(__func__);
}

static inline tal_status add_bent_forces(const void *self, const tal_constraint_arg *arg,
                                         const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)F;
    f[0] += 3.0 * (arg->q[0] * arg->q[0] - 1.0) * lambda[0];
    return may_fail(__func__);
}

static const tal_constraint_ops bent_ops = {.size = sizeof bent_ops,
                                            .name = "bent",
                                            .mp = 1,
                                            .num_mobilities = 1,
                                            .calc_p = calc_bent_p,
                                            .calc_v = calc_bent_v,
                                            .calc_a = calc_bent_a,
                                            .add_forces = add_bent_forces};

static inline tal_status calc_motion(const void *self, const tal_motion_arg *arg, int order,
                                     double out[])
{
    (void)self;
    const double t = arg->t;
    out[0] = order == 0 ? 0.2 * sin(t) : order == 1 ? 0.2 * cos(t) : -0.2 * sin(t);
    return may_fail(__func__);
}

static const tal_motion_ops motion_ops = {
    .size = sizeof motion_ops, .name = "test motion", .calc = calc_motion};

static inline tal_status calc_measure(const void *self, const tal_system *system, tal_state *state,
                                      int order, int n, double value[])
{
    (void)self, (void)system, (void)order, (void)n;
    value[0] = tal_state_q(state)[0];
    return may_fail(__func__);
}

static inline void needs_position(const void *self, const tal_system *system, int order,
                                  tal_measure_needs *needs)
{
    (void)self, (void)system, (void)order;
    tal_measure_needs_stage(needs, TAL_STAGE_POSITION);
}

static const tal_measure_ops measure_ops = {.size = sizeof measure_ops,
                                            .name = "test measure",
                                            .calc = calc_measure,
                                            .needs = needs_position};

// --- events ---

static inline tal_status witness(void *context, const tal_system *system, tal_state *state,
                                 double *value)
{
    (void)context, (void)system;
    *value = tal_state_q(state)[0] + 0.35;
    return may_fail(__func__);
}

static inline tal_status rate(void *context, const tal_system *system, tal_state *state,
                              double *value)
{
    (void)context, (void)system;
    *value = tal_state_u(state)[0];
    return may_fail(__func__);
}

static inline tal_status handle(void *context, const tal_system *system, tal_state *state,
                                tal_event_cause cause, bool *terminate)
{
    (void)context, (void)system, (void)state, (void)cause, (void)terminate;
    return may_fail(__func__);
}

static inline tal_status report(void *context, const tal_system *system, tal_state *state,
                                tal_event_cause cause)
{
    (void)context, (void)cause;
    const tal_status st = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
    return st == TAL_OK ? may_fail(__func__) : st;
}

static inline void add_events(tal_events *events)
{
    tal_happening it = tal_happening_default();
    it.name = "crossing";
    it.handle = handle;
    it.witness = witness;
    it.rate = rate;
    (void)tal_events_add(events, &it);
    it = tal_happening_default();
    it.name = "bell";
    it.handle = handle;
    it.period = 0.07;
    (void)tal_events_add(events, &it);
    it = tal_happening_default();
    it.name = "news";
    it.report = report;
    it.period = 0.03;
    (void)tal_events_add(events, &it);
}

// --- the model ---

typedef struct model {
    stepper_model m;
    tal_state *start, *scratch;
    tal_measure_ix measure;
    tal_integrator_def method;
    void *study;
} model;

enum {
    CRANK = 1,
    COUPLER,
    ROCKER,
    LEFT,
    RIGHT,
    DRIVEN,
    TOP
};

static inline tal_body_ix add_link(model *it, tal_body_ix parent, double x, double length)
{
    tal_mobod_def def = tal_mobod_def_default();
    const tal_xform middle = tal_xf_from_p(tal_v3(0.5 * length, 0.0, 0.0));
    const tal_mass_props rod = tal_mass_props_rod(1.0, middle.p);
    def.mass = tal_mass_props_transform(&middle, &rod);
    def.X_PF.p = tal_v3(x, 0.0, 0.0);
    return tal_matter_add_pin(it->m.matter, parent, &def);
}

static inline void add_sick_constraint(model *it, tal_body_ix left, tal_body_ix right)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.name = "sick constraint";
    def.mobilities[0] = (tal_mobility){left, 0};
    def.mobilities[1] = (tal_mobility){right, 0};
    (void)tal_matter_add_constraint(it->m.matter, &def, &twice_ops, NULL, NULL);
}

static inline void add_sick_motion(model *it, tal_body_ix body)
{
    tal_motion_def def = tal_motion_def_default();
    def.name = "sick motion";
    def.body = body;
    def.level = TAL_LEVEL_POSITION;
    (void)tal_matter_add_motion(it->m.matter, &def, &motion_ops, NULL, NULL);
}

// A four-bar closed by a ball; two pins of which one turns twice as far; one that is driven. A top
// in the runs.
static inline void build(model *it, const tal_integrator_def *def, bool has_top)
{
    fault.fails_at = 0;
    *it = (model){.m = begin_stepper_model(9.81)};
    stepper_model *m = &it->m;
    const tal_body_ix crank = add_link(it, TAL_GROUND, 0.0, 1.0);
    const tal_body_ix coupler = add_link(it, crank, 1.0, 2.0);
    const tal_body_ix rocker = add_link(it, TAL_GROUND, 2.0, 2.0);
    const tal_body_ix left = add_link(it, TAL_GROUND, 0.0, 0.5);
    const tal_body_ix right = add_link(it, TAL_GROUND, 0.5, 0.5);
    const tal_body_ix driven = add_link(it, TAL_GROUND, 1.0, 0.5);
    if (has_top) (void)add_top(m);
    const tal_constraint_def tie = tal_constraint_between(coupler, rocker);
    (void)tal_constraint_add_ball(m->matter, &tie, tal_v3(2.0, 0.0, 0.0), tal_v3(2.0, 0.0, 0.0));
    add_sick_constraint(it, left, right);
    add_sick_motion(it, driven);
    (void)tal_forces_add(m->forces, "sick force", &force_ops, NULL);
    const tal_mobility swing = {left, 0};
    (void)tal_forces_add_mobility_spring(m->forces, "spring", swing, 3.0, 0.0);
    tal_measure_def measure = tal_measure_def_default();
    measure.name = "sick measure";
    measure.size = 1;
    it->measure =
        tal_system_add_measure(m->system, tal_matter_subsystem(m->matter), &measure_ops, &measure);
    add_events(m->events);
    finish_stepper_model(m, def, NULL);
    tal_error err = {0};
    ck_assert_int_eq(tal_state_create(m->system, &it->start, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(m->system, &it->scratch, &err), TAL_OK);
    const double q[] = {-0.3, 0.9, 0.6, 0.4, 0.3, 0.1, 0.8, 0.6, 0.0, 0.0};
    ck_assert_int_eq(tal_system_realize(m->system, it->start, TAL_STAGE_MODEL), TAL_OK);
    ck_assert_int_eq(tal_state_set_q(it->start, q, tal_state_nq(it->start)), TAL_OK);
}

static inline void end(model *it)
{
    tal_state_destroy(it->start);
    tal_state_destroy(it->scratch);
    end_stepper_model(&it->m);
}

// The start meets its constraints.
static inline void assemble_start(model *it)
{
    tal_assembler *assembler = NULL;
    ck_assert_int_eq(tal_assembler_create(it->m.system, NULL, &assembler, NULL), TAL_OK);
    ck_assert_msg(tal_assembler_assemble(assembler, it->start, NULL) == TAL_OK, "%s",
                  tal_assembler_error(assembler)->message);
    ck_assert_int_eq(tal_assembler_assemble_u(assembler, NULL, NULL, it->start, NULL), TAL_OK);
    tal_assembler_destroy(assembler);
}

// --- the harness ---

enum {
    MOST_RESULTS = 4000
};

typedef struct results {
    int n;
    double values[MOST_RESULTS];
} results;

static inline void add_results(results *to, const double values[], int n)
{
    ck_assert_int_le(to->n + n, MOST_RESULTS);
    memcpy(to->values + to->n, values, (size_t)n * sizeof *values);
    to->n += n;
}

typedef struct job {
    const char *name;
    tal_status (*run)(model *it, tal_state *state, results *found);
    const tal_error *(*error)(const model *it);
    void (*check_state)(const model *it, const tal_state *state, const char *story); // on failure
    bool recovers;      // a call that fails once need not be the end
    tal_status or_else; // how it may end when what it tries instead does not help
} job;

static results found, again;

// One run from the start, in which a call fails.
static inline tal_status run_with_fault(model *it, const job *task, long fails_at, bool stays,
                                        results *out)
{
    ck_assert_int_eq(tal_state_copy(it->m.state, it->start), TAL_OK);
    out->n = 0;
    fault_begin(fails_at, stays);
    const tal_status st = task->run(it, it->m.state, out);
    fault.fails_at = 0;
    return st;
}

// A study that goes on with the next row has the status with the row, and no sentence.
static const tal_error in_a_row = {TAL_ERR_CALLBACK, "", "see the row"};

static inline void assert_fails_well(model *it, const job *task, long n, bool stays)
{
    char story[160];
    const tal_status st = run_with_fault(it, task, n, stays, &again);
    snprintf(story, sizeof story, "%s: call %ld, of %s, fails%s", task->name, n, fault.first,
             stays ? " for good" : "");
    ck_assert_msg(fault.calls >= n, "%s: it is not made", story);
    if (st != TAL_OK) {
        ck_assert_msg(st == TAL_ERR_CALLBACK || (st == task->or_else && !stays), "%s: %s", story,
                      tal_status_name(st));
        const tal_error *error = task->error != NULL ? task->error(it) : &in_a_row;
        ck_assert_msg(error->status == st && strlen(error->message) > 0,
                      "%s: the record has %s '%s'", story, tal_status_name(error->status),
                      error->message);
        if (task->check_state != NULL) task->check_state(it, it->m.state, story);
    } else {
        ck_assert_msg(task->recovers && !stays, "%s: nobody is told", story);
    }
}

static inline void assert_answers_as_before(model *it, const job *task, long n)
{
    ck_assert_int_eq(run_with_fault(it, task, 0, false, &again), TAL_OK);
    ck_assert_int_eq(again.n, found.n);
    for (int i = 0; i < found.n; ++i) {
        ck_assert_msg(memcmp(&again.values[i], &found.values[i], sizeof(double)) == 0,
                      "%s: after call %ld had failed, result %d is %.17g, was %.17g", task->name, n,
                      i, again.values[i], found.values[i]);
    }
}

// Every call of the first hundred; of more, one in so many.
static inline void fail_at_every_call(model *it, const job *task)
{
    const tal_status st = run_with_fault(it, task, 0, false, &found);
    ck_assert_msg(st == TAL_OK, "%s: %s", task->name,
                  task->error != NULL ? task->error(it)->message : tal_status_name(st));
    const long calls = fault.calls;
    ck_assert_msg(calls > 0, "%s calls nothing", task->name);
    const long stride = calls < 400 ? 1 : 1 + calls / 150;
    for (long n = 1; n <= calls; n += n < 100 ? 1 : stride) {
        assert_fails_well(it, task, n, false);
        if (n % 16 == 1) assert_answers_as_before(it, task, n);
        assert_fails_well(it, task, n, true);
    }
    assert_fails_well(it, task, calls, true);
    assert_answers_as_before(it, task, calls);
}

// --- what is left of the State ---

static inline void keeps_everything(const model *it, const tal_state *state, const char *story)
{
    ck_assert_msg(tal_state_is_equal(state, it->start), "%s: the State has changed", story);
}

static inline void keeps_q(const model *it, const tal_state *state, const char *story)
{
    const size_t bytes = (size_t)tal_state_nq(state) * sizeof(double);
    ck_assert_msg(memcmp(tal_state_q(state), tal_state_q(it->start), bytes) == 0,
                  "%s: q has changed", story);
}

#endif
