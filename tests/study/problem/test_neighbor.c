// Studies of matter that is not the first subsystem: none of its q, u, z, errors, multipliers and
// triggers is number 0 of its pool.
//
// One model is built twice, alone and beside a subsystem that stands still (neighbor.h). Errors are
// measured by the largest, to which the neighbor adds nothing, so every study takes the same steps
// to the last bit.
#include "neighbor.h"
#include "stepper_model.h"

#include <math.h>

enum {
    ALONE,
    BESIDE
};

typedef struct twin {
    stepper_model m;
    tal_force_ix damper;
    int events; ///< that occurred
    double when[20];
} twin;

static twin pair[2];
static neighbor other;

enum {
    CRANK = 1,
    COUPLER,
    ROCKER,
    TOP,
    DRIVEN,
    SPUN,
    SWING,
    NUM_BODIES
};

static twin begin_twin(int which)
{
    tal_system *system = which == BESIDE ? neighbor_system(&other) : tal_system_create(NULL);
    return (twin){.m = begin_stepper_model_in(system, 9.81)};
}

static tal_body_ix body_of(int b)
{
    return (tal_body_ix){b};
}

static tal_body_ix add_link(twin *it, tal_body_ix parent, double x, double length)
{
    tal_mobod_def def = tal_mobod_def_default();
    const tal_xform middle = tal_xf_from_p(tal_v3(0.5 * length, 0.0, 0.0));
    const tal_mass_props rod = tal_mass_props_rod(1.0, middle.p);
    def.mass = tal_mass_props_transform(&middle, &rod);
    def.X_PF.p = tal_v3(x, 0.0, 0.0);
    return tal_matter_add_pin(it->m.matter, parent, &def);
}

static tal_status swing_height(void *context, const tal_system *system, tal_state *state,
                               double *value)
{
    const twin *it = context;
    (void)system;
    *value = tal_body_q(it->m.matter, state, body_of(SWING), 0) - 0.1;
    return TAL_OK;
}

static tal_status swing_rate(void *context, const tal_system *system, tal_state *state,
                             double *value)
{
    const twin *it = context;
    (void)system;
    *value = tal_body_u(it->m.matter, state, body_of(SWING), 0);
    return TAL_OK;
}

static tal_status note(void *context, const tal_system *system, tal_state *state,
                       tal_event_cause cause, bool *terminate)
{
    twin *it = context;
    (void)system, (void)cause, (void)terminate;
    ck_assert_int_lt(it->events, 20);
    it->when[it->events++] = tal_state_t(state);
    return TAL_OK;
}

static void add_witness(twin *it)
{
    tal_happening through = tal_happening_default();
    through.context = it;
    through.handle = note;
    through.witness = swing_height;
    through.stage = TAL_STAGE_POSITION;
    through.rate = swing_rate;
    through.rate_stage = TAL_STAGE_VELOCITY;
    (void)tal_events_add(it->m.events, &through);
}

// A four-bar closed by a ball, a top with a quaternion, pins: one driven in q, one held at a speed,
// one free with a damper whose losses are counted in z.
static void build(int which, const tal_integrator_def *def)
{
    twin *it = &pair[which];
    *it = begin_twin(which);
    stepper_model *m = &it->m;
    const tal_body_ix crank = add_link(it, TAL_GROUND, 0.0, 1.0);
    const tal_body_ix coupler = add_link(it, crank, 1.0, 2.0);
    const tal_body_ix rocker = add_link(it, TAL_GROUND, 2.0, 2.0);
    (void)add_top(m);
    const tal_body_ix driven = add_link(it, TAL_GROUND, 0.0, 0.5);
    const tal_body_ix spun = add_link(it, driven, 0.5, 0.5);
    const tal_body_ix swing = add_pendulum(m);
    ck_assert_int_eq(swing.i, SWING);
    (void)tal_body_limit_coordinate(m->matter, swing, 0, -4.0, 1.25);

    const tal_constraint_def tie = tal_constraint_between(coupler, rocker);
    (void)tal_constraint_add_ball(m->matter, &tie, tal_v3(2.0, 0.0, 0.0), tal_v3(2.0, 0.0, 0.0));
    const tal_constraint_def hold = tal_constraint_on(spun, 0);
    (void)tal_constraint_add_constant_speed(m->matter, &hold, 0.7);
    tal_motion_def drive = tal_motion_def_default();
    drive.body = driven;
    drive.level = TAL_LEVEL_POSITION;
    (void)tal_matter_add_motion_sinusoid(m->matter, &drive, 0.3, 2.0, 0.1);

    it->damper = tal_forces_add_mobility_damper(m->forces, "damper", (tal_mobility){swing, 0}, 0.4);
    (void)tal_force_track_dissipation(m->forces, it->damper);
    const tal_mobility turn = {crank, 0};
    const tal_measure_ix angle = tal_measure_add_coordinate(m->matter, "angle", turn);
    (void)tal_measure_add_integrate(m->system, tal_matter_subsystem(m->matter), "sum", angle, NULL);
    add_witness(it);
    finish_stepper_model(m, def, NULL);

    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_MODEL), TAL_OK);
    static const double q[][4] = {
        {0.0}, {1.0471975511965976}, {-0.1}, {1.5}, {0.8, 0.4, -0.4, 0.2}, {0.03}, {-0.4}, {0.9}};
    for (int b = 1; b < NUM_BODIES; ++b) {
        for (int i = 0; i < tal_body_nq(m->matter, m->state, body_of(b)); ++i) {
            (void)tal_body_set_q(m->matter, m->state, body_of(b), i, q[b][i]);
        }
    }
    for (int i = 0; i < 3; ++i) {
        (void)tal_body_set_u(m->matter, m->state, body_of(TOP), i, 1.0 + 0.5 * i);
    }
    (void)tal_body_set_u(m->matter, m->state, body_of(SPUN), 0, 0.7);
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_INSTANCE), TAL_OK);
}

