// Matter as a subsystem: the variables, groups and cache entries that it declares, and the table of
// what it does at each stage.
#include "hash_internal.h"

#include "collider/collider_internal.h"
#include "constraint/constraint_internal.h"
#include "derivative/derivative_internal.h"
#include "kernel/passes_internal.h"
#include "operator/mass_factor_internal.h"
#include "prescribed/prescribed_internal.h"
#include "stage/stages_internal.h"
#include "unilateral/impact_internal.h"

#include <inttypes.h>
#include <stdio.h>

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
    tal_mass_props *mass = NULL;
    tal_xform *X_PF = NULL, *X_BM = NULL;
    double *ranges = NULL;
    uint8_t *modes = NULL;
    const tali_piece pieces[] = {{&mass, n * sizeof *mass},
                                 {&X_PF, n * sizeof *X_PF},
                                 {&X_BM, n * sizeof *X_BM},
                                 {&ranges, r * sizeof *ranges},
                                 {&modes, n}};
    size_t bytes = 0;
    void *room =
        tali_alloc_pieces(&matter->allocator, pieces, sizeof pieces / sizeof pieces[0], &bytes);
    if (room == NULL) {
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "no memory for %zu bodies", n);
        return false;
    }
    tali_tree_write_ranges(matter, ranges);
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

// q begins as tali_stage_realize_model() says, u with the initial u of the bodies.
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
        const tali_tree_body *body = &matter->bodies[b];
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
    uint64_t hash = tali_names_hash("tree");
    for (int b = 0; b < matter->num_bodies; ++b) {
        const tali_tree_body *body = &matter->bodies[b];
        const int32_t numbers[] = {body->parent, (int)body->structure, (int)body->direction,
                                   body->ops.nq, body->ops.nu,         body->ops.num_params};
        hash = tali_hash(hash, body->name, strlen(body->name) + 1);
        hash = tali_hash(hash, numbers, sizeof numbers);
        hash = tali_hash(hash, &body->ops.tag, sizeof body->ops.tag);
    }
    if (matter->way == TAL_SOLVE_KKT) hash = tali_hash(hash, &matter->way, sizeof matter->way);
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
    matter->model = add_cache(matter, name, tali_stage_model_size(tree), TAL_STAGE_MODEL,
                              TAL_STAGE_MODEL, NULL, NULL, 0);
    matter->constants =
        add_cache(matter, "constants", n * sizeof(tali_tree_constants) + sizeof(bool),
                  TAL_STAGE_INSTANCE, TAL_STAGE_INSTANCE, tali_stage_calc_constants, NULL, 0);
    tali_prescribed_declare_known(matter);
    const tal_prereq needs[] = {{TAL_PREREQ_Q, 0},
                                tal_prereq_cache(matter->constants),
                                tal_prereq_cache(matter->prescribed.known)};
    matter->position = add_cache(matter, "position", tree->position_at.size, TAL_STAGE_INSTANCE,
                                 TAL_STAGE_POSITION, tali_stage_calc_position, needs, 3);
    const tal_prereq qu[] = {tal_prereq_cache(matter->position), {TAL_PREREQ_U, 0}};
    matter->velocity =
        add_cache(matter, "velocity", tali_stage_velocity_size(tree), TAL_STAGE_INSTANCE,
                  TAL_STAGE_VELOCITY, tali_stage_calc_velocity, qu, 2);
    matter->rigid = add_cache(matter, "bodies in Ground", n * sizeof(tali_tree_composite),
                              TAL_STAGE_INSTANCE, TAL_STAGE_INFINITY, tali_stage_calc_rigid, qu, 1);
    const tal_prereq bodies[] = {tal_prereq_cache(matter->rigid)};
    matter->articulated =
        add_cache(matter, "articulated inertias", tali_stage_articulated_size(tree),
                  TAL_STAGE_INSTANCE, TAL_STAGE_INFINITY, tali_stage_calc_articulated, bodies, 1);
    matter->forces = add_cache(matter, "forces", tali_stage_forces_size(tree), TAL_STAGE_DYNAMICS,
                               TAL_STAGE_DYNAMICS, NULL, NULL, 0);
    matter->acceleration = add_cache(matter, "acceleration", n * sizeof(tal_spatial_vec),
                                     TAL_STAGE_ACCELERATION, TAL_STAGE_ACCELERATION, NULL, NULL, 0);
    matter->composites =
        add_cache(matter, "composite inertias", n * sizeof(tali_tree_composite), TAL_STAGE_INSTANCE,
                  TAL_STAGE_INFINITY, tali_tree_calc_composites, bodies, 1);
    tali_mass_factor_declare(matter);
    const tal_prereq hinges[] = {tal_prereq_cache(matter->articulated)};
    matter->inertias =
        add_cache(matter, "articulated inertias of all bodies", n * sizeof(tal_abi),
                  TAL_STAGE_INSTANCE, TAL_STAGE_INFINITY, tali_tree_calc_inertias, hinges, 1);
    matter->reactions =
        add_cache(matter, "reactions", n * sizeof(tal_spatial_vec), TAL_STAGE_ACCELERATION,
                  TAL_STAGE_INFINITY, tali_tree_calc_reactions, NULL, 0);
}

