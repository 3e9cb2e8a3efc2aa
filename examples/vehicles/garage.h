// A model with a State and a fixed stepper: what the examples about fixed steps run.
#ifndef GARAGE_H
#define GARAGE_H

#include "vehicles.h"

#include <talus/talus.h>

/// A System that is being run.
typedef struct garage {
    tal_system *system;
    tal_state *state;
    tal_fixed_stepper *stepper;
    sketch drawn;
    tal_error err; ///< why something failed
} garage;

/// Adds a model; `options` is what garage_open() was given.
typedef sketch (*garage_add_fn)(tal_matter *matter, tal_forces *forces, const void *options);

/// Build it, with a State in which it is drawn and at rest, and a stepper.
tal_status garage_open(garage *it, garage_add_fn add, const void *options,
                       const tal_fixed_stepper_def *def);

/// All of it moves with this velocity [m/s].
void garage_push(garage *it, tal_vec3 v);

/// By steps to a time.
tal_status garage_run_to(garage *it, double t);

/// The chassis, or the chest: body 1.
tal_vec3 garage_place(const garage *it);

/// Free it.
void garage_close(garage *it);

#endif // GARAGE_H
