// Algorithms of RBDA that Talus does not use, written out with dense matrices: assembly of
// articulated bodies in three ways (tab. 7.2), divide and conquer (eq. 7.63), the Jacobian of a
// floating base (ex. 9.4), and the example of a far origin (sec. 10.1). All in coordinates of
// Ground, about its origin, angular parts first.
#include "talus_test.h"

#include <talus/common/lapack.h>
#include <talus/common/linalg.h>
#include <talus/matter.h>

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST = 8 // pins of a chain
};

// ---- 6 x n matrices, by columns

typedef struct six {
    double x[6];
} six;

typedef struct mat {
    double x[36]; // column by column
} mat;

static six six_of(tal_spatial_vec v)
{
    return (six){{v.w.x, v.w.y, v.w.z, v.v.x, v.v.y, v.v.z}};
}

static six mul(const mat *A, six v)
{
    six out = {{0}};
    for (int k = 0; k < 36; ++k) {
        out.x[k % 6] += A->x[k] * v.x[k / 6];
    }
    return out;
}

static mat mul_mat(const mat *A, const mat *B)
{
    mat out = {{0}};
    for (int j = 0; j < 6; ++j) {
        for (int k = 0; k < 36; ++k) {
            out.x[k % 6 + 6 * j] += A->x[k] * B->x[k / 6 + 6 * j];
        }
    }
    return out;
}

static mat axpy_mat(double a, const mat *A, const mat *B)
{
    mat out;
    for (int k = 0; k < 36; ++k) {
        out.x[k] = a * A->x[k] + B->x[k];
    }
    return out;
}

static six axpy(double a, six x, six y)
{
    for (int k = 0; k < 6; ++k) {
        y.x[k] += a * x.x[k];
    }
    return y;
}

static double dot(six a, six b)
{
    double sum = 0.0;
    for (int k = 0; k < 6; ++k) {
        sum += a.x[k] * b.x[k];
    }
    return sum;
}

static mat transposed(const mat *A)
{
    mat out;
    for (int k = 0; k < 36; ++k) {
        out.x[k] = A->x[6 * (k % 6) + k / 6];
    }
    return out;
}

// The inverse of a symmetric positive definite matrix.
static mat inverse(mat A)
{
    mat out = {{0}};
    for (int k = 0; k < 6; ++k) {
        out.x[7 * k] = 1.0;
    }
    ck_assert_int_eq(tal_chol_factor(tal_matrix_view(A.x, 6, 6), NULL, NULL), TAL_OK);
    ck_assert_int_eq(tal_chol_solve(tal_matrix_view(A.x, 6, 6), tal_matrix_view(out.x, 6, 6), NULL),
                     TAL_OK);
    return out;
}

// T (T^T A T)^-1 T^T with five columns of T that s is perpendicular to.
static mat inverse_across(const mat *A, six s)
{
    double T[6][5], Y[25] = {0.0};
    const double size = sqrt(dot(s, s));
    for (int j = 0, k = 0, most = 0; k < 6; ++k) { // all but the largest component of s
        for (int i = 0; i < 6; ++i) {
            if (fabs(s.x[i]) > fabs(s.x[most])) most = i;
        }
        if (k == most) continue;
        for (int i = 0; i < 6; ++i) {
            T[i][j] = i == k ? 1.0 : i == most ? -s.x[k] / s.x[most] : 0.0;
        }
        ++j;
    }
    ck_assert_double_gt(size, 0.0);
    for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 5; ++j) {
            for (int k = 0; k < 36; ++k) {
                Y[i + 5 * j] += T[k % 6][i] * A->x[k] * T[k / 6][j];
            }
        }
    }
    double columns[30];
    for (int j = 0; j < 6; ++j) {
        for (int i = 0; i < 5; ++i) {
            columns[i + 5 * j] = T[j][i];
        }
    }
    ck_assert_int_eq(tal_chol_factor(tal_matrix_view(Y, 5, 5), NULL, NULL), TAL_OK);
    ck_assert_int_eq(tal_chol_solve(tal_matrix_view(Y, 5, 5), tal_matrix_view(columns, 5, 6), NULL),
                     TAL_OK);
    mat W = {{0}};
    for (int k = 0; k < 36; ++k) {
        for (int i = 0; i < 5; ++i) {
            W.x[k] += T[k % 6][i] * columns[i + 5 * (k / 6)];
        }
    }
    return W;
}

