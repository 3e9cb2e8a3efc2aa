// Inverse and forward dynamics of a binary tree of seven bodies, against numbers of a reference.
//
//              1                every body on a pin about its z axis
//            /   \              parents 0, 1, 1, 2, 2, 3, 3
//           2     3
//          / \   / \            RBDA's conventions: a link's frame is at its joint, and the joint
//         4   5 6   7           frame of body i stands in its parent at X_T(i)
//
// The columns are the torques tau that the given accelerations need, the bias C (gravity and
// velocities alone), the diagonal of the mass matrix, and the accelerations without any torque. The
// deviations are from the answers of an independent program, to the digits it gave.
//
// Run it:  build/dev/examples/03_tree        Expected output: 03_tree.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    N = 7
};

static const int PARENT[N + 1] = {0, 0, 1, 1, 2, 2, 3, 3};

static const double TAU[N] = {2.035701528171649,   2.757033251172311,  7.936616247539217,
                              0.22677424966874565, 0.6062232067026453, 1.418835205051196,
                              2.0806522195865806};
static const double C[N] = {6.1680403344955455, 3.8578356005589773, 9.524847212529565,
                            0.3298158681864644, 0.6943611294960232, 1.4501843780710877,
                            2.091632987647421};
static const double M_DIAGONAL[N] = {7.3113533493, 1.3486434747, 2.6058672216, 0.1624600000,
                                     0.1687500000, 0.1770400000, 0.1875700000};
static const double UDOT[N] = {8.071947464983912,  -13.4797693225235, -14.042384326021766,
                               5.544306696141652,  4.378876460643141, 2.0095119649817144,
                               0.13872293002506084};

static tal_mobod_def body_def(int i)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.X_PF.R = tal_rotation_from_angle_axis(0.1 * i, tal_v3(1.0, 0.0, 0.0));
    def.X_PF.p = tal_v3(0.1 * i, 0.2, -0.05 * i);

    // inertia about the center of mass, then shifted to Bo
    tal_mass_props central = TAL_MASSLESS;
    central.mass = 1.0 + 0.1 * i;
    central.inertia.xx = 0.1 + 0.01 * i;
    central.inertia.yy = 0.2;
    central.inertia.zz = 0.15;
    central.inertia.xy = central.inertia.xz = central.inertia.yz = 0.01;
    const tal_xform X_BC = tal_xf_from_p(tal_v3(0.05, -0.02 * i, 0.1));
    def.mass = tal_mass_props_transform(&X_BC, &central);
    return def;
}

typedef struct answers {
    double tau[N], bias[N], M[N * N], udot[N];
} answers;

static tal_status compute(const tal_matter *matter, tal_state *state, answers *out)
{
    // gravity as forces on the bodies: moment about Bo, and weight
    const tal_vec3 g = tal_v3(0.0, 0.0, -9.81);
    tal_spatial_vec F_GB[N + 1] = {{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}};
    for (int b = 1; b <= N; ++b) {
        const tal_body_ix body = {b};
        const tal_mass_props mass = tal_body_mass_props(matter, state, body);
        const tal_mat3 R_GB = tal_body_X_GB(matter, state, body).R;
        F_GB[b].v = tal_v3_scale(mass.mass, g);
        F_GB[b].w = tal_v3_cross(tal_m3_mul_v3(R_GB, mass.com), F_GB[b].v);
    }
    double udot[N];
    for (int i = 1; i <= N; ++i) {
        udot[i - 1] = 0.2 * i - 0.7;
    }

    const tal_matrix M = tal_matrix_view(out->M, N, N);
    tal_status st = tal_matter_inverse_dynamics(matter, state, udot, F_GB, NULL, out->tau);
    if (st == TAL_OK) {
        st = tal_matter_inverse_dynamics(matter, state, NULL, F_GB, NULL, out->bias);
    }
    if (st == TAL_OK) st = tal_matter_calc_M(matter, state, M);
    if (st == TAL_OK) {
        st = tal_matter_forward_dynamics(matter, state, F_GB, NULL, out->udot, NULL);
    }
    return st;
}

static void print_answers(const answers *found)
{
    double tau_off = 0.0, C_off = 0.0, M_off = 0.0, udot_off = 0.0;
    (void)printf("body         tau           C      M_ii         udot\n");
    for (int i = 0; i < N; ++i) {
        const double M_ii = found->M[i * N + i];
        (void)printf("%4d %11.6f %11.6f %9.6f %12.6f\n", i + 1, found->tau[i], found->bias[i], M_ii,
                     found->udot[i]);
        tau_off = fmax(tau_off, fabs(found->tau[i] - TAU[i]));
        C_off = fmax(C_off, fabs(found->bias[i] - C[i]));
        M_off = fmax(M_off, fabs(M_ii - M_DIAGONAL[i]));
        udot_off = fmax(udot_off, fabs(found->udot[i] - UDOT[i]));
    }
    (void)printf(
        "deviates by less than 1e-13: tau %s, C %s; than 1e-10: M_ii %s; than 1e-12: udot %s\n",
        tau_off < 1e-13 ? "yes" : "no", C_off < 1e-13 ? "yes" : "no", M_off < 1e-10 ? "yes" : "no",
        udot_off < 1e-12 ? "yes" : "no");
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    for (int i = 1; i <= N; ++i) {
        const tal_mobod_def def = body_def(i);
        const tal_body_ix parent = {PARENT[i]};
        tal_matter_add_pin(matter, parent, &def);
    }

    tal_error err = {TAL_OK, "", ""};
    tal_state *state = NULL;
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    for (int i = 1; i <= N && st == TAL_OK; ++i) {
        const tal_body_ix body = {i};
        tal_body_set_q(matter, state, body, 0, 0.3 * i - 1.0);
        tal_body_set_u(matter, state, body, 0, 0.5 - 0.1 * i);
    }
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_VELOCITY);
    answers found;
    if (st == TAL_OK) st = compute(matter, state, &found);
    if (st == TAL_OK) print_answers(&found);

    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s\n", state ? tal_state_error(state)->message : err.message);
    }
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
