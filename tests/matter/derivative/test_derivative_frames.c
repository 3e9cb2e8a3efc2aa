// matter/src/derivative/derivative_frames.c: derivatives of the motion of frames, the regressor.
#include "op_support.h"

#include <talus/matter/derivatives.h>

enum {
    NUM_FRAMES = 3
};

// A tree, accelerations, frames on it, and the derivatives of their motion.
typedef struct subject {
    random_tree tree;
    tal_matrix udot;
    tal_station frames[NUM_FRAMES];
    tal_matrix V_by_q, A_by_q, A_by_u, J;
} subject;

static subject subject_number(int k)
{
    subject s = {.tree = tree_number(k)};
    const int rows = 6 * NUM_FRAMES, nu = s.tree.nu;
    test_rng rng = test_rng_seed((uint64_t)(1200 + k));
    s.udot = dense(nu, 1);
    fill_random(s.udot, &rng);
    for (int i = 0; i < NUM_FRAMES; ++i) {
        tal_matrix p = dense(3, 1);
        fill_random(p, &rng);
        s.frames[i].body =
            (tal_body_ix){s.tree.num_bodies - 1 - i > 0 ? s.tree.num_bodies - 1 - i : 0};
        s.frames[i].p_BS = tal_v3(p.data[0], p.data[1], p.data[2]);
        free(p.data);
    }
    s.V_by_q = dense(rows, nu), s.A_by_q = dense(rows, nu);
    s.A_by_u = dense(rows, nu), s.J = dense(rows, nu);
    must(s.tree.state,
         tal_matter_calc_frame_derivatives(s.tree.matter, s.tree.state, s.udot.data, s.frames,
                                           NUM_FRAMES, s.V_by_q, s.A_by_q, s.A_by_u));
    must(s.tree.state,
         tal_matter_calc_frame_J(s.tree.matter, s.tree.state, s.frames, NUM_FRAMES, s.J));
    return s;
}

static void subject_free(subject *s)
{
    random_tree_destroy(&s->tree);
    free(s->udot.data), free(s->V_by_q.data), free(s->A_by_q.data);
    free(s->A_by_u.data), free(s->J.data);
}

// What the frames do in a State: 6 rows each of velocities, then of accelerations for a udot.
static void sample(const subject *s, tal_state *state, const double udot[], tal_matrix V,
                   tal_matrix A)
{
    const tal_matter *matter = s->tree.matter;
    tal_matrix A_GB = dense(6 * s->tree.num_bodies, 1);
    tal_spatial_vec *a = (tal_spatial_vec *)(void *)A_GB.data;
    random_tree_realize(&s->tree, state, TAL_STAGE_VELOCITY);
    must(state, tal_matter_calc_accelerations(matter, state, udot, a));
    must(state, tal_matter_mul_frame_J(matter, state, s->frames, NUM_FRAMES, tal_state_u(state),
                                       (tal_spatial_vec *)(void *)V.data));
    for (int i = 0; i < NUM_FRAMES; ++i) {
        const tal_body_ix b = s->frames[i].body;
        const tal_vec3 r = tal_m3_mul_v3(tal_body_X_GB(matter, state, b).R, s->frames[i].p_BS);
        const tal_vec3 w = tal_body_V_GB(matter, state, b).w;
        ((tal_spatial_vec *)(void *)A.data)[i] = tal_sv_shift_acceleration(a[b.i], w, r);
    }
    free(A_GB.data);
}

// Round-off of one pass, as in test_derivative_dynamics.c.
static double round_off(const random_tree *tree)
{
    return 48.0 * (tree->nu + tree->num_bodies) * DBL_EPSILON;
}

static tal_matrix speeds(const subject *s)
{
    tal_matrix u = dense(s->tree.nu, 1);
    for (int j = 0; j < s->tree.nu; ++j) {
        u.data[j] = tal_state_u(s->tree.state)[j];
    }
    return u;
}

