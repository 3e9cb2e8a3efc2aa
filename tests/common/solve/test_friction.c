// common/src/solve/friction*.c: contacts with Coulomb friction.
#include "alloc_guard.h"
#include "dense_test.h"
#include "solve/friction_internal.h"
#include "talus_test.h"

#include <stdlib.h>

enum {
    MAX_CONTACTS = 8,
    MAX = 3 * MAX_CONTACTS + 4
};

typedef struct friction_case {
    int n, num_contacts;
    test_dense A;
    double b[MAX], pi[MAX], a[MAX];
    tal_friction_contact contacts[MAX_CONTACTS];
    tal_friction_mode modes[MAX_CONTACTS];
    bool guess;
    tal_friction_report report;
    tal_error err;
} friction_case;

static tal_status solve(friction_case *c)
{
    static double work[200000];
    static int iwork[4000];
    ck_assert_uint_le(tal_friction_work_size(c->n, c->num_contacts), 200000);
    ck_assert_uint_le(tal_friction_iwork_size(c->n, c->num_contacts), 4000);
    const tal_friction_problem problem = {test_view(&c->A), c->b, c->contacts, c->num_contacts,
                                          c->guess};
    tal_status st;
    test_assert_no_heap(
        st = tal_friction_solve(&problem, c->pi, c->a, c->modes, work, iwork, &c->report, &c->err));
    return st;
}

// --- a block on the floor ---

// One free body: accelerations (alpha, a) = M^-1 (moment, force), M diagonal, about the mass
// center. Each contact has rows z, x, y at its point.
typedef struct block {
    double inverse[6]; // of M: moments of inertia, mass
    double f[6];       // what acts besides contacts
    double point[MAX_CONTACTS][3];
    int num_points;
    double mu_static, mu_sliding;
} block;

// Half sides .5, .3, .2 and mass 2: corners ++, +-, -+, -- of its lower face; gravity 9.81.
static block block_on_floor(double mu_static, double mu_sliding)
{
    const double m = 2.0, x = 0.5, y = 0.3, z = 0.2;
    block k = {.inverse = {3 / (m * (y * y + z * z)), 3 / (m * (x * x + z * z)),
                           3 / (m * (x * x + y * y)), 1 / m, 1 / m, 1 / m},
               .f = {0, 0, 0, 0, 0, -9.81 * m},
               .num_points = 4,
               .mu_static = mu_static,
               .mu_sliding = mu_sliding};
    for (int i = 0; i < 4; ++i) {
        k.point[i][0] = i < 2 ? x : -x;
        k.point[i][1] = i % 2 == 0 ? y : -y;
        k.point[i][2] = -z;
    }
    return k;
}

static void push(block *k, tal_vec3 force, tal_vec3 at)
{
    const tal_vec3 moment = tal_v3_cross(at, force);
    const double all[6] = {moment.x, moment.y, moment.z, force.x, force.y, force.z};
    for (int i = 0; i < 6; ++i) {
        k->f[i] += all[i];
    }
}

// Row `axis` of the acceleration of a point: e . (a + alpha x r).
static void jacobian_row(const double r[3], int axis, double J[6])
{
    const tal_vec3 e = tal_v3(axis == 0, axis == 1, axis == 2);
    const tal_vec3 turn = tal_v3_cross(tal_v3(r[0], r[1], r[2]), e);
    const double row[6] = {turn.x, turn.y, turn.z, e.x, e.y, e.z};
    memcpy(J, row, sizeof row);
}

static void jacobian(const block *k, int row, double J[6])
{
    static const int axis_of[3] = {2, 0, 1};
    jacobian_row(k->point[row / 3], axis_of[row % 3], J);
}

static friction_case case_of(const block *k)
{
    const int n = 3 * k->num_points;
    friction_case c = {.n = n, .num_contacts = k->num_points, .A = {{0.0}, n, n}};
    for (int i = 0; i < n; ++i) {
        double Ji[6], Jj[6];
        jacobian(k, i, Ji);
        for (int e = 0; e < 6; ++e) {
            c.b[i] += Ji[e] * k->inverse[e] * k->f[e];
        }
        for (int j = 0; j < n; ++j) {
            jacobian(k, j, Jj);
            for (int e = 0; e < 6; ++e) {
                c.A.data[i + j * n] += Ji[e] * k->inverse[e] * Jj[e];
            }
        }
    }
    for (int p = 0; p < k->num_points; ++p) {
        c.contacts[p] = (tal_friction_contact){.normal = 3 * p,
                                               .tangent = 3 * p + 1,
                                               .num_tangents = 2,
                                               .static_mu = k->mu_static,
                                               .sliding_mu = k->mu_sliding};
    }
    return c;
}

