// Shapes: making them, what is wrong with one, and boxes around them.
#include "mesh/mesh_internal.h"

tal_shape tal_shape_half_space(void)
{
    return (tal_shape){.kind = TAL_SHAPE_HALF_SPACE};
}

tal_shape tal_shape_sphere(double radius)
{
    return (tal_shape){.kind = TAL_SHAPE_SPHERE, .size = {radius, 0.0, 0.0}};
}

tal_shape tal_shape_ellipsoid(tal_vec3 semi_axes)
{
    return (tal_shape){.kind = TAL_SHAPE_ELLIPSOID, .size = semi_axes};
}

tal_shape tal_shape_cylinder(double radius, double half_length, double rim_radius)
{
    return (tal_shape){
        .kind = TAL_SHAPE_CYLINDER, .size = {radius, half_length, 0.0}, .edge_radius = rim_radius};
}

tal_shape tal_shape_capsule(double radius, double half_length)
{
    return tal_shape_cylinder(radius, half_length, radius);
}

tal_shape tal_shape_brick(tal_vec3 half_lengths, double corner_radius)
{
    return (tal_shape){.kind = TAL_SHAPE_BRICK, .size = half_lengths, .edge_radius = corner_radius};
}

tal_shape tal_shape_torus(double ring_radius, double tube_radius)
{
    return (tal_shape){.kind = TAL_SHAPE_TORUS, .size = {ring_radius, tube_radius, 0.0}};
}

tal_shape tal_shape_mesh(const tal_mesh *mesh)
{
    return (tal_shape){.kind = TAL_SHAPE_MESH, .mesh = mesh};
}

// ---- checking

// What the numbers of a shape are called; NULL: not used.
typedef struct shape_rule {
    const char *name;
    const char *size[3];
    const char *edge;
} shape_rule;

static const shape_rule rules[TAL_NUM_SHAPE_KINDS] = {
    [TAL_SHAPE_HALF_SPACE] = {.name = "half-space"},
    [TAL_SHAPE_SPHERE] = {.name = "sphere", .size = {"radius"}},
    [TAL_SHAPE_ELLIPSOID] = {.name = "ellipsoid",
                             .size = {"semi-axis x", "semi-axis y", "semi-axis z"}},
    [TAL_SHAPE_CYLINDER] = {.name = "cylinder",
                            .size = {"radius", "half length"},
                            .edge = "rim radius"},
    [TAL_SHAPE_BRICK] = {.name = "brick",
                         .size = {"half length x", "half length y", "half length z"},
                         .edge = "corner radius"},
    [TAL_SHAPE_TORUS] = {.name = "torus", .size = {"ring radius", "tube radius"}},
    [TAL_SHAPE_MESH] = {.name = "mesh"},
};

static bool is_kind(tal_shape_kind kind)
{
    return (int)kind >= 0 && (int)kind < TAL_NUM_SHAPE_KINDS;
}

const char *tal_shape_kind_name(tal_shape_kind kind)
{
    return is_kind(kind) ? rules[kind].name : "unknown";
}

// Who has the shape, for a message.
typedef struct owner {
    const char *kind, *name;
} owner;

static tal_status check_size(owner who, const char *subject, double value, tal_error *err)
{
    if (!isfinite(value)) {
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "%s '%s': the %s is %g", who.kind, who.name,
                         subject, value);
    }
    if (value > 0.0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%s '%s': the %s is %g and must be positive", who.kind,
                     who.name, subject, value);
}

static tal_status check_edge(owner who, const char *subject, double value, double most,
                             tal_error *err)
{
    if (isnan(value)) {
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "%s '%s': the %s is NaN", who.kind, who.name,
                         subject);
    }
    if (value >= 0.0 && value <= most) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%s '%s': the %s is %g and must be from 0 to %g",
                     who.kind, who.name, subject, value, most);
}

