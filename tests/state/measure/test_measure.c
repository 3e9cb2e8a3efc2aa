// state/src/measure/measure.c, measure_basic.c, measure_compose.c: declaring and reading measures,
// those without operands, and those made of others without a memory.
#include "measure_fixture.h"

// --- identities ---

START_TEST(a_constant_stays_and_its_derivatives_vanish)
{
    fixture f = begin_fixture();
    const double c[] = {1.5, -2.0, 1e300};
    const tal_measure_ix m = tal_measure_add_constant(f.system, f.owner, "c", c, 3);
    finish_fixture(&f);

    ck_assert_int_eq(tal_measure_size(f.system, m), 3);
    ck_assert_int_eq(tal_measure_stage(f.system, m, 0), TAL_STAGE_TOPOLOGY);
    ck_assert_mem_eq(tal_measure_values(f.system, f.state, m), c, sizeof c);
    ck_assert_int_eq(tal_measure_num_derivatives(f.system, m), TAL_MEASURE_MAX_DERIVATIVES);
    for (int k = 1; k <= TAL_MEASURE_MAX_DERIVATIVES; ++k) {
        for (int i = 0; i < 3; ++i) {
            ck_assert_double_eq(tal_measure_derivatives(f.system, f.state, m, k)[i], 0.0);
        }
    }
    // it needs no more than the Model stage that every State has
    ck_assert_int_eq(tal_state_invalidate(f.state, TAL_STAGE_INSTANCE), TAL_OK);
    ck_assert_mem_eq(tal_measure_values(f.system, f.state, m), c, sizeof c);
    end_fixture(&f);
}

START_TEST(time_runs_at_rate_one)
{
    fixture f = begin_fixture();
    const tal_measure_ix m = tal_measure_add_time(f.system, f.owner, "t");
    finish_fixture(&f);

    for (int i = 0; i < 5; ++i) {
        go_to(&f, 0.3 * i);
        ck_assert_double_eq(value(&f, m), 0.3 * i);
        ck_assert_double_eq(tal_measure_derivative(f.system, f.state, m, 0), 0.3 * i);
        ck_assert_double_eq(tal_measure_derivative(f.system, f.state, m, 1), 1.0);
        for (int k = 2; k <= TAL_MEASURE_MAX_DERIVATIVES; ++k) {
            ck_assert_double_eq(tal_measure_derivative(f.system, f.state, m, k), 0.0);
        }
    }
    end_fixture(&f);
}

START_TEST(every_derivative_of_a_sinusoid_is_analytic)
{
    fixture f = begin_fixture();
    const double a = 2.0, w = 3.0, p = 0.5;
    const tal_measure_ix m = tal_measure_add_sinusoid(f.system, f.owner, "s", a, w, p);
    finish_fixture(&f);

    const double pi = TAL_PI;
    for (int i = -4; i < 5; ++i) {
        go_to(&f, 0.7 * i);
        for (int k = 0; k <= TAL_MEASURE_MAX_DERIVATIVES; ++k) {
            // the phase k pi/2 is rounded, by at most 10 ulp of 1, in this formula but not in ours
            const double size = a * pow(w, k);
            const double expected = size * sin(w * 0.7 * i + p + k * pi / 2.0);
            const double got = tal_measure_derivative(f.system, f.state, m, k);
            ck_assert_double_eq_tol(got, expected, size * 2e-14);
        }
    }
    end_fixture(&f);
}

// d^k(a + b) = d^k a + d^k b, the same operations in the same order: to the bit
START_TEST(derivatives_of_sums_differences_and_multiples_are_linear)
{
    fixture f = begin_fixture();
    tal_system *s = f.system;
    const tal_measure_ix a = tal_measure_add_sinusoid(s, f.owner, "a", 2.0, 3.0, 0.5);
    const polynomial cubic = {{1.0, -2.0, 0.5, 0.25}, 0.0, 4};
    const tal_measure_ix b = add_polynomial(&f, "b", 1, cubic);
    const tal_measure_ix sum = tal_measure_add_sum(s, f.owner, "sum", a, b);
    const tal_measure_ix dif = tal_measure_add_difference(s, f.owner, "dif", a, b);
    const tal_measure_ix mul = tal_measure_add_scale(s, f.owner, "mul", -1.75, dif);
    finish_fixture(&f);

    ck_assert_int_eq(tal_measure_num_derivatives(s, sum), 4);
    ck_assert_int_eq(tal_measure_num_derivatives(s, mul), 4);
    for (int i = 0; i < 7; ++i) {
        go_to(&f, 0.37 * i);
        for (int k = 0; k <= 4; ++k) {
            const double ak = tal_measure_derivative(s, f.state, a, k);
            const double bk = tal_measure_derivative(s, f.state, b, k);
            ck_assert_double_eq(tal_measure_derivative(s, f.state, sum, k), ak + bk);
            ck_assert_double_eq(tal_measure_derivative(s, f.state, dif, k), ak - bk);
            ck_assert_double_eq(tal_measure_derivative(s, f.state, mul, k), -1.75 * (ak - bk));
        }
    }
    end_fixture(&f);
}

