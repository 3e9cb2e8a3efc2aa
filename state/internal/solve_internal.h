// Questions that solvers in the layers above ask of a System.
#ifndef TALUS_SOLVE_INTERNAL_H
#define TALUS_SOLVE_INTERNAL_H

#include <talus/state/state.h>
#include <talus/state/system.h>

/// True when no other subsystem prescribes, projects or relaxes. The topology must be realized.
bool tali_solve_only_this_settles(const tal_system *system, tal_subsystem_ix subsystem);

/// The first other subsystem than these that has a function for a stage between Time and
/// Acceleration, or that settles; `i` < 0: there is none.
tal_subsystem_ix tali_solve_other_that_acts(const tal_system *system,
                                            const tal_subsystem_ix these[], int n);

/// tal_state_set_t() and tal_state_upd_y() in one. NULL when one of them would fail, with the
/// failure in the State.
double *tali_state_upd_ty(tal_state *state, double t);

#endif // TALUS_SOLVE_INTERNAL_H
