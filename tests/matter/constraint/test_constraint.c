// Tests of matter/src/constraint/constraint.c: adding any table, names, parameters and enabling in
// a State.
#include "alloc_guard.h"
#include "constraint_support.h"

#include <limits.h>

static tal_body_ix body(int i)
{
    return (tal_body_ix){i};
}

static const tal_vec3 S1 = {0.3, -0.2, 0.5}, S2 = {-0.4, 0.1, 0.6};

// Two free bodies, a rod and a ball between them; the ball starts disabled.
static void build(test_model *model)
{
    test_model_begin(model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.5);
    for (int b = 0; b < 2; ++b) {
        (void)tal_matter_add_free(model->matter, TAL_GROUND, &def);
    }
    tal_constraint_def between = tal_constraint_between(body(1), body(2));
    between.name = "rod";
    (void)tal_constraint_add_rod(model->matter, &between, S1, S2, 0.7);
    between.name = NULL;
    between.disabled = true;
    (void)tal_constraint_add_ball(model->matter, &between, S1, S2);
}

// --- in a System ---

START_TEST(constraints_are_found_by_name)
{
    test_model model;
    build(&model);
    ck_assert_int_eq(tal_matter_num_constraints(model.matter), 2);
    ck_assert_int_eq(tal_matter_num_constraints(NULL), -1);
    ck_assert_int_eq(tal_matter_find_constraint(model.matter, "rod").i, 0);
    ck_assert_int_eq(tal_matter_find_constraint(model.matter, "constraint1").i, 1);
    ck_assert_int_lt(tal_matter_find_constraint(model.matter, "rope").i, 0);
    ck_assert_int_lt(tal_matter_find_constraint(NULL, "rod").i, 0);
    ck_assert_str_eq(tal_constraint_name(model.matter, (tal_constraint_ix){1}), "constraint1");
    test_model_freeze(&model);
    ck_assert_int_eq(tal_constraint_ancestor(model.matter, (tal_constraint_ix){0}).i, 0);
    test_model_end(&model);
}

START_TEST(a_name_is_taken_once)
{
    test_model model;
    build(&model);
    tal_constraint_def again = tal_constraint_between(body(1), body(2));
    again.name = "rod";
    ck_assert_int_lt(tal_constraint_add_ball(model.matter, &again, S1, S2).i, 0);
    ck_assert_int_eq(tal_system_realize_topology(model.system, NULL), TAL_ERR_BAD_NAME);
    test_model_end(&model);

    tal_error err = {TAL_OK, "", ""};
    build(&model);
    again.name = "rod ";
    ck_assert_int_lt(tal_constraint_add_ball(model.matter, &again, S1, S2).i, 0);
    ck_assert_int_eq(tal_system_realize_topology(model.system, &err), TAL_ERR_BAD_NAME);
    ck_assert_ptr_nonnull(
        strstr(err.message, "constraint 'rod ': a name cannot begin or end with blanks"));
    test_model_end(&model);
}

static tal_status no_errors(const void *self, const tal_constraint_arg *arg, double err[])
{
    (void)self, (void)arg;
    err[0] = 0.0;
    return TAL_OK;
}

static tal_status no_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                            tal_spatial_vec F[], double f[])
{
    (void)self, (void)arg, (void)lambda, (void)F, (void)f;
    return TAL_OK;
}

static void count_down(void *self)
{
    --*(int *)self;
}

static const tal_constraint_ops right = {
    .size = sizeof right,
    .name = "nothing",
    .mp = 1,
    .num_bodies = 1,
    .calc_p = no_errors,
    .calc_v = no_errors,
    .calc_a = no_errors,
    .add_forces = no_forces,
    .destroy = count_down,
};

