// Tests of matter/src/constraint/constraint_order.c and constraint_envelope.c: many constraints in
// one block.
//
// Particles are joined by rods: a chain, a ring, a tree in which each carries two, or a pair. The
// rods may be listed in any order, and each any number of times.
#include "alloc_guard.h"
#include "loop_support.h"

typedef enum shape {
    CHAIN,
    RING,
    TREE,
    PAIR
} shape;

/// Which particles a rod joins; -1: Ground.
typedef struct ends {
    int a, b;
} ends;

static ends ends_of(shape kind, int particles, int rod)
{
    if (kind == PAIR) return (ends){0, 1};
    if (rod == 0) return (ends){kind == RING ? particles - 1 : -1, 0};
    return (ends){kind == TREE ? (rod - 1) / 2 : rod - 1, rod};
}

// Far enough from straight that rows are apart, and all distances differ.
static tal_vec3 place_of(shape kind, int particles, int i)
{
    if (kind == RING) {
        const double angle = 2.0 * TAL_PI * i / particles, r = 0.2 * particles;
        return tal_v3(r * cos(angle), r * sin(angle), 0.3 * (i % 3));
    }
    if (kind != TREE || i == 0) return tal_v3(0.8 * i, 0.6 * (i % 2), 1e-3 * (i % 7));
    const tal_vec3 parent = place_of(kind, particles, (i - 1) / 2);
    return tal_v3_add(parent, tal_v3(i % 2 != 0 ? 0.6 : -0.7, 0.1 * (i % 3), 0.8));
}

/// What is built.
typedef struct model {
    shape kind;
    int particles; ///< and as many rods, one of them to Ground; a pair has one rod
    int copies;    ///< of each rod, one after the other
    bool shuffled; ///< the order of the rods
} model;

static int rods_of(const model *m)
{
    return m->kind == PAIR ? 1 : m->particles;
}

// rods [rods]: the order they are listed in.
static void list_rods(const model *m, int rods[])
{
    test_rng rng = test_rng_seed(15);
    for (int i = 0; i < rods_of(m); ++i) {
        const int j = m->shuffled ? (int)test_random_uniform(&rng, 0.0, i + 0.999) : i;
        rods[i] = rods[j];
        rods[j] = i;
    }
}

static tal_vec3 end_place(const model *m, int i)
{
    return i < 0 ? tal_v3(0.1, 1.0, 0.0) : place_of(m->kind, m->particles, i);
}

// Constraint k of the model is copy k % copies of rods[k / copies]. Rods are as long as the places
// ask for, times `stretch`.
static void build(loop *l, const model *m, const int rods[], double stretch)
{
    loop_begin(l);
    for (int i = 0; i < m->particles; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = 1.0 + 0.1 * (i % 5);
        (void)tal_matter_add_translation(l->matter, TAL_GROUND, &def);
    }
    for (int k = 0; k < rods_of(m) * m->copies; ++k) {
        const ends e = ends_of(m->kind, m->particles, rods[k / m->copies]);
        const tal_vec3 a = end_place(m, e.a), b = end_place(m, e.b);
        (void)add_rod(l, (tal_body_ix){e.a + 1}, e.a < 0 ? a : TAL_VEC3_ZERO,
                      (tal_body_ix){e.b + 1}, TAL_VEC3_ZERO,
                      stretch * tal_v3_norm(tal_v3_sub(a, b)));
    }
    loop_finish(l);
    loop_realize(l, TAL_STAGE_MODEL);
    for (int i = 0; i < m->particles; ++i) {
        const tal_vec3 p = end_place(m, i);
        memcpy(tal_state_upd_q(l->state) + 3 * i, &p, sizeof p);
    }
}

static size_t state_size(shape kind, int particles, int copies, bool shuffled)
{
    const model m = {kind, particles, copies, shuffled};
    int *rods = calloc((size_t)particles, sizeof *rods);
    loop l;
    list_rods(&m, rods);
    build(&l, &m, rods, 1.0);
    const size_t size = tal_system_state_size(l.system);
    loop_end(&l);
    free(rods);
    return size;
}

// --- memory ---

