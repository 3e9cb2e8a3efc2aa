// Assembly of mechanisms: closed forms of the slider-crank and of the Stewart platform; and promise
// P9: what is said to be assembled is, what is assembled stays as it is, what cannot be is named.
#include "assembly_support.h"
#include "ref_constraints.h"
#include "ref_loop_7pin_ball.h"

#include <stdlib.h>

static int how_many(int in_ctest, int in_soak)
{
    return getenv("TALUS_SOAK") != NULL ? in_soak : in_ctest;
}

// --- the slider-crank of the reference cases: r = 0.1, l = 0.35, driven at 50 rad/s ---

static const double R = 0.1, L = 0.35, RATE = 50.0;

static model slider_crank(void)
{
    model m = begin_model();
    tal_mobod_def def = link_at(TAL_VEC3_ZERO);
    const tal_body_ix crank = tal_matter_add_pin(m.matter, TAL_GROUND, &def);
    const tal_body_ix slider = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    def.X_PF.p = tal_v3(R, 0.0, 0.0);
    const tal_body_ix rod = tal_matter_add_pin(m.matter, crank, &def);
    const tal_constraint_def ends = tal_constraint_between(rod, slider);
    (void)tal_constraint_add_ball(m.matter, &ends, tal_v3(L, 0.0, 0.0), TAL_VEC3_ZERO);
    finish_model(&m, NULL);
    return m;
}

enum {
    SLIDER = 2,
    ROD
};

// x = r cos(theta) + side sqrt(l^2 - r^2 sin^2(theta)); the rod's angle against x is phi. perr <=
// 1e-10 and a Jacobian with singular values above 0.1 leave 1e-9; velocities, divided by l
// cos(phi), times 50.
START_TEST(a_slider_crank_closes_on_both_sides_all_the_way_round)
{
    model m = slider_crank();
    for (int k = 0; k < 144; ++k) {
        const double theta = 2.0 * TAL_PI * k / 72.0, side = k < 72 ? 1.0 : -1.0;
        const double reach = side * sqrt(L * L - R * R * sin(theta) * sin(theta));
        const double x = R * cos(theta) + reach, phi = atan2(-R * sin(theta), reach);
        const double xdot = -RATE * R * sin(theta) * (1.0 + R * cos(theta) / reach);
        set_q(&m, SLIDER, x + 0.05);
        set_q(&m, ROD, phi - theta - 0.4);
        const tal_mobility crank = {{CRANK}, 0};
        ck_assert_int_eq(tal_mobility_lock_at(m.matter, m.state, crank, TAL_LEVEL_POSITION, theta),
                         TAL_OK);
        ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_OK);
        ck_assert_double_eq(q_of(&m, CRANK), theta);
        ck_assert_double_eq_tol(q_of(&m, SLIDER), x, 1e-9);
        ck_assert_double_lt(angle_between(q_of(&m, ROD), phi - theta), 1e-9);

        ck_assert_int_eq(tal_mobility_lock_at(m.matter, m.state, crank, TAL_LEVEL_VELOCITY, RATE),
                         TAL_OK);
        ck_assert_int_eq(tal_assembler_assemble_u(m.assembler, NULL, NULL, m.state, NULL), TAL_OK);
        ck_assert_double_eq_tol(tal_body_u(m.matter, m.state, (tal_body_ix){SLIDER}, 0), xdot,
                                1e-7);
    }
    end_model(&m);
}

END_TEST

// --- the Stewart platform of the reference cases ---

enum {
    LEGS = 6
};

static tal_vec3 vec(const double from[3])
{
    return tal_v3(from[0], from[1], from[2]);
}

static model stewart(const tal_assembler_def *def)
{
    model m = begin_model();
    tal_mobod_def body = tal_mobod_def_default();
    body.name = "platform";
    body.mass = (tal_mass_props){1.0, TAL_VEC3_ZERO, tal_s3_diag(0.1, 0.1, 0.2)};
    const tal_body_ix platform = tal_matter_add_free(m.matter, TAL_GROUND, &body);
    const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, platform);
    for (int i = 0; i < LEGS; ++i) {
        (void)tal_constraint_add_rod(m.matter, &ends, vec(ref_stewart_base[i]),
                                     vec(ref_stewart_platform[i]), ref_stewart[0].legs[i]);
    }
    finish_model(&m, def);
    const tal_xform home = tal_xf_from_p(vec(ref_stewart[0].p));
    ck_assert_int_eq(tal_body_fit_q(m.matter, m.state, platform, &home), TAL_OK);
    return m;
}

