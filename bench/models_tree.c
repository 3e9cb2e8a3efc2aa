// The trees that are timed.
#include "models.h"

#include <stdio.h>

model model_pin_chain(int n)
{
    model m = model_start(n);
    (void)snprintf(m.name, sizeof m.name, "chain %d", n);
    for (int b = 1; b <= n; ++b) {
        const tal_mat3 R_PF =
            tal_rotation_about(TAL_AXIS_X, b % 2 == 0 ? 0.5 * TAL_PI : -0.5 * TAL_PI);
        (void)model_add(&m, b - 1, MODEL_PIN, tal_xf(R_PF, tal_v3(b > 1 ? 0.3 : 0.0, 0.0, 0.0)),
                        model_limb(1.0, 0.3));
    }
    return model_finish(m);
}

model model_arm(int n)
{
    model m = model_start(n);
    (void)snprintf(m.name, sizeof m.name, "arm %d", n);
    for (int b = 1; b <= n; ++b) {
        const bool is_vertical = b % 2 == 1;
        const tal_mat3 turn =
            tal_rotation_about(TAL_AXIS_X, is_vertical ? 0.5 * TAL_PI : -0.5 * TAL_PI);
        const tal_vec3 up = is_vertical ? tal_v3(0.0, -0.4, 0.0) : tal_v3(0.0, 0.0, 0.4);
        const tal_xform X_PF = b == 1 ? TAL_XFORM_IDENTITY : tal_xf(turn, up);
        (void)model_add(&m, b - 1, MODEL_PIN, X_PF, model_limb(1.0, 0.3));
    }
    return model_finish(m);
}

model model_pin_tree(int n)
{
    model m = model_start(n);
    (void)snprintf(m.name, sizeof m.name, "tree %d", n);
    for (int b = 1; b <= n; ++b) {
        const tal_mat3 R_PF =
            tal_rotation_from_angle_axis(b % 2 == 0 ? 0.7 : -0.7, tal_v3(0.6, 0.8, 0.0));
        (void)model_add(&m, b / 2, MODEL_PIN, tal_xf(R_PF, tal_v3(b > 1 ? 0.3 : 0.0, 0.0, 0.0)),
                        model_limb(1.0, 0.3));
    }
    return model_finish(m);
}

// Pins whose axes alternate, from a place on a body outwards.
static int grow_limb(model *m, int parent, tal_vec3 p_PF, int pins, double mass)
{
    int body = parent;
    for (int i = 0; i < pins; ++i) {
        const tal_mat3 R_PF = tal_rotation_from_angle_axis(
            i % 2 == 0 ? 1.1 : -1.3, tal_v3(i % 3 == 0 ? 0.6 : -0.8, i % 3 == 0 ? 0.8 : 0.6, 0.0));
        body = model_add(m, body, MODEL_PIN, tal_xf(R_PF, i == 0 ? p_PF : tal_v3(0.15, 0.0, 0.0)),
                         model_limb(mass, 0.15));
    }
    return body;
}

model model_humanoid(int unused)
{
    (void)unused;
    model m = model_start(31);
    (void)snprintf(m.name, sizeof m.name, "humanoid 6+30");
    const int pelvis = model_add(&m, 0, MODEL_FREE, TAL_XFORM_IDENTITY, model_limb(12.0, 0.3));
    const int chest = grow_limb(&m, pelvis, tal_v3(0.0, 0.1, 0.0), 3, 8.0);
    (void)grow_limb(&m, chest, tal_v3(0.3, 0.0, 0.0), 3, 1.5);
    (void)grow_limb(&m, chest, tal_v3(0.2, 0.0, 0.2), 6, 1.0);
    (void)grow_limb(&m, chest, tal_v3(0.2, 0.0, -0.2), 6, 1.0);
    (void)grow_limb(&m, pelvis, tal_v3(0.0, -0.1, 0.1), 6, 3.0);
    (void)grow_limb(&m, pelvis, tal_v3(0.0, -0.1, -0.1), 6, 3.0);
    return model_finish(m);
}

model model_ball_chain(int n)
{
    model m = model_start(n);
    (void)snprintf(m.name, sizeof m.name, "balls %d", n);
    for (int b = 1; b <= n; ++b) {
        const tal_mat3 R_PF = tal_rotation_from_angle_axis(0.4, tal_v3(0.0, 0.6, 0.8));
        (void)model_add(&m, b - 1, MODEL_BALL, tal_xf(R_PF, tal_v3(b > 1 ? 0.3 : 0.0, 0.0, 0.0)),
                        model_limb(1.0, 0.3));
    }
    return model_finish(m);
}

// Each spring goes from one body to another that is neither its parent nor its child.
model model_sprung_tree(int n)
{
    model m = model_pin_tree(n);
    (void)snprintf(m.name, sizeof m.name, "sprung tree %d", n);
    for (int i = 0; i < n; ++i) {
        m.springs[m.num_springs++] =
            (model_spring){{1 + i, 1 + (i + n / 3) % n},
                           {tal_v3(0.1, 0.02, 0.0), tal_v3(0.2, 0.0, 0.03)},
                           100.0,
                           0.2};
    }
    return m;
}
