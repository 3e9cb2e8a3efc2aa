// The pool of threads: every task once, nested and repeated work, bad sizes.
#define _GNU_SOURCE // pthread_setattr_default_np
#include "talus_test.h"

#include <talus/common/threads.h>

#include <pthread.h>
#include <stdatomic.h>

enum {
    TASKS = 1000
};

typedef struct work {
    atomic_int count[TASKS];
    tal_executor executor;
} work;

static void count_one(void *context, int i)
{
    work *it = context;
    atomic_fetch_add(&it->count[i], 1);
}

static void count_all_from_within(void *context, int i)
{
    (void)i;
    work *it = context;
    it->executor.run(it->executor.context, count_one, it, TASKS);
}

static void check_counts(work *it, int expected)
{
    for (int i = 0; i < TASKS; ++i) {
        ck_assert_int_eq(atomic_exchange(&it->count[i], 0), expected);
    }
}

START_TEST(every_task_is_done_once)
{
    static work it;
    for (int n = 1; n <= 5; ++n) {
        tal_threads *threads = NULL;
        ck_assert_int_eq(tal_threads_create(n, &threads, NULL), TAL_OK);
        it.executor = tal_threads_executor(threads);
        for (int round = 0; round < 50; ++round) {
            it.executor.run(it.executor.context, count_one, &it, round % 2 == 0 ? TASKS : 0);
            check_counts(&it, round % 2 == 0 ? 1 : 0);
        }
        tal_threads_destroy(threads);
    }
}

END_TEST

START_TEST(work_handed_out_within_a_task_is_done_there)
{
    static work it;
    tal_threads *threads = NULL;
    ck_assert_int_eq(tal_threads_create(3, &threads, NULL), TAL_OK);
    it.executor = tal_threads_executor(threads);
    it.executor.run(it.executor.context, count_all_from_within, &it, 10);
    check_counts(&it, 10);
    tal_threads_destroy(threads);
}

END_TEST

// Threads that want more stack than there are addresses cannot be started.
START_TEST(threads_that_cannot_be_started_are_reported)
{
    pthread_attr_t usual, huge;
    ck_assert_int_eq(pthread_getattr_default_np(&usual), 0);
    ck_assert_int_eq(pthread_attr_init(&huge), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&huge, (size_t)1 << 47), 0);
    ck_assert_int_eq(pthread_setattr_default_np(&huge), 0);
    tal_threads *threads = NULL;
    tal_error err;
    const tal_status st = tal_threads_create(3, &threads, &err);
    ck_assert_int_eq(pthread_setattr_default_np(&usual), 0);
    ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
    ck_assert_ptr_null(threads);
    ck_assert_ptr_nonnull(strstr(err.message, "only 1 of 3"));
    (void)pthread_attr_destroy(&huge);
    (void)pthread_attr_destroy(&usual);
}

END_TEST

START_TEST(sizes_that_make_no_sense_are_refused)
{
    tal_threads *threads = NULL;
    tal_error err;
    ck_assert_int_eq(tal_threads_create(0, &threads, &err), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_threads_create(100000, &threads, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "100000"));
    ck_assert_ptr_null(threads);
    tal_threads_destroy(NULL);
    test_record_breaches();
    static work it;
    test_assert_breach(it.executor = tal_threads_executor(NULL), TAL_ERR_NULL, "NULL");
    it.executor.run(it.executor.context, count_one, &it, TASKS); // all the same
    check_counts(&it, 1);
    test_assert_refused(tal_threads_create(1, NULL, NULL), TAL_ERR_NULL, "out");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("common/threads");
    TCase *tests = tcase_create("threads");
    tcase_add_test(tests, every_task_is_done_once);
    tcase_add_test(tests, work_handed_out_within_a_task_is_done_there);
    tcase_add_test(tests, threads_that_cannot_be_started_are_reported);
    tcase_add_test(tests, sizes_that_make_no_sense_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
