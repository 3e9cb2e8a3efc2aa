// Forces where neither matter nor the forces are the first subsystem: none of the q, u and z that
// they look up is number 0 of its pool. One model is built twice, alone and beside another
// subsystem (neighbor.h).
#include "force_facts_internal.h"

#include "contact_model.h"
#include "neighbor.h"

#include <stdlib.h>

enum {
    ALONE,
    BESIDE
};

typedef struct twin {
    scene s;
    tal_force_ix bath, damper;
} twin;

static twin pair[2];
static neighbor other;

// Contact whose bristles are z, a bath with a chain, and an account of what is dissipated.
static void build(int which)
{
    twin *it = &pair[which];
    tal_system *system = which == BESIDE ? neighbor_system(&other) : tal_system_create(NULL);
    it->s = (scene){.m = model_begin_in(system)};
    model *m = &it->s.m;
    const tal_contact_def def = quiet(TAL_CONTACT_ELASTOPLASTIC);
    it->s.contact = tal_forces_add_contact(m->forces, "contact", &def);
    it->s.surface[0] = add(&it->s, 0, tal_shape_half_space(), 2.0);
    it->s.surface[1] = add(&it->s, GIMBAL, tal_shape_sphere(6.0), 1.0);
    it->s.surface[2] = add(&it->s, BALL, tal_shape_sphere(7.0), 0.5);
    tal_thermostat_def bath = tal_thermostat_def_default();
    bath.kT = 0.7;
    it->bath = tal_forces_add_thermostat(m->forces, "bath", &bath);
    it->damper = tal_forces_add_global_damper(m->forces, "damper", 0.3);
    tal_force_track_dissipation(m->forces, it->damper);
    tal_force_track_dissipation(m->forces, it->s.contact); // so that it has two groups of z
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
    model_realize(m, TAL_STAGE_MODEL);
}

// The same random q, u and z in both.
static void shake(void)
{
    for (int k = 0; k < 2; ++k) {
        model *m = &pair[k].s.m;
        test_rng rng = test_rng_seed(22);
        const int skip[] = {NEIGHBOR_Q, NEIGHBOR_U, NEIGHBOR_Z};
        double *part[] = {tal_state_upd_q(m->state), tal_state_upd_u(m->state),
                          tal_state_upd_z(m->state)};
        const int n[] = {tal_state_nq(m->state), tal_state_nu(m->state), tal_state_nz(m->state)};
        for (int j = 0; j < 3; ++j) {
            for (int i = k == BESIDE ? skip[j] : 0; i < n[j]; ++i) {
                part[j][i] = test_random_uniform(&rng, -0.5, 0.5);
            }
        }
        model_realize(m, TAL_STAGE_ACCELERATION);
    }
}

static void begin(void)
{
    build(ALONE);
    build(BESIDE);
    shake();
}

static void end(void)
{
    model_end(&pair[ALONE].s.m);
    model_end(&pair[BESIDE].s.m);
}

static void assert_same(const double alone[], const double beside[], int n, const char *what)
{
    neighbor_same(alone, beside, n, 0, 0.0, what);
}

START_TEST(forces_read_and_write_their_own_z)
{
    begin();
    neighbor_assert_same(pair[ALONE].s.m.state, pair[BESIDE].s.m.state, "forces");
    double found[2][8];
    load on[2];
    for (int k = 0; k < 2; ++k) {
        model *m = &pair[k].s.m;
        found[k][0] = tal_thermostat_bath_energy(m->forces, m->state, pair[k].bath);
        found[k][1] = tal_thermostat_temperature(m->forces, m->state, pair[k].bath);
        found[k][2] = tal_force_dissipated_energy(m->forces, m->state, pair[k].damper);
        found[k][3] = tal_force_potential_energy(m->forces, m->state, pair[k].s.contact);
        found[k][4] = tal_force_dissipated_power(m->forces, m->state, pair[k].s.contact);
        on[k] = model_load(m, pair[k].s.contact);
    }
    assert_same(found[ALONE], found[BESIDE], 5, "energies");
    assert_same(&on[ALONE].F[0].w.x, &on[BESIDE].F[0].w.x, 6 * MODEL_BODIES, "F");
    end();
}

