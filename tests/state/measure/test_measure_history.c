// state/src/measure/measure_differentiate.c, measure_history.c, measure_delay.c, measure_hold.c:
// measures that remember samples.
#include "measure_fixture.h"

// --- estimated derivatives ---

// The estimate of f' is exact for parabolas from the third sample on, however long the steps.
START_TEST(the_estimated_slope_of_a_parabola_is_exact_from_the_third_sample_on)
{
    fixture f = begin_fixture();
    const polynomial parabola = {{1.0, -2.0, 3.0, 0.0}, 0.5, 0};
    const tal_measure_ix p = add_polynomial(&f, "p", 2, parabola);
    const tal_measure_ix d = tal_measure_add_differentiate(f.system, f.owner, "d", p);
    finish_fixture(&f);
    ck_assert_int_eq(tal_measure_num_derivatives(f.system, d), 0);
    ck_assert_int_eq(tal_measure_stage(f.system, d, 0), TAL_STAGE_TIME);

    double t = 0.25;
    for (int k = 0; k < 20; ++k) {
        step_to(&f, t);
        const double *slope = tal_measure_values(f.system, f.state, d);
        const double h = 0.05 * (1 + k % 3);
        // sample by sample: nothing, the chord from 0.25 to 0.30, the parabola itself. A sample of
        // size < 10 is off by 1e-15, its chord by 4e-14, and 20 steps add up to 1e-12
        const double expected = k == 0 ? 0.0 : k == 1 ? -2.0 + 3.0 * (0.25 + 0.30) : -2.0 + 6.0 * t;
        ck_assert_double_eq_tol(slope[0], expected, 1e-12);
        ck_assert_double_eq_tol(slope[1], expected, 1e-12);
        t += h;
    }
    end_fixture(&f);
}

// Back to where the sample before was taken, three samples make no parabola.
START_TEST(the_estimated_slope_stays_finite_when_time_turns_round)
{
    fixture f = begin_fixture();
    const polynomial line = {{1.0, -2.0, 0.0, 0.0}, 0.0, 0};
    const tal_measure_ix p = add_polynomial(&f, "p", 1, line);
    const tal_measure_ix d = tal_measure_add_differentiate(f.system, f.owner, "d", p);
    finish_fixture(&f);
    step_to(&f, 0.0);
    step_to(&f, 1.0);
    go_to(&f, 0.0);
    ck_assert_double_eq(value(&f, d), -2.0);
    go_to(&f, -1.0);
    ck_assert_double_eq(value(&f, d), -2.0);
    end_fixture(&f);
}

static double worst_slope_error(double h)
{
    fixture f = begin_fixture();
    const tal_measure_ix s = tal_measure_add_sinusoid(f.system, f.owner, "s", 2.0, 3.0, 0.5);
    const tal_measure_ix d =
        tal_measure_add_differentiate(f.system, f.owner, "d", add_blunt(&f, "b", s));
    finish_fixture(&f);
    double worst = 0.0;
    for (int k = 0; k * h < 2.0; ++k) {
        step_to(&f, k * h);
        const double error = value(&f, d) - tal_measure_derivative(f.system, f.state, s, 1);
        if (k >= 2) worst = fmax(worst, fabs(error));
    }
    end_fixture(&f);
    return worst;
}

// Halving the step divides the error by 4, up to terms that are smaller by h w = 0.03.
START_TEST(the_estimated_slope_converges_at_second_order)
{
    const double coarse = worst_slope_error(0.01);
    const double fine = worst_slope_error(0.005);
    ck_assert_double_eq_tol(coarse / fine, 4.0, 0.2);
}

