// Tests of matter/src/operator/op_constraint.c.
#include "alloc_guard.h"
#include "constraint_fixture.h"

#include <float.h>

// --- the residual of the equations of motion ---

// M udot + J^T (F0 - F) - f + G^T lambda is zero for what realizing found, and linear in what is
// added: M times a change of udot, G^T times a change of lambda.
START_TEST(the_residual_vanishes_for_what_the_State_found)
{
    fixture *x = make(11);
    const loop *l = &x->l;
    double found[MAX_N], lambda[MAX_M], r[MAX_N], M_udot[MAX_N], GT_lambda[MAX_N];
    test_rng rng = test_rng_seed(12);
    loop_realize(l, TAL_STAGE_ACCELERATION);
    memcpy(found, tal_state_udot(l->state), (size_t)x->n * sizeof *found);
    memcpy(lambda, tal_state_multipliers(l->state), (size_t)x->m * sizeof *lambda);
    double zero[MAX_N] = {0.0};
    ck_assert_int_eq(tal_matter_calc_residual(l->matter, l->state, found, lambda, r), TAL_OK);
    test_assert_near(r, zero, x->n, 1e-10, "residual"); // forces of some 100 N, cond(W) below 1e4
    ck_assert_int_eq(tal_matter_mul_M(l->matter, l->state, x->udot, M_udot), TAL_OK);
    double more[MAX_M];
    fill(more, x->m, &rng);
    ck_assert_int_eq(tal_matter_mul_GT(l->matter, l->state, TAL_G, more, GT_lambda), TAL_OK);
    double changed[MAX_N], sum[MAX_M], expected[MAX_N];
    for (int j = 0; j < x->n; ++j) {
        changed[j] = found[j] + x->udot[j];
        expected[j] = M_udot[j] + GT_lambda[j];
    }
    for (int i = 0; i < x->m; ++i) {
        sum[i] = lambda[i] + more[i];
    }
    ck_assert_int_eq(tal_matter_calc_residual(l->matter, l->state, changed, sum, r), TAL_OK);
    test_assert_near(r, expected, x->n, 1e-10, "residual of a change");
    ck_assert_int_eq(tal_matter_calc_residual(l->matter, l->state, found, NULL, r), TAL_OK);
    ck_assert_int_eq(tal_matter_mul_GT(l->matter, l->state, TAL_G, lambda, GT_lambda), TAL_OK);
    for (int j = 0; j < x->n; ++j) {
        ck_assert_double_eq_tol(r[j], -GT_lambda[j], 1e-10);
    }
    release(x);
}

END_TEST

START_TEST(the_residual_needs_forces)
{
    fixture *x = make(13);
    const loop *l = &x->l;
    double r[MAX_N], lambda[MAX_M] = {0.0};
    test_record_breaches();
    loop_realize(l, TAL_STAGE_VELOCITY);
    test_assert_breach(
        ck_assert_int_eq(tal_matter_calc_residual(l->matter, l->state, x->udot, lambda, r),
                         TAL_ERR_STAGE),
        TAL_ERR_STAGE, "Dynamics");
    loop_realize(l, TAL_STAGE_DYNAMICS);
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_matter_calc_residual(l->matter, l->state, x->udot, lambda, r));
    ck_assert_int_eq(st, TAL_OK);
    test_assert_refused(tal_matter_calc_residual(l->matter, l->state, NULL, lambda, r),
                        TAL_ERR_NULL, "udot");
    test_assert_refused(tal_matter_calc_residual(l->matter, l->state, x->udot, lambda, NULL),
                        TAL_ERR_NULL, "residual");
    test_assert_refused(tal_matter_calc_residual(NULL, l->state, x->udot, lambda, r), TAL_ERR_NULL,
                        "matter");
    x->udot[0] = (double)NAN;
    st = tal_matter_calc_residual(l->matter, l->state, x->udot, lambda, r);
    ck_assert_int_eq(st, TAL_ERR_NOT_FINITE);
    x->udot[0] = 0.0;
    lambda[0] = (double)NAN;
    st = tal_matter_calc_residual(l->matter, l->state, x->udot, lambda, r);
    ck_assert_int_eq(st, TAL_ERR_NOT_FINITE);
    release(x);
}

END_TEST

// --- products with G ---

