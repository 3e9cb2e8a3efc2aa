// Tests for molecule/src/field/: units, mixing, tables, series, and what a force field refuses.
#include "field/field_internal.h"
#include "molecule_mixing.h"
#include "talus_test.h"

static tal_ff *field(const tal_ff_def *def)
{
    tal_ff *ff = NULL;
    tal_error err;
    ck_assert_msg(tal_ff_create(def, NULL, &ff, &err) == TAL_OK, "%s", err.message);
    return ff;
}

static int add_bead(tal_ff *ff, const char *name, double size, double depth)
{
    tal_ff_class_def def = tal_ff_class_def_default();
    def.name = name;
    def.size = size;
    def.well_depth = depth;
    return tal_ff_add_class(ff, &def);
}

static void freeze(tal_ff *ff)
{
    tal_error err;
    ck_assert_msg(tal_ff_freeze(ff, &err) == TAL_OK, "%s", err.message);
}

// ---- units and elements

// kB NA of 2019 is exact; the others are products of exact numbers.
START_TEST(units_fit_together)
{
    ck_assert_double_eq_tol(TAL_MOL_R * 300.0, 2.494338785445972, 1e-15);
    ck_assert_double_eq_tol(TAL_MOL_R * 298.15, 2.4789570296023884, 1e-15);
    ck_assert_double_eq_tol(TAL_MOL_KCAL_PER_ANGSTROM, TAL_MOL_KCAL / TAL_MOL_ANGSTROM, 1e-14);
    ck_assert_double_eq_tol(TAL_MOL_KCAL_PER_ANGSTROM2,
                            TAL_MOL_KCAL / (TAL_MOL_ANGSTROM * TAL_MOL_ANGSTROM), 1e-12);
    ck_assert_double_eq_tol(TAL_MOL_RMIN_PER_SIGMA, pow(2.0, 1.0 / 6.0), 1e-15);
    ck_assert_double_eq_tol(TAL_MOL_DEGREE, acos(-1.0) / 180.0, 1e-17);
}

END_TEST

START_TEST(elements_are_found_by_symbol_and_have_standard_weights)
{
    ck_assert_str_eq(tal_element_symbol(6), "C");
    ck_assert_int_eq(tal_element_find("cl"), 17);
    ck_assert_int_eq(tal_element_find("Xx"), -1);
    ck_assert_double_eq(tal_element_mass(1), 1.008);
    ck_assert_double_eq(tal_element_mass(92), 238.03);
    ck_assert_double_eq(tal_element_mass(0), 0.0);
    ck_assert(isnan(tal_element_mass(43)));
    for (int i = 1; i <= TAL_MAX_ELEMENT; ++i) {
        ck_assert_int_eq(tal_element_find(tal_element_symbol(i)), i);
    }
    // weights rise with the number but for four famous pairs
    int falls = 0;
    for (int i = 2; i <= 92; ++i) {
        falls += tal_element_mass(i) < tal_element_mass(i - 1) ? 1 : 0;
    }
    ck_assert_int_eq(falls, 4); // Ar-K, Co-Ni, Te-I, Th-Pa
}

END_TEST

// ---- mixing

// refs:mixing_rules. Twelve powers of a number of relative error eps.
START_TEST(pairs_mix_as_the_references_say)
{
    for (int k = 0; k < 105; ++k) {
        const ref_mixed *r = &ref_mixed_pairs[k];
        const ref_well *a = &ref_wells[r->i], *b = &ref_wells[r->j];
        double s = 0.0, e = 0.0;
        ck_assert_int_eq(
            tal_ff_mix((tal_ff_mixing)r->rule, a->sigma, a->epsilon, b->sigma, b->epsilon, &s, &e),
            TAL_OK);
        ck_assert_double_eq_tol(s, r->sigma, 1e-14 * r->sigma);
        ck_assert_double_eq_tol(e, r->epsilon, 1e-13 * r->epsilon);
    }
}

END_TEST