static double difference(const mat *A, const mat *B)
{
    return test_difference(A->x, B->x, 36) / (1.0 + test_largest(B->x, 36));
}

// Mass properties about the origin as a matrix.
static mat matrix_of(const tal_mass_props *m)
{
    const tal_vec3 h = tal_v3_scale(m->mass, m->com);
    const tal_sym3 I = m->inertia;
    const mat out = {{I.xx, I.xy, I.xz, 0,    -h.z,    h.y, I.xy, I.yy, I.yz, h.z,     0, -h.x,
                      I.xz, I.yz, I.zz, -h.y, h.x,     0,   0,    h.z,  -h.y, m->mass, 0, 0,
                      -h.z, 0,    h.x,  0,    m->mass, 0,   h.y,  -h.x, 0,    0,       0, m->mass}};
    return out;
}

static mat random_inertia(test_rng *rng)
{
    const tal_mass_props m = test_random_mass_props(rng);
    return matrix_of(&m);
}

// ---- tab. 7.2

// Body 1, the handle, carries body 2 by a joint along s: the articulated inertia by projecting the
// joint out of I2, by the bordered inverse of both, and by I1 plus what T leaves of I2.
// Inventory of RBDA: 7.12.
START_TEST(three_assemblies_of_an_articulated_body_agree)
{
    test_rng rng = test_rng_seed(72);
    for (int round = 0; round < 100; ++round) {
        const mat I1 = random_inertia(&rng), I2 = random_inertia(&rng);
        const six s = six_of(test_random_spatial_vec(&rng));
        const six U = mul(&I2, s);
        mat standard = axpy_mat(1.0, &I2, &I1);
        for (int k = 0; k < 36; ++k) {
            standard.x[k] -= U.x[k % 6] * U.x[k / 6] / dot(s, U);
        }
        const mat P1 = inverse(I1), P2 = inverse(I2), both = axpy_mat(1.0, &P1, &P2);
        const mat W1 = inverse_across(&both, s), W2 = inverse_across(&P2, s);
        const mat PW = mul_mat(&P1, &W1), PWP = mul_mat(&PW, &P1);
        const mat Phi = axpy_mat(-1.0, &PWP, &P1); // variant 1: Phi^A
        const mat third = axpy_mat(1.0, &W2, &I1); // variant 2
        const mat first = inverse(standard);
        // conditions of random inertias are below 1e4
        ck_assert_double_lt(difference(&Phi, &first), 1e-10);
        ck_assert_double_lt(difference(&third, &standard), 1e-10);
    }
}

END_TEST

// ---- eq. 7.63

// A part of a chain with two handles, 1 at its first body and 2 at its last:
//
//     a1 = Phi1 f1 + Phi12 f2 + b1          a2 = Phi21 f1 + Phi2 f2 + b2
typedef struct part {
    mat Phi1, Phi2, Phi12;
    six b1, b2;
} part;

typedef struct joint {
    six s, c; // c: the acceleration across it that velocities make
    double tau;
} joint;

// What is between two parts, kept for the way down.
typedef struct between_parts {
    mat W;
    six beta;
} between_parts;

// The force of the joint's motor acts on both parts, before they are joined: S tau / S^T S.
static void add_motor(part *A, part *B, const joint *j)
{
    const six f = axpy(j->tau / dot(j->s, j->s), j->s, (six){{0}});
    const mat Phi21_B = transposed(&B->Phi12);
    A->b1 = axpy(-1.0, mul(&A->Phi12, f), A->b1);
    A->b2 = axpy(-1.0, mul(&A->Phi2, f), A->b2);
    B->b1 = axpy(1.0, mul(&B->Phi1, f), B->b1);
    B->b2 = axpy(1.0, mul(&Phi21_B, f), B->b2);
}

