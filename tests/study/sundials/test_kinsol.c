// Tests for study/src/sundials/kinsol.c, assemble/assembler_kinsol.c and what equilibrium.c does
// with it: KINSOL ends where our own solvers do.
#include "../assembly_support.h"
#include "heap_fault.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const double G = 9.81;

// --- names ---

START_TEST(solvers_have_names)
{
    for (int k = 0; k < tal_num_root_solvers(); ++k) {
        ck_assert_int_eq(tal_root_solver_find(tal_root_solver_name(k)), k);
    }
    ck_assert_int_eq(tal_root_solver_find("kinsol"), TAL_ROOT_SOLVER_KINSOL);
    ck_assert_int_eq(tal_root_solver_find("own"), TAL_ROOT_SOLVER_OWN);
    ck_assert_int_eq(tal_root_solver_find("newton"), -1);
    ck_assert_ptr_null(tal_root_solver_name(-1));
    ck_assert_ptr_null(tal_root_solver_name(tal_num_root_solvers()));
    test_assert_breach(ck_assert_int_eq(tal_root_solver_find(NULL), -1), TAL_ERR_NULL, "NULL");
}

END_TEST

// --- equilibria ---

typedef struct scene {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
} scene;

static scene begin_scene(void)
{
    scene s = {.system = tal_system_create(NULL)};
    s.matter = tal_matter_create(s.system);
    s.forces = tal_forces_create(s.system, s.matter);
    (void)tal_forces_add_gravity(s.forces, tal_v3(0.0, -G, 0.0));
    return s;
}

static void finish_scene(scene *s)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(s->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(s->system, &s->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_system_realize(s->system, s->state, TAL_STAGE_MODEL), TAL_OK);
}

static void end_scene(scene *s)
{
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
}

static tal_body_ix add_link(scene *s, tal_body_ix parent, tal_vec3 p_PF)
{
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = (tal_mass_props){1.0, {0.5, 0.0, 0.0}, tal_s3_diag(0.0, 1.0 / 3.0, 1.0 / 3.0)};
    link.X_PF = tal_xf_from_p(p_PF);
    return tal_matter_add_pin(s->matter, parent, &link);
}

// Ten rods of 1 m that hang from a nail, a spring at each joint.
static scene springy_chain(void)
{
    scene s = begin_scene();
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < 10; ++i) {
        body = add_link(&s, body, tal_v3(i == 0 ? 0.0 : 1.0, 0.0, 0.0));
        (void)tal_forces_add_mobility_spring(s.forces, NULL, (tal_mobility){body, 0}, 50.0, 0.1);
    }
    finish_scene(&s);
    for (int i = 1; i <= 10; ++i) {
        ck_assert_int_eq(tal_body_set_q(s.matter, s.state, (tal_body_ix){i}, 0, -0.2), TAL_OK);
    }
    return s;
}

// Three rods between two points of Ground 1.8 m apart.
static scene hanging_loop(void)
{
    scene s = begin_scene();
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < 3; ++i) {
        body = add_link(&s, body, tal_v3(i == 0 ? 0.0 : 1.0, 0.0, 0.0));
    }
    const tal_constraint_def hook = tal_constraint_between(TAL_GROUND, body);
    (void)tal_constraint_add_ball(s.matter, &hook, tal_v3(1.8, 0.0, 0.0), tal_v3(1.0, 0.0, 0.0));
    finish_scene(&s);
    const double start[] = {-0.9, 0.9, 1.3};
    ck_assert_int_eq(tal_state_set_q(s.state, start, 3), TAL_OK);
    return s;
}

