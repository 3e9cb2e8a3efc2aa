// A car with McPherson struts in front and five rods at each rear wheel (GJB tab. 8.5: 25 bodies
// and 15 degrees of freedom; the data are our own).
#include "tyre.h"
#include "vehicles.h"

// clang-format off
static const sketch_part middle[] = {
    {"chassis", NULL, SKETCH_FREE, {0, 0, 0.55}, SKETCH_NONE, SKETCH_NONE,
     1150.0, {0, 0, 0.55}, {380, 1650, 1800}},
    {"rack", "chassis", SKETCH_SLIDE, {1.05, 0, 0.3}, SKETCH_Y, SKETCH_NONE,
     3.0, {1.05, 0, 0.3}, {0.1, 0.01, 0.1}},
    {"column", "chassis", SKETCH_PIN, {0.7, 0, 0.6}, {-0.8, 0, 0.6}, SKETCH_NONE,
     4.0, {0.7, 0, 0.6}, {0.05, 0.05, 0.05}},
};

static const sketch_part front_parts[] = {
    {"arm", "chassis", SKETCH_PIN, {1.2, 0.35, 0.25}, SKETCH_X, SKETCH_NONE,
     4.0, {1.2, 0.52, 0.235}, {0.05, 0.03, 0.07}},
    {"carrier", "arm", SKETCH_BALL, {1.2, 0.68, 0.22}, SKETCH_NONE, SKETCH_NONE,
     20.0, {1.2, 0.7, 0.3}, {0.4, 0.3, 0.4}},
    {"wheel", "carrier", SKETCH_PIN, {1.2, 0.73, 0.3}, SKETCH_Y, SKETCH_NONE,
     15.0, {1.2, 0.73, 0.3}, {0.5, 0.9, 0.5}},
    {"tube", "carrier", SKETCH_SLIDE, {1.18, 0.56, 0.82}, SKETCH_NONE, SKETCH_NONE,
     3.0, {1.185, 0.59, 0.7}, {0.02, 0.02, 0.005}},
};

static const sketch_part rear_parts[] = {
    {"rear_carrier", "rod1", SKETCH_BALL, {-1.22, 0.66, 0.2}, SKETCH_NONE, SKETCH_NONE,
     18.0, {-1.3, 0.69, 0.3}, {0.35, 0.3, 0.35}},
    {"rear_wheel", "rear_carrier", SKETCH_PIN, {-1.3, 0.73, 0.3}, SKETCH_Y, SKETCH_NONE,
     15.0, {-1.3, 0.73, 0.3}, {0.5, 0.9, 0.5}},
};

// clang-format on

// Rods between the chassis and the rear carrier, their mass in the middle. The first one carries
// the carrier.
static const struct {
    const char *name;
    tal_vec3 axis, start, end;
} rods[] = {{"rod1", SKETCH_X, {-1.2, 0.3, 0.22}, {-1.22, 0.66, 0.2}},
            {"rod2", SKETCH_X, {-1.42, 0.28, 0.24}, {-1.42, 0.66, 0.22}},
            {"rod3", SKETCH_X, {-1.22, 0.36, 0.46}, {-1.25, 0.64, 0.44}},
            {"rod4", SKETCH_X, {-1.4, 0.34, 0.48}, {-1.38, 0.64, 0.45}},
            {"rod5", SKETCH_Y, {-0.8, 0.55, 0.3}, {-1.18, 0.67, 0.27}}};

enum {
    NUM_MIDDLE = sizeof middle / sizeof middle[0],
    NUM_FRONT = sizeof front_parts / sizeof front_parts[0],
    NUM_REAR = sizeof rear_parts / sizeof rear_parts[0],
    NUM_RODS = sizeof rods / sizeof rods[0]
};

// The strut slides along the line from the ball of the arm to its top.
static void add_front(sketch *it, sketch_side side)
{
    const tal_vec3 foot = {1.2, 0.68, 0.22};
    for (int i = 0; i < NUM_FRONT; ++i) {
        sketch_part part = front_parts[i];
        if (part.joint == SKETCH_SLIDE) {
            part.axis = tal_v3_sub(sketch_point(part.at, side), sketch_point(foot, side));
        }
        (void)sketch_add(it, &part, side);
    }
}

