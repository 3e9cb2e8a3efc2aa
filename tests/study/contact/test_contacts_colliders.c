// matter/src/collider/collider_elements.c: unilateral elements in the places of colliders, in runs
// against closed forms.
#include "stepper_model.h"

#include <talus/study/contact_stepper.h>

#include <math.h>
#include <string.h>

static const double G = 9.81;

static tal_unilateral_material rough(double mu, double e)
{
    tal_unilateral_material m = tal_unilateral_material_default();
    m.static_mu = m.sliding_mu = mu;
    m.restitution = e;
    return m;
}

// A half-space below y = 0, turned about z by an angle.
static void add_floor(stepper_model *m, double angle, tal_unilateral_material material)
{
    tal_collider_def def = tal_collider_def_default();
    def.name = "floor";
    def.X_BS.R = tal_rotation_about(TAL_AXIS_Z, angle - 0.5 * TAL_PI);
    def.material = material;
    ck_assert_int_ge(tal_matter_add_collider(m->matter, &def).i, 0);
}

// Its shape's z along x.
static tal_body_ix add_solid(stepper_model *m, const char *name, tal_shape shape,
                             tal_unilateral_material material)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    def.mass.inertia = tal_s3_diag(0.1, 0.1, 0.1);
    const tal_body_ix body = tal_matter_add_planar(m->matter, TAL_GROUND, &def);
    tal_collider_def solid = tal_collider_def_default();
    solid.name = name;
    solid.body = body;
    solid.shape = shape;
    solid.X_BS.R = tal_rotation_about(TAL_AXIS_Y, 0.5 * TAL_PI);
    solid.material = material;
    ck_assert_int_ge(tal_matter_add_collider(m->matter, &solid).i, 0);
    return body;
}

static void finish(stepper_model *m)
{
    ck_assert_msg(tal_matter_add_collider_elements(m->matter) == TAL_OK, "%s",
                  tal_system_error(m->system)->message);
    (void)tal_contacts_create(m->system, NULL);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(m, &method, NULL);
}

static tal_unilateral_ix find(const stepper_model *m, const char *name)
{
    const tal_unilateral_ix it = tal_matter_find_unilateral(m->matter, name);
    ck_assert_msg(it.i >= 0, "there is no '%s'", name);
    return it;
}

// From 1 m above the floor a ball hits it after sqrt(2 h / g), and rises to e^2 h. The smaller
// restitution counts.
START_TEST(a_ball_bounces)
{
    stepper_model m = begin_stepper_model(G);
    add_floor(&m, 0.0, rough(0.0, 0.7));
    (void)add_solid(&m, "ball", tal_shape_sphere(0.1), rough(0.3, 0.9));
    finish(&m);
    const double h = 1.0, t = sqrt(2.0 * h / G), q[3] = {0.0, 0.0, h + 0.1};
    (void)tal_state_set_q(m.state, q, 3);
    (void)run_stepper(&m, 1.7 * t);
    const tal_unilateral_impact hit =
        tal_unilateral_impact_of(m.matter, m.state, find(&m, "ball on floor"));
    ck_assert_int_eq(hit.count, 1);
    ck_assert_double_eq_tol(hit.t, t, 1e-9);
    ck_assert_double_eq_tol(tal_state_q(m.state)[2], 0.1 + 0.49 * h, 1e-8);
    end_stepper_model(&m);
}

END_TEST

// A brick slides down 30 degrees with mu = 0.57, and stays with 0.58.
START_TEST(a_brick_slides_down_a_slope_or_stays)
{
    for (int k = 0; k < 2; ++k) {
        const double mu = k == 0 ? 0.57 : 0.58, angle = -TAL_PI / 6.0;
        stepper_model m = begin_stepper_model(G);
        add_floor(&m, angle, rough(mu, 0.0));
        (void)add_solid(&m, "brick", tal_shape_brick(tal_v3(0.2, 0.1, 0.3), 0.0), rough(1.0, 0.0));
        finish(&m);
        ck_assert_int_eq(tal_matter_num_unilaterals(m.matter), 8);
        const double q[3] = {angle, -0.1 * sin(angle), 0.1 * cos(angle)};
        (void)tal_state_set_q(m.state, q, 3);
        (void)run_stepper(&m, 1.0);
        const double down = hypot(tal_state_q(m.state)[1] - q[1], tal_state_q(m.state)[2] - q[2]);
        const double a = G * (sin(TAL_PI / 6.0) - mu * cos(TAL_PI / 6.0));
        ck_assert_double_eq_tol(down, a > 0.0 ? 0.5 * a : 0.0, 1e-8);
        end_stepper_model(&m);
    }
}

END_TEST

