// The integrator as a struct, the methods it can run, and what they share.
#ifndef TALUS_INTEGRATOR_INTERNAL_H
#define TALUS_INTEGRATOR_INTERNAL_H

#include "problem/problem_internal.h"

#include <talus/study/integrator.h>

/// A tableau as steps use it.
typedef struct tali_integrator_rk_plan {
    int stages;     // to run: not those that only an unwanted error estimate needs
    bool is_at_end; // the last of them is the end of the step
    tali_problem_row at[TAL_MAX_RK_STAGES]; // each stage from those before it
    tali_problem_row end;                   // of the step
    tali_problem_row error;                 // of the step, when it is controlled
} tali_integrator_rk_plan;

/// A one-step method, run by the loop in step_loop.c.
typedef struct tali_integrator_method {
    int num_stages;  // vectors as long as y that it needs; the first holds the rates at y0
    int error_power; // the estimated error of a step goes with this power of h

    /// Prepare for steps, once the workspace is there; NULL: nothing to prepare.
    void (*prepare)(tal_integrator *integ);
    /// Keep more of the start of a step than t0, y0 and its rates; NULL: that is all it needs.
    tal_status (*begin)(tal_integrator *integ, const tal_state *state);
    /// A step from t0 to t1. On success the State is at t1, and `norm` is that of the weighted
    /// error; 0 when steps are fixed. The end of the step is left to tali_integrator_end_trial().
    tal_status (*try_step)(tal_integrator *integ, tal_state *state, double t1, double *norm);
} tali_integrator_method;

/// A family of methods: how steps are taken, and what is known between their ends. The one-step
/// methods are one; each solver of SUNDIALS is another, with its memory in `engine`.
typedef struct tali_integrator_family {
    bool is_one_step; // a step needs nothing of those before it but its size
    /// Take all memory the family will need; NULL: the integrator's workspace is enough. On failure
    /// nothing is left behind.
    tal_status (*create)(tal_integrator *integ, tal_error *err);
    void (*destroy)(tal_integrator *integ);
    /// The next step does not continue from the last one: forget what was kept of steps before.
    /// NULL: nothing is.
    void (*restart)(tal_integrator *integ);
    /// One accepted step that does not pass t_end, from a State that is consistent. Sets t0, y0. On
    /// success the State is prescribed, projected and relaxed; on failure it is at the start.
    tal_status (*step)(tal_integrator *integ, tal_state *state, double t_end);
    /// y at a time within the last step, as the method knows it.
    tal_status (*dense)(tal_integrator *integ, double t, int ny, double y[]);
    /// Put another State to a time within the last step by a step from its start, prescribed,
    /// projected and relaxed; the integrator stays as it is. NULL: dense output is as accurate as
    /// steps are, by itself.
    tal_status (*step_aside)(tal_integrator *integ, tal_state *out, double t);
    /// Move the State to a time within the last step, as if the step had ended there.
    tal_status (*back_up)(tal_integrator *integ, tal_state *state, double t);
} tali_integrator_family;

enum {
    TALI_MOST_TERMS = 4 // of dense output, besides the cubic between the ends
};

/// What dense output of the last step adds to the cubic through both ends, and how good it is.
typedef struct tali_integrator_dense {
    bool is_known;                  // the rest belongs to the last step
    bool is_good;                   // its error is below that of the step
    int num_terms;                  // x^2 (1 - x)^2 sum_k terms[k] (2 x - 1)^k
    double *terms[TALI_MOST_TERMS]; // [ny]
    double *rates[TALI_MOST_TERMS]; // [ny] room
    double *y;                      // [ny] room
    double *stages;                 // room for the stages of the method
} tali_integrator_dense;

/// Evaluations that ended in a NaN or infinity, lately.
typedef struct tali_integrator_bad {
    uint64_t count;
    uint64_t first;      // realizations before the first of them
    uint64_t good_steps; // since the last of them
} tali_integrator_bad;

/// A fraction of a step, and how far it is from all at which rates are taken.
typedef struct tali_integrator_passage {
    double at, gap;
} tali_integrator_passage;

/// The least share of a row, and when it was found.
typedef struct tali_integrator_share {
    double t; // [s]
    double share;
} tali_integrator_share;

