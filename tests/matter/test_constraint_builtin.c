// Tests of the built-in constraints: matter/src/constraint_*.c against themselves, on random trees.
#include "constraint_support.h"

static tal_constraint_ix rod(tal_matter *matter, const tal_constraint_def *def, test_rng *rng)
{
    return tal_constraint_add_rod(matter, def, test_random_vec3(rng), test_random_vec3(rng), 0.7);
}

static tal_constraint_ix ball(tal_matter *matter, const tal_constraint_def *def, test_rng *rng)
{
    return tal_constraint_add_ball(matter, def, test_random_vec3(rng), test_random_vec3(rng));
}

static tal_constraint_ix weld(tal_matter *matter, const tal_constraint_def *def, test_rng *rng)
{
    const tal_xform X_1 = test_random_xform(rng), X_2 = test_random_xform(rng);
    return tal_constraint_add_weld(matter, def, &X_1, &X_2);
}

static tal_constraint_ix constant_orientation(tal_matter *matter, const tal_constraint_def *def,
                                              test_rng *rng)
{
    const tal_mat3 R_1 = test_random_rotation(rng), R_2 = test_random_rotation(rng);
    return tal_constraint_add_constant_orientation(matter, def, &R_1, &R_2);
}

static const struct kind {
    const char *name;
    add_constraint_fn add;
    int num_bodies;
} kinds[] = {
    {"rod", rod, 2},
    {"ball", ball, 2},
    {"weld", weld, 2},
    {"constant orientation", constant_orientation, 2},
};

enum {
    NUM_KINDS = sizeof kinds / sizeof kinds[0]
};

// perr, verr and aerr are derivatives of each other, forces are the transpose, at states that satisfy
// nothing.
START_TEST(every_table_agrees_with_itself)
{
    check_on_random_trees(kinds[_i].add, kinds[_i].num_bodies, 60, CHECKER_TOLERANCE);
}

int main(void)
{
    Suite *suite = suite_create("matter/constraint_builtin");
    TCase *tables = tcase_create("tables");
    tcase_set_timeout(tables, 60.0);
    tcase_add_loop_test(tables, every_table_agrees_with_itself, 0, NUM_KINDS);
    suite_add_tcase(suite, tables);
    return test_run(suite);
}
