// Talus as a contestant: everything through the State, gravity included, by public headers only.
#include "contestant.h"

#include <talus/forces.h>
#include <talus/matter/operators.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- the model ---

typedef struct talus_peer {
    const model *m;
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_state *copy;
    tal_forces *forces;
    tal_force_ix gravity;
    tal_spatial_vec *F; ///< [num_bodies]
    double *f;          ///< [nu]
    double *out;        ///< [nu] numbers, M or J
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

static void *create(const model *m)
{
    talus_peer *self = calloc(1, sizeof *self);
    if (self == NULL) exit(EXIT_FAILURE);
    self->m = m;
    self->system = tal_system_create(NULL);
    self->matter = tal_matter_create(self->system);
    add_bodies(self, m);
    self->forces = tal_forces_create(self->system, self->matter);
    self->gravity = tal_forces_add_gravity(self->forces, MODEL_GRAVITY);
    tal_error error;
    if (tal_system_realize_topology(self->system, &error) != TAL_OK ||
        tal_state_create(self->system, &self->state, &error) != TAL_OK ||
        tal_state_create(self->system, &self->copy, &error) != TAL_OK) {
        stop(&error);
    }
    const size_t nu = (size_t)m->nu;
    self->F = calloc((size_t)m->num_bodies, sizeof *self->F);
    self->f = calloc(nu, sizeof *self->f);
    self->out = calloc((nu <= MODEL_MOST_EXPLICIT ? nu * nu : nu) + 6 * nu, sizeof *self->out);
    if (self->F == NULL || self->f == NULL || self->out == NULL) exit(EXIT_FAILURE);
    return self;
}

static void destroy(void *context)
{
    talus_peer *self = context;
    tal_state_destroy(self->state);
    tal_state_destroy(self->copy);
    tal_system_destroy(self->system);
    free(self->F);
    free(self->f);
    free(self->out);
    free(self);
}

// --- what it computes ---

static bool can(const void *self, quantity what, bool fresh)
{
    (void)self;
    return what == STATE_COPY ? !fresh : fresh || what > FORWARD;
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

// Bo and Mo are one point in these models, so forces about Mo are forces about Bo.
static tal_status inverse(talus_peer *self, const double udot[])
{
    const model *m = self->m;
    realize(self, TAL_STAGE_VELOCITY);
    memset(self->F, 0, (size_t)m->num_bodies * sizeof *self->F);
    const tal_status st =
        tal_force_apply(self->forces, self->state, self->gravity, self->F, self->f);
    if (st != TAL_OK) return st;
    return tal_matter_inverse_dynamics(self->matter, self->state, udot, self->F, NULL, self->out);
}

static tal_status multiply(talus_peer *self, quantity what, const double v[])
{
    const int nu = self->m->nu;
    const tal_station last = {{self->m->num_bodies - 1}, TAL_VEC3_ZERO};
    realize(self, TAL_STAGE_POSITION);
    if (what == MULTIPLY_M) return tal_matter_mul_M(self->matter, self->state, v, self->out);
    if (what == SOLVE_M) return tal_matter_mul_Minv(self->matter, self->state, v, self->out);
    if (what == EXPLICIT_M) {
        return tal_matter_calc_M(self->matter, self->state, tal_matrix_view(self->out, nu, nu));
    }
    return tal_matter_calc_frame_J(self->matter, self->state, &last, 1,
                                   tal_matrix_view(self->out, 6, nu));
}

static void compute(talus_peer *self, quantity what, bool fresh, int k)
{
    if (fresh) set_values(self, k);
    tal_status st = TAL_OK;
    switch (what) {
    case KINEMATICS:
        realize(self, TAL_STAGE_VELOCITY);
        break;
    case INVERSE:
        st = inverse(self, self->m->v[k]);
        break;
    case FORWARD:
        realize(self, TAL_STAGE_ACCELERATION);
        break;
    case MULTIPLY_M:
    case SOLVE_M:
    case EXPLICIT_M:
    case JACOBIAN:
        st = multiply(self, what, self->m->v[k]);
        break;
    case STATE_COPY:
        st = tal_state_copy(self->copy, self->state);
        break;
    case NUM_QUANTITIES:
        break;
    }
    if (st != TAL_OK) stop(tal_state_error(self->state));
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
    const size_t nu = (size_t)m->nu;
    compute(self, what, true, 0);
    if (what == KINEMATICS) {
        const int last = m->num_bodies - 1;
        const tal_bodies_view poses = tal_matter_poses(self->matter, self->state);
        const tal_bodies_view velocities = tal_matter_velocities(self->matter, self->state);
        memcpy(out, tal_view_X_GM(&poses, last), 12 * sizeof(double));
        memcpy(out + 12, tal_view_V_GM(&velocities, last), 6 * sizeof(double));
    } else if (what == FORWARD) {
        memcpy(out, tal_state_udot(self->state), nu * sizeof(double));
    } else {
        const size_t n = what == EXPLICIT_M ? nu * nu : what == JACOBIAN ? 6 * nu : nu;
        memcpy(out, self->out, n * sizeof(double));
    }
}

const contestant contestant_talus = {"Talus", create, destroy, can, run, answer, false};