// A right table is adopted and destroyed with the System; each wrong one is refused, and its self
// freed all the same.
START_TEST(a_table_is_checked_and_its_self_is_freed_once)
{
    for (int wrong = 0; wrong < 9; ++wrong) {
        tal_constraint_ops ops = right;
        if (wrong == 1) ops.mp = 0;
        if (wrong == 2) ops.mp = -1;
        if (wrong == 3) ops.num_bodies = -1;
        if (wrong == 4) ops.num_params = -1;
        if (wrong == 5) ops.calc_p = NULL;
        if (wrong == 6) ops.add_forces = NULL;
        if (wrong == 7) ops.name = NULL;
        if (wrong == 8) ops.num_bodies = 0;
        test_model model;
        build(&model);
        int alive = 1;
        tal_constraint_def def = tal_constraint_def_default();
        const tal_constraint_ix added =
            tal_matter_add_constraint(model.matter, &def, &ops, &alive, NULL);
        ck_assert_int_eq(added.i, wrong == 0 ? 2 : -1);
        ck_assert_int_eq(alive, wrong == 0 ? 1 : 0);
        const bool lacks = wrong == 5 || wrong == 6;
        const tal_status wanted = wrong == 0 ? TAL_OK : lacks ? TAL_ERR_NULL : TAL_ERR_BAD_VALUE;
        ck_assert_int_eq(tal_system_realize_topology(model.system, NULL), wanted);
        test_model_end(&model);
        ck_assert_int_eq(alive, 0);
    }
}

START_TEST(a_table_is_required)
{
    test_model model;
    build(&model);
    const tal_constraint_def def = tal_constraint_def_default();
    ck_assert_int_lt(tal_matter_add_constraint(model.matter, &def, NULL, NULL, NULL).i, 0);
    ck_assert_int_eq(tal_system_realize_topology(model.system, NULL), TAL_ERR_BAD_VALUE);
    test_model_end(&model);
}

// --- any number of bodies, mobilities and equations ---

enum {
    SLIDERS = 20,
    BANDS = SLIDERS - 2
};

// Row r is q_r + 2 q_(r+1) - q_(r+2): over a window of three mobilities, or over all of them.
static const double BAND[3] = {1.0, 2.0, -1.0};

static void fill_bands(const double x[], int rows, double err[])
{
    for (int r = 0; r < rows; ++r) {
        err[r] = BAND[0] * x[r] + BAND[1] * x[r + 1] + BAND[2] * x[r + 2];
    }
}

static tal_status bands_p(const void *self, const tal_constraint_arg *arg, double err[])
{
    (void)self;
    fill_bands(arg->q, arg->num_mobilities - 2, err);
    return TAL_OK;
}

static tal_status bands_v(const void *self, const tal_constraint_arg *arg, double err[])
{
    (void)self;
    fill_bands(arg->u, arg->num_mobilities - 2, err);
    return TAL_OK;
}

static tal_status bands_a(const void *self, const tal_constraint_arg *arg, double err[])
{
    (void)self;
    fill_bands(arg->udot, arg->num_mobilities - 2, err);
    return TAL_OK;
}

static tal_status bands_forces(const void *self, const tal_constraint_arg *arg,
                               const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)F;
    for (int r = 0; r < arg->num_mobilities - 2; ++r) {
        for (int k = 0; k < 3; ++k) {
            f[r + k] += lambda[r] * BAND[k];
        }
    }
    return TAL_OK;
}

typedef struct sliders {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_constraint_ix first;
} sliders;

// Sliders of different masses, side by side; the bands in one constraint or each in its own.
static sliders add_sliders(bool in_one)
{
    sliders s = {.system = tal_system_create(NULL)};
    s.matter = tal_matter_create(s.system);
    tal_mobility at[SLIDERS];
    for (int i = 0; i < SLIDERS; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_brick(1.0 + 0.1 * i, tal_v3(0.1, 0.1, 0.1));
        at[i] = (tal_mobility){tal_matter_add_slider(s.matter, TAL_GROUND, &def), 0};
    }
    tal_constraint_ops ops = {.size = sizeof ops,
                              .name = "bands",
                              .mp = in_one ? BANDS : 1,
                              .num_mobilities = in_one ? -1 : 3,
                              .calc_p = bands_p,
                              .calc_v = bands_v,
                              .calc_a = bands_a,
                              .add_forces = bands_forces};
    tal_constraint_def def = tal_constraint_def_default();
    for (int r = 0; r < (in_one ? 1 : BANDS); ++r) {
        def.mobility_list = at + r;
        def.num_mobilities = SLIDERS;
        const tal_constraint_ix added = tal_matter_add_constraint(s.matter, &def, &ops, NULL, NULL);
        if (r == 0) s.first = added;
    }
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tal_system_realize_topology(s.system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(s.system, &s.state, &err), TAL_OK);
    for (int i = 0; i < SLIDERS; ++i) {
        ck_assert_int_eq(tal_body_set_q(s.matter, s.state, at[i].body, 0, sin(3.0 * i)), TAL_OK);
        ck_assert_int_eq(tal_body_set_u(s.matter, s.state, at[i].body, 0, cos(5.0 * i)), TAL_OK);
    }
    return s;
}

