// Bodies, the frames that are fixed on them, and markers.
#include "error_internal.h"
#include "mass_internal.h"

#include "opensim/osim_internal.h"

#include <stdio.h>
#include <string.h>

// --- paths ---

// `owner`/`name` in the arena; NULL when memory runs out.
static const char *join(tali_osim *o, const char *owner, const char *name)
{
    char path[512];
    const int n = snprintf(path, sizeof path, "%s/%s", owner, name);
    const char *copy = tali_arena_copy(&o->arena, path, strlen(path));
    if (copy == NULL) o->no_memory = true;
    if (n >= (int)sizeof path) {
        tal_diagnostics_add(o->found, TAL_ERROR, o->xml->file, 0, 0,
                            "the path '%.60s...' is longer than 500 characters", path);
    }
    return copy != NULL ? copy : "";
}

// The absolute path that `path` means for the component at `from`: "." and ".." are taken out.
static void make_absolute(const char *from, const char *path, char out[1024])
{
    size_t n = 0;
    if (path[0] != '/') n = (size_t)snprintf(out, 512, "%s", from);
    if (n > 511) n = 511;
    for (const char *at = path; *at != '\0';) {
        while (*at == '/') {
            ++at;
        }
        size_t length = strcspn(at, "/");
        if (length == 2 && memcmp(at, "..", 2) == 0) {
            while (n > 0 && out[--n] != '/') {}
        } else if (length > 0 && !(length == 1 && at[0] == '.')) {
            if (n + length + 2 > 1024) break;
            out[n++] = '/';
            memcpy(out + n, at, length);
            n += length;
        }
        at += length;
    }
    out[n] = '\0';
}

// --- frames ---

static tali_osim_frame *add_frame(tali_osim *o, const tali_xml_element *element, const char *path)
{
    tali_osim_frame *frame = TALI_OSIM_ADD(o, frames);
    if (frame == NULL) return NULL;
    *frame = (tali_osim_frame){.element = element,
                               .path = path,
                               .X_PF = TAL_XFORM_IDENTITY,
                               .parent = -1,
                               .body = -1,
                               .X_BF = TAL_XFORM_IDENTITY};
    const int number = o->num_frames - 1;
    if (tali_name_map_find(&o->frame_paths, path) < 0 &&
        !tali_name_map_add(&o->frame_paths, path, number)) {
        o->no_memory = true;
    }
    return frame;
}

void tali_osim_read_offset_frame(tali_osim *o, const tali_xml_element *element, const char *owner)
{
    const char *path = join(o, owner, tali_osim_name(element));
    tali_osim_frame *frame = add_frame(o, element, path);
    if (frame == NULL) return;
    tali_osim_check_class(o, element);
    const tal_vec3 zero = TAL_VEC3_ZERO;
    const tal_xform X_PF = tali_osim_xform(tali_osim_vec3(o, element, "orientation", zero),
                                           tali_osim_vec3(o, element, "translation", zero));
    frame->X_PF = X_PF;
    frame->socket = tali_osim_socket(element, "parent");
    if (frame->socket == NULL) frame->socket = "..";
}

// Frames in the <components> of an object.
static void read_components(tali_osim *o, const tali_xml_element *object, const char *path)
{
    const tali_xml_element *components = tali_xml_child(object, "components");
    const tali_xml_element *c = components != NULL ? tali_osim_first(components) : NULL;
    for (; c != NULL; c = c->next) {
        if (strcmp(c->name, "PhysicalOffsetFrame") == 0) {
            tali_osim_read_offset_frame(o, c, path);
        } else if (strcmp(c->name, "Marker") != 0) {
            tali_osim_ignore(o, c, TAL_NOTE, "is not read");
        }
    }
}

// The one frame whose path ends like this; -1: none, -2: several.
static int frame_ending(const tali_osim *o, const char *end)
{
    const size_t length = strlen(end);
    int found = -1;
    for (int i = 0; i < o->num_frames; ++i) {
        const char *path = o->frames[i].path;
        const size_t n = strlen(path);
        if (n <= length || path[n - length - 1] != '/' || strcmp(path + n - length, end) != 0) {
            continue;
        }
        if (found >= 0) return -2;
        found = i;
    }
    return found;
}

