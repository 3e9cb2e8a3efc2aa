// common/src/file.c: whole files, in and out.
// For setrlimit. NOLINTNEXTLINE(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
#define _POSIX_C_SOURCE 200809L

#include "file_internal.h"

#include "beside.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void assert_file_has(const char *path, const char *expected)
{
    const tal_allocator heap = tal_allocator_default();
    tali_file_bytes bytes;
    tal_status st;
    ck_assert_ptr_null(tali_file_load_text(path, 1 << 20, &heap, &bytes, &st));
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_uint_eq(bytes.size, strlen(expected));
    ck_assert_int_eq(memcmp(bytes.block, expected, bytes.size), 0);
    tali_file_bytes_free(&heap, &bytes);
    ck_assert_ptr_null(bytes.block);
    ck_assert(bytes.size == 0 && bytes.capacity == 0); // freeing it again does nothing
}

static void assert_nothing_beside(const char *path)
{
    ck_assert_int_eq(test_num_beside(path), 0);
}

// Replace a file by a text.
static void replace(const char *path, const char *text)
{
    tali_file_replacement out;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tali_file_replace_begin(&out, path, "here", &err), TAL_OK);
    ck_assert_int_ge(fputs(text, out.file), 0);
    ck_assert_int_eq(tali_file_replace_finish(&out, true, "here", &err), TAL_OK);
}

START_TEST(a_file_is_replaced_only_when_the_other_is_whole)
{
    const char *path = "test_file.tmp";
    test_write_file(path, "old");
    tali_file_replacement out;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tali_file_replace_begin(&out, path, "here", &err), TAL_OK);
    ck_assert_int_ge(fputs("new", out.file), 0);
    ck_assert_int_eq(fflush(out.file), 0);
    assert_file_has(path, "old");
    ck_assert_int_eq(tali_file_replace_finish(&out, true, "here", &err), TAL_OK);
    assert_file_has(path, "new");
    assert_nothing_beside(path);

    // given up
    ck_assert_int_eq(tali_file_replace_begin(&out, path, "here", &err), TAL_OK);
    ck_assert_int_ge(fputs("half", out.file), 0);
    ck_assert_int_eq(tali_file_replace_finish(&out, false, "here", &err), TAL_OK);
    ck_assert_int_eq(err.status, TAL_OK);
    assert_file_has(path, "new");
    assert_nothing_beside(path);
    (void)remove(path);
}

END_TEST

// A file that only its owner may read stays so when it is written again.
START_TEST(a_file_that_is_replaced_keeps_its_permissions)
{
    const char *path = "test_file_mode.tmp";
    const mode_t modes[] = {S_IRUSR | S_IWUSR, S_IRUSR | S_IWUSR | S_IRGRP};
    test_write_file(path, "old");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
        ck_assert_int_eq(chmod(path, modes[i]), 0);
        tali_file_replacement out;
        tal_error err = {TAL_OK, "", ""};
        ck_assert_int_eq(tali_file_replace_begin(&out, path, "here", &err), TAL_OK);
        ck_assert_int_eq(tali_file_replace_finish(&out, true, "here", &err), TAL_OK);
        struct stat there;
        ck_assert_int_eq(stat(path, &there), 0);
        ck_assert_uint_eq(there.st_mode & 0777u, modes[i]);
    }
    (void)remove(path);
}

END_TEST

START_TEST(a_file_that_was_not_there_has_what_the_umask_leaves)
{
    const char *path = "test_file_mode.tmp";
    const mode_t masks[] = {0022, 0077, 0002};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; ++i) {
        const mode_t old = umask(masks[i]);
        replace(path, "text");
        (void)umask(old);
        struct stat there;
        ck_assert_int_eq(stat(path, &there), 0);
        ck_assert_uint_eq(there.st_mode & 0777u, 0666u & ~masks[i]);
        (void)remove(path);
    }
}

END_TEST

static bool is_link(const char *path)
{
    struct stat there;
    return lstat(path, &there) == 0 && S_ISLNK(there.st_mode);
}

