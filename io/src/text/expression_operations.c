// What formulas are made of: operators and functions with their derivatives.
#include "text/expression_internal.h"

#include <math.h>
#include <string.h>

typedef tali_expression_partials partials;

// 2 / sqrt(pi)
static const double two_over_root_pi = 1.12837916709551257390;

// --- operators ---

static partials add(double x, double y, int order)
{
    (void)order;
    return (partials){.v = x + y, .x = 1.0, .y = 1.0};
}

static partials subtract(double x, double y, int order)
{
    (void)order;
    return (partials){.v = x - y, .x = 1.0, .y = -1.0};
}

static partials multiply(double x, double y, int order)
{
    (void)order;
    return (partials){.v = x * y, .x = y, .y = x, .xy = 1.0};
}

static partials divide(double x, double y, int order)
{
    (void)order;
    const double v = x / y, inverse = 1.0 / y;
    return (partials){.v = v,
                      .x = inverse,
                      .y = -v * inverse,
                      .xy = -inverse * inverse,
                      .yy = 2.0 * v * inverse * inverse};
}

// d(x^y) = y x^(y-1) dx + x^y log(x) dy. A factor of zero stays zero where x^(y-1) is infinite.
static partials power(double x, double y, int order)
{
    partials p = {.v = pow(x, y)};
    if (order == 0) return p;
    const double once = pow(x, y - 1.0), twice = y * (y - 1.0);
    const double log_x = p.v == 0.0 ? 0.0 : log(x);
    p.x = y == 0.0 ? 0.0 : y * once;
    p.y = p.v * log_x;
    p.xx = twice == 0.0 ? 0.0 : twice * pow(x, y - 2.0);
    p.xy = once * (1.0 + y * log_x);
    p.yy = p.y * log_x;
    return p;
}

static partials negate(double x, double y, int order)
{
    (void)y, (void)order;
    return (partials){.v = -x, .x = -1.0};
}

// --- roots, powers, exponentials ---

static partials calc_sqrt(double x, double y, int order)
{
    (void)y, (void)order;
    const double v = sqrt(x);
    return (partials){.v = v, .x = 0.5 / v, .xx = -0.25 / (v * x)};
}

static partials calc_exp(double x, double y, int order)
{
    (void)y, (void)order;
    const double v = exp(x);
    return (partials){.v = v, .x = v, .xx = v};
}

static partials calc_log(double x, double y, int order)
{
    (void)y, (void)order;
    return (partials){.v = log(x), .x = 1.0 / x, .xx = -1.0 / (x * x)};
}

static partials calc_square(double x, double y, int order)
{
    (void)y, (void)order;
    return (partials){.v = x * x, .x = 2.0 * x, .xx = 2.0};
}

static partials calc_cube(double x, double y, int order)
{
    (void)y, (void)order;
    return (partials){.v = x * x * x, .x = 3.0 * x * x, .xx = 6.0 * x};
}

static partials calc_recip(double x, double y, int order)
{
    (void)y, (void)order;
    const double v = 1.0 / x;
    return (partials){.v = v, .x = -v * v, .xx = 2.0 * v * v * v};
}

// --- angles ---

static partials calc_sin(double x, double y, int order)
{
    (void)y, (void)order;
    const double s = sin(x);
    return (partials){.v = s, .x = cos(x), .xx = -s};
}

static partials calc_cos(double x, double y, int order)
{
    (void)y, (void)order;
    const double c = cos(x);
    return (partials){.v = c, .x = -sin(x), .xx = -c};
}

static partials calc_tan(double x, double y, int order)
{
    (void)y, (void)order;
    const double t = tan(x), slope = 1.0 + t * t;
    return (partials){.v = t, .x = slope, .xx = 2.0 * t * slope};
}

static partials calc_sec(double x, double y, int order)
{
    (void)y, (void)order;
    const double v = 1.0 / cos(x), t = tan(x);
    return (partials){.v = v, .x = v * t, .xx = v * (1.0 + 2.0 * t * t)};
}

static partials calc_csc(double x, double y, int order)
{
    (void)y, (void)order;
    const double v = 1.0 / sin(x), t = 1.0 / tan(x);
    return (partials){.v = v, .x = -v * t, .xx = v * (1.0 + 2.0 * t * t)};
}

static partials calc_cot(double x, double y, int order)
{
    (void)y, (void)order;
    const double t = 1.0 / tan(x), slope = 1.0 + t * t;
    return (partials){.v = t, .x = -slope, .xx = 2.0 * t * slope};
}

static partials calc_asin(double x, double y, int order)
{
    (void)y, (void)order;
    const double slope = 1.0 / sqrt(1.0 - x * x);
    return (partials){.v = asin(x), .x = slope, .xx = x * slope * slope * slope};
}

static partials calc_acos(double x, double y, int order)
{
    (void)y, (void)order;
    const double slope = -1.0 / sqrt(1.0 - x * x);
    return (partials){.v = acos(x), .x = slope, .xx = x * slope * slope * slope};
}