START_TEST(a_frozen_field_holds_every_pair_both_ways)
{
    for (int rule = 0; rule <= TAL_FF_KONG; ++rule) {
        tal_ff_def def = tal_ff_def_default();
        def.mixing = (tal_ff_mixing)rule;
        tal_ff *ff = field(&def);
        for (int i = 0; i < 6; ++i) {
            ck_assert_int_eq(
                add_bead(ff, ref_wells[i].name, ref_wells[i].sigma, ref_wells[i].epsilon), i);
        }
        freeze(ff);

        for (int k = 0; k < 105; ++k) {
            const ref_mixed *r = &ref_mixed_pairs[k];
            if (r->rule != rule) continue;
            const tal_ff_pair p = tal_ff_pair_of(ff, r->i, r->j, false);
            const tal_ff_pair back = tal_ff_pair_of(ff, r->j, r->i, true);
            ck_assert_double_eq_tol(p.A, r->A, 1e-12 * r->A);
            ck_assert_double_eq_tol(p.B, r->B, 1e-12 * r->B);
            ck_assert(memcmp(&p, &back, sizeof p) == 0);
        }
        tal_ff_destroy(ff);
    }
}

END_TEST

// A rule gives what it was given for two classes that are the same, and does not care which is
// first, nor whether sizes are sigma or Rmin.
START_TEST(mixing_is_idempotent_symmetric_and_scales)
{
    test_rng rng = test_rng_seed(3);
    for (int k = 0; k < 200; ++k) {
        const tal_ff_mixing rule = (tal_ff_mixing)(k % 5);
        const double s1 = test_random_uniform(&rng, 0.1, 0.6);
        const double s2 = test_random_uniform(&rng, 0.1, 0.6);
        const double e1 = test_random_uniform(&rng, 0.01, 5.0);
        const double e2 = test_random_uniform(&rng, 0.01, 5.0), c = TAL_MOL_RMIN_PER_SIGMA;
        double s[4], e[4];
        (void)tal_ff_mix(rule, s1, e1, s1, e1, &s[0], &e[0]);
        (void)tal_ff_mix(rule, s1, e1, s2, e2, &s[1], &e[1]);
        (void)tal_ff_mix(rule, s2, e2, s1, e1, &s[2], &e[2]);
        (void)tal_ff_mix(rule, c * s1, e1, c * s2, e2, &s[3], &e[3]);
        // powers of 12 and 1/6 in turn: some 50 eps
        ck_assert_double_eq_tol(s[0], s1, 1e-14);
        ck_assert_double_eq_tol(e[0], e1, 1e-13 * e1);
        ck_assert_double_eq_tol(s[1], s[2], 1e-15);
        ck_assert_double_eq_tol(e[1], e[2], 1e-14 * e[1]);
        ck_assert_double_eq_tol(s[3], c * s[1], 1e-14);
        ck_assert_double_eq_tol(e[3], e[1], 1e-13 * e[1]);
    }
}

END_TEST

START_TEST(what_has_no_size_or_depth_does_not_interact)
{
    for (int rule = 0; rule <= TAL_FF_KONG; ++rule) {
        double s = 1.0, e = 1.0;
        ck_assert_int_eq(tal_ff_mix((tal_ff_mixing)rule, 0.0, 1.0, 0.3, 1.0, &s, &e), TAL_OK);
        ck_assert_double_eq(e, 0.0);
        ck_assert_int_eq(tal_ff_mix((tal_ff_mixing)rule, 0.3, 0.0, 0.0, 0.0, &s, &e), TAL_OK);
        ck_assert_double_eq(s, 0.0);
    }
}

END_TEST

START_TEST(pairs_given_by_hand_replace_mixed_ones)
{
    tal_ff *ff = field(NULL);
    const int a = add_bead(ff, "a", 0.3, 1.0), b = add_bead(ff, "b", 0.4, 2.0);
    (void)tal_ff_add_pair(ff, b, a, 0.5, 3.0);
    (void)tal_ff_add_pair14(ff, a, b, 0.25, 0.5);
    (void)tal_ff_add_pair_AB(ff, b, b, 7.0, 8.0);
    freeze(ff);

    const tal_ff_pair ab = tal_ff_pair_of(ff, a, b, false), near = tal_ff_pair_of(ff, b, a, true);
    ck_assert_double_eq_tol(ab.B, 12.0 * pow(0.5, 6.0), 1e-15);
    ck_assert_double_eq_tol(ab.A, 12.0 * pow(0.5, 12.0), 1e-15);
    ck_assert_double_eq_tol(near.B, 2.0 * pow(0.25, 6.0), 1e-15);
    ck_assert_double_eq(tal_ff_pair_of(ff, b, b, true).A, 7.0);
    tal_ff_destroy(ff);
}

