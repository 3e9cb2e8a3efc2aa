// Functions of the user's that fail inside matter: a mobilizer, constraints of every level, a
// motion. Each of their calls within each operation fails once: the operation hands the status on,
// the State has a sentence, and the next time all is as before.
#include "failing.h"
#include "loop_support.h"

// --- what fails ---

static tal_status calc_X(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    const tal_status st = tal_mobilizer_ball()->calc_X_FM(self, arg, X_FM);
    return st == TAL_OK ? may_fail(__func__) : st;
}

static tal_status calc_H(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    const tal_status st = tal_mobilizer_ball()->calc_H_FM(self, arg, H_FM);
    return st == TAL_OK ? may_fail(__func__) : st;
}

static tal_status calc_Hdot(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec Hdot[])
{
    (void)self, (void)arg;
    Hdot[0] = Hdot[1] = Hdot[2] = TAL_SPATIAL_VEC_ZERO;
    return may_fail(__func__);
}

static tal_status mul_N(const void *self, const tal_mobilizer_arg *arg, tal_n_op op,
                        const double in[], double out[])
{
    const tal_status st = tal_mobilizer_ball()->mul_N(self, arg, op, in, out);
    return st == TAL_OK ? may_fail(__func__) : st;
}

static const tal_mobilizer_ops *sick_ball(void)
{
    static tal_mobilizer_ops ops;
    ops = (tal_mobilizer_ops){.size = sizeof ops,
                              .name = "sick ball",
                              .nu = 3,
                              .nq = 4,
                              .nq_angles = 3,
                              .has_quaternion = true,
                              .calc_X_FM = calc_X,
                              .calc_H_FM = calc_H,
                              .calc_Hdot_FM = calc_Hdot,
                              .mul_N = mul_N};
    return &ops;
}

// One coordinate is twice another: as an equation on positions, velocities or accelerations.
static tal_status calc_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    perr[0] = arg->q[0] - 2.0 * arg->q[1];
    return may_fail(__func__);
}

static tal_status calc_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    verr[0] = arg->u[0] - 2.0 * arg->u[1];
    return may_fail(__func__);
}

static tal_status calc_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = arg->udot[0] - 2.0 * arg->udot[1];
    return may_fail(__func__);
}

static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
{
    (void)self, (void)arg, (void)F;
    f[0] += lambda[0];
    f[1] -= 2.0 * lambda[0];
    return may_fail(__func__);
}

#define TWICE(level)                                                                               \
    {                                                                                              \
        .size = sizeof(tal_constraint_ops), .name = "twice", .level = 1, .num_mobilities = 2,      \
        .calc_p = calc_p, .calc_v = calc_v, .calc_a = calc_a, .add_forces = add_forces             \
    }
static const tal_constraint_ops twice_ops[] = {TWICE(mp), TWICE(mv), TWICE(ma)};

static tal_status calc_motion(const void *self, const tal_motion_arg *arg, int order, double out[])
{
    (void)self;
    const double t = arg->t;
    out[0] = order == 0 ? 0.2 * sin(t) : order == 1 ? 0.2 * cos(t) : -0.2 * sin(t);
    return may_fail(__func__);
}

static const tal_motion_ops motion_ops = {
    .size = sizeof motion_ops, .name = "test motion", .calc = calc_motion};

// --- the model: a ball that carries pins, three pairs of pins tied to each other, one driven ---

enum {
    SICK_BALL = 1,
    DRIVEN = 8,
    ROWS = 3
};

static loop l;

static tal_body_ix add_pin(tal_body_ix parent)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_rod(1.0, tal_v3(0.5, 0.0, 0.0));
    def.X_PF.p = tal_v3(0.4, 0.1, 0.0);
    return tal_matter_add_pin(l.matter, parent, &def);
}

