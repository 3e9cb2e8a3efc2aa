// Talus, its peers and the bare sweep on the same models, side by side in one run.
//
// Before anything is timed all contestants must agree. Then they take turns, batch by batch, and the
// medians are printed with their quartiles.
#include "bench.h"
#include "contestant.h"
#include "count_alloc.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const contestant *const contestants[] = {
    &contestant_talus,
    &contestant_bare,
#ifdef BENCH_HAS_SIMBODY
    &contestant_simbody,
#endif
#ifdef BENCH_HAS_MUJOCO
    &contestant_mujoco,
#endif
};

enum {
    NUM_CONTESTANTS = (int)(sizeof contestants / sizeof contestants[0]),
    MAX_ROWS = 300
};

typedef struct options {
    bool quick;
    const char *only; ///< NULL, or part of "model/quantity/from"
    const char *csv, *json, *svg;
    const char *repeat[3]; ///< contestant, model, quantity: run just that, for callgrind
    long times;
} options;

typedef struct entry {
    const contestant *who;
    void *self;
    quantity what;
    bool fresh;
} entry;

// --- agreement ---

static int answer_size(const model *m, quantity what)
{
    if (what == KINEMATICS) return 18;
    if (what == EXPLICIT_M) return m->nu * m->nu;
    return what == JACOBIAN ? 6 * m->nu : m->nu;
}

// Largest difference, relative to the largest number.
static double difference(const double a[], const double b[], int n)
{
    double most = 0.0, size = 0.0;
    for (int i = 0; i < n; ++i) {
        const double d = fabs(a[i] - b[i]);
        if (!(d <= most)) most = d;
        if (fabs(b[i]) > size) size = fabs(b[i]);
    }
    return most / size;
}

/*
 * Relative difference allowed between two contestants. The sweeps differ by 1e-13 at n = 10000. Who
 * factors M has the round-off of its condition number, which for a chain of n links grows between n^2
 * and n^4: measured 1e-10 at 100 and 9e-8 at 1000, so beyond 100 the bound grows with n^3.
 */
static double tolerance(const model *m, const contestant *who)
{
    const double n = 0.01 * (double)m->nu;
    return who->factors_M && n > 1.0 ? 1e-9 * n * n * n : 1e-9;
}

static bool agree(const model *m, void *const selves[])
{
    static const quantity checked[] = {KINEMATICS, INVERSE,    FORWARD, MULTIPLY_M,
                                       SOLVE_M,    EXPLICIT_M, JACOBIAN};
    double worst = 0.0;
    for (size_t c = 0; c < sizeof checked / sizeof checked[0]; ++c) {
        const quantity what = checked[c];
        if (what == EXPLICIT_M && m->nu > MODEL_MOST_EXPLICIT) continue;
        const int n = answer_size(m, what);
        double *answers[2] = {calloc((size_t)n, sizeof(double)), calloc((size_t)n, sizeof(double))};
        if (answers[0] == NULL || answers[1] == NULL) exit(EXIT_FAILURE);
        const char *first = NULL;
        for (int i = 0; i < NUM_CONTESTANTS; ++i) {
            if (selves[i] == NULL || !contestants[i]->can(selves[i], what, true)) continue;
            contestants[i]->answer(selves[i], what, answers[first != NULL]);
            if (first == NULL) {
                first = contestants[i]->name;
                continue;
            }
            const double d = difference(answers[1], answers[0], n);
            if (!(d <= worst)) worst = d;
            if (d <= tolerance(m, contestants[i])) continue;
            (void)fprintf(stderr, "bench: %s, %s: %s and %s differ by %.2g; nothing was timed\n",
                          m->name, quantity_name(what), first, contestants[i]->name, d);
            return false;
        }
        free(answers[0]);
        free(answers[1]);
    }
    (void)printf("%-14s all agree to %.1e\n", m->name, worst);
    return true;
}

// --- timing ---

