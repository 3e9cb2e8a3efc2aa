// Where to go: the slope of the energy, and L-BFGS from M^-1.
#include "array_internal.h"

#include "minimize/minimizer_internal.h"
#include "problem/study_internal.h"

#include <talus/matter/operators.h>
#include <talus/matter/response.h>

#include <math.h>
#include <string.h>

static tal_status pass_on(tal_minimizer *m, const tal_state *state, tal_status st)
{
    if (st == TAL_OK) return st;
    m->error = (tal_error){TAL_OK, "", ""};
    return TALI_FAIL(&m->error, st, "%s", tali_problem_reason(state, st));
}

bool tali_minimizer_evaluate(tal_minimizer *m, tal_state *state, const double q[],
                             tali_minimizer_place *place)
{
    memcpy(tal_state_upd_q(state), q, (size_t)m->nq * sizeof q[0]);
    memset(tal_state_upd_u(state), 0, (size_t)m->nu * sizeof q[0]);
    m->evaluations += 1;
    tal_status st = tal_system_realize(m->system, state, TAL_STAGE_MODEL);
    if (st == TAL_OK) st = tal_matter_normalize_quaternions(m->matter, state);
    if (st == TAL_OK) st = tal_system_realize(m->system, state, TAL_STAGE_DYNAMICS);
    if (st == TAL_OK) st = tal_matter_calc_applied_forces(m->matter, state, m->F_GB, m->f);
    if (st == TAL_OK) st = tal_matter_mul_JT(m->matter, state, m->F_GB, place->g);
    if (pass_on(m, state, st) != TAL_OK) return false;
    memcpy(place->q, tal_state_q(state), (size_t)m->nq * sizeof q[0]);
    place->energy = tal_system_potential_energy(m->system, state);
    bool is_finite = isfinite(place->energy);
    for (int i = 0; i < m->nu; ++i) {
        place->g[i] = -place->g[i] - m->f[i];
        is_finite = is_finite && isfinite(place->g[i]);
    }
    if (!is_finite) {
        m->error = (tal_error){TAL_OK, "", ""};
        (void)TALI_FAIL(&m->error, TAL_ERR_NOT_FINITE,
                        "the potential energy or a force is not finite");
    }
    return is_finite;
}

// The two loops, and gamma M^-1 between them.
static tal_status apply_H(tal_minimizer *m, tal_state *state)
{
    const int n = m->nu;
    memcpy(m->work, m->here.g, (size_t)n * sizeof m->work[0]);
    tali_lbfgs_undo(&m->past, m->work);
    const tal_status st = tal_matter_mul_Minv(m->matter, state, m->work, m->d);
    if (st != TAL_OK) return pass_on(m, state, st);
    for (int i = 0; i < n; ++i) {
        m->d[i] *= m->past.num > 0 ? m->gamma : 1.0;
    }
    tali_lbfgs_redo(&m->past, m->d);
    for (int i = 0; i < n; ++i) {
        m->d[i] = -m->d[i];
    }
    return TAL_OK;
}

tal_status tali_minimizer_direct(tal_minimizer *m, tal_state *state)
{
    const tal_status st = apply_H(m, state);
    const bool is_down = tali_array_dot(m->d, m->here.g, m->nu) < 0.0;
    if (st != TAL_OK || m->past.num == 0 || is_down) return st;
    m->past.num = 0; // what was learned elsewhere leads up here
    return apply_H(m, state);
}

tal_status tali_minimizer_learn(tal_minimizer *m, tal_state *state, double alpha)
{
    double *s, *y, curvature;
    tali_lbfgs_room(&m->past, &s, &y);
    for (int i = 0; i < m->nu; ++i) {
        s[i] = alpha * m->d[i];
        y[i] = m->next.g[i] - m->here.g[i];
    }
    if (!tali_lbfgs_keep(&m->past, &curvature)) return TAL_OK; // nothing is learned
    const tal_status st = tal_matter_mul_Minv(m->matter, state, y, m->work);
    if (st != TAL_OK) return pass_on(m, state, st);
    m->gamma = curvature / tali_array_dot(y, m->work, m->nu);
    return TAL_OK;
}

tal_status tali_minimizer_reach(tal_minimizer *m, tal_state *state, double *alpha)
{
    const tal_status st = tal_matter_mul_J(m->matter, state, m->d, m->V_GB);
    if (st != TAL_OK) return pass_on(m, state, st);
    double most = 0.0;
    for (int b = 1; b < m->num_bodies; ++b) {
        const tal_mat3 R_GB = tal_body_X_GB(m->matter, state, (tal_body_ix){b}).R;
        const tal_vec3 w = m->V_GB[b].w, arm = tal_m3_mul_v3(R_GB, m->com[b]);
        const tal_vec3 v = tal_v3_add(m->V_GB[b].v, tal_v3_cross(w, arm));
        most = fmax(most, tal_v3_norm(v) + m->radius[b] * tal_v3_norm(w));
    }
    *alpha = most > 0.0 ? m->def.longest_move / most : 1.0;
    return TAL_OK;
}
