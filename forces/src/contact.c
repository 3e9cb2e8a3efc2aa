// Contact elements: building them, their surfaces in a State, and what can be read.
#include "contact_internal.h"
#include "finite_internal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

// --- what a contact element declares ---

// Goes through the pairs of surfaces that may meet, in order; begins at {0, 0}.
typedef struct pair_walk {
    int a, b;
} pair_walk;

static bool next_pair(const tali_contact_element *it, pair_walk *at)
{
    while (at->a < it->num_surfaces) {
        if (++at->b >= it->num_surfaces) {
            at->b = ++at->a;
            continue;
        }
        if (tali_may_meet(&it->seen[at->a], &it->seen[at->b])) return true;
    }
    return false;
}

static bool see_surfaces(tali_contact_element *it)
{
    const size_t n = (size_t)it->num_surfaces;
    it->seen = tali_alloc(&it->base.allocator, n * sizeof *it->seen);
    if (it->seen == NULL) return false;
    for (int s = 0; s < it->num_surfaces; ++s) {
        const tali_contact_surface *from = &it->surfaces[s];
        it->seen[s] = (tali_surface){from->name, from->shape, from->body.i, from->cliques};
    }
    return true;
}

// A pair's bristles: one for each of its points, one for a patch.
static int bristles_between(const tali_contact_element *it, int a, int b)
{
    const int n = tali_pair_max_points(it->seen[a].shape.kind, it->seen[b].shape.kind);
    return n > 0 ? n : 1;
}

static bool add_held_pairs(tali_contact_element *it)
{
    for (pair_walk at = {0, 0}; next_pair(it, &at);) {
        if (!tali_grow(&it->base.allocator, (void **)&it->held, it->num_held, &it->held_capacity,
                       sizeof *it->held)) {
            return false;
        }
        const int count = bristles_between(it, at.a, at.b);
        it->held[it->num_held++] = (tali_held_pair){{at.a, at.b}, it->num_bristles, count};
        it->num_bristles += count;
        if (it->num_bristles > it->def.max_bristles) return true; // told by the caller
    }
    return true;
}

// Room for every pair with a half-space, six for each other surface, and every face once: spheres that
// lie in a heap touch twelve others, and share them.
static void choose_limits(tali_contact_element *it)
{
    enum {
        NEIGHBORS = 6
    };

    double pairs = 0.0, points = 0.0, other = 0.0, faces = 0.0;
    for (pair_walk at = {0, 0}; next_pair(it, &at);) {
        const tal_shape_kind a = it->seen[at.a].shape.kind, b = it->seen[at.b].shape.kind;
        const bool flat = a == TAL_SHAPE_HALF_SPACE || b == TAL_SHAPE_HALF_SPACE;
        if (flat) {
            pairs += 1.0;
            points += tali_pair_max_points(a, b);
        } else {
            other += 1.0;
        }
    }
    const double kept = fmin(other, (double)NEIGHBORS * it->num_surfaces);
    for (int s = 0; s < it->num_surfaces; ++s) {
        const tal_shape *shape = &it->seen[s].shape;
        if (shape->kind == TAL_SHAPE_MESH) faces += tal_mesh_num_faces(shape->mesh);
    }
    const tal_contact_def *def = &it->def;
    it->limits.pairs = def->max_pairs > 0 ? def->max_pairs : (int)fmin(pairs + kept, INT_MAX / 2);
    it->limits.points =
        def->max_points > 0 ? def->max_points : (int)fmin(points + kept, INT_MAX / 2);
    it->limits.faces = def->max_faces > 0 ? def->max_faces : (int)fmin(faces, INT_MAX / 2);
    it->max_touches = it->limits.points + it->limits.pairs; // a patch is one, whatever its faces
}

