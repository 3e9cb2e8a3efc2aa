// study/src/contact/: friction in joints that constraints make, in a run, against closed forms and
// an integration of one equation.
#include "stepper_model.h"

#include <talus/matter/unilaterals.h>

#include <math.h>

static const double G = 9.81;

// --- a guide with two sides ---

// The integral of |g - A w^2 sin(w s)| from 0 to t, for t up to pi/w: the sign changes at t1 and at
// pi/w - t1.
static double integral_of_load(double A, double w, double t)
{
    const double t1 = asin(G / (A * w * w)) / w, t2 = acos(-1.0) / w - t1;
    const double ends[4] = {0.0, fmin(t, t1), fmin(t, t2), t};
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
        const double a = ends[k], b = fmax(ends[k + 1], a);
        const double part = G * (b - a) + A * w * (cos(w * b) - cos(w * a));
        sum += k == 1 ? -part : part;
    }
    return sum;
}

// A point in a horizontal guide that is shaken up and down, harder than gravity: it is pressed on
// the lower side, then on the upper one, then on the lower one again (manual eq. 8.65).
START_TEST(a_slider_changes_sides_in_its_guide)
{
    const double A = 0.2, w = 10.0, mu = 0.3, v0 = 3.0, end = 0.3;
    stepper_model m = begin_stepper_model(G);
    const tal_xform up =
        tal_xf(tal_m3(tal_v3(0.0, 1.0, 0.0), tal_v3(-1.0, 0.0, 0.0), tal_v3(0.0, 0.0, 1.0)),
               TAL_VEC3_ZERO);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.X_PF = up;
    const tal_body_ix guide = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = guide;
    motion.level = TAL_LEVEL_POSITION;
    (void)tal_matter_add_motion_sinusoid(m.matter, &motion, A, w, 0.0);
    const tal_body_ix point = add_point(&m);
    const tal_constraint_def between = tal_constraint_between(guide, point);
    const tal_constraint_ix rail = tal_constraint_add_point_in_plane(
        m.matter, &between, tal_v3(1.0, 0.0, 0.0), 0.0, TAL_VEC3_ZERO);
    tal_unilateral_def friction = tal_unilateral_def_default();
    friction.material.static_mu = friction.material.sliding_mu = mu;
    friction.load.constraint = rail;
    const tal_unilateral_ix rubs = tal_unilateral_add_friction_along(
        m.matter, &friction, guide, tal_v3(0.0, 1.0, 0.0), TAL_VEC3_ZERO, point, TAL_VEC3_ZERO);
    (void)tal_contacts_create(m.system, NULL);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(&m, &method, NULL);
    const double u[4] = {A * w, v0, A * w, 0.0};
    (void)tal_state_set_u(m.state, u, 4);
    for (int k = 1; k <= 6; ++k) {
        const double t = end * k / 6.0;
        (void)run_stepper(&m, t);
        const double v = v0 - mu * integral_of_load(A, w, t);
        ck_assert_double_eq_tol(tal_state_u(m.state)[1], v, 1e-9);
        const double N = G - A * w * w * sin(w * t);
        const tal_unilateral_force force = tal_unilateral_force_of(m.matter, m.state, rubs);
        ck_assert_double_eq_tol(force.normal, fabs(N), 1e-9);
        ck_assert_int_eq(tal_unilateral_mode_of(m.matter, m.state, rubs), TAL_UNILATERAL_SLIDE);
    }
    end_stepper_model(&m);
}

END_TEST

// --- a pin ---

/// A pendulum of 2 kg, center 0.5 m below its pin, I 0.05 about the center; mu r in the pin.
typedef struct swing {
    long double angle, w;
} swing;

// alpha of I_p alpha = -m g l sin - s mu r |F|, F by Newton, s the sign of w: a root by repetition,
// which shrinks by mu r / 0.5 each time.
static long double alpha_of(swing at, long double mu_r, long double s)
{
    const long double m = 2.0L, l = 0.5L, g = 9.81L, I = 0.05L + m * l * l;
    const long double along = l * at.w * at.w + g * cosl(at.angle);
    long double alpha = 0.0L;
    for (int k = 0; k < 60; ++k) {
        const long double across = l * alpha + g * sinl(at.angle);
        const long double F = m * sqrtl(along * along + across * across);
        alpha = (-m * g * l * sinl(at.angle) - s * mu_r * F) / I;
    }
    return alpha;
}

