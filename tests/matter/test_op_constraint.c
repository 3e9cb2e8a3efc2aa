// Tests of matter/src/op_constraint.c, op_constraint_dense.c and constraint_report.c.
#include "alloc_guard.h"
#include "loop_support.h"

#include <float.h>
#include <stdlib.h>

enum {
    MAX_N = MAX_LOOP_U,
    MAX_M = MAX_LOOP_ROWS
};

// --- a mechanism with rows of every level ---

/// build_mixed() with an acceleration row besides: mp = 5, mv = 1, ma = 1.
typedef struct fixture {
    loop l;
    int n, m;
    double udot[MAX_N], f[MAX_N];
    tal_spatial_vec F[16];
} fixture;

static void fill(double x[], int n, test_rng *rng)
{
    for (int i = 0; i < n; ++i) {
        x[i] = test_random_uniform(rng, -1.0, 1.0);
    }
}

static fixture *make(uint64_t seed)
{
    fixture *x = calloc(1, sizeof *x);
    ck_assert_ptr_nonnull(x);
    test_rng rng = test_rng_seed(seed);
    build_mixed_with(&x->l, &rng, true);
    randomize(&x->l, &rng);
    loop_realize(&x->l, TAL_STAGE_INSTANCE);
    const tal_constraint_rows rows = tal_matter_constraint_rows(x->l.matter, x->l.state);
    x->n = tal_matter_nu(x->l.matter);
    x->m = rows.mp + rows.mv + rows.ma;
    ck_assert_int_eq(rows.mp, 5);
    ck_assert_int_eq(rows.mv, 1);
    ck_assert_int_eq(rows.ma, 1);
    fill(x->udot, x->n, &rng);
    fill(x->f, x->n, &rng);
    for (int b = 1; b < tal_matter_num_bodies(x->l.matter); ++b) {
        x->F[b] = test_random_spatial_vec(&rng);
    }
    return x;
}

static void release(fixture *x)
{
    loop_end(&x->l);
    free(x);
}

static tal_matrix G_of(const loop *l, double data[])
{
    const tal_constraint_rows rows = tal_matter_constraint_rows(l->matter, l->state);
    const tal_matrix G =
        tal_matrix_view(data, rows.mp + rows.mv + rows.ma, tal_matter_nu(l->matter));
    ck_assert_int_eq(tal_matter_calc_G(l->matter, l->state, TAL_G, G), TAL_OK);
    return G;
}

// y = A x or A^T x
static void apply(tal_matrix A, bool transpose, const double x[], double y[])
{
    const int rows = transpose ? A.cols : A.rows, cols = transpose ? A.rows : A.cols;
    for (int i = 0; i < rows; ++i) {
        y[i] = 0.0;
        for (int j = 0; j < cols; ++j) {
            y[i] += (transpose ? A.data[j + i * A.ld] : A.data[i + j * A.ld]) * x[j];
        }
    }
}

// --- the residual of the equations of motion ---

// M udot + J^T (F0 - F) - f + G^T lambda is zero for what realizing found, and linear in what is added:
// M times a change of udot, G^T times a change of lambda.
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
    test_assert_breach((void)!tal_matter_calc_residual(l->matter, l->state, NULL, lambda, r),
                       TAL_ERR_NULL, "udot");
    test_assert_breach((void)!tal_matter_calc_residual(l->matter, l->state, x->udot, lambda, NULL),
                       TAL_ERR_NULL, "residual");
    test_assert_breach((void)!tal_matter_calc_residual(NULL, l->state, x->udot, lambda, r),
                       TAL_ERR_NULL, "matter");
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
            ck_assert_double_eq_tol(W[i + j * x->m], column[i], 1e-12 * (1.0 + fabs(column[i])));
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
        ck_assert_double_le(fabs(aerr[i]), 1e-10); // W has a condition number of 1e3 or so
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
    test_assert_near(&sum[0].w.x, &F[0].w.x, 6 * num_bodies, 1e-11, "F");
    test_assert_near(f_sum, f, x->n, 1e-12, "f");
    ck_assert_double_eq_tol(
        power, tal_matter_calc_constraint_power(l->matter, l->state, lambda, all), 1e-10);
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
    ck_assert_double_eq_tol(work, power, 1e-9);

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
    test_assert_near(udot, tal_state_udot(l->state), x->n, 1e-11 * largest, "udot");
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

// --- the report ---

