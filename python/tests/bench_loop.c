// The loops of bench_calls.py in C: what Python is measured against.
#include <talus/talus.h>

#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds of n times: set q and u, realize to Acceleration.
double bench_realize(tal_system *system, tal_state *state, const double *q, int nq,
                     const double *u, int nu, int n)
{
    const double start = now();
    for (int k = 0; k < n; ++k) {
        if (tal_state_set_q(state, q, nq) != TAL_OK) return -1.0;
        if (tal_state_set_u(state, u, nu) != TAL_OK) return -1.0;
        if (tal_system_realize(system, state, TAL_STAGE_ACCELERATION) != TAL_OK) return -1.0;
    }
    return now() - start;
}

// Seconds of n readings of a coordinate.
double bench_q(const tal_matter *matter, const tal_state *state, int body, int n)
{
    volatile double sum = 0.0;
    const double start = now();
    for (int k = 0; k < n; ++k) {
        sum = sum + tal_body_q(matter, state, (tal_body_ix){body}, 0);
    }
    return now() - start;
}
