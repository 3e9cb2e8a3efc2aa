// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_FUNCTION_H
#define TALUS_COMMON_FUNCTION_H

/**
 * @file talus/common/function.h
 * @brief Functions as objects: numbers in, one number and its derivatives out.
 *
 * A joint whose axes slide along a spline, a muscle curve, a prescribed motion: each takes a
 * ::tal_function. Create one, evaluate it as often as you like, destroy it:
 *
 *     const double x[] = {-1.0, 0.0, 2.0, 3.0}, y[] = {0.4, 0.0, 0.1, 0.5};
 *     tal_function *f = NULL;
 *     tal_error err;
 *     if (tal_function_create_spline(NULL, x, y, 4, TAL_SPLINE_NATURAL, &f, &err) != TAL_OK) {
 *         fprintf(stderr, "%s\n", err.message);
 *     }
 *     double value = tal_function_calc_value_1(f, 0.5);
 *     double slope = tal_function_calc_derivative_1(f, 0.5, 1);
 *     tal_function_destroy(f);
 *
 * A function never changes after it is created and evaluating it never allocates, so any number of
 * threads may share it. Units are the caller's: a function does not know them.
 *
 * **Evaluating.** Every evaluation is checked, in release builds too. A wrong number of arguments,
 * a NULL, or a derivative the function does not have is a broken contract: the result is NaN and
 * the contract handler is called. A NaN among the arguments is not a breach: the result is
 * NaN, for every kind of function, the constant too. At +-infinity a polynomial, a step and a
 * spline return their limit, a sinusoid NaN, and a linear function its sum in IEEE arithmetic (so 0
 * * inf and inf - inf are NaN).
 *
 * **Creating.** Every `create` call takes the allocator first (NULL: the C heap), and copies the
 * arrays it is given. On failure it returns the status, writes NULL to `*out` and the reason to
 * `*err` (which may be NULL), and leaves everything it was given as it was. The codes:
 * TAL_ERR_NOT_FINITE for a NaN or infinite parameter, TAL_ERR_BAD_VALUE for one out of range,
 * TAL_ERR_NULL for a missing pointer (which is also a broken contract), and
 * TAL_ERR_NO_MEMORY.
 *
 * **Ownership.** Sum, product and composition *adopt* the functions they are made of: on success
 * these belong to the result and are destroyed with it. They can still be evaluated, but a function
 * has at most one owner: adopting it twice is TAL_ERR_BAD_VALUE, and destroying it on its own is a
 * broken contract that does nothing. On failure nothing has been adopted.
 */

#include <talus/common/alloc.h>
#include <talus/common/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The most arguments a function can have.
#define TAL_FUNCTION_MAX_ARGS  32
/// The highest order of derivative any function offers.
#define TAL_FUNCTION_MAX_ORDER 16
/// The highest power of an argument in a polynomial of several.
#define TAL_FUNCTION_MAX_POWER 16
/// How deep functions may be nested: a function that uses no others has depth 1.
#define TAL_FUNCTION_MAX_DEPTH 64

/// A function of one or several numbers. Opaque, immutable, may be shared by threads.
typedef struct tal_function tal_function;

/**
 * @defgroup function_use Using a function
 * @{
 */

/**
 * The value f(x).
 *
 * @param[in] f  the function
 * @param[in] x  [n] its arguments
 * @param[in] n  must be tal_function_num_args()
 */
TAL_API double tal_function_calc_value(const tal_function *f, const double x[], int n);

/**
 * A partial derivative of f at x, of any order up to tal_function_max_order().
 *
 * `wrt` lists the arguments to differentiate by, one entry per differentiation, in any order:
 * {0} is df/dx0, {0, 1} and {1, 0} are d2f/dx0dx1, {2, 2} is d2f/dx2^2.
 *
 * @param[in] f      the function
 * @param[in] x      [n] its arguments
 * @param[in] n      must be tal_function_num_args()
 * @param[in] wrt    [order] argument indices, each in 0..n-1; may be NULL when `order` is 0
 * @param[in] order  number of differentiations; 0 gives the value
 */
TAL_API double tal_function_calc_derivative(const tal_function *f, const double x[], int n,
                                            const int wrt[], int order);

/// The value of a function of one argument.
TAL_API double tal_function_calc_value_1(const tal_function *f, double x);

/// The derivative of a function of one argument; `order` 0 gives the value.
TAL_API double tal_function_calc_derivative_1(const tal_function *f, double x, int order);

