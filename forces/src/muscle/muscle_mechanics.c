// What a muscle does: forces, speeds and energies from lengths and activation. Pure functions.
#include "muscle/muscle_internal.h"

// --- the three kinds ---

// Forces of fibers that move with v, where the velocity curve is known.
static void set_forces(const tali_muscle_sizes *sizes, const tali_muscle_given *given,
                       tali_muscle_found *at)
{
    at->f_active = given->a * at->active.y * at->velocity;
    at->f_damping = sizes->beta * at->v;
}

// Fibers between their curves and a tendon that pulls with f_tendon: with which speed?
static void set_equilibrium_speed(const tali_muscle_curves *curves, const tali_muscle_sizes *sizes,
                                  const tali_muscle_given *given, tali_muscle_found *at)
{
    const real f = at->f_tendon / at->fiber.cosine - at->passive.y;
    const tali_muscle_speed speed =
        tali_muscle_speed_of(curves, given->a * at->active.y, given->a, sizes->beta, f);
    at->v = speed.v;
    at->velocity = speed.curve;
}

static void set_fiber_curves(const tali_muscle_curves *curves, const tali_muscle_sizes *sizes,
                             tali_muscle_found *at)
{
    const real l = at->fiber.length / sizes->lo;
    if (curves->model == TAL_MUSCLE_DEGROOTE) {
        const tali_muscle_fiber_curves both = tali_muscle_degroote_fiber(&curves->degroote, l);
        at->active = both.active;
        at->passive = both.passive;
        return;
    }
    at->active = tali_muscle_active(curves, l);
    at->passive = tali_muscle_passive(curves, l);
}

// z is the fiber length.
static tali_muscle_found find_elastic(const tali_muscle_curves *curves,
                                      const tali_muscle_sizes *sizes,
                                      const tali_muscle_given *given)
{
    const real shortest = spread(sizes->shortest), zero = spread(0.0);
    tali_muscle_found at;
    at.fiber = tali_muscle_fiber_of(at_least(given->z, shortest), spread(sizes->h));
    at.tendon = given->l - at.fiber.along;
    set_fiber_curves(curves, sizes, &at);
    at.stretch = tali_muscle_tendon(curves, at.tendon / sizes->ls);
    at.f_tendon = at.stretch.y;
    set_equilibrium_speed(curves, sizes, given, &at);
    at.is_shortest = !less(shortest, given->z) && !less(zero, at.v);
    at.v = pick(at.is_shortest, zero, at.v);
    at.velocity = pick(at.is_shortest, spread(1.0), at.velocity);
    set_forces(sizes, given, &at);
    at.rate = sizes->vmax * at.v;
    return at;
}

// z is the tendon force. Where its rate is given the fibers take what the tendon leaves them.
static tali_muscle_found find_by_tendon(const tali_muscle_curves *curves,
                                        const tali_muscle_sizes *sizes,
                                        const tali_muscle_given *given, bool is_implicit)
{
    tali_muscle_found at;
    at.tendon = sizes->ls * tali_muscle_degroote_tendon_length(&curves->degroote, given->z);
    // a fiber cannot run backwards: a tendon that fills the path has no equilibrium
    const real along = given->l - at.tendon;
    at.fiber = tali_muscle_fiber_along(pick(less(spread(0.0), along), along, spread((double)NAN)),
                                       spread(sizes->h));
    set_fiber_curves(curves, sizes, &at);
    at.stretch = (tali_muscle_curve){given->z, curves->degroote.tendon_rate * (given->z + 0.2)};
    at.f_tendon = given->z;
    at.is_shortest = less(spread(0.0), spread(0.0));
    const real stiffness = at.stretch.slope / sizes->ls; // of f by the tendon's length
    if (is_implicit) {
        at.v = (given->ldot - given->z_dot / stiffness) * at.fiber.cosine / sizes->vmax;
        at.velocity = tali_muscle_velocity(curves, given->a, at.v);
    } else {
        set_equilibrium_speed(curves, sizes, given, &at);
    }
    set_forces(sizes, given, &at);
    at.rate = stiffness * (given->ldot - sizes->vmax * at.v / at.fiber.cosine);
    return at;
}