// uerr is linear in u: its columns are those of P and V. aerr is linear in udot: those of G.
START_TEST(G_is_what_the_errors_say)
{
    fixture *x = make(1);
    const loop *l = &x->l;
    double data[MAX_M * MAX_N], zero[MAX_M], one[MAX_M], at_rest[MAX_M];
    const tal_matrix G = G_of(l, data);
    double udot[MAX_N] = {0.0}, u[MAX_N] = {0.0};
    ck_assert_int_eq(tal_matter_calc_constraint_aerr(l->matter, l->state, udot, zero), TAL_OK);
    for (int j = 0; j < x->n; ++j) {
        udot[j] = 1.0;
        ck_assert_int_eq(tal_matter_calc_constraint_aerr(l->matter, l->state, udot, one), TAL_OK);
        udot[j] = 0.0;
        for (int i = 0; i < x->m; ++i) {
            // aerr has terms of size 20 or so
            ck_assert_double_eq_tol(one[i] - zero[i], data[i + j * x->m], 1e-13);
        }
    }
    ck_assert_int_eq(tal_state_set_u(l->state, u, x->n), TAL_OK);
    loop_realize(l, TAL_STAGE_VELOCITY);
    memcpy(at_rest, tal_state_uerr(l->state), 6 * sizeof(double));
    for (int j = 0; j < x->n; ++j) {
        u[j] = 1.0;
        ck_assert_int_eq(tal_state_set_u(l->state, u, x->n), TAL_OK);
        u[j] = 0.0;
        loop_realize(l, TAL_STAGE_VELOCITY);
        for (int i = 0; i < 6; ++i) {
            ck_assert_double_eq_tol(tal_state_uerr(l->state)[i] - at_rest[i], data[i + j * x->m],
                                    1e-13);
        }
    }
    (void)G;
    release(x);
}

END_TEST

START_TEST(products_agree_with_the_matrix)
{
    fixture *x = make(2);
    const loop *l = &x->l;
    test_rng rng = test_rng_seed(12);
    double data[MAX_M * MAX_N], v[MAX_N], lambda[MAX_M], out[MAX_M], f[MAX_N], want[MAX_N];
    const tal_matrix G = G_of(l, data);
    fill(v, x->n, &rng);
    fill(lambda, x->m, &rng);

    static const struct {
        tal_g_part part;
        int first, count;
    } parts[] = {{TAL_G, 0, 7}, {TAL_G_P, 0, 5}, {TAL_G_V, 5, 1}, {TAL_G_A, 6, 1}};

    for (int k = 0; k < 4; ++k) {
        const tal_matrix part = {data + parts[k].first, parts[k].count, x->n, G.ld};
        ck_assert_int_eq(tal_matter_mul_G(l->matter, l->state, parts[k].part, v, out), TAL_OK);
        apply(part, false, v, want);
        test_assert_near(out, want, parts[k].count, 1e-13, "G v");
        ck_assert_int_eq(tal_matter_mul_GT(l->matter, l->state, parts[k].part, lambda, f), TAL_OK);
        apply(part, true, lambda, want);
        test_assert_near(f, want, x->n, 1e-13, "G^T lambda");
        double own[MAX_M * MAX_N];
        const tal_matrix again = tal_matrix_view(own, parts[k].count, x->n);
        ck_assert_int_eq(tal_matter_calc_G(l->matter, l->state, parts[k].part, again), TAL_OK);
        for (int j = 0; j < x->n; ++j) {
            for (int i = 0; i < parts[k].count; ++i) {
                ck_assert_double_eq(own[i + j * again.ld], part.data[i + j * part.ld]);
            }
        }
    }
    release(x);
}

END_TEST

