// matter/src/operator/op_simplify.c: what mobilizers do not feel may belong to the parent (entries
// 9.16 to 9.18 of the inventory of RBDA), and augmented bodies.
#include "op_support.h"

#include <talus/matter/simplify.h>

// M v and inverse dynamics at a State.
static void look(const random_tree *tree, tal_state *state, const double v[], const double udot[],
                 double Mv[], double f[])
{
    random_tree_realize(tree, state, TAL_STAGE_VELOCITY);
    must(state, tal_matter_mul_M(tree->matter, state, v, Mv));
    must(state, tal_matter_inverse_dynamics(tree->matter, state, udot, NULL, NULL, f));
}

// Terms are of the size of the forces of a body at rest on its own, of which there are as many as
// bodies, each with a hundred operations: 1e4 eps of the largest number for trees of 20.
START_TEST(motion_stays_as_it_is_on_any_tree)
{
    test_rng rng = test_rng_seed(971);
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        random_tree_def def = random_tree_def_default(seed);
        def.num_bodies = 20;
        def.chain = seed % 3 == 0;
        random_tree tree = random_tree_create(&def);
        const int n = tree.nu;
        tal_state *simple = NULL;
        ck_assert_int_eq(tal_state_create(tree.system, &simple, NULL), TAL_OK);
        ck_assert_int_eq(tal_state_copy(simple, tree.state), TAL_OK);
        tal_simplification found;
        must(simple, tal_matter_simplify_inertias(tree.matter, simple, NULL, &found));
        ck_assert_int_gt(found.num_changed, 8);
        ck_assert_int_le(found.rank_after, found.rank_before - 4);
        ck_assert_double_le(found.error, 1e4 * DBL_EPSILON);
        double v[200], udot[200], Mv[2][200], f[2][200];
        ck_assert_int_le(n, 200);
        for (int k = 0; k < 3; ++k) {
            random_tree_shake(&tree, tree.state, &rng);
            ck_assert_int_eq(
                tal_state_set_q(simple, tal_state_q(tree.state), tal_state_nq(tree.state)), TAL_OK);
            ck_assert_int_eq(tal_state_set_u(simple, tal_state_u(tree.state), n), TAL_OK);
            for (int i = 0; i < n; ++i) {
                v[i] = test_random_uniform(&rng, -1.0, 1.0);
                udot[i] = test_random_uniform(&rng, -1.0, 1.0);
            }
            look(&tree, tree.state, v, udot, Mv[0], f[0]);
            look(&tree, simple, v, udot, Mv[1], f[1]);
            test_assert_near(Mv[1], Mv[0], n, 1e4 * DBL_EPSILON * test_largest(Mv[0], n), "M v");
            test_assert_near(f[1], f[0], n, 1e4 * DBL_EPSILON * test_largest(f[0], n), "f");
        }
        tal_simplification again; // nothing more is found, only round-off of its own
        must(simple, tal_matter_simplify_inertias(tree.matter, simple, NULL, &again));
        ck_assert_int_eq(again.rank_before, found.rank_after);
        ck_assert_int_eq(again.rank_after, found.rank_after);
        tal_state_destroy(simple);
        random_tree_destroy(&tree);
    }
}

END_TEST

// --- one body of each kind ---

typedef tal_body_ix (*adder)(tal_matter *matter, tal_body_ix parent, const tal_mobod_def *def);

typedef struct pair {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_body_ix base, body;
} pair;

