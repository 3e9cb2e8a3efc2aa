// study/src/pile/: many contacts by fixed steps (test T24 of the specification), against closed
// forms and balances.
#include "pile/pile_world.h"

#include <stdlib.h>

// ---- T24: closed forms

// A ball thrown without spin slides until it rolls at 5/7 of its speed (refs: sliding_to_rolling).
static double ball_error(double h, double *speed)
{
    world w = begin(tal_v3(0.0, 0.0, -G));
    add_floor(&w, rough(0.12, 0.0));
    const tal_body_ix ball = add_ball(&w, 0.108, 7.0, tal_v3(0.0, 0.0, 0.108), rough(0.12, 0.0));
    const tal_contact_stepper_def def = steps_of(h);
    finish(&w, &def);
    set_u(&w, ball, 3, 8.0);
    run_to(&w, 3.0);
    *speed = u_of(&w, ball, 3);
    // rolls from t = 1.94165... at x = 13.31419... on
    const double x = 13.314194179200732281 + (3.0 - 1.9416533178001067909) * 40.0 / 7.0;
    const double error = q_of(&w, ball, 4) - x;
    end(&w);
    return error;
}

// First order in h, and the final speed is exact: momentum and spin are kept by impulses.
START_TEST(a_ball_that_slides_rolls_with_an_error_of_first_order)
{
    double speed;
    const double coarse = ball_error(0.01, &speed);
    ck_assert_double_eq_tol(speed, 40.0 / 7.0, 1e-12);
    const double middle = ball_error(0.005, &speed), fine = ball_error(0.0025, &speed);
    ck_assert_double_eq_tol(speed, 40.0 / 7.0, 1e-12);
    // the prototype of the specification found 1.142 h
    ck_assert_double_eq_tol(fabs(coarse) / 0.01, 1.142, 0.01);
    ck_assert_double_eq_tol(coarse / middle, 2.0, 0.01);
    ck_assert_double_eq_tol(middle / fine, 2.0, 0.01);
}

END_TEST

// A flat block on a slope of 30 degrees, in the frame of the slope.
static tal_body_ix begin_slope(world *w, double mu, double h)
{
    *w = begin(tal_v3(-G * 0.5, 0.0, -G * sqrt(0.75)));
    add_floor(w, rough(mu, 0.0));
    const tal_body_ix block =
        add_box(w, tal_v3(0.5, 0.5, 0.05), 2.0, tal_v3(0.0, 0.0, 0.05), rough(mu, 0.0));
    const tal_contact_stepper_def def = steps_of(h);
    finish(w, &def);
    return block;
}

START_TEST(a_block_on_a_slope_does_not_creep_where_friction_suffices)
{
    world w;
    const tal_body_ix block = begin_slope(&w, 0.58, 0.01);
    run_to(&w, 5.0);
    for (int k = 0; k < 6; ++k) {
        ck_assert_double_le(fabs(u_of(&w, block, k)), 1e-12);
    }
    ck_assert_double_le(fabs(q_of(&w, block, 4)), 1e-11);
    ck_assert_int_eq(tal_contact_stepper_report(w.stepper).num_exact, 4);
    end(&w);
}

END_TEST

// Thrown up at 2 m/s it comes back at 2 sqrt((s - mu c) / (s + mu c)) = 0.160079 m/s.
START_TEST(a_block_on_a_slope_slides_back_where_friction_does_not_suffice)
{
    world w;
    const tal_body_ix block = begin_slope(&w, 0.57, 0.01);
    set_u(&w, block, 3, 2.0);
    const double c = sqrt(0.75);
    const double back = -2.0 * sqrt((0.5 - 0.57 * c) / (0.5 + 0.57 * c));
    double last = 0.0, speed = 0.0;
    do {
        last = q_of(&w, block, 4);
        speed = u_of(&w, block, 3);
        run_to(&w, tal_state_t(w.state) + 0.01);
    } while (q_of(&w, block, 4) > 0.0 && tal_state_t(w.state) < 10.0);
    // at x = 0, between two steps
    const double part = last / (last - q_of(&w, block, 4));
    const double at_zero = speed + part * (u_of(&w, block, 3) - speed);
    // each step is as long as its last speed says, so that the way up, 0.2052 m, is short by h v0 /
    // 2 = 0.01 m, and the speed at its lower end by half of these 5 %
    ck_assert_double_eq_tol(at_zero, back * sqrt(1.0 - 0.01 / 0.2052), 0.002 * fabs(back));
    end(&w);
}

