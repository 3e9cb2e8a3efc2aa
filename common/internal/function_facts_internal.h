// What a built-in function was created with, for writing model files.
#ifndef TALUS_FUNCTION_FACTS_INTERNAL_H
#define TALUS_FUNCTION_FACTS_INTERNAL_H

#include <talus/common/function.h>

#include <stdbool.h>

/// Facts of a built-in function. Borrowed from it. Fields that a kind does not have are zero.
typedef struct tali_function_facts {
    const char *kind;   ///< tal_function_name()
    double numbers[4];  ///< constant: value; linear: b; sinusoid: amplitude, omega, phase; step:
                        ///< x0, y0, x1, y1; power: scale, exponent; exponential: scale, rate
    const double *list; ///< linear: a; polynomial: lowest power first; multivariate polynomial:
                        ///< coefficients; curves: x; Bezier curves: x, y, slope of each node
    int count;          ///< of `list`
    const double *y;    ///< curves: the first y; the next one is `stride` further; Bezier curves:
                        ///< the curviness of each corner
    int stride;
    const int *powers; ///< of a multivariate polynomial, [count][num_args]
    int num_args;
    tal_spline_end end;         ///< of a cubic spline; of nodes their tal_nodes
    tal_function *const *parts; ///< of a sum, product or composition, [num_parts]
    int num_parts;
} tali_function_facts;

/// False for a user-defined function.
bool tali_function_facts_of(const tal_function *f, tali_function_facts *facts);

/// The table a function was made from, as a copy, and its `self`. Borrowed.
const tal_function_ops *tali_function_ops_of(const tal_function *f, const void **self);

#endif // TALUS_FUNCTION_FACTS_INTERNAL_H
