// Matter that is not the first subsystem: none of its q, u, errors and multipliers is number 0 of
// its pool.
//
// One model is built twice, alone and beside a subsystem that comes before matter (neighbor.h).
// What matter computes must be the same to the last bit, and nothing of the other's may change.
#include "loop_support.h"
#include "neighbor.h"

enum {
    ALONE,
    BESIDE,
    MAX_NUMBERS = 4000
};

typedef struct pair {
    loop l[2];
    neighbor other;
    test_rng rng;
    tal_constraint_ix gear;
    tal_measure_ix angle, speed, tension;
    int num_bodies;
} pair;

static pair p;

static tal_system *system_of(int which, neighbor *other)
{
    return which == BESIDE ? neighbor_system(other) : tal_system_create(NULL);
}

// --- the model: everything that is found by its place in the State ---

enum {
    BALL = 1,
    GIMBAL,
    PIN,
    SLIDER,
    REVERSED,
    FREE,
    POINT,
    SWUNG,  ///< a pin, q given as a function of t
    TURNED, ///< a pin, u given
    PUSHED, ///< a pin, udot given
    STEERED ///< a ball, u given as a function of q
};

// u as a function of q; for udot any function of q and u will do.
static tal_status steer(const void *self, const tal_motion_arg *arg, int order, double out[])
{
    (void)self;
    for (int i = 0; i < arg->n; ++i) {
        out[i] = order == 0 ? 0.3 * arg->q[i] : 0.7 * arg->u[i] - 0.2 * arg->q[(i + 1) % 3];
    }
    return TAL_OK;
}

static const tal_motion_ops steer_ops = {.size = sizeof steer_ops, .name = "steer", .calc = steer};

static tal_motion_def motion_of(int body, tal_level level)
{
    tal_motion_def def = tal_motion_def_default();
    def.body = (tal_body_ix){body};
    def.level = level;
    return def;
}

static void add_motions(loop *l)
{
    tal_motion_def def = motion_of(SWUNG, TAL_LEVEL_POSITION);
    (void)tal_matter_add_motion_sinusoid(l->matter, &def, 0.4, 3.0, 0.2);
    def = motion_of(TURNED, TAL_LEVEL_VELOCITY);
    const double rate = 0.8;
    (void)tal_matter_add_motion_steady(l->matter, &def, &rate, 1);
    def = motion_of(PUSHED, TAL_LEVEL_ACCELERATION);
    (void)tal_matter_add_motion_sinusoid(l->matter, &def, 0.3, 2.0, 0.5);
    def = motion_of(STEERED, TAL_LEVEL_VELOCITY);
    (void)tal_matter_add_motion(l->matter, &def, &steer_ops, NULL, NULL);
}

static tal_body_ix add_body(loop *l, int kind, tal_body_ix parent, test_rng *rng)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = test_random_mass_props(rng);
    def.X_PF = test_random_xform(rng);
    def.X_BM = test_random_xform(rng);
    def.direction = kind == REVERSED ? TAL_REVERSE : TAL_FORWARD;
    return kind == BALL || kind == STEERED ? tal_matter_add_ball(l->matter, parent, &def)
           : kind == GIMBAL                ? tal_matter_add_gimbal(l->matter, parent, &def)
           : kind == SLIDER                ? tal_matter_add_slider(l->matter, parent, &def)
           : kind == FREE                  ? tal_matter_add_free(l->matter, parent, &def)
           : kind == POINT                 ? tal_matter_add_translation(l->matter, parent, &def)
                                           : tal_matter_add_pin(l->matter, parent, &def);
}

// Draws the same numbers whichever of the two it builds.
static void build(pair *all, int which)
{
    loop *l = &all->l[which];
    test_rng *rng = &all->rng;
    *rng = test_rng_seed(20);
    loop_begin_in(l, system_of(which, &all->other));
    static const int parents[] = {0, 0, BALL, GIMBAL, PIN, SLIDER, GIMBAL, 0, 0, SWUNG, TURNED, 0};
    tal_body_ix body[STEERED + 1] = {{0}};
    for (int b = 1; b <= STEERED; ++b) {
        body[b] = add_body(l, b, body[parents[b]], rng);
    }
    (void)add_ball(l, body[REVERSED], test_random_vec3(rng), body[FREE], test_random_vec3(rng));
    (void)add_rod(l, TAL_GROUND, test_random_vec3(rng), body[SLIDER], test_random_vec3(rng), 1.5);
    all->gear = add_gear(l, body[PIN], 0, body[REVERSED], 0, 0.7);
    (void)add_rod(l, TAL_GROUND, tal_v3(2.0, 0.0, 0.0), body[POINT], test_random_vec3(rng), 1.8);
    const tal_constraint_def still = tal_constraint_on(body[GIMBAL], 1);
    (void)tal_constraint_add_constant_coordinate(l->matter, &still, -0.2);
    tal_constraint_def drive = tal_constraint_def_default();
    drive.mobilities[0].body = body[SLIDER];
    const double acceleration = 0.4;
    (void)tal_matter_add_constraint(l->matter, &drive, &test_acceleration, NULL, &acceleration);
    add_motions(l);
    const tal_mobility at = {body[PUSHED], 0};
    all->angle = tal_measure_add_coordinate(l->matter, "angle", at);
    all->speed = tal_measure_add_speed(l->matter, "speed", at);
    all->tension = tal_measure_add_multiplier(l->matter, "tension", all->gear, 0);
    loop_finish(l);
    l->push[3] = 0.6;
    loop_realize(l, TAL_STAGE_MODEL);
}