/**
 * The integral of a function of one argument from a to b, negative where b < a.
 *
 * Exact (to round-off) for polynomials, piecewise polynomials and Bezier curves. For the others it
 * is Gauss's formula of eight points on 32 equal parts: exact to round-off if the function is
 * smooth at that scale, less exact if there is a kink within a part. An infinite limit gives NaN.
 */
TAL_API double tal_function_calc_integral_1(const tal_function *f, double a, double b);

/// Number of arguments; -1 and a broken contract when `f` is NULL.
TAL_API int tal_function_num_args(const tal_function *f);

/// Highest order of derivative available; -1 and a broken contract when `f` is NULL.
TAL_API int tal_function_max_order(const tal_function *f);

/// What kind of function this is, for messages: "spline", "sum", or the name in a user's table.
/// Borrowed; lives as long as the table's name. NULL and a broken contract when `f` is NULL.
TAL_API const char *tal_function_name(const tal_function *f);

/// Destroy a function and those it has adopted. NULL is allowed. A function that was itself adopted
/// is left alone, and the contract handler is called.
TAL_API void tal_function_destroy(tal_function *f);

/** @} */

/**
 * @defgroup function_basic Formulas
 * All offer derivatives up to TAL_FUNCTION_MAX_ORDER.
 * @{
 */

/// `value`, whatever the `num_args` arguments are.
TAL_API TAL_NODISCARD tal_status tal_function_create_constant(const tal_allocator *allocator,
                                                              double value, int num_args,
                                                              tal_function **out, tal_error *err);

/// sum a[i] x[i] + b, with `num_args` arguments.
/// @param[in] a  [num_args] copied
TAL_API TAL_NODISCARD tal_status tal_function_create_linear(const tal_allocator *allocator,
                                                            const double a[], int num_args,
                                                            double b, tal_function **out,
                                                            tal_error *err);

/// A polynomial in one argument, highest power first as in Simbody and OpenSim: {2, 0, -1} is
/// 2 x^2 - 1. `count` >= 1 coefficients.
/// @param[in] coefficients  [count] copied
TAL_API TAL_NODISCARD tal_status tal_function_create_polynomial(const tal_allocator *allocator,
                                                                const double coefficients[],
                                                                int count, tal_function **out,
                                                                tal_error *err);

/**
 * A polynomial in several arguments: the sum of terms c x0^p0 x1^p1 ...
 *
 * With two arguments, the coefficients {3, -1} and the powers {2, 1, 0, 4} are
 * 3 x0^2 x1 - x1^4. Where arguments are infinite it is the sum in IEEE arithmetic.
 *
 * @param[in] coefficients  [count] copied
 * @param[in] powers        [count][num_args] each from 0 to TAL_FUNCTION_MAX_POWER; copied
 * @param[in] count         number of terms, 1 or more
 */
TAL_API TAL_NODISCARD tal_status tal_function_create_multivariate_polynomial(
    const tal_allocator *allocator, const double coefficients[], const int powers[], int count,
    int num_args, tal_function **out, tal_error *err);

/// amplitude * sin(omega x + phase).
TAL_API TAL_NODISCARD tal_status tal_function_create_sinusoid(const tal_allocator *allocator,
                                                              double amplitude, double omega,
                                                              double phase, tal_function **out,
                                                              tal_error *err);

/// scale * x^exponent: 1/x has the exponent -1. NaN for x < 0 unless the exponent is a whole
/// number; infinite at x = 0 where it is negative.
TAL_API TAL_NODISCARD tal_status tal_function_create_power(const tal_allocator *allocator,
                                                           double scale, double exponent,
                                                           tal_function **out, tal_error *err);

/// scale * exp(rate x).
TAL_API TAL_NODISCARD tal_status tal_function_create_exponential(const tal_allocator *allocator,
                                                                 double scale, double rate,
                                                                 tal_function **out,
                                                                 tal_error *err);

/**
 * A smooth step: y0 on one side, y1 on the other, and between the two points
 *
 *     y0 + (y1 - y0) (10 t^3 - 15 t^4 + 6 t^5),   t = (x - x0) / (x1 - x0).
 *
 * Monotone, with continuous first and second derivatives. At the two points a derivative of third
 * or higher order is the one of the flat side. x0 > x1 is allowed and means the same two points.
 */
TAL_API TAL_NODISCARD tal_status tal_function_create_step(const tal_allocator *allocator, double x0,
                                                          double y0, double x1, double y1,
                                                          tal_function **out, tal_error *err);

/** @} */

