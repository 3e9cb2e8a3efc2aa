// Tests for study/src/md/md_symplectic.c and md_sample.c: what keeps volumes; hybrid Monte Carlo.
#include "md_support.h"

#include <math.h>

enum {
    MOST = 32
};

// ---- volumes

// Where a drift takes q and p = M u from a start moved by x along speeds and y along momenta, seen
// from where it takes the start itself.
typedef struct place {
    double q[MOST], p[MOST];
} place;

static void momenta(scene *s, double p[])
{
    ck_assert_int_eq(tal_system_realize(s->system, s->state, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_matter_mul_M(s->matter, s->state, tal_state_u(s->state), p), TAL_OK);
}

static void set_place(scene *s, const place *at)
{
    ck_assert_int_eq(tal_state_set_q(s->state, at->q, tal_state_nq(s->state)), TAL_OK);
    ck_assert_int_eq(tal_system_realize(s->system, s->state, TAL_STAGE_VELOCITY), TAL_OK);
    double u[MOST];
    ck_assert_int_eq(tal_matter_mul_Minv(s->matter, s->state, at->p, u), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(s->state, u, tal_state_nu(s->state)), TAL_OK);
}

// The quaternion of a turn by 2 atan(|t|/2) about t, times e.
static void turn(const double t[3], const double e[4], double out[4])
{
    const tal_vec3 v = tal_v3(0.5 * t[0], 0.5 * t[1], 0.5 * t[2]), w = tal_v3(e[1], e[2], e[3]);
    const double scale = 1.0 / sqrt(1.0 + tal_v3_dot(v, v));
    const tal_vec3 mixed = tal_v3_add(tal_v3_axpy(e[0], v, w), tal_v3_cross(v, w));
    out[0] = scale * (e[0] - tal_v3_dot(v, w));
    out[1] = scale * mixed.x;
    out[2] = scale * mixed.y;
    out[3] = scale * mixed.z;
}

// Twice the vector part of to from^-1 over its first part: the t that turn() takes.
static void turned(const double to[4], const double from[4], double t[3])
{
    const tal_vec3 a = tal_v3(to[1], to[2], to[3]), b = tal_v3(-from[1], -from[2], -from[3]);
    const double first = to[0] * from[0] - tal_v3_dot(a, b);
    tal_vec3 v = tal_v3_cross(a, b);
    v = tal_v3_axpy(to[0], b, v);
    v = tal_v3_axpy(from[0], a, v);
    t[0] = 2.0 * v.x / first;
    t[1] = 2.0 * v.y / first;
    t[2] = 2.0 * v.z / first;
}

// Bodies by bodies: q moved by d[nu], or how far it is moved.
static void shift(const scene *s, const place *from, const double d[], place *to)
{
    for (int b = 1; b < tal_matter_num_bodies(s->matter); ++b) {
        const tal_body_ix body = {b};
        const int q = tal_body_q_start(s->matter, s->state, body);
        const int u = tal_body_u_start(s->matter, body), nu = tal_body_nu(s->matter, body);
        const int more = tal_body_nq(s->matter, s->state, body) - nu;
        if (more > 0) turn(d + u, from->q + q, to->q + q);
        for (int i = more > 0 ? 3 : 0; i < nu; ++i) {
            to->q[q + more + i] = from->q[q + more + i] + d[u + i];
        }
    }
}

static void difference(const scene *s, const place *to, const place *from, double d[])
{
    for (int b = 1; b < tal_matter_num_bodies(s->matter); ++b) {
        const tal_body_ix body = {b};
        const int q = tal_body_q_start(s->matter, s->state, body);
        const int u = tal_body_u_start(s->matter, body), nu = tal_body_nu(s->matter, body);
        const int more = tal_body_nq(s->matter, s->state, body) - nu;
        if (more > 0) turned(to->q + q, from->q + q, d + u);
        for (int i = more > 0 ? 3 : 0; i < nu; ++i) {
            d[u + i] = to->q[q + more + i] - from->q[q + more + i];
        }
    }
}

static void get_place(scene *s, place *at)
{
    memcpy(at->q, tal_state_q(s->state), (size_t)tal_state_nq(s->state) * sizeof at->q[0]);
    momenta(s, at->p);
}

static double determinant(double a[], int n)
{
    double det = 1.0;
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i) {
            if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
        }
        for (int j = 0; j < n && best != k; ++j) {
            const double kept = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = kept;
        }
        det *= best == k ? a[k * n + k] : -a[k * n + k];
        for (int i = k + 1; i < n; ++i) {
            const double f = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; ++j) {
                a[i * n + j] -= f * a[k * n + j];
            }
        }
    }
    return det;
}

