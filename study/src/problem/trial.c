// What every method does to the State: put values in, settle stages and ends of steps, evaluate
// rates (manual sec. 10.4).
#include "finite_internal.h"
#include "solve_internal.h"

#include "problem/problem_internal.h"
#include "problem/study_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Constraint errors near round-off, of which a tenth of the accuracy is enough.
static const double NEAR_ROUND_OFF = 1e-12;

tal_status tali_problem_check_positive(double value, bool zero_too, const char *subject,
                                       tal_error *err)
{
    if (isfinite(value) && (value > 0.0 || (zero_too && value == 0.0))) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%s is %g: it must be positive and finite%s", subject,
                     value, zero_too ? ", or zero for the default" : "");
}

tal_status tali_problem_check_def(const tal_integrator_def *def, tal_error *err)
{
    tal_status st = tali_problem_check_positive(def->accuracy, false, "accuracy", err);
    if (st == TAL_OK) {
        st = tali_problem_check_positive(def->constraint_tolerance, true, "constraint_tolerance",
                                         err);
    }
    if (st != TAL_OK || def->accuracy >= DBL_EPSILON) return st;
    // steps of 1e-16 s would meet it, and never end
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "accuracy is %g: in double precision it must be at least %g", def->accuracy,
                     DBL_EPSILON);
}

// Projection moves a State by what its constraints are off, and changes its energy in proportion,
// each time: with a tenth of the accuracy a run of rods lost four times the accuracy, whatever its
// steps were held to. Below NEAR_ROUND_OFF round-off matters, and a tenth is enough.
static double tolerance_for(const tal_integrator_def *def)
{
    return fmax(0.01 * def->accuracy, fmin(0.1 * def->accuracy, NEAR_ROUND_OFF));
}

tali_problem tali_problem_of(const tal_system *system, const tal_integrator_def *def)
{
    tali_problem it = {.system = system,
                       .matter = tal_system_matter(system),
                       .allocator = tal_system_allocator(system),
                       .infinity_norm = def->infinity_norm,
                       .absolute_u = {def->absolute_u, def->absolute_u_each},
                       .absolute_z = {def->absolute_z, def->absolute_z_each},
                       .baumgarte = def->baumgarte,
                       .baumgarte_beta =
                           def->baumgarte_beta > 0.0 ? def->baumgarte_beta : def->baumgarte};
    it.projection = tal_project_options_default();
    it.projection.tolerance =
        def->constraint_tolerance > 0.0 ? def->constraint_tolerance : tolerance_for(def);
    it.projection.infinity_norm = def->infinity_norm;
    if (it.matter == NULL) return it;
    const tal_subsystem_ix owner = tal_matter_subsystem(it.matter);
    it.only_matter_settles = tali_solve_only_this_settles(system, owner);
    it.q_group = tal_system_find_group(system, owner, TAL_POOL_Q, "q");
    it.u_group = tal_system_find_group(system, owner, TAL_POOL_U, "u");
    return it;
}

// --- putting values into the State ---

// out = y0 + h (c_0 k_0 + ... + c_(n-1) k_(n-1)), term by term. A literal n lets the compiler keep
// weights and sums in registers, in one pass over y. True when all are finite.
TAL_ALWAYS_INLINE bool add_terms(const int n, const double y0[], double h, const double c[],
                                 const double *const k[], int ny, double *restrict out)
{
    uint64_t bits = 0;
    for (int i = 0; i < ny; ++i) {
        double sum = y0[i];
        for (int j = 0; j < n; ++j) {
            sum += h * c[j] * k[j][i];
        }
        out[i] = sum;
        bits |= tali_finite_bits(sum);
    }
    return tali_finite_are_bits(bits);
}

bool tali_problem_combine(const double y0[], double h, const tali_problem_row *row, int ny,
                          double out[])
{
    _Static_assert(TAL_MAX_RK_STAGES == 16, "a case for every number of terms");
    switch (row->n) {
    case 0:
        return add_terms(0, y0, h, row->coefs, row->k, ny, out);
    case 1:
        return add_terms(1, y0, h, row->coefs, row->k, ny, out);
    case 2:
        return add_terms(2, y0, h, row->coefs, row->k, ny, out);
    case 3:
        return add_terms(3, y0, h, row->coefs, row->k, ny, out);
    case 4:
        return add_terms(4, y0, h, row->coefs, row->k, ny, out);
    case 5:
        return add_terms(5, y0, h, row->coefs, row->k, ny, out);
    case 6:
        return add_terms(6, y0, h, row->coefs, row->k, ny, out);
    case 7:
        return add_terms(7, y0, h, row->coefs, row->k, ny, out);
    case 8:
        return add_terms(8, y0, h, row->coefs, row->k, ny, out);
    case 9:
        return add_terms(9, y0, h, row->coefs, row->k, ny, out);
    case 10:
        return add_terms(10, y0, h, row->coefs, row->k, ny, out);
    case 11:
        return add_terms(11, y0, h, row->coefs, row->k, ny, out);
    case 12:
        return add_terms(12, y0, h, row->coefs, row->k, ny, out);
    case 13:
        return add_terms(13, y0, h, row->coefs, row->k, ny, out);
    case 14:
        return add_terms(14, y0, h, row->coefs, row->k, ny, out);
    case 15:
        return add_terms(15, y0, h, row->coefs, row->k, ny, out);
    default:
        return add_terms(16, y0, h, row->coefs, row->k, ny, out);
    }
}

