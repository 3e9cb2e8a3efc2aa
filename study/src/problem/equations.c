// A System as plain equations for an integrator from elsewhere (manual sec. 10.2): what our own
// methods do to a State, offered one call at a time.
#include "finite_internal.h"

#include "problem/problem_internal.h"
#include "problem/study_internal.h"

#include <talus/study/equations.h>

#include <math.h>
#include <string.h>

struct tal_equations {
    tali_problem problem;
    double *ydot;            // [ny]
    tal_group_ix qerr, uerr; // matter's constraints; `i` < 0: none
    double *T;               // room for the weights of all constraint errors
    uint64_t realizations;
    void *block; // the arrays
    size_t block_bytes;
};

static bool is_ours(const tal_equations *eq, const tal_state *state, const char *where)
{
    if (tal_state_structure_hash(state) == tal_system_structure_hash(eq->problem.system)) {
        return true;
    }
    (void)tali_breach(TAL_ERR_WRONG_SYSTEM, where, "the State belongs to another System");
    return false;
}

static bool is_there(const tal_equations *eq, const tal_state *state, const void *values,
                     const char *where)
{
    if (eq != NULL && state != NULL && values != NULL) return is_ours(eq, state, where);
    (void)tali_breach(TAL_ERR_NULL, where, "the %s",
                      eq == NULL      ? "equations are NULL"
                      : state == NULL ? "State is NULL"
                                      : "values are NULL");
    return false;
}

// Whether the State is where one of the calls left it; else a breach in the name of `where`.
static bool has_weights(const tal_state *state, const char *where)
{
    if (tal_state_stage(state) >= TAL_STAGE_POSITION) return true;
    (void)tali_breach(TAL_ERR_STAGE, where, "the State has reached only %s; weights need %s",
                      tal_stage_name(tal_state_stage(state)), tal_stage_name(TAL_STAGE_POSITION));
    return false;
}

static void clear(tal_equations *eq)
{
    eq->problem.error_record = (tal_error){TAL_OK, "", ""};
}

// --- creation ---

static tal_status take_room(tal_equations *eq, tal_error *err)
{
    const tal_system *system = eq->problem.system;
    const int ny = tal_system_pool_capacity(system, TAL_POOL_Q) +
                   tal_system_pool_capacity(system, TAL_POOL_U) +
                   tal_system_pool_capacity(system, TAL_POOL_Z);
    const int nc = tal_system_pool_capacity(system, TAL_POOL_QERR) +
                   tal_system_pool_capacity(system, TAL_POOL_UERR);
    const size_t of_y = (size_t)ny * sizeof(double);
    const tali_piece pieces[] = {{&eq->problem.y0, of_y},
                                 {&eq->problem.error, of_y},
                                 {&eq->problem.weighed, of_y},
                                 {&eq->ydot, of_y},
                                 {&eq->T, (size_t)nc * sizeof(double)}};
    eq->block = tali_alloc_pieces(&eq->problem.allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &eq->block_bytes);
    return eq->block != NULL ? TAL_OK
                             : TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for equations");
}

static void find_constraints(tal_equations *eq)
{
    const tal_system *system = eq->problem.system;
    eq->qerr = eq->uerr = (tal_group_ix){-1};
    if (eq->problem.matter == NULL) return;
    const tal_subsystem_ix owner = tal_matter_subsystem(eq->problem.matter);
    eq->qerr = tal_system_find_group(system, owner, TAL_POOL_QERR, "constraints");
    eq->uerr = tal_system_find_group(system, owner, TAL_POOL_UERR, "constraints");
}

// Which of a def's fields count here.
static tal_integrator_def def_of(const tal_integrator_def *given)
{
    tal_integrator_def used = tal_integrator_def_default();
    if (given == NULL) return used;
    used.accuracy = given->accuracy;
    used.constraint_tolerance = given->constraint_tolerance;
    used.infinity_norm = given->infinity_norm;
    used.absolute_u = given->absolute_u;
    used.absolute_z = given->absolute_z;
    used.absolute_u_each = given->absolute_u_each;
    used.absolute_z_each = given->absolute_z_each;
    return used;
}