static swing step(swing at, long double h, long double mu_r, long double s)
{
    swing k[4], x = at;
    for (int i = 0; i < 4; ++i) {
        k[i] = (swing){x.w, alpha_of(x, mu_r, s)};
        const long double c = i < 2 ? 0.5L * h : h;
        x = (swing){at.angle + c * k[i].angle, at.w + c * k[i].w};
    }
    return (swing){at.angle +
                       h / 6.0L * (k[0].angle + 2 * k[1].angle + 2 * k[2].angle + k[3].angle),
                   at.w + h / 6.0L * (k[0].w + 2 * k[1].w + 2 * k[2].w + k[3].w)};
}

// Where it comes to rest for the first time: steps of 1e-4 s, the last one by Newton's method.
static swing first_rest(swing at, long double mu_r, long double *t)
{
    const long double s = at.w < 0 || (at.w == 0 && at.angle > 0) ? -1.0L : 1.0L, h = 1e-4L;
    swing next = step(at, h, mu_r, s);
    for (*t = 0.0L; next.w * s > 0.0L; *t += h) {
        at = next;
        next = step(at, h, mu_r, s);
    }
    long double part = 0.0L;
    for (int k = 0; k < 5; ++k) {
        const swing near = step(at, part, mu_r, s);
        part -= near.w / alpha_of(near, mu_r, s);
    }
    *t += part;
    return step(at, part, mu_r, s);
}

static void begin_pin_pendulum(stepper_model *m, double mu_r)
{
    *m = begin_stepper_model(G);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    def.mass.inertia = tal_s3_diag(0.05, 0.05, 0.05);
    const tal_body_ix body = tal_matter_add_planar(m->matter, TAL_GROUND, &def);
    const tal_constraint_def between = tal_constraint_between(TAL_GROUND, body);
    const tal_xform X_1 = TAL_XFORM_IDENTITY, X_2 = tal_xf_from_p(tal_v3(0.0, 0.5, 0.0));
    tal_unilateral_def friction = tal_unilateral_def_default();
    friction.load.constraint = tal_constraint_add_loop_pin(m->matter, &between, &X_1, &X_2);
    friction.load.first = 2;
    friction.load.count = 2;
    friction.load.weight[0] = friction.load.weight[1] = mu_r;
    friction.material.static_mu = friction.material.sliding_mu = 1.0;
    (void)tal_unilateral_add_friction_about(m->matter, &friction, TAL_GROUND, tal_v3(0.0, 0.0, 1.0),
                                            body);
    (void)tal_contacts_create(m->system, NULL);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(m, &method, NULL);
}

// It swings lower and lower; where it comes to rest beyond the angle of friction it swings back,
// within it it stays: sin <= mu r / l.
START_TEST(a_pendulum_comes_to_rest_by_friction_in_its_pin)
{
    const double mu_r = 0.02, start = 1.0;
    const tal_unilateral_ix pin = {0};
    stepper_model m;
    begin_pin_pendulum(&m, mu_r);
    const double q[3] = {start, 0.5 * sin(start), -0.5 * cos(start)};
    (void)tal_state_set_q(m.state, q, 3);
    swing at = {start, 0.0L};
    double t = 0.0;
    for (int k = 0; k < 3; ++k) {
        long double half = 0.0L;
        at = first_rest(at, mu_r, &half);
        t += (double)half;
        (void)run_stepper(&m, t);
        ck_assert_double_eq_tol(tal_state_q(m.state)[0], (double)at.angle, 1e-8);
        ck_assert_double_eq_tol(tal_state_u(m.state)[0], 0.0, 1e-7);
        at.w = 0.0L;
    }
    (void)run_stepper(&m, 60.0);
    const double angle = tal_state_q(m.state)[0];
    ck_assert_int_eq(tal_unilateral_mode_of(m.matter, m.state, pin), TAL_UNILATERAL_STICK);
    ck_assert_double_le(fabs(sin(angle)), mu_r / 0.5);
    (void)run_stepper(&m, 70.0);
    ck_assert_double_eq_tol(tal_state_q(m.state)[0], angle, 1e-10);
    end_stepper_model(&m);
}

END_TEST

// --- stick and slip ---

typedef struct diary {
    int n;
    tal_contact_event event[32];
} diary;

