// Mobilizers against the joint models of RBDA tab. 4.1 and eqs. 4.7 to 4.9: pose, motion subspace S
// and what velocities contribute, c_J, all in the successor's frame, about its origin. Where the
// table takes the translation along the successor's axes (planar, 6-DoF), Talus takes it along the
// predecessor's (RBDA ex. 4.5); its prismatic joint slides along x; its Gimbal turns about x, y, z.
#include "talus_test.h"

#include <talus/matter.h>

#include <math.h>

enum {
    MOST = 6
};

// What the book says at q and u.
typedef struct model {
    tal_mat3 E;        // from predecessor to successor coordinates
    tal_vec3 r;        // origin of the successor, in predecessor coordinates
    double S[MOST][6]; // columns
    double c[6];       // c_J
} model;

typedef struct entry {
    const char *name;
    tal_body_ix (*add)(tal_matter *matter, tal_body_ix parent, const tal_mobod_def *def);
    int nu;
    model (*book)(const double q[], const double u[]);
} entry;

static tal_mat3 turn(tal_axis axis, double q)
{
    return tal_m3_transpose(tal_rotation_about(axis, q)); // RBDA's rx, ry, rz
}

static model at_rest(void)
{
    return (model){.E = turn(TAL_AXIS_Z, 0.0), .r = TAL_VEC3_ZERO};
}

static model revolute(const double q[], const double u[])
{
    (void)u;
    model m = at_rest();
    m.E = turn(TAL_AXIS_Z, q[0]);
    m.S[0][2] = 1.0;
    return m;
}

static model prismatic(const double q[], const double u[])
{
    (void)u;
    model m = at_rest();
    m.r = tal_v3(q[0], 0.0, 0.0);
    m.S[0][3] = 1.0;
    return m;
}

static const double PITCH = 0.3;

static model helical(const double q[], const double u[])
{
    model m = revolute(q, u);
    m.r = tal_v3(0.0, 0.0, PITCH * q[0]);
    m.S[0][5] = PITCH;
    return m;
}

// RBDA ex. 4.6: a pinion on a rack along x; c_J by ex. 4.6 in these coordinates: r = (R q, 0, 0).
static model rack(const double q[], const double u[])
{
    model m = revolute(q, u);
    const double c = cos(q[0]), s = sin(q[0]);
    m.r = tal_v3(PITCH * q[0], 0.0, 0.0);
    m.S[0][3] = PITCH * c;
    m.S[0][4] = -PITCH * s;
    m.c[3] = -PITCH * s * u[0] * u[0];
    m.c[4] = -PITCH * c * u[0] * u[0];
    return m;
}

static model cylindrical(const double q[], const double u[])
{
    model m = revolute(q, u);
    m.r = tal_v3(0.0, 0.0, q[1]);
    m.S[1][5] = 1.0;
    return m;
}

// The table's S is constant in alpha; here qdot = (alpha_1, c alpha_2 - s alpha_3, s alpha_2 + c
// alpha_3), as ex. 4.5 should have it.
static model planar(const double q[], const double u[])
{
    model m = revolute(q, u);
    const double c = cos(q[0]), s = sin(q[0]);
    m.r = tal_v3(q[1], q[2], 0.0);
    m.S[1][3] = c, m.S[1][4] = -s;
    m.S[2][3] = s, m.S[2][4] = c;
    m.c[3] = u[0] * (-s * u[1] + c * u[2]);
    m.c[4] = u[0] * (-c * u[1] - s * u[2]);
    return m;
}

// Two turns, about x and then y.
static model universal(const double q[], const double u[])
{
    model m = at_rest();
    const double c = cos(q[1]), s = sin(q[1]);
    m.E = tal_m3_mul(turn(TAL_AXIS_Y, q[1]), turn(TAL_AXIS_X, q[0]));
    m.S[0][0] = c, m.S[0][2] = s;
    m.S[1][1] = 1.0;
    m.c[0] = -s * u[1] * u[0];
    m.c[2] = c * u[1] * u[0];
    return m;
}

// Three turns: eqs. 4.7 to 4.9 with the axes x, y, z for z, y, x.
static model gimbal(const double q[], const double u[])
{
    model m = at_rest();
    const double c2 = cos(q[1]), s2 = sin(q[1]), c3 = cos(q[2]), s3 = sin(q[2]);
    const tal_mat3 xy = tal_m3_mul(turn(TAL_AXIS_Y, q[1]), turn(TAL_AXIS_X, q[0]));
    m.E = tal_m3_mul(turn(TAL_AXIS_Z, q[2]), xy);
    m.S[0][0] = c2 * c3, m.S[0][1] = -c2 * s3, m.S[0][2] = s2;
    m.S[1][0] = s3, m.S[1][1] = c3;
    m.S[2][2] = 1.0;
    m.c[0] = u[0] * (-s2 * c3 * u[1] - c2 * s3 * u[2]) + u[1] * c3 * u[2];
    m.c[1] = u[0] * (s2 * s3 * u[1] - c2 * c3 * u[2]) - u[1] * s3 * u[2];
    m.c[2] = u[0] * c2 * u[1];
    return m;
}

