// Matter as a subsystem: what it declares, and what it computes at each stage.
#include "constraint_internal.h"
#include "hash_internal.h"
#include "mass_factor_internal.h"
#include "prescribed_internal.h"
#include "stages_internal.h"
#include "sweeps_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// --- Model: packing q ---

typedef struct model_layout {
    size_t q0, nq, size;
} model_layout;

static model_layout lay_out_model(const tali_tree *tree)
{
    const size_t n = (size_t)tree->num_bodies;
    model_layout at = {.q0 = 0};
    at.nq = tali_align(n * sizeof(int32_t));
    at.size = at.nq + tali_align(n);
    return at;
}

static tali_model model_in(const tali_tree *tree, const char *bytes, const uint8_t *use_angles)
{
    const model_layout at = lay_out_model(tree);
    return (tali_model){(const int32_t *)(const void *)(bytes + at.q0),
                        (const uint8_t *)(const void *)(bytes + at.nq), use_angles};
}

tali_model tali_model_of(const tal_matter *matter, const tal_state *state)
{
    return model_in(&matter->tree, tal_cache_value(matter->system, state, matter->model),
                    tal_var_value(matter->system, state, matter->modes));
}

tali_model tali_model_at(const tal_matter *matter, const tal_state *state)
{
    return model_in(&matter->tree, tali_cache_at(matter->system, state, matter->model),
                    tali_var_in(matter->system, state, matter->modes));
}

// The initial q of a body: as set while building, or the mobilizer's zero.
void tali_write_initial_q(const tal_matter *matter, const tali_body *body, bool use_angles,
                          double q[])
{
    const int nq = tali_mobilizer_nq(&body->ops, use_angles);
    const double *initial = body->initial_q >= 0 ? matter->initial + body->initial_q : NULL;
    if (initial != NULL && use_angles != body->use_angles) {
        tali_convert_q(&body->ops, initial, use_angles, q);
        return;
    }
    for (int i = 0; i < nq; ++i) {
        q[i] = initial != NULL ? initial[i] : 0.0;
    }
    if (initial == NULL && body->ops.has_quaternion && !use_angles) q[0] = 1.0;
}

static tal_status realize_model(const void *self, const tal_system *system, tal_state *state)
{
    const tal_matter *matter = self;
    const tali_tree *tree = &matter->tree;
    const model_layout at = lay_out_model(tree);
    char *bytes = tal_cache_upd(system, state, matter->model);
    int32_t *q0 = (int32_t *)(void *)(bytes + at.q0);
    uint8_t *nq = (uint8_t *)(void *)(bytes + at.nq);
    const uint8_t *use_angles = tal_var_value(system, state, matter->modes);

    const size_t mark = tal_state_scratch_mark(state);
    double *initial = tal_state_scratch_take(state, ((size_t)tree->max_nq + 1) * sizeof(double));
    int num_q = 0;
    for (int b = 0; b < tree->num_bodies; ++b) {
        const tali_body *body = &matter->bodies[b];
        const int n = use_angles[b] ? body->ops.nq_angles : body->ops.nq;
        q0[b] = num_q;
        nq[b] = (uint8_t)n;
        tali_write_initial_q(matter, body, use_angles[b] != 0, initial + num_q);
        num_q += n;
    }
    const tal_status st = tal_group_set_size(system, state, matter->q, num_q, initial);
    tal_state_scratch_release(state, mark);
    if (st != TAL_OK) return st;
    return tal_cache_mark_valid(system, state, matter->model);
}

// --- Instance: mass properties and frames, re-expressed to M ---

static tal_status calc_constants(const void *self, const tal_system *system, tal_state *state,
                                 void *value)
{
    const tal_matter *matter = self;
    const tal_mass_props *mass = tal_var_value(system, state, matter->mass);
    const tal_xform *X_PF = tal_var_value(system, state, matter->X_PF);
    const tal_xform *X_BM = tal_var_value(system, state, matter->X_BM);
    const double *rotor = tal_var_value(system, state, matter->rotor);
    tali_constants *constants = value;
    bool *is_every_Bo_Mo = (bool *)(void *)(constants + matter->num_bodies);
    *is_every_Bo_Mo = true;
    constants[0] = (tali_constants){.R_PF = TAL_MAT3_IDENTITY, .X_MB = TAL_XFORM_IDENTITY};
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tal_xform X_MF = tal_xf_inv_mul(X_BM[matter->tree.parent[b]], X_PF[b]);
        const tal_xform X_MB = tal_xf_inverse(X_BM[b]);
        const tal_mass_props in_M = tal_mass_props_transform(&X_MB, &mass[b]);
        constants[b] = (tali_constants){.R_PF = X_MF.R,
                                        .p_PF = X_MF.p,
                                        .mass = in_M.mass,
                                        .rotor = rotor[b],
                                        .mc = tal_v3_scale(in_M.mass, in_M.com),
                                        .I = in_M.inertia,
                                        .X_MB = X_MB};
        const bool is_Bo_Mo = X_MB.p.x == 0.0 && X_MB.p.y == 0.0 && X_MB.p.z == 0.0;
        *is_every_Bo_Mo = *is_every_Bo_Mo && is_Bo_Mo;
    }
    return TAL_OK;
}

