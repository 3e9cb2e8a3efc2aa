// Planar vectors (RBDA sec. 2.16 and tab. A.1).
#include "error_internal.h"

#include <talus/common/planar.h>

#include <math.h>

static bool is_there(const void *a, const void *b, const char *where)
{
    if (a != NULL && b != NULL) return true;
    (void)tali_breach(TAL_ERR_NULL, where, "an array is NULL");
    return false;
}

// A matrix by columns, from its rows.
static void fill(double A[], const double rows[3][3])
{
    for (int k = 0; k < 9; ++k) {
        A[k] = rows[k % 3][k / 3];
    }
}

void tal_planar_transform(double theta, double x, double y, double X[])
{
    if (!is_there(X, X, __func__)) return;
    const double c = cos(theta), s = sin(theta);
    const double rows[3][3] = {
        {1.0, 0.0, 0.0}, {s * x - c * y, c, s}, {c * x + s * y, -s, c}}; // RBDA eq. 2.77
    fill(X, rows);
}

void tal_planar_force_transform(double theta, double x, double y, double X[])
{
    if (!is_there(X, X, __func__)) return;
    const double c = cos(theta), s = sin(theta);
    const double rows[3][3] = {{1.0, y, -x}, {0.0, c, s}, {0.0, -s, c}};
    fill(X, rows);
}

void tal_planar_cross_motion(const double v[], double A[])
{
    if (!is_there(v, A, __func__)) return;
    const double rows[3][3] = {
        {0.0, 0.0, 0.0}, {v[2], 0.0, -v[0]}, {-v[1], v[0], 0.0}}; // RBDA eq. 2.75
    fill(A, rows);
}

void tal_planar_cross_force(const double v[], double A[])
{
    if (!is_there(v, A, __func__)) return;
    const double rows[3][3] = {{0.0, -v[2], v[1]}, {0.0, 0.0, -v[0]}, {0.0, v[0], 0.0}};
    fill(A, rows);
}

void tal_planar_inertia(double mass, double x, double y, double moment, double I[])
{
    if (!is_there(I, I, __func__)) return;
    const double hx = mass * x, hy = mass * y;
    const double rows[3][3] = {
        {moment + hx * x + hy * y, -hy, hx}, {-hy, mass, 0.0}, {hx, 0.0, mass}}; // RBDA eq. 2.78
    fill(I, rows);
}

void tal_planar_mul(const double A[], const double x[], double y[])
{
    if (!is_there(A, x, __func__) || !is_there(y, y, __func__)) return;
    for (int i = 0; i < 3; ++i) {
        y[i] = A[i] * x[0] + A[i + 3] * x[1] + A[i + 6] * x[2];
    }
}

void tal_planar_displacement(const double X[], double v[])
{
    if (!is_there(X, v, __func__)) return;
    const double s = X[7], c = X[4], X21 = X[1], X31 = X[2];
    v[0] = s;
    v[1] = 0.5 * (X31 + c * X31 + s * X21);
    v[2] = 0.5 * (-X21 - c * X21 + s * X31);
}

void tal_planar_small_displacement(const double X[], double v[])
{
    if (!is_there(X, v, __func__)) return;
    v[0] = X[7];
    v[1] = X[2];
    v[2] = -X[1];
}
