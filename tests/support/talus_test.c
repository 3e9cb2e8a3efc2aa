// Running suites and recording broken contracts.
#include "talus_test.h"

#include <stdlib.h>

static int breaches;

static void count_breach(const tal_error *breach)
{
    (void)breach;
    ++breaches;
}

int test_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
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
