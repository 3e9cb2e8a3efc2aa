// Motion without forces, by the implicit midpoint rule on q and u.
//
// The rule is symmetric, so that a run can be turned around. N(q) u is orthogonal to a quaternion,
// and the rule keeps what is quadratic: unit quaternions stay unit ones.
#include "md/md_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double largest(const double x[], int n)
{
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

static void put(tal_md *md, tal_state *state, const double q[], const double u[])
{
    memcpy(tal_state_upd_q(state), q, (size_t)md->nq * sizeof q[0]);
    memcpy(tal_state_upd_u(state), u, (size_t)md->nu * sizeof u[0]);
}

// to = from + h rate; how much that changed it, NaN where something is not finite.
static double renew(double to[], const double from[], double h, const double rate[], int n)
{
    double change = 0.0, poison = 0.0;
    for (int i = 0; i < n; ++i) {
        const double next = from[i] + h * rate[i];
        change = fmax(change, fabs(next - to[i]));
        poison += 0.0 * next;
        to[i] = next;
    }
    return change + poison;
}

static void halve(double to[], const double a[], const double b[], int n)
{
    for (int i = 0; i < n; ++i) {
        to[i] = 0.5 * (a[i] + b[i]);
    }
}

// One round: rates in the middle between the start and the end found last. `*has_changed` tells
// whether the end moved by more than the tolerance.
static tal_status iterate(tal_md *md, tal_state *state, double h, bool *has_changed)
{
    halve(tal_state_upd_q(state), md->q0, md->q1, md->nq);
    halve(tal_state_upd_u(state), md->u0, md->u1, md->nu);
    tal_status st = tal_system_realize(md->system, state, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) {
        st = tal_matter_forward_dynamics(md->matter, state, NULL, NULL, md->udot, NULL);
    }
    if (st != TAL_OK) return tali_md_pass_on(md, state, st);
    const double *qdot = tal_state_qdot(state), tolerance = md->def.tolerance;
    const double dq = renew(md->q1, md->q0, h, qdot, md->nq);
    const double du = renew(md->u1, md->u0, h, md->udot, md->nu);
    const double far_q = h * largest(qdot, md->nq), size_q = largest(md->q0, md->nq);
    const double size_u = largest(md->u0, md->nu);
    *has_changed = !(dq <= tolerance * far_q + 2.0 * DBL_EPSILON * size_q &&
                     du <= (tolerance + 2.0 * DBL_EPSILON) * size_u);
    return TAL_OK;
}

tal_status tali_md_fail_drift(tal_md *md, const tal_state *state)
{
    md->error = (tal_error){TAL_OK, "", ""};
    return TALI_FAIL(&md->error, TAL_ERR_NO_CONVERGENCE,
                     "a step of %g at t = %g is too long: motion without forces does not converge "
                     "in %d rounds; lower `step`",
                     md->def.step, tal_state_t(state), md->def.most_rounds);
}

tal_status tali_md_drift(tal_md *md, tal_state *state, double h)
{
    memcpy(md->q0, tal_state_q(state), (size_t)md->nq * sizeof md->q0[0]);
    memcpy(md->u0, tal_state_u(state), (size_t)md->nu * sizeof md->u0[0]);
    tal_status st = tal_system_realize(md->system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return tali_md_pass_on(md, state, st);
    (void)renew(md->q1, md->q0, h, tal_state_qdot(state), md->nq);
    memcpy(md->u1, md->u0, (size_t)md->nu * sizeof md->u1[0]);
    bool has_changed = true;
    for (md->rounds = 0; has_changed && md->rounds < md->def.most_rounds; ++md->rounds) {
        st = iterate(md, state, h, &has_changed);
        if (st != TAL_OK && md->rounds > 0) break; // it runs away
        if (st != TAL_OK) return st;
    }
    if (has_changed) return tali_md_fail_drift(md, state);
    put(md, state, md->q1, md->u1);
    return TAL_OK;
}
