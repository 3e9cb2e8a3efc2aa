// A model with a State and a fixed stepper.
#include "garage.h"

tal_status garage_open(garage *it, garage_add_fn add, const void *options,
                       const tal_fixed_stepper_def *def)
{
    *it = (garage){.system = tal_system_create(NULL)};
    tal_matter *matter = tal_matter_create(it->system);
    tal_forces *forces = tal_forces_create(it->system, matter);
    (void)tal_fixed_memory_create(it->system);
    it->drawn = add(matter, forces, options);
    tal_status st = tal_system_realize_topology(it->system, &it->err);
    if (st == TAL_OK) st = tal_state_create(it->system, &it->state, &it->err);
    if (st == TAL_OK) st = tal_system_realize(it->system, it->state, TAL_STAGE_MODEL);
    if (st == TAL_OK) st = tal_fixed_stepper_create(it->system, def, &it->stepper, &it->err);
    return st;
}

// The speeds of a free body are its angular velocity, then the velocity of its origin.
void garage_push(garage *it, tal_vec3 v)
{
    const tal_body_ix first = {1};
    (void)tal_body_set_u(it->drawn.matter, it->state, first, 3, v.x);
    (void)tal_body_set_u(it->drawn.matter, it->state, first, 4, v.y);
    (void)tal_body_set_u(it->drawn.matter, it->state, first, 5, v.z);
}

tal_status garage_run_to(garage *it, double t)
{
    const tal_status st = tal_fixed_stepper_step_to(it->stepper, it->state, t);
    if (st != TAL_OK) it->err = *tal_fixed_stepper_error(it->stepper);
    return st;
}

tal_vec3 garage_place(const garage *it)
{
    const tal_body_ix first = {1};
    return tal_body_X_GB(it->drawn.matter, it->state, first).p;
}

void garage_close(garage *it)
{
    tal_fixed_stepper_destroy(it->stepper);
    tal_state_destroy(it->state);
    tal_system_destroy(it->system);
}
