// The matter subsystem as it is built: bodies, their mobilizers, names.
#include "mass_internal.h"
#include "names_internal.h"

#include "tree/matter_internal.h"

#include <stddef.h>
#include <stdio.h>

// Inertia of a line about itself: at most this part of the whole.
static const double LINE_INERTIA = 1e-12;

tal_mobod_def tal_mobod_def_default(void)
{
    return (tal_mobod_def){.structure = TAL_BODY_RIGID,
                           .mass = TAL_MASSLESS,
                           .X_PF = TAL_XFORM_IDENTITY,
                           .X_BM = TAL_XFORM_IDENTITY,
                           .direction = TAL_FORWARD};
}

static void name_body(tali_tree_body *body, const char *name)
{
    (void)snprintf(body->name, sizeof body->name, "%s", name);
}

// A body at the end of the list, under its name. False, and nothing changed, when memory runs out.
static bool append(tal_matter *matter, const tali_tree_body *body)
{
    if (!tali_names_reserve(&matter->body_names, &matter->allocator) ||
        !tali_grow(&matter->allocator, (void **)&matter->bodies, matter->num_bodies,
                   &matter->capacity, sizeof *matter->bodies)) {
        return false;
    }
    tali_names_add(&matter->body_names, tali_names_hash(body->name), matter->num_bodies);
    matter->bodies[matter->num_bodies++] = *body;
    return true;
}

// --- creation ---

static bool add_ground(tal_matter *matter)
{
    tali_tree_body ground = {.parent = -1,
                             .X_PF = TAL_XFORM_IDENTITY,
                             .X_BM = TAL_XFORM_IDENTITY,
                             .ops.name = "ground",
                             .coordinate = -1,
                             .initial_q = -1,
                             .initial_u = -1};
    name_body(&ground, "ground");
    return append(matter, &ground);
}

tal_matter *tal_matter_create(tal_system *system)
{
    if (system == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the System is NULL");
        return NULL;
    }
    if (tal_system_matter(system) != NULL) {
        (void)tal_system_fail(system, TAL_ERR_BAD_NAME,
                              "System '%s' has matter already, and can have only one",
                              tal_system_name(system));
        return NULL;
    }
    const tal_allocator allocator = tal_system_allocator(system);
    tal_matter *matter = tali_alloc(&allocator, sizeof *matter);
    if (matter == NULL) {
        (void)tal_system_fail(system, TAL_ERR_NO_MEMORY, "no memory for matter");
        return NULL;
    }
    matter->system = system;
    matter->allocator = allocator;
    matter->way = TAL_SOLVE_MULTIPLIERS;
    if (!add_ground(matter)) {
        (void)tal_system_fail(system, TAL_ERR_NO_MEMORY, "no memory for Ground");
    }
    // the call destroys a subsystem that it refuses
    const tal_subsystem_ix me = tal_system_add_subsystem(system, NULL, &tali_matter_ops, matter);
    if (me.i < 0) return NULL;
    matter->me = me;
    return matter;
}

const tal_matter *tal_system_matter(const tal_system *system)
{
    for (int i = 0; system != NULL && i < tal_system_num_subsystems(system); ++i) {
        const tal_subsystem_ix ix = {i};
        const tal_matter *matter = tal_subsystem_self_as(system, ix, &tali_matter_ops);
        if (matter != NULL) return matter;
    }
    return NULL;
}

const tal_system *tal_matter_system(const tal_matter *matter)
{
    return matter != NULL ? matter->system : NULL;
}

tal_subsystem_ix tal_matter_subsystem(const tal_matter *matter)
{
    return matter != NULL ? matter->me : (tal_subsystem_ix){-1};
}

// --- adding a body ---

bool tali_tree_is_frame(const tal_xform *X)
{
    return tal_xf_is_finite(*X) && tal_rotation_is_valid(&X->R, TALI_ROTATION_TOLERANCE);
}

