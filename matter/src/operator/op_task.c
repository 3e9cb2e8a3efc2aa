// Operational-space inertia: how a set of frames responds to forces, without forming M.
//
//     Lambda^-1 = J M^-1 J^T                  RBDA eq. 7.9, there Phi^A
//
// One column is one unit force or moment at one frame, taken inward and outward by the passes of
// M^-1; the accelerations of all frames are the column.
#include "operator/operators_internal.h"

#include <float.h>

// Room for the columns.
typedef struct task_room {
    tal_spatial_vec *F;    ///< [num_bodies] zeros, except for the body that is pushed
    tal_spatial_vec *open; ///< [num_slots]
    tal_spatial_vec *A;    ///< [num_bodies]
    double *e;             ///< [num_u]
    double *udot;          ///< [num_u]
} task_room;

static task_room take_room(const tali_tree *tree, tal_state *state)
{
    const size_t body_bytes = (size_t)tree->num_bodies * sizeof(tal_spatial_vec);
    const size_t slot_bytes = ((size_t)tree->num_slots + 1) * sizeof(tal_spatial_vec);
    const size_t speed_bytes = ((size_t)tree->num_u + 1) * sizeof(double);
    task_room room;
    room.F = tal_state_scratch_take(state, body_bytes);
    room.open = tal_state_scratch_take(state, slot_bytes);
    room.A = tal_state_scratch_take(state, body_bytes);
    room.e = tal_state_scratch_take(state, speed_bytes);
    room.udot = tal_state_scratch_take(state, speed_bytes);
    memset(room.F, 0, body_bytes);
    return room;
}

static tal_spatial_vec unit_force(int direction)
{
    double F[6] = {0.0};
    F[direction] = 1.0;
    return (tal_spatial_vec){{F[0], F[1], F[2]}, {F[3], F[4], F[5]}};
}

// The passes resist the forces they are given, so the unit force goes in with a minus.
static void fill_column(const tali_tree_view *view, const tal_station frames[], int n, int c,
                        const task_room *room, double column[])
{
    const tal_station *pushed = &frames[c / 6];
    tal_spatial_vec *F = &room->F[pushed->body.i];
    *F = tal_sv_neg(
        tal_sv_shift_force(unit_force(c % 6), tali_op_p_MS_G(view, pushed->body.i, pushed->p_BS)));
    view->passes->inward(view, NULL, room->F, room->e, room->open);
    view->passes->outward(view, room->e, room->udot, room->A);
    *F = TAL_SPATIAL_VEC_ZERO;

    for (int k = 0; k < n; ++k) {
        const int b = frames[k].body.i;
        const tal_spatial_vec A =
            tal_sv_shift_motion(room->A[b], tali_op_p_MS_G(view, b, frames[k].p_BS));
        memcpy(column + 6 * k, &A, sizeof A);
    }
}

tal_status tal_matter_calc_Lambda_inv(const tal_matter *matter, tal_state *state,
                                      const tal_station frames[], int n, tal_matrix Lambda_inv)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_ARTICULATED, &view, __func__);
    if (st == TAL_OK) st = tali_op_stations(matter, state, frames, n, __func__);
    if (st == TAL_OK) st = tali_op_matrix("Lambda_inv", Lambda_inv, 6 * n, 6 * n, __func__);
    if (st != TAL_OK) return st;

    const size_t mark = tal_state_scratch_mark(state);
    const task_room room = take_room(view.tree, state);
    for (int c = 0; c < 6 * n; ++c) {
        fill_column(&view, frames, n, c, &room, tali_op_column(Lambda_inv, c));
        // the halves differ by round-off: keep the lower one
        for (int i = 0; i < c; ++i) {
            tali_op_column(Lambda_inv, c)[i] = tali_op_column(Lambda_inv, i)[c];
        }
    }
    tal_state_scratch_release(state, mark);
    return TAL_OK;
}

// Rows of Lambda, 6 n; below zero after a breach when they are too many to count.
static int rows_of(int n, const char *where)
{
    return tali_op_num_rows(n, 6, where) == TAL_OK ? 6 * n : -1;
}

size_t tal_matter_Lambda_work_size(int n)
{
    const int m = rows_of(n, __func__);
    if (m <= 0) return m == 0 ? 1 : 0;
    return (size_t)m * (size_t)m + tal_pchol_work_size(m);
}

size_t tal_matter_Lambda_iwork_size(int n)
{
    const int m = rows_of(n, __func__);
    if (m <= 0) return m == 0 ? 1 : 0;
    return tal_pchol_iwork_size(m);
}

tal_status tal_matter_calc_Lambda(const tal_matter *matter, tal_state *state,
                                  const tal_station frames[], int n, tal_matrix Lambda, int *rank,
                                  double work[], int iwork[])
{
    tal_status st = tali_op_array("work", work, __func__);
    if (st == TAL_OK) st = tali_op_array("iwork", iwork, __func__);
    if (st == TAL_OK) st = tali_op_array("rank", rank, __func__);
    if (st == TAL_OK) st = tali_op_num_rows(n, 6, __func__);
    if (st == TAL_OK) st = tali_op_matrix("Lambda", Lambda, 6 * n, 6 * n, __func__);
    if (st != TAL_OK) return st;

    const int m = 6 * n;
    const tal_matrix inverse = tal_matrix_view(work, m, m);
    st = tal_matter_calc_Lambda_inv(matter, state, frames, n, inverse);
    if (st != TAL_OK) return st;

    double most = 0.0;
    for (int i = 0; i < m; ++i) {
        const double entry = tali_op_column(inverse, i)[i];
        most = entry > most ? entry : most;
    }
    // what the passes leave of a direction in which nothing can move
    const double tolerance = 16.0 * (matter->tree.num_u + m) * DBL_EPSILON * most;
    tal_pchol factor;
    tal_error err = {TAL_OK, "", ""};
    st = tal_pchol_factor(&factor, inverse, tolerance, work + (size_t)m * (size_t)m, iwork, &err);
    for (int c = 0; c < m && st == TAL_OK; ++c) {
        double *column = tali_op_column(Lambda, c);
        memset(column, 0, (size_t)m * sizeof *column);
        column[c] = 1.0;
    }
    if (st == TAL_OK) st = tal_pchol_solve_min_norm(&factor, Lambda, &err);
    if (st != TAL_OK) return tal_state_fail(state, st, "%s", err.message);
    *rank = factor.rank;
    return TAL_OK;
}
