// The table: contact, its surfaces and what they are made of, and baths.
#include "force_facts_internal.h"
#include "model_internal.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    TARGET = TALI_FORCE_REFS,
    TARGET_2,
    TARGET_3,
    TARGET_4
};

// ---- baths

const tali_attribute tali_thermostat_attributes[] = {
    {"chain", TALI_TYPE_INTEGER, .initial = "3", .doc = "links of the chain, 1 to 16"},
    {"kT", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[J]"},
    {"relaxation_time", TALI_TYPE_REAL, 1, "0.1", TALI_POSITIVE_NUMBER, .doc = "[s]"},
    {"excluded", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "degrees of freedom that are not at temperature"},
    {.name = NULL}};

void tali_build_thermostat(tali_model *m, tali_item *item)
{
    tal_thermostat_def def = tal_thermostat_def_default();
    def.chain_length = item->ref[TARGET];
    def.kT = item->p[0];
    def.relaxation_time = item->p[1];
    def.excluded = item->p[2];
    item->built = tal_forces_add_thermostat(m->forces, item->name, &def).i;
}

const tali_attribute tali_langevin_attributes[] = {
    {"seed", TALI_TYPE_TEXT, .initial = "0", .doc = "of the noise: a whole number below 2^64"},
    {"interval", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER,
     .doc = "the step of the integrator [s]"},
    {"kT", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[J]"},
    {"friction", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[1/s]"},
    {.name = NULL}};

// Decimal digits of a number of 64 bits.
static bool read_seed(const char *text, uint64_t *seed)
{
    *seed = 0;
    for (const char *at = text; *at != '\0'; ++at) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (*at < '0' || *at > '9' || *seed > (UINT64_MAX - digit) / 10) return false;
        *seed = 10 * *seed + digit;
    }
    return *text != '\0';
}

void tali_check_langevin(tali_model *m, tali_item *item)
{
    uint64_t seed;
    if (read_seed(item->text[0], &seed)) return;
    tali_item_error(m, item, "seed", ": 'seed' is '%.40s'; it must be a whole number below 2^64",
                    item->text[0]);
}

void tali_build_langevin(tali_model *m, tali_item *item)
{
    tal_langevin_def def = tal_langevin_def_default();
    (void)read_seed(item->text[0], &def.seed);
    def.interval = item->p[0];
    def.kT = item->p[1];
    def.friction = item->p[2];
    item->built = tal_forces_add_langevin(m->forces, item->name, &def).i;
}

// ---- materials

// What every material has, whatever its stiffness is.
// clang-format off
#define DISSIPATION_AND_FRICTION                                                                   \
    {"dissipation", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "[s/m]"},              \
    {"static_friction", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,                           \
     .doc = "coefficient, no less than the dynamic one: where it is not given, it is raised to "   \
            "that"},                                                                               \
    {"dynamic_friction", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "coefficient"},   \
    {"viscous_friction", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "[s/m]"}
// clang-format on

// numbers: frame, then the material in the order of tal_contact_material
static const tali_attribute surface_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the surface"},
    {"body", TALI_TYPE_BODY, .initial = "ground", .doc = "what it is on"},
    {"material", TALI_TYPE_MATERIAL, .initial = "soft",
     .doc = "where the numbers come from that are not given"},
    {"cliques", TALI_TYPE_REALS, .initial = "",
     .doc = "numbers from 1 to 64: surfaces with one in common do not meet"},
    {"frame", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "of the shape, on the body"},
    {"stiffness", TALI_TYPE_REAL, 1, "1e6", TALI_POSITIVE_NUMBER,
     .doc = "plane-strain modulus [Pa], or [N/m^n] of a power law"},
    {"foundation", TALI_TYPE_REAL, 1, "1e8", TALI_POSITIVE_NUMBER, .doc = "of a mesh [Pa/m]"},
    DISSIPATION_AND_FRICTION,
    {.name = NULL}};

enum {
    FIRST_NUMBER = 5, // of the material, among the attributes
    SURFACE_BODY = 0,
    SURFACE_MATERIAL,
    SURFACE_STIFFNESS = 12,
    SURFACE_NUMBERS = 18
};

const char *tali_common_material_at(int i)
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
static tal_contact_material material_of(const tali_model *m, const tali_item *item, int ref,
                                        const double p[6])
{
    const tal_contact_material base = base_of(m, ref);
#define GIVEN(name, i) (tali_item_has(item, #name) ? p[i] : base.name)
    tal_contact_material it = {GIVEN(stiffness, 0),        GIVEN(foundation, 1),
                               GIVEN(dissipation, 2),      GIVEN(static_friction, 3),
                               GIVEN(dynamic_friction, 4), GIVEN(viscous_friction, 5)};
#undef GIVEN
    // what rests holds no less than what slides: nobody needs to say it
    if (!tali_item_has(item, "static_friction")) {
        it.static_friction = fmax(it.static_friction, it.dynamic_friction);
    }
    return it;
}

// All its numbers, for those who refer to it.
static void check_material(tali_model *m, tali_item *item)
{
    const tal_contact_material material = material_of(m, item, item->ref[0], item->p);
    memcpy(item->p, &material, sizeof material);
}

static const tali_attribute material_attributes[] = {
    {"name", TALI_TYPE_NAME, .doc = "none of those that are there from the start"},
    {"material", TALI_TYPE_MATERIAL, .initial = "soft",
     .doc = "where the numbers come from that are not given"},
    {.name = NULL}};

const tali_row tali_material_rows[] = {{.name = "material",
                                        .doc = "What surfaces are made of.",
                                        .shared = material_attributes,
                                        .own = surface_attributes + FIRST_NUMBER,
                                        .check = check_material},
                                       {.name = NULL}};

// ---- a sphere, or a point, over a plane

const tali_attribute tali_smooth_contact_attributes[] = {
    {"sphere_body", TALI_TYPE_BODY, .doc = "the body the sphere is on"},
    {"plane_body", TALI_TYPE_BODY, .initial = "ground", .doc = "the body the half-space is on"},
    {"kink", TALI_TYPE_BOOL, .initial = "no",
     .doc = "friction by Hollars' curve instead of Stribeck's"},
    {"material", TALI_TYPE_MATERIAL, .initial = "soft",
     .doc = "where the numbers of a material come from that are not given"},
    {"center", TALI_TYPE_REAL, 3, "0", .doc = "of the sphere, on its body [m]"},
    {"plane", TALI_TYPE_FRAME, .initial = "0 0 0",
     .doc = "of the half-space: its outward normal is -x"},
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "of the sphere [m]"},
    {"stiffness", TALI_TYPE_REAL, 1, "1e6", TALI_POSITIVE_NUMBER,
     .doc = "plane-strain modulus [Pa]"},
    DISSIPATION_AND_FRICTION,
    {"transition_speed", TALI_TYPE_REAL, 1, "0.01", TALI_POSITIVE_NUMBER, .doc = "[m/s]"},
    {"cf", TALI_TYPE_REAL, 1, "1e-5", TALI_POSITIVE_NUMBER,
     .doc = "how soft the edges at rest are"},
    {"bd", TALI_TYPE_REAL, 1, "300", TALI_POSITIVE_NUMBER, .doc = "how fast the force rises [1/m]"},
    {"bv", TALI_TYPE_REAL, 1, "50", TALI_POSITIVE_NUMBER,
     .doc = "how fast it falls where surfaces are torn apart [s/m]"},
    {.name = NULL}};

