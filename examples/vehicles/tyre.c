// Tyres on flat ground.
#include "tyre.h"

#include "point_law.h"

enum {
    STIFFNESS,
    DAMPING,
    RADIUS
};

static point_force push_up(const double params[], tal_vec3 p, tal_vec3 v)
{
    point_force out = {.F = TAL_VEC3_ZERO};
    if (p.z >= params[RADIUS]) return out;
    out.F.z = params[STIFFNESS] * (params[RADIUS] - p.z) - params[DAMPING] * v.z;
    out.K.z.z = -params[STIFFNESS];
    out.C.z.z = -params[DAMPING];
    return out;
}

void tyre_add(sketch *it, tal_body_ix wheel, double stiffness, double damping, double radius)
{
    const point_law law = {
        .A = TAL_GROUND, .B = wheel, .law = push_up, .params = {stiffness, damping, radius}};
    (void)point_law_add(it->forces, NULL, &law);
}