// Does the mass of a body fit its structure: a particle without inertia, and so on?
static bool fits_structure(const tali_tree_body *body)
{
    const tal_mass_props *m = &body->mass;
    const tal_sym3 I = m->inertia;
    const bool no_com = m->com.x == 0.0 && m->com.y == 0.0 && m->com.z == 0.0;
    const bool no_inertia =
        I.xx == 0.0 && I.yy == 0.0 && I.zz == 0.0 && I.xy == 0.0 && I.xz == 0.0 && I.yz == 0.0;
    switch (body->structure) {
    case TAL_BODY_RIGID:
        return true;
    case TAL_BODY_PARTICLE:
        return no_com && no_inertia;
    case TAL_BODY_MASSLESS:
        return m->mass == 0.0 && no_com && no_inertia;
    case TAL_BODY_LINE: { // nothing about Mz through Mo
        const tal_xform X_MB = tal_xf_inverse(body->X_BM);
        const tal_mass_props in_M = tal_mass_props_transform(&X_MB, m);
        const double size = tal_s3_trace(in_M.inertia);
        return fabs(in_M.inertia.zz) <= LINE_INERTIA * size;
    }
    }
    return false;
}

// What the mass properties of a structure must be like, for messages.
static const char *structure_rule(tal_body_structure structure)
{
    switch (structure) {
    case TAL_BODY_PARTICLE:
        return "a particle: its com and inertia must be zero";
    case TAL_BODY_LINE:
        return "a line: it can have no inertia about Mz";
    case TAL_BODY_MASSLESS:
        return "massless: its mass, com and inertia must be zero";
    case TAL_BODY_RIGID:
        break;
    }
    return "of an unknown structure";
}

// Is this body's mass physical, and of its structure? The sentence goes to `err`.
static tal_status check_mass(const tali_tree_body *body, tal_error *err)
{
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = tali_mass_props_check(&body->mass, body->any_inertia, &why);
    if (st != TAL_OK) return TALI_FAIL(err, st, "body '%s': %s", body->name, why.message);
    if (fits_structure(body)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "body '%s' is %s", body->name,
                     structure_rule(body->structure));
}

tal_status tali_tree_body_check(const tali_tree_body *body, tal_error *err)
{
    if (!tali_tree_is_frame(&body->X_PF) || !tali_tree_is_frame(&body->X_BM)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "body '%s': %s is not a rotation and a finite position", body->name,
                         tali_tree_is_frame(&body->X_PF) ? "X_BM" : "X_PF");
    }
    return check_mass(body, err);
}

// Copies the caller's table, which may be older and shorter than ours.
static tal_status copy_table(tali_tree_body *body, const tal_mobilizer_ops *ops, tal_error *err)
{
    if (ops == NULL || ops->size > sizeof *ops ||
        ops->size < offsetof(tal_mobilizer_ops, calc_X_FM)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "body '%s': a mobilizer needs a table with its size", body->name);
    }
    memcpy(&body->ops, ops, ops->size);
    body->ops.size = sizeof body->ops;
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = tali_mobilizer_check(&body->ops, &why);
    if (st != TAL_OK) return TALI_FAIL(err, st, "body '%s': %s", body->name, why.message);
    return TAL_OK;
}

static tal_status take_name(const tal_matter *matter, tali_tree_body *body, const char *name,
                            tal_error *err)
{
    char by_index[TAL_MAX_NAME + 1];
    (void)snprintf(by_index, sizeof by_index, "body%d", matter->num_bodies);
    const char *chosen = name != NULL ? name : by_index;
    if (chosen[0] == '\0' || strlen(chosen) > TAL_MAX_NAME) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME,
                         "body %d: a name has 1 to %d characters, this one has %zu",
                         matter->num_bodies, TAL_MAX_NAME, strlen(chosen));
    }
    const char *flaw = tali_names_flaw(chosen);
    if (flaw != NULL) return TALI_FAIL(err, TAL_ERR_BAD_NAME, "body '%s': %s", chosen, flaw);
    if (tal_matter_find_body(matter, chosen).i >= 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME, "there is a body '%s' already", chosen);
    }
    name_body(body, chosen);
    return TAL_OK;
}

static tal_status add_params(tal_matter *matter, tali_tree_body *body, const double params[],
                             tal_error *err)
{
    const int n = body->ops.num_params;
    body->param0 = matter->num_params;
    for (int i = 0; i < n; ++i) {
        if (!tali_grow(&matter->allocator, (void **)&matter->params, matter->num_params,
                       &matter->params_capacity, sizeof *matter->params)) {
            return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "body '%s': no memory", body->name);
        }
        matter->params[matter->num_params++] = params != NULL ? params[i] : 0.0;
    }
    if (n == 0) return TAL_OK;
    tal_error why = {TAL_OK, "", ""};
    const tal_status st =
        tali_mobilizer_check_params(&body->ops, body->self, matter->params + body->param0, &why);
    return st == TAL_OK ? TAL_OK : TALI_FAIL(err, st, "body '%s': %s", body->name, why.message);
}

