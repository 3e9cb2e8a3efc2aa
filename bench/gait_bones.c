// The bones of a model of walking; lengths and masses are those of nobody in particular.
#include "gait_bones.h"

#include <stdio.h>
#include <stdlib.h>

static tal_mobod_def bone(double mass, double length, tal_vec3 at)
{
    tal_mobod_def def = tal_mobod_def_default();
    const tal_mass_props rod = tal_mass_props_cylinder(mass, 0.06, 0.5 * length, TAL_AXIS_Y);
    const tal_xform X_BC = tal_xf_from_p(tal_v3(0.0, -0.5 * length, 0.0));
    def.mass = tal_mass_props_transform(&X_BC, &rod);
    def.X_PF = tal_xf_from_p(at);
    def.use_angles = true;
    return def;
}

// `b` are the bodies of the leg.
static void add_leg(tal_matter *matter, tal_body_ix pelvis, tal_body_ix b[GAIT_LEG], double side)
{
    tal_mobod_def def = bone(9.0, 0.4, tal_v3(0.0, -0.07, 0.08 * side));
    b[0] = tal_matter_add_gimbal(matter, pelvis, &def);
    def = bone(3.5, 0.43, tal_v3(0.0, -0.4, 0.0));
    b[1] = tal_matter_add_pin(matter, b[0], &def);
    def = bone(0.2, 0.05, tal_v3(0.0, -0.43, 0.0));
    b[2] = tal_matter_add_pin(matter, b[1], &def);
    def = bone(1.2, 0.1, tal_v3(-0.04, -0.04, 0.0));
    b[3] = tal_matter_add_pin(matter, b[2], &def);
    def = bone(0.3, 0.06, tal_v3(0.18, 0.0, 0.0));
    b[4] = tal_matter_add_pin(matter, b[3], &def);
}

void gait_add_bones(tal_matter *matter, tal_body_ix body[GAIT_NUM_BODIES])
{
    tal_mobod_def def = bone(11.0, 0.15, TAL_VEC3_ZERO);
    body[GAIT_PELVIS] = tal_matter_add_free(matter, TAL_GROUND, &def);
    def = bone(32.0, 0.5, tal_v3(-0.1, 0.08, 0.0));
    body[GAIT_TORSO] = tal_matter_add_gimbal(matter, body[GAIT_PELVIS], &def);
    add_leg(matter, body[GAIT_PELVIS], body + GAIT_FEMUR, 1.0);
    add_leg(matter, body[GAIT_PELVIS], body + GAIT_FEMUR + GAIT_LEG, -1.0);
}

// `b` are the bodies of the arm.
static void add_arm(tal_matter *matter, tal_body_ix torso, tal_body_ix b[GAIT_ARM], double side)
{
    tal_mobod_def def = bone(2.0, 0.3, tal_v3(0.0, 0.4, 0.18 * side));
    b[0] = tal_matter_add_gimbal(matter, torso, &def);
    def = bone(0.8, 0.25, tal_v3(0.0, -0.3, 0.0));
    b[1] = tal_matter_add_pin(matter, b[0], &def);
    def = bone(0.6, 0.24, tal_v3(0.01, -0.02, 0.01 * side));
    def.X_PF.R =
        tal_rotation_from_angle_axis(1.6, tal_v3(1.0, 0.0, 0.0)); // it turns about its length
    def.X_BM.R = def.X_PF.R;
    b[2] = tal_matter_add_pin(matter, b[1], &def);
    def = bone(0.5, 0.1, tal_v3(0.0, -0.24, 0.0));
    b[3] = tal_matter_add_universal(matter, b[2], &def);
}

// A kneecap that turns about its femur by 0.7 of what the knee does.
static tal_body_ix add_patella(tal_matter *matter, tal_body_ix femur, tal_body_ix tibia)
{
    static const double slope[] = {0.7, -1.0};
    const tal_mobod_def def = bone(0.1, 0.04, tal_v3(0.0, -0.4, 0.0));
    const tal_body_ix patella = tal_matter_add_pin(matter, femur, &def);
    tal_function *f = NULL;
    tal_error err;
    if (tal_function_create_linear(NULL, slope, 2, 0.0, &f, &err) != TAL_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(EXIT_FAILURE);
    }
    tal_constraint_def follow = tal_constraint_def_default();
    follow.num_mobilities = 2;
    follow.mobilities[0].body = tibia;
    follow.mobilities[1].body = patella;
    (void)tal_constraint_add_coordinate_coupler(matter, &follow, f);
    return patella;
}

void gait_add_whole(tal_matter *matter, tal_body_ix body[GAIT_NUM_WHOLE])
{
    gait_add_bones(matter, body);
    add_arm(matter, body[GAIT_TORSO], body + GAIT_HUMERUS, 1.0);
    add_arm(matter, body[GAIT_TORSO], body + GAIT_HUMERUS + GAIT_ARM, -1.0);
    body[GAIT_PATELLA] = add_patella(matter, body[GAIT_FEMUR], body[GAIT_TIBIA]);
    body[GAIT_PATELLA + 1] =
        add_patella(matter, body[GAIT_FEMUR + GAIT_LEG], body[GAIT_TIBIA + GAIT_LEG]);
}
