// io/src/atoms: .inpcrd and .dcd files.
#include "atoms_text.h"

#include <stdint.h>
#include <stdlib.h>

static const double DEGREE = 0.017453292519943295;

// --- .inpcrd ---

START_TEST(an_inpcrd_file_gives_positions_velocities_and_the_box)
{
    static const char text[] = "title\n    2 2.5\n"
                               "   1.0000000   2.0000000   3.0000000  -4.0000000   5.0000000 "
                               "  6.0000000\n"
                               "   1.0000000   0.0000000   0.0000000   0.0000000  -2.0000000 "
                               "  0.0000000\n"
                               "  20.0000000  30.0000000  40.0000000  90.0000000  90.0000000 "
                               "120.0000000\n";
    static char out[TEXT_ROOM];
    tal_atoms *atoms = atoms_of(TAL_ATOMS_INPCRD, text, strlen(text), NULL);
    tal_vec3 x[2], v[2];
    ck_assert_int_eq(tal_atoms_get_positions(atoms, 0, x, 2), TAL_OK);
    ck_assert_int_eq(tal_atoms_get_velocities(atoms, 0, v, 2), TAL_OK);
    const tal_atoms_frame frame = tal_atoms_frame_at(atoms, 0);
    ck_assert_double_eq(frame.time, 2.5);
    // an unit of velocity of AMBER is 20.455 Angstrom/ps
    test_assert_v3_near(x[1], tal_v3(-0.4, 0.5, 0.6), 1e-15);
    test_assert_v3_near(v[1], tal_v3(0.0, -4.091, 0.0), 1e-15);
    test_assert_v3_near(frame.edges, tal_v3(2.0, 3.0, 4.0), 1e-15);
    ck_assert_double_eq_tol(frame.angles.z, 120.0 * DEGREE, 1e-15);
    const size_t length = text_of(atoms, TAL_ATOMS_INPCRD, out);
    ck_assert_str_eq(strchr(out, '\n'), strchr(text, '\n'));
    tal_atoms *again = atoms_of(TAL_ATOMS_INPCRD, out, length, NULL);
    assert_same_places(atoms, again, 0, 0.0);
    tal_atoms_destroy(again);
    tal_atoms_destroy(atoms);
}

END_TEST

START_TEST(numbers_of_inpcrd_files_may_touch_each_other)
{
    static const char text[] = "\n1\n-100.0000000-200.0000000-300.0000000\n";
    tal_atoms *atoms = atoms_of(TAL_ATOMS_INPCRD, text, strlen(text), NULL);
    tal_vec3 x;
    ck_assert_int_eq(tal_atoms_get_positions(atoms, 0, &x, 1), TAL_OK);
    test_assert_v3_near(x, tal_v3(-10.0, -20.0, -30.0), 1e-14);
    ck_assert(isnan(tal_atoms_frame_at(atoms, 0).time));
    tal_atoms_destroy(atoms);
}

END_TEST

START_TEST(names_come_from_another_file)
{
    static const char xyz[] = "1\n\nAr 0 0 0\n",
                      one[] = "\n1\n   1.0000000   2.0000000   3.0000000\n";
    static const char two[] = "\n2\n   1.0000000   2.0000000   3.0000000   1.0000000   2.0000000 "
                              "  3.0000000\n";
    tal_atoms *names = atoms_of(TAL_ATOMS_XYZ, xyz, strlen(xyz), NULL);
    tal_atoms_options options = tal_atoms_options_default();
    options.names = names;
    tal_atoms *atoms = atoms_of(TAL_ATOMS_INPCRD, one, strlen(one), &options);
    ck_assert_str_eq(tal_atoms_at(atoms, 0).name, "Ar");
    tal_atoms_destroy(atoms);
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(
        tal_atoms_read_memory(TAL_ATOMS_INPCRD, "m", two, strlen(two), &options, &atoms, found),
        TAL_ERR_FILE);
    ck_assert_ptr_nonnull(
        strstr(tal_diagnostics_at(found, 0)->message, "2 atoms, but 1 in the file that names"));
    tal_diagnostics_destroy(found);
    tal_atoms_destroy(names);
}

