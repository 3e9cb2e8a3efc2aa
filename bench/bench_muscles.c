// What a muscle costs: all of it (forces, speeds, slopes) and the tension alone, by model.
//
// Aims: Thelen 100 ns, DeGroote-Fregly 120 ns without damping, Millard 350 ns, for everything.
#include "bench.h"
#include "muscle/muscle_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    NUM = 64
};

typedef struct work {
    tali_muscle_curves curves;
    tali_muscle_millard millard;
    tali_muscle_sizes sizes;
    tali_muscle_kind kind;
    tali_muscle_given given[NUM];
    double sum;
} work;

static void run_all(void *context, long count)
{
    work *w = context;
    for (long i = 0; i < count; ++i) {
        w->sum += tali_muscle_find(&w->curves, &w->sizes, w->kind, &w->given[i % NUM]).rate;
    }
}

static void run_tension(void *context, long count)
{
    work *w = context;
    for (long i = 0; i < count; ++i) {
        w->sum += tali_muscle_tension(&w->curves, &w->sizes, w->kind, &w->given[i % NUM]);
    }
}

// States in and around the usual range: the branches of curves are not predictable.
static void prepare(work *w, tal_muscle_model model, bool rigid, double damping)
{
    tal_muscle_def def = tal_muscle_def_default(model);
    def.rigid_tendon = rigid;
    tal_error err = {TAL_OK, "", ""};
    if (tali_muscle_curves_build(&def, &w->curves, &w->millard, &err) != TAL_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(EXIT_FAILURE);
    }
    w->sizes = (tali_muscle_sizes){.F0 = 1000.0,
                                   .lo = 0.1,
                                   .ls = 0.2,
                                   .h = 0.02,
                                   .shortest = 0.045,
                                   .vmax = 1.0,
                                   .beta = def.damping + damping};
    w->kind = rigid                          ? TALI_MUSCLE_RIGID
              : model == TAL_MUSCLE_DEGROOTE ? TALI_MUSCLE_TENDON_Z
                                             : TALI_MUSCLE_ELASTIC;
    for (int i = 0; i < NUM; ++i) {
        const double x = (double)(i * 37 % NUM) / NUM, y = (double)(i * 23 % NUM) / NUM;
        const double lf = 0.06 + 0.08 * x;
        w->given[i] = (tali_muscle_given){
            .l = 0.2 + lf + 0.008 * y, .ldot = y - 0.5, .a = 0.05 + 0.9 * y, .z = lf};
        if (w->kind == TALI_MUSCLE_TENDON_Z) w->given[i].z = 0.05 + y;
    }
}

int main(void)
{
    static work w[7];
    bench rows[13];
    static const char *const names[] = {
        "Thelen",   "Thelen, tension",   "Thelen, rigid",   "(tension)",
        "Millard",  "Millard, tension",  "Millard, rigid",  "(tension)",
        "DeGroote", "DeGroote, tension", "DeGroote, rigid", "(tension)"};
    for (int i = 0; i < 6; ++i) {
        prepare(&w[i], (tal_muscle_model)(i / 2), i % 2 == 1, 0.0);
        rows[2 * i] = (bench){.name = names[2 * i], .run = run_all, .context = &w[i]};
        rows[2 * i + 1] = (bench){.name = names[2 * i + 1], .run = run_tension, .context = &w[i]};
    }
    prepare(&w[6], TAL_MUSCLE_DEGROOTE, false, 0.01);
    rows[12] = (bench){.name = "DeGroote, damped", .run = run_all, .context = &w[6]};
    bench_measure(rows, 13, 51, 2e5);
    bench_print("one muscle", rows, 13);
    return EXIT_SUCCESS;
}
