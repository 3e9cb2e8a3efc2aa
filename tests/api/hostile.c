// The worlds that hostile calls are made in: Systems with something of every kind, and an object of
// every type that a call can take.
#include "hostile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    NUM_STAGES = 9
};

// A System with something of every kind in it, finished.
typedef struct world {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_events *events;
    tal_state *at[NUM_STAGES]; // realized to each stage; never handed out
    tal_state *work[2];        // copies of them, which are
} world;

hostile_objects hostile_world;
static world whole;    // everything in it, topology realized
static world other;    // another structure
static world tree;     // without constraints, topology realized
static world building; // of this call: not finished, made when first asked for

// --- worlds ---

static void add_bodies(world *w)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(1.5, tal_v3(0.1, 0.2, 0.3));
    def.X_PF.p = tal_v3(0.3, 0.0, 0.1);
    def.X_BM.p = tal_v3(0.0, 0.4, 0.0);
    (void)tal_matter_add_free(w->matter, TAL_GROUND, &def);
    const tal_body_ix free_body = {1};
    def.name = "body2";
    const tal_body_ix pin = tal_matter_add_pin(w->matter, free_body, &def);
    def.name = NULL;
    (void)tal_matter_add_ball(w->matter, pin, &def);
    (void)tal_matter_add_weld(w->matter, pin, &def);
    (void)tal_matter_add_slider(w->matter, TAL_GROUND, &def);
    (void)tal_matter_add_gimbal(w->matter, TAL_GROUND, &def);
    const tal_body_ix hook = tal_matter_add_pin(w->matter, TAL_GROUND, &def);
    (void)tal_matter_add_pin(w->matter, hook, &def);
}

static void add_constraints(world *w)
{
    const tal_body_ix a = {7};
    const tal_body_ix b = {8};
    tal_constraint_def def = tal_constraint_between(TAL_GROUND, b);
    (void)tal_constraint_add_rod(w->matter, &def, TAL_VEC3_ZERO, tal_v3(0.1, 0.1, 0.0), 1.0);
    def = tal_constraint_on(a, 0);
    (void)tal_constraint_add_constant_speed(w->matter, &def, 0.0);
    tal_motion_def motion = tal_motion_def_default();
    motion.body.i = 5;
    (void)tal_matter_add_motion_sinusoid(w->matter, &motion, 0.1, 2.0, 0.0);
}

static void add_contact(world *w)
{
    const tal_contact_def def = tal_contact_def_default();
    const tal_force_ix contact = tal_forces_add_contact(w->forces, "contact", &def);
    tal_contact_surface_def surface = tal_contact_surface_def_default();
    surface.shape = tal_shape_half_space();
    (void)tal_contact_add_surface(w->forces, contact, &surface);
    surface.shape = tal_shape_sphere(0.8);
    surface.body.i = 3;
    (void)tal_contact_add_surface(w->forces, contact, &surface);
    if (hostile_world.mesh == NULL) return;
    surface.shape = tal_shape_mesh(hostile_world.mesh);
    surface.body.i = 6;
    (void)tal_contact_add_surface(w->forces, contact, &surface);
}

// Two paths over an obstacle, and a muscle along one of them.
static void add_muscle(world *w)
{
    const tal_body_ix first = {7}, second = {8};
    const tal_wrap cylinder = tal_wrap_cylinder(0.05, 0.5);
    const tal_wrap_ix knee =
        tal_forces_add_wrap(w->forces, "knee", first, &TAL_XFORM_IDENTITY, &cylinder);
    for (int i = 0; i < 2; ++i) {
        const tal_path_ix path = tal_forces_add_path(w->forces, NULL);
        (void)tal_path_add_point(w->forces, path, TAL_GROUND, tal_v3(0.2, 0.1, 0.0));
        (void)tal_path_add_point(w->forces, path, second, tal_v3(0.1, 0.1 * i, 0.0));
        (void)tal_path_add_wrap(w->forces, path, knee, 0, -1);
    }
    tal_muscle_def def;
    good_tal_muscle_def(&def);
    (void)tal_forces_add_muscle(w->forces, NULL, &def);
}

