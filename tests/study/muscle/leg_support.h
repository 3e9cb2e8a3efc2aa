// A leg that hangs from a pelvis: three pins about z, nine muscles. x is forward, y up; q = 0 is
// straight down. Hip flexion, knee extension and dorsiflexion are positive.
#ifndef TALUS_TEST_LEG_H
#define TALUS_TEST_LEG_H

#include "talus_test.h"

#include <talus/study.h>

enum {
    LEG_PELVIS, // Ground
    LEG_THIGH,
    LEG_SHANK,
    LEG_FOOT,
    LEG_MUSCLES = 9,
    LEG_POINTS = 3
};

typedef struct leg {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix body[4];
    tal_force_ix muscle[LEG_MUSCLES];
    tal_state *state;
} leg;

static const struct {
    const char *name;
    double F0;

    struct {
        int body;
        double x, y;
    } point[LEG_POINTS];

    int num_points;
} leg_muscles[LEG_MUSCLES] = {
    {"psoas", 1800.0, {{LEG_PELVIS, 0.05, 0.08}, {LEG_THIGH, 0.03, -0.10}}, 2},
    {"gluteus", 2200.0, {{LEG_PELVIS, -0.10, 0.05}, {LEG_THIGH, -0.04, -0.10}}, 2},
    {"hamstrings", 2000.0, {{LEG_PELVIS, -0.07, -0.02}, {LEG_SHANK, -0.04, -0.06}}, 2},
    {"rectus",
     1100.0,
     {{LEG_PELVIS, 0.06, 0.03}, {LEG_THIGH, 0.05, -0.36}, {LEG_SHANK, 0.05, -0.03}},
     3},
    {"vasti",
     3800.0,
     {{LEG_THIGH, 0.04, -0.20}, {LEG_THIGH, 0.05, -0.36}, {LEG_SHANK, 0.05, -0.03}},
     3},
    {"short_head", 500.0, {{LEG_THIGH, -0.02, -0.20}, {LEG_SHANK, -0.035, -0.05}}, 2},
    {"gastrocnemius", 1600.0, {{LEG_THIGH, -0.03, -0.37}, {LEG_FOOT, -0.05, -0.03}}, 2},
    {"soleus", 3000.0, {{LEG_SHANK, -0.02, -0.15}, {LEG_FOOT, -0.05, -0.03}}, 2},
    {"tibialis", 900.0, {{LEG_SHANK, 0.03, -0.15}, {LEG_FOOT, 0.06, -0.02}}, 2},
};

// Length of a muscle's path at q = 0, where bodies are one below the other.
static inline double leg_length(int m)
{
    static const double top[] = {0.0, 0.0, -0.4, -0.83};
    double length = 0.0;
    for (int i = 1; i < leg_muscles[m].num_points; ++i) {
        const double dx = leg_muscles[m].point[i].x - leg_muscles[m].point[i - 1].x;
        const double dy = leg_muscles[m].point[i].y + top[leg_muscles[m].point[i].body] -
                          leg_muscles[m].point[i - 1].y - top[leg_muscles[m].point[i - 1].body];
        length += sqrt(dx * dx + dy * dy);
    }
    return length;
}

static inline tal_body_ix leg_add_bone(leg *it, tal_body_ix parent, double mass, double length,
                                       double at, bool forward)
{
    tal_mobod_def def = tal_mobod_def_default();
    const tal_mass_props rod =
        tal_mass_props_cylinder(mass, 0.05, 0.5 * length, forward ? TAL_AXIS_X : TAL_AXIS_Y);
    const tal_xform X_BC =
        tal_xf_from_p(forward ? tal_v3(0.3 * length, -0.02, 0.0) : tal_v3(0.0, -0.5 * length, 0.0));
    def.mass = tal_mass_props_transform(&X_BC, &rod);
    def.X_PF = tal_xf_from_p(tal_v3(0.0, at, 0.0));
    return tal_matter_add_pin(it->matter, parent, &def);
}

static inline leg leg_begin(void)
{
    static const char *const names[] = {"hip", "knee", "ankle"};
    leg it = {.system = tal_system_create(NULL)};
    it.matter = tal_matter_create(it.system);
    it.forces = tal_forces_create(it.system, it.matter);
    it.body[LEG_PELVIS] = TAL_GROUND;
    it.body[LEG_THIGH] = leg_add_bone(&it, TAL_GROUND, 9.0, 0.4, 0.0, false);
    it.body[LEG_SHANK] = leg_add_bone(&it, it.body[LEG_THIGH], 3.6, 0.43, -0.4, false);
    it.body[LEG_FOOT] = leg_add_bone(&it, it.body[LEG_SHANK], 1.2, 0.22, -0.43, true);
    for (int b = 1; b < 4; ++b) {
        (void)tal_body_name_coordinate(it.matter, it.body[b], 0, names[b - 1]);
    }
    (void)tal_forces_add_gravity(it.forces, tal_v3(0.0, -9.80665, 0.0));
    return it;
}

static inline void leg_add_muscles(leg *it, tal_muscle_model model, bool rigid)
{
    for (int m = 0; m < LEG_MUSCLES; ++m) {
        tal_muscle_def def = tal_muscle_def_default(model);
        def.path = tal_forces_add_path(it->forces, leg_muscles[m].name);
        for (int i = 0; i < leg_muscles[m].num_points; ++i) {
            const tal_vec3 p = tal_v3(leg_muscles[m].point[i].x, leg_muscles[m].point[i].y, 0.0);
            (void)tal_path_add_point(it->forces, def.path, it->body[leg_muscles[m].point[i].body],
                                     p);
        }
        const double length = leg_length(m);
        def.max_force = leg_muscles[m].F0;
        def.fiber_length = 0.45 * length;
        def.tendon_length = 0.55 * length;
        def.rigid_tendon = rigid;
        it->muscle[m] = tal_forces_add_muscle(it->forces, leg_muscles[m].name, &def);
    }
}

static inline void leg_finish(leg *it)
{
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(it->system, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    st = tal_state_create(it->system, &it->state, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
}

static inline void leg_end(leg *it)
{
    tal_state_destroy(it->state);
    tal_system_destroy(it->system);
}

#endif // TALUS_TEST_LEG_H
