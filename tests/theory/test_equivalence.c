// The same mechanism built in different ways must move in the same way.
#include "tree_support.h"

enum {
    MAX_N = 40
};

// cond(M) in the infinity norm, column by column.
static double condition(const rig *r)
{
    const int nu = tal_state_nu(r->state);
    double sum_M[MAX_N] = {0.0}, sum_W[MAX_N] = {0.0};
    ck_assert_int_le(nu, MAX_N);
    for (int j = 0; j < nu; ++j) {
        double unit[MAX_N] = {0.0}, x[MAX_N], y[MAX_N];
        unit[j] = 1.0;
        ck_assert_int_eq(tal_matter_mul_M(r->matter, r->state, unit, x), TAL_OK);
        ck_assert_int_eq(tal_matter_mul_Minv(r->matter, r->state, unit, y), TAL_OK);
        for (int i = 0; i < nu; ++i) {
            sum_M[i] += fabs(x[i]);
            sum_W[i] += fabs(y[i]);
        }
    }
    return test_largest(sum_M, nu) * test_largest(sum_W, nu);
}

// What two ways of computing the same may differ by: each is off by some ten cond(M) eps.
static double tolerance(const rig *r)
{
    return 100.0 * condition(r) * DBL_EPSILON;
}

// Body `b` of one and body `c` of the other must be in the same place, and move and accelerate
// alike.
static void assert_same_motion(const rig *r, int b, const rig *s, int c)
{
    const double eps = fmax(tolerance(r), tolerance(s));
    const tal_xform X = rig_X_GB(r, b), Y = rig_X_GB(s, c);
    test_assert_m3_near(X.R, Y.R, 1e-13);
    test_assert_v3_near(X.p, Y.p, 1e-13 * (1.0 + tal_v3_norm(X.p)));
    const tal_spatial_vec V = rig_V_GB(r, b), W = rig_V_GB(s, c);
    test_assert_sv_near(V, W, 1e-13 * (10.0 + test_largest(&V.w.x, 6)));
    const tal_spatial_vec A = rig_A_GB(r, b), B = rig_A_GB(s, c);
    test_assert_sv_near(A, B, eps * (10.0 + test_largest(&A.w.x, 6)));
}

// --- compound mobilizers against chains of pins and sliders with massless links ---

typedef struct step {
    char kind; ///< 'p'in about an axis or 's'lider along it
    char axis;
    int q; ///< which coordinate of the compound it is
} step;

typedef struct compound {
    const char *mobilizer;
    int n;
    step steps[6];
} compound;

static const compound compounds[] = {
    {"universal", 2, {{'p', 'x', 0}, {'p', 'y', 1}}},
    {"cylinder", 2, {{'p', 'z', 0}, {'s', 'z', 1}}},
    {"bend_stretch", 2, {{'p', 'z', 0}, {'s', 'x', 1}}},
    {"planar", 3, {{'s', 'x', 1}, {'s', 'y', 2}, {'p', 'z', 0}}},
    {"gimbal", 3, {{'p', 'x', 0}, {'p', 'y', 1}, {'p', 'z', 2}}},
    {"spherical_coords", 3, {{'p', 'z', 0}, {'p', 'y', 1}, {'s', 'z', 2}}},
    {"translation", 3, {{'s', 'x', 0}, {'s', 'y', 1}, {'s', 'z', 2}}},
    {"bushing",
     6,
     {{'s', 'x', 3}, {'s', 'y', 4}, {'s', 'z', 5}, {'p', 'x', 0}, {'p', 'y', 1}, {'p', 'z', 2}}}};

// A frame whose z (pin) or x (slider) is the wanted axis.
static tal_xform step_frame(step s)
{
    static const tal_vec3 axes[] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const int k = s.axis - 'x';
    const tal_vec3 a = axes[k], b = axes[(k + 1) % 3], c = axes[(k + 2) % 3];
    const tal_mat3 about_z = {b, c, a}, along_x = {a, b, c};
    return tal_xf_from_R(s.kind == 'p' ? about_z : along_x);
}

// A heavy body on the compound, and one more on a pin, so that everything is coupled.
static void build_compound(rig *r, const compound *c, const tal_mobod_def *one,
                           const tal_mobod_def *two)
{
    rig_begin(r);
    (void)rig_add(r, 0, c->mobilizer, one, NULL);
    (void)rig_add(r, 1, "pin", two, NULL);
    rig_finish(r);
}

