// A heavy truck on leaf springs of three bars each (GJB tab. 8.4: bodies, joints and degrees of
// freedom; the data are our own).
#include "point_law.h"
#include "tyre.h"
#include "vehicles.h"

// clang-format off
static const sketch_part chassis[] = {
    {"chassis", NULL, SKETCH_FREE, {0, 0, 1.1}, SKETCH_NONE, SKETCH_NONE,
     5000.0, {0, 0, 1.1}, {2500, 12000, 13000}},
};
// clang-format on

// Behind the front axle by x0 = 2, behind the rear one by -2: halves of leaf springs a and b, the
// shackle c, the axle between them.
// clang-format off
static const sketch_part springs[] = {
    {"a", "chassis", SKETCH_PIN, {0.65, 0.45, 0.75}, SKETCH_Y, SKETCH_Z,
     12.0, {0.475, 0.45, 0.705}, {0.1, 0.3, 0.3}},
    {"b", "a", SKETCH_PIN, {0.3, 0.45, 0.66}, SKETCH_Y, SKETCH_Z,
     25.0, {-0.15, 0.45, 0.67}, {0.2, 2, 2}},
    {"c", "chassis", SKETCH_PIN, {-0.7, 0.45, 0.92}, SKETCH_Y, SKETCH_NONE,
     4.0, {-0.675, 0.45, 0.835}, {0.05, 0.05, 0.02}},
};

static const sketch_part front_axle =
    {"axle", "b", SKETCH_BALL, {2, 0.45, 0.62}, SKETCH_NONE, SKETCH_NONE,
     350.0, {2, 0, 0.5}, {120, 8, 120}};
static const sketch_part rear_axle =
    {"rear_axle", "rear_b", SKETCH_BALL, {-2, 0.45, 0.62}, SKETCH_NONE, SKETCH_NONE,
     600.0, {-2, 0, 0.5}, {200, 15, 200}};

static const sketch_part front_sides[] = {
    {"knuckle", "axle", SKETCH_PIN, {2, 0.85, 0.5}, SKETCH_Z, SKETCH_NONE,
     40.0, {2, 0.9, 0.5}, {1, 1, 1}},
    {"wheel", "knuckle", SKETCH_PIN, {2, 1, 0.5}, SKETCH_Y, SKETCH_NONE,
     90.0, {2, 1, 0.5}, {6, 11, 6}},
    {"bar", "chassis", SKETCH_PIN, {2.45, 0.35, 0.8}, SKETCH_Y, SKETCH_NONE,
     8.0, {2.25, 0.45, 0.8}, {0.3, 0.2, 0.3}},
    {"link", "bar", SKETCH_CROSS, {2.05, 0.6, 0.8}, SKETCH_Y, SKETCH_X,
     3.0, {2.05, 0.6, 0.66}, {0.05, 0.05, 0.01}},
};
static const sketch_part rear_sides[] = {
    {"rear_wheel", "rear_axle", SKETCH_PIN, {-2, 0.95, 0.5}, SKETCH_Y, SKETCH_NONE,
     180.0, {-2, 0.95, 0.5}, {12, 22, 12}},
    {"rear_bar", "chassis", SKETCH_PIN, {-2.45, 0.35, 0.8}, SKETCH_Y, SKETCH_NONE,
     8.0, {-2.25, 0.45, 0.8}, {0.3, 0.2, 0.3}},
    {"rear_link", "rear_bar", SKETCH_CROSS, {-2.05, 0.6, 0.8}, SKETCH_Y, SKETCH_X,
     3.0, {-2.05, 0.6, 0.66}, {0.05, 0.05, 0.01}},
};
static const sketch_part steering[] = {
    {"column", "chassis", SKETCH_PIN, {2.9, 0.5, 1.5}, {-0.6, 0, 0.8}, SKETCH_NONE,
     6.0, {2.9, 0.5, 1.5}, {0.1, 0.1, 0.1}},
    {"pitman", "chassis", SKETCH_PIN, {2.6, 0.6, 0.95}, SKETCH_Y, SKETCH_NONE,
     5.0, {2.6, 0.6, 0.825}, {0.05, 0.05, 0.02}},
};

