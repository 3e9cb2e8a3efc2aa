// Goals at their least: whether a search says so when it is true, and only then, against minima
// that are found independently in long double.
#include "assembly_support.h"

#include <float.h>

// --- a planar chain of three pins with five markers, and its goal in long double ---

enum {
    LINKS = 3,
    MARKERS = 5
};

typedef struct chain {
    model m;
    tal_marker markers[MARKERS];
    tal_vec3 points[MARKERS];
} chain;

static const int owner_of[MARKERS] = {1, 1, 2, 3, 3};
static const tal_vec3 station_of[MARKERS] = {
    {0.7, 0.2, 0.0}, {0.3, -0.1, 0.0}, {0.9, 0.1, 0.0}, {1.0, 0.0, 0.0}, {0.4, 0.3, 0.0}};

static chain make_chain(const double weights[MARKERS], const tal_assembler_def *base)
{
    chain c = {.m = begin_model()};
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < LINKS; ++i) {
        const tal_mobod_def link = link_at(tal_v3(i == 0 ? 0.0 : 1.0, 0.0, 0.0));
        body = tal_matter_add_pin(c.m.matter, body, &link);
    }
    for (int k = 0; k < MARKERS; ++k) {
        c.markers[k] = (tal_marker){NULL, {owner_of[k]}, station_of[k], weights[k]};
    }
    tal_assembler_def def = *base;
    def.markers = c.markers;
    def.num_markers = MARKERS;
    finish_model(&c.m, &def);
    return c;
}

// Where a marker is, and the pins that carry it.
static void place(const long double q[], int k, long double p[2], long double pins[LINKS][2])
{
    long double angle = 0.0L, x = 0.0L, y = 0.0L;
    for (int j = 0; j < owner_of[k]; ++j) {
        pins[j][0] = x, pins[j][1] = y;
        angle += q[j];
        const bool is_own = j == owner_of[k] - 1;
        const long double a = is_own ? (long double)station_of[k].x : 1.0L;
        const long double b = is_own ? (long double)station_of[k].y : 0.0L;
        x += a * cosl(angle) - b * sinl(angle);
        y += a * sinl(angle) + b * cosl(angle);
    }
    p[0] = x, p[1] = y;
}

// Slopes of 1/2 sum w |r|^2; returns it.
static long double slopes(const chain *c, const long double q[], long double g[])
{
    long double goal = 0.0L;
    for (int j = 0; j < LINKS; ++j) {
        g[j] = 0.0L;
    }
    for (int k = 0; k < MARKERS; ++k) {
        long double p[2], pins[LINKS][2];
        place(q, k, p, pins);
        const long double w = (long double)c->markers[k].weight;
        const long double rx = p[0] - (long double)c->points[k].x;
        const long double ry = p[1] - (long double)c->points[k].y;
        goal += 0.5L * w *
                (rx * rx + ry * ry + (long double)c->points[k].z * (long double)c->points[k].z);
        for (int j = 0; j < owner_of[k]; ++j) {
            g[j] += w * (-(p[1] - pins[j][1]) * rx + (p[0] - pins[j][0]) * ry);
        }
    }
    return goal;
}

// Solves H x = g, and returns det H; for three unknowns, by Cramer's rule.
static long double solve3(long double H[3][3], const long double g[3], long double x[3])
{
    const long double det = H[0][0] * (H[1][1] * H[2][2] - H[1][2] * H[2][1]) -
                            H[0][1] * (H[1][0] * H[2][2] - H[1][2] * H[2][0]) +
                            H[0][2] * (H[1][0] * H[2][1] - H[1][1] * H[2][0]);
    for (int i = 0; i < 3; ++i) {
        long double A[3][3];
        for (int r = 0; r < 3; ++r) {
            for (int s = 0; s < 3; ++s) {
                A[r][s] = s == i ? g[r] : H[r][s];
            }
        }
        x[i] = (A[0][0] * (A[1][1] * A[2][2] - A[1][2] * A[2][1]) -
                A[0][1] * (A[1][0] * A[2][2] - A[1][2] * A[2][0]) +
                A[0][2] * (A[1][0] * A[2][1] - A[1][1] * A[2][0])) /
               det;
    }
    return det;
}