// perr(q + h dq) for dq = N v: central differences, error h^2, round-off eps / h.
START_TEST(Pq_is_the_derivative_of_the_position_errors)
{
    fixture *x = make(3);
    const loop *l = &x->l;
    test_rng rng = test_rng_seed(13);
    const int nq = tal_matter_nq(l->matter, l->state);
    double v[MAX_N], dq[2 * MAX_N], q[2 * MAX_N], out[MAX_M], data[MAX_M * 2 * MAX_N];
    fill(v, x->n, &rng);
    ck_assert_int_eq(tal_matter_mul_N(l->matter, l->state, TAL_N, v, dq), TAL_OK);
    ck_assert_int_eq(tal_matter_mul_Pq(l->matter, l->state, dq, out), TAL_OK);
    const tal_matrix Pq = tal_matrix_view(data, 5, nq);
    ck_assert_int_eq(tal_matter_calc_Pq(l->matter, l->state, Pq), TAL_OK);
    double want[2 * MAX_N], f_q[2 * MAX_N], lambda[5];
    apply(Pq, false, dq, want);
    test_assert_near(out, want, 5, 1e-13, "Pq dq");
    fill(lambda, 5, &rng);
    ck_assert_int_eq(tal_matter_mul_PqT(l->matter, l->state, lambda, f_q), TAL_OK);
    apply(Pq, true, lambda, want);
    test_assert_near(f_q, want, nq, 1e-13, "Pq^T lambda");

    memcpy(q, tal_state_q(l->state), (size_t)nq * sizeof *q);
    const double h = 1e-5;
    double plus[5];
    for (int side = 0; side < 2; ++side) {
        for (int i = 0; i < nq; ++i) {
            tal_state_upd_q(l->state)[i] = q[i] + (side == 0 ? h : -h) * dq[i];
        }
        loop_realize(l, TAL_STAGE_POSITION);
        for (int i = 0; i < 5; ++i) {
            const double e = tal_state_qerr(l->state)[i];
            if (side == 0) plus[i] = e;
            if (side == 1) ck_assert_double_eq_tol((plus[i] - e) / (2.0 * h), out[i], 1e-8);
        }
    }
    release(x);
}

END_TEST

START_TEST(W_is_G_Minv_GT)
{
    fixture *x = make(4);
    const loop *l = &x->l;
    double data[MAX_M * MAX_N], W[MAX_M * MAX_M], f[MAX_N], a[MAX_N], column[MAX_M];
    const tal_matrix G = G_of(l, data);
    ck_assert_int_eq(tal_matter_calc_W(l->matter, l->state, tal_matrix_view(W, x->m, x->m)),
                     TAL_OK);
    for (int j = 0; j < x->m; ++j) {
        double unit[MAX_M] = {0.0};
        unit[j] = 1.0;
        apply(G, true, unit, f);
        ck_assert_int_eq(tal_matter_mul_Minv(l->matter, l->state, f, a), TAL_OK);
        apply(G, false, a, column);
        for (int i = 0; i < x->m; ++i) {
            ck_assert_double_eq_tol(W[i + j * x->m], column[i], 1e-13 * (1.0 + fabs(column[i])));
            ck_assert_double_eq(W[i + j * x->m], W[j + i * x->m]);
        }
    }
    release(x);
}

END_TEST

START_TEST(errors_are_G_udot_minus_b_and_multipliers_take_them_away)
{
    fixture *x = make(5);
    const loop *l = &x->l;
    double data[MAX_M * MAX_N], b[MAX_M], aerr[MAX_M], lambda[MAX_M], f[MAX_N], a[MAX_N];
    const tal_matrix G = G_of(l, data);
    ck_assert_int_eq(tal_matter_calc_constraint_bias(l->matter, l->state, b), TAL_OK);
    ck_assert_int_eq(tal_matter_calc_constraint_aerr(l->matter, l->state, x->udot, aerr), TAL_OK);
    double Gu[MAX_M];
    apply(G, false, x->udot, Gu);
    for (int i = 0; i < x->m; ++i) {
        ck_assert_double_eq_tol(aerr[i], Gu[i] - b[i], 1e-12);
    }
    ck_assert_int_eq(tal_matter_calc_multipliers(l->matter, l->state, aerr, lambda), TAL_OK);
    ck_assert_int_eq(tal_matter_mul_GT(l->matter, l->state, TAL_G, lambda, f), TAL_OK);
    ck_assert_int_eq(tal_matter_mul_Minv(l->matter, l->state, f, a), TAL_OK);
    for (int j = 0; j < x->n; ++j) {
        a[j] = x->udot[j] - a[j];
    }
    ck_assert_int_eq(tal_matter_calc_constraint_aerr(l->matter, l->state, a, aerr), TAL_OK);
    for (int i = 0; i < x->m; ++i) {
        ck_assert_double_le(fabs(aerr[i]), 4e-12); // W has a condition number of 1e3 or so
    }

    // impulses do the same to velocities
    double dv[MAX_M], impulse[MAX_M], du[MAX_N], left[MAX_M];
    test_rng rng = test_rng_seed(15);
    fill(dv, x->m, &rng);
    ck_assert_int_eq(tal_matter_calc_constraint_impulse(l->matter, l->state, dv, impulse, du),
                     TAL_OK);
    apply(G, false, du, left);
    for (int i = 0; i < x->m; ++i) {
        ck_assert_double_eq_tol(left[i], -dv[i], 1e-11);
    }
    ck_assert_int_eq(tal_matter_calc_constraint_impulse(l->matter, l->state, dv, impulse, NULL),
                     TAL_OK);
    release(x);
}