static part combine(const part *A, const part *B, const joint *j, between_parts *between)
{
    const mat sum = axpy_mat(1.0, &A->Phi2, &B->Phi1);
    const mat Phi21 = transposed(&A->Phi12), Phi43 = transposed(&B->Phi12);
    between->W = inverse_across(&sum, j->s);
    between->beta = axpy(1.0, A->b2, axpy(-1.0, B->b1, j->c));
    part out;
    const mat A_W = mul_mat(&A->Phi12, &between->W), B_W = mul_mat(&Phi43, &between->W);
    const mat A_W_A = mul_mat(&A_W, &Phi21), B_W_B = mul_mat(&B_W, &B->Phi12);
    out.Phi1 = axpy_mat(-1.0, &A_W_A, &A->Phi1);
    out.Phi2 = axpy_mat(-1.0, &B_W_B, &B->Phi2);
    out.Phi12 = mul_mat(&A_W, &B->Phi12);
    out.b1 = axpy(-1.0, mul(&A_W, between->beta), A->b1);
    out.b2 = axpy(1.0, mul(&B_W, between->beta), B->b2);
    return out;
}

// The chain: part 0 is Ground, part i body i; joint i is before part i.
typedef struct chain {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    int n;
    part leaf[MOST + 1];
    joint joint[MOST + 1];
    double udot[MOST + 1];
} chain;

typedef enum order {
    BALANCED,
    FROM_GROUND,
    FROM_TIP
} order;

// Where parts from `first` to `last` are divided.
static int split(order how, int first, int last)
{
    return how == BALANCED ? (first + last) / 2 : how == FROM_GROUND ? last - 1 : first;
}

// Joins the parts from `first` to `last`. Forces of motors are in the leaves already.
static part assemble(const chain *c, order how, int first, int last)
{
    if (first == last) return c->leaf[first];
    const int k = split(how, first, last);
    const part A = assemble(c, how, first, k), B = assemble(c, how, k + 1, last);
    between_parts between;
    return combine(&A, &B, &c->joint[k + 1], &between);
}

// The way down: forces at both ends are known, and so is what the joint between transmits.
static void divide(chain *c, order how, int first, int last, six f1, six f4)
{
    if (first == last) return;
    const int k = split(how, first, last);
    const part A = assemble(c, how, first, k), B = assemble(c, how, k + 1, last);
    const joint *j = &c->joint[k + 1];
    between_parts between;
    (void)combine(&A, &B, j, &between);
    const mat Phi21 = transposed(&A.Phi12);
    const six push = axpy(1.0, mul(&Phi21, f1), axpy(-1.0, mul(&B.Phi12, f4), between.beta));
    const six f3 = mul(&between.W, push), f2 = axpy(-2.0, f3, f3);
    const six a2 = axpy(1.0, mul(&Phi21, f1), axpy(1.0, mul(&A.Phi2, f2), A.b2));
    const six a3 = axpy(1.0, mul(&B.Phi1, f3), axpy(1.0, mul(&B.Phi12, f4), B.b1));
    c->udot[k + 1] = dot(j->s, axpy(-1.0, a2, axpy(-1.0, j->c, a3))) / dot(j->s, j->s);
    divide(c, how, first, k, f1, f2);
    divide(c, how, k + 1, last, f3, f4);
}

// Motion vectors about Ground's origin.
static tal_spatial_vec at_origin(tal_spatial_vec V, tal_vec3 p)
{
    return tal_sv(V.w, tal_v3_add(V.v, tal_v3_cross(p, V.w)));
}

static tal_spatial_vec cross_motion(tal_spatial_vec v, tal_spatial_vec m)
{
    return tal_sv(tal_v3_cross(v.w, m.w),
                  tal_v3_add(tal_v3_cross(v.w, m.v), tal_v3_cross(v.v, m.w)));
}

static tal_spatial_vec cross_force(tal_spatial_vec v, tal_spatial_vec f)
{
    return tal_sv(tal_v3_add(tal_v3_cross(v.w, f.w), tal_v3_cross(v.v, f.v)),
                  tal_v3_cross(v.w, f.v));
}

// The mass of a body about Ground's origin, in Ground.
static mat inertia_in_ground(const chain *c, tal_body_ix body)
{
    const tal_xform X = tal_body_X_GB(c->matter, c->state, body);
    const tal_mass_props own = tal_body_mass_props(c->matter, c->state, body);
    const tal_mass_props m = tal_mass_props_transform(&X, &own);
    return matrix_of(&m);
}

static tal_spatial_vec spatial_of(six v)
{
    return tal_sv(tal_v3(v.x[0], v.x[1], v.x[2]), tal_v3(v.x[3], v.x[4], v.x[5]));
}

