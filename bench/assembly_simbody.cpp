// Simbody's Assembler.
#include "assembly.h"
#include "build_simbody.hpp"

extern "C" {
#include "bench.h"
#include "count_alloc.h"
}

#include <cmath>

using namespace SimTK;

namespace
{

Vec3 vec(tal_vec3 v)
{
    return Vec3(v.x, v.y, v.z);
}

double constraint_error(simbody_model &s)
{
    s.system.realize(s.state, Stage::Position);
    const Vector &qerr = s.state.getQErr();
    return std::sqrt(qerr.normSqr() / qerr.size());
}

bool assemble(const assembly_problem *problem, assembly_result *out)
{
    simbody_model s(&problem->m);
    Assembler assembler(s.system);
    assembler.setErrorTolerance(problem->tolerance);
    *out = assembly_result();
    for (int k = 0; k < ASSEMBLY_STARTS; ++k) {
        for (int i = 0; i < 3; ++i) {
            s.state.updQ()[i] = problem->starts[k][i];
        }
        const long before = allocations();
        const double start = bench_now();
        bool ok = true;
        try {
            (void)assembler.assemble(s.state);
        } catch (const std::exception &) {
            ok = false;
        }
        out->seconds += 1e-9 * (bench_now() - start);
        out->allocations += allocations() - before;
        out->failures += !ok;
        if (ok) out->error = std::fmax(out->error, constraint_error(s));
    }
    return true;
}

void add_markers(const tracking_problem *problem, Markers *markers)
{
    Array_<Markers::MarkerIx> order;
    for (int k = 0; k < TRACKING_MARKERS; ++k) {
        order.push_back(
            markers->addMarker(MobilizedBodyIndex(problem->bodies[k]), vec(problem->stations[k])));
    }
    markers->defineObservationOrder(order);
}

// The first frame is assembled, the others follow.
bool track(const tracking_problem *problem, double accuracy, assembly_result *out)
{
    simbody_model s(&problem->m);
    Assembler assembler(s.system);
    Markers *markers = new Markers();
    add_markers(problem, markers);
    (void)assembler.adoptAssemblyGoal(markers);
    assembler.setAccuracy(accuracy);
    Array_<Vec3> seen(TRACKING_MARKERS);
    for (int k = 0; k < TRACKING_MARKERS; ++k) {
        seen[k] = vec(problem->points[0][k]);
    }
    *out = assembly_result();
    double sum = 0.0;
    try {
        assembler.initialize(s.state);
        for (int f = 0; f < TRACKING_FRAMES; ++f) {
            const long before = allocations();
            const double start = bench_now();
            for (int k = 0; k < TRACKING_MARKERS; ++k) {
                seen[k] = vec(problem->points[f][k]);
            }
            markers->moveAllObservations(seen);
            try {
                (void)(f == 0 ? assembler.assemble() : assembler.track());
            } catch (const std::exception &) {
                ++out->failures;
            }
            assembler.updateFromInternalState(s.state);
            out->seconds += 1e-9 * (bench_now() - start);
            out->allocations += allocations() - before;
            for (int k = 0; k < TRACKING_MARKERS; ++k) {
                sum += markers->findCurrentMarkerErrorSquared(Markers::MarkerIx(k));
            }
        }
    } catch (const std::exception &) {
        return false;
    }
    out->error = std::sqrt(sum / (TRACKING_FRAMES * TRACKING_MARKERS));
    return true;
}

} // namespace

extern "C" {
const assembly_solver assembly_simbody = {"Simbody", false, assemble, track};
}