static bool declare_vars(tali_contact_element *it, tal_forces *forces)
{
    const size_t n = (size_t)it->num_surfaces;
    const size_t materials_size = (n + 1) * sizeof(tal_contact_material); // no variable is empty
    const size_t shapes_size = (n + 1) * sizeof(tali_placement);
    tal_contact_material *materials = tali_alloc(&it->base.allocator, materials_size);
    tali_placement *shapes = tali_alloc(&it->base.allocator, shapes_size);
    const bool good = materials != NULL && shapes != NULL;
    for (size_t s = 0; good && s < n; ++s) {
        const tali_contact_surface *from = &it->surfaces[s];
        materials[s] = from->material;
        shapes[s] = (tali_placement){from->shape.size, from->shape.edge_radius, from->X_BS};
    }
    if (good) {
        tal_var_def var = tal_var_def_default();
        var.name = "grip";
        var.size = sizeof it->def.grip;
        var.initial = &it->def.grip;
        var.invalidates = TAL_STAGE_DYNAMICS;
        it->grip = tal_force_add_var(forces, it->base.me, &var);
        var.name = "materials";
        var.size = materials_size;
        var.initial = materials;
        it->materials = tal_force_add_var(forces, it->base.me, &var);
        var.name = "shapes";
        var.size = shapes_size;
        var.initial = shapes;
        var.invalidates = TAL_STAGE_POSITION;
        it->shapes = tal_force_add_var(forces, it->base.me, &var);
    }
    tali_free(&it->base.allocator, materials, materials_size);
    tali_free(&it->base.allocator, shapes, shapes_size);
    return good;
}

static tal_status declare_bristles(tali_contact_element *it, tal_forces *forces)
{
    const char *name = tal_force_name(forces, it->base.me);
    if (!tali_has_memory(&it->def)) return TAL_OK;
    if (!add_held_pairs(it)) {
        return tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "contact '%s': no memory", name);
    }
    if (it->num_bristles > it->def.max_bristles) {
        return tal_system_fail(forces->system, TAL_ERR_CAPACITY,
                               "contact '%s': friction with memory can act in more than %d places: "
                               "raise max_bristles in its tal_contact_def, or put surfaces that "
                               "never meet into a clique",
                               name, it->def.max_bristles);
    }
    if (it->num_bristles == 0) return TAL_OK;
    tal_group_def group = tal_group_def_default();
    group.name = "bristles";
    group.capacity = 3 * it->num_bristles;
    it->bristles = tal_force_add_group(forces, it->base.me, &group);
    return TAL_OK;
}

static tal_status declare(void *self, tal_forces *forces, tal_force_ix me)
{
    tali_contact_element *it = self;
    (void)tali_element_declare(self, forces, me);
    const char *name = tal_force_name(forces, me);
    if (!see_surfaces(it)) {
        return tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "contact '%s': no memory", name);
    }
    tal_error why = {TAL_OK, "", ""};
    tal_status st = tali_contact_check(it->seen, it->num_surfaces, &why);
    if (st != TAL_OK) {
        return tal_system_fail(forces->system, st, "contact '%s': %s", name, why.message);
    }
    choose_limits(it);
    st = declare_bristles(it, forces);
    if (st != TAL_OK) return st;
    if (!declare_vars(it, forces)) {
        return tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "contact '%s': no memory", name);
    }
    tali_contact_declare_found(it, forces);
    tali_contact_declare_touches(it, forces);
    return TAL_OK;
}

static void release(void *self)
{
    tali_contact_element *it = self;
    const tal_allocator *allocator = &it->base.allocator;
    if (it->seen != NULL) {
        tali_free(allocator, it->seen, (size_t)it->num_surfaces * sizeof *it->seen);
    }
    tali_free(allocator, it->held, (size_t)it->held_capacity * sizeof *it->held);
    tali_free(allocator, it->surfaces, (size_t)it->capacity * sizeof *it->surfaces);
}

// --- the kind ---

static const tali_kind contact_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "contact",
            .apply = tali_contact_apply,
            .declare = declare,
            .realize_acceleration = tali_contact_realize_acceleration,
            .calc_potential_energy = tali_contact_calc_energy,
            .calc_dissipated_power = tali_contact_calc_power,
            .destroy = tali_element_destroy},
    .release = release,
};

// --- building ---

tal_contact_def tal_contact_def_default(void)
{
    const tal_contact_def def = {
        .law = TAL_CONTACT_HERTZ,
        .exponent = 1.5,
        .friction = TAL_CONTACT_STRIBECK,
        .grip = {.transition_speed = 0.01, .stiffness = 1e5, .damping = 1e2, .breakaway = 0.7}};
    return def;
}

static bool is_positive(double value)
{
    return value > 0.0 && isfinite(value);
}