// Accelerations of the body under the forces that were found.
static void body_acceleration(const block *k, const friction_case *c, double udot[6])
{
    for (int e = 0; e < 6; ++e) {
        udot[e] = k->f[e];
    }
    for (int i = 0; i < c->n; ++i) {
        double J[6];
        jacobian(k, i, J);
        for (int e = 0; e < 6; ++e) {
            udot[e] += J[e] * c->pi[i];
        }
    }
    for (int e = 0; e < 6; ++e) {
        udot[e] *= k->inverse[e];
    }
}

// Numbers printed with `digits` decimals agree to half a unit of the last.
static void assert_block(const block *k, const double expected[6], double tolerance)
{
    friction_case c = case_of(k);
    ck_assert_msg(solve(&c) == TAL_OK, "%s", c.err.message);
    double udot[6];
    body_acceleration(k, &c, udot);
    test_assert_near(udot, expected, 6, tolerance, "accelerations of the block");
}

static const tal_vec3 base = {0.0, 0.0, -0.2};

// Sharing is right to 1e-10 of the largest force that acts, 19.62 N (friction.c, stiffen).
START_TEST(a_block_at_rest_shares_its_weight)
{
    block k = block_on_floor(0.5, 0.5);
    friction_case c = case_of(&k);
    ck_assert_int_eq(solve(&c), TAL_OK);
    for (int p = 0; p < 4; ++p) {
        ck_assert_double_le(fabs(c.pi[3 * p] - 9.81 * 2.0 / 4), 1e-10 * 19.62);
        ck_assert_int_eq(c.modes[p], TAL_FRICTION_STICK);
    }
    ck_assert(c.report.shared);
}

// Below mu m g = 9.81 N it sticks; above it the rest accelerates 2 kg, in any direction.
START_TEST(a_pushed_block_sticks_or_slips)
{
    block k = block_on_floor(0.5, 0.5);
    push(&k, tal_v3(9.0, 0.0, 0.0), base);
    assert_block(&k, (const double[6]){0}, 1e-10);
    k = block_on_floor(0.5, 0.5);
    push(&k, tal_v3(12.0, 0.0, 0.0), base);
    assert_block(&k, (const double[]){0, 0, 0, 1.095, 0, 0}, 1e-10);
    k = block_on_floor(0.5, 0.5);
    push(&k, tal_v3(12.0 * cos(TAL_PI / 6), 6.0, 0.0), base);
    assert_block(&k, (const double[]){0, 0, 0, 1.095 * cos(TAL_PI / 6), 0.5475, 0}, 1e-10);
    k = block_on_floor(0.6, 0.4);
    push(&k, tal_v3(13.0, 0.0, 0.0), base);
    assert_block(&k, (const double[]){0, 0, 0, 2.576, 0, 0}, 1e-10);
}

// Friction at the base turns it forward: the front pair carries 5.886 N each, the rear 3.924 N.
START_TEST(a_sliding_block_leans_forward)
{
    block k = block_on_floor(0.5, 0.5);
    friction_case c = case_of(&k);
    for (int p = 0; p < 4; ++p) {
        c.contacts[p].slides = true;
        c.contacts[p].direction[0] = 1.0;
    }
    ck_assert_int_eq(solve(&c), TAL_OK);
    double udot[6];
    body_acceleration(&k, &c, udot);
    test_assert_near(udot, (const double[]){0, 0, 0, -4.905, 0, 0}, 6, 1e-10, "accelerations");
    static const double expected[4] = {5.886, 5.886, 3.924, 3.924};
    for (int p = 0; p < 4; ++p) {
        ck_assert_double_le(fabs(c.pi[3 * p] - expected[p]), 1e-9);
        ck_assert_int_eq(c.modes[p], TAL_FRICTION_SLIDE);
    }
}

// Spinning about the vertical: 4 (mu m g / 4) sqrt(x^2 + y^2) / I.
START_TEST(a_spinning_block_slows_down)
{
    block k = block_on_floor(0.5, 0.5);
    friction_case c = case_of(&k);
    for (int p = 0; p < 4; ++p) {
        const double x = k.point[p][0], y = k.point[p][1];
        c.contacts[p].slides = true;
        c.contacts[p].direction[0] = -y / hypot(x, y);
        c.contacts[p].direction[1] = x / hypot(x, y);
    }
    ck_assert_int_eq(solve(&c), TAL_OK);
    double udot[6];
    body_acceleration(&k, &c, udot);
    const double alpha = -9.81 * sqrt(0.34) * k.inverse[2];
    test_assert_near(udot, (const double[]){0, 0, alpha, 0, 0, 0}, 6, 1e-9, "accelerations");
}

