// Rotation matrices: built from axes, angles and quaternions, taken apart again, and repaired.
//
// In the angle sequences i, j, k are the axes of a body-fixed sequence, R = R_i(a) R_j(b) R_k(c),
// R_ij is row i, column j, and e = +1 when i, j and the remaining axis are in cyclic order, -1
// when not. All formulas are written for x, y, z and carry over with e.
#include "error_internal.h"

#include <talus/common/rotation.h>

#include <float.h>
#include <stddef.h>

static const tal_vec3 NOT_A_VECTOR = {(double)NAN, (double)NAN, (double)NAN};

static tal_mat3 not_a_rotation(void)
{
    return tal_m3(NOT_A_VECTOR, NOT_A_VECTOR, NOT_A_VECTOR);
}

static bool is_axis(tal_axis axis)
{
    return axis == TAL_AXIS_X || axis == TAL_AXIS_Y || axis == TAL_AXIS_Z;
}

static bool is_null(const tal_mat3 *R, const char *where)
{
    if (R != NULL) return false;
    (void)tali_breach(TAL_ERR_NULL, where, "the matrix is NULL");
    return true;
}

// +1 when j follows i in x, y, z, x; -1 when it precedes it.
static double handedness(tal_axis i, tal_axis j)
{
    return ((int)i + 1) % 3 == (int)j ? 1.0 : -1.0;
}

tal_mat3 tal_rotation_about(tal_axis axis, double angle)
{
    const double s = sin(angle), c = cos(angle);
    switch (axis) {
    case TAL_AXIS_X:
        return tal_m3(tal_v3(1.0, 0.0, 0.0), tal_v3(0.0, c, s), tal_v3(0.0, -s, c));
    case TAL_AXIS_Y:
        return tal_m3(tal_v3(c, 0.0, -s), tal_v3(0.0, 1.0, 0.0), tal_v3(s, 0.0, c));
    case TAL_AXIS_Z:
        return tal_m3(tal_v3(c, s, 0.0), tal_v3(-s, c, 0.0), tal_v3(0.0, 0.0, 1.0));
    }
    (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "axis is %d: use TAL_AXIS_X, Y or Z", (int)axis);
    return not_a_rotation();
}

// Rodrigues: R = cos 1 + sin ax + (1 - cos) a a^T, with 1 - cos = 2 sin^2(angle / 2), which keeps
// its digits for small angles.
tal_mat3 tal_rotation_from_angle_axis(double angle, tal_vec3 axis)
{
    const tal_vec3 a = tal_v3_normalize(axis);
    const double half = sin(0.5 * angle), c = cos(angle);
    const tal_mat3 turn = tal_m3_add(tal_m3_scale(sin(angle), tal_m3_cross(a)),
                                     tal_m3_scale(2.0 * half * half, tal_m3_outer(a, a)));
    return tal_m3_add(turn, tal_m3_from_s3(tal_s3_diag(c, c, c)));
}

tal_mat3 tal_rotation_from_qt(tal_quat q)
{
    const tal_quat u = tal_qt_normalize(q);
    const double wx = 2.0 * u.w * u.x, wy = 2.0 * u.w * u.y, wz = 2.0 * u.w * u.z;
    const double xx = 2.0 * u.x * u.x, xy = 2.0 * u.x * u.y, xz = 2.0 * u.x * u.z;
    const double yy = 2.0 * u.y * u.y, yz = 2.0 * u.y * u.z, zz = 2.0 * u.z * u.z;
    return tal_m3(tal_v3(1.0 - (yy + zz), xy + wz, xz - wy),
                  tal_v3(xy - wz, 1.0 - (xx + zz), yz + wx),
                  tal_v3(xz + wy, yz - wx, 1.0 - (xx + yy)));
}

tal_mat3 tal_rotation_from_angles(tal_turning turning, int n, const tal_axis axis[],
                                  const double angle[])
{
    if (axis == NULL || angle == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "%s is NULL", axis == NULL ? "axis" : "angle");
        return not_a_rotation();
    }
    if (n < 1 || n > 3) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "n is %d: a sequence has 1, 2 or 3 rotations", n);
        return not_a_rotation();
    }

    tal_mat3 R = TAL_MAT3_IDENTITY;
    for (int i = 0; i < n; ++i) {
        if (!is_axis(axis[i])) {
            (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "axis[%d] is %d: use TAL_AXIS_X, Y or Z", i,
                              (int)axis[i]);
            return not_a_rotation();
        }
        const tal_mat3 turn = tal_rotation_about(axis[i], angle[i]);
        R = turning == TAL_SPACE_FIXED ? tal_m3_mul(turn, R) : tal_m3_mul(R, turn);
    }
    return R;
}

