// The integrator as a struct, the methods it can run, and what they share.
#ifndef TALUS_INTEGRATOR_INTERNAL_H
#define TALUS_INTEGRATOR_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/matter.h>
#include <talus/study/integrator.h>

/// Which variable has the largest weighted error.
typedef struct tali_worst {
    tal_pool pool;
    int slot;
    double size; // of its weighted error
} tali_worst;

/// A row of a tableau: sum coefs_j k_j over stages, without the terms that are zero.
typedef struct tali_row {
    int n;
    double coefs[TAL_MAX_RK_STAGES];
    const double *k[TAL_MAX_RK_STAGES];
} tali_row;

/// A tableau as steps use it.
typedef struct tali_rk_plan {
    int stages;                     // to run: not those that only an unwanted error estimate needs
    bool is_at_end;                 // the last of them is the end of the step
    tali_row at[TAL_MAX_RK_STAGES]; // each stage from those before it
    tali_row end;                   // of the step
    tali_row error;                 // of the step, when it is controlled
} tali_rk_plan;

/// A one-step method, run by the loop in step_loop.c.
typedef struct tali_method {
    int num_stages;  // vectors as long as y that it needs; the first holds the rates at y0
    int error_power; // the estimated error of a step goes with this power of h

    /// Prepare for steps, once the workspace is there; NULL: nothing to prepare.
    void (*prepare)(tal_integrator *integ);
    /// Keep more of the start of a step than t0, y0 and its rates; NULL: that is all it needs.
    tal_status (*begin)(tal_integrator *integ, const tal_state *state);
    /// A step from t0 to t1. On success the State stands at t1, and `norm` is that of the weighted
    /// error; 0 when steps are fixed. The end of the step is left to tali_end_step().
    tal_status (*try_step)(tal_integrator *integ, tal_state *state, double t1, double *norm);
} tali_method;

/// A family of methods: how steps are taken, and what is known between their ends. The one-step
/// methods are one; each solver of SUNDIALS is another, with its memory in `engine`.
typedef struct tali_family {
    bool is_one_step; // a step needs nothing of those before it but its size
    /// Take all memory the family will need; NULL: the integrator's workspace is enough. On failure
    /// nothing is left behind.
    tal_status (*create)(tal_integrator *integ, tal_error *err);
    void (*destroy)(tal_integrator *integ);
    /// The next step does not go on from the last one: forget what was kept of steps before. NULL:
    /// nothing is.
    void (*restart)(tal_integrator *integ);
    /// One accepted step that does not pass t_end, from a State that is consistent. Sets t0, y0. On
    /// success the State is prescribed, projected and relaxed; on failure it stands at the start.
    tal_status (*step)(tal_integrator *integ, tal_state *state, double t_end);
    /// y at a time within the last step, as the method knows it.
    tal_status (*dense)(tal_integrator *integ, double t, int ny, double y[]);
    /// Move the State to a time within the last step, as if the step had ended there.
    tal_status (*back_up)(tal_integrator *integ, tal_state *state, double t);
} tali_family;

/// Evaluations that ended in a NaN or infinity, lately.
typedef struct tali_bad {
    uint64_t count;
    uint64_t first;      // realizations before the first of them
    uint64_t good_steps; // since the last of them
} tali_bad;

struct tal_integrator {
    const tal_system *system;
    const tal_matter *matter;      // NULL when the System has none
    bool only_matter_settles;      // prescribes, projects and relaxes
    tal_group_ix q_group, u_group; // matter's
    tal_allocator allocator;
    tal_integrator_def def;
    const tali_family *family;
    void *engine;       // the family's own
    tali_method method; // of the one-step family
    tali_rk_plan rk;    // of TAL_METHOD_RUNGE_KUTTA
    tal_project_options projection;
    double step_accuracy; // what the error of a step is held to: a part of the accuracy

    // workspace, in one block
    void *block;
    size_t block_bytes;
    size_t stride;           // doubles from one stage to the next
    double *y0, *y1, *ydot1; // start and end of the last step
    double *error, *weighed; // estimated error; free between trial steps
    double *zero;            // nothing else is in it
    double *k;               // stages of the method
    double *stabilizer;      // of baumgarte.c

    // where the run stands
    double t0, t1;        // [s] start and end of the last step
    bool is_starting;     // the State is being made consistent, by projection in any case
    bool has_step;        // y0 ... k belong to a step that can be interpolated
    bool is_settled;      // a State at t1, y1 is prescribed, projected and relaxed
    bool is_cut;          // nothing is kept of steps before: a run can be resumed from here
    double h_next;        // 0: to be chosen
    tal_rows_margin rows; // of the constraints, at the start of the step
    double clearest;      // largest share of such rows since the run began
    double tolerance;     // of the step's error: step_accuracy, or what round-off leaves of it
    bool is_free;         // within a step: nothing is prescribed or relaxed
    bool is_open;         // within a step: is_free, and nothing is projected or normalized
    long steps_left;
    tali_bad bad;
    tali_worst worst; // of the last error test
    tal_error error_record;
    tal_integrator_stats stats;
};

static inline double *tali_stage(const tal_integrator *integ, int i)
{
    return integ->k + (size_t)i * integ->stride;
}

static inline bool tali_is_controlled(const tal_integrator *integ)
{
    return integ->def.fixed_step == 0.0;
}

/// E = min(W, 1/|y|), or W when the accuracy is absolute (manual eq. 9.3).
static inline double tali_weight(double W, double y, bool absolute)
{
    const double size = y < 0.0 ? -y : y;
    return absolute || size * W <= 1.0 ? W : 1.0 / size;
}

// --- families and methods ---

