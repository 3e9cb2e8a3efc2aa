// Eigenvalues of a symmetric 3 x 3 matrix.
#include <talus/common/vec.h>

#include <float.h>
#include <stddef.h>

// Once small, the off-diagonal part is squared by every pass, so a handful suffices; the bound
// only keeps the loop finite.
enum {
    MAX_PASSES = 12
};

/*
 * Turn columns p and q of V, and rows and columns p and q of A, so that A[p][q] vanishes:
 *
 *     t^2 + 2 theta t - 1 = 0,   theta = (A_qq - A_pp) / (2 A_pq),   t = tan of the turn
 *
 * The smaller root turns by at most pi/4, which is what makes the passes converge.
 */
static void jacobi_turn(double A[3][3], double V[3][3], int p, int q)
{
    if (A[p][q] == 0.0) return;

    const double theta = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
    const double t = copysign(1.0, theta) / (fabs(theta) + hypot(1.0, theta));
    const double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
    const int r = 3 - p - q;

    A[p][p] -= t * A[p][q];
    A[q][q] += t * A[p][q];
    A[p][q] = A[q][p] = 0.0;
    const double rp = A[r][p], rq = A[r][q];
    A[r][p] = A[p][r] = c * rp - s * rq;
    A[r][q] = A[q][r] = s * rp + c * rq;
    for (int i = 0; i < 3; ++i) {
        const double vp = V[i][p], vq = V[i][q];
        V[i][p] = c * vp - s * vq;
        V[i][q] = s * vp + c * vq;
    }
}

tal_vec3 tal_s3_eigen(tal_sym3 S, tal_mat3 *axes)
{
    if (!tal_s3_is_finite(S)) {
        const tal_vec3 none = {(double)NAN, (double)NAN, (double)NAN};
        if (axes != NULL) *axes = tal_m3(none, none, none);
        return none;
    }

    double A[3][3] = {{S.xx, S.xy, S.xz}, {S.xy, S.yy, S.yz}, {S.xz, S.yz, S.zz}};
    double V[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int pass = 0; pass < MAX_PASSES; ++pass) {
        const double diagonal = fabs(A[0][0]) + fabs(A[1][1]) + fabs(A[2][2]);
        const double rest = fabs(A[0][1]) + fabs(A[0][2]) + fabs(A[1][2]);
        if (rest <= 0.01 * DBL_EPSILON * diagonal) break;
        jacobi_turn(A, V, 0, 1);
        jacobi_turn(A, V, 0, 2);
        jacobi_turn(A, V, 1, 2);
    }

    // in increasing order
    int order[3] = {0, 1, 2};
    for (int pass = 0; pass < 3; ++pass) {
        const int k = pass % 2, i = order[k], j = order[k + 1];
        if (A[j][j] < A[i][i]) {
            order[k] = j;
            order[k + 1] = i;
        }
    }
    const int i = order[0], j = order[1], k = order[2];
    if (axes != NULL) {
        const tal_vec3 x = {V[0][i], V[1][i], V[2][i]}, y = {V[0][j], V[1][j], V[2][j]};
        *axes = tal_m3(x, y, tal_v3_cross(x, y)); // right-handed whatever the order
    }
    return tal_v3(A[i][i], A[j][j], A[k][k]);
}
