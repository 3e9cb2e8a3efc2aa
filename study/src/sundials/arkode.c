// ARKODE: Runge-Kutta methods of high order, explicit or diagonally implicit, projected at the end
// of each step. The order chooses the table.
#include "sundials/sundials_internal.h"

#include <arkode/arkode_arkstep.h>
#include <assert.h>
#include <math.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

// Vectors that ARKODE clones: up to 13 stages, 20 of its own, 3 of Newton's method and linear
// solvers.
static const int NUM_VECTORS = 48;

// The matrix and the Jacobian it was made from.
static const int NUM_MATRICES = 2;

// Structs that ARKStepCreate() asks for before anything else, and more than the largest of them
// (688 bytes).
enum {
    NUM_STRUCTS = 3,
    BLOCK_BYTES = 4096
};

// Failures in one step; steps that are too small to be worth taking end it before.
static const int MAX_FAILURES = 50;

// Of Newton's method for a stage: more than ARKODE's 3, since Jacobians cost more. For a fixed step
// a shorter one is no way out.
static const int MAX_ITERATIONS = 6, MAX_FIXED_ITERATIONS = 50;

// By how much the step may differ from that of the matrix which is factored: less than ARKODE's
// 0.2, since factoring costs little. A Jacobian lasts longer.
static const double MAX_CHANGE = 0.05;

// Changes that grow like this will not become small.
static const double DIVERGENCE = 2.0;

/// Where a step began, and how fast things went there.
typedef struct start {
    double t;
    double *y, *ydot;
} start;

enum {
    NUM_STARTS = 2,            // of the last step and of the one before
    MAX_NODES = NUM_STARTS + 1 // of dense output: these, and the end of the last step
};

/// An engine that remembers where the last steps began.
typedef struct tali_sun_arkode {
    tali_sun sun;             // first: the engine is this
    start starts[NUM_STARTS]; // the latest first
    int num_starts;           // steps that went on from one another
    double correction;        // size of the last change that Newton's method made to a stage
} tali_sun_arkode;

static tali_sun_arkode *arkode_of(tali_sun *sun)
{
    return (tali_sun_arkode *)(void *)sun;
}

static bool is_implicit(const tal_integrator *integ)
{
    return integ->def.method == TAL_METHOD_ARKODE_DIRK;
}

// --- callbacks: at create there is no State yet, nothing moves, and GMRES has nothing to do ---

// Is this the end of a step, as project() left it?
static bool is_settled_at(const tali_sun *sun, double t, N_Vector y)
{
    const size_t bytes = (size_t)sun->pool.length * sizeof(double);
    return sun->is_settled && tal_state_t(sun->state) == t &&
           memcmp(tal_state_y(sun->state), tali_sun_data(y), bytes) == 0;
}

// ARKODE wants the rates at the end of every step, where the State needs them next in any case.
static int rates(double t, N_Vector y, N_Vector ydot, void *self)
{
    tali_sun *sun = self;
    if (sun->state == NULL) {
        N_VConst(0.0, ydot);
        return 0;
    }
    if (!is_settled_at(sun, t, y)) return tali_sun_rates(t, y, ydot, self);
    return tali_sun_answer(
        sun, tali_problem_evaluate(&sun->integ->problem, sun->state, tali_sun_data(ydot)));
}

static int jacobian(double t, N_Vector y, N_Vector ydot, SUNMatrix J, void *self, N_Vector tmp1,
                    N_Vector tmp2, N_Vector tmp3)
{
    const tali_sun *sun = self;
    if (sun->state != NULL) return tali_sun_jacobian(t, y, ydot, J, self, tmp1, tmp2, tmp3);
    return SUNMatZero(J);
}

// Where constraints lose rank a mechanism can come apart: the nearest configuration that meets them
// is another branch of its motion. Elsewhere projection moves the end of a step by some tolerances,
// twenty at most.
static tal_status check_branch(const tali_sun *sun, double t, const double y[])
{
    const double MOST = 100.0;
    tal_integrator *integ = sun->integ;
    if (!tali_integrator_is_near_rank_loss(integ)) return TAL_OK;
    const double *after = tal_state_y(sun->state);
    for (int i = 0; i < sun->pool.length; ++i) {
        integ->problem.weighed[i] = after[i] - y[i];
    }
    if (tali_sun_weights_norm(&sun->weights, integ->problem.weighed, NULL) <= MOST) return TAL_OK;
    return TALI_FAIL(
        &integ->problem.error_record, TAL_ERR_NO_CONVERGENCE,
        "at t = %.17g constraints lose rank, and the motion cannot be distinguished from others "
        "that meet them",
        t);
}

