// Talus, its peers and the bare code on the same models, side by side in one run.
//
// Before anything is timed all contestants must agree. Then they take turns, batch by batch, and
// the medians are printed with their quartiles.
#include "agree.h"
#include "aims.h"
#include "bench.h"
#include "contestant.h"
#include "count_alloc.h"
#include "report.h"
#include "series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const contestant *const contestants[] = {
    &contestant_talus,   &contestant_direct, &contestant_bare,
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
    bool only_series;
    const char *only; ///< NULL, or part of "model/quantity/from"
    const char *csv, *json, *svg;
    const char *repeat[3]; ///< contestant, model, quantity: run just that, for callgrind
    bool cached;           ///< with what depends on q and u evaluated before
    long times;
} options;

// --- who takes part ---

/// Everybody on one model. The last place is Talus on the tree alone, where more than a tree is
/// timed: what loops or springs add is measured in the same run.
typedef struct field {
    const model *m;
    model stripped;
    const contestant *who[NUM_CONTESTANTS + 1];
    void *selves[NUM_CONTESTANTS + 1]; ///< NULL: the model is beyond it
} field;

static void enter(field *f, const model *m)
{
    *f = (field){.m = m, .stripped = model_stripped(m)};
    for (int i = 0; i < NUM_CONTESTANTS; ++i) {
        f->who[i] = contestants[i];
        f->selves[i] = contestants[i]->create(m);
        if (f->selves[i] != NULL || !model_is_plain(m)) continue;
        (void)printf("%-16s is beyond %s\n", m->name, contestants[i]->name);
    }
    f->who[NUM_CONTESTANTS] = &contestant_talus;
    if (!model_is_plain(m)) f->selves[NUM_CONTESTANTS] = contestant_talus.create(&f->stripped);
}

static void leave(field *f)
{
    for (int i = 0; i <= NUM_CONTESTANTS; ++i) {
        if (f->selves[i] != NULL) f->who[i]->destroy(f->selves[i]);
    }
}

// --- timing ---

typedef struct entry {
    const contestant *who;
    void *self;
    quantity what;
    bool fresh;
} entry;

static void run_entry(void *context, long count)
{
    const entry *e = context;
    e->who->run(e->self, e->what, e->fresh, count);
}

static int list_entries(const field *f, quantity what, bool fresh, entry entries[], bench table[])
{
    int n = 0;
    for (int i = 0; i <= NUM_CONTESTANTS; ++i) {
        if (f->selves[i] == NULL || !contestant_can(f->who[i], what, fresh)) continue;
        entries[n] = (entry){f->who[i], f->selves[i], what, fresh};
        table[n] = (bench){.name = i < NUM_CONTESTANTS ? f->who[i]->name : FIGURE_TREE,
                           .run = run_entry,
                           .context = &entries[n]};
        // evaluate first, for rows that measure cached values
        f->who[i]->run(f->selves[i], FORWARD, true, 1);
        f->who[i]->run(f->selves[i], what, fresh, 1);
        ++n;
    }
    return n;
}

static row measure(const options *o, const field *f, quantity what, bool fresh)
{
    entry entries[NUM_CONTESTANTS + 1];
    bench table[NUM_CONTESTANTS + 1];
    const model *m = f->m;
    row r = {.nu = m->nu, .num_loops = m->num_loops, .what = what, .fresh = fresh};
    memcpy(r.model, m->name, sizeof r.model);
    r.num_figures = list_entries(f, what, fresh, entries, table);
    const int batches = o->quick ? 15 : m->nu < 300 ? 101 : 25;
    bench_measure(table, r.num_figures, batches, o->quick ? 1e5 : 3e5);
    for (int k = 0; k < r.num_figures; ++k) {
        const long before = allocations();
        run_entry(&entries[k], 10);
        r.figures[k] =
            (figure){table[k].name,   table[k].least, table[k].low,
                     table[k].median, table[k].high,  0.1 * (double)(allocations() - before)};
    }
    return r;
}

