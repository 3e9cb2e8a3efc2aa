// A road with a ramp and stairs: up 0.525 m over 8 m from x = 3, flat for 3 m, then five steps down
// of 0.105 m, 1 m apart.
//
// Each piece is a chain of straight lines with a layer of 0.05 m around it, which rounds its edges.
#include "road.h"

#include <math.h>

enum {
    MOST = 4
};

typedef struct piece {
    int n;
    double x[MOST], z[MOST];
} piece;

static const double LAYER = 0.05;

// The slope of the ramp is 0.065625; its chain lies LAYER below it along the normal.
static const piece pieces[] = {
    {2, {-1e3, 1e3}, {-0.05, -0.05}},
    {4, {2.0, 11.001639, 13.95, 13.95}, {-0.11573255, 0.48, 0.48, -1.0}},
    {3, {13.95, 14.95, 14.95}, {0.37, 0.37, -1.0}},
    {3, {14.95, 15.95, 15.95}, {0.27, 0.27, -1.0}},
    {3, {15.95, 16.95, 16.95}, {0.16, 0.16, -1.0}},
    {3, {16.95, 17.95, 17.95}, {0.06, 0.06, -1.0}},
};

enum {
    NUM_PIECES = sizeof pieces / sizeof pieces[0]
};

// The point of a chain next to (x, z): how far, in which direction, and whether it is a corner.
typedef struct nearest {
    double distance, nx, nz;
    bool is_corner;
} nearest;

static nearest nearest_of(const piece *it, double x, double z)
{
    nearest best = {.distance = INFINITY};
    for (int i = 0; i + 1 < it->n; ++i) {
        const double dx = it->x[i + 1] - it->x[i], dz = it->z[i + 1] - it->z[i];
        const double along = ((x - it->x[i]) * dx + (z - it->z[i]) * dz) / (dx * dx + dz * dz);
        const double part = fmin(1.0, fmax(0.0, along));
        const double rx = x - it->x[i] - part * dx, rz = z - it->z[i] - part * dz;
        const double distance = hypot(rx, rz);
        if (distance >= best.distance) continue;
        best = (nearest){distance, rx / distance, rz / distance, part != along};
    }
    return best;
}

// k (r - d) along the normal n; K = -k n n^T, and along the corner k (r - d) / d (1 - n n^T).
static void push(double stiffness, double depth, const nearest *at, point_force *out)
{
    const double k = stiffness, turn = at->is_corner ? k * depth / at->distance : 0.0;
    const double nx = at->nx, nz = at->nz;
    out->F.x += k * depth * nx;
    out->F.z += k * depth * nz;
    out->K.x.x += turn - (k + turn) * nx * nx;
    out->K.z.z += turn - (k + turn) * nz * nz;
    out->K.x.z -= (k + turn) * nx * nz;
    out->K.z.x -= (k + turn) * nx * nz;
}

point_force road_tyre(const double params[], tal_vec3 p, tal_vec3 v)
{
    (void)v;
    point_force out = {.F = TAL_VEC3_ZERO};
    const double reach = params[ROAD_TYRE_RADIUS] + LAYER;
    for (int i = 0; i < (params[ROAD_TYRE_HAS_ROAD] != 0.0 ? NUM_PIECES : 1); ++i) {
        const piece *it = &pieces[i];
        if (p.x < it->x[0] - reach || p.x > it->x[it->n - 1] + reach) continue;
        const nearest at = nearest_of(it, p.x, p.z);
        if (at.distance < reach) {
            push(params[ROAD_TYRE_STIFFNESS], reach - at.distance, &at, &out);
        }
    }
    return out;
}

double road_height(double x)
{
    double height = 0.0;
    if (x > 3.0 && x <= 14.0) height = fmin(0.525, 0.065625 * (x - 3.0));
    for (int i = 1; i < 5; ++i) {
        if (x > 13.0 + i && x <= 14.0 + i) height = 0.525 - 0.105 * i;
    }
    return height;
}
