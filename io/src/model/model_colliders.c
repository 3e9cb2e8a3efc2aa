// The table: colliders, convex solids on bodies.
#include "model/model_write_internal.h"

#include <talus/matter/collider.h>

#include <math.h>

// refs: body; numbers: frame, then the material; list: cliques
static const tali_model_attribute collider_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the collider"},
    {"body", TALI_TYPE_BODY, .initial = "ground", .doc = "what it is on"},
    {"cliques", TALI_TYPE_REALS, .initial = "",
     .doc = "numbers from 1 to 64: colliders with a common clique do not meet"},
    {"frame", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "of the shape, on the body"},
    {"static_mu", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER | TALI_MAYBE_INFINITE,
     .doc = "coefficient of friction at rest, at least `sliding_mu`; inf: it never slips. Of two "
            "colliders the smaller one counts"},
    {"sliding_mu", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "coefficient of friction while it slips"},
    {"viscous_mu", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "what each m/s of slip adds [s/m]"},
    {"limit", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "friction without a normal force [N]"},
    {"restitution", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "e, from 0 to 1: part of the impulse of an impact that is given back"},
    {"slow_speed", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "speed of approach below which e rises to 1 linearly [m/s]"},
    {"capture_speed", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "speed of approach below which e is 0 [m/s]"},
    {"transition_speed", TALI_TYPE_REAL, 1, "1e-9", TALI_NO_NEGATIVE_NUMBER,
     .doc = "slip below which the coefficient at rest is used [m/s]"},
    {.name = NULL}};

enum {
    BODY = 0,
    MATERIAL = 12,
    NUMBERS = MATERIAL + 8,
    MOST_CLIQUES = 64
};

// ---- reading

static void check_collider(tali_model *m, tali_model_item *item)
{
    for (int i = 0; i < item->lists[0].count; ++i) {
        const double clique = item->lists[0].values[i];
        if (clique >= 1.0 && clique <= MOST_CLIQUES && clique == floor(clique)) continue;
        tali_model_item_error(m, item, "cliques",
                              ": '%g' is not a clique; cliques are numbered from 1 to 64", clique);
        return;
    }
}

static void build_collider(tali_model *m, tali_model_item *item, tal_shape shape)
{
    tal_collider_def def = tal_collider_def_default();
    const double *p = item->p + MATERIAL;
    def.name = item->name;
    def.body = tali_model_body_at(m, item->ref[BODY]);
    def.X_BS = tali_model_frame_at(item->p);
    def.shape = shape;
    def.material = (tal_unilateral_material){.static_mu = p[0],
                                             .sliding_mu = p[1],
                                             .viscous_mu = p[2],
                                             .limit = p[3],
                                             .restitution = p[4],
                                             .slow_speed = p[5],
                                             .capture_speed = p[6],
                                             .transition_speed = p[7]};
    for (int i = 0; i < item->lists[0].count; ++i) {
        def.cliques |= UINT64_C(1) << ((int)item->lists[0].values[i] - 1);
    }
    item->built = tal_matter_add_collider(m->matter, &def).i;
}

static void build_half_space(tali_model *m, tali_model_item *item)
{
    build_collider(m, item, tal_shape_half_space());
}

static void build_sphere(tali_model *m, tali_model_item *item)
{
    build_collider(m, item, tal_shape_sphere(item->p[NUMBERS]));
}

static void build_cylinder(tali_model *m, tali_model_item *item)
{
    const double *p = item->p + NUMBERS;
    build_collider(m, item, tal_shape_cylinder(p[0], p[1], p[2]));
}

static void build_brick(tali_model *m, tali_model_item *item)
{
    const double *p = item->p + NUMBERS;
    build_collider(m, item, tal_shape_brick(tali_model_vec3_at(p), p[3]));
}

static void check_mesh(tali_model *m, tali_model_item *item)
{
    check_collider(m, item);
    tali_model_make_mesh(m, item, item->text[0], item->p[NUMBERS]);
}

