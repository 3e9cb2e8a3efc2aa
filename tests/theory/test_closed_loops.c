// Closed loops over time: promise P5. Trajectories against references that know nothing of
// constraints, and how far loops come open on the way.
//
// The references are good to 1e-15 or better. Steps have accuracy 1e-10 or finer and errors add up
// as those of tests/theory/test_trajectories.c do; the promise is 1e-7. Constraints are kept to a
// tenth of the accuracy, and the promise is 1e-10 at every step; projecting every step does better.
#include "integrate/integrator_internal.h"
#include "mechanism_support.h"
#include "ref_loops.h"

#include <talus/study.h>

#include <stdio.h>

static const double BOUND = 1e-7;
static const double DRIFT = 1e-10;

static bool in_soak(void)
{
    return getenv("TALUS_SOAK") != NULL;
}

/// A mechanism on its way, and the worst that it came open.
typedef struct run {
    loop *l;
    tal_integrator *integ;
    double drift;
    double error; ///< against the reference, as the test sees it
    double may_drift;
} run;

static tal_integrator_def by(const tal_rk_tableau *tableau, double accuracy, bool every_step)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.tableau = tableau;
    def.accuracy = accuracy;
    def.project_every_step = every_step;
    def.max_steps = 1000; // of one call, which takes one step: more are failures
    return def;
}

static run begin_run_by(loop *l, const tal_integrator_def *def)
{
    tal_error err = {0};
    run r = {.l = l, .may_drift = def->project_every_step ? DRIFT : def->accuracy};
    ck_assert_msg(tal_integrator_create(l->system, def, &r.integ, &err) == TAL_OK, "%s",
                  err.message);
    return r;
}

static run begin_run(loop *l, double accuracy)
{
    const tal_integrator_def def = by(tal_rk_dormand_prince(), accuracy, true);
    return begin_run_by(l, &def);
}

static void go_to(run *r, double t)
{
    tal_state *state = r->l->state;
    while (tal_state_t(state) < t) {
        const tal_status st = tal_integrator_step(r->integ, state, t);
        ck_assert_msg(st == TAL_OK, "%s", tal_integrator_error(r->integ)->message);
        for (int i = 0; i < tal_matter_constraint_rows(r->l->matter, state).mp; ++i) {
            r->drift = fmax(r->drift, fabs(tal_state_qerr(state)[i]));
        }
    }
}

static void look(run *r, const double found[], const double wanted[], int n, double scale)
{
    for (int i = 0; i < n; ++i) {
        r->error = fmax(r->error, fabs(found[i] - wanted[i]) / scale);
    }
}

static void end_run_within(run *r, const char *name, double bound)
{
    const tal_integrator_stats stats = tal_integrator_statistics(r->integ);
    if (in_soak()) {
        printf("%s: error %.1e, drift %.1e, %llu steps\n", name, r->error, r->drift,
               (unsigned long long)stats.steps_taken);
    }
    ck_assert_msg(r->error <= bound, "%s: error %.1e", name, r->error);
    ck_assert_msg(r->drift <= r->may_drift, "%s: drift %.1e", name, r->drift);
    tal_integrator_destroy(r->integ);
    loop_end(r->l);
}

static void end_run(run *r, const char *name)
{
    end_run_within(r, name, BOUND);
}

// Steps of 2 ms on the average; 420 in a second are taken at accuracy 1e-13.
static const double MAX_RATE = 500.0;

// --- N four-bars side by side (A02): all cranks stay parallel, phi'' = kappa sin(phi) ---

/// phi and its rate.
typedef struct pendulum {
    long double phi, rate;
} pendulum;

static pendulum add(pendulum a, long double h, pendulum rate)
{
    return (pendulum){a.phi + h * rate.phi, a.rate + h * rate.rate};
}

static pendulum rate_of(pendulum a, long double kappa)
{
    return (pendulum){a.rate, kappa * sinl(a.phi)};
}