END_TEST

START_TEST(mistakes_in_inpcrd_files_are_named)
{
    static const struct {
        const char *text, *part;
        int line, column;
    } mistakes[] = {
        {"title\n", "before the number of atoms", 0, 0},
        {"title\nx\n", "'x' is not a number of atoms", 2, 1},
        {"title\n1 x\n", "the time: 'x'", 2, 3},
        {"title\n1\n   1.0000000   2.0000000************\n", "there are stars", 3, 25},
        {"title\n1\n   1.0000000   2.00x0000   3.0000000\n", "'2.00x0000' is not a finite", 3, 16},
        {"title\n1\n   1.0000000   2.0000000\n", "there are 2 numbers for 1 atoms", 0, 0},
        {"title\n1\n   1.0000000   2.0000000   3.0000000   4.0000000\n", "there are 4 numbers", 0,
         0},
        {"title\n3\n   1.0000000   2.0000000   3.0000000   1.0000000   2.0000000   3.0000000\n"
         "   1.0000000   2.0000000   3.0000000   1.0000000   2.0000000  -3.0000000\n",
         "edges of a box", -1, 0}};

    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; ++i) {
        assert_refused(TAL_ATOMS_INPCRD, mistakes[i].text, mistakes[i].line, mistakes[i].column,
                       mistakes[i].part);
    }
}

END_TEST

START_TEST(a_number_that_does_not_fit_twelve_columns_is_refused)
{
    tal_atoms *atoms = tal_atoms_create(NULL);
    const tal_atom atom = tal_atom_default();
    const tal_vec3 x = {-100.0, 0.0, 0.0}; // -1000 Angstrom have 13 characters
    size_t length;
    tal_error err;
    ck_assert_int_eq(tal_atoms_add(atoms, &atom), TAL_OK);
    ck_assert_int_eq(tal_atoms_write_memory(atoms, TAL_ATOMS_INPCRD, NULL, 0, &length, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "no frame"));
    ck_assert_int_eq(tal_atoms_add_frame(atoms, &x, NULL, 1, NULL), TAL_OK);
    ck_assert_int_eq(tal_atoms_write_memory(atoms, TAL_ATOMS_INPCRD, NULL, 0, &length, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "too large for the 12 columns"));
    ck_assert_int_eq(tal_atoms_add_frame(atoms, &x, NULL, 1, NULL), TAL_OK);
    ck_assert_int_eq(tal_atoms_write_memory(atoms, TAL_ATOMS_INPCRD, NULL, 0, &length, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "has one frame, and there are 2"));
    tal_atoms_destroy(atoms);
}

END_TEST

// --- .dcd ---

// Two atoms in three frames 0.5 ps apart, from 1 ps on, in a box.
static tal_atoms *make_run(bool has_box)
{
    tal_atoms *atoms = tal_atoms_create(NULL);
    const tal_atom atom = tal_atom_default();
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(tal_atoms_add(atoms, &atom), TAL_OK);
    }
    for (int f = 0; f < 3; ++f) {
        const tal_vec3 x[2] = {{0.1 * f, 0.2, -0.3}, {1.0, 2.0 + f, 3.0}};
        tal_atoms_frame frame = {.time = 1.0 + 0.5 * f};
        if (has_box) {
            frame.edges = tal_v3(2.0, 3.0, 4.0 + f);
            frame.angles = tal_v3(80.0 * DEGREE, 90.0 * DEGREE, 120.0 * DEGREE);
        }
        ck_assert_int_eq(tal_atoms_add_frame(atoms, x, NULL, 2, &frame), TAL_OK);
    }
    return atoms;
}

