// io/src/generate/: functions recorded from a model give what Talus gives, for fewer operations.
#include "generate_support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST = 64,
    MOST_BODIES = 64
};

// Inverse dynamics by Talus.
static void talus_inverse(generated_model *m, const double udot[], double f[])
{
    tal_spatial_vec F[MOST_BODIES];
    memset(F, 0, sizeof F);
    double along[MOST] = {0};
    generated_loads(m, F, along);
    ck_assert_int_eq(tal_matter_inverse_dynamics(m->matter, m->state, udot, F, NULL, f), TAL_OK);
    for (int i = 0; i < m->nu; ++i) {
        f[i] -= along[i];
    }
}

static void talus_mass(generated_model *m, double M[])
{
    const tal_matrix view = tal_matrix_view(M, m->nu, m->nu);
    ck_assert_int_eq(tal_matter_calc_M(m->matter, m->state, view), TAL_OK);
}

static double scale_of(const double x[], int n)
{
    return fmax(1.0, test_largest(x, n));
}

// M udot + bias - f, relative to the size of its terms: free of the condition of M.
static double residual(generated_model *m, const double udot[], const double f[])
{
    static double back[MOST], M[MOST * MOST];
    talus_inverse(m, udot, back);
    talus_mass(m, M);
    double worst = 0.0;
    for (int i = 0; i < m->nu; ++i) {
        double size = fabs(f[i]) + fabs(back[i]);
        for (int k = 0; k < m->nu; ++k) {
            size += fabs(M[i + m->nu * k] * udot[k]);
        }
        worst = fmax(worst, fabs(back[i] - f[i]) / fmax(size, 1.0));
    }
    return worst;
}

static void evaluate(const tal_generator *gen, int function, const generated_model *m,
                     const double x[], double out[])
{
    const double *const q = tal_state_q(m->state), *const u = tal_state_u(m->state);
    ck_assert_int_eq(tal_generator_evaluate(gen, function, q, u, x, out), TAL_OK);
}

// Round-off: some 30 operations in a row for each body, of numbers some ten times the largest
// result.
static void compare(generated_model *m, int states)
{
    static double x[MOST], f[MOST], expected[MOST], udot[MOST], M[MOST * MOST], M0[MOST * MOST];
    ck_assert_int_le(m->nu, MOST);
    tal_generator *const gen =
        generated_make(m, TAL_GENERATE_FORWARD_DYNAMICS | TAL_GENERATE_INVERSE_DYNAMICS |
                              TAL_GENERATE_MASS_MATRIX);
    for (int s = 0; s < states; ++s) {
        generated_shake(m);
        for (int i = 0; i < m->nu; ++i) {
            x[i] = test_random_uniform(&m->rng, -2.0, 2.0);
        }
        evaluate(gen, 1, m, x, f);
        talus_inverse(m, x, expected);
        test_assert_near(f, expected, m->nu, 1e-13 * scale_of(expected, m->nu), "f");
        evaluate(gen, 2, m, NULL, M);
        talus_mass(m, M0);
        test_assert_near(M, M0, m->nu * m->nu, 1e-14 * scale_of(M0, m->nu * m->nu) * 4.0, "M");
        evaluate(gen, 0, m, x, udot);
        ck_assert_double_lt(residual(m, udot, x), 1e-13);
    }
    tal_generator_destroy(gen);
}

START_TEST(each_mobilizer_alone_and_carried_agrees)
{
    for (int kind = 0; kind < GENERATED_KINDS; ++kind) {
        for (int way = 0; way < 4; ++way) {
            generated_model m = generated_begin((uint64_t)(100 + 4 * kind + way));
            tal_forces_add_gravity(m.forces, tal_v3(1.0, -9.0, 2.0));
            tal_body_ix body = TAL_GROUND;
            for (int b = 0; b < 3; ++b) {
                body = generated_body(&m, generated_kinds[kind], body, NULL, way % 2 == 1,
                                      way / 2 == 1);
            }
            generated_finish(&m);
            compare(&m, 5);
            generated_end(&m);
        }
    }
}

END_TEST

START_TEST(trees_of_all_mobilizers_agree)
{
    for (int seed = 0; seed < 30; ++seed) {
        generated_model m = generated_tree((uint64_t)seed, 8, seed % 3 == 0);
        compare(&m, 3);
        generated_end(&m);
    }
}

