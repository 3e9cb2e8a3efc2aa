// matter/src/prescribed/prescribed_lock.c: locks in a State.
#include "prescribed_support.h"

// ---- helpers

static tal_body_ix add_body(world *w, tal_body_ix parent, const tal_mobilizer_ops *ops)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(1.0, tal_v3(0.1, 0.2, 0.3));
    def.X_PF = tal_xf_from_p(tal_v3(0.1, 0.5, -0.2));
    def.X_BM = tal_xf_from_p(tal_v3(-0.3, 0.4, 0.0));
    return tal_matter_add_mobilizer(w->matter, parent, &def, ops, NULL, NULL);
}

// A pin, a ball on it, a gimbal on that, a weld last.
static void build(world *w)
{
    world_begin(w);
    tal_body_ix body = add_body(w, TAL_GROUND, tal_mobilizer_pin());
    body = add_body(w, body, tal_mobilizer_ball());
    body = add_body(w, body, tal_mobilizer_gimbal());
    (void)add_body(w, body, tal_mobilizer_weld());
}

static const tal_body_ix PIN = {1}, BALL = {2}, GIMBAL = {3}, WELD = {4};

static void build_and_set(world *w)
{
    build(w);
    world_finish(w);
    test_rng rng = test_rng_seed(5);
    randomize(w, &rng);
}

// ---- locking

START_TEST(a_lock_in_place_keeps_q_bit_for_bit_and_stops_u)
{
    static world w;
    build_and_set(&w);
    double q[8];
    memcpy(q, tal_state_q(w.state), sizeof q);
    for (int b = 1; b <= 4; ++b) {
        ck_assert_int_eq(tal_body_lock(w.matter, w.state, (tal_body_ix){b}, TAL_LEVEL_POSITION),
                         TAL_OK);
    }
    ck_assert(test_largest(tal_state_u(w.state), 7) == 0.0);
    world_solve(&w);
    ck_assert_mem_eq(q, tal_state_q(w.state), sizeof q);
    ck_assert(test_largest(tal_state_udot(w.state), 7) == 0.0);
    ck_assert_int_eq(tal_body_lock_level(w.matter, w.state, BALL), TAL_LEVEL_POSITION);
    ck_assert_int_eq(tal_body_lock_level(w.matter, w.state, WELD), TAL_LEVEL_FREE);
    world_end(&w);
}

START_TEST(a_lock_at_given_values_writes_them_at_once)
{
    static world w;
    build_and_set(&w);
    const double quaternion[] = {0.6, 0.0, 0.8, 0.0}, speeds[] = {0.1, 0.2, 0.3};
    ck_assert_int_eq(tal_body_lock_at(w.matter, w.state, BALL, TAL_LEVEL_POSITION, quaternion, 4),
                     TAL_OK);
    ck_assert_mem_eq(tal_state_q(w.state) + 1, quaternion, sizeof quaternion);
    ck_assert(test_largest(tal_state_u(w.state) + 1, 3) == 0.0);
    ck_assert_int_eq(tal_body_lock_at(w.matter, w.state, GIMBAL, TAL_LEVEL_VELOCITY, speeds, 3),
                     TAL_OK);
    ck_assert_mem_eq(tal_state_u(w.state) + 4, speeds, sizeof speeds);
    world_solve(&w);
    ck_assert(test_largest(tal_state_udot(w.state) + 1, 6) == 0.0);
    ck_assert_int_eq(tal_matter_num_free(w.matter, w.state), 1);
    ck_assert_int_eq(tal_mobility_level(w.matter, w.state, (tal_mobility){BALL, 2}),
                     TAL_LEVEL_POSITION);
    ck_assert_int_eq(tal_mobility_level(w.matter, w.state, (tal_mobility){GIMBAL, 0}),
                     TAL_LEVEL_VELOCITY);
    ck_assert_int_eq(tal_mobility_level(w.matter, w.state, (tal_mobility){PIN, 0}), TAL_LEVEL_FREE);
    world_end(&w);
}