void tali_build_smooth_contact(tali_model *m, tali_item *item)
{
    tal_smooth_contact_def def = tal_smooth_contact_def_default();
    const double *p = item->p;
    const double numbers[6] = {p[TAL_SMOOTH_STIFFNESS],
                               def.material.foundation, // it has none
                               p[TAL_SMOOTH_DISSIPATION],      p[TAL_SMOOTH_STATIC_FRICTION],
                               p[TAL_SMOOTH_DYNAMIC_FRICTION], p[TAL_SMOOTH_VISCOUS_FRICTION]};
    def.material = material_of(m, item, item->ref[TARGET_4], numbers);
    def.sphere_body = tali_body_at(m, item->ref[TARGET]);
    def.plane_body = tali_body_at(m, item->ref[TARGET_2]);
    def.has_kink = item->ref[TARGET_3] != 0;
    def.center = tali_vec3_at(p);
    def.X_BF = tali_frame_at(p + TAL_SMOOTH_PLANE);
    def.radius = p[TAL_SMOOTH_RADIUS];
    def.transition_speed = p[TAL_SMOOTH_TRANSITION_SPEED];
    def.cf = p[TAL_SMOOTH_CF];
    def.bd = p[TAL_SMOOTH_BD];
    def.bv = p[TAL_SMOOTH_BV];
    item->built = tal_forces_add_smooth_contact(m->forces, item->name, &def).i;
}