static void curvature(const chain *c, const long double q[], long double H[3][3])
{
    const long double h = 1e-6L; // leaves 1e-12
    for (int j = 0; j < LINKS; ++j) {
        long double at[LINKS], up[LINKS], down[LINKS];
        memcpy(at, q, sizeof at);
        at[j] = q[j] + h;
        (void)slopes(c, at, up);
        at[j] = q[j] - h;
        (void)slopes(c, at, down);
        for (int i = 0; i < LINKS; ++i) {
            H[i][j] = (up[i] - down[i]) / (2.0L * h);
        }
    }
}

// Newton's method with the whole curvature. A bound on the condition number of the minimum;
// negative when it is none.
static long double refine(const chain *c, long double q[])
{
    long double H[3][3], g[3], x[3], most = 0.0L, least = 0.0L;
    for (int k = 0; k < 50; ++k) {
        (void)slopes(c, q, g);
        curvature(c, q, H);
        (void)solve3(H, g, x);
        for (int j = 0; j < LINKS; ++j) {
            q[j] -= x[j];
        }
    }
    const long double det = solve3(H, g, x), two = H[0][0] * H[1][1] - H[0][1] * H[1][0];
    if (!(det > 0.0L && two > 0.0L && H[0][0] > 0.0L)) return -1.0L;
    for (int j = 0; j < LINKS; ++j) {
        const long double unit[] = {j == 0, j == 1, j == 2};
        (void)solve3(H, unit, x);
        most += H[j][j];
        least += x[j];
    }
    return most * least;
}