// Check a body and its mobilizer, and append them.
static tal_status add_body(tal_matter *matter, tal_body_ix parent, const tal_mobod_def *def,
                           const tal_mobilizer_ops *ops, void *self, const double params[],
                           tal_error *err)
{
    if (def == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "body %d: its def is NULL", matter->num_bodies);
    }
    tali_tree_body body = {.parent = parent.i,
                           .structure = def->structure,
                           .mass = def->mass,
                           .X_PF = def->X_PF,
                           .X_BM = def->X_BM,
                           .direction = def->direction,
                           .self = self,
                           .coordinate = -1,
                           .initial_q = -1,
                           .initial_u = -1};
    tal_status st = take_name(matter, &body, def->name, err);
    if (st != TAL_OK) return st;
    if (parent.i < 0 || parent.i >= matter->num_bodies) {
        return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "body '%s': its parent, body %d, does not exist",
                         body.name, parent.i);
    }
    if (def->direction != TAL_FORWARD && def->direction != TAL_REVERSE) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "body '%s': there is no direction %d", body.name,
                         (int)def->direction);
    }
    st = copy_table(&body, ops, err);
    body.use_angles = def->use_angles && body.ops.has_quaternion;
    body.any_inertia = def->any_inertia;
    if (st == TAL_OK) st = tali_tree_body_check(&body, err);
    if (st == TAL_OK) st = add_params(matter, &body, params, err);
    if (st != TAL_OK) return st;

    if (append(matter, &body)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "body '%s': no memory", body.name);
}

tal_status tali_matter_can_build(const tal_matter *matter, const char *where)
{
    if (matter == NULL) return tali_breach(TAL_ERR_NULL, where, "matter is NULL");
    if (tal_system_has_topology(matter->system)) {
        return tali_breach(TAL_ERR_TOPOLOGY, where,
                           "System '%s' is realized: add bodies before that",
                           tal_system_name(matter->system));
    }
    return tal_system_error(matter->system)->status;
}

tal_body_ix tal_matter_add_mobilizer(tal_matter *matter, tal_body_ix parent,
                                     const tal_mobod_def *def, const tal_mobilizer_ops *ops,
                                     void *self, const double params[])
{
    if (tali_matter_can_build(matter, __func__) == TAL_OK) {
        tal_error why = {TAL_OK, "", ""};
        const tal_status st = add_body(matter, parent, def, ops, self, params, &why);
        if (st == TAL_OK) return (tal_body_ix){matter->num_bodies - 1};
        (void)tal_system_fail(matter->system, st, "%s", why.message);
    }
    const bool can_destroy = ops != NULL && ops->size == sizeof *ops && ops->destroy != NULL;
    if (can_destroy) ops->destroy(self);
    return (tal_body_ix){-1};
}

// --- built-in mobilizers ---