// 20 mobilities and 18 rows in one constraint do what 18 constraints of one row do: projected q and
// u, accelerations under forces of size one, multipliers. Condition numbers are below 1e3: 1e-12.
START_TEST(a_large_constraint_is_many_small_ones)
{
    sliders s[2] = {add_sliders(false), add_sliders(true)};
    double udot[2][SLIDERS], lambda[2][BANDS], f[SLIDERS], work[20000];
    int iwork[2000];
    for (int i = 0; i < SLIDERS; ++i) {
        f[i] = sin(1.0 + i);
    }
    for (int k = 0; k < 2; ++k) {
        tal_state *state = s[k].state;
        tal_project_options options = tal_project_options_default();
        options.tolerance = 1e-13;
        ck_assert_msg(tal_system_prescribe_and_project(s[k].system, state, &options, NULL) ==
                          TAL_OK,
                      "%s", tal_state_error(state)->message);
        ck_assert_uint_le(tal_matter_dense_work_size(s[k].matter, state), 20000);
        ck_assert_uint_le(tal_matter_dense_iwork_size(s[k].matter, state), 2000);
        ck_assert_int_eq(tal_matter_solve_constrained(s[k].matter, state, TAL_SOLVE_MULTIPLIERS,
                                                      NULL, f, udot[k], lambda[k], work, iwork),
                         TAL_OK);
        tal_status st = TAL_OK;
        test_assert_no_heap(st = tal_system_realize(s[k].system, state, TAL_STAGE_ACCELERATION));
        ck_assert_int_eq(st, TAL_OK);
    }
    test_assert_near(tal_state_q(s[1].state), tal_state_q(s[0].state), SLIDERS, 1e-12, "q");
    test_assert_near(tal_state_u(s[1].state), tal_state_u(s[0].state), SLIDERS, 1e-12, "u");
    test_assert_near(udot[1], udot[0], SLIDERS, 1e-12, "udot");
    test_assert_near(lambda[1], lambda[0], BANDS, 1e-12, "lambda");
    tal_constraint_report report;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tal_constraint_test(s[1].matter, s[1].state, s[1].first, &report, &err) == TAL_OK,
                  "%s", err.message);
    ck_assert_double_lt(report.worst, 1e-10);
    for (int k = 0; k < 2; ++k) {
        tal_state_destroy(s[k].state);
        tal_system_destroy(s[k].system);
    }
}

enum {
    SWARM = 9
};

// The center of all bodies stays at the origin of A: 3 rows.
static tal_status center_p(const void *self, const tal_constraint_arg *arg, double err[])
{
    (void)self;
    tal_vec3 sum = TAL_VEC3_ZERO;
    for (int i = 0; i < arg->num_bodies; ++i) {
        sum = tal_v3_add(sum, arg->X_AB[i].p);
    }
    err[0] = sum.x, err[1] = sum.y, err[2] = sum.z;
    return TAL_OK;
}

static void add_up(const tal_spatial_vec V[], int n, double err[])
{
    tal_vec3 sum = TAL_VEC3_ZERO;
    for (int i = 0; i < n; ++i) {
        sum = tal_v3_add(sum, V[i].v);
    }
    err[0] = sum.x, err[1] = sum.y, err[2] = sum.z;
}

static tal_status center_v(const void *self, const tal_constraint_arg *arg, double err[])
{
    (void)self;
    add_up(arg->V, arg->num_bodies, err);
    return TAL_OK;
}

static tal_status center_a(const void *self, const tal_constraint_arg *arg, double err[])
{
    (void)self;
    add_up(arg->a, arg->num_bodies, err);
    return TAL_OK;
}

static tal_status center_forces(const void *self, const tal_constraint_arg *arg,
                                const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    for (int i = 0; i < arg->num_bodies; ++i) {
        F[i].v = tal_v3_add(F[i].v, tal_v3(lambda[0], lambda[1], lambda[2]));
    }
    return TAL_OK;
}