static void build_steps(rig *r, const compound *c, const tal_mobod_def *one,
                        const tal_mobod_def *two)
{
    rig_begin(r);
    for (int k = 0; k < c->n; ++k) {
        const tal_xform X = step_frame(c->steps[k]);
        tal_mobod_def link = tal_mobod_def_default();
        if (k == c->n - 1) link = *one;
        link.structure = k == c->n - 1 ? TAL_BODY_RIGID : TAL_BODY_MASSLESS;
        link.X_PF = k == 0 ? tal_xf_mul(one->X_PF, X) : X;
        link.X_BM = k == c->n - 1 ? tal_xf_mul(one->X_BM, X) : X;
        (void)rig_add(r, k, c->steps[k].kind == 'p' ? "pin" : "slider", &link, NULL);
    }
    (void)rig_add(r, c->n, "pin", two, NULL);
    rig_finish(r);
}

START_TEST(a_compound_mobilizer_is_its_chain_of_pins_and_sliders)
{
    const compound *c = &compounds[_i];
    test_rng rng = test_rng_seed(100 + (uint64_t)_i);
    for (int trial = 0; trial < 20; ++trial) {
        const tal_mobod_def one = random_def(&rng), two = random_def(&rng);
        rig r, s;
        build_compound(&r, c, &one, &two);
        build_steps(&s, c, &one, &two);
        r.gravity = s.gravity = tal_v3(0.3, -9.81, 0.7);
        double q[7], u[7], tau[7], q_steps[7], u_steps[7], tau_steps[7];
        for (int i = 0; i <= c->n; ++i) {
            q[i] = test_random_uniform(&rng, 0.2, 1.2);
            u[i] = test_random_uniform(&rng, -2.0, 2.0);
            tau[i] = test_random_uniform(&rng, -2.0, 2.0);
        }
        for (int k = 0; k <= c->n; ++k) {
            const int i = k < c->n ? c->steps[k].q : k;
            q_steps[k] = q[i], u_steps[k] = u[i], tau_steps[k] = tau[i];
        }
        r.tau = tau, s.tau = tau_steps;
        ck_assert_int_eq(tal_state_set_q(r.state, q, c->n + 1), TAL_OK);
        ck_assert_int_eq(tal_state_set_u(r.state, u, c->n + 1), TAL_OK);
        ck_assert_int_eq(tal_state_set_q(s.state, q_steps, c->n + 1), TAL_OK);
        ck_assert_int_eq(tal_state_set_u(s.state, u_steps, c->n + 1), TAL_OK);
        rig_realize(&r, TAL_STAGE_ACCELERATION);
        rig_realize(&s, TAL_STAGE_ACCELERATION);

        assert_same_motion(&r, 1, &s, c->n);
        assert_same_motion(&r, 2, &s, c->n + 1);
        const double *udot = tal_state_udot(r.state), *udot_steps = tal_state_udot(s.state);
        const double size = test_largest(udot, c->n + 1);
        for (int k = 0; k <= c->n; ++k) {
            const int i = k < c->n ? c->steps[k].q : k;
            ck_assert_double_eq_tol(udot_steps[k], udot[i],
                                    fmax(tolerance(&r), tolerance(&s)) * size);
        }
        rig_end(&r);
        rig_end(&s);
    }
}

END_TEST

