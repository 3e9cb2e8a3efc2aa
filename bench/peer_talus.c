// Talus as a contestant: everything through the State, gravity included, by public headers only.
#include "contestant.h"

#include <talus/matter/applied.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- gravity ---

typedef struct gravity {
    const tal_matter *matter;
    tal_vec3 *mc; ///< [num_bodies] mass times com, in M
    double *mass; ///< [num_bodies]
} gravity;

static tal_status apply_gravity(const void *context, const tal_system *system, tal_state *state)
{
    (void)system;
    const gravity *self = context;
    const tal_bodies_view poses = tal_matter_poses(self->matter, state);
    const tal_applied_forces to = tal_matter_upd_forces(self->matter, state);
    for (int b = 1; b < poses.num_bodies; ++b) {
        const tal_vec3 mc_G = tal_m3_mul_v3(tal_view_X_GM(&poses, b)->R, self->mc[b]);
        const tal_vec3 weight = tal_v3_scale(self->mass[b], MODEL_GRAVITY);
        to.F[b].w = tal_v3_add(to.F[b].w, tal_v3_cross(mc_G, MODEL_GRAVITY));
        to.F[b].v = tal_v3_add(to.F[b].v, weight);
    }
    return TAL_OK;
}

static const tal_subsystem_ops gravity_ops = {
    .size = sizeof gravity_ops,
    .name = "gravity",
    .realize_dynamics = apply_gravity,
};

// --- the model ---

typedef struct talus_peer {
    const model *m;
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_state *copy;
    gravity gravity;
    double *out; ///< [max(nu^2, 6 nu)]
} talus_peer;

_Noreturn static void stop(const tal_error *error)
{
    (void)fprintf(stderr, "bench: Talus says: %s: %s\n", error->where, error->message);
    exit(EXIT_FAILURE);
}

static void add_bodies(talus_peer *self, const model *m)
{
    for (int b = 1; b < m->num_bodies; ++b) {
        const model_body *from = &m->bodies[b];
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = from->mass;
        def.X_PF = from->X_PF;
        const tal_body_ix parent = {from->parent};
        if (from->joint == MODEL_PIN) (void)tal_matter_add_pin(self->matter, parent, &def);
        if (from->joint == MODEL_BALL) (void)tal_matter_add_ball(self->matter, parent, &def);
        if (from->joint == MODEL_FREE) (void)tal_matter_add_free(self->matter, parent, &def);
    }
}

static void add_gravity(talus_peer *self, const model *m)
{
    gravity *g = &self->gravity;
    g->matter = self->matter;
    g->mc = calloc((size_t)m->num_bodies, sizeof *g->mc);
    g->mass = calloc((size_t)m->num_bodies, sizeof *g->mass);
    for (int b = 1; b < m->num_bodies; ++b) {
        g->mc[b] = tal_v3_scale(m->bodies[b].mass.mass, m->bodies[b].mass.com);
        g->mass[b] = m->bodies[b].mass.mass;
    }
    (void)tal_system_add_subsystem(self->system, "gravity", &gravity_ops, g);
}

static void *create(const model *m)
{
    talus_peer *self = calloc(1, sizeof *self);
    if (self == NULL) exit(EXIT_FAILURE);
    self->m = m;
    self->system = tal_system_create(NULL);
    self->matter = tal_matter_create(self->system);
    add_bodies(self, m);
    add_gravity(self, m);
    tal_error error;
    if (tal_system_realize_topology(self->system, &error) != TAL_OK ||
        tal_state_create(self->system, &self->state, &error) != TAL_OK ||
        tal_state_create(self->system, &self->copy, &error) != TAL_OK) {
        stop(&error);
    }
    self->out = calloc((size_t)m->nu * (size_t)m->nu + 6 * (size_t)m->nu, sizeof(double));
    return self;
}

static void destroy(void *context)
{
    talus_peer *self = context;
    tal_state_destroy(self->state);
    tal_state_destroy(self->copy);
    tal_system_destroy(self->system);
    free(self->gravity.mc);
    free(self->gravity.mass);
    free(self->out);
    free(self);
}

// --- what it computes ---

static bool can(const void *self, quantity what, bool fresh)
{
    (void)self;
    if (what == STATE_COPY) return !fresh;
    return fresh && (what == KINEMATICS || what == FORWARD);
}

static void set_values(talus_peer *self, int k)
{
    const model *m = self->m;
    memcpy(tal_state_upd_q(self->state), m->q[k], (size_t)m->nq * sizeof(double));
    memcpy(tal_state_upd_u(self->state), m->u[k], (size_t)m->nu * sizeof(double));
}

static void realize(talus_peer *self, tal_stage stage)
{
    if (tal_system_realize(self->system, self->state, stage) == TAL_OK) return;
    stop(tal_state_error(self->state));
}

static void compute(talus_peer *self, quantity what, bool fresh, int k)
{
    if (fresh) set_values(self, k);
    switch (what) {
    case KINEMATICS:
        realize(self, TAL_STAGE_VELOCITY);
        break;
    case FORWARD:
        realize(self, TAL_STAGE_ACCELERATION);
        break;
    case STATE_COPY:
        (void)tal_state_copy(self->copy, self->state);
        break;
    default:
        break;
    }
}

static void run(void *self, quantity what, bool fresh, long count)
{
    for (long i = 0; i < count; ++i) {
        compute(self, what, fresh, (int)(i % MODEL_SETS));
    }
}

static void answer(void *context, quantity what, double out[])
{
    talus_peer *self = context;
    const model *m = self->m;
    compute(self, what, true, 0);
    if (what == FORWARD) {
        memcpy(out, tal_state_udot(self->state), (size_t)m->nu * sizeof(double));
    } else if (what == KINEMATICS) {
        const int last = m->num_bodies - 1;
        const tal_bodies_view poses = tal_matter_poses(self->matter, self->state);
        const tal_bodies_view velocities = tal_matter_velocities(self->matter, self->state);
        memcpy(out, tal_view_X_GM(&poses, last), 12 * sizeof(double));
        memcpy(out + 12, tal_view_V_GM(&velocities, last), 6 * sizeof(double));
    }
}

const contestant contestant_talus = {"Talus", create, destroy, can, run, answer};