static bool is_wanted(const options *o, const model *m, quantity what, bool fresh)
{
    char label[100];
    if (!is_timed(m, what, fresh)) return false;
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
    field f;
    enter(&f, m);
    const bool ok = agree(m, f.who, f.selves, NUM_CONTESTANTS);
    for (int k = 0; k < 2 * NUM_QUANTITIES && ok && *num_rows < MAX_ROWS; ++k) {
        const quantity what = (quantity)(k / 2);
        const bool fresh = k % 2 == 0;
        if (!is_wanted(o, m, what, fresh)) continue;
        const row r = measure(o, &f, what, fresh);
        if (*num_rows == 0) report_heading();
        report_row(&r);
        rows[(*num_rows)++] = r;
    }
    leave(&f);
    return ok;
}

// --- for callgrind and perf ---

// Callgrind is told to count inside this function and nowhere else (--toggle-collect).
__attribute__((noinline)) void run_repeatedly(const contestant *who, void *self, quantity what,
                                              bool fresh, long times);

void run_repeatedly(const contestant *who, void *self, quantity what, bool fresh, long times)
{
    who->run(self, what, fresh, times);
}

static const contestant *find_contestant(const char *name)
{
    for (int c = 0; c < NUM_CONTESTANTS; ++c) {
        if (strcmp(contestants[c]->name, name) == 0) return contestants[c];
    }
    return NULL;
}

static quantity find_quantity(const char *name)
{
    int what = 0;
    while (what < NUM_QUANTITIES && strcmp(quantity_name((quantity)what), name) != 0) {
        ++what;
    }
    return (quantity)what;
}

// Run one quantity of one contestant many times and print nothing else.
static int repeat(const options *o)
{
    const contestant *who = find_contestant(o->repeat[0]);
    const quantity what = find_quantity(o->repeat[2]);
    const bool fresh = what != STATE_COPY && !o->cached;
    bool done = false;
    for (int i = 0; i < model_count() && who != NULL && what != NUM_QUANTITIES && !done; ++i) {
        model m = model_make(i);
        void *self = NULL;
        if (strcmp(m.name, o->repeat[1]) == 0 && is_timed(&m, what, fresh) &&
            contestant_can(who, what, fresh)) {
            self = who->create(&m);
        }
        if (self != NULL) {
            who->run(self, FORWARD, true, MODEL_SETS); // warm up
            if (!fresh) who->run(self, what, fresh, 1);
            run_repeatedly(who, self, what, fresh, o->times);
            who->destroy(self);
            done = true;
        }
        model_free(&m);
    }
    if (done) return EXIT_SUCCESS;
    (void)fprintf(stderr, "bench: '%s' does not do '%s' of '%s'\n", o->repeat[0], o->repeat[2],
                  o->repeat[1]);
    return EXIT_FAILURE;
}

// --- the command line ---

static void print_help(void)
{
    (void)printf("usage: bench_peers [OPTION...]\n"
                 "  --quick                fewer and shorter batches\n"
                 "  --only TEXT            rows whose \"model/quantity/from\" holds TEXT,\n"
                 "                         e.g. \"chain 100/forward\"\n"
                 "  --series               only cost against size: slopes and fixed costs\n"
                 "  --csv FILE --json FILE --svg FILE\n"
                 "  --repeat WHO MODEL QUANTITY N\n"
                 "                         run just that N times and print nothing, e.g.\n"
                 "                         valgrind --tool=callgrind bench_peers --repeat Talus\n"
                 "                         \"chain 100\" \"forward dynamics\" 1000\n"
                 "  --cached               the same for what is left at the same q and u\n");
}

static bool parse(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; ++i) {
        const char *arg = argv[i];
        const int left = argc - i - 1;
        if (strcmp(arg, "--quick") == 0) {
            o->quick = true;
        } else if (strcmp(arg, "--series") == 0) {
            o->only_series = true;
        } else if (strcmp(arg, "--cached") == 0) {
            o->cached = true;
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
#elif defined(BENCH_DISPATCHES)
    (void)printf(
        "Talus is built for any x86-64; its passes, and bare C, are the best for this one\n");
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
    for (int i = 0; i < model_count() && ok && !o.only_series; ++i) {
        model m = model_make(i);
        ok = bench_model(&o, &m, rows, &num_rows);
        model_free(&m);
    }
    if (ok && num_rows > 0) aims_print(rows, num_rows);
    if (ok && o.only == NULL) series_print(o.quick);
    if (o.csv != NULL) ok = report_csv(o.csv, rows, num_rows) && ok;
    if (o.json != NULL) ok = report_json(o.json, rows, num_rows) && ok;
    if (o.svg != NULL) ok = report_svg(o.svg, rows, num_rows) && ok;
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