static int look_up_frame(const tali_osim *o, const char *from, const char *path)
{
    char absolute[1024];
    make_absolute(from, path, absolute);
    int i = tali_name_map_find(&o->frame_paths, absolute);
    // the model's name may stand first, before 4.0
    const char *rest = strchr(absolute + (absolute[0] == '/' ? 1 : 0), '/');
    if (i < 0 && rest != NULL) i = tali_name_map_find(&o->frame_paths, rest);
    if (i >= 0) return i;
    // a body's name alone, as before version 4; its frame has the same number
    const int body = tali_name_map_find(&o->body_names, tali_osim_last_name(path));
    if (body >= 0) return body;
    // or nothing but the end
    return frame_ending(o, path[strspn(path, "./")] != '\0' ? path + strspn(path, "./") : path);
}

static const char *path_at(const void *context, int i)
{
    const tali_osim *o = context;
    return i < o->num_bodies ? o->bodies[i].name : NULL;
}

int tali_osim_find_frame(tali_osim *o, const tali_xml_element *at, const char *from,
                         const char *path)
{
    const int i = look_up_frame(o, from, path);
    if (i >= 0) return i;
    if (i == -2) {
        tali_osim_error(o, at, ": several frames are named '%.80s'", path);
        return -1;
    }
    const char *meant = tali_text_did_you_mean(tali_osim_last_name(path), path_at, o);
    tali_osim_error(o, at, ": there is no body or frame '%.80s'%s%.60s%s", path,
                    meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                    meant != NULL ? "'?)" : "");
    return -1;
}

// The frame that each is fixed on; -1 for those of bodies, and where there is none.
static void find_parents(tali_osim *o)
{
    for (int i = 0; i < o->num_frames; ++i) {
        tali_osim_frame *frame = &o->frames[i];
        if (frame->socket == NULL) continue;
        frame->parent = tali_osim_find_frame(o, frame->element, frame->path, frame->socket);
    }
}

// Go from a frame to one whose body is known, and back. `chain` has room for all frames.
static void resolve(tali_osim *o, int i, int chain[])
{
    int n = 0;
    for (int k = i; k >= 0 && o->frames[k].body < 0; k = o->frames[k].parent) {
        if (o->frames[k].visiting) {
            tali_osim_error(o, o->frames[k].element,
                            ": frames are fixed on each other in a circle");
            o->frames[k].parent = -1;
            break;
        }
        o->frames[k].visiting = true;
        chain[n++] = k;
    }
    while (n > 0) {
        tali_osim_frame *frame = &o->frames[chain[--n]];
        frame->visiting = false;
        if (frame->parent < 0) continue;
        frame->body = o->frames[frame->parent].body;
        frame->X_BF = tal_xf_mul(o->frames[frame->parent].X_BF, frame->X_PF);
    }
}

void tali_osim_resolve_frames(tali_osim *o)
{
    int *chain = tali_arena_take(&o->arena, (size_t)o->num_frames * sizeof *chain);
    if (chain == NULL) {
        o->no_memory = true;
        return;
    }
    find_parents(o);
    for (int i = 0; i < o->num_frames; ++i) {
        resolve(o, i, chain);
    }
}

void tali_osim_path_of(const tali_xml_element *object, char path[])
{
    static const char *const sets[][2] = {{"JointSet", "jointset"},
                                          {"ConstraintSet", "constraintset"},
                                          {"ForceSet", "forceset"},
                                          {"MarkerSet", "markerset"},
                                          {"ContactGeometrySet", "contactgeometryset"}};
    const tali_xml_element *objects = object->parent;
    const tali_xml_element *set = objects != NULL ? objects->parent : NULL;
    const char *name = "set";
    for (int i = 0; i < 5 && set != NULL; ++i) {
        if (strcmp(set->name, sets[i][0]) == 0) name = sets[i][1];
    }
    (void)snprintf(path, 512, "/%s/%.400s", name, tali_osim_name(object));
}

int tali_osim_frame_of(tali_osim *o, const tali_xml_element *object, const char *socket,
                       const char *property)
{
    const char *path = tali_osim_socket(object, socket);
    if (path == NULL) path = tali_osim_text(object, property);
    if (path != NULL) {
        char from[512];
        tali_osim_path_of(object, from);
        const int i = tali_osim_find_frame(o, object, from, path);
        return i >= 0 && o->frames[i].body >= 0 ? i : -1;
    }
    tali_osim_error(o, object, " needs <socket_%s>, or <%s> before version 4", socket, property);
    return -1;
}

