// Talus as a contestant without a State: direct functions of arrays, gravity included.
#include "build_talus.h"
#include "contestant.h"

#include <talus/matter/direct.h>

#include <stdlib.h>
#include <string.h>

typedef struct direct_peer {
    const model *m;
    talus_model t;
    tal_direct *direct;
    tal_xform *X;       ///< [num_bodies]
    tal_spatial_vec *V; ///< [num_bodies]
    double *out;        ///< [nu] numbers, M or J
} direct_peer;

static void destroy(void *context)
{
    direct_peer *self = context;
    tal_direct_destroy(self->direct);
    talus_free(&self->t);
    free(self->X);
    free(self->V);
    free(self->out);
    free(self);
}

static void *create(const model *m)
{
    if (!model_is_plain(m)) return NULL;
    direct_peer *self = calloc(1, sizeof *self);
    if (self == NULL) exit(EXIT_FAILURE);
    self->m = m;
    self->t = talus_build(m);
    tal_error error;
    if (tal_direct_create(self->t.matter, self->t.state, &self->direct, &error) != TAL_OK) {
        talus_stop(&error);
    }
    (void)tal_direct_set_gravity(self->direct, MODEL_GRAVITY);
    const size_t nu = (size_t)m->nu;
    self->X = calloc((size_t)m->num_bodies, sizeof *self->X);
    self->V = calloc((size_t)m->num_bodies, sizeof *self->V);
    self->out = calloc((nu <= MODEL_MOST_EXPLICIT ? nu * nu : nu) + 6 * nu, sizeof *self->out);
    if (self->X == NULL || self->V == NULL || self->out == NULL) exit(EXIT_FAILURE);
    return self;
}

static bool can(quantity what, bool fresh)
{
    const bool is_function = what == KINEMATICS || what == FORWARD || what == INVERSE ||
                             what == EXPLICIT_M || what == JACOBIAN;
    return fresh && is_function;
}

static void compute(direct_peer *self, quantity what, int k)
{
    const model *m = self->m;
    const double *const q = m->q[k], *const u = m->u[k];
    tal_status st = TAL_OK;
    if (what == KINEMATICS) st = tal_direct_kinematics(self->direct, q, u, self->X, self->V);
    if (what == FORWARD) {
        st = tal_direct_forward_dynamics(self->direct, q, u, NULL, NULL, self->out);
    }
    if (what == INVERSE) {
        st = tal_direct_inverse_dynamics(self->direct, q, u, m->v[k], NULL, self->out);
    }
    if (what == EXPLICIT_M) st = tal_direct_mass_matrix(self->direct, q, self->out);
    if (what == JACOBIAN) {
        const tal_body_ix last = {m->num_bodies - 1};
        st = tal_direct_frame_jacobian(self->direct, q, last, TAL_VEC3_ZERO, self->out);
    }
    if (st != TAL_OK) talus_stop(tal_direct_error(self->direct));
}

static void run(void *self, quantity what, bool fresh, long count)
{
    (void)fresh;
    for (long i = 0; i < count; ++i) {
        compute(self, what, (int)(i % MODEL_SETS));
    }
}

static void answer(void *context, quantity what, bool fresh, double out[])
{
    (void)fresh;
    direct_peer *self = context;
    const size_t nu = (size_t)self->m->nu;
    compute(self, what, 0);
    if (what == KINEMATICS) {
        const int last = self->m->num_bodies - 1;
        memcpy(out, &self->X[last], 12 * sizeof(double));
        memcpy(out + 12, &self->V[last], 6 * sizeof(double));
        return;
    }
    const size_t n = what == EXPLICIT_M ? nu * nu : what == JACOBIAN ? 6 * nu : nu;
    memcpy(out, self->out, n * sizeof(double));
}

const contestant contestant_direct = {"Talus direct", create, destroy, can, run, answer, false};
