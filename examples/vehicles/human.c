// A human body of 40 bodies on pins (GJB tab. 8.3: the structure; the data are our own).
#include "vehicles.h"

// clang-format off
static const sketch_part trunk[] = {
    {"chest", NULL, SKETCH_FREE, {0, 0, 1.28}, SKETCH_NONE, SKETCH_NONE,
     20.0, {0, 0, 1.28}, {0.3, 0.25, 0.2}},
    {"viscera", "chest", SKETCH_PIN, {0, 0, 1.2}, SKETCH_Y, SKETCH_NONE,
     5.0, {0.05, 0, 1.1}, {0.02, 0.02, 0.02}},
    {"spine", "chest", SKETCH_PIN, {0, 0, 1.1}, SKETCH_X, SKETCH_NONE,
     1.0, {0, 0, 1.08}, {0.005, 0.005, 0.005}},
    {"pelvis", "spine", SKETCH_PIN, {0, 0, 1.06}, SKETCH_Y, SKETCH_NONE,
     11.0, {0, 0, 0.97}, {0.1, 0.08, 0.1}},
    {"n1", "chest", SKETCH_PIN, {0, 0, 1.48}, SKETCH_X, SKETCH_NONE,
     0.2, {0, 0, 1.48}, {0.001, 0.001, 0.001}},
    {"n2", "n1", SKETCH_PIN, {0, 0, 1.48}, SKETCH_Y, SKETCH_NONE,
     0.2, {0, 0, 1.48}, {0.001, 0.001, 0.001}},
    {"n3", "n2", SKETCH_PIN, {0, 0, 1.48}, SKETCH_Z, SKETCH_NONE,
     0.8, {0, 0, 1.53}, {0.001, 0.001, 0.001}},
    {"n4", "n3", SKETCH_PIN, {0, 0, 1.58}, SKETCH_X, SKETCH_NONE,
     0.2, {0, 0, 1.58}, {0.001, 0.001, 0.001}},
    {"n5", "n4", SKETCH_PIN, {0, 0, 1.58}, SKETCH_Y, SKETCH_NONE,
     0.2, {0, 0, 1.58}, {0.001, 0.001, 0.001}},
    {"head", "n5", SKETCH_PIN, {0, 0, 1.58}, SKETCH_Z, SKETCH_NONE,
     4.2, {0.02, 0, 1.67}, {0.02, 0.025, 0.018}},
};

static const sketch_part arm[] = {
    {"s1", "chest", SKETCH_PIN, {0, 0.18, 1.42}, SKETCH_X, SKETCH_NONE,
     0.3, {0, 0.18, 1.42}, {0.001, 0.001, 0.001}},
    {"s2", "s1", SKETCH_PIN, {0, 0.18, 1.42}, SKETCH_Y, SKETCH_NONE,
     0.3, {0, 0.18, 1.42}, {0.001, 0.001, 0.001}},
    {"upper_arm", "s2", SKETCH_PIN, {0, 0.18, 1.42}, SKETCH_Z, SKETCH_NONE,
     2.0, {0, 0.19, 1.28}, {0.013, 0.013, 0.003}},
    {"forearm", "upper_arm", SKETCH_PIN, {0, 0.19, 1.12}, SKETCH_Y, SKETCH_NONE,
     1.0, {0, 0.19, 1.05}, {0.003, 0.003, 0.001}},
    {"radius", "forearm", SKETCH_PIN, {0, 0.19, 0.98}, SKETCH_Z, SKETCH_NONE,
     0.6, {0, 0.19, 0.92}, {0.0015, 0.0015, 0.0006}},
    {"palm", "radius", SKETCH_PIN, {0, 0.19, 0.86}, SKETCH_X, SKETCH_NONE,
     0.3, {0, 0.19, 0.82}, {0.0003, 0.0003, 0.0003}},
    {"fingers_2_3", "palm", SKETCH_PIN, {0.015, 0.19, 0.78}, SKETCH_X, SKETCH_NONE,
     0.08, {0.015, 0.19, 0.74}, {0.0001, 0.0001, 0.0001}},
    {"fingers_4_5", "palm", SKETCH_PIN, {-0.015, 0.19, 0.78}, SKETCH_X, SKETCH_NONE,
     0.07, {-0.015, 0.19, 0.745}, {0.0001, 0.0001, 0.0001}},
    {"thumb", "palm", SKETCH_PIN, {0.03, 0.19, 0.82}, SKETCH_Y, SKETCH_NONE,
     0.05, {0.045, 0.19, 0.8}, {0.00005, 0.00005, 0.00005}},
};

static const sketch_part leg[] = {
    {"h1", "pelvis", SKETCH_PIN, {0, 0.09, 0.93}, SKETCH_X, SKETCH_NONE,
     0.3, {0, 0.09, 0.93}, {0.001, 0.001, 0.001}},
    {"h2", "h1", SKETCH_PIN, {0, 0.09, 0.93}, SKETCH_Y, SKETCH_NONE,
     0.3, {0, 0.09, 0.93}, {0.001, 0.001, 0.001}},
    {"thigh", "h2", SKETCH_PIN, {0, 0.09, 0.93}, SKETCH_Z, SKETCH_NONE,
     8.5, {0, 0.09, 0.74}, {0.13, 0.13, 0.03}},
    {"shank", "thigh", SKETCH_PIN, {0, 0.09, 0.5}, SKETCH_Y, SKETCH_NONE,
     3.5, {0, 0.09, 0.31}, {0.05, 0.05, 0.005}},
    {"foot", "shank", SKETCH_PIN, {0, 0.09, 0.08}, SKETCH_Y, SKETCH_NONE,
     0.9, {0.05, 0.09, 0.04}, {0.001, 0.004, 0.004}},
    {"toes", "foot", SKETCH_PIN, {0.13, 0.09, 0.02}, SKETCH_Y, SKETCH_NONE,
     0.2, {0.16, 0.09, 0.02}, {0.0002, 0.0002, 0.0002}},
};

// clang-format on

enum {
    NUM_TRUNK = sizeof trunk / sizeof trunk[0],
    NUM_ARM = sizeof arm / sizeof arm[0],
    NUM_LEG = sizeof leg / sizeof leg[0]
};

sketch human_add(tal_matter *matter, tal_forces *forces)
{
    sketch it = sketch_begin(matter, forces);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, 0.0, -9.81));
    sketch_add_all(&it, trunk, NUM_TRUNK, SKETCH_MIDDLE);
    sketch_add_all(&it, arm, NUM_ARM, SKETCH_LEFT);
    sketch_add_all(&it, arm, NUM_ARM, SKETCH_RIGHT);
    sketch_add_all(&it, leg, NUM_LEG, SKETCH_LEFT);
    sketch_add_all(&it, leg, NUM_LEG, SKETCH_RIGHT);
    return it;
}
