// Condition and sensitivity of the equations of motion, K^T M K ydd = K^T f (RBDA eq. 8.46).
//
//   quantity                                     RBDA sec. 10.2   here
//   mass matrix                                  H                M
//   basis of the motions that are allowed        G                K
//   matrix that is solved with                   H, G^T H G       reduced
#include "alloc_internal.h"
#include "finite_internal.h"

#include "problem/study_internal.h"

#include <talus/common/lapack.h>
#include <talus/matter/tree_factor.h>
#include <talus/study/conditioning.h>

#include <math.h>
#include <string.h>

// What both calls work on, in one block.
typedef struct workspace {
    const tal_matter *matter;
    tal_state *state;
    tal_allocator allocator;
    void *block;
    size_t bytes;
    int nu, dof;
    double *M, *K, *MK, *reduced, *scales; // [nu * nu] each
    double *values;                        // [nu]
    double *dense;
    int *dense_ints, *lambda;
    double *eig;
    int eig_size;
} workspace;

static tal_status take_room(workspace *w, tal_error *err)
{
    const size_t d = sizeof(double), n = (size_t)w->nu;
    w->eig_size = tal_lapack_eig_sym_work_size(w->nu);
    tali_piece pieces[] = {
        {&w->M, n * n * d},
        {&w->K, n * n * d},
        {&w->MK, n * n * d},
        {&w->reduced, n * n * d},
        {&w->scales, n * n * d},
        {&w->values, n * d},
        {&w->dense, tal_matter_dense_work_size(w->matter, w->state) * d},
        {&w->dense_ints, tal_matter_dense_iwork_size(w->matter, w->state) * sizeof(int)},
        {&w->lambda, n * sizeof(int)},
        {&w->eig, (size_t)w->eig_size * d},
    };
    w->block =
        tali_alloc_pieces(&w->allocator, pieces, sizeof pieces / sizeof pieces[0], &w->bytes);
    if (w->block != NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for matrices of %d speeds", w->nu);
}

static tal_status pass_on(const tal_state *state, tal_status st, tal_error *err)
{
    if (st == TAL_OK) return st;
    return TALI_FAIL(err, st, "%s", tali_problem_reason(state, st));
}

// K of a tree whose speeds are all free is 1, and needs no decomposition.
static tal_status find_basis(workspace *w)
{
    const int rows = tal_state_pool_size(w->state, TAL_POOL_UDOTERR);
    const tal_matrix K = tal_matrix_view(w->K, w->nu, w->nu);
    w->dof = w->nu;
    if (rows == 0 && tal_matter_num_free(w->matter, w->state) == w->nu) {
        for (size_t i = 0, n = (size_t)w->nu; i < n; ++i) {
            w->K[i + i * n] = 1.0;
        }
        return TAL_OK;
    }
    return tal_matter_calc_null_basis(w->matter, w->state, K, &w->dof, w->dense, w->dense_ints);
}

// out = K^T (A K), both dof x dof, of which A K is given.
static void reduce(const workspace *w, const double AK[], double out[])
{
    const size_t n = (size_t)w->nu;
    for (int j = 0; j < w->dof; ++j) {
        for (int i = 0; i <= j; ++i) {
            const double *const a = w->K + (size_t)i * n, *const b = AK + (size_t)j * n;
            double sum = 0.0;
            for (size_t k = 0; k < n; ++k) {
                sum += a[k] * b[k];
            }
            out[i + j * w->dof] = out[j + i * w->dof] = sum;
        }
    }
}

// Opens the State, takes room and finds M, K and K^T M K. The caller frees the block.
static tal_status begin(const tal_system *system, tal_state *state, workspace *w, tal_error *err)
{
    *w = (workspace){.state = state};
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    if (state == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the State is NULL");
    st = pass_on(state, tal_system_realize(system, state, TAL_STAGE_VELOCITY), err);
    if (st != TAL_OK) return st;
    w->matter = tal_system_matter(system);
    w->allocator = tal_system_allocator(system);
    w->nu = tal_matter_nu(w->matter);
    st = take_room(w, err);
    if (st != TAL_OK) return st;
    const tal_matrix M = tal_matrix_view(w->M, w->nu, w->nu);
    st = tal_matter_calc_M(w->matter, state, M);
    if (st == TAL_OK) st = find_basis(w);
    if (st == TAL_OK && w->dof > 0) {
        st = tal_matter_mul_M_columns(w->matter, state, tal_matrix_view(w->K, w->nu, w->dof),
                                      tal_matrix_view(w->MK, w->nu, w->dof));
    }
    if (st == TAL_OK) reduce(w, w->MK, w->reduced);
    return pass_on(state, st, err);
}

static void end(workspace *w)
{
    tali_free(&w->allocator, w->block, w->bytes);
}

// --- condition ---

// Where round-off makes the least eigenvalue zero or less, a motion moves no mass.
static double ratio_of(const double values[], int n)
{
    return values[0] > 0.0 ? values[n - 1] / values[0] : (double)INFINITY;
}

// The pencil (K^T M K, K^T diag(M) K): its eigenvalues do not depend on units, nor on K.
static tal_status find_scaled(workspace *w, tal_conditioning *out)
{
    const size_t n = (size_t)w->nu;
    double *const DK = w->MK, *const pencil = w->scales;
    for (int j = 0; j < w->dof; ++j) {
        for (size_t i = 0; i < n; ++i) {
            DK[i + (size_t)j * n] = w->M[i + i * n] * w->K[i + (size_t)j * n];
        }
    }
    reduce(w, DK, pencil);
    const tal_status st = tal_lapack_eig_sym_pair(tal_matrix_view(w->reduced, w->dof, w->dof),
                                                  tal_matrix_view(pencil, w->dof, w->dof),
                                                  w->values, false, w->eig, w->eig_size, NULL);
    out->scaled = st == TAL_OK ? ratio_of(w->values, w->dof) : (double)INFINITY;
    return st == TAL_ERR_SINGULAR ? TAL_OK : st; // some speed moves no mass at all
}

// The pivots of M from the tips to the base, L^T D L, over its diagonal (RBDA tab. 6.3).
static tal_status find_share(workspace *w, tal_conditioning *out)
{
    const size_t n = (size_t)w->nu;
    double *const factor = w->scales;
    int weakest = -1;
    memcpy(factor, w->M, n * n * sizeof *factor);
    tal_status st = tal_matter_calc_lambda(w->matter, w->lambda);
    if (st == TAL_OK) {
        st = tal_tree_factor_LTDL(w->lambda, tal_matrix_view(factor, w->nu, w->nu), NULL);
    }
    out->share = st == TAL_OK ? 1.0 : 0.0;
    for (size_t i = 0; i < n && st == TAL_OK; ++i) {
        const double share = factor[i + i * n] / w->M[i + i * n];
        if (share >= out->share) continue;
        out->share = share;
        weakest = (int)i;
    }
    out->weakest = (tal_mobility){{-1}, 0};
    for (int b = 1; weakest >= 0 && b < tal_matter_num_bodies(w->matter); ++b) {
        const int i = weakest - tal_body_u_start(w->matter, (tal_body_ix){b});
        if (i >= 0 && i < tal_body_nu(w->matter, (tal_body_ix){b})) {
            out->weakest = (tal_mobility){{b}, i};
        }
    }
    return st == TAL_ERR_SINGULAR ? TAL_OK : st;
}

tal_status tal_conditioning_calc(const tal_system *system, tal_state *state, tal_conditioning *out,
                                 tal_error *err)
{
    if (out == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "'out' is NULL");
    workspace w;
    tal_conditioning found = {.least = 1, .most = 1, .condition = 1, .scaled = 1, .share = 1};
    found.weakest.body.i = -1;
    tal_status st = begin(system, state, &w, err);
    found.dof = w.dof;
    if (st == TAL_OK && w.dof > 0) {
        const size_t bytes = (size_t)w.dof * (size_t)w.dof * sizeof(double);
        st = find_share(&w, &found);
        memcpy(w.scales, w.reduced, bytes);
        if (st == TAL_OK) {
            st = tal_lapack_eig_sym(tal_matrix_view(w.scales, w.dof, w.dof), w.values, false, w.eig,
                                    w.eig_size, NULL);
        }
        if (st == TAL_OK) {
            found.least = w.values[0];
            found.most = w.values[w.dof - 1];
            found.condition = ratio_of(w.values, w.dof);
            st = find_scaled(&w, &found);
        }
        st = pass_on(state, st, err);
    }
    if (st == TAL_OK) *out = found;
    end(&w);
    return st;
}

// --- sensitivity ---

// |A| |f| with A = K (K^T M K)^-1 K^T, a column of A at a time.
static tal_status add_reach(workspace *w, const double f[], double reach[], tal_error *err)
{
    const size_t n = (size_t)w->nu;
    const tal_matrix reduced = tal_matrix_view(w->reduced, w->dof, w->dof);
    tal_error why = {TAL_OK, "", ""};
    tal_status st = tal_chol_factor(reduced, NULL, &why);
    memset(reach, 0, n * sizeof *reach);
    for (size_t j = 0; j < n && st == TAL_OK; ++j) {
        for (int k = 0; k < w->dof; ++k) {
            w->values[k] = w->K[j + (size_t)k * n];
        }
        st = tal_chol_solve(reduced, tal_matrix_view(w->values, w->dof, 1), &why);
        for (size_t i = 0; i < n && st == TAL_OK; ++i) {
            double a = 0.0;
            for (int k = 0; k < w->dof; ++k) {
                a += w->K[i + (size_t)k * n] * w->values[k];
            }
            reach[i] += fabs(a * f[j]);
        }
    }
    if (st == TAL_OK) return st;
    return TALI_FAIL(err, st, "some motion moves no mass, so accelerations have no limit: %s",
                     why.message);
}

tal_status tal_conditioning_calc_reach(const tal_system *system, tal_state *state, const double f[],
                                       double reach[], tal_error *err)
{
    if (reach == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "'reach' is NULL");
    workspace w;
    tal_status st = begin(system, state, &w, err);
    const double *size = f;
    if (st == TAL_OK && f == NULL) {
        size = w.MK; // from here on free
        st = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
        if (st == TAL_OK) {
            const int u0 = tali_problem_u_start(system, state, w.matter);
            st = tal_matter_mul_M(w.matter, state, tal_state_udot(state) + u0, w.MK);
        }
        st = pass_on(state, st, err);
    } else if (st == TAL_OK && !tali_finite_all(f, w.nu)) {
        st = TALI_FAIL(err, TAL_ERR_NOT_FINITE, "a force is not finite");
    }
    if (st == TAL_OK) st = add_reach(&w, size, reach, err);
    end(&w);
    return st;
}
