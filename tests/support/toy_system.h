// A System without physics that has every kind of thing a State can hold.
//
// Three subsystems of one kind, registered in another order than they run in. Each has q, u, z of a
// size that a Model variable chooses, errors and triggers of a size that an Instance variable
// chooses, a variable for every stage, an auto-update variable, eager entries with and without a
// calc, and lazy entries that need each other.
#ifndef TALUS_TOY_SYSTEM_H
#define TALUS_TOY_SYSTEM_H

#include <talus/state.h>

enum {
    TOY_PARTS = 3,
    TOY_MAX_Q = 3, ///< capacity of each group of q, u, z
    TOY_MAX_M = 2, ///< capacity of each group of errors and triggers
    TOY_SCRATCH = 256
};

/// What one subsystem declared.
typedef struct toy_part {
    int number;
    int order;
    tal_subsystem_ix me;
    tal_group_ix q, u, z, qerr, uerr, udoterr;
    tal_group_ix triggers_time, triggers_velocity, triggers_report;
    tal_event_ix event;
    tal_var_ix nq;                   ///< int32_t, invalidates Model: size of q, u and z
    tal_var_ix m;                    ///< int32_t, invalidates Instance: size of errors, triggers
    tal_var_ix var[TAL_NUM_STAGES];  ///< double, invalidates that stage: Instance ... Report
    tal_var_ix mode;                 ///< double, allocated at Model, invalidates Position
    tal_var_ix peak;                 ///< double, auto-update: the largest q seen; Velocity
    tal_cache_ix by[TAL_NUM_STAGES]; ///< double, eager at that stage: Instance ... Report
    tal_cache_ix written;            ///< double[2], eager at Velocity, written by the owner
    tal_cache_ix of_q;               ///< lazy, Instance, needs q
    tal_cache_ix of_qu;              ///< lazy, Instance, needs of_q and u
    tal_cache_ix of_tz;              ///< lazy, Instance, needs t and z
    tal_cache_ix chain;              ///< lazy, Dynamics, needs of_qu, of_tz, var[Dynamics]
    tal_cache_ix of_var;             ///< lazy, Topology, needs var[Report]
    tal_cache_ix of_mode;            ///< lazy, Topology, needs nq and mode
    tal_cache_ix of_u;               ///< lazy, Topology, needs u
    tal_cache_ix of_stored;          ///< lazy, Topology, needs peak as it is stored
    tal_cache_ix of_peak;            ///< lazy, Position, needs the update of peak
} toy_part;

typedef struct toy {
    tal_system *system;
    toy_part part[TOY_PARTS];
    tal_cache_ix entry[64]; ///< all entries, to choose from
    int num_entries;
} toy;

/// Build the System, with its topology realized. False when that failed (no memory): the System is
/// destroyed then.
bool toy_build(toy *made, const tal_allocator *allocator);

/// A State of it, or NULL.
tal_state *toy_state(const toy *made);

/// Cover everything that can be read at the State's stage, entries realized, by one hash.
uint64_t toy_digest(const toy *made, tal_state *state);

/// Give every variable a value that depends on `seed`, choices included.
void toy_scramble(const toy *made, tal_state *state, uint64_t seed);

/// A stream of numbers that is the same everywhere (splitmix64).
uint64_t toy_random(uint64_t *stream);

/// The next number in [-1, 1), on a grid that makes ties happen.
double toy_real(uint64_t *stream);

#endif // TALUS_TOY_SYSTEM_H
