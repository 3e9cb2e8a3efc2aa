// LAPACK behind our conventions: arguments checked first, the caller's workspace, a sentence on
// failure.
//
// Every routine is asked for its optimal workspace (LWORK = -1) before it is called, and never
// called with less, so LAPACK's error printer XERBLA is not reached. The sizes are bounded so that
// neither our products nor LAPACK's own overflow an int.
#include "error_internal.h"

#include "dense/dense_internal.h"
#include "dense/lapack_fortran.h"

#include <talus/common/lapack.h>

#include <limits.h>
#include <math.h>
#include <stdint.h>

static const int QUERY = -1;

// Generous for every routine here: LAPACK's block sizes stay below 128, and the largest quadratic
// demand is 4 k^2 (DGESDD with vectors, k = min(m, n)).
static tal_status check_sizes(int m, int n, int nrhs, const char *where)
{
    if (m < 0 || n < 0 || nrhs < 0) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "sizes %d, %d, %d; they cannot be negative", m,
                           n, nrhs);
    }
    const int64_t k = tali_dense_min(m, n);
    const int64_t linear = 256 * ((int64_t)m + n + nrhs + 1);
    if (k > 16384 || 6 * k * k + linear > INT_MAX) {
        return tali_breach(TAL_ERR_BAD_VALUE, where,
                           "sizes %d, %d, %d are too large for LAPACK's 32-bit integers", m, n,
                           nrhs);
    }
    return TAL_OK;
}

// LAPACK answers a workspace query in a double, which has to be rounded up.
static int work_size_of(double answer)
{
    return tali_dense_max(1, (int)ceil(answer));
}

static tal_status check_work(const double work[], int given, int needed, const char *where,
                             tal_error *err)
{
    if (work == NULL) return tali_breach(TAL_ERR_NULL, where, "work is NULL");
    if (given >= needed) return TAL_OK;
    return tali_fail(err, TAL_ERR_CAPACITY, where, "work holds %d doubles but %d are needed", given,
                     needed);
}

static tal_status check_output(const double array[], int n, const char *name, const char *where)
{
    if (array != NULL || n == 0) return TAL_OK;
    return tali_breach(TAL_ERR_NULL, where, "%s is NULL; it receives %d numbers", name, n);
}

static tal_status no_convergence(const char *where, int info, tal_error *err)
{
    return tali_fail(err, TAL_ERR_NO_CONVERGENCE, where,
                     "LAPACK did not converge (info = %d); the matrix may be badly scaled", info);
}

int tal_lapack_least_squares_work_size(int m, int n, int nrhs)
{
    if (check_sizes(m, n, nrhs, __func__) != TAL_OK) return -1;
    const int lda = tali_dense_max(1, m);
    const int ldb = tali_dense_max(1, tali_dense_max(m, n));
    double none = 0.0;
    double answer = 0.0;
    int info = 0;
    dgels_("N", &m, &n, &nrhs, &none, &lda, &none, &ldb, &answer, &QUERY, &info, 1);
    return work_size_of(answer);
}

// Has equations, and all of them read 0 = b.
static bool is_zero(tal_matrix A)
{
    double largest = 0.0;
    for (int j = 0; j < A.cols && A.rows > 0; ++j) {
        largest = fmax(largest, tali_array_largest(tali_dense_col(A, j), A.rows));
    }
    return A.rows > 0 && largest == 0.0;
}

tal_status tal_lapack_least_squares(tal_matrix A, tal_matrix B, double work[], int work_size,
                                    tal_error *err)
{
    tal_status st = tali_dense_check_matrix(A, "A", __func__);
    if (st == TAL_OK) {
        st = tali_dense_check_shape(B, tali_dense_max(A.rows, A.cols), B.cols, "B", __func__);
    }
    if (st == TAL_OK) st = check_sizes(A.rows, A.cols, B.cols, __func__);
    if (st != TAL_OK) return st;
    const tal_matrix given = {B.data, A.rows, B.cols, B.ld};
    const int needed = tal_lapack_least_squares_work_size(A.rows, A.cols, B.cols);
    st = check_work(work, work_size, needed, __func__, err);
    if (st == TAL_OK) st = tali_dense_check_finite(A, "A", __func__, err);
    if (st == TAL_OK) st = tali_dense_check_finite(given, "B", __func__, err);
    if (st != TAL_OK) return st;

    // DGELS clears B for these two, but without unknowns B is the residual, and 0 has not full rank
    if (A.cols == 0) return TAL_OK;
    int info = is_zero(A) ? 1 : 0;
    if (info == 0) {
        dgels_("N", &A.rows, &A.cols, &B.cols, A.data, &A.ld, B.data, &B.ld, work, &work_size,
               &info, 1);
    }
    if (info == 0) return TAL_OK;
    return TALI_FAIL(
        err, TAL_ERR_SINGULAR,
        "diagonal element %d of the triangular factor is zero; the matrix is rank deficient, use tal_cod_solve",
        info - 1);
}

