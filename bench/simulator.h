// Integrators that compete: what a simulation is, and who runs it.
#ifndef TALUS_BENCH_SIMULATOR_H
#define TALUS_BENCH_SIMULATOR_H

#include "models.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SIMULATION_SECONDS = 10
};

/// What one simulation did. The model starts at rest at its first set of q, and steps end at every
/// full second, so that nothing is interpolated.
typedef struct simulation {
    double seconds; ///< bench_now() spent stepping: neither creation nor energies
    double energy[SIMULATION_SECONDS + 1]; ///< [J] at every second
    long realizations;                     ///< of accelerations
    long steps;
    long allocations; ///< of the whole process, while stepping
} simulation;

/// One integrator.
typedef struct simulator {
    const char *name;
    bool is_talus;
    /// Simulate. False when it fails.
    bool (*run)(const model *m, double accuracy, simulation *out);
} simulator;

extern const simulator simulator_talus_merson;
extern const simulator simulator_talus_dormand_prince;
extern const simulator simulator_talus_bogacki_shampine; ///< 5(4)
extern const simulator simulator_talus_verner;           ///< 8(7)
#ifdef BENCH_HAS_SIMBODY
extern const simulator simulator_simbody_merson;
extern const simulator simulator_simbody_bdf;
extern const simulator simulator_simbody_adams;
#endif

#ifdef __cplusplus
}
#endif
#endif // TALUS_BENCH_SIMULATOR_H
