// Shapes, and the forces between them.
#include "error_internal.h"

#include "model/model_internal.h"
#include "opensim/osim_internal.h"

#include <talus/io/mesh.h>

#include <math.h>
#include <string.h>

// --- shapes ---

// A shape with its name and place. Shapes that cannot touch are kept by name.
static void read_geometry(tali_osim *o, const tali_xml_element *e)
{
    static const tali_osim_place place = {"frame", "body_name", "location", "orientation"};
    tali_osim_geometry *it = TALI_OSIM_ADD(o, geometries);
    if (it == NULL) return;
    it->element = e;
    it->name = tali_osim_name(e);
    if (tali_name_map_find(&o->geometry_names, it->name) >= 0) {
        tali_osim_error(o, e, ": the name is used already");
        return;
    }
    if (!tali_name_map_add(&o->geometry_names, it->name, o->num_geometries - 1)) {
        o->no_memory = true;
    }
    tali_osim_check_class(o, e);
    if (!tali_osim_read_place(o, e, &place, &it->body, &it->X_BS)) return;
    if (strcmp(e->name, "ContactHalfSpace") == 0) {
        it->shape = tal_shape_half_space();
        it->known = true;
    } else if (strcmp(e->name, "ContactSphere") == 0) {
        const double radius = tali_osim_number(o, e, "radius", NAN);
        if (!(radius > 0.0 && isfinite(radius))) {
            tali_osim_error(o, e, ": its radius must be above zero");
            return;
        }
        it->shape = tal_shape_sphere(radius);
        it->known = true;
    }
}

void tali_osim_read_contact(tali_osim *o)
{
    const tali_xml_element *e = tali_osim_first_of(o->model, "ContactGeometrySet");
    for (; e != NULL; e = e->next) {
        read_geometry(o, e);
    }
}

static const char *geometry_at(const void *context, int i)
{
    const tali_osim *o = context;
    return i < o->num_geometries ? o->geometries[i].name : NULL;
}

// A shape by its name; -1, and an error, when there is none.
static int find_any(tali_osim *o, const tali_xml_element *at, const char *name)
{
    const char *last = tali_osim_last_name(name);
    const int i = tali_name_map_find(&o->geometry_names, last);
    if (i < 0) {
        const char *meant = tali_text_did_you_mean(last, geometry_at, o);
        tali_osim_error(o, at, ": there is no contact geometry '%.60s'%s%s%s", last,
                        meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                        meant != NULL ? "'?)" : "");
    }
    return i;
}

// The same; -1, and an error, also where it cannot touch.
static int find_geometry(tali_osim *o, const tali_xml_element *at, const char *name)
{
    const char *last = tali_osim_last_name(name);
    const int i = find_any(o, at, name);
    if (i < 0 || o->geometries[i].known) return i;
    tali_osim_error(o, at, ": contact of '%.60s', a <%.40s>, is not read", last,
                    o->geometries[i].element->name);
    return -1;
}

// --- materials ---

static tal_contact_material read_material(tali_osim *o, const tali_xml_element *e)
{
    tal_contact_material m = tal_contact_material_default();
    m.stiffness = tali_osim_number(o, e, "stiffness", 1.0);
    m.dissipation = tali_osim_number(o, e, "dissipation", 0.0);
    m.static_friction = tali_osim_number(o, e, "static_friction", 0.0);
    m.dynamic_friction = tali_osim_number(o, e, "dynamic_friction", 0.0);
    m.viscous_friction = tali_osim_number(o, e, "viscous_friction", 0.0);
    return m;
}

// --- Hunt and Crossley's law ---