static int svd_query(char job, int m, int n)
{
    const int ldu = tali_dense_max(1, m);
    const int ldvt = tali_dense_max(1, n);
    double none = 0.0;
    double answer = 0.0;
    int iwork = 0;
    int info = 0;
    dgesdd_(&job, &m, &n, &none, &ldu, &none, &none, &ldu, &none, &ldvt, &answer, &QUERY, &iwork,
            &info, 1);
    return work_size_of(answer);
}

int tal_lapack_svd_work_size(int m, int n)
{
    if (check_sizes(m, n, 0, __func__) != TAL_OK) return -1;
    return tali_dense_max(svd_query('N', m, n),
                          tali_dense_max(svd_query('S', m, n), svd_query('A', m, n)));
}

int tal_lapack_svd_iwork_size(int m, int n)
{
    if (check_sizes(m, n, 0, __func__) != TAL_OK) return -1;
    return 8 * tali_dense_min(m, n);
}

// DGESDD's JOBZ from the shapes of U and Vt; '\0' when they fit no form.
static char svd_job(tal_matrix A, tal_matrix U, tal_matrix Vt)
{
    const int k = tali_dense_min(A.rows, A.cols);
    if (U.rows == 0 && U.cols == 0 && Vt.rows == 0 && Vt.cols == 0) return 'N';
    if (U.rows != A.rows || Vt.cols != A.cols) return '\0';
    if (U.cols == k && Vt.rows == k) return 'S';
    if (U.cols == A.rows && Vt.rows == A.cols) return 'A';
    return '\0';
}

static void set_identity(tal_matrix I)
{
    for (int j = 0; j < I.cols; ++j) {
        for (int i = 0; i < I.rows; ++i) {
            tali_dense_col(I, j)[i] = i == j ? 1.0 : 0.0;
        }
    }
}

tal_status tal_lapack_svd(tal_matrix A, double s[], tal_matrix U, tal_matrix Vt, double work[],
                          int work_size, int iwork[], tal_error *err)
{
    const int k = tali_dense_min(A.rows, A.cols);
    tal_status st = tali_dense_check_matrix(A, "A", __func__);
    if (st == TAL_OK) st = tali_dense_check_matrix(U, "U", __func__);
    if (st == TAL_OK) st = tali_dense_check_matrix(Vt, "Vt", __func__);
    if (st == TAL_OK) st = check_sizes(A.rows, A.cols, 0, __func__);
    if (st == TAL_OK) st = check_output(s, k, "s", __func__);
    if (st != TAL_OK) return st;
    if (iwork == NULL && k > 0) return TALI_BREACH(TAL_ERR_NULL, "iwork is NULL");
    const char job = svd_job(A, U, Vt);
    if (job == '\0') {
        return TALI_BREACH(TAL_ERR_BAD_VALUE,
                           "U is %d x %d and Vt is %d x %d, which does not fit a %d x %d matrix",
                           U.rows, U.cols, Vt.rows, Vt.cols, A.rows, A.cols);
    }
    const int needed = tal_lapack_svd_work_size(A.rows, A.cols);
    st = check_work(work, work_size, needed, __func__, err);
    if (st == TAL_OK) st = tali_dense_check_finite(A, "A", __func__, err);
    if (st != TAL_OK) return st;

    if (k == 0) { // DGESDD returns at once and leaves the vectors unset
        set_identity(U);
        set_identity(Vt);
        return TAL_OK;
    }
    int info = 0;
    dgesdd_(&job, &A.rows, &A.cols, A.data, &A.ld, s, U.data, &U.ld, Vt.data, &Vt.ld, work,
            &work_size, iwork, &info, 1);
    return info == 0 ? TAL_OK : no_convergence(__func__, info, err);
}

int tal_lapack_eig_sym_work_size(int n)
{
    if (check_sizes(n, n, 0, __func__) != TAL_OK) return -1;
    const int ld = tali_dense_max(1, n);
    const int itype = 1;
    double none = 0.0;
    double answer = 0.0;
    double pair_answer = 0.0;
    int info = 0;
    dsyev_("V", "L", &n, &none, &ld, &none, &answer, &QUERY, &info, 1, 1);
    dsygv_(&itype, "V", "L", &n, &none, &ld, &none, &ld, &none, &pair_answer, &QUERY, &info, 1, 1);
    return work_size_of(fmax(answer, pair_answer));
}

static tal_status check_eig_sym(tal_matrix A, const char *name, const double w[], const char *where)
{
    tal_status st = tali_dense_check_square(A, name, where);
    if (st == TAL_OK) st = check_sizes(A.rows, A.cols, 0, where);
    if (st == TAL_OK) st = check_output(w, A.rows, "w", where);
    return st;
}

