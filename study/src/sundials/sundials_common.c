// What the solvers of SUNDIALS share: the engine, and callbacks on the State.
//
// SUNDIALS 6.4.1 does not notice a NaN; the callbacks look at every number that goes in or out, and
// keep the message about the first bad one in the integrator's record.
#include "finite_internal.h"

#include "sundials/sundials_internal.h"

#include <math.h>
#include <string.h>

// --- creation ---

int tali_sun_ny_capacity(const tal_integrator *integ)
{
    return tal_system_pool_capacity(integ->problem.system, TAL_POOL_Q) +
           tal_system_pool_capacity(integ->problem.system, TAL_POOL_U) +
           tal_system_pool_capacity(integ->problem.system, TAL_POOL_Z);
}

void tali_sun_be_silent(int code, const char *module, const char *function, char *message,
                        void *self)
{
    (void)code, (void)module, (void)function, (void)message, (void)self;
}

void tali_sun_be_silent_too(const char *module, const char *function, char *message, void *self)
{
    (void)module, (void)function, (void)message, (void)self;
}

// SUNDIALS 6.4.1 crashes in SUNContext_Create() when memory runs out. Built without logging and
// profiling, as Debian does, it only passes contexts on and never looks behind the pointer, so
// zeros are enough.
#if SUNDIALS_VERSION_MAJOR == 6 && SUNDIALS_LOGGING_LEVEL == 0 &&                                  \
    !defined(SUNDIALS_BUILD_WITH_PROFILING)
bool tali_sun_context_open(tali_sun_context *it)
{
    it->handle = (SUNContext)(void *)&it->zeros;
    return true;
}

void tali_sun_context_close(tali_sun_context *it)
{
    it->handle = NULL;
}
#else
bool tali_sun_context_open(tali_sun_context *it)
{
    return SUNContext_Create(NULL, &it->handle) == 0;
}

void tali_sun_context_close(tali_sun_context *it)
{
    if (it->handle != NULL) (void)SUNContext_Free(&it->handle);
}
#endif

static double norm_of_y(const void *self, const double x[], const double id[])
{
    return tali_sun_weights_norm(self, x, id);
}

// All memory: the pool, the weights, slopes for exact Jacobians, the context.
static bool fill_engine(tali_sun *sun, const tali_sun_need *need)
{
    const bool wants_gmres = tali_sun_has_gmres(sun);
    const tal_allocator *allocator = &sun->integ->problem.allocator;
    const int num_vectors = need->num_vectors + 2 + (wants_gmres ? TALI_KRYLOV + 2 : 0);
    const int num_matrices = wants_gmres ? 0 : need->num_matrices;
    sun->num_doubles = need->num_doubles;
    sun->doubles = tali_alloc(allocator, need->num_doubles * sizeof(double));
    if (sun->doubles == NULL ||
        !tali_sun_pool_create(&sun->pool, allocator, need->capacity, num_vectors, num_matrices) ||
        !tali_sun_weights_create(&sun->weights, sun->integ) ||
        !tali_sun_context_open(&sun->context)) {
        return false;
    }
    if (num_matrices > 0) {
        if (!tali_problem_slopes_create(&sun->slopes, &sun->integ->problem)) return false;
        sun->integ->problem.slopes = &sun->slopes;
    }
    tali_sun_pool_set_context(&sun->pool, sun->context.handle);
    sun->pool.length = need->capacity;
    sun->pool.norm = norm_of_y;
    sun->pool.norm_self = &sun->weights;
    sun->y = tali_sun_pool_vector(&sun->pool);
    sun->error = tali_sun_pool_vector(&sun->pool);
    if (wants_gmres) (void)tali_sun_gmres_create(&sun->gmres, &sun->pool);
    return true;
}

void tali_sun_destroy(tal_integrator *integ)
{
    tali_sun *sun = tali_sun_of(integ);
    if (sun == NULL) return;
    if (sun->memory != NULL) sun->solver->free(&sun->memory);
    if (sun->nonlinear != NULL) (void)SUNNonlinSolFree(sun->nonlinear);
    tali_sun_context_close(&sun->context);
    tali_sun_weights_destroy(&sun->weights);
    tali_problem_slopes_destroy(&sun->slopes, &integ->problem.allocator);
    integ->problem.slopes = NULL;
    if (sun->pool.block != NULL) tali_sun_pool_destroy(&sun->pool);
    tali_free(&integ->problem.allocator, sun->doubles, sun->num_doubles * sizeof(double));
    tali_free(&integ->problem.allocator, sun, sun->engine_bytes);
    integ->engine = NULL;
}

