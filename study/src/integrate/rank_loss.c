// Steps near configurations in which constraints lose rank.
//
// A mechanism can pass through a configuration in which rows of its constraints lose their rank, as
// four-bars do that lie flat. At an angle phi from there, constraint errors e become differences e
// / phi between branches that should move alike, their rates e phi' / phi^2, and so on: what
// round-off leaves of the constraints, e of some eps, ends up in the speeds as e / phi^2 of their
// size. Pivots of W go with phi^2.
//
// So errors below that cannot be made smaller by shorter steps, which only follow the differences
// into the singular configuration. It is passed in one step of usual length, which begins and ends
// at a distance and takes no rates near it; steps before it are planned for that. On the way there
// constraint errors are taken away even if they are within tolerance. The errors that steps are
// allowed is kept account of: a run that has lost too much ends.
//
// Derived is the form of noise(), which is that of errors above. All numbers are chosen: 0.1 in
// is_close(), 100 eps in noise(), 0.05 in tali_integrator_ends_too_close() (less would undo plans,
// which end at a third of the distance at which they begin), the error that a step is allowed (the
// accuracy and 1e-9), what a run is (half of the ten accuracies and 1e-8 that tests allow), what
// the end of a step may be moved by (30 accuracies and 3e-9), and 1e-8 in
// tali_integrator_check_passage(). They were chosen by the runs of two and three cranks that
// doc/validation.md lists, so these runs do not prove them.
#include "redundant_internal.h"

#include "integrate/integrator_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Errors that may be let pass in a run: times the accuracy, and at any accuracy.
static const double MOST_LET_OFF = 5.0, ALWAYS_LET_OFF = 5e-9;

// Rows come and go by less as a mechanism moves.
static bool is_close(const tal_integrator *integ, double share)
{
    return share < 0.1 * integ->clearest;
}

// Round-off of the speeds, where the rows' share is `share`. Positions of a long chain are good to
// some ten eps, and rows are compared with where they were farthest apart. No step is allowed
// more than the accuracy and a tenth of what a run may lose besides (tali_integrator_account()).
static double noise(const tal_integrator *integ, double share)
{
    if (!is_close(integ, share)) return 0.0;
    return fmin(100.0 * DBL_EPSILON * integ->clearest / share, integ->def.accuracy + 1e-9);
}

bool tali_integrator_is_near_rank_loss(const tal_integrator *integ)
{
    return is_close(integ, integ->rows.share);
}

static tal_status look_at_rows(const tal_integrator *integ, tal_state *state, tal_rows_margin *rows)
{
    *rows = (tal_rows_margin){0, 1.0};
    if (integ->problem.matter == NULL || tal_state_pool_size(state, TAL_POOL_UERR) == 0) {
        return TAL_OK;
    }
    return tal_matter_calc_margin(integ->problem.matter, state, rows);
}

// Which rows are among such that repeat others, for projection?
static tal_status mark_redundant(tal_integrator *integ, tal_state *state, int num_redundant)
{
    integ->problem.projection.redundant = num_redundant > 0 ? integ->repeats : NULL;
    if (num_redundant == 0) return TAL_OK;
    return tali_constraint_mark_redundant(integ->problem.matter, state, integ->repeats);
}

// Where rows repeat others, rates are taken on the constraints. So they are near rank loss by
// implicit Runge-Kutta methods: off the constraints differences between branches have rates that
// grow as 1 / phi^2, and Newton's method does not find the stages. Stabilized constraints are not
// met closely, and IDA's equations are to hold the errors of constraints: both take rates where
// they are.
static bool shall_project_stages(const tal_integrator *integ)
{
    const tal_integrator_def *def = &integ->def;
    if (def->baumgarte > 0.0 || def->method == TAL_METHOD_IDA) return false;
    const bool is_dirk = def->method == TAL_METHOD_ARKODE_DIRK;
    return integ->problem.projection.redundant != NULL ||
           (is_dirk && is_close(integ, integ->rows.share));
}

static tal_status realize(tal_integrator *integ, tal_state *state, tal_stage stage)
{
    return tali_problem_pass_on(&integ->problem, state,
                                tal_system_realize(integ->problem.system, state, stage));
}