// Nine bodies that translate, with masses m_i under forces f_i: a_i = (f_i - lambda) / m_i, and the
// sum of a_i is zero where lambda is the sum of f_i / m_i over that of 1 / m_i.
START_TEST(a_constraint_acts_on_any_number_of_bodies)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_body_ix bodies[SWARM + 1] = {TAL_GROUND}; // Ground too: A is Ground
    for (int i = 1; i <= SWARM; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_brick((double)i, tal_v3(0.1, 0.1, 0.1));
        bodies[i] = tal_matter_add_translation(matter, TAL_GROUND, &def);
    }
    const tal_constraint_ops ops = {.size = sizeof ops,
                                    .name = "center",
                                    .mp = 3,
                                    .num_bodies = -1,
                                    .calc_p = center_p,
                                    .calc_v = center_v,
                                    .calc_a = center_a,
                                    .add_forces = center_forces};
    tal_constraint_def def = tal_constraint_def_default();
    def.body_list = bodies;
    def.num_bodies = SWARM + 1;
    const tal_constraint_ix ix = tal_matter_add_constraint(matter, &def, &ops, NULL, NULL);
    tal_error err = {TAL_OK, "", ""};
    tal_state *state = NULL;
    ck_assert_msg(tal_system_realize_topology(system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(system, &state, &err), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
    double f[3 * SWARM], udot[3 * SWARM], lambda[3], work[20000];
    int iwork[2000];
    double sum[3] = {0.0}, weight = 0.0;
    for (int i = 0; i < 3 * SWARM; ++i) {
        f[i] = sin(2.0 * i);
        sum[i % 3] += f[i] / (1.0 + i / 3);
        if (i % 3 == 0) weight += 1.0 / (1.0 + i / 3);
    }
    ck_assert_uint_le(tal_matter_dense_work_size(matter, state), 20000);
    ck_assert_int_eq(tal_matter_solve_constrained(matter, state, TAL_SOLVE_MULTIPLIERS, NULL, f,
                                                  udot, lambda, work, iwork),
                     TAL_OK);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(lambda[i], sum[i] / weight, 1e-14);
    }
    for (int i = 0; i < 3 * SWARM; ++i) {
        ck_assert_double_eq_tol(udot[i], (f[i] - sum[i % 3] / weight) / (1.0 + i / 3), 1e-14);
    }
    tal_constraint_report report;
    ck_assert_int_eq(tal_constraint_test(matter, state, ix, &report, &err), TAL_OK);
    ck_assert_double_lt(report.worst, 1e-10);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

// More than fit into a def need a list; what is built in takes none.
START_TEST(counts_that_do_not_fit_are_refused)
{
    for (int wrong = 0; wrong < 3; ++wrong) {
        test_model model;
        build(&model);
        int alive = 1;
        tal_constraint_ops ops = right;
        ops.num_bodies = wrong == 0 ? TAL_CONSTRAINT_BODIES + 1 : 1;
        ops.num_mobilities = wrong == 1 ? TAL_CONSTRAINT_MOBILITIES + 1 : 0;
        ops.mp = wrong == 2 ? INT_MAX : 1;
        const tal_constraint_def def = tal_constraint_def_default();
        ck_assert_int_lt(tal_matter_add_constraint(model.matter, &def, &ops, &alive, NULL).i, 0);
        ck_assert_int_eq(alive, 0);
        tal_error err = {TAL_OK, "", ""};
        ck_assert_int_eq(tal_system_realize_topology(model.system, &err),
                         wrong == 2 ? TAL_ERR_CAPACITY : TAL_ERR_BAD_VALUE);
        static const char *const parts[] = {"body_list", "mobility_list", "too many"};
        ck_assert_ptr_nonnull(strstr(err.message, parts[wrong]));
        test_model_end(&model);
    }
    test_model model;
    build(&model);
    tal_constraint_def def = tal_constraint_between(TAL_GROUND, (tal_body_ix){1});
    def.body_list = def.bodies;
    const tal_vec3 o = TAL_VEC3_ZERO;
    ck_assert_int_lt(tal_constraint_add_ball(model.matter, &def, o, o).i, 0);
    ck_assert_int_eq(tal_system_realize_topology(model.system, NULL), TAL_ERR_BAD_VALUE);
    test_model_end(&model);
}

// --- in a State ---

START_TEST(a_disabled_constraint_has_no_rows)
{
    test_model model;
    build(&model);
    test_model_freeze(&model);
    const tal_constraint_ix rod = {0}, ball = {1};
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert(tal_constraint_is_enabled(model.matter, model.state, rod));
    ck_assert(!tal_constraint_is_enabled(model.matter, model.state, ball));
    ck_assert_int_eq(tal_state_pool_size(model.state, TAL_POOL_UDOTERR), 1);

    // what changes nothing invalidates nothing
    ck_assert_int_eq(tal_constraint_set_enabled(model.matter, model.state, rod, true), TAL_OK);
    ck_assert_int_eq(tal_state_stage(model.state), TAL_STAGE_ACCELERATION);

    ck_assert_int_eq(tal_constraint_set_enabled(model.matter, model.state, ball, true), TAL_OK);
    ck_assert_int_eq(tal_constraint_set_enabled(model.matter, model.state, rod, false), TAL_OK);
    ck_assert_int_lt(tal_state_stage(model.state), TAL_STAGE_INSTANCE);
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_state_pool_size(model.state, TAL_POOL_UDOTERR), 3);
    const tal_vec3 d = tal_v3_sub(S2, S1);
    // quaternion errors of the two free bodies stand before or after, and are zero
    double found = 0.0;
    for (int i = 0; i < tal_state_pool_size(model.state, TAL_POOL_QERR); ++i) {
        found += fabs(tal_state_qerr(model.state)[i]);
    }
    ck_assert_double_eq_tol(found, fabs(d.x) + fabs(d.y) + fabs(d.z), 1e-15);
    test_model_end(&model);
}

