// Curves made of quintic Bezier corners (Millard): smooth, monotone where their nodes are, and with
// the slopes that were asked for.
//
// A corner joins two lines: P0 and P1 lie on them, C is where they meet. Its control points are
//
//     P0, M0, M0, M1, M1, P1,   Mi = Pi + c (C - Pi),   c = 0.1 + 0.8 curviness,
//
// so that it leaves P0 along one line without curvature and enters P1 along the other: corners that
// share a node and its slope make a curve with two continuous derivatives.
#include "bezier_internal.h"

#include "function/function_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A Newton step this short leaves an error of its square.
static const double SHORT_STEP = 1e-9;

// Slopes that differ by less belong to one line: the limit of Millard's authors.
static const double SAME_SLOPE = 1.5e-8;

// ---- polynomials of degree five

static double quintic(const double a[6], double u)
{
    return a[0] + u * (a[1] + u * (a[2] + u * (a[3] + u * (a[4] + u * a[5]))));
}

static double quintic_slope(const double a[6], double u)
{
    return a[1] + u * (2.0 * a[2] + u * (3.0 * a[3] + u * (4.0 * a[4] + u * 5.0 * a[5])));
}

static double quintic_bend(const double a[6], double u)
{
    return 2.0 * a[2] + u * (6.0 * a[3] + u * (12.0 * a[4] + u * 20.0 * a[5]));
}

/*
 * The u in [0, 1] where an increasing quintic has the value c, which it passes there. Newton's
 * method from `guess`, halving where it would leave the interval that holds the root: at most 60
 * halvings leave nothing, so it ends.
 */
static double quintic_root(const double a[6], double c, double guess)
{
    double low = 0.0, high = 1.0, u = guess;
    for (int i = 0; i < 64; ++i) {
        const double miss = quintic(a, u) - c;
        if (miss > 0.0) {
            high = u;
        } else {
            low = u;
        }
        const double next = u - miss / quintic_slope(a, u);
        const bool is_inside = next >= low && next <= high;
        if (is_inside && fabs(next - u) <= SHORT_STEP) return next;
        u = is_inside ? next : 0.5 * (low + high);
        if (high - low <= 2.0 * DBL_EPSILON) return u;
    }
    return u;
}

// ---- building

// Coefficients of u^k from the control values p0, m0, m0, m1, m1, p1, all less p0.
static void set_polynomial(double a[6], double p0, double m0, double m1, double p1)
{
    const double d0 = m0 - p0, d1 = m1 - p0, d2 = p1 - p0;
    a[0] = 0.0;
    a[1] = 5.0 * d0;
    a[2] = -10.0 * d0;
    a[3] = 10.0 * d1;
    a[4] = 10.0 * d0 - 15.0 * d1;
    a[5] = 5.0 * (d1 - d0) + d2;
}

static void set_guesses(tali_bezier_corner *corner)
{
    const double width = corner->x1 - corner->x0;
    corner->guess[0] = 0.0;
    corner->guess[TALI_BEZIER_PARTS] = 1.0;
    for (int i = 1; i < TALI_BEZIER_PARTS; ++i) {
        const double part = (double)i / TALI_BEZIER_PARTS;
        corner->guess[i] = quintic_root(corner->x, part * width, part);
    }
}

static double distance(double x0, double y0, double x1, double y1)
{
    return hypot(x1 - x0, y1 - y0);
}

