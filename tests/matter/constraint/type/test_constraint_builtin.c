// Tests of the built-in constraints: matter/src/constraint_*.c against themselves, on random trees.
#include "alloc_guard.h"
#include "constraint_support.h"
#include "tree/matter_internal.h"

static tal_constraint_ix rod(tal_matter *matter, const tal_constraint_def *def, test_rng *rng)
{
    return tal_constraint_add_rod(matter, def, test_random_vec3(rng), test_random_vec3(rng), 0.7);
}

static tal_constraint_ix ball(tal_matter *matter, const tal_constraint_def *def, test_rng *rng)
{
    return tal_constraint_add_ball(matter, def, test_random_vec3(rng), test_random_vec3(rng));
}

static tal_constraint_ix weld(tal_matter *matter, const tal_constraint_def *def, test_rng *rng)
{
    const tal_xform X_1 = test_random_xform(rng), X_2 = test_random_xform(rng);
    return tal_constraint_add_weld(matter, def, &X_1, &X_2);
}

static tal_constraint_ix constant_orientation(tal_matter *matter, const tal_constraint_def *def,
                                              test_rng *rng)
{
    const tal_mat3 R_1 = test_random_rotation(rng), R_2 = test_random_rotation(rng);
    return tal_constraint_add_constant_orientation(matter, def, &R_1, &R_2);
}

static tal_constraint_ix point_in_plane(tal_matter *matter, const tal_constraint_def *def,
                                        test_rng *rng)
{
    return tal_constraint_add_point_in_plane(matter, def, test_random_vec3(rng), 0.3,
                                             test_random_vec3(rng));
}

static tal_constraint_ix point_on_line(tal_matter *matter, const tal_constraint_def *def,
                                       test_rng *rng)
{
    return tal_constraint_add_point_on_line(matter, def, test_random_vec3(rng),
                                            test_random_vec3(rng), test_random_vec3(rng));
}

static tal_constraint_ix constant_angle(tal_matter *matter, const tal_constraint_def *def,
                                        test_rng *rng)
{
    return tal_constraint_add_constant_angle(matter, def, test_random_vec3(rng),
                                             test_random_vec3(rng), 1.0);
}

static tal_constraint_ix no_slip_1d(tal_matter *matter, const tal_constraint_def *def,
                                    test_rng *rng)
{
    return tal_constraint_add_no_slip_1d(matter, def, test_random_vec3(rng), test_random_vec3(rng));
}

static tal_constraint_ix point_on_plane(tal_matter *matter, const tal_constraint_def *def,
                                        test_rng *rng)
{
    const tal_xform plane = test_random_xform(rng);
    return tal_constraint_add_point_on_plane_contact(matter, def, &plane, test_random_vec3(rng));
}

static tal_constraint_ix sphere_on_plane(tal_matter *matter, const tal_constraint_def *def,
                                         test_rng *rng)
{
    const tal_xform plane = test_random_xform(rng);
    const bool rolling = test_random_bits(rng) % 4 != 0;
    return tal_constraint_add_sphere_on_plane_contact(matter, def, &plane, test_random_vec3(rng),
                                                      0.4, rolling);
}

static tal_constraint_ix disk_on_plane(tal_matter *matter, const tal_constraint_def *def,
                                       test_rng *rng)
{
    const tal_xform plane = test_random_xform(rng);
    const bool rolling = test_random_bits(rng) % 4 != 0;
    const tal_vec3 axis = test_random_vec3(rng), center = test_random_vec3(rng);
    return tal_constraint_add_disk_on_plane_contact(matter, def, &plane, center, axis, 0.4,
                                                    rolling);
}

static tal_constraint_ix sphere_on_sphere(tal_matter *matter, const tal_constraint_def *def,
                                          test_rng *rng)
{
    const bool rolling = test_random_bits(rng) % 4 != 0;
    return tal_constraint_add_sphere_on_sphere_contact(matter, def, test_random_vec3(rng), 0.4,
                                                       test_random_vec3(rng), 0.9, rolling);
}