START_TEST(a_dcd_file_keeps_frames_to_32_bits_with_times_and_boxes)
{
    static char out[TEXT_ROOM];
    for (int has_box = 0; has_box < 2; ++has_box) {
        tal_atoms *atoms = make_run(has_box == 1);
        const size_t length = text_of(atoms, TAL_ATOMS_DCD, out);
        // header 92, title 92, number 12, and per frame 56 for the box and 3 records of 16
        ck_assert_uint_eq(length, 92 + 92 + 12 + 3 * (48 + (has_box == 1 ? 56 : 0)));
        tal_atoms *again = atoms_of(TAL_ATOMS_DCD, out, length, NULL);
        ck_assert_int_eq(tal_atoms_num_frames(again), 3);
        for (int f = 0; f < 3; ++f) {
            const tal_atoms_frame a = tal_atoms_frame_at(atoms, f),
                                  b = tal_atoms_frame_at(again, f);
            // half a unit in the last of 24 bits of 50 Angstrom: 1.9e-7 nm; of the step: 6e-8
            assert_same_places(atoms, again, f, 2e-7);
            ck_assert_double_eq_tol(a.time, b.time, 6e-8 * a.time);
            test_assert_v3_near(a.edges, b.edges, 1e-15);
            test_assert_v3_near(a.angles, b.angles, 1e-15);
        }
        tal_atoms_destroy(again);
        tal_atoms_destroy(atoms);
    }
}

END_TEST

// Turn the bytes of every record around, as the other kind of machine writes them.
static void swap_bytes(char bytes[], size_t size)
{
    size_t at = 0;
    for (int record = 0; at < size; ++record) {
        int32_t length;
        memcpy(&length, bytes + at, 4);
        // CORD, and titles behind their number, are text; boxes are of 8 bytes
        const size_t text_from = record == 0 ? 0 : record == 1 ? 4 : (size_t)length;
        const size_t text_to = record == 0 ? 4 : (size_t)length;
        const size_t width = length == 48 ? 8 : 4;
        char *data = bytes + at + 4;
        for (size_t k = 0; k < (size_t)length; k += width) {
            if (k >= text_from && k < text_to) continue;
            for (size_t b = 0; b < width / 2; ++b) {
                const char kept = data[k + b];
                data[k + b] = data[k + width - 1 - b];
                data[k + width - 1 - b] = kept;
            }
        }
        for (int end = 0; end < 2; ++end) {
            char *mark = end == 0 ? bytes + at : data + length;
            const char kept[4] = {mark[3], mark[2], mark[1], mark[0]};
            memcpy(mark, kept, 4);
        }
        at += 8 + (size_t)length;
    }
}

START_TEST(a_dcd_file_of_the_other_kind_of_machine_is_read_the_same)
{
    static char out[TEXT_ROOM], other[TEXT_ROOM];
    tal_atoms *atoms = make_run(true);
    const size_t length = text_of(atoms, TAL_ATOMS_DCD, out);
    memcpy(other, out, length);
    swap_bytes(other, length);
    tal_atoms *a = atoms_of(TAL_ATOMS_DCD, out, length, NULL);
    tal_atoms *b = atoms_of(TAL_ATOMS_DCD, other, length, NULL);
    for (int f = 0; f < 3; ++f) {
        const tal_atoms_frame p = tal_atoms_frame_at(a, f), q = tal_atoms_frame_at(b, f);
        assert_same_places(a, b, f, 0.0);
        ck_assert_int_eq(memcmp(&p, &q, sizeof p), 0);
    }
    tal_atoms_destroy(b);
    tal_atoms_destroy(a);
    tal_atoms_destroy(atoms);
}

END_TEST

