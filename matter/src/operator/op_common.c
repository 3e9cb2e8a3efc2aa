// Argument checks that all operators share.
#include "finite_internal.h"

#include "operator/operators_internal.h"

#include <math.h>

// Why tali_tree_realize_view() failed: a broken contract that the State could not record, or what
// it did.
static tal_status why_no_view(const tal_matter *matter, const tal_state *state)
{
    const tal_system *system = matter->system;
    const bool strangers = state == NULL || !tal_system_has_topology(system) ||
                           tal_system_structure_hash(system) != tal_state_structure_hash(state);
    return strangers ? tal_contract_last()->status : tal_state_error(state)->status;
}

tal_status tali_op_view(const tal_matter *matter, tal_state *state, tali_tree_what what,
                        tali_tree_view *view, const char *where)
{
    if (matter == NULL) return tali_breach(TAL_ERR_NULL, where, "matter is NULL");
    if (tali_tree_realize_view(matter, state, what, view)) return TAL_OK;
    return why_no_view(matter, state);
}

static tal_status fail_not_finite(tal_state *state, const char *name, const double values[],
                                  const char *advice)
{
    int i = 0;
    while (isfinite(values[i])) {
        ++i;
    }
    return tal_state_fail(state, TAL_ERR_NOT_FINITE, "%s[%d] is %g: %s", name, i, values[i],
                          advice);
}

tal_status tali_op_finite(tal_state *state, const char *name, const double values[], int n)
{
    if (tali_finite_all(values, n)) return TAL_OK;
    return fail_not_finite(state, name, values, "give finite numbers");
}

tal_status tali_op_result(tal_state *state, const char *name, const double values[], int n)
{
    if (tali_finite_all(values, n)) return TAL_OK;
    return fail_not_finite(state, name, values,
                           "speeds, forces or masses are too large for double precision");
}

tal_status tali_op_result_columns(tal_state *state, const char *name, tal_matrix A)
{
    tal_status st = TAL_OK;
    for (int j = 0; j < A.cols && st == TAL_OK; ++j) {
        st = tali_op_result(state, name, tali_op_column(A, j), A.rows);
    }
    return st;
}

tal_status tali_op_finite_bodies(tal_state *state, const char *name, const tal_spatial_vec values[],
                                 int n)
{
    if (values == NULL || tali_finite_all(&values[0].w.x, 6 * n)) return TAL_OK;
    int b = 0;
    while (tal_sv_is_finite(values[b])) {
        ++b;
    }
    return tal_state_fail(state, TAL_ERR_NOT_FINITE,
                          "%s[%d] is (%g, %g, %g; %g, %g, %g): give finite numbers", name, b,
                          values[b].w.x, values[b].w.y, values[b].w.z, values[b].v.x, values[b].v.y,
                          values[b].v.z);
}

tal_status tali_op_matrix(const char *name, tal_matrix A, int rows, int cols, const char *where)
{
    if (A.rows != rows || A.cols != cols || A.ld < rows) {
        return tali_breach(TAL_ERR_BAD_VALUE, where,
                           "%s is %d x %d with leading dimension %d: it must be %d x %d", name,
                           A.rows, A.cols, A.ld, rows, cols);
    }
    if (A.data == NULL && rows > 0 && cols > 0) {
        return tali_breach(TAL_ERR_NULL, where, "the numbers of %s are NULL", name);
    }
    return TAL_OK;
}

tal_status tali_op_columns(tal_state *state, const char *in_name, tal_matrix in, int in_rows,
                           const char *out_name, tal_matrix out, int out_rows, const char *where)
{
    tal_status st = tali_op_matrix(in_name, in, in_rows, in.cols, where);
    if (st == TAL_OK) st = tali_op_matrix(out_name, out, out_rows, in.cols, where);
    for (int j = 0; j < in.cols && st == TAL_OK; ++j) {
        st = tali_op_finite(state, in_name, tali_op_column(in, j), in_rows);
    }
    return st;
}

tal_status tali_op_array(const char *name, const void *array, const char *where)
{
    return array != NULL ? TAL_OK : tali_breach(TAL_ERR_NULL, where, "%s is NULL", name);
}

enum {
    TILE = 8
};

// One tile of tali_op_mirror(): rows from i0, columns from j0.
static void mirror_tile(double S[], int n, size_t row, size_t column, int i0, int j0)
{
    for (int j = j0; j < j0 + TILE && j < n; ++j) {
        for (int i = i0; i < i0 + TILE && i < j; ++i) {
            S[(size_t)j * row + (size_t)i * column] = S[(size_t)i * row + (size_t)j * column];
        }
    }
}

void tali_op_mirror(double S[], int n, size_t row, size_t column)
{
    for (int j0 = 0; j0 < n; j0 += TILE) {
        for (int i0 = 0; i0 <= j0; i0 += TILE) {
            mirror_tile(S, n, row, column, i0, j0);
        }
    }
}

int tal_matter_nu(const tal_matter *matter)
{
    if (matter == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
        return -1;
    }
    return tal_system_has_topology(matter->system) ? matter->tree.num_u : -1;
}

int tal_matter_nq(const tal_matter *matter, const tal_state *state)
{
    if (matter == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
        return -1;
    }
    return tal_group_size(matter->system, state, matter->q);
}
