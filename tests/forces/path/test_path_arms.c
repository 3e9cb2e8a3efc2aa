// Tests for forces/src/path/path_arms.c: moment arms along what the constraints allow.
#include "path/path_model.h"

#include <stdlib.h>

// Three pins in a row about z, each 1 m from the last, and a path over all of them.
enum {
    NUM_PINS = 3
};

typedef struct chain {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix pin[NUM_PINS];
    tal_path_ix path[2];
    tal_state *state;
    double *work;
    int *iwork;
} chain;

static void build(chain *c)
{
    c->system = tal_system_create(NULL);
    c->matter = tal_matter_create(c->system);
    c->forces = tal_forces_create(c->system, c->matter);
    tal_mobod_def link = tal_mobod_def_default();
    link.mass.mass = 1.0;
    link.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    tal_body_ix parent = TAL_GROUND;
    for (int k = 0; k < NUM_PINS; ++k) {
        c->pin[k] = parent = tal_matter_add_pin(c->matter, parent, &link);
    }
    c->path[0] = tal_forces_add_path(c->forces, "long");
    tal_path_add_point(c->forces, c->path[0], TAL_GROUND, tal_v3(0.3, 0.1, 0.0));
    tal_path_add_point(c->forces, c->path[0], c->pin[1], tal_v3(0.2, 0.2, 0.1));
    tal_path_add_point(c->forces, c->path[0], c->pin[2], tal_v3(0.2, 0.6, 0.0));
    c->path[1] = tal_forces_add_path(c->forces, "short");
    tal_path_add_point(c->forces, c->path[1], c->pin[0], tal_v3(0.2, 0.1, 0.0));
    tal_path_add_point(c->forces, c->path[1], c->pin[2], tal_v3(-0.2, 0.7, 0.0));
}

static void set_pins(chain *c, const double q[NUM_PINS])
{
    for (int k = 0; k < NUM_PINS; ++k) {
        tal_body_set_q(c->matter, c->state, c->pin[k], 0, q[k]);
    }
    ck_assert_int_eq(tal_system_realize(c->system, c->state, TAL_STAGE_VELOCITY), TAL_OK);
}

static void finish(chain *c)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(c->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(c->system, &c->state, &err) == TAL_OK, "%s", err.message);
    const double q[NUM_PINS] = {0.4, 0.3, -0.6};
    set_pins(c, q);
    const size_t n = tal_forces_moment_arms_work_size(c->forces, c->state);
    const size_t ni = tal_forces_moment_arms_iwork_size(c->forces, c->state);
    c->work = calloc(n, sizeof(double));
    c->iwork = calloc(ni, sizeof(int));
}

static void end(chain *c)
{
    free(c->work);
    free(c->iwork);
    tal_state_destroy(c->state);
    tal_system_destroy(c->system);
}

static void arms_of(chain *c, int path, double arms[NUM_PINS])
{
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_path_calc_moment_arms(c->forces, c->state, c->path[path], arms,
                                                       c->work, c->iwork));
    ck_assert_int_eq(st, TAL_OK);
}

static double length_at(chain *c, int path, const double q[NUM_PINS])
{
    set_pins(c, q);
    return tal_path_length(c->forces, c->state, c->path[path]);
}

// -dl/dq along q + x d, central differences of fourth order over 1e-3: 1e-12.
static double arm_along(chain *c, int path, const double q[NUM_PINS], const double d[NUM_PINS])
{
    static const double at[4] = {-2.0, -1.0, 1.0, 2.0}, weight[4] = {1.0, -8.0, 8.0, -1.0};
    double sum = 0.0;
    for (int k = 0; k < 4; ++k) {
        double moved[NUM_PINS];
        for (int i = 0; i < NUM_PINS; ++i) {
            moved[i] = q[i] + 1e-3 * at[k] * d[i];
        }
        sum += weight[k] * length_at(c, path, moved) / (12.0 * 1e-3);
    }
    return -sum;
}

