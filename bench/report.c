// What was measured, as a table, CSV and JSON.
#include "report.h"

#include <stdio.h>
#include <string.h>

const char *quantity_name(quantity what)
{
    static const char *const names[NUM_QUANTITIES] = {
        "kinematics", "inverse dynamics", "forward dynamics", "M v", "M^-1 v",
        "M",          "Jacobian",         "copy of a State"};
    return names[what];
}

// --- the table ---

void report_heading(void)
{
    (void)printf("\n%-16s %-17s %-6s %-8s %11s %11s   %-23s %7s %6s\n", "model", "quantity", "from",
                 "who", "best ns", "median", "quartiles", "ratio", "allocs");
}

void report_row(const row *r)
{
    for (int i = 0; i < r->num_figures; ++i) {
        const figure *f = &r->figures[i];
        const char *from = r->fresh ? "q,u" : "cache";
        (void)printf("%-16s %-17s %-6s %-8s %11.1f %11.1f   %9.1f ... %9.1f %7.2f %6.2f\n",
                     i == 0 ? r->model : "", i == 0 ? quantity_name(r->what) : "",
                     i == 0 ? from : "", f->who, f->least, f->median, f->low, f->high,
                     f->least / r->figures[0].least, f->allocations);
    }
    (void)fflush(stdout);
}

const figure *row_figure(const row *r, const char *who)
{
    for (int i = 0; i < r->num_figures; ++i) {
        if (strcmp(r->figures[i].who, who) == 0) return &r->figures[i];
    }
    return NULL;
}

// --- files ---

FILE *report_open(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) (void)fprintf(stderr, "bench: cannot write '%s'\n", path);
    return file;
}

bool report_csv(const char *path, const row rows[], int n)
{
    FILE *file = report_open(path);
    if (file == NULL) return false;
    (void)fprintf(
        file, "model,nu,loops,quantity,from,who,ns_least,ns_low,ns_median,ns_high,allocations\n");
    for (int i = 0; i < n; ++i) {
        const row *r = &rows[i];
        for (int k = 0; k < r->num_figures; ++k) {
            const figure *f = &r->figures[k];
            (void)fprintf(file, "%s,%d,%d,%s,%s,%s,%.2f,%.2f,%.2f,%.2f,%.3f\n", r->model, r->nu,
                          r->num_loops, quantity_name(r->what), r->fresh ? "qu" : "cache", f->who,
                          f->least, f->low, f->median, f->high, f->allocations);
        }
    }
    return fclose(file) == 0;
}

bool report_json(const char *path, const row rows[], int n)
{
    FILE *file = report_open(path);
    if (file == NULL) return false;
    (void)fprintf(file, "[");
    for (int i = 0; i < n; ++i) {
        const row *r = &rows[i];
        (void)fprintf(
            file,
            "%s\n  {\"model\": \"%s\", \"nu\": %d, \"loops\": %d, \"quantity\": \"%s\", \"from\": "
            "\"%s\", \"figures\": [",
            i > 0 ? "," : "", r->model, r->nu, r->num_loops, quantity_name(r->what),
            r->fresh ? "qu" : "cache");
        for (int k = 0; k < r->num_figures; ++k) {
            const figure *f = &r->figures[k];
            (void)fprintf(
                file,
                "%s\n    {\"who\": \"%s\", \"ns_least\": %.2f, \"ns_low\": %.2f, \"ns_median\": %.2f, "
                "\"ns_high\": %.2f, \"allocations\": %.3f}",
                k > 0 ? "," : "", f->who, f->least, f->low, f->median, f->high, f->allocations);
        }
        (void)fprintf(file, "]}");
    }
    (void)fprintf(file, "\n]\n");
    return fclose(file) == 0;
}
