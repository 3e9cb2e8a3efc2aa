// What bodies look like: their decorations, the shapes that touch, and what is made up for the
// rest. All lengths are compared with the size of the model, so that molecules look like machines.
#include "alloc_internal.h"

#include "scene/scene_internal.h"

#include <math.h>
#include <string.h>

const char *const tali_scene_shape_names[] = {"sphere", "brick", "cylinder", "ellipsoid", "line",
                                              "mesh",   "text",  "torus",    "plane"};

static const tal_vec3 bone = {0.851, 0.824, 0.765};    // #d9d2c3
static const tal_vec3 surface = {0.337, 0.706, 0.914}; // #56b4e9

enum {
    HAS_DECORATION = 1,
    HAS_CONTACT = 2,
    HAS_STICK = 4
};

static void add_shape(tal_scene *scene, const tali_scene_shape *shape)
{
    if (!tali_grow(&scene->options.allocator, (void **)&scene->shapes, scene->num_shapes,
                   &scene->shapes_capacity, sizeof *scene->shapes)) {
        scene->failed = true;
        return;
    }
    scene->shapes[scene->num_shapes++] = *shape;
}

// ---- decorations

// A decoration of the model; a mesh that cannot be read is left out.
static void add_decoration(tal_scene *scene, const tal_decoration *it, unsigned char has[])
{
    static const tali_scene_shape_kind kinds[] = {
        TALI_SCENE_SPHERE, TALI_SCENE_BRICK, TALI_SCENE_CYLINDER, TALI_SCENE_ELLIPSOID,
        TALI_SCENE_LINE,   TALI_SCENE_MESH,  TALI_SCENE_TEXT};
    tali_scene_shape shape = {.kind = kinds[it->kind],
                              .layer = "decoration",
                              .body = it->body.i,
                              .X_BD = it->X_BD,
                              .size = tal_v3_scale(it->scale, it->size),
                              .end = tal_v3_scale(it->scale, it->end),
                              .color = it->color,
                              .opacity = it->opacity,
                              .text = it->text,
                              .mesh = -1};
    if (it->kind == TAL_DECORATION_MESH) {
        shape.size = tal_v3(it->scale, it->scale, it->scale);
        shape.mesh = tali_scene_mesh_of(scene, it->text, NULL);
        if (shape.mesh < 0) return;
    }
    if (it->kind != TAL_DECORATION_TEXT) has[it->body.i] |= HAS_DECORATION;
    add_shape(scene, &shape);
}

// ---- sticks

static tali_scene_shape derived(tali_scene_shape_kind kind, int body)
{
    return (tali_scene_shape){.kind = kind,
                              .layer = "derived",
                              .body = body,
                              .X_BD = TAL_XFORM_IDENTITY,
                              .color = bone,
                              .opacity = 1.0,
                              .mesh = -1};
}

static void add_stick(tal_scene *scene, int body, tal_vec3 from, tal_vec3 to, unsigned char has[])
{
    const tal_vec3 along = tal_v3_sub(to, from);
    if (!(tal_v3_norm(along) > 0.01 * scene->size)) return;
    tali_scene_shape stick = derived(TALI_SCENE_LINE, body);
    stick.X_BD.p = from;
    stick.end = along;
    has[body] |= HAS_STICK;
    add_shape(scene, &stick);
}

// ---- shapes that touch

// From the frame of a shape to that of what is drawn: a cylinder of contact lies along z and one of
// a picture along y; a half-space has x inwards and a plane y outwards.
static tal_mat3 turn_of(tal_shape_kind kind)
{
    if (kind == TAL_SHAPE_CYLINDER) return tal_rotation_about(TAL_AXIS_X, 0.5 * TAL_PI);
    if (kind == TAL_SHAPE_HALF_SPACE) return tal_rotation_about(TAL_AXIS_Z, 0.5 * TAL_PI);
    return TAL_MAT3_IDENTITY;
}

static tali_scene_shape touching_shape(tal_scene *scene, const tal_shape *from)
{
    static const tali_scene_shape_kind kinds[] = {
        TALI_SCENE_PLANE, TALI_SCENE_SPHERE, TALI_SCENE_ELLIPSOID, TALI_SCENE_CYLINDER,
        TALI_SCENE_BRICK, TALI_SCENE_TORUS,  TALI_SCENE_MESH};
    tali_scene_shape shape = {.kind = kinds[from->kind],
                              .layer = "contact",
                              .size = from->size,
                              .color = surface,
                              .opacity = 0.35,
                              .mesh = -1};
    if (from->kind == TAL_SHAPE_HALF_SPACE) shape.opacity = 0.15;
    if (from->kind == TAL_SHAPE_MESH) {
        shape.size = tal_v3(1.0, 1.0, 1.0);
        shape.mesh = tali_scene_mesh_of(scene, NULL, from->mesh);
    }
    return shape;
}

