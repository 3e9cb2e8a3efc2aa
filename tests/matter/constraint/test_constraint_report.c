// Tests of matter/src/constraint/constraint_report.c: what is redundant, idle or contradictory.
#include "constraint_fixture.h"
#include "overconstrained.h"

#include <float.h>

// --- the report ---

// A pendulum closed by a ball in its own plane: two rows act, z does not. The ball twice:
// redundant.
START_TEST(the_report_tells_good_idle_and_redundant_rows)
{
    loop l;
    build_four_bars(&l, 2, 1.0);
    pose_four_bars(&l, 2, 0.8, 1.0);
    loop_realize(&l, TAL_STAGE_INSTANCE);
    tal_rows_report report;
    tal_constraint_row rows[6];
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, rows), TAL_OK);
    ck_assert_int_eq(report.num_rows, 6);
    ck_assert_int_eq(report.rank, 4);
    ck_assert_int_eq(report.dof, 1);
    ck_assert_int_eq(report.num_without_effect, 2);
    ck_assert_int_eq(report.num_redundant, 0);
    ck_assert_int_eq(report.num_inconsistent, 0);
    ck_assert_int_eq(report.worst.i, -1);
    ck_assert(report.rcond > 1e-4 && report.rcond <= 1.0);
    for (int i = 0; i < 6; ++i) {
        ck_assert_int_eq(rows[i].constraint.i, i / 3);
        ck_assert_int_eq(rows[i].i, i % 3);
        ck_assert_int_eq(rows[i].fate, i % 3 == 2 ? TAL_ROW_WITHOUT_EFFECT : TAL_ROW_GOOD);
        ck_assert_int_eq(tal_matter_row_owner(l.matter, l.state, i).i, i / 3);
    }
    ck_assert_int_eq(tal_matter_row_owner(l.matter, l.state, 6).i, -1);
    const tal_constraint_ix second = {1};
    const tal_constraint_rows of_second = tal_constraint_rows_of(l.matter, l.state, second);
    ck_assert_int_eq(of_second.mp, 3);
    ck_assert_int_eq(of_second.p0, 3);
    ck_assert_int_eq(of_second.v0, 6);
    ck_assert_int_eq(of_second.a0, 6);
    // one disabled
    const tal_constraint_ix first = {0};
    ck_assert_int_eq(tal_constraint_set_enabled(l.matter, l.state, first, false), TAL_OK);
    loop_realize(&l, TAL_STAGE_INSTANCE);
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL), TAL_OK);
    ck_assert_int_eq(report.num_rows, 3);
    ck_assert_int_eq(report.rank, 2);
    ck_assert_int_eq(tal_constraint_rows_of(l.matter, l.state, first).mp, 0);
    ck_assert_int_eq(tal_matter_row_owner(l.matter, l.state, 0).i, 1);
    loop_end(&l);
}

END_TEST

// At a change point all links are in one line and rows of different loops become dependent.
START_TEST(a_change_point_is_reported_and_solved)
{
    loop l;
    build_four_bars(&l, 2, 1.0);
    pose_four_bars(&l, 2, 0.0, 1.0);
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    tal_rows_report report;
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL), TAL_OK);
    // five speeds; x of each ball says nothing about rotations when everything is level
    ck_assert_int_eq(report.rank, 2);
    ck_assert_int_eq(report.dof, 3);
    ck_assert_int_eq(report.num_inconsistent, 0);
    // phi'' = kappa sin(phi) with phi the angle from upright: at the level, kappa = 11.445 for N =
    // 2
    for (int i = 0; i < 5; ++i) {
        ck_assert(isfinite(tal_state_udot(l.state)[i]));
    }
    loop_end(&l);
}

END_TEST

static void add_drive(loop *l, const char *name, tal_body_ix body, double acceleration)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.name = name;
    def.mobilities[0].body = body;
    (void)tal_matter_add_constraint(l->matter, &def, &test_acceleration, NULL, &acceleration);
}

