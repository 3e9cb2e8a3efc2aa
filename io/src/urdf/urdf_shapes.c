// Visuals of links as decorations, collisions as surfaces of compliant contact.
#include "model/model_internal.h"
#include "urdf/urdf_internal.h"

#include <talus/io/mesh.h>
#include <talus/io/number.h>

#include <math.h>
#include <string.h>

// What a <geometry> says.
typedef enum form {
    NO_FORM, // none that is read; reported
    BOX,
    SPHERE,
    CYLINDER,
    CAPSULE,
    MESH
} form;

// A <visual> or a <collision>.
typedef struct shape {
    const tali_xml_element *element;
    form form;
    tal_xform X_BS;
    tal_vec3 size; // box: lengths; sphere: radius; cylinder, capsule: radius, length; mesh: scale
    const char *file; // of a mesh
} shape;

// --- reading ---

// What a form is given by: its attributes, each of some numbers.
typedef struct form_row {
    const char *name;
    const char *attributes[2];
    int count; // of numbers in the first attribute; the second has one
} form_row;

static const form_row forms[] = {[BOX] = {"box", {"size"}, 3},
                                 [SPHERE] = {"sphere", {"radius"}, 1},
                                 [CYLINDER] = {"cylinder", {"radius", "length"}, 1},
                                 [CAPSULE] = {"capsule", {"radius", "length"}, 1}};

// The numbers of an attribute, all positive; false otherwise.
static bool read_sizes(const tali_xml_element *e, const char *attribute, int count, double out[])
{
    const tali_xml_attribute *a = tali_xml_find(e, attribute);
    double values[3];
    if (a == NULL || tal_numbers_read(a->value, values, 3, NULL) != count) return false;
    for (int i = 0; i < count; ++i) {
        if (!(values[i] > 0.0) || isinf(values[i])) return false;
        out[i] = values[i];
    }
    return true;
}

static bool read_mesh(const tali_xml_element *e, shape *out)
{
    const tali_xml_attribute *file = tali_xml_find(e, "filename"),
                             *scale = tali_xml_find(e, "scale");
    double s[3] = {1.0, 1.0, 1.0};
    if (file == NULL || *file->value == '\0') return false;
    const int count = scale != NULL ? tal_numbers_read(scale->value, s, 3, NULL) : 3;
    if (count == 1) s[1] = s[2] = s[0];
    if (count != 1 && count != 3) return false;
    out->form = MESH;
    out->file = file->value;
    out->size = tal_v3(s[0], s[1], s[2]);
    return isfinite(s[0]) && isfinite(s[1]) && isfinite(s[2]);
}

static bool read_form(const tali_xml_element *e, shape *out)
{
    if (strcmp(e->name, "mesh") == 0) return read_mesh(e, out);
    for (int k = BOX; k < MESH; ++k) {
        const form_row *row = &forms[k];
        if (strcmp(e->name, row->name) != 0) continue;
        out->form = (form)k;
        return read_sizes(e, row->attributes[0], row->count, &out->size.x) &&
               (row->attributes[1] == NULL || read_sizes(e, row->attributes[1], 1, &out->size.y));
    }
    return false;
}

// Frame and geometry. One that cannot be read is reported and not used: a robot can do without it.
static shape read_shape(tali_urdf *u, const tali_xml_element *e)
{
    shape it = {.element = e, .form = NO_FORM};
    const tali_xml_element *geometry = tali_xml_child(e, "geometry");
    const tali_xml_attribute *link = tali_xml_find(e->parent, "name");
    it.X_BS = tali_urdf_origin(u, tali_xml_child(e, "origin"));
    if (geometry != NULL && geometry->first != NULL && read_form(geometry->first, &it)) return it;
    tali_urdf_remark_on(u, TAL_WARNING, "shapes of links cannot be read, and are not used", e,
                        link->value);
    it.form = NO_FORM;
    return it;
}

// --- colors ---

static bool read_color(const tali_xml_element *material, double rgba[4])
{
    const tali_xml_element *color = tali_xml_child(material, "color");
    const tali_xml_attribute *a = color != NULL ? tali_xml_find(color, "rgba") : NULL;
    if (a == NULL || tal_numbers_read(a->value, rgba, 4, NULL) != 4) return false;
    for (int i = 0; i < 4; ++i) {
        rgba[i] = fmin(fmax(rgba[i], 0.0), 1.0);
    }
    return true;
}

