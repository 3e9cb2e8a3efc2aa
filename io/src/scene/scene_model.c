// The members of a scene that describe its model: bodies, shapes, meshes, markers, links.
#include "force_facts_internal.h"
#include "matter_facts_internal.h"

#include "scene/scene_internal.h"

#include <math.h>
#include <string.h>

// ---- the size of the model

// A ball around points, about the center of their box.
typedef struct extent {
    tal_vec3 low, high;
    bool any;
} extent;

static void include(extent *it, tal_vec3 p, double radius)
{
    const tal_vec3 r = tal_v3(radius, radius, radius);
    const tal_vec3 low = tal_v3_sub(p, r), high = tal_v3_add(p, r);
    if (!it->any) {
        *it = (extent){low, high, true};
        return;
    }
    it->low = tal_v3(fmin(it->low.x, low.x), fmin(it->low.y, low.y), fmin(it->low.z, low.z));
    it->high = tal_v3(fmax(it->high.x, high.x), fmax(it->high.y, high.y), fmax(it->high.z, high.z));
}

// How far a decoration reaches from the origin of its frame; meshes and labels do not count.
static double reach_of(const tal_decoration *it)
{
    if (it->kind == TAL_DECORATION_LINE) return it->scale * tal_v3_norm(it->end);
    if (it->kind == TAL_DECORATION_MESH || it->kind == TAL_DECORATION_TEXT) return 0.0;
    return it->scale * tal_v3_max_abs(it->size);
}

// Radius of a body by its inertia: that of a ball.
static double solid_radius(tal_mass_props props)
{
    if (!(props.mass > 0.0)) return 0.0;
    const double trace = tal_s3_trace(tal_mass_props_central_inertia(props));
    return sqrt(fmax(0.0, 5.0 * trace / (6.0 * props.mass)));
}

// Surfaces that touch, on bodies.
static void include_surfaces(const tal_scene *scene, extent *it)
{
    const tal_forces *const forces = scene->model.forces;
    for (int i = 0; i < tal_forces_num(forces); ++i) {
        const tal_force_ix contact = {i};
        if (strcmp(tal_force_kind(forces, contact), "contact") != 0) continue;
        for (int k = 0; k < tal_contact_num_surfaces(forces, contact); ++k) {
            const tal_contact_surface_ix ix = {k};
            const tal_body_ix body = tal_contact_surface_body(forces, contact, ix);
            if (body.i == 0) continue;
            const tal_shape shape = tal_contact_surface_shape(forces, scene->state, contact, ix);
            const tal_xform X_BS = tal_contact_surface_X_BS(forces, scene->state, contact, ix);
            const tal_xform X_GB = tal_body_X_GB(scene->model.matter, scene->state, body);
            include(it, tal_xf_apply(X_GB, X_BS.p), tal_v3_max_abs(shape.size));
        }
    }
}

double tali_scene_find_size(const tal_scene *scene)
{
    const tal_matter *const matter = scene->model.matter;
    extent it = {.any = false};
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        const tal_xform X_GB = tal_body_X_GB(matter, scene->state, body);
        const tal_mass_props props = tal_body_mass_props(matter, scene->state, body);
        include(&it, X_GB.p, 0.0);
        include(&it, tal_xf_apply(X_GB, props.com), solid_radius(props));
        const bool hangs_on_ground = tal_body_parent(matter, body).i == 0;
        const char *const kind = tal_body_mobilizer(matter, body);
        if (hangs_on_ground && strncmp(kind, "free", 4) != 0 && strcmp(kind, "translation") != 0) {
            include(&it, tal_body_X_PF(matter, scene->state, body).p, 0.0);
        }
    }
    for (int i = 0; i < tal_matter_num_decorations(matter); ++i) {
        const tal_decoration *const shape = tal_matter_decoration(matter, i);
        if (shape->body.i == 0) continue;
        const tal_xform X_GB = tal_body_X_GB(matter, scene->state, shape->body);
        include(&it, tal_xf_apply(X_GB, shape->X_BD.p), reach_of(shape));
    }
    include_surfaces(scene, &it);
    const double size = it.any ? 0.5 * tal_v3_norm(tal_v3_sub(it.high, it.low)) : 0.0;
    return size > 0.0 && isfinite(size) ? size : 1.0;
}

// ---- bodies

