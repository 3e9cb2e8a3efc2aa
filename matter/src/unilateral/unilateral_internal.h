// Unilateral elements inside: their motion, and sliding friction in the equations of motion.
//
// Between events modes are fixed, and a sliding element i has friction along its grip,
//
//     pi_T = -sigma_i d_i        sigma_i = limit_i + mu_i N_i           manual eq. 8.63
//
// against the direction of slip d. N is pi_N of its normal, or a norm of the multipliers of its
// load (eq. 8.73). Multipliers are affine in these sigma: with lambda_0 those without friction and
// r_i those that a unit of sigma_i adds,
//
//     lambda = lambda_0 + sum_i r_i sigma_i
//     (1 - diag(mu) K) sigma = limit + mu (N - N' (lambda - lambda_0))        K_ji = N_j' r_i
//
// which is Newton's method (eq. 8.80) in as many unknowns as elements slide; where all N are linear
// it is one step, the folded matrix of eq. 8.69. W itself stays symmetric, and where rows repeat
// each other its least squares share the load as ever.
#ifndef TALUS_UNILATERAL_INTERNAL_H
#define TALUS_UNILATERAL_INTERNAL_H

#include "constraint/constraint_internal.h"

/// The element if the index is good; NULL after reporting the breach.
const tali_unilateral *tali_unilateral_at(const tal_matter *matter, tal_unilateral_ix element,
                                          const char *where);

/// The mode of an element, from the constraints that are enabled.
static inline tal_unilateral_mode tali_unilateral_mode_by(const tali_unilateral *it,
                                                          const uint8_t *parts, bool takes_part)
{
    const bool is_off = !takes_part || (it->normal >= 0 && parts[it->normal] == 0);
    if (is_off) return TAL_UNILATERAL_OFF;
    if (it->grip < 0) return TAL_UNILATERAL_ON;
    return parts[it->grip] != 0 ? TAL_UNILATERAL_STICK : TAL_UNILATERAL_SLIDE;
}

/// The mode of element `i` in a State of the System that has reached Model.
tal_unilateral_mode tali_unilateral_mode_at(const tal_matter *matter, const tal_state *state,
                                            int i);

/// Enable the constraints of element `i`, or not.
tal_status tali_unilateral_switch(const tal_matter *matter, tal_state *state, int i, bool normal,
                                  bool grip);

/// tal_unilateral_set_mode() of an element that was in mode `was`, whatever its constraints are
/// now.
tal_status tali_unilateral_enter(const tal_matter *matter, tal_state *state, int i,
                                 tal_unilateral_mode was, tal_unilateral_mode mode,
                                 const double direction[]);

/// Is this material physical? The sentence names the field that is not.
tal_status tali_unilateral_check_material(const tal_unilateral_material *material, tal_error *err);

/// Velocity of slip of element `i`, whether its grip is enabled or not: slip [2]. The view has
/// velocities.
tal_status tali_unilateral_slip(const tal_matter *matter, tal_state *state,
                                const tali_tree_view *view, int i, double slip[2]);

/// Realize a State as far as a question needs, unless it is on its way there. False when that
/// fails.
bool tali_unilateral_view(const tal_matter *matter, tal_state *state, tal_stage stage,
                          tali_tree_view *view);

/// How the gap of element `i` is found.
tali_unilateral_quick tali_unilateral_quick_of(const tal_matter *matter, int i);

/// The gap of element `i`, or its rate, from poses. False where it is not found that way.
bool tali_unilateral_quick_gap(const tal_matter *matter, tal_state *state,
                               const tali_tree_view *view, int i, bool is_rate, double *value);

/// N as a function of multipliers in the order of udoterr.
typedef struct tali_unilateral_press {
    int count; ///< rows; 0: nothing presses
    int slot[TAL_UNILATERAL_LOAD_ROWS];
    double weight[TAL_UNILATERAL_LOAD_ROWS];
    double sense; ///< +1 or -1: linear, N = sense weight lambda; 0: a norm
    double small; ///< of a norm: below this its slope fades
    bool is_load; ///< of one row, too, it is a norm, and the sense is to be found
} tali_unilateral_press;

/// What presses on the grip of element `i`; one row has the sense +1.
tali_unilateral_press tali_unilateral_press_of(const tal_matter *matter, const tal_state *state,
                                               int i);

/// N at these multipliers.
double tali_unilateral_pressing(const tali_unilateral_press *press, const double lambda[]);

/// What a change of multipliers adds to N, to first order.
double tali_unilateral_press_slope(const tali_unilateral_press *press, const double lambda[],
                                   const double change[]);

/// N of element `i` from multipliers in the order of udoterr; 0 while nothing presses.
double tali_unilateral_normal_force(const tal_matter *matter, const tal_state *state, int i,
                                    const double lambda[]);

/// The coefficient of friction of element `i` at its present slip.
tal_status tali_unilateral_mu(const tal_matter *matter, tal_state *state,
                              const tali_tree_view *view, int i, double *mu);

/// sigma = limit + mu N of element `i`, which slides.
tal_status tali_unilateral_sigma(const tal_matter *matter, tal_state *state,
                                 const tali_tree_view *view, int i, const double lambda[],
                                 double *sigma);

/// The material of element `i` in a State of the System that has reached Model.
const tal_unilateral_material *tali_unilateral_material_at(const tal_matter *matter,
                                                           const tal_state *state, int i);

/// Directions of slip of all elements, double[count][2]: those that friction is against. Needs
/// Velocity; NULL with the reason in the State.
const double *tali_unilateral_directions(const tal_matter *matter, tal_state *state);

/// The forces of the elements that slide, to be solved for; memory is the caller's.
typedef struct tali_unilateral_sliding {
    int n;                   ///< elements
    int rows;                ///< multipliers
    const int *sliding;      ///< [n] which elements
    const double *responses; ///< [n][stride] multipliers that a unit of each force adds
    int stride;
    double *K;                    ///< [n][n]
    double *sigma, *before;       ///< [n]
    double *mu;                   ///< [n]
    tali_unilateral_press *press; ///< [n]
    double *lambda_0, *change;    ///< [rows]
    double *work;
    int *iwork;
} tali_unilateral_sliding;

/// Solve for sigma.
/// @param[in,out] lambda  [rows] in: multipliers without friction; out: with it
tal_status tali_unilaterals_solve_sigma(const tal_matter *matter, tal_state *state,
                                        const tali_tree_view *view, tali_unilateral_sliding *it,
                                        double lambda[]);

/**
 * Let sliding elements have their friction.
 *
 * @param[in]     view    with articulated inertias and motion
 * @param[in,out] e       [num_u] residual of the inward pass; friction is added
 * @param[in,out] lambda  [rows] in: multipliers without friction; out: with it
 */
tal_status tali_unilaterals_slide(const tal_matter *matter, tal_state *state,
                                  const tali_tree_view *view, double e[], double lambda[]);

/// Add sliding friction as tali_constraints_add_forces() adds G^T lambda: what is resisted.
tal_status tali_unilaterals_add_friction(const tal_matter *matter, tal_state *state,
                                         const double lambda[], tal_spatial_vec F[], double f[]);

/// How many elements may slide at the same time.
int tali_unilaterals_most_sliding(const tal_matter *matter);

/// @name Steps of the matter subsystem
/// @{
tal_status tali_unilaterals_declare(tal_matter *matter);
size_t tali_unilaterals_scratch(const tal_matter *matter);
void tali_unilaterals_destroy(tal_matter *matter);
/// @}

#endif // TALUS_UNILATERAL_INTERNAL_H