// One line each: the table, and the parameters where there are any.
#define ADD_BUILT_IN(name)                                                                         \
    tal_body_ix tal_matter_add_##name(tal_matter *matter, tal_body_ix parent,                      \
                                      const tal_mobod_def *def)                                    \
    {                                                                                              \
        return tal_matter_add_mobilizer(matter, parent, def, tal_mobilizer_##name(), NULL, NULL);  \
    }

ADD_BUILT_IN(weld)
ADD_BUILT_IN(pin)
ADD_BUILT_IN(slider)
ADD_BUILT_IN(universal)
ADD_BUILT_IN(cylinder)
ADD_BUILT_IN(bend_stretch)
ADD_BUILT_IN(planar)
ADD_BUILT_IN(gimbal)
ADD_BUILT_IN(bushing)
ADD_BUILT_IN(translation)
ADD_BUILT_IN(ball)
ADD_BUILT_IN(line_orientation)
ADD_BUILT_IN(free_line)
ADD_BUILT_IN(free)

tal_body_ix tal_matter_add_screw(tal_matter *matter, tal_body_ix parent, const tal_mobod_def *def,
                                 double pitch)
{
    return tal_matter_add_mobilizer(matter, parent, def, tal_mobilizer_screw(), NULL, &pitch);
}

tal_body_ix tal_matter_add_rack_and_pinion(tal_matter *matter, tal_body_ix parent,
                                           const tal_mobod_def *def, double radius)
{
    return tal_matter_add_mobilizer(matter, parent, def, tal_mobilizer_rack_and_pinion(), NULL,
                                    &radius);
}

tal_body_ix tal_matter_add_spherical_coords(tal_matter *matter, tal_body_ix parent,
                                            const tal_mobod_def *def, const double params[6])
{
    static const double plain[6] = {0.0, 0.0, 1.0, 1.0, 1.0, 0.0};
    return tal_matter_add_mobilizer(matter, parent, def, tal_mobilizer_spherical_coords(), NULL,
                                    params != NULL ? params : plain);
}

tal_body_ix tal_matter_add_ellipsoid(tal_matter *matter, tal_body_ix parent,
                                     const tal_mobod_def *def, tal_vec3 radii)
{
    const double params[] = {radii.x, radii.y, radii.z};
    return tal_matter_add_mobilizer(matter, parent, def, tal_mobilizer_ellipsoid(), NULL, params);
}

tal_body_ix tal_matter_add_cantilever(tal_matter *matter, tal_body_ix parent,
                                      const tal_mobod_def *def, double length)
{
    return tal_matter_add_mobilizer(matter, parent, def, tal_mobilizer_cantilever(), NULL, &length);
}

tal_body_ix tal_matter_add_function_based(tal_matter *matter, tal_body_ix parent,
                                          const tal_mobod_def *def, tal_function_based *mobilizer)
{
    return tal_matter_add_mobilizer(matter, parent, def, tal_function_based_ops(mobilizer),
                                    mobilizer, NULL);
}

// --- asking ---

const tali_tree_body *tali_tree_body_at(const tal_matter *matter, tal_body_ix body,
                                        const char *where)
{
    if (matter == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "matter is NULL");
        return NULL;
    }
    if (body.i >= 0 && body.i < matter->num_bodies) return &matter->bodies[body.i];
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no body %d: there are %d", body.i,
                      matter->num_bodies);
    return NULL;
}

int tal_matter_num_bodies(const tal_matter *matter)
{
    return matter != NULL ? matter->num_bodies : -1;
}

tal_body_ix tal_matter_find_body(const tal_matter *matter, const char *name)
{
    const tal_body_ix none = {-1};
    if (matter == NULL || name == NULL) return none;
    const uint64_t hash = tali_names_hash(name);
    int probe = 0, b = tali_names_next(&matter->body_names, hash, &probe);
    while (b >= 0 && strcmp(matter->bodies[b].name, name) != 0) {
        b = tali_names_next(&matter->body_names, hash, &probe);
    }
    return (tal_body_ix){b};
}

const char *tal_body_name(const tal_matter *matter, tal_body_ix body)
{
    const tali_tree_body *found = tali_tree_body_at(matter, body, __func__);
    return found != NULL ? found->name : "(no body)";
}

tal_body_ix tal_body_parent(const tal_matter *matter, tal_body_ix body)
{
    const tali_tree_body *found = tali_tree_body_at(matter, body, __func__);
    return (tal_body_ix){found != NULL ? found->parent : -1};
}

const char *tal_body_mobilizer(const tal_matter *matter, tal_body_ix body)
{
    const tali_tree_body *found = tali_tree_body_at(matter, body, __func__);
    return found != NULL ? found->ops.name : "(no body)";
}

int tal_body_nu(const tal_matter *matter, tal_body_ix body)
{
    const tali_tree_body *found = tali_tree_body_at(matter, body, __func__);
    return found != NULL ? found->ops.nu : -1;
}

int tal_body_u_start(const tal_matter *matter, tal_body_ix body)
{
    const tali_tree_body *found = tali_tree_body_at(matter, body, __func__);
    if (found == NULL) return -1;
    if (tal_system_has_topology(matter->system)) return matter->tree.u0[body.i];
    (void)TALI_BREACH(TAL_ERR_TOPOLOGY,
                      "the speeds of body '%s' are not numbered before the topology is realized",
                      found->name);
    return -1;
}