static tal_constraint_ix line_on_line(tal_matter *matter, const tal_constraint_def *def,
                                      test_rng *rng)
{
    const tal_xform X_1 = test_random_xform(rng), X_2 = test_random_xform(rng);
    const bool rolling = test_random_bits(rng) % 4 != 0;
    return tal_constraint_add_line_on_line_contact(matter, def, &X_1, &X_2, rolling);
}

static tal_constraint_ix loop_pin(tal_matter *matter, const tal_constraint_def *def, test_rng *rng)
{
    const tal_xform X_1 = test_random_xform(rng), X_2 = test_random_xform(rng);
    return tal_constraint_add_loop_pin(matter, def, &X_1, &X_2);
}

static tal_constraint_ix loop_slider(tal_matter *matter, const tal_constraint_def *def,
                                     test_rng *rng)
{
    const tal_xform X_1 = test_random_xform(rng), X_2 = test_random_xform(rng);
    return tal_constraint_add_loop_slider(matter, def, &X_1, &X_2);
}

static tal_constraint_ix loop_cylinder(tal_matter *matter, const tal_constraint_def *def,
                                       test_rng *rng)
{
    const tal_xform X_1 = test_random_xform(rng), X_2 = test_random_xform(rng);
    return tal_constraint_add_loop_cylinder(matter, def, &X_1, &X_2);
}

static tal_constraint_ix loop_universal(tal_matter *matter, const tal_constraint_def *def,
                                        test_rng *rng)
{
    const tal_xform X_1 = test_random_xform(rng), X_2 = test_random_xform(rng);
    return tal_constraint_add_loop_universal(matter, def, &X_1, &X_2);
}

static tal_constraint_ix loop_planar(tal_matter *matter, const tal_constraint_def *def,
                                     test_rng *rng)
{
    const tal_xform X_1 = test_random_xform(rng), X_2 = test_random_xform(rng);
    return tal_constraint_add_loop_planar(matter, def, &X_1, &X_2);
}

static tal_constraint_ix loop_screw(tal_matter *matter, const tal_constraint_def *def,
                                    test_rng *rng)
{
    const tal_xform X_1 = test_random_xform(rng), X_2 = test_random_xform(rng);
    return tal_constraint_add_loop_screw(matter, def, &X_1, &X_2, 0.2);
}

// --- constraints on mobilities ---

// The last n mobilities with qdot = u.
static tal_constraint_def some_mobilities(const tal_matter *matter, int n)
{
    tal_constraint_def def = tal_constraint_def_default();
    for (int b = matter->num_bodies - 1; b > 0; --b) {
        if (matter->bodies[b].ops.mul_N != NULL) continue;
        for (int i = 0; i < matter->bodies[b].ops.nu && def.num_mobilities < n; ++i) {
            def.mobilities[def.num_mobilities++] = (tal_mobility){{b}, i};
        }
    }
    return def;
}

static void add_sliders(tal_matter *matter, int n)
{
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    for (int i = 0; i < n; ++i) {
        (void)tal_matter_add_slider(matter, TAL_GROUND, &body);
    }
}

static tal_constraint_ix constant_coordinate(tal_matter *matter, const tal_constraint_def *unused,
                                             test_rng *rng)
{
    (void)unused;
    add_sliders(matter, 1);
    const tal_constraint_def def = some_mobilities(matter, 1);
    return tal_constraint_add_constant_coordinate(matter, &def,
                                                  test_random_uniform(rng, -1.0, 1.0));
}

static tal_constraint_ix constant_speed(tal_matter *matter, const tal_constraint_def *unused,
                                        test_rng *rng)
{
    (void)unused;
    add_sliders(matter, 1);
    const tal_constraint_def def = tal_constraint_on((tal_body_ix){matter->num_bodies - 1}, 0);
    return tal_constraint_add_constant_speed(matter, &def, test_random_uniform(rng, -1.0, 1.0));
}

static tal_constraint_ix constant_acceleration(tal_matter *matter, const tal_constraint_def *unused,
                                               test_rng *rng)
{
    (void)unused;
    add_sliders(matter, 1);
    const tal_constraint_def def = tal_constraint_on((tal_body_ix){matter->num_bodies - 1}, 0);
    return tal_constraint_add_constant_acceleration(matter, &def,
                                                    test_random_uniform(rng, -1.0, 1.0));
}