// Alone, by little, and beside a coordinate that another constraint holds where it is.
START_TEST(contradictions_are_reported_and_stop_the_realization)
{
    for (int k = 0; k < 3; ++k) {
        loop l;
        loop_begin(&l);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = slender(1.0, 1.0);
        const tal_body_ix body = tal_matter_add_pin(l.matter, TAL_GROUND, &def);
        add_drive(&l, "one", body, 1.0);
        add_drive(&l, "other", body, k == 1 ? 1.0 + 1e-4 : 3.0);
        if (k == 2) {
            const tal_body_ix held = tal_matter_add_pin(l.matter, TAL_GROUND, &def);
            const tal_constraint_def at = tal_constraint_on(held, 0);
            (void)tal_constraint_add_constant_coordinate(l.matter, &at, 0.0);
        }
        loop_finish(&l);
        loop_realize(&l, TAL_STAGE_VELOCITY);
        tal_rows_report report;
        tal_constraint_row rows[3];
        ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, rows),
                         TAL_OK);
        ck_assert_int_eq(report.num_inconsistent, 2);
        ck_assert_int_eq(report.num_redundant, 1);
        ck_assert_double_eq_tol(fabs(report.worst_residual), k == 1 ? 0.5e-4 : 1.0, 1e-12);
        const tal_status st = tal_system_realize(l.system, l.state, TAL_STAGE_ACCELERATION);
        if (k != 1) {
            ck_assert_int_eq(st, TAL_ERR_SINGULAR);
            ck_assert_ptr_nonnull(strstr(tal_state_error(l.state)->message, "'o"));
        } else { // below the stated residual: the compromise
            ck_assert_int_eq(st, TAL_OK);
            ck_assert_double_eq_tol(tal_state_udot(l.state)[0], 1.0 + 0.5e-4, 1e-12);
        }
        loop_end(&l);
    }
}

END_TEST

// Errors are measured in unit errors (manual eq. 9.4) and against what there was to take away.
START_TEST(small_contradictions_are_not_worth_reporting)
{
    // 1e6 and 1e6 + 0.01: 5e-9 of what there was
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = slender(1.0, 1.0);
    const tal_body_ix body = tal_matter_add_pin(l.matter, TAL_GROUND, &def);
    add_drive(&l, "one", body, 1e6);
    add_drive(&l, "other", body, 1e6 + 0.01);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    tal_rows_report report;
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL), TAL_OK);
    ck_assert_int_eq(report.num_inconsistent, 0);
    loop_end(&l);

    // rods of 1 m and 2 m on a slider that moves: (v^2 - v^2 / 2) / 2 is left, times t_c^2 = 0.01
    static const double speeds[] = {1.5e-2, 6e-2, 6.0};
    for (int k = 0; k < 3; ++k) {
        loop_begin(&l);
        const tal_body_ix slider = tal_matter_add_slider(l.matter, TAL_GROUND, &def);
        (void)add_rod(&l, TAL_GROUND, tal_v3(-1.0, 0.0, 0.0), slider, tal_v3(0.0, 0.0, 0.0), 1.0);
        (void)add_rod(&l, TAL_GROUND, tal_v3(-2.0, 0.0, 0.0), slider, tal_v3(0.0, 0.0, 0.0), 2.0);
        loop_finish(&l);
        loop_realize(&l, TAL_STAGE_MODEL);
        tal_state_upd_u(l.state)[0] = speeds[k];
        loop_realize(&l, TAL_STAGE_VELOCITY);
        ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL),
                         TAL_OK);
        ck_assert_int_eq(report.num_inconsistent, k == 0 ? 0 : 2);
        const tal_status st = tal_system_realize(l.system, l.state, TAL_STAGE_ACCELERATION);
        ck_assert_int_eq(st, TAL_OK); // the rods do not let it move: accelerations need not agree
        loop_end(&l);
    }
}

END_TEST

// Three parallel rods hold a weight: a third each.
START_TEST(three_parallel_rods_carry_a_third_each)
{
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = slender(3.0, 1.0);
    const tal_body_ix body = tal_matter_add_slider(l.matter, TAL_GROUND, &def);
    for (int i = 0; i < 3; ++i) {
        const double y = (double)i;
        (void)add_rod(&l, TAL_GROUND, tal_v3(-2.0, y, 0.0), body, tal_v3(0.0, y, 0.0), 2.0);
    }
    l.gravity = tal_v3(9.81, 0.0, 0.0);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq_tol(tal_state_udot(l.state)[0], 0.0, 1e-14);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(tal_state_multipliers(l.state)[i], 9.81, 1e-13);
    }
    tal_rows_report report;
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL), TAL_OK);
    ck_assert_int_eq(report.rank, 1);
    ck_assert_int_eq(report.num_redundant, 2);
    // shares 1, 2, 1: lambda / share^2 is the same for all, so 1, 4, 1 sixths of 3 m g
    const tal_constraint_ix second = {1};
    ck_assert_int_eq(tal_constraint_set_share(l.matter, l.state, second, 2.0), TAL_OK);
    ck_assert_double_eq(tal_constraint_share(l.matter, l.state, second), 2.0);
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq_tol(tal_state_udot(l.state)[0], 0.0, 1e-13);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(tal_state_multipliers(l.state)[i], (i == 1 ? 2.0 : 0.5) * 9.81,
                                1e-12);
    }
    ck_assert_int_eq(tal_constraint_set_share(l.matter, l.state, second, 0.0), TAL_ERR_BAD_VALUE);
    loop_end(&l);
}

