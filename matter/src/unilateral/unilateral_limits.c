// Where elements may touch: within a polygon, between the ends of edges, where a user says.
#include "constraint/type/constraint_builtin_internal.h"
#include "unilateral/unilateral_internal.h"

#include <talus/matter/unilaterals.h>

#include <math.h>

// |d1 x d2| below this: edges are parallel, and have no point where they touch.
static const double PARALLEL = 1e-3;

// --- setting them ---

// The element, if limits can be set for it; NULL after a failure.
static tali_unilateral *element_to_limit(const tal_matter *matter, tal_unilateral_ix element,
                                         bool is_edge, const char *where)
{
    const tali_unilateral *found = tali_unilateral_at(matter, element, where);
    if (found == NULL || tali_matter_can_build(matter, where) != TAL_OK) return NULL;
    tali_unilateral *it = &matter->unilaterals.list[element.i];
    const uint64_t tag = it->normal >= 0 ? matter->constraints.list[it->normal].ops.tag : 0;
    const bool fits =
        is_edge ? tag == TALI_TAG_LINE_ON_LINE_CONTACT
                : tag == TALI_TAG_POINT_OVER_PLANE || tag == TALI_TAG_SPHERE_ON_PLANE_CONTACT;
    const bool is_new = it->margin == NULL && it->polygon == NULL && it->halves[0] == 0.0;
    if (fits && is_new) return it;
    (void)tal_system_fail(matter->system, TAL_ERR_BAD_VALUE, "unilateral '%s' %s", it->name,
                          !fits ? is_edge ? "is not of two edges: their ends are no limits to it"
                                          : "is not on a plane: a polygon is no limit to it"
                          : is_edge ? "has limits already"
                                    : "has limits already: a polygon cannot be added");
    return NULL;
}

static bool is_convex(const double xy[], int count)
{
    for (int i = 0; i < count; ++i) {
        const double *a = xy + 2 * (ptrdiff_t)i, *b = xy + 2 * (ptrdiff_t)((i + 1) % count),
                     *c = xy + 2 * (ptrdiff_t)((i + 2) % count);
        const double turn = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
        if (!(turn > 0.0) || !isfinite(turn)) return false;
    }
    return true;
}

tal_status tal_unilateral_limit_polygon(tal_matter *matter, tal_unilateral_ix element,
                                        const double xy[], int count)
{
    tali_unilateral *it = element_to_limit(matter, element, false, __func__);
    if (it == NULL) {
        return matter != NULL && tal_system_error(matter->system)->status != TAL_OK
                   ? tal_system_error(matter->system)->status
                   : tal_contract_last()->status;
    }
    if (xy == NULL || count < 3 || !is_convex(xy, count)) {
        return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                               "unilateral '%s': its polygon has %d corners: it needs three at "
                               "least, convex and counterclockwise",
                               it->name, count);
    }
    const size_t bytes = 2 * (size_t)count * sizeof(double);
    it->polygon = tali_alloc(&matter->allocator, bytes);
    if (it->polygon == NULL) {
        return tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "unilateral '%s': no memory",
                               it->name);
    }
    memcpy(it->polygon, xy, bytes);
    it->num_corners = count;
    return TAL_OK;
}

tal_status tal_unilateral_limit_edges(tal_matter *matter, tal_unilateral_ix element, double half1,
                                      double half2)
{
    tali_unilateral *it = element_to_limit(matter, element, true, __func__);
    if (it == NULL) {
        return matter != NULL && tal_system_error(matter->system)->status != TAL_OK
                   ? tal_system_error(matter->system)->status
                   : tal_contract_last()->status;
    }
    if (!(half1 > 0.0) || !(half2 > 0.0)) {
        return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                               "unilateral '%s': its edges end at %g and %g: both must be positive",
                               it->name, half1, half2);
    }
    it->halves[0] = half1;
    it->halves[1] = half2;
    return TAL_OK;
}

bool tal_unilateral_is_limited(const tal_matter *matter, tal_unilateral_ix element)
{
    const tali_unilateral *it = tali_unilateral_at(matter, element, __func__);
    return it != NULL && (it->margin != NULL || it->polygon != NULL || it->halves[0] > 0.0);
}

// --- how far an element is within them ---

// The distance to the nearest side, negative outside.
static double margin_of_polygon(const tali_unilateral *it, double x, double y)
{
    double least = (double)INFINITY;
    for (int i = 0; i < it->num_corners; ++i) {
        const double *a = it->polygon + 2 * (ptrdiff_t)i;
        const double *b = it->polygon + 2 * (ptrdiff_t)((i + 1) % it->num_corners);
        const double dx = b[0] - a[0], dy = b[1] - a[1];
        least = fmin(least, (dx * (y - a[1]) - dy * (x - a[0])) / hypot(dx, dy));
    }
    return least;
}

// Points and spheres have the frame of the plane first, then what is over it.
static double margin_on_plane(const tali_unilateral *it, const tal_constraint_arg *arg)
{
    const tal_xform X_P = tal_xf_mul(arg->X_AB[0], tali_constraint_frame_from(arg->params));
    const tal_vec3 S = tal_xf_apply(
        arg->X_AB[1], tali_constraint_v3_from(arg->params + TAL_POINT_ON_PLANE_STATION));
    const tal_vec3 p = tal_m3_tmul_v3(X_P.R, tal_v3_sub(S, X_P.p));
    return margin_of_polygon(it, p.x, p.y);
}

// How far the points where two lines are nearest are from their ends.
static double margin_of_edges(const tali_unilateral *it, const tal_constraint_arg *arg)
{
    const tal_xform X_1 = tal_xf_mul(
        arg->X_AB[0], tali_constraint_frame_from(arg->params + TAL_LINE_ON_LINE_FRAME_1));
    const tal_xform X_2 = tal_xf_mul(
        arg->X_AB[1], tali_constraint_frame_from(arg->params + TAL_LINE_ON_LINE_FRAME_2));
    const tal_vec3 n = tal_v3_cross(X_1.R.x, X_2.R.x), p = tal_v3_sub(X_2.p, X_1.p);
    const double square = tal_v3_dot(n, n);
    if (!(square > PARALLEL * PARALLEL)) return -1.0;
    const double s1 = tal_v3_dot(tal_v3_cross(p, X_2.R.x), n) / square;
    const double s2 = tal_v3_dot(tal_v3_cross(p, X_1.R.x), n) / square;
    return fmin(it->halves[0] - fabs(s1), it->halves[1] - fabs(s2));
}

double tal_unilateral_margin(const tal_matter *matter, tal_state *state, tal_unilateral_ix element)
{
    tali_tree_view view;
    const tali_unilateral *it = tali_unilateral_at(matter, element, __func__);
    if (it == NULL) return TALI_NAN;
    if (!tal_unilateral_is_limited(matter, element)) return (double)INFINITY;
    if (!tali_unilateral_view(matter, state, TAL_STAGE_POSITION, &view)) return TALI_NAN;
    if (it->margin != NULL) return it->margin(it->margin_context, matter, state, element);
    tali_constraint_room room;
    const tal_constraint_arg arg =
        tali_constraint_arg_of(matter, state, &view, it->normal, NULL, NULL, &room);
    return it->polygon != NULL ? margin_on_plane(it, &arg) : margin_of_edges(it, &arg);
}
