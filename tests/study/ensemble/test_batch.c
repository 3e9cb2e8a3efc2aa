// Batches: the same bytes whoever makes them, after any interruption, and from any damage.
//
// The macro is for fork and kill.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
#define _POSIX_C_SOURCE 200809L

#include "talus_test.h"

#include <talus/study.h>

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    SAMPLES = 103,
    ROW = 3,
    CHUNK = 8 // so the last chunk has 7
};

// --- work: rows that depend on the sample alone, some of which fail ---

static tal_status work(void *context, int lane, int first, int n, double results[],
                       tal_status status[], tal_error why[])
{
    (void)lane;
    if (context != NULL) atomic_fetch_add((atomic_int *)context, n);
    for (int k = 0; k < n; ++k) {
        const int sample = first + k;
        const bool fails = sample % 10 == 7;
        status[k] = fails ? TAL_ERR_NO_CONVERGENCE : TAL_OK;
        why[k] = (tal_error){status[k], "work", ""};
        if (fails) (void)snprintf(why[k].message, sizeof why[k].message, "no luck in %d", sample);
        for (int i = 0; i < ROW; ++i) {
            results[k * ROW + i] = fails ? (double)NAN : sin(sample + 0.1 * i);
        }
    }
    return TAL_OK;
}

static tal_status slow_work(void *context, int lane, int first, int n, double results[],
                            tal_status status[], tal_error why[])
{
    const struct timespec pause = {0, 1000000};
    (void)nanosleep(&pause, NULL);
    return work(context, lane, first, n, results, status, why);
}

static tal_batch_def define(const char *path)
{
    tal_batch_def def = tal_batch_def_default();
    def.path = path;
    def.manifest = "model: pendulum\nseed: 42\nend: 3\n";
    def.num_samples = SAMPLES;
    def.row_size = ROW;
    def.chunk = CHUNK;
    return def;
}

static tal_batch *create(const tal_batch_def *def)
{
    tal_batch *batch = NULL;
    tal_error err;
    ck_assert_msg(tal_batch_create(def, &batch, &err) == TAL_OK, "%s", err.message);
    return batch;
}

// --- directories ---

static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL) return;
    char name[512];
    for (struct dirent *it = readdir(folder); it != NULL; it = readdir(folder)) {
        (void)snprintf(name, sizeof name, "%s/%.200s", path, it->d_name);
        (void)remove(name);
    }
    (void)closedir(folder);
    (void)rmdir(path);
}

// A file's bytes; their number, -1 when there is none.
static int read_bytes(const char *folder, int chunk, char out[4096])
{
    char name[256];
    (void)snprintf(name, sizeof name, "%s/chunk-%07d", folder, chunk);
    FILE *file = fopen(name, "rb");
    if (file == NULL) return -1;
    const size_t size = fread(out, 1, 4096, file);
    (void)fclose(file);
    return (int)size;
}

static void assert_same_files(const char *a, const char *b)
{
    for (int i = 0; i < SAMPLES / CHUNK + 1; ++i) {
        char x[4096], y[4096];
        const int nx = read_bytes(a, i, x), ny = read_bytes(b, i, y);
        ck_assert_int_gt(nx, 0);
        ck_assert_int_eq(nx, ny);
        ck_assert_mem_eq(x, y, (size_t)nx);
    }
}

static void assert_whole(tal_batch *batch)
{
    double results[SAMPLES][ROW];
    tal_status status[SAMPLES];
    static tal_error why[SAMPLES];
    ck_assert_int_eq(tal_batch_num_done(batch), SAMPLES);
    ck_assert_int_eq(tal_batch_first_missing(batch), SAMPLES);
    ck_assert_int_eq(tal_batch_read(batch, 0, SAMPLES, &results[0][0], status, why), TAL_OK);
    for (int k = 0; k < SAMPLES; ++k) {
        const bool fails = k % 10 == 7;
        ck_assert_int_eq(status[k], fails ? TAL_ERR_NO_CONVERGENCE : TAL_OK);
        if (fails) {
            char wanted[64];
            (void)snprintf(wanted, sizeof wanted, "no luck in %d", k);
            ck_assert_str_eq(why[k].message, wanted);
            ck_assert(isnan(results[k][0]));
        } else {
            ck_assert_double_eq(results[k][2], sin(k + 0.2));
        }
    }
    double part[2][ROW];
    ck_assert_int_eq(tal_batch_read(batch, 15, 2, &part[0][0], NULL, NULL), TAL_OK); // two chunks
    ck_assert_mem_eq(part[0], results[15], ROW * sizeof(double));
    ck_assert_double_eq(part[1][0], sin(16.0));
}