// dV/dt = (dV/dq) u + J udot is the acceleration; what u adds to it is quadratic in u (Euler).
START_TEST(velocities_change_by_accelerations_and_these_are_quadratic_in_u)
{
    for (int k = 0; k < NUM_TREES; ++k) {
        subject s = subject_number(k);
        const int rows = 6 * NUM_FRAMES;
        tal_matrix V = dense(rows, 1), A = dense(rows, 1), bias = dense(rows, 1);
        tal_matrix u = speeds(&s), zero = zeros(s.tree.nu, 1);
        tal_matrix by_q = dense(rows, 1), by_a = dense(rows, 1), by_u = dense(rows, 1);
        sample(&s, s.tree.state, zero.data, V, bias);
        sample(&s, s.tree.state, s.udot.data, V, A);
        multiply(s.V_by_q, false, u, by_q);
        multiply(s.J, false, s.udot, by_a);
        multiply(s.A_by_u, false, u, by_u);
        for (int i = 0; i < rows; ++i) {
            by_q.data[i] += by_a.data[i];
            bias.data[i] *= 2.0;
        }
        const double size = 1.0 + size_of(s.V_by_q) * size_of(u) + size_of(by_a);
        ck_assert_double_le(distance(by_q, A), round_off(&s.tree) * size);
        const double size_u = 1.0 + size_of(s.A_by_u) * size_of(u);
        ck_assert_double_le(distance(by_u, bias), round_off(&s.tree) * size_u);
        free(V.data), free(A.data), free(bias.data), free(u.data), free(zero.data);
        free(by_q.data), free(by_a.data), free(by_u.data);
        subject_free(&s);
    }
}

// The State moved by h along direction j: of q, or of u.
static void displace(const subject *s, tal_state *moved, double h, int j, bool of_u)
{
    const random_tree *t = &s->tree;
    const int nq = tal_matter_nq(t->matter, t->state);
    tal_matrix unit = zeros(t->nu, 1), qdot = dense(nq, 1);
    unit.data[j] = 1.0;
    ck_assert_int_eq(tal_state_copy(moved, t->state), TAL_OK);
    must(t->state, tal_matter_mul_N(t->matter, t->state, TAL_N, unit.data, qdot.data));
    if (of_u) {
        tal_state_upd_u(moved)[j] += h;
    } else {
        double *q = tal_state_upd_q(moved);
        for (int i = 0; i < nq; ++i) {
            q[i] += h * qdot.data[i];
        }
    }
    free(unit.data), free(qdot.data);
}

// One column by differences of sixth order: of velocities and of accelerations.
static void difference(const subject *s, int j, bool of_u, tal_matrix dV, tal_matrix dA)
{
    static const double weight[3] = {1.5, -0.6, 0.1};
    const double h = 2e-3;
    const int rows = 6 * NUM_FRAMES;
    tal_matrix V = dense(rows, 1), A = dense(rows, 1);
    tal_state *moved = NULL;
    ck_assert_int_eq(tal_state_create(s->tree.system, &moved, NULL), TAL_OK);
    memset(dV.data, 0, (size_t)rows * sizeof(double));
    memset(dA.data, 0, (size_t)rows * sizeof(double));
    for (int k = 0; k < 6; ++k) {
        const double step = (k % 2 == 0 ? h : -h) * (k / 2 + 1);
        displace(s, moved, step, j, of_u);
        sample(s, moved, s->udot.data, V, A);
        for (int i = 0; i < rows; ++i) {
            dV.data[i] += weight[k / 2] * V.data[i] / (2.0 * step);
            dA.data[i] += weight[k / 2] * A.data[i] / (2.0 * step);
        }
    }
    tal_state_destroy(moved);
    free(V.data), free(A.data);
}

// Round-off over the shortest step: 100 eps / h = 1e-11 of what is differenced. Of the series
// h^6 times a seventh derivative is left: 1e-15 times (7 nested angles)^7 at most; 1e-7 is far
// above both and far below a wrong term.
START_TEST(all_of_them_agree_with_differences)
{
    for (int k = 0; k < 8; ++k) {
        subject s = subject_number(k);
        const int rows = 6 * NUM_FRAMES;
        tal_matrix dV = dense(rows, 1), dA = dense(rows, 1);
        for (int j = 0; j < 2 * s.tree.nu; ++j) {
            const bool of_u = j >= s.tree.nu;
            const int l = j % s.tree.nu;
            difference(&s, l, of_u, dV, dA);
            const tal_matrix V = tal_matrix_view(at(of_u ? s.J : s.V_by_q, 0, l), rows, 1);
            const tal_matrix A = tal_matrix_view(at(of_u ? s.A_by_u : s.A_by_q, 0, l), rows, 1);
            ck_assert_double_le(distance(V, dV), 1e-7 * (1.0 + size_of(V)));
            ck_assert_double_le(distance(A, dA), 1e-7 * (1.0 + size_of(A)));
        }
        free(dV.data), free(dA.data);
        subject_free(&s);
    }
}