tal_mat3 tal_rotation_from_two_axes(tal_axis first, tal_vec3 v, tal_axis second, tal_vec3 near_v)
{
    if (!is_axis(first) || !is_axis(second) || first == second) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE,
                          "axes %d and %d: they must be two different ones of x, y, z", (int)first,
                          (int)second);
        return not_a_rotation();
    }

    // the third axis is normal to both; below round-off its direction means nothing
    const tal_vec3 a = tal_v3_normalize(v), b = tal_v3_normalize(near_v);
    const tal_vec3 normal = tal_v3_cross(a, b);
    if (!(tal_v3_norm(normal) > 4.0 * DBL_EPSILON)) return not_a_rotation();

    // for nearly parallel vectors the cross product is not quite normal to the first
    const tal_vec3 rough = tal_v3_normalize(normal);
    const tal_vec3 c = tal_v3_normalize(tal_v3_axpy(-tal_v3_dot(rough, a), a, rough));
    const tal_vec3 third = tal_v3_scale(handedness(first, second), c);

    tal_vec3 column[3];
    column[first] = a;
    column[second] = tal_v3_cross(c, a);
    column[3 - (int)first - (int)second] = third;
    return tal_m3(column[0], column[1], column[2]);
}

// Four times the largest component squared is on the diagonal, so dividing by it is safe: four
// multiples of q, of which the longest is normalized.
tal_quat tal_rotation_to_qt(const tal_mat3 *R)
{
    if (is_null(R, __func__)) return tal_qt((double)NAN, (double)NAN, (double)NAN, (double)NAN);

    const double xx = R->x.x, yy = R->y.y, zz = R->z.z, trace = xx + yy + zz;
    const double yz = R->y.z - R->z.y, zx = R->z.x - R->x.z, xy = R->x.y - R->y.x;
    const double yz2 = R->y.z + R->z.y, zx2 = R->z.x + R->x.z, xy2 = R->x.y + R->y.x;

    tal_quat q;
    if (trace >= xx && trace >= yy && trace >= zz) {
        q = tal_qt(1.0 + trace, yz, zx, xy);
    } else if (xx >= yy && xx >= zz) {
        q = tal_qt(yz, 1.0 + xx - yy - zz, xy2, zx2);
    } else if (yy >= zz) {
        q = tal_qt(zx, xy2, 1.0 + yy - xx - zz, yz2);
    } else {
        q = tal_qt(xy, zx2, yz2, 1.0 + zz - xx - yy);
    }

    q = tal_qt_normalize(q);
    const double leading = q.w != 0.0 ? q.w : q.x != 0.0 ? q.x : q.y != 0.0 ? q.y : q.z;
    return leading < 0.0 ? tal_qt(-q.w, -q.x, -q.y, -q.z) : q;
}

tal_angle_axis tal_rotation_to_angle_axis(const tal_mat3 *R)
{
    if (is_null(R, __func__)) return (tal_angle_axis){(double)NAN, NOT_A_VECTOR};

    const tal_quat q = tal_rotation_to_qt(R);
    const tal_vec3 v = {q.x, q.y, q.z};
    const double length = tal_v3_norm(v);
    const tal_angle_axis turn = {2.0 * atan2(length, q.w),
                                 length == 0.0 ? tal_v3_axis(TAL_AXIS_X) : tal_v3_normalize(v)};
    return turn;
}

double tal_rotation_distance(const tal_mat3 *R, const tal_mat3 *S)
{
    if (is_null(R, __func__) || is_null(S, __func__)) return (double)NAN;
    const tal_mat3 turn = tal_m3_tmul(*R, *S);
    return tal_rotation_to_angle_axis(&turn).angle;
}

/*
 * Three body-fixed turns. The last angle comes from row i,
 *
 *     i, j, k:   R_ii = cos b cos c    R_ij = -e cos b sin c    R_ik = e sin b
 *     i, j, i:   R_ii = cos b          R_ij = sin b sin c       R_ik = e sin b cos c
 *
 * and the first from column j of R R_k(c)^T, which is that of R_i(a): (cos a, e sin a) in rows j
 * and k. So an error of c, large where the outer axes are nearly parallel, is compensated by a, and
 * the three together are right to round-off.
 */