// One step of the classical Runge-Kutta method on the z alone.
static void runge_kutta(const fixture *f, double h)
{
    enum {
        NZ = 3
    };

    double z0[NZ], sum[NZ] = {0.0};
    const double node[] = {0.0, 0.5, 0.5, 1.0};
    const double weight[] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    double slope[NZ] = {0.0};
    const double t0 = tal_state_t(f->state);
    const int nz = tal_state_nz(f->state);
    memcpy(z0, tal_state_z(f->state), (size_t)nz * sizeof(double));
    for (int stage = 0; stage < 4; ++stage) {
        double z[NZ];
        for (int i = 0; i < nz; ++i) {
            z[i] = z0[i] + h * node[stage] * slope[i];
        }
        (void)tal_state_set_t(f->state, t0 + h * node[stage]);
        (void)tal_state_set_z(f->state, z, nz);
        ck_assert_int_eq(tal_system_realize(f->system, f->state, TAL_STAGE_ACCELERATION), TAL_OK);
        for (int i = 0; i < nz; ++i) {
            slope[i] = tal_state_zdot(f->state)[i];
            sum[i] += h * weight[stage] * slope[i];
        }
    }
    for (int i = 0; i < nz; ++i) {
        z0[i] += sum[i];
    }
    (void)tal_state_set_z(f->state, z0, nz);
    ck_assert_int_eq(tal_system_realize(f->system, f->state, TAL_STAGE_REPORT), TAL_OK);
}

// int a sin(w t + p) = a/w (cos p - cos(w t + p)), and once more
START_TEST(integrals_of_a_sinusoid_are_analytic)
{
    fixture f = begin_fixture();
    tal_system *s = f.system;
    const double a = 2.0, w = 3.0, p = 0.5, first = 0.25;
    const tal_measure_ix m = tal_measure_add_sinusoid(s, f.owner, "m", a, w, p);
    const tal_measure_ix once = tal_measure_add_integrate(s, f.owner, "once", m, NULL);
    const tal_measure_ix twice = tal_measure_add_integrate(s, f.owner, "twice", once, &first);
    finish_fixture(&f);
    ck_assert_int_eq(tal_measure_num_derivatives(s, once), TAL_MEASURE_MAX_DERIVATIVES);
    ck_assert_int_eq(tal_measure_stage(s, once, 0), TAL_STAGE_INSTANCE);
    ck_assert_int_eq(tal_measure_stage(s, once, 1), TAL_STAGE_TIME);
    ck_assert_int_eq(tal_measure_stage(s, twice, 1), TAL_STAGE_INSTANCE);
    ck_assert_double_eq(value(&f, twice), first);

    // Runge-Kutta on a pure integral is Simpson's rule: error <= t h^4/2880 a w^4 = 6e-11 at
    // h = 1e-3 (and t more for the second integral)
    for (int i = 0; i < 1000; ++i) {
        runge_kutta(&f, 1e-3);
    }
    const double t = tal_state_t(f.state);
    const double exact = a / w * (cos(p) - cos(w * t + p));
    ck_assert_double_eq_tol(value(&f, once), exact, 1e-10);
    const double again = first + a / w * t * cos(p) - a / w / w * (sin(w * t + p) - sin(p));
    ck_assert_double_eq_tol(value(&f, twice), again, 1e-10);

    // its derivatives are the operand, to the bit
    ck_assert_double_eq(tal_measure_derivative(s, f.state, once, 1), value(&f, m));
    ck_assert_double_eq(tal_measure_derivative(s, f.state, twice, 2), value(&f, m));
    ck_assert_double_eq(tal_measure_derivative(s, f.state, twice, 3),
                        tal_measure_derivative(s, f.state, m, 1));
    end_fixture(&f);
}

