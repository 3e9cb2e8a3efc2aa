// CVODE: backward differentiation formulas and Adams' methods, both with coordinate projection
// (manual sec. 10.1).
//
// CVODE 6.4.1 projects with backward differentiation formulas only. Adams' methods keep y at one
// time, and rates at several: projection moves the former alone. So CVODE integrates w = y - shift
// with w' = f(t, w + shift), and projection changes the shift, which is constant within a step.
//
// One step at a time. CVODE never passes t_end: its stop time is set before each step, which is
// also how the defects of stop times in SUNDIALS 6.4.1 are avoided. It is restarted when the State
// was changed from outside.
#include "sundials/sundials_internal.h"

#include <assert.h>
#include <cvode/cvode.h>
#include <cvode/cvode_ls.h>
#include <cvode/cvode_proj.h>
#include <math.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

// Vectors that CVODE clones: its history (6 or 13), 8 of its own, 3 of Newton's method and of the
// interface to linear solvers; and 4 of fixed-point iteration.
static const int NUM_VECTORS = 32;

// The matrix and the Jacobian it was made from.
static const int NUM_MATRICES = 2;

// Failures in one step; steps that are too small to be worth taking end it before.
static const int MAX_FAILURES = 50;

static bool is_adams(const tal_integrator *integ)
{
    return integ->def.method == TAL_METHOD_CVODE_ADAMS;
}

// --- projection ---

// CVODE tests the error that is left, and reports the one before: both differ from `error` by one
// factor.
static tal_status project_with_error(tali_sun *sun, N_Vector error)
{
    if (error == NULL) return tali_sun_project(sun, NULL);
    double *e = tali_sun_data(error);
    const double before = tali_sun_weights_norm(&sun->weights, e, NULL);
    const tal_status st = tali_sun_project(sun, e);
    sun->error_left = before > 0.0 ? tali_sun_weights_norm(&sun->weights, e, NULL) / before : 1.0;
    return st;
}

// The correction that brings y onto the constraints, and the part of the error it removes. One
// iteration is always taken: corrections that come and go with the tolerance roughen the history,
// and cost a third more steps.
static int project_step(double t, N_Vector y, N_Vector correction, double tolerance, N_Vector error,
                        void *self)
{
    (void)tolerance; // the projection's own
    tali_sun *sun = self;
    tal_integrator *integ = sun->integ;
    const double *before = tali_sun_data(y);
    double *out = tali_sun_data(correction);
    tal_status st = tali_problem_put(&integ->problem, sun->state, t, before);
    if (st == TAL_OK) tali_integrator_keep_end(integ, sun->state);
    if (st == TAL_OK) st = project_with_error(sun, error);
    if (st == TAL_OK) st = tali_integrator_check_end(integ, sun->state);
    if (st == TAL_OK) st = tali_problem_settle_relaxed(&integ->problem, sun->state);
    if (st != TAL_OK) return tali_sun_answer(sun, st);
    sun->is_settled = true;
    const double *after = tal_state_y(sun->state);
    for (int i = 0; i < sun->pool.length; ++i) {
        out[i] = after[i] - before[i];
    }
    return 0;
}

// --- rates of what Adams' methods integrate ---

// y = w + shift
static void add_shift(const tali_sun *sun, const double w[], double y[])
{
    for (int i = 0; i < sun->pool.length; ++i) {
        y[i] = w[i] + sun->doubles[i];
    }
}

static int shifted_rates(double t, N_Vector w, N_Vector wdot, void *self)
{
    tali_sun *sun = self;
    add_shift(sun, tali_sun_data(w), tali_sun_data(sun->error));
    return tali_sun_rates(t, sun->error, wdot, sun);
}

// --- creation ---

