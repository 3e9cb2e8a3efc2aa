// matter/src/unilateral/unilateral_classify.c: the state tables on every boundary, and restitution.
#include "talus_test.h"

#include <talus/matter/unilateral.h>

#include <math.h>

static const double P = 1e-6, V = 1e-4, F = 1e-3; // tolerances

static tal_unilateral_facts facts_of(tal_unilateral_level level, double gap, double speed)
{
    return (tal_unilateral_facts){.level = level,
                                  .gap = gap,
                                  .speed = speed,
                                  .gap_tolerance = P,
                                  .speed_tolerance = V,
                                  .force_tolerance = F};
}

static tal_unilateral_status of_position(double gap, double speed)
{
    const tal_unilateral_facts facts = facts_of(TAL_UNILATERAL_POSITION, gap, speed);
    return tal_unilateral_classify(&facts);
}

static double above(double x)
{
    return nextafter(x, (double)INFINITY);
}

static double below(double x)
{
    return nextafter(x, -(double)INFINITY);
}

START_TEST(seven_states_of_positions_with_equality_on_the_side_of_candidates)
{
    ck_assert_int_eq(of_position(below(-P), 0.0), TAL_UNILATERAL_VIOLATED);
    ck_assert_int_eq(of_position(-P, 0.0), TAL_UNILATERAL_CANDIDATE);
    ck_assert_int_eq(of_position(P, 0.0), TAL_UNILATERAL_CANDIDATE);
    ck_assert_int_eq(of_position(above(P), 0.0), TAL_UNILATERAL_SEPARATED);
    ck_assert_int_eq(of_position(above(P), -1.0), TAL_UNILATERAL_SEPARATED);
    ck_assert_int_eq(of_position(0.0, V), TAL_UNILATERAL_CANDIDATE);
    ck_assert_int_eq(of_position(0.0, above(V)), TAL_UNILATERAL_SEPARATING);
    ck_assert_int_eq(of_position(0.0, -V), TAL_UNILATERAL_CANDIDATE);
    ck_assert_int_eq(of_position(0.0, below(-V)), TAL_UNILATERAL_IMPACTING);
    ck_assert_int_eq(of_position(below(-P), -1.0), TAL_UNILATERAL_VIOLATED);
    ck_assert_int_eq(of_position((double)NAN, 0.0), TAL_UNILATERAL_VIOLATED);
    ck_assert_int_eq(of_position(0.0, (double)NAN), TAL_UNILATERAL_VIOLATED);
}

END_TEST

START_TEST(an_impact_can_be_declared_of_what_touches)
{
    tal_unilateral_facts facts = facts_of(TAL_UNILATERAL_POSITION, 0.0, 0.0);
    facts.impact_declared = true;
    ck_assert_int_eq(tal_unilateral_classify(&facts), TAL_UNILATERAL_IMPACTING);
    facts.speed = 1.0;
    ck_assert_int_eq(tal_unilateral_classify(&facts), TAL_UNILATERAL_IMPACTING);
    facts.gap = above(P);
    ck_assert_int_eq(tal_unilateral_classify(&facts), TAL_UNILATERAL_SEPARATED);
}

END_TEST

START_TEST(forces_decide_between_active_and_inactive_and_ties_are_inactive)
{
    for (int level = TAL_UNILATERAL_POSITION; level <= TAL_UNILATERAL_ACCELERATION; ++level) {
        tal_unilateral_facts facts = facts_of((tal_unilateral_level)level, 0.0, 0.0);
        ck_assert_int_eq(tal_unilateral_classify(&facts), TAL_UNILATERAL_CANDIDATE);
        facts.force_is_known = true;
        ck_assert_int_eq(tal_unilateral_classify(&facts), TAL_UNILATERAL_INACTIVE);
        facts.force = F;
        ck_assert_int_eq(tal_unilateral_classify(&facts), TAL_UNILATERAL_INACTIVE);
        facts.force = above(F);
        ck_assert_int_eq(tal_unilateral_classify(&facts), TAL_UNILATERAL_ACTIVE);
        facts.force = (double)NAN;
        ck_assert_int_eq(tal_unilateral_classify(&facts), TAL_UNILATERAL_VIOLATED);
    }
}

END_TEST

START_TEST(five_states_of_velocities_and_three_of_accelerations)
{
    const double speeds[] = {below(-V), -V, V, above(V), (double)NAN};
    const tal_unilateral_status states[] = {TAL_UNILATERAL_VIOLATED, TAL_UNILATERAL_CANDIDATE,
                                            TAL_UNILATERAL_CANDIDATE, TAL_UNILATERAL_SEPARATED,
                                            TAL_UNILATERAL_VIOLATED};
    for (int i = 0; i < 5; ++i) {
        tal_unilateral_facts facts = facts_of(TAL_UNILATERAL_VELOCITY, -1.0, speeds[i]);
        ck_assert_int_eq(tal_unilateral_classify(&facts), states[i]);
        facts.level = TAL_UNILATERAL_ACCELERATION; // whatever the speed is
        ck_assert_int_eq(tal_unilateral_classify(&facts), TAL_UNILATERAL_CANDIDATE);
    }
}

END_TEST

START_TEST(restitution_has_three_branches)
{
    tal_unilateral_material m = tal_unilateral_material_default();
    m.restitution = 0.4;
    m.slow_speed = 0.5;
    m.capture_speed = 0.1;
    ck_assert_double_eq(tal_unilateral_restitution(&m, 0.0), 0.0);
    ck_assert_double_eq(tal_unilateral_restitution(&m, 0.1), 0.0);
    // 1 - 0.6 * 0.2 / 0.5; one rounding each, four in all
    ck_assert_double_eq_tol(tal_unilateral_restitution(&m, 0.2), 0.76, 1e-15);
    ck_assert_double_eq(tal_unilateral_restitution(&m, 0.5), 0.4);
    ck_assert_double_eq(tal_unilateral_restitution(&m, 7.0), 0.4);
    m.slow_speed = m.capture_speed = 0.0;
    ck_assert_double_eq(tal_unilateral_restitution(&m, 1e-300), 0.4);
    ck_assert_double_eq(tal_unilateral_restitution(&m, 0.0), 0.0);
}

END_TEST

START_TEST(what_is_not_there_is_a_breach)
{
    const int before = test_breaches();
    ck_assert_int_eq(tal_unilateral_classify(NULL), TAL_UNILATERAL_VIOLATED);
    ck_assert(isnan(tal_unilateral_restitution(NULL, 1.0)));
    const tal_unilateral_facts facts = facts_of((tal_unilateral_level)7, 0.0, 0.0);
    ck_assert_int_eq(tal_unilateral_classify(&facts), TAL_UNILATERAL_VIOLATED);
    ck_assert_int_eq(test_breaches(), before + 3);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/unilateral_classify");
    TCase *tc = tcase_create("tables");
    tcase_add_test(tc, seven_states_of_positions_with_equality_on_the_side_of_candidates);
    tcase_add_test(tc, an_impact_can_be_declared_of_what_touches);
    tcase_add_test(tc, forces_decide_between_active_and_inactive_and_ties_are_inactive);
    tcase_add_test(tc, five_states_of_velocities_and_three_of_accelerations);
    tcase_add_test(tc, restitution_has_three_branches);
    tcase_add_test(tc, what_is_not_there_is_a_breach);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
