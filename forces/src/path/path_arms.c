// Moment arms along what the constraints allow.
//
// The speeds that are free move so that G_f u_f + G_p u_p = 0, by the least sum of squares; those
// that are prescribed or locked, u_p, stand still, except the one whose moment arm is asked for.
// With g, the generalized forces of a tension of one, and N, an orthonormal basis of the null space
// of G_f:
//
//   a free speed i    the allowed motion closest to a unit of u_i is N n, with n the row i of N;
//                     scaled so that u_i = 1:  r_i = n . (N^T g_f) / |n|^2
//   a known speed i   u_f = -G_f^+ G_i:        r_i = g_i + u_f . g_f
#include "array_internal.h"

#include "core/forces_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Less than this part of a motion is round-off.
static const double round_off = 1e-10;

// The motions that the constraints allow, in memory of the caller.
typedef struct allowed {
    int nu, num_rows, num_free;
    double *g;    // [nu]
    double *w;    // [nu] N^T g_f, or a motion
    double *rows; // [num_rows]
    tal_matrix G; // num_rows x nu
    tal_matrix N; // num_free x dof
    tal_cod cod;  // of G_f
    int *place;   // [nu] of a speed among those that are free; -1: it is known
} allowed;

static int num_rows(const tal_forces *forces, const tal_state *state)
{
    const tal_constraint_rows rows = tal_matter_constraint_rows(forces->matter, state);
    return rows.mp < 0 ? -1 : rows.mp + rows.mv + rows.ma;
}

size_t tal_forces_moment_arms_work_size(const tal_forces *forces, const tal_state *state)
{
    if (forces == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
        return 0;
    }
    const int m = num_rows(forces, state);
    if (m < 0) return 0;
    const size_t nu = (size_t)forces->nu;
    const size_t vectors = 2 * nu + (size_t)m + 1;
    const size_t matrices = nu * nu + 2 * (size_t)m * nu;
    return m == 0 ? vectors : vectors + matrices + tal_cod_work_size(m, forces->nu);
}

size_t tal_forces_moment_arms_iwork_size(const tal_forces *forces, const tal_state *state)
{
    if (forces == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
        return 0;
    }
    const int m = num_rows(forces, state);
    if (m < 0) return 0;
    return 1 + (size_t)forces->nu + tal_cod_iwork_size(m, forces->nu);
}

// --- what moves ---

static double *column(tal_matrix A, int j)
{
    return A.data + (size_t)j * (size_t)A.ld;
}

static tal_matrix take(double **next, int rows, int cols)
{
    const tal_matrix A = tal_matrix_view(*next, rows, cols);
    *next += (size_t)rows * (size_t)cols;
    return A;
}

// Which speeds are free.
static void place_speeds(const tal_forces *forces, const tal_state *state, allowed *out)
{
    const tal_matter *matter = forces->matter;
    for (tal_body_ix body = {1}; body.i < forces->num_bodies; ++body.i) {
        const int first = tal_body_u_start(matter, body);
        for (int k = 0; k < tal_body_nu(matter, body); ++k) {
            const tal_level level = tal_mobility_level(matter, state, (tal_mobility){body, k});
            out->place[first + k] = level == TAL_LEVEL_FREE ? out->num_free++ : -1;
        }
    }
}

// Factor the columns of G of free speeds.
static tal_status factor(tal_state *state, allowed *out, double *next, int iwork[])
{
    const tal_matrix G_f = take(&next, out->num_rows, out->num_free);
    for (int j = 0; j < out->nu; ++j) {
        if (out->place[j] < 0) continue;
        memcpy(column(G_f, out->place[j]), column(out->G, j),
               (size_t)out->num_rows * sizeof(double));
    }
    const tal_matrix N = take(&next, out->num_free, out->num_free);
    tal_error why = {TAL_OK, "", ""};
    const double tolerance = (double)(out->nu + out->num_rows) * DBL_EPSILON; // as in matter/
    const tal_status st = tal_cod_factor(&out->cod, G_f, tolerance, next, iwork, &why);
    if (st != TAL_OK) return tal_state_fail(state, st, "moment arms: %s", why.message);
    out->N = tal_matrix_view(N.data, out->num_free, out->num_free - out->cod.rank);
    return tal_cod_calc_null_basis(&out->cod, out->N);
}

static tal_status begin(const tal_forces *forces, tal_state *state, double work[], int iwork[],
                        allowed *out)
{
    const int nu = forces->nu, m = num_rows(forces, state);
    if (m < 0) return tal_contract_last()->status;
    double *next = work;
    *out = (allowed){.nu = nu, .num_rows = m, .place = iwork};
    out->g = take(&next, nu, 1).data;
    out->w = take(&next, nu, 1).data;
    out->rows = take(&next, m, 1).data;
    if (m == 0) return TAL_OK;
    out->G = take(&next, m, nu);
    place_speeds(forces, state, out);
    const tal_status st = tal_matter_calc_G(forces->matter, state, TAL_G, out->G);
    return st == TAL_OK ? factor(state, out, next, iwork + nu) : st;
}

// --- moment arms, from g ---

