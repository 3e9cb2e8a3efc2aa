// Memory: none is allocated after a State is created, and running out of it is handled everywhere.
#include "alloc_guard.h"
#include "talus_test.h"
#include "toy_system.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- no heap calls ---

START_TEST(nothing_touches_the_heap_after_a_state_is_created)
{
    test_record_breaches();
    toy made;
    ck_assert(toy_build(&made, NULL));
    tal_state *state = toy_state(&made);
    tal_state *copy = toy_state(&made);
    tal_status st = TAL_OK;
    uint64_t sum = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        test_assert_no_heap(toy_scramble(&made, state, seed));
        for (int s = TAL_STAGE_MODEL; s <= TAL_STAGE_REPORT; ++s) {
            test_assert_no_heap(st = tal_system_realize(made.system, state, (tal_stage)s));
            ck_assert_int_eq(st, TAL_OK);
        }
        test_assert_no_heap(sum += toy_digest(&made, state));
        test_assert_no_heap(st = tal_system_begin_step(made.system, state));
        ck_assert_int_eq(st, TAL_OK);
        test_assert_no_heap(st = tal_state_copy(copy, state));
        ck_assert_int_eq(st, TAL_OK);
        bool equal = false;
        test_assert_no_heap(equal = tal_state_is_equal(copy, state));
        ck_assert(equal);
        tal_stage lowest = TAL_STAGE_EMPTY;
        test_assert_no_heap(lowest = tal_state_lowest_difference(made.system, copy, state));
        ck_assert_int_eq(lowest, TAL_STAGE_INFINITY);
        test_assert_no_heap(st = tal_state_invalidate(state, TAL_STAGE_MODEL));
        test_assert_no_heap(st = tal_state_set_t(state, (double)NAN)); // a failure
        ck_assert_int_eq(st, TAL_ERR_NOT_FINITE);
        test_assert_no_heap(st = tal_system_realize(made.system, state, TAL_STAGE_TIME));
        ck_assert_int_eq(st, TAL_ERR_NOT_FINITE);
    }
    ck_assert_uint_ne(sum, 0);
    tal_state_destroy(state);
    tal_state_destroy(copy);
    tal_system_destroy(made.system);
}

END_TEST

// --- the n-th call fails ---

// Everything that allocates, in one go. The first failure is returned.
static tal_status build_and_use(const tal_allocator *allocator, const char *path)
{
    toy made;
    if (!toy_build(&made, allocator)) return TAL_ERR_NO_MEMORY;
    tal_state *state = NULL;
    tal_error err;
    tal_status st = tal_state_create(made.system, &state, &err);
    if (st != TAL_OK) {
        ck_assert_int_eq(err.status, st);
        ck_assert_ptr_null(state);
    }
    if (st == TAL_OK) st = tal_system_realize(made.system, state, TAL_STAGE_REPORT);
    if (st == TAL_OK) st = tal_state_save_file(state, path);
    if (st == TAL_OK) st = tal_state_load_file(made.system, state, path);
    if (state != NULL && st != TAL_OK) {
        // the State is as good as before
        ck_assert_int_eq(tal_state_error(state)->status, st);
        ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_REPORT);
        ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_REPORT), TAL_OK);
    }
    tal_state_destroy(state);
    tal_system_destroy(made.system);
    return st;
}

START_TEST(running_out_of_memory_at_any_call_is_reported_and_leaks_nothing)
{
    test_record_breaches();
    const char *path = "test_state_alloc.tmp";
    test_heap heap = {0};
    const tal_allocator allocator = test_heap_allocator(&heap);
    ck_assert_int_eq(build_and_use(&allocator, path), TAL_OK);
    const int calls = heap.calls;
    ck_assert_int_gt(calls, 30);
    ck_assert_int_eq(heap.live, 0);
    ck_assert_uint_eq(heap.bytes, 0);
    for (int n = 1; n <= calls; ++n) {
        heap.calls = 0;
        heap.refuse_at = n;
        const tal_status st = build_and_use(&allocator, path);
        ck_assert_msg(st == TAL_ERR_NO_MEMORY, "call %d: %s", n, tal_status_name(st));
        ck_assert_msg(heap.live == 0 && heap.bytes == 0, "call %d leaks %d blocks", n, heap.live);
    }
    ck_assert_int_eq(test_breaches(), 0);
    (void)remove(path);
}

END_TEST

// The System itself tells, too, when one of its lists could not grow.
START_TEST(a_system_without_memory_says_so)
{
    for (int n = 2; n < 12; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_system_def def = tal_system_def_default();
        def.allocator = test_heap_allocator(&heap);
        tal_system *system = tal_system_create(&def);
        static const tal_subsystem_ops ops = {.size = sizeof ops, .name = "x"};
        const tal_subsystem_ix me = tal_system_add_subsystem(system, NULL, &ops, NULL);
        tal_group_def group = tal_group_def_default();
        const double zero = 0.0;
        group.capacity = 1;
        group.initial = &zero;
        (void)tal_system_add_group(system, me, &group);
        tal_error err;
        const tal_status st = tal_system_realize_topology(system, &err);
        if (heap.calls >= n) {
            ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
            ck_assert_ptr_nonnull(strstr(err.message, "no memory for"));
        } else {
            ck_assert_int_eq(st, TAL_OK);
        }
        tal_system_destroy(system);
        ck_assert_int_eq(heap.live, 0);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("state/alloc");
    TCase *tests = tcase_create("alloc");
    tcase_add_test(tests, nothing_touches_the_heap_after_a_state_is_created);
    tcase_add_test(tests, running_out_of_memory_at_any_call_is_reported_and_leaks_nothing);
    tcase_add_test(tests, a_system_without_memory_says_so);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
