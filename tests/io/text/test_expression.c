// io/src/text/expression.c, expression_operations.c: formulas as texts.
#include "talus_test.h"
#include "text/expression_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static tal_function *made(const char *text, const char *arguments)
{
    tal_function *f = NULL;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tali_expression_create(NULL, text, arguments, &f, &err);
    ck_assert_msg(st == TAL_OK, "'%s': %s", text, err.message);
    return f;
}

static double value_of(const char *text, double x, double y)
{
    tal_function *f = made(text, "x y");
    const double at[2] = {x, y}, v = tal_function_calc_value(f, at, 2);
    tal_function_destroy(f);
    return v;
}

// Each is one or a few operations of the C library: some ulps.
static void assert_value(const char *text, double x, double y, double expected)
{
    const double v = value_of(text, x, y), tol = 8.0 * DBL_EPSILON * fmax(1.0, fabs(expected));
    ck_assert_msg(fabs(v - expected) <= tol, "'%s' is %.17g, not %.17g", text, v, expected);
}

START_TEST(operators_bind_as_in_mathematics)
{
    assert_value("1+2*3", 0.0, 0.0, 7.0);
    assert_value("(1+2)*3", 0.0, 0.0, 9.0);
    assert_value("8-4-2", 0.0, 0.0, 2.0);
    assert_value("8/4/2", 0.0, 0.0, 1.0);
    assert_value("2^3^2", 0.0, 0.0, 512.0);
    assert_value("-2^2", 0.0, 0.0, -4.0);
    assert_value("2^-2", 0.0, 0.0, 0.25);
    assert_value("2^-1*3", 0.0, 0.0, 1.5);
    assert_value("2*-3+4", 0.0, 0.0, -2.0);
    assert_value("--3", 0.0, 0.0, 3.0);
    assert_value(" 1.5e2 * x\n - y ", 2.0, 3.0, 297.0);
}

END_TEST

START_TEST(names_behind_semicolons_use_those_behind_them)
{
    assert_value("a*x+b; a = 2*b; b = y^2", 3.0, 4.0, 112.0);
    assert_value("k*x; k = 3;", 2.0, 0.0, 6.0);
    assert_value("x; x = 7", 2.0, 0.0, 7.0); // a definition hides an argument
}

END_TEST

START_TEST(functions_have_their_values)
{
    static const struct {
        const char *text;
        double x, y, expected;
    } rows[] = {{"sqrt(x)", 2.0, 0.0, 1.4142135623730951},
                {"exp(x)", 1.0, 0.0, 2.718281828459045},
                {"log(x)", 10.0, 0.0, 2.302585092994046},
                {"sin(x)", 0.5, 0.0, 0.479425538604203},
                {"cos(x)", 0.5, 0.0, 0.8775825618903728},
                {"tan(x)", 0.5, 0.0, 0.5463024898437905},
                {"sec(x)", 0.5, 0.0, 1.139493927324549},
                {"csc(x)", 0.5, 0.0, 2.085829642933488},
                {"cot(x)", 0.5, 0.0, 1.830487721712452},
                {"asin(x)", 0.5, 0.0, 0.5235987755982989},
                {"acos(x)", 0.5, 0.0, 1.0471975511965979},
                {"atan(x)", 0.5, 0.0, 0.4636476090008061},
                {"atan2(x, y)", 1.0, -1.0, 2.356194490192345},
                {"sinh(x)", 1.0, 0.0, 1.1752011936438014},
                {"cosh(x)", 1.0, 0.0, 1.5430806348152437},
                {"tanh(x)", 1.0, 0.0, 0.7615941559557649},
                {"erf(x)", 0.5, 0.0, 0.5204998778130465},
                {"erfc(x)", 0.5, 0.0, 0.4795001221869535},
                {"step(x)", 0.0, 0.0, 1.0},
                {"step(x)", -0.1, 0.0, 0.0},
                {"delta(x)", 0.0, 0.0, 1.0},
                {"delta(x)", 0.1, 0.0, 0.0},
                {"abs(x)", -2.0, 0.0, 2.0},
                {"min(x, y)", 2.0, 3.0, 2.0},
                {"max(x, y)", 2.0, 3.0, 3.0},
                {"square(x)", -3.0, 0.0, 9.0},
                {"cube(x)", -3.0, 0.0, -27.0},
                {"recip(x)", 4.0, 0.0, 0.25},
                {"floor(x)", -1.5, 0.0, -2.0},
                {"ceil(x)", -1.5, 0.0, -1.0},
                {"select(x, y, 5)", 1.0, 3.0, 3.0},
                {"select(x, y, 5)", 0.0, 3.0, 5.0}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_value(rows[i].text, rows[i].x, rows[i].y, rows[i].expected);
    }
}

