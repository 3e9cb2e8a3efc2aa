// io/src/opensim/: models written as .osim and read again move as before.
#include "opensim/round_trip.h"
#include "talus_test.h"

#include <float.h>

#define CORPUS TALUS_SOURCE_DIR "/tests/fuzz/corpus_osim/"

// Angles are found from rotations, inertias moved to the mass center and back, degrees made of
// radians: some ulps each; forces of stiff tendons multiply lengths by some thousands.
static const double TOLERANCE = 1e-12;

static void assert_same_after_writing(const tal_model *model, const char *what)
{
    tal_model again;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = round_trip(model, &again, found);
    char line[TAL_DIAGNOSTIC_SIZE] = "";
    for (int i = 0; i < tal_diagnostics_num(found); ++i) {
        const tal_diagnostic *d = tal_diagnostics_at(found, i);
        if (d->severity == TAL_ERROR) (void)tal_diagnostic_text(d, line);
    }
    ck_assert_msg(st == TAL_OK, "%s: %s", what, line);
    const double worst = round_trip_difference(model, &again, 20);
    ck_assert_msg(worst <= TOLERANCE, "%s: %g", what, worst);
    tal_model_destroy(&again);
    tal_diagnostics_destroy(found);
}

START_TEST(files_of_ours_survive)
{
    static const char *const files[] = {"leg_40000.osim", "forces_40000.osim", "muscles_40000.osim",
                                        "rare_40000.osim", "laws_40000.osim"};
    for (int i = 0; i < 5; ++i) {
        char path[500];
        tal_model model;
        (void)snprintf(path, sizeof path, "%s%s", CORPUS, files[i]);
        ck_assert_int_eq(tal_osim_read_file(path, NULL, &model, NULL), TAL_OK);
        assert_same_after_writing(&model, files[i]);
        tal_model_destroy(&model);
    }
}

END_TEST

// --- random models ---

typedef struct maker {
    test_rng rng;
    tal_model model;
    int num; // bodies, Ground among them
} maker;

static int pick(maker *m, int n)
{
    return (int)test_random_uniform(&m->rng, 0.0, (double)n - 1e-9);
}

static double number(maker *m, double low, double high)
{
    return test_random_uniform(&m->rng, low, high);
}

static tal_vec3 point(maker *m)
{
    return tal_v3_scale(0.3, test_random_vec3(&m->rng));
}

static tal_xform frame(maker *m)
{
    return (tal_xform){test_random_rotation(&m->rng), point(m)};
}

static tal_body_ix some_body(maker *m)
{
    return (tal_body_ix){pick(m, m->num)};
}

// A curve through four points, or a line, times a factor.
static tal_function *curve(maker *m)
{
    const double x[] = {-2.0, -0.5, 0.4, 2.0};
    double y[4];
    tal_function *f = NULL, *outer = NULL, *both = NULL;
    for (int i = 0; i < 4; ++i) {
        y[i] = number(m, -0.5, 0.5);
    }
    const int kind = pick(m, 4);
    if (kind == 0) {
        ck_assert_int_eq(tal_function_create_spline(NULL, x, y, 4, TAL_SPLINE_SIMM, &f, NULL), 0);
    } else if (kind == 1) {
        ck_assert_int_eq(tal_function_create_spline(NULL, x, y, 4, TAL_SPLINE_NATURAL, &f, NULL),
                         0);
    } else if (kind == 2) {
        ck_assert_int_eq(tal_function_create_quintic_spline(NULL, x, y, 4, &f, NULL), 0);
    } else {
        ck_assert_int_eq(tal_function_create_polynomial(NULL, y, 4, &f, NULL), 0);
    }
    if (pick(m, 2) == 0) return f;
    const double scale = number(m, 0.5, 2.0);
    ck_assert_int_eq(tal_function_create_linear(NULL, &scale, 1, 0.0, &outer, NULL), 0);
    ck_assert_int_eq(tal_function_create_composition(NULL, outer, &f, 1, &both, NULL), 0);
    return both;
}