bool tali_osim_read_place(tali_osim *o, const tali_xml_element *object,
                          const tali_osim_place *place, int *body, tal_xform *X_BF)
{
    const tal_vec3 zero = TAL_VEC3_ZERO;
    const int frame = tali_osim_frame_of(o, object, place->socket, place->property);
    if (frame < 0) return false;
    tal_vec3 p = zero, angles = zero;
    if (place->p != NULL) p = tali_osim_vec3(o, object, place->p, zero);
    if (place->angles != NULL) angles = tali_osim_vec3(o, object, place->angles, zero);
    *body = o->frames[frame].body;
    *X_BF = tal_xf_mul(o->frames[frame].X_BF, tali_osim_xform(angles, p));
    return true;
}

// --- mass ---

// <inertia> of version 4: xx yy zz xy xz yz; six elements before
static tal_sym3 read_inertia(tali_osim *o, const tali_xml_element *e)
{
    static const char *const names[] = {"inertia_xx", "inertia_yy", "inertia_zz",
                                        "inertia_xy", "inertia_xz", "inertia_yz"};
    double I[6] = {0.0};
    if (!tali_osim_numbers(o, e, "inertia", 6, I)) {
        for (int i = 0; i < 6; ++i) {
            I[i] = tali_osim_number(o, e, names[i], 0.0);
        }
    }
    return (tal_sym3){.xx = I[0], .yy = I[1], .zz = I[2], .xy = I[3], .xz = I[4], .yz = I[5]};
}

// The inertia of a file is about the mass center; ours is about the origin.
static void read_mass(tali_osim *o, tali_osim_body *body)
{
    const tali_xml_element *e = body->element;
    const int errors = tal_diagnostics_num_errors(o->found);
    tal_mass_props mass = {.mass = tali_osim_number(o, e, "mass", 0.0)};
    mass.inertia = read_inertia(o, e);
    const tal_xform X_BC = tal_xf_from_p(tali_osim_vec3(o, e, "mass_center", TAL_VEC3_ZERO));
    if (tal_diagnostics_num_errors(o->found) > errors) return;
    tal_error why = {TAL_OK, "", ""};
    const bool any_inertia = o->options.any_inertia;
    tal_mass_props in_B = mass;
    if (tali_mass_props_check(&mass, any_inertia, &why) == TAL_OK) {
        in_B = tal_mass_props_transform(&X_BC, &mass);
    }
    if (why.status != TAL_OK || tali_mass_props_check(&in_B, any_inertia, &why) != TAL_OK) {
        tali_osim_error(o, e, ": %s", why.message);
        return;
    }
    const double excess = tal_mass_props_excess(&in_B);
    if (excess > 0.0) {
        tal_diagnostics_add(o->found, TAL_WARNING, tali_osim_file_of(o, e), e->line, e->column,
                            TALI_INERTIA_WARNING, body->name, excess);
    }
    body->mass = in_B;
    body->any_inertia = any_inertia && tali_mass_props_check(&in_B, false, NULL) != TAL_OK;
}

// --- bodies ---

// A body and its frame, which have the same number.
static tali_osim_body *add_body(tali_osim *o, const tali_xml_element *element, const char *name,
                                const char *path)
{
    tali_osim_body *body = TALI_OSIM_ADD(o, bodies);
    tali_osim_frame *frame = body != NULL ? add_frame(o, element, path) : NULL;
    if (frame == NULL) return NULL;
    body->element = element;
    body->name = name;
    frame->body = o->num_bodies - 1;
    if (!tali_name_map_add(&o->body_names, name, frame->body)) o->no_memory = true;
    return body;
}

static void read_body(tali_osim *o, const tali_xml_element *e)
{
    const char *name = tali_osim_name(e);
    const char *flaw = tali_text_name_flaw(name);
    if (flaw != NULL) tali_osim_error(o, e, ": %s", flaw);
    if (tali_name_map_find(&o->body_names, name) >= 0) {
        tali_osim_error(o, e, ": the name is used already");
        return;
    }
    tali_osim_body *body = add_body(o, e, name, join(o, "/bodyset", name));
    if (body == NULL) return;
    tali_osim_check_class(o, e);
    read_mass(o, body);
}

