// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_RANDOM_H
#define TALUS_COMMON_RANDOM_H

/**
 * @file talus/common/random.h
 * @brief Seeded, counter-based random numbers: the k-th number of a stream is a function of
 *        (seed, stream, k) and of nothing else.
 *
 * Being plain data, a generator can be copied, stored in a State, rewound by setting its counter,
 * and split: streams of one seed are independent, so give each thread, body or sample its own.
 *
 * The function is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011). It passes the usual statistical batteries; it is not for cryptography.
 */

#include <talus/common/status.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A place in a stream of random numbers. Set the fields as you like; {seed, 0, 0} is a good start.
typedef struct tal_random {
    uint64_t seed;    ///< which family of streams
    uint64_t stream;  ///< which stream of the family
    uint64_t counter; ///< how many draws have been made; each draw, of any kind, adds one
} tal_random;

/// 64 random bits.
TAL_API uint64_t tal_random_bits(tal_random *random);

/// Uniform in [0, 1): a multiple of 2^-53.
TAL_API double tal_random_uniform(tal_random *random);

/// Uniform in (0, 1), never 0 or 1: an odd multiple of 2^-53.
TAL_API double tal_random_uniform_open(tal_random *random);

/// Uniform between `low` and `high`; rounding may give either end. Bounds that are not finite give
/// NaN.
TAL_API double tal_random_range(tal_random *random, double low, double high);

/// Uniform integer in 0 .. n-1, for n >= 1 (else a broken contract, and -1). No value is favored by
/// more than 2^-33 of its probability.
TAL_API int tal_random_index(tal_random *random, int n);

/// Standard normal: mean 0, variance 1, magnitude below 8.6. Uses the C library's `log` and `cos`,
/// so the last bits may differ between C libraries; all other draws are the same everywhere.
TAL_API double tal_random_normal(tal_random *random);

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_RANDOM_H
