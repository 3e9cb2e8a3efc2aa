// Independent coordinates about a State.
#include "array_internal.h"

#include "linearize/chart_internal.h"
#include "problem/study_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Relative length below which a row of G depends on the others.
static const double DEPENDENT = 1e-10;

// Constraint errors after the first projection; one more iteration squares them.
static const double FIRST_TOLERANCE = 1e-8;

tal_status tali_chart_pass_on(tali_chart *chart, const tal_state *state, tal_status st)
{
    if (st == TAL_OK) return TAL_OK;
    return TALI_FAIL(chart->err, st, "%s", tali_problem_reason(state, st));
}

tal_status tali_chart_check(tali_chart *chart, const tal_state *state, tal_pool errors,
                            double tolerance)
{
    const bool on_speeds = errors == TAL_POOL_UERR;
    const tal_constraint_rows rows = tal_matter_constraint_rows(chart->matter, state);
    const int num_rows = on_speeds ? rows.mp + rows.mv : rows.mp;
    if (num_rows <= 0) return TAL_OK;
    const tal_group_ix group = tal_system_find_group(
        chart->system, tal_matter_subsystem(chart->matter), errors, "constraints");
    const int first = tal_group_start(chart->system, state, group);
    const double *values = (on_speeds ? tal_state_uerr(state) : tal_state_qerr(state)) + first;
    const double *weights = tal_state_weights(state, errors) + first;
    for (int i = 0; i < num_rows; ++i) {
        if (fabs(values[i]) * weights[i] <= tolerance) continue;
        const tal_constraint_ix owner = tal_matter_row_owner(chart->matter, state, i);
        return TALI_FAIL(chart->err, TAL_ERR_BAD_VALUE,
                         "constraint '%s' is off by %g%s: assemble the %s first",
                         tal_constraint_name(chart->matter, owner), values[i],
                         on_speeds ? " in its velocities" : "", on_speeds ? "speeds" : "State");
    }
    return TAL_OK;
}

// --- memory ---

tal_status tali_chart_create(tali_chart *chart, const tal_system *system, tal_error *err)
{
    const tal_matter *matter = tal_system_matter(system);
    const tal_subsystem_ix owner = tal_matter_subsystem(matter);
    *chart = (tali_chart){.system = system, .matter = matter, .err = err};
    chart->allocator = tal_system_allocator(system);
    chart->q_group = tal_system_find_group(system, owner, TAL_POOL_Q, "q");
    chart->u_group = tal_system_find_group(system, owner, TAL_POOL_U, "u");
    chart->nu = tal_matter_nu(matter);
    chart->max_nq = tal_system_pool_capacity(system, TAL_POOL_Q);
    chart->max_ny = chart->max_nq + tal_system_pool_capacity(system, TAL_POOL_U) +
                    tal_system_pool_capacity(system, TAL_POOL_Z);
    chart->max_rows = tal_system_pool_capacity(system, TAL_POOL_UDOTERR);

    const size_t d = sizeof(double), n = (size_t)chart->nu, m = (size_t)chart->max_rows;
    const tali_piece pieces[] = {
        {&chart->K_p, n * n * d},
        {&chart->K_v, n * n * d},
        {&chart->K_a, n * n * d},
        {&chart->is_known, n * sizeof(bool)},
        {&chart->q0, (size_t)chart->max_nq * d},
        {&chart->u0, n * d},
        {&chart->y0, (size_t)chart->max_ny * d},
        {&chart->G, m * n * d},
        {&chart->K_free, n * n * d},
        {&chart->dq, (size_t)chart->max_nq * d},
        {&chart->du, n * d},
        {&chart->lost, n * d},
        {&chart->cod_work, tal_cod_work_size(chart->max_rows, chart->nu) * d},
        {&chart->cod_iwork, tal_cod_iwork_size(chart->max_rows, chart->nu) * sizeof(int)},
        {&chart->free_list, n * sizeof(int)},
    };
    chart->block = tali_alloc_pieces(&chart->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                     &chart->block_bytes);
    if (chart->block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for independent coordinates");
    }
    return TAL_OK;
}

void tali_chart_destroy(tali_chart *chart)
{
    tali_free(&chart->allocator, chart->block, chart->block_bytes);
    chart->block = NULL;
}

// --- bases ---

// Speeds that are not known at this level.
static int list_free(tali_chart *chart, const tal_state *state, tal_level level)
{
    int count = 0;
    for (int b = 1; b < tal_matter_num_bodies(chart->matter); ++b) {
        const tal_body_ix body = {b};
        const int u0 = tal_body_u_start(chart->matter, body);
        for (int j = 0; j < tal_body_nu(chart->matter, body); ++j) {
            const tal_mobility mobility = {body, j};
            const tal_level known = tal_mobility_level(chart->matter, state, mobility);
            chart->is_known[u0 + j] = known >= TAL_LEVEL_ACCELERATION;
            if (known < level) chart->free_list[count++] = u0 + j;
        }
    }
    return count;
}

