// Tests of matter/src/operator/op_constraint_dense.c: ways of solving, actuation.
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
            ck_assert_double_le(fabs(aerr[i]), 1e-12 * size);
        }
        test_assert_near(udot[way], udot[0], n, 1e-12 * size, "udot");
        test_assert_near(lambda[way], lambda[0], m, 1e-12 * size, "lambda");
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
        const double first[] = {0.9, -0.4,
                                0.3}; // of the first body, so that no udot is zero by chance
        (void)tal_body_lock_at(l->matter, l->state, (tal_body_ix){1}, TAL_LEVEL_ACCELERATION, first,
                               3);
        (void)tal_mobility_lock(l->matter, l->state, gimbal[0], TAL_LEVEL_VELOCITY);
        (void)tal_mobility_lock_at(l->matter, l->state, gimbal[1], TAL_LEVEL_ACCELERATION, -0.6);
        (void)tal_mobility_lock_at(l->matter, l->state, point, TAL_LEVEL_ACCELERATION, 1.3);
        (void)tal_body_lock(l->matter, l->state, (tal_body_ix){2 + (int)(seed % 3)},
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
            test_assert_near(udot, tal_state_udot(l->state), x->n, 1e-12 * size, "udot");
            test_assert_near(lambda, tal_state_multipliers(l->state), x->m, 1e-12 * size, "lambda");
        }
        // inverse dynamics: nothing is needed along free speeds, -tau along known ones
        ck_assert_int_eq(tal_matter_constrained_inverse_dynamics(l->matter, l->state, udot, NULL,
                                                                 x->f, lambda, needed, room.work,
                                                                 room.iwork),
                         TAL_OK);
        const double *tau = tal_matter_motion_multipliers(l->matter, l->state);
        for (int j = 0; j < x->n; ++j) {
            ck_assert_double_eq_tol(needed[j], -tau[j], 1e-12 * size * x->n);
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
        test_assert_near(again, udot, x->n, 1e-12 * size, "driven by actuators");
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

// f_needed is the part of the residual that the constraints cannot bear; at the State's own udot
// and applied forces there is none, and the multipliers are the State's.
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
        ck_assert_double_eq_tol(found[i], lambda[i], 1e-12 * (1.0 + fabs(lambda[i])));
    }
    for (int j = 0; j < x->n; ++j) {
        ck_assert_double_le(fabs(needed[j]), 1e-11);
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

// RBDA sec. 8.12 on a four-bar: one motor is proper, two are redundant, none is too few. The forces
// of each, applied, give the wanted acceleration.
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
    double udot[3], tau[4] = {0.0, 0.0, 0.0, 7.0}, again[3];
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
        ck_assert(tau[3] == 7.0); // not its own
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

// Nothing that moves, and nothing that drives: all of it is locked.
START_TEST(where_nothing_can_move_no_force_is_needed)
{
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    const tal_body_ix body = tal_matter_add_slider(l.matter, TAL_GROUND, &def);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    ck_assert_int_eq(tal_body_lock(l.matter, l.state, body, TAL_LEVEL_POSITION), TAL_OK);
    loop_realize(&l, TAL_STAGE_VELOCITY);
    const dense_room room = dense_room_of(&l);
    for (int driven = 0; driven < 2; ++driven) {
        const bool actuated = driven == 1;
        const double udot = 0.0;
        double tau = 5.0;
        tal_actuation actuation = TAL_ACTUATION_UNDER;
        ck_assert_int_eq(tal_matter_actuator_forces(l.matter, l.state, &udot, NULL, &actuated, &tau,
                                                    &actuation, room.work, room.iwork),
                         TAL_OK);
        ck_assert_int_eq(actuation, TAL_ACTUATION_PROPER);
        ck_assert_double_eq(tau, 0.0);
    }
    free_room(room);
    loop_end(&l);
}

END_TEST

// Without constraints there are no multipliers to write: their array may be missing, and what is
// needed is the whole of M udot.
START_TEST(without_constraints_inverse_dynamics_needs_no_multipliers)
{
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 3.0;
    (void)tal_matter_add_slider(l.matter, TAL_GROUND, &def);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_VELOCITY);
    const dense_room room = dense_room_of(&l);
    const double udot = 0.5;
    double needed = 0.0;
    ck_assert_int_eq(tal_matter_constrained_inverse_dynamics(l.matter, l.state, &udot, NULL, NULL,
                                                             NULL, &needed, room.work, room.iwork),
                     TAL_OK);
    ck_assert_double_eq(needed, 1.5);
    free_room(room);
    loop_end(&l);
}