static void begin(tal_integrator_def def)
{
    def.infinity_norm = true;
    build(ALONE, &def);
    build(BESIDE, &def);
    test_rng rng = test_rng_seed(5);
    for (tal_pool pool = TAL_POOL_U; pool <= TAL_POOL_UERR; ++pool) {
        neighbor_weigh(pair[ALONE].m.state, pair[BESIDE].m.state, pool, &rng);
    }
}

static void end(void)
{
    end_stepper_model(&pair[ALONE].m);
    end_stepper_model(&pair[BESIDE].m);
}

static void assert_same_states(const char *what)
{
    neighbor_assert_same(pair[ALONE].m.state, pair[BESIDE].m.state, what);
}

// Meets the constraints of both, in q and in u.
static void assemble_both(void)
{
    for (int k = 0; k < 2; ++k) {
        stepper_model *m = &pair[k].m;
        tal_error err = {0};
        tal_assembler *assembler = NULL;
        ck_assert_msg(tal_assembler_create(m->system, NULL, &assembler, &err) == TAL_OK, "%s",
                      err.message);
        ck_assert_msg(tal_assembler_assemble(assembler, m->state, NULL) == TAL_OK, "%s",
                      tal_assembler_error(assembler)->message);
        ck_assert_msg(tal_assembler_assemble_u(assembler, NULL, NULL, m->state, NULL) == TAL_OK,
                      "%s", tal_assembler_error(assembler)->message);
        tal_assembler_destroy(assembler);
    }
}

// --- integrators ---

static void assert_same_runs(const tal_integrator_def *def, double t_end)
{
    begin(*def);
    for (int k = 0; k < 2; ++k) {
        ck_assert_int_eq(run_stepper(&pair[k].m, t_end), TAL_OUTCOME_REACHED_TIME);
        ck_assert_int_eq(
            tal_system_realize(pair[k].m.system, pair[k].m.state, TAL_STAGE_ACCELERATION), TAL_OK);
    }
    assert_same_states("a run");
    ck_assert_int_gt(pair[ALONE].events, 0);
    ck_assert_int_eq(pair[ALONE].events, pair[BESIDE].events);
    for (int i = 0; i < pair[ALONE].events; ++i) {
        ck_assert_double_eq(pair[ALONE].when[i], pair[BESIDE].when[i]);
    }
    const tal_integrator_stats one = tal_integrator_statistics(pair[ALONE].m.integ);
    const tal_integrator_stats two = tal_integrator_statistics(pair[BESIDE].m.integ);
    ck_assert_uint_eq(one.steps_attempted, two.steps_attempted);
    if (one.jacobians == 0) ck_assert_uint_eq(one.realizations, two.realizations); // columns cost
    ck_assert_double_eq(
        tal_force_dissipated_energy(pair[ALONE].m.forces, pair[ALONE].m.state, pair[ALONE].damper),
        tal_force_dissipated_energy(pair[BESIDE].m.forces, pair[BESIDE].m.state,
                                    pair[BESIDE].damper));
    end();
}