// A place to look at, random angles and points that are off by `noise`.
static void observe_chain(chain *c, test_rng *rng, double noise, double start[LINKS])
{
    long double q[LINKS];
    for (int j = 0; j < LINKS; ++j) {
        q[j] = (long double)test_random_uniform(rng, -2.0, 2.0);
        start[j] = (double)q[j] + test_random_uniform(rng, -0.5, 0.5);
    }
    for (int k = 0; k < MARKERS; ++k) {
        long double p[2], pins[LINKS][2];
        place(q, k, p, pins);
        const tal_vec3 off = tal_v3_scale(noise, test_random_vec3(rng));
        c->points[k] = tal_v3_add(off, tal_v3((double)p[0], (double)p[1], 0.0));
    }
    ck_assert_int_eq(tal_assembler_observe(c->m.assembler, c->points, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_set_q(c->m.state, start, LINKS), TAL_OK);
}

static void random_weights(test_rng *rng, double decades, double weights[MARKERS])
{
    for (int k = 0; k < MARKERS; ++k) {
        weights[k] = pow(10.0, test_random_uniform(rng, -decades, decades));
    }
}

// The minimum is as near as the accuracy, and as round-off lets it be: eps times the condition
// number and what the slopes are summed up from.
static void check_minimum(const chain *c, const tal_assembly *found, double accuracy)
{
    long double q[LINKS], g[LINKS], sum = 0.0L;
    for (int j = 0; j < LINKS; ++j) {
        q[j] = (long double)tal_state_q(c->m.state)[j];
    }
    const long double condition = refine(c, q);
    ck_assert_msg(condition > 0.0L, "this is not a minimum");
    for (int j = 0; j < LINKS; ++j) {
        const long double d = q[j] - (long double)tal_state_q(c->m.state)[j];
        sum += d * d;
    }
    const double off = (double)sqrtl(sum / LINKS);
    const double roundoff = 100.0 * DBL_EPSILON * (double)condition;
    ck_assert_msg(off <= accuracy + roundoff, "off by %g, accuracy %g, round-off %g", off, accuracy,
                  roundoff);
    const double least = (double)slopes(c, q, g);
    ck_assert_double_le(found->goal - least,
                        1e-12 * (1.0 + least) + 1e6 * accuracy * accuracy * least);
}

// Residuals from none to far larger than the chain, weights that differ by up to a million.
START_TEST(minima_are_found_as_accurately_as_asked_for)
{
    const double noises[] = {0.0, 0.01, 0.3, 2.0}, accuracies[] = {1e-4, 1e-8, 1e-12};
    test_rng rng = test_rng_seed(1501);
    for (int trial = 0; trial < 240; ++trial) {
        double weights[MARKERS], start[LINKS];
        tal_assembler_def def = tal_assembler_def_default();
        def.accuracy = accuracies[trial % 3];
        random_weights(&rng, trial % 5 * 0.75, weights);
        chain c = make_chain(weights, &def);
        observe_chain(&c, &rng, noises[trial / 3 % 4], start);
        tal_assembly found;
        const tal_status st = tal_assembler_assemble(c.m.assembler, c.m.state, &found);
        ck_assert_msg(st == TAL_OK, "%d: %s", trial, tal_assembler_error(c.m.assembler)->message);
        ck_assert(found.converged);
        check_minimum(&c, &found, def.accuracy);
        end_model(&c.m);
    }
}

END_TEST

// --- too few iterations ---

static chain far_chain(int max_iterations, uint64_t seed)
{
    const double weights[MARKERS] = {1.0, 2.0, 0.5, 1.0, 3.0};
    tal_assembler_def def = tal_assembler_def_default();
    def.max_iterations = max_iterations;
    chain c = make_chain(weights, &def);
    test_rng rng = test_rng_seed(seed);
    double start[LINKS];
    observe_chain(&c, &rng, 0.5, start);
    return c;
}

// With any number of iterations below the least that is enough, the status says so, the State is
// better than it was, and what is left is told. From that number on, all answers are the same, bit
// for bit.
START_TEST(one_iteration_too_few_is_told)
{
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        double q[LINKS];
        int enough = 0;
        for (int allowed = 1; allowed <= 60; ++allowed) {
            chain c = far_chain(allowed, 1510 + seed);
            tal_assembly found;
            const tal_status st = tal_assembler_assemble(c.m.assembler, c.m.state, &found);
            const char *message = tal_assembler_error(c.m.assembler)->message;
            ck_assert(found.assembled && found.converged == (st == TAL_OK));
            if (st == TAL_OK) {
                if (enough == 0) memcpy(q, tal_state_q(c.m.state), sizeof q);
                if (enough == 0) enough = allowed;
                ck_assert_mem_eq(q, tal_state_q(c.m.state), sizeof q);
            } else {
                ck_assert_int_eq(enough, 0);
                ck_assert_int_eq(st, TAL_ERR_NO_CONVERGENCE);
                ck_assert_msg(strstr(message, "not minimal") != NULL, "%s", message);
                ck_assert_msg(strstr(message, "max_iterations") != NULL, "%s", message);
                ck_assert_double_gt(found.step, 0.0);
                ck_assert_double_le(found.goal, found.goal_before);
                ck_assert_int_eq(tal_state_stage(c.m.state), TAL_STAGE_POSITION);
            }
            end_model(&c.m);
        }
        ck_assert_int_gt(enough, 3);
    }
}

END_TEST

// The same where constraints alone are to be met: a four-bar that is far from closed.
START_TEST(one_iteration_too_few_to_close_is_told)
{
    int enough = 0;
    for (int allowed = 1; allowed <= 20; ++allowed) {
        tal_assembler_def def = tal_assembler_def_default();
        def.max_iterations = allowed;
        def.max_restarts = 0;
        model m = four_bar(&def);
        set_q(&m, CRANK, 0.5);
        set_q(&m, COUPLER, 1.0);
        set_q(&m, ROCKER, 1.0);
        tal_assembly found;
        const tal_status st = tal_assembler_assemble(m.assembler, m.state, &found);
        ck_assert_int_eq(st, found.assembled ? TAL_OK : TAL_ERR_NO_CONVERGENCE);
        if (st == TAL_OK) {
            if (enough == 0) enough = allowed;
            ck_assert(found.converged);
            ck_assert_double_le(found.error, 1e-10);
        }
        ck_assert(enough == 0 || st == TAL_OK);
        end_model(&m);
    }
    ck_assert(enough > 1 && enough < 20);
}

