// The nonlinear program of optimal control: sizes, places of entries, and functions.
//
// Over an interval of length h with nodes y_0, (y_m,) y_1 and rates f:
//
//     trapezoid          y_1 - y_0 - h/2 (f_0 + f_1) = 0
//     Hermite-Simpson    y_m - (y_0 + y_1)/2 - h/8 (f_0 - f_1) = 0
//                        y_1 - y_0 - h/6 (f_0 + 4 f_m + f_1) = 0
#include "alloc_internal.h"
#include "error_internal.h"

#include "optimize/optimizer_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Steps of central differences of gradients, relative to 1 + |x|.
static const double STEP = 6e-6;

const tali_optimize_rule *tali_optimize_rule_of(tal_collocation method)
{
    static const tali_optimize_rule rules[] = {
        [TAL_COLLOCATION_TRAPEZOID] = {2, 1, {{-1.0, 1.0}}, {{0.5, 0.5}}},
        [TAL_COLLOCATION_HERMITE_SIMPSON] = {
            3,
            2,
            {{-0.5, 1.0, -0.5}, {-1.0, 0.0, 1.0}},
            {{0.125, 0.0, -0.125}, {1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0}}}};
    return &rules[method];
}

// The sum of what its intervals give it.
double tali_optimize_weight_of(const tal_optimizer *it, int k, double h)
{
    const tali_optimize_rule *rule = tali_optimize_rule_of(it->def.method);
    const double *beta = rule->beta[rule->num_parts - 1];
    const int within = k % (rule->num_stages - 1);
    if (within > 0) return h * beta[within];
    const bool is_end = k == 0 || k == it->num_nodes - 1;
    return h * (is_end ? beta[0] : 2.0 * beta[0]);
}

// --- where everything is ---

static int first_node(const tal_optimizer *it, int interval)
{
    return interval * (it->num_stages - 1);
}

static int unknown(const tal_optimizer *it, int node, int j)
{
    return node * it->size + j;
}

static int end_unknown(const tal_optimizer *it)
{
    return it->num_nodes * it->size;
}

static int interval_row(const tal_optimizer *it, int interval, int part)
{
    const int parts = tali_optimize_rule_of(it->def.method)->num_parts;
    return it->num_nodes * it->nu + (interval * parts + part) * it->ny;
}

static int period_row(const tal_optimizer *it, int k)
{
    return interval_row(it, it->def.intervals, 0) + 2 * k;
}

static int limit_row(const tal_optimizer *it, int limit, int node)
{
    return period_row(it, it->num_periods) + limit * it->num_nodes + node;
}

// Entries of the rows of limits, which are the last ones.
static int num_limit_entries(const tal_optimizer *it)
{
    return it->num_limits * it->num_nodes * (it->size + 1);
}

static double step_length(const tal_optimizer *it, const double x[])
{
    return (x[end_unknown(it)] - it->start) / it->def.intervals;
}

void tali_optimize_name_row(const tal_optimizer *it, int row, char text[], size_t size)
{
    const int dynamics = it->num_nodes * it->nu, periods = period_row(it, 0);
    if (row < 0) {
        (void)snprintf(text, size, "no equation");
    } else if (row < dynamics) {
        (void)snprintf(text, size, "the equation of motion of speed %d at node %d", row % it->nu,
                       row / it->nu);
    } else if (row < periods) {
        const int parts = tali_optimize_rule_of(it->def.method)->num_parts;
        const int i = (row - dynamics) % it->ny;
        const bool is_q = i < it->nq, is_u = i < it->nq + it->nu;
        (void)snprintf(text, size, "%s %d in interval %d",
                       is_q   ? "coordinate"
                       : is_u ? "speed"
                              : "z",
                       is_q   ? i
                       : is_u ? i - it->nq
                              : i - it->nq - it->nu,
                       (row - dynamics) / (it->ny * parts));
    } else if (row < limit_row(it, 0, 0)) {
        (void)snprintf(text, size, "period %d", (row - periods) / 2);
    } else {
        const int k = row - limit_row(it, 0, 0);
        (void)snprintf(text, size, "limit %d at node %d", k / it->num_nodes, k % it->num_nodes);
    }
}

// --- places of entries ---