static void add_forces(world *w)
{
    tal_two_points points = {{2}, {0.1, 0.0, 0.0}, {6}, {0.0, 0.2, 0.0}};
    const tal_mobility at = {{2}, 0};
    (void)tal_forces_add_gravity(w->forces, tal_v3(0.0, -9.8, 0.0));
    (void)tal_forces_add_two_point_spring(w->forces, NULL, &points, 10.0, 0.1);
    (void)tal_forces_add_mobility_damper(w->forces, NULL, at, 0.2);
    tal_bushing_def bushing = tal_bushing_def_default();
    bushing.body1.i = 0;
    bushing.body2.i = 6;
    (void)tal_forces_add_bushing(w->forces, NULL, &bushing);
    add_contact(w);
    tal_exponential_spring_def spring = tal_exponential_spring_def_default();
    spring.body.i = 1;
    (void)tal_forces_add_exponential_spring(w->forces, NULL, &spring);
    tal_thermostat_def bath = tal_thermostat_def_default();
    bath.kT = 1.0;
    (void)tal_forces_add_thermostat(w->forces, NULL, &bath);
    (void)tal_forces_add_discrete(w->forces, NULL);
    const tal_measure_ix control = {0};
    (void)tal_forces_add_mobility_actuator(w->forces, NULL, at, 1.0, control);
    (void)tal_forces_add_global_damper(w->forces, NULL, 0.1);
    tal_smooth_contact_def smooth = tal_smooth_contact_def_default();
    smooth.sphere_body.i = 1;
    smooth.center = tal_v3(0.0, 5.0, 0.0);
    (void)tal_forces_add_smooth_contact(w->forces, NULL, &smooth);
    add_muscle(w);
    tal_forces_track_dissipation(w->forces);
}

static void add_unilaterals(world *w)
{
    const tal_xform plane = TAL_XFORM_IDENTITY;
    const tal_body_ix body = {tal_matter_num_bodies(w->matter) - 1};
    tal_unilateral_def def = tal_unilateral_def_default();
    def.material.static_mu = def.material.sliding_mu = 0.5;
    (void)tal_unilateral_add_point_on_plane(w->matter, &def, TAL_GROUND, &plane, body,
                                            TAL_VEC3_ZERO);
    (void)tal_unilateral_add_rope(w->matter, NULL, TAL_GROUND, TAL_VEC3_ZERO, body, TAL_VEC3_ZERO,
                                  50.0);
    (void)tal_contacts_create(w->system, NULL);
}

static void add_measures(world *w)
{
    const tal_subsystem_ix owner = tal_matter_subsystem(w->matter);
    const tal_measure_ix wave = tal_measure_add_sinusoid(w->system, owner, "wave", 1.0, 2.0, 0.0);
    const double two[] = {1.0, 2.0};
    (void)tal_measure_add_variable(w->system, owner, "two", two, 2, TAL_STAGE_DYNAMICS);
    (void)tal_measure_add_integrate(w->system, owner, "area", wave, NULL);
    (void)tal_measure_add_extreme(w->system, owner, "peak", TAL_EXTREME_MAXIMUM, wave);
    tal_hold_def hold = tal_hold_def_default();
    hold.operand = wave;
    hold.period = 0.1;
    (void)tal_measure_add_hold(w->system, owner, &hold);
    tal_result_def result = tal_result_def_default();
    (void)tal_measure_add_result(w->system, owner, &result);
    (void)tal_measure_add_kinetic_energy(w->matter, "kinetic");
    tal_var_def var = tal_var_def_default();
    var.name = "var";
    var.size = sizeof(double);
    (void)tal_system_add_var(w->system, owner, &var);
    tal_run_stop stop = tal_run_stop_default();
    stop.value = 1e6;
    (void)tal_events_add_stop(w->events, &stop);
}

static void begin_world(world *w)
{
    memset(w, 0, sizeof *w);
    w->system = tal_system_create(NULL);
    w->matter = tal_matter_create(w->system);
    w->forces = tal_forces_create(w->system, w->matter);
    w->events = tal_events_create(w->system);
}

void hostile_stop(const char *why)
{
    (void)fprintf(stderr, "hostile: the world cannot be made: %s\n", why);
    exit(2);
}

static void finish_world(world *w)
{
    tal_error err;
    if (tal_system_realize_topology(w->system, &err) != TAL_OK) hostile_stop(err.message);
    for (int k = 0; k < NUM_STAGES; ++k) {
        if (tal_state_create(w->system, &w->at[k], &err) != TAL_OK) hostile_stop(err.message);
        const tal_stage stage = (tal_stage)(TAL_STAGE_TOPOLOGY + k);
        if (k > 0 && tal_system_realize(w->system, w->at[k], stage) != TAL_OK) {
            hostile_stop(tal_state_error(w->at[k])->message);
        }
    }
    for (int k = 0; k < 2; ++k) {
        if (tal_state_create(w->system, &w->work[k], &err) != TAL_OK) hostile_stop(err.message);
    }
}

