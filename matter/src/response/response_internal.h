// What the responses share: looking at a State without changing it, and frames that move.
#ifndef TALUS_RESPONSE_INTERNAL_H
#define TALUS_RESPONSE_INTERNAL_H

#include "tree/matter_internal.h"

#include <talus/matter/response.h>

/// How frame S moves as seen from frame R: X_RS, and V_RS and A_RS at So, expressed in R.
typedef struct tali_response_frame {
    tal_xform X;
    tal_spatial_vec V;
    tal_spatial_vec A;
} tali_response_frame;

static const tali_response_frame TALI_FRAME_AT_REST = {
    {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}, {0.0, 0.0, 0.0}},
    {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
    {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}};

/// S as seen from R, when R sees B and B sees S.
///
///     w_RS = w_RB + w_BS                       v_RS = v_RB + w_RB x p + v_BS
///     b_RS = b_RB + b_BS + w_RB x w_BS         a_RS = a_RB + b_RB x p + w_RB x (w_RB x p)
///                                                     + 2 w_RB x v_BS + a_BS
///
/// with p = p_BS and everything expressed in R.
tali_response_frame tali_response_frame_mul(const tali_response_frame *RB,
                                            const tali_response_frame *BS);

/// S as seen from A, when R sees both: the equations above, solved for AS.
tali_response_frame tali_response_frame_inv_mul(const tali_response_frame *RA,
                                                const tali_response_frame *RS);

/// A request for a response: of which State, realized how far, and by which public function.
typedef struct tali_response_question {
    const tal_matter *matter;
    const tal_state *state;
    tal_stage stage; ///< Instance, Position, Velocity or Acceleration
    const char *where;
} tali_response_question;

/// What the responses read, of all bodies: constants from Instance on, poses from Position on,
/// motion from Velocity on, A_GM from Acceleration on.
typedef struct tali_response_seen {
    const tali_tree_constants *constants;
    const tali_tree_pose *pose;
    const tal_vec3 *p_PM;
    const tali_tree_rates *rates;
    const tal_spatial_vec *A_GM;
} tali_response_seen;

/// Collect the arrays up to the stage; false after reporting the breach.
bool tali_response_see(const tali_response_question *ask, tali_response_seen *seen);

/// Frame B of a body as seen from Ground, as far as the stage; beyond it at rest. False after
/// reporting the breach.
bool tali_response_body_frame(const tali_response_question *ask, tal_body_ix body,
                              tali_response_frame *GB);

/// Frame S of body B as seen from body A, when BS is how it sits, and moves, on B; NULL means
/// the frame B itself. NaN on a breach.
tali_response_frame tali_response_frame_seen(const tali_response_question *ask, tal_body_ix A,
                                             tal_body_ix B, const tali_response_frame *BS);

/// From Mo to Bo, in Ground.
static inline tal_vec3 tali_response_p_MB_G(const tali_response_seen *seen, int b)
{
    return tal_m3_mul_v3(seen->pose[b].R_GM, seen->constants[b].X_MB.p);
}

/// @name What a response is when its contract is broken
/// @{
static const tal_vec3 TALI_NAN_V3 = {TALI_NAN, TALI_NAN, TALI_NAN};
static const tal_spatial_vec TALI_NAN_SV = {{TALI_NAN, TALI_NAN, TALI_NAN},
                                            {TALI_NAN, TALI_NAN, TALI_NAN}};
static const tal_sym3 TALI_NAN_S3 = {TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN};
/// @}

#endif // TALUS_RESPONSE_INTERNAL_H