// A brick that is free to turn and fly, on four springs of different stiffness: a quaternion.
static scene hung_brick(void)
{
    scene s = begin_scene();
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(2.0, tal_v3(0.5, 0.1, 0.3));
    const tal_body_ix brick = tal_matter_add_free(s.matter, TAL_GROUND, &def);
    for (int k = 0; k < 4; ++k) {
        const double x = k % 2 == 0 ? 0.5 : -0.5, z = k < 2 ? 0.3 : -0.3;
        const tal_two_points ends = {TAL_GROUND, tal_v3(2.0 * x, 2.0, 2.5 * z), brick,
                                     tal_v3(x, 0.1, z)};
        (void)tal_forces_add_two_point_spring(s.forces, NULL, &ends, 20.0 + 5.0 * k, 1.0);
    }
    finish_scene(&s);
    return s;
}

static tal_rest rest_by(const scene *s, tal_root_solver solver, tal_state *state)
{
    tal_equilibrium_def def = tal_equilibrium_def_default();
    def.solver = solver;
    tal_equilibrium *eq = NULL;
    tal_assembler *assembler = NULL;
    tal_rest rest;
    ck_assert_int_eq(tal_assembler_create(s->system, NULL, &assembler, NULL), TAL_OK);
    ck_assert_int_eq(tal_assembler_assemble(assembler, state, NULL), TAL_OK);
    ck_assert_int_eq(tal_equilibrium_create(s->system, &def, &eq, NULL), TAL_OK);
    const tal_status st = tal_equilibrium_find(eq, state, &rest);
    ck_assert_msg(st == TAL_OK, "%s", tal_equilibrium_error(eq)->message);
    tal_equilibrium_destroy(eq);
    tal_assembler_destroy(assembler);
    return rest;
}

// Both stop where Newton's next step is below 1e-9, which leaves its square.
START_TEST(equilibria_are_those_of_our_own_solver)
{
    scene (*const make[])(void) = {springy_chain, hanging_loop, hung_brick};
    for (int k = 0; k < 3; ++k) {
        scene s = make[k]();
        tal_state *other = NULL;
        ck_assert_int_eq(tal_state_create(s.system, &other, NULL), TAL_OK);
        ck_assert_int_eq(tal_state_copy(other, s.state), TAL_OK);
        const tal_rest own = rest_by(&s, TAL_ROOT_SOLVER_OWN, s.state);
        const tal_rest kinsol = rest_by(&s, TAL_ROOT_SOLVER_KINSOL, other);
        ck_assert(own.is_stable && kinsol.is_stable);
        test_assert_near(tal_state_q(other), tal_state_q(s.state), tal_state_nq(s.state), 1e-10,
                         "q at rest");
        tal_state_destroy(other);
        end_scene(&s);
    }
}

END_TEST

static scene upside_down(void)
{
    scene s = begin_scene();
    (void)add_link(&s, TAL_GROUND, TAL_VEC3_ZERO);
    finish_scene(&s);
    ck_assert_int_eq(tal_body_set_q(s.matter, s.state, (tal_body_ix){1}, 0, 1.5), TAL_OK);
    return s;
}

START_TEST(a_rod_that_stands_is_an_equilibrium_but_no_stable_one)
{
    scene s = upside_down();
    tal_equilibrium_def def = tal_equilibrium_def_default();
    def.solver = TAL_ROOT_SOLVER_KINSOL;
    def.kind = TAL_EQUILIBRIUM_ANY;
    tal_equilibrium *eq = NULL;
    tal_rest rest;
    ck_assert_int_eq(tal_equilibrium_create(s.system, &def, &eq, NULL), TAL_OK);
    ck_assert_int_eq(tal_equilibrium_find(eq, s.state, &rest), TAL_OK);
    ck_assert(!rest.is_stable);
    ck_assert_double_eq_tol(tal_state_q(s.state)[0], 0.5 * TAL_PI, 1e-10);
    tal_equilibrium_destroy(eq);
    def.kind = TAL_EQUILIBRIUM_STABLE;
    ck_assert_int_eq(tal_equilibrium_create(s.system, &def, &eq, NULL), TAL_OK);
    ck_assert_int_eq(tal_body_set_q(s.matter, s.state, (tal_body_ix){1}, 0, 1.5), TAL_OK);
    ck_assert_int_eq(tal_equilibrium_find(eq, s.state, &rest), TAL_ERR_NO_CONVERGENCE);
    ck_assert_ptr_nonnull(strstr(tal_equilibrium_error(eq)->message, "not stable"));
    ck_assert_double_eq(tal_state_q(s.state)[0], 1.5);
    tal_equilibrium_destroy(eq);
    end_scene(&s);
}