START_TEST(without_constraints_each_coordinate_moves_alone)
{
    chain c;
    build(&c);
    finish(&c);
    const double q[NUM_PINS] = {0.4, 0.3, -0.6};
    for (int p = 0; p < 2; ++p) {
        double arms[NUM_PINS];
        set_pins(&c, q);
        arms_of(&c, p, arms);
        for (int i = 0; i < NUM_PINS; ++i) {
            double d[NUM_PINS] = {0.0};
            d[i] = 1.0;
            ck_assert_double_eq_tol(arms[i], arm_along(&c, p, q, d), 1e-10);
        }
    }
    end(&c);
}

END_TEST

// q2 = 0.5 q0: what moves q0 moves q2 by half as much, and the other way round.
static void couple(chain *c)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.mobilities[0] = (tal_mobility){c->pin[0], 0};
    def.mobilities[1] = (tal_mobility){c->pin[2], 0};
    def.num_mobilities = 2;
    const double a[2] = {0.5, -1.0};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_linear(NULL, a, 2, 0.0, &f, NULL), TAL_OK);
    (void)tal_constraint_add_coordinate_coupler(c->matter, &def, f);
}

START_TEST(a_coupled_coordinate_moves_along)
{
    chain c;
    build(&c);
    couple(&c);
    finish(&c);
    const double q[NUM_PINS] = {0.4, 0.3, 0.2};
    static const double moves[NUM_PINS][NUM_PINS] = {
        {1.0, 0.0, 0.5}, {0.0, 1.0, 0.0}, {2.0, 0.0, 1.0}};
    double all[2 * NUM_PINS];
    for (int p = 0; p < 2; ++p) {
        double arms[NUM_PINS];
        set_pins(&c, q);
        arms_of(&c, p, arms);
        const tal_matrix R = tal_matrix_view(all, 2, NUM_PINS);
        tal_status st = TAL_OK;
        test_assert_no_heap(st =
                                tal_forces_calc_moment_arms(c.forces, c.state, R, c.work, c.iwork));
        ck_assert_int_eq(st, TAL_OK);
        for (int i = 0; i < NUM_PINS; ++i) {
            ck_assert_double_eq_tol(arms[i], arm_along(&c, p, q, moves[i]), 1e-10);
            ck_assert_double_eq(all[p + 2 * i], arms[i]);
        }
    }
    end(&c);
}

END_TEST

static void lock(chain *c, int pin)
{
    const tal_mobility at = {c->pin[pin], 0};
    ck_assert_int_eq(tal_mobility_lock(c->matter, c->state, at, TAL_LEVEL_POSITION), TAL_OK);
    ck_assert_int_eq(tal_system_realize(c->system, c->state, TAL_STAGE_VELOCITY), TAL_OK);
}

START_TEST(the_arm_about_a_locked_coordinate_is_the_one_it_has_when_free)
{
    chain c;
    build(&c);
    couple(&c);
    finish(&c);
    const double q[NUM_PINS] = {0.4, 0.3, 0.2};
    set_pins(&c, q);
    double free_arms[NUM_PINS], arms[NUM_PINS];
    arms_of(&c, 0, free_arms);
    // pin 2, locked, drags pin 0 along when it moves; while it stands the coupler holds pin 0
    lock(&c, 2);
    arms_of(&c, 0, arms);
    ck_assert_double_eq_tol(arms[2], free_arms[2], 1e-14);
    ck_assert_double_eq(arms[0], 0.0);
    ck_assert_double_eq_tol(arms[1], free_arms[1], 1e-14);
    // nothing binds pin 1 to others
    lock(&c, 1);
    arms_of(&c, 0, arms);
    ck_assert_double_eq_tol(arms[1], free_arms[1], 1e-14);
    // each of pins 0 and 2 is held by the lock of the other
    lock(&c, 0);
    arms_of(&c, 0, arms);
    ck_assert_double_eq(arms[0], 0.0);
    ck_assert_double_eq(arms[2], 0.0);
    ck_assert_double_eq_tol(arms[1], free_arms[1], 1e-14);
    end(&c);
}

