// Uniform gravity: m g at every body's center of mass.
#include "weight_internal.h"

#include "core/forces_internal.h"

#include <talus/forces/gravity.h>

#include <math.h>

// What may be changed at Dynamics.
typedef struct field {
    tal_vec3 g;
    double zero_height;
} field;

typedef struct gravity {
    tal_allocator allocator;
    field initial;
    int num_bodies;
    tal_var_ix field;     // struct field
    tal_var_ix excluded;  // uint8_t per body
    tal_cache_ix weights; // tali_weight per body, zero for those excluded
} gravity;

// Field and excluded bodies are variables of the State; weights depend on Instance alone.
static tal_status declare_gravity(void *self, tal_forces *forces, tal_force_ix me)
{
    gravity *it = self;
    it->num_bodies = tal_matter_num_bodies(tal_forces_matter(forces));
    tal_var_def var = tal_var_def_default();
    var.name = "field";
    var.size = sizeof it->initial;
    var.initial = &it->initial;
    var.invalidates = TAL_STAGE_DYNAMICS;
    it->field = tal_force_add_var(forces, me, &var);

    var = tal_var_def_default();
    var.name = "excluded";
    var.size = (size_t)it->num_bodies;
    it->excluded = tal_force_add_var(forces, me, &var);

    tal_cache_def cache = tal_cache_def_default();
    cache.name = "weights";
    cache.size = (size_t)it->num_bodies * sizeof(tali_weight);
    cache.computed_by = TAL_STAGE_INSTANCE;
    it->weights = tal_force_add_cache(forces, me, &cache);
    return TAL_OK;
}

static tal_status realize_instance(const void *self, const tal_force_context *context)
{
    const gravity *it = self;
    const uint8_t *excluded = tal_var_value(context->system, context->state, it->excluded);
    tali_weight *weights = tal_cache_upd(context->system, context->state, it->weights);
    weights[0] = (tali_weight){TAL_VEC3_ZERO, 0.0};
    for (int b = 1; b < it->num_bodies; ++b) {
        tal_vec3 com_M;
        const double mass =
            tal_body_mass(context->matter, context->state, (tal_body_ix){b}, &com_M);
        weights[b] = excluded[b] ? weights[0] : (tali_weight){tal_v3_scale(mass, com_M), mass};
    }
    return tal_cache_mark_valid(context->system, context->state, it->weights);
}

// F = (R_GM mc_M x g, m g): weight, and its moment about Mo.
static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)f;
    const gravity *it = self;
    const field *now = tal_var_value(context->system, context->state, it->field);
    const tali_weight *weights = tal_cache_value(context->system, context->state, it->weights);
    tali_weight_add(context->matter, &context->poses, weights, now->g, F);
    return TAL_OK;
}

// The moment arm turns with the body: d(R mc) = turn x R mc.
static tal_status apply_change(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)df;
    const gravity *it = self;
    const field *now = tal_var_value(context->system, context->state, it->field);
    const tali_weight *weights = tal_cache_value(context->system, context->state, it->weights);
    for (int b = 1; b < it->num_bodies; ++b) {
        const tal_vec3 mc_G = tal_m3_mul_v3(tal_view_X_GM(&context->poses, b)->R, weights[b].mc_M);
        const tal_vec3 dmc_G = tal_v3_cross(change->dX[b].w, mc_G);
        dF[b].w = tal_v3_add(dF[b].w, tal_v3_cross(dmc_G, now->g));
    }
    return TAL_OK;
}

// A weight is the same wherever it is; its arm turns with the body, which slopes leave out.
static tal_status add_no_slopes(const void *self, const tal_force_context *context,
                                tal_force_slopes *sum)
{
    (void)self, (void)context, (void)sum;
    return TAL_OK;
}

// -sum m (g . p_GC + |g| h0), with m p_GC = m p_GM + R_GM mc_M.
static tal_status calc_potential_energy(const void *self, const tal_force_context *context,
                                        double *energy)
{
    const gravity *it = self;
    const field *now = tal_var_value(context->system, context->state, it->field);
    const tali_weight *weights = tal_cache_value(context->system, context->state, it->weights);
    tal_vec3 mp = TAL_VEC3_ZERO;
    double mass = 0.0;
    for (int b = 1; b < it->num_bodies; ++b) {
        const tal_xform *X_GM = tal_view_X_GM(&context->poses, b);
        mp = tal_v3_add(mp, tal_m3_mul_v3(X_GM->R, weights[b].mc_M));
        mp = tal_v3_axpy(weights[b].mass, X_GM->p, mp);
        mass += weights[b].mass;
    }
    *energy = -tal_v3_dot(now->g, mp) - mass * tal_v3_norm(now->g) * now->zero_height;
    return TAL_OK;
}

static void destroy(void *self)
{
    gravity *it = self;
    const tal_allocator allocator = it->allocator;
    tali_free(&allocator, it, sizeof *it);
}

static const tal_force_ops gravity_ops = {
    .size = sizeof gravity_ops,
    .name = "gravity",
    .needs = TAL_FORCE_NEEDS_Q,
    .is_concurrent = true,
    .apply = apply,
    .declare = declare_gravity,
    .realize_instance = realize_instance,
    .calc_potential_energy = calc_potential_energy,
    .destroy = destroy,
    .apply_change = apply_change,
    .add_slopes = add_no_slopes,
};

tal_gravity_def tal_gravity_def_default(void)
{
    return (tal_gravity_def){.g = TAL_VEC3_ZERO};
}