/**
 * @defgroup function_data Curves through points
 *
 * All pass exactly through their points (x[i], y[i]), which must be finite with x strictly
 * increasing; a failure names the offending index and value. All are piecewise polynomials: they
 * find the piece in O(log count), offer derivatives up to TAL_FUNCTION_MAX_ORDER, and where a
 * derivative jumps at a knot it is the one on the right.
 * @{
 */

/// What a cubic spline does in its first and last interval.
typedef enum tal_spline_end {
    /// f'' = 0 at both ends: the natural spline, of all interpolants the one of least integral of
    /// f''^2. With the linear continuation f'' is continuous everywhere.
    TAL_SPLINE_NATURAL = 0,
    /// f''' in the first (last) interval is that of the cubic through the first (last) four points;
    /// three points give their parabola, two their line. This is what OpenSim's SimmSpline computes
    /// (although its older name is NaturalCubicSpline). Reproduces cubics inside the
    /// knots; f'' jumps to 0 where the linear continuation begins.
    TAL_SPLINE_SIMM = 1
} tal_spline_end;

/// Straight lines between `count` >= 2 points; the first and last line continue forever.
/// @param[in] x  [count] copied
/// @param[in] y  [count] copied
TAL_API TAL_NODISCARD tal_status tal_function_create_piecewise_linear(
    const tal_allocator *allocator, const double x[], const double y[], int count,
    tal_function **out, tal_error *err);

/// The cubic spline through `count` >= 2 points: C2 between the first and the last, continued by
/// straight lines of the end slopes.
/// @param[in] x  [count] copied
/// @param[in] y  [count] copied
TAL_API TAL_NODISCARD tal_status tal_function_create_spline(const tal_allocator *allocator,
                                                            const double x[], const double y[],
                                                            int count, tal_spline_end end,
                                                            tal_function **out, tal_error *err);

/**
 * The natural quintic spline through `count` >= 3 points: of all interpolants the one of least
 * integral of f'''^2.
 *
 * C4 everywhere, with f''' = f'''' = 0 at both ends, continued by the parabolas this implies. It is
 * the curve GCVSPL finds at half order 3 without smoothing. Reproduces parabolas.
 *
 * @param[in] x  [count] copied
 * @param[in] y  [count] copied
 */
TAL_API TAL_NODISCARD tal_status tal_function_create_quintic_spline(const tal_allocator *allocator,
                                                                    const double x[],
                                                                    const double y[], int count,
                                                                    tal_function **out,
                                                                    tal_error *err);

/// How values change between the nodes of tal_function_create_nodes().
typedef enum tal_nodes {
    TAL_NODES_LINEAR = 0, ///< straight lines
    TAL_NODES_STEPS = 1   ///< the value of the next node: f(x) = y[i] for x[i-1] < x <= x[i]
} tal_nodes;

/**
 * Values at nodes, constant beyond the first and the last one. Controls are often given in this
 * way.
 *
 * The slope of steps is zero everywhere. An integrator does not stop at them, as at any jump: if
 * that matters, let its steps end there.
 *
 * @param[in] x      [count] copied
 * @param[in] y      [count] copied
 * @param[in] count  1 or more
 */
TAL_API TAL_NODISCARD tal_status tal_function_create_nodes(const tal_allocator *allocator,
                                                           const double x[], const double y[],
                                                           int count, tal_nodes kind,
                                                           tal_function **out, tal_error *err);

/// A node of a Bezier curve: a point, and the slope there.
typedef struct tal_bezier_node {
    double x, y;
    double slope; ///< dy/dx
} tal_bezier_node;

/**
 * A curve through nodes with given slopes, made of quintic Bezier corners (Millard), straight
 * beyond the first and the last node. With continuous second derivatives; monotone between nodes
 * whose slopes have one sign.
 *
 * A corner stays within the triangle of two nodes and the point where their tangents meet. That
 * point must lie between them, nearer to both than they are to each other; otherwise the call fails
 * and names them. Offers two derivatives, and its exact integral.
 *
 * @param[in] nodes      [count] x increasing; copied
 * @param[in] curviness  [count - 1] of each corner: from 0, which stays near the chord, to 1, which
 *                       stays near the tangents; copied
 * @param[in] count      2 ... 9
 */
TAL_API TAL_NODISCARD tal_status tal_function_create_bezier(const tal_allocator *allocator,
                                                            const tal_bezier_node nodes[],
                                                            const double curviness[], int count,
                                                            tal_function **out, tal_error *err);

