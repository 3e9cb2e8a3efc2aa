// RBDA sec. 7.4 and 7.5 written out: the articulated body by elimination from all equations of two
// bodies (entry 7.11 of the inventory), a four-bar by divide and conquer with two joints in one
// assembly (7.14), a spring on a loop joint (8.10); and which algorithm keeps more digits in a long
// chain (10.04). All in coordinates of Ground, about its origin, angular parts first.
#include "talus_test.h"

#include <talus/common/linalg.h>
#include <talus/forces.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 40
};

// A small dense matrix, column by column.
typedef struct dense {
    int rows, cols;
    double a[MOST * MOST];
} dense;

static dense zeros(int rows, int cols)
{
    return (dense){.rows = rows, .cols = cols, .a = {0.0}};
}

static double *at(dense *A, int i, int j)
{
    return &A->a[i + A->rows * j];
}

static double get(const dense *A, int i, int j)
{
    return A->a[i + A->rows * j];
}

static dense product(const dense *A, bool transposed, const dense *B)
{
    dense out = zeros(transposed ? A->cols : A->rows, B->cols);
    for (int i = 0; i < out.rows; ++i) {
        for (int j = 0; j < out.cols; ++j) {
            for (int k = 0; k < B->rows; ++k) {
                *at(&out, i, j) += (transposed ? get(A, k, i) : get(A, i, k)) * get(B, k, j);
            }
        }
    }
    return out;
}

static dense sum(double s, const dense *A, const dense *B)
{
    dense out = *B;
    for (int k = 0; k < B->rows * B->cols; ++k) {
        out.a[k] += s * A->a[k];
    }
    return out;
}

// Writes A at (i, j) of a larger one.
static void put(dense *in, int i, int j, double s, const dense *A)
{
    for (int r = 0; r < A->rows; ++r) {
        for (int c = 0; c < A->cols; ++c) {
            *at(in, i + r, j + c) = s * get(A, r, c);
        }
    }
}

static dense part_of(const dense *A, int i, int j, int rows, int cols)
{
    dense out = zeros(rows, cols);
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) {
            *at(&out, r, c) = get(A, i + r, j + c);
        }
    }
    return out;
}

// A^+ B: the shortest solution where A is singular.
static dense solve(const dense *A, const dense *B)
{
    double a[MOST * MOST], b[MOST * MOST] = {0.0}, work[8 * MOST * MOST];
    int iwork[8 * MOST];
    dense out = zeros(A->cols, B->cols);
    memcpy(a, A->a, sizeof a);
    memcpy(b, B->a, sizeof b);
    ck_assert_uint_le(tal_cod_work_size(A->rows, A->cols), 8 * MOST * MOST);
    ck_assert_uint_le(tal_cod_iwork_size(A->rows, A->cols), 8 * MOST);
    tal_cod cod;
    ck_assert_int_eq(
        tal_cod_factor(&cod, tal_matrix_view(a, A->rows, A->cols), 1e-11, work, iwork, NULL),
        TAL_OK);
    ck_assert_int_eq(tal_cod_solve(&cod, tal_matrix_view(b, B->rows, B->cols),
                                   tal_matrix_view(out.a, A->cols, B->cols), NULL),
                     TAL_OK);
    return out;
}

static dense column(tal_spatial_vec V)
{
    dense out = zeros(6, 1);
    const double a[6] = {V.w.x, V.w.y, V.w.z, V.v.x, V.v.y, V.v.z};
    memcpy(out.a, a, sizeof a);
    return out;
}

static tal_spatial_vec spatial(const dense *v)
{
    return tal_sv(tal_v3(v->a[0], v->a[1], v->a[2]), tal_v3(v->a[3], v->a[4], v->a[5]));
}

static dense identity(int n)
{
    dense out = zeros(n, n);
    for (int i = 0; i < n; ++i) {
        *at(&out, i, i) = 1.0;
    }
    return out;
}