END_TEST

// --- goals whose slopes are wrong ---

static tal_status calc_misled(const void *self, const tal_system *system, tal_state *state,
                              double r[], const tal_matrix *J)
{
    (void)self, (void)system;
    r[0] = tal_state_q(state)[0] - 2.0;
    if (J != NULL) J->data[0] = -1.0; // the wrong sign
    return TAL_OK;
}

START_TEST(a_jacobian_with_the_wrong_sign_is_no_success)
{
    const tal_goal misled = {"misled", 1, 1.0, NULL, calc_misled};
    model m = begin_model();
    const tal_mobod_def slide = link_at(TAL_VEC3_ZERO);
    (void)tal_matter_add_slider(m.matter, TAL_GROUND, &slide);
    tal_assembler_def def = tal_assembler_def_default();
    def.goals = &misled;
    def.num_goals = 1;
    finish_model(&m, &def);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_ERR_NO_CONVERGENCE);
    ck_assert(found.assembled && !found.converged);
    ck_assert_ptr_nonnull(strstr(tal_assembler_error(m.assembler)->message, "Jacobians"));
    end_model(&m);
}

END_TEST

// --- constraints, redundant ones, and a minimum in closed form ---

static double four_bar_goal(double crank, double side, const tal_vec3 points[2])
{
    double coupler = 0.0, rocker = 0.0;
    closed_form(crank, side, &coupler, &rocker);
    const double a = crank + coupler; // of the coupler
    const double x = CRANK_LENGTH * cos(crank) + 1.5 * cos(a) - sin(a) - points[0].x;
    const double y = CRANK_LENGTH * sin(crank) + 1.5 * sin(a) + cos(a) - points[0].y;
    const double u = BASE + cos(rocker) - points[1].x, v = sin(rocker) - points[1].y;
    return 0.5 * (x * x + y * y) + 0.5 * 0.5 * (u * u + v * v);
}

// The slope, from differences that are extrapolated: 1e-11.
static double four_bar_slope(double crank, double side, const tal_vec3 points[2])
{
    double D[3];
    for (int k = 0; k < 3; ++k) {
        const double h = ldexp(0.01, -k);
        D[k] = (four_bar_goal(crank + h, side, points) - four_bar_goal(crank - h, side, points)) /
               (2.0 * h);
    }
    const double a = D[1] + (D[1] - D[0]) / 3.0, b = D[2] + (D[2] - D[1]) / 3.0;
    return b + (b - a) / 15.0;
}