static pair begin_pair(adder add, const tal_mobod_def *def)
{
    pair p = {.system = tal_system_create(NULL)};
    p.matter = tal_matter_create(p.system);
    tal_mobod_def base = tal_mobod_def_default();
    base.mass = tal_mass_props_brick(5.0, tal_v3(0.1, 0.2, 0.3));
    p.base = tal_matter_add_free(p.matter, TAL_GROUND, &base);
    p.body = add(p.matter, p.base, def);
    ck_assert_int_eq(tal_system_realize_topology(p.system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(p.system, &p.state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(p.system, p.state, TAL_STAGE_INSTANCE), TAL_OK);
    return p;
}

static void end_pair(pair *p)
{
    tal_state_destroy(p->state);
    tal_system_destroy(p->system);
}

// A rod of length L on a pin at its end resists as three quarters of its mass at 2 L / 3, center
// of percussion; the fourth is at the pin.
START_TEST(a_rod_on_a_pin_is_its_center_of_percussion)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = (tal_mass_props){2.0, {0.9, 0.0, 0.0}, tal_s3_diag(0.0, 2.16, 2.16)}; // L = 1.8
    def.X_PF = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    pair p = begin_pair(tal_matter_add_pin, &def);
    tal_simplification found;
    must(p.state, tal_matter_simplify_inertias(p.matter, p.state, NULL, &found));
    ck_assert_int_eq(found.num_changed, 1);
    ck_assert_int_eq(found.rank_before, 4 + 2);
    ck_assert_int_eq(found.rank_after, 4 + 1);
    const tal_mass_props rod = tal_body_mass_props(p.matter, p.state, p.body);
    ck_assert_double_eq_tol(rod.mass, 1.5, 1e-15);
    test_assert_v3_near(rod.com, tal_v3(1.2, 0.0, 0.0), 1e-15);
    ck_assert_double_eq_tol(rod.inertia.yy, 2.16, 1e-15);
    const tal_mass_props base = tal_body_mass_props(p.matter, p.state, p.base);
    ck_assert_double_eq_tol(base.mass, 5.5, 1e-15);
    test_assert_v3_near(base.com, tal_v3(0.0, 0.5 / 5.5, 0.0), 1e-16);
    ck_assert_double_eq(found.mass_to_ground, 0.0);
    end_pair(&p);
}

END_TEST

// What is left of a brick: nothing behind a weld, a point behind a slider, a flat body behind a
// ball, whose mass there is least.
START_TEST(what_is_left_depends_on_the_mobilizer)
{
    const struct {
        adder add;
        int rank;
    } all[] = {{tal_matter_add_weld, 0},   {tal_matter_add_slider, 1},
               {tal_matter_add_pin, 2},    {tal_matter_add_translation, 1},
               {tal_matter_add_ball, 3},   {tal_matter_add_gimbal, 3},
               {tal_matter_add_planar, 3}, {tal_matter_add_universal, 3},
               {tal_matter_add_free, 4},   {tal_matter_add_cylinder, 3}};

    tal_mobod_def def = tal_mobod_def_default();
    const tal_mass_props brick = tal_mass_props_brick(2.0, tal_v3(0.4, 0.3, 0.2));
    tal_xform X = tal_xf_from_p(tal_v3(0.3, -0.2, 0.5));
    X.R = tal_rotation_about(TAL_AXIS_X, 0.4);
    def.mass = tal_mass_props_transform(&X, &brick);
    def.X_BM = tal_xf_from_p(tal_v3(0.1, 0.1, -0.1));
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) {
        pair p = begin_pair(all[k].add, &def);
        tal_simplification found;
        must(p.state, tal_matter_simplify_inertias(p.matter, p.state, NULL, &found));
        const tal_mass_props left = tal_body_mass_props(p.matter, p.state, p.body);
        ck_assert_int_eq(tal_mass_props_rank(&left), all[k].rank);
        ck_assert_int_eq(found.num_changed, all[k].rank < 4 ? 1 : 0);
        ck_assert_double_eq(tal_mass_props_excess(&left), 0.0);
        const tal_mass_props base = tal_body_mass_props(p.matter, p.state, p.base);
        ck_assert_double_eq_tol(base.mass + left.mass, 7.0, 1e-14);
        end_pair(&p);
    }
}

END_TEST

// A ball about the mass center: hardly any mass would be left, with all of the inertia.
START_TEST(a_body_is_not_left_without_mass)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(2.0, tal_v3(0.4, 0.3, 0.2));
    pair p = begin_pair(tal_matter_add_ball, &def);
    tal_simplification found;
    must(p.state, tal_matter_simplify_inertias(p.matter, p.state, NULL, &found));
    ck_assert_int_eq(found.num_changed, 0);
    ck_assert_double_eq(tal_body_mass_props(p.matter, p.state, p.body).mass, 2.0);
    end_pair(&p);
}

END_TEST

START_TEST(structures_and_odd_inertias_stay)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.structure = TAL_BODY_PARTICLE;
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    pair p = begin_pair(tal_matter_add_weld, &def);
    tal_simplification found;
    must(p.state, tal_matter_simplify_inertias(p.matter, p.state, NULL, &found));
    ck_assert_int_eq(found.num_changed, 0);
    end_pair(&p);
    def = tal_mobod_def_default();
    def.any_inertia = true;
    def.mass = (tal_mass_props){1.0, TAL_VEC3_ZERO, tal_s3_diag(0.066, 0.086, 0.0125)};
    p = begin_pair(tal_matter_add_pin, &def);
    must(p.state, tal_matter_simplify_inertias(p.matter, p.state, NULL, &found));
    ck_assert_int_eq(found.num_changed, 0);
    end_pair(&p);
}

END_TEST

