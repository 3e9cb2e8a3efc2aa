// Matrices of expressions across the steps between frames, with the fewest operations (RBDA sec.
// A.4 and A.5). Rows and columns that are zero cost nothing: the graph drops them.
#include "generate/generate_internal.h"

#define add tali_generate_add
#define sub tali_generate_sub
#define mul tali_generate_mul

typedef tali_generate_m3 m3;
typedef tali_generate_v3 v3;

// About one axis. With d = A_xx - A_yy and b = A_xy + A_yx
//
//     A_xx' = A_xx - t,  A_yy' = A_yy + t      t = s^2 d + c s b
//     A_xy' = A_xy + r,  A_yx' = A_yx + r      r = c s d - s^2 b
//
// and where A is symmetric A_xy' = c s d + (1 - 2 s^2) A_xy.
static m3 turn_about_axis(tali_graph *g, const tali_generate_step *step, const m3 *A,
                          bool is_symmetric)
{
    const int z = step->axis, x = (z + 1) % 3, y = (z + 2) % 3;
    const int c = step->cos, s = step->sin, ss = mul(g, s, s), cs = mul(g, c, s);
    const int d = sub(g, A->at[x][x], A->at[y][y]);
    m3 out = *A;
    int t;
    if (is_symmetric) {
        const int two_cs = add(g, cs, cs), cos_2 = sub(g, TALI_GRAPH_ONE, add(g, ss, ss));
        t = add(g, mul(g, ss, d), mul(g, two_cs, A->at[x][y]));
        out.at[x][y] = out.at[y][x] = add(g, mul(g, cs, d), mul(g, cos_2, A->at[x][y]));
    } else {
        const int b = add(g, A->at[x][y], A->at[y][x]);
        const int r = sub(g, mul(g, cs, d), mul(g, ss, b));
        t = add(g, mul(g, ss, d), mul(g, cs, b));
        out.at[x][y] = add(g, A->at[x][y], r);
        out.at[y][x] = add(g, A->at[y][x], r);
    }
    out.at[x][x] = sub(g, A->at[x][x], t);
    out.at[y][y] = add(g, A->at[y][y], t);
    out.at[x][z] = sub(g, mul(g, c, A->at[x][z]), mul(g, s, A->at[y][z]));
    out.at[y][z] = add(g, mul(g, s, A->at[x][z]), mul(g, c, A->at[y][z]));
    out.at[z][x] =
        is_symmetric ? out.at[x][z] : sub(g, mul(g, c, A->at[z][x]), mul(g, s, A->at[z][y]));
    out.at[z][y] =
        is_symmetric ? out.at[y][z] : add(g, mul(g, s, A->at[z][x]), mul(g, c, A->at[z][y]));
    return out;
}

// Two numbers of row i of E times two others.
static int dot_2(tali_graph *g, const m3 *E, int i, int a, int b)
{
    return add(g, mul(g, E->at[i][0], a), mul(g, E->at[i][1], b));
}