// Runge-Kutta with 64-bit mantissas and 1e-4 s: h^4 kappa^2 t / 120 = 1e-17 kappa^2, less than the
// 1e-14 that are asked of it.
static pendulum swing(pendulum a, long double kappa, double seconds)
{
    const long double h = 1e-4L;
    const long steps = lround(seconds / 1e-4);
    for (long i = 0; i < steps; ++i) {
        const pendulum k1 = rate_of(a, kappa), k2 = rate_of(add(a, h / 2, k1), kappa);
        const pendulum k3 = rate_of(add(a, h / 2, k2), kappa);
        const pendulum k4 = rate_of(add(a, h, k3), kappa);
        a.phi += h / 6 * (k1.phi + 2 * k2.phi + 2 * k3.phi + k4.phi);
        a.rate += h / 6 * (k1.rate + 2 * k2.rate + 2 * k3.rate + k4.rate);
    }
    return a;
}

static run begin_four_bars(loop *l, int N, const tal_integrator_def *def)
{
    build_four_bars(l, N, 1.0);
    pose_four_bars(l, N, TAL_PI / 2.0, -1.0);
    return begin_run_by(l, def);
}

// Where the bars lie flat the rank drops by N, and the mechanism could fold: the smooth motion
// passes through. B_0 is what the benchmark looks at. At an angle phi from flat, constraint errors
// e become differences e / phi between the cranks, which is why errors are taken away at every
// step. `max_rate`: steps per second.
static void run_four_bars(int N, double seconds, const tal_integrator_def *def, double max_rate,
                          double bound)
{
    loop l;
    run r = begin_four_bars(&l, N, def);
    const long double kappa = ((N + 1) / 2.0L + N) * 9.81L / ((N + 1) / 3.0L + N);
    pendulum ref = {0.0L, 1.0L};
    for (double t = 0.5; t <= seconds; t += 0.5) {
        ref = swing(ref, kappa, 0.5);
        go_to(&r, t);
        const double phi = (double)ref.phi, rate = (double)ref.rate;
        const tal_body_ix crank = {1};
        const tal_vec3 tip = tal_v3(1.0, 0.0, 0.0);
        const tal_vec3 p = tal_station_p_GS(l.matter, l.state, crank, tip);
        const tal_vec3 v = tal_station_v_GS(l.matter, l.state, crank, tip);
        const double wanted[] = {sin(phi), cos(phi), rate * cos(phi), -rate * sin(phi)};
        const double found[] = {p.x, p.y, v.x, v.y};
        look(&r, found, wanted, 4, 1.0);
    }
    const double *q = tal_state_q(l.state);
    for (int i = 1; i <= N; ++i) {
        ck_assert_msg(fabs(q[i] - q[0]) <= 1e-6, "crank %d is folded: %g, %g", i, q[i], q[0]);
    }
    const unsigned long long steps = tal_integrator_statistics(r.integ).steps_attempted;
    ck_assert_msg((double)steps <= max_rate * seconds, "%llu steps", steps);
    const bool is_rk = def->method == TAL_METHOD_RUNGE_KUTTA;
    char name[48];
    (void)snprintf(name, sizeof name, "a02, N = %d, %s %d, %.0e", N,
                   is_rk ? def->tableau->name : "method", (int)def->method, def->accuracy);
    end_run_within(&r, name, bound);
}

START_TEST(two_four_bars_pass_where_they_lie_flat)
{
    const tal_integrator_def def = by(tal_rk_verner_8(), 1e-10, true);
    run_four_bars(2, in_soak() ? 10.0 : 5.0, &def, MAX_RATE, BOUND);
}

END_TEST

START_TEST(forty_four_bars_pass_where_they_lie_flat)
{
    const tal_integrator_def def = by(tal_rk_verner_8(), 1e-10, true);
    run_four_bars(40, in_soak() ? 20.0 : 2.0, &def, MAX_RATE, BOUND);
}

END_TEST

