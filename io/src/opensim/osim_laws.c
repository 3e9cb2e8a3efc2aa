// Forces by expressions and functions, and bushings of all kinds.
#include "opensim/osim_internal.h"
#include "text/expression_internal.h"

#include <string.h>

// The arguments of expressions, as OpenSim names them.
static const char coordinate_arguments[] = "q qdot";
static const char distance_arguments[] = "d ddot";
static const char *const deformations[] = {"theta_x", "theta_y", "theta_z",
                                           "delta_x", "delta_y", "delta_z"};
static const char all_deformations[] = "theta_x theta_y theta_z delta_x delta_y delta_z";

// --- reading ---

// An expression of these arguments; zero where there is none. NULL, and an error, when it is wrong.
static tal_function *read_expression(tali_osim *o, const tali_osim_force *f, const char *property,
                                     const char *arguments)
{
    const tali_xml_element *e = tali_osim_property(f->element, property);
    const char *text = tali_osim_text(f->element, property);
    tal_function *made = NULL;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tali_expression_create(&o->arena.allocator, text != NULL ? text : "0.0",
                                                 arguments, &made, &err);
    o->no_memory = o->no_memory || st == TAL_ERR_NO_MEMORY;
    if (st != TAL_OK) tali_osim_error(o, e != NULL ? e : f->element, ": %s", err.message);
    return made;
}

void tali_osim_read_coordinate_law(tali_osim *o, tali_osim_force *f)
{
    tali_osim_read_force_coordinate(o, f);
    f->functions[0] = read_expression(o, f, "expression", coordinate_arguments);
}

void tali_osim_read_two_point_law(tali_osim *o, tali_osim_force *f)
{
    tali_osim_read_two_points(o, f);
    f->functions[0] = read_expression(o, f, "expression", distance_arguments);
}

// Frames, and numbers of these names: about x, y, z, then along them.
static void read_bushing(tali_osim *o, tali_osim_force *f, const char *const names[], int first)
{
    static const tali_osim_place places[] = {
        {"frame1", "body_1", "location_body_1", "orientation_body_1"},
        {"frame2", "body_2", "location_body_2", "orientation_body_2"}};
    (void)tali_osim_read_place(o, f->element, &places[0], &f->body1, &f->X_1);
    (void)tali_osim_read_place(o, f->element, &places[1], &f->body2, &f->X_2);
    for (int i = first; i < 4; ++i) {
        (void)tali_osim_numbers(o, f->element, names[i], 3, &f->numbers[3 * i]);
    }
}

// Six stiffnesses, then six dampings.
static const char *const bushing_numbers[] = {"rotational_stiffness", "translational_stiffness",
                                              "rotational_damping", "translational_damping"};

void tali_osim_read_bushing(tali_osim *o, tali_osim_force *f)
{
    read_bushing(o, f, bushing_numbers, 0);
}

void tali_osim_read_function_bushing(tali_osim *o, tali_osim_force *f)
{
    static const char *const names[] = {"m_x_theta_x_function", "m_y_theta_y_function",
                                        "m_z_theta_z_function", "f_x_delta_x_function",
                                        "f_y_delta_y_function", "f_z_delta_z_function"};
    read_bushing(o, f, bushing_numbers, 2);
    for (int i = 0; i < 6; ++i) {
        const tali_xml_element *e = tali_osim_object(f->element, names[i]);
        if (e != NULL) f->functions[i] = tali_osim_read_function(o, e, 1);
    }
}

// An expression that uses its own deformation alone is a function of that, and has an energy.
static bool uses_only(const tali_osim *o, const char *text, const char *argument)
{
    tal_function *made = NULL;
    tal_error err;
    const tal_status st = tali_expression_create(&o->arena.allocator, text, argument, &made, &err);
    tal_function_destroy(made);
    return st == TAL_OK;
}

void tali_osim_read_expression_bushing(tali_osim *o, tali_osim_force *f)
{
    static const char *const names[] = {"Mx_expression", "My_expression", "Mz_expression",
                                        "Fx_expression", "Fy_expression", "Fz_expression"};
    read_bushing(o, f, bushing_numbers, 2);
    for (int i = 0; i < 6; ++i) {
        const char *text = tali_osim_text(f->element, names[i]);
        if (text == NULL) continue;
        const bool own = uses_only(o, text, deformations[i]);
        f->functions[i] = read_expression(o, f, names[i], own ? deformations[i] : all_deformations);
    }
}

// --- adding ---

static tal_function *hand_over(tali_osim_force *f)
{
    tal_function *law = f->functions[0];
    f->functions[0] = NULL; // adopted whether it succeeds or not
    return law;
}

tal_force_ix tali_osim_add_coordinate_law(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    return tal_forces_add_mobility_law(model->forces, f->name,
                                       o->coordinates[f->coordinate].mobility, hand_over(f));
}

tal_force_ix tali_osim_add_two_point_law(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_two_points points = {o->bodies[f->body1].body, f->X_1.p, o->bodies[f->body2].body,
                                   f->X_2.p};
    return tal_forces_add_two_point_law(model->forces, f->name, &points, hand_over(f));
}

tal_force_ix tali_osim_add_bushing(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    tal_bushing_def def = tal_bushing_def_default();
    def.body1 = o->bodies[f->body1].body;
    def.body2 = o->bodies[f->body2].body;
    def.X_B1F = f->X_1;
    def.X_B2M = f->X_2;
    memcpy(def.stiffness, &f->numbers[0], sizeof def.stiffness);
    memcpy(def.damping, &f->numbers[6], sizeof def.damping);
    memcpy(def.law, f->functions, sizeof def.law);
    memset(f->functions, 0, sizeof f->functions); // adopted whether it succeeds or not
    return tal_forces_add_bushing(model->forces, f->name, &def);
}