// sin(a . x + b): every mixed derivative counts.
static tal_function *wave(int num_args)
{
    const double a[] = {0.7, -1.1, 0.4, 0.9}, one = 1.0;
    tal_function *linear = NULL, *sine = NULL, *f = NULL;
    ck_assert_int_eq(tal_function_create_linear(NULL, a, num_args, 0.2, &linear, NULL), TAL_OK);
    ck_assert_int_eq(tal_function_create_sinusoid(NULL, 1.5, one, 0.3, &sine, NULL), TAL_OK);
    ck_assert_int_eq(tal_function_create_composition(NULL, sine, &linear, 1, &f, NULL), TAL_OK);
    return f;
}

static tal_constraint_ix coordinate_coupler(tal_matter *matter, const tal_constraint_def *unused,
                                            test_rng *rng)
{
    (void)unused, (void)rng;
    add_sliders(matter, 1);
    const tal_constraint_def def = some_mobilities(matter, 3);
    return tal_constraint_add_coordinate_coupler(matter, &def, wave(def.num_mobilities));
}

static tal_constraint_ix speed_coupler(tal_matter *matter, const tal_constraint_def *unused,
                                       test_rng *rng)
{
    (void)unused, (void)rng;
    add_sliders(matter, 4);
    const tal_constraint_def def = some_mobilities(matter, 4);
    return tal_constraint_add_speed_coupler(matter, &def, 2, wave(4));
}

static tal_constraint_ix prescribed_motion(tal_matter *matter, const tal_constraint_def *unused,
                                           test_rng *rng)
{
    (void)unused, (void)rng;
    add_sliders(matter, 1);
    const tal_constraint_def def = some_mobilities(matter, 1);
    return tal_constraint_add_prescribed_motion(matter, &def, wave(1));
}

static const struct kind {
    const char *name;
    add_constraint_fn add;
    int num_bodies;
} kinds[] = {
    {"rod", rod, 2},
    {"ball", ball, 2},
    {"weld", weld, 2},
    {"constant orientation", constant_orientation, 2},
    {"point in plane", point_in_plane, 2},
    {"point on line", point_on_line, 2},
    {"constant angle", constant_angle, 2},
    {"no slip 1D", no_slip_1d, 3},
    {"point on plane", point_on_plane, 2},
    {"sphere on plane", sphere_on_plane, 2},
    {"disk on plane", disk_on_plane, 2},
    {"sphere on sphere", sphere_on_sphere, 2},
    {"line on line", line_on_line, 2},
    {"loop pin", loop_pin, 2},
    {"loop slider", loop_slider, 2},
    {"loop cylinder", loop_cylinder, 2},
    {"loop universal", loop_universal, 2},
    {"loop planar", loop_planar, 2},
    {"loop screw", loop_screw, 2},
    {"constant coordinate", constant_coordinate, 0},
    {"constant speed", constant_speed, 0},
    {"constant acceleration", constant_acceleration, 0},
    {"coordinate coupler", coordinate_coupler, 0},
    {"speed coupler", speed_coupler, 0},
    {"prescribed motion", prescribed_motion, 0},
};

enum {
    NUM_KINDS = sizeof kinds / sizeof kinds[0]
};

// A disk that lies almost flat, at sin(tilt) = s between its axis and the normal of the plane: its
// lowest point is at the end of e = up / |up| with |up| = s, whose derivatives grow as n! (v/s)^n.
// The differences of the checker, with steps h = 1e-3 / v, leave h^4 / 480 of the fifth of them, of
// a rate that is of size v / s:
//
//     5! / 480 (h v / s)^4 = (1e-3 / s)^4 / 4
//
// Tree 58 has s = 0.016, for which this is 3.6e-6; trees with s above 0.1 have no more than others.
static double tolerance_of_disk(const random_tree *tree, const tal_constraint_def *def)
{
    const double *params =
        tal_constraint_params(tree->matter, tree->state, (tal_constraint_ix){0}, NULL);
    const double *axis = params + TAL_DISK_ON_PLANE_AXIS;
    const double *normal = params + TAL_DISK_ON_PLANE_FRAME + 6; // the third column of R
    ck_assert_int_eq(tal_system_realize(tree->system, tree->state, TAL_STAGE_POSITION), TAL_OK);
    const tal_mat3 R_1 = tal_body_X_GB(tree->matter, tree->state, def->bodies[0]).R;
    const tal_mat3 R_2 = tal_body_X_GB(tree->matter, tree->state, def->bodies[1]).R;
    const tal_vec3 z = tal_m3_mul_v3(R_1, tal_v3(normal[0], normal[1], normal[2]));
    const tal_vec3 a = tal_m3_mul_v3(R_2, tal_v3(axis[0], axis[1], axis[2]));
    const double s = tal_v3_norm(tal_v3_cross(a, z)) / tal_v3_norm(a);
    return CHECKER_TOLERANCE + pow(1e-3 / s, 4) / 4.0;
}