// Mass properties about the origin: momentum for each unit of velocity.
static dense inertia(const tal_mass_props *m)
{
    dense out = zeros(6, 6);
    for (int k = 0; k < 6; ++k) {
        const dense all = identity(6), unit = part_of(&all, 0, k, 6, 1);
        const tal_spatial_vec V = spatial(&unit);
        const tal_vec3 p = tal_v3_scale(m->mass, tal_v3_add(V.v, tal_v3_cross(V.w, m->com)));
        const tal_vec3 h = tal_v3_scale(m->mass, m->com);
        const tal_vec3 L = tal_v3_add(tal_s3_mul_v3(m->inertia, V.w), tal_v3_cross(h, V.v));
        const dense momentum = column(tal_sv(L, p));
        put(&out, 0, k, 1.0, &momentum);
    }
    return out;
}

// --- sec. 7.4 ---

// Two bodies and a joint along s between them, all equations at once, in RBDA's order: the forces
// across the joint, the acceleration of body 2, that of the joint. Eliminating them leaves what
// body 1 feels.
//
//     I2 a2 - f = -p2,    a2 - s qdd = a1 + c,    s . f = tau,    handle: I1 a1 + p1 + f
START_TEST(elimination_leaves_the_articulated_body)
{
    test_rng rng = test_rng_seed(74);
    for (int round = 0; round < 100; ++round) {
        const tal_mass_props m1 = test_random_mass_props(&rng), m2 = test_random_mass_props(&rng);
        const dense I1 = inertia(&m1), I2 = inertia(&m2), one = identity(6);
        const dense s = column(test_random_spatial_vec(&rng));
        const dense c = column(test_random_spatial_vec(&rng));
        const dense p1 = column(test_random_spatial_vec(&rng));
        const dense p2 = column(test_random_spatial_vec(&rng));
        const double tau = test_random_uniform(&rng, -1.0, 1.0);
        dense A = zeros(13, 13), b = zeros(13, 7); // x = {f, a2, qdd}; a1 = 0 and unit ones
        put(&A, 0, 0, -1.0, &one);
        put(&A, 0, 6, 1.0, &I2);
        put(&A, 6, 6, 1.0, &one);
        put(&A, 6, 12, -1.0, &s);
        put(&b, 0, 0, -1.0, &p2);
        put(&b, 6, 0, 1.0, &c);
        *at(&b, 12, 0) = tau;
        for (int k = 0; k < 6; ++k) {
            *at(&A, 12, k) = s.a[k];
            *at(&b, 6 + k, k + 1) = 1.0;
        }
        const dense x = solve(&A, &b);
        const dense f = part_of(&x, 0, 1, 6, 6), f0 = part_of(&x, 0, 0, 6, 1);
        const dense IA = sum(1.0, &f, &I1), pA = sum(1.0, &f0, &p1);
        // RBDA eqs. 7.21 to 7.24
        const dense U = product(&I2, false, &s), D = product(&s, true, &U);
        dense UT = zeros(1, 6);
        memcpy(UT.a, U.a, 6 * sizeof(double));
        const dense UUT = product(&U, false, &UT), Ia = sum(-1.0 / D.a[0], &UUT, &I2);
        const dense closed_I = sum(1.0, &Ia, &I1), Iac = product(&Ia, false, &c);
        const dense sp = product(&s, true, &p2), pc = sum(1.0, &Iac, &p2);
        const dense push = sum((tau - sp.a[0]) / D.a[0], &U, &pc), closed_p = sum(1.0, &push, &p1);
        // conditions of random inertias are below 1e4
        const double size = 1.0 + test_largest(closed_I.a, 36) + test_largest(closed_p.a, 6);
        test_assert_near(IA.a, closed_I.a, 36, 1e-10 * size, "I^A");
        test_assert_near(pA.a, closed_p.a, 6, 1e-10 * size, "p^A");
    }
}

END_TEST

// --- sec. 7.5: more than one joint in an assembly ---