START_TEST(one_step_methods_take_the_same_steps)
{
    for (int i = 0; i < NUM_ONE_STEP_METHODS; ++i) {
        const tal_integrator_def def = one_step_method(i, i < 2 || i == 5 ? 1e-2 : 1e-4);
        assert_same_runs(&def, 1.0);
    }
}

END_TEST

START_TEST(projecting_every_step_takes_the_same_steps)
{
    tal_integrator_def def = dormand_prince(1e-5);
    def.project_every_step = true;
    assert_same_runs(&def, 1.0);
}

END_TEST

START_TEST(baumgarte_stabilization_takes_the_same_steps)
{
    tal_integrator_def def = dormand_prince(1e-5);
    def.baumgarte = 10.0;
    assert_same_runs(&def, 1.0);
}

END_TEST

START_TEST(solvers_of_sundials_take_the_same_steps)
{
    static const tal_method methods[] = {TAL_METHOD_CVODE_BDF, TAL_METHOD_IDA,
                                         TAL_METHOD_ARKODE_EXPLICIT, TAL_METHOD_ARKODE_DIRK};
    for (int i = 0; i < 4; ++i) {
        tal_integrator_def def = tal_integrator_def_default();
        def.method = methods[i];
        def.accuracy = 1e-6;
        assert_same_runs(&def, 1.0);
    }
}

END_TEST

// --- one step's equations ---

// The norms of the first step: of errors given slot by slot, those of the neighbor being zero.
START_TEST(equations_weigh_errors_where_they_are)
{
    begin(dormand_prince(1e-5));
    double norm[2], of_errors[2];
    double weighed[2][60], T[2][40];
    for (int k = 0; k < 2; ++k) {
        stepper_model *m = &pair[k].m;
        tal_integrator_def def = dormand_prince(1e-5);
        def.infinity_norm = true;
        tal_error err = {0};
        tal_equations *eq = NULL;
        ck_assert_msg(tal_equations_create(m->system, &def, &eq, &err) == TAL_OK, "%s",
                      err.message);
        ck_assert_int_eq(tal_equations_begin(eq, m->state), TAL_OK);
        const int nq = tal_state_nq(m->state), nu = tal_state_nu(m->state);
        const int ny = tal_state_ny(m->state);
        double e[60] = {0.0}, y[60];
        ck_assert_int_le(ny, 60);
        memcpy(y, tal_state_y(m->state), (size_t)ny * sizeof *y);
        const int skip[] = {k == BESIDE ? NEIGHBOR_Q : 0, k == BESIDE ? NEIGHBOR_U : 0,
                            k == BESIDE ? NEIGHBOR_Z : 0};
        test_rng rng = test_rng_seed(6);
        for (int i = skip[0]; i < nq; ++i) {
            e[i] = test_random_uniform(&rng, -1.0, 1.0);
        }
        for (int i = nq + skip[1]; i < nq + nu; ++i) {
            e[i] = test_random_uniform(&rng, -0.1, 0.1);
        }
        for (int i = nq + nu + skip[2]; i < ny; ++i) {
            e[i] = test_random_uniform(&rng, -0.1, 0.1);
        }
        norm[k] = tal_equations_error_norm(eq, m->state, y, e);
        ck_assert_int_eq(tal_equations_weigh(eq, m->state, y, e, weighed[k]), TAL_OK);
        const int nc = tal_equations_nc(eq, m->state);
        ck_assert_int_le(nc, 40);
        ck_assert_int_eq(tal_equations_constraint_weights(eq, m->state, T[k]), TAL_OK);
        double c[40];
        ck_assert_int_eq(tal_equations_errors(eq, m->state, 0.0, y, c), TAL_OK);
        of_errors[k] = tal_equations_constraint_norm(eq, m->state, c);
        tal_equations_destroy(eq);
    }
    ck_assert_double_gt(norm[ALONE], 0.1);
    ck_assert_double_eq(norm[ALONE], norm[BESIDE]);
    ck_assert_double_eq(of_errors[ALONE], of_errors[BESIDE]);
    const tal_state *alone = pair[ALONE].m.state;
    const int nq = tal_state_nq(alone), nu = tal_state_nu(alone), nz = tal_state_nz(alone);
    const int mq = tal_state_pool_size(alone, TAL_POOL_QERR);
    const int mu = tal_state_pool_size(alone, TAL_POOL_UERR);
    const double *one = weighed[ALONE], *two = weighed[BESIDE];
    neighbor_same(one, two, nq, NEIGHBOR_Q, 0.0, "weighed q");
    one += nq, two += nq + NEIGHBOR_Q;
    neighbor_same(one, two, nu, NEIGHBOR_U, 0.0, "weighed u");
    one += nu, two += nu + NEIGHBOR_U;
    neighbor_same(one, two, nz, NEIGHBOR_Z, 0.0, "weighed z");
    neighbor_same(T[ALONE], T[BESIDE], mq, NEIGHBOR_QERR, neighbor_value, "weights of qerr");
    neighbor_same(T[ALONE] + mq, T[BESIDE] + mq + NEIGHBOR_QERR, mu, NEIGHBOR_UERR, neighbor_value,
                  "weights of uerr");
    end();
}

