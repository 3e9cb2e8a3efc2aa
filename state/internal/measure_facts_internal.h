// What a built-in measure was declared with, for writing model files.
#ifndef TALUS_MEASURE_FACTS_INTERNAL_H
#define TALUS_MEASURE_FACTS_INTERNAL_H

#include <talus/state/measure.h>

/// Facts of a built-in measure. Fields that a kind does not have are zero, or `i` < 0.
typedef struct tali_measure_facts {
    tal_measure_ix operands[2];
    double numbers[3];     ///< sinusoid: a, w, p; scale: factor; delay: delay; hold: period, t0
    const double *values;  ///< of a constant, borrowed
    tal_var_ix variable;   ///< a variable's values; a hold's, behind one more number
    tal_group_ix z;        ///< an integral's values
    tal_stage invalidates; ///< variable, hold
    tal_extreme which;
    int capacity;                 ///< of a delay
    const tal_function *function; ///< borrowed
} tali_measure_facts;

/// False for a user-defined measure, and for a result.
bool tali_measure_facts_of(const tal_system *system, tal_measure_ix measure,
                           tali_measure_facts *facts);

/// The `self` of a measure that was declared with this table; NULL for another one.
const void *tali_measure_self_as(const tal_system *system, tal_measure_ix measure,
                                 const tal_measure_ops *ops);

#endif // TALUS_MEASURE_FACTS_INTERNAL_H
