// Force plates of C3D files: from channels to forces and moments.
#include "c3d/c3d_internal.h"

#include <talus/common/rotation.h>

#include <math.h>
#include <stdio.h>

enum {
    MAX_PLATES = 64,
    MAX_CHANNELS = 8 // of one plate
};

// A plate: a rectangle, and the channels that it fills. Its z axis points down.
typedef struct plate {
    int type;
    int num_channels;
    int channels[MAX_CHANNELS]; // counted from 0
    bool is_flat;               // it has four corners
    tal_vec3 center;            // of its surface, in the axes of the file
    tal_mat3 R;                 // axes of the plate in those of the file
    tal_vec3 origin;            // of its moments, from the center, in its own axes
    double calibration[6][6];   // type 4: from channels to forces and moments
} plate;

// Force and moment about the center of the surface, in the axes of the plate.
typedef struct load {
    tal_vec3 f, m;
} load;

// --- what a plate is ---

static tal_vec3 vector_at(const tali_c3d *it, const tali_c3d_parameter *p, int i)
{
    return tal_v3(tali_c3d_value(it, p, 3 * i, NAN), tali_c3d_value(it, p, 3 * i + 1, NAN),
                  tali_c3d_value(it, p, 3 * i + 2, NAN));
}

// Corners are those at (+x, +y), (-x, +y), (-x, -y), (+x, -y) of the plate.
static void read_corners(const tali_c3d *it, int k, plate *p)
{
    const tali_c3d_parameter corners = tali_c3d_find(it, "FORCE_PLATFORM", "CORNERS");
    tal_vec3 c[4], sum = TAL_VEC3_ZERO;
    for (int i = 0; i < 4; ++i) {
        c[i] = vector_at(it, &corners, 4 * k + i);
        sum = tal_v3_add(sum, c[i]);
    }
    p->center = tal_v3_scale(0.25, sum);
    const tal_vec3 x = tal_v3_sub(tal_v3_add(c[0], c[3]), tal_v3_add(c[1], c[2]));
    const tal_vec3 y = tal_v3_sub(tal_v3_add(c[0], c[1]), tal_v3_add(c[2], c[3]));
    const double area = tal_v3_norm(tal_v3_cross(x, y));
    p->is_flat = area > 0.0 && isfinite(area);
    if (p->is_flat) p->R = tal_rotation_from_two_axes(TAL_AXIS_X, x, TAL_AXIS_Y, y);
}

// Sensors are below the surface. Some files have the vector to them, others the one from them,
// which points up; type 3 has their distances along x and y instead.
static void read_origin(const tali_c3d *it, int k, plate *p)
{
    const tali_c3d_parameter origin = tali_c3d_find(it, "FORCE_PLATFORM", "ORIGIN");
    p->origin = p->type == 1 ? TAL_VEC3_ZERO : vector_at(it, &origin, k);
    if (p->type == 3) {
        p->origin.z = fabs(p->origin.z);
    } else if (p->origin.z < 0.0) {
        p->origin = tal_v3_neg(p->origin);
    }
}

static bool read_channels(const tali_c3d *it, int k, plate *p)
{
    const tali_c3d_parameter channels = tali_c3d_find(it, "FORCE_PLATFORM", "CHANNEL");
    const int row = channels.num_dims > 0 ? channels.dims[0] : 0;
    for (int i = 0; i < p->num_channels; ++i) {
        p->channels[i] = tali_c3d_count(it, &channels, row * k + i, 0) - 1;
        if (p->channels[i] < 0 || p->channels[i] >= it->channels) return false;
    }
    return row >= p->num_channels;
}

// Matrices are stored column by column.
static bool read_calibration(const tali_c3d *it, int k, plate *p)
{
    const tali_c3d_parameter m = tali_c3d_find(it, "FORCE_PLATFORM", "CAL_MATRIX");
    bool good = true;
    for (int i = 0; i < 36; ++i) {
        p->calibration[i % 6][i / 6] = tali_c3d_value(it, &m, 36 * k + i, NAN);
        good = good && isfinite(p->calibration[i % 6][i / 6]);
    }
    return good;
}

// What a plate lacks; NULL: it is whole.
static const char *read_plate(const tali_c3d *it, int k, plate *p)
{
    const tali_c3d_parameter type = tali_c3d_find(it, "FORCE_PLATFORM", "TYPE");
    *p = (plate){.type = tali_c3d_count(it, &type, k, 0)};
    p->num_channels = p->type == 3 ? 8 : 6;
    if (p->type < 1 || p->type > 4) return "its type is not 1, 2, 3 or 4";
    if (!read_channels(it, k, p)) return "FORCE_PLATFORM:CHANNEL does not name its channels";
    read_corners(it, k, p);
    if (!p->is_flat) return "FORCE_PLATFORM:CORNERS are not those of a rectangle";
    read_origin(it, k, p);
    if (!tal_v3_is_finite(p->origin)) return "FORCE_PLATFORM:ORIGIN has no vector for it";
    if (p->type == 4 && !read_calibration(it, k, p)) {
        return "FORCE_PLATFORM:CAL_MATRIX has no matrix for it";
    }
    return NULL;
}

// --- what it measures ---

