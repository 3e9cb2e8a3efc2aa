// Mechanisms with more constraint equations than they need, for tests of rank.
#ifndef TALUS_OVERCONSTRAINED_H
#define TALUS_OVERCONSTRAINED_H

#include "talus_test.h"

#include <talus/matter.h>

#include <math.h>

/// A body of 1 kg on a pin: a brick with half lengths `half` about `com`. `axis`: 0, 1, 2 for x, y,
/// z.
static inline tal_body_ix over_add_pin(tal_matter *matter, tal_body_ix parent, tal_vec3 p_PF,
                                       int axis, tal_vec3 com, tal_vec3 half)
{
    const tal_vec3 x = tal_v3(1.0, 0.0, 0.0), y = tal_v3(0.0, 1.0, 0.0), z = tal_v3(0.0, 0.0, 1.0);
    const tal_vec3 e[] = {x, y, z};
    const tal_mat3 R = tal_m3(e[(axis + 1) % 3], e[(axis + 2) % 3], e[axis]);
    const double xx = half.x * half.x / 3.0, yy = half.y * half.y / 3.0, zz = half.z * half.z / 3.0;
    const tal_sym3 about_com = {yy + zz, zz + xx, xx + yy, 0.0, 0.0, 0.0};
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.mass.com = com;
    def.mass.inertia = tal_s3_add(about_com, tal_s3_cross_square(com));
    def.X_PF = (tal_xform){R, p_PF};
    def.X_BM.R = R;
    return tal_matter_add_pin(matter, parent, &def);
}

/// Bricard's linkage: six bars in a ring, pins at right angles, along the edges of a cube of this
/// size. It has one degree of freedom where six pins leave none, counted by equations: five bars,
/// and a loop pin of 5 equations with rank 4. `copies` of the loop pin; `off`: how much its place
/// on Ground differs from where the ring closes.
static inline void over_add_bricard(tal_matter *matter, double size, int copies, double off)
{
    const tal_vec3 ends[] = {
        {size, 0.0, 0.0}, {0.0, -size, 0.0}, {0.0, 0.0, size}, {-size, 0.0, 0.0}, {0.0, size, 0.0}};
    const int axes[] = {1, 2, 0, 1, 2};
    tal_vec3 from = TAL_VEC3_ZERO;
    tal_body_ix last = TAL_GROUND;
    for (int i = 0; i < 5; ++i) {
        const tal_vec3 along = tal_v3(fabs(ends[i].x), fabs(ends[i].y), fabs(ends[i].z));
        const tal_vec3 thick = tal_v3(0.05 * size, 0.05 * size, 0.05 * size);
        const tal_vec3 half = tal_v3_add(tal_v3_scale(0.45, along), thick);
        last = over_add_pin(matter, last, from, axes[i], tal_v3_scale(0.5, ends[i]), half);
        from = ends[i];
    }
    const tal_mat3 R = tal_m3(tal_v3(0.0, 1.0, 0.0), tal_v3(0.0, 0.0, 1.0), tal_v3(1.0, 0.0, 0.0));
    const tal_xform on_ground = {R, {off, 0.0, size}}, on_bar = {R, from};
    for (int k = 0; k < copies; ++k) {
        const tal_constraint_def def = tal_constraint_between(TAL_GROUND, last);
        (void)tal_constraint_add_loop_pin(matter, &def, &on_ground, &on_bar);
    }
}

/// Parallel cranks of 1 m, 1 m apart, that a coupler joins by balls: bodies 1 to `cranks`, then the
/// coupler on crank 1. From three cranks on equations repeat others, and where all lie flat they
/// lose more of their rank.
static inline void over_add_cranks(tal_matter *matter, int cranks, double coupler)
{
    const double thin = 0.0;
    for (int i = 0; i < cranks; ++i) {
        (void)over_add_pin(matter, TAL_GROUND, tal_v3((double)i, 0.0, 0.0), 2,
                           tal_v3(0.0, 0.5, 0.0), tal_v3(thin, 0.5, thin));
    }
    const double half = 0.5 * coupler;
    const tal_body_ix first = {1};
    const tal_body_ix bar = over_add_pin(matter, first, tal_v3(0.0, 1.0, 0.0), 2,
                                         tal_v3(half, 0.0, 0.0), tal_v3(half, thin, thin));
    for (int i = 1; i < cranks; ++i) {
        const tal_body_ix crank = {1 + i};
        const tal_constraint_def def = tal_constraint_between(bar, crank);
        (void)tal_constraint_add_ball(matter, &def, tal_v3((double)i, 0.0, 0.0),
                                      tal_v3(0.0, 1.0, 0.0));
    }
}

