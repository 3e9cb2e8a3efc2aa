// What a layer above may do while a System is built.
#ifndef TALUS_BUILD_INTERNAL_H
#define TALUS_BUILD_INTERNAL_H

#include <talus/state/system.h>

/// Keep the calling thread's last breach as the failure of a System that is being built: an `add`
/// call that could not be heeded must not leave a model without what it should have added.
/// Nothing when the topology is realized, or when an earlier failure is kept.
void tali_system_keep_breach(tal_system *system);

/// Slots of a pool that are declared so far, at their largest: for a subsystem that comes behind
/// others and declares as many of its own.
int tali_system_declared_slots(const tal_system *system, tal_pool pool);

#endif // TALUS_BUILD_INTERNAL_H
