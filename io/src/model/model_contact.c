// The table: contact, its surfaces and what they are made of.
#include "force_facts_internal.h"

#include "model/model_write_internal.h"

#include <math.h>
#include <string.h>

enum {
    TARGET = TALI_FORCE_REFS,
    TARGET_2,
    TARGET_3,
    TARGET_4
};

// ---- materials

// What every material has, whatever its stiffness is.
// clang-format off
#define DISSIPATION_AND_FRICTION                                                                   \
    {"dissipation", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "[s/m]"},              \
    {"static_friction", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,                           \
     .doc = "coefficient, not less than the dynamic one; if it is not given, it is raised to "   \
            "that"},                                                                               \
    {"dynamic_friction", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "coefficient"},   \
    {"viscous_friction", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "[s/m]"}
// clang-format on

// numbers: frame, then the material in the order of tal_contact_material
static const tali_model_attribute surface_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the surface"},
    {"body", TALI_TYPE_BODY, .initial = "ground", .doc = "what it is on"},
    {"material", TALI_TYPE_MATERIAL, .initial = "soft",
     .doc = "material for all values that are not given here"},
    {"cliques", TALI_TYPE_REALS, .initial = "",
     .doc = "numbers from 1 to 64: surfaces with a common clique do not touch"},
    {"frame", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "of the shape, on the body"},
    {"stiffness", TALI_TYPE_REAL, 1, "1e6", TALI_POSITIVE_NUMBER | TALI_MAYBE_INFINITE,
     .doc = "plane-strain modulus [Pa], or [N/m^n] of a power law; inf: rigid"},
    {"foundation", TALI_TYPE_REAL, 1, "1e8", TALI_POSITIVE_NUMBER | TALI_MAYBE_INFINITE,
     .doc = "of contact with a mesh [Pa/m]; inf: rigid"},
    DISSIPATION_AND_FRICTION,
    {.name = NULL}};

enum {
    FIRST_NUMBER = 5, // of the material, among the attributes
    SURFACE_BODY = 0,
    SURFACE_MATERIAL,
    SURFACE_STIFFNESS = 12,
    SURFACE_NUMBERS = 18
};

const char *tali_model_common_material_at(int i)
{
    if (i == 0) return "soft";
    return i <= (int)TAL_NUM_COMMON_MATERIALS
               ? tal_common_material_name((tal_common_material)(i - 1))
               : NULL;
}

// What a reference means.
static tal_contact_material base_of(const tali_model *m, int ref)
{
    tal_contact_material base = tal_contact_material_default();
    if (ref >= 0) {
        memcpy(&base, m->items[ref].p, sizeof base);
    } else if (ref < -1) {
        base = tal_contact_material_of((tal_common_material)(-2 - ref));
    }
    return base;
}

// The same, but with those of the six numbers that the item gives itself.
static tal_contact_material material_of(const tali_model *m, const tali_model_item *item, int ref,
                                        const double p[6])
{
    const tal_contact_material base = base_of(m, ref);
#define GIVEN(name, i) (tali_model_item_has(item, #name) ? p[i] : base.name)
    tal_contact_material it = {GIVEN(stiffness, 0),        GIVEN(foundation, 1),
                               GIVEN(dissipation, 2),      GIVEN(static_friction, 3),
                               GIVEN(dynamic_friction, 4), GIVEN(viscous_friction, 5)};
#undef GIVEN
    // static friction is at least the dynamic one by default
    if (!tali_model_item_has(item, "static_friction")) {
        it.static_friction = fmax(it.static_friction, it.dynamic_friction);
    }
    return it;
}

// All its numbers, for elements that refer to it.
static void check_material(tali_model *m, tali_model_item *item)
{
    const tal_contact_material material = material_of(m, item, item->ref[0], item->p);
    memcpy(item->p, &material, sizeof material);
}

static const tali_model_attribute material_attributes[] = {
    {"name", TALI_TYPE_NAME, .doc = "not the name of a built-in material"},
    {"material", TALI_TYPE_MATERIAL, .initial = "soft",
     .doc = "material for all values that are not given here"},
    {.name = NULL}};