// --- numbers of one of the two, to be compared ---

typedef struct numbers {
    int n;
    double x[MAX_NUMBERS];
} numbers;

static numbers found[2];

// The same random q and u in both, quaternions not of unit length.
static void shake(pair *all, uint64_t seed)
{
    for (int k = 0; k < 2; ++k) {
        test_rng rng = test_rng_seed(seed);
        loop *l = &all->l[k];
        for (int b = 1; b < all->num_bodies; ++b) {
            const tal_body_ix body = {b};
            for (int i = 0; i < tal_body_nq(l->matter, l->state, body); ++i) {
                (void)tal_body_set_q(l->matter, l->state, body, i,
                                     test_random_uniform(&rng, -1.0, 1.0));
            }
            for (int i = 0; i < tal_body_nu(l->matter, body); ++i) {
                (void)tal_body_set_u(l->matter, l->state, body, i,
                                     test_random_uniform(&rng, -1.0, 1.0));
            }
        }
        ck_assert_int_eq(tal_state_set_t(l->state, 0.37), TAL_OK);
        ck_assert_int_eq(tal_body_set_rotor_inertia(l->matter, l->state, (tal_body_ix){PIN}, 2.0),
                         TAL_OK);
    }
}

static void begin(void)
{
    found[ALONE].n = found[BESIDE].n = 0;
    build(&p, ALONE);
    build(&p, BESIDE);
    p.num_bodies = tal_matter_num_bodies(p.l[ALONE].matter);
    ck_assert_int_eq(p.num_bodies, STEERED + 1);
    shake(&p, 21);
    loop_realize(&p.l[ALONE], TAL_STAGE_INSTANCE);
    loop_realize(&p.l[BESIDE], TAL_STAGE_INSTANCE);
    for (tal_pool pool = TAL_POOL_U; pool <= TAL_POOL_UERR; ++pool) {
        neighbor_weigh(p.l[ALONE].state, p.l[BESIDE].state, pool, &p.rng);
    }
}

static void end(void)
{
    loop_end(&p.l[ALONE]);
    loop_end(&p.l[BESIDE]);
}

static void assert_same_states(const char *what)
{
    neighbor_assert_same(p.l[ALONE].state, p.l[BESIDE].state, what);
}

static void see(numbers *to, const void *values, size_t count)
{
    ck_assert_uint_le((size_t)to->n + count, MAX_NUMBERS);
    memcpy(to->x + to->n, values, count * sizeof(double));
    to->n += (int)count;
}

static void see_one(numbers *to, double value)
{
    see(to, &value, 1);
}

static void assert_same_numbers(const char *what)
{
    ck_assert_int_eq(found[ALONE].n, found[BESIDE].n);
    neighbor_same(found[ALONE].x, found[BESIDE].x, found[ALONE].n, 0, 0.0, what);
    for (int i = 0; i < found[ALONE].n; ++i) {
        ck_assert_msg(isfinite(found[ALONE].x[i]), "%s[%d] is %g", what, i, found[ALONE].x[i]);
    }
    found[ALONE].n = found[BESIDE].n = 0;
}

// Known motion first, then everything up to Acceleration.
static void solve(void)
{
    for (int k = 0; k < 2; ++k) {
        loop *l = &p.l[k];
        loop_realize(l, TAL_STAGE_TIME);
        ck_assert_int_eq(tal_system_prescribe_q(l->system, l->state, NULL), TAL_OK);
        loop_realize(l, TAL_STAGE_POSITION);
        ck_assert_int_eq(tal_system_prescribe_u(l->system, l->state, NULL), TAL_OK);
        loop_realize(l, TAL_STAGE_ACCELERATION);
    }
}

// --- tests ---

