// matter/src/derivative/, kernel_slopes.c, kernel_slope_matrices.c, kernel_inverse_columns.c:
// derivatives of inverse and forward dynamics.
#include "alloc_guard.h"
#include "op_support.h"

#include <talus/matter/derivatives.h>

// --- what is differentiated, and differences of it ---

// The arguments of inverse and forward dynamics.
typedef struct point {
    random_tree tree;
    tal_matrix udot, f;
    tal_spatial_vec *F; // [num_bodies] about Bo; NULL: none
} point;

static point point_number(int k)
{
    point at = {.tree = tree_number(k)};
    test_rng rng = test_rng_seed((uint64_t)(700 + k));
    at.udot = dense(at.tree.nu, 1);
    at.f = dense(at.tree.nu, 1);
    fill_random(at.udot, &rng);
    fill_random(at.f, &rng);
    if (k % 3 != 0) {
        tal_matrix F = dense(6 * at.tree.num_bodies, 1);
        fill_random(F, &rng);
        at.F = (tal_spatial_vec *)(void *)F.data;
    }
    return at;
}

static void point_free(point *at)
{
    random_tree_destroy(&at->tree);
    free(at->udot.data), free(at->f.data), free(at->F);
}

// q of the State moves by h N x, u by h du.
static void displace(const point *at, tal_state *moved, double h, const double x[],
                     const double du[])
{
    const random_tree *t = &at->tree;
    const int nq = tal_matter_nq(t->matter, t->state);
    tal_matrix qdot = dense(nq, 1);
    ck_assert_int_eq(tal_state_copy(moved, t->state), TAL_OK);
    if (x != NULL) {
        must(t->state, tal_matter_mul_N(t->matter, t->state, TAL_N, x, qdot.data));
        double *q = tal_state_upd_q(moved);
        for (int i = 0; i < nq; ++i) {
            q[i] += h * qdot.data[i];
        }
    }
    if (du != NULL) {
        double *u = tal_state_upd_u(moved);
        for (int j = 0; j < t->nu; ++j) {
            u[j] += h * du[j];
        }
    }
    free(qdot.data);
}

typedef void (*sampled)(const point *at, tal_state *state, double h, const double dudot[],
                        double out[]);

static void sample_ID(const point *at, tal_state *state, double h, const double dudot[],
                      double out[])
{
    tal_matrix udot = dense(at->tree.nu, 1);
    for (int j = 0; j < at->tree.nu; ++j) {
        udot.data[j] = at->udot.data[j] + (dudot != NULL ? h * dudot[j] : 0.0);
    }
    must(state, tal_matter_inverse_dynamics(at->tree.matter, state, udot.data, at->F, NULL, out));
    free(udot.data);
}

static void sample_FD(const point *at, tal_state *state, double h, const double df[], double out[])
{
    tal_matrix f = dense(at->tree.nu, 1);
    for (int j = 0; j < at->tree.nu; ++j) {
        f.data[j] = at->f.data[j] + (df != NULL ? h * df[j] : 0.0);
    }
    must(state, tal_matter_forward_dynamics(at->tree.matter, state, at->F, f.data, out, NULL));
    free(f.data);
}

// The derivative along (x, du, da) by differences of sixth order, and how far those of fourth order
// are from it.
static double difference(const point *at, sampled sample, const double x[], const double du[],
                         const double da[], double out[])
{
    static const double weight6[3] = {1.5, -0.6, 0.1}, weight4[3] = {4.0 / 3.0, -1.0 / 3.0, 0.0};
    const double h = 2e-3;
    const int n = at->tree.nu;
    tal_state *moved = NULL;
    ck_assert_int_eq(tal_state_create(at->tree.system, &moved, NULL), TAL_OK);
    tal_matrix plus = dense(n, 1), minus = dense(n, 1), rough = zeros(n, 1);
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = 0; k < 3; ++k) {
        const double step = h * (k + 1);
        displace(at, moved, step, x, du);
        sample(at, moved, step, da, plus.data);
        displace(at, moved, -step, x, du);
        sample(at, moved, -step, da, minus.data);
        for (int i = 0; i < n; ++i) {
            const double d = (plus.data[i] - minus.data[i]) / (2.0 * step);
            out[i] += weight6[k] * d;
            rough.data[i] += weight4[k] * d;
        }
    }
    const double error = distance(rough, tal_matrix_view(out, n, 1));
    free(plus.data), free(minus.data), free(rough.data);
    tal_state_destroy(moved);
    return error;
}