// Pushed with 45 N at its top, with mu = 5: it tips about its front edge. The numbers are those of
// an independent prototype, to their last digit.
START_TEST(a_block_tips)
{
    block k = block_on_floor(5.0, 5.0);
    push(&k, tal_v3(45.0, 0.0, 0.0), tal_v3(0.0, 0.0, 0.2));
    assert_block(&k, (const double[]){0, 10.5905172, 0, 2.1181034, 0, 5.2952586}, 1e-7);
}

// Here accelerations depend on how forces are shared: the limit of an equal tiny compliance. The
// numbers are those of an independent prototype.
START_TEST(a_twisted_block_moves_as_equal_compliance_says)
{
    block k = block_on_floor(0.3, 0.3);
    push(&k, tal_v3(0.0, 8.0, 0.0), tal_v3(0.5, 0.0, -0.2));
    friction_case c = case_of(&k);
    ck_assert_int_eq(solve(&c), TAL_OK);
    ck_assert(c.report.shared);
    double udot[6];
    body_acceleration(&k, &c, udot);
    test_assert_near(udot, (const double[]){0, 0, 5.7662014, -0.2829351, 2.7198671, 0}, 6, 1e-6,
                     "accelerations");
    static const double N[4] = {4.054965, 5.868209, 3.941791, 5.755035};
    for (int p = 0; p < 4; ++p) {
        ck_assert_double_le(fabs(c.pi[3 * p] - N[p]), 1e-5);
    }
}

// --- a block on a slope, and Painleve's rod ---

// g (sin 30 - mu cos 30) where mu is below tan 30 = 0.577; nothing above it.
START_TEST(a_block_on_a_slope)
{
    for (int i = 0; i < 2; ++i) {
        const double mu = i == 0 ? 0.57 : 0.58;
        block k = block_on_floor(mu, mu);
        k.f[5] = -9.81 * 2.0 * cos(TAL_PI / 6);
        push(&k, tal_v3(9.81 * 2.0 * 0.5, 0.0, 0.0), tal_v3(0.0, 0.0, 0.0));
        const double a = i == 0 ? 9.81 * (0.5 - mu * cos(TAL_PI / 6)) : 0.0;
        assert_block(&k, (const double[]){0, 0, 0, a, 0, 0}, 1e-10);
    }
}

// One sliding contact: a_N = a0 + k pi_N with k = A_NN - mu A_NT. m = 1, length 1, at 60 degrees.
static friction_case painleve(double mu, double angle, double omega)
{
    const double x = -cos(angle) / 2, y = -sin(angle) / 2, I = 1.0 / 12;
    const double N[3] = {x / I, 0, 1}, T[3] = {-y / I, 1, 0}; // M^-1 J^T: (alpha, ax, ay)
    friction_case c = {.n = 2, .num_contacts = 1, .A = {{0.0}, 2, 2}};
    c.A.data[0] = x * N[0] + 1.0;
    c.A.data[1] = c.A.data[2] = -y * N[0];
    c.A.data[3] = -y * T[0] + 1.0;
    c.b[0] = -9.81 - y * omega * omega;
    c.contacts[0] = (tal_friction_contact){.normal = 0,
                                           .tangent = 1,
                                           .num_tangents = 1,
                                           .static_mu = mu,
                                           .sliding_mu = mu,
                                           .slides = true,
                                           .direction = {-1.0}};
    return c;
}

START_TEST(painleves_rod_jams_separates_or_slides)
{
    friction_case c = painleve(2.0, TAL_PI / 3, 0.0);
    const double k = c.A.data[0] - 2.0 * fabs(c.A.data[1]);
    ck_assert_double_le(fabs(k + 0.848076), 1e-6);
    ck_assert_int_eq(solve(&c), TAL_ERR_INFEASIBLE);
    c = painleve(2.0, TAL_PI / 3, 5.0); // a0 > 0: it leaves the ground
    ck_assert_double_le(fabs(c.b[0] - 1.015318), 1e-6);
    ck_assert_int_eq(solve(&c), TAL_OK);
    ck_assert_int_eq(c.modes[0], TAL_FRICTION_OFF);
    c = painleve(1.3, 63.0 * TAL_PI / 180.0, 0.0);
    ck_assert_int_eq(solve(&c), TAL_OK);
    ck_assert_double_le(fabs(c.pi[0] - 240.8013), 1e-3);
}

// --- random blocks ---