static world *unfinished(void)
{
    if (building.system == NULL) {
        begin_world(&building);
        add_bodies(&building);
        add_unilaterals(&building);
        add_measures(&building);
        const tal_measure_ix control = {0};
        const tal_mobility at = {{2}, 0};
        (void)tal_forces_add_gravity(building.forces, tal_v3(0.0, -9.8, 0.0));
        (void)tal_forces_add_mobility_actuator(building.forces, NULL, at, 1.0, control);
        add_contact(&building);
        add_muscle(&building);
    }
    return &building;
}

tal_system *hostile_take_building(void)
{
    tal_system *system = building.system;
    memset(&building, 0, sizeof building);
    return system;
}

static tal_status column_value(const void *context, const tal_system *system, tal_state *state)
{
    (void)context;
    (void)system;
    (void)state;
    return TAL_OK;
}

static double time_of(const void *context, const tal_system *system, tal_state *state)
{
    (void)column_value(context, system, state);
    return tal_state_t(state);
}

// A motion that does not move.
static tal_status stand_still(void *context, double t, double q[], double u[], double udot[])
{
    (void)context;
    (void)t;
    const tal_state *state = whole.at[NUM_STAGES - 1];
    memcpy(q, tal_state_q(state), (size_t)tal_matter_nq(whole.matter, state) * sizeof *q);
    const size_t nu = (size_t)tal_matter_nu(whole.matter);
    memset(u, 0, nu * sizeof *u);
    memset(udot, 0, nu * sizeof *udot);
    return TAL_OK;
}

static void check(tal_status status, const tal_error *err)
{
    if (status != TAL_OK) hostile_stop(err->message);
}

// Direct functions of a tree of its own, since those of the world have constraints.
static tal_direct *make_direct(void)
{
    tal_system *const system = tal_system_create(NULL);
    tal_matter *const matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.5);
    (void)tal_matter_add_pin(matter, tal_matter_add_free(matter, TAL_GROUND, &def), &def);
    tal_state *state = NULL;
    tal_direct *direct = NULL;
    tal_error err = {TAL_OK, "", ""};
    check(tal_system_realize_topology(system, &err), &err);
    check(tal_state_create(system, &state, &err), &err);
    check(tal_direct_create(matter, state, &direct, &err), &err);
    tal_state_destroy(state);
    return direct;
}