static tal_status realize_instance(const void *self, const tal_system *system, tal_state *state)
{
    const tal_matter *matter = self;
    const uint8_t *use_angles = tal_var_value(system, state, matter->modes);
    int num_quaternions = 0;
    for (int i = 0; i < matter->tree.num_quaternions; ++i) {
        num_quaternions += !use_angles[matter->tree.quaternions[i]];
    }
    const tal_status st =
        tal_group_set_size(system, state, matter->quaternion_errors, num_quaternions, NULL);
    return st == TAL_OK ? tali_constraints_realize_instance(matter, state) : st;
}

// --- inertias ---

static tal_status calc_rigid(const void *self, const tal_system *system, tal_state *state,
                             void *value)
{
    (void)system;
    tali_view view;
    tali_view_of(self, state, TALI_POSITION, &view);
    view.sweeps->rigid(&view, value);
    return TAL_OK;
}

static tal_status name_massless_mobility(const tal_matter *matter, tal_state *state,
                                         const tali_view *view, const double DI[])
{
    const int b = tali_massless_body(view, DI);
    return tal_state_fail(state, TAL_ERR_SINGULAR,
                          "body '%s' can move on its %s without moving any mass: give it, or the "
                          "bodies it carries, mass or inertia",
                          matter->bodies[b].name, matter->bodies[b].ops.name);
}

static tal_status calc_articulated(const void *self, const tal_system *system, tal_state *state,
                                   void *value)
{
    (void)system;
    const tal_matter *matter = self;
    tali_view view;
    tali_view_of(matter, state, TALI_INERTIA, &view);
    const tali_articulated at = {
        value, (double *)(void *)((char *)value + tali_gain_bytes(view.tree)), NULL};
    const size_t mark = tal_state_scratch_mark(state);
    tali_open_inertia *open = tal_state_scratch_take(state, ((size_t)view.tree->num_slots + 1) *
                                                                sizeof(tali_open_inertia));
    const bool ok = view.sweeps->articulated(&view, &at, open);
    tal_state_scratch_release(state, mark);
    return ok ? TAL_OK : name_massless_mobility(matter, state, &view, at.DI);
}

// --- Dynamics and Acceleration ---

// Matter prepares: no forces yet. Force subsystems, which come later in order, add theirs.
static tal_status realize_dynamics(const void *self, const tal_system *system, tal_state *state)
{
    const tal_matter *matter = self;
    void *bytes = tali_cache_begin(system, state, matter->forces);
    memset(bytes, 0, tali_forces_size(&matter->tree));
    tali_cache_end(system, state, matter->forces);
    return TAL_OK;
}

tali_applied tali_applied_of(const tal_matter *matter, const tal_state *state)
{
    const char *bytes = tal_cache_value(matter->system, state, matter->forces);
    if (bytes == NULL) return (tali_applied){NULL, NULL};
    const char *mobility = bytes + tali_body_force_bytes(&matter->tree);
    return (tali_applied){(const tal_spatial_vec *)(const void *)bytes,
                          (const double *)(const void *)mobility};
}

tal_status tali_forward_dynamics(const tal_matter *matter, tal_state *state,
                                 const tal_spatial_vec F[], const double f[], double udot[],
                                 tal_spatial_vec A_GM[], double lambda[])
{
    tali_view view;
    if (!tali_view_at(matter, state, TALI_DYNAMICS, &view)) return tal_state_error(state)->status;
    const tali_tree *tree = view.tree;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *open =
        tal_state_scratch_take(state, ((size_t)tree->num_slots + 1) * sizeof *open);
    double *e = tal_state_scratch_take(state, ((size_t)tree->num_u + 1) * sizeof *e);
    view.sweeps->inward_moving(&view, f, F, e, open);
    tal_status st = TAL_OK;
    if (lambda != NULL) st = tali_constraints_solve(matter, state, &view, e, lambda);
    if (st == TAL_OK) {
        view.sweeps->outward(&view, e, udot, A_GM);
        for (int b = 0; b < tree->num_bodies; ++b) {
            A_GM[b] = tal_sv_add(A_GM[b], view.motion[b].A0);
        }
        tali_add_known(&view, udot, A_GM);
    }
    tal_state_scratch_release(state, mark);
    return st;
}

