// Tests for forces/src/contact/contact_material.c.
#include "talus_test.h"

#include <talus/forces/contact_material.h>

#include <math.h>

static tal_contact_material material(double E, double c)
{
    tal_contact_material m = tal_contact_material_default();
    m.stiffness = E;
    m.foundation = 10.0 * E;
    m.dissipation = c;
    m.static_friction = 0.8;
    m.dynamic_friction = 0.4;
    m.viscous_friction = 0.2;
    return m;
}

// By manual sec. 11.2.2 with errata both surfaces feel E1 x1^n = E2 x2^n = E* (x1 + x2)^n.
START_TEST(both_surfaces_feel_the_same_force)
{
    const double exponents[] = {1.0, 1.5, 2.0, 3.3};
    for (int i = 0; i < 4; ++i) {
        for (int j = -3; j <= 3; ++j) {
            const double n = exponents[i], E1 = 2e6, E2 = E1 * pow(10.0, 2.0 * j), x = 0.01;
            const tal_contact_material m1 = material(E1, 0.3), m2 = material(E2, 0.7);
            const tal_contact_pair_material both = tal_contact_combine(&m1, &m2, n);
            const double f = both.stiffness * pow(x, n);
            const double s1 = both.share1, s2 = 1.0 - s1;
            // s2 comes out of 1 - s1 and loses what s1 is larger
            ck_assert_double_eq_tol(E1 * pow(s1 * x, n), f, 1e-14 * f);
            ck_assert_double_eq_tol(E2 * pow(s2 * x, n), f, 1e-15 * n * f / s2);
            ck_assert_double_eq_tol(both.dissipation, 0.3 * s1 + 0.7 * s2, 1e-15);
            const double r1 = pow(E1, 1.0 / n), r2 = pow(E2, 1.0 / n);
            const double formula = pow(r1 * r2 / (r1 + r2), n);
            ck_assert_double_eq_tol(both.stiffness, formula, 1e-14 * formula);
            ck_assert_double_eq_tol(s1, r2 / (r1 + r2), 1e-15);
            const tal_contact_pair_material swapped = tal_contact_combine(&m2, &m1, n);
            ck_assert_double_eq(swapped.stiffness, both.stiffness);
            ck_assert_double_eq_tol(swapped.share1, s2, 4e-16);
        }
    }
}

END_TEST

START_TEST(foundations_combine_as_springs_in_series)
{
    const tal_contact_material m1 = material(2e6, 0.3), m2 = material(6e6, 0.7);
    const tal_contact_pair_material both = tal_contact_combine_foundations(&m1, &m2);
    ck_assert_double_eq_tol(both.stiffness, 2e7 * 6e7 / 8e7, 4.0 * DBL_EPSILON * 1.5e7);
    ck_assert_double_eq_tol(both.share1, 0.75, 4e-16);
}

END_TEST

START_TEST(friction_combines_harmonically)
{
    tal_contact_material m1 = material(1e6, 0.0), m2 = m1;
    m2.static_friction = 0.4;
    m2.dynamic_friction = 0.0;
    tal_contact_pair_material both = tal_contact_combine(&m1, &m2, 1.5);
    ck_assert_double_eq_tol(both.static_friction, 2.0 * 0.8 * 0.4 / 1.2, 4e-16);
    ck_assert_double_eq(both.dynamic_friction, 0.0);
    ck_assert_double_eq_tol(both.viscous_friction, 0.2, 4e-16);
    m1.dynamic_friction = 0.0;
    both = tal_contact_combine(&m1, &m2, 1.5);
    ck_assert_double_eq(both.dynamic_friction, 0.0);
}

END_TEST

// The first table of manual sec. 11.2.2: plane-strain moduli in GPa, to the digits printed
// (diamond's 1150 is 1146 rounded).
START_TEST(the_table_is_the_manuals)
{
    const double E[] = {0.0133, 2.4, 3.6, 17.0, 25.6, 220.0, 1150.0};
    for (int i = 0; i < TAL_RIGID; ++i) {
        const tal_contact_material m = tal_contact_material_of((tal_common_material)i);
        ck_assert_double_eq_tol(m.stiffness, E[i] * 1e9, 0.01 * E[i] * 1e9);
        ck_assert(m.foundation > 0.0 && isfinite(m.foundation));
        ck_assert_int_gt((int)strlen(tal_common_material_name((tal_common_material)i)), 3);
    }
    ck_assert_double_eq(tal_contact_material_of(TAL_STEEL).dissipation, 0.08);
    ck_assert_double_eq(tal_contact_material_of(TAL_LEAD).dissipation, 0.4);
    ck_assert_str_eq(tal_common_material_name(TAL_STEEL), "steel");
}