END_TEST

// --- assembler ---

// Goals, ranges, soft constraints, speeds; and a failure, which gives q back.
START_TEST(an_assembler_moves_matter_alone)
{
    begin(dormand_prince(1e-5));
    for (int k = 0; k < 2; ++k) {
        stepper_model *m = &pair[k].m;
        const tal_marker marker = {"tip", body_of(TOP), {0.0, 1.0, 0.0}, 1.0};
        const tal_coordinate_goal lean = {body_of(SWING), 0, 2.0, 1.0};
        tal_assembler_def def = tal_assembler_def_default();
        def.markers = &marker, def.num_markers = 1;
        def.coordinates = &lean, def.num_coordinates = 1;
        def.stay_close = 0.01;
        tal_assembler *assembler = NULL;
        tal_error err = {0};
        ck_assert_msg(tal_assembler_create(m->system, &def, &assembler, &err) == TAL_OK, "%s",
                      err.message);
        const tal_vec3 seen = tal_v3(0.6, 0.0, 0.8), velocity = tal_v3(0.1, -0.2, 0.3);
        ck_assert_int_eq(tal_assembler_observe(assembler, &seen, NULL), TAL_OK);
        tal_assembly found;
        ck_assert_msg(tal_assembler_assemble(assembler, m->state, &found) == TAL_OK, "%s",
                      tal_assembler_error(assembler)->message);
        ck_assert(found.assembled);
        ck_assert_double_gt(found.error_before, 1e-3);
        ck_assert_double_eq(tal_body_q(m->matter, m->state, body_of(SWING), 0), 1.25);
        ck_assert_msg(tal_assembler_assemble_u(assembler, &velocity, NULL, m->state, &found) ==
                          TAL_OK,
                      "%s", tal_assembler_error(assembler)->message);
        ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_VELOCITY), TAL_OK);
        tal_assembler_destroy(assembler);
    }
    assert_same_states("assembled");
    end();
}

END_TEST

// A quaternion whose w is negative stays on its side, though placing the body by its markers finds
// the other.
START_TEST(fitting_markers_keeps_to_the_side_of_a_quaternion)
{
    begin(dormand_prince(1e-5));
    for (int k = 0; k < 2; ++k) {
        stepper_model *m = &pair[k].m;
        tal_marker markers[3];
        tal_vec3 seen[3];
        const tal_mat3 R = tal_rotation_from_angle_axis(0.3, tal_v3(0.6, 0.0, 0.8));
        ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_POSITION), TAL_OK);
        for (int i = 0; i < 3; ++i) {
            const tal_vec3 p_BS = tal_v3(i == 0, i == 1, i == 2);
            markers[i] = (tal_marker){NULL, body_of(TOP), p_BS, 1.0};
            seen[i] = tal_m3_mul_v3(R, tal_station_p_GS(m->matter, m->state, body_of(TOP), p_BS));
        }
        double q[4];
        for (int i = 0; i < 4; ++i) {
            q[i] = -tal_body_q(m->matter, m->state, body_of(TOP), i);
            (void)tal_body_set_q(m->matter, m->state, body_of(TOP), i, q[i]);
        }
        ck_assert_double_lt(q[0], -0.5);
        tal_assembler_def def = tal_assembler_def_default();
        def.markers = markers, def.num_markers = 3;
        tal_assembler *assembler = NULL;
        ck_assert_int_eq(tal_assembler_create(m->system, &def, &assembler, NULL), TAL_OK);
        ck_assert_int_eq(tal_assembler_observe(assembler, seen, NULL), TAL_OK);
        ck_assert_msg(tal_assembler_fit(assembler, m->state, NULL) == TAL_OK, "%s",
                      tal_assembler_error(assembler)->message);
        ck_assert_double_lt(tal_body_q(m->matter, m->state, body_of(TOP), 0), -0.5);
        ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_VELOCITY), TAL_OK);
        tal_assembler_destroy(assembler);
    }
    assert_same_states("fitted");
    end();
}