END_TEST

// Differences move the q and u of matter alone.
START_TEST(derivatives_move_matter_alone)
{
    begin();
    double dg[2][MODEL_NU];
    test_rng rng = test_rng_seed(3);
    double w[MODEL_NU], v[MODEL_NU];
    for (int i = 0; i < MODEL_NU; ++i) {
        w[i] = test_random_uniform(&rng, -1.0, 1.0);
        v[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
    for (int k = 0; k < 2; ++k) {
        model *m = &pair[k].s.m;
        tal_state *scratch = NULL;
        ck_assert_int_eq(tal_state_create(m->system, &scratch, NULL), TAL_OK);
        double *work = calloc(tal_forces_derivative_work_size(m->forces) + 1, sizeof *work);
        ck_assert_ptr_nonnull(work);
        ck_assert_msg(tal_forces_calc_derivative(m->forces, m->state, scratch, w, v, dg[k], work) ==
                          TAL_OK,
                      "%s", tal_state_error(m->state)->message);
        free(work);
        tal_state_destroy(scratch);
    }
    assert_same(dg[ALONE], dg[BESIDE], MODEL_NU, "dg");
    end();
}

END_TEST

START_TEST(elements_are_tested_along_motions_of_matter)
{
    begin();
    double found[2][3 * sizeof(tal_force_report) / sizeof(double)];
    for (int k = 0; k < 2; ++k) {
        const model *m = &pair[k].s.m;
        const tal_force_ix of[] = {pair[k].s.contact, pair[k].bath, pair[k].damper};
        for (int j = 0; j < 3; ++j) {
            tal_force_report report;
            ck_assert_int_eq(tal_force_test(m->forces, m->state, of[j], &report, NULL), TAL_OK);
            memcpy(found[k] + j * (int)(sizeof report / sizeof(double)), &report, sizeof report);
        }
    }
    assert_same(found[ALONE], found[BESIDE], (int)(sizeof found[0] / sizeof(double)), "reports");
    end();
}

END_TEST

START_TEST(slots_of_z_are_counted_from_the_first_of_the_system)
{
    begin();
    const tal_force_ix of[] = {pair[ALONE].s.contact, pair[ALONE].bath, pair[ALONE].damper};
    bool is_taken[32] = {false};
    for (int j = 0; j < 3; ++j) {
        const model *one = &pair[ALONE].s.m, *two = &pair[BESIDE].s.m;
        const int n = tali_force_z(one->forces, one->state, of[j], 0, NULL);
        ck_assert_int_gt(n, 0);
        ck_assert_int_eq(tali_force_z(two->forces, two->state, of[j], 0, NULL), n);
        for (int i = 0; i < n; ++i) {
            int slot[2] = {-1, -1};
            (void)tali_force_z(one->forces, one->state, of[j], i, &slot[ALONE]);
            (void)tali_force_z(two->forces, two->state, of[j], i, &slot[BESIDE]);
            ck_assert_int_eq(slot[BESIDE], slot[ALONE] + NEIGHBOR_Z);
            ck_assert(slot[ALONE] >= 0 && slot[ALONE] < tal_state_nz(one->state));
            ck_assert(!is_taken[slot[ALONE]]); // each its own
            is_taken[slot[ALONE]] = true;
            ck_assert_double_eq(tal_state_z(one->state)[slot[ALONE]],
                                tal_state_z(two->state)[slot[BESIDE]]);
        }
    }
    end();
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("forces/neighbor");
    TCase *tests = tcase_create("same bits");
    tcase_add_test(tests, forces_read_and_write_their_own_z);
    tcase_add_test(tests, derivatives_move_matter_alone);
    tcase_add_test(tests, elements_are_tested_along_motions_of_matter);
    tcase_add_test(tests, slots_of_z_are_counted_from_the_first_of_the_system);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
