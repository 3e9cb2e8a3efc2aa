// What bodies look like: meshes, which are looked for as OpenSim does, and simple shapes.
#include "opensim/osim_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- where meshes are ---

static bool exists(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    (void)fclose(file);
    return true;
}

bool tali_osim_find_mesh(const tali_osim *o, const char *file, char path[1024])
{
    static const char *const places[] = {"", "Geometry/", "../Geometry/"};
    const char *slash = strrchr(o->xml->file, '/');
    const int folder = slash != NULL ? (int)(slash - o->xml->file) + 1 : 0;
    for (int i = 0; i < 3 && !o->in_memory; ++i) {
        const int n = snprintf(path, 1024, "%.*s%s%s", file[0] == '/' ? 0 : folder, o->xml->file,
                               file[0] == '/' ? "" : places[i], file);
        if (n < 1024 && exists(path)) return true;
    }
    return false;
}

// --- looks ---

// <Appearance> of version 4; <color> and <opacity> before.
static void paint(tali_osim *o, const tali_xml_element *e, tal_decoration *d)
{
    const tali_xml_element *look = tali_xml_child(e, "Appearance");
    if (look == NULL) look = e;
    d->color = tali_osim_vec3(o, look, "color", d->color);
    d->opacity = tali_osim_number(o, look, "opacity", d->opacity);
    d->color = tal_v3(fmin(fmax(d->color.x, 0.0), 1.0), fmin(fmax(d->color.y, 0.0), 1.0),
                      fmin(fmax(d->color.z, 0.0), 1.0));
    d->opacity = fmin(fmax(d->opacity, 0.0), 1.0);
}

// The same along all axes: the mean where a file has three.
static double scale_of(tali_osim *o, const tali_xml_element *e)
{
    const tal_vec3 s = tali_osim_vec3(o, e, "scale_factors", tal_v3(1.0, 1.0, 1.0));
    const double mean = (fabs(s.x) + fabs(s.y) + fabs(s.z)) / 3.0;
    return mean > 0.0 && isfinite(mean) ? mean : 1.0;
}

static void show(tali_osim *o, tal_model *model, const tali_xml_element *e, tal_body_ix body,
                 tal_xform X_BD, tal_decoration d)
{
    d.X_BD = X_BD;
    if (e != NULL) paint(o, e, &d);
    (void)tal_matter_add_decoration(model->matter, body, &d);
}

static void show_mesh(tali_osim *o, tal_model *model, const tali_xml_element *e, const char *file,
                      tal_body_ix body, tal_xform X_BD)
{
    char path[1024];
    if (!tali_osim_find_mesh(o, file, path)) {
        tali_osim_ignore(o, e, TAL_NOTE, "names a file that is not found, and is not drawn");
        return;
    }
    tal_decoration d = tal_decoration_mesh(path);
    d.scale = scale_of(o, e);
    show(o, model, e, body, X_BD, d);
}

// --- version 4: <attached_geometry> ---

// A mesh or a simple shape; sizes of nothing are not drawn.
static void show_shape(tali_osim *o, tal_model *model, const tali_xml_element *e, tal_body_ix body,
                       tal_xform X)
{
    const tal_vec3 one = tal_v3(1.0, 1.0, 1.0);
    if (strcmp(e->name, "Mesh") == 0) {
        const char *file = tali_osim_text(e, "mesh_file");
        if (file != NULL) show_mesh(o, model, e, file, body, X);
    } else if (strcmp(e->name, "Sphere") == 0) {
        const double radius = tali_osim_number(o, e, "radius", 1.0);
        if (radius > 0.0) show(o, model, e, body, X, tal_decoration_sphere(radius));
    } else if (strcmp(e->name, "Brick") == 0) {
        const tal_vec3 size = tali_osim_vec3(o, e, "half_lengths", tal_v3_scale(0.5, one));
        if (size.x > 0.0 && size.y > 0.0 && size.z > 0.0) {
            show(o, model, e, body, X, tal_decoration_brick(size));
        }
    } else if (strcmp(e->name, "Ellipsoid") == 0) {
        const tal_vec3 radii = tali_osim_vec3(o, e, "radii", one);
        if (radii.x > 0.0 && radii.y > 0.0 && radii.z > 0.0) {
            show(o, model, e, body, X, tal_decoration_ellipsoid(radii));
        }
    } else if (strcmp(e->name, "Cylinder") == 0) {
        const double radius = tali_osim_number(o, e, "radius", 1.0);
        const double half = tali_osim_number(o, e, "half_height", 1.0);
        if (radius > 0.0 && half > 0.0) {
            show(o, model, e, body, X, tal_decoration_cylinder(radius, half));
        }
    } else {
        tali_osim_ignore(o, e, TAL_NOTE, "is not drawn");
    }
}

// --- before: <VisibleObject> ---

// Six numbers: angles about x, y, z, then a translation.
static tal_xform transform_of(tali_osim *o, const tali_xml_element *e)
{
    double t[6] = {0.0};
    (void)tali_osim_numbers(o, e, "transform", 6, t);
    return tali_osim_xform(tal_v3(t[0], t[1], t[2]), tal_v3(t[3], t[4], t[5]));
}

static void show_visible(tali_osim *o, tal_model *model, const tali_xml_element *e,
                         tal_body_ix body, tal_xform X_BF)
{
    const tal_xform X = tal_xf_mul(X_BF, transform_of(o, e));
    const tali_xml_element *g = tali_osim_first_of(e, "GeometrySet");
    for (; g != NULL; g = g->next) {
        const char *file = tali_osim_text(g, "geometry_file");
        if (strcmp(g->name, "DisplayGeometry") != 0 || file == NULL) continue;
        show_mesh(o, model, g, file, body, tal_xf_mul(X, transform_of(o, g)));
    }
    const char *names[TALI_OSIM_MAX_LIST]; // of version 1
    const int n = tali_osim_words(o, e, "geometry_files", names, TALI_OSIM_MAX_LIST);
    for (int i = 0; i < n; ++i) {
        show_mesh(o, model, e, names[i], body, X);
    }
}

void tali_osim_add_decorations(tali_osim *o, tal_model *model)
{
    for (int i = 0; i < o->num_frames; ++i) {
        const tali_osim_frame *frame = &o->frames[i];
        if (frame->element == NULL || frame->body < 0) continue;
        const tal_body_ix body = o->bodies[frame->body].body;
        const tali_xml_element *old = tali_xml_child(frame->element, "VisibleObject");
        if (old != NULL) show_visible(o, model, old, body, frame->X_BF);
        const tali_xml_element *e = tali_osim_first_of(frame->element, "attached_geometry");
        for (; e != NULL; e = e->next) {
            show_shape(o, model, e, body, frame->X_BF);
        }
    }
}