typedef struct derivatives {
    tal_matrix by_q, by_u, by_a;
} derivatives;

static derivatives ID_derivatives(const point *at)
{
    const int n = at->tree.nu;
    derivatives d = {dense(n, n), dense(n, n), dense(n, n)};
    must(at->tree.state,
         tal_matter_calc_ID_derivatives(at->tree.matter, at->tree.state, at->udot.data, at->F,
                                        d.by_q, d.by_u, d.by_a));
    return d;
}

static derivatives FD_derivatives(const point *at)
{
    const int n = at->tree.nu;
    derivatives d = {dense(n, n), dense(n, n), dense(n, n)};
    must(at->tree.state, tal_matter_calc_FD_derivatives(at->tree.matter, at->tree.state, at->F,
                                                        at->f.data, NULL, d.by_q, d.by_u, d.by_a));
    return d;
}

static void derivatives_free(derivatives *d)
{
    free(d->by_q.data), free(d->by_u.data), free(d->by_a.data);
}

/*
 * Round-off of inverse dynamics over the shortest step: some 100 eps / h = 1e-11 of the size of the
 * forces, which M^-1 magnifies for forward dynamics; cond(M) is below 1e3 for these trees. What is
 * left of the series is estimated by two orders.
 */
static void compare_with_differences(const point *here, sampled sample, const derivatives *d)
{
    const int n = here->tree.nu;
    tal_matrix along = dense(n, 1);
    for (int which = 0; which < 3; ++which) {
        const tal_matrix D = which == 0 ? d->by_q : which == 1 ? d->by_u : d->by_a;
        for (int j = 0; j < n; ++j) {
            tal_matrix unit = zeros(n, 1);
            unit.data[j] = 1.0;
            const double error = difference(here, sample, which == 0 ? unit.data : NULL,
                                            which == 1 ? unit.data : NULL,
                                            which == 2 ? unit.data : NULL, along.data);
            const tal_matrix exact = tal_matrix_view(at(D, 0, j), n, 1);
            const double off = distance(exact, along);
            ck_assert_msg(off <= error + 1e-8 * (1.0 + size_of(exact)),
                          "%d: column %d is off by %g, differences by %g", which, j, off, error);
            free(unit.data);
        }
    }
    free(along.data);
}

// --- identities ---

// Round-off of one pass, as in test_op_mass.c; slopes have three times as many operations per link.
static double round_off(const random_tree *tree)
{
    return 48.0 * (tree->nu + tree->num_bodies) * DBL_EPSILON;
}

START_TEST(the_derivative_by_udot_is_M)
{
    for (int k = 0; k < NUM_TREES; ++k) {
        point here = point_number(k);
        derivatives d = ID_derivatives(&here);
        tal_matrix M = dense(here.tree.nu, here.tree.nu);
        must(here.tree.state, tal_matter_calc_M(here.tree.matter, here.tree.state, M));
        ck_assert_double_le(distance(d.by_a, M), round_off(&here.tree) * size_of(M));
        free(M.data);
        derivatives_free(&d);
        point_free(&here);
    }
}