static void build(void)
{
    fault_begin(0, false);
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(2.0, tal_v3(0.5, 0.3, 0.2));
    tal_body_ix body =
        tal_matter_add_mobilizer(l.matter, TAL_GROUND, &def, sick_ball(), NULL, NULL);
    for (int k = 0; k < ROWS; ++k) {
        const tal_body_ix one = add_pin(k == 0 ? body : TAL_GROUND), two = add_pin(one);
        tal_constraint_def tie = tal_constraint_def_default();
        tie.mobilities[0] = (tal_mobility){one, 0};
        tie.mobilities[1] = (tal_mobility){two, 0};
        (void)tal_matter_add_constraint(l.matter, &tie, &twice_ops[k], NULL, NULL);
    }
    body = add_pin(TAL_GROUND);
    ck_assert_int_eq(body.i, DRIVEN);
    tal_motion_def drive = tal_motion_def_default();
    drive.body = body;
    drive.level = TAL_LEVEL_POSITION;
    (void)tal_matter_add_motion(l.matter, &drive, &motion_ops, NULL, NULL);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    const double q[] = {0.8, 0.4, -0.2, 0.4, 0.6, 0.3, 0.5, 0.25, 0.1, 0.2, 0.0};
    const double u[] = {0.3, -0.5, 0.7, 0.4, 0.2, 0.6, 0.3, 0.1, 0.2, 0.2};
    ck_assert_int_eq(tal_state_set_q(l.state, q, 11), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(l.state, u, 10), TAL_OK);
}

// --- operations ---

enum {
    NU = 10,
    NQ = 11,
    BODIES = 9
};

static double in[16], out[16], many[16 * 16];
static tal_spatial_vec F[BODIES];

static void fill(void)
{
    for (int i = 0; i < 16; ++i) {
        in[i] = 0.1 * i - 0.4;
    }
    memset(F, 0, sizeof F);
}

#define OPERATION(name, call)                                                                      \
    static tal_status name(const tal_matter *matter, tal_state *state)                             \
    {                                                                                              \
        fill();                                                                                    \
        return call;                                                                               \
    }

static tal_status to(const tal_matter *matter, tal_state *state, tal_stage stage)
{
    return tal_system_realize(tal_matter_system(matter), state, stage);
}

static const tal_system *sys(const tal_matter *matter)
{
    return tal_matter_system(matter);
}

static double work[4000];
static int iwork[400];
static tal_rows_report report;
static tal_constraint_row report_rows[8];
static tal_rows_margin margin;
static int dof;

OPERATION(realize_position, to(matter, state, TAL_STAGE_POSITION))
OPERATION(realize_velocity, to(matter, state, TAL_STAGE_VELOCITY))
OPERATION(realize_acceleration, to(matter, state, TAL_STAGE_ACCELERATION))
OPERATION(prescribe_q, tal_system_prescribe_q(sys(matter), state, NULL))
OPERATION(prescribe_u, tal_system_prescribe_u(sys(matter), state, NULL))
OPERATION(project_q_error, tal_system_project_q(sys(matter), state, NULL, in, NULL))
OPERATION(project_u_error, tal_system_project_u(sys(matter), state, NULL, in, NULL))
OPERATION(mul_each_N, tal_matter_mul_N(matter, state, TAL_N, in, out))
OPERATION(mul_each_NT, tal_matter_mul_N(matter, state, TAL_N_T, in, out))
OPERATION(mul_each_NPLUS, tal_matter_mul_N(matter, state, TAL_NPLUS, in, out))
OPERATION(mul_N_columns, tal_matter_mul_N_columns(matter, state, TAL_N, tal_matrix_view(in, NU, 1),
                                                  tal_matrix_view(out, NQ, 1)))
OPERATION(mul_body_N, tal_body_mul_N(matter, state, (tal_body_ix){SICK_BALL}, TAL_N, in, out))
OPERATION(calc_qdot, tal_matter_calc_qdot(matter, state, in, out))
OPERATION(calc_qdotdot, tal_matter_calc_qdotdot(matter, state, in, out))
OPERATION(mul_G, tal_matter_mul_G(matter, state, TAL_G, in, out))
OPERATION(mul_GT, tal_matter_mul_GT(matter, state, TAL_G, in, out))
OPERATION(calc_G, tal_matter_calc_G(matter, state, TAL_G, tal_matrix_view(many, ROWS, NU)))
OPERATION(mul_Pq, tal_matter_mul_Pq(matter, state, in, out))
OPERATION(mul_PqT, tal_matter_mul_PqT(matter, state, in, out))
OPERATION(calc_Pq, tal_matter_calc_Pq(matter, state, tal_matrix_view(many, 1, NQ)))
OPERATION(calc_W, tal_matter_calc_W(matter, state, tal_matrix_view(many, ROWS, ROWS)))
OPERATION(calc_bias, tal_matter_calc_constraint_bias(matter, state, out))
OPERATION(calc_aerr, tal_matter_calc_constraint_aerr(matter, state, in, out))
OPERATION(calc_multipliers, tal_matter_calc_multipliers(matter, state, in, out))
OPERATION(calc_impulse, tal_matter_calc_constraint_impulse(matter, state, in, out, many))
OPERATION(calc_forces,
          tal_matter_calc_constraint_forces(matter, state, in, (tal_constraint_ix){1}, F, out))