tal_status tal_shape_check(const tal_shape *shape, const char *name, tal_error *err)
{
    if (err != NULL) *err = (tal_error){.status = TAL_OK};
    if (shape == NULL) return TALI_BREACH(TAL_ERR_NULL, "the shape is NULL");
    const owner who = {tal_shape_kind_name(shape->kind), name != NULL ? name : ""};
    if (!is_kind(shape->kind)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "shape '%s': there is no kind %d", who.name,
                         (int)shape->kind);
    }
    const shape_rule *rule = &rules[shape->kind];
    const double size[3] = {shape->size.x, shape->size.y, shape->size.z};
    double least = (double)INFINITY;
    for (int i = 0; i < 3 && rule->size[i] != NULL; ++i) {
        const tal_status st = check_size(who, rule->size[i], size[i], err);
        if (st != TAL_OK) return st;
        least = fmin(least, size[i]);
    }
    if (shape->kind == TAL_SHAPE_TORUS && !(size[1] < size[0])) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "torus '%s': the tube radius is %g and must be less than the ring radius %g", who.name,
            size[1], size[0]);
    }
    if (shape->kind == TAL_SHAPE_MESH && shape->mesh == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "mesh '%s': the mesh is NULL", who.name);
    }
    if (rule->edge == NULL) return TAL_OK;
    return check_edge(who, rule->edge, shape->edge_radius, least, err);
}

// ---- boxes

// Half the sides of a box in Ground around a box of half sides h along axes R.
static tal_vec3 turned_half(const tal_mat3 *R, tal_vec3 h)
{
    return tal_v3(fabs(R->x.x) * h.x + fabs(R->y.x) * h.y + fabs(R->z.x) * h.z,
                  fabs(R->x.y) * h.x + fabs(R->y.y) * h.y + fabs(R->z.y) * h.z,
                  fabs(R->x.z) * h.x + fabs(R->y.z) * h.y + fabs(R->z.z) * h.z);
}

// How far an ellipsoid reaches along the axes of Ground: lengths of the rows of R diag(a).
static tal_vec3 ellipsoid_half(const tal_mat3 *R, tal_vec3 a)
{
    const tal_mat3 rows = tal_m3_transpose(*R);
    return tal_v3(tal_v3_norm(tal_v3_mul(rows.x, a)), tal_v3_norm(tal_v3_mul(rows.y, a)),
                  tal_v3_norm(tal_v3_mul(rows.z, a)));
}

// The same for a circle about z, thickened by `along` along z and by `all` in every direction.
static tal_vec3 ring_half(const tal_mat3 *R, double radius, double along, double all)
{
    const tal_vec3 circle = ellipsoid_half(R, tal_v3(radius, radius, 0.0));
    const tal_vec3 z = tal_v3(fabs(R->z.x), fabs(R->z.y), fabs(R->z.z));
    return tal_v3_add(tal_v3_axpy(along, z, circle), tal_v3(all, all, all));
}

tali_detect_box tali_detect_shape_box(const tal_shape *shape, const tal_xform *X_GS)
{
    const tal_vec3 s = shape->size;
    const double inf = (double)INFINITY;
    tal_vec3 center = X_GS->p;
    tal_vec3 half = tal_v3(inf, inf, inf);
    switch (shape->kind) {
    case TAL_SHAPE_HALF_SPACE:
        break;
    case TAL_SHAPE_SPHERE:
        half = tal_v3(s.x, s.x, s.x);
        break;
    case TAL_SHAPE_ELLIPSOID:
        half = ellipsoid_half(&X_GS->R, s);
        break;
    case TAL_SHAPE_CYLINDER:
        half = ring_half(&X_GS->R, s.x, s.y, 0.0);
        break;
    case TAL_SHAPE_BRICK:
        half = turned_half(&X_GS->R, s);
        break;
    case TAL_SHAPE_TORUS:
        half = ring_half(&X_GS->R, s.x, 0.0, s.y);
        break;
    case TAL_SHAPE_MESH:
        center = tal_xf_apply(*X_GS, tali_mesh_box_center(&shape->mesh->nodes[0].box));
        half = turned_half(&X_GS->R, tali_mesh_box_half(&shape->mesh->nodes[0].box));
        break;
    }
    return (tali_detect_box){tal_v3_sub(center, half), tal_v3_add(center, half)};
}
