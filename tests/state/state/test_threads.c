// One System, many States, many threads: nothing is shared that is written.
#include "talus_test.h"
#include "toy_system.h"

#include <pthread.h>

enum {
    THREADS = 8,
    ROUNDS = 300
};

typedef struct job {
    const toy *made;
    tal_state *state;
    uint64_t seed;
    uint64_t digest;
    int failures;
} job;

static void *run(void *context)
{
    job *j = context;
    j->digest = 0;
    for (uint64_t i = 0; i < ROUNDS; ++i) {
        toy_scramble(j->made, j->state, j->seed + i);
        j->failures += tal_system_realize(j->made->system, j->state, TAL_STAGE_REPORT) != TAL_OK;
        j->failures += tal_system_begin_step(j->made->system, j->state) != TAL_OK;
        j->digest = j->digest * 31 + toy_digest(j->made, j->state);
        // failing is as private as computing
        j->failures += tal_state_nq(NULL) != -1;
        j->failures += tal_contract_last()->status != TAL_ERR_NULL;
        j->failures += tal_state_set_q(j->state, NULL, 1) != TAL_ERR_NULL;
        j->failures +=
            tal_system_realize(j->made->system, j->state, TAL_STAGE_REPORT) != TAL_ERR_NULL;
    }
    return NULL;
}

START_TEST(eight_threads_with_eight_states_compute_what_one_computes)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    toy made;
    ck_assert(toy_build(&made, NULL));
    job jobs[THREADS];
    pthread_t threads[THREADS];
    uint64_t serial[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        jobs[i] = (job){.made = &made, .state = toy_state(&made), .seed = (uint64_t)i * 1000};
        (void)run(&jobs[i]);
        serial[i] = jobs[i].digest;
        tal_state_destroy(jobs[i].state);
        jobs[i].state = toy_state(&made);
    }
    for (int i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(jobs[i].failures, 0);
        ck_assert_uint_eq(jobs[i].digest, serial[i]);
        tal_state_destroy(jobs[i].state);
    }
    tal_system_destroy(made.system);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("state/threads");
    TCase *tests = tcase_create("threads");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, eight_threads_with_eight_states_compute_what_one_computes);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