// --- the regressor ---

static void put_parameters(const tal_mass_props *mass, double pi[TAL_MASS_PARAMETERS])
{
    const tal_vec3 mc = tal_v3_scale(mass->mass, mass->com);
    pi[0] = mass->mass;
    memcpy(pi + 1, &mc, sizeof mc);
    memcpy(pi + 4, &mass->inertia, sizeof mass->inertia);
}

// Parameters of all bodies, and their weights about Bo in a field g.
static void describe(const random_tree *t, tal_vec3 g, tal_matrix pi, tal_spatial_vec W[])
{
    memset(pi.data, 0, (size_t)pi.rows * sizeof(double));
    W[0] = TAL_SPATIAL_VEC_ZERO;
    for (int b = 1; b < t->num_bodies; ++b) {
        const tal_body_ix body = {b};
        const tal_mass_props mass = tal_body_mass_props(t->matter, t->state, body);
        const tal_vec3 c = tal_m3_mul_v3(tal_body_X_GB(t->matter, t->state, body).R, mass.com);
        const tal_vec3 f = tal_v3_scale(mass.mass, g);
        put_parameters(&mass, pi.data + (size_t)TAL_MASS_PARAMETERS * (size_t)b);
        W[b] = tal_sv(tal_v3_cross(c, f), f);
    }
}

START_TEST(inverse_dynamics_is_the_regressor_times_mass_properties)
{
    const tal_vec3 g = {1.0, -9.8, 0.5};
    for (int k = 0; k < NUM_TREES; ++k) {
        subject s = subject_number(k);
        const random_tree *t = &s.tree;
        const int columns = TAL_MASS_PARAMETERS * t->num_bodies;
        tal_matrix Y = dense(t->nu, columns), pi = dense(columns, 1);
        tal_matrix f = dense(t->nu, 1), product = dense(t->nu, 1), W = dense(6 * t->num_bodies, 1);
        describe(t, g, pi, (tal_spatial_vec *)(void *)W.data);
        must(t->state, tal_matter_calc_regressor(t->matter, t->state, s.udot.data, g, Y));
        must(t->state,
             tal_matter_inverse_dynamics(t->matter, t->state, s.udot.data,
                                         (const tal_spatial_vec *)(void *)W.data, NULL, f.data));
        multiply(Y, false, pi, product);
        const double size = 1.0 + size_of(Y) * size_of(pi);
        ck_assert_double_le(distance(product, f), round_off(t) * size);
        free(Y.data), free(pi.data), free(f.data), free(product.data), free(W.data);
        subject_free(&s);
    }
}

START_TEST(numbers_that_are_not_finite_are_named)
{
    subject s = subject_number(6);
    const tal_vec3 g = {0.0, NAN, 0.0};
    tal_matrix Y = dense(s.tree.nu, TAL_MASS_PARAMETERS * s.tree.num_bodies);
    ck_assert_int_eq(tal_matter_calc_regressor(s.tree.matter, s.tree.state, NULL, g, Y),
                     TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(s.tree.state)->message, "g[1]"));
    s.udot.data[0] = INFINITY;
    ck_assert_int_eq(tal_matter_calc_frame_derivatives(s.tree.matter, s.tree.state, s.udot.data,
                                                       s.frames, NUM_FRAMES, s.V_by_q, s.A_by_q,
                                                       s.A_by_u),
                     TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(s.tree.state)->message, "udot[0]"));
    free(Y.data);
    subject_free(&s);
}

int main(void)
{
    Suite *suite = suite_create("matter/derivative_frames");
    TCase *frames = tcase_create("frames");
    tcase_set_timeout(frames, 60.0);
    tcase_add_test(frames, velocities_change_by_accelerations_and_these_are_quadratic_in_u);
    tcase_add_test(frames, all_of_them_agree_with_differences);
    tcase_add_test(frames, numbers_that_are_not_finite_are_named);
    suite_add_tcase(suite, frames);
    TCase *masses = tcase_create("mass properties");
    tcase_add_test(masses, inverse_dynamics_is_the_regressor_times_mass_properties);
    suite_add_tcase(suite, masses);
    return test_run(suite);
}