static const char *wrong_with_grip(const tal_contact_grip *grip)
{
    if (!is_positive(grip->transition_speed)) return "the transition speed is not positive";
    if (!is_positive(grip->stiffness)) return "the stiffness of the grip is not positive";
    if (!is_positive(grip->damping)) return "the damping of the grip is not positive";
    const bool good = grip->breakaway >= 0.0 && grip->breakaway <= 1.0;
    return good ? NULL : "the breakaway is not between 0 and 1";
}

static const char *wrong_with(const tal_contact_def *def)
{
    if (def->law != TAL_CONTACT_HERTZ && def->law != TAL_CONTACT_POWER) return "no such law";
    if ((int)def->friction < 0 || (int)def->friction > TAL_CONTACT_ELASTOPLASTIC) {
        return "no such friction";
    }
    if (!isfinite(def->exponent) || def->exponent < 1.0) return "the exponent is less than 1";
    if (def->max_pairs < 0 || def->max_points < 0 || def->max_faces < 0 || def->max_bristles < 0) {
        return "a capacity is negative";
    }
    return wrong_with_grip(&def->grip);
}

tal_force_ix tal_forces_add_contact(tal_forces *forces, const char *name,
                                    const tal_contact_def *def)
{
    enum {
        MAX_BRISTLES = 3000
    };

    tali_contact_element like = {.def = def != NULL ? *def : tal_contact_def_default(),
                                 .bristles = {-1}};
    const char *wrong = wrong_with(&like.def);
    if (wrong != NULL && forces != NULL) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE, "contact '%s': %s",
                              name != NULL ? name : "(no name)", wrong);
        return (tal_force_ix){-1};
    }
    if (like.def.max_bristles == 0) like.def.max_bristles = MAX_BRISTLES;
    return tali_element_add(forces, name, &contact_kind, &like, sizeof like, NULL);
}

tal_contact_surface_def tal_contact_surface_def_default(void)
{
    const tal_contact_surface_def def = {.body = TAL_GROUND,
                                         .X_BS = TAL_XFORM_IDENTITY,
                                         .shape = tal_shape_half_space(),
                                         .material = tal_contact_material_default()};
    return def;
}

static tal_status check_material(const tal_contact_material *m, const char *name, tal_error *err)
{
    const double values[] = {m->stiffness,       m->foundation,       m->dissipation,
                             m->static_friction, m->dynamic_friction, m->viscous_friction};
    static const char *const names[] = {"stiffness",       "foundation",       "dissipation",
                                        "static friction", "dynamic friction", "viscous friction"};
    for (int i = 0; i < 6; ++i) {
        if (isfinite(values[i]) && (values[i] > 0.0 || (i >= 2 && values[i] == 0.0))) continue;
        return TALI_FAIL(err, isfinite(values[i]) ? TAL_ERR_BAD_VALUE : TAL_ERR_NOT_FINITE,
                         "surface '%s': %s is %g: it must be finite and %s", name, names[i],
                         values[i], i < 2 ? "positive" : "not negative");
    }
    if (m->static_friction >= m->dynamic_friction) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "surface '%s': static friction %g is less than dynamic friction %g", name,
                     m->static_friction, m->dynamic_friction);
}

static tal_status check_frame(const tal_xform *X_BS, const char *name, tal_error *err)
{
    if (!tal_v3_is_finite(X_BS->p) || !tal_m3_is_finite(X_BS->R)) {
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "surface '%s': X_BS is not finite", name);
    }
    if (tal_rotation_is_valid(&X_BS->R, 1e-9)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "surface '%s': the axes of X_BS are not perpendicular, right-handed and of "
                     "length 1",
                     name);
}

// A sharp corner would not resist at all: its radius is zero, and so is Hertz's force.
static tal_status check_shape(const tali_contact_element *it, const tal_shape *shape,
                              const char *name, tal_error *err)
{
    const tal_status st = tal_shape_check(shape, name, err);
    if (st != TAL_OK) return st;
    const bool has_edge = shape->kind == TAL_SHAPE_BRICK || shape->kind == TAL_SHAPE_CYLINDER;
    if (!has_edge || shape->edge_radius > 0.0 || it->def.law != TAL_CONTACT_HERTZ) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "surface '%s': a %s with sharp edges does not resist by Hertz's law: round "
                     "them, or choose TAL_CONTACT_POWER",
                     name, tal_shape_kind_name(shape->kind));
}

