// io/src/c3d: C3D files.
#include "talus_test.h"

#include <talus/io/c3d.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- a file, written as three machines would ---

enum {
    INTEL = 84,
    DEC = 85,
    MIPS = 86,
    MOST = 1 << 18,
    MAX_CHANNELS = 8
};

// What a file has: points at (4 frame, 2, -8), the second one seen in the first frame only; a plate
// with corners at (+-1, +-2); channels that are constant.
typedef struct contents {
    int machine;
    bool reals;
    int frames, points, samples, channels;
    double values[MAX_CHANNELS]; // of the channels
    const char *labels;          // of points, four characters each
    const char *units;           // NULL: none
    int type;                    // of the plate; 0: there is none
    double origin[3];
    double calibration; // type 4: the matrix is this times 1
} contents;

static contents plain(void)
{
    return (contents){.machine = INTEL,
                      .reals = true,
                      .frames = 3,
                      .points = 2,
                      .samples = 2,
                      .channels = 6,
                      .values = {1.0, 2.0, 4.0, 3.0, 5.0, 7.0},
                      .labels = "KNEEHIP ",
                      .units = "mm  ",
                      .type = 2,
                      .origin = {0.0, 0.0, 0.5}};
}

typedef struct c3d_file {
    unsigned char bytes[MOST];
    size_t at;
    const contents *it;
} c3d_file;

static void put_byte(c3d_file *f, int value)
{
    ck_assert_uint_lt(f->at, MOST);
    f->bytes[f->at++] = (unsigned char)value;
}

static void put_integer(c3d_file *f, int value)
{
    const int low = value & 0xff, high = value >> 8 & 0xff;
    put_byte(f, f->it->machine == MIPS ? high : low);
    put_byte(f, f->it->machine == MIPS ? low : high);
}