END_TEST

START_TEST(what_falls_for_ever_has_no_equilibrium)
{
    scene s = begin_scene();
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 1.0);
    def.X_PF.R = tal_rotation_about(TAL_AXIS_Z, 1.0);
    (void)tal_matter_add_slider(s.matter, TAL_GROUND, &def);
    finish_scene(&s);
    tal_equilibrium_def search = tal_equilibrium_def_default();
    search.solver = TAL_ROOT_SOLVER_KINSOL;
    tal_equilibrium *eq = NULL;
    ck_assert_int_eq(tal_equilibrium_create(s.system, &search, &eq, NULL), TAL_OK);
    ck_assert_int_eq(tal_equilibrium_find(eq, s.state, NULL), TAL_ERR_NO_CONVERGENCE);
    ck_assert_str_ne(tal_equilibrium_error(eq)->message, "");
    tal_equilibrium_destroy(eq);
    end_scene(&s);
}

END_TEST

// --- closed loops ---

// A platform on six rods: as many equations as speeds, and a quaternion.
static scene platform(void)
{
    scene s = begin_scene();
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(2.0, tal_v3(0.5, 0.1, 0.5));
    const tal_body_ix top = tal_matter_add_free(s.matter, TAL_GROUND, &def);
    const double initial[] = {1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0};
    ck_assert_int_eq(tal_body_set_initial_q(s.matter, top, initial, 7), TAL_OK);
    for (int k = 0; k < 6; ++k) {
        const double low = (k / 2) * 2.0 * TAL_PI / 3.0 + (k % 2 == 0 ? -0.1 : 0.1);
        const double high = ((k + 1) / 2) * 2.0 * TAL_PI / 3.0 - TAL_PI / 3.0;
        const tal_vec3 p = tal_v3(cos(low), 0.0, sin(low));
        const tal_vec3 q = tal_v3(0.5 * cos(high), 0.0, 0.5 * sin(high));
        const tal_constraint_def rod = tal_constraint_between(TAL_GROUND, top);
        (void)tal_constraint_add_rod(s.matter, &rod, p, q, 1.25 + 0.03 * k);
    }
    finish_scene(&s);
    return s;
}

// Two pins and a ball in the plane, the crank held: the ball's third row repeats nothing and does
// nothing.
static scene held_four_bar(void)
{
    scene s = begin_scene();
    const tal_body_ix crank = add_link(&s, TAL_GROUND, TAL_VEC3_ZERO);
    const tal_body_ix coupler = add_link(&s, crank, tal_v3(CRANK_LENGTH, 0.0, 0.0));
    const tal_body_ix rocker = add_link(&s, TAL_GROUND, tal_v3(BASE, 0.0, 0.0));
    const tal_constraint_def ends = tal_constraint_between(coupler, rocker);
    (void)tal_constraint_add_ball(s.matter, &ends, tal_v3(COUPLER_LENGTH, 0.0, 0.0),
                                  tal_v3(ROCKER_LENGTH, 0.0, 0.0));
    finish_scene(&s);
    const double start[] = {0.7, 0.2, 1.2};
    ck_assert_int_eq(tal_state_set_q(s.state, start, 3), TAL_OK);
    ck_assert_int_eq(tal_body_lock(s.matter, s.state, crank, TAL_LEVEL_POSITION), TAL_OK);
    return s;
}

