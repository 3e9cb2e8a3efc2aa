// Where rigid bodies touch: constraints that keep surfaces together, unilateral elements, and
// colliders. What deforms is in scene_loads.c.
#include "alloc_internal.h"
#include "matter_facts_internal.h"

#include "scene/scene_internal.h"

#include <math.h>
#include <string.h>

// Squared sine of the angle below which two edges count as parallel.
static const double PARALLEL = 1e-12;

// An element whose gap is below this part of the model's size is seen to touch.
static const double touch = 1e-3;

// A constraint at the scene's State: its parameters, and poses of its two bodies.
typedef struct contact {
    const double *params;
    tal_xform X_GB[2];
} contact;

static tal_vec3 v3_at(const double params[])
{
    return tal_v3(params[0], params[1], params[2]);
}

// A point of one of the bodies, in Ground.
static tal_vec3 point_at(const contact *it, int body, int first)
{
    return tal_xf_apply(it->X_GB[body], v3_at(it->params + first));
}

// A direction on one of the bodies, in Ground.
static tal_vec3 direction_at(const contact *it, int body, int first)
{
    return tal_m3_mul_v3(it->X_GB[body].R, v3_at(it->params + first));
}

// ---- kinds of contact. A frame is its axes x, y, z, then its origin.

enum {
    AXIS_X = 0,
    AXIS_Z = 6,
    ORIGIN = 9
};

static tal_vec3 point_on_plane(const contact *it)
{
    return point_at(it, 1, TAL_POINT_ON_PLANE_STATION);
}

static tal_vec3 sphere_on_plane(const contact *it)
{
    const tal_vec3 z = direction_at(it, 0, TAL_SPHERE_ON_PLANE_FRAME + AXIS_Z);
    return tal_v3_axpy(-it->params[TAL_SPHERE_ON_PLANE_RADIUS], z,
                       point_at(it, 1, TAL_SPHERE_ON_PLANE_CENTER));
}

// The lowest point of its edge: e = (z - (a . z) a) / |z - (a . z) a| is up along the disk.
static tal_vec3 disk_on_plane(const contact *it)
{
    const tal_vec3 z = direction_at(it, 0, TAL_DISK_ON_PLANE_FRAME + AXIS_Z);
    const tal_vec3 a = tal_v3_normalize(direction_at(it, 1, TAL_DISK_ON_PLANE_AXIS));
    const tal_vec3 up = tal_v3_axpy(-tal_v3_dot(a, z), a, z);
    const tal_vec3 flat = direction_at(it, 0, TAL_DISK_ON_PLANE_FRAME + AXIS_X);
    const tal_vec3 e = tal_v3_norm(up) > 0.0 ? tal_v3_normalize(up) : flat;
    return tal_v3_axpy(-it->params[TAL_DISK_ON_PLANE_RADIUS], e,
                       point_at(it, 1, TAL_DISK_ON_PLANE_CENTER));
}

// On the first sphere, towards the second.
static tal_vec3 sphere_on_sphere(const contact *it)
{
    const tal_vec3 c1 = point_at(it, 0, TAL_SPHERE_ON_SPHERE_CENTER_1);
    const tal_vec3 c2 = point_at(it, 1, TAL_SPHERE_ON_SPHERE_CENTER_2);
    const tal_vec3 d = tal_v3_sub(c2, c1);
    const double distance = tal_v3_norm(d);
    if (!(distance > 0.0)) return c1;
    return tal_v3_axpy(it->params[TAL_SPHERE_ON_SPHERE_RADIUS_1] / distance, d, c1);
}

// The point of edge 1 that is nearest to edge 2: Q1 = P1 + (x1 . d - c x2 . d) / s2 x1, with
// d = P2 - P1, c = x1 . x2, s2 = 1 - c^2; P1 where they are parallel.
static tal_vec3 line_on_line(const contact *it)
{
    const tal_vec3 x1 = direction_at(it, 0, TAL_LINE_ON_LINE_FRAME_1 + AXIS_X);
    const tal_vec3 x2 = direction_at(it, 1, TAL_LINE_ON_LINE_FRAME_2 + AXIS_X);
    const tal_vec3 P1 = point_at(it, 0, TAL_LINE_ON_LINE_FRAME_1 + ORIGIN);
    const tal_vec3 d = tal_v3_sub(point_at(it, 1, TAL_LINE_ON_LINE_FRAME_2 + ORIGIN), P1);
    const double c = tal_v3_dot(x1, x2), s2 = 1.0 - c * c;
    if (!(s2 > PARALLEL)) return P1;
    return tal_v3_axpy((tal_v3_dot(x1, d) - c * tal_v3_dot(x2, d)) / s2, x1, P1);
}

typedef struct contact_row {
    const char *kind;
    int num_params;
    tal_vec3 (*point)(const contact *it); // NULL: a grip, which stands where its normal does
} contact_row;

static const contact_row contact_rows[] = {
    {"point on plane contact", TAL_POINT_ON_PLANE_NUM_PARAMS, point_on_plane},
    {"sphere on plane contact", TAL_SPHERE_ON_PLANE_NUM_PARAMS, sphere_on_plane},
    {"rolling sphere on plane", TAL_SPHERE_ON_PLANE_NUM_PARAMS, sphere_on_plane},
    {"disk on plane contact", TAL_DISK_ON_PLANE_NUM_PARAMS, disk_on_plane},
    {"rolling disk on plane", TAL_DISK_ON_PLANE_NUM_PARAMS, disk_on_plane},
    {"sphere on sphere contact", TAL_SPHERE_ON_SPHERE_NUM_PARAMS, sphere_on_sphere},
    {"rolling sphere on sphere", TAL_SPHERE_ON_SPHERE_NUM_PARAMS, sphere_on_sphere},
    {"line on line contact", TAL_LINE_ON_LINE_NUM_PARAMS, line_on_line},
    {"rolling line on line", TAL_LINE_ON_LINE_NUM_PARAMS, line_on_line},
    {"grip of a point on a plane", 0, NULL},
    {"grip of a sphere on a plane", 0, NULL},
    {"grip of a sphere on a sphere", 0, NULL},
    {"grip of a line on a line", 0, NULL}};

