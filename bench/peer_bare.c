// The bare code as a contestant. Pins only.
#include "bare.h"
#include "contestant.h"

#include <stdlib.h>
#include <string.h>

typedef struct bare_peer {
    const model *m;
    bare_tree *tree;
    double *out;
} bare_peer;

static bare_v3 vec(tal_vec3 v)
{
    return (bare_v3){v.x, v.y, v.z};
}

static void *create(const model *m)
{
    if (!m->is_pins || !model_is_plain(m)) return NULL;
    const int n = m->num_bodies - 1;
    bare_peer *self = calloc(1, sizeof *self);
    bare_body *bodies = calloc((size_t)n, sizeof *bodies);
    int *parent = calloc((size_t)n, sizeof *parent);
    if (self == NULL || bodies == NULL || parent == NULL) exit(EXIT_FAILURE);
    for (int b = 0; b < n; ++b) {
        const model_body *from = &m->bodies[b + 1];
        const tal_sym3 I = from->mass.inertia;
        parent[b] = from->parent - 1;
        bodies[b] = (bare_body){
            {vec(from->X_PF.R.x), vec(from->X_PF.R.y), vec(from->X_PF.R.z)},
            vec(from->X_PF.p),
            vec(tal_v3_scale(from->mass.mass, from->mass.com)),
            {I.xx, I.yy, I.zz, I.xy, I.xz, I.yz},
            from->mass.mass,
        };
    }
    self->m = m;
    self->tree = bare_create(n, bodies, parent, vec(MODEL_GRAVITY));
    self->out = calloc((size_t)m->nu + 1, sizeof(double));
    free(bodies);
    free(parent);
    if (self->tree == NULL || self->out == NULL) exit(EXIT_FAILURE);
    return self;
}

static void destroy(void *context)
{
    bare_peer *self = context;
    bare_destroy(self->tree);
    free(self->out);
    free(self);
}

static bool can(quantity what, bool fresh)
{
    return fresh && (what == KINEMATICS || what == FORWARD || what == INVERSE);
}

static void compute(const bare_peer *self, quantity what, long i)
{
    const model *m = self->m;
    const int k = (int)(i % MODEL_SETS);
    if (what == KINEMATICS) bare_kinematics(self->tree, m->q[k], m->u[k]);
    if (what == FORWARD) bare_forward(self->tree, m->q[k], m->u[k], self->out);
    if (what == INVERSE) bare_inverse(self->tree, m->q[k], m->u[k], m->v[k], self->out);
}

static void run(void *self, quantity what, bool fresh, long count)
{
    (void)fresh;
    for (long i = 0; i < count; ++i) {
        compute(self, what, i);
    }
}

static void answer(void *context, quantity what, bool fresh, double out[])
{
    (void)fresh;
    const bare_peer *self = context;
    compute(self, what, 0);
    if (what == KINEMATICS) {
        bare_last_body(self->tree, out);
    } else {
        memcpy(out, self->out, (size_t)self->m->nu * sizeof(double));
    }
}

const contestant contestant_bare = {"bare C", create, destroy, can, run, answer, false};