START_TEST(what_changes_the_motion_is_refused_and_leaves_the_state)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(2.0, tal_v3(0.4, 0.3, 0.2));
    def.X_BM = tal_xf_from_p(tal_v3(0.1, 0.1, -0.1));
    pair p = begin_pair(tal_matter_add_pin, &def);
    tal_simplify_def strict = tal_simplify_def_default();
    strict.tolerance = 1e-30;
    tal_simplification found;
    ck_assert_int_eq(tal_matter_simplify_inertias(p.matter, p.state, &strict, &found),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(p.state)->message, "move differently"));
    ck_assert_double_gt(found.error, 0.0);
    ck_assert_double_eq(tal_body_mass_props(p.matter, p.state, p.body).mass, 2.0);
    strict.num_samples = 0;
    ck_assert_int_eq(tal_matter_simplify_inertias(p.matter, p.state, &strict, &found),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(p.state)->message, "num_samples is 0"));
    end_pair(&p);
}

END_TEST

// --- augmented bodies ---

// Six bricks on balls, in a tree with a fork. One of them turns, those on it keep their
// orientations: the energy is that of the augmented body, particles at its joints.
START_TEST(an_augmented_body_turns_as_in_the_system)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    const int parents[] = {0, 1, 2, 2, 4, 1};
    test_rng rng = test_rng_seed(918);
    for (int k = 0; k < 6; ++k) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_brick(1.0 + k, tal_v3(0.4, 0.3, 0.2));
        def.X_PF = tal_xf_from_p(test_random_vec3(&rng));
        def.X_BM = tal_xf_from_p(test_random_vec3(&rng));
        (void)tal_matter_add_ball(matter, (tal_body_ix){parents[k]}, &def);
    }
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);
    tal_mass_props outer[7], both[7];
    must(state, tal_matter_calc_augmented_bodies(matter, state, true, outer));
    must(state, tal_matter_calc_augmented_bodies(matter, state, false, both));
    const double carried[] = {0.0, 21.0, 14.0, 3.0, 9.0, 5.0, 6.0};
    for (int b = 1; b <= 6; ++b) {
        ck_assert_double_eq_tol(outer[b].mass, carried[b], 1e-14);
        ck_assert_double_eq_tol(both[b].mass, 21.0, 1e-14);
        const tal_vec3 w = test_random_vec3(&rng);
        for (int c = 1; c <= 6; ++c) { // all axes are parallel at q = 0
            const double sign = c == b ? 1.0 : parents[c - 1] == b ? -1.0 : 0.0;
            const double u[] = {sign * w.x, sign * w.y, sign * w.z};
            ck_assert_int_eq(tal_body_set_all_u(matter, state, (tal_body_ix){c}, u, 3), TAL_OK);
        }
        ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
        const tal_xform X_BM = tal_body_X_BM(matter, state, (tal_body_ix){b});
        const tal_xform X_MB = tal_xf_inverse(X_BM);
        const tal_mass_props about = tal_mass_props_transform(&X_MB, &outer[b]);
        const double T = 0.5 * tal_v3_dot(w, tal_s3_mul_v3(about.inertia, w));
        ck_assert_double_eq_tol(tal_matter_kinetic_energy(matter, state), T, 1e-14 * T);
    }
    ck_assert_double_eq(outer[0].mass, 0.0);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

START_TEST(mass_has_a_rank)
{
    const tal_mass_props none = TAL_MASSLESS;
    const tal_mass_props point = tal_mass_props_point(2.0, tal_v3(1.0, -3.0, 0.2));
    const tal_mass_props rod = tal_mass_props_rod(1.0, tal_v3(0.3, 0.2, -0.1));
    const tal_mass_props brick = tal_mass_props_brick(1.0, tal_v3(0.3, 0.2, 0.1));
    const tal_mass_props plate = tal_mass_props_brick(1.0, tal_v3(0.3, 0.0, 0.1));
    ck_assert_int_eq(tal_mass_props_rank(&none), 0);
    ck_assert_int_eq(tal_mass_props_rank(&point), 1);
    ck_assert_int_eq(tal_mass_props_rank(&rod), 2);
    ck_assert_int_eq(tal_mass_props_rank(&plate), 3);
    ck_assert_int_eq(tal_mass_props_rank(&brick), 4);
    test_assert_breach(ck_assert_int_eq(tal_mass_props_rank(NULL), -1), TAL_ERR_NULL, "NULL");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/op_simplify");
    TCase *tests = tcase_create("tests");
    tcase_add_test(tests, motion_stays_as_it_is_on_any_tree);
    tcase_add_test(tests, a_rod_on_a_pin_is_its_center_of_percussion);
    tcase_add_test(tests, what_is_left_depends_on_the_mobilizer);
    tcase_add_test(tests, a_body_is_not_left_without_mass);
    tcase_add_test(tests, structures_and_odd_inertias_stay);
    tcase_add_test(tests, what_changes_the_motion_is_refused_and_leaves_the_state);
    tcase_add_test(tests, an_augmented_body_turns_as_in_the_system);
    tcase_add_test(tests, mass_has_a_rank);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
