// Tests for study/src/path/: flaws of paths, and their lengths as goals.
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>

// A slider along x with q from -1 to 1, and a path from Ground to its origin.
typedef struct rail {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix slider;
    tal_path_ix path;
    tal_state *state;
} rail;

static rail begin(void)
{
    rail it = {.system = tal_system_create(NULL)};
    it.matter = tal_matter_create(it.system);
    it.forces = tal_forces_create(it.system, it.matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    it.slider = tal_matter_add_slider(it.matter, TAL_GROUND, &def);
    tal_body_limit_coordinate(it.matter, it.slider, 0, -1.0, 1.0);
    it.path = tal_forces_add_path(it.forces, "rope");
    return it;
}

static void finish(rail *it)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(it->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(it->system, &it->state, &err) == TAL_OK, "%s", err.message);
}

static void end(rail *it)
{
    tal_state_destroy(it->state);
    tal_system_destroy(it->system);
}

static void add_wrap(rail *it, tal_wrap wrap, tal_vec3 p)
{
    const tal_xform X = tal_xf_from_p(p);
    const tal_wrap_ix ix = tal_forces_add_wrap(it->forces, "post", TAL_GROUND, &X, &wrap);
    tal_path_add_wrap(it->forces, it->path, ix, -1, -1);
}

static int find(rail *it, tal_path_flaw flaws[4])
{
    tal_error err;
    int num = -1;
    finish(it);
    ck_assert_msg(tal_path_find_flaws(it->system, it->forces, it->state, it->path, flaws, 4, &num,
                                      &err) == TAL_OK,
                  "%s", err.message);
    return num;
}

// l = 1 + sqrt(1 + q^2) with the point and |q| without it.
START_TEST(a_point_that_comes_is_a_jump_of_its_size)
{
    rail it = begin();
    tal_path_add_point(it.forces, it.path, TAL_GROUND, TAL_VEC3_ZERO);
    tal_path_add_conditional_point(it.forces, it.path, TAL_GROUND, tal_v3(0.0, 1.0, 0.0),
                                   (tal_mobility){it.slider, 0}, 0.2, 5.0);
    tal_path_add_point(it.forces, it.path, it.slider, TAL_VEC3_ZERO);
    tal_path_flaw flaws[4];
    // without the point the path ends at its beginning for q = 0: a kink
    ck_assert_int_eq(find(&it, flaws), 2);
    ck_assert_int_eq(flaws[0].kind, TAL_PATH_KINK);
    ck_assert_double_eq_tol(flaws[0].q, 0.0, 1e-8);
    ck_assert_int_eq(flaws[1].kind, TAL_PATH_JUMP);
    const double q = 0.2 - 1e-5;
    ck_assert_double_eq_tol(flaws[1].q, q, 1e-8);
    ck_assert_double_eq_tol(flaws[1].size, 1.0 + sqrt(1.0 + q * q) - q, 1e-7);
    ck_assert_int_eq(flaws[1].at.body.i, it.slider.i);
    end(&it);
}

END_TEST

// The string changes sides where the line goes through the center: its length does not jump, but
// its slope does, by twice the part of the direction along x.
START_TEST(a_string_that_changes_sides_is_a_kink)
{
    rail it = begin();
    tal_path_add_point(it.forces, it.path, TAL_GROUND, tal_v3(0.0, 2.0, 0.0));
    tal_path_add_point(it.forces, it.path, it.slider, TAL_VEC3_ZERO);
    add_wrap(&it, tal_wrap_cylinder(0.3, 9.0), tal_v3(0.0, 1.0, 0.0));
    tal_path_flaw flaws[4];
    ck_assert_int_eq(find(&it, flaws), 1);
    ck_assert_int_eq(flaws[0].kind, TAL_PATH_KINK);
    ck_assert_double_eq_tol(flaws[0].q, 0.0, 1e-8);
    // the tangent from a point at distance 1 is at the angle asin(0.3) to the line
    ck_assert_double_eq_tol(flaws[0].size, 2.0 * 0.3, 1e-6);
    end(&it);
}

END_TEST

START_TEST(a_string_that_keeps_its_side_has_no_flaw)
{
    rail it = begin();
    tal_wrap post = tal_wrap_cylinder(0.2, 9.0);
    post.side = TAL_WRAP_PLUS_X;
    tal_path_add_point(it.forces, it.path, TAL_GROUND, tal_v3(0.8, 2.0, 0.0));
    tal_path_add_point(it.forces, it.path, it.slider, TAL_VEC3_ZERO);
    add_wrap(&it, post, tal_v3(0.5, 1.0, 0.0));
    tal_path_flaw flaws[4];
    ck_assert_int_eq(find(&it, flaws), 0);
    // it lies on the post in one place and not in the other
    for (int k = 0; k < 2; ++k) {
        tal_body_set_q(it.matter, it.state, it.slider, 0, k == 0 ? -1.0 : 1.0);
        ck_assert_int_eq(tal_system_realize(it.system, it.state, TAL_STAGE_POSITION), TAL_OK);
        ck_assert(tal_path_is_on_wrap(it.forces, it.state, it.path, 0) == (k == 0));
    }
    end(&it);
}