// A body of any shape with 1 to 8 contacts on a floor, some of them twice, pushed at random, with
// or without a bilateral row.
static block random_block(tal_random *rng)
{
    block k = {.num_points = 1 + (int)(tal_random_uniform(rng) * MAX_CONTACTS)};
    k.mu_sliding = 1.5 * tal_random_uniform(rng);
    k.mu_static = k.mu_sliding; // one limit, so that the answer is unique as it can be
    for (int e = 0; e < 6; ++e) {
        k.inverse[e] = e < 3 ? 1.0 / (0.05 + tal_random_uniform(rng)) : 1.0;
        k.f[e] = 2.0 * tal_random_normal(rng);
    }
    k.inverse[4] = k.inverse[5] = k.inverse[3] = 0.3 + tal_random_uniform(rng);
    k.f[5] -= 10.0;
    for (int p = 0; p < k.num_points; ++p) {
        const bool copied = p > 0 && tal_random_uniform(rng) < 0.2;
        for (int i = 0; i < 3; ++i) {
            const double value = i == 2 ? -0.5 : 2.0 * tal_random_uniform(rng) - 1.0;
            k.point[p][i] = copied ? k.point[p - 1][i] : value;
        }
    }
    return k;
}

// Power of friction is never positive, contacts only push, cones hold: from the answer alone.
static void assert_coulomb(const friction_case *c)
{
    const double force = test_largest(c->pi, c->n) + 1e-300, a = test_largest(c->b, c->n);
    for (int p = 0; p < c->num_contacts; ++p) {
        const double *pi = c->pi + 3 * p, *acc = c->a + 3 * p;
        ck_assert_double_ge(pi[0], -1e-8 * force);
        ck_assert_double_ge(acc[0], -1e-8 * a);
        ck_assert_double_le(fmin(pi[0] / force, acc[0] / a), 1e-8);
        const double friction = hypot(pi[1], pi[2]), r = c->contacts[p].static_mu * pi[0];
        const double slip = hypot(acc[1], acc[2]);
        ck_assert_double_le(friction, r + 1e-8 * force);
        if (pi[0] <= 1e-8 * force || slip <= 1e-7 * a) continue;
        ck_assert_double_le(fabs(pi[1] * acc[1] + pi[2] * acc[2] + r * slip), 1e-7 * force * a);
    }
}

START_TEST(random_blocks_are_solved)
{
    const int count = getenv("TALUS_SOAK") != NULL ? 100000 : 500;
    int unsolved = 0, unshared = 0;
    for (int i = 0; i < count; ++i) {
        tal_random rng = {(uint64_t)i, 31, 0};
        const block k = random_block(&rng);
        friction_case c = case_of(&k);
        const tal_status st = solve(&c);
        unsolved += st != TAL_OK;
        if (st != TAL_OK) continue;
        unshared += !c.report.shared;
        assert_coulomb(&c);
    }
    // Two of 100000 have contacts almost in a line, whose forces have no limit that can be
    // followed: their answers are checked, and say that sharing was arbitrary.
    ck_assert_msg(unsolved == 0 && unshared <= count / 20000, "%d of %d unsolved, %d not shared",
                  unsolved, count, unshared);
}

// The same blocks in other units, and with moments of inertia and masses of ratios up to 1e8:
// forces of 1e-12 to 1e12. An answer is checked against the cones again, and there is one.
START_TEST(badly_scaled_blocks_are_solved)
{
    int unsolved = 0;
    for (int i = 0; i < 500; ++i) {
        tal_random rng = {(uint64_t)i, 33, 0};
        block k = random_block(&rng);
        const double units = pow(10.0, 24.0 * tal_random_uniform(&rng) - 12.0);
        for (int e = 0; e < 6; ++e) {
            if (e < 3) k.inverse[e] *= pow(10.0, 8.0 * tal_random_uniform(&rng) - 4.0);
            k.f[e] *= units;
        }
        friction_case c = case_of(&k);
        const tal_status st = solve(&c);
        unsolved += st != TAL_OK;
        if (st == TAL_OK) assert_coulomb(&c);
    }
    ck_assert_int_eq(unsolved, 0);
}

// Units that are powers of two change no digit of the answer.
START_TEST(units_do_not_matter)
{
    for (int i = 0; i < 50; ++i) {
        tal_random rng = {(uint64_t)i, 34, 0};
        block k = random_block(&rng);
        friction_case small = case_of(&k);
        for (int e = 0; e < 6; ++e) {
            k.f[e] = ldexp(k.f[e], 40);
        }
        friction_case large = case_of(&k);
        ck_assert_int_eq(solve(&small), TAL_OK);
        ck_assert_int_eq(solve(&large), TAL_OK);
        for (int row = 0; row < small.n; ++row) {
            ck_assert(large.pi[row] == ldexp(small.pi[row], 40));
        }
    }
}