START_TEST(a_link_stays_and_what_it_leads_to_is_replaced)
{
    // through two links, one of them relative to its folder, to a file in that folder
    ck_assert_int_eq(mkdir("test_file_folder.tmp", 0700), 0);
    test_write_file("test_file_folder.tmp/file", "old");
    ck_assert_int_eq(symlink("file", "test_file_folder.tmp/near"), 0);
    ck_assert_int_eq(symlink("test_file_folder.tmp/near", "test_file_far.tmp"), 0);
    replace("test_file_far.tmp", "new");
    ck_assert(is_link("test_file_far.tmp") && is_link("test_file_folder.tmp/near"));
    ck_assert(!is_link("test_file_folder.tmp/file"));
    assert_file_has("test_file_folder.tmp/file", "new");
    assert_nothing_beside("test_file_folder.tmp/file");

    // one that leads to nothing yet
    ck_assert_int_eq(remove("test_file_folder.tmp/file"), 0);
    replace("test_file_far.tmp", "first");
    assert_file_has("test_file_folder.tmp/file", "first");
    ck_assert(is_link("test_file_far.tmp") && is_link("test_file_folder.tmp/near"));

    // an absolute one, and those that lead nowhere
    char here[2000], whole[4200];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    (void)snprintf(whole, sizeof whole, "%s/test_file_folder.tmp/file", here);
    ck_assert_int_eq(remove("test_file_far.tmp"), 0);
    ck_assert_int_eq(symlink(whole, "test_file_far.tmp"), 0);
    replace("test_file_far.tmp", "last");
    assert_file_has("test_file_folder.tmp/file", "last");
    tali_file_replacement out;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(remove("test_file_far.tmp"), 0);
    ck_assert_int_eq(symlink("test_file_far.tmp", "test_file_far.tmp"), 0);
    ck_assert_int_eq(tali_file_replace_begin(&out, "test_file_far.tmp", "here", &err),
                     TAL_ERR_FILE);
    ck_assert_ptr_nonnull(strstr(err.message, "cannot write 'test_file_far.tmp'"));
    ck_assert_int_eq(remove("test_file_far.tmp"), 0);
    // forty links lead to a file, and one more does not
    char from[40] = "test_file_folder.tmp/file";
    for (int i = 0; i <= 40; ++i) {
        char link[40];
        (void)snprintf(link, sizeof link, "test_file_%d.tmp", i);
        ck_assert_int_eq(symlink(from, link), 0);
        memcpy(from, link, sizeof from);
    }
    replace("test_file_39.tmp", "through 40");
    assert_file_has("test_file_folder.tmp/file", "through 40");
    ck_assert_int_eq(tali_file_replace_begin(&out, "test_file_40.tmp", "here", &err), TAL_ERR_FILE);
    for (int i = 0; i <= 40; ++i) {
        (void)snprintf(from, sizeof from, "test_file_%d.tmp", i);
        ck_assert_int_eq(remove(from), 0);
    }
    memset(whole, 'x', 4000);
    (void)snprintf(whole + 4000, 20, "/y");
    ck_assert_int_eq(symlink(whole, "test_file_folder.tmp/long"), 0);
    char path[3000]; // with it the target is longer than a path can be
    memset(path, '/', sizeof path);
    memcpy(path, "test_file_folder.tmp", 20);
    (void)snprintf(path + 200, 6, "/long");
    ck_assert_int_eq(tali_file_replace_begin(&out, path, "here", &err), TAL_ERR_FILE);
    ck_assert_int_eq(remove("test_file_folder.tmp/long"), 0);
    ck_assert_int_eq(remove("test_file_folder.tmp/near"), 0);
    ck_assert_int_eq(remove("test_file_folder.tmp/file"), 0);
    ck_assert_int_eq(rmdir("test_file_folder.tmp"), 0);
}

END_TEST

START_TEST(a_long_name_has_room_beside_it)
{
    char path[256];
    memset(path, 'n', sizeof path);
    path[255] = '\0';
    replace(path, "text");
    assert_file_has(path, "text");
    (void)remove(path);
}

END_TEST

START_TEST(two_writers_of_one_file_do_not_meet)
{
    const char *path = "test_file.tmp";
    (void)remove(path);
    tali_file_replacement one, two;
    ck_assert_int_eq(tali_file_replace_begin(&one, path, "here", NULL), TAL_OK);
    ck_assert_int_eq(tali_file_replace_begin(&two, path, "here", NULL), TAL_OK);
    ck_assert_int_eq(test_num_beside(path), 2);
    ck_assert_int_ge(fputs("one and more", one.file), 0);
    ck_assert_int_ge(fputs("two", two.file), 0);
    ck_assert_int_eq(tali_file_replace_finish(&one, true, "here", NULL), TAL_OK);
    assert_file_has(path, "one and more");
    ck_assert_int_eq(tali_file_replace_finish(&two, true, "here", NULL), TAL_OK);
    assert_file_has(path, "two");
    assert_nothing_beside(path);
    (void)remove(path);
}