// One corner between two nodes; what is wrong with them as a sentence, NULL if nothing is.
static const char *set_corner(tali_bezier_corner *it, const tal_bezier_node *p0,
                              const tal_bezier_node *p1, double curviness)
{
    const double c = 0.1 + 0.8 * curviness, fall = p0->slope - p1->slope;
    const bool is_straight = fabs(fall) < SAME_SLOPE;
    const double xC = is_straight ? 0.5 * (p0->x + p1->x)
                                  : (p1->y - p0->y - p1->x * p1->slope + p0->x * p0->slope) / fall;
    const double yC = is_straight ? 0.5 * (p0->y + p1->y) : p1->y + (xC - p1->x) * p1->slope;
    const double across = distance(p0->x, p0->y, p1->x, p1->y);
    if (!(across > distance(p0->x, p0->y, xC, yC) && across > distance(p1->x, p1->y, xC, yC))) {
        return "their tangents meet too far away: the corner is not C-shaped";
    }
    if (!(xC > p0->x && xC < p1->x)) return "their tangents do not meet between them";

    it->x0 = p0->x;
    it->x1 = p1->x;
    set_polynomial(it->x, p0->x, p0->x + c * (xC - p0->x), p1->x + c * (xC - p1->x), p1->x);
    set_polynomial(it->y, p0->y, p0->y + c * (yC - p0->y), p1->y + c * (yC - p1->y), p1->y);
    it->y[0] = p0->y;
    set_guesses(it);
    return NULL;
}

// Gauss-Legendre nodes and weights on [0, 1], six of them: exact up to degree 11.
static const double gauss_at[6] = {0.033765242898423986, 0.169395306766867743,
                                   0.380690406958401546, 0.619309593041598454,
                                   0.830604693233132257, 0.966234757101576014};
static const double gauss_weight[6] = {0.085662246189585173, 0.180380786524069303,
                                       0.233956967286345524, 0.233956967286345524,
                                       0.180380786524069303, 0.085662246189585173};

// Integral of y dx over a corner from its beginning to u: y dx/du has degree 9.
static double corner_area(const tali_bezier_corner *it, double u)
{
    double sum = 0.0;
    for (int i = 0; i < 6; ++i) {
        const double at = u * gauss_at[i];
        sum += gauss_weight[i] * quintic(it->y, at) * quintic_slope(it->x, at);
    }
    return u * sum;
}

static tal_status check_node(const tal_bezier_node *node, int i, const char *where, tal_error *err)
{
    const double numbers[] = {node->x, node->y, node->slope};
    static const char *const names[] = {"x", "y", "slope"};
    for (int k = 0; k < 3; ++k) {
        if (isfinite(numbers[k])) continue;
        return tali_fail(err, TAL_ERR_NOT_FINITE, where, "nodes[%d].%s is %g: give a finite number",
                         i, names[k], numbers[k]);
    }
    return TAL_OK;
}

static tal_status check_curve(const tal_bezier_node nodes[], const double curviness[], int count,
                              const char *where, tal_error *err)
{
    if (count < 2 || count > TALI_BEZIER_MAX_CORNERS + 1) {
        return tali_fail(err, TAL_ERR_BAD_VALUE, where, "count is %d, not in 2..%d", count,
                         TALI_BEZIER_MAX_CORNERS + 1);
    }
    for (int i = 0; i < count; ++i) {
        const tal_status st = check_node(&nodes[i], i, where, err);
        if (st != TAL_OK) return st;
        if (i > 0 && !(nodes[i].x > nodes[i - 1].x)) {
            return tali_fail(err, TAL_ERR_BAD_VALUE, where,
                             "nodes[%d].x = %g does not come after nodes[%d].x = %g", i, nodes[i].x,
                             i - 1, nodes[i - 1].x);
        }
        if (i > 0 && !(curviness[i - 1] >= 0.0 && curviness[i - 1] <= 1.0)) {
            return tali_fail(err, TAL_ERR_BAD_VALUE, where, "curviness[%d] is %g, not in [0, 1]",
                             i - 1, curviness[i - 1]);
        }
    }
    return TAL_OK;
}

