// Derivatives of forward dynamics with constraints (theory eq. 13.13).
#include "constraint/constraint_internal.h"
#include "derivative/derivative_internal.h"
#include "kernel/passes_internal.h"
#include "stage/stages_internal.h"

#include <math.h>

// --- solving ---

/// The equations M x + G^T y = r, G x = s.
typedef struct equations {
    const tal_matter *matter;
    tal_state *state;
    const tali_tree_view *view;
    tali_kernel_inverse_room room;
    int nu, m;
    double *aerr, *left, *y; // [m]
    double *block;           // [TALI_KERNEL_LANES][nu]
    bool has_rank;           // all rows are independent
} equations;

static tal_status take_equations(const tal_matter *matter, tal_state *state,
                                 const tali_tree_view *view, equations *it)
{
    *it = (equations){.matter = matter, .state = state, .view = view, .nu = view->tree->num_u};
    it->m = tali_constraint_num_rows(matter, state);
    const size_t m = (size_t)it->m + 1, nu = (size_t)it->nu + 1, d = sizeof(double);
    it->room = tali_derivative_inverse_room(view->tree, state);
    it->aerr = tal_state_scratch_take(state, m * d);
    it->left = tal_state_scratch_take(state, m * d);
    it->y = tal_state_scratch_take(state, m * d);
    it->block = tal_state_scratch_take(state, TALI_KERNEL_LANES * nu * d);
    if (it->block == NULL) return TAL_ERR_CAPACITY;
    view->passes->inverse_prepare(view, &it->room);
    if (it->m == 0) return TAL_OK;
    tal_rows_report report;
    const tal_status st = tal_matter_calc_constraint_report(matter, state, &report, NULL);
    it->has_rank = st == TAL_OK && report.rank == it->m;
    return st;
}

// What multipliers cannot remove of aerr must be round-off beside the largest entry.
static tal_status check_left(const equations *it, int column)
{
    double size = 0.0;
    for (int i = 0; i < it->m; ++i) {
        it->left[i] = it->aerr[i];
        size = fmax(size, fabs(it->aerr[i]));
    }
    const tal_status st = tali_constraints_residual(it->matter, it->state, it->view, it->left);
    for (int i = 0; i < it->m && st == TAL_OK; ++i) {
        if (fabs(it->left[i]) <= TAL_INCONSISTENT * size) continue;
        const tal_constraint_ix owner = tal_matter_row_owner(it->matter, it->state, i);
        return tal_state_fail(it->state, TAL_ERR_SINGULAR,
                              "constraint '%s': row %d of all repeats others here but not along "
                              "column %d, where %g of it remains: the rank changes, and there is "
                              "no derivative",
                              tal_constraint_name(it->matter, owner), i, column, it->left[i]);
    }
    return st;
}

// y = W^+ (G M^-1 r - s) of column j, which holds (M^-1 r, s) and then (M^-1 r, y); z = G^T y.
static tal_status find_multipliers(const equations *it, double column[], int j, double z[])
{
    double *s = column + it->nu;
    tal_status st = tal_matter_mul_G(it->matter, it->state, TAL_G, column, it->aerr);
    for (int i = 0; i < it->m; ++i) {
        it->aerr[i] -= s[i];
    }
    if (st == TAL_OK && !it->has_rank) st = check_left(it, j);
    if (st == TAL_OK) st = tali_constraints_multipliers(it->matter, it->state, it->aerr, it->y);
    if (st == TAL_OK) st = tal_matter_mul_GT(it->matter, it->state, TAL_G, it->y, z);
    memcpy(s, it->y, (size_t)it->m * sizeof *s);
    return st;
}