OPERATION(calc_null_basis, tal_matter_calc_null_basis(matter, state, tal_matrix_view(many, NU, NU),
                                                      &dof, work, iwork))
OPERATION(solve_kkt,
          tal_matter_solve_constrained(matter, state, TAL_SOLVE_KKT, F, in, out, many, work, iwork))
OPERATION(solve_multipliers, tal_matter_solve_constrained(matter, state, TAL_SOLVE_MULTIPLIERS, F,
                                                          in, out, many, work, iwork))
OPERATION(solve_null_space, tal_matter_solve_constrained(matter, state, TAL_SOLVE_NULL_SPACE, F, in,
                                                         out, many, work, iwork))
OPERATION(inverse_dynamics,
          tal_matter_constrained_inverse_dynamics(matter, state, in, F, in, many, out, work, iwork))
OPERATION(calc_report, tal_matter_calc_constraint_report(matter, state, &report, report_rows))
OPERATION(calc_margin, tal_matter_calc_margin(matter, state, &margin))
OPERATION(forward_dynamics, tal_matter_forward_dynamics(matter, state, F, in, out, NULL))
OPERATION(calc_residual, tal_matter_calc_residual(matter, state, in, in, out))

static tal_status use_angles(const tal_matter *matter, tal_state *state)
{
    tal_status st = tal_matter_set_use_angles(matter, state, true);
    if (st == TAL_OK) st = to(matter, state, TAL_STAGE_MODEL);
    return st == TAL_OK ? to(matter, state, TAL_STAGE_VELOCITY) : st;
}

static tal_status fit_pose(const tal_matter *matter, tal_state *state)
{
    const tal_xform X = {tal_rotation_about(TAL_AXIS_Y, 0.4), TAL_VEC3_ZERO};
    return tal_body_fit_q(matter, state, (tal_body_ix){SICK_BALL}, &X);
}

static tal_status fit_velocity(const tal_matter *matter, tal_state *state)
{
    const tal_spatial_vec V = tal_sv(tal_v3(0.1, 0.2, 0.3), TAL_VEC3_ZERO);
    return tal_body_fit_u(matter, state, (tal_body_ix){SICK_BALL}, V);
}

// What is off by this much is projected.
static tal_status project_from_afar(const tal_matter *matter, tal_state *state, bool velocities)
{
    double *values = velocities ? tal_state_upd_u(state) : tal_state_upd_q(state);
    values[5] += 0.3;
    const tal_stage stage = velocities ? TAL_STAGE_VELOCITY : TAL_STAGE_POSITION;
    const tal_status st = to(matter, state, stage);
    if (st != TAL_OK) return st;
    return velocities ? tal_system_project_u(sys(matter), state, NULL, NULL, NULL)
                      : tal_system_project_q(sys(matter), state, NULL, NULL, NULL);
}

static tal_status project_q(const tal_matter *matter, tal_state *state)
{
    return project_from_afar(matter, state, false);
}

static tal_status project_u(const tal_matter *matter, tal_state *state)
{
    return project_from_afar(matter, state, true);
}

#define AT(stage, name)                                                                            \
    {                                                                                              \
#name, TAL_STAGE_##stage, name, false                                                      \
    }
#define OR(stage, name)                                                                            \
    {                                                                                              \
#name, TAL_STAGE_##stage, name, true                                                       \
    }