// The files that all others are compared with.
static void make_reference(const char *path)
{
    remove_folder(path);
    const tal_batch_def def = define(path);
    tal_batch *batch = create(&def);
    ck_assert_int_eq(tal_batch_go(batch, work, NULL, 1, NULL), TAL_OK);
    assert_whole(batch);
    tal_batch_destroy(batch);
}

// --- tests ---

START_TEST(a_batch_in_memory_has_the_same_results)
{
    const tal_batch_def def = define(NULL);
    tal_batch *batch = create(&def);
    double row[ROW];
    tal_status status;
    ck_assert_int_eq(tal_batch_num_done(batch), 0);
    ck_assert_int_eq(tal_batch_read(batch, 5, 1, row, &status, NULL), TAL_RETRY);
    ck_assert_int_eq(status, TAL_RETRY);
    ck_assert(isnan(row[0]));
    ck_assert_int_eq(tal_batch_go(batch, work, NULL, 3, NULL), TAL_OK);
    assert_whole(batch);
    ck_assert_int_eq(tal_batch_remove(batch), TAL_OK);
    ck_assert_int_eq(tal_batch_num_done(batch), 0);
    tal_batch_destroy(batch);
}

END_TEST

START_TEST(threads_make_the_same_files)
{
    make_reference("test_batch_a.run");
    remove_folder("test_batch_b.run");
    tal_threads *threads = NULL;
    ck_assert_int_eq(tal_threads_create(3, &threads, NULL), TAL_OK);
    const tal_executor executor = tal_threads_executor(threads);
    const tal_batch_def def = define("test_batch_b.run");
    tal_batch *batch = create(&def);
    atomic_int samples;
    atomic_init(&samples, 0);
    ck_assert_int_eq(tal_batch_go(batch, work, &samples, 3, &executor), TAL_OK);
    ck_assert_int_eq(atomic_load(&samples), SAMPLES);
    ck_assert_int_eq(tal_batch_go(batch, work, &samples, 3, &executor), TAL_OK); // nothing is left
    ck_assert_int_eq(atomic_load(&samples), SAMPLES);
    assert_whole(batch);
    assert_same_files("test_batch_a.run", "test_batch_b.run");
    ck_assert_int_eq(tal_batch_remove(batch), TAL_OK);
    ck_assert_int_ne(access("test_batch_b.run", F_OK), 0);
    tal_batch_destroy(batch);
    tal_threads_destroy(threads);
    remove_folder("test_batch_a.run");
}

END_TEST

// A child works and is killed after a random time, twenty times; then the rest is done.
START_TEST(a_batch_that_is_killed_goes_on_to_the_same_bytes)
{
    make_reference("test_batch_a.run");
    remove_folder("test_batch_b.run");
    const tal_batch_def def = define("test_batch_b.run");
    test_rng rng = test_rng_seed(20);
    for (int kills = 0; kills < 20; ++kills) {
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            tal_batch *batch = NULL;
            tal_status st = tal_batch_create(&def, &batch, NULL);
            if (st == TAL_OK) st = tal_batch_go(batch, slow_work, NULL, 1, NULL);
            _exit(st == TAL_OK ? 0 : 1);
        }
        const struct timespec pause = {0, (long)test_random_uniform(&rng, 1e5, 8e6)};
        (void)nanosleep(&pause, NULL);
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        int how = 0;
        ck_assert_int_eq(waitpid(child, &how, 0), child);
        ck_assert(WIFSIGNALED(how) || (WIFEXITED(how) && WEXITSTATUS(how) == 0));
    }
    tal_batch *batch = create(&def);
    ck_assert_int_eq(tal_batch_num_damaged(batch), 0);
    ck_assert_int_eq(tal_batch_go(batch, work, NULL, 1, NULL), TAL_OK);
    assert_whole(batch);
    assert_same_files("test_batch_a.run", "test_batch_b.run");
    ck_assert_int_eq(tal_batch_remove(batch), TAL_OK); // and what killed writers left
    tal_batch_destroy(batch);
    remove_folder("test_batch_a.run");
}

END_TEST

// Change one byte of the file, or cut it there.
static void damage(const char *name, long at, bool cut)
{
    FILE *file = fopen(name, "r+b");
    ck_assert_ptr_nonnull(file);
    (void)fseek(file, at, SEEK_SET);
    const int byte = fgetc(file);
    (void)fseek(file, at, SEEK_SET);
    (void)fputc(byte ^ 0x10, file);
    (void)fclose(file);
    if (cut) ck_assert_int_eq(truncate(name, at), 0);
}