// Which unknowns of a node the rates there depend on: those of q on q and u of the same body.
static void find_couples(tal_optimizer *it)
{
    const int a0 = it->nq + it->nu + it->nz;
    memset(it->couples, 0, (size_t)it->ny * (size_t)it->size * sizeof *it->couples);
    for (int b = 1; b < tal_matter_num_bodies(it->matter); ++b) {
        const tal_body_ix body = {b};
        const int q0 = tal_body_q_start(it->matter, it->state, body);
        const int nq = tal_body_nq(it->matter, it->state, body);
        const int u0 = tal_body_u_start(it->matter, body), nu = tal_body_nu(it->matter, body);
        const bool is_plain = tal_body_qdot_is_u(it->matter, body);
        for (int i = 0; i < nq; ++i) {
            it->is_plain[q0 + i] = is_plain;
            for (int j = 0; j < nq && !is_plain; ++j) {
                it->couples[q0 + i + (ptrdiff_t)it->ny * (q0 + j)] = true;
            }
            for (int j = 0; j < nu; ++j) {
                const bool is_there = !is_plain || i == j;
                it->couples[q0 + i + (ptrdiff_t)it->ny * (it->nq + u0 + j)] = is_there;
            }
        }
        for (int i = 0; i < nu; ++i) {
            it->is_plain[it->nq + u0 + i] = is_plain;
        }
    }
    for (int i = 0; i < it->nu; ++i) {
        it->couples[it->nq + i + (ptrdiff_t)it->ny * (a0 + i)] = true;
    }
    for (int i = it->nq + it->nu; i < it->ny; ++i) {
        for (int j = 0; j < it->size; ++j) {
            const bool is_acceleration = j >= a0 && j < a0 + it->nu;
            it->couples[i + (ptrdiff_t)it->ny * j] = !is_acceleration;
        }
    }
}

typedef struct entry_list {
    int *row, *col; // NULL: they are only counted
    int count;
} entry_list;

static void list(entry_list *it, int row, int col)
{
    if (it->row != NULL) {
        it->row[it->count] = row;
        it->col[it->count] = col;
    }
    ++it->count;
}

static void list_node(const tal_optimizer *it, int k, entry_list *entries)
{
    for (int j = 0; j < it->size; ++j) {
        for (int i = 0; i < it->nu; ++i) {
            list(entries, k * it->nu + i, unknown(it, k, j));
        }
    }
    for (int i = 0; i < it->nu; ++i) {
        list(entries, k * it->nu + i, end_unknown(it));
    }
}

// Rows of one part of the rule from row0 on, by the unknowns of node k and by the end.
static void list_part(const tal_optimizer *it, int row0, int k, entry_list *entries)
{
    for (int i = 0; i < it->ny; ++i) {
        list(entries, row0 + i, unknown(it, k, i));
    }
    for (int j = 0; j < it->size; ++j) {
        for (int i = 0; i < it->ny; ++i) {
            if (!it->couples[i + (ptrdiff_t)it->ny * j]) continue;
            list(entries, row0 + i, unknown(it, k, j));
        }
    }
    for (int i = 0; i < it->ny; ++i) {
        list(entries, row0 + i, end_unknown(it));
    }
}

static void list_interval(const tal_optimizer *it, int n, entry_list *entries)
{
    const tali_optimize_rule *rule = tali_optimize_rule_of(it->def.method);
    for (int part = 0; part < rule->num_parts; ++part) {
        for (int s = 0; s < rule->num_stages; ++s) {
            list_part(it, interval_row(it, n, part), first_node(it, n) + s, entries);
        }
    }
}

// What is the same at both ends: a coordinate and its speed.
static void list_period(const tal_optimizer *it, int p, entry_list *entries)
{
    const tali_optimize_period *period = &it->periods[p];
    for (int way = 0; way < 2; ++way) {
        const int node = way == 0 ? it->num_nodes - 1 : 0;
        const tal_body_ix body = period->body[way];
        const int q = tal_body_q_start(it->matter, it->state, body) + period->i[way];
        const int u = tal_body_u_start(it->matter, body) + period->i[way];
        list(entries, period_row(it, p), unknown(it, node, q));
        list(entries, period_row(it, p) + 1, unknown(it, node, it->nq + u));
    }
}

// Limit n / num_nodes at node n % num_nodes.
static void list_limit(const tal_optimizer *it, int n, entry_list *entries)
{
    const int node = n % it->num_nodes, row = limit_row(it, n / it->num_nodes, node);
    for (int j = 0; j < it->size; ++j) {
        list(entries, row, unknown(it, node, j));
    }
    list(entries, row, end_unknown(it));
}