// Scratch memory is a stack on which operators nest, not a block of pieces that has one owner: what
// counts is the deepest nesting, an operator that the solver of constraints calls within a pass.
enum {
    MOST_NESTED_SPEEDS = 10, // arrays with a number for each u
    MOST_NESTED_BODIES = 2   // arrays with a spatial vector for each body
};

static size_t scratch_bytes(const tali_tree *tree)
{
    const size_t slots = (size_t)tree->num_slots + 1, n = (size_t)tree->num_bodies;
    return tali_align(slots * sizeof(tali_kernel_open_inertia)) +
           tali_align(slots * sizeof(tal_spatial_vec)) +
           MOST_NESTED_BODIES * tali_align(n * sizeof(tal_spatial_vec)) +
           tali_align(((size_t)tree->num_u + 1) * sizeof(tal_spatial_vec)) +
           tali_align(((size_t)tree->num_d + 1) * sizeof(double)) +
           MOST_NESTED_SPEEDS * tali_align(((size_t)tree->num_u + 1) * sizeof(double)) +
           tali_align(((size_t)tree->max_nq + 1) * sizeof(double));
}

// The tree, then what it declares: groups, variables, cache entries, scratch memory.
static tal_status realize_topology(void *self, tal_system *system, tal_subsystem_ix me)
{
    tal_matter *matter = self;
    matter->me = me;
    if (!tali_tree_build(matter) || !tali_op_mass_rows_build(matter) ||
        !tali_constraints_place(matter) || !tali_prescribed_place(matter)) {
        return tal_system_error(system)->status;
    }
    if (!declare_groups(matter)) return tal_system_error(system)->status;
    if (!declare_variables(matter)) return tal_system_error(system)->status;
    tali_prescribed_declare_variables(matter);
    declare_cache(matter);
    tali_prescribed_declare_dynamics(matter);
    tali_constraints_declare_cache(matter);
    if (tali_unilaterals_declare(matter) != TAL_OK) return tal_system_error(system)->status;
    tali_colliders_declare(matter);
    tal_system_reserve_scratch(system, scratch_bytes(&matter->tree));
    tal_system_reserve_scratch(system, tali_constraints_scratch(matter));
    tal_system_reserve_scratch(system, tali_prescribed_scratch(matter));
    tal_system_reserve_scratch(system, tali_matter_kkt_scratch(matter));
    tal_system_reserve_scratch(system, tali_unilaterals_scratch(matter));
    tal_system_reserve_scratch(system, tali_impact_scratch(matter));
    tal_system_reserve_scratch(system, tali_derivative_scratch(&matter->tree));
    tal_system_reserve_scratch(system, tali_derivative_constraint_scratch(matter));
    return tal_system_error(system)->status;
}

// Frees what was adopted with bodies and constraints, then the arrays.
static void destroy(void *self)
{
    tal_matter *matter = self;
    const tal_allocator allocator = matter->allocator;
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tali_tree_body *body = &matter->bodies[b];
        if (body->ops.destroy != NULL) body->ops.destroy(body->self);
    }
    tali_constraints_destroy(matter);
    tali_prescribed_destroy(matter);
    tali_unilaterals_destroy(matter);
    tali_colliders_destroy(matter);
    tali_free(&allocator, matter->bodies, (size_t)matter->capacity * sizeof *matter->bodies);
    tali_free(&allocator, matter->params, (size_t)matter->params_capacity * sizeof(double));
    tali_free(&allocator, matter->initial, (size_t)matter->initial_capacity * sizeof(double));
    tali_free(&allocator, matter->coordinates,
              (size_t)matter->coordinates_capacity * sizeof *matter->coordinates);
    tali_names_free(&matter->body_names, &allocator);
    tali_names_free(&matter->coordinate_names, &allocator);
    tali_tree_decorations_free(matter);
    tali_op_mass_rows_free(matter);
    tali_free(&allocator, matter->tree_block, matter->tree_bytes);
    tali_free(&allocator, matter, sizeof *matter);
}

const tal_subsystem_ops tali_matter_ops = {
    .size = sizeof tali_matter_ops,
    .name = "matter",
    .order = -1,
    .realize_topology = realize_topology,
    .realize_model = tali_stage_realize_model,
    .realize_instance = tali_stage_realize_instance,
    .realize_position = tali_stage_realize_position,
    .realize_velocity = tali_stage_realize_velocity,
    .realize_dynamics = tali_stage_realize_dynamics,
    .realize_acceleration = tali_stage_realize_acceleration,
    .project_q = tali_constraint_project_q,
    .project_u = tali_constraint_project_u,
    .prescribe_q = tali_prescribed_put_q,
    .prescribe_u = tali_prescribed_put_u,
    .relax_stage = tali_prescribed_relax,
    .destroy = destroy,
};