static tal_status take_name(const tali_contact_element *it, tali_contact_surface *surface,
                            const char *name, tal_error *err)
{
    char by_index[TAL_MAX_NAME + 1];
    (void)snprintf(by_index, sizeof by_index, "surface%d", it->num_surfaces);
    const char *chosen = name != NULL ? name : by_index;
    if (chosen[0] == '\0' || strlen(chosen) > TAL_MAX_NAME) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME,
                         "surface %d: a name has 1 to %d characters, this one %zu",
                         it->num_surfaces, TAL_MAX_NAME, strlen(chosen));
    }
    for (int s = 0; s < it->num_surfaces; ++s) {
        if (strcmp(it->surfaces[s].name, chosen) != 0) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_NAME, "there is a surface '%s' already", chosen);
    }
    (void)snprintf(surface->name, sizeof surface->name, "%s", chosen);
    return TAL_OK;
}

static tal_status add_surface(tali_contact_element *it, const tal_matter *matter,
                              const tal_contact_surface_def *def, tal_error *err)
{
    tali_contact_surface surface = {.body = def->body,
                                    .cliques = def->cliques,
                                    .shape = def->shape,
                                    .X_BS = def->X_BS,
                                    .material = def->material};
    tal_status st = take_name(it, &surface, def->name, err);
    if (st != TAL_OK) return st;
    const int num_bodies = tal_matter_num_bodies(matter);
    if (def->body.i < 0 || def->body.i >= num_bodies) {
        return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "surface '%s': there is no body %d: there are %d",
                         surface.name, def->body.i, num_bodies);
    }
    st = check_frame(&def->X_BS, surface.name, err);
    if (st == TAL_OK) st = check_shape(it, &def->shape, surface.name, err);
    if (st == TAL_OK) st = check_material(&def->material, surface.name, err);
    if (st != TAL_OK) return st;
    if (!tali_grow(&it->base.allocator, (void **)&it->surfaces, it->num_surfaces, &it->capacity,
                   sizeof *it->surfaces)) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "surface '%s': no memory", surface.name);
    }
    it->surfaces[it->num_surfaces++] = surface;
    return TAL_OK;
}

tal_contact_surface_ix tal_contact_add_surface(tal_forces *forces, tal_force_ix contact,
                                               const tal_contact_surface_def *def)
{
    const tal_contact_surface_ix none = {-1};
    if (forces != NULL && tal_system_error(forces->system)->status != TAL_OK) return none;
    if (tali_element_of(forces, contact, &contact_kind, __func__) == NULL) return none;
    if (def == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the def is NULL");
        return none;
    }
    if (tal_system_has_topology(forces->system)) {
        (void)TALI_BREACH(TAL_ERR_TOPOLOGY,
                          "System '%s' is realized: surfaces are added before that",
                          tal_system_name(forces->system));
        return none;
    }
    tali_contact_element *it = forces->elements[contact.i].self;
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = add_surface(it, forces->matter, def, &why);
    if (st == TAL_OK) return (tal_contact_surface_ix){it->num_surfaces - 1};
    (void)tal_system_fail(forces->system, st, "contact '%s': %s", tal_force_name(forces, contact),
                          why.message);
    return none;
}

// --- asking ---

int tal_contact_num_surfaces(const tal_forces *forces, tal_force_ix contact)
{
    const tali_contact_element *it = tali_element_of(forces, contact, &contact_kind, __func__);
    return it != NULL ? it->num_surfaces : -1;
}

// The element, if it has this surface; NULL and a breach otherwise.
static const tali_contact_element *element_with(const tal_forces *forces, tal_force_ix contact,
                                                tal_contact_surface_ix surface, const char *where)
{
    const tali_contact_element *it = tali_element_of(forces, contact, &contact_kind, where);
    if (it == NULL || (surface.i >= 0 && surface.i < it->num_surfaces)) return it;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "contact '%s' has no surface %d: it has %d",
                      tal_force_name(forces, contact), surface.i, it->num_surfaces);
    return NULL;
}

const char *tal_contact_surface_name(const tal_forces *forces, tal_force_ix contact,
                                     tal_contact_surface_ix surface)
{
    const tali_contact_element *it = element_with(forces, contact, surface, __func__);
    return it != NULL ? it->surfaces[surface.i].name : "(no surface)";
}

tal_body_ix tal_contact_surface_body(const tal_forces *forces, tal_force_ix contact,
                                     tal_contact_surface_ix surface)
{
    const tali_contact_element *it = element_with(forces, contact, surface, __func__);
    return it != NULL ? it->surfaces[surface.i].body : (tal_body_ix){-1};
}