END_TEST

// --- a mass matrix that only the constraints make regular ---

// (m / 3 + p) theta'' = -(m / 2 + p) g cos(theta) + tip force across, for particles of any mass p,
// zero among them. Both balls together bear what holds the particle to its path. Masses as of atoms
// differ by 1e-26 from what G is made of.
START_TEST(realizing_by_kkt_needs_no_mass_where_constraints_hold)
{
    static const double units[] = {1.0, 1e-26};
    static const double particles[] = {0.0, 1e-12, 0.7};
    for (int k = 0; k < 6; ++k) {
        const double unit = units[k % 2], p = particles[k / 2], theta = 0.4, speed = 1.3;
        for (int balls = 1; balls <= 2; ++balls) {
            loop l;
            build_held_particle(&l, unit, unit * p, balls, TAL_SOLVE_KKT);
            ck_assert_int_eq(tal_matter_solve_way(l.matter), TAL_SOLVE_KKT);
            pose_held_particle(&l, theta, speed);
            l.push[1] = 2.0 * unit, l.push[2] = -3.0 * unit;
            loop_realize(&l, TAL_STAGE_ACCELERATION);
            const double c = cos(theta), s = sin(theta);
            const double alpha =
                (-(0.5 + p) * 9.81 * c - 2.0 * s - 3.0 * c) / (1.0 / 3.0 + p); // 9.81 along -y
            const double ax = -s * alpha - c * speed * speed, ay = c * alpha - s * speed * speed;
            const double udot[] = {alpha, ax, ay, 0.0};
            const double force[] = {p * ax - 2.0, p * (ay + 9.81) + 3.0, 0.0}; // on the particle
            // numbers of size 30, a condition of some ten
            test_assert_near(tal_state_udot(l.state), udot, 4, 1e-12, "udot");
            for (int i = 0; i < 3 * balls; ++i) { // lambda acts with a minus
                ck_assert_double_eq_tol(tal_state_multipliers(l.state)[i] / unit,
                                        -force[i % 3] / balls, 1e-12);
                ck_assert_double_le(fabs(tal_state_udoterr(l.state)[i]), 1e-12);
            }
            const tal_spatial_vec A = tal_body_A_GB(l.matter, l.state, (tal_body_ix){2});
            ck_assert_double_eq_tol(A.v.x, ax, 1e-12);
            loop_end(&l);
        }
    }
}

END_TEST

// Known motion leaves the equations in the same way: the particle is carried along by a locked pin.
START_TEST(realizing_by_kkt_knows_prescribed_motion)
{
    loop l;
    build_held_particle(&l, 1.0, 0.0, 1, TAL_SOLVE_KKT);
    pose_held_particle(&l, 0.4, 1.3);
    const double alpha = 5.0, c = cos(0.4), s = sin(0.4);
    ck_assert_int_eq(
        tal_body_lock_at(l.matter, l.state, (tal_body_ix){1}, TAL_LEVEL_ACCELERATION, &alpha, 1),
        TAL_OK);
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    const double udot[] = {alpha, -s * alpha - c * 1.69, c * alpha - s * 1.69, 0.0};
    test_assert_near(tal_state_udot(l.state), udot, 4, 1e-13, "udot");
    loop_end(&l);
}

END_TEST

