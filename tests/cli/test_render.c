// Pictures without a browser: films made of PNG files, and the talk with a browser, which a script
// plays here.
#include "viewer/apng.h"
#include "viewer/chromium.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

// --- films ---

enum {
    PICTURE_SIZE = 4096,
    MANY = 40
};

typedef struct picture {
    unsigned char at[PICTURE_SIZE];
    size_t size;
} picture;

static void add_word(picture *it, unsigned long value)
{
    for (int i = 0; i < 4; ++i) {
        it->at[it->size++] = (unsigned char)(value >> (24 - 8 * i) & 0xff);
    }
}

static void add_chunk(picture *it, const char name[4], const void *bytes, size_t size)
{
    add_word(it, size);
    memcpy(it->at + it->size, name, 4);
    if (size > 0) memcpy(it->at + it->size + 4, bytes, size);
    const unsigned long crc = crc32(0, it->at + it->size, (unsigned)size + 4);
    it->size += size + 4;
    add_word(it, crc);
}

static const unsigned char png_begin[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

// A PNG file 258 pixels wide and `height` high, whose data are two chunks that begin with `mark`.
static picture make_picture(unsigned char height, unsigned char mark)
{
    picture it = {.size = sizeof png_begin};
    memcpy(it.at, png_begin, sizeof png_begin);
    const unsigned char header[13] = {0, 0, 1, 2, 0, 0, 0, height, 8, 2, 0, 0, 0};
    unsigned char data[300];
    for (int i = 0; i < 300; ++i) {
        data[i] = (unsigned char)(mark + 7 * i);
    }
    add_chunk(&it, "IHDR", header, sizeof header);
    add_chunk(&it, "tEXt", "a\0b", 3);
    add_chunk(&it, "IDAT", data, sizeof data);
    add_chunk(&it, "IDAT", data + 100, 20);
    add_chunk(&it, "IEND", NULL, 0);
    return it;
}

static unsigned long word(const unsigned char *at)
{
    return (unsigned long)at[0] << 24 | (unsigned long)at[1] << 16 | (unsigned long)at[2] << 8 |
           at[3];
}

// The next chunk of a film: its name and checksum are right, and its bytes are given back.
static const unsigned char *read_chunk(const apng *film, size_t *at, const char name[4],
                                       size_t *size)
{
    ck_assert_uint_le(*at + 12, film->size);
    const unsigned char *const begin = film->at + *at;
    *size = word(begin);
    ck_assert_uint_le(*size, film->size - *at - 12);
    ck_assert_msg(memcmp(begin + 4, name, 4) == 0, "%.4s instead of %.4s", begin + 4, name);
    ck_assert_uint_eq(word(begin + 8 + *size), crc32(0, begin + 4, (unsigned)*size + 4));
    *at += *size + 12;
    return begin + 8;
}

// The control of a frame says number, size, place, and `above` / `below` seconds.
static void read_control(const apng *film, size_t *at, unsigned number, unsigned above,
                         unsigned below)
{
    size_t size = 0;
    const unsigned char *const control = read_chunk(film, at, "fcTL", &size);
    ck_assert_uint_eq(size, 26);
    ck_assert_uint_eq(word(control), number);
    ck_assert_uint_eq(word(control + 4), 258);
    ck_assert_uint_eq(word(control + 8), 9);
    ck_assert_uint_eq(word(control + 12), 0);
    ck_assert_uint_eq(word(control + 16), 0);
    ck_assert_uint_eq(word(control + 20), (unsigned long)above << 16 | below);
    ck_assert_int_eq(control[24], 0);
    ck_assert_int_eq(control[25], 0);
}

// The data of a frame: those of the picture, behind a number unless it is the first.
static void read_data(const apng *film, size_t *at, int frame, unsigned *number)
{
    const picture from = make_picture(9, (unsigned char)(3 * frame));
    const size_t first = sizeof png_begin + 25 + 15 + 8; // behind IHDR and tEXt
    for (int k = 0; k < 2; ++k) {
        size_t size = 0;
        const unsigned char *data = read_chunk(film, at, frame == 0 ? "IDAT" : "fdAT", &size);
        if (frame > 0) {
            ck_assert_uint_eq(word(data), (*number)++);
            data += 4;
            size -= 4;
        }
        ck_assert_uint_eq(size, k == 0 ? 300 : 20);
        ck_assert_mem_eq(data, from.at + first + (k == 0 ? 0 : 312), size);
    }
}

static void check_film(double fps, int frames, unsigned above, unsigned below)
{
    apng film = apng_begin(fps);
    for (int i = 0; i < frames; ++i) {
        const picture one = make_picture(9, (unsigned char)(3 * i));
        ck_assert(apng_add(&film, one.at, one.size));
    }
    apng_end(&film);
    size_t at = sizeof png_begin, size = 0;
    unsigned number = 0;
    ck_assert_mem_eq(film.at, png_begin, sizeof png_begin);
    ck_assert_mem_eq(read_chunk(&film, &at, "IHDR", &size), make_picture(9, 0).at + 16, 13);
    ck_assert_uint_eq(size, 13);
    const unsigned char *const all = read_chunk(&film, &at, "acTL", &size);
    ck_assert_uint_eq(size, 8);
    ck_assert_uint_eq(word(all), (unsigned long)frames);
    ck_assert_uint_eq(word(all + 4), 0);
    for (int i = 0; i < frames; ++i) {
        read_control(&film, &at, number++, above, below);
        read_data(&film, &at, i, &number);
    }
    (void)read_chunk(&film, &at, "IEND", &size);
    ck_assert_uint_eq(size, 0);
    ck_assert_uint_eq(at, film.size);
    apng_free(&film);
    ck_assert_ptr_null(film.at);
    ck_assert_uint_eq(film.size, 0);
}

START_TEST(a_film_has_its_pictures_with_numbers_and_times)
{
    check_film(0.02, 1, 1000, 20);
    check_film(25.0, 2, 1000, 25000);
    check_film(29.97, 3, 1000, 29970);
    check_film(65.0, 1, 1000, 65000);
    check_film(66.0, 1, 1, 66);
    check_film(1000.0, MANY, 1, 1000);
}

END_TEST

START_TEST(what_is_no_picture_of_the_film_is_refused)
{
    const picture good = make_picture(9, 1), other = make_picture(8, 1);
    picture bad[6];
    for (int i = 0; i < 6; ++i) {
        bad[i] = good;
    }
    bad[0].at[1] = 'p';   // signature
    bad[1].at[11] = 12;   // length of the header
    bad[2].at[12] = 'X';  // name of the header
    bad[3].at[36] = 1;    // length of the second chunk: past the end
    bad[4].size = 32;     // one byte less than a header has
    bad[5].at[34] = 0xff; // a length that nothing has
    for (int i = 0; i < 6; ++i) {
        apng film = apng_begin(10.0);
        ck_assert_msg(!apng_add(&film, bad[i].at, bad[i].size), "picture %d is taken", i);
        apng_free(&film);
    }
    apng film = apng_begin(10.0);
    ck_assert(apng_add(&film, good.at, good.size));
    ck_assert(!apng_add(&film, other.at, other.size));
    apng_end(&film);
    apng_free(&film);
    // the length of the last chunk may be what is left, and not one more
    picture cut = good;
    cut.size -= 12;
    film = apng_begin(10.0);
    ck_assert(apng_add(&film, cut.at, cut.size));
    apng_free(&film);
    cut.size -= 1;
    film = apng_begin(10.0);
    ck_assert(!apng_add(&film, cut.at, cut.size));
    apng_free(&film);
    // a header and nothing behind it
    film = apng_begin(10.0);
    cut.size = 33;
    ck_assert(apng_add(&film, cut.at, cut.size));
    apng_free(&film);
    // a film without pictures
    film = apng_begin(10.0);
    apng_end(&film);
    ck_assert_uint_eq(film.size, 0);
}

END_TEST

// --- the browser ---

// A script that answers as a browser does. It writes down what it was asked, in the file `asked`.
static const char script[] =
    "#!/usr/bin/env bash\n"
    "printf '%s\\n' \"$@\" >arguments\n"
    "tries=0\n"
    "say() { printf '%s\\0' \"$1\" >&4; }\n"
    "while IFS= read -r -d '' message <&3; do\n"
    "    printf '%s\\n' \"$message\" >>asked\n"
    "    id=${message#*:}; id=${id%%,*}\n"
    "    say '{\"method\":\"event\",\"params\":{\"value\":\"an event\"}}'\n"
    "    case $message in\n"
    "    *getTargets*) say '{\"id\":'$id',\"result\":{\"targetInfos\":["
    "{\"targetId\":\"T0\",\"type\":\"worker\"},{\"targetId\":\"T1\",\"type\":\"page\"},"
    "{\"targetId\":\"T2\",\"type\":\"worker\"}]}}' ;;\n"
    "    *attachToTarget*) [ -z \"${NO_SESSION:-}\" ] || exit 1\n"
    "        say '{\"id\":'$id',\"result\":{\"sessionId\":\"S7\"}}' ;;\n"
    "    *isReady*) tries=$((tries + 1)); ready=false; [ $tries -lt 3 ] || ready=true\n"
    "        say '{\"id\":'$id',\"result\":{\"result\":{\"value\":\"'$ready'\"}}}' ;;\n"
    "    *quotes*) say '{\"id\":'$id',\"result\":{\"result\":{\"value\":\"a \\\"b\\\" c\"}}}' ;;\n"
    "    *large*) say '{\"id\":'$id',\"result\":{\"result\":{\"value\":\"'"
    "\"$(head -c 300000 /dev/zero | tr '\\0' x)\"'\"}}}' ;;\n"
    "    *fails*) say '{\"id\":'$id',\"result\":{\"result\":{\"value\":\"no\"},"
    "\"exceptionDetails\":{\"description\":\"Error: it fails\"}}}' ;;\n"
    "    *leave*) exit 0 ;;\n"
    "    *) say '{\"id\":'$id',\"result\":{}}' ;;\n"
    "    esac\n"
    "done\n";

static char folder[64];

static void go_to_folder(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/talus-render-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    FILE *const file = fopen("browser", "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(script, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(chmod("browser", 0700), 0);
}

static void leave_folder(void)
{
    for (int i = 0; i < 4; ++i) {
        static const char *const names[] = {"browser", "arguments", "asked", "said"};
        (void)unlink(names[i]);
    }
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0); // nothing else is left behind
}

static cli_args arguments_of_render(void)
{
    static const char *const argv[] = {"render", "a.sto"};
    cli_args args;
    ck_assert_int_eq(cli_parse(2, argv, &args), CLI_OK);
    return args;
}

// What the file says.
static void read_text(const char *path, char text[], size_t size)
{
    FILE *const file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, size - 1, file)] = 0;
    (void)fclose(file);
}