END_TEST

// ---- entry forms

START_TEST(three_forms_of_a_size_and_two_of_units_are_one)
{
    tal_ff *ff = field(NULL);
    tal_ff_class_def def = tal_ff_class_def_default();
    def.name = "sigma";
    def.size = 0.34;
    def.well_depth = 0.4184;
    (void)tal_ff_add_class(ff, &def);
    def.name = "rmin";
    def.size_kind = TAL_FF_RMIN;
    def.size = 0.34 * TAL_MOL_RMIN_PER_SIGMA;
    (void)tal_ff_add_class(ff, &def);
    def.name = "radius";
    def.size_kind = TAL_FF_RADIUS;
    def.size = 0.17 * TAL_MOL_RMIN_PER_SIGMA;
    (void)tal_ff_add_class(ff, &def);
    def.name = "ka";
    def.size = 1.7 * TAL_MOL_RMIN_PER_SIGMA;
    def.well_depth = 0.1;
    (void)tal_ff_add_class_ka(ff, &def);
    const tal_ff_wave md = {3, 0.6 * 4.184, 0.0}, ka = {3, 0.6, 0.0};
    (void)tal_ff_add_stretch(ff, 0, 0, 310.0 * 418.4, 0.1526);
    (void)tal_ff_add_stretch_ka(ff, 1, 1, 310.0, 1.526);
    (void)tal_ff_add_bend(ff, 0, 0, 0, 40.0 * 4.184, 109.5 * TAL_MOL_DEGREE);
    (void)tal_ff_add_bend_ka(ff, 1, 1, 1, 40.0, 109.5);
    (void)tal_ff_add_urey_bradley(ff, 0, 0, 0, 5.0 * 418.4, 0.25);
    (void)tal_ff_add_urey_bradley_ka(ff, 1, 1, 1, 5.0, 2.5);
    (void)tal_ff_add_torsion(ff, 0, 0, 0, 0, &md, 1);
    (void)tal_ff_add_torsion_ka(ff, 1, 1, 1, 1, &ka, 1);
    (void)tal_ff_add_pair(ff, 0, 3, 0.3, 4.184);
    (void)tal_ff_add_pair_ka(ff, 1, 3, 3.0, 1.0);
    freeze(ff);

    for (int i = 1; i < 4; ++i) {
        ck_assert_double_eq_tol(ff->classes[i].sigma, 0.34, 1e-16);
        ck_assert_double_eq_tol(ff->classes[i].well_depth, 0.4184, 1e-16);
    }
    for (int t = 0; t < TALI_TABLE_IMPROPER; ++t) {
        const tali_field_rows *rows = &ff->tables[t];
        ck_assert_int_eq(rows->count, 2);
        const tali_field_law *a = &rows->items[0].law, *b = &rows->items[1].law;
        ck_assert_double_eq_tol(a->k, b->k, 1e-10);
        ck_assert_double_eq_tol(a->x0, b->x0, 1e-15);
        ck_assert_double_eq_tol(a->series.a[2], b->series.a[2], 1e-15);
    }
    ck_assert_double_eq_tol(tal_ff_pair_of(ff, 0, 3, false).B, tal_ff_pair_of(ff, 1, 3, false).B,
                            1e-15);
    tal_ff_destroy(ff);
}

END_TEST

static double value_of(const tali_field_series *series, double phi)
{
    double sum = series->a0;
    for (int n = 1; n <= TALI_WAVES; ++n) {
        sum += series->a[n - 1] * cos(n * phi) + series->b[n - 1] * sin(n * phi);
    }
    return sum;
}

