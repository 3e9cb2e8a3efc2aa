// Coordinates of AMBER: a title, the number of atoms and the time, then fields of twelve columns:
// positions, velocities, the box.
#include "atoms/atoms_internal.h"

#include <talus/io/number.h>
#include <talus/molecule/units.h>

#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 12,
    PER_LINE = 6
};

// --- reading ---

static bool read_head(tali_atoms_reader *r, int *count, double *time)
{
    tali_table_span word;
    char shown[44];
    *time = TALI_NAN;
    const bool has_title = tali_atoms_next_line(r);
    if (!has_title || !tali_atoms_next_line(r)) {
        tali_atoms_file_error(r, "the file ends before the number of atoms, in its second line");
        return false;
    }
    const char *at = r->text;
    (void)tali_atoms_next_word(r, &at, &word);
    if (tal_integer_read(word.begin, word.end, count) != word.end || *count < 1 ||
        *count > TALI_ATOMS_MOST) {
        tali_atoms_error(r, 1, "'%s' is not a number of atoms", tali_table_show(word, shown));
        return false;
    }
    return !tali_atoms_next_word(r, &at, &word) || tali_atoms_number(r, word, "the time", time);
}

// A field of a line; stars are what Fortran writes for a number that does not fit.
static bool read_field(tali_atoms_reader *r, const char *begin, double *value)
{
    const char *end = r->stop - begin > WIDTH ? begin + WIDTH : r->stop;
    const tali_table_span field = tali_table_span_trim((tali_table_span){begin, end});
    if (field.begin < field.end && *field.begin == '*') {
        tali_atoms_error(r, (int)(begin - r->text) + 1,
                         "there are stars: the number did not fit its columns when the file was "
                         "written");
        return false;
    }
    return tali_atoms_number(r, field, "a field of 12 columns", value);
}

// All numbers behind the head, as points; the last point is left out if it is not whole. Their
// number goes to `count`.
static bool read_numbers(tali_atoms_reader *r, long *count)
{
    double v[3];
    *count = 0;
    while (tali_atoms_next_line(r)) {
        const tali_table_span whole = tali_table_span_trim((tali_table_span){r->text, r->stop});
        for (const char *at = r->text; at < whole.end && whole.begin < whole.end; at += WIDTH) {
            if (!read_field(r, at, &v[*count % 3])) return false;
            *count += 1;
            if (*count % 3 == 0 && !tali_atoms_push(r, tal_v3(v[0], v[1], v[2]))) return false;
        }
    }
    return tali_atoms_goes_on(r);
}

// What is behind the positions of `n` atoms: velocities, a box, both or neither. Six numbers behind
// one atom or two are a box if they can be one.
static bool find_parts(tali_atoms_reader *r, int n, long count, bool *has_v, int *box)
{
    const long behind = count - 3L * n;
    const tal_vec3 last = r->num > 0 ? r->x[r->num - 1] : tal_v3(0.0, 0.0, 0.0);
    const bool are_angles = fmin(last.x, fmin(last.y, last.z)) > 10.0;
    *has_v = behind >= 3L * n && !(behind == 6 && are_angles);
    const long rest = behind - (*has_v ? 3L * n : 0);
    *box = (int)rest;
    if (behind >= 0 && (rest == 0 || rest == 3 || rest == 6)) return true;
    tali_atoms_file_error(r,
                          "there are %ld numbers for %d atoms: there must be 3 for each, as many "
                          "again for velocities if there are any, and 3 or 6 for a box",
                          count, n);
    return false;
}

static bool read_box(tali_atoms_reader *r, const tal_vec3 *at, int num, tal_atoms_frame *frame)
{
    const double edges[] = {at[0].x, at[0].y, at[0].z};
    double angles[] = {90.0, 90.0, 90.0};
    if (num == 6) {
        angles[0] = at[1].x;
        angles[1] = at[1].y;
        angles[2] = at[1].z;
    }
    return tali_atoms_box(r, edges, angles, frame);
}

void tali_atoms_read_inpcrd(tali_atoms_reader *r)
{
    int n = 0, box = 0;
    long count = 0;
    bool has_v = false;
    tal_atoms_frame frame = {.time = TALI_NAN};
    if (!read_head(r, &n, &frame.time) || !read_numbers(r, &count) ||
        !find_parts(r, n, count, &has_v, &box) || !tali_atoms_need(r, n)) {
        return;
    }
    const int parts = has_v ? 2 * n : n;
    if (box > 0 && !read_box(r, r->x + parts, box, &frame)) return;
    for (int i = 0; i < n; ++i) {
        r->x[i] = tal_v3_scale(1.0 / TALI_ATOMS_PER_NM, r->x[i]);
    }
    for (int i = n; i < parts; ++i) {
        r->x[i] = tal_v3_scale(TAL_MOL_AMBER_VELOCITY, r->x[i]);
    }
    r->num = n;
    (void)tali_atoms_end_frame(r, has_v ? r->x + n : NULL, &frame);
}

// --- writing ---

// Points in lines of six numbers; false when one does not fit.
static bool put_points(tali_table_sink *sink, const tal_vec3 x[], int n, double scale)
{
    for (int i = 0; i < n; ++i) {
        if (!tali_atoms_put_fixed(sink, x[i].x * scale, WIDTH, 7) ||
            !tali_atoms_put_fixed(sink, x[i].y * scale, WIDTH, 7) ||
            !tali_atoms_put_fixed(sink, x[i].z * scale, WIDTH, 7)) {
            return false;
        }
        if (3 * (i + 1) % PER_LINE == 0 || i + 1 == n) tali_table_put_text(sink, "\n");
    }
    return true;
}

// One frame: a title, the number of atoms and the time, positions, velocities, the box.
tal_status tali_atoms_write_inpcrd(const tal_atoms *atoms, tali_table_sink *sink, tal_error *err)
{
    if (atoms->num_frames != 1) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "an .inpcrd file has one frame, and there are %d: choose one",
                         atoms->num_frames);
    }
    const tali_atoms_frame *frame = &atoms->frames[0];
    char text[48], time[TAL_NUMBER_SIZE];
    (void)snprintf(text, sizeof text, "written by Talus\n%5d", atoms->num);
    tali_table_put_text(sink, text);
    if (!isnan(frame->frame.time)) {
        (void)tal_number_write(frame->frame.time, time);
        (void)snprintf(text, sizeof text, " %s", time);
        tali_table_put_text(sink, text);
    }
    tali_table_put_text(sink, "\n");
    bool fits = put_points(sink, frame->x, atoms->num, TALI_ATOMS_PER_NM);
    if (frame->v != NULL) {
        fits = fits && put_points(sink, frame->v, atoms->num, 1.0 / TAL_MOL_AMBER_VELOCITY);
    }
    if (frame->frame.edges.x > 0.0) {
        const tal_vec3 box[] = {tal_v3_scale(TALI_ATOMS_PER_NM, frame->frame.edges),
                                tal_v3_scale(1.0 / TAL_MOL_DEGREE, frame->frame.angles)};
        fits = fits && put_points(sink, box, 2, 1.0);
    }
    if (fits) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "a position, a velocity or the box is too large for the 12 columns of an "
                     ".inpcrd file");
}
