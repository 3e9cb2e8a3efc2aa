// The table: decorations.
#include "model/model_write_internal.h"

static const tali_model_attribute decoration_attributes[] = {
    {"body", TALI_TYPE_BODY, .initial = "ground", .doc = "what it is attached to"},
    {"frame", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "where, on the body"},
    {"color", TALI_TYPE_REAL, 3, "0.5 0.5 0.5", TALI_NO_NEGATIVE_NUMBER,
     .doc = "red, green, blue, each 0 to 1"},
    {"opacity", TALI_TYPE_REAL, 1, "1", TALI_NO_NEGATIVE_NUMBER, .doc = "0 invisible to 1 solid"},
    {"scale", TALI_TYPE_REAL, 1, "1", TALI_POSITIVE_NUMBER, .doc = "factor on everything drawn"},
    {.name = NULL}};

enum {
    DECORATION_COLOR = 12,
    DECORATION_OPACITY = 15,
    DECORATION_SCALE = 16,
    DECORATION_NUMBERS = 17
};

static void build_decoration(tali_model *m, const tali_model_item *item, tal_decoration d)
{
    d.X_BD = tali_model_frame_at(item->p);
    d.color = tali_model_vec3_at(item->p + DECORATION_COLOR);
    d.opacity = item->p[DECORATION_OPACITY];
    d.scale = item->p[DECORATION_SCALE];
    (void)tal_matter_add_decoration(m->matter, tali_model_body_at(m, item->ref[0]), &d);
}

static void describe_decoration(tali_model_description *d)
{
    const tal_decoration *it = tal_matter_decoration(d->w->model.matter, d->index);
    tali_model_say_index(d, it->body.i);
    tali_model_say_frame(d, &it->X_BD);
    tali_model_say_vec3(d, it->color);
    tali_model_say_number(d, it->opacity);
    tali_model_say_number(d, it->scale);
}

// Its own: three numbers at most, or a text.
static void describe_shape(tali_model_description *d)
{
    const tal_decoration *it = tal_matter_decoration(d->w->model.matter, d->index);
    tali_model_say_vec3(d, it->kind == TAL_DECORATION_LINE ? it->end : it->size);
    tali_model_say_text(d, it->text);
}

bool tali_model_find_decoration(tali_model_description *d, tali_model_own_row *own)
{
    (void)own;
    const tal_matter *matter = d->w->model.matter;
    if (d->index >= tal_matter_num_decorations(matter)) return false;
    if (tali_model_is_of_picture(d->w, d->index)) return true; // no row: it is in <molecules>
    // rows are in the order of tal_decoration_kind
    d->row = &tali_model_decoration_rows[(int)tal_matter_decoration(matter, d->index)->kind];
    return true;
}

static void build_sphere(tali_model *m, tali_model_item *item)
{
    build_decoration(m, item, tal_decoration_sphere(item->p[DECORATION_NUMBERS]));
}

static void build_brick(tali_model *m, tali_model_item *item)
{
    build_decoration(m, item,
                     tal_decoration_brick(tali_model_vec3_at(item->p + DECORATION_NUMBERS)));
}

static void build_cylinder(tali_model *m, tali_model_item *item)
{
    const double *p = item->p + DECORATION_NUMBERS;
    build_decoration(m, item, tal_decoration_cylinder(p[0], p[1]));
}

static void build_ellipsoid(tali_model *m, tali_model_item *item)
{
    build_decoration(m, item,
                     tal_decoration_ellipsoid(tali_model_vec3_at(item->p + DECORATION_NUMBERS)));
}

static void build_line(tali_model *m, tali_model_item *item)
{
    tal_decoration line = tal_decoration_line(TAL_VEC3_ZERO, TAL_VEC3_ZERO);
    line.end = tali_model_vec3_at(item->p + DECORATION_NUMBERS);
    build_decoration(m, item, line);
}

static void build_mesh(tali_model *m, tali_model_item *item)
{
    build_decoration(m, item, tal_decoration_mesh(item->text[0]));
}

static void build_text(tali_model *m, tali_model_item *item)
{
    build_decoration(m, item, tal_decoration_text(item->text[0]));
}

static const tali_model_attribute sphere_attributes[] = {
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[m]"}, {.name = NULL}};
static const tali_model_attribute brick_attributes[] = {{"half_lengths", TALI_TYPE_REAL, 3,
                                                         .flags = TALI_NO_NEGATIVE_NUMBER,
                                                         .doc = "along x, y, z [m]"},
                                                        {.name = NULL}};
static const tali_model_attribute cylinder_attributes[] = {
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[m]"},
    {"half_height", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "along y [m]"},
    {.name = NULL}};
static const tali_model_attribute radii_attributes[] = {
    {"radii", TALI_TYPE_REAL, 3, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "along x, y, z [m]"},
    {.name = NULL}};
static const tali_model_attribute line_attributes[] = {
    {"end", TALI_TYPE_REAL, 3, .doc = "from the origin of the frame to here [m]"}, {.name = NULL}};
static const tali_model_attribute mesh_attributes[] = {
    {"file", TALI_TYPE_TEXT, .doc = "path of a mesh file"}, {.name = NULL}};
static const tali_model_attribute text_attributes[] = {{"text", TALI_TYPE_TEXT, .doc = "the label"},
                                                       {.name = NULL}};

#define DECORATION(element, attributes, builder, text)                                             \
    {                                                                                              \
        .name = (element), .doc = (text), .shared = decoration_attributes, .own = (attributes),    \
        .build = (builder), .describe_shared = describe_decoration, .describe = describe_shape     \
    }

const tali_model_row tali_model_decoration_rows[] = {
    DECORATION("sphere", sphere_attributes, build_sphere, "A sphere."),
    DECORATION("brick", brick_attributes, build_brick, "A box."),
    DECORATION("cylinder", cylinder_attributes, build_cylinder, "A cylinder along y."),
    DECORATION("ellipsoid", radii_attributes, build_ellipsoid, "An ellipsoid."),
    DECORATION("line", line_attributes, build_line, "A line."),
    DECORATION("mesh", mesh_attributes, build_mesh, "A mesh from a file."),
    DECORATION("text", text_attributes, build_text, "A label."),
    {.name = NULL}};
