// What bodies, constraints and motions were added with, for writing model files.
#ifndef TALUS_MATTER_FACTS_INTERNAL_H
#define TALUS_MATTER_FACTS_INTERNAL_H

#include <talus/matter/constraint.h>
#include <talus/matter/measures.h>
#include <talus/matter/prescribed.h>

/// Facts of a body besides its parameters in a State. Borrowed.
typedef struct tali_matter_body_facts {
    tal_body_structure structure;
    tal_direction direction;
    bool may_be_fast;
    bool any_inertia;
    const tal_mobilizer_ops *ops; ///< a copy of the table
    const void *self;
} tali_matter_body_facts;

tali_matter_body_facts tali_matter_body_facts_of(const tal_matter *matter, tal_body_ix body);

/// The values at which the mobilities of a body are locked in a State, where they are locked: nq
/// values at the position level, else nu. Borrowed.
const double *tali_matter_lock_values(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix body);

/// What a function-based mobilizer was created with; NULL for others. Borrowed.
const tal_function_based_def *tali_matter_function_based_facts(const tal_mobilizer_ops *ops,
                                                               const void *self);

/// Facts of a constraint besides its parameters in a State. Borrowed.
typedef struct tali_matter_constraint_facts {
    const char *kind;           ///< NULL for a user-defined constraint
    const int *bodies;          ///< [ops->num_bodies]
    const int *mobility_bodies; ///< [num_mobilities]
    const int *mobility_index;  ///< [num_mobilities] which of their speeds
    int num_mobilities;
    const tal_function *function;
    int num_speeds;                ///< of a speed coupler
    const tal_constraint_ops *ops; ///< a copy of the table
    const void *self;
} tali_matter_constraint_facts;

tali_matter_constraint_facts tali_matter_constraint_facts_of(const tal_matter *matter,
                                                             tal_constraint_ix constraint);

/// Facts of a motion besides its parameters in a State. Borrowed.
typedef struct tali_matter_motion_facts {
    const char *kind; ///< NULL for a user-defined motion
    tal_body_ix body;
    int mobility; ///< below zero: all
    tal_level level;
    tal_function *const *functions; ///< of time, [num_functions]
    int num_functions;
    const tal_motion_ops *ops; ///< a copy of the table
    const void *self;
} tali_matter_motion_facts;

tali_matter_motion_facts tali_matter_motion_facts_of(const tal_matter *matter,
                                                     tal_motion_ix motion);

/// Limits of a unilateral element. Borrowed.
typedef struct tali_matter_limit_facts {
    const double *polygon; ///< [2 num_corners]; NULL: none
    int num_corners;
    double halves[2]; ///< of edges; INFINITY: no ends
    bool has_function;
} tali_matter_limit_facts;

tali_matter_limit_facts tali_matter_limit_facts_of(const tal_matter *matter,
                                                   tal_unilateral_ix element);

/// What a measure of matter looks at. Fields that a kind does not have are zero.
typedef struct tali_matter_measure_facts {
    tal_body_ix bodies[2];
    tal_vec3 points[2]; ///< on these bodies; a station's second one is the direction
    int i;              ///< coordinate, speed, row
    tal_constraint_ix constraint;
    tal_unilateral_ix element;
    tal_unilateral_quantity quantity;
} tali_matter_measure_facts;

/// False for another measure.
bool tali_matter_measure_facts_of(const tal_system *system, tal_measure_ix measure,
                                  tali_matter_measure_facts *facts);

#endif // TALUS_MATTER_FACTS_INTERNAL_H