START_TEST(coordinates_are_read_and_written_where_they_are)
{
    begin();
    assert_same_states("set");
    char name[2][TAL_COORDINATE_NAME_SIZE];
    for (int b = 1; b < p.num_bodies; ++b) {
        const tal_body_ix body = {b};
        for (int k = 0; k < 2; ++k) {
            const loop *l = &p.l[k];
            const int skip_q = k == BESIDE ? NEIGHBOR_Q : 0, skip_u = k == BESIDE ? NEIGHBOR_U : 0;
            const int nq = tal_body_nq(l->matter, l->state, body);
            for (int i = 0; i < nq; ++i) {
                int local = -1;
                const int slot = tal_body_q_start(l->matter, l->state, body) + i;
                ck_assert_double_eq(tal_body_q(l->matter, l->state, body, i),
                                    tal_state_q(l->state)[slot]);
                ck_assert_int_eq(tal_matter_q_owner(l->matter, l->state, slot, &local).i, b);
                ck_assert_int_eq(local, i);
                see_one(&found[k], slot - skip_q);
            }
            for (int i = 0; i < tal_body_nu(l->matter, body); ++i) {
                int local = -1;
                const int slot = skip_u + tal_body_u_start(l->matter, body) + i;
                ck_assert_double_eq(tal_body_u(l->matter, l->state, body, i),
                                    tal_state_u(l->state)[slot]);
                ck_assert_int_eq(tal_matter_u_owner(l->matter, l->state, slot, &local).i, b);
                ck_assert_int_eq(local, i);
            }
            ck_assert_int_eq(tal_body_coordinate_name(l->matter, l->state, body, nq - 1, name[k]),
                             TAL_OK);
        }
        ck_assert_str_eq(name[ALONE], name[BESIDE]);
    }
    for (int slot = 0; slot < NEIGHBOR_U; ++slot) {
        const loop *l = &p.l[BESIDE];
        ck_assert_int_lt(tal_matter_q_owner(l->matter, l->state, slot, NULL).i, 0);
        ck_assert_int_lt(tal_matter_u_owner(l->matter, l->state, slot, NULL).i, 0);
    }
    assert_same_numbers("slots");
    end();
}

END_TEST

// Poses and velocities that are asked for; then normalized, in angles, and in quaternions again.
START_TEST(coordinates_are_fitted_and_converted_where_they_are)
{
    begin();
    const tal_spatial_vec V = test_random_spatial_vec(&p.rng);
    const tal_xform X = test_random_xform(&p.rng);
    for (int step = 0; step < 5; ++step) {
        for (int k = 0; k < 2; ++k) {
            const loop *l = &p.l[k];
            for (int b = 1; b < p.num_bodies && step == 0; ++b) {
                const tal_body_ix body = {b};
                ck_assert_int_eq(tal_body_fit_q(l->matter, l->state, body, &X), TAL_OK);
                ck_assert_int_eq(tal_body_fit_u(l->matter, l->state, body, V), TAL_OK);
            }
            if (step == 1) (void)tal_body_set_q(l->matter, l->state, (tal_body_ix){FREE}, 1, 3.0);
            if (step == 2) (void)tal_matter_normalize_quaternions(l->matter, l->state);
            if (step == 3) (void)tal_matter_set_use_angles(l->matter, l->state, true);
            if (step == 4) (void)tal_matter_set_use_angles(l->matter, l->state, false);
            loop_realize(l, TAL_STAGE_MODEL);
        }
        assert_same_states("fitted");
    }
    end();
}

END_TEST

// A slider whose fits add what they are asked for to what they start from.
static tal_status fit_q_onward(const void *self, const tal_mobilizer_arg *arg,
                               const tal_xform *X_FM, double q[])
{
    (void)self;
    q[0] = arg->q[0] + X_FM->p.x;
    return TAL_OK;
}

static tal_status fit_u_onward(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec V_FM,
                               double u[])
{
    (void)self;
    u[0] = 10.0 * arg->u[0] + arg->q[0] + V_FM.v.x;
    return TAL_OK;
}

