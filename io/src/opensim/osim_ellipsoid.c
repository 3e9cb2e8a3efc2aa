// An ellipsoid joint whose speeds are rates of its angles, as functions of these.
//
// With body-fixed angles a, b, c about x, y, z the axis Mz has in F the components
//
//     (sin b, -sin a cos b, cos a cos b)
//
// and M's origin is at each of them times the radius along that axis.
#include "opensim/osim_internal.h"

static const double quarter = 1.57079632679489661923;

// amplitude sin(q_i + phase), of n coordinates. NULL when memory runs out.
static tal_function *wave_of(tali_osim *o, double amplitude, double phase, int i, int n)
{
    const tal_allocator *from = &o->arena.allocator;
    tal_function *wave = NULL, *angle = NULL, *made = NULL;
    const double pick[2] = {i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0};
    tal_status st = tal_function_create_sinusoid(from, amplitude, 1.0, phase, &wave, NULL);
    if (st == TAL_OK && n == 1) return wave;
    if (st == TAL_OK) st = tal_function_create_linear(from, pick, n, 0.0, &angle, NULL);
    if (st == TAL_OK) st = tal_function_create_composition(from, wave, &angle, 1, &made, NULL);
    if (st == TAL_OK) return made;
    tal_function_destroy(wave);
    tal_function_destroy(angle);
    o->no_memory = true;
    return NULL;
}

// amplitude sin(a + phase) cos b
static tal_function *product_of(tali_osim *o, double amplitude, double phase)
{
    tal_function *factors[2] = {wave_of(o, amplitude, phase, 0, 2), wave_of(o, 1.0, quarter, 1, 2)};
    tal_function *made = NULL;
    if (factors[0] != NULL && factors[1] != NULL &&
        tal_function_create_product(&o->arena.allocator, factors, 2, &made, NULL) == TAL_OK) {
        return made;
    }
    tal_function_destroy(factors[0]);
    tal_function_destroy(factors[1]);
    o->no_memory = true;
    return NULL;
}

void tali_osim_spread_ellipsoid(tali_osim *o, tali_osim_joint *joint)
{
    static const tal_vec3 axes[] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const double one = 1.0;
    const tal_vec3 r = joint->radii;
    for (int k = 0; k < 3; ++k) {
        tali_osim_axis *turn = &joint->axes[k], *shift = &joint->axes[3 + k];
        *turn = (tali_osim_axis){.axis = axes[k], .num = 1, .coords = {k}};
        *shift = (tali_osim_axis){.axis = axes[k], .num = 2, .coords = {0, 1}};
        if (tal_function_create_linear(&o->arena.allocator, &one, 1, 0.0, &turn->function, NULL) !=
            TAL_OK) {
            o->no_memory = true;
        }
    }
    joint->axes[3].num = 1;
    joint->axes[3].coords[0] = 1;
    joint->axes[3].function = wave_of(o, r.x, 0.0, 0, 1);
    joint->axes[4].function = product_of(o, -r.y, 0.0);
    joint->axes[5].function = product_of(o, r.z, quarter);
}