static void put_real(c3d_file *f, double value)
{
    static const int orders[3][4] = {{0, 1, 2, 3}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    const float x = (float)(f->it->machine == DEC ? 4.0 * value : value);
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    for (int k = 0; k < 4; ++k) {
        put_byte(f, (int)(bits >> 8 * orders[f->it->machine - INTEL][k] & 0xff));
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

// `n` labels of four characters.
static void put_labels(c3d_file *f, int group, const char *name, const char *text, int n)
{
    put_entry(f, group, name, 4 + 4 * n + 1);
    put_byte(f, -1);
    put_byte(f, 2);
    put_byte(f, 4);
    put_byte(f, n);
    for (int i = 0; i < 4 * n; ++i) {
        put_byte(f, text[i]);
    }
    put_byte(f, 0);
}

// Numbers of channels are scaled by 0.5, with offset 2.
static void put_channels(c3d_file *f)
{
    const int n = f->it->channels;
    double scales[MAX_CHANNELS];
    int offsets[MAX_CHANNELS];
    for (int i = 0; i < MAX_CHANNELS; ++i) {
        scales[i] = 0.5;
        offsets[i] = 2;
    }
    put_group(f, 2, "ANALOG");
    put_labels(f, 2, "LABELS", "Fx  Fy  Fz  Mx  My  Mz  7   8   ", n);
    put_reals(f, 2, "SCALE", scales, n);
    put_integers(f, 2, "OFFSET", offsets, n);
    put_labels(f, 2, "FORMAT", "SIGN", 1);
}

static void put_plate(c3d_file *f)
{
    static const double corners[] = {1, 2, 0, -1, 2, 0, -1, -2, 0, 1, -2, 0};
    double matrix[36] = {0.0};
    for (int i = 0; i < 6; ++i) {
        matrix[7 * i] = f->it->calibration;
    }
    put_group(f, 3, "FORCE_PLATFORM");
    put_integers(f, 3, "USED", (const int[]){1}, 1);
    put_integers(f, 3, "TYPE", &f->it->type, 1);
    put_integers(f, 3, "CHANNEL", (const int[]){1, 2, 3, 4, 5, 6, 7, 8}, f->it->channels);
    put_reals(f, 3, "ORIGIN", f->it->origin, 3);
    put_reals(f, 3, "CORNERS", corners, 12);
    if (f->it->type == 4) put_reals(f, 3, "CAL_MATRIX", matrix, 36);
}

static void put_parameters(c3d_file *f)
{
    const contents *it = f->it;
    const int points = it->labels != NULL ? (int)strlen(it->labels) / 4 : 0;
    put_byte(f, 1);
    put_byte(f, 0x50);
    put_byte(f, 2);
    put_byte(f, it->machine);
    put_group(f, 1, "POINT");
    put_labels(f, 1, "LABELS", it->labels, points < 255 ? points : 255);
    if (points > 255) put_labels(f, 1, "LABELS2", it->labels + 4 * (ptrdiff_t)255, points - 255);
    if (it->units != NULL) put_labels(f, 1, "UNITS", it->units, 1);
    put_channels(f);
    if (it->type != 0) put_plate(f);
    if (it->frames > 65535) {
        put_group(f, 4, "TRIAL");
        put_integers(f, 4, "ACTUAL_START_FIELD", (const int[]){1, 0}, 2);
        put_integers(f, 4, "ACTUAL_END_FIELD", (const int[]){it->frames % 65536, 1}, 2);
    }
}

static void put_number(c3d_file *f, double value)
{
    if (f->it->reals) {
        put_real(f, value);
    } else {
        put_integer(f, (int)value);
    }
}

static void put_frame(c3d_file *f, int k)
{
    const contents *it = f->it;
    const double unit = it->reals ? 1.0 : 0.5; // integers are scaled by 2
    for (int i = 0; i < it->points; ++i) {
        const bool is_seen = i != 1 || k == 0;
        put_number(f, 4.0 * k * unit);
        put_number(f, 2.0 * unit);
        put_number(f, -8.0 * unit);
        put_number(f, is_seen ? 0.0 : -1.0);
    }
    for (int i = 0; i < it->channels * it->samples; ++i) {
        put_number(f, it->values[i % it->channels] / 0.5 + 2.0);
    }
}

// The header gets the place of the data last.
static c3d_file *make_file(const contents *it)
{
    c3d_file *f = calloc(1, sizeof *f);
    ck_assert_ptr_nonnull(f);
    f->it = it;
    f->at = 512;
    put_parameters(f);
    const size_t data = (f->at + 511) / 512;
    f->at = 0;
    put_byte(f, 2);
    put_byte(f, 0x50);
    put_integer(f, it->points);
    put_integer(f, it->channels * it->samples);
    put_integer(f, 1);
    put_integer(f, it->frames < 65535 ? it->frames : 65535);
    put_integer(f, 0);
    put_real(f, it->reals ? -1.0 : 2.0);
    put_integer(f, (int)data + 1);
    put_integer(f, it->samples);
    put_real(f, 100.0);
    f->at = 512 * data;
    for (int k = 0; k < it->frames; ++k) {
        put_frame(f, k);
    }
    return f;
}

static tal_table *read_part(const contents *it, tal_c3d_part part, tal_diagnostics *found)
{
    c3d_file *f = make_file(it);
    tal_table *table = NULL;
    ck_assert_int_eq(
        tal_c3d_read_memory("f", (const char *)f->bytes, f->at, part, NULL, &table, found), TAL_OK);
    free(f);
    return table;
}

static double value(const tal_table *table, int row, const char *column)
{
    const int c = tal_table_find_column(table, column);
    ck_assert_msg(c >= 0, "no column '%s'", column);
    return tal_table_value(table, row, c);
}

// --- numbers ---

// All numbers are small multiples of powers of two, so that they are exact in every form.
START_TEST(files_of_three_machines_have_the_same_numbers)
{
    for (int k = 0; k < 6; ++k) {
        contents it = plain();
        it.machine = INTEL + k / 2;
        it.reals = k % 2 == 0;
        tal_table *markers = read_part(&it, TAL_C3D_MARKERS, NULL);
        tal_table *analog = read_part(&it, TAL_C3D_ANALOG, NULL);
        tal_table *plates = read_part(&it, TAL_C3D_PLATES, NULL);
        ck_assert_int_eq(tal_table_num_rows(markers), it.frames);
        ck_assert_int_eq(tal_table_num_rows(analog), it.frames * it.samples);
        ck_assert(value(markers, 2, "KNEE.x") == 8.0);
        ck_assert(value(markers, 1, "KNEE.z") == -8.0);
        ck_assert(value(markers, 0, "HIP.y") == 2.0);
        ck_assert(isnan(value(markers, 1, "HIP.x")));
        ck_assert(value(markers, 2, "time") == 2.0 / 100.0);
        ck_assert(value(analog, 5, "time") == 5.0 / 200.0);
        ck_assert(value(analog, 3, "Fz") == 4.0);
        ck_assert_str_eq(tal_table_header(markers, "Units"), "mm");
        // M + origin x F = (3, 5, 7) + (0, 0, 0.5) x (1, 2, 4)
        ck_assert(value(plates, 4, "f1_2") == 2.0);
        ck_assert(value(plates, 4, "p1_1") == 0.0);
        ck_assert(value(plates, 4, "m1_1") == 3.0 - 1.0);
        ck_assert(value(plates, 4, "m1_2") == 5.0 + 0.5);
        ck_assert(value(plates, 4, "m1_3") == 7.0);
        tal_table_destroy(markers);
        tal_table_destroy(analog);
        tal_table_destroy(plates);
    }
}

END_TEST

// 40000 does not fit into an integer with a sign: (40000 - 2) / 2.
START_TEST(integers_without_a_sign_are_read)
{
    contents it = plain();
    it.reals = false;
    it.values[0] = 0.5 * (40000.0 - 2.0);
    c3d_file *f = make_file(&it);
    for (size_t i = 0; i + 4 < f->at; ++i) { // FORMAT: UNSI is not enough
        if (memcmp(f->bytes + i, "FORMAT", 6) != 0) continue;
        f->bytes[i + 10] = 8; // one word of eight characters: its description follows
        f->bytes[i + 11] = 1;
        memcpy(f->bytes + i + 12, "UNSIGNED", 8);
    }
    tal_table *analog = NULL;
    ck_assert_int_eq(tal_c3d_read_memory("f", (const char *)f->bytes, f->at, TAL_C3D_ANALOG, NULL,
                                         &analog, NULL),
                     TAL_OK);
    ck_assert(value(analog, 0, "Fx") == it.values[0]);
    tal_table_destroy(analog);
    free(f);
}

END_TEST

START_TEST(more_frames_than_the_header_can_count_are_read)
{
    contents it = plain();
    it.reals = false;
    it.frames = 70000;
    it.points = 0;
    it.labels = "";
    it.samples = it.channels = 1;
    it.type = 0;
    tal_table *analog = read_part(&it, TAL_C3D_ANALOG, NULL);
    ck_assert_int_eq(tal_table_num_rows(analog), 70000);
    tal_table_destroy(analog);
}

END_TEST

// --- labels ---

START_TEST(labels_beyond_255_are_in_a_second_parameter)
{
    static char labels[4 * 300 + 1];
    for (int i = 0; i < 300; ++i) {
        (void)snprintf(labels + 4 * (ptrdiff_t)i, 5, "M%03d", i);
    }
    contents it = plain();
    it.points = 300;
    it.labels = labels;
    tal_table *markers = read_part(&it, TAL_C3D_MARKERS, NULL);
    ck_assert_int_eq(tal_table_num_columns(markers), 901);
    ck_assert_str_eq(tal_table_column_name(markers, 1 + 3 * 254), "M254.x");
    ck_assert_str_eq(tal_table_column_name(markers, 1 + 3 * 255), "M255.x");
    ck_assert_str_eq(tal_table_column_name(markers, 900), "M299.z");
    tal_table_destroy(markers);
}

END_TEST

START_TEST(labels_that_are_missing_or_there_twice_get_names_of_their_own)
{
    contents it = plain();
    it.points = 4;
    it.labels = "A   A   A   ";
    it.units = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    tal_table *markers = read_part(&it, TAL_C3D_MARKERS, found);
    static const char *const names[] = {"A.x", "A_2.x", "A_3.x", "4.x"};
    for (int i = 0; i < 4; ++i) {
        ck_assert_str_eq(tal_table_column_name(markers, 1 + 3 * i), names[i]);
    }
    ck_assert_str_eq(tal_table_header(markers, "Units"), "mm");
    ck_assert_int_eq(tal_diagnostics_num(found), 3);
    ck_assert_str_eq(tal_diagnostics_at(found, 0)->message,
                     "the file has no POINT:UNITS: lengths are taken as mm");
    ck_assert_str_eq(tal_diagnostics_at(found, 1)->message,
                     "the label 'A' is there twice: the second one becomes 'A_2'");
    tal_table_destroy(markers);
    tal_diagnostics_destroy(found);
}

END_TEST

// --- plates ---

// The moment about the center of pressure has no part along the surface, and both loads are the
// same: p x F + m = M.
START_TEST(the_center_of_pressure_carries_the_same_load)
{
    const contents it = plain();
    tal_table *forces = read_part(&it, TAL_C3D_FORCES, NULL);
    const double x = value(forces, 0, "p1_1"), y = value(forces, 0, "p1_2");
    ck_assert(value(forces, 0, "m1_1") == 0.0 && value(forces, 0, "m1_2") == 0.0);
    ck_assert_double_eq_tol(y * 4.0, 2.0, 1e-15);
    ck_assert_double_eq_tol(-x * 4.0, 5.5, 1e-15);
    ck_assert_double_eq_tol(value(forces, 0, "m1_3") + x * 2.0 - y * 1.0, 7.0, 1e-14);
    tal_table_destroy(forces);
}

END_TEST

START_TEST(without_a_force_on_a_plate_its_center_stands_for_the_center_of_pressure)
{
    contents it = plain();
    it.values[2] = 0.0;
    tal_table *forces = read_part(&it, TAL_C3D_FORCES, NULL);
    ck_assert(value(forces, 0, "p1_1") == 0.0 && value(forces, 0, "p1_2") == 0.0);
    ck_assert(value(forces, 0, "m1_1") == 3.0 - 1.0);
    tal_table_destroy(forces);
}

END_TEST

// One load, (1, 2, 4) with the moment (2, 5.5, 7) about the center, as plates of each type have it:
// with an origin above or below; by the center of pressure (-1.375, 0.5) and the moment there,
// 7 + 1.375 * 2 + 0.5; by sensors at (+-0.5, +-2), 0.5 below, with moments (3, 5, 7) there:
// b (z1 + z2 - z3 - z4) = 3, a (-z1 + z2 + z3 - z4) = 5, b (-x12 + x34) + a (y14 - y23) = 7;
// by volts, of which one is two units.
START_TEST(plates_of_every_type_have_the_same_load)
{
    contents its[5];
    for (int i = 0; i < 5; ++i) {
        its[i] = plain();
    }
    its[1].origin[2] = -0.5;
    its[2].type = 1;
    const double pressure[] = {1.0, 2.0, 4.0, -1.375, 0.5, 10.25};
    memcpy(its[2].values, pressure, sizeof pressure);
    its[3].type = 3;
    its[3].channels = 8;
    its[3].origin[0] = 0.5;
    its[3].origin[1] = 2.0;
    its[3].origin[2] = -0.5;
    // sums: z 4, z1 + z2 = 2.75, z2 + z3 = 7; x 1, x34 - x12 = 2; y 2, y14 - y23 = 6
    const double sensors[] = {-0.5, 1.5, 4.0, -2.0, -2.0, 4.75, 2.25, -1.0};
    memcpy(its[3].values, sensors, sizeof sensors);
    its[4].type = 4;
    its[4].calibration = 2.0;
    for (int i = 0; i < 6; ++i) {
        its[4].values[i] *= 0.5;
    }
    tal_table *first = read_part(&its[0], TAL_C3D_PLATES, NULL);
    for (int i = 1; i < 5; ++i) {
        tal_table *other = read_part(&its[i], TAL_C3D_PLATES, NULL);
        ck_assert_int_eq(tal_table_num_columns(other), 10);
        for (int c = 0; c < 10; ++c) {
            ck_assert_msg(tal_table_value(other, 0, c) == tal_table_value(first, 0, c),
                          "case %d, %s: %g", i, tal_table_column_name(first, c),
                          tal_table_value(other, 0, c));
        }
        tal_table_destroy(other);
    }
    tal_table_destroy(first);
}

END_TEST

START_TEST(a_plate_that_is_not_understood_is_left_out_by_name)
{
    contents it = plain();
    it.type = 7;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    tal_table *plates = read_part(&it, TAL_C3D_PLATES, found);
    ck_assert_int_eq(tal_table_num_columns(plates), 1);
    ck_assert_str_eq(tal_diagnostics_at(found, 0)->message,
                     "force plate 1 is left out: its type is not 1, 2, 3 or 4");
    tal_table_destroy(plates);
    tal_diagnostics_destroy(found);
}

END_TEST

// --- what cannot be read ---

// Bytes of a plain file that are changed, and what is said then.
static const struct {
    size_t at;
    int byte;
    const char *message;
} damages[] = {
    {1, 7, "this is not a C3D file: its second byte is not 80, or it is too short"},
    {512 + 3, 9,
     "the file does not say whose numbers it has: the byte for that is not 84 (Intel), 85 (DEC) "
     "or 86 (MIPS)"},
    {8, 0, "the header counts no frames, or too many"},
    {8, 9, "the file is cut off: it has 3 of 9 frames"},
    {16, 1, "the header does not say where frames begin"},
    {23, 0xc2, "POINT:RATE, the number of frames in a second, is not above 0"},
};

START_TEST(damaged_files_are_refused_with_a_reason)
{
    const contents it = plain();
    for (size_t i = 0; i < sizeof damages / sizeof *damages; ++i) {
        c3d_file *f = make_file(&it);
        f->bytes[damages[i].at] = (unsigned char)damages[i].byte;
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        tal_table *table = NULL;
        ck_assert_int_eq(tal_c3d_read_memory("f.c3d", (const char *)f->bytes, f->at,
                                             TAL_C3D_MARKERS, NULL, &table, found),
                         TAL_ERR_FILE);
        ck_assert_ptr_null(table);
        ck_assert_str_eq(tal_diagnostics_at(found, 0)->message, damages[i].message);
        ck_assert_str_eq(tal_diagnostics_at(found, 0)->file, "f.c3d");
        tal_diagnostics_destroy(found);
        free(f);
    }
}

END_TEST

// Every shorter file is refused; a file with other bytes is refused or read. Nothing outside of it
// is touched: the sanitizer sees the end of its block.
START_TEST(files_that_are_cut_or_garbled_are_refused_or_read)
{
    const contents it = plain();
    c3d_file *good = make_file(&it);
    tal_table *table = NULL;
    for (size_t n = 0; n < good->at; n += 7) {
        char *part = malloc(n > 0 ? n : 1);
        memcpy(part, good->bytes, n);
        ck_assert_int_eq(tal_c3d_read_memory("f", part, n, TAL_C3D_MARKERS, NULL, &table, NULL),
                         TAL_ERR_FILE);
        free(part);
    }
    tal_random rng = {1, 40, 0};
    char *garbled = malloc(good->at);
    for (int k = 0; k < 4000; ++k) {
        memcpy(garbled, good->bytes, good->at);
        const int n = 1 + (int)(3.0 * tal_random_uniform(&rng));
        for (int i = 0; i < n; ++i) {
            const size_t at = (size_t)(tal_random_uniform(&rng) * 1200.0);
            garbled[at] = (char)(unsigned char)(256.0 * tal_random_uniform(&rng));
        }
        const tal_status st =
            tal_c3d_read_memory("f", garbled, good->at, (tal_c3d_part)(k % 4), NULL, &table, NULL);
        ck_assert(st == TAL_OK || st == TAL_ERR_FILE);
        ck_assert((st == TAL_OK) == (table != NULL));
        tal_table_destroy(table);
    }
    free(garbled);
    free(good);
}

END_TEST

// --- with other tables ---

START_TEST(markers_can_be_read_as_any_table_and_not_written)
{
    const contents it = plain();
    c3d_file *f = make_file(&it);
    tal_table *table = NULL;
    tal_error err = {0};
    size_t length = 0;
    ck_assert_int_eq(tal_table_read_memory(TAL_TABLE_C3D, "f", (const char *)f->bytes, f->at, NULL,
                                           &table, NULL),
                     TAL_OK);
    ck_assert_str_eq(tal_table_column_name(table, 1), "KNEE.x");
    ck_assert_int_eq(tal_table_write_memory(table, TAL_TABLE_TRC, NULL, 0, &length, &err), TAL_OK);
    ck_assert_int_eq(tal_table_write_memory(table, TAL_TABLE_C3D, NULL, 0, &length, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(err.message,
                     "a .c3d file can be read, but not written: use .trc, .sto or .csv");
    tal_table_destroy(table);
    free(f);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/c3d");
    TCase *tc = tcase_create("c3d");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, files_of_three_machines_have_the_same_numbers);
    tcase_add_test(tc, integers_without_a_sign_are_read);
    tcase_add_test(tc, more_frames_than_the_header_can_count_are_read);
    tcase_add_test(tc, labels_beyond_255_are_in_a_second_parameter);
    tcase_add_test(tc, labels_that_are_missing_or_there_twice_get_names_of_their_own);
    tcase_add_test(tc, the_center_of_pressure_carries_the_same_load);
    tcase_add_test(tc, without_a_force_on_a_plate_its_center_stands_for_the_center_of_pressure);
    tcase_add_test(tc, plates_of_every_type_have_the_same_load);
    tcase_add_test(tc, a_plate_that_is_not_understood_is_left_out_by_name);
    tcase_add_test(tc, damaged_files_are_refused_with_a_reason);
    tcase_add_test(tc, files_that_are_cut_or_garbled_are_refused_or_read);
    tcase_add_test(tc, markers_can_be_read_as_any_table_and_not_written);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