// Errors double in a fifth of a second while the cranks fall from upright, and thousandfold errors
// of a step in 10 s are what Dormand and Prince's method shows at coarse accuracies. Round-off is
// turned into 1e-9 of the speeds in a passage that begins at 0.01 rad, which the same thousand
// makes 1e-6; it must be no more than that for accuracies that ask for less.
START_TEST(four_bars_pass_where_they_lie_flat_whatever_the_accuracy)
{
    static const double accuracies[] = {1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13};
    for (size_t i = 0; i < sizeof accuracies / sizeof accuracies[0]; ++i) {
        const double a = accuracies[i], bound = 5e3 * a + 2e-6;
        const tal_integrator_def def = by(tal_rk_dormand_prince(), a, true);
        const tal_integrator_def seldom = by(tal_rk_dormand_prince(), a, false);
        run_four_bars(2, in_soak() ? 10.0 : 3.0, &def, MAX_RATE, bound);
        run_four_bars(2, in_soak() ? 10.0 : 3.0, &seldom, MAX_RATE, bound);
        if (in_soak()) run_four_bars(40, 20.0, &def, MAX_RATE, bound);
    }
}

END_TEST

// ARKODE's explicit method of order 5 as the above. Steps of BDF end where they happen to: what
// round-off may do to one that ends close is held to 1e-5 of the speeds, which grows tenfold in 3
// s.
START_TEST(backward_differences_and_arkode_pass_where_four_bars_lie_flat)
{
    static const double accuracies[] = {1e-6, 1e-8, 1e-9, 1e-10, 1e-12};
    for (size_t i = 0; i < sizeof accuracies / sizeof accuracies[0]; ++i) {
        const double a = accuracies[i];
        tal_integrator_def def = by(tal_rk_dormand_prince(), a, false);
        def.method = TAL_METHOD_ARKODE_EXPLICIT;
        run_four_bars(2, 3.0, &def, MAX_RATE, 5e3 * a + 2e-6);
        def.method = TAL_METHOD_CVODE_BDF;
        run_four_bars(2, 3.0, &def, 2.0 * MAX_RATE, 5e3 * a + 1e-4);
        def.linear_solver = TAL_LINEAR_GMRES;
        run_four_bars(2, 3.0, &def, 2.0 * MAX_RATE, 5e3 * a + 1e-4);
    }
}

END_TEST

// A step that ends close is taken again, shorter: none of ARKODE's ends within a few times
// round-off of the flat configuration, unless four shorter ones do as well.
START_TEST(steps_of_arkode_end_at_a_distance_from_where_rank_is_lost)
{
    int num_close = 0;
    for (int k = 0; k < 4; ++k) {
        tal_integrator_def def = by(tal_rk_dormand_prince(), pow(10.0, -9.0 - k), false);
        def.method = TAL_METHOD_ARKODE_EXPLICIT;
        loop l;
        run r = begin_four_bars(&l, 2, &def);
        while (tal_state_t(l.state) < 3.0) {
            ck_assert_int_eq(tal_integrator_step(r.integ, l.state, 3.0), TAL_OK);
            if (tali_integrator_ends_too_close(r.integ, l.state)) ++num_close;
        }
        tal_integrator_destroy(r.integ);
        loop_end(&l);
    }
    ck_assert_int_eq(num_close, 0);
}

END_TEST

