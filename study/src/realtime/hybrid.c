// The hybrid formulation (CD sec. 2): all coordinates, M udot + G^T (alpha Phi + lambda) = Q, and
// projections of u and udot with the last tangent matrix.
//
//     residual   M udot + P + G^T (alpha Phi + lambda), times b = (1 - df) beta h^2
//     tangent    H = (1 - dm) M + (1 - df) S + b alpha G^T G                CD eq. 41
//     speeds     H u = (H - b alpha G^T G) u* - b alpha G^T Phi_t           CD eq. 35
//
// with S = beta h^2 K + gamma h C of the forces. The last is H (u - u*) = -b alpha G^T verr(u*),
// and likewise for udot (CD eq. 36).
#include "finite_internal.h"

#include "realtime/realtime_internal.h"

#include <string.h>

// Phi of all rows.
static void read_errors(tal_fixed_stepper *s, const tal_state *state)
{
    const double kappa = s->family.beta * s->h / s->family.gamma;
    const double *perr = tali_realtime_perr(s, state), *verr = tali_realtime_verr(s, state);
    for (int i = 0; i < s->m; ++i) {
        s->errors[i] = i < s->rows.mp ? perr[i] : kappa * verr[i];
    }
}

// Rows and columns of known speeds become those of 1.
static void fix_known(tal_fixed_stepper *s, double *H)
{
    const int n = s->nu;
    for (int k = 0; k < n && s->has_known; ++k) {
        if (s->level[k] == TAL_LEVEL_FREE) continue;
        double *column = tali_realtime_column(H, n, k);
        for (int j = 0; j < n; ++j) {
            column[j] = tali_realtime_column(H, n, j)[k] = j == k ? 1.0 : 0.0;
        }
    }
}

// The factor of M (or of the tangent matrix without constraints, in H) with the penalty c G^T G.
static tal_status factor_with(tal_fixed_stepper *s, tal_state *state, double c)
{
    const tal_matrix G = tal_matrix_view(s->G, s->m, s->nu);
    const tal_status st = s->m > 0 ? tal_matter_calc_G(s->matter, state, TAL_G, G) : TAL_OK;
    if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
    tali_sparse_tree_add_square(&s->tree, s->G, s->m, c);
    fix_known(s, s->H);
    return tali_realtime_factor_tree(s, &s->tree);
}

// f = H^-1 f of free speeds, zero of known ones.
static tal_status solve(tal_fixed_stepper *s, double f[])
{
    for (int k = 0; k < s->nu; ++k) {
        if (s->level[k] != TAL_LEVEL_FREE) f[k] = 0.0;
    }
    tali_sparse_tree_solve(&s->tree, f);
    if (tali_finite_all(f, s->nu)) return TAL_OK;
    return TALI_FAIL(&s->error_record, TAL_ERR_NOT_FINITE,
                     "a step of %g s from t = %g leads to numbers that are not finite: take "
                     "shorter ones",
                     s->h, s->t0);
}

// What the equations of motion lack: -(M udot + P + G^T (lambda + alpha errors)).
static tal_status calc_lack(tal_fixed_stepper *s, tal_state *state, const double udot[], double r[])
{
    for (int i = 0; i < s->m; ++i) {
        s->row[i] = s->past.lambda[i] + s->penalty * s->errors[i];
    }
    tal_status st = tali_realtime_calc_P(s, state, udot, r);
    if (st == TAL_OK) st = tal_matter_mul_GT(s->matter, state, TAL_G, s->row, s->f);
    for (int k = 0; k < s->nu && st == TAL_OK; ++k) {
        r[k] = -(r[k] + s->f[k]);
    }
    return tali_realtime_pass_on(s, state, st);
}

// Multipliers grow by alpha Phi.
static void update_multipliers(tal_fixed_stepper *s)
{
    for (int i = 0; i < s->m; ++i) {
        s->past.lambda[i] += s->penalty * s->errors[i];
    }
}