// Two mobilities: q_0 = 0.3 by a position row, u_1 = 0.5 by a velocity row.
static tal_status both_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    perr[0] = arg->q[0] - 0.3;
    return TAL_OK;
}

static tal_status both_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    verr[0] = arg->u[0];
    verr[1] = arg->u[1] - 0.5;
    return TAL_OK;
}

static tal_status both_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = arg->udot[0];
    aerr[1] = arg->udot[1];
    return TAL_OK;
}

static tal_status both_forces(const void *self, const tal_constraint_arg *arg,
                              const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)arg, (void)F;
    f[0] += lambda[0];
    f[1] += lambda[1];
    return TAL_OK;
}

START_TEST(a_constraint_may_have_as_many_velocity_rows_as_position_rows)
{
    static const tal_constraint_ops both = {.size = sizeof both,
                                            .name = "both",
                                            .mp = 1,
                                            .mv = 1,
                                            .num_mobilities = 2,
                                            .calc_p = both_p,
                                            .calc_v = both_v,
                                            .calc_a = both_a,
                                            .add_forces = both_forces};
    test_model model;
    test_model_begin(&model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.5);
    (void)tal_matter_add_translation(model.matter, TAL_GROUND, &def);
    tal_constraint_def on = tal_constraint_def_default();
    on.mobilities[0].body = on.mobilities[1].body = body(1);
    on.mobilities[1].i = 1;
    (void)tal_matter_add_constraint(model.matter, &on, &both, NULL, NULL);
    test_model_freeze(&model);
    const double q[] = {0.5, 0.0, 0.0}, u[] = {0.25, 0.75, 0.0};
    ck_assert_int_eq(tal_state_set_q(model.state, q, 3), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(model.state, u, 3), TAL_OK);
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq(tal_state_qerr(model.state)[0], 0.5 - 0.3);
    ck_assert_double_eq(tal_state_uerr(model.state)[0], 0.25);
    ck_assert_double_eq(tal_state_uerr(model.state)[1], 0.25);
    test_assert_near(tal_state_udoterr(model.state), (const double[]){0.0, 0.0}, 2, 1e-15, "aerr");
    test_model_end(&model);
}

