// What every test shares: running a suite, recording broken contracts, a seeded generator.
#ifndef TALUS_TEST_H
#define TALUS_TEST_H

#include <talus/common.h>

#include <check.h>

/// Run a suite and return main's exit code. Tests run in one process, so debuggers, sanitizers
/// and the malloc wrap see them.
int test_run(Suite *suite);

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

#endif // TALUS_TEST_H