static tal_status check_def(const tal_integrator *integ, tal_error *err)
{
    const tal_integrator_def *def = &integ->def;
    const int most = is_adams(integ) ? 12 : 5;
    if (def->fixed_step > 0.0) {
        return tali_sun_refuse_fixed_step("CVODE", def->fixed_step, err);
    }
    if (def->order > most) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "order is %d: this method goes up to %d",
                         def->order, most);
    }
    return TAL_OK;
}

// Newton's method with the linear solver of the def.
static bool attach_newton(tali_sun *sun)
{
    SUNMatrix J = !tali_sun_has_gmres(sun) ? tali_sun_pool_matrix(&sun->pool) : NULL;
    if (CVodeSetLinearSolver(sun->memory, tali_sun_linear_solver(sun), J) != CVLS_SUCCESS) {
        return false;
    }
    if (J != NULL) return CVodeSetJacFn(sun->memory, tali_sun_jacobian) == CVLS_SUCCESS;
    return CVodeSetJacTimes(sun->memory, NULL, tali_sun_jacobian_times) == CVLS_SUCCESS;
}

static bool attach_fixed_point(tali_sun *sun)
{
    sun->nonlinear = SUNNonlinSol_FixedPoint(sun->y, 0, sun->context.handle);
    return sun->nonlinear != NULL &&
           CVodeSetNonlinearSolver(sun->memory, sun->nonlinear) == CV_SUCCESS;
}

static bool set_up(tali_sun *sun)
{
    const tal_integrator_def *def = &sun->integ->def;
    const bool adams = is_adams(sun->integ);
    void *memory = CVodeCreate(adams ? CV_ADAMS : CV_BDF, sun->context.handle);
    sun->memory = memory;
    if (memory == NULL) return false;
    const CVRhsFn rates = adams ? shifted_rates : tali_sun_rates;
    bool ok = CVodeSetErrHandlerFn(memory, tali_sun_be_silent, NULL) == CV_SUCCESS;
    if (def->order > 0) ok = ok && CVodeSetMaxOrd(memory, def->order) == CV_SUCCESS;
    ok = ok && CVodeInit(memory, rates, 0.0, sun->y) == CV_SUCCESS &&
         CVodeSetUserData(memory, sun) == CV_SUCCESS &&
         CVodeWFtolerances(memory, tali_sun_error_weights) == CV_SUCCESS &&
         CVodeSetMaxStep(memory, def->max_step) == CV_SUCCESS &&
         CVodeSetMaxHnilWarns(memory, -1) == CV_SUCCESS &&
         CVodeSetMaxErrTestFails(memory, MAX_FAILURES) == CV_SUCCESS &&
         CVodeSetMaxConvFails(memory, MAX_FAILURES) == CV_SUCCESS;
    if (!ok) return false;
    if (adams) return attach_fixed_point(sun);
    return attach_newton(sun) && CVodeSetProjFn(memory, project_step) == CV_SUCCESS &&
           CVodeSetMaxNumProjFails(memory, MAX_FAILURES) == CV_SUCCESS;
}

// --- restarting ---

// Between steps: shift = y - w, where projection has left y. Its polynomial at the end of the last
// step is w itself.
static tal_status shift_to_y(tali_sun *sun, tal_state *state)
{
    (void)state;
    if (!is_adams(sun->integ)) return TAL_OK;
    const int flag = CVodeGetDky(sun->memory, sun->integ->t0, 0, sun->y);
    assert(flag == CV_SUCCESS);
    (void)flag;
    const double *w = tali_sun_data(sun->y), *y = sun->integ->problem.y0;
    for (int i = 0; i < sun->pool.length; ++i) {
        sun->doubles[i] = y[i] - w[i];
    }
    return TAL_OK;
}

static tal_status restart_solver(tali_sun *sun, tal_state *state, double first_step)
{
    (void)state;
    const bool ok = CVodeReInit(sun->memory, sun->integ->t0, sun->y) == CV_SUCCESS &&
                    CVodeSetInitStep(sun->memory, first_step) == CV_SUCCESS;
    assert(ok);
    (void)ok;
    memset(sun->doubles, 0, sun->num_doubles * sizeof *sun->doubles);
    return TAL_OK;
}

