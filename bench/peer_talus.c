// Talus as a contestant: everything through the State, gravity included, by public headers only.
#include "build_talus.h"
#include "contestant.h"

#include <talus/matter/operators.h>

#include <stdlib.h>
#include <string.h>

// --- life ---

typedef struct talus_peer {
    const model *m;
    talus_model t;
    tal_state *copy;
    tal_spatial_vec *F; ///< [num_bodies]
    double *f;          ///< [nu]
    double *out;        ///< [nu] numbers, M or J
} talus_peer;

static void *create(const model *m)
{
    talus_peer *self = calloc(1, sizeof *self);
    if (self == NULL) exit(EXIT_FAILURE);
    self->m = m;
    self->t = talus_build(m);
    tal_error error;
    if (tal_state_create(self->t.system, &self->copy, &error) != TAL_OK) talus_stop(&error);
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
    tal_state_destroy(self->copy);
    talus_free(&self->t);
    free(self->F);
    free(self->f);
    free(self->out);
    free(self);
}

// --- what it computes ---

// With Velocity evaluated: gravity's forces on the bodies, then the passes.
static tal_status pass(talus_peer *self, quantity what, const double v[])
{
    const talus_model *t = &self->t;
    talus_realize(&self->t, TAL_STAGE_VELOCITY);
    memset(self->F, 0, (size_t)self->m->num_bodies * sizeof *self->F);
    const tal_status st = tal_force_apply(t->forces, t->state, t->gravity, self->F, self->f);
    if (st != TAL_OK) return st;
    if (what == INVERSE) {
        return tal_matter_inverse_dynamics(t->matter, t->state, v, self->F, NULL, self->out);
    }
    return tal_matter_forward_dynamics(t->matter, t->state, self->F, v, self->out, NULL);
}

static tal_status multiply(talus_peer *self, quantity what, const double v[])
{
    const int nu = self->m->nu;
    const tal_station last = {{self->m->num_bodies - 1}, TAL_VEC3_ZERO};
    talus_realize(&self->t, TAL_STAGE_POSITION);
    if (what == MULTIPLY_M) return tal_matter_mul_M(self->t.matter, self->t.state, v, self->out);
    if (what == SOLVE_M) return tal_matter_mul_Minv(self->t.matter, self->t.state, v, self->out);
    if (what == EXPLICIT_M) {
        return tal_matter_calc_M(self->t.matter, self->t.state, tal_matrix_view(self->out, nu, nu));
    }
    return tal_matter_calc_frame_J(self->t.matter, self->t.state, &last, 1,
                                   tal_matrix_view(self->out, 6, nu));
}

static void compute(talus_peer *self, quantity what, bool fresh, int k)
{
    if (fresh) talus_set_values(&self->t, self->m, k);
    tal_status st = TAL_OK;
    switch (what) {
    case KINEMATICS:
        talus_realize(&self->t, TAL_STAGE_VELOCITY);
        break;
    case FORWARD:
        if (fresh) {
            talus_realize(&self->t, TAL_STAGE_ACCELERATION);
            break;
        }
        st = pass(self, what, self->m->v[k]);
        break;
    case INVERSE:
        st = pass(self, what, self->m->v[k]);
        break;
    case MULTIPLY_M:
    case SOLVE_M:
    case EXPLICIT_M:
    case JACOBIAN:
        st = multiply(self, what, self->m->v[k]);
        break;
    case STATE_COPY:
        st = tal_state_copy(self->copy, self->t.state);
        break;
    case NUM_QUANTITIES:
        break;
    }
    talus_require(&self->t, st);
}

static void run(void *self, quantity what, bool fresh, long count)
{
    for (long i = 0; i < count; ++i) {
        compute(self, what, fresh, (int)(i % MODEL_SETS));
    }
}

static void answer(void *context, quantity what, bool fresh, double out[])
{
    talus_peer *self = context;
    const model *m = self->m;
    const size_t nu = (size_t)m->nu;
    if (!fresh) compute(self, FORWARD, true, 0);
    compute(self, what, fresh, 0);
    if (what == KINEMATICS) {
        const int last = m->num_bodies - 1;
        const tal_bodies_view poses = tal_matter_poses(self->t.matter, self->t.state);
        const tal_bodies_view velocities = tal_matter_velocities(self->t.matter, self->t.state);
        memcpy(out, tal_view_X_GM(&poses, last), 12 * sizeof(double));
        memcpy(out + 12, tal_view_V_GM(&velocities, last), 6 * sizeof(double));
    } else if (what == FORWARD && fresh) {
        memcpy(out, tal_state_udot(self->t.state), nu * sizeof(double));
    } else {
        const size_t n = what == EXPLICIT_M ? nu * nu : what == JACOBIAN ? 6 * nu : nu;
        memcpy(out, self->out, n * sizeof(double));
    }
}

const contestant contestant_talus = {"Talus", create, destroy, NULL, run, answer, false};