static void build_mesh(tali_model *m, tali_model_item *item)
{
    const tal_mesh *mesh = tali_model_keep_mesh(m, item);
    if (mesh != NULL) build_collider(m, item, tal_shape_mesh(mesh));
}

// ---- writing

static tal_collider_def def_of(const tali_model_description *d)
{
    return tal_collider_def_of(d->w->model.matter, (tal_collider_ix){d->index});
}

static void describe_collider(tali_model_description *d)
{
    const tal_collider_def def = def_of(d);
    const tal_unilateral_material *it = &def.material;
    const double material[] = {it->static_mu,     it->sliding_mu,      it->viscous_mu,
                               it->limit,         it->restitution,     it->slow_speed,
                               it->capture_speed, it->transition_speed};
    double *list = tali_model_keep_values(d, MOST_CLIQUES);
    int num_cliques = 0;
    for (int i = 0; i < MOST_CLIQUES; ++i) {
        if ((def.cliques >> i & 1) != 0) list[num_cliques++] = i + 1;
    }
    tali_model_say_index(d, def.body.i);
    tali_model_say_values(d, list, num_cliques);
    tali_model_say_frame(d, &def.X_BS);
    tali_model_say_numbers(d, material, 8);
}

// Sizes, and the radius of edges of shapes that have them.
static void describe_shape(tali_model_description *d)
{
    const tal_shape shape = def_of(d).shape;
    const int sizes[TAL_NUM_SHAPE_KINDS] = {0, 1, 3, 2, 3, 2, 0}; // in the order of tal_shape_kind
    tali_model_say_numbers(d, &shape.size.x, sizes[shape.kind]);
    tali_model_say_number(d, shape.edge_radius);
}

bool tali_model_find_collider(tali_model_description *d, tali_model_own_row *own)
{
    (void)own;
    const tal_matter *matter = d->w->model.matter;
    if (d->index >= tal_matter_num_colliders(matter)) return false;
    // rows of the kinds that can be colliders; the others are refused when they are added
    static const int rows[TAL_NUM_SHAPE_KINDS] = {0, 1, 0, 2, 3, 0, 4};
    d->name = tal_collider_name(matter, (tal_collider_ix){d->index});
    d->row = &tali_model_collider_rows[rows[def_of(d).shape.kind]];
    d->owner = -1; // none: a mesh is that of a collider
    return true;
}

// ---- the table

static const tali_model_attribute sphere_attributes[] = {
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"}, {.name = NULL}};
static const tali_model_attribute cylinder_attributes[] = {
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {"half_length", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {"rim_radius", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "of its rounded rims [m]; as large as `radius`: a capsule"},
    {.name = NULL}};
static const tali_model_attribute brick_attributes[] = {
    {"half_lengths", TALI_TYPE_REAL, 3, .flags = TALI_POSITIVE_NUMBER, .doc = "along x, y, z [m]"},
    {"corner_radius", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "of its rounded corners [m]"},
    {.name = NULL}};

#define COLLIDER(element, attributes, builder, text)                                               \
    {                                                                                              \
        .name = (element), .doc = (text), .shared = collider_attributes, .own = (attributes),      \
        .check = check_collider, .build = (builder), .describe_shared = describe_collider,         \
        .describe = describe_shape                                                                 \
    }

const tali_model_row tali_model_collider_rows[] = {
    COLLIDER("half_space", NULL, build_half_space, "All points with x >= 0 of its frame."),
    COLLIDER("sphere", sphere_attributes, build_sphere, "A ball."),
    COLLIDER("cylinder", cylinder_attributes, build_cylinder,
             "A cylinder about z: a prism of 24 sides, or a capsule."),
    COLLIDER("brick", brick_attributes, build_brick, "A box."),
    {.name = "mesh",
     .doc = "The inside of a convex surface of triangles.",
     .shared = collider_attributes,
     .own = tali_model_mesh_attributes,
     .children = TALI_GROUP_MESH_PARTS,
     .max_children = 2,
     .check = check_mesh,
     .build = build_mesh,
     .describe_shared = describe_collider,
     .describe = tali_model_describe_mesh,
     .write_children = tali_model_write_mesh},
    {.name = NULL}};
