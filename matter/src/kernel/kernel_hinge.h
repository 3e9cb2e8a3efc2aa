// The one list of hinges, the one list of what a hinge does in the passes, and the one dispatch
// between them.
//
// A new kind of hinge is a header hinge_<name>.h with a function <name>_<operation> for every
// operation below, an entry in tali_tree_hinge, and a line in the list. A new operation (a
// derivative, say) is a function in every hinge header and an entry below.
#ifndef TALUS_KERNEL_HINGE_H
#define TALUS_KERNEL_HINGE_H

#include "kernel/hinge_ball.h"
#include "kernel/hinge_free.h"
#include "kernel/hinge_general.h"
#include "kernel/hinge_pin.h"
#include "kernel/hinge_slider.h"
#include "kernel/hinge_translation.h"
#include "kernel/hinge_weld.h"

// clang-format off

/// Hinges with functions of their own. A pin is looked for before all others; what is not in the
/// list is general.
#define HINGES(do_for, ...)                                                                        \
    do_for(WELD, weld, __VA_ARGS__)                                                                \
    do_for(SLIDER, slider, __VA_ARGS__)                                                            \
    do_for(BALL, ball, __VA_ARGS__)                                                                \
    do_for(TRANSLATION, translation, __VA_ARGS__)                                                  \
    do_for(FREE, free, __VA_ARGS__)

/// The same for M^-1, to which a hinge whose motion is all known is a weld.
#define HINGES_AND_LOCKS(do_for, ...)                                                              \
    HINGES(do_for, __VA_ARGS__)                                                                    \
    do_for(LOCKED, locked, __VA_ARGS__)

#define HINGE_CASE(KIND, name, operation, ...)                                                     \
    case TALI_HINGE_##KIND:                                                                        \
        return name##_##operation(__VA_ARGS__);

#define HINGE_CASE_VOID(KIND, name, operation, ...)                                                \
    case TALI_HINGE_##KIND:                                                                        \
        name##_##operation(__VA_ARGS__);                                                           \
        return;

/// hinge_<operation>(parameters): the function of the hinge `kind`, called with the arguments that
/// follow. Most hinges are pins, so these do not go through the switch.
#define HINGE_OPERATION(type, operation, parameters, hinges, kind, ...)                            \
    TAL_ALWAYS_INLINE type hinge_##operation parameters                                            \
    {                                                                                              \
        if ((kind) == TALI_HINGE_PIN) return pin_##operation(__VA_ARGS__);                         \
        switch ((tali_tree_hinge)(kind)) {                                                         \
            hinges(HINGE_CASE, operation, __VA_ARGS__)                                             \
        default:                                                                                   \
            return general_##operation(__VA_ARGS__);                                               \
        }                                                                                          \
    }

/// The same for what returns nothing.
#define HINGE_OPERATION_VOID(operation, parameters, hinges, kind, ...)                             \
    TAL_ALWAYS_INLINE void hinge_##operation parameters                                            \
    {                                                                                              \
        if ((kind) == TALI_HINGE_PIN) {                                                            \
            pin_##operation(__VA_ARGS__);                                                          \
            return;                                                                                \
        }                                                                                          \
        switch ((tali_tree_hinge)(kind)) {                                                         \
            hinges(HINGE_CASE_VOID, operation, __VA_ARGS__)                                        \
        default:                                                                                   \
            general_##operation(__VA_ARGS__);                                                      \
        }                                                                                          \
    }

// --- kinematics: tree->hinge ---

/// Writes the pose of b and p_PM from the parent's pose and q, and its columns H: theory eq. 3.1.
HINGE_OPERATION_VOID(place, (placing *to, int b), HINGES, to->tree->hinge[b], to, b)

/// V_GM of b, and its A_GM at udot = 0, from its own u and the parent's V and A: theory eq. 3.2 and
/// 3.3. The next Hdot_FM u is for a general hinge, which moves on to the one after it.
HINGE_OPERATION(carried, carry,
                (const tali_tree_view *view, int b, const double u[], sv V_P, sv A_P,
                 const sv **next_Hdot_u),
                HINGES, view->tree->hinge[b], view, b, u, V_P, A_P, next_Hdot_u)

/// V + H u.
HINGE_OPERATION(sv, add_Hu, (const tali_tree_view *view, int b, const double u[], sv V),
                HINGES, view->tree->hinge[b], view, b, u, V)

/// f = H^T F: theory eq. 3.4. With udot (NULL: none), what its rotor takes besides.
HINGE_OPERATION_VOID(mul_HT,
                     (const tali_tree_view *view, int b, sv F, const double udot[], double f[]),
                     HINGES, view->tree->hinge[b], view, b, F, udot, f)

// --- M^-1: view->hinge, where known motion counts as locked ---

/// P becomes P+; writes G and D^-1: theory eq. 6.2 and 6.3. False when the hinge moves no mass.
HINGE_OPERATION(mask, project,
                (const tali_tree_view *view, int b, const tali_tree_articulated *out,
                 tali_kernel_open_inertia *at),
                HINGES_AND_LOCKS, view->hinge[b], view, b, out, at)

/// e = f - H^T z; returns z+ = z + G e, taken to the parent: theory eq. 6.2, 6.3 and 6.4.
HINGE_OPERATION(sv, inward, (const tali_tree_view *view, int b, const double f[], sv z, double e[]),
                HINGES_AND_LOCKS, view->hinge[b], view, b, f, z, e)

/// udot = D^-1 e - G^T A+, where A+ is the parent's A taken to b; returns A = A+ + H udot: theory
/// eq. 6.2.
HINGE_OPERATION(sv, outward,
                (const tali_tree_view *view, int b, const double e[], sv A_P, double udot[]),
                HINGES_AND_LOCKS, view->hinge[b], view, b, e, A_P, udot)

/// y = D^-1 e. Ball, translation and free have D^-1, e and y along Ground's axes.
HINGE_OPERATION_VOID(solve, (const tali_tree_view *view, int b, const double e[], double y[]),
                     HINGES_AND_LOCKS, view->hinge[b], view, b, e, y)

// clang-format on

#endif // TALUS_KERNEL_HINGE_H