// Markers on a four-bar, far out of reach: residuals of meters, and constraint forces that bend
// more than the goals do. Closed once, and by the same ball twice more. The slope along the only
// way there is vanishes.
START_TEST(minima_on_constraints_are_stationary_however_redundant_these_are)
{
    const tal_marker markers[] = {{NULL, {COUPLER}, {1.5, 1.0, 0.0}, 1.0},
                                  {NULL, {ROCKER}, {1.0, 0.0, 0.0}, 0.5}};
    for (int copies = 0; copies < 3; ++copies) {
        model m = begin_model();
        tal_mobod_def link = link_at(tal_v3(0.0, 0.0, 0.0));
        const tal_body_ix crank = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
        link = link_at(tal_v3(CRANK_LENGTH, 0.0, 0.0));
        const tal_body_ix coupler = tal_matter_add_pin(m.matter, crank, &link);
        link = link_at(tal_v3(BASE, 0.0, 0.0));
        const tal_body_ix rocker = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
        for (int k = 0; k <= copies; ++k) {
            const tal_constraint_def ends = tal_constraint_between(coupler, rocker);
            (void)tal_constraint_add_ball(m.matter, &ends, tal_v3(COUPLER_LENGTH, 0.0, 0.0),
                                          tal_v3(ROCKER_LENGTH, 0.0, 0.0));
        }
        tal_assembler_def def = tal_assembler_def_default();
        def.markers = markers;
        def.num_markers = 2;
        def.accuracy = 1e-11;
        finish_model(&m, &def);
        test_rng rng = test_rng_seed(1531);
        for (int trial = 0; trial < 60; ++trial) {
            const double at = test_random_uniform(&rng, -TAL_PI, TAL_PI),
                         side = trial % 2 == 0 ? 1.0 : -1.0;
            double q[3] = {at, 0.0, 0.0};
            closed_form(at, side, &q[1], &q[2]);
            ck_assert_int_eq(tal_state_set_q(m.state, q, 3), TAL_OK);
            tal_vec3 points[2];
            for (int i = 0; i < 2; ++i) {
                points[i] = tal_v3_scale(4.0, test_random_vec3(&rng));
            }
            ck_assert_int_eq(tal_assembler_observe(m.assembler, points, NULL), TAL_OK);
            tal_assembly found;
            const tal_status st = tal_assembler_assemble(m.assembler, m.state, &found);
            ck_assert_msg(st == TAL_OK, "%d: %s", trial, tal_assembler_error(m.assembler)->message);
            ck_assert_double_le(found.error, 1e-10);
            // curvatures are some tens: 1e-10 is what the accuracy, the tolerance and the
            // differences leave
            double q1 = 0.0, q2 = 0.0; // a long step may have led to the other branch
            closed_form(q_of(&m, CRANK), 1.0, &q1, &q2);
            const double branch = angle_between(q2, q_of(&m, ROCKER)) < 1e-6 ? 1.0 : -1.0;
            ck_assert_double_lt(fabs(four_bar_slope(q_of(&m, CRANK), branch, points)), 1e-8);
        }
        end_model(&m);
    }
}

END_TEST

// --- ranges ---

// An arm of two links with an elbow that bends from 0.4 on, and a hand that should be farther out
// than it can go: it points at the target with the elbow at the end of its range. The hand is at
// hypot(1 + cos 0.4, sin 0.4) from the shoulder, and atan2(sin 0.4, 1 + cos 0.4) = 0.2 ahead of the
// upper arm.
START_TEST(a_minimum_at_the_end_of_a_range_is_found_as_accurately)
{
    model m = begin_model();
    tal_mobod_def link = link_at(TAL_VEC3_ZERO);
    const tal_body_ix upper = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
    link = link_at(tal_v3(1.0, 0.0, 0.0));
    const tal_body_ix lower = tal_matter_add_pin(m.matter, upper, &link);
    ck_assert_int_eq(tal_body_limit_coordinate(m.matter, lower, 0, 0.4, 2.5), TAL_OK);
    const tal_marker hand = {NULL, lower, {1.0, 0.0, 0.0}, 1.0};
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = &hand;
    def.num_markers = 1;
    def.accuracy = 1e-12;
    finish_model(&m, &def);
    test_rng rng = test_rng_seed(1541);
    for (int trial = 0; trial < 50; ++trial) {
        const double bearing = test_random_uniform(&rng, -1.5, 1.5);
        const double reach = test_random_uniform(&rng, 2.1, 10.0);
        const tal_vec3 target = {reach * cos(bearing), reach * sin(bearing), 0.0};
        ck_assert_int_eq(tal_assembler_observe(m.assembler, &target, NULL), TAL_OK);
        set_q(&m, 1, bearing + test_random_uniform(&rng, -1.0, 1.0));
        set_q(&m, 2, test_random_uniform(&rng, 0.4, 2.5));
        const tal_status st = tal_assembler_assemble(m.assembler, m.state, NULL);
        ck_assert_msg(st == TAL_OK, "%s", tal_assembler_error(m.assembler)->message);
        ck_assert_double_eq(q_of(&m, 2), 0.4);
        ck_assert_double_lt(angle_between(q_of(&m, 1), bearing - 0.2), 1e-11);
    }
    end_model(&m);
}

END_TEST

// --- singular poses ---