START_TEST(locks_at_speed_and_acceleration_take_what_is_there_or_zero)
{
    static world w;
    build_and_set(&w);
    const double u = tal_body_u(w.matter, w.state, PIN, 0);
    (void)tal_body_lock(w.matter, w.state, PIN, TAL_LEVEL_VELOCITY);
    (void)tal_body_lock(w.matter, w.state, BALL, TAL_LEVEL_ACCELERATION);
    ck_assert_int_eq(
        tal_mobility_lock(w.matter, w.state, (tal_mobility){GIMBAL, 1}, TAL_LEVEL_POSITION),
        TAL_OK);
    ck_assert_int_eq(
        tal_mobility_lock(w.matter, w.state, (tal_mobility){GIMBAL, 2}, TAL_LEVEL_VELOCITY),
        TAL_OK);
    world_solve(&w);
    ck_assert(tal_state_u(w.state)[0] == u && tal_state_u(w.state)[5] == 0.0);
    for (int i = 0; i < 7; ++i) {
        ck_assert((tal_state_udot(w.state)[i] == 0.0) == (i != 4));
    }
    ck_assert_int_eq(tal_body_lock_level(w.matter, w.state, GIMBAL), TAL_LEVEL_FREE);
    ck_assert_int_eq(tal_mobility_unlock(w.matter, w.state, (tal_mobility){GIMBAL, 1}), TAL_OK);
    ck_assert_int_eq(tal_body_unlock(w.matter, w.state, BALL), TAL_OK);
    world_solve(&w);
    ck_assert(tal_state_udot(w.state)[1] != 0.0 && tal_state_udot(w.state)[5] != 0.0);
    world_end(&w);
}

// All speeds of a body, each with its own value, and the last of one.
START_TEST(a_lock_at_speed_keeps_every_speed_of_a_body)
{
    static world w;
    build_and_set(&w);
    double u[7];
    memcpy(u, tal_state_u(w.state), sizeof u);
    ck_assert(u[1] != u[2] && u[2] != u[3]);
    ck_assert_int_eq(tal_body_lock(w.matter, w.state, BALL, TAL_LEVEL_VELOCITY), TAL_OK);
    const tal_mobility last = {GIMBAL, 2};
    ck_assert_int_eq(tal_mobility_lock(w.matter, w.state, last, TAL_LEVEL_VELOCITY), TAL_OK);
    for (int i = 0; i < 7; ++i) {
        tal_state_upd_u(w.state)[i] = 10.0;
    }
    world_solve(&w);
    ck_assert_mem_eq(tal_state_u(w.state) + 1, u + 1, 3 * sizeof u[0]);
    ck_assert(tal_state_u(w.state)[0] == 10.0 && tal_state_u(w.state)[4] == 10.0);
    ck_assert(tal_state_u(w.state)[6] == u[6]);
    world_end(&w);
}

START_TEST(prescribing_writes_only_what_differs)
{
    static world w;
    build_and_set(&w);
    (void)tal_body_lock(w.matter, w.state, BALL, TAL_LEVEL_POSITION);
    (void)tal_body_lock(w.matter, w.state, PIN, TAL_LEVEL_VELOCITY);
    bool changed = true;
    world_realize(&w, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_system_prescribe_q(w.system, w.state, &changed), TAL_OK);
    ck_assert(!changed && tal_state_stage(w.state) == TAL_STAGE_POSITION);
    world_realize(&w, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_system_prescribe_u(w.system, w.state, &changed), TAL_OK);
    ck_assert(!changed && tal_state_stage(w.state) == TAL_STAGE_VELOCITY);

    (void)tal_body_set_q(w.matter, w.state, BALL, 2, 0.9);
    (void)tal_body_set_u(w.matter, w.state, PIN, 0, 5.0);
    world_realize(&w, TAL_STAGE_VELOCITY);
    ck_assert(tal_matter_motion_error(w.matter, w.state, TAL_LEVEL_POSITION) > 0.1);
    ck_assert(tal_matter_motion_error(w.matter, w.state, TAL_LEVEL_VELOCITY) > 0.1);
    ck_assert_int_eq(tal_system_prescribe_u(w.system, w.state, &changed), TAL_OK);
    ck_assert(changed && tal_state_stage(w.state) == TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_system_prescribe_q(w.system, w.state, &changed), TAL_OK);
    ck_assert(changed && tal_state_stage(w.state) == TAL_STAGE_TIME);
    ck_assert(tal_matter_motion_error(w.matter, w.state, TAL_LEVEL_POSITION) == 0.0);
    world_end(&w);
}