// A pendulum closed by a ball in its own plane: two rows act, z does not. The ball twice: redundant.
START_TEST(the_report_tells_good_idle_and_redundant_rows)
{
    loop l;
    build_four_bars(&l, 2, 1.0);
    pose_four_bars(&l, 2, 0.8, 1.0);
    loop_realize(&l, TAL_STAGE_INSTANCE);
    tal_rows_report report;
    tal_constraint_row rows[6];
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, rows), TAL_OK);
    ck_assert_int_eq(report.num_rows, 6);
    ck_assert_int_eq(report.rank, 4);
    ck_assert_int_eq(report.dof, 1);
    ck_assert_int_eq(report.num_without_effect, 2);
    ck_assert_int_eq(report.num_redundant, 0);
    ck_assert_int_eq(report.num_inconsistent, 0);
    ck_assert_int_eq(report.worst.i, -1);
    ck_assert(report.rcond > 1e-4 && report.rcond <= 1.0);
    for (int i = 0; i < 6; ++i) {
        ck_assert_int_eq(rows[i].constraint.i, i / 3);
        ck_assert_int_eq(rows[i].i, i % 3);
        ck_assert_int_eq(rows[i].fate, i % 3 == 2 ? TAL_ROW_WITHOUT_EFFECT : TAL_ROW_GOOD);
        ck_assert_int_eq(tal_matter_row_owner(l.matter, l.state, i).i, i / 3);
    }
    ck_assert_int_eq(tal_matter_row_owner(l.matter, l.state, 6).i, -1);
    const tal_constraint_ix second = {1};
    const tal_constraint_rows of_second = tal_constraint_rows_of(l.matter, l.state, second);
    ck_assert_int_eq(of_second.mp, 3);
    ck_assert_int_eq(of_second.p0, 3);
    ck_assert_int_eq(of_second.v0, 6);
    ck_assert_int_eq(of_second.a0, 6);
    // one disabled
    const tal_constraint_ix first = {0};
    ck_assert_int_eq(tal_constraint_set_enabled(l.matter, l.state, first, false), TAL_OK);
    loop_realize(&l, TAL_STAGE_INSTANCE);
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL), TAL_OK);
    ck_assert_int_eq(report.num_rows, 3);
    ck_assert_int_eq(report.rank, 2);
    ck_assert_int_eq(tal_constraint_rows_of(l.matter, l.state, first).mp, 0);
    ck_assert_int_eq(tal_matter_row_owner(l.matter, l.state, 0).i, 1);
    loop_end(&l);
}

END_TEST

// At a change point all links are in one line and rows of different loops become dependent.
START_TEST(a_change_point_is_reported_and_solved)
{
    loop l;
    build_four_bars(&l, 2, 1.0);
    pose_four_bars(&l, 2, 0.0, 1.0);
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    tal_rows_report report;
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL), TAL_OK);
    // five speeds; x of each ball says nothing about rotations when everything is level
    ck_assert_int_eq(report.rank, 2);
    ck_assert_int_eq(report.dof, 3);
    ck_assert_int_eq(report.num_inconsistent, 0);
    // phi'' = kappa sin(phi) with phi the angle from upright: at the level, kappa = 11.445 for N = 2
    for (int i = 0; i < 5; ++i) {
        ck_assert(isfinite(tal_state_udot(l.state)[i]));
    }
    loop_end(&l);
}

END_TEST

static void add_drive(loop *l, const char *name, tal_body_ix body, double acceleration)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.name = name;
    def.mobilities[0].body = body;
    (void)tal_matter_add_constraint(l->matter, &def, &test_acceleration, NULL, &acceleration);
}

START_TEST(contradictions_are_reported_and_stop_the_realization)
{
    for (int k = 0; k < 2; ++k) {
        loop l;
        loop_begin(&l);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = slender(1.0, 1.0);
        const tal_body_ix body = tal_matter_add_pin(l.matter, TAL_GROUND, &def);
        add_drive(&l, "one", body, 1.0);
        add_drive(&l, "other", body, k == 0 ? 3.0 : 1.0 + 1e-4);
        loop_finish(&l);
        loop_realize(&l, TAL_STAGE_VELOCITY);
        tal_rows_report report;
        tal_constraint_row rows[2];
        ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, rows),
                         TAL_OK);
        ck_assert_int_eq(report.num_inconsistent, 2);
        ck_assert_int_eq(report.num_redundant, 1);
        ck_assert_double_eq_tol(fabs(report.worst_residual), k == 0 ? 1.0 : 0.5e-4, 1e-12);
        const tal_status st = tal_system_realize(l.system, l.state, TAL_STAGE_ACCELERATION);
        if (k == 0) {
            ck_assert_int_eq(st, TAL_ERR_SINGULAR);
            ck_assert_ptr_nonnull(strstr(tal_state_error(l.state)->message, "'o"));
        } else { // below the stated residual: the compromise
            ck_assert_int_eq(st, TAL_OK);
            ck_assert_double_eq_tol(tal_state_udot(l.state)[0], 1.0 + 0.5e-4, 1e-12);
        }
        loop_end(&l);
    }
}

END_TEST

