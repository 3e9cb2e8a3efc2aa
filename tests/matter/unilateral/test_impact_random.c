// matter/src/unilateral/impact.c: impacts at random, by what is true of each of them.
#include "unilateral_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double ROUND_OFF = 1e-13;

// --- two balls ---

// RBDA 11.13, 11.14: two balls in space, of any mass and size. Without friction
// dT = -(1 - e^2) v^2 / (2 (1/m1 + 1/m2)); where they stick, slip ends as well. Normal and
// tangential rows of balls do not influence each other. Momenta are kept.
START_TEST(two_balls_collide_and_keep_their_momenta)
{
    test_rng rng = test_rng_seed(21);
    for (int n = 0; n < 40; ++n) {
        const bool sticks = n % 2 == 1;
        test_model model;
        test_model_begin(&model);
        tal_body_ix ball[2];
        double m[2], r[2], u[12];
        for (int k = 0; k < 2; ++k) {
            m[k] = test_random_uniform(&rng, 0.2, 3.0);
            r[k] = test_random_uniform(&rng, 0.1, 0.5);
            tal_mobod_def def = tal_mobod_def_default();
            def.mass = tal_mass_props_sphere(m[k], r[k]);
            ball[k] = tal_matter_add_free(model.matter, TAL_GROUND, &def);
        }
        const tal_vec3 d = test_random_unit(&rng);
        const double e = test_random_uniform(&rng, 0.0, 1.0), way = r[0] + r[1];
        const double q[7] = {1.0, 0.0, 0.0, 0.0, way * d.x, way * d.y, way * d.z};
        ck_assert_int_eq(tal_body_set_initial_q(model.matter, ball[1], q, 7), TAL_OK);
        tal_unilateral_def def = tal_unilateral_def_default();
        def.material = bouncy(sticks ? 1e3 : 0.0, e);
        const tal_unilateral_ix touch = tal_unilateral_add_sphere_on_sphere(
            model.matter, &def, ball[0], TAL_VEC3_ZERO, r[0], ball[1], TAL_VEC3_ZERO, r[1]);
        test_model_freeze(&model);
        for (int i = 0; i < 12; ++i) {
            u[i] = test_random_uniform(&rng, -1.0, 1.0);
        }
        const double apart = (u[9] - u[3]) * d.x + (u[10] - u[4]) * d.y + (u[11] - u[5]) * d.z;
        for (int i = 0; i < 3; ++i) { // so that they approach at 1.5 m/s
            const double axis[3] = {d.x, d.y, d.z};
            u[9 + i] -= (apart + 1.5) * axis[i];
        }
        ck_assert_int_eq(tal_state_set_u(model.state, u, 12), TAL_OK);
        test_model_realize(&model, TAL_STAGE_VELOCITY);
        const tal_spatial_vec p = tal_matter_momentum(model.matter, model.state);
        const double T = kinetic(&model);
        tal_impact_report report;
        ck_assert_int_eq(tal_matter_solve_impact(model.matter, model.state, NULL, &report), TAL_OK);
        ck_assert_double_eq_tol(tal_unilateral_speed(model.matter, model.state, touch), 1.5 * e,
                                1e-12);
        const tal_spatial_vec after = tal_matter_momentum(model.matter, model.state);
        ck_assert_double_le(tal_v3_norm(tal_v3_sub(after.v, p.v)), ROUND_OFF);
        ck_assert_double_le(tal_v3_norm(tal_v3_sub(after.w, p.w)), ROUND_OFF);
        double slip[2] = {0.0, 0.0};
        if (sticks) {
            ck_assert_int_eq(tal_unilateral_calc_slip(model.matter, model.state, touch, slip),
                             TAL_OK);
            ck_assert_double_le(hypot(slip[0], slip[1]), 1e-11);
        } else {
            const double lost = 0.5 * (1.0 - e * e) * 2.25 / (1.0 / m[0] + 1.0 / m[1]);
            ck_assert_double_eq_tol(kinetic(&model) - T, -lost, 1e-12);
        }
        test_model_end(&model);
    }
}

END_TEST

// --- many elements ---

enum {
    MASSES = 4,
    MOST_HIT = 6
};

/// One to six elements with random rows on four unit masses: normals, and grips of one row. In one
/// half of them an equation couples the speeds, and rubs; in one half the last mass has a speed
/// that is prescribed: zero, or what drives it against others.
typedef struct random_hit {
    test_model model;
    tal_unilateral_ix element[MOST_HIT];
    double mu[MOST_HIT];
    int num;
    bool is_prescribed;
    double speed; ///< that is prescribed
    bool is_driven;
} random_hit;

static void random_row(test_rng *rng, double row[MASSES])
{
    for (int i = 0; i < MASSES; ++i) {
        row[i] = test_random_uniform(rng, -1.0, 1.0);
    }
}