// Four times the rods, four times the memory, and n log n for trees: 4 (1 + log 4 / log 500) = 4.9.
// What small blocks may have dense, two megabytes and less, only makes the ratio smaller.
START_TEST(memory_grows_with_the_rods_and_not_with_their_square)
{
    for (int shuffled = 0; shuffled < 2; ++shuffled) {
        for (int kind = CHAIN; kind <= TREE; ++kind) {
            const double small = (double)state_size((shape)kind, 500, 1, shuffled);
            const double large = (double)state_size((shape)kind, 2000, 1, shuffled);
            ck_assert_double_le(large / small, kind == TREE ? 4.9 : 4.05);
        }
    }
    const double some = (double)state_size(PAIR, 2, 500, false);
    const double many = (double)state_size(PAIR, 2, 2000, false);
    ck_assert_double_le(many / some, 4.05);
}

END_TEST

// --- accelerations ---

static void set_speeds(const loop *l)
{
    test_rng rng = test_rng_seed(16);
    for (int i = 0; i < tal_state_nu(l->state); ++i) {
        tal_state_upd_u(l->state)[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
}

// A chain of n rods has a condition number of n^2 or so; the rest is round-off of numbers of size
// 10.
static double round_off(const model *m)
{
    return 1e-14 * m->particles * m->particles;
}

// The order changes neither accelerations nor multipliers; copies share these.
START_TEST(accelerations_do_not_depend_on_order_or_copies)
{
    enum {
        N = 300
    };

    for (int kind = CHAIN; kind <= TREE; ++kind) {
        const model plain = {(shape)kind, N, 1, false}, other = {(shape)kind, N, 3, true};
        int rods[N], shuffled[N];
        loop a, b;
        list_rods(&plain, rods);
        list_rods(&other, shuffled);
        build(&a, &plain, rods, 1.0);
        build(&b, &other, shuffled, 1.0);
        set_speeds(&a), set_speeds(&b);
        loop_realize(&a, TAL_STAGE_ACCELERATION);
        loop_realize(&b, TAL_STAGE_ACCELERATION);
        const double within = round_off(&plain);
        test_assert_near(tal_state_udot(b.state), tal_state_udot(a.state), 3 * N, within, "udot");
        for (int k = 0; k < 3 * N; ++k) {
            ck_assert_double_eq_tol(tal_state_multipliers(b.state)[k],
                                    tal_state_multipliers(a.state)[shuffled[k / 3]] / 3.0, within);
            ck_assert_double_le(fabs(tal_state_udoterr(b.state)[k]), within);
        }
        loop_end(&a), loop_end(&b);
    }
}

END_TEST

// lambda = L S_i^2 / sum S^2, where L is what one rod would bear: the least sum of (lambda / S)^2.
// The search for it begins with L, of size 1, in one row and with weights to 2: round-off of some
// ten eps.
static void set_speeds_of(const loop *l, int first, int particles)
{
    double *u = tal_state_upd_u(l->state) + 3 * first;
    for (int i = 0; i < 3 * particles; ++i) {
        u[i] = sin(0.7 * i);
    }
}

// Chains that hang beside each other, their rods listed in any order, are blocks of their own: each
// moves as it does alone, and takes no more memory. The long one comes first, so that what its
// order leaves behind would reach into the others.
START_TEST(chains_beside_each_other_move_as_they_do_alone)
{
    enum {
        CHAINS = 4,
        ALL = 300 + 5 + 40 + 3
    };

    static const int sizes[CHAINS] = {300, 5, 40, 3};
    int chain[ALL], rod[ALL], n = 0;
    test_rng rng = test_rng_seed(17);
    for (int c = 0; c < CHAINS; ++c) {
        for (int i = 0; i < sizes[c]; ++i, ++n) {
            const int j = (int)test_random_uniform(&rng, 0.0, n + 0.999);
            chain[n] = chain[j], rod[n] = rod[j];
            chain[j] = c, rod[j] = i;
        }
    }
    loop all;
    loop_begin(&all);
    int first[CHAINS] = {0, 300, 305, 345};
    for (int c = 0; c < CHAINS; ++c) {
        for (int i = 0; i < sizes[c]; ++i) {
            tal_mobod_def def = tal_mobod_def_default();
            def.mass.mass = 1.0 + 0.1 * (i % 5);
            (void)tal_matter_add_translation(all.matter, TAL_GROUND, &def);
        }
    }
    for (int k = 0; k < ALL; ++k) {
        const ends e = ends_of(CHAIN, sizes[chain[k]], rod[k]);
        const model alone = {CHAIN, sizes[chain[k]], 1, false};
        const tal_vec3 a = end_place(&alone, e.a), b = end_place(&alone, e.b);
        const int body = first[chain[k]] + 1;
        (void)add_rod(&all, (tal_body_ix){e.a < 0 ? 0 : body + e.a}, e.a < 0 ? a : TAL_VEC3_ZERO,
                      (tal_body_ix){body + e.b}, TAL_VEC3_ZERO, tal_v3_norm(tal_v3_sub(a, b)));
    }
    loop_finish(&all);
    loop_realize(&all, TAL_STAGE_MODEL);
    size_t memory = 0;
    loop one[CHAINS];
    for (int c = 0; c < CHAINS; ++c) {
        const model alone = {CHAIN, sizes[c], 1, false};
        int rods[300];
        list_rods(&alone, rods);
        build(&one[c], &alone, rods, 1.0);
        memory += tal_system_state_size(one[c].system);
        set_speeds_of(&one[c], 0, sizes[c]);
        loop_realize(&one[c], TAL_STAGE_ACCELERATION);
        for (int i = 0; i < sizes[c]; ++i) {
            const tal_vec3 p = end_place(&alone, i);
            memcpy(tal_state_upd_q(all.state) + 3 * (first[c] + i), &p, sizeof p);
        }
        set_speeds_of(&all, first[c], sizes[c]);
    }
    loop_realize(&all, TAL_STAGE_ACCELERATION);
    for (int c = 0; c < CHAINS; ++c) {
        const model alone = {CHAIN, sizes[c], 1, false};
        const double *udot = tal_state_udot(one[c].state);
        test_assert_near(tal_state_udot(all.state) + 3 * first[c], udot, 3 * sizes[c],
                         round_off(&alone), "udot");
        loop_end(&one[c]);
    }
    ck_assert_uint_le(tal_system_state_size(all.system), memory);
    loop_end(&all);
}

END_TEST

START_TEST(thousands_of_copies_bear_their_shares)
{
    enum {
        COPIES = 3000
    };

    const model m = {PAIR, 2, COPIES, false}, one = {PAIR, 2, 1, false};
    const int rods[] = {0};
    loop l, alone;
    build(&l, &m, rods, 1.0);
    build(&alone, &one, rods, 1.0);
    set_speeds(&l), set_speeds(&alone);
    double sum = 0.0;
    for (int k = 0; k < COPIES; ++k) {
        const double share = 0.5 + 0.1 * (k % 10);
        const tal_constraint_ix rod = {k};
        ck_assert_int_eq(tal_constraint_set_share(l.matter, l.state, rod, share), TAL_OK);
        sum += share * share;
    }
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    loop_realize(&alone, TAL_STAGE_ACCELERATION);
    test_assert_near(tal_state_udot(l.state), tal_state_udot(alone.state), 6, 1e-13, "udot");
    for (int k = 0; k < COPIES; ++k) {
        const double share = 0.5 + 0.1 * (k % 10);
        ck_assert_double_eq_tol(tal_state_multipliers(l.state)[k],
                                tal_state_multipliers(alone.state)[0] * share * share / sum, 1e-14);
    }
    tal_rows_report report;
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL), TAL_OK);
    ck_assert_int_eq(report.rank, 1);
    ck_assert_int_eq(report.num_redundant, COPIES - 1);
    ck_assert_int_eq(report.num_inconsistent, 0);
    loop_end(&l), loop_end(&alone);
}