// Leaves: one body with both handles on it, Phi = I^-1 and b = -I^-1 (v x* I v); Ground does not
// move: Phi = 0, b = 0.
static void fill_leaves(chain *c, const double u[], const double tau[])
{
    c->leaf[0] = (part){.b1 = {{0}}};
    for (int i = 1; i <= c->n; ++i) {
        const tal_body_ix body = {i};
        const tal_xform X = tal_body_X_GB(c->matter, c->state, body);
        const tal_spatial_vec v = at_origin(tal_body_V_GB(c->matter, c->state, body), X.p);
        const tal_vec3 axis = X.R.z; // M is B
        const tal_spatial_vec s = tal_sv(axis, tal_v3_cross(X.p, axis));
        const mat I = inertia_in_ground(c, body), Phi = inverse(I);
        const six bias = six_of(cross_force(v, spatial_of(mul(&I, six_of(v)))));
        const six b = axpy(-1.0, mul(&Phi, bias), (six){{0}});
        c->leaf[i] = (part){Phi, Phi, Phi, b, b};
        c->joint[i] =
            (joint){six_of(s), six_of(tal_sv_scale(u[i - 1], cross_motion(v, s))), tau[i - 1]};
    }
    for (int i = 1; i <= c->n; ++i) {
        add_motor(&c->leaf[i - 1], &c->leaf[i], &c->joint[i]);
    }
}