// Of one step, by central differences of 1e-5: the size of a small volume after it.
static double volume(tal_md_drift drift)
{
    static double jacobian[4 * MOST * MOST];
    scene s;
    begin(&s);
    add_tree(&s);
    tal_md_def def = def_of(TAL_MD_ISOLATED, 0.05);
    def.drift = drift;
    ready(&s, &def);
    stir(&s, 71, 0.2, 1.0);
    place start, middle, out[2];
    get_place(&s, &start);
    run(&s, 1);
    get_place(&s, &middle);
    const int n = tal_state_nu(s.state), m = 2 * n;
    const double step = 1e-5;
    for (int k = 0; k < m; ++k) {
        double way[2][2 * MOST];
        for (int side = 0; side < 2; ++side) {
            double d[MOST] = {0.0};
            place from = start;
            const double x = side == 0 ? step : -step;
            if (k < n) d[k] = x;
            shift(&s, &start, d, &from);
            if (k >= n) from.p[k - n] += x;
            set_place(&s, &from);
            run(&s, 1);
            get_place(&s, &out[side]);
            difference(&s, &out[side], &middle, way[side]);
            memcpy(way[side] + n, out[side].p, (size_t)n * sizeof(double));
        }
        for (int i = 0; i < m; ++i) {
            jacobian[i * m + k] = (way[0][i] - way[1][i]) / (2.0 * step);
        }
    }
    end(&s);
    return determinant(jacobian, m);
}

// A momentum that is moved by 1e-5 moves a speed by 50 times that, as the least eigenvalue of M is
// 0.02: differences know slopes to the square of 5e-4, with a factor of 1/6 and more, and round-off
// of steps to 1e-13 times 50 over 1e-5. The midpoint rule of q and u does not keep volumes of
// q and p: the test can see that.
START_TEST(the_symplectic_drift_keeps_volumes)
{
    const double kept = volume(TAL_MD_SYMPLECTIC), other = volume(TAL_MD_MIDPOINT);
    ck_assert_double_eq_tol(kept, 1.0, 1e-6);
    ck_assert_double_ge(fabs(other - 1.0), 1e-4);
}

END_TEST

// ---- sampling

// Steps of h = 0.75, with omega = 2: Verlet's method alone has a mean of x^2 that is 1/(1 - (omega
// h)^2/4) = 2.3 times too large. Those that do not count make it right, to 3 sigma. Trajectories
// forget: friction takes 0.5 3 0.75 of a logarithm from each.
START_TEST(long_steps_sample_the_right_spread)
{
    enum {
        BLOCKS = 200,
        LENGTH = 200
    };

    scene s;
    begin(&s);
    add_oscillator(&s, 1.5, 6.0);
    tal_md_def def = def_of(TAL_MD_SAMPLE, 0.75);
    def.kT = 3.0;
    def.friction = 0.5;
    def.trajectory = 3;
    def.seed = 5;
    ready(&s, &def);
    run(&s, 100);
    double sum = 0.0, squares = 0.0;
    for (int b = 0; b < BLOCKS; ++b) {
        double block = 0.0;
        for (int i = 0; i < LENGTH; ++i) {
            run(&s, 1);
            const double x = tal_state_q(s.state)[0];
            block += x * x / LENGTH;
        }
        sum += block;
        squares += block * block;
    }
    const double mean = sum / BLOCKS;
    const double sigma = sqrt((squares / BLOCKS - mean * mean) / (BLOCKS - 1));
    ck_assert_double_le(sigma, 0.02);
    ck_assert_double_eq_tol(mean, 0.5, 3.0 * sigma);
    const double accepted = tal_md_report_of(s.md, s.state).accepted;
    ck_assert(accepted > 0.3 && accepted < 0.95);
    end(&s);
}

END_TEST

