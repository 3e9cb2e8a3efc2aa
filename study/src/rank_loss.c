// Steps near configurations in which constraints lose rank.
//
// A mechanism can pass through a configuration in which rows of its constraints lose their rank, as
// four-bars do that lie flat. At an angle phi from there, constraint errors e become differences e
// / phi between branches that should move alike, their rates e phi' / phi^2, and so on: what
// round-off leaves of the constraints, e of some eps, ends up in the speeds as e / phi^2 of their
// size. Pivots of W go with phi^2.
//
// So errors below that cannot be made smaller by shorter steps, which only follow the differences
// into the singular configuration; and a step should not end there. It is passed in one step that
// begins and ends at a distance. On the way there constraint errors are taken away even if they are
// within tolerance.
#include "integrator_internal.h"

#include <float.h>
#include <math.h>

// Rows come and go by less as a mechanism moves.
static bool is_close(const tal_integrator *integ, double share)
{
    return share < 0.1 * integ->clearest;
}

// Round-off of the speeds, where the rows' share is `share`. Positions of a long chain are good to
// some ten eps, and rows are compared with where they were farthest apart. No step is let off with
// more than what begins 1e-4 rad from a singular configuration needs.
static double noise(const tal_integrator *integ, double share)
{
    if (!is_close(integ, share)) return 0.0;
    return fmin(100.0 * DBL_EPSILON * integ->clearest / share, 1e-5);
}

bool tali_is_near_rank_loss(const tal_integrator *integ)
{
    return is_close(integ, integ->rows.share);
}

static tal_status look_at_rows(const tal_integrator *integ, tal_state *state, tal_rows_margin *rows)
{
    *rows = (tal_rows_margin){0, 1.0};
    if (integ->matter == NULL || tal_state_pool_size(state, TAL_POOL_UERR) == 0) return TAL_OK;
    return tal_matter_calc_margin(integ->matter, state, rows);
}

tal_status tali_see_what_is_resolved(tal_integrator *integ, tal_state *state)
{
    const tal_status st = look_at_rows(integ, state, &integ->rows);
    integ->clearest = fmax(integ->clearest, integ->rows.share);
    integ->tolerance = fmax(integ->step_accuracy, noise(integ, integ->rows.share));
    integ->projection.even_if_met =
        integ->def.project_every_step || is_close(integ, integ->rows.share);
    return tali_pass_on(integ, state, st);
}

// A failure is not the step's, which is good: the next one meets it again where it begins.
bool tali_ends_too_close(tal_integrator *integ, tal_state *state)
{
    tal_rows_margin rows;
    if (!tali_is_controlled(integ) || look_at_rows(integ, state, &rows) != TAL_OK) return false;
    if (rows.num_redundant > integ->rows.num_redundant) return true;
    return rows.share < 0.25 * integ->rows.share && noise(integ, rows.share) > integ->step_accuracy;
}