static int error_before = -1;

static void keep_error(void)
{
    (void)fflush(stderr);
    error_before = dup(STDERR_FILENO);
    ck_assert_ptr_nonnull(freopen("said", "w", stderr));
}

static void check_error(const char *expected)
{
    (void)fflush(stderr);
    ck_assert_int_ge(dup2(error_before, STDERR_FILENO), 0);
    (void)close(error_before);
    char said[1000];
    read_text("said", said, sizeof said);
    ck_assert_str_eq(said, expected);
}

START_TEST(a_browser_is_asked_and_answers)
{
    go_to_folder();
    ck_assert_int_eq(setenv("TALUS_CHROMIUM", "./browser", 1), 0);
    const cli_args args = arguments_of_render();
    chromium *const it = chromium_start(&args);
    ck_assert_ptr_nonnull(it);
    char text[4000], profile[100] = "";
    read_text("arguments", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "--remote-debugging-pipe\n"));
    ck_assert_ptr_nonnull(strstr(text, "--headless\n"));
    ck_assert_int_eq(sscanf(strstr(text, "--user-data-dir="), "--user-data-dir=%99s", profile), 1);
    ck_assert_int_eq(access(profile, F_OK), 0);
    ck_assert_int_eq(chromium_open(it, "/a/page.html"), CLI_OK);
    char *value = chromium_ask(it, "quotes(\"x\")");
    ck_assert_str_eq(value, "a \\\"b\\\" c");
    free(value);
    value = chromium_ask(it, "large()");
    ck_assert_uint_eq(strlen(value), 300000);
    ck_assert_uint_eq(strspn(value, "x"), 300000);
    free(value);
    chromium_stop(it);
    ck_assert_int_ne(access(profile, F_OK), 0);
    read_text("asked", text, sizeof text);
    static const char *const lines[] = {
        "{\"id\":1,\"method\":\"Target.getTargets\",\"params\":{}}\n",
        "{\"id\":2,\"method\":\"Target.attachToTarget\",\"params\":{\"targetId\":\"T1\","
        "\"flatten\":true}}\n",
        "{\"id\":3,\"sessionId\":\"S7\",\"method\":\"Page.navigate\","
        "\"params\":{\"url\":\"file:///a/page.html\"}}\n",
        "{\"id\":6,\"sessionId\":\"S7\",\"method\":\"Runtime.evaluate\",\"params\":{\"expression\":"
        "\"(async () => String(await (Boolean(window.talusView && window.talusView.isReady))))()\","
        "\"returnByValue\":true,\"awaitPromise\":true}}\n",
        "{\"id\":7,\"sessionId\":\"S7\",\"method\":\"Runtime.evaluate\",\"params\":{\"expression\":"
        "\"(async () => String(await (quotes(\\\"x\\\"))))()\"",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) {
        ck_assert_msg(strstr(text, lines[i]) != NULL, "%s is not in %s", lines[i], text);
    }
    leave_folder();
}