// A free body is one that translates and then turns about the same point.
START_TEST(free_is_translation_and_ball)
{
    test_rng rng = test_rng_seed(200);
    for (int trial = 0; trial < 20; ++trial) {
        const tal_mobod_def one = random_def(&rng), two = random_def(&rng);
        rig r, s;
        rig_begin(&r);
        (void)rig_add(&r, 0, "free", &one, NULL);
        (void)rig_add(&r, 1, "pin", &two, NULL);
        rig_finish(&r);
        rig_begin(&s);
        tal_mobod_def carrier = tal_mobod_def_default();
        carrier.X_PF = one.X_PF;
        tal_mobod_def turning = one;
        turning.X_PF = TAL_XFORM_IDENTITY;
        (void)rig_add(&s, 0, "translation", &carrier, NULL);
        (void)rig_add(&s, 1, "ball", &turning, NULL);
        (void)rig_add(&s, 2, "pin", &two, NULL);
        rig_finish(&s);
        r.gravity = s.gravity = tal_v3(0.3, -9.81, 0.7);

        double q[8], u[7];
        const tal_quat e = test_random_quat(&rng);
        q[0] = e.w, q[1] = e.x, q[2] = e.y, q[3] = e.z;
        for (int i = 0; i < 4; ++i) {
            q[4 + i] = test_random_uniform(&rng, -1.0, 1.0);
        }
        for (int j = 0; j < 7; ++j) {
            u[j] = test_random_uniform(&rng, -2.0, 2.0);
        }
        const double q_s[8] = {q[4], q[5], q[6], q[0], q[1], q[2], q[3], q[7]};
        const double u_s[7] = {u[3], u[4], u[5], u[0], u[1], u[2], u[6]};
        ck_assert_int_eq(tal_state_set_q(r.state, q, 8), TAL_OK);
        ck_assert_int_eq(tal_state_set_u(r.state, u, 7), TAL_OK);
        ck_assert_int_eq(tal_state_set_q(s.state, q_s, 8), TAL_OK);
        ck_assert_int_eq(tal_state_set_u(s.state, u_s, 7), TAL_OK);
        rig_realize(&r, TAL_STAGE_ACCELERATION);
        rig_realize(&s, TAL_STAGE_ACCELERATION);
        assert_same_motion(&r, 1, &s, 2);
        assert_same_motion(&r, 2, &s, 3);
        rig_end(&r);
        rig_end(&s);
    }
}

END_TEST

START_TEST(a_welded_body_is_part_of_its_parent)
{
    test_rng rng = test_rng_seed(300);
    for (int trial = 0; trial < 20; ++trial) {
        const tal_mobod_def base = random_def(&rng), welded = random_def(&rng);
        const tal_mobod_def tip = random_def(&rng);
        rig r, s;
        rig_begin(&r);
        (void)rig_add(&r, 0, "ball", &base, NULL);
        (void)rig_add(&r, 1, "weld", &welded, NULL);
        (void)rig_add(&r, 2, "pin", &tip, NULL); // on the welded body
        rig_finish(&r);

        const tal_xform X_PB = tal_xf_mul(welded.X_PF, tal_xf_inverse(welded.X_BM));
        const tal_mass_props moved = tal_mass_props_transform(&X_PB, &welded.mass);
        tal_mobod_def merged = base, on = tip;
        merged.mass = tal_mass_props_combine(&base.mass, &moved);
        on.X_PF = tal_xf_mul(X_PB, tip.X_PF);
        rig_begin(&s);
        (void)rig_add(&s, 0, "ball", &merged, NULL);
        (void)rig_add(&s, 1, "pin", &on, NULL);
        rig_finish(&s);
        r.gravity = s.gravity = tal_v3(0.3, -9.81, 0.7);

        const double q[] = {0.5, -0.1, 0.7, 0.4, 0.9}, u[] = {1.0, -2.0, 0.5, 1.5};
        ck_assert_int_eq(tal_state_set_q(r.state, q, 5), TAL_OK);
        ck_assert_int_eq(tal_state_set_u(r.state, u, 4), TAL_OK);
        ck_assert_int_eq(tal_state_set_q(s.state, q, 5), TAL_OK);
        ck_assert_int_eq(tal_state_set_u(s.state, u, 4), TAL_OK);
        rig_realize(&r, TAL_STAGE_ACCELERATION);
        rig_realize(&s, TAL_STAGE_ACCELERATION);
        assert_same_motion(&r, 1, &s, 1);
        assert_same_motion(&r, 3, &s, 2);
        const double size = test_largest(tal_state_udot(r.state), 4);
        test_assert_near(tal_state_udot(r.state), tal_state_udot(s.state), 4, tolerance(&r) * size,
                         "udot");
        rig_end(&r);
        rig_end(&s);
    }
}

END_TEST