const tali_family *tali_one_step_family(void);
const tali_family *tali_cvode_family(void);
const tali_family *tali_ida_family(void);
const tali_family *tali_arkode_family(void);
tal_status tali_one_step_dense(tal_integrator *integ, double t, int ny, double y[]);

tali_method tali_runge_kutta(const tal_rk_tableau *tableau);
tali_method tali_semi_explicit_euler(void);
tali_method tali_verlet(void);

/// Is the last stage of a tableau the end of the step?
bool tali_ends_at_last_stage(const tal_rk_tableau *rk);

// --- advance.c, interpolate.c ---

/// One more trial step, if max_steps allows it.
tal_status tali_spend_step(tal_integrator *integ, double t0, double t_end);

/// Put y at a time within the last step into the State, prescribed, projected and relaxed.
tal_status tali_put_dense(tal_integrator *integ, tal_state *state, double t);

// --- integrator_save.c ---

/// Did this integrator, or one like it, write these bytes? Otherwise TAL_ERR_FILE.
tal_status tali_integrator_check(tal_integrator *integ, const void *bytes, size_t size);

// --- step_loop.c: what families share ---

/// The least step that t can resolve, with some bits to spare.
double tali_resolved_step(const tal_integrator *integ, double t);

/// The least step worth taking: that one, or the def's.
double tali_least_step(const tal_integrator *integ, double t);

/// A fixed step that t cannot resolve would go on for ever.
tal_status tali_check_fixed_step(tal_integrator *integ, double t0);

/// Where a step of about `h` ends. A remainder that is a step up to round-off is the step; so times
/// add up to t_end exactly.
double tali_end_of_step(double t0, double h, double t_end);

/// A failure that a smaller step may avoid.
bool tali_may_retry(tal_status st);

/// One more evaluation was not finite. False: it is the last that a run may have; shorter steps do
/// not help.
bool tali_forgive(tal_integrator *integ);

/// One more step was good: after some of them evaluations that were not finite are forgotten.
void tali_forget(tal_integrator *integ);

// --- rank_loss.c: steps near configurations in which constraints lose rank ---

/// At the start of a step: what its error is held to, and whether its end is projected in any case.
tal_status tali_see_what_is_resolved(tal_integrator *integ, tal_state *state);

/// Did the step begin near such a configuration?
bool tali_is_near_rank_loss(const tal_integrator *integ);

enum {
    TALI_MOST_SHORTENED = 4 // tries to end a step elsewhere
};

/// Is the end of the step twice as close to losing rank as its start, and so close that it matters?
bool tali_ends_too_close(tal_integrator *integ, tal_state *state);

/// The variable in `worst` would need a step below `h`.
tal_status tali_step_too_small(tal_integrator *integ, const tal_state *state, double t, double h);

/// Put the State back to the start of a step that failed. The integrator's record stays.
void tali_leave_at_start(tal_integrator *integ, tal_state *state);

// --- trial.c: what methods do to the State ---

/// out = y0 + h sum coefs_j k_j. False when a number in it is not finite.
bool tali_combine(const double y0[], double h, const tali_row *row, int ny, double out[]);

/// The failure of a call on the State, in the State's words.
tal_status tali_pass_on(tal_integrator *integ, const tal_state *state, tal_status st);

/// Put t and y into the State. Values that are not finite are refused by name.
tal_status tali_put(tal_integrator *integ, tal_state *state, double t, const double y[]);

/// Put t and y0 + h sum coefs_j k_j into the State. As tali_put().
tal_status tali_put_sum(tal_integrator *integ, tal_state *state, double t, double h,
                        const tali_row *row);

/// Put the u and z of y into the State, and prescribe u. Needs Position. As tali_put().
tal_status tali_put_uz(tal_integrator *integ, tal_state *state, const double y[]);

/// A stage: prescribed and relaxed, not projected. Quaternions of the last stage of a method whose
/// last stage is the end of the step (`is_last`) are normalized.
tal_status tali_settle_stage(tal_integrator *integ, tal_state *state, bool is_last);

/// Prescribe and project q, with quaternions normalized. `q_error` (or NULL) as in tali_project().
tal_status tali_project_q(tal_integrator *integ, tal_state *state, double q_error[]);

/// Prescribe and project q and u. The part of the error that projection removes is taken out of
/// `error` ({q, u, ...}, or NULL).
tal_status tali_project(tal_integrator *integ, tal_state *state, double error[]);

tal_status tali_settle_relaxed(tal_integrator *integ, tal_state *state);

/// ydot of the State; every number in it is finite. Free when it is realized already.
tal_status tali_evaluate(tal_integrator *integ, tal_state *state, double ydot[]);

/// The end of a trial step that stands in the State, with its error in `integ->error`: prescribed,
/// projected, tested and, if the error is small enough, relaxed.
tal_status tali_end_step(tal_integrator *integ, tal_state *state, double *norm);

// --- baumgarte.c ---

/// Doubles it needs.
size_t tali_baumgarte_size(const tal_integrator *integ);

/// Add to ydot what stabilization asks for, if it is wanted. Needs TAL_STAGE_ACCELERATION.
tal_status tali_stabilize(tal_integrator *integ, tal_state *state, double ydot[]);

// --- error_norm.c ---

/// Norm of the weighted error in `integ->error` (manual sec. 9.1): the largest of those of q, u
/// and z; q, u, z are weighed at `y0`. Sets `integ->worst`.
double tali_error_norm(tal_integrator *integ, tal_state *state);

/// A variable in words, e.g. "speed 0 of body 'shank'".
void tali_name_variable(const tal_integrator *integ, const tal_state *state, tal_pool pool,
                        int slot, char text[], size_t size);

#endif // TALUS_INTEGRATOR_INTERNAL_H