END_TEST

// The soft surface takes everything, and alone decides on losses; of two rigid ones nothing is
// known.
START_TEST(beside_a_rigid_surface_the_other_one_gives_way)
{
    const tal_contact_material rigid = tal_contact_material_of(TAL_RIGID);
    const tal_contact_material soft = tal_contact_material_of(TAL_RUBBER);
    ck_assert_str_eq(tal_common_material_name(TAL_RIGID), "rigid");
    const double exponents[] = {1.0, 1.5, 2.2};
    for (int i = 0; i < 3; ++i) {
        const tal_contact_pair_material ab = tal_contact_combine(&soft, &rigid, exponents[i]);
        const tal_contact_pair_material ba = tal_contact_combine(&rigid, &soft, exponents[i]);
        ck_assert_double_eq(ab.stiffness, soft.stiffness);
        ck_assert_double_eq(ba.stiffness, soft.stiffness);
        ck_assert(ab.share1 == 1.0 && ba.share1 == 0.0);
        ck_assert(ab.dissipation == soft.dissipation && ba.dissipation == soft.dissipation);
    }
    const tal_contact_pair_material bed = tal_contact_combine_foundations(&rigid, &soft);
    ck_assert(bed.stiffness == soft.foundation && bed.share1 == 0.0);
    ck_assert_double_nan(tal_contact_combine_foundations(&rigid, &rigid).stiffness);
}

END_TEST

START_TEST(moduli_are_their_formulas)
{
    ck_assert_double_eq_tol(tal_plane_strain_modulus(3.0, 0.5), 4.0, 1e-15);
    ck_assert_double_eq_tol(tal_confined_modulus(3.0, 0.25), 3.6, 1e-15);
}

END_TEST

START_TEST(bad_values_are_breaches)
{
    const tal_contact_material m = material(1e6, 0.0);
    double x = 0.0;
    tal_contact_pair_material both;
    test_assert_breach(x = tal_plane_strain_modulus(-1.0, 0.3), TAL_ERR_BAD_VALUE, "-1");
    ck_assert(isnan(x));
    test_assert_breach(x = tal_plane_strain_modulus(1.0, 0.6), TAL_ERR_BAD_VALUE, "0.6");
    const double bad[][2] = {{0.0, 0.3}, {INFINITY, 0.3}, {NAN, 0.3}, {1.0, -1.0}, {1.0, NAN}};
    for (int i = 0; i < 5; ++i) {
        test_assert_breach(x = tal_plane_strain_modulus(bad[i][0], bad[i][1]), TAL_ERR_BAD_VALUE,
                           "positive");
        ck_assert(isnan(x));
        test_assert_breach(x = tal_confined_modulus(bad[i][0], bad[i][1]), TAL_ERR_BAD_VALUE,
                           "positive");
        ck_assert(isnan(x));
    }
    test_assert_breach(x = tal_confined_modulus(1.0, 0.5), TAL_ERR_BAD_VALUE, "0.5");
    ck_assert(isnan(x));
    test_assert_breach(both = tal_contact_combine(NULL, &m, 1.5), TAL_ERR_NULL, "NULL");
    ck_assert(isnan(both.stiffness));
    test_assert_breach(both = tal_contact_combine(&m, &m, 0.5), TAL_ERR_BAD_VALUE, "0.5");
    ck_assert(isnan(both.stiffness));
    test_assert_breach(both = tal_contact_combine_foundations(&m, NULL), TAL_ERR_NULL, "NULL");
    ck_assert(isnan(both.share1));
    test_assert_breach(x = tal_contact_material_of((tal_common_material)99).stiffness,
                       TAL_ERR_BAD_INDEX, "99");
    ck_assert(isnan(x));
    test_assert_breach((void)tal_common_material_name((tal_common_material)(-1)), TAL_ERR_BAD_INDEX,
                       "-1");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/contact_material");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, both_surfaces_feel_the_same_force);
    tcase_add_test(theory, foundations_combine_as_springs_in_series);
    tcase_add_test(theory, friction_combines_harmonically);
    tcase_add_test(theory, moduli_are_their_formulas);
    tcase_add_test(theory, beside_a_rigid_surface_the_other_one_gives_way);
    suite_add_tcase(suite, theory);
    TCase *textbook = tcase_create("textbook");
    tcase_add_test(textbook, the_table_is_the_manuals);
    suite_add_tcase(suite, textbook);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, bad_values_are_breaches);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
