// Decorations: what bodies look like, kept for viewers.
#include "tree/matter_internal.h"

#include <talus/matter/decoration.h>

#include <math.h>

// --- making ---

static tal_decoration plain(tal_decoration_kind kind, tal_vec3 size)
{
    return (tal_decoration){.kind = kind,
                            .X_BD = TAL_XFORM_IDENTITY,
                            .size = size,
                            .color = {0.5, 0.5, 0.5},
                            .opacity = 1.0,
                            .scale = 1.0};
}

tal_decoration tal_decoration_sphere(double radius)
{
    return plain(TAL_DECORATION_SPHERE, tal_v3(radius, 0.0, 0.0));
}

tal_decoration tal_decoration_brick(tal_vec3 half_lengths)
{
    return plain(TAL_DECORATION_BRICK, half_lengths);
}

tal_decoration tal_decoration_cylinder(double radius, double half_height)
{
    return plain(TAL_DECORATION_CYLINDER, tal_v3(radius, half_height, 0.0));
}

tal_decoration tal_decoration_ellipsoid(tal_vec3 radii)
{
    return plain(TAL_DECORATION_ELLIPSOID, radii);
}

tal_decoration tal_decoration_line(tal_vec3 begin, tal_vec3 end)
{
    tal_decoration line = plain(TAL_DECORATION_LINE, TAL_VEC3_ZERO);
    line.X_BD.p = begin;
    line.end = tal_v3_sub(end, begin);
    return line;
}

tal_decoration tal_decoration_mesh(const char *path)
{
    tal_decoration mesh = plain(TAL_DECORATION_MESH, TAL_VEC3_ZERO);
    mesh.text = path;
    return mesh;
}

tal_decoration tal_decoration_text(const char *label)
{
    tal_decoration text = plain(TAL_DECORATION_TEXT, TAL_VEC3_ZERO);
    text.text = label;
    return text;
}

// --- adding ---

// How many of the sizes a kind has.
static int num_sizes(tal_decoration_kind kind)
{
    switch (kind) {
    case TAL_DECORATION_SPHERE:
        return 1;
    case TAL_DECORATION_CYLINDER:
        return 2;
    case TAL_DECORATION_BRICK:
    case TAL_DECORATION_ELLIPSOID:
        return 3;
    case TAL_DECORATION_LINE:
    case TAL_DECORATION_MESH:
    case TAL_DECORATION_TEXT:
        return 0;
    }
    return -1;
}

static bool is_share(double x)
{
    return x >= 0.0 && x <= 1.0;
}

static tal_status check_look(const tal_decoration *d, const char *body, tal_error *err)
{
    if (!is_share(d->color.x) || !is_share(d->color.y) || !is_share(d->color.z)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "body '%s': the color (%g, %g, %g) of a decoration is not within 0 to 1",
                         body, d->color.x, d->color.y, d->color.z);
    }
    if (!is_share(d->opacity)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "body '%s': the opacity %g of a decoration is not within 0 to 1", body,
                         d->opacity);
    }
    if (!(d->scale > 0.0) || !isfinite(d->scale)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "body '%s': the scale %g of a decoration is not positive", body, d->scale);
    }
    return TAL_OK;
}

// Are sizes, color, opacity, scale, frame and text of a decoration valid?
static tal_status check_decoration(const tal_decoration *d, const char *body, tal_error *err)
{
    const int n = num_sizes(d->kind);
    if (n < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "body '%s': there is no decoration of kind %d",
                         body, (int)d->kind);
    }
    const double size[] = {d->size.x, d->size.y, d->size.z};
    for (int i = 0; i < n; ++i) {
        if (size[i] >= 0.0 && isfinite(size[i])) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "body '%s': size %d of a decoration is %g", body,
                         i, size[i]);
    }
    if (!tali_tree_is_frame(&d->X_BD) || !tal_v3_is_finite(d->end)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "body '%s': a decoration is not at a rotation and a finite position",
                         body);
    }
    const bool needs_text = d->kind == TAL_DECORATION_MESH || d->kind == TAL_DECORATION_TEXT;
    if (needs_text && (d->text == NULL || d->text[0] == '\0')) {
        return TALI_FAIL(err, TAL_ERR_NULL, "body '%s': a decoration has no %s", body,
                         d->kind == TAL_DECORATION_MESH ? "mesh file" : "text");
    }
    return check_look(d, body, err);
}

static tal_status keep_decoration(tal_matter *matter, tal_body_ix body, const tal_decoration *d,
                                  tal_error *err)
{
    const char *name = matter->bodies[body.i].name;
    const size_t bytes = d->text != NULL ? strlen(d->text) + 1 : 0;
    char *text = bytes > 0 ? tali_alloc(&matter->allocator, bytes) : NULL;
    const bool has_room =
        (bytes == 0 || text != NULL) &&
        tali_grow(&matter->allocator, (void **)&matter->decorations, matter->num_decorations,
                  &matter->decorations_capacity, sizeof *matter->decorations);
    if (!has_room) {
        tali_free(&matter->allocator, text, bytes);
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "body '%s': no memory for a decoration", name);
    }
    if (text != NULL) memcpy(text, d->text, bytes);
    tali_tree_decoration *kept = &matter->decorations[matter->num_decorations++];
    kept->shown = *d;
    kept->shown.body = body;
    kept->shown.text = kept->text = text;
    return TAL_OK;
}

int tal_matter_add_decoration(tal_matter *matter, tal_body_ix body,
                              const tal_decoration *decoration)
{
    if (tali_matter_can_build(matter, __func__) != TAL_OK) return -1;
    tal_error why = {TAL_OK, "", ""};
    tal_status st = TAL_OK;
    if (decoration == NULL) {
        st = TALI_FAIL(&why, TAL_ERR_NULL, "the decoration of body %d is NULL", body.i);
    } else if (body.i < 0 || body.i >= matter->num_bodies) {
        st = TALI_FAIL(&why, TAL_ERR_BAD_INDEX,
                       "a decoration is attached to body %d, which does not exist", body.i);
    } else {
        st = check_decoration(decoration, matter->bodies[body.i].name, &why);
        if (st == TAL_OK) st = keep_decoration(matter, body, decoration, &why);
    }
    if (st == TAL_OK) return matter->num_decorations - 1;
    (void)tal_system_fail(matter->system, st, "%s", why.message);
    return -1;
}

// --- asking ---

int tal_matter_num_decorations(const tal_matter *matter)
{
    return matter != NULL ? matter->num_decorations : -1;
}

const tal_decoration *tal_matter_decoration(const tal_matter *matter, int i)
{
    if (matter == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
        return NULL;
    }
    if (i >= 0 && i < matter->num_decorations) return &matter->decorations[i].shown;
    (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no decoration %d: there are %d", i,
                      matter->num_decorations);
    return NULL;
}

void tali_tree_decorations_free(tal_matter *matter)
{
    for (int i = 0; i < matter->num_decorations; ++i) {
        char *text = matter->decorations[i].text;
        if (text != NULL) tali_free(&matter->allocator, text, strlen(text) + 1);
    }
    tali_free(&matter->allocator, matter->decorations,
              (size_t)matter->decorations_capacity * sizeof *matter->decorations);
}