START_TEST(differentiating_an_integral_gives_the_measure_back)
{
    fixture f = begin_fixture();
    tal_system *s = f.system;
    const tal_measure_ix m = tal_measure_add_sinusoid(s, f.owner, "m", 2.0, 3.0, 0.5);
    const tal_measure_ix integral = tal_measure_add_integrate(s, f.owner, "i", m, NULL);
    const tal_measure_ix back = tal_measure_add_differentiate(s, f.owner, "d", integral);
    const tal_measure_ix rate = tal_measure_add_differentiate(s, f.owner, "r", m);
    finish_fixture(&f);

    ck_assert_int_eq(tal_measure_num_derivatives(s, back), TAL_MEASURE_MAX_DERIVATIVES - 1);
    for (int i = 0; i < 9; ++i) {
        go_to(&f, 0.11 * i);
        ck_assert_double_eq(value(&f, back), value(&f, m));
        ck_assert_double_eq(value(&f, rate), tal_measure_derivative(s, f.state, m, 1));
        ck_assert_double_eq(tal_measure_derivative(s, f.state, rate, 2),
                            tal_measure_derivative(s, f.state, m, 3));
    }
    ck_assert_int_eq(tal_measure_restart(s, f.state, back), TAL_OK); // there is nothing to forget
    end_fixture(&f);
}

// --- variables and results ---

START_TEST(a_variable_is_what_was_set)
{
    fixture f = begin_fixture();
    tal_system *s = f.system;
    const double first[] = {1.0, 2.0};
    const tal_measure_ix v =
        tal_measure_add_variable(s, f.owner, "v", first, 2, TAL_STAGE_VELOCITY);
    const tal_measure_ix zero = tal_measure_add_variable(s, f.owner, "w", NULL, 2, TAL_STAGE_MODEL);
    const tal_measure_ix twice = tal_measure_add_scale(s, f.owner, "twice", 2.0, v);
    finish_fixture(&f);

    ck_assert_int_eq(tal_measure_num_derivatives(s, v), 0);
    ck_assert_mem_eq(tal_measure_values(s, f.state, v), first, sizeof first);
    ck_assert_double_eq(tal_measure_values(s, f.state, zero)[1], 0.0);
    ck_assert_double_eq(tal_measure_values(s, f.state, twice)[1], 4.0);

    const double next[] = {-3.0, 5.0};
    ck_assert_int_eq(tal_measure_set(s, f.state, v, next, 2), TAL_OK);
    ck_assert_int_eq(tal_state_stage(f.state), TAL_STAGE_POSITION);
    ck_assert_mem_eq(tal_measure_values(s, f.state, v), next, sizeof next);
    ck_assert_double_eq(tal_measure_values(s, f.state, twice)[0], -6.0);
    ck_assert_double_eq(tal_measure_values(s, f.state, twice)[1], 10.0);
    end_fixture(&f);
}

START_TEST(setting_an_integral_sets_its_z)
{
    fixture f = begin_fixture();
    tal_system *s = f.system;
    const double rates[] = {1.0, -1.0};
    const tal_measure_ix c = tal_measure_add_constant(s, f.owner, "c", rates, 2);
    const tal_measure_ix one = tal_measure_add_time(s, f.owner, "t");
    const tal_measure_ix before = tal_measure_add_integrate(s, f.owner, "before", one, NULL);
    const tal_measure_ix m = tal_measure_add_integrate(s, f.owner, "m", c, NULL);
    finish_fixture(&f);

    const double next[] = {7.0, 8.0};
    ck_assert_int_eq(tal_measure_set(s, f.state, m, next, 2), TAL_OK);
    ck_assert_int_eq(tal_state_stage(f.state), TAL_STAGE_VELOCITY);
    ck_assert_mem_eq(tal_measure_values(s, f.state, m), next, sizeof next);
    ck_assert_mem_eq(tal_state_z(f.state) + 1, next, sizeof next);
    ck_assert_double_eq(value(&f, before), 0.0);
    ck_assert_int_eq(tal_system_realize(s, f.state, TAL_STAGE_ACCELERATION), TAL_OK);
    ck_assert_mem_eq(tal_state_zdot(f.state) + 1, rates, sizeof rates);
    end_fixture(&f);
}

