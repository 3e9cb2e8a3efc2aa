// Functions of the user's that fail inside a study: a force, a constraint, a motion, a measure, a
// goal, a witness, a handler, a reporter, whatever the study calls.
//
// Every study runs once undisturbed, and the calls of all these functions are counted. Then it runs
// once for each of the calls, and that call fails. The study hands the status on, has a sentence,
// leaves the State as its header says, and answers as before when it is asked again. Some studies
// try something else when a call fails (differences with another step): these must not succeed when
// all later calls fail as well.
#include "failing.h"
#include "stepper_model.h"

#include <math.h>
#include <stdio.h>

// --- what fails ---

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)self, (void)F;
    const double *u = tal_state_u(context->state);
    f[0] -= 0.1 * u[0];
    return may_fail(__func__);
}

static const tal_force_ops force_ops = {
    .size = sizeof force_ops, .name = "test force", .apply = apply};

// One coordinate is twice another.
static tal_status calc_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    perr[0] = arg->q[0] - 2.0 * arg->q[1];
    return may_fail(__func__);
}

static tal_status calc_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    verr[0] = arg->u[0] - 2.0 * arg->u[1];
    return may_fail(__func__);
}

static tal_status calc_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = arg->udot[0] - 2.0 * arg->udot[1];
    return may_fail(__func__);
}

static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
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
static tal_status calc_bent_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    const double q = arg->q[0];
    perr[0] = q * q * q - 3.0 * q - 4.0;
    return may_fail(__func__);
}

static tal_status calc_bent_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    verr[0] = 3.0 * (arg->q[0] * arg->q[0] - 1.0) * arg->u[0];
    return may_fail(__func__);
}

static tal_status calc_bent_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    const double q = arg->q[0], u = arg->u[0];
    aerr[0] = 3.0 * (q * q - 1.0) * arg->udot[0] + 6.0 * q * u * u;
    return may_fail(__func__);
}

static tal_status add_bent_forces(const void *self, const tal_constraint_arg *arg,
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

static tal_status calc_motion(const void *self, const tal_motion_arg *arg, int order, double out[])
{
    (void)self;
    const double t = arg->t;
    out[0] = order == 0 ? 0.2 * sin(t) : order == 1 ? 0.2 * cos(t) : -0.2 * sin(t);
    return may_fail(__func__);
}

static const tal_motion_ops motion_ops = {
    .size = sizeof motion_ops, .name = "test motion", .calc = calc_motion};

static tal_status calc_measure(const void *self, const tal_system *system, tal_state *state,
                               int order, int n, double value[])
{
    (void)self, (void)system, (void)order, (void)n;
    value[0] = tal_state_q(state)[0];
    return may_fail(__func__);
}

static void needs_position(const void *self, const tal_system *system, int order,
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

static tal_status witness(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)context, (void)system;
    *value = tal_state_q(state)[0] + 0.35;
    return may_fail(__func__);
}

static tal_status rate(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)context, (void)system;
    *value = tal_state_u(state)[0];
    return may_fail(__func__);
}

static tal_status handle(void *context, const tal_system *system, tal_state *state,
                         tal_event_cause cause, bool *terminate)
{
    (void)context, (void)system, (void)state, (void)cause, (void)terminate;
    return may_fail(__func__);
}

static tal_status report(void *context, const tal_system *system, tal_state *state,
                         tal_event_cause cause)
{
    (void)context, (void)cause;
    const tal_status st = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
    return st == TAL_OK ? may_fail(__func__) : st;
}

static void add_events(tal_events *events)
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

static tal_body_ix add_link(model *it, tal_body_ix parent, double x, double length)
{
    tal_mobod_def def = tal_mobod_def_default();
    const tal_xform middle = tal_xf_from_p(tal_v3(0.5 * length, 0.0, 0.0));
    const tal_mass_props rod = tal_mass_props_rod(1.0, middle.p);
    def.mass = tal_mass_props_transform(&middle, &rod);
    def.X_PF.p = tal_v3(x, 0.0, 0.0);
    return tal_matter_add_pin(it->m.matter, parent, &def);
}