static void make_studies(void)
{
    tal_error err;
    hostile_objects *o = &hostile_world;
    tal_integrator_def def = tal_integrator_def_default();
    def.max_steps = 20;
    def.max_step = 0.01;
    check(tal_integrator_create(whole.system, &def, &o->integrator, &err), &err);
    check(tal_equations_create(whole.system, &def, &o->equations, &err), &err);
    tal_integrator *stepped = NULL;
    check(tal_integrator_create(whole.system, &def, &stepped, &err), &err);
    tal_time_stepper_def stepper = tal_time_stepper_def_default();
    stepper.max_steps = 20;
    check(tal_time_stepper_create(stepped, &stepper, &o->stepper, &err), &err);
    check(tal_linearizer_create(whole.system, NULL, &o->linearizer, &err), &err);
    const tal_column_def column = {"time", TAL_STAGE_TIME, time_of, NULL};
    check(tal_recorder_create(whole.system, &column, 1, 10, &o->recorder, &err), &err);
    const tal_marker marker = {"one", {3}, {0.1, 0.0, 0.0}, 1.0};
    tal_assembler_def assembler = tal_assembler_def_default();
    assembler.markers = &marker;
    assembler.num_markers = 1;
    assembler.max_iterations = 10;
    assembler.max_restarts = 2;
    check(tal_assembler_create(whole.system, &assembler, &o->assembler, &err), &err);
    tal_tracker_def tracker = tal_tracker_def_default();
    tracker.assembler.markers = &marker;
    tracker.assembler.num_markers = 1;
    tracker.assembler.max_iterations = 10;
    tracker.assembler.max_restarts = 0;
    check(tal_tracker_create(whole.system, &tracker, &o->tracker, &err), &err);
    const tal_measure_ix wave = {0};
    const tal_parameter q0 = tal_parameter_q("q0", whole.matter, (tal_body_ix){1}, 0);
    tal_ensemble_def ensemble = tal_ensemble_def_default();
    ensemble.parameters = &q0;
    ensemble.num_parameters = 1;
    ensemble.outputs = &wave;
    ensemble.num_outputs = 1;
    check(tal_ensemble_create(whole.system, &ensemble, &o->ensemble, &err), &err);
    o->direct = make_direct();
    const tal_body_ix end = {3};
    check(tal_subtree_create(whole.matter, whole.at[NUM_STAGES - 1], TAL_GROUND, &end, 1,
                             &o->subtree, &err),
          &err);
    tal_batch_def batch = tal_batch_def_default();
    batch.num_samples = 3;
    batch.row_size = 1;
    check(tal_batch_create(&batch, &o->batch, &err), &err);
    tal_sensitivity_def sensitivity = tal_sensitivity_def_default();
    sensitivity.parameters = &q0;
    sensitivity.num_parameters = 1;
    check(tal_sensitivity_create(whole.system, &sensitivity, &o->sensitivity, &err), &err);
    tal_equilibrium_def rest = tal_equilibrium_def_default();
    rest.max_iterations = 5;
    check(tal_equilibrium_create(whole.system, &rest, &o->equilibrium, &err), &err);
    check(tal_static_optimizer_create(whole.system, whole.forces, NULL, &o->static_optimizer, &err),
          &err);
    check(tal_induced_create(whole.system, whole.forces, NULL, &o->induced, &err), &err);
    tal_follower_def follower = tal_follower_def_default();
    follower.calc_desired = stand_still;
    check(tal_follower_create(whole.system, whole.forces, &follower, &o->follower, &err), &err);
    const tal_model model = {.system = whole.system,
                             .state = whole.at[NUM_STAGES - 1],
                             .matter = whole.matter,
                             .forces = whole.forces};
    check(tal_scene_create(&model, NULL, &o->scene, &err), &err);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) hostile_stop(path);
}

// The results of a tool, from files that are gone afterwards.
static tal_osim_results *run_tool(void)
{
    static const char *const files[] = {"hostile_pin.osim", "hostile_q.sto", "hostile_id.xml"};
    tal_osim_results *results = NULL;
    write_text(files[0], "<OpenSimDocument Version='40000'><Model><BodySet><objects><Body name='b'>"
                         "<mass>1</mass></Body></objects></BodySet></Model></OpenSimDocument>");
    write_text(files[1],
               "q\ninDegrees=no\nendheader\ntime\tb_freejoint_coord_3\n0\t0\n1\t0\n2\t0\n");
    write_text(files[2],
               "<InverseDynamicsTool><model_file>hostile_pin.osim</model_file>"
               "<coordinates_file>hostile_q.sto</coordinates_file></InverseDynamicsTool>");
    if (tal_osim_run_file(files[2], NULL, &results, NULL) != TAL_OK) hostile_stop("a tool failed");
    for (int i = 0; i < 3; ++i) {
        (void)remove(files[i]);
    }
    return results;
}

// Code for one pin; the world has constraints, for which there is none.
static tal_generator *make_generator(void)
{
    tal_error err = {0};
    tal_state *state = NULL;
    tal_generator *gen = NULL;
    tal_system *const system = tal_system_create(NULL);
    tal_matter *const matter = tal_matter_create(system);
    const tal_mobod_def bob = tal_mobod_def_default();
    (void)tal_matter_add_pin(matter, TAL_GROUND, &bob);
    check(tal_system_realize_topology(system, &err), &err);
    check(tal_state_create(system, &state, &err), &err);
    check(tal_generator_create(matter, NULL, state, NULL, &gen, &err), &err);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return gen;
}

// Three atoms with velocities in a box, so that every format can say them.
static tal_atoms *make_atoms(void)
{
    const tal_vec3 x[3] = {{0.0, 0.0, 0.0}, {0.1, 0.0, 0.0}, {0.0, 0.1, 0.0}};
    const tal_atoms_frame box = {.edges = {1.0, 2.0, 3.0},
                                 .angles = {TAL_PI / 2.0, TAL_PI / 2.0, TAL_PI / 2.0}};
    tal_atoms *atoms = tal_atoms_create(NULL);
    tal_atom atom = tal_atom_default();
    atom.name = "one";
    for (int i = 0; i < 3; ++i) {
        check(tal_atoms_add(atoms, &atom), tal_contract_last());
    }
    check(tal_atoms_add_bond(atoms, 0, 1, 1), tal_contract_last());
    check(tal_atoms_add_frame(atoms, x, x, 3, &box), tal_contract_last());
    return atoms;
}

