// From elements of functions to functions.
#include "error_internal.h"

#include "opensim/osim_internal.h"

#include <math.h>
#include <string.h>

// What readers of one kind of function get.
typedef struct source {
    tali_osim *o;
    const tali_xml_element *element;
    const tal_allocator *from;
    int num_args;
} source;

typedef tal_status (*function_reader)(const source *s, tal_function **out, tal_error *err);

static tal_status read_constant(const source *s, tal_function **out, tal_error *err)
{
    const double value = tali_osim_number(s->o, s->element, "value", 0.0);
    return tal_function_create_constant(s->from, value, s->num_args, out, err);
}

// Slopes, then the value where all arguments are zero.
static tal_status read_linear(const source *s, tal_function **out, tal_error *err)
{
    double *c = NULL;
    const int n = tali_osim_all_numbers(s->o, s->element, "coefficients", &c);
    if (n == s->num_args + 1) {
        return tal_function_create_linear(s->from, c, s->num_args, c[n - 1], out, err);
    }
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "%d coefficients were given; a linear function of %d coordinate%s needs %d", n,
                     s->num_args, s->num_args == 1 ? "" : "s", s->num_args + 1);
}

static tal_status read_polynomial(const source *s, tal_function **out, tal_error *err)
{
    double *c = NULL;
    const int n = tali_osim_all_numbers(s->o, s->element, "coefficients", &c);
    if (n < 1) return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "<coefficients> are missing");
    return tal_function_create_polynomial(s->from, c, n, out, err);
}

// amplitude sin(omega x + phase) + offset
static tal_status read_sine(const source *s, tal_function **out, tal_error *err)
{
    tal_function *terms[2] = {NULL};
    tal_status st = tal_function_create_sinusoid(
        s->from, tali_osim_number(s->o, s->element, "amplitude", 1.0),
        tali_osim_number(s->o, s->element, "omega", 1.0),
        tali_osim_number(s->o, s->element, "phase", 0.0), &terms[0], err);
    if (st == TAL_OK) {
        st = tal_function_create_constant(
            s->from, tali_osim_number(s->o, s->element, "offset", 0.0), 1, &terms[1], err);
    }
    if (st == TAL_OK) st = tal_function_create_sum(s->from, terms, 2, out, err);
    for (int i = 0; i < 2 && st != TAL_OK; ++i) {
        tal_function_destroy(terms[i]);
    }
    return st;
}

static tal_status read_step(const source *s, tal_function **out, tal_error *err)
{
    return tal_function_create_step(s->from, tali_osim_number(s->o, s->element, "start_time", -1.0),
                                    tali_osim_number(s->o, s->element, "start_value", 0.0),
                                    tali_osim_number(s->o, s->element, "end_time", 1.0),
                                    tali_osim_number(s->o, s->element, "end_value", 1.0), out, err);
}

// --- curves through points ---

typedef struct points {
    double *x, *y;
    int n;
} points;

static tal_status read_points(const source *s, int least, points *p, tal_error *err)
{
    p->n = tali_osim_all_numbers(s->o, s->element, "x", &p->x);
    const int n = tali_osim_all_numbers(s->o, s->element, "y", &p->y);
    if (p->n != n) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there are %d values of x and %d of y", p->n, n);
    }
    return p->n >= least
               ? TAL_OK
               : TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                           "%d points were given; this function needs %d at least", p->n, least);
}

static tal_status read_simm_spline(const source *s, tal_function **out, tal_error *err)
{
    points p;
    const tal_status st = read_points(s, 2, &p, err);
    if (st != TAL_OK) return st;
    return tal_function_create_spline(s->from, p.x, p.y, p.n, TAL_SPLINE_SIMM, out, err);
}

static tal_status read_piecewise_linear(const source *s, tal_function **out, tal_error *err)
{
    points p;
    const tal_status st = read_points(s, 2, &p, err);
    if (st != TAL_OK) return st;
    return tal_function_create_piecewise_linear(s->from, p.x, p.y, p.n, out, err);
}