START_TEST(waves_and_powers_of_cosines_become_series)
{
    const tal_ff_wave waves[] = {
        {1, 0.7, 0.3}, {2, -1.1, acos(-1.0)}, {6, 0.2, 0.0}, {2, 0.4, -1.0}};
    const double C[6] = {9.28, 12.16, -13.12, -3.06, 26.24, -31.5}; // Ryckaert and Bellemans
    tali_field_series series;
    ck_assert(tali_field_series_of_waves(waves, 4, &series));
    const tali_field_series powers = tali_field_series_of_powers(C);
    for (int k = 0; k < 50; ++k) {
        const double phi = -3.0 + 0.13 * k, c = cos(phi - acos(-1.0));
        double expected = 0.0, sum = 0.0;
        for (int i = 0; i < 4; ++i) {
            expected += waves[i].V * (1.0 + cos(waves[i].n * phi - waves[i].gamma));
        }
        for (int i = 5; i >= 0; --i) {
            sum = sum * c + C[i];
        }
        ck_assert_double_eq_tol(value_of(&series, phi), expected, 1e-14);
        ck_assert_double_eq_tol(value_of(&powers, phi), sum, 1e-13); // terms of 31 that cancel
    }
    ck_assert_double_eq(series.b[5], 0.0); // gamma = 0 and pi leave no sine behind
}

END_TEST

// ---- tables

START_TEST(rows_are_found_in_both_directions)
{
    tal_ff *ff = field(NULL);
    for (int i = 0; i < 4; ++i) {
        const char name[2] = {(char)('a' + i), '\0'};
        (void)add_bead(ff, name, 0.3, 1.0);
    }
    (void)tal_ff_add_bend(ff, 3, 1, 0, 10.0, 1.0);
    (void)tal_ff_add_bend(ff, 0, 1, 2, 20.0, 1.0);
    (void)tal_ff_add_bend(ff, 0, 1, 3, 10.0, 1.0); // the same again
    freeze(ff);

    const int forth[4] = {0, 1, 3, 0}, back[4] = {3, 1, 0, 0}, none[4] = {1, 0, 3, 0};
    ck_assert_int_eq(ff->tables[TALI_TABLE_BEND].count, 2);
    ck_assert_double_eq(tali_field_find(ff, TALI_TABLE_BEND, forth)->law.k, 10.0);
    ck_assert_double_eq(tali_field_find(ff, TALI_TABLE_BEND, back)->law.k, 10.0);
    ck_assert_ptr_null(tali_field_find(ff, TALI_TABLE_BEND, none));
    tal_ff_destroy(ff);
}

END_TEST

static double torsion(const tal_ff *ff, int a, int b, int c, int d)
{
    const int key[4] = {a, b, c, d};
    const tali_field_row *row = tali_field_find(ff, TALI_TABLE_TORSION, key);
    return row != NULL ? row->law.series.a0 : -1.0;
}

// Exact, then one wildcard (of two such the one added first), then two.
START_TEST(a_torsion_with_fewer_wildcards_goes_first)
{
    tal_ff *ff = field(NULL);
    for (int i = 0; i < 4; ++i) {
        const char name[2] = {(char)('a' + i), '\0'};
        (void)add_bead(ff, name, 0.3, 1.0);
    }
    const int any = TAL_FF_ANY;
    const int keys[6][4] = {{any, 1, 2, any}, {0, 1, 2, any}, {any, 1, 2, 3},
                            {0, 1, 2, 0},     {any, 1, 1, 3}, {3, 2, 1, 3}};
    for (int k = 0; k < 6; ++k) {
        const tal_ff_wave wave = {1, 1.0 + k, 0.0};
        const int *c = keys[k];
        ck_assert_int_eq(tal_ff_add_torsion(ff, c[0], c[1], c[2], c[3], &wave, 1), TAL_OK);
    }
    freeze(ff);

    ck_assert_double_eq(torsion(ff, 0, 1, 2, 0), 4.0);
    ck_assert_double_eq(torsion(ff, 0, 2, 1, 0), 4.0);
    ck_assert_double_eq(torsion(ff, 0, 1, 2, 3), 2.0); // both fit; added first
    ck_assert_double_eq(torsion(ff, 3, 2, 1, 0), 2.0);
    ck_assert_double_eq(torsion(ff, 1, 1, 2, 3), 3.0);
    ck_assert_double_eq(torsion(ff, 1, 1, 2, 1), 1.0);
    ck_assert_double_eq(torsion(ff, 3, 1, 2, 3), 6.0);
    ck_assert_double_eq(torsion(ff, 3, 1, 1, 0), 5.0);
    ck_assert_double_eq(torsion(ff, 0, 1, 1, 0), -1.0);
    tal_ff_destroy(ff);
}