START_TEST(damaged_files_are_found_and_made_again)
{
    make_reference("test_batch_a.run");
    make_reference("test_batch_b.run");
    const tal_batch_def def = define("test_batch_b.run");
    char bytes[4096];
    const int size = read_bytes("test_batch_a.run", 1, bytes);
    for (int at = 0; at < size; at += 5) {
        damage("test_batch_b.run/chunk-0000001", at, at % 2 == 0);
        tal_batch *batch = create(&def);
        ck_assert_int_eq(tal_batch_num_damaged(batch), 1);
        ck_assert_int_eq(tal_batch_first_missing(batch), CHUNK);
        atomic_int samples;
        atomic_init(&samples, 0);
        ck_assert_int_eq(tal_batch_go(batch, work, &samples, 1, NULL), TAL_OK);
        ck_assert_int_eq(atomic_load(&samples), CHUNK);
        tal_batch_destroy(batch);
    }
    assert_same_files("test_batch_a.run", "test_batch_b.run");

    // one that is damaged behind our back, and one under the name of another
    tal_batch *batch = create(&def);
    damage("test_batch_b.run/chunk-0000003", 99, false);
    ck_assert_int_eq(rename("test_batch_b.run/chunk-0000005", "test_batch_b.run/chunk-0000004"), 0);
    double results[SAMPLES][ROW];
    tal_status status[SAMPLES];
    ck_assert_int_eq(tal_batch_read(batch, 0, SAMPLES, &results[0][0], status, NULL), TAL_ERR_FILE);
    ck_assert_int_eq(status[3 * CHUNK], TAL_RETRY);
    ck_assert_int_eq(status[4 * CHUNK], TAL_RETRY);
    ck_assert_int_eq(status[6 * CHUNK], TAL_OK);
    ck_assert_int_eq(tal_batch_go(batch, work, NULL, 1, NULL), TAL_OK);
    assert_whole(batch);
    tal_batch_destroy(batch);
    remove_folder("test_batch_a.run");
    remove_folder("test_batch_b.run");
}

END_TEST

START_TEST(shards_are_merged)
{
    make_reference("test_batch_a.run");
    static const char *const paths[] = {"test_batch_0.run", "test_batch_1.run", "test_batch_2.run"};
    int done = 0;
    for (int i = 2; i >= 0; --i) {
        remove_folder(paths[i]);
        tal_batch_def def = define(paths[i]);
        def.shard = i;
        def.num_shards = 3;
        tal_batch *batch = create(&def);
        ck_assert_int_eq(tal_batch_go(batch, work, NULL, 2, NULL), TAL_OK);
        done += tal_batch_num_done(batch);
        tal_batch_destroy(batch);
    }
    ck_assert_int_eq(done, SAMPLES);
    const tal_batch_def def = define(paths[0]);
    tal_batch *batch = create(&def);
    damage("test_batch_2.run/chunk-0000002", 99, false);
    ck_assert_int_eq(tal_batch_merge(batch, paths[1]), TAL_OK);
    ck_assert_int_eq(tal_batch_merge(batch, paths[2]), TAL_OK);
    ck_assert_int_eq(tal_batch_num_damaged(batch), 1);
    ck_assert_int_eq(tal_batch_first_missing(batch), 2 * CHUNK);
    ck_assert_int_eq(tal_batch_merge(batch, "test_batch_a.run"), TAL_OK); // has that one, too
    assert_whole(batch);
    assert_same_files("test_batch_a.run", paths[0]);
    ck_assert_int_eq(tal_batch_merge(batch, "test_batch_none.run"), TAL_ERR_FILE);
    tal_batch_destroy(batch);
    for (int i = 0; i < 3; ++i) {
        remove_folder(paths[i]);
    }
    remove_folder("test_batch_a.run");
}

END_TEST

START_TEST(another_batch_is_refused_with_the_line_that_differs)
{
    make_reference("test_batch_a.run");
    tal_batch_def def = define("test_batch_a.run");
    tal_batch *batch = NULL;
    tal_error err;
    def.manifest = "model: pendulum\nseed: 43\nend: 3\n";
    ck_assert_int_eq(tal_batch_create(&def, &batch, &err), TAL_ERR_FILE);
    ck_assert_msg(strstr(err.message, "'seed: 42' instead of 'seed: 43'") != NULL, "%s",
                  err.message);
    def = define("test_batch_a.run");
    def.num_samples = 7;
    ck_assert_int_eq(tal_batch_create(&def, &batch, &err), TAL_ERR_FILE);
    ck_assert_msg(strstr(err.message, "samples: 103") != NULL, "%s", err.message);
    ck_assert_ptr_null(batch);
    remove_folder("test_batch_a.run");

    // a folder of something else
    ck_assert_int_eq(mkdir("test_batch_a.run", 0777), 0);
    test_write_file("test_batch_a.run/letter", "dear\n");
    def = define("test_batch_a.run");
    ck_assert_int_eq(tal_batch_create(&def, &batch, &err), TAL_ERR_FILE);
    ck_assert_msg(strstr(err.message, "'letter'") != NULL, "%s", err.message);
    remove_folder("test_batch_a.run");
    def.path = "test_batch_none.run/below";
    ck_assert_int_eq(tal_batch_create(&def, &batch, &err), TAL_ERR_FILE);
    ck_assert_msg(strstr(err.message, "cannot be made") != NULL, "%s", err.message);
}