END_TEST

// --- rank on the scale of position errors ---

// A Bricard linkage of this size, its third bar off by an angle.
static void build_bricard_off(loop *l, double size, double angle)
{
    loop_begin(l);
    l->gravity = tal_v3(0.0, -9.81 * size, 0.0);
    over_add_bricard(l->matter, size, 1, 0.0);
    loop_finish(l);
    loop_realize(l, TAL_STAGE_MODEL);
    tal_state_upd_q(l->state)[2] = angle;
}

// Off by an angle d the fifth equation of its loop has a pivot of the size of d^2, which says
// nothing: to obey it would stop the linkage. What the others say is off by as much as q;
// accelerations are about g over a length.
START_TEST(a_bricard_linkage_moves_in_one_way_however_far_off_it_is)
{
    const double sizes[] = {1e-9, 1.0, 1e3}, angles[] = {0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4};
    for (int k = 0; k < 3; ++k) {
        double exact[5];
        for (int i = 0; i < 6; ++i) {
            loop l;
            build_bricard_off(&l, sizes[k], angles[i]);
            loop_realize(&l, TAL_STAGE_ACCELERATION);
            if (i == 0) memcpy(exact, tal_state_udot(l.state), sizeof exact);
            for (int j = 0; j < 5; ++j) {
                ck_assert_double_le(fabs(tal_state_udot(l.state)[j] - exact[j]),
                                    9.81 * (angles[i] + 1e-13));
            }
            tal_rows_report report;
            ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL),
                             TAL_OK);
            ck_assert_int_eq(report.rank, 4);
            ck_assert_int_eq(report.dof, 1);
            ck_assert_int_eq(report.num_redundant, 1);
            loop_end(&l);
        }
        ck_assert_double_ge(fabs(exact[0]), 1.0);
    }
}

END_TEST

// The pivot of the row goes with the square of the angle, the limit with nine times the square of
// the error as an angle, up to 1e-8.
START_TEST(the_report_says_how_close_rows_are_to_what_they_are_not)
{
    for (int i = 0; i < 4; ++i) {
        const double angle = i == 0 ? 0.0 : pow(10.0, -8.0 + i);
        loop l;
        tal_rows_report report;
        tal_constraint_row rows[5];
        build_bricard_off(&l, 1.0, angle);
        loop_realize(&l, TAL_STAGE_VELOCITY);
        ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, rows),
                         TAL_OK);
        const double round_off = 64.0 * 5.0 * DBL_EPSILON;
        ck_assert_double_ge(report.limit, fmax(round_off, angle * angle));
        // twice round-off: that of the rows before it, too
        ck_assert_double_le(report.limit, fmin(1e-8, 100.0 * angle * angle) + 2.0 * round_off);
        ck_assert_double_ge(report.least_share, 1e-3);
        ck_assert_double_le(report.most_redundant, 4.0 * angle * angle + 100.0 * DBL_EPSILON);
        ck_assert_int_eq(rows[4].fate, TAL_ROW_REDUNDANT);
        ck_assert_double_eq(rows[4].share, report.most_redundant);
        ck_assert_double_eq(rows[4].limit, report.limit);
        for (int r = 0; r < 4; ++r) {
            ck_assert(rows[r].fate == TAL_ROW_GOOD && rows[r].share >= report.least_share);
        }
        loop_end(&l);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter/constraint_report");
    TCase *report = tcase_create("report");
    tcase_add_test(report, the_report_tells_good_idle_and_redundant_rows);
    tcase_add_test(report, a_change_point_is_reported_and_solved);
    tcase_add_test(report, contradictions_are_reported_and_stop_the_realization);
    tcase_add_test(report, small_contradictions_are_not_worth_reporting);
    tcase_add_test(report, three_parallel_rods_carry_a_third_each);
    tcase_add_test(report, a_bricard_linkage_moves_in_one_way_however_far_off_it_is);
    tcase_add_test(report, the_report_says_how_close_rows_are_to_what_they_are_not);
    suite_add_tcase(suite, report);
    return test_run(suite);
}