// Columns `first` to before `end`, no more than there are lanes: x = M^-1 r - M^-1 G^T y.
static tal_status solve_block(const equations *it, tal_matrix B, int first, int end)
{
    const size_t nu = (size_t)it->nu;
    tal_status st = TAL_OK;
    for (int j = first; j < end && st == TAL_OK; ++j) {
        st = find_multipliers(it, tali_op_column(B, j), j, it->block + (size_t)(j - first) * nu);
    }
    if (st != TAL_OK) return st;
    it->view->passes->inverse_columns(it->view, &it->room, 1.0, it->block, it->nu, end - first);
    for (int j = first; j < end; ++j) {
        for (size_t i = 0; i < nu; ++i) {
            tali_op_column(B, j)[i] -= it->block[(size_t)(j - first) * nu + i];
        }
    }
    return TAL_OK;
}

// All columns: M^-1 r first, then the multipliers.
static tal_status solve(const equations *it, tal_matrix B)
{
    it->view->passes->inverse_columns(it->view, &it->room, 1.0, B.data, B.ld, B.cols);
    if (it->m == 0) return TAL_OK;
    tal_status st = TAL_OK;
    for (int j = 0; j < B.cols && st == TAL_OK; j += TALI_KERNEL_LANES) {
        st = solve_block(it, B, j, j + TALI_KERNEL_LANES < B.cols ? j + TALI_KERNEL_LANES : B.cols);
    }
    return st;
}

tal_status tal_matter_solve_changes(const tal_matter *matter, tal_state *state, tal_matrix B)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_DYNAMICS, &view, __func__);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    equations it;
    st = take_equations(matter, state, &view, &it);
    if (st == TAL_OK) st = tali_derivative_check_known(matter, state);
    if (st == TAL_OK) st = tali_op_matrix("B", B, it.nu + it.m, B.cols, __func__);
    for (int j = 0; j < B.cols && st == TAL_OK; ++j) {
        st = tali_op_finite(state, "B", tali_op_column(B, j), B.rows);
    }
    if (st == TAL_OK) st = solve(&it, B);
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? tali_op_result_columns(state, "B", B) : st;
}

// --- derivatives of forward dynamics ---

/// Where derivatives are taken, and what is wanted of them.
typedef struct point {
    const tal_spatial_vec *F_GB;
    const double *f;
    double *udot, *lambda;
    tal_matrix by_q, by_u, by_f;
} point;

static tal_status find_udot(const tal_matter *matter, tal_state *state, const tali_tree_view *view,
                            const point *at)
{
    const size_t n = (size_t)matter->num_bodies, mark = tal_state_scratch_mark(state);
    tal_spatial_vec *F = NULL;
    if (at->F_GB != NULL) {
        F = tal_state_scratch_take(state, n * sizeof *F);
        for (int b = 0; b < matter->num_bodies; ++b) {
            F[b] = tal_sv_shift_force(at->F_GB[b], tali_op_p_MB_G(view, b));
        }
    }
    const tal_status st =
        tali_stage_solve_udot(matter, state, view, F, at->f, at->udot, NULL, at->lambda);
    tal_state_scratch_release(state, mark);
    return st;
}

// The upper rows of a matrix.
static tal_matrix upper(tal_matrix A, int rows)
{
    if (tali_derivative_is_wanted(A)) A.rows = rows;
    return A;
}

static void clear_lower(tal_matrix A, int first)
{
    for (int j = 0; j < A.cols; ++j) {
        memset(tali_op_column(A, j) + first, 0, (size_t)(A.rows - first) * sizeof(double));
    }
}

static void negate(tal_matrix A)
{
    for (int j = 0; j < A.cols; ++j) {
        for (int i = 0; i < A.rows; ++i) {
            tali_op_column(A, j)[i] = -tali_op_column(A, j)[i];
        }
    }
}

static void write_unit(tal_matrix A)
{
    for (int j = 0; j < A.cols; ++j) {
        memset(tali_op_column(A, j), 0, (size_t)A.rows * sizeof(double));
        tali_op_column(A, j)[j] = 1.0;
    }
}