static tal_constraint_ix couple_speeds(tal_matter *matter, const tal_constraint_def *on,
                                       test_rng *rng)
{
    double row[MASSES];
    random_row(rng, row);
    return tal_constraint_add_speed_coupler(matter, on, MASSES, linear(row, MASSES));
}

static void add_rubbing(tal_matter *matter, const tal_constraint_def *on, test_rng *rng)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.material = bouncy(test_random_uniform(rng, 0.0, 1.5), 0.0);
    def.load.constraint = couple_speeds(matter, on, rng);
    def.load.count = 1;
    def.load.weight[0] = 1.0;
    def.grip = couple_speeds(matter, on, rng);
    ck_assert_int_ge(tal_matter_add_unilateral(matter, &def).i, 0);
}

static void random_hit_create(random_hit *it, test_rng *rng)
{
    test_model_begin(&it->model);
    tal_constraint_def on = tal_constraint_def_default();
    on.num_mobilities = MASSES;
    for (int i = 0; i < MASSES; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = 1.0;
        on.mobilities[i] =
            (tal_mobility){tal_matter_add_slider(it->model.matter, TAL_GROUND, &def), 0};
    }
    it->num = 1 + (int)(test_random_bits(rng) % MOST_HIT);
    for (int k = 0; k < it->num; ++k) {
        double row[MASSES];
        random_row(rng, row);
        it->mu[k] = test_random_uniform(rng, 0.0, 1.5);
        tal_unilateral_def one = tal_unilateral_def_default();
        one.material = bouncy(it->mu[k], test_random_uniform(rng, 0.0, 1.0));
        one.normal =
            tal_constraint_add_coordinate_coupler(it->model.matter, &on, linear(row, MASSES));
        one.grip = couple_speeds(it->model.matter, &on, rng);
        it->element[k] = tal_matter_add_unilateral(it->model.matter, &one);
    }
    if (test_random_bits(rng) % 2 == 0) add_rubbing(it->model.matter, &on, rng);
    it->is_prescribed = test_random_bits(rng) % 2 == 0;
    it->is_driven = it->is_prescribed && test_random_bits(rng) % 2 == 0;
    it->speed = it->is_driven ? test_random_uniform(rng, -1.0, 1.0) : 0.0;
    tal_motion_def motion = tal_motion_def_default();
    motion.body = on.mobilities[MASSES - 1].body;
    if (it->is_prescribed) {
        (void)tal_matter_add_motion_steady(it->model.matter, &motion, &it->speed, 1);
    }
    test_model_freeze(&it->model);
    test_model_realize(&it->model, TAL_STAGE_TIME);
    for (int i = 0; i < MASSES; ++i) {
        const bool is_given = it->is_prescribed && i == MASSES - 1;
        const double u = is_given ? it->speed : test_random_uniform(rng, -1.0, 1.0);
        tal_body_set_u(it->model.matter, it->model.state, on.mobilities[i].body, 0, u);
    }
}

// Onto the equation that couples speeds, as close as tal_contacts does it: impulses keep its error,
// and what elements ask for may contradict that. False where what is prescribed contradicts it.
static bool make_consistent(random_hit *it)
{
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-9;
    options.infinity_norm = true;
    return tal_system_project_u(it->model.system, it->model.state, &options, NULL, NULL) == TAL_OK;
}

/// The largest of what each hit must keep small.
typedef struct worst_hit {
    double approach; ///< [m/s] after the impact
    double excess;   ///< of friction over its cone, as a part of the largest impulse
    double gain; ///< of kinetic energy, as a part of what there was; the work of motions is none
} worst_hit;

static double largest_impulse(const random_hit *it)
{
    double most = 0.0;
    for (int k = 0; k < it->num; ++k) {
        const tal_unilateral_impact hit =
            tal_unilateral_impact_of(it->model.matter, it->model.state, it->element[k]);
        if (hit.count > 0) most = fmax(most, hit.normal);
    }
    return most;
}

// Nothing approaches by more than the tolerance of speeds, and the solver's check allows 1e-8 of
// the largest number.
static void check_hit(const random_hit *it, int n, worst_hit *worst)
{
    const double most = largest_impulse(it);
    for (int k = 0; k < it->num; ++k) {
        const tal_unilateral_ix at = it->element[k];
        const double v = tal_unilateral_speed(it->model.matter, it->model.state, at);
        const tal_unilateral_impact hit =
            tal_unilateral_impact_of(it->model.matter, it->model.state, at);
        ck_assert_msg(v >= -1e-6 - 1e-9, "%d: element %d approaches at %g", n, k, v);
        worst->approach = fmax(worst->approach, -v);
        if (hit.count == 0) continue;
        const double excess = fabs(hit.friction[0]) - it->mu[k] * hit.normal;
        ck_assert_msg(excess <= 1e-8 * most, "%d: element %d has %g of %g", n, k, hit.friction[0],
                      it->mu[k] * hit.normal);
        worst->excess = fmax(worst->excess, excess / most);
    }
}

