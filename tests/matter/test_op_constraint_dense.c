// Tests of matter/src/op_constraint_dense.c: ways of solving, actuation.
#include "constraint_fixture.h"

#include <float.h>

// --- ways of solving ---

static void compare_ways(const loop *l, const tal_spatial_vec F[], const double f[], double size)
{
    const tal_constraint_rows rows = tal_matter_constraint_rows(l->matter, l->state);
    const int n = tal_matter_nu(l->matter), m = rows.mp + rows.mv + rows.ma;
    const dense_room room = dense_room_of(l);
    double udot[3][MAX_N], lambda[3][MAX_M], aerr[MAX_M];
    for (int way = 0; way < 3; ++way) {
        const tal_status st =
            tal_matter_solve_constrained(l->matter, l->state, (tal_solve_way)way, F, f, udot[way],
                                         lambda[way], room.work, room.iwork);
        ck_assert_msg(st == TAL_OK, "%s", tal_state_error(l->state)->message);
        ck_assert_int_eq(tal_matter_calc_constraint_aerr(l->matter, l->state, udot[way], aerr),
                         TAL_OK);
        for (int i = 0; i < m; ++i) {
            ck_assert_double_le(fabs(aerr[i]), 1e-10 * size);
        }
        test_assert_near(udot[way], udot[0], n, 1e-10 * size, "udot");
        test_assert_near(lambda[way], lambda[0], m, 1e-10 * size, "lambda");
    }
    free_room(room);
}

START_TEST(three_ways_of_solving_agree)
{
    for (uint64_t seed = 20; seed < 24; ++seed) {
        fixture *x = make(seed);
        loop_realize(&x->l, TAL_STAGE_ACCELERATION);
        double largest = 1.0;
        for (int j = 0; j < x->n; ++j) {
            largest = fmax(largest, fabs(tal_state_udot(x->l.state)[j]));
        }
        for (int i = 0; i < x->m; ++i) {
            largest = fmax(largest, fabs(tal_state_multipliers(x->l.state)[i]));
        }
        compare_ways(&x->l, x->F, x->f, largest);
        compare_ways(&x->l, NULL, NULL, largest);
        release(x);
    }
}

END_TEST

START_TEST(three_ways_of_solving_agree_when_rows_are_redundant)
{
    loop l;
    build_four_bars(&l, 2, 1.0);
    pose_four_bars(&l, 2, 0.8, 1.3);
    loop_realize(&l, TAL_STAGE_INSTANCE);
    test_rng rng = test_rng_seed(30);
    double f[MAX_N];
    fill(f, 5, &rng);
    compare_ways(&l, NULL, f, 10.0);
    loop_end(&l);
}

END_TEST

