// Making the models that are timed, and the list of them.
#include "models.h"

#include <talus/common/random.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void *room(size_t n, size_t size)
{
    void *bytes = calloc(n + 1, size);
    if (bytes != NULL) return bytes;
    (void)fprintf(stderr, "bench: no memory\n");
    exit(EXIT_FAILURE);
}

model model_start(int n)
{
    model m = {.num_bodies = 1, .is_pins = true, .has_gravity = true};
    m.bodies = room((size_t)n + 1, sizeof *m.bodies);
    m.loops = room((size_t)n, sizeof *m.loops);
    m.springs = room((size_t)n, sizeof *m.springs);
    m.bodies[0] =
        (model_body){-1, MODEL_PIN, TAL_XFORM_IDENTITY, {0.0, TAL_VEC3_ZERO, TAL_SYM3_ZERO}};
    return m;
}

int model_add(model *m, int parent, model_joint joint, tal_xform X_PF, tal_mass_props mass)
{
    m->bodies[m->num_bodies] = (model_body){parent, joint, X_PF, mass};
    m->nq += model_joint_nq(joint);
    m->nu += model_joint_nu(joint);
    m->is_pins = m->is_pins && joint == MODEL_PIN;
    return m->num_bodies++;
}

tal_mass_props model_limb(double mass, double length)
{
    const tal_mass_props brick = tal_mass_props_brick(mass, tal_v3(0.5 * length, 0.05, 0.03));
    const tal_xform X = {tal_rotation_from_angle_axis(0.3, tal_v3(0.6, 0.0, 0.8)),
                         tal_v3(0.5 * length, 0.01, -0.02)};
    return tal_mass_props_transform(&X, &brick);
}

// --- values ---

static void draw(tal_random *random, int n, double most, double values[])
{
    for (int i = 0; i < n; ++i) {
        values[i] = tal_random_range(random, -most, most);
    }
}

// Quaternions are drawn as small turns away from none, and have length one.
static void draw_q(const model *m, tal_random *random, double q[])
{
    draw(random, m->nq, 0.5, q);
    for (int b = 1; b < m->num_bodies; ++b) {
        const model_joint joint = m->bodies[b].joint;
        if (joint != MODEL_PIN) {
            const tal_quat unit = tal_qt_normalize(tal_qt(1.0, q[1], q[2], q[3]));
            q[0] = unit.w, q[1] = unit.x, q[2] = unit.y, q[3] = unit.z;
        }
        q += model_joint_nq(joint);
    }
}

model model_finish(model m)
{
    tal_random random = {20240, (uint64_t)m.num_bodies, 0};
    for (int k = 0; k < MODEL_SETS; ++k) {
        m.q[k] = room((size_t)m.nq, sizeof(double));
        m.u[k] = room((size_t)m.nu, sizeof(double));
        m.v[k] = room((size_t)m.nu, sizeof(double));
        draw_q(&m, &random, m.q[k]);
        draw(&random, m.nu, 1.0, m.u[k]);
        draw(&random, m.nu, 1.0, m.v[k]);
    }
    return m;
}

model model_stripped(const model *m)
{
    model tree = *m;
    tree.has_gravity = m->has_gravity && m->num_springs == 0;
    tree.num_loops = 0;
    tree.num_springs = 0;
    return tree;
}

void model_free(model *m)
{
    for (int k = 0; k < MODEL_SETS; ++k) {
        free(m->q[k]);
        free(m->u[k]);
        free(m->v[k]);
    }
    free(m->bodies);
    free(m->loops);
    free(m->springs);
    *m = (model){.num_bodies = 0};
}

// --- the list ---

typedef struct listed {
    model (*make)(int n);
    int n;
} listed;

static const listed list[] = {
    {model_pin_chain, 2},     {model_pin_chain, 6},     {model_pin_chain, 10},
    {model_pin_chain, 30},    {model_pin_chain, 100},   {model_pin_chain, 300},
    {model_pin_chain, 1000},  {model_pin_chain, 10000}, {model_pin_tree, 63},
    {model_pin_tree, 255},    {model_humanoid, 0},      {model_ball_chain, 50},
    {model_sprung_tree, 100}, {model_ball_closed, 10},  {model_ball_closed, 30},
    {model_ball_closed, 100}, {model_rod_closed, 10},   {model_rod_closed, 30},
    {model_rod_closed, 100},  {model_four_bars, 1},     {model_four_bars, 5},
    {model_four_bars, 10},    {model_four_bars, 40},    {model_four_bars, 100},
    {model_four_bars, 200},   {model_squeezer, 0},
};

int model_count(void)
{
    return (int)(sizeof list / sizeof list[0]);
}

model model_make(int i)
{
    return list[i].make(list[i].n);
}
