// Functions as elements of .osim files.
#include "function_facts_internal.h"

#include "opensim/osim_internal.h"
#include "opensim/osim_write_internal.h"

#include <string.h>

static void put_points(tali_osim_writer *w, const tali_function_facts *f)
{
    tali_osim_put_numbers(w, "x", f->list, f->count);
    // y may not stand one after the other
    double y[512];
    if (f->count > 512) {
        tali_osim_refuse(w, "a curve has %d points; 512 can be written", f->count);
        return;
    }
    for (int i = 0; i < f->count; ++i) {
        y[i] = f->y[(ptrdiff_t)i * f->stride];
    }
    tali_osim_put_numbers(w, "y", y, f->count);
}

static void put_spline(tali_osim_writer *w, const tali_function_facts *f, const char *name)
{
    const bool is_simm = strcmp(f->kind, "spline") == 0 && f->end == TAL_SPLINE_SIMM;
    const char *tag = is_simm ? "SimmSpline" : "GCVSpline";
    tali_osim_open_tag(w, tag, name);
    if (!is_simm) {
        tali_osim_put_number(w, "half_order", strcmp(f->kind, "spline") == 0 ? 2.0 : 3.0);
        tali_osim_put_number(w, "error_variance", 0.0);
    }
    put_points(w, f);
    tali_osim_close_tag(w, tag);
}

// Held beyond its ends: a flat piece at either one does that where lines go on.
static void put_nodes(tali_osim_writer *w, const tali_function_facts *f, const char *name)
{
    double x[514], y[514];
    const int n = f->count;
    if (n > 512) {
        tali_osim_refuse(w, "a curve has %d points; 512 can be written", n);
        return;
    }
    for (int i = 0; i < n; ++i) {
        x[i + 1] = f->list[i];
        y[i + 1] = f->y[(ptrdiff_t)i * f->stride];
    }
    x[0] = x[1] - 1.0;
    y[0] = y[1];
    x[n + 1] = x[n] + 1.0;
    y[n + 1] = y[n];
    tali_osim_open_tag(w, "PiecewiseLinearFunction", name);
    tali_osim_put_numbers(w, "x", x, n + 2);
    tali_osim_put_numbers(w, "y", y, n + 2);
    tali_osim_close_tag(w, "PiecewiseLinearFunction");
}

// Slopes, then the value where all arguments are zero.
static void put_linear(tali_osim_writer *w, const tali_function_facts *f, const char *name)
{
    double c[TAL_FUNCTION_MAX_ARGS + 1];
    memcpy(c, f->list, (size_t)f->count * sizeof *c);
    c[f->count] = f->numbers[0];
    tali_osim_open_tag(w, "LinearFunction", name);
    tali_osim_put_numbers(w, "coefficients", c, f->count + 1);
    tali_osim_close_tag(w, "LinearFunction");
}

// The highest power first.
static bool put_polynomial(tali_osim_writer *w, const tali_function_facts *f, const char *name)
{
    double c[64];
    if (f->count > 64) return false;
    for (int i = 0; i < f->count; ++i) {
        c[i] = f->list[f->count - 1 - i];
    }
    tali_osim_open_tag(w, "PolynomialFunction", name);
    tali_osim_put_numbers(w, "coefficients", c, f->count);
    tali_osim_close_tag(w, "PolynomialFunction");
    return true;
}

// All terms up to an order, the powers of the last argument counting up first. False: there are too
// many.
static bool put_multivariate(tali_osim_writer *w, const tali_function_facts *f, const char *name)
{
    enum {
        MAX_TERMS = 1024
    };

    double c[MAX_TERMS];
    int order = 0, count = 0, term[TAL_FUNCTION_MAX_ARGS] = {0};
    const int n = f->num_args;
    for (int i = 0; i < f->count; ++i) {
        int sum = 0;
        for (int k = 0; k < n; ++k) {
            sum += f->powers[i * n + k];
        }
        order = sum > order ? sum : order;
    }
    do {
        if (count == MAX_TERMS) return false;
        c[count] = 0.0;
        for (int i = 0; i < f->count; ++i) {
            const size_t bytes = (size_t)n * sizeof *term;
            if (memcmp(f->powers + (size_t)i * (size_t)n, term, bytes) == 0) c[count] += f->list[i];
        }
        ++count;
    } while (tali_osim_next_term(term, n, order));
    tali_osim_open_tag(w, "MultivariatePolynomialFunction", name);
    tali_osim_put_numbers(w, "coefficients", c, count);
    tali_osim_put_number(w, "dimension", n);
    tali_osim_put_number(w, "order", order);
    tali_osim_close_tag(w, "MultivariatePolynomialFunction");
    return true;
}