// Rows of P, of V from the velocity level down, and of A at the acceleration level, over the free
// speeds: packed to m x nf.
static tal_status calc_rows(tali_chart *chart, tal_state *state, tal_level level, int nf, int *m)
{
    const tal_constraint_rows rows = tal_matter_constraint_rows(chart->matter, state);
    const int mv = level <= TAL_LEVEL_VELOCITY ? rows.mv : 0;
    const int ma = level <= TAL_LEVEL_ACCELERATION ? rows.ma : 0;
    *m = rows.mp + mv + ma;
    if (*m == 0) return TAL_OK;
    const tal_matrix P = {chart->G, rows.mp, chart->nu, *m};
    tal_status st = tal_matter_calc_G(chart->matter, state, TAL_G_P, P);
    if (st == TAL_OK && mv > 0) {
        const tal_matrix V = {chart->G + rows.mp, mv, chart->nu, *m};
        st = tal_matter_calc_G(chart->matter, state, TAL_G_V, V);
    }
    if (st == TAL_OK && ma > 0) {
        const tal_matrix A = {chart->G + rows.mp + mv, ma, chart->nu, *m};
        st = tal_matter_calc_G(chart->matter, state, TAL_G_A, A);
    }
    const size_t bytes = (size_t)*m * sizeof(double);
    for (int b = 0; b < nf && st == TAL_OK; ++b) {
        memmove(chart->G + (size_t)b * (size_t)*m,
                chart->G + (size_t)chart->free_list[b] * (size_t)*m, bytes);
    }
    return tali_chart_pass_on(chart, state, st);
}

// Columns over the free speeds become columns over all.
static void spread(const tali_chart *chart, int nf, int k, double *K)
{
    memset(K, 0, (size_t)chart->nu * (size_t)k * sizeof *K);
    for (int j = 0; j < k; ++j) {
        for (int a = 0; a < nf; ++a) {
            K[(size_t)j * (size_t)chart->nu + (size_t)chart->free_list[a]] =
                chart->K_free[(size_t)j * (size_t)nf + (size_t)a];
        }
    }
}

// What the constraints of a level leave of the free speeds.
static tal_status calc_basis(tali_chart *chart, tal_state *state, tal_level level, double *K,
                             int *k)
{
    const int nf = list_free(chart, state, level);
    int m = 0;
    tal_status st = calc_rows(chart, state, level, nf, &m);
    if (st != TAL_OK) return st;
    *k = nf;
    if (m > 0) {
        tal_cod cod;
        const tal_matrix G = tal_matrix_view(chart->G, m, nf);
        st = tal_cod_factor(&cod, G, DEPENDENT, chart->cod_work, chart->cod_iwork, chart->err);
        if (st != TAL_OK) return st;
        *k = nf - cod.rank;
        st = tal_cod_calc_null_basis(&cod, tal_matrix_view(chart->K_free, nf, *k));
    } else {
        memset(chart->K_free, 0, (size_t)nf * (size_t)nf * sizeof(double));
        for (int a = 0; a < nf; ++a) {
            chart->K_free[(size_t)a * (size_t)(nf + 1)] = 1.0;
        }
    }
    spread(chart, nf, *k, K);
    return st;
}

tal_status tali_chart_lay(tali_chart *chart, tal_state *state)
{
    const tal_system *system = chart->system;
    // N goes with the length of a quaternion, and what is put into the State later has length one
    tal_status st = tal_matter_normalize_quaternions(chart->matter, state);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return tali_chart_pass_on(chart, state, st);
    const int q_start = tal_group_start(system, state, chart->q_group);
    const int u_start = tal_group_start(system, state, chart->u_group);
    const int nq = tal_group_size(system, state, chart->q_group);
    memcpy(chart->y0, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof(double));
    memcpy(chart->q0, tal_state_q(state) + q_start, (size_t)nq * sizeof(double));
    memcpy(chart->u0, tal_state_u(state) + u_start, (size_t)chart->nu * sizeof(double));
    chart->nz = tal_state_nz(state);
    st = calc_basis(chart, state, TAL_LEVEL_POSITION, chart->K_p, &chart->ns);
    if (st != TAL_OK) return st;
    return calc_basis(chart, state, TAL_LEVEL_VELOCITY, chart->K_v, &chart->nv);
}

tal_status tali_chart_lay_forced(tali_chart *chart, tal_state *state)
{
    return calc_basis(chart, state, TAL_LEVEL_ACCELERATION, chart->K_a, &chart->na);
}

// --- from coordinates to the State and back ---

