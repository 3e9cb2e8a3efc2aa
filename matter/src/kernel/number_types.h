// Vectors, matrices and inertias over another `real` than double: what kernels use of vec.h,
// rotation.h, spatial.h and inertia.h, which it stands in for. Included by headers that define real
// and spread(), before everything else.
#ifndef TALUS_KERNEL_NUMBER_TYPES_H
#define TALUS_KERNEL_NUMBER_TYPES_H

#define TALUS_COMMON_VEC_H
#define TALUS_COMMON_ROTATION_H
#define TALUS_COMMON_SPATIAL_H
#define TALUS_COMMON_INERTIA_H

typedef struct tal_vec3 {
    real x, y, z;
} tal_vec3;

typedef struct tal_mat3 {
    tal_vec3 x, y, z;
} tal_mat3;

typedef struct tal_sym3 {
    real xx, yy, zz, xy, xz, yz;
} tal_sym3;

typedef struct tal_quat {
    real w, x, y, z;
} tal_quat;

typedef struct tal_xform {
    tal_mat3 R;
    tal_vec3 p;
} tal_xform;

typedef struct tal_spatial_vec {
    tal_vec3 w, v;
} tal_spatial_vec;

typedef struct tal_mass_props {
    real mass;
    tal_vec3 com;
    tal_sym3 inertia;
} tal_mass_props;

typedef struct tal_abi {
    tal_sym3 J;
    tal_mat3 F;
    tal_sym3 M;
} tal_abi;

typedef enum tal_axis {
    TAL_AXIS_X,
    TAL_AXIS_Y,
    TAL_AXIS_Z
} tal_axis;

static const tal_vec3 TAL_VEC3_ZERO = {0};
static const tal_mat3 TAL_MAT3_ZERO = {0};
static const tal_sym3 TAL_SYM3_ZERO = {0};
#define TAL_SPATIAL_VEC_ZERO                                                                       \
    {                                                                                              \
        0                                                                                          \
    }
// numbers in braces would be those of the lanes of a register
#define TAL_MAT3_IDENTITY number_identity()

static inline tal_mat3 number_identity(void)
{
    const real none = spread(0.0), one = spread(1.0);
    return (tal_mat3){{one, none, none}, {none, one, none}, {none, none, one}};
}

static inline tal_mat3 tal_m3_cross(tal_vec3 v)
{
    const real none = {0.0};
    return (tal_mat3){{none, v.z, -v.y}, {-v.z, none, v.x}, {v.y, -v.x, none}};
}

static inline tal_mat3 tal_m3_transpose(tal_mat3 A)
{
    return (tal_mat3){{A.x.x, A.y.x, A.z.x}, {A.x.y, A.y.y, A.z.y}, {A.x.z, A.y.z, A.z.z}};
}

static inline tal_mat3 tal_m3_from_s3(tal_sym3 S)
{
    return (tal_mat3){{S.xx, S.xy, S.xz}, {S.xy, S.yy, S.yz}, {S.xz, S.yz, S.zz}};
}

static inline tal_sym3 tal_s3_from_m3(tal_mat3 A)
{
    return (tal_sym3){A.x.x, A.y.y, A.z.z, A.y.x, A.z.x, A.z.y};
}

static inline tal_vec3 tal_v3_add(tal_vec3 a, tal_vec3 b)
{
    return (tal_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline tal_vec3 tal_v3_scale(real s, tal_vec3 a)
{
    return (tal_vec3){s * a.x, s * a.y, s * a.z};
}

static inline tal_vec3 tal_v3_cross(tal_vec3 a, tal_vec3 b)
{
    return (tal_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline tal_vec3 tal_m3_mul_v3(tal_mat3 A, tal_vec3 v)
{
    return tal_v3_add(tal_v3_scale(v.x, A.x),
                      tal_v3_add(tal_v3_scale(v.y, A.y), tal_v3_scale(v.z, A.z)));
}

static inline tal_spatial_vec tal_sv_neg(tal_spatial_vec V)
{
    return (tal_spatial_vec){tal_v3_scale(spread(-1.0), V.w), tal_v3_scale(spread(-1.0), V.v)};
}

static inline tal_sym3 tal_s3_add(tal_sym3 S, tal_sym3 T)
{
    return (tal_sym3){S.xx + T.xx, S.yy + T.yy, S.zz + T.zz, S.xy + T.xy, S.xz + T.xz, S.yz + T.yz};
}

static inline tal_mat3 tal_m3_outer(tal_vec3 a, tal_vec3 b)
{
    return (tal_mat3){tal_v3_scale(b.x, a), tal_v3_scale(b.y, a), tal_v3_scale(b.z, a)};
}

static inline tal_abi tal_abi_outer(tal_spatial_vec g, tal_spatial_vec u)
{
    return (tal_abi){tal_s3_from_m3(tal_m3_outer(g.w, u.w)), tal_m3_outer(g.w, u.v),
                     tal_s3_from_m3(tal_m3_outer(g.v, u.v))};
}

// All of the 21 numbers.
static inline tal_abi tal_abi_sub(tal_abi P, tal_abi Q)
{
    real *p = &P.J.xx, *q = &Q.J.xx;
    for (size_t i = 0; i < sizeof P / sizeof *p; ++i) {
        p[i] -= q[i];
    }
    return P;
}

#endif // TALUS_KERNEL_NUMBER_TYPES_H
