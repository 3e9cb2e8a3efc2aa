// What the parts of optimal control share.
//
// Unknowns: for each node q, u, z, a = udot and controls, one node after the other; then the time
// of the end. Rows: for each node ID(q, u, a) - forces; for each interval those of the method; then
// periods; then for each limit one of every node.
#ifndef TALUS_OPTIMIZER_INTERNAL_H
#define TALUS_OPTIMIZER_INTERNAL_H

#include <talus/study/optimizer.h>

#include <stdbool.h>

/// A range of unknown `slot` of a node; `kind` says which of its parts.
typedef struct tali_optimize_bound {
    enum {
        TALI_OPTIMIZE_Q,
        TALI_OPTIMIZE_U,
        TALI_OPTIMIZE_Z,
        TALI_OPTIMIZE_C
    } kind;

    tal_body_ix body;
    int i; // coordinate or speed of the body; z of the State; control
    tal_optimizer_where where;
    double low, high;
} tali_optimize_bound;

/// A coordinate at the end that is what another is where the motion begins.
typedef struct tali_optimize_period {
    tal_body_ix body[2]; // at the end, at the start
    int i[2];
    double sign;
} tali_optimize_period;

/// One goal.
typedef struct tali_optimize_goal {
    enum {
        TALI_OPTIMIZE_EFFORT,
        TALI_OPTIMIZE_TIME,
        TALI_OPTIMIZE_TRACK,
        TALI_OPTIMIZE_OWN
    } kind;

    double weight, power;
    bool at_end;
    tal_body_ix body;
    int i;
    const tal_function *wanted;
    tal_optimizer_goal_ops ops;
    const void *self;
} tali_optimize_goal;

/// A range of a number at all nodes.
typedef struct tali_optimize_limit {
    tal_optimizer_goal_ops ops;
    const void *self;
    double low, high;
} tali_optimize_limit;

/// Parts of the unknowns of one node.
typedef struct tali_optimize_node {
    const double *q, *u, *z, *a, *c;
} tali_optimize_node;

/// What is known at a node: y' = f = {N u, a, zdot}, what forces lack, and derivatives by the
/// unknowns of the node, column-major; by_t only where time counts.
typedef struct tali_optimize_values {
    double *f, *lack;       // [ny], [nu]
    double *f_by, *lack_by; // [ny x size], [nu x size]
    double *f_by_t, *lack_by_t;
    double cost, cost_by_t; // of what is integrated
    double *cost_by;        // [size]
} tali_optimize_values;

struct tal_optimizer {
    const tal_system *system;
    const tal_matter *matter;
    const tal_forces *forces;
    tal_allocator allocator;
    tal_optimizer_def def;
    tal_force_ix *actuators; // [nc], with room for max_actuators
    int nc, max_actuators;

    double start, least_end, largest_end;
    tali_optimize_bound *bounds;
    tali_optimize_period *periods;
    tali_optimize_goal *goals;
    tali_optimize_limit *limits;
    int num_bounds, num_periods, num_goals, num_limits;
    int bounds_capacity, periods_capacity, goals_capacity, limits_capacity;
    tal_error mistake; // the first one in the calls above

    // from here on: the present run
    tal_state *state, *scratch; // moved about
    int nq, nu, nz, ny;
    int size;                  // unknowns of a node
    int num_nodes, num_stages; // stages of an interval: nodes within it
    int num_unknowns, num_rows;
    bool has_time;         // the end is free, and forces or goals depend on time
    double *x;             // [num_unknowns] the answer
    double *f;             // [num_nodes][ny] y' there
    double *lower, *upper; // [num_unknowns] in units, while the program is solved
    double *unit, *shares; // [num_unknowns] the answer in units
    tal_nlp program;       // without units
    int *J_row, *J_col, *H_row, *H_col;
    int num_J, num_H;
    bool *is_plain;                   // [nq + nu] coordinates and speeds of bodies with qdot = u
    bool *couples;                    // [ny x size] where f_by may differ from zero
    tali_optimize_values values;      // of one node
    tali_optimize_values plus;        // of a node nearby
    double *moved, *moved_node;       // [size] unknowns nearby
    double *gradient, *gradient_plus; // [size]; [size + nu]
    double *gradient_plus_of_node;    // [size]
    double *mu;                       // [ny + nu + num_limits] multipliers of one node's rows
    double *limit_by;                 // [size] slopes of a limit
    double *row_lower, *row_upper;    // [num_rows]
    double *columns, *columns_q;      // [nu x nu], [nu x nq]
    double *direction, *work;         // [nu], of derivatives of forces
    tal_spatial_vec *F_GB;            // [num_bodies]
    double *f_applied;                // [nu]
    tal_nlp_solver *solver;
    void *block, *couples_block;
    size_t block_bytes, couples_bytes;
    double end; // of the last answer; NaN: there is none
    tal_error error_record;
};