static void set_leg(const model *m, int leg, double length)
{
    const tal_constraint_ix rod = {leg};
    int n = 0;
    double params[16];
    const double *old = tal_constraint_params(m->matter, m->state, rod, &n);
    ck_assert_int_le(n, 16);
    memcpy(params, old, (size_t)n * sizeof *params);
    params[TAL_ROD_LENGTH] = length;
    ck_assert_int_eq(tal_constraint_set_params(m->matter, m->state, rod, params, n), TAL_OK);
}

// The reference asks for 1e-12 of the pose from the home pose, given the lengths.
START_TEST(a_stewart_platform_goes_where_its_legs_put_it)
{
    tal_assembler_def def = tal_assembler_def_default();
    def.tolerance = 1e-13;
    for (int k = 1; k <= 2; ++k) {
        model m = stewart(&def);
        for (int i = 0; i < LEGS; ++i) {
            set_leg(&m, i, ref_stewart[k].legs[i]);
        }
        tal_assembly found;
        ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
        ck_assert_int_eq(found.restarts, 0);
        const double *a = ref_stewart[k].angles;
        const tal_mat3 R_y = tal_rotation_about(TAL_AXIS_Y, a[1]);
        const tal_mat3 R_yx = tal_m3_mul(R_y, tal_rotation_about(TAL_AXIS_X, a[0]));
        const tal_mat3 R_GB = tal_m3_mul(tal_rotation_about(TAL_AXIS_Z, a[2]), R_yx);
        const tal_xform X_GB = tal_body_X_GB(m.matter, m.state, (tal_body_ix){1});
        test_assert_m3_near(X_GB.R, R_GB, 1e-12);
        test_assert_v3_near(X_GB.p, vec(ref_stewart[k].p), 1e-12);
        end_model(&m);
    }
}

END_TEST

// --- planar linkages, drawn as they are assembled: all frames parallel to Ground's at q = 0 ---

typedef struct bar {
    int parent, pin; // body it turns on, at which point
} bar;

typedef struct closure {
    int bodies[2], point;
} closure;

static model linkage(const tal_vec3 points[], const bar bars[], int num_bars,
                     const closure closures[], int num_closures, const tal_assembler_def *def)
{
    model m = begin_model();
    tal_vec3 origins[16] = {{0.0, 0.0, 0.0}}; // of the bodies, Ground's first
    for (int b = 0; b < num_bars; ++b) {
        const tal_vec3 pin = points[bars[b].pin];
        const tal_mobod_def link = link_at(tal_v3_sub(pin, origins[bars[b].parent]));
        (void)tal_matter_add_pin(m.matter, (tal_body_ix){bars[b].parent}, &link);
        origins[b + 1] = pin;
    }
    for (int c = 0; c < num_closures; ++c) {
        const closure *it = &closures[c];
        const tal_constraint_def ends =
            tal_constraint_between((tal_body_ix){it->bodies[0]}, (tal_body_ix){it->bodies[1]});
        (void)tal_constraint_add_ball(m.matter, &ends,
                                      tal_v3_sub(points[it->point], origins[it->bodies[0]]),
                                      tal_v3_sub(points[it->point], origins[it->bodies[1]]));
    }
    finish_model(&m, def);
    return m;
}

