// IDA: backward differentiation formulas on the residual of inverse dynamics, with the constraints
// of position and velocity among the equations. Steps are taken as cvode.c takes them.
#include "sundials/ida_internal.h"

#include <assert.h>
#include <float.h>
#include <ida/ida.h>
#include <ida/ida_ls.h>
#include <math.h>
#include <string.h>

// Vectors that IDA clones: its history (6 or 7), 10 of its own, 2 of Newton's method; and our Y',
// id.
static const int NUM_VECTORS = 32;

// Failures in one step; steps that are too small to be worth taking end it before.
static const int MAX_FAILURES = 50;

// --- creation ---

// What Newton's method may leave, as a share of the error of a step. What it leaves roughens the
// history, from which IDA tells order and error: with constraints IDA's own 0.33 costs more steps
// than it saves iterations. But what is left cannot be below round-off.
static double left_by_newton(const tal_integrator *integ)
{
    return fmin(0.33, fmax(0.03, 50.0 * DBL_EPSILON / integ->step_accuracy));
}

static tal_status check_def(const tal_integrator_def *def, tal_error *err)
{
    if (def->fixed_step > 0.0) {
        return tali_sun_refuse_fixed_step("IDA", def->fixed_step, err);
    }
    if (def->order > 5) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "order is %d: this method goes up to 5",
                         def->order);
    }
    if (def->baumgarte > 0.0) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "baumgarte is %g: it must be 0, because IDA solves the constraints as equations",
            def->baumgarte);
    }
    if (def->linear_solver != TAL_LINEAR_DENSE) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "IDA needs the dense linear solver: its matrices with multipliers are too "
                         "ill-conditioned for GMRES");
    }
    return TAL_OK;
}

// Create IDA's own memory, with our residual, norm and linear solver.
static bool set_up_ida(tali_ida *ida)
{
    tali_sun *sun = &ida->sun;
    const tal_integrator_def *def = &sun->integ->def;
    void *memory = IDACreate(sun->context.handle);
    sun->memory = memory;
    if (memory == NULL) return false;
    bool ok = IDASetErrHandlerFn(memory, tali_sun_be_silent, NULL) == IDA_SUCCESS;
    if (def->order > 0) ok = ok && IDASetMaxOrd(memory, def->order) == IDA_SUCCESS;
    ok = ok && IDAInit(memory, tali_ida_residual, 0.0, sun->y, ida->yp) == IDA_SUCCESS &&
         IDASetUserData(memory, ida) == IDA_SUCCESS &&
         IDAWFtolerances(memory, tali_sun_error_weights) == IDA_SUCCESS &&
         IDASetMaxStep(memory, def->max_step) == IDA_SUCCESS &&
         IDASetMaxErrTestFails(memory, MAX_FAILURES) == IDA_SUCCESS &&
         IDASetMaxConvFails(memory, MAX_FAILURES) == IDA_SUCCESS &&
         IDASetNonlinConvCoef(memory, left_by_newton(sun->integ)) == IDA_SUCCESS &&
         IDASetId(memory, ida->id) == IDA_SUCCESS &&
         IDASetSuppressAlg(memory, SUNTRUE) == IDA_SUCCESS;
    if (!ok) return false;
    SUNMatrix J = tali_sun_pool_matrix(&sun->pool);
    return IDASetLinearSolver(memory, tali_sun_linear_solver(sun), J) == IDALS_SUCCESS &&
           IDASetJacFn(memory, tali_ida_jacobian) == IDALS_SUCCESS;
}

static bool solves_kkt(const tal_integrator *integ)
{
    return integ->problem.matter != NULL &&
           tal_matter_solve_way(integ->problem.matter) == TAL_SOLVE_KKT;
}

static double *cut_doubles(tali_ida *ida, size_t m, size_t nu, size_t nq)
{
    double *next = ida->sun.doubles;
    ida->G = next;
    ida->W = (next += m * nu);
    ida->eq.a = (next += m * m);
    ida->eq.v = (next += m);
    ida->eq.qdot = (next += nu);
    next += nq;
    if (!solves_kkt(ida->sun.integ)) return next;
    ida->M = next;
    return next + nu * nu;
}

// --- restarting ---

// Y and Y' that meet all equations: forward dynamics knows udot and lambda; mu is zero.
static tal_status restart_solver(tali_sun *sun, tal_state *state, double first_step)
{
    tali_ida *ida = tali_ida_of(sun);
    tal_integrator *integ = sun->integ;
    double *Y = tali_sun_data(sun->y), *Yp = tali_sun_data(ida->yp);
    tali_ida_count(ida, state);
    memset(Y + ida->eq.ny, 0, (size_t)(sun->pool.length - ida->eq.ny) * sizeof *Y);
    memset(Yp, 0, (size_t)sun->pool.length * sizeof *Yp);
    memcpy(Yp, integ->ydot1, (size_t)ida->eq.ny * sizeof *Yp);
    if (ida->eq.m > 0) {
        const tal_group_ix group = tal_system_find_group(
            integ->problem.system, tal_matter_subsystem(integ->problem.matter), TAL_POOL_UDOTERR,
            "constraints");
        const int start = tal_group_start(integ->problem.system, state, group);
        memcpy(Y + ida->eq.ny, tal_state_multipliers(state) + start, (size_t)ida->eq.m * sizeof *Y);
    }
    const tal_status st = tali_ida_find_silent(ida, state);
    if (st != TAL_OK) return st;
    // IDA keeps a copy of `id`
    const bool ok = IDAReInit(sun->memory, integ->t0, sun->y, ida->yp) == IDA_SUCCESS &&
                    IDASetId(sun->memory, ida->id) == IDA_SUCCESS &&
                    IDASetInitStep(sun->memory, first_step) == IDA_SUCCESS;
    assert(ok);
    (void)ok;
    return TAL_OK;
}