static void add_rear(sketch *it, sketch_side side)
{
    for (int i = 0; i < NUM_RODS; ++i) {
        const sketch_part rod = {.name = rods[i].name,
                                 .parent = "chassis",
                                 .joint = SKETCH_CROSS,
                                 .at = rods[i].start,
                                 .axis = rods[i].axis,
                                 .axis2 = SKETCH_Z,
                                 .mass = 1.5,
                                 .com = tal_v3_scale(0.5, tal_v3_add(rods[i].start, rods[i].end)),
                                 .inertia = {0.02, 0.02, 0.02}};
        (void)sketch_add(it, &rod, side);
        if (i == 0) sketch_add_all(it, rear_parts, NUM_REAR, side);
    }
}

// Five balls and a tie rod.
static void close_side(sketch *it, sketch_side side)
{
    const tal_body_ix chassis = sketch_find(it, "chassis", side);
    const tal_body_ix rear = sketch_find(it, "rear_carrier", side);
    sketch_close_ball(it, chassis, sketch_find(it, "tube", side), tal_v3(1.18, 0.56, 0.82), side);
    for (int i = 1; i < NUM_RODS; ++i) {
        sketch_close_ball(it, sketch_find(it, rods[i].name, side), rear, rods[i].end, side);
    }
    sketch_close_rod(it, sketch_find(it, "carrier", side),
                     sketch_point(tal_v3(1.05, 0.66, 0.28), side), sketch_find(it, "rack", side),
                     sketch_point(tal_v3(1.05, 0.33, 0.3), side));
}

static void add_forces(sketch *it, sketch_side side)
{
    static const double front_spring[] = {22000.0, 1800.0, 0.75795555};
    static const double rear_spring[] = {24000.0, 2000.0, 0.63121079};
    const tal_body_ix chassis = sketch_find(it, "chassis", side);
    sketch_add_spring(it, chassis, tal_v3(1.18, 0.56, 0.82), sketch_find(it, "arm", side),
                      tal_v3(1.2, 0.68, 0.22), side, front_spring);
    sketch_add_spring(it, chassis, tal_v3(-1.3, 0.5, 0.75), sketch_find(it, "rear_carrier", side),
                      tal_v3(-1.3, 0.62, 0.25), side, rear_spring);
    tyre_add(it, sketch_find(it, "wheel", side), 200000.0, 500.0, 0.31688031);
    tyre_add(it, sketch_find(it, "rear_wheel", side), 200000.0, 500.0, 0.31554174);
}

// The rack moves 8 mm for each radian of the column.
static void couple_steering(sketch *it)
{
    static const double a[] = {1.0, -0.008};
    tal_function *f = NULL;
    if (tal_function_create_linear(NULL, a, 2, 0.0, &f, NULL) != TAL_OK) return;
    tal_constraint_def def = tal_constraint_def_default();
    def.mobilities[0] = (tal_mobility){sketch_find(it, "rack", SKETCH_MIDDLE), 0};
    def.mobilities[1] = (tal_mobility){sketch_find(it, "column", SKETCH_MIDDLE), 0};
    def.num_mobilities = 2;
    (void)tal_constraint_add_coordinate_coupler(it->matter, &def, f);
}

sketch car_add(tal_matter *matter, tal_forces *forces)
{
    sketch it = sketch_begin(matter, forces);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, 0.0, -9.81));
    sketch_add_all(&it, middle, NUM_MIDDLE, SKETCH_MIDDLE);
    for (int i = 0; i < 4; ++i) {
        const sketch_side side = i % 2 == 0 ? SKETCH_LEFT : SKETCH_RIGHT;
        if (i < 2) add_front(&it, side);
        if (i >= 2) add_rear(&it, side);
    }
    for (int side = SKETCH_LEFT; side <= SKETCH_RIGHT; ++side) {
        close_side(&it, (sketch_side)side);
        add_forces(&it, (sketch_side)side);
    }
    couple_steering(&it);
    return it;
}