// A capsule falls flat and lies on both of its ends, at half of its weight each.
START_TEST(a_capsule_lies_on_its_ends)
{
    stepper_model m = begin_stepper_model(G);
    add_floor(&m, 0.0, rough(0.5, 0.0));
    (void)add_solid(&m, "bolt", tal_shape_capsule(0.1, 0.3), rough(0.5, 0.0));
    finish(&m);
    ck_assert_int_eq(tal_matter_num_unilaterals(m.matter), 2);
    const double q[3] = {0.0, 0.0, 0.4};
    (void)tal_state_set_q(m.state, q, 3);
    (void)run_stepper(&m, 1.0);
    ck_assert_double_eq_tol(tal_state_q(m.state)[2], 0.1, 1e-9);
    for (int k = 0; k < 2; ++k) {
        const char *const name = k == 0 ? "bolt on floor 0" : "bolt on floor 1";
        const tal_unilateral_force force =
            tal_unilateral_force_of(m.matter, m.state, find(&m, name));
        ck_assert_double_eq_tol(force.normal, G, 1e-8);
    }
    end_stepper_model(&m);
}

END_TEST

// Two balls without gravity: the first one stops, the second one goes on.
START_TEST(two_balls_exchange_their_speeds)
{
    stepper_model m = begin_stepper_model(0.0);
    (void)add_solid(&m, "a", tal_shape_sphere(0.1), rough(0.0, 1.0));
    (void)add_solid(&m, "b", tal_shape_sphere(0.2), rough(0.0, 1.0));
    finish(&m);
    const double q[6] = {0.0, -1.0, 0.0, 0.0, 0.0, 0.0}, u[6] = {0.0, 2.0, 0.0, 0.0, 0.0, 0.0};
    (void)tal_state_set_q(m.state, q, 6);
    (void)tal_state_set_u(m.state, u, 6);
    (void)run_stepper(&m, 1.0);
    ck_assert_double_eq_tol(tal_state_u(m.state)[1], 0.0, 1e-12);
    ck_assert_double_eq_tol(tal_state_u(m.state)[4], 2.0, 1e-12);
    ck_assert_double_eq_tol(tal_unilateral_impact_of(m.matter, m.state, find(&m, "a on b")).t, 0.35,
                            1e-9);
    end_stepper_model(&m);
}

END_TEST

// --- what is refused ---

static void check_refusal(stepper_model *m, const char *word)
{
    const char *message = tal_system_error(m->system)->message;
    ck_assert_msg(strstr(message, word) != NULL, "%s", message);
    tal_system_destroy(m->system);
}

START_TEST(pairs_that_are_no_elements_are_named)
{
    const tal_shape brick = tal_shape_brick(tal_v3(0.1, 0.1, 0.1), 0.0);
    stepper_model m = begin_stepper_model(G);
    (void)add_solid(&m, "box", brick, rough(0.0, 0.0));
    (void)add_solid(&m, "ball", tal_shape_sphere(0.1), rough(0.0, 0.0));
    ck_assert_int_eq(tal_matter_add_collider_elements(m.matter), TAL_ERR_BAD_VALUE);
    check_refusal(&m, "'box' and 'ball'");
    m = begin_stepper_model(G);
    ck_assert_int_eq(tal_matter_add_collider_elements(m.matter), TAL_OK); // there are none
    ck_assert(tal_matter_has_collider_elements(m.matter));
    ck_assert_int_ne(tal_matter_add_collider_elements(m.matter), TAL_OK);
    check_refusal(&m, "already");
    m = begin_stepper_model(G);
    ck_assert_int_eq(tal_matter_add_collider_elements(m.matter), TAL_OK);
    tal_collider_def late = tal_collider_def_default();
    ck_assert_int_lt(tal_matter_add_collider(m.matter, &late).i, 0);
    check_refusal(&m, "before");
}

END_TEST

START_TEST(a_contact_stepper_leaves_them_to_the_integrator)
{
    stepper_model m = begin_stepper_model(G);
    add_floor(&m, 0.0, rough(0.0, 0.0));
    (void)add_solid(&m, "ball", tal_shape_sphere(0.1), rough(0.0, 0.0));
    finish(&m); // an integrator takes them
    tal_contact_stepper *stepper = NULL;
    tal_error err = {0};
    ck_assert_int_eq(tal_contact_stepper_create(m.system, NULL, &stepper, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "ball on floor"));
    end_stepper_model(&m);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/contacts_colliders");
    TCase *all = tcase_create("colliders");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, a_ball_bounces);
    tcase_add_test(all, a_brick_slides_down_a_slope_or_stays);
    tcase_add_test(all, a_capsule_lies_on_its_ends);
    tcase_add_test(all, two_balls_exchange_their_speeds);
    tcase_add_test(all, pairs_that_are_no_elements_are_named);
    tcase_add_test(all, a_contact_stepper_leaves_them_to_the_integrator);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