END_TEST

START_TEST(sorting_many_rows_loses_none)
{
    tal_ff *ff = field(NULL);
    test_rng rng = test_rng_seed(8);
    for (int i = 0; i < 40; ++i) {
        const char name[3] = {(char)('a' + i % 26), (char)('a' + i / 26), '\0'};
        (void)add_bead(ff, name, 0.3, 1.0);
    }
    for (int k = 0; k < 3000; ++k) {
        const int a = (int)(test_random_bits(&rng) % 40), b = (int)(test_random_bits(&rng) % 40);
        (void)tal_ff_add_stretch(ff, a, b, 100.0 * (a + b) + a * b, 0.1);
    }
    freeze(ff);
    int found = 0;
    for (int a = 0; a < 40; ++a) {
        for (int b = 0; b <= a; ++b) {
            const int key[4] = {a, b, 0, 0};
            const tali_field_row *row = tali_field_find(ff, TALI_TABLE_STRETCH, key);
            if (row == NULL) continue;
            ++found;
            ck_assert_double_eq(row->law.k, 100.0 * (a + b) + a * b);
        }
    }
    ck_assert_int_eq(found, ff->tables[TALI_TABLE_STRETCH].count);
    ck_assert_int_gt(found, 700); // of 820, each drawn about 3.7 times
    tal_ff_destroy(ff);
}

END_TEST

// ---- errors

// What one bad call leaves behind, the others being ignored.
static void assert_refuses(tal_ff *ff, tal_status expected, const char *part)
{
    tal_error err;
    ck_assert_int_eq(tal_ff_freeze(ff, &err), expected);
    ck_assert_msg(strstr(err.message, part) != NULL, "'%s' lacks '%s'", err.message, part);
    tal_ff_destroy(ff);
}

static tal_ff *two_classes(void)
{
    tal_ff *ff = field(NULL);
    (void)add_bead(ff, "a", 0.3, 1.0);
    (void)add_bead(ff, "b", 0.3, 1.0);
    return ff;
}