START_TEST(a_result_is_valid_from_its_mark_to_the_next_change)
{
    fixture f = begin_fixture();
    tal_system *s = f.system;
    const double one = 1.0;
    const tal_measure_ix v = tal_measure_add_variable(s, f.owner, "v", &one, 1, TAL_STAGE_REPORT);
    const tal_prereq need = tal_prereq_cache(tal_measure_entry(s, v, 0));
    tal_result_def def = tal_result_def_default();
    def.name = "r";
    def.size = 2;
    def.depends_on = TAL_STAGE_TIME;
    def.prereqs = &need;
    def.num_prereqs = 1;
    const tal_measure_ix r = tal_measure_add_result(s, f.owner, &def);
    const tal_measure_ix twice = tal_measure_add_scale(s, f.owner, "twice", 2.0, r);
    finish_fixture(&f);
    ck_assert_int_eq(tal_measure_stage(s, twice, 0), TAL_STAGE_TIME);

    test_assert_breach(ck_assert_ptr_null(tal_measure_values(s, f.state, twice)), TAL_ERR_STAGE,
                       "only its owner writes it");
    (void)value(&f, v);
    double *room = tal_measure_upd_result(s, f.state, r);
    room[0] = 3.0;
    room[1] = 4.0;
    ck_assert_int_eq(tal_measure_mark_result_valid(s, f.state, r), TAL_OK);
    ck_assert_double_eq(tal_measure_values(s, f.state, twice)[1], 8.0);

    // a write, a prerequisite and the stage each end it
    (void)tal_measure_upd_result(s, f.state, r);
    test_assert_breach(ck_assert_ptr_null(tal_measure_values(s, f.state, r)), TAL_ERR_STAGE, "r");
    ck_assert_int_eq(tal_measure_mark_result_valid(s, f.state, r), TAL_OK);
    ck_assert_int_eq(tal_measure_set(s, f.state, v, &one, 1), TAL_OK);
    test_assert_breach(ck_assert_ptr_null(tal_measure_values(s, f.state, r)), TAL_ERR_STAGE, "r");
    (void)value(&f, v);
    ck_assert_int_eq(tal_measure_mark_result_valid(s, f.state, r), TAL_OK);
    ck_assert_ptr_nonnull(tal_measure_values(s, f.state, r));
    go_to(&f, 1.0);
    test_assert_breach(ck_assert_ptr_null(tal_measure_values(s, f.state, r)), TAL_ERR_STAGE, "r");
    end_fixture(&f);
}

// --- caching ---

START_TEST(a_value_survives_what_does_not_touch_it)
{
    fixture f = begin_fixture();
    tal_system *s = f.system;
    const tal_measure_ix t = tal_measure_add_time(s, f.owner, "t");
    const tal_measure_ix integral = tal_measure_add_integrate(s, f.owner, "i", t, NULL);
    const tal_measure_ix half = tal_measure_add_scale(s, f.owner, "half", 0.5, integral);
    finish_fixture(&f);

    (void)value(&f, half);
    ck_assert(tal_cache_is_valid(s, f.state, tal_measure_entry(s, half, 0)));
    (void)tal_state_set_t(f.state, 1.0); // an integral's value needs z alone
    ck_assert(tal_cache_is_valid(s, f.state, tal_measure_entry(s, half, 0)));
    (void)tal_state_set_z(f.state, (const double[]){3.0}, 1);
    ck_assert(!tal_cache_is_valid(s, f.state, tal_measure_entry(s, half, 0)));
    ck_assert_double_eq(value(&f, half), 1.5);
    end_fixture(&f);
}

// Realizing in the order of need keeps the depth of calls at two, whatever the length of the chain.
START_TEST(a_long_chain_is_evaluated)
{
    fixture f = begin_fixture();
    const tal_measure_ix t = tal_measure_add_time(f.system, f.owner, "t");
    const tal_measure_ix one = tal_measure_add_differentiate(f.system, f.owner, "one", t);
    tal_measure_ix m = add_blunt(&f, "start", one);
    for (int i = 0; i < 300; ++i) {
        m = tal_measure_add_sum(f.system, f.owner, NULL, m, add_blunt(&f, NULL, one));
    }
    finish_fixture(&f);
    ck_assert_double_eq(value(&f, m), 301.0);
    end_fixture(&f);
}

// --- names ---

START_TEST(a_measure_is_found_by_its_name)
{
    fixture f = begin_fixture();
    tal_system *s = f.system;
    const tal_subsystem_ix other = tal_system_add_subsystem(s, "other", &idle_ops, NULL);
    const tal_measure_ix a = tal_measure_add_time(s, f.owner, "clock");
    const tal_measure_ix b = tal_measure_add_time(s, other, "clock"); // unique per owner only
    const tal_measure_ix c = tal_measure_add_time(s, other, NULL);
    finish_fixture(&f);

    ck_assert_int_eq(tal_system_num_measures(s), 3);
    ck_assert_int_eq(tal_system_find_measure(s, f.owner, "clock").i, a.i);
    ck_assert_int_eq(tal_system_find_measure(s, other, "clock").i, b.i);
    ck_assert_int_lt(tal_system_find_measure(s, f.owner, "cloc").i, 0);
    ck_assert_int_lt(tal_system_find_measure(NULL, f.owner, "clock").i, 0);
    ck_assert_int_lt(tal_system_find_measure(s, f.owner, NULL).i, 0);
    ck_assert_int_lt(tal_system_find_measure(s, (tal_subsystem_ix){-1}, "clock").i, 0);
    ck_assert_str_eq(tal_measure_name(s, b), "clock");
    ck_assert_str_eq(tal_measure_name(s, c), "measure2");
    ck_assert_str_eq(tal_measure_kind(s, c), "time");
    ck_assert_int_eq(tal_measure_owner(s, b).i, other.i);
    ck_assert_int_eq(tal_measure_owner(s, a).i, f.owner.i);
    ck_assert_int_eq(tal_system_num_measures(NULL), -1);
    end_fixture(&f);
}

