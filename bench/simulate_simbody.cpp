// Simbody's integrators.
#include "build_simbody.hpp"
#include "simulator.h"

extern "C" {
#include "bench.h"
#include "count_alloc.h"
}

using namespace SimTK;

namespace
{

// A scheduled event without a handler makes a step end there.
void step_to(Integrator &integ, double t, simulation *out)
{
    const long before = allocations();
    const double start = bench_now();
    while (integ.getAdvancedTime() < t) {
        (void)integ.stepTo(t, t);
    }
    out->seconds += 1e-9 * (bench_now() - start);
    out->allocations += allocations() - before;
}

bool simulate(simbody_model &s, const model *m, Integrator &integ, double accuracy, simulation *out)
{
    *out = simulation();
    s.set_values(m, 0);
    s.state.updU() = 0;
    s.system.realize(s.state, Stage::Acceleration);
    integ.setAccuracy(accuracy);
    integ.setInternalStepLimit(1000000);
    integ.initialize(s.state);
    for (int k = 0; k <= SIMULATION_SECONDS; ++k) {
        if (k > 0) step_to(integ, k, out);
        const State &state = integ.getAdvancedState();
        s.system.realize(state, Stage::Dynamics);
        out->energy[k] = s.system.calcEnergy(state);
    }
    out->realizations = integ.getNumRealizations();
    out->steps = integ.getNumStepsTaken();
    return true;
}

bool merson(const model *m, double accuracy, simulation *out)
{
    simbody_model s(m);
    RungeKuttaMersonIntegrator integ(s.system);
    return simulate(s, m, integ, accuracy, out);
}

bool cpodes(const model *m, CPodes::LinearMultistepMethod method, double accuracy, simulation *out)
{
    simbody_model s(m);
    CPodesIntegrator integ(s.system, method);
    try {
        return simulate(s, m, integ, accuracy, out);
    } catch (const std::exception &) {
        return false; // beyond some accuracy it gives up
    }
}

bool bdf(const model *m, double accuracy, simulation *out)
{
    return cpodes(m, CPodes::BDF, accuracy, out);
}

bool adams(const model *m, double accuracy, simulation *out)
{
    return cpodes(m, CPodes::Adams, accuracy, out);
}

} // namespace

extern "C" {
const simulator simulator_simbody_merson = {"Simbody Merson", false, merson};
const simulator simulator_simbody_bdf = {"Simbody CPodes BDF", false, bdf};
const simulator simulator_simbody_adams = {"Simbody CPodes Adams", false, adams};
}
