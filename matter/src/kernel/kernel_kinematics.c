// Kinematics of the tree, base to tip: where every body is, and how it moves.
//
//   quantity                            manual        RBDA          here
//   pose of M in Ground                 X_GM                        pose.R_GM, pose.p_GM
//   parent's Mo to Mo, in Ground        p_PM          r             p_PM
//   hinge columns, in Ground about Mo   H_PM_G        S             H
//   spatial velocity                    V_GM          v             motion.V
//   acceleration at udot = 0            Jdot u        a             motion.A0
//
// Given    q, u; R_PF, p_PF of every body; X_FM, H_FM and Hdot_FM u of the general hinges
// Compute  position   X_GM = X_GP X_PF X_FM,   H = R_GF H_FM                     theory eq. 3.1
//          velocity   V = Phi^T V_P + H u                                        theory eq. 3.2
//          A0         A = Phi^T A_P + a_B: what (3.3) gives at udot = 0          theory eq. 3.3
//
// Everything is about Mo and expressed in Ground, so H has no shift: a pin's is [axis; 0].
//
// Source: RBDA eq. 5.7 and 5.8. There a is the spatial acceleration, here that of the point Mo
// (theory T-1), so the terms of velocities differ.
#include "kernel/kernel_hinge.h"
#include "kernel/kernel_set.h"

// --- positions ---

// Sines and cosines of several pins at a time: so many that no angle is read right after it was
// written, which takes the processor long.
enum {
    PINS_AT_A_TIME = 32
};

typedef struct pin_turns {
    real s[PINS_AT_A_TIME], c[PINS_AT_A_TIME];
} pin_turns;

// Of the pins from number `first` on, in the order of bodies.
static inline void turn_pins(const tali_tree *tree, const tali_matter_model *model,
                             const double q[], int first, pin_turns *turns)
{
    const int left = tree->num_pins - first;
    const int n = left < PINS_AT_A_TIME ? left : PINS_AT_A_TIME;
    real angle[PINS_AT_A_TIME];
    for (int i = 0; i < n; ++i) {
        const int b = tree->pins[first + i];
        angle[i] = tree->sign[b] * q[model->q0[b]];
    }
    for (int i = n; i < tali_kernel_whole_lanes(n); ++i) {
        angle[i] = spread(0.0);
    }
    tree->passes->sincos(n, angle, turns->s, turns->c);
}

static void pass_position(const tali_tree *tree, const tali_tree_constants constants[],
                          const tali_matter_model *model, const double q[],
                          const tali_tree_position *at)
{
    at->pose[0] = (tali_tree_pose){.R_GM = TAL_MAT3_IDENTITY};
    at->p_PM[0] = TAL_VEC3_ZERO;
    if (tree->num_particles > 0) tree->passes->particles_position(tree, constants, model, q, at);
    placing to = {tree, constants, model, q, at, 0, {spread(0.0), spread(1.0)}};
    int pin = 0;
    pin_turns turns;
    for (int b = 1; b < tree->num_bodies; ++b) {
        if (tree->hinge[b] == TALI_HINGE_PIN) {
            const int i = pin++ % PINS_AT_A_TIME;
            if (i == 0) turn_pins(tree, model, q, pin - 1, &turns);
            to.turn = (sine_cosine){turns.s[i], turns.c[i]};
            pin_place(&to, b);
            continue;
        }
        if (tali_kernel_is_particle(tree, tree->hinge, b)) continue;
        hinge_place(&to, b);
    }
}

// --- velocities ---

TAL_ALWAYS_INLINE void pass_velocity_of(const tali_tree_view *view, const double u[],
                                        const bool has_particles, const bool with_A0,
                                        const tali_tree_velocity *at)
{
    const tali_tree *tree = view->tree;
    at->rates[0] = (tali_tree_rates){.V = {NONE, NONE}};
    const sv *next_Hdot_u = at->Hdot_u;
    for (int b = 1; b < tree->num_bodies; ++b) {
        if (has_particles && tali_kernel_is_particle(tree, tree->hinge, b)) continue;
        const tali_tree_rates *parent = &at->rates[tree->parent[b]];
        const carried to =
            hinge_carry(view, b, u + tree->u0[b], parent->V, parent->A0, &next_Hdot_u);
        at->rates[b].V = to.V;
        if (with_A0) at->rates[b].A0 = to.A;
    }
}

// A tree without particles has no extra cost.
static void pass_velocity(const tali_tree_view *view, const double u[], bool with_A0,
                          const tali_tree_velocity *at)
{
    if (view->tree->num_particles > 0) {
        view->passes->particles_velocity(view, u, at);
        pass_velocity_of(view, u, true, true, at);
    } else if (with_A0) {
        pass_velocity_of(view, u, false, true, at);
    } else {
        pass_velocity_of(view, u, false, false, at);
    }
}

static void pass_A0(const tali_tree_view *view, const double u[], tali_tree_rates rates[])
{
    const tali_tree *tree = view->tree;
    const sv *next_Hdot_u = view->Hdot_u;
    for (int b = 1; b < tree->num_bodies; ++b) {
        const tali_tree_rates *parent = &rates[tree->parent[b]];
        const carried to =
            hinge_carry(view, b, u + tree->u0[b], parent->V, parent->A0, &next_Hdot_u);
        rates[b].A0 = to.A;
    }
}

void TALI_KERNEL(kinematics)(tali_passes *out)
{
    out->position = pass_position;
    out->velocity = pass_velocity;
    out->A0 = pass_A0;
}