// Enter the color of a material that has a name; one that is defined twice counts once.
static void enter_color(tali_urdf *u, const tali_xml_element *material)
{
    const tali_xml_attribute *name = tali_xml_find(material, "name");
    double rgba[4];
    if (name == NULL || tali_name_map_find(&u->color_names, name->value) >= 0) return;
    if (!read_color(material, rgba)) return;
    const int i = u->color_names.num;
    memcpy(u->colors[i].rgba, rgba, sizeof rgba);
    if (!tali_name_map_add(&u->color_names, name->value, i)) u->no_memory = true;
}

// Every material of the file, at the top or in a visual: any may refer to any.
void tali_urdf_read_colors(tali_urdf *u)
{
    int count = 0;
    for (int enter = 0; enter < 2; ++enter) {
        for (const tali_xml_element *e = u->xml->root->first; e != NULL; e = e->next) {
            const bool on_top = strcmp(e->name, "material") == 0;
            if (on_top && enter) enter_color(u, e);
            count += on_top;
            for (const tali_xml_element *v = e->first; v != NULL && !on_top; v = v->next) {
                const tali_xml_element *material =
                    strcmp(v->name, "visual") == 0 ? tali_xml_child(v, "material") : NULL;
                if (material != NULL && enter) enter_color(u, material);
                count += material != NULL;
            }
        }
        if (!enter) u->colors = tali_arena_take(&u->arena, ((size_t)count + 1) * sizeof *u->colors);
        u->no_memory = u->no_memory || u->colors == NULL;
        if (u->no_memory) return;
    }
}

static void paint(const tali_urdf *u, const tali_xml_element *visual, tal_decoration *d)
{
    const tali_xml_element *material = tali_xml_child(visual, "material");
    if (material == NULL) return;
    const tali_xml_attribute *name = tali_xml_find(material, "name");
    double own[4];
    const double *rgba = own;
    if (!read_color(material, own)) {
        const int i = name != NULL ? tali_name_map_find(&u->color_names, name->value) : -1;
        if (i < 0) return;
        rgba = u->colors[i].rgba;
    }
    d->color = tal_v3(rgba[0], rgba[1], rgba[2]);
    d->opacity = rgba[3];
}

// --- visuals ---

// Decorations have their cylinders along y, a URDF along z.
static tal_xform y_along_z(tal_xform X_BS)
{
    const tal_mat3 R_SD = {{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}};
    return (tal_xform){tal_m3_mul(X_BS.R, R_SD), X_BS.p};
}

static bool is_uniform(tal_vec3 scale)
{
    return scale.x > 0.0 && scale.y == scale.x && scale.z == scale.x;
}

static void add_decoration(const tali_urdf *u, tal_matter *matter, const shape *it,
                           tal_body_ix body, tal_decoration d, tal_xform X_BD)
{
    d.X_BD = X_BD;
    paint(u, it->element, &d);
    (void)tal_matter_add_decoration(matter, body, &d);
}

static void show_capsule(const tali_urdf *u, tal_matter *matter, const shape *it, tal_body_ix body)
{
    const double radius = it->size.x, half = 0.5 * it->size.y;
    add_decoration(u, matter, it, body, tal_decoration_cylinder(radius, half), y_along_z(it->X_BS));
    for (int k = -1; k < 2; k += 2) {
        const tal_xform X_SE = tal_xf_from_p(tal_v3(0.0, 0.0, k * half));
        add_decoration(u, matter, it, body, tal_decoration_sphere(radius),
                       tal_xf_mul(it->X_BS, X_SE));
    }
}

static void show_mesh(tali_urdf *u, tal_matter *matter, const shape *it, tal_body_ix body)
{
    char path[TALI_URDF_MAX_PATH];
    if (!tali_urdf_find_file(u, it->file, path)) {
        tali_urdf_remark_on(u, TAL_NOTE, "mesh files are not found", it->element, it->file);
    }
    if (!is_uniform(it->size)) {
        tali_urdf_remark_on(u, TAL_NOTE,
                            "meshes are drawn with the same scale along all axes, not as given",
                            it->element, it->file);
    }
    tal_decoration d = tal_decoration_mesh(path);
    if (it->size.x != 0.0) d.scale = fabs(it->size.x);
    add_decoration(u, matter, it, body, d, it->X_BS);
}