static void make_objects(void)
{
    tal_error err;
    hostile_objects *o = &hostile_world;
    o->generator = make_generator();
    o->table = tal_table_create(NULL);
    check(tal_table_add_column(o->table, "time"), tal_contract_last());
    const double zero = 0.0;
    check(tal_table_add_row(o->table, &zero), tal_contract_last());
    o->atoms = make_atoms();
    o->diagnostics = tal_diagnostics_create(NULL);
    const double times[] = {0.0, 1.0, 2.0}, values[] = {0.0, 1.0, 0.0};
    check(tal_signal_create(NULL, NULL, times, values, 3, 1, &o->signal, &err), &err);
    o->results = run_tool();
    check(tal_threads_create(1, &o->threads, &err), &err); // one: no thread is started
}

// The square of the one unknown.
static tal_status calc_square(void *self, const double x[], double *F)
{
    (void)self;
    *F = x[0] * x[0];
    return TAL_OK;
}

static tal_status calc_slope(void *self, const double x[], double g[])
{
    (void)self;
    g[0] = 2.0 * x[0];
    return TAL_OK;
}

// Fails when two rungs are made: a run of any number of rounds ends in its first one.
static tal_status tire(void *context, tal_state *state, int rung, double kT)
{
    int *calls = context;
    (void)state;
    (void)rung;
    (void)kT;
    return ++*calls > 2 ? TAL_ERR_BAD_VALUE : TAL_OK;
}

// What takes trees only.
static void make_tree_studies(void)
{
    tal_error err;
    hostile_objects *o = &hostile_world;
    const tal_nlp nlp = {
        .num_unknowns = 1, .calc_objective = calc_square, .calc_gradient = calc_slope};
    check(tal_nlp_solver_create(&nlp, NULL, &o->nlp_solver, &err), &err);
    begin_world(&tree);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.1);
    const tal_body_ix body = tal_matter_add_slider(tree.matter, TAL_GROUND, &def);
    (void)tal_forces_add_mobility_spring(tree.forces, NULL, (tal_mobility){body, 0}, 1.0, 0.0);
    finish_world(&tree);
    tal_md_def steps = tal_md_def_default();
    steps.step = 1e-3;
    check(tal_md_create(tree.system, &steps, &o->md, &err), &err);
    const double warmth[2] = {1.0, 2.0};
    static int calls = 0;
    tal_replicas_def rungs = tal_replicas_def_default();
    rungs.md = steps;
    rungs.kT = warmth;
    rungs.num = 2;
    rungs.steps = 2;
    rungs.set = tire;
    rungs.context = &calls;
    check(tal_replicas_create(tree.system, &rungs, tree.at[0], &o->replicas, &err), &err);
    check(tal_minimizer_create(tree.system, NULL, &o->minimizer, &err), &err);
    check(tal_walk_create(tree.system, NULL, &o->walk, &err), &err);
    tal_optimizer_def optimal = tal_optimizer_def_default();
    optimal.intervals = 2;
    optimal.max_iterations = 3;
    check(tal_optimizer_create(tree.system, tree.forces, &optimal, &o->optimizer, &err), &err);
}

static void make_molecules(void);