END_TEST

static tal_status refuse_goal(const void *self, const tal_system *system, tal_state *state,
                              double r[], const tal_matrix *J)
{
    (void)self, (void)system, (void)J;
    if (tal_state_t(state) == 0.0) return TAL_ERR_CALLBACK;
    r[0] = 0.0;
    return TAL_OK;
}

START_TEST(an_assembler_that_fails_gives_q_back)
{
    begin(dormand_prince(1e-5));
    for (int k = 0; k < 2; ++k) {
        stepper_model *m = &pair[k].m;
        const tal_goal goal = {"refused", 1, 1.0, NULL, refuse_goal};
        tal_assembler_def def = tal_assembler_def_default();
        def.goals = &goal, def.num_goals = 1;
        tal_assembler *assembler = NULL;
        ck_assert_int_eq(tal_assembler_create(m->system, &def, &assembler, NULL), TAL_OK);
        double before[60];
        const int nq = tal_state_nq(m->state);
        memcpy(before, tal_state_q(m->state), (size_t)nq * sizeof *before);
        ck_assert_int_eq(tal_assembler_assemble(assembler, m->state, NULL), TAL_ERR_CALLBACK);
        test_assert_near(before, tal_state_q(m->state), nq, 0.0, "q");
        tal_assembler_destroy(assembler);
    }
    end();
}

END_TEST

// --- linearizer and equilibrium ---

// Rows and columns of the neighbor's z stand between matter's and the others' z.
START_TEST(a_linearizer_finds_the_same_matrix)
{
    begin(dormand_prince(1e-5));
    assemble_both();
    assert_same_states("assembled");
    tal_linearizer *lin[2] = {NULL, NULL};
    for (int k = 0; k < 2; ++k) {
        stepper_model *m = &pair[k].m;
        ck_assert_int_eq(tal_linearizer_create(m->system, NULL, &lin[k], NULL), TAL_OK);
        ck_assert_msg(tal_linearizer_run(lin[k], m->state) == TAL_OK, "%s",
                      tal_linearizer_error(lin[k])->message);
    }
    const tal_linear_sizes sizes = tal_linearizer_sizes(lin[ALONE]);
    ck_assert_int_eq(tal_linearizer_sizes(lin[BESIDE]).nz, sizes.nz + NEIGHBOR_Z);
    const int moves = sizes.ns + sizes.nv, nx = moves + sizes.nz;
    const tal_matrix one = tal_linearizer_A(lin[ALONE]), two = tal_linearizer_A(lin[BESIDE]);
    for (int j = 0; j < nx; ++j) {
        const double *a = one.data + j * one.ld;
        const double *b = two.data + (j < moves ? j : j + NEIGHBOR_Z) * two.ld;
        neighbor_same(a, b, moves, 0, 0.0, "A");
        neighbor_same(a + moves, b + moves, sizes.nz, NEIGHBOR_Z, 0.0, "A, rates of z");
    }
    const double *rates = tal_linearizer_rates(lin[ALONE]);
    neighbor_same(rates, tal_linearizer_rates(lin[BESIDE]), moves, 0, 0.0, "rates");
    tal_linearizer_destroy(lin[ALONE]);
    tal_linearizer_destroy(lin[BESIDE]);
    end();
}

END_TEST