static void add_touching(tal_scene *scene, const tal_shape *from, int body, const tal_xform *X_BS,
                         unsigned char has[])
{
    tali_scene_shape shape = touching_shape(scene, from);
    shape.body = body;
    shape.X_BD = tal_xf_mul(*X_BS, tal_xf_from_R(turn_of(from->kind)));
    if (shape.kind == TALI_SCENE_MESH && shape.mesh < 0) return;
    has[shape.body] |= HAS_CONTACT;
    add_shape(scene, &shape);
    // legs to where a body without a look of its own touches
    if (shape.body == 0 || (has[shape.body] & HAS_DECORATION) != 0) return;
    const tal_mass_props props =
        tal_body_mass_props(scene->model.matter, scene->state, (tal_body_ix){shape.body});
    add_stick(scene, shape.body, props.com, shape.X_BD.p, has);
}

static void add_surface(tal_scene *scene, tal_force_ix contact, tal_contact_surface_ix ix,
                        unsigned char has[])
{
    const tal_forces *const forces = scene->model.forces;
    const tal_shape from = tal_contact_surface_shape(forces, scene->state, contact, ix);
    const tal_xform X_BS = tal_contact_surface_X_BS(forces, scene->state, contact, ix);
    add_touching(scene, &from, tal_contact_surface_body(forces, contact, ix).i, &X_BS, has);
}

static void add_colliders(tal_scene *scene, unsigned char has[])
{
    const tal_matter *const matter = scene->model.matter;
    for (int i = 0; i < tal_matter_num_colliders(matter); ++i) {
        const tal_collider_def def = tal_collider_def_of(matter, (tal_collider_ix){i});
        add_touching(scene, &def.shape, def.body.i, &def.X_BS, has);
    }
}

static void add_surfaces(tal_scene *scene, unsigned char has[])
{
    const tal_forces *const forces = scene->model.forces;
    for (int i = 0; i < tal_forces_num(forces); ++i) {
        const tal_force_ix contact = {i};
        if (strcmp(tal_force_kind(forces, contact), "contact") != 0) continue;
        for (int k = 0; k < tal_contact_num_surfaces(forces, contact); ++k) {
            add_surface(scene, contact, (tal_contact_surface_ix){k}, has);
        }
    }
}

// ---- made up: sticks and solids

// From the joint of every body that looks like nothing to the joints of its children.
static void add_sticks(tal_scene *scene, unsigned char has[])
{
    const tal_matter *const matter = scene->model.matter;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix parent = tal_body_parent(matter, (tal_body_ix){b});
        if (parent.i == 0 || (has[parent.i] & HAS_DECORATION) != 0) continue;
        const tal_xform X_PM = tal_body_X_BM(matter, scene->state, parent);
        const tal_xform X_PF = tal_body_X_PF(matter, scene->state, (tal_body_ix){b});
        add_stick(scene, parent.i, X_PM.p, X_PF.p, has);
    }
}

// The uniform ellipsoid of a mass m with principal moments I: a^2 = 5 (I2 + I3 - I1) / (2 m).
static tal_vec3 ellipsoid_radii(double mass, tal_vec3 I)
{
    const double half = 0.5 * tal_s3_trace(tal_s3_diag(I.x, I.y, I.z));
    return tal_v3(sqrt(fmax(0.0, 5.0 * (half - I.x) / mass)),
                  sqrt(fmax(0.0, 5.0 * (half - I.y) / mass)),
                  sqrt(fmax(0.0, 5.0 * (half - I.z) / mass)));
}

// Bodies with mass: the largest mass, and how many there are.
typedef struct crowd_facts {
    double most;
    int massive;
} crowd_facts;

static crowd_facts count_crowd(const tal_scene *scene)
{
    crowd_facts crowd = {0.0, 0};
    for (int b = 1; b < tal_matter_num_bodies(scene->model.matter); ++b) {
        const tal_mass_props props =
            tal_body_mass_props(scene->model.matter, scene->state, (tal_body_ix){b});
        crowd.most = fmax(crowd.most, props.mass);
        if (props.mass > 0.0) ++crowd.massive;
    }
    return crowd;
}

