// What the built-in kinds of measures share. They see the public headers and this, nothing else.
#ifndef TALUS_MEASURE_KINDS_H
#define TALUS_MEASURE_KINDS_H

#include "measure_facts_internal.h"

#include <talus/state/measure.h>

#include <stdio.h>

/// True when all n values are finite; otherwise the System remembers the failure.
bool tali_measure_check_values(tal_system *system, const char *kind, const char *name,
                               const double values[], int n);

/// Declare a measure of one operand; `self` is copied.
static inline tal_measure_ix tali_measure_add_unary(tal_system *system, tal_subsystem_ix owner,
                                                    const tal_measure_ops *ops, const char *name,
                                                    tal_measure_ix operand, const void *self,
                                                    size_t self_size)
{
    tal_measure_def def = tal_measure_def_default();
    def.name = name;
    def.operands = &operand;
    def.num_operands = 1;
    def.self = self;
    def.self_size = self_size;
    return tal_system_add_measure(system, owner, ops, &def);
}

/// "<measure>.<part>" in `name`, which is returned.
static inline const char *tali_measure_part(char name[TAL_MAX_NAME + 1],
                                            const tal_measure_site *site, const char *part)
{
    (void)snprintf(name, TAL_MAX_NAME + 1, "%.*s.%s", TAL_MAX_MEASURE_NAME, site->name, part);
    return name;
}

/// Declare the auto-update variable that holds samples of the first `orders` derivatives of
/// `operand`, its value being the first: `size` bytes of zeros, which mean that there are none.
tal_var_ix tali_measure_add_history(tal_system *system, const tal_measure_site *site, size_t size,
                                    tal_calc_fn update, const void *self, tal_measure_ix operand,
                                    int orders);

/// A value that is read off the history's update value.
void tali_measure_needs_history(tal_measure_needs *needs, const tal_system *system,
                                tal_var_ix history, tal_measure_ix operand);

/// Forget all samples.
tal_status tali_measure_clear_history(const tal_system *system, tal_state *state,
                                      tal_var_ix history, size_t size);

/// An operand's present values for a sample of `measure`; NULL after a recorded failure: they could
/// not be computed, or are not finite and would stay in the history.
const double *tali_measure_sample_operand(const tal_system *system, tal_state *state,
                                          tal_measure_ix measure, tal_measure_ix operand,
                                          int order);

/// @name Facts of the measures in each file. False, and nothing written, for a table of another.
/// @{
bool tali_measure_basic_facts(const tal_measure_ops *table, const void *self,
                              tali_measure_facts *facts);
bool tali_measure_composed_facts(const tal_measure_ops *table, const void *self,
                                 tali_measure_facts *facts);
bool tali_measure_differentiate_facts(const tal_measure_ops *table, const void *self,
                                      tali_measure_facts *facts);
bool tali_measure_extreme_facts(const tal_measure_ops *table, const void *self,
                                tali_measure_facts *facts);
bool tali_measure_delay_facts(const tal_measure_ops *table, const void *self,
                              tali_measure_facts *facts);
bool tali_measure_hold_facts(const tal_measure_ops *table, const void *self,
                             tali_measure_facts *facts);
/// @}

#endif // TALUS_MEASURE_KINDS_H