// --- the element and its surfaces in a State ---

tal_contact_grip tal_contact_grip_of(const tal_forces *forces, const tal_state *state,
                                     tal_force_ix contact)
{
    const tali_contact_element *it = tali_element_of(forces, contact, &contact_kind, __func__);
    const tal_contact_grip *grip =
        it != NULL ? tal_var_value(forces->system, state, it->grip) : NULL;
    if (grip != NULL) return *grip;
    return (tal_contact_grip){TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN};
}

tal_status tal_contact_set_grip(const tal_forces *forces, tal_state *state, tal_force_ix contact,
                                const tal_contact_grip *grip)
{
    const tali_contact_element *it = tali_element_of(forces, contact, &contact_kind, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (grip == NULL) return TALI_BREACH(TAL_ERR_NULL, "the grip is NULL");
    const char *wrong = wrong_with_grip(grip);
    if (wrong == NULL) return tal_var_set(forces->system, state, it->grip, grip);
    return tal_state_refuse(state, TAL_ERR_BAD_VALUE, "contact '%s': %s",
                            tal_force_name(forces, contact), wrong);
}

tal_contact_material tal_contact_surface_material(const tal_forces *forces, const tal_state *state,
                                                  tal_force_ix contact,
                                                  tal_contact_surface_ix surface)
{
    const tali_contact_element *it = element_with(forces, contact, surface, __func__);
    const tal_contact_material *all =
        it != NULL ? tal_var_value(forces->system, state, it->materials) : NULL;
    if (all != NULL) return all[surface.i];
    return (tal_contact_material){TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN};
}

// Names the element in what a check of a surface found wrong.
static tal_status refuse(const tal_forces *forces, tal_state *state, tal_force_ix contact,
                         const tal_error *why)
{
    return tal_state_refuse(state, why->status, "contact '%s': %s", tal_force_name(forces, contact),
                            why->message);
}

tal_status tal_contact_surface_set_material(const tal_forces *forces, tal_state *state,
                                            tal_force_ix contact, tal_contact_surface_ix surface,
                                            const tal_contact_material *material)
{
    const tali_contact_element *it = element_with(forces, contact, surface, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (material == NULL) return TALI_BREACH(TAL_ERR_NULL, "the material is NULL");
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = check_material(material, it->surfaces[surface.i].name, &why);
    if (st != TAL_OK) return refuse(forces, state, contact, &why);
    tal_contact_material *all = tal_var_upd(forces->system, state, it->materials);
    if (all == NULL) return tal_contract_last()->status;
    all[surface.i] = *material;
    return TAL_OK;
}

static const tali_placement *placement_of(const tali_contact_element *it, const tal_forces *forces,
                                          const tal_state *state, tal_contact_surface_ix surface)
{
    const tali_placement *all =
        it != NULL ? tal_var_value(forces->system, state, it->shapes) : NULL;
    return all != NULL ? &all[surface.i] : NULL;
}

static tal_status set_placement(const tali_contact_element *it, const tal_forces *forces,
                                tal_state *state, tal_contact_surface_ix surface,
                                const tali_placement *wanted)
{
    tali_placement *all = tal_var_upd(forces->system, state, it->shapes);
    if (all == NULL) return tal_contract_last()->status;
    all[surface.i] = *wanted;
    return TAL_OK;
}

tal_shape tal_contact_surface_shape(const tal_forces *forces, const tal_state *state,
                                    tal_force_ix contact, tal_contact_surface_ix surface)
{
    const tali_contact_element *it = element_with(forces, contact, surface, __func__);
    const tali_placement *here = placement_of(it, forces, state, surface);
    tal_shape shape = {.size = {TALI_NAN, TALI_NAN, TALI_NAN}, .edge_radius = TALI_NAN};
    if (here == NULL) return shape;
    shape = it->surfaces[surface.i].shape;
    shape.size = here->size;
    shape.edge_radius = here->edge_radius;
    return shape;
}

tal_status tal_contact_surface_set_shape(const tal_forces *forces, tal_state *state,
                                         tal_force_ix contact, tal_contact_surface_ix surface,
                                         const tal_shape *shape)
{
    const tali_contact_element *it = element_with(forces, contact, surface, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (shape == NULL) return TALI_BREACH(TAL_ERR_NULL, "the shape is NULL");
    const tali_placement *here = placement_of(it, forces, state, surface);
    if (here == NULL) return tal_contract_last()->status;
    const tali_contact_surface *was = &it->surfaces[surface.i];
    if (shape->kind != was->shape.kind || shape->mesh != was->shape.mesh) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "contact '%s': surface '%s' is a %s and keeps its kind and mesh",
                                tal_force_name(forces, contact), was->name,
                                tal_shape_kind_name(was->shape.kind));
    }
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = check_shape(it, shape, was->name, &why);
    if (st != TAL_OK) return refuse(forces, state, contact, &why);
    const tali_placement wanted = {shape->size, shape->edge_radius, here->X_BS};
    return set_placement(it, forces, state, surface, &wanted);
}

tal_xform tal_contact_surface_X_BS(const tal_forces *forces, const tal_state *state,
                                   tal_force_ix contact, tal_contact_surface_ix surface)
{
    const tali_contact_element *it = element_with(forces, contact, surface, __func__);
    const tali_placement *here = placement_of(it, forces, state, surface);
    if (here != NULL) return here->X_BS;
    const tal_vec3 nan = tal_v3(TALI_NAN, TALI_NAN, TALI_NAN);
    return (tal_xform){tal_m3(nan, nan, nan), nan};
}

tal_status tal_contact_surface_set_X_BS(const tal_forces *forces, tal_state *state,
                                        tal_force_ix contact, tal_contact_surface_ix surface,
                                        const tal_xform *X_BS)
{
    const tali_contact_element *it = element_with(forces, contact, surface, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (X_BS == NULL) return TALI_BREACH(TAL_ERR_NULL, "X_BS is NULL");
    const tali_placement *here = placement_of(it, forces, state, surface);
    if (here == NULL) return tal_contract_last()->status;
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = check_frame(X_BS, it->surfaces[surface.i].name, &why);
    if (st != TAL_OK) return refuse(forces, state, contact, &why);
    const tali_placement wanted = {here->size, here->edge_radius, *X_BS};
    return set_placement(it, forces, state, surface, &wanted);
}

// --- contacts in a State ---

// Needs Velocity, or a breach; NULL then and on failure.
static const tali_touches *touches_of(const tal_forces *forces, tal_state *state,
                                      tal_force_ix contact, const char *where)
{
    const tali_contact_element *it = tali_element_of(forces, contact, &contact_kind, where);
    return it != NULL ? tali_contact_touches(it, forces->system, state) : NULL;
}

int tal_contact_num(const tal_forces *forces, tal_state *state, tal_force_ix contact)
{
    const tali_touches *all = touches_of(forces, state, contact, __func__);
    return all != NULL ? all->count : -1;
}

tal_status tal_contact_calc(const tal_forces *forces, tal_state *state, tal_force_ix contact, int i,
                            tal_contact_info *out)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "out is NULL");
    const tali_touches *all = touches_of(forces, state, contact, __func__);
    if (all == NULL) {
        const tal_status st = tal_state_error(state)->status;
        return st != TAL_OK ? st : tal_contract_last()->status;
    }
    if (i < 0 || i >= all->count) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "contact '%s' has no contact %d: it has %d",
                           tal_force_name(forces, contact), i, all->count);
    }
    const tali_contact_element *it = forces->elements[contact.i].self;
    const tali_touch *touch = &all->touch[i];
    *out = (tal_contact_info){
        .feature = touch->feature,
        .p_G = touch->p_G,
        .n_G = touch->n_G,
        .depth = touch->depth,
        .depth_rate = touch->depth_rate,
        .slip_G = touch->slip_G,
        .semi_axis = {touch->semi_axis[0], touch->semi_axis[1]},
        .num_faces = touch->num_faces,
        .normal_force = touch->normal_force,
        .f_G = touch->f_G,
        .m_G = touch->m_G,
        .potential_energy = touch->energy,
        .dissipated_power = touch->power,
    };
    for (int k = 0; k < 2; ++k) {
        const tali_contact_surface *surface = &it->surfaces[touch->surface[k]];
        out->surface[k].i = touch->surface[k];
        out->surface_name[k] = surface->name;
        out->body[k] = surface->body;
        out->body_name[k] = tal_body_name(forces->matter, surface->body);
    }
    return TAL_OK;
}