START_TEST(fits_of_a_users_mobilizer_start_from_its_own_coordinates_and_speeds)
{
    neighbor other;
    tal_system *system = neighbor_system(&other);
    tal_matter *matter = tal_matter_create(system);
    tal_mobilizer_ops ops = *tal_mobilizer_slider();
    ops.fit_q = fit_q_onward;
    ops.fit_u = fit_u_onward;
    const tal_mobod_def def = tal_mobod_def_default();
    const tal_body_ix first = tal_matter_add_slider(matter, TAL_GROUND, &def);
    const tal_body_ix body = tal_matter_add_mobilizer(matter, first, &def, &ops, NULL, NULL);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    (void)tal_body_set_q(matter, state, first, 0, 7.0);
    (void)tal_body_set_u(matter, state, first, 0, 9.0);
    (void)tal_body_set_q(matter, state, body, 0, 2.0);
    (void)tal_body_set_u(matter, state, body, 0, 0.5);
    const tal_xform X_FM = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
    ck_assert_int_eq(tal_body_fit_q(matter, state, body, &X_FM), TAL_OK);
    ck_assert_double_eq(tal_body_q(matter, state, body, 0), 3.0);
    const tal_spatial_vec V_FM = tal_sv(TAL_VEC3_ZERO, tal_v3(0.25, 0.0, 0.0));
    ck_assert_int_eq(tal_body_fit_u(matter, state, body, V_FM), TAL_OK);
    ck_assert_double_eq(tal_body_u(matter, state, body, 0), 5.0 + 3.0 + 0.25);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

START_TEST(motion_is_computed_where_it_is)
{
    begin();
    for (int angles = 0; angles < 2; ++angles) {
        shake(&p, 22);
        solve();
        assert_same_states("solved");
        for (int k = 0; k < 2; ++k) {
            loop *l = &p.l[k];
            numbers *to = &found[k];
            for (int b = 1; b < p.num_bodies; ++b) {
                const tal_body_ix body = {b};
                const tal_xform X[] = {tal_body_X_GB(l->matter, l->state, body),
                                       tal_body_X_FM(l->matter, l->state, body)};
                const tal_spatial_vec V[] = {tal_body_V_GB(l->matter, l->state, body),
                                             tal_body_A_GB(l->matter, l->state, body),
                                             tal_body_V_FM(l->matter, l->state, body),
                                             tal_body_A_FM(l->matter, l->state, body),
                                             tal_body_reaction_M(l->matter, l->state, body)};
                tal_spatial_vec H[12];
                const int nu = tal_body_nu(l->matter, body);
                ck_assert_int_eq(tal_body_H(l->matter, l->state, body, TAL_H_FM, H), TAL_OK);
                ck_assert_int_eq(tal_body_Hdot(l->matter, l->state, body, TAL_H_FM, H + nu),
                                 TAL_OK);
                see(to, X, sizeof X / (sizeof(double)));
                see(to, V, sizeof V / (sizeof(double)));
                see(to, H, (size_t)(2 * nu) * 6);
            }
            see_one(to, tal_matter_kinetic_energy(l->matter, l->state));
            const tal_measure_ix of[] = {p.angle, p.speed, p.tension};
            for (int i = 0; i < 3; ++i) {
                see_one(to, tal_measure_value(l->system, l->state, of[i]));
                if (i < 2) see_one(to, tal_measure_derivative(l->system, l->state, of[i], 1));
            }
        }
        assert_same_numbers("motion");
        for (int k = 0; k < 2; ++k) {
            (void)tal_matter_set_use_angles(p.l[k].matter, p.l[k].state, true);
            loop_realize(&p.l[k], TAL_STAGE_MODEL);
        }
    }
    end();
}

END_TEST

START_TEST(known_motion_is_kept_where_it_is)
{
    begin();
    solve();
    static const tal_level levels[] = {TAL_LEVEL_ACCELERATION, TAL_LEVEL_VELOCITY,
                                       TAL_LEVEL_POSITION};
    for (int step = 0; step < 3; ++step) {
        for (int k = 0; k < 2; ++k) {
            loop *l = &p.l[k];
            for (int i = 0; i < 3; ++i) {
                see_one(&found[k], tal_matter_motion_error(l->matter, l->state, levels[i]));
            }
            see(&found[k], tal_matter_motion_multipliers(l->matter, l->state),
                (size_t)tal_matter_nu(l->matter));
            for (int b = 1; b < p.num_bodies; ++b) {
                see_one(&found[k], tal_body_motion_power(l->matter, l->state, (tal_body_ix){b}));
            }
            see_one(&found[k], tal_matter_motion_power(l->matter, l->state));
            // before the next step, locks at what the State has: of whole bodies, of one mobility
            if (step == 0) {
                ck_assert_int_eq(
                    tal_body_lock(l->matter, l->state, (tal_body_ix){BALL}, TAL_LEVEL_POSITION),
                    TAL_OK);
                ck_assert_int_eq(tal_mobility_lock(l->matter, l->state,
                                                   (tal_mobility){(tal_body_ix){GIMBAL}, 2},
                                                   TAL_LEVEL_VELOCITY),
                                 TAL_OK);
                ck_assert_int_eq(tal_mobility_lock(l->matter, l->state,
                                                   (tal_mobility){(tal_body_ix){POINT}, 1},
                                                   TAL_LEVEL_POSITION),
                                 TAL_OK);
            }
        }
        assert_same_numbers("known motion");
        if (step < 2) shake(&p, 23 + (uint64_t)step);
        if (step < 2) solve();
        assert_same_states("locked");
    }
    // q and u off what is known: the errors are those of matter's own
    for (int k = 0; k < 2; ++k) {
        loop *l = &p.l[k];
        (void)tal_body_set_q(l->matter, l->state, (tal_body_ix){SWUNG}, 0, 1.5);
        (void)tal_body_set_u(l->matter, l->state, (tal_body_ix){TURNED}, 0, 2.5);
        loop_realize(l, TAL_STAGE_ACCELERATION);
        for (int i = 0; i < 3; ++i) {
            see_one(&found[k], tal_matter_motion_error(l->matter, l->state, levels[i]));
        }
    }
    assert_same_numbers("motion errors");
    end();
}

END_TEST

START_TEST(locks_at_given_values_keep_to_their_places)
{
    begin();
    const double q[] = {0.5, -0.5, 0.5, 0.5};
    for (int k = 0; k < 2; ++k) {
        loop *l = &p.l[k];
        ck_assert_int_eq(
            tal_body_lock_at(l->matter, l->state, (tal_body_ix){BALL}, TAL_LEVEL_POSITION, q, 4),
            TAL_OK);
        ck_assert_int_eq(tal_mobility_lock_at(l->matter, l->state,
                                              (tal_mobility){(tal_body_ix){POINT}, 2},
                                              TAL_LEVEL_VELOCITY, 0.25),
                         TAL_OK);
        ck_assert_int_eq(tal_mobility_lock_at(l->matter, l->state,
                                              (tal_mobility){(tal_body_ix){GIMBAL}, 1},
                                              TAL_LEVEL_POSITION, -0.75),
                         TAL_OK);
    }
    solve();
    assert_same_states("locked at values");
    end();
}

END_TEST

static const tal_project_options tight = {
    .tolerance = 1e-11, .max_iterations = 50, .infinity_norm = false, .even_if_met = false};

// From 1e-3 off, with errors that are projected besides.
START_TEST(projections_change_matter_alone)
{
    begin();
    double error[2][2][60];
    for (int i = 0; i < 120; ++i) {
        error[ALONE][i / 60][i % 60] = test_random_uniform(&p.rng, -1.0, 1.0);
    }
    for (int j = 0; j < 2; ++j) {
        const int skip = j == 0 ? NEIGHBOR_Q : NEIGHBOR_U;
        neighbor_fill(error[BESIDE][j], skip, neighbor_value);
        memcpy(error[BESIDE][j] + skip, error[ALONE][j],
               (size_t)(60 - skip) * sizeof error[ALONE][j][0]);
    }
    for (int k = 0; k < 2; ++k) {
        loop *l = &p.l[k];
        tal_project_result result;
        loop_realize(l, TAL_STAGE_POSITION);
        ck_assert_msg(tal_system_project_q(l->system, l->state, &tight, error[k][0], &result) ==
                          TAL_OK,
                      "%s", tal_state_error(l->state)->message);
        ck_assert_double_gt(result.norm_before, 1e-3);
        see_one(&found[k], result.norm_before);
        see_one(&found[k], result.norm_after);
        loop_realize(l, TAL_STAGE_VELOCITY);
        ck_assert_int_eq(tal_system_project_u(l->system, l->state, &tight, error[k][1], &result),
                         TAL_OK);
        ck_assert_double_gt(result.norm_before, 1e-3);
        see_one(&found[k], result.norm_before);
        see_one(&found[k], result.norm_after);
    }
    assert_same_states("projected");
    assert_same_numbers("norms");
    neighbor_same(error[ALONE][0], error[BESIDE][0], tal_state_nq(p.l[ALONE].state), NEIGHBOR_Q,
                  neighbor_value, "errors of q");
    neighbor_same(error[ALONE][1], error[BESIDE][1], tal_state_nu(p.l[ALONE].state), NEIGHBOR_U,
                  neighbor_value, "errors of u");
    end();
}

END_TEST

// Operators take and give arrays of matter alone.
START_TEST(operators_count_from_the_first_speed_of_matter)
{
    begin();
    solve();
    double x[60], y[60];
    for (int i = 0; i < 60; ++i) {
        x[i] = test_random_uniform(&p.rng, -1.0, 1.0);
    }
    for (int k = 0; k < 2; ++k) {
        const loop *l = &p.l[k];
        numbers *to = &found[k];
        const tal_constraint_rows rows = tal_matter_constraint_rows(l->matter, l->state);
        const int m = rows.mp + rows.mv + rows.ma, nu = tal_matter_nu(l->matter);
        ck_assert_int_eq(tal_matter_mul_M(l->matter, l->state, x, y), TAL_OK);
        see(to, y, (size_t)nu);
        const tal_n_op ops[] = {TAL_N, TAL_NPLUS, TAL_NDOT};
        for (int i = 0; i < 3; ++i) {
            const int n = ops[i] == TAL_NPLUS ? nu : tal_matter_nq(l->matter, l->state);
            ck_assert_int_eq(tal_matter_mul_N(l->matter, l->state, ops[i], x, y), TAL_OK);
            see(to, y, (size_t)n);
        }
        ck_assert_int_eq(tal_matter_mul_G(l->matter, l->state, TAL_G, x, y), TAL_OK);
        see(to, y, (size_t)m);
        ck_assert_int_eq(tal_matter_mul_GT(l->matter, l->state, TAL_G, x, y), TAL_OK);
        see(to, y, (size_t)nu);
        ck_assert_int_eq(tal_matter_calc_constraint_bias(l->matter, l->state, y), TAL_OK);
        see(to, y, (size_t)m);
        ck_assert_int_eq(tal_matter_calc_constraint_aerr(l->matter, l->state, x, y), TAL_OK);
        see(to, y, (size_t)m);
        see_one(to, tal_matter_calc_constraint_power(l->matter, l->state, x, p.gear));
        see_one(to,
                tal_matter_calc_constraint_power(l->matter, l->state, x, (tal_constraint_ix){-1}));
        tal_rows_report report;
        tal_constraint_row row[24];
        ck_assert_int_eq(tal_matter_calc_constraint_report(l->matter, l->state, &report, row),
                         TAL_OK);
        see_one(to, report.rank), see_one(to, report.dof), see_one(to, report.rcond);
        see_one(to, report.worst_residual);
        for (int i = 0; i < m; ++i) {
            see_one(to, row[i].residual);
        }
    }
    assert_same_numbers("operators");
    assert_same_states("operators");
    end();
}

END_TEST

// Row 1 of two that want different accelerations of a slider: q = f(t) by position rows, or
// u = params[0] and udot = params[1] by velocity rows.
static tal_status want_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    verr[0] = arg->u[0] - arg->params[0];
    return TAL_OK;
}

