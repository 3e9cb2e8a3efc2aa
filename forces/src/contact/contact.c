// Contact elements: building them, and what they declare.
#include "names_internal.h"

#include "contact/contact_internal.h"

#include <limits.h>
#include <math.h>
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
        if (tali_detect_may_meet(&it->seen[at->a], &it->seen[at->b])) return true;
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
        it->seen[s] = (tali_detect_surface){from->name, from->shape, from->body.i, from->cliques};
    }
    return true;
}

// A pair's bristles: one for each of its points, one for a patch.
static int bristles_between(const tali_contact_element *it, int a, int b)
{
    const int n = tali_detect_pair_max_points(it->seen[a].shape.kind, it->seen[b].shape.kind);
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
        it->held[it->num_held++] = (tali_contact_held_pair){{at.a, at.b}, it->num_bristles, count};
        it->num_bristles += count;
        if (it->num_bristles > it->def.max_bristles) return true; // the caller reports it
    }
    return true;
}

// Whether a surface may meet another one in faces.
static bool has_faces(const tali_contact_element *it, int s)
{
    for (int k = 0; k < it->num_surfaces; ++k) {
        if (tali_detect_may_meet(&it->seen[s], &it->seen[k]) &&
            tali_detect_pair_has_faces(it->seen[s].shape.kind, it->seen[k].shape.kind)) {
            return true;
        }
    }
    return false;
}

// Room for every pair with a half-space, six for each other surface, and every face once: spheres
// that lie in a heap touch twelve others, and share them.
static void choose_limits(tali_contact_element *it)
{
    enum {
        NEIGHBORS = 6
    };

    double pairs = 0.0, points = 0.0, other = 0.0, faces = 0.0;
    int most = 1; // points of a pair
    for (pair_walk at = {0, 0}; next_pair(it, &at);) {
        const tal_shape_kind a = it->seen[at.a].shape.kind, b = it->seen[at.b].shape.kind;
        const bool flat = a == TAL_SHAPE_HALF_SPACE || b == TAL_SHAPE_HALF_SPACE;
        const int num_points = tali_detect_pair_max_points(a, b);
        if (flat) {
            pairs += 1.0;
            points += num_points;
        } else {
            other += 1.0;
            most = num_points > most ? num_points : most;
        }
    }
    const double kept = fmin(other, (double)NEIGHBORS * it->num_surfaces);
    points += (most - 1) * kept;
    for (int s = 0; s < it->num_surfaces; ++s) {
        if (has_faces(it, s)) faces += tali_detect_num_faces(&it->seen[s].shape);
    }
    const tal_contact_def *def = &it->def;
    it->limits.pairs = def->max_pairs > 0 ? def->max_pairs : (int)fmin(pairs + kept, INT_MAX / 2);
    it->limits.points =
        def->max_points > 0 ? def->max_points : (int)fmin(points + kept, INT_MAX / 2);
    it->limits.faces = def->max_faces > 0 ? def->max_faces : (int)fmin(faces, INT_MAX / 2);
    it->max_touches = it->limits.points + it->limits.pairs; // a patch is one, whatever its faces
}

