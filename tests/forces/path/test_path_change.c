// Tests for forces/src/path/path_change.c: derivatives of what pulls along paths, by udot of whole
// Systems.
#include "path/path_model.h"

#include <talus/forces/derivative.h>

#include <stdlib.h>

// What the paths of a model are like.
typedef enum scene {
    OVER_SPHERE,
    OVER_ELLIPSOID,
    OVER_CYLINDER,
    OVER_THREE,  // one after the other
    WITH_MOVING, // a point whose coordinates are those of other bodies
    BY_FUNCTION, // a length that is a function of coordinates
    NUM_SCENES
} scene;

typedef struct subject {
    model m;
    tal_state *scratch;
    tal_path_ix path;
    tal_matrix J;
    double *work;
    int nu, nz;
} subject;

static tal_function *cubic(double a, double b, double c, double d)
{
    const double coefficients[4] = {a, b, c, d};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_polynomial(NULL, coefficients, 4, &f, NULL), TAL_OK);
    return f;
}

// 3 + 0.3 x^2 y + 0.5 sin(y), with two derivatives.
static double twisted(const void *self, const double x[], int n)
{
    (void)self, (void)n;
    return 3.0 + 0.3 * x[0] * x[0] * x[1] + 0.5 * sin(x[1]);
}

static double twisted_slope(const void *self, const double x[], int n, const int wrt[], int order)
{
    (void)self, (void)n;
    int by_x = 0;
    for (int i = 0; i < order; ++i) {
        by_x += wrt[i] == 0;
    }
    const int by_y = order - by_x;
    const double px[3] = {x[0] * x[0], 2.0 * x[0], 2.0}, py[3] = {x[1], 1.0, 0.0};
    const double sines[3] = {sin(x[1]), cos(x[1]), -sin(x[1])};
    return 0.3 * px[by_x] * py[by_y] + (by_x == 0 ? 0.5 * sines[by_y] : 0.0);
}

static const tal_function_ops twisted_ops = {.size = sizeof(tal_function_ops),
                                             .name = "twisted",
                                             .calc_value = twisted,
                                             .calc_derivative = twisted_slope};

static tal_path_ix add_function_path(model *m)
{
    tal_function_def def = tal_function_def_default();
    def.ops = &twisted_ops;
    def.num_args = 2;
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create(NULL, &def, &f, NULL), TAL_OK);
    const tal_mobility at[2] = {{m->body[SLIDER], 0}, {m->body[PIN], 0}};
    return tal_forces_add_function_path(m->forces, "string", at, 2, f);
}

static void add_obstacle(model *m, tal_path_ix path, int body, tal_vec3 p, tal_wrap shape,
                         int first)
{
    test_rng rng = test_rng_seed((uint64_t)body);
    tal_xform X_BW = test_random_xform(&rng);
    X_BW.p = p;
    const tal_wrap_ix wrap = tal_forces_add_wrap(m->forces, NULL, m->body[body], &X_BW, &shape);
    (void)tal_path_add_wrap(m->forces, path, wrap, first, -1);
}

static tal_path_ix add_path(model *m, scene at)
{
    if (at == BY_FUNCTION) return add_function_path(m);
    const tal_path_ix path = tal_forces_add_path(m->forces, "string");
    const tal_vec3 zero = TAL_VEC3_ZERO;
    const tal_xform X = {TAL_MAT3_IDENTITY, {0.2, 0.1, 0.3}};
    tal_function *const f[3] = {cubic(0.2, -0.3, 0.5, 0.1), NULL, cubic(0.7, 0.2, 0.1, 0.0)};
    const tal_mobility where[3] = {{m->body[SLIDER], 0}, {{-1}, 0}, {m->body[PIN], 0}};
    (void)tal_path_add_point(m->forces, path, m->body[GIMBAL], tal_v3(0.3, -1.2, 1.5));
    if (at == WITH_MOVING) {
        (void)tal_path_add_moving_point(m->forces, path, m->body[PIN], &X, where, f);
        (void)tal_path_add_conditional_point(m->forces, path, m->body[FREE], tal_v3(0.4, 0.6, 0.1),
                                             where[0], -5.0, 5.0);
    }
    (void)tal_path_add_point(m->forces, path, m->body[BALL], tal_v3(-0.9, -0.8, -1.6));
    if (at == OVER_SPHERE || at == OVER_THREE) {
        add_obstacle(m, path, PIN, zero, tal_wrap_sphere(0.5), 0);
    }
    if (at == OVER_ELLIPSOID || at == OVER_THREE) {
        add_obstacle(m, path, SLIDER, zero, tal_wrap_ellipsoid(tal_v3(0.6, 0.5, 0.4)), 0);
    }
    if (at == OVER_CYLINDER || at == OVER_THREE) {
        add_obstacle(m, path, FREE, zero, tal_wrap_cylinder(0.6, INFINITY), 0);
    }
    if (at != WITH_MOVING) {
        tal_function_destroy(f[0]);
        tal_function_destroy(f[2]);
    }
    return path;
}

static void begin(subject *s, scene at)
{
    const tal_measure_ix none = {-1};
    s->m = model_begin();
    model *m = &s->m;
    s->path = add_path(m, at);
    (void)tal_forces_add_path_spring(m->forces, "spring", s->path, 7.0, 0.1, 0.2);
    (void)tal_forces_add_clutched_spring(m->forces, "clutched", s->path, 3.0, 0.1, 0.2, none);
    model_finish(m);
    ck_assert_int_eq(tal_forces_differenced(m->forces, NULL, 0), 0);
    ck_assert_int_eq(tal_state_create(m->system, &s->scratch, NULL), TAL_OK);
    s->nu = MODEL_NU, s->nz = tal_state_nz(m->state);
    const int rows = s->nu + s->nz, cols = 2 * s->nu + s->nz;
    s->J = tal_matrix_view(calloc((size_t)rows * (size_t)cols, sizeof(double)), rows, cols);
    s->work = calloc(tal_system_linearize_work_size(m->system), sizeof(double));
}