START_TEST(beginning_a_step_changes_no_value)
{
    fixture f = begin_fixture();
    tal_system *s = f.system;
    const tal_measure_ix wave = tal_measure_add_sinusoid(s, f.owner, "wave", 2.0, 3.0, 0.5);
    const tal_measure_ix blunt = add_blunt(&f, "blunt", wave);
    tal_delay_def delay = tal_delay_def_default();
    delay.name = "delay";
    delay.operand = blunt;
    delay.delay = 0.15;
    tal_delay_def brief = delay; // within the last step
    brief.name = "brief";
    brief.delay = 0.03;
    const tal_measure_ix m[] = {
        tal_measure_add_differentiate(s, f.owner, "d", blunt),
        tal_measure_add_extreme(s, f.owner, "e", TAL_EXTREME_MAXIMUM, wave),
        tal_measure_add_delay(s, f.owner, &delay),
        tal_measure_add_delay(s, f.owner, &brief),
    };
    finish_fixture(&f);
    for (int k = 0; k < 30; ++k) {
        double before[4];
        go_to(&f, 0.07 * k);
        for (int i = 0; i < 4; ++i) {
            before[i] = value(&f, m[i]);
        }
        ck_assert_int_eq(tal_system_begin_step(s, f.state), TAL_OK);
        ck_assert_int_eq(tal_state_stage(f.state), TAL_STAGE_REPORT);
        for (int i = 0; i < 4; ++i) {
            const double after = value(&f, m[i]);
            ck_assert_mem_eq(&before[i], &after, sizeof after);
        }
    }
    end_fixture(&f);
}

START_TEST(a_restarted_estimate_begins_with_zero)
{
    fixture f = begin_fixture();
    const tal_measure_ix t = tal_measure_add_time(f.system, f.owner, "t");
    const tal_measure_ix d =
        tal_measure_add_differentiate(f.system, f.owner, "d", add_blunt(&f, "b", t));
    finish_fixture(&f);
    step_to(&f, 0.0);
    step_to(&f, 0.5);
    ck_assert_double_eq(value(&f, d), 1.0);
    ck_assert_int_eq(tal_measure_restart(f.system, f.state, d), TAL_OK);
    ck_assert_int_eq(tal_state_stage(f.state), TAL_STAGE_INSTANCE); // below Time, which it needs
    step_to(&f, 0.5);
    ck_assert_double_eq(value(&f, d), 0.0);
    end_fixture(&f);
}

// --- extremes ---

// The running extremes are those of the samples, to the bit; the true peak 2 is missed by at most
// h^2/8 max|f''| = h^2/8 18.
START_TEST(extremes_are_those_of_the_samples)
{
    fixture f = begin_fixture();
    tal_system *s = f.system;
    const tal_measure_ix wave = tal_measure_add_sinusoid(s, f.owner, "wave", 2.0, 3.0, 0.5);
    const tal_extreme which[] = {TAL_EXTREME_MINIMUM, TAL_EXTREME_MAXIMUM, TAL_EXTREME_MINIMUM_ABS,
                                 TAL_EXTREME_MAXIMUM_ABS};
    tal_measure_ix m[4];
    for (int i = 0; i < 4; ++i) {
        m[i] = tal_measure_add_extreme(s, f.owner, NULL, which[i], wave);
    }
    finish_fixture(&f);

    const double h = 0.01;
    double best[4] = {TEST_INFINITY, -TEST_INFINITY, TEST_INFINITY, -TEST_INFINITY};
    double when[4] = {0.0};
    for (int k = 0; k <= 300; ++k) {
        step_to(&f, k * h);
        const double now = value(&f, wave);
        for (int i = 0; i < 4; ++i) {
            const double candidate = i < 2 ? now : fabs(now);
            const bool better = i % 2 == 0 ? candidate < best[i] : candidate > best[i];
            if (better) {
                best[i] = candidate;
                when[i] = k * h;
            }
            ck_assert_double_eq(value(&f, m[i]), best[i]);
            ck_assert_double_eq(tal_measure_time_of_extreme(s, f.state, m[i], 0), when[i]);
        }
    }
    const double missed = h * h / 8.0 * 18.0;
    ck_assert(2.0 - best[1] >= 0.0 && 2.0 - best[1] <= missed);
    ck_assert(best[0] + 2.0 >= 0.0 && best[0] + 2.0 <= missed);
    // 3 t + 0.5 = 5 pi/2 within half a step: of the two peaks, a sample is closer to the second
    ck_assert_double_eq_tol(when[1], (5.0 * 1.5707963267948966 - 0.5) / 3.0, 0.5 * h + 1e-12);
    end_fixture(&f);
}