END_TEST

enum {
    WRITTEN = 20000, // bytes
    TIMES = 30
};

// Writes a file full of one letter, again and again.
static void *write_often(void *letter)
{
    for (int n = 0; n < TIMES; ++n) {
        tali_file_replacement out;
        if (tali_file_replace_begin(&out, "test_file_both.tmp", "here", NULL) != TAL_OK) {
            return NULL;
        }
        for (int i = 0; i < WRITTEN; ++i) {
            (void)fputc(*(const char *)letter, out.file);
        }
        if (tali_file_replace_finish(&out, true, "here", NULL) != TAL_OK) return NULL;
    }
    return letter;
}

// Two threads write one file; a reader finds the whole text of one or of the other at any time.
START_TEST(who_reads_while_others_write_finds_a_whole_file)
{
    const tal_allocator heap = tal_allocator_default();
    char letters[] = "ab";
    pthread_t writers[2];
    test_write_file("test_file_both.tmp", "c");
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(pthread_create(&writers[i], NULL, write_often, &letters[i]), 0);
    }
    for (int n = 0; n < TIMES; ++n) {
        tali_file_bytes bytes;
        tal_status st;
        ck_assert_ptr_null(tali_file_load_text("test_file_both.tmp", 1 << 20, &heap, &bytes, &st));
        ck_assert(bytes.size == WRITTEN || (bytes.size == 1 && bytes.block[0] == 'c'));
        for (size_t i = 1; i < bytes.size; ++i) {
            ck_assert_int_eq(bytes.block[i], bytes.block[0]);
        }
        tali_file_bytes_free(&heap, &bytes);
    }
    for (int i = 0; i < 2; ++i) {
        void *done = NULL;
        ck_assert_int_eq(pthread_join(writers[i], &done), 0);
        ck_assert_ptr_eq(done, &letters[i]);
    }
    assert_nothing_beside("test_file_both.tmp");
    (void)remove("test_file_both.tmp");
}

END_TEST

// A limit on the size of files fails as a full disk does: some bytes arrive, the rest do not.
START_TEST(a_full_disk_costs_nothing)
{
    const char *path = "test_file.tmp";
    test_write_file(path, "old");
    struct rlimit old;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    const struct rlimit tight = {10000, old.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &tight), 0);

    for (int size = 9000; size <= 200000; size += 191000) {
        tali_file_replacement out;
        tal_error err = {TAL_OK, "", ""};
        ck_assert_int_eq(tali_file_replace_begin(&out, path, "here", &err), TAL_OK);
        for (int i = 0; i < size; ++i) {
            (void)fputc('x', out.file);
        }
        const tal_status st = tali_file_replace_finish(&out, true, "here", &err);
        ck_assert_int_eq(st, size < 10000 ? TAL_OK : TAL_ERR_FILE);
        if (st == TAL_OK) {
            test_write_file(path, "old");
            continue;
        }
        ck_assert_ptr_nonnull(strstr(err.message, "cannot write 'test_file.tmp'"));
        assert_file_has(path, "old");
        assert_nothing_beside(path);
    }
    // if bytes were lost, the write fails even if there is room again at the end
    tali_file_replacement out;
    ck_assert_int_eq(tali_file_replace_begin(&out, path, "here", NULL), TAL_OK);
    for (int i = 0; i < 200000; ++i) {
        (void)fputc('x', out.file);
    }
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
    ck_assert_int_eq(tali_file_replace_finish(&out, true, "here", NULL), TAL_ERR_FILE);
    assert_file_has(path, "old");
    (void)remove(path);
}

END_TEST

START_TEST(what_cannot_be_written_is_reported)
{
    tali_file_replacement out;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tali_file_replace_begin(&out, "no/such/x", "here", &err), TAL_ERR_FILE);
    ck_assert_ptr_nonnull(strstr(err.message, "cannot write 'no/such/x'"));
    char path[5000];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    ck_assert_int_eq(tali_file_replace_begin(&out, path, "here", NULL), TAL_ERR_FILE);
    // a folder: nothing can take its place
    ck_assert_int_eq(mkdir("test_file_folder.tmp", 0700), 0);
    ck_assert_int_eq(tali_file_replace_begin(&out, "test_file_folder.tmp", "here", NULL),
                     TAL_ERR_FILE);
    // the place is taken while the file is written
    ck_assert_int_eq(tali_file_replace_begin(&out, "test_file_folder.tmp/x", "here", NULL), TAL_OK);
    ck_assert_int_eq(mkdir("test_file_folder.tmp/x", 0700), 0);
    ck_assert_int_eq(tali_file_replace_finish(&out, true, "here", NULL), TAL_ERR_FILE);
    assert_nothing_beside("test_file_folder.tmp/x");
    ck_assert_int_eq(rmdir("test_file_folder.tmp/x"), 0);
    ck_assert_int_eq(rmdir("test_file_folder.tmp"), 0);
}