/// @name One node
/// @{

/// The parts of the unknowns of a node.
tali_optimize_node tali_optimize_node_of(const tal_optimizer *it, const double x[]);

/// Time of node k for an end of the motion.
double tali_optimize_time_at(const tal_optimizer *it, int k, double end);

/// t, q, u, z and controls into a State.
tal_status tali_optimize_put(const tal_optimizer *it, tal_state *state, double t, const double x[]);

/// f, lack and the cost at a node.
tal_status tali_optimize_calc_values(tal_optimizer *it, double t, const double x[],
                                     tali_optimize_values *out);

/// Their derivatives as well.
tal_status tali_optimize_calc_slopes(tal_optimizer *it, double t, const double x[],
                                     tali_optimize_values *out);
/// @}

/// @name Goals
/// @{

/// What is integrated, or what counts at the end; the State is at TAL_STAGE_DYNAMICS.
tal_status tali_optimize_calc_cost(tal_optimizer *it, double t, const double x[], bool at_end,
                                   double *cost);

/// Its slopes by the unknowns of a node, and by time. The State is moved.
tal_status tali_optimize_calc_cost_slopes(tal_optimizer *it, double t, const double x[],
                                          bool at_end, double by[], double *by_t);

/// Derivative of the goals by the end itself.
double tali_optimize_cost_of_time(const tal_optimizer *it);
/// @}

/// @name Limits
/// @{

/// The number of a limit at a node.
tal_status tali_optimize_calc_limit(tal_optimizer *it, int limit, double t, const double x[],
                                    double *value);

/// Its slopes by the unknowns of the node, and by time where that counts. The State is moved.
tal_status tali_optimize_limit_slopes(tal_optimizer *it, int limit, double t, const double x[],
                                      double by[], double *by_t);
/// @}

/// @name The nonlinear program
/// @{

/// Sizes, memory, bounds and places of entries, for a State at TAL_STAGE_INSTANCE.
tal_status tali_optimize_set_up(tal_optimizer *it);

/// Functions of the program on it, for a solver.
tal_nlp tali_optimize_program(tal_optimizer *it);

/// Solve it, in units, from `x` on; the answer is written there.
tal_status tali_optimize_solve(tal_optimizer *it, const tal_nlp_options *options,
                               tal_nlp_report *report, tal_error *err);

/// What a row says, for sentences.
void tali_optimize_name_row(const tal_optimizer *it, int row, char text[], size_t size);
/// @}

/// @name The answer
/// @{

/// The unknowns of a node at any time of the motion.
void tali_optimize_interpolate(const tal_optimizer *it, double t, double x[]);

/// y' at the nodes of the answer.
void tali_optimize_keep_rates(tal_optimizer *it);

/// How far a simulation with the controls of the answer ends from it; NaN: it cannot be done.
double tali_optimize_simulate(tal_optimizer *it);
/// @}

/// The weight of node k in integrals over the whole motion, for an interval of length h.
double tali_optimize_weight_of(const tal_optimizer *it, int k, double h);

/// Row `part` of the method: alpha y - h beta f, summed over the stages of an interval, is zero.
typedef struct tali_optimize_rule {
    int num_stages, num_parts;
    double alpha[2][3], beta[2][3];
} tali_optimize_rule;

const tali_optimize_rule *tali_optimize_rule_of(tal_collocation method);

#endif // TALUS_OPTIMIZER_INTERNAL_H
