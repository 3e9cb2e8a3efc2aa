// From derivatives along directions of motion to derivatives by the components of q.
#include "derivative/derivative_internal.h"

static bool is_the_same_memory(tal_matrix A, tal_matrix B)
{
    return A.data != NULL && A.data == B.data;
}

// Row i of D N^+ is N^+^T times row i of D.
tal_status tal_matter_derivative_by_coordinates(const tal_matter *matter, tal_state *state,
                                                tal_matrix D, tal_matrix D_q)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st != TAL_OK) return st;
    const int nu = view.tree->num_u, nq = tal_matter_nq(matter, state);
    st = tali_op_matrix("D", D, D.rows, nu, __func__);
    if (st == TAL_OK) st = tali_op_matrix("D_q", D_q, D.rows, nq, __func__);
    if (st == TAL_OK && is_the_same_memory(D, D_q)) {
        st = TALI_BREACH(TAL_ERR_BAD_VALUE, "D and D_q are the same memory");
    }
    const size_t mark = tal_state_scratch_mark(state);
    double *row = tal_state_scratch_take(state, ((size_t)nu + 1) * sizeof *row);
    double *by_q = tal_state_scratch_take(state, ((size_t)nq + 1) * sizeof *by_q);
    for (int i = 0; i < D.rows && st == TAL_OK; ++i) {
        for (int j = 0; j < nu; ++j) {
            row[j] = tali_op_column(D, j)[i];
        }
        st = tal_matter_mul_N(matter, state, TAL_NPLUS_T, row, by_q);
        for (int j = 0; j < nq && st == TAL_OK; ++j) {
            tali_op_column(D_q, j)[i] = by_q[j];
        }
    }
    tal_state_scratch_release(state, mark);
    return st;
}
