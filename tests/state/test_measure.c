// state/src/measure.c, measure_basic.c, measure_compose.c: declaring and reading measures, those
// without operands, and those made of others without a memory.
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

    const double pi = 3.14159265358979323846;
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
    assert_refused(&f, TAL_ERR_BAD_NAME, "at most 47 characters, this one 48");

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

// --- errors ---

START_TEST(bad_building_is_refused_with_a_sentence)
{
    const double nan_value[] = {1.0, NAN};
    fixture f = begin_fixture();
    (void)tal_measure_add_sum(f.system, f.owner, "s", (tal_measure_ix){3}, (tal_measure_ix){0});
    ck_assert_int_lt(tal_measure_add_time(f.system, f.owner, "t").i, 0); // sticky
    ck_assert_int_lt(tal_measure_add_constant(f.system, f.owner, "c", nan_value, 2).i, 0);
    assert_refused(&f, TAL_ERR_BAD_INDEX, "'s': operand 0 is measure 3, which does not exist");

    f = begin_fixture();
    (void)tal_measure_add_scale(f.system, f.owner, "s", 1.0, (tal_measure_ix){-1});
    assert_refused(&f, TAL_ERR_BAD_INDEX, "measure -1");

    f = begin_fixture();
    const tal_measure_ix t = tal_measure_add_time(f.system, f.owner, "t");
    const tal_measure_ix v =
        tal_measure_add_variable(f.system, f.owner, "v", NULL, 2, TAL_STAGE_INSTANCE);
    (void)tal_measure_add_difference(f.system, f.owner, "d", v, t);
    assert_refused(&f, TAL_ERR_BAD_VALUE, "'d': its operand 't' has size 1, the others 2");

    f = begin_fixture();
    (void)tal_measure_add_constant(f.system, f.owner, "c", nan_value, 2);
    assert_refused(&f, TAL_ERR_NOT_FINITE, "constant 'c': value 1 is nan");

    f = begin_fixture();
    (void)tal_measure_add_constant(f.system, f.owner, "c", NULL, 2);
    assert_refused(&f, TAL_ERR_NULL, "'c'");

    f = begin_fixture();
    (void)tal_measure_add_constant(f.system, f.owner, "c", nan_value, 0);
    assert_refused(&f, TAL_ERR_BAD_VALUE, "has size 0");

    f = begin_fixture();
    (void)tal_measure_add_constant(f.system, (tal_subsystem_ix){5}, "c", nan_value, 1);
    assert_refused(&f, TAL_ERR_BAD_INDEX, "subsystem 5");

    f = begin_fixture();
    (void)tal_measure_add_variable(f.system, f.owner, "v", nan_value, 2, TAL_STAGE_TIME);
    assert_refused(&f, TAL_ERR_NOT_FINITE, "variable 'v': value 1 is nan");

    f = begin_fixture();
    (void)tal_measure_add_variable(f.system, f.owner, "v", NULL, 2, TAL_STAGE_TOPOLOGY);
    assert_refused(&f, TAL_ERR_BAD_VALUE, "invalidates Topology");

    f = begin_fixture();
    (void)tal_measure_add_sinusoid(f.system, f.owner, NULL, 1.0, INFINITY, 0.0);
    assert_refused(&f, TAL_ERR_NOT_FINITE, "value 1 is inf");

    f = begin_fixture();
    (void)tal_measure_add_scale(f.system, f.owner, "s", NAN,
                                tal_measure_add_time(f.system, f.owner, "t"));
    assert_refused(&f, TAL_ERR_NOT_FINITE, "scale 's': value 0 is nan");

    f = begin_fixture();
    (void)tal_measure_add_integrate(f.system, f.owner, "i",
                                    tal_measure_add_time(f.system, f.owner, "t"), nan_value + 1);
    assert_refused(&f, TAL_ERR_NOT_FINITE, "integrate 'i': value 0 is nan");

    f = begin_fixture();
    (void)tal_measure_add_result(f.system, f.owner, NULL);
    assert_refused(&f, TAL_ERR_NULL, "def is NULL");

    f = begin_fixture();
    tal_result_def late = tal_result_def_default();
    late.name = "late";
    late.depends_on = TAL_STAGE_REPORT;
    (void)tal_measure_add_integrate(f.system, f.owner, "i",
                                    tal_measure_add_result(f.system, f.owner, &late), NULL);
    assert_refused(&f, TAL_ERR_BAD_VALUE, "'late' needs stage Report");
}