// Decorations of a visual.
static void show(tali_urdf *u, tal_matter *matter, const shape *it, tal_body_ix body)
{
    const tal_vec3 size = it->size;
    switch (it->form) {
    case NO_FORM:
        return;
    case BOX:
        add_decoration(u, matter, it, body, tal_decoration_brick(tal_v3_scale(0.5, size)),
                       it->X_BS);
        return;
    case SPHERE:
        add_decoration(u, matter, it, body, tal_decoration_sphere(size.x), it->X_BS);
        return;
    case CYLINDER:
        add_decoration(u, matter, it, body, tal_decoration_cylinder(size.x, 0.5 * size.y),
                       y_along_z(it->X_BS));
        return;
    case CAPSULE:
        show_capsule(u, matter, it, body);
        return;
    case MESH:
        show_mesh(u, matter, it, body);
        return;
    }
}

// --- collisions ---

// Edges are rounded to a tenth of the smallest half length: a sharp one does not resist at all.
static const double edge = 0.1;

static void add_surface(const tali_urdf *u, tal_model *model, tal_force_ix contact,
                        tal_body_ix body, tal_xform X_BS, tal_shape solid)
{
    tal_contact_surface_def def = tal_contact_surface_def_default();
    def.body = body;
    def.X_BS = X_BS;
    def.shape = solid;
    def.material = u->options.material;
    def.cliques = 1; // links do not touch each other
    (void)tal_contact_add_surface(model->forces, contact, &def);
}

// The ground is all that is below z = 0: a half-space holds the points with x >= 0 of its frame.
static const tal_mat3 below = {{0.0, 0.0, -1.0}, {0.0, 1.0, 0.0}, {1.0, 0.0, 0.0}};

static void add_floor(const tali_urdf *u, tal_model *model, tal_force_ix contact)
{
    tal_contact_surface_def def = tal_contact_surface_def_default();
    def.name = "floor";
    def.X_BS.R = below;
    def.material = u->options.material;
    def.material.stiffness = def.material.foundation = (double)INFINITY;
    def.material.dissipation = 0.0; // that of the links counts
    (void)tal_contact_add_surface(model->forces, contact, &def);
}

// A mesh for contact, owned by the model; NULL, and a remark, when there is none that can be used.
static const tal_mesh *read_mesh_file(tali_urdf *u, tal_model *model, const shape *it)
{
    char path[TALI_URDF_MAX_PATH];
    if (!tali_urdf_find_file(u, it->file, path)) {
        tali_urdf_remark_on(u, TAL_WARNING,
                            "mesh files are not found, and are not used for contact", it->element,
                            it->file);
        return NULL;
    }
    tal_mesh_options how = tal_mesh_options_default();
    how.allocator = u->options.allocator;
    how.scale = it->size.x;
    tal_mesh *mesh = NULL;
    const tal_status st =
        is_uniform(it->size) ? tal_mesh_read_file(path, &how, &mesh, NULL) : TAL_ERR_BAD_VALUE;
    if (st == TAL_OK) return tali_model_kept_mesh(model->kept, mesh);
    u->no_memory = u->no_memory || st == TAL_ERR_NO_MEMORY;
    tali_urdf_remark_on(u, TAL_WARNING,
                        "meshes are not used for contact, which needs a closed mesh in an "
                        ".obj file with the same scale along all axes",
                        it->element, it->file);
    return NULL;
}