// Turned round, the contacts give the same accelerations of the body.
START_TEST(the_order_of_contacts_does_not_matter)
{
    for (int i = 0; i < 500; ++i) {
        tal_random rng = {(uint64_t)i, 32, 0};
        block k = random_block(&rng);
        friction_case c = case_of(&k);
        ck_assert_int_eq(solve(&c), TAL_OK);
        double udot[6], turned[6];
        body_acceleration(&k, &c, udot);
        for (int p = 0; p < k.num_points / 2; ++p) {
            double kept[3];
            memcpy(kept, k.point[p], sizeof kept);
            memcpy(k.point[p], k.point[k.num_points - 1 - p], sizeof kept);
            memcpy(k.point[k.num_points - 1 - p], kept, sizeof kept);
        }
        c = case_of(&k);
        ck_assert_int_eq(solve(&c), TAL_OK);
        body_acceleration(&k, &c, turned);
        test_assert_near(turned, udot, 6, 1e-9 * (1.0 + test_largest(udot, 6)), "turned round");
    }
}

// Each contact twice: half of the force in each, the same motion.
START_TEST(copies_of_contacts_share)
{
    for (int i = 0; i < 500; ++i) {
        tal_random rng = {(uint64_t)i, 33, 0};
        block k = random_block(&rng);
        k.num_points = (k.num_points + 1) / 2;
        friction_case c = case_of(&k);
        ck_assert_int_eq(solve(&c), TAL_OK);
        double udot[6], twice[6];
        body_acceleration(&k, &c, udot);
        memcpy(k.point[k.num_points], k.point[0], (size_t)k.num_points * sizeof k.point[0]);
        k.num_points *= 2;
        c = case_of(&k);
        ck_assert_int_eq(solve(&c), TAL_OK);
        body_acceleration(&k, &c, twice);
        test_assert_near(twice, udot, 6, 1e-9 * (1.0 + test_largest(udot, 6)), "each twice");
    }
}

// The last answer as a guess: the same one, and no search.
START_TEST(a_good_guess_needs_no_search)
{
    block k = block_on_floor(0.5, 0.5);
    push(&k, tal_v3(12.0, 3.0, 0.0), base);
    friction_case c = case_of(&k);
    ck_assert_int_eq(solve(&c), TAL_OK);
    friction_case again = c;
    again.guess = true;
    ck_assert_int_eq(solve(&again), TAL_OK);
    ck_assert_int_eq(again.report.pivots, 0);
    ck_assert_int_eq(again.report.changes, 0);
    test_assert_near(again.pi, c.pi, c.n, 1e-10 * 19.62, "forces");
    again.modes[1] = TAL_FRICTION_OFF; // a bad one is repaired
    ck_assert_int_eq(solve(&again), TAL_OK);
    ck_assert_int_eq(again.modes[1], TAL_FRICTION_SLIP);
}

// That all stick, or that all are open, is a guess, too: the same motion, and the same sharing as
// from pyramids. These extrapolate from compliances of 1e-5 and 1e-6, which leaves 1e-11 / s^2
// where s is the least singular value of A that is not zero, 3e-4 for contacts as close to a line
// as here.
START_TEST(a_poor_guess_gives_the_same_answer)
{
    int held = 0;
    for (int i = 0; i < 400; ++i) {
        tal_random rng = {(uint64_t)i, 35, 0};
        block k = random_block(&rng);
        friction_case c = case_of(&k), guessed = c;
        ck_assert_int_eq(solve(&c), TAL_OK);
        guessed.guess = true;
        for (int p = 0; p < c.num_contacts; ++p) {
            guessed.modes[p] = i % 4 < 2 ? TAL_FRICTION_STICK : TAL_FRICTION_OFF;
        }
        ck_assert_int_eq(solve(&guessed), TAL_OK);
        held += guessed.report.pivots == 0;
        if (!c.report.shared || !guessed.report.shared) continue;
        const double force = 1.0 + test_largest(c.pi, c.n), a = 1.0 + test_largest(c.b, c.n);
        test_assert_near(guessed.a, c.a, c.n, 1e-8 * a, "accelerations");
        test_assert_near(guessed.pi, c.pi, c.n, 1e-4 * force, "forces");
    }
    ck_assert_int_ge(held, 300); // without a search
}