// Entries of the Jacobian, in the order in which calc_jacobian() writes them.
static int list_jacobian(const tal_optimizer *it, int *row, int *col)
{
    entry_list entries = {row, col, 0};
    for (int k = 0; k < it->num_nodes; ++k) {
        list_node(it, k, &entries);
    }
    for (int n = 0; n < it->def.intervals; ++n) {
        list_interval(it, n, &entries);
    }
    for (int p = 0; p < it->num_periods; ++p) {
        list_period(it, p, &entries);
    }
    for (int n = 0; n < it->num_limits * it->num_nodes; ++n) {
        list_limit(it, n, &entries);
    }
    return entries.count;
}

// Lower halves of the blocks of nodes, and their couplings with the end.
static int list_hessian(const tal_optimizer *it, int *row, int *col)
{
    entry_list entries = {row, col, 0};
    for (int k = 0; k < it->num_nodes; ++k) {
        for (int i = 0; i < it->size; ++i) {
            for (int j = 0; j <= i; ++j) {
                list(&entries, unknown(it, k, i), unknown(it, k, j));
            }
            list(&entries, end_unknown(it), unknown(it, k, i));
        }
    }
    return entries.count;
}

// --- functions ---

static tal_status calc_objective(void *self, const double x[], double *F)
{
    tal_optimizer *it = self;
    const double end = x[end_unknown(it)], h = step_length(it, x);
    tal_status st = TAL_OK;
    *F = tali_optimize_cost_of_time(it) * end;
    for (int k = 0; k < it->num_nodes && st == TAL_OK; ++k) {
        const double *at = &x[unknown(it, k, 0)];
        const double t = tali_optimize_time_at(it, k, end);
        st = tali_optimize_calc_values(it, t, at, &it->values);
        *F += tali_optimize_weight_of(it, k, h) * it->values.cost;
    }
    double last = 0.0;
    if (st == TAL_OK) { // the State is at the last node
        st = tali_optimize_calc_cost(it, end, &x[unknown(it, it->num_nodes - 1, 0)], true, &last);
    }
    *F += last;
    return st;
}

// By the unknowns of each node, and by the end: it changes lengths of intervals and times.
static tal_status calc_gradient(void *self, const double x[], double g[])
{
    tal_optimizer *it = self;
    const double end = x[end_unknown(it)], h = step_length(it, x), span = end - it->start;
    double *by_end = &g[end_unknown(it)];
    tal_status st = TAL_OK;
    *by_end = tali_optimize_cost_of_time(it);
    for (int k = 0; k < it->num_nodes && st == TAL_OK; ++k) {
        const double *at = &x[unknown(it, k, 0)];
        const double t = tali_optimize_time_at(it, k, end), w = tali_optimize_weight_of(it, k, h);
        double by_t;
        st = tali_optimize_calc_values(it, t, at, &it->values);
        const double cost = it->values.cost;
        if (st == TAL_OK) {
            st = tali_optimize_calc_cost_slopes(it, t, at, false, it->gradient, &by_t);
        }
        for (int j = 0; j < it->size && st == TAL_OK; ++j) {
            g[unknown(it, k, j)] = w * it->gradient[j];
        }
        if (st == TAL_OK) *by_end += w * (cost / span + by_t * (t - it->start) / span);
    }
    const int last = unknown(it, it->num_nodes - 1, 0);
    double by_t = 0.0;
    if (st == TAL_OK) {
        st = tali_optimize_calc_cost_slopes(it, end, &x[last], true, it->gradient, &by_t);
    }
    for (int j = 0; j < it->size && st == TAL_OK; ++j) {
        g[last + j] += it->gradient[j];
    }
    *by_end += by_t;
    return st;
}

// What node k adds to rows: what forces lack there, and its part of the intervals it belongs to.
static void add_node(const tal_optimizer *it, int k, double h, const double x[], double c[])
{
    const tali_optimize_rule *rule = tali_optimize_rule_of(it->def.method);
    memcpy(&c[(ptrdiff_t)k * it->nu], it->values.lack, (size_t)it->nu * sizeof *c);
    for (int n = 0; n < it->def.intervals; ++n) {
        const int s = k - first_node(it, n);
        if (s < 0 || s >= rule->num_stages) continue;
        for (int part = 0; part < rule->num_parts; ++part) {
            double *row = &c[interval_row(it, n, part)];
            for (int i = 0; i < it->ny; ++i) {
                row[i] += rule->alpha[part][s] * x[unknown(it, k, i)] -
                          h * rule->beta[part][s] * it->values.f[i];
            }
        }
    }
}