// Names the first variable in `values`, ordered as y, that is not finite.
static tal_status name_not_finite(tali_problem *problem, const tal_state *state,
                                  const double values[], const char *subject)
{
    const int nq = tal_state_nq(state), nu = tal_state_nu(state), ny = tal_state_ny(state);
    int i = 0;
    while (i < ny - 1 && isfinite(values[i])) {
        ++i;
    }
    char name[160];
    if (i < nq) {
        int local = 0;
        const tal_group_ix group =
            tal_state_slot_owner(problem->system, state, TAL_POOL_Q, i, &local);
        const tal_subsystem_ix owner = tal_group_owner(problem->system, group);
        (void)snprintf(name, sizeof name, "coordinate %d of '%s'", local,
                       tal_subsystem_name(problem->system, owner));
    } else {
        const bool is_u = i < nq + nu;
        tali_problem_name_variable(problem, state, is_u ? TAL_POOL_U : TAL_POOL_Z,
                                   is_u ? i - nq : i - nq - nu, name, sizeof name);
    }
    return TALI_FAIL(&problem->error_record, TAL_ERR_NOT_FINITE, "%s %s is %g at t = %g", subject,
                     name, values[i], tal_state_t(state));
}

tal_status tali_problem_pass_on(tali_problem *problem, const tal_state *state, tal_status st)
{
    if (st == TAL_OK) return TAL_OK;
    return TALI_FAIL(&problem->error_record, st, "%s", tali_problem_reason(state, st));
}

tal_status tali_problem_put(tali_problem *problem, tal_state *state, double t, const double y[])
{
    const int ny = tal_state_ny(state);
    if (!tali_finite_all(y, ny)) return name_not_finite(problem, state, y, "the step to");
    double *slots = tali_state_upd_ty(state, t);
    if (slots == NULL) return tali_problem_pass_on(problem, state, tal_state_error(state)->status);
    memcpy(slots, y, (size_t)ny * sizeof *y);
    return TAL_OK;
}

tal_status tali_problem_put_sum(tali_problem *problem, tal_state *state, double t, double h,
                                const tali_problem_row *row)
{
    double *y = tali_state_upd_ty(state, t);
    if (y == NULL) return tali_problem_pass_on(problem, state, tal_state_error(state)->status);
    if (tali_problem_combine(problem->y0, h, row, tal_state_ny(state), y)) return TAL_OK;
    return name_not_finite(problem, state, y, "the step to");
}

tal_status tali_problem_put_uz(tali_problem *problem, tal_state *state, const double y[])
{
    const int nq = tal_state_nq(state), nu = tal_state_nu(state), nz = tal_state_nz(state);
    const tal_system *system = problem->system;
    if (!tali_finite_all(y + nq, nu + nz)) return name_not_finite(problem, state, y, "the step to");
    memcpy(tal_state_upd_u(state), y + nq, (size_t)nu * sizeof *y);
    memcpy(tal_state_upd_z(state), y + nq + nu, (size_t)nz * sizeof *y);
    return tali_problem_pass_on(problem, state, tal_system_prescribe_u(system, state, NULL));
}

// --- manual sec. 10.4: stages, ends of steps ---

static tal_status realize(tali_problem *problem, tal_state *state, tal_stage stage)
{
    return tali_problem_pass_on(problem, state, tal_system_realize(problem->system, state, stage));
}

static tal_status prescribe_q(const tali_problem *problem, tal_state *state)
{
    return problem->is_free ? TAL_OK : tal_system_prescribe_q(problem->system, state, NULL);
}

static tal_status prescribe_u(const tali_problem *problem, tal_state *state)
{
    return problem->is_free ? TAL_OK : tal_system_prescribe_u(problem->system, state, NULL);
}

static tal_status normalize(const tali_problem *problem, tal_state *state)
{
    const bool may_have_any = problem->matter != NULL && !problem->is_open;
    return may_have_any ? tal_matter_normalize_quaternions(problem->matter, state) : TAL_OK;
}