START_TEST(a_trial_state_counts_only_for_itself)
{
    fixture f = begin_fixture();
    const polynomial line = {{0.0, 1.0, 0.0, 0.0}, -10.0, 1};
    const tal_measure_ix p = add_polynomial(&f, "p", 2, line);
    const tal_measure_ix e =
        tal_measure_add_extreme(f.system, f.owner, "e", TAL_EXTREME_MAXIMUM_ABS, p);
    finish_fixture(&f);

    ck_assert_double_eq(tal_measure_values(f.system, f.state, e)[1], 10.0); // no step yet
    step_to(&f, 1.0);
    go_to(&f, 5.0); // a trial
    ck_assert_double_eq(tal_measure_values(f.system, f.state, e)[0], 5.0);
    ck_assert_double_eq(tal_measure_values(f.system, f.state, e)[1], 9.0);
    ck_assert_double_eq(tal_measure_time_of_extreme(f.system, f.state, e, 0), 5.0);
    ck_assert_double_eq(tal_measure_time_of_extreme(f.system, f.state, e, 1), 1.0);
    go_to(&f, 2.0); // rejected: a shorter step
    ck_assert_double_eq(tal_measure_values(f.system, f.state, e)[0], 2.0);

    ck_assert_int_eq(tal_measure_restart(f.system, f.state, e), TAL_OK);
    go_to(&f, 3.0);
    ck_assert_double_eq(tal_measure_values(f.system, f.state, e)[1], 7.0);
    end_fixture(&f);
}

// An integral's value needs z alone, so z must reach its extreme without a change of stage below.
START_TEST(an_extreme_notices_whatever_its_operand_rests_on)
{
    fixture f = begin_fixture();
    const tal_measure_ix t = tal_measure_add_time(f.system, f.owner, "t");
    const tal_measure_ix i = tal_measure_add_integrate(f.system, f.owner, "i", t, NULL);
    const tal_measure_ix e =
        tal_measure_add_extreme(f.system, f.owner, "e", TAL_EXTREME_MAXIMUM, i);
    finish_fixture(&f);
    ck_assert_double_eq(value(&f, e), 0.0);
    const double z = 4.0;
    (void)tal_state_set_z(f.state, &z, 1);
    ck_assert_double_eq(value(&f, e), 4.0);
    end_fixture(&f);
}

START_TEST(of_equal_extremes_the_first_counts)
{
    fixture f = begin_fixture();
    const double one = 1.0;
    const tal_measure_ix c = tal_measure_add_constant(f.system, f.owner, "c", &one, 1);
    const tal_measure_ix e =
        tal_measure_add_extreme(f.system, f.owner, "e", TAL_EXTREME_MINIMUM_ABS, c);
    finish_fixture(&f);
    for (int k = 1; k < 5; ++k) {
        step_to(&f, k);
    }
    ck_assert_double_eq(tal_measure_time_of_extreme(f.system, f.state, e, 0), 1.0);
    end_fixture(&f);
}

// --- delay ---

static tal_measure_ix add_delay(const fixture *f, tal_measure_ix operand, double delay,
                                int capacity)
{
    tal_delay_def def = tal_delay_def_default();
    def.operand = operand;
    def.delay = delay;
    def.capacity = capacity;
    return tal_measure_add_delay(f->system, f->owner, &def);
}

// Both interpolants reproduce cubics. |f| < 30 over the run; the Lagrange weights and Hermite
// coefficients are below 10, so some ten roundings of 30 give 10 * 10 * 30 * 1e-16 < 1e-12.
START_TEST(a_delayed_cubic_is_the_cubic_earlier)
{
    for (int derivatives = 0; derivatives <= 1; ++derivatives) {
        fixture f = begin_fixture();
        const polynomial cubic = {{1.0, -2.0, 0.5, 0.7}, 3.0, derivatives};
        const tal_measure_ix p = add_polynomial(&f, "p", 2, cubic);
        const double delay = 0.33;
        const double brief = 0.02; // within the step that is being taken
        const tal_measure_ix m = add_delay(&f, p, delay, 16), latest = add_delay(&f, p, brief, 16);
        finish_fixture(&f);
        ck_assert_int_eq(tal_measure_stage(f.system, m, 0), TAL_STAGE_TIME);

        double t = 0.0;
        for (int k = 0; k < 40; ++k) {
            step_to(&f, t);
            t += 0.04 * (1 + k % 2);
            go_to(&f, t - 0.01); // a trial State
            const double ago = t - 0.01 - brief;
            if (k > 4) {
                ck_assert_double_eq_tol(tal_measure_values(f.system, f.state, latest)[0],
                                        1.0 + ago * (-2.0 + ago * (0.5 + ago * 0.7)), 1e-12);
            }
            const double at = t - 0.01 - delay;
            if (at < 0.0) continue; // before the first sample
            const double exact = 1.0 + at * (-2.0 + at * (0.5 + at * 0.7));
            const double *delayed = tal_measure_values(f.system, f.state, m);
            ck_assert_double_eq_tol(delayed[0], exact, 1e-12);
            ck_assert_double_eq_tol(delayed[1], exact + 3.0, 1e-12);
        }
        end_fixture(&f);
    }
}