static tal_status realize_acceleration(const void *self, const tal_system *system, tal_state *state)
{
    const tal_matter *matter = self;
    const tali_applied applied = tali_loads_of(matter, state);
    if (applied.F == NULL) return tal_state_error(state)->status;
    tal_spatial_vec *A_GM = tali_cache_begin(system, state, matter->acceleration);
    double *udot = tali_group_ydot(system, state, matter->u);
    double *lambda = matter->constraints.count > 0
                         ? tal_group_upd_multipliers(system, state, matter->constraints.udoterr)
                         : NULL;
    tal_status st = tali_forward_dynamics(matter, state, applied.F, applied.f, udot, A_GM, lambda);
    if (st == TAL_OK && lambda != NULL) {
        st = tali_constraints_realize_acceleration(matter, state, A_GM, udot);
    }
    if (st != TAL_OK) return st;
    double *qdotdot = tali_group_qdotdot(system, state, matter->q);
    st = tali_write_rates(matter, state, udot, true, qdotdot);
    if (st == TAL_OK) tali_cache_end(system, state, matter->acceleration);
    return st;
}

// --- declaring ---

static tal_var_ix add_var(tal_matter *matter, const char *name, size_t size, const void *initial,
                          tal_stage invalidates)
{
    tal_var_def def = tal_var_def_default();
    def.name = name;
    def.size = size;
    def.initial = initial;
    def.invalidates = invalidates;
    return tal_system_add_var(matter->system, matter->me, &def);
}

// Initial values of the variables that are arrays over the bodies.
static bool declare_variables(tal_matter *matter)
{
    const size_t n = (size_t)matter->num_bodies;
    const size_t r = 2 * (size_t)matter->num_ranges + 1; // one more: no variable is empty
    const size_t bytes =
        n * (sizeof(tal_mass_props) + 2 * sizeof(tal_xform) + 1) + r * sizeof(double);
    char *room = tali_alloc(&matter->allocator, bytes);
    if (room == NULL) {
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "no memory for %zu bodies", n);
        return false;
    }
    tal_mass_props *mass = (tal_mass_props *)(void *)room;
    tal_xform *X_PF = (tal_xform *)(void *)(mass + n);
    tal_xform *X_BM = X_PF + n;
    double *ranges = (double *)(void *)(X_BM + n);
    uint8_t *modes = (uint8_t *)(ranges + r);
    tali_write_ranges(matter, ranges);
    for (size_t b = 0; b < n; ++b) {
        mass[b] = matter->bodies[b].mass;
        X_PF[b] = matter->bodies[b].X_PF;
        X_BM[b] = matter->bodies[b].X_BM;
        modes[b] = matter->bodies[b].use_angles;
    }
    matter->modes = add_var(matter, "use_angles", n, modes, TAL_STAGE_MODEL);
    matter->mass = add_var(matter, "mass", n * sizeof *mass, mass, TAL_STAGE_INSTANCE);
    matter->X_PF = add_var(matter, "X_PF", n * sizeof *X_PF, X_PF, TAL_STAGE_INSTANCE);
    matter->X_BM = add_var(matter, "X_BM", n * sizeof *X_BM, X_BM, TAL_STAGE_INSTANCE);
    matter->ranges = add_var(matter, "ranges", r * sizeof *ranges, ranges, TAL_STAGE_INSTANCE);
    matter->rotor = add_var(matter, "rotor", n * sizeof(double), NULL, TAL_STAGE_INSTANCE);
    const double none = 0.0;
    const bool has_params = matter->num_params > 0;
    matter->var_params =
        add_var(matter, "params", (size_t)(has_params ? matter->num_params : 1) * sizeof(double),
                has_params ? matter->params : &none, TAL_STAGE_INSTANCE);
    tali_free(&matter->allocator, room, bytes);
    return matter->var_params.i >= 0;
}

static tal_group_ix add_group(tal_matter *matter, const char *name, tal_pool pool, int capacity,
                              const double initial[])
{
    tal_group_def def = tal_group_def_default();
    def.name = name;
    def.pool = pool;
    def.capacity = capacity;
    def.initial = initial;
    return tal_system_add_group(matter->system, matter->me, &def);
}