END_TEST

START_TEST(a_coordinate_that_constraints_hold_has_a_moment_arm_of_zero)
{
    chain c;
    build(&c);
    couple(&c);
    tal_constraint_def def = tal_constraint_on(c.pin[0], 0);
    (void)tal_constraint_add_constant_coordinate(c.matter, &def, 0.4);
    finish(&c);
    const double q[NUM_PINS] = {0.4, 0.3, 0.2};
    set_pins(&c, q);
    double arms[NUM_PINS];
    arms_of(&c, 1, arms);
    ck_assert_double_eq(arms[0], 0.0);
    ck_assert_double_eq(arms[2], 0.0);
    const double alone[NUM_PINS] = {0.0, 1.0, 0.0};
    ck_assert_double_eq_tol(arms[1], arm_along(&c, 1, q, alone), 1e-10);
    end(&c);
}

END_TEST

START_TEST(a_state_of_another_system_is_refused)
{
    chain c, other;
    build(&c);
    finish(&c);
    build(&other);
    couple(&other); // more rows: another structure
    finish(&other);
    double x[2 * NUM_PINS] = {0.0};
    const tal_matrix R = tal_matrix_view(x, 2, NUM_PINS);
    test_assert_refused(tal_forces_calc_path_lengths(c.forces, other.state, x),
                        TAL_ERR_WRONG_SYSTEM, "does not belong");
    test_assert_refused(tal_forces_calc_path_speeds(c.forces, other.state, x), TAL_ERR_WRONG_SYSTEM,
                        "does not belong");
    test_assert_refused(tal_path_calc_generalized(c.forces, other.state, c.path[0], x),
                        TAL_ERR_WRONG_SYSTEM, "does not belong");
    test_assert_refused(tal_forces_calc_moment_arms(c.forces, other.state, R, c.work, c.iwork),
                        TAL_ERR_WRONG_SYSTEM, "does not belong");
    end(&other);
    end(&c);
}

END_TEST

START_TEST(moment_arms_are_asked_for_with_the_right_sizes)
{
    chain c;
    build(&c);
    finish(&c);
    double all[2 * NUM_PINS] = {0.0};
    const tal_matrix bad = tal_matrix_view(all, 1, NUM_PINS);
    const tal_matrix R = tal_matrix_view(all, 2, NUM_PINS);
    ck_assert_int_eq(tal_forces_calc_moment_arms(c.forces, c.state, bad, c.work, c.iwork),
                     TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_forces_calc_moment_arms(NULL, c.state, R, c.work, c.iwork), TAL_ERR_NULL);
    ck_assert_int_eq(tal_forces_calc_moment_arms(c.forces, c.state, R, NULL, c.iwork),
                     TAL_ERR_NULL);
    ck_assert_int_eq(
        tal_path_calc_moment_arms(c.forces, c.state, (tal_path_ix){5}, all, c.work, c.iwork),
        TAL_ERR_BAD_INDEX);
    tal_body_set_u(c.matter, c.state, c.pin[0], 0, 1.0);
    ck_assert_int_eq(tal_forces_calc_moment_arms(c.forces, c.state, R, c.work, c.iwork),
                     TAL_ERR_STAGE);
    ck_assert_uint_eq(tal_forces_moment_arms_work_size(NULL, c.state), 0);
    ck_assert_uint_eq(tal_forces_moment_arms_iwork_size(NULL, c.state), 0);
    end(&c);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/path_arms");
    TCase *all = tcase_create("all");
    tcase_add_test(all, without_constraints_each_coordinate_moves_alone);
    tcase_add_test(all, a_coupled_coordinate_moves_along);
    tcase_add_test(all, the_arm_about_a_locked_coordinate_is_the_one_it_has_when_free);
    tcase_add_test(all, a_coordinate_that_constraints_hold_has_a_moment_arm_of_zero);
    tcase_add_test(all, a_state_of_another_system_is_refused);
    tcase_add_test(all, moment_arms_are_asked_for_with_the_right_sizes);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