// udot of known speeds, zero of the others: what the sweeps of the start begin with.
static tal_status find_known_udot(tal_fixed_stepper *s, tal_state *state, double udot[])
{
    memset(udot, 0, (size_t)s->nu * sizeof *udot);
    if (!s->has_known) return TAL_OK;
    const tal_status st = tali_realtime_calc_free_udot(s, state, udot);
    for (int k = 0; k < s->nu; ++k) {
        if (s->level[k] == TAL_LEVEL_FREE) udot[k] = 0.0;
    }
    return st;
}

// udot and lambda to begin with: M udot + G^T (lambda + alpha aerr) = -P, lambda += alpha aerr
// after each sweep, which does not mind rows that repeat others (GJB sec. 8.5: the form of index
// 1), nor bodies without mass that constraints hold.
static tal_status start(tal_fixed_stepper *s, tal_state *state)
{
    enum {
        SWEEPS = 8
    };

    double *udot = s->past.udot, *lambda = s->past.lambda;
    memset(lambda, 0, (size_t)s->m * sizeof *lambda);
    tal_status st = find_known_udot(s, state, udot);
    if (st == TAL_OK) st = tali_realtime_calc_mass(s, state);
    s->penalty = tali_realtime_penalty(s, s->M, s->nu, 1.0);
    memcpy(s->H, s->M, (size_t)s->nu * (size_t)s->nu * sizeof *s->H);
    if (st == TAL_OK) st = factor_with(s, state, s->penalty);
    for (int i = 0; i < (s->m > 0 ? SWEEPS : 1) && st == TAL_OK; ++i) {
        st = tal_matter_calc_constraint_aerr(s->matter, state, udot, s->errors);
        if (st == TAL_OK) st = calc_lack(s, state, udot, s->change);
        if (st == TAL_OK) st = solve(s, s->change);
        for (int k = 0; k < s->nu && st == TAL_OK; ++k) {
            udot[k] += s->change[k];
        }
        if (st == TAL_OK) st = tal_matter_calc_constraint_aerr(s->matter, state, udot, s->errors);
        update_multipliers(s);
    }
    memcpy(s->past.a, udot, (size_t)s->nu * sizeof *udot);
    return tali_realtime_pass_on(s, state, st);
}

static tal_status place(tal_fixed_stepper *s, tal_state *state)
{
    const tal_status st = tali_realtime_put(s, state, s->t1, s->x, s->u);
    if (st == TAL_OK) read_errors(s, state);
    return st;
}

// Where forces make the tangent indefinite, inertia is added until it is not: shorter changes.
static tal_status factor_tangent(tal_fixed_stepper *s, tal_state *state)
{
    enum {
        TRIES = 5
    };

    const double c = s->penalty * tali_realtime_scale(s);
    tal_status st = factor_with(s, state, c);
    double inertia = 1.0;
    for (int i = 0; i < TRIES && st == TAL_ERR_SINGULAR && s->forces != NULL; ++i) {
        s->error_record = (tal_error){TAL_OK, "", ""};
        s->stats.heavier_tangents += i == 0 ? 1 : 0;
        tali_realtime_sum_tangent(s, inertia, i < TRIES - 1 ? 1.0 : 0.0);
        st = factor_with(s, state, c);
        inertia *= 4.0;
    }
    return st;
}

// The tangent of an iteration; the penalty of a step is from the M of its first one. G is always
// that of the place at hand: with an older one a projection would move speeds along the
// constraints, too, by the penalty times what G has changed.
static tal_status find_tangent(tal_fixed_stepper *s, tal_state *state)
{
    tal_status st = TAL_OK;
    if (s->has_inertia) {
        tali_realtime_sum_tangent(s, 0.0, 1.0);
    } else {
        st = tali_realtime_calc_tangent(s, state);
    }
    s->has_inertia = true;
    if (st == TAL_OK && !s->is_corrected) {
        s->penalty = tali_realtime_penalty(s, s->M, s->nu, tali_realtime_scale(s));
    }
    return st == TAL_OK ? factor_tangent(s, state) : st;
}