// Crank AB, coupler BCE, rocker DCF, and links EG and FG.
static model watt(const tal_assembler_def *def)
{
    enum {
        A,
        B,
        C,
        D,
        E,
        F,
        G
    };

    static const tal_vec3 points[] = {
        [A] = {0.0, 0.0, 0.0}, [B] = {0.5, 1.0, 0.0}, [C] = {2.6, 2.0, 0.0}, [D] = {3.0, 0.0, 0.0},
        [E] = {1.2, 2.8, 0.0}, [F] = {3.6, 1.6, 0.0}, [G] = {2.9, 3.4, 0.0}};
    static const bar bars[] = {{0, A}, {1, B}, {0, D}, {2, E}, {3, F}};
    static const closure closures[] = {{{2, 3}, C}, {{4, 5}, G}};
    return linkage(points, bars, 5, closures, 2, def);
}

// Bars OA and OC of length 3, a rhombus ABCD of side 1.8, and a crank QB of length 1 = OQ: B goes
// on a circle through O, so D on a line.
static model peaucellier(const tal_assembler_def *def)
{
    enum {
        O,
        Q,
        A,
        B,
        C,
        D
    };

    const double turn = 0.6;
    const tal_vec3 q = tal_v3(1.0, 0.0, 0.0), b = tal_v3(1.0 + cos(turn), sin(turn), 0.0);
    const tal_vec3 d = tal_v3_scale((9.0 - 1.8 * 1.8) / tal_v3_dot(b, b), b);
    const tal_vec3 middle = tal_v3_scale(0.5, tal_v3_add(b, d)), half = tal_v3_sub(d, middle);
    const double height = sqrt(1.8 * 1.8 - tal_v3_dot(half, half));
    const tal_vec3 across = tal_v3_normalize(tal_v3(-b.y, b.x, 0.0));
    const tal_vec3 points[] = {[O] = {0.0, 0.0, 0.0},
                               [Q] = q,
                               [A] = tal_v3_axpy(height, across, middle),
                               [B] = b,
                               [C] = tal_v3_axpy(-height, across, middle),
                               [D] = d};
    static const bar bars[] = {{0, O}, {0, O}, {0, Q}, {1, A}, {1, A}, {2, C}, {2, C}};
    static const closure closures[] = {{{4, 3}, B}, {{6, 3}, B}, {{5, 7}, D}};
    return linkage(points, bars, 7, closures, 3, def);
}

// --- seven pins in space, the tip held by a ball ---

static tal_xform frame_of(const double from[6])
{
    const tal_mat3 R_xy = tal_m3_mul(tal_rotation_about(TAL_AXIS_X, from[0]),
                                     tal_rotation_about(TAL_AXIS_Y, from[1]));
    return tal_xf(tal_m3_mul(R_xy, tal_rotation_about(TAL_AXIS_Z, from[2])),
                  tal_v3(from[3], from[4], from[5]));
}

static model seven_pins(const tal_assembler_def *def)
{
    model m = begin_model();
    tal_body_ix last = TAL_GROUND;
    for (int i = 0; i < 7; ++i) {
        tal_mobod_def body = tal_mobod_def_default();
        body.mass = tal_mass_props_point(loop_7pin[i].mass, tal_v3(1.0, 1.0, 1.0));
        body.X_PF = frame_of(loop_7pin[i].X_PF);
        body.X_BM = frame_of(loop_7pin[i].X_BM);
        last = tal_matter_add_pin(m.matter, last, &body);
    }
    const double *target = loop_7pin_target, *tip = loop_7pin_tip;
    const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, last);
    (void)tal_constraint_add_ball(m.matter, &ends, tal_v3(target[0], target[1], target[2]),
                                  tal_v3(tip[0], tip[1], tip[2]));
    finish_model(&m, def);
    for (int i = 0; i < 7; ++i) {
        set_q(&m, i + 1, loop_7pin[i].q);
    }
    return m;
}

static model open_four_bar(const tal_assembler_def *def)
{
    model m = four_bar(def);
    double coupler = 0.0, rocker = 0.0;
    closed_form(0.7, 1.0, &coupler, &rocker);
    set_q(&m, CRANK, 0.7);
    set_q(&m, COUPLER, coupler);
    set_q(&m, ROCKER, rocker);
    return m;
}

// --- promise P9 ---

enum {
    MOST_Q = 8
};