// Materials, shapes and grip as variables of the State.
static bool declare_vars(tali_contact_element *it, tal_forces *forces)
{
    const size_t n = (size_t)it->num_surfaces;
    const size_t materials_size = (n + 1) * sizeof(tal_contact_material); // no variable is empty
    const size_t shapes_size = (n + 1) * sizeof(tali_contact_placement);
    tal_contact_material *materials = tali_alloc(&it->base.allocator, materials_size);
    tali_contact_placement *shapes = tali_alloc(&it->base.allocator, shapes_size);
    const bool good = materials != NULL && shapes != NULL;
    for (size_t s = 0; good && s < n; ++s) {
        const tali_contact_surface *from = &it->surfaces[s];
        materials[s] = from->material;
        shapes[s] = (tali_contact_placement){from->shape.size, from->shape.edge_radius, from->X_BS};
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

// Friction with memory: three z for each place where two surfaces can touch; surfaces that relax:
// one.
static tal_status declare_bristles(tali_contact_element *it, tal_forces *forces)
{
    const char *name = tal_force_name(forces, it->base.me);
    const bool has_bristles = tali_contact_has_memory(&it->def);
    if (!has_bristles && !tali_contact_relaxes(&it->def)) return TAL_OK;
    if (!add_held_pairs(it)) {
        return tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "contact '%s': no memory", name);
    }
    if (it->num_bristles > it->def.max_bristles) {
        return tal_system_fail(forces->system, TAL_ERR_CAPACITY,
                               "contact '%s': there can be memory in more than %d places: "
                               "raise its max_bristles, or put surfaces that "
                               "never meet into a clique",
                               name, it->def.max_bristles);
    }
    if (it->num_bristles == 0) return TAL_OK;
    // speeds that are off by v for as long as a bristle remembers, D/K, leave it off by v D/K; a
    // weight of one would let it be off by far more than the deflection at which it slides
    tal_group_def group = tal_group_def_default();
    if (has_bristles) {
        group.name = "bristles";
        group.capacity = 3 * it->num_bristles;
        group.weight = fmax(1.0, it->def.grip.stiffness / it->def.grip.damping);
        it->bristles = tal_force_add_group(forces, it->base.me, &group);
    }
    if (tali_contact_relaxes(&it->def)) {
        group.name = "layers";
        group.capacity = it->num_bristles;
        group.weight = fmax(1.0, 1.0 / it->def.relaxation_time);
        it->layers = tal_force_add_group(forces, it->base.me, &group);
    }
    return TAL_OK;
}

// Of two surfaces that may meet, one at most is rigid.
static tal_status check_pairs(const tali_contact_element *it, tal_error *err)
{
    tal_status st = tali_detect_check(it->seen, it->num_surfaces, err);
    for (pair_walk at = {0, 0}; st == TAL_OK && next_pair(it, &at);) {
        st = tali_contact_check_rigid(it, at.a, at.b, &it->surfaces[at.a].material,
                                      &it->surfaces[at.b].material, err);
    }
    return st;
}

// What the element needs in a State, once all its surfaces are known and can touch.
static tal_status declare_contact(void *self, tal_forces *forces, tal_force_ix me)
{
    tali_contact_element *it = self;
    (void)tali_force_element_declare(self, forces, me);
    const char *name = tal_force_name(forces, me);
    if (!see_surfaces(it)) {
        return tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "contact '%s': no memory", name);
    }
    tal_error why = {TAL_OK, "", ""};
    tal_status st = check_pairs(it, &why);
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

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const tali_contact_element *it = self;
    facts->contact = &it->def;
}

const tali_force_kind tali_contact_kind = {
    .ops = {.size = sizeof(tal_force_ops),
            .name = "contact",
            .apply = tali_contact_apply,
            .declare = declare_contact,
            .realize_acceleration = tali_contact_realize_acceleration,
            .calc_potential_energy = tali_contact_calc_energy,
            .calc_dissipated_power = tali_contact_calc_power,
            .destroy = tali_force_element_destroy},
    .release = release,
    .fill_facts = fill_facts,
};

// --- building ---

tal_contact_def tal_contact_def_default(void)
{
    const tal_contact_def def = {
        .law = TAL_CONTACT_HERTZ,
        .exponent = 1.5,
        .relaxation_time = 1e-3,
        .friction = TAL_CONTACT_STRIBECK,
        .grip = {.transition_speed = 0.01, .stiffness = 1e5, .damping = 1e2, .breakaway = 0.7}};
    return def;
}

