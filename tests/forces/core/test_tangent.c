// forces/src/core/tangent.c: slopes that elements tell against changes of their forces.
#include "force_tangent_internal.h"

#include "talus_test.h"

#include <talus/forces.h>

#include <stdlib.h>

enum {
    MOST = 12
};

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state, *scratch;
    tal_body_ix body[4]; // a free base, two pins on one branch, one on another
    int nu;
} model;

static model begin_model(void)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = (tal_mass_props){.mass = 1.0, .inertia = tal_s3_diag(1.0, 1.1, 1.2)};
    m.body[0] = tal_matter_add_free(m.matter, TAL_GROUND, &def);
    def.X_PF.p = tal_v3(0.3, 0.1, -0.2);
    def.X_BM.p = tal_v3(-0.1, 0.4, 0.0);
    m.body[1] = tal_matter_add_pin(m.matter, m.body[0], &def);
    m.body[2] = tal_matter_add_pin(m.matter, m.body[1], &def);
    m.body[3] = tal_matter_add_slider(m.matter, m.body[0], &def);
    return m;
}

static void finish_model(model *m)
{
    ck_assert_int_eq(tal_system_realize_topology(m->system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(m->system, &m->state, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(m->system, &m->scratch, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_MODEL), TAL_OK);
    m->nu = tal_matter_nu(m->matter);
    tal_state_upd_q(m->state)[7] = 0.4;
    tal_state_upd_q(m->state)[8] = -0.7;
    tal_state_upd_q(m->state)[9] = 0.2;
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_VELOCITY), TAL_OK);
}

static void end_model(model *m)
{
    tal_state_destroy(m->state);
    tal_state_destroy(m->scratch);
    tal_system_destroy(m->system);
}

// The distance of two stations as the model is posed.
static double distance(const tal_two_points *ends)
{
    model m = begin_model();
    finish_model(&m);
    const tal_vec3 a = tal_station_p_GS(m.matter, m.state, ends->body1, ends->p_B1);
    const tal_vec3 b = tal_station_p_GS(m.matter, m.state, ends->body2, ends->p_B2);
    end_model(&m);
    return tal_v3_norm(tal_v3_sub(b, a));
}

// Springs at their rest lengths and dampers at rest pull nothing, so that no force turns with its
// body, and slopes are all of the change. Numbers of size 100, some tens of roundings.
static void check_slopes(model *m)
{
    double T[MOST * MOST], unit[2 * MOST] = {0.0}, column[MOST];
    const double by_q = 0.3, by_u = 0.7;
    const int nu = m->nu;
    double *work = malloc(tali_force_tangent_work_size(m->forces) * sizeof *work);
    double *other = malloc(tal_forces_derivative_work_size(m->forces) * sizeof *other);
    ck_assert(work != NULL && other != NULL);
    ck_assert(tali_force_has_tangent(m->forces, m->state));
    ck_assert_int_eq(
        tali_force_calc_tangent(m->forces, m->state, by_q, by_u, tal_matrix_view(T, nu, nu), work),
        TAL_OK);
    double largest = 0.0;
    for (int j = 0; j < nu; ++j) {
        unit[j] = by_q;
        unit[nu + j] = by_u;
        ck_assert_int_eq(tal_forces_calc_derivative(m->forces, m->state, m->scratch, unit,
                                                    unit + nu, column, other),
                         TAL_OK);
        unit[j] = unit[nu + j] = 0.0;
        for (int i = 0; i < nu; ++i) {
            ck_assert_double_eq_tol(T[i + nu * j], column[i], 1e-12);
            largest = fmax(largest, fabs(column[i]));
        }
    }
    ck_assert_double_gt(largest, 1.0);
    free(work), free(other);
}

START_TEST(slopes_of_lines_between_branches_are_their_changes)
{
    for (int i = 0; i < 3; ++i) {
        model m = begin_model();
        const tal_body_ix first = i == 0 ? TAL_GROUND : i == 1 ? m.body[0] : m.body[3];
        const tal_two_points ends = {first, tal_v3(0.5, -1.0, 0.3), m.body[2],
                                     tal_v3(0.1, 0.2, 0.6)};
        (void)tal_forces_add_two_point_spring(m.forces, NULL, &ends, 80.0, distance(&ends));
        (void)tal_forces_add_two_point_damper(m.forces, NULL, &ends, 30.0);
        finish_model(&m);
        check_slopes(&m);
        end_model(&m);
    }
}

END_TEST

START_TEST(slopes_along_coordinates_are_their_changes)
{
    model m = begin_model();
    (void)tal_forces_add_mobility_spring(m.forces, NULL, (tal_mobility){m.body[1], 0}, 50.0, 0.1);
    (void)tal_forces_add_mobility_damper(m.forces, NULL, (tal_mobility){m.body[3], 0}, 20.0);
    finish_model(&m);
    check_slopes(&m);
    end_model(&m);
}

END_TEST

// An element that tells none is asked speed by speed, beside those that do.
START_TEST(elements_of_both_kinds_add_up)
{
    model m = begin_model();
    (void)tal_forces_add_mobility_spring(m.forces, NULL, (tal_mobility){m.body[1], 0}, 50.0, 0.1);
    (void)tal_forces_add_global_damper(m.forces, NULL, 7.0);
    finish_model(&m);
    check_slopes(&m);
    end_model(&m);
}

END_TEST

START_TEST(mistakes_are_breaches)
{
    const tal_mat3 K = TAL_MAT3_IDENTITY;
    test_assert_refused(tal_force_slopes_add(NULL, TAL_GROUND, TAL_GROUND, TAL_VEC3_ZERO, &K, &K),
                        TAL_ERR_NULL, "is NULL");
    test_assert_refused(tal_force_slopes_add_along(NULL, 0, 0, 1.0, 1.0), TAL_ERR_NULL, "is NULL");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("tangent");
    TCase *all = tcase_create("all");
    tcase_add_test(all, slopes_of_lines_between_branches_are_their_changes);
    tcase_add_test(all, slopes_along_coordinates_are_their_changes);
    tcase_add_test(all, elements_of_both_kinds_add_up);
    tcase_add_test(all, mistakes_are_breaches);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