END_TEST

// --- forces and power ---

START_TEST(constraint_forces_given_as_applied_forces_give_the_constrained_motion)
{
    fixture *x = make(6);
    const loop *l = &x->l;
    loop_realize(l, TAL_STAGE_ACCELERATION);
    const double *lambda = tal_state_multipliers(l->state);
    const tal_constraint_ix all = {-1};
    const int num_bodies = tal_matter_num_bodies(l->matter);
    tal_spatial_vec F[16], sum[16], one[16];
    double f[MAX_N], f_sum[MAX_N] = {0.0}, f_one[MAX_N], udot[MAX_N];
    ck_assert_int_eq(tal_matter_calc_constraint_forces(l->matter, l->state, lambda, all, F, f),
                     TAL_OK);
    memset(sum, 0, sizeof sum);
    double power = 0.0;
    for (int c = 0; c < tal_matter_num_constraints(l->matter); ++c) {
        const tal_constraint_ix ix = {c};
        ck_assert_int_eq(
            tal_matter_calc_constraint_forces(l->matter, l->state, lambda, ix, one, f_one), TAL_OK);
        for (int b = 0; b < num_bodies; ++b) {
            sum[b] = tal_sv_add(sum[b], one[b]);
        }
        for (int j = 0; j < x->n; ++j) {
            f_sum[j] += f_one[j];
        }
        power += tal_matter_calc_constraint_power(l->matter, l->state, lambda, ix);
    }
    test_assert_near(&sum[0].w.x, &F[0].w.x, 6 * num_bodies, 1e-13, "F");
    test_assert_near(f_sum, f, x->n, 1e-12, "f");
    ck_assert_double_eq_tol(
        power, tal_matter_calc_constraint_power(l->matter, l->state, lambda, all), 1e-13);
    // the same power from F . V + f . u
    double work = 0.0;
    tal_spatial_vec V[16];
    ck_assert_int_eq(tal_matter_mul_J(l->matter, l->state, tal_state_u(l->state), V), TAL_OK);
    for (int b = 1; b < num_bodies; ++b) {
        work += tal_sv_dot(F[b], V[b]);
    }
    for (int j = 0; j < x->n; ++j) {
        work += f[j] * tal_state_u(l->state)[j];
    }
    ck_assert_double_eq_tol(work, power, 1e-12);

    // with gravity on top: M g at the centers of mass
    for (int b = 1; b < num_bodies; ++b) {
        const tal_body_ix body = {b};
        const tal_mass_props mass = tal_body_mass_props(l->matter, l->state, body);
        const tal_vec3 r = tal_m3_mul_v3(tal_body_X_GB(l->matter, l->state, body).R, mass.com);
        const tal_vec3 g = tal_v3_scale(mass.mass, l->gravity);
        F[b] = tal_sv_add(F[b], tal_sv(tal_v3_cross(r, g), g));
    }
    ck_assert_int_eq(tal_matter_forward_dynamics(l->matter, l->state, F, f, udot, NULL), TAL_OK);
    double largest = 0.0;
    for (int j = 0; j < x->n; ++j) {
        largest = fmax(largest, fabs(udot[j]));
    }
    test_assert_near(udot, tal_state_udot(l->state), x->n, 1e-13 * largest, "udot");
    release(x);
}

END_TEST

START_TEST(constraints_that_are_met_do_no_work)
{
    loop l;
    build_four_bars(&l, 3, 1.0);
    pose_four_bars(&l, 3, 0.8, 1.3);
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    const tal_constraint_ix all = {-1};
    const double power =
        tal_matter_calc_constraint_power(l.matter, l.state, tal_state_multipliers(l.state), all);
    ck_assert_double_le(fabs(power), 1e-13); // forces of 20 N, speeds of 1 m/s
    loop_end(&l);
}

END_TEST

// --- the door ---