// What the equations of motion and the errors change by, at fixed udot and lambda, negated.
static tal_status write_changes(const tal_matter *matter, tal_state *state,
                                const tali_tree_view *view, const point *at)
{
    const tal_matrix none = {NULL, 0, 0, 1};
    const int nu = view->tree->num_u;
    tal_status st = tal_matter_calc_ID_derivatives(matter, state, at->udot, at->F_GB,
                                                   upper(at->by_q, nu), upper(at->by_u, nu), none);
    clear_lower(at->by_q, nu);
    clear_lower(at->by_u, nu);
    if (st == TAL_OK) {
        st = tali_derivative_add_constraints(matter, state, view, at->udot, at->lambda, none,
                                             at->by_q, at->by_u);
    }
    negate(at->by_q);
    negate(at->by_u);
    return st;
}

static tal_status write_derivatives(const tal_matter *matter, tal_state *state,
                                    const tali_tree_view *view, const point *at)
{
    const tal_matrix all[3] = {at->by_q, at->by_u, at->by_f};
    tal_status st = find_udot(matter, state, view, at);
    if (st == TAL_OK) st = write_changes(matter, state, view, at);
    if (st == TAL_OK && tali_derivative_is_wanted(at->by_f)) write_unit(at->by_f);
    equations it;
    const size_t mark = tal_state_scratch_mark(state);
    if (st == TAL_OK) st = take_equations(matter, state, view, &it);
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        if (tali_derivative_is_wanted(all[i])) st = solve(&it, all[i]);
    }
    tal_state_scratch_release(state, mark);
    return st;
}

// Sizes of the three matrices, where they are wanted.
static tal_status check_sizes(const tal_matrix all[3], int rows, int cols, const char *where)
{
    static const char *const names[3] = {"by_q", "by_u", "by_f"};
    tal_status st = TAL_OK;
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        if (!tali_derivative_is_wanted(all[i])) continue;
        st = tali_op_matrix(names[i], all[i], rows, cols, where);
    }
    return st;
}

// Checks; udot and lambda in scratch memory; then all matrices that are wanted.
tal_status tal_matter_calc_constrained_derivatives(const tal_matter *matter, tal_state *state,
                                                   const tal_spatial_vec F_GB[], const double f[],
                                                   double udot[], double lambda[], tal_matrix by_q,
                                                   tal_matrix by_u, tal_matrix by_f)
{
    const tal_matrix all[3] = {by_q, by_u, by_f};
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_DYNAMICS, &view, __func__);
    if (st != TAL_OK) return st;
    const tal_constraint_rows rows = tal_matter_constraint_rows(matter, state);
    const int nu = view.tree->num_u, m = rows.mp + rows.mv + rows.ma;
    st = check_sizes(all, nu + m, nu, __func__);
    if (st == TAL_OK) st = tali_op_finite_bodies(state, "F_GB", F_GB, matter->num_bodies);
    if (st == TAL_OK && f != NULL) st = tali_op_finite(state, "f", f, nu);
    if (st == TAL_OK) st = tali_derivative_check_known(matter, state);
    if (st == TAL_OK) st = tali_derivative_check_slides(matter, state);
    if (st != TAL_OK) return st;

    const size_t d = sizeof(double), n = (size_t)nu, mark = tal_state_scratch_mark(state);
    point at = {F_GB, f, NULL, NULL, by_q, by_u, by_f};
    at.udot = tal_state_scratch_take(state, (n + 1) * d);
    at.lambda = tal_state_scratch_take(state, ((size_t)m + 1) * d);
    st = at.lambda != NULL ? write_derivatives(matter, state, &view, &at) : TAL_ERR_CAPACITY;
    if (st == TAL_OK && udot != NULL) memcpy(udot, at.udot, n * d);
    if (st == TAL_OK && lambda != NULL) memcpy(lambda, at.lambda, (size_t)m * d);
    tal_state_scratch_release(state, mark);
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        if (tali_derivative_is_wanted(all[i]))
            st = tali_op_result_columns(state, "a derivative", all[i]);
    }
    return st;
}