// The report leaves out what a motion does; without one the energy itself must not grow either. It
// is a sum of products of impulses and speeds, which can be larger than the energy by far: where
// elements jam, impulses of 10 N s meet energies of 0.6 J, and a motion that squeezes makes 900 J.
static void check_gain(const random_hit *it, int n, double before, double energy, worst_hit *worst)
{
    const double after = kinetic(&it->model), fastest = sqrt(2.0 * fmax(before, after)); // of 1 kg
    const double gain = it->is_driven ? energy : fmax(energy, after - before);
    const double moved = fmax(before, largest_impulse(it) * fastest);
    ck_assert_msg(gain <= 1e-12 * moved, "%d: %g of %g, %g moved", n, gain, before, moved);
    worst->gain = fmax(worst->gain, gain / moved);
    if (it->is_prescribed) ck_assert(tal_state_u(it->model.state)[MASSES - 1] == it->speed);
}

// T16: every impact is solved, nothing approaches afterwards, friction is within its cone, kinetic
// energy does not grow but by round-off and the work of a motion, and prescribed speeds stay, to
// the bit. Where a motion drives a mass between others that do not give way there are no impulses:
// that is a status, and nothing has changed.
START_TEST(random_impacts_gain_no_energy)
{
    const int count = getenv("TALUS_SOAK") != NULL ? 1000000 : 1000;
    worst_hit worst = {0.0, 0.0, 0.0};
    int driven = 0, refused = 0, smooth = 0, guarded = 0;
    for (int n = 0; n < count; ++n) {
        random_hit it;
        test_rng rng =
            test_rng_seed((uint64_t)n + 11); // each by itself, so that it can be repeated
        random_hit_create(&it, &rng);
        test_model_realize(&it.model, TAL_STAGE_VELOCITY);
        ck_assert(make_consistent(&it));
        const double T = kinetic(&it.model);
        double u[MASSES];
        memcpy(u, tal_state_u(it.model.state), sizeof u);
        tal_impact_report report;
        const tal_status st =
            tal_matter_solve_impact(it.model.matter, it.model.state, NULL, &report);
        driven += it.is_driven;
        smooth += report.num_smooth > 0;
        if (st == TAL_OK) {
            check_gain(&it, n, T, report.energy, &worst);
            check_hit(&it, n, &worst);
            guarded += report.restitution < 1.0;
        } else {
            ck_assert_msg(it.is_driven, "%d: %s", n, tal_state_error(it.model.state)->message);
            ck_assert_mem_eq(tal_state_u(it.model.state), u, sizeof u);
            ++refused;
        }
        test_model_end(&it.model);
    }
    (void)printf(
        "%d impacts: %d driven, of which %d squeezed; %d without all friction, %d guarded; at most "
        "%.1e m/s, %.1e over a cone, %.1e of the energy moved gained\n",
        count, driven, refused, smooth, guarded, worst.approach, worst.excess, worst.gain);
    // a motion at random squeezes often; friction was left out rarely, and that was counted
    ck_assert_msg(2 * refused <= driven && 10 * smooth <= count, "%d of %d refused, %d smooth",
                  refused, driven, smooth);
}

END_TEST

// T14, the guard: of these impacts all e are reduced by one factor, and what is left of the energy
// is what there was: a larger factor would gain, by bisection to 2^-40. (They are some of 13 among
// the first 25000 of the cases above. Where elements change what they do at that factor, energy
// jumps there, and some is lost.)
START_TEST(restitution_is_reduced_by_no_more_than_energy_asks_for)
{
    static const int cases[] = {9365, 10964, 14375, 18034};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        random_hit it;
        test_rng rng = test_rng_seed((uint64_t)cases[k] + 11);
        random_hit_create(&it, &rng);
        test_model_realize(&it.model, TAL_STAGE_VELOCITY);
        ck_assert(make_consistent(&it));
        const double T = kinetic(&it.model);
        tal_impact_report report;
        ck_assert_int_eq(tal_matter_solve_impact(it.model.matter, it.model.state, NULL, &report),
                         TAL_OK);
        ck_assert(report.restitution > 0.5 && report.restitution < 1.0);
        ck_assert_double_eq_tol(report.energy, 0.0, 1e-11 * T);
        if (!it.is_driven) ck_assert_double_eq_tol(kinetic(&it.model), T, 1e-11 * T);
        test_model_end(&it.model);
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/impact_random");
    TCase *tc = tcase_create("impulses");
    tcase_set_timeout(tc, getenv("TALUS_SOAK") != NULL ? 14400 : 60);
    tcase_add_test(tc, two_balls_collide_and_keep_their_momenta);
    tcase_add_test(tc, random_impacts_gain_no_energy);
    tcase_add_test(tc, restitution_is_reduced_by_no_more_than_energy_asks_for);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
