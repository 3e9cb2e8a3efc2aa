// Tests for study/src/sensitivity/: derivatives of trajectories by parameters and
// starting values.
#include "trajectories.h"

#include <math.h>
#include <string.h>

// A mass m on a spring k, from x0 at rest: x = x0 cos(w t) with w = sqrt(k / m), so
//
//     dx/dx0 = cos(w t)    dx/du0 = sin(w t) / w    dx/dk = -x0 t sin(w t) / (2 m w)
//     dx/dm = x0 t sin(w t) w / (2 m)
START_TEST(an_oscillator_changes_as_its_solution_does)
{
    model m = begin(TAL_VEC3_ZERO);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    const tal_force_ix spring =
        tal_forces_add_mobility_spring(m.forces, NULL, (tal_mobility){body, 0}, 18.0, 0.0);
    finish(&m);
    const tal_parameter all[4] = {
        tal_parameter_q("x0", m.matter, body, 0), tal_parameter_u("u0", m.matter, body, 0),
        tal_parameter_force("k", m.forces, spring, 0), tal_parameter_mass("m", m.matter, body)};
    tal_sensitivity *study = study_of(&m, all, 4, 0.02);
    const double values[4] = {0.7, 0.0, 18.0, 2.0}, t = 1.3, w = 3.0;
    run(study, &m, values, t);
    const tal_matrix S = tal_sensitivity_matrix(study);
    ck_assert_int_eq(S.rows, 2);
    ck_assert_int_eq(S.cols, 4);
    const double turn = 0.7 * t * sin(w * t) / 2.0;
    const double wanted[4] = {cos(w * t), sin(w * t) / w, -turn / (2.0 * w), turn * w / 2.0};
    for (int p = 0; p < 4; ++p) {
        ck_assert_double_eq_tol(S.data[2 * p], wanted[p], 1e-11);
    }
    ck_assert_double_eq_tol(tal_state_q(m.state)[0], 0.7 * cos(w * t), 1e-12);
    tal_sensitivity_destroy(study);
    end(&m);
}

END_TEST

static tal_status set_gravity(const tal_parameter *self, const tal_system *system, tal_state *state,
                              double value)
{
    (void)system;
    return tal_gravity_set_g(self->object, state, (tal_force_ix){self->i},
                             tal_v3(0.0, -value, 0.0));
}

// A pendulum from rest depends on t sqrt(g / l) alone, however far it swings:
//
//     d theta / dg = thetadot t / (2 g)
//
// the same as pin, as a particle on a rod, and as a ball with a quaternion, which has nothing but
// its orientation to be compared.
START_TEST(a_pendulum_only_knows_its_own_time)
{
    for (int kind = 0; kind < 3; ++kind) {
        const double g = 9.0, t = 1.9;
        model m = begin(tal_v3(0.0, -g, 0.0));
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
        if (kind != 1) def.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
        if (kind == 2) {
            def.mass.inertia = tal_s3_diag(0.01, 0.01, 0.01);
        }
        const tal_body_ix body = kind == 0 ? tal_matter_add_pin(m.matter, TAL_GROUND, &def)
                                 : kind == 1
                                     ? tal_matter_add_translation(m.matter, TAL_GROUND, &def)
                                     : tal_matter_add_ball(m.matter, TAL_GROUND, &def);
        if (kind == 1) {
            const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, body);
            (void)tal_constraint_add_rod(m.matter, &ends, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
        }
        finish(&m);
        const double angle = 1.2;
        ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_MODEL), TAL_OK);
        double *q = tal_state_upd_q(m.state);
        if (kind == 0) q[0] = angle;
        if (kind == 1) q[0] = sin(angle), q[1] = -cos(angle);
        if (kind == 2) q[0] = cos(0.5 * angle), q[3] = sin(0.5 * angle);
        const tal_parameter gy = {"g", set_gravity, m.forces, m.gravity.i, 0};
        tal_sensitivity *study = study_of(&m, &gy, 1, 0.02);
        const double value = g;
        run(study, &m, &value, t);
        const tal_matrix S = tal_sensitivity_matrix(study);
        ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_VELOCITY), TAL_OK);
        for (int i = 0; i < tal_state_nq(m.state); ++i) {
            const double wanted = tal_state_qdot(m.state)[i] * t / (2.0 * g);
            ck_assert_msg(fabs(S.data[i] - wanted) <= 1e-9, "kind %d: q %d: %g, not %g", kind, i,
                          S.data[i], wanted);
        }
        tal_sensitivity_destroy(study);
        end(&m);
    }
}

END_TEST