const tali_model_row tali_model_material_rows[] = {{.name = "material",
                                                    .doc = "A material of surfaces.",
                                                    .shared = material_attributes,
                                                    .own = surface_attributes + FIRST_NUMBER,
                                                    .check = check_material},
                                                   {.name = NULL}};

// ---- a sphere, or a point, over a plane

const tali_model_attribute tali_model_smooth_contact_attributes[] = {
    {"sphere_body", TALI_TYPE_BODY, .doc = "the body the sphere is on"},
    {"plane_body", TALI_TYPE_BODY, .initial = "ground", .doc = "the body the half-space is on"},
    {"kink", TALI_TYPE_BOOL, .initial = "no",
     .doc = "use Hollars' friction curve instead of Stribeck's"},
    {"material", TALI_TYPE_MATERIAL, .initial = "soft",
     .doc = "material for all values that are not given here"},
    {"center", TALI_TYPE_REAL, 3, "0", .doc = "of the sphere, on its body [m]"},
    {"plane", TALI_TYPE_FRAME, .initial = "0 0 0",
     .doc = "of the half-space: its outward normal is -x"},
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "of the sphere [m]"},
    {"stiffness", TALI_TYPE_REAL, 1, "1e6", TALI_POSITIVE_NUMBER,
     .doc = "plane-strain modulus [Pa]"},
    DISSIPATION_AND_FRICTION,
    {"transition_speed", TALI_TYPE_REAL, 1, "0.01", TALI_POSITIVE_NUMBER, .doc = "[m/s]"},
    {"cf", TALI_TYPE_REAL, 1, "1e-5", TALI_POSITIVE_NUMBER,
     .doc = "width of the smooth transition at rest"},
    {"bd", TALI_TYPE_REAL, 1, "300", TALI_POSITIVE_NUMBER, .doc = "how fast the force rises [1/m]"},
    {"bv", TALI_TYPE_REAL, 1, "50", TALI_POSITIVE_NUMBER,
     .doc = "how fast it falls when surfaces are pulled apart [s/m]"},
    {.name = NULL}};

void tali_model_build_smooth_contact(tali_model *m, tali_model_item *item)
{
    tal_smooth_contact_def def = tal_smooth_contact_def_default();
    const double *p = item->p;
    const double numbers[6] = {p[TAL_SMOOTH_STIFFNESS],
                               def.material.foundation, // it has none
                               p[TAL_SMOOTH_DISSIPATION],      p[TAL_SMOOTH_STATIC_FRICTION],
                               p[TAL_SMOOTH_DYNAMIC_FRICTION], p[TAL_SMOOTH_VISCOUS_FRICTION]};
    def.material = material_of(m, item, item->ref[TARGET_4], numbers);
    def.sphere_body = tali_model_body_at(m, item->ref[TARGET]);
    def.plane_body = tali_model_body_at(m, item->ref[TARGET_2]);
    def.has_kink = item->ref[TARGET_3] != 0;
    def.center = tali_model_vec3_at(p);
    def.X_BF = tali_model_frame_at(p + TAL_SMOOTH_PLANE);
    def.radius = p[TAL_SMOOTH_RADIUS];
    def.transition_speed = p[TAL_SMOOTH_TRANSITION_SPEED];
    def.cf = p[TAL_SMOOTH_CF];
    def.bd = p[TAL_SMOOTH_BD];
    def.bv = p[TAL_SMOOTH_BV];
    item->built = tal_forces_add_smooth_contact(m->forces, item->name, &def).i;
}