// What forces lack at each node, the rows of each interval, and periods.
static tal_status calc_rows(void *self, const double x[], double c[])
{
    tal_optimizer *it = self;
    const double end = x[end_unknown(it)], h = step_length(it, x);
    tal_status st = TAL_OK;
    memset(c, 0, (size_t)it->num_rows * sizeof *c);
    for (int k = 0; k < it->num_nodes && st == TAL_OK; ++k) {
        st = tali_optimize_calc_values(it, tali_optimize_time_at(it, k, end), &x[unknown(it, k, 0)],
                                       &it->values);
        if (st == TAL_OK) add_node(it, k, h, x, c);
        if (st == TAL_OK) {
            memcpy(&it->f[(ptrdiff_t)k * it->ny], it->values.f, (size_t)it->ny * sizeof *it->f);
        }
        for (int n = 0; n < it->num_limits && st == TAL_OK; ++n) {
            st = tali_optimize_calc_limit(it, n, tali_optimize_time_at(it, k, end),
                                          &x[unknown(it, k, 0)], &c[limit_row(it, n, k)]);
        }
    }
    for (int p = 0; p < it->num_periods; ++p) {
        const tali_optimize_period *period = &it->periods[p];
        const int last = it->num_nodes - 1;
        const int q1 = tal_body_q_start(it->matter, it->state, period->body[0]) + period->i[0];
        const int q0 = tal_body_q_start(it->matter, it->state, period->body[1]) + period->i[1];
        const int u1 = it->nq + tal_body_u_start(it->matter, period->body[0]) + period->i[0];
        const int u0 = it->nq + tal_body_u_start(it->matter, period->body[1]) + period->i[1];
        double *row = &c[period_row(it, p)];
        row[0] = x[unknown(it, last, q1)] - period->sign * x[unknown(it, 0, q0)];
        row[1] = x[unknown(it, last, u1)] - period->sign * x[unknown(it, 0, u0)];
    }
    return st;
}

// Entries of one node in one part of one interval; where the next ones go.
static double *put_stage(const tal_optimizer *it, int part, int s, double h, double span,
                         double share, double *out)
{
    const tali_optimize_rule *rule = tali_optimize_rule_of(it->def.method);
    const double alpha = rule->alpha[part][s], beta = rule->beta[part][s];
    for (int i = 0; i < it->ny; ++i) {
        *out++ = alpha;
    }
    for (ptrdiff_t k = 0; k < (ptrdiff_t)it->ny * it->size; ++k) {
        if (it->couples[k]) *out++ = -h * beta * it->values.f_by[k];
    }
    for (int i = 0; i < it->ny; ++i) { // h and t move with the end
        const double by_t = it->has_time ? it->values.f_by_t[i] : 0.0;
        *out++ = -beta * (h / span * it->values.f[i] + h * by_t * share);
    }
    return out;
}

// How many entries put_stage() writes.
static int stage_entries(const tal_optimizer *it)
{
    int count = 2 * it->ny;
    for (ptrdiff_t k = 0; k < (ptrdiff_t)it->ny * it->size; ++k) {
        count += it->couples[k];
    }
    return count;
}

static void put_node(const tal_optimizer *it, int k, double h, double span, double values[])
{
    const tali_optimize_rule *rule = tali_optimize_rule_of(it->def.method);
    const int per_node = it->nu * (it->size + 1), per_stage = stage_entries(it);
    const double share = (double)k / (it->num_nodes - 1); // of t in the end
    double *out = &values[(ptrdiff_t)k * per_node];
    memcpy(out, it->values.lack_by, (size_t)it->nu * (size_t)it->size * sizeof *out);
    for (int i = 0; i < it->nu; ++i) {
        out[it->nu * it->size + i] = it->has_time ? it->values.lack_by_t[i] * share : 0.0;
    }
    double *const intervals = &values[(ptrdiff_t)it->num_nodes * per_node];
    for (int n = 0; n < it->def.intervals; ++n) {
        const int s = k - first_node(it, n);
        if (s < 0 || s >= rule->num_stages) continue;
        for (int part = 0; part < rule->num_parts; ++part) {
            const ptrdiff_t stage = ((ptrdiff_t)n * rule->num_parts + part) * rule->num_stages + s;
            (void)put_stage(it, part, s, h, span, share, &intervals[stage * per_stage]);
        }
    }
}