// Without a range the arm stretches out towards what it cannot reach: there the elbow changes
// nothing to first order, and its full step, made of slope over square, is far too long. Within
// reach but nearly stretched it is met.
START_TEST(an_arm_stretches_out_towards_what_it_cannot_reach)
{
    model m = begin_model();
    tal_mobod_def link = link_at(TAL_VEC3_ZERO);
    const tal_body_ix upper = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
    link = link_at(tal_v3(1.0, 0.0, 0.0));
    const tal_body_ix lower = tal_matter_add_pin(m.matter, upper, &link);
    const tal_marker hand = {NULL, lower, {1.0, 0.0, 0.0}, 1.0};
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = &hand;
    def.num_markers = 1;
    finish_model(&m, &def);
    const double reaches[] = {1.9, 1.9999, 2.0 - 1e-8, 2.0 + 1e-3, 2.5, 20.0};
    for (int k = 0; k < 6; ++k) {
        const tal_vec3 target = {reaches[k], 0.0, 0.0};
        ck_assert_int_eq(tal_assembler_observe(m.assembler, &target, NULL), TAL_OK);
        set_q(&m, 1, -0.7);
        set_q(&m, 2, 1.1);
        tal_assembly found;
        const tal_status st = tal_assembler_assemble(m.assembler, m.state, &found);
        ck_assert_msg(st == TAL_OK, "%g: %s", reaches[k],
                      tal_assembler_error(m.assembler)->message);
        const double missing = fmax(reaches[k] - 2.0, 0.0);
        ck_assert_double_eq_tol(found.marker_max, missing, 1e-8);
        if (missing == 0.0) continue;
        // the goal bends with the reach along both links together, and with what is missing along
        // the elbow
        ck_assert_double_lt(angle_between(q_of(&m, 1), 0.0), 1e-6);
        ck_assert_double_lt(angle_between(q_of(&m, 2), 0.0), 1e-6);
    }
    end_model(&m);
}

END_TEST

// --- quaternions and angles ---

// A ball, by quaternion and by angles, fits markers that no turn fits; and stays close to where it
// was, by a weight. To be close is measured from the start, so that both find the same turn.
static tal_mat3 fit_ball(bool use_angles, double stay_close, uint64_t seed)
{
    model m = begin_model();
    tal_mobod_def def = link_at(TAL_VEC3_ZERO);
    def.use_angles = use_angles;
    const tal_body_ix ball = tal_matter_add_ball(m.matter, TAL_GROUND, &def);
    const tal_marker markers[] = {{NULL, ball, {1.0, 0.0, 0.0}, 1.0},
                                  {NULL, ball, {0.0, 2.0, 0.0}, 3.0},
                                  {NULL, ball, {0.3, 0.0, 0.5}, 0.1}};
    tal_assembler_def goals = tal_assembler_def_default();
    goals.markers = markers;
    goals.num_markers = 3;
    goals.accuracy = 1e-12;
    goals.stay_close = stay_close;
    finish_model(&m, &goals);
    test_rng rng = test_rng_seed(seed);
    tal_vec3 points[3];
    for (int k = 0; k < 3; ++k) {
        points[k] = tal_v3_add(markers[k].p_BS, tal_v3_scale(0.8, test_random_vec3(&rng)));
    }
    ck_assert_int_eq(tal_assembler_observe(m.assembler, points, NULL), TAL_OK);
    const tal_status st = tal_assembler_assemble(m.assembler, m.state, NULL);
    ck_assert_msg(st == TAL_OK, "%s", tal_assembler_error(m.assembler)->message);
    const tal_mat3 R = tal_body_X_GB(m.matter, m.state, ball).R;
    end_model(&m);
    return R;
}

START_TEST(quaternions_and_angles_find_the_same_turn)
{
    for (uint64_t seed = 1551; seed < 1571; ++seed) {
        const tal_mat3 a = fit_ball(false, 0.0, seed), b = fit_ball(true, 0.0, seed);
        test_assert_near(&a.x.x, &b.x.x, 9, 1e-11, "R");
    }
}

END_TEST

// The slopes of staying close are those of what is added up, wherever that is: it has a minimum,
// and the search ends there, with a quaternion and with angles.
START_TEST(staying_close_has_a_minimum_to_be_found)
{
    for (uint64_t seed = 1571; seed < 1581; ++seed) {
        (void)fit_ball(false, 0.7, seed);
        (void)fit_ball(true, 0.7, seed);
    }
}