struct tal_integrator {
    tali_problem problem; // what is stepped
    tal_integrator_def def;
    const tali_integrator_family *family;
    void *engine;                    // the family's own
    tali_integrator_method method;   // of the one-step family
    tali_integrator_rk_plan rk;      // of TAL_METHOD_RUNGE_KUTTA
    double step_accuracy;            // what the error of a step is held to: a part of the accuracy
    tali_integrator_passage passage; // of a configuration in which constraints lose rank

    // workspace, in one block
    void *block;
    size_t block_bytes;
    size_t kept_bytes;  // of its first part, which is saved with a run
    size_t stride;      // doubles from one stage to the next
    double *y1, *ydot1; // end of the last step; y1 is free within a trial step
    double *zero;       // nothing else is in it
    double *k;          // stages of the method
    bool *repeats;      // rows of uerr that are among such that repeat others: projection's
    tali_integrator_dense dense; // of interpolate.c

    // where the run is
    double t0, t1;        // [s] start and end of the last step
    bool has_step;        // y0 ... k belong to a step that can be interpolated
    bool is_settled;      // a State at t1, y1 is prescribed, projected and relaxed
    bool is_cut;          // nothing is kept of steps before: a run can be resumed from here
    double h_next;        // 0: to be chosen
    tal_rows_margin rows; // of the constraints, at the start of the step
    tali_integrator_share now,
        past;         // least share of rows at the start of this step and of the last
    double let_off;   // sum of errors beyond step_accuracy that steps were allowed
    double clearest;  // largest share of such rows since the run began
    double tolerance; // of the step's error: step_accuracy, or what round-off leaves of it
    long steps_left;
    tali_integrator_bad bad;
    tal_integrator_stats stats;
};

static inline double *tali_integrator_stage(const tal_integrator *integ, int i)
{
    return integ->k + (size_t)i * integ->stride;
}

static inline bool tali_integrator_is_controlled(const tal_integrator *integ)
{
    return integ->def.fixed_step == 0.0;
}

// --- families and methods ---

const tali_integrator_family *tali_integrator_one_step_family(void);
const tali_integrator_family *tali_sun_cvode_family(void);
const tali_integrator_family *tali_sun_ida_family(void);
const tali_integrator_family *tali_sun_arkode_family(bool is_implicit);
tal_status tali_integrator_one_step_dense(tal_integrator *integ, double t, int ny, double y[]);

/// Stages of the table of ARKODE's explicit method of an order; 0: there is none.
int tali_sun_arkode_num_stages(const tal_integrator_def *def);

tali_integrator_method tali_integrator_runge_kutta(const tal_rk_tableau *tableau);
tali_integrator_method tali_integrator_semi_explicit_euler(void);
tali_integrator_method tali_integrator_verlet(void);

/// Is the last stage of a tableau the end of the step?
bool tali_integrator_ends_at_last_stage(const tal_rk_tableau *rk);

// --- advance.c, interpolate.c ---

/// Begin or go on from a State: prescribed, projected and relaxed where it is not what the last
/// step left.
tal_status tali_integrator_start(tal_integrator *integ, tal_state *state);

/// The end of a step that is in the State, for interpolation; realizes it to Acceleration.
tal_status tali_integrator_finish(tal_integrator *integ, tal_state *state);

/// What the errors of steps from this State are held to, into step_accuracy (integrator.c).
void tali_integrator_hold_steps(tal_integrator *integ, const tal_state *state);

/// One more trial step, if max_steps allows it.
tal_status tali_integrator_spend_step(tal_integrator *integ, double t0, double t_end);

/// Put y at a time within the last step into another State, prescribed, projected and relaxed: from
/// dense output where its error is below that of the step, by a step to this time where not.
tal_status tali_integrator_put_row(tal_integrator *integ, tal_state *out, double t);

/// Put y at a time within the last step into the State, prescribed, projected and relaxed, by dense
/// output.
tal_status tali_integrator_put_dense(tal_integrator *integ, tal_state *state, double t);

// --- integrator_save.c ---

/// Did this integrator, or one like it, write these bytes? Otherwise TAL_ERR_FILE.
tal_status tali_integrator_check(tal_integrator *integ, const void *bytes, size_t size);

// --- step_loop.c: what families share ---