// The value of each point holds up to the next point. Ours hold from the point before, so that
// values move on by one point, and the last one begins behind the last point.
static tal_status read_piecewise_constant(const source *s, tal_function **out, tal_error *err)
{
    points p;
    tal_status st = read_points(s, 1, &p, err);
    if (st != TAL_OK) return st;
    const size_t n = (size_t)p.n;
    double *x = tali_osim_take(s->o, p.n + 1, sizeof *x);
    double *y = tali_osim_take(s->o, p.n + 1, sizeof *y);
    if (x == NULL || y == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory");
    memcpy(x, p.x, n * sizeof *x);
    memcpy(y + 1, p.y, n * sizeof *y);
    y[0] = p.y[0];
    x[n] = x[n - 1] + 1.0;
    st = tal_function_create_nodes(s->from, x, y, p.n + 1, TAL_NODES_STEPS, out, err);
    for (int i = 0; i < p.n && st == TAL_OK; ++i) {
        double *stop = TALI_OSIM_ADD(s->o, stops); // where the argument is time
        if (stop != NULL) *stop = p.x[i];
    }
    return st;
}

bool tali_osim_next_term(int powers[], int n, int order)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += powers[i];
    }
    for (int i = n - 1; i >= 0; --i) {
        if (sum < order) {
            powers[i] += 1;
            return true;
        }
        sum -= powers[i];
        powers[i] = 0;
    }
    return false;
}

// A polynomial of all arguments with all terms up to an order.
static tal_status read_multivariate(const source *s, tal_function **out, tal_error *err)
{
    double *c = NULL;
    const int count = tali_osim_all_numbers(s->o, s->element, "coefficients", &c);
    const int n = s->num_args;
    const double order = tali_osim_number(s->o, s->element, "order", 0.0);
    const double dimension = tali_osim_number(s->o, s->element, "dimension", n);
    if (dimension != n) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "its dimension is %g; it has %d coordinates",
                         dimension, n);
    }
    if (!(order >= 0.0 && order <= TAL_FUNCTION_MAX_POWER)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "its order is %g; 0 to %d can be read", order,
                         TAL_FUNCTION_MAX_POWER);
    }
    int *powers = tali_osim_take(s->o, count * n, sizeof *powers);
    if (powers == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory");
    int term[TAL_FUNCTION_MAX_ARGS] = {0}, terms = 0;
    bool more = true;
    for (; more && terms < count; ++terms) {
        memcpy(powers + (size_t)terms * (size_t)n, term, (size_t)n * sizeof *term);
        more = tali_osim_next_term(term, n, (int)order);
    }
    if (more || terms < count || count == 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "%d coefficients were given, which are %s than its terms", count,
                         more ? "fewer" : "more");
    }
    return tal_function_create_multivariate_polynomial(s->from, c, powers, count, n, out, err);
}

// A natural spline of degree 2 half_order - 1 that passes through its points; smoothing, which
// wants an <error_variance>, is not done.
static tal_status read_gcv_spline(const source *s, tal_function **out, tal_error *err)
{
    const double half_order = tali_osim_number(s->o, s->element, "half_order", 3.0);
    if (tali_osim_number(s->o, s->element, "error_variance", 0.0) > 0.0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "a spline that smooths its points is not read");
    }
    points p;
    const tal_status st = read_points(s, 2, &p, err);
    if (st != TAL_OK) return st;
    if (half_order == 3.0) {
        return tal_function_create_quintic_spline(s->from, p.x, p.y, p.n, out, err);
    }
    if (half_order == 2.0) {
        return tal_function_create_spline(s->from, p.x, p.y, p.n, TAL_SPLINE_NATURAL, out, err);
    }
    if (half_order == 1.0) {
        return tal_function_create_piecewise_linear(s->from, p.x, p.y, p.n, out, err);
    }
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "half_order is %g; 1, 2 and 3 can be read",
                     half_order);
}