END_TEST

START_TEST(a_point_inside_an_obstacle_is_named_with_its_stretch)
{
    rail it = begin();
    tal_path_add_point(it.forces, it.path, TAL_GROUND, tal_v3(0.0, 2.0, 0.0));
    tal_path_add_point(it.forces, it.path, it.slider, TAL_VEC3_ZERO);
    add_wrap(&it, tal_wrap_sphere(0.3), TAL_VEC3_ZERO);
    tal_path_flaw flaws[4];
    const int num = find(&it, flaws);
    ck_assert_int_ge(num, 1);
    int seen = 0;
    for (int k = 0; k < num && k < 4; ++k) {
        if (flaws[k].kind != TAL_PATH_INSIDE) continue;
        const double step = 2.0 / 459.0; // a quarter of a degree, about
        ck_assert_double_eq_tol(flaws[k].q, -0.3, step);
        ck_assert_double_eq_tol(flaws[k].size, 0.6, 2.0 * step);
        ck_assert_str_eq(tal_wrap_name(it.forces, flaws[k].wrap), "post");
        ++seen;
    }
    ck_assert_int_eq(seen, 1);
    tal_body_set_q(it.matter, it.state, it.slider, 0, 0.1);
    ck_assert_int_eq(tal_system_realize(it.system, it.state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert(tal_path_is_inside_wrap(it.forces, it.state, it.path, 0));
    ck_assert_int_eq(tal_path_num_inside(it.forces, it.state, it.path), 1);
    end(&it);
}

END_TEST

START_TEST(a_path_can_be_given_a_length)
{
    rail it = begin();
    tal_path_add_point(it.forces, it.path, TAL_GROUND, tal_v3(0.0, 1.0, 0.0));
    tal_path_add_point(it.forces, it.path, it.slider, TAL_VEC3_ZERO);
    finish(&it);
    const tal_path_goal wanted = {it.forces, it.path, 1.25};
    const tal_goal goal = tal_path_goal_weighted(&wanted, 1.0);
    tal_assembler_def def = tal_assembler_def_default();
    def.goals = &goal;
    def.num_goals = 1;
    tal_assembler *assembler = NULL;
    tal_error err;
    ck_assert_int_eq(tal_assembler_create(it.system, &def, &assembler, &err), TAL_OK);
    tal_body_set_q(it.matter, it.state, it.slider, 0, 0.3);
    ck_assert_int_eq(tal_assembler_assemble(assembler, it.state, NULL), TAL_OK);
    ck_assert_double_eq_tol(tal_body_q(it.matter, it.state, it.slider, 0), 0.75, 1e-7);
    tal_assembler_destroy(assembler);
    ck_assert(tal_path_goal_weighted(NULL, 1.0).calc == NULL);
    end(&it);
}

END_TEST

START_TEST(mistakes_are_told)
{
    rail it = begin();
    tal_path_add_point(it.forces, it.path, TAL_GROUND, tal_v3(0.0, 1.0, 0.0));
    tal_path_add_point(it.forces, it.path, it.slider, TAL_VEC3_ZERO);
    finish(&it);
    tal_error err;
    int num = 0;
    ck_assert_int_eq(
        tal_path_find_flaws(it.system, it.forces, it.state, (tal_path_ix){4}, NULL, 0, &num, &err),
        TAL_ERR_BAD_INDEX);
    ck_assert_int_eq(
        tal_path_find_flaws(it.system, it.forces, it.state, it.path, NULL, 3, &num, &err),
        TAL_ERR_NULL);
    ck_assert_int_eq(tal_path_find_flaws(it.system, it.forces, NULL, it.path, NULL, 0, &num, &err),
                     TAL_ERR_NULL);
    end(&it);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/path_scan");
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_point_that_comes_is_a_jump_of_its_size);
    tcase_add_test(all, a_string_that_changes_sides_is_a_kink);
    tcase_add_test(all, a_string_that_keeps_its_side_has_no_flaw);
    tcase_add_test(all, a_point_inside_an_obstacle_is_named_with_its_stretch);
    tcase_add_test(all, a_path_can_be_given_a_length);
    tcase_add_test(all, mistakes_are_told);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