// What the bodies need because of velocities is quadratic in u: D_u u is twice that (Euler).
START_TEST(the_derivative_by_u_times_u_is_twice_the_bias)
{
    for (int k = 0; k < NUM_TREES; ++k) {
        point here = point_number(k);
        const random_tree *t = &here.tree;
        derivatives d = ID_derivatives(&here);
        tal_matrix bias = dense(t->nu, 1), u = dense(t->nu, 1), D_u_u = dense(t->nu, 1);
        memcpy(u.data, tal_state_u(t->state), (size_t)t->nu * sizeof(double));
        must(t->state,
             tal_matter_inverse_dynamics(t->matter, t->state, NULL, NULL, NULL, bias.data));
        multiply(d.by_u, false, u, D_u_u);
        for (int j = 0; j < t->nu; ++j) {
            bias.data[j] *= 2.0;
        }
        const double tol = round_off(t) * (1.0 + size_of(d.by_u) * size_of(u));
        ck_assert_double_le(distance(D_u_u, bias), tol);
        free(bias.data), free(u.data), free(D_u_u.data);
        derivatives_free(&d);
        point_free(&here);
    }
}

// At rest the derivative of M udot is one of M: b^T (dM a) = a^T (dM b).
START_TEST(the_derivative_of_M_is_symmetric)
{
    test_rng rng = test_rng_seed(811);
    for (int k = 2; k < NUM_TREES; ++k) {
        point here = point_number(k);
        const random_tree *t = &here.tree;
        const int n = t->nu;
        memset(tal_state_upd_u(t->state), 0, (size_t)n * sizeof(double));
        tal_matrix a = dense(n, 1), b = dense(n, 1), dMa = dense(n, n), dMb = dense(n, n);
        tal_matrix bdMa = dense(n, 1), adMb = dense(n, 1);
        const tal_matrix none = {NULL, 0, 0, 1};
        fill_random(a, &rng);
        fill_random(b, &rng);
        must(t->state,
             tal_matter_calc_ID_derivatives(t->matter, t->state, a.data, NULL, dMa, none, none));
        must(t->state,
             tal_matter_calc_ID_derivatives(t->matter, t->state, b.data, NULL, dMb, none, none));
        multiply(dMa, true, b, bdMa);
        multiply(dMb, true, a, adMb);
        const double tol = round_off(t) * (size_of(dMa) * size_of(b) + size_of(dMb) * size_of(a));
        ck_assert_double_le(distance(bdMa, adMb), tol);
        free(a.data), free(b.data), free(dMa.data), free(dMb.data), free(bdMa.data),
            free(adMb.data);
        point_free(&here);
    }
}

START_TEST(products_are_those_with_the_matrices)
{
    test_rng rng = test_rng_seed(812);
    for (int k = 0; k < NUM_TREES; ++k) {
        point here = point_number(k);
        const random_tree *t = &here.tree;
        const int n = t->nu;
        derivatives d = ID_derivatives(&here);
        const tal_matrix D[3] = {d.by_q, d.by_u, d.by_a};
        tal_matrix x[3], part = dense(n, 1), sum = zeros(n, 1), df = dense(n, 1);
        double size = 1.0;
        for (int i = 0; i < 3; ++i) {
            x[i] = dense(n, 1);
            fill_random(x[i], &rng);
            multiply(D[i], false, x[i], part);
            for (int j = 0; j < n; ++j) {
                sum.data[j] += part.data[j];
            }
            size += size_of(D[i]) * size_of(x[i]);
        }
        must(t->state, tal_matter_mul_ID_derivatives(t->matter, t->state, here.udot.data, here.F,
                                                     x[0].data, x[1].data, x[2].data, df.data));
        ck_assert_double_le(distance(df, sum), round_off(t) * size);

        // one at a time
        for (int i = 0; i < 3; ++i) {
            must(t->state,
                 tal_matter_mul_ID_derivatives(t->matter, t->state, here.udot.data, here.F,
                                               i == 0 ? x[0].data : NULL, i == 1 ? x[1].data : NULL,
                                               i == 2 ? x[2].data : NULL, df.data));
            multiply(D[i], false, x[i], part);
            ck_assert_double_le(distance(df, part), round_off(t) * size);
        }

        // transposed
        tal_matrix g[3] = {dense(n, 1), dense(n, 1), dense(n, 1)};
        must(t->state, tal_matter_mul_ID_derivatives_T(t->matter, t->state, here.udot.data, here.F,
                                                       x[0].data, g[0].data, g[1].data, g[2].data));
        for (int i = 0; i < 3; ++i) {
            multiply(D[i], true, x[0], part);
            ck_assert_double_le(distance(g[i], part), round_off(t) * size);
            free(g[i].data);
        }
        free(x[0].data), free(x[1].data), free(x[2].data);
        free(part.data), free(sum.data), free(df.data);
        derivatives_free(&d);
        point_free(&here);
    }
}

