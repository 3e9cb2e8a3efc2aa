// The road vehicle benchmark of the IAVSD (Iltis): a chassis and four wheels, each on a lower arm
// and a leaf spring, with a tie rod to a rack that does not move.
//
// Numbers are in axes of the chassis, whose mass center is at a height of 0.57 m as drawn. Front
// and rear differ in x and in the radius of the tyres.
#include "point_law.h"
#include "road.h"
#include "vehicles.h"

#include <math.h>

static const double HEIGHT = 0.57;

static tal_vec3 up(tal_vec3 p)
{
    return tal_v3(p.x, p.y, p.z + HEIGHT);
}

// --- forces ---

// A leaf spring on its tip, along z of the chassis, down. Below a length of 6 mm it meets a stop.
static point_force leaf(const double params[], tal_vec3 p, tal_vec3 v)
{
    (void)params;
    (void)v;
    const double k = 35906.0, stop = 1e7;
    const double L = 0.137 - p.z - 0.1, shortest = 0.006;
    const bool is_stopped = L < shortest;
    point_force out = {.F = TAL_VEC3_ZERO};
    out.F.z = k * ((is_stopped ? shortest : L) - 0.152);
    if (is_stopped) out.F.z += stop * (L - shortest);
    out.K.z.z = is_stopped ? -stop : -k;
    return out;
}

// Tension of a spring and damper, by its length and the rate of that, and its slopes.
typedef struct tension {
    double T, by_length, by_rate;
} tension;

static tension spring(double Z)
{
    return (tension){-4.0092e6 + Z * (2.8397e7 + Z * (-6.7061e7 + Z * 5.2796e7)),
                     2.8397e7 + Z * (-2.0 * 6.7061e7 + Z * 3.0 * 5.2796e7), 0.0};
}

static tension damper(double w)
{
    if (w < -0.2) return (tension){-416.42 + 1844.3 * w, 0.0, 1844.3};
    if (w > 0.21) return (tension){1919.1638 + 1634.727 * w, 0.0, 1634.727};
    return (tension){w * (9945.627 + w * (33955.72 + w * (-59832.25 - w * 395651.0))), 0.0,
                     9945.627 + w * (2.0 * 33955.72 + w * (-3.0 * 59832.25 - w * 4.0 * 395651.0))};
}

// Between an anchor (params) and the lower arm: F = -T e.
static point_force shock(const double params[], tal_vec3 p, tal_vec3 v)
{
    const tal_vec3 r = tal_v3_sub(p, tal_v3(params[0], params[1], params[2]));
    const double Z = tal_v3_norm(r);
    const tal_vec3 e = tal_v3_scale(1.0 / Z, r);
    const double rate = tal_v3_dot(e, v);
    const tal_vec3 across = tal_v3_scale(1.0 / Z, tal_v3_sub(v, tal_v3_scale(rate, e)));
    const tension s = spring(Z), d = damper(rate);
    const double T = s.T + d.T;
    const tal_mat3 ee = tal_m3_outer(e, e);
    point_force out = {.F = tal_v3_scale(-T, e)};
    // T_Z e e^T + T_w e (dw/dp)^T + T / Z (1 - e e^T)
    const tal_mat3 turning = tal_m3_scale(T / Z, tal_m3_sub(TAL_MAT3_IDENTITY, ee));
    const tal_mat3 stretching =
        tal_m3_outer(e, tal_v3_add(tal_v3_scale(s.by_length, e), tal_v3_scale(d.by_rate, across)));
    out.K = tal_m3_scale(-1.0, tal_m3_add(stretching, turning));
    out.C = tal_m3_scale(-d.by_rate, ee);
    return out;
}

// --- a corner ---

// What differs between front and rear, in axes of the chassis.
typedef struct corner {
    const char *arm, *carrier, *leaf_arm;
    double x, tie_x, shock_x, radius;
} corner;

static const corner corners[] = {
    {"arm", "carrier", "leaf", 0.97, 0.83, 1.045, 0.364325},
    {"rear_arm", "rear_carrier", "rear_leaf", -1.047, -0.907, -1.122, 0.363812},
};

// Along y and z of the chassis, the same for all corners.
static const double ARM_Y = 0.259, ARM_Z = -0.268, BALL_Y = 0.57207, BALL_Z = -0.34098;
static const double LEAF_Y = 0.1585, LEAF_Z = 0.03, TOP_Y = 0.488, TOP_Z = -0.039;

// A point on the lower arm, inboard of its ball along it and below it across.
static tal_vec3 on_arm(double x, double inboard, double below)
{
    const double y = BALL_Y - ARM_Y, z = BALL_Z - ARM_Z, L = hypot(y, z);
    return tal_v3(x, BALL_Y - inboard * y / L + below * z / L,
                  BALL_Z - inboard * z / L - below * y / L);
}

static void add_bodies(sketch *it, const corner *at, sketch_side side, bool has_leaf_arm)
{
    const tal_vec3 along = tal_v3(1.0, 0.0, 0.0);
    const sketch_part arm = {.name = at->arm,
                             .parent = "chassis",
                             .joint = SKETCH_PIN,
                             .at = up(tal_v3(at->x, ARM_Y, ARM_Z)),
                             .axis = along,
                             .mass = 6.0,
                             .com = up(on_arm(at->x, 0.16073, 0.0)),
                             .inertia = {0.052099, 0.023235, 0.068864}};
    const sketch_part carrier = {.name = at->carrier,
                                 .parent = at->arm,
                                 .joint = SKETCH_BALL,
                                 .at = up(tal_v3(at->x, BALL_Y, BALL_Z)),
                                 .mass = 57.35,
                                 .com = up(tal_v3(at->x, 0.61504, -0.21397)),
                                 .inertia = {1.2402, 1.908, 1.2402}};
    const sketch_part leaf_arm = {.name = at->leaf_arm,
                                  .parent = "chassis",
                                  .joint = SKETCH_PIN,
                                  .at = up(tal_v3(at->x, LEAF_Y, LEAF_Z)),
                                  .axis = along};
    (void)sketch_add(it, &arm, side);
    (void)sketch_add(it, &carrier, side);
    if (has_leaf_arm) (void)sketch_add(it, &leaf_arm, side);
}