static const struct operation {
    const char *name;
    tal_stage from;
    tal_status (*run)(const tal_matter *matter, tal_state *state);
    bool recovers; // a step that cannot be tried is made shorter
} operations[] = {
    AT(TIME, realize_position),
    AT(POSITION, realize_velocity),
    AT(VELOCITY, realize_acceleration),
    AT(TIME, realize_acceleration),
    AT(TIME, prescribe_q),
    AT(POSITION, prescribe_u),
    AT(POSITION, project_q_error),
    AT(VELOCITY, project_u_error),
    OR(POSITION, project_q),
    OR(VELOCITY, project_u),
    AT(POSITION, mul_each_N),
    AT(POSITION, mul_each_NT),
    AT(POSITION, mul_each_NPLUS),
    AT(POSITION, mul_N_columns),
    AT(POSITION, mul_body_N),
    AT(POSITION, calc_qdot),
    AT(VELOCITY, calc_qdotdot),
    AT(POSITION, mul_G),
    AT(POSITION, mul_GT),
    AT(POSITION, calc_G),
    AT(POSITION, mul_Pq),
    AT(POSITION, mul_PqT),
    AT(POSITION, calc_Pq),
    AT(POSITION, calc_W),
    AT(VELOCITY, calc_bias),
    AT(VELOCITY, calc_aerr),
    AT(VELOCITY, calc_multipliers),
    AT(POSITION, calc_impulse),
    AT(POSITION, calc_forces),
    AT(POSITION, calc_null_basis),
    AT(VELOCITY, solve_kkt),
    AT(VELOCITY, solve_multipliers),
    AT(VELOCITY, solve_null_space),
    AT(VELOCITY, inverse_dynamics),
    AT(VELOCITY, calc_report),
    AT(VELOCITY, calc_margin),
    AT(VELOCITY, forward_dynamics),

    AT(DYNAMICS, calc_residual),
    AT(MODEL, use_angles),
    AT(MODEL, fit_pose),
    AT(MODEL, fit_velocity),

};

// --- the harness ---

static tal_status run(const struct operation *it, tal_state *state, long fails_at, bool stays)
{
    fault_begin(0, false);
    memset(out, 0, sizeof out);
    memset(many, 0, sizeof many);
    (void)!tal_system_realize(l.system, state, TAL_STAGE_MODEL); // returns what was refused before
    ck_assert_int_eq(tal_state_copy(state, l.state), TAL_OK);
    ck_assert_int_eq(tal_state_invalidate(state, TAL_STAGE_INSTANCE), TAL_OK);
    ck_assert_msg(tal_system_realize(l.system, state, it->from) == TAL_OK, "%s: %s", it->name,
                  tal_state_error(state)->message);
    fault_begin(fails_at, stays);
    const tal_status st = it->run(l.matter, state);
    fault.fails_at = 0;
    return st;
}

static void check_failure(const struct operation *it, tal_state *state, long n, bool stays)
{
    const tal_status st = run(it, state, n, stays);
    ck_assert_msg(fault.calls >= n, "%s: call %ld is not made", it->name, n);
    if (st == TAL_OK && it->recovers && !stays) return;
    ck_assert_msg(st != TAL_OK, "%s: call %ld, of %s, fails and this is not reported", it->name, n,
                  fault.first);
    ck_assert_msg(st == TAL_ERR_CALLBACK || (it->recovers && st == TAL_ERR_NO_CONVERGENCE),
                  "%s: call %ld, of %s: %s", it->name, n, fault.first, tal_status_name(st));
    ck_assert_msg(strlen(tal_state_error(state)->message) > 0, "%s", it->name);
}

START_TEST(every_call_that_fails_is_handed_on)
{
    build();
    tal_state *state = NULL;
    ck_assert_int_eq(tal_state_create(l.system, &state, NULL), TAL_OK);
    for (size_t k = 0; k < sizeof operations / sizeof operations[0]; ++k) {
        const struct operation *it = &operations[k];
        const tal_status st = run(it, state, 0, false);
        ck_assert_msg(st == TAL_OK, "%s: %s %s %s", it->name, tal_status_name(st),
                      tal_state_error(state)->message, tal_contract_last()->message);
        const long calls = fault.calls;
        double first_out[16], first_many[16 * 16];
        memcpy(first_out, out, sizeof out);
        memcpy(first_many, many, sizeof many);
        for (long n = 1; n <= calls; ++n) {
            check_failure(it, state, n, false);
            check_failure(it, state, n, true);
        }
        ck_assert_msg(calls > 0, "%s calls nothing", it->name);
        ck_assert_int_eq(run(it, state, 0, false), TAL_OK);
        ck_assert_mem_eq(first_out, out, sizeof out);
        ck_assert_mem_eq(first_many, many, sizeof many);
    }
    tal_state_destroy(state);
    loop_end(&l);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/callees");
    TCase *tests = tcase_create("callees");
    tcase_add_test(tests, every_call_that_fails_is_handed_on);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
