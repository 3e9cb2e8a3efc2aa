// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_NUMBER_H
#define TALUS_IO_NUMBER_H

/**
 * @file talus/io/number.h
 * @brief Numbers as text, the same on every machine and under every locale.
 *
 * What is written is read back bit for bit. What is read is the double nearest to the text, ties to
 * even, however many digits there are. Nothing here allocates, and the decimal point is a point.
 */

#include <talus/common/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup number Numbers as text
/// @{

/// Room for the text of any double, terminating zero included.
#define TAL_NUMBER_SIZE 32

/**
 * Write a double with as few digits as it takes to read it back, at most 17: "0.1", "-3",
 * "6.02e23", "inf", "nan" (the sign and the payload of a NaN are lost).
 *
 * @param[out] text  [TAL_NUMBER_SIZE] ends with a zero
 * @return number of characters, without the zero
 */
TAL_API int tal_number_write(double value, char text[]);

/**
 * Read a double from the beginning of a text: an optional sign, then digits with an optional point
 * and an optional exponent, or "inf", "infinity", "nan" in any case. No blanks before it.
 *
 * @param[in]  begin  first character
 * @param[in]  end    one past the last; NULL: the text ends with a zero
 * @param[out] value  the nearest double; unchanged on failure
 * @return one past the last character of the number; NULL when there is none, or it is too large
 *         for a double
 */
TAL_API const char *tal_number_read(const char *begin, const char *end, double *value);

/**
 * Read numbers separated by blanks, "1 2.5 -3e4": the whole text, which ends with a zero.
 *
 * @param[out] values    [capacity] the first of them
 * @param[in]  capacity  may be less than there are
 * @param[out] wrong     first character that is not part of a number, NULL if there is none; may be
 *                       NULL
 * @return number of numbers; -1 when something is not a number
 */
TAL_API int tal_numbers_read(const char *text, double values[], int capacity, const char **wrong);

/// Read an integer in decimal digits with an optional sign: as tal_number_read(). NULL when it does
/// not fit an int.
TAL_API const char *tal_integer_read(const char *begin, const char *end, int *value);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_NUMBER_H