static tal_status put_limits(tal_optimizer *it, const double x[], double *out)
{
    const double end = x[end_unknown(it)];
    tal_status st = TAL_OK;
    for (int n = 0; n < it->num_limits * it->num_nodes && st == TAL_OK; ++n) {
        const int k = n % it->num_nodes;
        double by_t;
        st = tali_optimize_limit_slopes(it, n / it->num_nodes, tali_optimize_time_at(it, k, end),
                                        &x[unknown(it, k, 0)], out, &by_t);
        out[it->size] = by_t * k / (it->num_nodes - 1);
        out += it->size + 1;
    }
    return st;
}

static tal_status calc_jacobian(void *self, const double x[], double values[])
{
    tal_optimizer *it = self;
    const double end = x[end_unknown(it)], h = step_length(it, x);
    tal_status st = TAL_OK;
    for (int k = 0; k < it->num_nodes && st == TAL_OK; ++k) {
        st = tali_optimize_calc_slopes(it, tali_optimize_time_at(it, k, end), &x[unknown(it, k, 0)],
                                       &it->values);
        if (st == TAL_OK) put_node(it, k, h, end - it->start, values);
    }
    double *out = &values[it->num_J - num_limit_entries(it) - 4 * it->num_periods];
    for (int p = 0; p < it->num_periods; ++p) {
        *out++ = 1.0;
        *out++ = 1.0;
        *out++ = -it->periods[p].sign;
        *out++ = -it->periods[p].sign;
    }
    return st == TAL_OK ? put_limits(it, x, out) : st;
}

// Multipliers of what node k has in all rows: of f, without the length of the interval, and of
// lack.
static void find_multipliers(tal_optimizer *it, int k, const double lambda[])
{
    const tali_optimize_rule *rule = tali_optimize_rule_of(it->def.method);
    memset(it->mu, 0, (size_t)it->ny * sizeof *it->mu);
    memcpy(it->mu + it->ny, &lambda[(ptrdiff_t)k * it->nu], (size_t)it->nu * sizeof *it->mu);
    for (int n = 0; n < it->num_limits; ++n) {
        it->mu[it->ny + it->nu + n] = lambda[limit_row(it, n, k)];
    }
    for (int n = 0; n < it->def.intervals; ++n) {
        const int s = k - first_node(it, n);
        if (s < 0 || s >= rule->num_stages) continue;
        for (int part = 0; part < rule->num_parts; ++part) {
            const double *row = &lambda[interval_row(it, n, part)];
            for (int i = 0; i < it->ny; ++i) {
                it->mu[i] -= rule->beta[part][s] * row[i];
            }
        }
    }
}

// What the gradients at one node are weighted with.
typedef struct node_weights {
    double cost, h, at_end; // of what is integrated, of f, of goals at the end
} node_weights;

// The gradient of cost + h mu^T f + lambda^T lack + goals at the end, at one node and by its
// unknowns; of the first two terms alone, which the length of intervals multiplies.
static tal_status calc_node_gradient(tal_optimizer *it, double t, const double x[],
                                     node_weights weights, double g[], double lengthened[])
{
    tali_optimize_values *at = &it->values;
    double by_t = 0.0;
    memset(it->plus.cost_by, 0, (size_t)it->size * sizeof *it->plus.cost_by);
    tal_status st = tali_optimize_calc_slopes(it, t, x, at);
    if (st == TAL_OK && weights.at_end != 0.0) {
        st = tali_optimize_calc_cost_slopes(it, t, x, true, it->plus.cost_by, &by_t);
    }
    for (int j = 0; j < it->size && st == TAL_OK; ++j) {
        double sum = weights.cost * at->cost_by[j];
        double rest = weights.at_end * it->plus.cost_by[j];
        for (int i = 0; i < it->ny; ++i) {
            sum += weights.h * it->mu[i] * at->f_by[i + (ptrdiff_t)it->ny * j];
        }
        for (int i = 0; i < it->nu; ++i) {
            rest += it->mu[it->ny + i] * at->lack_by[i + (ptrdiff_t)it->nu * j];
        }
        g[j] = sum + rest;
        if (lengthened != NULL) lengthened[j] = sum;
    }
    for (int n = 0; n < it->num_limits && st == TAL_OK; ++n) {
        st = tali_optimize_limit_slopes(it, n, t, x, it->limit_by, &by_t);
        for (int j = 0; j < it->size && st == TAL_OK; ++j) {
            g[j] += it->mu[it->ny + it->nu + n] * it->limit_by[j];
        }
    }
    return st;
}