END_TEST

static bool stop_soon(void *context, int done)
{
    *(int *)context = done;
    return done < 30;
}

static int count_down(void *context)
{
    return ++*(int *)context;
}

START_TEST(a_batch_can_be_stopped_and_its_chunks_come_from_any_counter)
{
    tal_batch_def def = define(NULL);
    int done = 0, at = 1;
    def.proceed = stop_soon;
    def.context = &done;
    tal_batch *batch = create(&def);
    ck_assert_int_eq(tal_batch_go(batch, work, NULL, 1, NULL), TAL_RETRY);
    ck_assert_int_eq(done, 32);
    ck_assert_int_eq(tal_batch_num_done(batch), 32);
    tal_batch_destroy(batch);
    def.proceed = NULL;
    def.next = count_down;
    def.context = &at;
    batch = create(&def);
    ck_assert_int_eq(tal_batch_go(batch, work, NULL, 1, NULL), TAL_OK);
    ck_assert_int_eq(tal_batch_num_done(batch), SAMPLES - 2 * CHUNK); // it began with 2
    ck_assert_int_eq(tal_batch_first_missing(batch), 0);
    tal_batch_destroy(batch);
}

END_TEST

static tal_status break_down(void *context, int lane, int first, int n, double results[],
                             tal_status status[], tal_error why[])
{
    (void)context, (void)lane, (void)first, (void)n, (void)results, (void)status, (void)why;
    return TAL_ERR_CALLBACK;
}

START_TEST(what_cannot_be_is_refused)
{
    tal_batch_def bad[6];
    for (int i = 0; i < 6; ++i) {
        bad[i] = define(NULL);
    }
    bad[0].num_samples = -1;
    bad[1].row_size = 0;
    bad[2].chunk = -1;
    bad[3].shard = 1;
    bad[4].num_shards = 0;
    bad[5].path = "";
    for (int i = 0; i < 6; ++i) {
        tal_batch *batch = NULL;
        ck_assert_int_eq(tal_batch_create(&bad[i], &batch, NULL), TAL_ERR_BAD_VALUE);
        ck_assert_ptr_null(batch);
    }
    const tal_batch_def good = define(NULL);
    tal_batch *batch = create(&good);
    ck_assert_int_eq(tal_batch_go(batch, break_down, NULL, 1, NULL), TAL_ERR_CALLBACK);
    ck_assert_ptr_nonnull(strstr(tal_batch_error(batch)->message, "samples 0 to 7"));
    double row[ROW];
    test_record_breaches();
    test_assert_refused(tal_batch_go(batch, NULL, NULL, 1, NULL), TAL_ERR_NULL, "NULL");
    test_assert_refused(tal_batch_go(batch, work, NULL, 0, NULL), TAL_ERR_BAD_VALUE, "lanes");
    test_assert_refused(tal_batch_read(batch, 103, 1, row, NULL, NULL), TAL_ERR_BAD_INDEX, "103");
    test_assert_refused(tal_batch_create(&good, NULL, NULL), TAL_ERR_NULL, "out");
    ck_assert_int_eq(tal_batch_error(NULL)->status, TAL_ERR_NULL);
    tal_batch_destroy(batch);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/batch");
    TCase *tests = tcase_create("batch");
    tcase_add_test(tests, a_batch_in_memory_has_the_same_results);
    tcase_add_test(tests, threads_make_the_same_files);
    tcase_add_test(tests, a_batch_that_is_killed_goes_on_to_the_same_bytes);
    tcase_add_test(tests, damaged_files_are_found_and_made_again);
    tcase_add_test(tests, shards_are_merged);
    tcase_add_test(tests, another_batch_is_refused_with_the_line_that_differs);
    tcase_add_test(tests, a_batch_can_be_stopped_and_its_chunks_come_from_any_counter);
    tcase_add_test(tests, what_cannot_be_is_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