// Those that cannot pass: implicit stages and multipliers need the rank, and the estimate of order
// 8 does not see what a single stage does. They do not fold, they end.
START_TEST(methods_that_do_not_pass_where_four_bars_lie_flat_say_why)
{
    const tal_method methods[] = {TAL_METHOD_ARKODE_DIRK, TAL_METHOD_IDA,
                                  TAL_METHOD_ARKODE_EXPLICIT};
    for (int k = 0; k < 6; ++k) {
        tal_integrator_def def = by(tal_rk_dormand_prince(), k < 3 ? 1e-8 : 1e-10, false);
        def.method = methods[k % 3];
        def.order = k % 3 == 2 ? 8 : 0;
        def.max_steps = 20000;
        loop l;
        run r = begin_four_bars(&l, 2, &def);
        const tal_status st = tal_integrator_step_to(r.integ, l.state, 3.0);
        const char *why = tal_integrator_error(r.integ)->message;
        if (st == TAL_OK) {
            const double *q = tal_state_q(l.state);
            ck_assert_double_eq_tol(q[1], q[0], 1e-6);
            ck_assert_double_eq_tol(q[2], q[0], 1e-6);
        } else {
            ck_assert_int_eq(st, TAL_ERR_NO_CONVERGENCE);
            ck_assert_msg(strstr(why, "lose rank") != NULL, "%s", why);
        }
        tal_integrator_destroy(r.integ);
        loop_end(&l);
    }
}

END_TEST

// --- Andrews' squeezer (A03) ---

// Angles go to 16, rates to 1e3 and multipliers to 1e2: errors are relative to the largest of each
// kind so far. The multipliers, which promise P6 wants to 1e-9, take a step accuracy of 1e-12.
START_TEST(andrews_squeezer_follows_its_reference)
{
    loop l;
    squeezer_spring spring;
    build_squeezer(&l, &spring);
    run r = begin_run(&l, 1e-12);
    double size[3] = {1.0, 1.0, 1.0}, force_error = 0.0;
    for (size_t k = 0; k < sizeof ref_squeezer / sizeof ref_squeezer[0]; ++k) {
        const ref_squeezer_row *row = &ref_squeezer[k];
        go_to(&r, row->t);
        for (int i = 0; i < 7; ++i) {
            size[0] = fmax(size[0], fabs(row->q[i]));
            size[1] = fmax(size[1], fabs(row->u[i]));
            if (i < 6) size[2] = fmax(size[2], fabs(row->lambda[i]));
        }
        look(&r, tal_state_q(l.state), row->q, 7, size[0]);
        look(&r, tal_state_u(l.state), row->u, 7, size[1]);
        for (int i = 0; i < 6; ++i) { // balls have a z row, which bears nothing
            const double lambda = tal_state_multipliers(l.state)[i + i / 2];
            force_error = fmax(force_error, fabs(lambda - row->lambda[i]) / size[2]);
        }
    }
    test_validate("Andrews' squeezer, 0.05 s", "refs:a03_andrews_squeezer",
                  "multipliers, relative to the largest", "Dormand-Prince, 1e-12", force_error,
                  1e-9);
    test_validate("Andrews' squeezer, 0.05 s", "refs:a03_andrews_squeezer",
                  "q and u, relative to the largest", "Dormand-Prince, 1e-12", r.error, BOUND);
    end_run(&r, "a03");
}

END_TEST

// --- Bricard's mechanism (A04): one of its rows is redundant all the way ---

START_TEST(bricards_mechanism_follows_its_reference)
{
    loop l;
    build_bricard(&l);
    run r = begin_run(&l, 1e-10);
    const tal_body_ix third = {3};
    for (size_t k = 0; k < sizeof ref_bricard / sizeof ref_bricard[0]; ++k) {
        const ref_bricard_row *row = &ref_bricard[k];
        if (row->t > 2.5 && !in_soak()) break;
        go_to(&r, row->t);
        const tal_vec3 p = tal_station_p_GS(l.matter, l.state, third, tal_v3(0.0, 0.0, 0.0));
        const tal_vec3 v = tal_station_v_GS(l.matter, l.state, third, tal_v3(0.0, 0.0, 0.0));
        look(&r, &p.x, row->P3, 3, 1.0);
        look(&r, &v.x, row->P3_vel, 3, 1.0);
        look(&r, tal_state_u(l.state), &row->rate, 1, 1.0);
    }
    test_validate("Bricard's mechanism", "refs:a04_bricard_slender", "point P3, its velocity, rate",
                  "Dormand-Prince, 1e-10", r.error, BOUND);
    end_run(&r, "a04");
}

END_TEST

