// Programs that build muscles, controllers and forces over time as the files of model_cases.h do.
#ifndef TALUS_MODEL_CASES_MUSCLES_H
#define TALUS_MODEL_CASES_MUSCLES_H

#include "model_cases_paths.h"

#define CASE_MUSCLE "name='x' path='p' max_force='30' fiber_length='0.5' tendon_length='0.7' "
#define CASE_CALF                                                                                  \
    "<thelen name='calf' path='p' max_force='30' fiber_length='0.5' "                              \
    "tendon_length='0.7' z='0.3 0.4'/>"
// what measures and controllers are about
#define CALF_FOR_MEASURE                                                                           \
    "<time name='x'/></measures><paths><path name='p'>" PATH_ENDS                                  \
    "</path></paths><forces>" CASE_CALF "</forces><measures>"
#define CALF_FOR_CONTROLLER                                                                        \
    "</controllers><paths><path name='p'>" PATH_ENDS "</path></paths><measures><time name='t'/>"   \
    "</measures><forces>" CASE_CALF "</forces><controllers>"

static inline tal_muscle_def sized_muscle(built *m, tal_muscle_model model)
{
    tal_muscle_def def = tal_muscle_def_default(model);
    def.path = plain_path(m);
    def.max_force = 30.0;
    def.fiber_length = 0.5;
    def.tendon_length = 0.7;
    return def;
}

static inline void start_z(built *m)
{
    tal_state_upd_z(m->state)[0] = 0.3;
    tal_state_upd_z(m->state)[1] = 0.4;
}

static inline void case_thelen(built *m)
{
    tal_muscle_def def = sized_muscle(m, TAL_MUSCLE_THELEN);
    def.pennation = 0.2;
    def.thelen.active_width = 0.5;
    def.thelen.threshold = 0.9;
    (void)tal_forces_add_muscle(m->forces, "x", &def);
}

static inline void case_millard(built *m)
{
    tal_muscle_def def = sized_muscle(m, TAL_MUSCLE_MILLARD);
    def.damping = 0.2;
    def.millard.tendon_strain = 0.06;
    def.millard.eccentric_curviness = 0.8;
    def.initial_activation = 0.3;
    def.initial_fiber_length = 0.4;
    m->force = tal_forces_add_muscle(m->forces, "x", &def);
}

static inline void start_millard(built *m)
{
    (void)tal_muscle_set_control(m->forces, m->state, m->force, 0.6);
    (void)tal_actuator_set_control_range(m->forces, m->state, m->force, 0.1, 0.8);
}

static inline void case_degroote(built *m)
{
    tal_muscle_def def = sized_muscle(m, TAL_MUSCLE_DEGROOTE);
    def.implicit = true;
    def.initial_tendon_force = 0.2;
    def.degroote.active_width = 1.1;
    m->force = tal_forces_add_muscle(m->forces, "x", &def);
}

static inline void start_degroote(built *m)
{
    (void)tal_force_set_param(m->forces, m->state, m->force, TAL_MUSCLE_TENDON_FORCE_RATE, 0.7);
    (void)tal_muscle_override(m->forces, m->state, m->force, 12.0);
}

static inline void case_muscle(built *m)
{
    const double c[3] = {0.5, 0.2, -0.7};
    tal_muscle_def def = sized_muscle(m, TAL_MUSCLE_CURVES);
    tal_function **curves[3] = {&def.active, &def.velocity, &def.passive};
    for (int k = 0; k < 3; ++k) {
        ck_assert_int_eq(tal_function_create_polynomial(NULL, c, 3, curves[k], NULL), TAL_OK);
    }
    def.damping = 0.3;
    (void)tal_forces_add_muscle(m->forces, "x", &def);
}

static inline void case_prescribed_force(built *m)
{
    const double c[3] = {0.5, 0.2, -0.7};
    tal_prescribed_force_def def = tal_prescribed_force_def_default();
    def.body = m->c;
    def.force_frame = m->e;
    tal_function **functions[3] = {&def.force[1], &def.point[0], &def.torque[2]};
    for (int k = 0; k < 3; ++k) {
        ck_assert_int_eq(tal_function_create_polynomial(NULL, c, 3, functions[k], NULL), TAL_OK);
    }
    (void)tal_forces_add_prescribed_force(m->forces, "x", &def);
}

// Paths, the time, the calf: in the order of a file.
static inline tal_force_ix add_calf(built *m, const char *time)
{
    const tal_muscle_def def = sized_muscle(m, TAL_MUSCLE_THELEN);
    (void)tal_measure_add_time(m->system, tal_matter_subsystem(m->matter), time);
    return tal_forces_add_muscle(m->forces, "calf", &def);
}

static inline void case_muscle_output(built *m)
{
    const tal_force_ix calf = add_calf(m, "x");
    (void)tal_measure_add_muscle_output(m->forces, "y", calf, TAL_MUSCLE_TENDON_POWER);
    drive_by_path(m, (tal_measure_ix){0});
}

static inline void case_metabolics(built *m)
{
    tal_metabolics def = tal_metabolics_default(TAL_METABOLICS_BHARGAVA);
    def.uses_force_shortening = true;
    def.has_least_heat = false;
    def.mass = 0.4;
    const tal_force_ix calf = add_calf(m, "x");
    (void)tal_measure_add_metabolics(m->forces, "y", calf, &def);
    drive_by_path(m, (tal_measure_ix){0});
}

static inline void case_path_tension(built *m)
{
    const tal_path_ix path = plain_path(m);
    (void)tal_measure_add_time(m->system, tal_matter_subsystem(m->matter), "x");
    const tal_force_ix spring = tal_forces_add_path_spring(m->forces, "s", path, 30.0, 0.1, 0.2);
    (void)tal_measure_add_path_tension(m->forces, "y", spring);
    drive_by_path(m, (tal_measure_ix){0});
}

static inline void case_function_controller(built *m)
{
    const double c[3] = {0.5, 0.2, -0.7};
    const tal_force_ix calf = add_calf(m, "t");
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_polynomial(NULL, c, 3, &f, NULL), TAL_OK);
    (void)tal_forces_add_function_controller(m->forces, "x", &calf, &f, 1);
}

static inline void case_measure_controller(built *m)
{
    const tal_force_ix calf = add_calf(m, "t");
    (void)tal_forces_add_measure_controller(m->forces, "x", calf, 0.4, (tal_measure_ix){0});
}

static inline void case_reflex(built *m)
{
    (void)tal_forces_add_reflex(m->forces, "x", add_calf(m, "t"), 0.4);
}

static inline void start_reflex(built *m)
{
    start_z(m);
    (void)tal_controller_set_enabled(m->forces, m->state, (tal_controller_ix){0}, false);
}

static inline void case_feedback(built *m)
{
    const double c[3] = {0.5, 0.2, -0.7};
    const tal_force_ix calf = add_calf(m, "t");
    tal_feedback feedback = {.mobility = {m->b, 0}, .stiffness = 2.0, .damping = 0.3};
    ck_assert_int_eq(tal_function_create_polynomial(NULL, c, 3, &feedback.target, NULL), TAL_OK);
    (void)tal_forces_add_feedback(m->forces, "x", calf, &feedback);
}

#endif // TALUS_MODEL_CASES_MUSCLES_H
