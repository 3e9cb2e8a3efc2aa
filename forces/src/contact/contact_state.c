// A contact element in a State: what its values may be, reading and setting them, reading contacts.
#include "contact/contact_internal.h"

// --- what is right ---

static bool is_positive(double value)
{
    return value > 0.0 && isfinite(value);
}

const char *tali_contact_wrong_grip(const tal_contact_grip *grip)
{
    if (!is_positive(grip->transition_speed)) return "the transition speed is not positive";
    if (!is_positive(grip->stiffness)) return "the stiffness of the grip is not positive";
    if (!is_positive(grip->damping)) return "the damping of the grip is not positive";
    const bool good = grip->breakaway >= 0.0 && grip->breakaway <= 1.0;
    return good ? NULL : "the breakaway is not between 0 and 1";
}

tal_status tali_contact_check_material(const tal_contact_material *m, const char *name,
                                       tal_error *err)
{
    const double values[] = {m->stiffness,       m->foundation,       m->dissipation,
                             m->static_friction, m->dynamic_friction, m->viscous_friction};
    static const char *const names[] = {"stiffness",       "foundation",       "dissipation",
                                        "static friction", "dynamic friction", "viscous friction"};
    for (int i = 0; i < 6; ++i) {
        const bool may_be_rigid = i < 2;
        if (may_be_rigid && values[i] > 0.0) continue; // infinite: rigid
        if (!may_be_rigid && isfinite(values[i]) && values[i] >= 0.0) continue;
        return TALI_FAIL(err, isfinite(values[i]) ? TAL_ERR_BAD_VALUE : TAL_ERR_NOT_FINITE,
                         "surface '%s': %s is %g: it must be %s", name, names[i], values[i],
                         may_be_rigid ? "positive" : "finite and not negative");
    }
    if (m->static_friction >= m->dynamic_friction) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "surface '%s': static friction %g is less than dynamic friction %g", name,
                     m->static_friction, m->dynamic_friction);
}

tal_status tali_contact_check_rigid(const tali_contact_element *it, int a, int b,
                                    const tal_contact_material *of_a,
                                    const tal_contact_material *of_b, tal_error *err)
{
    const tali_contact_surface *first = &it->surfaces[a], *second = &it->surfaces[b];
    const tal_shape_kind kind[2] = {first->shape.kind, second->shape.kind};
    const bool meet_in_faces = tali_detect_pair_has_faces(kind[0], kind[1]);
    const bool meet_at_points = tali_detect_pair_max_points(kind[0], kind[1]) > 0;
    const bool no_foundation = !isfinite(of_a->foundation) && !isfinite(of_b->foundation);
    const bool no_stiffness = !isfinite(of_a->stiffness) && !isfinite(of_b->stiffness);
    const bool lacks_foundation = meet_in_faces && no_foundation;
    if (!lacks_foundation && !(meet_at_points && no_stiffness)) return TAL_OK;
    return TALI_FAIL(
        err, TAL_ERR_BAD_VALUE,
        "surfaces '%s' and '%s' can meet and are both rigid: give one of them a %s, or "
        "both a clique",
        first->name, second->name, lacks_foundation ? "foundation" : "stiffness");
}

tal_status tali_contact_check_frame(const tal_xform *X_BS, const char *name, tal_error *err)
{
    if (!tal_v3_is_finite(X_BS->p) || !tal_m3_is_finite(X_BS->R)) {
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "surface '%s': X_BS is not finite", name);
    }
    if (tal_rotation_is_valid(&X_BS->R, TALI_ROTATION_TOLERANCE)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "surface '%s': the axes of X_BS are not perpendicular, right-handed and of "
                     "length 1",
                     name);
}

// A sharp corner would not resist at all: its radius is zero, and so is Hertz's force.
tal_status tali_contact_check_shape(const tali_contact_element *it, const tal_shape *shape,
                                    const char *name, tal_error *err)
{
    const tal_status st = tal_shape_check(shape, name, err);
    if (st != TAL_OK) return st;
    const bool has_edge = shape->kind == TAL_SHAPE_BRICK || shape->kind == TAL_SHAPE_CYLINDER;
    if (!has_edge || shape->edge_radius > 0.0 || it->def.law != TAL_CONTACT_HERTZ) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "surface '%s': Hertz's law does not hold for a %s with sharp edges: round "
                     "them, or choose the power law",
                     name, tal_shape_kind_name(shape->kind));
}