// w = N^T g_f
static void calc_along_basis(const allowed *in)
{
    for (int j = 0; j < in->N.cols; ++j) {
        in->w[j] = 0.0;
        for (int i = 0; i < in->nu; ++i) {
            if (in->place[i] >= 0) in->w[j] += column(in->N, j)[in->place[i]] * in->g[i];
        }
    }
}

static double arm_of_free(const allowed *in, int i)
{
    double size = 0.0, sum = 0.0;
    for (int j = 0; j < in->N.cols; ++j) {
        const double n = column(in->N, j)[in->place[i]];
        size += n * n;
        sum += n * in->w[j];
    }
    return size > round_off * round_off ? sum / size : 0.0;
}

// Whether the constraints allow a unit of the known speed i and -w of the free ones:
// G_i - G_f w = 0.
static bool is_allowed(const allowed *in, int i)
{
    const double *G_i = column(in->G, i);
    memcpy(in->rows, G_i, (size_t)in->num_rows * sizeof *in->rows);
    for (int j = 0; j < in->nu; ++j) {
        if (in->place[j] < 0) continue;
        for (int k = 0; k < in->num_rows; ++k) {
            in->rows[k] -= column(in->G, j)[k] * in->w[in->place[j]];
        }
    }
    return tali_array_largest(in->rows, in->num_rows) <=
           round_off * tali_array_largest(G_i, in->num_rows);
}

static tal_status calc_arm_of_known(tal_state *state, allowed *in, int i, double *arm)
{
    tal_error why = {TAL_OK, "", ""};
    const tal_matrix G_i = tal_matrix_view(column(in->G, i), in->num_rows, 1);
    const tal_matrix w = tal_matrix_view(in->w, in->num_free, 1);
    const tal_status st = tal_cod_solve(&in->cod, G_i, w, &why); // -u_f = G_f^+ G_i
    if (st != TAL_OK) return tal_state_fail(state, st, "moment arms: %s", why.message);
    *arm = 0.0;
    if (!is_allowed(in, i)) return TAL_OK;
    *arm = in->g[i];
    for (int j = 0; j < in->nu; ++j) {
        if (in->place[j] >= 0) *arm -= in->w[in->place[j]] * in->g[j];
    }
    return TAL_OK;
}

// r of one path, `stride` apart.
static tal_status calc_arms(tal_state *state, allowed *in, double arms[], int stride)
{
    tal_status st = TAL_OK;
    if (in->num_rows == 0) {
        for (int i = 0; i < in->nu; ++i) {
            arms[i * stride] = in->g[i];
        }
        return st;
    }
    calc_along_basis(in);
    for (int i = 0; i < in->nu; ++i) {
        if (in->place[i] >= 0) arms[i * stride] = arm_of_free(in, i);
    }
    for (int i = 0; i < in->nu && st == TAL_OK; ++i) {
        if (in->place[i] < 0) st = calc_arm_of_known(state, in, i, &arms[i * stride]);
    }
    return st;
}

static tal_status check(const tal_forces *forces, const tal_state *state, const void *a,
                        const void *b, const void *c, const char *where)
{
    if (forces == NULL || a == NULL || b == NULL || c == NULL) {
        return tali_breach(TAL_ERR_NULL, where, "an argument is NULL");
    }
    if (tal_state_stage(state) >= TAL_STAGE_VELOCITY) return TAL_OK;
    return tali_breach(TAL_ERR_STAGE, where, "the State is at %s and must be at %s",
                       tal_stage_name(tal_state_stage(state)), tal_stage_name(TAL_STAGE_VELOCITY));
}

tal_status tal_path_calc_moment_arms(const tal_forces *forces, tal_state *state, tal_path_ix path,
                                     double arms[], double work[], int iwork[])
{
    if (tali_path_at(forces, path, __func__) == NULL) return tal_contract_last()->status;
    tal_status st = check(forces, state, arms, work, iwork, __func__);
    allowed in = {.nu = 0};
    if (st == TAL_OK) st = begin(forces, state, work, iwork, &in);
    if (st == TAL_OK) st = tal_path_calc_generalized(forces, state, path, in.g);
    return st == TAL_OK ? calc_arms(state, &in, arms, 1) : st;
}

tal_status tal_forces_calc_moment_arms(const tal_forces *forces, tal_state *state, tal_matrix arms,
                                       double work[], int iwork[])
{
    if (forces == NULL) return TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
    const int num = forces->paths.num, nu = forces->nu;
    if (arms.rows != num || arms.cols != nu || arms.ld < num) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "the arms are %d x %d: they must be %d x %d",
                           arms.rows, arms.cols, num, nu);
    }
    if (num == 0 || nu == 0) return TAL_OK;
    tal_status st = check(forces, state, arms.data, work, iwork, __func__);
    allowed in = {.nu = 0};
    if (st == TAL_OK) st = begin(forces, state, work, iwork, &in);
    if (st == TAL_OK) st = tali_paths_realize(forces, state, false);
    const size_t mark = tal_state_scratch_mark(state);
    tali_path_carrier carrier;
    if (st == TAL_OK) st = tali_path_begin_carrying(forces, state, NULL, &carrier);
    for (int p = 0; p < num && st == TAL_OK; ++p) {
        tali_path_carry(&carrier, p, in.g);
        st = calc_arms(state, &in, arms.data + p, arms.ld);
    }
    tal_state_scratch_release(state, mark);
    return st;
}