// A part with a handle at each of its ends: a = Phi f + b, all twelve at once.
typedef struct part {
    dense Phi, b; // 12 x 12, 12 x 1
} part;

// A pin about z at (x, y), between a part that moves with `v` and the next, at rate u: axis, what
// is perpendicular to it, and the acceleration across it that velocities make.
typedef struct joint {
    dense s, T, c;
} joint;

static joint pin_at(double x, double y, tal_spatial_vec v, double u)
{
    const tal_vec3 z = {0.0, 0.0, 1.0};
    const tal_spatial_vec s = tal_sv(z, tal_v3_cross(tal_v3(x, y, 0.0), z));
    joint j = {column(s), zeros(6, 5), column(tal_sv_scale(u, tal_sv_cross_motion(v, s)))};
    // forces that do no work along s: those through the point, couples across z
    const tal_vec3 p = tal_v3(x, y, 0.0);
    for (int k = 0; k < 5; ++k) {
        const tal_vec3 e = tal_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
        const dense f = column(k < 3 ? tal_sv(tal_v3_cross(p, e), e) : tal_sv(e, TAL_VEC3_ZERO));
        put(&j.T, 0, k, 1.0, &f);
    }
    return j;
}

// One body is a part: Phi = I^-1 at both ends, b = -I^-1 (v x* I v - what pushes).
static part leaf(const tal_mass_props *m, tal_spatial_vec v, tal_spatial_vec push)
{
    const dense I = inertia(m), one = identity(6), Phi = solve(&I, &one);
    const dense V = column(v), h = product(&I, false, &V);
    const dense f = column(tal_sv_sub(push, tal_sv_cross_force(v, spatial(&h))));
    const dense a = product(&Phi, false, &f);
    part out = {zeros(12, 12), zeros(12, 1)};
    for (int k = 0; k < 4; ++k) {
        put(&out.Phi, 6 * (k % 2), 6 * (k / 2), 1.0, &Phi);
    }
    put(&out.b, 0, 0, 1.0, &a);
    put(&out.b, 6, 0, 1.0, &a);
    return out;
}

// RBDA eqs. 7.57 to 7.63 for any numbers of handles: those of A and B that `on_A` and `on_B` choose
// are joined by joints with forces T lambda, on B; on A the opposite.
static dense forces_between(const dense *Phi, const dense *b, const dense *G, const dense *wanted)
{
    // G^T (Phi G lambda + b) = wanted: the accelerations across the joints
    const dense PG = product(Phi, false, G), Y = product(G, true, &PG), Gb = product(G, true, b);
    const dense rest = sum(-1.0, &Gb, wanted);
    return solve(&Y, &rest);
}

static part join(const part *A, const part *B, const joint *j)
{
    dense Phi = zeros(24, 24), b = zeros(24, 1), G = zeros(24, 5);
    put(&Phi, 0, 0, 1.0, &A->Phi);
    put(&Phi, 12, 12, 1.0, &B->Phi);
    put(&b, 0, 0, 1.0, &A->b);
    put(&b, 12, 0, 1.0, &B->b);
    put(&G, 6, 0, -1.0, &j->T);
    put(&G, 12, 0, 1.0, &j->T);
    const dense wanted = product(&j->T, true, &j->c);
    const dense lambda = forces_between(&Phi, &b, &G, &wanted);
    const dense PG = product(&Phi, false, &G), Y = product(&G, true, &PG);
    dense GTP = zeros(5, 24);
    for (int k = 0; k < 5 * 24; ++k) {
        GTP.a[k] = get(&PG, k / 5, k % 5); // Phi is symmetric
    }
    const dense W = solve(&Y, &GTP), drop = product(&PG, false, &W);
    const dense all = sum(-1.0, &drop, &Phi), push = product(&PG, false, &lambda);
    const dense ball = sum(1.0, &push, &b);
    part out = {zeros(12, 12), zeros(12, 1)};
    for (int k = 0; k < 4; ++k) { // handles 1 and 4
        const int r = k % 2, c = k / 2;
        const dense block = part_of(&all, 18 * r, 18 * c, 6, 6);
        put(&out.Phi, 6 * r, 6 * c, 1.0, &block);
    }
    const dense b1 = part_of(&ball, 0, 0, 6, 1), b4 = part_of(&ball, 18, 0, 6, 1);
    put(&out.b, 0, 0, 1.0, &b1);
    put(&out.b, 6, 0, 1.0, &b4);
    return out;
}