// out = K x.
static void expand(const double *K, int n, int k, const double x[], double out[])
{
    memset(out, 0, (size_t)n * sizeof *out);
    for (int j = 0; j < k; ++j) {
        for (int i = 0; i < n; ++i) {
            out[i] += K[(size_t)j * (size_t)n + (size_t)i] * x[j];
        }
    }
}

// out = K^T x.
static void contract(const double *K, int n, int k, const double x[], double out[])
{
    for (int j = 0; j < k; ++j) {
        out[j] = 0.0;
        for (int i = 0; i < n; ++i) {
            out[j] += K[(size_t)j * (size_t)n + (size_t)i] * x[i];
        }
    }
}

void tali_chart_reduce(const tali_chart *chart, const double in[], double out[])
{
    contract(chart->K_v, chart->nu, chart->nv, in, out);
}

void tali_chart_expand(const tali_chart *chart, const double s[], double out[])
{
    expand(chart->K_p, chart->nu, chart->ns, s, out);
}

void tali_chart_contract_forced(const tali_chart *chart, const double in[], double out[])
{
    contract(chart->K_a, chart->nu, chart->na, in, out);
}

void tali_chart_expand_forced(const tali_chart *chart, const double a[], double out[])
{
    expand(chart->K_a, chart->nu, chart->na, a, out);
}

// K_p spans what K_a does, and is orthonormal.
void tali_chart_place_forced(tali_chart *chart, const double a[], double s[])
{
    expand(chart->K_a, chart->nu, chart->na, a, chart->du);
    contract(chart->K_p, chart->nu, chart->ns, chart->du, s);
}

// As near to the constraints as round-off lets q or u come, since differences will be divided by
// small steps: to 1e-8 first, then one more iteration, which squares that and cannot fail.
static tal_status project_closely(const tal_system *system, tal_state *state, bool velocities)
{
    tal_project_options options = tal_project_options_default();
    options.tolerance = FIRST_TOLERANCE;
    tal_status st = TAL_OK;
    for (int pass = 0; pass < 2 && st == TAL_OK; ++pass) {
        options.even_if_met = pass == 1;
        st = velocities ? tal_system_project_u(system, state, &options, NULL, NULL)
                        : tal_system_project_q(system, state, &options, NULL, NULL);
    }
    return st;
}

// How much of v is missing in u; the largest of it.
static double missing(tali_chart *chart, const tal_state *state, const double v[])
{
    const double *u = tal_state_u(state) + tal_group_start(chart->system, state, chart->u_group);
    double most = 0.0;
    for (int i = 0; i < chart->nu; ++i) {
        chart->du[i] = u[i] - chart->u0[i];
    }
    contract(chart->K_v, chart->nu, chart->nv, chart->du, chart->lost);
    for (int j = 0; j < chart->nv; ++j) {
        chart->lost[j] = v[j] - chart->lost[j];
        most = fmax(most, fabs(chart->lost[j]));
    }
    return most;
}

// Projection moves u the shortest way, as W_u measures, which is not across K_v when weights
// differ. What that has taken from v is put back, and the rest is projected again: less by a factor
// of h each time.
static tal_status settle_u(tali_chart *chart, tal_state *state, const double v[])
{
    const int start = tal_group_start(chart->system, state, chart->u_group);
    const double size =
        fmax(tali_array_largest(chart->u0, chart->nu), tali_array_largest(v, chart->nv));
    tal_status st = project_closely(chart->system, state, true);
    for (int k = 0; k < 10 && st == TAL_OK; ++k) {
        if (missing(chart, state, v) <= 4.0 * DBL_EPSILON * size) break;
        expand(chart->K_v, chart->nu, chart->nv, chart->lost, chart->du);
        double *u = tal_state_upd_u(state) + start;
        for (int i = 0; i < chart->nu; ++i) {
            u[i] += chart->du[i];
        }
        st = tal_system_realize(chart->system, state, TAL_STAGE_VELOCITY);
        if (st == TAL_OK) st = project_closely(chart->system, state, true);
    }
    return st;
}

// What is fast follows to this share of a unit of motion, and one more step of Newton's method.
static const double BALANCE = 1e-10;

static tal_status settle_fast(tali_chart *chart, tal_state *state, const double v[])
{
    const tal_system *system = chart->system;
    tal_status st = tal_system_realize(system, state, TAL_STAGE_TIME);
    if (st == TAL_OK) st = tal_system_prescribe_q(system, state, NULL);
    if (st == TAL_OK) st = tal_matter_normalize_quaternions(chart->matter, state);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = project_closely(system, state, false);
    if (st == TAL_OK) st = tal_system_prescribe_u(system, state, NULL);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) st = settle_u(chart, state, v);
    if (st == TAL_OK) st = tal_system_relax(system, state, BALANCE, NULL);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_VELOCITY);
    return tali_chart_pass_on(chart, state, st);
}