// Two rods on pins, without forces: the angle q between them is distributed as sqrt(det M), with
//
//     M = [a + 2 b cos q, c + b cos q; c + b cos q, c],   det M = c (a - c) - b^2 cos^2 q
//
// Chi-squared of 12 bins of |q| with the variances of blocks: mean 11, and 3 sigma are 25. An even
// distribution is far from it.
START_TEST(what_turns_is_where_its_mass_matrix_is_large)
{
    enum {
        BINS = 12,
        BLOCKS = 60,
        LENGTH = 150
    };

    scene s;
    begin(&s);
    tal_mobod_def rod = tal_mobod_def_default();
    rod.mass.mass = 1.0;
    rod.mass.com = tal_v3(1.0, 0.0, 0.0);
    rod.mass.inertia.yy = rod.mass.inertia.zz = 1.0; // a point at its end
    const tal_body_ix first = tal_matter_add_pin(s.matter, TAL_GROUND, &rod);
    rod.X_PF = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
    const tal_body_ix second = tal_matter_add_pin(s.matter, first, &rod);
    tal_md_def def = def_of(TAL_MD_SAMPLE, 0.12);
    def.kT = 1.0;
    def.friction = 0.5;
    def.trajectory = 12;
    def.seed = 9;
    ready(&s, &def);
    tal_state_upd_u(s.state)[0] = 1.0;
    run(&s, 50);
    double mean[BINS] = {0.0}, squares[BINS] = {0.0};
    for (int b = 0; b < BLOCKS; ++b) {
        double counts[BINS] = {0.0};
        for (int i = 0; i < LENGTH; ++i) {
            run(&s, 1);
            const double q =
                fabs(remainder(tal_body_q(s.matter, s.state, second, 0), 2.0 * TAL_PI));
            const int bin = (int)(q * BINS / TAL_PI);
            counts[bin < BINS ? bin : BINS - 1] += 1.0 / LENGTH;
        }
        for (int k = 0; k < BINS; ++k) {
            mean[k] += counts[k] / BLOCKS;
            squares[k] += counts[k] * counts[k] / BLOCKS;
        }
    }
    double expected[BINS], whole = 0.0, right = 0.0, even = 0.0;
    for (int k = 0; k < BINS; ++k) { // a = 3, b = c = 1: det M = 2 - cos^2 q, by 20 midpoints
        expected[k] = 0.0;
        for (int j = 0; j < 20; ++j) {
            const double c = cos((k + (j + 0.5) / 20.0) * TAL_PI / BINS);
            expected[k] += sqrt(2.0 - c * c);
        }
        whole += expected[k];
    }
    for (int k = 0; k < BINS; ++k) {
        const double variance = (squares[k] - mean[k] * mean[k]) / (BLOCKS - 1);
        right += pow(mean[k] - expected[k] / whole, 2.0) / variance;
        even += pow(mean[k] - 1.0 / BINS, 2.0) / variance;
    }
    ck_assert_double_le(right, 25.0);
    ck_assert_double_ge(even, 60.0);
    end(&s);
}

END_TEST

START_TEST(mobilizers_whose_speeds_are_no_rates_are_refused)
{
    scene s;
    tal_error err;
    tal_md *md = NULL;
    begin(&s);
    tal_mobod_def rod = tal_mobod_def_default();
    rod.name = "needle";
    rod.structure = TAL_BODY_LINE;
    rod.mass.mass = 1.0;
    rod.mass.inertia.xx = rod.mass.inertia.yy = 0.1;
    (void)tal_matter_add_free_line(s.matter, TAL_GROUND, &rod);
    ck_assert_int_eq(tal_system_realize_topology(s.system, &err), TAL_OK);
    tal_md_def def = def_of(TAL_MD_ISOLATED, 0.1);
    def.drift = TAL_MD_SYMPLECTIC;
    ck_assert_int_eq(tal_md_create(s.system, &def, &md, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "needle"));
    end(&s);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("md_sample");
    TCase *all = tcase_create("sample");
    tcase_set_timeout(all, 60.0);
    tcase_add_test(all, the_symplectic_drift_keeps_volumes);
    tcase_add_test(all, long_steps_sample_the_right_spread);
    tcase_add_test(all, what_turns_is_where_its_mass_matrix_is_large);
    tcase_add_test(all, mobilizers_whose_speeds_are_no_rates_are_refused);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