END_TEST

// ---- T24: a stack of 250 boxes, ten columns 25 high: 1000 contacts

// Impulses of a step on the floor along z, as a part of the weight.
static double ground_share(const stack *s, int columns, int high)
{
    double sum = 0.0;
    for (int i = 0; i < tal_contact_stepper_num_contacts(s->w.stepper); ++i) {
        const tal_step_contact c = tal_contact_stepper_contact(s->w.stepper, i);
        if (c.body[0].i == 0) sum -= c.impulse_G.z; // on the floor
    }
    return sum / (columns * high * G * tal_contact_stepper_def_of(s->w.stepper).step);
}

START_TEST(a_stack_of_a_thousand_contacts_stands)
{
    enum {
        COLUMNS = 10,
        HIGH = 25
    };

    tal_contact_stepper_def def = steps_of(0.01);
    def.most_exact = 0;
    stack s;
    begin_stack(&s, COLUMNS, HIGH, &def);
    const double end_time = getenv("TALUS_SOAK") != NULL ? 10.0 : 1.0;
    double energy = (double)INFINITY;
    while (tal_state_t(s.w.state) < end_time - 1e-9) {
        run_to(&s.w, tal_state_t(s.w.state) + def.step);
        const tal_contact_step r = tal_contact_stepper_report(s.w.stepper);
        ck_assert_int_eq(r.num_contacts, 4 * COLUMNS * HIGH);
        // impulses take away 1.2 J in a step, and the tolerance is 1e-6 of that
        ck_assert_double_le(r.energy, energy + 1.2e-6);
        energy = r.energy;
    }
    ck_assert_double_eq_tol(ground_share(&s, COLUMNS, HIGH), 1.0, 1e-4);
    for (int i = 0; i < COLUMNS * HIGH; ++i) {
        ck_assert_double_eq_tol(q_of(&s.w, s.boxes[i], 6), 0.1 + 0.2 * (i % HIGH), 1e-5);
        ck_assert_double_eq_tol(q_of(&s.w, s.boxes[i], 4), 0.5 * (i / HIGH), 1e-5);
    }
    end(&s.w);
}

END_TEST

// ---- balances

// Speeds after a drop from a height are those of free fall, and the rebound is e of them.
START_TEST(a_ball_rebounds_by_its_restitution)
{
    for (int k = 0; k <= 4; ++k) {
        const double e = 0.25 * k;
        world w = begin(tal_v3(0.0, 0.0, -G));
        add_floor(&w, rough(0.3, e));
        const tal_body_ix ball = add_ball(&w, 0.1, 2.0, tal_v3(0.0, 0.0, 1.1), rough(0.3, e));
        const tal_contact_stepper_def def = steps_of(1e-3);
        finish(&w, &def);
        double highest = 0.0, energy = (double)INFINITY;
        while (tal_state_t(w.state) < 0.4515 + e * 0.4515) {
            run_to(&w, tal_state_t(w.state) + def.step);
            if (tal_state_t(w.state) > 0.46) highest = fmax(highest, q_of(&w, ball, 6) - 0.1);
            const tal_contact_step r = tal_contact_stepper_report(w.stepper);
            ck_assert_double_le(r.energy, energy + 1e-12);
            energy = r.energy;
        }
        // each time and height is off by one step
        if (e > 0.0) ck_assert_double_eq_tol(highest, e * e, 0.02);
        if (e == 0.0) ck_assert_double_le(highest, 1e-3);
        end(&w);
    }
}

END_TEST