static double worst_delay_error(double h, bool blunt)
{
    fixture f = begin_fixture();
    const tal_measure_ix s = tal_measure_add_sinusoid(f.system, f.owner, "s", 2.0, 3.0, 0.5);
    const double delay = 0.5037;
    const tal_measure_ix m = add_delay(&f, blunt ? add_blunt(&f, "b", s) : s, delay, 300);
    finish_fixture(&f);
    double worst = 0.0;
    for (int k = 0; k * h < 3.0; ++k) {
        step_to(&f, k * h);
        if (k * h < 1.0) continue;
        const double exact = 2.0 * sin(3.0 * (k * h - delay) + 0.5);
        worst = fmax(worst, fabs(value(&f, m) - exact));
    }
    end_fixture(&f);
    return worst;
}

// With delay = (m + x) h the error is c(x) h^4 f'''': x differs between h and h/2, and so does c(x)
// by a known factor: x^2 (1-x)^2 / 24 for Hermite, (x+1) x (x-1) (x-2) / 24 for Lagrange, both
// taken at 1 - x, the distance from the sample on the left. Terms of higher order: h w = 0.06.
START_TEST(the_error_of_a_delayed_sinusoid_is_of_fourth_order)
{
    const double h = 0.02;
    double place[2];
    for (int i = 0; i < 2; ++i) {
        const double steps = 0.5037 / (i == 0 ? h : 0.5 * h);
        place[i] = 1.0 - (steps - floor(steps));
    }
    for (int blunt = 0; blunt <= 1; ++blunt) {
        double c[2];
        for (int i = 0; i < 2; ++i) {
            const double x = place[i];
            c[i] = blunt ? (x + 1.0) * x * (1.0 - x) * (2.0 - x) / 24.0
                         : x * x * (1.0 - x) * (1.0 - x) / 24.0;
        }
        const double coarse = worst_delay_error(h, blunt);
        const double fine = worst_delay_error(0.5 * h, blunt);
        ck_assert_double_eq_tol(coarse / fine / (c[0] / c[1]), 16.0, 1.0);
        // f'''' = 2 * 81 at the peaks
        ck_assert_double_eq_tol(coarse / (c[0] * h * h * h * h * 162.0), 1.0, 0.06);
    }
}

START_TEST(before_the_first_sample_the_signal_was_constant)
{
    fixture f = begin_fixture();
    const polynomial line = {{5.0, 1.0, 0.0, 0.0}, 0.0, 0};
    const tal_measure_ix p = add_polynomial(&f, "p", 1, line);
    const tal_measure_ix m = add_delay(&f, p, 1.0, 8);
    finish_fixture(&f);
    ck_assert_double_eq(value(&f, m), 5.0); // no sample: the present value
    go_to(&f, 2.0);
    ck_assert_double_eq(value(&f, m), 7.0);
    step_to(&f, 2.0);
    go_to(&f, 2.5);
    ck_assert_double_eq(value(&f, m), 7.0); // 1.5 is before the first sample
    go_to(&f, 3.0);
    ck_assert_double_eq(value(&f, m), 7.0); // 2 is the first sample
    go_to(&f, 3.5);
    ck_assert_double_eq_tol(value(&f, m), 7.5, 1e-14); // two samples make a line
    step_to(&f, 3.5);
    go_to(&f, 4.0);
    ck_assert_double_eq_tol(value(&f, m), 8.0, 1e-14); // three a parabola

    // back in time: later samples are of a future that was undone
    step_to(&f, 2.25);
    go_to(&f, 3.25);
    ck_assert_double_eq(value(&f, m), 7.25);
    ck_assert_int_eq(tal_measure_restart(f.system, f.state, m), TAL_OK);
    go_to(&f, 9.0);
    ck_assert_double_eq(value(&f, m), 14.0);
    end_fixture(&f);
}

