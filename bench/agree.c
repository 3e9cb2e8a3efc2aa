// Nothing is timed before all contestants agree.
#include "agree.h"

#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
 * Relative difference allowed between two contestants. The passes differ by 1e-13 at n = 10000. Who
 * factors M has the round-off of its condition number, which for a chain of n links grows between
 * n^2 and n^4: measured 1e-10 at 100 and 9e-8 at 1000, so beyond 100 the bound grows with n^3.
 *
 * Of a closed loop the multipliers come from W = G M^-1 G^T. Their round-off is its condition
 * number, for N four-bars at most N^2 times that of one (10 or so), times eps times the number of
 * terms in a sum, at most nu: 200^2 * 10 * 400 * 1.1e-16 = 2e-8 in the worst case, and its root
 * 1e-11 when errors are random. The bound of 1e-9 is between the two.
 */
static double tolerance(const model *m, const contestant *who)
{
    const double n = 0.01 * (double)m->nu;
    return who->factors_M && n > 1.0 ? 1e-9 * n * n * n : 1e-9;
}

// The largest difference from the first who can; NaN, with a sentence, when it is too large.
static double compare(const model *m, const contestant *const who[], void *const selves[], int n,
                      quantity what, bool fresh)
{
    const int size = answer_size(m, what);
    double *answers[2] = {calloc((size_t)size, sizeof(double)),
                          calloc((size_t)size, sizeof(double))};
    if (answers[0] == NULL || answers[1] == NULL) exit(EXIT_FAILURE);
    const char *first = NULL;
    double worst = 0.0;
    for (int i = 0; i < n && worst >= 0.0; ++i) {
        if (selves[i] == NULL || !contestant_can(who[i], what, fresh)) continue;
        who[i]->answer(selves[i], what, fresh, answers[first != NULL]);
        if (first == NULL) {
            first = who[i]->name;
            continue;
        }
        const double d = difference(answers[1], answers[0], size);
        worst = d <= worst ? worst : d;
        if (d <= tolerance(m, who[i])) continue;
        (void)fprintf(stderr, "bench: %s, %s: %s and %s differ by %.2g; nothing was timed\n",
                      m->name, quantity_name(what), first, who[i]->name, d);
        worst = (double)NAN;
    }
    free(answers[0]);
    free(answers[1]);
    return worst;
}

bool agree(const model *m, const contestant *const who[], void *const selves[], int n)
{
    double worst = 0.0;
    for (int k = 0; k < 2 * NUM_QUANTITIES; ++k) {
        const quantity what = (quantity)(k / 2);
        const bool fresh = k % 2 == 0;
        if (what == STATE_COPY || !is_timed(m, what, fresh)) continue;
        const double d = compare(m, who, selves, n, what, fresh);
        if (isnan(d)) return false;
        worst = fmax(worst, d);
    }
    (void)printf("%-16s all agree to %.1e\n", m->name, worst);
    return true;
}