START_TEST(freezing_says_what_was_refused_first)
{
    const tal_ff_wave seven = {7, 1.0, 0.0};
    const double C[6] = {0.0, NAN, 0.0, 0.0, 0.0, 0.0};
    tal_ff *ff = two_classes();
    ck_assert_int_eq(add_bead(ff, "c", -0.3, 1.0), -1);
    ck_assert_int_eq(add_bead(ff, "a", 0.3, 1.0), -1);
    assert_refuses(ff, TAL_ERR_BAD_VALUE, "class 'c' has size -0.3");
    (void)add_bead(ff = two_classes(), "c", 0.3, -1.0);
    assert_refuses(ff, TAL_ERR_BAD_VALUE, "well depth -1");
    (void)add_bead(ff = two_classes(), "a", 0.3, 1.0);
    assert_refuses(ff, TAL_ERR_BAD_NAME, "class 'a' already");
    (void)add_bead(ff = two_classes(), "twenty-four characters..", 0.3, 1.0);
    assert_refuses(ff, TAL_ERR_BAD_NAME, "longer than 23");
    (void)tal_ff_add_type(ff = two_classes(), "t", 2, 0.0);
    assert_refuses(ff, TAL_ERR_BAD_INDEX, "class 2: there are 2");
    (void)tal_ff_add_type(ff = two_classes(), "t", 0, NAN);
    assert_refuses(ff, TAL_ERR_NOT_FINITE, "type 't' has charge");
    (void)tal_ff_set_type_mass(ff = two_classes(), 0, 1.0);
    assert_refuses(ff, TAL_ERR_BAD_INDEX, "type 0: there are 0");
    (void)tal_ff_add_stretch(ff = two_classes(), 0, 1, -1.0, 0.1);
    assert_refuses(ff, TAL_ERR_BAD_VALUE, "k is -1");
    (void)tal_ff_add_stretch(ff = two_classes(), 0, TAL_FF_ANY, 1.0, 0.1);
    assert_refuses(ff, TAL_ERR_BAD_INDEX, "class -1");
    (void)tal_ff_add_bend(ff = two_classes(), 0, 1, 0, 1.0, 4.0);
    assert_refuses(ff, TAL_ERR_BAD_VALUE, "between 0 and 3.14");
    (void)tal_ff_add_torsion(ff = two_classes(), 0, 1, 0, 1, &seven, 1);
    assert_refuses(ff, TAL_ERR_BAD_VALUE, "n = 7");
    (void)tal_ff_add_torsion(ff = two_classes(), 0, TAL_FF_ANY, 0, 1, &seven, 0);
    assert_refuses(ff, TAL_ERR_BAD_INDEX, "class -1");
    (void)tal_ff_add_improper(ff = two_classes(), 0, 1, 0, 1, NULL, 1);
    assert_refuses(ff, TAL_ERR_NULL, "1 waves at NULL");
    (void)tal_ff_add_rb_torsion(ff = two_classes(), 0, 1, 0, 1, C);
    assert_refuses(ff, TAL_ERR_NOT_FINITE, "coefficient");
    (void)tal_ff_add_harmonic_improper(ff = two_classes(), 0, 1, 0, 1, 1.0, 7.0);
    assert_refuses(ff, TAL_ERR_BAD_VALUE, "phi0 7");
    (void)tal_ff_add_pair(ff = two_classes(), 0, 1, -1.0, 1.0);
    assert_refuses(ff, TAL_ERR_BAD_VALUE, "sigma is -1");
    (void)tal_ff_add_pair_AB(ff = two_classes(), 0, 1, NAN, 1.0);
    assert_refuses(ff, TAL_ERR_BAD_VALUE, "A is");
}

END_TEST

START_TEST(one_key_with_two_values_is_refused)
{
    tal_ff *ff = two_classes();
    (void)tal_ff_add_torsion(ff, TAL_FF_ANY, 0, 1, 1, NULL, 0);
    const tal_ff_wave wave = {2, 1.0, 0.0};
    (void)tal_ff_add_torsion(ff, 1, 1, 0, TAL_FF_ANY, &wave, 1);
    assert_refuses(ff, TAL_ERR_BAD_VALUE, "torsion of classes any-a-b-b was added twice");
}

END_TEST

START_TEST(an_element_without_a_mass_needs_one)
{
    tal_ff *ff = field(NULL);
    tal_ff_class_def def = tal_ff_class_def_default();
    def.name = "tc";
    def.element = 43;
    (void)tal_ff_add_class(ff, &def);
    const int type = tal_ff_add_type(ff, "tc4", 0, 4.0);
    tal_error err;
    ck_assert_int_eq(tal_ff_freeze(ff, &err), TAL_ERR_BAD_VALUE);
    ck_assert(strstr(err.message, "element Tc has no standard mass") != NULL);
    tal_ff_destroy(ff);

    ff = field(NULL);
    (void)tal_ff_add_class(ff, &def);
    ck_assert_int_eq(tal_ff_add_type(ff, "tc4", 0, 4.0), type);
    (void)tal_ff_set_type_mass(ff, type, 97.9);
    freeze(ff);
    ck_assert_double_eq(tal_ff_type_mass(ff, type), 97.9);
    ck_assert_double_eq(tal_ff_type_charge(ff, type), 4.0);
    ck_assert_int_eq(tal_ff_type_class(ff, type), 0);
    ck_assert_int_eq(tal_ff_find_type(ff, "tc4"), type);
    ck_assert_str_eq(tal_ff_class_name(ff, 0), "tc");
    tal_ff_destroy(ff);
}

END_TEST

