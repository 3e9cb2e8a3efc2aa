// Functions given by a formula: constant, linear, polynomial, sinusoid, power, exponential, step.
#include "function/function_internal.h"

#include <math.h>
#include <string.h>

// ---- constant and linear

// A constant is linear without slopes, so one `self` serves both.
typedef struct linear {
    tali_function_block block;
    double b;
    double a[]; // [num_args], or none
} linear;

static double constant_value(const void *self, const double x[], int n)
{
    (void)x;
    (void)n;
    return ((const linear *)self)->b;
}

static double constant_derivative(const void *self, const double x[], int n, const int wrt[],
                                  int order)
{
    (void)self;
    (void)x;
    (void)n;
    (void)wrt;
    (void)order;
    return 0.0;
}

static const tal_function_ops constant_ops = {
    .size = sizeof constant_ops,
    .name = "constant",
    .calc_value = constant_value,
    .calc_derivative = constant_derivative,
    .destroy = tali_function_block_destroy,
};

static double linear_value(const void *self, const double x[], int n)
{
    const linear *f = self;
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += f->a[i] * x[i];
    }
    return sum + f->b;
}

static double linear_derivative(const void *self, const double x[], int n, const int wrt[],
                                int order)
{
    (void)x;
    (void)n;
    return order == 1 ? ((const linear *)self)->a[wrt[0]] : 0.0;
}

static const tal_function_ops linear_ops = {
    .size = sizeof linear_ops,
    .name = "linear function",
    .calc_value = linear_value,
    .calc_derivative = linear_derivative,
    .destroy = tali_function_block_destroy,
};

tal_status tal_function_create_constant(const tal_allocator *allocator, double value, int num_args,
                                        tal_function **out, tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = tali_function_check_number(&call, "value", value);
    if (st != TAL_OK) return st;

    linear *f = tali_function_block_create(&call, sizeof *f);
    if (f == NULL) return TAL_ERR_NO_MEMORY;
    f->b = value;

    tal_function_def def = {&constant_ops, f, num_args, TAL_FUNCTION_MAX_ORDER, NULL, 0};
    return tali_function_finish(&call, &def);
}

tal_status tal_function_create_linear(const tal_allocator *allocator, const double a[],
                                      int num_args, double b, tal_function **out, tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = tali_function_check_pointer(&call, "a", a);
    if (st == TAL_OK) st = tali_function_check_number(&call, "b", b);
    if (st != TAL_OK) return st;

    // a number of arguments out of range is reported by the table's create, which knows the range
    const int kept = num_args >= 1 && num_args <= TAL_FUNCTION_MAX_ARGS ? num_args : 0;
    st = tali_function_check_finite(&call, "a", a, kept);
    if (st != TAL_OK) return st;
    linear *f = tali_function_block_create(&call, sizeof *f + (size_t)kept * sizeof *a);
    if (f == NULL) return TAL_ERR_NO_MEMORY;
    f->b = b;
    memcpy(f->a, a, (size_t)kept * sizeof *a);

    tal_function_def def = {&linear_ops, f, num_args, TAL_FUNCTION_MAX_ORDER, NULL, 0};
    return tali_function_finish(&call, &def);
}

// ---- polynomial

typedef struct polynomial {
    tali_function_block block;
    int degree;
    double a[]; // [degree + 1] lowest power first
} polynomial;

static double polynomial_derivative(const void *self, const double x[], int n, const int wrt[],
                                    int order)
{
    (void)n;
    (void)wrt;
    const polynomial *f = self;
    return tali_function_poly_derivative(f->a, f->degree, x[0], order);
}

static double polynomial_value(const void *self, const double x[], int n)
{
    return polynomial_derivative(self, x, n, NULL, 0);
}

static double polynomial_integral(const void *self, double a, double b)
{
    const polynomial *f = self;
    return tali_function_poly_integral(f->a, f->degree, b) -
           tali_function_poly_integral(f->a, f->degree, a);
}

static const tal_function_ops polynomial_ops = {
    .size = sizeof polynomial_ops,
    .name = "polynomial",
    .calc_value = polynomial_value,
    .calc_derivative = polynomial_derivative,
    .destroy = tali_function_block_destroy,
    .calc_integral = polynomial_integral,
};

tal_status tal_function_create_polynomial(const tal_allocator *allocator,
                                          const double coefficients[], int count,
                                          tal_function **out, tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = tali_function_check_pointer(&call, "coefficients", coefficients);
    if (st != TAL_OK) return st;
    if (count < 1) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "a polynomial needs at least 1 coefficient, not %d", count);
    }
    st = tali_function_check_finite(&call, "coefficients", coefficients, count);
    if (st != TAL_OK) return st;

    polynomial *f =
        tali_function_block_create(&call, sizeof *f + (size_t)count * sizeof *coefficients);
    if (f == NULL) return TAL_ERR_NO_MEMORY;
    f->degree = count - 1;
    for (int k = 0; k < count; ++k) {
        f->a[k] = coefficients[count - 1 - k];
    }

    tal_function_def def = {&polynomial_ops, f, 1, TAL_FUNCTION_MAX_ORDER, NULL, 0};
    return tali_function_finish(&call, &def);
}