END_TEST

START_TEST(a_device_is_written_in_place)
{
    tali_file_replacement out;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tali_file_replace_begin(&out, "/dev/null", "here", &err), TAL_OK);
    ck_assert_int_ge(fputs("gone", out.file), 0);
    ck_assert_int_eq(tali_file_replace_finish(&out, true, "here", &err), TAL_OK);
    struct stat there;
    ck_assert_int_eq(stat("/dev/null", &there), 0);
    ck_assert(S_ISCHR(there.st_mode));
    ck_assert_int_eq(tali_file_replace_begin(&out, "/dev/full", "here", &err), TAL_OK);
    ck_assert_int_ge(fputs("too much", out.file), 0);
    ck_assert_int_eq(tali_file_replace_finish(&out, true, "here", &err), TAL_ERR_FILE);
}

END_TEST

// Standard output goes to a file, which has something in it already.
START_TEST(what_standard_output_goes_to_is_written_in_place)
{
    const char *path = "test_file_stdout.tmp";
    (void)fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    ck_assert_ptr_nonnull(freopen(path, "wb", stdout));
    ck_assert_int_ge(fputs("first ", stdout), 0);
    ck_assert_int_eq(fflush(stdout), 0);
    replace("/dev/stdout", "second ");
    replace(path, "third "); // the same by its name
    ck_assert_int_ge(fputs("fourth", stdout), 0);
    ck_assert_int_eq(fflush(stdout), 0);
    ck_assert_int_ge(dup2(before, STDOUT_FILENO), 0);
    ck_assert_int_eq(close(before), 0);
    ck_assert(is_link("/dev/stdout"));
    assert_file_has(path, "first second third fourth");
    assert_nothing_beside(path);
    (void)remove(path);
}

END_TEST

enum {
    PIPE_SIZE = 20
};

static void *read_from_pipe(void *text)
{
    FILE *pipe = fopen("test_file_out.fifo", "rb");
    if (pipe == NULL) return NULL;
    const size_t n = fread(text, 1, PIPE_SIZE, pipe);
    (void)fclose(pipe);
    return n > 0 ? text : NULL;
}