// A cart on a rail, which is a bilateral row, driven by a motor of limited force: a row without a
// normal one. Up to its limit it holds the cart, beyond that the cart moves.
START_TEST(a_motor_of_limited_force)
{
    for (int i = 0; i < 2; ++i) {
        const double push_on_it = i == 0 ? 3.0 : 5.0;
        friction_case c = {.n = 2, .num_contacts = 1, .A = {{0.5, 0.0, 0.0, 0.5}, 2, 2}};
        c.b[0] = -9.81;
        c.b[1] = push_on_it / 2.0;
        c.contacts[0] =
            (tal_friction_contact){.normal = -1, .tangent = 1, .num_tangents = 1, .limit = 4.0};
        ck_assert_int_eq(solve(&c), TAL_OK);
        ck_assert_double_le(fabs(c.pi[0] - 19.62), 1e-12);
        ck_assert_double_le(fabs(c.pi[1] + (i == 0 ? 3.0 : 4.0)), 1e-12);
        ck_assert_double_le(fabs(c.a[1] - (i == 0 ? 0.0 : 0.5)), 1e-12);
        ck_assert_int_eq(c.modes[0], i == 0 ? TAL_FRICTION_STICK : TAL_FRICTION_SLIP);
    }
}

// mu = INFINITY: it never slips, however hard it is pushed.
START_TEST(a_contact_that_never_slips)
{
    block k = block_on_floor(TEST_INFINITY, TEST_INFINITY);
    k.point[0][2] = k.point[1][2] = k.point[2][2] = k.point[3][2] = -1e-3;
    push(&k, tal_v3(500.0, 0.0, 0.0), tal_v3(0.0, 0.0, -1e-3));
    assert_block(&k, (const double[6]){0}, 1e-9);
}

// --- passes ---

// The same block as sparse rows: all six speeds in each.
typedef struct pass_case {
    int start[MAX + 1], index[6 * MAX];
    double J[6 * MAX], K[6 * MAX], b[MAX], pi[MAX], u[6], work[4 * MAX + 6];
    int iwork[2 * MAX];
    tal_friction_rows rows;
    tal_friction_passes report;
    tal_error err;
} pass_case;

static void fill_pass(pass_case *s, const block *k, const friction_case *c)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < c->n; ++i) {
        s->start[i + 1] = 6 * (i + 1);
        jacobian(k, i, s->J + 6 * i);
        for (int e = 0; e < 6; ++e) {
            s->index[6 * i + e] = e;
            s->K[6 * i + e] = s->J[6 * i + e] * k->inverse[e];
            s->u[e] = k->f[e] * k->inverse[e];
        }
    }
    s->rows = (tal_friction_rows){.num_rows = c->n,
                                  .num_speeds = 6,
                                  .J_start = s->start,
                                  .J_index = s->index,
                                  .J = s->J,
                                  .K_start = s->start,
                                  .K_index = s->index,
                                  .K = s->K,
                                  .b = s->b,
                                  .contacts = c->contacts,
                                  .num_contacts = c->num_contacts,
                                  .most_passes = 200000,
                                  .tolerance = 1e-12};
}

// The fixed point of passes is a solution: Coulomb's law holds for its forces and w. The residual
// is measured in forces; in w it is larger by the condition of A at most: 1e-7 leaves 1e5 for it.
// Rows that do not act on each other: one pass finds what each needs, forces and changes of exactly
// 1 among them. Two contacts, and a bilateral row behind them.
START_TEST(one_pass_solves_rows_that_are_apart)
{
    double A[49] = {0.0}, b[7] = {-1.0, 0.3, -0.4, -2.0, 0.25, 0.0, 1.0}, ones[7], pi[7], a[7];
    double limit[2] = {0.0, 0.0}, none[7] = {0.0};
    int of[7] = {0, 0, 0, 1, 1, 1, -1}, modes[2];
    for (int i = 0; i < 7; ++i) {
        A[i * 8] = ones[i] = 1.0;
    }
    const tal_friction_contact contacts[2] = {
        {.normal = 0, .tangent = 1, .num_tangents = 2, .static_mu = 0.6, .sliding_mu = 0.6},
        {.normal = 3, .tangent = 4, .num_tangents = 2, .static_mu = 0.1, .sliding_mu = 0.1}};
    tali_friction f = {.n = 7,
                       .num_contacts = 2,
                       .contacts = contacts,
                       .A = tal_matrix_view(A, 7, 7),
                       .s = ones,
                       .b = b,
                       .limit = limit,
                       .contact_of = of,
                       .softness = none,
                       .pi = pi,
                       .a = a,
                       .modes = modes};
    tali_friction_relax(&f, 1);
    const double expected[7] = {1.0, -0.3, 0.4, 2.0, -0.2, 0.0, -1.0};
    for (int i = 0; i < 7; ++i) {
        ck_assert_double_eq_tol(pi[i], expected[i], 1e-15);
        ck_assert_double_eq_tol(a[i], expected[i] + b[i], 1e-15);
    }
    ck_assert_int_eq(modes[0], TAL_FRICTION_STICK);
    ck_assert_int_eq(modes[1], TAL_FRICTION_SLIP);
}

