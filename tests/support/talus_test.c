// Running suites, recording broken contracts, running out of memory, drawing random things,
// comparing them.
#include "talus_test.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int breaches, skipped;

static void count_breach(const tal_error *breach)
{
    (void)breach;
    ++breaches;
}

// Tests that run under another locale (talus_add_comma() in CMakeLists.txt) must not be green
// because it is not there.
static bool has_wanted_locale(void)
{
    const char *wanted = getenv("TALUS_TEST_LOCALE");
    if (wanted == NULL) return true;
    if (setlocale(LC_ALL, wanted) != NULL && localeconv()->decimal_point[0] == ',') return true;
    (void)fprintf(stderr, "there is no locale '%s' with a decimal comma\n", wanted);
    return false;
}

void test_note_skip(const char *test, const char *why)
{
    ++skipped;
    (void)printf("skipped: %s: %s\n", test, why);
}

size_t test_small_stack(void)
{
    const long least = sysconf(_SC_THREAD_STACK_MIN), small = 64 * 1024;
    return (size_t)(least > small ? least : small);
}

int test_run(Suite *suite)
{
    if (!has_wanted_locale()) return EXIT_FAILURE;
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    const int run = srunner_ntests_run(runner), failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    if (failed > 0) return EXIT_FAILURE;
    return run > 0 && skipped == run ? TEST_SKIPPED : EXIT_SUCCESS;
}

void test_record_breaches(void)
{
    breaches = 0;
    (void)tal_contract_set_handler(count_breach);
}

int test_breaches(void)
{
    const int seen = breaches;
    breaches = 0;
    return seen;
}

static void *heap_alloc(void *context, size_t size)
{
    test_heap *heap = context;
    if (++heap->calls == heap->refuse_at) return NULL;
    ++heap->live;
    heap->bytes += size;
    return tal_allocator_default().alloc(NULL, size);
}

static void heap_free(void *context, void *block, size_t size)
{
    test_heap *heap = context;
    --heap->live;
    heap->bytes -= size;
    tal_allocator_default().free(NULL, block, size);
}

tal_allocator test_heap_allocator(test_heap *heap)
{
    return (tal_allocator){heap_alloc, heap_free, heap};
}

void test_write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

test_rng test_rng_seed(uint64_t seed)
{
    return (test_rng){seed};
}

uint64_t test_random_bits(test_rng *rng)
{
    rng->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = rng->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double test_random_uniform(test_rng *rng, double low, double high)
{
    const double unit = (double)(test_random_bits(rng) >> 11) * 0x1p-53;
    return low + unit * (high - low);
}

tal_vec3 test_random_vec3(test_rng *rng)
{
    const double x = test_random_uniform(rng, -1.0, 1.0);
    const double y = test_random_uniform(rng, -1.0, 1.0);
    const double z = test_random_uniform(rng, -1.0, 1.0);
    return tal_v3(x, y, z);
}

tal_spatial_vec test_random_spatial_vec(test_rng *rng)
{
    const tal_vec3 w = test_random_vec3(rng);
    const tal_vec3 v = test_random_vec3(rng);
    return tal_sv(w, v);
}

tal_mat3 test_random_mat3(test_rng *rng)
{
    const tal_vec3 x = test_random_vec3(rng);
    const tal_vec3 y = test_random_vec3(rng);
    const tal_vec3 z = test_random_vec3(rng);
    return tal_m3(x, y, z);
}

tal_vec3 test_random_unit(test_rng *rng)
{
    // points of the cube that fall outside the ball would favor its corners
    for (;;) {
        const tal_vec3 v = test_random_vec3(rng);
        const double length = tal_v3_norm(v);
        if (length <= 1.0 && length > 0.01) return tal_v3_normalize(v);
    }
}

tal_quat test_random_quat(test_rng *rng)
{
    for (;;) {
        const tal_vec3 v = test_random_vec3(rng);
        const tal_quat q = {test_random_uniform(rng, -1.0, 1.0), v.x, v.y, v.z};
        const double length = sqrt(tal_qt_dot(q, q));
        if (length <= 1.0 && length > 0.01) return tal_qt_normalize(q);
    }
}

tal_mat3 test_random_rotation(test_rng *rng)
{
    return tal_rotation_from_qt(test_random_quat(rng));
}

tal_xform test_random_xform(test_rng *rng)
{
    const tal_mat3 R = test_random_rotation(rng);
    const tal_vec3 p = test_random_vec3(rng);
    return tal_xf(R, p);
}

tal_mass_props test_random_mass_props(test_rng *rng)
{
    // the vertices of a tetrahedron, each moved a little and as a whole somewhere
    static const tal_vec3 vertex[4] = {
        {1.0, 1.0, 1.0}, {1.0, -1.0, -1.0}, {-1.0, 1.0, -1.0}, {-1.0, -1.0, 1.0}};
    const tal_vec3 center = test_random_vec3(rng);
    tal_mass_props body = TAL_MASSLESS;
    for (int i = 0; i < 4; ++i) {
        const tal_vec3 p = tal_v3_add(center, tal_v3_axpy(0.5, test_random_vec3(rng), vertex[i]));
        const tal_mass_props point = tal_mass_props_point(test_random_uniform(rng, 0.25, 1.0), p);
        body = tal_mass_props_combine(&body, &point);
    }
    return body;
}

tal_spatial_inertia test_random_inertia(test_rng *rng)
{
    return tal_spatial_inertia_from_mass_props(test_random_mass_props(rng));
}

double test_difference(const double a[], const double b[], int n)
{
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        const double off = fabs(a[i] - b[i]);
        most = isfinite(off) ? fmax(most, off) : 1e300;
    }
    return most;
}

void test_validate(const char *problem, const char *source, const char *quantity,
                   const char *method, double error, double bound)
{
    const char *const table = getenv("TALUS_VALIDATION");
    FILE *const out = table != NULL ? fopen(table, "a") : NULL;
    if (out != NULL) {
        (void)fprintf(out, "%s\t%s\t%s\t%s\t%.1e\t%.1e\n", problem, source, quantity, method, error,
                      bound);
        (void)fclose(out);
    }
    ck_assert_msg(error <= bound, "%s, %s by %s: error %.2e, and %.2e is allowed", problem,
                  quantity, method, error, bound);
}

void test_assert_near(const double *a, const double *b, int n, double tol, const char *what)
{
    for (int i = 0; i < n; ++i) {
        ck_assert_msg(fabs(a[i] - b[i]) <= tol, "%s: component %d is %.17g, not %.17g (tol %g)",
                      what, i, a[i], b[i], tol);
    }
}