END_TEST

// A disabled rod is as one that is not there, wherever it stands in the order.
START_TEST(disabled_constraints_leave_no_trace)
{
    enum {
        N = 300
    };

    const model m = {TREE, N, 2, true};
    int rods[N];
    loop a, b;
    list_rods(&m, rods);
    build(&a, &m, rods, 1.0);
    build(&b, &m, rods, 1.0);
    set_speeds(&a), set_speeds(&b);
    for (int k = 0; k < 2 * N; k += 2) { // first copies in one, second copies in the other
        const tal_constraint_ix even = {k}, odd = {k + 1};
        ck_assert_int_eq(tal_constraint_set_enabled(a.matter, a.state, even, false), TAL_OK);
        if (k % 3 == 0) continue; // some stay doubled
        ck_assert_int_eq(tal_constraint_set_enabled(b.matter, b.state, odd, false), TAL_OK);
    }
    loop_realize(&a, TAL_STAGE_ACCELERATION);
    loop_realize(&b, TAL_STAGE_ACCELERATION);
    test_assert_near(tal_state_udot(b.state), tal_state_udot(a.state), 3 * N, round_off(&m),
                     "udot");
    loop_end(&a), loop_end(&b);
}

END_TEST

// Copies that want different accelerations contradict each other, in a large block as in a small
// one.
START_TEST(contradictions_are_found_among_many_rows)
{
    for (int copies = 10; copies <= 1000; copies *= 100) {
        loop l;
        loop_begin(&l);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = 1.0;
        const tal_body_ix body = tal_matter_add_slider(l.matter, TAL_GROUND, &def);
        tal_constraint_def push = tal_constraint_def_default();
        push.mobilities[0].body = body;
        for (int k = 0; k < copies; ++k) {
            const double wanted = k % 2 == 0 ? 1.0 : 2.0;
            (void)tal_matter_add_constraint(l.matter, &push, &test_acceleration, NULL, &wanted);
        }
        loop_finish(&l);
        ck_assert_int_eq(tal_system_realize(l.system, l.state, TAL_STAGE_ACCELERATION),
                         TAL_ERR_SINGULAR);
        ck_assert_msg(strstr(tal_state_error(l.state)->message, "contradict") != NULL, "%s",
                      tal_state_error(l.state)->message);
        loop_end(&l);
    }
}