static tal_status want_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = arg->udot[0] - arg->params[1];
    return TAL_OK;
}

static const tal_constraint_ops wish = {.size = sizeof wish,
                                        .name = "wish",
                                        .mv = 1,
                                        .num_mobilities = 1,
                                        .num_params = 2,
                                        .calc_v = want_v,
                                        .calc_a = want_a,
                                        .add_forces = push_forces};

// q = a + b t + c t^2
static void want_q(const loop *l, tal_body_ix slider, double a, double b, double c)
{
    const tal_constraint_def on = tal_constraint_on(slider, 0);
    const double coefs[] = {c, b, a};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_polynomial(NULL, coefs, 3, &f, NULL), TAL_OK);
    (void)tal_constraint_add_prescribed_motion(l->matter, &on, f);
}

typedef enum contradiction {
    OFF_IN_POSITION, ///< the second row of two position rows
    OFF_IN_VELOCITY, ///< likewise, its speed
    VELOCITY_ROWS,
    NUM_CONTRADICTIONS
} contradiction;

// Rows that contradict each other are not errors where they are not met, and where they count for
// little. That those of a neighbor are met, or count for much, changes nothing.
START_TEST(constraints_of_others_say_nothing_of_those_of_matter)
{
    for (int i = 0; i < 2 * NUM_CONTRADICTIONS; ++i) {
        const contradiction kind = (contradiction)(i / 2);
        const double weight = i % 2 == 0 ? 1.0 : 1e-9;
        neighbor other;
        for (int k = 0; k < 2; ++k) {
            loop *l = &p.l[k];
            loop_begin_in(l, system_of(k, &other));
            tal_mobod_def def = tal_mobod_def_default();
            def.mass.mass = 1.0;
            const tal_body_ix slider = tal_matter_add_slider(l->matter, TAL_GROUND, &def);
            const tal_constraint_def on = tal_constraint_on(slider, 0);
            const double wishes[][2] = {{0.0, 1.0}, {0.3, 1.6}};
            for (int row = 0; row < 2 && kind == VELOCITY_ROWS; ++row) {
                (void)tal_matter_add_constraint(l->matter, &on, &wish, NULL, wishes[row]);
            }
            if (kind != VELOCITY_ROWS) want_q(l, slider, 0.0, 0.0, 0.5);
            if (kind == OFF_IN_POSITION) want_q(l, slider, 0.3, 0.0, 0.8);
            if (kind == OFF_IN_VELOCITY) want_q(l, slider, 0.0, 0.3, 0.8);
            loop_finish(l);
            loop_realize(l, TAL_STAGE_INSTANCE);
            double w[8];
            neighbor_fill(w, 8, neighbor_value);
            for (tal_pool pool = TAL_POOL_QERR; pool <= TAL_POOL_UERR; ++pool) {
                const int n = tal_state_pool_size(l->state, pool);
                const int skip = k == BESIDE ? neighbor_slots(pool) : 0;
                neighbor_fill(w + skip, n - skip, weight);
                ck_assert_int_eq(tal_state_set_weights(l->state, pool, w, n), TAL_OK);
            }
            loop_realize(l, TAL_STAGE_ACCELERATION);
            tal_rows_report report;
            ck_assert_int_eq(tal_matter_calc_constraint_report(l->matter, l->state, &report, NULL),
                             TAL_OK);
            ck_assert_int_eq(report.num_inconsistent > 0, weight == 1.0);
            see_one(&found[k], report.num_inconsistent), see_one(&found[k], report.rank);
            see_one(&found[k], report.worst_residual);
        }
        assert_same_states("contradicting");
        assert_same_numbers("report");
        end();
    }
}