static void three_angles(const tal_mat3 *M, const tal_axis axis[3], double angle[3])
{
    const double R[3][3] = {
        {M->x.x, M->y.x, M->z.x}, {M->x.y, M->y.y, M->z.y}, {M->x.z, M->y.z, M->z.z}};
    const int i = (int)axis[0], j = (int)axis[1], k = 3 - i - j;
    const double e = handedness(axis[0], axis[1]);
    const bool is_euler = axis[2] == axis[0];

    // sine and cosine of c, times a common factor that vanishes where c is free
    const double sc = is_euler ? R[i][j] : -e * R[i][j];
    const double cc = is_euler ? e * R[i][k] : R[i][i];
    const double factor = hypot(sc, cc);
    const double c = factor > 8.0 * DBL_EPSILON ? atan2(sc, cc) : 0.0;
    const double s = sin(c), m = cos(c);

    // row j of R_k(c), or of R_i(c)
    const int other = is_euler ? k : i;
    const double se = is_euler ? -e * s : e * s;
    const double sa = e * (se * R[k][other] + m * R[k][j]), ca = se * R[j][other] + m * R[j][j];

    angle[0] = atan2(sa, ca);
    angle[1] = is_euler ? atan2(factor, R[i][i]) : atan2(e * R[i][k], factor);
    angle[2] = c;
}

static double wrapped(double angle)
{
    return angle > TAL_PI ? angle - 2.0 * TAL_PI : angle < -TAL_PI ? angle + 2.0 * TAL_PI : angle;
}

/*
 * Two body-fixed turns nearest to R, in closed form. With q the quaternion of R and p that of
 * R_i(a) R_j(b), the angle between the two rotations is 2 acos |q . p|, and with half angles
 *
 *     q . p = [cos a/2] . [q_w   q_j] [cos b/2]
 *             [sin a/2]   [q_i e q_k] [sin b/2]
 *
 *           =  1/2 { (q_w - e q_k) cos(+) + (q_i + q_j) sin(+)        (+) = (a + b) / 2
 *                  + (q_w + e q_k) cos(-) + (q_i - q_j) sin(-) }      (-) = (a - b) / 2
 *
 * whose two halves have their maxima independently.
 */
static void two_angles(tal_quat q, const tal_axis axis[2], double angle[2])
{
    const tal_vec3 v = {q.x, q.y, q.z};
    const double qi = tal_v3_at(v, axis[0]), qj = tal_v3_at(v, axis[1]);
    const tal_axis third = (tal_axis)(3 - (int)axis[0] - (int)axis[1]);
    const double qk = handedness(axis[0], axis[1]) * tal_v3_at(v, third);

    const double half_sum = atan2(qi + qj, q.w - qk), half_difference = atan2(qi - qj, q.w + qk);
    angle[0] = wrapped(half_sum + half_difference);
    angle[1] = wrapped(half_sum - half_difference);
}

// One turn nearest to R: where q . p = q_w cos a/2 + q_i sin a/2 is largest.
static double one_angle(tal_quat q, tal_axis axis)
{
    return 2.0 * atan2(tal_v3_at(tal_v3(q.x, q.y, q.z), axis), q.w);
}

static void body_angles(const tal_mat3 *R, int n, const tal_axis axis[], double angle[])
{
    switch (n) {
    case 1:
        angle[0] = one_angle(tal_rotation_to_qt(R), axis[0]);
        return;
    case 2:
        two_angles(tal_rotation_to_qt(R), axis, angle);
        return;
    default:
        three_angles(R, axis, angle);
    }
}

tal_status tal_rotation_to_angles(const tal_mat3 *R, tal_turning turning, int n,
                                  const tal_axis axis[], double angle[])
{
    if (R == NULL || axis == NULL || angle == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "%s is NULL",
                           R == NULL      ? "R"
                           : axis == NULL ? "axis"
                                          : "angle");
    }
    if (n < 1 || n > 3) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "n is %d: a sequence has 1, 2 or 3 rotations", n);
    }
    for (int i = 0; i < n; ++i) {
        if (!is_axis(axis[i])) {
            return TALI_BREACH(TAL_ERR_BAD_VALUE, "axis[%d] is %d: use TAL_AXIS_X, Y or Z", i,
                               (int)axis[i]);
        }
        if (i > 0 && axis[i] == axis[i - 1]) {
            return TALI_BREACH(
                TAL_ERR_BAD_VALUE,
                "axis[%d] repeats axis[%d]: successive rotations need different axes", i, i - 1);
        }
    }

    // space-fixed turns are the body-fixed turns in the opposite order
    tal_axis body_axis[3] = {TAL_AXIS_X, TAL_AXIS_X, TAL_AXIS_X};
    double body_angle[3] = {(double)NAN, (double)NAN, (double)NAN};
    for (int i = 0; i < n; ++i) {
        body_axis[i] = axis[turning == TAL_SPACE_FIXED ? n - 1 - i : i];
    }
    if (tal_m3_is_finite(*R)) body_angles(R, n, body_axis, body_angle);
    for (int i = 0; i < n; ++i) {
        angle[i] = body_angle[turning == TAL_SPACE_FIXED ? n - 1 - i : i];
    }
    return TAL_OK;
}

