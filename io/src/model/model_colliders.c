// The table: colliders, convex solids on bodies.
#include "model/model_write_internal.h"

#include <talus/matter/collider.h>

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
    NUMBERS = MATERIAL + 8
};

// ---- reading

// Which row is a kind of shape; -1: it cannot be a collider, and is refused when it is added.
static const int row_of_kind[TAL_NUM_SHAPE_KINDS] = {0, 1, -1, 2, 3, -1, 4};

static tal_shape_kind kind_of(const tali_model_item *item)
{
    const int row = (int)(item->row - tali_model_collider_rows);
    int kind = 0;
    while (row_of_kind[kind] != row) {
        ++kind;
    }
    return (tal_shape_kind)kind;
}

static void build_collider(tali_model *m, tali_model_item *item)
{
    tal_collider_def def = tal_collider_def_default();
    if (!tali_model_make_shape(m, item, kind_of(item), item->p + NUMBERS, &def.shape)) return;
    const double *p = item->p + MATERIAL;
    def.name = item->name;
    def.body = tali_model_body_at(m, item->ref[BODY]);
    def.X_BS = tali_model_frame_at(item->p);
    def.material = (tal_unilateral_material){.static_mu = p[0],
                                             .sliding_mu = p[1],
                                             .viscous_mu = p[2],
                                             .limit = p[3],
                                             .restitution = p[4],
                                             .slow_speed = p[5],
                                             .capture_speed = p[6],
                                             .transition_speed = p[7]};
    def.cliques = tali_model_cliques_of(item);
    item->built = tal_matter_add_collider(m->matter, &def).i;
}

static void check_mesh(tali_model *m, tali_model_item *item)
{
    tali_model_check_cliques(m, item);
    tali_model_make_mesh(m, item, item->text[0], item->p[NUMBERS]);
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
    tali_model_say_index(d, def.body.i);
    tali_model_say_cliques(d, def.cliques);
    tali_model_say_frame(d, &def.X_BS);
    tali_model_say_numbers(d, material, 8);
}

static void describe_shape(tali_model_description *d)
{
    const tal_collider_def def = def_of(d);
    tali_model_say_shape(d, &def.shape);
}

bool tali_model_find_collider(tali_model_description *d, tali_model_own_row *own)
{
    (void)own;
    const tal_matter *matter = d->w->model.matter;
    if (d->index >= tal_matter_num_colliders(matter)) return false;
    d->name = tal_collider_name(matter, (tal_collider_ix){d->index});
    d->row = &tali_model_collider_rows[row_of_kind[def_of(d).shape.kind]];
    d->owner = -1; // none: a mesh is that of a collider
    return true;
}

// ---- the table

#define COLLIDER(element, attributes, text)                                                        \
    {                                                                                              \
        .name = (element), .doc = (text), .shared = collider_attributes, .own = (attributes),      \
        .check = tali_model_check_cliques, .build = build_collider,                                \
        .describe_shared = describe_collider, .describe = describe_shape                           \
    }

const tali_model_row tali_model_collider_rows[] = {
    COLLIDER("half_space", NULL, "All points with x >= 0 of its frame."),
    COLLIDER("sphere", tali_model_sphere_attributes, "A ball."),
    COLLIDER("cylinder", tali_model_cylinder_attributes,
             "A cylinder about z: a prism of 24 sides, or a capsule."),
    COLLIDER("brick", tali_model_brick_attributes, "A box."),
    {.name = "mesh",
     .doc = "The inside of a convex surface of triangles.",
     .shared = collider_attributes,
     .own = tali_model_mesh_attributes,
     .children = TALI_GROUP_MESH_PARTS,
     .max_children = 2,
     .check = check_mesh,
     .build = build_collider,
     .describe_shared = describe_collider,
     .describe = tali_model_describe_mesh,
     .write_children = tali_model_write_mesh},
    {.name = NULL}};
