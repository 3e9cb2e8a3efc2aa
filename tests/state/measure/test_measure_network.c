// state/src/measure*.c together: a network of measures with sampled feedback, copied, saved,
// loaded, changed at random, and run by several threads.
#include "measure_fixture.h"

#include <pthread.h>

enum {
    NUM = 13
};

typedef struct network {
    fixture f;
    tal_measure_ix m[NUM];
} network;

static network begin_network(const tal_allocator *allocator)
{
    network net;
    tal_system_def system = tal_system_def_default();
    if (allocator != NULL) system.allocator = *allocator;
    net.f.system = tal_system_create(&system);
    net.f.owner = tal_system_add_subsystem(net.f.system, "idle", &idle_ops, NULL);
    tal_system *s = net.f.system;
    const tal_subsystem_ix me = net.f.owner;
    const double one = 1.0;
    tal_measure_ix *m = net.m;
    m[0] = tal_measure_add_time(s, me, "t");
    m[1] = tal_measure_add_sinusoid(s, me, "wave", 2.0, 3.0, 0.5);
    m[2] = tal_measure_add_variable(s, me, "gain", &one, 1, TAL_STAGE_VELOCITY);
    m[3] = tal_measure_add_sum(s, me, "sum", m[1], m[2]);
    m[4] = tal_measure_add_integrate(s, me, "area", m[3], &one);
    m[5] = tal_measure_add_differentiate(s, me, "slope", m[3]);
    m[6] = tal_measure_add_extreme(s, me, "max", TAL_EXTREME_MAXIMUM, m[4]);
    tal_delay_def delay = tal_delay_def_default();
    delay.name = "echo";
    delay.operand = m[4];
    delay.delay = 0.3;
    delay.capacity = 64;
    m[7] = tal_measure_add_delay(s, me, &delay);
    delay.name = "wave echo";
    delay.operand = m[1];
    m[8] = tal_measure_add_delay(s, me, &delay);
    tal_hold_def hold = tal_hold_def_default();
    hold.name = "hold";
    hold.operand = m[7];
    hold.period = 0.25;
    m[9] = tal_measure_add_hold(s, me, &hold);
    m[10] = tal_measure_add_difference(s, me, "error", m[9], m[4]);
    m[11] = tal_measure_add_integrate(s, me, "loop", m[10], NULL); // sampled feedback
    m[12] = tal_measure_add_extreme(s, me, "least", TAL_EXTREME_MINIMUM_ABS, m[10]);
    finish_fixture(&net.f);
    return net;
}

// One step of Euler's method.
static void advance(const tal_system *s, tal_state *state, double h)
{
    ck_assert_int_eq(tal_system_realize(s, state, TAL_STAGE_REPORT), TAL_OK);
    ck_assert_int_eq(tal_system_begin_step(s, state), TAL_OK);
    ck_assert_int_eq(tal_system_realize(s, state, TAL_STAGE_REPORT), TAL_OK);
    double z[2];
    for (int i = 0; i < 2; ++i) {
        z[i] = tal_state_z(state)[i] + h * tal_state_zdot(state)[i];
    }
    (void)tal_state_set_t(state, tal_state_t(state) + h);
    (void)tal_state_set_z(state, z, 2);
    ck_assert_int_eq(tal_system_realize(s, state, TAL_STAGE_REPORT), TAL_OK);
}

static void assert_same_values(const network *net, tal_state *a, tal_state *b)
{
    for (int i = 0; i < NUM; ++i) {
        const double va = tal_measure_value(net->f.system, a, net->m[i]);
        const double vb = tal_measure_value(net->f.system, b, net->m[i]);
        ck_assert(isfinite(va));
        ck_assert_msg(memcmp(&va, &vb, sizeof va) == 0, "%s: %.17g and %.17g",
                      tal_measure_name(net->f.system, net->m[i]), va, vb);
    }
}