// Check the definition and add the element.
static tal_force_ix add_gravity(tal_forces *forces, const tal_gravity_def *def)
{
    const tal_force_ix none = {-1};
    const tal_vec3 g = def->g;
    if (!tal_v3_is_finite(g)) {
        (void)tal_system_fail(forces->system, TAL_ERR_NOT_FINITE,
                              "gravity is (%g, %g, %g): it must be finite", g.x, g.y, g.z);
        return none;
    }
    if (!isfinite(def->zero_height)) {
        (void)tal_system_fail(forces->system, TAL_ERR_NOT_FINITE,
                              "gravity: the zero height is %g: it must be finite",
                              def->zero_height);
        return none;
    }
    gravity *it = tali_alloc(&forces->allocator, sizeof *it);
    if (it == NULL) {
        (void)tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "no memory for gravity");
        return none;
    }
    it->allocator = forces->allocator;
    it->initial = (field){g, def->zero_height};
    return tal_forces_add(forces, def->name != NULL ? def->name : "gravity", &gravity_ops, it);
}

tal_force_ix tal_forces_add_gravity_def(tal_forces *forces, const tal_gravity_def *def)
{
    if (forces != NULL && def != NULL) return add_gravity(forces, def);
    (void)TALI_BREACH(TAL_ERR_NULL, "%s is NULL", forces == NULL ? "forces" : "def");
    return (tal_force_ix){-1};
}

tal_force_ix tal_forces_add_gravity(tal_forces *forces, tal_vec3 g)
{
    tal_gravity_def def = tal_gravity_def_default();
    def.g = g;
    if (forces != NULL) return add_gravity(forces, &def);
    (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
    return (tal_force_ix){-1};
}

// --- for lanes ---

bool tali_force_is_gravity(const tali_force *element)
{
    return element->ops.apply == apply;
}

const tali_weight *tali_force_weights_of(const tali_force *element, const tal_system *system,
                                         const tal_state *state, tal_vec3 *g)
{
    const gravity *it = element->self;
    *g = ((const field *)tal_var_value(system, state, it->field))->g;
    return tal_cache_value(system, state, it->weights);
}

// --- in a State ---

// The element, if it is gravity; NULL and a breach otherwise.
static const gravity *gravity_at(const tal_forces *forces, tal_force_ix force, const char *where)
{
    const tali_force *element = tali_force_at(forces, force, where);
    if (element == NULL) return NULL;
    if (element->ops.apply == apply) return element->self;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "force '%s' is of kind '%s', not gravity",
                      element->name, element->ops.name);
    return NULL;
}

static const field *field_of(const tal_forces *forces, const tal_state *state, tal_force_ix force,
                             const char *where)
{
    const gravity *it = gravity_at(forces, force, where);
    return it != NULL ? tali_cache_var_read(forces->system, state, it->field, where) : NULL;
}

tal_vec3 tal_gravity_g(const tal_forces *forces, const tal_state *state, tal_force_ix force)
{
    const field *now = field_of(forces, state, force, __func__);
    return now != NULL ? now->g : tal_v3(TALI_NAN, TALI_NAN, TALI_NAN);
}

double tal_gravity_zero_height(const tal_forces *forces, const tal_state *state, tal_force_ix force)
{
    const field *now = field_of(forces, state, force, __func__);
    return now != NULL ? now->zero_height : TALI_NAN;
}

// Writes the field and keeps what the caller did not ask to change.
static tal_status set_field(const tal_forces *forces, tal_state *state, tal_force_ix force,
                            const field *wanted)
{
    const gravity *it = forces->elements[force.i].self;
    if (tal_v3_is_finite(wanted->g) && isfinite(wanted->zero_height)) {
        return tal_var_set(forces->system, state, it->field, wanted);
    }
    return tal_state_refuse(state, TAL_ERR_NOT_FINITE,
                            "gravity (%g, %g, %g) with zero height %g: all must be finite",
                            wanted->g.x, wanted->g.y, wanted->g.z, wanted->zero_height);
}

tal_status tal_gravity_set_g(const tal_forces *forces, tal_state *state, tal_force_ix force,
                             tal_vec3 g)
{
    const field *now = field_of(forces, state, force, __func__);
    if (now == NULL) return tal_contract_last()->status;
    const field wanted = {g, now->zero_height};
    return set_field(forces, state, force, &wanted);
}

tal_status tal_gravity_set_zero_height(const tal_forces *forces, tal_state *state,
                                       tal_force_ix force, double height)
{
    const field *now = field_of(forces, state, force, __func__);
    if (now == NULL) return tal_contract_last()->status;
    const field wanted = {now->g, height};
    return set_field(forces, state, force, &wanted);
}

// A body that can be excluded, or a breach.
static bool has_body(const gravity *it, tal_body_ix body, const char *where)
{
    if (body.i >= 0 && body.i < it->num_bodies) return true;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no body %d: there are %d", body.i,
                      it->num_bodies);
    return false;
}

bool tal_gravity_is_excluded(const tal_forces *forces, const tal_state *state, tal_force_ix force,
                             tal_body_ix body)
{
    const gravity *it = gravity_at(forces, force, __func__);
    if (it == NULL || !has_body(it, body, __func__)) return false;
    const uint8_t *excluded = tali_cache_var_read(forces->system, state, it->excluded, __func__);
    return excluded != NULL && excluded[body.i] != 0;
}

tal_status tal_gravity_set_excluded(const tal_forces *forces, tal_state *state, tal_force_ix force,
                                    tal_body_ix body, bool excluded)
{
    const gravity *it = gravity_at(forces, force, __func__);
    if (it == NULL || !has_body(it, body, __func__)) return tal_contract_last()->status;
    uint8_t *all = tali_cache_var_write(forces->system, state, it->excluded, __func__);
    if (all == NULL) return tal_contract_last()->status;
    all[body.i] = excluded;
    return TAL_OK;
}