const tali_model_attribute tali_model_exponential_spring_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "the body the station is on"},
    {"plane_body", TALI_TYPE_BODY, .initial = "ground", .doc = "the body the plane is on"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on its body [m]"},
    {"plane", TALI_TYPE_FRAME, .initial = "0 0 0",
     .doc = "on its body; the plane is x and y of this frame"},
    {"d0", TALI_TYPE_REAL, 1, "0.0065905", .doc = "height at which the force is d1 [m]"},
    {"d1", TALI_TYPE_REAL, 1, "0.5336", TALI_POSITIVE_NUMBER, .doc = "[N]"},
    {"d2", TALI_TYPE_REAL, 1, "1150", TALI_POSITIVE_NUMBER, .doc = "[1/m]"},
    {"cz", TALI_TYPE_REAL, 1, "0.5", TALI_NO_NEGATIVE_NUMBER, .doc = "[s/m]"},
    {"max_fz", TALI_TYPE_REAL, 1, "1e5", TALI_POSITIVE_NUMBER, .doc = "[N]"},
    {"kxy", TALI_TYPE_REAL, 1, "2e4", TALI_POSITIVE_NUMBER, .doc = "[N/m]"},
    {"cxy", TALI_TYPE_REAL, 1, "282.84271247461902", TALI_NO_NEGATIVE_NUMBER, .doc = "[N s/m]"},
    {"v_settle", TALI_TYPE_REAL, 1, "0.01", TALI_POSITIVE_NUMBER, .doc = "[m/s]"},
    {"mus", TALI_TYPE_REAL, 1, "0.7", TALI_NO_NEGATIVE_NUMBER, .doc = "static coefficient"},
    {"muk", TALI_TYPE_REAL, 1, "0.5", TALI_NO_NEGATIVE_NUMBER, .doc = "kinetic coefficient"},
    {"anchor", TALI_TYPE_REALS, .initial = "",
     .doc =
         "x and y of the point in the plane where friction holds it, and 0 (sticks) to 1 (slides); default: zeros"},
    {.name = NULL}};

void tali_model_check_exponential_spring(tali_model *m, tali_model_item *item)
{
    const tali_model_list *anchor = &item->lists[1];
    if (anchor->count == 0) return;
    if (anchor->count != 3) {
        tali_model_item_error(m, item, "anchor", ": 'anchor' has %d numbers; 3 are needed",
                              anchor->count);
        return;
    }
    const double sliding = anchor->values[2];
    if (sliding >= 0.0 && sliding <= 1.0) return;
    tali_model_item_error(m, item, "anchor", ": 'anchor' slides by %g; it must be between 0 and 1",
                          sliding);
}

void tali_model_start_exponential_spring(tali_model *m, const tali_model_item *item)
{
    const tal_force_ix force = {item->built};
    if (item->lists[1].count < 3) return;
    tali_exponential_spring_set_anchor(m->forces, m->state, force, item->lists[1].values);
}

void tali_model_build_exponential_spring(tali_model *m, tali_model_item *item)
{
    tal_exponential_spring_def def = tal_exponential_spring_def_default();
    const double *p = item->p;
    def.body = tali_model_body_at(m, item->ref[TARGET]);
    def.plane_body = tali_model_body_at(m, item->ref[TARGET_2]);
    def.p_BS = tali_model_vec3_at(p);
    def.X_BF = tali_model_frame_at(p + TAL_EXPONENTIAL_PLANE);
    def.d0 = p[TAL_EXPONENTIAL_D0];
    def.d1 = p[TAL_EXPONENTIAL_D1];
    def.d2 = p[TAL_EXPONENTIAL_D2];
    def.cz = p[TAL_EXPONENTIAL_CZ];
    def.max_fz = p[TAL_EXPONENTIAL_MAX_FZ];
    def.kxy = p[TAL_EXPONENTIAL_KXY];
    def.cxy = p[TAL_EXPONENTIAL_CXY];
    def.v_settle = p[TAL_EXPONENTIAL_V_SETTLE];
    def.mus = p[TAL_EXPONENTIAL_MUS];
    def.muk = p[TAL_EXPONENTIAL_MUK];
    item->built = tal_forces_add_exponential_spring(m->forces, item->name, &def).i;
}

// An anchor is left out where it is all zero.
void tali_model_describe_exponential_spring(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    double *anchor = tali_model_keep_values(d, 3);
    tali_exponential_spring_anchor(model->forces, model->state, (tal_force_ix){d->index}, anchor);
    const bool any = anchor[0] != 0.0 || anchor[1] != 0.0 || anchor[2] != 0.0;
    tali_model_describe_built_in_force(d);
    tali_model_say_values(d, anchor, any ? 3 : 0);
}

// ---- contact of surfaces