// The tendon is as long as it is, and fibers move with the path. A slack one carries nothing.
static tali_muscle_found find_rigid(const tali_muscle_curves *curves,
                                    const tali_muscle_sizes *sizes, const tali_muscle_given *given)
{
    const real zero = spread(0.0), shortest = spread(sizes->shortest), h = spread(sizes->h);
    const tali_muscle_fiber limit = tali_muscle_fiber_of(shortest, h);
    const real along = given->l - sizes->ls;
    tali_muscle_found at;
    at.is_shortest = !less(limit.along, along) && equal(along, along);
    at.fiber = tali_muscle_fiber_along(pick(at.is_shortest, limit.along, along), h);
    at.tendon = spread(sizes->ls);
    set_fiber_curves(curves, sizes, &at);
    at.v = pick(at.is_shortest, zero, given->ldot * at.fiber.cosine / sizes->vmax);
    at.velocity = tali_muscle_velocity(curves, given->a, at.v);
    set_forces(sizes, given, &at);
    // fibers do not push: what damping would take too much, it does not take
    at.velocity = at_least(at.velocity, zero);
    at.f_active = at_least(at.f_active, zero);
    const real elastic = at.f_active + at.passive.y;
    at.f_damping = at_least(at.f_damping, -elastic);
    at.f_tendon = pick(at.is_shortest, zero, (elastic + at.f_damping) * at.fiber.cosine);
    at.stretch = (tali_muscle_curve){at.f_tendon, spread((double)INFINITY)};
    at.rate = zero;
    return at;
}

tali_muscle_found tali_muscle_find(const tali_muscle_curves *curves, const tali_muscle_sizes *sizes,
                                   tali_muscle_kind kind, const tali_muscle_given *given)
{
    switch (kind) {
    case TALI_MUSCLE_ELASTIC:
        return find_elastic(curves, sizes, given);
    case TALI_MUSCLE_TENDON_Z:
        return find_by_tendon(curves, sizes, given, false);
    case TALI_MUSCLE_IMPLICIT:
        return find_by_tendon(curves, sizes, given, true);
    case TALI_MUSCLE_RIGID:
        break;
    }
    return find_rigid(curves, sizes, given);
}

real tali_muscle_tension(const tali_muscle_curves *curves, const tali_muscle_sizes *sizes,
                         tali_muscle_kind kind, const tali_muscle_given *given)
{
    if (kind == TALI_MUSCLE_RIGID) return find_rigid(curves, sizes, given).f_tendon;
    if (kind != TALI_MUSCLE_ELASTIC) return given->z;
    const real length = at_least(given->z, spread(sizes->shortest));
    const tali_muscle_fiber fiber = tali_muscle_fiber_of(length, spread(sizes->h));
    return tali_muscle_tendon(curves, (given->l - fiber.along) / sizes->ls).y;
}

// --- energy and stiffness ---

tali_muscle_energy tali_muscle_stored(const tali_muscle_curves *curves,
                                      const tali_muscle_sizes *sizes, tali_muscle_kind kind,
                                      const tali_muscle_given *given)
{
    const real h = spread(sizes->h), shortest = spread(sizes->shortest), zero = spread(0.0);
    real length, lt = spread(1.0);
    if (kind == TALI_MUSCLE_RIGID) {
        const real least = tali_muscle_fiber_of(shortest, h).along;
        length = tali_muscle_fiber_along(at_least(given->l - sizes->ls, least), h).length;
    } else if (kind == TALI_MUSCLE_ELASTIC) {
        length = at_least(given->z, shortest);
        lt = (given->l - tali_muscle_fiber_of(length, h).along) / sizes->ls;
    } else {
        lt = tali_muscle_degroote_tendon_length(&curves->degroote, given->z);
        length = tali_muscle_fiber_along(given->l - lt * sizes->ls, h).length;
    }
    const real in_fiber = tali_muscle_passive_area(curves, length / sizes->lo);
    const real in_tendon = kind == TALI_MUSCLE_RIGID ? zero : tali_muscle_tendon_area(curves, lt);
    return (tali_muscle_energy){sizes->F0 * sizes->lo * in_fiber,
                                sizes->F0 * sizes->ls * in_tendon};
}

// d(f cos)/d(l cos): with l cos = sqrt(l^2 - h^2), d(l cos)/dl = 1/cos and dcos/dl = h^2/(l^3 cos).
real tali_muscle_stiffness_along(const tali_muscle_sizes *sizes, const tali_muscle_found *at,
                                 real a)
{
    const real l = at->fiber.length, c = at->fiber.cosine;
    const real slope = a * at->velocity * at->active.slope + at->passive.slope;
    const real f = at->f_active + at->passive.y + at->f_damping;
    const real per_angle = f * (sizes->h * sizes->h) / (l * l * l);
    return sizes->F0 * fused(slope / sizes->lo, c * c, per_angle);
}