// clang-format on

enum {
    NUM_FRONT = sizeof front_sides / sizeof front_sides[0],
    NUM_REAR = sizeof rear_sides / sizeof rear_sides[0]
};

// What differs between the axles.
typedef struct axle_kind {
    double x0;
    const char *a, *b, *c, *axle, *link, *bar, *wheel;
    sketch_joint right_a, right_b; // joints of the halves on the right
    double leaf[3], tyre[2], radius;
} axle_kind;

static const axle_kind axles[] = {
    {.x0 = 2.0,
     .a = "a",
     .b = "b",
     .c = "c",
     .axle = "axle",
     .link = "link",
     .bar = "bar",
     .wheel = "wheel",
     .right_a = SKETCH_CROSS,
     .right_b = SKETCH_CROSS,
     .leaf = {90000.0, 4000.0, 0.4994},
     .tyre = {800000.0, 2000.0},
     .radius = 0.5198},
    {.x0 = -2.0,
     .a = "rear_a",
     .b = "rear_b",
     .c = "rear_c",
     .axle = "rear_axle",
     .link = "rear_link",
     .bar = "rear_bar",
     .wheel = "rear_wheel",
     .right_a = SKETCH_BALL,
     .right_b = SKETCH_PIN,
     .leaf = {150000.0, 4000.0, 0.4715},
     .tyre = {1600000.0, 2000.0},
     .radius = 0.5109},
};

static tal_vec3 along_x(double x0, tal_vec3 p)
{
    return tal_v3(x0 + p.x, p.y, p.z);
}

// One of the three bars of a leaf spring.
static void add_bar(sketch *it, const axle_kind *axle, int which, const char *parent,
                    sketch_joint joint, sketch_side side)
{
    const char *const names[] = {axle->a, axle->b, axle->c};
    sketch_part part = springs[which];
    part.name = names[which];
    part.parent = parent;
    part.joint = joint;
    part.at = along_x(axle->x0, part.at);
    part.com = along_x(axle->x0, part.com);
    (void)sketch_add(it, &part, side);
}

// The left spring carries the axle, the right one is closed with balls.
static void add_axle(sketch *it, const axle_kind *axle)
{
    enum {
        A,
        B,
        C
    };

    add_bar(it, axle, A, "chassis", SKETCH_PIN, SKETCH_LEFT);
    add_bar(it, axle, B, axle->a, SKETCH_PIN, SKETCH_LEFT);
    add_bar(it, axle, C, "chassis", SKETCH_PIN, SKETCH_LEFT);
    sketch_part beam = axle->x0 > 0.0 ? front_axle : rear_axle;
    beam.parent = axle->x0 > 0.0 ? "b_l" : "rear_b_l";
    (void)sketch_add(it, &beam, SKETCH_MIDDLE);
    add_bar(it, axle, A, "chassis", axle->right_a, SKETCH_RIGHT);
    add_bar(it, axle, B, axle->a, axle->right_b, SKETCH_RIGHT);
    sketch_part shackle = springs[C];
    shackle.name = axle->c;
    shackle.parent = axle->b;
    shackle.at = tal_v3(axle->x0 - 0.65, 0.45, 0.75);
    shackle.com = along_x(axle->x0, shackle.com);
    (void)sketch_add(it, &shackle, SKETCH_RIGHT);
    for (int side = SKETCH_LEFT; side <= SKETCH_RIGHT; ++side) {
        if (axle->x0 > 0.0) sketch_add_all(it, front_sides, NUM_FRONT, (sketch_side)side);
        if (axle->x0 < 0.0) sketch_add_all(it, rear_sides, NUM_REAR, (sketch_side)side);
    }
}