// The shapes of one set of parameters; `find` gives a shape by its name.
static void read_parameters(tali_osim *o, const tali_xml_element *e, tali_osim_force *f,
                            int (*find)(tali_osim *o, const tali_xml_element *at, const char *name))
{
    const char *names[TALI_OSIM_MAX_LIST];
    tali_osim_check_class(o, e);
    const int n = tali_osim_words(o, e, "geometry", names, TALI_OSIM_MAX_LIST);
    const tal_contact_material material = read_material(o, e);
    for (int i = 0; i < n; ++i) {
        const int geometry = find(o, e, names[i]);
        if (geometry < 0) continue;
        if (f->num_surfaces == TALI_OSIM_MAX_LIST) {
            tali_osim_error(o, e, ": more than %d shapes", TALI_OSIM_MAX_LIST);
            return;
        }
        f->surfaces[f->num_surfaces++] = (tali_osim_surface){geometry, material};
    }
}

// All sets of parameters, which stand in an element of that name before version 4.
static void read_all_parameters(tali_osim *o, tali_osim_force *f, const char *old_name,
                                int (*find)(tali_osim *o, const tali_xml_element *at,
                                            const char *name))
{
    const tali_xml_element *e = tali_osim_first_of(f->element, old_name);
    if (e == NULL) e = tali_osim_first_of(f->element, "contact_parameters");
    f->surfaces = tali_arena_take(&o->arena, (size_t)TALI_OSIM_MAX_LIST * sizeof *f->surfaces);
    if (f->surfaces == NULL) {
        o->no_memory = true;
        return;
    }
    for (; e != NULL; e = e->next) {
        read_parameters(o, e, f, find);
    }
    f->numbers[0] = tali_osim_number(o, f->element, "transition_velocity", 0.01);
}

void tali_osim_read_hunt_crossley(tali_osim *o, tali_osim_force *f)
{
    read_all_parameters(o, f, "HuntCrossleyForce::ContactParametersSet", find_geometry);
}

// The surfaces of a force, of what `surfaces` say, as one contact element.
static tal_force_ix add_contact(tali_osim *o, tal_model *model, const tali_osim_force *f)
{
    tal_contact_def def = tal_contact_def_default();
    def.friction = TAL_CONTACT_HOLLARS; // Simbody's curve
    def.grip.transition_speed = f->numbers[0];
    const tal_force_ix contact = tal_forces_add_contact(model->forces, f->name, &def);
    for (int i = 0; i < f->num_surfaces && contact.i >= 0; ++i) {
        const tali_osim_geometry *it = &o->geometries[f->surfaces[i].geometry];
        tal_contact_surface_def surface = tal_contact_surface_def_default();
        surface.name = it->name;
        surface.body = o->bodies[it->body].body;
        surface.X_BS = it->X_BS;
        surface.shape = it->shape;
        surface.material = f->surfaces[i].material;
        (void)tal_contact_add_surface(model->forces, contact, &surface);
    }
    return contact;
}

tal_force_ix tali_osim_add_hunt_crossley(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    return add_contact(o, model, f);
}

// --- an elastic foundation ---

// The mesh of a shape, where it is not read yet. False: its file is not there, or it is wrong.
static bool read_mesh(tali_osim *o, tali_osim_geometry *it)
{
    char path[1024];
    const char *file = tali_osim_text(it->element, "filename");
    if (it->mesh != NULL || file == NULL) return it->mesh != NULL;
    if (!tali_osim_find_mesh(o, file, path)) {
        tali_osim_warn(o, it->element, ": its mesh '%.80s' is not found", file);
        return false;
    }
    tal_mesh_options how = tal_mesh_options_default();
    how.allocator = o->options.allocator;
    const tal_status st = tal_mesh_read_file(path, &how, &it->mesh, o->found);
    o->no_memory = o->no_memory || st == TAL_ERR_NO_MEMORY;
    if (st == TAL_OK) it->shape = tal_shape_mesh(it->mesh);
    return st == TAL_OK;
}