// Surfaces of a collision. Edges are rounded; of a capsule only its ends touch a plane.
static void touch(tali_urdf *u, tal_model *model, const shape *it, tal_body_ix body,
                  tal_force_ix contact)
{
    const tal_vec3 half = tal_v3_scale(0.5, it->size);
    const double radius = it->size.x;
    switch (it->form) {
    case NO_FORM:
        return;
    case BOX:
        add_surface(u, model, contact, body, it->X_BS,
                    tal_shape_brick(half, edge * fmin(half.x, fmin(half.y, half.z))));
        return;
    case SPHERE:
        add_surface(u, model, contact, body, it->X_BS, tal_shape_sphere(radius));
        return;
    case CYLINDER:
        add_surface(u, model, contact, body, it->X_BS,
                    tal_shape_cylinder(radius, half.y, edge * fmin(radius, half.y)));
        return;
    case CAPSULE:
        for (int k = -1; k < 2; k += 2) {
            const tal_xform X_SE = tal_xf_from_p(tal_v3(0.0, 0.0, k * half.y));
            add_surface(u, model, contact, body, tal_xf_mul(it->X_BS, X_SE),
                        tal_shape_sphere(radius));
        }
        return;
    case MESH: {
        const tal_mesh *mesh = read_mesh_file(u, model, it);
        if (mesh != NULL) {
            add_surface(u, model, contact, body, it->X_BS, tal_shape_mesh(mesh));
        }
        return;
    }
    }
}

// --- hard contact ---

static void add_collider(const tali_urdf *u, tal_model *model, tal_body_ix body, tal_xform X_BS,
                         tal_shape solid, const char *name)
{
    tal_collider_def def = tal_collider_def_default();
    def.name = name;
    def.body = body;
    def.X_BS = X_BS;
    def.shape = solid;
    def.material.static_mu = u->options.material.static_friction;
    def.material.sliding_mu = u->options.material.dynamic_friction;
    def.cliques = body.i > 0 ? 1 : 0; // links do not touch each other
    (void)tal_matter_add_collider(model->matter, &def);
}

// A collider of a collision. A mesh that is not convex is left out, with a remark.
static void collide(tali_urdf *u, tal_model *model, const shape *it, tal_body_ix body)
{
    const tal_vec3 half = tal_v3_scale(0.5, it->size);
    const double radius = it->size.x;
    tal_shape solid = tal_shape_sphere(radius);
    if (it->form == NO_FORM) return;
    if (it->form == BOX) solid = tal_shape_brick(half, 0.0);
    if (it->form == CYLINDER) solid = tal_shape_cylinder(radius, half.y, 0.0);
    if (it->form == CAPSULE) solid = tal_shape_capsule(radius, half.y + radius);
    if (it->form == MESH) {
        const tal_mesh *mesh = read_mesh_file(u, model, it);
        tal_hull *hull = NULL;
        if (mesh == NULL) return;
        solid = tal_shape_mesh(mesh);
        const tal_status st = tal_hull_create(&u->options.allocator, &solid, it->file, &hull, NULL);
        tal_hull_destroy(hull);
        if (st != TAL_OK) {
            tali_urdf_remark_on(u, TAL_WARNING,
                                "meshes that are not convex are not used for contact", it->element,
                                it->file);
            return;
        }
    }
    add_collider(u, model, body, it->X_BS, solid, NULL);
}

// --- all of them ---

// What is part of Ground would stay in it forever.
static bool is_held(const tali_urdf *u, int link)
{
    for (int i = link; i != u->root; i = u->joints[u->links[i].joint].parent) {
        if (u->joints[u->links[i].joint].kind != TALI_URDF_FIXED) return false;
    }
    return !u->options.free_base || u->links[u->root].body.i == 0;
}

void tali_urdf_add_shapes(tali_urdf *u, tal_model *model)
{
    tal_force_ix contact = {-1};
    if (u->options.colliders) {
        add_collider(u, model, TAL_GROUND, tal_xf_from_R(below), tal_shape_half_space(), "floor");
    } else if (u->options.contact) {
        contact = tal_forces_add_contact(model->forces, "contact", NULL);
        add_floor(u, model, contact);
    }
    for (int i = 0; i < u->num_links; ++i) {
        const tali_urdf_link *link = &u->links[i];
        const bool touches = (u->options.contact || u->options.colliders) && !is_held(u, i);
        for (const tali_xml_element *e = link->element->first; e != NULL; e = e->next) {
            const bool is_collision = strcmp(e->name, "collision") == 0;
            if (!is_collision && strcmp(e->name, "visual") != 0) continue;
            if (is_collision && !touches) continue;
            const shape it = read_shape(u, e);
            if (is_collision && u->options.colliders) {
                collide(u, model, &it, link->body);
            } else if (is_collision) {
                touch(u, model, &it, link->body, contact);
            } else {
                show(u, model->matter, &it, link->body);
            }
        }
    }
}