// Free bodies that hit each other keep momentum and angular momentum; energy is lost to friction
// and impacts, and the balance of the report holds.
START_TEST(momentum_is_kept_and_the_report_balances)
{
    world w = begin(TAL_VEC3_ZERO);
    const tal_unilateral_material m = rough(0.4, 0.5);
    for (int i = 0; i < 12; ++i) {
        (void)add_box(&w, tal_v3(0.1, 0.12, 0.15), 1.0 + i,
                      tal_v3(0.4 * (i % 3), 0.4 * (i / 3 % 2), 0.4 * (i / 6)), m);
    }
    const tal_contact_stepper_def def = steps_of(1e-3);
    finish(&w, &def);
    for (int i = 0; i < 12; ++i) {
        for (int k = 0; k < 3; ++k) {
            const double at = 0.4 * (k == 0 ? i % 3 : k == 1 ? i / 3 % 2 : i / 6);
            set_u(&w, (tal_body_ix){1 + i}, 3 + k, 2.0 * (0.3 - at));
            set_u(&w, (tal_body_ix){1 + i}, k, 0.3 * ((i + k) % 3 - 1));
        }
    }
    ck_assert_int_eq(tal_system_realize(w.system, w.state, TAL_STAGE_VELOCITY), TAL_OK);
    const tal_spatial_vec before = tal_matter_momentum(w.matter, w.state);
    double lost = 0.0;
    bool touched = false;
    const double energy = tal_system_energy(w.system, w.state);
    while (tal_state_t(w.state) < 0.5) {
        run_to(&w, tal_state_t(w.state) + def.step);
        const tal_contact_step r = tal_contact_stepper_report(w.stepper);
        lost -= r.normal_work + r.friction_work;
        touched = touched || r.friction_work != 0.0;
        ck_assert_double_le(r.normal_work, 1e-12);
        ck_assert_double_le(r.friction_work, 1e-6);
    }
    const tal_spatial_vec after = tal_matter_momentum(w.matter, w.state);
    ck_assert(touched);
    // momentum is that of impulses to round-off
    test_assert_v3_near(after.v, before.v, 1e-11);
    // what turns is integrated to first order: speeds of 1 for half a second in steps of 1 ms
    const double kept = tal_system_energy(w.system, w.state);
    ck_assert_double_lt(kept, energy);
    ck_assert_double_eq_tol(energy - kept, lost, 0.02 * energy);
    end(&w);
}

END_TEST