START_TEST(setting_a_lock_again_changes_nothing)
{
    static world w;
    build_and_set(&w);
    (void)tal_body_lock(w.matter, w.state, BALL, TAL_LEVEL_POSITION);
    world_realize(&w, TAL_STAGE_ACCELERATION);
    (void)tal_body_lock(w.matter, w.state, BALL, TAL_LEVEL_POSITION);
    (void)tal_body_unlock(w.matter, w.state, PIN);
    ck_assert_int_eq(tal_state_stage(w.state), TAL_STAGE_ACCELERATION);
    (void)tal_body_lock(w.matter, w.state, BALL, TAL_LEVEL_VELOCITY);
    ck_assert_int_lt(tal_state_stage(w.state), TAL_STAGE_INSTANCE);
    world_end(&w);
}

// The same orientation, whichever way it is written: round-off of a conversion there and back.
START_TEST(a_lock_holds_the_pose_when_the_coordinates_change)
{
    for (int use_angles = 0; use_angles < 2; ++use_angles) {
        static world w;
        build_and_set(&w);
        (void)tal_matter_set_use_angles(w.matter, w.state, use_angles != 0);
        (void)tal_body_lock(w.matter, w.state, BALL, TAL_LEVEL_POSITION);
        world_realize(&w, TAL_STAGE_POSITION);
        tal_bodies_view poses = tal_matter_poses(w.matter, w.state);
        const tal_xform before = *tal_view_X_GM(&poses, 2);

        (void)tal_matter_set_use_angles(w.matter, w.state, use_angles == 0);
        world_solve(&w);
        poses = tal_matter_poses(w.matter, w.state);
        test_assert_m3_near(tal_view_X_GM(&poses, 2)->R, before.R, 1e-15 * 8.0);
        ck_assert_int_eq(tal_body_lock_level(w.matter, w.state, BALL), TAL_LEVEL_POSITION);
        world_end(&w);
    }
}