const tali_model_attribute tali_model_contact_attributes[] = {
    {"law", TALI_TYPE_WORD, .initial = "hertz", .words = "hertz|power|relaxing",
     .doc = "of the normal force"},
    {"friction", TALI_TYPE_WORD, .initial = "stribeck",
     .words = "stribeck|hollars|soft_coulomb|elastoplastic", .doc = "its law"},
    {"max_pairs", TALI_TYPE_INTEGER, .initial = "0",
     .doc = "capacity; 0: chosen from the surfaces"},
    {"max_points", TALI_TYPE_INTEGER, .initial = "0",
     .doc = "capacity; 0: chosen from the surfaces"},
    {"max_faces", TALI_TYPE_INTEGER, .initial = "0",
     .doc = "capacity; 0: chosen from the surfaces"},
    {"max_bristles", TALI_TYPE_INTEGER, .initial = "0", .doc = "capacity; 0: 3000"},
    {"exponent", TALI_TYPE_REAL, 1, "1.5", TALI_POSITIVE_NUMBER,
     .doc = "of a power law, and of a surface that relaxes"},
    {"transition_speed", TALI_TYPE_REAL, 1, "0.01", TALI_POSITIVE_NUMBER,
     .doc = "slip speed below which friction is about static [m/s]"},
    {"grip_stiffness", TALI_TYPE_REAL, 1, "1e5", TALI_POSITIVE_NUMBER,
     .doc = "of friction with memory [N/m]"},
    {"grip_damping", TALI_TYPE_REAL, 1, "100", TALI_POSITIVE_NUMBER,
     .doc = "of friction with memory [N s/m]"},
    {"breakaway", TALI_TYPE_REAL, 1, "0.7", TALI_NO_NEGATIVE_NUMBER,
     .doc = "part of the friction that is purely elastic, 0 to 1"},
    {"relaxation_time", TALI_TYPE_REAL, 1, "0.001", TALI_POSITIVE_NUMBER,
     .doc = "of a surface that relaxes: its damper over its spring [s]"},
    {.name = NULL}};

enum {
    CONTACT_LAW = TALI_FORCE_REFS,
    CONTACT_FRICTION,
    CONTACT_PAIRS,
    CONTACT_POINTS,
    CONTACT_FACES,
    CONTACT_BRISTLES
};

void tali_model_check_contact(tali_model *m, tali_model_item *item)
{
    const int most = 1000000; // a typing error could ask for all memory
    for (int i = CONTACT_PAIRS; i <= CONTACT_BRISTLES; ++i) {
        if (item->ref[i] <= most) continue;
        tali_model_item_error(m, item, NULL, " has a capacity of %d; at most %d is possible",
                              item->ref[i], most);
    }
}

void tali_model_build_contact(tali_model *m, tali_model_item *item)
{
    tal_contact_def def = tal_contact_def_default();
    def.law = (tal_contact_law)item->ref[CONTACT_LAW];
    def.friction = (tal_contact_friction)item->ref[CONTACT_FRICTION];
    def.max_pairs = item->ref[CONTACT_PAIRS];
    def.max_points = item->ref[CONTACT_POINTS];
    def.max_faces = item->ref[CONTACT_FACES];
    def.max_bristles = item->ref[CONTACT_BRISTLES];
    def.exponent = item->p[0];
    def.grip = (tal_contact_grip){item->p[1], item->p[2], item->p[3], item->p[4]};
    def.relaxation_time = item->p[5];
    item->built = tal_forces_add_contact(m->forces, item->name, &def).i;
}

void tali_model_describe_contact(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_force_ix contact = {d->index};
    tali_force_facts facts;
    (void)tali_force_facts_of(model->forces, contact, &facts);
    const tal_contact_def *def = facts.contact;
    const tal_contact_grip grip = tal_contact_grip_of(model->forces, model->state, contact);
    const int refs[] = {(int)def->law,   (int)def->friction, def->max_pairs,
                        def->max_points, def->max_faces,     def->max_bristles};
    for (size_t i = 0; i < sizeof refs / sizeof *refs; ++i) {
        tali_model_say_index(d, refs[i]);
    }
    tali_model_say_number(d, def->exponent);
    tali_model_say_number(d, grip.transition_speed);
    tali_model_say_number(d, grip.stiffness);
    tali_model_say_number(d, grip.damping);
    tali_model_say_number(d, grip.breakaway);
    tali_model_say_number(d, def->relaxation_time);
}