tal_status tal_equations_create(const tal_system *system, const tal_integrator_def *def,
                                tal_equations **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    tal_status st = tali_problem_check_system(system, err);
    const tal_integrator_def used = def_of(def);
    if (st == TAL_OK) st = tali_problem_check_def(&used, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_equations *eq = tali_alloc(&allocator, sizeof *eq);
    if (eq == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for equations");
    eq->problem = tali_problem_of(system, &used);
    eq->problem.realizations = &eq->realizations;
    st = take_room(eq, err);
    if (st != TAL_OK) {
        tali_free(&allocator, eq, sizeof *eq);
        return st;
    }
    find_constraints(eq);
    *out = eq;
    return TAL_OK;
}

void tal_equations_destroy(tal_equations *eq)
{
    if (eq == NULL) return;
    const tal_allocator allocator = eq->problem.allocator;
    tali_free(&allocator, eq->block, eq->block_bytes);
    tali_free(&allocator, eq, sizeof *eq);
}

const tal_error *tal_equations_error(const tal_equations *eq)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_equations_error", "the equations are NULL"};
    return eq != NULL ? &eq->problem.error_record : &none;
}

// --- the equations ---

tal_status tal_equations_begin(tal_equations *eq, tal_state *state)
{
    if (!is_there(eq, state, state, __func__)) return tal_contract_last()->status;
    clear(eq);
    tal_status st = tali_problem_project(&eq->problem, state, NULL);
    if (st == TAL_OK) st = tali_problem_settle_relaxed(&eq->problem, state);
    return st == TAL_OK ? tali_problem_evaluate(&eq->problem, state, eq->ydot) : st;
}

int tal_equations_nc(const tal_equations *eq, const tal_state *state)
{
    if (!is_there(eq, state, state, __func__)) return -1;
    const int nqerr = tal_state_pool_size(state, TAL_POOL_QERR);
    return nqerr < 0 ? -1 : nqerr + tal_state_pool_size(state, TAL_POOL_UERR);
}

// Prescribed and relaxed, as a stage of a method is.
static tal_status put_stage(tal_equations *eq, tal_state *state, double t, const double y[])
{
    clear(eq);
    const tal_status st = tali_problem_put(&eq->problem, state, t, y);
    return st == TAL_OK ? tali_problem_settle_stage(&eq->problem, state, false) : st;
}

tal_status tal_equations_begin_step(tal_equations *eq, tal_state *state, double t, const double y[])
{
    if (!is_there(eq, state, y, __func__)) return tal_contract_last()->status;
    tali_problem *problem = &eq->problem;
    tal_status st = put_stage(eq, state, t, y);
    if (st == TAL_OK) st = tali_problem_evaluate(problem, state, eq->ydot);
    if (st != TAL_OK) return st;
    st = tal_system_begin_step(problem->system, state);
    return tali_problem_pass_on(problem, state, st);
}

tal_status tal_equations_rates(tal_equations *eq, tal_state *state, double t, const double y[],
                               double ydot[])
{
    if (!is_there(eq, state, y, __func__) || !is_there(eq, state, ydot, __func__)) {
        return tal_contract_last()->status;
    }
    const tal_status st = put_stage(eq, state, t, y);
    return st == TAL_OK ? tali_problem_evaluate(&eq->problem, state, ydot) : st;
}

tal_status tal_equations_errors(tal_equations *eq, tal_state *state, double t, const double y[],
                                double c[])
{
    if (!is_there(eq, state, y, __func__) || !is_there(eq, state, c, __func__)) {
        return tal_contract_last()->status;
    }
    tali_problem *problem = &eq->problem;
    tal_status st = put_stage(eq, state, t, y);
    if (st != TAL_OK) return st;
    st = tal_system_realize(problem->system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return tali_problem_pass_on(problem, state, st);
    const int nqerr = tal_state_pool_size(state, TAL_POOL_QERR);
    const int nuerr = tal_state_pool_size(state, TAL_POOL_UERR);
    if (nqerr > 0) memcpy(c, tal_state_qerr(state), (size_t)nqerr * sizeof *c);
    if (nuerr > 0) memcpy(c + nqerr, tal_state_uerr(state), (size_t)nuerr * sizeof *c);
    if (tali_finite_all(c, nqerr + nuerr)) return TAL_OK;
    return TALI_FAIL(&problem->error_record, TAL_ERR_NOT_FINITE,
                     "a constraint error is not finite at t = %g", t);
}

tal_status tal_equations_project(tal_equations *eq, tal_state *state, double t, double y[],
                                 double error[])
{
    if (!is_there(eq, state, y, __func__)) return tal_contract_last()->status;
    tali_problem *problem = &eq->problem;
    clear(eq);
    tal_status st = tali_problem_put(problem, state, t, y);
    if (st == TAL_OK) st = tali_problem_project(problem, state, error);
    if (st == TAL_OK) st = tali_problem_settle_relaxed(problem, state);
    if (st != TAL_OK) return st;
    memcpy(y, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof *y);
    return TAL_OK;
}

// --- weights ---

double tal_equations_error_norm(tal_equations *eq, tal_state *state, const double y[],
                                const double e[])
{
    if (!is_there(eq, state, y, __func__) || !is_there(eq, state, e, __func__)) return TALI_NAN;
    if (!has_weights(state, __func__)) return TALI_NAN;
    tali_problem *problem = &eq->problem;
    const int ny = tal_state_ny(state);
    if (!tali_finite_all(y, ny) || !tali_finite_all(e, ny)) return TALI_NAN;
    memcpy(problem->y0, y, (size_t)ny * sizeof *y);
    memcpy(problem->error, e, (size_t)ny * sizeof *e);
    return tali_problem_error_norm(problem, state);
}

static void weigh_relative(const double e[], const double W[], const double y[], int n,
                           tali_problem_absolute absolute, double out[])
{
    for (int i = 0; i < n; ++i) {
        out[i] = tali_problem_weight(W[i], y[i], absolute, i) * e[i];
    }
}

tal_status tal_equations_weigh(tal_equations *eq, tal_state *state, const double y[],
                               const double e[], double out[])
{
    if (!is_there(eq, state, y, __func__) || !is_there(eq, state, e, __func__) ||
        !is_there(eq, state, out, __func__) || !has_weights(state, __func__)) {
        return tal_contract_last()->status;
    }
    tali_problem *problem = &eq->problem;
    const int nq = tal_state_nq(state), nu = tal_state_nu(state), ny = tal_state_ny(state);
    clear(eq);
    if (!tali_finite_all(y, ny) || !tali_finite_all(e, ny)) {
        return TALI_FAIL(&problem->error_record, TAL_ERR_NOT_FINITE, "an error is not finite");
    }
    memcpy(out, e, (size_t)nq * sizeof *e); // coordinates that are not matter's have weight 1
    const double *W_u = tal_state_weights(state, TAL_POOL_U);
    if (problem->matter != NULL) {
        const int q0 = tal_group_start(problem->system, state, problem->q_group);
        const int u0 = tal_group_start(problem->system, state, problem->u_group);
        const int n = tal_group_size(problem->system, state, problem->u_group);
        tal_status st =
            tal_matter_mul_N(problem->matter, state, TAL_NPLUS, e + q0, problem->weighed);
        for (int j = 0; j < n; ++j) {
            problem->weighed[j] *= W_u[u0 + j];
        }
        if (st == TAL_OK) {
            st = tal_matter_mul_N(problem->matter, state, TAL_N, problem->weighed, out + q0);
        }
        if (st != TAL_OK) return tali_problem_pass_on(problem, state, st);
    }
    weigh_relative(e + nq, W_u, y + nq, nu, problem->absolute_u, out + nq);
    weigh_relative(e + nq + nu, tal_state_weights(state, TAL_POOL_Z), y + nq + nu, ny - nq - nu,
                   problem->absolute_z, out + nq + nu);
    return TAL_OK;
}

// The weight of a row of uerr, which belongs to a position constraint if it is one of matter's
// first.
static double weight_of_uerr(const tal_equations *eq, const tal_state *state, int row)
{
    const tal_system *system = eq->problem.system;
    const double T_v = tal_state_weights(state, TAL_POOL_UERR)[row];
    if (eq->uerr.i < 0 || eq->qerr.i < 0) return T_v;
    const int mine = row - tal_group_start(system, state, eq->uerr);
    const int mp = tal_group_size(system, state, eq->qerr);
    if (mine < 0 || mine >= mp) return T_v;
    const int first = tal_group_start(system, state, eq->qerr);
    return tal_system_time_scale(system) * tal_state_weights(state, TAL_POOL_QERR)[first + mine];
}

tal_status tal_equations_constraint_weights(tal_equations *eq, const tal_state *state, double T[])
{
    if (!is_there(eq, state, T, __func__)) return tal_contract_last()->status;
    clear(eq);
    const int nqerr = tal_state_pool_size(state, TAL_POOL_QERR);
    const int nc = tal_equations_nc(eq, state);
    if (nc < 0) return TAL_ERR_STAGE;
    for (int i = 0; i < nc; ++i) {
        T[i] = i < nqerr ? tal_state_weights(state, TAL_POOL_QERR)[i]
                         : weight_of_uerr(eq, state, i - nqerr);
    }
    return TAL_OK;
}

tal_status tal_equations_acceleration_weights(tal_equations *eq, const tal_state *state,
                                              const double t_a[], double T[])
{
    if (!is_there(eq, state, T, __func__)) return tal_contract_last()->status;
    clear(eq);
    const tal_system *system = eq->problem.system;
    const int all = tal_state_pool_size(state, TAL_POOL_UDOTERR);
    if (all < 0) return TAL_ERR_STAGE;
    for (int i = 0; i < all; ++i) {
        T[i] = 1.0;
    }
    if (eq->problem.matter == NULL || eq->uerr.i < 0) return TAL_OK;
    const tal_constraint_rows rows = tal_matter_constraint_rows(eq->problem.matter, state);
    const tal_group_ix group = tal_system_find_group(
        system, tal_matter_subsystem(eq->problem.matter), TAL_POOL_UDOTERR, "constraints");
    const double t_c = tal_system_time_scale(system);
    double *own = T + tal_group_start(system, state, group);
    const int first = tal_group_start(system, state, eq->uerr);
    for (int i = 0; i < rows.mp + rows.mv; ++i) {
        own[i] = t_c * weight_of_uerr(eq, state, first + i);
    }
    for (int i = 0; i < rows.ma && t_a != NULL; ++i) {
        if (!(t_a[i] > 0.0) || !isfinite(t_a[i])) {
            return TALI_FAIL(
                &eq->problem.error_record, TAL_ERR_BAD_VALUE,
                "the unit error of acceleration equation %d is %g: it must be positive "
                "and finite",
                i, t_a[i]);
        }
        own[rows.mp + rows.mv + i] = 1.0 / t_a[i];
    }
    return TAL_OK;
}

static double norm_of(const double c[], const double T[], int n, bool infinity_norm)
{
    double sum = 0.0, largest = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += T[i] * T[i] * c[i] * c[i];
        largest = fmax(largest, T[i] * fabs(c[i]));
    }
    if (n == 0) return 0.0;
    return isnan(sum) ? TALI_NAN : infinity_norm ? largest : sqrt(sum / n);
}

double tal_equations_constraint_norm(tal_equations *eq, const tal_state *state, const double c[])
{
    if (!is_there(eq, state, c, __func__)) return TALI_NAN;
    const int nqerr = tal_state_pool_size(state, TAL_POOL_QERR);
    double *T = eq->T;
    if (tal_equations_constraint_weights(eq, state, T) != TAL_OK) return TALI_NAN;
    const int nuerr = tal_equations_nc(eq, state) - nqerr;
    const bool infinity_norm = eq->problem.infinity_norm;
    const double q = norm_of(c, T, nqerr, infinity_norm);
    const double u = norm_of(c + nqerr, T + nqerr, nuerr, infinity_norm);
    return isnan(q) || isnan(u) ? TALI_NAN : fmax(q, u);
}
