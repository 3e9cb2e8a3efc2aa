// Sensitivities: the study as a struct, and what its files share.
//
// A parameter p is moved in units of its size, so that one direction is (y', 1) in (y, p) and no
// part of it is far larger than the others.
#ifndef TALUS_SENSITIVITY_INTERNAL_H
#define TALUS_SENSITIVITY_INTERNAL_H

#include "problem/problem_internal.h"

#include <talus/study/sensitivity.h>

enum {
    TALI_SENSITIVITY_NO_PARAMETER = -1
};

/// A step as it was taken.
typedef struct tali_sensitivity_step {
    double t, taken; // [s] where it began, its length
    double planned;  // [s] unless an event, or the end of a call, came first
    bool is_cut;     // it was to end where the call does, or at an appointment
} tali_sensitivity_step;

/// An event as it happened.
typedef struct tali_sensitivity_event {
    tal_event_cause cause;
    const tal_event_ix *list; // [num]
    int num;
    int after;   // steps before it
    double t;    // [s]
    double rate; // of the witness along the motion: e_t + e_y f-; 0: it is scheduled
} tali_sensitivity_event;

/// A witness that is watched.
typedef struct tali_sensitivity_watch {
    tal_event_def def;
    tal_stage stage;  // TAL_STAGE_EMPTY: it has none
    int side;         // its sign; 0: it is not watched, or not known yet
    double w0, w1;    // at both ends of the step
    double span;      // how large it has been in the step in which it crossed last
    bool has_crossed; // in this step, in a direction that counts
} tali_sensitivity_watch;

struct tal_sensitivity {
    tali_problem problem;
    tali_problem_slopes slopes;
    tal_sensitivity_def def;   // its parameters are those below
    tal_parameter *parameters; // [np]
    int np, ny, num_events;
    const tal_rk_tableau *tableau;
    uint64_t realizations;
    tal_sensitivity_stats stats;
    tal_state *moved;  // where differences are taken
    tal_state *before; // as an event finds it
    tal_state *trial;  // with gradients: goes through the run once more
    tal_state *start;  // with gradients: before it is settled
    tal_state **kept;  // [num_kept] with gradients: at the start, and as events left it
    int num_kept;

    // what is read at the end
    tal_status (*read)(void *context, const tal_system *system, tal_state *state, double numbers[]);
    void *read_context;

    // the run
    bool has_run, has_ended, has_slopes;
    bool is_recording;     // y is kept, and S is not wanted
    bool needs_projection; // constraints, quaternions, or what is prescribed
    double h;              // [s] the next step, as the error allows
    double t_done;         // [s] appointments up to here are kept
    int num_steps;
    int num_happened;
    const tali_sensitivity_event *happening; // whose handlers are called at moved States
    int probe;                               // watch whose witness is read at moved States

    void *block;
    size_t block_bytes;
    double *values, *scales;             // [np]
    bool *is_start;                      // [np] rates do not depend on it
    bool *known_u;                       // [nu]
    double *e;                           // [ny] for tali_problem_scale, not used
    double *y0, *Y, *room, *sum, *along; // [ny]
    double *error, *weighed;             // [ny]
    double *f0, *f1;                     // [ny] rates before and after an event
    double *end;                         // [ny] of the step
    double *k;                           // [stages][ny]
    double *S;                           // [np][ny] scaled
    double *S_out;                       // [np][ny] in the units of parameters
    double *kS;                          // [stages][np][ny]
    double *J;                           // [ny][ny]
    double **columns;                    // [ny] of J
    double *end_slopes;                  // [np] dt/dp of the end, scaled
    tali_sensitivity_watch *watches;     // [num_events]
    tali_sensitivity_step *steps;        // [max_steps] if they are recorded
    tali_sensitivity_event *events;      // [max_events]
    tal_event_ix *lists;                 // [max_events][num_events] with gradients, otherwise one

    // with gradients
    double *y_of;               // [max_steps][ny] where steps began
    double *Y_of, *w_of;        // [stages][ny] of one step
    double *lambda, *lambda_of; // [ny]
    double *unit;               // [ny]
};

// --- sensitivity_move.c: differences along (y, p) ---

/// Differences (4 D(h/2) - D(h)) / 3 with the central difference D, off by h^4 and by 3 eps / h.
enum {
    TALI_SENSITIVITY_POINTS = 4
};

extern const double tali_sensitivity_h;
extern const double tali_sensitivity_at[TALI_SENSITIVITY_POINTS];
extern const double tali_sensitivity_weight[TALI_SENSITIVITY_POINTS];

/// By how much to move along a direction of n numbers (NULL: none).
double tali_sensitivity_step_along(const double along[], int n);

tal_status tali_sensitivity_set_parameter(tal_sensitivity *it, tal_state *state, int p,
                                          double value);

/// As near to the constraints as round-off lets it come.
tal_status tali_sensitivity_project(tal_sensitivity *it, tal_state *state);

