// Set-up files of OpenSim in tests: files in a folder of their own, runs, what they say.
#ifndef TALUS_TOOL_SUPPORT_H
#define TALUS_TOOL_SUPPORT_H

#include "talus_test.h"

#include <talus/talus.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// --- files in a folder of their own ---

static char folder[200];
static pid_t folder_owner; // tests run in processes of their own; the first one cleans up

// With everything in it; runs at the end of the program, whether tests failed or not.
static inline void remove_folder(void)
{
    if (getpid() != folder_owner) return;
    DIR *all = opendir(folder);
    for (const struct dirent *it = NULL; all != NULL && (it = readdir(all)) != NULL;) {
        (void)unlinkat(dirfd(all), it->d_name, 0);
    }
    if (all != NULL) (void)closedir(all);
    (void)rmdir(folder);
}

static inline void make_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%.150s/osim_tools_XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(folder) == NULL || atexit(remove_folder) != 0) abort();
    folder_owner = getpid();
}

static inline const char *in_folder(const char *file)
{
    static char path[4][300];
    static int next;
    next = (next + 1) % 4;
    (void)snprintf(path[next], sizeof path[next], "%s/%s", folder, file);
    return path[next];
}

static inline void write_text(const char *file, const char *text)
{
    test_write_file(in_folder(file), text);
}

// --- running ---

static inline tal_osim_results *run_good(const char *file, const tal_osim_setting settings[], int n)
{
    tal_osim_results *results = NULL;
    tal_osim_run_options options = tal_osim_run_options_default();
    options.settings = settings;
    options.num_settings = n;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_run_file(in_folder(file), &options, &results, found);
    char line[TAL_DIAGNOSTIC_SIZE] = "";
    for (int i = 0; i < tal_diagnostics_num(found); ++i) {
        const tal_diagnostic *it = tal_diagnostics_at(found, i);
        if (it->severity == TAL_ERROR) (void)tal_diagnostic_text(it, line);
    }
    ck_assert_msg(st == TAL_OK, "%s", line);
    tal_diagnostics_destroy(found);
    return results;
}

// The first message of a run that fails, or the first warning of one that does not.
static inline void assert_says(const char *file, const tal_osim_setting *setting,
                               tal_status expected, const char *part)
{
    tal_osim_results *results = NULL;
    tal_osim_run_options options = tal_osim_run_options_default();
    options.settings = setting;
    options.num_settings = setting != NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_osim_run_file(in_folder(file), &options, &results, found), expected);
    ck_assert((results != NULL) == (expected == TAL_OK));
    char said[4000] = "";
    for (int i = 0; i < tal_diagnostics_num(found); ++i) {
        char line[TAL_DIAGNOSTIC_SIZE];
        const size_t used = strlen(said);
        (void)snprintf(said + used, sizeof said - used, "%s\n",
                       tal_diagnostic_text(tal_diagnostics_at(found, i), line));
    }
    ck_assert_msg(strstr(said, part) != NULL, "'%s' lacks '%s'", said, part);
    tal_osim_results_destroy(results);
    tal_diagnostics_destroy(found);
}

static inline double value(const tal_osim_results *results, int table, int row, const char *column)
{
    const tal_table *it = tal_osim_results_table(results, table);
    const int c = tal_table_find_column(it, column);
    ck_assert_msg(c >= 0, "no column '%s'", column);
    return tal_table_value(it, row, c);
}

// --- results by the ends of their names ---

static inline int find_result(const tal_osim_results *results, const char *end)
{
    for (int i = 0; i < tal_osim_results_num(results); ++i) {
        const char *path = tal_osim_results_path(results, i);
        const size_t n = strlen(path), m = strlen(end);
        if (n >= m && strcmp(path + n - m, end) == 0) return i;
    }
    ck_abort_msg("there is no result %s", end);
}

static inline const tal_table *table_of(const tal_osim_results *results, const char *end)
{
    return tal_osim_results_table(results, find_result(results, end));
}

static inline const char *text_of(const tal_osim_results *results, const char *end)
{
    return tal_osim_results_text(results, find_result(results, end), NULL);
}

// A run without memory ends with that status, and gives back what it had.
static inline void assert_survives_failing_memory(const char *file)
{
    tal_status st = TAL_ERR_NO_MEMORY;
    for (int n = 1; n < 2000 && st != TAL_OK; n += n < 60 ? 1 : 5) {
        test_heap heap = {.refuse_at = n};
        tal_osim_run_options options = tal_osim_run_options_default();
        options.allocator = test_heap_allocator(&heap);
        tal_osim_results *results = NULL;
        st = tal_osim_run_file(in_folder(file), &options, &results, NULL);
        ck_assert((st == TAL_OK) == (results != NULL));
        ck_assert_msg(st == TAL_OK || st == TAL_ERR_NO_MEMORY, "%s at request %d: %d", file, n, st);
        tal_osim_results_destroy(results);
        ck_assert_int_eq(heap.live, 0);
    }
    ck_assert_int_eq(st, TAL_OK);
}

#endif // TALUS_TOOL_SUPPORT_H