static void write_down(void *context, const tal_system *system, const tal_contact_event *event)
{
    (void)system;
    diary *book = context;
    if (book->n < 32) book->event[book->n++] = *event;
}

// A point of 1 kg on a rail, pulled by a spring of k = 50 N/m whose end moves at v = 0.1 m/s: it
// sticks until k v t = mu_s m g, slips for (pi + 2 atan(v / (w d))) / w, with w^2 = k / m and
// d = (mu_s - mu_d) m g / k, and sticks for 2 d / v.
START_TEST(a_block_on_a_spring_sticks_and_slips)
{
    const double k = 50.0, v = 0.1, mu_s = 0.4, mu_d = 0.3;
    diary book = {.n = 0};
    stepper_model m = begin_stepper_model(G);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.X_PF = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
    const tal_body_ix hand = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = hand;
    motion.level = TAL_LEVEL_VELOCITY;
    (void)tal_matter_add_motion_steady(m.matter, &motion, &v, 1);
    const tal_body_ix point = add_point(&m);
    const tal_two_points ends = {point, TAL_VEC3_ZERO, hand, TAL_VEC3_ZERO};
    (void)tal_forces_add_two_point_spring(m.forces, "spring", &ends, k, 1.0);
    const tal_vec3 along = tal_v3(1.0, 0.0, 0.0);
    const tal_constraint_def between = tal_constraint_between(TAL_GROUND, point);
    tal_unilateral_def friction = tal_unilateral_def_default();
    friction.load.constraint =
        tal_constraint_add_point_on_line(m.matter, &between, along, TAL_VEC3_ZERO, TAL_VEC3_ZERO);
    friction.load.count = 2;
    friction.material.static_mu = mu_s;
    friction.material.sliding_mu = mu_d;
    (void)tal_unilateral_add_friction_along(m.matter, &friction, TAL_GROUND, along, TAL_VEC3_ZERO,
                                            point, TAL_VEC3_ZERO);
    tal_contacts_def handling = tal_contacts_def_default();
    handling.listen = write_down;
    handling.context = &book;
    (void)tal_contacts_create(m.system, &handling);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(&m, &method, NULL);
    (void)run_stepper(&m, 4.0);
    const double w = sqrt(k), d = (mu_s - mu_d) * G / k;
    const double slip = (TAL_PI + 2.0 * atan2(v, w * d)) / w, stick = 2.0 * d / v;
    double t = mu_s * G / (k * v);
    ck_assert_int_ge(book.n, 7);
    ck_assert_double_eq(book.event[0].t, 0.0); // it sticks from the start
    for (int i = 1; i < 7; ++i) {
        ck_assert_int_eq(book.event[i].kind, i % 2 == 1 ? TAL_CONTACT_SLIPS : TAL_CONTACT_STICKS);
        ck_assert_double_eq_tol(book.event[i].t, t, 1e-8);
        t += i % 2 == 1 ? slip : stick;
    }
    end_stepper_model(&m);
}

END_TEST

// --- a ratchet and a crank ---

static tal_function *difference(double a, double b)
{
    const double weights[2] = {a, b};
    tal_function *f = NULL;
    tal_error err;
    ck_assert_int_eq(tal_function_create_linear(NULL, weights, 2, 0.0, &f, &err), TAL_OK);
    return f;
}

static const double CRANK = 0.1, RATE = 6.0, WHEEL = 0.2; // m, rad/s, m
static const double WHEEL_INERTIA = 0.5, BRAKE = 3.0;     // kg m^2, N m

