// Obstacles: making and checking them, and what to ask of any kind.
#include "error_internal.h"

#include "wrap/wrap_internal.h"

#include <math.h>

static const char *const kind_names[TAL_NUM_WRAP_KINDS] = {"cylinder", "sphere", "ellipsoid",
                                                           "torus"};
static const char *const side_names[TAL_NUM_WRAP_SIDES] = {"any", "+x", "-x", "+y",
                                                           "-y",  "+z", "-z"};

static tal_wrap make(tal_wrap_kind kind, double x, double y, double z)
{
    const tal_wrap wrap = {kind, {x, y, z}, TAL_WRAP_ANY_SIDE};
    return wrap;
}

tal_wrap tal_wrap_cylinder(double radius, double length)
{
    return make(TAL_WRAP_CYLINDER, radius, length, 0.0);
}

tal_wrap tal_wrap_sphere(double radius)
{
    return make(TAL_WRAP_SPHERE, radius, 0.0, 0.0);
}

tal_wrap tal_wrap_ellipsoid(tal_vec3 semi_axes)
{
    return make(TAL_WRAP_ELLIPSOID, semi_axes.x, semi_axes.y, semi_axes.z);
}

tal_wrap tal_wrap_torus(double ring_radius, double tube_radius)
{
    return make(TAL_WRAP_TORUS, ring_radius, tube_radius, 0.0);
}

const char *tal_wrap_kind_name(tal_wrap_kind kind)
{
    return (int)kind >= 0 && (int)kind < TAL_NUM_WRAP_KINDS ? kind_names[kind] : "unknown";
}

const char *tal_wrap_side_name(tal_wrap_side side)
{
    return (int)side >= 0 && (int)side < TAL_NUM_WRAP_SIDES ? side_names[side] : "unknown";
}

tali_wrap_axis tali_wrap_axis_of(tal_wrap_side side)
{
    if (side == TAL_WRAP_ANY_SIDE) return (tali_wrap_axis){-1, 0.0};
    const int i = (int)side - 1;
    return (tali_wrap_axis){i / 2, i % 2 == 0 ? 1.0 : -1.0};
}

// --- checking ---

// The sizes of a kind, by name; NULL behind the last.
static const char *const size_names[TAL_NUM_WRAP_KINDS][3] = {
    {"radius", "length", NULL},
    {"radius", NULL, NULL},
    {"semi-axis x", "semi-axis y", "semi-axis z"},
    {"ring radius", "tube radius", NULL}};

static tal_status check_sizes(const tal_wrap *wrap, const char *name, tal_error *err)
{
    const double sizes[3] = {wrap->size.x, wrap->size.y, wrap->size.z};
    for (int i = 0; i < 3 && size_names[wrap->kind][i] != NULL; ++i) {
        const bool may_be_endless = wrap->kind == TAL_WRAP_CYLINDER && i == 1;
        if (may_be_endless && isinf(sizes[i]) && sizes[i] > 0.0) continue;
        if (isfinite(sizes[i]) && sizes[i] > 0.0) continue;
        return TALI_FAIL(err, isfinite(sizes[i]) ? TAL_ERR_BAD_VALUE : TAL_ERR_NOT_FINITE,
                         "%s '%s': the %s is %g: it must be positive and finite",
                         kind_names[wrap->kind], name, size_names[wrap->kind][i], sizes[i]);
    }
    if (wrap->kind != TAL_WRAP_TORUS || sizes[1] < sizes[0]) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "torus '%s': the tube radius %g must be below the ring radius %g", name,
                     sizes[1], sizes[0]);
}

static tal_status check_side(const tal_wrap *wrap, const char *name, tal_error *err)
{
    const int axis = tali_wrap_axis_of(wrap->side).axis;
    if (wrap->kind == TAL_WRAP_CYLINDER && axis == 2) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "cylinder '%s': there is no side %s along its axis: use x, y or any", name,
                         side_names[wrap->side]);
    }
    if (wrap->kind != TAL_WRAP_TORUS || axis < 0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "torus '%s': it has no side %s: strings go through its hole", name,
                     side_names[wrap->side]);
}

tal_status tal_wrap_check(const tal_wrap *wrap, const char *name, tal_error *err)
{
    const char *label = name != NULL ? name : "";
    if (wrap == NULL) {
        return TALI_FAIL(err, TALI_BREACH(TAL_ERR_NULL, "the obstacle '%s' is NULL", label),
                         "the obstacle '%s' is NULL", label);
    }
    const int kind = (int)wrap->kind, side = (int)wrap->side;
    if (kind < 0 || kind >= TAL_NUM_WRAP_KINDS) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "obstacle '%s': there is no kind %d", label, kind);
    }
    if (side < 0 || side >= TAL_NUM_WRAP_SIDES) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "obstacle '%s': there is no side %d", label, side);
    }
    const tal_status st = check_sizes(wrap, label, err);
    return st == TAL_OK ? check_side(wrap, label, err) : st;
}

// --- asking ---

typedef tal_wrap_contact (*find_fn)(const tal_wrap *wrap, tal_vec3 p1, tal_vec3 p2,
                                    tal_wrap_arc *arc);