// A symmetric body that nothing turns: its angular velocity across the axis turns at the rate
// s = (1 - I3 / I1) w3 in body axes, so d w1 / d w3 = w(0) t (1 - I3 / I1) times the sine.
START_TEST(a_spinning_top_wobbles_at_a_rate_that_follows_its_spin)
{
    const double I1 = 2.0, I3 = 3.0, w1 = 0.4, w3 = 5.0, t = 0.9;
    model m = begin(TAL_VEC3_ZERO);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    def.mass.inertia = tal_s3_diag(I1, I1, I3);
    const tal_body_ix top = tal_matter_add_ball(m.matter, TAL_GROUND, &def);
    finish(&m);
    ck_assert_int_eq(tal_body_set_u(m.matter, m.state, top, 0, w1), TAL_OK);
    const tal_parameter spin = tal_parameter_u("spin", m.matter, top, 2);
    tal_sensitivity *study = study_of(&m, &spin, 1, 0.01);
    const double h = 1e-3;
    double w_of[2][3];
    for (int k = 0; k < 2; ++k) { // what the solution itself says, by its own closed form
        const double s = (1.0 - I3 / I1) * (w3 + (k == 0 ? -h : h)) * t;
        w_of[k][0] = w1 * cos(s), w_of[k][1] = -w1 * sin(s), w_of[k][2] = w3 + (k == 0 ? -h : h);
    }
    run(study, &m, &w3, t);
    const tal_matrix S = tal_sensitivity_matrix(study);
    // u is in Ground: turn it, and its change with the orientation, into body axes
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_VELOCITY), TAL_OK);
    const tal_mat3 R = tal_body_X_GB(m.matter, m.state, top).R;
    const double *u = tal_state_u(m.state), *du = S.data + 4;
    const double dq[4] = {S.data[0], S.data[1], S.data[2], S.data[3]};
    double turn[3];
    ck_assert_int_eq(tal_matter_mul_N(m.matter, m.state, TAL_NPLUS, dq, turn), TAL_OK);
    const tal_vec3 w = {u[0], u[1], u[2]}, dw = {du[0], du[1], du[2]};
    const tal_vec3 theta = {turn[0], turn[1], turn[2]};
    const tal_vec3 in_body = tal_m3_tmul_v3(R, tal_v3_sub(dw, tal_v3_cross(theta, w)));
    ck_assert_double_eq_tol(in_body.x, (w_of[1][0] - w_of[0][0]) / (2.0 * h), 1e-6);
    ck_assert_double_eq_tol(in_body.y, (w_of[1][1] - w_of[0][1]) / (2.0 * h), 1e-6);
    ck_assert_double_eq_tol(in_body.z, 1.0, 1e-9);
    tal_sensitivity_destroy(study);
    end(&m);
}

END_TEST

// The length of a rod is a parameter of a constraint: the start is projected, and moves with it. A
// particle that hangs at rest stays: dx/dl is down.
START_TEST(parameters_of_constraints_move_what_they_hold)
{
    model m = begin(tal_v3(0.0, -9.0, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_translation(m.matter, TAL_GROUND, &def);
    const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, body);
    const tal_constraint_ix rod =
        tal_constraint_add_rod(m.matter, &ends, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    finish(&m);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_MODEL), TAL_OK);
    tal_state_upd_q(m.state)[1] = -1.0;
    const tal_parameter length = tal_parameter_constraint("length", m.matter, rod, TAL_ROD_LENGTH);
    tal_sensitivity *study = study_of(&m, &length, 1, 0.05);
    const double value = 1.5;
    run(study, &m, &value, 0.4);
    const tal_matrix S = tal_sensitivity_matrix(study);
    ck_assert_double_eq_tol(tal_state_q(m.state)[1], -1.5, 1e-12);
    ck_assert_double_eq_tol(S.data[0], 0.0, 1e-11);
    ck_assert_double_eq_tol(S.data[1], -1.0, 1e-10);
    ck_assert_double_eq_tol(S.data[4], 0.0, 1e-9);
    tal_sensitivity_destroy(study);
    end(&m);
}

END_TEST

enum {
    NUM_CONSTANTS = 8
};

