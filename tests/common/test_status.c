// common/src/status.c, contract.c, alloc.c: codes, messages, the contract handler, growth.
#include "alloc_internal.h"
#include "error_internal.h"

#include "talus_test.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if TALI_GAP > 0
#include <sanitizer/asan_interface.h>
#endif

START_TEST(every_code_has_a_name_and_a_meaning)
{
#define X(name, value, text)                                                                       \
    ck_assert_str_eq(tal_status_name(name), #name);                                                \
    ck_assert_str_eq(tal_status_text(name), text);                                                 \
    ck_assert_int_eq(name, value);
    TAL_STATUS_LIST(X)
#undef X
    ck_assert_str_eq(tal_status_name((tal_status)99), "TAL_ERR_UNKNOWN");
    ck_assert_str_eq(tal_status_text((tal_status)99), "not a Talus status code");
}

START_TEST(the_first_failure_wins)
{
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(TALI_FAIL(&err, TAL_ERR_SINGULAR, "body %d", 3), TAL_ERR_SINGULAR);
    ck_assert_int_eq(TALI_FAIL(&err, TAL_ERR_NULL, "later"), TAL_ERR_NULL);
    ck_assert_int_eq(err.status, TAL_ERR_SINGULAR);
    ck_assert_str_eq(err.message, "body 3");
    ck_assert_str_eq(err.where, __func__);
    ck_assert_int_eq(TALI_FAIL(NULL, TAL_ERR_NULL, "nowhere to write"), TAL_ERR_NULL);
}

START_TEST(a_nan_has_no_sign)
{
    tal_error err = {TAL_OK, "", ""};
    const double one = copysign(NAN, -1.0), other = copysign(NAN, 1.0);
    (void)tali_fail(&err, TAL_ERR_NOT_FINITE, "here", "%g, %g; %g and %f", one, other, -1.5, one);
    ck_assert_str_eq(err.message, "nan, nan; -1.5 and nan");
}

END_TEST

START_TEST(numbers_are_as_short_as_they_can_be)
{
    tal_error err = {TAL_OK, "", ""};
    (void)tali_fail(&err, TAL_ERR_BAD_VALUE, "here",
                    "x is %.17g, not %.17g to %.17g, %.17g; y%.17g, v %d", 0.005, -0.1, 1.0 / 3.0,
                    0.1 + 0.2, 0.25, 2);
    ck_assert_str_eq(err.message,
                     "x is 0.005, not -0.1 to 0.3333333333333333, 0.30000000000000004; y0.25, v 2");
}

END_TEST

START_TEST(a_long_message_is_cut_not_overrun)
{
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    tal_error err = {TAL_OK, "", ""};
    (void)TALI_FAIL(&err, TAL_ERR_FILE, "%s", text);
    ck_assert_uint_eq(strlen(err.message), sizeof err.message - 1);
}

START_TEST(a_breach_reaches_the_handler_and_the_record)
{
    tal_contract_clear();
    ck_assert_int_eq(tal_contract_last()->status, TAL_OK);
    test_assert_breach(
        ck_assert_int_eq(TALI_BREACH(TAL_ERR_STAGE, "needs %s", "Position"), TAL_ERR_STAGE),
        TAL_ERR_STAGE, "needs Position");

    const tal_contract_handler before = tal_contract_set_handler(tal_contract_silent);
    (void)TALI_BREACH(TAL_ERR_NULL, "unheard");
    ck_assert_int_eq(test_breaches(), 0);
    ck_assert_str_eq(tal_contract_last()->message, "unheard");
    ck_assert(tal_contract_set_handler(before) == tal_contract_silent);
}

START_TEST(the_default_handler_is_restored_by_null)
{
    const tal_contract_handler ours = tal_contract_set_handler(NULL);
    const tal_contract_handler printing = tal_contract_set_handler(ours);
    ck_assert(printing != NULL);
    ck_assert(printing != ours);
}

START_TEST(blocks_are_aligned_and_zeroed)
{
    const tal_allocator heap = tal_allocator_default();
    for (size_t size = 0; size < 200; size += 7) {
        unsigned char *block = tali_alloc(&heap, size);
        ck_assert_ptr_nonnull(block);
        ck_assert_uint_eq((uintptr_t)block % TAL_ALIGNMENT, 0);
        for (size_t i = 0; i < size; ++i) {
            ck_assert_uint_eq(block[i], 0);
        }
        tali_free(&heap, block, size);
    }
    tali_free(&heap, NULL, 0);
    ck_assert_ptr_null(tali_alloc(&heap, SIZE_MAX));
}

// Arrays of one block are aligned and in order; with the address sanitizer no step past an end goes
// unseen.
START_TEST(pieces_of_a_block_stand_apart)
{
    const tal_allocator heap = tal_allocator_default();
    char *a = NULL, *b = NULL, *none = NULL, *c = NULL;
    const tali_piece pieces[] = {{&a, 1}, {&b, 100}, {&none, 0}, {&c, 8}};
    size_t bytes = 0;
    char *block = tali_alloc_pieces(&heap, pieces, 4, &bytes);
    ck_assert_ptr_nonnull(block);
    ck_assert_ptr_eq(a, block);
    ck_assert_int_eq(b - a, (int)tali_alloc_apart(1));
    ck_assert_int_eq(none - b, (int)tali_alloc_apart(100));
    ck_assert_int_eq(c - none, TALI_GAP);
    ck_assert_uint_eq(bytes, (size_t)(c - block) + tali_alloc_apart(8));
    ck_assert_uint_eq((uintptr_t)b % TAL_ALIGNMENT, 0);
    ck_assert(a[0] == 0 && b[99] == 0 && c[7] == 0);
#if TALI_GAP > 0
    ck_assert(!__asan_address_is_poisoned(b + 99) && __asan_address_is_poisoned(b + 104));
    ck_assert(__asan_address_is_poisoned(c - 1) && __asan_address_is_poisoned(c + 8));
    char copy[1000]; // all of it, gaps as well
    ck_assert_uint_le(bytes, sizeof copy);
    tali_alloc_copy(copy, block, bytes);
#endif
    tali_free(&heap, block, bytes);
}

// Work memory is laid out anew with each call, for as many rows as there are then.
START_TEST(a_block_can_be_laid_out_again)
{
    const tal_allocator heap = tal_allocator_default();
    char *a = NULL, *b = NULL;
    const tali_piece small[] = {{&a, 64}, {&b, 64}}, large[] = {{&a, 400}, {&b, 100}};
    size_t bytes = 0;
    char *block = tali_alloc_pieces(&heap, large, 2, &bytes);
    ck_assert_ptr_nonnull(block);
    for (int i = 0; i < 3; ++i) {
        (void)tali_pieces_place(small, 2, block);
        memset(a, 1, 64);
        memset(b, 2, 64);
        ck_assert_uint_eq(tali_pieces_place(large, 2, block), bytes);
        memset(a, 3, 400);
        memset(b, 4, 100);
        ck_assert(a[399] == 3 && b[99] == 4);
    }
    tali_free(&heap, block, bytes);
}

START_TEST(growing_keeps_what_was_there)
{
    const tal_allocator heap = tal_allocator_default();
    int *items = NULL;
    int capacity = 0;
    for (int i = 0; i < 1000; ++i) {
        ck_assert(tali_grow(&heap, (void **)&items, i, &capacity, sizeof *items));
        ck_assert_int_eq(items[i], 0);
        items[i] = i;
    }
    for (int i = 0; i < 1000; ++i) {
        ck_assert_int_eq(items[i], i);
    }
    tali_free(&heap, items, (size_t)capacity * sizeof *items);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/status");
    TCase *tc = tcase_create("errors");
    tcase_add_test(tc, every_code_has_a_name_and_a_meaning);
    tcase_add_test(tc, the_first_failure_wins);
    tcase_add_test(tc, a_nan_has_no_sign);
    tcase_add_test(tc, numbers_are_as_short_as_they_can_be);
    tcase_add_test(tc, a_long_message_is_cut_not_overrun);
    tcase_add_test(tc, a_breach_reaches_the_handler_and_the_record);
    tcase_add_test(tc, the_default_handler_is_restored_by_null);
    suite_add_tcase(suite, tc);

    tc = tcase_create("alloc");
    tcase_add_test(tc, blocks_are_aligned_and_zeroed);
    tcase_add_test(tc, pieces_of_a_block_stand_apart);
    tcase_add_test(tc, a_block_can_be_laid_out_again);
    tcase_add_test(tc, growing_keeps_what_was_there);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