END_TEST

START_TEST(a_browser_that_fails_is_told)
{
    go_to_folder();
    ck_assert_int_eq(setenv("TALUS_CHROMIUM", "./browser", 1), 0);
    const cli_args args = arguments_of_render();
    keep_error();
    chromium *it = chromium_start(&args);
    ck_assert_ptr_nonnull(it);
    ck_assert_ptr_null(chromium_ask(it, "fails()"));
    ck_assert_ptr_null(chromium_ask(it, "other()"));
    ck_assert_ptr_null(chromium_ask(it, "leave()"));
    ck_assert_int_eq(chromium_open(it, "/a/page.html"), CLI_FAILED);
    chromium_stop(it);
    check_error("talus render: the browser does not answer: Error: it fails\n"
                "talus render: the browser does not answer.\n"
                "talus render: the browser does not answer.\n"
                "talus render: the browser does not answer.\n");
    keep_error();
    ck_assert_int_eq(setenv("NO_SESSION", "1", 1), 0);
    ck_assert_ptr_null(chromium_start(&args));
    ck_assert_int_eq(unsetenv("NO_SESSION"), 0);
    ck_assert_int_eq(setenv("TALUS_CHROMIUM", "./nowhere", 1), 0);
    ck_assert_ptr_null(chromium_start(&args));
    check_error("talus render: ./browser does not start.\n"
                "talus render: pictures are drawn by Chromium, which is not here: install "
                "chromium-headless-shell or chromium, or name one in TALUS_CHROMIUM.\n");
    leave_folder();
}

END_TEST

int main(void)
{
    Suite *const suite = suite_create("cli/render");
    TCase *const tcase = tcase_create("render");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_film_has_its_pictures_with_numbers_and_times);
    tcase_add_test(tcase, what_is_no_picture_of_the_film_is_refused);
    tcase_add_test(tcase, a_browser_is_asked_and_answers);
    tcase_add_test(tcase, a_browser_that_fails_is_told);
    suite_add_tcase(suite, tcase);
    SRunner *const runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