void tali_model_write_surfaces(tali_model_description *contact)
{
    const tal_model *model = &contact->w->model;
    const tal_force_ix force = {contact->index};
    tali_model_sink_put(&contact->w->out, "\n");
    for (int i = 0; i < tal_contact_num_surfaces(model->forces, force); ++i) {
        const tal_contact_surface_ix surface = {i};
        const tal_shape shape =
            tal_contact_surface_shape(model->forces, model->state, force, surface);
        // rows are in the order of tal_shape_kind
        tali_model_description d = {.w = contact->w,
                                    .row = &tali_model_surface_rows[(int)shape.kind],
                                    .name = tal_contact_surface_name(model->forces, force, surface),
                                    .owner = force.i,
                                    .index = i};
        tali_model_write_element(&d, "    ", "\n");
    }
    tali_model_sink_put(&contact->w->out, "    ");
}

// Rows are in the order of tal_shape_kind.
static void build_surface(tali_model *m, tali_model_item *item)
{
    tal_contact_surface_def def = tal_contact_surface_def_default();
    const tal_force_ix contact = {m->items[item->parent].built};
    const tal_shape_kind kind = (tal_shape_kind)(item->row - tali_model_surface_rows);
    if (!tali_model_make_shape(m, item, kind, item->p + SURFACE_NUMBERS, &def.shape)) return;
    def.name = item->name;
    def.body = tali_model_body_at(m, item->ref[SURFACE_BODY]);
    def.X_BS = tali_model_frame_at(item->p);
    def.material = material_of(m, item, item->ref[SURFACE_MATERIAL], item->p + SURFACE_STIFFNESS);
    def.cliques = tali_model_cliques_of(item);
    item->built = tal_contact_add_surface(m->forces, contact, &def).i;
}

// What all surfaces have.
static void describe_surface(tali_model_description *d)
{
    const tal_forces *forces = d->w->model.forces;
    const tal_state *state = d->w->model.state;
    const tal_force_ix contact = {d->owner};
    const tal_contact_surface_ix surface = {d->index};
    const tal_xform X_BS = tal_contact_surface_X_BS(forces, state, contact, surface);
    const tal_contact_material material =
        tal_contact_surface_material(forces, state, contact, surface);
    tali_model_say_index(d, tal_contact_surface_body(forces, contact, surface).i);
    tali_model_say_index(d, -1); // all numbers of its material are written
    tali_model_say_cliques(d, tali_contact_cliques(forces, contact, surface));
    tali_model_say_frame(d, &X_BS);
    tali_model_say_numbers(d, &material.stiffness, 6);
}

static void describe_shape(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_shape shape = tal_contact_surface_shape(
        model->forces, model->state, (tal_force_ix){d->owner}, (tal_contact_surface_ix){d->index});
    tali_model_say_shape(d, &shape);
}

static void check_mesh(tali_model *m, tali_model_item *item)
{
    tali_model_check_cliques(m, item);
    tali_model_make_mesh(m, item, item->text[0], item->p[SURFACE_NUMBERS]);
}

#define SURFACE(element, attributes, text)                                                         \
    {                                                                                              \
        .name = (element), .doc = (text), .shared = surface_attributes, .own = (attributes),       \
        .check = tali_model_check_cliques, .build = build_surface,                                 \
        .describe_shared = describe_surface, .describe = describe_shape                            \
    }

const tali_model_row tali_model_surface_rows[] = {
    SURFACE("half_space", NULL, "All points below a plane (talus/geometry/shape.h)."),
    SURFACE("sphere", tali_model_sphere_attributes, "A sphere."),
    SURFACE("ellipsoid", tali_model_ellipsoid_attributes, "An ellipsoid."),
    SURFACE("cylinder", tali_model_cylinder_attributes, "A cylinder."),
    SURFACE("brick", tali_model_brick_attributes, "A box."),
    SURFACE("torus", tali_model_torus_attributes, "A torus."),
    {.name = "mesh",
     .doc = "The inside of a closed surface of triangles.",
     .shared = surface_attributes,
     .own = tali_model_mesh_attributes,
     .children = TALI_GROUP_MESH_PARTS,
     .max_children = 2,
     .check = check_mesh,
     .build = build_surface,
     .describe_shared = describe_surface,
     .describe = tali_model_describe_mesh,
     .write_children = tali_model_write_mesh},
    {.name = NULL}};