// Errors are measured in unit errors (manual eq. 9.4) and against what there was to take away.
START_TEST(small_contradictions_are_not_worth_reporting)
{
    // 1e6 and 1e6 + 0.01: 5e-9 of what there was
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = slender(1.0, 1.0);
    const tal_body_ix body = tal_matter_add_pin(l.matter, TAL_GROUND, &def);
    add_drive(&l, "one", body, 1e6);
    add_drive(&l, "other", body, 1e6 + 0.01);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    tal_rows_report report;
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL), TAL_OK);
    ck_assert_int_eq(report.num_inconsistent, 0);
    loop_end(&l);

    // rods of 1 m and 2 m on a slider that moves: (v^2 - v^2 / 2) / 2 is left, times t_c^2 = 0.01
    static const double speeds[] = {1.5e-2, 6e-2, 6.0};
    for (int k = 0; k < 3; ++k) {
        loop_begin(&l);
        const tal_body_ix slider = tal_matter_add_slider(l.matter, TAL_GROUND, &def);
        (void)add_rod(&l, TAL_GROUND, tal_v3(-1.0, 0.0, 0.0), slider, tal_v3(0.0, 0.0, 0.0), 1.0);
        (void)add_rod(&l, TAL_GROUND, tal_v3(-2.0, 0.0, 0.0), slider, tal_v3(0.0, 0.0, 0.0), 2.0);
        loop_finish(&l);
        loop_realize(&l, TAL_STAGE_MODEL);
        tal_state_upd_u(l.state)[0] = speeds[k];
        loop_realize(&l, TAL_STAGE_VELOCITY);
        ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL),
                         TAL_OK);
        ck_assert_int_eq(report.num_inconsistent, k == 0 ? 0 : 2);
        const tal_status st = tal_system_realize(l.system, l.state, TAL_STAGE_ACCELERATION);
        ck_assert_int_eq(st, TAL_OK); // the rods do not let it move: accelerations need not agree
        loop_end(&l);
    }
}

END_TEST

// Three parallel rods hold a weight: a third each.
START_TEST(three_parallel_rods_carry_a_third_each)
{
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = slender(3.0, 1.0);
    const tal_body_ix body = tal_matter_add_slider(l.matter, TAL_GROUND, &def);
    for (int i = 0; i < 3; ++i) {
        const double y = (double)i;
        (void)add_rod(&l, TAL_GROUND, tal_v3(-2.0, y, 0.0), body, tal_v3(0.0, y, 0.0), 2.0);
    }
    l.gravity = tal_v3(9.81, 0.0, 0.0);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq_tol(tal_state_udot(l.state)[0], 0.0, 1e-14);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(tal_state_multipliers(l.state)[i], 9.81, 1e-13);
    }
    tal_rows_report report;
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL), TAL_OK);
    ck_assert_int_eq(report.rank, 1);
    ck_assert_int_eq(report.num_redundant, 2);
    // shares 1, 2, 1: lambda / share^2 is the same for all, so 1, 4, 1 sixths of 3 m g
    const tal_constraint_ix second = {1};
    ck_assert_int_eq(tal_constraint_set_share(l.matter, l.state, second, 2.0), TAL_OK);
    ck_assert_double_eq(tal_constraint_share(l.matter, l.state, second), 2.0);
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq_tol(tal_state_udot(l.state)[0], 0.0, 1e-13);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(tal_state_multipliers(l.state)[i], (i == 1 ? 2.0 : 0.5) * 9.81,
                                1e-12);
    }
    ck_assert_int_eq(tal_constraint_set_share(l.matter, l.state, second, 0.0), TAL_ERR_BAD_VALUE);
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
                       TAL_ERR_BAD_VALUE, "way 7");
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

int main(void)
{
    Suite *suite = suite_create("op_constraint");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, the_residual_vanishes_for_what_the_State_found);
    tcase_add_test(theory, the_residual_needs_forces);
    tcase_add_test(theory, G_is_what_the_errors_say);
    tcase_add_test(theory, products_agree_with_the_matrix);
    tcase_add_test(theory, Pq_is_the_derivative_of_the_position_errors);
    tcase_add_test(theory, W_is_G_Minv_GT);
    tcase_add_test(theory, errors_are_G_udot_minus_b_and_multipliers_take_them_away);
    tcase_add_test(theory, constraint_forces_given_as_applied_forces_give_the_constrained_motion);
    tcase_add_test(theory, constraints_that_are_met_do_no_work);
    tcase_add_test(theory, three_ways_of_solving_agree);
    tcase_add_test(theory, three_ways_of_solving_agree_when_rows_are_redundant);
    tcase_add_test(theory, three_ways_of_solving_agree_when_motion_is_known);
    tcase_add_test(theory, the_null_basis_is_orthonormal_and_invisible);
    tcase_add_test(theory, inverse_dynamics_finds_the_multipliers_of_forward_dynamics);
    tcase_add_test(theory, actuators_are_classified_and_their_forces_do_what_they_should);
    suite_add_tcase(suite, theory);
    TCase *report = tcase_create("report");
    tcase_add_test(report, the_report_tells_good_idle_and_redundant_rows);
    tcase_add_test(report, a_change_point_is_reported_and_solved);
    tcase_add_test(report, contradictions_are_reported_and_stop_the_realization);
    tcase_add_test(report, small_contradictions_are_not_worth_reporting);
    tcase_add_test(report, three_parallel_rods_carry_a_third_each);
    suite_add_tcase(suite, report);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, without_constraints_everything_is_empty);
    tcase_add_test(errors, bad_input_is_answered_with_a_status_and_a_sentence);
    suite_add_tcase(suite, errors);
    TCase *alloc = tcase_create("alloc");
    tcase_add_test(alloc, operators_do_not_touch_the_heap);
    suite_add_tcase(suite, alloc);
    return test_run(suite);
}