// --- Peaucellier's linkage: a crank on a circle through O, arms a from O, a rhombus of sides b ---
//
// With the crank at theta, Q is at 2 c cos(theta/2) = r from O in the direction e of theta/2; the
// rhombus has its middle at h = (a^2 - b^2 + r^2) / 2r along e, its side corners A and B at s =
// sqrt(a^2 - h^2) across, and P at (a^2 - b^2) / r: on the straight line x = (a^2 - b^2) / 2c.

static const double ARM = 3.0, SIDE = 1.0, CRANK = 1.2;
static const double FIELD = 9.81; // along x: the crank hangs out to the side
static const double M_CRANK = 1.5, M_ARM = 0.8, M_P = 2.0;

typedef struct lipkin {
    long double angle_A, angle_B, y_P; ///< of the arms, and where P is on its line
} lipkin;

static lipkin lipkin_at(long double theta)
{
    const long double a = (long double)ARM, b = (long double)SIDE;
    const long double r = 2 * (long double)CRANK * cosl(theta / 2);
    const long double open = acosl((a * a - b * b + r * r) / (2 * r * a));
    const long double distance = (a * a - b * b) / r;
    return (lipkin){theta / 2 + open, theta / 2 - open, distance * sinl(theta / 2)};
}

// Kinetic energy at theta' = 1, twice, and the potential: the arms are uniform, the rods without
// mass.
static void lipkin_energies(long double theta, long double *twice_T, long double *V)
{
    // derivatives by differences of eighth order: h^8 / 630 and eps / h are both 1e-17
    const long double h = 2e-3L;
    static const long double weights[] = {4.0L / 5, -1.0L / 5, 4.0L / 105, -1.0L / 280};
    lipkin rate = {0, 0, 0};
    for (int k = 1; k <= 4; ++k) {
        const lipkin up = lipkin_at(theta + k * h), down = lipkin_at(theta - k * h);
        rate.angle_A += weights[k - 1] / h * (up.angle_A - down.angle_A);
        rate.angle_B += weights[k - 1] / h * (up.angle_B - down.angle_B);
        rate.y_P += weights[k - 1] / h * (up.y_P - down.y_P);
    }
    const long double a = (long double)ARM, c = (long double)CRANK, g = (long double)FIELD;
    const long double m_crank = (long double)M_CRANK, m_arm = (long double)M_ARM;
    *twice_T = m_crank * c * c + (long double)M_P * rate.y_P * rate.y_P +
               m_arm * a * a / 3 * (rate.angle_A * rate.angle_A + rate.angle_B * rate.angle_B);
    const lipkin at = lipkin_at(theta);
    *V = -g * (m_crank * c * cosl(theta) + m_arm * a / 2 * (cosl(at.angle_A) + cosl(at.angle_B)));
}

// theta'' = -(V' + M' theta'^2 / 2) / M
static pendulum lipkin_rate(pendulum a)
{
    const long double h = 2e-3L;
    static const long double weights[] = {4.0L / 5, -1.0L / 5, 4.0L / 105, -1.0L / 280};
    long double M, V, dM = 0, dV = 0;
    for (int k = 1; k <= 4; ++k) {
        long double M_up, V_up, M_down, V_down;
        lipkin_energies(a.phi + k * h, &M_up, &V_up);
        lipkin_energies(a.phi - k * h, &M_down, &V_down);
        dM += weights[k - 1] / h * (M_up - M_down);
        dV += weights[k - 1] / h * (V_up - V_down);
    }
    lipkin_energies(a.phi, &M, &V);
    return (pendulum){a.rate, -(dV + dM * a.rate * a.rate / 2) / M};
}