static tal_mass_props bar(double length, double x, double y, double angle)
{
    const double I = length * length * length / 12.0;
    const tal_mass_props own = {length, TAL_VEC3_ZERO, tal_s3_diag(0.01, I, I)};
    const tal_vec3 p = tal_v3(x + 0.5 * length * cos(angle), y + 0.5 * length * sin(angle), 0.0);
    const tal_xform X = tal_xf(tal_rotation_about(TAL_AXIS_Z, angle), p);
    return tal_mass_props_transform(&X, &own);
}

static tal_spatial_vec weight(const tal_mass_props *m)
{
    const tal_vec3 f = tal_v3(0.0, -9.81 * m->mass, 0.0);
    return tal_sv(tal_v3_cross(m->com, f), f);
}

// The bars of test_linkages.c: three in a chain are one part with two handles, which two pins at
// once tie to Ground. Of their ten equations, the plane makes three repeat others: the shortest
// forces are taken. The accelerations are those of RBDA's chapter 8 (inventory 13.4).
START_TEST(a_four_bar_is_two_pins_in_one_assembly)
{
    const double q[] = {0.6, -0.14766890996919466, 1.2840863618819323};
    const double u[] = {0.8, -1.1420119246142548, 0.10616866506014545};
    const double udot[] = {-11.489540416420912, 16.832188053250974, -0.7530612042197866};
    const double a2 = q[0] + q[1], x2 = cos(q[0]), y2 = sin(q[0]);
    const double x4 = x2 + 2.0 * cos(a2), y4 = y2 + 2.0 * sin(a2);
    const tal_mass_props m[] = {bar(1.0, 0.0, 0.0, q[0]), bar(2.0, x2, y2, a2),
                                bar(1.5, 2.2, 0.0, q[2])};
    const tal_vec3 z = {0.0, 0.0, 1.0}, base = {2.2, 0.0, 0.0}, elbow = {x2, y2, 0.0};
    const tal_spatial_vec none = {TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    const tal_spatial_vec v1 = tal_sv_scale(u[0], tal_sv(z, TAL_VEC3_ZERO));
    const tal_spatial_vec v2 =
        tal_sv_add(v1, tal_sv_scale(u[1], tal_sv(z, tal_v3_cross(elbow, z))));
    const tal_spatial_vec v3 = tal_sv_scale(u[2], tal_sv(z, tal_v3_cross(base, z)));
    const joint first = pin_at(0.0, 0.0, none, u[0]), second = pin_at(x2, y2, v1, u[1]);
    const joint third = pin_at(x4, y4, v2, u[2] - u[0] - u[1]); // turns body 3 against body 2
    const joint last = pin_at(2.2, 0.0, none, u[2]);
    const tal_spatial_vec motor = tal_sv(tal_v3_scale(0.5, z), TAL_VEC3_ZERO);
    const part B1 = leaf(&m[0], v1, tal_sv_add(weight(&m[0]), motor));
    const part B2 = leaf(&m[1], v2, weight(&m[1])), B3 = leaf(&m[2], v3, weight(&m[2]));
    const part B12 = join(&B1, &B2, &second), all = join(&B12, &B3, &third);
    dense G = zeros(12, 10), wanted = zeros(10, 1);
    put(&G, 0, 0, 1.0, &first.T);
    put(&G, 6, 5, 1.0, &last.T);
    const dense w1 = product(&first.T, true, &first.c), w2 = product(&last.T, true, &last.c);
    put(&wanted, 0, 0, 1.0, &w1);
    put(&wanted, 5, 0, 1.0, &w2);
    const dense lambda = forces_between(&all.Phi, &all.b, &G, &wanted);
    const dense f = product(&G, false, &lambda), moved = product(&all.Phi, false, &f);
    const dense a = sum(1.0, &moved, &all.b);
    // body 1 turns about the first pin, body 3 about the last: their accelerations along z
    ck_assert_double_eq_tol(a.a[2], udot[0], 1e-11);
    ck_assert_double_eq_tol(a.a[8], udot[2], 1e-11);
    for (int k = 0; k < 2; ++k) { // and nothing else
        const joint *j = k == 0 ? &first : &last;
        const dense own = part_of(&a, 6 * k, 0, 6, 1), left = sum(-own.a[2], &j->s, &own);
        const dense rest = sum(-1.0, &j->c, &left);
        ck_assert_double_lt(test_largest(rest.a, 6), 1e-11);
    }
}

END_TEST

// --- sec. 3.7: all bodies and all joints at once ---

// The bars of the four-bar as three bodies and four pins of any graph, with accelerations of each
// body and the forces of each joint as unknowns (RBDA eqs. 3.65 to 3.74, entry 3.22):
//
//     I a - P T lambda = P T_a tau - p,      T^T P^T a = T^T c
//
// where P says which body a joint begins and ends on. Accelerations are those of the reduced
// equations, with the loop and, without the fourth pin, as a tree.
START_TEST(all_bodies_and_joints_at_once_move_as_reduced_equations)
{
    const double q[] = {0.6, -0.14766890996919466, 1.2840863618819323};
    const double u[] = {0.8, -1.1420119246142548, 0.10616866506014545};
    const double a2 = q[0] + q[1], x2 = cos(q[0]), y2 = sin(q[0]);
    const double x4 = x2 + 2.0 * cos(a2), y4 = y2 + 2.0 * sin(a2);
    const tal_mass_props m[] = {bar(1.0, 0.0, 0.0, q[0]), bar(2.0, x2, y2, a2),
                                bar(1.5, 2.2, 0.0, q[2])};
    const tal_vec3 z = {0.0, 0.0, 1.0}, base = {2.2, 0.0, 0.0}, elbow = {x2, y2, 0.0};
    const tal_spatial_vec none = {TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    const tal_spatial_vec v1 = tal_sv_scale(u[0], tal_sv(z, TAL_VEC3_ZERO));
    const tal_spatial_vec v[] = {
        v1, tal_sv_add(v1, tal_sv_scale(u[1], tal_sv(z, tal_v3_cross(elbow, z)))),
        tal_sv_scale(u[2], tal_sv(z, tal_v3_cross(base, z)))};
    const joint joints[] = {pin_at(0.0, 0.0, none, u[0]), pin_at(x2, y2, v1, u[1]),
                            pin_at(2.2, 0.0, none, u[2]), pin_at(x4, y4, v[1], u[2] - u[0] - u[1])};
    const int begins[] = {-1, 0, -1, 1}, ends[] = {0, 1, 2, 2};
    for (int num = 3; num <= 4; ++num) { // pins: a tree, and the loop
        dense A = zeros(18 + 5 * num, 18 + 5 * num), b = zeros(18 + 5 * num, 1);
        for (int i = 0; i < 3; ++i) {
            const dense I = inertia(&m[i]), V = column(v[i]), h = product(&I, false, &V);
            const dense p =
                column(tal_sv_sub(weight(&m[i]), tal_sv_cross_force(v[i], spatial(&h))));
            put(&A, 6 * i, 6 * i, 1.0, &I);
            put(&b, 6 * i, 0, 1.0, &p);
        }
        *at(&b, 2, 0) += 0.5; // the motor, from Ground
        for (int j = 0; j < num; ++j) {
            const dense wanted = product(&joints[j].T, true, &joints[j].c);
            put(&b, 18 + 5 * j, 0, 1.0, &wanted);
            for (int side = 0; side < 2; ++side) {
                const int body = side == 0 ? begins[j] : ends[j];
                const double P = side == 0 ? -1.0 : 1.0;
                for (int k = 0; k < 30 && body >= 0; ++k) {
                    const double T = joints[j].T.a[k];
                    *at(&A, 6 * body + k % 6, 18 + 5 * j + k / 6) = -P * T;
                    *at(&A, 18 + 5 * j + k / 6, 6 * body + k % 6) = P * T;
                }
            }
        }
        const dense x = solve(&A, &b);
        const double turned[] = {x.a[2], x.a[8] - x.a[2], x.a[14]};
        if (num == 4) {
            const double udot[] = {-11.489540416420912, 16.832188053250974, -0.7530612042197866};
            test_assert_near(turned, udot, 3, 1e-11, "accelerations of the loop");
            continue;
        }
        // each tree alone: the third bar is a pendulum, I a = -m g x with I = m L^2 / 3 (+ 0)
        const double alone = -1.5 * 9.81 * 0.75 * cos(q[2]) / (1.5 * 1.5 * 1.5 / 3.0);
        ck_assert_double_eq_tol(turned[2], alone, 1e-12);
    }
}

END_TEST

// --- sec. 8.6 ---

// A spring and damper on the pin that closes a four-bar is a bushing between its frames; the same
// torque, applied to both bodies by hand, gives the same accelerations and loop forces.
START_TEST(a_spring_on_a_loop_joint_is_a_pair_of_torques)
{
    double udot[2][3], lambda[2][5];
    for (int side = 0; side < 2; ++side) {
        tal_system *system = tal_system_create(NULL);
        tal_matter *matter = tal_matter_create(system);
        tal_forces *forces = tal_forces_create(system, matter);
        const double length[] = {1.0, 2.0, 1.5}, x[] = {0.0, 1.0, 2.2};
        tal_body_ix bodies[3];
        for (int i = 0; i < 3; ++i) {
            tal_mobod_def def = tal_mobod_def_default();
            def.mass = bar(length[i], 0.0, 0.0, 0.0);
            def.X_PF = tal_xf_from_p(tal_v3(x[i], 0.0, 0.0));
            bodies[i] = tal_matter_add_pin(matter, i == 1 ? bodies[0] : TAL_GROUND, &def);
        }
        const tal_xform X_1 = tal_xf_from_p(tal_v3(2.0, 0.0, 0.0));
        const tal_xform X_2 = tal_xf_from_p(tal_v3(1.5, 0.0, 0.0));
        const tal_constraint_def def = tal_constraint_between(bodies[1], bodies[2]);
        const tal_constraint_ix pin = tal_constraint_add_loop_pin(matter, &def, &X_1, &X_2);
        const double k = 7.0, c = 0.6;
        tal_force_ix by_hand = {-1};
        if (side == 0) {
            tal_bushing_def spring = tal_bushing_def_default();
            spring.body1 = bodies[1], spring.body2 = bodies[2];
            spring.X_B1F = X_1, spring.X_B2M = X_2;
            spring.stiffness[2] = k, spring.damping[2] = c;
            (void)tal_forces_add_bushing(forces, "spring", &spring);
        } else {
            by_hand = tal_forces_add_discrete(forces, "by hand");
        }
        tal_state *state = NULL;
        ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
        ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
        const double q[] = {0.6, -0.14766890996919466, 1.2840863618819323};
        const double u[] = {0.8, -1.1420119246142548, 0.10616866506014545};
        ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_MODEL), TAL_OK);
        ck_assert_int_eq(tal_state_set_q(state, q, 3), TAL_OK);
        ck_assert_int_eq(tal_state_set_u(state, u, 3), TAL_OK);
        if (side == 1) {
            double angle, rate;
            ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
            ck_assert_int_eq(tal_constraint_calc_coordinates(matter, state, pin, &angle, &rate),
                             TAL_OK);
            ck_assert_double_eq_tol(angle, q[2] - q[0] - q[1], 1e-14);
            const double torque = -k * angle - c * rate;
            for (int i = 1; i < 3; ++i) {
                const tal_vec3 m = tal_v3(0.0, 0.0, i == 2 ? torque : -torque);
                ck_assert_int_eq(tal_discrete_set_body_force(forces, state, by_hand, bodies[i],
                                                             tal_sv(m, TAL_VEC3_ZERO)),
                                 TAL_OK);
            }
        }
        ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_ACCELERATION), TAL_OK);
        memcpy(udot[side], tal_state_udot(state), sizeof udot[side]);
        memcpy(lambda[side], tal_state_multipliers(state), sizeof lambda[side]);
        tal_state_destroy(state);
        tal_system_destroy(system);
    }
    ck_assert_double_gt(fabs(udot[0][0]), 0.1);
    test_assert_near(udot[0], udot[1], 3, 1e-13 * test_largest(udot[1], 3), "udot");
    test_assert_near(lambda[0], lambda[1], 5, 1e-13 * test_largest(lambda[1], 5), "lambda");
}