// By any rotation E: A = L + A_zz 1 + v x, where L has two columns, and Z = E L E^T has the trace
// of L. Of what is symmetric the lower triangle is enough.
static m3 turn_by_rotation(tali_graph *g, const m3 *E, const m3 *A, bool is_symmetric)
{
    const int last = A->at[2][2];
    int L[3][2], Y[3][2];
    for (int j = 0; j < 2; ++j) {
        L[j][j] = sub(g, A->at[j][j], last);
        L[j][1 - j] = A->at[j][1 - j];
        L[2][j] = add(g, A->at[2][j], A->at[j][2]);
    }
    const int v[2] = {tali_generate_neg(g, A->at[1][2]), A->at[0][2]};
    for (int i = is_symmetric ? 1 : 0; i < 3; ++i) {
        for (int j = 0; j < 2; ++j) {
            Y[i][j] = add(g, dot_2(g, E, i, L[0][j], L[1][j]), mul(g, E->at[i][2], L[2][j]));
        }
    }
    m3 Z;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            if ((i == 0 && j == 0) || (is_symmetric && j > i)) continue;
            Z.at[i][j] = dot_2(g, E, j, Y[i][0], Y[i][1]);
        }
    }
    const int trace = add(g, L[0][0], L[1][1]);
    Z.at[0][0] = sub(g, sub(g, trace, Z.at[1][1]), Z.at[2][2]);
    m3 out;
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3; // (E v) x has -(E v)_i at (j, k)
        const int Ev = dot_2(g, E, i, v[0], v[1]);
        out.at[i][i] = add(g, Z.at[i][i], last);
        if (!is_symmetric || k < j) out.at[j][k] = sub(g, Z.at[j][k], Ev);
        if (!is_symmetric || j < k) out.at[k][j] = add(g, Z.at[k][j], Ev);
        if (is_symmetric && k < j) out.at[k][j] = out.at[j][k];
        if (is_symmetric && j < k) out.at[j][k] = out.at[k][j];
    }
    return out;
}

m3 tali_generate_turn(tali_graph *g, const tali_generate_step *step, const m3 *A, bool is_symmetric)
{
    return step->kind == TALI_GENERATE_TURN ? turn_about_axis(g, step, A, is_symmetric)
                                            : turn_by_rotation(g, &step->R, A, is_symmetric);
}

m3 tali_generate_mul_rotations(tali_graph *g, const m3 *A, const m3 *B)
{
    v3 column[3];
    for (int j = 0; j < 2; ++j) {
        const v3 of_B = {{B->at[0][j], B->at[1][j], B->at[2][j]}};
        column[j] = tali_generate_mul_m3(g, A, of_B);
    }
    column[2] = tali_generate_cross(g, column[0], column[1]);
    m3 out;
    for (int k = 0; k < 9; ++k) {
        out.at[k / 3][k % 3] = column[k % 3].at[k / 3];
    }
    return out;
}

// By a distance along an axis: H' = H + d~ M, I' = I + d~ H'^T + (d~ H^T)^T.
static tali_generate_body shift_body(tali_graph *g, const tali_generate_step *step,
                                     tali_generate_body it)
{
    const int z = step->axis, x = (z + 1) % 3, y = (z + 2) % 3, d = step->distance;
    const m3 was = it.H;
    for (int k = 0; k < 3; ++k) {
        it.H.at[x][k] = sub(g, was.at[x][k], mul(g, d, it.M.at[y][k]));
        it.H.at[y][k] = add(g, was.at[y][k], mul(g, d, it.M.at[x][k]));
    }
    m3 *const I = &it.I;
    const int xy = add(g, was.at[x][y], it.H.at[x][y]), yx = add(g, was.at[y][x], it.H.at[y][x]);
    I->at[x][x] = sub(g, I->at[x][x], mul(g, d, xy));
    I->at[y][y] = add(g, I->at[y][y], mul(g, d, yx));
    const int mixed = mul(g, d, sub(g, was.at[x][x], it.H.at[y][y]));
    I->at[x][y] = I->at[y][x] = add(g, I->at[x][y], mixed);
    I->at[x][z] = I->at[z][x] = sub(g, I->at[x][z], mul(g, d, was.at[z][y]));
    I->at[y][z] = I->at[z][y] = add(g, I->at[y][z], mul(g, d, was.at[z][x]));
    return it;
}

tali_generate_body tali_generate_body_to_parent(tali_graph *g, const tali_generate_way *way,
                                                tali_generate_body it)
{
    for (int k = way->num - 1; k >= 0; --k) {
        const tali_generate_step *const step = &way->steps[k];
        if (step->kind == TALI_GENERATE_SHIFT) {
            it = shift_body(g, step, it);
            continue;
        }
        it.I = tali_generate_turn(g, step, &it.I, true);
        it.H = tali_generate_turn(g, step, &it.H, false);
        it.M = tali_generate_turn(g, step, &it.M, true);
    }
    return it;
}