static partials calc_atan(double x, double y, int order)
{
    (void)y, (void)order;
    const double slope = 1.0 / (1.0 + x * x);
    return (partials){.v = atan(x), .x = slope, .xx = -2.0 * x * slope * slope};
}

// The angle of (y, x): its first argument goes up.
static partials calc_atan2(double x, double y, int order)
{
    (void)order;
    const double r2 = x * x + y * y, both = 2.0 * x * y / (r2 * r2);
    return (partials){.v = atan2(x, y),
                      .x = y / r2,
                      .y = -x / r2,
                      .xx = -both,
                      .xy = (x * x - y * y) / (r2 * r2),
                      .yy = both};
}

// --- hyperbolic functions and the error function ---

static partials calc_sinh(double x, double y, int order)
{
    (void)y, (void)order;
    const double s = sinh(x);
    return (partials){.v = s, .x = cosh(x), .xx = s};
}

static partials calc_cosh(double x, double y, int order)
{
    (void)y, (void)order;
    const double c = cosh(x);
    return (partials){.v = c, .x = sinh(x), .xx = c};
}

static partials calc_tanh(double x, double y, int order)
{
    (void)y, (void)order;
    const double t = tanh(x), slope = 1.0 - t * t;
    return (partials){.v = t, .x = slope, .xx = -2.0 * t * slope};
}

static partials calc_erf(double x, double y, int order)
{
    (void)y, (void)order;
    const double slope = two_over_root_pi * exp(-x * x);
    return (partials){.v = erf(x), .x = slope, .xx = -2.0 * x * slope};
}

static partials calc_erfc(double x, double y, int order)
{
    (void)y, (void)order;
    const double slope = -two_over_root_pi * exp(-x * x);
    return (partials){.v = erfc(x), .x = slope, .xx = -2.0 * x * slope};
}

// --- pieces ---

static partials calc_step(double x, double y, int order)
{
    (void)y, (void)order;
    return (partials){.v = x >= 0.0 ? 1.0 : 0.0};
}

static partials calc_delta(double x, double y, int order)
{
    (void)y, (void)order;
    return (partials){.v = x == 0.0 ? 1.0 : 0.0};
}

static partials calc_floor(double x, double y, int order)
{
    (void)y, (void)order;
    return (partials){.v = floor(x)};
}

static partials calc_ceil(double x, double y, int order)
{
    (void)y, (void)order;
    return (partials){.v = ceil(x)};
}

static partials calc_abs(double x, double y, int order)
{
    (void)y, (void)order;
    return (partials){.v = fabs(x), .x = x >= 0.0 ? 1.0 : -1.0};
}

static partials calc_min(double x, double y, int order)
{
    (void)order;
    return x < y ? (partials){.v = x, .x = 1.0} : (partials){.v = y, .y = 1.0};
}

static partials calc_max(double x, double y, int order)
{
    (void)order;
    return x < y ? (partials){.v = y, .y = 1.0} : (partials){.v = x, .x = 1.0};
}

// --- the table ---

static const tali_expression_operation functions[] = {
    {"sqrt", 1, calc_sqrt},   {"exp", 1, calc_exp},     {"log", 1, calc_log},
    {"sin", 1, calc_sin},     {"cos", 1, calc_cos},     {"tan", 1, calc_tan},
    {"sec", 1, calc_sec},     {"csc", 1, calc_csc},     {"cot", 1, calc_cot},
    {"asin", 1, calc_asin},   {"acos", 1, calc_acos},   {"atan", 1, calc_atan},
    {"sinh", 1, calc_sinh},   {"cosh", 1, calc_cosh},   {"tanh", 1, calc_tanh},
    {"erf", 1, calc_erf},     {"erfc", 1, calc_erfc},   {"step", 1, calc_step},
    {"delta", 1, calc_delta}, {"abs", 1, calc_abs},     {"square", 1, calc_square},
    {"cube", 1, calc_cube},   {"recip", 1, calc_recip}, {"floor", 1, calc_floor},
    {"ceil", 1, calc_ceil},   {"min", 2, calc_min},     {"max", 2, calc_max},
    {"atan2", 2, calc_atan2}, {"select", 3, NULL}};

const tali_expression_operation *tali_expression_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
        const char *word = functions[i].name;
        if (strlen(word) == length && memcmp(word, name, length) == 0) return &functions[i];
    }
    return NULL;
}

const tali_expression_operation *tali_expression_operator(char c)
{
    static const tali_expression_operation operators[] = {{"+", 2, add},      {"-", 2, subtract},
                                                          {"*", 2, multiply}, {"/", 2, divide},
                                                          {"^", 2, power},    {"~", 1, negate}};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; ++i) {
        if (operators[i].name[0] == c) return &operators[i];
    }
    return NULL;
}