// Ground stands in <Ground> since version 4, and among the bodies before.
static const tali_xml_element *find_ground(const tali_osim *o)
{
    const tali_xml_element *ground = tali_xml_child(o->model, "Ground");
    const tali_xml_element *e = ground == NULL ? tali_osim_first_of(o->model, "BodySet") : NULL;
    while (e != NULL && strcmp(tali_osim_name(e), "ground") != 0) {
        e = e->next;
    }
    return ground != NULL ? ground : e;
}

// Frames that objects of a set bring along.
static void read_frames_of(tali_osim *o, const char *set)
{
    const tali_xml_element *e = tali_osim_first_of(o->model, set);
    for (; e != NULL; e = e->next) {
        char path[512];
        tali_osim_path_of(e, path);
        const tali_xml_element *f = tali_osim_first_of(e, "frames");
        for (; f != NULL; f = f->next) {
            if (strcmp(f->name, "PhysicalOffsetFrame") == 0) {
                tali_osim_read_offset_frame(o, f, path);
            }
        }
    }
}

// Bodies first, then all other frames, wherever they stand.
void tali_osim_read_bodies(tali_osim *o)
{
    const tali_xml_element *ground = find_ground(o);
    if (add_body(o, ground, "ground", "/ground") == NULL) return;
    const tali_xml_element *e = tali_osim_first_of(o->model, "BodySet");
    for (; e != NULL; e = e->next) {
        if (e != ground && strcmp(e->name, "Body") == 0) {
            read_body(o, e);
        } else if (e != ground) {
            tali_osim_error(o, e, " is not a <Body>");
        }
    }
    // other frames after all bodies, whose frames have the same numbers
    read_components(o, o->model, "");
    read_frames_of(o, "JointSet");
    read_frames_of(o, "ConstraintSet");
    read_frames_of(o, "ForceSet");
    const tali_xml_element *c = tali_osim_first_of(o->model, "ComponentSet");
    for (; c != NULL; c = c->next) {
        if (strcmp(c->name, "PhysicalOffsetFrame") == 0) {
            tali_osim_read_offset_frame(o, c, "/componentset");
        }
    }
    // and those on frames, which may be more with each one
    for (int i = 0; i < o->num_frames && !o->no_memory; ++i) {
        if (o->frames[i].element == NULL) continue;
        read_components(o, o->frames[i].element, o->frames[i].path);
    }
}

// --- markers ---

// A marker: its name, its frame by either way, and where it is on it.
static void read_marker(tali_osim *o, const tali_xml_element *e)
{
    const char *name = tali_osim_name(e);
    tali_osim_check_class(o, e);
    const char *flaw = tali_text_name_flaw(name);
    if (flaw != NULL) tali_osim_error(o, e, ": %s", flaw);
    if (tali_name_map_find(&o->marker_names, name) >= 0) {
        tali_osim_error(o, e, ": the name is used already");
        return;
    }
    const bool has_body = tali_osim_text(e, "body") != NULL;
    const int frame = tali_osim_frame_of(o, e, "parent_frame", has_body ? "body" : "parent_frame");
    tali_osim_marker *marker = frame >= 0 ? TALI_OSIM_ADD(o, markers) : NULL;
    if (marker == NULL) return;
    marker->element = e;
    marker->name = name;
    if (!tali_name_map_add(&o->marker_names, name, o->num_markers - 1)) o->no_memory = true;
    marker->body = o->frames[frame].body;
    tal_vec3 p_FS = tali_osim_vec3(o, e, "offset", TAL_VEC3_ZERO); // its name before 1.9
    p_FS = tali_osim_vec3(o, e, "location", p_FS);
    marker->p_BS = tal_xf_apply(o->frames[frame].X_BF, p_FS);
    marker->fixed = tali_osim_bool(o, e, "fixed", false);
}

void tali_osim_read_markers(tali_osim *o)
{
    const tali_xml_element *e = tali_osim_first_of(o->model, "MarkerSet");
    for (; e != NULL; e = e->next) {
        if (strcmp(e->name, "Marker") == 0) {
            read_marker(o, e);
        } else {
            tali_osim_error(o, e, " is not a <Marker>");
        }
    }
}