// q begins as realize_model() says, u with the initial u of the bodies.
static bool declare_groups(tal_matter *matter)
{
    const tali_tree *tree = &matter->tree;
    const size_t bytes = ((size_t)tree->num_u + 1) * sizeof(double);
    double *u = tali_alloc(&matter->allocator, bytes);
    if (u == NULL) {
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "no memory for %d speeds",
                              tree->num_u);
        return false;
    }
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tali_body *body = &matter->bodies[b];
        for (int j = 0; j < tree->nu[b] && body->initial_u >= 0; ++j) {
            u[tree->u0[b] + j] = matter->initial[body->initial_u + j];
        }
    }
    matter->q = add_group(matter, "q", TAL_POOL_Q, tree->max_nq, NULL);
    matter->u = add_group(matter, "u", TAL_POOL_U, tree->num_u, u);
    tali_constraints_declare_slots(matter); // position errors of constraints precede quaternions
    matter->quaternion_errors =
        add_group(matter, "quaternions", TAL_POOL_QERR, tree->num_quaternions, NULL);
    tali_free(&matter->allocator, u, bytes);
    return matter->quaternion_errors.i >= 0;
}

static tal_cache_ix add_cache(tal_matter *matter, const char *name, size_t size,
                              tal_stage depends_on, tal_stage computed_by, tal_calc_fn calc,
                              const tal_prereq prereqs[], int num_prereqs)
{
    tal_cache_def def = tal_cache_def_default();
    def.name = name;
    def.size = size;
    def.depends_on = depends_on;
    def.computed_by = computed_by;
    def.calc = calc;
    def.prereqs = prereqs;
    def.num_prereqs = num_prereqs;
    return tal_system_add_cache(matter->system, matter->me, &def);
}

// States of trees that differ must not be mixed up: the name of one entry, which is part of the
// System's structure hash, tells how the bodies are connected.
static void name_structure(const tal_matter *matter, char name[TAL_MAX_NAME + 1])
{
    uint64_t hash = tali_name_hash("tree");
    for (int b = 0; b < matter->num_bodies; ++b) {
        const tali_body *body = &matter->bodies[b];
        const int32_t numbers[] = {body->parent, (int)body->structure, (int)body->direction,
                                   body->ops.nq, body->ops.nu,         body->ops.num_params};
        hash = tali_hash(hash, body->name, strlen(body->name) + 1);
        hash = tali_hash(hash, numbers, sizeof numbers);
        hash = tali_hash(hash, &body->ops.tag, sizeof body->ops.tag);
    }
    (void)snprintf(name, TAL_MAX_NAME + 1, "model of tree %016" PRIx64, hash);
}

// Poses need q and not t, so they depend on Instance and name q: a change of time leaves them. They
// also name the result of Instance, so that where they are valid that is, too.
static void declare_cache(tal_matter *matter)
{
    const tali_tree *tree = &matter->tree;
    const size_t n = (size_t)tree->num_bodies;
    char name[TAL_MAX_NAME + 1];
    name_structure(matter, name);
    matter->model = add_cache(matter, name, lay_out_model(tree).size, TAL_STAGE_MODEL,
                              TAL_STAGE_MODEL, NULL, NULL, 0);
    matter->constants = add_cache(matter, "constants", n * sizeof(tali_constants) + sizeof(bool),
                                  TAL_STAGE_INSTANCE, TAL_STAGE_INSTANCE, calc_constants, NULL, 0);
    tali_prescribed_declare_known(matter);
    const tal_prereq needs[] = {{TAL_PREREQ_Q, 0},
                                tal_prereq_cache(matter->constants),
                                tal_prereq_cache(matter->prescribed.known)};
    matter->position = add_cache(matter, "position", tree->position_at.size, TAL_STAGE_INSTANCE,
                                 TAL_STAGE_POSITION, tali_calc_position, needs, 3);
    const tal_prereq qu[] = {tal_prereq_cache(matter->position), {TAL_PREREQ_U, 0}};
    matter->velocity = add_cache(matter, "velocity", tali_velocity_size(tree), TAL_STAGE_INSTANCE,
                                 TAL_STAGE_VELOCITY, tali_calc_velocity, qu, 2);
    matter->rigid = add_cache(matter, "bodies in Ground", n * sizeof(tali_composite),
                              TAL_STAGE_INSTANCE, TAL_STAGE_INFINITY, calc_rigid, qu, 1);
    const tal_prereq bodies[] = {tal_prereq_cache(matter->rigid)};
    matter->articulated =
        add_cache(matter, "articulated inertias", tali_articulated_size(tree), TAL_STAGE_INSTANCE,
                  TAL_STAGE_INFINITY, calc_articulated, bodies, 1);
    matter->forces = add_cache(matter, "forces", tali_forces_size(tree), TAL_STAGE_DYNAMICS,
                               TAL_STAGE_DYNAMICS, NULL, NULL, 0);
    matter->acceleration = add_cache(matter, "acceleration", n * sizeof(tal_spatial_vec),
                                     TAL_STAGE_ACCELERATION, TAL_STAGE_ACCELERATION, NULL, NULL, 0);
    matter->composites =
        add_cache(matter, "composite inertias", n * sizeof(tali_composite), TAL_STAGE_INSTANCE,
                  TAL_STAGE_INFINITY, tali_calc_composites, bodies, 1);
    tali_mass_factor_declare(matter);
    const tal_prereq hinges[] = {tal_prereq_cache(matter->articulated)};
    matter->inertias =
        add_cache(matter, "articulated inertias of all bodies", n * sizeof(tal_abi),
                  TAL_STAGE_INSTANCE, TAL_STAGE_INFINITY, tali_calc_inertias, hinges, 1);
    matter->reactions =
        add_cache(matter, "reactions", n * sizeof(tal_spatial_vec), TAL_STAGE_ACCELERATION,
                  TAL_STAGE_INFINITY, tali_calc_reactions, NULL, 0);
}