START_TEST(what_moves_no_mass_is_refused_unless_it_is_held)
{
    loop l;
    build_held_particle(&l, 1.0, 0.0, 1, TAL_SOLVE_MULTIPLIERS);
    pose_held_particle(&l, 0.4, 0.0);
    ck_assert_int_eq(tal_system_realize(l.system, l.state, TAL_STAGE_ACCELERATION),
                     TAL_ERR_SINGULAR);
    const char *why = tal_state_error(l.state)->message;
    ck_assert_msg(strstr(why, "'point'") && strstr(why, "\"kkt\""), "%s", why);
    loop_end(&l);

    build_held_particle(&l, 1.0, 0.0, 1, TAL_SOLVE_KKT);
    ck_assert_int_eq(tal_constraint_set_enabled(l.matter, l.state, (tal_constraint_ix){0}, false),
                     TAL_OK);
    pose_held_particle(&l, 0.4, 0.0);
    ck_assert_int_eq(tal_system_realize(l.system, l.state, TAL_STAGE_ACCELERATION),
                     TAL_ERR_SINGULAR);
    why = tal_state_error(l.state)->message;
    ck_assert_msg(strstr(why, "'point'") && strstr(why, "no constraint holds it"), "%s", why);
    loop_end(&l);
}

END_TEST

// One ball holds three motions, a second one says the same.
START_TEST(rows_are_compared_without_masses_too)
{
    static const double particles[] = {0.0, 0.7};
    for (int k = 0; k < 4; ++k) {
        const int balls = 1 + k / 2;
        loop l;
        build_held_particle(&l, 1.0, particles[k % 2], balls, TAL_SOLVE_KKT);
        pose_held_particle(&l, 0.4, 1.3);
        loop_realize(&l, TAL_STAGE_VELOCITY);
        tal_rows_report report;
        tal_constraint_row rows[6];
        ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, rows),
                         TAL_OK);
        ck_assert_int_eq(report.rank, 3);
        ck_assert_int_eq(report.dof, 1);
        ck_assert_int_eq(report.num_redundant, 3 * (balls - 1));
        ck_assert_int_eq(report.num_inconsistent, 0);
        tal_rows_margin margin;
        ck_assert_int_eq(tal_matter_calc_margin(l.matter, l.state, &margin), TAL_OK);
        ck_assert_int_eq(margin.num_redundant, report.num_redundant);
        ck_assert(margin.share > 0.1 && margin.share <= 1.0);
        loop_end(&l);
    }
}

END_TEST

START_TEST(the_way_of_realizing_is_said_before_the_topology)
{
    test_record_breaches();
    loop l;
    loop_begin(&l);
    ck_assert_int_eq(tal_matter_solve_way(l.matter), TAL_SOLVE_MULTIPLIERS);
    ck_assert_int_eq(tal_matter_set_solve_way(l.matter, TAL_SOLVE_NULL_SPACE), TAL_ERR_BAD_VALUE);
    tal_error err;
    ck_assert_int_eq(tal_system_realize_topology(l.system, &err), TAL_ERR_BAD_VALUE);
    tal_system_destroy(l.system);
    build_held_particle(&l, 1.0, 0.0, 1, TAL_SOLVE_KKT);
    test_assert_breach((void)tal_matter_set_solve_way(l.matter, TAL_SOLVE_KKT), TAL_ERR_TOPOLOGY,
                       "call this before");
    loop_end(&l);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter/op_constraint_dense");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, three_ways_of_solving_agree);
    tcase_add_test(theory, where_nothing_can_move_no_force_is_needed);
    tcase_add_test(theory, without_constraints_inverse_dynamics_needs_no_multipliers);
    tcase_add_test(theory, three_ways_of_solving_agree_when_rows_are_redundant);
    tcase_add_test(theory, three_ways_of_solving_agree_when_motion_is_known);
    tcase_add_test(theory, realizing_by_kkt_needs_no_mass_where_constraints_hold);
    tcase_add_test(theory, realizing_by_kkt_knows_prescribed_motion);
    tcase_add_test(theory, what_moves_no_mass_is_refused_unless_it_is_held);
    tcase_add_test(theory, rows_are_compared_without_masses_too);
    tcase_add_test(theory, the_way_of_realizing_is_said_before_the_topology);
    tcase_add_test(theory, the_null_basis_is_orthonormal_and_invisible);
    tcase_add_test(theory, inverse_dynamics_finds_the_multipliers_of_forward_dynamics);
    tcase_add_test(theory, actuators_are_classified_and_their_forces_do_what_they_should);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
