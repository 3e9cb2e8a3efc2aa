// Worked examples of RBDA, and algorithms that it gives besides the ones that Talus uses: each is
// written out here once more, in other variables, and must give the same numbers.
#include "talus_test.h"

#include <talus/common/lapack.h>
#include <talus/matter.h>

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST = 10
};

typedef struct chain {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    int n;
} chain;

static chain begin(void)
{
    chain c = {.system = tal_system_create(NULL)};
    c.matter = tal_matter_create(c.system);
    return c;
}

static void finish(chain *c)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(c->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(c->system, &c->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_system_realize(c->system, c->state, TAL_STAGE_MODEL), TAL_OK);
    c->n = tal_state_nu(c->state);
    ck_assert_int_le(c->n, MOST);
}

static void end(chain *c)
{
    tal_state_destroy(c->state);
    tal_system_destroy(c->system);
}

static void place(chain *c, const double q[], const double u[])
{
    for (int i = 0; i < c->n; ++i) {
        ck_assert_int_eq(tal_body_set_q(c->matter, c->state, (tal_body_ix){i + 1}, 0, q[i]),
                         TAL_OK);
        ck_assert_int_eq(tal_body_set_u(c->matter, c->state, (tal_body_ix){i + 1}, 0, u[i]),
                         TAL_OK);
    }
    ck_assert_int_eq(tal_system_realize(c->system, c->state, TAL_STAGE_VELOCITY), TAL_OK);
}

static void mass_matrix(chain *c, double H[])
{
    const tal_matrix view = tal_matrix_view(H, c->n, c->n);
    ck_assert_int_eq(tal_matter_calc_M(c->matter, c->state, view), TAL_OK);
}

static void inverse(chain *c, const double udot[], double f[])
{
    ck_assert_int_eq(tal_matter_inverse_dynamics(c->matter, c->state, udot, NULL, NULL, f), TAL_OK);
}

static tal_mobod_def random_link(test_rng *rng)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = test_random_mass_props(rng);
    def.X_PF = test_random_xform(rng);
    return def;
}

static chain random_pins(test_rng *rng, int n, tal_mobod_def links[])
{
    chain c = begin();
    for (int i = 0; i < n; ++i) {
        links[i] = random_link(rng);
        (void)tal_matter_add_pin(c.matter, (tal_body_ix){i}, &links[i]);
    }
    finish(&c);
    return c;
}

static void random_values(test_rng *rng, double x[], int n)
{
    for (int i = 0; i < n; ++i) {
        x[i] = test_random_uniform(rng, -1.0, 1.0);
    }
}

// ---- 3.5 ----------------------------------------------------------------------------------------

