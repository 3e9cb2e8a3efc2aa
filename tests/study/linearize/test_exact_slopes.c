// Linearization by exact derivatives: study/src/linearize/exact_slopes.c.
#include "linearizer_support.h"

#include <talus/forces/derivative.h>

#include <float.h>
#include <math.h>
#include <string.h>

// --- a light link that carries a heavy one ---

// Two point masses on links of length l, the lower one mu times the upper:
//
//     omega^2 = g / l (1 + mu) (1 -+ sqrt(mu / (1 + mu)))
//
// The slow one is a small difference, (1 + mu) (1 - r) = 1 / (1 + r) with r = sqrt(mu / (1 + mu)).
// A has entries of the size of mu, so eigenvalues are off by eps mu, and the slow one relative to
// itself by as much.
START_TEST(a_light_link_that_carries_a_heavy_one_swings_as_it_should)
{
    const double masses[] = {1.0, 1e2, 1e4, 1e6};
    for (int k = 0; k < 4; ++k) {
        const double mu = masses[k], g = 9.81;
        model m = begin_model(tal_v3(0.0, -g, 0.0));
        tal_mobod_def link = tal_mobod_def_default();
        link.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0));
        const tal_body_ix upper = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
        link.mass = tal_mass_props_point(mu, tal_v3(0.0, -1.0, 0.0));
        link.X_PF = tal_xf_from_p(tal_v3(0.0, -1.0, 0.0));
        (void)tal_matter_add_pin(m.matter, upper, &link);
        finish_model(&m);
        find_modes(&m);
        const double r = sqrt(mu / (1.0 + mu));
        const double slow = sqrt(g / (1.0 + r)), fast = sqrt(g * (1.0 + mu) * (1.0 + r));
        const double tolerance = 1e-13 + 20.0 * DBL_EPSILON * mu;
        ck_assert_double_le(fabs(tal_linearizer_mode(m.lin, 0).im / slow - 1.0), tolerance);
        ck_assert_double_le(fabs(tal_linearizer_mode(m.lin, 2).im / fast - 1.0), 1e-13);
        end_model(&m);
    }
}

END_TEST

// --- moving mechanisms: what differences find ---

static tal_status apply_nothing(const void *self, const tal_force_context *context,
                                tal_spatial_vec F[], double f[])
{
    (void)self, (void)context, (void)F, (void)f;
    return TAL_OK;
}

// An element that does not tell its change, so that slopes are differenced.
static const tal_force_ops silent = {
    .size = sizeof silent, .name = "nothing", .apply = apply_nothing};

// A ball, a pin and a gimbal in a row, with a spring to Ground and a rod to it, in motion.
static model build(bool is_silent)
{
    model m = begin_model(tal_v3(0.3, -9.81, 0.2));
    test_rng rng = test_rng_seed(5);
    tal_body_ix bodies[3];
    for (int i = 0; i < 3; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = test_random_mass_props(&rng);
        def.X_PF = test_random_xform(&rng);
        def.X_BM = test_random_xform(&rng);
        const tal_body_ix parent = i == 0 ? TAL_GROUND : bodies[i - 1];
        bodies[i] = i == 0   ? tal_matter_add_ball(m.matter, parent, &def)
                    : i == 1 ? tal_matter_add_pin(m.matter, parent, &def)
                             : tal_matter_add_gimbal(m.matter, parent, &def);
    }
    const tal_two_points ends = {TAL_GROUND, {0.2, 0.1, 0.4}, bodies[2], {0.1, -0.3, 0.2}};
    (void)tal_forces_add_two_point_spring(m.forces, "spring", &ends, 12.0, 0.3);
    (void)tal_forces_add_two_point_damper(m.forces, "damper", &ends, 0.7);
    if (is_silent) (void)tal_forces_add(m.forces, "nothing", &silent, NULL);
    const tal_constraint_def between = tal_constraint_between(TAL_GROUND, bodies[2]);
    (void)tal_constraint_add_point_in_plane(m.matter, &between, tal_v3(0.2, 1.0, 0.3), 0.1,
                                            tal_v3(0.3, 0.2, 0.1));
    finish_model(&m);
    for (int i = 0; i < tal_state_nu(m.state); ++i) {
        tal_state_upd_u(m.state)[i] = 0.5 - 0.2 * i;
    }
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_TIME), TAL_OK);
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-12;
    ck_assert_int_eq(tal_system_prescribe_and_project(m.system, m.state, &options, NULL), TAL_OK);
    return m;
}

// Extrapolated differences are good to some 1e-9 of A.
START_TEST(moving_mechanisms_have_the_slopes_that_differences_find)
{
    model exact = build(false), differenced = build(true);
    ck_assert_int_eq(tal_linearizer_run(exact.lin, exact.state), TAL_OK);
    ck_assert_int_eq(tal_linearizer_run(differenced.lin, differenced.state), TAL_OK);
    const tal_matrix A = tal_linearizer_A(exact.lin), D = tal_linearizer_A(differenced.lin);
    ck_assert_int_eq(A.rows, 12);
    ck_assert_int_eq(D.rows, A.rows);
    double size = 0.0, off = 0.0;
    for (int i = 0; i < A.rows * A.cols; ++i) {
        size = fmax(size, fabs(D.data[i]));
        off = fmax(off, fabs(A.data[i] - D.data[i]));
        ck_assert_double_le(tal_linearizer_A_error(exact.lin).data[i], 1e-12 * (1.0 + size));
    }
    ck_assert_msg(off <= 1e-8 * size, "off by %g of %g", off, size);
    end_model(&exact);
    end_model(&differenced);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/exact_slopes");
    TCase *tests = tcase_create("slopes");
    tcase_add_test(tests, a_light_link_that_carries_a_heavy_one_swings_as_it_should);
    tcase_add_test(tests, moving_mechanisms_have_the_slopes_that_differences_find);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