// The end of a step, in place. Its error has been tested as it was before.
static int project_end(double t, N_Vector y, void *self)
{
    tali_sun *sun = self;
    tal_integrator *integ = sun->integ;
    if (sun->state == NULL) return 0;
    tal_status st = tali_problem_put(&integ->problem, sun->state, t, tali_sun_data(y));
    if (st == TAL_OK) st = tali_problem_project(&integ->problem, sun->state, NULL);
    if (st == TAL_OK) st = tali_problem_settle_relaxed(&integ->problem, sun->state);
    if (st == TAL_OK) st = check_branch(sun, t, tali_sun_data(y));
    if (st != TAL_OK) return tali_sun_answer(sun, st);
    ++integ->stats.projections;
    sun->is_settled = true;
    memcpy(tali_sun_data(y), tal_state_y(sun->state), (size_t)sun->pool.length * sizeof(double));
    return 0;
}

// --- creation ---

static int default_order(const tal_integrator *integ)
{
    return is_implicit(integ) ? 4 : 5;
}

static const tali_sun_butcher *table_of(const tal_integrator *integ)
{
    const int order = integ->def.order;
    return tali_sun_butcher_of_order(is_implicit(integ), order > 0 ? order : default_order(integ));
}

int tali_sun_arkode_num_stages(const tal_integrator_def *def)
{
    const tal_integrator like = {.def = *def};
    const tali_sun_butcher *table = table_of(&like);
    return table != NULL ? table->stages : 0;
}

static tal_status check_def(const tal_integrator *integ, tal_error *err)
{
    const tal_integrator_def *def = &integ->def;
    if (table_of(integ) == NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "order is %d: it must be %s, or 0 for %d",
                         def->order, is_implicit(integ) ? "2 to 5" : "2 to 6 and 8",
                         default_order(integ));
    }
    return TAL_OK;
}

// Is a stage near enough to its solution? What is left after a change is judged by how fast changes
// become smaller (HW sec. IV.8), within the stage. ARKODE's own test carries this rate on from
// stage to stage, where it goes to zero if the matrix is exact, and then takes a first change for
// the last, though the matrix is that of another step.
static int has_converged(SUNNonlinearSolver newton, N_Vector y, N_Vector change, double tolerance,
                         N_Vector ewt, void *self)
{
    (void)y;
    tali_sun_arkode *it = arkode_of(self);
    const double size = N_VWrmsNorm(change, ewt), before = it->correction;
    int iteration = 0;
    (void)SUNNonlinSolGetCurIter(newton, &iteration);
    it->correction = size;
    if (size <= tolerance) return SUN_NLS_SUCCESS;
    if (iteration == 0) return SUN_NLS_CONTINUE;
    if (size > DIVERGENCE * before) return SUN_NLS_CONV_RECVR;
    const double rate = size / before;
    return rate < 1.0 && rate / (1.0 - rate) * size <= tolerance ? SUN_NLS_SUCCESS
                                                                 : SUN_NLS_CONTINUE;
}

static bool attach_newton(tali_sun *sun)
{
    sun->nonlinear = SUNNonlinSol_Newton(sun->y, sun->context.handle);
    if (sun->nonlinear == NULL ||
        ARKStepSetNonlinearSolver(sun->memory, sun->nonlinear) != ARK_SUCCESS ||
        SUNNonlinSolSetConvTestFn(sun->nonlinear, has_converged, sun) != SUN_NLS_SUCCESS) {
        return false;
    }
    SUNMatrix J = tali_sun_has_gmres(sun) ? NULL : tali_sun_pool_matrix(&sun->pool);
    const int most =
        tali_integrator_is_controlled(sun->integ) ? MAX_ITERATIONS : MAX_FIXED_ITERATIONS;
    if (ARKStepSetLinearSolver(sun->memory, tali_sun_linear_solver(sun), J) != ARK_SUCCESS ||
        ARKStepSetMaxNonlinIters(sun->memory, most) != ARK_SUCCESS ||
        ARKStepSetDeltaGammaMax(sun->memory, MAX_CHANGE) != ARK_SUCCESS) {
        return false;
    }
    if (J != NULL) return ARKStepSetJacFn(sun->memory, jacobian) == ARK_SUCCESS;
    return ARKStepSetJacTimes(sun->memory, NULL, tali_sun_jacobian_times) == ARK_SUCCESS;
}