static pendulum swing_lipkin(pendulum a, double seconds)
{
    const long double h = 1e-3L; // h^4 / 120 of motions that take a second: 1e-14
    const long steps = lround(seconds / 1e-3);
    for (long i = 0; i < steps; ++i) {
        const pendulum k1 = lipkin_rate(a), k2 = lipkin_rate(add(a, h / 2, k1));
        const pendulum k3 = lipkin_rate(add(a, h / 2, k2)), k4 = lipkin_rate(add(a, h, k3));
        a.phi += h / 6 * (k1.phi + 2 * k2.phi + 2 * k3.phi + k4.phi);
        a.rate += h / 6 * (k1.rate + 2 * k2.rate + 2 * k3.rate + k4.rate);
    }
    return a;
}

static void build_lipkin(loop *l, double theta)
{
    loop_begin(l);
    l->gravity = tal_v3(FIELD, 0.0, 0.0);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(M_CRANK, tal_v3(CRANK, 0.0, 0.0));
    def.X_PF.p = tal_v3(CRANK, 0.0, 0.0);
    const tal_body_ix crank = tal_matter_add_pin(l->matter, TAL_GROUND, &def);
    def = tal_mobod_def_default();
    def.mass = slender(M_ARM, ARM);
    const tal_body_ix A = tal_matter_add_pin(l->matter, TAL_GROUND, &def);
    const tal_body_ix B = tal_matter_add_pin(l->matter, TAL_GROUND, &def);
    def.mass = tal_mass_props_sphere(M_P, 0.1);
    const tal_body_ix P = tal_matter_add_planar(l->matter, TAL_GROUND, &def);
    const tal_vec3 Q = tal_v3(CRANK, 0.0, 0.0), tip = tal_v3(ARM, 0.0, 0.0);
    const tal_vec3 o = tal_v3(0.0, 0.0, 0.0);
    (void)add_rod(l, crank, Q, A, tip, SIDE);
    (void)add_rod(l, crank, Q, B, tip, SIDE);
    (void)add_rod(l, P, o, A, tip, SIDE);
    (void)add_rod(l, P, o, B, tip, SIDE);
    loop_finish(l);
    loop_realize(l, TAL_STAGE_MODEL);
    const lipkin at = lipkin_at((long double)theta);
    const double q[] = {theta,
                        (double)at.angle_A,
                        (double)at.angle_B,
                        0.0,
                        (ARM * ARM - SIDE * SIDE) / (2.0 * CRANK),
                        (double)at.y_P};
    ck_assert_int_eq(tal_state_set_q(l->state, q, 6), TAL_OK);
}

START_TEST(peaucelliers_linkage_goes_straight_and_in_time)
{
    loop l;
    build_lipkin(&l, 0.8);
    pendulum ref = {0.8L, 0.0L};
    run r = begin_run(&l, 1e-10);
    for (double t = 0.25; t <= (in_soak() ? 20.0 : 2.0); t += 0.25) {
        ref = swing_lipkin(ref, 0.25);
        go_to(&r, t);
        const lipkin at = lipkin_at(ref.phi);
        const double q[] = {(double)ref.phi,
                            (double)at.angle_A,
                            (double)at.angle_B,
                            0.0,
                            (ARM * ARM - SIDE * SIDE) / (2.0 * CRANK),
                            (double)at.y_P};
        const double rate = (double)ref.rate;
        look(&r, tal_state_q(l.state), q, 6, 1.0);
        look(&r, tal_state_u(l.state), &rate, 1, 1.0);
    }
    end_run(&r, "peaucellier");
}

END_TEST

// --- seven pins and a ball ---

