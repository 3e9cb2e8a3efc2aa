// Unilateral elements for colliders: each pair that meets becomes points or spheres on planes, or
// spheres on each other.
#include "collider/collider_internal.h"

#include <talus/matter/unilaterals.h>

#include <stdio.h>

static const tali_collider *at(const tal_matter *matter, int i)
{
    return &matter->colliders.list[i];
}

static bool is_half_space(const tali_collider *it)
{
    return tal_hull_num_vertices(it->hull) == 0;
}

// On different bodies, and without a clique in common.
static bool meet(const tali_collider *a, const tali_collider *b)
{
    return a->def.body.i != b->def.body.i && (a->def.cliques & b->def.cliques) == 0;
}

static tal_vec3 vertex_on_body(const tali_collider *it, int vertex)
{
    return tal_xf_apply(it->def.X_BS, tal_hull_vertex(it->hull, vertex));
}

// The plane of a half-space, z outward: its own outward normal is -x.
static tal_xform plane_of(const tali_collider *it)
{
    const tal_mat3 R = it->def.X_BS.R;
    return tal_xf(tal_m3(R.y, tal_v3_neg(R.z), tal_v3_neg(R.x)), it->def.X_BS.p);
}

// "ball on floor", and " 3" behind it for a solid with several vertices. What is too long for a
// name is that of the colliders' numbers.
static const char *name_of(const tal_matter *matter, const tali_collider *a, const tali_collider *b,
                           int vertex, char name[2 * TAL_MAX_NAME + 32])
{
    const size_t room = 2 * TAL_MAX_NAME + 32;
    char which[16] = "";
    if (tal_hull_num_vertices(a->hull) > 1) (void)snprintf(which, sizeof which, " %d", vertex);
    (void)snprintf(name, room, "%s on %s%s", a->name, b->name, which);
    if (strlen(name) <= TAL_MAX_NAME) return name;
    const tali_collider *first = matter->colliders.list;
    (void)snprintf(name, room, "collider%d on collider%d%s", (int)(a - first), (int)(b - first),
                   which);
    return name;
}

static bool is_taken(const tal_matter *matter, const char *name)
{
    return tal_matter_find_unilateral(matter, name).i >= 0;
}

static tal_unilateral_def def_of(const tali_collider *a, const tali_collider *b)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.material = tal_collider_material(&a->def.material, &b->def.material);
    return def;
}

// Each vertex of a solid, with the radius it is rounded by.
static void add_on_plane(tal_matter *matter, const tali_collider *solid, const tali_collider *floor)
{
    char name[2 * TAL_MAX_NAME + 32];
    const tal_xform plane = plane_of(floor);
    const double radius = tal_hull_radius(solid->hull);
    tal_unilateral_def def = def_of(solid, floor);
    for (int k = 0; k < tal_hull_num_vertices(solid->hull); ++k) {
        const tal_vec3 p = vertex_on_body(solid, k);
        def.name = name_of(matter, solid, floor, k, name);
        if (is_taken(matter, def.name)) continue;
        if (radius > 0.0) {
            (void)tal_unilateral_add_sphere_on_plane(matter, &def, floor->def.body, &plane,
                                                     solid->def.body, p, radius);
        } else {
            (void)tal_unilateral_add_point_on_plane(matter, &def, floor->def.body, &plane,
                                                    solid->def.body, p);
        }
    }
}

static void add_spheres(tal_matter *matter, const tali_collider *a, const tali_collider *b)
{
    char name[2 * TAL_MAX_NAME + 32];
    tal_unilateral_def def = def_of(a, b);
    def.name = name_of(matter, a, b, 0, name);
    if (is_taken(matter, def.name)) return;
    (void)tal_unilateral_add_sphere_on_sphere(matter, &def, a->def.body, vertex_on_body(a, 0),
                                              tal_hull_radius(a->hull), b->def.body,
                                              vertex_on_body(b, 0), tal_hull_radius(b->hull));
}

static bool is_sphere(const tali_collider *it)
{
    return tal_hull_num_vertices(it->hull) == 1 && tal_hull_radius(it->hull) > 0.0;
}

static tal_status add_pair(tal_matter *matter, int i, int j)
{
    const tali_collider *a = at(matter, i), *b = at(matter, j);
    if (!meet(a, b)) return TAL_OK;
    if (is_half_space(a) != is_half_space(b)) {
        add_on_plane(matter, is_half_space(a) ? b : a, is_half_space(a) ? a : b);
    } else if (is_sphere(a) && is_sphere(b)) {
        add_spheres(matter, a, b);
    } else {
        return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                               "colliders '%s' and '%s' cannot be made unilateral elements, as "
                               "solids on half-spaces and spheres can: put them in one clique, or "
                               "use a contact stepper",
                               a->name, b->name);
    }
    return tal_system_error(matter->system)->status;
}

tal_status tal_matter_add_collider_elements(tal_matter *matter)
{
    tal_status st = tali_matter_can_build(matter, __func__);
    if (st != TAL_OK) return st;
    if (matter->colliders.are_elements) {
        return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                               "colliders were made unilateral elements already: once is enough");
    }
    for (int j = 0; j < matter->colliders.count && st == TAL_OK; ++j) {
        for (int i = 0; i < j && st == TAL_OK; ++i) {
            st = add_pair(matter, i, j);
        }
    }
    matter->colliders.are_elements = true;
    return st;
}

bool tal_matter_has_collider_elements(const tal_matter *matter)
{
    if (matter != NULL) return matter->colliders.are_elements;
    (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    return false;
}