// One body: its name, its joint, its mass.
static void put_body(tal_scene *scene, tali_scene_bytes *out, tal_body_ix body)
{
    const tal_matter *const matter = scene->model.matter;
    const tal_mass_props props = tal_body_mass_props(matter, scene->state, body);
    const tal_xform X_PF = tal_body_X_PF(matter, scene->state, body);
    const tal_xform X_BM = tal_body_X_BM(matter, scene->state, body);
    const tal_sym3 I = tal_mass_props_central_inertia(props);
    const double inertia[6] = {I.xx, I.yy, I.zz, I.xy, I.xz, I.yz};
    int num_params = 0;
    const double *const params = tal_body_params(matter, scene->state, body, &num_params);
    tali_scene_put_text(out, ",\n{");
    tali_scene_put_key(out, "name");
    tali_scene_put_string(out, tal_body_name(matter, body));
    tali_scene_put_key(out, "parent");
    tali_scene_put_integer(out, tal_body_parent(matter, body).i);
    tali_scene_put_key(out, "mobilizer");
    tali_scene_put_string(out, tal_body_mobilizer(matter, body));
    tali_scene_put_key(out, "X_PF");
    tali_scene_put_xform(out, &X_PF);
    tali_scene_put_key(out, "X_BM");
    tali_scene_put_xform(out, &X_BM);
    if (num_params > 0) {
        tali_scene_put_key(out, "params");
        tali_scene_put_numbers(out, params, num_params);
    }
    tali_scene_put_key(out, "mass");
    tali_scene_put_number(out, props.mass);
    if (props.mass > 0.0) {
        tali_scene_put_key(out, "com");
        tali_scene_put_vec3(out, props.com);
        tali_scene_put_key(out, "inertia");
        tali_scene_put_numbers(out, inertia, 6);
    }
    tali_scene_put_text(out, "}");
}

static void put_bodies(tal_scene *scene, tali_scene_bytes *out)
{
    tali_scene_put_key(out, "bodies");
    tali_scene_put_text(out,
                        "[{\"name\":\"ground\",\"parent\":-1,\"mobilizer\":\"ground\",\"mass\":0}");
    for (int b = 1; b < tal_matter_num_bodies(scene->model.matter); ++b) {
        put_body(scene, out, (tal_body_ix){b});
    }
    tali_scene_put_text(out, "]");
}

// ---- shapes, meshes, markers

// One shape, with the members that its kind has.
static void put_shape(tali_scene_bytes *out, const tali_scene_shape *it)
{
    tali_scene_put_comma(out);
    tali_scene_put_text(out, "\n{");
    tali_scene_put_key(out, "body");
    tali_scene_put_integer(out, it->body);
    tali_scene_put_key(out, "layer");
    tali_scene_put_string(out, it->layer);
    tali_scene_put_key(out, "kind");
    tali_scene_put_string(out, tali_scene_shape_names[it->kind]);
    tali_scene_put_key(out, "X");
    tali_scene_put_xform(out, &it->X_BD);
    tali_scene_put_key(out, "size");
    tali_scene_put_vec3(out, it->size);
    if (it->kind == TALI_SCENE_LINE) {
        tali_scene_put_key(out, "end");
        tali_scene_put_vec3(out, it->end);
    }
    tali_scene_put_key(out, "color");
    tali_scene_put_vec3(out, it->color);
    tali_scene_put_key(out, "opacity");
    tali_scene_put_number(out, it->opacity);
    if (it->kind == TALI_SCENE_TEXT) {
        tali_scene_put_key(out, "text");
        tali_scene_put_string(out, it->text);
    }
    if (it->mesh >= 0) {
        tali_scene_put_key(out, "mesh");
        tali_scene_put_integer(out, it->mesh);
    }
    tali_scene_put_text(out, "}");
}

static void put_mesh(tali_scene_bytes *out, const tali_scene_mesh *it)
{
    tali_scene_put_comma(out);
    tali_scene_put_text(out, "{");
    tali_scene_put_key(out, "at");
    tali_scene_put_integer(out, (long long)it->at);
    tali_scene_put_key(out, "vertices");
    tali_scene_put_integer(out, it->vertices);
    tali_scene_put_key(out, "faces");
    tali_scene_put_integer(out, it->faces);
    tali_scene_put_key(out, "low");
    tali_scene_put_vec3(out, it->low);
    tali_scene_put_key(out, "high");
    tali_scene_put_vec3(out, it->high);
    tali_scene_put_key(out, "index");
    tali_scene_put_integer(out, it->wide ? 32 : 16);
    tali_scene_put_text(out, "}");
}

static void put_markers(const tal_scene *scene, tali_scene_bytes *out)
{
    tali_scene_put_key(out, "markers");
    tali_scene_put_text(out, "[");
    for (int i = 0; i < scene->model.num_markers; ++i) {
        const tal_marker *const marker = &scene->model.markers[i];
        tali_scene_put_comma(out);
        tali_scene_put_text(out, "{");
        tali_scene_put_key(out, "name");
        tali_scene_put_string(out, marker->name != NULL ? marker->name : "");
        tali_scene_put_key(out, "body");
        tali_scene_put_integer(out, marker->body.i);
        tali_scene_put_key(out, "p");
        tali_scene_put_vec3(out, marker->p_BS);
        tali_scene_put_text(out, "}");
    }
    tali_scene_put_text(out, "]");
}