// No closed form: a finer run is the reference, and energy less the work of the constant torques is
// kept. The motion is irregular, so errors grow: at accuracy 1e-10 to 8e-6 in four seconds. This
// is why its steps are finer.
START_TEST(a_spatial_loop_keeps_its_energy_and_agrees_with_a_finer_run)
{
    loop l, fine;
    build_seven_pins(&l, 1);
    build_seven_pins(&fine, 1);
    run r = begin_run(&l, 1e-12), ref = begin_run(&fine, 1e-13);
    const double end = in_soak() ? 4.0 : 1.0;
    double E0 = 0.0, q0[7];
    for (double t = 0.0; t <= end; t += 0.25) {
        go_to(&r, t);
        go_to(&ref, t);
        loop_realize(&l, TAL_STAGE_VELOCITY);
        loop_realize(&fine, TAL_STAGE_VELOCITY);
        look(&r, tal_state_q(l.state), tal_state_q(fine.state), 7, 1.0);
        double E = tal_matter_kinetic_energy(l.matter, l.state) -
                   tal_matter_mass(l.matter, l.state) *
                       tal_v3_dot(l.gravity, tal_matter_com(l.matter, l.state));
        for (int i = 0; i < 7; ++i) {
            if (t == 0.0) q0[i] = tal_state_q(l.state)[i];
            E -= l.push[i] * (tal_state_q(l.state)[i] - q0[i]);
        }
        if (t == 0.0) E0 = E;
        look(&r, &E, &E0, 1, fabs(E0) + 1.0);
    }
    end_run(&ref, "7 pins, fine");
    end_run(&r, "7 pins");
}

END_TEST

// --- many rods ---

// Particles on a line of rods that begins at Ground; in soak a hundred thousand. Nothing may be
// kept or done that grows with their square. Released from rest they fall, and keep their energy.
START_TEST(a_long_chain_of_rods_falls_and_keeps_its_energy)
{
    const int rods = in_soak() ? 100000 : 2000;
    loop l;
    loop_begin(&l);
    for (int i = 0; i < rods; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = 1.0;
        const tal_body_ix body = tal_matter_add_translation(l.matter, TAL_GROUND, &def);
        (void)add_rod(&l, (tal_body_ix){body.i - 1}, TAL_VEC3_ZERO, body, TAL_VEC3_ZERO, 1.0);
    }
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    for (int i = 0; i < rods; ++i) { // links of 0.8 by 0.6
        tal_state_upd_q(l.state)[3 * i] = 0.8 * (i + 1);
        tal_state_upd_q(l.state)[3 * i + 1] = i % 2 == 0 ? 0.6 : 0.0;
    }
    run r = begin_run(&l, 1e-8);
    double E[2];
    for (int k = 0; k < 2; ++k) {
        go_to(&r, 0.02 * k);
        loop_realize(&l, TAL_STAGE_VELOCITY);
        const double kinetic = tal_matter_kinetic_energy(l.matter, l.state);
        E[k] = kinetic - tal_matter_mass(l.matter, l.state) *
                             tal_v3_dot(l.gravity, tal_matter_com(l.matter, l.state));
        if (k == 1) ck_assert_double_gt(kinetic, 0.01 * rods); // (9.81 * 0.02)^2 / 2 each, if free
        look(&r, &E[k], &E[0], 1, rods);                       // per particle
    }
    end_run(&r, "chain of rods");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("theory/closed_loops");
    TCase *tc = tcase_create("P5");
    tcase_set_timeout(tc, in_soak() ? 14400.0 : 60.0);
    tcase_add_test(tc, two_four_bars_pass_where_they_lie_flat);
    tcase_add_test(tc, forty_four_bars_pass_where_they_lie_flat);
    tcase_add_test(tc, four_bars_pass_where_they_lie_flat_whatever_the_accuracy);
    tcase_add_test(tc, backward_differences_and_arkode_pass_where_four_bars_lie_flat);
    tcase_add_test(tc, steps_of_arkode_end_at_a_distance_from_where_rank_is_lost);
    tcase_add_test(tc, methods_that_do_not_pass_where_four_bars_lie_flat_say_why);
    tcase_add_test(tc, andrews_squeezer_follows_its_reference);
    tcase_add_test(tc, bricards_mechanism_follows_its_reference);
    tcase_add_test(tc, peaucelliers_linkage_goes_straight_and_in_time);
    tcase_add_test(tc, a_spatial_loop_keeps_its_energy_and_agrees_with_a_finer_run);
    tcase_add_test(tc, a_long_chain_of_rods_falls_and_keeps_its_energy);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
