// Frames of CHARMM, NAMD and X-PLOR: records of Fortran, their lengths before and behind them, in
// the order of bytes of either kind of machine; positions are of 32 bits.
#include "atoms/atoms_internal.h"

#include <talus/molecule/units.h>

#include <float.h>
#include <stdio.h>
#include <string.h>

enum {
    HEADER = 84, // CORD and 20 integers
    TITLE = 80,
    NUM_CONTROLS = 20
};

// Which of the 20 integers say what.
enum {
    FRAMES = 0,
    FIRST_STEP = 1,
    STEPS_APART = 2,
    FIXED = 8,
    STEP = 9, // of 32 bits; of 64, and the next integer too, where VERSION is 0
    HAS_BOX = 10,
    HAS_4D = 11,
    VERSION = 19
};

/// One unit of time of these files [ps]: (1 Da Angstrom^2 mol/kcal)^(1/2).
static double time_unit(void)
{
    return 1.0 / sqrt(TAL_MOL_KCAL_PER_ANGSTROM2);
}

// --- bytes ---

// A file, and which of its bytes come next.
typedef struct dcd {
    tali_atoms_reader *r;
    const unsigned char *at, *end;
    bool swapped; // the file's order of bytes is not ours
    int controls[NUM_CONTROLS];
    double step; // between frames [ps]
    int num;
} dcd;

static void take_bytes(const dcd *it, const unsigned char *at, size_t width, void *value)
{
    unsigned char *to = value;
    for (size_t k = 0; k < width; ++k) {
        to[k] = at[it->swapped ? width - 1 - k : k];
    }
}

static int32_t integer_at(const dcd *it, const unsigned char *at)
{
    int32_t value;
    take_bytes(it, at, sizeof value, &value);
    return value;
}

static double single_at(const dcd *it, const unsigned char *at)
{
    float value;
    take_bytes(it, at, sizeof value, &value);
    return (double)value;
}

static double double_at(const dcd *it, const unsigned char *at)
{
    double value;
    take_bytes(it, at, sizeof value, &value);
    return value;
}

// The next record: its bytes, and how many; NULL when the rest of the file is not a whole record.
static const unsigned char *next_record(dcd *it, size_t *size)
{
    const ptrdiff_t rest = it->end - it->at;
    if (rest < 8) return NULL;
    const int32_t length = integer_at(it, it->at);
    if (length < 0 || rest - 8 < length) return NULL;
    const unsigned char *bytes = it->at + 4;
    if (integer_at(it, bytes + length) != length) return NULL;
    it->at = bytes + length + 4;
    *size = (size_t)length;
    return bytes;
}

// --- header ---

// The first record: the order of bytes, how many frames, their times, and what else there is.
static bool read_controls(dcd *it)
{
    size_t size = 0;
    const unsigned char *bytes = it->at;
    if (it->end - bytes < HEADER + 8 || memcmp(bytes + 4, "CORD", 4) != 0) {
        tali_atoms_file_error(it->r, "this is not a .dcd file: it does not begin with CORD");
        return false;
    }
    it->swapped = integer_at(it, bytes) != HEADER;
    bytes = next_record(it, &size);
    if (bytes == NULL || size != HEADER) {
        tali_atoms_file_error(it->r, "the first record is not one of 84 bytes");
        return false;
    }
    for (int k = 0; k < NUM_CONTROLS; ++k) {
        it->controls[k] = integer_at(it, bytes + 4 + 4 * (size_t)k);
    }
    const bool is_charmm = it->controls[VERSION] != 0;
    const unsigned char *step = bytes + 4 + 4 * (size_t)STEP;
    it->step = (is_charmm ? single_at(it, step) : double_at(it, step)) * time_unit() *
               (double)it->controls[STEPS_APART];
    if (!is_charmm) it->controls[HAS_BOX] = it->controls[HAS_4D] = 0;
    if (it->controls[FIXED] != 0) {
        tali_atoms_file_error(it->r,
                              "%d atoms are fixed, so that most frames are without them: such "
                              "files are not read; write all atoms in every frame",
                              it->controls[FIXED]);
        return false;
    }
    if (it->controls[HAS_4D] != 0) {
        tali_atoms_file_error(it->r, "atoms have a fourth coordinate: such files are not read");
        return false;
    }
    return true;
}

static bool read_header(dcd *it)
{
    size_t size = 0;
    if (!read_controls(it)) return false;
    if (next_record(it, &size) == NULL) {
        tali_atoms_file_error(it->r, "the record of titles is not whole");
        return false;
    }
    const unsigned char *bytes = next_record(it, &size);
    if (bytes == NULL || size != 4 || integer_at(it, bytes) < 1) {
        tali_atoms_file_error(it->r, "the record with the number of atoms is not whole");
        return false;
    }
    it->num = integer_at(it, bytes);
    // an atom has 12 bytes in a frame: with fewer behind the header there is no whole frame
    if ((it->end - it->at) / 12 < it->num) {
        tali_atoms_file_error(it->r, "the file ends in its first frame of %d atoms", it->num);
        return false;
    }
    return tali_atoms_need(it->r, it->num);
}