// With S = [1; pitch] the speeds of a screw are those of a cylinder, u_c = S u_s: what the cylinder
// needs to follow the screw's motion does the same work, S^T f_c = f_s.
START_TEST(a_screw_is_a_cylinder_whose_translation_follows)
{
    test_rng rng = test_rng_seed(400);
    for (int trial = 0; trial < 20; ++trial) {
        const double pitch = test_random_uniform(&rng, -0.5, 0.5);
        const tal_mobod_def one = random_def(&rng), two = random_def(&rng);
        rig r, s;
        rig_begin(&r);
        (void)rig_add(&r, 0, "screw", &one, &pitch);
        (void)rig_add(&r, 1, "pin", &two, NULL);
        rig_finish(&r);
        rig_begin(&s);
        (void)rig_add(&s, 0, "cylinder", &one, NULL);
        (void)rig_add(&s, 1, "pin", &two, NULL);
        rig_finish(&s);
        r.gravity = s.gravity = tal_v3(0.3, -9.81, 0.7);
        const double q[] = {0.8, -0.4}, u[] = {1.7, -0.9}, tau[] = {0.6, -1.1};
        const double q_c[] = {0.8, pitch * 0.8, -0.4}, u_c[] = {1.7, pitch * 1.7, -0.9};
        r.tau = tau;
        ck_assert_int_eq(tal_state_set_q(r.state, q, 2), TAL_OK);
        ck_assert_int_eq(tal_state_set_u(r.state, u, 2), TAL_OK);
        ck_assert_int_eq(tal_state_set_q(s.state, q_c, 3), TAL_OK);
        ck_assert_int_eq(tal_state_set_u(s.state, u_c, 3), TAL_OK);
        rig_realize(&r, TAL_STAGE_ACCELERATION);
        rig_realize(&s, TAL_STAGE_ACCELERATION);

        const double *udot = tal_state_udot(r.state);
        const double udot_c[] = {udot[0], pitch * udot[0], udot[1]};
        tal_spatial_vec F_GB[3];
        double f[3];
        rig_weights(&s, F_GB);
        ck_assert_int_eq(tal_matter_inverse_dynamics(s.matter, s.state, udot_c, F_GB, NULL, f),
                         TAL_OK);
        const double eps = tolerance(&r) * (1.0 + test_largest(f, 3));
        ck_assert_double_eq_tol(f[0] + pitch * f[1], tau[0], eps);
        ck_assert_double_eq_tol(f[2], tau[1], eps);
        rig_end(&r);
        rig_end(&s);
    }
}

END_TEST

// --- reversal ---

static const char *const kinds[] = {
    "weld",      "pin",        "slider",           "screw",
    "universal", "cylinder",   "bend_stretch",     "planar",
    "gimbal",    "bushing",    "translation",      "spherical_coords",
    "ball",      "ellipsoid",  "line_orientation", "free_line",
    "free",      "cantilever", "rack_and_pinion"};

enum {
    NUM_KINDS = sizeof kinds / sizeof kinds[0]
};

static const double kind_params[] = {0.3, 0.5, 0.4};

// Random q and u of body `b`: angles and distances between 0.2 and 1.0, unit quaternions.
static void random_motion(const rig *r, int b, test_rng *rng)
{
    const tal_body_ix body = {b};
    const int nq = tal_body_nq(r->matter, r->state, body);
    const bool quaternion =
        r->matter->bodies[b].ops.has_quaternion && !tal_body_uses_angles(r->matter, r->state, body);
    const tal_quat e = test_random_quat(rng);
    const double unit[] = {e.w, e.x, e.y, e.z};
    for (int i = 0; i < nq; ++i) {
        const double x = test_random_uniform(rng, 0.2, 1.0);
        const double value = quaternion && i < 4 ? unit[i] : x;
        ck_assert_int_eq(tal_body_set_q(r->matter, r->state, body, i, value), TAL_OK);
    }
    for (int j = 0; j < tal_body_nu(r->matter, body); ++j) {
        const double value = test_random_uniform(rng, -2.0, 2.0);
        ck_assert_int_eq(tal_body_set_u(r->matter, r->state, body, j, value), TAL_OK);
    }
}

static void copy_motion(const rig *from, int b, const rig *to, int c)
{
    for (int i = 0; i < tal_body_nq(from->matter, from->state, (tal_body_ix){b}); ++i) {
        const double q = tal_body_q(from->matter, from->state, (tal_body_ix){b}, i);
        ck_assert_int_eq(tal_body_set_q(to->matter, to->state, (tal_body_ix){c}, i, q), TAL_OK);
    }
    for (int j = 0; j < tal_body_nu(from->matter, (tal_body_ix){b}); ++j) {
        const double u = tal_body_u(from->matter, from->state, (tal_body_ix){b}, j);
        ck_assert_int_eq(tal_body_set_u(to->matter, to->state, (tal_body_ix){c}, j, u), TAL_OK);
    }
}

