// Assembly and inverse kinematics: the problems, described once, and who solves them.
#ifndef TALUS_BENCH_ASSEMBLY_H
#define TALUS_BENCH_ASSEMBLY_H

#include "models.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ASSEMBLY_STARTS = 64,
    TRACKING_MARKERS = 50,
    TRACKING_FRAMES = 500
};

/// A four-bar, closed by a ball, and starts that are off by 1 rad in every joint.
typedef struct assembly_problem {
    model m;
    double starts[ASSEMBLY_STARTS][3];
    double tolerance; ///< of the errors of the ball [m], RMS
} assembly_problem;

/// A figure, markers on it, and where they were seen.
typedef struct tracking_problem {
    model m;
    int bodies[TRACKING_MARKERS];
    tal_vec3 stations[TRACKING_MARKERS];
    tal_vec3 points[TRACKING_FRAMES][TRACKING_MARKERS]; ///< in Ground, with noise
} tracking_problem;

/// What a solver did.
typedef struct assembly_result {
    double seconds; ///< bench_now() for all starts or frames
    double error;   ///< RMS: of the constraint errors of the worst start, or over all markers seen
    int failures;   ///< starts or frames
    long allocations; ///< of the whole process
} assembly_result;

/// Who solves. Functions return false when they cannot at all.
typedef struct assembly_solver {
    const char *name;
    bool is_talus;
    bool (*assemble)(const assembly_problem *problem, assembly_result *out);
    bool (*track)(const tracking_problem *problem, double accuracy, assembly_result *out);
} assembly_solver;

extern const assembly_solver assembly_talus;
#ifdef BENCH_HAS_SIMBODY
extern const assembly_solver assembly_simbody;
#endif

#ifdef __cplusplus
}
#endif
#endif // TALUS_BENCH_ASSEMBLY_H