static void close_axle(sketch *it, const axle_kind *axle)
{
    const double x0 = axle->x0, x_link = x0 > 0.0 ? 2.05 : -2.05;
    const tal_body_ix beam = sketch_find(it, axle->axle, SKETCH_MIDDLE);
    sketch_close_pin(it, sketch_find(it, axle->c, SKETCH_LEFT),
                     sketch_find(it, axle->b, SKETCH_LEFT), tal_v3(x0 - 0.65, 0.45, 0.75),
                     tal_v3(0.0, 1.0, 0.0), SKETCH_LEFT);
    sketch_close_ball(it, sketch_find(it, axle->b, SKETCH_RIGHT), beam, tal_v3(x0, 0.45, 0.62),
                      SKETCH_RIGHT);
    sketch_close_ball(it, sketch_find(it, axle->c, SKETCH_RIGHT),
                      sketch_find(it, "chassis", SKETCH_MIDDLE), tal_v3(x0 - 0.7, 0.45, 0.92),
                      SKETCH_RIGHT);
    for (int side = SKETCH_LEFT; side <= SKETCH_RIGHT; ++side) {
        sketch_close_ball(it, sketch_find(it, axle->link, (sketch_side)side), beam,
                          tal_v3(x_link, 0.6, 0.52), (sketch_side)side);
    }
}

static void add_axle_forces(sketch *it, const axle_kind *axle)
{
    const tal_body_ix body = sketch_find(it, "chassis", SKETCH_MIDDLE);
    const tal_body_ix beam = sketch_find(it, axle->axle, SKETCH_MIDDLE);
    for (int side = SKETCH_LEFT; side <= SKETCH_RIGHT; ++side) {
        for (int i = -1; i <= 1; i += 2) {
            const double x = axle->x0 + 0.3 * i;
            sketch_add_spring(it, body, tal_v3(x, 0.45, 1.05), beam, tal_v3(x, 0.45, 0.62),
                              (sketch_side)side, axle->leaf);
        }
        tyre_add(it, sketch_find(it, axle->wheel, (sketch_side)side), axle->tyre[0], axle->tyre[1],
                 axle->radius);
    }
    const coupling twist = {
        .body = {sketch_find(it, axle->bar, SKETCH_LEFT), sketch_find(it, axle->bar, SKETCH_RIGHT)},
        .a = {1.0, -1.0},
        .stiffness = 30000.0};
    (void)coupling_add(it->forces, NULL, &twist);
}

// Pitman arm, drag link to the left knuckle, tie rod between the knuckles; a column that turns the
// pitman arm through a spring.
static void add_steering(sketch *it)
{
    const tal_body_ix left = sketch_find(it, "knuckle", SKETCH_LEFT);
    const tal_body_ix right = sketch_find(it, "knuckle", SKETCH_RIGHT);
    const tal_body_ix column = sketch_find(it, "column", SKETCH_MIDDLE);
    const tal_body_ix pitman = sketch_find(it, "pitman", SKETCH_MIDDLE);
    sketch_close_rod(it, pitman, tal_v3(2.6, 0.6, 0.7), left, tal_v3(2.0, 0.6, 0.65));
    sketch_close_rod(it, left, tal_v3(1.8, 0.8, 0.45), right, tal_v3(1.8, -0.8, 0.45));
    const coupling gear = {
        .body = {pitman, column}, .a = {1.0, -0.05}, .stiffness = 20000.0, .damping = 200.0};
    (void)coupling_add(it->forces, NULL, &gear);
}

sketch truck_add(tal_matter *matter, tal_forces *forces)
{
    sketch it = sketch_begin(matter, forces);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, 0.0, -9.81));
    sketch_add_all(&it, chassis, 1, SKETCH_MIDDLE);
    for (int i = 0; i < 2; ++i) {
        add_axle(&it, &axles[i]);
    }
    sketch_add_all(&it, steering, 2, SKETCH_MIDDLE);
    for (int i = 0; i < 2; ++i) {
        close_axle(&it, &axles[i]);
        add_axle_forces(&it, &axles[i]);
    }
    add_steering(&it);
    return it;
}