void hostile_make_worlds(void)
{
    tal_error err;
    (void)tal_contract_set_handler(hostile_count_breach);
    check(tal_mesh_create_sphere(NULL, 0.5, 1, &hostile_world.mesh, &err), &err);
    make_molecules();
    begin_world(&whole);
    add_bodies(&whole);
    add_unilaterals(&whole);
    add_measures(&whole);
    add_constraints(&whole);
    add_forces(&whole);
    hostile_world.molecule =
        tal_mol_add(whole.system, whole.matter, whole.forces, "mol", hostile_world.mol, NULL, NULL);
    finish_world(&whole);
    hostile_world.matter = whole.matter;
    hostile_world.state = whole.at[NUM_STAGES - 1];
    begin_world(&other);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.1);
    tal_collider_def collider = tal_collider_def_default();
    (void)tal_matter_add_collider(other.matter, &collider);
    collider.body = tal_matter_add_slider(other.matter, TAL_GROUND, &def);
    collider.shape = tal_shape_sphere(0.5);
    (void)tal_matter_add_collider(other.matter, &collider);
    (void)tal_fixed_memory_create(other.system);
    finish_world(&other);
    check(tal_hull_create(NULL, &collider.shape, NULL, &hostile_world.hull, &err), &err);
    check(tal_contact_stepper_create(other.system, NULL, &hostile_world.contact_stepper, &err),
          &err);
    tal_fixed_stepper_def steps = tal_fixed_stepper_def_default();
    steps.ignores_colliders = true;
    check(tal_fixed_stepper_create(other.system, &steps, &hostile_world.fixed_stepper, &err), &err);
    check(tal_natural_create(other.matter, other.at[NUM_STAGES - 1], &hostile_world.natural, &err),
          &err);
    check(tal_loops_create(whole.system, whole.at[NUM_STAGES - 1], &hostile_world.loops, &err),
          &err);
    check(tal_velocity_map_create(other.matter, NULL, &hostile_world.velocity_map, &err), &err);
    check(
        tal_natural_solver_create(hostile_world.natural, NULL, &hostile_world.natural_solver, &err),
        &err);
    check(tal_natural_map_create(hostile_world.natural, NULL, &hostile_world.natural_map, &err),
          &err);
    make_objects();
    make_studies();
    make_tree_studies();
    const size_t longest = tal_matter_dense_work_size(whole.matter, whole.at[NUM_STAGES - 1]);
    if (longest > ARRAY_DOUBLES) hostile_stop("a work array is too long");
}

// --- objects ---

static world *take_world(hostile_draw *d)
{
    static world nothing;
    switch (hostile_pick(d, 4)) {
    case 1:
        return &nothing;
    case 2:
        return &other;
    case 3:
        return unfinished();
    default:
        return &whole;
    }
}

static world *take_unfinished(hostile_draw *d)
{
    static world nothing;
    switch (hostile_pick(d, 3)) {
    case 1:
        return &nothing;
    case 2:
        return &whole;
    default:
        return unfinished();
    }
}

const tal_system *take_const_tal_system(hostile_draw *d)
{
    return take_world(d)->system;
}

tal_system *take_tal_system(hostile_draw *d)
{
    return take_unfinished(d)->system;
}

const tal_matter *take_const_tal_matter(hostile_draw *d)
{
    return take_world(d)->matter;
}

tal_matter *take_tal_matter(hostile_draw *d)
{
    return take_unfinished(d)->matter;
}

const tal_forces *take_const_tal_forces(hostile_draw *d)
{
    return take_world(d)->forces;
}

tal_forces *take_tal_forces(hostile_draw *d)
{
    return take_unfinished(d)->forces;
}

const tal_contacts *take_const_tal_contacts(hostile_draw *d)
{
    return tal_system_contacts(take_world(d)->system);
}

const tal_fixed_memory *take_const_tal_fixed_memory(hostile_draw *d)
{
    return tal_system_fixed_memory(take_world(d)->system);
}

const tal_events *take_const_tal_events(hostile_draw *d)
{
    return take_world(d)->events;
}

tal_events *take_tal_events(hostile_draw *d)
{
    return take_unfinished(d)->events;
}

tal_state *take_tal_state(hostile_draw *d)
{
    const int chosen = hostile_pick(d, 2 + NUM_STAGES);
    if (chosen == 1) return NULL;
    const world *w = chosen == 2 ? &other : &whole;
    const int stage = chosen < 3 ? NUM_STAGES - 1 : chosen - 3;
    tal_state *state = w->work[d->states++ % 2];
    if (tal_state_copy(state, w->at[stage]) != TAL_OK) abort();
    return state;
}

// Adopted, so a new one for each call.
tal_function_based *take_tal_function_based(hostile_draw *d)
{
    if (hostile_pick(d, 2) == 1) return NULL;
    tal_function_based *it = NULL;
    tal_function_based_def def = tal_function_based_def_default();
    const double one = 1.0;
    def.nq = 1;
    def.rotation[2].num_coords = 1;
    if (tal_function_create_linear(NULL, &one, 1, 0.0, &def.rotation[2].function, NULL) != TAL_OK ||
        tal_function_based_create(&def, NULL, &it, NULL) != TAL_OK) {
        abort();
    }
    return it;
}

