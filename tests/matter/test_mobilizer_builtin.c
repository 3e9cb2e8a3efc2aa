// matter/src/mobilizer_*.c: every built-in table agrees with itself, in both directions and with
// both kinds of rotation coordinates.
#include "mobilizer_support.h"

enum {
    TRIALS = 100
};

// Differences are good to 1e-12 where functions are tame (mobilizer_test.c). The wildest here is N
// in angles, of the size 1/c with c = cos q1 >= 0.36: its fifth derivative is near 120/c^6 = 6e4, so
// h^4/480 of it is 1e-10, relative to N. Nothing else comes near 1e-9.
static const double TOL = 1e-9;

START_TEST(every_table_agrees_with_itself)
{
    test_rng rng = test_rng_seed(1);
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        for (int i = 0; i < 4 * TRIALS; ++i) {
            const bool use_angles = i % 2 == 1;
            const tal_direction direction = i % 4 < 2 ? TAL_FORWARD : TAL_REVERSE;
            mobilizer_state state;
            random_state(&rng, ops, builtins[k].params, use_angles, &state);
            tal_mobilizer_report r;
            tal_error err;

            const tal_status st = tal_mobilizer_test(ops, NULL, &state.arg, direction, &r, &err);
            ck_assert_msg(st == TAL_OK, "%s", err.message);
            ck_assert_msg(r.worst <= TOL,
                          "%s, trial %d: H %g Hdot %g N %g N+ %g Ndot %g N^T %g fits %g %g",
                          ops->name, i, r.H, r.Hdot, r.N, r.Nplus, r.Ndot, r.N_T, r.fit_q, r.fit_u);
        }
    }
}

int main(void)
{
    Suite *suite = suite_create("matter/mobilizer_builtin");
    TCase *identities = tcase_create("identities");
    tcase_add_test(identities, every_table_agrees_with_itself);
    suite_add_tcase(suite, identities);
    return test_run(suite);
}
