// A human body of 40 bodies on pins (GJB tab. 8.3: the structure; the data are our own).
#include "vehicles.h"

#define AT(x, y, z)                                                                                \
    {                                                                                              \
        x, y, z                                                                                    \
    }
#define X                                                                                          \
    {                                                                                              \
        1.0, 0.0, 0.0                                                                              \
    }
#define Y                                                                                          \
    {                                                                                              \
        0.0, 1.0, 0.0                                                                              \
    }
#define Z                                                                                          \
    {                                                                                              \
        0.0, 0.0, 1.0                                                                              \
    }
#define PIN(name, parent, axis, at, mass, com, ...)                                                \
    {                                                                                              \
        name, parent, SKETCH_PIN, at, axis, SKETCH_NONE, mass, com,                                \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const sketch_part trunk[] = {
    {"chest",
     NULL,
     SKETCH_FREE,
     {0, 0, 1.28},
     SKETCH_NONE,
     SKETCH_NONE,
     20.0,
     {0, 0, 1.28},
     {0.3, 0.25, 0.2}},
    PIN("viscera", "chest", SKETCH_Y, AT(0, 0, 1.2), 5.0, AT(0.05, 0, 1.1), 0.02, 0.02, 0.02),
    PIN("spine", "chest", SKETCH_X, AT(0, 0, 1.1), 1.0, AT(0, 0, 1.08), 0.005, 0.005, 0.005),
    PIN("pelvis", "spine", SKETCH_Y, AT(0, 0, 1.06), 11.0, AT(0, 0, 0.97), 0.1, 0.08, 0.1),
    PIN("n1", "chest", SKETCH_X, AT(0, 0, 1.48), 0.2, AT(0, 0, 1.48), 0.001, 0.001, 0.001),
    PIN("n2", "n1", SKETCH_Y, AT(0, 0, 1.48), 0.2, AT(0, 0, 1.48), 0.001, 0.001, 0.001),
    PIN("n3", "n2", SKETCH_Z, AT(0, 0, 1.48), 0.8, AT(0, 0, 1.53), 0.001, 0.001, 0.001),
    PIN("n4", "n3", SKETCH_X, AT(0, 0, 1.58), 0.2, AT(0, 0, 1.58), 0.001, 0.001, 0.001),
    PIN("n5", "n4", SKETCH_Y, AT(0, 0, 1.58), 0.2, AT(0, 0, 1.58), 0.001, 0.001, 0.001),
    PIN("head", "n5", SKETCH_Z, AT(0, 0, 1.58), 4.2, AT(0.02, 0, 1.67), 0.02, 0.025, 0.018),
};

static const sketch_part arm[] = {
    PIN("s1", "chest", SKETCH_X, AT(0, 0.18, 1.42), 0.3, AT(0, 0.18, 1.42), 0.001, 0.001, 0.001),
    PIN("s2", "s1", SKETCH_Y, AT(0, 0.18, 1.42), 0.3, AT(0, 0.18, 1.42), 0.001, 0.001, 0.001),
    PIN("upper_arm", "s2", SKETCH_Z, AT(0, 0.18, 1.42), 2.0, AT(0, 0.19, 1.28), 0.013, 0.013,
        0.003),
    PIN("forearm", "upper_arm", SKETCH_Y, AT(0, 0.19, 1.12), 1.0, AT(0, 0.19, 1.05), 0.003, 0.003,
        0.001),
    PIN("radius", "forearm", SKETCH_Z, AT(0, 0.19, 0.98), 0.6, AT(0, 0.19, 0.92), 0.0015, 0.0015,
        0.0006),
    PIN("palm", "radius", SKETCH_X, AT(0, 0.19, 0.86), 0.3, AT(0, 0.19, 0.82), 0.0003, 0.0003,
        0.0003),
    PIN("fingers_2_3", "palm", SKETCH_X, AT(0.015, 0.19, 0.78), 0.08, AT(0.015, 0.19, 0.74), 0.0001,
        0.0001, 0.0001),
    PIN("fingers_4_5", "palm", SKETCH_X, AT(-0.015, 0.19, 0.78), 0.07, AT(-0.015, 0.19, 0.745),
        0.0001, 0.0001, 0.0001),
    PIN("thumb", "palm", SKETCH_Y, AT(0.03, 0.19, 0.82), 0.05, AT(0.045, 0.19, 0.8), 0.00005,
        0.00005, 0.00005),
};

static const sketch_part leg[] = {
    PIN("h1", "pelvis", SKETCH_X, AT(0, 0.09, 0.93), 0.3, AT(0, 0.09, 0.93), 0.001, 0.001, 0.001),
    PIN("h2", "h1", SKETCH_Y, AT(0, 0.09, 0.93), 0.3, AT(0, 0.09, 0.93), 0.001, 0.001, 0.001),
    PIN("thigh", "h2", SKETCH_Z, AT(0, 0.09, 0.93), 8.5, AT(0, 0.09, 0.74), 0.13, 0.13, 0.03),
    PIN("shank", "thigh", SKETCH_Y, AT(0, 0.09, 0.5), 3.5, AT(0, 0.09, 0.31), 0.05, 0.05, 0.005),
    PIN("foot", "shank", SKETCH_Y, AT(0, 0.09, 0.08), 0.9, AT(0.05, 0.09, 0.04), 0.001, 0.004,
        0.004),
    PIN("toes", "foot", SKETCH_Y, AT(0.13, 0.09, 0.02), 0.2, AT(0.16, 0.09, 0.02), 0.0002, 0.0002,
        0.0002),
};

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