END_TEST

// --- soft constraints of several rows ---

// Three bodies that shift along x, y and z. The first is held by a hard ball, and its rows come
// first. Soft balls pull the second and the third to points of Ground, rows 3 to 8, and markers
// pull elsewhere: weights decide, in every direction.
START_TEST(every_row_of_a_soft_constraint_counts_by_its_own_weight)
{
    model m = begin_model();
    const tal_mobod_def def = link_at(TAL_VEC3_ZERO);
    const tal_vec3 wanted[] = {{1.0, -2.0, 3.0}, {0.5, 0.7, -0.9}, {-4.0, 2.0, 0.25}};
    const tal_vec3 seen[] = {{2.0, 2.0, 2.0}, {-1.0, 5.0, 0.3}};
    const double soft_weights[] = {2.0, 0.3}, marker_weights[] = {1.0, 5.0};
    tal_body_ix bodies[3];
    tal_soft_constraint soft[2];
    tal_marker markers[2];
    for (int b = 0; b < 3; ++b) {
        bodies[b] = tal_matter_add_translation(m.matter, TAL_GROUND, &def);
        const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, bodies[b]);
        const tal_constraint_ix ball =
            tal_constraint_add_ball(m.matter, &ends, wanted[b], TAL_VEC3_ZERO);
        if (b == 0) continue;
        soft[b - 1] = (tal_soft_constraint){ball, soft_weights[b - 1]};
        markers[b - 1] = (tal_marker){NULL, bodies[b], TAL_VEC3_ZERO, marker_weights[b - 1]};
    }
    tal_assembler_def goals = tal_assembler_def_default();
    goals.soft = soft;
    goals.num_soft = 2;
    goals.markers = markers;
    goals.num_markers = 2;
    finish_model(&m, &goals);
    ck_assert_int_eq(tal_assembler_observe(m.assembler, seen, NULL), TAL_OK);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
    double goal = 0.0;
    for (int b = 0; b < 3; ++b) {
        const double w = b > 0 ? soft_weights[b - 1] : 1.0, v = b > 0 ? marker_weights[b - 1] : 0.0;
        const tal_vec3 other = b > 0 ? seen[b - 1] : TAL_VEC3_ZERO;
        const tal_vec3 mean = tal_v3_scale(
            1.0 / (w + v), tal_v3_add(tal_v3_scale(w, wanted[b]), tal_v3_scale(v, other)));
        const tal_vec3 p = tal_body_X_GB(m.matter, m.state, bodies[b]).p;
        test_assert_near(&p.x, &mean.x, 3, 1e-12, "place");
        const tal_vec3 a = tal_v3_sub(mean, wanted[b]), d = tal_v3_sub(mean, other);
        goal += 0.5 * w * tal_v3_dot(a, a) + 0.5 * v * tal_v3_dot(d, d);
    }
    ck_assert_double_eq_tol(found.goal, goal, 1e-12 * goal);
    end_model(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/assembler_convergence");
    TCase *tests = tcase_create("convergence");
    tcase_add_test(tests, minima_are_found_as_accurately_as_asked_for);
    tcase_add_test(tests, one_iteration_too_few_is_told);
    tcase_add_test(tests, one_iteration_too_few_to_close_is_told);
    tcase_add_test(tests, a_jacobian_with_the_wrong_sign_is_no_success);
    tcase_add_test(tests, minima_on_constraints_are_stationary_however_redundant_these_are);
    tcase_add_test(tests, a_minimum_at_the_end_of_a_range_is_found_as_accurately);
    tcase_add_test(tests, an_arm_stretches_out_towards_what_it_cannot_reach);
    tcase_add_test(tests, quaternions_and_angles_find_the_same_turn);
    tcase_add_test(tests, staying_close_has_a_minimum_to_be_found);
    tcase_add_test(tests, every_row_of_a_soft_constraint_counts_by_its_own_weight);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