// ---- sinusoid

typedef struct sinusoid {
    tali_function_block block;
    double amplitude, omega, phase;
} sinusoid;

// d^k sin / dt^k = sin, cos, -sin, -cos, ... exactly, where adding k pi/2 to the phase would round.
static double sinusoid_derivative(const void *self, const double x[], int n, const int wrt[],
                                  int order)
{
    (void)n;
    (void)wrt;
    const sinusoid *f = self;
    const double angle = f->omega * x[0] + f->phase;
    const double wave = order % 2 == 0 ? sin(angle) : cos(angle);
    double scale = order % 4 < 2 ? f->amplitude : -f->amplitude;
    for (int k = 0; k < order; ++k) {
        scale *= f->omega;
    }
    return scale * wave;
}

static double sinusoid_value(const void *self, const double x[], int n)
{
    return sinusoid_derivative(self, x, n, NULL, 0);
}

static const tal_function_ops sinusoid_ops = {
    .size = sizeof sinusoid_ops,
    .name = "sinusoid",
    .calc_value = sinusoid_value,
    .calc_derivative = sinusoid_derivative,
    .destroy = tali_function_block_destroy,
};

tal_status tal_function_create_sinusoid(const tal_allocator *allocator, double amplitude,
                                        double omega, double phase, tal_function **out,
                                        tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = tali_function_check_number(&call, "amplitude", amplitude);
    if (st == TAL_OK) st = tali_function_check_number(&call, "omega", omega);
    if (st == TAL_OK) st = tali_function_check_number(&call, "phase", phase);
    if (st != TAL_OK) return st;

    sinusoid *f = tali_function_block_create(&call, sizeof *f);
    if (f == NULL) return TAL_ERR_NO_MEMORY;
    f->amplitude = amplitude;
    f->omega = omega;
    f->phase = phase;

    tal_function_def def = {&sinusoid_ops, f, 1, TAL_FUNCTION_MAX_ORDER, NULL, 0};
    return tali_function_finish(&call, &def);
}

// ---- power and exponential

typedef struct growth {
    tali_function_block block;
    double scale, exponent; // a x^p, or a exp(p x)
} growth;

// d^k x^p / dx^k = p (p - 1) ... (p - k + 1) x^(p - k). Where that product is zero, so is all of
// it, at x = 0 too.
static double power_derivative(const void *self, const double x[], int n, const int wrt[],
                               int order)
{
    (void)n;
    (void)wrt;
    const growth *f = self;
    double scale = f->scale;
    for (int k = 0; k < order; ++k) {
        scale *= f->exponent - k;
    }
    return scale == 0.0 ? 0.0 : scale * pow(x[0], f->exponent - order);
}

static double power_value(const void *self, const double x[], int n)
{
    return power_derivative(self, x, n, NULL, 0);
}

static const tal_function_ops power_ops = {
    .size = sizeof power_ops,
    .name = "power",
    .calc_value = power_value,
    .calc_derivative = power_derivative,
    .destroy = tali_function_block_destroy,
};

static double exponential_derivative(const void *self, const double x[], int n, const int wrt[],
                                     int order)
{
    (void)n;
    (void)wrt;
    const growth *f = self;
    double scale = f->scale;
    for (int k = 0; k < order; ++k) {
        scale *= f->exponent;
    }
    return scale == 0.0 ? 0.0 : scale * exp(f->exponent * x[0]);
}

static double exponential_value(const void *self, const double x[], int n)
{
    return exponential_derivative(self, x, n, NULL, 0);
}

static const tal_function_ops exponential_ops = {
    .size = sizeof exponential_ops,
    .name = "exponential",
    .calc_value = exponential_value,
    .calc_derivative = exponential_derivative,
    .destroy = tali_function_block_destroy,
};

static tal_status create_growth(const tali_function_call *call, const tal_function_ops *ops,
                                double scale, const char *subject, double exponent)
{
    tal_status st = tali_function_check_number(call, "scale", scale);
    if (st == TAL_OK) st = tali_function_check_number(call, subject, exponent);
    if (st != TAL_OK) return st;
    growth *f = tali_function_block_create(call, sizeof *f);
    if (f == NULL) return TAL_ERR_NO_MEMORY;
    f->scale = scale;
    f->exponent = exponent;
    tal_function_def def = {ops, f, 1, TAL_FUNCTION_MAX_ORDER, NULL, 0};
    return tali_function_finish(call, &def);
}