// Among several bodies one that would be a large lump hides the others: it becomes a small one, and
// sticks show where it reaches.
static tal_vec3 keep_modest(tal_vec3 radii, double size, int massive)
{
    const double mean = cbrt(radii.x * radii.y * radii.z);
    return massive >= 4 && mean > 0.2 * size ? tal_v3_scale(0.08 * size / mean, radii) : radii;
}

// A body with mass that looks like nothing: its ellipsoid of inertia, or a ball by its mass.
static void add_solid(tal_scene *scene, int body, const crowd_facts *crowd, unsigned char has[])
{
    const tal_matter *const matter = scene->model.matter;
    const tal_mass_props props = tal_body_mass_props(matter, scene->state, (tal_body_ix){body});
    if (!(props.mass > 0.0)) return;
    tali_scene_shape shape = derived(TALI_SCENE_ELLIPSOID, body);
    const double ball = 0.06 * scene->size * cbrt(props.mass / crowd->most),
                 thin = 0.015 * scene->size;
    const tal_vec3 I = tal_s3_eigen(tal_mass_props_central_inertia(props), &shape.X_BD.R);
    const tal_vec3 radii = keep_modest(ellipsoid_radii(props.mass, I), scene->size, crowd->massive);
    shape.X_BD.p = props.com;
    shape.size = tal_v3(fmax(radii.x, thin), fmax(radii.y, thin), fmax(radii.z, thin));
    if (!(tal_v3_max_abs(radii) > 0.0)) {
        shape.kind = TALI_SCENE_SPHERE;
        shape.X_BD.R = TAL_MAT3_IDENTITY;
        shape.size = tal_v3(ball, 0.0, 0.0);
    }
    add_shape(scene, &shape);
    if ((has[body] & HAS_STICK) != 0) return;
    const tal_xform X_BM = tal_body_X_BM(matter, scene->state, (tal_body_ix){body});
    const double away = tal_v3_norm(tal_v3_sub(X_BM.p, props.com));
    if (away > tal_v3_max_abs(shape.size)) add_stick(scene, body, X_BM.p, props.com, has);
}

// Obstacles that paths go over, faint. A cylinder of paths lies along z, one of pictures along y.
static void add_wraps(tal_scene *scene)
{
    static const tali_scene_shape_kind kinds[] = {TALI_SCENE_CYLINDER, TALI_SCENE_SPHERE,
                                                  TALI_SCENE_ELLIPSOID, TALI_SCENE_TORUS};
    const tal_forces *const forces = scene->model.forces;
    for (int i = 0; i < tal_forces_num_wraps(forces); ++i) {
        tal_wrap wrap;
        tal_xform X_BW;
        if (tal_wrap_shape(forces, (tal_wrap_ix){i}, &wrap, &X_BW) != TAL_OK) continue;
        tali_scene_shape shape = {.kind = kinds[wrap.kind],
                                  .layer = "wrap",
                                  .body = tal_wrap_body(forces, (tal_wrap_ix){i}).i,
                                  .X_BD = X_BW,
                                  .size = wrap.size,
                                  .color = surface,
                                  .opacity = 0.15,
                                  .mesh = -1};
        if (wrap.kind == TAL_WRAP_CYLINDER) {
            const double half = 0.5 * wrap.size.y;
            shape.X_BD = tal_xf_mul(X_BW, tal_xf_from_R(turn_of(TAL_SHAPE_CYLINDER)));
            // of one that may be infinite, what is around the paths
            shape.size.y = half < scene->size ? half : fmin(scene->size, 4.0 * wrap.size.x);
        }
        add_shape(scene, &shape);
    }
}

bool tali_scene_collect_shapes(tal_scene *scene)
{
    const tal_matter *const matter = scene->model.matter;
    const int bodies = tal_matter_num_bodies(matter);
    const tal_allocator *const allocator = &scene->options.allocator;
    unsigned char *const has = tali_alloc(allocator, (size_t)bodies);
    if (has == NULL) return false;
    for (int i = 0; i < tal_matter_num_decorations(matter); ++i) {
        add_decoration(scene, tal_matter_decoration(matter, i), has);
    }
    add_surfaces(scene, has);
    add_colliders(scene, has);
    add_wraps(scene);
    add_sticks(scene, has);
    const crowd_facts crowd = count_crowd(scene);
    for (int b = 1; b < bodies; ++b) {
        if ((has[b] & (HAS_DECORATION | HAS_CONTACT)) == 0) add_solid(scene, b, &crowd, has);
    }
    tali_free(allocator, has, (size_t)bodies);
    return !scene->failed;
}