// Each mesh is a bed of springs; what it touches is rigid if it is no mesh. There f = k a x (1 + c
// v), where ours has 3/2 c.
void tali_osim_read_elastic_foundation(tali_osim *o, tali_osim_force *f)
{
    read_all_parameters(o, f, "ElasticFoundationForce::ContactParametersSet", find_any);
    bool good = true;
    tal_contact_material bed = tal_contact_material_default();
    for (int i = 0; i < f->num_surfaces; ++i) {
        tali_osim_surface *it = &f->surfaces[i];
        tali_osim_geometry *shape = &o->geometries[it->geometry];
        if (shape->known) continue;
        good = strcmp(shape->element->name, "ContactMesh") == 0 && read_mesh(o, shape) && good;
        it->material.foundation = it->material.stiffness;
        it->material.dissipation *= 2.0 / 3.0;
        bed = it->material;
    }
    for (int i = 0; i < f->num_surfaces; ++i) {
        tal_contact_material *material = &f->surfaces[i].material;
        if (!o->geometries[f->surfaces[i].geometry].known) continue;
        *material = bed; // friction is that of the mesh
        material->stiffness = material->foundation = INFINITY;
    }
    if (good) return;
    tali_osim_ignore(o, f->element, f->applies ? TAL_WARNING : TAL_NOTE,
                     "does not act: a mesh of it is not there");
    f->row = -1;
}

tal_force_ix tali_osim_add_elastic_foundation(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    for (int i = 0; i < f->num_surfaces; ++i) {
        tali_osim_geometry *it = &o->geometries[f->surfaces[i].geometry];
        if (it->mesh == NULL) continue;
        const tal_mesh *kept = tali_model_kept_mesh(model->kept, it->mesh);
        it->mesh = NULL; // adopted whether it succeeds or not
        o->no_memory = o->no_memory || kept == NULL;
        if (kept == NULL) return (tal_force_ix){-1};
    }
    return add_contact(o, model, f);
}

// --- a smooth force between a sphere and a half-space ---

void tali_osim_read_smooth_contact(tali_osim *o, tali_osim_force *f)
{
    static const char *const sockets[] = {"sphere", "half_space"};
    const tali_xml_element *e = f->element;
    f->surfaces = tali_arena_take(&o->arena, 2 * sizeof *f->surfaces);
    if (f->surfaces == NULL) {
        o->no_memory = true;
        return;
    }
    for (int i = 0; i < 2; ++i) {
        const char *path = tali_osim_socket(e, sockets[i]);
        if (path == NULL) tali_osim_error(o, e, " needs <socket_%s>", sockets[i]);
        const int geometry = path != NULL ? find_geometry(o, e, path) : -1;
        if (geometry < 0) return;
        const tal_shape_kind kind = o->geometries[geometry].shape.kind;
        if (kind != (i == 0 ? TAL_SHAPE_SPHERE : TAL_SHAPE_HALF_SPACE)) {
            tali_osim_error(o, e, ": '%.60s' is a <%s>", path,
                            o->geometries[geometry].element->name);
            return;
        }
        f->surfaces[i] = (tali_osim_surface){geometry, read_material(o, e)};
    }
    f->num_surfaces = 2;
    f->numbers[0] = tali_osim_number(o, e, "transition_velocity", 0.01);
    f->numbers[1] = tali_osim_number(o, e, "constant_contact_force", 1e-5);
    f->numbers[2] = tali_osim_number(o, e, "hertz_smoothing", 300.0);
    f->numbers[3] = tali_osim_number(o, e, "hunt_crossley_smoothing", 50.0);
}

tal_force_ix tali_osim_add_smooth_contact(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tali_osim_geometry *sphere = &o->geometries[f->surfaces[0].geometry];
    const tali_osim_geometry *plane = &o->geometries[f->surfaces[1].geometry];
    tal_smooth_contact_def def = tal_smooth_contact_def_default();
    def.sphere_body = o->bodies[sphere->body].body;
    def.center = sphere->X_BS.p;
    def.radius = sphere->shape.size.x;
    def.plane_body = o->bodies[plane->body].body;
    def.X_BF = plane->X_BS;
    def.material = f->surfaces[0].material;
    def.has_kink = true;
    def.transition_speed = f->numbers[0];
    def.cf = f->numbers[1];
    def.bd = f->numbers[2];
    def.bv = f->numbers[3];
    return tal_forces_add_smooth_contact(model->forces, f->name, &def);
}