// ARKODE keeps a copy.
static bool set_table(tali_sun *sun)
{
    const tali_sun_butcher *table = table_of(sun->integ);
    double A[TALI_MAX_STAGES][TALI_MAX_STAGES] = {{0.0}}, *rows[TALI_MAX_STAGES];
    double b[TALI_MAX_STAGES], c[TALI_MAX_STAGES], d[TALI_MAX_STAGES];
    const double *a = table->a;
    for (int i = 0; i < table->stages; ++i) {
        rows[i] = A[i];
        b[i] = table->b[i];
        c[i] = table->c[i];
        d[i] = table->d[i];
        for (int j = 0; j <= i; ++j) {
            A[i][j] = *a++;
        }
    }
    struct ARKodeButcherTableMem it = {table->order, table->embedded, table->stages, rows, c, b, d};
    const bool implicit = is_implicit(sun->integ);
    return ARKStepSetTables(sun->memory, table->order, table->embedded, implicit ? &it : NULL,
                            implicit ? NULL : &it) == ARK_SUCCESS;
}

// Could the C library give this number of blocks? Each is larger than any that is then asked for,
// and than those that a thread keeps for itself, so that what was given back serves any request.
static bool is_room_for(int num_blocks)
{
    const tal_allocator heap = tal_allocator_default(); // SUNDIALS', whatever the integrator's is
    void *blocks[NUM_STRUCTS] = {NULL};
    bool all = true;
    assert(num_blocks <= NUM_STRUCTS);
    for (int i = 0; i < num_blocks; ++i) {
        blocks[i] = tali_alloc(&heap, BLOCK_BYTES);
        all = all && blocks[i] != NULL;
    }
    for (int i = 0; i < num_blocks; ++i) {
        tali_free(&heap, blocks[i], BLOCK_BYTES);
    }
    return all;
}

// ARKODE 6.4.1 leaks the structs it has allocated when it cannot allocate all of them.
static void *create_memory(tali_sun *sun, bool implicit)
{
    if (!is_room_for(NUM_STRUCTS)) return NULL;
    return ARKStepCreate(implicit ? NULL : rates, implicit ? rates : NULL, 0.0, sun->y,
                         sun->context.handle);
}

// ARKODE takes most of its memory in its first step: let it take one, in which nothing moves. It
// begins with an array of stages, and does not look whether it was given.
static bool warm_up(tali_sun *sun)
{
    double t = 0.0;
    return is_room_for(1) && ARKStepSetInitStep(sun->memory, 1.0) == ARK_SUCCESS &&
           ARKStepEvolve(sun->memory, 1.0, sun->y, &t, ARK_ONE_STEP) >= 0;
}

static bool set_up(tali_sun *sun)
{
    const tal_integrator_def *def = &sun->integ->def;
    const bool implicit = is_implicit(sun->integ);
    void *memory = create_memory(sun, implicit);
    sun->memory = memory;
    if (memory == NULL) return false;
    const bool ok =
        ARKStepSetErrHandlerFn(memory, tali_sun_be_silent, NULL) == ARK_SUCCESS &&
        ARKStepSetUserData(memory, sun) == ARK_SUCCESS && set_table(sun) &&
        // ours is better; and ARKODE's other kind frees itself twice when memory runs out
        ARKStepSetInterpolantDegree(memory, 1) == ARK_SUCCESS &&
        ARKStepWFtolerances(memory, tali_sun_error_weights) == ARK_SUCCESS &&
        ARKStepSetMaxStep(memory, def->max_step) == ARK_SUCCESS &&
        ARKStepSetMaxFirstGrowth(memory, 20.0) == ARK_SUCCESS && // dense output has little to go by
        ARKStepSetMaxHnilWarns(memory, -1) == ARK_SUCCESS &&
        ARKStepSetMaxErrTestFails(memory, MAX_FAILURES) == ARK_SUCCESS &&
        ARKStepSetMaxConvFails(memory, MAX_FAILURES) == ARK_SUCCESS &&
        ARKStepSetPostprocessStepFn(memory, project_end) == ARK_SUCCESS;
    return ok && (!implicit || attach_newton(sun)) && warm_up(sun);
}

