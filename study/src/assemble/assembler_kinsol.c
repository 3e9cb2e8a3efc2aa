// Meeting the constraints by KINSOL, as many equations as unknowns whatever their rank.
//
// Let y = W_u x be a motion of the free speeds from where the State is, c(y) the weighted errors
// there, C their slopes at y = 0 and C^+ its pseudoinverse. Then
//
//     F(y) = y + C^+ (c(y) - C y) = 0
//
// says that y is orthogonal to what the constraints leave free, and that the errors vanish along
// the rows of C. Its slopes are 1 + C^+ (C(y) - C), which is 1 at y = 0: no equation that repeats
// others makes them singular.
#include "assemble/assembler_internal.h"
#include "sundials/kinsol_internal.h"

#include <math.h>
#include <string.h>

// Places from which F is set up anew: where rows turn so far that those of the last place no longer
// tell all errors.
enum {
    MOST_PLACES = 10
};

// Rows whose independent part is larger than this are needed from anywhere.
static const double MOST_DEPENDENT = 1e-4;

struct tali_assembler_kinsol {
    tali_sun_kinsol *solver;
    void *block;
    size_t block_bytes;
    double *q0;        // [max_nq] of matter, at y = 0
    double *x;         // [nu]
    double *y, *scale; // [nu]
    double *C;         // [max_rows][nu] of the free speeds, over W_u
    double *factor;    // the same, factored
    double *c;         // [max_rows]
    double *change;    // [max(max_rows, nu)][nu]
    double *work;
    int *iwork, *free_list;
    tal_cod cod;
    int n, m;         // free speeds; equations
    tal_state *state; // of the search
};

bool tali_assembler_kinsol_create(tal_assembler *it)
{
    const size_t n = (size_t)it->nu, rows = (size_t)it->max_rows, d = sizeof(double);
    const size_t side = tali_alloc_larger(n, rows);
    tali_assembler_kinsol *room = tali_alloc(&it->allocator, sizeof *room);
    it->kinsol = room;
    if (room == NULL) return false;
    const tali_piece pieces[] = {
        {&room->q0, (size_t)it->max_nq * d},
        {&room->x, n * d},
        {&room->y, n * d},
        {&room->scale, n * d},
        {&room->C, rows * n * d},
        {&room->factor, rows * n * d},
        {&room->c, rows * d},
        {&room->change, side * n * d},
        {&room->work, tal_cod_work_size(it->max_rows, it->nu) * d},
        {&room->iwork, tal_cod_iwork_size(it->max_rows, it->nu) * sizeof(int)},
        {&room->free_list, n * sizeof(int)}};
    room->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                    &room->block_bytes);
    room->solver = tali_sun_kinsol_create(&it->allocator, it->nu);
    return room->block != NULL && room->solver != NULL;
}

void tali_assembler_kinsol_destroy(tal_assembler *it)
{
    tali_assembler_kinsol *room = it->kinsol;
    if (room == NULL) return;
    tali_sun_kinsol_destroy(room->solver);
    tali_free(&it->allocator, room->block, room->block_bytes);
    tali_free(&it->allocator, room, sizeof *room);
    it->kinsol = NULL;
}

// --- F and its slopes ---

// The State at q0, moved by y.
static tal_status move_to(tal_assembler *it, const double y[])
{
    tali_assembler_kinsol *room = it->kinsol;
    memset(room->x, 0, (size_t)it->nu * sizeof *room->x);
    for (int a = 0; a < room->n; ++a) {
        const int i = room->free_list[a];
        room->x[i] = y[a] / it->W_u[i];
    }
    const tal_status st = tali_assembler_put_q(it, room->state, room->q0);
    return st == TAL_OK ? tali_assembler_move(it, room->state, room->x) : st;
}

// The slopes of the equations where the State is, of the free speeds over W_u: m x n.
static tal_status calc_C(tal_assembler *it, double C[])
{
    tali_assembler_kinsol *room = it->kinsol;
    const tal_status st = tali_assembler_linearize_equations(it, room->state);
    room->m = it->at.m;
    for (int a = 0; a < room->n && st == TAL_OK; ++a) {
        const int i = room->free_list[a];
        const double *from = it->at.C + (size_t)i * (size_t)it->at.ld;
        for (int r = 0; r < room->m; ++r) {
            C[(size_t)a * (size_t)room->m + (size_t)r] = from[r] / it->W_u[i];
        }
    }
    return st;
}