static void end(subject *s)
{
    free(s->J.data), free(s->work);
    tal_state_destroy(s->scratch);
    model_end(&s->m);
}

// What the path touches, or -1 where it goes through an obstacle.
static int touches(subject *s, tal_state *state)
{
    const model *m = &s->m;
    if (tal_path_num_inside(m->forces, state, s->path) > 0) return -1;
    int bits = 0;
    for (int k = 0; k < tal_path_num_wraps(m->forces, s->path); ++k) {
        bits = 2 * bits + (tal_path_is_on_wrap(m->forces, state, s->path, k) ? 1 : 0);
    }
    return bits;
}

// udot and zdot at the State moved by h along x = (w, v, dz). False where the path touches others.
static bool rates_at(subject *s, double h, const double x[], double rates[])
{
    model *m = &s->m;
    double dq[MODEL_MAX_NQ];
    ck_assert_int_eq(tal_matter_mul_N(m->matter, m->state, TAL_N, x, dq), TAL_OK);
    ck_assert_int_eq(tal_state_copy(s->scratch, m->state), TAL_OK);
    double *q = tal_state_upd_q(s->scratch), *u = tal_state_upd_u(s->scratch);
    double *z = tal_state_upd_z(s->scratch);
    for (int i = 0; i < tal_state_nq(m->state); ++i) {
        q[i] += h * dq[i];
    }
    for (int i = 0; i < s->nu; ++i) {
        u[i] += h * x[s->nu + i];
    }
    for (int i = 0; i < s->nz; ++i) {
        z[i] += h * x[2 * s->nu + i];
    }
    if (tal_system_realize(m->system, s->scratch, TAL_STAGE_ACCELERATION) != TAL_OK) return false;
    memcpy(rates, tal_state_udot(s->scratch), (size_t)s->nu * sizeof *rates);
    memcpy(rates + s->nu, tal_state_zdot(s->scratch), (size_t)s->nz * sizeof *rates);
    return touches(s, s->scratch) == touches(s, m->state);
}

// Differences of sixth order over 1e-4, where strings change over lengths of 0.03: (3e-4 / 0.03)^6
// = 1e-12; and 1e-13 of paths of size one times 1e4.
static bool differences(subject *s, const double x[], double by[])
{
    static const double weight[3] = {1.5, -0.6, 0.1};
    double rates[MODEL_NU + 1];
    bool is_same = true;
    memset(by, 0, (size_t)(s->nu + s->nz) * sizeof *by);
    for (int p = 0; p < 6; ++p) {
        const double h = (p % 2 == 0 ? 1e-4 : -1e-4) * (p / 2 + 1);
        is_same = rates_at(s, h, x, rates) && is_same;
        for (int i = 0; i < s->nu + s->nz; ++i) {
            by[i] += weight[p / 2] / (2.0 * h) * rates[i];
        }
    }
    return is_same;
}

// Another State, taut and clutched.
static bool shake(model *m, uint64_t seed)
{
    test_rng rng = test_rng_seed(seed);
    const tal_force_ix clutched = tal_forces_find(m->forces, "clutched");
    double *y = tal_state_upd_y(m->state);
    for (int i = 0; i < tal_state_nq(m->state) + tal_state_nu(m->state); ++i) {
        y[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
    tal_state_upd_z(m->state)[0] = 0.4;
    (void)tal_force_set_param(m->forces, m->state, clutched, TAL_CLUTCHED_SPRING_CONTROL, 0.8);
    return tal_system_realize(m->system, m->state, TAL_STAGE_ACCELERATION) == TAL_OK;
}

START_TEST(rates_change_as_differences_say)
{
    subject s;
    begin(&s, (scene)_i);
    model *m = &s.m;
    test_rng rng = test_rng_seed(5);
    int num_done = 0, num_all = 0;
    for (uint64_t seed = 1; seed < 400; ++seed) {
        double x[2 * MODEL_NU + 1], wanted[MODEL_NU + 1], size = 1.0;
        if (!shake(m, seed)) continue; // obstacles may meet
        for (int i = 0; i < s.J.cols; ++i) {
            x[i] = test_random_uniform(&rng, -1.0, 1.0);
        }
        const int bits = touches(&s, m->state);
        if (bits < 0 || (_i < WITH_MOVING && bits == 0) || !differences(&s, x, wanted)) continue;
        ck_assert_msg(tal_system_linearize(m->system, m->state, NULL, s.J, s.work) == TAL_OK, "%s",
                      tal_state_error(m->state)->message);
        for (int i = 0; i < s.J.rows; ++i) {
            size = fmax(size, fabs(wanted[i]));
        }
        for (int i = 0; i < s.J.rows; ++i) {
            double found = 0.0;
            for (int j = 0; j < s.J.cols; ++j) {
                found += s.J.data[j * s.J.rows + i] * x[j];
            }
            ck_assert_msg(fabs(found - wanted[i]) <= 1e-7 * size,
                          "seed %d, rate %d: %.10g, not %.10g", (int)seed, i, found, wanted[i]);
        }
        ++num_done;
        num_all += (bits & (bits - 1)) != 0; // two at once, or three
    }
    ck_assert_int_gt(num_done, 10);
    if (_i == OVER_THREE) ck_assert_int_gt(num_all, 5);
    end(&s);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/path_change");
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 60.0);
    tcase_add_loop_test(theory, rates_change_as_differences_say, 0, NUM_SCENES);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