// --- steps ---

// Steps of a fixed length ask for it each time: ARKODE forgets it after a shorter one.
static bool set_step(tali_sun *sun, double h)
{
    return tali_integrator_is_controlled(sun->integ)
               ? ARKStepSetInitStep(sun->memory, h) == ARK_SUCCESS
               : ARKStepSetFixedStep(sun->memory, h) == ARK_SUCCESS;
}

static tal_status restart_solver(tali_sun *sun, tal_state *state, double first_step)
{
    (void)state;
    const tal_integrator *integ = sun->integ;
    const bool implicit = is_implicit(integ);
    arkode_of(sun)->num_starts = 0;
    const bool ok = ARKStepReInit(sun->memory, implicit ? NULL : rates, implicit ? rates : NULL,
                                  integ->t0, sun->y) == ARK_SUCCESS &&
                    set_step(sun, first_step);
    assert(ok);
    (void)ok;
    return TAL_OK;
}

static void count(tali_sun *sun)
{
    tali_sun_counts counts = sun->counts;
    (void)ARKStepGetNumErrTestFails(sun->memory, &counts.error_failures);
    (void)ARKStepGetNumStepSolveFails(sun->memory, &counts.other_failures);
    if (is_implicit(sun->integ)) {
        (void)ARKStepGetNumNonlinSolvIters(sun->memory, &counts.iterations);
    }
    tali_sun_count(sun, &counts);
}

// A step begins where the integrator is; its rates there are in ydot1.
static void remember(tali_sun_arkode *it)
{
    const tal_integrator *integ = it->sun.integ;
    const size_t bytes = (size_t)it->sun.pool.length * sizeof(double);
    const start oldest = it->starts[NUM_STARTS - 1];
    memmove(it->starts + 1, it->starts, (NUM_STARTS - 1) * sizeof *it->starts);
    it->starts[0] = (start){integ->t0, oldest.y, oldest.ydot};
    if (it->num_starts < NUM_STARTS) ++it->num_starts;
    memcpy(it->starts[0].y, integ->problem.y0, bytes);
    memcpy(it->starts[0].ydot, integ->ydot1, bytes);
}

// What dense output of an explicit method begins with.
static void remember_rates(const tal_integrator *integ, int ny)
{
    memcpy(tali_integrator_stage(integ, 0), integ->ydot1, (size_t)ny * sizeof(double));
}

static tali_sun_failure evolve(tali_sun *sun, double t_end, double least, double *t1)
{
    (void)ARKStepSetStopTime(sun->memory, t_end);
    (void)ARKStepSetMinStep(sun->memory, least);
    const int flag = ARKStepEvolve(sun->memory, t_end, sun->y, t1, ARK_ONE_STEP);
    count(sun);
    if (flag >= 0) return TALI_SUN_FINE;
    if (flag == ARK_ERR_FAILURE) return TALI_SUN_INACCURATE;
    return flag == ARK_TOO_MUCH_ACC ? TALI_SUN_TOO_FINE : TALI_SUN_UNSOLVED;
}

// The start of the last step, for one of length h in its place.
static void take_back(tali_sun *sun, double h)
{
    const tal_integrator *integ = sun->integ;
    const int num_starts = arkode_of(sun)->num_starts;
    tali_integrator_leave_at_start(sun->integ, sun->state);
    sun->counts = (tali_sun_counts){0, 0, 0, 0};
    memcpy(tali_sun_data(sun->y), integ->problem.y0, (size_t)sun->pool.length * sizeof(double));
    (void)restart_solver(sun, sun->state, h);
    arkode_of(sun)->num_starts = num_starts;
}