END_TEST

typedef struct gu_row {
    int n;
    int ID[2], M[2], FD[2]; ///< multiplications with divisions, additions
} gu_row;

static void assert_count(const tal_generator *gen, int function, const int most[2])
{
    const tal_operation_count n = tal_generator_count(gen, function);
    ck_assert_msg(n.mul + n.div + n.add <= (most[0] + most[1]) * 102 / 100,
                  "%s: %d mul, %d add, %d div, not %d and %d", tal_generator_name(gen, function),
                  n.mul, n.add, n.div, most[0], most[1]);
}

// RBDA tab. 10.1, best rows: ID 450+386, M 460+395, FD 996+846 for 6 pins.
START_TEST(general_arms_cost_less_than_in_the_literature)
{
    static const gu_row rows[] = {{6, {398, 330}, {368, 294}, {868, 681}},
                                  {10, {722, 610}, {1041, 763}, {2043, 1657}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        generated_model m = generated_GU(rows[i].n);
        tal_generator *const gen =
            generated_make(&m, TAL_GENERATE_FORWARD_DYNAMICS | TAL_GENERATE_INVERSE_DYNAMICS |
                                   TAL_GENERATE_MASS_MATRIX);
        assert_count(gen, 0, rows[i].FD);
        assert_count(gen, 1, rows[i].ID);
        assert_count(gen, 2, rows[i].M);
        compare(&m, 10);
        tal_generator_destroy(gen);
        generated_end(&m);
    }
}

END_TEST

// A planar chain needs planar arithmetic only (RBDA sec. 2.16): 3 multiplications and 2 additions
// carry a force to the parent, where 8 and 6 do in space.
START_TEST(planar_chains_become_planar)
{
    generated_model m = generated_begin(5);
    tal_forces_add_gravity(m.forces, tal_v3(0.0, -9.81, 0.0));
    for (int b = 0; b < 10; ++b) {
        const tal_xform X = tal_xf_from_p(tal_v3(b == 0 ? 0.0 : 1.0, 0.0, 0.0));
        (void)generated_body(&m, tal_matter_add_pin, (tal_body_ix){b}, &X, false, false);
    }
    generated_finish(&m);
    static const int ID[2] = {171, 139}, M[2] = {216, 160}, FD[2] = {428, 320};
    tal_generator *const gen =
        generated_make(&m, TAL_GENERATE_FORWARD_DYNAMICS | TAL_GENERATE_INVERSE_DYNAMICS |
                               TAL_GENERATE_MASS_MATRIX);
    assert_count(gen, 0, FD);
    assert_count(gen, 1, ID);
    assert_count(gen, 2, M);
    compare(&m, 10);
    tal_generator_destroy(gen);
    generated_end(&m);
}

END_TEST

// ---- forces -------------------------------------------------------------------------------------

static generated_model sprung_model(void)
{
    generated_model m = generated_begin(11);
    const tal_body_ix a = generated_body(&m, tal_matter_add_free, TAL_GROUND, NULL, false, false);
    const tal_body_ix b = generated_body(&m, tal_matter_add_pin, a, NULL, false, false);
    const tal_body_ix c = generated_body(&m, tal_matter_add_slider, a, NULL, true, false);
    const tal_force_ix gravity = tal_forces_add_gravity(m.forces, tal_v3(1.0, -9.0, 2.0));
    const tal_mobility pin = {b, 0}, slide = {c, 0}, height = {a, 4};
    const tal_two_points ends = {b, tal_v3(0.1, 0.2, 0.3), c, tal_v3(-0.3, 0.1, 0.4)};
    const tal_two_points tied = {TAL_GROUND, tal_v3(3.0, 2.0, 1.0), c, tal_v3(0.5, 0.1, -0.4)};
    tal_forces_add_mobility_spring(m.forces, "spring", pin, 3.0, 0.2);
    tal_forces_add_mobility_spring(m.forces, "hoist", height, 2.0, -0.1);
    tal_forces_add_mobility_damper(m.forces, "damper", slide, 0.7);
    tal_forces_add_mobility_force(m.forces, "push", pin, 1.3);
    tal_forces_add_global_damper(m.forces, "air", 0.2);
    tal_forces_add_two_point_spring(m.forces, "string", &ends, 20.0, 0.4);
    tal_forces_add_two_point_damper(m.forces, "dashpot", &tied, 2.0);
    tal_forces_add_two_point_force(m.forces, "pusher", &tied, 1.5);
    generated_finish(&m);
    ck_assert_int_eq(tal_gravity_set_excluded(m.forces, m.state, gravity, c, true), TAL_OK);
    return m;
}

START_TEST(forces_of_the_model_act)
{
    generated_model m = sprung_model();
    compare(&m, 20);
    generated_end(&m);
}

END_TEST

START_TEST(disabled_forces_do_not_act)
{
    generated_model m = sprung_model();
    const tal_force_ix string = tal_forces_find(m.forces, "string");
    ck_assert_int_eq(tal_force_set_enabled(m.forces, m.state, string, false), TAL_OK);
    compare(&m, 5);
    generated_end(&m);
}

END_TEST

START_TEST(rotors_are_felt)
{
    for (int seed = 0; seed < 4; ++seed) {
        generated_model m = generated_GU(4);
        const tal_body_ix body = {2 + seed % 2};
        ck_assert_int_eq(tal_body_set_rotor_inertia(m.matter, m.state, body, 3.6), TAL_OK);
        compare(&m, 5);
        generated_end(&m);
    }
}

END_TEST

// ---- Jacobians, derivatives ---------------------------------------------------------------------

START_TEST(jacobians_are_those_of_stations)
{
    for (int seed = 0; seed < 20; ++seed) {
        generated_model m = generated_tree((uint64_t)(50 + seed), 7, seed % 2 == 0);
        const tal_body_ix body = {1 + seed % 7};
        const tal_station at = {body, test_random_vec3(&m.rng)};
        const tal_generator_station station = {"tip", at};
        tal_generator_def def = tal_generator_def_default();
        def.functions = TAL_GENERATE_JACOBIAN;
        def.stations = &station;
        def.num_stations = 1;
        tal_generator *gen = NULL;
        ck_assert_int_eq(tal_generator_create(m.matter, m.forces, m.state, &def, &gen, NULL),
                         TAL_OK);
        ck_assert_str_eq(tal_generator_name(gen, 0), "model_jacobian_tip");
        static double J[6 * MOST], J0[6 * MOST];
        generated_shake(&m);
        evaluate(gen, 0, &m, NULL, J);
        const tal_matrix view = tal_matrix_view(J0, 6, m.nu);
        ck_assert_int_eq(tal_matter_calc_frame_J(m.matter, m.state, &at, 1, view), TAL_OK);
        test_assert_near(J, J0, 6 * m.nu, 1e-13 * scale_of(J0, 6 * m.nu), "J");
        tal_generator_destroy(gen);
        generated_end(&m);
    }
}

END_TEST

// Derivatives along all directions against differences of the function itself, over steps of 1e-5:
// h^2 of third derivatives some 10 times f.
START_TEST(derivatives_agree_with_differences)
{
    for (int seed = 0; seed < 12; ++seed) {
        generated_model m =
            seed == 0 ? sprung_model() : generated_tree((uint64_t)(80 + seed), 4, seed % 2 == 0);
        tal_generator *const gen = generated_make(
            &m, TAL_GENERATE_INVERSE_DYNAMICS | TAL_GENERATE_INVERSE_DYNAMICS_DERIVATIVES);
        static double x[MOST], d[2 * MOST * MOST], f[2][MOST], q[2 * MOST], u[MOST];
        static double qdot[2 * MOST];
        const double h = 1e-5;
        generated_shake(&m);
        for (int i = 0; i < m.nu; ++i) {
            x[i] = test_random_uniform(&m.rng, -1.0, 1.0);
        }
        evaluate(gen, 1, &m, x, d);
        for (int column = 0; column < 2 * m.nu; ++column) {
            const bool by_u = column >= m.nu;
            double e[MOST] = {0};
            e[column % m.nu] = 1.0;
            ck_assert_int_eq(tal_matter_mul_N(m.matter, m.state, TAL_N, e, qdot), TAL_OK);
            for (int side = 0; side < 2; ++side) {
                const double step = side == 0 ? -h : h;
                for (int i = 0; i < m.nq; ++i) {
                    q[i] = tal_state_q(m.state)[i] + (by_u ? 0.0 : step * qdot[i]);
                }
                for (int i = 0; i < m.nu; ++i) {
                    u[i] = tal_state_u(m.state)[i] + (by_u ? step * e[i] : 0.0);
                }
                ck_assert_int_eq(tal_generator_evaluate(gen, 0, q, u, x, f[side]), TAL_OK);
            }
            for (int i = 0; i < m.nu; ++i) {
                const double expected = (f[1][i] - f[0][i]) / (2.0 * h);
                const double size = scale_of(d, 2 * m.nu * m.nu);
                ck_assert_double_eq_tol(d[i + column * m.nu], expected, 1e-8 * size);
            }
        }
        tal_generator_destroy(gen);
        generated_end(&m);
    }
}

END_TEST

// M dudot/dq = -df/dq at that udot, and the same by u.
START_TEST(derivatives_of_forward_dynamics_follow_from_those_of_inverse)
{
    for (int seed = 0; seed < 8; ++seed) {
        generated_model m =
            seed == 0 ? sprung_model() : generated_tree((uint64_t)(150 + seed), 4, seed % 2 == 0);
        const int nu = m.nu, nn = nu * nu;
        tal_generator *const gen =
            generated_make(&m, TAL_GENERATE_FORWARD_DYNAMICS | TAL_GENERATE_MASS_MATRIX |
                                   TAL_GENERATE_INVERSE_DYNAMICS_DERIVATIVES |
                                   TAL_GENERATE_FORWARD_DYNAMICS_DERIVATIVES);
        static double f[MOST], udot[MOST], M[MOST * MOST], a[2 * MOST * MOST], b[3 * MOST * MOST];
        generated_shake(&m);
        for (int i = 0; i < nu; ++i) {
            f[i] = test_random_uniform(&m.rng, -1.0, 1.0);
        }
        evaluate(gen, 0, &m, f, udot);
        evaluate(gen, 1, &m, NULL, M);
        evaluate(gen, 2, &m, udot, a);
        evaluate(gen, 3, &m, f, b);
        for (int column = 0; column < 2 * nu; ++column) {
            for (int row = 0; row < nu; ++row) {
                double sum = a[row + nu * column], size = fabs(sum) + scale_of(a, 2 * nn);
                for (int k = 0; k < nu; ++k) {
                    sum += M[row + nu * k] * b[k + nu * column];
                    size += fabs(M[row + nu * k] * b[k + nu * column]);
                }
                ck_assert_double_lt(fabs(sum), 1e-12 * size);
            }
        }
        tal_generator_destroy(gen);
        generated_end(&m);
    }
}

END_TEST

START_TEST(derivatives_agree_with_those_of_talus)
{
    for (int seed = 0; seed < 12; ++seed) {
        generated_model m =
            seed == 0 ? generated_GU(6) : generated_tree((uint64_t)(120 + seed), 4, seed % 2 == 0);
        const int nu = m.nu, nn = nu * nu;
        tal_generator *const gen =
            generated_make(&m, TAL_GENERATE_INVERSE_DYNAMICS_DERIVATIVES |
                                   TAL_GENERATE_FORWARD_DYNAMICS_DERIVATIVES);
        static double x[MOST], d[3 * MOST * MOST], e[3 * MOST * MOST];
        tal_spatial_vec F[MOST_BODIES];
        double along[MOST] = {0};
        memset(F, 0, sizeof F);
        generated_shake(&m);
        for (int i = 0; i < nu; ++i) {
            x[i] = test_random_uniform(&m.rng, -1.0, 1.0);
        }
        generated_loads(&m, F, along);
        const tal_matrix a = tal_matrix_view(e, nu, nu), b = tal_matrix_view(e + nn, nu, nu),
                         c = tal_matrix_view(e + 2 * nn, nu, nu);
        evaluate(gen, 0, &m, x, d);
        ck_assert_int_eq(tal_matter_calc_ID_derivatives(m.matter, m.state, x, F, a, b, c), TAL_OK);
        // a weight keeps its place in the body, not its moment about Bo in ground
        for (int i = nn; i < 2 * nn; ++i) {
            ck_assert_double_eq_tol(d[i], e[i], 1e-13 * scale_of(e + nn, nn));
        }
        evaluate(gen, 1, &m, x, d);
        ck_assert_int_eq(tal_matter_calc_FD_derivatives(m.matter, m.state, F, x, NULL, a, b, c),
                         TAL_OK);
        const double size = scale_of(e + 2 * nn, nn) * scale_of(e + nn, nn);
        for (int i = nn; i < 3 * nn; ++i) {
            ck_assert_double_eq_tol(d[i], e[i], 1e-12 * size);
        }
        tal_generator_destroy(gen);
        generated_end(&m);
    }
}

END_TEST

// ---- files --------------------------------------------------------------------------------------

typedef void (*forward_fn)(const double *q, const double *u, const double *f, double *udot);
typedef void (*forward_float_fn)(const float *q, const float *u, const float *f, float *udot);

static void run_or_fail(const char *command)
{
    ck_assert_msg(system(command) == 0, "this failed: %s", command);
}

// Compilers, languages and warnings that the code promises; it is cut into parts of 50 statements.
START_TEST(files_compile_without_a_warning_and_agree)
{
    static const char *const compilers[] = {
        "cc -std=c17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wmissing-prototypes -Werror",
        "cc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror",
        "c++ -x c++ -Wall -Wextra -Wpedantic -Werror"};
    for (int single = 0; single < 2; ++single) {
        generated_model m = single == 0 ? generated_tree(3, 4, false) : sprung_model();
        tal_generator_def def = tal_generator_def_default();
        def.functions = TAL_GENERATE_ALL;
        def.max_statements = 50;
        def.single_precision = single == 1;
        const tal_generator_station station = {"tip", {{2}, {0.1, 0.2, 0.3}}};
        def.stations = &station;
        def.num_stations = 1;
        tal_generator *gen = NULL;
        ck_assert_int_eq(tal_generator_create(m.matter, m.forces, m.state, &def, &gen, NULL),
                         TAL_OK);
        ck_assert_int_eq(tal_generator_write(gen, "generated.c", "generated.h", NULL), TAL_OK);
        for (int i = 0; i < 3; ++i) {
            char command[256];
            (void)snprintf(command, sizeof command,
                           "%s -O0 -ffp-contract=off -fPIC -shared -o generated.so generated.c -lm",
                           compilers[i]);
            run_or_fail(command);
        }
        run_or_fail(
            "! nm -u generated.so | grep -vE ' (w|W) | (sinf?|cosf?|sincosf?|sqrtf?)(@|$)'");
        void *const code = dlopen("./generated.so", RTLD_NOW);
        ck_assert_msg(code != NULL, "%s", dlerror());
        static double x[MOST], expected[MOST], got[MOST];
        static float qf[MOST], uf[MOST], xf[MOST], gotf[MOST];
        generated_shake(&m);
        for (int i = 0; i < m.nu; ++i) {
            x[i] = test_random_uniform(&m.rng, -1.0, 1.0);
            xf[i] = (float)x[i];
            uf[i] = (float)tal_state_u(m.state)[i];
        }
        for (int i = 0; i < m.nq; ++i) {
            qf[i] = (float)tal_state_q(m.state)[i];
        }
        evaluate(gen, 0, &m, x, expected);
        void *const found = dlsym(code, "model_forward_dynamics");
        ck_assert_ptr_nonnull(found);
        if (single == 0) {
            forward_fn forward;
            memcpy(&forward, &found, sizeof forward);
            forward(tal_state_q(m.state), tal_state_u(m.state), x, got);
            // the same operations in the same order
            ck_assert_mem_eq(got, expected, (size_t)m.nu * sizeof *got);
        } else {
            forward_float_fn forward;
            memcpy(&forward, &found, sizeof forward);
            forward(qf, uf, xf, gotf);
            for (int i = 0; i < m.nu; ++i) {
                ck_assert_double_eq_tol((double)gotf[i], expected[i],
                                        1e-4 * scale_of(expected, m.nu));
            }
        }
        dlclose(code);
        tal_generator_destroy(gen);
        generated_end(&m);
    }
}

END_TEST

static void read_whole(const char *path, char text[], size_t size)
{
    FILE *const file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    const size_t n = fread(text, 1, size - 1, file);
    text[n] = 0;
    fclose(file);
}

START_TEST(the_same_model_gives_the_same_bytes)
{
    static char first[400000], second[400000];
    for (int round = 0; round < 2; ++round) {
        generated_model m = generated_tree(3, 4, false);
        tal_generator *const gen = generated_make(&m, TAL_GENERATE_FORWARD_DYNAMICS);
        ck_assert_int_eq(tal_generator_write(gen, "twice.c", "twice.h", NULL), TAL_OK);
        read_whole("twice.c", round == 0 ? first : second, sizeof first);
        tal_generator_destroy(gen);
        generated_end(&m);
    }
    ck_assert_str_eq(first, second);
}

END_TEST

// Comments name every coordinate and every speed by its place in its array, those of a body with
// several among them.
START_TEST(comments_name_all_arguments)
{
    static char text[400000];
    generated_model m = generated_tree(5, 6, false);
    tal_generator *const gen = generated_make(&m, TAL_GENERATE_INVERSE_DYNAMICS);
    ck_assert_int_eq(tal_generator_write(gen, "named.c", "named.h", NULL), TAL_OK);
    for (int k = 0; k < 2; ++k) {
        read_whole(k == 0 ? "named.h" : "named.c", text, sizeof text);
        if (strstr(text, "// u[0] ") != NULL) break;
    }
    const int nq = tal_state_nq(m.state), nu = tal_state_nu(m.state);
    ck_assert_int_gt(nu, tal_matter_num_bodies(m.matter) - 1);
    for (int i = 0; i < nq + nu; ++i) {
        char line[40];
        (void)snprintf(line, sizeof line, "// %c[%d] ", i < nq ? 'q' : 'u', i < nq ? i : i - nq);
        const char *const at = strstr(text, line);
        ck_assert_msg(at != NULL, "there is no '%s'", line);
        ck_assert_msg(strstr(at + 1, line) == NULL, "'%s' is there twice", line);
    }
    tal_generator_destroy(gen);
    generated_end(&m);
}

END_TEST

// ---- refusals -----------------------------------------------------------------------------------

static void assert_refused(generated_model *m, const tal_generator_def *def, const char *why)
{
    tal_generator *gen = NULL;
    tal_error err = {0};
    const tal_status st = tal_generator_create(m->matter, m->forces, m->state, def, &gen, &err);
    ck_assert_int_ne(st, TAL_OK);
    ck_assert_ptr_null(gen);
    ck_assert_msg(strstr(err.message, why) != NULL, "'%s' lacks '%s'", err.message, why);
}

START_TEST(what_cannot_be_generated_is_refused_by_name)
{
    generated_model m = generated_begin(1);
    const tal_body_ix a = generated_body(&m, tal_matter_add_pin, TAL_GROUND, NULL, false, false);
    const tal_stop limits = {10.0, 0.1, -1.0, 1.0};
    tal_forces_add_mobility_stop(m.forces, "ligaments", (tal_mobility){a, 0}, &limits);
    generated_finish(&m);
    assert_refused(&m, NULL, "mobility stop 'ligaments' cannot be generated");
    ck_assert_int_eq(tal_force_set_enabled(m.forces, m.state, (tal_force_ix){0}, false), TAL_OK);
    ck_assert_int_eq(tal_body_lock(m.matter, m.state, a, TAL_LEVEL_POSITION), TAL_OK);
    assert_refused(&m, NULL, "body 'body1' is locked");
    ck_assert_int_eq(tal_body_lock(m.matter, m.state, a, TAL_LEVEL_FREE), TAL_OK);
    tal_generator_def def = tal_generator_def_default();
    def.prefix = "1st";
    assert_refused(&m, &def, "prefix '1st'");
    def = tal_generator_def_default();
    def.max_statements = 3;
    assert_refused(&m, &def, "3 statements");
    generated_end(&m);

    m = generated_begin(1);
    (void)generated_body(&m, tal_matter_add_line_orientation, TAL_GROUND, NULL, false, false);
    generated_finish(&m);
    assert_refused(&m, NULL, "body 'body1' has the mobilizer 'line orientation'");
    generated_end(&m);
}

END_TEST

// Each alone is refused, and gone once it is disabled.
START_TEST(what_is_no_tree_is_refused_until_it_is_disabled)
{
    generated_model m = generated_begin(3);
    const tal_body_ix a = generated_body(&m, tal_matter_add_pin, TAL_GROUND, NULL, false, false);
    const tal_body_ix b = generated_body(&m, tal_matter_add_slider, a, NULL, false, false);
    tal_constraint_def tie = tal_constraint_between(TAL_GROUND, b);
    tie.name = "tie";
    const tal_constraint_ix rod =
        tal_constraint_add_rod(m.matter, &tie, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    tal_unilateral_def stop = tal_unilateral_def_default();
    stop.name = "floor";
    const tal_xform floor = TAL_XFORM_IDENTITY;
    const tal_unilateral_ix foot =
        tal_unilateral_add_point_on_plane(m.matter, &stop, TAL_GROUND, &floor, b, TAL_VEC3_ZERO);
    tal_motion_def given = tal_motion_def_default();
    given.name = "crank";
    given.body = a;
    const tal_motion_ix crank = tal_matter_add_motion_sinusoid(m.matter, &given, 0.1, 2.0, 0.0);
    generated_finish(&m);
    assert_refused(&m, NULL, "constraint 'tie' is enabled");
    ck_assert_int_eq(tal_constraint_set_enabled(m.matter, m.state, rod, false), TAL_OK);
    assert_refused(&m, NULL, "unilateral element 'floor' is enabled");
    ck_assert_int_eq(tal_unilateral_set_enabled(m.matter, m.state, foot, false), TAL_OK);
    assert_refused(&m, NULL, "motion 'crank' is enabled");
    ck_assert_int_eq(tal_motion_set_enabled(m.matter, m.state, crank, false), TAL_OK);
    ck_assert_int_eq(tal_body_lock(m.matter, m.state, b, TAL_LEVEL_VELOCITY), TAL_OK);
    assert_refused(&m, NULL, "body 'body2' is locked");
    ck_assert_int_eq(tal_body_lock(m.matter, m.state, b, TAL_LEVEL_FREE), TAL_OK);
    tal_generator_destroy(generated_make(&m, TAL_GENERATE_ALL));
    generated_end(&m);
}

END_TEST

START_TEST(without_bodies_there_is_nothing_to_compute)
{
    generated_model m = generated_begin(1);
    generated_finish(&m);
    tal_generator *const gen = generated_make(&m, TAL_GENERATE_ALL);
    ck_assert_int_eq(tal_generator_num(gen), 5);
    ck_assert_int_eq(tal_generator_count(gen, 0).mul, 0);
    ck_assert_int_eq(tal_generator_write(gen, "nothing.c", "nothing.h", NULL), TAL_OK);
    run_or_fail("cc -std=c17 -Wall -Wextra -Wpedantic -Werror -c nothing.c -o nothing.o");
    tal_generator_destroy(gen);
    generated_end(&m);
}

END_TEST

int main(void)
{
    Suite *const suite = suite_create("generator");
    TCase *const theory = tcase_create("theory");
    tcase_set_timeout(theory, 60.0);
    tcase_add_test(theory, each_mobilizer_alone_and_carried_agrees);
    tcase_add_test(theory, trees_of_all_mobilizers_agree);
    tcase_add_test(theory, general_arms_cost_less_than_in_the_literature);
    tcase_add_test(theory, planar_chains_become_planar);
    tcase_add_test(theory, forces_of_the_model_act);
    tcase_add_test(theory, disabled_forces_do_not_act);
    tcase_add_test(theory, rotors_are_felt);
    tcase_add_test(theory, jacobians_are_those_of_stations);
    tcase_add_test(theory, derivatives_agree_with_differences);
    tcase_add_test(theory, derivatives_of_forward_dynamics_follow_from_those_of_inverse);
    tcase_add_test(theory, derivatives_agree_with_those_of_talus);
    tcase_add_test(theory, files_compile_without_a_warning_and_agree);
    tcase_add_test(theory, the_same_model_gives_the_same_bytes);
    tcase_add_test(theory, comments_name_all_arguments);
    suite_add_tcase(suite, theory);
    TCase *const errors = tcase_create("errors");
    tcase_add_test(errors, what_cannot_be_generated_is_refused_by_name);
    tcase_add_test(errors, what_is_no_tree_is_refused_until_it_is_disabled);
    tcase_add_test(errors, without_bodies_there_is_nothing_to_compute);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