static void run_entry(void *context, long count)
{
    const entry *e = context;
    e->who->run(e->self, e->what, e->fresh, count);
}

static row measure(const options *o, const model *m, void *const selves[], quantity what,
                   bool fresh)
{
    entry entries[NUM_CONTESTANTS];
    bench table[NUM_CONTESTANTS];
    row r = {.nu = m->nu, .what = what, .fresh = fresh};
    memcpy(r.model, m->name, sizeof r.model);
    for (int i = 0; i < NUM_CONTESTANTS; ++i) {
        if (selves[i] == NULL || !contestants[i]->can(selves[i], what, fresh)) continue;
        const int k = r.num_figures++;
        entries[k] = (entry){contestants[i], selves[i], what, fresh};
        table[k] = (bench){.name = contestants[i]->name, .run = run_entry, .context = &entries[k]};
        contestants[i]->run(selves[i], what, true, 1);
        contestants[i]->run(selves[i], what, fresh, 1);
    }
    if (r.num_figures == 0) return r;
    const int batches = o->quick ? 15 : m->nu < 300 ? 101 : 25;
    bench_measure(table, r.num_figures, batches, o->quick ? 1e5 : 3e5);
    for (int k = 0; k < r.num_figures; ++k) {
        const long before = allocations();
        run_entry(&entries[k], 10);
        r.figures[k] = (figure){table[k].name, table[k].low, table[k].median, table[k].high,
                                0.1 * (double)(allocations() - before)};
    }
    return r;
}

static bool is_wanted(const options *o, const model *m, quantity what, bool fresh)
{
    char label[100];
    (void)snprintf(label, sizeof label, "%s/%s/%s", m->name, quantity_name(what),
                   fresh ? "qu" : "cache");
    return o->only == NULL || strstr(label, o->only) != NULL;
}

static bool any_wanted(const options *o, const model *m)
{
    for (int what = 0; what < NUM_QUANTITIES; ++what) {
        if (is_wanted(o, m, (quantity)what, true) || is_wanted(o, m, (quantity)what, false)) {
            return true;
        }
    }
    return false;
}

static bool bench_model(const options *o, const model *m, row rows[], int *num_rows)
{
    if (!any_wanted(o, m)) return true;
    void *selves[NUM_CONTESTANTS];
    for (int i = 0; i < NUM_CONTESTANTS; ++i) {
        selves[i] = contestants[i]->create(m);
        if (selves[i] != NULL) continue;
        (void)printf("%-14s is beyond %s\n", m->name, contestants[i]->name);
    }
    const bool ok = agree(m, selves);
    for (int k = 0; k < 2 * NUM_QUANTITIES && ok && *num_rows < MAX_ROWS; ++k) {
        const quantity what = (quantity)(k / 2);
        const bool fresh = k % 2 == 0;
        if (!is_wanted(o, m, what, fresh)) continue;
        if (what == EXPLICIT_M && m->nu > MODEL_MOST_EXPLICIT) continue;
        const row r = measure(o, m, selves, what, fresh);
        if (r.num_figures == 0) continue;
        if (*num_rows == 0) report_heading();
        report_row(&r);
        rows[(*num_rows)++] = r;
    }
    for (int i = 0; i < NUM_CONTESTANTS; ++i) {
        if (selves[i] != NULL) contestants[i]->destroy(selves[i]);
    }
    return ok;
}

// --- the models ---

enum {
    NUM_MODELS = 12
};

static model make_model(int i)
{
    static const int lengths[] = {2, 6, 10, 30, 100, 300, 1000, 10000};
    if (i < 8) return model_pin_chain(lengths[i]);
    if (i == 8) return model_pin_tree(63);
    if (i == 9) return model_pin_tree(255);
    return i == 10 ? model_humanoid() : model_ball_chain(50);
}