/// All cranks at `angle` from upright, the coupler level.
static inline void over_pose_cranks(const tal_matter *matter, tal_state *state, int cranks,
                                    double angle)
{
    for (int i = 0; i <= cranks; ++i) {
        const tal_body_ix body = {1 + i};
        (void)tal_body_set_q(matter, state, body, 0, i < cranks ? angle : -angle);
    }
}

// --- single loops of pins, given by their axes ---

enum {
    OVER_MOST_AXES = 6
};

/// The axes of a ring of pins, in Ground, where all its bodies are as they were made. Pins 0 to n -
/// 2 connect Ground and n - 1 bodies, one on the other; pin n - 1 closes the ring. It has one
/// degree of freedom, so n - 2 of the five equations of the last pin would do.
typedef struct over_ring {
    int n;
    tal_vec3 p[OVER_MOST_AXES], e[OVER_MOST_AXES]; ///< a point of each axis, and its direction
} over_ring;

/// Families of such rings.
typedef enum over_family {
    OVER_PLANAR,    ///< four parallel axes
    OVER_SPHERICAL, ///< four axes through one point
    OVER_BENNETT,   ///< four: twists and lengths with sin(alpha) / a = sin(beta) / b
    OVER_SARRUS,    ///< three parallel axes and three others
    OVER_BRICARD,   ///< six along the edges of a cube
    OVER_NUM_FAMILIES
} over_family;

static inline tal_mat3 over_frame_on(tal_vec3 e)
{
    const tal_vec3 x = tal_v3_perp(e);
    return tal_m3(x, tal_v3_cross(e, x), e);
}

// x turned about z, gone along the new x, turned about it: a link after Denavit and Hartenberg.
static inline tal_xform over_link(double turn, double length, double twist)
{
    const double c = cos(turn), s = sin(turn), d = cos(twist), t = sin(twist);
    const tal_mat3 R =
        tal_m3(tal_v3(c, s, 0.0), tal_v3(-s * d, c * d, t), tal_v3(s * t, -c * t, d));
    const tal_xform X = {R, {length * c, length * s, 0.0}};
    return X;
}

static inline over_ring over_make_bennett(test_rng *rng)
{
    const double alpha = test_random_uniform(rng, 0.4, 0.9),
                 beta = test_random_uniform(rng, 1.2, 1.9);
    const double a = test_random_uniform(rng, 0.7, 1.0), b = a * sin(beta) / sin(alpha);
    const double turn = test_random_uniform(rng, 0.8, 1.6);
    const double other =
        2.0 * atan(sin(0.5 * (beta + alpha)) / sin(0.5 * (beta - alpha)) / tan(0.5 * turn));
    const tal_xform links[] = {over_link(turn, a, alpha), over_link(other, b, beta),
                               over_link(-turn, a, alpha)};
    over_ring ring = {.n = 4};
    tal_xform X = TAL_XFORM_IDENTITY;
    for (int i = 0; i < 4; ++i) {
        ring.p[i] = X.p;
        ring.e[i] = X.R.z;
        if (i < 3) X = tal_xf_mul(X, links[i]);
    }
    return ring;
}