END_TEST

// First derivatives against differences of values, second against differences of first ones. With
// the step h = 1e-5 a central difference is off by h^2 |f'''| / 6 and by eps |f| / h; the
// derivatives here are below 1e3.
START_TEST(derivatives_agree_with_differences)
{
    static const char *const texts[] = {"x^3*y - y^x",
                                        "sqrt(x*y)",
                                        "exp(-x*y)",
                                        "log(x+y)",
                                        "sin(x*y)",
                                        "cos(x-y)",
                                        "tan(x*y/4)",
                                        "sec(x/2)*y",
                                        "csc(x+y)",
                                        "cot(x)*y",
                                        "asin(x*y/4)",
                                        "acos(x*y/4)",
                                        "atan(x/y)",
                                        "atan2(x, y)",
                                        "sinh(x*y)",
                                        "cosh(x-2*y)",
                                        "tanh(x*y)",
                                        "erf(x*y)",
                                        "erfc(x-y)",
                                        "square(x)*cube(y)",
                                        "recip(x+y)",
                                        "x/y",
                                        "abs(x-3)*y",
                                        "min(x^2, 9*y)",
                                        "max(x, y^3)",
                                        "select(step(x), x*y^2, y)",
                                        "a*x^b; a = sin(y); b = 2.5",
                                        "-x^2*y + 3"};
    const double h = 1e-5, tol = 3e-7;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        tal_function *f = made(texts[i], "x y");
        const double at[2] = {0.7, 1.3};
        for (int k = 0; k < 4; ++k) {
            const int wrt[2] = {k / 2, k % 2};
            double low[2] = {at[0], at[1]}, high[2] = {at[0], at[1]};
            low[wrt[1]] -= h;
            high[wrt[1]] += h;
            const double first =
                (tal_function_calc_value(f, high, 2) - tal_function_calc_value(f, low, 2)) /
                (2.0 * h);
            const double second = (tal_function_calc_derivative(f, high, 2, wrt, 1) -
                                   tal_function_calc_derivative(f, low, 2, wrt, 1)) /
                                  (2.0 * h);
            const double f1 = tal_function_calc_derivative(f, at, 2, &wrt[1], 1);
            const double f2 = tal_function_calc_derivative(f, at, 2, wrt, 2);
            ck_assert_msg(fabs(f1 - first) <= tol, "'%s' by %d: %g, not %g", texts[i], wrt[1], f1,
                          first);
            ck_assert_msg(fabs(f2 - second) <= tol, "'%s' by %d, %d: %g, not %g", texts[i], wrt[0],
                          wrt[1], f2, second);
        }
        tal_function_destroy(f);
    }
}

END_TEST

// What does not change does not care for an infinite slope.
START_TEST(constants_under_roots_have_no_slope)
{
    tal_function *f = made("sqrt(0)*x + 0^0.5", "x");
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 2.0, 1), 0.0);
    tal_function_destroy(f);
    f = made("x^2", "x");
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 0.0, 1), 0.0);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 0.0, 2), 2.0);
    ck_assert_double_eq(tal_function_calc_value_1(f, -3.0), 9.0);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, -3.0, 1), -6.0);
    tal_function_destroy(f);
}

END_TEST