// Steps that end where constraints lose rank are taken again, shorter.
static tali_sun_failure evolve_clear(tali_sun *sun, double t_end, double least, double *t1)
{
    tali_sun_failure why = evolve(sun, t_end, least, t1);
    for (int k = 0; k < TALI_MOST_SHORTENED && why == TALI_SUN_FINE && *t1 < t_end; ++k) {
        if (!tali_integrator_ends_too_close(sun->integ, sun->state)) break;
        take_back(sun, 0.7 * (*t1 - sun->integ->t0));
        why = evolve(sun, t_end, least, t1);
    }
    return why;
}

static tali_sun_failure advance_arkode(tali_sun *sun, double t_end, double least, double *t1)
{
    const double t0 = sun->integ->t0, h = sun->integ->def.fixed_step;
    if (is_implicit(sun->integ)) {
        remember(arkode_of(sun));
    } else {
        remember_rates(sun->integ, sun->pool.length);
    }
    if (tali_integrator_is_controlled(sun->integ)) return evolve_clear(sun, t_end, least, t1);
    (void)set_step(sun, h);
    return evolve(sun, tali_integrator_end_of_step(t0, h, t_end), 0.0, t1);
}

static double next_step(tali_sun *sun)
{
    double h = sun->integ->def.fixed_step;
    if (h == 0.0) (void)ARKStepGetCurrentStep(sun->memory, &h);
    return h;
}

static bool estimate_error(tali_sun *sun, N_Vector error)
{
    return ARKStepGetEstLocalErrors(sun->memory, error) == ARK_SUCCESS;
}

// --- dense output ---

// The polynomial with values f and slopes g at distinct x, by divided differences over nodes taken
// twice.
static double hermite(const double x[], const double f[], const double g[], int n, double t)
{
    double node[2 * MAX_NODES] = {0.0}, d[2 * MAX_NODES] = {0.0};
    for (int k = 0; k < n; ++k) {
        node[2 * k] = node[2 * k + 1] = x[k];
        d[2 * k] = k == 0 ? f[0] : (f[k] - f[k - 1]) / (x[k] - x[k - 1]);
        d[2 * k + 1] = g[k];
    }
    for (int level = 2; level < 2 * n; ++level) {
        for (int i = 2 * n - 1; i >= level; --i) {
            d[i] = (d[i] - d[i - 1]) / (node[i] - node[i - level]);
        }
    }
    double value = d[2 * n - 1];
    for (int i = 2 * n - 2; i >= 0; --i) {
        value = d[i] + (t - node[i]) * value;
    }
    return value;
}

// Values and rates at the end of the last step and at its start, and at the start of the one that
// it went on from: of degree 5 without further evaluations. Good enough for order 5.
static bool interpolate(tali_sun *sun, double t, N_Vector y)
{
    const tali_sun_arkode *it = arkode_of(sun);
    const tal_integrator *integ = sun->integ;
    const int n = it->num_starts + 1;
    double x[MAX_NODES] = {integ->t1}, f[MAX_NODES], g[MAX_NODES];
    for (int k = 1; k < n; ++k) {
        x[k] = it->starts[k - 1].t;
    }
    double *out = tali_sun_data(y);
    for (int i = 0; i < sun->pool.length; ++i) {
        f[0] = integ->y1[i];
        g[0] = integ->ydot1[i];
        for (int k = 1; k < n; ++k) {
            f[k] = it->starts[k - 1].y[i];
            g[k] = it->starts[k - 1].ydot[i];
        }
        out[i] = hermite(x, f, g, n, t);
    }
    return true;
}

static const tali_sun_solver SOLVER = {.wants_rates = true,
                                       .is_one_step = true,
                                       .restart_solver = restart_solver,
                                       .advance = advance_arkode,
                                       .next_step = next_step,
                                       .estimate_error = estimate_error,
                                       .interpolate = interpolate,
                                       .free = ARKStepFree};

// The engine with all memory it will ever need. On failure nothing is left behind.
static tal_status create_arkode(tal_integrator *integ, tal_error *err)
{
    const tal_status st = check_def(integ, err);
    if (st != TAL_OK) return st;
    const int ny = tali_sun_ny_capacity(integ);
    const tali_sun_need need = {.engine_bytes = sizeof(tali_sun_arkode),
                                .capacity = ny,
                                .num_vectors = NUM_VECTORS,
                                .num_matrices = is_implicit(integ) ? NUM_MATRICES : 0,
                                .num_doubles = 2 * NUM_STARTS * (size_t)ny};
    tali_sun *sun = NULL;
    const tal_status made = tali_sun_create(integ, &need, &sun, err);
    if (made != TAL_OK) return made;
    double *next = sun->doubles;
    for (int k = 0; k < NUM_STARTS; ++k, next += 2 * ny) {
        arkode_of(sun)->starts[k] = (start){0.0, next, next + ny};
    }
    sun->solver = &SOLVER;
    integ->passage = tali_integrator_widest_passage(table_of(integ)->c, table_of(integ)->stages);
    if (set_up(sun)) return TAL_OK;
    tali_sun_destroy(integ);
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for ARKODE");
}