static inline over_ring over_make_ring(over_family family, test_rng *rng)
{
    if (family == OVER_BENNETT) return over_make_bennett(rng);
    const bool has_six = family == OVER_SARRUS || family == OVER_BRICARD;
    static const tal_vec3 corners[] = {{0, 0, 0},  {1, 0, 0},  {1, -1, 0},
                                       {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
    static const tal_vec3 edges[] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0},
                                     {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    const tal_vec3 first = test_random_unit(rng), second = test_random_unit(rng);
    over_ring ring = {.n = has_six ? 6 : 4};
    for (int i = 0; i < ring.n; ++i) {
        ring.p[i] = family == OVER_BRICARD     ? corners[i]
                    : family == OVER_SPHERICAL ? TAL_VEC3_ZERO
                                               : test_random_vec3(rng);
        ring.e[i] = family == OVER_BRICARD     ? edges[i]
                    : family == OVER_SPHERICAL ? test_random_unit(rng)
                    : family == OVER_SARRUS    ? (i < 3 ? first : second)
                                               : first;
    }
    return ring;
}

// The body between two axes.
static inline tal_mobod_def over_body_of(const over_ring *ring, int i)
{
    tal_mobod_def def = tal_mobod_def_default();
    const tal_vec3 com = tal_v3_scale(0.5, tal_v3_add(ring->p[i], ring->p[i + 1]));
    def.mass = tal_mass_props_brick(1.0, tal_v3(0.3, 0.2, 0.1));
    def.mass.com = tal_v3_add(com, tal_v3(0.05, 0.1, -0.07)); // not where axes meet
    def.mass.inertia = tal_s3_add(def.mass.inertia, tal_s3_cross_square(def.mass.com));
    return def;
}

/// The bodies of a ring on their pins.
static inline tal_body_ix over_add_ring_bodies(tal_matter *matter, const over_ring *ring)
{
    tal_body_ix last = TAL_GROUND;
    for (int i = 0; i + 1 < ring->n; ++i) {
        tal_mobod_def def = over_body_of(ring, i);
        def.X_PF = (tal_xform){over_frame_on(ring->e[i]), ring->p[i]};
        def.X_BM = def.X_PF;
        last = tal_matter_add_pin(matter, last, &def);
    }
    return last;
}

/// Closed by its last pin, so many times.
static inline void over_add_ring(tal_matter *matter, const over_ring *ring, int copies)
{
    const tal_body_ix last = over_add_ring_bodies(matter, ring);
    const tal_xform X = {over_frame_on(ring->e[ring->n - 1]), ring->p[ring->n - 1]};
    for (int k = 0; k < copies; ++k) {
        const tal_constraint_def def = tal_constraint_between(TAL_GROUND, last);
        (void)tal_constraint_add_loop_pin(matter, &def, &X, &X);
    }
}

/// Free bodies, with a loop pin for every axis.
static inline void over_add_free_ring(tal_matter *matter, const over_ring *ring, bool use_angles)
{
    tal_body_ix last = TAL_GROUND;
    for (int i = 0; i < ring->n; ++i) {
        tal_body_ix next = TAL_GROUND;
        if (i + 1 < ring->n) {
            tal_mobod_def def = over_body_of(ring, i);
            def.use_angles = use_angles;
            next = tal_matter_add_free(matter, TAL_GROUND, &def);
        }
        const tal_constraint_def def = tal_constraint_between(last, next);
        const tal_xform X = {over_frame_on(ring->e[i]), ring->p[i]};
        (void)tal_constraint_add_loop_pin(matter, &def, &X, &X);
        last = next;
    }
}

/// Closed by as many equations as needed: distances from points of the last axis, which are those
/// of points of the last body as long as it turns about that axis. `rng` chooses the points.
static inline void over_add_ring_of_rods(tal_matter *matter, const over_ring *ring, test_rng *rng)
{
    const tal_vec3 p = ring->p[ring->n - 1], e = ring->e[ring->n - 1];
    const tal_body_ix last = over_add_ring_bodies(matter, ring);
    for (int k = 0; k < ring->n - 2; ++k) {
        const tal_constraint_def def = tal_constraint_between(TAL_GROUND, last);
        const tal_vec3 along = tal_v3_scale(test_random_uniform(rng, -2.0, 2.0), e);
        const tal_vec3 from = tal_v3_add(p, along);
        const tal_vec3 to = tal_v3_add(p, tal_v3_scale(2.0, test_random_vec3(rng)));
        (void)tal_constraint_add_rod(matter, &def, from, to, tal_v3_norm(tal_v3_sub(to, from)));
    }
}

#endif // TALUS_OVERCONSTRAINED_H
