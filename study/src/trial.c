// What every method does to the State: put values in, settle stages and ends of steps, evaluate rates
// (manual sec. 10.4).
#include "finite_internal.h"
#include "integrator_internal.h"
#include "reason_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- putting values into the State ---

// out += w_0 k_0 + w_1 k_1, term by term, in one pass over y.
static void add_two(const double w[2], const double *const k[2], int ny, double *restrict out)
{
    const double w0 = w[0], w1 = w[1];
    const double *restrict k0 = k[0], *restrict k1 = k[1];
    for (int i = 0; i < ny; ++i) {
        out[i] = (out[i] + w0 * k0[i]) + w1 * k1[i];
    }
}

// The same for four terms.
static void add_four(const double w[4], const double *const k[4], int ny, double *restrict out)
{
    const double w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
    const double *restrict k0 = k[0], *restrict k1 = k[1], *restrict k2 = k[2], *restrict k3 = k[3];
    for (int i = 0; i < ny; ++i) {
        out[i] = (((out[i] + w0 * k0[i]) + w1 * k1[i]) + w2 * k2[i]) + w3 * k3[i];
    }
}

void tali_combine(const tal_integrator *integ, const double *y0, double h, const double coefs[],
                  int n, int ny, double out[])
{
    const size_t bytes = (size_t)ny * sizeof *out;
    const double *k[TAL_MAX_RK_STAGES + 1];
    double w[TAL_MAX_RK_STAGES + 1];
    int terms = 0;
    for (int j = 0; j < n; ++j) {
        w[terms] = h * coefs[j];
        k[terms] = tali_stage(integ, j);
        terms += w[terms] != 0.0 ? 1 : 0;
    }
    w[terms] = 0.0; // a partner for the last
    k[terms] = tali_stage(integ, 0);
    if (y0 != NULL) memcpy(out, y0, bytes);
    if (y0 == NULL) memset(out, 0, bytes);
    int j = 0;
    for (; terms - j > 2; j += 4) {
        add_four(w + j, k + j, ny, out);
    }
    for (; j < terms; j += 2) {
        add_two(w + j, k + j, ny, out);
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
    const tal_status st = tal_state_set_t(state, t);
    if (st != TAL_OK) return tali_pass_on(integ, state, st);
    memcpy(tal_state_upd_y(state), y, (size_t)ny * sizeof *y);
    return TAL_OK;
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
    return integ->matter != NULL ? tal_matter_normalize_quaternions(integ->matter, state) : TAL_OK;
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
    return integ->def.baumgarte == 0.0 || integ->is_starting;
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
    const tal_status st = tal_system_realize(integ->system, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return tali_pass_on(integ, state, st);
    const int ny = tal_state_ny(state);
    const double *found = tal_state_ydot(state);
    if (!tali_all_finite(found, ny)) return name_not_finite(integ, state, found, "the rate of");
    memcpy(ydot, found, (size_t)ny * sizeof *ydot);
    return tali_stabilize(integ, state, ydot);
}

tal_status tali_end_step(tal_integrator *integ, tal_state *state, double *norm)
{
    const bool controlled = tali_is_controlled(integ);
    const tal_status st = tali_project(integ, state, controlled ? integ->error : NULL);
    if (st != TAL_OK) return st;
    *norm = controlled ? tali_error_norm(integ, state) : 0.0;
    return *norm <= integ->tolerance ? tali_settle_relaxed(integ, state) : TAL_OK;
}