END_TEST

// --- projection ---

// Rods are a thousandth too long. Copies and order change nothing.
START_TEST(projection_does_not_depend_on_order_or_copies)
{
    enum {
        N = 300
    };

    for (int kind = CHAIN; kind <= TREE; ++kind) {
        const model plain = {(shape)kind, N, 1, false}, other = {(shape)kind, N, 3, true};
        int rods[N], shuffled[N];
        loop a, b, *both[2] = {&a, &b};
        list_rods(&plain, rods);
        list_rods(&other, shuffled);
        build(&a, &plain, rods, 1.001);
        build(&b, &other, shuffled, 1.001);
        tal_project_options options = tal_project_options_default();
        options.tolerance = 1e-12;
        for (int k = 0; k < 2; ++k) {
            set_speeds(both[k]);
            loop_realize(both[k], TAL_STAGE_POSITION);
            tal_status st =
                tal_system_project_q(both[k]->system, both[k]->state, &options, NULL, NULL);
            loop_realize(both[k], TAL_STAGE_VELOCITY);
            if (st == TAL_OK) {
                st = tal_system_project_u(both[k]->system, both[k]->state, &options, NULL, NULL);
            }
            ck_assert_msg(st == TAL_OK, "%s", tal_state_error(both[k]->state)->message);
        }
        const double within = round_off(&plain);
        test_assert_near(tal_state_q(b.state), tal_state_q(a.state), 3 * N, within, "q");
        test_assert_near(tal_state_u(b.state), tal_state_u(a.state), 3 * N, within, "u");
        loop_end(&a), loop_end(&b);
    }
}

END_TEST

START_TEST(many_rows_do_not_touch_the_heap)
{
    enum {
        N = 300
    };

    const model m = {CHAIN, N, 3, true};
    int rods[N];
    loop l;
    list_rods(&m, rods);
    build(&l, &m, rods, 1.001);
    tal_status st = TAL_OK;
    test_assert_no_heap({
        st = tal_system_realize(l.system, l.state, TAL_STAGE_POSITION);
        if (st == TAL_OK) st = tal_system_project_q(l.system, l.state, NULL, NULL, NULL);
        if (st == TAL_OK) st = tal_system_realize(l.system, l.state, TAL_STAGE_ACCELERATION);
    });
    ck_assert_int_eq(st, TAL_OK);
    loop_end(&l);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter/constraint_order");
    TCase *tc = tcase_create("large blocks");
    tcase_add_test(tc, memory_grows_with_the_rods_and_not_with_their_square);
    tcase_add_test(tc, accelerations_do_not_depend_on_order_or_copies);
    tcase_add_test(tc, chains_beside_each_other_move_as_they_do_alone);
    tcase_add_test(tc, thousands_of_copies_bear_their_shares);
    tcase_add_test(tc, disabled_constraints_leave_no_trace);
    tcase_add_test(tc, contradictions_are_found_among_many_rows);
    tcase_add_test(tc, projection_does_not_depend_on_order_or_copies);
    tcase_add_test(tc, many_rows_do_not_touch_the_heap);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