END_TEST

// Constraints are tested in a State of their own, which moves along random speeds of matter.
START_TEST(constraints_are_tested_along_motions_of_matter)
{
    begin();
    for (int c = 0; c < tal_matter_num_constraints(p.l[ALONE].matter); ++c) {
        for (int k = 0; k < 2; ++k) {
            const loop *l = &p.l[k];
            tal_constraint_report report;
            tal_error err;
            ck_assert_msg(tal_constraint_test(l->matter, l->state, (tal_constraint_ix){c}, &report,
                                              &err) == TAL_OK,
                          "%s", err.message);
            see(&found[k], &report, sizeof report / sizeof(double));
        }
    }
    assert_same_numbers("reports");
    end();
}

END_TEST

// --- fast mobilizers ---

static tal_status spring_forces(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const loop *l = self;
    const tal_applied_forces to = tal_matter_upd_forces(l->matter, state);
    for (int b = 1; b < tal_matter_num_bodies(l->matter); ++b) {
        const tal_body_ix body = {b};
        const double k = 20.0, d = 3.0;
        to.f[tal_body_u_start(l->matter, body)] -=
            k * (tal_body_q(l->matter, state, body, 0) - 0.3) +
            d * tal_body_u(l->matter, state, body, 0);
    }
    return TAL_OK;
}