// A weld to Ground of a body on a ball and a slider, twice: six rows, six that repeat them.
static scene welded_twice(void)
{
    scene s = begin_scene();
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(1.0, tal_v3(0.1, 0.2, 0.3));
    const tal_body_ix body = tal_matter_add_free(s.matter, TAL_GROUND, &def);
    tal_xform there = tal_xf_from_p(tal_v3(0.3, 0.2, -0.1));
    there.R = tal_rotation_about(TAL_AXIS_Y, 0.6);
    const tal_xform own = tal_xf_from_p(TAL_VEC3_ZERO);
    for (int k = 0; k < 2; ++k) {
        const tal_constraint_def weld = tal_constraint_between(TAL_GROUND, body);
        (void)tal_constraint_add_weld(s.matter, &weld, &there, &own);
    }
    finish_scene(&s);
    return s;
}

static tal_status close_by(const scene *s, tal_root_solver solver, tal_state *state,
                           tal_assembly *found, char *message, size_t size)
{
    tal_assembler_def def = tal_assembler_def_default();
    def.solver = solver;
    tal_assembler *assembler = NULL;
    ck_assert_int_eq(tal_assembler_create(s->system, &def, &assembler, NULL), TAL_OK);
    const tal_status st = tal_assembler_assemble(assembler, state, found);
    (void)snprintf(message, size, "%s", tal_assembler_error(assembler)->message);
    tal_assembler_destroy(assembler);
    return st;
}

// Errors below 1e-10 leave their square after one more step, which both have taken.
START_TEST(closed_loops_are_those_of_our_own_solver)
{
    scene (*const make[])(void) = {platform, held_four_bar, welded_twice};
    for (int k = 0; k < 3; ++k) {
        scene s = make[k]();
        tal_state *other = NULL;
        tal_assembly own, kinsol;
        char why[1000];
        ck_assert_int_eq(tal_state_create(s.system, &other, NULL), TAL_OK);
        ck_assert_int_eq(tal_state_copy(other, s.state), TAL_OK);
        ck_assert_int_eq(close_by(&s, TAL_ROOT_SOLVER_OWN, s.state, &own, why, sizeof why), TAL_OK);
        const tal_status st = close_by(&s, TAL_ROOT_SOLVER_KINSOL, other, &kinsol, why, sizeof why);
        ck_assert_msg(st == TAL_OK, "%d: %s", k, why);
        ck_assert(kinsol.assembled && kinsol.error <= 1e-10 && kinsol.iterations > 0);
        test_assert_near(tal_state_q(other), tal_state_q(s.state), tal_state_nq(s.state), 1e-10,
                         "q of the closed loop");
        tal_state_destroy(other);
        end_scene(&s);
    }
}

END_TEST

// A crank too far away for the other two links.
START_TEST(what_cannot_be_closed_is_named)
{
    scene s = begin_scene();
    const tal_body_ix crank = add_link(&s, TAL_GROUND, TAL_VEC3_ZERO);
    tal_constraint_def ends = tal_constraint_between(TAL_GROUND, crank);
    ends.name = "knuckle";
    (void)tal_constraint_add_ball(s.matter, &ends, tal_v3(4.0, 0.0, 0.0), tal_v3(1.0, 0.0, 0.0));
    finish_scene(&s);
    tal_assembly found;
    char why[1000];
    ck_assert_int_eq(close_by(&s, TAL_ROOT_SOLVER_KINSOL, s.state, &found, why, sizeof why),
                     TAL_ERR_NO_CONVERGENCE);
    ck_assert(!found.assembled);
    ck_assert_ptr_nonnull(strstr(why, "'knuckle'"));
    end_scene(&s);
}

END_TEST

// --- memory ---

static tal_status create_eq(const scene *s, void **out)
{
    tal_equilibrium_def def = tal_equilibrium_def_default();
    def.solver = TAL_ROOT_SOLVER_KINSOL;
    tal_equilibrium *eq = NULL;
    const tal_status st = tal_equilibrium_create(s->system, &def, &eq, NULL);
    *out = eq;
    return st;
}