END_TEST

// --- sec. 10.1 ---

// Accelerations of a chain of a thousand pins, from the forces they need, by articulated bodies
// and by the factors of M: RBDA says that the first keep more digits.
START_TEST(articulated_bodies_keep_more_digits_than_factors_of_M)
{
    enum {
        N = 1000
    };

    test_rng rng = test_rng_seed(104);
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < N; ++i) {
        tal_mobod_def link = tal_mobod_def_default();
        link.mass = (tal_mass_props){1.0, {0.5, 0.0, 0.0}, tal_s3_diag(0.01, 0.34, 0.34)};
        link.X_PF = tal_xf_from_p(tal_v3(i == 0 ? 0.0 : 1.0, 0.0, 0.0));
        link.X_PF.R = tal_rotation_about(TAL_AXIS_X, test_random_uniform(&rng, -1.5, 1.5));
        body = tal_matter_add_pin(matter, body, &link);
    }
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    static double udot[N], f[N], found[N], solved[N];
    static int lambda[N];
    double *M = malloc(sizeof(double) * N * N);
    for (int i = 0; i < N; ++i) {
        tal_state_upd_q(state)[i] = test_random_uniform(&rng, -1.5, 1.5);
        udot[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_matter_inverse_dynamics(matter, state, udot, NULL, NULL, f), TAL_OK);
    ck_assert_int_eq(tal_matter_forward_dynamics(matter, state, NULL, f, found, NULL), TAL_OK);
    const tal_matrix H = tal_matrix_view(M, N, N);
    ck_assert_int_eq(tal_matter_calc_M(matter, state, H), TAL_OK);
    ck_assert_int_eq(tal_matter_calc_lambda(matter, lambda), TAL_OK);
    memcpy(solved, f, sizeof f);
    ck_assert_int_eq(tal_tree_factor_LTDL(lambda, H, NULL), TAL_OK);
    ck_assert_int_eq(tal_tree_solve_LTDL(lambda, H, tal_matrix_view(solved, N, 1)), TAL_OK);
    const double bodies = test_difference(found, udot, N),
                 factors = test_difference(solved, udot, N);
    ck_assert_msg(bodies <= factors, "%g by articulated bodies, %g by factors of M", bodies,
                  factors);
    ck_assert_double_lt(bodies, 1e-6);
    free(M);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("theory/book_loops");
    TCase *tests = tcase_create("tests");
    tcase_add_test(tests, elimination_leaves_the_articulated_body);
    tcase_add_test(tests, a_four_bar_is_two_pins_in_one_assembly);
    tcase_add_test(tests, all_bodies_and_joints_at_once_move_as_reduced_equations);
    tcase_add_test(tests, a_spring_on_a_loop_joint_is_a_pair_of_torques);
    tcase_add_test(tests, articulated_bodies_keep_more_digits_than_factors_of_M);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
