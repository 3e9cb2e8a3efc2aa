// A model as a System of Talus.
#include "build_talus.h"

#include <talus/forces/mobility.h>
#include <talus/forces/two_point.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void talus_stop(const tal_error *error)
{
    (void)fprintf(stderr, "bench: Talus says: %s: %s\n", error->where, error->message);
    exit(EXIT_FAILURE);
}

static void add_bodies(tal_matter *matter, const model *m)
{
    for (int b = 1; b < m->num_bodies; ++b) {
        const model_body *from = &m->bodies[b];
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = from->mass;
        def.X_PF = from->X_PF;
        const tal_body_ix parent = {from->parent};
        if (from->joint == MODEL_PIN) (void)tal_matter_add_pin(matter, parent, &def);
        if (from->joint == MODEL_BALL) (void)tal_matter_add_ball(matter, parent, &def);
        if (from->joint == MODEL_FREE) (void)tal_matter_add_free(matter, parent, &def);
    }
}

static void add_loops(tal_matter *matter, const model *m)
{
    for (int i = 0; i < m->num_loops; ++i) {
        const model_loop *from = &m->loops[i];
        const tal_vec3 at1 = from->stations[0], at2 = from->stations[1];
        const tal_body_ix body1 = {from->bodies[0]}, body2 = {from->bodies[1]};
        const tal_constraint_def def = tal_constraint_between(body1, body2);
        if (from->tie == MODEL_TIE_BALL) (void)tal_constraint_add_ball(matter, &def, at1, at2);
        if (from->tie == MODEL_TIE_LINE) {
            const tal_vec3 z = tal_v3(0.0, 0.0, 1.0);
            (void)tal_constraint_add_point_on_line(matter, &def, z, at1, at2);
        }
        if (from->tie == MODEL_TIE_ROD) {
            (void)tal_constraint_add_rod(matter, &def, at1, at2, from->length);
        }
    }
}

static void add_forces(talus_model *t, const model *m)
{
    t->gravity = (tal_force_ix){-1};
    if (m->has_gravity) t->gravity = tal_forces_add_gravity(t->forces, MODEL_GRAVITY);
    for (int i = 0; i < m->num_springs; ++i) {
        const model_spring *from = &m->springs[i];
        const tal_two_points points = {
            {from->bodies[0]}, from->stations[0], {from->bodies[1]}, from->stations[1]};
        (void)tal_forces_add_two_point_spring(t->forces, NULL, &points, from->stiffness,
                                              from->rest_length);
    }
    if (m->motor != 0.0) {
        const tal_mobility first = {{1}, 0};
        (void)tal_forces_add_mobility_force(t->forces, NULL, first, m->motor);
    }
}

talus_model talus_build(const model *m)
{
    talus_model t = {.system = tal_system_create(NULL)};
    t.matter = tal_matter_create(t.system);
    add_bodies(t.matter, m);
    add_loops(t.matter, m);
    t.forces = tal_forces_create(t.system, t.matter);
    add_forces(&t, m);
    tal_error error;
    if (tal_system_realize_topology(t.system, &error) != TAL_OK ||
        tal_state_create(t.system, &t.state, &error) != TAL_OK) {
        talus_stop(&error);
    }
    return t;
}

void talus_free(talus_model *t)
{
    tal_state_destroy(t->state);
    tal_system_destroy(t->system);
    *t = (talus_model){.system = NULL};
}

void talus_set_values(talus_model *t, const model *m, int k)
{
    memcpy(tal_state_upd_q(t->state), m->q[k], (size_t)m->nq * sizeof(double));
    memcpy(tal_state_upd_u(t->state), m->u[k], (size_t)m->nu * sizeof(double));
}

void talus_require(const talus_model *t, tal_status status)
{
    if (status != TAL_OK) talus_stop(tal_state_error(t->state));
}

void talus_realize(talus_model *t, tal_stage stage)
{
    talus_require(t, tal_system_realize(t->system, t->state, stage));
}