static const tal_subsystem_ops spring_ops = {
    .size = sizeof spring_ops, .name = "springs", .realize_dynamics = spring_forces};

// A slow pin, on it a ball and a pin fast in position; a slider fast in velocity, after a slow one.
static void build_fast(int which, neighbor *other)
{
    loop *l = &p.l[which];
    test_rng rng = test_rng_seed(30);
    loop_begin_in(l, system_of(which, other));
    (void)tal_system_add_subsystem(l->system, NULL, &spring_ops, l);
    const tal_body_ix pin = add_body(l, PIN, TAL_GROUND, &rng);
    const tal_body_ix ball = add_body(l, BALL, pin, &rng);
    const tal_body_ix end = add_body(l, PIN, pin, &rng);
    const tal_body_ix cart = add_body(l, SLIDER, TAL_GROUND, &rng);
    const tal_body_ix damped = add_body(l, SLIDER, cart, &rng);
    ck_assert_int_eq(tal_matter_make_fast(l->matter, ball, TAL_LEVEL_POSITION), TAL_OK);
    ck_assert_int_eq(tal_matter_make_fast(l->matter, end, TAL_LEVEL_POSITION), TAL_OK);
    ck_assert_int_eq(tal_matter_make_fast(l->matter, damped, TAL_LEVEL_VELOCITY), TAL_OK);
    loop_finish(l);
    loop_realize(l, TAL_STAGE_MODEL);
    for (int b = 1; b < tal_matter_num_bodies(l->matter); ++b) {
        (void)tal_body_set_u(l->matter, l->state, (tal_body_ix){b}, 0, 0.4);
    }
    (void)tal_body_set_q(l->matter, l->state, pin, 0, 0.5);
}

