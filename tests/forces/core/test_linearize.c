// Tests for forces/src/core/linearize.c: udot and zdot of a System by q, u and z.
#include "force_model.h"

#include <talus/forces/derivative.h>

#include <stdlib.h>
#include <string.h>

/// What applies forces to the model besides gravity and a spring and damper along a line.
typedef enum company {
    ALONE,
    WITH_QUIET,    // elements without apply_change, one of them with z
    WITH_STRANGER, // a subsystem that applies forces of its own
    NUM_COMPANIES
} company;

// A spring between the slider and Ground's origin, by hand.
static tal_status pull(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const model *m = self;
    const tal_applied_forces to = tal_matter_upd_forces(m->matter, state);
    to.f[tal_body_u_start(m->matter, m->body[SLIDER])] -=
        4.0 * tal_body_q(m->matter, state, m->body[SLIDER], 0);
    return TAL_OK;
}

static const tal_subsystem_ops stranger = {
    .size = sizeof stranger, .name = "stranger", .realize_dynamics = pull};

// An element that tells nothing: a damper on the slider that warms up, with z its heat.
typedef struct brake {
    const tal_system *system;
    tal_body_ix body;
    tal_group_ix heat;
} brake;

static double heat_of(const brake *it, const tal_state *state)
{
    return tal_state_z(state)[tal_group_start(it->system, state, it->heat)];
}

static tal_status declare_heat(void *self, tal_forces *forces, tal_force_ix me)
{
    brake *it = self;
    tal_group_def def = tal_group_def_default();
    def.name = "heat";
    def.capacity = 1;
    it->heat = tal_force_add_group(forces, me, &def);
    return TAL_OK;
}

static tal_status slow_down(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                            double f[])
{
    (void)F;
    const brake *it = self;
    const double u = tal_body_u(context->matter, context->state, it->body, 0);
    const double heat = heat_of(it, context->state);
    f[tal_body_u_start(context->matter, it->body)] -= u / (1.0 + heat * heat);
    return TAL_OK;
}

static tal_status warm_up(const void *self, const tal_force_context *context)
{
    const brake *it = self;
    const double u = tal_body_u(context->matter, context->state, it->body, 0);
    const double heat = heat_of(it, context->state);
    *tal_group_upd_dot(context->system, context->state, it->heat) = u * u - 0.5 * heat;
    return TAL_OK;
}

static const tal_force_ops brake_ops = {.size = sizeof brake_ops,
                                        .name = "brake",
                                        .apply = slow_down,
                                        .declare = declare_heat,
                                        .realize_acceleration = warm_up};

/// The model, a second State, and J.
typedef struct subject {
    model m;
    brake slow;
    tal_state *scratch;
    tal_matrix J;
    double *work;
    int nu, nz, n;
} subject;

static void add_quiet(model *m, brake *slow)
{
    *slow = (brake){.system = m->system, .body = m->body[SLIDER]};
    (void)tal_forces_add(m->forces, "brake", &brake_ops, slow);
    tal_bushing_def bushing = tal_bushing_def_default();
    bushing.body1 = m->body[PIN];
    bushing.body2 = m->body[BALL];
    for (int i = 0; i < 6; ++i) {
        bushing.stiffness[i] = 1.0 + 0.1 * i;
        bushing.damping[i] = 0.2;
    }
    tal_thermostat_def bath = tal_thermostat_def_default();
    bath.kT = 1.0;
    (void)tal_forces_add_bushing(m->forces, "bushing", &bushing);
    (void)tal_forces_add_thermostat(m->forces, "bath", &bath);
}

static void subject_begin(subject *s, company with, bool has_rod)
{
    s->m = model_begin();
    model *m = &s->m;
    const tal_two_points at = {m->body[GIMBAL], {0.3, -0.2, 0.5}, m->body[BALL], {-0.4, 0.1, 0.7}};
    (void)tal_forces_add_gravity(m->forces, tal_v3(0.3, -9.81, 0.1));
    (void)tal_forces_add_two_point_spring(m->forces, "spring", &at, 7.0, 0.8);
    (void)tal_forces_add_two_point_damper(m->forces, "damper", &at, 3.0);
    (void)tal_forces_add_constant_force(m->forces, "load", m->body[GIMBAL], tal_v3(0.1, 0.2, 0.3),
                                        tal_v3(1.0, -2.0, 0.5));
    if (with == WITH_QUIET) add_quiet(m, &s->slow);
    if (with == WITH_STRANGER) (void)tal_system_add_subsystem(m->system, NULL, &stranger, m);
    const tal_constraint_def ends = tal_constraint_between(m->body[PIN], m->body[BALL]);
    if (has_rod) {
        (void)tal_constraint_add_rod(m->matter, &ends, tal_v3(0.1, 0.3, 0.2),
                                     tal_v3(-0.2, 0.4, 0.1), 1.0);
    }
    model_finish(m);
    for (int i = 0; i < tal_state_nz(m->state); ++i) {
        tal_state_upd_z(m->state)[i] = 0.3 - 0.1 * i;
    }
    model_realize(m, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_state_create(m->system, &s->scratch, NULL), TAL_OK);
    s->nu = tal_matter_nu(m->matter), s->nz = tal_state_nz(m->state), s->n = s->nu + s->nz;
    const int cols = 2 * s->nu + s->nz;
    s->J = tal_matrix_view(calloc((size_t)s->n * (size_t)cols, sizeof(double)), s->n, cols);
    s->work = calloc(tal_system_linearize_work_size(m->system), sizeof(double));
}