// The block of one node by central differences of its gradient, and its coupling with the end.
static tal_status calc_node_hessian(tal_optimizer *it, double t, const double x[],
                                    node_weights weights, double span, double *out)
{
    const int n = it->size;
    memset(out, 0, (size_t)n * ((size_t)n + 3) / 2 * sizeof *out);
    double *g = it->gradient, *g_plus = it->gradient_plus_of_node, *moved = it->moved_node;
    tal_status st = TAL_OK;
    for (int j = 0; j < n && st == TAL_OK; ++j) {
        const double step = STEP * (1.0 + fabs(x[j]));
        memcpy(moved, x, (size_t)n * sizeof *x);
        moved[j] = x[j] + step;
        st = calc_node_gradient(it, t, moved, weights, g_plus, NULL);
        moved[j] = x[j] - step;
        if (st == TAL_OK) st = calc_node_gradient(it, t, moved, weights, g, NULL);
        for (int i = 0; i < n && st == TAL_OK; ++i) { // half of each to either triangle
            const int high = i > j ? i : j, low = i > j ? j : i;
            const ptrdiff_t place = (ptrdiff_t)high * (high + 3) / 2 + low;
            out[place] += (i == j ? 1.0 : 0.5) * (g_plus[i] - g[i]) / (2.0 * step);
        }
    }
    if (st == TAL_OK) st = calc_node_gradient(it, t, x, weights, g_plus, g);
    for (int i = 0; i < n && st == TAL_OK; ++i) {
        out[(ptrdiff_t)i * (i + 3) / 2 + i + 1] = g[i] / span;
    }
    return st;
}

static tal_status calc_hessian(void *self, const double x[], double weight, const double lambda[],
                               double values[])
{
    tal_optimizer *it = self;
    const double end = x[end_unknown(it)], h = step_length(it, x);
    const ptrdiff_t per_node = (ptrdiff_t)it->size * (it->size + 3) / 2;
    tal_status st = TAL_OK;
    for (int k = 0; k < it->num_nodes && st == TAL_OK; ++k) {
        const node_weights weights = {weight * tali_optimize_weight_of(it, k, h), h,
                                      k == it->num_nodes - 1 ? weight : 0.0};
        find_multipliers(it, k, lambda);
        st = calc_node_hessian(it, tali_optimize_time_at(it, k, end), &x[unknown(it, k, 0)],
                               weights, end - it->start, &values[k * per_node]);
    }
    return st;
}

tal_nlp tali_optimize_program(tal_optimizer *it)
{
    return (tal_nlp){.num_unknowns = it->num_unknowns,
                     .num_rows = it->num_rows,
                     .num_jacobian = it->num_J,
                     .jacobian_row = it->J_row,
                     .jacobian_col = it->J_col,
                     .num_hessian = it->num_H,
                     .hessian_row = it->H_row,
                     .hessian_col = it->H_col,
                     .lower = it->lower,
                     .upper = it->upper,
                     .row_lower = it->row_lower,
                     .row_upper = it->row_upper,
                     .self = it,
                     .calc_objective = calc_objective,
                     .calc_gradient = calc_gradient,
                     .calc_rows = calc_rows,
                     .calc_jacobian = calc_jacobian,
                     .calc_hessian = calc_hessian};
}

// --- memory ---

static void size_up(tal_optimizer *it)
{
    const tali_optimize_rule *rule = tali_optimize_rule_of(it->def.method);
    it->nq = tal_state_nq(it->state);
    it->nu = tal_matter_nu(it->matter);
    it->nz = tal_state_nz(it->state);
    it->ny = it->nq + it->nu + it->nz;
    it->size = it->ny + it->nu + it->nc;
    it->num_stages = rule->num_stages;
    it->num_nodes = it->def.intervals * (rule->num_stages - 1) + 1;
    it->num_unknowns = it->num_nodes * it->size + 1;
    it->num_rows = limit_row(it, it->num_limits, 0);
}