const tali_attribute tali_exponential_spring_attributes[] = {
    {"body", TALI_TYPE_BODY, .doc = "the body the station is on"},
    {"plane_body", TALI_TYPE_BODY, .initial = "ground", .doc = "the body the plane is on"},
    {"station", TALI_TYPE_REAL, 3, "0", .doc = "on its body [m]"},
    {"plane", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "the plane is its xy"},
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
     .doc = "x and y in the plane where friction holds it, and 0 (sticks) to 1 (slides); zeros"},
    {.name = NULL}};

void tali_check_exponential_spring(tali_model *m, tali_item *item)
{
    const tali_list *anchor = &item->lists[1];
    if (anchor->count == 0) return;
    if (anchor->count != 3) {
        tali_item_error(m, item, "anchor", ": 'anchor' has %d numbers; 3 are needed",
                        anchor->count);
        return;
    }
    const double sliding = anchor->values[2];
    if (sliding >= 0.0 && sliding <= 1.0) return;
    tali_item_error(m, item, "anchor", ": 'anchor' slides by %g; it must be between 0 and 1",
                    sliding);
}

void tali_start_exponential_spring(tali_model *m, const tali_item *item)
{
    const tal_force_ix force = {item->built};
    if (item->lists[1].count < 3) return;
    tali_exponential_spring_set_anchor(m->forces, m->state, force, item->lists[1].values);
}

void tali_build_exponential_spring(tali_model *m, tali_item *item)
{
    tal_exponential_spring_def def = tal_exponential_spring_def_default();
    const double *p = item->p;
    def.body = tali_body_at(m, item->ref[TARGET]);
    def.plane_body = tali_body_at(m, item->ref[TARGET_2]);
    def.p_BS = tali_vec3_at(p);
    def.X_BF = tali_frame_at(p + TAL_EXPONENTIAL_PLANE);
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

// ---- contact of surfaces

const tali_attribute tali_contact_attributes[] = {
    {"law", TALI_TYPE_WORD, .initial = "hertz", .words = "hertz|power",
     .doc = "of the normal force"},
    {"friction", TALI_TYPE_WORD, .initial = "stribeck",
     .words = "stribeck|hollars|soft_coulomb|elastoplastic", .doc = "its law"},
    {"max_pairs", TALI_TYPE_INTEGER, .initial = "0",
     .doc = "capacity; 0: chosen from the surfaces"},
    {"max_points", TALI_TYPE_INTEGER, .initial = "0", .doc = "capacity, likewise"},
    {"max_faces", TALI_TYPE_INTEGER, .initial = "0", .doc = "capacity, likewise"},
    {"max_bristles", TALI_TYPE_INTEGER, .initial = "0", .doc = "capacity; 0: 3000"},
    {"exponent", TALI_TYPE_REAL, 1, "1.5", TALI_POSITIVE_NUMBER, .doc = "of a power law"},
    {"transition_speed", TALI_TYPE_REAL, 1, "0.01", TALI_POSITIVE_NUMBER,
     .doc = "below it friction is static, or almost [m/s]"},
    {"grip_stiffness", TALI_TYPE_REAL, 1, "1e5", TALI_POSITIVE_NUMBER,
     .doc = "of friction with memory [N/m]"},
    {"grip_damping", TALI_TYPE_REAL, 1, "100", TALI_POSITIVE_NUMBER, .doc = "likewise [N s/m]"},
    {"breakaway", TALI_TYPE_REAL, 1, "0.7", TALI_NO_NEGATIVE_NUMBER,
     .doc = "part of the friction that is purely elastic, 0 to 1"},
    {.name = NULL}};

enum {
    CONTACT_LAW = TALI_FORCE_REFS,
    CONTACT_FRICTION,
    CONTACT_PAIRS,
    CONTACT_POINTS,
    CONTACT_FACES,
    CONTACT_BRISTLES
};

void tali_check_contact(tali_model *m, tali_item *item)
{
    const int most = 1000000; // what a slip of the finger could ask for takes all memory
    for (int i = CONTACT_PAIRS; i <= CONTACT_BRISTLES; ++i) {
        if (item->ref[i] <= most) continue;
        tali_item_error(m, item, NULL, " has a capacity of %d; at most %d is possible",
                        item->ref[i], most);
    }
}

void tali_build_contact(tali_model *m, tali_item *item)
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
    item->built = tal_forces_add_contact(m->forces, item->name, &def).i;
}