static void subject_end(subject *s)
{
    free(s->J.data), free(s->work);
    tal_state_destroy(s->scratch);
    model_end(&s->m);
}

// The State moved by h along a column.
static void move(const subject *s, double h, int column)
{
    const model *m = &s->m;
    ck_assert_int_eq(tal_state_copy(s->scratch, m->state), TAL_OK);
    if (column < s->nu) {
        double unit[MODEL_NU] = {0.0}, qdot[MODEL_MAX_NQ];
        unit[column] = 1.0;
        ck_assert_int_eq(tal_matter_mul_N(m->matter, m->state, TAL_N, unit, qdot), TAL_OK);
        double *q = tal_state_upd_q(s->scratch);
        for (int i = 0; i < tal_matter_nq(m->matter, m->state); ++i) {
            q[i] += h * qdot[i];
        }
    } else if (column < 2 * s->nu) {
        tal_state_upd_u(s->scratch)[column - s->nu] += h;
    } else {
        tal_state_upd_z(s->scratch)[column - 2 * s->nu] += h;
    }
    ck_assert_int_eq(tal_system_realize(m->system, s->scratch, TAL_STAGE_ACCELERATION), TAL_OK);
}

// Differences of sixth order over 1e-3: round-off of 1e-12 of accelerations of size 100, and a
// seventh derivative times 1e-18.
START_TEST(columns_are_those_of_differences)
{
    static const double weight[3] = {1.5, -0.6, 0.1};
    for (int k = 0; k < 2 * NUM_COMPANIES; ++k) {
        subject s;
        subject_begin(&s, (company)(k / 2), k % 2 == 1);
        ck_assert_msg(tal_system_linearize(s.m.system, s.m.state, s.scratch, s.J, s.work) == TAL_OK,
                      "%s", tal_state_error(s.m.state)->message);
        for (int j = 0; j < s.J.cols; ++j) {
            double wanted[MODEL_NU + 16] = {0.0}, size = 1.0;
            for (int p = 0; p < 6; ++p) {
                const double step = (p % 2 == 0 ? 1e-3 : -1e-3) * (p / 2 + 1);
                move(&s, step, j);
                const double factor = weight[p / 2] / (2.0 * step);
                for (int i = 0; i < s.nu; ++i) {
                    wanted[i] += factor * tal_state_udot(s.scratch)[i];
                }
                for (int i = 0; i < s.nz; ++i) {
                    wanted[s.nu + i] += factor * tal_state_zdot(s.scratch)[i];
                }
            }
            for (int i = 0; i < s.n; ++i) {
                size = fmax(size, fabs(wanted[i]));
            }
            for (int i = 0; i < s.n; ++i) {
                const double found = s.J.data[j * s.n + i];
                ck_assert_msg(fabs(found - wanted[i]) <= 1e-7 * size,
                              "model %d: entry %d, %d is %g, not %g", k, i, j, found, wanted[i]);
            }
        }
        subject_end(&s);
    }
}

END_TEST

START_TEST(what_needs_no_differences_needs_no_second_state_and_no_memory)
{
    subject s;
    subject_begin(&s, ALONE, true);
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_system_linearize(s.m.system, s.m.state, NULL, s.J, s.work));
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_int_eq(tal_state_stage(s.m.state), TAL_STAGE_ACCELERATION);
    subject_end(&s);
}

END_TEST

START_TEST(what_is_missing_or_wrong_is_said)
{
    subject s;
    subject_begin(&s, WITH_QUIET, false);
    const tal_system *system = s.m.system;
    ck_assert_int_eq(tal_system_linearize(system, s.m.state, NULL, s.J, s.work), TAL_ERR_NULL);
    ck_assert_int_eq(tal_system_linearize(system, s.m.state, s.m.state, s.J, s.work),
                     TAL_ERR_BAD_VALUE);
    s.J.rows -= 1;
    ck_assert_int_eq(tal_system_linearize(system, s.m.state, s.scratch, s.J, s.work),
                     TAL_ERR_BAD_VALUE);
    s.J.rows += 1;
    (void)tal_state_upd_u(s.m.state);
    ck_assert_int_eq(tal_system_linearize(system, s.m.state, s.scratch, s.J, s.work),
                     TAL_ERR_STAGE);
    ck_assert_int_eq(tal_forces_differenced(s.m.forces, NULL, 0), 1); // the brake
    ck_assert_int_eq(tal_forces_differenced(NULL, NULL, 0), -1);
    ck_assert_uint_eq(tal_system_linearize_work_size(NULL), 0);
    subject_end(&s);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/linearize");
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 60.0);
    tcase_add_test(theory, columns_are_those_of_differences);
    tcase_add_test(theory, what_needs_no_differences_needs_no_second_state_and_no_memory);
    tcase_add_test(theory, what_is_missing_or_wrong_is_said);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