// A ball that a muscle holds, and that falls on a floor with friction.
static void drop_ball(model *m, tal_parameter all[], double values[])
{
    *m = begin(tal_v3(0.0, -9.0, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix ball = tal_matter_add_translation(m->matter, TAL_GROUND, &def);
    const tal_path_ix path = tal_forces_add_path(m->forces, "string");
    (void)tal_path_add_point(m->forces, path, TAL_GROUND, tal_v3(0.3, 2.0, 0.0));
    (void)tal_path_add_point(m->forces, path, ball, TAL_VEC3_ZERO);
    tal_muscle_def muscle = tal_muscle_def_default(TAL_MUSCLE_DEGROOTE);
    muscle.path = path;
    muscle.max_force = 15.0;
    muscle.fiber_length = muscle.tendon_length = 0.95;
    muscle.pennation = 0.2;
    muscle.initial_tendon_force = 0.1;
    muscle.initial_activation = 0.3;
    const tal_force_ix pull = tal_forces_add_muscle(m->forces, "muscle", &muscle);
    tal_smooth_contact_def floor = tal_smooth_contact_def_default();
    floor.sphere_body = ball;
    floor.plane_body = TAL_GROUND;
    floor.X_BF.R = tal_m3(tal_v3(0.0, -1.0, 0.0), tal_v3(1.0, 0.0, 0.0), tal_v3(0.0, 0.0, 1.0));
    floor.radius = 0.1;
    floor.material.stiffness = 1e4;
    floor.material.dissipation = 0.3;
    floor.material.static_friction = floor.material.dynamic_friction = 0.4;
    floor.material.viscous_friction = 0.1;
    floor.transition_speed = 0.5;
    floor.cf = 1e-3;
    floor.bd = 30.0;
    floor.bv = 5.0;
    const tal_force_ix rest = tal_forces_add_smooth_contact(m->forces, "floor", &floor);
    finish(m);
    (void)tal_muscle_set_control(m->forces, m->state, pull, 0.6);
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_MODEL), TAL_OK);
    tal_state_upd_q(m->state)[1] = 0.12;
    tal_state_upd_u(m->state)[0] = 0.5;
    tal_state_upd_u(m->state)[1] = -1.0;
    static const int of_muscle[5] = {TAL_MUSCLE_MAX_FORCE, TAL_MUSCLE_FIBER_LENGTH,
                                     TAL_MUSCLE_TENDON_LENGTH, TAL_MUSCLE_PENNATION,
                                     TAL_MUSCLE_ACTIVATION_TIME};
    static const int of_floor[3] = {TAL_SMOOTH_STIFFNESS, TAL_SMOOTH_DISSIPATION,
                                    TAL_SMOOTH_VISCOUS_FRICTION};
    for (int i = 0; i < NUM_CONSTANTS; ++i) {
        const tal_force_ix force = i < 5 ? pull : rest;
        const int which = i < 5 ? of_muscle[i] : of_floor[i - 5];
        all[i] = tal_parameter_force(NULL, m->forces, force, which);
        values[i] = tal_force_param(m->forces, m->state, force, which);
    }
}