static tal_function_based *custom(maker *m)
{
    tal_function_based_def def = tal_function_based_def_default();
    tal_function_based *made = NULL;
    tal_error err;
    def.nq = 1 + pick(m, 2);
    for (int k = 0; k < 6; ++k) {
        tal_mobilizer_function *term = k < 3 ? &def.rotation[k] : &def.translation[k - 3];
        if (k >= def.nq && pick(m, 2) == 0) continue;
        term->num_coords = 1;
        term->coords[0] = k < def.nq ? k : pick(m, def.nq);
        if (k < def.nq) {
            const double slope = pick(m, 2) == 0 ? 1.0 : -1.0;
            ck_assert_int_eq(
                tal_function_create_linear(NULL, &slope, 1, 0.0, &term->function, NULL), 0);
        } else {
            term->function = curve(m);
        }
    }
    const tal_status st = tal_function_based_create(&def, NULL, &made, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return made;
}

static void add_body(maker *m, int i)
{
    static const tal_mobilizer_ops *(*const kinds[])(void) = {
        tal_mobilizer_pin,       tal_mobilizer_slider,   tal_mobilizer_universal,
        tal_mobilizer_gimbal,    tal_mobilizer_ball,     tal_mobilizer_planar,
        tal_mobilizer_free,      tal_mobilizer_cylinder, tal_mobilizer_translation,
        tal_mobilizer_ellipsoid, tal_mobilizer_bushing,  tal_mobilizer_weld};
    tal_mobod_def def = tal_mobod_def_default();
    char name[20];
    (void)snprintf(name, sizeof name, "body%d", i);
    def.name = name;
    def.mass = test_random_mass_props(&m->rng);
    def.X_PF = frame(m);
    def.X_BM = frame(m);
    def.use_angles = true;
    def.direction = pick(m, 3) == 0 ? TAL_REVERSE : TAL_FORWARD;
    const int kind = pick(m, 15);
    const tal_body_ix parent = some_body(m);
    tal_body_ix body;
    if (kind >= 12) {
        tal_function_based *made = custom(m);
        body = tal_matter_add_mobilizer(m->model.matter, parent, &def, tal_function_based_ops(made),
                                        made, NULL);
    } else {
        const double radii[] = {0.1, 0.2, 0.15};
        body = tal_matter_add_mobilizer(m->model.matter, parent, &def, kinds[kind](), NULL,
                                        kind == 9 ? radii : NULL);
    }
    ck_assert_int_eq(body.i, m->num);
    m->num += 1;
    const int nu = tal_body_nu(m->model.matter, body);
    double q[6], u[6];
    for (int k = 0; k < nu; ++k) {
        q[k] = number(m, -0.4, 0.4);
        u[k] = number(m, -1.0, 1.0);
        char coordinate[32];
        (void)snprintf(coordinate, sizeof coordinate, "q%d_of_%d", k, i);
        if (pick(m, 2) == 0) {
            (void)tal_body_name_coordinate(m->model.matter, body, k, coordinate);
        }
        if (pick(m, 3) == 0) (void)tal_body_limit_coordinate(m->model.matter, body, k, -3.0, 2.0);
    }
    if (nu == 0) return;
    (void)tal_body_set_initial_q(m->model.matter, body, q, nu);
    (void)tal_body_set_initial_u(m->model.matter, body, u, nu);
}

// A mobility of some body; the first body is a pin.
static tal_mobility some_mobility(maker *m)
{
    for (int tries = 0; tries < 20; ++tries) {
        const tal_body_ix body = some_body(m);
        const int nu = body.i > 0 ? tal_body_nu(m->model.matter, body) : 0;
        if (nu > 0) return (tal_mobility){body, pick(m, nu)};
    }
    return (tal_mobility){{1}, 0};
}

static tal_path_ix add_path(maker *m, const char *name)
{
    tal_forces *forces = m->model.forces;
    const tal_path_ix path = tal_forces_add_path(forces, name);
    (void)tal_path_add_point(forces, path, some_body(m), point(m));
    for (int k = pick(m, 3); k > 0; --k) {
        if (pick(m, 2) == 0) {
            (void)tal_path_add_conditional_point(forces, path, some_body(m), point(m),
                                                 some_mobility(m), -0.6, number(m, -0.5, 0.5));
        } else {
            const tal_mobility one = some_mobility(m);
            const tal_mobility at[] = {one, one, one};
            tal_function *f[] = {curve(m), pick(m, 2) == 0 ? curve(m) : NULL, NULL};
            const tal_xform X = pick(m, 2) == 0 ? TAL_XFORM_IDENTITY : frame(m);
            (void)tal_path_add_moving_point(forces, path, some_body(m), &X, at, f);
        }
    }
    (void)tal_path_add_point(forces, path, some_body(m), point(m));
    for (int k = pick(m, tal_forces_num_wraps(forces) + 1) - 1; k >= 0; k -= 1 + pick(m, 2)) {
        const int n = tal_path_num_points(forces, path), first = pick(m, n - 1);
        (void)tal_path_add_wrap(forces, path, (tal_wrap_ix){k}, first,
                                first + 1 + pick(m, n - 1 - first));
    }
    return path;
}

static void add_wraps(maker *m)
{
    for (int i = pick(m, 3); i >= 0; --i) {
        const double r = number(m, 0.01, 0.05);
        const tal_xform X = frame(m);
        const int kind = pick(m, 4);
        tal_wrap wrap = kind == 0   ? tal_wrap_cylinder(r, number(m, 0.1, 0.4))
                        : kind == 1 ? tal_wrap_sphere(r)
                        : kind == 2 ? tal_wrap_ellipsoid(tal_v3(r, 1.3 * r, 0.8 * r))
                                    : tal_wrap_torus(r, 0.3 * r);
        if (kind < 2) wrap.side = (tal_wrap_side)pick(m, 5);
        (void)tal_forces_add_wrap(m->model.forces, NULL, some_body(m), &X, &wrap);
    }
}

static tal_force_ix add_muscle(maker *m, const char *name)
{
    tal_muscle_def def = tal_muscle_def_default((tal_muscle_model)pick(m, 3));
    def.path = add_path(m, name);
    def.max_force = number(m, 100.0, 1000.0);
    def.fiber_length = number(m, 0.05, 0.2);
    def.tendon_length = number(m, 0.05, 0.3);
    def.pennation = number(m, 0.0, 0.4);
    def.max_speed = number(m, 8.0, 12.0);
    def.rigid_tendon = pick(m, 3) == 0;
    if (pick(m, 3) == 0) def.activation = TAL_ACTIVATION_NONE;
    def.initial_activation = number(m, 0.05, 0.9);
    def.min_control = 0.02;
    if (def.model != TAL_MUSCLE_THELEN) def.damping = number(m, 0.01, 0.1);
    def.thelen.tendon_strain = number(m, 0.03, 0.05);
    def.thelen.eccentric = number(m, 1.3, 1.8);
    def.millard.tendon_strain = number(m, 0.03, 0.06);
    def.millard.passive_curviness = number(m, 0.6, 0.8);
    def.degroote.active_width = number(m, 0.9, 1.2);
    return tal_forces_add_muscle(m->model.forces, name, &def);
}

static void add_contact(maker *m, const char *name)
{
    tal_contact_def def = tal_contact_def_default();
    def.friction = TAL_CONTACT_HOLLARS;
    const tal_force_ix contact = tal_forces_add_contact(m->model.forces, name, &def);
    for (int i = 0; i < 2; ++i) {
        tal_contact_surface_def surface = tal_contact_surface_def_default();
        surface.body = i == 0 ? TAL_GROUND : (tal_body_ix){m->num - 1};
        surface.X_BS = frame(m);
        if (i == 1) surface.shape = tal_shape_sphere(number(m, 0.1, 0.3));
        surface.material.stiffness = number(m, 1e4, 1e5);
        surface.material.static_friction = 0.8;
        surface.material.dynamic_friction = number(m, 0.1, 0.7);
        (void)tal_contact_add_surface(m->model.forces, contact, &surface);
    }
}

static tal_force_ix add_actuator(maker *m, const char *name, int kind)
{
    static const tal_measure_ix none = {-1};
    tal_forces *forces = m->model.forces;
    const double gain = number(m, 1.0, 10.0);
    if (kind == 0) {
        return tal_forces_add_mobility_actuator(forces, name, some_mobility(m), gain, none);
    }
    if (kind == 1) {
        const tal_push push = {.body = some_body(m),
                               .p_BS = point(m),
                               .direction = test_random_unit(&m->rng),
                               .in_body = pick(m, 2) == 0,
                               .point_in_ground = pick(m, 2) == 0};
        return tal_forces_add_point_actuator(forces, name, &push, gain, none);
    }
    if (kind == 2) {
        const tal_twist twist = {.body1 = TAL_GROUND,
                                 .body2 = (tal_body_ix){m->num - 1},
                                 .axis = test_random_unit(&m->rng),
                                 .in_ground = pick(m, 2) == 0};
        return tal_forces_add_torque_actuator(forces, name, &twist, gain, none);
    }
    return tal_forces_add_path_actuator(forces, name, add_path(m, name), gain, none);
}

// One force of any kind; `i` >= 0 of those that can be driven.
static tal_force_ix add_force(maker *m, int i)
{
    tal_forces *forces = m->model.forces;
    char name[20];
    (void)snprintf(name, sizeof name, "force%d", i);
    const tal_two_points points = {some_body(m), point(m), (tal_body_ix){m->num - 1}, point(m)};
    const tal_limit limit = {.lower = -0.2,
                             .upper = 0.1,
                             .lower_stiffness = number(m, 10.0, 20.0),
                             .upper_stiffness = number(m, 10.0, 20.0),
                             .damping = 0.5,
                             .transition = 0.1};
    tal_bushing_def bushing = tal_bushing_def_default();
    tal_prescribed_force_def prescribed = tal_prescribed_force_def_default();
    switch (pick(m, 13)) {
    case 0:
        (void)tal_forces_add_two_point_spring(forces, name, &points, number(m, 1.0, 50.0), 0.2);
        break;
    case 1:
        (void)tal_forces_add_mobility_spring(forces, name, some_mobility(m), 3.0, 0.1);
        break;
    case 2:
        (void)tal_forces_add_mobility_damper(forces, name, some_mobility(m), number(m, 0.1, 2.0));
        break;
    case 3:
        (void)tal_forces_add_mobility_limit(forces, name, some_mobility(m), &limit);
        break;
    case 4:
        bushing.body1 = points.body1;
        bushing.body2 = points.body2;
        bushing.X_B1F = frame(m);
        bushing.X_B2M = frame(m);
        for (int k = 0; k < 6; ++k) {
            bushing.stiffness[k] = number(m, 1.0, 10.0);
            bushing.damping[k] = number(m, 0.1, 1.0);
        }
        (void)tal_forces_add_bushing(forces, name, &bushing);
        break;
    case 5:
        prescribed.body = points.body2;
        prescribed.point_frame = prescribed.body;
        prescribed.force[pick(m, 3)] = curve(m);
        prescribed.torque[pick(m, 3)] = curve(m);
        (void)tal_forces_add_prescribed_force(forces, name, &prescribed);
        break;
    case 6:
        (void)tal_forces_add_path_spring(forces, name, add_path(m, name), 40.0, 0.1, 0.2);
        break;
    case 7:
        (void)tal_forces_add_ligament(forces, name, add_path(m, name), 30.0, 0.2,
                                      pick(m, 2) == 0 ? curve(m) : NULL);
        break;
    case 8:
        add_contact(m, name);
        break;
    case 9:
    case 10:
        return add_muscle(m, name);
    default:
        return add_actuator(m, name, pick(m, 4));
    }
    return (tal_force_ix){-1};
}

static void add_constraint(maker *m)
{
    const tal_constraint_def def = tal_constraint_between(TAL_GROUND, (tal_body_ix){m->num - 1});
    const tal_xform X = frame(m), Y = frame(m);
    switch (pick(m, 6)) {
    case 0:
        (void)tal_constraint_add_rod(m->model.matter, &def, X.p, Y.p, 0.5);
        break;
    case 1:
        (void)tal_constraint_add_ball(m->model.matter, &def, X.p, Y.p);
        break;
    case 2:
        (void)tal_constraint_add_weld(m->model.matter, &def, &X, &Y);
        break;
    case 3:
        (void)tal_constraint_add_point_on_line(m->model.matter, &def, X.R.x, X.p, Y.p);
        break;
    default:
        break;
    }
}

static void add_controller(maker *m, tal_force_ix driven)
{
    const double t[] = {0.0, 0.5, 1.0}, x[] = {0.3, 0.4, 0.2};
    tal_function *f = NULL;
    switch (pick(m, 4)) {
    case 0:
        f = curve(m);
        break;
    case 1:
        ck_assert_int_eq(tal_function_create_nodes(NULL, t, x, 3, (tal_nodes)pick(m, 2), &f, NULL),
                         0);
        break;
    case 2:
        if (tal_force_is_muscle(m->model.forces, driven)) {
            (void)tal_forces_add_reflex(m->model.forces, NULL, driven, 0.3);
        }
        return;
    default:
        return;
    }
    (void)tal_forces_add_function_controller(m->model.forces, NULL, &driven, &f, 1);
}

// A model of up to six bodies with as many forces.
static void make_model(maker *m)
{
    tal_error err;
    m->model = (tal_model){.system = tal_system_create(NULL)};
    m->model.matter = tal_matter_create(m->model.system);
    m->model.forces = tal_forces_create(m->model.system, m->model.matter);
    (void)tal_forces_add_gravity(m->model.forces, tal_v3(0.3, -9.8, 0.1));
    tal_mobod_def pin = tal_mobod_def_default();
    pin.name = "body0";
    pin.mass = test_random_mass_props(&m->rng);
    (void)tal_matter_add_pin(m->model.matter, TAL_GROUND, &pin);
    m->num = 2;
    for (int i = 1 + pick(m, 5); i > 0; --i) {
        add_body(m, i);
    }
    add_constraint(m);
    add_wraps(m);
    for (int i = 1 + pick(m, 6); i > 0; --i) {
        const tal_force_ix driven = add_force(m, i);
        if (driven.i >= 0) add_controller(m, driven);
    }
    tal_status st = tal_system_realize_topology(m->model.system, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(m->model.system, &m->model.state, &err), TAL_OK);
    st = tal_system_realize(m->model.system, m->model.state, TAL_STAGE_MODEL);
    ck_assert_int_eq(st, TAL_OK);
    if (pick(m, 3) == 0) {
        (void)tal_mobility_lock(m->model.matter, m->model.state, (tal_mobility){{1}, 0},
                                TAL_LEVEL_POSITION);
        st = tal_system_realize(m->model.system, m->model.state, TAL_STAGE_MODEL);
        ck_assert_int_eq(st, TAL_OK);
    }
}

START_TEST(random_models_survive)
{
    for (int i = 0; i < 50; ++i) {
        maker m = {.rng = test_rng_seed((uint64_t)(1000 + i))};
        char what[40];
        make_model(&m);
        (void)snprintf(what, sizeof what, "model %d", i);
        assert_same_after_writing(&m.model, what);
        tal_model_destroy(&m.model);
    }
}

END_TEST

// --- couplers ---

// f of one coordinate out of `n`, q_k.
static tal_function *of_one(tal_function *f, int k, int n)
{
    double slopes[TAL_FUNCTION_MAX_ARGS] = {0.0};
    tal_function *one = NULL, *both = NULL;
    slopes[k] = 1.0;
    ck_assert_int_eq(tal_function_create_linear(NULL, slopes, n, 0.0, &one, NULL), TAL_OK);
    ck_assert_int_eq(tal_function_create_composition(NULL, f, &one, 1, &both, NULL), TAL_OK);
    return both;
}

// -q_k out of `n`.
static tal_function *minus_one(int k, int n)
{
    double slopes[TAL_FUNCTION_MAX_ARGS] = {0.0};
    tal_function *f = NULL;
    slopes[k] = -1.0;
    ck_assert_int_eq(tal_function_create_linear(NULL, slopes, n, 0.0, &f, NULL), TAL_OK);
    return f;
}

// What a coupler of three coordinates says: lines that are solved for the last one that counts, or
// a curve of one coordinate less another one, in either order.
static tal_function *coupling_of(maker *m, int kind)
{
    static const double slopes[3][3] = {{0.5, -0.3, -1.0}, {2.0, -1.0, 0.0}, {0.0, 0.4, -1.0}};
    tal_function *f = NULL, *parts[2];
    if (kind < 3) {
        ck_assert_int_eq(tal_function_create_linear(NULL, slopes[kind], 3, 0.2, &f, NULL), TAL_OK);
        return f;
    }
    const int given = kind % 3, from = (given + 1 + kind / 3 % 2) % 3;
    parts[kind % 2] = of_one(curve(m), from, 3);
    parts[1 - kind % 2] = minus_one(given, 3);
    ck_assert_int_eq(tal_function_create_sum(NULL, parts, 2, &f, NULL), TAL_OK);
    return f;
}

START_TEST(couplers_survive)
{
    for (int kind = 0; kind < 15; ++kind) {
        maker m = {.rng = test_rng_seed((uint64_t)(40 + kind))};
        char what[40];
        tal_error err;
        m.model = (tal_model){.system = tal_system_create(NULL)};
        m.model.matter = tal_matter_create(m.model.system);
        m.model.forces = tal_forces_create(m.model.system, m.model.matter);
        (void)tal_forces_add_gravity(m.model.forces, tal_v3(0.3, -9.8, 0.1));
        tal_constraint_def coupler = tal_constraint_def_default();
        coupler.num_mobilities = 3;
        tal_body_ix parent = TAL_GROUND;
        for (int i = 0; i < 3; ++i) {
            tal_mobod_def pin = tal_mobod_def_default();
            pin.mass = test_random_mass_props(&m.rng);
            pin.X_PF = frame(&m);
            parent = tal_matter_add_pin(m.model.matter, parent, &pin);
            coupler.mobilities[i].body = parent;
        }
        (void)tal_constraint_add_coordinate_coupler(m.model.matter, &coupler,
                                                    coupling_of(&m, kind));
        const tal_status st = tal_system_realize_topology(m.model.system, &err);
        ck_assert_msg(st == TAL_OK, "%s", err.message);
        ck_assert_int_eq(tal_state_create(m.model.system, &m.model.state, &err), TAL_OK);
        ck_assert_int_eq(tal_system_realize(m.model.system, m.model.state, TAL_STAGE_MODEL),
                         TAL_OK);
        (void)snprintf(what, sizeof what, "coupler %d", kind);
        assert_same_after_writing(&m.model, what);
        tal_model_destroy(&m.model);
    }
}

END_TEST

// --- what is kept, what is refused ---

// A free body by a quaternion becomes one by angles: the same pose.
START_TEST(a_quaternion_becomes_angles)
{
    test_rng rng = test_rng_seed(5);
    tal_model model = {.system = tal_system_create(NULL)}, again;
    model.matter = tal_matter_create(model.system);
    model.forces = tal_forces_create(model.system, model.matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "b";
    def.mass = test_random_mass_props(&rng);
    const tal_body_ix b = tal_matter_add_free(model.matter, TAL_GROUND, &def);
    const double q[] = {0.8, 0.2, -0.3, 0.4, 1.0, 2.0, 3.0};
    ck_assert_int_eq(tal_body_set_initial_q(model.matter, b, q, 7), TAL_OK);
    ck_assert_int_eq(tal_system_realize_topology(model.system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(model.system, &model.state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(model.system, model.state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_int_eq(round_trip(&model, &again, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_nq(again.state), 6);
    ck_assert_int_eq(tal_system_realize(again.system, again.state, TAL_STAGE_POSITION), TAL_OK);
    const tal_xform X = tal_body_X_GB(model.matter, model.state, b),
                    Y = tal_body_X_GB(again.matter, again.state, b);
    test_assert_m3_near(X.R, Y.R, 1e-15);
    test_assert_near(&X.p.x, &Y.p.x, 3, 1e-15, "p");
    tal_model_destroy(&model);
    tal_model_destroy(&again);
}

END_TEST

// Names of joints, coordinates, muscles and markers are those of the file it was read from.
START_TEST(names_are_kept)
{
    static char text[200000];
    size_t length = 0;
    tal_model model;
    ck_assert_int_eq(tal_osim_read_file(CORPUS "muscles_40000.osim", NULL, &model, NULL), TAL_OK);
    ck_assert_int_eq(tal_osim_write_memory(&model, text, sizeof text, &length, NULL), TAL_OK);
    ck_assert_uint_lt(length, sizeof text);
    ck_assert_uint_eq(strlen(text), length);
    static const char *const parts[] = {"<PinJoint name=\"elbow_joint\">",
                                        "<Coordinate name=\"bend\">",
                                        "<Millard2012EquilibriumMuscle name=\"triceps\">",
                                        "<Marker name=\"hand\">",
                                        "<WrapTorus name=\"ring\">",
                                        "/jointset/elbow_joint/bend",
                                        "<ToyReflexController"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        ck_assert_msg(strstr(text, parts[i]) != NULL, "%s", parts[i]);
    }
    tal_model_destroy(&model);
}

END_TEST

START_TEST(what_opensim_cannot_say_is_refused_by_name)
{
    static const char text[] =
        "<talus version='1'><bodies><pin name='a' mass='1' inertia='1 1 1' com='0 0 0'>"
        "<coordinate name='an angle'/></pin>"
        "<screw name='s' pitch='0.1' mass='1' inertia='1 1 1'/></bodies>"
        "<constraints><constant_speed name='c' mobility='a:0' value='1'/></constraints>"
        "<forces><two_point_damper name='d' body2='a' station2='1 0 0' damping='1'/>"
        "<mobility_actuator name='m' mobility='a:0' gain='1' control='3'/></forces>"
        "<measures><kinetic_energy name='k'/></measures></talus>";
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status read = tal_model_read_memory("m", text, sizeof text - 1, NULL, &model, found);
    ck_assert_msg(read == TAL_OK, "%s",
                  tal_diagnostics_num(found) > 0 ? tal_diagnostics_at(found, 0)->message : "");
    ck_assert_int_eq(tal_osim_write_memory(&model, NULL, 0, NULL, found), TAL_ERR_BAD_VALUE);
    static const char *const sentences[] = {
        "1 measure is left out: .osim files have none",
        "coordinate 'an angle' has a blank in its name, which lists of OpenSim cannot hold",
        "body 's' has the mobilizer 'screw', which cannot be said in an .osim file",
        "constraint 'c' is of kind 'constant speed', which cannot be said in an .osim file",
        "force 'd' is of kind 'two-point damper', which cannot be said in an .osim file",
        "actuator 'm' has a control of 3 that a program has set; use a controller"};
    ck_assert_int_eq(tal_diagnostics_num(found), 6);
    for (int i = 0; i < 6; ++i) {
        ck_assert_str_eq(tal_diagnostics_at(found, i)->message, sentences[i]);
    }
    tal_diagnostics_destroy(found);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(broken_contracts_are_reported)
{
    tal_model model = {.system = NULL};
    test_record_breaches();
    test_assert_breach(
        ck_assert_int_eq(tal_osim_write_memory(&model, NULL, 0, NULL, NULL), TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL in it");
    test_assert_breach(ck_assert_int_eq(tal_osim_write_file(&model, NULL, NULL), TAL_ERR_NULL),
                       TAL_ERR_NULL, "the name");
    (void)tal_contract_set_handler(NULL);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/osim_write");
    TCase *tc = tcase_create("osim_write");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, files_of_ours_survive);
    tcase_add_test(tc, random_models_survive);
    tcase_add_test(tc, couplers_survive);
    tcase_add_test(tc, a_quaternion_becomes_angles);
    tcase_add_test(tc, names_are_kept);
    tcase_add_test(tc, what_opensim_cannot_say_is_refused_by_name);
    tcase_add_test(tc, broken_contracts_are_reported);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