END_TEST

// A contact that slides pushes against its direction, by mu times its normal force and its limit.
START_TEST(a_pass_finds_what_slides)
{
    double A[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    double b[3] = {-2.0, 0.7, -0.9}, ones[3] = {1.0, 1.0, 1.0}, pi[3], a[3], limit[1] = {0.1};
    double none[3] = {0.0};
    int of[3] = {0, 0, 0}, modes[1];
    const tal_friction_contact contact = {.normal = 0,
                                          .tangent = 1,
                                          .num_tangents = 2,
                                          .static_mu = 0.5,
                                          .sliding_mu = 0.25,
                                          .slides = true,
                                          .direction = {0.6, -0.8}};
    tali_friction f = {.n = 3,
                       .num_contacts = 1,
                       .contacts = &contact,
                       .A = tal_matrix_view(A, 3, 3),
                       .s = ones,
                       .b = b,
                       .limit = limit,
                       .contact_of = of,
                       .softness = none,
                       .pi = pi,
                       .a = a,
                       .modes = modes};
    tali_friction_relax(&f, 1);
    const double size = 0.1 + 0.25 * 2.0, expected[3] = {2.0, -0.6 * size, 0.8 * size};
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(pi[i], expected[i], 1e-15);
    }
    ck_assert_int_eq(modes[0], TAL_FRICTION_SLIDE);
}

END_TEST

START_TEST(passes_end_at_a_solution)
{
    static pass_case s;
    int converged = 0;
    for (int i = 0; i < 50; ++i) {
        tal_random rng = {(uint64_t)i, 34, 0};
        const block k = random_block(&rng);
        friction_case c = case_of(&k);
        fill_pass(&s, &k, &c);
        tal_status st;
        test_assert_no_heap(
            st = tal_friction_iterate(&s.rows, s.pi, s.u, s.work, s.iwork, &s.report, &s.err));
        ck_assert_int_eq(st, TAL_OK);
        if (s.report.residual > 1e-12) continue; // slow where contacts nearly coincide
        ++converged;
        memcpy(c.pi, s.pi, sizeof s.pi);
        for (int row = 0; row < c.n; ++row) {
            c.a[row] = 0.0;
            for (int e = 0; e < 6; ++e) {
                c.a[row] += s.J[6 * row + e] * s.u[e];
            }
        }
        assert_coulomb(&c);
    }
    ck_assert_int_ge(converged, 45);
}

// A column of boxes, one on the other: the force below a box is the weight of all above it. Speeds
// after a step h without contacts are -g h, and the impulses are h times the weights.
START_TEST(passes_carry_a_column_of_boxes)
{
    enum {
        BOXES = 10
    };

    int start[BOXES + 1], index[2 * BOXES];
    double J[2 * BOXES], K[2 * BOXES], b[BOXES] = {0.0}, pi[BOXES] = {0.0}, u[BOXES];
    double work[5 * BOXES];
    int iwork[2 * BOXES];
    tal_friction_contact contacts[BOXES] = {0};
    int num = 0;
    for (int i = 0; i < BOXES; ++i) {
        start[i] = num;
        if (i > 0) { // the box below
            index[num] = i - 1;
            J[num] = -1.0;
            K[num++] = -1.0;
        }
        index[num] = i;
        J[num] = 1.0;
        K[num++] = 1.0;
        contacts[i].normal = i;
        u[i] = -0.01;
    }
    start[BOXES] = num;
    const tal_friction_rows rows = {BOXES, BOXES, start,    index, J,     start, index,
                                    K,     b,     contacts, BOXES, 10000, 1e-13};
    tal_friction_passes report;
    ck_assert_int_eq(tal_friction_iterate(&rows, pi, u, work, iwork, &report, NULL), TAL_OK);
    ck_assert_double_le(report.residual, 1e-13);
    for (int i = 0; i < BOXES; ++i) {
        // the smallest eigenvalue of A is near (pi / 2 / BOXES)^2 = 0.025: errors are 40 residuals
        ck_assert_double_le(fabs(pi[i] - 0.01 * (BOXES - i)), 1e-11);
        ck_assert_double_le(fabs(u[i]), 1e-11);
    }
    // begun with the answer it is done at the first look
    for (int i = 0; i < BOXES; ++i) {
        u[i] = -0.01;
    }
    ck_assert_int_eq(tal_friction_iterate(&rows, pi, u, work, iwork, &report, NULL), TAL_OK);
    ck_assert_int_le(report.passes, 8);
}