START_TEST(a_dcd_file_that_was_cut_off_gives_its_whole_frames)
{
    static char out[TEXT_ROOM];
    tal_atoms *atoms = make_run(true);
    const size_t length = text_of(atoms, TAL_ATOMS_DCD, out);
    const size_t header = 92 + 92 + 12, frame = 56 + 48;
    for (size_t size = 0; size <= length; ++size) {
        tal_atoms *read = NULL;
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        const tal_status st =
            tal_atoms_read_memory(TAL_ATOMS_DCD, "m", out, size, NULL, &read, found);
        const size_t whole = size < header ? 0 : (size - header) / frame;
        ck_assert_int_eq(st, whole > 0 ? TAL_OK : TAL_ERR_FILE);
        ck_assert_int_eq(tal_diagnostics_num(found), size < length ? 1 : 0);
        if (st == TAL_OK) ck_assert_int_eq(tal_atoms_num_frames(read), (int)whole);
        tal_atoms_destroy(read);
        tal_diagnostics_destroy(found);
    }
    tal_atoms_destroy(atoms);
}

END_TEST

static void set_integer(char bytes[], size_t at, int32_t value)
{
    memcpy(bytes + at, &value, 4);
}

START_TEST(what_dcd_files_cannot_say_or_be_is_refused)
{
    static char out[TEXT_ROOM];

    static const struct {
        size_t at;
        int32_t value;
        const char *part;
    } wrong[] = {{4, 0, "does not begin with CORD"},
                 {8 + 32, 5, "5 atoms are fixed"},
                 {8 + 44, 1, "a fourth coordinate"},
                 {92 + 92 + 4, 100000, "ends in its first frame"},
                 {92 + 92 + 4, 0, "number of atoms is not whole"},
                 {92, 81, "record of titles is not whole"}};

    tal_atoms *atoms = make_run(false);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        const size_t length = text_of(atoms, TAL_ATOMS_DCD, out);
        set_integer(out, wrong[i].at, wrong[i].value);
        assert_found(TAL_ATOMS_DCD, out, length, TAL_ERR_FILE, 0, 0, wrong[i].part);
    }
    size_t length;
    tal_error err;
    const tal_vec3 x[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const tal_atoms_frame late = {.time = 7.0};
    ck_assert_int_eq(tal_atoms_add_frame(atoms, x, NULL, 2, &late), TAL_OK);
    ck_assert_int_eq(tal_atoms_write_memory(atoms, TAL_ATOMS_DCD, NULL, 0, &length, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "not equally far apart in time"));
    const tal_vec3 far[2] = {{1e39, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    ck_assert_int_eq(tal_atoms_add_frame(atoms, far, NULL, 2, NULL), TAL_OK);
    ck_assert_int_eq(tal_atoms_write_memory(atoms, TAL_ATOMS_DCD, NULL, 0, &length, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "too large for the 32 bits"));
    tal_atoms_destroy(atoms);
}

END_TEST

START_TEST(running_out_of_memory_is_reported_and_nothing_is_kept)
{
    static char out[TEXT_ROOM];
    tal_atoms *atoms = make_run(true);
    try_all_failures(TAL_ATOMS_DCD, out, text_of(atoms, TAL_ATOMS_DCD, out));
    static const char text[] = "\n1\n-100.0000000-200.0000000-300.0000000\n";
    try_all_failures(TAL_ATOMS_INPCRD, text, strlen(text));
    tal_atoms_destroy(atoms);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("atoms_frames");
    TCase *tc = tcase_create("atoms_frames");
    tcase_add_test(tc, an_inpcrd_file_gives_positions_velocities_and_the_box);
    tcase_add_test(tc, numbers_of_inpcrd_files_may_touch_each_other);
    tcase_add_test(tc, names_come_from_another_file);
    tcase_add_test(tc, mistakes_in_inpcrd_files_are_named);
    tcase_add_test(tc, a_number_that_does_not_fit_twelve_columns_is_refused);
    tcase_add_test(tc, a_dcd_file_keeps_frames_to_32_bits_with_times_and_boxes);
    tcase_add_test(tc, a_dcd_file_of_the_other_kind_of_machine_is_read_the_same);
    tcase_add_test(tc, a_dcd_file_that_was_cut_off_gives_its_whole_frames);
    tcase_add_test(tc, what_dcd_files_cannot_say_or_be_is_refused);
    tcase_add_test(tc, running_out_of_memory_is_reported_and_nothing_is_kept);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