static void assert_refused(const char *text, const char *expected)
{
    tal_function *f = NULL;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tali_expression_create(NULL, text, "q qdot", &f, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(f);
    ck_assert_msg(strstr(err.message, expected) != NULL, "'%s': %s", text, err.message);
}

START_TEST(what_is_wrong_is_said_with_line_and_column)
{
    assert_refused("", "line 1, column 1 of its formula, '': a number or a name is missing here");
    assert_refused("2*p", "line 1, column 3 of its formula, 'p': no such name; it may have q qdot");
    assert_refused("q +\n  *2", "line 2, column 3 of its formula, '*2': a number or a name is");
    assert_refused("2 q", "column 3 of its formula, 'q': an operator is missing here");
    assert_refused("(q", "column 1 of its formula, '(q': there is no ')' for it");
    assert_refused("q)", "column 2 of its formula, ')': there is no '(' for it");
    assert_refused("sine(q)", "column 1 of its formula, 'sine(q)': there is no such function");
    assert_refused("min(q)", "'min(q)': it takes two arguments");
    assert_refused("sin(q, q)", "column 6 of its formula, ',': one argument too many");
    assert_refused("q, q", "a comma outside a function");
    assert_refused("(q, q)", "a comma outside a function");
    assert_refused("sin()", "column 5 of its formula, ')': a number or a name is missing here");
    assert_refused("k*q; k 2", "column 6 of its formula, 'k': after a semicolon comes a name");
    assert_refused("k*q; k = j; j", "after a semicolon comes a name, '=' and a formula");
    assert_refused("a; a = b; b = a", "column 15 of its formula, 'a': no such name");
    assert_refused("1.2.3", "column 4 of its formula, '.3': an operator is missing here");
    assert_refused("1e999", "this is not a number");
    assert_refused("+q", "column 1 of its formula, '+q': a number or a name is missing here");
    char deep[200] = "";
    for (int i = 0; i < 100; ++i) {
        strcat(deep, "(");
    }
    assert_refused(deep, "it is nested too deeply");
    char lengthy[2000] = "q";
    for (int i = 0; i < 300; ++i) {
        strcat(lengthy, "+q");
    }
    assert_refused(lengthy, "the formula is too long");
}

END_TEST

START_TEST(the_text_is_kept)
{
    const char *arguments = NULL;
    tal_function *f = made("2*q", "q qdot");
    ck_assert_str_eq(tali_expression_text(f, &arguments), "2*q");
    ck_assert_str_eq(arguments, "q qdot");
    tal_function_destroy(f);
    ck_assert_int_eq(tal_function_create_constant(NULL, 1.0, 1, &f, NULL), TAL_OK);
    ck_assert_ptr_null(tali_expression_text(f, NULL));
    tal_function_destroy(f);
}

END_TEST

// Random pieces in random order: refused, or a function that can be evaluated.
START_TEST(random_texts_are_refused_or_read)
{
    static const char *const pieces[] = {
        "x", "y",    "1",    "2.5",     ".",  "e",  "+",    "-", "*",     "/",   "^",  "(",
        ")", ",",    "sin(", ";",       "a",  "=",  "min(", " ", "\n",    "1e3", "((", "atan",
        "~", "\xc3", "&",    "select(", "x)", "a=", "b",    "0", "pow(x", "1,2", "-x"};

    enum {
        NUM = sizeof pieces / sizeof *pieces
    };

    test_rng rng = test_rng_seed(20);
    int good = 0;
    for (int i = 0; i < 200000; ++i) {
        char text[200] = "";
        const int n = 1 + (int)(test_random_bits(&rng) % 12);
        for (int k = 0; k < n; ++k) {
            strcat(text, pieces[test_random_bits(&rng) % NUM]);
        }
        tal_function *f = NULL;
        tal_error err = {TAL_OK, "", ""};
        if (tali_expression_create(NULL, text, "x y", &f, &err) != TAL_OK) {
            ck_assert_msg(strstr(err.message, "column") != NULL, "'%s': %s", text, err.message);
            continue;
        }
        const double at[2] = {0.3, -0.4};
        const int wrt[2] = {0, 1};
        (void)tal_function_calc_value(f, at, 2);
        (void)tal_function_calc_derivative(f, at, 2, wrt, 2);
        tal_function_destroy(f);
        ++good;
    }
    ck_assert_int_gt(good, 1000);
}

END_TEST

START_TEST(creation_survives_every_failure_of_memory)
{
    test_heap heap = {.calls = 0};
    const tal_allocator allocator = test_heap_allocator(&heap);
    tal_function *f = NULL;
    tal_error err;
    for (heap.refuse_at = 1; heap.refuse_at < 10; ++heap.refuse_at) {
        heap.calls = 0;
        if (tali_expression_create(&allocator, "x^2", "x", &f, &err) == TAL_OK) break;
        ck_assert_ptr_null(f);
        ck_assert_int_eq(heap.live, 0);
    }
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(heap.refuse_at, 4); // the parser, what it made, and the function
    tal_function_destroy(f);
    ck_assert_int_eq(heap.live, 0);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/expression");
    TCase *tc = tcase_create("expression");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, operators_bind_as_in_mathematics);
    tcase_add_test(tc, names_behind_semicolons_use_those_behind_them);
    tcase_add_test(tc, functions_have_their_values);
    tcase_add_test(tc, derivatives_agree_with_differences);
    tcase_add_test(tc, constants_under_roots_have_no_slope);
    tcase_add_test(tc, what_is_wrong_is_said_with_line_and_column);
    tcase_add_test(tc, the_text_is_kept);
    tcase_add_test(tc, random_texts_are_refused_or_read);
    tcase_add_test(tc, creation_survives_every_failure_of_memory);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