// --- back within the last step ---

// The step once more, to a time within it: dense output would be worse at high orders. Should the
// steps differ, it has to do.
static tal_status step_again(tal_integrator *integ, tal_state *state, double t)
{
    tali_sun *sun = tali_sun_of(integ);
    const double least = tali_integrator_resolved_step(integ, integ->t0);
    double t1 = integ->t0;
    if (sun->is_round_off || t - t1 < least) return tali_sun_back_up(integ, state, t);
    sun->state = state;
    sun->is_fresh = true;
    take_back(sun, t - t1);
    const bool is_there = evolve(sun, t, least, &t1) == TALI_SUN_FINE && t1 == t;
    if (!is_there) return tali_integrator_put_dense(integ, state, t);
    tal_status st = tali_problem_put(&integ->problem, state, t, tali_sun_data(sun->y));
    if (st == TAL_OK) st = tali_problem_project(&integ->problem, state, NULL);
    return st == TAL_OK ? tali_problem_settle_relaxed(&integ->problem, state) : st;
}

// --- explicit methods: dense output and steps aside as those of one-step methods ---

static tal_status explicit_dense(tal_integrator *integ, double t, int ny, double y[])
{
    if (tali_sun_of(integ)->is_round_off) return tali_sun_dense(integ, t, ny, y);
    return tali_integrator_one_step_dense(integ, t, ny, y);
}

static tali_problem_row row_of(const tal_integrator *integ, const double coefs[], int n)
{
    tali_problem_row row = {.n = 0};
    for (int j = 0; j < n; ++j) {
        if (coefs[j] == 0.0) continue;
        row.coefs[row.n] = coefs[j];
        row.k[row.n++] = tali_integrator_stage(integ, j);
    }
    return row;
}

// ARKODE would have to forget its last steps for this; its table does without it.
static tal_status step_aside(tal_integrator *integ, tal_state *out, double t)
{
    const tali_sun_butcher *table = table_of(integ);
    const double t0 = integ->t0, h = t - t0, *a = table->a + 1;
    tal_status st = TAL_OK;
    for (int i = 1; i < table->stages && st == TAL_OK; ++i) {
        const tali_problem_row row = row_of(integ, a, i);
        a += i + 1;
        st = tali_problem_put_sum(&integ->problem, out, t0 + table->c[i] * h, h, &row);
        if (st == TAL_OK) st = tali_problem_settle_stage(&integ->problem, out, false);
        if (st == TAL_OK) {
            st = tali_problem_evaluate(&integ->problem, out, tali_integrator_stage(integ, i));
        }
    }
    const tali_problem_row end = row_of(integ, table->b, table->stages);
    if (st == TAL_OK) st = tali_problem_put_sum(&integ->problem, out, t, h, &end);
    if (st == TAL_OK) st = tali_problem_project(&integ->problem, out, NULL);
    return st == TAL_OK ? tali_problem_settle_relaxed(&integ->problem, out) : st;
}

const tali_integrator_family *tali_sun_arkode_family(bool is_implicit)
{
    static const tali_integrator_family dirk = {.create = create_arkode,
                                                .destroy = tali_sun_destroy,
                                                .restart = tali_sun_restart,
                                                .step = tali_sun_step,
                                                .dense = tali_sun_dense,
                                                .back_up = step_again};
    static const tali_integrator_family explicit = {.create = create_arkode,
                                                    .destroy = tali_sun_destroy,
                                                    .restart = tali_sun_restart,
                                                    .step = tali_sun_step,
                                                    .dense = explicit_dense,
                                                    .step_aside = step_aside,
                                                    .back_up = step_again};
    return is_implicit ? &dirk : &explicit;
}
