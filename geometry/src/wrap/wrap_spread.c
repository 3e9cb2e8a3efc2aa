// How geodesics beside an arc move away from it: what derivatives of strings are made of.
//
// A neighbor that is y to the left follows y'' = -K y (DoCarmo sec. 5-5). Two such fields make all
// others: `a` begins beside the arc and parallel to it, `r` at the same point and turned.
#include "error_internal.h"

#include "wrap/wrap_internal.h"

#include <math.h>

// Fields whose values agree to this share after another halving of the pieces have converged.
static const double SAME = 1e-13;

enum {
    FIRST_PIECES = 8,
    MOST_PIECES = 512
};

static tal_wrap_spread spread_on_cylinder(double length)
{
    return (tal_wrap_spread){.a = 1.0, .r = length, .dr = 1.0};
}

static tal_wrap_spread spread_on_sphere(double radius, double length)
{
    const double angle = length / radius, c = cos(angle), s = sin(angle);
    return (tal_wrap_spread){.a = c, .da = -s / radius, .r = radius * s, .dr = c};
}

// Both fields, followed in so many pieces.
static tal_wrap_spread spread_in_pieces(const tal_wrap *wrap, const tal_wrap_arc *arc, int pieces)
{
    tali_wrap_ray beside = {arc->p[0], arc->t[0], 1.0, 0.0};
    tali_wrap_ray turned = {arc->p[0], arc->t[0], 0.0, 1.0};
    for (int i = 0; i < pieces; ++i) {
        tali_wrap_follow(wrap, arc->length / pieces, &beside);
        tali_wrap_follow(wrap, arc->length / pieces, &turned);
    }
    return (tal_wrap_spread){.a = beside.y, .da = beside.dy, .r = turned.y, .dr = turned.dy};
}

// Lengths are compared with that of the arc.
static double difference(const tal_wrap_spread *x, const tal_wrap_spread *y, double length)
{
    const double a = fmax(fabs(x->a - y->a), length * fabs(x->da - y->da));
    const double r = fmax(fabs(x->r - y->r) / length, fabs(x->dr - y->dr));
    return fmax(a, r);
}

// Series of fields are short, for Newton's method alone: pieces are halved until nothing changes.
static tal_wrap_spread spread_along(const tal_wrap *wrap, const tal_wrap_arc *arc)
{
    if (!(arc->length > 0.0)) return (tal_wrap_spread){.a = 1.0, .dr = 1.0};
    tal_wrap_spread last = spread_in_pieces(wrap, arc, FIRST_PIECES);
    for (int pieces = 2 * FIRST_PIECES; pieces <= MOST_PIECES; pieces *= 2) {
        const tal_wrap_spread next = spread_in_pieces(wrap, arc, pieces);
        const double change = difference(&next, &last, arc->length);
        const double size = fmax(fabs(next.a), fabs(next.dr));
        last = next;
        if (!(change > SAME * fmax(1.0, size))) break;
    }
    return last;
}

static tal_vec3 normal_at(const tal_wrap *wrap, tal_vec3 p)
{
    const tal_vec3 size = wrap->size;
    switch (wrap->kind) {
    case TAL_WRAP_CYLINDER:
        return tal_v3_normalize(tal_v3(p.x, p.y, 0.0));
    case TAL_WRAP_SPHERE:
        return tal_v3_normalize(p);
    case TAL_WRAP_TORUS: {
        const double by = 1.0 - size.x / hypot(p.x, p.y); // from the nearest point of the ring
        return tal_v3_normalize(tal_v3(by * p.x, by * p.y, p.z));
    }
    case TAL_WRAP_ELLIPSOID:
        break;
    }
    return tal_v3_normalize(
        tal_v3(p.x / (size.x * size.x), p.y / (size.y * size.y), p.z / (size.z * size.z)));
}

static tal_status check(const tal_wrap *wrap, const tal_wrap_arc *arc)
{
    tal_error why = {TAL_OK, "", ""};
    if (tal_wrap_check(wrap, NULL, &why) != TAL_OK) {
        return TALI_BREACH(why.status, "%s", why.message);
    }
    if (!isfinite(arc->length) || !tal_v3_is_finite(arc->p[0]) || !tal_v3_is_finite(arc->p[1]) ||
        !tal_v3_is_finite(arc->t[0]) || !tal_v3_is_finite(arc->t[1])) {
        return TALI_BREACH(TAL_ERR_NOT_FINITE, "the arc is not finite");
    }
    if (!tali_wrap_is_beside(wrap, arc)) return TAL_OK;
    return TALI_BREACH(TAL_ERR_BAD_VALUE, "the arc lies beside the torus, on a cylinder");
}

tal_status tal_wrap_calc_spread(const tal_wrap *wrap, const tal_wrap_arc *arc,
                                tal_wrap_spread *spread)
{
    if (wrap == NULL || arc == NULL || spread == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    const tal_status st = check(wrap, arc);
    if (st != TAL_OK) return st;
    if (wrap->kind == TAL_WRAP_CYLINDER) {
        *spread = spread_on_cylinder(arc->length);
    } else if (wrap->kind == TAL_WRAP_SPHERE) {
        *spread = spread_on_sphere(wrap->size.x, arc->length);
    } else {
        *spread = spread_along(wrap, arc);
    }
    for (int k = 0; k < 2; ++k) {
        spread->left[k] = tal_v3_cross(normal_at(wrap, arc->p[k]), arc->t[k]);
    }
    return TAL_OK;
}
