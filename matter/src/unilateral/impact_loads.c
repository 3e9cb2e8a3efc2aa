// Friction by loads: its limits depend on the forces of bilateral rows, which depend on it.
//
// A grip that does not slide yet holds at first, whatever that takes; the worst one that takes more
// than mu_s N is released. What is released, or slides, has the limit mu_d N of the forces before:
// these are found by repetition, with shorter steps where it does not come closer. In an impact the
// same is asked of impulses, and no grip slides: what is left of its slip at the end decides.
#include "unilateral/impact_internal.h"

#include <math.h>

enum {
    MOST_REPETITIONS = 300
};

static const double CLOSE_ENOUGH = 1e-10; // of the largest limit
// Of its limit: an event finds the end of sticking to a little less or more than that.
static const double HOLDS = 1.0 - 1e-10;

static tali_impact_part *part_at(const tali_impact_problem *p, int k)
{
    return &p->parts[p->in[k]];
}

bool tali_impact_any_load(const tali_impact_problem *p)
{
    for (int k = 0; k < p->num_in; ++k) {
        if (part_at(p, k)->num_loads > 0 && p->contacts[k].num_tangents > 0) return true;
    }
    return false;
}

// N of part `k`, with the forces that were found.
static double press_of(const tali_impact_problem *p, int k)
{
    const tali_impact_part *part = part_at(p, k);
    const tal_unilateral_load *load = &p->matter->unilaterals.list[part->element].load;
    double sum = 0.0;
    for (int r = 0; r < part->num_loads; ++r) {
        const double x = load->weight[r] * p->z[tali_impact_local_row(p, part->load[r])];
        sum += x * x;
    }
    return sqrt(sum);
}

// Grips that hold are rows of no contact: bilateral.
static tal_status solve_once(tali_impact_problem *p, tal_error *why)
{
    for (int k = 0; k < p->num_in; ++k) {
        const tali_impact_part *part = part_at(p, k);
        p->contacts[k].num_tangents = part->is_held ? 0 : part->num_slips;
    }
    const tal_status st = tali_impact_solve(p, why);
    for (int k = 0; k < p->num_in; ++k) {
        const tali_impact_part *part = part_at(p, k);
        p->contacts[k].num_tangents = part->num_slips;
        if (part->is_held) p->modes[k] = TAL_FRICTION_STICK;
    }
    return st;
}

// Release the grip that holds with the largest part of its limit, if that is too much.
static bool release_worst(tali_impact_problem *p)
{
    double worst = HOLDS;
    int found = -1;
    for (int k = 0; k < p->num_in; ++k) {
        const tali_impact_part *part = part_at(p, k);
        if (!part->is_held || isinf(part->static_mu)) continue;
        const int row = p->contacts[k].tangent;
        const double y = part->num_slips > 1 ? p->z[row + 1] : 0.0;
        const double limit = part->limit + part->static_mu * press_of(p, k);
        const double ratio = hypot(p->z[row], y) / fmax(limit, 1e-300);
        if (!(ratio > worst)) continue;
        worst = ratio;
        found = k;
    }
    if (found < 0) return false;
    tali_impact_part *part = part_at(p, found);
    part->is_held = false;
    p->contacts[found].limit = part->limit + part->sliding_mu * press_of(p, found);
    return true;
}

// Bring limits closer to what presses now, by a share of what is missing; how much that is of the
// largest.
static double renew_limits(tali_impact_problem *p, double share)
{
    double most = 0.0, missing = 0.0;
    for (int k = 0; k < p->num_in; ++k) {
        const tali_impact_part *part = part_at(p, k);
        if (part->num_loads == 0 || part->is_held || part->num_slips == 0) continue;
        const double target = part->limit + part->sliding_mu * press_of(p, k);
        const double step = target - p->contacts[k].limit;
        most = fmax(most, target);
        missing = fmax(missing, fabs(step));
        p->contacts[k].limit += share * step;
    }
    return most > 0.0 ? missing / most : 0.0;
}

tal_status tali_impact_solve_loaded(tali_impact_problem *p, tal_error *why)
{
    if (!tali_impact_any_load(p)) return tali_impact_solve(p, why);
    for (int k = 0; k < p->num_in; ++k) {
        tali_impact_part *part = part_at(p, k);
        part->is_held = part->num_loads > 0 && part->num_slips > 0 && !p->contacts[k].slides;
    }
    double share = 1.0, before = (double)INFINITY;
    for (int i = 0; i < MOST_REPETITIONS; ++i) {
        const tal_status st = solve_once(p, why);
        if (st != TAL_OK) return st;
        const double missing = renew_limits(p, share);
        const bool is_settled = missing <= CLOSE_ENOUGH;
        if (is_settled && !release_worst(p)) return TAL_OK;
        if (!is_settled && missing > 0.7 * before) share = fmax(0.5 * share, 0.02);
        before = is_settled ? (double)INFINITY : missing;
    }
    return TALI_FAIL(why, TAL_ERR_NO_CONVERGENCE,
                     "friction by loads did not settle: a joint may be jammed");
}