// Locks and motions at every level, on bodies in and out of the loop. What realizing solves is the
// ordinary path: known motion partitioned in O(n).
START_TEST(three_ways_of_solving_agree_when_motion_is_known)
{
    for (uint64_t seed = 40; seed < 46; ++seed) {
        fixture *x = make(seed);
        const loop *l = &x->l;
        const tal_mobility gimbal[] = {{{2}, 0}, {{2}, 1}}, point = {{7}, 0};
        (void)tal_mobility_lock(l->matter, l->state, gimbal[0], TAL_LEVEL_VELOCITY);
        (void)tal_mobility_lock_at(l->matter, l->state, gimbal[1], TAL_LEVEL_ACCELERATION, -0.6);
        (void)tal_mobility_lock_at(l->matter, l->state, point, TAL_LEVEL_ACCELERATION, 1.3);
        (void)tal_body_lock(l->matter, l->state, (tal_body_ix){1 + (int)(seed % 3)},
                            TAL_LEVEL_POSITION);
        x->l.gravity = tal_v3(0.0, 0.0, 0.0);
        memcpy(x->l.push, x->f, sizeof x->l.push);
        loop_realize(l, TAL_STAGE_TIME);
        ck_assert_int_eq(tal_system_prescribe_q(l->system, l->state, NULL), TAL_OK);
        loop_realize(l, TAL_STAGE_POSITION);
        ck_assert_int_eq(tal_system_prescribe_u(l->system, l->state, NULL), TAL_OK);
        loop_realize(l, TAL_STAGE_DYNAMICS);
        ck_assert_int_lt(tal_matter_num_free(l->matter, l->state), x->n);

        loop_realize(l, TAL_STAGE_ACCELERATION);
        const dense_room room = dense_room_of(l);
        double udot[MAX_N], lambda[MAX_M], needed[MAX_N];
        double size = 1.0;
        for (int j = 0; j < x->n; ++j) {
            size = fmax(size, fabs(tal_state_udot(l->state)[j]));
        }
        for (int i = 0; i < x->m; ++i) {
            size = fmax(size, fabs(tal_state_multipliers(l->state)[i]));
        }
        for (int way = 0; way < 3; ++way) {
            const tal_status st =
                tal_matter_solve_constrained(l->matter, l->state, (tal_solve_way)way, NULL, x->f,
                                             udot, lambda, room.work, room.iwork);
            ck_assert_msg(st == TAL_OK, "%s", tal_state_error(l->state)->message);
            test_assert_near(udot, tal_state_udot(l->state), x->n, 1e-10 * size, "udot");
            test_assert_near(lambda, tal_state_multipliers(l->state), x->m, 1e-10 * size, "lambda");
        }
        // inverse dynamics: nothing is needed along free speeds, -tau along known ones
        ck_assert_int_eq(tal_matter_constrained_inverse_dynamics(l->matter, l->state, udot, NULL,
                                                                 x->f, lambda, needed, room.work,
                                                                 room.iwork),
                         TAL_OK);
        const double *tau = tal_matter_motion_multipliers(l->matter, l->state);
        for (int j = 0; j < x->n; ++j) {
            ck_assert_double_eq_tol(needed[j], -tau[j], 1e-10 * size * x->n);
        }
        // with every speed actuated, the forces along free ones suffice
        bool all[MAX_N];
        double forces[MAX_N], again[MAX_N];
        for (int j = 0; j < x->n; ++j) {
            all[j] = true;
        }
        ck_assert_int_eq(tal_matter_actuator_forces(l->matter, l->state, udot, NULL, all, forces,
                                                    NULL, room.work, room.iwork),
                         TAL_OK);
        ck_assert_int_eq(tal_matter_solve_constrained(l->matter, l->state, TAL_SOLVE_NULL_SPACE,
                                                      NULL, forces, again, NULL, room.work,
                                                      room.iwork),
                         TAL_OK);
        test_assert_near(again, udot, x->n, 1e-9 * size, "driven by actuators");
        for (int j = 0; j < x->n; ++j) {
            ck_assert(forces[j] == 0.0 || tau[j] == 0.0);
        }
        free_room(room);
        release(x);
    }
}

END_TEST

START_TEST(the_null_basis_is_orthonormal_and_invisible)
{
    fixture *x = make(7);
    const loop *l = &x->l;
    const dense_room room = dense_room_of(l);
    double data[MAX_M * MAX_N], K[MAX_N * MAX_N], out[MAX_M];
    const tal_matrix G = G_of(l, data);
    int dof = -1;
    ck_assert_int_eq(tal_matter_calc_null_basis(l->matter, l->state, tal_matrix_view(K, x->n, x->n),
                                                &dof, room.work, room.iwork),
                     TAL_OK);
    ck_assert_int_eq(dof, x->n - x->m);
    for (int j = 0; j < x->n; ++j) {
        apply(G, false, K + j * x->n, out);
        for (int i = 0; i < x->m; ++i) {
            ck_assert_double_le(fabs(out[i]), 1e-13);
        }
        for (int i = 0; i < x->n; ++i) {
            double sum = 0.0;
            for (int k = 0; k < x->n; ++k) {
                sum += K[k + i * x->n] * K[k + j * x->n];
            }
            ck_assert_double_eq_tol(sum, i == j && i < dof ? 1.0 : 0.0, 1e-13);
        }
    }
    free_room(room);
    release(x);
}

END_TEST

