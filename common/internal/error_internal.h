// How code inside Talus records a failure and reports a broken contract.
#ifndef TALUS_ERROR_INTERNAL_H
#define TALUS_ERROR_INTERNAL_H

#include <talus/common/status.h>

#include <math.h>
#include <stdarg.h>
#include <stddef.h>

/// How far entries of R^T R - 1 of a rotation that a caller gives may be from zero.
#define TALI_ROTATION_TOLERANCE 1e-9

/// What a call that returns a number returns after a broken contract.
#define TALI_NAN ((double)NAN)

/// Marks functions that run only after a failure, so that they stay out of the hot code.
#if defined(__GNUC__)
#define TALI_COLD     __attribute__((cold))
#define TALI_NOINLINE __attribute__((noinline))
#else
#define TALI_COLD
#define TALI_NOINLINE
#endif

/// Record a failure in `err` and hand its status back, so a caller writes
/// `return TALI_FAIL(err, TAL_ERR_SINGULAR, "body %d: ...", b);` where the reader sees the return.
/// The first failure wins: a caller that adds nothing must pass the status up untouched.
/// `err` may be NULL.
#define TALI_FAIL(err, status, ...) tali_fail((err), (status), __func__, __VA_ARGS__)

tal_status tali_fail(tal_error *err, tal_status status, const char *where, const char *fmt, ...)
    TAL_PRINTF(4, 5) TALI_COLD;

/// vsnprintf() for sentences: numbers look the same in every locale.
void tali_error_print(char text[], size_t size, const char *fmt, va_list args)
    TAL_PRINTF(3, 0) TALI_COLD;

/// tali_fail() for functions that are printf-like themselves.
tal_status tali_vfail(tal_error *err, tal_status status, const char *where, const char *fmt,
                      va_list args) TALI_COLD;

/// Tell the contract handler that the caller of a public function broke its contract, and hand
/// the status back.
#define TALI_BREACH(status, ...) tali_breach((status), __func__, __VA_ARGS__)

tal_status tali_breach(tal_status status, const char *where, const char *fmt, ...)
    TAL_PRINTF(3, 4) TALI_COLD;

#endif // TALUS_ERROR_INTERNAL_H