// Two bodies float, connected by one mobilizer. Either can be the parent, when the mobilizer is
// reversed and the frames change places: manual sec. 5.1.
START_TEST(a_reversed_mobilizer_is_the_forward_one_seen_from_the_other_body)
{
    test_rng rng = test_rng_seed(500 + (uint64_t)_i);
    for (int trial = 0; trial < 10; ++trial) {
        tal_mobod_def P = random_def(&rng), C = random_def(&rng);
        const tal_xform X_PF = C.X_PF, X_CM = C.X_BM;
        P.X_PF = P.X_BM = TAL_XFORM_IDENTITY;
        rig r, s;
        rig_begin(&r);
        (void)rig_add(&r, 0, "free", &P, NULL);
        C.direction = TAL_REVERSE;
        (void)rig_add(&r, 1, kinds[_i], &C, kind_params);
        rig_finish(&r);
        rig_begin(&s);
        C.direction = TAL_FORWARD;
        C.X_PF = C.X_BM = TAL_XFORM_IDENTITY;
        P.X_PF = X_CM, P.X_BM = X_PF;
        (void)rig_add(&s, 0, "free", &C, NULL);
        (void)rig_add(&s, 1, kinds[_i], &P, kind_params);
        rig_finish(&s);

        random_motion(&r, 1, &rng);
        random_motion(&r, 2, &rng);
        rig_realize(&r, TAL_STAGE_ACCELERATION);
        copy_motion(&r, 2, &s, 2);
        const tal_xform X_GC = rig_X_GB(&r, 2);
        ck_assert_int_eq(tal_body_fit_q(s.matter, s.state, (tal_body_ix){1}, &X_GC), TAL_OK);
        ck_assert_int_eq(tal_body_fit_u(s.matter, s.state, (tal_body_ix){1}, rig_V_GB(&r, 2)),
                         TAL_OK);
        rig_realize(&s, TAL_STAGE_ACCELERATION);
        assert_same_motion(&r, 1, &s, 2);
        assert_same_motion(&r, 2, &s, 1);
        const int nu = tal_body_nu(r.matter, (tal_body_ix){2});
        const double *udot_r = tal_state_udot(r.state) + 6, *udot_s = tal_state_udot(s.state) + 6;
        test_assert_near(udot_r, udot_s, nu,
                         fmax(tolerance(&r), tolerance(&s)) * (10.0 + test_largest(udot_r, nu)),
                         kinds[_i]);
        rig_end(&r);
        rig_end(&s);
    }
}

END_TEST

// --- numbering ---

enum {
    TREE = 7
};

// Builds the bodies in the given order; `at` tells where each went.
static void build_in_order(rig *r, const tal_mobod_def defs[], const int parents[],
                           const int kind_of[], const int order[], int at[])
{
    rig_begin(r);
    at[0] = 0;
    for (int k = 0; k < TREE; ++k) {
        const int b = order[k];
        at[b] = rig_add(r, at[parents[b]], kinds[kind_of[b]], &defs[b], kind_params).i;
    }
    rig_finish(r);
    r->gravity = tal_v3(0.3, -9.81, 0.7);
}

START_TEST(any_numbering_of_the_bodies_gives_the_same_motion)
{
    static const int parents[] = {-1, 0, 1, 1, 2, 2, 0, 6};
    static const int orders[][TREE] = {
        {1, 2, 3, 4, 5, 6, 7}, {6, 7, 1, 3, 2, 5, 4}, {1, 6, 3, 7, 2, 5, 4}, {6, 1, 2, 4, 3, 7, 5}};
    test_rng rng = test_rng_seed(600 + (uint64_t)_i);
    tal_mobod_def defs[TREE + 1];
    int kind_of[TREE + 1], at[4][TREE + 1];
    for (int b = 1; b <= TREE; ++b) {
        defs[b] = random_def(&rng);
        defs[b].direction = test_random_bits(&rng) % 2 == 0 ? TAL_FORWARD : TAL_REVERSE;
        kind_of[b] = (int)(test_random_bits(&rng) % NUM_KINDS);
    }
    rig r[4];
    for (int k = 0; k < 4; ++k) {
        build_in_order(&r[k], defs, parents, kind_of, orders[k], at[k]);
        for (int b = 1; k == 0 && b <= TREE; ++b) {
            random_motion(&r[0], at[0][b], &rng);
        }
        for (int b = 1; k > 0 && b <= TREE; ++b) {
            copy_motion(&r[0], at[0][b], &r[k], at[k][b]);
        }
        rig_realize(&r[k], TAL_STAGE_ACCELERATION);
        for (int b = 1; b <= TREE; ++b) {
            assert_same_motion(&r[0], at[0][b], &r[k], at[k][b]);
        }
    }
    for (int k = 0; k < 4; ++k) {
        rig_end(&r[k]);
    }
}