START_TEST(products_of_large_trees_agree_with_differences)
{
    test_rng rng = test_rng_seed(813);
    for (int k = 0; k < NUM_TREES; ++k) {
        point here = point_number(k);
        const random_tree *t = &here.tree;
        tal_matrix x = dense(t->nu, 1), du = dense(t->nu, 1), da = dense(t->nu, 1);
        tal_matrix exact = dense(t->nu, 1), rough = dense(t->nu, 1);
        fill_random(x, &rng), fill_random(du, &rng), fill_random(da, &rng);
        must(t->state, tal_matter_mul_ID_derivatives(t->matter, t->state, here.udot.data, here.F,
                                                     x.data, du.data, da.data, exact.data));
        const double error = difference(&here, sample_ID, x.data, du.data, da.data, rough.data);
        ck_assert_double_le(distance(exact, rough), error + 1e-8 * (1.0 + size_of(exact)));
        free(x.data), free(du.data), free(da.data), free(exact.data), free(rough.data);
        point_free(&here);
    }
}

// dFD = -M^-1 dID at the udot of FD; the error of M^-1 is cond(M) times round-off.
START_TEST(derivatives_of_forward_dynamics_undo_those_of_inverse_dynamics)
{
    for (int k = 0; k < NUM_TREES; ++k) {
        point here = point_number(k);
        const random_tree *t = &here.tree;
        const int n = t->nu;
        if (n == 0) {
            point_free(&here);
            continue;
        }
        derivatives d = FD_derivatives(&here);
        must(t->state, tal_matter_forward_dynamics(t->matter, t->state, here.F, here.f.data,
                                                   here.udot.data, NULL));
        derivatives of_ID = ID_derivatives(&here);
        tal_matrix product = dense(n, n), Minv = dense(n, n);
        const spectrum s = spectrum_of(of_ID.by_a);
        const tal_matrix pairs[2][2] = {{d.by_q, of_ID.by_q}, {d.by_u, of_ID.by_u}};
        for (int i = 0; i < 2; ++i) {
            multiply(of_ID.by_a, false, pairs[i][0], product);
            for (int j = 0; j < n * n; ++j) {
                product.data[j] *= -1.0;
            }
            const double tol =
                round_off(t) * (s.most * size_of(pairs[i][0]) + size_of(pairs[i][1]));
            ck_assert_double_le(distance(product, pairs[i][1]), tol);
        }
        must(t->state, tal_matter_calc_Minv(t->matter, t->state, Minv));
        ck_assert_double_le(distance(d.by_a, Minv),
                            round_off(t) * (s.most / s.least) * size_of(Minv));
        for (int j = 0; j < n * n; ++j) {
            ck_assert(*at(d.by_a, j / n, j % n) == *at(d.by_a, j % n, j / n));
        }
        free(product.data), free(Minv.data);
        derivatives_free(&d);
        derivatives_free(&of_ID);
        point_free(&here);
    }
}

