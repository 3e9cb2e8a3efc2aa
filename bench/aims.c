// What the rows say together: what is added to a tree, how long chains fare, allocations.
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

// What loops and springs add, against the same tree without them.
static void print_added(const row *r)
{
    const figure *all = row_figure(r, "Talus"), *tree = row_figure(r, FIGURE_TREE);
    if (all == NULL || tree == NULL || r->what != FORWARD) return;
    char aim[60] = "";
    if (strncmp(r->model, "ball-closed", 11) == 0) {
        (void)snprintf(aim, sizeof aim, "; aim 1.6 and 1 us: %.2f us", 1.6e-3 * tree->least + 1.0);
    }
    if (strncmp(r->model, "sprung", 6) == 0) (void)snprintf(aim, sizeof aim, "; aim 1.3");
    (void)printf("  %-16s %9.2f us, tree alone %8.2f us: %5.2f of it%s\n", r->model,
                 1e-3 * all->least, 1e-3 * tree->least, all->least / tree->least, aim);
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
    for (int i = 0; i < n; ++i) {
        print_added(&rows[i]);
    }
    print_allocations(rows, n);
}