START_TEST(without_constraints_everything_is_empty)
{
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = slender(1.0, 1.0);
    (void)tal_matter_add_pin(l.matter, TAL_GROUND, &def);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_VELOCITY);
    const tal_constraint_rows rows = tal_matter_constraint_rows(l.matter, l.state);
    ck_assert_int_eq(rows.mp + rows.mv + rows.ma, 0);
    const double v[1] = {1.0};
    double f[1] = {5.0}, du[1];
    ck_assert_int_eq(tal_matter_mul_G(l.matter, l.state, TAL_G, v, NULL), TAL_OK);
    ck_assert_int_eq(tal_matter_mul_GT(l.matter, l.state, TAL_G, NULL, f), TAL_OK);
    ck_assert_double_eq(f[0], 0.0);
    ck_assert_int_eq(tal_matter_calc_W(l.matter, l.state, tal_matrix_view(NULL, 0, 0)), TAL_OK);
    ck_assert_int_eq(tal_matter_calc_constraint_bias(l.matter, l.state, NULL), TAL_OK);
    ck_assert_int_eq(tal_matter_calc_constraint_impulse(l.matter, l.state, NULL, NULL, du), TAL_OK);
    ck_assert_double_eq(du[0], 0.0);
    ck_assert_int_eq(tal_matter_row_owner(l.matter, l.state, 0).i, -1);
    tal_rows_report report;
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL), TAL_OK);
    ck_assert_int_eq(report.dof, 1);
    ck_assert_double_eq(report.rcond, 1.0);
    const dense_room room = dense_room_of(&l);
    for (int way = 0; way < 3; ++way) {
        ck_assert_int_eq(tal_matter_solve_constrained(l.matter, l.state, (tal_solve_way)way, NULL,
                                                      v, du, NULL, room.work, room.iwork),
                         TAL_OK);
        ck_assert_double_eq_tol(du[0], 3.0, 1e-14); // I = 1/3
    }
    free_room(room);
    loop_end(&l);
}

END_TEST

START_TEST(bad_input_is_answered_with_a_status_and_a_sentence)
{
    test_record_breaches();
    fixture *x = make(9);
    const loop *l = &x->l;
    double v[MAX_N] = {0.0}, out[MAX_M];
    v[3] = (double)NAN;
    ck_assert_int_eq(tal_matter_mul_G(l->matter, l->state, TAL_G, v, out), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(l->state)->message, "v[3]"));
    tal_status st = TAL_OK;
    test_assert_breach(st = tal_matter_mul_G(l->matter, l->state, TAL_G, NULL, out), TAL_ERR_NULL,
                       "v is NULL");
    ck_assert_int_eq(st, TAL_ERR_NULL);
    test_assert_breach(st = tal_matter_mul_GT(NULL, l->state, TAL_G, v, out), TAL_ERR_NULL,
                       "matter is NULL");
    test_assert_breach(st = tal_matter_mul_G(l->matter, l->state, (tal_g_part)9, v, out),
                       TAL_ERR_BAD_VALUE, "part 9");
    test_assert_breach(st = tal_matter_calc_W(l->matter, l->state, tal_matrix_view(out, 2, 2)),
                       TAL_ERR_BAD_VALUE, "it must be 7 x 7");
    test_assert_breach((void)tal_matter_constraint_rows(NULL, l->state), TAL_ERR_NULL, "matter");
    const tal_constraint_ix none = {99};
    test_assert_breach((void)tal_constraint_rows_of(l->matter, l->state, none), TAL_ERR_BAD_INDEX,
                       "99");
    double power = 0.0;
    test_assert_breach(power = tal_matter_calc_constraint_power(l->matter, l->state, out, none),
                       TAL_ERR_BAD_INDEX, "99");
    ck_assert(isnan(power));
    tal_spatial_vec F[MAX_N];
    test_assert_breach(
        st = tal_matter_calc_constraint_forces(l->matter, l->state, out, none, F, out),
        TAL_ERR_BAD_INDEX, "99");
    ck_assert_int_eq(st, TAL_ERR_BAD_INDEX);
    test_assert_breach(st = tal_matter_calc_constraint_report(l->matter, l->state, NULL, NULL),
                       TAL_ERR_NULL, "report is NULL");
    double udot[MAX_N];
    test_assert_breach(st = tal_matter_solve_constrained(l->matter, l->state, TAL_SOLVE_KKT, NULL,
                                                         NULL, udot, NULL, NULL, NULL),
                       TAL_ERR_NULL, "work is NULL");
    const dense_room room = dense_room_of(l);
    test_assert_breach(st =
                           tal_matter_solve_constrained(l->matter, l->state, (tal_solve_way)7, NULL,
                                                        NULL, udot, NULL, room.work, room.iwork),
                       TAL_ERR_BAD_VALUE, "method 7");
    ck_assert_int_eq(st, TAL_ERR_BAD_VALUE);
    free_room(room);
    release(x);
}

END_TEST