START_TEST(passes_refuse_bad_rows)
{
    static pass_case s;
    const block k = block_on_floor(0.5, 0.5);
    const friction_case c = case_of(&k);
    fill_pass(&s, &k, &c);
    test_record_breaches();
    tal_status st;
    s.index[3] = 6;
    test_assert_breach(st = tal_friction_iterate(&s.rows, s.pi, s.u, s.work, s.iwork, NULL, NULL),
                       TAL_ERR_BAD_INDEX, "lists");
    ck_assert_int_eq(st, TAL_ERR_BAD_INDEX);
    s.index[3] = 3;
    s.rows.most_passes = 0;
    test_assert_breach(st = tal_friction_iterate(&s.rows, s.pi, s.u, s.work, s.iwork, NULL, NULL),
                       TAL_ERR_BAD_VALUE, "passes");
    s.rows.most_passes = 10;
    tal_friction_contact wrong = c.contacts[1];
    wrong.sliding_mu = TEST_NAN;
    s.rows.contacts = &wrong;
    s.rows.num_contacts = 1;
    ck_assert_int_eq(tal_friction_iterate(&s.rows, s.pi, s.u, s.work, s.iwork, NULL, &s.err),
                     TAL_ERR_BAD_VALUE);
    fill_pass(&s, &k, &c);
    s.u[0] = TEST_NAN;
    ck_assert_int_eq(tal_friction_iterate(&s.rows, s.pi, s.u, s.work, s.iwork, NULL, &s.err),
                     TAL_ERR_NOT_FINITE);
}

START_TEST(bad_input_is_refused)
{
    const block k = block_on_floor(0.5, 0.5);
    const friction_case good = case_of(&k);
    friction_case c = good;
    c.contacts[2].sliding_mu = 0.6;
    ck_assert_int_eq(solve(&c), TAL_ERR_BAD_VALUE);
    ck_assert_msg(strstr(c.err.message, "contact 2: static_mu") != NULL, "%s", c.err.message);
    c = good;
    c.contacts[1].sliding_mu = TEST_NAN;
    ck_assert_int_eq(solve(&c), TAL_ERR_BAD_VALUE);
    c = good;
    c.contacts[3].tangent = 11;
    ck_assert_int_eq(solve(&c), TAL_ERR_BAD_INDEX);
    c = good;
    c.contacts[3].normal = 0;
    ck_assert_int_eq(solve(&c), TAL_ERR_BAD_INDEX);
    ck_assert_msg(strstr(c.err.message, "contacts 0 and 3") != NULL, "%s", c.err.message);
    c = good;
    c.contacts[0].slides = true;
    ck_assert_int_eq(solve(&c), TAL_ERR_BAD_VALUE);
    c = good;
    c.b[5] = TEST_NAN;
    ck_assert_int_eq(solve(&c), TAL_ERR_NOT_FINITE);
    c = good;
    c.contacts[0].num_tangents = 3;
    ck_assert_int_eq(solve(&c), TAL_ERR_BAD_VALUE);
}

int main(void)
{
    Suite *suite = suite_create("common/friction");
    TCase *tc = tcase_create("friction");
    tcase_set_timeout(tc, 1200);
    tcase_add_test(tc, a_block_at_rest_shares_its_weight);
    tcase_add_test(tc, a_pushed_block_sticks_or_slips);
    tcase_add_test(tc, a_sliding_block_leans_forward);
    tcase_add_test(tc, a_spinning_block_slows_down);
    tcase_add_test(tc, a_block_tips);
    tcase_add_test(tc, a_twisted_block_moves_as_equal_compliance_says);
    tcase_add_test(tc, a_block_on_a_slope);
    tcase_add_test(tc, painleves_rod_jams_separates_or_slides);
    tcase_add_test(tc, random_blocks_are_solved);
    tcase_add_test(tc, badly_scaled_blocks_are_solved);
    tcase_add_test(tc, units_do_not_matter);
    tcase_add_test(tc, the_order_of_contacts_does_not_matter);
    tcase_add_test(tc, copies_of_contacts_share);
    tcase_add_test(tc, a_good_guess_needs_no_search);
    tcase_add_test(tc, a_poor_guess_gives_the_same_answer);
    tcase_add_test(tc, a_motor_of_limited_force);
    tcase_add_test(tc, a_contact_that_never_slips);
    tcase_add_test(tc, bad_input_is_refused);
    tcase_add_test(tc, one_pass_solves_rows_that_are_apart);
    tcase_add_test(tc, a_pass_finds_what_slides);
    tcase_add_test(tc, passes_end_at_a_solution);
    tcase_add_test(tc, passes_carry_a_column_of_boxes);
    tcase_add_test(tc, passes_refuse_bad_rows);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