tal_status tali_bezier_build(const tal_bezier_node nodes[], const double curviness[], int count,
                             tali_bezier *curve, const char *where, tal_error *err)
{
    const tal_status st = check_curve(nodes, curviness, count, where, err);
    if (st != TAL_OK) return st;
    curve->num_corners = count - 1;
    curve->first = nodes[0];
    curve->last = nodes[count - 1];
    double area = 0.0;
    for (int i = 0; i + 1 < count; ++i) {
        tali_bezier_corner *corner = &curve->corner[i];
        const char *wrong = set_corner(corner, &nodes[i], &nodes[i + 1], curviness[i]);
        if (wrong != NULL) {
            return tali_fail(err, TAL_ERR_BAD_VALUE, where, "nodes[%d] and nodes[%d]: %s", i, i + 1,
                             wrong);
        }
        corner->area = area;
        area += corner_area(corner, 1.0);
    }
    return TAL_OK;
}

// ---- evaluation

static const tali_bezier_corner *corner_at(const tali_bezier *curve, double x)
{
    int i = 0;
    while (i + 1 < curve->num_corners && x >= curve->corner[i].x1) {
        ++i;
    }
    return &curve->corner[i];
}

static double parameter_at(const tali_bezier_corner *it, double x)
{
    const double from = x - it->x0, part = from / (it->x1 - it->x0) * TALI_BEZIER_PARTS;
    int i = (int)part;
    if (i >= TALI_BEZIER_PARTS) i = TALI_BEZIER_PARTS - 1;
    const double guess = it->guess[i] + (part - i) * (it->guess[i + 1] - it->guess[i]);
    return quintic_root(it->x, from, guess);
}

static tali_bezier_value line_at(const tal_bezier_node *node, double x)
{
    const bool is_level = node->slope == 0.0 && x == x; // 0 times infinity is 0 here
    return (tali_bezier_value){is_level ? node->y : node->y + node->slope * (x - node->x),
                               node->slope, 0.0};
}

tali_bezier_value tali_bezier_calc(const tali_bezier *curve, double x)
{
    if (!(x > curve->first.x)) return line_at(&curve->first, x);
    if (!(x < curve->last.x)) return line_at(&curve->last, x);
    const tali_bezier_corner *it = corner_at(curve, x);
    const double u = parameter_at(it, x);
    const double x1 = quintic_slope(it->x, u), y1 = quintic_slope(it->y, u), dy = y1 / x1;
    const double x2 = quintic_bend(it->x, u), y2 = quintic_bend(it->y, u);
    return (tali_bezier_value){quintic(it->y, u), dy, (y2 - dy * x2) / (x1 * x1)};
}

tali_bezier_point tali_bezier_calc_point(const tali_bezier *curve, double x)
{
    const bool is_before = !(x > curve->first.x);
    if (is_before || !(x < curve->last.x)) {
        const tali_bezier_value at = line_at(is_before ? &curve->first : &curve->last, x);
        return (tali_bezier_point){at.y, at.dy};
    }
    const tali_bezier_corner *it = corner_at(curve, x);
    const double u = parameter_at(it, x);
    return (tali_bezier_point){quintic(it->y, u),
                               quintic_slope(it->y, u) / quintic_slope(it->x, u)};
}

// Integral of a line from its node to x.
static double line_integral(const tal_bezier_node *node, double x)
{
    const double from = x - node->x;
    return from * (node->y + 0.5 * node->slope * from);
}

double tali_bezier_integral(const tali_bezier *curve, double x)
{
    if (!(x > curve->first.x)) return line_integral(&curve->first, x);
    if (!(x < curve->last.x)) {
        const tali_bezier_corner *it = &curve->corner[curve->num_corners - 1];
        return it->area + corner_area(it, 1.0) + line_integral(&curve->last, x);
    }
    const tali_bezier_corner *it = corner_at(curve, x);
    return it->area + corner_area(it, parameter_at(it, x));
}

// Where a y + b x = c on a line.
static tali_bezier_place solve_line(const tal_bezier_node *node, double a, double b, double c)
{
    const double miss = c - (a * node->y + b * node->x), slope = a * node->slope + b;
    const double x = miss == 0.0 ? node->x : node->x + miss / slope;
    return (tali_bezier_place){x, line_at(node, x).y};
}

