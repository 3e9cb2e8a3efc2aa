// Proof of "zero heap calls": a link-time wrap of the C library's allocation functions that counts.
//
// A test opts in with `target_link_libraries(test_<layer>_<name> PRIVATE talus_alloc_guard)`. Every
// object linked statically into the test is watched; shared libraries (libc, LAPACK) are not.
#ifndef TALUS_ALLOC_GUARD_H
#define TALUS_ALLOC_GUARD_H

#include <check.h>

/// Calls of malloc, calloc, realloc, aligned_alloc, posix_memalign and free (of a block) by any
/// thread since the last call of this function, which forgets them.
int test_heap_calls(void);

/// Run `statement` and fail the test if it touched the heap. The statement must hold no ck_assert:
/// Check itself allocates. Keep the result and assert on it afterwards:
/// `test_assert_no_heap(status = tal_system_realize(...)); ck_assert_int_eq(status, TAL_OK);`
#define test_assert_no_heap(statement)                                                             \
    do {                                                                                           \
        (void)test_heap_calls();                                                                   \
        statement;                                                                                 \
        const int test_heap_count = test_heap_calls();                                             \
        ck_assert_msg(test_heap_count == 0, "%d heap calls by: %s", test_heap_count, #statement);  \
    } while (0)

#endif // TALUS_ALLOC_GUARD_H