tal_status tali_chart_put(tali_chart *chart, tal_state *state, const double x[])
{
    const tal_system *system = chart->system;
    const int nq_all = tal_state_nq(state), nu_all = tal_state_nu(state);
    const int q_start = tal_group_start(system, state, chart->q_group);
    const int u_start = tal_group_start(system, state, chart->u_group);
    const int nq = tal_group_size(system, state, chart->q_group);
    double *y = tal_state_upd_y(state);
    memcpy(y, chart->y0, (size_t)tal_state_ny(state) * sizeof *y);
    tal_status st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    expand(chart->K_p, chart->nu, chart->ns, x, chart->du);
    if (st == TAL_OK) st = tal_matter_mul_N(chart->matter, state, TAL_N, chart->du, chart->dq);
    if (st != TAL_OK) return tali_chart_pass_on(chart, state, st);
    expand(chart->K_v, chart->nu, chart->nv, x + chart->ns, chart->du);
    y = tal_state_upd_y(state);
    for (int i = 0; i < nq; ++i) {
        y[q_start + i] += chart->dq[i];
    }
    for (int i = 0; i < chart->nu; ++i) {
        y[nq_all + u_start + i] += chart->du[i];
    }
    for (int i = 0; i < chart->nz; ++i) {
        y[nq_all + nu_all + i] += x[chart->ns + chart->nv + i];
    }
    return settle_fast(chart, state, x + chart->ns);
}

double tali_chart_unit(const tali_chart *chart, const tal_state *state, const double K[])
{
    const double *W = tal_state_weights(state, TAL_POOL_U) +
                      tal_group_start(chart->system, state, chart->u_group);
    double square = 0.0;
    for (int j = 0; j < chart->nu; ++j) {
        square += W[j] * K[j] * W[j] * K[j];
    }
    return 1.0 / sqrt(square);
}

// The coordinates of bodies that move along a column of K_p.
static double size_of_coordinates(const tali_chart *chart, const tal_state *state, const double K[])
{
    const int q_start = tal_group_start(chart->system, state, chart->q_group);
    double most = 0.0;
    for (int b = 1; b < tal_matter_num_bodies(chart->matter); ++b) {
        const tal_body_ix body = {b};
        const int u = tal_body_u_start(chart->matter, body);
        if (tali_array_largest(K + u, tal_body_nu(chart->matter, body)) == 0.0) continue;
        const int q = tal_body_q_start(chart->matter, state, body) - q_start;
        most =
            fmax(most, tali_array_largest(chart->q0 + q, tal_body_nq(chart->matter, state, body)));
    }
    return most;
}

double tali_chart_size(const tali_chart *chart, const tal_state *state, int i)
{
    const size_t nu = (size_t)chart->nu;
    if (i < chart->ns) return size_of_coordinates(chart, state, chart->K_p + (size_t)i * nu);
    if (i >= chart->ns + chart->nv) {
        const int z = tal_state_nq(state) + tal_state_nu(state) + (i - chart->ns - chart->nv);
        return fabs(chart->y0[z]);
    }
    const double *K = chart->K_v + (size_t)(i - chart->ns) * nu;
    double most = 0.0;
    for (int j = 0; j < chart->nu; ++j) {
        if (K[j] != 0.0) most = fmax(most, fabs(chart->u0[j]));
    }
    return most;
}

// N^+(q0) qdot: the derivative of s is a fixed linear map of qdot.
static tal_status motion_rates(tali_chart *chart, tal_state *state, double out[])
{
    const tal_system *system = chart->system;
    const int q_start = tal_group_start(system, state, chart->q_group);
    const int nq = tal_group_size(system, state, chart->q_group);
    const double *udot = tal_state_udot(state) + tal_group_start(system, state, chart->u_group);
    memcpy(chart->dq, tal_state_qdot(state) + q_start, (size_t)nq * sizeof(double));
    contract(chart->K_v, chart->nu, chart->nv, udot, out + chart->ns);
    memcpy(out + chart->ns + chart->nv, tal_state_zdot(state), (size_t)chart->nz * sizeof(double));
    // q0 into the State for N^+(q0): the rates are read
    memcpy(tal_state_upd_q(state) + q_start, chart->q0, (size_t)nq * sizeof(double));
    const tal_status st = tal_matter_mul_N(chart->matter, state, TAL_NPLUS, chart->dq, chart->du);
    contract(chart->K_p, chart->nu, chart->ns, chart->du, out);
    return st;
}

tal_status tali_chart_rates(tali_chart *chart, tal_state *state, double xdot[])
{
    tal_status st = tal_system_realize(chart->system, state, TAL_STAGE_ACCELERATION);
    if (st == TAL_OK) st = motion_rates(chart, state, xdot);
    return tali_chart_pass_on(chart, state, st);
}