START_TEST(operators_do_not_touch_the_heap)
{
    fixture *x = make(10);
    const loop *l = &x->l;
    loop_realize(l, TAL_STAGE_VELOCITY);
    const dense_room room = dense_room_of(l);
    double a[MAX_N] = {0.0}, b[MAX_M] = {0.0}, W[MAX_M * MAX_N];
    tal_spatial_vec F[16];
    const tal_constraint_ix all = {-1};
    tal_rows_report report;
    tal_status st = TAL_OK;
    test_assert_no_heap(
        st = tal_matter_mul_G(l->matter, l->state, TAL_G, a, b);
        if (st == TAL_OK) st = tal_matter_mul_GT(l->matter, l->state, TAL_G, b, a);
        if (st == TAL_OK) st = tal_matter_calc_W(l->matter, l->state, tal_matrix_view(W, 7, 7));
        if (st == TAL_OK) st = tal_matter_calc_multipliers(l->matter, l->state, b, W);
        if (st == TAL_OK) st = tal_matter_calc_constraint_forces(l->matter, l->state, b, all, F, a);
        if (st == TAL_OK) st =
            tal_matter_calc_constraint_report(l->matter, l->state, &report, NULL);
        if (st == TAL_OK) st = tal_matter_solve_constrained(
            l->matter, l->state, TAL_SOLVE_NULL_SPACE, NULL, NULL, a, b, room.work, room.iwork));
    ck_assert_int_eq(st, TAL_OK);
    free_room(room);
    release(x);
}

END_TEST

// Two equations on speeds and one on an acceleration: each part has as many rows as it has.
START_TEST(parts_of_G_have_rows_of_their_own_number)
{
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    for (int k = 0; k < 3; ++k) {
        const tal_body_ix body = tal_matter_add_slider(l.matter, TAL_GROUND, &def);
        const tal_constraint_def on = tal_constraint_on(body, 0);
        if (k < 2) {
            (void)tal_constraint_add_constant_speed(l.matter, &on, 0.5);
        } else {
            (void)tal_constraint_add_constant_acceleration(l.matter, &on, 0.5);
        }
    }
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_VELOCITY);
    const double v[] = {2.0, 3.0, 5.0}, lambda[] = {7.0, 11.0, 13.0};
    double out[4] = {-1.0, -1.0, -1.0, -1.0};
    ck_assert_int_eq(tal_matter_mul_G(l.matter, l.state, TAL_G_V, v, out), TAL_OK);
    ck_assert(fabs(out[0]) == 2.0 && fabs(out[1]) == 3.0 && out[2] == -1.0);
    ck_assert_int_eq(tal_matter_mul_G(l.matter, l.state, TAL_G_A, v, out), TAL_OK);
    ck_assert(fabs(out[0]) == 5.0 && fabs(out[1]) == 3.0 && out[2] == -1.0);
    ck_assert_int_eq(tal_matter_mul_GT(l.matter, l.state, TAL_G_V, lambda, out), TAL_OK);
    ck_assert(fabs(out[0]) == 7.0 && fabs(out[1]) == 11.0 && out[2] == 0.0);
    ck_assert_int_eq(tal_matter_mul_GT(l.matter, l.state, TAL_G_A, lambda, out), TAL_OK);
    ck_assert(out[0] == 0.0 && out[1] == 0.0 && fabs(out[2]) == 7.0);
    loop_end(&l);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("op_constraint");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, the_residual_vanishes_for_what_the_State_found);
    tcase_add_test(theory, parts_of_G_have_rows_of_their_own_number);
    tcase_add_test(theory, the_residual_needs_forces);
    tcase_add_test(theory, G_is_what_the_errors_say);
    tcase_add_test(theory, products_agree_with_the_matrix);
    tcase_add_test(theory, Pq_is_the_derivative_of_the_position_errors);
    tcase_add_test(theory, W_is_G_Minv_GT);
    tcase_add_test(theory, errors_are_G_udot_minus_b_and_multipliers_take_them_away);
    tcase_add_test(theory, constraint_forces_given_as_applied_forces_give_the_constrained_motion);
    tcase_add_test(theory, constraints_that_are_met_do_no_work);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, without_constraints_everything_is_empty);
    tcase_add_test(errors, bad_input_is_answered_with_a_status_and_a_sentence);
    suite_add_tcase(suite, errors);
    TCase *alloc = tcase_create("alloc");
    tcase_add_test(alloc, operators_do_not_touch_the_heap);
    suite_add_tcase(suite, alloc);
    return test_run(suite);
}