START_TEST(no_delay_is_the_measure_itself)
{
    fixture f = begin_fixture();
    const tal_measure_ix s = tal_measure_add_sinusoid(f.system, f.owner, "s", 2.0, 3.0, 0.5);
    const tal_measure_ix m = add_delay(&f, s, 0.0, 4);
    finish_fixture(&f);
    for (int k = 0; k < 10; ++k) {
        step_to(&f, 0.1 * k);
        ck_assert_double_eq(value(&f, m), value(&f, s));
    }
    end_fixture(&f);
}

START_TEST(a_ring_that_is_too_short_says_so)
{
    fixture f = begin_fixture();
    const tal_measure_ix t = tal_measure_add_time(f.system, f.owner, "t");
    tal_delay_def def = tal_delay_def_default();
    def.name = "echo";
    def.operand = t;
    def.delay = 1.0;
    def.capacity = 10;
    const tal_measure_ix m = tal_measure_add_delay(f.system, f.owner, &def);
    finish_fixture(&f);
    for (int k = 0; k < 10; ++k) {
        step_to(&f, 0.125 * k);
    }
    ck_assert_double_eq_tol(value(&f, m), 0.125, 1e-15);
    step_to(&f, 1.25); // samples from 0.125 on
    ck_assert_double_eq_tol(value(&f, m), 0.25, 1e-15);
    go_to(&f, 1.125); // back, to the first sample there is: none that was lost is needed
    ck_assert_double_eq(value(&f, m), 0.125);
    go_to(&f, 1.0625); // back, to what was lost

    ck_assert(isnan(value(&f, m)));
    const tal_error *err = tal_state_error(f.state);
    ck_assert_int_eq(err->status, TAL_ERR_CAPACITY);
    ck_assert_str_eq(err->message, "delay 'echo': its 10 samples reach back to t = 0.125, but t = "
                                   "0.0625 is wanted: raise its capacity");
    ck_assert_int_eq(test_breaches(), 0);
    end_fixture(&f);
}

// The slope of an integral is its operand, which may come as late as Acceleration: a delay that
// waited for it could not drive a force.
START_TEST(a_delay_does_not_wait_for_late_slopes)
{
    fixture f = begin_fixture();
    tal_result_def late = tal_result_def_default();
    late.name = "late";
    late.depends_on = TAL_STAGE_DYNAMICS;
    const tal_measure_ix r = tal_measure_add_result(f.system, f.owner, &late);
    const tal_measure_ix i = tal_measure_add_integrate(f.system, f.owner, "i", r, NULL);
    const tal_measure_ix m = add_delay(&f, i, 1.0, 8);
    ck_assert_int_eq(tal_measure_stage(f.system, i, 1), TAL_STAGE_DYNAMICS);
    ck_assert_int_eq(tal_measure_stage(f.system, m, 0), TAL_STAGE_TIME);
    end_fixture(&f);
}

START_TEST(a_damaged_ring_is_noticed)
{
    fixture f = begin_fixture();
    tal_delay_def def = tal_delay_def_default();
    def.name = "echo";
    def.operand = tal_measure_add_time(f.system, f.owner, "t");
    def.delay = 1.0;
    const tal_measure_ix m = tal_measure_add_delay(f.system, f.owner, &def);
    finish_fixture(&f);
    const tal_var_ix history = tal_system_find_var(f.system, f.owner, "echo.history");
    ck_assert_double_eq(value(&f, m), 0.0);
    const int32_t bad[][2] = {{-1, 0}, {256, 0}, {0, -1}, {0, 257}};
    for (int i = 0; i < 4; ++i) {
        memcpy(tal_var_upd(f.system, f.state, history), bad[i], sizeof bad[i]);
        ck_assert_int_eq(tal_system_realize(f.system, f.state, TAL_STAGE_REPORT), TAL_OK);
        ck_assert(isnan(value(&f, m)));
        ck_assert_int_eq(tal_state_error(f.state)->status, TAL_ERR_BAD_VALUE);
        ck_assert_ptr_nonnull(strstr(tal_state_error(f.state)->message, "'echo'"));
        ck_assert_int_eq(tal_system_begin_step(f.system, f.state), TAL_ERR_BAD_VALUE);
    }
    end_fixture(&f);
}

// --- sample-and-hold ---

