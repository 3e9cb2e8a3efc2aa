// Unit spatial vectors, sizes of those that have one, and the order with the linear part first.
#include "error_internal.h"

#include <talus/common/screw.h>

#include <float.h>
#include <math.h>

tal_spatial_vec tal_sv_unit_rotation(tal_vec3 direction, tal_vec3 point)
{
    const tal_vec3 s = tal_v3_normalize(direction);
    return tal_sv(s, tal_v3_cross(point, s));
}

tal_spatial_vec tal_sv_unit_translation(tal_vec3 direction)
{
    return tal_sv(TAL_VEC3_ZERO, tal_v3_normalize(direction));
}

tal_spatial_vec tal_sv_unit_force(tal_vec3 direction, tal_vec3 point)
{
    const tal_vec3 s = tal_v3_normalize(direction);
    return tal_sv(tal_v3_cross(point, s), s);
}

tal_spatial_vec tal_sv_unit_couple(tal_vec3 direction)
{
    return tal_sv(tal_v3_normalize(direction), TAL_VEC3_ZERO);
}

// A line vector or a free one has a size: s . s_O = 0 (RBDA eq. 2.10).
static tal_status size_of(tal_vec3 s, tal_vec3 s_O, const char *kind, double *size, tal_error *err)
{
    if (size == NULL) return TALI_BREACH(TAL_ERR_NULL, "'size' is NULL");
    *size = TALI_NAN;
    if (!tal_v3_is_finite(s) || !tal_v3_is_finite(s_O)) {
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "a %s with numbers that are not finite", kind);
    }
    const double ss = tal_v3_norm(s), so = tal_v3_norm(s_O), along = tal_v3_dot(s, s_O);
    if (fabs(along) > 64.0 * DBL_EPSILON * ss * so) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "a %s of pitch %g has no size that is independent of the unit of length: "
                         "take its parts",
                         kind, along / (ss * ss));
    }
    *size = ss > 0.0 ? ss : so;
    return TAL_OK;
}

tal_status tal_sv_motion_size(tal_spatial_vec V, double *size, tal_error *err)
{
    return size_of(V.w, V.v, "twist", size, err);
}

tal_status tal_sv_force_size(tal_spatial_vec F, double *size, tal_error *err)
{
    return size_of(F.v, F.w, "wrench", size, err);
}

void tal_sv_to_linear_first(tal_spatial_vec V, double out[])
{
    if (out == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
        return;
    }
    out[0] = V.v.x, out[1] = V.v.y, out[2] = V.v.z;
    out[3] = V.w.x, out[4] = V.w.y, out[5] = V.w.z;
}

tal_spatial_vec tal_sv_from_linear_first(const double in[])
{
    if (in == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "'in' is NULL");
        const tal_vec3 nan = tal_v3(TALI_NAN, TALI_NAN, TALI_NAN);
        return tal_sv(nan, nan);
    }
    return tal_sv(tal_v3(in[3], in[4], in[5]), tal_v3(in[0], in[1], in[2]));
}

void tal_sv_swap_matrix(double A[])
{
    if (A == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the matrix is NULL");
        return;
    }
    for (int k = 0; k < 18; ++k) { // the first three columns with the last three
        const int i = k % 6, j = k / 6, other = (i + 3) % 6 + 6 * (j + 3);
        const double kept = A[i + 6 * j];
        A[i + 6 * j] = A[other];
        A[other] = kept;
    }
}
