// The built-in unilateral elements: each adds its constraints, then itself.
#include "constraint/type/constraint_builtin_internal.h"

#include <talus/matter/unilaterals.h>

#include <stdio.h>

/// An element while it is being added.
typedef struct new_element {
    tal_unilateral_def def;
    char name[TAL_MAX_NAME + 16];   ///< with room for what is too long, so that it is refused
    char normal[TAL_MAX_NAME + 32]; ///< names of its constraints
    char grip[TAL_MAX_NAME + 32];
    tal_constraint_def parts; ///< what they act on
} new_element;

static bool has_friction(const tal_unilateral_def *def)
{
    return def->material.static_mu > 0.0 || def->material.limit > 0.0;
}

// Copy the def, and name the constraints after it. False when nothing can be added.
static bool begin(new_element *it, const tal_matter *matter, const tal_unilateral_def *def,
                  tal_constraint_def parts, const char *where)
{
    if (tali_matter_can_build(matter, where) != TAL_OK) return false;
    it->def = def != NULL ? *def : tal_unilateral_def_default();
    it->def.normal = it->def.grip = (tal_constraint_ix){-1};
    it->def.sign = 1;
    it->def.anchor = -1;
    it->parts = parts;
    if (it->def.name != NULL) {
        (void)snprintf(it->name, sizeof it->name, "%s", it->def.name);
    } else {
        (void)snprintf(it->name, sizeof it->name, "unilateral%d", matter->unilaterals.count);
    }
    it->def.name = it->name;
    (void)snprintf(it->normal, sizeof it->normal, "%s normal", it->name);
    (void)snprintf(it->grip, sizeof it->grip, "%s grip", it->name);
    return true;
}

// Two bodies that are not the same.
static bool begin_between(new_element *it, const tal_matter *matter, const tal_unilateral_def *def,
                          tal_body_ix body1, tal_body_ix body2, const char *where)
{
    if (!begin(it, matter, def, tal_constraint_between(body1, body2), where)) return false;
    if (body1.i != body2.i) return true;
    (void)tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                          "unilateral '%s': body %d cannot touch itself", it->name, body1.i);
    return false;
}

static const tal_constraint_def *normal_of(new_element *it)
{
    it->parts.name = it->normal;
    return &it->parts;
}

static const tal_constraint_def *grip_of(new_element *it)
{
    it->parts.name = it->grip;
    return &it->parts;
}

static tal_unilateral_ix none(void)
{
    return (tal_unilateral_ix){-1};
}

tal_unilateral_ix tal_unilateral_add_point_on_plane(tal_matter *matter,
                                                    const tal_unilateral_def *def,
                                                    tal_body_ix body1, const tal_xform *plane,
                                                    tal_body_ix body2, tal_vec3 station)
{
    new_element it;
    if (!begin_between(&it, matter, def, body1, body2, __func__)) return none();
    it.def.normal = tali_constraint_add_point_over_plane(matter, normal_of(&it), plane, station);
    if (has_friction(&it.def)) {
        it.def.grip = tali_constraint_add_point_on_plane_grip(matter, grip_of(&it), plane, station);
        it.def.anchor = TALI_CONSTRAINT_POINT_GRIP_ANCHOR;
    }
    return tal_matter_add_unilateral(matter, &it.def);
}

tal_unilateral_ix tal_unilateral_add_sphere_on_plane(tal_matter *matter,
                                                     const tal_unilateral_def *def,
                                                     tal_body_ix body1, const tal_xform *plane,
                                                     tal_body_ix body2, tal_vec3 center,
                                                     double radius)
{
    new_element it;
    if (!begin_between(&it, matter, def, body1, body2, __func__)) return none();
    it.def.normal = tal_constraint_add_sphere_on_plane_contact(matter, normal_of(&it), plane,
                                                               center, radius, false);
    if (has_friction(&it.def)) {
        it.def.grip =
            tali_constraint_add_sphere_on_plane_grip(matter, grip_of(&it), plane, center, radius);
    }
    return tal_matter_add_unilateral(matter, &it.def);
}

tal_unilateral_ix tal_unilateral_add_sphere_on_sphere(tal_matter *matter,
                                                      const tal_unilateral_def *def,
                                                      tal_body_ix body1, tal_vec3 center1,
                                                      double radius1, tal_body_ix body2,
                                                      tal_vec3 center2, double radius2)
{
    new_element it;
    if (!begin_between(&it, matter, def, body1, body2, __func__)) return none();
    it.def.normal = tal_constraint_add_sphere_on_sphere_contact(matter, normal_of(&it), center1,
                                                                radius1, center2, radius2, false);
    if (has_friction(&it.def)) {
        it.def.grip = tali_constraint_add_sphere_on_sphere_grip(matter, grip_of(&it), center1,
                                                                radius1, center2, radius2);
    }
    return tal_matter_add_unilateral(matter, &it.def);
}