// --- asking ---

int tal_contact_num_surfaces(const tal_forces *forces, tal_force_ix contact)
{
    const tali_contact_element *it =
        tali_force_element_of(forces, contact, &tali_contact_kind, __func__);
    return it != NULL ? it->num_surfaces : -1;
}

// The element, if it has this surface; NULL and a breach otherwise.
static const tali_contact_element *element_with(const tal_forces *forces, tal_force_ix contact,
                                                tal_contact_surface_ix surface, const char *where)
{
    const tali_contact_element *it =
        tali_force_element_of(forces, contact, &tali_contact_kind, where);
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
    const tali_contact_element *it =
        tali_force_element_of(forces, contact, &tali_contact_kind, __func__);
    const tal_contact_grip *grip =
        it != NULL ? tali_cache_var_read(forces->system, state, it->grip, __func__) : NULL;
    if (grip != NULL) return *grip;
    return (tal_contact_grip){TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN};
}

tal_status tal_contact_set_grip(const tal_forces *forces, tal_state *state, tal_force_ix contact,
                                const tal_contact_grip *grip)
{
    const tali_contact_element *it =
        tali_force_element_of(forces, contact, &tali_contact_kind, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (grip == NULL) return TALI_BREACH(TAL_ERR_NULL, "the grip is NULL");
    const char *wrong = tali_contact_wrong_grip(grip);
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
        it != NULL ? tali_cache_var_read(forces->system, state, it->materials, __func__) : NULL;
    if (all != NULL) return all[surface.i];
    return (tal_contact_material){TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN};
}

// Names the element in what a check of a surface found wrong.
static tal_status refuse_surface(const tal_forces *forces, tal_state *state, tal_force_ix contact,
                                 const tal_error *why)
{
    return tal_state_refuse(state, why->status, "contact '%s': %s", tal_force_name(forces, contact),
                            why->message);
}

// A rigid surface does not go with others that are rigid in this State.
static tal_status check_others(const tali_contact_element *it, const tal_forces *forces,
                               const tal_state *state, int surface,
                               const tal_contact_material *material, tal_error *err)
{
    if (isfinite(material->stiffness) && isfinite(material->foundation)) return TAL_OK;
    const tal_contact_material *all = tali_cache_var_read(forces->system, state, it->materials,
                                                          "tal_contact_surface_set_material");
    tal_status st = TAL_OK;
    for (int s = 0; all != NULL && s < it->num_surfaces && st == TAL_OK; ++s) {
        if (s == surface || !tali_detect_may_meet(&it->seen[s], &it->seen[surface])) continue;
        st = tali_contact_check_rigid(it, s, surface, &all[s], material, err);
    }
    return st;
}

tal_status tal_contact_surface_set_material(const tal_forces *forces, tal_state *state,
                                            tal_force_ix contact, tal_contact_surface_ix surface,
                                            const tal_contact_material *material)
{
    const tali_contact_element *it = element_with(forces, contact, surface, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (material == NULL) return TALI_BREACH(TAL_ERR_NULL, "the material is NULL");
    tal_error why = {TAL_OK, "", ""};
    tal_status st = tali_contact_check_material(material, it->surfaces[surface.i].name, &why);
    if (st == TAL_OK) st = check_others(it, forces, state, surface.i, material, &why);
    if (st != TAL_OK) return refuse_surface(forces, state, contact, &why);
    tal_contact_material *all =
        tali_cache_var_write(forces->system, state, it->materials, __func__);
    if (all == NULL) return tal_contract_last()->status;
    all[surface.i] = *material;
    return TAL_OK;
}

static const tali_contact_placement *placement_of(const tali_contact_element *it,
                                                  const tal_forces *forces, const tal_state *state,
                                                  tal_contact_surface_ix surface, const char *where)
{
    const tali_contact_placement *all =
        it != NULL ? tali_cache_var_read(forces->system, state, it->shapes, where) : NULL;
    return all != NULL ? &all[surface.i] : NULL;
}

static tal_status set_placement(const tali_contact_element *it, const tal_forces *forces,
                                tal_state *state, tal_contact_surface_ix surface,
                                const tali_contact_placement *wanted, const char *where)
{
    tali_contact_placement *all = tali_cache_var_write(forces->system, state, it->shapes, where);
    if (all == NULL) return tal_contract_last()->status;
    all[surface.i] = *wanted;
    return TAL_OK;
}

tal_shape tal_contact_surface_shape(const tal_forces *forces, const tal_state *state,
                                    tal_force_ix contact, tal_contact_surface_ix surface)
{
    const tali_contact_element *it = element_with(forces, contact, surface, __func__);
    const tali_contact_placement *placement = placement_of(it, forces, state, surface, __func__);
    tal_shape shape = {.size = {TALI_NAN, TALI_NAN, TALI_NAN}, .edge_radius = TALI_NAN};
    if (placement == NULL) return shape;
    shape = it->surfaces[surface.i].shape;
    shape.size = placement->size;
    shape.edge_radius = placement->edge_radius;
    return shape;
}

tal_status tal_contact_surface_set_shape(const tal_forces *forces, tal_state *state,
                                         tal_force_ix contact, tal_contact_surface_ix surface,
                                         const tal_shape *shape)
{
    const tali_contact_element *it = element_with(forces, contact, surface, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (shape == NULL) return TALI_BREACH(TAL_ERR_NULL, "the shape is NULL");
    const tali_contact_placement *placement = placement_of(it, forces, state, surface, __func__);
    if (placement == NULL) return tal_contract_last()->status;
    const tali_contact_surface *was = &it->surfaces[surface.i];
    if (shape->kind != was->shape.kind || shape->mesh != was->shape.mesh) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "contact '%s': surface '%s' is a %s and keeps its kind and mesh",
                                tal_force_name(forces, contact), was->name,
                                tal_shape_kind_name(was->shape.kind));
    }
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = tali_contact_check_shape(it, shape, was->name, &why);
    if (st != TAL_OK) return refuse_surface(forces, state, contact, &why);
    const tali_contact_placement wanted = {shape->size, shape->edge_radius, placement->X_BS};
    return set_placement(it, forces, state, surface, &wanted, __func__);
}

tal_xform tal_contact_surface_X_BS(const tal_forces *forces, const tal_state *state,
                                   tal_force_ix contact, tal_contact_surface_ix surface)
{
    const tali_contact_element *it = element_with(forces, contact, surface, __func__);
    const tali_contact_placement *placement = placement_of(it, forces, state, surface, __func__);
    if (placement != NULL) return placement->X_BS;
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
    const tali_contact_placement *placement = placement_of(it, forces, state, surface, __func__);
    if (placement == NULL) return tal_contract_last()->status;
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = tali_contact_check_frame(X_BS, it->surfaces[surface.i].name, &why);
    if (st != TAL_OK) return refuse_surface(forces, state, contact, &why);
    const tali_contact_placement wanted = {placement->size, placement->edge_radius, *X_BS};
    return set_placement(it, forces, state, surface, &wanted, __func__);
}

// --- contacts in a State ---

// Needs Velocity, or a breach; NULL then and on failure.
static const tali_contact_touches *touches_of(const tal_forces *forces, tal_state *state,
                                              tal_force_ix contact, const char *where)
{
    const tali_contact_element *it =
        tali_force_element_of(forces, contact, &tali_contact_kind, where);
    return it != NULL ? tali_contact_read_touches(it, forces->system, state) : NULL;
}

int tal_contact_num(const tal_forces *forces, tal_state *state, tal_force_ix contact)
{
    const tali_contact_touches *all = touches_of(forces, state, contact, __func__);
    return all != NULL ? all->count : -1;
}

tal_status tal_contact_calc(const tal_forces *forces, tal_state *state, tal_force_ix contact, int i,
                            tal_contact_info *out)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "out is NULL");
    const tali_contact_touches *all = touches_of(forces, state, contact, __func__);
    if (all == NULL) {
        const tal_status st = tal_state_error(state)->status;
        return st != TAL_OK ? st : tal_contract_last()->status;
    }
    if (i < 0 || i >= all->count) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "contact '%s' has no contact %d: it has %d",
                           tal_force_name(forces, contact), i, all->count);
    }
    const tali_contact_element *it = forces->elements[contact.i].self;
    const tali_contact_touch *touch = &all->touch[i];
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
