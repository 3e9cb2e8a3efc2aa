// Tests for molecule/src/term/law.c: bonded terms as pure functions.
#include "molecule_terms.h"
#include "talus_test.h"
#include "term/law_internal.h"

static tali_field_law law_of(const ref_term *r)
{
    const double rad = TAL_MOL_DEGREE;
    tali_field_law law = {.k = r->par[0], .x0 = r->par[1]};
    tal_ff_wave waves[4];
    for (int w = 0; w < r->num_waves; ++w) {
        waves[w] =
            (tal_ff_wave){(int)r->waves[w][0], r->waves[w][1], r->waves[w][2] * TAL_MOL_DEGREE};
    }
    switch (r->kind) {
    case REF_STRETCH:
    case REF_UREY_BRADLEY:
        law.kind = TALI_STRETCH;
        break;
    case REF_BEND:
    case REF_COSINE_BEND:
        law.kind = r->kind == REF_BEND ? TALI_BEND : TALI_COSINE_BEND;
        law.x0 *= rad;
        break;
    case REF_HARMONIC_IMPROPER:
        law.kind = TALI_HARMONIC_IMPROPER;
        law.x0 *= rad;
        break;
    default:
        law.kind = TALI_TORSION;
        ck_assert(tali_field_series_of_waves(waves, r->num_waves, &law.series));
    }
    return law;
}

// refs:bonded_terms. Energies are closed forms; forces there are differences, good to 1e-8.
START_TEST(terms_are_those_of_the_references)
{
    for (size_t k = 0; k < sizeof ref_terms / sizeof ref_terms[0]; ++k) {
        const ref_term *r = &ref_terms[k];
        const tali_field_law law = law_of(r);
        const bool is_ends = r->kind == REF_UREY_BRADLEY; // the middle atom takes no part
        tal_vec3 x[4], f[4];
        for (int i = 0; i < 4; ++i) {
            const int at = is_ends && i == 1 ? 2 : i;
            x[i] = tal_v3(r->x[at][0], r->x[at][1], r->x[at][2]);
            f[i] = tal_v3(r->f[at][0], r->f[at][1], r->f[at][2]);
        }
        const tali_term_result result = tali_term_evaluate(&law, x);
        ck_assert_double_eq_tol(result.energy, r->energy, 1e-12 * fmax(1.0, r->energy));
        double size = 1.0;
        for (int i = 0; i < r->num_atoms; ++i) {
            size = fmax(size, tal_v3_norm(f[i]));
        }
        const int n = is_ends ? 2 : r->num_atoms;
        for (int i = 0; i < n; ++i) {
            test_assert_v3_near(result.f[i], f[i], 2e-8 * size);
        }
    }
}

END_TEST

static tali_field_law random_law(test_rng *rng, int kind)
{
    tali_field_law law = {.kind = (tali_field_kind)kind,
                          .k = test_random_uniform(rng, 1.0, 100.0),
                          .x0 = test_random_uniform(rng, 0.2, 3.0)};
    law.series.a0 = 1.0;
    for (int n = 0; n < TALI_WAVES; ++n) {
        law.series.a[n] = test_random_uniform(rng, -5.0, 5.0);
        law.series.b[n] = test_random_uniform(rng, -5.0, 5.0);
    }
    return law;
}

static const int num_atoms[5] = {2, 3, 3, 4, 4};

// Four points of a difference: error h^4 times a fifth derivative of some 1e5 (six waves), and
// round-off 1e-14/h.
START_TEST(forces_are_the_slope_of_the_energy)
{
    test_rng rng = test_rng_seed(21);
    const double h = 1e-4;
    for (int trial = 0; trial < 500; ++trial) {
        const int kind = trial % 5;
        const tali_field_law law = random_law(&rng, kind);
        tal_vec3 x[4], direction[4];
        for (int i = 0; i < 4; ++i) {
            x[i] = test_random_vec3(&rng);
            direction[i] = test_random_vec3(&rng);
        }
        const tali_term_result at = tali_term_evaluate(&law, x);
        double power = 0.0, size = 1.0, e[4];
        static const double steps[4] = {-2.0, -1.0, 1.0, 2.0};
        for (int k = 0; k < 4; ++k) {
            tal_vec3 moved[4];
            for (int i = 0; i < 4; ++i) {
                moved[i] = tal_v3_axpy(steps[k] * h, direction[i], x[i]);
            }
            e[k] = tali_term_evaluate(&law, moved).energy;
        }
        for (int i = 0; i < num_atoms[kind]; ++i) {
            power += tal_v3_dot(at.f[i], direction[i]);
            size = fmax(size, tal_v3_norm(at.f[i]));
        }
        const double slope = (e[0] - 8.0 * e[1] + 8.0 * e[2] - e[3]) / (12.0 * h);
        // geometry within 0.03 of a line makes derivatives grow; the size of the force tells
        ck_assert_double_eq_tol(-slope, power, 1e-7 * size * size);
    }
}

