// What the solvers of SUNDIALS share: the engine, and callbacks on the State.
//
// SUNDIALS 6.4.1 does not notice a NaN; the callbacks look at every number that goes in or out, and
// keep the message about the first bad one in the integrator's record.
#include "finite_internal.h"

#include "sundials/sundials_internal.h"

#include <float.h>
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

// SUNDIALS 6.4.1 crashes in SUNContext_Create() when memory runs out. Built without logging and
// profiling, as Debian does, it only passes contexts on and never looks behind the pointer, so
// zeros are enough.
#if SUNDIALS_VERSION_MAJOR == 6 && SUNDIALS_LOGGING_LEVEL == 0 &&                                  \
    !defined(SUNDIALS_BUILD_WITH_PROFILING)
static bool make_context(tali_sun *sun)
{
    sun->context = (SUNContext)(void *)&sun->zeros;
    return true;
}

static void free_context(tali_sun *sun)
{
    sun->context = NULL;
}
#else
static bool make_context(tali_sun *sun)
{
    return SUNContext_Create(NULL, &sun->context) == 0;
}

static void free_context(tali_sun *sun)
{
    if (sun->context != NULL) (void)SUNContext_Free(&sun->context);
}
#endif

static double norm_of_y(const void *self, const double x[], const double id[])
{
    return tali_sun_weights_norm(self, x, id);
}

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
        !tali_sun_weights_create(&sun->weights, sun->integ) || !make_context(sun)) {
        return false;
    }
    tali_sun_pool_set_context(&sun->pool, sun->context);
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
    free_context(sun);
    tali_sun_weights_destroy(&sun->weights);
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

static bool stands_at(const tal_state *state, double t, const double y[])
{
    const size_t bytes = (size_t)tal_state_ny(state) * sizeof *y;
    return tal_state_stage(state) >= TAL_STAGE_ACCELERATION && tal_state_t(state) == t &&
           memcmp(tal_state_y(state), y, bytes) == 0;
}

// ydot at t and y, prescribed and relaxed first. Free where the State is already.
static tal_status rates_at(tali_sun *sun, double t, const double y[], double ydot[])
{
    tal_integrator *integ = sun->integ;
    sun->is_settled = false;
    if (stands_at(sun->state, t, y)) {
        return tali_problem_evaluate(&integ->problem, sun->state, ydot);
    }
    tal_status st = tali_problem_put(&integ->problem, sun->state, t, y);
    if (st == TAL_OK) st = tali_problem_settle_stage(&integ->problem, sun->state, false);
    return st == TAL_OK ? tali_problem_evaluate(&integ->problem, sun->state, ydot) : st;
}

