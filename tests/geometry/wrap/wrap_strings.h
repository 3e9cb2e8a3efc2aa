// Random strings over obstacles, for the tests of geometry/src/wrap/.
#ifndef TALUS_WRAP_STRINGS_H
#define TALUS_WRAP_STRINGS_H

#include "talus_test.h"

#include <talus/geometry/wrap.h>

#include <math.h>

static inline double wrap_total(const tal_wrap_arc *arc)
{
    return arc->lift[0] + arc->length + arc->lift[1];
}

static inline bool wrap_touches(tal_wrap_contact contact)
{
    return contact == TAL_WRAP_BENT || contact == TAL_WRAP_FORCED;
}

/// An obstacle of size one.
static inline tal_wrap wrap_random(test_rng *rng, tal_wrap_kind kind)
{
    const double a = test_random_uniform(rng, 0.4, 0.9), b = test_random_uniform(rng, 0.4, 0.9);
    switch (kind) {
    case TAL_WRAP_CYLINDER:
        return tal_wrap_cylinder(a, INFINITY);
    case TAL_WRAP_SPHERE:
        return tal_wrap_sphere(a);
    case TAL_WRAP_ELLIPSOID:
        return tal_wrap_ellipsoid(tal_v3(a, b, test_random_uniform(rng, 0.4, 0.9)));
    case TAL_WRAP_TORUS:
        break;
    }
    return tal_wrap_torus(1.0, 0.1 + 0.2 * a);
}

/// Ends of a string over the obstacle, well outside: the next that bends. Those through a torus
/// begin above and end below it.
static inline tal_wrap_arc wrap_next_bent(test_rng *rng, const tal_wrap *wrap, tal_vec3 p[2])
{
    tal_wrap_arc arc;
    for (;;) {
        for (int k = 0; k < 2; ++k) {
            p[k] = tal_v3_scale(2.0, test_random_vec3(rng));
            if (wrap->kind == TAL_WRAP_TORUS) {
                const double angle = test_random_uniform(rng, -0.3, 0.3);
                const double rho = test_random_uniform(rng, 0.5, 1.1);
                p[k] = tal_v3(rho * cos(angle), rho * sin(angle), k == 0 ? 0.8 : -0.7);
            }
        }
        const bool is_outside =
            tal_wrap_clearance(wrap, p[0]) > 0.1 && tal_wrap_clearance(wrap, p[1]) > 0.1;
        if (is_outside && tal_wrap_find(wrap, p[0], p[1], &arc) == TAL_WRAP_BENT &&
            arc.length > 0.05) {
            return arc;
        }
    }
}

/// Outward normal at a point of the surface.
static inline tal_vec3 wrap_normal(const tal_wrap *wrap, tal_vec3 p)
{
    const tal_vec3 s = wrap->size;
    switch (wrap->kind) {
    case TAL_WRAP_CYLINDER:
        return tal_v3_normalize(tal_v3(p.x, p.y, 0.0));
    case TAL_WRAP_SPHERE:
        return tal_v3_normalize(p);
    case TAL_WRAP_ELLIPSOID:
        return tal_v3_normalize(tal_v3(p.x / (s.x * s.x), p.y / (s.y * s.y), p.z / (s.z * s.z)));
    case TAL_WRAP_TORUS:
        break;
    }
    const double rho = hypot(p.x, p.y), k = 1.0 - s.x / rho;
    return tal_v3_normalize(tal_v3(p.x * k, p.y * k, p.z));
}

#endif // TALUS_WRAP_STRINGS_H