// D_q N = D; and nothing changes along a quaternion.
START_TEST(derivatives_by_coordinates_are_those_along_motions)
{
    for (int k = 0; k < NUM_TREES - 2; ++k) {
        point here = point_number(k);
        const random_tree *t = &here.tree;
        const int n = t->nu, nq = tal_matter_nq(t->matter, t->state);
        derivatives d = ID_derivatives(&here);
        tal_matrix D_q = dense(n, nq), unit = zeros(n, n), N = dense(nq, n), back = dense(n, n);
        for (int j = 0; j < n; ++j) {
            *at(unit, j, j) = 1.0;
        }
        must(t->state, tal_matter_derivative_by_coordinates(t->matter, t->state, d.by_q, D_q));
        must(t->state, tal_matter_mul_N_columns(t->matter, t->state, TAL_N, unit, N));
        multiply(D_q, false, N, back);
        const double tol = round_off(t) * (1.0 + size_of(D_q) * size_of(N));
        ck_assert_double_le(distance(back, d.by_q), tol);
        for (int b = 1; b < t->num_bodies; ++b) {
            const tal_body_ix body = {b};
            const int q0 = tal_body_q_start(t->matter, t->state, body);
            if (tal_body_nq(t->matter, t->state, body) == tal_body_nu(t->matter, body)) continue;
            if (tal_body_uses_angles(t->matter, t->state, body)) continue;
            const double *q = tal_state_q(t->state) + q0;
            for (int i = 0; i < n; ++i) {
                double along = 0.0;
                for (int j = 0; j < 4; ++j) {
                    along += *at(D_q, i, q0 + j) * q[j];
                }
                ck_assert_double_le(fabs(along), tol);
            }
        }
        free(D_q.data), free(unit.data), free(N.data), free(back.data);
        derivatives_free(&d);
        point_free(&here);
    }
}

// A constant velocity of everything changes no force. At 1e6 m/s, squares of speeds are 1e12 times
// those of the joints, and none of that may reach the derivatives.
START_TEST(a_fast_base_costs_no_digits)
{
    for (int k = 0; k < 4; ++k) {
        random_tree_def def = random_tree_def_default((uint64_t)(850 + k));
        def.free_base = true;
        def.num_bodies = 20;
        point here = {.tree = random_tree_create(&def)};
        const random_tree *t = &here.tree;
        random_tree_realize(t, t->state, TAL_STAGE_VELOCITY);
        test_rng rng = test_rng_seed((uint64_t)(860 + k));
        here.udot = dense(t->nu, 1), here.f = dense(t->nu, 1);
        fill_random(here.udot, &rng), fill_random(here.f, &rng);
        derivatives slow = ID_derivatives(&here);
        double *u = tal_state_upd_u(t->state);
        u[3] += 1e6, u[4] -= 2e6, u[5] += 3e6;
        derivatives fast = ID_derivatives(&here);
        ck_assert_double_le(distance(slow.by_q, fast.by_q), round_off(t) * size_of(slow.by_q));
        ck_assert_double_le(distance(slow.by_u, fast.by_u), round_off(t) * size_of(slow.by_u));
        derivatives_free(&slow);
        derivatives_free(&fast);
        point_free(&here);
    }
}

// --- differences ---

START_TEST(derivatives_of_inverse_dynamics_agree_with_differences)
{
    for (int k = 0; k < NUM_TREES - 6; ++k) {
        point here = point_number(k);
        derivatives d = ID_derivatives(&here);
        compare_with_differences(&here, sample_ID, &d);
        derivatives_free(&d);
        point_free(&here);
    }
}

START_TEST(derivatives_of_forward_dynamics_agree_with_differences)
{
    for (int k = 0; k < NUM_TREES - 6; ++k) {
        point here = point_number(k);
        derivatives d = FD_derivatives(&here);
        compare_with_differences(&here, sample_FD, &d);
        derivatives_free(&d);
        point_free(&here);
    }
}

// --- what mobilizers and motions contribute ---

// A screw whose pitch grows with the angle: q + q^3 / 3 along z.
static tal_status spiral_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    const double q = arg->q[0];
    *X_FM = tal_xf(tal_rotation_about(TAL_AXIS_Z, q), tal_v3(sin(q), 0.0, q + q * q * q / 3.0));
    return TAL_OK;
}

static tal_status spiral_H_FM(const void *self, const tal_mobilizer_arg *arg,
                              tal_spatial_vec H_FM[])
{
    (void)self;
    const double q = arg->q[0];
    H_FM[0] = tal_sv(tal_v3(0.0, 0.0, 1.0), tal_v3(cos(q), 0.0, 1.0 + q * q));
    return TAL_OK;
}

