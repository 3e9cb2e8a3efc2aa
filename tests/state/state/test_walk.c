// Promise P18: whatever was done to a State before, every result it gives equals, bit for bit, the
// result of a fresh State with the same variables.
#include "talus_test.h"
#include "toy_system.h"

#include <stdlib.h>
#include <string.h>

enum {
    NUM_STATES = 3,
    NUM_OPERATIONS = 15
};

// 10^6 operations; ten times as many under ./run soak; or as the first argument says.
static long walk_length = 1000000;

typedef struct walk {
    toy made;
    tal_state *state[NUM_STATES];
    tal_state *fresh; ///< computed from nothing whenever it is asked
    void *bytes;      ///< room for one saved State
    size_t size;
    uint64_t stream;
    long comparisons;
} walk;

static int below(walk *w, int n)
{
    return (int)(toy_random(&w->stream) % (uint64_t)n);
}

static tal_stage any_stage(walk *w, tal_stage lowest)
{
    return (tal_stage)((int)lowest + below(w, TAL_STAGE_REPORT - (int)lowest + 1));
}

static void begin_walk(walk *w)
{
    *w = (walk){.stream = 20240611};
    ck_assert(toy_build(&w->made, NULL));
    for (int i = 0; i < NUM_STATES; ++i) {
        w->state[i] = toy_state(&w->made);
        ck_assert_ptr_nonnull(w->state[i]);
        toy_scramble(&w->made, w->state[i], (uint64_t)i);
    }
    w->fresh = toy_state(&w->made);
    ck_assert_ptr_nonnull(w->fresh);
    w->size = tal_state_save_size(w->fresh);
    w->bytes = malloc(w->size);
}

static void end_walk(walk *w)
{
    for (int i = 0; i < NUM_STATES; ++i) {
        tal_state_destroy(w->state[i]);
    }
    tal_state_destroy(w->fresh);
    tal_system_destroy(w->made.system);
    free(w->bytes);
}

static void realize(const walk *w, tal_state *state, tal_stage stage)
{
    const tal_status st = tal_system_realize(w->made.system, state, stage);
    if (st != TAL_OK) ck_abort_msg("%s", tal_state_error(state)->message);
}

// --- the same variables in a State that remembers nothing ---

static void copy_var(const walk *w, const tal_state *from, tal_var_ix var)
{
    (void)tal_var_set(w->made.system, w->fresh, var, tal_var_value(w->made.system, from, var));
}

// Variable by variable, lowest stage first.
static void set_fresh(walk *w, const tal_state *from)
{
    (void)tal_state_invalidate(w->fresh, TAL_STAGE_MODEL);
    for (int p = 0; p < TOY_PARTS; ++p) {
        copy_var(w, from, w->made.part[p].nq);
    }
    realize(w, w->fresh, TAL_STAGE_MODEL);
    (void)tal_state_set_t(w->fresh, tal_state_t(from));
    (void)tal_state_set_y(w->fresh, tal_state_y(from), tal_state_ny(from));
    (void)tal_state_set_weights(w->fresh, TAL_POOL_U, tal_state_weights(from, TAL_POOL_U),
                                tal_state_nu(from));
    (void)tal_state_set_weights(w->fresh, TAL_POOL_Z, tal_state_weights(from, TAL_POOL_Z),
                                tal_state_nz(from));
    for (int p = 0; p < TOY_PARTS; ++p) {
        const toy_part *part = &w->made.part[p];
        for (int s = TAL_STAGE_INSTANCE; s <= TAL_STAGE_REPORT; ++s) {
            copy_var(w, from, part->var[s]);
        }
        copy_var(w, from, part->m);
        copy_var(w, from, part->mode);
        copy_var(w, from, part->peak);
    }
    if (tal_state_stage(from) < TAL_STAGE_INSTANCE) return;
    realize(w, w->fresh, TAL_STAGE_INSTANCE);
    (void)tal_state_set_weights(w->fresh, TAL_POOL_QERR, tal_state_weights(from, TAL_POOL_QERR),
                                tal_state_pool_size(from, TAL_POOL_QERR));
    (void)tal_state_set_weights(w->fresh, TAL_POOL_UERR, tal_state_weights(from, TAL_POOL_UERR),
                                tal_state_pool_size(from, TAL_POOL_UERR));
}

static void load_fresh(walk *w, tal_state *from)
{
    ck_assert_int_eq(tal_state_save(from, w->bytes, w->size), TAL_OK);
    ck_assert_int_eq(tal_state_load(w->made.system, w->fresh, w->bytes, w->size), TAL_OK);
}

