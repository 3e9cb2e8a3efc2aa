// The fully recursive formulation: accelerations by Talus's dynamics of O(n), multipliers by
// W = G M^-1 G^T (GJB sec. 8.1.3 closes loops in the same way), a step by fixed-point iteration.
#include "realtime/realtime_internal.h"

#include <string.h>

static tal_status place(tal_fixed_stepper *s, tal_state *state)
{
    return tali_realtime_put(s, state, s->t1, s->x, s->u);
}

// Newmark's a of udot, and x of it.
static tal_status correct(tal_fixed_stepper *s, tal_state *state)
{
    const tali_realtime_family *it = &s->family;
    const double h = s->h;
    const tal_status st = tal_system_realize(s->system, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
    const double *udot = tal_state_udot(state) + s->u0 - tal_state_nq(state);
    for (int k = 0; k < s->nu; ++k) {
        const double sum = (1.0 - it->df) * udot[k] + it->df * s->past.udot[k];
        const double a = (sum - it->dm * s->past.a[k]) / (1.0 - it->dm);
        const double mean = (0.5 - it->beta) * s->past.a[k] + it->beta * a;
        s->change[k] = h * s->u_start[k] + h * h * mean - s->x[k];
        if (s->level[k] != TAL_LEVEL_FREE) s->change[k] = 0.0;
    }
    return TAL_OK;
}

static tal_status finish(tal_fixed_stepper *s, tal_state *state)
{
    if (!s->def.projects) return TAL_OK;
    return tali_realtime_pass_on(s, state, tali_problem_project(&s->problem, state, NULL));
}

const tali_realtime_ops *tali_realtime_fully_recursive(void)
{
    static const tali_realtime_ops ops = {.start = tali_realtime_start_by_dynamics,
                                          .step = tali_realtime_structural_step,
                                          .place = place,
                                          .correct = correct,
                                          .finish = finish};
    return &ops;
}
