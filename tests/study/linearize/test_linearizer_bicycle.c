// Promise P10: the benchmark bicycle of Meijaard, Papadopoulos, Ruina and Schwab, Linearized
// dynamics equations for the balance and steer of a bicycle, Proc. R. Soc. A 463 (2007) 1955: a
// rear frame with its rider, a front frame that turns about a tilted axis, and two thin wheels that
// roll on a plane without slip. Nine speeds, two equations on positions and four on velocities that
// are not integrable.
//
// There x points forward, y to the right and z down, and all points are given from the rear
// contact.
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>

static const double G = 9.81, WHEELBASE = 1.02, TRAIL = 0.08, R_REAR = 0.3, R_FRONT = 0.35;

// --- a thin wheel that rolls on the plane z = 0 of Ground, its axle along y of its body ---

enum {
    RADIUS,
    NUM_PARAMS
};

// From the center to the lowest point: down, in the plane of the wheel.
typedef struct contact {
    tal_vec3 n;     // the axle, in Ground
    double s;       // sine of its angle against the vertical
    tal_vec3 d;     // unit, to the contact
    tal_vec3 d_dot; // its derivative, when velocities are known
} contact;

static const tal_vec3 DOWN = {0.0, 0.0, 1.0};

static contact find_contact(const tal_constraint_arg *arg)
{
    contact c = {.n = arg->X_AB[1].R.y, .d_dot = TAL_VEC3_ZERO};
    c.s = sqrt(1.0 - c.n.z * c.n.z);
    const tal_vec3 fall = tal_v3_axpy(-c.n.z, c.n, DOWN);
    c.d = tal_v3_scale(1.0 / c.s, fall);
    if (arg->V == NULL) return c;
    const tal_vec3 n_dot = tal_v3_cross(arg->V[1].w, c.n);
    const double s_dot = -c.n.z * n_dot.z / c.s;
    const tal_vec3 fall_dot =
        tal_v3_axpy(-c.n.z, n_dot, tal_v3_scale(-n_dot.z, c.n)); // of z - n n_z
    c.d_dot = tal_v3_scale(1.0 / c.s, tal_v3_axpy(-s_dot, c.d, fall_dot));
    return c;
}

// Height of the lowest point.
static tal_status roll_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    const contact c = find_contact(arg);
    perr[0] = arg->X_AB[1].p.z + arg->params[RADIUS] * c.s;
    return TAL_OK;
}

// Velocity of the point of the wheel that touches: down, which is what perr changes by, and along.
static tal_status roll_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    const contact c = find_contact(arg);
    const tal_spatial_vec V = arg->V[1];
    const tal_vec3 v = tal_v3_add(V.v, tal_v3_cross(V.w, tal_v3_scale(arg->params[RADIUS], c.d)));
    verr[0] = v.z, verr[1] = v.x, verr[2] = v.y;
    return TAL_OK;
}

static tal_status roll_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    const contact c = find_contact(arg);
    const double r = arg->params[RADIUS];
    const tal_vec3 turning = tal_v3_cross(arg->a[1].w, tal_v3_scale(r, c.d));
    const tal_vec3 moving = tal_v3_cross(arg->V[1].w, tal_v3_scale(r, c.d_dot));
    const tal_vec3 a = tal_v3_add(arg->a[1].v, tal_v3_add(turning, moving));
    aerr[0] = a.z, aerr[1] = a.x, aerr[2] = a.y;
    return TAL_OK;
}

static tal_status roll_forces(const void *self, const tal_constraint_arg *arg,
                              const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const contact c = find_contact(arg);
    const tal_vec3 force = tal_v3(lambda[1], lambda[2], lambda[0]);
    F[1].w = tal_v3_add(F[1].w, tal_v3_cross(tal_v3_scale(arg->params[RADIUS], c.d), force));
    F[1].v = tal_v3_add(F[1].v, force);
    return TAL_OK;
}

static const tal_constraint_ops rolling = {.size = sizeof rolling,
                                           .name = "rolling wheel",
                                           .tag = 1,
                                           .mp = 1,
                                           .mv = 2,
                                           .num_bodies = 2,
                                           .num_params = NUM_PARAMS,
                                           .calc_p = roll_p,
                                           .calc_v = roll_v,
                                           .calc_a = roll_a,
                                           .add_forces = roll_forces};

// --- the bicycle ---

typedef struct bicycle {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_body_ix frame, rear, fork, front;
    tal_constraint_ix contacts[2];
} bicycle;

// Inertia about the center of mass with Iyy, Ixx, Izz, Ixz; the center at p from the body's origin.
static tal_mass_props mass_at(double mass, tal_vec3 p, double xx, double yy, double zz, double xz)
{
    const tal_sym3 central = {xx, yy, zz, 0.0, xz, 0.0};
    return (tal_mass_props){mass, p,
                            tal_s3_add(central, tal_s3_scale(mass, tal_s3_cross_square(p)))};
}

