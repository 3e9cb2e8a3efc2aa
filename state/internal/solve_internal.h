// What solvers of a layer above may ask of a System.
#ifndef TALUS_SOLVE_INTERNAL_H
#define TALUS_SOLVE_INTERNAL_H

#include <talus/state/state.h>
#include <talus/state/system.h>

/// Does no subsystem but this one have a function that prescribes, projects or relaxes? Needs a topology.
bool tali_only_this_settles(const tal_system *system, tal_subsystem_ix subsystem);

/// Set t, and get all of y to be written: tal_state_set_t() and tal_state_upd_y() in one. NULL when
/// one of them would fail, with the failure in the State.
double *tali_state_upd_ty(tal_state *state, double t);

#endif // TALUS_SOLVE_INTERNAL_H
