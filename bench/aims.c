// What the rows say together: how long chains fare, allocations.
#include "aims.h"

#include <stdio.h>
#include <string.h>

// Whose time for a row of this series, in ns; 0 when it is not one.
static double cost_of(const row *r, const char *series, quantity what, const char *who)
{
    if (r->what != what || !r->fresh) return 0.0;
    if (strncmp(r->model, series, strlen(series)) != 0) return 0.0;
    const figure *f = row_figure(r, who);
    return f == NULL ? 0.0 : f->least;
}

// Cost per body of a long chain against a short one.
static void print_long_chain(const row rows[], int n)
{
    double per_body[2] = {0.0, 0.0};
    for (int i = 0; i < n; ++i) {
        const double cost = cost_of(&rows[i], "chain ", FORWARD, "Talus");
        if (rows[i].nu == 100 && cost > 0.0) per_body[0] = 0.01 * cost;
        if (rows[i].nu == 10000 && cost > 0.0) per_body[1] = 0.0001 * cost;
    }
    if (per_body[0] <= 0.0 || per_body[1] <= 0.0) return;
    (void)printf(
        "  forward dynamics per body, 10000 against 100: %.1f and %.1f ns, %.2f (aim 1.5)\n",
        per_body[1], per_body[0], per_body[1] / per_body[0]);
}

static void print_allocations(const row rows[], int n)
{
    int with = 0;
    for (int i = 0; i < n; ++i) {
        const figure *f = row_figure(&rows[i], "Talus");
        if (f != NULL && f->allocations > 0.0) ++with;
    }
    (void)printf("  rows in which Talus allocates: %d of %d (aim 0)\n", with, n);
}

void aims_print(const row rows[], int n)
{
    (void)printf("\ntaken together\n");
    print_long_chain(rows, n);
    print_allocations(rows, n);
}