START_TEST(bad_options_are_refused_by_name)
{
    tal_ff *ff = NULL;
    tal_error err;
    tal_ff_def def = tal_ff_def_default();
    def.vdw_scale[2] = -0.5;
    ck_assert_int_eq(tal_ff_create(&def, NULL, &ff, &err), TAL_ERR_BAD_VALUE);
    ck_assert(strstr(err.message, "3 bonds apart are scaled by 1 and -0.5") != NULL);
    def = tal_ff_def_default();
    def.coulomb_constant = 0.0;
    ck_assert_int_eq(tal_ff_create(&def, NULL, &ff, &err), TAL_ERR_BAD_VALUE);
    def = tal_ff_def_default();
    def.mixing = (tal_ff_mixing)5;
    ck_assert_int_eq(tal_ff_create(&def, NULL, &ff, &err), TAL_ERR_BAD_VALUE);
    def = tal_ff_def_default();
    def.atom_radius_scale = NAN;
    ck_assert_int_eq(tal_ff_create(&def, NULL, &ff, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(ff);
}

END_TEST

START_TEST(broken_contracts_are_reported)
{
    test_record_breaches();
    tal_ff *ff = two_classes();
    double s, e;
    test_assert_breach((void)tal_ff_pair_of(ff, 0, 1, false), TAL_ERR_TOPOLOGY, "tal_ff_freeze");
    freeze(ff);
    test_assert_refused(tal_ff_add_stretch(ff, 0, 1, 1.0, 0.1), TAL_ERR_TOPOLOGY, "frozen");
    test_assert_breach(ck_assert_int_eq(tal_ff_type_class(ff, 0), -1), TAL_ERR_BAD_INDEX, "type 0");
    test_assert_breach(ck_assert(isnan(tal_ff_pair_of(ff, 0, 2, false).A)), TAL_ERR_BAD_INDEX,
                       "class 2");
    test_assert_refused(tal_ff_mix((tal_ff_mixing)9, 1.0, 1.0, 1.0, 1.0, &s, &e), TAL_ERR_BAD_VALUE,
                        "no rule");
    test_assert_breach(ck_assert_str_eq(tal_element_symbol(119), ""), TAL_ERR_BAD_INDEX, "119");
    tal_ff_destroy(ff);
}

END_TEST

START_TEST(when_any_allocation_fails_nothing_is_left_behind)
{
    for (int refuse = 1;; ++refuse) {
        test_heap heap = {.refuse_at = refuse};
        const tal_allocator allocator = test_heap_allocator(&heap);
        tal_ff *ff = NULL;
        tal_status st = tal_ff_create(NULL, &allocator, &ff, NULL);
        if (st == TAL_OK) {
            (void)add_bead(ff, "a", 0.3, 1.0);
            (void)tal_ff_add_type(ff, "a", 0, 0.0);
            (void)tal_ff_add_stretch(ff, 0, 0, 1.0, 0.1);
            st = tal_ff_freeze(ff, NULL);
        }
        tal_ff_destroy(ff);
        ck_assert_int_eq(heap.live, 0);
        if (st == TAL_OK) {
            test_assert_never_refused(&heap);
            break;
        }
        ck_assert(st == TAL_ERR_NO_MEMORY);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("field");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, units_fit_together);
    tcase_add_test(theory, elements_are_found_by_symbol_and_have_standard_weights);
    tcase_add_test(theory, pairs_mix_as_the_references_say);
    tcase_add_test(theory, a_frozen_field_holds_every_pair_both_ways);
    tcase_add_test(theory, mixing_is_idempotent_symmetric_and_scales);
    tcase_add_test(theory, what_has_no_size_or_depth_does_not_interact);
    tcase_add_test(theory, pairs_given_by_hand_replace_mixed_ones);
    tcase_add_test(theory, three_forms_of_a_size_and_two_of_units_are_one);
    tcase_add_test(theory, waves_and_powers_of_cosines_become_series);
    tcase_add_test(theory, rows_are_found_in_both_directions);
    tcase_add_test(theory, a_torsion_with_fewer_wildcards_goes_first);
    tcase_add_test(theory, sorting_many_rows_loses_none);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, freezing_says_what_was_refused_first);
    tcase_add_test(errors, one_key_with_two_values_is_refused);
    tcase_add_test(errors, an_element_without_a_mass_needs_one);
    tcase_add_test(errors, bad_options_are_refused_by_name);
    tcase_add_test(errors, broken_contracts_are_reported);
    tcase_add_test(errors, when_any_allocation_fails_nothing_is_left_behind);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