// perr, verr and aerr are derivatives of each other, forces are the transpose, at states that
// satisfy nothing.
START_TEST(every_table_agrees_with_itself)
{
    const bool is_disk = kinds[_i].add == disk_on_plane;
    check_on_random_trees(kinds[_i].add, kinds[_i].num_bodies, 60,
                          is_disk ? tolerance_of_disk : NULL);
}

// --- forces ---

// Two free bodies on a third that turns on Ground: every equation can be satisfied.
static void build_on_a_turning_base(test_model *model, const struct kind *kind, uint64_t seed)
{
    test_rng rng = test_rng_seed(seed);
    test_model_begin(model);
    model->gravity = tal_v3(0.3, -9.81, 0.7);
    for (int b = 1; b <= 4; ++b) {
        tal_mobod_def body = tal_mobod_def_default();
        body.mass = test_random_mass_props(&rng);
        body.X_PF = test_random_xform(&rng);
        body.X_BM = test_random_xform(&rng);
        if (b == 1) {
            (void)tal_matter_add_ball(model->matter, TAL_GROUND, &body);
        } else {
            (void)tal_matter_add_free(model->matter, (tal_body_ix){1}, &body);
        }
    }
    tal_constraint_def def = tal_constraint_between((tal_body_ix){2}, (tal_body_ix){3});
    def.bodies[2].i = 4;
    const tal_constraint_ix added = kind->add(model->matter, &def, &rng);
    ck_assert_msg(added.i == 0, "%s", tal_system_error(model->system)->message);
    test_model_freeze(model);
    double *q = tal_state_upd_q(model->state), *u = tal_state_upd_u(model->state);
    for (int i = 0; i < tal_state_nq(model->state); ++i) {
        q[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
    for (int j = 0; j < tal_state_nu(model->state); ++j) {
        u[j] = test_random_uniform(&rng, -2.0, 2.0);
    }
}

// Where perr and verr are far from zero and the ancestor turns, aerr is still brought to zero:
// forces are the transpose of G to the last bit of meaning. Multipliers are up to 1e3 here, with
// 1e4 eps.
START_TEST(accelerations_do_what_is_asked_anywhere)
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        test_model model;
        build_on_a_turning_base(&model, &kinds[_i], seed);
        tal_status st = TAL_OK;
        test_assert_no_heap(
            st = tal_system_realize(model.system, model.state, TAL_STAGE_ACCELERATION));
        ck_assert_msg(st == TAL_OK, "%s", tal_state_error(model.state)->message);
        const int rows = tal_state_pool_size(model.state, TAL_POOL_UDOTERR);
        ck_assert_int_ge(rows, 1);
        const double size = fmax(1.0, test_largest(tal_state_udot(model.state), 21));
        ck_assert_double_le(test_largest(tal_state_udoterr(model.state), rows), 1e-11 * size);
        if (kinds[_i].num_bodies > 0) {
            ck_assert_int_eq(tal_constraint_ancestor(model.matter, (tal_constraint_ix){0}).i, 1);
        }
        test_model_end(&model);
    }
}

int main(void)
{
    Suite *suite = suite_create("matter/constraint_builtin");
    TCase *tables = tcase_create("tables");
    tcase_set_timeout(tables, 60.0);
    tcase_add_loop_test(tables, every_table_agrees_with_itself, 0, NUM_KINDS);
    tcase_add_loop_test(tables, accelerations_do_what_is_asked_anywhere, 0, NUM_KINDS);
    suite_add_tcase(suite, tables);
    return test_run(suite);
}