static const contact_row *row_of(const tal_scene *scene, tal_constraint_ix ix)
{
    const tali_matter_constraint_facts facts =
        tali_matter_constraint_facts_of(scene->model.matter, ix);
    const char *const kind = facts.kind != NULL ? facts.kind : facts.ops->name;
    for (size_t i = 0; i < sizeof contact_rows / sizeof *contact_rows; ++i) {
        if (strcmp(contact_rows[i].kind, kind) == 0) return &contact_rows[i];
    }
    return NULL;
}

// ---- all of them

bool tali_scene_is_contact(const tal_scene *scene, tal_constraint_ix ix)
{
    return row_of(scene, ix) != NULL;
}

bool tali_scene_has_contacts(const tal_scene *scene)
{
    if (tal_matter_num_colliders(scene->model.matter) > 1) return true;
    for (int i = 0; i < tal_matter_num_constraints(scene->model.matter); ++i) {
        if (tali_scene_is_contact(scene, (tal_constraint_ix){i})) return true;
    }
    return false;
}

// A table has no modes: whether a unilateral element touches is seen from its gap.
static bool is_closed(const tal_scene *scene, tal_constraint_ix ix)
{
    const tal_matter *const matter = scene->model.matter;
    const tal_unilateral_ix element = tal_constraint_unilateral(matter, ix);
    if (element.i < 0) return tal_constraint_is_enabled(matter, scene->state, ix);
    return tal_unilateral_is_enabled(matter, scene->state, element) &&
           tal_unilateral_gap(matter, scene->state, element) < touch * scene->size;
}

bool tali_scene_touch_point(const tal_scene *scene, tal_constraint_ix ix, tal_vec3 *p_G)
{
    const tal_matter *const matter = scene->model.matter;
    const contact_row *const row = row_of(scene, ix);
    int n = 0;
    if (row == NULL || row->point == NULL || !is_closed(scene, ix)) return false;
    contact it = {.params = tal_constraint_params(matter, scene->state, ix, &n)};
    if (n < row->num_params) return false;
    const tali_matter_constraint_facts facts = tali_matter_constraint_facts_of(matter, ix);
    for (int k = 0; k < 2; ++k) {
        it.X_GB[k] = tal_body_X_GB(matter, scene->state, (tal_body_ix){facts.bodies[k]});
    }
    *p_G = row->point(&it);
    return tal_v3_is_finite(*p_G);
}

// ---- colliders

// Within this distance of its shape's origin is all of it; a half-space is everywhere.
static double extent_of(const tal_hull *hull)
{
    const int n = tal_hull_num_vertices(hull);
    double most = n > 0 ? 0.0 : (double)INFINITY;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, tal_v3_norm(tal_hull_vertex(hull, i)));
    }
    return most + tal_hull_radius(hull);
}

// As drawing needs it: where solids are too deep within each other there are no points.
static int calc_points(const tal_scene *scene, const tal_hull *hull[2], const tal_xform X_GS[2],
                       double reach, tal_vec3 points[])
{
    const size_t bytes = tal_touch_work_size(hull[0], hull[1]) * sizeof(double);
    double *const work = tali_alloc(&scene->options.allocator, bytes);
    tal_touch_point found[TALI_SCENE_PAIR_POINTS];
    tal_touch touch_of = {.num_points = 0};
    if (work == NULL) return -1;
    const tal_status st = tal_hull_calc_touch(hull[0], &X_GS[0], hull[1], &X_GS[1], reach, found,
                                              TALI_SCENE_PAIR_POINTS, work, &touch_of);
    tali_free(&scene->options.allocator, work, bytes);
    int n = 0;
    for (int i = 0; i < touch_of.num_points && st == TAL_OK; ++i) {
        if (found[i].gap < reach) points[n++] = found[i].p_G;
    }
    return n;
}

int tali_scene_collider_points(const tal_scene *scene, int a, int b,
                               tal_vec3 points[TALI_SCENE_PAIR_POINTS])
{
    const tal_matter *const matter = scene->model.matter;
    const int pair[2] = {a, b};
    const double reach = touch * scene->size;
    tal_collider_def def[2];
    const tal_hull *hull[2];
    tal_xform X_GS[2];
    double extent = reach;
    for (int k = 0; k < 2; ++k) {
        def[k] = tal_collider_def_of(matter, (tal_collider_ix){pair[k]});
        hull[k] = tal_collider_hull(matter, (tal_collider_ix){pair[k]});
        X_GS[k] = tal_xf_mul(tal_body_X_GB(matter, scene->state, def[k].body), def[k].X_BS);
        extent += extent_of(hull[k]);
    }
    const bool may_meet = def[0].body.i != def[1].body.i && (def[0].cliques & def[1].cliques) == 0;
    if (!may_meet || !tal_hull_can_touch(hull[0], hull[1]) ||
        tal_v3_norm(tal_v3_sub(X_GS[0].p, X_GS[1].p)) > extent) {
        return 0;
    }
    return calc_points(scene, hull, X_GS, reach, points);
}