tali_bezier_place tali_bezier_solve(const tali_bezier *curve, double a, double b, double c)
{
    if (!(a * curve->first.y + b * curve->first.x < c)) return solve_line(&curve->first, a, b, c);
    if (!(a * curve->last.y + b * curve->last.x > c)) return solve_line(&curve->last, a, b, c);
    int i = 0;
    while (i + 1 < curve->num_corners &&
           c >= a * curve->corner[i + 1].y[0] + b * curve->corner[i + 1].x0) {
        ++i;
    }
    const tali_bezier_corner *it = &curve->corner[i];
    double sum[6];
    for (int k = 0; k < 6; ++k) {
        sum[k] = a * it->y[k] + b * it->x[k];
    }
    const double target = c - b * it->x0;
    const double rise = sum[1] + sum[2] + sum[3] + sum[4] + sum[5];
    const double u = quintic_root(sum, target, (target - sum[0]) / rise);
    return (tali_bezier_place){it->x0 + quintic(it->x, u), quintic(it->y, u)};
}

// ---- as a function

typedef struct bezier {
    tali_function_block block;
    tali_bezier curve;
    int count;
    double *numbers; // nodes as x, y, slope, then the curviness of each corner: for model files
} bezier;

static double bezier_value(const void *self, const double x[], int n)
{
    (void)n;
    return tali_bezier_calc(&((const bezier *)self)->curve, x[0]).y;
}

static double bezier_derivative(const void *self, const double x[], int n, const int wrt[],
                                int order)
{
    (void)n;
    (void)wrt;
    const tali_bezier_value at = tali_bezier_calc(&((const bezier *)self)->curve, x[0]);
    return order == 1 ? at.dy : at.ddy;
}

static double bezier_integral(const void *self, double a, double b)
{
    const tali_bezier *curve = &((const bezier *)self)->curve;
    return tali_bezier_integral(curve, b) - tali_bezier_integral(curve, a);
}

static const tal_function_ops bezier_ops = {
    .size = sizeof bezier_ops,
    .name = "Bezier curve",
    .calc_value = bezier_value,
    .calc_derivative = bezier_derivative,
    .destroy = tali_function_block_destroy,
    .calc_integral = bezier_integral,
};

tal_status tal_function_create_bezier(const tal_allocator *allocator, const tal_bezier_node nodes[],
                                      const double curviness[], int count, tal_function **out,
                                      tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = tali_function_check_pointer(&call, "nodes", nodes);
    if (st == TAL_OK) st = tali_function_check_pointer(&call, "curviness", curviness);
    if (st != TAL_OK) return st;
    tali_bezier curve;
    st = tali_bezier_build(nodes, curviness, count, &curve, __func__, err);
    if (st != TAL_OK) return st;

    const size_t numbers = (size_t)(4 * count) * sizeof(double);
    bezier *f = tali_function_block_create(&call, sizeof *f + numbers);
    if (f == NULL) return TAL_ERR_NO_MEMORY;
    f->curve = curve;
    f->count = count;
    f->numbers = (double *)(void *)(f + 1);
    memcpy(f->numbers, nodes, (size_t)count * sizeof *nodes);
    memcpy(f->numbers + 3 * count, curviness, (size_t)(count - 1) * sizeof *curviness);
    const tal_function_def def = {&bezier_ops, f, 1, 2, NULL, 0};
    return tali_function_finish(&call, &def);
}

bool tali_function_bezier_facts(const tal_function_ops *ops, const void *self,
                                tali_function_facts *facts)
{
    if (ops->calc_value != bezier_value) return false;
    const bezier *f = self;
    facts->list = f->numbers;
    facts->count = f->count;
    facts->stride = 3;
    facts->y = f->numbers + 3 * f->count;
    return true;
}
