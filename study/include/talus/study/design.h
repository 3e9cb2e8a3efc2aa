// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_DESIGN_H
#define TALUS_STUDY_DESIGN_H

/**
 * @file talus/study/design.h
 * @brief Designs: which values the parameters of sample k have. Tables, grids, random numbers,
 *        Latin hypercubes, or a function of yours.
 *
 *     const tal_distribution wind = {TAL_NORMAL, 0.0, 2.0};
 *     const tal_design design = tal_design_random(&wind, 1, 42, 100000);
 *
 * A sample is a function of the design and its number alone, so no table of them is needed, and a
 * hundred machines agree about sample 12345 without a word.
 */

#include <talus/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup design Designs of ensembles
/// @{

/// How a parameter is distributed.
typedef enum tal_distribution_kind {
    TAL_UNIFORM,  ///< between a and b
    TAL_NORMAL,   ///< mean a, standard deviation b
    TAL_LOGNORMAL ///< exp of a normal number; median a, standard deviation of the logarithm b
} tal_distribution_kind;

typedef struct tal_distribution {
    tal_distribution_kind kind;
    double a, b;
} tal_distribution;

/// How samples are chosen.
typedef enum tal_design_kind {
    TAL_DESIGN_TABLE,   ///< from a table of yours
    TAL_DESIGN_GRID,    ///< all combinations of levels
    TAL_DESIGN_RANDOM,  ///< each at random, independent of the others
    TAL_DESIGN_LATIN,   ///< a Latin hypercube: random, and each parameter evenly spread
    TAL_DESIGN_FUNCTION ///< by a function of yours
} tal_design_kind;

/// Samples of parameters. Make one with the functions below. Arrays are borrowed.
typedef struct tal_design {
    tal_design_kind kind;
    int num_parameters;
    int num_samples;
    const double *values;                  ///< table: [num_samples][num_parameters]
    const int *levels;                     ///< grid: [num_parameters]
    const double *low;                     ///< grid: [num_parameters]
    const double *high;                    ///< grid: [num_parameters]
    const tal_distribution *distributions; ///< random, Latin: [num_parameters]
    uint64_t seed;                         ///< random, Latin
    /// Function: the values of sample k. Called from any thread.
    /// @param[out] values  [num_parameters]
    tal_status (*calc)(void *context, int k, double values[]);
    void *context; ///< handed to `calc`
} tal_design;

/// Samples from a table. A list of n numbers is a table of one parameter.
/// @param[in] values  [n][num_parameters]; NULL if there are no parameters
TAL_API tal_design tal_design_table(const double values[], int num_parameters, int n);

/// All combinations of levels[i] values from low[i] to high[i], the last parameter running fastest.
/// @param[in] levels  [num_parameters]
/// @param[in] low     [num_parameters]
/// @param[in] high    [num_parameters]
TAL_API tal_design tal_design_grid(const int levels[], const double low[], const double high[],
                                   int num_parameters);

/// Random samples: sample k is a function of the seed and k alone, so more samples begin with
/// fewer.
/// @param[in] distributions  [num_parameters]
TAL_API tal_design tal_design_random(const tal_distribution distributions[], int num_parameters,
                                     uint64_t seed, int n);

/// A Latin hypercube (McKay, Beckman, Conover 1979): the range of each parameter is cut into n
/// pieces of equal probability, each of which has one sample. Means of outputs that depend on the
/// parameters one by one are much better than those of as many random samples.
/// @param[in] distributions  [num_parameters]
TAL_API tal_design tal_design_latin(const tal_distribution distributions[], int num_parameters,
                                    uint64_t seed, int n);

/// Samples from a function.
TAL_API tal_design tal_design_function(tal_status (*calc)(void *context, int k, double values[]),
                                       void *context, int num_parameters, int n);

/// Does it make sense? TAL_ERR_BAD_VALUE or TAL_ERR_NULL, and a sentence in `err` (or NULL).
TAL_API TAL_NODISCARD tal_status tal_design_check(const tal_design *design, tal_error *err);

/// The values of one sample.
/// @param[in]  design  one that tal_design_check() finds good
/// @param[in]  k       0 ... num_samples - 1
/// @param[out] values  [design.num_parameters]
/// @return TAL_OK; TAL_ERR_BAD_INDEX; or what the design's function returned
TAL_API tal_status tal_design_sample(const tal_design *design, int k, double values[]);

/// @name Tables
/// @{

/// Number of points of a grid with `levels` values of each parameter; -1 when that is not an int.
/// @param[in] levels  [num_parameters]
TAL_API int tal_grid_size(const int levels[], int num_parameters);

/// All samples of a design.
/// @param[in]  design
/// @param[out] values  [design.num_samples][design.num_parameters]
TAL_API tal_status tal_design_fill(const tal_design *design, double values[]);

/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_DESIGN_H
