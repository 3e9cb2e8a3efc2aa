// What studies share: which Systems they take, and why a call on a State failed.
#ifndef TALUS_STUDY_INTERNAL_H
#define TALUS_STUDY_INTERNAL_H

#include "error_internal.h"

#include <talus/matter.h>

/// TAL_OK if a System has its topology.
static inline tal_status tali_problem_check_system(const tal_system *system, tal_error *err)
{
    if (system == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the System is NULL");
    if (tal_system_has_topology(system)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_TOPOLOGY, "realize the topology of System '%s' first",
                     tal_system_name(system));
}

/// TAL_OK if a System has matter and its topology.
static inline tal_status tali_problem_check_has_matter(const tal_system *system, tal_error *err)
{
    if (system == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the System is NULL");
    if (tal_system_has_topology(system) && tal_system_matter(system) != NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_TOPOLOGY, "System '%s' needs matter and a realized topology",
                     tal_system_name(system));
}

/// The State's own sentence if it has one, otherwise what the status means. Borrowed.
static inline const char *tali_problem_reason(const tal_state *state, tal_status st)
{
    const tal_error *why = tal_state_error(state);
    return why->status != TAL_OK ? why->message : tal_status_text(st);
}

/// Where the speeds of matter begin among those of the State.
static inline int tali_problem_u_start(const tal_system *system, const tal_state *state,
                                       const tal_matter *matter)
{
    const tal_subsystem_ix owner = tal_matter_subsystem(matter);
    return tal_group_start(system, state, tal_system_find_group(system, owner, TAL_POOL_U, "u"));
}

#endif // TALUS_STUDY_INTERNAL_H