tal_status tali_integrator_see_what_is_resolved(tal_integrator *integ, tal_state *state)
{
    tal_status st = look_at_rows(integ, state, &integ->rows);
    if (st == TAL_OK) st = mark_redundant(integ, state, integ->rows.num_redundant);
    integ->clearest = fmax(integ->clearest, integ->rows.share);
    if (tal_state_t(state) > integ->now.t) integ->past = integ->now;
    integ->now = (tali_integrator_share){tal_state_t(state), integ->rows.share};
    integ->problem.projects_stages = shall_project_stages(integ);
    integ->tolerance = fmax(integ->step_accuracy, noise(integ, integ->rows.share));
    integ->problem.projection.even_if_met =
        integ->def.project_every_step || is_close(integ, integ->rows.share);
    return tali_problem_pass_on(&integ->problem, state, st);
}

// --- the way past it ---

static double gap_at(const double c[], int stages, double at)
{
    double gap = fmin(at, 1.0 - at);
    for (int i = 0; i < stages; ++i) {
        gap = fmin(gap, fabs(at - c[i]));
    }
    return gap;
}

tali_integrator_passage tali_integrator_widest_passage(const double c[], int stages)
{
    tali_integrator_passage best = {0.5, 0.0};
    for (int k = 30; k <= 75; ++k) {
        const double gap = gap_at(c, stages, 0.01 * k);
        if (gap > best.gap) best = (tali_integrator_passage){0.01 * k, gap};
    }
    return best;
}

// Shares go with phi^2, so that their roots go to zero as phi does, linearly in time, as long as
// phi is small: where rank will be lost is known from the starts of two steps. Steps up to there
// become of equal length, and shorter than `h`, such that the last one has it at the passage.
// Time from the start of the step to there; infinite when nothing leads there.
static double time_to_rank_loss(const tal_integrator *integ)
{
    const double before = sqrt(integ->past.share), now = sqrt(integ->now.share);
    if (!is_close(integ, integ->now.share) || !(now < before)) return HUGE_VAL;
    return now * (integ->now.t - integ->past.t) / (before - now);
}

double tali_integrator_plan_step(const tal_integrator *integ, double h)
{
    const double AHEAD = 3.0; // steps, so that none becomes much shorter
    const double left = time_to_rank_loss(integ);
    if (!(left < HUGE_VAL)) return h;
    // whole steps before the one that has it, at this fraction at the latest
    const double latest = integ->passage.at + 0.5 * integ->passage.gap;
    const double whole = fmax(ceil(left / h - latest), 0.0);
    const double planned = left / (whole + integ->passage.at);
    if (whole > AHEAD || planned < 0.25 * h) return h;
    return fmin(planned, h);
}

// What IDA remembers of its steps is rough once they have passed. Where rows repeat others, long
// steps of high order have stages so far off that their projection is not smooth there.
static bool is_rough(const tal_integrator *integ)
{
    const tal_integrator_def *def = &integ->def;
    if (def->method == TAL_METHOD_IDA) return true;
    if (integ->rows.num_redundant == 0) return false;
    if (def->method == TAL_METHOD_ARKODE_EXPLICIT) return def->order >= 7;
    return def->method == TAL_METHOD_RUNGE_KUTTA && def->tableau->order >= 7;
}

tal_status tali_integrator_check_passage(tal_integrator *integ, const tal_state *state, double h)
{
    const double FINEST = 1e-8; // measured: finer runs of these methods were wrong, some of them
    if (integ->def.accuracy > 0.99 * FINEST || !is_rough(integ)) return TAL_OK;
    if (!tali_integrator_is_controlled(integ) || time_to_rank_loss(integ) > h) return TAL_OK;
    return TALI_FAIL(&integ->problem.error_record, TAL_ERR_NO_CONVERGENCE,
                     "at t = %.17g the constraints are about to lose rank, and the method does not "
                     "pass that at an accuracy of %g: choose merson or cvode-bdf, or an accuracy "
                     "of %g",
                     tal_state_t(state), integ->def.accuracy, FINEST);
}

// --- the start of a run ---

// Within the tolerance of the constraints rows that repeat others may look as if they did not:
// shares of them are some times the square of the tolerance.
static const double MAY_REPEAT = 0.01;

static tal_status project_tight(tal_integrator *integ, tal_state *state)
{
    integ->problem.projection.redundant = integ->repeats;
    const tal_status st = tali_problem_project_q(&integ->problem, state, NULL);
    return st == TAL_OK ? realize(integ, state, TAL_STAGE_VELOCITY) : st;
}