// E of Euler parameters, RBDA eq. 4.12; u is the angular velocity in the predecessor: S = E.
static model spherical(const double q[], const double u[])
{
    model m = at_rest();
    const double p0 = q[0], p1 = q[1], p2 = q[2], p3 = q[3];
    const double E[3][3] = {
        {2 * (p0 * p0 + p1 * p1) - 1, 2 * (p1 * p2 + p0 * p3), 2 * (p1 * p3 - p0 * p2)},
        {2 * (p1 * p2 - p0 * p3), 2 * (p0 * p0 + p2 * p2) - 1, 2 * (p2 * p3 + p0 * p1)},
        {2 * (p1 * p3 + p0 * p2), 2 * (p2 * p3 - p0 * p1), 2 * (p0 * p0 + p3 * p3) - 1}};
    m.E = (tal_mat3){
        {E[0][0], E[1][0], E[2][0]}, {E[0][1], E[1][1], E[2][1]}, {E[0][2], E[1][2], E[2][2]}};
    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) {
            m.S[j][i] = E[i][j];
        }
    }
    (void)u; // w in the predecessor is constant, and so is what the successor sees of its rate: 0
    return m;
}

// Both: the translation and its rate in the predecessor. c_J = -w x v in the successor.
static model six(const double q[], const double u[])
{
    model m = spherical(q, u);
    m.r = tal_v3(q[4], q[5], q[6]);
    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) {
            m.S[j + 3][i + 3] = m.S[j][i];
        }
    }
    const tal_vec3 w = tal_v3(u[0], u[1], u[2]), v = tal_v3(u[3], u[4], u[5]);
    const tal_vec3 c = tal_m3_mul_v3(m.E, tal_v3_cross(v, w));
    m.c[3] = c.x, m.c[4] = c.y, m.c[5] = c.z;
    return m;
}

static tal_body_ix add_helical(tal_matter *matter, tal_body_ix parent, const tal_mobod_def *def)
{
    return tal_matter_add_screw(matter, parent, def, PITCH);
}

static tal_body_ix add_rack(tal_matter *matter, tal_body_ix parent, const tal_mobod_def *def)
{
    return tal_matter_add_rack_and_pinion(matter, parent, def, PITCH);
}

static const entry TABLE[] = {{"revolute", tal_matter_add_pin, 1, revolute},
                              {"prismatic", tal_matter_add_slider, 1, prismatic},
                              {"helical", add_helical, 1, helical},
                              {"rack and pinion", add_rack, 1, rack},
                              {"cylindrical", tal_matter_add_cylinder, 2, cylindrical},
                              {"planar", tal_matter_add_planar, 3, planar},
                              {"universal", tal_matter_add_universal, 2, universal},
                              {"gimbal", tal_matter_add_gimbal, 3, gimbal},
                              {"spherical", tal_matter_add_ball, 3, spherical},
                              {"6-DoF", tal_matter_add_free, 6, six}};

enum {
    NUM_ENTRIES = sizeof TABLE / sizeof TABLE[0]
};

static void in_successor(tal_mat3 E, tal_vec3 w, tal_vec3 v, double out[6])
{
    const tal_vec3 a = tal_m3_mul_v3(E, w), b = tal_m3_mul_v3(E, v);
    const double all[6] = {a.x, a.y, a.z, b.x, b.y, b.z};
    memcpy(out, all, sizeof all);
}

static void check(const entry *it, test_rng *rng)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 1.0);
    const tal_body_ix body = it->add(matter, TAL_GROUND, &def);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_MODEL), TAL_OK);
    ck_assert_int_eq(tal_body_nu(matter, body), it->nu);
    double u[MOST], found[6], zero[MOST] = {0.0};
    for (int i = 0; i < tal_state_nq(state); ++i) {
        tal_state_upd_q(state)[i] = test_random_uniform(rng, -1.2, 1.2);
    }
    for (int i = 0; i < it->nu; ++i) {
        u[i] = test_random_uniform(rng, -1.0, 1.0);
    }
    ck_assert_int_eq(tal_matter_normalize_quaternions(matter, state), TAL_OK);
    double q[7];
    memcpy(q, tal_state_q(state), (size_t)tal_state_nq(state) * sizeof *q);
    const model book = it->book(q, u);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);
    const tal_xform X = tal_body_X_GB(matter, state, body);
    test_assert_m3_near(tal_m3_transpose(X.R), book.E, 1e-14);
    test_assert_v3_near(X.p, book.r, 1e-14);
    for (int j = 0; j < it->nu; ++j) {
        double unit[MOST] = {0.0};
        unit[j] = 1.0;
        ck_assert_int_eq(tal_state_set_u(state, unit, it->nu), TAL_OK);
        ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
        const tal_spatial_vec V = tal_body_V_GB(matter, state, body);
        in_successor(book.E, V.w, V.v, found);
        test_assert_near(found, book.S[j], 6, 1e-14, it->name);
    }
    ck_assert_int_eq(tal_state_set_u(state, u, it->nu), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
    const tal_spatial_vec V = tal_body_V_GB(matter, state, body);
    tal_spatial_vec A[2];
    ck_assert_int_eq(tal_matter_calc_accelerations(matter, state, zero, A), TAL_OK);
    // a spatial acceleration is that of the point without w x v (RBDA eq. 2.48)
    in_successor(book.E, A[1].w, tal_v3_sub(A[1].v, tal_v3_cross(V.w, V.v)), found);
    test_assert_near(found, book.c, 6, 1e-14, it->name);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

START_TEST(joints_are_those_of_the_table)
{
    test_rng rng = test_rng_seed(41);
    for (int round = 0; round < 20; ++round) {
        check(&TABLE[_i], &rng);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter/mobilizer_table");
    TCase *tests = tcase_create("tests");
    tcase_add_loop_test(tests, joints_are_those_of_the_table, 0, NUM_ENTRIES);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