static size_t scratch_bytes(const tali_tree *tree)
{
    const size_t slots = (size_t)tree->num_slots + 1, n = (size_t)tree->num_bodies;
    return tali_align(slots * sizeof(tali_open_inertia)) +
           tali_align(slots * sizeof(tal_spatial_vec)) +
           2 * tali_align(n * sizeof(tal_spatial_vec)) +
           tali_align(((size_t)tree->num_u + 1) * sizeof(tal_spatial_vec)) +
           tali_align(((size_t)tree->num_d + 1) * sizeof(double)) +
           10 * tali_align(((size_t)tree->num_u + 1) * sizeof(double)) +
           tali_align(((size_t)tree->max_nq + 1) * sizeof(double));
}

static tal_status realize_topology(void *self, tal_system *system, tal_subsystem_ix me)
{
    tal_matter *matter = self;
    matter->me = me;
    if (!tali_tree_build(matter) || !tali_mass_rows_build(matter) ||
        !tali_constraints_place(matter) || !tali_prescribed_place(matter)) {
        return tal_system_error(system)->status;
    }
    if (!declare_groups(matter)) return tal_system_error(system)->status;
    if (!declare_variables(matter)) return tal_system_error(system)->status;
    tali_prescribed_declare_variables(matter);
    declare_cache(matter);
    tali_prescribed_declare_dynamics(matter);
    tali_constraints_declare_cache(matter);
    tal_system_reserve_scratch(system, scratch_bytes(&matter->tree));
    tal_system_reserve_scratch(system, tali_constraints_scratch(matter));
    tal_system_reserve_scratch(system, tali_prescribed_scratch(matter));
    return tal_system_error(system)->status;
}

static void destroy(void *self)
{
    tal_matter *matter = self;
    const tal_allocator allocator = matter->allocator;
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tali_body *body = &matter->bodies[b];
        if (body->ops.destroy != NULL) body->ops.destroy(body->self);
    }
    tali_constraints_destroy(matter);
    tali_prescribed_destroy(matter);
    tali_free(&allocator, matter->bodies, (size_t)matter->capacity * sizeof *matter->bodies);
    tali_free(&allocator, matter->params, (size_t)matter->params_capacity * sizeof(double));
    tali_free(&allocator, matter->initial, (size_t)matter->initial_capacity * sizeof(double));
    tali_free(&allocator, matter->coordinates,
              (size_t)matter->coordinates_capacity * sizeof *matter->coordinates);
    tali_names_free(&matter->body_names, &allocator);
    tali_names_free(&matter->coordinate_names, &allocator);
    tali_decorations_free(matter);
    tali_mass_rows_free(matter);
    tali_free(&allocator, matter->tree_block, matter->tree_bytes);
    tali_free(&allocator, matter, sizeof *matter);
}

const tal_subsystem_ops tali_matter_ops = {
    .size = sizeof tali_matter_ops,
    .name = "matter",
    .order = -1,
    .realize_topology = realize_topology,
    .realize_model = realize_model,
    .realize_instance = realize_instance,
    .realize_position = tali_realize_position,
    .realize_velocity = tali_realize_velocity,
    .realize_dynamics = realize_dynamics,
    .realize_acceleration = realize_acceleration,
    .project_q = tali_matter_project_q,
    .project_u = tali_matter_project_u,
    .prescribe_q = tali_prescribe_q,
    .prescribe_u = tali_prescribe_u,
    .relax = tali_relax,
    .destroy = destroy,
};