// A stage, prescribed; quaternions of the last are normalized.
static tal_status prescribe_stage(tali_problem *problem, tal_state *state, bool is_last)
{
    const tal_system *system = problem->system;
    tal_status st = tal_system_realize(system, state, TAL_STAGE_TIME);
    if (st == TAL_OK) st = prescribe_q(problem, state);
    if (st == TAL_OK && is_last) st = normalize(problem, state);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    return st;
}

// Stages of steps that begin with rows that repeat others. Off the constraints such rows seem to
// say something, so rates are taken on them: those of the projected stage. A solution is not
// changed by its projection, and a method keeps its order. One iteration for the speeds is always
// taken, for rates to be smooth. What has nothing to do with such rows stays where it is.
static tal_status settle_on_constraints(tali_problem *problem, tal_state *state, bool is_last)
{
    const tal_system *system = problem->system;
    tal_project_options options = problem->projection;
    options.only_redundant = options.redundant != NULL;
    tal_status st = prescribe_stage(problem, state, is_last);
    if (st == TAL_OK) st = tal_system_project_q(system, state, &options, NULL, NULL);
    options.even_if_met = true;
    if (st == TAL_OK) st = prescribe_u(problem, state);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) st = tal_system_project_u(system, state, &options, NULL, NULL);
    if (st != TAL_OK) return tali_problem_pass_on(problem, state, st);
    return tali_problem_settle_relaxed(problem, state);
}

tal_status tali_problem_settle_stage(tali_problem *problem, tal_state *state, bool is_last)
{
    if (problem->projects_stages) return settle_on_constraints(problem, state, is_last);
    return tali_problem_settle_start(problem, state, is_last);
}

tal_status tali_problem_settle_start(tali_problem *problem, tal_state *state, bool is_last)
{
    const tal_system *system = problem->system;
    if (problem->is_free) {
        return is_last ? tali_problem_pass_on(problem, state, normalize(problem, state)) : TAL_OK;
    }
    tal_status st = prescribe_stage(problem, state, is_last);
    if (st == TAL_OK) st = prescribe_u(problem, state);
    if (st == TAL_OK) st = tal_system_relax(system, state, problem->projection.tolerance, NULL);
    return tali_problem_pass_on(problem, state, st);
}

// Stabilized constraints are projected at the start only.
static bool is_projected(const tali_problem *problem)
{
    return !problem->is_open && (problem->baumgarte == 0.0 || problem->is_starting);
}

static tal_status project_q(tali_problem *problem, tal_state *state,
                            const tal_project_options *options, double q_error[])
{
    tal_status st = prescribe_stage(problem, state, true);
    if (st == TAL_OK && is_projected(problem)) {
        st = tal_system_project_q(problem->system, state, options, q_error, NULL);
    }
    return tali_problem_pass_on(problem, state, st);
}

static tal_status project_u(tali_problem *problem, tal_state *state,
                            const tal_project_options *options, double u_error[])
{
    const tal_system *system = problem->system;
    tal_status st = prescribe_u(problem, state);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_VELOCITY);
    if (st == TAL_OK && is_projected(problem)) {
        st = tal_system_project_u(system, state, options, u_error, NULL);
    }
    return tali_problem_pass_on(problem, state, st);
}

tal_status tali_problem_project_q(tali_problem *problem, tal_state *state, double q_error[])
{
    return project_q(problem, state, &problem->projection, q_error);
}

tal_status tali_problem_project_u(tali_problem *problem, tal_state *state, double u_error[])
{
    return project_u(problem, state, &problem->projection, u_error);
}

tal_status tali_problem_project_by(tali_problem *problem, tal_state *state,
                                   const tal_project_options *options, double error[])
{
    if (problem->is_open) return realize(problem, state, TAL_STAGE_VELOCITY);
    const tal_status st = project_q(problem, state, options, error);
    if (st != TAL_OK) return st;
    return project_u(problem, state, options, error != NULL ? error + tal_state_nq(state) : NULL);
}

tal_status tali_problem_project(tali_problem *problem, tal_state *state, double error[])
{
    return tali_problem_project_by(problem, state, &problem->projection, error);
}

tal_status tali_problem_settle_relaxed(tali_problem *problem, tal_state *state)
{
    if (problem->is_free) return TAL_OK;
    return tali_problem_pass_on(
        problem, state,
        tal_system_relax(problem->system, state, problem->projection.tolerance, NULL));
}

tal_status tali_problem_evaluate(tali_problem *problem, tal_state *state, double ydot[])
{
    const bool is_done = tal_state_stage(state) >= TAL_STAGE_ACCELERATION;
    *problem->realizations += is_done ? 0 : 1;
    const tal_status st = realize(problem, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return st;
    memcpy(ydot, tal_state_ydot(state), (size_t)tal_state_ny(state) * sizeof *ydot);
    return problem->baumgarte == 0.0 ? TAL_OK : tali_problem_stabilize(problem, state, ydot);
}
