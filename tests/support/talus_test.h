// What every test shares: running a suite, recording broken contracts, running out of memory, a
// seeded generator.
#ifndef TALUS_TEST_H
#define TALUS_TEST_H

#include <talus/common.h>

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/// Run a suite and return main's exit code. Tests run in one process, so debuggers, sanitizers
/// and the malloc wrap see them.
int test_run(Suite *suite);

/// A small stack for a thread: 64 kB, or what the machine asks for at least.
size_t test_small_stack(void);

/// End a case that cannot be tried on this machine, and say so. A program whose cases are all
/// skipped ends with TEST_SKIPPED, which ctest shows as such.
#define test_skip(why)                                                                             \
    do {                                                                                           \
        test_note_skip(__func__, why);                                                             \
        return;                                                                                    \
    } while (0)
void test_note_skip(const char *test, const char *why);

enum {
    TEST_SKIPPED = 77
};

/// Install a handler that counts broken contracts instead of printing them.
void test_record_breaches(void);

/// Broken contracts since the last call, and forget them.
int test_breaches(void);

/// The calls of `statement` must break the contract exactly once, with this status, and the
/// sentence must contain `part`.
#define test_assert_breach(statement, expected, part)                                              \
    do {                                                                                           \
        (void)test_breaches();                                                                     \
        statement;                                                                                 \
        ck_assert_int_eq(test_breaches(), 1);                                                      \
        ck_assert_int_eq(tal_contract_last()->status, expected);                                   \
        ck_assert_msg(strstr(tal_contract_last()->message, part) != NULL, "'%s' lacks '%s'",       \
                      tal_contract_last()->message, part);                                         \
    } while (0)

/// The same of a call that returns the status as well.
#define test_assert_refused(call, expected, part)                                                  \
    test_assert_breach(ck_assert_int_eq(call, expected), expected, part)

/// A call that breaks the contract must do so in its own name, not in that of a function inside.
#define test_assert_breach_is_of(function, ...)                                                    \
    do {                                                                                           \
        (void)test_breaches();                                                                     \
        (void)function(__VA_ARGS__);                                                               \
        ck_assert_int_ge(test_breaches(), 1);                                                      \
        ck_assert_str_eq(tal_contract_last()->where, #function);                                   \
    } while (0)

/// A heap that counts, and refuses one request.
typedef struct test_heap {
    int calls;     ///< requests so far, the refused one included
    int refuse_at; ///< which request is refused, from 1 on; 0: none
    int live;      ///< blocks taken and not given back
    size_t bytes;  ///< their bytes
} test_heap;

tal_allocator test_heap_allocator(test_heap *heap);

/// What has succeeded did not meet the request that was to be refused: no failure was lost.
#define test_assert_never_refused(heap) ck_assert_int_lt((heap)->calls, (heap)->refuse_at)

/// Make a file of this text.
void test_write_file(const char *path, const char *text);

/// The largest |x_i|; 1e300 where one is not finite, so that no bound holds.
static inline double test_largest(const double x[], int n)
{
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        most = isfinite(x[i]) ? fmax(most, fabs(x[i])) : 1e300;
    }
    return most;
}

/// The largest |a_i - b_i|; 1e300 where one is not finite.
double test_difference(const double a[], const double b[], int n);

/// Fails where the error exceeds its bound. ./run validate makes a row of doc/validation.md of each
/// problem, with the largest error of all calls with these words. Only for references of 15 digits
/// and more that were not computed with Talus; none of the texts may have a tab or a bar.
void test_validate(const char *problem, const char *source, const char *quantity,
                   const char *method, double error, double bound);

/// A seeded generator (splitmix64): the same seed gives the same numbers on every machine.
typedef struct test_rng {
    uint64_t state;
} test_rng;

test_rng test_rng_seed(uint64_t seed);

/// Uniform over all 64-bit integers.
uint64_t test_random_bits(test_rng *rng);

/// Uniform in [low, high).
double test_random_uniform(test_rng *rng, double low, double high);

/// Components uniform in [-1, 1).
tal_vec3 test_random_vec3(test_rng *rng);
tal_spatial_vec test_random_spatial_vec(test_rng *rng);
tal_mat3 test_random_mat3(test_rng *rng);

/// A direction, uniform over the sphere.
tal_vec3 test_random_unit(test_rng *rng);

/// A unit quaternion, uniform over all rotations.
tal_quat test_random_quat(test_rng *rng);

/// A rotation, uniform over all rotations.
tal_mat3 test_random_rotation(test_rng *rng);

/// A random rotation, and an origin in the cube [-1, 1)^3.
tal_xform test_random_xform(test_rng *rng);

/// A body of four heavy points, not in a plane: mass between 1 and 4, size about 1.
tal_mass_props test_random_mass_props(test_rng *rng);

/// Its spatial inertia about the body origin.
tal_spatial_inertia test_random_inertia(test_rng *rng);

/// Every component of `a` must be within `tol` of that of `b`; a NaN never is.
void test_assert_near(const double *a, const double *b, int n, double tol, const char *what);

#define test_assert_v3_near(a, b, tol)                                                             \
    do {                                                                                           \
        const tal_vec3 a_ = (a), b_ = (b);                                                         \
        test_assert_near(&a_.x, &b_.x, 3, tol, #a " == " #b);                                      \
    } while (0)

#define test_assert_m3_near(a, b, tol)                                                             \
    do {                                                                                           \
        const tal_mat3 a_ = (a), b_ = (b);                                                         \
        test_assert_near(&a_.x.x, &b_.x.x, 9, tol, #a " == " #b);                                  \
    } while (0)

#define test_assert_s3_near(a, b, tol)                                                             \
    do {                                                                                           \
        const tal_sym3 a_ = (a), b_ = (b);                                                         \
        test_assert_near(&a_.xx, &b_.xx, 6, tol, #a " == " #b);                                    \
    } while (0)

#define test_assert_qt_near(a, b, tol)                                                             \
    do {                                                                                           \
        const tal_quat a_ = (a), b_ = (b);                                                         \
        test_assert_near(&a_.w, &b_.w, 4, tol, #a " == " #b);                                      \
    } while (0)

#define test_assert_sv_near(a, b, tol)                                                             \
    do {                                                                                           \
        const tal_spatial_vec a_ = (a), b_ = (b);                                                  \
        test_assert_near(&a_.w.x, &b_.w.x, 6, tol, #a " == " #b);                                  \
    } while (0)

#endif // TALUS_TEST_H