static void add_sick_constraint(model *it, tal_body_ix left, tal_body_ix right)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.name = "sick constraint";
    def.mobilities[0] = (tal_mobility){left, 0};
    def.mobilities[1] = (tal_mobility){right, 0};
    (void)tal_matter_add_constraint(it->m.matter, &def, &twice_ops, NULL, NULL);
}

static void add_sick_motion(model *it, tal_body_ix body)
{
    tal_motion_def def = tal_motion_def_default();
    def.name = "sick motion";
    def.body = body;
    def.level = TAL_LEVEL_POSITION;
    (void)tal_matter_add_motion(it->m.matter, &def, &motion_ops, NULL, NULL);
}

// A four-bar closed by a ball; two pins of which one turns twice as far; one that is driven. A top
// in the runs.
static void build(model *it, const tal_integrator_def *def, bool has_top)
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

static void end(model *it)
{
    tal_state_destroy(it->start);
    tal_state_destroy(it->scratch);
    end_stepper_model(&it->m);
}

// The start meets its constraints.
static void assemble_start(model *it)
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

static void add_results(results *to, const double values[], int n)
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
static tal_status run_with_fault(model *it, const job *task, long fails_at, bool stays,
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

static void assert_fails_well(model *it, const job *task, long n, bool stays)
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

static void assert_answers_as_before(model *it, const job *task, long n)
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
static void fail_at_every_call(model *it, const job *task)
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

static void keeps_everything(const model *it, const tal_state *state, const char *story)
{
    ck_assert_msg(tal_state_is_equal(state, it->start), "%s: the State has changed", story);
}

static void keeps_q(const model *it, const tal_state *state, const char *story)
{
    const size_t bytes = (size_t)tal_state_nq(state) * sizeof(double);
    ck_assert_msg(memcmp(tal_state_q(state), tal_state_q(it->start), bytes) == 0,
                  "%s: q has changed", story);
}

// --- assembly ---

static tal_status calc_goal(const void *self, const tal_system *system, tal_state *state,
                            double r[], const tal_matrix *J)
{
    (void)self, (void)system;
    r[0] = tal_state_q(state)[LEFT - 1] - 0.5;
    if (J != NULL) {
        for (int j = 0; j < J->cols; ++j) {
            J->data[j * J->ld] = j == LEFT - 1 ? 1.0 : 0.0;
        }
    }
    return may_fail(__func__);
}

static const tal_error *assembler_error(const model *it)
{
    return tal_assembler_error(it->study);
}

// Without markers they are not looked at.
static tal_status look(model *it)
{
    const tal_vec3 seen = {0.3, 0.1, 0.0};
    return tal_assembler_observe(it->study, &seen, NULL);
}

static tal_status run_assemble(model *it, tal_state *state, results *out)
{
    tal_status st = look(it);
    if (st == TAL_OK) st = tal_assembler_assemble(it->study, state, NULL);
    add_results(out, tal_state_q(state), tal_state_nq(state));
    return st;
}

static tal_status run_fit(model *it, tal_state *state, results *out)
{
    tal_status st = look(it);
    if (st == TAL_OK) st = tal_assembler_fit(it->study, state, NULL);
    add_results(out, tal_state_q(state), tal_state_nq(state));
    return st;
}

static tal_status run_assemble_u(model *it, tal_state *state, results *out)
{
    const tal_vec3 velocity = {0.1, 0.2, 0.0};
    const tal_status st = tal_assembler_assemble_u(it->study, &velocity, NULL, state, NULL);
    add_results(out, tal_state_u(state), tal_state_nu(state));
    return st;
}

static tal_assembler_def assembler_def(void)
{
    static const tal_marker marker = {"tip", {LEFT}, {0.5, 0.0, 0.0}, 1.0};
    static const tal_coordinate_goal lean = {{CRANK}, 0, -0.5, 0.3};
    static const tal_goal own = {"sick goal", 1, 0.5, NULL, calc_goal};
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = &marker;
    def.num_markers = 1;
    def.coordinates = &lean;
    def.num_coordinates = 1;
    def.goals = &own;
    def.num_goals = 1;
    return def;
}

START_TEST(an_assembler_hands_failures_on)
{
    model it;
    build(&it, NULL, false);
    const tal_assembler_def def = assembler_def();
    tal_assembler *assembler = NULL;
    ck_assert_int_eq(tal_assembler_create(it.m.system, &def, &assembler, NULL), TAL_OK);
    it.study = assembler;
    const job searches[] = {
        {"assemble", run_assemble, assembler_error, keeps_q, false, TAL_OK},
        {"fit", run_fit, assembler_error, keeps_q, false, TAL_OK},
    };
    fail_at_every_call(&it, &searches[0]);
    fail_at_every_call(&it, &searches[1]);
    assemble_start(&it);
    const job speeds = {"assemble_u",     run_assemble_u, assembler_error,
                        keeps_everything, false,          TAL_OK};
    fail_at_every_call(&it, &speeds);
    tal_assembler_destroy(assembler);
    end(&it);
}

END_TEST

// From where the constraints cannot be met at once: pieces, then random starts.
START_TEST(an_assembler_that_has_to_search_far_hands_failures_on)
{
    fault.fails_at = 0;
    model it = {.m = begin_stepper_model(9.81)};
    const tal_constraint_def bent = tal_constraint_on(add_link(&it, TAL_GROUND, 0.0, 1.0), 0);
    (void)tal_matter_add_constraint(it.m.matter, &bent, &bent_ops, NULL, NULL);
    finish_stepper_model(&it.m, NULL, NULL);
    ck_assert_int_eq(tal_state_create(it.m.system, &it.start, NULL), TAL_OK);
    const double q = -1.0;
    ck_assert_int_eq(tal_state_set_q(it.start, &q, 1), TAL_OK);
    tal_assembler *assembler = NULL;
    ck_assert_int_eq(tal_assembler_create(it.m.system, NULL, &assembler, NULL), TAL_OK);
    it.study = assembler;
    tal_assembly how;
    ck_assert_int_eq(tal_state_copy(it.m.state, it.start), TAL_OK);
    ck_assert_int_eq(tal_assembler_assemble(assembler, it.m.state, &how), TAL_OK);
    ck_assert_int_gt(how.restarts, 1);
    const job far = {"assemble from far", run_assemble, assembler_error, keeps_q, false, TAL_OK};
    fail_at_every_call(&it, &far);
    tal_assembler_destroy(assembler);
    end(&it);
}

END_TEST

static tal_status run_tracker(model *it, tal_state *state, results *out)
{
    enum {
        NUM = 3
    };

    const tal_vec3 seen[NUM] = {{0.4, 0.2, 0.0}, {0.38, 0.22, 0.0}, {0.36, 0.24, 0.0}};
    const double times[NUM] = {0.0, 0.1, 0.2};
    const tal_frames frames = {NUM, times, seen, NULL, NULL};
    double q[NUM][8] = {{0.0}};
    tal_fit fits[NUM];
    const tal_status st = tal_tracker_run(it->study, state, &frames, &q[0][0], fits);
    add_results(out, &q[0][0], NUM * tal_state_nq(state));
    if (st != TAL_OK) return st;
    for (int k = 0; k < NUM; ++k) {
        if (fits[k].status != TAL_OK) return fits[k].status;
    }
    return TAL_OK;
}

START_TEST(a_tracker_hands_failures_on)
{
    model it;
    build(&it, NULL, false);
    tal_tracker_def def = tal_tracker_def_default();
    def.assembler = assembler_def();
    def.assembler.max_restarts = 2;
    def.chunk = 2;
    tal_tracker *tracker = NULL;
    ck_assert_int_eq(tal_tracker_create(it.m.system, &def, &tracker, NULL), TAL_OK);
    it.study = tracker;
    const job track = {"track", run_tracker, NULL, keeps_everything, false, TAL_OK};
    fail_at_every_call(&it, &track);
    tal_tracker_destroy(tracker);
    end(&it);
}

END_TEST

// --- equilibrium and linearization ---

static const tal_error *equilibrium_error(const model *it)
{
    return tal_equilibrium_error(it->study);
}

static tal_status run_equilibrium(model *it, tal_state *state, results *out)
{
    tal_rest rest = {0};
    const tal_status st = tal_equilibrium_find(it->study, state, &rest);
    add_results(out, tal_state_q(state), tal_state_nq(state));
    add_results(out, &rest.udot, 1);
    return st;
}

static tal_status run_statics(model *it, tal_state *state, results *out)
{
    const bool actuated[8] = {true, false, false, true, true, true};
    double tau[8] = {0.0};
    const tal_status st = tal_equilibrium_inverse_statics(it->study, state, actuated, tau, NULL);
    add_results(out, tau, tal_state_nu(state));
    return st;
}

START_TEST(an_equilibrium_hands_failures_on)
{
    for (int kind = TAL_EQUILIBRIUM_STABLE; kind <= TAL_EQUILIBRIUM_ANY; ++kind) {
        model it;
        build(&it, NULL, false);
        assemble_start(&it);
        tal_equilibrium_def def = tal_equilibrium_def_default();
        def.kind = (tal_equilibrium_kind)kind;
        tal_equilibrium *eq = NULL;
        ck_assert_int_eq(tal_equilibrium_create(it.m.system, &def, &eq, NULL), TAL_OK);
        it.study = eq;
        const job find = {"find", run_equilibrium,       equilibrium_error, keeps_everything,
                          true,   TAL_ERR_NO_CONVERGENCE};
        fail_at_every_call(&it, &find);
        const job statics = {"statics",        run_statics, equilibrium_error,
                             keeps_everything, false,       TAL_OK};
        fail_at_every_call(&it, &statics);
        tal_equilibrium_destroy(eq);
        end(&it);
    }
}

END_TEST

static const tal_error *linearizer_error(const model *it)
{
    return tal_linearizer_error(it->study);
}

static tal_status run_linearizer(model *it, tal_state *state, results *out)
{
    const tal_status st = tal_linearizer_run(it->study, state);
    if (st != TAL_OK) return st;
    const tal_matrix A = tal_linearizer_A(it->study), B = tal_linearizer_B(it->study);
    add_results(out, A.data, A.rows * A.cols);
    add_results(out, B.data, B.rows * B.cols);
    return TAL_OK;
}

START_TEST(a_linearizer_hands_failures_on)
{
    model it;
    build(&it, NULL, false);
    assemble_start(&it);
    tal_linearizer *lin = NULL;
    ck_assert_int_eq(tal_linearizer_create(it.m.system, NULL, &lin, NULL), TAL_OK);
    it.study = lin;
    const job run = {"linearize", run_linearizer, linearizer_error, keeps_everything, true, TAL_OK};
    fail_at_every_call(&it, &run);
    tal_linearizer_destroy(lin);
    end(&it);
}

END_TEST

// --- ensembles ---

static tal_status set_angle(const tal_parameter *self, const tal_system *system, tal_state *state,
                            double value)
{
    (void)self, (void)system;
    tal_state_upd_u(state)[TOP - 1] = value;
    return may_fail(__func__);
}

static const tal_error *ensemble_error(const model *it)
{
    return tal_ensemble_error(it->study);
}

static tal_status run_ensemble(model *it, tal_state *state, results *out)
{
    const double values[2] = {0.5, 0.7};
    const tal_design design = tal_design_table(values, 1, 2);
    double heights[2];
    tal_status status[2];
    const tal_status st = tal_ensemble_run(it->study, state, &design, heights, status, NULL);
    add_results(out, heights, 2);
    if (st != TAL_OK) return st;
    for (int k = 0; k < 2; ++k) {
        ck_assert_int_eq(isnan(heights[k]), status[k] != TAL_OK);
    }
    return status[0] != TAL_OK ? status[0] : status[1];
}

START_TEST(an_ensemble_hands_failures_on)
{
    model it;
    build(&it, NULL, true);
    assemble_start(&it);
    const tal_parameter parameter = {"turn", set_angle, NULL, 0, 0};
    tal_ensemble_def def = tal_ensemble_def_default();
    def.parameters = &parameter;
    def.num_parameters = 1;
    def.outputs = &it.measure;
    def.num_outputs = 1;
    def.task = TAL_TASK_INTEGRATE;
    def.end_time = 0.05;
    tal_ensemble *ensemble = NULL;
    ck_assert_int_eq(tal_ensemble_create(it.m.system, &def, &ensemble, NULL), TAL_OK);
    it.study = ensemble;
    const job run = {"ensemble", run_ensemble, ensemble_error, keeps_everything, true, TAL_OK};
    fail_at_every_call(&it, &run);
    tal_ensemble_destroy(ensemble);
    end(&it);
}

END_TEST

// --- runs ---

static const double ACCURACY = 1e-2;
static double good_t, good_y[64];
static bool is_going_back; // within a step: to its start when that fails

static void note_good_step(const tal_state *state)
{
    ck_assert_int_le(tal_state_ny(state), 64);
    good_t = tal_state_t(state);
    memcpy(good_y, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof(double));
}

static bool is_there(const tal_state *state, const double y[])
{
    return memcmp(tal_state_y(state), y, (size_t)tal_state_ny(state) * sizeof *y) == 0;
}

// There, but for what may be projected: constraints are met to a hundredth of the accuracy.
static bool is_about_there(const tal_state *state, const double y[])
{
    double most = 0.0;
    for (int i = 0; i < tal_state_ny(state); ++i) {
        most = fmax(most, fabs(tal_state_y(state)[i] - y[i]));
    }
    return most <= 0.01 * ACCURACY;
}

// A step may be good and what is computed at its end fail: then the State is where the undisturbed
// run was at the end of a step.
static void is_at_last_good_step(const model *it, const tal_state *state, const char *story)
{
    (void)it;
    const int ny = tal_state_ny(state);
    bool found_it = tal_state_t(state) == good_t && is_about_there(state, good_y);
    for (int i = 0; i + ny <= found.n && !found_it && !is_going_back; i += ny) {
        found_it = tal_state_t(state) > good_t && is_there(state, found.values + i);
    }
    ck_assert_msg(found_it, "%s: it stands at t = %g, the last good step ended at %g", story,
                  tal_state_t(state), good_t);
}

static const tal_error *integrator_error(const model *it)
{
    return tal_integrator_error(it->m.integ);
}

static tal_status run_steps(model *it, tal_state *state, results *out)
{
    tal_integrator_reset(it->m.integ);
    is_going_back = false;
    note_good_step(state);
    tal_status st = TAL_OK;
    while (st == TAL_OK && tal_state_t(state) < 0.05) {
        st = tal_integrator_step(it->m.integ, state, 0.05);
        if (st != TAL_OK) break;
        note_good_step(state);
        add_results(out, tal_state_y(state), tal_state_ny(state));
    }
    // and one that is no longer than round-off
    if (st == TAL_OK) st = tal_integrator_step(it->m.integ, state, nextafter(0.05, 1.0));
    if (st == TAL_OK) add_results(out, tal_state_y(state), tal_state_ny(state));
    return st;
}

static tal_integrator_def method_number(int i)
{
    static const tal_method others[] = {TAL_METHOD_CVODE_BDF, TAL_METHOD_IDA,
                                        TAL_METHOD_ARKODE_EXPLICIT, TAL_METHOD_ARKODE_DIRK,
                                        TAL_METHOD_CVODE_BDF};
    if (i < NUM_ONE_STEP_METHODS) return one_step_method(i, ACCURACY);
    tal_integrator_def def = tal_integrator_def_default();
    def.method = others[i - NUM_ONE_STEP_METHODS];
    if (i == NUM_ONE_STEP_METHODS + 4) def.linear_solver = TAL_LINEAR_GMRES;
    def.accuracy = ACCURACY;
    return def;
}

START_TEST(an_integrator_hands_failures_on)
{
    model it;
    tal_integrator_def def = method_number(_i);
    build(&it, &def, true);
    assemble_start(&it);
    char name[40];
    snprintf(name, sizeof name, "method %d", _i);
    const job steps = {name, run_steps, integrator_error, is_at_last_good_step, true, TAL_OK};
    fail_at_every_call(&it, &steps);
    end(&it);
}

END_TEST

// Looking into a step does not change it; going back in it either succeeds or ends at its start.
static tal_status run_inside_steps(model *it, tal_state *state, results *out)
{
    tal_integrator_reset(it->m.integ);
    is_going_back = false;
    note_good_step(state);
    tal_status st = TAL_OK;
    for (int k = 0; k < 2 && st == TAL_OK; ++k) {
        st = tal_integrator_step(it->m.integ, state, 0.05);
        if (st != TAL_OK) break;
        const double t0 = good_t, t1 = tal_state_t(state);
        double y0[64];
        memcpy(y0, good_y, sizeof y0);
        note_good_step(state);
        add_results(out, tal_state_y(state), tal_state_ny(state));
        st = tal_integrator_interpolate(it->m.integ, state, 0.7 * t0 + 0.3 * t1, it->scratch);
        if (st != TAL_OK) break;
        add_results(out, tal_state_y(it->scratch), tal_state_ny(state));
        good_t = t0;
        memcpy(good_y, y0, sizeof y0);
        is_going_back = true;
        st = tal_integrator_back_up(it->m.integ, state, 0.4 * t0 + 0.6 * t1);
        if (st != TAL_OK) break;
        is_going_back = false;
        note_good_step(state);
        add_results(out, tal_state_y(state), tal_state_ny(state));
    }
    return st;
}

START_TEST(looking_into_a_step_hands_failures_on)
{
    model it;
    tal_integrator_def def = method_number(_i);
    build(&it, &def, true);
    assemble_start(&it);
    char name[40];
    snprintf(name, sizeof name, "inside method %d", _i);
    const job steps = {name,  run_inside_steps, integrator_error, is_at_last_good_step, true,
                       TAL_OK};
    fail_at_every_call(&it, &steps);
    end(&it);
}

END_TEST

static const tal_error *stepper_error(const model *it)
{
    return tal_time_stepper_error(it->m.stepper);
}

static tal_status run_with_events(model *it, tal_state *state, results *out)
{
    tal_time_stepper_reset(it->m.stepper);
    tal_outcome outcome = TAL_OUTCOME_STEP;
    tal_status st = TAL_OK;
    while (st == TAL_OK && outcome != TAL_OUTCOME_REACHED_TIME) {
        st = tal_time_stepper_advance(it->m.stepper, state, 0.2, &outcome);
        if (st != TAL_OK) break;
        add_results(out, tal_state_y(state), tal_state_ny(state));
    }
    ck_assert_int_eq(outcome == TAL_OUTCOME_FAILED, st != TAL_OK);
    return st;
}

START_TEST(a_time_stepper_hands_failures_on)
{
    model it;
    tal_integrator_def def = dormand_prince(1e-3);
    build(&it, &def, true);
    assemble_start(&it);
    const job events = {"events", run_with_events, stepper_error, NULL, true, TAL_OK};
    fail_at_every_call(&it, &events);
    end(&it);
}

END_TEST

static const tal_error *recorder_error(const model *it)
{
    return tal_recorder_error(it->study);
}

static double first_coordinate(const void *context, const tal_system *system, tal_state *state)
{
    (void)context, (void)system;
    return tal_state_q(state)[0];
}

static tal_status run_recorder(model *it, tal_state *state, results *out)
{
    tal_integrator_reset(it->m.integ);
    tal_recorder_clear(it->study);
    const double times[] = {0.0, 0.013, 0.02, 0.05};
    const tal_status st = tal_recorder_run(it->study, it->m.integ, state, times, 4);
    for (int i = 0; i < tal_recorder_num_rows(it->study); ++i) {
        const double value = tal_recorder_value(it->study, i, 1);
        add_results(out, &value, 1);
        ck_assert(isfinite(value));
    }
    return st;
}

START_TEST(a_recorder_hands_failures_on)
{
    model it;
    tal_integrator_def def = dormand_prince(1e-3);
    build(&it, &def, true);
    assemble_start(&it);
    const tal_column_def column = {"q", TAL_STAGE_ACCELERATION, first_coordinate, NULL};
    tal_recorder *recorder = NULL;
    ck_assert_int_eq(tal_recorder_create(it.m.system, &column, 1, 4, &recorder, NULL), TAL_OK);
    it.study = recorder;
    const job record = {"record", run_recorder, recorder_error, NULL, true, TAL_OK};
    fail_at_every_call(&it, &record);
    tal_recorder_destroy(recorder);
    end(&it);
}

END_TEST

static const tal_error *equations_error(const model *it)
{
    return tal_equations_error(it->study);
}

// A step of Euler's method with them.
static tal_status run_equations(model *it, tal_state *state, results *out)
{
    double y[64], ydot[64], c[64], error[64];
    tal_equations *eq = it->study;
    tal_status st = tal_equations_begin(eq, state);
    if (st != TAL_OK) return st;
    const int ny = tal_state_ny(state), nc = tal_equations_nc(eq, state);
    memcpy(y, tal_state_y(state), (size_t)ny * sizeof *y);
    st = tal_equations_begin_step(eq, state, 0.0, y);
    if (st == TAL_OK) st = tal_equations_rates(eq, state, 0.0, y, ydot);
    if (st != TAL_OK) return st;
    for (int i = 0; i < ny; ++i) {
        y[i] += 0.01 * ydot[i];
        error[i] = 0.01;
    }
    st = tal_equations_errors(eq, state, 0.01, y, c);
    if (st != TAL_OK) return st;
    add_results(out, c, nc);
    st = tal_equations_project(eq, state, 0.01, y, error);
    add_results(out, y, ny);
    add_results(out, error, ny);
    return st;
}

START_TEST(equations_hand_failures_on)
{
    model it;
    build(&it, NULL, true);
    assemble_start(&it);
    tal_equations *eq = NULL;
    ck_assert_int_eq(tal_equations_create(it.m.system, NULL, &eq, NULL), TAL_OK);
    it.study = eq;
    const job equations = {"equations", run_equations, equations_error, NULL, false, TAL_OK};
    fail_at_every_call(&it, &equations);
    tal_equations_destroy(eq);
    end(&it);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/callees");
    TCase *assembly = tcase_create("assembly");
    tcase_add_test(assembly, an_assembler_hands_failures_on);
    tcase_add_test(assembly, an_assembler_that_has_to_search_far_hands_failures_on);
    tcase_add_test(assembly, a_tracker_hands_failures_on);
    suite_add_tcase(suite, assembly);
    TCase *rest = tcase_create("rest");
    tcase_add_test(rest, an_equilibrium_hands_failures_on);
    tcase_add_test(rest, a_linearizer_hands_failures_on);
    suite_add_tcase(suite, rest);
    TCase *steps = tcase_create("steps");
    const int methods = NUM_ONE_STEP_METHODS + 5;
    tcase_add_test(steps, equations_hand_failures_on);
    tcase_add_loop_test(steps, an_integrator_hands_failures_on, 0, methods);
    tcase_add_loop_test(steps, looking_into_a_step_hands_failures_on, 0, methods);
    suite_add_tcase(suite, steps);
    TCase *runs = tcase_create("runs");
    tcase_add_test(runs, a_time_stepper_hands_failures_on);
    tcase_add_test(runs, a_recorder_hands_failures_on);
    tcase_add_test(runs, an_ensemble_hands_failures_on);
    suite_add_tcase(suite, runs);
    return test_run(suite);
}
