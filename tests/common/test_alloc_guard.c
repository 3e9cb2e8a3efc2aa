// tests/support/alloc_guard.c: the guard itself must see every kind of heap call.
#define _POSIX_C_SOURCE 200112L
#include "alloc_internal.h"

#include "alloc_guard.h"
#include "talus_test.h"

#include <stdlib.h>

// Volatile, so that the compiler cannot remove a block that is not used.
static void *volatile kept;

START_TEST(every_kind_of_heap_call_is_counted)
{
    int calls[6] = {0};
    void *block = NULL;

    (void)test_heap_calls();
    kept = malloc(8);
    calls[0] = test_heap_calls();
    kept = realloc(kept, 16);
    calls[1] = test_heap_calls();
    free(kept);
    calls[2] = test_heap_calls();
    kept = calloc(2, 8);
    free(kept);
    calls[3] = test_heap_calls();
    kept = aligned_alloc(64, 64);
    free(kept);
    calls[4] = test_heap_calls();
    const int failed = posix_memalign(&block, 64, 64);
    kept = block;
    free(kept);
    calls[5] = test_heap_calls();

    ck_assert_int_eq(failed, 0);
    for (int i = 0; i < 6; ++i) {
        ck_assert_int_eq(calls[i], i < 3 ? 1 : 2);
    }
}

START_TEST(calls_inside_a_talus_library_are_seen)
{
    const tal_allocator heap = tal_allocator_default();

    (void)test_heap_calls();
    void *block = tali_alloc(&heap, 100);
    const int at_alloc = test_heap_calls();
    tali_free(&heap, block, 100);
    const int at_free = test_heap_calls();

    ck_assert_int_eq(at_alloc, 1);
    ck_assert_int_eq(at_free, 1);
}

START_TEST(code_that_does_not_allocate_passes)
{
    test_assert_no_heap(kept = NULL);
    test_assert_no_heap(free(NULL));
}

int main(void)
{
    Suite *suite = suite_create("common/alloc_guard");
    TCase *tc = tcase_create("alloc");
    tcase_add_test(tc, every_kind_of_heap_call_is_counted);
    tcase_add_test(tc, calls_inside_a_talus_library_are_seen);
    tcase_add_test(tc, code_that_does_not_allocate_passes);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