static void put_sine(tali_osim_writer *w, const tali_function_facts *f, double offset,
                     const char *name)
{
    tali_osim_open_tag(w, "Sine", name);
    tali_osim_put_number(w, "amplitude", f->numbers[0]);
    tali_osim_put_number(w, "omega", f->numbers[1]);
    tali_osim_put_number(w, "phase", f->numbers[2]);
    tali_osim_put_number(w, "offset", offset);
    tali_osim_close_tag(w, "Sine");
}

static void put_step(tali_osim_writer *w, const tali_function_facts *f, const char *name)
{
    static const char *const tags[] = {"start_time", "start_value", "end_time", "end_value"};
    tali_osim_open_tag(w, "StepFunction", name);
    for (int i = 0; i < 4; ++i) {
        tali_osim_put_number(w, tags[i], f->numbers[i]);
    }
    tali_osim_close_tag(w, "StepFunction");
}

// A sinusoid and a constant.
static bool put_sum(tali_osim_writer *w, const tali_function_facts *f, const char *name)
{
    tali_function_facts parts[2];
    if (f->num_parts != 2) return false;
    for (int i = 0; i < 2; ++i) {
        if (!tali_function_facts_of(f->parts[i], &parts[i])) return false;
    }
    for (int i = 0; i < 2; ++i) {
        if (strcmp(parts[i].kind, "sinusoid") != 0) continue;
        if (strcmp(parts[1 - i].kind, "constant") != 0) continue;
        put_sine(w, &parts[i], parts[1 - i].numbers[0], name);
        return true;
    }
    return false;
}

// The factor of a function that is multiplied by one, and what is multiplied; NULL: it is another.
static const tal_function *scaled_part(const tali_function_facts *f, double *scale)
{
    tali_function_facts outer;
    if (strcmp(f->kind, "composition") != 0 || f->num_parts != 2) return NULL;
    if (!tali_function_facts_of(f->parts[0], &outer)) return NULL;
    if (strcmp(outer.kind, "linear function") != 0 || outer.numbers[0] != 0.0) return NULL;
    *scale = outer.list[0];
    return f->parts[1];
}

// Kinds without parts. False: it is none of them.
static bool put_plain(tali_osim_writer *w, const tali_function_facts *f, const char *name)
{
    if (strcmp(f->kind, "constant") == 0) {
        tali_osim_open_tag(w, "Constant", name);
        tali_osim_put_number(w, "value", f->numbers[0]);
        tali_osim_close_tag(w, "Constant");
        return true;
    }
    if (strcmp(f->kind, "polynomial") == 0) return put_polynomial(w, f, name);
    if (strcmp(f->kind, "multivariate polynomial") == 0) return put_multivariate(w, f, name);
    if (strcmp(f->kind, "sum") == 0) return put_sum(w, f, name);
    if (strcmp(f->kind, "linear function") == 0) {
        put_linear(w, f, name);
    } else if (strcmp(f->kind, "sinusoid") == 0) {
        put_sine(w, f, 0.0, name);
    } else if (strcmp(f->kind, "step") == 0) {
        put_step(w, f, name);
    } else if (strcmp(f->kind, "quintic spline") == 0 || strcmp(f->kind, "spline") == 0) {
        put_spline(w, f, name);
    } else if (strcmp(f->kind, "piecewise linear function") == 0) {
        tali_osim_open_tag(w, "PiecewiseLinearFunction", name);
        put_points(w, f);
        tali_osim_close_tag(w, "PiecewiseLinearFunction");
    } else if (strcmp(f->kind, "nodes") == 0 && (int)f->end == (int)TAL_NODES_LINEAR) {
        put_nodes(w, f, name);
    } else {
        return false;
    }
    return true;
}

void tali_osim_put_function(tali_osim_writer *w, const tal_function *f, const char *name,
                            const char *whose)
{
    tali_function_facts facts = {.kind = NULL};
    bool known = tali_function_facts_of(f, &facts);
    int depth = 0;
    for (double scale; known; ++depth) {
        const tal_function *inner = scaled_part(&facts, &scale);
        if (inner == NULL) break;
        tali_osim_open_tag(w, "MultiplierFunction", depth == 0 ? name : NULL);
        tali_osim_put_number(w, "scale", scale);
        tali_osim_open_tag(w, "function", NULL);
        known = tali_function_facts_of(inner, &facts);
    }
    if (!known || !put_plain(w, &facts, depth == 0 ? name : NULL)) {
        tali_osim_refuse(w, "'%s' uses the function '%s', which cannot be said in an .osim file",
                         whose, facts.kind != NULL ? facts.kind : "of your own");
    }
    for (; depth > 0; --depth) {
        tali_osim_close_tag(w, "function");
        tali_osim_close_tag(w, "MultiplierFunction");
    }
}