bool tal_rotation_is_valid(const tal_mat3 *R, double tolerance)
{
    if (is_null(R, __func__)) return false;
    const tal_mat3 error = tal_m3_sub(tal_m3_tmul(*R, *R), TAL_MAT3_IDENTITY);
    return tal_m3_is_finite(error) && tal_v3_max_abs(error.x) <= tolerance &&
           tal_v3_max_abs(error.y) <= tolerance && tal_v3_max_abs(error.z) <= tolerance &&
           tal_m3_det(*R) > 0.0;
}

// Turn columns p and q of B, and of V with them, so that those of B become orthogonal. False if
// they already are.
static bool orthogonalize(tal_vec3 B[3], tal_vec3 V[3], int p, int q)
{
    const double pp = tal_v3_dot(B[p], B[p]), qq = tal_v3_dot(B[q], B[q]);
    const double pq = tal_v3_dot(B[p], B[q]);
    if (fabs(pq) <= DBL_EPSILON * sqrt(pp) * sqrt(qq)) return false;

    const double theta = (qq - pp) / (2.0 * pq);
    const double t = copysign(1.0, theta) / (fabs(theta) + hypot(1.0, theta));
    const double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
    const tal_vec3 Bp = B[p], Vp = V[p];
    B[p] = tal_v3_axpy(c, Bp, tal_v3_scale(-s, B[q]));
    B[q] = tal_v3_axpy(s, Bp, tal_v3_scale(c, B[q]));
    V[p] = tal_v3_axpy(c, Vp, tal_v3_scale(-s, V[q]));
    V[q] = tal_v3_axpy(s, Vp, tal_v3_scale(c, V[q]));
    return true;
}

/*
 * With the singular value decomposition A = U S V^T, largest value first, the nearest rotation is
 *
 *     R = U diag(1, 1, det U det V) V^T
 *
 * so only the first two columns of U and V are needed: completing each to a right-handed frame
 * puts in the determinants. One-sided Jacobi: the columns of B = A V are made orthogonal, and are
 * then U S.
 */
tal_mat3 tal_rotation_nearest(const tal_mat3 *A)
{
    if (is_null(A, __func__) || !tal_m3_is_finite(*A)) return not_a_rotation();
    const double size =
        fmax(tal_v3_max_abs(A->x), fmax(tal_v3_max_abs(A->y), tal_v3_max_abs(A->z)));
    if (size == 0.0) return TAL_MAT3_IDENTITY;

    // three passes are usual; the bound only keeps the loop finite
    tal_vec3 B[3] = {A->x, A->y, A->z};
    tal_vec3 V[3] = {TAL_MAT3_IDENTITY.x, TAL_MAT3_IDENTITY.y, TAL_MAT3_IDENTITY.z};
    for (int i = 0; i < 3; ++i) {
        B[i] = tal_v3(B[i].x / size, B[i].y / size, B[i].z / size);
    }
    bool is_busy = true;
    for (int pass = 0; pass < 30 && is_busy; ++pass) {
        const bool xy = orthogonalize(B, V, 0, 1);
        const bool xz = orthogonalize(B, V, 0, 2);
        const bool yz = orthogonalize(B, V, 1, 2);
        is_busy = xy || xz || yz;
    }

    // the smallest column is the one to leave out
    int small = 0, large = 0;
    for (int i = 1; i < 3; ++i) {
        if (tal_v3_norm(B[i]) < tal_v3_norm(B[small])) small = i;
        if (tal_v3_norm(B[i]) >= tal_v3_norm(B[large])) large = i;
    }
    const int middle = 3 - small - large;
    const bool is_line = tal_v3_norm(B[middle]) <= 4.0 * DBL_EPSILON * tal_v3_norm(B[large]);
    const tal_vec3 u = tal_v3_normalize(B[large]);
    const tal_vec3 v = is_line ? tal_v3_perp(u) : tal_v3_normalize(B[middle]);
    const tal_mat3 U = tal_m3(u, v, tal_v3_cross(u, v));
    const tal_mat3 W = tal_m3(V[large], V[middle], tal_v3_cross(V[large], V[middle]));
    return tal_m3_mul(U, tal_m3_transpose(W));
}