tal_function *take_tal_function(hostile_draw *d)
{
    tal_function *f = NULL;
    const int chosen = hostile_pick(d, 4);
    if (chosen == 1) return NULL;
    if (chosen == 2) return hostile_pick(d, 1) == 0 ? NULL : f;
    if (tal_function_create_sinusoid(NULL, 1.0, 1.0, 0.0, &f, NULL) != TAL_OK) abort();
    if (chosen == 3) { // one that has an owner
        tal_function *sum = NULL;
        if (tal_function_create_sum(NULL, &f, 1, &sum, NULL) != TAL_OK) abort();
    }
    return f;
}

const tal_model *take_const_tal_model(hostile_draw *d)
{
    static tal_model model;
    const int chosen = hostile_pick(d, 7);
    if (chosen == 1) return NULL;
    memset(&model, 0, sizeof model);
    if (chosen == 2) return &model;
    model.system = whole.system;
    model.matter = whole.matter;
    model.forces = whole.forces;
    model.state = whole.at[NUM_STAGES - 1];
    if (chosen == 3) model.matter = NULL;
    if (chosen == 4) model.forces = NULL;
    if (chosen == 5) model.state = NULL;
    if (chosen == 6) model.state = other.at[NUM_STAGES - 1];
    return &model;
}

// One that is not frozen; each call gets its own.
static tal_ff *open_field(void)
{
    tal_ff *ff = NULL;
    tal_ff_class_def bead = tal_ff_class_def_default();
    if (tal_ff_create(NULL, NULL, &ff, NULL) != TAL_OK) abort();
    static const char *const names[] = {"one", "two"};
    for (int i = 0; i < 2; ++i) {
        bead.name = names[i];
        bead.size = 0.3;
        bead.well_depth = 0.5;
        (void)tal_ff_add_class(ff, &bead);
        (void)tal_ff_set_type_mass(ff, tal_ff_add_type(ff, names[i], i, 0.1), 12.0);
    }
    return ff;
}

const tal_ff *take_const_tal_ff(hostile_draw *d)
{
    const int chosen = hostile_pick(d, 3);
    return chosen == 0 ? hostile_world.ff : chosen == 1 ? NULL : open_field();
}

tal_ff *take_tal_ff(hostile_draw *d)
{
    const int chosen = hostile_pick(d, 3);
    return chosen == 0 ? open_field() : chosen == 1 ? NULL : hostile_world.ff;
}

// A ring of three with a tail, not frozen; each call gets its own.
static tal_mol *open_mol(void)
{
    static const int bonds[4][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 3}};
    const tal_vec3 x[4] = {{0.0, 0.0, 0.0}, {0.1, 0.0, 0.0}, {0.0, 0.1, 0.0}, {0.0, 0.2, 0.1}};
    const tal_mol_def def = {.allow_missing = true};
    tal_mol *mol = NULL;
    if (tal_mol_create(hostile_world.ff, &def, NULL, &mol, NULL) != TAL_OK) abort();
    for (int i = 0; i < 4; ++i) {
        (void)tal_mol_add_atom(mol, i % 2, "one", 1, "");
    }
    for (int i = 0; i < 4; ++i) {
        (void)tal_mol_add_bond(mol, bonds[i][0], bonds[i][1], 1);
    }
    (void)tal_mol_set_positions(mol, x, 4);
    (void)tal_mol_add_cluster(mol, "one");
    (void)tal_mol_add_cluster(mol, "two");
    (void)tal_mol_place_atom(mol, 0, 0, x[0]);
    return mol;
}

const tal_mol *take_const_tal_mol(hostile_draw *d)
{
    const int chosen = hostile_pick(d, 3);
    return chosen == 0 ? hostile_world.mol : chosen == 1 ? NULL : open_mol();
}

tal_mol *take_tal_mol(hostile_draw *d)
{
    const int chosen = hostile_pick(d, 3);
    return chosen == 0 ? open_mol() : chosen == 1 ? NULL : hostile_world.mol;
}

const tal_mol_instance *take_const_tal_mol_instance(hostile_draw *d)
{
    return hostile_pick(d, 2) == 0 ? hostile_world.molecule : NULL;
}

static void make_molecules(void)
{
    tal_error err;
    hostile_world.ff = open_field();
    check(tal_ff_freeze(hostile_world.ff, &err), &err);
    hostile_world.mol = open_mol();
    check(tal_mol_freeze(hostile_world.mol, &err), &err);
}