// --- operations ---

static void set_y(walk *w, tal_state *state)
{
    double y[3 * TOY_PARTS * TOY_MAX_Q];
    for (size_t i = 0; i < sizeof y / sizeof y[0]; ++i) {
        y[i] = toy_real(&w->stream);
    }
    if (tal_state_stage(state) < TAL_STAGE_MODEL) realize(w, state, TAL_STAGE_MODEL);
    switch (below(w, 7)) {
    case 0:
        (void)tal_state_set_q(state, y, tal_state_nq(state));
        break;
    case 1:
        (void)tal_state_set_u(state, y, tal_state_nu(state));
        break;
    case 2:
        (void)tal_state_set_z(state, y, tal_state_nz(state));
        break;
    case 3:
        (void)tal_state_set_y(state, y, tal_state_ny(state));
        break;
    case 4:
        memcpy(tal_state_upd_q(state), y, (size_t)tal_state_nq(state) * sizeof(double));
        break;
    case 5:
        memcpy(tal_state_upd_u(state), y, (size_t)tal_state_nu(state) * sizeof(double));
        break;
    default:
        memcpy(tal_state_upd_z(state), y, (size_t)tal_state_nz(state) * sizeof(double));
        break;
    }
}

static void set_var(walk *w, tal_state *state)
{
    const toy_part *part = &w->made.part[below(w, TOY_PARTS)];
    const int kind = below(w, TAL_NUM_STAGES - TAL_STAGE_INSTANCE + 2);
    tal_var_ix var = part->mode;
    if (kind == 0) {
        var = part->peak;
    } else if (kind > 1) {
        var = part->var[TAL_STAGE_INSTANCE + kind - 2];
    } else if (tal_state_stage(state) < TAL_STAGE_MODEL) {
        realize(w, state, TAL_STAGE_MODEL);
    }
    ck_assert_int_eq(tal_var_set_double(w->made.system, state, var, toy_real(&w->stream)), TAL_OK);
}

static void set_choice(walk *w, tal_state *state)
{
    const toy_part *part = &w->made.part[below(w, TOY_PARTS)];
    const bool model = below(w, 3) == 0;
    const int32_t n = below(w, model ? TOY_MAX_Q + 1 : TOY_MAX_M + 1);
    (void)tal_var_set(w->made.system, state, model ? part->nq : part->m, &n);
}

static void set_weights(walk *w, tal_state *state)
{
    static const tal_pool pools[] = {TAL_POOL_U, TAL_POOL_Z, TAL_POOL_QERR, TAL_POOL_UERR};
    const tal_pool pool = pools[below(w, 4)];
    if (tal_state_stage(state) < TAL_STAGE_INSTANCE) realize(w, state, TAL_STAGE_INSTANCE);
    double weights[TOY_PARTS * TOY_MAX_Q];
    for (int i = 0; i < TOY_PARTS * TOY_MAX_Q; ++i) {
        weights[i] = 2.0 + toy_real(&w->stream);
    }
    const int n = tal_state_pool_size(state, pool);
    ck_assert_int_eq(tal_state_set_weights(state, pool, weights, n), TAL_OK);
}

static void begin_step(walk *w, tal_state *state)
{
    if (tal_state_stage(state) < TAL_STAGE_POSITION) {
        realize(w, state, any_stage(w, TAL_STAGE_POSITION));
    }
    const tal_stage before = tal_state_stage(state);
    ck_assert_int_eq(tal_system_begin_step(w->made.system, state), TAL_OK);
    ck_assert_int_eq(tal_state_stage(state), before);
}

// One result, so that most lazy entries stay as they are, some of them old.
static void compare_one(walk *w, tal_state *state)
{
    const int i = below(w, w->made.num_entries);
    const tal_cache_ix entry = w->made.entry[i];
    realize(w, state, TAL_STAGE_REPORT);
    set_fresh(w, state);
    realize(w, w->fresh, TAL_STAGE_REPORT);
    const double *cached = tal_cache_realize(w->made.system, state, entry);
    const double *computed = tal_cache_realize(w->made.system, w->fresh, entry);
    ck_assert_msg(memcmp(cached, computed, sizeof *cached) == 0, "'%s': %.17g, but fresh %.17g",
                  tal_cache_name(w->made.system, entry), *cached, *computed);
    ++w->comparisons;
}