START_TEST(a_name_is_unique_and_leaves_room)
{
    fixture f = begin_fixture();
    (void)tal_measure_add_time(f.system, f.owner, "clock");
    ck_assert_int_lt(tal_measure_add_time(f.system, f.owner, "clock").i, 0);
    assert_refused(&f, TAL_ERR_BAD_NAME, "'clock' exists already in subsystem 'idle'");

    char name[TAL_MAX_MEASURE_NAME + 2];
    memset(name, 'x', sizeof name);
    name[TAL_MAX_MEASURE_NAME + 1] = '\0';
    f = begin_fixture();
    (void)tal_measure_add_time(f.system, f.owner, name);
    assert_refused(&f, TAL_ERR_BAD_NAME, "at most 47 characters, this one has 48");

    // the longest name goes with every kind
    name[TAL_MAX_MEASURE_NAME] = '\0';
    f = begin_fixture();
    const tal_measure_ix t = tal_measure_add_time(f.system, f.owner, "t");
    tal_delay_def delay = tal_delay_def_default();
    delay.name = name;
    delay.operand = t;
    const tal_measure_ix m = tal_measure_add_delay(f.system, f.owner, &delay);
    finish_fixture(&f);
    ck_assert_str_eq(tal_measure_name(f.system, m), name);
    end_fixture(&f);
}

// --- structure hash ---

static uint64_t hash_of(bool difference, double constant, bool swapped)
{
    fixture f = begin_fixture();
    tal_system *s = f.system;
    const tal_measure_ix c = tal_measure_add_constant(s, f.owner, "c", &constant, 1);
    const tal_measure_ix d = tal_measure_add_constant(s, f.owner, "d", &constant, 1);
    const tal_measure_ix a = swapped ? d : c;
    const tal_measure_ix b = swapped ? c : d;
    (void)(difference ? tal_measure_add_difference(s, f.owner, "m", a, b)
                      : tal_measure_add_sum(s, f.owner, "m", a, b));
    finish_fixture(&f);
    const uint64_t hash = tal_system_structure_hash(s);
    end_fixture(&f);
    return hash;
}

START_TEST(the_structure_hash_knows_kinds_and_operands)
{
    const uint64_t hash = hash_of(false, 1.0, false);
    ck_assert(hash == hash_of(false, 1.0, false));
    ck_assert(hash == hash_of(false, 2.0, false)); // a constant is not structure
    ck_assert(hash != hash_of(true, 1.0, false));
    ck_assert(hash != hash_of(false, 1.0, true));
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("state/measure");
    TCase *tc = tcase_create("theory");
    tcase_add_test(tc, a_constant_stays_and_its_derivatives_vanish);
    tcase_add_test(tc, time_runs_at_rate_one);
    tcase_add_test(tc, every_derivative_of_a_sinusoid_is_analytic);
    tcase_add_test(tc, derivatives_of_sums_differences_and_multiples_are_linear);
    tcase_add_test(tc, integrals_of_a_sinusoid_are_analytic);
    tcase_add_test(tc, differentiating_an_integral_gives_the_measure_back);
    suite_add_tcase(suite, tc);

    tc = tcase_create("values");
    tcase_add_test(tc, a_variable_is_what_was_set);
    tcase_add_test(tc, setting_an_integral_sets_its_z);
    tcase_add_test(tc, a_result_is_valid_from_its_mark_to_the_next_change);
    tcase_add_test(tc, a_value_survives_what_does_not_touch_it);
    tcase_add_test(tc, a_long_chain_is_evaluated);
    suite_add_tcase(suite, tc);

    tc = tcase_create("structure");
    tcase_add_test(tc, a_measure_is_found_by_its_name);
    tcase_add_test(tc, a_name_is_unique_and_leaves_room);
    tcase_add_test(tc, the_structure_hash_knows_kinds_and_operands);
    suite_add_tcase(suite, tc);

    return test_run(suite);
}