static tal_status create_assembler(const scene *s, void **out)
{
    tal_assembler_def def = tal_assembler_def_default();
    def.solver = TAL_ROOT_SOLVER_KINSOL;
    tal_assembler *assembler = NULL;
    const tal_status st = tal_assembler_create(s->system, &def, &assembler, NULL);
    *out = assembler;
    return st;
}

// KINSOL complains on stderr where it could not even begin to be made: no error handler could be
// given to it.
static int silence(void)
{
    const int kept = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
    (void)dup2(nowhere, STDERR_FILENO);
    (void)close(nowhere);
    return kept;
}

START_TEST(memory_may_run_out_at_create_and_is_not_asked_for_later)
{
    scene s = platform();
    const int kept = silence();
    for (int k = 0; k < 2; ++k) {
        tal_status st = TAL_ERR_NO_MEMORY;
        void *made = NULL;
        int tried = 0;
        while (st == TAL_ERR_NO_MEMORY && tried < 1000) {
            const long live = heap.live;
            heap_fail(++tried);
            st = k == 0 ? create_eq(&s, &made) : create_assembler(&s, &made);
            heap.fails_at = 0;
            if (st != TAL_OK) ck_assert_int_eq(heap.live, live);
        }
        ck_assert_int_eq(st, TAL_OK);
        if (HEAP_IS_WATCHED) ck_assert_int_gt(tried, 5);
        const long asked = heap.asked;
        st = k == 0 ? tal_equilibrium_find(made, s.state, NULL)
                    : tal_assembler_assemble(made, s.state, NULL);
        const long more = heap.asked - asked; // Check allocates too
        ck_assert_int_eq(more, 0);
        ck_assert_int_eq(st, k == 0 ? TAL_ERR_BAD_VALUE : TAL_OK); // not assembled yet
        if (k == 0) tal_equilibrium_destroy(made);
        if (k == 1) tal_assembler_destroy(made);
    }
    (void)dup2(kept, STDERR_FILENO);
    (void)close(kept);
    void *made = NULL;
    ck_assert_int_eq(create_eq(&s, &made), TAL_OK);
    const long asked = heap.asked;
    const tal_status st = tal_equilibrium_find(made, s.state, NULL);
    const long more = heap.asked - asked;
    ck_assert_int_eq(more, 0);
    ck_assert_int_eq(st, TAL_OK);
    tal_equilibrium_destroy(made);
    end_scene(&s);
}

END_TEST

START_TEST(a_solver_that_there_is_not_is_refused)
{
    scene s = upside_down();
    tal_error err = {0};
    tal_equilibrium_def def = tal_equilibrium_def_default();
    def.solver = (tal_root_solver)7;
    tal_equilibrium *eq = NULL;
    ck_assert_int_eq(tal_equilibrium_create(s.system, &def, &eq, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "no solver 7"));
    tal_assembler_def other = tal_assembler_def_default();
    other.solver = (tal_root_solver)-1;
    tal_assembler *assembler = NULL;
    ck_assert_int_eq(tal_assembler_create(s.system, &other, &assembler, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "no solver -1"));
    end_scene(&s);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("kinsol");
    TCase *tests = tcase_create("tests");
    tcase_add_test(tests, solvers_have_names);
    tcase_add_test(tests, equilibria_are_those_of_our_own_solver);
    tcase_add_test(tests, a_rod_that_stands_is_an_equilibrium_but_no_stable_one);
    tcase_add_test(tests, what_falls_for_ever_has_no_equilibrium);
    tcase_add_test(tests, closed_loops_are_those_of_our_own_solver);
    tcase_add_test(tests, what_cannot_be_closed_is_named);
    tcase_add_test(tests, memory_may_run_out_at_create_and_is_not_asked_for_later);
    tcase_add_test(tests, a_solver_that_there_is_not_is_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