static const char *wrong_with(const tal_contact_def *def)
{
    if ((int)def->law < 0 || (int)def->law > TAL_CONTACT_RELAXING) return "there is no such law";
    if (tali_contact_relaxes(def) &&
        !(def->relaxation_time > 0.0 && isfinite(def->relaxation_time))) {
        return "the relaxation time is not positive and finite";
    }
    if ((int)def->friction < 0 || (int)def->friction > TAL_CONTACT_ELASTOPLASTIC) {
        return "there is no such friction";
    }
    if (!isfinite(def->exponent) || def->exponent < 1.0) return "the exponent is less than 1";
    if (def->max_pairs < 0 || def->max_points < 0 || def->max_faces < 0 || def->max_bristles < 0) {
        return "a capacity is negative";
    }
    return tali_contact_wrong_grip(&def->grip);
}

tal_force_ix tal_forces_add_contact(tal_forces *forces, const char *name,
                                    const tal_contact_def *def)
{
    enum {
        MAX_BRISTLES = 3000
    };

    tali_contact_element like = {
        .def = def != NULL ? *def : tal_contact_def_default(), .bristles = {-1}, .layers = {-1}};
    const char *wrong = wrong_with(&like.def);
    if (wrong != NULL && forces != NULL) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE, "contact '%s': %s",
                              name != NULL ? name : "(no name)", wrong);
        return (tal_force_ix){-1};
    }
    if (like.def.max_bristles == 0) like.def.max_bristles = MAX_BRISTLES;
    return tali_force_element_add(forces, name, &tali_contact_kind, &like, sizeof like, NULL);
}

tal_contact_surface_def tal_contact_surface_def_default(void)
{
    const tal_contact_surface_def def = {.body = TAL_GROUND,
                                         .X_BS = TAL_XFORM_IDENTITY,
                                         .shape = tal_shape_half_space(),
                                         .material = tal_contact_material_default()};
    return def;
}

static tal_status take_name(const tali_contact_element *it, tali_contact_surface *surface,
                            const char *name, tal_error *err)
{
    char by_index[TAL_MAX_NAME + 1];
    (void)snprintf(by_index, sizeof by_index, "surface%d", it->num_surfaces);
    const char *chosen = name != NULL ? name : by_index;
    if (chosen[0] == '\0' || strlen(chosen) > TAL_MAX_NAME) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME,
                         "surface %d: a name has 1 to %d characters, this one has %zu",
                         it->num_surfaces, TAL_MAX_NAME, strlen(chosen));
    }
    const char *flaw = tali_names_flaw(chosen);
    if (flaw != NULL) return TALI_FAIL(err, TAL_ERR_BAD_NAME, "surface '%s': %s", chosen, flaw);
    for (int s = 0; s < it->num_surfaces; ++s) {
        if (strcmp(it->surfaces[s].name, chosen) != 0) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_NAME, "there is a surface '%s' already", chosen);
    }
    (void)snprintf(surface->name, sizeof surface->name, "%s", chosen);
    return TAL_OK;
}

// Check a surface and append it to the list of the element.
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
    st = tali_contact_check_frame(&def->X_BS, surface.name, err);
    if (st == TAL_OK) st = tali_contact_check_shape(it, &def->shape, surface.name, err);
    if (st == TAL_OK) st = tali_contact_check_material(&def->material, surface.name, err);
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
    if (tali_force_element_of(forces, contact, &tali_contact_kind, __func__) == NULL) {
        if (forces != NULL) tali_system_keep_breach(forces->system);
        return none;
    }
    if (!tali_force_element_given(forces, tal_force_name(forces, contact), &tali_contact_kind, def,
                                  "def of a surface")) {
        return none;
    }
    if (tal_system_has_topology(forces->system)) {
        (void)TALI_BREACH(TAL_ERR_TOPOLOGY, "System '%s' is realized: add surfaces before that",
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

uint64_t tali_contact_cliques(const tal_forces *forces, tal_force_ix contact,
                              tal_contact_surface_ix surface)
{
    const tali_contact_element *it = forces->elements[contact.i].self;
    return it->surfaces[surface.i].cliques;
}