// A crank turns; a yoke makes a rack of it that goes to and fro; the rack's pawl turns a wheel one
// way, which a brake stops in between.
static tal_unilateral_ix begin_ratchet(stepper_model *m)
{
    *m = begin_stepper_model(0.0);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.mass.inertia = tal_s3_diag(0.1, 0.1, 0.1);
    const tal_body_ix crank = tal_matter_add_pin(m->matter, TAL_GROUND, &def);
    const tal_body_ix rack = tal_matter_add_slider(m->matter, TAL_GROUND, &def);
    def.mass.inertia = tal_s3_diag(0.25, 0.25, WHEEL_INERTIA);
    const tal_body_ix wheel = tal_matter_add_pin(m->matter, TAL_GROUND, &def);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = crank;
    (void)tal_matter_add_motion_steady(m->matter, &motion, &RATE, 1);
    const tal_constraint_def yoke = tal_constraint_between(rack, crank);
    (void)tal_constraint_add_point_in_plane(m->matter, &yoke, tal_v3(1.0, 0.0, 0.0), 0.0,
                                            tal_v3(-CRANK, 0.0, 0.0));
    tal_constraint_def speeds = tal_constraint_def_default();
    speeds.num_mobilities = 2;
    speeds.mobilities[0] = (tal_mobility){wheel, 0};
    speeds.mobilities[1] = (tal_mobility){rack, 0};
    tal_unilateral_def pawl = tal_unilateral_def_default();
    pawl.normal =
        tal_constraint_add_speed_coupler(m->matter, &speeds, 2, difference(1.0, -1.0 / WHEEL));
    const tal_unilateral_ix it = tal_matter_add_unilateral(m->matter, &pawl);
    tal_unilateral_def brake = tal_unilateral_def_default();
    brake.material.limit = BRAKE;
    (void)tal_unilateral_add_dry_friction(m->matter, &brake, speeds.mobilities[0], 0.0);
    return it;
}

// The rack is at -r cos(w t), so that the wheel is pushed with A w sin(w t), A = r / R, until it
// slows down more than the brake does: A w^2 cos(w t) = -M / I. Then it turns on by itself, and has
// stopped before the next turn. Each turn it advances by A (1 - cos(w t1)) + I w1^2 / (2 M).
START_TEST(a_crank_turns_a_ratchet_step_by_step)
{
    stepper_model m;
    const tal_unilateral_ix pawl = begin_ratchet(&m);
    tal_contacts_def handling = tal_contacts_def_default();
    handling.separation = 0.1;
    (void)tal_contacts_create(m.system, &handling);
    const tal_integrator_def method = dormand_prince(1e-11);
    finish_stepper_model(&m, &method, NULL);
    const double q[3] = {0.0, -CRANK, 0.0}, u[3] = {RATE, 0.0, 0.0};
    (void)tal_state_set_q(m.state, q, 3);
    (void)tal_state_set_u(m.state, u, 3);
    const double A = CRANK / WHEEL, alpha = BRAKE / WHEEL_INERTIA, T = 2.0 * TAL_PI / RATE;
    const double t1 = acos(-alpha / (A * RATE * RATE)) / RATE, w1 = A * RATE * sin(RATE * t1);
    const double pushed = A * (1.0 - cos(RATE * t1)), t2 = t1 + w1 / alpha;
    ck_assert_double_lt(t2, T);
    for (int turn = 0; turn < 3; ++turn) {
        const double from = turn * (pushed + 0.5 * w1 * w1 / alpha), t = turn * T;
        (void)run_stepper(&m, t + 0.5 * t1);
        ck_assert_double_eq_tol(tal_state_q(m.state)[2], from + A * (1.0 - cos(RATE * 0.5 * t1)),
                                1e-9);
        ck_assert_double_eq_tol(tal_unilateral_force_of(m.matter, m.state, pawl).normal,
                                WHEEL_INERTIA * A * RATE * RATE * cos(RATE * 0.5 * t1) + BRAKE,
                                1e-6);
        (void)run_stepper(&m, t + 0.5 * (t1 + t2));
        const double on = 0.5 * (t2 - t1);
        ck_assert_double_eq_tol(tal_state_u(m.state)[2], w1 - alpha * on, 1e-8);
        ck_assert_double_eq_tol(tal_state_q(m.state)[2],
                                from + pushed + w1 * on - 0.5 * alpha * on * on, 1e-8);
        (void)run_stepper(&m, t + 0.5 * (t2 + T));
        ck_assert_double_eq_tol(tal_state_u(m.state)[2], 0.0, 1e-9);
        ck_assert_double_eq_tol(tal_state_q(m.state)[2], from + pushed + 0.5 * w1 * w1 / alpha,
                                1e-8);
    }
    end_stepper_model(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/contacts_joints");
    TCase *runs = tcase_create("runs");
    tcase_set_timeout(runs, 60);
    tcase_add_test(runs, a_slider_changes_sides_in_its_guide);
    tcase_add_test(runs, a_block_on_a_spring_sticks_and_slips);
    tcase_add_test(runs, a_pendulum_comes_to_rest_by_friction_in_its_pin);
    tcase_add_test(runs, a_crank_turns_a_ratchet_step_by_step);
    suite_add_tcase(suite, runs);
    return test_run(suite);
}