static void compare_all(walk *w, tal_state *state)
{
    const tal_stage stage = any_stage(w, TAL_STAGE_MODEL);
    const bool by_file = below(w, 2) == 0;
    if (by_file) load_fresh(w, state);
    if (tal_state_stage(state) < stage) realize(w, state, stage);
    if (!by_file) set_fresh(w, state);
    realize(w, w->fresh, tal_state_stage(state));
    // weights of errors cannot be set before Instance
    const bool complete = by_file || tal_state_stage(state) >= TAL_STAGE_INSTANCE;
    if (complete && !tal_state_is_equal(state, w->fresh)) ck_abort_msg("variables differ");
    if (toy_digest(&w->made, state) != toy_digest(&w->made, w->fresh)) {
        ck_abort_msg("results differ at stage %s", tal_stage_name(tal_state_stage(state)));
    }
    ++w->comparisons;
}

static void operate(walk *w, tal_state *state)
{
    tal_state *other = w->state[below(w, NUM_STATES)];
    const tal_cache_ix entry = w->made.entry[below(w, w->made.num_entries)];
    switch (below(w, NUM_OPERATIONS)) {
    case 0:
        (void)tal_state_set_t(state, toy_real(&w->stream));
        break;
    case 1:
    case 2:
    case 3:
        set_y(w, state);
        break;
    case 4:
    case 5:
        set_var(w, state);
        break;
    case 6:
        if (below(w, 4) == 0) set_choice(w, state);
        break;
    case 7:
        set_weights(w, state);
        break;
    case 8:
        (void)tal_state_copy(state, other);
        break;
    case 9:
        begin_step(w, state);
        break;
    case 10:
        if (below(w, 8) != 0) break;
        ck_assert_int_eq(tal_state_save(other, w->bytes, w->size), TAL_OK);
        ck_assert_int_eq(tal_state_load(w->made.system, state, w->bytes, w->size), TAL_OK);
        break;
    case 11:
        if (entry.i == w->made.part[0].of_tz.i) {
            (void)tal_cache_invalidate(w->made.system, state, entry);
        } else {
            (void)tal_state_invalidate(state, any_stage(w, TAL_STAGE_INSTANCE));
        }
        break;
    case 12:
        compare_one(w, state);
        break;
    case 13:
        compare_all(w, state);
        break;
    default:
        realize(w, state, any_stage(w, TAL_STAGE_MODEL));
        break;
    }
}

START_TEST(every_cached_result_equals_that_of_a_fresh_state)
{
    test_record_breaches();
    walk w;
    begin_walk(&w);
    for (long i = 0; i < walk_length; ++i) {
        operate(&w, w.state[below(&w, NUM_STATES)]);
        if (test_breaches() != 0) ck_abort_msg("step %ld: %s", i, tal_contract_last()->message);
    }
    ck_assert_int_gt(w.comparisons, walk_length / 10);
    end_walk(&w);
}

END_TEST

// The same trajectory of operations, once with the cache and once with everything computed again
// before each look.
START_TEST(results_do_not_change_when_caching_is_defeated)
{
    walk w;
    begin_walk(&w);
    tal_state *state = w.state[0];
    for (int i = 0; i < 2000; ++i) {
        set_y(&w, state);
        set_var(&w, state);
        realize(&w, state, TAL_STAGE_REPORT);
        const uint64_t cached = toy_digest(&w.made, state);

        double mode[TOY_PARTS]; // allocated at Model: the defeat would take them back
        for (int p = 0; p < TOY_PARTS; ++p) {
            mode[p] = tal_var_double(w.made.system, state, w.made.part[p].mode);
        }
        ck_assert_int_eq(tal_state_invalidate(state, TAL_STAGE_MODEL), TAL_OK);
        realize(&w, state, TAL_STAGE_MODEL);
        for (int p = 0; p < TOY_PARTS; ++p) {
            (void)tal_var_set_double(w.made.system, state, w.made.part[p].mode, mode[p]);
        }
        realize(&w, state, TAL_STAGE_REPORT);
        if (toy_digest(&w.made, state) != cached) ck_abort_msg("step %d differs", i);
    }
    end_walk(&w);
}

END_TEST

int main(int argc, char **argv)
{
    if (getenv("TALUS_SOAK") != NULL) walk_length *= 10;
    if (argc > 1) walk_length = strtol(argv[1], NULL, 10);
    Suite *suite = suite_create("state/walk");
    TCase *tests = tcase_create("walk");
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, every_cached_result_equals_that_of_a_fresh_state);
    tcase_add_test(tests, results_do_not_change_when_caching_is_defeated);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