// Constants of a muscle and of a floor, against differences of fourth order of whole runs that take
// the same steps: over 1e-3 of each constant, their fifth derivatives leave 1e-12 of what all of it
// changes, and round-off of runs 1e-12.
START_TEST(constants_of_muscles_and_floors_agree_with_differences_of_runs)
{
    static const double at[4] = {-1e-3, -5e-4, 5e-4, 1e-3};
    static const double weight[4] = {1.0 / 6e-3, -8.0 / 6e-3, 8.0 / 6e-3, -1.0 / 6e-3};
    model m;
    tal_parameter all[NUM_CONSTANTS];
    double values[NUM_CONSTANTS];
    drop_ball(&m, all, values);
    tal_sensitivity *study = study_of(&m, all, NUM_CONSTANTS, 0.0005);
    tal_state *from = NULL;
    ck_assert_int_eq(tal_state_create(m.system, &from, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_copy(from, m.state), TAL_OK);
    const int ny = tal_state_ny(m.state);
    for (int p = 0; p < NUM_CONSTANTS; ++p) {
        const double unit = values[p];
        double wanted[16] = {0.0}, size = 0.0;
        for (int k = 0; k < 4; ++k) {
            double moved[NUM_CONSTANTS];
            memcpy(moved, values, sizeof moved);
            moved[p] += at[k] * unit;
            ck_assert_int_eq(tal_state_copy(m.state, from), TAL_OK);
            run(study, &m, moved, 0.1);
            for (int i = 0; i < ny; ++i) {
                wanted[i] += weight[k] * tal_state_y(m.state)[i] / unit;
            }
        }
        ck_assert_int_eq(tal_state_copy(m.state, from), TAL_OK);
        run(study, &m, values, 0.1);
        const double *found = tal_sensitivity_matrix(study).data + (ptrdiff_t)p * ny;
        for (int i = 0; i < ny; ++i) {
            size = fmax(size, fabs(wanted[i]));
        }
        ck_assert_double_gt(size * unit, 1e-6); // it matters
        for (int i = 0; i < ny; ++i) {
            ck_assert_msg(fabs(found[i] - wanted[i]) <= 1e-6 * size,
                          "constant %d: y %d changes by %.12g, not %.12g", p, i, found[i],
                          wanted[i]);
        }
    }
    tal_state_destroy(from);
    tal_sensitivity_destroy(study);
    end(&m);
}

END_TEST

// A bath of constant temperature, with z, against differences of whole runs.
START_TEST(everything_else_agrees_with_differences_of_runs)
{
    model m = begin(tal_v3(0.0, -9.0, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0));
    const tal_body_ix upper = tal_matter_add_pin(m.matter, TAL_GROUND, &def);
    def.X_PF = tal_xf_from_p(tal_v3(0.0, -1.0, 0.0));
    const tal_body_ix lower = tal_matter_add_pin(m.matter, upper, &def);
    tal_thermostat_def bath = tal_thermostat_def_default();
    bath.kT = 2.0;
    (void)tal_forces_add_thermostat(m.forces, "bath", &bath);
    const tal_measure_ix angle =
        tal_measure_add_coordinate(m.matter, "angle", (tal_mobility){lower, 0});
    finish(&m);
    const tal_parameter all[2] = {tal_parameter_q("q0", m.matter, upper, 0),
                                  tal_parameter_mass("m", m.matter, lower)};
    const double values[2] = {0.6, 1.3}, t = 0.8;
    tal_sensitivity *study = study_of(&m, all, 2, 0.02);
    tal_state *from = NULL;
    ck_assert_int_eq(tal_state_create(m.system, &from, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_copy(from, m.state), TAL_OK);
    double wanted[2], gradient[2];
    for (int p = 0; p < 2; ++p) {
        double ends[2];
        for (int k = 0; k < 2; ++k) {
            double moved[2] = {values[0], values[1]};
            moved[p] += k == 0 ? -1e-4 : 1e-4;
            ck_assert_int_eq(tal_state_copy(m.state, from), TAL_OK);
            run(study, &m, moved, t);
            ends[k] = tal_state_q(m.state)[1];
        }
        wanted[p] = (ends[1] - ends[0]) / 2e-4;
    }
    ck_assert_int_eq(tal_state_copy(m.state, from), TAL_OK);
    run(study, &m, values, t);
    ck_assert_int_eq(tal_sensitivity_of_measure(study, m.state, angle, gradient), TAL_OK);
    for (int p = 0; p < 2; ++p) {
        ck_assert_double_eq_tol(gradient[p], wanted[p], 1e-6);
        ck_assert_double_eq_tol(
            gradient[p], tal_sensitivity_matrix(study).data[p * tal_state_ny(m.state) + 1], 1e-10);
    }
    tal_state_destroy(from);
    tal_sensitivity_destroy(study);
    end(&m);
}

END_TEST

START_TEST(what_is_wrong_is_said)
{
    model m = begin(TAL_VEC3_ZERO);
    const tal_mobod_def def = tal_mobod_def_default();
    const tal_body_ix body = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    finish(&m);
    tal_error err;
    tal_sensitivity *study = NULL;
    tal_sensitivity_def chosen = tal_sensitivity_def_default();
    chosen.num_parameters = 1;
    ck_assert_int_eq(tal_sensitivity_create(m.system, &chosen, &study, &err), TAL_ERR_BAD_VALUE);
    const tal_parameter q = tal_parameter_q("q0", m.matter, body, 0);
    chosen.parameters = &q;
    chosen.num_parameters = 1;
    chosen.step = 0.0;
    ck_assert_int_eq(tal_sensitivity_create(m.system, &chosen, &study, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "step"));
    chosen.step = 0.1;
    ck_assert_int_eq(tal_sensitivity_create(m.system, &chosen, &study, &err), TAL_OK);
    ck_assert_int_eq(tal_sensitivity_matrix(study).rows, 0);
    const double value = 0.0, wrong = (double)NAN;
    ck_assert_int_eq(tal_sensitivity_run(study, m.state, &wrong, 1.0), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_sensitivity_error(study)->message, "q0"));
    ck_assert_int_eq(tal_sensitivity_run(study, m.state, &value, -1.0), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_sensitivity_run(study, m.state, &value, 1e308), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_sensitivity_error(study)->message, "end_time 1e+308"));
    tal_sensitivity_destroy(study);
    tal_sensitivity_destroy(NULL);
    end(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/sensitivity");
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 60.0);
    tcase_add_test(theory, an_oscillator_changes_as_its_solution_does);
    tcase_add_test(theory, a_pendulum_only_knows_its_own_time);
    tcase_add_test(theory, a_spinning_top_wobbles_at_a_rate_that_follows_its_spin);
    tcase_add_test(theory, parameters_of_constraints_move_what_they_hold);
    tcase_add_test(theory, everything_else_agrees_with_differences_of_runs);
    tcase_add_test(theory, constants_of_muscles_and_floors_agree_with_differences_of_runs);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, what_is_wrong_is_said);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