// A prescribed body pushes a block along; its own speed is not changed by a bit.
START_TEST(a_prescribed_body_pushes_and_is_not_pushed)
{
    world w = begin(tal_v3(0.0, 0.0, -G));
    add_floor(&w, rough(0.2, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = brick_mass(1.0, tal_v3(0.1, 0.5, 0.1));
    def.X_PF = tal_xf_from_p(tal_v3(-1.0, 0.0, 0.15));
    const tal_body_ix pusher = tal_matter_add_slider(w.matter, TAL_GROUND, &def);
    add_collider(&w, pusher, tal_shape_brick(tal_v3(0.1, 0.5, 0.1), 0.0), rough(0.2, 0.0));
    tal_motion_def motion = tal_motion_def_default();
    motion.body = pusher;
    motion.level = TAL_LEVEL_VELOCITY;
    const double rate = 0.5;
    ck_assert_int_ge(tal_matter_add_motion_steady(w.matter, &motion, &rate, 1).i, 0);
    const tal_body_ix block =
        add_box(&w, tal_v3(0.2, 0.2, 0.2), 3.0, tal_v3(0.0, 0.0, 0.2), rough(0.2, 0.0));
    const tal_contact_stepper_def steps = steps_of(2e-3);
    finish(&w, &steps);
    run_to(&w, 3.0);
    ck_assert_double_eq(u_of(&w, pusher, 0), 0.5);
    ck_assert_double_eq_tol(u_of(&w, block, 3), 0.5, 1e-9);
    ck_assert_double_eq_tol(q_of(&w, block, 4), q_of(&w, pusher, 0) - 1.0 + 0.3, 1e-4);
    end(&w);
}

END_TEST

static double ground_impulse(const world *w)
{
    double sum = 0.0;
    for (int i = 0; i < tal_contact_stepper_num_contacts(w->stepper); ++i) {
        const tal_step_contact c = tal_contact_stepper_contact(w->stepper, i);
        if (c.body[0].i == 0) sum -= c.impulse_G.z;
    }
    return sum;
}

// Two blocks on ice, tied by a rod that one of them pulls: a constraint in a group with contacts.
START_TEST(constraints_take_part)
{
    for (int way = 0; way < 2; ++way) { // exactly, and by iteration
        world w = begin(tal_v3(0.0, 0.0, -G));
        add_floor(&w, rough(0.0, 0.0));
        const tal_vec3 half = tal_v3(0.2, 0.2, 0.1);
        const tal_body_ix a = add_box(&w, half, 1.0, tal_v3(0.0, 0.0, 0.1), rough(0.0, 0.0));
        const tal_body_ix b = add_box(&w, half, 3.0, tal_v3(1.0, 0.0, 0.1), rough(0.0, 0.0));
        const tal_constraint_def tie = tal_constraint_between(a, b);
        (void)tal_constraint_add_rod(w.matter, &tie, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
        tal_contact_stepper_def def = steps_of(1e-3);
        def.most_exact = way == 0 ? 8 : 0;
        def.tolerance = 1e-10;
        finish(&w, &def);
        set_u(&w, b, 3, 1.0);
        set_u(&w, a, 3, 1.0);
        set_u(&w, b, 4, 0.4); // turns about the common center: a at 0.1 v of the other way
        run_to(&w, 1.0);
        const double dx = q_of(&w, b, 4) - q_of(&w, a, 4), dy = q_of(&w, b, 5) - q_of(&w, a, 5);
        ck_assert_double_eq_tol(hypot(dx, dy), 1.0, 1e-6);
        ck_assert_double_eq_tol(q_of(&w, a, 6), 0.1, 1e-6);
        ck_assert_double_eq_tol(ground_impulse(&w), 4.0 * G * 1e-3, 1e-6);
        const tal_spatial_vec p = tal_matter_momentum(w.matter, w.state);
        ck_assert_double_eq_tol(p.v.x, 4.0, 1e-9);
        end(&w);
    }
}

END_TEST

// Impulses on what is on Ground, along x.
static double ground_impulse_x(const world *w)
{
    double sum = 0.0;
    for (int i = 0; i < tal_contact_stepper_num_contacts(w->stepper); ++i) {
        const tal_step_contact c = tal_contact_stepper_contact(w->stepper, i);
        if (c.body[0].i == 0) sum += c.impulse_G.x;
    }
    return sum;
}

// Projection repairs the speeds of constraints after a step, so that wrong rows show in impulses
// and work only. Here each sign of a row counts.
// A rod: of two blocks in a row the first runs into a wall, which takes the momentum of both within
// one step, 4 kg at 1 m/s. A row whose blocks had different signs would let the second one pull.
// Tolerances: the exact solution is accepted at 1e-8 of the largest force, the iteration ends at a
// tolerance of 1e-12, which a condition of 10 to 100 makes 1e-10; 1e-7 covers both.
START_TEST(a_rod_passes_an_impact_on)
{
    for (int way = 0; way < 2; ++way) { // exactly, and by iteration
        world w = begin(TAL_VEC3_ZERO);
        tal_collider_def wall = tal_collider_def_default(); // its normal is -x
        wall.X_BS = tal_xf_from_p(tal_v3(0.2, 0.0, 0.0));
        ck_assert_int_ge(tal_matter_add_collider(w.matter, &wall).i, 0);
        const tal_vec3 half = tal_v3(0.2, 0.2, 0.1);
        const tal_body_ix a = add_box(&w, half, 1.0, TAL_VEC3_ZERO, rough(0.0, 0.0));
        const tal_body_ix b = add_box(&w, half, 3.0, tal_v3(-1.0, 0.0, 0.0), rough(0.0, 0.0));
        const tal_constraint_def tie = tal_constraint_between(a, b);
        (void)tal_constraint_add_rod(w.matter, &tie, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
        tal_contact_stepper_def def = steps_of(1e-3);
        def.most_exact = way == 0 ? 8 : 0;
        def.tolerance = 1e-12;
        finish(&w, &def);
        set_u(&w, a, 3, 1.0);
        set_u(&w, b, 3, 1.0);
        run_to(&w, 1e-3);
        ck_assert_double_eq_tol(ground_impulse_x(&w), 4.0, 1e-7);
        ck_assert_double_eq_tol(u_of(&w, a, 3), 0.0, 1e-7);
        ck_assert_double_eq_tol(u_of(&w, b, 3), 0.0, 1e-7);
        end(&w);
    }
}

END_TEST

// A constraint with a speed of its own, G u = v, draws a block along the floor. Friction mu m g h
// acts against it on the block; the constraint does the work mu m g h v, friction loses it.
// Tolerances as above.
START_TEST(a_driven_block_works_against_its_friction)
{
    const double mu = 0.2, v = 0.7, m = 3.0, h = 1e-3;
    for (int way = 0; way < 2; ++way) { // exactly, and by iteration
        world w = begin(tal_v3(0.0, 0.0, -G));
        add_floor(&w, rough(mu, 0.0));
        const tal_vec3 half = tal_v3(0.2, 0.2, 0.1);
        const tal_body_ix block = add_box(&w, half, m, tal_v3(0.0, 0.0, 0.1), rough(mu, 0.0));
        const tal_constraint_def drive = tal_constraint_on(block, 3);
        (void)tal_constraint_add_constant_speed(w.matter, &drive, v);
        tal_contact_stepper_def def = steps_of(h);
        def.most_exact = way == 0 ? 8 : 0;
        def.tolerance = 1e-12;
        def.most_passes = 1000;
        finish(&w, &def);
        set_u(&w, block, 3, v);
        run_to(&w, 0.01);
        const double friction = mu * m * G * h;
        const tal_contact_step step = tal_contact_stepper_report(w.stepper);
        ck_assert_double_eq_tol(ground_impulse_x(&w), friction, 1e-7);
        ck_assert_double_eq_tol(step.constraint_work, friction * v, 1e-7);
        ck_assert_double_eq_tol(step.friction_work, -friction * v, 1e-7);
        ck_assert_double_eq_tol(u_of(&w, block, 3), v, 1e-7);
        end(&w);
    }
}

END_TEST

// Two bars with a hinge between them fall onto the floor and come to rest there.
START_TEST(a_tree_falls_and_comes_to_rest)
{
    for (int way = 0; way < 2; ++way) {
        world w = begin(tal_v3(0.0, 0.0, -G));
        const tal_unilateral_material m = rough(0.6, 0.2);
        add_floor(&w, m);
        const tal_vec3 half = tal_v3(0.3, 0.05, 0.05);
        const tal_body_ix a = add_box(&w, half, 1.0, tal_v3(0.0, 0.0, 0.4), m);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = brick_mass(1.0, half);
        def.X_PF = tal_xf(tal_rotation_about(TAL_AXIS_X, 0.5 * TAL_PI), tal_v3(0.31, 0.0, 0.0));
        def.X_BM = tal_xf(tal_rotation_about(TAL_AXIS_X, 0.5 * TAL_PI), tal_v3(-0.31, 0.0, 0.0));
        const tal_body_ix b = tal_matter_add_pin(w.matter, a, &def);
        add_collider(&w, b, tal_shape_brick(half, 0.0), m);
        tal_contact_stepper_def steps = steps_of(1e-3);
        steps.most_exact = way == 0 ? 8 : 0;
        finish(&w, &steps);
        ck_assert_int_eq(tal_body_set_q(w.matter, w.state, b, 0, 0.5), TAL_OK);
        run_to(&w, 3.0);
        for (int k = 0; k < 6; ++k) {
            ck_assert_double_le(fabs(u_of(&w, a, k)), 1e-3);
        }
        ck_assert_double_eq_tol(ground_impulse(&w), 2.0 * G * 1e-3, 1e-4);
        ck_assert_double_le(tal_contact_stepper_report(w.stepper).penetration, 2e-5);
        end(&w);
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("contact_stepper");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 600.0);
    tcase_add_test(all, a_ball_that_slides_rolls_with_an_error_of_first_order);
    tcase_add_test(all, a_block_on_a_slope_does_not_creep_where_friction_suffices);
    tcase_add_test(all, a_block_on_a_slope_slides_back_where_friction_does_not_suffice);
    tcase_add_test(all, a_stack_of_a_thousand_contacts_stands);
    tcase_add_test(all, a_ball_rebounds_by_its_restitution);
    tcase_add_test(all, momentum_is_kept_and_the_report_balances);
    tcase_add_test(all, a_prescribed_body_pushes_and_is_not_pushed);
    tcase_add_test(all, constraints_take_part);
    tcase_add_test(all, a_rod_passes_an_impact_on);
    tcase_add_test(all, a_driven_block_works_against_its_friction);
    tcase_add_test(all, a_tree_falls_and_comes_to_rest);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
