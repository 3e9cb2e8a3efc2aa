// A model as a System of Simbody. Its conventions for q and u are the model's own.
#ifndef TALUS_BENCH_BUILD_SIMBODY_HPP
#define TALUS_BENCH_BUILD_SIMBODY_HPP

#include "models.h"

#include <Simbody.h>

struct simbody_model {
    SimTK::MultibodySystem system;
    SimTK::SimbodyMatterSubsystem matter;
    SimTK::GeneralForceSubsystem forces;
    SimTK::Force::Gravity gravity; ///< empty when there is none
    SimTK::State state;            ///< realized to Model

    explicit simbody_model(const model *m);

    /// Write set k of the model's values into the State.
    void set_values(const model *m, int k);

  private:
    void add_bodies(const model *m);
    void add_loops(const model *m);
    void add_forces(const model *m);
};

#endif // TALUS_BENCH_BUILD_SIMBODY_HPP
