// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STATE_H
#define TALUS_STATE_H

/**
 * @file talus/state.h
 * @brief Layer 1: Systems, States, and the stages that connect them. No mechanics here.
 *
 * A ::tal_system is the *structure* of a model; a ::tal_state is one set of *values* for it.
 * Build the System, realize its topology once, and from then on treat it as `const`: any number of
 * threads may share one System, each working on its own State.
 *
 *     tal_system_realize_topology(system, &err);  // lays out memory; the System is const from here
 *     tal_state_create(system, &state, &err);     // takes that memory: the last allocation
 *     tal_state_set_u(state, u, nu);              // drops the State below the Velocity stage
 *     tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
 *
 * Setting a variable invalidates its stage and every later one; realizing computes only what is
 * missing. doc/concepts.md explains all of this.
 */

#include <talus/state/measure.h>
#include <talus/state/realize.h>
#include <talus/state/stage.h>
#include <talus/state/state.h>
#include <talus/state/system.h>

#endif // TALUS_STATE_H