// An axle along y, which is where z of a pin's frames points.
static tal_mobod_def wheel_at(tal_vec3 p, tal_mass_props mass)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.X_PF = tal_xf(tal_rotation_about(TAL_AXIS_X, -0.5 * TAL_PI), p);
    def.X_BM.R = def.X_PF.R;
    def.mass = mass;
    return def;
}

static tal_constraint_ix add_rolling(bicycle *b, tal_body_ix wheel, double radius)
{
    const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, wheel);
    return tal_matter_add_constraint(b->matter, &ends, &rolling, NULL, &radius);
}

// The frame's origin is the rear hub. The fork's is where the steer axis, tilted by 18 degrees,
// meets the plane.
static bicycle build(void)
{
    bicycle b = {.system = tal_system_create(NULL)};
    b.matter = tal_matter_create(b.system);
    b.forces = tal_forces_create(b.system, b.matter);
    (void)tal_forces_add_gravity(b.forces, tal_v3(0.0, 0.0, G));
    const tal_vec3 hub = tal_v3(0.0, 0.0, -R_REAR), axis = tal_v3(WHEELBASE + TRAIL, 0.0, 0.0);
    const tal_vec3 front_hub = tal_v3(WHEELBASE, 0.0, -R_FRONT);

    tal_mobod_def def = tal_mobod_def_default();
    def.mass = mass_at(85.0, tal_v3_sub(tal_v3(0.3, 0.0, -0.9), hub), 9.2, 11.0, 2.8, 2.4);
    b.frame = tal_matter_add_free(b.matter, TAL_GROUND, &def);
    def = wheel_at(TAL_VEC3_ZERO, mass_at(2.0, TAL_VEC3_ZERO, 0.0603, 0.12, 0.0603, 0.0));
    b.rear = tal_matter_add_pin(b.matter, b.frame, &def);
    def = tal_mobod_def_default();
    def.X_PF = tal_xf(tal_rotation_about(TAL_AXIS_Y, TAL_PI / 10.0), tal_v3_sub(axis, hub));
    def.X_BM.R = def.X_PF.R;
    def.mass =
        mass_at(4.0, tal_v3_sub(tal_v3(0.9, 0.0, -0.7), axis), 0.05892, 0.06, 0.00708, -0.00756);
    b.fork = tal_matter_add_pin(b.matter, b.frame, &def);
    def = wheel_at(tal_v3_sub(front_hub, axis),
                   mass_at(3.0, TAL_VEC3_ZERO, 0.1405, 0.28, 0.1405, 0.0));
    b.front = tal_matter_add_pin(b.matter, b.fork, &def);
    b.contacts[0] = add_rolling(&b, b.rear, R_REAR);
    b.contacts[1] = add_rolling(&b, b.front, R_FRONT);

    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(b.system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(b.system, &b.state, &err), TAL_OK);
    const tal_xform X_GB = tal_xf_from_p(hub);
    ck_assert_int_eq(tal_body_fit_q(b.matter, b.state, b.frame, &X_GB), TAL_OK);
    return b;
}

static void ride(bicycle *b, double speed)
{
    const tal_spatial_vec V = {TAL_VEC3_ZERO, {speed, 0.0, 0.0}};
    ck_assert_int_eq(tal_body_fit_u(b->matter, b->state, b->frame, V), TAL_OK);
    ck_assert_int_eq(tal_body_set_u(b->matter, b->state, b->rear, 0, -speed / R_REAR), TAL_OK);
    ck_assert_int_eq(tal_body_set_u(b->matter, b->state, b->front, 0, -speed / R_FRONT), TAL_OK);
}

static void end(bicycle *b)
{
    tal_state_destroy(b->state);
    tal_system_destroy(b->system);
}

START_TEST(the_rolling_wheel_agrees_with_itself)
{
    bicycle b = build();
    test_rng rng = test_rng_seed(961);
    for (int k = 0; k < 20; ++k) {
        const double turn = test_random_uniform(&rng, -0.5, 0.5);
        const tal_xform X = tal_xf(tal_rotation_from_angle_axis(turn, test_random_unit(&rng)),
                                   test_random_vec3(&rng));
        ck_assert_int_eq(tal_body_fit_q(b.matter, b.state, b.frame, &X), TAL_OK);
        ck_assert_int_eq(tal_body_set_q(b.matter, b.state, b.fork, 0, turn), TAL_OK);
        double u[9];
        for (int i = 0; i < 9; ++i) {
            u[i] = test_random_uniform(&rng, -2.0, 2.0);
        }
        ck_assert_int_eq(tal_state_set_u(b.state, u, 9), TAL_OK);
        for (int i = 0; i < 2; ++i) {
            tal_constraint_report report;
            ck_assert_int_eq(tal_constraint_test(b.matter, b.state, b.contacts[i], &report, NULL),
                             TAL_OK);
            ck_assert_double_lt(report.worst, 1e-9); // 1e-11 v^2, speeds up to 10 at the contact
        }
    }
    end(&b);
}

END_TEST

// --- eigenvalues ---