// --- frames ---

// A, gamma, B, beta, alpha, C; angles in degrees, or their cosines.
static bool read_box(dcd *it, tal_atoms_frame *frame)
{
    size_t size = 0;
    const unsigned char *bytes = next_record(it, &size);
    if (bytes == NULL || size != 48) return false;
    double v[6];
    for (int k = 0; k < 6; ++k) {
        v[k] = double_at(it, bytes + 8 * (size_t)k);
    }
    const double edges[] = {v[0], v[2], v[5]};
    double angles[] = {v[4], v[3], v[1]};
    if (fabs(v[1]) <= 1.0 && fabs(v[3]) <= 1.0 && fabs(v[4]) <= 1.0) {
        for (int k = 0; k < 3; ++k) {
            angles[k] = 90.0 - asin(angles[k]) / TAL_MOL_DEGREE; // 0 gives 90 exactly
        }
    }
    return tali_atoms_box(it->r, edges, angles, frame);
}

// x, y and z of all atoms, in records of their own; false when one is not whole, and, with an
// error, when a position is not finite.
static bool read_places(dcd *it)
{
    const unsigned char *axes[3];
    for (int k = 0; k < 3; ++k) {
        size_t size = 0;
        axes[k] = next_record(it, &size);
        if (axes[k] == NULL || size != 4 * (size_t)it->num) return false;
    }
    for (int i = 0; i < it->num; ++i) {
        const size_t at = 4 * (size_t)i;
        const tal_vec3 x = tal_v3(single_at(it, axes[0] + at) / TALI_ATOMS_PER_NM,
                                  single_at(it, axes[1] + at) / TALI_ATOMS_PER_NM,
                                  single_at(it, axes[2] + at) / TALI_ATOMS_PER_NM);
        if (!tal_v3_is_finite(x)) {
            tali_atoms_file_error(it->r, "frame %d: the position of atom %d is not finite",
                                  it->r->atoms->num_frames + 1, i + 1);
            return false;
        }
        if (!tali_atoms_push(it->r, x)) return false;
    }
    return true;
}

static bool read_frame(dcd *it)
{
    const int k = it->r->atoms->num_frames;
    const unsigned char *begin = it->at;
    tal_atoms_frame frame = {.time = TALI_NAN};
    const int apart = it->controls[STEPS_APART];
    if (it->step > 0.0 && isfinite(it->step) && apart > 0) {
        frame.time = (it->controls[FIRST_STEP] / (double)apart + k) * it->step;
        if (isinf(frame.time)) frame.time = TALI_NAN; // a step that nobody takes
    }
    if ((it->controls[HAS_BOX] == 0 || read_box(it, &frame)) && read_places(it)) {
        return tali_atoms_end_frame(it->r, NULL, &frame);
    }
    it->at = begin; // there is more than was read
    return false;
}

void tali_atoms_read_dcd(tali_atoms_reader *r)
{
    dcd it = {.r = r, .at = (const unsigned char *)r->at, .end = (const unsigned char *)r->end};
    if (!read_header(&it)) return;
    while (it.at < it.end && read_frame(&it)) {}
    if (!tali_atoms_goes_on(r) || r->errors > 0) return;
    const int frames = r->atoms->num_frames;
    if (frames == 0) {
        tali_atoms_file_error(r, "the file ends in its first frame of %d atoms", it.num);
    } else if (it.at < it.end) {
        tali_atoms_warn(r, 0, "the file was cut off in frame %d, which is left out", frames + 1);
    } else if (it.controls[FRAMES] != frames && it.controls[FRAMES] != 0) {
        tali_atoms_warn(r, 0, "the header says %d frames, but there are %d", it.controls[FRAMES],
                        frames);
    }
}

// --- writing ---

static void put_bytes(tali_table_sink *sink, uint64_t bits, int width)
{
    unsigned char bytes[8];
    for (int k = 0; k < width; ++k) {
        bytes[k] = (unsigned char)(bits >> 8 * k & 0xff);
    }
    tali_table_put(sink, bytes, (size_t)width);
}

static void put_integer(tali_table_sink *sink, int value)
{
    put_bytes(sink, (uint32_t)value, 4);
}

static void put_single(tali_table_sink *sink, double value)
{
    const float x = (float)value;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    put_bytes(sink, bits, 4);
}

static void put_double(tali_table_sink *sink, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_bytes(sink, bits, 8);
}

