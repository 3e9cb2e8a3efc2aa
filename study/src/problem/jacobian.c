// d ydot / dy, for methods that solve implicit equations: exactly where that can be done, otherwise
// by differences.
#include "problem/problem_internal.h"

#include <float.h>
#include <string.h>

// Half the digits of the variable, or of a unit change. The change is one that adds up exactly.
double tali_problem_increment(const tali_problem_scale *scale, double y, int i)
{
    const double unit = 1.0 / (scale->e[i] * scale->accuracy);
    const double wanted = sqrt(DBL_EPSILON) * fmax(fabs(y), unit);
    const volatile double moved = y + wanted;
    return moved - y;
}

static bool stands_at(const tal_state *state, double t, const double y[])
{
    const size_t bytes = (size_t)tal_state_ny(state) * sizeof *y;
    return tal_state_stage(state) >= TAL_STAGE_ACCELERATION && tal_state_t(state) == t &&
           memcmp(tal_state_y(state), y, bytes) == 0;
}

tal_status tali_problem_rates(tali_problem *problem, tal_state *state, double t, const double y[],
                              double ydot[])
{
    if (stands_at(state, t, y)) return tali_problem_evaluate(problem, state, ydot);
    tal_status st = tali_problem_put(problem, state, t, y);
    if (st == TAL_OK) st = tali_problem_settle_stage(problem, state, false);
    return st == TAL_OK ? tali_problem_evaluate(problem, state, ydot) : st;
}

// --- columns ---

/// What a column is computed with.
typedef struct differences {
    tali_problem *problem;
    tal_state *state;
    const tali_problem_scale *scale;
    double t;
    const double *ydot;     // at t and y
    double *y, *moved;      // [ny]
    double *const *columns; // [ny]
} differences;

static int num_variables(const tali_problem_scale *scale)
{
    return scale->nq + scale->nu + scale->nz;
}

// Rates at y with variable `j` changed, all of them or with the q of the State.
static tal_status rates_beside(const differences *it, int j, double step, bool keep_q)
{
    tali_problem *problem = it->problem;
    const double kept = it->y[j];
    it->y[j] = kept + step;
    tal_status st;
    if (keep_q) {
        st = tali_problem_put_uz(problem, it->state, it->y);
        if (st == TAL_OK) st = tali_problem_settle_relaxed(problem, it->state);
        if (st == TAL_OK) st = tali_problem_evaluate(problem, it->state, it->moved);
    } else {
        st = tali_problem_rates(problem, it->state, it->t, it->y, it->moved);
    }
    it->y[j] = kept;
    return st;
}

static tal_status calc_column(const differences *it, int j, bool keep_q)
{
    const int u = j - it->scale->nq, ny = num_variables(it->scale);
    if (u >= 0 && u < it->scale->nu && it->scale->known_u[u]) return TAL_OK;
    const double step = tali_problem_increment(it->scale, it->y[j], j);
    const tal_status st = rates_beside(it, j, step, keep_q);
    for (int i = 0; i < ny && st == TAL_OK; ++i) {
        it->columns[j][i] = (it->moved[i] - it->ydot[i]) / step;
    }
    return st;
}

// d qdot / du = N, exactly. Speeds that are known have no column.
tal_status tali_problem_write_N(const tali_problem *problem, tal_state *state,
                                const tali_problem_scale *scale, double *const columns[])
{
    const tal_matter *matter = problem->matter;
    if (matter == NULL) return TAL_OK;
    const int u0 = tal_group_start(problem->system, state, problem->u_group);
    tal_status st = TAL_OK;
    for (int b = 1; b < tal_matter_num_bodies(matter) && st == TAL_OK; ++b) {
        const tal_body_ix body = {b};
        const int first = u0 + tal_body_u_start(matter, body);
        for (int k = 0; k < tal_body_nu(matter, body) && st == TAL_OK; ++k) {
            double unit[TAL_MAX_NU] = {0.0};
            unit[k] = 1.0;
            if (scale->known_u[first + k]) continue;
            double *column = columns[scale->nq + first + k];
            st = tal_body_mul_N(matter, state, body, TAL_N, unit,
                                column + tal_body_q_start(matter, state, body));
        }
    }
    return st;
}

// Columns in the order of what they leave standing in the State: those of z keep velocities, those
// of u keep positions, and with them everything that depends on q alone.
static tal_status plain_columns(const differences *it)
{
    const int nq = it->scale->nq;
    tal_status st = tali_problem_put(it->problem, it->state, it->t, it->y);
    if (st == TAL_OK) st = tali_problem_settle_stage(it->problem, it->state, false);
    for (int j = num_variables(it->scale) - 1; j >= nq && st == TAL_OK; --j) {
        st = calc_column(it, j, true);
    }
    if (st == TAL_OK) {
        st = tali_problem_write_N(it->problem, it->state, it->scale, it->columns);
        st = tali_problem_pass_on(it->problem, it->state, st);
    }
    for (int j = 0; j < nq && st == TAL_OK; ++j) {
        st = calc_column(it, j, false);
    }
    return st;
}

// Every column through the projection of stages, which lets each variable move all others.
static tal_status projected_columns(const differences *it)
{
    tal_status st = TAL_OK;
    for (int j = 0; j < num_variables(it->scale) && st == TAL_OK; ++j) {
        st = calc_column(it, j, false);
    }
    return st;
}

tal_status tali_problem_jacobian(tali_problem *problem, tal_state *state,
                                 const tali_problem_scale *scale, double t, const double ydot[],
                                 double y[], double *const columns[], double moved[])
{
    if (tali_problem_exact_jacobian(problem, state, scale, t, y, moved, columns)) return TAL_OK;
    const differences it = {problem, state, scale, t, ydot, y, moved, columns};
    return problem->projects_stages ? projected_columns(&it) : plain_columns(&it);
}

tal_status tali_problem_jacobian_times(tali_problem *problem, tal_state *state,
                                       const tali_problem_scale *scale, double t, const double y[],
                                       const double ydot[], const double v[], double Jv[])
{
    const int ny = num_variables(scale);
    double *moved = Jv;                // rates are written after all else is read
    double size_v = 0.0, size_y = 1.0; // in unit changes
    for (int i = 0; i < ny; ++i) {
        size_v = fmax(size_v, scale->accuracy * scale->e[i] * fabs(v[i]));
        size_y = fmax(size_y, scale->accuracy * scale->e[i] * fabs(y[i]));
    }
    const double step = size_v > 0.0 ? sqrt(DBL_EPSILON) * size_y / size_v : 1.0;
    for (int i = 0; i < ny; ++i) {
        moved[i] = y[i] + step * v[i];
    }
    const tal_status st = tali_problem_rates(problem, state, t, moved, Jv);
    for (int i = 0; i < ny && st == TAL_OK; ++i) {
        Jv[i] = (Jv[i] - ydot[i]) / step;
    }
    return st;
}