START_TEST(a_result_whose_prerequisites_are_bad_is_refused)
{
    fixture f = begin_fixture();
    tal_result_def def = tal_result_def_default();
    def.num_prereqs = 2;
    (void)tal_measure_add_result(f.system, f.owner, &def);
    assert_refused(&f, TAL_ERR_BAD_VALUE, "2 prerequisites at NULL");
}

START_TEST(elements_cannot_be_added_to_a_realized_system)
{
    fixture f = begin_fixture();
    finish_fixture(&f);
    const double nan_value = NAN;
    test_assert_breach((void)tal_measure_add_time(f.system, f.owner, "t"), TAL_ERR_TOPOLOGY,
                       "realized");
    test_assert_breach((void)tal_measure_add_constant(f.system, f.owner, "c", &nan_value, 1),
                       TAL_ERR_TOPOLOGY, "realized");
    test_assert_breach((void)tal_measure_add_time(NULL, f.owner, "t"), TAL_ERR_NULL, "NULL");
    end_fixture(&f);
}

START_TEST(bad_reading_is_a_breach_and_not_a_number)
{
    fixture f = begin_fixture();
    fixture g = begin_fixture();
    tal_system *s = f.system;
    const double pair[] = {1.0, 2.0};
    const tal_measure_ix t = tal_measure_add_time(s, f.owner, "t");
    const tal_measure_ix c = tal_measure_add_constant(s, f.owner, "c", pair, 2);
    const tal_measure_ix none = {9};
    finish_fixture(&f);
    finish_fixture(&g);

    test_assert_breach(ck_assert(isnan(value(&f, c))), TAL_ERR_BAD_VALUE, "'c' has size 2");
    test_assert_breach(ck_assert(isnan(value(&f, none))), TAL_ERR_BAD_INDEX, "no measure 9");
    test_assert_breach(ck_assert(isnan(tal_measure_derivative(s, f.state, t, 7))),
                       TAL_ERR_BAD_VALUE, "'t' has 6 derivatives: none of order 7");
    test_assert_breach(ck_assert(isnan(tal_measure_derivative(s, f.state, t, -1))),
                       TAL_ERR_BAD_VALUE, "order -1");
    test_assert_breach(ck_assert(isnan(tal_measure_value(s, g.state, t))), TAL_ERR_WRONG_SYSTEM,
                       "another System");
    test_assert_breach(ck_assert(isnan(tal_measure_value(s, NULL, t))), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_ptr_null(tal_measure_values(NULL, f.state, t)), TAL_ERR_NULL,
                       "NULL");
    (void)tal_state_set_t(f.state, 1.0);
    test_assert_breach(ck_assert(isnan(value(&f, t))), TAL_ERR_STAGE, "needs stage Time");

    test_assert_breach(ck_assert_int_eq(tal_measure_size(s, none), -1), TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(ck_assert_int_eq(tal_measure_num_derivatives(s, none), -1),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(ck_assert_int_lt(tal_measure_owner(s, none).i, 0), TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(ck_assert_str_eq(tal_measure_name(s, none), "(no measure)"),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(ck_assert_str_eq(tal_measure_kind(NULL, t), "(no measure)"), TAL_ERR_NULL,
                       "NULL");
    test_assert_breach(ck_assert_int_eq(tal_measure_stage(s, none, 0), TAL_STAGE_INFINITY),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(ck_assert_int_lt(tal_measure_entry(s, t, 9).i, 0), TAL_ERR_BAD_VALUE, "9");
    test_assert_breach(ck_assert_ptr_null(tal_measure_self(s, t, NULL)), TAL_ERR_BAD_INDEX,
                       "'t' is a time, not a (NULL)");
    test_assert_breach(ck_assert_ptr_null(tal_measure_self(s, none, &polynomial_ops)),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(ck_assert_ptr_null(tal_measure_upd_result(s, f.state, t)), TAL_ERR_BAD_INDEX,
                       "'t' is a time, not a result");
    test_assert_breach(
        ck_assert_int_eq(tal_measure_mark_result_valid(s, f.state, t), TAL_ERR_BAD_INDEX),
        TAL_ERR_BAD_INDEX, "'t'");
    end_fixture(&f);
    end_fixture(&g);
}

START_TEST(bad_setting_changes_nothing)
{
    fixture f = begin_fixture();
    fixture g = begin_fixture();
    tal_system *s = f.system;
    const tal_measure_ix t = tal_measure_add_time(s, f.owner, "t");
    const tal_measure_ix v = tal_measure_add_variable(s, f.owner, "v", NULL, 2, TAL_STAGE_TIME);
    finish_fixture(&f);
    finish_fixture(&g);
    const double good[] = {1.0, 2.0};
    const double bad[] = {1.0, INFINITY};

    test_assert_breach(ck_assert_int_eq(tal_measure_set(s, f.state, v, good, 1), TAL_ERR_BAD_VALUE),
                       TAL_ERR_BAD_VALUE, "'v' has size 2, not 1");
    test_assert_breach(ck_assert_int_eq(tal_measure_set(s, f.state, v, NULL, 2), TAL_ERR_NULL),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_int_eq(tal_measure_set(s, f.state, t, good, 1), TAL_ERR_BAD_INDEX),
                       TAL_ERR_BAD_INDEX, "'t' is a time, which cannot be set");
    test_assert_breach((void)tal_measure_set(s, f.state, (tal_measure_ix){7}, good, 1),
                       TAL_ERR_BAD_INDEX, "7");
    test_assert_breach((void)tal_measure_set(s, g.state, v, good, 2), TAL_ERR_WRONG_SYSTEM, "");
    test_assert_breach((void)tal_measure_restart(s, f.state, t), TAL_ERR_BAD_INDEX,
                       "'t' is a time, which has no history");
    test_assert_breach((void)tal_measure_restart(s, f.state, (tal_measure_ix){7}),
                       TAL_ERR_BAD_INDEX, "7");
    test_assert_breach((void)tal_measure_restart(s, g.state, v), TAL_ERR_WRONG_SYSTEM, "");

    // a bad value is remembered until the next realize returns it
    ck_assert_int_eq(tal_measure_set(s, f.state, v, bad, 2), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(test_breaches(), 0);
    ck_assert_int_eq(tal_system_realize(s, f.state, TAL_STAGE_REPORT), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(f.state)->message, "'v'"));
    ck_assert_double_eq(tal_measure_values(s, f.state, v)[0], 0.0);
    end_fixture(&f);
    end_fixture(&g);
}

// --- measures of one's own ---

static tal_status failing_calc(const void *self, const tal_system *system, tal_state *state,
                               int order, int n, double out[])
{
    (void)self;
    (void)system;
    (void)order;
    (void)n;
    (void)out;
    return tal_state_fail(state, TAL_ERR_SINGULAR, "no luck");
}

static tal_status failing_declare(void *self, tal_system *system, tal_measure_site *site)
{
    (void)self;
    (void)system;
    (void)site;
    return TAL_ERR_CALLBACK;
}

static void greedy_needs(const void *self, const tal_system *system, int order,
                         tal_measure_needs *needs)
{
    (void)self;
    (void)system;
    (void)order;
    const tal_prereq z = {TAL_PREREQ_Z, 0};
    for (int i = 0; i <= TAL_MEASURE_MAX_NEEDS; ++i) {
        tal_measure_needs_prereq(needs, z);
    }
}

static tal_status set_while_computing(const void *self, const tal_system *system, tal_state *state,
                                      int order, int n, double out[])
{
    (void)order;
    const tal_measure_ix *target = self;
    const double one = 1.0;
    memset(out, 0, (size_t)n * sizeof(double));
    ck_assert_int_eq(tal_measure_set(system, state, target[0], &one, 1), TAL_ERR_STAGE);
    ck_assert_int_eq(tal_measure_restart(system, state, target[1]), TAL_ERR_STAGE);
    return TAL_OK;
}

static tal_measure_ix add_own(const fixture *f, const tal_measure_ops *ops)
{
    tal_measure_def def = tal_measure_def_default();
    def.name = "own";
    def.size = 1;
    return tal_system_add_measure(f->system, f->owner, ops, &def);
}

START_TEST(a_table_must_be_complete)
{
    tal_measure_ops ops = {.size = sizeof ops, .name = "own", .calc = failing_calc};
    const tal_measure_ops broken[] = {
        {.size = sizeof ops, .name = NULL, .calc = failing_calc},
        {.size = sizeof ops, .name = "own", .calc = NULL},
        {.size = sizeof ops + 8, .name = "own", .calc = failing_calc},
        {.size = sizeof(size_t), .name = "own", .calc = failing_calc},
    };
    for (int i = 0; i < 4; ++i) {
        fixture f = begin_fixture();
        ck_assert_int_lt(add_own(&f, &broken[i]).i, 0);
        assert_refused(&f, TAL_ERR_BAD_VALUE, "size");
    }
    fixture f = begin_fixture();
    ck_assert_int_lt(add_own(&f, NULL).i, 0);
    assert_refused(&f, TAL_ERR_BAD_VALUE, "size");

    f = begin_fixture();
    ops.declare = failing_declare;
    ck_assert_int_lt(add_own(&f, &ops).i, 0);
    assert_refused(&f, TAL_ERR_CALLBACK, "measure 'own' could not be declared");

    f = begin_fixture();
    ops.declare = NULL;
    ops.needs = greedy_needs;
    ck_assert_int_lt(add_own(&f, &ops).i, 0);
    assert_refused(&f, TAL_ERR_CAPACITY, "needs 9 things directly");

    f = begin_fixture();
    tal_measure_def def = tal_measure_def_default();
    def.num_operands = -1;
    ck_assert_int_lt(tal_system_add_measure(f.system, f.owner, &ops, &def).i, 0);
    assert_refused(&f, TAL_ERR_BAD_VALUE, "-1 operands at NULL");
}

START_TEST(an_older_shorter_table_is_enough)
{
    const tal_measure_ops ops = {
        .size = offsetof(tal_measure_ops, declare), .name = "own", .calc = polynomial_calc};
    const polynomial self = {{2.5, 0.0, 0.0, 0.0}, 0.0, 0};
    fixture f = begin_fixture();
    tal_measure_def def = tal_measure_def_default();
    def.size = 1;
    def.self = &self;
    def.self_size = sizeof self;
    const tal_measure_ix m = tal_system_add_measure(f.system, f.owner, &ops, &def);
    finish_fixture(&f);
    ck_assert_double_eq(value(&f, m), 2.5);
    ck_assert_mem_eq(tal_measure_self(f.system, m, &ops), &self, sizeof self);
    end_fixture(&f);
}

START_TEST(a_failing_measure_fails_what_needs_it)
{
    const tal_measure_ops ops = {.size = sizeof ops, .name = "own", .calc = failing_calc};
    fixture f = begin_fixture();
    const tal_measure_ix m = add_own(&f, &ops);
    const tal_measure_ix i = tal_measure_add_integrate(f.system, f.owner, "i", m, NULL);
    const tal_measure_ix sum = tal_measure_add_sum(f.system, f.owner, "sum", m, i);
    tal_error err;
    ck_assert_int_eq(tal_system_realize_topology(f.system, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(f.system, &f.state, &err), TAL_OK);

    // not a breach: the caller did nothing wrong
    ck_assert_int_eq(tal_system_realize(f.system, f.state, TAL_STAGE_REPORT), TAL_ERR_SINGULAR);
    ck_assert_int_eq(tal_state_stage(f.state), TAL_STAGE_DYNAMICS);
    ck_assert_str_eq(tal_state_error(f.state)->message, "no luck");
    ck_assert(isnan(value(&f, sum)));
    ck_assert_str_eq(tal_state_error(f.state)->message, "no luck");
    ck_assert_int_eq(test_breaches(), 0);
    ck_assert_double_eq(value(&f, i), 0.0); // z is there all the same
    end_fixture(&f);
}

START_TEST(variables_cannot_be_set_from_inside_a_computation)
{
    const tal_measure_ops ops = {.size = sizeof ops, .name = "own", .calc = set_while_computing};
    fixture f = begin_fixture();
    tal_measure_ix target[2];
    target[0] = tal_measure_add_variable(f.system, f.owner, "v", NULL, 1, TAL_STAGE_TIME);
    target[1] = tal_measure_add_extreme(f.system, f.owner, "e", TAL_EXTREME_MAXIMUM, target[0]);
    tal_measure_def def = tal_measure_def_default();
    def.size = 1;
    def.self = target;
    def.self_size = sizeof target;
    const tal_measure_ix m = tal_system_add_measure(f.system, f.owner, &ops, &def);
    finish_fixture(&f);
    ck_assert_double_eq(value(&f, m), 0.0);
    ck_assert_int_eq(test_breaches(), 2);
    ck_assert_double_eq(value(&f, target[0]), 0.0);
    end_fixture(&f);
}

// --- memory ---

typedef struct budget {
    int left; // calls that succeed
    int live;
} budget;

static void *spend(void *context, size_t size)
{
    budget *b = context;
    if (b->left-- <= 0) return NULL;
    ++b->live;
    return aligned_alloc(TAL_ALIGNMENT, (size + TAL_ALIGNMENT - 1) / TAL_ALIGNMENT * TAL_ALIGNMENT);
}

static void unspend(void *context, void *block, size_t size)
{
    (void)size;
    --((budget *)context)->live;
    free(block);
}

static tal_status build_one_of_each(budget *b)
{
    const double one[] = {1.0, 2.0};
    tal_system_def def = tal_system_def_default();
    def.allocator.alloc = spend;
    def.allocator.free = unspend;
    def.allocator.context = b;
    tal_system *s = tal_system_create(&def);
    if (s == NULL) return TAL_ERR_NO_MEMORY;
    const tal_subsystem_ix me = tal_system_add_subsystem(s, "idle", &idle_ops, NULL);
    const tal_measure_ix c = tal_measure_add_constant(s, me, "constant", one, 2);
    const tal_measure_ix v = tal_measure_add_variable(s, me, "variable", one, 2, TAL_STAGE_TIME);
    const tal_measure_ix sum = tal_measure_add_sum(s, me, "sum", c, v);
    const tal_measure_ix i = tal_measure_add_integrate(s, me, "integrate", sum, one);
    (void)tal_measure_add_differentiate(s, me, "differentiate", v);
    (void)tal_measure_add_extreme(s, me, "extreme", TAL_EXTREME_MAXIMUM, i);
    tal_delay_def delay = tal_delay_def_default();
    delay.operand = i;
    (void)tal_measure_add_delay(s, me, &delay);
    tal_hold_def hold = tal_hold_def_default();
    hold.operand = i;
    hold.period = 1.0;
    hold.initial = one;
    (void)tal_measure_add_hold(s, me, &hold);
    tal_result_def result = tal_result_def_default();
    (void)tal_measure_add_result(s, me, &result);

    tal_state *state = NULL;
    tal_status st = tal_system_realize_topology(s, NULL);
    if (st == TAL_OK) st = tal_state_create(s, &state, NULL);
    tal_state_destroy(state);
    tal_system_destroy(s);
    return st;
}

START_TEST(memory_that_runs_out_anywhere_is_reported_and_nothing_leaks)
{
    int n = 0;
    tal_status st = TAL_ERR_NO_MEMORY;
    for (; st != TAL_OK; ++n) {
        budget b = {.left = n};
        st = build_one_of_each(&b);
        ck_assert(st == TAL_OK || st == TAL_ERR_NO_MEMORY);
        ck_assert_int_eq(b.live, 0);
        ck_assert_int_lt(n, 10000);
    }
    ck_assert_int_gt(n, 30);
    ck_assert_int_eq(test_breaches(), 0);
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
    tcase_add_test(tc, an_older_shorter_table_is_enough);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, bad_building_is_refused_with_a_sentence);
    tcase_add_test(tc, a_result_whose_prerequisites_are_bad_is_refused);
    tcase_add_test(tc, elements_cannot_be_added_to_a_realized_system);
    tcase_add_test(tc, bad_reading_is_a_breach_and_not_a_number);
    tcase_add_test(tc, bad_setting_changes_nothing);
    tcase_add_test(tc, a_table_must_be_complete);
    tcase_add_test(tc, a_failing_measure_fails_what_needs_it);
    tcase_add_test(tc, variables_cannot_be_set_from_inside_a_computation);
    suite_add_tcase(suite, tc);

    tc = tcase_create("alloc");
    tcase_add_test(tc, memory_that_runs_out_anywhere_is_reported_and_nothing_leaks);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