START_TEST(a_hold_is_a_staircase)
{
    fixture f = begin_fixture();
    const double first[] = {-1.0, -2.0};
    const polynomial line = {{0.0, 1.0, 0.0, 0.0}, 100.0, 1};
    tal_hold_def def = tal_hold_def_default();
    def.name = "hold";
    def.operand = add_polynomial(&f, "p", 2, line);
    def.period = 1.0;
    def.t0 = 0.5;
    def.initial = first;
    const tal_measure_ix m = tal_measure_add_hold(f.system, f.owner, &def);
    finish_fixture(&f);
    ck_assert_int_eq(tal_measure_stage(f.system, m, 0), TAL_STAGE_POSITION);

    // a sum of steps of 0.1 misses 0.5 + k by some ulp, now before, now after it
    double t = 0.0;
    double last = 0.0;
    for (int k = 0; k < 100; ++k) {
        step_to(&f, t);
        const double *held = tal_measure_values(f.system, f.state, m);
        const int passed = (k - 5 + 10) / 10; // sampling times at steps 5, 15, ...
        if (k >= 5 && (k - 5) % 10 == 0) last = t;
        ck_assert_double_eq(held[0], passed > 0 ? last : -1.0);
        ck_assert_double_eq(held[1], passed > 0 ? last + 100.0 : -2.0);
        t += 0.1;
        // the value holds up to the end of the step, though a sampling time may be there
        const double before = held[0];
        go_to(&f, t);
        ck_assert_double_eq(tal_measure_values(f.system, f.state, m)[0], before);
    }
    end_fixture(&f);
}

START_TEST(a_sample_lowers_the_state_below_its_users)
{
    fixture f = begin_fixture();
    const tal_measure_ix t = tal_measure_add_time(f.system, f.owner, "t");
    tal_hold_def def = tal_hold_def_default();
    def.operand = t;
    def.period = 1.0;
    def.invalidates = TAL_STAGE_DYNAMICS;
    const tal_measure_ix m = tal_measure_add_hold(f.system, f.owner, &def);
    const tal_measure_ix area = tal_measure_add_integrate(f.system, f.owner, "area", m, NULL);
    finish_fixture(&f);

    go_to(&f, 0.25);
    ck_assert_double_eq(tal_state_zdot(f.state)[0], 0.0);
    ck_assert_int_eq(tal_system_begin_step(f.system, f.state), TAL_OK);
    ck_assert_int_eq(tal_state_stage(f.state), TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_system_realize(f.system, f.state, TAL_STAGE_ACCELERATION), TAL_OK);
    ck_assert_double_eq(tal_state_zdot(f.state)[0], 0.25);
    ck_assert_double_eq(tal_measure_derivative(f.system, f.state, area, 1), 0.25);

    // no sample is due, so nothing is lowered; then three at once give one
    go_to(&f, 0.75);
    ck_assert_int_eq(tal_system_begin_step(f.system, f.state), TAL_OK);
    ck_assert_int_eq(tal_state_stage(f.state), TAL_STAGE_REPORT);
    step_to(&f, 3.5);
    ck_assert_double_eq(value(&f, m), 3.5);
    step_to(&f, 3.75);
    ck_assert_double_eq(value(&f, m), 3.5);
    end_fixture(&f);
}

START_TEST(a_hold_samples_when_told_to)
{
    fixture f = begin_fixture();
    const tal_measure_ix t = tal_measure_add_time(f.system, f.owner, "t");
    tal_hold_def def = tal_hold_def_default();
    def.operand = t;
    def.period = 1.0;
    const tal_measure_ix m = tal_measure_add_hold(f.system, f.owner, &def);
    finish_fixture(&f);

    go_to(&f, 0.25);
    ck_assert_int_eq(tal_measure_sample(f.system, f.state, m), TAL_OK);
    ck_assert_int_eq(tal_state_stage(f.state), TAL_STAGE_TIME);
    step_to(&f, 0.5); // the sampling time 0 is done with
    ck_assert_double_eq(value(&f, m), 0.25);
    step_to(&f, 1.0);
    ck_assert_double_eq(value(&f, m), 1.0);
    ck_assert_int_eq(tal_measure_restart(f.system, f.state, m), TAL_OK);
    go_to(&f, 1.25);
    ck_assert_double_eq(value(&f, m), 1.0); // held until the next sample
    step_to(&f, 1.25);
    ck_assert_double_eq(value(&f, m), 1.25);

    (void)tal_state_set_t(f.state, 2.0);
    test_assert_breach(ck_assert_int_eq(tal_measure_sample(f.system, f.state, m), TAL_ERR_STAGE),
                       TAL_ERR_STAGE, "needs stage Time");
    test_assert_breach(
        ck_assert_int_eq(tal_measure_sample(f.system, f.state, t), TAL_ERR_BAD_INDEX),
        TAL_ERR_BAD_INDEX, "is of kind 'time', not 'hold'");
    test_assert_breach(ck_assert_int_eq(tal_measure_sample(f.system, NULL, m), TAL_ERR_NULL),
                       TAL_ERR_NULL, "NULL");
    end_fixture(&f);
}

