// What the State machinery costs by itself: copying, climbing the stages, reading a cached result.
//
// Aims: a copy within 1.5 x of memcpy of the same bytes; Time to Acceleration through three
// subsystems that do nothing well under 150 ns.
#include "bench.h"
#include "state/state_internal.h"

#include <talus/state.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARTS = 3
};

typedef struct part {
    int size; ///< of each of q, u, z
    bool has_hooks;
    tal_cache_ix lazy;
    tal_var_ix parameter;
} part;

static tal_status do_nothing(const void *self, const tal_system *system, tal_state *state)
{
    (void)self;
    (void)system;
    (void)state;
    return TAL_OK;
}

static tal_status calc(const void *self, const tal_system *system, tal_state *state, void *value)
{
    (void)self;
    (void)system;
    *(double *)value = tal_state_t(state);
    return TAL_OK;
}

static tal_status declare(void *context, tal_system *system, tal_subsystem_ix me)
{
    part *self = context;
    const tal_pool pools[] = {TAL_POOL_Q, TAL_POOL_U, TAL_POOL_Z};
    for (int i = 0; i < 3 && self->size > 0; ++i) {
        tal_group_def group = tal_group_def_default();
        group.pool = pools[i];
        group.capacity = self->size;
        (void)tal_system_add_group(system, me, &group);
    }
    tal_var_def var = tal_var_def_default();
    var.size = sizeof(double);
    var.invalidates = TAL_STAGE_DYNAMICS;
    self->parameter = tal_system_add_var(system, me, &var);
    const tal_prereq needs[] = {
        {TAL_PREREQ_T, 0}, {TAL_PREREQ_Q, 0}, tal_prereq_var(self->parameter)};
    tal_cache_def entry = tal_cache_def_default();
    entry.size = sizeof(double);
    entry.calc = calc;
    entry.prereqs = needs;
    entry.num_prereqs = 3;
    self->lazy = tal_system_add_cache(system, me, &entry);
    return TAL_OK;
}

static const tal_subsystem_ops with_hooks = {
    .size = sizeof with_hooks,
    .name = "hooks",
    .realize_topology = declare,
    .realize_time = do_nothing,
    .realize_position = do_nothing,
    .realize_velocity = do_nothing,
    .realize_dynamics = do_nothing,
    .realize_acceleration = do_nothing,
    .realize_report = do_nothing,
};

typedef struct fixture {
    part parts[PARTS];
    tal_system *system;
    tal_state *state;
    tal_state *copy;
    void *bytes[2]; ///< as many as a copy moves
    size_t size;
} fixture;

static void build(fixture *f, int size)
{
    static const char *const names[PARTS] = {"a", "b", "c"};
    *f = (fixture){.system = tal_system_create(NULL)};
    for (int i = 0; i < PARTS; ++i) {
        f->parts[i].size = size;
        (void)tal_system_add_subsystem(f->system, names[i], &with_hooks, &f->parts[i]);
    }
    const bool made = tal_system_realize_topology(f->system, NULL) == TAL_OK &&
                      tal_state_create(f->system, &f->state, NULL) == TAL_OK &&
                      tal_state_create(f->system, &f->copy, NULL) == TAL_OK &&
                      tal_system_realize(f->system, f->state, TAL_STAGE_REPORT) == TAL_OK;
    f->size = f->system->layout.copy_end - f->system->layout.core;
    for (int i = 0; i < 2; ++i) {
        f->bytes[i] = aligned_alloc(TAL_ALIGNMENT, f->size);
        if (f->bytes[i] == NULL || !made) exit(EXIT_FAILURE);
        memset(f->bytes[i], i, f->size);
    }
}

static void tear_down(fixture *f)
{
    tal_state_destroy(f->state);
    tal_state_destroy(f->copy);
    tal_system_destroy(f->system);
    free(f->bytes[0]);
    free(f->bytes[1]);
}

// --- what is timed ---

static void copy_state(void *context, long count)
{
    const fixture *f = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_copy(f->copy, f->state);
    }
}

// Through a pointer the compiler cannot see through, so that the copies are really made.
static void *(*volatile move)(void *, const void *, size_t) = memcpy;

static void copy_bytes(void *context, long count)
{
    const fixture *f = context;
    for (long i = 0; i < count; ++i) {
        (void)move(f->bytes[0], f->bytes[1], f->size);
    }
}

static void set_time(void *context, long count)
{
    const fixture *f = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_set_t(f->state, 0.0);
    }
}

static void climb(void *context, long count)
{
    const fixture *f = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_set_t(f->state, 0.0);
        if (tal_system_realize(f->system, f->state, TAL_STAGE_ACCELERATION) != TAL_OK) return;
    }
}

static void realize_again(void *context, long count)
{
    const fixture *f = context;
    for (long i = 0; i < count; ++i) {
        if (tal_system_realize(f->system, f->state, TAL_STAGE_ACCELERATION) != TAL_OK) return;
    }
}

static void read_lazy(void *context, long count)
{
    const fixture *f = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_cache_realize_double(f->system, f->state, f->parts[0].lazy);
    }
}

static void recompute_lazy(void *context, long count)
{
    const fixture *f = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_cache_invalidate(f->system, f->state, f->parts[0].lazy);
        (void)tal_cache_realize_double(f->system, f->state, f->parts[0].lazy);
    }
}

static void bench_copy(int size)
{
    fixture f;
    build(&f, size);
    bench table[] = {{.name = "tal_state_copy", .run = copy_state, .context = &f},
                     {.name = "memcpy of the same bytes", .run = copy_bytes, .context = &f}};
    bench_measure(table, 2, 301, 1e5);
    char title[80];
    (void)snprintf(title, sizeof title, "copy %zu bytes, a State of %zu", f.size,
                   tal_system_state_size(f.system));
    bench_print(title, table, 2);
    (void)printf("  ratio %.2f (aim: below 1.5)\n", table[0].median / table[1].median);
    tear_down(&f);
}

static void bench_ladder(void)
{
    fixture f;
    build(&f, 0);
    bench table[] = {
        {.name = "set t", .run = set_time, .context = &f},
        {.name = "set t, realize Time to Acceleration (aim: << 150)", .run = climb, .context = &f},
        {.name = "realize what is realized", .run = realize_again, .context = &f},
        {.name = "read a valid lazy entry (3 prerequisites)", .run = read_lazy, .context = &f},
        {.name = "compute a lazy entry", .run = recompute_lazy, .context = &f},
    };
    bench_measure(table, 5, 301, 1e5);
    bench_print("three subsystems with empty hooks", table, 5);
    tear_down(&f);
}

int main(void)
{
#ifndef NDEBUG
    (void)printf("asserts are on: invalid results are filled with NaN, which costs time\n");
#endif
    static const int sizes[] = {1, 30, 1000, 30000};
    for (int i = 0; i < 4; ++i) {
        bench_copy(sizes[i]);
    }
    bench_ladder();
    return EXIT_SUCCESS;
}
