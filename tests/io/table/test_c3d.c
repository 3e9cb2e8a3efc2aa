// io/src/table/c3d.c, c3d_parameters.c: C3D files.
#include "talus_test.h"

#include <talus/io/c3d.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// --- a file, written as three machines would ---

enum {
    INTEL = 84,
    DEC = 85,
    MIPS = 86,
    FRAMES = 3,
    SAMPLES = 2,
    CHANNELS = 6,
    DATA = 4 // the block where data begin
};

typedef struct c3d_file {
    unsigned char bytes[6 * 512];
    size_t at;
    int machine;
    bool reals;
} c3d_file;

static void put_byte(c3d_file *f, int value)
{
    f->bytes[f->at++] = (unsigned char)value;
}

static void put_integer(c3d_file *f, int value)
{
    const int low = value & 0xff, high = value >> 8 & 0xff;
    put_byte(f, f->machine == MIPS ? high : low);
    put_byte(f, f->machine == MIPS ? low : high);
}

static void put_real(c3d_file *f, double value)
{
    static const int orders[3][4] = {{0, 1, 2, 3}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    const float x = (float)(f->machine == DEC ? 4.0 * value : value);
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    for (int k = 0; k < 4; ++k) {
        put_byte(f, (int)(bits >> 8 * orders[f->machine - INTEL][k] & 0xff));
    }
}

static void put_entry(c3d_file *f, int group, const char *name, int size)
{
    put_byte(f, (int)strlen(name));
    put_byte(f, group);
    for (const char *c = name; *c != '\0'; ++c) {
        put_byte(f, *c);
    }
    put_integer(f, size + 2);
}

static void put_group(c3d_file *f, int group, const char *name)
{
    put_entry(f, -group, name, 1);
    put_byte(f, 0); // no description
}

static void put_reals(c3d_file *f, int group, const char *name, const double values[], int n)
{
    put_entry(f, group, name, 3 + 4 * n + 1);
    put_byte(f, 4);
    put_byte(f, 1);
    put_byte(f, n);
    for (int i = 0; i < n; ++i) {
        put_real(f, values[i]);
    }
    put_byte(f, 0);
}

static void put_integers(c3d_file *f, int group, const char *name, const int values[], int n)
{
    put_entry(f, group, name, 3 + 2 * n + 1);
    put_byte(f, 2);
    put_byte(f, 1);
    put_byte(f, n);
    for (int i = 0; i < n; ++i) {
        put_integer(f, values[i]);
    }
    put_byte(f, 0);
}

// Labels of four characters.
static void put_labels(c3d_file *f, int group, const char *name, const char *text)
{
    const int n = (int)strlen(text);
    put_entry(f, group, name, 4 + n + 1);
    put_byte(f, -1);
    put_byte(f, 2);
    put_byte(f, 4);
    put_byte(f, n / 4);
    for (int i = 0; i < n; ++i) {
        put_byte(f, text[i]);
    }
    put_byte(f, 0);
}

static void put_number(c3d_file *f, double value)
{
    if (f->reals) {
        put_real(f, value);
    } else {
        put_integer(f, (int)value);
    }
}

// Two points: one at (4 f, 2, -8), one that is seen in the first frame only. A plate of type 2,
// corners at (+-1, +-2), whose origin is 0.5 below its surface, with the force (1, 2, 4) and moments
// (3, 5, 7), in channels of scale 0.5 and offset 2.
static c3d_file make_file(int machine, bool reals)
{
    static c3d_file f;
    memset(&f, 0, sizeof f);
    f.machine = machine;
    f.reals = reals;
    put_byte(&f, 2);
    put_byte(&f, 0x50);
    put_integer(&f, 2);
    put_integer(&f, CHANNELS * SAMPLES);
    put_integer(&f, 1);
    put_integer(&f, FRAMES);
    put_integer(&f, 0);
    put_real(&f, reals ? -1.0 : 2.0);
    put_integer(&f, DATA);
    put_integer(&f, SAMPLES);
    put_real(&f, 100.0);
    f.at = 512;
    put_byte(&f, 1);
    put_byte(&f, 0x50);
    put_byte(&f, 2);
    put_byte(&f, machine);
    put_group(&f, 1, "POINT");
    put_labels(&f, 1, "LABELS", "KNEEHIP ");
    put_labels(&f, 1, "UNITS", "mm  ");
    put_group(&f, 2, "ANALOG");
    put_labels(&f, 2, "LABELS", "Fx  Fy  Fz  Mx  My  Mz  ");
    put_reals(&f, 2, "SCALE", (const double[]){0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, 6);
    put_integers(&f, 2, "OFFSET", (const int[]){2, 2, 2, 2, 2, 2}, 6);
    put_group(&f, 3, "FORCE_PLATFORM");
    put_integers(&f, 3, "USED", (const int[]){1}, 1);
    put_integers(&f, 3, "TYPE", (const int[]){2}, 1);
    put_integers(&f, 3, "CHANNEL", (const int[]){1, 2, 3, 4, 5, 6}, 6);
    put_reals(&f, 3, "ORIGIN", (const double[]){0.0, 0.0, -0.5}, 3);
    put_reals(&f, 3, "CORNERS",
              (const double[]){1.0, 2.0, 0.0, -1.0, 2.0, 0.0, -1.0, -2.0, 0.0, 1.0, -2.0, 0.0}, 12);
    ck_assert_uint_lt(f.at, (DATA - 1) * 512);
    f.at = (size_t)(DATA - 1) * 512;
    const double unit = reals ? 1.0 : 0.5; // integers are scaled by 2
    static const double loads[] = {1.0, 2.0, 4.0, 3.0, 5.0, 7.0};
    for (int k = 0; k < FRAMES; ++k) {
        const double points[] = {4.0 * k * unit, 2.0 * unit, -8.0 * unit, 0.0,
                                 2.0 * unit,     0.0,        0.0,         k == 0 ? 0.0 : -1.0};
        for (int i = 0; i < 8; ++i) {
            put_number(&f, points[i]);
        }
        for (int i = 0; i < CHANNELS * SAMPLES; ++i) {
            put_number(&f, loads[i % CHANNELS] / 0.5 + 2.0);
        }
    }
    return f;
}

static double value(const tal_table *table, int row, const char *column)
{
    const int c = tal_table_find_column(table, column);
    ck_assert_msg(c >= 0, "no column '%s'", column);
    return tal_table_value(table, row, c);
}

// All numbers are small multiples of powers of two, so that they are exact in every form.
START_TEST(files_of_three_machines_have_the_same_numbers)
{
    for (int k = 0; k < 6; ++k) {
        const c3d_file f = make_file(INTEL + k / 2, k % 2 == 0);
        tal_c3d c3d;
        ck_assert_int_eq(
            tal_c3d_read_memory("f", (const char *)f.bytes, f.at, NULL, TAL_C3D_CENTER, &c3d, NULL),
            TAL_OK);
        ck_assert_int_eq(tal_table_num_rows(c3d.markers), FRAMES);
        ck_assert_int_eq(tal_table_num_rows(c3d.analog), FRAMES * SAMPLES);
        ck_assert(value(c3d.markers, 2, "KNEE.x") == 8.0);
        ck_assert(value(c3d.markers, 1, "KNEE.z") == -8.0);
        ck_assert(value(c3d.markers, 0, "HIP.x") == 2.0);
        ck_assert(isnan(value(c3d.markers, 1, "HIP.x")));
        ck_assert(value(c3d.markers, 2, "time") == 2.0 / 100.0);
        ck_assert(value(c3d.analog, 5, "time") == 5.0 / 200.0);
        ck_assert(value(c3d.analog, 3, "Fz") == 4.0);
        ck_assert_str_eq(tal_table_header(c3d.markers, "Units"), "mm");
        // M + origin x F = (3, 5, 7) + (0, 0, -0.5) x (1, 2, 4)
        ck_assert(value(c3d.plates, 4, "f1_2") == 2.0);
        ck_assert(value(c3d.plates, 4, "p1_1") == 0.0);
        ck_assert(value(c3d.plates, 4, "m1_1") == 3.0 + 1.0);
        ck_assert(value(c3d.plates, 4, "m1_2") == 5.0 - 0.5);
        ck_assert(value(c3d.plates, 4, "m1_3") == 7.0);
        tal_c3d_destroy(&c3d);
    }
}

END_TEST

// The moment about the center of pressure has no part along the surface, and both loads are the
// same: p x F + m = M.
START_TEST(the_center_of_pressure_carries_the_same_load)
{
    const c3d_file f = make_file(INTEL, true);
    tal_c3d c3d;
    ck_assert_int_eq(
        tal_c3d_read_memory("f", (const char *)f.bytes, f.at, NULL, TAL_C3D_PRESSURE, &c3d, NULL),
        TAL_OK);
    const double x = value(c3d.plates, 0, "p1_1"), y = value(c3d.plates, 0, "p1_2");
    ck_assert(value(c3d.plates, 0, "m1_1") == 0.0 && value(c3d.plates, 0, "m1_2") == 0.0);
    ck_assert_double_eq_tol(y * 4.0, 4.0, 1e-15);
    ck_assert_double_eq_tol(-x * 4.0, 4.5, 1e-15);
    ck_assert_double_eq_tol(value(c3d.plates, 0, "m1_3") + x * 2.0 - y * 1.0, 7.0, 1e-14);
    tal_c3d_destroy(&c3d);
}

END_TEST

// Shorter files are refused, and so is any file in which a byte is another one, or it is read;
// nothing outside the file is touched.
START_TEST(files_that_are_damaged_are_refused_or_read)
{
    const c3d_file good = make_file(INTEL, true);
    tal_c3d c3d;
    for (size_t n = 0; n < good.at; n += 7) {
        char *part = malloc(n > 0 ? n : 1); // a block of its own: the sanitizer sees its end
        memcpy(part, good.bytes, n);
        ck_assert_int_eq(tal_c3d_read_memory("f", part, n, NULL, TAL_C3D_CENTER, &c3d, NULL),
                         TAL_ERR_FILE);
        ck_assert_ptr_null(c3d.markers);
        free(part);
    }
    tal_random rng = {1, 40, 0};
    for (int k = 0; k < 1000; ++k) {
        c3d_file f = good;
        const int n = 1 + (int)(3.0 * tal_random_uniform(&rng));
        for (int i = 0; i < n; ++i) {
            const size_t at = (size_t)(tal_random_uniform(&rng) * 1400.0);
            f.bytes[at] = (unsigned char)(256.0 * tal_random_uniform(&rng));
        }
        const tal_status st = tal_c3d_read_memory("f", (const char *)f.bytes, f.at, NULL,
                                                  TAL_C3D_PRESSURE, &c3d, NULL);
        ck_assert(st == TAL_OK || st == TAL_ERR_FILE);
        tal_c3d_destroy(&c3d);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/c3d");
    TCase *tc = tcase_create("c3d");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, files_of_three_machines_have_the_same_numbers);
    tcase_add_test(tc, the_center_of_pressure_carries_the_same_load);
    tcase_add_test(tc, files_that_are_damaged_are_refused_or_read);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