// --- the table ---

static const struct {
    const char *name;
    bool of_one; // argument only
    function_reader read;
} readers[] = {{"Constant", false, read_constant},
               {"LinearFunction", false, read_linear},
               {"SimmSpline", true, read_simm_spline},
               {"NaturalCubicSpline", true, read_simm_spline}, // its name before 2.4
               {"natCubicSpline", true, read_simm_spline},     // and before that
               {"PiecewiseLinearFunction", true, read_piecewise_linear},
               {"PiecewiseConstantFunction", true, read_piecewise_constant},
               {"PolynomialFunction", true, read_polynomial},
               {"MultivariatePolynomialFunction", false, read_multivariate},
               {"GCVSpline", true, read_gcv_spline},
               {"StepFunction", true, read_step},
               {"Sine", true, read_sine}};

enum {
    NUM_READERS = sizeof readers / sizeof *readers
};

static tal_status read_plain(const source *s, tal_function **out, tal_error *err)
{
    for (int i = 0; i < NUM_READERS; ++i) {
        if (strcmp(readers[i].name, s->element->name) != 0) continue;
        if (readers[i].of_one && s->num_args != 1) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "it takes one coordinate, not %d",
                             s->num_args);
        }
        return readers[i].read(s, out, err);
    }
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "functions of this kind are not read");
}

// --- functions that are scaled ---

// scale f. Adopts f.
static tal_status scale_function(const source *s, double scale, tal_function *f, tal_function **out,
                                 tal_error *err)
{
    *out = f;
    if (scale == 1.0) return TAL_OK;
    tal_function *outer = NULL;
    tal_status st = tal_function_create_linear(s->from, &scale, 1, 0.0, &outer, err);
    if (st == TAL_OK) st = tal_function_create_composition(s->from, outer, &f, 1, out, err);
    if (st == TAL_OK) return st;
    tal_function_destroy(outer);
    tal_function_destroy(f);
    *out = NULL;
    return st;
}

// A function, or one in any number of <MultiplierFunction>s around it.
static tal_status read_any(source s, tal_function **out, tal_error *err)
{
    double scale = 1.0;
    while (strcmp(s.element->name, "MultiplierFunction") == 0) {
        scale *= tali_osim_number(s.o, s.element, "scale", 1.0);
        s.element = tali_osim_object(s.element, "function");
        if (s.element == NULL) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no function to multiply");
        }
    }
    tal_function *f = NULL;
    const tal_status st = read_plain(&s, &f, err);
    return st == TAL_OK ? scale_function(&s, scale, f, out, err) : st;
}

tal_function *tali_osim_read_function(tali_osim *o, const tali_xml_element *element, int num_args)
{
    tal_function *f = NULL;
    tal_error err = {TAL_OK, "", ""};
    const source s = {o, element, &o->arena.allocator, num_args};
    const int errors = tal_diagnostics_num_errors(o->found);
    const tal_status st = read_any(s, &f, &err);
    o->no_memory = o->no_memory || st == TAL_ERR_NO_MEMORY;
    // a number that cannot be read has been reported already
    if (st != TAL_OK && tal_diagnostics_num_errors(o->found) == errors) {
        tali_osim_error(o, element, ": %s", err.message);
    }
    return f;
}

bool tali_osim_is_unit_slope(const tali_xml_element *function)
{
    double c[2] = {0.0};
    if (function == NULL || strcmp(function->name, "LinearFunction") != 0) return false;
    const tali_xml_element *coefficients = tali_osim_property(function, "coefficients");
    if (coefficients == NULL) return false;
    // an exact comparison, as OpenSim makes it
    return tali_osim_parse_numbers(coefficients->text, c, 2) == 2 && fabs(c[0]) == 1.0;
}