int tali_sun_rates(double t, N_Vector y, N_Vector ydot, void *self)
{
    tali_sun *sun = self;
    return tali_sun_answer(sun, rates_at(sun, t, tali_sun_data(y), tali_sun_data(ydot)));
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

// By how much to change a variable for differences: half the digits of it, or of a unit change. The
// change is one that adds up exactly.
double tali_sun_increment(const tali_sun *sun, double y, int i)
{
    const double unit = 1.0 / (sun->weights.e[i] * sun->integ->tolerance);
    const double wanted = sqrt(DBL_EPSILON) * fmax(fabs(y), unit);
    const volatile double moved = y + wanted;
    return moved - y;
}

// Column j of J, from the rates at y + step e_j.
static void set_column(SUNMatrix J, int j, const double moved[], const double ydot[], double step,
                       int ny)
{
    double *column = tali_sun_column(J, j);
    for (int i = 0; i < ny; ++i) {
        column[i] = (moved[i] - ydot[i]) / step;
    }
}

// d ydot / d(u, z): q stays where it is, and with it everything that depends on q alone.
static tal_status columns_of_uz(tali_sun *sun, const double ydot[], SUNMatrix J, double y[],
                                double moved[])
{
    tal_integrator *integ = sun->integ;
    const int nq = sun->weights.nq, nu = sun->weights.nu, ny = nq + nu + sun->weights.nz;
    for (int j = ny - 1; j >= nq; --j) {
        if (j < nq + nu && sun->weights.known_u[j - nq]) continue;
        const double kept = y[j], step = tali_sun_increment(sun, kept, j);
        y[j] = kept + step;
        tal_status st = tali_problem_put_uz(&integ->problem, sun->state, y);
        y[j] = kept;
        if (st == TAL_OK) st = tali_problem_settle_relaxed(&integ->problem, sun->state);
        if (st == TAL_OK) st = tali_problem_evaluate(&integ->problem, sun->state, moved);
        if (st != TAL_OK) return st;
        set_column(J, j, moved, ydot, step, ny);
    }
    return TAL_OK;
}

// d ydot / dq.
static tal_status columns_of_q(tali_sun *sun, double t, const double ydot[], SUNMatrix J,
                               double y[], double moved[])
{
    const int nq = sun->weights.nq, ny = nq + sun->weights.nu + sun->weights.nz;
    for (int j = 0; j < nq; ++j) {
        const double kept = y[j], step = tali_sun_increment(sun, kept, j);
        y[j] = kept + step;
        const tal_status st = rates_at(sun, t, y, moved);
        y[j] = kept;
        if (st != TAL_OK) return st;
        set_column(J, j, moved, ydot, step, ny);
    }
    return TAL_OK;
}

// Every column through the projection of stages, which lets each variable move all others.
static tal_status columns_of_y(tali_sun *sun, double t, const double ydot[], SUNMatrix J,
                               double y[], double moved[])
{
    const int nq = sun->weights.nq, nu = sun->weights.nu, ny = nq + nu + sun->weights.nz;
    for (int j = 0; j < ny; ++j) {
        if (j >= nq && j < nq + nu && sun->weights.known_u[j - nq]) continue;
        const double kept = y[j], step = tali_sun_increment(sun, kept, j);
        y[j] = kept + step;
        const tal_status st = rates_at(sun, t, y, moved);
        y[j] = kept;
        if (st != TAL_OK) return st;
        set_column(J, j, moved, ydot, step, ny);
    }
    return TAL_OK;
}

// d qdot / du = N, exactly. Speeds that are known have no column.
static tal_status rows_of_N(tali_sun *sun, SUNMatrix J)
{
    const tal_integrator *integ = sun->integ;
    const tali_sun_weights *weights = &sun->weights;
    int block = 0;
    for (int i = 1; block < weights->num_blocks; ++i) {
        const tal_body_ix body = {i};
        if (tal_body_nu(integ->problem.matter, body) == 0) continue;
        const tali_sun_weight_block *b = &weights->blocks[block++];
        for (int k = 0; k < b->nu; ++k) {
            double unit[TAL_MAX_NU] = {0.0};
            unit[k] = 1.0;
            if (weights->known_u[b->u0 + k]) continue;
            double *column = tali_sun_column(J, weights->nq + b->u0 + k) + b->q0;
            const tal_status st =
                tal_body_mul_N(integ->problem.matter, sun->state, body, TAL_N, unit, column);
            if (st != TAL_OK) return tali_problem_pass_on(&sun->integ->problem, sun->state, st);
        }
    }
    return TAL_OK;
}

// Columns in the order of what they leave standing in the State: those of z keep velocities, those
// of u keep positions.
static tal_status plain_columns(tali_sun *sun, double t, const double ydot[], SUNMatrix J,
                                double y[], double moved[])
{
    tal_status st = tali_problem_put(&sun->integ->problem, sun->state, t, y);
    if (st == TAL_OK) st = tali_problem_settle_stage(&sun->integ->problem, sun->state, false);
    if (st == TAL_OK) st = columns_of_uz(sun, ydot, J, y, moved);
    if (st == TAL_OK) st = rows_of_N(sun, J);
    return st == TAL_OK ? columns_of_q(sun, t, ydot, J, y, moved) : st;
}

int tali_sun_jacobian(double t, N_Vector y, N_Vector ydot, SUNMatrix J, void *self, N_Vector tmp1,
                      N_Vector tmp2, N_Vector tmp3)
{
    (void)tmp3;
    tali_sun *sun = self;
    tal_integrator *integ = sun->integ;
    double *at = tali_sun_data(tmp1), *moved = tali_sun_data(tmp2);
    const double *rates = tali_sun_data(ydot);
    (void)SUNMatZero(J);
    memcpy(at, tali_sun_data(y), (size_t)sun->pool.length * sizeof *at);
    ++integ->stats.jacobians;
    sun->is_settled = false;
    const tal_status st = integ->problem.projects_stages
                              ? columns_of_y(sun, t, rates, J, at, moved)
                              : plain_columns(sun, t, rates, J, at, moved);
    return tali_sun_answer(sun, st);
}

// J v by a difference along v, as long as half the digits allow.
int tali_sun_jacobian_times(N_Vector v, N_Vector Jv, double t, N_Vector y, N_Vector ydot,
                            void *self, N_Vector tmp)
{
    tali_sun *sun = self;
    const double *along = tali_sun_data(v), *at = tali_sun_data(y), *rates = tali_sun_data(ydot);
    const double accuracy = sun->integ->tolerance;
    double *moved = tali_sun_data(tmp), *out = tali_sun_data(Jv);
    const int n = sun->pool.length;
    double size_v = 0.0, size_y = 1.0; // in unit changes
    for (int i = 0; i < n; ++i) {
        size_v = fmax(size_v, accuracy * sun->weights.e[i] * fabs(along[i]));
        size_y = fmax(size_y, accuracy * sun->weights.e[i] * fabs(at[i]));
    }
    const double step = size_v > 0.0 ? sqrt(DBL_EPSILON) * size_y / size_v : 1.0;
    for (int i = 0; i < n; ++i) {
        moved[i] = at[i] + step * along[i];
    }
    const tal_status st = rates_at(sun, t, moved, out);
    for (int i = 0; i < n && st == TAL_OK; ++i) {
        out[i] = (out[i] - rates[i]) / step;
    }
    return tali_sun_answer(sun, st);
}