// --- one step ---

static void count(tali_sun *sun)
{
    tali_sun_counts counts = sun->counts;
    long errors_of_newton = 0, projection_failures = 0;
    (void)CVodeGetNumErrTestFails(sun->memory, &counts.error_failures);
    (void)CVodeGetNumStepSolveFails(sun->memory, &errors_of_newton);
    (void)CVodeGetNumNonlinSolvIters(sun->memory, &counts.iterations);
    if (!is_adams(sun->integ)) {
        (void)CVodeGetNumProjEvals(sun->memory, &counts.projections);
        (void)CVodeGetNumProjFails(sun->memory, &projection_failures);
    }
    counts.other_failures = errors_of_newton + projection_failures;
    tali_sun_count(sun, &counts);
}

static tali_sun_failure classify(int flag)
{
    if (flag >= 0) return TALI_SUN_FINE;
    if (flag == CV_ERR_FAILURE) return TALI_SUN_INACCURATE;
    return flag == CV_TOO_MUCH_ACC ? TALI_SUN_TOO_FINE : TALI_SUN_UNSOLVED;
}

static tali_sun_failure advance_cvode(tali_sun *sun, double t_end, double least, double *t1)
{
    (void)CVodeSetStopTime(sun->memory, t_end);
    (void)CVodeSetMinStep(sun->memory, least);
    const int flag = CVode(sun->memory, t_end, sun->y, t1, CV_ONE_STEP);
    count(sun);
    if (is_adams(sun->integ)) add_shift(sun, tali_sun_data(sun->y), tali_sun_data(sun->y));
    return classify(flag);
}

static double next_step(tali_sun *sun)
{
    double h = 0.0;
    (void)CVodeGetCurrentStep(sun->memory, &h);
    return h;
}

static bool estimate_error(tali_sun *sun, N_Vector error)
{
    return CVodeGetEstLocalErrors(sun->memory, error) == CV_SUCCESS;
}

static bool interpolate(tali_sun *sun, double t, N_Vector y)
{
    if (CVodeGetDky(sun->memory, t, 0, y) != CV_SUCCESS) return false;
    if (is_adams(sun->integ)) add_shift(sun, tali_sun_data(y), tali_sun_data(y));
    return true;
}

static const tali_sun_solver SOLVER = {.round_off = 100.0,
                                       .look = shift_to_y,
                                       .restart_solver = restart_solver,
                                       .advance = advance_cvode,
                                       .next_step = next_step,
                                       .estimate_error = estimate_error,
                                       .interpolate = interpolate,
                                       .free = CVodeFree};

static tal_status create_cvode(tal_integrator *integ, tal_error *err)
{
    const tal_status st = check_def(integ, err);
    if (st != TAL_OK) return st;
    const int capacity = tali_sun_ny_capacity(integ);
    const tali_sun_need need = {.capacity = capacity,
                                .num_vectors = NUM_VECTORS,
                                .num_matrices = is_adams(integ) ? 0 : NUM_MATRICES,
                                .num_doubles = is_adams(integ) ? (size_t)capacity : 0};
    tali_sun *sun = NULL;
    const tal_status made = tali_sun_create(integ, &need, &sun, err);
    if (made != TAL_OK) return made;
    sun->solver = &SOLVER;
    if (set_up(sun)) return TAL_OK;
    tali_sun_destroy(integ);
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for CVODE");
}

const tali_integrator_family *tali_sun_cvode_family(void)
{
    static const tali_integrator_family family = {.create = create_cvode,
                                                  .destroy = tali_sun_destroy,
                                                  .restart = tali_sun_restart,
                                                  .step = tali_sun_step,
                                                  .dense = tali_sun_dense,
                                                  .back_up = tali_sun_back_up};
    return &family;
}