// A joint that depends on time (RBDA eqs. 3.31, 3.40) is two here (ADR 41): a bead slides along a
// rail that turns as theta = A sin(omega t + phase). S is along the rail, sigma = theta' about z
// and theta' r across; the bead's acceleration and the motor's moment in closed form are
//
//     r'' = theta'^2 r           moment = m r (r theta'' + 2 r' theta')
// Inventory of RBDA: 3.15.
START_TEST(a_joint_that_depends_on_time_is_two)
{
    const double A = 0.8, omega = 3.0, phase = 0.4, m = 1.7, t = 0.35, r = 0.6, speed = -1.1;
    chain c = begin();
    tal_mobod_def rail = tal_mobod_def_default(), bead = rail;
    bead.mass = tal_mass_props_point(m, TAL_VEC3_ZERO);
    const tal_body_ix turning = tal_matter_add_pin(c.matter, TAL_GROUND, &rail);
    const tal_body_ix sliding = tal_matter_add_slider(c.matter, turning, &bead);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = turning;
    (void)tal_matter_add_motion_sinusoid(c.matter, &motion, A, omega, phase);
    finish(&c);
    ck_assert_int_eq(tal_state_set_t(c.state, t), TAL_OK);
    ck_assert_int_eq(tal_body_set_q(c.matter, c.state, sliding, 0, r), TAL_OK);
    ck_assert_int_eq(tal_body_set_u(c.matter, c.state, sliding, 0, speed), TAL_OK);
    ck_assert_int_eq(tal_system_realize(c.system, c.state, TAL_STAGE_TIME), TAL_OK);
    ck_assert_int_eq(tal_system_prescribe_q(c.system, c.state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(c.system, c.state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_int_eq(tal_system_prescribe_u(c.system, c.state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(c.system, c.state, TAL_STAGE_ACCELERATION), TAL_OK);

    const double angle = A * sin(omega * t + phase), rate = A * omega * cos(omega * t + phase);
    const double bend = -omega * omega * angle;
    const tal_spatial_vec V = tal_body_V_GB(c.matter, c.state, sliding);
    const tal_vec3 x = {cos(angle), sin(angle), 0.0}, y = {-sin(angle), cos(angle), 0.0};
    test_assert_v3_near(V.w, tal_v3(0.0, 0.0, rate), 8.0 * DBL_EPSILON);
    test_assert_v3_near(V.v, tal_v3_axpy(rate * r, y, tal_v3_scale(speed, x)), 8.0 * DBL_EPSILON);
    // a few operations of numbers up to ten
    ck_assert_double_eq_tol(tal_state_udot(c.state)[1], rate * rate * r, 32.0 * DBL_EPSILON);
    ck_assert_double_eq_tol(tal_body_motion_force(c.matter, c.state, turning, 0),
                            m * r * (r * bend + 2.0 * speed * rate), 128.0 * DBL_EPSILON);
    end(&c);
}

END_TEST

// ---- 4.6 ----------------------------------------------------------------------------------------

// A pinion of radius R that a rack along x carries: in its own frame it moves along (0, 0, 1, R cos
// q, -R sin q, 0) (RBDA ex. 4.6), and resists with I + m R^2 whatever q is.
// Inventory of RBDA: 3.17.
START_TEST(a_pinion_rolls_along_its_rack)
{
    const double R = 0.3, m = 2.0, I = 0.05;
    chain c = begin();
    tal_mobod_def pinion = tal_mobod_def_default();
    pinion.mass = (tal_mass_props){m, TAL_VEC3_ZERO, tal_s3_diag(I, I, I)};
    const tal_body_ix body = tal_matter_add_rack_and_pinion(c.matter, TAL_GROUND, &pinion, R);
    finish(&c);
    for (int k = 0; k < 5; ++k) {
        const double q = -7.0 + 3.0 * k, u = 1.0;
        place(&c, &q, &u);
        const tal_xform X = tal_body_X_GB(c.matter, c.state, body);
        const tal_spatial_vec V = tal_m3_tmul_sv(X.R, tal_body_V_GB(c.matter, c.state, body));
        const tal_spatial_vec S = {{0.0, 0.0, 1.0}, {R * cos(q), -R * sin(q), 0.0}};
        test_assert_sv_near(V, S, 4.0 * DBL_EPSILON);
        test_assert_v3_near(X.p, tal_v3(R * q, 0.0, 0.0), 8.0 * DBL_EPSILON);
        // what touches the rack stands still
        const tal_vec3 r = tal_m3_tmul_v3(X.R, tal_v3(0.0, R, 0.0));
        test_assert_v3_near(tal_station_v_GS(c.matter, c.state, body, r), TAL_VEC3_ZERO,
                            4.0 * DBL_EPSILON);
        double H;
        mass_matrix(&c, &H);
        ck_assert_double_eq_tol(H, I + m * R * R, 4.0 * DBL_EPSILON);
    }
    end(&c);
}

END_TEST

// ---- 5.2 ----------------------------------------------------------------------------------------

// dH/dq_k by differences extrapolated to fourth order; round-off 1e-16 / 1e-3, times ten.
static void slope_of_mass(chain *c, const double q[], const double u[], int k, double dH[])
{
    static const double step[4] = {1e-3, -1e-3, 2e-3, -2e-3};
    static const double weight[4] = {2.0 / 3e-3, -2.0 / 3e-3, -1.0 / 12e-3, 1.0 / 12e-3};
    double moved[MOST], H[MOST * MOST];
    memset(dH, 0, (size_t)(c->n * c->n) * sizeof *dH);
    for (int s = 0; s < 4; ++s) {
        memcpy(moved, q, (size_t)c->n * sizeof *q);
        moved[k] += step[s];
        place(c, moved, u);
        mass_matrix(c, H);
        for (int i = 0; i < c->n * c->n; ++i) {
            dH[i] += weight[s] * H[i];
        }
    }
}

// C_i = sum C_ijk u_j u_k with C_ijk = (dH_ij/dq_k + dH_ik/dq_j - dH_jk/dq_i) / 2 (RBDA eq. 5.6).
// Inventory of RBDA: 5.02.
START_TEST(velocity_terms_are_christoffel_symbols)
{
    test_rng rng = test_rng_seed(52);
    tal_mobod_def links[5];
    chain c = random_pins(&rng, 5, links);
    double q[MOST], u[MOST], C[MOST], dH[MOST][MOST * MOST];
    random_values(&rng, q, 5);
    random_values(&rng, u, 5);
    for (int k = 0; k < 5; ++k) {
        slope_of_mass(&c, q, u, k, dH[k]);
    }
    place(&c, q, u);
    inverse(&c, NULL, C);
    for (int i = 0; i < 5; ++i) {
        double sum = 0.0;
        for (int j = 0; j < 5; ++j) {
            for (int k = 0; k < 5; ++k) {
                const double symbol =
                    0.5 * (dH[k][i + 5 * j] + dH[j][i + 5 * k] - dH[i][j + 5 * k]);
                sum += symbol * u[j] * u[k];
            }
        }
        ck_assert_double_eq_tol(sum, C[i], 1e-9 * fmax(1.0, test_largest(C, 5)));
    }
    end(&c);
}

END_TEST

// ---- 5.4 ----------------------------------------------------------------------------------------

// Inverse dynamics by Luh, Walker and Paul: 3-D vectors in the frames of the links, classical
// accelerations (RBDA tab. 5.2).
static void luh_walker_paul(int n, const tal_mobod_def links[], const double q[], const double u[],
                            const double udot[], tal_vec3 g, double tau[])
{
    const tal_vec3 z = {0.0, 0.0, 1.0};
    tal_mat3 R[MOST]; // from the link to its parent
    tal_vec3 F[MOST], N[MOST], c[MOST];
    tal_vec3 w = TAL_VEC3_ZERO, wdot = TAL_VEC3_ZERO, vdot = tal_v3_neg(g);
    for (int i = 0; i < n; ++i) {
        R[i] = tal_m3_mul(links[i].X_PF.R, tal_rotation_about(TAL_AXIS_Z, q[i]));
        const tal_vec3 r = links[i].X_PF.p;
        vdot = tal_v3_add(vdot,
                          tal_v3_add(tal_v3_cross(wdot, r), tal_v3_cross(w, tal_v3_cross(w, r))));
        vdot = tal_m3_tmul_v3(R[i], vdot);
        const tal_vec3 w_P = tal_m3_tmul_v3(R[i], w);
        wdot = tal_v3_add(tal_m3_tmul_v3(R[i], wdot), tal_v3_scale(udot[i], z));
        wdot = tal_v3_add(wdot, tal_v3_cross(w_P, tal_v3_scale(u[i], z)));
        w = tal_v3_add(w_P, tal_v3_scale(u[i], z));
        c[i] = links[i].mass.com;
        const double m = links[i].mass.mass;
        const tal_sym3 I_C =
            tal_s3_sub(links[i].mass.inertia, tal_s3_scale(m, tal_s3_cross_square(c[i])));
        const tal_vec3 a = tal_v3_add(
            vdot, tal_v3_add(tal_v3_cross(wdot, c[i]), tal_v3_cross(w, tal_v3_cross(w, c[i]))));
        F[i] = tal_v3_scale(m, a);
        N[i] = tal_v3_add(tal_s3_mul_v3(I_C, wdot), tal_v3_cross(w, tal_s3_mul_v3(I_C, w)));
    }
    tal_vec3 f = TAL_VEC3_ZERO, moment = TAL_VEC3_ZERO;
    for (int i = n - 1; i >= 0; --i) { // f and moment come from the next link, in this frame
        moment = tal_v3_add(moment, tal_v3_add(N[i], tal_v3_cross(c[i], F[i])));
        f = tal_v3_add(f, F[i]);
        tau[i] = moment.z;
        f = tal_m3_mul_v3(R[i], f);
        moment = tal_v3_add(tal_m3_mul_v3(R[i], moment), tal_v3_cross(links[i].X_PF.p, f));
    }
}

// Weights as forces about Bo, in Ground.
static void weights(const chain *c, const tal_mobod_def links[], tal_vec3 g, tal_spatial_vec F[])
{
    F[0] = (tal_spatial_vec){TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    for (int b = 1; b <= c->n; ++b) {
        const tal_xform X = tal_body_X_GB(c->matter, c->state, (tal_body_ix){b});
        const tal_vec3 f = tal_v3_scale(links[b - 1].mass.mass, g);
        F[b] = tal_sv(tal_v3_cross(tal_m3_mul_v3(X.R, links[b - 1].mass.com), f), f);
    }
}

// Inventory of RBDA: 5.11.
START_TEST(luh_walker_and_paul_find_the_same_forces)
{
    test_rng rng = test_rng_seed(54);
    const tal_vec3 g = {1.0, -9.0, 2.0};
    for (int round = 0; round < 20; ++round) {
        tal_mobod_def links[7];
        chain c = random_pins(&rng, 7, links);
        double q[MOST], u[MOST], udot[MOST], tau[MOST], expected[MOST];
        tal_spatial_vec F[MOST];
        random_values(&rng, q, 7);
        random_values(&rng, u, 7);
        random_values(&rng, udot, 7);
        place(&c, q, u);
        weights(&c, links, g, F);
        ck_assert_int_eq(tal_matter_inverse_dynamics(c.matter, c.state, udot, F, NULL, tau),
                         TAL_OK);
        luh_walker_paul(7, links, q, u, udot, g, expected);
        // some 200 operations in a row, of numbers up to ten times the largest result
        test_assert_near(tau, expected, 7, 1e-13 * fmax(1.0, test_largest(expected, 7)), "tau");
        end(&c);
    }
}

END_TEST

// ---- 7.1 ----------------------------------------------------------------------------------------

// A cylinder that turns and slides in a box, about and along different axes: the box feels all of
// the cylinder's inertia but that about x, and all of its mass but that along y (RBDA ex. 7.1).
// Inventory of RBDA: 7.06.
START_TEST(a_box_feels_a_cylinder_where_it_cannot_move)
{
    const double I1 = 0.7, m1 = 3.0, I2 = 0.2, m2 = 1.1;
    static const tal_mat3 y_as_x = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    static const tal_mat3 x_as_z = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    chain c = begin();
    tal_mobod_def box = tal_mobod_def_default(), rail = tal_mobod_def_default(), cylinder = rail;
    box.mass = (tal_mass_props){m1, TAL_VEC3_ZERO, tal_s3_diag(I1, I1, I1)};
    const tal_body_ix body = tal_matter_add_free(c.matter, TAL_GROUND, &box);
    rail.X_PF = rail.X_BM = tal_xf_from_R(y_as_x); // a slider moves along x of its frame
    const tal_body_ix on_rail = tal_matter_add_slider(c.matter, body, &rail);
    cylinder.X_PF = cylinder.X_BM = tal_xf_from_R(x_as_z); // a pin turns about z of its frame
    cylinder.mass = (tal_mass_props){m2, TAL_VEC3_ZERO, tal_s3_diag(I2, I2, I2)};
    (void)tal_matter_add_pin(c.matter, on_rail, &cylinder);
    finish(&c);
    ck_assert_int_eq(tal_system_realize(c.system, c.state, TAL_STAGE_POSITION), TAL_OK);

    const tal_abi I = tal_body_articulated_inertia(c.matter, c.state, body);
    test_assert_s3_near(I.J, tal_s3_diag(I1, I1 + I2, I1 + I2), 4.0 * DBL_EPSILON);
    test_assert_s3_near(I.M, tal_s3_diag(m1 + m2, m1, m1 + m2), 16.0 * DBL_EPSILON);
    test_assert_m3_near(I.F, TAL_MAT3_ZERO, 4.0 * DBL_EPSILON);
    end(&c);
}

END_TEST

// ---- 8.11 ---------------------------------------------------------------------------------------

// An arm of length l2 that a linear actuator moves, which stands at l1 from its joint: the angle
// and the length of the actuator follow from the angle y of the arm (RBDA fig. 8.3).
// Inventory of RBDA: 8.20.
START_TEST(a_linear_actuator_follows_its_arm)
{
    const double l1 = 1.3, l2 = 0.8, y = 0.7, yd = 1.0;
    chain c = begin();
    tal_mobod_def arm = tal_mobod_def_default(), cylinder = arm, rod = arm;
    arm.mass = tal_mass_props_rod(2.0, tal_v3(0.5 * l2, 0.0, 0.0));
    cylinder.mass = rod.mass = tal_mass_props_sphere(1.0, 0.1);
    cylinder.X_PF = tal_xf_from_p(tal_v3(l1, 0.0, 0.0));
    const tal_body_ix a = tal_matter_add_pin(c.matter, TAL_GROUND, &arm);
    const tal_body_ix b = tal_matter_add_pin(c.matter, TAL_GROUND, &cylinder);
    const tal_body_ix d = tal_matter_add_slider(c.matter, b, &rod);
    const tal_constraint_def tip = tal_constraint_between(a, d);
    (void)tal_constraint_add_ball(c.matter, &tip, tal_v3(l2, 0.0, 0.0), TAL_VEC3_ZERO);
    tal_motion_def steady = tal_motion_def_default();
    steady.body = a;
    steady.level = TAL_LEVEL_VELOCITY;
    (void)tal_matter_add_motion_steady(c.matter, &steady, &yd, 1);
    finish(&c);

    const double length = sqrt(l1 * l1 + l2 * l2 - 2.0 * l1 * l2 * cos(y)), dd = length * length;
    const double q[3] = {y, atan2(l2 * sin(y), l2 * cos(y) - l1), length};
    const double u1 = (l2 * l2 - l1 * l2 * cos(y)) / dd, u2 = l1 * l2 * sin(y) / length;
    const double u3 = (l1 * l1 - l2 * l2) * l1 * l2 * sin(y) * yd * yd / (dd * dd);
    const double u4 = (l1 * l2 * cos(y) - u2 * u2) * yd * yd / length;
    ck_assert_double_eq_tol(u1, -0.2102962168, 1e-10);
    const double u[3] = {yd, u1 * yd, u2 * yd};
    place(&c, q, u);
    // qerr and uerr of the tip, by the sum of some ten products of numbers of size one
    ck_assert_double_lt(test_largest(tal_state_qerr(c.state), 3), 8.0 * DBL_EPSILON);
    ck_assert_double_lt(test_largest(tal_state_uerr(c.state), 3), 8.0 * DBL_EPSILON);
    ck_assert_int_eq(tal_system_realize(c.system, c.state, TAL_STAGE_ACCELERATION), TAL_OK);
    const double *const udot = tal_state_udot(c.state);
    ck_assert_double_eq_tol(udot[0], 0.0, 1e-14);
    ck_assert_double_eq_tol(udot[1], u3, 1e-13);
    ck_assert_double_eq_tol(udot[2], u4, 1e-13);
    end(&c);
}

END_TEST

// ---- 9.7 ----------------------------------------------------------------------------------------

static tal_mass_props add_mass(const tal_mass_props *a, const tal_mass_props *b, double sign)
{
    const double m = a->mass + sign * b->mass;
    const tal_vec3 h =
        tal_v3_add(tal_v3_scale(a->mass, a->com), tal_v3_scale(sign * b->mass, b->com));
    return (tal_mass_props){m, tal_v3_scale(1.0 / m, h),
                            tal_s3_add(a->inertia, tal_s3_scale(sign, b->inertia))};
}

// What a joint does not feel may as well belong to the parent (RBDA eq. 9.29, tab. 9.7).
typedef struct exchange {
    tal_body_ix (*add)(tal_matter *matter, tal_body_ix parent, const tal_mobod_def *def);
    int nu, nq;
    tal_mass_props mass; // about Bo, where M is
} exchange;

static chain three_links(const tal_mobod_def links[], const exchange *it)
{
    chain c = begin();
    tal_body_ix body = tal_matter_add_pin(c.matter, TAL_GROUND, &links[0]);
    body = it->add(c.matter, body, &links[1]);
    (void)tal_matter_add_pin(c.matter, body, &links[2]);
    finish(&c);
    return c;
}

// A rod on the axis of a pin, an inertia without mass on a slider, a point in the middle of a ball:
// nothing that moves feels on which side of the joint they are.
// Inventory of RBDA: 9.16.
START_TEST(mass_that_a_joint_does_not_feel_may_belong_to_the_parent)
{
    const exchange all[] = {
        {tal_matter_add_pin, 1, 1, tal_mass_props_rod(0.2, tal_v3(0.0, 0.0, 0.4))},
        {tal_matter_add_slider, 1, 1, {0.0, TAL_VEC3_ZERO, tal_s3_diag(0.02, 0.03, 0.04)}},
        {tal_matter_add_ball, 3, 4, tal_mass_props_point(0.2, TAL_VEC3_ZERO)},
    };
    test_rng rng = test_rng_seed(97);
    for (int k = 0; k < 3; ++k) {
        const exchange *it = &all[k];
        tal_mobod_def links[3];
        for (int i = 0; i < 3; ++i) {
            links[i] = random_link(&rng);
            links[i].any_inertia = true;
        }
        chain both[2];
        both[0] = three_links(links, it);
        links[1].mass = add_mass(&links[1].mass, &it->mass, -1.0);
        const tal_mass_props there = tal_mass_props_transform(&links[1].X_PF, &it->mass);
        links[0].mass = add_mass(&links[0].mass, &there, 1.0);
        both[1] = three_links(links, it);
        const int n = 2 + it->nu;
        double q[MOST], u[MOST], udot[MOST], f[2][MOST], H[2][MOST * MOST];
        random_values(&rng, q, 2 + it->nq);
        random_values(&rng, u, n);
        random_values(&rng, udot, n);
        for (int side = 0; side < 2; ++side) {
            chain *const c = &both[side];
            ck_assert_int_eq(tal_state_set_q(c->state, q, 2 + it->nq), TAL_OK);
            ck_assert_int_eq(tal_state_set_u(c->state, u, n), TAL_OK);
            ck_assert_int_eq(tal_system_realize(c->system, c->state, TAL_STAGE_VELOCITY), TAL_OK);
            inverse(c, udot, f[side]);
            mass_matrix(c, H[side]);
            end(c);
        }
        test_assert_near(f[0], f[1], n, 1e-13 * fmax(1.0, test_largest(f[0], n)), "f");
        test_assert_near(H[0], H[1], n * n, 1e-14 * fmax(1.0, test_largest(H[0], n * n)), "H");
    }
}

END_TEST

// ---- 10.2 ---------------------------------------------------------------------------------------

// Six unit links in a plane, each with inertia 1/12 about its middle.
static chain six_links(void)
{
    chain c = begin();
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_rod(1.0, tal_v3(0.5, 0.0, 0.0));
    for (int i = 0; i < 6; ++i) {
        link.X_PF = tal_xf_from_p(tal_v3(i == 0 ? 0.0 : 1.0, 0.0, 0.0));
        link.mass.com = tal_v3(0.5, 0.0, 0.0);
        link.mass.inertia = tal_s3_diag(1e-3, 1.0 / 3.0, 1.0 / 3.0);
        (void)tal_matter_add_pin(c.matter, (tal_body_ix){i}, &link);
    }
    finish(&c);
    return c;
}

static double condition(chain *c)
{
    double H[MOST * MOST], values[MOST], work[2000];
    int iwork[200];
    mass_matrix(c, H);
    ck_assert_int_le(tal_lapack_svd_work_size(c->n, c->n), 2000);
    const tal_matrix none = tal_matrix_view(NULL, 0, 0);
    ck_assert_int_eq(
        tal_lapack_svd(tal_matrix_view(H, c->n, c->n), values, none, none, work, 2000, iwork, NULL),
        TAL_OK);
    return values[0] / values[c->n - 1];
}

// Accelerations are many times more sensitive than forces: forces that are rounded to three digits
// give accelerations of another size (RBDA sec. 10.2, fig. 10.3; the book's 0.6952 is a misprint).
// Inventory of RBDA: 10.07.
START_TEST(rounded_forces_give_other_accelerations)
{
    static const double exact[6] = {126.4936, 97.4663, 69.9762, 43.7998, 21.9371, 6.1646};
    static const double rounded[6] = {126.0, 97.5, 70.0, 43.8, 21.9, 6.16};
    static const double expected[6] = {0.6592, 1.3654, 1.3808, 0.5894, 0.9057, 1.0705};
    const double ones[6] = {1, 1, 1, 1, 1, 1}, rest[6] = {0};
    const double bend = 75.0 * TAL_PI / 180.0;
    double q[6], tau[6], udot[6];
    chain c = six_links();
    for (int i = 0; i < 6; ++i) {
        q[i] = i % 2 == 0 ? bend : -bend;
    }
    place(&c, q, rest);
    inverse(&c, ones, tau);
    test_assert_near(tau, exact, 6, 1e-4, "tau"); // digits are cut off
    ck_assert_int_eq(tal_matter_mul_Minv(c.matter, c.state, rounded, udot), TAL_OK);
    test_assert_near(udot, expected, 6, 1e-4, "udot");
    ck_assert_double_eq_tol(condition(&c), 725.0, 0.5);
    place(&c, rest, rest);
    ck_assert_double_eq_tol(condition(&c), 5685.0, 0.5);
    end(&c);
}

END_TEST

// ---- 2.16 ---------------------------------------------------------------------------------------

// Inverse dynamics of a planar chain of pins in planar vectors (angle, x, y): crosses and inertias
// of RBDA eqs. 2.76 to 2.78, the recursion of tab. 5.1.
typedef struct planar {
    double w, x, y;
} planar;

static planar planar_cross_force(planar v, planar f)
{
    // (v x* f): the transpose of v x with the sign turned
    return (planar){v.x * f.y - v.y * f.x, -v.w * f.y, v.w * f.x};
}

static planar planar_inertia(const tal_mass_props *m, planar a)
{
    const double cx = m->com.x, cy = m->com.y;
    return (planar){m->inertia.zz * a.w + m->mass * (cx * a.y - cy * a.x),
                    m->mass * (a.x - cy * a.w), m->mass * (a.y + cx * a.w)};
}

// Motion of a frame turned by q at p, as seen there.
static planar planar_outward(planar v, double q, tal_vec3 p)
{
    const double x = v.x - v.w * p.y, y = v.y + v.w * p.x, c = cos(q), s = sin(q);
    return (planar){v.w, c * x + s * y, -s * x + c * y};
}

static planar planar_inward(planar f, double q, tal_vec3 p)
{
    const double c = cos(q), s = sin(q), x = c * f.x - s * f.y, y = s * f.x + c * f.y;
    return (planar){f.w + p.x * y - p.y * x, x, y};
}

// Inventory of RBDA: 2.29.
START_TEST(planar_vectors_find_the_same_forces)
{
    test_rng rng = test_rng_seed(216);
    tal_mobod_def links[6];
    chain c = begin();
    for (int i = 0; i < 6; ++i) {
        links[i] = random_link(&rng);
        links[i].X_PF = tal_xf_from_p(tal_v3(links[i].X_PF.p.x, links[i].X_PF.p.y, 0.0));
        (void)tal_matter_add_pin(c.matter, (tal_body_ix){i}, &links[i]);
    }
    finish(&c);
    double q[6], u[6], udot[6], tau[6], expected[6];
    random_values(&rng, q, 6);
    random_values(&rng, u, 6);
    random_values(&rng, udot, 6);
    place(&c, q, u);
    inverse(&c, udot, tau);
    planar v = {0.0, 0.0, 0.0}, a = v, f[6];
    for (int i = 0; i < 6; ++i) { // a += S udot + v x S u
        v = planar_outward(v, q[i], links[i].X_PF.p);
        a = planar_outward(a, q[i], links[i].X_PF.p);
        a.x += v.y * u[i];
        a.y -= v.x * u[i];
        a.w += udot[i];
        v.w += u[i];
        const planar p = planar_inertia(&links[i].mass, v), Ia = planar_inertia(&links[i].mass, a);
        const planar turned = planar_cross_force(v, p);
        f[i] = (planar){Ia.w + turned.w, Ia.x + turned.x, Ia.y + turned.y};
    }
    for (int i = 5; i >= 0; --i) {
        expected[i] = f[i].w;
        if (i == 0) continue;
        const planar there = planar_inward(f[i], q[i], links[i].X_PF.p);
        f[i - 1] = (planar){f[i - 1].w + there.w, f[i - 1].x + there.x, f[i - 1].y + there.y};
    }
    test_assert_near(tau, expected, 6, 1e-13 * fmax(1.0, test_largest(expected, 6)), "tau");
    end(&c);
}

END_TEST

int main(void)
{
    Suite *const suite = suite_create("book_examples");
    TCase *const textbook = tcase_create("textbook");
    tcase_add_test(textbook, a_joint_that_depends_on_time_is_two);
    tcase_add_test(textbook, a_pinion_rolls_along_its_rack);
    tcase_add_test(textbook, velocity_terms_are_christoffel_symbols);
    tcase_add_test(textbook, luh_walker_and_paul_find_the_same_forces);
    tcase_add_test(textbook, a_box_feels_a_cylinder_where_it_cannot_move);
    tcase_add_test(textbook, a_linear_actuator_follows_its_arm);
    tcase_add_test(textbook, mass_that_a_joint_does_not_feel_may_belong_to_the_parent);
    tcase_add_test(textbook, rounded_forces_give_other_accelerations);
    tcase_add_test(textbook, planar_vectors_find_the_same_forces);
    suite_add_tcase(suite, textbook);
    return test_run(suite);
}