// Run one quantity of one contestant many times and print nothing else: for callgrind and perf.
static int repeat(const options *o)
{
    for (int i = 0; i < NUM_MODELS; ++i) {
        model m = make_model(i);
        for (int c = 0; c < NUM_CONTESTANTS && strcmp(m.name, o->repeat[1]) == 0; ++c) {
            if (strcmp(contestants[c]->name, o->repeat[0]) != 0) continue;
            void *self = contestants[c]->create(&m);
            for (int what = 0; what < NUM_QUANTITIES && self != NULL; ++what) {
                if (strcmp(quantity_name((quantity)what), o->repeat[2]) != 0) continue;
                contestants[c]->run(self, (quantity)what, what != STATE_COPY, o->times);
                return EXIT_SUCCESS;
            }
        }
        model_free(&m);
    }
    (void)fprintf(stderr, "bench: no contestant '%s', model '%s' or quantity '%s'\n", o->repeat[0],
                  o->repeat[1], o->repeat[2]);
    return EXIT_FAILURE;
}

// --- the command line ---

static void print_help(void)
{
    (void)printf("usage: bench_peers [OPTION...]\n"
                 "  --quick                fewer and shorter batches\n"
                 "  --only TEXT            rows whose \"model/quantity/from\" holds TEXT,\n"
                 "                         e.g. \"chain 100/forward\"\n"
                 "  --csv FILE --json FILE --svg FILE\n"
                 "  --repeat WHO MODEL QUANTITY N\n"
                 "                         run just that N times and print nothing, e.g.\n"
                 "                         valgrind --tool=callgrind bench_peers --repeat Talus\n"
                 "                         \"chain 100\" \"forward dynamics\" 1000\n");
}

static bool parse(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; ++i) {
        const char *arg = argv[i];
        const int left = argc - i - 1;
        if (strcmp(arg, "--quick") == 0) {
            o->quick = true;
        } else if (strcmp(arg, "--only") == 0 && left >= 1) {
            o->only = argv[++i];
        } else if (strcmp(arg, "--csv") == 0 && left >= 1) {
            o->csv = argv[++i];
        } else if (strcmp(arg, "--json") == 0 && left >= 1) {
            o->json = argv[++i];
        } else if (strcmp(arg, "--svg") == 0 && left >= 1) {
            o->svg = argv[++i];
        } else if (strcmp(arg, "--repeat") == 0 && left >= 4) {
            for (int k = 0; k < 3; ++k) {
                o->repeat[k] = argv[++i];
            }
            o->times = strtol(argv[++i], NULL, 10);
        } else {
            return false;
        }
    }
    return true;
}

static void print_setting(void)
{
#ifndef NDEBUG
    (void)printf("asserts are on: these are not the figures of a Release build\n");
#endif
#ifdef __FMA__
    (void)printf("Talus is built for this machine (TALUS_NATIVE)\n");
#else
    (void)printf("Talus is built for any x86-64\n");
#endif
#ifndef BENCH_HAS_SIMBODY
    (void)printf("Simbody was not found (libsimbody-dev): it is left out\n");
#endif
#ifndef BENCH_HAS_MUJOCO
    (void)printf("MuJoCo was not found (libmujoco-dev): it is left out\n");
#endif
#ifndef BENCH_COUNTS_ALLOCATIONS
    (void)printf("allocations are not counted here\n");
#endif
}

int main(int argc, char **argv)
{
    options o = {.only = NULL};
    if (!parse(argc, argv, &o)) {
        print_help();
        return EXIT_FAILURE;
    }
    if (o.times > 0) return repeat(&o);
    print_setting();
    static row rows[MAX_ROWS];
    int num_rows = 0;
    bool ok = true;
    for (int i = 0; i < NUM_MODELS && ok; ++i) {
        model m = make_model(i);
        ok = bench_model(&o, &m, rows, &num_rows);
        model_free(&m);
    }
    if (o.csv != NULL) ok = report_csv(o.csv, rows, num_rows) && ok;
    if (o.json != NULL) ok = report_json(o.json, rows, num_rows) && ok;
    if (o.svg != NULL) ok = report_svg(o.svg, rows, num_rows) && ok;
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
