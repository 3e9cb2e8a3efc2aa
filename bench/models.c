// The models that are timed.
#include "models.h"

#include <talus/common/random.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

static void *room(size_t n, size_t size)
{
    void *bytes = calloc(n + 1, size);
    if (bytes != NULL) return bytes;
    (void)fprintf(stderr, "bench: no memory\n");
    exit(EXIT_FAILURE);
}

static model start(int n)
{
    model m = {.num_bodies = 1, .is_pins = true};
    m.bodies = room((size_t)n + 1, sizeof *m.bodies);
    m.bodies[0] =
        (model_body){-1, MODEL_PIN, TAL_XFORM_IDENTITY, {0.0, TAL_VEC3_ZERO, TAL_SYM3_ZERO}};
    return m;
}

// A slender limb along x, its com off the axis and its inertia full, so that no zero flatters anyone.
static tal_mass_props limb(double mass, double length)
{
    const tal_mass_props brick = tal_mass_props_brick(mass, tal_v3(0.5 * length, 0.05, 0.03));
    const tal_xform X = {tal_rotation_from_angle_axis(0.3, tal_v3(0.6, 0.0, 0.8)),
                         tal_v3(0.5 * length, 0.01, -0.02)};
    return tal_mass_props_transform(&X, &brick);
}

static int add(model *m, int parent, model_joint joint, tal_xform X_PF, tal_mass_props mass)
{
    m->bodies[m->num_bodies] = (model_body){parent, joint, X_PF, mass};
    m->nq += model_joint_nq(joint);
    m->nu += model_joint_nu(joint);
    m->is_pins = m->is_pins && joint == MODEL_PIN;
    return m->num_bodies++;
}

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

static model finish(model m)
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

model model_pin_chain(int n)
{
    model m = start(n);
    (void)snprintf(m.name, sizeof m.name, "chain %d", n);
    for (int b = 1; b <= n; ++b) {
        const tal_mat3 R_PF = tal_rotation_about(TAL_AXIS_X, b % 2 == 0 ? 0.5 * PI : -0.5 * PI);
        (void)add(&m, b - 1, MODEL_PIN, tal_xf(R_PF, tal_v3(b > 1 ? 0.3 : 0.0, 0.0, 0.0)),
                  limb(1.0, 0.3));
    }
    return finish(m);
}

model model_pin_tree(int n)
{
    model m = start(n);
    (void)snprintf(m.name, sizeof m.name, "tree %d", n);
    for (int b = 1; b <= n; ++b) {
        const tal_mat3 R_PF =
            tal_rotation_from_angle_axis(b % 2 == 0 ? 0.7 : -0.7, tal_v3(0.6, 0.8, 0.0));
        (void)add(&m, b / 2, MODEL_PIN, tal_xf(R_PF, tal_v3(b > 1 ? 0.3 : 0.0, 0.0, 0.0)),
                  limb(1.0, 0.3));
    }
    return finish(m);
}

// Pins whose axes alternate, from a place on a body outwards.
static int grow_limb(model *m, int parent, tal_vec3 p_PF, int pins, double mass)
{
    int body = parent;
    for (int i = 0; i < pins; ++i) {
        const tal_mat3 R_PF = tal_rotation_from_angle_axis(
            i % 2 == 0 ? 1.1 : -1.3, tal_v3(i % 3 == 0 ? 0.6 : -0.8, i % 3 == 0 ? 0.8 : 0.6, 0.0));
        body = add(m, body, MODEL_PIN, tal_xf(R_PF, i == 0 ? p_PF : tal_v3(0.15, 0.0, 0.0)),
                   limb(mass, 0.15));
    }
    return body;
}

model model_humanoid(void)
{
    model m = start(31);
    (void)snprintf(m.name, sizeof m.name, "humanoid 6+30");
    const int pelvis = add(&m, 0, MODEL_FREE, TAL_XFORM_IDENTITY, limb(12.0, 0.3));
    const int chest = grow_limb(&m, pelvis, tal_v3(0.0, 0.1, 0.0), 3, 8.0);
    (void)grow_limb(&m, chest, tal_v3(0.3, 0.0, 0.0), 3, 1.5);
    (void)grow_limb(&m, chest, tal_v3(0.2, 0.0, 0.2), 6, 1.0);
    (void)grow_limb(&m, chest, tal_v3(0.2, 0.0, -0.2), 6, 1.0);
    (void)grow_limb(&m, pelvis, tal_v3(0.0, -0.1, 0.1), 6, 3.0);
    (void)grow_limb(&m, pelvis, tal_v3(0.0, -0.1, -0.1), 6, 3.0);
    return finish(m);
}

model model_ball_chain(int n)
{
    model m = start(n);
    (void)snprintf(m.name, sizeof m.name, "balls %d", n);
    for (int b = 1; b <= n; ++b) {
        const tal_mat3 R_PF = tal_rotation_from_angle_axis(0.4, tal_v3(0.0, 0.6, 0.8));
        (void)add(&m, b - 1, MODEL_BALL, tal_xf(R_PF, tal_v3(b > 1 ? 0.3 : 0.0, 0.0, 0.0)),
                  limb(1.0, 0.3));
    }
    return finish(m);
}

void model_free(model *m)
{
    for (int k = 0; k < MODEL_SETS; ++k) {
        free(m->q[k]);
        free(m->u[k]);
        free(m->v[k]);
    }
    free(m->bodies);
    *m = (model){.num_bodies = 0};
}