/// What is found at a moved State: [ny] numbers.
typedef tal_status (*tali_sensitivity_value_fn)(tal_sensitivity *it, tal_state *state, double t,
                                                const double y[], double out[]);

tal_status tali_sensitivity_find_rates(tal_sensitivity *it, tal_state *state, double t,
                                       const double y[], double out[]);
tal_status tali_sensitivity_find_projected(tal_sensitivity *it, tal_state *state, double t,
                                           const double y[], double out[]);

/// What `read` tells, at Acceleration.
tal_status tali_sensitivity_find_numbers(tal_sensitivity *it, tal_state *state, double t,
                                         const double y[], double out[]);

/// A place, and a direction there: (dt, `along`), and p unless only the start depends on it.
typedef struct tali_sensitivity_line {
    const tal_state *state; // with all else
    double t, dt;           // [s]
    const double *y;        // [ny]
    const double *along;    // [ny] NULL: y stays
    int p;                  // TALI_SENSITIVITY_NO_PARAMETER: none
} tali_sensitivity_line;

/// The change of n numbers along a line. @param[out] room [n] @param[out] out [n]
tal_status tali_sensitivity_difference(tal_sensitivity *it, const tali_sensitivity_line *line,
                                       tali_sensitivity_value_fn value, int n, double room[],
                                       double out[]);

// --- sensitivity_step.c ---

/// y0 + h sum_j w_j k_j over the first n stages, whose numbers are `stride` apart.
void tali_sensitivity_combine(const double y0[], double h, const double w[], int n,
                              const double k[], size_t stride, int ny, double out[]);

/// J at Y into the columns; false where it must be differenced. The State may be left elsewhere.
bool tali_sensitivity_jacobian(tal_sensitivity *it, tal_state *state, double t, const double Y[]);

/// One step of y from where the State is, into `end`, projected; `norm` (or NULL) is that of its
/// error over the accuracy. Stages stay in Y_of and k.
tal_status tali_sensitivity_try(tal_sensitivity *it, tal_state *state, double t, double h,
                                double *norm);

/// The same step of S.
tal_status tali_sensitivity_move_slopes(tal_sensitivity *it, tal_state *state, double t, double h);

// --- sensitivity_event.c ---

/// Project the start, and call the handlers that ask for it.
tal_status tali_sensitivity_settle_start(tal_sensitivity *it, tal_state *state);

/// Begin to watch, from a State at which handlers may have been.
tal_status tali_sensitivity_watch_begin(tal_sensitivity *it, tal_state *state);

/// Where witnesses are after a step without an event.
void tali_sensitivity_watch_on(tal_sensitivity *it);

/// The first appointment after those that were kept; infinity when there is none.
double tali_sensitivity_next_appointment(const tal_sensitivity *it, const tal_state *state);

/// After a trial step from t0 to t0 + *h, where the State is: make it end at the first crossing
/// within it, if there is one. `has_crossed` of the watches tells which events happen then.
tal_status tali_sensitivity_find_crossing(tal_sensitivity *it, tal_state *state, double t0,
                                          double *h, bool *has_event);

/// What happens where the State is. S jumps with it.
tal_status tali_sensitivity_handle(tal_sensitivity *it, tal_state *state, tal_event_cause cause);

/// With the State `before` an event and f0, and the rates f1 after it: how y after it changes along
/// (`along`, p), at a fixed time, and how the time of the event does.
/// @param[in] along  [ny] @param[out] out  [ny] may be `along`
tal_status tali_sensitivity_jump(tal_sensitivity *it, const tali_sensitivity_event *event,
                                 const double along[], int p, double out[], double *dt);

// --- sensitivity.c ---

/// Set the parameters and the start; what is recorded begins anew. The State without the start's
/// projection and handlers stays in `before`.
tal_status tali_sensitivity_start(tal_sensitivity *it, tal_state *state, const double values[]);

/// How y at the start changes with a parameter, from the State before it was settled.
/// @param[out] out  [ny]
tal_status tali_sensitivity_start_slopes(tal_sensitivity *it, const tal_state *state, int p,
                                         double out[]);

/// Whether steps have to project, and which speeds are known: an event may change both.
void tali_sensitivity_look(tal_sensitivity *it, const tal_state *state);

/// Steps to a time.
tal_status tali_sensitivity_go(tal_sensitivity *it, tal_state *state, double end_time);

tal_status tali_sensitivity_check_run(tal_sensitivity *it, const tal_state *state,
                                      const double values[], double end_time);

/// A breach unless it is a measure of one number.
tal_status tali_sensitivity_check_measure(const tal_sensitivity *it, tal_measure_ix measure);

/// Let tali_sensitivity_find_numbers() read a measure, which is borrowed.
void tali_sensitivity_read_measure(tal_sensitivity *it, tal_measure_ix *measure);

#endif // TALUS_SENSITIVITY_INTERNAL_H
