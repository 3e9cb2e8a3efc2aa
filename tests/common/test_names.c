// common/src/names.c: a hash table from names to indices.
#include "names_internal.h"

#include "talus_test.h"

START_TEST(names_are_what_a_line_of_a_table_can_hold)
{
    static const char *const good[] = {"a", "left knee", "B\xc3\xa9zier", "x.y[2]", "~"};
    static const char *const bad[] = {" a", "a ", " ", "a\tb", "a\n", "\x7f"};
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
        ck_assert_ptr_null(tali_names_flaw(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        ck_assert_ptr_nonnull(tali_names_flaw(bad[i]));
    }
}

END_TEST

START_TEST(the_hash_table_keeps_indices_with_equal_hashes_apart)
{
    const tal_allocator heap = tal_allocator_default();
    tali_names names = {NULL, 0, 0};
    int probe = 0;
    ck_assert_int_eq(tali_names_next(&names, 7, &probe), -1);
    for (int i = 0; i < 100; ++i) {
        ck_assert(tali_names_reserve(&names, &heap));
        tali_names_add(&names, (uint64_t)(i % 3), i);
    }
    int count = 0, sum = 0;
    probe = 0;
    for (int i = tali_names_next(&names, 1, &probe); i >= 0;
         i = tali_names_next(&names, 1, &probe)) {
        ck_assert_int_eq(i % 3, 1);
        sum += i;
        ++count;
    }
    ck_assert_int_eq(count, 33);
    ck_assert_int_eq(sum, 33 * (1 + 97) / 2);
    names.capacity = INT32_MAX; // as if it could not grow any more
    names.count = INT32_MAX / 2;
    ck_assert(!tali_names_reserve(&names, &heap));
    names.capacity = 256;
    tali_names_free(&names, &heap);
}

END_TEST

START_TEST(a_table_that_cannot_grow_stays_as_it_was)
{
    test_heap heap = {.refuse_at = 2};
    const tal_allocator allocator = test_heap_allocator(&heap);
    tali_names names = {NULL, 0, 0};
    int n = 0;
    for (; tali_names_reserve(&names, &allocator); ++n) {
        tali_names_add(&names, (uint64_t)n, n);
    }
    ck_assert_int_eq(names.count, n);
    for (int i = 0; i < n; ++i) {
        int probe = 0;
        ck_assert_int_eq(tali_names_next(&names, (uint64_t)i, &probe), i);
        ck_assert_int_eq(tali_names_next(&names, (uint64_t)i, &probe), -1);
    }
    tali_names_free(&names, &allocator);
    ck_assert_int_eq(heap.live, 0);
    ck_assert_ptr_null(names.slots);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("common/names");
    TCase *table = tcase_create("table");
    tcase_add_test(table, names_are_what_a_line_of_a_table_can_hold);
    tcase_add_test(table, the_hash_table_keeps_indices_with_equal_hashes_apart);
    tcase_add_test(table, a_table_that_cannot_grow_stays_as_it_was);
    suite_add_tcase(suite, table);
    return test_run(suite);
}
