// What solvers of a layer above may ask of a System.
#ifndef TALUS_SOLVE_INTERNAL_H
#define TALUS_SOLVE_INTERNAL_H

#include <talus/state/system.h>

/// Does no subsystem but this one have a function that prescribes, projects or relaxes? Needs a topology.
bool tali_only_this_settles(const tal_system *system, tal_subsystem_ix subsystem);

#endif // TALUS_SOLVE_INTERNAL_H