// ---- links: what stands between a point of one body and a point of another

typedef struct link {
    const char *name, *kind, *layer;
    bool enabled;
    tal_body_ix bodies[2];
    tal_vec3 points[2];
} link;

static void put_link(tali_scene_bytes *out, const link *it)
{
    tali_scene_put_comma(out);
    tali_scene_put_text(out, "\n{");
    tali_scene_put_key(out, "name");
    tali_scene_put_string(out, it->name);
    tali_scene_put_key(out, "kind");
    tali_scene_put_string(out, it->kind);
    tali_scene_put_key(out, "layer");
    tali_scene_put_string(out, it->layer);
    if (!it->enabled) {
        tali_scene_put_key(out, "enabled");
        tali_scene_put_text(out, "false");
    }
    for (int k = 0; k < 2; ++k) {
        const tal_vec3 p = it->points[k];
        const double end[4] = {it->bodies[k].i, p.x, p.y, p.z};
        tali_scene_put_key(out, k == 0 ? "a" : "b");
        tali_scene_put_numbers(out, end, 4);
    }
    tali_scene_put_text(out, "}");
}

// Where the stations of a built-in constraint stand among its parameters: the first of three
// numbers on each body, or -1 for the body's origin. The position of a frame follows its rotation.
typedef struct station_row {
    const char *kind;
    int at[2];
} station_row;

enum {
    POSITION = 9 // in a frame
};

static const station_row station_rows[] = {
    {"rod", {TAL_ROD_STATION_1, TAL_ROD_STATION_2}},
    {"ball", {TAL_BALL_STATION_1, TAL_BALL_STATION_2}},
    {"point in plane", {-1, TAL_POINT_IN_PLANE_STATION}},
    {"point on line", {TAL_POINT_ON_LINE_POINT, TAL_POINT_ON_LINE_STATION}},
    {"point on plane contact", {POSITION, TAL_POINT_ON_PLANE_STATION}},
    {"sphere on plane contact", {POSITION, TAL_SPHERE_ON_PLANE_CENTER}},
    {"rolling sphere on plane", {POSITION, TAL_SPHERE_ON_PLANE_CENTER}},
    {"disk on plane contact", {POSITION, TAL_DISK_ON_PLANE_CENTER}},
    {"rolling disk on plane", {POSITION, TAL_DISK_ON_PLANE_CENTER}},
    {"sphere on sphere contact", {TAL_SPHERE_ON_SPHERE_CENTER_1, TAL_SPHERE_ON_SPHERE_CENTER_2}},
    {"rolling sphere on sphere", {TAL_SPHERE_ON_SPHERE_CENTER_1, TAL_SPHERE_ON_SPHERE_CENTER_2}},
    {"constant angle", {-1, -1}},
    {"constant orientation", {-1, -1}}};

static tal_vec3 point_at(const double params[], int n, int at)
{
    const bool is_there = at >= 0 && at + 3 <= n;
    return is_there ? tal_v3(params[at], params[at + 1], params[at + 2]) : TAL_VEC3_ZERO;
}

// All other kinds between two bodies begin with a frame on each.
static void find_stations(const char *kind, const double params[], int n, tal_vec3 points[2])
{
    const bool has_frames = n >= TAL_LOOP_NUM_PARAMS;
    int at[2] = {has_frames ? POSITION : -1, has_frames ? TAL_LOOP_FRAME_2 + POSITION : -1};
    for (size_t i = 0; i < sizeof station_rows / sizeof *station_rows; ++i) {
        if (strcmp(station_rows[i].kind, kind) != 0) continue;
        memcpy(at, station_rows[i].at, sizeof at);
    }
    points[0] = point_at(params, n, at[0]);
    points[1] = point_at(params, n, at[1]);
}

static const char *kind_of(const tali_matter_constraint_facts *facts)
{
    return facts->kind != NULL ? facts->kind : facts->ops->name;
}

bool tali_scene_constraint_ends(const tal_scene *scene, tal_constraint_ix ix, tal_body_ix bodies[2],
                                tal_vec3 points[2])
{
    const tal_matter *const matter = scene->model.matter;
    const tali_matter_constraint_facts facts = tali_matter_constraint_facts_of(matter, ix);
    if (facts.ops->num_bodies < 2) return false;
    int n = 0;
    const double *const params = tal_constraint_params(matter, scene->state, ix, &n);
    find_stations(kind_of(&facts), params, n, points);
    bodies[0] = (tal_body_ix){facts.bodies[0]};
    bodies[1] = (tal_body_ix){facts.bodies[1]};
    return true;
}