START_TEST(a_run_resumed_from_a_file_is_bitwise_the_same)
{
    network net = begin_network(NULL);
    const tal_system *s = net.f.system;
    tal_state *whole = net.f.state;
    for (int k = 0; k < 40; ++k) {
        advance(s, whole, 0.03);
    }
    const size_t size = tal_state_save_size(whole);
    void *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(tal_state_save(whole, bytes, size), TAL_OK);
    tal_state *loaded = NULL;
    tal_state *copied = NULL;
    ck_assert_int_eq(tal_state_create(s, &loaded, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(s, &copied, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_load(s, loaded, bytes, size), TAL_OK);
    ck_assert_int_eq(tal_state_copy(copied, whole), TAL_OK);

    for (int k = 0; k < 40; ++k) {
        advance(s, whole, 0.03);
        advance(s, loaded, 0.03);
        advance(s, copied, 0.03);
        assert_same_values(&net, whole, loaded);
        assert_same_values(&net, whole, copied);
        ck_assert(tal_state_is_equal(whole, loaded));
        ck_assert(tal_state_is_equal(whole, copied));
    }
    free(bytes);
    tal_state_destroy(loaded);
    tal_state_destroy(copied);
    end_fixture(&net.f);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return *seed >> 8;
}

// One change of the State, chosen at random.
static void change(const network *net, tal_state *state, uint32_t *seed)
{
    const tal_system *s = net->f.system;
    const double x = next_random(seed) % 1000 / 1000.0;
    const double z[] = {x, 1.0 - x};
    switch (next_random(seed) % 8) {
    case 0:
        (void)tal_state_set_t(state, tal_state_t(state) + 0.01 * x);
        break;
    case 1:
        (void)tal_state_set_z(state, z, 2);
        break;
    case 2:
        (void)tal_measure_set(s, state, net->m[2], &x, 1);
        break;
    case 3:
        (void)tal_measure_set(s, state, net->m[4], &x, 1);
        break;
    case 4:
        ck_assert_int_eq(tal_measure_sample(s, state, net->m[9]), TAL_OK);
        break;
    case 5:
        (void)tal_measure_restart(s, state, net->m[5 + next_random(seed) % 4]);
        break;
    default:
        advance(s, state, 0.01);
        break;
    }
}

START_TEST(after_any_changes_the_values_are_those_of_a_fresh_state)
{
    network net = begin_network(NULL);
    const tal_system *s = net.f.system;
    tal_state *state = net.f.state;
    const size_t size = tal_state_save_size(state);
    void *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    uint32_t seed = 20240229;
    for (int k = 0; k < 3000; ++k) {
        // read something, so that there are results that can be out of date; then change something
        (void)tal_measure_value(s, state, net.m[next_random(&seed) % NUM]);
        (void)tal_measure_value(s, state, net.m[next_random(&seed) % NUM]);
        change(&net, state, &seed);
        ck_assert_int_eq(tal_system_realize(s, state, TAL_STAGE_REPORT), TAL_OK);
        if (k % 3 != 0) continue;

        tal_state *fresh = NULL;
        ck_assert_int_eq(tal_state_create(s, &fresh, NULL), TAL_OK);
        ck_assert_int_eq(tal_state_save(state, bytes, size), TAL_OK);
        ck_assert_int_eq(tal_state_load(s, fresh, bytes, size), TAL_OK);
        ck_assert_int_eq(tal_system_realize(s, fresh, TAL_STAGE_REPORT), TAL_OK);
        assert_same_values(&net, state, fresh);
        ck_assert_mem_eq(tal_state_zdot(state), tal_state_zdot(fresh), 2 * sizeof(double));
        tal_state_destroy(fresh);
    }
    ck_assert_int_eq(test_breaches(), 0);
    free(bytes);
    end_fixture(&net.f);
}

START_TEST(nothing_is_allocated_once_the_state_exists)
{
    test_heap heap = {0};
    const tal_allocator counting = test_heap_allocator(&heap);
    network net = begin_network(&counting);
    const int before = heap.calls;
    ck_assert_int_gt(before, 0);
    uint32_t seed = 1;
    for (int k = 0; k < 300; ++k) {
        change(&net, net.f.state, &seed);
        ck_assert_int_eq(tal_system_realize(net.f.system, net.f.state, TAL_STAGE_REPORT), TAL_OK);
        assert_same_values(&net, net.f.state, net.f.state);
    }
    ck_assert_int_eq(heap.calls, before);
    end_fixture(&net.f);
}

typedef struct job {
    const network *net;
    tal_state *state;
} job;

static void *run_job(void *argument)
{
    const job *j = argument;
    for (int k = 0; k < 200; ++k) {
        advance(j->net->f.system, j->state, 0.01);
    }
    return NULL;
}

START_TEST(threads_that_share_a_system_compute_what_one_does)
{
    enum {
        THREADS = 4
    };

    network net = begin_network(NULL);
    pthread_t threads[THREADS];
    job jobs[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        jobs[i].net = &net;
        ck_assert_int_eq(tal_state_create(net.f.system, &jobs[i].state, NULL), TAL_OK);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_job, &jobs[i]), 0);
    }
    job alone = {&net, net.f.state};
    (void)run_job(&alone);
    for (int i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        assert_same_values(&net, net.f.state, jobs[i].state);
        ck_assert(tal_state_is_equal(net.f.state, jobs[i].state));
        tal_state_destroy(jobs[i].state);
    }
    end_fixture(&net.f);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("state/measure_network");
    TCase *tc = tcase_create("network");
    tcase_add_test(tc, a_run_resumed_from_a_file_is_bitwise_the_same);
    tcase_add_test(tc, after_any_changes_the_values_are_those_of_a_fresh_state);
    tcase_add_test(tc, nothing_is_allocated_once_the_state_exists);
    tcase_add_test(tc, threads_that_share_a_system_compute_what_one_does);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