// What hangs comes to rest; the body of the largest udot that is left has its name.
START_TEST(an_equilibrium_is_found_at_the_same_place)
{
    for (int k = 0; k < 2; ++k) {
        twin *it = &pair[k];
        *it = begin_twin(k);
        const tal_body_ix crank = add_link(it, TAL_GROUND, 0.0, 1.0);
        const tal_body_ix coupler = add_link(it, crank, 1.0, 2.0);
        const tal_body_ix rocker = add_link(it, TAL_GROUND, 2.0, 2.0);
        const tal_constraint_def tie = tal_constraint_between(coupler, rocker);
        (void)tal_constraint_add_ball(it->m.matter, &tie, tal_v3(2.0, 0.0, 0.0),
                                      tal_v3(2.0, 0.0, 0.0));
        (void)add_pendulum(&it->m);
        finish_stepper_model(&it->m, NULL, NULL);
        ck_assert_int_eq(tal_system_realize(it->m.system, it->m.state, TAL_STAGE_MODEL), TAL_OK);
        const double q[] = {-1.0, 0.6, -2.0, 0.9};
        for (int b = 1; b <= 4; ++b) {
            (void)tal_body_set_q(it->m.matter, it->m.state, body_of(b), 0, q[b - 1]);
        }
        ck_assert_int_eq(tal_system_realize(it->m.system, it->m.state, TAL_STAGE_INSTANCE), TAL_OK);
    }
    test_rng rng = test_rng_seed(8);
    neighbor_weigh(pair[ALONE].m.state, pair[BESIDE].m.state, TAL_POOL_U, &rng);
    assemble_both();
    tal_rest rest[2];
    double tau[2][4];
    for (int k = 0; k < 2; ++k) {
        stepper_model *m = &pair[k].m;
        tal_equilibrium *eq = NULL;
        ck_assert_int_eq(tal_equilibrium_create(m->system, NULL, &eq, NULL), TAL_OK);
        const bool actuated[] = {true, true, true, true};
        tal_actuation actuation;
        ck_assert_msg(tal_equilibrium_inverse_statics(eq, m->state, actuated, tau[k], &actuation) ==
                          TAL_OK,
                      "%s", tal_equilibrium_error(eq)->message);
        ck_assert_msg(tal_equilibrium_find(eq, m->state, &rest[k]) == TAL_OK, "%s",
                      tal_equilibrium_error(eq)->message);
        tal_equilibrium_destroy(eq);
    }
    // at rest is the whole System: the neighbor's u is 0, too
    const tal_state *alone = pair[ALONE].m.state, *beside = pair[BESIDE].m.state;
    neighbor_same(tal_state_q(alone), tal_state_q(beside), 4, NEIGHBOR_Q, neighbor_value, "q");
    neighbor_same(tal_state_u(alone), tal_state_u(beside), 4, NEIGHBOR_U, 0.0, "u");
    neighbor_same(tau[ALONE], tau[BESIDE], 4, 0, 0.0, "tau");
    ck_assert_int_eq(rest[ALONE].iterations, rest[BESIDE].iterations);
    ck_assert_double_eq(rest[ALONE].udot, rest[BESIDE].udot);
    ck_assert_int_eq(rest[ALONE].worst.i, rest[BESIDE].worst.i);
    ck_assert(rest[ALONE].is_stable && rest[BESIDE].is_stable);
    end();
}

END_TEST

// Where constraints are off, studies say so of matter's own, not of a neighbor's that are met.
START_TEST(unmet_constraints_are_refused_beside_others_that_are_met)
{
    begin(dormand_prince(1e-5));
    assemble_both();
    for (int level = 0; level < 2; ++level) {
        for (int k = 0; k < 2; ++k) {
            stepper_model *m = &pair[k].m;
            if (level == 0) (void)tal_body_set_u(m->matter, m->state, body_of(SPUN), 0, 0.9);
            if (level == 1) (void)tal_body_set_q(m->matter, m->state, body_of(ROCKER), 0, 1.0);
            tal_linearizer *lin = NULL;
            ck_assert_int_eq(tal_linearizer_create(m->system, NULL, &lin, NULL), TAL_OK);
            ck_assert_int_eq(tal_linearizer_run(lin, m->state), TAL_ERR_BAD_VALUE);
            tal_linearizer_destroy(lin);
        }
    }
    end();
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/neighbor");
    TCase *tc = tcase_create("integrators");
    tcase_set_timeout(tc, 60.0);
    tcase_add_test(tc, one_step_methods_take_the_same_steps);
    tcase_add_test(tc, projecting_every_step_takes_the_same_steps);
    tcase_add_test(tc, baumgarte_stabilization_takes_the_same_steps);
    tcase_add_test(tc, solvers_of_sundials_take_the_same_steps);
    tcase_add_test(tc, equations_weigh_errors_where_they_are);
    suite_add_tcase(suite, tc);

    tc = tcase_create("other studies");
    tcase_add_test(tc, an_assembler_moves_matter_alone);
    tcase_add_test(tc, fitting_markers_keeps_to_the_side_of_a_quaternion);
    tcase_add_test(tc, an_assembler_that_fails_gives_q_back);
    tcase_add_test(tc, a_linearizer_finds_the_same_matrix);
    tcase_add_test(tc, an_equilibrium_is_found_at_the_same_place);
    tcase_add_test(tc, unmet_constraints_are_refused_beside_others_that_are_met);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