static chain random_chain(test_rng *rng, int n)
{
    chain c = {.system = tal_system_create(NULL), .n = n};
    c.matter = tal_matter_create(c.system);
    for (int i = 0; i < n; ++i) {
        tal_mobod_def link = tal_mobod_def_default();
        link.mass = test_random_mass_props(rng);
        link.X_PF = test_random_xform(rng);
        (void)tal_matter_add_pin(c.matter, (tal_body_ix){i}, &link);
    }
    ck_assert_int_eq(tal_system_realize_topology(c.system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(c.system, &c.state, NULL), TAL_OK);
    return c;
}

static void end(chain *c)
{
    tal_state_destroy(c->state);
    tal_system_destroy(c->system);
}

// Chains of 1 to 8 pins in any order of assembly: the accelerations of forward dynamics. Conditions
// of such chains are below 1e6.
// Inventory of RBDA: 7.13.
START_TEST(divide_and_conquer_finds_the_same_accelerations)
{
    test_rng rng = test_rng_seed(763);
    for (int round = 0; round < 40; ++round) {
        const int n = 1 + round % MOST;
        chain c = random_chain(&rng, n);
        double q[MOST], u[MOST], tau[MOST], udot[MOST];
        for (int i = 0; i < n; ++i) {
            q[i] = test_random_uniform(&rng, -2.0, 2.0);
            u[i] = test_random_uniform(&rng, -1.0, 1.0);
            tau[i] = test_random_uniform(&rng, -3.0, 3.0);
        }
        ck_assert_int_eq(tal_system_realize(c.system, c.state, TAL_STAGE_MODEL), TAL_OK);
        ck_assert_int_eq(tal_state_set_q(c.state, q, n), TAL_OK);
        ck_assert_int_eq(tal_state_set_u(c.state, u, n), TAL_OK);
        ck_assert_int_eq(tal_system_realize(c.system, c.state, TAL_STAGE_VELOCITY), TAL_OK);
        ck_assert_int_eq(tal_matter_forward_dynamics(c.matter, c.state, NULL, tau, udot, NULL),
                         TAL_OK);
        fill_leaves(&c, u, tau);
        const six none = {{0}};
        for (int how = BALANCED; how <= FROM_TIP; ++how) {
            memset(c.udot, 0, sizeof c.udot);
            divide(&c, (order)how, 0, n, none, none);
            const double size = 1.0 + test_largest(udot, n);
            test_assert_near(c.udot + 1, udot, n, 1e-9 * size, "udot");
        }
        end(&c);
    }
}

END_TEST

// ---- ex. 9.4

// A free base moves by -I0c^-1 F qdot when its joints move and nothing pushes: momentum stays zero,
// and bodies move by J - J_base I0c^-1 F.
// Inventory of RBDA: 9.13.
START_TEST(a_floating_base_gives_way_so_that_momentum_stays_zero)
{
    test_rng rng = test_rng_seed(94);
    for (int round = 0; round < 20; ++round) {
        enum {
            JOINTS = 4,
            N = 6 + JOINTS
        };

        chain c = {.system = tal_system_create(NULL)};
        c.matter = tal_matter_create(c.system);
        tal_mobod_def link = tal_mobod_def_default();
        link.mass = test_random_mass_props(&rng);
        tal_body_ix body = tal_matter_add_free(c.matter, TAL_GROUND, &link);
        for (int i = 0; i < JOINTS; ++i) {
            link.mass = test_random_mass_props(&rng);
            link.X_PF = test_random_xform(&rng);
            body = tal_matter_add_pin(c.matter, body, &link);
        }
        ck_assert_int_eq(tal_system_realize_topology(c.system, NULL), TAL_OK);
        ck_assert_int_eq(tal_state_create(c.system, &c.state, NULL), TAL_OK);
        ck_assert_int_eq(tal_system_realize(c.system, c.state, TAL_STAGE_POSITION), TAL_OK);
        double M[N * N], u[N];
        ck_assert_int_eq(tal_matter_calc_M(c.matter, c.state, tal_matrix_view(M, N, N)), TAL_OK);
        mat I0c;
        six F = {{0}};
        for (int j = 0; j < JOINTS; ++j) {
            u[6 + j] = test_random_uniform(&rng, -2.0, 2.0);
            for (int i = 0; i < 6; ++i) {
                F.x[i] += M[i + N * (6 + j)] * u[6 + j];
            }
        }
        for (int k = 0; k < 36; ++k) {
            I0c.x[k] = M[k % 6 + N * (k / 6)];
        }
        const mat P = inverse(I0c);
        const six base = mul(&P, F);
        for (int i = 0; i < 6; ++i) {
            u[i] = -base.x[i];
        }
        ck_assert_int_eq(tal_state_set_u(c.state, u, N), TAL_OK);
        ck_assert_int_eq(tal_system_realize(c.system, c.state, TAL_STAGE_VELOCITY), TAL_OK);
        const tal_spatial_vec h = tal_matter_momentum(c.matter, c.state);
        test_assert_sv_near(h, TAL_SPATIAL_VEC_ZERO, 1e-11); // of numbers near 100
        end(&c);
    }
}

END_TEST

// ---- eq. 10.1

// A planar body of unit mass and inertia at c = (100, 10), in coordinates of the origin: four
// digits are lost to a condition of 1.02e8, where about its center none are.
// Inventory of RBDA: 10.03.
START_TEST(a_far_origin_costs_digits)
{
    const double cx = 100.0, cy = 10.0, a = 1.0 + cx * cx + cy * cy;
    double I[9] = {a, -cy, cx, -cy, 1.0, 0.0, cx, 0.0, 1.0}, values[3], work[600];
    double A[9], x[3] = {111.0, -1.0, 1.0};
    memcpy(A, I, sizeof A);
    ck_assert_int_le(tal_lapack_eig_sym_work_size(3), 600);
    ck_assert_int_eq(tal_lapack_eig_sym(tal_matrix_view(I, 3, 3), values, false, work, 600, NULL),
                     TAL_OK);
    ck_assert_double_eq_tol(values[2] / values[0] / 1.0205e8, 1.0, 1e-3);
    ck_assert_int_eq(tal_chol_factor(tal_matrix_view(A, 3, 3), NULL, NULL), TAL_OK);
    ck_assert_int_eq(tal_chol_solve(tal_matrix_view(A, 3, 3), tal_matrix_view(x, 3, 1), NULL),
                     TAL_OK);
    const double exact[] = {1.0, cy - 1.0, 1.0 - cx};
    ck_assert_double_lt(test_difference(x, exact, 3) / 100.0, 1e-10);
}

END_TEST

int main(void)
{
    Suite *const suite = suite_create("book_algorithms");
    TCase *const textbook = tcase_create("textbook");
    tcase_add_test(textbook, three_assemblies_of_an_articulated_body_agree);
    tcase_add_test(textbook, divide_and_conquer_finds_the_same_accelerations);
    tcase_add_test(textbook, a_floating_base_gives_way_so_that_momentum_stays_zero);
    tcase_add_test(textbook, a_far_origin_costs_digits);
    suite_add_tcase(suite, textbook);
    return test_run(suite);
}