/** @} */

/**
 * @defgroup function_combined Functions of functions
 * These adopt what they are made of (see Ownership above) and are limited in depth to
 * TAL_FUNCTION_MAX_DEPTH.
 * @{
 */

/// The sum of `count` >= 1 functions with the same number of arguments. Offers the derivatives that
/// all of them offer.
/// @param[in] terms  [count] adopted
TAL_API TAL_NODISCARD tal_status tal_function_create_sum(const tal_allocator *allocator,
                                                         tal_function *const terms[], int count,
                                                         tal_function **out, tal_error *err);

/// The product of `count` >= 1 functions with the same number of arguments. Offers the derivatives
/// that all of them offer, to the third order at most.
/// @param[in] factors  [count] adopted
TAL_API TAL_NODISCARD tal_status tal_function_create_product(const tal_allocator *allocator,
                                                             tal_function *const factors[],
                                                             int count, tal_function **out,
                                                             tal_error *err);

/// outer(inner[0](x), inner[1](x), ...), with one inner function for each of outer's `count`
/// arguments, all with the same number of arguments. Offers the derivatives that all of them offer,
/// to the second order at most.
/// @param[in] inner  [count] adopted
TAL_API TAL_NODISCARD tal_status tal_function_create_composition(const tal_allocator *allocator,
                                                                 tal_function *outer,
                                                                 tal_function *const inner[],
                                                                 int count, tal_function **out,
                                                                 tal_error *err);

/** @} */

/**
 * @defgroup function_custom Your own function
 * @{
 */

/**
 * What a function is, as a table of functions.
 *
 * Every function above is one of these; yours is treated in the same way. Fill what you need with
 * designated initializers and leave the rest NULL. All entries but `destroy` are pure: they read
 * `self` and their arguments, allocate nothing, and may run on several threads at once. They are
 * called with checked arguments: `n` is the number of arguments declared, none of them is NaN,
 * every entry of `wrt` is in 0..n-1. Return NaN where there is no answer.
 */
typedef struct tal_function_ops {
    size_t size;      ///< sizeof(tal_function_ops): lets the table grow without breaking you
    const char *name; ///< for messages, e.g. "tendon curve"; must outlive the function

    // Required.

    /// f(x).
    /// @param[in] x  [n]
    double (*calc_value)(const void *self, const double x[], int n);

    // Optional. The default, when NULL, is given after the colon.

    /// The partial derivative by the arguments listed in `wrt`, 1 <= order <= max_order: central
    /// differences of calc_value, to second order only. With the argument's scale
    /// s = max(|x|, 1) the first derivative uses the step s eps^(1/3), and is off by about
    /// 1e-11 s^2 |f'''| + 4e-11 |f| / s; the second uses s eps^(1/4), and is off by about
    /// 1e-9 s^2 |f''''| + 6e-8 |f| / s^2. Do better where you can.
    /// @param[in] x    [n]
    /// @param[in] wrt  [order]
    double (*calc_derivative)(const void *self, const double x[], int n, const int wrt[],
                              int order);

    /// Called once, when the function is destroyed: nothing.
    void (*destroy)(void *self);

    /// The integral from a to b, both finite, of a function of one argument: by Gauss's formula
    /// (tal_function_calc_integral_1()).
    double (*calc_integral)(const void *self, double a, double b);
} tal_function_ops;

/// Everything needed to create a function from a table. Copied; only what `self` and the table's
/// name point to must outlive the function.
typedef struct tal_function_def {
    const tal_function_ops *ops; ///< the table, copied; required
    void *self;                  ///< handed to every entry of the table; may be NULL
    int num_args;                ///< 1..TAL_FUNCTION_MAX_ARGS; default 1
    int max_order;               ///< derivatives available, 0..TAL_FUNCTION_MAX_ORDER; default 2
    tal_function *const *uses;   ///< functions yours evaluates [num_uses]: adopted; default none
    int num_uses;                ///< default 0
} tal_function_def;

/// A definition with the defaults; set at least `ops`.
TAL_API tal_function_def tal_function_def_default(void);

/**
 * Create a function from a table.
 *
 * On success the function owns `self` (its `destroy` will be called) and the functions it uses,
 * which are destroyed after `self`; on failure both still belong to the caller.
 */
TAL_API TAL_NODISCARD tal_status tal_function_create(const tal_allocator *allocator,
                                                     const tal_function_def *def,
                                                     tal_function **out, tal_error *err);

/** @} */

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_FUNCTION_H