// M qdd + v C1 qd + (g K0 + v^2 K2) q = 0 for lean and steer; table 2 of the paper, 14 digits and
// more.
static const double M[2][2] = {{80.81722, 2.31941332208709}, {2.31941332208709, 0.29784188199686}};
static const double K0[2][2] = {{-80.95, -2.59951685249872},
                                {-2.59951685249872, -0.80329488458618}};
static const double K2[2][2] = {{0.0, 76.59734589573222}, {0.0, 2.65431523794604}};
static const double C1[2][2] = {{0.0, 33.86641391492494}, {-0.85035641456978, 1.68540397397560}};

// By magnitude, then by imaginary part.
static void sort_four(double re[4], double im[4])
{
    for (int i = 0; i < 4; ++i) {
        for (int j = i + 1; j < 4; ++j) {
            const double a = hypot(re[i], im[i]), b = hypot(re[j], im[j]);
            const bool same = fabs(a - b) <= 1e-9 * b;
            if (same ? im[i] >= im[j] : a < b) continue;
            const double r = re[i], m = im[i];
            re[i] = re[j], im[i] = im[j], re[j] = r, im[j] = m;
        }
    }
}

static void published_eigenvalues(double v, double re[4], double im[4])
{
    double A[16] = {0.0}, work[1024];
    const double det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
    const double inverse[2][2] = {{M[1][1] / det, -M[0][1] / det}, {-M[1][0] / det, M[0][0] / det}};
    for (int i = 0; i < 2; ++i) {
        A[4 * (2 + i) + i] = 1.0; // column-major: qdot = u
        for (int j = 0; j < 2; ++j) {
            for (int k = 0; k < 2; ++k) {
                A[4 * j + 2 + i] -= inverse[i][k] * (G * K0[k][j] + v * v * K2[k][j]);
                A[4 * (2 + j) + 2 + i] -= inverse[i][k] * v * C1[k][j];
            }
        }
    }
    ck_assert_int_le(tal_lapack_eig_work_size(4), 1024);
    const tal_matrix none = tal_matrix_view(NULL, 0, 0);
    const tal_eig eig = {re, im, none, none};
    ck_assert_int_eq(tal_lapack_eig(tal_matrix_view(A, 4, 4), &eig, work, 1024, NULL), TAL_OK);
    sort_four(re, im);
}

// The other six of the ten are zero: place, heading, turns of the wheels, and the speed.
static void check_eigenvalues(bicycle *b, tal_linearizer *lin, double v)
{
    ride(b, v);
    ck_assert_msg(tal_linearizer_run(lin, b->state) == TAL_OK, "%s",
                  tal_linearizer_error(lin)->message);
    ck_assert_int_eq(tal_linearizer_find_modes(lin), TAL_OK);
    const tal_linear_sizes sizes = tal_linearizer_sizes(lin);
    ck_assert(sizes.ns == 7 && sizes.nv == 3 && sizes.nz == 0);
    double re[4], im[4], found_re[4], found_im[4];
    published_eigenvalues(v, re, im);
    for (int i = 0; i < 4; ++i) {
        const tal_mode mode = tal_linearizer_mode(lin, 6 + i);
        found_re[i] = mode.re, found_im[i] = mode.im;
    }
    sort_four(found_re, found_im);
    test_assert_near(found_re, re, 4, 1e-8, "real parts");
    test_assert_near(found_im, im, 4, 1e-8, "imaginary parts");
}

START_TEST(the_bicycle_has_its_published_eigenvalues)
{
    bicycle b = build();
    tal_linearizer *lin = NULL;
    ck_assert_int_eq(tal_linearizer_create(b.system, NULL, &lin, NULL), TAL_OK);
    static const double speeds[] = {1.0, 3.0, 5.0, 8.0, 10.0};
    for (int k = 0; k < 5; ++k) {
        check_eigenvalues(&b, lin, speeds[k]);
    }
    tal_linearizer_destroy(lin);
    end(&b);
}

END_TEST

// Weights say how errors are shared when u is projected; physics does not know of them.
START_TEST(eigenvalues_do_not_depend_on_weights)
{
    bicycle b = build();
    tal_linearizer *lin = NULL;
    ck_assert_int_eq(tal_linearizer_create(b.system, NULL, &lin, NULL), TAL_OK);
    const double weights[9] = {1.0, 2.0, 0.5, 3.0, 1.0, 0.4, 1.5, 2.5, 0.6};
    ck_assert_int_eq(tal_state_set_weights(b.state, TAL_POOL_U, weights, 9), TAL_OK);
    check_eigenvalues(&b, lin, 5.0);
    tal_linearizer_destroy(lin);
    end(&b);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/linearizer_bicycle");
    TCase *tests = tcase_create("bicycle");
    tcase_add_test(tests, the_rolling_wheel_agrees_with_itself);
    tcase_add_test(tests, the_bicycle_has_its_published_eigenvalues);
    tcase_add_test(tests, eigenvalues_do_not_depend_on_weights);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
