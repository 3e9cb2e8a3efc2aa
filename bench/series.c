// Cost against size as a straight line: models of all sizes take turns in one measurement.
#include "series.h"

#include "bench.h"
#include "contestant.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_POINTS = 6,
    MOST_LINES = 2
};

/// Sizes of one kind of model. Beyond 300 bodies the caches of the machine are measured too.
typedef struct family {
    model (*make)(int n);
    int count;
    int sizes[MOST_POINTS];
} family;

/// One contestant and one quantity over a family.
typedef struct line {
    const char *label;
    const contestant *who;
    quantity what;
    bool is_stripped; ///< of what loops and springs there are
    double least[MOST_POINTS];
} line;

/// cost = fixed + slope * size
typedef struct fit {
    double slope; ///< ns
    double fixed; ///< ns
    double worst; ///< largest relative distance of a point from the line
} fit;

/// One point of one line, while it is measured.
typedef struct point {
    const line *family;
    model stripped;
    void *self;
} point;

static void run_point(void *context, long count)
{
    const point *p = context;
    p->family->who->run(p->self, p->family->what, true, count);
}

// All points of all lines take turns.
static void measure(const family *f, line lines[], int num_lines, bool quick)
{
    model models[MOST_POINTS];
    point points[MOST_POINTS * MOST_LINES];
    bench table[MOST_POINTS * MOST_LINES];
    for (int i = 0; i < f->count; ++i) {
        models[i] = f->make(f->sizes[i]);
        for (int k = 0; k < num_lines; ++k) {
            point *p = &points[k * f->count + i];
            *p = (point){.family = &lines[k], .stripped = model_stripped(&models[i])};
            p->self = lines[k].who->create(lines[k].is_stripped ? &p->stripped : &models[i]);
            table[k * f->count + i] = (bench){.run = run_point, .context = p};
        }
    }
    bench_measure(table, f->count * num_lines, quick ? 201 : BENCH_MAX_BATCHES, 2e5);
    for (int i = 0; i < f->count; ++i) {
        for (int k = 0; k < num_lines; ++k) {
            lines[k].least[i] = table[k * f->count + i].least;
            lines[k].who->destroy(points[k * f->count + i].self);
        }
        model_free(&models[i]);
    }
}

// Least squares of relative distances, that is with weights 1 / cost^2: timing errors grow with the
// time, and the small models tell about the fixed cost.
static fit fit_line(const family *f, const line *l)
{
    double sizes[MOST_POINTS], weights[MOST_POINTS];
    for (int i = 0; i < f->count; ++i) {
        sizes[i] = f->sizes[i];
        weights[i] = 1.0 / (l->least[i] * l->least[i]);
    }
    const bench_line best = bench_fit(sizes, l->least, weights, f->count);
    fit result = {best.slope, best.at_zero, 0.0};
    for (int i = 0; i < f->count; ++i) {
        const double y = best.at_zero + best.slope * sizes[i];
        result.worst = fmax(result.worst, fabs(y - l->least[i]) / l->least[i]);
    }
    return result;
}

static fit print_line(const family *f, const line *l)
{
    const fit best = fit_line(f, l);
    (void)printf("  %-38s", l->label);
    for (int i = 0; i < f->count; ++i) {
        (void)printf(" %8.3f", 1e-3 * l->least[i]);
    }
    (void)printf("   %8.1f %8.3f %6.0f %%\n", best.slope, 1e-3 * best.fixed, 100.0 * best.worst);
    return best;
}

static void print_sizes(const char *title, const family *f)
{
    (void)printf("\n%-40s", title);
    for (int i = 0; i < f->count; ++i) {
        (void)printf(" %8d", f->sizes[i]);
    }
    (void)printf("   %8s %8s %8s\n", "ns each", "fixed us", "off by");
}

// What a call costs when there is no joint at all is taken from the line, not measured.
static void print_chains(quantity what, const char *title, bool quick)
{
    const family chains = {model_pin_chain, 6, {2, 6, 10, 30, 100, 300}};
    line lines[] = {{.label = "Talus", .who = &contestant_talus, .what = what},
                    {.label = "bare C", .who = &contestant_bare, .what = what},
                    {.label = "Talus direct", .who = &contestant_direct, .what = what}};
    measure(&chains, lines, 3, quick);
    print_sizes(title, &chains);
    const fit talus = print_line(&chains, &lines[0]);
    const fit bare = print_line(&chains, &lines[1]);
    (void)print_line(&chains, &lines[2]);
    (void)printf("  slope %.2f of bare C (aim 1.3); fixed cost %.2f us (aim 0.3)\n",
                 talus.slope / bare.slope, 1e-3 * talus.fixed);
}

// A family, and the trees that it has without loops and springs.
static void measure_added(const family *f, line lines[2], bool quick)
{
    lines[0] = (line){.label = "Talus", .who = &contestant_talus, .what = FORWARD};
    lines[1] = (line){.label = "Talus, tree alone",
                      .who = &contestant_talus,
                      .what = FORWARD,
                      .is_stripped = true};
    measure(f, lines, 2, quick);
}

static void print_four_bars(bool quick)
{
    const family loops = {model_four_bars, 6, {1, 5, 10, 40, 100, 200}};
    line lines[2];
    measure_added(&loops, lines, quick);
    print_sizes("forward dynamics, us, of N four-bars", &loops);
    const fit closed = print_line(&loops, &lines[0]);
    const fit open = print_line(&loops, &lines[1]);
    (void)printf("  closing a loop of three pins costs %.0f ns\n", closed.slope - open.slope);
}

/// What is aimed at for a family: at most `factor` times the tree alone and `us` more.
typedef struct aim {
    const char *label;
    family family;
    double factor, us;
} aim;

static void print_added(const aim *a, bool quick)
{
    line lines[2];
    measure_added(&a->family, lines, quick);
    for (int i = 0; i < a->family.count; ++i) {
        const double all = 1e-3 * lines[0].least[i], tree = 1e-3 * lines[1].least[i];
        (void)printf("  %-22s %4d %10.3f %10.3f %10.2f", a->label, a->family.sizes[i], all, tree,
                     all / tree);
        if (a->factor > 0.0) (void)printf("   %.3f", a->factor * tree + a->us);
        (void)printf("\n");
    }
}

static void print_all_added(bool quick)
{
    static const aim aims[] = {
        {"chain closed by a ball", {model_ball_closed, 3, {10, 30, 100}}, 1.6, 1.0},
        {"chain closed by a rod", {model_rod_closed, 3, {10, 30, 100}}, 0.0, 0.0},
        {"Andrews' squeezer", {model_squeezer, 1, {7}}, 0.0, 0.0},
        {"tree with springs", {model_sprung_tree, 1, {100}}, 1.3, 0.0}};
    (void)printf("\n%-29s %10s %10s %10s   %s\n", "forward dynamics, us", "Talus", "tree alone",
                 "ratio", "aim");
    for (size_t i = 0; i < sizeof aims / sizeof aims[0]; ++i) {
        print_added(&aims[i], quick);
    }
}

void series_print(bool quick)
{
    (void)printf("\ncost against size: the best batches, and the straight line through them\n");
    print_chains(FORWARD, "forward dynamics, us, of n pins", quick);
    print_chains(INVERSE, "inverse dynamics, us, of n pins", quick);
    print_four_bars(quick);
    print_all_added(quick);
}