END_TEST

// --- orientation: any length of quaternion, angles or quaternion ---

static void build_floating(rig *r, test_rng *rng)
{
    rig_begin(r);
    static const char *const turning[] = {"free",      "ball", "line_orientation",
                                          "ellipsoid", "pin",  "free_line"};
    for (int b = 1; b <= 6; ++b) {
        tal_mobod_def def = random_def(rng);
        if (b % 3 == 0) def.direction = TAL_REVERSE;
        (void)rig_add(r, b / 2, turning[b - 1], &def, kind_params);
    }
    rig_finish(r);
    r->gravity = tal_v3(0.3, -9.81, 0.7);
    for (int b = 1; b <= 6; ++b) {
        random_motion(r, b, rng);
    }
}

START_TEST(the_length_of_a_quaternion_does_not_matter)
{
    test_rng rng = test_rng_seed(700);
    rig r;
    build_floating(&r, &rng);
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    const int nu = tal_state_nu(r.state);
    double before[MAX_N];
    memcpy(before, tal_state_udot(r.state), (size_t)nu * sizeof(double));

    const double lengths[] = {1e-3, 0.5, 3.0, 1e6};
    for (int k = 0; k < 4; ++k) {
        for (int b = 1; b <= 6; ++b) {
            for (int i = 0; i < 4 && r.matter->bodies[b].ops.has_quaternion; ++i) {
                const double e = tal_body_q(r.matter, r.state, (tal_body_ix){b}, i);
                ck_assert_int_eq(
                    tal_body_set_q(r.matter, r.state, (tal_body_ix){b}, i, lengths[k] * e), TAL_OK);
            }
        }
        rig_realize(&r, TAL_STAGE_ACCELERATION);
        test_assert_near(tal_state_udot(r.state), before, nu,
                         tolerance(&r) * test_largest(before, nu), "udot");
        // the error of each is its length minus one (manual sec. 10.1)
        ck_assert_double_gt(fabs(tal_state_qerr(r.state)[0]), 0.4);
        ck_assert_int_eq(tal_matter_normalize_quaternions(r.matter, r.state), TAL_OK);
        rig_realize(&r, TAL_STAGE_ACCELERATION);
        test_assert_near(tal_state_udot(r.state), before, nu,
                         tolerance(&r) * test_largest(before, nu), "udot");
        const double none[5] = {0.0};
        test_assert_near(tal_state_qerr(r.state), none, 5, 2.0 * DBL_EPSILON, "qerr");
    }
    rig_end(&r);
}

END_TEST

