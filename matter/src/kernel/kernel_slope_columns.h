// The vectors t1 to t5 of all speeds (theory eq. 13.7), one component after the other over the
// speeds, in depth-first order: those of a subtree are then neighbors.
#ifndef TALUS_KERNEL_SLOPE_COLUMNS_H
#define TALUS_KERNEL_SLOPE_COLUMNS_H

#include "kernel/kernel_math.h"

// Where they are among the columns: components of a vector are `step` numbers apart.
enum {
    T1_W = 0,
    T1_V = 3,
    T2 = 6,
    T3_W = 9,
    T3_V = 12,
    T4_W = 15,
    T4_V = 18,
    T5 = 21
};

// Speeds are taken in whole blocks: the last one may reach beyond the subtree.
enum {
    BLOCK = 8
};

typedef struct columns {
    double *t;
    size_t step;
} columns;

TAL_ALWAYS_INLINE v3 get_v3(const columns *c, int which, int k)
{
    const double *at = c->t + (size_t)which * c->step + (size_t)k;
    return (v3){at[0], at[c->step], at[2 * c->step]};
}

TAL_ALWAYS_INLINE sv get_sv(const columns *c, int which, int k)
{
    return (sv){get_v3(c, which, k), get_v3(c, which + 3, k)};
}

TAL_ALWAYS_INLINE void put_v3(const columns *c, int which, int k, v3 x)
{
    double *at = c->t + (size_t)which * c->step + (size_t)k;
    at[0] = x.x, at[c->step] = x.y, at[2 * c->step] = x.z;
}

TAL_ALWAYS_INLINE void put_sv(const columns *c, int which, int k, sv x)
{
    put_v3(c, which, k, x.w);
    put_v3(c, which + 3, k, x.v);
}

#endif // TALUS_KERNEL_SLOPE_COLUMNS_H
