// Obstacles for paths: cylinders, spheres, ellipsoids and tori on bodies and frames.
#include "error_internal.h"

#include "opensim/osim_internal.h"
#include "table/table_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- what a file says ---

// A quadrant is a side: "-x", "+y", "z"; "all" is none. Its sign may be left out.
static tal_wrap_side read_side(tali_osim *o, const tali_xml_element *e)
{
    const char *text = tali_osim_text(e, "quadrant");
    if (text == NULL || tali_table_same_word(text, "all")) return TAL_WRAP_ANY_SIDE;
    const char *axis = text[0] == '+' || text[0] == '-' ? text + 1 : text;
    const char *const axes = "xXyYzZ";
    const char *at = axis[0] != '\0' && axis[1] == '\0' ? strchr(axes, axis[0]) : NULL;
    if (at == NULL) {
        tali_osim_error(o, tali_osim_property(e, "quadrant"),
                        ": '%.40s' is none of all, x, -x, y, -y, z, -z", text);
        return TAL_WRAP_ANY_SIDE;
    }
    const int k = (int)(at - axes) / 2;
    return (tal_wrap_side)((int)TAL_WRAP_PLUS_X + 2 * k + (text[0] == '-' ? 1 : 0));
}

// A cylinder can be endless.
static tal_wrap read_shape(tali_osim *o, const tali_xml_element *e, bool *known)
{
    *known = true;
    if (strcmp(e->name, "WrapCylinder") == 0) {
        return tal_wrap_cylinder(tali_osim_number(o, e, "radius", NAN),
                                 tali_osim_number(o, e, "length", INFINITY));
    }
    if (strcmp(e->name, "WrapSphere") == 0) {
        return tal_wrap_sphere(tali_osim_number(o, e, "radius", NAN));
    }
    if (strcmp(e->name, "WrapEllipsoid") == 0) {
        return tal_wrap_ellipsoid(tali_osim_vec3(o, e, "dimensions", tal_v3(NAN, NAN, NAN)));
    }
    if (strcmp(e->name, "WrapTorus") == 0) {
        return tal_wrap_torus(tali_osim_number(o, e, "outer_radius", NAN),
                              tali_osim_number(o, e, "inner_radius", NAN));
    }
    *known = false;
    return tal_wrap_sphere(1.0);
}

// A torus has no sides here: a path goes through its hole.
static void check_shape(tali_osim *o, tali_osim_wrap *it)
{
    tal_error err = {TAL_OK, "", ""};
    if (it->shape.kind == TAL_WRAP_TORUS && it->shape.side != TAL_WRAP_ANY_SIDE) {
        tali_osim_warn(o, it->element, ": a torus has no sides; its quadrant does not count");
        it->shape.side = TAL_WRAP_ANY_SIDE;
    }
    if (tal_wrap_check(&it->shape, it->name, &err) != TAL_OK) {
        tali_osim_error(o, it->element, ": %s", err.message);
    }
}

// An obstacle of a frame: shape, side, and where it is on the body.
static void read_wrap(tali_osim *o, const tali_xml_element *e, const tali_osim_frame *frame)
{
    tali_osim_wrap *it = TALI_OSIM_ADD(o, wraps);
    if (it == NULL) return;
    const tal_vec3 zero = TAL_VEC3_ZERO;
    *it = (tali_osim_wrap){.element = e, .name = tali_osim_name(e), .body = frame->body};
    it->wrap.i = -1;
    tali_osim_check_class(o, e);
    const char *flaw = tali_text_name_flaw(it->name);
    if (flaw != NULL) tali_osim_error(o, e, ": %s", flaw);
    it->X_BW =
        tal_xf_mul(frame->X_BF, tali_osim_xform(tali_osim_vec3(o, e, "xyz_body_rotation", zero),
                                                tali_osim_vec3(o, e, "translation", zero)));
    it->active = tali_osim_bool(o, e, "active", true);
    const int errors = tal_diagnostics_num_errors(o->found);
    it->shape = read_shape(o, e, &it->known);
    it->shape.side = read_side(o, e);
    if (!it->known) {
        tali_osim_ignore(o, e, TAL_WARNING, "is not read; paths over it are errors");
    } else if (tal_diagnostics_num_errors(o->found) == errors) {
        check_shape(o, it);
    }
}

void tali_osim_read_wraps(tali_osim *o)
{
    for (int i = 0; i < o->num_frames; ++i) {
        const tali_osim_frame *frame = &o->frames[i];
        if (frame->element == NULL || frame->body < 0) continue;
        const tali_xml_element *e = tali_osim_first_of(frame->element, "WrapObjectSet");
        for (; e != NULL; e = e->next) {
            read_wrap(o, e, frame);
        }
    }
}

// --- the System ---

// Ours have different names: that of the body is added where another has the same.
static void name_wrap(const tali_osim *o, const tal_model *model, const tali_osim_wrap *it,
                      char name[2 * TAL_MAX_NAME])
{
    (void)snprintf(name, TAL_MAX_NAME + 1, "%s", it->name);
    if (tal_forces_find_wrap(model->forces, name).i < 0) return;
    (void)snprintf(name, TAL_MAX_NAME + 1, "%.40s_%.20s", it->name, o->bodies[it->body].name);
}

void tali_osim_add_wraps(tali_osim *o, tal_model *model)
{
    for (int i = 0; i < o->num_wraps; ++i) {
        tali_osim_wrap *it = &o->wraps[i];
        if (!it->known || !it->active) continue;
        char name[2 * TAL_MAX_NAME];
        name_wrap(o, model, it, name);
        it->wrap = tal_forces_add_wrap(model->forces, name, o->bodies[it->body].body, &it->X_BW,
                                       &it->shape);
    }
}