END_TEST

START_TEST(terms_neither_push_nor_turn_as_a_whole)
{
    test_rng rng = test_rng_seed(22);
    for (int trial = 0; trial < 200; ++trial) {
        const int kind = trial % 5;
        const tali_field_law law = random_law(&rng, kind);
        tal_vec3 x[4], force = {0.0, 0.0, 0.0}, torque = {0.0, 0.0, 0.0};
        for (int i = 0; i < 4; ++i) {
            x[i] = test_random_vec3(&rng);
        }
        const tali_term_result at = tali_term_evaluate(&law, x);
        double size = 1.0;
        for (int i = 0; i < num_atoms[kind]; ++i) {
            force = tal_v3_add(force, at.f[i]);
            torque = tal_v3_add(torque, tal_v3_cross(x[i], at.f[i]));
            size = fmax(size, tal_v3_norm(at.f[i]));
        }
        ck_assert_double_le(tal_v3_norm(force), 1e-13 * size);
        ck_assert_double_le(tal_v3_norm(torque), 1e-13 * size);
    }
}

END_TEST

START_TEST(atoms_in_line_and_at_one_place_get_finite_forces)
{
    const double pi = acos(-1.0);
    const tal_vec3 line[4] = {{-1.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {2.0, 0.0, 0.0}, {3.0, 1.0, 0.0}};
    const tal_vec3 same[4] = {{0.0, 0.0, 0.0}};
    tali_field_law law = {.kind = TALI_BEND, .k = 10.0, .x0 = pi};
    ck_assert_double_eq(tali_term_evaluate(&law, line).energy, 0.0);
    ck_assert_double_eq(tal_v3_norm(tali_term_evaluate(&law, line).f[0]), 0.0);
    law.x0 = 2.0; // it bends, into some plane: 2 k (pi - 2) over the length
    const tali_term_result bent = tali_term_evaluate(&law, line);
    ck_assert_double_eq_tol(tal_v3_norm(bent.f[0]), 20.0 * (pi - 2.0), 1e-12);
    ck_assert_double_eq_tol(tal_v3_norm(bent.f[2]), 10.0 * (pi - 2.0), 1e-12);
    ck_assert_double_ge(tal_v3_dot(bent.f[0], bent.f[2]), 1.0); // both ends to the same side
    for (int kind = 0; kind < 5; ++kind) {
        law.kind = (tali_field_kind)kind;
        for (int i = 0; i < 4; ++i) {
            const tal_vec3 f = tali_term_evaluate(&law, same).f[i];
            ck_assert_double_eq(tal_v3_norm(f), 0.0);
            ck_assert(tal_v3_is_finite(tali_term_evaluate(&law, line).f[i]));
        }
    }
}

END_TEST

START_TEST(a_shifted_series_is_the_same_function)
{
    test_rng rng = test_rng_seed(23);
    for (int trial = 0; trial < 50; ++trial) {
        const tali_field_law law = random_law(&rng, TALI_TORSION);
        const double delta = test_random_uniform(&rng, -4.0, 4.0);
        tali_field_series moved = {0};
        tali_term_add_shifted(&law.series, delta, &moved);
        const double q = test_random_uniform(&rng, -4.0, 4.0), phi = q + delta;
        double slope[2];
        const double a = tali_term_series(&law.series, cos(phi), sin(phi), &slope[0]);
        const double b = tali_term_series(&moved, cos(q), sin(q), &slope[1]);
        ck_assert_double_eq_tol(a, b, 1e-13);
        ck_assert_double_eq_tol(slope[0], slope[1], 1e-12);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("law");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, terms_are_those_of_the_references);
    tcase_add_test(theory, forces_are_the_slope_of_the_energy);
    tcase_add_test(theory, terms_neither_push_nor_turn_as_a_whole);
    tcase_add_test(theory, atoms_in_line_and_at_one_place_get_finite_forces);
    tcase_add_test(theory, a_shifted_series_is_the_same_function);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