START_TEST(angles_and_quaternions_describe_the_same_motion)
{
    test_rng rng = test_rng_seed(800 + (uint64_t)_i);
    rig r;
    build_floating(&r, &rng);
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    const int nu = tal_state_nu(r.state), nq = tal_state_nq(r.state);
    tal_xform X[7];
    double udot[MAX_N], q[MAX_N];
    memcpy(udot, tal_state_udot(r.state), (size_t)nu * sizeof(double));
    memcpy(q, tal_state_q(r.state), (size_t)nq * sizeof(double));
    for (int b = 1; b <= 6; ++b) {
        X[b] = rig_X_GB(&r, b);
    }
    // near cos q1 = 0 the angles lose digits
    ck_assert_int_eq(tal_matter_set_use_angles(r.matter, r.state, true), TAL_OK);
    ck_assert_int_eq(tal_state_stage(r.state), TAL_STAGE_MODEL);
    ck_assert_int_eq(tal_state_nq(r.state), nq - 5);
    double near = 1.0;
    for (int b = 1; b <= 6; ++b) {
        if (b == 5) continue;
        ck_assert(tal_body_uses_angles(r.matter, r.state, (tal_body_ix){b}));
        near = fmin(near, fabs(cos(tal_body_q(r.matter, r.state, (tal_body_ix){b}, 1))));
    }
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    const double blur = 1e-14 / near;
    for (int b = 1; b <= 6; ++b) {
        const tal_xform Y = rig_X_GB(&r, b);
        test_assert_m3_near(Y.R, X[b].R, blur);
        test_assert_v3_near(Y.p, X[b].p, blur * 8.0);
    }
    const double size = test_largest(udot, nu);
    test_assert_near(tal_state_udot(r.state), udot, nu, (tolerance(&r) + 100.0 * blur) * size,
                     "udot");

    // and back: the same quaternions, up to their sign
    ck_assert_int_eq(tal_matter_set_use_angles(r.matter, r.state, false), TAL_OK);
    ck_assert_int_eq(tal_state_nq(r.state), nq);
    for (int b = 1; b <= 6; ++b) {
        const int q0 = tal_body_q_start(r.matter, r.state, (tal_body_ix){b});
        const int n = tal_body_nq(r.matter, r.state, (tal_body_ix){b});
        const double *back = tal_state_q(r.state) + q0;
        double dot = 0.0;
        for (int i = 0; i < 4 && b != 5; ++i) {
            dot += back[i] * q[q0 + i];
        }
        for (int i = 0; i < n; ++i) {
            const bool turns = b != 5 && i < 4;
            const double value = turns && dot < 0.0 ? -back[i] : back[i];
            ck_assert_double_le(fabs(value - q[q0 + i]), turns ? blur : 0.0);
        }
    }
    rig_end(&r);
}

END_TEST

// --- far away ---

// The distances between bodies are what matters, and 1 km away they are known to 1e-13 m: the
// promise is 1e-9, poses are formed from Ground outward and never subtracted.
START_TEST(a_kilometre_from_the_origin_nothing_changes)
{
    test_rng rng = test_rng_seed(900 + (uint64_t)_i);
    rig near, far;
    tal_mobod_def defs[TREE + 1];
    const tal_vec3 away = tal_v3_scale(1000.0, test_random_unit(&rng));
    for (int b = 1; b <= TREE; ++b) {
        defs[b] = random_def(&rng);
    }
    rig *both[] = {&near, &far};
    for (int k = 0; k < 2; ++k) {
        rig_begin(both[k]);
        for (int b = 1; b <= TREE; ++b) {
            tal_mobod_def def = defs[b];
            if (k == 1 && b / 2 == 0) def.X_PF.p = tal_v3_add(def.X_PF.p, away);
            (void)rig_add(both[k], b / 2, kinds[(3 * b + _i) % NUM_KINDS], &def, kind_params);
        }
        rig_finish(both[k]);
        both[k]->gravity = tal_v3(0.3, -9.81, 0.7);
    }
    for (int b = 1; b <= TREE; ++b) {
        random_motion(&near, b, &rng);
        copy_motion(&near, b, &far, b);
    }
    rig_realize(&near, TAL_STAGE_ACCELERATION);
    rig_realize(&far, TAL_STAGE_ACCELERATION);
    const int nu = tal_state_nu(near.state);
    const double *udot = tal_state_udot(near.state);
    test_assert_near(tal_state_udot(far.state), udot, nu, 1e-9 * test_largest(udot, nu), "udot");
    rig_end(&near);
    rig_end(&far);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter: equivalence");
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 60.0);
    tcase_add_loop_test(theory, a_compound_mobilizer_is_its_chain_of_pins_and_sliders, 0,
                        (int)(sizeof compounds / sizeof compounds[0]));
    tcase_add_test(theory, free_is_translation_and_ball);
    tcase_add_test(theory, a_welded_body_is_part_of_its_parent);
    tcase_add_test(theory, a_screw_is_a_cylinder_whose_translation_follows);
    tcase_add_loop_test(theory, a_reversed_mobilizer_is_the_forward_one_seen_from_the_other_body, 0,
                        NUM_KINDS);
    tcase_add_loop_test(theory, any_numbering_of_the_bodies_gives_the_same_motion, 0, 40);
    tcase_add_test(theory, the_length_of_a_quaternion_does_not_matter);
    tcase_add_loop_test(theory, angles_and_quaternions_describe_the_same_motion, 0, 20);
    tcase_add_loop_test(theory, a_kilometre_from_the_origin_nothing_changes, 0, 20);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