static tal_status spiral_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                                 tal_spatial_vec Hdot_FM[])
{
    (void)self;
    const double q = arg->q[0], u = arg->u[0];
    Hdot_FM[0] = tal_sv(TAL_VEC3_ZERO, tal_v3(-sin(q) * u, 0.0, 2.0 * q * u));
    return TAL_OK;
}

static tal_status spiral_slopes(const void *self, const tal_mobilizer_arg *arg,
                                tal_spatial_vec slopes[])
{
    (void)self;
    const double q = arg->q[0], u = arg->u[0];
    slopes[0] = tal_sv(TAL_VEC3_ZERO, tal_v3(-cos(q) * u * u, 0.0, 2.0 * u * u));
    return TAL_OK;
}

static const tal_mobilizer_ops spiral_without = {.size = sizeof spiral_without,
                                                 .name = "spiral",
                                                 .nu = 1,
                                                 .nq = 1,
                                                 .nq_angles = 1,
                                                 .calc_X_FM = spiral_X_FM,
                                                 .calc_H_FM = spiral_H_FM,
                                                 .calc_Hdot_FM = spiral_Hdot_FM};

static const tal_mobilizer_ops spiral_with = {.size = sizeof spiral_with,
                                              .name = "spiral",
                                              .nu = 1,
                                              .nq = 1,
                                              .nq_angles = 1,
                                              .calc_X_FM = spiral_X_FM,
                                              .calc_H_FM = spiral_H_FM,
                                              .calc_Hdot_FM = spiral_Hdot_FM,
                                              .calc_Hdot_u_slopes = spiral_slopes};