START_TEST(fast_mobilizers_settle_beside_another_subsystem)
{
    neighbor other;
    build_fast(ALONE, &other);
    build_fast(BESIDE, &other);
    for (int k = 0; k < 2; ++k) {
        loop *l = &p.l[k];
        bool changed = false;
        loop_realize(l, TAL_STAGE_TIME);
        ck_assert_msg(tal_system_relax(l->system, l->state, 1e-9, &changed) == TAL_OK, "%s",
                      tal_state_error(l->state)->message);
        ck_assert(changed);
        loop_realize(l, TAL_STAGE_ACCELERATION);
    }
    assert_same_states("relaxed");
    // what is in balance stays; what finds none is left as it was: both put q and u back
    for (int failing = 0; failing < 2; ++failing) {
        for (int k = 0; k < 2; ++k) {
            loop *l = &p.l[k];
            bool changed = false;
            if (failing == 1) l->push[5] = l->push[6] = (double)INFINITY;
            ck_assert_int_eq(tal_state_invalidate(l->state, TAL_STAGE_POSITION), TAL_OK);
            const tal_status st = tal_system_relax(l->system, l->state, 1e-9, &changed);
            ck_assert_int_eq(st == TAL_OK, failing == 0);
            ck_assert(!changed);
        }
        assert_same_states("in balance");
    }
    end();
}

END_TEST

// --- closure functions: a double crank whose second angle is the square of the first ---

static tal_status curve_q(const void *self, const tal_closure_arg *arg, double q[])
{
    (void)self;
    q[0] = arg->y[0], q[1] = arg->y[0] * arg->y[0];
    return TAL_OK;
}

static tal_status curve_K(const void *self, const tal_closure_arg *arg, tal_matrix K)
{
    (void)self;
    K.data[0] = 1.0, K.data[1] = 2.0 * arg->y[0];
    return TAL_OK;
}

static tal_status curve_k(const void *self, const tal_closure_arg *arg, double k[])
{
    (void)self;
    k[1] = 2.0 * arg->yd[0] * arg->yd[0];
    return TAL_OK;
}

static const tal_closure_ops curve_ops = {.size = sizeof curve_ops,
                                          .name = "curve",
                                          .num_y = 1,
                                          .calc_q = curve_q,
                                          .calc_K = curve_K,
                                          .calc_k = curve_k};

// The rod puts the mechanism elsewhere, so that tal_closure_test() finds errors to report.
START_TEST(closure_functions_move_matter_alone)
{
    neighbor other;
    for (int k = 0; k < 2; ++k) {
        loop *l = &p.l[k];
        test_rng rng = test_rng_seed(31);
        loop_begin_in(l, system_of(k, &other));
        const tal_body_ix crank = add_body(l, PIN, TAL_GROUND, &rng);
        const tal_body_ix follower = add_body(l, PIN, crank, &rng);
        (void)add_rod(l, TAL_GROUND, TAL_VEC3_ZERO, follower, test_random_vec3(&rng), 1.0);
        loop_finish(l);
        loop_realize(l, TAL_STAGE_MODEL);
        const double y = 0.7, yd = 1.3;
        const tal_closure closure = {.ops = &curve_ops, .y = &y, .yd = &yd};
        loop_realize(l, TAL_STAGE_INSTANCE);
        const dense_room room = dense_room_of(l);
        ck_assert_int_eq(tal_closure_set_state(l->matter, l->state, &closure, room.work), TAL_OK);
        loop_realize(l, TAL_STAGE_VELOCITY);
        double udot[2], ydd;
        ck_assert_msg(tal_closure_forward_dynamics(l->matter, l->state, &closure, NULL, NULL, udot,
                                                   &ydd, room.work, room.iwork) == TAL_OK,
                      "%s", tal_state_error(l->state)->message);
        see(&found[k], udot, 2), see_one(&found[k], ydd);
        tal_closure_report report;
        ck_assert_int_eq(tal_closure_test(l->matter, l->state, &closure, &report, NULL), TAL_OK);
        see(&found[k], &report, sizeof report / sizeof(double));
        ck_assert_double_gt(report.closed, 1e-3);
        free_room(room);
    }
    assert_same_states("closed");
    assert_same_numbers("closure");
    end();
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter/neighbor");
    TCase *tests = tcase_create("same bits");
    tcase_add_test(tests, coordinates_are_read_and_written_where_they_are);
    tcase_add_test(tests, coordinates_are_fitted_and_converted_where_they_are);
    tcase_add_test(tests, fits_of_a_users_mobilizer_start_from_its_own_coordinates_and_speeds);
    tcase_add_test(tests, motion_is_computed_where_it_is);
    tcase_add_test(tests, known_motion_is_kept_where_it_is);
    tcase_add_test(tests, locks_at_given_values_keep_to_their_places);
    tcase_add_test(tests, projections_change_matter_alone);
    tcase_add_test(tests, operators_count_from_the_first_speed_of_matter);
    tcase_add_test(tests, constraints_of_others_say_nothing_of_those_of_matter);
    tcase_add_test(tests, constraints_are_tested_along_motions_of_matter);
    tcase_add_test(tests, fast_mobilizers_settle_beside_another_subsystem);
    tcase_add_test(tests, closure_functions_move_matter_alone);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
