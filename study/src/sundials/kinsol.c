// KINSOL: Newton's method with a line search, in vectors of a pool and with our dense solver.
#include "sundials/kinsol_internal.h"
#include "sundials/sundials_internal.h"

#include <kinsol/kinsol.h>
#include <kinsol/kinsol_ls.h>
#include <string.h>

// Vectors that KINSOL clones, 5 in version 6.4.1 and some to spare; x and the two scales are ours.
static const int NUM_VECTORS = 12;

struct tali_sun_kinsol {
    tal_allocator allocator;
    tali_sun_context context;
    tali_sun_pool pool;
    void *memory;
    N_Vector x, scale_x, scale_F;
    const tali_sun_roots *roots; // those being solved for
    tal_status failed;           // of a callback; TAL_OK: none
};

// --- callbacks ---

// 1 lets KINSOL try a shorter step.
static int answer(tali_sun_kinsol *it, tal_status st)
{
    it->failed = st;
    if (st == TAL_OK) return 0;
    return st == TAL_RETRY || st == TAL_ERR_NOT_FINITE || st == TAL_ERR_NO_CONVERGENCE ? 1 : -1;
}

static int calc_F(N_Vector x, N_Vector F, void *self)
{
    tali_sun_kinsol *it = self;
    return answer(it, it->roots->calc(it->roots->self, tali_sun_data(x), tali_sun_data(F)));
}

static int calc_slopes(N_Vector x, N_Vector F, SUNMatrix J, void *self, N_Vector tmp1,
                       N_Vector tmp2)
{
    (void)tmp1, (void)tmp2;
    tali_sun_kinsol *it = self;
    (void)SUNMatZero(J);
    return answer(it, it->roots->slopes(it->roots->self, tali_sun_data(x), tali_sun_data(F),
                                        tali_sun_columns(J)));
}

// --- creation ---

static bool set_up(tali_sun_kinsol *it)
{
    void *memory = KINCreate(it->context.handle);
    it->memory = memory;
    if (memory == NULL) return false;
    it->x = tali_sun_pool_vector(&it->pool);
    it->scale_x = tali_sun_pool_vector(&it->pool);
    it->scale_F = tali_sun_pool_vector(&it->pool);
    return KINSetErrHandlerFn(memory, tali_sun_be_silent, NULL) == KIN_SUCCESS &&
           KINSetInfoHandlerFn(memory, tali_sun_be_silent_too, NULL) == KIN_SUCCESS &&
           KINInit(memory, calc_F, it->x) == KIN_SUCCESS &&
           KINSetUserData(memory, it) == KIN_SUCCESS &&
           KINSetMaxSetupCalls(memory, 1) == KIN_SUCCESS && // new slopes at every step
           KINSetLinearSolver(memory, &it->pool.lu, tali_sun_pool_matrix(&it->pool)) ==
               KINLS_SUCCESS &&
           KINSetJacFn(memory, calc_slopes) == KINLS_SUCCESS;
}

tali_sun_kinsol *tali_sun_kinsol_create(const tal_allocator *allocator, int capacity)
{
    tali_sun_kinsol *it = tali_alloc(allocator, sizeof *it);
    if (it == NULL) return NULL;
    it->allocator = *allocator;
    const int room = capacity > 0 ? capacity : 1;
    if (tali_sun_context_open(&it->context) &&
        tali_sun_pool_create(&it->pool, allocator, room, NUM_VECTORS, 1)) {
        tali_sun_pool_set_context(&it->pool, it->context.handle);
        it->pool.length = room;
        if (set_up(it)) return it;
    }
    tali_sun_kinsol_destroy(it);
    return NULL;
}

void tali_sun_kinsol_destroy(tali_sun_kinsol *it)
{
    if (it == NULL) return;
    const tal_allocator allocator = it->allocator;
    if (it->memory != NULL) KINFree(&it->memory);
    if (it->pool.block != NULL) tali_sun_pool_destroy(&it->pool);
    tali_sun_context_close(&it->context);
    tali_free(&allocator, it, sizeof *it);
}

// --- solving ---

static tal_status explain(const tali_sun_kinsol *it, int flag, tal_error *err)
{
    // F cannot be made smaller, which at a root is as it should be: the caller judges
    if (flag >= 0 || flag == KIN_LINESEARCH_NONCONV) return TAL_OK;
    if (it->failed != TAL_OK && it->failed != TAL_RETRY) return it->failed;
    const char *why = "no step makes the errors smaller";
    if (flag == KIN_MAXITER_REACHED) why = "there were not enough iterations";
    if (flag == KIN_LSETUP_FAIL || flag == KIN_LSOLVE_FAIL) why = "the equations are dependent";
    if (flag == KIN_MXNEWT_5X_EXCEEDED) why = "five steps in turn had the longest length";
    return TALI_FAIL(err, TAL_ERR_NO_CONVERGENCE, "KINSOL found no solution: %s (its code is %d)",
                     why, flag);
}

tal_status tali_sun_kinsol_solve(tali_sun_kinsol *it, const tali_sun_roots *roots, double x[],
                                 int *iterations, tal_error *err)
{
    const size_t bytes = (size_t)roots->n * sizeof(double);
    if (roots->n == 0) return TAL_OK;
    it->pool.length = roots->n;
    it->roots = roots;
    it->failed = TAL_OK;
    memcpy(tali_sun_data(it->x), x, bytes);
    memcpy(tali_sun_data(it->scale_x), roots->scale_x, bytes);
    memcpy(tali_sun_data(it->scale_F), roots->scale_F, bytes);
    (void)KINSetFuncNormTol(it->memory, roots->error);
    (void)KINSetScaledStepTol(it->memory, roots->step);
    (void)KINSetMaxNewtonStep(it->memory, roots->longest);
    (void)KINSetNumMaxIters(it->memory, roots->max_iterations);
    const int flag = KINSol(it->memory, it->x, KIN_LINESEARCH, it->scale_x, it->scale_F);
    long taken = 0;
    (void)KINGetNumNonlinSolvIters(it->memory, &taken);
    *iterations += (int)taken;
    memcpy(x, tali_sun_data(it->x), bytes);
    return explain(it, flag, err);
}