static const find_fn find_on[TAL_NUM_WRAP_KINDS] = {tali_wrap_on_cylinder, tali_wrap_on_sphere,
                                                    tali_wrap_on_ellipsoid, tali_wrap_on_torus};

static bool is_given(const tal_wrap *wrap, const void *other, const char *where)
{
    if (wrap == NULL || other == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "an argument is NULL");
        return false;
    }
    tal_error why = {TAL_OK, "", ""};
    if (tal_wrap_check(wrap, NULL, &why) == TAL_OK) return true;
    (void)tali_breach(why.status, where, "%s", why.message);
    return false;
}

tal_wrap_contact tal_wrap_find(const tal_wrap *wrap, tal_vec3 p1, tal_vec3 p2, tal_wrap_arc *arc)
{
    if (!is_given(wrap, arc, __func__)) return TAL_WRAP_FAILED;
    if (!tal_v3_is_finite(p1) || !tal_v3_is_finite(p2)) return TAL_WRAP_FAILED;
    return find_on[wrap->kind](wrap, p1, p2, arc);
}

double tal_wrap_clearance(const tal_wrap *wrap, tal_vec3 p)
{
    if (!is_given(wrap, &p, __func__)) return TALI_NAN;
    const tal_vec3 size = wrap->size;
    switch (wrap->kind) {
    case TAL_WRAP_CYLINDER:
        return hypot(p.x, p.y) - size.x;
    case TAL_WRAP_SPHERE:
        return tal_v3_norm(p) - size.x;
    case TAL_WRAP_TORUS:
        return hypot(hypot(p.x, p.y) - size.x, p.z) - size.y;
    case TAL_WRAP_ELLIPSOID:
        break;
    }
    const tal_vec3 q = {p.x / size.x, p.y / size.y, p.z / size.z};
    const tal_vec3 g = {q.x / size.x, q.y / size.y, q.z / size.z};
    const double at = tal_v3_norm(q), slope = tal_v3_norm(g);
    // f = |q| - 1 and |grad f| = |g| / |q|; at the center, the smallest semi-axis
    return slope > 0.0 ? (at - 1.0) * at / slope : -fmin(size.x, fmin(size.y, size.z));
}

// --- points along an arc ---

// A helix of unit speed: the turn about z and the rise are both uniform.
static tal_vec3 along_cylinder(const tal_wrap_arc *arc, double radius, double s)
{
    const tal_vec3 p = arc->p[0], t = arc->t[0];
    const double rate = (p.x * t.y - p.y * t.x) / (radius * radius);
    const double c = cos(rate * s), n = sin(rate * s);
    return tal_v3(c * p.x - n * p.y, n * p.x + c * p.y, p.z + t.z * s);
}

static tal_vec3 along_sphere(const tal_wrap_arc *arc, double radius, double s)
{
    const double c = cos(s / radius), n = radius * sin(s / radius);
    return tal_v3_axpy(n, arc->t[0], tal_v3_scale(c, arc->p[0]));
}

void tali_wrap_follow(const tal_wrap *wrap, double s, tali_wrap_ray *ray)
{
    if (wrap->kind == TAL_WRAP_ELLIPSOID) {
        tali_wrap_follow_ellipsoid(wrap->size, s, ray);
    } else {
        tali_wrap_follow_torus(wrap->size.x, wrap->size.y, s, ray);
    }
}

bool tali_wrap_is_beside(const tal_wrap *wrap, const tal_wrap_arc *arc)
{
    if (wrap->kind != TAL_WRAP_TORUS) return false;
    return fabs(tal_wrap_clearance(wrap, arc->p[0])) > TALI_WRAP_SKIN * wrap->size.y;
}

tal_status tal_wrap_calc_points(const tal_wrap *wrap, const tal_wrap_arc *arc, int n,
                                tal_vec3 points[])
{
    if (!is_given(wrap, arc, __func__)) return tal_contract_last()->status;
    if (points == NULL) return TALI_BREACH(TAL_ERR_NULL, "points is NULL");
    if (n < 2) return TALI_BREACH(TAL_ERR_BAD_VALUE, "%d points: there must be 2 or more", n);
    if (!isfinite(arc->length) || !tal_v3_is_finite(arc->p[0]) || !tal_v3_is_finite(arc->t[0])) {
        return TALI_BREACH(TAL_ERR_NOT_FINITE, "the arc is not finite");
    }
    const double step = arc->length / (n - 1);
    tali_wrap_ray ray = {arc->p[0], arc->t[0], 0.0, 1.0};
    const bool is_beside = tali_wrap_is_beside(wrap, arc);
    for (int i = 0; i < n; ++i) {
        if (wrap->kind == TAL_WRAP_CYLINDER) {
            points[i] = along_cylinder(arc, wrap->size.x, i * step);
        } else if (wrap->kind == TAL_WRAP_SPHERE) {
            points[i] = along_sphere(arc, wrap->size.x, i * step);
        } else if (is_beside) {
            points[i] = tali_wrap_along_ring(wrap, arc, i * step);
        } else {
            points[i] = ray.p;
            if (i < n - 1) tali_wrap_follow(wrap, step, &ray);
        }
    }
    return TAL_OK;
}