// The tip of the leaf spring is the top of the carrier: by a ball at the end of its arm, or, where
// it has none, by a rod across and a plane that holds x.
static void close_corner(sketch *it, const corner *at, sketch_side side, bool has_leaf_arm)
{
    const tal_body_ix chassis = sketch_find(it, "chassis", side);
    const tal_body_ix carrier = sketch_find(it, at->carrier, side);
    const tal_vec3 top = up(tal_v3(at->x, TOP_Y, TOP_Z));
    if (has_leaf_arm) {
        sketch_close_ball(it, sketch_find(it, at->leaf_arm, side), carrier, top, side);
    } else {
        const tal_constraint_def def = tal_constraint_between(chassis, carrier);
        sketch_close_rod(it, chassis, sketch_point(up(tal_v3(at->x, LEAF_Y, LEAF_Z)), side),
                         carrier, sketch_point(top, side));
        (void)tal_constraint_add_point_in_plane(it->matter, &def, tal_v3(1.0, 0.0, 0.0), at->x,
                                                sketch_station(it, carrier, top, side));
    }
    sketch_close_rod(it, chassis, sketch_point(up(tal_v3(at->tie_x, 0.07, 0.03)), side), carrier,
                     sketch_point(up(tal_v3(at->tie_x, 0.448, -0.039)), side));
}

static void add_law(sketch *it, tal_body_ix A, tal_body_ix B, tal_vec3 p, sketch_side side,
                    point_law_fn function, const double params[3])
{
    point_law law = {.A = A, .B = B, .p_BS = sketch_station(it, B, p, side), .law = function};
    for (int i = 0; i < 3 && params != NULL; ++i) {
        law.params[i] = params[i];
    }
    (void)point_law_add(it->forces, NULL, &law);
}

static void add_forces(sketch *it, const corner *at, sketch_side side, bool has_road)
{
    const tal_body_ix chassis = sketch_find(it, "chassis", side);
    const tal_body_ix carrier = sketch_find(it, at->carrier, side);
    const tal_vec3 anchor = sketch_point(tal_v3(at->shock_x, 0.297, 0.062), side);
    const double of_shock[] = {anchor.x, anchor.y, anchor.z};
    const double of_tyre[] = {460000.0, at->radius, has_road ? 1.0 : 0.0};
    add_law(it, chassis, carrier, up(tal_v3(at->x, TOP_Y, TOP_Z)), side, leaf, NULL);
    add_law(it, chassis, sketch_find(it, at->arm, side),
            up(on_arm(at->shock_x, 0.0728438, 0.0046671)), side, shock, of_shock);
    add_law(it, TAL_GROUND, carrier, up(tal_v3(at->x, 0.61504, -0.21397)), side, road_tyre,
            of_tyre);
}

sketch iltis_add(tal_matter *matter, tal_forces *forces, const iltis_options *options)
{
    const sketch_part chassis = {.name = "chassis",
                                 .joint = SKETCH_FREE,
                                 .at = {0.0, 0.0, HEIGHT},
                                 .mass = 1260.0,
                                 .com = {0.0, 0.0, HEIGHT},
                                 .inertia = {130.0, 1620.0, 1670.0}};
    sketch it = sketch_begin(matter, forces);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, 0.0, -9.81));
    (void)sketch_add(&it, &chassis, SKETCH_MIDDLE);
    for (int i = 0; i < 4; ++i) {
        const sketch_side side = i % 2 == 0 ? SKETCH_LEFT : SKETCH_RIGHT;
        add_bodies(&it, &corners[i / 2], side, options->has_leaf_arms);
    }
    for (int i = 0; i < 4; ++i) {
        const sketch_side side = i % 2 == 0 ? SKETCH_LEFT : SKETCH_RIGHT;
        close_corner(&it, &corners[i / 2], side, options->has_leaf_arms);
        add_forces(&it, &corners[i / 2], side, options->has_road);
    }
    return it;
}

double iltis_road_height(double x)
{
    return road_height(x);
}

void iltis_read_heights(const sketch *it, const tal_state *state, double z[3])
{
    const tal_body_ix chassis = sketch_find(it, "chassis", SKETCH_MIDDLE);
    const tal_vec3 front = up(tal_v3(corners[0].x, 0.61504, -0.21397));
    const tal_vec3 rear = up(tal_v3(corners[1].x, 0.61504, -0.21397));
    const tal_body_ix left = sketch_find(it, corners[0].carrier, SKETCH_LEFT);
    const tal_body_ix right = sketch_find(it, corners[1].carrier, SKETCH_RIGHT);
    z[0] = tal_body_X_GB(it->matter, state, chassis).p.z;
    z[1] =
        tal_station_p_GS(it->matter, state, left, sketch_station(it, left, front, SKETCH_LEFT)).z;
    z[2] =
        tal_station_p_GS(it->matter, state, right, sketch_station(it, right, rear, SKETCH_RIGHT)).z;
}