static tal_status put_q_back(const tal_integrator *integ, tal_state *state)
{
    memcpy(tal_state_upd_q(state), integ->problem.y0, (size_t)tal_state_nq(state) * sizeof(double));
    return tal_system_realize(integ->problem.system, state, TAL_STAGE_POSITION);
}

// q as close to the constraints as it can be, to see which rows repeat others there. Those go there
// again; all others stay where the tolerance has left them.
static tal_status see_whether_rows_repeat(tal_integrator *integ, tal_state *state)
{
    const size_t num_uerr = (size_t)tal_state_pool_size(state, TAL_POOL_UERR);
    tal_rows_margin rows = {0, 1.0};
    memcpy(integ->problem.y0, tal_state_q(state), (size_t)tal_state_nq(state) * sizeof(double));
    memset(integ->repeats, true, num_uerr * sizeof *integ->repeats);
    tal_status st = project_tight(integ, state);
    if (st == TAL_OK) st = look_at_rows(integ, state, &rows);
    if (st == TAL_OK) st = mark_redundant(integ, state, rows.num_redundant);
    if (st != TAL_OK) integ->problem.projection.redundant = NULL;
    integ->problem.error_record = (tal_error){TAL_OK, "", ""};
    st = tali_problem_pass_on(&integ->problem, state, put_q_back(integ, state));
    return st == TAL_OK && integ->problem.projection.redundant != NULL ? project_tight(integ, state)
                                                                       : st;
}

tal_status tali_integrator_project_start(tal_integrator *integ, tal_state *state)
{
    tal_rows_margin rows;
    integ->problem.projection.redundant = NULL;
    integ->problem.projects_stages = false;
    tal_status st = tali_problem_project_q(&integ->problem, state, NULL);
    if (st == TAL_OK) st = realize(integ, state, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) {
        st = tali_problem_pass_on(&integ->problem, state, look_at_rows(integ, state, &rows));
    }
    if (st == TAL_OK && (rows.num_redundant > 0 || rows.share < MAY_REPEAT)) {
        st = see_whether_rows_repeat(integ, state);
    }
    return st == TAL_OK ? tali_problem_project_u(&integ->problem, state, NULL) : st;
}

// --- the end of a step ---

// Elsewhere projection moves y by ten errors of a step at most, and in a passage by 1e-9.
tal_status tali_integrator_check_end(tal_integrator *integ, tal_state *state)
{
    const double most = 30.0 * integ->def.accuracy + 3e-9;
    if (!tali_integrator_is_controlled(integ) || !tali_integrator_is_near_rank_loss(integ)) {
        return TAL_OK;
    }
    const double change = tali_problem_change_by_projection(&integ->problem, state, integ->y1);
    if (change <= most) return TAL_OK;
    return TALI_FAIL(&integ->problem.error_record, TAL_ERR_NO_CONVERGENCE,
                     "at t = %.17g the constraints lose rank: they would change %s by %g",
                     tal_state_t(state),
                     integ->problem.worst.pool == TAL_POOL_Q ? "coordinates" : "speeds", change);
}

// Errors that steps were allowed add up; runs of some seconds may be off by twice this.
tal_status tali_integrator_account(tal_integrator *integ, const tal_state *state, double norm)
{
    if (!(norm > integ->step_accuracy) || !tali_integrator_is_near_rank_loss(integ)) return TAL_OK;
    integ->let_off += norm;
    if (integ->let_off <= MOST_LET_OFF * integ->def.accuracy + ALWAYS_LET_OFF) return TAL_OK;
    return TALI_FAIL(
        &integ->problem.error_record, TAL_ERR_NO_CONVERGENCE,
        "at t = %.17g the constraints lose rank: round-off has added up to %g, too much for "
        "an accuracy of %g",
        tal_state_t(state), integ->let_off, integ->def.accuracy);
}

// A failure is not the step's, which is good: the next one meets it again where it begins.
bool tali_integrator_ends_too_close(tal_integrator *integ, tal_state *state)
{
    tal_rows_margin rows;
    if (!tali_integrator_is_controlled(integ) || look_at_rows(integ, state, &rows) != TAL_OK) {
        return false;
    }
    if (rows.num_redundant > integ->rows.num_redundant) return true;
    return rows.share < 0.05 * integ->rows.share && noise(integ, rows.share) > integ->step_accuracy;
}
