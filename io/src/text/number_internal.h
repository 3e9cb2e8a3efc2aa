// Powers of ten as binary numbers, and the exact comparison where they cannot tell.
#ifndef TALUS_IO_NUMBER_INTERNAL_H
#define TALUS_IO_NUMBER_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 tali_number_u128;

/// significand * 2^exponent.
typedef struct tali_number_binary {
    tali_number_u128 significand;
    int exponent;
} tali_number_binary;

/// w * 10^q for w > 0 and -420 <= q < 364: 128 bits, the first of them 1. The significand is off by
/// less than TALI_BINARY_ERROR.
tali_number_binary tali_number_binary_product(uint64_t w, int q);

#define TALI_BINARY_ERROR 16

/// A natural number of up to 3200 bits.
typedef struct tali_number_natural {
    int count;           ///< words in use; the last of them is not zero
    uint32_t words[100]; ///< lowest first
} tali_number_natural;

/// n = n * factor + term.
void tali_number_natural_extend(tali_number_natural *n, uint32_t factor, uint32_t term);

/// The sign of n 10^q - m 2^e. Both sides must fit a tali_number_natural after division by their
/// common powers of two and five; they do where they are near each other and n has at most 770
/// digits.
int tali_number_natural_compare(const tali_number_natural *n, int q, uint64_t m, int e);

/**
 * The double nearest to a decimal number.
 *
 * @param[in]  w, q   the number is w * 10^q, w > 0
 * @param[in]  exact  the same number in full where w is cut off, as exact * 10^exact_q; NULL: it is
 *                    w
 * @return bits of a finite double, or of infinity where it is too large
 */
uint64_t tali_number_nearest_double(uint64_t w, int q, const tali_number_natural *exact,
                                    int exact_q);

#endif // TALUS_IO_NUMBER_INTERNAL_H