START_TEST(every_constraint_has_its_own_parameters)
{
    test_model model;
    build(&model);
    test_model_freeze(&model);
    const tal_constraint_ix rod = {0}, ball = {1};
    int n = 0;
    const double of_rod[] = {S1.x, S1.y, S1.z, S2.x, S2.y, S2.z, 0.7};
    ck_assert_mem_eq(tal_constraint_params(model.matter, model.state, rod, &n), of_rod,
                     sizeof of_rod);
    ck_assert_int_eq(n, 7);
    ck_assert_mem_eq(tal_constraint_params(model.matter, model.state, ball, &n), of_rod,
                     6 * sizeof of_rod[0]);
    ck_assert_int_eq(n, 6);
    const double other[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
    ck_assert_int_eq(tal_constraint_set_params(model.matter, model.state, ball, other, 6), TAL_OK);
    ck_assert_mem_eq(tal_constraint_params(model.matter, model.state, ball, NULL), other,
                     sizeof other);
    ck_assert_mem_eq(tal_constraint_params(model.matter, model.state, rod, NULL), of_rod,
                     sizeof of_rod);
    test_model_end(&model);
}

START_TEST(wrong_parameters_are_refused)
{
    test_model model;
    build(&model);
    test_model_freeze(&model);
    const tal_constraint_ix rod = {0};
    const double params[TAL_ROD_NUM_PARAMS] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, (double)INFINITY};
    tal_state *state = model.state;
    ck_assert_int_eq(tal_constraint_set_params(model.matter, state, rod, params, 7),
                     TAL_ERR_NOT_FINITE);
    ck_assert(strstr(tal_state_error(state)->message, "'rod': parameter 6 is inf") != NULL);
    ck_assert_int_eq(tal_constraint_set_params(model.matter, state, rod, params, 6),
                     TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_constraint_set_params(model.matter, state, rod, NULL, 7),
                     TAL_ERR_BAD_VALUE);
    // the first failure stays until the next realization returns it
    ck_assert_int_eq(tal_system_realize(model.system, state, TAL_STAGE_TIME), TAL_ERR_NOT_FINITE);
    test_model_end(&model);
}

// --- broken contracts ---

START_TEST(what_is_not_there_is_a_broken_contract)
{
    test_record_breaches();
    test_model model;
    build(&model);
    const tal_constraint_ix rod = {0}, none = {2};
    test_assert_breach((void)tal_constraint_ancestor(model.matter, rod), TAL_ERR_TOPOLOGY,
                       "before the topology");
    test_model_freeze(&model);
    tal_state *state = model.state;
    int n = 7;
    test_assert_breach(ck_assert_str_eq(tal_constraint_name(NULL, rod), "(no constraint)"),
                       TAL_ERR_NULL, "matter");
    test_assert_breach(ck_assert_int_eq(tal_constraint_ancestor(model.matter, none).i, -1),
                       TAL_ERR_BAD_INDEX, "constraint 2");
    test_assert_breach(ck_assert(!tal_constraint_is_enabled(model.matter, state, none)),
                       TAL_ERR_BAD_INDEX, "constraint 2");
    test_assert_breach((void)tal_constraint_set_enabled(model.matter, state, none, true),
                       TAL_ERR_BAD_INDEX, "constraint 2");
    test_assert_breach((void)tal_constraint_set_enabled(model.matter, NULL, rod, true),
                       TAL_ERR_NULL, "");
    test_assert_breach(ck_assert_ptr_null(tal_constraint_params(model.matter, state, none, &n)),
                       TAL_ERR_BAD_INDEX, "constraint 2");
    ck_assert_int_eq(n, 0);
    test_assert_breach((void)tal_constraint_set_params(model.matter, state, none, NULL, 0),
                       TAL_ERR_BAD_INDEX, "constraint 2");
    const tal_constraint_def late = tal_constraint_between(body(1), body(2));
    test_assert_breach(ck_assert_int_lt(tal_constraint_add_ball(model.matter, &late, S1, S2).i, 0),
                       TAL_ERR_TOPOLOGY, "add constraints before");
    test_model_end(&model);
}

int main(void)
{
    Suite *suite = suite_create("matter/constraint");
    TCase *building = tcase_create("building");
    tcase_add_test(building, constraints_are_found_by_name);
    tcase_add_test(building, a_name_is_taken_once);
    tcase_add_test(building, a_table_is_checked_and_its_self_is_freed_once);
    tcase_add_test(building, a_table_is_required);
    tcase_add_test(building, a_large_constraint_is_many_small_ones);
    tcase_add_test(building, a_constraint_acts_on_any_number_of_bodies);
    tcase_add_test(building, counts_that_do_not_fit_are_refused);
    suite_add_tcase(suite, building);
    TCase *state = tcase_create("state");
    tcase_add_test(state, a_disabled_constraint_has_no_rows);
    tcase_add_test(state, a_constraint_may_have_as_many_velocity_rows_as_position_rows);
    tcase_add_test(state, every_constraint_has_its_own_parameters);
    tcase_add_test(state, wrong_parameters_are_refused);
    tcase_add_test(state, what_is_not_there_is_a_broken_contract);
    suite_add_tcase(suite, state);
    return test_run(suite);
}