static tal_status correct(tal_fixed_stepper *s, tal_state *state)
{
    if (s->is_corrected) update_multipliers(s);
    tal_status st = find_tangent(s, state);
    s->is_corrected = true;
    if (st == TAL_OK) st = calc_lack(s, state, s->udot, s->change);
    for (int k = 0; k < s->nu; ++k) {
        s->change[k] *= tali_realtime_scale(s);
    }
    return st == TAL_OK ? solve(s, s->change) : st;
}

// d = -b alpha H^-1 G^T errors, and what is left of the errors: errors + G d
static tal_status calc_projection(tal_fixed_stepper *s, tal_state *state, double errors[],
                                  double d[])
{
    const double c = -s->penalty * tali_realtime_scale(s);
    for (int i = 0; i < s->m; ++i) {
        s->row[i] = c * errors[i];
    }
    tal_status st = tal_matter_mul_GT(s->matter, state, TAL_G, s->row, d);
    if (st == TAL_OK) st = solve(s, d);
    if (st == TAL_OK) st = tal_matter_mul_G(s->matter, state, TAL_G, d, s->row);
    for (int i = 0; i < s->m; ++i) {
        errors[i] += s->row[i];
    }
    return st;
}

// v moves until its errors, which are linear in it, are below a tolerance; `d` is the sum of all
// moves.
static tal_status project(tal_fixed_stepper *s, tal_state *state, double tolerance, double errors[],
                          double v[], double d[])
{
    tal_status st = TAL_OK;
    memset(d, 0, (size_t)s->nu * sizeof *d);
    for (int i = 0; i < s->def.projections && st == TAL_OK; ++i) {
        if (!s->def.same_work && tali_realtime_norm(errors, s->m) <= tolerance) break;
        st = calc_projection(s, state, errors, s->f);
        for (int k = 0; k < s->nu; ++k) {
            v[k] += s->f[k];
            d[k] += s->f[k];
        }
    }
    return st;
}

static tal_status project_speeds(tal_fixed_stepper *s, tal_state *state)
{
    if (s->m == 0) return TAL_OK;
    memcpy(s->errors, tali_realtime_verr(s, state), (size_t)s->m * sizeof *s->errors);
    tal_status st = project(s, state, s->def.speed_tolerance, s->errors, s->u, s->change);
    if (st == TAL_OK) st = tali_realtime_put_u(s, state, s->u);
    return tali_realtime_pass_on(s, state, st);
}

// As far as they change speeds within a step. Newmark's acceleration takes its share.
static tal_status project_accelerations(tal_fixed_stepper *s, tal_state *state)
{
    const double share = (1.0 - s->family.df) / (1.0 - s->family.dm);
    if (s->m == 0) return TAL_OK;
    tal_status st = tal_matter_calc_constraint_aerr(s->matter, state, s->udot, s->errors);
    const double tolerance = s->def.speed_tolerance / s->h;
    if (st == TAL_OK) st = project(s, state, tolerance, s->errors, s->udot, s->change);
    for (int k = 0; k < s->nu && st == TAL_OK; ++k) {
        s->a[k] += share * s->change[k];
    }
    return tali_realtime_pass_on(s, state, st);
}

static tal_status finish(tal_fixed_stepper *s, tal_state *state)
{
    update_multipliers(s);
    tal_status st = s->def.projects ? project_speeds(s, state) : TAL_OK;
    if (st == TAL_OK && s->def.projects) st = project_accelerations(s, state);
    return st;
}

const tali_realtime_ops *tali_realtime_hybrid(void)
{
    static const tali_realtime_ops ops = {.start = start,
                                          .step = tali_realtime_structural_step,
                                          .place = place,
                                          .correct = correct,
                                          .finish = finish};
    return &ops;
}
