// What studies share: which Systems they take, why a call on a State failed, and Jacobians without noise.
#ifndef TALUS_STUDY_INTERNAL_H
#define TALUS_STUDY_INTERNAL_H

#include "error_internal.h"

#include <talus/matter.h>

#include <math.h>

/// TAL_OK if a System has matter and its topology.
static inline tal_status tali_check_has_matter(const tal_system *system, tal_error *err)
{
    if (system == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the System is NULL");
    if (tal_system_has_topology(system) && tal_system_matter(system) != NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_TOPOLOGY, "System '%s' needs matter and a realized topology",
                     tal_system_name(system));
}

/// The State's own sentence if it has one, otherwise what the status means. Borrowed.
static inline const char *tali_reason(const tal_state *state, tal_status st)
{
    const tal_error *why = tal_state_error(state);
    return why->status != TAL_OK ? why->message : tal_status_text(st);
}

/// What cancels in a constraint, as where a locked joint does what the constraint asks for, is zero and not what
/// round-off leaves of it: among nothing but such leavings a rank would be found. `G` has n packed numbers, those
/// of known speeds included, whose size tells what is small.
static inline void tali_drop_noise(double G[], size_t n)
{
    double largest = 0.0;
    for (size_t i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(G[i]));
    }
    for (size_t i = 0; i < n; ++i) {
        if (fabs(G[i]) <= 1e-13 * largest) G[i] = 0.0;
    }
}

#endif // TALUS_STUDY_INTERNAL_H