// --- errors ---

START_TEST(bad_definitions_are_refused)
{
    const struct {
        double delay;
        int capacity;
        const char *part;
    } delays[] = {{-0.5, 8, "delay is -0.5"},
                  {TEST_NAN, 8, "delay is nan"},
                  {TEST_INFINITY, 8, "delay is inf"},
                  {1.0, 3, "capacity is 3, but must be 4"},
                  {1.0, 2000000000, "capacity is 2000000000"}};

    for (int i = 0; i < 5; ++i) {
        fixture f = begin_fixture();
        (void)add_delay(&f, tal_measure_add_time(f.system, f.owner, "t"), delays[i].delay,
                        delays[i].capacity);
        assert_refused(&f, TAL_ERR_BAD_VALUE, delays[i].part);
    }
    const double bad = TEST_NAN;

    const struct {
        double period, t0;
        const double *initial;
        tal_stage invalidates;
        tal_status status;
        const char *part;
    } holds[] = {
        {0.0, 0.0, NULL, TAL_STAGE_POSITION, TAL_ERR_BAD_VALUE, "period is 0"},
        {TEST_NAN, 0.0, NULL, TAL_STAGE_POSITION, TAL_ERR_BAD_VALUE, "period is nan"},
        {1.0, TEST_NAN, NULL, TAL_STAGE_POSITION, TAL_ERR_NOT_FINITE, "t0 is nan"},
        {1.0, 0.0, &bad, TAL_STAGE_POSITION, TAL_ERR_NOT_FINITE, "value 0 is nan"},
        {1.0, 0.0, NULL, TAL_STAGE_TIME, TAL_ERR_BAD_VALUE, "later than Time"},
    };

    for (int i = 0; i < 5; ++i) {
        fixture f = begin_fixture();
        tal_hold_def def = tal_hold_def_default();
        def.operand = tal_measure_add_time(f.system, f.owner, "t");
        def.period = holds[i].period;
        def.t0 = holds[i].t0;
        def.initial = holds[i].initial;
        def.invalidates = holds[i].invalidates;
        ck_assert_int_lt(tal_measure_add_hold(f.system, f.owner, &def).i, 0);
        assert_refused(&f, holds[i].status, holds[i].part);
    }
    fixture f = begin_fixture();
    (void)tal_measure_add_extreme(f.system, f.owner, "e", (tal_extreme)7,
                                  tal_measure_add_time(f.system, f.owner, "t"));
    assert_refused(&f, TAL_ERR_BAD_VALUE, "there is no extreme 7");
    f = begin_fixture();
    (void)tal_measure_add_delay(f.system, f.owner, NULL);
    assert_refused(&f, TAL_ERR_NULL, "def is NULL");
    f = begin_fixture();
    (void)tal_measure_add_hold(f.system, f.owner, NULL);
    assert_refused(&f, TAL_ERR_NULL, "def is NULL");
    f = begin_fixture();
    const tal_delay_def no_operand = tal_delay_def_default();
    (void)tal_measure_add_delay(f.system, f.owner, &no_operand);
    assert_refused(&f, TAL_ERR_BAD_INDEX, "measure -1");
}