// The norm that counts, from nothing but the State: RMS of the weighted errors (manual eq. 9.4).
static double error_norm(const model *m, tal_state *fresh)
{
    ck_assert_int_eq(tal_state_copy(fresh, m->state), TAL_OK);
    double q[MOST_Q];
    const int nq = tal_state_nq(fresh);
    memcpy(q, tal_state_q(fresh), (size_t)nq * sizeof *q);
    ck_assert_int_eq(tal_state_set_q(fresh, q, nq), TAL_OK);
    ck_assert_int_eq(tal_system_realize(m->system, fresh, TAL_STAGE_POSITION), TAL_OK);
    const int rows = tal_state_pool_size(fresh, TAL_POOL_QERR);
    const double *errors = tal_state_qerr(fresh);
    const double *weights = tal_state_weights(fresh, TAL_POOL_QERR);
    double sum = 0.0;
    for (int i = 0; i < rows; ++i) {
        sum += weights[i] * errors[i] * weights[i] * errors[i];
    }
    return sqrt(sum / rows);
}

// From within 1e-6 to 3 of where it is assembled, in every coordinate. Feasible starts that are not
// assembled after 50 restarts are counted: they are reported, so they are not a wrong answer, but
// there are none.
static void shake_and_assemble(model (*make)(const tal_assembler_def *), uint64_t seed)
{
    model m = make(NULL);
    tal_state *fresh = NULL;
    ck_assert_int_eq(tal_state_create(m.system, &fresh, NULL), TAL_OK);
    const int nq = tal_state_nq(m.state);
    ck_assert_int_le(nq, MOST_Q);
    double home[MOST_Q], q[MOST_Q], again[MOST_Q];
    memcpy(home, tal_state_q(m.state), (size_t)nq * sizeof *home);
    test_rng rng = test_rng_seed(seed);
    int failures = 0;
    for (int k = 0; k < how_many(1000, 100000); ++k) {
        const double reach = pow(10.0, test_random_uniform(&rng, -6.0, 0.5));
        for (int i = 0; i < nq; ++i) {
            q[i] = home[i] + test_random_uniform(&rng, -reach, reach);
        }
        ck_assert_int_eq(tal_state_set_q(m.state, q, nq), TAL_OK);
        const tal_status st = tal_assembler_assemble(m.assembler, m.state, NULL);
        const double norm = error_norm(&m, fresh);
        ck_assert_msg((st == TAL_OK) == (norm <= 1e-10), "start %d: status %d, norm %g", k, st,
                      norm);
        failures += st != TAL_OK;
        if (st != TAL_OK) continue;
        memcpy(q, tal_state_q(m.state), (size_t)nq * sizeof *q);
        ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_OK);
        memcpy(again, tal_state_q(m.state), (size_t)nq * sizeof *q);
        ck_assert_mem_eq(q, again, (size_t)nq * sizeof *q);
    }
    ck_assert_int_eq(failures, 0);
    tal_state_destroy(fresh);
    end_model(&m);
}

START_TEST(what_is_called_assembled_is_and_stays_as_it_is)
{
    shake_and_assemble(open_four_bar, 901);
    shake_and_assemble(stewart, 902);
    shake_and_assemble(watt, 903);
    shake_and_assemble(peaucellier, 904);
    shake_and_assemble(seven_pins, 905);
}

END_TEST

// The first body is put 50 m away from where the rest can reach: something cannot be met, by
// meters.
static void take_apart(model (*make)(const tal_assembler_def *), uint64_t seed)
{
    tal_assembler_def def = tal_assembler_def_default();
    def.max_restarts = 1;
    def.max_iterations = 30;
    model m = make(&def);
    const tal_body_ix first = {1};
    const bool is_free = tal_body_nu(m.matter, first) == 6;
    tal_xform X_PF = tal_body_X_PF(m.matter, m.state, first);
    X_PF.p.x += 50.0;
    if (is_free) {
        set_leg(&m, 3, 50.0);
    } else {
        ck_assert_int_eq(tal_body_set_X_PF(m.matter, m.state, first, &X_PF), TAL_OK);
    }
    const int nq = tal_state_nq(m.state);
    double home[MOST_Q], q[MOST_Q];
    memcpy(home, tal_state_q(m.state), (size_t)nq * sizeof *home);
    test_rng rng = test_rng_seed(seed);
    for (int k = 0; k < how_many(30, 2000); ++k) {
        for (int i = 0; i < nq; ++i) {
            q[i] = home[i] + test_random_uniform(&rng, -1.0, 1.0);
        }
        ck_assert_int_eq(tal_state_set_q(m.state, q, nq), TAL_OK);
        tal_assembly found;
        ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found),
                         TAL_ERR_NO_CONVERGENCE);
        const char *name = tal_constraint_name(m.matter, found.worst);
        ck_assert(!found.assembled && found.worst_error > 1.0 && found.error <= found.error_before);
        ck_assert_ptr_nonnull(strstr(tal_assembler_error(m.assembler)->message, name));
    }
    end_model(&m);
}