static tal_status calc_F(void *self, const double y[], double F[])
{
    tal_assembler *it = self;
    tali_assembler_kinsol *room = it->kinsol;
    int m = 0;
    tal_status st = move_to(it, y);
    if (st == TAL_OK) st = tali_assembler_calc_errors(it, room->state, room->c, &m);
    if (st != TAL_OK) return st;
    for (int a = 0; a < room->n; ++a) {
        for (int r = 0; r < m; ++r) {
            room->c[r] -= room->C[(size_t)a * (size_t)m + (size_t)r] * y[a];
        }
    }
    st = tal_cod_solve(&room->cod, tal_matrix_view(room->c, m, 1), tal_matrix_view(F, room->n, 1),
                       &it->error_record);
    for (int a = 0; a < room->n; ++a) {
        F[a] += y[a];
    }
    return st;
}

static tal_status calc_slopes(void *self, const double y[], const double F[],
                              double *const columns[])
{
    (void)F;
    tal_assembler *it = self;
    tali_assembler_kinsol *room = it->kinsol;
    tal_status st = move_to(it, y);
    if (st == TAL_OK) st = calc_C(it, room->change);
    if (st != TAL_OK) return st;
    const size_t size = (size_t)room->m * (size_t)room->n;
    for (size_t i = 0; i < size; ++i) {
        room->change[i] -= room->C[i];
    }
    for (int a = 0; a < room->n && st == TAL_OK; ++a) {
        double *change = room->change + (size_t)a * (size_t)room->m;
        st = tal_cod_solve(&room->cod, tal_matrix_view(change, room->m, 1),
                           tal_matrix_view(columns[a], room->n, 1), &it->error_record);
        columns[a][a] += 1.0;
    }
    return st;
}

// --- meeting the constraints ---

// y = 0 is where the State is. What is off by `error` turns rows that repeat others by as much, so
// that rows count as dependent on that scale (ADR 21); nearer to the end they are looked at again.
static tal_status set_up(tal_assembler *it, double error)
{
    tali_assembler_kinsol *room = it->kinsol;
    room->n = 0;
    for (int i = 0; i < it->nu; ++i) {
        if (it->at.is_free[i]) room->free_list[room->n++] = i;
    }
    for (int a = 0; a < room->n; ++a) {
        room->y[a] = 0.0;
        room->scale[a] = 1.0;
    }
    tali_assembler_get_q(it, room->state, room->q0);
    const tal_status st = calc_C(it, room->C);
    if (st != TAL_OK) return st;
    const double dependent = fmax(TALI_ASSEMBLER_DEPENDENT, fmin(10.0 * error, MOST_DEPENDENT));
    memcpy(room->factor, room->C, (size_t)room->m * (size_t)room->n * sizeof *room->C);
    return tal_cod_factor(&room->cod, tal_matrix_view(room->factor, room->m, room->n), dependent,
                          room->work, room->iwork, &it->error_record);
}

static tal_status meet_from_here(tal_assembler *it, double error, int *iterations)
{
    tali_assembler_kinsol *room = it->kinsol;
    tal_status st = set_up(it, error);
    if (st != TAL_OK || room->n == 0) return st;
    const tali_sun_roots roots = {.self = it,
                                  .n = room->n,
                                  .calc = calc_F,
                                  .slopes = calc_slopes,
                                  .scale_x = room->scale,
                                  .scale_F = room->scale,
                                  .error = 0.01 * it->def.tolerance,
                                  .step = 1e-3 * it->def.tolerance,
                                  .longest = 2.0 * sqrt((double)room->n),
                                  .max_iterations = it->def.max_iterations};
    tal_error why = {TAL_OK, "", ""};
    st = tali_sun_kinsol_solve(room->solver, &roots, room->y, iterations, &why);
    if (st == TAL_ERR_NO_CONVERGENCE) st = TAL_OK; // the errors that are left are reported
    return st == TAL_OK ? move_to(it, room->y) : st;
}

tal_status tali_assembler_meet_by_kinsol(tal_assembler *it, tal_state *state, double *norm,
                                         int *iterations)
{
    it->kinsol->state = state;
    *norm = tali_assembler_error(it, state, NULL);
    for (int k = 0; k<MOST_PLACES && * norm> it->def.tolerance; ++k) {
        const double before = *norm;
        tali_assembler_get_q(it, state, it->q_keep);
        const tal_status st = meet_from_here(it, before, iterations);
        if (st != TAL_OK) return st;
        *norm = tali_assembler_error(it, state, NULL);
        if (*norm < 0.9 * before) continue;
        *norm = fmin(*norm, before);
        return *norm < before ? TAL_OK : tali_assembler_put_q(it, state, it->q_keep);
    }
    return TAL_OK;
}