/// The least step that t can resolve, with some bits to spare.
double tali_integrator_resolved_step(const tal_integrator *integ, double t);

/// The least step worth taking: that one, or the def's.
double tali_integrator_least_step(const tal_integrator *integ, double t);

/// The next step is not tried longer than the last one, up to which it was found to be good.
void tali_integrator_hold_growth(tal_integrator *integ);

/// How long a step from t0 is tried first.
double tali_integrator_size_to_try(tal_integrator *integ, double t0);

/// A trial step of length `taken` is taken, `h` is what was tried before an end cut it short: the
/// next size, statistics.
void tali_integrator_accept(tal_integrator *integ, double h, double taken, double norm,
                            bool may_grow);

/// A trial step could not be computed (`st`), or its error is too large. `*h` becomes smaller, or
/// the failure is final.
tal_status tali_integrator_refuse(tal_integrator *integ, const tal_state *state, double t0,
                                  double norm, tal_status st, double *h);

/// A fixed step that t cannot resolve would continue forever.
tal_status tali_integrator_check_fixed_step(tal_integrator *integ, double t0);

/// Where a step of about `h` ends. A remainder that is a step up to round-off is the step; so times
/// add up to t_end exactly.
double tali_integrator_end_of_step(double t0, double h, double t_end);

/// A failure that a smaller step may avoid.
bool tali_integrator_may_retry(tal_status st);

/// One more evaluation was not finite. False: it is the last that a run may have; shorter steps do
/// not help.
bool tali_integrator_forgive(tal_integrator *integ);

/// One more step was good: after some of them evaluations that were not finite are forgotten.
void tali_integrator_forget(tal_integrator *integ);

// --- rank_loss.c: steps near configurations in which constraints lose rank ---

/// At the start of a step: what its error is held to, and whether its end is projected in any case.
tal_status tali_integrator_see_what_is_resolved(tal_integrator *integ, tal_state *state);

/// Prescribe and project the start of a run. Where rows repeat others q goes as close to the
/// constraints as it can.
tal_status tali_integrator_project_start(tal_integrator *integ, tal_state *state);

/// The fraction of a step that is farthest from all nodes c [stages] of its stages.
tali_integrator_passage tali_integrator_widest_passage(const double c[], int stages);

/// A step of about `h` from where the step begins, or a shorter one that leads past such a
/// configuration.
double tali_integrator_plan_step(const tal_integrator *integ, double h);

/// Fails when a step of about `h` would pass such a configuration by a method that is known not to
/// keep the accuracy there.
tal_status tali_integrator_check_passage(tal_integrator *integ, const tal_state *state, double h);

/// Did the step begin near such a configuration?
bool tali_integrator_is_near_rank_loss(const tal_integrator *integ);

enum {
    TALI_MOST_SHORTENED = 4 // tries to end a step elsewhere
};

/// Keep the end of a trial step in `integ->y1` as it is before projection.
void tali_integrator_keep_end(tal_integrator *integ, const tal_state *state);

/// The end of a trial step that is in the State and was kept as it was before any projection
/// (tali_integrator_keep_end()), with its error in `integ->problem.error`: prescribed,
/// projected, tested and, if the error is small enough, relaxed.
tal_status tali_integrator_end_trial(tal_integrator *integ, tal_state *state, double *norm);

/// Near rank loss: has the projection of the end of a step, which was at `integ->y1`, moved it by
/// much more than an error? Constraints can ask for that, and a mechanism would stop, or jump.
tal_status tali_integrator_check_end(tal_integrator *integ, tal_state *state);

/// A step with such an error is taken. Fails when round-off near rank loss has added up to more
/// than the accuracy allows.
tal_status tali_integrator_account(tal_integrator *integ, const tal_state *state, double norm);

/// Is the end of the step twice as close to losing rank as its start, and so close that it matters?
bool tali_integrator_ends_too_close(tal_integrator *integ, tal_state *state);

/// The variable in `worst` would need a step below `h`.
tal_status tali_integrator_step_too_small(tal_integrator *integ, const tal_state *state, double t,
                                          double h);

/// Put the State back to the start of a step that failed. The integrator's record stays.
void tali_integrator_leave_at_start(tal_integrator *integ, tal_state *state);

#endif // TALUS_INTEGRATOR_INTERNAL_H