START_TEST(what_cannot_be_assembled_is_named)
{
    take_apart(open_four_bar, 911);
    take_apart(stewart, 912);
    take_apart(watt, 913);
    take_apart(peaucellier, 914);
    take_apart(seven_pins, 915);
}

END_TEST

// D of Peaucellier's linkage goes on the line x = (3^2 - 1.8^2) / (2 QB) as the crank turns.
START_TEST(peaucelliers_linkage_draws_a_straight_line)
{
    model m = peaucellier(NULL);
    const tal_mobility crank = {{3}, 0};
    for (int k = -20; k <= 20; ++k) {
        ck_assert_int_eq(
            tal_mobility_lock_at(m.matter, m.state, crank, TAL_LEVEL_POSITION, 0.03 * k), TAL_OK);
        tal_assembly found;
        ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
        // D on bar AD, body 5: the third ball's first station
        int n = 0;
        const double *at = tal_constraint_params(m.matter, m.state, (tal_constraint_ix){2}, &n);
        const tal_vec3 p_AD = tal_v3(at[0], at[1], at[2]);
        const tal_vec3 p_GD = tal_station_p_GS(m.matter, m.state, (tal_body_ix){5}, p_AD);
        ck_assert_double_eq_tol(p_GD.x, 2.88, 1e-9);
    }
    end_model(&m);
}

END_TEST

// --- orientations that would also hold turned round ---

START_TEST(nothing_closes_the_wrong_way_round)
{
    test_rng rng = test_rng_seed(921);
    for (int is_weld = 0; is_weld < 2; ++is_weld) {
        model m = begin_model();
        const tal_mobod_def body = link_at(TAL_VEC3_ZERO);
        const tal_body_ix free_body = tal_matter_add_free(m.matter, TAL_GROUND, &body);
        const tal_xform X_1 = test_random_xform(&rng), X_2 = test_random_xform(&rng);
        const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, free_body);
        if (is_weld != 0) {
            (void)tal_constraint_add_weld(m.matter, &ends, &X_1, &X_2);
        } else {
            (void)tal_constraint_add_constant_orientation(m.matter, &ends, &X_1.R, &X_2.R);
        }
        finish_model(&m, NULL);
        for (int k = 0; k < how_many(200, 10000); ++k) {
            const tal_xform start = test_random_xform(&rng);
            ck_assert_int_eq(tal_body_fit_q(m.matter, m.state, free_body, &start), TAL_OK);
            ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_OK);
            const tal_mat3 R_GB = tal_body_X_GB(m.matter, m.state, free_body).R;
            test_assert_m3_near(tal_m3_mul(R_GB, X_2.R), X_1.R, 1e-9);
        }
        end_model(&m);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/assembler_mechanisms");
    TCase *tests = tcase_create("mechanisms");
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, a_slider_crank_closes_on_both_sides_all_the_way_round);
    tcase_add_test(tests, a_stewart_platform_goes_where_its_legs_put_it);
    tcase_add_test(tests, what_is_called_assembled_is_and_stays_as_it_is);
    tcase_add_test(tests, what_cannot_be_assembled_is_named);
    tcase_add_test(tests, peaucelliers_linkage_draws_a_straight_line);
    tcase_add_test(tests, nothing_closes_the_wrong_way_round);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