// Forces of four sensors, at (a, b), (-a, b), (-a, -b) and (a, -b): along x of the first two and of
// the others, along y of 1 and 4 and of 2 and 3, along z of each.
static load sensor_load(const plate *p, const double v[])
{
    const double a = p->origin.x, b = p->origin.y;
    const tal_vec3 f = tal_v3(v[0] + v[1], v[2] + v[3], v[4] + v[5] + v[6] + v[7]);
    const tal_vec3 m = tal_v3(b * (v[4] + v[5] - v[6] - v[7]), a * (-v[4] + v[5] + v[6] - v[7]),
                              b * (-v[0] + v[1]) + a * (v[2] - v[3]));
    return (load){f, tal_v3_add(m, tal_v3_cross(tal_v3(0.0, 0.0, p->origin.z), f))};
}

// Type 1 has the center of pressure and the moment about the normal there.
static load pressure_load(const double v[])
{
    const tal_vec3 f = tal_v3(v[0], v[1], v[2]), at = tal_v3(v[3], v[4], 0.0);
    return (load){f, tal_v3_add(tal_v3_cross(at, f), tal_v3(0.0, 0.0, v[5]))};
}

// Types 2 and 4 have moments about the origin of the sensors.
static load origin_load(const plate *p, const double v[])
{
    const tal_vec3 f = tal_v3(v[0], v[1], v[2]), m = tal_v3(v[3], v[4], v[5]);
    return (load){f, tal_v3_add(m, tal_v3_cross(p->origin, f))};
}

static load calibrated_load(const plate *p, const double v[])
{
    double w[6] = {0.0};
    for (int i = 0; i < 36; ++i) {
        w[i / 6] += p->calibration[i / 6][i % 6] * v[i % 6];
    }
    return origin_load(p, w);
}

static load load_of(const plate *p, const double v[])
{
    switch (p->type) {
    case 1:
        return pressure_load(v);
    case 2:
        return origin_load(p, v);
    case 3:
        return sensor_load(p, v);
    default:
        return calibrated_load(p, v);
    }
}

// Move a load from the center to the center of pressure; the point is there. Without a force along
// the normal there is none.
static tal_vec3 find_pressure(load *l)
{
    if (l->f.z == 0.0) return TAL_VEC3_ZERO;
    const tal_vec3 p = tal_v3(-l->m.y / l->f.z, l->m.x / l->f.z, 0.0);
    l->m = tal_v3(0.0, 0.0, l->m.z - p.x * l->f.y + p.y * l->f.x);
    return p;
}

// --- the table ---

static double *put(double *at, tal_vec3 v)
{
    at[0] = v.x;
    at[1] = v.y;
    at[2] = v.z;
    return at + 3;
}

// The nine columns of one plate, at sample k.
static double *put_plate(const tali_c3d *it, const plate *p, int k, bool at_pressure, double *at)
{
    double v[MAX_CHANNELS] = {0.0};
    for (int i = 0; i < p->num_channels; ++i) {
        v[i] = tali_c3d_analog(it, k, p->channels[i]);
    }
    load l = load_of(p, v);
    const tal_vec3 place = at_pressure ? find_pressure(&l) : TAL_VEC3_ZERO;
    at = put(at, tal_m3_mul_v3(p->R, l.f));
    at = put(at, tal_v3_add(p->center, tal_m3_mul_v3(p->R, place)));
    return put(at, tal_m3_mul_v3(p->R, l.m));
}

static tal_status add_columns(tal_table *table, int k)
{
    tal_status st = TAL_OK;
    for (int i = 0; i < 9 && st == TAL_OK; ++i) {
        char name[24];
        (void)snprintf(name, sizeof name, "%c%d_%d", "fpm"[i / 3], k + 1, i % 3 + 1);
        st = tal_table_add_column(table, name);
    }
    return st;
}

// Plates that are understood, and their columns; the others are left out with a warning.
static tal_status read_plates(const tali_c3d *it, plate plates[], int *num, tal_table *table)
{
    const tali_c3d_parameter p = tali_c3d_find(it, "FORCE_PLATFORM", "USED");
    const int used = tali_c3d_count(it, &p, 0, 0);
    tal_status st = tal_table_add_column(table, "time");
    *num = 0;
    for (int k = 0; k < used && k < MAX_PLATES && st == TAL_OK; ++k) {
        const char *wrong = read_plate(it, k, &plates[*num]);
        if (wrong == NULL) {
            *num += 1;
            st = add_columns(table, k);
        } else {
            tal_diagnostics_add(it->found, TAL_WARNING, it->file, 0, 0,
                                "force plate %d is left out: %s", k + 1, wrong);
        }
    }
    if (used > MAX_PLATES) {
        tal_diagnostics_add(it->found, TAL_WARNING, it->file, 0, 0,
                            "of %d force plates the first %d are read", used, MAX_PLATES);
    }
    return st;
}

tal_status tali_c3d_make_plates(const tali_c3d *it, bool at_pressure, tal_table *table)
{
    plate plates[MAX_PLATES];
    double row[1 + 9 * MAX_PLATES];
    int num = 0;
    tal_status st = read_plates(it, plates, &num, table);
    for (int k = 0; k < it->frames * it->samples && num > 0 && st == TAL_OK; ++k) {
        double *at = row + 1;
        row[0] = k / (it->rate * it->samples);
        for (int i = 0; i < num; ++i) {
            at = put_plate(it, &plates[i], k, at_pressure, at);
        }
        st = tal_table_add_row(table, row);
    }
    return st;
}