START_TEST(a_pipe_is_written_in_place)
{
    const char *path = "test_file_out.fifo";
    char text[PIPE_SIZE + 1] = "";
    pthread_t reader;
    (void)remove(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(pthread_create(&reader, NULL, read_from_pipe, text), 0);
    replace(path, "through");
    void *done = NULL;
    ck_assert_int_eq(pthread_join(reader, &done), 0);
    ck_assert_ptr_eq(done, text);
    ck_assert_str_eq(text, "through");
    struct stat there;
    ck_assert(stat(path, &there) == 0 && S_ISFIFO(there.st_mode));
    (void)remove(path);
}

END_TEST

START_TEST(long_files_are_read_or_refused)
{
    const tal_allocator heap = tal_allocator_default();
    const char *path = "test_file.tmp";
    FILE *file = fopen(path, "wb");
    for (int i = 0; i < 300000; ++i) {
        (void)fputc('a' + i % 26, file);
    }
    ck_assert_int_eq(fclose(file), 0);
    tali_file_bytes bytes;
    tal_status st;
    ck_assert_ptr_null(tali_file_load_text(path, 300000, &heap, &bytes, &st));
    ck_assert_uint_eq(bytes.size, 300000);
    ck_assert_int_eq(bytes.block[299999], 'a' + 299999 % 26);
    tali_file_bytes_free(&heap, &bytes);
    ck_assert_str_eq(tali_file_load_text(path, 299999, &heap, &bytes, &st), "the file is too long");
    ck_assert_int_eq(st, TAL_ERR_FILE);
    tali_file_bytes_free(&heap, &bytes);
    ck_assert_str_eq(tali_file_load_text("no/such", 1, &heap, &bytes, &st),
                     "the file cannot be opened: No such file or directory");
    ck_assert_str_eq(tali_file_load_text(".", 1, &heap, &bytes, &st),
                     "the file cannot be read: Is a directory");
    tali_file_bytes_free(&heap, &bytes);
    for (int n = 1; n <= 2; ++n) { // for its beginning, and for all of it
        test_heap counts = {.refuse_at = n};
        const tal_allocator from = test_heap_allocator(&counts);
        ck_assert_str_eq(tali_file_load_text(path, 1 << 20, &from, &bytes, &st), "memory ran out");
        ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        tali_file_bytes_free(&from, &bytes);
        ck_assert_uint_eq(counts.bytes, 0);
    }
    (void)remove(path);
}

END_TEST

enum {
    PIPED = 300000
};

// Writes to a pipe until it has been read, or nobody reads on.
static void *write_to_pipe(void *path)
{
    FILE *pipe = fopen(path, "wb");
    for (int i = 0; pipe != NULL && i < PIPED; ++i) {
        if (fputc('y', pipe) == EOF) break;
    }
    if (pipe != NULL) (void)fclose(pipe);
    return NULL;
}

static const char *load_from_pipe(char *path, const tal_allocator *allocator,
                                  tali_file_bytes *bytes, tal_status *st)
{
    pthread_t writer;
    ck_assert_int_eq(pthread_create(&writer, NULL, write_to_pipe, path), 0);
    const char *wrong = tali_file_load_text(path, 1 << 20, allocator, bytes, st);
    ck_assert_int_eq(pthread_join(writer, NULL), 0);
    return wrong;
}

// A pipe does not tell its length: room is made as its bytes come.
START_TEST(what_does_not_tell_its_length_is_read_too)
{
    char path[] = "test_file.fifo";
    void (*const before)(int) = signal(SIGPIPE, SIG_IGN);
    (void)remove(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    for (int n = 1; n <= 4; ++n) { // 64, 128, 256, 512 kB
        test_heap counts = {.refuse_at = n};
        const tal_allocator from = test_heap_allocator(&counts);
        tali_file_bytes bytes;
        tal_status st;
        ck_assert_str_eq(load_from_pipe(path, &from, &bytes, &st), "memory ran out");
        ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        tali_file_bytes_free(&from, &bytes);
        ck_assert_uint_eq(counts.bytes, 0);
    }
    const tal_allocator heap = tal_allocator_default();
    tali_file_bytes bytes;
    tal_status st;
    ck_assert_ptr_null(load_from_pipe(path, &heap, &bytes, &st));
    ck_assert_uint_eq(bytes.size, PIPED);
    ck_assert_int_eq(bytes.block[PIPED - 1], 'y');
    tali_file_bytes_free(&heap, &bytes);
    (void)remove(path);
    (void)signal(SIGPIPE, before);
}

END_TEST

START_TEST(what_is_no_text_is_refused)
{
    const char *path = "test_file.tmp";
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite("a\0b", 1, 3, file), 3);
    ck_assert_int_eq(fclose(file), 0);
    const tal_allocator heap = tal_allocator_default();
    tali_file_bytes bytes;
    tal_status st;
    ck_assert_str_eq(tali_file_load_text(path, 10, &heap, &bytes, &st), TALI_NO_TEXT);
    ck_assert_int_eq(st, TAL_ERR_FILE);
    tali_file_bytes_free(&heap, &bytes);
    (void)remove(path);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("file");
    TCase *whole = tcase_create("whole");
    tcase_add_test(whole, a_file_is_replaced_only_when_the_other_is_whole);
    tcase_add_test(whole, a_file_that_is_replaced_keeps_its_permissions);
    tcase_add_test(whole, a_file_that_was_not_there_has_what_the_umask_leaves);
    tcase_add_test(whole, a_link_stays_and_what_it_leads_to_is_replaced);
    tcase_add_test(whole, a_long_name_has_room_beside_it);
    tcase_add_test(whole, two_writers_of_one_file_do_not_meet);
    tcase_add_test(whole, who_reads_while_others_write_finds_a_whole_file);
    tcase_add_test(whole, a_full_disk_costs_nothing);
    tcase_add_test(whole, what_cannot_be_written_is_reported);
    tcase_add_test(whole, a_device_is_written_in_place);
    tcase_add_test(whole, what_standard_output_goes_to_is_written_in_place);
    tcase_add_test(whole, a_pipe_is_written_in_place);
    tcase_add_test(whole, long_files_are_read_or_refused);
    tcase_add_test(whole, what_does_not_tell_its_length_is_read_too);
    tcase_add_test(whole, what_is_no_text_is_refused);
    suite_add_tcase(suite, whole);
    return test_run(suite);
}