static void put_constraints(tal_scene *scene, tali_scene_bytes *out)
{
    const tal_matter *const matter = scene->model.matter;
    for (int i = 0; i < tal_matter_num_constraints(matter); ++i) {
        const tal_constraint_ix ix = {i};
        const tali_matter_constraint_facts facts = tali_matter_constraint_facts_of(matter, ix);
        link it = {.name = tal_constraint_name(matter, ix),
                   .kind = kind_of(&facts),
                   .layer = "constraint",
                   .enabled = tal_constraint_is_enabled(matter, scene->state, ix)};
        // the rope of a unilateral element is there, tight or slack
        if (tal_constraint_unilateral(matter, ix).i >= 0) it.enabled = true;
        if (tali_scene_is_contact(scene, ix)) continue; // a point that moves on both bodies
        if (tali_scene_constraint_ends(scene, ix, it.bodies, it.points)) put_link(out, &it);
    }
}

// Force elements that stand between two points.
static void put_forces(tal_scene *scene, tali_scene_bytes *out)
{
    const tal_forces *const forces = scene->model.forces;
    for (int i = 0; i < tal_forces_num(forces); ++i) {
        const tal_force_ix ix = {i};
        const char *const kind = tal_force_kind(forces, ix);
        const bool is_bushing = strcmp(kind, "bushing") == 0;
        const int n = tal_force_num_params(forces, ix);
        tali_force_facts facts;
        if (strncmp(kind, "two-point", 9) != 0 && !is_bushing) continue;
        if (!tali_force_facts_of(forces, ix, &facts) || n < (is_bushing ? 24 : 6)) continue;
        double params[24];
        for (int k = 0; k < 24 && k < n; ++k) {
            params[k] = tal_force_param(forces, scene->state, ix, k);
        }
        link it = {.name = tal_force_name(forces, ix),
                   .kind = kind,
                   .layer = "force",
                   .enabled = tal_force_is_enabled(forces, scene->state, ix),
                   .bodies = {facts.bodies[0], facts.bodies[1]}};
        it.points[0] = point_at(params, n, is_bushing ? TAL_BUSHING_FRAME_1 + POSITION : 0);
        it.points[1] = point_at(params, n, is_bushing ? TAL_BUSHING_FRAME_2 + POSITION : 3);
        put_link(out, &it);
    }
}

// ---- all of it

static tal_vec3 gravity_of(const tal_scene *scene)
{
    const tal_forces *const forces = scene->model.forces;
    for (int i = 0; i < tal_forces_num(forces); ++i) {
        const tal_force_ix ix = {i};
        const bool is_on = tal_force_is_enabled(forces, scene->state, ix);
        if (!is_on || strcmp(tal_force_kind(forces, ix), "gravity") != 0) continue;
        return tal_gravity_g(forces, scene->state, ix);
    }
    return TAL_VEC3_ZERO;
}

static void find_up(tal_scene *scene, tal_vec3 g)
{
    tal_vec3 up = scene->options.up;
    if (!(tal_v3_norm(up) > 0.0)) up = tal_v3_neg(g);
    if (!(tal_v3_norm(up) > 0.0) || !tal_v3_is_finite(up)) up = tal_v3(0.0, 1.0, 0.0);
    scene->up = tal_v3_normalize(up);
}

void tali_scene_describe_model(tal_scene *scene)
{
    tali_scene_bytes *const out = &scene->model_json;
    const tal_vec3 g = gravity_of(scene);
    find_up(scene, g);
    tali_scene_put_key(out, "up");
    tali_scene_put_vec3(out, scene->up);
    tali_scene_put_key(out, "gravity");
    tali_scene_put_vec3(out, g);
    tali_scene_put_key(out, "size");
    tali_scene_put_number(out, scene->size);
    put_bodies(scene, out);
    tali_scene_put_key(out, "shapes");
    tali_scene_put_text(out, "[");
    for (int i = 0; i < scene->num_shapes; ++i) {
        put_shape(out, &scene->shapes[i]);
    }
    tali_scene_put_text(out, "]");
    tali_scene_put_key(out, "meshes");
    tali_scene_put_text(out, "[");
    for (int i = 0; i < scene->num_meshes; ++i) {
        put_mesh(out, &scene->meshes[i]);
    }
    tali_scene_put_text(out, "]");
    put_markers(scene, out);
    tali_scene_put_paths(scene, out);
    tali_scene_put_key(out, "links");
    tali_scene_put_text(out, "[");
    put_constraints(scene, out);
    put_forces(scene, out);
    tali_scene_put_text(out, "]");
}