tal_status tali_sun_create(tal_integrator *integ, const tali_sun_need *need, tali_sun **out,
                           tal_error *err)
{
    const size_t bytes = need->engine_bytes > 0 ? need->engine_bytes : sizeof(tali_sun);
    tali_sun *sun = tali_alloc(&integ->problem.allocator, bytes);
    integ->engine = sun;
    *out = sun;
    if (sun != NULL) {
        sun->engine_bytes = bytes;
        sun->integ = integ;
        sun->is_fresh = true;
        if (fill_engine(sun, need)) return TAL_OK;
    }
    tali_sun_destroy(integ);
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an integrator's solver");
}

tal_status tali_sun_refuse_fixed_step(const char *solver, double fixed_step, tal_error *err)
{
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "fixed_step is %g: %s chooses its steps itself; Runge-Kutta methods, "
                     "semi-explicit Euler, Verlet and those of ARKODE can keep to one",
                     fixed_step, solver);
}

SUNLinearSolver tali_sun_linear_solver(tali_sun *sun)
{
    return tali_sun_has_gmres(sun) ? &sun->gmres.base : &sun->pool.lu;
}

// --- callbacks ---

tal_status tali_sun_project(tali_sun *sun, double error[])
{
    tal_integrator *integ = sun->integ;
    tal_project_options options = integ->problem.projection;
    options.even_if_met = true;
    return tali_problem_project_by(&integ->problem, sun->state, &options, error);
}

int tali_sun_answer(tali_sun *sun, tal_status st)
{
    tal_error *record = &sun->integ->problem.error_record;
    if (st == TAL_OK) {
        if (record->status != TAL_OK) *record = (tal_error){TAL_OK, "", ""};
        return 0;
    }
    if (st == TAL_ERR_NOT_FINITE && !tali_integrator_forgive(sun->integ)) {
        sun->fatal = *record;
        return -1;
    }
    return tali_integrator_may_retry(st) ? 1 : -1;
}

int tali_sun_rates(double t, N_Vector y, N_Vector ydot, void *self)
{
    tali_sun *sun = self;
    sun->is_settled = false;
    const tal_status st = tali_problem_rates(&sun->integ->problem, sun->state, t, tali_sun_data(y),
                                             tali_sun_data(ydot));
    return tali_sun_answer(sun, st);
}

int tali_sun_error_weights(N_Vector y, N_Vector ewt, void *self)
{
    (void)y;
    const tali_sun *sun = self;
    const int ny = sun->weights.nq + sun->weights.nu + sun->weights.nz;
    double *out = tali_sun_data(ewt);
    memcpy(out, sun->weights.e, (size_t)ny * sizeof *out);
    for (int i = ny; i < sun->pool.length; ++i) {
        out[i] = 1.0; // multipliers, which no norm counts
    }
    return 0;
}

// --- Jacobian ---

tali_problem_scale tali_sun_scale(const tali_sun *sun)
{
    const tali_sun_weights *weights = &sun->weights;
    return (tali_problem_scale){.nq = weights->nq,
                                .nu = weights->nu,
                                .nz = weights->nz,
                                .e = weights->e,
                                .known_u = weights->known_u,
                                .accuracy = sun->integ->tolerance};
}

int tali_sun_jacobian(double t, N_Vector y, N_Vector ydot, SUNMatrix J, void *self, N_Vector tmp1,
                      N_Vector tmp2, N_Vector tmp3)
{
    (void)tmp3;
    tali_sun *sun = self;
    tal_integrator *integ = sun->integ;
    const tali_problem_scale scale = tali_sun_scale(sun);
    double *changed = tali_sun_data(tmp1);
    (void)SUNMatZero(J);
    memcpy(changed, tali_sun_data(y), (size_t)sun->pool.length * sizeof *changed);
    ++integ->stats.jacobians;
    sun->is_settled = false;
    const tal_status st =
        tali_problem_jacobian(&integ->problem, sun->state, &scale, t, tali_sun_data(ydot), changed,
                              tali_sun_columns(J), tali_sun_data(tmp2));
    return tali_sun_answer(sun, st);
}

int tali_sun_jacobian_times(N_Vector v, N_Vector Jv, double t, N_Vector y, N_Vector ydot,
                            void *self, N_Vector tmp)
{
    (void)tmp;
    tali_sun *sun = self;
    const tali_problem_scale scale = tali_sun_scale(sun);
    sun->is_settled = false;
    const tal_status st =
        tali_problem_jacobian_times(&sun->integ->problem, sun->state, &scale, t, tali_sun_data(y),
                                    tali_sun_data(ydot), tali_sun_data(v), tali_sun_data(Jv));
    return tali_sun_answer(sun, st);
}