tal_status tal_lapack_eig_sym(tal_matrix A, double w[], bool vectors, double work[], int work_size,
                              tal_error *err)
{
    tal_status st = check_eig_sym(A, "A", w, __func__);
    if (st != TAL_OK) return st;
    const int needed = tal_lapack_eig_sym_work_size(A.rows);
    st = check_work(work, work_size, needed, __func__, err);
    if (st == TAL_OK) st = tali_dense_check_finite_lower(A, "A", __func__, err);
    if (st != TAL_OK) return st;

    int info = 0;
    dsyev_(vectors ? "V" : "N", "L", &A.rows, A.data, &A.ld, w, work, &work_size, &info, 1, 1);
    return info == 0 ? TAL_OK : no_convergence(__func__, info, err);
}

tal_status tal_lapack_eig_sym_pair(tal_matrix K, tal_matrix M, double w[], bool vectors,
                                   double work[], int work_size, tal_error *err)
{
    tal_status st = check_eig_sym(K, "K", w, __func__);
    if (st == TAL_OK) st = tali_dense_check_shape(M, K.rows, K.cols, "M", __func__);
    if (st != TAL_OK) return st;
    const int needed = tal_lapack_eig_sym_work_size(K.rows);
    st = check_work(work, work_size, needed, __func__, err);
    if (st == TAL_OK) st = tali_dense_check_finite_lower(K, "K", __func__, err);
    if (st == TAL_OK) st = tali_dense_check_finite_lower(M, "M", __func__, err);
    if (st != TAL_OK) return st;

    const int itype = 1; // K v = lambda M v
    int info = 0;
    dsygv_(&itype, vectors ? "V" : "N", "L", &K.rows, K.data, &K.ld, M.data, &M.ld, w, work,
           &work_size, &info, 1, 1);
    if (info > K.rows) {
        return TALI_FAIL(
            err, TAL_ERR_SINGULAR,
            "the leading minor of order %d of M is not positive; M must be positive definite",
            info - K.rows);
    }
    return info == 0 ? TAL_OK : no_convergence(__func__, info, err);
}

int tal_lapack_eig_work_size(int n)
{
    if (check_sizes(n, n, 0, __func__) != TAL_OK) return -1;
    const int ld = tali_dense_max(1, n);
    double none = 0.0;
    double answer = 0.0;
    int info = 0;
    dgeev_("V", "V", &n, &none, &ld, &none, &none, &none, &ld, &none, &ld, &answer, &QUERY, &info,
           1, 1);
    const int both = work_size_of(answer);
    dgeev_("N", "V", &n, &none, &ld, &none, &none, &none, &ld, &none, &ld, &answer, &QUERY, &info,
           1, 1);
    return tali_dense_max(both, work_size_of(answer));
}

// Vectors are wanted (n x n) or not (0 x 0); nothing else makes sense.
static tal_status check_vectors(tal_matrix V, int n, const char *name, const char *where)
{
    if (V.rows == 0 && V.cols == 0) return tali_dense_check_matrix(V, name, where);
    return tali_dense_check_shape(V, n, n, name, where);
}

tal_status tal_lapack_eig(tal_matrix A, const tal_eig *eig, double work[], int work_size,
                          tal_error *err)
{
    if (eig == NULL) return TALI_BREACH(TAL_ERR_NULL, "eig is NULL");
    tal_status st = tali_dense_check_square(A, "A", __func__);
    if (st == TAL_OK) st = check_sizes(A.rows, A.cols, 0, __func__);
    if (st == TAL_OK) st = check_output(eig->wr, A.rows, "wr", __func__);
    if (st == TAL_OK) st = check_output(eig->wi, A.rows, "wi", __func__);
    if (st == TAL_OK) st = check_vectors(eig->left, A.rows, "left", __func__);
    if (st == TAL_OK) st = check_vectors(eig->right, A.rows, "right", __func__);
    if (st != TAL_OK) return st;
    const int needed = tal_lapack_eig_work_size(A.rows);
    st = check_work(work, work_size, needed, __func__, err);
    if (st == TAL_OK) st = tali_dense_check_finite(A, "A", __func__, err);
    if (st != TAL_OK) return st;

    int info = 0;
    dgeev_(eig->left.rows > 0 ? "V" : "N", eig->right.rows > 0 ? "V" : "N", &A.rows, A.data, &A.ld,
           eig->wr, eig->wi, eig->left.data, &eig->left.ld, eig->right.data, &eig->right.ld, work,
           &work_size, &info, 1, 1);
    return info == 0 ? TAL_OK : no_convergence(__func__, info, err);
}