START_TEST(bodies_can_be_locked_from_the_start)
{
    static world w;
    build(&w);
    ck_assert_int_eq(tal_matter_lock_by_default(w.matter, PIN, TAL_LEVEL_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_matter_lock_by_default(w.matter, BALL, TAL_LEVEL_POSITION), TAL_OK);
    ck_assert_int_eq(tal_matter_lock_by_default(w.matter, GIMBAL, TAL_LEVEL_ACCELERATION), TAL_OK);
    world_finish(&w);
    test_rng rng = test_rng_seed(6);
    randomize(&w, &rng);
    world_solve(&w);
    const double upright[] = {1.0, 0.0, 0.0, 0.0};
    ck_assert_mem_eq(tal_state_q(w.state) + 1, upright, sizeof upright);
    ck_assert(tal_state_u(w.state)[0] == 0.0 && tal_state_u(w.state)[4] != 0.0);
    ck_assert_int_eq(tal_matter_num_free(w.matter, w.state), 0);
    ck_assert(test_largest(tal_state_udot(w.state), 7) == 0.0);
    world_end(&w);
}

static tal_motion_ix add_steady_pin(world *w)
{
    tal_motion_def def = tal_motion_def_default();
    def.body = PIN;
    const double rate = 3.0;
    return tal_matter_add_motion_steady(w->matter, &def, &rate, 1);
}

START_TEST(a_lock_overrides_a_motion_until_it_is_removed)
{
    static world w;
    build(&w);
    const tal_motion_ix motion = add_steady_pin(&w);
    world_finish(&w);
    world_solve(&w);
    ck_assert(tal_state_u(w.state)[0] == 3.0);
    (void)tal_body_lock(w.matter, w.state, PIN, TAL_LEVEL_POSITION);
    world_solve(&w);
    ck_assert(tal_state_u(w.state)[0] == 0.0);
    (void)tal_body_unlock(w.matter, w.state, PIN);
    world_solve(&w);
    ck_assert(tal_state_u(w.state)[0] == 3.0);
    ck_assert(tal_motion_is_enabled(w.matter, w.state, motion));
    ck_assert_int_eq(tal_motion_set_enabled(w.matter, w.state, motion, false), TAL_OK);
    ck_assert_int_eq(tal_motion_set_enabled(w.matter, w.state, motion, false), TAL_OK);
    world_solve(&w);
    ck_assert_int_eq(tal_matter_num_free(w.matter, w.state), 7);
    world_end(&w);
}

// What moves no mass cannot be solved for, unless its motion is known.
START_TEST(a_massless_body_can_be_locked_and_is_named_when_it_is_not)
{
    static world w;
    world_begin(&w);
    const tal_body_ix arm = add_body(&w, TAL_GROUND, tal_mobilizer_pin());
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "ghost";
    const tal_body_ix ghost = tal_matter_add_planar(w.matter, arm, &def);
    (void)add_body(&w, arm, tal_mobilizer_gimbal()); // comes first, but is correct
    world_finish(&w);
    (void)tal_body_lock(w.matter, w.state, ghost, TAL_LEVEL_POSITION);
    world_solve(&w);
    (void)tal_mobility_unlock(w.matter, w.state, (tal_mobility){ghost, 2});
    ck_assert_int_eq(tal_system_realize(w.system, w.state, TAL_STAGE_ACCELERATION),
                     TAL_ERR_SINGULAR);
    ck_assert_ptr_nonnull(strstr(tal_state_error(w.state)->message, "'ghost'"));
    world_end(&w);
}

// A ball that is locked in q, a gimbal of which one mobility's speed is known and another's
// acceleration: lists partition all slots, and what is packed comes back.
START_TEST(what_is_free_and_what_is_known_can_be_listed_and_packed)
{
    static world w;
    test_record_breaches();
    build_and_set(&w);
    ck_assert_int_eq(tal_body_lock(w.matter, w.state, BALL, TAL_LEVEL_POSITION), TAL_OK);
    ck_assert_int_eq(
        tal_mobility_lock(w.matter, w.state, (tal_mobility){GIMBAL, 1}, TAL_LEVEL_VELOCITY),
        TAL_OK);
    ck_assert_int_eq(
        tal_mobility_lock(w.matter, w.state, (tal_mobility){GIMBAL, 2}, TAL_LEVEL_ACCELERATION),
        TAL_OK);
    world_solve(&w);

    // pin 0; ball q 1 to 4, u 1 to 3; gimbal q 5 to 7, u 4 to 6
    static const struct {
        tal_variable_kind kind;
        bool known;
        int num, slots[8];
    } expected[] = {
        {TAL_VARIABLE_Q, false, 4, {0, 5, 6, 7}}, {TAL_VARIABLE_Q, true, 4, {1, 2, 3, 4}},
        {TAL_VARIABLE_U, false, 3, {0, 4, 6}},    {TAL_VARIABLE_U, true, 4, {1, 2, 3, 5}},
        {TAL_VARIABLE_UDOT, false, 2, {0, 4}},    {TAL_VARIABLE_UDOT, true, 5, {1, 2, 3, 5, 6}}};

    for (size_t k = 0; k < sizeof expected / sizeof expected[0]; ++k) {
        int slots[8];
        ck_assert_int_eq(tal_matter_list_variables(w.matter, w.state, expected[k].kind,
                                                   expected[k].known, slots),
                         expected[k].num);
        ck_assert_mem_eq(slots, expected[k].slots, (size_t)expected[k].num * sizeof *slots);
    }
    ck_assert_int_eq(tal_matter_num_free(w.matter, w.state), 2);

    const double all[] = {1, 2, 3, 4, 5, 6, 7};
    double packed[4], again[7] = {0};
    tal_variables_pack(all, 7, expected[3].slots, 4, packed);
    ck_assert(packed[0] == 2 && packed[1] == 3 && packed[2] == 4 && packed[3] == 6);
    tal_variables_unpack(packed, expected[3].slots, 4, again, 7);
    ck_assert(again[0] == 0 && again[3] == 4 && again[4] == 0 && again[5] == 6 && again[6] == 0);
    const int outside = 7;
    test_assert_breach(tal_variables_pack(all, 7, &outside, 1, packed), TAL_ERR_BAD_INDEX,
                       "slot 7 of 7");
    ck_assert(isnan(packed[0]));
    test_assert_breach(tal_variables_unpack(packed, &outside, 1, again, 7), TAL_ERR_BAD_INDEX,
                       "slot 7 of 7");
    int slots[8];
    test_assert_breach((void)tal_matter_list_variables(w.matter, NULL, TAL_VARIABLE_Q, true, slots),
                       TAL_ERR_NULL, "State");
    world_end(&w);
}

// ---- errors

// A setter was refused: its sentence says why, the next realize returns it, and nothing was locked.
static void check_refused(world *w, tal_status st, tal_status expected, const char *part)
{
    ck_assert_int_eq(st, expected);
    ck_assert_int_eq(tal_system_realize(w->system, w->state, TAL_STAGE_INSTANCE), expected);
    ck_assert_msg(strstr(tal_state_error(w->state)->message, part) != NULL, "'%s' lacks '%s'",
                  tal_state_error(w->state)->message, part);
    world_realize(w, TAL_STAGE_INSTANCE);
    ck_assert_int_eq(tal_matter_num_free(w->matter, w->state), tal_state_nu(w->state));
}

START_TEST(what_cannot_be_locked_is_refused_with_a_sentence)
{
    static world w;
    build_and_set(&w);
    const double bad[] = {0.1, TALI_NAN, 0.3};
    const tal_mobility turn = {PIN, 0}, part = {BALL, 0};
    tal_matter *m = w.matter;
    tal_state *s = w.state;
    check_refused(&w, tal_mobility_lock(m, s, part, TAL_LEVEL_POSITION), TAL_ERR_BAD_VALUE,
                  "only all of its mobilities");
    check_refused(&w, tal_mobility_unlock(m, s, part), TAL_ERR_BAD_VALUE, "only all");
    check_refused(&w, tal_body_lock_at(m, s, BALL, TAL_LEVEL_POSITION, bad, 3), TAL_ERR_BAD_VALUE,
                  "by 4 values, not 3");
    check_refused(&w, tal_body_lock_at(m, s, BALL, TAL_LEVEL_VELOCITY, bad, 3), TAL_ERR_NOT_FINITE,
                  "locked at nan");
    check_refused(&w, tal_body_lock_at(m, s, BALL, TAL_LEVEL_VELOCITY, NULL, 3), TAL_ERR_BAD_VALUE,
                  "not 0");
    check_refused(&w, tal_body_lock(m, s, PIN, (tal_level)7), TAL_ERR_BAD_VALUE, "not a level");
    check_refused(&w, tal_mobility_lock_at(m, s, turn, TAL_LEVEL_ACCELERATION, (double)INFINITY),
                  TAL_ERR_NOT_FINITE, "locked at inf");
    world_end(&w);
}

START_TEST(wrong_bodies_and_mobilities_are_breaches)
{
    static world w;
    build_and_set(&w);
    test_record_breaches();
    const tal_mobility none = {PIN, 1}, negative = {BALL, -1}, no_body = {{9}, 0};
    tal_matter *m = w.matter;
    tal_state *s = w.state;
    test_assert_breach((void)tal_mobility_lock(m, s, none, TAL_LEVEL_POSITION), TAL_ERR_BAD_INDEX,
                       "no speed 1");
    test_assert_breach((void)tal_mobility_lock_at(m, s, negative, TAL_LEVEL_POSITION, 0.0),
                       TAL_ERR_BAD_INDEX, "no speed -1");
    test_assert_breach((void)tal_mobility_unlock(m, s, no_body), TAL_ERR_BAD_INDEX, "no body 9");
    test_assert_breach((void)tal_mobility_lock_level(m, s, no_body), TAL_ERR_BAD_INDEX, "body 9");
    test_assert_breach((void)tal_body_lock(m, s, no_body.body, TAL_LEVEL_POSITION),
                       TAL_ERR_BAD_INDEX, "no body 9");
    test_assert_breach((void)tal_body_lock_at(m, s, no_body.body, TAL_LEVEL_POSITION, NULL, 0),
                       TAL_ERR_BAD_INDEX, "no body 9");
    test_assert_breach((void)tal_body_lock_level(NULL, s, PIN), TAL_ERR_NULL, "matter is NULL");
    test_assert_breach((void)tal_mobility_level(m, s, no_body), TAL_ERR_BAD_INDEX, "no body 9");
    test_assert_breach((void)tal_mobility_level(m, s, none), TAL_ERR_BAD_INDEX, "no speed 1");
    test_assert_breach((void)tal_mobility_level(m, s, (tal_mobility){PIN, 0}), TAL_ERR_STAGE, "");
    test_assert_breach(ck_assert_int_eq(tal_matter_num_free(NULL, s), -1), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_int_eq(tal_matter_num_free(m, s), -1), TAL_ERR_STAGE, "");
    world_end(&w);
}

START_TEST(forces_and_errors_need_their_stage)
{
    static world w;
    build_and_set(&w);
    test_record_breaches();
    tal_matter *m = w.matter;
    tal_state *s = w.state;
    world_realize(&w, TAL_STAGE_VELOCITY);
    test_assert_breach(ck_assert(isnan(tal_body_motion_force(m, s, PIN, 0))), TAL_ERR_STAGE, "");
    test_assert_breach(ck_assert(isnan(tal_body_motion_force(m, s, PIN, 1))), TAL_ERR_BAD_INDEX,
                       "no speed 1");
    test_assert_breach(ck_assert(isnan(tal_body_motion_force(m, s, (tal_body_ix){-1}, 0))),
                       TAL_ERR_BAD_INDEX, "no body -1");
    test_assert_breach(ck_assert(isnan(tal_body_motion_power(m, s, PIN))), TAL_ERR_STAGE, "");
    test_assert_breach(ck_assert(isnan(tal_body_motion_power(m, s, (tal_body_ix){9}))),
                       TAL_ERR_BAD_INDEX, "no body 9");
    test_assert_breach(ck_assert(isnan(tal_matter_motion_power(NULL, s))), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_ptr_null(tal_matter_motion_multipliers(NULL, s)), TAL_ERR_NULL,
                       "NULL");
    test_assert_breach(ck_assert(isnan(tal_matter_motion_error(m, s, TAL_LEVEL_ACCELERATION))),
                       TAL_ERR_STAGE, "Acceleration");
    test_assert_breach(ck_assert(isnan(tal_matter_motion_error(m, s, TAL_LEVEL_FREE))),
                       TAL_ERR_BAD_VALUE, "not a level");
    test_assert_breach(ck_assert(isnan(tal_matter_motion_error(NULL, s, TAL_LEVEL_POSITION))),
                       TAL_ERR_NULL, "NULL");
    world_end(&w);
}

int main(void)
{
    Suite *suite = suite_create("matter/prescribed_lock");
    TCase *tc = tcase_create("locks");
    tcase_add_test(tc, a_lock_in_place_keeps_q_bit_for_bit_and_stops_u);
    tcase_add_test(tc, a_lock_at_given_values_writes_them_at_once);
    tcase_add_test(tc, locks_at_speed_and_acceleration_take_what_is_there_or_zero);
    tcase_add_test(tc, a_lock_at_speed_keeps_every_speed_of_a_body);
    tcase_add_test(tc, prescribing_writes_only_what_differs);
    tcase_add_test(tc, setting_a_lock_again_changes_nothing);
    tcase_add_test(tc, a_lock_holds_the_pose_when_the_coordinates_change);
    tcase_add_test(tc, bodies_can_be_locked_from_the_start);
    tcase_add_test(tc, a_lock_overrides_a_motion_until_it_is_removed);
    tcase_add_test(tc, a_massless_body_can_be_locked_and_is_named_when_it_is_not);
    tcase_add_test(tc, what_is_free_and_what_is_known_can_be_listed_and_packed);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, what_cannot_be_locked_is_refused_with_a_sentence);
    tcase_add_test(tc, wrong_bodies_and_mobilities_are_breaches);
    tcase_add_test(tc, forces_and_errors_need_their_stage);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
