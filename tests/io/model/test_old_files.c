// io/src/model: files of earlier releases are read as they were, forever.
//
// The macro is for scandir.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
#define _POSIX_C_SOURCE 200809L

#include "model_same.h"

#include <dirent.h>
#include <stdio.h>

#define FOLDER TALUS_SOURCE_DIR "/tests/io/old_files"

enum {
    LINE_SIZE = 4000,
    MAX_FILES = 1000
};

// What a file means, in a line: how many of each, and the accelerations in a State that does not
// depend on what the file says of its start.
static void describe(const char *name, tal_model *model, char line[LINE_SIZE])
{
    shake(model->state, model->state);
    const tal_status st = tal_system_realize(model->system, model->state, TAL_STAGE_ACCELERATION);
    const int nu = tal_state_nu(model->state);
    size_t used = (size_t)snprintf(
        line, LINE_SIZE, "%s %d %d %d %d %d %d %d %d :", name, tal_matter_num_bodies(model->matter),
        tal_state_nq(model->state), nu, tal_state_nz(model->state),
        tal_matter_num_constraints(model->matter), tal_forces_num(model->forces),
        tal_system_num_measures(model->system), tal_system_num_events(model->system));
    for (int i = 0; i < nu && used < LINE_SIZE - 40; ++i) {
        const double udot = st == TAL_OK ? tal_state_udot(model->state)[i] : (double)NAN;
        used += (size_t)snprintf(line + used, LINE_SIZE - used, " %.12g", udot);
    }
}

// The numbers of two lines agree to 1e-9 of the largest: accelerations are written with 12 digits,
// and kernels of other processors round otherwise, amplified by the condition of M, up to 1e5 here.
static bool is_same_line(const char *a, const char *b)
{
    const char *behind_a = strstr(a, " :"), *behind_b = strstr(b, " :");
    if (behind_a == NULL || behind_b == NULL || behind_a - a != behind_b - b) return false;
    if (strncmp(a, b, (size_t)(behind_a - a)) != 0) return false;
    double x[400], y[400], largest = 0.0;
    const int n = tal_numbers_read(behind_a + 2, x, 400, NULL);
    if (n != tal_numbers_read(behind_b + 2, y, 400, NULL) || n < 0 || n > 400) return false;
    for (int i = 0; i < n; ++i) {
        if (isfinite(y[i])) largest = fmax(largest, fabs(y[i]));
    }
    for (int i = 0; i < n; ++i) {
        if (isnan(x[i]) != isnan(y[i]) || fabs(x[i] - y[i]) > 1e-9 * largest) return false;
    }
    return true;
}

// The line of a file in what is expected; false when there is none.
static bool find_line(const char *name, char line[LINE_SIZE])
{
    FILE *in = fopen(FOLDER "/expected.txt", "rb");
    const size_t length = strlen(name);
    bool found = false;
    while (in != NULL && !found && fgets(line, LINE_SIZE, in) != NULL) {
        found = strncmp(line, name, length) == 0 && line[length] == ' ';
    }
    if (in != NULL) (void)fclose(in);
    return found;
}

static void check_file(const char *release, const char *file)
{
    char name[200], path[600], line[LINE_SIZE], expected[LINE_SIZE];
    (void)snprintf(name, sizeof name, "%s/%s", release, file);
    (void)snprintf(path, sizeof path, FOLDER "/%s", name);
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_model_read_file(path, NULL, &model, found);
    ck_assert_msg(st == TAL_OK, "%s is refused: %s", name,
                  st != TAL_OK ? tal_diagnostics_at(found, 0)->message : "");
    tal_diagnostics_destroy(found);
    describe(name, &model, line);
    tal_model_destroy(&model);
    if (find_line(name, expected)) {
        ck_assert_msg(is_same_line(line, expected), "%s means something else:\n%s\n%s", name, line,
                      expected);
        return;
    }
    ck_assert_msg(getenv("TALUS_WRITE_EXPECTED") != NULL, "%s is not in expected.txt", name);
    FILE *out = fopen(FOLDER "/expected.txt", "ab");
    ck_assert_ptr_nonnull(out);
    (void)fprintf(out, "%s\n", line);
    (void)fclose(out);
}

static int check_release(const char *release)
{
    char path[300];
    (void)snprintf(path, sizeof path, FOLDER "/%s", release);
    struct dirent **list = NULL;
    const int n = scandir(path, &list, NULL, alphasort);
    int count = 0;
    for (int i = 0; i < n; ++i) {
        if (strstr(list[i]->d_name, ".talus") != NULL) {
            check_file(release, list[i]->d_name);
            ++count;
        }
        free(list[i]);
    }
    free(list);
    return count;
}

START_TEST(files_of_earlier_releases_mean_what_they_meant)
{
    ck_assert_int_gt(check_release("0.1"), 100);
    ck_assert_int_gt(check_release("0.2"), 40);
}

END_TEST

// Every line has its file: otherwise a missing file would not be noticed.
START_TEST(no_old_file_is_lost)
{
    FILE *in = fopen(FOLDER "/expected.txt", "rb");
    ck_assert_ptr_nonnull(in);
    char line[LINE_SIZE], path[LINE_SIZE];
    int count = 0;
    for (; fgets(line, sizeof line, in) != NULL; ++count) {
        (void)snprintf(path, sizeof path, FOLDER "/%.*s", (int)strcspn(line, " "), line);
        FILE *file = fopen(path, "rb");
        ck_assert_msg(file != NULL, "%s is gone", path);
        (void)fclose(file);
    }
    (void)fclose(in);
    ck_assert_int_gt(count, 100);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/old_files");
    TCase *all = tcase_create("files");
    tcase_add_test(all, files_of_earlier_releases_mean_what_they_meant);
    tcase_add_test(all, no_old_file_is_lost);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
