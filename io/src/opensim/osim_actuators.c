// Actuators: from their elements, and into the System.
#include "opensim/osim_internal.h"

// --- reading ---

void tali_osim_read_coordinate_actuator(tali_osim *o, tali_osim_force *f)
{
    tali_osim_read_force_coordinate(o, f);
    f->numbers[0] = tali_osim_number(o, f->element, "optimal_force", 1.0);
}

// Its activation is where a clutched spring has its stretch.
void tali_osim_read_activation_actuator(tali_osim *o, tali_osim_force *f)
{
    tali_osim_read_coordinate_actuator(o, f);
    f->numbers[1] = tali_osim_number(o, f->element, "activation_time_constant", 0.01);
    f->numbers[3] = tali_osim_number(o, f->element, "default_activation", 0.5);
}

void tali_osim_read_point_actuator(tali_osim *o, tali_osim_force *f)
{
    static const tali_osim_place place = {"body", "body", "point", NULL};
    const tali_xml_element *e = f->element;
    (void)tali_osim_read_place(o, e, &place, &f->body1, &f->X_1);
    f->direction = tali_osim_vec3(o, e, "direction", tal_v3(1.0, 0.0, 0.0));
    f->in_body = !tali_osim_bool(o, e, "force_is_global", false);
    f->numbers[0] = tali_osim_number(o, e, "optimal_force", 1.0);
    f->point_in_ground = tali_osim_bool(o, e, "point_is_global", false);
    if (f->point_in_ground) f->X_1.p = tali_osim_vec3(o, e, "point", TAL_VEC3_ZERO);
}

// On A, and the opposite on B, which is ground when it is not named.
void tali_osim_read_torque_actuator(tali_osim *o, tali_osim_force *f)
{
    static const tali_osim_place places[] = {{"bodyA", "bodyA", NULL, NULL},
                                             {"bodyB", "bodyB", NULL, NULL}};
    const tali_xml_element *e = f->element;
    const bool has_b = tali_osim_socket(e, "bodyB") != NULL || tali_osim_text(e, "bodyB") != NULL;
    (void)tali_osim_read_place(o, e, &places[0], &f->body1, &f->X_1);
    f->body2 = 0;
    if (has_b) (void)tali_osim_read_place(o, e, &places[1], &f->body2, &f->X_2);
    f->direction = tali_osim_vec3(o, e, "axis", tal_v3(0.0, 0.0, 1.0));
    f->in_body = !tali_osim_bool(o, e, "torque_is_global", true);
    f->numbers[0] = tali_osim_number(o, e, "optimal_force", 1.0);
}

void tali_osim_read_body_actuator(tali_osim *o, tali_osim_force *f)
{
    static const tali_osim_place place = {"body", "body", "point", NULL};
    const tali_xml_element *e = f->element;
    (void)tali_osim_read_place(o, e, &place, &f->body1, &f->X_1);
    f->in_body = !tali_osim_bool(o, e, "spatial_force_is_global", true);
    if (tali_osim_bool(o, e, "point_is_global", false)) {
        tali_osim_error(o, e, ": a point that is fixed in ground is not read");
    }
}

// --- adding ---

static const tal_measure_ix no_measure = {-1};

tal_force_ix tali_osim_add_coordinate_actuator(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    return tal_forces_add_mobility_actuator(
        model->forces, f->name, o->coordinates[f->coordinate].mobility, f->numbers[0], no_measure);
}

tal_force_ix tali_osim_add_activation_actuator(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    return tal_forces_add_activation_actuator(model->forces, f->name,
                                              o->coordinates[f->coordinate].mobility, f->numbers[0],
                                              f->numbers[1], no_measure);
}

tal_force_ix tali_osim_add_point_actuator(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_push push = {.body = o->bodies[f->body1].body,
                           .p_BS = f->X_1.p,
                           .direction = f->direction,
                           .in_body = f->in_body,
                           .point_in_ground = f->point_in_ground};
    return tal_forces_add_point_actuator(model->forces, f->name, &push, f->numbers[0], no_measure);
}

// Ours is about an axis of body 1 or of Ground, and body 2 feels the torque.
tal_force_ix tali_osim_add_torque_actuator(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_body_ix a = o->bodies[f->body1].body, b = o->bodies[f->body2].body;
    const tal_vec3 axis_A = tal_m3_mul_v3(f->X_1.R, f->direction);
    const tal_twist twist =
        f->in_body ? (tal_twist){.body1 = a, .body2 = b, .axis = tal_v3_neg(axis_A)}
                   : (tal_twist){.body1 = b, .body2 = a, .axis = f->direction, .in_ground = true};
    return tal_forces_add_torque_actuator(model->forces, f->name, &twist, f->numbers[0],
                                          no_measure);
}

tal_force_ix tali_osim_add_body_actuator(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_thrust thrust = {
        .body = o->bodies[f->body1].body, .p_BS = f->X_1.p, .in_body = f->in_body};
    return tal_forces_add_body_actuator(model->forces, f->name, &thrust, 1.0, no_measure);
}