// The time between frames [ps], 0 where frames have none. NaN when they are not equally far apart.
static double spacing_of(const tal_atoms *atoms)
{
    const double first = atoms->frames[0].frame.time;
    if (atoms->num_frames < 2 || isnan(first)) return 0.0;
    const double dt = atoms->frames[1].frame.time - first;
    for (int f = 1; f < atoms->num_frames; ++f) {
        const double expected = first + f * dt;
        // times were rounded when they were added up
        const double slack = 1e-6 * fabs(dt) + 1e-12 * fabs(expected);
        if (!(fabs(atoms->frames[f].frame.time - expected) <= slack)) return TALI_NAN;
    }
    return dt > 0.0 ? dt : 0.0;
}

// The records before the frames, as CHARMM 24 has them.
static void put_header(const tal_atoms *atoms, double spacing, tali_table_sink *sink)
{
    const double first = spacing > 0.0 ? atoms->frames[0].frame.time / spacing : 0.0;
    put_integer(sink, HEADER);
    tali_table_put_text(sink, "CORD");
    for (int k = 0; k < NUM_CONTROLS; ++k) {
        if (k == STEP) {
            put_single(sink, spacing / time_unit());
        } else {
            put_integer(sink, k == FRAMES        ? atoms->num_frames
                              : k == FIRST_STEP  ? (int)fmax(fmin(rint(first), 2e9), -2e9)
                              : k == STEPS_APART ? 1
                              : k == HAS_BOX     ? atoms->frames[0].frame.edges.x > 0.0
                              : k == VERSION     ? 24
                                                 : 0);
        }
    }
    put_integer(sink, HEADER);
    char title[TITLE + 1];
    (void)snprintf(title, sizeof title, "%-80s", "Written by Talus");
    put_integer(sink, 4 + TITLE);
    put_integer(sink, 1);
    tali_table_put(sink, title, TITLE);
    put_integer(sink, 4 + TITLE);
    put_integer(sink, 4);
    put_integer(sink, atoms->num);
    put_integer(sink, 4);
}

static void put_frame(const tal_atoms *atoms, const tali_atoms_frame *frame, bool has_box,
                      tali_table_sink *sink)
{
    if (has_box) {
        const tal_vec3 e = tal_v3_scale(TALI_ATOMS_PER_NM, frame->frame.edges);
        const tal_vec3 a = tal_v3_scale(1.0 / TAL_MOL_DEGREE, frame->frame.angles);
        const double v[] = {e.x, a.z, e.y, a.y, a.x, e.z};
        put_integer(sink, 48);
        for (int k = 0; k < 6; ++k) {
            put_double(sink, v[k]);
        }
        put_integer(sink, 48);
    }
    for (int k = 0; k < 3; ++k) {
        put_integer(sink, 4 * atoms->num);
        for (int i = 0; i < atoms->num; ++i) {
            const tal_vec3 x = frame->x[i];
            put_single(sink, (k == 0 ? x.x : k == 1 ? x.y : x.z) * TALI_ATOMS_PER_NM);
        }
        put_integer(sink, 4 * atoms->num);
    }
}

// Numbers must fit 32 bits.
static tal_status check_places(const tal_atoms *atoms, int f, tal_error *err)
{
    for (int i = 0; i < atoms->num; ++i) {
        const tal_vec3 x = atoms->frames[f].x[i];
        if (fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))) * TALI_ATOMS_PER_NM <= (double)FLT_MAX) {
            continue;
        }
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "frame %d: the position of atom %d is too large for the 32 bits that it "
                         "has in a .dcd file",
                         f, i);
    }
    return TAL_OK;
}

// What the format cannot say is refused before the first byte.
tal_status tali_atoms_write_dcd(const tal_atoms *atoms, tali_table_sink *sink, tal_error *err)
{
    const bool has_box = atoms->frames[0].frame.edges.x > 0.0;
    for (int f = 0; f < atoms->num_frames; ++f) {
        const tal_status st = check_places(atoms, f, err);
        if (st != TAL_OK) return st;
        if ((atoms->frames[f].frame.edges.x > 0.0) == has_box) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "frame %d %s a box, and the first frame %s: in a .dcd file all frames "
                         "have one, or none",
                         f, has_box ? "is without" : "has", has_box ? "has one" : "has none");
    }
    const double spacing = spacing_of(atoms);
    if (!(spacing / time_unit() <= (double)FLT_MAX)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the frames are not equally far apart in time, which a .dcd file "
                         "requires: write .xyz or .pdb");
    }
    put_header(atoms, spacing, sink);
    for (int f = 0; f < atoms->num_frames; ++f) {
        put_frame(atoms, &atoms->frames[f], has_box, sink);
    }
    return TAL_OK;
}