tal_status tal_function_create_power(const tal_allocator *allocator, double scale, double exponent,
                                     tal_function **out, tal_error *err)
{
    tali_function_call call;
    const tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    return st == TAL_OK ? create_growth(&call, &power_ops, scale, "exponent", exponent) : st;
}

tal_status tal_function_create_exponential(const tal_allocator *allocator, double scale,
                                           double rate, tal_function **out, tal_error *err)
{
    tali_function_call call;
    const tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    return st == TAL_OK ? create_growth(&call, &exponential_ops, scale, "rate", rate) : st;
}

// ---- step

typedef struct step {
    tali_function_block block;
    double x0, x1; // x0 < x1
    double y0, y1;
} step;

/*
 * With w = x1 - x0, t = (x - x0) / w, rise = y1 - y0 and s(t) = 10 t^3 - 15 t^4 + 6 t^5,
 *
 *     f^(k) = rise s^(k)(t) / w^k
 *
 * The upper half is the lower one turned around, s(t) = 1 - s(1 - t), so that the end at x1 is met
 * as exactly as the one at x0.
 */
static double step_derivative(const void *self, const double x[], int n, const int wrt[], int order)
{
    static const double s[] = {0.0, 0.0, 0.0, 10.0, -15.0, 6.0};
    (void)n;
    (void)wrt;
    const step *f = self;
    if (x[0] <= f->x0) return order == 0 ? f->y0 : 0.0;
    if (x[0] >= f->x1) return order == 0 ? f->y1 : 0.0;

    const double width = f->x1 - f->x0, rise = f->y1 - f->y0;
    const double before = x[0] - f->x0, after = f->x1 - x[0];
    const bool lower = before <= after;
    double slope = tali_function_poly_derivative(s, 5, (lower ? before : after) / width, order);
    if (order == 0) return lower ? f->y0 + rise * slope : f->y1 - rise * slope;

    for (int k = 0; k < order; ++k) {
        slope /= width;
    }
    return lower || order % 2 == 1 ? rise * slope : -rise * slope;
}

static double step_value(const void *self, const double x[], int n)
{
    return step_derivative(self, x, n, NULL, 0);
}

static const tal_function_ops step_ops = {
    .size = sizeof step_ops,
    .name = "step",
    .calc_value = step_value,
    .calc_derivative = step_derivative,
    .destroy = tali_function_block_destroy,
};

tal_status tal_function_create_step(const tal_allocator *allocator, double x0, double y0, double x1,
                                    double y1, tal_function **out, tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = tali_function_check_number(&call, "x0", x0);
    if (st == TAL_OK) st = tali_function_check_number(&call, "y0", y0);
    if (st == TAL_OK) st = tali_function_check_number(&call, "x1", x1);
    if (st == TAL_OK) st = tali_function_check_number(&call, "y1", y1);
    if (st != TAL_OK) return st;
    if (x0 == x1) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "x0 and x1 are both %g: they must differ", x0);
    }
    if (!isfinite(x1 - x0) || !isfinite(y1 - y0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the step from (%g, %g) to (%g, %g) overflows: scale it down", x0, y0, x1,
                         y1);
    }

    step *f = tali_function_block_create(&call, sizeof *f);
    if (f == NULL) return TAL_ERR_NO_MEMORY;
    f->x0 = x0 < x1 ? x0 : x1;
    f->y0 = x0 < x1 ? y0 : y1;
    f->x1 = x0 < x1 ? x1 : x0;
    f->y1 = x0 < x1 ? y1 : y0;

    tal_function_def def = {&step_ops, f, 1, TAL_FUNCTION_MAX_ORDER, NULL, 0};
    return tali_function_finish(&call, &def);
}

// ---- facts

bool tali_function_basic_facts(const tal_function_ops *ops, const void *self,
                               tali_function_facts *facts)
{
    if (ops->calc_value == constant_ops.calc_value || ops->calc_value == linear_ops.calc_value) {
        const linear *f = self;
        facts->numbers[0] = f->b;
        facts->list = f->a;
    } else if (ops->calc_value == polynomial_ops.calc_value) {
        const polynomial *f = self;
        facts->list = f->a;
        facts->count = f->degree + 1;
    } else if (ops->calc_value == sinusoid_ops.calc_value) {
        const sinusoid *f = self;
        const double numbers[] = {f->amplitude, f->omega, f->phase};
        memcpy(facts->numbers, numbers, sizeof numbers);
    } else if (ops->calc_value == power_ops.calc_value ||
               ops->calc_value == exponential_ops.calc_value) {
        const growth *f = self;
        facts->numbers[0] = f->scale;
        facts->numbers[1] = f->exponent;
    } else if (ops->calc_value == step_ops.calc_value) {
        const step *f = self;
        const double numbers[] = {f->x0, f->y0, f->x1, f->y1};
        memcpy(facts->numbers, numbers, sizeof numbers);
    } else {
        return false;
    }
    return true;
}
