// What a comparison found.
#include "model/verdict.h"

#include "text/report.h"

#include <math.h>
#include <stdlib.h>

verdict *verdicts_create(const cli_choices *choices)
{
    return cli_alloc((size_t)choices->num_choices, sizeof(verdict));
}

void verdict_add(verdict *it, tal_status status, const double numbers[COMPARISON_NUM])
{
    ++it->runs;
    if (status != TAL_OK) {
        ++it->failed;
        it->error = (double)INFINITY;
        return;
    }
    if (numbers[COMPARISON_ERROR] > it->error) it->error = numbers[COMPARISON_ERROR];
    it->evaluations += numbers[COMPARISON_EVALUATIONS];
    it->steps += numbers[COMPARISON_STEPS];
}

void verdicts_end(verdict verdicts[], const cli_choices *choices, const comparison done[],
                  int num_done)
{
    for (int i = 0; i < choices->num_choices; ++i) {
        verdict *const it = &verdicts[i];
        double seconds = 0.0;
        int runs = 0;
        for (int k = 0; k < num_done; ++k) {
            seconds += done[k].seconds[i];
            runs += done[k].runs[i];
        }
        it->seconds = runs > 0 ? seconds / runs : (double)NAN;
        const int good = it->runs - it->failed;
        it->evaluations = good > 0 ? it->evaluations / good : (double)NAN;
        it->steps = good > 0 ? it->steps / good : (double)NAN;
        if (good == 0) it->error = (double)INFINITY;
    }
}

// --- order ---

// Fewer evaluations are cheaper; choices that failed come last.
static bool is_cheaper(const verdict *a, const verdict *b)
{
    return isnan(b->evaluations) ? !isnan(a->evaluations) : a->evaluations < b->evaluations;
}

int verdicts_choose(const verdict verdicts[], int n, double tolerance)
{
    int best = -1;
    for (int i = 0; i < n; ++i) {
        if (!(verdicts[i].error <= tolerance)) continue;
        if (best < 0 || is_cheaper(&verdicts[i], &verdicts[best])) best = i;
    }
    return best;
}

static int find_most_exact(const verdict verdicts[], int n)
{
    int best = 0;
    for (int i = 1; i < n; ++i) {
        if (verdicts[i].error < verdicts[best].error) best = i;
    }
    return best;
}

// Numbers of choices, the cheapest first.
static void sort(const verdict verdicts[], int n, int order[])
{
    for (int i = 0; i < n; ++i) {
        int at = i;
        for (; at > 0 && is_cheaper(&verdicts[i], &verdicts[order[at - 1]]); --at) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

// --- the report ---

static void print_table(report *r, const cli_choices *choices, const verdict verdicts[])
{
    static const char *const columns[] = {"choice", "error", "evaluations", "steps", "time [s]"};
    const int n = choices->num_choices;
    int *const order = cli_alloc((size_t)n, sizeof *order);
    sort(verdicts, n, order);
    report_table(r, "choices", columns, 5);
    for (int i = 0; i < n; ++i) {
        const verdict *const it = &verdicts[order[i]];
        char *const name = choices_name(choices, order[i]);
        report_cell_text(r, name);
        report_cell_number(r, it->error);
        report_cell_number(r, it->evaluations);
        report_cell_number(r, it->steps);
        report_cell_number(r, it->seconds);
        free(name);
    }
    report_end_table(r);
    free(order);
}

int verdicts_report(const cli_args *args, const cli_choices *choices, const verdict verdicts[],
                    double tolerance)
{
    const int n = choices->num_choices;
    const int chosen = verdicts_choose(verdicts, n, tolerance);
    const int shown = chosen >= 0 ? chosen : find_most_exact(verdicts, n);
    char *const name = choices_name(choices, shown);
    if (report_is_wanted(args)) {
        report r;
        report_begin(&r, args);
        print_table(&r, choices, verdicts);
        if (chosen >= 0) report_text(&r, "chosen", name);
        report_end(&r);
    }
    int code = CLI_OK;
    if (chosen < 0 && !isnan(tolerance)) {
        code = cli_fail(args, CLI_FAILED,
                        "no choice comes within --choose %g: the most exact is %s, with %.3g.",
                        tolerance, name, verdicts[shown].error);
    }
    free(name);
    return code;
}