// A pin, a spiral (every other one reversed) and a ball, one on the other.
static random_tree spirals(const tal_mobilizer_ops *ops, const tal_motion_ops *drive,
                           tal_level level)
{
    random_tree t = {.system = tal_system_create(NULL)};
    t.matter = tal_matter_create(t.system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(2.0, 0.4);
    def.X_PF.p = tal_v3(0.3, -0.2, 0.5);
    def.X_BM.p = tal_v3(0.1, 0.2, 0.0);
    const tal_body_ix first = tal_matter_add_pin(t.matter, TAL_GROUND, &def);
    const tal_body_ix second = tal_matter_add_mobilizer(t.matter, first, &def, ops, NULL, NULL);
    def.direction = TAL_REVERSE;
    const tal_body_ix third = tal_matter_add_mobilizer(t.matter, second, &def, ops, NULL, NULL);
    (void)tal_matter_add_ball(t.matter, third, &def);
    if (drive != NULL) {
        tal_motion_def motion = tal_motion_def_default();
        motion.name = "pulled";
        motion.body = second;
        motion.level = level;
        (void)tal_matter_add_motion(t.matter, &motion, drive, NULL, NULL);
    }
    ck_assert_int_eq(tal_system_realize_topology(t.system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(t.system, &t.state, NULL), TAL_OK);
    random_tree_realize(&t, t.state, TAL_STAGE_MODEL);
    t.num_bodies = 5;
    t.nu = 6;
    const double q[7] = {0.4, 0.3, -0.7, 0.5, 0.5, -0.5, 0.5},
                 u[6] = {1.0, -0.6, 0.8, 0.3, 0.9, -1.1};
    memcpy(tal_state_upd_q(t.state), q, sizeof q);
    memcpy(tal_state_upd_u(t.state), u, sizeof u);
    random_tree_realize(&t, t.state, TAL_STAGE_VELOCITY);
    return t;
}

static point point_of(random_tree tree)
{
    point at = {.tree = tree, .udot = dense(tree.nu, 1), .f = dense(tree.nu, 1)};
    test_rng rng = test_rng_seed(870);
    fill_random(at.udot, &rng);
    fill_random(at.f, &rng);
    return at;
}

static void spirals_free(point *at)
{
    tal_state_destroy(at->tree.state);
    tal_system_destroy(at->tree.system);
    free(at->udot.data), free(at->f.data);
}

START_TEST(a_mobilizer_without_slopes_is_differenced_and_named)
{
    point without = point_of(spirals(&spiral_without, NULL, TAL_LEVEL_FREE));
    point with = point_of(spirals(&spiral_with, NULL, TAL_LEVEL_FREE));
    tal_body_ix named[4] = {{-1}, {-1}, {-1}, {-1}};
    ck_assert_int_eq(tal_matter_differenced_mobilizers(with.tree.matter, named, 4), 0);
    ck_assert_int_eq(tal_matter_differenced_mobilizers(without.tree.matter, named, 1), 2);
    ck_assert_int_eq(named[0].i, 2);
    ck_assert_int_eq(named[1].i, -1);
    derivatives rough = ID_derivatives(&without), exact = ID_derivatives(&with);
    compare_with_differences(&with, sample_ID, &exact);
    // differences of fourth order over 1e-3: 1e-12 of the series, 1e-12 of round-off
    ck_assert_double_le(distance(rough.by_q, exact.by_q), 1e-10 * size_of(exact.by_q));
    ck_assert_double_gt(distance(rough.by_q, exact.by_q), 0.0);
    ck_assert_double_eq(distance(rough.by_u, exact.by_u), 0.0);
    derivatives_free(&rough);
    derivatives_free(&exact);
    spirals_free(&without);
    spirals_free(&with);
}

START_TEST(what_is_locked_stays_as_it_is)
{
    for (int k = 4; k < 10; ++k) {
        point here = point_number(k);
        const random_tree *t = &here.tree;
        int num_locked = 0;
        for (int b = 1; b < t->num_bodies; b += 3) {
            const tal_body_ix body = {b};
            ck_assert_int_eq(tal_body_lock(t->matter, t->state, body, TAL_LEVEL_VELOCITY), TAL_OK);
            num_locked += tal_body_nu(t->matter, body);
        }
        random_tree_realize(t, t->state, TAL_STAGE_VELOCITY);
        derivatives d = FD_derivatives(&here);
        int num_zero = 0;
        for (int i = 0; i < t->nu; ++i) {
            double sum = 0.0;
            for (int j = 0; j < t->nu; ++j) {
                sum += fabs(*at(d.by_a, i, j)) + fabs(*at(d.by_q, i, j)) + fabs(*at(d.by_u, i, j));
            }
            num_zero += sum == 0.0 ? 1 : 0;
        }
        ck_assert_int_eq(num_zero, num_locked);
        compare_with_differences(&here, sample_FD, &d);
        derivatives_free(&d);
        point_free(&here);
    }
}

static tal_status follow(const void *self, const tal_motion_arg *arg, int order, double out[])
{
    (void)self, (void)order;
    out[0] = arg->level == TAL_LEVEL_POSITION ? 0.0 : -3.0 * (arg->q != NULL ? arg->q[0] : 0.0);
    return TAL_OK;
}

START_TEST(a_motion_that_may_depend_on_q_is_refused_by_name)
{
    static const tal_motion_ops ops = {.size = sizeof ops, .name = "following", .calc = follow};
    point here = point_of(spirals(&spiral_with, &ops, TAL_LEVEL_ACCELERATION));
    const tal_matrix none = {NULL, 0, 0, 1};
    const tal_status st = tal_matter_calc_FD_derivatives(here.tree.matter, here.tree.state, NULL,
                                                         NULL, NULL, none, none, none);
    ck_assert_int_eq(st, TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(here.tree.state)->message, "'pulled'"));
    spirals_free(&here);
    // positions that are prescribed are functions of time
    here = point_of(spirals(&spiral_with, &ops, TAL_LEVEL_POSITION));
    must(here.tree.state, tal_matter_calc_FD_derivatives(here.tree.matter, here.tree.state, NULL,
                                                         NULL, NULL, none, none, none));
    spirals_free(&here);
}

START_TEST(nothing_is_allocated)
{
    point here = point_number(9);
    const random_tree *t = &here.tree;
    const int n = t->nu;
    derivatives d = {dense(n, n), dense(n, n), dense(n, n)};
    tal_matrix D_q = dense(n, tal_matter_nq(t->matter, t->state));
    tal_status st[5];
    test_assert_no_heap(st[0] = tal_matter_calc_ID_derivatives(t->matter, t->state, here.udot.data,
                                                               here.F, d.by_q, d.by_u, d.by_a));
    test_assert_no_heap(st[1] =
                            tal_matter_derivative_by_coordinates(t->matter, t->state, d.by_q, D_q));
    test_assert_no_heap(st[2] =
                            tal_matter_calc_FD_derivatives(t->matter, t->state, here.F, here.f.data,
                                                           here.udot.data, d.by_q, d.by_u, d.by_a));
    test_assert_no_heap(st[3] = tal_matter_mul_ID_derivatives(t->matter, t->state, here.udot.data,
                                                              here.F, here.f.data, here.f.data,
                                                              here.f.data, d.by_a.data));
    test_assert_no_heap(st[4] = tal_matter_mul_ID_derivatives_T(t->matter, t->state, here.udot.data,
                                                                here.F, here.f.data, d.by_q.data,
                                                                d.by_u.data, d.by_a.data));
    for (int i = 0; i < 5; ++i) {
        ck_assert_int_eq(st[i], TAL_OK);
    }
    free(D_q.data);
    derivatives_free(&d);
    point_free(&here);
}

START_TEST(numbers_that_are_not_finite_are_named)
{
    point here = point_number(5);
    const random_tree *t = &here.tree;
    const int n = t->nu;
    derivatives d = {dense(n, n), dense(n, n), dense(n, n)};
    here.udot.data[1] = (double)NAN;
    ck_assert_int_eq(tal_matter_calc_ID_derivatives(t->matter, t->state, here.udot.data, NULL,
                                                    d.by_q, d.by_u, d.by_a),
                     TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(t->state)->message, "udot[1]"));
    ck_assert_int_eq(tal_matter_mul_ID_derivatives(t->matter, t->state, NULL, NULL, here.udot.data,
                                                   NULL, NULL, here.f.data),
                     TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(t->state)->message, "x[1]"));
    derivatives_free(&d);
    point_free(&here);
}