// All arrays in one block.
static bool take_memory(tal_optimizer *it)
{
    const size_t d = sizeof(double), n = (size_t)it->size, ny = (size_t)it->ny;
    const size_t nu = (size_t)it->nu, nq = (size_t)it->nq, all = (size_t)it->num_unknowns;
    const size_t bodies = (size_t)tal_matter_num_bodies(it->matter);
    const size_t work = tal_forces_derivative_work_size(it->forces);
    const size_t J = (size_t)it->num_J * sizeof(int), H = (size_t)it->num_H * sizeof(int);
    tali_optimize_values *v = &it->values, *p = &it->plus;
    const tali_piece pieces[] = {{&it->x, all * d},
                                 {&it->lower, all * d},
                                 {&it->upper, all * d},
                                 {&it->unit, all * d},
                                 {&it->shares, all * d},
                                 {&it->f, (size_t)it->num_nodes * ny * d},
                                 {&it->J_row, J},
                                 {&it->J_col, J},
                                 {&it->H_row, H},
                                 {&it->H_col, H},
                                 {&v->f, ny * d},
                                 {&v->lack, nu * d},
                                 {&v->f_by, ny * n * d},
                                 {&v->lack_by, nu * n * d},
                                 {&v->f_by_t, ny * d},
                                 {&v->lack_by_t, nu * d},
                                 {&v->cost_by, n * d},
                                 {&p->f, ny * d},
                                 {&p->lack, nu * d},
                                 {&p->cost_by, n * d},
                                 {&it->moved, n * d},
                                 {&it->moved_node, n * d},
                                 {&it->gradient, n * d},
                                 {&it->gradient_plus, (n + nu) * d},
                                 {&it->gradient_plus_of_node, n * d},
                                 {&it->mu, (ny + nu + (size_t)it->num_limits) * d},
                                 {&it->limit_by, n * d},
                                 {&it->row_lower, (size_t)it->num_rows * d},
                                 {&it->row_upper, (size_t)it->num_rows * d},
                                 {&it->columns, nu * nu * d},
                                 {&it->columns_q, nu * nq * d},
                                 {&it->direction, nu * d},
                                 {&it->work, work * d},
                                 {&it->F_GB, bodies * sizeof *it->F_GB},
                                 {&it->f_applied, nu * d}};
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    return it->block != NULL;
}

// Which coordinates depend on which is needed to count entries, before there is memory for them.
static bool take_couples(tal_optimizer *it)
{
    const tali_piece pieces[] = {
        {&it->is_plain, (size_t)(it->nq + it->nu) * sizeof *it->is_plain},
        {&it->couples, (size_t)it->ny * (size_t)it->size * sizeof *it->couples}};
    it->couples_block = tali_alloc_pieces(&it->allocator, pieces, 2, &it->couples_bytes);
    return it->couples_block != NULL;
}

// Equations are zero; limits have ranges.
static void set_row_ranges(const tal_optimizer *it)
{
    memset(it->row_lower, 0, (size_t)it->num_rows * sizeof *it->row_lower);
    memset(it->row_upper, 0, (size_t)it->num_rows * sizeof *it->row_upper);
    for (int n = 0; n < it->num_limits * it->num_nodes; ++n) {
        const tali_optimize_limit *limit = &it->limits[n / it->num_nodes];
        it->row_lower[limit_row(it, 0, n)] = limit->low;
        it->row_upper[limit_row(it, 0, n)] = limit->high;
    }
}

tal_status tali_optimize_set_up(tal_optimizer *it)
{
    size_up(it);
    if (it->num_unknowns < 0 || !take_couples(it)) return TAL_ERR_NO_MEMORY;
    find_couples(it);
    it->num_J = list_jacobian(it, NULL, NULL);
    it->num_H = list_hessian(it, NULL, NULL);
    if (!take_memory(it)) return TAL_ERR_NO_MEMORY;
    (void)list_jacobian(it, it->J_row, it->J_col);
    (void)list_hessian(it, it->H_row, it->H_col);
    set_row_ranges(it);
    return TAL_OK;
}
