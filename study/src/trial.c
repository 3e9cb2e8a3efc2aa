// What every method does to the State: put values in, settle stages and ends of steps, evaluate
// rates (manual sec. 10.4).
#include "finite_internal.h"
#include "integrator_internal.h"
#include "solve_internal.h"
#include "study_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    return tali_are_bits_finite(bits);
}

bool tali_combine(const double y0[], double h, const tali_row *row, int ny, double out[])
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
static tal_status name_not_finite(tal_integrator *integ, const tal_state *state,
                                  const double values[], const char *what)
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
            tal_state_slot_owner(integ->system, state, TAL_POOL_Q, i, &local);
        const tal_subsystem_ix owner = tal_group_owner(integ->system, group);
        (void)snprintf(name, sizeof name, "coordinate %d of '%s'", local,
                       tal_subsystem_name(integ->system, owner));
    } else {
        const bool is_u = i < nq + nu;
        tali_name_variable(integ, state, is_u ? TAL_POOL_U : TAL_POOL_Z,
                           is_u ? i - nq : i - nq - nu, name, sizeof name);
    }
    return TALI_FAIL(&integ->error_record, TAL_ERR_NOT_FINITE, "%s %s is %g at t = %g", what, name,
                     values[i], tal_state_t(state));
}

tal_status tali_pass_on(tal_integrator *integ, const tal_state *state, tal_status st)
{
    if (st == TAL_OK) return TAL_OK;
    return TALI_FAIL(&integ->error_record, st, "%s", tali_reason(state, st));
}

tal_status tali_put(tal_integrator *integ, tal_state *state, double t, const double y[])
{
    const int ny = tal_state_ny(state);
    if (!tali_all_finite(y, ny)) return name_not_finite(integ, state, y, "the step to");
    double *slots = tali_state_upd_ty(state, t);
    if (slots == NULL) return tali_pass_on(integ, state, tal_state_error(state)->status);
    memcpy(slots, y, (size_t)ny * sizeof *y);
    return TAL_OK;
}

tal_status tali_put_sum(tal_integrator *integ, tal_state *state, double t, double h,
                        const tali_row *row)
{
    double *y = tali_state_upd_ty(state, t);
    if (y == NULL) return tali_pass_on(integ, state, tal_state_error(state)->status);
    if (tali_combine(integ->y0, h, row, tal_state_ny(state), y)) return TAL_OK;
    return name_not_finite(integ, state, y, "the step to");
}

tal_status tali_put_uz(tal_integrator *integ, tal_state *state, const double y[])
{
    const int nq = tal_state_nq(state), nu = tal_state_nu(state), nz = tal_state_nz(state);
    const tal_system *system = integ->system;
    if (!tali_all_finite(y + nq, nu + nz)) return name_not_finite(integ, state, y, "the step to");
    memcpy(tal_state_upd_u(state), y + nq, (size_t)nu * sizeof *y);
    memcpy(tal_state_upd_z(state), y + nq + nu, (size_t)nz * sizeof *y);
    return tali_pass_on(integ, state, tal_system_prescribe_u(system, state, NULL));
}

// --- manual sec. 10.4: stages, ends of steps ---

static tal_status realize(tal_integrator *integ, tal_state *state, tal_stage stage)
{
    return tali_pass_on(integ, state, tal_system_realize(integ->system, state, stage));
}

static tal_status prescribe_q(const tal_integrator *integ, tal_state *state)
{
    return integ->is_free ? TAL_OK : tal_system_prescribe_q(integ->system, state, NULL);
}

static tal_status prescribe_u(const tal_integrator *integ, tal_state *state)
{
    return integ->is_free ? TAL_OK : tal_system_prescribe_u(integ->system, state, NULL);
}

static tal_status normalize(const tal_integrator *integ, tal_state *state)
{
    const bool may_have_any = integ->matter != NULL && !integ->is_open;
    return may_have_any ? tal_matter_normalize_quaternions(integ->matter, state) : TAL_OK;
}

tal_status tali_settle_stage(tal_integrator *integ, tal_state *state, bool is_last)
{
    const tal_system *system = integ->system;
    if (integ->is_free) {
        return is_last ? tali_pass_on(integ, state, normalize(integ, state)) : TAL_OK;
    }
    tal_status st = tal_system_realize(system, state, TAL_STAGE_TIME);
    if (st == TAL_OK) st = prescribe_q(integ, state);
    if (st == TAL_OK && is_last) st = normalize(integ, state);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = prescribe_u(integ, state);
    if (st == TAL_OK) st = tal_system_relax(system, state, integ->projection.tolerance, NULL);
    return tali_pass_on(integ, state, st);
}

// Stabilized constraints are projected at the start only.
static bool is_projected(const tal_integrator *integ)
{
    return !integ->is_open && (integ->def.baumgarte == 0.0 || integ->is_starting);
}

tal_status tali_project_q(tal_integrator *integ, tal_state *state, double q_error[])
{
    const tal_system *system = integ->system;
    tal_status st = tal_system_realize(system, state, TAL_STAGE_TIME);
    if (st == TAL_OK) st = prescribe_q(integ, state);
    if (st == TAL_OK) st = normalize(integ, state);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    if (st == TAL_OK && is_projected(integ)) {
        st = tal_system_project_q(system, state, &integ->projection, q_error, NULL);
    }
    return tali_pass_on(integ, state, st);
}

tal_status tali_project(tal_integrator *integ, tal_state *state, double error[])
{
    const tal_system *system = integ->system;
    if (integ->is_open) return realize(integ, state, TAL_STAGE_VELOCITY);
    double *u_error = error != NULL ? error + tal_state_nq(state) : NULL;
    tal_status st = tali_project_q(integ, state, error);
    if (st != TAL_OK) return st;
    st = prescribe_u(integ, state);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_VELOCITY);
    if (st == TAL_OK && is_projected(integ)) {
        st = tal_system_project_u(system, state, &integ->projection, u_error, NULL);
    }
    return tali_pass_on(integ, state, st);
}

tal_status tali_settle_relaxed(tal_integrator *integ, tal_state *state)
{
    if (integ->is_free) return TAL_OK;
    return tali_pass_on(integ, state,
                        tal_system_relax(integ->system, state, integ->projection.tolerance, NULL));
}

tal_status tali_evaluate(tal_integrator *integ, tal_state *state, double ydot[])
{
    const bool is_done = tal_state_stage(state) >= TAL_STAGE_ACCELERATION;
    integ->stats.realizations += is_done ? 0 : 1;
    const tal_status st = realize(integ, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return st;
    const double *found = tal_state_ydot(state);
    if (!tali_copy_finite(ydot, found, tal_state_ny(state))) {
        return name_not_finite(integ, state, found, "the rate of");
    }
    return integ->def.baumgarte == 0.0 ? TAL_OK : tali_stabilize(integ, state, ydot);
}

tal_status tali_end_step(tal_integrator *integ, tal_state *state, double *norm)
{
    const bool controlled = tali_is_controlled(integ);
    const tal_status st = tali_project(integ, state, controlled ? integ->error : NULL);
    if (st != TAL_OK) return st;
    *norm = controlled ? tali_error_norm(integ, state) : 0.0;
    return *norm <= integ->tolerance ? tali_settle_relaxed(integ, state) : TAL_OK;
}