tal_unilateral_ix tal_unilateral_add_edge_on_edge(tal_matter *matter, const tal_unilateral_def *def,
                                                  tal_body_ix body1, const tal_xform *edge1,
                                                  tal_body_ix body2, const tal_xform *edge2)
{
    new_element it;
    if (!begin_between(&it, matter, def, body1, body2, __func__)) return none();
    it.def.normal =
        tal_constraint_add_line_on_line_contact(matter, normal_of(&it), edge1, edge2, false);
    if (has_friction(&it.def)) {
        it.def.grip = tali_constraint_add_line_on_line_grip(matter, grip_of(&it), edge1, edge2);
    }
    return tal_matter_add_unilateral(matter, &it.def);
}

tal_unilateral_ix tal_unilateral_add_rope(tal_matter *matter, const tal_unilateral_def *def,
                                          tal_body_ix body1, tal_vec3 station1, tal_body_ix body2,
                                          tal_vec3 station2, double length)
{
    new_element it;
    if (!begin_between(&it, matter, def, body1, body2, __func__)) return none();
    it.def.normal = tal_constraint_add_rod(matter, normal_of(&it), station1, station2, length);
    it.def.sign = -1;
    return tal_matter_add_unilateral(matter, &it.def);
}

// Friction without a normal needs something that makes it.
static bool has_cause(const new_element *it, const tal_matter *matter)
{
    const tal_unilateral_material *m = &it->def.material;
    if (m->limit > 0.0 || (it->def.load.constraint.i >= 0 && m->static_mu > 0.0)) return true;
    (void)tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                          "unilateral '%s': its limit is %g: friction without a normal force needs "
                          "one above zero, or a load and a static_mu above zero",
                          it->name, m->limit);
    return false;
}

// --- along one mobility ---

tal_unilateral_ix tal_unilateral_add_stop(tal_matter *matter, const tal_unilateral_def *def,
                                          tal_mobility at, double bound, bool is_upper)
{
    new_element it;
    if (!begin(&it, matter, def, tal_constraint_on(at.body, at.i), __func__)) return none();
    it.def.normal = tal_constraint_add_constant_coordinate(matter, normal_of(&it), bound);
    it.def.sign = is_upper ? -1 : 1;
    return tal_matter_add_unilateral(matter, &it.def);
}

tal_unilateral_ix tal_unilateral_add_ratchet(tal_matter *matter, const tal_unilateral_def *def,
                                             tal_mobility at, double speed, int sign)
{
    new_element it;
    if (!begin(&it, matter, def, tal_constraint_on(at.body, at.i), __func__)) return none();
    it.def.normal = tal_constraint_add_constant_speed(matter, normal_of(&it), speed);
    it.def.sign = sign;
    return tal_matter_add_unilateral(matter, &it.def);
}

tal_unilateral_ix tal_unilateral_add_dry_friction(tal_matter *matter, const tal_unilateral_def *def,
                                                  tal_mobility at, double speed)
{
    new_element it;
    if (!begin(&it, matter, def, tal_constraint_on(at.body, at.i), __func__) ||
        !has_cause(&it, matter)) {
        return none();
    }
    it.def.grip = tal_constraint_add_constant_speed(matter, grip_of(&it), speed);
    return tal_matter_add_unilateral(matter, &it.def);
}

// --- in joints ---

// Friction between two bodies, which needs something that presses.
static bool begin_friction(new_element *it, const tal_matter *matter, const tal_unilateral_def *def,
                           tal_body_ix body1, tal_body_ix body2, const char *where)
{
    return begin_between(it, matter, def, body1, body2, where) && has_cause(it, matter);
}

tal_unilateral_ix tal_unilateral_add_friction_about(tal_matter *matter,
                                                    const tal_unilateral_def *def,
                                                    tal_body_ix body1, tal_vec3 axis,
                                                    tal_body_ix body2)
{
    new_element it;
    if (!begin_friction(&it, matter, def, body1, body2, __func__)) return none();
    it.def.grip = tali_constraint_add_grip_about_axis(matter, grip_of(&it), axis);
    return tal_matter_add_unilateral(matter, &it.def);
}

tal_unilateral_ix tal_unilateral_add_friction_along(tal_matter *matter,
                                                    const tal_unilateral_def *def,
                                                    tal_body_ix body1, tal_vec3 direction,
                                                    tal_vec3 point, tal_body_ix body2,
                                                    tal_vec3 station)
{
    new_element it;
    if (!begin_friction(&it, matter, def, body1, body2, __func__)) return none();
    it.def.grip =
        tali_constraint_add_grip_along_line(matter, grip_of(&it), direction, point, station);
    it.def.anchor = TALI_CONSTRAINT_LINE_GRIP_ANCHOR;
    return tal_matter_add_unilateral(matter, &it.def);
}

tal_unilateral_ix tal_unilateral_add_friction_over(tal_matter *matter,
                                                   const tal_unilateral_def *def, tal_body_ix body1,
                                                   const tal_xform *plane, tal_body_ix body2,
                                                   tal_vec3 station)
{
    new_element it;
    if (!begin_friction(&it, matter, def, body1, body2, __func__)) return none();
    it.def.grip = tali_constraint_add_point_on_plane_grip(matter, grip_of(&it), plane, station);
    it.def.anchor = TALI_CONSTRAINT_POINT_GRIP_ANCHOR;
    return tal_matter_add_unilateral(matter, &it.def);
}