int main(void)
{
    Suite *suite = suite_create("matter/derivative_dynamics");
    TCase *identities = tcase_create("identities");
    tcase_set_timeout(identities, 60.0);
    tcase_add_test(identities, the_derivative_by_udot_is_M);
    tcase_add_test(identities, the_derivative_by_u_times_u_is_twice_the_bias);
    tcase_add_test(identities, the_derivative_of_M_is_symmetric);
    tcase_add_test(identities, products_are_those_with_the_matrices);
    tcase_add_test(identities, derivatives_of_forward_dynamics_undo_those_of_inverse_dynamics);
    tcase_add_test(identities, derivatives_by_coordinates_are_those_along_motions);
    tcase_add_test(identities, a_fast_base_costs_no_digits);
    suite_add_tcase(suite, identities);
    TCase *differences = tcase_create("differences");
    tcase_set_timeout(differences, 60.0);
    tcase_add_test(differences, derivatives_of_inverse_dynamics_agree_with_differences);
    tcase_add_test(differences, derivatives_of_forward_dynamics_agree_with_differences);
    tcase_add_test(differences, products_of_large_trees_agree_with_differences);
    suite_add_tcase(suite, differences);
    TCase *parts = tcase_create("mobilizers and motions");
    tcase_add_test(parts, a_mobilizer_without_slopes_is_differenced_and_named);
    tcase_add_test(parts, what_is_locked_stays_as_it_is);
    tcase_add_test(parts, a_motion_that_may_depend_on_q_is_refused_by_name);
    tcase_add_test(parts, nothing_is_allocated);
    tcase_add_test(parts, numbers_that_are_not_finite_are_named);
    suite_add_tcase(suite, parts);
    return test_run(suite);
}