START_TEST(a_sample_that_is_not_finite_is_refused)
{
    for (int kind = 0; kind < 5; ++kind) {
        fixture f = begin_fixture();
        tal_system *s = f.system;
        const polynomial nothing = {{TEST_NAN, 0.0, 0.0, 0.0}, 0.0, kind == 4 ? 1 : 0};
        const tal_measure_ix p = add_polynomial(&f, "nothing", 1, nothing);
        tal_hold_def hold = tal_hold_def_default();
        hold.operand = p;
        hold.period = 1.0;
        tal_measure_ix m = {-1};
        if (kind == 0) m = tal_measure_add_differentiate(s, f.owner, "m", p);
        if (kind == 1) m = tal_measure_add_extreme(s, f.owner, "m", TAL_EXTREME_MINIMUM, p);
        if (kind == 2) m = tal_measure_add_hold(s, f.owner, &hold);
        if (kind >= 3) m = add_delay(&f, p, 1.0, 8);
        finish_fixture(&f);

        if (kind == 2) {
            ck_assert_int_eq(tal_measure_sample(s, f.state, m), TAL_ERR_NOT_FINITE);
        } else {
            ck_assert(isnan(value(&f, m)));
        }
        if (kind == 1) ck_assert(isnan(tal_measure_time_of_extreme(s, f.state, m, 0)));
        ck_assert_int_eq(tal_state_error(f.state)->status, TAL_ERR_NOT_FINITE);
        ck_assert_ptr_nonnull(strstr(tal_state_error(f.state)->message, "cannot sample 'nothing'"));
        ck_assert_int_eq(tal_system_begin_step(s, f.state), TAL_ERR_NOT_FINITE);
        end_fixture(&f);
    }
    ck_assert_int_eq(test_breaches(), 0);
}

START_TEST(the_time_of_what_is_not_an_extreme_is_a_breach)
{
    fixture f = begin_fixture();
    const tal_measure_ix t = tal_measure_add_time(f.system, f.owner, "t");
    const tal_measure_ix e =
        tal_measure_add_extreme(f.system, f.owner, "e", TAL_EXTREME_MAXIMUM, t);
    finish_fixture(&f);
    test_assert_breach(ck_assert(isnan(tal_measure_time_of_extreme(f.system, f.state, t, 0))),
                       TAL_ERR_BAD_INDEX, "'t' is of kind 'time', not 'extreme'");
    test_assert_breach(ck_assert(isnan(tal_measure_time_of_extreme(f.system, f.state, e, 1))),
                       TAL_ERR_BAD_INDEX, "'e' has no component 1: it has 1");
    test_assert_breach(ck_assert(isnan(tal_measure_time_of_extreme(f.system, f.state, e, -1))),
                       TAL_ERR_BAD_INDEX, "component -1");
    end_fixture(&f);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("state/measure_history");
    TCase *tc = tcase_create("theory");
    tcase_add_test(tc, the_estimated_slope_of_a_parabola_is_exact_from_the_third_sample_on);
    tcase_add_test(tc, the_estimated_slope_stays_finite_when_time_turns_round);
    tcase_add_test(tc, the_estimated_slope_converges_at_second_order);
    tcase_add_test(tc, beginning_a_step_changes_no_value);
    tcase_add_test(tc, a_restarted_estimate_begins_with_zero);
    tcase_add_test(tc, extremes_are_those_of_the_samples);
    tcase_add_test(tc, a_trial_state_counts_only_for_itself);
    tcase_add_test(tc, an_extreme_notices_whatever_its_operand_rests_on);
    tcase_add_test(tc, of_equal_extremes_the_first_counts);
    tcase_add_test(tc, a_delayed_cubic_is_the_cubic_earlier);
    tcase_add_test(tc, the_error_of_a_delayed_sinusoid_is_of_fourth_order);
    tcase_add_test(tc, before_the_first_sample_the_signal_was_constant);
    tcase_add_test(tc, no_delay_is_the_measure_itself);
    tcase_add_test(tc, a_delay_does_not_wait_for_late_slopes);
    tcase_add_test(tc, a_hold_is_a_staircase);
    tcase_add_test(tc, a_sample_lowers_the_state_below_its_users);
    tcase_add_test(tc, a_hold_samples_when_told_to);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, a_ring_that_is_too_short_says_so);
    tcase_add_test(tc, a_damaged_ring_is_noticed);
    tcase_add_test(tc, bad_definitions_are_refused);
    tcase_add_test(tc, a_sample_that_is_not_finite_is_refused);
    tcase_add_test(tc, the_time_of_what_is_not_an_extreme_is_a_breach);
    suite_add_tcase(suite, tc);

    return test_run(suite);
}