// f_needed is the part of the residual that the constraints cannot bear; at the State's own udot and
// applied forces there is none, and the multipliers are the State's.
START_TEST(inverse_dynamics_finds_the_multipliers_of_forward_dynamics)
{
    fixture *x = make(8);
    const loop *l = &x->l;
    const dense_room room = dense_room_of(l);
    double udot[MAX_N], lambda[MAX_M], found[MAX_M], needed[MAX_N], data[MAX_M * MAX_N];
    ck_assert_int_eq(tal_matter_solve_constrained(l->matter, l->state, TAL_SOLVE_MULTIPLIERS, x->F,
                                                  x->f, udot, lambda, room.work, room.iwork),
                     TAL_OK);
    ck_assert_int_eq(tal_matter_constrained_inverse_dynamics(l->matter, l->state, udot, x->F, x->f,
                                                             found, needed, room.work, room.iwork),
                     TAL_OK);
    for (int i = 0; i < x->m; ++i) {
        ck_assert_double_eq_tol(found[i], lambda[i], 1e-9 * (1.0 + fabs(lambda[i])));
    }
    for (int j = 0; j < x->n; ++j) {
        ck_assert_double_le(fabs(needed[j]), 1e-9);
    }
    // at any other udot the rest is normal to the rows of G
    ck_assert_int_eq(tal_matter_constrained_inverse_dynamics(l->matter, l->state, x->udot, NULL,
                                                             NULL, found, needed, room.work,
                                                             room.iwork),
                     TAL_OK);
    double left[MAX_M];
    apply(G_of(l, data), false, needed, left);
    for (int i = 0; i < x->m; ++i) {
        ck_assert_double_le(fabs(left[i]), 1e-11);
    }
    free_room(room);
    release(x);
}

END_TEST

// RBDA sec. 8.12 on a four-bar: one motor is proper, two are redundant, none is too few. The forces of
// each, applied, give the wanted acceleration.
START_TEST(actuators_are_classified_and_their_forces_do_what_they_should)
{
    loop l;
    build_four_bars(&l, 1, 1.3);
    loop_realize(&l, TAL_STAGE_MODEL);
    const double q[] = {1.2, 1.9, -1.0};
    ck_assert_int_eq(tal_state_set_q(l.state, q, 3), TAL_OK);
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-13;
    loop_realize(&l, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_system_project_q(l.system, l.state, &options, NULL, NULL), TAL_OK);
    tal_state_upd_u(l.state)[0] = 1.0;
    loop_realize(&l, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_system_project_u(l.system, l.state, &options, NULL, NULL), TAL_OK);

    const dense_room room = dense_room_of(&l);
    double udot[3], tau[3], again[3];
    const double push[] = {3.0, -1.0, 2.0};
    ck_assert_int_eq(tal_matter_solve_constrained(l.matter, l.state, TAL_SOLVE_KKT, NULL, push,
                                                  udot, NULL, room.work, room.iwork),
                     TAL_OK);
    static const bool sets[3][3] = {
        {true, false, false}, {true, false, true}, {false, false, false}};
    static const tal_actuation expected[] = {TAL_ACTUATION_PROPER, TAL_ACTUATION_REDUNDANT,
                                             TAL_ACTUATION_UNDER};
    for (int k = 0; k < 3; ++k) {
        tal_actuation actuation;
        ck_assert_int_eq(tal_matter_actuator_forces(l.matter, l.state, udot, NULL, sets[k], tau,
                                                    &actuation, room.work, room.iwork),
                         TAL_OK);
        ck_assert_int_eq(actuation, expected[k]);
        for (int j = 0; j < 3; ++j) {
            ck_assert(sets[k][j] || tau[j] == 0.0);
        }
        if (actuation == TAL_ACTUATION_UNDER) continue;
        ck_assert_int_eq(tal_matter_solve_constrained(l.matter, l.state, TAL_SOLVE_NULL_SPACE, NULL,
                                                      tau, again, NULL, room.work, room.iwork),
                         TAL_OK);
        test_assert_near(again, udot, 3, 1e-11, "udot");
    }
    free_room(room);
    loop_end(&l);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter/op_constraint_dense");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, three_ways_of_solving_agree);
    tcase_add_test(theory, three_ways_of_solving_agree_when_rows_are_redundant);
    tcase_add_test(theory, three_ways_of_solving_agree_when_motion_is_known);
    tcase_add_test(theory, the_null_basis_is_orthonormal_and_invisible);
    tcase_add_test(theory, inverse_dynamics_finds_the_multipliers_of_forward_dynamics);
    tcase_add_test(theory, actuators_are_classified_and_their_forces_do_what_they_should);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