// --- one step ---

static void count(tali_sun *sun)
{
    tali_sun_counts counts = sun->counts;
    (void)IDAGetNumErrTestFails(sun->memory, &counts.error_failures);
    (void)IDAGetNumStepSolveFails(sun->memory, &counts.other_failures);
    (void)IDAGetNumNonlinSolvIters(sun->memory, &counts.iterations);
    tali_sun_count(sun, &counts);
}

static tali_sun_failure advance_ida(tali_sun *sun, double t_end, double least, double *t1)
{
    (void)IDASetStopTime(sun->memory, t_end);
    (void)IDASetMinStep(sun->memory, least);
    const int flag = IDASolve(sun->memory, t_end, t1, sun->y, tali_ida_of(sun)->yp, IDA_ONE_STEP);
    count(sun);
    if (flag >= 0) return TALI_SUN_FINE;
    if (flag == IDA_ERR_FAIL) return TALI_SUN_INACCURATE;
    return flag == IDA_TOO_MUCH_ACC ? TALI_SUN_TOO_FINE : TALI_SUN_UNSOLVED;
}

static double next_step(tali_sun *sun)
{
    double h = 0.0;
    (void)IDAGetCurrentStep(sun->memory, &h);
    return h;
}

static bool estimate_error(tali_sun *sun, N_Vector error)
{
    return IDAGetEstLocalErrors(sun->memory, error) == IDA_SUCCESS;
}

static bool interpolate(tali_sun *sun, double t, N_Vector y)
{
    return IDAGetDky(sun->memory, t, 0, y) == IDA_SUCCESS;
}

static const tali_sun_solver SOLVER = {.solves_constraints = true,
                                       .is_cautious = true,
                                       .round_off = 5000.0, // multipliers amplify it
                                       .look = tali_ida_look,
                                       .restart_solver = restart_solver,
                                       .advance = advance_ida,
                                       .next_step = next_step,
                                       .estimate_error = estimate_error,
                                       .interpolate = interpolate,
                                       .free = IDAFree};

// The engine with all memory it will ever need. On failure nothing is left behind.
static tal_status create_ida(tal_integrator *integ, tal_error *err)
{
    const tal_status st = check_def(&integ->def, err);
    if (st != TAL_OK) return st;
    const int mp = tal_system_pool_capacity(integ->problem.system, TAL_POOL_QERR);
    const int m = tal_system_pool_capacity(integ->problem.system, TAL_POOL_UDOTERR);
    const size_t rows = (size_t)m,
                 nu = (size_t)tal_system_pool_capacity(integ->problem.system, TAL_POOL_U);
    const size_t nq = (size_t)tal_system_pool_capacity(integ->problem.system, TAL_POOL_Q);
    const tali_sun_need need = {.engine_bytes = sizeof(tali_ida),
                                .capacity = tali_sun_ny_capacity(integ) + m + mp,
                                .num_vectors = NUM_VECTORS,
                                .num_matrices = 1,
                                .num_doubles = rows * nu + rows * rows + rows + nu + nq +
                                               (solves_kkt(integ) ? nu * nu : 0) +
                                               tali_ida_rank_doubles(m, mp)};
    tali_sun *sun = NULL;
    const tal_status made = tali_sun_create(integ, &need, &sun, err);
    if (made != TAL_OK) return made;
    tali_ida *ida = tali_ida_of(sun);
    sun->solver = &SOLVER;
    tali_ida_cut_rank(ida, m, mp, cut_doubles(ida, rows, nu, nq));
    ida->yp = tali_sun_pool_vector(&sun->pool);
    ida->id = tali_sun_pool_vector(&sun->pool);
    if (integ->problem.matter != NULL) {
        const tal_subsystem_ix owner = tal_matter_subsystem(integ->problem.matter);
        ida->eq.perr =
            tal_system_find_group(integ->problem.system, owner, TAL_POOL_QERR, "constraints");
        ida->eq.verr =
            tal_system_find_group(integ->problem.system, owner, TAL_POOL_UERR, "constraints");
    }
    if (set_up_ida(ida)) return TAL_OK;
    tali_sun_destroy(integ);
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for IDA");
}

const tali_integrator_family *tali_sun_ida_family(void)
{
    static const tali_integrator_family family = {.create = create_ida,
                                                  .destroy = tali_sun_destroy,
                                                  .restart = tali_sun_restart,
                                                  .step = tali_sun_step,
                                                  .dense = tali_sun_dense,
                                                  .back_up = tali_sun_back_up};
    return &family;
}