static void build_surface(tali_model *m, tali_item *item, tal_shape shape)
{
    tal_contact_surface_def def = tal_contact_surface_def_default();
    const tal_force_ix contact = {m->items[item->parent].built};
    def.name = item->name;
    def.body = tali_body_at(m, item->ref[SURFACE_BODY]);
    def.X_BS = tali_frame_at(item->p);
    def.shape = shape;
    def.material = material_of(m, item, item->ref[SURFACE_MATERIAL], item->p + SURFACE_STIFFNESS);
    for (int i = 0; i < item->lists[0].count; ++i) {
        def.cliques |= UINT64_C(1) << ((int)item->lists[0].values[i] - 1);
    }
    item->built = tal_contact_add_surface(m->forces, contact, &def).i;
}

static void check_surface(tali_model *m, tali_item *item)
{
    for (int i = 0; i < item->lists[0].count; ++i) {
        const double clique = item->lists[0].values[i];
        if (clique >= 1.0 && clique <= 64.0 && clique == floor(clique)) continue;
        tali_item_error(m, item, "cliques", ": '%g' is no clique; they are numbered from 1 to 64",
                        clique);
        return;
    }
}

static void build_half_space(tali_model *m, tali_item *item)
{
    build_surface(m, item, tal_shape_half_space());
}

static void build_sphere(tali_model *m, tali_item *item)
{
    build_surface(m, item, tal_shape_sphere(item->p[SURFACE_NUMBERS]));
}

static void build_ellipsoid(tali_model *m, tali_item *item)
{
    build_surface(m, item, tal_shape_ellipsoid(tali_vec3_at(item->p + SURFACE_NUMBERS)));
}

static void build_cylinder(tali_model *m, tali_item *item)
{
    const double *p = item->p + SURFACE_NUMBERS;
    build_surface(m, item, tal_shape_cylinder(p[0], p[1], p[2]));
}

static void build_brick(tali_model *m, tali_item *item)
{
    const double *p = item->p + SURFACE_NUMBERS;
    build_surface(m, item, tal_shape_brick(tali_vec3_at(p), p[3]));
}

static void build_torus(tali_model *m, tali_item *item)
{
    const double *p = item->p + SURFACE_NUMBERS;
    build_surface(m, item, tal_shape_torus(p[0], p[1]));
}

static void check_mesh(tali_model *m, tali_item *item)
{
    check_surface(m, item);
    tali_make_mesh(m, item, item->text[0], item->p[SURFACE_NUMBERS]);
}

static void build_mesh(tali_model *m, tali_item *item)
{
    const tal_mesh *mesh = tali_keep_mesh(m, item);
    if (mesh != NULL) build_surface(m, item, tal_shape_mesh(mesh));
}

static const tali_attribute sphere_attributes[] = {
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"}, {.name = NULL}};
static const tali_attribute ellipsoid_attributes[] = {
    {"radii", TALI_TYPE_REAL, 3, .flags = TALI_POSITIVE_NUMBER, .doc = "along x, y, z [m]"},
    {.name = NULL}};
static const tali_attribute cylinder_attributes[] = {
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {"half_length", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {"rim_radius", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "of its rounded rims [m]"},
    {.name = NULL}};
static const tali_attribute brick_attributes[] = {
    {"half_lengths", TALI_TYPE_REAL, 3, .flags = TALI_POSITIVE_NUMBER, .doc = "along x, y, z [m]"},
    {"corner_radius", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "of its rounded corners [m]"},
    {.name = NULL}};
static const tali_attribute torus_attributes[] = {
    {"ring_radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {"tube_radius", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[m]"},
    {.name = NULL}};

#define SURFACE(element, attributes, builder, text)                                                \
    {                                                                                              \
        .name = (element), .doc = (text), .shared = surface_attributes, .own = (attributes),       \
        .check = check_surface, .build = (builder)                                                 \
    }

const tali_row tali_surface_rows[] = {
    SURFACE("half_space", NULL, build_half_space,
            "All that is below a plane (contact_geometry.h)."),
    SURFACE("sphere", sphere_attributes, build_sphere, "A sphere."),
    SURFACE("ellipsoid", ellipsoid_attributes, build_ellipsoid, "An ellipsoid."),
    SURFACE("cylinder", cylinder_attributes, build_cylinder, "A cylinder."),
    SURFACE("brick", brick_attributes, build_brick, "A box."),
    SURFACE("torus", torus_attributes, build_torus, "A torus."),
    {.name = "mesh",
     .doc = "What a closed surface of triangles encloses.",
     .shared = surface_attributes,
     .own = tali_mesh_attributes,
     .children = TALI_GROUP_MESH_PARTS,
     .max_children = 2,
     .check = check_mesh,
     .build = build_mesh},
    {.name = NULL}};
